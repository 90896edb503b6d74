"""The plan: a pure function of a scenario and a catalog, and the place where models are chained.

Read `Plan` from top to bottom: demand, access mode, sharing, placement and hosts, availability, network, power, cost,
decisions. Each chapter is computed when it is first read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, wraps
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from gpuplan.catalog import Catalog, load_catalog
from gpuplan.extensions import added
from gpuplan.facts import Fact
from gpuplan.locales import spoken
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.availability import Posture, postures_of
from gpuplan.plan.bill_of_materials import EXISTING_SOFTWARE, Counts, KindCounts
from gpuplan.plan.clusters import Division, divisions, pools
from gpuplan.plan.cost import Costs, costs
from gpuplan.plan.cost_ranges import CostRanges, cost_ranges
from gpuplan.plan.decisions import Decision, decide
from gpuplan.plan.demand import Demand, PoolDemand, Shaped, demand_of, shaped
from gpuplan.plan.fabric import Cabling, cabling
from gpuplan.plan.growth import Growth, growth_of
from gpuplan.plan.host_line import HostLine, host_line, processor_cores
from gpuplan.plan.hosts import Pool, WholePool, whole_pools
from gpuplan.plan.inventory import Inventory, inventory_of
from gpuplan.plan.layouts import Layout, layouts
from gpuplan.plan.leftover import Leftover, leftover_of, planned_for
from gpuplan.plan.limits import Within, within
from gpuplan.plan.llm import Llm, llm_of, uses_model
from gpuplan.plan.llm.own_models import with_models
from gpuplan.plan.llm.token_costs import TokenCost, token_costs
from gpuplan.plan.management import ManagementDomain, management_domain
from gpuplan.plan.network import NetworkUse, network_use
from gpuplan.plan.over_time.power_on import PowerOn, power_on_lines
from gpuplan.plan.over_time.recommended import for_orders, recommended, set_up_as
from gpuplan.plan.over_time.rehearsal import Rehearsed, rehearsed_of
from gpuplan.plan.power import Hosts, PowerUse, power_use
from gpuplan.plan.prices import catalog_factor
from gpuplan.plan.profiles import with_profiles
from gpuplan.plan.requests import Requests, requests_of, room_of, too_large
from gpuplan.plan.shared_clusters import Apart, Shared
from gpuplan.plan.simulated import promise_of
from gpuplan.plan.totals import Totals, held_gpus_lines, totals, utilisation_line, waiting_lines
from gpuplan.plan.trail import Line, Lines, Trail
from gpuplan.plan.validation import request_problems, scenario_problems
from gpuplan.plan.verdict import Placed, Restart, Verdict, placed_of, restarts_of
from gpuplan.plan.weighing import Outcome, Weighed, weigh
from gpuplan.plan.working_week import Week, weeks
from gpuplan.scenario import (
    RISKS,
    Hardware,
    Problem,
    Scenario,
    ScenarioError,
    is_mixed,
    load_scenario,
    pick,
    problem,
)
from gpuplan.showing import WAYS, Carded
from gpuplan.wording import PART, said

if TYPE_CHECKING:
    from gpuplan.analysis.variants import Standing
    from gpuplan.report.plot import Plot

CHAPTERS = (
    *("llm", "sized", "demand", "requests", "pools", "power_on", "inventory", "waiting", "leftover"),
    *("totals", "postures"),
    *("network", "cabling", "held_gpus", "power", "management", "host_line", "costs", "token_costs"),
    "added",
)
"""Chapters that have lines, in the order in which a plan is read."""
OFFERED = (
    *("scenario", "catalog", "verdict", "standing", "totals", "lines", "line", "plot", "planned"),
    *("groups", "group", "pools", "pool", "llm", "weighed", "demand", "requests"),
    *("hours", "weeks", "waiting"),
    *("placed", "restarts", "power_on", "rehearsed", "postures", "leftover", "inventory", "within", "parts"),
    *("network", "cabling", "power", "management", "host_line", "costs", "cost_ranges", "token_costs"),
    *("growth", "decisions", "set_up", "with_scenario"),
)
"""Names that Tab offers for a plan: its chapters and figures, without what makes one plan of another."""
BEFORE_HOSTS = ("weighed", "demand", "requests", "groups", "weeks")
BEFORE_NETWORK = (
    *BEFORE_HOSTS,
    *("layouts", "divisions", "pools", "waiting", "totals", "postures", "held_gpus"),
)
"""Chapters independent of the network, in the order of reading; so is growth, but it is read with the cost."""
SIZES = ("llm", "sized")
"""Chapters independent of network and prices but for the scenario that they carry."""
BEFORE_TERMS = (*BEFORE_NETWORK, "network", "cabling", "power", "management", "host_line")
"""Chapters independent of prices, of the term of licences, and of the hosts bought later."""


T = TypeVar("T")
P = ParamSpec("P")


class Held(Protocol):
    """Anything that has a plan, such as a design or a widget in a notebook."""

    @property
    def plan(self) -> Plan:
        """Its plan."""


def chapter(compute: Callable[[Any], T]) -> cached_property[T]:
    """Make a method a chapter: computed on first use, with words in the locale of its scenario."""
    return cached_property(spoken(compute))


@dataclass(frozen=True, repr=False)
class Plan(Carded):
    """The answer to a scenario: frozen, with the trail of every number. `make_plan` builds it.

    ``lines`` maps a key such as ``totals.hosts`` to its `Line`; ``pools`` are clusters of
    hosts; ``groups`` hold the access decisions.
    """

    scenario: Scenario
    catalog: Catalog = field(repr=False)
    check: bool = field(default=True, repr=False)
    """True if a rule by risk is checked by simulation on the hosts; False takes the answer by formula."""

    def __dir__(self) -> Sequence[str]:
        return OFFERED

    def __repr__(self) -> str:
        totals = self.totals
        wrong = said("standing.not valid", wrong=words) if (words := self.standing.words) else ""
        return f"Plan({self.scenario.name!r}: {totals.hosts} hosts, {totals.gpus} GPUs, {totals.gpus_after_failure} after a failure{wrong})"

    @property
    def standing(self) -> Standing:
        """Whether it meets the request: ``valid``, ``unplaced_vms``, ``stops``, and ``low`` and ``high`` of its cost."""
        standing: Standing = WAYS["standing"](self)
        return standing

    @property
    def plot(self) -> Plot:
        """Its charts for a notebook, such as ``plan.plot.cost()``."""
        plot: Plot = WAYS["plot"](self)
        return plot

    @chapter
    def llm(self) -> Llm:
        """Language models: the replicas, jobs or services that each group needs to serve, tune or search with one."""
        trail = self._trail("llm")
        return llm_of(trail, with_profiles(trail, self.scenario, self.catalog, uses_model), self.catalog)

    @cached_property
    def _analysed(self) -> dict[str, Any]:
        return {}

    def once(self, name: str, work: Callable[[], T]) -> T:
        """Return the result of an analysis of this plan, computed on the first request and shared by all callers."""
        if name not in self._analysed:
            self._analysed[name] = work()
        result: T = self._analysed[name]
        return result

    @chapter
    def sized(self) -> Scenario:
        """The scenario with each group as hosts are planned for it: a language model as its replicas, jobs or services,
        and no users in a group whose jobs may be stopped."""
        return planned_for(self._trail("sized"), self.llm.scenario)

    @chapter
    def weighed(self) -> Mapping[str, Weighed]:
        """The access of each group, with the alternatives that were weighed."""
        return weigh(
            self.sized,
            self.catalog,
            lambda asked, check: _outcome(asked, self.catalog, check and self.check),
            {id: self.catalog.row("llm_models", model) for id, model in self.llm.models.items()},
        )

    @chapter
    def demand(self) -> Demand:
        """VMs and GPUs of each group."""
        return demand_of(self._trail("demand"), self.sized, self.catalog, lambda: self.shape)

    @chapter
    def shape(self) -> Shaped:
        """The request of one VM of each group, and the times at which the groups are active."""
        return shaped(self.sized, self.catalog, self.weighed)

    def demand_by(self, rule: str) -> Demand:
        """The demand by another sizing rule, all other inputs being the same. Raises a ScenarioError where that rule has no answer."""
        if rule == self.scenario.demand.rule:
            return self.demand
        other = plan_of(self.scenario.with_value("demand.rule", rule), self.catalog, self.check)
        return self._taken_over(
            self._given_to(other, SIZES), () if self._by_money else ("weighed", "shape")
        ).demand

    @chapter
    def requests(self) -> Requests:
        """Access mode and sharing: how each group reaches its GPUs, and the requests of its VMs."""
        trail, wanted = self._trail("requests"), self.demand.groups
        requests = requests_of(trail, self.sized, self.catalog, wanted, self.weighed)
        if not self.check or self.scenario.demand.rule not in RISKS:
            return requests
        each = {**self.shape.requests, **requests.by_group}
        pools = {pool.pool: pool for pool in self.hours if pool.pool in requests.members}
        return replace(
            requests, promises={kind: promise_of(self.sized, pool, each) for kind, pool in pools.items()}
        )

    @chapter
    def groups(self) -> tuple[GroupPlan, ...]:
        """The groups with their access modes."""
        return self.requests.groups

    @chapter
    def layouts(self) -> Mapping[str, Layout]:
        """Placement: the VMs on each host of each pool, as if the pool were one cluster."""
        return layouts(self._laid_out, self.catalog, self.requests)

    @property
    def checked(self) -> bool:
        """False if a rule by risk decides, and its answer by formula was not tried on the hosts of each pool."""
        if self.scenario.demand.rule not in RISKS:
            return True
        return self.check and all(self.divisions[kind].kept for kind in self.requests.promises)

    @chapter
    def divisions(self) -> Mapping[str, Division]:
        """The clusters of each pool: one, or several where one cluster may not have as many hosts."""
        return divisions(self._laid_out, self.catalog, self.requests, self.layouts)

    @chapter
    def _laid_out(self) -> Scenario:
        """``sized`` as its hosts are laid out: for orders of power-on with the recommended settings."""
        availability = self.sized.availability
        if availability.sized_for == "best":
            return self.sized
        best = replace(self.sized, availability=replace(availability, sized_for="best"))
        laid = divisions(best, self.catalog, self.requests, layouts(best, self.catalog, self.requests))
        clusters = pools(Trail(dict(self._known)), best, self.catalog, self.requests, laid)
        return for_orders(self.sized, self.catalog, self.groups, clusters)

    @chapter
    def pools(self) -> tuple[Pool, ...]:
        """Each cluster with its hosts and the effect of host failures."""
        trail = self._trail("pools")
        return pools(trail, self._laid_out, self.catalog, self.requests, self.divisions)

    @chapter
    def power_on(self) -> Mapping[str, PowerOn]:
        """Results of starting the VMs of each cluster one after another, as vSphere does, by cluster id."""
        clusters = [pool for pool in self.pools if not pool.laid.shared]
        starts = recommended(self._laid_out, self.catalog, self.groups, clusters)
        trail = self._trail("power_on")
        for start in filter(lambda start: start.known, starts.values()):
            power_on_lines(trail, start)
        return starts

    @chapter
    def set_up(self) -> Scenario:
        """The scenario with the recommended value of each setting of vSphere that was not stated."""
        starts = self.power_on.values()
        return set_up_as(self.scenario, next((start.scenario for start in starts), self._laid_out))

    @chapter
    def rehearsed(self) -> Mapping[str, Rehearsed]:
        """Upgrades host by host, restarts and a week of coming and going in each cluster, as vSphere places VMs."""
        return rehearsed_of(self.set_up, self.catalog, self.groups, self.pools, lambda: self.weeks)

    @chapter
    def inventory(self) -> Inventory | None:
        """Split of the demand between existing hosts and hosts to buy; None without existing hosts."""
        trail = self._trail("inventory")
        return inventory_of(trail, self.sized, self.requests, self.pools)

    @chapter
    def waiting(self) -> Mapping[str, Line]:
        """The probability that requests beyond the plan wait in the busiest hours."""
        trail, groups = self._trail("waiting"), [group for part in self.parts for group in part.groups]
        return waiting_lines(trail, self.sized, self.catalog, self.own_pools, groups, self.weeks)

    @chapter
    def leftover(self) -> Leftover | None:
        """What jobs that may be stopped get of the GPUs that others leave; None without such jobs."""
        trail, asked = self._trail("leftover"), self.llm.scenario
        return leftover_of(trail, asked, self.catalog, self.groups, self.pools, self.weeks)

    @chapter
    def totals(self) -> Totals:
        """The answer in a few numbers."""
        return totals(self._trail("totals"), self.sized, self.demand.planned, self.pools, self.groups)

    @property
    def asked_lines(self) -> Mapping[str, Line]:
        """The lines, without a training job that is only an example."""
        if self.network.job_named:
            return self.lines
        return Lines((key, line) for key, line in self.lines.items() if not key.startswith("network.job."))

    @chapter
    def placed(self) -> Placed:
        """Proof that all planned VMs are placed, now and after failures."""
        return placed_of(self.groups, self.pools)

    @chapter
    def restarts(self) -> Mapping[str, Restart] | None:
        """Restarts in each cluster as vSphere places VMs, seconds of work for a large one; None: not yet checked."""
        return restarts_of(self.rehearsed)

    def restart(self, pool: Pool) -> Restart:
        """The restarts in a cluster, if vSphere places its VMs."""
        return (self.restarts or {}).get(pool.id, Restart())

    @property
    def verdict(self) -> Verdict:
        """Whether all VMs fit, start and restart, in the words of all screens and documents."""
        held = all(division.kept is None or division.kept.held for division in self.divisions.values())
        target = ("yes" if held else "no") if self.checked else "unchecked"
        return Verdict(self.sized, self.placed, self.pools, self.power_on, self.restarts, target)

    def verdict_on(self, pool: Pool) -> Verdict:
        """The same of one cluster; VMs without a GPU are those of the plan."""
        placed = self.placed if self.placed.missing else placed_of([], [pool])
        return replace(self.verdict, placed=placed, pools=[pool])

    def unchecked(self) -> Plan:
        """This plan while its restarts are not yet checked."""
        plan = plan_of(self.scenario, self.catalog, self.check)
        vars(plan).update(vars(self) | {"restarts": None})
        return plan

    @chapter
    def postures(self) -> tuple[Posture, ...]:
        """N+0, N+1, N+2 and the hours a year in which each is at risk."""
        self.pools  # noqa: B018 - its lines are inputs of those of this chapter
        trail = self._trail("postures")
        return postures_of(trail, self.sized, self.catalog, self.divided_for, self.divisions)

    def divided_for(self, failures: int) -> Mapping[str, Division]:
        """The clusters of each pool with spare hosts for another number of host failures."""
        availability = replace(self.sized.availability, host_failures=failures)
        other = replace(self.sized, availability=availability)
        return divisions(other, self.catalog, self.requests, layouts(other, self.catalog, self.requests))

    @chapter
    def network(self) -> NetworkUse:
        """Effect of the network on remote GPUs and on training across several hosts."""
        return network_use(self._trail("network"), self.sized, self.catalog, self.groups, self.pools)

    @chapter
    def cabling(self) -> Cabling | None:
        """Ports, switches and cables; None without GPU hosts."""
        use, trail = self.network, self._trail("cabling")
        return cabling(trail, self.sized, self.catalog, self.pools, use, self.uses)

    @property
    def uses(self) -> Mapping[str, NetworkUse]:
        """Effect of the network on the groups of each kind of hosts; none where there is one kind."""
        return {}

    @chapter
    def held_gpus(self) -> Mapping[str, Line]:
        """GPUs allocated to each group on average over the year, and in total under the empty key."""
        return held_gpus_lines(self._trail("held_gpus"), self.sized, self.requests, self.weeks)

    @chapter
    def power(self) -> PowerUse | None:
        """Power, heat and space; None without GPU hosts."""
        if self.cabling is None:
            return None
        self.totals  # noqa: B018 - its lines are inputs of those of this chapter
        trail = self._trail("power")
        load = utilisation_line(trail, self.sized, self.held_gpus[""], trail["totals.gpus"])
        return power_use(trail, self.catalog, self._hosts(trail, load), self.cabling)

    def _hosts(self, trail: Trail, load: Line) -> list[Hosts]:
        """The hosts of each kind, with the share of the time in which their GPUs are used."""
        return [Hosts(trail, self.sized, self.pools, load)]

    @chapter
    def management(self) -> ManagementDomain | None:
        """The management domain, its appliances and hosts; None without GPU hosts."""
        trail = self._trail("management")
        return management_domain(trail, self.sized, self.catalog, self.pools, self.groups)

    @chapter
    def host_line(self) -> HostLine | None:
        """A new GPU host to order; None where none is bought."""
        if self.power is None or self.cabling is None or self.management is None:
            return None
        trail, beside = self._trail("host_line"), self.management.on_gpu_hosts
        return host_line(
            trail, self.sized, self.catalog, self.pools, beside, self.cabling, self.power.host_peak_w
        )

    @chapter
    def growth(self) -> Growth:
        """Hosts of each pool and GPUs installed in each year of the analysis period."""
        return self.growing(self.scenario)

    def growing(self, later: Scenario) -> Growth:
        """The hosts of this design in each year if demand turns out as in a scenario with other users or growth."""
        modes = {group.id: group.mode for group in self.groups}
        return growth_of(
            self.scenario,
            later,
            self.own_pools,
            self.held_gpus,
            self.weeks,
            modes,
            lambda asked: _hosts(asked, self.catalog, self.check),
        )

    def buying(self, hosts: Growth, price_change: float | None = None) -> Plan:
        """This design with other hosts bought in each year, its cost worked out anew, also for another change of prices."""
        plan = self._given_to(plan_of(self.scenario, self.catalog, self.check), BEFORE_TERMS)
        vars(plan).update(growth=hosts, counts=copy(self.counts))
        if price_change is not None and plan.counts:
            plan.counts.scenario = plan.counts.scenario.with_value("cost.later_price_change", price_change)
        return plan

    @property
    def host_lines(self) -> Mapping[str, HostLine]:
        """A new host of each kind that is bought, by the name of the kind; the first kind has none."""
        return {} if self.host_line is None else {self.scenario.hardware.of: self.host_line}

    @property
    def cores(self) -> Fact:
        """Cores of each processor of a GPU host, for which licences are counted."""
        return processor_cores(self.scenario, self.catalog, self.host_line)

    @chapter
    def counts(self) -> Counts | None:
        """Quantities that the hosts need; None without GPU hosts."""
        if self.cabling is None:
            return None
        remote = any(group.mode == "bitfusion" for group in self.groups)
        kinds = []
        for part in filter(lambda part: part.pools, self.parts):
            line = self.host_lines.get(part.scenario.hardware.of)
            cores = processor_cores(part.scenario, self.catalog, line)
            about = (cores, part.requests.there, line.memory_gib if line else 0)
            kinds.append(KindCounts(part.sized, self.catalog, part.pools, *about))
        return Counts(self.sized, self.catalog, kinds, self.cabling, remote)

    @chapter
    def costs(self) -> Costs | None:
        """Costs over the analysis period; None without GPU hosts."""
        if self.power is None or self.counts is None or self.management is None:
            return None
        return costs(self._trail("costs"), self.counts, self.power, self.growth, self.management)

    @chapter
    def token_costs(self) -> Mapping[str, TokenCost]:
        """Cost of the tokens of each group that a language model serves."""
        trail = self._trail("token_costs")
        users = weeks(self.scenario, self.catalog)
        return token_costs(trail, self.scenario, self.llm.serving, self.costs, self.weeks, users)

    @chapter
    def cost_ranges(self) -> CostRanges | None:
        """Low and high of each total of the cost, from the ranges of prices and factors; None without GPU hosts."""
        if self.costs is None or self.power is None or self.counts is None:
            return None
        return cost_ranges(self.counts, self.power, self.growth, self.costs)

    @chapter
    def within(self) -> tuple[Within, ...]:
        """How far the design is within each limit that is set."""
        return within(self, self._known)

    def within_at(self, values: Mapping[str, float]) -> tuple[Within, ...]:
        """The same with other values of some figures, such as costs at other prices, by their keys."""
        changed = {key: replace(self._known[key], value=value) for key, value in values.items()}
        return within(self, self._known | changed)

    @chapter
    def added(self) -> Trail:
        """Figures that packages of other authors add; ``docs/how/extend.md`` has an example."""
        trail = self._trail("added")
        for figure in added("figures").values():
            figure(trail, self)
        return trail

    @chapter
    def decisions(self) -> tuple[Decision, ...]:
        """Design decisions, numbered, each with its justification and implication."""
        return decide(self.counts, self.groups, self.postures, self.lines, self.costs, self.power_on)

    @chapter
    def lines(self) -> Mapping[str, Line]:
        """Every number of the plan by its key."""
        self.read()
        trails = (self._trails[chapter] for chapter in CHAPTERS if chapter in self._trails)
        return Lines((key, line) for trail in trails for key, line in trail.lines.items())

    def read(self) -> None:
        """Compute all chapters now, to find early any question that a model cannot answer."""
        for chapter in CHAPTERS:
            getattr(self, chapter)

    @chapter
    def hours(self) -> tuple[PoolDemand, ...]:
        """The mixes of each pool, where groups are not simply summed at their peaks."""
        return self.demand.hours

    @chapter
    def weeks(self) -> Mapping[str, Mapping[str, Week]]:
        """The working week of each group, by season."""
        return weeks(self.sized, self.catalog, self.groups)

    @cached_property
    def _known(self) -> dict[str, Line]:
        return {}

    @cached_property
    def _trails(self) -> dict[str, Trail]:
        return {}

    def _trail(self, chapter: str) -> Trail:
        self._trails[chapter] = Trail(self._known)
        return self._trails[chapter]

    def group(self, group_id: str) -> GroupPlan:
        """The group with this id."""
        return pick({group.id: group for group in self.groups}, group_id, "group")

    def pool(self, pool_id: str) -> Pool:
        """The cluster with this id."""
        return pick({pool.id: pool for pool in self.pools}, pool_id, "pool")

    def whole_pool(self, kind: str) -> WholePool:
        """All clusters of a pool."""
        return pick(whole_pools(self.pools), kind, "pool")

    def line(self, key: str) -> Line:
        """Return the number with this key, and the inputs behind it."""
        return pick(self.lines, key, "figure")

    def planned(self, path: str) -> Any:
        """Return the plan's number for an input: as stated, or the catalog price or factor in place of an empty one."""
        now, (head, _, name) = self.scenario.get(path), path.partition(".")
        if now is None and head == "prices":
            prices = self.costs.prices if self.costs else ()
            now = next((price.given.value for price in prices if price.key == name), None)
        if now is None and path == "cost.cores_per_socket":
            now = self.cores.value
        if now is None and head == "cost" and name in {row.id for row in self.catalog.rows("factors")}:
            now = catalog_factor(self.catalog, name).value
        return now

    def hosts_by_pool(self) -> dict[str, int]:
        """Hosts of each pool, of each kind apart, failover capacity included, without anything that follows from them."""
        return {kind: each.hosts for part in self.parts for kind, each in part.divisions.items()}

    def with_scenario(self, scenario: Scenario) -> Plan:
        """Return the plan of another scenario with the same catalog, checked as this one is."""
        return make_plan(scenario, self.catalog, check=self.check)

    def readdressed(self, scenario: Scenario) -> Plan | None:
        """The plan of a scenario that differs in names and addresses alone, with all chapters reused; None for any other."""
        if replace(scenario, site=self.scenario.site) != self.scenario:
            return None
        plan, new = plan_of(scenario, self.catalog, self.check), ("scenario", "set_up", "_analysed")
        vars(plan).update({name: value for name, value in vars(self).items() if name not in new})
        return plan

    def relinked(self, scenario: Scenario) -> Plan:
        """The plan of a scenario that differs in its network or prices alone, with the chapters before them reused."""
        if self._by_money:
            return self.with_scenario(scenario)
        read = ("power_on",) if "power_on" in vars(self) else ()
        same = (
            replace(self.scenario.cost, licence_term_years=scenario.cost.licence_term_years) == scenario.cost
        )
        before = BEFORE_TERMS if same and scenario.network == self.scenario.network else BEFORE_NETWORK
        plan = self._given_to(plan_of(scenario, self.catalog, self.check), SIZES)
        plan = self._taken_over(plan, (*before, *read))
        vars(plan).update(
            {name: value for name, value in vars(self).items() if name in ("growth", "restarts")}
        )
        return plan

    def tolerating(self, host_failures: int) -> Plan:
        """Return the plan that tolerates this many host failures; the requests of the groups are reused.

        The reasons of their access are reused too, and may name hosts and costs of this plan.
        """
        scenario = self.scenario.with_value("availability.host_failures", host_failures)
        plan = plan_of(scenario, self.catalog, self.check)
        if self._by_money or plan.sized.groups != self.sized.groups:
            return self.with_scenario(scenario)
        return self._taken_over(plan, BEFORE_HOSTS)

    @property
    def _by_money(self) -> bool:
        """True if the access of any group depends on the cost of hosts and network."""
        return any(weighed.by_money for weighed in self.weighed.values())

    def _taken_over(self, made: Plan, chapters: Sequence[str]) -> Plan:
        """A plan with some chapters of this one. Raises a ScenarioError if its scenario cannot be planned."""
        if problems := made.problems():
            raise ScenarioError(problems)
        return self._given_to(made, chapters)

    def _given_to(self, made: Plan, chapters: Sequence[str]) -> Plan:
        vars(made).update({chapter: getattr(self, chapter) for chapter in chapters})
        if "sized" in chapters:  # with its own network and prices
            llm = self.llm
            vars(made)["sized"] = _sized_as(self.sized, made.scenario)
            vars(made)["llm"] = replace(llm, scenario=_sized_as(llm.scenario, made.scenario))
        for chapter in chapters:
            if chapter in self._trails:
                made._trails[chapter] = self._trails[chapter]
                made._known.update(self._trails[chapter].lines)
        return made

    def but(self, **chapters: Any) -> Plan:
        """This plan with some chapters exchanged and all others as they are."""
        plan = plan_of(self.scenario, self.catalog, self.check)
        vars(plan).update(
            vars(self) | {"lines": self.lines, "decisions": self.decisions, "_analysed": {}} | chapters
        )
        return plan

    def problems(self) -> list[Problem]:
        """Inputs that this catalog and this hardware do not allow."""
        return scenario_problems(self.scenario, self.catalog, lambda: self.sized)

    def placement_problems(self) -> list[Problem]:
        """VMs that no host of their pool can take."""
        scenario, asked = self.scenario, self.requests
        problems = request_problems(scenario, asked.by_group, asked.members, asked.rooms)
        new = room_of(scenario, scenario.hardware.gpus_per_host)
        if not problems and too_large(asked.by_group.values(), new):
            try:
                self.divisions  # noqa: B018 - of VMs that no new host can take not all may fit in their clusters
            except ValueError:
                split = scenario.availability.split
                problems = [problem("availability.split", split, "limit.split of existing hosts")]
        return problems

    @property
    def parts(self) -> tuple[Plan, ...]:
        """A plan for each kind of hosts, as far as it depends on no other: up to its hosts; itself where there is one."""
        return (self,)

    @property
    def by_kind(self) -> tuple[Plan, ...]:
        """The same, with network, management domain, power and cost of all kinds."""
        return (self,)

    @property
    def own_pools(self) -> list[Pool]:
        """The hosts of each pool, of each kind apart where several share a cluster."""
        return [pool for part in self.parts for pool in part.pools]

    @cached_property
    def sharing(self) -> Sequence[Shared | Apart]:
        """The clusters that several kinds of hosts share, and kinds that are to share one and do not."""
        return ()

    def home(self, pool: Pool) -> Plan:
        """The plan of the kind of hosts that a cluster has, the strongest of several."""
        kind = pool.shares[-1].pool if pool.shares else pool.kind
        return next((part for part in self.parts if kind in part.divisions), self.parts[0])

    def hardware_of(self, pool: Pool) -> tuple[Hardware, ...]:
        """The hardware of a new host of the kind of each host of a cluster."""
        by_host = tuple(share.scenario.hardware for share in pool.shares for _ in share.laid.hosts)
        return by_host or (self.home(pool).scenario.hardware,) * pool.hosts

    @property
    def new_boards(self) -> tuple[str, ...]:
        """The boards of new hosts, each once, by their ids."""
        return tuple(dict.fromkeys(part.scenario.hardware.gpu for part in self.parts))

    @property
    def vsan(self) -> bool:
        """True if the shared storage of any hosts is vSAN on them."""
        return any(part.scenario.hardware.storage == "vsan" for part in self.parts)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a plan is not sent to another process: send its scenario, and make it again there")


