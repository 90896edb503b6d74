"""The deliver step in a real browser: the files that arrive are those of the design."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import at, download, enter, figures, go, is_value, open_tab, refused, renewed
from waiting import LONG_S, soon

from gpuplan import load_scenario, make_plan
from gpuplan.deliver import KINDS, design_files, kinds_made_here
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


@pytest.mark.by_day("minutes", 2)
def test_everything_arrives_as_one_file(example: Callable[[str, str], Any]) -> None:
    page = example("enterprise", "deliver")
    name, content = downloaded(page, "go")
    assert name == "enterprise-example.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        kinds = {each.rpartition(".")[2] for each in archive.namelist() if "/" not in each}
        assert kinds == set(kinds_made_here()) - {"terraform", "whatif", "brief"}
        assert "enterprise-example-what-if.html" in archive.namelist()
        assert "terraform/vsphere/main.tf" in archive.namelist()
    page.locator("[data-at=deliver-go]:enabled").wait_for()


def test_the_first_pages_are_shown_by_themselves_and_follow_the_design(visit: Any) -> None:
    """The fixture fails if anything is requested beyond this machine, or an error is logged."""
    page = visit.step("enterprise", "deliver")
    requests: list[Any] = []
    page.on("request", lambda request: requests.append(request))
    open_tab(page, "document")
    frame = page.locator("iframe.gp-preview")
    inside = page.frame_locator("iframe.gp-preview")
    inside.locator(".lead", has_text=f"{figures(page)['totals.hosts']} hosts").wait_for(timeout=1000 * LONG_S)
    assert inside.locator(".chapter, a, script").count() == 0
    assert frame.get_attribute("sandbox") == "" and frame.get_attribute("title")
    assert [
        each.url for each in requests if each.frame != page.main_frame and not each.url.startswith("data:")
    ] == []
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "it fits the screen"
    at(page, "document.decide_by").focus()
    page.keyboard.press("Tab")
    inside.locator(".page:focus-visible").wait_for()
    page.keyboard.press("PageDown")
    soon(lambda: inside.locator("html").evaluate("(root) => root.scrollTop") > 0, "it does not scroll")
    enter(page, "document.author", "Jane Doe")
    page.locator("iframe.gp-preview.gp-old").wait_for()
    page.locator("iframe.gp-preview:not(.gp-old)").wait_for(timeout=1000 * LONG_S)
    inside.get_by_text("Jane Doe").first.wait_for()


def test_a_design_with_a_wrong_input_is_not_delivered(example: Callable[[str, str], Any]) -> None:
    page = example("starter", "hosts")
    enter(page, "hardware.gpus_per_host", "99")
    go(page, "deliver")
    page.locator("[data-at=deliver-go]:disabled").wait_for()
    assert page.locator("button[data-at^=deliver-]").count() == 1, "none of the files"
    assert page.locator(".gp-page .gp-said").count() >= 1, "and why"


@pytest.mark.by_day("axe", 3)
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 820)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    audited: Callable[[str, int], Any], theme: str, width: int
) -> None:
    opened = audited(theme, width)
    opened.step("enterprise", "deliver")
    assert opened.faults() == []
    open_tab(opened.page, "document")
    opened.page.locator("iframe.gp-preview").wait_for(timeout=1000 * LONG_S)
    assert opened.faults() == []


def test_names_and_addresses_are_typed_kept_and_taken_from_a_workbook(
    example: Callable[[str, str], Any], tmp_path: Path
) -> None:
    page = example("enterprise", "deliver")
    open_tab(page, "site")
    enter(page, "site.dns.domain", "gpu.example.com")
    is_value(page, "site.dns.domain", "gpu.example.com")
    enter(page, "site.dns.servers", "ten")
    refused(page, "site.dns.servers")
    renewed(page, page.reload)
    is_value(page, "site.dns.domain", "gpu.example.com")
    plan = make_plan(load_scenario("enterprise").with_value("site.dns.domain", "corp.example.com"))
    (tmp_path / "typed.xlsx").write_bytes(design_files(plan, ["xlsx"])["enterprise-example.xlsx"])
    page.locator("input[type=file][accept='.xlsx']").set_input_files(tmp_path / "typed.xlsx")
    is_value(page, "site.dns.domain", "corp.example.com")
