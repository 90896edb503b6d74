"""Where an input is found: each is asked for on the tab that it is said to be on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("traitlets")

from gpuplan.app.places import PLACES, place_of
from gpuplan.app.rows import cell_at
from gpuplan.app.screen import PAGES, WORKLOADS, WorkbookApp, sent_in
from gpuplan.app.state import Workbook
from gpuplan.scenario import FIELDS, GROUP_FIELDS


def paths_in(data: Any) -> Iterator[str]:
    """The inputs that the data of a card asks for."""
    if isinstance(data, dict):
        if isinstance(data.get("path"), str):
            yield data["path"]
        data = list(data.values())
    for each in data if isinstance(data, list) else ():
        yield from paths_in(each)


def test_every_place_is_a_tab() -> None:
    for _, (step, tab) in PLACES:
        assert tab in [each.name for each in PAGES[step].tabs], (step, tab)
    inputs = [f.path for f in FIELDS] + [f"groups.a.{f.path}" for f in GROUP_FIELDS]
    assert {place_of(path).step for path in inputs} == {
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
    for path, value in (
        ("demand.rule", "sum"),
        ("demand.rule", "wait-time"),
        ("training.model", "qwen2.5-7b"),
    ):
        book.edit(path, value)
        for step, page in PAGES.items():
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
                        asked |= {(at, (step, tab.name)) for at in found}
    places = dict.fromkeys((path for path, _ in asked), ())
    for path, place in asked:
        places[path] = (*places[path], place)
    inputs = {field.path for field in FIELDS} - {"name"}  # the name is in the bar
    inputs |= {path for path in places if path.startswith("groups.")}
    assert {path: place_of(path) for path in inputs if place_of(path) not in places.get(path, ())} == {}
