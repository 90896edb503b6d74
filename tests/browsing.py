"""What the tests in a browser share: the workbook's page by its keys, and waiting for a state, never for a time.

A part of the page is found by the key that its script gives it (``data-at``, ``data-code``, a path of the scenario), not by its words.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from waiting import LIMIT_S, LONG_S

from gpuplan.app.forms import place_of
from gpuplan.app.state import STEPS

TITLES = dict(STEPS)
STATE = "document.documentElement.dataset.state"
REVISION = "document.documentElement.dataset.revision"
"""JavaScript: "idle" once all that was done is carried out and drawn, as the page declares it."""
FOCUS = "document.activeElement?.dataset.at || document.activeElement?.outerHTML.slice(0, 200)"
"""JavaScript: the key of what has the focus, or what it is."""
WORKING = "document.documentElement.dataset.working?.split(' ')"
"""JavaScript: what the session does beside the page."""


def says(page: Any, expression: str) -> Any:
    """What JavaScript gives in a page; None while it is loaded."""
    with contextlib.suppress(Exception):
        return page.evaluate(expression)


def until(page: Any, expression: str, wanted: Any = True, limit_s: float = LIMIT_S) -> None:
    """Wait until JavaScript gives what is wanted; the page's policy forbids Playwright to wait for it there."""
    end = time.monotonic() + limit_s
    while (now := says(page, expression)) != wanted:
        assert time.monotonic() < end, f"{expression} gives {now}, not {wanted}"
        page.wait_for_timeout(50)


def caught_up(page: Any) -> None:
    """Wait until all that was done is carried out and drawn: what has not changed by then changes by work beside the page alone."""
    until(page, STATE, "idle")


def finished(page: Any, work: str = "") -> None:
    """Wait until the session has finished a kind of work beside the page, or all of it, and what came of it is drawn."""
    caught_up(page)
    busy = f"{WORKING}.includes('{work}')" if work else f"{WORKING}.some(Boolean)"
    until(page, f"Boolean({busy})", False, LONG_S)


def at(page: Any, key: str) -> Any:
    """What has this key: an input by its path, a button or a figure by the line that it explains."""
    return page.locator(f'[data-at="{key}"]')


def have(page: Any, css: str, key: str) -> Any:
    """The innermost element of a kind that holds what has this key, as the row of an input."""
    return page.locator(css, has=page.locator(f'[data-at="{key}"]')).last


def focused(page: Any, key: str) -> None:
    """Wait until what has this key has the focus."""
    until(page, FOCUS, key)


def enter(page: Any, key: str, text: str) -> None:
    """Type into an input, leave it, and wait until it is carried out: what comes of it would disturb what is typed next."""
    reveal(page, key)
    at(page, key).fill(text)
    at(page, key).press("Tab")
    caught_up(page)


def pick(page: Any, key: str, value: str) -> None:
    """Choose from a long list, which is searched while typing."""
    at(page, key).click()
    page.locator(f'#gp-choices [data-value="{value}"]').click()


def is_value(page: Any, key: str, text: str) -> None:
    """Wait until an input shows a text; the page may be loading."""
    until(page, f"document.querySelector('[data-at=\"{key}\"]')?.value", text)


def refused(page: Any, key: str, *parts: str) -> None:
    """Wait until an input is marked as wrong, and what stands beside it names all of these: field, value, what is allowed."""
    page.locator(f'[data-at="{key}"][aria-invalid=true]').wait_for()
    problem = page.locator(f"#{at(page, key).get_attribute('aria-describedby')}")
    for part in parts:
        problem.filter(has_text=part).wait_for()


def unfold(page: Any, key: str) -> None:
    """Open the details that hold an input, or whose summary has this key."""
    page.locator("details", has=page.locator(f'[data-at="{key}"]')).last.locator("summary").click()


def figures(page: Any) -> dict[str, str]:
    """The answer strip: key -> figure."""
    found = page.locator(".gp-figure").evaluate_all(
        "(all) => all.map((each) => [each.dataset.at, each.querySelector('b').innerText])"
    )
    return dict(found)


def figure(page: Any, key: str) -> Any:
    """A figure of the answer strip, to read or to click."""
    return page.locator(f'.gp-figure[data-at="{key}"]')


