"""The verdict on a design: its VMs fit (proof), start and restart (as vSphere places them). All screens and documents say this one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.over_time.power_on import PowerOn
from gpuplan.plan.over_time.rehearsal import Rehearsed
from gpuplan.plan.over_time.rules import largest_first
from gpuplan.plan.requests import spare_hosts
from gpuplan.scenario import Scenario
from gpuplan.wording import NAMES, capital, said, told

HA_PRIORITIES = 5
"""Restart priorities of vSphere HA."""
GRAVEST = ("no", "static", "untried", "unchecked", "yes")
"""States of power-on or restart, the gravest first."""
SHORT, NOTES = NAMES["verdict, short"], NAMES["verdict, note"]
FITS, SURVIVES, WAYS = NAMES["verdict, fits"], NAMES["verdict, survives"], NAMES["verdict, way"]
TARGETS = NAMES["verdict, target"]


@dataclass(frozen=True, slots=True)
class Placed:
    """Proof that all planned VMs are placed, now and after failures."""

    vms: int
    """Planned VMs; each GPU of a stated total that no group takes counts as one."""
    missing: int
    """VMs without a GPU while all hosts are up."""
    lost: int
    """Further VMs without a GPU after the worst failure of one host."""
    known: bool
    """True if VMs without a GPU after a host failure are proven to have no place; else none was found."""
    clusters: int


def placed_of(groups: Sequence[GroupPlan], pools: Sequence[Pool]) -> Placed:
    """Check that all VMs of these groups are placed, now and after failures of the hosts of these pools."""
    missing = sum(unplaced.vms for group in groups for unplaced in group.unplaced)
    worst = [max((loss.unplaced for loss in pool.failures), default=0) for pool in pools]
    return Placed(
        vms=missing + sum(request.vms for pool in pools for request in pool.requests),
        missing=missing,
        lost=max(worst, default=0),
        clusters=len(pools),
        known=all(loss.impossible for pool in pools for loss in pool.failures if loss.unplaced),
    )


class Restart(NamedTuple):
    """Restarts in one cluster after the failure of each host, as vSphere HA places VMs."""

    state: str = ""
    """``yes`` if every VM restarts; ``no`` if not for certain, ``static`` VMs stay down, ``untried`` in a large cluster."""
    unsure: int = 0
    """Host failures after which not every VM is certain to restart."""
    hosts: int = 0
    static: int = 0
    """Most VMs that stay down with their host by their way of access."""
    drawn: int = 0
    """Random orders that were tried; 0: all were followed."""
    way: str = ""
    """What would help: ``priority`` by size, room made by ``hand``, or another ``host``."""

    @property
    def sentence(self) -> str:
        """Say whether every VM restarts, else what would help."""
        orders = said("verdict.orders tried", orders=self.drawn) if self.drawn else ""
        words = {"orders": orders, "way": WAYS.get(self.way, "")}
        return told(SURVIVES[self.state], self._asdict() | words)


def restarts_of(rehearsals: Mapping[str, Rehearsed]) -> dict[str, Restart]:
    """Cluster -> its restarts; identical clusters are rehearsed once."""
    known: dict[object, Restart] = {}
    by_pool = {}
    for id, made in rehearsals.items():
        same = (made.asked, made.rooms, made.rules, made.ways, made.priorities, made.reserved)
        if same not in known:
            known[same] = _restart(made)
        by_pool[id] = known[same]
    return by_pool


def _restart(made: Rehearsed) -> Restart:
    if made.too_large:
        return Restart("untried")
    unsure = sum(failed.chance[0] < 1 for failed in made.failures)
    static, drawn = (max(getattr(failed, name) for failed in made.failures) for name in ("static", "drawn"))
    state = "no" if unsure else "static" if static else "yes"
    return Restart(state, unsure, len(made.failures), static, drawn, _way(made) if unsure else "")


def _way(made: Rehearsed) -> str:
    """What makes every restart certain: priorities by size where HA has as many, else room made by hand, or a host."""
    order = largest_first(made.asked)
    if len(order) <= HA_PRIORITIES:
        ranked = replace(made, priorities=tuple(order.index(kind) for kind in range(len(order))))
        if all(ranked.failed(host).chance[0] == 1 for host in range(1, len(made.rooms) + 1)):
            return "priority"
    return "host" if any(failed.best for failed in made.failures) else "hand"


def tolerance(scenario: Scenario, clusters: int = 1) -> str:
    """Say what the design promises to tolerate: ``N+1 in each cluster, also during maintenance``."""
    promise = scenario.availability
    each = said("decided.in each cluster") if clusters > 1 else ""
    also = "" if promise.maintenance_failure_accepted else said("decided.also in maintenance")
    return said("verdict.tolerance", failures=promise.host_failures, each=each, also=also)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What holds of a design, or of one of its clusters, in this order: its VMs fit, start and restart."""

    scenario: Scenario = field(repr=False)
    placed: Placed
    pools: Sequence[Pool] = field(repr=False)
    power_on: Mapping[str, PowerOn] = field(repr=False)
    restarts: Mapping[str, Restart] | None
    """None while not yet checked."""
    target: str = "yes"
    """``yes`` if a rule by risk holds on the hosts or there is none, else ``no`` or ``unchecked``."""

    @property
    def tolerance(self) -> str:
        """The host failures that the design promises to tolerate."""
        return tolerance(self.scenario, len(self.pools))

    @property
    def fits(self) -> str:
        """``none`` planned, some ``missing``, some ``lost`` after what is to be tolerated or that ``unknown``, ``yes``."""
        if not self.placed.vms or self.placed.missing:
            return "missing" if self.placed.missing else "none"
        down = spare_hosts(self.scenario)
        levels = [pool.losses[down].fits for pool in self.pools] if down else []
        if all(levels):
            return "yes"
        return "lost" if False in levels else "unknown"

    @property
    def starts(self) -> str:
        """``yes`` if every VM starts in each tried order, ``no``, ``untried``; empty where vSphere does not decide."""
        starts = self._starts
        states = {"untried" if not each.known else "yes" if each.now.all_start else "no" for each in starts}
        return min(states, key=GRAVEST.index, default="")

    @property
    def _starts(self) -> list[PowerOn]:
        return [self.power_on[pool.id] for pool in self.pools if pool.id in self.power_on]

    @property
    def survives(self) -> str:
        """``yes`` if every VM restarts after any one host failure, else as in `Restart`; empty where that is not claimed."""
        return self._restart[1].state if self.scenario.availability.host_failures else ""

    @property
    def _restart(self) -> tuple[Pool | None, Restart]:
        if self.restarts is None:
            return None, Restart("unchecked" if self._starts else "")
        found = [(pool, self.restarts[pool.id]) for pool in self.pools if pool.id in self.restarts]
        worst = min(found, key=lambda each: (GRAVEST.index(each[1].state), -each[1].unsure), default=None)
        return worst or (None, Restart())

    @property
    def state(self) -> str:
        """``red`` if it does not fit, ``amber`` if it does not start or restart, ``green`` if all that is claimed holds.

        Empty if nothing is planned, or if a claim was not tried.
        """
        states = {self.fits, self.starts, self.survives, self.target}
        if states & {"missing", "lost"}:
            return "red"
        if states & {"unknown", "no", "static"}:
            return "amber"
        return "" if states & {"none", "untried", "unchecked"} else "green"

    @property
    def tone(self) -> str:
        """Colour of the state."""
        return {"red": "bad", "amber": "warn", "green": "good"}.get(self.state, "")

    @property
    def short(self) -> str:
        """What holds, in one to three words."""
        case = "starts" if (self.fits, self.starts) == ("yes", "yes") else self.fits
        return told(SHORT[case], {"missing": self.placed.missing})

    @property
    def note(self) -> str:
        """What is tolerated, and what does not hold or was not tried, in a few words."""
        after = "after" if self.placed.lost and self.placed.known else ""
        states = [self.fits, after]
        if self.fits not in ("none", "missing"):
            apart = [f"starts {self.starts}", f"survives {self.survives}"]
            states += apart if self.starts != self.survives else [f"both {self.starts}"]
            states.append(f"target {self.target}")
        values = {
            "tolerance": self.tolerance,
            "vms": self.placed.vms,
            "lost": self.placed.missing + self.placed.lost,
            "static": self._restart[1].static,
        }
        return "; ".join(told(NOTES[state], values) for state in states if state in NOTES)

    @property
    def sentences(self) -> list[str]:
        """Whether its VMs fit, start and restart, with what to do where they do not."""
        parts = [self.fit_sentence, self.loss_sentence]
        if self.fits not in ("none", "missing"):
            parts += [self.start_sentence, self.restart_sentence, TARGETS.get(self.target, "")]
        return [*filter(None, parts)]

    @property
    def sentence(self) -> str:
        """All of them."""
        return " ".join(self.sentences)

    @property
    def fit_sentence(self) -> str:
        """Say whether all VMs fit, and the tolerance."""
        placed = self.placed
        planned = said("verdict.the VM" if placed.vms == 1 else "verdict.all VMs", vms=placed.vms)
        values = {"missing": placed.missing, "vms": placed.vms, "all": planned, "tolerance": self.tolerance}
        return capital(told(FITS[self.fits], values))

    @property
    def loss_sentence(self) -> str:
        """Say how many VMs have no GPU after the worst host failure; empty if all have."""
        placed = self.placed
        if not placed.lost:
            return ""
        if not placed.known:
            return said("verdict.lost unknown", vms=placed.lost)
        return said("verdict.lost", vms=placed.missing + placed.lost)

    @property
    def proof(self) -> str:
        """What the placement proves: whether all VMs fit, now and after the worst failure."""
        return " ".join(filter(None, (self.fit_sentence, self.loss_sentence)))

    @property
    def start_sentence(self) -> str:
        """Say whether every VM starts as vSphere places them, in the cluster where fewest do; else what would help."""
        if not (starts := self._starts):
            return ""
        worst = min(starts, key=lambda start: start.now.chance if start.known else (2, 2))
        return self._of(worst.pool, worst.outcome)

    @property
    def restart_sentence(self) -> str:
        """Say whether every VM restarts, in the cluster where that is least certain; else what would help."""
        if not self.survives:
            return ""
        pool, restart = self._restart
        more = said("verdict.more hosts not tried") * (spare_hosts(self.scenario) > 1 and restart.hosts > 0)
        return self._of(pool, restart.sentence) + more

    def _of(self, pool: Pool | None, text: str) -> str:
        return f"{pool.name}: {text}" if pool and len(self.pools) > 1 else text
