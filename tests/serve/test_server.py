"""The server: one kernel per open page, nothing leaves the machine, nothing is served that should not be."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from browsing import until
from processes import children_of
from visiting import Visitor
from waiting import FOR_EVER_S, LIMIT_S, soon

pytest.importorskip("voila")


from gpuplan.serve import channels, sessions
from gpuplan.serve import server as serving
from gpuplan.serve.channels import PROTOCOL
from gpuplan.serve.forking import FORKING
from gpuplan.serve.options import TEMPLATES, settings_of
from gpuplan.wording import said

pytestmark = pytest.mark.browser

CELL = '''
import json, os, sys
import altair as alt, anywidget, ipywidgets as w, traitlets
from gpuplan.report.charts.look import LIGHT, config
from gpuplan.widgets.chart import Chart

class Counter(anywidget.AnyWidget):
    _esm = """
    function render({ model, el }) {
      const button = document.createElement("button");
      button.id = "any";
      const show = () => { button.textContent = "any " + model.get("value"); };
      button.onclick = () => { model.set("value", model.get("value") + 1); model.save_changes(); };
      model.on("change:value", show);
      show();
      el.appendChild(button);
    }
    export default { render };"""
    value = traitlets.Int(0).tag(sync=True)

def bars(factor):
    rows = [{"host": f"h{i}", "gpus": i * factor, "group": "ab"[i % 2]} for i in range(1, 5)]
    chart = alt.Chart(alt.Data(values=rows)).mark_bar().encode(
        x="host:N", y="gpus:Q", color="group:N", tooltip=["host:N", "gpus:Q"])
    chart = chart.transform_filter("datum.gpus > 0").add_params(alt.selection_interval(name="brush"))
    return chart.properties(title=f"Bars {factor}", width=300, height=120).configure(**config(LIGHT))

label, chart, count = w.Label("clicked 0"), Chart(bars(1)), 0
click, fail = w.Button(description="Click"), w.Button(description="Fail")

def on_click(_):
    global count
    count += 1
    label.value = f"clicked {count}"
    chart.chart = bars(1 + count)

def on_fail(_):
    raise ValueError("not for customers")

click.on_click(on_click)
fail.on_click(on_fail)
told = {"executable": sys.executable, "cwd": os.getcwd(), "pid": os.getpid(), "altair": alt.__version__}
told |= {name: value for name, value in os.environ.items() if name.startswith(("GPUPLAN_", "IPYTHON"))}
told["listing"] = os.listdir()
told["urls"] = [os.environ[name] for name in ("VOILA_REQUEST_URL", "QUERY_STRING") if name in os.environ]
w.VBox([w.HBox([click, fail, label]), Counter(), w.HTML(f"<pre id=told>{json.dumps(told)}</pre>"), chart])
'''


def write_notebook(path: Path, source: str = CELL, **metadata: Any) -> Path:
    """A notebook of one code cell."""
    kernelspec = {"name": "python3", "language": "python", "display_name": "Python 3"}
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }
    notebook = {
        "cells": [cell],
        "metadata": {"kernelspec": kernelspec, **metadata},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_notebook(tmp_path_factory.mktemp("notebook") / "tiny.ipynb", title="Tiny plan")


@pytest.fixture(scope="module")
def shared(server: Callable[..., Any], notebook: Path) -> Any:
    """The server of most tests, without a token."""
    running = server(notebook=notebook)
    assert len(running.wait_kernels(1)) == 1
    return running


@pytest.fixture(scope="module")
def guarded(server: Callable[..., Any], notebook: Path) -> Any:
    """A server that a network can reach."""
    return server(notebook=notebook, host="0.0.0.0")


def told(visit: Any) -> dict[str, Any]:
    """What the notebook says about its kernel."""
    return json.loads(visit.page.locator("#told").inner_text())


def cookies(visit: Any) -> str:
    """What the browser of a page sends with each request."""
    return "; ".join(f"{each['name']}={each['value']}" for each in visit.context.cookies())


def kernel_id(visit: Any) -> str:
    return json.loads(visit.page.locator("#jupyter-config-data").text_content())["kernelId"]


# --- the page


def test_page_works_offline_under_a_strict_policy(shared: Any, tab: Callable[..., Any]) -> None:
    visit = tab().open(shared.url, "clicked 0")
    chart = visit.page.locator(".vega-embed svg")
    chart.wait_for()
    visit.page.get_by_role("button", name="Click").click()
    visit.page.get_by_text("clicked 1").wait_for()
    visit.page.get_by_text("Bars 2").wait_for()
    visit.page.locator("#any").click()
    visit.page.get_by_text("any 1").wait_for()
    chart.hover()
    assert visit.external == []
    assert visit.errors == []
    assert visit.page.locator("#loading").count() == 0
    assert visit.page.locator(".vega-embed summary").count() == 0, "the actions menu is off"


def test_page_frame(shared: Any, tab: Callable[..., Any]) -> None:
    visit = tab().open(shared.url, "clicked 0")
    evaluate = visit.page.evaluate
    assert visit.page.title() == "Tiny plan"
    assert evaluate("document.documentElement.lang") == "en"
    assert visit.page.locator("main").count() == 1
    assert evaluate("document.querySelector('link[rel=icon]').href").startswith("data:image/svg+xml")
    assert evaluate("document.documentElement.scrollWidth") == 1280
    box = visit.page.locator(".jp-OutputArea-output").bounding_box()
    assert (box["x"], box["y"], box["width"]) == (0, 0, 1280)
    evaluate("document.querySelector('.jp-OutputArea-output').style.height = '3000px'")
    assert evaluate("document.documentElement.scrollHeight") == 3000, "the page scrolls, not a box in it"
    assert visit.page.pdf().count(b"/Type /Page\n") >= 3, "all of it prints"
    visit.page.set_viewport_size({"width": 800, "height": 1100})
    assert evaluate("document.documentElement.scrollWidth") == 800


def test_address_keeps_the_last_design_however_fast_they_come(shared: Any, page: Callable[..., Any]) -> None:
    """It is written once nothing changes any more: writing it costs a browser as much as drawing a step."""
    visit = page()
    clock, evaluate = visit.page.clock, visit.page.evaluate
    clock.install()
    visit.open(shared.url, "clicked 0")
    clock.pause_at(evaluate("Date.now()") + 60_000)
    evaluate("""() => {
      const replace = history.replaceState;
      window.written = 0;
      history.replaceState = function (...given) { window.written += 1; return replace.apply(this, given); };
    }""")
    for n in range(1, 301, 10):
        evaluate("(from) => { for (let n = from; n < from + 10; n += 1) gpuplan.keepAddress(`s=${n}`); }", n)
        clock.run_for(10)
    assert evaluate("[window.written, location.hash]") == [0, ""], "they come too fast"
    clock.run_for(1000)
    assert evaluate("[window.written, location.hash]") == [1, "#s=300"]


def test_headers(shared: Any, tab: Callable[..., Any]) -> None:
    answer = tab().page.goto(shared.url)
    headers = answer.headers
    policy = headers["content-security-policy"]
    assert answer.status == 200
    assert "unsafe-eval" not in policy
    assert "script-src 'self' blob:;" in policy
    assert "frame-ancestors 'self'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_theme_is_the_pages_business_and_keeps_the_warm_kernel(shared: Any, tab: Callable[..., Any]) -> None:
    shared.wait_kernels(1)
    warm = shared.kernels()
    visit = tab().open(shared.url + "?theme=dark", "clicked 0")
    assert [told(visit)["pid"]] == warm
    evaluate = visit.page.evaluate
    assert evaluate("document.documentElement.dataset.theme") == "dark"
    assert evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 21, 29)"
    assert evaluate("document.body.dataset.jpThemeLight") == "false"
    evaluate("window.addEventListener('gpuplan:theme', (event) => { window.seen = event.detail; })")
    evaluate("history.replaceState(null, '', '#s=abc')")
    evaluate("gpuplan.setTheme('light')")
    assert evaluate("[window.seen, gpuplan.theme, location.search, location.hash]") == [
        "light",
        "light",
        "",
        "#s=abc",
    ]
    assert evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(245, 246, 248)"
    visit.page.emulate_media(color_scheme="dark")
    assert evaluate("gpuplan.theme") == "light", "what was chosen counts more than the system"
    evaluate("localStorage.removeItem('gpuplan-theme')")
    for system in ("light", "dark"):  # a frame for each: what goes there and back within one is no change
        visit.page.emulate_media(color_scheme=system)
        until(visit.page, "gpuplan.theme", system)
        evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("query", ["theme=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "template=lab"])
def test_query_cannot_change_the_page(shared: Any, tab: Callable[..., Any], query: str) -> None:
    answer = tab().page.goto(f"{shared.url}?{query}")
    assert answer.status == 200
    body = answer.text()
    assert "alert(1)" not in body
    assert "cdn.jsdelivr" not in body
    assert "gpuplan.js" in body


def test_error_in_a_callback_shows_no_traceback(shared: Any, tab: Callable[..., Any]) -> None:
    visit = tab()
    frames: list[str] = []
    visit.page.on(
        "websocket", lambda ws: ws.on("framereceived", lambda data: frames.append(str(data)[:20000]))
    )
    visit.open(shared.url, "clicked 0")
    visit.page.get_by_role("button", name="Fail").click()
    visit.page.get_by_role("button", name="Click").click()
    visit.page.get_by_text("clicked 1").wait_for()
    text = visit.page.locator("body").inner_text()
    assert "Traceback" not in text
    assert "not for customers" not in text
    assert any("clicked 1" in frame for frame in frames)
    assert not any("not for customers" in frame for frame in frames), "it does not even reach the browser"
    assert "Uncaught exception" not in shared.text


@pytest.mark.by_day("server", 3)
def test_error_in_the_notebook_is_said_calmly(
    server: Callable[..., Any], tab: Callable[..., Any], tmp_path: Path
) -> None:
    running = server(notebook=write_notebook(tmp_path / "bad.ipynb", "raise ValueError('not for customers')"))
    visit = tab().open(running.url, "could not be opened")
    text = visit.page.locator("body").inner_text()
    assert "Traceback" not in text
    assert "not for customers" not in text
    assert "not for customers" in running.text, "the server's log has it"


def test_a_notebook_that_ends_its_session_is_refused_calmly(
    server: Callable[..., Any], tab: Callable[..., Any], tmp_path: Path
) -> None:
    ending = write_notebook(tmp_path / "ending.ipynb", "import os; os.kill(os.getpid(), 9)")
    visit = tab().open(server(notebook=ending).url, said("serve.full starts"))
    assert visit.page.locator("#loading").count() == 0


LATE = """
import queue, threading, time
thread, waiting = get_ipython().kernel.iopub_thread, queue.SimpleQueue()
send = thread.send_multipart
def pass_on():
    time.sleep(6)
    while True:
        given, named = waiting.get()
        send(*given, **named)
