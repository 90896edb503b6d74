"""Contents of a trace: jobs with GPUs allocated, samples of chip activity, or requests to a language model."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Self

import numpy as np

from gpuplan.audit.columns import Column
from gpuplan.scenario import Problem, one_line
from gpuplan.wording import said

MOST_GROUPS = 100
OTHERS = "other workloads"
MAX_NAME = 60
MAX_NAMES = 200_000
NO_GROUP = "no group"

ALL = "all"
"""The group of all jobs or samples where no column names one."""


class TraceError(ValueError):
    """A file that cannot be used. ``problems`` names each line, its content and what is expected."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        parts = ((p.path, p.value * bool(p.path), p.message) for p in problems)
        super().__init__("\n".join(": ".join(filter(None, part)) for part in parts))


def refusal(key: str, *, where: str = "", value: str = "", **values: object) -> TraceError:
    """Return the refusal of a file for one reason, by the key of its text."""
    return TraceError(Problem(where, value, said(key, **values)))


class Skipped(NamedTuple):
    """Rows left out for one reason."""

    reason: str
    rows: int
    first_line: int
    example: str
    gpu_h: float = 0.0
    """GPU-hours of those rows for which they are known; for jobs."""
    unknown: int = 0
    """Rows for which they are not."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Account of what could be read from a file."""

    format: str
    rows: int
    """Rows of data, header not counted; for an answer of Prometheus, samples."""
    used: int
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]
    columns: Mapping[str, str]
    """Value -> name of the column that contains it."""
    time_zone: str
    """Time zone of the times that state none."""
    units: Mapping[str, Column] = field(default_factory=dict)
    """Value -> its column, with the unit of its numbers."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Trace:
    """Rows of a trace: one element of each array for each row."""

    group: np.ndarray
    groups: tuple[str, ...]
    reading: Reading

    @property
    def amount(self) -> np.ndarray:
        """Return the amount of each row by which groups are compared."""
        raise NotImplementedError

    def where(self, chosen: np.ndarray) -> Self:
        """Return some of the rows, by a mask or by their numbers; groups keep their numbers."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{k: v[chosen] for k, v in values.items() if isinstance(v, np.ndarray)})

    def by_group(self) -> np.ndarray:
        """Return the amount of each group."""
        return np.bincount(self.group, weights=self.amount, minlength=len(self.groups))

    def with_few_groups(self) -> Self:
        """Return a trace with the groups that have the largest amounts; all smaller ones are merged."""
        if len(self.groups) <= MOST_GROUPS:
            return self
        kept: np.ndarray = np.sort(np.argsort(-self.by_group(), kind="stable")[: MOST_GROUPS - 1])
        code = np.full(len(self.groups), MOST_GROUPS - 1)
        code[kept] = np.arange(len(kept))
        names = (*(self.groups[n] for n in kept), OTHERS)
        return replace(self, group=code[self.group], groups=names)

    def parts(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield each group that has rows, by name, with the mask of its rows: the largest first."""
        for n in np.argsort(-self.by_group(), kind="stable").tolist():
            if (at := self.group == n).any():
                yield self.groups[n], at


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Jobs(Trace):
    """Jobs with GPUs; times in seconds since 1970, UTC."""

    submit_s: np.ndarray
    start_s: np.ndarray
    """The same as ``submit_s`` where starts are not known."""
    has_start: bool
    """True if submit and start are both known, so that waits can be computed."""
    duration_s: np.ndarray
    gpus: np.ndarray
    user: np.ndarray
    """A number for each user, 0 for all if users are not known."""
    users: int
    """Distinct users, 0 if they are not known."""
    user_names: tuple[str, ...] = ()
    period_s: tuple[float, float] | None = None

    @property
    def amount(self) -> np.ndarray:
        """Return GPU-hours."""
        gpu_hours: np.ndarray = self.gpus * self.duration_s / 3600
        return gpu_hours

    def where(self, chosen: np.ndarray) -> Self:
        """Return some of the jobs, and count their users."""
        part = Trace.where(self, chosen)
        return replace(part, users=len(np.unique(part.user)) if self.users else 0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Samples(Trace):
    """Samples of how busy the chip was."""

    time_s: np.ndarray
    gpu: np.ndarray
    percent: np.ndarray
    weight: np.ndarray
    """Share of the GPU sampled: 1, or for a MIG instance its compute slices over those of the GPU."""
    gpus: tuple[str, ...]
    metric: str
    quantity: str = "activity"
    """Quantity sampled; never the share of GPUs allocated, which is another figure."""

    @property
    def amount(self) -> np.ndarray:
        """Return the share of a GPU that each sample is of."""
        return self.weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Requests(Trace):
    """Requests to a language model, in the order in which they came; groups are models or applications."""

    time_s: np.ndarray
    tokens_in: np.ndarray
    tokens_out: np.ndarray

    @property
    def amount(self) -> np.ndarray:
        """Return tokens."""
        tokens: np.ndarray = self.tokens_in + self.tokens_out
        return tokens


class Names(dict[str, int]):
    """Codes for names, each cut to the length that a table can show; two that look the same then stay apart."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: dict[str, None] = {}
        self.alike: dict[str, int] = {}

    def __missing__(self, text: str) -> int:
        if text != text.strip():
            self[text] = self[text.strip()]
            return self[text]
        code = self[text] = len(self.shown)
        if code >= MAX_NAMES:
            raise refusal("audit.too many names", most=MAX_NAMES)
        name = one_line(text[: 2 * MAX_NAME] or NO_GROUP)
        shown = name[:MAX_NAME]
        n = self.alike.get(shown, 1)
        while shown in self.shown:
            n += 1
            shown = f"{name[: MAX_NAME - len(str(n)) - 1]}~{n}"
        self.alike[name[:MAX_NAME]] = n
        self.shown[shown] = None
        return code


class Collected:
    """Columns of the rows that are used, put together block by block: numbers, and codes of names."""

    def __init__(self, *numbers: str, codes: Sequence[str] = ("group",), marks: Sequence[str] = ()) -> None:
        types = {**dict.fromkeys(numbers, "d"), **dict.fromkeys(codes, "i"), **dict.fromkeys(marks, "q")}
        self._columns = {name: array(code) for name, code in types.items()}
        self.names = defaultdict[str, Names](Names)
        """Column -> the names for which it has codes."""

    def __len__(self) -> int:
        return min(map(len, self._columns.values()))

    def __getitem__(self, name: str) -> np.ndarray:
        column = self._columns[name]
        return np.frombuffer(column, dtype=np.dtype(column.typecode))

    def add(self, kept: np.ndarray, **values: np.ndarray | Sequence[float]) -> None:
        """Append the rows that are kept to columns of numbers or codes."""
        for name, part in values.items():
            column = self._columns[name]
            column.frombytes(np.asarray(part)[kept].astype(column.typecode).tobytes())

    def keep(self, kept: np.ndarray) -> None:
        """Leave out the rows that are not kept."""
        for name, column in self._columns.items():
            self._columns[name] = array(column.typecode, self[name][kept].tobytes())

    def add_names(self, **texts: Iterable[str]) -> None:
        """Append names to columns of codes."""
        for name, part in texts.items():
            self._columns[name].extend(map(self.names[name].__getitem__, part))

    def columns(self) -> dict[str, Any]:
        """Return the columns and the names of the groups, as a trace has them."""
        return {**{name: self[name] for name in self._columns}, "groups": tuple(self.names["group"].shown)}
