"""Availability: N+0, N+1 and N+2 side by side, and the hours a year in which each design is short of hosts.

A pool is short when fewer hosts are up than its demand needs; where hosts already there have other GPUs than new
ones, it matters which of them are up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, derived
from gpuplan.models import availability, placement
from gpuplan.plan.hosts import Pool, placed_mixed
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Posture:
    """The design with so many host failures to tolerate: hosts, and the hours a year in which it is at risk."""

    host_failures: int
    chosen: bool
    hosts: int
    gpus: int
    short_h: float
    """Expected hours a year in which failures leave somebody without a GPU."""
    exposed_h: float
    """Hours a year of maintenance in which one failure more does."""
    maintenance_short_h: float
    """Expected hours a year in which a failure in maintenance does."""
    chance: float
    """Chance that it happens in a year of maintenance."""


def postures_of(
    trail: Trail, scenario: Scenario, catalog: Catalog, pools: Sequence[Pool]
) -> tuple[Posture, ...]:
    """N+0, N+1, N+2, the chosen one and one host more: hosts, and the hours a year in which each is at risk, with their lines."""
    if not pools:
        return ()
    chosen = scenario.availability.host_failures
    facts = {name: reliability_fact(scenario, catalog, name) for name in RELIABILITY}
    up = trail.compute(
        "availability.host_up",
        availability.host_availability,
        mtbf_h=facts["mtbf_h"],
        repair_h=facts["repair_h"],
    )
    return tuple(
        _posture(trail, scenario, pools, failures, up, facts)
        for failures in sorted({0, 1, 2, chosen, chosen + 1})
    )


RELIABILITY = ("mtbf_h", "repair_h", "maintenance_h_per_host")


def reliability_fact(scenario: Scenario, catalog: Catalog, name: str) -> Fact:
    """How often a host fails, how long it is out, how long it is in maintenance: stated, or the catalog's value."""
    stated = scenario.fact(f"availability.{name}")
    return stated if stated.value is not None else catalog.assumptions["host-reliability"].fact(name)


def _posture(
    trail: Trail,
    scenario: Scenario,
    pools: Sequence[Pool],
    failures: int,
    up: Line,
    facts: Mapping[str, Fact],
) -> Posture:
    """The design with so many host failures to tolerate; the pools fail independently of each other."""
    here = trail.about(f"postures.n{failures}", name=f"N+{failures}")
    chosen = failures == scenario.availability.host_failures
    parts: dict[str, list[Line]] = {}
    for pool in pools:
        there = trail.about(f"postures.n{failures}.{pool.id}", name=f"N+{failures}, {pool.name}")
        hosts = _posture_hosts(trail, there, scenario, pool, failures)
        each_h = facts["maintenance_h_per_host"]
        maintenance = there.compute(
            "maintenance_h", availability.maintenance_hours_h, hosts=hosts, maintenance_h_per_host=each_h
        )
        known: dict[str, Fact | Line] = {**facts, "availability": up, "maintenance_h": maintenance}
        if len(pool.new_needed) > 1:
            lines = _mixed_hosts_lines(there, pool, hosts, known)
        else:
            lines = _identical_hosts_lines(there, trail[f"pools.{pool.id}.hosts_for_demand"], hosts, known)
        for name, line in {"hosts": hosts, **lines}.items():
            parts.setdefault(name, []).append(line)
    totals = {name: _over_pools(here, name, lines) for name, lines in parts.items()}
    gpus = sum(
        p.gpus - (p.hosts - h.value) * p.gpus_per_host for p, h in zip(pools, parts["hosts"], strict=True)
    )
    return Posture(
        host_failures=failures,
        chosen=chosen,
        gpus=gpus,
        **{name: line.value for name, line in totals.items()},
    )


