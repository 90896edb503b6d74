"""The deliver step: a row for each file, none while one is made, and nothing from a design that is not whole."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import load_catalog, load_scenario
from gpuplan.app import background
from gpuplan.app.delivering import Preview
from gpuplan.app.events import EVENTS
from gpuplan.app.state import Workbook
from gpuplan.app.steps import deliver as step
from gpuplan.deliver import KINDS, bundle


@pytest.fixture
def book(monkeypatch: pytest.MonkeyPatch) -> Workbook:
    """A design, where LibreOffice is installed."""
    monkeypatch.setattr(bundle, "has_office", lambda: True)
    return Workbook(load_catalog(), load_scenario("starter"))


def acts(book: Workbook) -> list[dict[str, Any]]:
    rows = step.deliver_data(book)["tables"][0]["rows"]
    assert len(rows) == len(KINDS) == len(step.HOLDS)
    return [act for row in rows for act in row[-1]["acts"]]


def finish(book: Workbook, kind: str = "") -> None:
    """As when one kind of file, or all, has been made."""
    order, delivering = step.order(book, kind), book.delivering
    delivering.runner.state, delivering.order = "done", order
    for each in [kind] if kind else KINDS:
        delivering.made[each, order.internal] = delivering.source(order, each)


def marks(book: Workbook) -> dict[str, str]:
    """Kind of file -> what its row says it was made from."""
    rows = step.deliver_data(book)["tables"][0]["rows"]
    said = [(row[-2].get("mark") or {}).get("text", "") for row in rows]
    return {kind: text for kind, text in zip(KINDS, said, strict=True) if text}


def text(book: Workbook) -> str:
    return " ".join(step.deliver_data(book)["text"])


def test_each_file_can_be_downloaded(book: Workbook) -> None:
    assert [(a["event"], a["rest"]["kind"], a["name"]) for a in acts(book)] == [
        ("deliver", kind, name) for kind, name in KINDS.items()
    ]
    (button,) = step.deliver_data(book)["buttons"]
    assert (button["event"], button["off"]) == ("deliver", False)


def test_a_pdf_is_offered_only_where_libreoffice_is_installed(
    book: Workbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "has_office", lambda: False)
    assert [act["rest"]["kind"] for act in acts(book)] == [kind for kind in KINDS if kind != "pdf"]
    notes = [row[0]["note"] for row in step.deliver_data(book)["tables"][0]["rows"]]
    assert is_approved(next(note for note in notes if "LibreOffice" in note))


def test_one_at_a_time(book: Workbook) -> None:
    book.delivering.runner.state = "running"
    assert acts(book) == []
    assert [b["event"] for b in step.deliver_data(book)["buttons"]] == ["cancel-deliver"]
    finish(book, "docx")
    assert KINDS["docx"] in step.deliver_data(book)["text"][0]
    book.edit("hardware.gpus_per_host", "4")
    assert "Made:" not in step.deliver_data(book)["text"][0]  # it was another design
    book.undo()
    assert "Made:" in step.deliver_data(book)["text"][0]
    book.look("version", "internal")
    assert "Made:" not in step.deliver_data(book)["text"][0]


def test_designs_that_were_kept_go_into_the_files(book: Workbook) -> None:
    book.keep()
    (kept,) = book.kept
    book.edit("hardware.gpus_per_host", "4")
    assert [each.name for each in step.beside(book)] == [kept.name]
    assert kept.name in step.deliver_data(book)["text"][0]
    finish(book, "docx")
    finish(book, "yaml")
    assert "Made: " in text(book)
    book.forget_kept(kept.name)
    assert marks(book) == {"docx": OLD, "yaml": NEW}, "the scenario file compares nothing"


NEW, OLD = "this design", "before the last change"
AGAIN = "Made from the design before the last change: download again."


def test_a_row_says_whether_its_file_was_made_from_this_design(book: Workbook) -> None:
    assert marks(book) == {}
    finish(book, "docx")
    assert marks(book) == {"docx": NEW}
    book.edit("hardware.gpus_per_host", "4")
    assert (marks(book), text(book)) == ({"docx": OLD}, AGAIN)
    finish(book, "html")
    assert marks(book) == {"html": NEW, "docx": OLD}
    assert "Made: " in text(book)
    book.edit("document.version", "1.0")
    assert (set(marks(book).values()), text(book)) == ({OLD}, AGAIN)
    book.undo()
    book.undo()
    assert marks(book) == {"html": OLD, "docx": NEW}
    finish(book)
    assert (set(marks(book).values()), len(marks(book))) == ({NEW}, len(KINDS))


def test_each_version_has_files_of_its_own(book: Workbook) -> None:
    finish(book, "html")
    book.look("version", "internal")
    assert (marks(book), "Made" in text(book)) == ({}, False)
    finish(book, "pptx")
    assert marks(book) == {"pptx": NEW}
    book.look_as(customer=True)
    assert marks(book) == {"html": NEW}


def test_a_template_makes_its_kind_old_and_a_brand_all(book: Workbook) -> None:
    finish(book)
    book.delivering.templates["pptx"].remove()
    assert [kind for kind, mark in marks(book).items() if mark == OLD] == ["pptx", "pdf"]
    content = b"name: ACME"
    book.delivering.templates["brand"].receive("acme.yaml", len(content), 0, content)
    assert set(marks(book).values()) == {OLD}
    assert is_approved(step.template_data("brand", book)["text"], "acme.yaml")


def test_nothing_is_said_of_another_design(book: Workbook) -> None:
    finish(book)
    preview(book)
    book.start(load_scenario("enterprise"))
    assert marks(book) == {}
    assert step.preview_data(book)["page"] == ""


def preview(book: Workbook) -> None:
    """As when the first pages have been made."""
    order = step.order(book, "html")
    book.delivering.preview = Preview(order.internal, book.delivering.source(order, "html"), "<h1>First</h1>")


def test_a_preview_is_made_by_itself_and_says_when_it_is_old(
    book: Workbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    runner = book.delivering.previewer
    monkeypatch.setattr(runner, "start_on", lambda *given, last: asked.append(given))
    monkeypatch.setattr(background, "UNASKED_S", 0)

    async def shown() -> Any:
        data = step.preview_data(book)
        assert asked or runner.busy, "the page knows that it is due"
        await asyncio.sleep(0.01)
        return data

    name = book.scenario.name
    assert asyncio.run(shown()) == {"page": "", "old": False, "name": name, "about": ""}
    ((scenarios, *arguments),) = asked
    assert (scenarios, arguments[-2:]) == ((book.scenario,), ["--only", "html"])
    assert step.preview_run(book)["buttons"] == []
    runner.cancel()
    preview(book)
    assert asyncio.run(shown())["page"] == "<h1>First</h1>" and len(asked) == 1, "made once"
    book.edit("document.author", "Jane Doe")
    assert asyncio.run(shown())["old"] and len(asked) == 2
    assert step.preview_run(book)["hint"] != step.VERSIONS["customer"]
    runner.cancel()
    runner.error = "It did not work."
    asyncio.run(shown())
    assert len(asked) == 2, "what failed is not begun again by itself"
    (button,) = step.preview_run(book)["buttons"]
    assert (button["event"], button["off"]) == ("preview", False)
    EVENTS["preview"](book, {})
    assert len(asked) == 3


def test_the_customer_sees_no_preview_from_before(book: Workbook) -> None:
    book.look("version", "internal")
    preview(book)
    assert step.preview_run(book)["hint"] == step.VERSIONS["internal"]
    assert step.preview_data(book)["page"]
    book.look("version", "customer")
    assert step.preview_data(book)["page"] == "", "it is the internal one"
    preview(book)
    book.look_as(customer=True)
    assert book.delivering.preview is None, "its prices may be others"


def test_the_document_is_signed_and_dated_on_its_tab(book: Workbook) -> None:
    fields = {field["path"]: field for field in step.document_form(book)["fields"]}
    assert fields["document.version"]["empty"] == "0.1"
    assert fields["document.status"]["options"][0] == {"value": "", "text": "Draft (default)"}
    book.edit("document.status", "approved")
    book.edit("document.date", "tomorrow")
    fields = {field["path"]: field for field in step.document_form(book)["fields"]}
    assert fields["document.status"]["value"] == "approved"
    assert "a date such as" in fields["document.date"]["problem"]


def test_internal_files_are_offered_only_while_the_customer_does_not_look_on(book: Workbook) -> None:
    def versions() -> list[str]:
        (choice,) = step.deliver_data(book)["inputs"]
        return [choice["value"], *(option["value"] for option in choice["options"])]

    assert versions() == ["customer", "customer", "internal"]
    book.look("version", "internal")
    assert step.is_internal(book) and versions()[0] == "internal"
    assert "margin" in step.deliver_data(book)["after"][0]
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
    assert has_approved(card["problem"], "big.docx")
    template.used = "acme.docx"
    card = step.template_data("docx", book)
    assert is_approved(card["text"], "acme.docx")
    assert [b["event"] for b in card["buttons"]] == ["docx-firm", "remove-docx-template"]
    assert step.template_data("pptx", book)["upload"]["event"] == "pptx-template"


def test_a_design_with_an_input_that_cannot_be_used_is_not_delivered(book: Workbook) -> None:
    book.edit("hardware.gpus_per_host", "many")
    assert book.stale
    assert acts(book) == []
    assert step.deliver_data(book)["buttons"][0]["off"]
    assert has_approved(step.deliver_data(book)["text"][0])
