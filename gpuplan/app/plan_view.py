"""The plan on the screen and its view: hosts that are down, open details. ``revision`` counts what may be seen."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from traitlets import HasTraits, Int

from gpuplan.app.idle_work import Later
from gpuplan.models.availability.failover import Outcome
from gpuplan.models.availability.survey import Loss
from gpuplan.models.placement import Request, Room
from gpuplan.plan import Plan, fail_hosts, worst_failures

T = TypeVar("T")
PLAYED = 300_000
"""VMs x hosts of an order that can be played while a page waits: under a second."""


def playable(requests: Sequence[Request], rooms: Sequence[Room]) -> bool:
    """True if an order of these VMs can be played while a page waits."""
    return 0 < sum(request.vms for request in requests) * len(rooms) <= PLAYED


class Watched(NamedTuple):
    """State of a power-on replay."""

    pool: str
    order: str = ""
    """Order of its VMs; empty: the first in the list."""
    reading: str = ""
    seed: int = 0
    at: int = 0


class PlanView(HasTraits):
    """A plan on the screen, the results derived from it on first request, and the current view of it."""

    revision = Int(0)

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self._later = Later(self._changed)
        self.once = self._later.once
        self.click = "fail"
        """Effect of a click on a host: ``fail`` or ``maintain``."""
        self.tabs: dict[str, str] = {}
        self._begin()

    def _begin(self) -> None:
        """Begin with another design: all that is set here ends with the one before."""
        self.failed: dict[str, tuple[int, ...]] = {}
        self.maintenance: dict[str, tuple[int, ...]] = {}
        """Hosts in maintenance by pool; failed hosts are not among them."""
        self.watched: Watched | None = None
        """Power-on replay shown in place of the picture of the plan."""
        self.opened: frozenset[str] = frozenset()
        """Details that are open, among those worked out only then."""
        self.looked: dict[str, str] = {}
        """Choices of the view, such as the clock of a chart; they change no plan."""
        self.workload = ""

    def show(self, plan: Plan) -> None:
        self.plan = plan
        self._later.forget()

    def toggle_host(self, pool: str, host: int) -> None:
        """Fail a host of a pool, or put it in maintenance, by the current click setting; or bring it back."""
        if host not in range(1, self._hosts().get(pool, 0) + 1):
            return  # a click on a picture that has changed since
        fails = self.click == "fail"
        down = self.failed if fails else self.maintenance
        added = () if host in down.get(pool, ()) else (host,)
        failed, maintenance = self._without(pool, host)
        self.put_down(pool, failed + added * fails, maintenance + added * (not fails))

    def _hosts(self) -> dict[str, int]:
        return {pool.id: pool.hosts for pool in self.plan.pools}

    def _without(self, pool: str, host: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the failed hosts of a pool and those in maintenance, without this one."""
        failed, maintenance = self.failed.get(pool, ()), self.maintenance.get(pool, ())
        return tuple(h for h in failed if h != host), tuple(h for h in maintenance if h != host)

    def fail_worst(self, pool: str, lost: int) -> None:
        """Fail the host of a pool with the worst loss, or the worst pair, beside those in maintenance."""
        maintenance = self.maintenance.get(pool, ())
        if lost in (1, 2) and self._hosts().get(pool, 0) - len(maintenance) >= lost:
            self.put_down(pool, self.worst(pool, lost, maintenance)[0].hosts, maintenance)

    def bring_back(self, pool: str, host: int) -> None:
        self.put_down(pool, *self._without(pool, host))

    def maintain(self, pool: str, host: int) -> None:
        """Put one host of a pool in maintenance, alone; or bring it back."""
        if host in range(1, self._hosts().get(pool, 0) + 1):
            self.put_down(pool, (), () if host in self.maintenance.get(pool, ()) else (host,))

    def restore_hosts(self) -> None:
        self.watched = None
        self.failed = self.maintenance = {}
        self._changed()

    def watch(self, pool: str, **known: Any) -> None:
        if self.watchable(pool):
            self.watched = Watched(pool, **known)
            self._changed()

    def watchable(self, pool: str) -> bool:
        """True if vSphere places the VMs of a pool, and few enough of them to be played."""
        trial = self.plan.power_on.get(pool)
        return trial is not None and playable(trial.pool.requests, trial.rooms)

    def watch_on(self, **change: Any) -> None:
        if self.watched:
            self.watched = self.watched._replace(**change)
            self._changed()

    def stop_watching(self) -> None:
        self.watched = None
        self._changed()

    def outcome(self, pool: str) -> Outcome | None:
        """Return the effect of the hosts that are down on a pool; None if all of them run."""
        failed, maintenance = self.failed.get(pool, ()), self.maintenance.get(pool, ())
        if not failed and not maintenance:
            return None
        key = f"outcome of {pool}: {sorted(failed)}, {sorted(maintenance)}"
        return self.once(key, lambda: fail_hosts(self.plan, pool, failed, maintenance))

    def worst(self, pool: str, lost: int, maintenance: Sequence[int] = ()) -> tuple[Loss, ...]:
        """Return the worst losses of ``lost`` hosts of a pool beside those in maintenance, the worst first."""
        down = sorted(maintenance)
        key = f"worst {lost} of {pool} beside {down}"
        return self.once(key, lambda: worst_failures(self.plan, pool, lost, down))

    def later(self, key: str, work: Callable[[Plan], T]) -> T | None:
        """Do the same for work that takes so long that the page must not wait: None until it is done."""
        return self._later.found(key, work, self.plan)

    @property
    def checked(self) -> Plan:
        """The plan on the screen; its restarts follow, as they may take seconds."""
        found = self.later("restarts", attrgetter("restarts"))
        if found is None:
            return self.once("not yet checked", self.plan.unchecked)
        vars(self.plan).setdefault("restarts", found)
        return self.plan

    def set_click(self, what: str) -> None:
        if what in ("fail", "maintain"):
            self.click = what
            self._changed()

    def fold(self, key: str, opened: bool) -> None:
        self.opened = self.opened | {key} if opened else self.opened - {key}
        self._changed()

    def look(self, what: str, value: str) -> None:
        self.looked = self.looked | {what: value}
        self._changed()

    def open_workload(self, group: str) -> None:
        """Open a group for editing in place of another one, or close it if it is open."""
        self.workload = "" if self.workload == group else group
        self._changed()

    def open_tab(self, step: str, tab: str) -> None:
        if self.tabs.get(step) != tab:
            self.tabs = self.tabs | {step: tab}
            self._changed()

    def chosen(self, what: str, options: Iterable[str]) -> str:
        """Return the chosen view if it is one of these, else the first of them; empty if there are none."""
        listed = list(options)
        return next((option for option in (self.looked.get(what), *listed) if option in listed), "")

    def put_down(self, pool: str, failed: tuple[int, ...], maintenance: tuple[int, ...]) -> None:
        """Fail some hosts of a pool and put others in maintenance; all others run."""
        self.watched = None
        self.failed = self.failed | {pool: failed}
        self.maintenance = self.maintenance | {pool: maintenance}
        self._changed()

    def forget_lost_hosts(self) -> None:
        """Keep down only hosts that the plan on the screen has."""
        hosts = self._hosts()
        self.failed, self.maintenance = (
            {pool: tuple(n for n in down if n <= hosts[pool]) for pool, down in lost.items() if pool in hosts}
            for lost in (self.failed, self.maintenance)
        )
        if self.watched and not self.watchable(self.watched.pool):
            self.watched = None

    def _changed(self) -> None:
        self.revision += 1