MIXED: dict[str, type[Plan]] = {}
"""``plan``: the plan of a scenario with several kinds of hosts, set by ``mixed``."""


def plan_of(scenario: Scenario, catalog: Catalog, check: bool) -> Plan:
    """The plan of a scenario, of its kind, without checks of its inputs."""
    return (MIXED["plan"] if is_mixed(scenario) else Plan)(scenario, catalog, check)


Asked = Plan | Scenario | str | Path | Held
"""A reference to a design: a plan, a scenario, an example or a file by its name, or an object that has a plan."""


def make_plan(scenario: Asked, catalog: Catalog | None = None, *, check: bool = True) -> Plan:
    """The plan for a scenario with a catalog: the same two always give the same plan.

    Invalid scenarios are rejected at once; each chapter is computed when it is first read.

    Parameters:
        scenario (Scenario, Plan, Design or str): The customer's question, an object with one, or the name of an example or a file. [-]
        catalog: Hardware, software, rules and their sources; by default the shipped one. [-]
        check: Whether a sizing rule by risk is simulated on the hosts, and hosts added until it holds. Without, its answer is
            the one by formula, as if all GPUs were in one host; it takes a few milliseconds in place of up to some seconds. [-]

    Returns:
        make_plan: Hosts, placement, decisions and the trail of every number. [-]

    Raises:
        ScenarioError: Naming each field that the catalog or the hardware does not allow.
    """
    scenario, catalog = scenario_of(scenario), load_catalog() if catalog is None else catalog
    _check_kinds(scenario, catalog)
    catalog = with_models(scenario, catalog)
    plan = plan_of(scenario, catalog, check)
    if problems := plan.problems() or plan.placement_problems():
        raise ScenarioError(problems)
    return plan


