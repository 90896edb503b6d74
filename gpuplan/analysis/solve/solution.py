"""Solution: the best design within the limits, and its certificate: the bound, the gap, what binds, and what gives way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gpuplan.analysis.solve.quantities import Quantity
from gpuplan.analysis.solve.search import gap_of
from gpuplan.analysis.solve.trial import Found, Miss
from gpuplan.analysis.variants import changed_inputs
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.scenario import Scenario
from gpuplan.showing import Study


@dataclass(frozen=True, slots=True)
class Binding:
    """A limit that keeps the best design from one step more, and what that step takes."""

    key: str
    name: str
    limit: float | str
    value: float | str | None
    """Of the best design."""
    needed: float | None
    """Least that any design takes for one step more within all other limits; None where none serves it."""
    unit: str

    @property
    def more(self) -> float | None:
        """By how much the limit is to be raised for one step more."""
        return None if self.needed is None or isinstance(self.limit, str) else self.needed - self.limit


@dataclass(frozen=True, slots=True)
class Clash:
    """Why no design is within all limits."""

    steps: int
    limits: tuple[str, ...]
    """The fewest limits that no design keeps together, by their keys; none where no design serves it at all."""
    relaxed: tuple[Binding, ...]
    """Of each limit the least value with which a design keeps all others."""
    reasons: tuple[tuple[str, int], ...]
    """Why designs cannot serve it at all, with their number."""


@dataclass(frozen=True)
class Solution(Study):
    """The best design within the limits, with what proves it."""

    scenario: Scenario
    """As asked, with the limits."""
    catalog: Catalog = field(repr=False)
    quantity: Quantity
    best: Found | None
    bound: float | None
    """No design is better: at most this much, or at least this figure; None where nothing bounds it. While mixes are left
    it holds for designs with one kind of hosts."""
    proven: bool
    """True if every design that might be better was planned, or its bound excludes it."""
    done: int
    """Designs that are decided, of ``of``."""
    of: int
    trials: int
    """Plans that were made."""
    mixes_left: int = 0
    """Ways to part the workloads over two kinds of hosts that were not decided."""
    binding: tuple[Binding, ...] = ()
    runner_up: Found | None = None
    """The best design on another board or another number of GPUs per host."""
    found: tuple[Found, ...] = ()
    """The best of each board, the best first."""
    missed: Mapping[str, Miss] = field(default_factory=dict)
    """Board that is in no design within the limits -> what keeps it from that."""
    clash: Clash | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    """Boards that are not tried, each with the reason."""
    scope: tuple[str, ...] = ()
    """What the certificate covers, in words."""

    def __repr__(self) -> str:
        best = self.best
        if best is None:
            return f"Solution({self.quantity.key}: none within the limits)"
        state = "proven" if self.proven else f"bound {self.bound}"
        return f"Solution({self.quantity.key}: {best.value:g}, {state}; {best.label}, {best.hosts} hosts)"

    @property
    def gap(self) -> float | None:
        """How far the bound is from the best, as a share of the best; None without either."""
        return gap_of(self.best.value if self.best else None, self.bound, most=self.quantity.most)

    @cached_property
    def design(self) -> Scenario | None:
        """The scenario of the best design, as it is planned with the amount that it serves."""
        return None if self.best is None else self.scenario_of(self.best)

    def scenario_of(self, found: Found) -> Scenario:
        """Return the scenario of a design that was found."""
        return found.design.apply(self.quantity.at(self.scenario, found.steps), self.catalog)

    @cached_property
    def plan(self) -> Plan | None:
        """The plan of the best design."""
        return None if self.design is None else make_plan(self.design, self.catalog)

    @property
    def gave(self) -> tuple[str, ...]:
        """What the best design changes of the one that was asked for, as paths of inputs."""
        return tuple(changed_inputs([self.scenario, self.design])) if self.design else ()
