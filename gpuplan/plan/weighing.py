"""Weighing: inputs of the access rules beyond a group's needs: stun measured in vMotion, licences, and shared hosts."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from gpuplan.catalog import Catalog, CatalogError, Item, Row
from gpuplan.facts import Brief, did_you_mean
from gpuplan.models import access, availability, sharing
from gpuplan.plan.hardware import has_nvswitch
from gpuplan.plan.llm_parts import is_large, is_vision
from gpuplan.plan.owned_licences import software_years
from gpuplan.plan.profiles import stated_profile
from gpuplan.plan.sharing import share_each, smallest_profile, supports_board
from gpuplan.scenario import Group, Scenario, host_kinds
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import amount, counted, joined, money, said


@dataclass(frozen=True, slots=True, repr=False)
class Weighed(Brief):
    """A group with the inputs of the rules, and their result."""

    case: access.Case
    chosen: access.Access
    profiles: Mapping[str, sharing.Profile | None]
    """Backing -> the smallest profile that is large enough."""
    words: Mapping[str, object]
    """Values for the gaps in the words of the rules."""
    by_money: bool
    """True if it was planned both ways."""

    @property
    def takes_fixed_share(self) -> bool:
        """True if a part of a GPU has a guaranteed share of its compute."""
        return self.case.isolation and self.case.partial


class Outcome(NamedTuple):
    """Cost and size of a design in which every group has its access, from its own plan."""

    net_present: float
    """Infinite where the price of its licences is not known."""
    gpu_software: float | None
    """Payment for it over the years; None where the price is not known."""
    licensed_gpus: int
    hosts: int
    """At the start, as are the licensed GPUs."""
    unplaced_vms: int = 0


OutcomeOf = Callable[[Scenario, bool], Outcome | None]
"""Plans a scenario, with a rule by risk checked on its hosts or not; None if it cannot be planned."""


def filled(text: str, words: Mapping[str, object]) -> str:
    """Fill in the words of a sentence of the rules; slow values are computed only where the sentence names them."""
    for word, meaning in words.items():
        if f"{{{word}}}" in text:
            text = text.replace(f"{{{word}}}", str(meaning() if callable(meaning) else meaning))
    return text


SERVES = ("inference", "llm-serving", "rag")
"""Workload kinds that serve models."""
MOST_CHECKED = 4
"""Ways up to which each is checked on its hosts where a rule by risk sizes it; of more the choice is by formula."""
MOST_FLIPPED, MOST_VMS = 4, 16_000
"""Up to this many groups, and VMs in all designs tried, whole GPUs are weighed group by group, not only all together."""


def weigh(
    scenario: Scenario, catalog: Catalog, outcome_of: OutcomeOf, models: Mapping[str, Row] | None = None
) -> dict[str, Weighed]:
    """Return the access of each group, by its id; it is the same at the peak of all its users as in some hours.

    Each group is weighed by itself; this shows which groups share hosts. Where the access depends on cost, the design
    is planned each way. ``models`` are the language models of groups that use one.
    """
    profiles = {g.id: _fitting(scenario, catalog, g) for g in scenario.groups}
    alone = {g.id: _case(scenario, catalog, g, profiles[g.id]) for g in scenario.groups}
    for id, model in (models or {}).items():
        alone[id] = alone[id]._replace(large_model=is_large(model), vision_model=is_vision(model))
    first = {id: _applied(catalog, case).mode for id, case in alone.items()}
    sharing_hosts = {id for id, mode in first.items() if mode in ("vgpu", "mig")}
    if scenario.platform.bitfusion_servers != "passthrough":
        sharing_hosts |= {id for id, mode in first.items() if mode == "bitfusion"}
    cases = {id: case._replace(shared_hosts=bool(sharing_hosts - {id})) for id, case in alone.items()}
    ways = _Ways(scenario, catalog, cases, outcome_of)
    by_money = ways.by_money()
    dearer = ways.own_hosts_cost_more(by_money) if by_money else by_money
    weighed = {}
    chosen = ways.chosen(dearer)
    for id, choice in chosen.items():
        case = cases[id]._replace(own_hosts_cost_more=id in dearer)
        words = _words(scenario, catalog, case) | ways.words(id, chosen, by_money)
        weighed[id] = Weighed(case, choice, profiles[id], words, id in by_money)
    return weighed


Pair = tuple[Outcome, Outcome]
"""The design, and the one in which groups change their access."""


def _hosts(pair: Pair | None, sign: int) -> str:
    if pair is None or sign * (pair[1].hosts - pair[0].hosts) <= 0:
        return ""
    here, there = (counted(outcome.hosts, "host") for outcome in pair)
    return said("weighed.hosts", here=here, there=there)


@dataclass(frozen=True)
class _Ways:
    """The ways to reach whole GPUs, and the design that follows from each."""

    scenario: Scenario
    catalog: Catalog
    cases: Mapping[str, access.Case]
    outcome_of: OutcomeOf

    def chosen(self, dearer: frozenset[str]) -> dict[str, access.Access]:
        """Return the access of each group if dedicated hosts cost more for these groups."""
        return {
            id: _applied(self.catalog, case._replace(own_hosts_cost_more=id in dearer))
            for id, case in self.cases.items()
        }

    def by_money(self) -> frozenset[str]:
        """The groups whose access depends on the extra cost of dedicated hosts."""
        cases = {id: case for id, case in self.cases.items() if case.shared_hosts and not case.partial}
        return frozenset(
            id
            for id, case in cases.items()
            if len(
                {
                    _applied(self.catalog, case._replace(own_hosts_cost_more=more)).mode
                    for more in (True, False)
                }
            )
            > 1
        )

    def own_hosts_cost_more(self, by_money: frozenset[str]) -> frozenset[str]:
        """Return the groups for which vGPUs on shared hosts cost less."""
        vms = sum(group.people * group.vms_each for group in self.scenario.groups)
        each = len(by_money) <= MOST_FLIPPED and vms * 2 ** len(by_money) <= MOST_VMS
        sizes = range(len(by_money) + 1) if each else (0, len(by_money))
        ways = [frozenset(ids) for size in sizes for ids in combinations(sorted(by_money), size)]
        return min(ways, key=lambda dearer: self._cost(dearer, len(ways) <= MOST_CHECKED))

    def _cost(self, dearer: frozenset[str], check: bool) -> tuple[float, float]:
        """Return VMs without a GPU and net present cost: a way that serves fewer is not cheaper."""
        outcome = self._outcome({id: choice.mode for id, choice in self.chosen(dearer).items()}, check)
        return (math.inf, math.inf) if outcome is None else (outcome.unplaced_vms, outcome.net_present)

    def _outcome(self, modes: Mapping[str, str], check: bool = True) -> Outcome | None:
        groups = []
        for group in self.scenario.groups:
            mode = modes.get(group.id) or group.access
            profile = group.profile if mode == group.access else None  # it belongs to one mode
            groups.append(replace(group, access=mode, profile=profile))
        return self.outcome_of(self.scenario.with_groups(groups), check)

    def words(
        self, group: str, chosen: Mapping[str, access.Access], by_money: frozenset[str]
    ) -> dict[str, object]:
        """Compare the design with the one in which all groups of the same decision change between vGPU and passthrough."""
        mode = chosen[group].mode
        other, sign = ("passthrough", 1) if mode == "vgpu" else ("vgpu", -1)

        def flipped() -> set[str]:
            alike = (
                id for id, choice in chosen.items() if choice.mode == mode and (id in by_money) is decided
            )
            return {group} | {id for id in alike if f"{other} possible" in chosen[id].facts}

        def both() -> Pair | None:
            here = self._outcome({id: choice.mode for id, choice in chosen.items()})
            there = self._outcome(dict.fromkeys(flipped(), other))  # the rest is decided anew
            return None if here is None or there is None else (here, there)

        def together() -> str:
            names = [g.name for g in self.scenario.groups if g.id in flipped()]
            return said("weighed.together", groups=joined(names)) if len(names) > 1 else ""

        decided = group in by_money
        return {
            "licences": lambda: self._licences(both(), sign),
            "hosts": lambda: _hosts(both(), sign),
            "balance": lambda: self._balance(both()),
            "together": together,
        }

    def _licences(self, pair: Pair | None, sign: int) -> str:
        if pair is None or pair[0].gpu_software is None or pair[1].gpu_software is None:
            return said("weighed.unknown licences")
        gpus = sign * (pair[0].licensed_gpus - pair[1].licensed_gpus)
        if gpus <= 0:
            return said("weighed.no licences")
        paid = money(sign * (pair[0].gpu_software - pair[1].gpu_software), self.scenario.cost.currency)
        return said("weighed.licences", paid=paid, years=self._years, gpus=counted(gpus, "GPU"))

    def _balance(self, pair: Pair | None) -> str:
        if pair is None or math.inf in (pair[0].net_present, pair[1].net_present):
            return said("weighed.unknown balance")
        more = pair[1].net_present - pair[0].net_present
        apart = money(abs(more), self.scenario.cost.currency)
        key = "weighed.dearer" if more >= 0 else "weighed.cheaper"
        return said(key, amount=apart, years=self._years)

    @property
    def _years(self) -> str:
        return counted(self.scenario.cost.years, "year")


@lru_cache(maxsize=1024)  # without it an edit takes a tenth longer, and the demand by each rule a quarter
def _applied(catalog: Catalog, case: access.Case) -> access.Access:
    return access.access_mode(case, rules=access_rules(catalog))


@lru_cache(maxsize=16)  # without it `explore` takes a tenth longer
def access_rules(catalog: Catalog) -> tuple[access.Rule, ...]:
    """The rules of the catalog, each fact of which is one that a rule may name."""
    rules = tuple(
        access.Rule(row.id, str(row["verdict"]), listed(row["modes"]), listed(row["when"]))
        for row in catalog.rows("access_rules")
    )
    for rule in rules:
        for name in access.unknown_facts(rule):
            near = did_you_mean(name, (*access.FACTS, *access.LATE_FACTS))
            raise CatalogError(f"access_rules/{rule.code} names no known fact: {name!r}{near}")
    return rules


def listed(cell: object) -> tuple[str, ...]:
    """The names in a cell, separated by semicolons."""
    return tuple(part.strip() for part in str(cell or "").split(";") if part.strip())


def _fitting(scenario: Scenario, catalog: Catalog, group: Group) -> dict[str, sharing.Profile | None]:
    gpu, version, share = scenario.hardware.gpu, scenario.platform.vsphere, share_each(group)
    fitting = {
        backing: smallest_profile(catalog, gpu, backing, version, share) for backing in ("timesliced", "mig")
    }
    if group.profile:
        stated = stated_profile(scenario, catalog, group)
        fitting[stated.backing] = stated.profile
    return fitting


def vm_frame_buffer_mb(group: Group, profile: sharing.Profile) -> int:
    """Frame buffer of all vGPUs of one VM."""
    vgpus = group.vgpus_each if share_each(group) < 1 else int(group.gpus_each)
    return vgpus * profile.frame_buffer_mb


def _case(
    scenario: Scenario, catalog: Catalog, group: Group, profiles: Mapping[str, sharing.Profile | None]
) -> access.Case:
    version, platform = catalog.vsphere[scenario.platform.vsphere], scenario.platform
    stun_s = {
        backing: None
        if profile is None
        else vm_stun_s(scenario, catalog, group, vm_frame_buffer_mb(group, profile))
        for backing, profile in profiles.items()
    }
    known_most = scenario.hardware.gpus_per_host  # where no source names a limit, the host is one
    return access.Case(
        gpus_each=group.gpus_each,
        vgpus_each=group.vgpus_each,
        profile_stated=bool(group.profile),
        distributed=group.vms_each > 1,
        remote_allowed=group.remote_allowed,
        low_latency=group.low_latency,
        isolation=group.isolation,
        vmotion=group.vmotion,
        wish=group.access,
        bitfusion_owned=platform.bitfusion,
        bitfusion_supported=version.value("bitfusion_server") == "supported",
        vgpu_profile=profiles["timesliced"] is not None,
        mig_board=bool(catalog.gpus[scenario.hardware.gpu].value("mig_instances")),
        mig_profile=profiles["mig"] is not None,
        board_supported=supports_board(version, catalog.gpus[scenario.hardware.gpu]),
        fixed_share_possible=platform.vgpu_sizes == "equal",
        max_vgpus_per_vm=int(version.value("max_vgpus_per_vm") or known_most),
        several_fractional_vgpus=bool(version.value("multi_vgpu_fractional")),
        max_passthrough_per_vm=int(version.value("max_passthrough_per_vm") or known_most),
        vgpu_stun_s=stun_s["timesliced"],
        mig_stun_s=stun_s["mig"],
        vgpu_moves=bool(version.value("vgpu_vmotion")),
        stun_limit_s=stun_limit_s(scenario, catalog),
        shared_hosts=False,
        licence_to_buy=licence_to_buy(scenario, catalog),
        own_hosts_cost_more=False,
        nvswitch=has_nvswitch(scenario, catalog),
        passthrough_announced=bool(version.value("nvswitch_passthrough")),
        serves_model=group.use_case in SERVES,
    )


def stun_item(catalog: Catalog, version: str, gpu: str) -> Item:
    """Return the measured vMotion stun on a vSphere version, for GPUs of this architecture where available."""
    named = str(catalog.vsphere[version].value("vmotion_stun") or "vmotion-stun-10g")
    architecture = str(catalog.gpus[gpu].value("architecture")).lower()
    return catalog.assumptions.get(f"{named}-{architecture}") or catalog.assumptions[named]


def stun_limit_s(scenario: Scenario, catalog: Catalog) -> float:
    """Return the longest allowed stun of a VM: stated, or the catalog's limit."""
    usual = stun_item(catalog, scenario.platform.vsphere, scenario.hardware.gpu).fact("limit_s").value
    return float(scenario.availability.stun_limit_s or usual)


