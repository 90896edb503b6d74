"""Tables for other programs: CSV that no spreadsheet runs, pandas frames with units, and one input at several values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from gpuplan.analysis.variants import figure, outcome_of
from gpuplan.catalog import Catalog
from gpuplan.plan import Asked, make_plan, planned
from gpuplan.report.kinds import KEY, KINDS
from gpuplan.report.table import Column, Table, columns, listed, records
from gpuplan.scenario import Scenario, ScenarioError, field_of

if TYPE_CHECKING:
    import pandas as pd

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Characters that a spreadsheet reads as the beginning of a formula."""


def csv_text(table: Table) -> str:
    """The records as CSV, unrounded; text that a spreadsheet would take for a formula is quoted with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    writer.writerows([[_harmless(flat(value)) for value in row.values()] for row in records(table)])
    return out.getvalue()


def _harmless(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def frame(table: Table) -> pd.DataFrame:
    """The records as a pandas frame; its ``attrs`` have title, units of columns, and heads as ``labels``."""
    import pandas as pd

    columns = sorted(table.columns, key=lambda column: column.kind != KEY)
    rows = [[flat(row[column.key]) for column in columns] for row in records(table)]
    df = pd.DataFrame(rows, columns=[column.key for column in columns])
    by_row = {"unit", "per"} & {column.key for column in table.columns}
    own = (column for column in table.columns if not (by_row and column.kind == "number"))
    units = {column.key: column.unit or KINDS[column.kind].unit for column in own}
    labels = {column.key: column.label for column in table.columns if column.label}
    stated = {key: unit for key, unit in units.items() if unit}
    df.attrs = {"title": table.title, "units": stated, "labels": labels}
    return df


def flat(value: Any) -> Any:
    """Return a value as text or number for one cell of a sheet."""
    return "; ".join(map(str, value)) if isinstance(value, tuple | list) else value


def sweep(design: Asked, path: str, values: Iterable[Any], catalog: Catalog | None = None) -> pd.DataFrame:
    """Results of a design with one input at each of several values, one row each.

    Parameters:
        design (Plan, Scenario, Design or str): A plan, a scenario, a design of a notebook, or an example or a file by its name.
            [-]
        path: The input, such as ``groups.research.people``. [-]
        values (iterable): Values of the input. [-]
        catalog: The plan's catalog, or the shipped one if none is given. [-]

    Returns:
        sweep: Columns ``value``, ``gpus_demanded``, ``hosts``, ``gpus``, ``gpus_after_failure``, ``power_w``, ``net_present``,
            ``valid`` (every VM has a GPU and no check says stop), ``unplaced_vms``, ``stops``, ``low`` and ``high`` of the
            cost, and ``refused``, which says why a value cannot be planned; units in ``attrs``. [-]

    Raises:
        ScenarioError: If the path is none of this scenario.
    """
    base = planned(design, catalog)
    scenario, facts, currency = base.scenario, catalog or base.catalog, base.scenario.cost.currency
    scenario.get(path)
    spec = field_of(path)
    moved = Column("value", spec.label, "number", "1" if spec.kind == "share" else spec.unit)
    shown = (moved, *columns("sweep", currency, standing=itemgetter("standing")))
    return frame(listed("sweep", shown, [_tried(scenario, path, value, facts) for value in values], title=""))


def _tried(asked: Scenario, path: str, value: Any, catalog: Catalog) -> dict[str, Any]:
    """The headlines with an input at a value, or why it is refused."""
    outcome = outcome_of(lambda: make_plan(asked.with_value(path, value), catalog))
    totals = ("gpus_demanded", "hosts", "gpus", "gpus_after_failure")
    return {
        "value": value,
        **{name: getattr(outcome.plan.totals, name) if outcome.plan else None for name in totals},
        "power_w": figure(outcome.plan, "power.typical") if outcome.plan else None,
        "net_present": outcome.net_present,
        "standing": outcome.standing,
        "refused": str(ScenarioError(outcome.problems)) if outcome.problems else "",
    }
