"""Run the tests near to what changed: `python tests/near.py [COMMIT]`, as `make near` does.

Near to a module are the tests that mirror it and those that import it; to a table or another file, those that name it; to a step
or a script of the screen, the browser tests that name it; to a notebook, its cells. What takes longer than `LIMIT_S` is left out
and named, by the times that the last runs left in build/tests.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path

from parts import NOTEBOOKS, REPORTS, ROOT, Part, cases_of, run_all

LIMIT_S = 30
"""Recorded time of the tests that one run may take on one processor."""
MOST_IMPORTERS = 12
"""A module that more test files import is tested by those of its own folder."""
MEAN_S = {"file": 3.0, "browser file": 40.0, "browser test": 6.0, "notebook": 10.0}
"""Time of what no run has recorded."""
WORTH_A_PROCESS_S = 8
"""Time of tests from which on a second process saves more than it takes to start."""
NAMED = 10
"""How many of the tests left out are named."""
BROWSER_TESTS = "browser.py"
JOURNEY = "tests/app/test_tour_browser.py"
TOO_COMMON = {"", "README.md", "data", "tests", "report", "deliver", "app", "static", "templates"}
"""Names that say nothing about a file: that of its folder, or one that many files have."""
CATALOG_TESTS = (
    "tests/test_data.py",
    "tests/catalog/test_tables.py",
    "tests/test_examples.py",
    "tests/test_golden.py",
)


class Nearness(IntEnum):
    """How a test belongs to a change, the nearest first."""

    ITSELF = 0
    MIRROR = 1
    BROWSER = 2
    IMPORTS = 3
    NAMES = 4
    FOLDER = 5


@dataclass
class Selection:
    """Tests near to a change: file, test or notebook -> how near."""

    nearness: dict[str, Nearness] = field(default_factory=dict)
    untested: list[str] = field(default_factory=list)
    """What to say of files that have no test of their own."""

    def add(self, tests: Iterable[str], nearness: Nearness) -> bool:
        """Add tests, keeping the nearest reason of each; whether there were any."""
        tests = list(tests)
        for test in tests:
            self.nearness[test] = min(nearness, self.nearness.get(test, nearness))
        return bool(tests)

    def within(self, seconds: Mapping[str, float], limit_s: float) -> tuple[list[str], list[str]]:
        """Tests to run and tests left out: the nearest and quickest first; a changed test always runs."""
        chosen, left_out, total = [], [], 0.0
        for test, nearness in sorted(
            self.nearness.items(), key=lambda item: (item[1], seconds[item[0]], item[0])
        ):
            if nearness is Nearness.ITSELF or total + seconds[test] <= limit_s:
                chosen.append(test)
                total += seconds[test]
            else:
                left_out.append(test)
        return chosen, left_out


@dataclass(frozen=True)
class Source:
    """What a Python file under tests names."""

    imports: frozenset[str]
    strings: frozenset[str]
    tests: Mapping[str, frozenset[str]]
    """Each test and the words in it."""


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Name in this file and full name of everything that it imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, alias.name) for alias in node.names)


def strings_in(tree: ast.AST) -> Iterator[str]:
    """Every string in a syntax tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def words_in(test: ast.FunctionDef) -> Iterator[str]:
    """Words in the name and in the strings of a test, `power_on` whole and in parts."""
    for text in (test.name, *strings_in(test)):
        yield from re.findall(r"[a-z]+", text)
        yield from re.findall(r"[a-z_]+", text)


