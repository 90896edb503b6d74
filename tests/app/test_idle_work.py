"""Long work does not hold up what a user does, is begun once nothing changes, and survives the process that it runs in."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from waiting import LIMIT_S

from gpuplan import Plan
from gpuplan.app import idle_work
from gpuplan.app.idle_work import Later, collect_later
from gpuplan.app.state import Workbook
from gpuplan.app.strip import strip_data
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict, load_scenario
from gpuplan.serve import forking


def run(page: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """In a thread of its own: the browser of other tests leaves a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(page())).result()


@pytest.fixture(autouse=True)
def in_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_work, "running_loop", asyncio.get_running_loop)


def test_it_is_worked_out_once_and_is_none_until_then(plans: dict[str, Plan]) -> None:
    calls: list[Plan] = []
    seen: list[object] = []

    def work(plan: Plan) -> str:
        calls.append(plan)
        return "found"

    async def page() -> None:
        arrived = asyncio.Event()
        later = Later(arrived.set)
        seen.extend(later.found("a", work, plans["starter"]) for _ in range(2))
        await asyncio.wait_for(arrived.wait(), 10)
        seen.append(later.found("a", work, plans["starter"]))

    run(page)
    assert seen == [None, None, "found"]
    assert calls == [plans["starter"]]


def test_what_is_for_a_design_that_has_changed_is_not_begun(plans: dict[str, Plan]) -> None:
    calls: list[str] = []

    async def page() -> None:
        arrived = asyncio.Event()
        later = Later(arrived.set)
        later.found("old", lambda _: calls.append("old"), plans["starter"])
        later.forget()
        later.found("new", lambda _: calls.append("new"), plans["starter"])
        await asyncio.wait_for(arrived.wait(), 10)

    run(page)
    assert calls == ["new"]


@pytest.mark.skipif(not forking.FORKING, reason="sessions are forked on Linux only")
@pytest.mark.parametrize(("seconds", "kept"), [(0, 60), (1, 60), (0, 0.1)])
def test_it_has_a_process_and_without_it_a_thread(seconds: int, kept: float) -> None:
    """The process ends where nothing comes; it is killed in between, which may be known or not; the same is found in a thread."""
    code = f"""
import asyncio, os, signal, time
from gpuplan import load_scenario, make_plan
from gpuplan.analysis.demand import sharing_saves
from gpuplan.app import idle_work
def place(plan):
    return os.getpid()
idle_work.KEPT_S = {kept}
idle_work.prepare()
plan = make_plan(load_scenario("current").with_value("demand.rule", "hours"))
beside = asyncio.run(idle_work._done(place, plan))
time.sleep({kept} + 0.5 if {kept} < 1 else 0)
beside, before = asyncio.run(idle_work._done(place, plan)), beside
first = asyncio.run(idle_work._done(sharing_saves, plan))
os.kill(beside, signal.SIGKILL)
time.sleep({seconds})
again = asyncio.run(idle_work._done(sharing_saves, plan))
print(beside != os.getpid(), before == beside, first is not None, first == again == sharing_saves(plan), idle_work._line)
"""
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **forking.SINGLE},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    ).stdout
    assert told.split() == ["True", str(kept > 1), "True", "True", "None"]


@pytest.mark.parametrize(("enough", "times"), [(-1, 1), (10**9, 0)])
def test_garbage_is_collected_once_nothing_happens_any_more(
    monkeypatch: pytest.MonkeyPatch, enough: int, times: int
) -> None:
    collected: list[int] = []
    monkeypatch.setattr(idle_work, "ENOUGH", enough)
    monkeypatch.setattr(gc, "collect", lambda: collected.append(1))

    async def page() -> None:
        for _ in range(3):
            collect_later()
            await asyncio.sleep(idle_work.COLLECT_S / 3)
        assert collected == []
        await asyncio.sleep(2 * idle_work.COLLECT_S)

    run(page)
    assert len(collected) == times


def test_a_rule_by_risk_is_answered_by_formula_and_checked_beside_the_page(catalog: Catalog) -> None:
    """An edit that asks for no other simulation is checked at once, so that hosts do not move to and fro."""
    seen: list[tuple[bool, int]] = []
    groups = [
        {"id": "large", "people": 20, "gpus_each": 4, "active_share": 0.3, "access": "vgpu"},
        {"id": "small", "people": 40, "gpus_each": 1, "active_share": 0.3, "access": "vgpu"},
    ]
    scenario = from_dict({"groups": groups, "demand": {"rule": "denied", "chance": 0.011}})

    async def page() -> None:
        book, checked = Workbook(catalog, scenario), asyncio.Event()
        book.observe(lambda _: checked.set() if book.plan.checked else None, "revision")
        seen.append((book.plan.checked, book.plan.totals.hosts))
        await asyncio.wait_for(checked.wait(), LIMIT_S)
        seen.append((book.plan.checked, book.plan.totals.hosts))
        book.edit("cost.years", 3)
        seen.append((book.plan.checked, book.plan.totals.hosts))
        assert not book.before or book.before.totals.hosts == seen[1][1]

    run(page)
    (first, few), (after, many), edited = seen
    assert not first and after and many > few and edited == (True, many)


def test_restarts_follow_the_first_answer(catalog: Catalog) -> None:
    """The strip has no colour of what is not checked, and the plan itself always checks."""
    seen: list[tuple[str, str]] = []

    async def page() -> None:
        scenario = load_scenario("assistant").with_value("groups.data-scientists.people", 6)
        book, checked = Workbook(catalog, scenario), asyncio.Event()
        book.observe(lambda _: checked.set(), "revision")
        for _ in range(2):
            seen.append((book.checked.verdict.survives, strip_data(book)["figures"][4]["tone"]))
            await asyncio.wait_for(checked.wait(), LIMIT_S)
        assert book.plan.verdict.survives == seen[1][0]

    run(page)
    assert seen == [("unchecked", ""), ("no", "warn")]
