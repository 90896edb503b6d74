"""Availability: N+0, N+1 and N+2 side by side, and the hours a year in which each design lacks hosts.

A pool has a capacity shortfall if fewer hosts are up than its demand needs; if existing hosts have other GPUs than new
ones, it matters which of them are up.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact
from gpuplan.models import availability, placement
from gpuplan.plan.clusters import Division
from gpuplan.plan.hosts import Named
from gpuplan.plan.inputs import derived
from gpuplan.plan.layouts import Layout
from gpuplan.plan.prices import stated_or
from gpuplan.plan.trail import Inputs, Line, Trail
from gpuplan.scenario import Scenario
from gpuplan.wording import said


@dataclass(frozen=True, slots=True)
class Posture:
    """The design at a host failure tolerance: hosts, and the hours a year in which it is at risk."""

    host_failures: int
    chosen: bool
    hosts: int
    gpus: int
    short_h: float
    """Expected hours a year in which failures leave users without a GPU."""
    exposed_h: float
    """Hours a year of maintenance in which one more failure does."""
    maintenance_short_h: float
    """Expected hours a year in which a failure in maintenance does."""
    chance: float
    """Chance that it happens in a year of maintenance."""


def postures_of(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    divided_for: Callable[[int], Mapping[str, Division]],
    chosen: Mapping[str, Division],
) -> tuple[Posture, ...]:
    """Compare N+0, N+1, N+2, the chosen tolerance and one host more: hosts, and hours a year at risk, with their lines.

    ``divided_for`` divides the pools again for each, as the clusters hold the spare hosts; ``chosen`` is the design's own.
    """
    if not chosen:
        return ()
    here = scenario.availability.host_failures
    facts = {name: reliability_fact(scenario, catalog, name) for name in RELIABILITY}
    failing = {name: facts[name] for name in ("mtbf_h", "repair_h")}
    up = trail.compute("availability.host_up", availability.host_availability, failing)
    postures = []
    for failures in sorted({0, 1, 2, here, here + 1}):
        divided = chosen if failures == here else divided_for(failures)
        clusters = [cluster for kind, division in divided.items() for cluster in division.named(kind)]
        postures.append(_posture(trail, scenario, clusters, failures, up, facts))
    return tuple(postures)


RELIABILITY = ("mtbf_h", "repair_h", "maintenance_h_per_host")


def reliability_fact(scenario: Scenario, catalog: Catalog, name: str) -> Fact:
    """Return how often a host fails, its outage or its maintenance time: stated, or the catalog's value."""
    return stated_or(scenario, f"availability.{name}", catalog.assumptions["host-reliability"].fact(name))


def _posture(
    trail: Trail,
    scenario: Scenario,
    clusters: Sequence[tuple[Named, Layout]],
    failures: int,
    up: Line,
    facts: Mapping[str, Fact],
) -> Posture:
    """Return the design at this host failure tolerance; the clusters fail independently of each other."""
    here = trail.about(f"postures.n{failures}", name=f"N+{failures}")
    chosen = failures == scenario.availability.host_failures
    parts: dict[str, list[Line]] = {}
    for cluster, laid in clusters:
        branch = trail.about(f"postures.n{failures}.{cluster.id}", name=f"N+{failures}, {cluster.name}")
        needed = _needed_line(trail, branch, cluster, laid)
        hosts = _posture_hosts(trail, branch, scenario, cluster, laid, failures, needed)
        spent: Inputs = {"hosts": hosts}
        spent["maintenance_h_per_host"] = facts["maintenance_h_per_host"]
        maintenance = branch.compute("maintenance_h", availability.maintenance_hours_h, spent)
        inputs: Inputs = {**facts, "availability": up, "maintenance_h": maintenance}
        if laid.other_hosts:
            lines = _mixed_hosts_lines(branch, cluster, laid, hosts, inputs)
        else:
            lines = _identical_hosts_lines(branch, needed, hosts, inputs)
        for name, line in {"hosts": hosts, **lines}.items():
            parts.setdefault(name, []).append(line)
    totals = {name: _over_pools(here, name, lines) for name, lines in parts.items()}
    return Posture(
        host_failures=failures,
        chosen=chosen,
        gpus=sum(room.gpus for _, laid in clusters for room in laid.rooms),
        **{name: line.value for name, line in totals.items()},
    )


def _needed_line(trail: Trail, there: Trail, cluster: Named, laid: Layout) -> Line:
    """Return the hosts for the demand of a cluster: as designed, unless this posture divides its pool otherwise."""
    key = f"pools.{cluster.id}.hosts_for_demand"
    if key in trail and trail[key].value == laid.used:
        return trail[key]
    whole = trail[f"pools.{cluster.kind}.hosts_for_demand"]
    return there.record("hosts_for_demand", availability.cluster_hosts, laid.used, hosts=whole)


