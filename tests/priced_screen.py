"""What the tests of the cost step share: a workbook of an example, and the rows of its prices."""

from __future__ import annotations

from typing import Any

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps.prices import prices_data
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict

Data = dict[str, Any]


def book_of(catalog: Catalog, name: str) -> Workbook:
    return Workbook(catalog, from_dict({}) if name == "blank" else load_scenario(name))


def prices(book: Workbook) -> dict[str, list[Data]]:
    return {row["id"].removeprefix("prices."): row["cells"] for row in prices_data(book)["rows"]}