IDENTICAL_HOSTS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "short_h": (availability.hours_short_h, ("availability",)),
    "exposed_h": (availability.exposed_hours_h, ("maintenance_h",)),
    "maintenance_short_h": (availability.maintenance_short_h, ("availability", "maintenance_h")),
    "chance": (availability.maintenance_chance, ("mtbf_h", "repair_h", "maintenance_h")),
}
"""Figure -> its model, and what it follows from beside the hosts."""
MIXED_HOSTS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "short_h": (availability.mixed_hours_short_h, ("availability",)),
    "exposed_h": (availability.mixed_exposed_hours_h, ("maintenance_h",)),
    "maintenance_short_h": (availability.mixed_maintenance_short_h, ("maintenance_h", "availability")),
    "chance": (availability.mixed_maintenance_chance, ("maintenance_h", "mtbf_h", "repair_h")),
}
"""The same where those already there have other GPUs than new ones."""


def _identical_hosts_lines(
    here: Trail, needed: Line, hosts: Line, known: Mapping[str, Fact | Line]
) -> dict[str, Line]:
    """Lines of a pool in which it matters only how many hosts are up."""
    counts = {"hosts": hosts, "hosts_needed": needed}
    return {
        name: here.compute(name, function, {**counts, **{other: known[other] for other in behind}})
        for name, (function, behind) in IDENTICAL_HOSTS.items()
    }


def _mixed_hosts_lines(
    here: Trail, pool: Pool, hosts: Line, known: Mapping[str, Fact | Line]
) -> dict[str, Line]:
    """Lines of a pool in which it matters which hosts are up: those already there have other GPUs than new ones."""
    counts: dict[str, Any] = {
        "old_hosts": pool.existing_hosts,
        "new_hosts": hosts.value - pool.existing_hosts,
        "new_needed": pool.new_needed,
    }
    listed = derived(
        f"pools/{pool.id}/new hosts needed when 0, 1, 2, ... of those already there are down",
        ", ".join(str(n) for n in pool.new_needed),
        "",
        "placed again for each; more hosts down count as too many",
    )
    found = {}
    for name, (function, behind) in MIXED_HOSTS.items():
        taken = [other.replace("maintenance_h", "maintenance_h_per_host") for other in behind]
        value = function(**counts, **{other: float(known[other].value) for other in taken})
        shown = {"hosts": hosts, "new_needed": listed, **{other: known[other] for other in behind}}
        there = {"existing": pool.existing_hosts}
        found[name] = here.record(name, function, value, shown, when="mixed", words=there)
    return found


def _posture_hosts(trail: Trail, here: Trail, scenario: Scenario, pool: Pool, failures: int) -> Line:
    """Hosts of a pool in another posture than the chosen one: placed again, if hosts differ."""
    if failures == scenario.availability.host_failures:
        return here.repeat("hosts", trail[f"pools.{pool.id}.hosts"])
    given = scenario.fact("availability.host_failures")
    accepted = scenario.fact("availability.maintenance_failure_accepted")
    spare = here.compute(
        "spare",
        availability.spare_hosts,
        when="accepted" if accepted.value else "not accepted",
        host_failures=replace(
            given, value=failures, basis="derived", sources=("gpuplan-method",), note="for comparison"
        ),
        maintenance_failure_accepted=accepted,
    )
    if pool.mixed:
        there = pool.rooms[: pool.existing_hosts]
        count = len(placed_mixed(pool.requests, pool.new_room, there, spare.value).hosts)
        return here.record("hosts", placement.place_mixed, count, when="placed again", hosts_lost=spare)
    needed = trail[f"pools.{pool.id}.hosts_for_demand"]
    return here.compute("hosts", availability.total_hosts, hosts_for_demand=needed, hosts_for_failures=spare)


def _over_pools(here: Trail, name: str, parts: Sequence[Line]) -> Line:
    """The figure of the only pool, or what those of several pools make together."""
    if len(parts) == 1:
        return here.repeat(name, parts[0])
    if name == "chance":
        function = availability.chance_over_pools
        value = function(*(line.value for line in parts))
        named = {f"part{number}": line for number, line in enumerate(parts, 1)}
        product = {"product": " x ".join(f"(1 - {{{part}}})" for part in named)}
        return here.record(name, function, value, named, when="pools", words=product)
    return here.add_up(name, availability.sum_over_pools, {line.key: line for line in parts})
