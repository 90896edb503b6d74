"""The product's sentences that a person has approved, each held once in ``tests/golden/texts.json``.

A test states the figures, codes and names, the file has the words around them::

    assert is_approved(message.text, "8 hosts", "32 GPUs")  # all of the text
    assert has_approved(page, "8 hosts", "32 GPUs")  # a part of the text, or one of several texts

``make golden`` accepts the texts as they are now and prints what changed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

Texts = dict[str, list[Any]]
"""Id of a test -> the text of each of its calls, in their order."""
HELP = "`make golden` accepts it (or `pytest FILE --update-golden`)."


def is_approved(value: Any, *figures: object) -> bool:
    """Check that a text, or a list or dictionary of texts, is the approved one and has these figures in this order."""
    __tracebackhide__ = True
    test, text = current(), plain(value)
    approved = test.next()
    if test.update:
        test.give(text)
    elif approved is None:
        raise AssertionError(f"{test.unapproved()}\n{lines(text)}")
    elif approved != text:
        raise AssertionError(f"This text is not the approved one. {HELP}\n{change(approved, text)}")
    check_figures(text, figures)
    return True


def has_approved(texts: str | Collection[str], *figures: object) -> bool:
    """Check that a text, or one of several, contains the approved part, which has these figures in this order."""
    __tracebackhide__ = True
    test = current()
    part = test.next()
    if test.update:
        part = nearest(texts, part, figures)
        test.give(part)
    elif part is None:
        raise AssertionError(f"{test.unapproved()}\n{nearest(texts, None, figures)}")
    elif not contains(texts, part):
        likely = nearest(texts, part, figures)
        raise AssertionError(f"The approved text is missing here. {HELP}\n{change(part, likely)}")
    check_figures(part, figures)
    return True


def contains(texts: str | Collection[str], part: str) -> bool:
    """Whether the text, or one of the texts, has this part."""
    return any(part in text for text in ([texts] if isinstance(texts, str) else texts))


def plain(value: Any) -> Any:
    """The value as JSON has it; a set is sorted."""
    return json.loads(json.dumps(value, default=sorted))


def check_figures(text: Any, figures: Sequence[object]) -> None:
    """Raise an error unless the text has all of the figures, in this order."""
    __tracebackhide__ = True
    if not has_figures(text, figures):
        raise AssertionError(
            f"These figures are not all in the text, in this order: {figures}\n{lines(text)}"
        )


def has_figures(text: Any, figures: Sequence[object]) -> bool:
    """Whether each figure follows the one before, as a whole token: 8 is not in 28, nor in 8.5."""
    shown, place = lines(text), 0
    for figure in map(str, figures):
        left = r"(?<!\w)(?<!\d[.,\u202f])" if re.match(r"\w", figure) else ""
        right = r"(?!\w)(?![.,\u202f]\d)" if re.search(r"\w$", figure) else ""
        match = re.compile(left + re.escape(figure) + right).search(shown, place)
        if match is None:
            return False
        place = match.end()
    return True


def lines(value: Any) -> str:
    """The texts within a value, one below the other."""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {lines(each)}" for key, each in value.items())
    return "\n".join(map(lines, value)) if isinstance(value, list) else str(value)


def change(old: Any, new: Any) -> str:
    """Two texts as one: [-words that went-] {+words that came+}."""
    before, after = lines(old).split(" "), lines(new).split(" ")
    parts = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            parts += before[a:b]
        else:
            parts += [f"[-{' '.join(before[a:b])}-]"] * (b > a) + [f"{{+{' '.join(after[c:d])}+}}"] * (d > c)
    return " ".join(parts)


def sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences and lines of a text begin and end."""
    return [match.span() for match in re.finditer(r"\S(?:[^\n]*?[.!?](?=\s)|[^\n]*)", text)]


def parts(texts: str | Collection[str], length: int) -> Iterator[str]:
    """The texts, or each run of so many sentences of a single text."""
    if not isinstance(texts, str):
        yield from texts
        return
    spans = sentences(texts) or [(0, len(texts))]
    length = min(length, len(spans))
    for first, last in zip(spans, spans[length - 1 :], strict=False):
        yield texts[first[0] : last[1]]


def nearest(texts: str | Collection[str], old: str | None, figures: Sequence[object]) -> str:
    """The shortest part with these figures that shares most words with the old one: that itself where it is unchanged."""
    if old is not None and contains(texts, old) and has_figures(old, figures):
        return old
    words = (old or "").split()

    def shared(part: str) -> tuple[int, float]:
        matcher = SequenceMatcher(None, words, part.split(), autojunk=False)
        return sum(block.size for block in matcher.get_matching_blocks()), matcher.ratio()

    every = sentences(texts) if isinstance(texts, str) else []
    shortest = len(sentences(old or "")) or 1
    for length in range(shortest, max(shortest, len(every)) + 1):
        if having := [part for part in parts(texts, length) if has_figures(part, figures)]:
            return max(having, key=shared)
    return max(parts(texts, shortest), key=shared, default="")