def vm_stun_s(scenario: Scenario, catalog: Catalog, group: Group, frame_buffer_mb: int) -> float | None:
    """Return the stun of a group's VM: as read in vCenter, else estimated from measurements; None without either."""
    version = catalog.vsphere[scenario.platform.vsphere]
    if group.stun_read_s is not None and version.value("vgpu_vmotion"):
        return group.stun_read_s
    return stun_estimate_s(catalog, version, scenario.hardware.gpu, frame_buffer_mb)


def stun_estimate_s(catalog: Catalog, version: Item, gpu: str, frame_buffer_mb: int) -> float | None:
    """Estimate the stun of a VM by its frame buffer; None where vGPUs are not moved, or the stun is not measured."""
    measured = stun_item(catalog, version.id, gpu)
    if not version.value("vgpu_vmotion") or "copy_rate_gb_s" not in measured.facts:
        return None
    fixed_s, copy_rate_gb_s = (float(measured.fact(name).value) for name in ("fixed_s", "copy_rate_gb_s"))
    used_gb = frame_buffer_mb / MIB_PER_GIB
    return availability.stun_time_s(used_gb, fixed_s=fixed_s, copy_rate_gb_s=copy_rate_gb_s)


def licence_to_buy(scenario: Scenario, catalog: Catalog) -> bool:
    """True if the GPU software of a vGPU is neither owned nor comes with the board for all years, on each host."""
    gpu = scenario.hardware.gpu
    shared = [kind for kind in host_kinds(scenario.hardware.existing) if kind.gpu in (None, gpu)]
    included = int(catalog.gpus[gpu].value("nvaie_years") or 0)
    years = [included, *(software_years(scenario, catalog, kind) for kind in shared)]
    return scenario.cost.gpu_licence != "owned" and scenario.cost.years > min(years)


def _words(scenario: Scenario, catalog: Catalog, case: access.Case) -> dict[str, object]:
    version = catalog.vsphere[scenario.platform.vsphere]
    stun_s = case.vgpu_stun_s if case.vgpu_stun_s is not None else case.mig_stun_s
    return {
        "gpu": catalog.gpus[scenario.hardware.gpu].name,
        "vsphere": version.name,
        "boards": version.value("vgpu_boards") or "",
        "max_vgpus_per_vm": case.max_vgpus_per_vm,
        "max_passthrough_per_vm": case.max_passthrough_per_vm,
        "stun": "" if stun_s is None else amount(round(stun_s), "s"),
        "limit": amount(round(case.stun_limit_s), "s"),
    }
