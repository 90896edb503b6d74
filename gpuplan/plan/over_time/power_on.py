"""Power-on: the outcome for each cluster as vSphere starts its VMs, one after another and in any order.

Each reading of the rules is tried with some random orders; other settings, and VMs started by size, use the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact
from gpuplan.models import power_on
from gpuplan.models.placement import Request, Room
from gpuplan.models.power_on.cluster import LARGEST, SMALLEST
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import derived
from gpuplan.plan.layouts import for_share, placed
from gpuplan.plan.over_time.rules import (
    FEWEST,
    Reading,
    alike,
    is_open,
    lacks,
    largest_first,
    orders_within,
    policy_facts,
    readings_of,
    tried,
)
from gpuplan.plan.over_time.tried import Tried, became, label, setting_words, vms_words
from gpuplan.plan.requests import group_requests, too_large
from gpuplan.plan.sharing import mixed_sizes_refused
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import Scenario
from gpuplan.wording import NAMES, amount, number, said, told

SENTENCES = NAMES["power-on, sentence"]
OTHERS = 4
"""Other settings are tried with the fourth part of the work."""
PRIORITY = "priority"
"""The order by the priority of the group of a VM; others are by the part of a host that it takes."""


class Setting(NamedTuple):
    """Another way to set vSphere up, by one input."""

    path: str
    value: object
    scenario: Scenario
    asked: tuple[Request, ...]
    """Requests of the VMs under this setting."""


@dataclass(frozen=True)
class PowerOn:
    """Outcome of powering on the VMs of one cluster; other settings are tried on request."""

    pool: Pool
    readings: tuple[Reading, ...]
    rooms: tuple[Room, ...]
    """Hosts on which VMs start: all but those excluded from power-on."""
    orders: int
    """Tried under each reading; 0: the design is too large."""
    scenario: Scenario = field(repr=False)
    catalog: Catalog = field(repr=False)
    groups: tuple[GroupPlan, ...] = field(repr=False)

    @property
    def known(self) -> bool:
        """True if orders were tried."""
        return bool(self.orders)

    @cached_property
    def now(self) -> Tried:
        """Outcome under the current settings."""
        return self.tried("now")

    @cached_property
    def at_demand(self) -> Tried:
        """On the hosts for the demand alone, as if all others were down."""
        return self._tried("demand", rooms=self.demand_rooms)

    @cached_property
    def demand_rooms(self) -> tuple[Room, ...]:
        """Capacity of each host for the demand."""
        pool = self.pool
        order = sorted(
            range(pool.hosts),
            key=lambda at: (not pool.placement[at], not pool.rooms[at].offers_as_much(pool.new_room)),
        )
        return tuple(pool.rooms[at] for at in sorted(order[: pool.hosts_for_demand]))

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """Other ways to set vSphere up that this cluster can have, the simplest first."""
        platform, shared = self.scenario.platform, self._time_sliced()
        options: dict[str, Setting] = {}
        if shared and platform.vgpu_sizes == "equal":
            other = "group" if platform.gpu_policy == "spread" else "spread"
            options[other] = self._setting("gpu_policy", other)
        if self._consolidates():
            other = "drs-spread" if platform.drs_consolidation else "consolidation"
            options[other] = self._setting("drs_consolidation", not platform.drs_consolidation)
        if len({request.profile for request in shared}) > 1 and self._may_mix():
            mixed = self._setting("vgpu_sizes", "mixed")
            options["mixed"] = mixed._replace(asked=self._asked_in(mixed.scenario))
        return options

    def _time_sliced(self) -> list[Request]:
        """Time-sliced VMs whose profiles each take dedicated GPUs."""
        backings = {group.id: group.backing for group in self.groups}
        alone = (r for r in self.pool.requests if r.family and len(r.family.profiles) == 1)
        return [request for request in alone if backings.get(request.group) == "timesliced"]

    def _consolidates(self) -> bool:
        """True if DRS consolidates VMs of this cluster, or could."""
        whole = self.pool.gpu_mode == "vgpu" and any(request.gpus for request in self.pool.requests)
        return whole and not lacks(self.scenario.platform.vsphere, self.catalog, "host-consolidate")

    def _may_mix(self) -> bool:
        """True if time slices of several sizes may share one GPU; a guaranteed share excludes this."""
        equal = self.scenario.platform.vgpu_sizes == "equal"
        fixed = any(group.scheduler == "fixed-share" for group in self.groups)
        return (
            equal
            and not fixed
            and not mixed_sizes_refused(self._setting("vgpu_sizes", "mixed").scenario, self.catalog)
        )

    def _setting(self, name: str, value: Any) -> Setting:
        scenario = replace(self.scenario, platform=replace(self.scenario.platform, **{name: value}))
        return Setting(f"platform.{name}", value, scenario, self.pool.requests)

    def _asked_in(self, scenario: Scenario) -> tuple[Request, ...]:
        """Return the requests of the VMs of the cluster in another mode."""
        again = group_requests(Trail(), scenario, self.catalog, self.groups)
        return tuple(
            request._replace(family=again[request.group].family) if request.family else request
            for request in self.pool.requests
        )

    def tried(self, setting: str) -> Tried:
        """Try the orders, or a named one, under a setting: ``group``, ``largest``, ``group, largest``, ``host``."""
        cache = self._known
        if setting not in cache:
            result = cache[setting] = self._tried(setting)
            if setting != "now" and result.score > self.now.score:  # tried as often as if it were set
                cache[setting] = self._tried(setting, parts=1)
        return cache[setting]

    def keep(self, tried: Tried) -> None:
        """Keep the outcome of a setting that was tried elsewhere."""
        self._known[tried.key] = tried

    @cached_property
    def _known(self) -> dict[str, Tried]:
        return {}

    def setting(self, key: str) -> Setting | None:
        """The vSphere settings in a key such as ``group, largest``; None if they stay unchanged."""
        return self.settings.get(key.partition(", ")[0])

    def set_up(self, key: str) -> tuple[tuple[Request, ...], tuple[Reading, ...]]:
        """Return the requests of the VMs under a setting, and its readings."""
        if (other := self.setting(key)) is None:
            return self.pool.requests, self.readings
        return other.asked, readings_of(other.scenario, self.catalog, self.pool.kind, other.asked)

    def order(self, key: str) -> tuple[int, ...]:
        """The kinds of the VMs in the named order of such a key; empty if it names none."""
        return next((self.named[part] for part in key.split(", ") if part in self.named), ())

    def is_open(self, key: str) -> bool:
        """True if a key names another value of a setting that the design decides: it was weighed already."""
        setting = self.setting(key)
        return setting is not None and is_open(self.scenario, setting.path)

    @property
    def with_largest_first(self) -> Tried:
        """Outcome if the largest VMs are started first."""
        return self.tried(LARGEST)

    def _orders(self, key: str, parts: int = OTHERS) -> int:
        """Return the number of orders to try under another setting: a part of the own setting's limit."""
        requests, readings = self.set_up(key)
        return min(self.orders, orders_within(requests, len(self.rooms), readings, parts))

    def _tried(self, key: str, *, rooms: tuple[Room, ...] | None = None, parts: int = OTHERS) -> Tried:
        requests, readings = self.set_up(key)
        rooms = (*(rooms or self.rooms), *[self.pool.new_room] * ("host" in key.split(", ")))
        named = self.order(key)
        orders: int | tuple[tuple[int, ...], ...] = (named,) if named else self.orders
        if key != "now" and not named:
            orders = max(FEWEST, self._orders(key, parts))
        return Tried(key, tuple(tried(requests, rooms, reading.rules, orders) for reading in readings))

    @cached_property
    def named(self) -> Mapping[str, tuple[int, ...]]:
        """Orders with a name: the kind of each VM."""
        wanted = self.pool.requests
        priority = {group.id: group.priority for group in self.scenario.groups}
        largest = largest_first(wanted)
        orders = {LARGEST: largest, SMALLEST: largest[::-1]}
        if len({priority.get(request.group) for request in wanted}) > 1:
            orders[PRIORITY] = sorted(
                largest, key=lambda kind: priority.get(wanted[kind].group, len(priority))
            )
        return {
            name: tuple(kind for kind in kinds for _ in range(wanted[kind].vms))
            for name, kinds in orders.items()
        }

    @cached_property
    def hosts_by_size(self) -> int:
        """Hosts for the demand if each VM size has dedicated hosts (host groups): then every order starts all VMs.

        Of VMs that no new host can take, each has an existing host for itself.
        """
        sizes: dict[Request, list[Request]] = {}
        for request in self.pool.requests:
            sizes.setdefault(request._replace(group="", vms=0), []).append(request)
        new = self.pool.new_room
        return sum(
            sum(request.vms for request in group)
            if too_large(group, new)
            else len(placed(tuple(group), (), new, 0).needed.hosts)
            for group in sizes.values()
        )

    @property
    def most_hosts(self) -> int:
        """Hosts for the demand that the cluster may have."""
        enough = for_share(self.scenario, self.catalog, self.pool.kind, self.pool.requests)
        return enough.most if enough else self.pool.hosts_for_demand

    @cached_property
    def candidates(self) -> tuple[Tried, ...]:
        """Current and other settings, and VMs started by size under each, simplest first, up to one that starts all.

        None of them is a setting that the design decides.
        """
        results: list[Tried] = []
        others = [name for name in self.settings if self._orders(name) and not self.is_open(name)]
        simple = [name for name in others if name != "mixed"]
        modes = ["mixed", f"mixed, {LARGEST}"] if "mixed" in others else []
        for key in ("now", *simple, LARGEST, *(f"{name}, {LARGEST}" for name in simple), *modes):
            results.append(self.now if key == "now" else self.tried(key))
            if results[-1].all_start:
                break
        return tuple(results)

    @cached_property
    def best(self) -> Tried:
        """The simplest setting with the best chance; of equal ones the one with the fewest VMs that do not start."""
        return max(self.candidates, key=lambda each: each.score)

    @property
    def as_planned(self) -> Tried:
        """Outcome as vSphere is set up: in any order, or with the largest VMs first where fewer start in others."""
        return max(self.now, self.with_largest_first, key=lambda each: each.score)

    @property
    def worst(self) -> tuple[Reading, tuple[int, ...]] | None:
        """The worst tried order, by the kinds of its VMs, with the reading; None if all start in all."""
        stuck = [(result.missing[-1][0], at) for at, result in enumerate(self.now.found) if result.worst]
        return (self.readings[max(stuck)[1]], self.now.found[max(stuck)[1]].worst) if stuck else None

    @property
    def sentence(self) -> str:
        """Say in how many orders a VM does not start, and what would change that."""
        pool = self.pool
        found = pool.method == "heuristic" and pool.hosts_at_best > pool.bound
        best = said("power on.best found" if found else "power on.best proven", hosts=pool.hosts_at_best)
        return f"{best} {self.outcome}"

    @property
    def outcome(self) -> str:
        """Say the same of the orders alone."""
        case = "too large" if not self.known else "alike" if alike(self.pool.requests) else "all"
        if self.known and not self.now.all_start:
            case = "some"
        return told(SENTENCES[case], self.words)

    @property
    def words(self) -> dict[str, Any]:
        """The numbers of a sentence or message about the orders that were tried."""
        hosts = {"hosts": amount(len(self.rooms), "host")}
        if not self.known:
            return hosts
        return hosts | {
            "orders": number(self.orders),
            "failing": self.now.short_words,
            "missing": vms_words(*self.now.stuck),
            "stuck": round(self.now.stuck[1]),
            "other": self._way_out(),
        }

    def _way_out(self) -> str:
        """Say what starts every VM in the orders that were tried, or leaves fewer without a GPU."""
        if self.now.all_start or self.best is self.now:
            return ""
        left = said("power on.all")
        if not self.best.all_start:
            left = said("power on.in orders", vms=vms_words(*self.best.stuck), orders=self.best.short_words)
        return said("power on.way out", setting=setting_words(self.best.key), left=left)


