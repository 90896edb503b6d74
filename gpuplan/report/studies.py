"""Studies of many plans as tidy frames and charts: a design a row, typed columns, units in ``attrs``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpuplan.analysis.compare import Comparison
from gpuplan.analysis.grid import Grid, grid
from gpuplan.analysis.monte_carlo import MonteCarlo
from gpuplan.analysis.ranking import Exploration
from gpuplan.analysis.solve import Frontier, Solution
from gpuplan.analysis.variants import RESULT_NAMES
from gpuplan.catalog import Catalog
from gpuplan.extras import needs_extra
from gpuplan.plan import Asked
from gpuplan.report.explore_report import exploration_dict
from gpuplan.report.exported import attrs_of, flat, keys_of
from gpuplan.report.solve_report import solution_dict
from gpuplan.report.table import Column, Table, records
from gpuplan.report.tables import explore, solve
from gpuplan.units import SUFFIX

if TYPE_CHECKING:
    import pandas as pd


def sweep(design: Asked, path: str, values: Iterable[Any], catalog: Catalog | None = None) -> pd.DataFrame:
    """Return the frame of a `grid` of one input, whose values are in the column ``value``."""
    return tidy(explore.points(grid(design, {path: values}, catalog), "value"), "point")


@needs_extra()
def tidy(table: Table, key: str, index: Sequence[str] = ()) -> pd.DataFrame:
    """A table as a frame with typed columns and an index called ``key``: the names in ``index``, else numbers from 0."""
    import pandas as pd

    about, rows = attrs_of(table), records(table)
    names = {name: "unplaced" if name == "unplaced_vms" else name for name in keys_of(table)}
    tidied = pd.DataFrame({name: _typed([flat(row[key]) for row in rows]) for key, name in names.items()})
    tidied.index = pd.Index(index or range(len(rows)), name=key)
    known, labels = ({names[at]: word for at, word in about[kind].items()} for kind in ("units", "labels"))
    units = {name: known.get(name) or _unit(name) for name in map(str, tidied.select_dtypes("number"))}
    labels = {key: key.capitalize(), **labels}
    tidied.attrs = {"title": table.title, "units": units, "labels": labels}
    return tidied


def _typed(values: Sequence[Any]) -> pd.Series[Any]:
    """A column of one type, also where some values are missing; text where they have nothing else in common."""
    import pandas as pd

    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pd.Series(values, dtype="boolean")
    if kinds <= {int, float}:
        return pd.Series(values, dtype="Int64" if kinds == {int} else "float64")
    return pd.Series(["" if value is None else str(value) for value in values], dtype="str")


def _unit(name: str) -> str:
    """The unit that the name of a column says; 1 without one."""
    words = name.split("_")
    return next((SUFFIX[end] for at in range(len(words)) if (end := "_".join(words[at:])) in SUFFIX), "1")


def frame_of(study: Any) -> pd.DataFrame:
    """The designs of a study as a tidy frame."""
    return FRAMES[type(study)](study)


def _compared(found: Comparison) -> pd.DataFrame:
    columns = [Column(RESULT_NAMES.get(row.key, row.key), row.label, unit=row.unit) for row in found.rows]
    rows = zip(*(row.values for row in found.rows), strict=True)
    return tidy(Table("compared", tuple(columns), tuple(rows), title=""), "design", found.names)


def _explored(found: Exploration) -> pd.DataFrame:
    data = exploration_dict(found, found.scenario)
    shown = tidy(explore.every_design(data), "point")
    shown.insert(list(shown).index("net_present"), "valid", shown["reasons"] == "")
    shown.attrs["units"] |= dict.fromkeys(("net_present", "total", "low", "high", "first"), found.currency)
    return shown


def _solved(found: Solution) -> pd.DataFrame:
    return tidy(solve.every_design(solution_dict(found)), "point")


def _budgets(found: Frontier) -> pd.DataFrame:
    return tidy(solve.budgets(found), "point").assign(valid=True)  # no other design is kept


FRAMES: Mapping[type, Callable[[Any], pd.DataFrame]] = {
    MonteCarlo: lambda found: tidy(explore.points(found), "draw"),
    Grid: lambda found: tidy(explore.points(found), "point"),
    Exploration: _explored,
    Comparison: _compared,
    Solution: _solved,
    Frontier: _budgets,
}
