"""Behind a real JupyterHub and its proxy: two services that share the users, and a server for each user.

What is started is what `deploy/` tells an administrator to copy, with other ports, folders and the dummy authenticator.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import html
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from browsing import enter, take, wait_figure
from processes import command_of, descendants, variables_of
from programs import needed
from random_cases import examples
from waiting import LIMIT_S, soon

pytest.importorskip("voila")

from gpuplan.app.uploading import SCRATCH
from gpuplan.serve.channels import PROTOCOL
from gpuplan.serve.forking import SINGLE, passed
from gpuplan.serve.server import HEALTH

pytestmark = [pytest.mark.browser, pytest.mark.by_day("hub", 2)]

ROOT = Path(__file__).resolve().parents[2]
ONE, TWO = "/services/gpuplan-1/", "/services/gpuplan-2/"
FILES_MORE = 8
"""Files that a server may have open afterwards that it had not before."""
SESSIONS = examples(24, few=8)
"""Sessions that are opened and closed one after the other, half of them at each server: if each left a file open, it would show."""

CONFIG = """
import sys
from pathlib import Path

c = get_config()
c.JupyterHub.services, c.JupyterHub.load_roles = [], []
text = Path(root, "deploy/gpuplan_config.py").read_text()
text = text.replace("/opt/gpuplan/bin/gpuplan", str(Path(sys.executable).with_name("gpuplan")))
Path(temporary, "gpuplan_config.py").write_text(text.replace("ONLY_GPUPLAN = False", "ONLY_GPUPLAN = True"))
load_subconfig(temporary + "/gpuplan_config.py")
load_subconfig(root + "/deploy/gpuplan_singleuser_config.py")
c.JupyterHub.bind_url = f"http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = ports[1]
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = [proxy]
for service, port in zip(c.JupyterHub.services, ports[3:]):
    service["url"] = f"http://127.0.0.1:{port}"
    service["environment"]["TMPDIR"] = temporary
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = temporary + "/{username}"
c.Spawner.environment = {"TMPDIR": temporary, "JUPYTERHUB_ACTIVITY_INTERVAL": "1"}
"""


@dataclass
class Hub:
    """A running Hub with its proxy and its services."""

    process: subprocess.Popen[bytes]
    url: str
    temporary: Path
    log: Path

    def server(self, path: str) -> int:
        """Process of the server at a path."""
        mine = f"JUPYTERHUB_SERVICE_PREFIX={path}"
        servers = [pid for pid in descendants(self.process.pid) if "--sessions" in command_of(pid)]
        (found,) = [pid for pid in servers if mine in variables_of(pid)]
        return found

    def forked(self, pid: int) -> list[int]:
        """Processes of a service: what forks, and the sessions, warm ones among them, each with its process for long work."""
        return [each for each in descendants(pid) if "gpuplan.serve.forking" in command_of(each)]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """The Hub, with both services up. All that it started has ended after it."""
    program, proxy = needed("jupyterhub"), needed("configurable-http-proxy")
    folder = tmp_path_factory.mktemp("hub")
    temporary = Path(tempfile.mkdtemp(prefix="gph-", dir="/tmp"))  # short: sockets have their names in it
    with contextlib.ExitStack() as free:
        taken = [free.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(5)]
        ports = [each.getsockname()[1] for each in taken]
    values = {"root": str(ROOT), "ports": ports, "proxy": proxy, "temporary": str(temporary)}
    (folder / "config.py").write_text(f"globals().update({values!r})\n{CONFIG}")
    log = folder / "log.txt"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with log.open("wb") as file:
        process = subprocess.Popen(
            [program, "-f", "config.py"],
            cwd=folder,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
            start_new_session=True,
        )

    def started() -> list[int]:
        """All that the Hub has started, and the Hub: their temporary folder tells."""
        pids = [int(each.name) for each in Path("/proc").glob("[0-9]*")]
        return [pid for pid in pids if f"TMPDIR={temporary}" in variables_of(pid)]

    running = Hub(process, f"http://127.0.0.1:{ports[0]}", temporary, log)
    try:
        soon(
            lambda: process.poll() is not None or "JupyterHub is now running" in log.read_text(),
            "the Hub did not start",
        )
        assert process.poll() is None, log.read_text()
        yield running
        process.send_signal(signal.SIGTERM)
        process.wait(LIMIT_S)
        soon(lambda: not started(), "something that the Hub started is still there")
        left = list(temporary.glob("gpuplan-*"))
        assert len(left) <= 1, (
            "only the server that is killed below leaves its folder, for the next to remove"
        )
    finally:
        for pid in started():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(LIMIT_S)
        shutil.rmtree(temporary, ignore_errors=True)


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Client:
    """A browser without a screen, of a user who has signed in at the Hub or of nobody."""

    def __init__(self, hub: Hub, name: str = "") -> None:
        self._hub = hub
        self._jar = CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), _Stay, urllib.request.HTTPCookieProcessor(self._jar)
        )
        if name:
            self.ask("/hub/login")
            form = {"username": name, "password": "any", "_xsrf": self.xsrf("/hub/")}
            assert self.ask("/hub/login", form)[0] == 302

    def xsrf(self, path: str) -> str:
        """What a page at this path sends back to show that it is a page of this site."""
        return next((each.value or "" for each in self._jar if (each.name, each.path) == ("_xsrf", path)), "")

    def ask(self, path: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, str, Any]:
        """Status, body and headers of a GET or of a POST with a form."""
        data = None if form is None else urlencode(form).encode()
        request = urllib.request.Request(self._hub.url + path, data, {"Accept": "text/html", **headers})
        try:
            with self._opener.open(request, timeout=LIMIT_S) as answer:
                return answer.status, answer.read().decode(), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), error.headers

    def visit(self, path: str) -> tuple[int, str]:
        """Status and body of a page, after all redirects."""
        for _ in range(10):
            status, body, headers = self.ask(path)
            link = re.search(r'id="gpuplan-leave" href="([^"]+)"', body)
            if status != 302 and link is None:
                return status, body
            path = html.unescape(link[1]) if link else headers["Location"]
        raise AssertionError("redirected again and again")

    def page(self, path: str) -> str:
        """Open a page; its kernel."""
        status, body = self.visit(path)
        assert status == 200, body
        return re.findall(r'"kernelId": "([^"]+)"', body)[0]  # type: ignore[no-any-return]

    def channels(self, path: str, kernel: str) -> int:
        """Status of the answer to a page that connects to its session; the connection is closed again."""
        at = urlsplit(self._hub.url + path)
        cookies = [f"{each.name}={each.value}" for each in self._jar if path.startswith(each.path)]
        lines = [
            f"GET {path}api/kernels/{kernel}/channels HTTP/1.1",
            f"Host: {at.netloc}",
            f"Origin: {self._hub.url}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-Fetch-Mode: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {base64.b64encode(secrets.token_bytes(16)).decode()}",
            f"Sec-WebSocket-Protocol: {PROTOCOL}",
            f"Cookie: {'; '.join(cookies)}",
        ]
        with socket.create_connection((at.hostname, at.port), timeout=LIMIT_S) as line:  # type: ignore[arg-type]
            line.sendall("\r\n".join([*lines, "", ""]).encode())
            return int(line.makefile("rb").readline().split()[1])

    def answers(self, path: str, kernel: str) -> dict[str, int]:
        """Status of each request that a page sends for its session; the last one ends it."""
        xsrf = self.xsrf(path)
        fetched = {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin", "X-XSRFToken": xsrf}
        return {
            "alive": self.ask(f"{path}gpuplan/session/{kernel}", **fetched)[0],
            "kernel": self.ask(f"{path}api/kernels/{kernel}", **fetched)[0],
            "channels": self.channels(path, kernel),
            "shutdown": self.ask(f"{path}voila/api/shutdown/{kernel}", {"_xsrf": xsrf})[0],
        }


def sign_in(page: Any, name: str) -> None:
    """Fill in the Hub's form."""
    page.get_by_label("Username:").fill(name)
    page.get_by_label("Password:").fill("any")
    page.get_by_role("button", name="Sign in").click()