IDENTICAL_HOSTS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "short_h": (availability.hours_short_h, ("availability",)),
    "exposed_h": (availability.exposed_hours_h, ("maintenance_h",)),
    "maintenance_short_h": (availability.maintenance_short_h, ("availability", "maintenance_h")),
    "chance": (availability.maintenance_chance, ("mtbf_h", "repair_h", "maintenance_h")),
}
"""Figure -> its model, and the inputs of the model beside the hosts."""
MIXED_HOSTS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "short_h": (availability.mixed_hours_short_h, ("availability",)),
    "exposed_h": (availability.mixed_exposed_hours_h, ("maintenance_h",)),
    "maintenance_short_h": (availability.mixed_maintenance_short_h, ("maintenance_h", "availability")),
    "chance": (availability.mixed_maintenance_chance, ("maintenance_h", "mtbf_h", "repair_h")),
}
"""The same where existing hosts have other GPUs than new ones."""


def _identical_hosts_lines(
    here: Trail, needed: Line, hosts: Line, known: Mapping[str, Fact | Line]
) -> dict[str, Line]:
    """Lines of a pool in which only the number of hosts that are up matters."""
    counts = {"hosts": hosts, "hosts_needed": needed}
    return {
        name: here.compute(name, function, {**counts, **{other: known[other] for other in behind}})
        for name, (function, behind) in IDENTICAL_HOSTS.items()
    }


def _mixed_hosts_lines(
    here: Trail, cluster: Named, laid: Layout, hosts: Line, known: Mapping[str, Fact | Line]
) -> dict[str, Line]:
    """Lines of a pool in which it matters which hosts are up: existing ones have other GPUs than new ones."""
    kinds, needed = laid.new_needed_by_kind
    mix = availability.HostMix(kinds, hosts.value - len(laid.existing), needed)
    listed = derived(
        f"pools/{cluster.id}/new hosts needed when 0, 1, 2, ... of those already there are down",
        ", ".join(str(n) for n in laid.new_needed),
        "new hosts needed",
    )
    lines = {}
    for name, (function, behind) in MIXED_HOSTS.items():
        taken = [other.replace("maintenance_h", "maintenance_h_per_host") for other in behind]
        value = function(mix, **{other: float(known[other].value) for other in taken})
        shown = {"hosts": hosts, "new_needed": listed, **{other: known[other] for other in behind}}
        several = said("plan.several kinds" if len(kinds) > 1 else "plan.worst of kinds")
        words = {"existing": len(laid.existing), "kinds": several * (len({*laid.existing}) > 1)}
        lines[name] = here.record(name, function, value, shown, when="mixed", words=words)
    return lines


def _posture_hosts(
    trail: Trail, here: Trail, scenario: Scenario, cluster: Named, laid: Layout, failures: int, needed: Line
) -> Line:
    """Hosts of a cluster in another posture than the chosen one: placed again, if hosts differ."""
    if failures == scenario.availability.host_failures:
        return here.repeat("hosts", trail[f"pools.{cluster.id}.hosts"])
    tolerated = scenario.given("availability", "host_failures", "maintenance_failure_accepted")
    other: dict[str, Any] = {
        "value": failures,
        "basis": "derived",
        "sources": ("gpuplan-method",),
        "note": "for comparison",
    }
    tolerated["host_failures"] = replace(tolerated["host_failures"], **other)
    when = "accepted" if tolerated["maintenance_failure_accepted"].value else "not accepted"
    spare = here.compute("spare", availability.spare_hosts, tolerated, when=when)
    if laid.mixed:
        count = len(laid.hosts)
        return here.record("hosts", placement.place_mixed, count, when="placed again", hosts_lost=spare)
    return here.compute("hosts", availability.total_hosts, hosts_for_demand=needed, hosts_for_failures=spare)


OVER_POOLS: Mapping[str, Callable[..., float]] = {
    "chance": availability.chance_over_pools,
    "short_h": availability.hours_over_pools_h,
    "exposed_h": availability.hours_over_pools_h,
    "maintenance_short_h": availability.hours_over_pools_h,
}
"""Figure -> its model over several pools, where that is no sum."""


def _over_pools(here: Trail, name: str, parts: Sequence[Line]) -> Line:
    """Return the figure of the only pool, or the combined figure of several pools."""
    if len(parts) == 1:
        return here.repeat(name, parts[0])
    if function := OVER_POOLS.get(name):
        value = function(*(line.value for line in parts))
        named = {f"part{number}": line for number, line in enumerate(parts, 1)}
        whole = "" if name == "chance" else " / 8760 h"
        product = {"product": " x ".join(f"(1 - {{{part}}}{whole})" for part in named)}
        return here.record(name, function, value, named, when="pools", words=product)
    return here.add_up(name, availability.sum_over_pools, {line.key: line for line in parts})
