"""Break-even values: the value of one input at which another design costs as little as the winner."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from gpuplan.analysis.candidates import Candidate
from gpuplan.analysis.option import Option
from gpuplan.analysis.variants import outcome_of
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.prices import Price, server_price
from gpuplan.scenario import FIELD_BY_PATH, Scenario, field_of
from gpuplan.wording import LICENCE_NAMES, money, percent, said

RATE = "cost.discount_rate"
SAME = 1e-7
"""Share of its cost by which two designs may differ that cost the same."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Condition on one input under which another design costs as little as the winner."""

    path: str
    label: str
    unit: str
    now: Any
    needed: Any
    """Value at which both cost the same, or a choice or a number of years at which the other costs no more; or None."""
    possible: bool
    text: str
    beyond: bool = False
    """True if a price would have to be outside its known range, low to high."""


def to_win(scenario: Scenario, catalog: Catalog, winner: Option, other: Option) -> tuple[Condition, ...]:
    """Return the value of each input, all others equal, at which another design costs as little as the winner.

    Every answer is planned again. Of a cheaper design only the failures it tolerates; empty if one cannot be planned.
    """
    duel = _Duel(scenario, catalog, winner.candidate, other.candidate)
    now = duel.costs(scenario)
    if now is None:
        return ()
    gap = now[0].net_present - now[1].net_present
    if gap <= 0 and not other.unpriced:
        path, fewer = "availability.host_failures", other.candidate.host_failures
        asked_for, label = scenario.availability.host_failures, FIELD_BY_PATH[path].label
        text = said("win.fewer failures", label=label, fewer=fewer, wanted=asked_for)
        few = Condition(path, label, "host", asked_for, fewer, True, text)
        return (few,) if fewer < asked_for else ()
    solved = [_solved(duel, now, *lever) for lever in _levers(scenario, catalog, duel)]
    paths = ("cost.years", "cost.gpu_licence", "cost.platform_licence")
    return (*solved, *(_chosen(duel, path, gap > 0) for path in paths))


class _Duel:
    """The winner and another design, replanned with one input changed at a time."""

    def __init__(self, scenario: Scenario, catalog: Catalog, winner: Candidate, other: Candidate) -> None:
        self.scenario, self.catalog, self.designs = scenario, catalog, (other, winner)

    def costs(self, scenario: Scenario) -> tuple[Costs, Costs] | None:
        """Return the costs of the other design and of the winner; None if one cannot be planned or leaves VMs without a GPU."""
        plans = [outcome_of(partial(self._plan, design, scenario)).plan for design in self.designs]
        other, winner = (plan.costs if plan and not plan.totals.unplaced_vms else None for plan in plans)
        return (other, winner) if other and winner else None

    def _plan(self, candidate: Candidate, scenario: Scenario) -> Plan:
        return make_plan(candidate.apply(scenario, self.catalog), self.catalog, check=False)

    def gap(self, path: str, value: Any) -> float | None:
        """Return the extra net present cost of the other with an input at some value; None if one cannot be planned."""
        costs = self.costs(self.scenario.with_value(path, value))
        return None if costs is None else costs[0].net_present - costs[1].net_present


def _levers(scenario: Scenario, catalog: Catalog, duel: _Duel) -> Iterator[tuple[str, str, str]]:
    currency, seen = scenario.cost.currency, dict[str, str]()
    price = "win.purchase price" if scenario.internal.margin else "win.price"
    for candidate in duel.designs:
        server = server_price(candidate.apply(scenario, catalog), catalog)[0]
        named = catalog.servers[candidate.server].name if candidate.server else said("win.any server")
        seen.setdefault(f"gpus/{candidate.gpu}", catalog.gpus[candidate.gpu].name)
        seen.setdefault(server, named)
    yield from ((f"prices.{key}", said(price, name=name), currency) for key, name in seen.items())
    yield "prices.electricity-kwh", said("win.electricity"), currency
    for path in ("cost.hardware_discount", "cost.licence_discount", RATE):
        yield path, FIELD_BY_PATH[path].label, "1"


