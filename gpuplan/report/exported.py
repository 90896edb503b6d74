"""Tables for other programs: CSV that no spreadsheet runs, and pandas frames with units."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from gpuplan.extras import needs_extra
from gpuplan.report.kinds import KEY, KINDS
from gpuplan.report.table import Table, records

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


@needs_extra()
def frame(table: Table) -> pd.DataFrame:
    """The records as a pandas frame; its ``attrs`` have title, units of columns, and heads as ``labels``."""
    import pandas as pd

    keys = keys_of(table)
    df = pd.DataFrame([[flat(row[key]) for key in keys] for row in records(table)], columns=keys)
    df.attrs = attrs_of(table)
    return df


def keys_of(table: Table) -> list[str]:
    """Return the columns of the frame of a table: keys first."""
    return [column.key for column in sorted(table.columns, key=lambda column: column.kind != KEY)]


def attrs_of(table: Table) -> dict[Any, Any]:
    """Return the ``attrs`` of the frame of a table."""
    by_row = {"unit", "per"} & {column.key for column in table.columns}
    own = (column for column in table.columns if not (by_row and column.kind == "number"))
    units = {column.key: column.unit or KINDS[column.kind].unit for column in own}
    labels = {column.key: column.label for column in table.columns if column.label}
    stated = {key: unit for key, unit in units.items() if unit}
    return {"title": table.title, "units": stated, "labels": labels}


def flat(value: Any) -> Any:
    """Return a value as text or number for one cell of a sheet."""
    return "; ".join(map(str, value)) if isinstance(value, tuple | list) else value
