"""A real server and a real browser, for the tests of the app and of its server: fixtures that all of them share."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browsing import FOCUS, go, take, violations
from processes import children_of, command_of, descendants
from programs import chromium, missing, needed
from waiting import LIMIT_S, soon

ROOT = Path(__file__).resolve().parents[1]
STATE = """({ ...document.documentElement.dataset, away: !document.getElementById("gpuplan-away")?.hidden,
  events: sessionStorage.getItem(`gpuplan:events:${history.state?.gpuplan}`) })"""
EVIDENCE = ROOT / "build" / "failed"
"""What a test in a browser leaves behind when it fails: pictures, consoles and logs."""
HEALTH = "voila/templates/gpuplan/static/health.txt"
# Chromium obeys the last of two lists: what Playwright takes off its own, and what the address bar of each new window shows
# when one types there: pages of Chromium's own, which cost a third of loading the workbook.
FEATURES_OFF = (
    "AimEnabled,AvoidCorsURLLoaderRestartOnRedirect,AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,"
    "HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,LensOverlay,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,"
    "PaintHolding,PreconnectToSearch,ThirdPartyStoragePartitioning,"
    "WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,WebUIOmniboxPopup"
)
CHROMIUM_ARGS = [
    "--no-sandbox",
    f"--disable-features={FEATURES_OFF}",
    "--process-per-site",  # what a tab has compiled is there for the next one
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # No other host exists. Not page.route(): requests that a closing page sends would be lost in it.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]


@pytest.fixture(scope="session")
def nginx() -> str:
    """The program nginx, as Debian has it."""
    return needed("nginx")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, started once; `GPUPLAN_CHROMIUM` names another one than /usr/bin/chromium."""
    from playwright.sync_api import sync_playwright

    path = chromium() or missing("Chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        yield launched
        launched.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say what was on the screen when a test in a browser failed."""
    report = yield
    if report.failed and item.get_closest_marker("browser"):
        report.sections.append(("on the screen", evidence(item.nodeid)))
    return report


def evidence(test: str) -> str:
    """Keep a picture and the console of each open page and the log of each running server; where, and the end of each text."""
    folder = EVIDENCE / re.sub(r"\W+", "_", test.removeprefix("tests/"))[-150:]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    texts = {f"server-{number}.log": running.text for number, running in enumerate(SERVERS)}
    for number, visit in enumerate(VISITS):
        with contextlib.suppress(Exception):  # the page may show nothing, or have crashed
            page = visit.page
            texts[f"page-{number}.html"] = page.locator("main").first.inner_html(timeout=20_000)
            declared = page.evaluate("JSON.stringify(document.documentElement.dataset)")
            shown = page.locator(
                "[aria-current], [aria-selected=true], .gp-notice, dialog[open]"
            ).all_inner_texts()
            lines = [
                *visit.console[-10:],
                page.url,
                "unanswered:",
                *visit.unanswered,
                *shown,
                "events:",
                *page.evaluate("window.lastEvents ?? []"),
                f"focus: {page.evaluate(FOCUS)}",
                str(visit.state),
                declared,
            ]
            texts[f"page-{number}.txt"] = "\n".join(lines)
            visit.page.screenshot(path=folder / f"page-{number}.png", timeout=20_000)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    ends = (
        f"--- {name}\n" + "\n".join(line[:300] for line in text.splitlines()[-50:])
        for name, text in texts.items()
        if not name.endswith("html")
    )
    return "\n".join([f"kept in {folder.relative_to(ROOT)}", *ends])


LAST_EVENTS = """(() => {
  if (window !== top) return;  // a preview runs no script, and says so
  const last = window.lastEvents = [];
  const note = (...words) => {
    last.push([new Date().toISOString().slice(14, 23), ...words].join(" "));
    if (last.length > 30) last.shift();
  };
  const name = (node) => node?.dataset?.at || [node?.nodeName, node?.className].join(".");
  for (const kind of ["focusin", "focusout", "pointerdown", "pointerup", "click", "keydown", "change", "popstate"]) {
    addEventListener(kind, ({ type, target, key }) => note(type, name(target), key ?? ""), true);
  }
  new MutationObserver(() => {
    const { state, revision, working } = document.documentElement.dataset;
    note("page", state, revision, working);
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-state", "data-revision"] });
})()"""
"""What was done on the page at last and what it declared meanwhile: how a state that did not come was missed."""
LEAVING_MS = (6_000, 12_000)
"""How long notices stay: see ``STAYS`` in ``bar.js``."""
OWN_TIMERS = f"""(() => {{
  const after = window.setTimeout, leaving = new Map(), never = 2 ** 31 - 1;
  window.setTimeout = (act, ms, ...rest) => {{
    const timer = after(act, {list(LEAVING_MS)}.includes(ms) ? never : ms, ...rest);
    if ({list(LEAVING_MS)}.includes(ms)) leaving.set(timer, act);
    return timer;
  }};
  window.passTime = () => {{ for (const [timer, act] of leaving) {{ clearTimeout(timer); act(); }} leaving.clear(); }};
}})()"""
"""What leaves the page by itself stays until the test lets time pass: on a busy machine it would be gone before it is looked at."""


def new_context(browser: Any, **options: Any) -> Any:
    """Somebody's browser: cookies, storage and what was loaded once are their own."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    context.set_default_timeout(1000 * LIMIT_S)
    context.add_init_script(OWN_TIMERS)
    context.add_init_script(LAST_EVENTS)
    return context


@pytest.fixture(scope="session")
def household(browser: Any, app: Server) -> Callable[[bool], Any]:
    """The browser that most tests share, as loading all of the page anew takes longer than a test; and one for axe, without the policy."""

    @functools.cache
    def new(bypass_csp: bool) -> Any:
        context = new_context(browser, bypass_csp=bypass_csp)
        context.new_page().goto(f"{app.base}{HEALTH}")  # stays, and with it the process of this address
        return context

    return new


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay)


SERVERS: list[Server] = []
"""The servers that run."""
VISITS: list[Visit] = []
"""The pages of the test that runs."""


@pytest.fixture(autouse=True)
def no_visits() -> None:
    """Forget the pages of the test before."""
    VISITS.clear()


OWN_CLOCK = """
import sys
from pathlib import Path
from gpuplan.serve import identity, sessions
real, passed = sessions.now, Path({path!r})
def now():
    return 1000.0 + float(passed.read_text())
for module in list(sys.modules.values()):
    if getattr(module, "now", None) is real:
        module.now = now
identity.Guesses.__init__.__defaults__ = (now,)
"""
"""What a server runs first whose time passes when the test says so, and not otherwise."""


@dataclass
class Server:
    """A running `gpuplan app`."""

    process: subprocess.Popen[str]
    url: str
    log: Path
    passed_s: float = 0.0
    """How much more time has passed for it than for others."""

    def pass_time(self, seconds: float) -> None:
        """Let time pass for a server with an ``own_clock``."""
        self.passed_s += seconds
        _write_whole(_clock_of(self.log), str(self.passed_s))

    def wait_gone(self, gone: Callable[[], bool]) -> None:
        """Let time pass again and again, as the server may not have noticed yet that a page has left, until a session is gone."""

        from gpuplan.serve.options import Options

        def passed() -> bool:
            self.pass_time(2 * Options.vanished_s)
            return gone()

        soon(passed, "the session is still there", pause_s=0.5)

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
            with OPENER.open(request, timeout=LIMIT_S) as answer:
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
        return [pid for pid in children_of(self.process.pid) if "gpuplan.serve.forking" in command_of(pid)]

    def kernels(self) -> list[int]:
        """Process ids of its kernels (Linux), forked or not."""
        forking = self.nurseries()
        ordinary = [pid for pid in children_of(self.process.pid) if pid not in forking]
        return [*ordinary, *(kernel for pid in forking for kernel in children_of(pid))]

    def wait_kernels(self, number: int, timeout: float = LIMIT_S) -> list[int]:
        """Wait until it has so many kernels, and none of them is only on its way: the same ones, looked at again and again."""
        end, seen = time.monotonic() + timeout, [[-1]]
        while time.monotonic() < end and not (len(seen[-1]) == number and seen[-1:] * 5 == seen[-5:]):
            time.sleep(0.1)
            seen.append(sorted(self.kernels()))
        return self.kernels()

    @contextlib.contextmanager
    def halted(self, command: str) -> Iterator[None]:
        """Inside the block the command of gpuplan that a session runs in the background goes no further: it does not end by itself."""

        def at_work() -> int | None:
            wanted = ["-m", "gpuplan.cli", command]
            return next(
                (pid for pid in descendants(self.process.pid) if command_of(pid)[1:4] == wanted), None
            )

        pid = soon(at_work, f"no {command} is at work", pause_s=0)
        assert pid
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


def _clock_of(log: Path) -> Path:
    """Where a server finds how much more time has passed for it."""
    return log.with_name("passed")


def _write_whole(path: Path, text: str) -> None:
    """Write a file of which nobody sees a part."""
    path.with_suffix(".new").write_text(text, encoding="ascii")
    path.with_suffix(".new").replace(path)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Factory: `server(notebook=..., token=...)` starts a real server on a free port and waits for it.

    Arguments are those of `gpuplan.serve.server.Options`; `cwd` and `env` are the process's own. With an `own_clock` time
    passes for it when the test says so: see ``Server.pass_time``.
    """

    def start(
        *,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        own_clock: bool = False,
        **arguments: Any,
    ) -> Server:
        folder = tmp_path_factory.mktemp("server")
        arguments = {"port": 0, **arguments}
        code = (
            (OWN_CLOCK.format(path=str(_clock_of(folder / "log.txt"))) if own_clock else "")
            + "import sys\nfrom pathlib import PosixPath, WindowsPath\n"
            "from gpuplan.serve.server import serve\n"
            f"sys.exit(serve(**{arguments!r}))"
        )
        log = folder / "log.txt"
        _write_whole(_clock_of(log), "0")
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
        SERVERS.append(running)
        soon(
            lambda: " is running at " in running.text or process.poll() is not None,
            "the server did not start",
        )
        assert process.poll() is None, f"the server did not start:\n{running.text}"
        running.url = running.text.partition(" is running at ")[2].split()[0]
        assert running.healthy()
        return running

    yield start
    for running in SERVERS:
        running.stop()
    SERVERS.clear()


GIVEN_UP = "widget model not found"
"""What ipywidgets says in the console on a busy machine; the page then loads itself again: see ``loadAgain`` in ``gpuplan.js``."""


@dataclass
class Visit:
    """A page and what it did that it should not have done."""

    page: Any
    context: Any
    external: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    """Requests whose answers are on their way."""

    @property
    def state(self) -> dict[str, str]:
        """What the page declares of itself, see ``declare`` in ``bar.js``, and the events that its session has not taken."""
        return dict(self.page.evaluate(STATE))

    def open(self, url: str, text: str | None = None) -> Visit:
        """Go to the address and wait for a text that a widget shows."""
        self.page.goto(url)
        if text:
            self.page.get_by_text(text).first.wait_for()
        return self

    def start(self, url: str) -> Visit:
        """Go to the start page of the workbook."""
        self.page.goto(url)
        self.page.locator(".gp-pick").first.wait_for()
        return self

    def design(self, url: str) -> Visit:
        """Go to an address that opens with a design."""
        self.page.goto(url)
        self.page.locator('.gp-head[data-step="usecases"]').wait_for()
        return self

    def step(self, example: str, step: str) -> Any:
        """Take an example and go to a step."""
        take(self.page, example)
        go(self.page, step)
        return self.page

    def unfold(self) -> None:
        """Open all that is folded on this step."""
        folded = self.page.locator(".gp-page:visible details:not([open]) > summary")
        folded.evaluate_all("(all) => all.forEach((each) => each.click())")

    def faults(self, **options: Any) -> list[str]:
        """What axe finds wrong with the page, and whether it scrolls sideways; the context has to bypass the policy."""
        found = violations(self.page, **options)
        fits = self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        return found if fits else [*found, "scrolls sideways"]


@pytest.fixture(scope="session")
def app(server: Callable[..., Any]) -> Any:
    """`gpuplan app` without a file."""
    return server()


@pytest.fixture
def visit(app: Any, tab: Callable[..., Visit]) -> Iterator[Visit]:
    """The start page; no request may leave the machine and no error may be logged."""
    opened = tab().start(app.url)
    yield opened
    assert opened.external == []
    assert opened.errors == []


def watched(context: Any) -> Visit:
    """A new tab that records requests beyond localhost (all fail) and errors."""
    visit = Visit(context.new_page(), context)
    VISITS.append(visit)

    def request(request: Any) -> None:
        visit.unanswered.append(request.url)
        url = urlsplit(request.url)
        if url.hostname not in ("localhost", "127.0.0.1", None):
            visit.external.append(request.url)

    def console(message: Any) -> None:
        visit.console.append(f"{message.type}: {message.text}")
        wrong = message.type == "error" or message.text.startswith(
            "WARN"
        )  # so begins what Vega says of a chart
        if wrong and GIVEN_UP not in message.text:
            visit.errors.append(message.text)

    def answered(request: Any) -> None:
        with contextlib.suppress(ValueError):
            visit.unanswered.remove(request.url)

    visit.page.on("request", request)
    visit.page.on("requestfinished", answered)
    visit.page.on("requestfailed", answered)
    visit.page.on("console", console)
    visit.page.on("pageerror", lambda error: visit.errors.append(str(error)))
    return visit


# Each page says farewell to its server when it closes. Its context stays until the browser ends: closing it would cut the
# farewell off, and leave a kernel that the next test counts.


@pytest.fixture
def page(browser: Any) -> Iterator[Callable[..., Visit]]:
    """Factory: a page in a browser of its own, as of another person."""
    contexts: list[Any] = []

    def new(context: Any = None, **options: Any) -> Visit:
        contexts.append(context or new_context(browser, **options))
        return watched(contexts[-1])

    yield new
    for context in contexts:
        for open_page in context.pages:
            open_page.close()


@pytest.fixture
def tab(household: Callable[[bool], Any]) -> Iterator[Callable[..., Visit]]:
    """Factory: a tab in the browser that tests share; cookies and storage are as new.

    Storage is cleared by the page that stays, when the others are gone: a page that closes keeps its last change.
    """
    contexts: list[Any] = []

    def new(bypass_csp: bool = False) -> Visit:
        context = household(bypass_csp)
        if context not in contexts:
            context.clear_cookies()
            context.pages[0].evaluate("localStorage.clear()")
            contexts.append(context)
        return watched(context)

    yield new
    for context in contexts:
        for open_page in context.pages[1:]:
            open_page.close()


@pytest.fixture
def children() -> Callable[[int], list[int]]:
    """Gives the children of a process."""
    return children_of


@pytest.fixture
def plain_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """No event loop in this thread, as in a plain script; the browser of other tests leaves one here that stands still."""
    monkeypatch.setattr("gpuplan.app.idle_work.running_loop", lambda: None)
