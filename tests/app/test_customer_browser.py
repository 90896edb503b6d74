"""The customer view and templates of one's own in a real browser: what the customer sees, gets and cannot change."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuplan.scenario import decode_scenario

docx = pytest.importorskip("docx")
pytestmark = pytest.mark.browser


def template() -> bytes:
    """A document with a header that is recognised."""
    document, stream = docx.Document(), io.BytesIO()
    document.sections[0].header.paragraphs[0].text = "ACME letterhead"
    document.save(stream)
    return stream.getvalue()


def test_the_customer_sees_gets_and_changes_nothing_internal(example: Callable[[str, str], Any]) -> None:
    page = example("Starter example", "Cost")

    def downloaded(name: str) -> bytes:
        with page.expect_download(timeout=60000) as waiting:
            page.get_by_role("button", name=name, exact=True).click()
        return Path(waiting.value.path()).read_bytes()

    page.get_by_text("Internal: not for the customer").click()
    page.get_by_role("textbox", name="Internal notes").fill("Zebra: ask Bob.\nNot before Monday.")
    page.get_by_label("Margin", exact=True).fill("20 %")
    page.get_by_label("Margin", exact=True).press("Tab")
    page.get_by_role("cell", name="All that is sold").wait_for()
    gpu = page.get_by_label(re.compile("^Price, RTX 8000|^Price, Quadro|^Price, Tesla")).first
    assert gpu.get_attribute("placeholder")
    page.locator("small", has_text="the customer pays").first.wait_for()

    view = page.get_by_role("button", name="Customer view")
    view.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Internal: not for the customer").wait_for(state="detached")
    page.get_by_text("Prices of this offer stay as they are").wait_for()
    assert view.get_attribute("aria-pressed") == "true"
    assert not re.search(
        "zebra|margin|we pay|we earn|back to the catalog", page.locator("body").inner_text(), re.I
    )
    assert gpu.get_attribute("readonly") is not None and gpu.input_value()
    assert not gpu.get_attribute("placeholder")
    before = gpu.input_value()
    gpu.press("7")
    page.get_by_text("This is a price of this offer").wait_for()
    assert gpu.input_value() == before
    electricity = page.get_by_label("Price, Electricity")
    electricity.fill("0.2")
    electricity.press("Tab")
    page.get_by_role("button", name="Share link").click()
    page.locator(".gp-notice").get_by_text(re.compile("version for the customer")).wait_for()
    theirs = decode_scenario(downloaded("Save"))
    assert theirs.internal.margin is None and theirs.internal.notes is None
    assert theirs.get("prices.electricity-kwh") == 0.2
    page.get_by_text("is the version for the customer").wait_for()

    page.locator("nav").get_by_text("Deliver").click()
    chooser = page.get_by_label("Choose a DOCX file")
    wrong = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"no document"}
    chooser.set_input_files(wrong)
    page.get_by_text("notes.txt was not taken: template is no DOCX file").wait_for()
    chooser.set_input_files({"name": "acme.docx", "mimeType": "", "buffer": template()})
    page.get_by_text("acme.docx is used for the next download").wait_for()
    with zipfile.ZipFile(io.BytesIO(downloaded("Download: Design document, to edit (DOCX)"))) as packed:
        inside = b"".join(packed.read(name) for name in packed.namelist() if name.endswith(".xml")).decode()
    assert "ACME letterhead" in inside and "Zebra" not in inside
    page.get_by_text("Made: Design document, to edit").wait_for()
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("what it says is not").wait_for()

    page.reload()  # the customer still looks on, and nothing of our own is lost
    page.get_by_text("Files for the customer to keep").wait_for()
    assert view.get_attribute("aria-pressed") == "true"
    view.click()
    page.locator("nav").get_by_text("Cost").click()
    page.get_by_text("Internal: not for the customer").click()
    notes = page.get_by_role("textbox", name="Internal notes")
    assert notes.input_value() == "Zebra: ask Bob.\nNot before Monday."
    assert view.get_attribute("aria-pressed") == "false"
    assert electricity.input_value() == "0.2"
