"""Random mutants of gpuplan, each with one operator changed, and the tests that kill them: ``python tests/mutants.py``.

A mutant is one token: a comparison, ``+ - * /``, ``and`` or ``or``, ``not``, ``in``, ``True`` or ``False``, a number and one
more, ``min`` or ``max``, ``any`` or ``all``. Annotations, decorators, f-strings and ``__repr__`` stay as they are. Each room gets
the same number of mutants. A seed ranks every operator of a room by a hash of its file, function, token and ordinal in that
function, so that two trees with the same package have the same mutants, and similar trees have nearly the same.

The tests run in copies of a tree, in three stages: those that mirror the module; those beside them and those that name the
module or the function; then all tests of the room and of the rooms above it. No stage needs a browser. The stage ends at the
first failure, which kills the mutant if the same test passes without it. So does a run that takes five times its CPU time.

    python tests/mutants.py --stages 2              # two stages, in minutes
    python tests/mutants.py --resume                # the third, for the survivors
    python tests/mutants.py --tree ../before        # the tests and the package of another tree
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import io
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tokenize
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

TREE = Path(__file__).resolve().parents[1]
ROOMS = ("models", "simulation", "plan", "analysis", "report", "deliver", "app")
ABOVE = {
    "models": ("models", "plan", "analysis", "report", "deliver"),
    "simulation": ("simulation", "analysis"),
    "plan": ("plan", "analysis", "report", "deliver"),
    "analysis": ("analysis", "report", "deliver"),
    "report": ("report", "deliver"),
    "deliver": ("deliver",),
    "app": ("app",),
}
"""Rooms whose tests are the third stage."""
SEED = 36
DAY = "2026-01-05"
"""The day whose random cases are tried."""
CHANGES = {
    "==": ("!=",),
    "!=": ("==",),
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "is": ("is not",),
    "is not": ("is",),
    "in": ("not in",),
    "not in": ("in",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "//": ("*",),
    "%": ("*",),
    "+=": ("-=",),
    "-=": ("+=",),
    "*=": ("/=",),
    "/=": ("*=",),
    "and": ("or",),
    "or": ("and",),
    "not": ("",),
    "min": ("max",),
    "max": ("min",),
    "any": ("all",),
    "all": ("any",),
    "True": ("False",),
    "False": ("True",),
}
TEXTS = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)
"""Operands whose sums and multiples are no arithmetic."""
CPU_S = 20
"""Seconds of CPU that a test file may take before it is compared with a run without the mutant."""
MULTIPLE = 5
"""A run that takes so many times the CPU time of the tests without the mutant does not end."""
WAIT = 30
"""A process that waits for ever ends after so many times its limit of CPU time, so that a busy machine does not reach it."""
TICK_S = 0.2
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "__pycache__", ".*_cache", ".hypothesis"
)


@dataclass(frozen=True)
class Operator:
    """One token of a module that a mutant can change."""

    file: str
    function: str
    ordinal: int
    old: str
    choices: tuple[str, ...]
    start: int
    end: int
    line: int

    @property
    def room(self) -> str:
        return self.file.split("/")[1]

    def rank(self, seed: int) -> int:
        """Number that orders the operators of a room: the lowest are chosen."""
        key = f"{seed}|{self.file}|{self.function}|{self.old}|{self.ordinal}"
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8])


@dataclass(frozen=True)
class Mutant:
    """An operator and what replaces it."""

    operator: Operator
    new: str

    @property
    def name(self) -> str:
        """The same name in every tree with this package."""
        at = self.operator
        return f"{at.file}::{at.function}::{at.old} -> {self.new}::{at.ordinal}"

    def applied(self, source: str) -> str:
        """The source of the module with one token changed."""
        return source[: self.operator.start] + self.new + source[self.operator.end :]


class Source(ast.NodeVisitor):
    """The operators of one module, in the order of the text."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.lines = text.splitlines(keepends=True)
        self.functions: list[str] = []
        self.found: list[tuple[int, int, str, str, tuple[str, ...]]] = []

    def operators(self) -> list[Operator]:
        """All of them, each with its ordinal among the same tokens of its function."""
        self.visit(ast.parse(self.text))
        before: Counter[tuple[str, str]] = Counter()
        operators = []
        for start, end, function, old, choices in sorted(self.found):
            line = self.text.count("\n", 0, start) + 1
            ordinal = before[function, old]
            before[function, old] += 1
            operators.append(Operator(self.file, function, ordinal, old, choices, start, end, line))
        return operators

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line))
        return starts

    @cached_property
    def _tokens(self) -> list[tuple[int, int]]:
        """Start and end of each token, without parentheses, line ends and comments."""
        return [
            (
                self._line_starts[token.start[0] - 1] + token.start[1],
                self._line_starts[token.end[0] - 1] + token.end[1],
            )
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline)
            if token.type in (tokenize.OP, tokenize.NAME) and token.string not in ("(", ")")
        ]

    def _offset(self, line: int, column: int) -> int:
        return self._line_starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def _start(self, node: ast.expr) -> int:
        return self._offset(node.lineno, node.col_offset)

    def _end(self, node: ast.expr) -> int:
        return self._offset(node.end_lineno or 0, node.end_col_offset or 0)

    def _add(self, start: int, end: int, choices: tuple[str, ...] | None = None) -> None:
        old = " ".join(self.text[start:end].split())
        choices = choices or CHANGES.get(old)
        if choices:
            self.found.append((start, end, ".".join(self.functions), old, choices))

    def _add_between(self, left: ast.expr, right: ast.expr) -> None:
        """The operator between two operands: one token, or the two of ``not in`` and ``is not``."""
        low, high = self._end(left), self._start(right)
        first, after = bisect_left(self._tokens, (low, low)), bisect_left(self._tokens, (high, high))
        self._add(self._tokens[first][0], self._tokens[after - 1][1])

    def _visit_named(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        if node.name == "__repr__":
            return
        self.functions.append(node.name)
        if not isinstance(node, ast.ClassDef):
            self.visit(node.args)
        for statement in node.body:
            self.visit(statement)
        self.functions.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit_named

    def visit_arg(self, node: ast.arg) -> None:
        """Leave annotations out."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave f-strings out: before Python 3.12 their parts have no positions."""

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
            self._add_between(left, right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._add_between(left, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not any(map(_is_text, (node.left, node.right))):
            self._add_between(node.left, node.right)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not _is_text(node.value):
            self._add_between(node.target, node.value)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        start = self._start(node)
        self._add(start, start + (3 if isinstance(node.op, ast.Not) else 1))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in ("min", "max", "any", "all"):
            self._add(self._start(node.func), self._end(node.func))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(self._start(node), self._end(node))
        elif isinstance(node.value, int | float) and node.value + 1 != node.value:
            self._add(self._start(node), self._end(node), (repr(node.value + 1),))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, TEXTS) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def operators(tree: Path) -> list[Operator]:
    """The operators of the rooms of a tree."""
    return [
        operator
        for room in ROOMS
        for path in sorted((tree / "gpuplan" / room).rglob("*.py"))
        for operator in Source(
            path.relative_to(tree).as_posix(), path.read_text(encoding="utf-8")
        ).operators()
    ]


def choose(candidates: Iterable[Operator], count: int, seed: int) -> list[Mutant]:
    """So many mutants, the rooms in turn, so that the first of them are spread as evenly as all."""
    rooms: dict[str, list[Mutant]] = {room: [] for room in ROOMS}
    for operator in sorted(candidates, key=lambda operator: operator.rank(seed)):
        new = operator.choices[operator.rank(seed) % len(operator.choices)]
        rooms[operator.room].append(Mutant(operator, new))
    turns = zip_longest(*rooms.values())
    return [mutant for turn in turns for mutant in turn if mutant][:count]


def stages(tree: Path, mutant: Mutant) -> list[list[tuple[str, list[str]]]]:
    """For each stage its runs: which marks, and which test files."""
    module = Path(mutant.operator.file)
    mirror = _mirroring(tree, module)
    near = [file for file in _naming(tree, mutant) + _beside(tree, module) if file not in mirror]
    near = list(dict.fromkeys(near))
    rest = [
        file
        for room in ABOVE[mutant.operator.room]
        for file in _tests(tree, f"tests/{room}/**/test_*.py") + _tests(tree, "tests/test_golden.py")
        if file not in mirror + near
    ]
    return [
        [("not slow and ", mirror)],
        [("not slow and ", near)],
        [("slow and ", mirror + near), ("", list(dict.fromkeys(rest)))],
    ]


def _tests(tree: Path, pattern: str) -> list[str]:
    return [
        path.relative_to(tree).as_posix()
        for path in sorted(tree.glob(pattern))
        if not path.stem.endswith("_browser")
    ]


def _folder(module: Path) -> str:
    return Path("tests", *module.parent.parts[1:]).as_posix()


def _mirroring(tree: Path, module: Path) -> list[str]:
    """Tests with the name of the module, or of the package inside a room that it is a part of."""
    folder = _folder(module)
    patterns = [f"{folder}/test_{module.stem}.py", f"{folder}/test_{module.stem}_*.py"]
    if len(module.parts) > 3:
        package = module.parent.name
        above = Path(folder).parent.as_posix()
        patterns += [f"{above}/test_{package}.py", f"{above}/test_{package}_*.py"]
    return [file for pattern in patterns for file in _tests(tree, pattern)]


def _beside(tree: Path, module: Path) -> list[str]:
    return _tests(tree, f"{_folder(module)}/test_*.py")


def _naming(tree: Path, mutant: Mutant) -> list[str]:
    """Tests that import the module or name the function or class of the mutant."""
    module = Path(mutant.operator.file).with_suffix("")
    package, dotted = ".".join(module.parts[:-1]), ".".join(module.parts)
    outermost = mutant.operator.function.split(".")[0]
    words = [re.escape(dotted), rf"from {re.escape(package)} import [^\n]*\b{module.name}"]
    if outermost and not outermost.startswith("_"):
        words.append(outermost)
    pattern = re.compile("|".join(rf"(?:{word})\b" for word in words))
    return [
        file
        for file in _tests(tree, "tests/**/test_*.py")
        if pattern.search((tree / file).read_text(encoding="utf-8"))
    ]


@dataclass(frozen=True)
class Run:
    """How a run of tests ended."""

    code: int
    cpu_s: float
    failed: str
    """The test that failed; nothing if none did or none could be collected."""

    @property
    def passed(self) -> bool:
        return self.code in (0, 5)

    @property
    def endless(self) -> bool:
        return self.code in (-signal.SIGXCPU, -signal.SIGKILL)


@dataclass
class Copy:
    """A copy of a tree in which one mutant after the other is tried."""

    at: Path
    without: dict[tuple[str, ...], Run] = field(default_factory=dict)
    """Runs without a mutant, by their words."""
    broken: list[str] = field(default_factory=list)
    """Tests that fail without a mutant: they kill none."""

    @classmethod
    def of(cls, tree: Path, at: Path) -> Copy:
        if at.exists():
            shutil.rmtree(at)
        shutil.copytree(tree, at, ignore=NOT_COPIED, symlinks=True)
        return cls(at)

    @contextlib.contextmanager
    def mutated(self, mutant: Mutant, number: int) -> Iterator[None]:
        """The copy with the mutant; its time differs from that of any other, so that no compiled file serves two."""
        path = self.at / mutant.operator.file
        source, times = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(mutant.applied(source), encoding="utf-8")
        os.utime(path, (times.st_atime, int(times.st_mtime) + 2 + number))
        try:
            yield
        finally:
            path.write_text(source, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def killer(self, mutant: Mutant, number: int, marks: str, files: list[str]) -> tuple[str, float]:
        """What kills the mutant, or nothing; and the seconds of CPU that the run took."""
        limit = round(CPU_S * (2 + len(files)))
        while files:
            words = ("-m", f"{marks}not browser and not image", *self._left_out(), *files)
            with self.mutated(mutant, number):
                run = self._run(words, limit)
            if run.passed:
                return "", run.cpu_s
            if run.endless:
                enough = MULTIPLE * self._unmutated(words).cpu_s
                if limit >= enough:
                    return "takes too much CPU time", run.cpu_s
                limit = int(enough) + 1
            elif self._unmutated((run.failed,) if run.failed else ("--collect-only", *words)).passed:
                return run.failed or "tests cannot be collected", run.cpu_s
            elif "::" in run.failed:
                self.broken.append(run.failed)
            else:
                raise SystemExit(f"the tests of {self.at} cannot be collected: {' '.join(files)}")
        return "", 0

    def _left_out(self) -> list[str]:
        return [word for test in self.broken for word in ("--deselect", test)]

    def _unmutated(self, words: tuple[str, ...]) -> Run:
        if words not in self.without:
            self.without[words] = self._run(words, limit="unlimited")
        return self.without[words]

    def _run(self, words: tuple[str, ...], limit: int | str) -> Run:
        """Run tests up to the first failure, with a limit of CPU time."""
        pytest = (sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider")
        command = (
            "sh",
            "-c",
            'ulimit -S -t "$0" && exec "$@"',
            str(limit),
            *pytest,
            f"--rootdir={self.at}",
            *words,
        )
        hidden = ("PYTHONDONTWRITEBYTECODE", "GPUPLAN_NIGHTLY")
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        environment |= {"PYTHONPATH": str(self.at), "GPUPLAN_DAY": DAY}
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(
                command, cwd=self.at, env=environment, stdout=said, stderr=said, start_new_session=True
            )
            status, usage = _end_of(process.pid, WAIT * (limit if isinstance(limit, int) else 3600))
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            failed = re.findall(
                r"^(?:FAILED|ERROR) (\S+\.py\S*?(?:\[.*?\])?)(?: - .*)?$", said.read(), re.MULTILINE
            )
        return Run(process.returncode, usage.ru_utime + usage.ru_stime, failed[0] if failed else "")


def _end_of(process: int, seconds: float) -> tuple[int, resource.struct_rusage]:
    """Status and use of a process at its end, with its group by force after so many seconds; a pause of this script does not count."""
    for _ in range(round(seconds / TICK_S)):
        ended, status, usage = os.wait4(process, os.WNOHANG)
        if ended:
            return status, usage
        time.sleep(TICK_S)
    os.killpg(process, signal.SIGKILL)
    return os.wait4(process, 0)[1:]


@dataclass
class Results:
    """What is known of each mutant, one line of JSON for each stage that was tried."""

    path: Path
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def at(cls, path: Path, *, resume: bool) -> Results:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not resume:
            path.write_text("")
        text = path.read_text() if path.exists() else ""
        return cls(path, {line["mutant"]: line for line in map(json.loads, text.splitlines())})

    def add(self, mutant: Mutant, stage: int, killer: str, cpu_s: float) -> None:
        line = {
            "mutant": mutant.name,
            "line": mutant.operator.line,
            "stage": stage,
            "killer": killer,
            "cpu_s": round(cpu_s, 1),
        }
        with self.lock, self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
            self.lines[mutant.name] = line

    def stage(self, mutant: Mutant) -> int:
        """The last stage that was tried, from 1; 0 for none."""
        return int(self.lines.get(mutant.name, {"stage": 0})["stage"])

    def killer(self, mutant: Mutant) -> str:
        return str(self.lines.get(mutant.name, {"killer": ""})["killer"])


def attempt(mutant: Mutant, number: int, copy: Copy, results: Results, last: int) -> None:
    """Try a mutant in the stages that it has not survived yet."""
    for stage, runs in enumerate(stages(copy.at, mutant)[:last], start=1):
        if results.killer(mutant) or stage <= results.stage(mutant):
            continue
        spent = 0.0
        killer = ""
        for marks, files in runs:
            if not killer:
                killer, cpu_s = copy.killer(mutant, number, marks, files)
                spent += cpu_s
        results.add(mutant, stage, killer, spent)


def attempt_all(mutants: Sequence[Mutant], copies: Sequence[Copy], results: Results, last: int) -> None:
    """Try the mutants in turn, one at a time in each copy; no stage begins before all mutants had the one before."""
    for stage in range(1, last + 1):
        queue: SimpleQueue[tuple[int, Mutant]] = SimpleQueue()
        for numbered in enumerate(mutants):
            queue.put(numbered)
        with ThreadPoolExecutor(len(copies)) as pool:
            for worker in [pool.submit(_work, queue, copy, results, stage) for copy in copies]:
                worker.result()


def _work(queue: SimpleQueue[tuple[int, Mutant]], copy: Copy, results: Results, last: int) -> None:
    with contextlib.suppress(Empty):
        while True:
            number, mutant = queue.get_nowait()
            attempt(mutant, number, copy, results, last)


def report(tree: Path, mutants: Sequence[Mutant], results: Results) -> str:
    """Killed and survived in each room, then the survivors with the line that was changed."""
    lines = [f"{'room':<10}{'mutants':>9}{'killed':>9}{'survived':>10}{'not tried':>11}"]
    for room in (*ROOMS, "all"):
        own = [mutant for mutant in mutants if room in (mutant.operator.room, "all")]
        killed = sum(bool(results.killer(mutant)) for mutant in own)
        tried = sum(results.stage(mutant) > 0 for mutant in own)
        lines.append(f"{room:<10}{len(own):>9}{killed:>9}{tried - killed:>10}{len(own) - tried:>11}")
    for mutant in mutants:
        if results.stage(mutant) and not results.killer(mutant):
            at = mutant.operator
            code = (tree / at.file).read_text(encoding="utf-8").splitlines()[at.line - 1].strip()
            change = f"{at.old} -> {mutant.new or 'nothing'}"
            lines.append(f"{at.file}:{at.line} {change} ({results.stage(mutant)} stages)\n    {code}")
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tree", type=Path, default=TREE, help="tree with the package and its tests")
    parser.add_argument("--count", type=int, default=200, help="mutants in all rooms (200)")
    parser.add_argument("--seed", type=int, default=SEED, help=f"which ones ({SEED})")
    parser.add_argument("--only", choices=ROOMS, help="the mutants of one room")
    parser.add_argument(
        "--stages", type=int, choices=(0, 1, 2, 3), default=3, help="last stage (3); 0: print only"
    )
    parser.add_argument("--jobs", type=int, default=1, help="copies of the tree that work at once (1)")
    parser.add_argument("--resume", action="store_true", help="go on with the results of a stopped run")
    parser.add_argument("--at", type=Path, default=TREE / "build" / "mutants", help="folder of the copies")
    parser.add_argument("--results", type=Path, help="file of the results, one line of JSON each")
    args = parser.parse_args(words)
    tree = args.tree.resolve()
    mutants = choose(operators(tree), args.count, args.seed)
    mutants = [mutant for mutant in mutants if args.only in (None, mutant.operator.room)]
    path = args.results or args.at / f"{tree.name}-{args.seed}.jsonl"
    results = Results.at(path, resume=args.resume or args.stages == 0)
    if args.stages:
        copies = [Copy.of(tree, args.at.resolve() / f"{tree.name}-{number}") for number in range(args.jobs)]
        attempt_all(mutants, copies, results, args.stages)
    print(report(tree, mutants, results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