def settings_now(made: PowerOn) -> list[str]:
    """Name the settings of vSphere that matter to a cluster."""
    platform, named = made.scenario.platform, []
    if {"group", "spread"} & made.settings.keys():
        named.append(said("power on.policy", policy=platform.gpu_policy))
    if made.pool.gpu_mode == "vgpu":
        on = platform.drs_consolidation
        named.append(said("power on.consolidation" if on else "power on.no consolidation"))
    return named


def compared(made: PowerOn) -> str:
    """Each setting that was weighed or tried, with the orders in which every VM starts."""
    weighed = (made.tried(key) for key in made.settings if made.is_open(key))
    now, *others = made.candidates
    results = (now, *weighed, *others)
    return "; ".join(f"{label(result.key, within=True)} ({became(result)})" for result in results)


def distinct(starts: Mapping[str, PowerOn]) -> list[PowerOn]:
    """Clusters in which orders were tried; only the first of identical ones."""
    firsts: dict[object, PowerOn] = {}
    for start in starts.values():
        if start.known:
            firsts.setdefault((start.pool.kind, start.pool.requests, start.rooms), start)
    return list(firsts.values())


def starts_of(
    scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan], pools: Sequence[Pool]
) -> Mapping[str, PowerOn]:
    """Power-on in each cluster by its id; none with Bitfusion. Identical clusters are tried once."""
    starts: dict[str, PowerOn] = {}
    several = len({pool.requests for pool in pools if not alike(pool.requests)})
    for pool in pools:
        readings = readings_of(scenario, catalog, pool.kind, pool.requests)
        if not readings:
            continue
        left = sorted(range(pool.hosts), key=lambda at: (not pool.placement[at], at))
        left = left[: pool.hosts - scenario.availability.reserved_hosts]
        rooms = tuple(pool.rooms[at] for at in sorted(left))
        orders = orders_within(pool.requests, len(rooms), readings, several)
        starts[pool.id] = PowerOn(pool, readings, rooms, orders, scenario, catalog, tuple(groups))
    return starts


def power_on_lines(trail: Trail, made: PowerOn) -> None:
    """The chance that every VM starts, the VMs that do not, and the GPUs that are then idle."""
    pool, now = made.pool, made.now
    here, (low, high) = trail.about(f"pools.{pool.id}", name=pool.name), now.chance
    sources = tuple(dict.fromkeys(source for reading in made.readings for source in reading.sources))
    tried_orders = derived("power_on/orders tried under each reading", now.orders)
    rules = Fact("power_on/readings of the rules", len(made.readings), "", None, None, "quoted", sources)
    inputs: dict[str, Fact | Line] = {
        "hosts": trail[f"pools.{pool.id}.hosts"],
        "reserved": made.scenario.fact("availability.reserved_hosts"),
        "orders": tried_orders,
        "readings": rules,
        **policy_facts(made.scenario),
    }
    ends = {"high": said("power on.chance up to", high=high) if high > low else ""}
    function = power_on.power_on_orders
    chance = here.record("power_on_chance", function, low, inputs, words=ends)
    here.record("power_on_missing", function, now.missing[1], chance=chance)
    here.record("power_on_stranded", function, now.stranded_gpus, chance=chance)
