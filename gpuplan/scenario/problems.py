"""What is wrong with an input, and how what was given is shown in a message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from gpuplan.facts import did_you_mean
from gpuplan.locales import THIN_SPACE

_T = TypeVar("_T")
FEW = 12
"""Names of which all are said where none is close to what was asked for."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with an input: its path, the value given, and what is allowed."""

    path: str
    value: str
    message: str

    def __str__(self) -> str:
        if not self.path:
            return self.message
        if self.value == "nothing":
            return f"{self.path} is empty: {self.message}"
        return f"{self.path}: {self.words}"

    @property
    def words(self) -> str:
        """What is wrong, beside the input itself: its value, and what is allowed or why it is not."""
        if self.value == "nothing":
            return f"Empty: {self.message}"
        return f"{self.value} is not valid: {self.message}"


class ScenarioError(ValueError):
    """A scenario that cannot be used. ``problems`` names each field, its value and what is allowed."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))


def refusal(message: str) -> ScenarioError:
    """The error about a file as a whole."""
    return ScenarioError([Problem("", "", message)])


def pick(known: Mapping[str, _T], key: object, what: str) -> _T:
    """What is known by a name; the refusal of another name says the nearest, or all where there are few."""
    if isinstance(key, str) and key in known:
        return known[key]
    raise refusal(f"there is no {what} {show(key)}{_instead(key, known)}")


def _instead(key: object, known: Iterable[str]) -> str:
    names = list(known)
    every = f"; there is {', '.join(names)}" if 0 < len(names) <= FEW else ""
    return did_you_mean(key, names) or every


def show(value: Any, limit: int = 60) -> str:
    """A value as it appears in a message: quoted if text, cut if long."""
    if isinstance(value, str):
        text = one_line(json.dumps(value, ensure_ascii=False))
    else:
        try:
            text = one_line(str(value))
        except (ValueError, RecursionError):  # an integer of thousands of digits, or deep nesting
            text = f"a {type(value).__name__} too long to show"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def show_key(key: Any) -> str:
    """A key of a file as it appears in a message."""
    return one_line(key[:60]) if isinstance(key, str) else show(key)


def one_line(text: str) -> str:
    """Text that a terminal and a log can show: what cannot be printed is escaped."""
    return "".join(
        c if c.isprintable() or c == THIN_SPACE else c.encode("unicode_escape").decode() for c in text
    )


def shown_name(name: str, limit: int = 80) -> str:
    """The name that a user gave a file, as a message shows it: on one line, nothing invisible, cut if long."""
    text = one_line(name[:limit]) or "The file"
    return text if len(text) <= limit and len(name) <= limit else text[: limit - 3] + "..."
