"""The deliver step in a real browser: the files that arrive are those of the design."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import download, enter, go

from gpuplan import load_scenario
from gpuplan.report import KINDS
from gpuplan.scenario import decode_scenario

pytestmark = pytest.mark.browser


def downloaded(page: Any, kind: str) -> tuple[str, bytes]:
    """What arrives when a button is clicked."""
    arrived = download(page, f"deliver-{kind}")
    return arrived.suggested_filename, Path(arrived.path()).read_bytes()


def test_one_file_arrives_and_is_the_design_on_the_screen(example: Callable[[str, str], Any]) -> None:
    page = example("starter", "deliver")
    page.locator(".gp-name").fill("Acme <b>GPUs</b>")
    page.locator(".gp-name").press("Tab")
    name, content = downloaded(page, "yaml")
    assert name == "acme-b-gpus-b.yaml"
    assert decode_scenario(content) == load_scenario("starter").with_value("name", "Acme <b>GPUs</b>")
    page.get_by_text(KINDS["yaml"]).nth(1).wait_for()  # that it is made
    name, content = downloaded(page, "html")
    assert name == "acme-b-gpus-b.html"
    assert b"Acme &lt;b&gt;GPUs&lt;/b&gt;" in content


def test_everything_arrives_as_one_file(example: Callable[[str, str], Any]) -> None:
    page = example("enterprise", "deliver")
    name, content = downloaded(page, "go")
    assert name == "enterprise-example.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        kinds = {each.rpartition(".")[2] for each in archive.namelist() if "/" not in each}
        assert kinds == set(KINDS) - {"terraform"}
        assert "terraform/main.tf" in archive.namelist()
    page.locator("[data-at=deliver-go]:enabled").wait_for()


def test_a_design_with_a_wrong_input_is_not_delivered(example: Callable[[str, str], Any]) -> None:
    page = example("starter", "hosts")
    enter(page, "hardware.gpus_per_host", "99")
    go(page, "deliver")
    page.locator("[data-at=deliver-go]:disabled").wait_for()
    assert page.locator("button[data-at^=deliver-]").count() == 1, "none of the files"
    assert page.locator(".gp-page .gp-said").count() >= 1, "and why"


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 820)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    audited: Callable[[str, int], Any], theme: str, width: int
) -> None:
    opened = audited(theme, width)
    opened.step("enterprise", "deliver")
    assert opened.faults() == []
