"""A presenter goes from one customer to the next, by each way: nothing of the first is on the screen or in the files of the second."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import at, choose, download, enter, go, home, open_tab, take, until

from gpuplan.app.history import link_of
from gpuplan.app.state import STEPS
from gpuplan.scenario import Scenario, from_dict, load_scenario

pytestmark = [pytest.mark.browser, pytest.mark.by_day("next customer", 1)]

SECRET = "Zqxacme"
OTHER = "Boltwise"
LISTED = "JSON.parse(localStorage.getItem('gpuplan-recent'))"


def secret() -> Scenario:
    """A design with words of its customer wherever one can be typed."""
    data = load_scenario("enterprise").to_dict()
    for group in data["groups"]:
        group["name"] = f"{SECRET} {group['name']}"
    data |= {"name": f"{SECRET} offer", "customer": SECRET}
    data["document"] = {"author": f"{SECRET} author", "approver": f"{SECRET} approver"}
    data["internal"] = {"margin": 0.2}
    return from_dict(data)


def plain() -> Scenario:
    return load_scenario("starter").with_value("customer", OTHER)


def by_recent(page: Any, _: Path) -> None:
    home(page)
    page.locator(".gp-recent tr", has_text=OTHER).locator("a").press("Enter")  # a notice may lie over it


def by_example(page: Any, _: Path) -> None:
    home(page)
    take(page, "starter")


def by_blank(page: Any, _: Path) -> None:
    home(page)
    at(page, "blank").click()
    at(page, "add-dev-test").click()


def by_file(page: Any, folder: Path) -> None:
    choose(page, folder / "other.yaml")


def by_address(page: Any, _: Path) -> None:
    page.evaluate("(link) => { location.hash = link; }", link_of(plain()).fragment)


def by_customer(page: Any, _: Path) -> None:
    """The same design is taken for another customer."""
    go(page, "usecases")
    open_tab(page, "basis")
    enter(page, "customer", OTHER)


WAYS = {
    "recent": (secret, by_recent),
    "example": (secret, by_example),
    "blank": (secret, by_blank),
    "file": (secret, by_file),
    "address": (secret, by_address),
    "customer": (lambda: plain().with_value("customer", SECRET), by_customer),
}
"""Way -> the design of the first customer, and what opens that of the second."""


def texts(content: bytes) -> Iterator[bytes]:
    """All that a file holds, also within the archives in it."""
    yield content
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield name.encode()
                yield from texts(archive.read(name))


def on_screen(page: Any) -> dict[str, str]:
    """All that the page holds at each step, by step and tab, the start page last."""
    found = {}
    for step, _ in STEPS[1:]:
        go(page, step)
        tabs = page.locator(".gp-tabs [role=tab]").evaluate_all("(all) => all.map((each) => each.dataset.at)")
        for tab in tabs or [""]:
            if tab:
                open_tab(page, tab.removeprefix("tab-"))
            found[f"{step} {tab}".strip()] = page.content()
    home(page)
    at(page, "back").wait_for()
    found["start"] = page.content()
    at(page, "back").click()
    page.locator('.gp-head[data-step="usecases"]').wait_for()
    return found


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_one_customer_reaches_the_next(
    app: Any, tab: Callable[..., Any], tmp_path: Path, way: str
) -> None:
    """Internally the list on the start page and what can be carried over name the first one, and nothing else does."""
    first, opens = WAYS[way]
    (tmp_path / "other.yaml").write_text(plain().to_yaml())
    (tmp_path / "secret.yaml").write_text(first().to_yaml())
    (tmp_path / f"{SECRET}.yaml").write_text(f"name: {SECRET} firm")
    page = tab().start(app.url).page
    choose(page, tmp_path / "other.yaml")
    until(page, f"{LISTED}?.[0].customer", OTHER)
    choose(page, tmp_path / "secret.yaml")
    until(page, f"{LISTED}[0].customer", SECRET)
    go(page, "compare")
    at(page, "keep").first.click()
    at(page, "kept-name-0").fill(f"{SECRET} option")
    at(page, "kept-name-0").press("Tab")
    go(page, "deliver")
    open_tab(page, "templates")
    brand = page.locator("input[type=file]").last
    brand.set_input_files(tmp_path / f"{SECRET}.yaml")
    page.get_by_text(f"{SECRET}.yaml").first.wait_for()
    opens(page, tmp_path)
    until(page, f"document.querySelector('.gp-name').value.includes('{SECRET}')", False)
    inside = {where for where, html in on_screen(page).items() if SECRET in html}
    assert inside == {"compare tab-designs", "start"}
    at(page, "view").click()
    until(page, "document.querySelector('[data-at=view]').getAttribute('aria-pressed')", "true")
    assert {where for where, html in on_screen(page).items() if SECRET in html} == set()
    at(page, "view").click()
    go(page, "deliver")
    page.locator(".gp-tabs [role=tab]").first.click()
    parts = list(texts(Path(download(page, "deliver-go").path()).read_bytes()))
    assert len(parts) > 100
    assert [part[:80] for part in parts if SECRET.lower() in part.decode("utf-8", "replace").lower()] == []
