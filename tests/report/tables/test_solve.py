"""Tables of a solution, from its plain data."""

from __future__ import annotations

from typing import Any

import pytest
from solved import solution

from gpuplan.catalog import Catalog
from gpuplan.report.solve_report import solution_dict
from gpuplan.report.table import records, texts
from gpuplan.report.tables import solve as tables


@pytest.fixture(scope="module")
def data(catalog: Catalog) -> dict[str, Any]:
    return solution_dict(solution(catalog, budget="1.5M"))


def test_designs_have_the_amount_under_its_name(data: dict[str, Any]) -> None:
    table = tables.designs(data, data["designs"])
    assert next(column.label for column in table.columns if column.key == "value") == "Users of Assistant"
    assert records(table)[0]["value"] == 40


def test_boards_are_listed_once_by_their_reason(data: dict[str, Any]) -> None:
    both = {**data["missed"][-1], "name": "Other"}
    table = tables.missed({**data, "missed": [data["missed"][-1], both]})
    assert texts(table) == [("Tesla P4, Other", "no longer sold")]


def test_limits_are_in_their_units(data: dict[str, Any]) -> None:
    ((_, limit, _, _, more),) = texts(tables.binding(data))
    assert limit.startswith("USD") and more.startswith("USD")
    assert not tables.relaxed(data).rows


def test_what_changes_is_worded(data: dict[str, Any]) -> None:
    rows = {row[0]: row[1:] for row in texts(tables.gave(data))}
    assert rows["Subscription term"] == ("3 years", "5 years")
