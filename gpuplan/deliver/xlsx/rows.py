"""A row of the sheet of costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuplan.deliver.xlsx.cells import Editable, Live, sum_of
from gpuplan.models import cost


class Row(NamedTuple):
    """A row of the sheet of costs: what it is, its cells from the start to the last year, their sum, and what is said of it."""

    at: int
    part: str
    cells: Sequence[Any]
    item: str = ""
    note: Any = ""
    kind: str = "money"
    total: Live | None = None
    bold: bool = False

    def held(self) -> tuple[Any, ...]:
        """Its cells from left to right."""
        return (self.part, self.item, *self.cells, self.total, self.note)


def summed(row: Row) -> Row:
    """The row with the sum of all years."""
    values = [cell.value if isinstance(cell, Live | Editable) else cell for cell in row.cells]
    in_all = cost.total_cost(*(value or 0.0 for value in values))
    return row._replace(total=Live(sum_of([row.at], range(2, 2 + len(row.cells))), in_all))
