"""Behind a reverse proxy that passes a path, with a token: the whole journey, two users at once, and who is let in."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import at, download, enter, go, take, wait_figure
from waiting import LIMIT_S, soon

pytest.importorskip("voila")

from gpuplan.app.state import STEPS
from gpuplan.serve import server as serving

pytestmark = pytest.mark.browser

TOKEN = "token-of-the-team"
PREFIX = "/gpuplan/"

NGINX = """
daemon off;
master_process off;
pid "{folder}/nginx.pid";
error_log "{folder}/error.log";
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path "{folder}/body";
  proxy_temp_path "{folder}/proxy";
  fastcgi_temp_path "{folder}/fastcgi";
  uwsgi_temp_path "{folder}/uwsgi";
  scgi_temp_path "{folder}/scgi";
  map $http_upgrade $connection_upgrade {{ default upgrade; "" close; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ return 404; }}
    location /gpuplan/ {{
      proxy_pass http://127.0.0.1:{to};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_read_timeout 1h;
      client_max_body_size 32m;
    }}
  }}
}}
"""


@pytest.fixture(scope="module")
def site(server: Callable[..., Any], nginx: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The server, which has the path as its base, as a team reaches it: through nginx."""
    running = server(token=TOKEN, base_url=PREFIX)
    folder = tmp_path_factory.mktemp("nginx")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (to,) = re.findall(r":(\d+)/", running.base)
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, port=port, to=to))
    log = folder / "error.log"
    process = subprocess.Popen([nginx, "-p", str(folder), "-c", str(config), "-e", str(log)])

    def answers() -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True
        return process.poll() is not None

    soon(answers, "nginx did not start")
    assert process.poll() is None, log.read_text()
    yield dataclasses.replace(running, url=f"http://127.0.0.1:{port}{PREFIX}")
    process.terminate()
    process.wait(LIMIT_S)
    assert "[error]" not in log.read_text()


@pytest.mark.by_day("minutes", 2)
def test_the_whole_journey_below_the_path(site: Any, page: Callable[..., Any]) -> None:
    assert len(site.wait_kernels(1)) == 1
    visit = page(permissions=["clipboard-read", "clipboard-write"])
    asked: list[str] = []
    plain: list[str] = []

    def answered(answer: Any) -> None:
        static = answer.request.resource_type in ("script", "stylesheet") and answer.url.startswith("http")
        if static and answer.status == 200 and answer.headers.get("content-encoding") != "gzip":
            plain.append(answer.url)

    visit.context.on("request", lambda request: asked.append(request.url))
    visit.context.on("response", answered)
    shown = visit.page
    shown.goto(site.url)
    shown.locator("input[type=password]").fill(TOKEN)
    shown.locator("button[type=submit]").click()
    take(shown, "enterprise")
    wait_figure(shown, "totals.hosts", "8")
    enter(shown, "groups.data-scientists.people", "36")
    wait_figure(shown, "totals.hosts", "9")
    for step, _ in STEPS[1:]:
        go(shown, step)
        if step in ("demand", "cost"):
            shown.locator(".gp-chart:visible svg").first.wait_for()
    assert "people: 36" in Path(download(shown, "deliver-yaml").path()).read_text(encoding="utf-8")

    at(shown, "share").click()
    shown.locator(".gp-notice.gp-note", has_text="copied").wait_for()
    link = shown.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{site.url}#s=")
    other = page(context=visit.context)
    other.open(link)
    wait_figure(other.page, "totals.hosts", "9")
    assert len(site.wait_kernels(3)) == 3

    assert [url for url in asked if not url.startswith((site.url, "blob:", "data:"))] == []
    assert any(url.endswith("voila.js") for url in asked)
    assert plain == []
    assert (visit.external, visit.errors, other.external, other.errors) == ([], [], [], [])
    other.page.close()
    shown.close()
    assert len(site.wait_kernels(1)) == 1


