"""The trail: every number of a plan with the model function that made it, its inputs, its sources and the weakest basis among them.

"Why this number?" is a view of its line.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, get_type_hints

from gpuplan.facts import QUOTED, Fact, own_rows, weakest
from gpuplan.plan.inputs import Input, label_of
from gpuplan.showing import Carded


class Lines(dict[str, "Line"], Carded):
    """Numbers of a plan by their keys, short in a console."""

    def __repr__(self) -> str:
        return f"<{len(self)} lines: {', '.join(list(self)[:5])}{', ...' if len(self) > 5 else ''}>"


@dataclass(frozen=True)
class Line(Carded):
    """One number of the plan and where it comes from; its words and sources are gathered when they are first read."""

    key: str
    label: str
    value: Any
    unit: str
    model: Callable[..., Any] = field(repr=False)
    formula: str
    """Template of the formula: numbers replace {input name} and {value}, numbers with unit replace {input name_u} and
    {value_u}."""
    given: Mapping[str, Fact | Line] = field(repr=False)
    """Inputs of the model function, by the names of its parameters."""

    @property
    def function(self) -> str:
        """Full name of the model function."""
        return f"{self.model.__module__.removeprefix('gpuplan.')}.{self.model.__name__}"

    @property
    def sentence(self) -> str:
        """Sentence on the result of the model function."""
        return _doc(self.model)[0]

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """Inputs of the line, with their origins."""
        return tuple(input_of(name, fact) for name, fact in self.given.items())

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Sources of the inputs, then of the model."""
        behind = (source for fact in self.given.values() for source in fact.sources)
        return tuple(dict.fromkeys((*behind, *_doc(self.model)[1])))

    @cached_property
    def basis(self) -> str:
        """The weakest of its inputs."""
        return weakest(fact.basis for fact in self.given.values()) if self.given else "derived"

    def _asdict(self) -> dict[str, Any]:
        """Return a record, with the gathered facts instead of the function and its inputs."""
        names = (
            *("key", "label", "value", "unit", "function", "sentence", "formula", "inputs", "sources"),
            "basis",
        )
        return {name: getattr(self, name) for name in names}


class Words(NamedTuple):
    """Words of a line: a row of ``data/words/lines.csv``."""

    label: str
    unit: str
    formula: str


def _words() -> dict[tuple[str, str], Words]:
    """(key, case) -> its words; ``*`` in a key matches the id of a group, a pool and the like."""
    return {
        (key, row["when"]): Words(row["label"], row["unit"], row["formula"])
        for row in own_rows("words/lines")
        for key in row["key"].split()
    }


WORDS = _words()
"""Packages of other authors put the words of their figures here, with keys that start with ``added.``."""
GAP = re.compile(r"\{\w+\}")
"""A gap, filled in later."""

Given = Mapping[str, Fact | Line]
Inputs = dict[str, Fact | Line]
"""Inputs of a line that are put together one after another."""


