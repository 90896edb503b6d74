"""Inputs on the screen: each is asked for on the tab that it is said to be on, and its field says all about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("traitlets")

from gpuplan.app.forms import ASKED, field_data, place_of
from gpuplan.app.groups import cell_at
from gpuplan.app.screen import PAGES, WORKLOADS, WorkbookApp, sent_in
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.scenario import FIELDS, GROUP_FIELDS, Origin, load_scenario, parse_value


def paths_in(data: Any) -> Iterator[str]:
    """The inputs that the data of a card asks for."""
    if isinstance(data, dict):
        if isinstance(data.get("path"), str):
            yield data["path"]
        data = list(data.values())
    for each in data if isinstance(data, list) else ():
        yield from paths_in(each)


def test_every_place_is_a_tab() -> None:
    for step, tab in {each.place for each in ASKED if each.place.step}:
        assert tab in [each.name for each in PAGES[step].tabs], (step, tab)
    inputs = [f.path for f in FIELDS] + [f"groups.a.{f.path}" for f in GROUP_FIELDS]
    assert {place_of(path).step for path in inputs} == {
        "",
        "usecases",
        "demand",
        "hosts",
        "network",
        "cost",
        "deliver",
    }
    assert place_of("ranges.prices.rack-year") == place_of("ranges.groups.a.people") == ("compare", "inputs")


def test_every_input_is_asked_for_where_it_is_said_to_be(book: Workbook) -> None:
    app, asked = WorkbookApp(book), set()
    for path, value, steps in (
        ("demand.rule", "sum", [*PAGES]),
        ("demand.rule", "wait-time", ["demand"]),
        ("training.model", "qwen2.5-7b", ["network"]),
    ):
        book.edit(path, value)
        for step in steps:
            page = PAGES[step]
            book.go(step)
            for tab in page.tabs:
                book.open_tab(step, tab.name)
                for group in (
                    book.scenario.groups if (step, tab.name) == WORKLOADS else book.scenario.groups[:1]
                ):
                    if book.workload != group.id:
                        book.open_workload(group.id)
                    for part in sent_in(app):
                        found = (
                            {cell.path if (cell := cell_at(at)) else at for at in paths_in(part.data)}
                            if hasattr(part, "data")
                            else set()
                        )
                        asked |= {(at, ("", "") if part is app._bar else (step, tab.name)) for at in found}
    places = dict.fromkeys((path for path, _ in asked), ())
    for path, place in asked:
        places[path] = (*places[path], place)
    inputs = {field.path for field in FIELDS} - {"name"}  # the name is in the bar
    inputs |= {path for path in places if path.startswith("groups.")}
    assert {path: place_of(path) for path in inputs if place_of(path) not in places.get(path, ())} == {}


def test_a_range_is_shown_as_it_is_typed(book: Workbook) -> None:
    for path, text in (
        ("groups.hpc.people", "20 to 60"),
        ("groups.hpc.active_share", "20% to 60%"),
        ("prices.rack-year", "11520.5 to 20860"),
    ):
        book.edit(f"ranges.{path}", text)
        assert not book.problem_of(f"ranges.{path}")
        assert field_data(book, f"ranges.{path}")["value"] == text


def test_fields(book: Workbook) -> None:
    for spec in FIELDS:
        data = field_data(book, spec.path)
        assert data["label"] == spec.label
        assert json.loads(json.dumps(data, allow_nan=False)) == data
    data = field_data(book, "groups.hpc.active_share")
    assert (data["value"], data["problem"], data["assumed"]) == ("100 %", "", True)
    assert field_data(book, "groups.data-scientists.gpus_each")["value"] == "1/2"
    assert field_data(book, "demand.stated_gpus")["value"] == "28"
    assert not field_data(book, "demand.stated_gpus")["assumed"]
    data = field_data(book, "groups.hpc.growth", empty="none")
    assert (data["kind"], data["value"], data["empty"]) == ("text", "", "none")
    data = field_data(book, "groups.hpc.days", empty="every day")
    assert data["value"] == ""
    assert data["options"][0] == {"value": "", "text": "every day"}
    data = field_data(book, "groups.hpc.work_h")
    assert (data["kind"], data["unit"]) == ("text", "h")
    book.edit("groups.hpc.active_share", "lots")
    data = field_data(book, "groups.hpc.active_share")
    assert data["value"] == "lots"
    assert "a share from 0 % to 100 %" in data["problem"]


@pytest.mark.parametrize("share", ["1/8", "1/7", "1/3", "0.3", "1", "2", "0.05", "0.35", "16"])
def test_what_a_field_shows_is_read_back_as_what_it_is(book: Workbook, share: str) -> None:
    book.edit("groups.hpc.gpus_each", share)
    shown = field_data(book, "groups.hpc.gpus_each")["value"]
    spec = next(f for f in GROUP_FIELDS if f.path == "gpus_each")
    assert parse_value(spec, shown, "") == book.scenario.get("groups.hpc.gpus_each")


def test_what_the_file_says_of_empty_inputs_is_true_of_inputs_there_are() -> None:
    optional = {field.path for field in (*FIELDS, *GROUP_FIELDS) if field.optional}
    for each in ASKED:
        assert not (each.empty and each.planned)
        if each.planned:
            assert each.path.removeprefix("groups.*.") in optional
        if each.form:
            assert each.path in {field.path for field in FIELDS}


def test_a_planning_value_is_shown_in_an_empty_field_with_its_basis(book: Workbook) -> None:
    assert field_data(book, "availability.hosts_per_cluster")["empty"] == "64 (published)"
    assert field_data(book, "groups.hpc.work_h", empty="open")["empty"] == "open"
    assert field_data(book, "hardware.vcpus_per_host")["empty"] == "not counted"


def test_a_server_that_takes_fewer_boards_can_be_chosen_where_their_number_follows(catalog: Catalog) -> None:
    design = load_scenario("assistant").with_value("hardware.server", "dell-xe7740")
    for stated in (False, True):
        book = Workbook(catalog, design.with_value("hardware.gpus_per_host", 8))
        if not stated:
            book = Workbook(
                catalog,
                book.scenario.with_origin("hardware.gpus_per_host", Origin("assumed", "gpuplan-method")),
            )
        options = field_data(book, "hardware.server")["options"]
        assert next(each["off"] for each in options if each["value"] == "dell-r760xa") == stated
    book = Workbook(
        catalog, book.scenario.with_origin("hardware.gpus_per_host", Origin("assumed", "gpuplan-method"))
    )
    book.edit("hardware.server", "dell-r760xa")
    assert not book.wrong and book.scenario.hardware.gpus_per_host == 4
