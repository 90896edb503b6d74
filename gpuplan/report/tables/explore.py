"""Tables of designs: explored ones, the drivers of the answer, and designs side by side."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import Any

from gpuplan.analysis.candidates import Candidate
from gpuplan.analysis.compare import CompareRow, Comparison
from gpuplan.analysis.grid import Grid, Point
from gpuplan.analysis.monte_carlo import MonteCarlo
from gpuplan.analysis.option import Option
from gpuplan.analysis.variants import Standing
from gpuplan.catalog import Catalog
from gpuplan.locales import per_cent
from gpuplan.report.table import Cell, Column, Table, Worded, columns, filled, tabulate
from gpuplan.report.tables.alternatives import count_over_years
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
    own |= {name: partial(_hosts_at, name) for name in ("hosts_low", "hosts_high")}
    return tabulate("bars", found, currency, **own, cost_low=Worded(change), cost_high=Worded(change))


def _hosts_at(name: str, bar: Mapping[str, Any]) -> Cell:
    hosts, unplaced = bar[name], bar[name.replace("hosts", "unplaced")]
    words = NONE if hosts is None else number(hosts)
    return Cell(hosts, words=said("standing.beside", value=words, vms=unplaced) if unplaced else words)


def _change(now: float, cost: float | None) -> str:
    if cost is None:
        return NONE
    share = round(100 * (cost / now - 1), 1) if now else 0.0
    return money(cost, "").strip() + (per_cent(f" ({share:+.1f} %)") if share else "")


def thresholds(found: Sequence[Mapping[str, Any]]) -> Table:
    """The nearest values of each input at which the number of hosts changes; as ``sensitivity_dict`` gives them."""
    own: dict[str, Any] = {name: partial(_input, name) for name in ("now", "below", "above")}
    own |= {name: partial(_hosts_at, name) for name in ("hosts_below", "hosts_above")}
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


Found = Mapping[str, Any]
"""An exploration as a dict from ``exploration_dict``; each option is a dict, too."""


def points(found: Grid | MonteCarlo, *names: str) -> Table:
    """Tabulate the designs of a study with the values of their inputs, under their paths if no names are given."""
    scenario = found.scenario
    inputs = (
        Column(name, scenario.label(path), "number", _input_unit(path, scenario.cost.currency))
        for name, path in zip(names or found.inputs, found.inputs, strict=True)
    )
    limits = (
        Column(f"limits.{name}", field_of(f"limits.{name}").label, "yes", of=partial(_limit, name))
        for name in dict.fromkeys(name for point in found.points for name in point.limits)
    )
    shown = (*columns("points", scenario.cost.currency, standing=attrgetter("standing")), *limits)
    rows = ((*point.values, *(column.held(point) for column in shown)) for point in found.points)
    return Table("points", (*inputs, *shown), tuple(rows), title="")


def _input_unit(path: str, currency: str) -> str:
    spec = field_of(path)
    return currency if path.startswith("prices.") else "1" if spec.kind == "share" else spec.unit


def _limit(name: str, point: Point) -> bool | None:
    return point.limits.get(name)


def quantiles(found: MonteCarlo) -> Table:
    """Tabulate quantiles of hosts, GPUs and cost, each with its standard error."""
    figures = ("hosts", "gpus", "net_present", "first")
    rows = [
        (share, *(end for figure in figures for end in found.quantile(figure, share)))
        for share in (0.05, 0.1, 0.5, 0.9, 0.95)
    ]
    valid = said("monte.note", valid=found.chance().value, draws=len(found.points))
    return filled("quantiles", rows, found.scenario.cost.currency, notes=(valid,))


def designs(found: Found, options: Sequence[Found], title: str = "") -> Table:
    """Tabulate designs with their figures, and the arguments against each."""
    own: dict[str, Any] = {"hosts": _hosts, "standing": _standing}
    own["waiting_pct"] = lambda o: None if o["waiting_pct"] is None else o["waiting_pct"] / 100
    own["why_not"] = lambda option: Cell(tuple(option["why_not"]), words=against(found, option))
    return tabulate("designs", options, found["currency"], **own, title=title)


def _standing(option: Found) -> Standing:
    known = {name: option[name] for name in ("unplaced_vms", "stops", "low", "high", "checked")}
    return Standing(valid=not option["reasons"], **known)


def same_boards(found: Found) -> Table:
    """The cheapest design with each board for the same work, and what sets it apart or why there is none."""
    told = partial(_remarks, found)
    return tabulate("same_boards", found["boards"], found["currency"], standing=_standing, remarks=told)


def _remarks(found: Found, board: Found) -> Cell:
    best = (said("table.same_boards.cheapest"),) if board["gpu"] == found["cheapest"] else ()
    listed = (*best, *remarks(board))
    return Cell(listed, words="; ".join(listed))


def remarks(board: Found) -> tuple[str, ...]:
    """Say why a board cannot, what of its design has no price, and what sets it apart from the cheapest."""
    missing = (said("ranking.no price", name=name) for name in board["unpriced"])
    return (*board["reasons"], *missing, *board["differences"])


def same_works(found: Found) -> Table:
    """What one GPU of each board does for each workload, in parts of the best of them."""
    rows = [{**board, **work, "board": board["name"]} for board in found["boards"] for work in board["works"]]
    return tabulate("same_works", sorted(rows, key=lambda row: row["group"]), found["currency"])


def _hosts(option: Found) -> Cell:
    """Hosts at the start, and to how many they grow, as the cost holds those too."""
    counts = [option["hosts"], option["hosts_at_end"]]
    return Cell(counts[0], words=None if None in counts else count_over_years(counts))


def against(found: Found, option: Found) -> str:
    """Say what is against a design, and whether it is the recommended or the requested one."""
    winner, requested = found["winner"], found["asked"]
    if winner is not None and option["candidate"] == winner["candidate"]:
        remarks = [said("table.designs.recommended")]
    else:
        remarks = list(option["why_not"])
    if option["candidate"] == requested["candidate"]:
        remarks.insert(0, said("table.designs.current"))
    return "; ".join(remarks)


def unpriced(found: Found) -> Table:
    """Tabulate the items without a known price, and the number of designs that need each."""
    missing = Counter(name for option in found["unpriced"] for name in option["unpriced"])
    return filled("unpriced", ((count, name) for name, count in missing.most_common()))


def without_price(options: Sequence[Found]) -> Table:
    """Tabulate the designs that would do but have no complete price, and the exclusions of their cost."""
    return tabulate("without_price", options, excludes=_left_out)


def _left_out(option: Found) -> Cell:
    return Cell(tuple(option["excludes"]), words="; ".join(option["excludes"]), tone="small")


def reasons(found: Found) -> Table:
    """Tabulate why designs are out; those with the same reasons share a row, regardless of the share in them."""
    by_reason: dict[str, list[str]] = {}
    for option in found["rejected"]:
        reason = re.sub(r"(under |over )?\d[\d.,]*( ?%)", "\u2026\\2", "; ".join(option["reasons"]))
        by_reason.setdefault(reason, []).append(option["label"])
    listed = sorted(by_reason.items(), key=lambda each: (-len(each[1]), each[0]))
    rows = ((why, len(names), Cell(tuple(names), words=_some(names), tone="small")) for why, names in listed)
    return filled("rejected", rows)


def _some(labels: Sequence[str], most: int = 3) -> str:
    names = "; ".join(labels[:most])
    left = len(labels) - most
    return said("table.rejected.more", names=names, more=left) if left > 0 else names


def every_design(found: Found) -> Table:
    """Tabulate every design with all its details, the ranked first."""
    candidate_names = [f.name for f in fields(Candidate)]
    option_names = [f.name for f in fields(Option) if f.name != "candidate"]
    names = ["status", "rank", "frontier", *candidate_names, *option_names, "currency", "why_not"]
    best = [option["candidate"] for option in found["frontier"]]
    rows = []
    for status, rank, option in _in_order(found):
        design = option["candidate"]
        own = (*(design[name] for name in candidate_names), *(option[name] for name in option_names))
        rows.append((status, rank, design in best, *own, found["currency"], option["why_not"]))
    heads = tuple(Column(name, name.replace("_", " ").capitalize()) for name in names)
    return Table("every_design", heads, tuple(rows))


def _in_order(found: Found) -> Iterator[tuple[str, int | None, Found]]:
    winner = found["winner"]["candidate"] if found["winner"] else None
    for rank, option in enumerate(found["ranked"], 1):
        yield "winner" if option["candidate"] == winner else "ranked", rank, option
    for status in ("unpriced", "rejected"):
        for option in found[status]:
            yield status, None, option
