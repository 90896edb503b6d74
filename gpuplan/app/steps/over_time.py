"""Placement over time on the hosts step: orders of power-on and settings, one order VM by VM, upgrades and restarts rehearsed."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.power_on import ORDERS, PowerOnStudy, named_order, studies_of
from gpuplan.app.cards import Card, Contents, act, background_card, card, panel, plain, select
from gpuplan.app.forms import form
from gpuplan.app.plan_view import Watched
from gpuplan.app.state import Workbook
from gpuplan.app.steps.failures import SHOWN_KINDS, shown_clusters
from gpuplan.models.power_on import Play, Spot, Step
from gpuplan.plan.hosts import Pool
from gpuplan.plan.over_time.power_on import PowerOn
from gpuplan.plan.over_time.rules import Reading
from gpuplan.plan.over_time.tried import label
from gpuplan.report import group_names, number
from gpuplan.report.table import Cell, Table, screen
from gpuplan.report.tables import over_time as tables
from gpuplan.report.tables import power_on as orders
from gpuplan.widgets import contract
from gpuplan.wording import headline_money, run_words, said, share_words, stated_percent

KEY = "power-on"
"""Key of its events, and the name of the command that tries many orders."""
settings_form = form("power-on", lambda workbook: {"shown": bool(workbook.plan.power_on)})
LONGEST_MS, STEP_MS = 20_000, (120, 700)
"""Longest time in which all VMs arrive, unless a step is shorter or longer than these."""
SHOWN_REFUSED = 6
RANDOM, SEEDS = "random", 2**32


def studies(workbook: Workbook) -> tuple[PowerOnStudy, ...]:
    """Return the studies of thousands of orders for the design on the screen, if they were tried."""
    powering, plan = workbook.powering_on, workbook.plan
    result, studied = powering.found, powering.plan
    if result is None or studied is None or studied.scenario != plan.scenario:
        return ()
    return workbook.once("orders of power-on", lambda: studies_of(plan, result))


def made_of(workbook: Workbook) -> dict[str, PowerOn]:
    """Return the power-on of each cluster, with the most orders that were tried."""
    return {**workbook.plan.power_on, **{study.made.pool.id: study.made for study in studies(workbook)}}


def sentence(workbook: Workbook, pool: Pool) -> str:
    """Return the orders in which a VM does not start; empty where vSphere places no VMs."""
    trial = made_of(workbook).get(pool.id)
    return trial.outcome if trial else ""


@panel(needs="pools")
def power_on_data(workbook: Workbook, _pools: Sequence[Pool]) -> Contents:
    if not workbook.plan.power_on:
        return orders.SHARED
    trials = [trial for trial in made_of(workbook).values() if trial.known]
    if not trials:
        return said("screen.power on.too many")
    worst = min(trials, key=lambda made: made.now.chance)
    if worst.orders == 1:
        return said("screen.power on.same result")
    return said("screen.power on.share", share=worst.now.share_words)


@card("run")
def tried_data(workbook: Workbook) -> dict[str, Any]:
    if not workbook.plan.power_on:
        return {"shown": False}
    done = studies(workbook)
    go = said("screen.power on.again") if done else said("screen.power on.go", orders=ORDERS)
    card = background_card(workbook, workbook.powering_on.runner, KEY, go)
    return card | {"text": _tried_words(workbook), "tables": _tables(workbook, done)}


def _tried_words(workbook: Workbook) -> list[str]:
    tries = max(trial.orders for trial in made_of(workbook).values())
    text = said("screen.power on.one tried" if tries == 1 else "screen.power on.tried", tries=tries)
    stopped = workbook.powering_on.runner.state == "cancelled"
    return list(filter(None, [text, said("screen.stopped") if stopped else "", _more_hosts(workbook)]))


def _more_hosts(workbook: Workbook) -> str:
    plan = workbook.plan
    share = stated_percent(plan.scenario.availability.orders_share)
    if plan.scenario.availability.sized_for == "orders":
        return said("screen.power on.enough", share=share)
    if not studies(workbook):
        return said("screen.power on.try more", share=share)
    sized = (workbook.powering_on.found or {}).get("sized")
    if sized is None:
        return ""
    hosts = said("screen.power on.sized", share=share, hosts=sized["hosts"], now=plan.totals.hosts)
    if plan.costs is None or sized["dearer"] is None:
        return f"{hosts}."
    money = headline_money(abs(sized["dearer"]), plan.costs.currency)
    key = "screen.power on.costs less" if sized["dearer"] < 0 else "screen.power on.costs more"
    return said(key, sized=hosts, money=money, years=plan.costs.years)


def _tables(workbook: Workbook, done: tuple[PowerOnStudy, ...]) -> list[dict[str, Any]]:
    """Return settings, those not set with a way to take them; named orders; readings where there are several."""
    all_made = list(made_of(workbook).values())
    hosts: Sequence[tuple[PowerOn, orders.Hosts]] = done or [(trial, {}) for trial in all_made if trial.known]
    trials = [trial for trial, _ in hosts]
    if not trials:
        return []
    several = len(trials) > 1
    settings = _with_uses(orders.settings(hosts), trials[0])
    shown: list[Table] = [settings if done else settings.without("hosts"), orders.named_orders(trials)]
    if any(len(trial.readings) > 1 for trial in trials):
        shown.append(orders.readings(trials))
    return [screen(table if several else table.without("pool")) for table in shown]


def _with_uses(table: Table, made: PowerOn) -> Table:

    def use(_: int, cell: Cell) -> Mapping[str, Any]:
        other = made.settings.get(cell.value)
        if other is None:
            return {}
        return {"acts": [act("set", said("screen.use"), str(cell.words), path=other.path, value=other.value)]}

    at = [column.key for column in table.columns].index("interval_low")
    intervals = [row[at] for row in table.cells()]

    def interval(row: int, _: Cell) -> Mapping[str, Any]:
        words = str(intervals[row].words)
        return {"note": f"{share_words(0.95)}: {words}".replace(" ", "\u00a0") if "%" in words else words}

    return table.dressed("setting", use).dressed("chance", interval).without("interval_low")


def watched_clusters(workbook: Workbook) -> tuple[Pool, ...]:
    """Return the cluster in the replay, if there is one."""
    watched = workbook.watched
    return (workbook.plan.pool(watched.pool),) if watched else ()


def play_of(workbook: Workbook, pool: Pool) -> Play | None:
    """Return the power-on of a cluster's VMs up to the step shown."""
    watched = workbook.watched
    if watched is None or watched.pool != pool.id:
        return None
    trial = made_of(workbook)[pool.id]

    def played() -> Play:
        reading, kinds = chosen(trial, watched)
        return Play(pool.requests, trial.rooms, reading.rules, kinds)

    play = workbook.once(f"play {watched._replace(at=0)}, {trial.orders} orders tried", played)
    play.go(watched.at)
    return play


