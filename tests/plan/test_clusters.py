"""Pools of more hosts than a cluster may have: how many clusters, and how many hosts more than as one."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.clusters import divided, division_words
from gpuplan.scenario import from_dict


def whole_hosts(hosts: int, **availability: Any) -> dict[str, Any]:
    """People with all four GPUs of a host each."""
    return {
        "groups": [{"id": "a", "people": hosts, "gpus_each": 4, "remote_allowed": False}],
        "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
        "availability": {"host_failures": 1, "maintenance_failure_accepted": True} | availability,
    }


@pytest.mark.parametrize(
    ("hosts", "availability", "clusters", "in_all", "more"),
    [
        (64, {}, 2, 66, 1),  # 63 fit beside a spare one; the plan counts 64 + 1
        (126, {}, 2, 128, 1),
        (127, {}, 3, 130, 2),
        (10_000, {}, 159, 10_159, 158),
        (124, {"maintenance_failure_accepted": False}, 2, 128, 2),
        (200, {"host_failures": 0}, 4, 200, 0),
    ],
)
def test_each_cluster_has_its_own_spare_hosts(
    catalog: Catalog, hosts: int, availability: dict[str, Any], clusters: int, in_all: int, more: int
) -> None:
    plan = make_plan(from_dict(whole_hosts(hosts, **availability)), catalog)
    found = divided(plan.scenario, catalog, plan.pools[0])
    assert found is not None
    assert (found.clusters, found.hosts, found.more) == (clusters, in_all, more)
    assert found.hosts <= found.clusters * found.most
    message = next(m for m in check_plan(plan) if m.code == "cluster-too-large")
    assert division_words(found) in message.text
    assert plan.costs is not None
    assert any("further cluster" in name for name in plan.costs.excludes) == (more > 0)


def test_one_cluster_is_not_divided(catalog: Catalog) -> None:
    plan = make_plan(from_dict(whole_hosts(63)), catalog)
    assert plan.pools[0].hosts == 64
    assert divided(plan.scenario, catalog, plan.pools[0]) is None
    assert plan.costs is not None and not any("cluster" in name for name in plan.costs.excludes)


@pytest.mark.parametrize(("people", "in_all", "more"), [(20, 200, 0), (198, 202, 2)])
def test_hosts_already_there_are_divided_too(catalog: Catalog, people: int, in_all: int, more: int) -> None:
    data = whole_hosts(people)
    data["hardware"]["existing_hosts"] = 200
    plan = make_plan(from_dict(data), catalog)
    assert plan.pools[0].hosts == 200
    found = divided(plan.scenario, catalog, plan.pools[0])
    assert found is not None
    assert (found.clusters, found.hosts, found.more) == (4, in_all, more)  # 200 / 64, rounded up
    assert plan.costs is not None
    assert any("further cluster" in name for name in plan.costs.excludes) == (more > 0)
