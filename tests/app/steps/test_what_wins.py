"""What would have to be true for another design to win."""

from __future__ import annotations

from typing import Any

import pytest
from explored_screen import done, ranking

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps import what_wins
from gpuplan.catalog import Catalog


@pytest.fixture
def book(catalog: Catalog, found: dict[str, Any]) -> Workbook:
    book = Workbook(catalog, load_scenario("enterprise"))
    done(book.exploring, "exploration", found, book)
    return book


def test_what_would_make_another_design_win_is_asked_in_its_row(
    book: Workbook, found: dict[str, Any]
) -> None:
    assert "tables" not in what_wins.to_win_data(book)
    other = found["asked"]["label"]
    act = next(a for a in ranking(book)[other][-1]["acts"] if a["event"] == "look")
    book.look(act["rest"]["what"], act["rest"]["value"])
    data = what_wins.to_win_data(book)
    assert data["selects"][0]["value"] == other
    rows = data["tables"][0]["rows"]
    possible = [row[3]["mark"]["text"] for row in rows]
    assert possible == sorted(possible, key=["yes", "unlikely", "no"].index)
    assert all(row[4]["text"] and "(now" not in row[4]["text"] for row in rows)  # no choice by its code
    assert next(row for row in rows if row[0]["text"] == "Analysis period")[1]["text"] == "5 years"
    book.look("other", "no such design")
    assert what_wins.to_win_data(book)["selects"][0]["value"] == ""
