"""Hosts to buy by year and by failure tolerance, the design against its GPU-hours rented from a cloud, and the cost of tokens on either."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from gpuplan.analysis.demand import gpus_without_spare
from gpuplan.analysis.variants import Standing, outcome_of, standing
from gpuplan.catalog import Row
from gpuplan.facts import weakest
from gpuplan.models import cost
from gpuplan.models.llm.token_cost import million_tokens_cost, user_month_cost
from gpuplan.plan import Plan
from gpuplan.plan.growth import group_peaks, grow
from gpuplan.plan.llm.token_costs import TokenCost
from gpuplan.plan.prices import price_day
from gpuplan.scenario import ScenarioError
from gpuplan.wording import joined, said

USED = ("on-demand", "spot")
"""Terms that are paid for the hours used; all others are paid for whether the GPU is used or not."""
TERMS = (
    *("on-demand", "reserved-1-year", "hosted-1-year", "reserved-3-year", "reserved-5-year"),
    *("capacity-block", "spot"),
)
"""Ways to rent, those that bind least first; what the provider may take back is last."""
LOADS = (1.0, 0.5, 0.25)
"""Shares of the planned load, in addition to the load from its users over the year."""


@dataclass(frozen=True, slots=True)
class RentRow:
    """An offer to rent a GPU."""

    id: str
    name: str
    provider: str
    term: str
    gpus: float
    gpu_hour_price: float
    as_of: str
    basis: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RentOrBuy:
    """The design bought, against the same GPU-hours rented."""

    gpu_hour_price: float
    row: RentRow | None
    """The offer that is compared, the cheapest of its term; None if the scenario states the rent."""
    rows: tuple[RentRow, ...]
    term: str
    """Term of the rent: one of `USED`, for the hours used; any other, for all hours of the GPUs without spare hosts."""
    own_cash: tuple[float, ...]
    rent_cash: tuple[float, ...]
    own_net_present: float
    rent_net_present: float
    breakeven_utilisation: float | None
    """Share of the hours of all GPUs at which both cost the same, above 1 if renting is cheaper at any; None where rent
    does not depend on it, or where a used hour costs more in power than in rent."""
    crossover_year: float | None
    """Year when the spending on the design is first no more than the rent paid; None if never in these years."""
    cheaper: str
    utilisation: float
    currency: str
    excludes: tuple[str, ...]
    spare_gpus: int
    """GPUs of the design for failures or from its division into clusters, which are not rented."""


def stated_rent(plan: Plan) -> float | None:
    """Price of a rented GPU for an hour as the scenario states it; None where it states none."""
    boards = plan.new_boards
    stated = None if boards[1:] else plan.scenario.get(f"prices.rent/{boards[0]}")
    return None if stated is None else float(stated)


def rentals(plan: Plan) -> tuple[RentRow, ...]:
    """Offers of the GPUs of the plan in its currency, the cheapest first; of several boards the cheapest of each, by terms of all."""
    by_board = {gpu: _of_board(plan, gpu) for gpu in plan.new_boards}
    if len(by_board) == 1:
        return by_board.popitem()[1]
    for gpu in by_board:
        if (stated := plan.scenario.get(f"prices.rent/{gpu}")) is not None:
            about = (f"rent/{gpu}", plan.catalog.gpus[gpu].name, "", "on-demand", 1, float(stated))
            by_board[gpu] = (RentRow(*about, price_day(plan.scenario, plan.catalog), "derived", ()),)
    terms = [
        term for term in TERMS if all(any(row.term == term for row in rows) for rows in by_board.values())
    ]
    return tuple(
        sorted((_of_boards(plan, term, by_board) for term in terms), key=attrgetter("gpu_hour_price"))
    )


def _of_board(plan: Plan, gpu: str) -> tuple[RentRow, ...]:
    """Return the offers of a board, the cheapest first."""
    rate = plan.scenario.cost.usd_rate or 1.0
    rows = [_offer(row, rate) for row in plan.catalog.rows("rentals") if row["gpu"] == gpu]
    return tuple(sorted(rows, key=lambda row: (row.gpu_hour_price, row.id)))


def _of_boards(plan: Plan, term: str, by_board: Mapping[str, Sequence[RentRow]]) -> RentRow:
    """Return the cheapest offers of a term as one, at their mean price by GPU-hours over the analysis period."""
    hours: dict[str, float] = defaultdict(float)
    for part in filter(lambda part: part.pools, plan.parts):
        new, needed = part.scenario.hardware, sum(pool.hosts_for_demand for pool in part.pools)
        busy = sum(plan.growth.kinds.get(new.of, ()))
        hours[new.gpu] += busy if term in USED else needed * new.gpus_per_host
    rows = {gpu: cheapest(plan, rows, term) for gpu, rows in by_board.items()}
    price = sum(rows[gpu].gpu_hour_price * n for gpu, n in hours.items()) / sum(hours.values())
    sources = dict.fromkeys(chain.from_iterable(row.sources for row in rows.values()))
    names = {
        name: joined([*dict.fromkeys(getattr(row, name) for row in rows.values())])
        for name in ("id", "name", "provider")
    }
    oldest, basis = min(row.as_of for row in rows.values()), weakest(row.basis for row in rows.values())
    return RentRow(
        **names, term=term, gpus=1, gpu_hour_price=price, as_of=oldest, basis=basis, sources=tuple(sources)
    )


def _offer(row: Row, rate: float) -> RentRow:
    name, price = f"{row['provider']} {row['instance']}", row["price_usd"] * rate / row["gpus"]
    origin = (row["as_of"], row.basis, row.sources)
    return RentRow(row.id, name, row["provider"], row["term"], row["gpus"], price, *origin)


def rent_or_buy(plan: Plan, term: str = "on-demand") -> RentOrBuy | None:
    """The design bought against its GPU-hours rented, if need be by another term; None if none is offered."""
    if term not in TERMS:
        raise ValueError(f"term is {term!r}; it must be one of {', '.join(TERMS)}")
    costs, rows, stated = plan.costs, rentals(plan), stated_rent(plan)
    if costs is None or (stated is None and not rows):
        return None
    row = cheapest(plan, rows, term) if stated is None else None
    term = row.term if row else term
    price = row.gpu_hour_price if row else stated or 0.0
    # nobody rents what a division into clusters adds
    needed = sum(gpus_without_spare(laid.rooms, laid.used) for laid in plan.layouts.values())
    spare = plan.totals.gpus - needed
    paid = costs.used_gpu_hours
    if term not in USED:
        paid = tuple(hours - cost.installed_gpu_hours(spare) for hours in costs.gpu_hours)
    rent = (0.0, *(cost.rent_cost(hours, hour_price=price) for hours in paid))
    rent_net_present = cost.net_present_cost(rent, rate=costs.discount_rate)
    return RentOrBuy(
        gpu_hour_price=price,
        row=row,
        rows=rows,
        term=term,
        own_cash=costs.cash,
        rent_cash=rent,
        own_net_present=costs.net_present,
        rent_net_present=rent_net_present,
        breakeven_utilisation=_breakeven(plan, price) if term in USED else None,
        crossover_year=cost.crossover_year(costs.cash, rent_cash=rent),
        cheaper="buy" if costs.net_present <= rent_net_present else "rent",
        utilisation=costs.utilisation,
        currency=costs.currency,
        excludes=costs.excludes,
        spare_gpus=spare,
    )


def rent_terms(plan: Plan) -> tuple[RentOrBuy, ...]:
    """The design against each way to rent that is offered, or on demand for the rent that is stated."""
    offered = {"on-demand"} if stated_rent(plan) is not None else {row.term for row in rentals(plan)}
    options = (rent_or_buy(plan, term) for term in TERMS if term in offered)
    return tuple(option for option in options if option is not None)


def cheapest(plan: Plan, rows: Sequence[RentRow], term: str) -> RentRow:
    """Return the cheapest offer of a term, or of the shortest commitment; offers of whole machines if there are any."""
    whole = {row["id"] for row in plan.catalog.rows("rentals") if row["use"] == "default"}
    offers = [row for row in rows if row.id in whole] or rows
    return next(row for t in (term, *TERMS) for row in offers if row.term == t)


def _breakeven(plan: Plan, price: float) -> float | None:
    """Utilisation at which owning costs as much as renting: a used hour of one's own costs power, which grows with it."""
    hours = []
    for utilisation in (0.5, 1.0):
        costs = plan.with_scenario(plan.scenario.with_value("cost.utilisation", utilisation)).costs
        if costs is None or costs.gpu_hour_installed is None:
            return None
        hours.append(costs.gpu_hour_installed)
    power = 2 * (hours[1] - hours[0])
    if price <= power:
        return None
    return cost.breakeven_utilisation(hours[1] - power, rent_hour_price=price - power)


