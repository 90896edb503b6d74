"""Files are made in a process of their own and handed over once; no folder is needed for it."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
import threading
import zipfile
from pathlib import Path

import pytest
from approved import has_approved
from pptx import Presentation
from solved import solution
from waiting import LIMIT_S, LONG_S, soon

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.app.delivering import Delivering, Order
from gpuplan.catalog import Catalog
from gpuplan.deliver import KINDS
from gpuplan.plan import Plan
from gpuplan.report.solve_report import solution_dict
from gpuplan.scenario import decode_scenario

pytestmark = [pytest.mark.usefixtures("plain_script"), pytest.mark.by_day("delivering", 6)]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where folders for a while are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(load_scenario("starter"), load_catalog())


def wait(delivering: Delivering) -> None:
    soon(lambda: delivering.runner.state != "running", "it is still running", LONG_S)
    for thread in threading.enumerate():  # without an event loop it tells of the end after it has said it
        if "_follow" in thread.name:
            thread.join(LIMIT_S)


def runs(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def test_one_file_is_handed_over_once(plan: Plan, made: Path) -> None:
    told: list[str] = []
    delivering = Delivering(lambda: told.append(delivering.runner.state))
    assert delivering.take() is None
    delivering.start(plan.scenario, "yaml")
    wait(delivering)
    name, content = delivering.take() or ("", b"")
    assert name == "starter-example.yaml"
    assert decode_scenario(content) == plan.scenario
    assert delivering.take() is None
    assert told[-1] == "done"
    assert list(made.iterdir()) == []


def test_files_tell_the_solution_that_was_found(plan: Plan, made: Path, catalog: Catalog) -> None:
    found = solution_dict(solution(catalog, budget="1.2M"))
    delivering = Delivering(lambda: None)
    delivering.start(plan.scenario, "pptx", solution=found)
    wait(delivering)
    _, content = delivering.take() or ("", b"")
    assert delivering.made[("pptx", False)].solution == found
    titles = [slide.shapes.title.text for slide in Presentation(io.BytesIO(content)).slides]
    assert any(f"{found['best']['value']:g} users" in title for title in titles)


def test_several_files_come_as_one(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    delivering.start(plan.scenario, "terraform")
    wait(delivering)
    name, content = delivering.take() or ("", b"")
    assert name == "starter-example-terraform.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert all(each.startswith("terraform/") for each in archive.namelist())
    assert list(made.iterdir()) == []


def test_what_is_stopped_leaves_nothing(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    delivering.start(plan.scenario)
    delivering.cancel()
    assert delivering.runner.state == "cancelled"
    assert delivering.take() is None
    assert list(made.iterdir()) == []


def test_what_is_internal_is_stopped_and_what_waits_for_the_customer_is_made(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    delivering.start(plan.scenario, "html", internal=True)
    delivering.start(plan.scenario, "terraform", internal=True)
    delivering.start(plan.scenario, "yaml")
    delivering.cancel_internal()
    wait(delivering)
    name, _ = delivering.take() or ("", b"")
    assert (name, delivering.take()) == ("starter-example.yaml", None)
    delivering.start(plan.scenario, "yaml")
    delivering.cancel_internal()
    wait(delivering)
    assert delivering.take() is not None, "what is for the customer goes on"


def test_two_quick_clicks_give_both_files_and_a_third_gives_none_twice(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    for kind in ("yaml", "terraform", "yaml", "terraform"):
        delivering.start(plan.scenario, kind)
    found = []

    def both() -> bool:
        wait(delivering)
        while ready := delivering.take():
            found.append(ready[0])
        return len(found) >= 2

    soon(both)
    assert found == ["starter-example.yaml", "starter-example-terraform.zip"]
    assert delivering.runner.state == "done"
    assert list(made.iterdir()) == []


def test_files_are_for_the_customer_unless_the_internal_ones_are_asked_for(plan: Plan, made: Path) -> None:
    scenario = plan.scenario.with_value("internal.notes", "Ask Bob.")
    delivering = Delivering(lambda: None)
    found = {}
    for internal in (False, True):
        delivering.start(scenario, "yaml", internal=internal)
        wait(delivering)
        name, content = delivering.take() or ("", b"")
        found[name] = decode_scenario(content)
    assert found == {"starter-example.yaml": plan.scenario, "starter-example-internal.yaml": scenario}


def test_templates_are_used_and_a_bad_one_is_named(plan: Plan, made: Path) -> None:
    from pptx import Presentation

    def deck(words: str) -> bytes:
        show, stream = Presentation(), io.BytesIO()
        for layout in show.slide_layouts:
            layout.name = (
                f"{layout.name} {words}" if words == "ACME" and layout.name != "Title Only" else layout.name
            )
            if words == "none":
                for shape in list(layout.placeholders):
                    shape._element.getparent().remove(shape._element)
        show.save(stream)
        return stream.getvalue()

    delivering = Delivering(lambda: None)
    template = delivering.templates["pptx"]
    for words in ("ACME", "none"):
        content = deck(words)
        template.receive("acme.pptx", len(content), 0, content)
        assert (template.used, template.error) == ("acme.pptx", "")
        delivering.start(plan.scenario, "pptx")
        wait(delivering)
        if words == "ACME":
            _, file = delivering.take() or ("", b"")
            names = [layout.name for layout in Presentation(io.BytesIO(file)).slide_layouts]
            assert any("ACME" in name for name in names)
    assert has_approved(delivering.runner.error)
    template.remove()
    assert not template.kept.exists()


def test_a_brand_is_in_the_next_files(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    content = b"name: ACME\nfooter: ACME Systems GmbH\ncolours: {accent: '#0B5C3D'}\n"
    delivering.templates["brand"].receive("acme.yaml", len(content), 0, content)
    delivering.start(plan.scenario, "html")
    wait(delivering)
    _, page = delivering.take() or ("", b"")
    assert b"#0B5C3D" in page and b"ACME" in page


def test_what_files_were_made_from_is_known_when_they_are(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    delivering.start(plan.scenario, "yaml")
    assert delivering.made == {}
    wait(delivering)
    order = Order(plan.scenario, "yaml", internal=False)
    assert delivering.made == {("yaml", False): delivering.source(order, "yaml")}
    delivering.start(plan.scenario.with_value("name", "Other"), "yaml")
    delivering.cancel()
    assert delivering.made["yaml", False].scenario == plan.scenario, "the last one was not made"


def test_a_preview_is_the_first_pages_of_the_document(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    steps: set[str] = set()
    delivering.previewer._on_change = lambda: (steps.add(delivering.previewer.step), delivering._previewed())
    delivering.start_preview(Order(plan.scenario, "html", internal=False))
    soon(lambda: delivering.preview is not None, "no preview", LONG_S)
    assert KINDS["html"] in steps, "its progress names what is made"
    page = delivering.preview.page if delivering.preview else ""
    assert f"{plan.totals.hosts} hosts" in page
    assert "Document control" in page and "Contents" in page
    assert 'class="chapter"' not in page and "<a " not in page
    assert len(page) < 60_000, "it stays in the session and goes to the browser"
    assert delivering.take() is None, "nothing is downloaded"
    delivering.forget_preview()
    assert delivering.preview is None
    assert list(made.iterdir()) == []


def test_a_page_that_closes_meanwhile_leaves_nothing(made: Path) -> None:
    """The process of the session is killed while files are made: its child cannot write what nobody reads."""
    code = (
        "import time\n"
        "from gpuplan import load_scenario\n"
        "from gpuplan.app.delivering import Delivering\n"
        "delivering = Delivering(lambda: None)\n"
        "delivering.start(load_scenario('starter'), 'terraform')\n"
        "print(delivering.runner._process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    session = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(made)}
    )
    assert session.stdout is not None
    child = int(session.stdout.readline())
    session.kill()
    session.wait()
    session.stdout.close()
    soon(lambda: not runs(child), "the child of the session still runs")
    assert list(made.iterdir()) == []


def test_what_goes_wrong_is_said_without_paths_of_the_machine(
    plan: Plan, made: Path, caplog: pytest.LogCaptureFixture
) -> None:
    delivering = Delivering(lambda: None, str(made / "no such folder"))
    delivering.start(plan.scenario, "yaml")
    wait(delivering)
    assert delivering.runner.state == "failed"
    (reference,) = re.findall(r"\b[0-9A-F]{8}\b", delivering.runner.error)
    assert reference in caplog.text and "no such folder" in caplog.text
    assert str(made) not in delivering.runner.error
    assert delivering.take() is None
