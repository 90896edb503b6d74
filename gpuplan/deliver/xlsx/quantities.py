"""The sheet of what each alternative pays for in each year, with the weights that make its cost of it."""

from collections.abc import Mapping, Sequence

from gpuplan.deliver.executive import Priced
from gpuplan.deliver.priced_items import Quantity
from gpuplan.deliver.xlsx.book import HEAD, Block, SheetColumn
from gpuplan.deliver.xlsx.cells import TABS, Editable, Live, address, area
from gpuplan.deliver.xlsx.money import Money
from gpuplan.report.tables.cost import cost_by_year
from gpuplan.wording import NAMES, said

WEIGHTS = NAMES["weight of a quantity"]
"""Kinds of quantities in the order of their rows; the present value of a year, which all others take, is first."""
FACTORS: Mapping[str, str] = {
    "licence": "(1-licence_discount)",
    "energy": "power_usage_effectiveness",
    "loaded": "power_usage_effectiveness*stated_utilisation",
    "used": "stated_utilisation",
    "leaf": "power_usage_effectiveness*leaf_w*hours_per_year/1000",
    "spine": "power_usage_effectiveness*spine_w*hours_per_year/1000",
}
"""What the present value of a year is multiplied by for a kind."""
PRICE, YEARS = 3, 4
"""Columns of the price and of the start."""


class Quantities:
    """Rows of quantities by alternative and price, and the formulas that sum them up."""

    def __init__(self, money: Money, options: Sequence[Priced]) -> None:
        self._money, self._years = money, range(money.last + 1)
        self._paid = [(each.alternative, paid) for each in options for paid in each.quantities]
        used = {"running", *(paid.kind for _, paid in self._paid)}
        self._at = {kind: HEAD + 2 + at for at, kind in enumerate(kind for kind in WEIGHTS if kind in used)}
        self._first = HEAD + len(self._at) + 5
        self._entered: dict[str, str] = {}
        """Prices that only alternatives have, with the cell in which each may be changed."""

    def total(self, key: str) -> str:
        """The formula of the cost of an alternative, from another sheet."""
        rows = [at for at, (option, _) in enumerate(self._paid, self._first) if option.key == key]
        cost = YEARS + len(self._years)
        return f"SUM({area(rows[0], cost, rows[-1], cost, TABS['quantities'])})" if rows else "0"

    def blocks(self) -> list[Block]:
        """Lay out the weights of each year, and below them the quantities."""
        currency = self._money.costs.currency
        heads = [column.label for column in cost_by_year(self._money.plan).columns[1 : 1 + len(self._years)]]
        years = [SheetColumn(head, "num") for head in heads]
        name, price, kind, now, cost = (
            said(f"sheet.quantities.{key}", currency=currency)
            for key in ("name", "price", "kind", "now", "cost")
        )
        first = [SheetColumn(kind), SheetColumn(""), SheetColumn(""), SheetColumn(""), *years]
        weights = [[WEIGHTS[kind], "", "", "", *self._weights(kind)] for kind in self._at]
        columns = [
            SheetColumn(name),
            SheetColumn(price),
            SheetColumn(kind),
            SheetColumn(now, "price"),
            *years,
        ]
        paid = [
            self._row(at, option.short_name, paid)
            for at, (option, paid) in enumerate(self._paid, self._first)
        ]
        return [
            Block(said("sheet.quantities.weights"), first, weights),
            Block(said("sheet.quantities.title"), [*columns, SheetColumn(cost, "money")], paid),
        ]

    def _weights(self, kind: str) -> list[Live]:
        values = enumerate(self._money.weights(kind))
        return [Live(self._formula(kind, year), value) for year, value in values]

    def _formula(self, kind: str, year: int) -> str:
        """The present value of one that is paid for in a year; of hardware with its support and its residual value."""
        if kind == "running":
            return f"1/(1+discount_rate)^{year}"
        now, *later = (address(self._at["running"], YEARS + n) for n in self._years[year:])
        if kind != "hardware":
            return f"{now}*{FACTORS[kind]}"
        due = [f"IF({n}>=warranty_years,{each},0)" for n, each in enumerate([now, *later[:-1]]) if later]
        change = f"*(1+hardware_price_change)^{year}" * bool(year)
        held = f"{now}+support_share*({'+'.join(due) or 0})-residual_share*{[now, *later][-1]}"
        return f"(1-hardware_discount){change}*({held})"

    def _row(self, at: int, name: str, paid: Quantity) -> list[object]:
        """The row of a quantity: a price of the design is that in use, any other is entered here once."""
        key, here, last = paid.key, address(at, PRICE), YEARS + len(self._years) - 1
        if key in self._money.prices:
            own, used = (self._money.own_at(key, column) for column in ("own", "used"))
            alike = self._money.value[key] == paid.value
            price: Live | Editable = Live(used if alike else f'IF({own}="",{paid.value!r},{own})', paid.value)
        else:
            known = self._entered.setdefault(key, here)
            price = Editable(paid.value, "price") if known == here else Live(known, paid.value)
        weights = area(self._at[paid.kind], YEARS, self._at[paid.kind], last)
        cost = paid.value * sumprod(paid.amounts, self._money.weights(paid.kind))
        formula = f"N({here})*SUMPRODUCT({area(at, YEARS, at, last)},{weights})"
        return [name, paid.name, WEIGHTS[paid.kind], price, *paid.amounts, Live(formula, cost)]


def sumprod(amounts: Sequence[float], weights: Sequence[float]) -> float:
    """Sum of products."""
    return sum(amount * weight for amount, weight in zip(amounts, weights, strict=True))
