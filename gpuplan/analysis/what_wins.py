"""What would win: the value of one input at which another design costs as little as the winner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpuplan.analysis.candidates import Candidate
from gpuplan.analysis.ranking import Option
from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.plan.bill_of_materials import server_price
from gpuplan.plan.cost import Costs
from gpuplan.plan.prices import Price
from gpuplan.scenario import FIELD_BY_PATH, Scenario, ScenarioError, field_of
from gpuplan.wording import LICENCE_NAMES, money, percent


@dataclass(frozen=True, slots=True)
class Condition:
    """What would have to be true of one input for another design to cost as little as the winner."""

    path: str
    label: str
    unit: str
    now: Any
    """None where nobody knows it."""
    needed: Any
    """Value at which both cost the same, or a choice or a number of years at which the other costs no more; None if there
    is none."""
    possible: bool
    text: str
    beyond: bool = False
    """Whether a price would have to be outside what is known of it, its low and high."""


class _Pair(NamedTuple):
    """Two designs planned with the same change."""

    other: Costs
    winner: Costs

    @property
    def gap(self) -> float:
        """Net present cost by which the other is dearer."""
        return self.other.net_present - self.winner.net_present


def to_win(scenario: Scenario, catalog: Catalog, winner: Option, other: Option) -> tuple[Condition, ...]:
    """What one input would have to be, everything else as it is, for another design to cost as little as the winner.

    Every answer is checked by planning both again: prices, discounts, licences, years and the discount rate; only the
    failures to tolerate where the other is cheaper already but tolerates too few. Empty if one of the two cannot be planned.
    """
    duel = _Duel(scenario, catalog, winner.candidate, other.candidate)
    now = duel.planned()
    if now is None:
        return ()
    if now.gap <= 0 and not other.unpriced:
        path, fewer = "availability.host_failures", other.candidate.host_failures
        asked_for, label = scenario.availability.host_failures, FIELD_BY_PATH[path].label
        text = f"{label}: {fewer} instead of {asked_for}; it costs less already."
        few = Condition(path, label, "host", asked_for, fewer, True, text)
        return (few,) if fewer < asked_for else ()
    found = [
        _solved(duel, now, path, label, unit) for path, label, unit in _levers(scenario, catalog, duel, now)
    ]
    found += [
        _chosen(duel, now, path) for path in ("cost.years", "cost.gpu_licence", "cost.platform_licence")
    ]
    return tuple(found)


class _Duel:
    """The winner and another design, planned again and again with one input changed."""

    def __init__(self, scenario: Scenario, catalog: Catalog, winner: Candidate, other: Candidate) -> None:
        self.scenario, self.catalog = scenario, catalog
        self.winner, self.other = winner, other

    def planned(self, path: str = "", value: Any = None) -> _Pair | None:
        """Both with an input at some value; None if one of them cannot be planned."""
        scenario = self.scenario.with_value(path, value) if path else self.scenario
        try:
            plans = [make_plan(each.apply(scenario), self.catalog) for each in (self.other, self.winner)]
        except ScenarioError:
            return None
        return _Pair(plans[0].costs, plans[1].costs) if plans[0].costs and plans[1].costs else None


def _levers(scenario: Scenario, catalog: Catalog, duel: _Duel, now: _Pair) -> Iterator[tuple[str, str, str]]:
    """Path, label and unit of each input that is a number."""
    currency = scenario.cost.currency
    seen = set()
    for candidate in (duel.other, duel.winner):
        server = server_price(candidate.apply(scenario), catalog)[0]
        for key, name in (
            (f"gpus/{candidate.gpu}", catalog.gpus[candidate.gpu].name),
            (server, catalog.servers[candidate.server].name if candidate.server else "a server of any make"),
        ):
            if key not in seen:
                seen.add(key)
                yield (
                    f"prices.{key}",
                    f"{'Purchase price' if scenario.internal.margin else 'Price'} of {name}",
                    currency,
                )
    yield "prices.electricity-kwh", "Price of electricity", currency
    for path in ("cost.hardware_discount", "cost.licence_discount", RATE):
        yield path, FIELD_BY_PATH[path].label, "1"


def _now(duel: _Duel, now: _Pair, path: str) -> float | None:
    """What an input is in the plans, whoever states it; None if nobody knows it."""
    if path == RATE:
        return now.other.discount_rate
    if not path.startswith("prices."):
        return float(duel.scenario.get(path))
    price = _price(now, path)
    return float(price.given.value) if price else None


def _price(now: _Pair, path: str) -> Price | None:
    """The price that one of the two pays, if the path is that of a price."""
    return next((p for costs in now for p in costs.prices if f"prices.{p.key}" == path), None)


def _solved(duel: _Duel, now: _Pair, path: str, label: str, unit: str) -> Condition:
    """The value of a number at which both designs cost the same."""
    spec, current = field_of(path), _now(duel, now, path)
    start = spec.low if current is None else current
    step = 0.1 if unit == "1" else max(1.0, start)
    shown = "not known" if current is None else _shown(current, unit)
    scale = max(abs(now.other.net_present), abs(now.winner.net_present))

    def condition(needed: float | None, possible: bool, text: str, beyond: bool = False) -> Condition:
        return Condition(path, label, unit, current, needed, possible, f"{label}: {text}", beyond)

    gaps = [_gap(duel, path, value) for value in (start, start + step)]
    if gaps[0] is None or gaps[1] is None:
        return condition(None, False, "one of the two cannot be planned.")
    change = gaps[1] - gaps[0]
    if abs(change) < 1e-9 * scale:
        return condition(None, False, "changes both alike.")
    needed = start - gaps[0] * step / change
    if path == RATE:  # the only one that the cost does not follow in a straight line
        root = _root(duel, path, spec.low, spec.high, scale)
        needed = root if root is not None else spec.high + 1
    if not spec.low <= needed <= spec.high:
        bound = spec.low if needed < spec.low else spec.high
        return condition(None, False, f"not enough even at {_shown(bound, unit)} (now {shown}).")
    there = _gap(duel, path, needed)
    if there is None or abs(there) > SAME * scale:
        return condition(None, False, "one of the two cannot be planned where they would cost the same.")
    said = f"{'at most' if change > 0 else 'at least'} {_shown(needed, unit)} instead of {shown}"
    price = _price(now, path)
    low, high = (price.given.low, price.given.high) if price else (None, None)
    if low is not None and high is not None and not low <= needed <= high:
        return condition(
            needed, True, f"{said}; what is known of it is {_shown(low, unit)} to {_shown(high, unit)}.", True
        )
    return condition(needed, True, f"{said}.")


RATE = "cost.discount_rate"


SAME = 1e-7
"""Share of its cost by which two designs may differ that cost the same."""


def _gap(duel: _Duel, path: str, value: float) -> float | None:
    """By how much the other is dearer with an input at some value; None if one cannot be planned."""
    pair = duel.planned(path, value)
    return None if pair is None else pair.gap


def _root(duel: _Duel, path: str, low: float, high: float, scale: float) -> float | None:
    """The value between two bounds at which both cost the same, by halving; None if the order is the same at both."""
    first, last = _gap(duel, path, low), _gap(duel, path, high)
    if first is None or last is None or first * last > 0:
        return None
    while True:
        middle = (low + high) / 2
        gap = _gap(duel, path, middle)
        if gap is None or abs(gap) <= SAME * scale or high - low < 1e-12:
            return middle
        low, high = (middle, high) if gap * first > 0 else (low, middle)


def _chosen(duel: _Duel, now: _Pair, path: str) -> Condition:
    """The choice, or the number of years nearest to those looked at, at which the other design costs no more."""
    spec, current = FIELD_BY_PATH[path], duel.scenario.get(path)
    names = LICENCE_NAMES.get(path, {})
    shown = names.get(current, current)
    choices: list[Any] = [c for c in spec.choices if c != current]
    if spec.kind == "int":
        choices = sorted(
            (n for n in range(int(spec.low), int(spec.high) + 1) if n != current),
            key=lambda n: (abs(n - current), n),
        )
    for value in choices:
        pair = duel.planned(path, value)
        if pair is not None and pair.gap <= 0 < now.gap:
            text = f"{spec.label}: {names.get(value, value)} instead of {shown}."
            return Condition(path, spec.label, spec.unit, current, value, True, text)
    return Condition(
        path,
        spec.label,
        spec.unit,
        current,
        None,
        False,
        f"{spec.label}: no other makes it cheaper (now {shown}).",
    )


def _shown(value: float, unit: str) -> str:
    return percent(value) if unit == "1" else money(value, unit)
