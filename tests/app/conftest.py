"""A real server and a real browser for the tests of the app."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import Message
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEALTH = "voila/templates/gpuplan/static/health.txt"
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # No other host exists. Not page.route(): requests that a closing page sends would be lost in it.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]


def missing(what: str) -> None:
    """Skip the test for want of a tool; in CI that is a failure."""
    message = f"{what} is missing: the browser tests cannot run"
    if os.environ.get("CI"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="session")
def nginx() -> str:
    """The program nginx, as Debian has it."""
    path = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if path is None:
        missing("nginx")
    return str(path)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, started once; `GPUPLAN_CHROMIUM` names another one than /usr/bin/chromium."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        missing("playwright")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("GPUPLAN_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        try:
            # None: the one that "playwright install chromium" has put in its own place
            chromium = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        except Error:
            missing("Chromium")
        yield chromium
        chromium.close()


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay)


def children_of(parent: int) -> list[int]:
    """Process ids of the children of a process that run (Linux)."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, whose = status.read_text().rpartition(")")[2].split()[:2]
            if int(whose) == parent and state != "Z":
                found.append(int(status.parent.name))
    return found


@dataclass
class Server:
    """A running `gpuplan app`."""

    process: subprocess.Popen[str]
    url: str
    log: Path

    @property
    def base(self) -> str:
        """Address without token."""
        return self.url.partition("?")[0]

    @property
    def text(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(encoding="utf-8")

    def ask(
        self,
        path: str = "",
        *,
        host: str | None = None,
        data: bytes | None = None,
        method: str | None = None,
        **headers: str,
    ) -> tuple[int, str, Message]:
        """Status, body and headers of a GET (with data: a POST) below its address; follows no redirect."""
        url = urlsplit(self.base)
        address = f"{url.scheme}://{host or url.hostname}:{url.port}{url.path}{path}"
        request = urllib.request.Request(address, data=data, headers=headers, method=method)
        try:
            with OPENER.open(request, timeout=30) as answer:
                return answer.status, answer.read().decode(), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), error.headers

    def visit(self, **headers: str) -> tuple[int, str, Message]:
        """Status, body and headers of the page, asked for as a browser does that a person sends there."""
        return self.ask(Accept="text/html", **headers)

    def healthy(self) -> bool:
        """Whether its health check answers."""
        return self.ask(HEALTH)[:2] == (200, "ok\n")

    def nurseries(self) -> list[int]:
        """Process ids of what forks its kernels (Linux)."""
        return [
            pid
            for pid in children_of(self.process.pid)
            if b"gpuplan.app.forking" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]

    def kernels(self) -> list[int]:
        """Process ids of its kernels (Linux), forked or not."""
        forking = self.nurseries()
        ordinary = [pid for pid in children_of(self.process.pid) if pid not in forking]
        return [*ordinary, *(kernel for pid in forking for kernel in children_of(pid))]

    def wait_kernels(self, number: int, timeout: float = 60) -> list[int]:
        """Wait until it has so many kernels, and still has half a second later."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if len(self.kernels()) == number:
                time.sleep(0.5)
                if len(self.kernels()) == number:
                    break
            time.sleep(0.1)
        return self.kernels()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Factory: `server(notebook=..., token=...)` starts a real server on a free port and waits for it.

    Arguments are those of `gpuplan.app.serve.server.Options`; `cwd` and `env` are the process's own.
    """
    started: list[Server] = []

    def start(*, cwd: Path | None = None, env: dict[str, str] | None = None, **arguments: Any) -> Server:
        folder = tmp_path_factory.mktemp("server")
        arguments = {"port": 0, **arguments}
        code = (
            "import sys\nfrom pathlib import PosixPath, WindowsPath\n"
            "from gpuplan.app.serve import serve\n"
            f"sys.exit(serve(**{arguments!r}))"
        )
        log = folder / "log.txt"
        environ = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
        with log.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=cwd or folder,
                env=environ,
                text=True,
            )
        running = Server(process, "", log)
        started.append(running)
        end = time.monotonic() + 60
        while time.monotonic() < end and process.poll() is None:
            if " is running at " in running.text:
                running.url = running.text.partition(" is running at ")[2].split()[0]
                assert running.healthy()
                return running
            time.sleep(0.05)
        raise AssertionError(f"the server did not start:\n{running.text}")

    yield start
    for running in started:
        running.stop()


@dataclass
class Visit:
    """A page and what it did that it should not have done."""

    page: Any
    context: Any
    external: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, url: str, text: str | None = None) -> Visit:
        """Go to the address and wait for a text that a widget shows."""
        self.page.goto(url)
        if text:
            self.page.get_by_text(text).first.wait_for(timeout=30000)
        return self

    def step(self, example: str, name: str) -> Any:
        """Take an example and go to a step."""
        self.page.get_by_text(example).first.click()
        self.page.locator("nav").get_by_text(name).click()
        self.page.get_by_role("heading", name=name, level=1).wait_for()
        return self.page

    def unfold(self) -> None:
        """Open all that is folded on this step."""
        for folded in self.page.locator(".gp-page:visible summary").all():
            folded.click()

    def faults(self) -> list[str]:
        """What axe finds wrong with the page, and whether it scrolls sideways; the context has to bypass the policy."""
        self.page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
        violations = self.page.evaluate("axe.run()")["violations"]
        found = [f"{v['id']}: {n['html'][:120]}" for v in violations for n in v["nodes"]]
        fits = self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        return found if fits else [*found, "scrolls sideways"]


@pytest.fixture(scope="module")
def app(server: Callable[..., Any]) -> Any:
    """`gpuplan app` without a file."""
    return server()


@pytest.fixture
def example(app: Any, page: Callable[..., Any]) -> Iterator[Callable[[str, str], Any]]:
    """Takes an example and goes to a step; no request may leave the machine and no error may be logged."""
    opened = page().open(app.url, "Enterprise example")
    yield opened.step
    assert opened.external == []
    assert opened.errors == []


@pytest.fixture
def audited(app: Any, browser: Any, page: Callable[..., Any]) -> Callable[[str, int], Any]:
    """Opens the app in a theme and width for :meth:`Visit.faults`."""

    def opened(theme: str, width: int) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True)
        return page(context).open(f"{app.url}?theme={theme}", "Enterprise example")

    return opened


@pytest.fixture
def page(browser: Any) -> Iterator[Callable[..., Visit]]:
    """Factory: a page in its own context that records requests beyond localhost (all fail) and errors."""
    contexts: list[Any] = []

    def new(context: Any = None, **options: Any) -> Visit:
        context = context or browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        visit = Visit(context.new_page(), context)

        def request(request: Any) -> None:
            url = urlsplit(request.url)
            if url.hostname not in ("localhost", "127.0.0.1", None):
                visit.external.append(request.url)

        def console(message: Any) -> None:
            if message.type == "error":
                visit.errors.append(message.text)

        visit.page.on("request", request)
        visit.page.on("console", console)
        visit.page.on("pageerror", lambda error: visit.errors.append(str(error)))
        return visit

    yield new
    # Each page says farewell to its server when it closes. The context stays until the browser ends: closing it
    # would cut the farewell off, and leave a kernel that the next test counts.
    for context in contexts:
        for open_page in context.pages:
            open_page.close()


@pytest.fixture
def children() -> Callable[[int], list[int]]:
    """Gives the children of a process."""
    return children_of


@pytest.fixture
def plain_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """No event loop in this thread, as in a plain script; the browser of other tests leaves one here that stands still."""
    monkeypatch.setattr("gpuplan.app.background.running_loop", lambda: None)
