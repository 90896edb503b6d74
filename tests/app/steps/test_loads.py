"""GPUs of each workload through the week, and what each adds to hosts and cost."""

from __future__ import annotations

import pytest
from hosts_screen import plain

from gpuplan.app.state import Workbook
from gpuplan.app.steps.loads import loads_data
from gpuplan.catalog import Catalog
from gpuplan.scenario import load_scenario


def test_bars_follow_each_change(book: Workbook) -> None:
    before = plain(loads_data(book))
    assert next(bar["gpus"] for bar in before["bars"]) == "18.8"
    book.edit("groups.assistant.people", "100")
    after = plain(loads_data(book))
    assert after["bars"] != before["bars"] and after["lines"][-1]["text"].startswith(
        str(book.plan.totals.gpus)
    )
    assert {row["name"] for row in after["drivers"]} == {group.name for group in book.plan.groups}


def test_a_total_that_decides_leaves_nothing_to_drive(book: Workbook) -> None:
    book.edit("demand.stated_gpus", "20")
    book.edit("demand.rule", "stated")
    data = plain(loads_data(book))
    assert not data["drivers"] and data["told"]


def test_without_workloads_there_is_no_card(catalog: Catalog) -> None:
    assert plain(loads_data(Workbook(catalog))) == {"shown": False}


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("assistant"))
