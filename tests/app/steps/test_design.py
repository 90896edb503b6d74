"""Design: decisions, messages and sources."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps.design import design_data
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_decisions_messages_and_sources(catalog: Catalog, name: str) -> None:
    book = Workbook(catalog, load_scenario(name))
    data = design_data(book)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert [d["number"] for d in data["decisions"]] == [d.number for d in book.plan.decisions]
    assert len(data["messages"]) == len(check_plan(book.plan))
    numbers = [source["number"] for source in data["sources"]]
    assert numbers == list(range(1, len(numbers) + 1))
    for decision in data["decisions"]:
        assert decision["cites"]
        assert set(decision["cites"]) <= set(numbers)
        assert decision["key"] == "" or decision["key"] in book.plan.lines
    assert all(source["title"] and source["producer"] for source in data["sources"])


def test_a_design_older_than_its_inputs_says_so(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    assert not design_data(book)["stale"]
    book.edit("demand.stated_gpus", "x")
    assert design_data(book)["stale"]


def test_a_blank_design(catalog: Catalog) -> None:
    data = design_data(Workbook(catalog))
    assert data["decisions"] == []
    assert [m["code"] for m in data["messages"]] == ["nothing-demanded"]
