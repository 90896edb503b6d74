"""Long commands in a process of their own: progress, results, cancelling, errors."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from approved import is_approved
from waiting import LIMIT_S, LONG_S, soon

from gpuplan import cli, load_scenario, make_plan
from gpuplan.app import background
from gpuplan.app.background import Exploring, Runner, Simulating
from gpuplan.catalog import Catalog

pytestmark = pytest.mark.usefixtures("plain_script")

SIMULATE = ("demand", "-", "--simulate", "--progress")


def wait(runner: Runner, until: Callable[[], bool]) -> None:
    soon(until, f"it never came to that: {runner.error}", LONG_S)


def wait_followed() -> None:
    """Wait until nothing more is read of any command."""
    for thread in threading.enumerate():
        if "_follow" in thread.name:
            thread.join(LIMIT_S)
            assert not thread.is_alive()


def run_instead(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Run this in place of gpuplan."""
    popen = subprocess.Popen
    monkeypatch.setattr(
        "gpuplan.app.background.subprocess.Popen",
        lambda _, **how: popen([sys.executable, "-c", program], **how),
    )


def starter() -> bytes:
    return load_scenario("starter").to_yaml().encode()


def test_a_simulation_reports_and_ends() -> None:
    told: list[tuple[str, float]] = []
    runner = Runner(lambda: told.append((runner.state, runner.done)))
    runner.start([*SIMULATE, "--hosts", "7,8"], starter())
    wait(runner, lambda: runner.state != "running")
    assert (runner.state, runner.done, runner.error) == ("done", 1.0, "")
    assert [line["simulation"]["hosts"] for line in runner.found] == [7, 8]
    assert told[0] == ("running", 0.0)
    assert told[-1] == ("done", 1.0)
    assert [done for _, done in told] == sorted(done for _, done in told)


