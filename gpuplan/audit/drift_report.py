"""Drift as plain data and as text: differences, whether host failures are still tolerated, evacuations, and what to do."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from gpuplan.audit.drift import Drift, Finding, per_core_of
from gpuplan.audit.estate_report import blocked_rows, counted
from gpuplan.audit.estate_use import UNKNOWN, EstateUse, use_of
from gpuplan.audit.losses import Tolerance, tolerances
from gpuplan.audit.planned import SERVERS
from gpuplan.report.plan_data import as_json
from gpuplan.report.table import Table, tabulate
from gpuplan.report.text import chapter, page
from gpuplan.wording import NAMES, said


class Told(NamedTuple):
    """Drift as a table, the worst loss of hosts by cluster, and the use of the estate."""

    drift: Drift
    table: Table
    tolerances: tuple[Tolerance, ...]
    use: EstateUse


def told_of(drift: Drift) -> Told:
    """Return what is told of a design and an estate."""
    plan, estate = drift.design.plan, drift.estate
    per_core = per_core_of(drift)
    use = use_of(estate, plan.catalog, per_core)
    unknown = {each.vm for vms in use.evacuation.values() for each in vms if each.why == UNKNOWN}
    of = {each.vm: each.group for each in drift.matches.vms}
    tied = {vm for vm, id in of.items() if id == SERVERS or vm.name in unknown}
    any_board = {vm for vm, id in of.items() if id and len(drift.design.boards(id)) > 1}
    failures = plan.scenario.availability.host_failures
    worst = tuple(tolerances(estate, plan.catalog, failures, tied, any_board, per_core))
    return Told(drift, tabulate("drift", map(_row, drift.findings)), worst, use)


def _row(finding: Finding) -> dict[str, Any]:
    values = finding._asdict() | {"n": len(finding.subjects), "names": finding.subjects}
    what, change = (said(f"drift.{finding.code}{end}", **values) for end in ("", ".change"))
    return values | {"what": what, "change": change}


def matched(told: Told) -> Iterator[str]:
    """Yield how hosts and VMs were matched, and how many were not compared."""
    (_, hosts, groups), matches = told.drift.design, told.drift.matches
    by, names = Counter(each.by for each in matches.vms), NAMES["match of a VM"]
    how = ", ".join(said("drift.how", n=by[key], by=name) for key, name in names.items() if by[key])
    planned, there = sum(len(group.names) for group in groups.values()), sum(by[key] for key in names)
    vms = {"vms": there, "planned_vms": planned, "how": how or "-"}
    yield said("drift.matched", hosts=len(matches.hosts), planned_hosts=len(hosts), **vms)
    if matches.others or by["no GPU"]:
        yield said("drift.others", hosts=len(matches.others), vms=by["no GPU"])


def after_failures(told: Told) -> Iterator[str]:
    """Yield whether every VM still has a place after host failures, by cluster."""
    for each in told.tolerances:
        key = "drift.fails" if each.unplaced else "drift.holds moved" if each.hosts else "drift.holds"
        yield said(key, **each._asdict(), n=len(each.unplaced), names=each.unplaced)
        if each.tried < each.sets:
            yield said("drift.tried", tried=each.tried, sets=each.sets)
    if not told.drift.design.plan.scenario.availability.host_failures:
        yield said("drift.no failures")
    elif SERVERS in told.drift.design.groups:
        yield said("drift.servers")


def evacuations(told: Told) -> Iterator[str]:
    """Yield how many hosts can be evacuated, and what to do about the others, by reason."""
    hosts = told.use.evacuation.values()
    if hosts:
        yield said("drift.evacuated", hosts=sum(not vms for vms in hosts), of=len(hosts))
        yield from counted(told.drift.estate, told.use)
    blocked = [each for vms in hosts for each in vms]
    for why in sorted({each.why for each in blocked}):
        profiles = sorted({each.what for each in blocked if each.why == why})
        names = sorted(each.vm for each in blocked if each.why == why)
        yield said(f"drift.evacuation.{why}", names=names, profiles=profiles)


def drift_text(told: Told) -> str:
    """Return drift as text for a terminal."""
    return page(
        said("drift.title", name=told.drift.design.plan.scenario.name),
        [*matched(told), *(f"{note}." for note in told.drift.estate.notes)],
        chapter(told.table, below=("change",)) or said("drift.none"),
        [*after_failures(told), *evacuations(told)],
        tabulate("estate_evacuation", blocked_rows(told.use.evacuation)),
    )


def drift_dict(told: Told) -> dict[str, Any]:
    """Return drift as plain JSON values: ``findings``, ``tolerance``, ``evacuation`` by host, and all that was matched or not."""
    matches = told.drift.matches
    return as_json(
        notes=told.drift.estate.notes,
        findings=told.table,
        tolerance=told.tolerances,
        evacuation=told.use.evacuation,
        hosts={name: planned.name for name, planned in matches.hosts.items()},
        missing=[planned.name for planned in matches.missing],
        extra=[host.name for host in matches.extra],
        others=[host.name for host in matches.others],
        clusters=matches.clusters,
        vms=[{"name": each.vm.name, "group": each.group, "by": each.by} for each in matches.vms],
    )
