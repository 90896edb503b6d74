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
        "Share of time a host is up",
        "1",
        availability.host_availability,
        "{mtbf_h} h / ({mtbf_h} h + {repair_h} h) = {value}",
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
    at, title = f"postures.n{failures}", f"N+{failures}"
    chosen = failures == scenario.availability.host_failures
    parts: dict[str, list[Line]] = {}
    for pool in pools:
        here, label = f"{at}.{pool.id}", f"{title}, {pool.name}"
        hosts = _posture_hosts(trail, scenario, pool, failures, here, label)
        maintenance = trail.compute(
            f"{here}.maintenance_h",
            f"{label}: hours of maintenance",
            "h",
            availability.maintenance_hours_h,
            "{hosts_u} x {maintenance_h_per_host} h each = {value} h",
            hosts=hosts,
            maintenance_h_per_host=facts["maintenance_h_per_host"],
        )
        known: dict[str, Fact | Line] = {**facts, "availability": up, "maintenance_h": maintenance}
        mixed = len(pool.new_needed) > 1
        lines = (_mixed_hosts_lines if mixed else _equal_hosts_lines)(trail, pool, here, label, hosts, known)
        for name, line in {"hosts": hosts, **lines}.items():
            parts.setdefault(name, []).append(line)
    totals = {
        name: _over_pools(trail, name, f"{at}.{name}", f"{title}: {text}", parts[name])
        for name, text in {"hosts": "hosts", **LABELS}.items()
    }
    gpus = sum(
        p.gpus - (p.hosts - h.value) * p.gpus_per_host for p, h in zip(pools, parts["hosts"], strict=True)
    )
    return Posture(
        host_failures=failures,
        chosen=chosen,
        gpus=gpus,
        **{name: line.value for name, line in totals.items()},
    )


LABELS = {
    "short_h": "hours short by failures",
    "exposed_h": "hours in which one failure is too much",
    "maintenance_short_h": "hours short in maintenance",
    "chance": "chance that a failure in maintenance is too much, per year",
}
UNITS = {"short_h": "h", "exposed_h": "h", "maintenance_short_h": "h", "chance": "1"}

EQUAL_HOSTS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...], str]] = {
    "short_h": (
        availability.hours_short_h,
        ("availability",),
        "8760 h x chance that of {hosts_u} fewer than {hosts_needed} are up = {value} h",
    ),
    "exposed_h": (
        availability.exposed_hours_h,
        ("maintenance_h",),
        "{maintenance_h} h of maintenance with {hosts_u}, {hosts_needed} needed: {value} h",
    ),
    "maintenance_short_h": (
        availability.maintenance_short_h,
        ("availability", "maintenance_h"),
        "{maintenance_h} h x chance that fewer than {hosts_needed} of the other hosts are up = {value} h",
    ),
    "chance": (
        availability.maintenance_chance,
        ("mtbf_h", "repair_h", "maintenance_h"),
        "of {hosts_u} one is in maintenance, {hosts_needed} are needed, for {maintenance_h} h a year: {value}",
    ),
}
"""Figure -> its model, what it follows from beside the hosts, and its formula."""
MIXED_HOSTS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "short_h": (availability.mixed_hours_short_h, ("availability",)),
    "exposed_h": (availability.mixed_exposed_hours_h, ("maintenance_h",)),
    "maintenance_short_h": (availability.mixed_maintenance_short_h, ("maintenance_h", "availability")),
    "chance": (availability.mixed_maintenance_chance, ("maintenance_h", "mtbf_h", "repair_h")),
}
"""The same where those already there have other GPUs than new ones."""


def _equal_hosts_lines(
    trail: Trail, pool: Pool, at: str, label: str, hosts: Line, known: Mapping[str, Fact | Line]
) -> dict[str, Line]:
    """Lines of a pool in which it matters only how many hosts are up."""
    counts = {"hosts": hosts, "hosts_needed": trail[f"pools.{pool.id}.hosts_for_demand"]}
    return {
        name: trail.compute(
            f"{at}.{name}",
            f"{label}: {LABELS[name]}",
            UNITS[name],
            function,
            formula,
            **counts,
            **{other: known[other] for other in behind},
        )
        for name, (function, behind, formula) in EQUAL_HOSTS.items()
    }


def _mixed_hosts_lines(
    trail: Trail, pool: Pool, at: str, label: str, hosts: Line, known: Mapping[str, Fact | Line]
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
    formula = f"of {{hosts_u}} {pool.existing_hosts} were there already; {{new_needed}} new ones are needed when 0, 1, 2, ... of those are down: {{value}}"
    found = {}
    for name, (function, behind) in MIXED_HOSTS.items():
        taken = [other.replace("maintenance_h", "maintenance_h_per_host") for other in behind]
        value = function(**counts, **{other: float(known[other].value) for other in taken})
        shown: dict[str, Fact | Line] = {"hosts": hosts, "new_needed": listed}
        shown |= {other: known[other] for other in behind}
        label_of = f"{label}: {LABELS[name]}"
        found[name] = trail.record(f"{at}.{name}", label_of, UNITS[name], function, formula, value, shown)
    return found


def _posture_hosts(trail: Trail, scenario: Scenario, pool: Pool, failures: int, at: str, label: str) -> Line:
    """Hosts of a pool in another posture than the chosen one: placed again, if hosts differ."""
    if failures == scenario.availability.host_failures:
        return trail.repeat(f"{at}.hosts", f"{label}: hosts", trail[f"pools.{pool.id}.hosts"])
    given = scenario.fact("availability.host_failures")
    asked = replace(
        given, value=failures, basis="derived", sources=("gpuplan-method",), note="for comparison"
    )
    accepted = scenario.fact("availability.maintenance_failure_accepted")
    spare = trail.compute(
        f"{at}.spare",
        f"{label}: hosts for failure and maintenance",
        "host",
        availability.spare_hosts,
        "{host_failures} for failures"
        + (" and maintenance" if accepted.value else " + 1 for maintenance")
        + " = {value}",
        host_failures=asked,
        maintenance_failure_accepted=accepted,
    )
    if pool.mixed:
        there = pool.rooms[: pool.existing_hosts]
        placed = placed_mixed(pool.requests, pool.new_room, there, spare.value)
        formula = "placed again so that any {hosts_lost} of {value_u} may be lost"
        inputs = {"hosts_lost": spare}
        count = len(placed.hosts)
        return trail.record(
            f"{at}.hosts", f"{label}: hosts", "host", placement.place_mixed, formula, count, inputs
        )
    return trail.compute(
        f"{at}.hosts",
        f"{label}: hosts",
        "host",
        availability.total_hosts,
        "{hosts_for_demand} for the demand + {hosts_for_failures} spare = {value}",
        hosts_for_demand=trail[f"pools.{pool.id}.hosts_for_demand"],
        hosts_for_failures=spare,
    )


def _over_pools(trail: Trail, name: str, key: str, label: str, parts: Sequence[Line]) -> Line:
    """The figure of the only pool, or what those of several pools make together."""
    if len(parts) == 1:
        return trail.repeat(key, label, parts[0])
    if name == "chance":
        function = availability.chance_over_pools
        value = function(*(line.value for line in parts))
        named = {f"part{number}": line for number, line in enumerate(parts, 1)}
        formula = "1 - " + " x ".join(f"(1 - {{{name}}})" for name in named) + " = {value}"
        return trail.record(key, label, "1", function, formula, value, named)
    unit, by_key = UNITS.get(name, "host"), {line.key: line for line in parts}
    return trail.add_up(key, label, unit, availability.sum_over_pools, by_key)
