"""When the kernel, the server or the network goes: the page says so in the right words, and the design is there again."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsing import (
    at,
    caught_up,
    enter,
    figures,
    go,
    have,
    is_value,
    renewed,
    reveal,
    take,
    wait_figure,
    wait_other,
)
from live_app import GIVEN_UP

pytest.importorskip("voila")

from gpuplan import load_catalog, load_scenario
from gpuplan.app.screen import WorkbookApp
from gpuplan.app.state import Workbook

pytestmark = [pytest.mark.browser, pytest.mark.by_day("loss", 4)]

PRICE = "prices.vcf-core-year"


class Network:
    """Between the browser and the server: can be cut, and can swallow what goes over the lines there are."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._lines: dict[socket.socket, socket.socket] = {}
        """Each end of a line and the other one."""
        self._swallowed: set[socket.socket] = set()
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self.port = 0
        self._entrance: socket.socket | None = None
        self.mend()
        self._running = True
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def cut(self) -> None:
        """Cut every line, and refuse new ones."""
        with self._lock:
            assert self._entrance is not None
            self._selector.unregister(self._entrance)
            self._entrance.close()
            self._entrance = None
            for end in list(self._lines):
                self._close(end)

    def mend(self) -> None:
        """Take new lines."""
        with self._lock:
            self._entrance = socket.create_server(("127.0.0.1", self.port))
            self.port = self._entrance.getsockname()[1]
            self._selector.register(self._entrance, selectors.EVENT_READ)

    def swallow(self) -> None:
        """Nothing arrives any more over the lines there are, and neither end learns of it; new ones work."""
        with self._lock:
            self._swallowed |= set(self._lines)

    def close(self) -> None:
        self._running = False
        self._thread.join()
        if self._entrance is not None:
            self.cut()
        self._selector.close()

    def _run(self) -> None:
        while self._running:
            ready = self._selector.select(0.05)
            with self._lock:
                for key, _ in ready:
                    with contextlib.suppress(OSError, KeyError):
                        self._carry(key.fileobj)

    def _carry(self, end: Any) -> None:
        if end is self._entrance:
            near, _ = end.accept()
            far = socket.create_connection(("127.0.0.1", self._to))
            self._lines |= {near: far, far: near}
            for each in (near, far):
                self._selector.register(each, selectors.EVENT_READ)
            return
        try:
            data = end.recv(1 << 16)
            if data and end not in self._swallowed:
                self._lines[end].sendall(data)
        except OSError:
            data = b""
        if not data:
            self._close(end)

    def _close(self, end: socket.socket) -> None:
        other = self._lines.pop(end, None)
        if other is None:
            return
        self._lines.pop(other)
        for each in (end, other):
            self._swallowed.discard(each)
            self._selector.unregister(each)
            each.close()


@pytest.fixture
def network() -> Iterator[Callable[[Any], Network]]:
    """Factory: a network to a server."""
    made: list[Network] = []

    def new(server: Any) -> Network:
        made.append(Network(int(server.base.rpartition(":")[2].strip("/"))))
        return made[-1]

    yield new
    for each in made:
        each.close()


def edited(page: Any) -> None:
    """The enterprise example with edits on two steps; the second is on the screen."""
    take(page, "enterprise")
    enter(page, "demand.stated_gpus", "")
    enter(page, "groups.data-scientists.people", "64")  # 8 GPUs more
    wait_figure(page, "totals.hosts", "10")
    go(page, "cost")
    reveal(page, PRICE)


def dialog_of(page: Any) -> Any:
    """What says that the session has ended."""
    return page.get_by_role("alertdialog")


def reload_from(dialog: Any) -> None:
    """Wait for the word that the session has ended, and follow its advice."""
    dialog.wait_for()
    renewed(dialog.page, dialog.locator("#gpuplan-reload").click)


def kernel_of(server: Any, before: list[int]) -> int:
    """The kernel of a page that has opened since."""
    (kernel,) = set(before) & set(server.kernels())
    return kernel


def test_an_event_sent_again_is_carried_out_once_and_in_its_turn() -> None:
    workbook = Workbook(load_catalog(), load_scenario("enterprise"))
    app = WorkbookApp(workbook)
    path = "demand.stated_gpus"

    def arrives(number: int, value: str) -> None:
        app._receive("set", {"path": path, "value": value, "number": number})

    arrives(1, "30")
    arrives(3, "34")  # the one before it was lost
    assert workbook.scenario.get(path) == 30
    for number, value in ((1, "30"), (2, "32"), (3, "34")):  # all that the page was not told of
        arrives(number, value)
    assert workbook.scenario.get(path) == 34
    workbook.undo()
    workbook.undo()
    assert workbook.scenario.get(path) == 30, "30 was set once"
    app._receive("set", {"path": path, "value": "36"})  # JupyterLab numbers nothing
    assert workbook.scenario.get(path) == 36


