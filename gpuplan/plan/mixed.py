"""The plan of a design with several kinds of hosts: one ordinary plan for each kind, joined.

Each kind has its own clusters, so access, sharing, placement, failures and growth are those of the kinds; totals, network,
power and cost are worked out once for all hosts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, TypeVar

from gpuplan.catalog import Catalog
from gpuplan.models import availability, demand
from gpuplan.plan.access import GroupPlan, letters_of
from gpuplan.plan.clusters import Cluster, Division
from gpuplan.plan.demand import Demand, Shaped
from gpuplan.plan.growth import Growth
from gpuplan.plan.host_line import HostLine, host_line
from gpuplan.plan.hosts import Pool, pool_name, shared_pool
from gpuplan.plan.inventory import GroupUse, Inventory
from gpuplan.plan.layouts import Layout
from gpuplan.plan.leftover import Leftover
from gpuplan.plan.llm import Llm
from gpuplan.plan.network import NetworkUse, network_use
from gpuplan.plan.over_time.power_on import PowerOn, power_on_lines, starts_of
from gpuplan.plan.over_time.recommended import recommended, set_up_as, worst
from gpuplan.plan.over_time.rehearsal import Rehearsed, rehearsed_of
from gpuplan.plan.over_time.rules import OPEN
from gpuplan.plan.plan import MIXED, Plan, chapter
from gpuplan.plan.power import Hosts
from gpuplan.plan.requests import LAST, Requests
from gpuplan.plan.shared_clusters import Apart, Shared, shared_clusters
from gpuplan.plan.totals import utilisation_line
from gpuplan.plan.trail import Line, Trail
from gpuplan.plan.validation import kinds_problems, too_many
from gpuplan.plan.weighing import Weighed
from gpuplan.plan.working_week import Week
from gpuplan.scenario import Problem, Scenario, clusters_of_kinds, path_of_kind, slug, views
from gpuplan.wording import said

T = TypeVar("T")
LEFT = ("left_gpus", "left_gpus_after_failure")
SHARED = ("network", "cabling", "power", "management", "counts", "costs", "cost_ranges", "growth")
"""Chapters that the kinds have together."""
OF_KINDS = ("llm", "sized", "demand", "requests", "pools", "power_on", "leftover")
"""Chapters whose lines are those of the kinds."""


def _of_kinds(name: str) -> Any:
    """A chapter without lines that joins those of the kinds, by pools."""

    def joined(plan: Plan) -> dict[Any, Any]:
        return _joined(getattr(part, name) for part in plan.parts)

    return chapter(joined)


class KindPlan(Plan):
    """The plan of a kind of hosts in a design whose kinds share clusters."""

    design: "MixedPlan"

    @chapter
    def divisions(self) -> Mapping[str, Division]:
        """The clusters of each pool; of a shared one, the hosts of this kind."""
        shares = (share for one in self.design.shared for share in one.shares if share.pool in self.layouts)
        mine = {one.pool: _undivided(one.laid, pool_name(self.scenario, one.pool)) for one in shares}
        return {**super().divisions, **mine}


class MixedPlan(Plan):
    """A plan whose hosts are of several kinds."""

    @cached_property
    def parts(self) -> tuple[Plan, ...]:
        """The plan of each kind of hosts and its groups, as far as it depends on no other: up to its hosts, and their growth."""
        if not clusters_of_kinds(self.scenario):
            return tuple(_part(view, self.catalog, self.check) for view in views(self.scenario))
        parts = tuple(KindPlan(view, self.catalog, self.check) for view in views(self.scenario))
        for part in parts:
            vars(part)["design"] = self
        return parts

    @cached_property
    def sharing(self) -> Sequence[Shared | Apart]:
        """The clusters that several kinds of hosts share, and kinds that are to share one and do not."""
        return self._shared(self.scenario)

    def _shared(self, scenario: Scenario) -> list[Shared | Apart]:
        kinds = [(part.sized, part.requests) for part in self.parts]
        return list(shared_clusters(scenario, self.catalog, kinds))

    @property
    def shared(self) -> list[Shared]:
        """The clusters that several kinds of hosts share."""
        return [one for one in self.sharing if isinstance(one, Shared)]

    @cached_property
    def _clusters(self) -> list[tuple[Scenario, Sequence[GroupPlan], Sequence[Pool]]]:
        """The clusters with the groups on them and a scenario of these on their hosts, the strongest of several kinds."""
        apart = [(one.sized, one.groups, [p for p in one.pools if not p.laid.shared]) for one in self.parts]
        of_all = [
            (replace(self.sized, hardware=self.home(pool).sized.hardware), self.groups, [pool])
            for pool in self.pools
            if pool.shares
        ]
        return [*apart, *of_all]

    @cached_property
    def by_kind(self) -> tuple[Plan, ...]:
        """The plan of each kind of hosts, with network, management domain, power, cost and lines of all."""
        shared = {name: getattr(self, name) for name in SHARED}
        plans = []
        for part in self.parts:
            name = part.scenario.hardware.of
            own = f"kinds.{slug(name)}."
            mine = {key.removeprefix(own): line for key, line in self.lines.items() if key.startswith(own)}
            plan = _copy(part)
            vars(plan).update(shared)
            vars(plan).update({"host_line": self.host_lines.get(name), "lines": {**self.lines, **mine}})
            plans.append(plan)
        return tuple(plans)

    @chapter
    def llm(self) -> Llm:
        """Language models of the groups of all kinds."""
        self._trail("llm")
        parts = [part.llm for part in self.parts]
        groups = {group.id: group for llm in parts for group in llm.scenario.groups}
        others = "; ".join(filter(None, (llm.scenario.hardware.other_vms for llm in parts)))
        sized = replace(
            self.scenario,
            groups=tuple(groups[group.id] for group in self.scenario.groups),
            hardware=replace(self.scenario.hardware, other_vms=others or None),
        )
        names = ("serving", "tuning", "retrieval", "models")
        return Llm(sized, **{name: _joined(getattr(llm, name) for llm in parts) for name in names})

    @chapter
    def sized(self) -> Scenario:
        """The scenario with each group as hosts are planned for it."""
        groups = {group.id: group for part in self.parts for group in part.sized.groups}
        self._trail("sized")
        asked = self.llm.scenario
        return replace(asked, groups=tuple(groups[group.id] for group in asked.groups))

    @chapter
    def weighed(self) -> Mapping[str, Weighed]:
        """The access of each group."""
        return self._in_order(_joined(part.weighed for part in self.parts))

    @chapter
    def shape(self) -> Shaped:
        """The requests and times of the groups."""
        shapes = [part.shape for part in self.parts]
        return Shaped(*(_joined(getattr(shape, name) for shape in shapes) for name in Shaped._fields))

    @chapter
    def demand(self) -> Demand:
        """VMs and GPUs of each group, and their sum."""
        demands = [part.demand for part in self.parts]
        trail = self._trail("demand")
        groups = self._in_order(_joined(demand.groups for demand in demands))
        if self.scenario.demand.rule != "sum":
            peaks = {id: trail[f"groups.{id}.peak_gpus"] for id in groups}
            trail.add_up("demand.sum_of_peaks_gpus", demand.total_demand_gpus, peaks)
        parts = {id: lines.gpus for id, lines in groups.items()}
        by_groups = trail.add_up("demand.groups_gpus", demand.total_demand_gpus, parts)
        hours = tuple(pool for demand in demands for pool in demand.hours)
        return Demand(groups, hours, by_groups, trail.repeat("demand.gpus", by_groups))

    @chapter
    def requests(self) -> Requests:
        """The groups with their access modes, and the requests of their VMs."""
        parts = [part.requests for part in self.parts]
        self._trail("requests")
        letters = letters_of(self.sized.groups)
        plans = {plan.id: plan for requests in parts for plan in requests.groups}
        homes = {share.pool: one.kind for one in self.shared for share in one.shares}
        groups = tuple(
            replace(plan, letter=letters[id], pool=homes.get(plan.pool, plan.pool))
            for id, plan in self._in_order(plans).items()
        )
        names = ("by_group", "members", "there", "rooms", "promises")
        return Requests(groups, **{name: _joined(getattr(each, name) for each in parts) for name in names})

    layouts = _of_kinds("layouts")

    @chapter
    def divisions(self) -> Mapping[str, Division]:
        """The clusters of each pool."""
        return self._divided(_joined(part.divisions for part in self.parts), self.sharing)

    def _divided(
        self, of_kinds: Mapping[str, Division], sharing: Iterable[Shared | Apart]
    ) -> dict[str, Division]:
        """The clusters of each pool, shared ones in place of their hosts of each kind."""
        shared = [one for one in sharing if isinstance(one, Shared)]
        mine = {share.pool for one in shared for share in one.shares}
        clusters = {one.kind: _undivided(one.laid, one.name) for one in shared}
        return clusters | {kind: each for kind, each in of_kinds.items() if kind not in mine}

    @chapter
    def power_on(self) -> Mapping[str, PowerOn]:
        """Results of starting the VMs of each cluster, with the same settings in all: those that start most in the worst."""
        starts, trail = _joined(part.power_on for part in self.parts), self._trail("power_on")
        for sized, groups, pools in self._clusters[len(self.parts) :]:
            shared = recommended(sized, self.catalog, groups, pools)
            starts |= shared
            for start in filter(lambda start: start.known, shared.values()):
                power_on_lines(trail, start)
        ways = {tuple(map(start.scenario.get, OPEN)): start.scenario for start in starts.values()}
        if len(ways) > 1 and self.scenario.availability.sized_for == "best":
            starts = max((self._starts_of(way, starts) for way in ways.values()), key=worst)
            for start in filter(lambda start: start.known, starts.values()):
                power_on_lines(trail, start)
        return starts

    def _starts_of(self, way: Scenario, known: Mapping[str, PowerOn]) -> dict[str, PowerOn]:
        """Results with the open settings of a way, those with which a kind was started already as they are."""
        starts, theirs = dict[str, PowerOn](), {id for id, start in known.items() if start.scenario is way}
        for sized, groups, pools in self._clusters:
            ids = [pool.id for pool in pools]
            again = not theirs.issuperset(ids)
            starts |= (
                starts_of(set_up_as(sized, way), self.catalog, groups, pools)
                if again
                else {id: known[id] for id in ids}
            )
        return starts

    @chapter
    def rehearsed(self) -> Mapping[str, Rehearsed]:
        """Upgrades, restarts and a week of each cluster, with these settings."""
        return _joined(
            rehearsed_of(set_up_as(sized, self.set_up), self.catalog, groups, pools, lambda: self.weeks)
            for sized, groups, pools in self._clusters
        )

    @chapter
    def _laid_out(self) -> Scenario:
        return self.sized

    @chapter
    def pools(self) -> tuple[Pool, ...]:
        """The clusters of all kinds."""
        pools = tuple(pool for pool in self.own_pools if not pool.laid.shared)
        trail, asked = self._trail("pools"), self.requests
        shared = (shared_pool(trail, asked, one.kind, one.name, one.laid, one.shares) for one in self.shared)
        return (*shared, *pools)

    @chapter
    def inventory(self) -> Inventory | None:
        """Split of the demand between existing hosts and hosts to buy."""
        found, trail = {n: one.inventory for n, one in enumerate(self.parts)}, self._trail("inventory")
        uses = list(filter(None, found.values()))
        if not uses:
            return None
        bought = (pool.id for n, one in enumerate(self.parts) if not found[n] for pool in one.pools)
        new = {id: self._known[f"pools.{id}.hosts"] for id in bought}
        for key, more in (("inventory.gpus_used", {}), ("inventory.hosts_to_buy", new)):
            owned = {str(n): self.parts[n]._known[key] for n, one in found.items() if one}
            trail.add_up(key, availability.sum_over_pools, owned | more)
        apart = chain.from_iterable(
            one.requests.by_group.values() for n, one in enumerate(self.parts) if not found[n]
        )
        levels = {group.id: group.priority for group in self.scenario.groups}
        return Inventory(
            tuple(chain.from_iterable(each.kinds for each in uses)),
            (
                *chain.from_iterable(each.groups for each in uses),
                *(GroupUse(one.group, levels.get(one.group, LAST), one.vms, 0, 0) for one in apart),
            ),
            all(each.proven for each in uses),
            sum(pool.hosts - pool.existing_hosts for pool in self.pools),
        )

    @chapter
    def leftover(self) -> Leftover | None:
        """What jobs that may be stopped get of the GPUs that others of their kind of hosts leave."""
        found = [each for part in self.parts if (each := part.leftover)]
        self._trail("leftover")
        if not found:
            return None
        groups = tuple(one for each in found for one in each.groups)
        left, after = (_joined(getattr(each, name) for each in found) for name in LEFT)
        return Leftover(groups, left, after)

    def divided_for(self, failures: int) -> Mapping[str, Division]:
        """The clusters of each pool with spare hosts for another number of host failures."""
        other = self.scenario.with_value("availability.host_failures", failures)
        return self._divided(_joined(part.divided_for(failures) for part in self.parts), self._shared(other))

    @cached_property
    def uses(self) -> Mapping[str, NetworkUse]:
        """Effect of the network on the groups of each kind of hosts."""
        trail, of_kinds = self._trail("network"), dict[str, NetworkUse]()
        for part in reversed(self.parts):
            use = network_use(trail, part.sized, self.catalog, part.groups, part.pools)
            of_kinds = {part.scenario.hardware.of: use, **of_kinds}
        return of_kinds

    @chapter
    def network(self) -> NetworkUse:
        """Effect of the network on the groups of all kinds, and on the training job, which runs on the first kind."""
        uses = [*self.uses.values()]
        rules = {rule.code: rule for use in uses for rule in use.rules}
        return NetworkUse(
            tuple(remote for use in uses for remote in use.remote),
            (*(job for use in uses for job in use.training[:-1]), uses[0].training[-1]),
            tuple(rules.values()),
            max(use.remote_gbit_s for use in uses),
            uses[0].job_named,
        )

    def growing(self, later: Scenario) -> Growth:
        """Hosts of each pool and GPUs in use in each year."""
        parts = [part.growing(view) for part, view in zip(self.parts, views(later), strict=True)]
        left_out = [each.left_out for each in parts if each.left_out]
        needed = tuple(_joined(year) for year in zip(*(each.needed for each in parts), strict=True))
        busy = tuple(map(sum, zip(*(each.busy_gpus for each in parts), strict=True)))
        of_kinds = {
            part.scenario.hardware.of: each.busy_gpus for part, each in zip(self.parts, parts, strict=True)
        }
        if self.shared:
            return replace(super().growing(later), kinds=of_kinds)
        return Growth(needed, busy, min(left_out, default=None), of_kinds)

    @cached_property
    def _with_hosts(self) -> list[Plan]:
        """The kinds that have hosts."""
        return [part for part in self.parts if part.pools]

    def _lines_of(self, trail: Trail, part: Plan) -> Trail:
        """Return the trail for the lines of a new host of a kind; those of the first are not named after it."""
        name = part.scenario.hardware.of
        return trail.of_hosts(slug(name), name) if part is not self._with_hosts[0] else trail

    def _hosts(self, trail: Trail, load: Line) -> list[Hosts]:
        """The hosts of each kind, as much in use as its groups use them."""
        kinds = []
        for part in self._with_hosts:
            part.totals  # noqa: B018 - its lines are inputs
            used = trail.of_hosts(slug(part.scenario.hardware.of) or "first_kind", part.pools[0].whole_name)
            load = utilisation_line(used, part.sized, part.held_gpus[""], part._known["totals.gpus"])
            kinds.append(Hosts(self._lines_of(trail, part), part.sized, part.pools, load))
        return kinds

    @chapter
    def host_lines(self) -> Mapping[str, HostLine]:
        """A new host of each kind."""
        if self.power is None or self.cabling is None or self.management is None:
            return {}
        trail, beside = self._trail("host_line"), self.management.on_gpu_hosts
        lines = {}
        for part in self._with_hosts:
            here, name = self._lines_of(trail, part), part.scenario.hardware.of
            peak_w = self.power.kinds[name].peak_w
            lines[name] = host_line(here, part.sized, self.catalog, part.pools, beside, self.cabling, peak_w)
        return lines

    @property
    def host_line(self) -> HostLine | None:
        """A new host of the first kind."""
        return next(iter(self.host_lines.values()), None)

    @chapter
    def weeks(self) -> Mapping[str, Mapping[str, Week]]:
        """The working week of each group, by season."""
        parts = [part.weeks for part in self.parts]
        return {season: self._in_order(_joined(weeks[season] for weeks in parts)) for season in parts[0]}

    def problems(self) -> list[Problem]:
        """Inputs that are not allowed: of the kinds together, then of each kind."""
        if wrong := kinds_problems(self.scenario, self.catalog):
            return wrong
        parts = ((part, part.once("problems", part.problems)) for part in self.parts)
        wrong = self._by_input(parts)
        return wrong or list(too_many(self.sized, self.catalog))

    def placement_problems(self) -> list[Problem]:
        """VMs that no host of their kind can take."""
        parts = ((part, part.once("no places", part.placement_problems)) for part in self.parts)
        return self._by_input(parts)

    def _by_input(self, found: Iterable[tuple[Plan, Sequence[Problem]]]) -> list[Problem]:
        """Problems of the kinds by their paths in the whole scenario, each once."""
        problems = {}
        for part, wrong in found:
            for each in wrong:
                path = path_of_kind(part.scenario, each.path)
                if path != each.path:
                    words = {"hosts": part.scenario.hardware.of, "value": each.value}
                    each = replace(each, path=path, value=said("limit.of kind", **words))
                problems[each.path, each.value, each.message] = each
        return list(problems.values())

    def _given_to(self, made: Plan, chapters: Sequence[str]) -> Plan:
        """Another plan with chapters of this one, its first kind too; the others are kept for all designs with them."""
        first, (own, *others) = self.parts[0], made.parts
        own = _copy(own)
        first._given_to(own, [name for name in chapters if name in vars(first)])
        vars(made)["parts"] = (own, *others)
        return super()._given_to(made, chapters)

    def _in_order(self, by_group: Mapping[str, T]) -> dict[str, T]:
        """In the order of the groups of the scenario."""
        return {group.id: by_group[group.id] for group in self.scenario.groups if group.id in by_group}

    def _trail(self, chapter: str) -> Trail:
        """The trail of a chapter, with the lines of the kinds where it is theirs."""
        trail = super()._trail(chapter)
        for part in self.parts:
            self._known.update({key: line for key, line in part._known.items() if key not in self._known})
            if chapter in OF_KINDS and chapter in part._trails:
                trail.lines.update(part._trails[chapter].lines)
        return trail


MIXED["plan"] = MixedPlan


@lru_cache(maxsize=32)  # designs that differ in one kind share the others: half the time of `explore`
def _part(view: Scenario, catalog: Catalog, check: bool) -> Plan:
    """The plan of one kind of hosts."""
    return Plan(view, catalog, check)


def _joined(parts: Iterable[Mapping[Any, T]]) -> dict[Any, T]:
    """Mappings without a common key as one."""
    return {key: value for part in parts for key, value in part.items()}


def _undivided(laid: Layout, name: str) -> Division:
    """A pool with one cluster."""
    return Division(laid, (Cluster(laid),), name)


def _copy(part: Plan) -> Plan:
    """A plan with the chapters of another one that were read, to be read on."""
    plan = type(part)(part.scenario, part.catalog, part.check)
    kept = {name: {**value} for name in ("_known", "_trails") if (value := vars(part).get(name)) is not None}
    vars(plan).update(vars(part) | kept)
    return plan
