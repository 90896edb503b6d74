"""The customer view and templates of one's own in a real browser: what the customer sees, gets and cannot change."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import at, download, enter, go, have, is_value, notice, open_tab

from gpuplan.deliver import KINDS
from gpuplan.scenario import decode_scenario

docx = pytest.importorskip("docx")
pytestmark = pytest.mark.browser


def template() -> bytes:
    """A document with a header that is recognised."""
    document, stream = docx.Document(), io.BytesIO()
    document.sections[0].header.paragraphs[0].text = "ACME letterhead"
    document.save(stream)
    return stream.getvalue()


INTERNAL = "internal.margin"
ELECTRICITY = "prices.electricity-kwh"


def test_the_customer_sees_gets_and_changes_nothing_internal(example: Callable[[str, str], Any]) -> None:
    page = example("starter", "cost")

    def downloaded(key: str) -> bytes:
        return Path(download(page, key).path()).read_bytes()

    def unfold_internal() -> None:
        open_tab(page, "money")
        have(page, "details", INTERNAL).locator("summary").click()

    unfold_internal()
    at(page, "internal.notes").fill("Zebra: ask Bob.\nNot before Monday.")
    enter(page, INTERNAL, "20 %")
    have(page, ".gp-card", INTERNAL).locator("table").wait_for()
    open_tab(page, "prices")
    gpu = page.locator("input[data-at^='prices.gpus/']").first
    gpu.wait_for()
    assert gpu.get_attribute("placeholder")
    sold = have(page, ".gp-sheet tbody", gpu.get_attribute("data-at")).locator(
        "small", has_text=re.compile(r"\d")
    )
    sold.first.wait_for()  # what the customer pays

    view = at(page, "view")
    view.focus()
    page.keyboard.press("Enter")
    page.locator("[data-at=view][aria-pressed=true]").wait_for()
    page.locator("input[data-at^='prices.gpus/'][readonly]").first.wait_for()  # prices of this offer stay
    assert not re.search(
        "zebra|margin|we pay|we earn|back to the catalog", page.locator("body").inner_text(), re.I
    )
    assert gpu.get_attribute("readonly") is not None and gpu.input_value()
    assert not gpu.get_attribute("placeholder")
    before = gpu.input_value()
    gpu.press("7")
    have(page, ".gp-sheet tbody", gpu.get_attribute("data-at")).locator(".gp-problem:visible").wait_for()
    assert gpu.input_value() == before
    enter(page, ELECTRICITY, "0.2")
    at(page, "share").click()
    page.locator(".gp-notice").get_by_text(re.compile("customer version")).wait_for()
    theirs = decode_scenario(downloaded("save"))
    assert theirs.internal.margin is None and theirs.internal.notes is None
    assert theirs.get(ELECTRICITY) == 0.2
    notice(page, "note", "starter-example.yaml", "customer")

    open_tab(page, "money")
    at(page, INTERNAL).wait_for(state="hidden")
    go(page, "deliver")
    open_tab(page, "templates")
    chooser = page.locator("input[type=file][accept*=docx]")
    wrong = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"no document"}
    chooser.set_input_files(wrong)
    card = page.locator(".gp-card", has=chooser).last
    card.get_by_text(re.compile("notes.txt.*DOCX")).first.wait_for()
    chooser.set_input_files({"name": "acme.docx", "mimeType": "", "buffer": template()})
    card.get_by_text("acme.docx").first.wait_for()
    at(page, "remove-docx").wait_for()
    open_tab(page, "files")
    with zipfile.ZipFile(io.BytesIO(downloaded("deliver-docx"))) as packed:
        inside = b"".join(packed.read(name) for name in packed.namelist() if name.endswith(".xml")).decode()
    assert "ACME letterhead" in inside and "Zebra" not in inside
    page.get_by_text(KINDS["docx"]).nth(1).wait_for()  # that it is made
    open_tab(page, "templates")
    at(page, "remove-docx").click()
    at(page, "remove-docx").wait_for(state="detached")

    page.reload()  # the customer still looks on, and nothing of our own is lost
    page.locator("nav [aria-current=step][data-at=deliver]").wait_for()
    page.locator("[data-at=view][aria-pressed=true]").wait_for()
    view.click()
    page.locator("[data-at=view][aria-pressed=false]").wait_for()
    go(page, "cost")
    unfold_internal()
    is_value(page, "internal.notes", "Zebra: ask Bob.\nNot before Monday.")
    open_tab(page, "prices")
    is_value(page, ELECTRICITY, "0.2")
