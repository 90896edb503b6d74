"""`make test` runs every part and sums up: on made-up tests, and what the Makefile and CI promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import parts
import pytest
from parts import DAILY, PARTS, Case, Outcome, Part, budgets_of, shares_of_budgets, summary
from random_cases import shuffled

ROOT = Path(__file__).resolve().parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
GREEN = "def test_one():\n    pass\n"
RED = "import pytest\ndef test_two():\n    assert 0\ndef test_three():\n    pytest.skip('nginx is missing')\n"


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout whose runs of pytest start no further process."""
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    monkeypatch.setattr(parts, "REPORTS", tmp_path / "build" / "tests")
    monkeypatch.setattr(parts, "calibration", lambda: parts.CALIBRATION_S)
    monkeypatch.setattr(parts.signal, "signal", lambda *_: None)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p xdist.plugin\n")
    return tmp_path


def part_of(folder: Path, name: str, code: str) -> Part:
    """A part with one file of tests."""
    file = folder / f"test_{name}.py"
    file.write_text(code)
    return Part(name, (str(file),), most_workers=0)


def test_a_part_that_fails_does_not_stop_the_next_and_the_last_line_counts(
    made_up: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = part_of(made_up, "broken", "import nothing_of_this_name\n")
    runs = [part_of(made_up, "red", RED), broken, part_of(made_up, "green", GREEN)]
    assert parts.run_all(runs) == 1
    printed = capfd.readouterr().out
    assert printed.splitlines()[-1] == "1 passed, 2 failed, 1 skipped"
    for name, result, passed in (("red", "failed", 0), ("broken", "failed", 0), ("green", "passed", 1)):
        assert re.search(rf"^{name} +{result} +{passed} passed", printed, re.M), printed
    assert "1 tests: nginx is missing" in printed.splitlines()
    assert "test_red.py::test_two" in printed.partition("\nFailed\n")[2]
    reports = made_up / "build" / "tests"
    assert {path.name for path in reports.glob("*.xml")} == {"red.xml", "broken.xml", "green.xml"}
    assert (reports / f"run-{os.getpid()}").is_dir(), "what failed can be looked at"
    assert parts.run_all([part_of(made_up, "green", GREEN)]) == 0
    assert not list(reports.glob("run-*"))


@pytest.mark.parametrize(
    "told", ["os.killpg(0, signal.SIGINT)", "os.kill(os.getppid(), signal.SIGTERM)"], ids=["ctrl-c", "kill"]
)
def test_who_is_told_to_end_ends_the_run_with_a_sum(made_up: Path, told: str) -> None:
    stop = f"import os, signal\ndef test_stopped():\n    {told}\n    signal.pause()\n"
    code = (
        f"import sys; sys.path.insert(0, {str(Path(parts.__file__).parent)!r}); import parts; from pathlib import Path\n"
        f"parts.ROOT = Path({str(made_up)!r}); parts.REPORTS = parts.ROOT / 'reports'\n"
        "runs = [parts.Part(name, (f'test_{name}.py',), most_workers=0) for name in ('stop', 'green')]\n"
        "sys.exit(parts.run_all(runs))"
    )
    part_of(made_up, "stop", stop), part_of(made_up, "green", GREEN)
    done = subprocess.run(
        [sys.executable, "-c", code], start_new_session=True, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "== green" not in done.stdout
    assert "stop: ended with exit code 2" in done.stdout.splitlines()
    assert done.stdout.splitlines()[-1].endswith(" passed, 1 failed")


def test_nothing_to_run_is_a_failure_unless_tests_were_selected(
    made_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "call", lambda *_, **__: pytest.ExitCode.NO_TESTS_COLLECTED)
    assert parts.run_all([PARTS["unit"]]) == 1
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k anything")
    assert parts.run_all([PARTS["unit"]]) == 0


def test_without_chromium_its_part_is_left_out_once(
    made_up: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parts, "chromium", lambda: None)
    assert parts.run_all([PARTS["browser"]]) == 0
    printed = capsys.readouterr().out
    assert printed.count("no Chromium") == 2, "in the line of the part, and in what is left out"
    assert "browser part left out: no Chromium" in printed.splitlines()
    assert printed.splitlines()[-1] == "0 passed, 0 failed"


def test_folders_of_runs_that_have_ended_are_removed(made_up: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        pass
    reports = made_up / "build" / "tests"
    for process in (ended.pid, os.getpid(), os.getppid()):
        (reports / f"run-{process}").mkdir(parents=True)
    (reports / f"run-{os.getpid()}" / "old").touch()
    assert list(parts.new_folder().iterdir()) == []
    assert {path.name for path in reports.iterdir()} == {f"run-{os.getpid()}", f"run-{os.getppid()}"}


def outcome(name: str, *tests: Case, **values: object) -> Outcome:
    return Outcome(name, tests=tests, wall_s=1.0, **values)


def test_the_sum_names_the_slowest_tests_and_what_failed() -> None:
    tests = [Case(f"test_{number}", number, number == 3, None) for number in range(20)]
    text = summary([outcome("unit", *tests, exit_code=1), outcome("browser", exit_code=3)])
    slowest = re.findall(r"^ +[\d.]+ s  (test_\d+)$", text, re.M)
    assert slowest == [f"test_{number}" for number in range(19, 9, -1)]
    assert text.splitlines()[-1] == "19 passed, 2 failed"
    assert text.partition("\nFailed\n")[2].splitlines()[:2] == ["test_3", "browser: ended with exit code 3"]


def test_budgets_are_compared_as_on_the_machine_where_they_were_measured() -> None:
    budgets = budgets_of("# Budgets:\n#   budget unit      500 s\n#   budget browser 90 s\nunit 3 s\n")
    assert budgets == {"unit": 500, "browser": 90}
    ran = outcome("unit", Case("a", 1, False, None), processor_s=600)
    assert shares_of_budgets([ran], budgets, parts.CALIBRATION_S) == {"unit": pytest.approx(1.2)}
    assert shares_of_budgets([ran], budgets, 2 * parts.CALIBRATION_S) == {"unit": pytest.approx(0.6)}
    assert shares_of_budgets([outcome("unit", processor_s=600)], budgets, 1) == {}, "left out"


@pytest.mark.parametrize(("budget_s", "code"), [(49, 1), (51, 0), (200, 0)])
def test_only_far_over_its_budget_a_part_fails(
    made_up: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    budget_s: float,
    code: int,
) -> None:
    passed = outcome("unit", Case("a", 1, False, None), processor_s=100)
    monkeypatch.setattr(parts, "run", lambda *_: passed)
    assert parts.run_all([PARTS["unit"]], budgets={"unit": budget_s}) == code
    printed = capsys.readouterr().out
    assert re.search(r"^unit +\d+% of its budget", printed, re.M)
    assert printed.splitlines()[-1] == f"1 passed, {code} failed"


def test_a_run_of_nothing_says_so(made_up: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert parts.run_all([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 0 failed"


def test_each_daily_part_has_a_budget_and_make_runs_it() -> None:
    assert tuple(budgets_of(MAKEFILE)) == DAILY
    assert "--no-print-directory test\n" in MAKEFILE, "make check ends with the sum, too"
    assert re.search(r"^PARTS \?= (.*)$", MAKEFILE, re.M)[1].split() == list(DAILY)
    for target, command in (
        ("near", "tests/near.py $(SINCE)"),
        ("quick", "tests/parts.py quick"),
        ("test", "tests/parts.py $(PARTS)"),
        ("nightly", "tests/parts.py $(PARTS) cases --shuffle $(SEED) --more-workers 1 --budgets Makefile"),
    ):
        recipe = re.search(rf"^{target}:.* ## .*\n((?:\t.*\n)+)", MAKEFILE, re.M)
        assert recipe and command in recipe[1], target


def test_tests_in_the_browser_are_where_their_part_looks() -> None:
    folders = [ROOT / each for each in parts.PARTS["browser"].arguments if each.startswith("tests/")]
    mark = "mark." + "browser"
    marked = [
        path for path in (ROOT / "tests").rglob("test_*.py") if mark in path.read_text(encoding="utf-8")
    ]
    assert marked and all(any(path.is_relative_to(each) for each in folders) for path in marked)


def test_unknown_parts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parts.main(["unit", "attic"])
    assert "attic" in capsys.readouterr().err


def test_a_seed_gives_one_order_in_which_files_stay_together() -> None:
    tests = [(file, number) for file in "abcdefgh" for number in range(10)]
    orders = {seed: shuffled(tests, lambda test: test[0], seed) for seed in (1, 2)}
    assert orders[1] == shuffled(tests, lambda test: test[0], 1)
    assert orders[1] != orders[2] != tests
    for order in orders.values():
        assert sorted(order) == tests
        files = [file for file, _ in order]
        assert sum(one != other for one, other in pairwise(files)) == 7


def test_pytest_runs_in_that_order() -> None:
    orders = [collected("tests/test_random_cases.py", f"--shuffle={seed}") for seed in (1, 2)]
    assert sorted(orders[0]) == sorted(orders[1]) != []
    assert orders[0] != orders[1]


def test_each_of_a_group_has_its_day_and_the_night_has_all() -> None:
    file = "tests/app/test_nothing_lost_browser.py"
    days = [collected(file, GPUPLAN_NIGHTLY="0", GPUPLAN_DAY=day) for day in ("2026-11-28", "2026-11-29")]
    night = collected(file, GPUPLAN_NIGHTLY="1")
    assert sorted(days[0] + days[1]) == sorted(night)
    assert collected(night[0], GPUPLAN_NIGHTLY="0") == [night[0]]


def collected(*arguments: str, **environment: str) -> list[str]:
    """The tests that pytest would run, in that order."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments]
    around = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"} | environment
    done = subprocess.run(command, cwd=ROOT, env=around, capture_output=True, text=True)
    return re.findall(r"^tests/.*::.*$", done.stdout, re.M)
