"""Run the parts of the tests one after another and sum up: `python tests/parts.py [PART ...]`, as `make test` does.

A part that fails does not stop the next one. Everything a run writes is under build/tests: PART.xml (JUnit) of the last run, and
the temporary files of this one, which a failed run keeps until the next begins.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from programs import chromium

ROOT = Path(__file__).resolve().parents[1]
REPORTS = ROOT / "build" / "tests"
SLOWEST = 10
FAR_OVER = 2.0
"""How many times its budget a part may take before the run fails."""
CALIBRATION_S = 0.2
"""Processor time of `calibration` on the machine on which the budgets were measured."""
NOTHING_SELECTED = 5
"""Exit code of pytest without a test to run."""
NOTEBOOKS = (
    *("-p", "nbval", "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=900"),
    *("--nbval-sanitize-with", str(ROOT / "tests" / "nbval_sanitize.cfg"), "-p", "no:cacheprovider"),
    "--dist=loadfile",
)
"""Arguments that run notebooks, each in a process from its first cell to its last; the limit of a cell is for defects only."""


@dataclass(frozen=True)
class Part:
    """One run of pytest."""

    name: str
    arguments: tuple[str, ...]
    most_workers: int = 2
    waits: bool = False
    """Whether its tests wait for other programs, so that one more worker than processors has something to do."""
    in_chromium: bool = False
    shuffled: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)

    def left_out(self) -> str:
        """The reason why this machine cannot run it; empty if it can."""
        return "no Chromium" if self.in_chromium and chromium() is None else ""


UNIT = ("-m", "not browser and not image", "--dist=worksteal")
QUICK = ("tests/models", "tests/plan", "tests/test_layers.py", "tests/app/test_tour_browser.py")
PARTS = {
    part.name: part
    for part in (
        Part("unit", UNIT, most_workers=8),
        Part(
            "browser",
            ("-m", "browser", "--dist=worksteal", "tests/app", "tests/serve"),
            waits=True,
            in_chromium=True,
        ),
        Part("chapters", (*NOTEBOOKS, "notebooks"), shuffled=False),
        Part("cases", UNIT, most_workers=8, environment={"GPUPLAN_NIGHTLY": "1"}),
        Part("quick", ("-m", "not slow", "--dist=worksteal", *QUICK)),
    )
}
DAILY = ("unit", "browser", "chapters")
"""The parts of `make test`."""


@dataclass(frozen=True)
class Case:
    """One test of a report."""

    name: str
    seconds: float
    failed: bool
    skipped: str | None


@dataclass(frozen=True)
class Outcome:
    """What one part came to."""

    part: str
    exit_code: int = 0
    tests: Sequence[Case] = ()
    wall_s: float = 0.0
    processor_s: float = 0.0
    left_out: str = ""
    over_budget: bool = False

    @property
    def skipped(self) -> list[str]:
        """The reason of each skipped test."""
        return [test.skipped for test in self.tests if test.skipped is not None]

    @property
    def failures(self) -> list[str]:
        """Every test that failed, and the part itself if it failed by something else."""
        names = [test.name for test in self.tests if test.failed]
        if self.exit_code and not names:
            names.append(f"{self.part}: ended with exit code {self.exit_code}")
        return (
            [*names, f"{self.part}: more than {FAR_OVER:g} times its budget"] if self.over_budget else names
        )

    @property
    def passed(self) -> int:
        """Number of tests that passed."""
        return sum(not test.failed and test.skipped is None for test in self.tests)


def cases_of(report: Path) -> list[Case]:
    """The tests of a JUnit report; none if the run did not write a whole one."""
    try:
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return []
    return [
        Case(
            f"{case.get('file') or case.get('classname')}::{case.get('name')}",
            float(case.get("time", 0)),
            case.find("failure") is not None or case.find("error") is not None,
            None if (skip := case.find("skipped")) is None else skip.get("message", ""),
        )
        for case in cases
    ]


def cores() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(part: Part, folder: Path, shuffle: int | None = None, more_workers: int = 0) -> Outcome:
    """Run one part; its output goes where that of this process goes."""
    if reason := part.left_out():
        return Outcome(part.name, left_out=reason)
    report = folder / f"{part.name}.xml"
    command = [
        *(sys.executable, "-m", "pytest", *part.arguments),
        f"--numprocesses={min(cores(), part.most_workers) + part.waits + more_workers}",
        *(f"--basetemp={folder / part.name}", f"--junitxml={report}", "--override-ini=junit_family=xunit1"),
        *([f"--shuffle={shuffle}"] if shuffle is not None and part.shuffled else []),
    ]
    began, used = time.monotonic(), processor_s()
    exit_code = call(command, {**os.environ, **part.environment})
    wall, used = time.monotonic() - began, processor_s() - used
    tests = cases_of(report)
    if exit_code == NOTHING_SELECTED and os.environ.get("PYTEST_ADDOPTS"):
        exit_code = 0
    if tests:
        report.replace(REPORTS / report.name)
    return Outcome(part.name, exit_code, tests, wall, used)


def call(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Exit code of a command, which is interrupted when this process is told to end."""
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    noted = signal.getsignal(signal.SIGTERM)

    def end(number: int, frame: Any) -> None:
        process.send_signal(signal.SIGINT)
        if callable(noted):
            noted(number, frame)

    signal.signal(signal.SIGTERM, end)
    try:
        return process.wait()
    finally:
        signal.signal(signal.SIGTERM, noted)


