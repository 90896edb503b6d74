"""The deliver step: a row for each file, none while one is made, and nothing from a design that is not whole."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import load_catalog, load_scenario
from gpuplan.app.delivering import Order
from gpuplan.app.state import Workbook
from gpuplan.app.steps import deliver as step
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
    book.delivering.runner.state = "done"
    book.delivering.order = Order(book.scenario, "docx", False)
    assert KINDS["docx"] in step.deliver_data(book)["text"][0]
    book.edit("hardware.gpus_per_host", "4")
    assert "Made" not in step.deliver_data(book)["text"][0]  # it was another design
    book.undo()
    assert "Made" in step.deliver_data(book)["text"][0]
    book.look("version", "internal")
    assert "Made" not in step.deliver_data(book)["text"][0]


def test_designs_that_were_kept_go_into_the_files(book: Workbook) -> None:
    book.keep()
    (kept,) = book.kept
    book.edit("hardware.gpus_per_host", "4")
    assert [each.name for each in step.beside(book)] == [kept.name]
    assert kept.name in step.deliver_data(book)["text"][0]
    book.delivering.runner.state = "done"
    book.delivering.order = Order(book.scenario, "docx", False, step.beside(book))
    assert "Made" in step.deliver_data(book)["text"][0]
    book.forget_kept(kept.name)
    assert "Made" not in step.deliver_data(book)["text"][0]  # it was compared with another one


def test_internal_files_are_offered_only_while_the_customer_does_not_look_on(book: Workbook) -> None:
    def versions() -> list[str]:
        (choice,) = step.deliver_data(book)["inputs"]
        return [choice["value"], *(option["value"] for option in choice["options"])]

    assert versions() == ["customer", "customer", "internal"]
    book.look("version", "internal")
    assert step.is_internal(book) and versions()[0] == "internal"
    book.look_as(customer=True)
    assert not step.is_internal(book)
    assert versions() == ["customer", "customer"]
    assert "margin" not in str(step.deliver_data(book)).lower()


def test_a_template_says_what_is_used_and_what_was_wrong(book: Workbook) -> None:
    template = book.delivering.templates["docx"]
    card = step.template_data("docx", book)
    assert (card["buttons"], card["problem"], card["progress"]) == ([], "", None)
    template.receive("big.docx", 100, 0, b"x" * 25)
    assert step.template_data("docx", book)["progress"] == {"done": 0.25, "text": "Receiving big.docx: 25 %"}
    template.receive("big.docx", 100, 25, b"x" * 75)
    card = step.template_data("docx", book)
    assert "big.docx was not taken: template is no DOCX file" in card["problem"]
    template.used = "acme.docx"
    card = step.template_data("docx", book)
    assert card["text"] == ["acme.docx is used for the next download."]
    assert [b["event"] for b in card["buttons"]] == ["remove-docx-template"]
    assert step.template_data("pptx", book)["upload"]["event"] == "pptx-template"


def test_a_design_with_an_input_that_cannot_be_used_is_not_delivered(book: Workbook) -> None:
    book.edit("hardware.gpus_per_host", "many")
    assert book.stale
    assert acts(book) == []
    assert step.deliver_data(book)["buttons"][0]["off"]
    assert "mend it first" in step.deliver_data(book)["text"][0]