def test_without_a_cookie_nothing_is_given(hub: Hub) -> None:
    kernel = Client(hub, "anna").page(ONE)
    stranger = Client(hub)
    status, _, headers = stranger.ask(ONE)
    assert (status, headers["Location"].partition("?")[0]) == (302, f"{ONE}sign-in")
    status, body = stranger.visit(ONE)
    assert (status, "Username:" in body) == (200, True), "the Hub asks who it is"
    assert set(stranger.answers(ONE, kernel).values()) == {403}
    (url,) = [each for each in variables_of(hub.server(ONE)) if each.startswith("JUPYTERHUB_SERVICE_URL=")]
    around = Client(dataclasses.replace(hub, url=url.partition("=")[2]))
    assert set(around.answers(ONE, kernel).values()) == {403}, "the proxy is not the only guard"
    assert stranger.ask(ONE + HEALTH)[:2] == (200, "ok\n")


def test_a_session_is_for_the_browser_that_opened_it(hub: Hub) -> None:
    anna = Client(hub, "anna")
    kernel = anna.page(ONE)
    for other in (Client(hub, "ben"), Client(hub, "anna")):
        other.page(ONE)
        assert set(other.answers(ONE, kernel).values()) == {404}
    assert anna.ask(f"{ONE}voila/api/shutdown/{kernel}", {})[0] == 403, (
        "a page of another site sends no token"
    )
    assert anna.answers(ONE, kernel) == {"alive": 200, "kernel": 200, "channels": 101, "shutdown": 204}
    kernel = anna.page(ONE)
    assert anna.ask("/hub/logout")[0] == 302
    assert set(anna.answers(ONE, kernel).values()) == {403}, (
        "who has signed out at the Hub is signed out here"
    )