class Trail:
    """Collects the lines of a chapter of a plan in the order of computation; lines of other chapters are found by key.

    Label, unit and formula of a line are in ``data/words/lines.csv``; where a line has several formulas, ``when`` names
    the case. Words in braces that are no inputs are filled in by ``words``.
    """

    def __init__(self, known: dict[str, Line] | None = None) -> None:
        self.lines: dict[str, Line] = {}
        self._known = {} if known is None else known
        self._at = self._row = ""
        self._words: tuple[tuple[str, str], ...] = ()
        self._of = ""

    def of_hosts(self, id: str, name: str) -> Trail:
        """This trail for the lines of the hosts of a further kind, with its name in each label."""
        here = self.about(f"kinds.{id}")
        here._of = f" ({name})"
        return here

    def about(self, at: str, **words: object) -> Trail:
        """This trail for the lines of one object, such as ``pools.vgpu``: a key prefix, and ``words`` shared by all."""
        here, (kind, dot, _) = self.saying(**words), at.partition(".")
        here._at, here._row = f"{at}.", f"{kind}.*." if dot else f"{kind}."
        return here

    def saying(self, **words: object) -> Trail:
        """This trail with ``words`` shared by all of its lines."""
        here = Trail(self._known)
        here.lines, here._words = self.lines, (*self._words, *_texts(words))
        here._of = self._of
        return here

    def __getitem__(self, key: str) -> Line:
        return self._known[self._at + key]

    def __contains__(self, key: str) -> bool:
        return self._at + key in self._known

    def compute(
        self,
        key: str,
        function: Callable[..., Any],
        shared: Given | None = None,
        /,
        *,
        when: str = "",
        words: Mapping[str, object] | None = None,
        **inputs: Fact | Line,
    ) -> Line:
        """Call a model function with the values of its inputs, shared ones first, and record the line.

        An input is a parameter of the function, or a field of a record that the function takes.
        """
        facts = {**(shared or {}), **inputs}
        value = call(function, {name: fact.value for name, fact in facts.items()})
        return self.record(key, function, value, facts, when=when, words=words)

    def record(
        self,
        key: str,
        function: Callable[..., Any],
        value: Any,
        shared: Given | None = None,
        /,
        *,
        when: str = "",
        words: Mapping[str, object] | None = None,
        **inputs: Fact | Line,
    ) -> Line:
        """Record a line with a value from a model function."""
        label, unit, formula = self._said(key, when, words or {})
        facts = {name: self._worked_out(fact) for name, fact in {**(shared or {}), **inputs}.items()}
        return self._add(Line(self._at + key, label, value, unit, function, formula, facts))

    def add_up(self, key: str, function: Callable[..., Any], parts: Given, /, **words: object) -> Line:
        """Call a model function that sums any number of parts, and record the line."""
        value = function(*(part.value for part in parts.values()))
        named = {f"part{number}": part for number, part in enumerate(parts.values(), 1)}
        label, unit, _ = self._said(key, "", words)
        formula = (" + ".join(f"{{{name}}}" for name in named) or "0") + " = {value}"
        return self._add(Line(self._at + key, label, value, unit, function, formula, named))

    def repeat(self, key: str, line: Line, label: str = "") -> Line:
        """Record the same number under another key: a total of one part is that part."""
        return self._add(replace(line, key=self._at + key, label=label or self._said(key, "", {}).label))

    def _worked_out(self, given: Fact | Line) -> Fact | Line:
        """Return the line that replaces an input, such as the replicas of a model for people; else the input itself."""
        return given if isinstance(given, Line) else self._known.get(f"={given.key}", given)

    def stand_in(self, path: str, line: Line) -> None:
        """Make later lines that use the input at ``path`` use ``line`` instead, which the plan derived for it."""
        self._known[f"={path}"] = line

    def _said(self, key: str, when: str, words: Mapping[str, object]) -> Words:
        said = _filled(self._row + key, when, (*self._words, *_texts(words)))
        return said._replace(label=said.label + self._of) if self._of else said

    def _add(self, line: Line) -> Line:
        self.lines[line.key] = self._known[line.key] = line
        return line


def call(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Call a model function with values by name; fields of its records go into these."""
    if not any(record for record, _ in _parameters(function).values()):
        return function(**values)
    left = dict(values)
    arguments = _arguments(function, left)
    return function(**arguments, **left)


def _arguments(taker: Callable[..., Any], values: dict[str, Any]) -> dict[str, Any]:
    parameters = _parameters(taker)
    arguments = {name: values.pop(name) for name in parameters if name in values}
    for name, (record, usual) in parameters.items():
        if record and name not in arguments and (inner := _arguments(record, values)):
            arguments[name] = record(**inner) if usual is None else replace(usual, **inner)
    return arguments


@lru_cache(maxsize=512)  # without it a plan takes a third longer
def _parameters(taker: Callable[..., Any]) -> Mapping[str, tuple[type[Any] | None, Any]]:
    """Return the parameters of a function or a record -> the type of those that are records, and its default."""
    hints = get_type_hints(taker)
    return {
        name: (hints[name], parameter.default if is_dataclass(parameter.default) else None)
        if isinstance(hints.get(name), type) and is_dataclass(hints[name])
        else (None, None)
        for name, parameter in inspect.signature(taker).parameters.items()
    }


def _texts(words: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return words as text, since a cache takes 1 and 1.0 for the same."""
    return tuple((name, str(word)) for name, word in words.items())


@lru_cache(maxsize=1024)  # without it a plan takes a sixth longer
def _filled(row: str, when: str, words: tuple[tuple[str, str], ...]) -> Words:
    """Fill in the words of a line; ``*`` at the end of a row matches any key."""
    said = WORDS.get((row, when)) or WORDS[row.rpartition(".")[0] + ".*", when]
    meant = {f"{{{name}}}": word for name, word in words}
    return Words(*(GAP.sub(lambda gap: meant.get(gap[0], gap[0]), text) for text in said))


def input_of(name: str, given: Fact | Line) -> Input:
    """Return an input of a line, with its origin."""
    if isinstance(given, Line):
        return Input(name, given.key, given.label, given.value, given.unit, given.basis, given.sources)
    label = label_of(given.key)
    details = (given.value, given.unit, given.basis, given.sources, given.locator, given.note)
    return Input(name, given.key, label, *details)


CITED = re.compile(r"\[(\S+)\]_")
"""A source that a docstring cites."""


@lru_cache(maxsize=512)  # without it a plan as data takes a fifth longer
def _doc(function: Callable[..., Any]) -> tuple[str, tuple[str, ...]]:
    """First sentence of a model function, and the sources that it cites; its module's if it cites none."""
    doc = inspect.getdoc(function) or ""
    first = " ".join(doc.split("\n\n", 1)[0].split())
    cited = CITED.findall(doc) or CITED.findall(sys.modules[function.__module__].__doc__ or "")
    return QUOTED.get(("models", "text"), {}).get(first, first), tuple(cited)
