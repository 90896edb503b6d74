"""Tables of the drivers of the answer, and of designs side by side."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.compare import CompareRow, Comparison
from gpuplan.catalog import Catalog
from gpuplan.locales import per_cent
from gpuplan.report.table import Cell, Column, Table, Worded, columns, tabulate
from gpuplan.report.tables.plan import catalog_name
from gpuplan.scenario import Field, ScenarioError, field_of
from gpuplan.wording import amount, hours, is_currency, money, number, percent, said, stated_percent, watts

NONE = "-"
RESULT_WORDS: Mapping[str, Callable[[float], str]] = {
    "kept": percent,
    "short_h": hours,
    "totals.waiting": lambda pct: percent(pct / 100),
}
"""Results whose unit does not determine their format."""


def bars(found: Sequence[Mapping[str, Any]], now: float, currency: str) -> Table:
    """Each input at its low and high, and the cost and the hosts there; as ``sensitivity_dict`` gives them."""
    change = partial(_change, now)
    own: dict[str, Any] = {name: partial(_input, name) for name in ("now", "low", "high")}
    own |= {name: partial(_hosts, name) for name in ("hosts_low", "hosts_high")}
    return tabulate("bars", found, currency, **own, cost_low=Worded(change), cost_high=Worded(change))


def _hosts(name: str, bar: Mapping[str, Any]) -> Cell:
    """Return hosts at one end, and the VMs that they leave without a GPU there."""
    hosts, unplaced = bar[name], bar[name.replace("hosts", "unplaced")]
    words = NONE if hosts is None else number(hosts)
    return Cell(hosts, words=said("standing.beside", value=words, vms=unplaced) if unplaced else words)


def _change(now: float, cost: float | None) -> str:
    """Return a cost, and its difference from the current one."""
    if cost is None:
        return NONE
    share = round(100 * (cost / now - 1), 1) if now else 0.0
    return money(cost, "").strip() + (per_cent(f" ({share:+.1f} %)") if share else "")


def thresholds(found: Sequence[Mapping[str, Any]]) -> Table:
    """The nearest values of each input at which the number of hosts changes; as ``sensitivity_dict`` gives them."""
    own: dict[str, Any] = {name: partial(_input, name) for name in ("now", "below", "above")}
    own |= {name: partial(_hosts, name) for name in ("hosts_below", "hosts_above")}
    return tabulate("thresholds", found, **own, notes=(said("table.thresholds.note"),))


def _input(name: str, bar: Mapping[str, Any]) -> Cell:
    return Cell(bar[name], words=input_words(bar, bar[name]))


def input_words(bar: Mapping[str, Any], value: Any) -> str:
    """An input at some value; the head of the costs names the currency."""
    unit = "currency" if is_currency(bar["unit"]) else bar["unit"]
    return value_words(bar["path"], value, unit)


def compared(found: Comparison, catalog: Catalog | None = None) -> Table:
    """Designs in columns: inputs that differ, and results; with a catalog, what comes from it by its name, not its id."""
    designs = (*columns("compared"), *(Column(f"design_{n}", name) for n, name in enumerate(found.names, 1)))
    rows = []
    for row in found.rows:
        words = (_result(row, value, catalog) for value in row.values)
        plain = (int(value) if isinstance(value, bool) else value for value in row.values)
        rows.append((Cell(row.differs, words="*" * row.differs), row.label, *map(Cell, plain, words)))
    return Table("compared", designs, tuple(rows), notes=(said("table.compared.differs"),), title="")


def _result(row: CompareRow, value: Any, catalog: Catalog | None) -> str:
    if value is None and row.key.startswith("prices."):
        return said("table.compared.from catalog")
    chosen = _field(row.key)
    if catalog and isinstance(value, str) and chosen and chosen.table:
        return catalog_name(catalog, chosen.table, value)
    shown = RESULT_WORDS.get(row.key)
    return shown(value) if shown and value is not None else value_words(row.key, value, row.unit)


def value_words(path: str, value: Any, unit: str) -> str:
    """Return an input or a result as readers see it."""
    if value is None or value == "":
        return NONE
    if isinstance(value, bool | str):
        return amount(value, "")
    if isinstance(value, tuple):
        low, high = (value_words(path.removeprefix("ranges."), end, "") for end in value)
        return said("table.range", low=low, high=high)
    if is_currency(unit):
        return money(value, unit)
    if unit == "currency":
        return money(value, "").strip()
    if unit == "W":
        return watts(value)
    field = _field(path)
    return stated_percent(value) if field and field.kind == "share" else amount(value, unit)


def _field(path: str) -> Field | None:
    """The input at a path; None for a result."""
    try:
        return field_of(path)
    except ScenarioError:
        return None
