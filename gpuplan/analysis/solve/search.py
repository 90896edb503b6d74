"""Search: branch and bound over all designs; a design is planned only while its bound is above the best that was found."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from gpuplan.analysis.candidates import Candidate
from gpuplan.analysis.engines import Engine
from gpuplan.analysis.solve.bounds import Bound, ToBound, Unit, Units, bare, bounds, measured_alone
from gpuplan.analysis.solve.designs import Design
from gpuplan.analysis.solve.trial import Climb, Climbed, Found, Miss, Question, climbed

TOGETHER = 4
"""Kinds of hosts that are measured in one task."""
ROUND = 1
"""Designs that each process tries before the next ones are chosen by the best that was found."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is."""

    best: Found | None
    bound: float | None
    """Of designs with one kind of hosts while mixes are left; None while it is not known."""
    gap: float | None
    done: int
    """Designs that are decided."""
    of: int
    mixes_left: int = 0
    """Ways to part the workloads over two kinds of hosts that are not yet decided."""


Told = Callable[[Progress], object]
"""Is told of the progress; what it returns is ignored, and an error that it raises ends the search."""


@dataclass(slots=True)
class Search:
    """The state of a search: what is open, what was found, and why all else is out."""

    question: Question
    engine: Engine
    told: Told | None = None
    until: float = float("inf")
    """Time on the clock of this process at which the search stops."""
    units: dict[Candidate, Unit | None] = field(default_factory=dict)
    """What hosts take alone, which is the same whatever is served."""
    best: Found | None = None
    found: dict[Design, Found] = field(default_factory=dict)
    """The most of each design that reached the best of its time."""
    missed: dict[Design, Miss] = field(default_factory=dict)
    """Why each other design did not reach it."""
    last: dict[Design, Miss] = field(default_factory=dict)
    """Why each tried design does not serve more."""
    waiting: list[Bound] = field(default_factory=list)
    """Designs not yet tried, the most promising first."""
    open: list[Bound] = field(default_factory=list)
    """Designs whose bound is above the best when the time was up."""
    left: list[Bound] = field(default_factory=list)
    """Designs that may serve more than was looked for when the time was up."""
    mixes_left: int = 0
    """Ways to part the workloads that are not yet decided."""
    beyond: list[Bound] = field(default_factory=list)
    """Designs that were not tried, as their bound is no better than the best."""
    trials: int = 0
    of: int = 0

    @property
    def done(self) -> int:
        """Designs that are decided: those tried, and those that their bound excludes."""
        return len(self.found) + len(self.missed) + len(self.beyond)

    @property
    def most(self) -> bool:
        """True if as much as possible is wanted."""
        return self.question.quantity.most

    def run(self, first: Sequence[Design], designs: Sequence[Design]) -> None:
        """Try the first designs one after another, then all others as long as they may be better."""
        quantity = self.question.quantity
        self.of = len({*first, *designs})
        for design in first:
            steps = quantity.high if self.most else quantity.asked
            self._take(climbed(self.engine.catalog, self._climb(Bound(design, steps, 0.0))))
            self._tell(None)
        rest = [design for design in dict.fromkeys(designs) if design not in self.found]
        self.waiting = sorted(self._bounds(rest), key=self._promise)
        while self.waiting and not self.late and self.may(self.waiting[0]):
            ahead = ROUND * self.engine.workers
            now, self.waiting = self.waiting[:ahead], self.waiting[ahead:]
            self.try_each(now)
        self.open = [bound for bound in self.waiting if self.may(bound)]
        self.beyond, self.waiting = [bound for bound in self.waiting if not self.may(bound)], []
        self._tell(self.bound)

    def try_each(self, ahead: Sequence[Bound]) -> None:
        """Try designs side by side."""
        for part in self.engine.each(climbed, [self._climb(bound) for bound in ahead]):
            for done in part:
                self._take(done)
        self._tell(self.bound)

    def climb(self, design: Design, floor: int) -> None:
        """Try a design that was open from an amount that it serves upwards, as far as any open one may come."""
        until = time.time() + self.until - time.monotonic()
        high = max((bound.steps for bound in (*self.open, *self.left)), default=self.question.quantity.high)
        task = Climb(self.question, design, floor, max(floor, high), until)
        self._take(climbed(self.engine.catalog, task))

    @property
    def late(self) -> bool:
        """True if the time is up."""
        return time.monotonic() > self.until

    @property
    def bound(self) -> float | None:
        """What no design is better than, of those with one kind of hosts while mixes are left; None while nothing bounds them."""
        ahead = [bound for bound in (*self.waiting, *self.open, *self.left) if self.may(bound)]
        best = self.best.value if self.best else None
        if not ahead:
            return best
        quantity = self.question.quantity
        if self.most:
            most = max(bound.steps for bound in ahead)
            return None if most >= quantity.high else max(quantity.value(most), best or 0.0)
        return min(min(bound.least for bound in ahead), best if best is not None else float("inf"))

    def _bounds(self, designs: Sequence[Design]) -> Iterator[Bound]:
        self.measure(designs)
        alike = groupby(sorted(designs, key=_order), key=lambda design: design.hosts.gpu)
        groups = [tuple(group) for _, group in alike]
        tasks = [ToBound(self.question, group, self.units_of(group), self._floor) for group in groups]
        for part in self.engine.each(bounds, tasks):
            for found in part:
                yield from found

    def measure(self, designs: Sequence[Design]) -> None:
        """Work out what the hosts of designs take alone, where that is not yet known."""
        kinds = dict.fromkeys(bare(design.hosts) for design in designs)
        tasks = [(self.question, hosts) for hosts in kinds if hosts not in self.units]
        for part in self.engine.each(measured_alone, tasks, TOGETHER):
            self.units |= part

    def units_of(self, designs: Sequence[Design]) -> Units:
        """Return what the hosts of some designs take alone."""
        return {hosts: self.units[hosts] for hosts in {bare(design.hosts) for design in designs}}

    def _promise(self, bound: Bound) -> tuple[object, ...]:
        hosts = bound.design.hosts
        return (
            -bound.steps if self.most else bound.least,
            hosts.sharing != "as asked",
            *_order(bound.design),
        )

    def may(self, bound: Bound) -> bool:
        """True if a design may be better than the best."""
        if self.best is None:
            return bound.steps > 0 or not self.most
        return bound.steps >= self.best.steps if self.most else bound.least < self.best.value

    def _climb(self, bound: Bound) -> Climb:
        quantity = self.question.quantity
        if not self.most:
            return Climb(self.question, bound.design, quantity.asked, quantity.asked)
        until = time.time() + self.until - time.monotonic()
        return Climb(self.question, bound.design, self._floor, max(self._floor, bound.steps), until)

    @property
    def _floor(self) -> int:
        """Amount that a design must serve to be of use."""
        return self.best.steps if self.best else self.question.quantity.low

    def _take(self, done: Climbed) -> None:
        self.trials += done.trials
        if done.miss:
            self.last[done.design] = done.miss
        if done.found is None:
            self.missed[done.design] = done.miss or Miss()
            return
        self.found[done.design] = done.found
        if done.ceiling > done.found.steps:
            self.left.append(Bound(done.design, done.ceiling, 0.0))
        if self.best is None or self.rank(done.found) < self.rank(self.best):
            self.best = done.found

    def rank(self, found: Found) -> tuple[object, ...]:
        """Order of designs: more of what is wanted, then the least cost, the fewest hosts, and the smallest change."""
        amount = -found.steps if self.most else found.value
        return (amount, found.net_present, found.hosts, found.racks, found.label)

    def _tell(self, bound: float | None) -> None:
        if self.told:
            best = self.best.value if self.best else None
            gap = gap_of(best, bound, most=self.most)
            self.told(Progress(self.best, bound, gap, self.done, self.of, self.mixes_left))


def gap_of(best: float | None, bound: float | None, *, most: bool) -> float | None:
    """Return how far a bound is from the best, as a share of the best; None without either."""
    if not best or bound is None:
        return None
    return max(0.0, bound / best - 1 if most else 1 - bound / best)


def _order(design: Design) -> tuple[object, ...]:
    hosts = design.hosts
    return (hosts.gpu, hosts.server, -hosts.gpus_per_host, hosts.sharing)
