"""Pages: who gets one, what is said when there is none, and what an error tells to whom."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("voila")

from prometheus_client.parser import text_string_to_metric_families
from visiting import Visitor, message, said, visit
from waiting import FOR_EVER_S

from gpuplan.serve import pages, sessions

TOKEN = "token-of-the-team"


# --- the real server


@pytest.fixture(scope="module")
def team(server: Callable[..., Any]) -> Any:
    return server(token=TOKEN, sessions=2, metrics=True)


@pytest.fixture
def broken(server: Callable[..., Any], tmp_path: Path) -> Any:
    """A server whose notebook is no notebook."""
    notebook = tmp_path / "broken.ipynb"
    notebook.write_text("{}")
    return server(notebook=notebook)


@pytest.mark.browser
def test_pictures_of_other_sites_start_no_session(team: Any, browser: Any, page: Callable[..., Any]) -> None:
    """40 image tags on a page of another site, seen by a browser that is signed in."""
    before = sorted(team.wait_kernels(1))
    port = int(team.base.rpartition(":")[2].strip("/"))
    visitor = page()
    visitor.page.goto(f"http://127.0.0.1:{port}/login")
    visitor.page.locator("#password").fill(TOKEN)
    tags = "".join(
        f'<img src="http://127.0.0.1:{port}/?n={n}"><iframe src="/?f={n}"></iframe>' for n in range(40)
    )
    visitor.page.route("**/elsewhere", lambda route: route.fulfill(body=tags, content_type="text/html"))
    visitor.page.goto(f"http://localhost:{port}/elsewhere")
    visitor.page.wait_for_load_state("networkidle")
    assert sorted(team.kernels()) == before
    assert team.ask(Accept="*/*", Authorization=f"token {TOKEN}")[0] == 403


@pytest.mark.browser
@pytest.mark.by_day("server", 3)
def test_past_the_cap_a_visitor_is_told_and_tried_again(team: Any, page: Callable[..., Any]) -> None:
    visits = [page(), page(), page()]
    for each in visits[:2]:
        each.start(f"{team.base}?token={TOKEN}")
    third = visits[2].page
    third.goto(f"{team.base}?token={TOKEN}#s=abc")
    third.get_by_role("status").filter(has_text="10").wait_for()  # it tries again, every so many seconds
    title = third.get_by_role("heading").first.inner_text()
    status, body, headers = team.ask(Accept="text/html", Authorization=f"token {TOKEN}")
    assert (status, headers["Retry-After"]) == (503, str(pages.AGAIN_S))
    assert title in body
    visits[0].page.close()
    third.locator(".gp-app").wait_for()
    assert third.evaluate("location.hash.slice(0, 3)") == "#s="
    assert "told to wait" in team.text


@pytest.mark.browser
def test_metrics_are_for_those_who_are_signed_in(team: Any, server: Callable[..., Any]) -> None:
    assert team.ask("metrics")[0] in (302, 403)
    status, text, headers = team.ask("metrics", Authorization=f"Bearer {TOKEN}")
    assert status == 200
    assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
    found = {s.name: s.value for family in text_string_to_metric_families(text) for s in family.samples}
    assert found["gpuplan_sessions_most"] == 2
    assert found["gpuplan_server_private_bytes"] > 10e6
    assert found["gpuplan_open_files"] > 5
    assert "gpuplan_change_seconds_count" in found
    assert server().ask("metrics")[0] == 404, "off by default"


@pytest.mark.browser
def test_an_error_is_the_logs_and_its_reference_the_pages(broken: Any) -> None:
    status, body, _ = broken.visit()
    assert status == 500
    found = re.search(r"reference: <b>([0-9A-F]{8})</b>", body)
    assert found
    assert "Traceback" not in body
    assert "broken.ipynb" not in body
    assert f"[{found[1]}] GET / failed." in broken.text
    assert "Traceback" in broken.text


@pytest.mark.browser
@pytest.mark.parametrize(
    "way", ["%2e%2e/", "..%2f", "%2e%2e%2f%2e%2e%2f", "%5c..%5c", "a/%2e%2e/%2e%2e/", "%00", "./", "%2e/"]
)
@pytest.mark.parametrize(
    "under", ["voila/static/", "voila/templates/gpuplan/static/", "voila/labextensions/", ""]
)
def test_no_way_leads_up(team: Any, way: str, under: str) -> None:
    status, body, _ = team.ask(f"{under}{way}etc/passwd", Authorization=f"token {TOKEN}")
    assert 400 <= status < 500
    assert "root:" not in body


@pytest.mark.browser
def test_a_page_that_vanishes_frees_its_session_and_a_silent_one_keeps_it(server: Callable[..., Any]) -> None:
    """The first browser is gone with all its connections; the second is stopped, and says nothing more."""
    running = server(own_clock=True, idle_s=FOR_EVER_S)
    gone, asleep = Visitor(running), Visitor(running)
    assert len(running.wait_kernels(3)) == 3

    async def main() -> None:
        await asleep.connect()
        line = await gone.connect()
        line.write_message(message(number="here"), binary=True)
        while b"here" not in await said(line):
            pass
        line.protocol.stream.close()  # no farewell
        running.wait_gone(lambda: len(running.kernels()) == 2)
        assert len(running.wait_kernels(2)) == 2
        assert gone.ask(f"gpuplan/session/{gone.kernel}")[0] == 404
        assert json.loads(asleep.ask(f"gpuplan/session/{asleep.kernel}")[1])["alive"] is True

    visit(main())


@pytest.mark.browser
@pytest.mark.by_day("server", 3)
def test_what_a_killed_server_left_is_removed_by_the_next(server: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    (folder / "gpuplan-of-a-person").mkdir()  # without a lock it is not ours
    killed = server(env={"TMPDIR": str(folder)})
    killed.wait_kernels(1)
    (left,) = [each for each in folder.glob("gpuplan-*") if (each / "lock").exists()]
    killed.process.kill()
    killed.process.wait()
    assert left.exists()
    living = server(env={"TMPDIR": str(folder)})
    assert not left.exists()
    third = server(env={"TMPDIR": str(folder)})
    assert living.healthy()
    assert len(list(folder.glob("gpuplan-*/lock"))) == 2, "those of servers that run stay"
    assert third.stop() == living.stop(signal.SIGINT) == 0
    assert [each.name for each in folder.iterdir()] == ["gpuplan-of-a-person"]


def test_one_that_sleeps_is_kept_for_the_stated_time() -> None:
    assert sessions.Kernels.idle_s.default_value == 1800
