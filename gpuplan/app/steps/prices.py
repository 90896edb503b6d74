"""Prices of the design: each with its range, basis, age and source, to be overwritten in place."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuplan.analysis.customer import OFFER
from gpuplan.analysis.rent_or_buy import rentals
from gpuplan.app.cards import Contents, act, bare, panel, sheet
from gpuplan.app.forms import field_data
from gpuplan.app.header import paid_for
from gpuplan.app.state import Workbook
from gpuplan.locales import written
from gpuplan.plan.cost import Costs
from gpuplan.plan.prices import MEMORY, Price, Unknown
from gpuplan.report import number
from gpuplan.report.table import Cell, Table, columns
from gpuplan.report.tables.cost import PER
from gpuplan.scenario import STATED
from gpuplan.widgets import contract
from gpuplan.wording import BASIS_WORDS, said

ORDER = (
    *("servers/", "host-", "gpus/", "nics/", "adapter-", "switches/", "cable-"),
    *("management-", "compute-", "storage-"),
)
"""Beginnings of the keys of prices, in the order of the list; operating items come after them."""
Row = tuple[Any, ...]
TOKENS = {"tokens-in": "in", "tokens-out": "out"}


def _rank(key: str) -> int:
    return next((at for at, start in enumerate(ORDER) if key.startswith(start)), len(ORDER))


def cites(workbook: Workbook, sources: Sequence[str], as_of: str = "", note: str = "") -> dict[str, Any]:
    """Return the day of a price and the titles of its sources, which open at the figure."""
    by_id = workbook.catalog.sources
    titles = [by_id[source].title for source in sources if source in by_id]
    titles += [said("screen.prices.stated here")] * (STATED.source in sources and not titles)
    day = said("screen.prices.as of", day=as_of) if as_of and titles else ""
    return {"cites": [*filter(None, (day, *titles, note))]}


@panel(needs="costs", draws="sheet", slow=True)
def prices_data(workbook: Workbook, costs: Costs) -> Contents:
    margin = workbook.scenario.internal.margin
    items = sorted(paid_for(costs), key=lambda item: (_rank(item.key), item.key))
    catalog = _catalog_prices(workbook)
    rows = {f"prices.{item.key}": _planned_row(workbook, item, catalog.get(item.key)) for item in items}
    rows |= {f"prices.{key}": _other_row(workbook, key) for key in _others(workbook, costs)}
    ours = bool(margin) and not workbook.customer
    text = said("screen.prices.our prices" if ours else "screen.prices.prices stay")
    table = Table("price_fields", columns("price_fields", costs.currency), tuple(rows.values()), title="")
    table = table if workbook.seen.prices else table.without("valid_until")
    more = said("screen.prices.we are" if ours else "screen.prices.customer is", currency=costs.currency)
    return {"hint": _counts(costs), "text": [text] * bool(margin), **sheet(table, list(rows)), "more": more}


def prices_badge(workbook: Workbook) -> str:
    """Return the number of assumed prices, and of unknown ones."""
    costs = workbook.plan.costs
    if costs is None:
        return ""
    assumed = sum(price.fact.basis == "assumed" for price in costs.prices)
    counts = (("screen.prices.assumed", assumed), ("screen.prices.not known", len(costs.unknown)))
    return ", ".join(said(key, count=count) for key, count in counts if count)


def _others(workbook: Workbook, costs: Costs) -> list[str]:
    """Return keys of prices outside this design that can be stated: its GPU's rent, and those stated for others."""
    stated = [key for key, _ in workbook.seen.prices if not workbook.locked(f"prices.{key}")]
    stated += [path.removeprefix("prices.") for path in workbook.drafts if path.startswith("prices.")]
    more = {f"rent/{workbook.plan.scenario.hardware.gpu}"}
    more |= {"tokens-in", "tokens-out"} if workbook.plan.token_costs else set()
    more |= {*workbook.plan.counts.sharing_price()} if workbook.plan.counts else set()
    more |= {MEMORY} if any(price.more_gib for price in costs.prices) else set()
    return sorted({*more, *stated} - {item.key for item in paid_for(costs)})


def _counts(costs: Costs) -> str:
    """Count the prices by basis and age: ``3 assumed, 4 quoted, 5 older than a year, 3 unknown``."""
    bases = Counter(price.fact.basis for price in costs.prices)
    parts = [f"{number(count)} {BASIS_WORDS[basis]}" for basis, count in sorted(bases.items())]
    old, unknown = sum(price.old for price in costs.prices), len(costs.unknown)
    parts += [said("screen.prices.old", count=old)] if old else []
    return ", ".join([*parts, said("screen.prices.unknown", count=unknown)] if unknown else parts)


