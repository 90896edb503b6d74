"""Nothing that was done on the page is lost, whenever and however it is loaded again: in a real browser."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from browsing import at, caught_up, go, is_value, open_tab, open_workload, renewed, reveal, says, take, until
from estates import L40S, card, export, host, vgpu, vm
from random_cases import of_the_day
from waiting import LIMIT_S

pytest.importorskip("voila")

from gpuplan import load_scenario
from gpuplan.app.history import link_of

pytestmark = [pytest.mark.browser, pytest.mark.by_day("loss", 4)]

LONGEST_MS = 300
"""Between an edit and the reload."""
PEOPLE = "groups.data-scientists.people"
SHARE = "groups.data-scientists.active_share"
VCPUS = "hardware.vcpus_per_host"
NAME = "document.querySelector('.gp-name')?.value"
QUIET = "document.querySelector('.gp-notice').hidden"


GARBAGE = (
    "",
    "7",
    "null",
    "{",
    '"x"',
    "[[]]",
    "[null]",
    '{"past":7,"design":[]}',
    '[{"type":"set"}]',
    "\u0000",
)
"""What a tab may find in its storage."""


def value(path: str) -> str:
    """JavaScript: what the field on the screen shows."""
    return f"document.querySelector('[data-at=\"{path}\"]')?.value"


def rows() -> str:
    """JavaScript: how many groups the table has."""
    return "document.querySelectorAll('.gp-workload').length"


def is_down(host: int) -> str:
    """JavaScript: whether a host has failed."""
    return f"Boolean(document.querySelector('[data-at=\"vgpu-host-{host}\"].failed'))"


class Tab:
    """A tab with the enterprise example, where edits of all kinds are followed by reloads of all kinds."""

    edits = ("people", "share", "hosts input", "add group", "fail host", "undo")
    reloads = ("reload", "from inside", "away and back", "crash")

    def __init__(self, new_page: Callable[[], Any], url: str, seed: int) -> None:
        self.random = random.Random(seed)
        self._new_page, self._url = new_page, url
        self._number = 30
        self.page: Any = None
        self.raw: Callable[..., Any] | None = None
        """Sends to the tab when it has crashed: Playwright gives it up then."""

    def open(self) -> None:
        if self.page is not None:
            self.page.close()
        self.page, self.raw = self._new_page(), None
        self.page.goto(self._url)
        take(self.page, "enterprise")

    def says(self, expression: str) -> Any:
        """What JavaScript gives in the tab, crashed before or not; None while it is loaded."""
        if self.raw is not None:
            return self.raw("Runtime.evaluate", expression=expression)["result"].get("value")
        return says(self.page, expression)

    def becomes(self, expression: str, wanted: Any) -> bool:
        """Whether JavaScript gives what is wanted after a while: it is lost only if it never comes."""
        end = time.monotonic() + LIMIT_S
        while self.says(expression) != wanted:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def prepare(self, edit: str) -> tuple[str, Any, Callable[[], Any]]:
        """What the screen has to say after an edit, and how to do it."""
        page = self.page
        self._number += 1
        go(page, "hosts" if edit in ("hosts input", "fail host") else "usecases")

        def typed(path: str, text: str) -> tuple[str, Any, Callable[[], Any]]:
            field = reveal(page, path)
            return value(path), text, lambda: field.fill(text)

        if edit == "people":
            return typed(PEOPLE, str(self._number))
        if edit == "share":
            return typed(SHARE, f"{self._number % 90 + 5} %")
        if edit == "hosts input":
            return typed(VCPUS, str(self._number + 100))
        if edit == "add group":
            count = self.says(rows())
            return rows(), count + 1, page.locator("[data-at=add-dev-test]").click
        if edit == "fail host":
            open_tab(page, "picture")
            host = self.random.randint(1, 4)
            wanted = not self.says(is_down(host))
            return is_down(host), wanted, page.locator(f'[data-at="vgpu-host-{host}"]').click
        shown, _, act = typed(PEOPLE, str(self._number))
        before = self.says(shown)
        act()
        page.locator(f'[data-at="{PEOPLE}"]').press("Tab")
        undo = at(page, "undo")
        assert self.becomes("document.querySelector('[data-at=undo]').disabled", False)
        return shown, before, undo.click

    def load_again(self, how: str, act: Callable[[], Any]) -> None:
        """Do something, and load the page again at a random moment after it: here the time that passes is what is tried."""
        page, pause = self.page, self.random.randint(0, LONGEST_MS)
        if how == "from inside":
            page.evaluate(
                "(pause) => { window.before = true; const once = () => setTimeout(() => location.reload(), pause);"
                " for (const kind of ['input', 'click']) addEventListener(kind, once, { once: true }); }",
                pause,
            )
            act()
            assert self.becomes("window.before === true", False)
            return
        if how == "crash":
            self.raw = raw_session(page)
            act()
            page.wait_for_timeout(pause)
            self.raw("Page.crash", answer=False)
            with contextlib.suppress(Exception):
                page.wait_for_event("crash")
            self.raw("Page.reload")
            return
        act()
        page.wait_for_timeout(pause)
        if how == "reload":
            page.reload()
        else:
            page.goto("about:blank")
            page.go_back()

    def run(self, numbers: Iterable[int]) -> Counter[tuple[str, str, bool]]:
        """How often what was lost: (edit, reload, whether it was there) -> times."""
        found: Counter[tuple[str, str, bool]] = Counter()
        for number in numbers:
            if self.page is None or self.raw is not None:
                self.open()
            edit, how = self.edits[number % 6], self.reloads[(number + number // 6) % 4]
            expression, wanted, act = self.prepare(edit)
            self.load_again(how, act)
            kept = self.becomes(expression, wanted)
            found[edit, how, kept] += 1
            if not kept:
                self.open()
        return found


def raw_session(page: Any) -> Callable[..., Any]:
    """Sends commands of the DevTools protocol to a tab past Playwright, which takes a crashed tab for closed."""
    own = page.context.new_cdp_session(page)
    target = own.send("Target.getTargetInfo")["targetInfo"]["targetId"]
    browser = page.context.browser.new_browser_cdp_session()
    session = browser.send("Target.attachToTarget", {"targetId": target, "flatten": False})["sessionId"]
    answers: dict[int, Any] = {}
    browser.on(
        "Target.receivedMessageFromTarget",
        lambda event: answers.update(
            {json.loads(event["message"]).get("id", 0): json.loads(event["message"])}
        ),
    )
    number = 0

    def send(method: str, answer: bool = True, **params: Any) -> Any:
        nonlocal number
        number += 1
        message = json.dumps({"id": number, "method": method, "params": params})
        browser.send("Target.sendMessageToTarget", {"sessionId": session, "message": message})
        end = time.monotonic() + LIMIT_S
        while answer and number not in answers and time.monotonic() < end:
            browser.send("Browser.getVersion")
            time.sleep(0.01)
        return answers.get(number, {}).get("result", {"result": {}})

    return send


def test_an_edit_is_there_whenever_and_however_the_page_is_loaded_again(
    app: Any, page: Callable[..., Any]
) -> None:
    """Each edit with two of the reloads, each reload with three of the edits: half of them each day."""
    tab = Tab(lambda: page().page, app.url, seed=1)
    found = tab.run(of_the_day(range(2 * len(Tab.edits)), len(Tab.edits)))
    assert [(edit, how) for edit, how, kept in found if not kept] == []


def opened(visit: Any, url: str) -> Any:
    """The enterprise example in a tab, one workload open."""
    shown = visit.start(url).page
    take(shown, "enterprise")
    open_workload(shown, "data-scientists")
    return shown


def enter(page: Any, path: str, text: str) -> None:
    """Type into an input, and leave it at once, whatever the session is doing."""
    at(page, path).fill(text)
    at(page, path).press("Tab")


def next_address(page: Any, before: str) -> str:
    """The fragment of the address once it is another one: it is written a moment later."""
    until(page, f"location.hash !== {before!r}")
    return str(page.evaluate("location.hash"))


def test_history_kept_designs_failed_hosts_and_refused_text_are_there(
    server: Callable[..., Any], page: Callable[..., Any]
) -> None:
    """After a reload, after the session has died, and after another server has taken its place."""
    running = server()
    visit = page()
    shown = opened(visit, running.url)
    for people in ("40", "48", "64"):
        enter(shown, PEOPLE, people)
        caught_up(shown)
    go(shown, "compare")
    at(shown, "keep").click()
    go(shown, "hosts")
    at(shown, "vgpu-host-2").click()
    shown.locator(".gp-host.failed").wait_for()
    go(shown, "usecases")
    enter(shown, SHARE, "most of them")
    at(shown, "totals.hosts").click()
    shown.locator(".gp-drawer .gp-formula").wait_for()

    def all_of_it() -> None:
        shown.locator(".gp-drawer .gp-formula").wait_for()
        is_value(shown, SHARE, "most of them")
        is_value(shown, PEOPLE, "64")
        shown.locator(f'[data-at="{SHARE}"][aria-invalid=true]').wait_for()
        caught_up(shown)
        assert shown.evaluate(QUIET)

    all_of_it()
    shown.reload()
    all_of_it()
    for kernel in running.kernels():
        with contextlib.suppress(ProcessLookupError):
            os.kill(kernel, signal.SIGKILL)
    renewed(shown, shown.locator("#gpuplan-reload").click)
    all_of_it()
    port = int(running.base.rpartition(":")[2].strip("/"))
    running.stop(signal.SIGKILL)
    server(port=port)
    renewed(shown, shown.locator("#gpuplan-reload").click)
    all_of_it()

    undo = at(shown, "undo")
    undo.click()  # the text that was refused
    is_value(shown, SHARE, "50 %")
    for people in ("48", "40"):
        undo.click()
        is_value(shown, PEOPLE, people)
    shown.reload()
    is_value(shown, PEOPLE, "40")
    at(shown, "redo").click()
    is_value(shown, PEOPLE, "48")
    go(shown, "hosts")
    shown.locator(".gp-host.failed").wait_for()
    go(shown, "compare")
    shown.locator('[data-at^="forget-kept"]').wait_for()
    assert visit.external == []


def test_what_is_typed_and_not_entered_is_there(app: Any, page: Callable[..., Any]) -> None:
    shown = opened(page(), app.url)
    name = shown.locator(".gp-name")
    name.press("End")
    name.press_sequentially(" of ours")
    shown.reload()
    until(shown, NAME, "Enterprise example of ours")
    people = shown.locator(f'[data-at="{PEOPLE}"]')
    people.fill("")  # about to type another number
    shown.reload()
    shown.locator(f'[data-at="{PEOPLE}"][aria-invalid=true]').wait_for()
    is_value(shown, PEOPLE, "")
    people.fill("50")
    people.press("Tab")
    people.fill("")
    people.press("Escape")  # given up
    shown.reload()
    is_value(shown, PEOPLE, "50")


def test_the_designs_of_two_entries_and_of_two_tabs_do_not_mix(app: Any, page: Callable[..., Any]) -> None:
    visit = page()
    shown = opened(visit, app.url)
    enter(shown, PEOPLE, "64")
    link = link_of(load_scenario("starter")).fragment
    shown.evaluate("(link) => { location.hash = link; }", link)
    name = shown.locator(".gp-name")

    def is_name(text: str) -> None:
        until(shown, NAME, text)

    is_name("Starter example")
    name.fill("Another one")
    name.press("Enter")
    shown.reload()
    is_name("Another one")
    shown.go_back()
    is_name("Enterprise example")
    is_value(shown, PEOPLE, "64")
    enter(shown, PEOPLE, "65")
    shown.go_forward()
    is_name("Another one")
    shown.goto(f"{app.url}#{link}")  # a link that is followed is what it says
    is_name("Starter example")
    shown.go_back()
    is_name("Another one")
    shown.go_back()
    is_value(shown, PEOPLE, "65")
    at(shown, "undo").click()
    is_value(shown, PEOPLE, "64")

    with visit.context.expect_page() as copied:  # the memory of a tab is copied with it
        shown.evaluate("() => { open(location.href); }")
    copy = copied.value
    caught_up(copy)
    copy.evaluate("(state) => history.replaceState(state, '')", shown.evaluate("history.state"))
    copy.reload()
    is_value(copy, PEOPLE, "64")
    enter(copy, PEOPLE, "70")
    enter(shown, PEOPLE, "80")
    for each, people in ((copy, "70"), (shown, "80")):
        each.reload()
        is_value(each, PEOPLE, people)
        at(each, "undo").click()
        is_value(each, PEOPLE, "64")
    copy.close()


def test_a_browser_without_room_or_without_storage_keeps_the_design(
    app: Any, page: Callable[..., Any]
) -> None:
    full = opened(page(), app.url)
    full.evaluate("""() => {
      for (let size = 1 << 22; size > 2000; size /= 2) {
        try {
          for (let n = 0; n < 3; n += 1) sessionStorage.setItem(`other ${size} ${n}`, "x".repeat(size));
        } catch { /* full */ }
      }
    }""")
    address = ""
    for people in range(40, 50):
        enter(full, PEOPLE, str(people))
        address = next_address(full, address)  # what the session has not taken yet has no room in the storage
    full.reload()
    open_workload(full, "data-scientists")
    is_value(full, PEOPLE, "49")

    visit = page()
    visit.context.add_init_script(
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    without = opened(visit, app.url)
    before = next_address(without, "")
    enter(without, PEOPLE, "64")
    next_address(without, before)
    without.reload()
    open_workload(without, "data-scientists")
    is_value(without, PEOPLE, "64")
    assert visit.errors == []


def test_a_memory_that_is_damaged_says_at_most_a_sentence(app: Any, page: Callable[..., Any]) -> None:
    visit = page()
    shown = opened(visit, app.url)
    next_address(shown, "")  # what is damaged is taken from there
    for garbage in of_the_day(GARBAGE, 4):
        open_workload(shown, "data-scientists")
        is_value(shown, PEOPLE, "32")
        shown.evaluate(
            "(garbage) => { for (const key of Object.keys(sessionStorage)) sessionStorage.setItem(key, garbage); }",
            garbage,
        )
        shown.reload()
        open_workload(shown, "data-scientists")
        is_value(shown, PEOPLE, "32")
    assert visit.errors == []


def test_the_estate_of_an_inventory_is_drawn_again(visit: Any, tmp_path: Path) -> None:
    page = visit.step("assistant", "hosts")
    open_tab(page, "hardware")
    cards = [card("0000:4a:00.0", L40S, 1), card("0000:61:00.0")]
    content = export([host(1, cards), host(2)], [vm(1, 1, vgpu("nvidia_l40s-48c"))])
    file = tmp_path / "vcenter.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    page.locator("input[type=file][accept*=xlsx]").set_input_files(file)
    page.locator(".gp-host.stuck .gp-gpu.stuck").wait_for()
    caught_up(page)
    page.reload()
    page.locator(".gp-host.stuck .gp-gpu.stuck").wait_for()