def test_no_secret_reaches_a_page_or_a_session(hub: Hub) -> None:
    anna = Client(hub, "anna")
    _, body = anna.visit(ONE)
    server = hub.server(ONE)
    (token,) = [each for each in variables_of(server) if each.startswith("JUPYTERHUB_API_TOKEN=")]
    token = token.partition("=")[2]
    assert token not in body
    assert "token" not in body.lower()
    forked = hub.forked(server)
    assert len(forked) > 1
    for pid in forked:
        variables = variables_of(pid)
        assert not any(token in each for each in variables)
        seen = {name: value for name, _, value in (each.partition("=") for each in variables if each)}
        own = {SCRATCH, *SINGLE, *(name for name in seen if name.startswith("JPY_"))}
        assert set(seen) - own == set(passed(seen)) - own


def test_sessions_come_and_go_and_leave_nothing_behind(hub: Hub) -> None:
    services = {path: hub.server(path) for path in (ONE, TWO)}

    def opened(path: str, count: int) -> None:
        client = Client(hub, f"user{path[-2]}")
        for _ in range(count):
            answers = client.answers(path, client.page(path))
            assert answers == {"alive": 200, "kernel": 200, "channels": 101, "shutdown": 204}

    def used() -> dict[str, tuple[int, int, int]]:
        """Processes that fork and warm sessions, folders of sessions, and open files, of each service."""
        return {
            path: (
                len(hub.forked(pid)),
                len(list(hub.temporary.glob("gpuplan-*/session-*"))),
                len(os.listdir(f"/proc/{pid}/fd")),
            )
            for path, pid in services.items()
        }

    for path in services:
        opened(path, 2)
    # of each service: what forks, and one warm session of two processes, with its folder; pages of other tests may be going yet
    soon(lambda: all(each[:2] == (3, 2) for each in used().values()), "sessions are left from before")
    before = used()
    with ThreadPoolExecutor() as both:
        list(both.map(lambda path: opened(path, SESSIONS // 2), services))
    soon(lambda: all(each[:2] == (3, 2) for each in used().values()), "sessions are left")
    # connections that wait for a next request go after a while
    soon(
        lambda: all(files <= before[path][2] + FILES_MORE for path, (_, _, files) in used().items()),
        "files are left",
    )
    assert services == {path: hub.server(path) for path in services}, "no service was started anew"


def test_each_user_can_have_a_server(hub: Hub, page: Callable[..., Any]) -> None:
    visit = page()
    visit.page.goto(f"{hub.url}/hub/spawn")
    sign_in(visit.page, "clara")
    take(visit.page, "enterprise")
    wait_figure(visit.page, "totals.hosts", "8")
    assert urlsplit(visit.page.url).path == "/user/clara/"

    def reported() -> str:
        model = visit.page.request.get(
            f"{hub.url}/hub/api/user", headers={"Referer": f"{hub.url}/hub/"}
        ).json()
        return str(model["servers"][""]["last_activity"])

    before = reported()
    soon(lambda: reported() != before, "an open page is no activity")
    server = hub.server("/user/clara/")
    soon(
        lambda: len(hub.forked(server)) == 5,
        "what forks, and two sessions, each with its process for long work at rest",
    )
    visit.page.close()
    soon(lambda: len(hub.forked(server)) == 3, "the session of the page that closed")
    assert Client(hub, "ben").visit("/user/clara/")[0] == 403
    assert visit.external == []


def test_a_design_outlives_its_server_and_signing_in(hub: Hub, page: Callable[..., Any]) -> None:
    """The last test: one of the services is killed."""
    visit = page()
    shown = visit.page
    shown.goto(hub.url)
    sign_in(shown, "anna")
    take(shown, "enterprise")
    wait_figure(shown, "totals.hosts", "8")
    enter(shown, "groups.data-scientists.people", "36")
    wait_figure(shown, "totals.hosts", "9")
    shown.wait_for_url("**#s=**")
    here = urlsplit(shown.url).path
    there = {ONE: TWO, TWO: ONE}[here]
    anna = Client(hub, "anna")
    assert anna.ask("/hub/")[2]["Location"] == here
    os.kill(hub.server(here), signal.SIGKILL)
    soon(lambda: anna.ask("/hub/")[2]["Location"] == there, "users do not arrive where a service answers")
    shown.wait_for_url(f"**{there}#s=**")
    wait_figure(shown, "totals.hosts", "9")
    assert visit.external == []

    colleague = page()
    colleague.page.goto(shown.url)
    sign_in(colleague.page, "ben")
    wait_figure(colleague.page, "totals.hosts", "9")
    assert urlsplit(colleague.page.url).path == there