threading.Thread(target=pass_on, daemon=True).start()
thread.send_multipart = lambda *given, **named: waiting.put((given, named))
"arrived " + "late"
"""
"""A session on a busy machine: it has done its work, and what came of it arrives six seconds later."""


@pytest.mark.slow
def test_what_a_notebook_shows_is_waited_for(server: Callable[..., Any], tmp_path: Path) -> None:
    assert "arrived late" in server(notebook=write_notebook(tmp_path / "late.ipynb", LATE)).visit()[1]


# --- sessions


@pytest.mark.by_day("server", 3)
def test_closed_and_reloaded_pages_free_their_kernels(shared: Any, page: Callable[..., Any]) -> None:
    assert len(shared.wait_kernels(1)) == 1
    first = page()
    visits = [first, *(page(context=first.context) for _ in range(5))]
    for visit in visits:
        visit.page.goto(shared.url, wait_until="commit")
    for visit in visits:
        visit.page.get_by_text("clicked 0").wait_for()
    assert len(shared.wait_kernels(7)) == 7  # six pages and the warm one
    first.page.reload()
    first.page.get_by_text("clicked 0").wait_for()
    visits[1].page.goto("about:blank")
    for visit in visits[:3]:
        visit.page.close(run_before_unload=True)
    for visit in visits[3:]:
        visit.page.close()
    assert len(shared.wait_kernels(1)) == 1
    assert "Traceback" not in shared.text
    assert shared.healthy()


def test_page_that_leaves_while_it_connects_is_no_error(shared: Any, tab: Callable[..., Any]) -> None:
    visit = tab().open(shared.url, "clicked 0")
    port = int(shared.base.rpartition(":")[2].strip("/"))
    lines = [
        f"GET /api/kernels/{kernel_id(visit)}/channels?session_id={{}} HTTP/1.1",
        f"Host: localhost:{port}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        f"Sec-WebSocket-Protocol: {PROTOCOL}",
        f"Cookie: {cookies(visit)}",
    ]
    request = "\r\n".join([*lines, "", ""])
    for number in range(20):
        with socket.create_connection(("localhost", port)) as leaving:
            leaving.sendall(request.format(f"leaving-{number}").encode())
    visit.page.get_by_role("button", name="Click").click()
    visit.page.get_by_text("clicked 1").wait_for()
    assert "Traceback" not in shared.text
    assert shared.healthy()


def test_shutdown_needs_the_xsrf_token(shared: Any, tab: Callable[..., Any]) -> None:
    visit = tab().open(shared.url, "clicked 0")
    kernel = kernel_id(visit)
    assert shared.ask(f"voila/api/shutdown/{kernel}", data=b"")[0] == 403
    answer = visit.page.evaluate(f"fetch('/gpuplan/session/{kernel}').then((answer) => answer.json())")
    assert answer["alive"] is True


@pytest.mark.by_day("server", 3)
def test_notice_when_the_kernel_dies(shared: Any, tab: Callable[..., Any]) -> None:
    visit = tab().open(shared.url + "#s=abc", "clicked 0")
    dialog = visit.page.get_by_role("alertdialog")
    assert dialog.count() == 0
    os.kill(told(visit)["pid"], signal.SIGKILL)
    dialog.wait_for()
    assert visit.page.locator("#gpuplan-lost-text").inner_text(), "what became of the work, and what to do"
    until(visit.page, "document.activeElement.id", "gpuplan-reload")
    visit.page.keyboard.press("Escape")
    visit.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert dialog.is_visible(), "the key has done what it does, and the word still stands"
    visit.page.keyboard.press("Enter") if visit.page.evaluate(
        "document.activeElement.id"
    ) == "gpuplan-reload" else visit.page.get_by_role("button", name="Reload").click()
    visit.page.get_by_text("clicked 0").wait_for()
    assert visit.page.evaluate("location.hash") == "#s=abc"
    assert dialog.count() == 0


def rested(pid: int) -> None:
    """Wait until a process has done what it was started for: its notebook has run, and it waits for a page."""
    seen: list[list[str]] = []

    def same() -> bool:
        seen.append(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13])
        return seen[-50:] == 50 * seen[-1:]

    soon(same)


def test_a_killed_process_is_there_until_its_last_thread_has_ended() -> None:
    """Its first thread may end before, and then the state of the process says that it has ended."""
    code = "import ctypes, threading; threading.Thread(target=input).start(); ctypes.CDLL(None).pthread_exit(None)"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        status = Path(f"/proc/{process.pid}/stat")
        soon(lambda: status.read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z")
        assert process.pid in children_of(os.getpid())
        process.kill()
        soon(lambda: process.pid not in children_of(os.getpid()))


def test_a_dead_warm_kernel_is_not_handed_out(shared: Any, tab: Callable[..., Any]) -> None:
    (warm,) = shared.wait_kernels(1)
    rested(warm)
    os.kill(warm, signal.SIGKILL)
    soon(lambda: warm not in shared.kernels())  # a killed process lives on until its memory is given back
    visit = tab().open(shared.url, "clicked 0")
    assert told(visit)["pid"] != warm
    assert visit.page.get_by_role("alertdialog").count() == 0


BLOCKED = """
import pathlib, time
while not pathlib.Path({going!r}).exists():
    time.sleep(0.02)
