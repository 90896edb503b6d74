"""Tables of power-on: the settings and orders that were tried, one order VM by VM, and why a VM does not start."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.models.placement import Request
from gpuplan.models.power_on import Play, Refusal, Rules, Step
from gpuplan.plan import Plan
from gpuplan.plan.over_time.power_on import PowerOn, distinct, settings_now
from gpuplan.plan.over_time.rules import alike
from gpuplan.plan.over_time.tried import Tried, label
from gpuplan.report.kinds import between
from gpuplan.report.table import Cell, Table, filled, tabulate
from gpuplan.report.tables.plan import group_names
from gpuplan.wording import amount, joined, one_place, percent, said, stated_percent

Hosts = Mapping[str, int | None]
"""Setting -> the fewest hosts on which enough orders start every VM; None if no number does."""
FOR_DEMAND, NOT_KNOWN = said("power on.for demand"), said("power on.not known")
SHARED, NOT_TRIED = said("power on.shared"), said("power on.not tried")


def _range(ends: tuple[float, float], words: Callable[[float], str], value: Any) -> Cell:
    return Cell(value, words=between(ends, words), low=ends[0], high=ends[1])


class Row(NamedTuple):
    """A setting of a cluster."""

    made: PowerOn
    tried: Tried
    hosts: Hosts


def power_on(plan: Plan) -> Table:
    """Tabulate power-on as set and with other settings, in the few orders that a plan tries."""
    return settings([(trial, {}) for trial in distinct(plan.power_on)]).without("hosts")


def settings(found: Sequence[tuple[PowerOn, Hosts]]) -> Table:
    """Tabulate settings of some clusters, in the orders tried, with the hosts each takes; empty if all orders agree."""
    share = next((trial.scenario.availability.orders_share for trial, _ in found), 1.0)
    rows = []
    for trial, hosts in found:
        if trial.known and not alike(trial.pool.requests):
            keys = dict.fromkeys(("now", *trial.settings, trial.best.key))
            rows += [Row(trial, trial.tried(key), hosts) for key in keys]
    now = [row for row in rows if row.tried.key == "now"]
    meant = [FOR_DEMAND] if any(row.hosts for row in now) else []
    own: dict[str, Any] = {"hosts": _hosts, "interval_low": _interval}
    own["setting"] = lambda row: Cell(row.tried.key, words=label(row.tried.key))
    own |= {"chance": lambda row: _share(row.tried.chance), "chance_high": lambda row: row.tried.chance[1]}
    own |= {"interval_high": lambda row: _interval(row).high, "missing": lambda row: _missing(row.tried)}
    own |= {"cluster_id": lambda row: row.made.pool.id}
    heads = {"hosts": said("table.power_on.hosts", share=stated_percent(share))}
    notes = (*(by_size(row.made, len(now) > 1) for row in now), *meant, *[NOT_KNOWN] * bool(rows))
    return tabulate("power_on", rows, **own, heads=heads, notes=notes)


def answer(made: PowerOn) -> str:
    """Say the result for a cluster, and how vSphere is set."""
    reserved, shown = made.pool.hosts - len(made.rooms), settings_now(made)
    shown += [said("power on.reserved", hosts=reserved)] if reserved else []
    if not shown:
        return made.sentence
    return said("power on.settings", sentence=made.sentence, settings=", ".join(shown))


def by_size(made: PowerOn, named: bool = False) -> str:
    """Say what host groups by size would take."""
    key = "power on.by size in a pool" if named else "power on.by size"
    return said(key, pool=made.pool.name, hosts=made.hosts_by_size)


def _share(ends: tuple[float, float]) -> Cell:
    return _range(ends, percent, ends[0])


def _interval(row: Row) -> Cell:
    """Return an order's interval; empty for an order with a name, which is no sample."""
    one = Cell(None, words=said("power on.one order"))
    return _share(row.tried.interval) if row.tried.orders > 1 else one


def _missing(tried: Tried) -> Cell:
    return _range(tried.missing, one_place, tried.missing[1])


def _hosts(row: Row) -> Cell:
    hosts = row.hosts.get(row.tried.key)
    over = hosts is None and row.tried.key in row.hosts
    return Cell(hosts, words=said("power on.over", hosts=row.made.most_hosts) if over else None)


def readings(found: Sequence[PowerOn]) -> Table:
    """Tabulate the possible behaviour of vSphere where sources differ or are silent, and its effect on the VMs."""
    known = (trial for trial in found if trial.known)
    rows = (
        (
            trial.pool.name,
            reading.words,
            reading.name,
            result.started / result.orders,
            sum(result.missing_by_kind),
            reading.sources,
        )
        for trial in known
        for reading, result in zip(trial.readings, trial.now.found, strict=True)
    )
    return filled("power_on_readings", rows)


