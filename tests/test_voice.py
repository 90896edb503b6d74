"""One voice: the words that the glossary replaces are in no text that a person reads, and labels are short."""

from __future__ import annotations

import ast
import csv
import html
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from random_cases import of_the_day

from gpuplan.wording import TEXTS

ROOT = Path(__file__).parents[1]
REPLACED = {
    r"\b(?:no|some|every)body(?:'s)?\b": "users, a customer, none",
    r"\bwhoever\b|\bwhat is asked\b": "the role that does it",
    r"\bworks? alike\b|\bwho asks\b": "workload, user group",
    r"\bactive at once\b": "concurrent",
    r"\bpieces? of work\b": "job",
    r"\bhours in which it wants\b": "working hours",
    r"\bGPUs (?:that )?are enough\b": "GPU demand, sizing rule",
    r"\bturn(?:s|ed)? away\b": "denied",
    r"\btoo few free\b": "queue, wait time",
    r"\bGPUs held\b|\bheld (?:on average|at once)\b|\bholds? GPUs\b": "allocated",
    r"\bmay be lost\b|\bspare ones?\b": "failover capacity",
    r"\bhours open\b|\bmaintenance bet\b": "exposure",
    r"\bshort in a year\b": "capacity shortfall",
    r"\bslowed by a neighbour\b": "noisy neighbour",
    r"\blow latency for long\b": "sustained low latency",
    r"\bof no use to\b": "stranded",
    r"\bin money\b|\bpaid in all\b": "TCO, 5-year cost (NPV)",
    r"\byears to look at\b": "analysis period",
    r"\bwhat is ours\b": "reseller margin",
    r"\bsaid by\b": "quotation",
    r"\b(?:to settle|must be settled)\b": "to confirm",
    r"\bgap (?:of \S+ )?is not closed\b": "not proven",
    r"\buse cases?\b": "workload",
    r"\b(?:groups?|silos?) alone\b|\balone the groups\b": "silos",
    r"\bGPUs (?:wanted|demanded)\b|\bwanted on average\b": "GPU demand, needed",
}
SHOWN = {
    r"\bnet present (?:cost|terms)\b": "5-year cost (NPV)",
    r"\b(?:planning )?values? to confirm\b": "assumptions to confirm",
    r"\ball (?:are |VMs are )?placed\b|\b(?:has|find) a place again\b": "all VMs fit, every VM can restart",
    r"\bsum of the peaks\b|\bmean at the peak\b": "everyone at peak, average at the busiest hour",
    r"\bclicking a host\b|\bclick a host to (?:fail it|put it)\b": "click a host to: Fail, Maintenance",
    r"\bmaintenance risk\b": "accept reduced capacity during maintenance",
    r"\bworst pairs?\b": "worst two-host failure",
    r"\bkeep this design\b": "pin",
    r"\bGPU hosts? to order\b": "host configuration",
    r"\bstated total\b": "customer-stated GPU count",
    r"\bnot in it\b": "excludes",
    r"\bM, by prices\b": "range from price uncertainty",
}
"""The same for what a customer reads: tables of words, scripts and files; code may name its functions so."""
READ_BY_PEOPLE = ("app", "cli", "report", "plan/checks", "widgets", "analysis", "audit")
"""Packages whose strings are put on the screen, in a document or in a terminal."""
SMALL = {"a", "an", "and", "at", "by", "for", "in", "of", "on", "per", "the", "to", "with"}
"""Words that a label may have beside its three."""


@cache
def replaced(shown: bool) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = REPLACED | SHOWN if shown else REPLACED
    return tuple((re.compile(words, re.IGNORECASE), instead) for words, instead in rows.items())


def said_wrong(texts: Iterator[tuple[str, str]], shown: bool = False) -> list[str]:
    """Each place with a word that the glossary replaces: where, the word, what to say."""
    return [
        f"{where}: '{found[0]}' is '{instead}' in: {' '.join(text[max(0, found.start() - 60) :].split())[:160]}"
        for where, text in texts
        for pattern, instead in replaced(shown)
        if (found := pattern.search(text))
    ]


def words_of_data() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "data" / "inputs.csv", *sorted((ROOT / "data" / "words").glob("*.csv"))):
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                name = next(iter(row.values()))
                texts = (
                    text
                    for text in row.values()
                    if text and " " in text and text != name and text not in TEXTS
                )
                yield from ((f"{path.name} {name}", text) for text in texts)


def strings_of_code() -> Iterator[tuple[str, str]]:
    """Strings of the package that are shown to people, and docstrings."""
    for path in sorted((ROOT / "gpuplan").rglob("*.py")):
        name = path.relative_to(ROOT / "gpuplan").as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and " " in text and (name.startswith(READ_BY_PEOPLE) or len(text) > 24):
                yield f"{name}:{node.lineno}", text


def strings_of_scripts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "gpuplan" / "widgets" / "static").glob("*.js")):
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield from (
                (f"{path.name}:{at}", text) for text in re.findall(r"[\"'`]([^\"'`]* [^\"'`]*)[\"'`]", line)
            )


def pages() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.glob("**/*.md")):
        name = path.relative_to(ROOT)
        if not {".venv", "build", "node_modules", "CHANGELOG.md"} & set(name.parts):
            for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                yield f"{name}:{at}", re.sub(r"`[^`]*`", "", line)


def chapters() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                yield path.name, re.sub(r"`[^`]*`", "", "".join(cell["source"]))


@pytest.mark.parametrize("texts", [words_of_data, strings_of_code, strings_of_scripts, pages, chapters])
def test_no_text_uses_a_word_that_the_glossary_replaces(
    texts: Callable[[], Iterator[tuple[str, str]]],
) -> None:
    wrong = said_wrong(texts(), shown=texts in (words_of_data, strings_of_scripts))
    assert not wrong, "\n".join(wrong)


def parts(name: str, content: bytes) -> Iterator[tuple[str, str]]:
    """The texts of a file; of an Office file or an archive those of its parts."""
    if content.startswith(b"PK"):
        with ZipFile(BytesIO(content)) as archive:
            for part in archive.namelist():
                yield from parts(f"{name}/{part}", archive.read(part))
    elif not name.endswith((".png", ".js", ".svg", ".rels")):
        yield (
            name,
            html.unescape(
                re.sub(r"<(style|script).*?</\1>|<[^>]+>", " ", content.decode("utf-8", "replace"))
            ),
        )


@pytest.mark.parametrize("example", of_the_day(("starter", "enterprise", "assistant", "current"), 1))
def test_no_file_of_an_example_uses_a_word_that_the_glossary_replaces(
    example_files: Callable[[str], dict[str, bytes]], example: str
) -> None:
    texts = (part for name, content in example_files(example).items() for part in parts(name, content))
    wrong = said_wrong(texts, shown=True)
    assert not wrong, "\n".join(wrong)


def test_the_words_are_found_where_they_stand() -> None:
    (found,) = said_wrong(iter([("here", "Two hosts may be lost.")]))
    assert found.startswith("here: 'may be lost' is 'failover capacity'")


def test_a_label_is_three_words_at_most() -> None:
    with (ROOT / "data" / "inputs.csv").open(encoding="utf-8", newline="") as lines:
        kinds = {row["label"]: row["kind"] for row in csv.DictReader(lines)}
    labels = [
        label for label, kind in kinds.items() if kind != "bool"
    ]  # a box that is ticked says what is accepted
    long = [label for label in labels if len([word for word in label.split() if word not in SMALL]) > 3]
    assert not long and not [label for label in labels if label.endswith("?")]