def source_of(path: Path) -> Source:
    """What a Python file names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return Source(
        frozenset(name for _, name in imported(tree)),
        frozenset(strings_in(tree)),
        {
            node.name: frozenset(words_in(node))
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        },
    )


class Tree:
    """A checkout: its tests, and what they name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.helpers: dict[str, Source] = {}
        self.tests: dict[str, Source] = {}
        for path in sorted((root / "tests").rglob("*.py")):
            kind = self.tests if path.name.startswith("test_") else self.helpers
            kind[path.relative_to(root).as_posix()] = source_of(path)

    @cached_property
    def offered(self) -> dict[str, str]:
        """Full name that a package offers -> full name from which it has it."""
        names = {}
        for file in (self.root / "gpuplan").rglob("__init__.py"):
            package = ".".join(file.relative_to(self.root).parent.parts)
            for name, origin in imported(ast.parse(file.read_text(encoding="utf-8"))):
                names[f"{package}.{name}"] = origin
        return names

    @cached_property
    def modules(self) -> dict[str, set[str]]:
        """Modules that each file imports, or from which it imports something."""
        origins = {
            file: {self.origin(name) for name in source.imports}
            for file, source in (self.tests | self.helpers).items()
        }
        return {file: names | {name.rpartition(".")[0] for name in names} for file, names in origins.items()}

    def origin(self, name: str) -> str:
        """Full name of what is imported, in the module that makes it."""
        while (further := self.offered.get(name, name)) != name:
            name = further
        return name

    def importers(self, module: str) -> list[str]:
        """Test files that import a module or something in it, by themselves or in a helper."""
        helpers = {Path(file).stem for file in self.helpers if module in self.modules[file]}
        return [file for file in self.tests if self.modules[file] & {module, *helpers}]

    def below(self, folder: str) -> list[str]:
        """Test files in a folder and in those below it."""
        return [file for file in self.tests if file.startswith(f"{folder}/")]

    def beside(self, folder: str) -> list[str]:
        """Test files in a folder."""
        return [file for file in self.tests if Path(file).parent.as_posix() == folder]

    def existing(self, *files: str) -> list[str]:
        """Those of the test files that exist."""
        return [file for file in files if file in self.tests]

    def in_browser(self, word: str) -> list[str]:
        """Tests in the browser that name a step or a part of the screen."""
        return [
            f"{file}::{test}"
            for file, source in self.tests.items()
            if file.endswith(BROWSER_TESTS)
            for test, words in source.tests.items()
            if word in words or word in Path(file).stem.split("_")
        ]

    def naming(self, *names: str) -> list[str]:
        """Test files with one of these strings."""
        return [file for file, source in self.tests.items() if source.strings & set(names)]


def near(tree: Tree, changed: Iterable[str]) -> Selection:
    """The tests near to files that changed."""
    selection = Selection()
    for file in changed:
        path = Path(file)
        if file.startswith("tests/") and path.suffix == ".py":
            _near_test(tree, path, selection)
        elif file.startswith("gpuplan/") and path.suffix == ".py":
            _near_module(tree, path, selection)
        elif path.suffix == ".ipynb" and (tree.root / path).exists():
            selection.add([file], Nearness.ITSELF)
            selection.add(tree.naming(file, path.name), Nearness.NAMES)
        else:
            _near_file(tree, path, selection)
    return selection


def _near_test(tree: Tree, path: Path, selection: Selection) -> None:
    folder = path.parent.as_posix()
    selection.add(tree.existing(path.as_posix()), Nearness.ITSELF)
    selection.add(tree.existing(f"{folder}/test_{path.name}"), Nearness.MIRROR)
    if path.stem == "conftest":
        selection.add(tree.below(folder), Nearness.FOLDER)
    else:
        selection.add(tree.importers(path.stem), Nearness.IMPORTS)


def _near_module(tree: Tree, path: Path, selection: Selection) -> None:
    folder = Path("tests", *path.parent.parts[1:]).as_posix()
    if path.stem == "__init__":
        module, mirrors = ".".join(path.parent.parts), tree.beside(folder)
    else:
        module = ".".join(path.with_suffix("").parts)
        mirrors = [
            *tree.existing(f"{folder}/test_{path.name}", f"{Path(folder).parent}/test_{path.parent.name}.py"),
            *tree.below(f"{folder}/{path.stem}"),
        ]
    if not selection.add(mirrors, Nearness.MIRROR):
        selection.untested.append(f"no test mirrors {path.as_posix()}")
    if path.parts[1] == "app":
        selection.add(tree.in_browser(path.stem), Nearness.BROWSER)
    importers = tree.importers(module)
    if len(importers) > MOST_IMPORTERS:
        selection.add(tree.beside(folder), Nearness.FOLDER)
    else:
        selection.add(importers, Nearness.IMPORTS)


