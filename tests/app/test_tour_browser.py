"""The whole journey in one go, as a customer sees it; `pytest --update-pictures` takes the pictures of the README on the way."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import at, download, fail, figure, figures, finished, go, open_tab, reveal, take, wait_figure
from PIL import Image

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.deliver import kinds_made_here
from gpuplan.scenario import decode_scenario
from gpuplan.wording import rounded_money

pytestmark = pytest.mark.browser

PICTURES = Path(__file__).resolve().parents[2] / "notebooks" / "tour"
TOUR = ("1-start", "2-use-cases", "3-hosts", "4-network", "5-cost", "6-compare", "7-deliver")
ANSWER = {
    "demand.gpus": "28 GPUs",
    "totals.hosts": "8",
    "totals.gpus": "32",
    "totals.unplaced_vms_after_failure": "All VMs fit",
}


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[[Any, str], None]:
    """Takes a picture of what is on the screen, if they are asked for; otherwise looks that there is one."""

    def take(page: Any, name: str) -> None:
        file = PICTURES / f"{name}.png"
        if request.config.getoption("--update-pictures"):
            page.mouse.move(0, 0)
            finished(page)
            page.evaluate("passTime()")
            for passing in (".gp-moved", ".gp-notice:not([hidden])"):  # marks and notices leave by themselves
                page.locator(passing).first.wait_for(state="hidden")
            page.evaluate("document.fonts.ready.then(() => true)")
            shot = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
            shot.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
        assert 10_000 < file.stat().st_size <= 150_000

    return take


def test_the_journey_from_start_to_deliver(
    app: Any, tab: Callable[..., Any], picture: Callable[[Any, str], None]
) -> None:
    visit = tab().start(app.url)
    page = visit.page
    picture(page, TOUR[0])

    take(page, "enterprise")
    wait_figure(page, "totals.hosts", "8")
    at(page, "workload-data-scientists").wait_for()
    assert figures(page) == figures(page) | ANSWER
    picture(page, TOUR[1])
    people = reveal(page, "groups.data-scientists.people")
    people.fill("64")  # active ones twice as many: 8 GPUs more, so 36 GPUs, 9 + 1 hosts
    wait_figure(page, "totals.hosts", "10")

    go(page, "demand")
    page.locator(".gp-chart svg").first.wait_for()
    go(page, "hosts")
    page.locator(".gp-host").nth(9).wait_for()
    assert page.locator(".gp-host").count() == 10
    go(page, "usecases")
    assert people.input_value() == "64", "nothing is lost by going back"
    at(page, "undo").click()
    wait_figure(page, "totals.hosts", "8")
    at(page, "redo").click()
    at(page, "undo").click()
    wait_figure(page, "demand.gpus", "28 GPUs")

    go(page, "hosts")
    fail(page, 3)
    page.locator(".gp-host.failed").wait_for()
    page.locator(".gp-verdict b", has_text="3").first.wait_for()
    picture(page, TOUR[2])
    figure(page, "totals.hosts").click()
    drawer = page.locator(".gp-drawer")
    drawer.locator(".gp-formula", has_text=re.compile(r"^7\s.*\+ 1\s.*= 8$")).wait_for()
    page.keyboard.press("Escape")
    drawer.wait_for(state="detached")

    go(page, "network")
    picture(page, TOUR[3])
    open_tab(page, "remote")
    row = page.locator("tr:visible", has_text="Data scientists").first
    row.wait_for()
    assert re.search(r"90 %\s*76 to 98 %", row.inner_text()), "what is left of its speed, and the range"

    go(page, "cost")
    page.locator(".gp-chart:visible svg text", has_text="Start").first.wait_for()
    plan = make_plan(load_scenario("enterprise"), load_catalog())
    assert plan.costs is not None
    assert plan.cost_ranges is not None
    net_present, low, high = rounded_money(plan.costs.net_present, plan.cost_ranges.net_present)
    shown = page.locator(".gp-page:visible").get_by_text(re.compile(f"^{net_present}$")).first
    shown.wait_for()
    assert f"{low} to {high}" in str(page.locator(".gp-part-strip").text_content())
    page.mouse.wheel(0, 330)  # down to the chart
    picture(page, TOUR[4])

    go(page, "compare")
    at(page, "keep").click()
    page.locator("[data-at^=forget-kept]").wait_for()
    go(page, "hosts")
    page.locator(".gp-host.failed").wait_for()  # it is still failed
    assert page.locator(".gp-host.failed").count() == 1
    at(page, "n2").click()
    wait_figure(page, "totals.hosts", "9")
    go(page, "compare")
    row = page.locator("tr:visible", has_text="takes 8 hosts, one fewer")
    row.locator(".gp-side-now", has_text="9").wait_for()
    picture(page, TOUR[5])

    go(page, "design")
    decisions = page.locator(".gp-decision")
    decisions.filter(has_text=re.compile(r"^9 .* 36 GPUs")).first.wait_for()
    at(page, "undo").click()
    decisions.filter(has_text=re.compile(r"^8 .* 32 GPUs")).first.wait_for()
    go(page, "deliver")
    for kind in kinds_made_here():
        at(page, f"deliver-{kind}").wait_for()
    picture(page, TOUR[6])
    saved = decode_scenario(Path(download(page, "save").path()).read_bytes())
    assert saved == load_scenario("enterprise"), (
        "all is undone, and walking through the steps changed nothing"
    )

    assert visit.external == []
    assert visit.errors == []


def test_there_are_no_other_pictures() -> None:
    assert {file.stem for file in PICTURES.iterdir()} == set(TOUR)