def planned(asked: Asked, catalog: Catalog | None = None) -> Plan:
    """Return the plan of any reference to a design; an existing plan is reused, unless another catalog is given."""
    plan = getattr(asked, "plan", asked)
    if isinstance(plan, Plan) and catalog in (None, plan.catalog, plan.catalog.beneath):
        return plan
    return make_plan(scenario_of(asked), catalog)


def scenario_of(asked: Asked) -> Scenario:
    """Return the scenario of any reference to a design: read from an example or a file, or taken from its plan."""
    if isinstance(asked, str | Path):
        return load_scenario(asked)
    plan = getattr(asked, "plan", asked)
    return plan.scenario if isinstance(plan, Plan) else asked  # type: ignore[return-value]  # make_plan refuses all else


def of_design(told: Callable[Concatenate[Plan, P], T]) -> Callable[Concatenate[Asked, P], T]:
    """Let a function of a plan accept a scenario, a name or a design in a notebook as well."""

    @wraps(told)
    def asked_of(plan: Asked, /, *args: P.args, **rest: P.kwargs) -> T:
        return told(planned(plan), *args, **rest)

    return asked_of


def _sized_as(sized: Scenario, asked: Scenario) -> Scenario:
    """A scenario with the groups and hosts of one that is sized, and all else as asked."""
    return replace(asked, groups=sized.groups, hardware=sized.hardware)


