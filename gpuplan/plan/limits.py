"""Limits: how far a design is within each limit that the customer has set.

A limit reads only the chapters that it needs: racks and hosts do not read the cost. Power, space and ports are those of the day
of installation, or of the last year where growth adds hosts and takes more. What is not known leaves a limit open, unless the
design exceeds it without that.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import inf
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.facts import Several, weakest
from gpuplan.locales import written_day
from gpuplan.plan.growth import group_peaks, grow
from gpuplan.plan.hardware import maker_of, server_of
from gpuplan.plan.power import LEAVES, POWER_OF, SPINES
from gpuplan.plan.prices import decision_day, is_sold
from gpuplan.plan.trail import Line
from gpuplan.scenario import Limits, ScenarioError, field_of
from gpuplan.wording import amount, is_currency, joined, said

Plan = Any
"""A plan; its module imports this one."""


NAMED = ("vendors", "boards")
"""Limits that list what is allowed."""


@dataclass(frozen=True, slots=True)
class Within:
    """How far a design is within one limit."""

    key: str
    """Name of the input in the section ``limits``."""
    name: str
    limit: float | str
    value: float | str | None
    """Of the design; None where it is not known."""
    unit: str
    met: bool | None
    """None where it is not known; ``why`` then says what is missing."""
    why: str
    """What the value leaves out, its range or its date; empty where nothing needs saying."""
    basis: str
    """The weakest basis behind the value."""
    line: str
    """Key of the line behind the value; empty where there is none."""

    @property
    def share(self) -> float | None:
        """Value as a share of the limit; None where either is no number."""
        if isinstance(self.limit, str) or isinstance(self.value, str | None) or not self.limit:
            return None
        return self.value / self.limit

    @property
    def over(self) -> float | None:
        """Value beyond the limit, of a date in weeks; 0 where it is met, None where that is not known or no amount."""
        if self.key in NAMED or self.met is None:
            return None
        if self.met:
            return 0.0
        if self.key == "delivery_date":
            return (date.fromisoformat(str(self.value)) - date.fromisoformat(str(self.limit))).days / 7
        if isinstance(self.limit, str) or isinstance(self.value, str | None):
            return None
        return self.value - self.limit


def limit_words(catalog: Catalog, of: Within, value: float | str | None) -> str:
    """The limit, the value or the excess of a design in words; empty where there is none."""
    if value is None:
        return ""
    if of.key == "boards":
        boards = str(value).split(", ")
        return joined([catalog.gpus[board].name for board in boards])
    if of.key == "delivery_date" and isinstance(value, str):
        return written_day(value)
    unit = of.unit or ("week" if of.key == "delivery_date" else "")
    rounded = value if isinstance(value, str) or is_currency(unit) else float(f"{value:.4g}")
    return amount(rounded, unit)


def in_words(catalog: Catalog, of: Within) -> dict[str, str]:
    """The limit, the value and what is over it in words, by name."""
    return {name: limit_words(catalog, of, getattr(of, name)) for name in ("limit", "value", "over")}


class _Found(NamedTuple):
    """A design measured by one limit."""

    value: float | str | None
    met: bool | None
    why: Sequence[str] = ()
    basis: str = "derived"
    line: str = ""
    unit: str = ""


Lines = Mapping[str, Line]
Measure = Callable[[Plan, float | str, Lines], _Found]


def within(plan: Plan, lines: Lines) -> tuple[Within, ...]:
    """How far a plan is within each limit that is set; ``lines`` holds those of the chapters that were read."""

    def each() -> Iterator[Within]:
        for name in Limits.__slots__:
            if (limit := getattr(plan.scenario.limits, name)) is not None:
                spec, found = field_of(f"limits.{name}"), MEASURES[name](plan, limit, lines)
                why = "; ".join(filter(None, found.why))
                about = (found.value, found.unit or spec.unit, found.met, why, found.basis, found.line)
                yield Within(name, spec.label, limit, *about)

    return Several(each())


def _compared(
    value: float,
    limit: float | str,
    missing: Sequence[str],
    why: str,
    line: Line,
    unit: str = "",
    beside: Sequence[str] = (),
) -> _Found:
    """A number by its limit: over it even without what is missing, else open where something is; ``beside`` is only named."""
    met = False if value > float(limit) else None if missing else True
    names = [*missing, *beside]
    excludes = said("within.excludes", names=joined(names)) if names else ""
    return _Found(value, met, (why, excludes), line.basis, line.key, unit)


def _not_known(key: str) -> _Found:
    return _Found(None, None, (said(key),))


def _later(plan: Plan) -> list[str]:
    """The growth that no design can hold, which every figure leaves out."""
    year = plan.growth.left_out
    return [said("within.growth from", year=year)] if year else []


def _money(line: str, start: bool) -> Measure:
    """The measure of a limit of money, by the figure of this line; of the ``start`` alone, what is paid later is left out."""

    def measure(plan: Plan, limit: float | str, lines: Lines) -> _Found:
        if plan.costs is None or plan.cost_ranges is None:
            return _not_known("within.no hosts")
        currency, uncounted = plan.costs.currency, () if start else plan.costs.not_counted
        low, high = plan.cost_ranges.cash[0] if start else plan.cost_ranges.net_present
        ends = {"low": amount(low, currency), "high": amount(high, currency)}
        crossed = said("within.range", **ends) if low <= float(limit) < high else ""
        unknown = [item.name for item in plan.costs.unknown if is_sold(item.key) or not start]
        missing = unknown if start else [*unknown, *_later(plan)]
        value = float(lines[line].value)
        return _compared(value, limit, missing, crossed, lines[line], currency, uncounted)

    return measure


# ---- power, space and ports, also those of the last year


def _last_year(plan: Plan) -> Plan | None:
    """The plan of the demand of the last year that can be planned; None where growth adds no host."""
    growth, scenario = plan.growth, plan.scenario
    hosts = [sum(year.values()) for year in growth.hosts]
    if hosts[-1] == hosts[0]:
        return None
    modes = {group.id: group.mode for group in plan.groups}
    groups = tuple(replace(group, access=modes.get(group.id) or group.access) for group in scenario.groups)
    year = (growth.left_out or scenario.cost.years + 1) - 1
    asked = replace(scenario, groups=groups, limits=Limits())
    return plan.with_scenario(grow(asked, year - 1, group_peaks(plan.weeks)))


def _installed(
    of: Callable[[Plan], float | None],
    line: str,
    missing: Callable[[Plan], Sequence[str]] = lambda _plan: (),
    unit: str = "",
) -> Measure:
    """The measure of what the hosts take in space or power."""

    def measure(plan: Plan, limit: float | str, lines: Lines) -> _Found:
        if plan.power is None:
            return _not_known("within.no hosts")
        if (now := of(plan)) is None:
            return _not_known(f"within.no {line}")
        unknown, why, value = [*missing(plan), *_later(plan)], "", now
        try:
            last = plan.once("last year", lambda: _last_year(plan))
        except ScenarioError:
            last, unknown = None, [*unknown, said("within.growth")]
        if last and (then := of(last)) and then > now:
            value, why = then, said("within.grown", now=amount(float(f"{now:.4g}"), unit))
        return _compared(value, limit, unknown, why, lines[line])

    return measure


def _with_switches(plan: Plan, names: Sequence[str]) -> list[str]:
    """These names, and the switches where they are not known."""
    bare = plan.cabling is None or plan.cabling.switches is None
    return [*names, *[said("power.switches")] * bare]


def _unknown_power(plan: Plan) -> list[str]:
    return _with_switches(plan, [POWER_OF + name for name in plan.power.unknown_power])


def _unknown_heights(plan: Plan) -> list[str]:
    """Switches whose height in the rack is not known."""
    parts = [part.name for part in plan.power.parts if part.rack_units_u is None]
    return _with_switches(plan, [said("within.height", name=name) for name in parts])


def _rack_units(plan: Plan) -> float | None:
    """Height of hosts and switches; None where that of a server is not known."""
    heights = [part.rack_units_u for part in plan.power.parts if part.name not in (LEAVES, SPINES)]
    return None if None in heights else plan.power.rack_units_u


def _ports(plan: Plan) -> float | None:
    """Ports of leaf switches that the hosts take; None without switches."""
    return plan.cabling.switches.total.host_cables if plan.cabling and plan.cabling.switches else None


# ---- boards and servers that are bought


def _bought(plan: Plan) -> list[Plan]:
    """The plan of each kind of hosts of which some are bought."""
    return [part for part in plan.parts if any(pool.hosts > pool.existing_hosts for pool in part.pools)]


def _delivered(plan: Plan, limit: float | str, _lines: Lines) -> _Found:
    """Weeks until the last board is there: the fewest where these are too many, else the most."""
    boards = dict.fromkeys(part.scenario.hardware.gpu for part in _bought(plan))
    if not boards:
        return _Found(0.0, True, (said("within.nothing bought"),))
    fewest, most, why, bases = zip(*(_lead_time(plan.catalog, gpu) for gpu in boards), strict=True)
    soon, basis = max(fewest), weakest([basis for basis in bases if basis] or ["derived"])
    if soon > float(limit):
        return _Found(soon, False, why, basis)
    if None in most:
        return _Found(None, None, why, basis)
    late = max(most)
    return _Found(soon if late == inf else late, True if late <= float(limit) else None, why, basis)


def _lead_time(catalog: Catalog, gpu: str) -> tuple[float, float | None, str, str]:
    """(fewest weeks, most weeks or None where they are not known, both in words, basis) of a board."""
    rows = [row for row in catalog.rows("lead_times") if row["gpu"] == gpu]
    name = catalog.gpus[gpu].name
    if not rows:
        return 0.0, None, said("within.no lead time", gpu=name), ""
    fewest, most = min(float(row["fewest"]) for row in rows), max(float(row["most"] or inf) for row in rows)
    key = "within.weeks or more" if most == inf else "within.weeks"
    return fewest, most, said(key, gpu=name, fewest=fewest, most=most), weakest([row.basis for row in rows])


def _delivered_by(plan: Plan, limit: float | str, lines: Lines) -> _Found:
    """The same as a date."""
    start = date.fromisoformat(decision_day(plan.scenario, plan.catalog))
    found = _delivered(plan, (date.fromisoformat(str(limit)) - start).days / 7, lines)
    if found.value is None:
        return found
    return found._replace(value=(start + timedelta(weeks=float(found.value))).isoformat())


def _allowed(names: str, of: Callable[[Plan], str | None]) -> Measure:
    """The measure of makers or boards that are bought, by the kind of hosts, against those that are allowed."""

    def measure(plan: Plan, _limit: float | str, _lines: Lines) -> _Found:
        allowed = {name.casefold() for name in plan.scenario.limits.names(names)}
        used = {part.scenario.hardware.of or _board_name(part): of(part) for part in _bought(plan)}
        bought = dict.fromkeys(filter(None, used.values()))
        unknown = [kind for kind, name in used.items() if name is None]
        others = [name for name in bought if name.casefold() not in allowed]
        met = False if others else None if unknown else True
        why = [said("within.nothing bought")] * (not used) + [
            said("within.no server", kind=k) for k in unknown
        ]
        return _Found(", ".join(bought) or None, met, why, plan.scenario.fact("hardware.gpu").basis)

    return measure


def _board_name(plan: Plan) -> str:
    return str(plan.catalog.gpus[plan.scenario.hardware.gpu].name)


def _maker(plan: Plan) -> str | None:
    server = server_of(plan.scenario, plan.catalog)
    return maker_of(server) if server else None


def _power(name: str, per: float) -> Callable[[Plan], float | None]:
    """A figure of the power in the unit of its limit."""
    return lambda plan: getattr(plan.power, name) / per


MEASURES: Mapping[str, Measure] = {
    "budget": _money("cost.net_present", start=False),
    "budget_start": _money("cost.years.0", start=True),
    "power_kw": _installed(_power("peak_w", 1000), "power.peak", _unknown_power, "kW"),
    "cooling_kw": _installed(_power("peak_w", 1000), "power.peak", _unknown_power, "kW"),
    "racks": _installed(lambda plan: plan.power.racks or None, "power.racks", unit="rack"),
    "rack_units": _installed(_rack_units, "power.rack_units", _unknown_heights, "U"),
    "ports": _installed(_ports, "network.fabric.host_cables", unit="port"),
    "delivery_weeks": _delivered,
    "delivery_date": _delivered_by,
    "vendors": _allowed("vendors", _maker),
    "boards": _allowed("boards", lambda plan: plan.scenario.hardware.gpu),
    "co2_t": _installed(_power("emissions_kg", 1000), "power.emissions", _unknown_power, "t"),
}
"""Name of a limit -> how a design is measured by it."""
