"""Reads the scripts of the screen, to compare the keys that they read with those of the contract.

The reader follows a part's data from ``model.get("data")`` and ``drawn`` through variables, destructuring, calls of named
functions, and callbacks such as those of ``map``. It understands no other JavaScript.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

from gpuplan.widgets.contract import Hidden

STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
PATTERN = r"(?<=[(=,!])\s?/(?![*/])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[])+/[a-z]*"
TOKEN = re.compile(rf"{STRING}|//[^\n]*|{PATTERN}|[`{{}}]")
TEMPLATE = re.compile(r"\\.|\$\{|`", re.DOTALL)
NAME = r"[A-Za-z_$][\w$]*"
BRACKETS = {"(": ")", "[": "]", "{": "}"}
NO_FUNCTION = {"if", "for", "while", "switch", "catch", "of"}
ITEMS = {"map", "flatMap", "forEach", "filter", "some", "every", "find", "findIndex", "toSorted"}
"""Methods of a list that give each entry to their callback."""
SAME, ONE = {"filter", "slice", "toSorted"}, {"find", "at"}
"""Methods that return a list of the same, and those that return an entry."""


@dataclass(frozen=True)
class Function:
    """A function: where its parameters stand, and its body."""

    params: tuple[tuple[int, int], ...]
    body: tuple[int, int]


class Scope(NamedTuple):
    """Where a variable is known."""

    start: int
    end: int
    name: str


Types = frozenset[Any]
NOTHING: Types = frozenset()


@cache
def keys_of(kind: Any) -> Mapping[str, Any]:
    """Types of the keys of a shape."""
    return get_type_hints(kind)


def alternatives(kind: Any) -> tuple[Any, ...]:
    """The types that a value may have."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def shapes(kind: Any) -> Types:
    """The types of a value that is there, so that its keys can be read."""
    return frozenset(alternatives(kind)) - {NoneType, Any, Hidden}


def items(types: Types) -> Types:
    """What stands in lists."""
    lists = [
        kind
        for kind in types
        if isinstance(get_origin(kind), type) and issubclass(get_origin(kind), Sequence)
    ]
    return NOTHING.union(*(shapes(each) for kind in lists for each in get_args(kind)))


