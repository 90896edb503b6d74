"""The script that tries mutants: which operators it finds, that it changes one token, and what kills a mutant."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import mutants
import pytest
from mutants import Mutant, Operator, Source, choose, operators, stages

SAMPLE = '''
"""1 + 1 in a docstring."""
LIMITS: tuple[1, 2] = (1, 0.5)


@cached(size=3)
def überall(a: Literal[4], b=5) -> Literal[6]:
    """2 < 3."""
    name = "ä" if (a  # and
        ) <= (b) else f"{a + b}"
    if a not in b and not name or a is  not None:
        return max(a - b, -b) * [7] + "8"
    a += b
    return any(zip(a, b, strict=True)) is True


class Shape:
    def __repr__(self):
        return 9 * 9
'''
FOUND = {
    "": ["1", "0.5"],
    "überall": [
        "5",
        "<=",
        "not in",
        "and",
        "not",
        "or",
        "is not",
        "max",
        "-",
        "-",
        "7",
        "+=",
        "any",
        "is",
        "True",
    ],
}


def found(text: str) -> list[Operator]:
    return Source("gpuplan/models/sample.py", text).operators()


def test_operators_outside_annotations_decorators_texts_and_repr_are_found() -> None:
    by_function: dict[str, list[str]] = {}
    for operator in found(SAMPLE):
        by_function.setdefault(operator.function, []).append(operator.old)
    assert by_function == FOUND


def test_one_token_is_changed_and_the_rest_stays() -> None:
    for operator in found(SAMPLE):
        assert " ".join(SAMPLE[operator.start : operator.end].split()) == operator.old
        assert SAMPLE[: operator.start].count("\n") + 1 == operator.line
        for new in operator.choices:
            changed = Mutant(operator, new).applied(SAMPLE)
            assert changed != SAMPLE
            assert changed.startswith(SAMPLE[: operator.start] + new)
            assert changed.endswith(SAMPLE[operator.end :])


def package(tree: Path) -> Path:
    """A package with a function that is tested at its edge, a loop that is not, and a test that is broken."""
    files = {
        "gpuplan/__init__.py": "",
        "gpuplan/models/edge.py": "def over(a, b):\n    return a > b\n",
        "gpuplan/plan/loop.py": "def last(a):\n    while a:\n        a -= 1\n    return a\n",
        "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["browser", "image", "slow"]\n',
        "tests/models/test_edge.py": """
            from gpuplan.models.edge import over

            def test_edge():
                assert over(2, 1) and not over(1, 1) and not over(1, 2)
            """,
        "tests/plan/test_loop.py": """
            from gpuplan.plan.loop import last

            def test_that_is_broken():
                assert last(0) is None

            def test_even():
                assert last(20) == 0
            """,
        "tests/plan/test_loop_browser.py": "",
        "tests/plan/test_other.py": "",
        "tests/analysis/test_named.py": "from gpuplan.models import edge\n",
        "tests/report/test_function.py": "last = 1\n",
        "tests/app/test_app.py": "",
    }
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return tree


def test_a_seed_chooses_the_same_mutants_in_any_place_and_whatever_is_beside_them(tmp_path: Path) -> None:
    before = [mutant.name for mutant in choose(operators(package(tmp_path / "before")), 99, seed=1)]
    tree = package(tmp_path / "after")
    (tree / "gpuplan/plan/aside.py").write_text("TWO = 1 + 1\n")
    loop = tree / "gpuplan/plan/loop.py"
    loop.write_text(f"def first(a):\n    return a * 4\n\n\n{loop.read_text()}")
    after = [mutant.name for mutant in choose(operators(tree), 99, seed=1)]
    assert len(after) == len(before) + 5
    assert [name for name in after if name in before] == before
    assert len(before) == 3
    assert {mutant.name for mutant in choose(operators(tree), 2, seed=2)} != set(after[:2])


def test_the_rooms_take_turns() -> None:
    candidates = [
        operator
        for room in reversed(mutants.ROOMS)
        for operator in Source(f"gpuplan/{room}/sample.py", SAMPLE).operators()
    ]
    chosen = choose(candidates, 4 * len(mutants.ROOMS), seed=mutants.SEED)
    assert [mutant.operator.room for mutant in chosen] == [*mutants.ROOMS] * 4


def test_the_stages_go_from_the_tests_of_the_module_to_those_of_the_rooms_above(tmp_path: Path) -> None:
    tree = package(tmp_path)
    by_function = {mutant.operator.function: mutant for mutant in choose(operators(tree), 99, seed=1)}
    loop = ["tests/plan/test_loop.py"]
    near = ["tests/report/test_function.py", "tests/plan/test_other.py"]
    assert stages(tree, by_function["last"]) == [
        [("not slow and ", loop)],
        [("not slow and ", near)],
        [("slow and ", loop + near), ("", ["tests/analysis/test_named.py"])],
    ]
    first, second, third = ([files for _, files in runs] for runs in stages(tree, by_function["over"]))
    assert first == [["tests/models/test_edge.py"]]
    assert second == [["tests/analysis/test_named.py"]]
    assert third[1] == [
        "tests/plan/test_loop.py",
        "tests/plan/test_other.py",
        "tests/report/test_function.py",
    ]


def test_what_kills_a_mutant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failure and a loop without end do; a test that fails without the mutant does not."""
    monkeypatch.setattr(mutants, "CPU_S", 0.5)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    tree, results = package(tmp_path / "tree"), tmp_path / "results.jsonl"
    words = ["--tree", str(tree), "--at", str(tmp_path / "at"), "--results", str(results), "--stages", "1"]
    assert mutants.main(words) == 0
    lines = results.read_text().splitlines()
    killers = {tuple(line["mutant"].split("::")[1:3]): line["killer"] for line in map(json.loads, lines)}
    assert killers == {
        ("over", "> -> >="): "tests/models/test_edge.py::test_edge",
        ("last", "-= -> +="): "takes too much CPU time",
        ("last", "1 -> 2"): "",
    }
    assert "gpuplan/plan/loop.py:3 1 -> 2 (1 stages)\n    a -= 1\n" in capsys.readouterr().out
    assert (
        package(tmp_path / "again").joinpath("gpuplan/models/edge.py").read_text()
        == (tmp_path / "at" / "tree-0" / "gpuplan/models/edge.py").read_text()
    )
    mutants.main([*words, "--resume"])
    assert results.read_text().splitlines() == lines, "what was tried is not tried again"
