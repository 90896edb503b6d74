"""A fact: a value with its unit, its range, its basis and its sources.

Nothing here has a default for `basis` or `sources`: a number that cannot say where it comes from is no fact.
"""

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from gpuplan.showing import Carded

Value = str | int | float | bool
"""Types of a fact's value. Dates are ISO text, because some are known to the month only."""

BASES = ("measured", "published", "quoted", "derived", "fitted", "assumed")
"""Bases of a value, strongest first."""

TIERS = ("standard", "reviewed", "maker", "measured", "press", "practitioner")
"""Tiers of sources, strongest first; what rests on the last alone is assumed."""

SCENARIO_SOURCE = "scenario"
"""The source id of a fact that the customer's scenario states."""


LONGEST_REPR, LONGEST_TEXT = 400, 60
"""Characters that a record, and a text in it, take in a console."""


T = TypeVar("T")
FEW = 5
"""Names that a collection says in a console."""
TRANSLATION: dict[str, dict[int, dict[str, str]]] = {}
"""Table of words -> row -> column -> its text in another language; ``gpuplan report --language`` fills it before texts are read."""
FORMS = re.compile(r"(?:zero|one|two|few|many|other|\d+)=")
"""Beginning of forms by number: ``one=# host is|other=# hosts are``."""
PLURAL_RULES: list[Callable[[Any], str]] = [lambda value: "one" if 0 < value <= 1 else "other"]
"""Rules for the category of a number, as CLDR names it: the English one, and that of the language chosen, which holds."""
QUOTED: dict[tuple[str, str], dict[str, str]] = {}
"""Table and column of the catalog, or ``models`` and ``text`` -> English text -> the text in another language."""


class Several(tuple[T, ...], Carded):
    """Several objects of one kind, short in a console."""

    __slots__ = ()

    def __repr__(self) -> str:
        kind = type(self[0]).__name__ if self else "thing"
        return f"<{len(self)} x {kind}>"


class Named(Mapping[str, T], Carded):
    """Objects of one kind by their names, frozen, short in a console."""

    __slots__ = ("_things",)

    def __init__(self, things: Mapping[str, T]) -> None:
        self._things = things

    def __getitem__(self, name: str) -> T:
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def __repr__(self) -> str:
        return f"<{len(self)}: {', '.join(list(self)[:FEW])}{', ...' if len(self) > FEW else ''}>"


class Brief(Carded):
    """A record that is short in a console: its plain values, and only the size of all else."""

    __slots__ = ()

    def __repr__(self) -> str:
        said = (f"{name}={_brief(getattr(self, name))}" for name in self._told())
        text = ", ".join(said)
        return f"{type(self).__name__}({text if len(text) < LONGEST_REPR else text[:LONGEST_REPR] + '...'})"

    def _told(self) -> Iterable[str]:
        return (field.name for field in fields(self) if field.repr)  # type: ignore[arg-type]  # dataclasses only


def _brief(value: object) -> str:
    if value is None or isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return repr(value if len(value) <= LONGEST_TEXT else f"{value[:LONGEST_TEXT]}...")
    return f"<{len(value)}>" if isinstance(value, Sized) else type(value).__name__


def data_root() -> Path:
    """Folder of the shipped data: inside the package when installed, beside it in a working copy."""
    package = Path(__file__).resolve().parent
    packaged = package / "data"
    return packaged if packaged.is_dir() else package.parent / "data"


def own_rows(name: str) -> list[dict[str, str]]:
    """The rows of a table of gpuplan's own words, in the language chosen; a folder of the user's (``--catalog``) does not change them."""
    with (data_root() / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for at, texts in TRANSLATION.get(name, {}).items():
        rows[at].update(texts)
    return rows


def own_specs(package: str, name: str) -> dict[str, Any]:
    """The entries of a YAML file of gpuplan's own beside the modules of a package, but ``shared``, to which they refer."""
    import yaml  # only where something is drawn or written

    text = files(package).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    specs = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {key: spec for key, spec in specs.items() if key != "shared"}


def did_you_mean(key: object, known: Iterable[str]) -> str:
    """Up to three close names as the end of a message, alike as a whole or in one part; empty where none is close.

    >>> did_you_mean("researcher", ["researchers", "developers"])
    '; did you mean researchers?'
    >>> did_you_mean("T4", ["l4-24gb", "t4-16gb"])
    '; did you mean t4-16gb?'
    """
    from difflib import get_close_matches  # only on the way to an error

    text, names = str(key)[:200].lower(), {name.lower(): name for name in known}
    close = get_close_matches(text, names, n=3, cutoff=0.6)
    close = close or [name for name in names if len(text) > 1 and text in name]
    close = close or [name for name in names if get_close_matches(text, name.split("-"), n=1, cutoff=0.6)]
    return f"; did you mean {' or '.join(names[name] for name in close[:3])}?" if close else ""


def did_you_mean_file(path: Path, known: Iterable[str] = ()) -> str:
    """The same for a missing file, among the files beside it and the names that can be given instead of a file."""
    folder = path.parent
    beside = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    if path.name in beside:
        return ""  # it is there, and cannot be read for another reason
    return did_you_mean(path.name, [*known, *(name for name in beside if name.isprintable())])


def weakest(bases: Iterable[str]) -> str:
    """The weakest of some bases, the basis of a result that rests on all of them; ValueError if there is none.

    >>> weakest(["published", "assumed", "measured"])
    'assumed'
    """
    listed = list(bases)
    if not listed:
        raise ValueError("no basis given: at least one is needed to name the weakest")
    for basis in listed:
        _check_basis(basis)
    return max(listed, key=BASES.index)


def _check_basis(basis: str) -> None:
    if basis not in BASES:
        raise ValueError(f"basis {basis!r} is unknown; allowed are {', '.join(BASES)}")


@dataclass(frozen=True, slots=True)
class Source:
    """A document that facts come from; ``data/schema.csv`` describes its columns."""

    id: str
    title: str
    producer: str
    url: str
    published: str
    accessed: str
    tier: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A value with unit, range, basis and sources; a ValueError where these make no sense.

    The unit is as in `gpuplan.units`, ``1`` for a count or ratio, empty for text. ``low`` and ``high`` come together, with the
    value between them. ``sources`` are ids, at least one, ``scenario`` for what the customer stated.

    >>> Fact("gpus/t4-16gb/tdp_w", 70, "W", None, None, "published", ("techpowerup",)).value
    70
    """

    key: str
    value: Value
    unit: str
    low: float | None
    high: float | None
    basis: str
    sources: tuple[str, ...]
    locator: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        _check_basis(self.basis)
        if isinstance(self.sources, str) or not self.sources or not all(self.sources):
            raise ValueError(f"{self.key}: a fact needs at least one source")
        for name, number in (("value", self.value), ("low", self.low), ("high", self.high)):
            if isinstance(number, float) and not math.isfinite(number):
                raise ValueError(f"{self.key}: {name} {number!r} is not a finite number")
        if self.low is None and self.high is None:
            return
        if self.low is None or self.high is None:
            raise ValueError(f"{self.key}: low and high go together; give both or neither")
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise ValueError(f"{self.key}: only a number can have low and high")
        if not self.low <= self.value <= self.high:
            raise ValueError(f"{self.key}: {self.value!r} is not between {self.low!r} and {self.high!r}")

    @property
    def parameter(self) -> str:
        """Last part of the key, such as ``memory_gib``."""
        return self.key.rpartition("/")[2]