@partial(Card, "watch")
def watch_data(workbook: Workbook) -> dict[str, Any]:
    if not (clusters := watched_clusters(workbook)):
        return {"shown": False}
    (pool,), watched = clusters, workbook.watched
    play = play_of(workbook, pool)
    assert play is not None and watched is not None
    trial = made_of(workbook)[pool.id]
    all_vms, refused = len(play.steps), play.refused
    shown = refused[:SHOWN_REFUSED]
    title = "screen.watch.of cluster" if len(workbook.plan.pools) > 1 else "screen.watch.title"
    return {
        "shown": True,
        "stale": workbook.stale,
        "pool": pool.id,
        "title": said(title, name=pool.name),
        "at": play.at,
        "of": all_vms,
        "label": said("screen.watch.at", at=play.at, of=all_vms),
        "step_ms": min(max(LONGEST_MS // max(1, all_vms), STEP_MS[0]), STEP_MS[1]),
        "selects": _selects(trial, watched),
        "sliders": [{"what": "watch", "at": play.at, "range": [0, all_vms, 1]}],
        "another": watched.seed + 1 if order_of(trial, watched) == RANDOM else 0,
        **_arrived(workbook, play),
        "refused": [{"at": n, "text": _name(workbook, play, play.steps[n - 1])} for n in shown],
        "result": _result(len(refused), len(refused) - SHOWN_REFUSED),
    }


def _result(refused: int, more: int) -> str:
    if not refused:
        return said("screen.watch.every VM starts")
    return said("screen.watch.some do not" if more > 0 else "screen.watch.do not start", vms=refused)


def _name(workbook: Workbook, play: Play, step: Step) -> str:
    return f"{group_names(workbook.plan)[play.cluster.requests[step.kind].group]} {number(step.vm)}"


def _arrived(workbook: Workbook, play: Play) -> dict[str, str]:
    """Say where the VM that was powered on last runs, or why it does not."""
    step = play.now
    if step is None:
        lead = said("screen.watch.none yet", hosts=len(play.cluster.rooms))
        return {"tone": "", "lead": lead, "text": said("screen.watch.how placed")}
    request = play.cluster.requests[step.kind]
    profile = f" ({request.profile})" * bool(request.profile)
    name = f"{_name(workbook, play, step)}{profile}"
    if step.spot is None:
        lead = said("screen.watch.does not start", name=name)
        text = orders.refusal_words(request, play.refusal(), play.cluster.rules)
        return {"tone": "bad", "lead": lead, "text": text}
    lead = said("screen.watch.starts", name=name)
    return {"tone": "good", "lead": lead, "text": f"{_spot_words(step.spot, play)}."}


def _spot_words(spot: Spot, play: Play) -> str:
    numbers = sorted({gpu + 1 for gpu in spot.gpus})
    host = said("screen.watch.on host", host=spot.host + 1)
    if not numbers:
        return host
    places = play.places(spot.host, spot.gpus[0]) if len(spot.starts) == 1 else ()
    at = said("screen.watch.at place", place=spot.starts[0]) if places else ""
    key = "screen.watch.on GPUs" if len(numbers) > 1 else "screen.watch.on GPU"
    return said(key, host=host, gpus=run_words(numbers), at=at)


def chosen(made: PowerOn, watched: Watched) -> tuple[Reading, tuple[int, ...]]:
    """Return the chosen reading, or the one of the order, and the order in the replay."""
    order = order_of(made, watched)
    reading, kinds = named_order(made, str(watched.seed % SEEDS) if order == RANDOM else order)
    return next((other for other in made.readings if other.name == watched.reading), reading), kinds


def order_of(made: PowerOn, watched: Watched) -> str:
    """Return the order in the replay: the first where the chosen one does not exist."""
    orders = orders_of(made)
    return watched.order if watched.order in orders else orders[0]


def orders_of(made: PowerOn) -> list[str]:
    """Return the orders to choose from: first the worst, where one is bad."""
    return [*["worst"] * bool(made.worst), RANDOM, *made.named, "groups"]


def _selects(made: PowerOn, watched: Watched) -> list[contract.Select]:
    orders = {order: label(order) for order in orders_of(made)}
    menus = [select("order", said("screen.watch.order"), order_of(made, watched), orders)]
    if len(made.readings) > 1:
        words = dict(zip((reading.name for reading in made.readings), differing(made.readings), strict=True))
        menus.append(select("reading", said("screen.watch.rules"), chosen(made, watched)[0].name, words))
    return menus


def differing(readings: Sequence[Reading]) -> list[str]:
    """Return the differences of each of several readings."""
    parts = [reading.words.split("; ") for reading in readings]
    return ["; ".join(part for part in words if any(part not in other for other in parts)) for words in parts]


@panel(needs="pools", slow=True)
def rehearse_data(workbook: Workbook, _pools: Sequence[Pool]) -> Contents:
    """Return the VMs that move when each host is evacuated, those shut down, and those restarted when one fails."""
    plan = workbook.plan
    if not plan.rehearsed:
        return tables.NOT_REHEARSED
    rehearsals = tables.rehearsals(plan, *shown_clusters(workbook))
    if not rehearsals:
        return tables.TOO_LARGE
    starts = dict.fromkeys(tables.start_sentence(rehearsal) for rehearsal in rehearsals)
    texts = [plain(text) for text in (*tables.verdicts(plan, rehearsals), *starts)]
    shown = [table for rehearsal in rehearsals for table in _rehearsed(workbook, rehearsal.pool)]
    return {"text": texts, "tables": shown}


def _rehearsed(workbook: Workbook, pool: Pool) -> list[dict[str, Any]]:
    plan = workbook.plan
    of, rehearsed = f"{pool.name}: " * (len(plan.pools) > 1), plan.rehearsed[pool.id]
    upgrades = tables.upgrades(plan, pool).without("pool")
    upgrades = upgrades.dressed("host", lambda _, cell: _evacuate(workbook, pool, cell))
    sentence = plan.restart(pool).sentence
    restarts, weeks = (table(plan, pool).without("pool") for table in (tables.restarts, tables.weeks))
    shown = [
        screen(upgrades, said("screen.rehearsal.upgrades", of=of)),
        screen(restarts.top(SHOWN_KINDS), said("screen.rehearsal.restarts", of=of), sentence),
    ]
    if weeks.rows:
        shown.append(screen(weeks, said("screen.rehearsal.week", of=of), tables.week_sentence(rehearsed)))
    return shown


def _evacuate(workbook: Workbook, pool: Pool, cell: Cell) -> Mapping[str, Any]:
    """Put the host of a row into maintenance on the picture, or bring it back."""
    down = cell.value in workbook.maintenance.get(pool.id, ())
    words = said("screen.rehearsal.bring back" if down else "screen.rehearsal.evacuate")
    name = said("screen.rehearsal.host of", host=cell.value, pool=pool.name)
    return {"acts": [act("maintain", words, name, pool=pool.id, host=cell.value)]}
