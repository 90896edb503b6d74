"""The deliver step: a row for each file, none while one is made, and nothing from a design that is not whole."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import load_catalog, load_scenario
from gpuplan.app.model import Workbook
from gpuplan.app.steps import deliver_step as step
from gpuplan.report import KINDS


@pytest.fixture
def book() -> Workbook:
    return Workbook(load_catalog(), load_scenario("starter"))


def acts(book: Workbook) -> list[dict[str, Any]]:
    rows = step.deliver_data(book)["tables"][0]["rows"]
    assert len(rows) == len(KINDS) == len(step.HOLDS)
    return [act for row in rows for act in row[-1]["acts"]]


def test_each_file_can_be_downloaded(book: Workbook) -> None:
    assert [(a["event"], a["rest"]["kind"], a["name"]) for a in acts(book)] == [
        ("deliver", kind, name) for kind, name in KINDS.items()
    ]
    (button,) = step.deliver_data(book)["buttons"]
    assert (button["event"], button["off"]) == ("deliver", False)


def test_one_at_a_time(book: Workbook) -> None:
    book.delivering.runner.state = "running"
    assert acts(book) == []
    assert [b["event"] for b in step.deliver_data(book)["buttons"]] == ["cancel-deliver"]
    book.delivering.runner.state, book.delivering.kind = "done", "docx"
    assert KINDS["docx"] in step.deliver_data(book)["text"][0]


def test_a_design_with_an_input_that_cannot_be_used_is_not_delivered(book: Workbook) -> None:
    book.edit("hardware.gpus_per_host", "many")
    assert book.stale
    assert acts(book) == []
    assert step.deliver_data(book)["buttons"][0]["off"]
    assert "mend it first" in step.deliver_data(book)["text"][0]