def _solved(duel: _Duel, now: tuple[Costs, Costs], path: str, label: str, unit: str) -> Condition:
    # the price that one of the two pays, if the path is that of a price
    price = next((p for costs in now for p in costs.prices if f"prices.{p.key}" == path), None)
    if path == RATE:
        current: float | None = now[0].discount_rate
    elif path.startswith("prices."):
        current = float(price.given.value) if price else None
    else:
        current = float(duel.scenario.get(path))
    shown = said("win.not known") if current is None else _shown(current, unit)
    needed, key = _meeting(duel, path, unit, current, max(abs(costs.net_present) for costs in now))
    values = {"now": shown, "needed": _shown(needed, unit)}
    if key not in ("win.at most", "win.at least"):
        return Condition(path, label, unit, current, None, False, f"{label}: {said(key, **values)}")
    text = said(key, label=label, **values)
    beyond = price is not None and not _within(price, needed)
    if price and beyond:
        low, high = (_shown(end or 0.0, unit) for end in (price.given.low, price.given.high))
        text += said("win.known range", low=low, high=high)
    return Condition(path, label, unit, current, needed, True, f"{text}.", beyond)


def _meeting(duel: _Duel, path: str, unit: str, current: float | None, scale: float) -> tuple[float, str]:
    """Return (the value at which both cost the same, whether it is the most or the least that does), or why not."""
    spec = field_of(path)
    start = spec.low if current is None else current
    step = 0.1 if unit == "1" else max(1.0, start)
    gap, further = (duel.gap(path, value) for value in (start, start + step))
    if gap is None or further is None:
        return start, "win.not planned"
    change = further - gap
    if abs(change) < 1e-9 * scale:
        return start, "win.equally"
    needed = start - gap * step / change
    if path == RATE:  # the only one that the cost does not follow in a straight line
        root = _root(duel, path, spec.low, spec.high, scale)
        needed = root if root is not None else spec.high + 1
    if not spec.low <= needed <= spec.high:
        return (spec.low if needed < spec.low else spec.high), "win.not enough"
    left = duel.gap(path, needed)
    if left is None or abs(left) > SAME * scale:
        return start, "win.not planned there"
    return needed, "win.at most" if change > 0 else "win.at least"


def _within(price: Price, needed: float) -> bool:
    """True if a price is within its known range, or has none."""
    low, high = price.given.low, price.given.high
    return low is None or high is None or low <= needed <= high


def _root(duel: _Duel, path: str, low: float, high: float, scale: float) -> float | None:
    """Find the value between two bounds at which both cost the same, by halving; None if the order never changes."""
    first, last = duel.gap(path, low), duel.gap(path, high)
    if first is None or last is None or first * last > 0:
        return None
    while True:
        middle = (low + high) / 2
        gap = duel.gap(path, middle)
        if gap is None or abs(gap) <= SAME * scale or high - low < 1e-12:
            return middle
        low, high = (middle, high) if gap * first > 0 else (low, middle)


def _chosen(duel: _Duel, path: str, dearer: bool) -> Condition:
    """Return the choice, or the number of years nearest to the planned one, at which a dearer design costs no more."""
    spec, current = FIELD_BY_PATH[path], duel.scenario.get(path)
    names = LICENCE_NAMES.get(path, {})
    shown = names.get(current, current)
    choices: Iterable[Any] = spec.choices
    if spec.kind == "int":
        choices = sorted(range(int(spec.low), int(spec.high) + 1), key=lambda n: (abs(n - current), n))
    needed, text = None, said("win.no choice", now=shown)
    for value in choices:
        gap = duel.gap(path, value) if value != current else None
        if gap is not None and gap <= 0 and dearer:
            needed, text = value, said("win.choice", needed=names.get(value, value), now=shown)
            break
    possible = needed is not None
    return Condition(path, spec.label, spec.unit, current, needed, possible, f"{spec.label}: {text}")


def _shown(value: float, unit: str) -> str:
    return percent(value) if unit == "1" else money(value, unit)
