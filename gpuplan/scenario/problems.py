"""Errors in inputs, and the form of given values in a message."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from gpuplan.facts import did_you_mean
from gpuplan.locales import THIN_SPACE
from gpuplan.wording import said

_T = TypeVar("_T")
FEW = 12
"""Most names that are all listed where none is close to the request."""
MAX_UNKNOWN = 5_000
"""Fields that there are not, of which each is named."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Error in an input: its path, its value, and the values allowed."""

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
        """The error without the input's path: its value, and the values allowed or the reason."""
        if self.value == "nothing":
            return f"Empty: {self.message}"
        return f"{self.value} is not valid: {self.message}"


class ScenarioError(ValueError):
    """A scenario that cannot be used. ``problems`` names each field, its value and the allowed values."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))


def problem(path: str, given: object, key: str, /, **words: object) -> Problem:
    """The error in an input: its value, shown as text, and what is allowed, by its key in ``data/words/report.csv``."""
    return Problem(path, "nothing" if given is None else str(given), said(key, **words))


def refusal(message: str) -> ScenarioError:
    """The error about a file as a whole."""
    return ScenarioError([Problem("", "", message)])


def pick(known: Mapping[str, _T], key: object, what: str) -> _T:
    """Return the value of a name; the error for another name gives the nearest, or all where there are few."""
    if isinstance(key, str) and key in known:
        return known[key]
    raise refusal(f"there is no {what} {show(key)}{_instead(key, known)}")


def _instead(key: object, known: Iterable[str]) -> str:
    names = list(known)
    every = f"; there is {', '.join(names)}" if 0 < len(names) <= FEW else ""
    return did_you_mean(key, names) or every


def name_unknown(data: Mapping[Any, Any], known: set[str], prefix: str, problems: list[Problem]) -> None:
    """Add a problem for each key that is not known, with the nearest one; one for all of very many."""
    if len(problems) >= MAX_UNKNOWN:
        return
    if len(data) > MAX_UNKNOWN:
        counts = {"many": f"{len(data):,}", "most": len(known)}
        if prefix:
            many = said("file.fields", **counts)
            problems.append(problem(prefix.rstrip("."), many, "file.most fields", **counts))
        else:
            problems.append(problem("", "", "file.fields of a file", **counts))
        return
    names = ", ".join(sorted(known))
    for key in data:
        if key not in known:
            near = did_you_mean(key, known)
            wrong = "file.unknown field near" if near else "file.unknown field"
            problems.append(problem(prefix + show_key(key), show(data[key]), wrong, near=near, known=names))


def show(value: Any, limit: int = 60) -> str:
    """Return a value for a message: quoted if text, cut if long."""
    if isinstance(value, str):
        text = one_line(json.dumps(value, ensure_ascii=False))
    else:
        try:
            text = one_line(str(value))
        except (ValueError, RecursionError):  # an integer of thousands of digits, or deep nesting
            text = f"a {type(value).__name__} too long to show"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def show_key(key: Any) -> str:
    """Return a key of a file for a message."""
    return one_line(key[:60]) if isinstance(key, str) else show(key)


def one_line(text: str) -> str:
    """Return text that a terminal and a log can show: unprintable characters are escaped."""
    return "".join(
        c if c.isprintable() or c == THIN_SPACE else c.encode("unicode_escape").decode() for c in text
    )


def shown_name(name: str, limit: int = 80) -> str:
    """Return a user's file name for a message: on one line, nothing invisible, cut if long."""
    text = one_line(name[:limit]) or "The file"
    return text if len(text) <= limit and len(name) <= limit else text[: limit - 3] + "..."
