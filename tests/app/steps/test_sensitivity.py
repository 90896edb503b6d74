"""What moves the answer: the tornado with its table, ranges edited in place, thresholds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from approved import has_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

import altair as alt

from gpuplan import load_scenario
from gpuplan.analysis.sensitivity import thresholds, tornado
from gpuplan.app.forms import place_of
from gpuplan.app.state import Workbook
from gpuplan.app.steps import sensitivity as step
from gpuplan.catalog import Catalog
from gpuplan.report.charts.explore import tornado_chart
from gpuplan.report.charts.look import DARK, LIGHT
from gpuplan.report.explore_report import sensitivity_dict
from gpuplan.report.tables.explore import input_words
from gpuplan.scenario import from_dict

PARTS = (
    step.sensitivity_data,
    step.tornado_head,
    step.tornado_rows,
    step.ranges_data,
    step.thresholds_data,
)


@pytest.fixture(scope="module")
def found(catalog: Catalog) -> dict[str, Any]:
    plan = Workbook(catalog, load_scenario("starter")).plan
    data = sensitivity_dict(plan, tornado(plan), thresholds(plan))
    kept: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    return kept


@pytest.fixture
def book(catalog: Catalog, found: dict[str, Any]) -> Workbook:
    book = Workbook(catalog, load_scenario("starter"))
    book.sensitivity.plan = book.plan
    book.sensitivity.runner.state = "done"
    book.sensitivity.runner.found = [{"sensitivity": found}]
    book.fold("thresholds", True)
    return book


def ranges(book: Workbook) -> dict[str, list[dict[str, Any]]]:
    return {row["id"]: row["cells"] for row in step.ranges_data(book)["rows"]}


def test_every_part_is_plain_data_before_and_after(catalog: Catalog, book: Workbook) -> None:
    for each in (Workbook(catalog, from_dict({})), Workbook(catalog, load_scenario("starter")), book):
        for part in PARTS:
            data = part(each)
            assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_the_widest_bar_is_the_first_and_its_ends_are_those_found(
    book: Workbook, found: dict[str, Any]
) -> None:
    data = step.tornado_rows(book)
    assert book.plan.costs is not None
    assert data["middle"] == book.plan.costs.net_present
    widest = found["bars"][0]
    assert data["inputs"][0] == widest["label"]
    ends = {row["end"]: row["value"] for row in data["rows"] if row["input"] == widest["label"]}
    assert set(ends.values()) <= {widest["cost_low"], widest["cost_high"]}
    for look in (LIGHT, DARK):
        alt.LayerChart.from_dict(json.loads(json.dumps(tornado_chart(data, look), allow_nan=False)))
    book.look("swing", "hosts")
    data = step.tornado_rows(book)
    assert data["middle"] == book.plan.totals.hosts
    assert all(row["value"] != data["middle"] for row in data["rows"])
    book.look("swing", "colour")
    assert step.tornado_rows(book)["view"] == "cost"


def test_the_table_holds_every_bar_with_its_own_range(book: Workbook, found: dict[str, Any]) -> None:
    shown = ranges(book)
    assert list(shown) == [bar["path"] for bar in found["bars"]]
    for cells in shown.values():
        assert cells[2]["input"]["value"] == ""
        assert " to " in cells[2]["input"]["empty"]
        assert cells[3]["basis"]


def test_a_range_is_stated_in_place_and_asks_to_try_again(book: Workbook) -> None:
    path = "groups.data-scientists.people"
    assert place_of(f"ranges.{path}").step == "compare"
    book.edit(f"ranges.{path}", "20 to 60")
    assert ranges(book)[path][2]["input"]["value"] == "20 to 60"
    assert step.ranges_data(book)["stale"]
    assert has_approved(step.sensitivity_data(book)["text"][0])
    book.edit("ranges.cost.pue", "2 to 1")
    row = ranges(book)["cost.pue"]
    assert row[2]["input"]["problem"]
    book.undo()
    book.edit("ranges.groups.data-scientists.active_share", "20% to 60%")
    assert ranges(book)["groups.data-scientists.active_share"][2]["input"]["value"] == "20% to 60%"


def test_a_stated_range_can_be_seen_before_anything_is_tried(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    assert not step.ranges_data(book)["shown"]
    book.edit("ranges.cost.pue", "1.1 to 2")
    assert ranges(book)["cost.pue"][-1]["text"] == "not tried yet"


def test_thresholds_name_the_values_at_which_hosts_change(book: Workbook, found: dict[str, Any]) -> None:
    data = step.thresholds_data(book)
    changing = [t for t in found["thresholds"] if t["below"] is not None or t["above"] is not None]
    rows = data["tables"][0]["rows"]
    assert [row[0]["text"] for row in rows] == [t["label"] for t in changing]
    for row, each in zip(rows, changing, strict=True):
        if each["above"] is not None:
            assert row[4]["text"] == input_words(each, each["above"])
            assert row[5]["text"] == str(each["hosts_above"])
    book.fold("thresholds", False)
    assert step.thresholds_data(book)["tables"] == []


def test_the_range_of_a_price_that_is_sold_is_not_in_the_customer_view(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    path = f"prices.gpus/{book.scenario.hardware.gpu}"
    book.edit(f"ranges.{path}", "9000 to 9900")
    book.edit("internal.margin", "20 %")
    assert path in str(step.ranges_data(book))
    book.look_as(customer=True)
    assert path not in str(step.ranges_data(book))