def test_what_a_lost_connection_has_swallowed_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    workbook = Workbook(load_catalog(), load_scenario("enterprise"))
    workbook.go("demand")
    app = WorkbookApp(workbook)
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(app._strip, "send", sent.append)
    app._receive("set", {"path": "demand.stated_gpus", "value": "34", "number": 1})
    changed = {part for message in sent for part in message["states"]}
    sent.clear()
    app._receive("again", {"held": []})
    (again,) = (message["states"] for message in sent)
    assert changed < set(again)
    assert again[app._strip.model_id] == {"data": app._strip.data}


def test_kernel_and_server_can_die_and_the_design_is_there_again(
    server: Callable[..., Any], page: Callable[..., Any]
) -> None:
    running = server()
    before = running.wait_kernels(1)
    shown = page().start(running.url).page
    dialog = dialog_of(shown)
    edited(shown)
    kernel = kernel_of(running, before)
    price = at(shown, PRICE)

    for nursery in running.nurseries():
        os.kill(nursery, signal.SIGKILL)
    enter(shown, PRICE, "500")
    have(shown, ".gp-sheet tbody", PRICE).locator("[data-at^=set-]").wait_for()  # back to the catalog
    other = page().start(running.url)
    take(other.page, "starter")
    wait_figure(other.page, "totals.gpus", "16")
    other.page.close()

    os.kill(kernel, signal.SIGSTOP)
    price.fill("700")  # nobody has heard of it
    os.kill(kernel, signal.SIGKILL)
    reload_from(dialog)
    is_value(shown, PRICE, "700")  # on the same step
    wait_figure(shown, "totals.hosts", "10")
    assert dialog.count() == 0
    caught_up(shown)
    cost = figures(shown)["cost.net_present"]

    port = int(running.base.rpartition(":")[2].strip("/"))
    running.stop(signal.SIGKILL)
    lost = shown.locator("#gpuplan-away")
    lost.wait_for()
    assert dialog.count() == 0, "whether the session has ended is not known"
    server(port=port)
    dialog.wait_for()
    assert not lost.is_visible()
    reload_from(dialog)
    is_value(shown, PRICE, "700")
    wait_figure(shown, "totals.hosts", "10")
    wait_figure(shown, "cost.net_present", cost)
    go(shown, "usecases")
    assert reveal(shown, "groups.data-scientists.people").input_value() == "64"
    assert reveal(shown, "demand.stated_gpus").input_value() == ""


SLOW = """if (!sessionStorage.getItem("loads")) {
  const after = window.setTimeout;
  window.setTimeout = (act, ms, ...rest) => after(act, ms === 100 ? 10000 : ms, ...rest);
}
sessionStorage.setItem("loads", `${Number(sessionStorage.getItem("loads")) + 1}`);"""
"""The first time that a tab loads a page it is so busy that ipywidgets, which looks for a widget each 100 ms, looks once in 2 s."""


def test_a_page_that_was_too_busy_to_find_its_widgets_is_loaded_again(
    app: Any, page: Callable[..., Any]
) -> None:
    visit = page()
    visit.context.add_init_script(SLOW)
    visit.start(app.url)
    assert [line for line in visit.console if GIVEN_UP in line], (
        "ipywidgets has changed: is loadAgain still needed?"
    )
    assert visit.page.evaluate("sessionStorage.getItem('loads')") == "2"
    take(visit.page, "enterprise")
    wait_figure(visit.page, "totals.hosts", "8")
    assert visit.page.evaluate("history.state.gpuplanLoads") == 1
    assert visit.errors == []


def test_the_network_can_go_and_come_back(
    server: Callable[..., Any], page: Callable[..., Any], network: Callable[[Any], Network]
) -> None:
    between = network(server())
    visit = page().start(f"http://127.0.0.1:{between.port}/")
    shown = visit.page
    lost = shown.locator("#gpuplan-away")
    edited(shown)
    price = at(shown, PRICE)
    seen = [figures(shown)["cost.net_present"]]

    def wait_changed() -> None:
        seen.append(wait_other(shown, "cost.net_present", seen[-1]))

    between.swallow()  # first, as the page takes no input once it has noticed that the line is cut
    price.fill("600")
    between.cut()
    lost.wait_for()
    assert shown.locator("#rendered_cells").evaluate("node => node.inert"), "no input that would be lost"
    assert figures(shown)["cost.net_present"] == seen[0]
    between.mend()
    lost.wait_for(state="hidden")
    wait_changed()  # what was typed meanwhile has arrived
    assert price.evaluate("node => node === document.activeElement")

    between.swallow()  # a laptop that slept: the connection is dead, and nobody has noticed
    price.fill("700")
    wait_changed()
    price.fill("800")
    wait_changed()

    visit.context.set_offline(True)
    lost.wait_for()
    visit.context.set_offline(False)
    lost.wait_for(state="hidden")
    price.fill("900")
    wait_changed()
    at(shown, "undo").click()
    wait_changed()
    assert dialog_of(shown).count() == 0
    assert visit.external == []