def _check_kinds(scenario: object, catalog: object) -> None:
    """Reject anything that is no scenario or no catalog, such as the name of one, and say how to read it."""
    for name, value, kind in (("scenario", scenario, Scenario), ("catalog", catalog, Catalog)):
        if not isinstance(value, kind):
            allowed = f"a {kind.__name__}, as load_{name} gives it"
            raise ScenarioError([Problem(name, f"a {type(value).__name__}", allowed)])


@lru_cache(maxsize=512)
def _hosts(scenario: Scenario, catalog: Catalog, check: bool) -> Mapping[str, int]:
    """Hosts of each pool in a year of growth; kept, since a change of network or money leaves all years alone."""
    return make_plan(scenario, catalog, check=check).hosts_by_pool()


@lru_cache(maxsize=256)
def _outcome(scenario: Scenario, catalog: Catalog, check: bool) -> Outcome | None:
    """Return hosts and costs of a design with these access modes; cached, as the choice and its reasons use them."""
    try:
        plan = make_plan(scenario, catalog, check=check)
    except ScenarioError:
        return None
    if (costs := plan.costs) is None:
        return None
    software = [m for m in costs.materials if m.key in ("gpu-software", EXISTING_SOFTWARE)]
    gpus = sum(int(material.quantity) for material in software)
    size = (plan.totals.hosts, plan.totals.unplaced_vms)
    if any(material.unknown for material in software):
        return Outcome(inf, None, gpus, *size)
    paid = sum(part.total for part in costs.parts if part.name == PART["GPU software"])
    return Outcome(costs.net_present, paid, gpus, *size)