"it " + "lives"
"""


@pytest.mark.skipif(not FORKING, reason="counts kernels by their parent")
@pytest.mark.parametrize("at_its_start", [True, False])
def test_a_kernel_that_dies_before_its_page_is_there_is_replaced(
    server: Callable[..., Any], tmp_path: Path, at_its_start: bool
) -> None:
    going, reached = tmp_path / "going", tmp_path / "reached"
    source = f"open({str(reached)!r}, 'w').close()" + BLOCKED.format(going=str(going))
    running = server(notebook=write_notebook(tmp_path / "blocked.ipynb", source))
    (first,) = soon(running.kernels, pause_s=0)
    if at_its_start:
        os.kill(first, signal.SIGSTOP)
    else:
        soon(reached.exists)
    with ThreadPoolExecutor(1) as thread:
        opening = thread.submit(Visitor, running)
        soon(lambda: len(running.kernels()) == 2)  # the visitor has the first, and another one is made ready
        os.kill(first, signal.SIGKILL)
        going.touch()
        visitor = opening.result()
    assert "it lives" in visitor.page
    assert json.loads(visitor.ask(f"gpuplan/session/{visitor.kernel}")[1])["alive"] is True


def test_unknown_session_is_not_found(shared: Any) -> None:
    status, body, headers = shared.ask("gpuplan/session/0-0-0-0-0")
    assert (status, json.loads(body)) == (404, {"message": "Not Found", "reference": ""})
    assert any(cookie.startswith("_xsrf=") for cookie in headers.get_all("Set-Cookie"))
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.by_day("server", 3)
def test_stopping_the_server(server: Callable[..., Any], tab: Callable[..., Any], notebook: Path) -> None:
    running = server(notebook=notebook)
    visit = tab().open(running.url, "clicked 0")
    kernels = running.kernels()  # the next one is just starting
    home = Path(told(visit)["cwd"]).parent
    assert home.is_dir()
    assert running.stop(signal.SIGINT) == 0
    assert [pid for pid in kernels if Path(f"/proc/{pid}").exists()] == []
    assert not home.exists(), "the temporary folder goes, too"
    (line,) = running.text.splitlines()
    assert running.url in line and "Ctrl+C" in line
    visit.page.locator("#gpuplan-away").wait_for()


@pytest.mark.by_day("server", 3)
def test_sessions_of_pages_that_vanish_end_and_open_and_warm_ones_never(
    server: Callable[..., Any], page: Callable[..., Any], notebook: Path
) -> None:
    running = server(notebook=notebook, own_clock=True, idle_s=FOR_EVER_S)
    (warm,) = running.wait_kernels(1)
    open_visit = page().open(running.url, "clicked 0")
    assert told(open_visit)["pid"] == warm
    forgotten = page()
    forgotten.open(running.url, "clicked 0")
    forgotten_pid = told(forgotten)["pid"]
    # its farewell is lost
    forgotten.page.evaluate("void (window.fetch = () => new Promise(() => {}))")
    forgotten.page.evaluate("void (Navigator.prototype.sendBeacon = () => true)")
    forgotten.page.close()
    running.visit()  # a page that was closed before it could say anything
    assert len(running.wait_kernels(4)) == 4
    running.wait_gone(lambda: len(running.kernels()) == 2)
    assert len(running.wait_kernels(2)) == 2
    assert warm in running.kernels()
    assert forgotten_pid not in running.kernels()
    assert open_visit.page.get_by_role("alertdialog").count() == 0
    open_visit.page.get_by_role("button", name="Click").click()
    open_visit.page.get_by_text("clicked 1").wait_for()


# --- token, host names, files


def test_beyond_loopback_a_token_is_made_up_and_required(guarded: Any) -> None:
    token = re.search(r"\?token=([\w-]{32})$", guarded.url)
    assert token
    before = guarded.wait_kernels(1)
    status, _, headers = guarded.ask(host="127.0.0.1")
    assert (status, headers["Location"]) == (302, "/login?next=%2F")
    assert guarded.ask("?token=wrong", host="127.0.0.1")[0] == 302
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    some = "0-0-0-0-0"
    assert guarded.ask(f"api/kernels/{some}", host="127.0.0.1")[0] == 403
    assert guarded.ask(f"api/kernels/{some}/channels", host="127.0.0.1", **upgrade)[0] == 403
    assert guarded.ask(f"gpuplan/session/{some}", host="127.0.0.1")[0] == 403
    assert guarded.ask(f"voila/api/shutdown/{some}", host="127.0.0.1", data=b"")[0] == 403
    assert guarded.ask(serving.HEALTH, host="127.0.0.1")[:2] == (200, "ok\n"), "it needs no token"
    assert guarded.kernels() == before, "and none of this took a kernel"


@pytest.mark.by_day("server", 3)
def test_with_the_token_the_page_works_and_frees_its_kernel(guarded: Any, page: Callable[..., Any]) -> None:
    port = guarded.base.rpartition(":")[2].strip("/")
    token = guarded.url.partition("?token=")[2]
    visit = page().open(f"http://127.0.0.1:{port}/?token={token}#s=abc", "clicked 0")
    assert visit.page.evaluate("location.search + location.hash") == "#s=abc", (
        "the token leaves the address bar"
    )
    assert told(visit)["urls"] == []
    visit.page.reload()
    visit.page.get_by_text("clicked 0").wait_for()
    assert told(visit)["urls"] == [], "nor does the next kernel learn it"
    assert (visit.errors, visit.external) == ([], [])
    visit.page.close()
    assert len(guarded.wait_kernels(1)) == 1


@pytest.mark.by_day("server", 3)
def test_signing_in_keeps_the_design(guarded: Any, page: Callable[..., Any]) -> None:
    port = guarded.base.rpartition(":")[2].strip("/")
    visit = page().open(f"http://127.0.0.1:{port}/#s=abc")
    token, submit = visit.page.locator("#password"), visit.page.locator("button[type=submit]")
    token.fill("wrong")
    submit.click()
    visit.page.get_by_role("alert").wait_for()
    token.fill(guarded.url.partition("?token=")[2])
    submit.click()
    visit.page.get_by_text("clicked 0").wait_for()
    assert visit.page.evaluate("location.hash") == "#s=abc"


def test_without_a_token_only_this_machines_names_are_served(shared: Any, tab: Callable[..., Any]) -> None:
    assert shared.ask(Host="evil.example:80")[0] == 403
    assert "evil.example:80" in shared.text
    tab().open(shared.url.replace("localhost", "127.0.0.1"), "clicked 0")


def test_health_takes_no_kernel(shared: Any) -> None:
    before = sorted(shared.wait_kernels(1))
    for _ in range(20):
        assert shared.healthy()
    assert sorted(shared.kernels()) == before


def test_other_addresses_serve_no_file_and_take_no_kernel(shared: Any, notebook: Path) -> None:
    before = sorted(shared.wait_kernels(1))
    for path in (
        "etc/passwd",
        "voila/files/etc/passwd",
        "voila/files/tiny.ipynb",
        "voila/files/x.png",
        "voila/templates/gpuplan/index.html.j2",
        "voila/templates/gpuplan/static/../index.html.j2",
        "voila/templates/gpuplan/static/none.js",
    ):
        assert shared.ask(path)[0] in (302, 403, 404), path
    assert sorted(shared.kernels()) == before


# --- starting


@pytest.mark.by_day("server", 3)
def test_kernel_gets_its_folder_interpreter_and_paths(
    server: Callable[..., Any], tab: Callable[..., Any], notebook: Path, tmp_path: Path
) -> None:
    """Neither home nor working folder matter; relative paths arrive absolute; a prefix of a proxy works."""
    home = tmp_path / "home"
    spec = home / ".local/share/jupyter/kernels/python3"
    profile = home / ".ipython/profile_default/startup"
    config = home / ".jupyter"
    for folder in (spec, profile, config, tmp_path / "catalog"):
        folder.mkdir(parents=True)
    (spec / "kernel.json").write_text('{"argv": ["/bin/false"], "display_name": "x", "language": "python"}')
    (profile / "00.py").write_text("raise SystemExit('startup file was run')")
    (tmp_path / "scenario.yaml").write_text("{}")
    for folder in (config, tmp_path):
        (folder / "voila.json").write_text('{"VoilaConfiguration": {"template": "classic"}}')
    (tmp_path / "json.py").write_text("raise ImportError('the working folder was imported')")
    running = server(
        notebook=notebook,
        cwd=tmp_path,
        env={"HOME": str(home), "PYTHONSAFEPATH": "1"},
        scenario=Path("scenario.yaml"),
        catalog=Path("catalog"),
        base_url="/prefix",
    )
    assert running.base.endswith("/prefix/")
    visit = tab().open(running.url, "clicked 0")
    visit.page.get_by_text("Bars 1").wait_for()
    assert (visit.errors, visit.external) == ([], [])
    said = told(visit)
    assert said["executable"] == sys.executable
    assert said["GPUPLAN_SCENARIO"] == str(tmp_path / "scenario.yaml")
    assert said["GPUPLAN_CATALOG"] == str(tmp_path / "catalog")
    assert said["listing"] == []
    assert Path(said["IPYTHONDIR"]).parent == Path(said["cwd"]).parent
    visit.page.close()
    assert len(running.wait_kernels(1)) == 1
    running.stop()
    made = {path.relative_to(home).parts[0] for path in home.rglob("*") if path.is_file()}
    assert made <= {".local", ".ipython", ".jupyter"}
    assert sum(path.is_file() for path in home.rglob("*")) == 3, "nothing was written into the home"


def refusal(**arguments: Any) -> tuple[int, str, str]:
    """Exit code and output of a server that does not start."""
    code = (
        "import sys\nfrom pathlib import PosixPath, WindowsPath\nfrom gpuplan.serve.server import serve\n"
        f"sys.exit(serve(**{arguments!r}))"
    )
    root = str(Path(serving.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=2 * LIMIT_S,
        env={**os.environ, "PYTHONPATH": root},
    )
    return done.returncode, done.stdout, done.stderr


def test_port_in_use(notebook: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        message = f"Port {port} is in use. Choose another with --port, or stop the other program.\n"
        assert refusal(notebook=notebook, port=port) == (2, "", message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scenario": Path("none.yaml")}, "Scenario not found: none.yaml\n"),
        ({"catalog": Path("none")}, "Catalog not found: none\n"),
        ({"port": 70000}, "70000 is not a port. Choose one from 1 to 65535 with --port.\n"),
    ],
)
def test_bad_argument(
    arguments: dict[str, Any], message: str, notebook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert serving.serve(notebook=notebook, **arguments) == 2
    assert capsys.readouterr().err == message


def test_an_idle_connection_is_asked_and_kept_and_a_silent_one_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, interval = 1000.0, channels.PING_MS / 1000
    monkeypatch.setattr("tornado.ioloop.IOLoop.current", lambda: SimpleNamespace(time=lambda: now))

    session = sessions.Session("ann", 0.0)

    def after(silent: int) -> list[str]:
        """What the server does when it looks, so many intervals after it last heard of the page."""
        did: list[str] = []
        page = channels.ChannelsHandler.__new__(channels.ChannelsHandler)
        page.application = SimpleNamespace(settings=settings_of(loopback=True))
        stream = SimpleNamespace(
            close=lambda: did.append("closed"), writing=lambda: False, _total_write_done_index=0
        )
        page.ws_connection = SimpleNamespace(client_terminated=False, stream=stream)
        page.ping, page.session = lambda _data: did.append("asked"), session
        page.last_ping, page.last_pong = now - interval - 0.1, now - silent * interval - 0.1
        page.send_ping()
        return did

    assert after(1) == ["asked"], "the first time: it was never asked before"
    assert not session.silent
    assert after(4) == ["closed"]
    assert session.silent, "it may sleep: its session waits for it"


def test_a_page_that_leaves_while_its_kernel_ends_leaves_no_channel_open(tmp_path: Path) -> None:
    manager = sessions.Kernels(work_dir=str(tmp_path))
    closed: list[str] = []
    streams = {
        name: SimpleNamespace(
            socket=SimpleNamespace(closed=False),
            on_recv=lambda _: None,
            close=lambda name=name: closed.append(name),
        )
        for name in ("shell", "iopub")
    }
    manager._kernels["ending"] = SimpleNamespace()
    manager.start_buffering("ending", "its page", streams)  # as jupyter_server does when the page has left
    assert closed == []
    manager.remove_kernel("ending")
    assert closed == ["shell", "iopub"]


def test_template_is_in_the_package() -> None:
    """Both a wheel and a checkout carry it below `gpuplan/`."""
    folder = TEMPLATES / "voila" / "templates" / "gpuplan"
    for name in (
        "conf.json",
        "index.html.j2",
        "login.html",
        "error.html",
        "static/gpuplan.js",
        "static/health.txt",
        "static/inter-license.txt",
    ):
        assert (folder / name).is_file(), name
    assert (folder / "static" / "inter.woff2").stat().st_size < 60_000
