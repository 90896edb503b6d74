"""The whole journey in one go, as a customer sees it; `pytest --update-pictures` takes the pictures of the README on the way."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.report import KINDS
from gpuplan.scenario import decode_scenario

pytestmark = pytest.mark.browser

PICTURES = Path(__file__).resolve().parents[2] / "notebooks" / "tour"
TOUR = ("1-start", "2-use-cases", "3-hosts", "4-network", "5-cost", "6-compare", "7-deliver")
ANSWER = {
    "GPUs demanded": "28",
    "Hosts": "8",
    "GPUs": "32",
    "GPUs after a failure": "28",
    "VMs not placed": "0",
    "After the worst failure": "0",
}


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[[Any, str], None]:
    """Takes a picture of what is on the screen, if they are asked for; otherwise looks that there is one."""

    def take(page: Any, name: str) -> None:
        file = PICTURES / f"{name}.png"
        if request.config.getoption("--update-pictures"):
            page.mouse.move(0, 0)
            page.wait_for_timeout(500)  # charts and fonts
            shot = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
            shot.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
        assert 10_000 < file.stat().st_size <= 150_000

    return take


def figures(page: Any) -> dict[str, str]:
    """The answer strip: label -> figure."""
    return {
        figure.locator("small").inner_text(): figure.locator("b").inner_text()
        for figure in page.locator(".gp-figure").all()
    }


def wait_figure(page: Any, label: str, value: str) -> None:
    page.locator(".gp-figure", has=page.locator("small", has_text=re.compile(f"^{label}$"))).locator(
        "b", has_text=re.compile(f"^{value}$")
    ).wait_for(timeout=5000)


def go(page: Any, name: str) -> None:
    page.locator("nav").get_by_text(name, exact=True).click()
    page.get_by_role("heading", name=name, level=1).wait_for()


def test_the_journey_from_start_to_deliver(
    app: Any, page: Callable[..., Any], picture: Callable[[Any, str], None]
) -> None:
    visit = page().open(app.url, "Enterprise example")
    page = visit.page
    picture(page, TOUR[0])

    page.get_by_text("Enterprise example").first.click()
    wait_figure(page, "Hosts", "8")
    people = page.get_by_label("People, Data scientists")
    people.wait_for()
    assert figures(page) == figures(page) | ANSWER
    picture(page, TOUR[1])
    page.get_by_label("Stated total", exact=True).fill("")
    page.get_by_label("Stated total", exact=True).press("Tab")
    people.fill("64")  # active ones twice as many: 8 GPUs more, so 36 GPUs, 9 + 1 hosts
    wait_figure(page, "Hosts", "10")

    go(page, "Demand")
    page.locator(".gp-chart svg").first.wait_for()
    go(page, "Hosts and availability")
    assert page.locator(".gp-host").count() == 10
    go(page, "Use cases")
    assert people.input_value() == "64", "nothing is lost by going back"
    for _ in range(2):
        page.get_by_role("button", name="Undo").click()
    wait_figure(page, "Hosts", "8")
    page.get_by_role("button", name="Redo").click()
    page.get_by_role("button", name="Undo").click()
    wait_figure(page, "GPUs demanded", "28")

    go(page, "Hosts and availability")
    page.locator(".gp-host").nth(2).click()
    page.locator(".gp-host.failed").wait_for()
    page.get_by_text("Host 3 lost: everyone is placed again.").wait_for()
    picture(page, TOUR[2])
    page.locator(".gp-figure", has_text="7 + 1 spare").click()
    drawer = page.locator(".gp-drawer")
    drawer.get_by_text("7 for the demand + 1 spare = 8").wait_for()
    page.keyboard.press("Escape")
    drawer.wait_for(state="detached")

    go(page, "Network")
    page.locator(".gp-chart:visible svg").first.wait_for()
    row = page.locator("tr:visible", has_text="Data scientists").first
    assert re.search(r"90 %\s*76\u201398 %", row.inner_text()), "what is left of its speed, and the range"
    picture(page, TOUR[3])

    go(page, "Cost")
    page.locator(".gp-chart:visible svg text", has_text="Start").first.wait_for()
    plan = make_plan(load_scenario("enterprise"), load_catalog())
    assert plan.costs is not None
    net_present = f"{plan.costs.net_present:,.0f}".split(",")
    page.locator(".gp-page:visible").get_by_text(re.compile(r"\D?".join(net_present))).first.wait_for()
    page.mouse.wheel(0, 330)  # down to the chart
    picture(page, TOUR[4])

    go(page, "Compare")
    page.get_by_role("button", name="Keep this design").click()
    go(page, "Hosts and availability")
    assert page.locator(".gp-host.failed").count() == 1, "the failed host is still failed"
    page.get_by_role("radio", name="N+2").click()
    wait_figure(page, "Hosts", "9")
    go(page, "Compare")
    row = page.locator("tr:visible", has_text=re.compile("^Hosts\\s*8"))
    row.locator(".gp-differs", has_text="9").wait_for()
    picture(page, TOUR[5])

    go(page, "Design")
    page.get_by_text("9 hosts with 4 GPUs each give 36 GPUs").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("8 hosts with 4 GPUs each give 32 GPUs").wait_for()
    go(page, "Deliver")
    for name in KINDS.values():
        page.get_by_role("button", name=f"Download: {name}", exact=True).wait_for()
    picture(page, TOUR[6])
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").click()
    saved = decode_scenario(Path(download.value.path()).read_bytes())
    assert saved == load_scenario("enterprise"), (
        "all is undone, and walking through the steps changed nothing"
    )

    assert visit.external == []
    assert visit.errors == []


def test_there_are_no_other_pictures() -> None:
    assert {file.stem for file in PICTURES.iterdir()} == set(TOUR)
