"""Long commands in a process of their own: progress, results, cancelling, errors."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from waiting import LIMIT_S, LONG_S, soon

from gpuplan import load_scenario
from gpuplan.app import running
from gpuplan.app.running import Runner

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


def starter() -> bytes:
    return load_scenario("starter").to_yaml().encode()


def test_a_simulation_reports_and_ends() -> None:
    told: list[tuple[str, float]] = []
    runner = Runner(lambda: told.append((runner.state, runner.done)))
    runner.start([*SIMULATE, "--hosts", "7,8"], starter())
    wait(runner, lambda: runner.state != "running")
    assert (runner.state, runner.done, runner.error) == ("done", 1.0, "")
    assert [line["trial"]["hosts"] for line in runner.found] == [7, 8]
    assert told[0] == ("running", 0.0)
    assert told[-1] == ("done", 1.0)
    assert [done for _, done in told] == sorted(done for _, done in told)


def test_what_goes_wrong_is_said_in_words() -> None:
    runner = Runner(lambda: None)
    runner.start(SIMULATE, b"groups: 7")
    wait(runner, lambda: runner.state != "running")
    assert runner.state == "failed"
    assert runner.error == "groups: 7 is not allowed: a list of groups"


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
    assert [line["trial"]["hosts"] for line in runner.found] == [9]


def test_the_page_is_told_in_its_own_loop_and_goes_on_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "running_loop", asyncio.get_running_loop)
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