class Scripts:
    """The scripts as one text, each a block of its own beside what they share."""

    def __init__(
        self, shared: str, scripts: Mapping[str, str], parts: Mapping[str, Any], known: Mapping[str, Any]
    ) -> None:
        """``parts`` has the data of each script, ``known`` the types of parameters by ``script function.parameter``."""
        self.text, self.blocks = _bare(shared), [(0, "common")]
        for name, code in scripts.items():
            code = code.replace("globalThis.gpuplanTerms = ", "").replace(
                "globalThis.gpuplanTerms", "DATA_glossary.terms"
            )
            code = code.replace('model.get("data")', f"DATA_{name}").replace(
                "drawn((data", f"drawn((data = DATA_{name}"
            )
            self.blocks.append((len(self.text), name))
            self.text += f"\n{{ {_bare(code)} }}\n"
        self.parts = {f"DATA_{name}": shapes(kind) for name, kind in parts.items()}
        self.known = known
        self.closes = self._matched()
        self.read: set[tuple[Any, str]] = set()
        self.unknown: set[str] = set()
        self.types: dict[Scope, Types] = {}
        self.scopes: dict[str, list[Scope]] = defaultdict(list)
        self.changed = True
        self.functions = dict(self._found())
        for at in self.functions:
            self._declare(at)
        while self.changed:
            self.changed = False
            self._follow()

    def _matched(self) -> dict[int, int]:
        """Bracket -> the one that closes it."""
        closes, opened = {}, []
        for found in re.finditer(r"[][(){}]", self.text):
            if found[0] in BRACKETS:
                opened.append(found.start())
            else:
                begun = opened.pop()
                assert BRACKETS[self.text[begun]] == found[0], self.text[begun : found.start()][-200:]
                closes[begun] = found.start()
        assert not opened
        self.braces = sorted(at for at in closes if self.text[at] == "{")
        return closes

    def _end(self, at: int, stops: str = ",;)]}") -> int:
        """Where an expression ends."""
        signs = re.compile(rf"[(\[{{{re.escape(stops)}]")
        while (found := signs.search(self.text, at)) and found[0] in BRACKETS:
            at = self.closes[found.start()] + 1
        return found.start() if found else len(self.text)

    def _split(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Places of what commas separate."""
        parts = []
        while (start := self._past_spaces(start)) < end:
            stop = min(self._end(start, ","), end)
            parts.append((start, stop))
            start = stop + 1
        return tuple(parts)

    def _past_spaces(self, at: int) -> int:
        return re.compile(r"\s*").match(self.text, at).end()

    def _found(self) -> Iterator[tuple[int, Function]]:
        """All functions, by the place where their parameters begin."""
        opens = {closed: opened for opened, closed in self.closes.items()}
        for found in re.finditer(r"\s*=>\s*", self.text):
            at = found.start() - 1
            if self.text[at] == ")":
                start = opens[at]
                params = self._split(start + 1, at)
            else:
                start = at + 1 - len(re.search(rf"{NAME}$", self.text[max(0, at - 60) : at + 1])[0])
                params = ((start, at + 1),)
            body = found.end()
            yield (
                start,
                Function(params, (body, self.closes[body] if self.text[body] == "{" else self._end(body))),
            )
        for start, end in self.closes.items():
            named = re.search(rf"({NAME})?\s*$", self.text[max(0, start - 40) : start])
            body_at = re.match(r"\)\s*\{", self.text[end : end + 10])
            if self.text[start] == "(" and body_at and named and named[1] and named[1] not in NO_FUNCTION:
                body = end + body_at.end() - 1
                yield start, Function(self._split(start + 1, end), (body, self.closes[body]))

    def _around(self, at: int) -> int:
        """End of the block around a place."""
        for opened in reversed(self.braces[: bisect(self.braces, at)]):
            if self.closes[opened] >= at:
                return self.closes[opened]
        return len(self.text)

    def _declare(self, at: int) -> None:
        """A function with a name is known in its block, before it too."""
        named = re.search(rf"function ({NAME})$", self.text[max(0, at - 60) : at])
        if named:
            end = self._around(at)
            start = next((opened for opened, closed in self.closes.items() if closed == end), 0)
            self._bind(named[1], start, end, frozenset([self.functions[at]]))

    def _bind(self, name: str, start: int, end: int, types: Types) -> None:
        scope = Scope(start, end, name)
        if scope not in self.types:
            self.types[scope] = NOTHING
            self.scopes[name].append(scope)
            self.changed = True
        if not types <= self.types[scope]:
            self.types[scope] |= types
            self.changed = True

    def _variable(self, name: str, at: int) -> Types:
        if name in self.parts:
            return self.parts[name]
        inside = [scope for scope in self.scopes[name] if scope.start <= at < scope.end]
        return self.types[max(inside)] if inside else NOTHING

    def _take(self, at: int, end: int, types: Types, scope: tuple[int, int]) -> None:
        """Bind what stands left of a ``=``, or a parameter: a name, or some keys or entries of the value."""
        if self.text.startswith("...", at):
            return
        stop = self.closes[at] if self.text[at] in "{[" else at
        default = (
            re.compile(r"\s*=(?!>)\s*").match(self.text, stop + 1)
            if stop != at
            else re.compile(rf"{NAME}\s*=(?!>)\s*").match(self.text, at)
        )
        if default and default.end() < end:
            types |= self._type(default.end())[0]
        if self.text[at] == "[":
            for start, last in self._split(at + 1, stop):
                self._take(start, last, items(types), scope)
        elif self.text[at] == "{":
            for start, last in self._split(at + 1, stop):
                key = re.compile(rf"({NAME})(\s*:\s*)?").match(self.text, start)
                if key:
                    self._take(key.end() if key[2] else start, last, self._get(types, key[1], at), scope)
        elif found := re.compile(NAME).match(self.text, at):
            self._bind(found[0], *scope, types)

    def _get(self, types: Types, key: str, at: int) -> Types:
        """The type of a key, which is read now."""
        declared = [kind for kind in types if is_typeddict(kind)]
        having = [kind for kind in declared if key in keys_of(kind)]
        self.read |= {(kind, key) for kind in having}
        if declared and not having:
            self.unknown.add(f"{' or '.join(sorted(kind.__name__ for kind in declared))}.{key}")
        return NOTHING.union(*(shapes(keys_of(kind)[key]) for kind in having))

    def _call(self, function: Function, given: Sequence[Types]) -> None:
        """Give a function what it is called with."""
        start = min([function.body[0], *(at for at, _ in function.params)])
        for (at, end), types in zip(function.params, given, strict=False):
            self._take(at, end, types, (start, function.body[1]))

    def _type(self, at: int) -> tuple[Types, int]:
        """The types of a value that begins here, and where it ends; no types if it is not followed to its end."""
        sign, types = self.text[at], NOTHING
        if sign == "(" and at not in self.functions:
            types, end = self._whole(at + 1), self.closes[at] + 1
        elif sign == "[":
            first = self._split(at + 1, self.closes[at])[:1]
            types, end = (
                frozenset(Sequence[kind] for kind in self._whole(first[0][0])) if first else NOTHING,
                self.closes[at] + 1,
            )
        elif sign == "{" and (spread := re.compile(r"\{\s*\.\.\.").match(self.text, at)):
            types, end = self._type(spread.end())[0], self.closes[at] + 1
        elif at in self.functions:
            return frozenset([self.functions[at]]), self.functions[at].body[1]
        elif found := re.compile(NAME).match(self.text, at):
            types, end = self._variable(found[0], at), found.end()
            if found[0] == "long" and self.text[end] == "(":
                return self._long(end), self.closes[end] + 1
        else:
            return NOTHING, at + 1
        return self._rest(types, end)

    def _long(self, at: int) -> Types:
        """What ``long`` of ``common.js`` makes of a list."""
        given = self._split(at + 1, self.closes[at])
        rows = items(self._whole(given[3][0]))
        callbacks = [start for start, _ in given[4:5]] + [
            found.end() for found in re.compile(r"value: ").finditer(self.text, at, self.closes[at])
        ]
        for start in callbacks:
            for function in self._whole(start):
                if isinstance(function, Function):
                    self._call(function, [rows])
        return frozenset(_listed(kind) for kind in rows)

    def _rest(self, types: Types, at: int) -> tuple[Types, int]:
        """Follow keys, entries and calls."""
        while found := re.compile(rf"\s*(?:\?\.|\.(?!\.))({NAME})|(?:\?\.)?([\[(])").match(self.text, at):
            at = found.end()
            if found[2] == "[":
                types, at = items(types), self.closes[at - 1] + 1
            elif found[2]:
                given = [self._whole(start) for start, _ in self._split(at, self.closes[at - 1])]
                functions = [kind for kind in types if isinstance(kind, Function)]
                for function in functions:
                    self._call(function, given)
                types = NOTHING.union(
                    *(self._whole(f.body[0]) for f in functions if self.text[f.body[0]] != "{")
                )
                at = self.closes[at - 1] + 1
            elif entries := items(types):
                if self.text[at : at + 1] == "(":
                    for function in self._whole(at + 1):
                        if found[1] in ITEMS and isinstance(function, Function):
                            self._call(function, [entries])
                    at = self.closes[at] + 1
                types = types if found[1] in SAME else entries if found[1] in ONE else NOTHING
            else:
                types = self._get(types, found[1], at)
        return types, at

    def _whole(self, at: int) -> Types:
        """The types of an expression, if it is no more than a value or what stands in for it."""
        types, end = self._type(self._past_spaces(at))
        return types if re.compile(r"\s*([,;)\]}]|\?\?|\|\||$)").match(self.text, end) else NOTHING

    def _follow(self) -> None:
        """Go through the text once."""
        for at, function in self.functions.items():
            name = re.search(rf"({NAME})(?: = )?$", self.text[max(0, at - 60) : at])
            script = self.blocks[bisect(self.blocks, (at, "~")) - 1][1]
            if name:
                parameters = (f"{script} {name[1]}.{self.text[start:end]}" for start, end in function.params)
                self._call(function, [shapes(self.known.get(each)) for each in parameters])
        for found in re.finditer(r"\b(?:const|let) ", self.text):
            end, at = self._around(found.start()), found.end()
            while True:
                stop = (
                    self.closes[at] + 1
                    if self.text[at] in "{["
                    else re.compile(NAME).match(self.text, at).end()
                )
                given = re.compile(r"\s*(=|of) ").match(self.text, stop)
                types = self._whole(given.end()) if given else NOTHING
                if given and given[1] == "of":
                    closed = self._end(given.end())
                    after = re.compile(r"\)\s*\{").match(self.text, closed)
                    self._take(
                        at,
                        stop,
                        items(types),
                        (at, self.closes[after.end() - 1] if after else self._end(closed + 1, ";")),
                    )
                    break
                self._take(at, stop, types, (at, end))
                more = self._end(given.end() if given else stop)
                if self.text[more] != ",":
                    break
                at = self._past_spaces(more + 1)
        for found in re.finditer(rf"(?<![\w$.])(?:(?<![\w$)\]])[(\[]|{NAME})|(?<=\.\.\.){NAME}", self.text):
            self._type(found.start())


def _bare(code: str) -> str:
    """A script without comments and the words of texts; a text with values in it is a group of these."""
    bare, inside, at = "", [], 0
    while found := (TEMPLATE if inside[-1:] == ["`"] else TOKEN).search(code, at):
        bare += "" if inside[-1:] == ["`"] else code[at : found.start()]
        at, sign = found.end(), found[0]
        if sign == "`" and inside[-1:] == ["`"]:
            bare += ")"
            inside.pop()
        elif sign in ("`", "{", "${"):
            bare += "(" if sign == "`" else "{"
            inside.append(sign)
        elif sign == "}":
            bare += sign
            inside.pop()
        elif sign[0] in "\"'/" and sign[:2] != "//":
            bare += '""'
    return bare + code[at:]


@cache
def _listed(kind: Any) -> Any:
    """The list that ``long`` makes of rows of a kind."""
    row = TypedDict("row", {"row": kind, "off": str})  # noqa: UP013
    return TypedDict(
        "long", {"rows": Sequence[row], "tools": Any, "head": Any, "reveal": Any, "searched": Any}
    )