def test_the_time_left_follows_from_the_pace_since_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made ready in a minute, then a quarter in ten seconds: twenty-eight more for the rest."""
    runner = Runner(lambda: None)
    left = []
    for now, done in ((60, 0.05), (61, 0.1), (70, 0.3)):
        monkeypatch.setattr("gpuplan.app.background.time.monotonic", lambda now=now: float(now))
        assert runner.started is bool(left)
        runner._take(runner._process, {"done": done})  # type: ignore[arg-type]
        left.append(round(runner.left_s, 6))
    assert left == [0, 0, 28]
    runner.clear()
    assert (runner.left_s, runner.started) == (0, False)


def test_what_goes_wrong_is_said_in_words() -> None:
    runner = Runner(lambda: None)
    runner.start(SIMULATE, b"groups: 7")
    wait(runner, lambda: runner.state != "running")
    assert runner.state == "failed"
    assert is_approved(runner.error, "7")


CRASHES = {
    "a traceback": ("raise RuntimeError('lost /home/me/secret')", True),
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", True),
    "an option that is none": ("print('usage: gpuplan explore [-h]', file=sys.stderr); sys.exit(2)", True),
    "a refusal with a path": (
        "print(f'cannot read {tempfile.gettempdir()}/x', file=sys.stderr); sys.exit(2)",
        True,
    ),
    "a refusal with another": (
        "print('/srv/catalog/gpus.csv, row 3: no price', file=sys.stderr); sys.exit(2)",
        True,
    ),
    "a refusal with C:": (r"print('C:\\data\\x is not there', file=sys.stderr); sys.exit(2)", True),
    "a refusal with ids": (
        "print('prices.gpus/h100: and/or 1/2 is no price', file=sys.stderr); sys.exit(2)",
        False,
    ),
    "a refusal": ("print('groups.a.people: 7 is too many', file=sys.stderr); sys.exit(2)", False),
    "no word": ("sys.exit(1)", True),
    "half a line": ("print('{\"done\": 0.5', end='', flush=True); sys.exit(3)", True),
    "words among the lines": ("print('a library'); print('[1]'); raise ValueError('/home/me')", True),
}


@pytest.mark.parametrize("name", CRASHES)
def test_a_command_that_crashes_shows_a_reference_and_its_text_is_in_the_log(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    code, hidden = CRASHES[name]
    program = "import os, signal, sys, tempfile; sys.stdin.read(); " + code
    run_instead(monkeypatch, program)
    runner = Runner(lambda: None)
    runner.start(SIMULATE, starter())
    wait(runner, lambda: runner.state != "running")
    assert runner.state == "failed"
    assert not any(
        word in runner.error for word in ("/srv", "/tmp", "/home", "C:", "Traceback", "usage", "File")
    )
    (reference,) = re.findall(r"\b[0-9A-F]{8}\b", runner.error) if hidden else [""]
    assert hidden is bool(caplog.records)
    assert reference in caplog.text
    if name == "a traceback":
        assert "/home/me/secret" in caplog.text


def test_bad_input_has_the_exit_code_of_the_command_line() -> None:
    assert background.BAD_INPUT == cli.BAD_INPUT


def test_what_a_library_prints_ends_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys; sys.stdin.read(); print('solved'); print('{\"done\": 1.0, \"answer\": 42}')"
    run_instead(monkeypatch, program)
    runner = Runner(lambda: None)
    runner.start(SIMULATE, starter())
    wait(runner, lambda: runner.state != "running")
    assert (runner.state, runner.error, [line["answer"] for line in runner.found]) == ("done", "", [42])


def test_cancelling_ends_the_process_and_keeps_what_was_found() -> None:
    many = ",".join(str(n) for n in range(9, 200))
    runner = Runner(lambda: None)
    runner.start([*SIMULATE, "--hosts", f"7,{many}"], starter())
    wait(runner, lambda: len(runner.found) >= 1)
    process = runner._process
    assert process is not None
    runner.cancel()
    assert runner.state == "cancelled"
    found = len(runner.found)
    assert process.wait(timeout=LIMIT_S) != 0
    wait_followed()
    assert (len(runner.found), runner.state) == (found, "cancelled")
    runner.clear()
    assert (runner.state, runner.found) == ("idle", [])


def test_a_new_command_takes_the_place_of_the_old_one() -> None:
    runner = Runner(lambda: None)
    runner.start([*SIMULATE, "--hosts", ",".join(["8"] * 99)], starter())
    runner.start([*SIMULATE, "--hosts", "9"], starter())
    wait(runner, lambda: runner.state != "running")
    assert [line["simulation"]["hosts"] for line in runner.found] == [9]


def test_the_page_is_told_in_its_own_loop_and_goes_on_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuplan.app.idle_work.running_loop", asyncio.get_running_loop)
    threads: set[int] = set()
    beats = 0

    async def page() -> int:
        nonlocal beats
        runner = Runner(lambda: threads.add(threading.get_ident()))
        runner.start([*SIMULATE, "--hosts", "7,8,9"], starter())
        while runner.state == "running":
            await asyncio.sleep(0.01)
            beats += 1
        assert runner.state == "done"
        return threading.get_ident()

    with ThreadPoolExecutor(1) as own:  # a thread without the loop of a browser
        at_home = own.submit(lambda: asyncio.run(asyncio.wait_for(page(), LIMIT_S))).result()
    assert threads == {at_home}
    assert beats > 10


def test_a_design_is_simulated_with_a_few_numbers_of_hosts() -> None:
    changes: list[float] = []
    simulating = Simulating(lambda: changes.append(simulating.runner.done))
    scenario = load_scenario("starter")
    simulating.start(scenario, "week")
    wait(simulating.runner, lambda: simulating.runner.state != "running")
    assert simulating.runner.error == ""
    assert (simulating.scenario, simulating.when) == (scenario, "week")
    assert [t["hosts"] for t in simulating.simulations] == [5, 6, 7, 8, 9, 10]
    assert {t["when"] for t in simulating.simulations} == {"week"}
    assert changes[-1] == 1.0
    simulating.start(scenario, "busiest")
    assert simulating.simulations == []
    simulating.runner.cancel()


def test_a_design_is_tried_at_the_ends_of_its_ranges(catalog: Catalog) -> None:
    changes: list[float] = []
    sensitivity = Exploring("sensitivity", "sensitivity", lambda: changes.append(sensitivity.runner.done))
    plan = make_plan(load_scenario("starter"), catalog)
    sensitivity.start(plan)
    assert sensitivity.found is None
    wait(sensitivity.runner, lambda: sensitivity.runner.state != "running")
    assert sensitivity.runner.error == ""
    assert sensitivity.plan is plan
    assert changes[-1] == 1.0
    assert len(set(changes)) > 3
    found = sensitivity.found
    assert found is not None
    assert {"bars", "thresholds"} <= set(found)
    assert found["bars"]


def test_exploring_can_be_stopped_and_leaves_nothing(catalog: Catalog) -> None:
    exploring = Exploring("explore", "exploration", lambda: None)
    exploring.start(make_plan(load_scenario("starter"), catalog))
    exploring.runner.cancel()
    assert exploring.runner.state == "cancelled"
    assert exploring.found is None


def test_what_is_worked_out_once_is_forgotten_with_the_next_start(catalog: Catalog) -> None:
    exploring = Exploring("explore", "exploration", lambda: None)
    asked: list[int] = []
    for _ in range(2):
        exploring.once("a", lambda: asked.append(1))
    assert len(asked) == 1
    exploring.start(make_plan(load_scenario("starter"), catalog))
    exploring.runner.cancel()
    exploring.once("a", lambda: asked.append(1))
    assert len(asked) == 2


def test_the_error_is_there_when_the_state_says_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def slow(*_: object) -> str:
        seen.append(runner.state)
        return "why"

    monkeypatch.setattr(background, "_of_command", slow)
    runner = Runner(lambda: None)
    runner.start(SIMULATE, b"groups: 7")
    wait(runner, lambda: runner.state != "running")
    assert (seen, runner.error) == (["running"], "why")
