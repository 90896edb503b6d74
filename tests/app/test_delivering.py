"""Files are made in a process of their own and handed over once; no folder is needed for it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.app.delivering import Delivering
from gpuplan.plan import Plan
from gpuplan.scenario import decode_scenario

pytestmark = pytest.mark.usefixtures("plain_script")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where folders for a while are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(load_scenario("starter"), load_catalog())


def wait(delivering: Delivering) -> None:
    end = time.monotonic() + 120
    while delivering.runner.state == "running" and time.monotonic() < end:
        time.sleep(0.02)


def runs(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def test_one_file_is_handed_over_once(plan: Plan, made: Path) -> None:
    told: list[str] = []
    delivering = Delivering(lambda: told.append(delivering.runner.state))
    assert delivering.take() is None
    delivering.start(plan, "yaml")
    wait(delivering)
    name, content = delivering.take() or ("", b"")
    assert name == "starter-example.yaml"
    assert decode_scenario(content) == plan.scenario
    assert delivering.take() is None
    assert told[-1] == "done"
    assert list(made.iterdir()) == []


def test_several_files_come_as_one(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    delivering.start(plan, "terraform")
    wait(delivering)
    name, content = delivering.take() or ("", b"")
    assert name == "starter-example-terraform.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert all(each.startswith("terraform/") for each in archive.namelist())
    assert list(made.iterdir()) == []


def test_what_is_stopped_leaves_nothing(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    delivering.start(plan)
    delivering.cancel()
    assert delivering.runner.state == "cancelled"
    assert delivering.take() is None
    assert list(made.iterdir()) == []


def test_of_two_clicks_the_last_one_counts(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    delivering.start(plan)
    delivering.start(plan, "yaml")
    wait(delivering)
    assert (delivering.take() or ("", b""))[0] == "starter-example.yaml"
    assert delivering.runner.found == []
    assert list(made.iterdir()) == []


def test_a_page_that_closes_meanwhile_leaves_nothing(made: Path) -> None:
    """The process of the session is killed while files are made: its child cannot write what nobody reads."""
    code = (
        "import time\n"
        "from gpuplan import load_catalog, load_scenario, make_plan\n"
        "from gpuplan.app.delivering import Delivering\n"
        "delivering = Delivering(lambda: None)\n"
        "delivering.start(make_plan(load_scenario('starter'), load_catalog()), 'terraform')\n"
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
    end = time.monotonic() + 60
    while runs(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert list(made.iterdir()) == []


def test_what_goes_wrong_is_said(plan: Plan, made: Path) -> None:
    delivering = Delivering(lambda: None)
    delivering.start(plan, "yaml", folder=str(made / "no such folder"))
    wait(delivering)
    assert delivering.runner.state == "failed"
    assert "no such folder" in delivering.runner.error
    assert delivering.take() is None