class RunningTest:
    """The calls of one test: what is approved for each, and what they gave."""

    def __init__(self, node: str, texts: Sequence[Any], update: bool) -> None:
        self.node, self.texts, self.update = node, texts, update
        self.calls = 0
        self.given: list[Any] = []
        self.passed = True

    def next(self) -> Any:
        """The approved text of the next call, none if it has none."""
        self.calls += 1
        return self.texts[self.calls - 1] if self.calls <= len(self.texts) else None

    def give(self, text: Any) -> None:
        """Take over the text of a call, unless it holds on this machine only."""
        __tracebackhide__ = True
        if gettempdir() in lines(text):
            raise AssertionError(f"This text names a folder of this machine: leave it out.\n{lines(text)}")
        self.given.append(text)

    def unapproved(self) -> str:
        """Why the call that was made last fails without an approved text."""
        return f"No text is approved for call {self.calls} of {self.node}. {HELP}"

    def result(self) -> list[Any]:
        """The texts to approve: those not reached stay if the test did not pass."""
        return self.given + ([] if self.passed else list(self.texts[len(self.given) :]))


RUNNING: list[RunningTest] = []
"""The test that runs, after the one that runs it."""


def current() -> RunningTest:
    """The test that runs."""
    return RUNNING[-1]


class ApprovedTexts:
    """The plugin of pytest that knows which test runs, and writes the file with ``--update-golden``."""

    def __init__(self, config: pytest.Config) -> None:
        self.path = config.rootpath / "tests" / "golden" / "texts.json"
        self.update: bool = config.getoption("--update-golden")
        self.texts = read(self.path)
        self.given: Texts = {}
        self.gone: set[str] = set()
        self.report: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        test = RunningTest(item.nodeid, self.texts.get(item.nodeid, ()), self.update)
        RUNNING.append(test)
        try:
            return (yield)
        finally:
            RUNNING.pop()
            self.given[item.nodeid] = test.result()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if RUNNING and RUNNING[-1].node == report.nodeid:
            RUNNING[-1].passed &= report.passed

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Find the entries whose test is no longer in its file, where the whole file is collected; parameters go by the day."""
        if config.getoption("lf", False) or any("::" in argument for argument in config.args):
            return
        tests = {without_parameters(item.nodeid) for item in items}
        files = {file_of(test) for test in tests}
        old = (test for test in self.texts if file_of(test) in files)
        self.gone = {test for test in old if without_parameters(test) not in tests}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker of xdist found."""
        found = getattr(node, "workeroutput", {})
        self.given |= found.get("texts", {})
        self.gone |= set(found.get("gone", ()))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self.update:
            return
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput |= {"texts": self.given, "gone": sorted(self.gone)}
            return
        missing = {test for test in self.texts if not (session.config.rootpath / file_of(test)).exists()}
        new = {test: texts for test, texts in (self.texts | self.given).items() if texts}
        new = {test: texts for test, texts in new.items() if test not in self.gone | missing}
        self.report = changes(self.texts, new)
        if new != self.texts:
            write(self.path, new)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.report:
            terminalreporter.section("approved texts that changed")
            terminalreporter.write_line("\n".join(self.report))


def file_of(test: str) -> str:
    """The file of a test, from its id."""
    return test.partition("::")[0]


def without_parameters(test: str) -> str:
    """The id of a test without its parameters."""
    return test.partition("[")[0]


def read(path: Path) -> Texts:
    """The approved texts of every test."""
    files = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {f"{file}::{test}": texts for file, tests in files.items() for test, texts in tests.items()}


def write(path: Path, texts: Texts) -> None:
    """Write the approved texts, by file and test, one text a line."""
    files: dict[str, Texts] = {}
    for node, each in texts.items():
        file, _, test = node.partition("::")
        files.setdefault(file, {})[test] = each
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(files, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def changes(old: Texts, new: Texts) -> list[str]:
    """A line for each text that changed, once however many tests have it."""
    tests: dict[str, list[str]] = {}
    for test in sorted(old.keys() | new.keys()):
        for before, after in zip_longest(old.get(test, ()), new.get(test, ())):
            if before != after:
                tests.setdefault(came_or_changed(before, after), []).append(test)
    return [f"{line}\n    {where(named)}" for line, named in tests.items()]


def came_or_changed(old: Any, new: Any) -> str:
    """A text that is new, gone or changed."""
    if old is None:
        return f"{{+{lines(new)}+}}"
    return f"[-{lines(old)}-]" if new is None else change(old, new)


def where(tests: Sequence[str]) -> str:
    """The first test with a text, and how many others have it."""
    others = len(Counter(tests)) - 1
    return tests[0] + (f" and {others} more" if others else "")
