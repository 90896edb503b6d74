"""Purchases: hosts for growth bought now, by year or at a threshold, or rented beyond those of today, side by side.

Each way orders by the growth as stated and is then played against low and high of demand and prices: what demand takes beyond
the forecast is ordered on sight and comes a lead time late. Costs are those of the plan with the hosts that a way owns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import product
from math import inf
from operator import mul

from gpuplan.analysis.rent_or_buy import RentRow, cheapest, no_rental, rentals, stated_rent
from gpuplan.analysis.sensitivity import Range, likely
from gpuplan.models import cost
from gpuplan.models.cost.purchases import (
    Stock,
    least_cost_stock,
    short_host_years,
    stock_by_forecast,
    stock_cost,
)
from gpuplan.plan import Plan
from gpuplan.plan.cost_ranges import together
from gpuplan.plan.growth import Growth
from gpuplan.plan.prices import ORDER_DAYS, catalog_factor, due_day
from gpuplan.scenario import Scenario, ScenarioError
from gpuplan.wording import said

PLANNED = ("planned", "planned")
CASES = (PLANNED, *((demand, prices) for demand in ("low", "high") for prices in ("low", "high")))
"""Demand and prices of each case: as planned, and all four corners."""
ENDS = ("low", "planned", "high")
TERMS = ("on-demand", "reserved-1-year", "hosted-1-year")
"""Ways to rent for a year; longer ones bind beyond it, and spot may be taken back."""
WEEKS_PER_YEAR = 365.25 / 7
Stocks = Mapping[str, Stock]
"""Hosts of each pool."""


@dataclass(frozen=True, slots=True)
class Step:
    """Hosts of one pool that are ordered together."""

    order_by: str
    """ISO day."""
    day: str
    """ISO day on which they are there; the analysis period begins when the first order is delivered."""
    year: int
    hosts: int
    pool: str
    board: str
    price: float | None
    """Of a host with its boards, at that time; None if it is not known."""
    lead_weeks: float


@dataclass(frozen=True, slots=True)
class Way:
    """One way to buy or rent the hosts of all years."""

    key: str
    """``now``, ``year``, ``threshold``, ``rent``, or ``least``: the least cost if demand is as planned."""
    owned: tuple[int, ...]
    """In each year, with demand as planned, as the rented ones are."""
    rented: tuple[int, ...]
    costs: Mapping[tuple[str, str], float]
    """Net present cost by demand and prices."""
    short: float
    """Host-years in which hosts are needed that are not there, with the worst demand."""
    steps: tuple[Step, ...]
    regret: float = 0.0
    """More than the cheapest way, in the case in which that is most."""


@dataclass(frozen=True, slots=True)
class Purchases:
    """The ways to buy for growth; none without growth."""

    ways: tuple[Way, ...] = ()
    least: Way | None = None
    need: Mapping[str, tuple[int, ...]] | None = None
    """Demand -> hosts needed in each year."""
    ranges: tuple[Range, ...] = ()
    """Inputs whose low and high are tried."""
    offers: tuple[RentRow, ...] = ()
    """Offers at which is rented; none for a stated rent."""
    left_out: int | None = None
    """First year in which a high demand exceeds the largest design: its hosts then count as in the year before."""
    why: str = ""
    """Reason that there is no way, or none to rent."""

    @property
    def chosen(self) -> Way | None:
        """The way of the least regret, of equal ones the one that is less short."""
        return min(self.ways, key=lambda way: (way.regret, way.short), default=None)


def purchase_ways(plan: Plan) -> Purchases:
    """Compare the ways to buy the hosts that growth takes over the analysis period."""
    return plan.once("purchases", lambda: _purchases(plan))


def _purchases(plan: Plan) -> Purchases:
    ranges, change = list(_demand_ranges(plan)), likely(plan, "cost.later_price_change")
    if plan.costs is None or not any(span.path.endswith(".growth") for span in ranges):
        return Purchases(why=said("purchases.no growth"))
    try:
        ends = {end: plan.growing(_turned_out(plan.scenario, ranges, end)) for end in ("low", "high")}
    except ScenarioError as error:
        return Purchases(why=said("purchases.not planned", problem=error.problems[0].message))
    study = _Study(plan, {"planned": plan.growth, **ends}, change)
    keys = ("now", "year", "threshold", *["rent"] * study.rented)
    return Purchases(
        ways=_with_regret([study.way(key, {end: study.stocks(key, end) for end in ENDS}) for key in keys]),
        least=study.least(),
        need={end: tuple(sum(hosts.values()) for hosts in each.needed) for end, each in study.grown.items()},
        ranges=(*ranges, change),
        offers=tuple(pool.offer for pool in study.pools.values() if pool.offer),
        left_out=ends["high"].left_out,
        why="" if study.rented else no_rental(plan),
    )


def _with_regret(ways: Sequence[Way]) -> tuple[Way, ...]:
    least = {case: min(way.costs[case] for way in ways) for case in CASES}
    return tuple(replace(way, regret=max(way.costs[case] - least[case] for case in CASES)) for way in ways)


def _demand_ranges(plan: Plan) -> Iterator[Range]:
    """Growth of the groups that grow, and any other range that the scenario states of their users or jobs."""
    stated = dict(plan.scenario.ranges)
    for group in plan.scenario.groups:
        for name in ("growth", "people", "jobs_per_day", "requests_per_s"):
            path = f"groups.{group.id}.{name}"
            if path in stated or (name == "growth" and group.growth):
                yield likely(plan, path)


def _turned_out(scenario: Scenario, ranges: Sequence[Range], end: str) -> Scenario:
    for span in ranges:
        scenario = scenario.with_value(span.path, getattr(span, end))
    return scenario


class _Pool:
    """A pool of hosts: those there, the weeks until more are, and the rent of one for a year."""

    def __init__(self, plan: Plan, part: Plan, kind: str) -> None:
        clusters = [pool for pool in part.pools if pool.kind == kind]
        self.there, self.name = sum(pool.existing_hosts for pool in clusters), clusters[0].whole_name
        self.hardware, self.need = part.scenario.hardware, [hosts[kind] for hosts in plan.growth.needed]
        rows = [row for row in plan.catalog.rows("lead_times") if row["gpu"] in (None, self.hardware.gpu)]
        self.weeks = max(float(row["most"] or row["fewest"]) for row in rows)
        self.lead_years = self.weeks / WEEKS_PER_YEAR
        self.rents, self.offer = _rents(plan, part)


def _rents(plan: Plan, part: Plan) -> tuple[dict[str, float], RentRow | None]:
    """Rent of a host for a year in the way that is cheapest at the load of the plan, by prices, and its offer as planned."""
    stated, load = stated_rent(part), plan.costs.utilisation if plan.costs else 1.0

    def year_cost(price: float, term: str) -> float:
        share = load if term == "on-demand" else 1.0
        hours = cost.used_gpu_hours(part.scenario.hardware.gpus_per_host, utilisation=share)
        return cost.rent_cost(hours, hour_price=price)

    if stated is not None:
        return dict.fromkeys(ENDS, year_cost(stated, "on-demand")), None
    by_term = {term: [row for row in rentals(part) if row.term == term] for term in TERMS}
    usual = [cheapest(part, rows, term) for term, rows in by_term.items() if rows]
    if not usual:
        return {}, None
    offer = min(usual, key=lambda row: year_cost(row.gpu_hour_price, row.term))
    prices = [row.gpu_hour_price for row in by_term[offer.term]]
    ends = (min(prices), offer.gpu_hour_price, max(prices))
    return {end: year_cost(price, offer.term) for end, price in zip(ENDS, ends, strict=True)}, offer


def _of_pools(stocks: Stocks, name: str) -> tuple[int, ...]:
    """Hosts of all pools in each year that are ``owned`` or ``rented``."""
    return tuple(map(sum, zip(*(getattr(stock, name) for stock in stocks.values()), strict=True)))


class _Study:
    """The ways to buy for a plan, each priced in its cases."""

    def __init__(self, plan: Plan, grown: Mapping[str, Growth], change: Range) -> None:
        self.plan, self.grown, self.change = plan, grown, change
        assert plan.costs and plan.counts
        self.costs, self.counts = plan.costs, plan.counts
        parts = {pool.kind: part for part in plan.parts for pool in part.pools}
        self.pools = {kind: _Pool(plan, part, kind) for kind, part in parts.items()}
        self.threshold = float(catalog_factor(plan.catalog, "purchase_threshold").value)
        self.block = int(catalog_factor(plan.catalog, "purchase_block").value)
        self.rented = all(pool.rents for pool in self.pools.values())

    def stocks(self, key: str, end: str) -> Stocks:
        """Hosts of each pool by one way, with one demand."""
        at_threshold = key == "threshold"
        stocks = {}
        for kind, pool in self.pools.items():
            need = self._need(kind, end)
            stocks[kind] = stock_by_forecast(
                need,
                forecast_hosts=pool.need,
                lead_years=pool.lead_years,
                there=pool.there,
                first=max(pool.need) if key == "now" else 0,
                threshold=self.threshold if at_threshold else 1.0,
                block=self.block if at_threshold else 1,
            )
            if key == "rent":
                stocks[kind] = Stock.with_rent(need, pool.need[:1] * len(need))
        return stocks

    def _need(self, kind: str, end: str) -> list[int]:
        return [hosts[kind] for hosts in self.grown[end].needed]

    def least(self) -> Way:
        """The cheapest way if demand is as planned, the price of a host being that of one more; never dearer than by year."""
        stocks, now = {}, self.plan.growth
        for kind, pool in self.pools.items():
            bought = []
            for year in range(self.costs.years):
                more = [{**hosts, kind: hosts[kind] + (at >= year)} for at, hosts in enumerate(now.hosts)]
                bought.append(self._priced(replace(now, needed=tuple(more))) - self.costs.net_present)
            about = {"bought_cost": bought, "rent_cost": self._rent_costs(pool, "planned")}
            stocks[kind] = least_cost_stock(pool.need, there=pool.need[0], **about)
        ways = [self.way("least", {"planned": each}) for each in (stocks, self.stocks("year", "planned"))]
        return min(ways, key=lambda way: way.costs[PLANNED])

    def way(self, key: str, stocks: Mapping[str, Stocks]) -> Way:
        """One way with some demands, priced in their cases."""
        return Way(
            key=key,
            owned=_of_pools(stocks["planned"], "owned"),
            rented=_of_pools(stocks["planned"], "rented"),
            costs={case: self._cost(stocks[case[0]], *case) for case in CASES if case[0] in stocks},
            short=max(self._short(of_end, end) for end, of_end in stocks.items()),
            steps=tuple(self._steps(stocks["planned"])),
        )

    def _short(self, stocks: Stocks, end: str) -> float:
        """Host-years in which demand is not served."""
        short = 0.0
        for kind, pool in self.pools.items():
            need = self._need(kind, end)
            short += sum(short_host_years(stocks[kind], need_hosts=need, lead_years=pool.lead_years))
        return short

    def _cost(self, stocks: Stocks, demand: str, prices: str) -> float:
        """Net present cost: of the plan with the hosts that are owned, and of the rent; rented hosts take their share of the work."""
        grown, years = self.grown[demand], range(self.costs.years)
        owned = tuple({kind: stock.owned[year] for kind, stock in stocks.items()} for year in years)
        hosts, rented = (_of_pools(stocks, name) for name in ("owned", "rented"))
        own = [there / (there + more) for there, more in zip(hosts, rented, strict=True)]
        busy, *kinds = (tuple(map(mul, gpus, own)) for gpus in (grown.busy_gpus, *grown.kinds.values()))
        of_kinds = dict(zip(grown.kinds, kinds, strict=True))
        paid = self._priced(Growth(owned, busy, grown.left_out, of_kinds), prices)
        for kind, pool in self.pools.items():
            rents = self._rent_costs(pool, prices)
            paid += stock_cost(stocks[kind], bought_cost=[0.0] * len(years), rent_cost=rents)
        return paid

    def _priced(self, growth: Growth, prices: str = "planned") -> float:
        """Net present cost of the plan with other hosts, at planned prices or with all at one end."""
        change = None if prices == "planned" else getattr(self.change, prices)
        plan = self.plan.buying(growth, change)
        assert plan.costs and plan.counts and plan.power
        if prices == "planned":
            return plan.costs.net_present
        return together(plan.counts, plan.power, growth, plan.costs)[prices == "high"]

    def _rent_costs(self, pool: _Pool, prices: str) -> list[float]:
        """Rent of a host in each year, in today's money."""
        rent = pool.rents.get(prices, inf)
        return [rent / (1 + self.costs.discount_rate) ** (year + 1) for year in range(self.costs.years)]

    def _steps(self, stocks: Stocks) -> Iterator[Step]:
        """Yield the purchases with demand as planned."""
        longest = max(pool.weeks for pool in self.pools.values())
        first = due_day(self.plan.scenario, self.plan.catalog, ORDER_DAYS, decided=True)
        start = date.fromisoformat(first) + timedelta(weeks=longest)
        for year, (kind, stock) in product(range(self.costs.years), stocks.items()):
            pool, lead, late = self.pools[kind], timedelta(weeks=self.pools[kind].weeks), stock.late[year]
            more = stock.owned[year] - (stock.owned[year - 1] if year else pool.there)
            for hosts, behind in ((more - late, timedelta()), (late, lead)):
                day = start + timedelta(days=round(365.25 * year)) + behind
                about = (pool.name, pool.hardware.gpu, self._host_price(kind, year), pool.weeks)
                if hosts:
                    yield Step((day - lead).isoformat(), day.isoformat(), year + 1, hosts, *about)

    def _host_price(self, pool: str, year: int) -> float | None:
        """Price of a host with its boards, less the discount, when it is bought."""
        kind = next(kind for kind in self.counts.kinds if pool in kind.kinds)
        many = {f"servers{kind.suffix}": 1, f"gpus{kind.suffix}": kind.boards_per_host}
        if kind.suffix in self.counts.more_gib:
            many[f"memory{kind.suffix}"] = self.counts.more_gib[kind.suffix]
        priced = [(m.price, m) for m in self.costs.materials if m.key in many and m.price]
        price = sum(many[m.key] * each.value * (1 - m.discount) for each, m in priced)
        change = self.plan.scenario.cost.later_price_change
        return cost.later_price(price, yearly_change=change, year=year) if len(priced) == len(many) else None