def processor_s() -> float:
    """Processor time of all processes that have ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def calibration() -> float:
    """Processor time of a fixed loop, which tells how fast this machine is at the moment."""
    return min(_loop_s() for _ in range(5))


def _loop_s() -> float:
    began, total, seen = time.process_time(), 0, {}
    for number in range(4_000_000):
        total += number % 7
        seen[number % 1000] = total
    return time.process_time() - began


def budgets_of(makefile: str) -> dict[str, float]:
    """Budget of each part in seconds of processor time, from the Makefile's comment."""
    return {
        name: float(seconds) for name, seconds in re.findall(r"^# +budget (\w+) +(\d+) s", makefile, re.M)
    }


def shares_of_budgets(
    outcomes: Iterable[Outcome], budgets: Mapping[str, float], loop_s: float
) -> dict[str, float]:
    """Share of its budget that each part took, on a machine whose calibration takes so long."""
    return {
        each.part: each.processor_s * CALIBRATION_S / loop_s / budgets[each.part]
        for each in outcomes
        if each.part in budgets and each.tests
    }


def counted(passed: int, failed: int, skipped: int) -> str:
    """Numbers of tests, as CI reads them."""
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def line_of(outcome: Outcome) -> str:
    """One line of the sum."""
    if outcome.left_out:
        return f"{outcome.part:10}left out: {outcome.left_out}"
    tests = counted(outcome.passed, len(outcome.failures), len(outcome.skipped))
    result = "failed" if outcome.failures else "passed"
    return f"{outcome.part:10}{result:8}{tests:42}{outcome.wall_s:6.0f} s{outcome.processor_s:12.0f} s"


def summary(outcomes: Sequence[Outcome], shares: Mapping[str, float] | None = None) -> str:
    """What the whole run came to; the last line is the one that CI reads."""
    failures = [name for each in outcomes for name in each.failures]
    reasons = Counter(reason for each in outcomes for reason in each.skipped)
    slowest = sorted((test for each in outcomes for test in each.tests), key=lambda test: -test.seconds)
    sections = {
        f"{'part':10}{'result':8}{'tests':42}{'wall':>8}{'processors':>14}": map(line_of, outcomes),
        "Budgets of processor time": (
            f"{part:10}{share:6.0%} of its budget{', over' if share > 1 else ''}"
            for part, share in (shares or {}).items()
        ),
        "Slowest tests": (f"{test.seconds:8.1f} s  {test.name}" for test in slowest[:SLOWEST]),
        "Left out": (
            *(f"{each.part} part left out: {each.left_out}" for each in outcomes if each.left_out),
            *(f"{number} tests: {reason}" for reason, number in reasons.most_common()),
        ),
        "Failed": failures,
    }
    texts = ["\n".join([title, *lines]) for title, entries in sections.items() if (lines := list(entries))]
    closing = counted(sum(each.passed for each in outcomes), len(failures), reasons.total())
    return "\n\n".join([*texts, closing])


def new_folder() -> Path:
    """A folder for the temporary files of this run; those of runs that have ended are removed."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    for folder in REPORTS.glob("run-*"):
        process = int(folder.name.removeprefix("run-"))
        if process == os.getpid() or not _runs(process):
            shutil.rmtree(folder, ignore_errors=True)
    folder = REPORTS / f"run-{os.getpid()}"
    folder.mkdir()
    return folder


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def run_all(
    parts: Sequence[Part],
    *,
    shuffle: int | None = None,
    more_workers: int = 0,
    budgets: Mapping[str, float] | None = None,
) -> int:
    """Run the parts and print the sum; 1 if any of them failed."""
    interrupts: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):  # stops pytest; then comes the sum
        signal.signal(number, lambda number, _: interrupts.append(number))
    folder = new_folder()
    outcomes: list[Outcome] = []
    loops = []
    for part in parts:
        print(f"\n== {part.name}", flush=True)
        if budgets:
            loops.append(calibration())
        outcomes.append(run(part, folder, shuffle, more_workers))
        if interrupts:
            break
    shares = shares_of_budgets(outcomes, budgets, statistics.median(loops)) if budgets else {}
    outcomes = [replace(each, over_budget=shares.get(each.part, 0) > FAR_OVER) for each in outcomes]
    print(f"\n{summary(outcomes, shares)}", flush=True)
    failed = any(each.failures for each in outcomes)
    if not failed:
        shutil.rmtree(folder, ignore_errors=True)
    return int(failed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description="Run parts of the tests and sum up.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="random order of tests")
    parser.add_argument("--more-workers", type=int, default=0, metavar="N", help="beside the usual ones")
    parser.add_argument("--budgets", type=Path, metavar="MAKEFILE", help="compare with the budgets there")
    options = parser.parse_args(arguments)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown part: {', '.join(sorted(unknown))}")
    budgets = budgets_of(options.budgets.read_text(encoding="utf-8")) if options.budgets else None
    if options.shuffle is not None:
        print(f"Random order of tests, seed {options.shuffle}")
    return run_all(
        [PARTS[name] for name in options.parts or DAILY],
        shuffle=options.shuffle,
        more_workers=options.more_workers,
        budgets=budgets,
    )


if __name__ == "__main__":
    sys.exit(main())
