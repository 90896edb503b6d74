"""Placement over time as text and as plain data: orders of power-on, a single one VM by VM, and rehearsals."""

from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.power_on import PowerOnStudy, Watched
from gpuplan.locales import spoken
from gpuplan.models.placement import Load
from gpuplan.models.power_on import Play
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.over_time.rehearsal import Failed, Rehearsed, Turn
from gpuplan.report.figures import design_name
from gpuplan.report.plan_data import as_json, fields_of
from gpuplan.report.plan_report import lost_title
from gpuplan.report.table import Table, words
from gpuplan.report.tables import over_time as tables
from gpuplan.report.tables import power_on
from gpuplan.report.text import Block, Content, chapter, page, wrapped
from gpuplan.scenario import UNASSIGNED
from gpuplan.wording import capital, run_words, said

CELLS, FREE = 8, "."
"""Characters of a GPU in a picture, and the sign of a part without a VM."""


@spoken
def power_on_text(plan: Plan, studies: Sequence[PowerOnStudy]) -> str:
    """Return power-on as text for a terminal."""
    several = len(studies) > 1
    answers = [f"{study.made.pool.name}: " * several + power_on.answer(study.made) for study in studies]
    tables = (table if several else table.without("pool") for table in _tables(studies).values())
    return page(said("power on.title", name=design_name(plan)), answers or power_on.NOT_TRIED, *tables)


def _tables(studies: Sequence[PowerOnStudy]) -> dict[str, Table]:
    trials = [study.made for study in studies]
    named, readings = power_on.named_orders(trials), power_on.readings(trials)
    return {"settings": power_on.settings(studies), "named_orders": named, "readings": readings}


def power_on_dict(_plan: Plan, studies: Sequence[PowerOnStudy]) -> dict[str, Any]:
    """Return power-on as plain JSON values, all finite: key ``clusters``.

    Each has ``id``, ``hosts``, ``reserved_hosts``, ``orders``, ``share``, ``sentence``, ``settings``, ``named_orders``, ``readings``, ``hosts_by_size`` and
    ``worst_order`` (the groups of its VMs; null where every order starts all).
    """
    return {"clusters": [_cluster(study) for study in studies]}


def _cluster(study: PowerOnStudy) -> dict[str, Any]:
    trial = study.made
    groups = [request.group for request in trial.pool.requests]
    return as_json(
        id=trial.pool.id,
        hosts=len(trial.rooms),
        reserved_hosts=trial.pool.hosts - len(trial.rooms),
        orders=trial.orders,
        share=trial.scenario.availability.orders_share,
        sentence=trial.sentence,
        **{name: table.without("pool") for name, table in _tables([study]).items()},
        hosts_by_size=trial.hosts_by_size,
        worst_order=[groups[kind] for kind in trial.worst[1]] if trial.worst else None,
    )


@spoken
def watched_text(plan: Plan, orders: Sequence[Watched]) -> str:
    """One order of each cluster as text, VM by VM, with a picture of the hosts after it."""
    chapters = [_watched(plan, order) for order in orders] or power_on.NOT_TRIED
    return page(said("power on.title of an order", name=design_name(plan)), chapters)


def _watched(plan: Plan, order: Watched) -> list[Content]:
    pool, reading, play = order
    table, vms, refused = power_on.steps(plan, play), len(play.steps), len(play.refused)
    rows = list(table.cells())
    empty = [c.key for at, c in enumerate(table.columns) if not any(words(cells[at], c) for cells in rows)]
    result = "power on.some do not start" if refused else "power on.all start"
    idle, gpus = round(play.cluster.idle_gpus(), 2), sum(room.gpus for room in play.cluster.rooms)
    steps = chapter(table.without(*empty), before=f"{capital(reading.words)}.", title=pool.name)
    outcome = said(result, vms=vms, refused=refused, idle=idle, gpus=gpus)
    return [steps, outcome, Block(picture(plan, play))]


def watched_dict(plan: Plan, orders: Sequence[Watched]) -> dict[str, Any]:
    """Return the same as plain JSON: key ``clusters``, each with ``id``, ``reading``, ``steps`` and ``idle_gpus``."""
    clusters = [
        {"id": pool.id, "reading": reading.words, "steps": power_on.steps(plan, play)}
        | {"idle_gpus": play.cluster.idle_gpus()}
        for pool, reading, play in orders
    ]
    return as_json(clusters=clusters)


def picture(plan: Plan, play: Play, at: int | None = None) -> str:
    """Draw the hosts after ``at`` power-ons, or all: each part of a GPU with a VM has the letter of its group."""
    play.go(len(play.steps) if at is None else at)
    letters = {group.id: group.letter for group in plan.groups} | {UNASSIGNED: "*"}
    names = [said("drawing.hosts.host", number=at) for at in range(1, len(play.cluster.rooms) + 1)]
    wide = max(map(len, names), default=0)
    lines = [
        f"{name:{wide}}  "
        + " ".join(f"[{_gpu(play, host, gpu, load, letters)}]" for gpu, load in enumerate(loads))
        for host, (name, loads) in enumerate(zip(names, play.cluster.by_gpu(), strict=True))
    ]
    return "\n".join(lines)