def no_rental(plan: Plan) -> str:
    """Say why the design is not compared with renting, naming GPUs of the same architecture that are rented out."""
    gpus, gpu = plan.catalog.gpus, plan.catalog.gpus[plan.scenario.hardware.gpu]
    if plan.new_boards[1:]:
        return said("alternative.no rental of boards", gpus=joined([gpus[id].name for id in plan.new_boards]))
    rented = [gpus[row["gpu"]] for row in plan.catalog.rows("rentals") if row["gpu"]]
    kind = gpu.value("architecture")
    alike = dict.fromkeys(other.name for other in rented if other.value("architecture") == kind)
    near = said("alternative.no rental near", names=", ".join(alike)) if alike else ""
    return said("alternative.no rental", gpu=gpu.name, near=near)


class TokenPrice(NamedTuple):
    """Cost of a group's tokens in one way."""

    group: str
    name: str
    way: str
    load: float
    million_in: float
    million_out: float
    user_month: float | None
    year: float
    note: str
    own: bool
    """True if the load is the one from its users over the year."""


def token_prices(plan: Plan) -> tuple[TokenPrice, ...]:
    """Return the token cost of each group: of the design by load, rented by the hour, and at the stated price."""
    return tuple(price for costs in plan.token_costs.values() for price in _prices(plan, costs))


