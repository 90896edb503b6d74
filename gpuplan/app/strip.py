"""The answer strip: two large figures and four quiet ones, the effect of the last change, and of hosts down."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from gpuplan.app.cards import attributes
from gpuplan.app.state import Workbook
from gpuplan.plan import Plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.limits import limit_words
from gpuplan.plan.verdict import Verdict
from gpuplan.report import amount, number
from gpuplan.report.figures import Figures, open_points
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, headline_money, is_currency, said, short_number, stated_percent, told

COST, PLACEMENT = "cost.net_present", "totals.unplaced_vms_after_failure"
SMALL = 0.05
"""Share of a cost below which rounded figures would misstate a difference: then only the difference is shown."""
MOST_BOXES = 20
"""Hosts that are drawn as boxes, each."""
BEYOND = 1.1
"""Length of the bar of a cost, which begins at nothing: so much of the high end."""
SIGNS = NAMES["sign of a tone"]

MONEY = ("budget", "budget_start")
OF_HOSTS = ("power_kw", "cooling_kw", "racks", "rack_units", "ports", "vendors", "co2_t")
OF_BOARDS = ("boards", "delivery_weeks", "delivery_date")
"""Limits that belong to a figure."""


class Figure(NamedTuple):
    """A figure of the strip."""

    key: str
    value: str
    note: str = ""
    tone: str = ""
    size: float | None = None
    """Number compared with the figure before a change; None if only its words are compared."""
    unit: str = ""
    label: str = ""
    """Its name, where that is not always the same."""
    sign: str = ""
    beside: str = ""
    """What it grows to."""
    boxes: tuple[int, ...] = ()
    """Hosts that carry the load, and those for failover and maintenance."""
    range: contract.Range | None = None
    assumed: bool = False
    """True if its note counts assumptions."""

    @property
    def words(self) -> str:
        """Its value with what it grows to."""
        return " ".join(filter(None, (self.value, self.beside)))


SHOWN = [name for name in Figure._fields if name not in ("size", "unit", "label")]
"""What the screen shows of a figure."""


def strip_data(workbook: Workbook) -> dict[str, Any]:
    """Return the current answer."""
    plan, before = workbook.plan, workbook.before
    figures = _figures(plan, workbook.messages, workbook.checked.verdict)
    moved = [""] * len(figures)
    if before is not None and not workbook.stale:
        now = before.unchecked().verdict
        old = before.once("strip", lambda: _figures(before, workbook.messages_before, now))
        moved = [_moved(one, other) for one, other in zip(old, figures, strict=True)]
    if down := _down(workbook):
        moved = ["" if figure.key in down else was for figure, was in zip(figures, moved, strict=True)]
        figures = [down.get(figure.key, figure) for figure in figures]
    labels = NAMES["figure of the strip"]
    return {
        "figures": [
            attributes(figure, *SHOWN) | {"label": figure.label or labels[figure.key], "was": was}
            for figure, was in zip(figures, moved, strict=True)
        ],
        "turn": workbook.turn,
        "stale": workbook.stale,
        "wrong": _wrong(workbook),
        "shown": workbook.started,
        "open": workbook.drawer,
    }


def _wrong(workbook: Workbook) -> contract.Wrong:
    """Return the first input with a problem, which keeps the figures unchanged; nothing where no input is to blame."""
    path = next(iter(workbook.wrong), "")
    return {"path": path, "name": workbook.name_of(path)} if path else {}


def _figures(plan: Plan, messages: Sequence[Message], verdict: Verdict) -> list[Figure]:
    totals = plan.totals
    if not plan.pools and not plan.groups:
        none = said("screen.strip.none yet")
        return [
            Figure("totals.hosts", "0", none),
            Figure(COST, "\u2013", none),
            Figure("demand.gpus", "0", said("screen.strip.no workloads")),
            Figure("totals.gpus", "0", none),
            Figure(PLACEMENT, verdict.short, none),
            _to_confirm(plan, messages),
        ]
    lost, demand, inputs = Figures(plan).down, Figures(plan).demand, plan.scenario.demand
    by_rule = plan.scenario.deciding_total_gpus is None
    target = NAMES["rule on the strip"][inputs.rule if by_rule else "stated"]
    rule = told(target, {"chance": stated_percent(inputs.chance)})
    after = said("screen.strip.a failure" if lost == 1 else "screen.strip.failures", lost=lost)
    left = said("screen.strip.after", gpus=totals.gpus_after_failure, failures=after)
    return [
        _hosts(plan),
        _cost(plan),
        Figure("demand.gpus", amount(demand, "GPU"), rule, size=demand),
        Figure("totals.gpus", number(totals.gpus), left, size=totals.gpus),
        Figure(PLACEMENT, verdict.short, verdict.note, verdict.tone, sign=SIGNS.get(verdict.tone, "")),
        _to_confirm(plan, messages),
    ]


def _hosts(plan: Plan) -> Figure:
    """Return the hosts by their purpose, and those of the last year where the cost beside them includes growth."""
    totals, costs = plan.totals, plan.costs
    grown = costs is not None and costs.hosts[-1] != totals.hosts
    beside = said("screen.strip.to year", hosts=costs.hosts[-1], year=costs.years) if costs and grown else ""
    spare, availability, clusters = totals.hosts_for_failures, plan.scenario.availability, len(plan.pools)
    failures = availability.host_failures * clusters
    apart = not availability.maintenance_failure_accepted and failures and spare == failures + clusters
    key = "screen.strip.and maintenance" if apart else "screen.strip.spare" if spare else "screen.strip.all"
    carry = totals.hosts_for_demand
    purpose = said(key, hosts=carry, failures=failures, clusters=clusters, spare=spare)
    boxes = (carry, spare) if totals.hosts <= MOST_BOXES else ()
    over = _over(plan, OF_HOSTS)
    shown = Figure("totals.hosts", number(totals.hosts), over or purpose, "warn" * bool(over), totals.hosts)
    return shown._replace(beside=beside, boxes=boxes)


def _cost(plan: Plan) -> Figure:
    """Return the net present cost with its range; items without a price are counted, never taken as nothing."""
    costs, cost = plan.costs, Figures(plan).cost
    if costs is None or cost is None:
        return Figure(COST, "\u2013")
    left_out = cost.left_out
    key = "screen.strip.items left out" if costs.not_counted else "screen.strip.prices left out"
    missing = said(key, count=left_out) if left_out else ""
    over = _over(plan, MONEY)
    note, tone = ", ".join(filter(None, (over or cost.span, missing))), "warn" if left_out or over else ""
    about = said("screen.strip.net present", years=cost.years)
    bar: contract.Range | None = None
    if cost.span:
        low, typical, high = (x / cost.high / BEYOND for x in (cost.low, cost.net_present, cost.high))
        bar = {"low": low, "typical": typical, "high": high, "marks": (), "words": cost.money, "text": ""}
    return Figure(COST, cost.price, note, tone, costs.net_present, costs.currency, about, range=bar)


def _over(plan: Plan, names: Collection[str]) -> str:
    """Return by what the design exceeds the first of these limits, rounded; empty where it keeps them."""
    for each in plan.within:
        if each.key in names and each.over:
            if is_currency(each.unit):
                budget = each.name[:1].lower() + each.name[1:]
                return said("screen.strip.over", by=headline_money(each.over, each.unit), limit=budget)
            by = limit_words(plan.catalog, each, float(f"{each.over:.2g}"))
            return said("screen.strip.over", by=by, limit=said("screen.strip.limit"))
    return ""


def _to_confirm(plan: Plan, messages: Sequence[Message]) -> Figure:
    stops, warns, assumptions = open_points(plan, messages)
    first, tone = amount(warns, "open point"), "warn" if warns else "" if assumptions else "good"
    note = amount(assumptions, "assumption")
    if not stops:
        return Figure("messages", first, note, tone, warns, assumed=bool(assumptions))
    fix = said("screen.strip.to fix")
    return Figure("messages", amount(stops, "point"), f"{first}, {note}", "bad", stops, label=fix)


def _moved(old: Figure, new: Figure) -> str:
    """Return a figure's value before the last change, and the difference; nothing if it is unchanged."""
    if old.words == new.words and (old.size is None or old.note == new.note):
        return ""
    was = said("screen.strip.was", value=old.words)
    if old.size is None or new.size is None or old.unit != new.unit or old.label != new.label:
        return was
    by = new.size - old.size
    if not by:
        return was if old.words != new.words else ""
    size = short_number(abs(by)) if new.unit else number(abs(by))
    sign = "+" if by > 0 else "\u2212"
    moved = f"{sign}{size}"
    if new.unit and abs(by) < SMALL * max(abs(old.size), abs(new.size)):
        return moved
    return f"{was}, {moved}"


def _down(workbook: Workbook) -> dict[str, Figure]:
    """Return the figures while hosts are down on the screen, marked as such; other steps explain the whole plan."""
    if workbook.step != "hosts":
        return {}
    pools = [(pool, workbook.outcome(pool.id)) for pool in workbook.plan.pools]
    hosts = gpus = missing = 0
    for pool, outcome in pools:
        if outcome is not None:
            lost = {*workbook.failed.get(pool.id, ()), *workbook.maintenance.get(pool.id, ())}
            hosts += len(lost)
            gpus += sum(pool.rooms[host - 1].gpus for host in lost)
            missing += len(outcome.unplaced)
    if not hosts:
        return {}
    marked, left = said("screen.strip.down", hosts=hosts), workbook.plan.totals.gpus - gpus
    missing += workbook.plan.totals.unplaced_vms
    key, tone = ("screen.strip.not placed", "bad") if missing else ("screen.strip.all placed", "on-screen")
    placed = Figure(PLACEMENT, said(key, count=missing), marked, tone, sign=SIGNS.get(tone, ""))
    return {"totals.gpus": Figure("totals.gpus", number(left), marked, "on-screen"), PLACEMENT: placed}
