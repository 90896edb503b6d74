"""The tables of power-on: what is set beside other settings, the readings of vSphere's rules, and one order VM by VM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.analysis.power_on_player import Play
from gpuplan.models.power_on import Step
from gpuplan.plan import Plan
from gpuplan.plan.power_on import PowerOn, Tried, distinct
from gpuplan.plan.power_on_rules import alike
from gpuplan.report.refusals import refusal_words
from gpuplan.report.table import Cell, Column, Table, between, key, listed, one_place
from gpuplan.report.tables.plan import group_names
from gpuplan.wording import NAMES, amount, percent, said, stated_percent

LABELS = NAMES["power-on, label"]
"""Settings and orders by what is tried."""
Hosts = Mapping[str, int | None]
"""Setting -> the fewest hosts on which enough orders start every VM; None where none was found."""


SHARED, NOT_TRIED = said("power on.shared"), said("power on.not tried")
FOR_DEMAND, NOT_KNOWN = said("power on.for demand"), said("power on.not known")


class Row(NamedTuple):
    """A setting of a cluster."""

    made: PowerOn
    tried: Tried
    hosts: Hosts


def power_on(plan: Plan) -> Table:
    """Power-on as it is set, and with other settings, in the few orders that a plan tries."""
    return settings([(made, {}) for made in distinct(plan.power_on)]).without("hosts")


def settings(found: Sequence[tuple[PowerOn, Hosts]]) -> Table:
    """The same for some clusters, in the orders that were tried of each, with the hosts that each setting takes; none where all orders are alike."""
    share = next((made.scenario.availability.orders_share for made, _ in found), 1.0)
    rows = [
        Row(made, made.tried(key), hosts)
        for made, hosts in found
        if made.known and not alike(made.pool.requests)
        for key in dict.fromkeys(("now", *made.settings, made.best.key))
    ]
    return listed(
        "power_on",
        (
            Column("pool", of=lambda row: row.made.pool.name),
            Column("setting", of=lambda row: Cell(row.tried.key, words=label(row.tried.key))),
            Column("orders", kind="number", detail=True, of=lambda row: row.tried.orders),
            Column("chance", kind="share", of=lambda row: _share(row.tried.chance)),
            Column("chance_high", kind="share", detail=True, of=lambda row: row.tried.chance[1]),
            Column("interval_low", kind="share", of=_interval),
            Column(
                "interval_high",
                kind="share",
                detail=True,
                of=lambda row: row.tried.interval[1] if row.tried.orders > 1 else None,
            ),
            Column("missing", kind="mean", of=_missing),
            Column("most_missing", kind="number", of=lambda row: row.tried.most_missing),
            Column("stranded_gpus", kind="mean", of=lambda row: row.tried.stranded_gpus),
            Column("hosts", said("table.power_on.hosts", share=stated_percent(share)), "number", of=_hosts),
            key("cluster_id", lambda row: row.made.pool.id),
        ),
        rows,
        notes=_notes(rows),
    )


def _notes(rows: Sequence[Row]) -> tuple[str, ...]:
    """What host groups would take, which hosts are meant, and what is not known."""
    now = [row for row in rows if row.tried.key == "now"]
    hosts = [FOR_DEMAND] if any(row.hosts for row in now) else []
    return (*(by_size(row.made, len(now) > 1) for row in now), *hosts, NOT_KNOWN) if rows else ()


def answer(made: PowerOn) -> str:
    """The answer for a cluster, and how vSphere is set."""
    platform, shown = made.scenario.platform, []
    if {"group", "spread"} & made.settings.keys():
        shown.append(said("power on.policy", policy=platform.gpu_policy))
    if made.pool.kind == "vgpu":
        consolidated = platform.drs_consolidation
        shown.append(said("power on.consolidation" if consolidated else "power on.no consolidation"))
    reserved = made.pool.hosts - len(made.rooms)
    shown += [said("power on.reserved", hosts=reserved)] if reserved else []
    if not shown:
        return made.sentence
    return said("power on.settings", sentence=made.sentence, settings=", ".join(shown))


def by_size(made: PowerOn, named: bool = False) -> str:
    """What host groups by size would take."""
    key = "power on.by size in a pool" if named else "power on.by size"
    return said(key, pool=made.pool.name, hosts=made.hosts_by_size)


def label(key: str) -> str:
    """A setting or an order, or both, as a row is called."""
    first, *more = (LABELS[part] for part in key.split(", "))
    return ", ".join([first, *(part[0].lower() + part[1:] for part in more)])


def _share(ends: tuple[float, float]) -> Cell:
    low, high = ends
    return Cell(low, words=between(ends, percent), low=low, high=high)


def _interval(row: Row) -> Cell:
    """Nothing for an order with a name: it is no sample."""
    return (
        _share(row.tried.interval) if row.tried.orders > 1 else Cell(None, words=said("power on.one order"))
    )


def _missing(row: Row) -> Cell:
    low, high = row.tried.missing
    return Cell(high, words=between((low, high), one_place), low=low, high=high)


def _hosts(row: Row) -> Cell:
    if row.tried.key not in row.hosts:
        return Cell(None)
    hosts = row.hosts[row.tried.key]
    return (
        Cell(None, words=said("power on.over", hosts=row.made.most_hosts)) if hosts is None else Cell(hosts)
    )


def readings(found: Sequence[PowerOn]) -> Table:
    """What vSphere may do where sources differ or say nothing, and what becomes of the VMs under each reading."""
    rows = [(made, at) for made in found if made.known for at in range(len(made.readings))]
    return listed(
        "power_on_readings",
        (
            Column("pool", of=lambda row: row[0].pool.name),
            Column("reading", of=lambda row: row[0].readings[row[1]].words),
            Column("rules", detail=True, of=lambda row: row[0].readings[row[1]].name),
            Column("started", kind="share", of=lambda row: _of(row).started / _of(row).orders),
            Column("missing", kind="mean", of=lambda row: sum(_of(row).missing_by_kind)),
            Column("sources", kind="sources", detail=True, of=lambda row: row[0].readings[row[1]].sources),
        ),
        rows,
    )


def _of(row: tuple[PowerOn, int]) -> Any:
    made, at = row
    return made.now.found[at]


def named_orders(found: Sequence[PowerOn]) -> Table:
    """What orders with a name give."""
    return listed(
        "power_on_orders",
        (
            Column("pool", of=lambda row: row[0].pool.name),
            Column("order", of=lambda row: Cell(row[1], words=label(row[1]))),
            Column("missing", kind="mean", of=lambda row: _missing(Row(row[0], row[0].tried(row[1]), {}))),
        ),
        [
            (made, name)
            for made in found
            if made.known and not alike(made.pool.requests)
            for name in made.named
        ],
    )


def by_reading_and_name(plan: Plan) -> tuple[Table, Table]:
    """Power-on of a plan under each reading, and in the orders with a name."""
    made = distinct(plan.power_on)
    return readings(made), named_orders(made)


class Arrival(NamedTuple):
    """A VM that was powered on."""

    at: int
    step: Step
    why: str
    """Why it does not start."""


def steps(plan: Plan, play: Play) -> Table:
    """One order, VM by VM: where each runs, or why it does not start; all are on afterwards."""
    names, requests = group_names(plan), play.cluster.requests
    rows = []
    for at, step in enumerate(play.steps, 1):
        why = ""
        if step.spot is None:
            play.go(at)
            why = refusal_words(requests[step.kind], play.refusal(), play.cluster.rules)
        rows.append(Arrival(at, step, why))
    play.go(len(play.steps))
    return listed(
        "power_on_steps",
        (
            Column("at", "", "number"),
            Column("group", of=lambda row: names[requests[row.step.kind].group]),
            Column("vm", kind="number", of=lambda row: row.step.vm),
            Column("profile", of=lambda row: asks_for(play, row.step.kind)),
            Column("host", kind="number", of=lambda row: row.step.spot.host + 1 if row.step.spot else None),
            Column("gpus", of=_gpus),
            Column("starts", of=lambda row: _starts(play, row.step)),
            Column("why"),
        ),
        rows,
    )


def asks_for(play: Play, kind: int) -> str:
    """What a VM asks a host for: its profile, how many of it, or whole GPUs."""
    request = play.cluster.requests[kind]
    if request.family:
        return f"{request.shares} x {request.profile}" if request.shares > 1 else request.profile
    return amount(request.gpus, "GPU") if request.gpus else said("power on.no gpu")


def _gpus(row: Arrival) -> Cell:
    gpus = tuple(gpu + 1 for gpu in row.step.spot.gpus) if row.step.spot else ()
    return Cell(gpus, words=", ".join(map(str, gpus)))


def _starts(play: Play, step: Step) -> Cell:
    """Where its shares begin, if their places count."""
    family = play.cluster.gpus.fits.family_of[step.kind]
    placed = family >= 0 and play.cluster.gpus.ways[family].pieces
    starts = step.spot.starts if step.spot and placed else ()
    return Cell(starts, words=", ".join(map(str, starts)))
