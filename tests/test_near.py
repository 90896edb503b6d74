"""`make near` runs what belongs to a change: on a made-up tree, and on this one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import near
import pytest
from near import ROOT, Nearness, Selection, Tree, expected, parts_of

FILES = {
    "gpuplan/__init__.py": "from gpuplan.plan import make_plan\n",
    "gpuplan/plan/__init__.py": "from gpuplan.plan.plan import make_plan\n",
    "gpuplan/plan/plan.py": "def make_plan(): ...\n",
    "gpuplan/plan/cost.py": "",
    "gpuplan/plan/lonely.py": "",
    "gpuplan/app/steps/week.py": "",
    "gpuplan/widgets/static/week.js": "",
    "gpuplan/widgets/static/common.js": "",
    "data/prices.csv": "",
    "notebooks/01_first.ipynb": "{}",
    "tests/helping.py": "from gpuplan.plan.cost import money\n",
    "tests/conftest.py": "import pytest\n",
    "tests/plan/test_plan.py": "def test_nothing(): ...\n",
    "tests/plan/test_cost.py": "def test_money(): ...\n",
    "tests/plan/cost/test_years.py": "",
    "tests/plan/test_other.py": "from gpuplan.plan import cost\n",
    "tests/report/test_through_the_door.py": "from gpuplan import make_plan as made\n",
    "tests/report/test_by_a_helper.py": "from helping import help_me\n",
    "tests/test_table.py": "TABLES = ('prices',)\n",
    "tests/test_pages.py": "PAGE = 'README.md'\nFIRST = '01_first.ipynb'\n",
    "tests/app/test_week_browser.py": "def test_the_first(): ...\ndef test_the_second(): ...\n",
    "tests/app/test_browser.py": "def test_a_tour():\n    go('week')\n    go('hosts')\ndef test_else(): 'weekly'\n",
    "tests/app/test_tour_browser.py": "def test_all(): ...\n",
}
IN_BROWSER = {
    "tests/app/test_browser.py::test_a_tour",
    "tests/app/test_week_browser.py::test_the_first",
    "tests/app/test_week_browser.py::test_the_second",
}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A small checkout."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Tree(tmp_path)


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        (
            "gpuplan/plan/cost.py",
            {
                *("tests/plan/test_cost.py", "tests/plan/cost/test_years.py", "tests/plan/test_other.py"),
                "tests/report/test_by_a_helper.py",
            },
        ),
        ("gpuplan/plan/plan.py", {"tests/plan/test_plan.py", "tests/report/test_through_the_door.py"}),
        ("gpuplan/app/steps/week.py", IN_BROWSER),
        ("gpuplan/widgets/static/week.js", IN_BROWSER),
        ("gpuplan/widgets/static/common.js", {"tests/app/test_tour_browser.py"}),
        ("data/prices.csv", {"tests/test_table.py"}),
        ("notebooks/01_first.ipynb", {"notebooks/01_first.ipynb", "tests/test_pages.py"}),
        ("notebooks/02_removed.ipynb", set()),
        ("README.md", {"tests/test_pages.py"}),
        ("gpuplan/plan/README.md", set()),
        ("tests/plan/test_cost.py", {"tests/plan/test_cost.py"}),
        ("tests/plan/test_removed.py", set()),
        ("tests/helping.py", {"tests/report/test_by_a_helper.py"}),
        ("tests/conftest.py", {name for name in FILES if "/test_" in name}),
    ],
)
def test_what_belongs_to_a_file(tree: Tree, changed: str, tests: set[str]) -> None:
    assert set(near.near(tree, [changed]).nearness) == tests


def test_a_module_that_many_import_is_tested_in_its_folder(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near, "MOST_IMPORTERS", 0)
    chosen = near.near(tree, ["gpuplan/plan/plan.py"]).nearness
    assert chosen == {
        "tests/plan/test_plan.py": Nearness.MIRROR,
        "tests/plan/test_cost.py": Nearness.FOLDER,
        "tests/plan/test_other.py": Nearness.FOLDER,
    }


def test_files_without_a_test_are_named(tree: Tree) -> None:
    selection = near.near(tree, ["gpuplan/plan/lonely.py", "deploy/unknown.conf", "gpuplan/plan/cost.py"])
    assert selection.untested == [
        "no test mirrors gpuplan/plan/lonely.py",
        "no test names deploy/unknown.conf",
    ]


def test_the_nearest_and_quickest_run_within_the_limit() -> None:
    selection = Selection()
    selection.add(["far", "slow", "quick"], Nearness.IMPORTS)
    selection.add(["mirror"], Nearness.MIRROR)
    selection.add(["changed"], Nearness.ITSELF)
    selection.add(["mirror", "changed"], Nearness.FOLDER)
    seconds = {"changed": 50, "mirror": 20, "quick": 5, "slow": 9, "far": 6}
    assert selection.within(seconds, 100) == (["changed", "mirror", "quick", "far", "slow"], [])
    assert selection.within(seconds, 76) == (["changed", "mirror", "quick"], ["far", "slow"])
    assert selection.within(seconds, 30) == (["changed"], ["mirror", "quick", "far", "slow"])


def test_times_are_those_of_the_last_run_that_has_the_test(tmp_path: Path) -> None:
    cases = "".join(
        f'<testcase file="tests/test_a.py" name="test_x[{seconds}]" time="{seconds}"/>' for seconds in (2, 3)
    )
    (tmp_path / "unit.xml").write_text(f"<testsuite>{cases}</testsuite>")
    tests = ["tests/test_a.py", "tests/test_a.py::test_x", "tests/test_b.py", "notebooks/a.ipynb"]
    assert list(expected(tests, tmp_path).values()) == [5, 5, near.MEAN_S["file"], near.MEAN_S["notebook"]]


def test_notebooks_run_by_nbval_and_a_few_tests_in_one_process() -> None:
    first, second = parts_of(["tests/test_a.py", "notebooks/a.ipynb"], 2)
    assert "tests/test_a.py" in first.arguments and first.most_workers == 0
    assert "notebooks/a.ipynb" in second.arguments and "nbval" in second.arguments
    (longer,) = parts_of(["tests/test_a.py"], 25)
    assert longer.most_workers == 2


def test_every_module_of_gpuplan_has_a_test_near_or_is_named() -> None:
    tree = Tree(ROOT)
    for path in (ROOT / "gpuplan").rglob("*.py"):
        selection = near.near(tree, [path.relative_to(ROOT).as_posix()])
        assert selection.nearness or selection.untested, path
        assert len(selection.untested) <= 1


def test_what_is_not_committed_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "ROOT", tmp_path)
    git = (
        "git",
        "-C",
        str(tmp_path),
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "commit.gpgsign=false",
    )
    for name in ("same", "different", "removed", ".gitignore"):
        (tmp_path / name).write_text("ignored\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "First"]):
        subprocess.run([*git, *command], check=True)
    (tmp_path / "different").write_text("now")
    (tmp_path / "removed").unlink()
    for name in ("new and unknown", "ignored"):
        (tmp_path / name).touch()
    assert near.changed_since("HEAD") == ["different", "removed", "new and unknown"]
    with pytest.raises(SystemExit, match="SINCE"):
        near.changed_since("no-such-commit")