def _prices(plan: Plan, each: TokenCost) -> Iterator[TokenPrice]:
    for load in (each.load_share, *(load for load in LOADS if abs(load - each.load_share) > 0.005)):
        yield _by_year(each, "design", load, each.year_cost, "")
    home = next(part for part in plan.parts if each.id in part.llm.serving)
    stated, offers = stated_rent(home), _of_board(plan, home.scenario.hardware.gpu)
    offer = None if stated is not None else next((row for row in offers if row.term == "on-demand"), None)
    price, note = (offer.gpu_hour_price, offer.name) if offer else (stated, "as stated")
    if price is not None:
        paid = cost.rent_cost(each.gpu_hours, hour_price=price)
        yield _by_year(each, "rent", each.load_share, paid, note)
    into, out = (plan.scenario.get(f"prices.tokens-{way}") for way in ("in", "out"))
    if into is not None and out is not None:
        year = (each.tokens_in * float(into) + each.tokens_out * float(out)) / 1e6
        yield _priced(each, "price", each.load_share, (float(into), float(out)), year, "as stated")


def _by_year(each: TokenCost, way: str, load: float, year: float, note: str) -> TokenPrice:
    more = load / each.load_share
    into = million_tokens_cost(year, share=each.prompt_share, tokens=each.tokens_in * more)
    out = million_tokens_cost(year, share=1 - each.prompt_share, tokens=each.tokens_out * more)
    return _priced(each, way, load, (into, out), year, note)


