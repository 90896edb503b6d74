"""Design: decisions, messages, assumptions to confirm, and sources."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.app.screen import PAGES
from gpuplan.app.state import Workbook
from gpuplan.app.steps.design import (
    confirmed_data,
    decisions_data,
    map_data,
    message,
    messages_data,
    sources_data,
    values_data,
)
from gpuplan.app.strip import strip_data
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.known import unconfirmed


def acts_of(row: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What can be done in a row: event -> what it holds."""
    return {act["event"]: act["rest"] for cell in row for act in cell.get("acts", ())}


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_decisions_messages_and_sources(catalog: Catalog, name: str) -> None:
    book = Workbook(catalog, load_scenario(name))
    decisions = decisions_data(book)["decisions"]
    assert [d["number"] for d in decisions] == [d.number for d in book.plan.decisions]
    assert len(messages_data(book)["messages"]) == len(check_plan(book.plan))
    rows = sources_data(book)["tables"][0]["rows"]
    numbers = [int(row[0]["text"]) for row in rows]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(row[1]["text"] and row[2]["text"] for row in rows), "title and producer"
    for decision in decisions:
        assert decision["cites"]
        cited = {int(number) for number in re.findall(r"\d+", decision["cites"])}
        assert cited <= set(numbers)
        assert decision["key"] == "" or decision["key"] in book.plan.lines
    for card in (decisions_data, map_data, messages_data, values_data, confirmed_data, sources_data):
        data = card(book)
        assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert map_data(book)["picture"].startswith("<svg")


def test_a_click_says_that_the_customer_confirmed_a_planning_value(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    rows = values_data(book)["tables"][0]["rows"]
    assert len(rows) == len(unconfirmed(book.plan))
    assert not confirmed_data(book)["shown"]
    by_name = {row[0]["text"]: acts_of(row) for row in rows}
    assert by_name["Data scientists: Users"]["confirm"] == {
        "path": "groups.data-scientists.people",
        "yes": True,
    }
    repair = by_name["Repair time"]
    assert repair == {"visit": {"path": "availability.repair_h"}}, (
        "a value of the catalog is replaced, not confirmed"
    )
    reasons = [row[3]["text"] for row in rows[:20]]
    assert sum(map(bool, reasons)) == 1, "one reason for all groups stands once"
    book.confirm("groups.data-scientists.people", True, "Ms Ito")
    assert len(values_data(book)["tables"][0]["rows"]) == len(rows) - 1
    (confirmed,) = confirmed_data(book)["tables"][0]["rows"]
    assert acts_of(confirmed)["confirm"] == {"path": "groups.data-scientists.people", "yes": False}
    who, day, withdrawn = (cell["text"] for cell in confirmed[2:5])
    assert (who, bool(day), bool(withdrawn)) == ("Ms Ito", True, False)
    book.confirm("groups.data-scientists.people", False)
    (confirmed,) = confirmed_data(book)["tables"][0]["rows"]
    assert all(cell["text"] for cell in confirmed[2:5]) and acts_of(confirmed) == {}


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_the_message_of_the_step_counts_as_the_strip_does(catalog: Catalog, name: str) -> None:
    book = Workbook(catalog, load_scenario(name))
    said = message(book).sentence
    (shown,) = (f for f in strip_data(book)["figures"] if f["key"] == "messages")
    words = {"1": "one", "2": "two", "3": "three", "4": "four"}
    points = shown["value"].split()[0]
    assert f"{words[points]} point" in said
    assert f"{shown['note']} to confirm." in said
    badges = {tab.name: tab.badge(book) for tab in PAGES["design"].tabs}
    assert badges["messages"] == points
    assert shown["note"] == f"{badges['values']} assumptions"


def test_a_design_older_than_its_inputs_says_so(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    assert not decisions_data(book)["stale"]
    book.edit("demand.stated_gpus", "x")
    assert decisions_data(book)["stale"] and messages_data(book)["stale"]


def test_a_blank_design(catalog: Catalog) -> None:
    book = Workbook(catalog)
    assert decisions_data(book)["decisions"] == []
    assert [m["code"] for m in messages_data(book)["messages"]] == ["nothing-demanded"]
    assert sources_data(book)["text"]