def heard_by(visit: Any) -> list[str]:
    """What a page is sent from now on: whole pages and everything over its connection."""
    heard: list[str] = []

    def note(data: Any) -> None:
        heard.append(data.decode("utf-8", "replace") if isinstance(data, bytes) else data)

    visit.page.on("websocket", lambda line: line.on("framereceived", note))
    visit.page.on(
        "response", lambda r: note(r.body()) if r.request.resource_type == "document" and r.ok else None
    )
    return heard


def kernel_id(visit: Any) -> str:
    return str(json.loads(visit.page.locator("#jupyter-config-data").text_content())["kernelId"])


def saved(visit: Any) -> str:
    return Path(download(visit.page, "save").path()).read_text(encoding="utf-8")


def test_two_users_and_no_stranger(site: Any, page: Callable[..., Any]) -> None:
    secrets = ("Project Nightingale", "Project Kingfisher")
    users = [page(), page()]
    heard = [heard_by(user) for user in users]
    for user in users:
        user.page.goto(f"{site.url}?token={TOKEN}")
    for user in users:
        take(user.page, "enterprise")
    for user, secret in zip(users, secrets, strict=True):
        enter(user.page, "groups.developers.name", secret)
    files = []
    for user, secret in zip(users, secrets, strict=True):
        user.page.locator(".gp-workload-name", has_text=secret).wait_for()
        go(user.page, "design")
        files.append(saved(user))
    for user, mine, file, own, other in zip(users, heard, files, secrets, secrets[::-1], strict=True):
        everything = [user.page.content(), file, *mine]
        assert own in file
        assert any(own in frame for frame in mine)
        assert not any(other in each for each in everything)
    assert kernel_id(users[0]) != kernel_id(users[1])

    refuse_strangers(site, kernel_id(users[0]))
    for user in users:
        go(user.page, "usecases")
        assert (user.external, user.errors) == ([], [])


ROUTES = """
import json
from gpuplan.serve import server

def listen(made):
    groups = [rule.target.rules for rule in made.app.default_router.rules if hasattr(rule.target, "rules")]
    print(json.dumps([rule.matcher.regex.pattern for group in groups for rule in group]))

server.FORKING = False
server.Server.listen = listen
server.serve(port=0, token="any", base_url="/gpuplan/", pool_size=0)
"""


def refuse_strangers(site: Any, kernel: str) -> None:
    """Ask for every route of the application without a token: no answer may hold anything of a session."""
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    answers = {
        "": ("GET", 302),
        "workbook.ipynb": ("GET", 302),
        "voila/files/workbook.ipynb": ("GET", 302),
        f"gpuplan/session/{kernel}": ("GET", 403),
        f"api/kernels/{kernel}": ("GET", 403),
        f"api/kernels/{kernel}/channels": ("GET", 403),
        f"voila/api/shutdown/{kernel}": ("POST", 403),
        # what the page to sign in needs, and files of the packages, the same in every installation
        "login": ("GET", 200),
        serving.HEALTH: ("GET", 200),
        "voila/templates/gpuplan/static/gpuplan.css": ("GET", 200),
        "voila/static/voila.js": ("GET", 200),
        "voila/api/themes/@jupyterlab/theme-light-extension/index.css": ("GET", 200),
        "voila/labextensions/anywidget/package.json": ("GET", 200),
    }
    printed = subprocess.run(
        [sys.executable, "-c", ROUTES],
        capture_output=True,
        text=True,
        check=True,
        timeout=2 * LIMIT_S,
        env={**os.environ, "PYTHONPATH": str(Path(serving.__file__).parents[2])},
    ).stdout
    for pattern in json.loads(printed):
        assert any(re.fullmatch(pattern, PREFIX + path) for path in answers), f"nobody asks {pattern}"
    got = {
        path: (method, site.ask(path, method=method, **(upgrade if path.endswith("channels") else {}))[0])
        for path, (method, _) in answers.items()
    }
    assert got == answers
    assert site.ask(f"api/kernels/{kernel}", method="DELETE")[0] == 405
    assert site.ask(f"?token={TOKEN[:-1]}")[0] == 302