def _priced(
    each: TokenCost, way: str, load: float, millions: tuple[float, float], year: float, note: str
) -> TokenPrice:
    """Return the token cost with the monthly one of a user; None where their number is not stated."""
    month = None if each.users is None else user_month_cost(year, years=1, users=each.users)
    return TokenPrice(each.id, each.name, way, load, *millions, month, year, note, load == each.load_share)


@dataclass(frozen=True)
class Year:
    """Hosts needed in a year, and those bought at its start."""

    year: int
    people: int
    gpus_demanded: float
    hosts: int
    gpus: int
    hosts_bought: int
    standing: Standing


def purchase_plan(plan: Plan) -> tuple[Year, ...]:
    """Return the hosts to buy at the start of each year; hosts once bought stay and serve whichever group of their kind needs them.

    Year k has the demand after k - 1 years of growth; years that no design can hold are left out.
    """
    years: list[Year] = []
    peaks, many = group_peaks(plan.weeks), plan.scenario.demand.years
    growth = plan.growing(plan.scenario.with_value("cost.years", many))
    before = sum(pool.existing_hosts for pool in plan.own_pools)
    for year, held in enumerate(growth.hosts, start=1):
        try:
            scenario = grow(plan.scenario, year - 1, peaks)
            design = plan if year == 1 else plan.with_scenario(scenario)
            totals, stands = design.totals, standing(design, standing(plan).stops)
        except ScenarioError:
            break
        people, hosts = sum(group.people for group in scenario.groups), sum(held.values())
        gpus = plan.counts.gpus(held) if plan.counts else 0
        years.append(Year(year, people, totals.gpus_demanded, hosts, gpus, hosts - before, stands))
        before = hosts
    return tuple(years)


@dataclass(frozen=True, slots=True)
class PostureCost:
    """The design with a given host failure tolerance: its cost, and the risk it removes."""

    host_failures: int
    chosen: bool
    hosts: int
    gpus: int
    net_present: float
    short_h: float
    """Expected hours a year in which failures leave users without a GPU."""
    exposed_h: float
    """Hours a year of maintenance in which one failure more does."""
    extra_cost: float
    """More than the posture before it, net present; 0 for the first."""
    hours_removed: float
    """Hours short, by failures alone or in maintenance, fewer over all years than with the posture before it; 0 for the
    first."""
    hour_price: float | None
    excludes: tuple[str, ...] = ()
    unplaced_vms: int = 0


def posture_costs(plan: Plan) -> tuple[PostureCost, ...]:
    """N+0, N+1, N+2 and the chosen posture, each planned again, with the price of each hour of risk removed."""
    chosen = plan.scenario.availability.host_failures
    risks = {posture.host_failures: posture for posture in plan.postures}
    postures: list[PostureCost] = []
    before = 0.0
    for failures in sorted({0, 1, 2, chosen}):
        design = plan if failures == chosen else outcome_of(partial(plan.tolerating, failures)).plan
        if design is None or design.costs is None:
            continue
        costs, risk = design.costs, risks[failures]
        short = (risk.short_h + risk.maintenance_short_h) * costs.years
        extra = costs.net_present - postures[-1].net_present if postures else 0.0
        removed = before - short if postures else 0.0
        postures.append(
            PostureCost(
                host_failures=failures,
                chosen=failures == chosen,
                hosts=design.totals.hosts,
                gpus=design.totals.gpus,
                net_present=costs.net_present,
                short_h=risk.short_h,
                exposed_h=risk.exposed_h,
                extra_cost=extra,
                hours_removed=removed,
                hour_price=cost.avoided_hour_price(extra, hours_removed_h=removed) if removed > 0 else None,
                excludes=costs.excludes,
                unplaced_vms=design.totals.unplaced_vms,
            )
        )
        before = short
    return tuple(postures)
