"""Inputs that hold rows, edited cell by cell: existing hosts, and VMs without a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gpuplan.scenario import HOST_KEYS, VM_KEYS, Scenario, file_rows


class Cell(NamedTuple):
    """Place of a value in the rows of an input."""

    path: str
    """Path of the input."""
    row: int
    """Number of the row, from 1; one more than the last is a new row."""
    key: str
    """Name of the column in a file."""


ROWS: Mapping[str, Mapping[str, str]] = {"hardware.existing": HOST_KEYS, "hardware.other_vms": VM_KEYS}
"""Path of an input -> its columns."""
COUNT = {"hardware.existing": "hosts", "hardware.other_vms": "vms"}
"""Column that every row needs."""


def cell_at(path: str) -> Cell | None:
    """Return the cell that a path such as ``hardware.existing.2.hosts`` names."""
    whole, _, rest = next(
        ((p, "", path.removeprefix(p)) for p in ROWS if path.startswith(p + ".")), ("", "", "")
    )
    row, _, key = rest[1:].partition(".")
    return Cell(whole, int(row), key) if row.isdigit() and key in ROWS.get(whole, {}).values() else None


def rows_of(scenario: Scenario, path: str) -> list[dict[str, Any]]:
    """Return the rows of an input as a file lists them."""
    return file_rows(scenario.get(path) or "", ROWS[path])


def with_cell(scenario: Scenario, cell: Cell, given: Any) -> list[dict[str, Any]]:
    """Return the rows after a cell was edited: one without a number is removed, and text in an empty row makes one."""
    rows = rows_of(scenario, cell.path)
    count, value = COUNT[cell.path], str(given).strip()
    if cell.row > len(rows):
        rows.append({count: 1} if value else {})
    row = rows[min(cell.row, len(rows)) - 1]
    if value:
        row[cell.key] = value
    else:
        row.pop(cell.key, None)
    return [each for each in rows if count in each]