def named_orders(found: Sequence[PowerOn]) -> Table:
    """Tabulate the results of orders with a name."""
    tried = (trial for trial in found if trial.known and not alike(trial.pool.requests))
    own: dict[str, Any] = {"pool": lambda row: row[0].pool.name}
    own["order"] = lambda row: Cell(row[1], words=label(row[1]))
    own["missing"] = lambda row: _missing(row[0].tried(row[1]))
    return tabulate("power_on_orders", [(trial, name) for trial in tried for name in trial.named], **own)


def by_reading_and_name(plan: Plan) -> tuple[Table, Table]:
    """Tabulate power-on of a plan under each reading, and in the orders with a name."""
    trials = distinct(plan.power_on)
    return readings(trials), named_orders(trials)


class Arrival(NamedTuple):
    """A VM that was powered on."""

    at: int
    step: Step
    why: str


def steps(plan: Plan, play: Play) -> Table:
    """Tabulate one order, VM by VM: the host of each, or why it does not start; all are on afterwards."""
    names, requests = group_names(plan), play.cluster.requests
    rows = []
    for at, step in enumerate(play.steps, 1):
        why = ""
        if step.spot is None:
            play.go(at)
            why = refusal_words(requests[step.kind], play.refusal(), play.cluster.rules)
        rows.append(Arrival(at, step, why))
    play.go(len(play.steps))
    own: dict[str, Any] = {"gpus": _gpus, "starts": lambda row: _starts(play, row.step)}
    own["group"] = lambda row: names[requests[row.step.kind].group]
    own["profile"] = lambda row: asks_for(play, row.step.kind)
    own["host"] = lambda row: row.step.spot.host + 1 if row.step.spot else None
    return tabulate("power_on_steps", rows, **own)


def asks_for(play: Play, kind: int) -> str:
    """Return what a VM requests of a host: its profile and the number of them, or whole GPUs."""
    request = play.cluster.requests[kind]
    if request.family:
        return f"{request.shares} x {request.profile}" if request.shares > 1 else request.profile
    return amount(request.gpus, "GPU") if request.gpus else said("power on.no gpu")


def _gpus(row: Arrival) -> Cell:
    gpus = tuple(gpu + 1 for gpu in row.step.spot.gpus) if row.step.spot else ()
    return Cell(gpus, words=", ".join(map(str, gpus)))


def _starts(play: Play, step: Step) -> Cell:
    """Return where its shares begin, if placement matters."""
    family = play.cluster.gpus.fits.family_of[step.kind]
    placed = family >= 0 and play.cluster.gpus.ways[family].pieces
    starts = step.spot.starts if step.spot and placed else ()
    return Cell(starts, words=", ".join(map(str, starts)))


def refusal_words(request: Request, refusal: Refusal, rules: Rules) -> str:
    """Say why a VM does not start, and what occupies the GPUs."""
    return f"{_lacking(request, refusal, rules)} {_standing(request, refusal)}".strip()


def _lacking(request: Request, refusal: Refusal, rules: Rules) -> str:
    if refusal.short_of:
        return said("power on.short of", what=joined(refusal.short_of))
    if request.family:
        key = "power on.no place" if request.shares == 1 else "power on.no places"
        return said(key, shares=request.shares, profile=request.profile or "it")
    free, needed = refusal.free_on_a_host, request.gpus
    if free < needed:
        several = "power on.needs gpus" if free else "power on.needs gpus and none is free"
        return said("power on.needs a gpu" if needed == 1 else several, gpus=needed, free=free)
    return said("power on.no partition" if rules.partitions else "power on.no nvlink domain", gpus=needed)


def _standing(request: Request, refusal: Refusal) -> str:
    parts = list[str]()
    for profiles, gpus in refusal.locked:
        key = "power on.more locked" if parts else "power on.locked"
        parts.append(said(key, gpus=gpus, profiles=joined(profiles)))
    still_open = refusal.open - refusal.neutral if request.family else 0
    counts = {"power on.full": refusal.full, "power on.open": still_open}
    counts |= {"power on.whole": refusal.whole, "power on.neutral": refusal.neutral}
    parts += [said(key, gpus=gpus) for key, gpus in counts.items() if gpus > 0]
    return said("power on.of gpus", gpus=refusal.gpus, parts=joined(parts)) if parts else ""
