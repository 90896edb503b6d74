"""The deliver step in a real browser: the files that arrive are those of the design."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuplan import load_scenario
from gpuplan.report import KINDS
from gpuplan.scenario import decode_scenario

pytestmark = pytest.mark.browser


def downloaded(page: Any, name: str) -> tuple[str, bytes]:
    """What arrives when a button is clicked."""
    with page.expect_download(timeout=60000) as waiting:
        page.get_by_role("button", name=name, exact=True).click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def test_one_file_arrives_and_is_the_design_on_the_screen(example: Callable[[str, str], Any]) -> None:
    page = example("Starter example", "Deliver")
    page.get_by_label("Name of the design").fill("Acme <b>GPUs</b>")
    page.get_by_label("Name of the design").press("Tab")
    name, content = downloaded(page, f"Download: {KINDS['yaml']}")
    assert name == "acme-b-gpus-b.yaml"
    assert decode_scenario(content) == load_scenario("starter").with_value("name", "Acme <b>GPUs</b>")
    page.get_by_text(f"Made: {KINDS['yaml']}").wait_for()
    name, content = downloaded(page, f"Download: {KINDS['html']}")
    assert name == "acme-b-gpus-b.html"
    assert b"Acme &lt;b&gt;GPUs&lt;/b&gt;" in content


def test_everything_arrives_as_one_file(example: Callable[[str, str], Any]) -> None:
    page = example("Enterprise example", "Deliver")
    name, content = downloaded(page, "Download everything")
    assert name == "enterprise-example.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        kinds = {each.rpartition(".")[2] for each in archive.namelist() if "/" not in each}
        assert kinds == set(KINDS) - {"terraform"}
        assert "terraform/main.tf" in archive.namelist()
    assert page.get_by_role("button", name="Download everything", exact=True).is_enabled()


def test_a_design_with_a_wrong_input_is_not_delivered(example: Callable[[str, str], Any]) -> None:
    page = example("Starter example", "Hosts and availability")
    page.get_by_label("GPUs per host", exact=True).fill("99")
    page.get_by_label("GPUs per host", exact=True).press("Tab")
    page.locator("nav").get_by_text("Deliver").click()
    page.get_by_text("mend it first, then download").wait_for(timeout=5000)
    assert page.get_by_role("button", name="Download everything", exact=True).is_disabled()
    assert page.get_by_role("button", name="Download: ").count() == 0


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 820)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    audited: Callable[[str, int], Any], theme: str, width: int
) -> None:
    opened = audited(theme, width)
    opened.step("Enterprise example", "Deliver")
    assert opened.faults() == []