def _near_file(tree: Tree, path: Path, selection: Selection) -> None:
    if path.parts[:2] == ("gpuplan", "widgets"):
        selection.add(tree.in_browser(path.stem) or tree.existing(JOURNEY), Nearness.BROWSER)
    if path.parts[0] == "data":
        selection.add(tree.existing(*CATALOG_TESTS), Nearness.MIRROR)
    names = {path.name, path.stem if path.suffix == ".csv" else path.parent.name} - TOO_COMMON
    if not selection.add(tree.naming(path.as_posix(), *names), Nearness.NAMES):
        selection.untested.append(f"no test names {path.as_posix()}")


def recorded(reports: Path) -> dict[str, float]:
    """Seconds of each test file, test and notebook in the last runs."""
    seconds: dict[str, float] = {}
    for report in sorted(reports.glob("*.xml"), key=lambda path: path.stat().st_mtime):
        latest: Counter[str] = Counter()
        for test in cases_of(report):
            file, _, name = test.name.partition("::")
            latest[file] += test.seconds
            latest[f"{file}::{name.partition('[')[0]}"] += test.seconds
        seconds |= latest
    return seconds


def expected(tests: Iterable[str], reports: Path) -> dict[str, float]:
    """Seconds that each of the tests is expected to take, a mean where no run has recorded it."""
    known = recorded(reports)
    return {test: known.get(test, MEAN_S[kind(test)]) for test in tests}


def kind(test: str) -> str:
    """What a test is: a notebook, a test in the browser, or a file of tests, in the browser or not."""
    if test.endswith(".ipynb"):
        return "notebook"
    if "::" in test:
        return "browser test"
    return "browser file" if test.endswith(BROWSER_TESTS) else "file"


def changed_since(commit: str) -> list[str]:
    """Files that differ from a commit, and those that git does not know yet."""
    commands = (
        ("git", "diff", "--name-only", "--no-renames", "-z", commit),
        ("git", "ls-files", "--others", "--exclude-standard", "-z"),
    )
    found = [subprocess.run(each, cwd=ROOT, stdout=subprocess.PIPE, text=True) for each in commands]
    if any(each.returncode for each in found):
        sys.exit("make near compares with a commit in git: SINCE=COMMIT")
    return [file for each in found for file in each.stdout.split("\0") if file]


def parts_of(chosen: Iterable[str], seconds: float) -> list[Part]:
    """The runs of pytest for the chosen tests; a short one needs no further process."""
    notebooks = [test for test in chosen if kind(test) == "notebook"]
    tests = [test for test in chosen if kind(test) != "notebook"]
    workers = 2 if seconds > WORTH_A_PROCESS_S else 0
    return [
        *([Part("near", ("--dist=worksteal", *tests), most_workers=workers)] if tests else []),
        *([Part("notebooks", (*NOTEBOOKS, *notebooks), shuffled=False)] if notebooks else []),
    ]


def main(commit: str = "HEAD") -> int:
    """Run the tests near to what changed since a commit."""
    selection = near(Tree(ROOT), changed_since(commit))
    seconds = expected(selection.nearness, REPORTS)
    chosen, left_out = selection.within(seconds, LIMIT_S)
    for test in chosen:
        print(f"{selection.nearness[test].name.lower():8} {test}")
    for sentence in selection.untested:
        print(sentence)
    if left_out:
        names = ", ".join(left_out[:NAMED]) + (", ..." if len(left_out) > NAMED else "")
        print(f"left to make test, as they take longer than {LIMIT_S} s: {len(left_out)} ({names})")
    if not chosen:
        print(f"no test is near to what changed since {commit}")
    return run_all(parts_of(chosen, sum(seconds[test] for test in chosen)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
