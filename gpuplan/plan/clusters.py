"""Clusters: a pool of more hosts than one cluster may have, and what dividing it takes."""

from __future__ import annotations

import math
from typing import NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.models import availability
from gpuplan.plan.hosts import Pool, spare_hosts
from gpuplan.scenario import Scenario
from gpuplan.wording import amount, counted, number


class Division(NamedTuple):
    """A pool divided into clusters, each with spare hosts of its own."""

    most: int
    """Hosts that one cluster has at most."""
    clusters: int
    spare: int
    """Spare hosts of each cluster."""
    hosts: int
    """Hosts in all clusters; no fewer than the pool counts."""
    more: int
    """Hosts beyond those that the pool counts."""


def most_hosts(catalog: Catalog) -> int:
    """Hosts that one cluster has at most."""
    return int(catalog.assumptions["vi-cluster"].fact("max_hosts").value)


def divided(scenario: Scenario, catalog: Catalog, pool: Pool) -> Division | None:
    """What dividing a pool takes; None if it fits into one cluster."""
    most = most_hosts(catalog)
    if pool.hosts <= most:
        return None
    spare = spare_hosts(scenario)
    clusters = max(  # hosts that are there already may be many more than the demand takes
        availability.cluster_count(pool.hosts_for_demand, spare_hosts=spare, most_hosts=most),
        math.ceil(pool.hosts / most),
    )
    hosts = max(pool.hosts, pool.hosts_for_demand + clusters * spare)
    return Division(most, clusters, spare, hosts, hosts - pool.hosts)


def division_words(found: Division) -> str:
    """The same in a sentence."""
    said = f"{number(found.clusters)} clusters of at most {found.most} hosts"
    if not found.spare:
        return f"It takes {said}, and no more hosts, as none is spare."
    spares = f"each with {counted(found.spare, 'spare host')}"
    if not found.more:
        return f"It takes {said}, {spares}; the hosts of this plan are enough for that."
    return f"It takes {said}, {spares}: {amount(found.hosts, 'host')} in all, {number(found.more)} more than this plan counts."