def _catalog_prices(workbook: Workbook) -> dict[str, Price]:
    """Return the catalog's prices of the items that this design pays for, ignoring stated ones."""
    plan = workbook.plan
    if not plan.scenario.prices:
        return {price.key: price for price in plan.costs.prices} if plan.costs else {}
    unstated = replace(plan.scenario, prices=(), valid_until=())
    costs = workbook.once("cost: catalog", lambda: plan.with_scenario(unstated).costs)
    return {price.key: price for price in costs.prices} if costs else {}


def _planned_row(workbook: Workbook, item: Price | Unknown, catalog: Price | None) -> Row:
    price = bare(float(catalog.given.value)) if catalog else ""
    field = _price_field(workbook, item.key, price or "unknown")
    back = said("screen.prices.back to" if price else "screen.prices.remove", price=price)
    acts = _take_back(workbook, item.key, item.name, back)
    if isinstance(item, Unknown):
        unknown = Cell(None, words=said("screen.prices.price not known"), tone="bad gp-whole")
        return _row(item.name, field, item.per, ("", unknown, ""), acts)
    fact = item.given
    if field["locked"]:
        field |= {"value": written(item.value, ",.10g"), "empty": ""}
        acts = {}
    ends = f"{bare(fact.low)} to {bare(fact.high)}" if fact.low is not None and fact.high is not None else ""
    sources = (
        {"cites": [OFFER]} if fact.note == OFFER else cites(workbook, fact.sources, item.as_of, fact.note)
    )
    low = Cell(fact.low, words=ends, tone="whole" if ends else "")
    basis = Cell(fact.basis, more={"tag": "old", "tag_tone": "warn"} if item.old else {})
    cells = (low, basis, _until(workbook, item.key, item.lapsed))
    paid = {"note": said("screen.prices.customer pays", price=bare(item.value))} if item.purchase else {}
    more = sources | acts | {"sort": float(fact.value)}
    return _row(Cell(item.name, more=paid), field, item.per, cells, more)


def _other_row(workbook: Workbook, key: str) -> Row:
    head, _, rest = key.partition("/")
    name, per, empty, why = key, "", "unknown", "screen.prices.not used"
    if head == "rent" and rest in workbook.catalog.gpus:
        name = said("screen.prices.rent of", gpu=workbook.catalog.gpus[rest].name)
        per, why = "gpu-hour", "screen.prices.rent or buy"
        empty = "from the catalog" if rentals(workbook.plan) else "unknown"
    if key == MEMORY:
        name, per, why, empty = said("plan.memory"), "gib", "screen.prices.in hosts", "from the catalog"
    if key in TOKENS:
        name, why = said("screen.prices.million tokens", way=TOKENS[key]), "screen.prices.hosted service"
    if workbook.plan.counts and (kind := workbook.plan.counts.sharing_price().get(key)):
        name, why, empty = said("screen.prices.hosts of", hosts=kind.name), "screen.prices.shared", "shared"
    acts = _take_back(workbook, key, name, said("screen.prices.remove"))
    named = Cell(name, more={"note": said(why)})
    return _row(named, _price_field(workbook, key, empty), per, ("", "", _until(workbook, key)), acts)


def _row(name: Any, field: contract.Field, per: str, known: Row, more: Mapping[str, Any]) -> Row:
    """Return a row, with ``more`` in the cell of its price: sources, and the way back."""
    price = Cell("", tone="price", more={"sort": None, "input": field, **more})
    return (name, price, Cell(PER.get(per, per), tone="small gp-whole"), *known)


def _price_field(workbook: Workbook, key: str, empty: str) -> contract.Field:
    return field_data(workbook, f"prices.{key}", empty=empty)


def _until(workbook: Workbook, key: str, lapsed: bool = False) -> Cell:
    """Return the field of the last day on which a stated price holds; empty for other prices."""
    if workbook.seen.get(f"prices.{key}") is None or workbook.locked(f"prices.{key}"):
        return Cell("")
    tag = {"tag": said("screen.prices.ended"), "tag_tone": "warn"} if lapsed else {}
    return Cell("", more={"input": field_data(workbook, f"valid_until.{key}")} | tag)


def _take_back(workbook: Workbook, key: str, name: str, words: str) -> dict[str, Any]:
    path = f"prices.{key}"
    if workbook.seen.get(path) is None:
        return {}
    return {"acts": [act("set", words, name, path=path, value="", live=False)]}