def _gpu(play: Play, host: int, gpu: int, load: Load | None, letters: dict[str, str]) -> str:
    if load is None:
        return FREE * CELLS
    marks = [letters[slot.group][-1] for slot in load.slots]
    if load.family is None:
        return marks[0] * CELLS
    cells = [FREE] * CELLS
    ends = _ends(play, host, gpu, load)
    for mark, (start, end) in zip(marks, ends, strict=True):
        for at in range(round(start * CELLS), max(round(start * CELLS) + 1, round(end * CELLS))):
            cells[min(at, CELLS - 1)] = mark
    return "".join(cells)


def _ends(play: Play, host: int, gpu: int, load: Load) -> list[tuple[float, float]]:
    """Return the bounds of each VM's part of a GPU; parts follow one another where placement does not matter."""
    if places := play.places(host, gpu):
        region = play.region(host, gpu)
        return [(start / region, (start + size) / region) for start, size in places]
    fits = play.cluster.gpus.fits
    kinds = {(request.group, request.profile): kind for kind, request in enumerate(play.cluster.requests)}
    ends, at = [], 0.0
    for slot in load.slots:
        kind = kinds[slot.group, slot.profile]
        size = float(fits.worth[kind]) / play.cluster.requests[kind].shares
        ends.append((at, at + size))
        at += size
    return ends


@spoken
def rehearsal_text(plan: Plan, pools: tuple[Pool, ...]) -> str:
    """Return upgrades, restarts and a week of arrivals and departures in some clusters as text."""
    starts = dict.fromkeys(tables.start_sentence(rehearsal) for rehearsal in tables.rehearsals(plan, *pools))
    chapters = (_chapters(plan, pool) for pool in pools)
    return page(said("rehearsal.title"), (wrapped(start, rest="") for start in starts), chapters)


def _chapters(plan: Plan, pool: Pool) -> list[str]:
    several = f"{pool.name}: " if len(plan.pools) > 1 else ""
    rehearsed = plan.rehearsed.get(pool.id)
    if rehearsed is None or rehearsed.too_large:
        return [f"{several}{tables.NOT_REHEARSED if rehearsed is None else tables.TOO_LARGE}"]
    return [
        chapter(table.without("pool"), before=sentence, title=f"{several}{table.title}")
        for table, sentence in (
            (tables.upgrades(plan, pool), tables.verdict(rehearsed)),
            (tables.restarts(plan, pool), plan.restart(pool).sentence),
            (tables.weeks(plan, pool), tables.week_sentence(rehearsed)),
        )
    ]


@spoken
def emptied_text(plan: Plan, rehearsed: Rehearsed, turn: Turn) -> str:
    """Return the evacuation of one host as text, VM by VM."""
    title = said("rehearsal.emptied", host=turn.host, pool=rehearsed.pool.name)
    return _one(rehearsed, title, tables.emptied(plan, turn))


@spoken
def restart_text(plan: Plan, rehearsed: Rehearsed, failed: Failed) -> str:
    """Return the restarts after a failure of some hosts as text."""
    title = lost_title(rehearsed.pool, failed.hosts, run_words(sorted(failed.hosts)))
    return _one(rehearsed, title, tables.restart(plan, rehearsed, failed))


def _one(rehearsed: Rehearsed, title: str, table: Table) -> str:
    return page(title, wrapped(tables.start_sentence(rehearsed), rest=""), table)


def rehearsal_dict(plan: Plan, pools: tuple[Pool, ...]) -> dict[str, Any]:
    """Return plain JSON by cluster: ``upgrade``, ``upgrade_as_designed``, ``failures``, ``week``; null if none."""
    return {"clusters": {pool.id: _rehearsed(plan.rehearsed.get(pool.id)) for pool in pools}}


def _rehearsed(rehearsed: Rehearsed | None) -> dict[str, Any] | None:
    if rehearsed is None or rehearsed.too_large:
        return None
    names = ("upgrade", "upgrade_as_designed", "failures", "week")
    named = {name: getattr(rehearsed, name) for name in names}
    return as_json(readings=len(rehearsed.rules), not_started=rehearsed.not_started, **named)


def host_dict(_plan: Plan, rehearsed: Rehearsed, became: Turn | Failed) -> dict[str, Any]:
    """Return the evacuation of one host, or the restarts after a failure of some hosts, as plain JSON values."""
    return as_json(pool=rehearsed.pool.id, **fields_of(became))