def wait_figure(page: Any, key: str, value: str) -> None:
    """Wait until the answer strip shows a figure."""
    figure(page, key).locator("b", has_text=re.compile(f"^{re.escape(value)}$")).wait_for()


def wait_other(page: Any, key: str, before: str) -> str:
    """Wait until the answer strip shows another figure than before; it."""
    figure(page, key).locator("b", has_not_text=re.compile(f"^{re.escape(before)}$")).wait_for()
    return str(figure(page, key).locator("b").inner_text())


def take(page: Any, example: str) -> None:
    """Choose an example on the start page, and wait until all of its first step is there."""
    page.locator(f'.gp-pick[data-at="{example}"]').click()
    page.locator('.gp-head[data-step="usecases"]').wait_for()
    caught_up(page)


def home(page: Any) -> None:
    """Go to the start page, and wait until all of it is there."""
    page.locator(".gp-brand").click()
    page.locator(".gp-start").first.wait_for()
    caught_up(page)


def renewed(page: Any, act: Callable[[], Any]) -> None:
    """Do what loads the page again, and wait until the page as it was is gone: it would say what the new one has yet to say."""
    page.evaluate("window.before = true")
    act()
    until(page, "window.before === true", False)


def go(page: Any, step: str) -> None:
    """Enter a step, and wait until all of it is there."""
    page.locator(f'nav [data-at="{step}"]').click()
    page.locator(f'nav [data-at="{step}"][aria-current=step]').wait_for()
    page.locator(f'.gp-head[data-step="{step}"]').wait_for()
    caught_up(page)


def open_tab(page: Any, name: str) -> None:
    """Open a tab of the step on the screen, and wait until all of it is there."""
    at(page, f"tab-{name}").click()
    page.locator(f'[data-at="tab-{name}"][aria-selected=true]').wait_for()
    caught_up(page)


def reveal(page: Any, path: str) -> Any:
    """Enter the step and open the tab and the workload of an input, if it is not on the screen; the input."""
    if not at(page, path).count():
        step, name = place_of(path)
        if not page.locator(f'.gp-head[data-step="{step}"]').count():
            go(page, step)
        if not page.locator(f'[data-at="tab-{name}"][aria-selected=true]').count():
            open_tab(page, name)
        if (step, name) == place_of("groups.*.people") and path.startswith("groups."):
            open_workload(page, path.split(".")[1])
        at(page, path).first.wait_for(state="attached")
    if not at(page, path).first.is_visible():
        at(page, "settings").click() if place_of(path).step == "" else unfold(page, path)
    return at(page, path)


def open_workload(page: Any, group: str) -> None:
    """Open a workload for editing, which closes the one that was open."""
    row = at(page, f"workload-{group}")
    row.wait_for()
    if row.get_attribute("aria-expanded") != "true":
        row.click()
    page.locator(f'[data-at="workload-{group}"][aria-expanded=true]').wait_for()


def choose(page: Any, file: Path) -> None:
    """Open a scenario file."""
    with page.expect_file_chooser() as chooser:
        at(page, "open").click()
    chooser.value.set_files(file)


def download(page: Any, key: str) -> Any:
    """What arrives when a button is clicked; Playwright's download."""
    with page.expect_download(timeout=1000 * LONG_S) as waiting:
        at(page, key).click()
    return waiting.value


def notice(page: Any, level: str, *parts: str) -> None:
    """Wait until the page says something of a level that names all of these."""
    said = page.locator(f".gp-notice.gp-{level}")
    for part in parts:
        said.filter(has_text=part).wait_for()


def fail(page: Any, host: int, pool: str = "vgpu") -> None:
    """Click a host."""
    at(page, f"{pool}-host-{host}").click()


def message(page: Any, code: str) -> Any:
    """A message of the plan by its code."""
    return page.locator(f'[data-code="{code}"]')


def violations(page: Any, **options: Any) -> list[str]:
    """What axe finds wrong with a page; only that comes over from the browser, as all that axe has looked at takes seconds."""
    if not page.evaluate("'axe' in window"):
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(
        """async (options) => (await axe.run({ ...options, resultTypes: ["violations"] })).violations
            .flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 120)}`))""",
        options,
    )
    return found
