"""Weighing: what the access rules look at beside what a group needs: what vMotion really keeps, licences, and hosts shared with others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from gpuplan.catalog import Catalog, CatalogError, Item
from gpuplan.facts import did_you_mean
from gpuplan.models import access, availability, sharing
from gpuplan.plan.hardware import boards
from gpuplan.plan.prices import TERM_PRICES, PriceList, factor, server_price, sockets
from gpuplan.plan.sharing import share_each, smallest_profile
from gpuplan.scenario import Group, Scenario
from gpuplan.units import MIB_PER_GIB, exact
from gpuplan.wording import amount, counted, money


@dataclass(frozen=True, slots=True)
class Weighed:
    """A group with what the rules looked at, and what they say."""

    case: access.Case
    chosen: access.Access
    profiles: Mapping[str, sharing.Profile | None]
    """Backing -> the smallest profile that is large enough."""
    words: Mapping[str, object]
    """What fills in the words of the rules."""

    @property
    def takes_fixed_share(self) -> bool:
        """Whether a part of a GPU has a guaranteed share of its compute."""
        return self.case.isolation and self.case.partial


def filled(text: str, words: Mapping[str, object]) -> str:
    """A sentence of the rules with its words filled in."""
    for word, meaning in words.items():
        text = text.replace(f"{{{word}}}", str(meaning))
    return text


def weigh(scenario: Scenario, catalog: Catalog) -> dict[str, Weighed]:
    """The access of each group, by its id; the same for all its users at their peak as for those of some hours.

    It is found in two rounds: whether other groups share hosts by vGPU or MIG is known when each was looked at alone.
    """
    wanted_gpus = {g.id: _peak_gpus(g) for g in scenario.groups}
    profiles = {g.id: _fitting(scenario, catalog, g) for g in scenario.groups}
    alone = {g.id: _case(scenario, catalog, g, profiles[g.id]) for g in scenario.groups}
    first = {id: _applied(catalog, case) for id, case in alone.items()}
    sharing_hosts = {id for id, found in first.items() if found.mode in ("vgpu", "mig")}
    if scenario.platform.bitfusion_servers == "vgpu":
        sharing_hosts |= {id for id, found in first.items() if found.mode == "bitfusion"}
    apart = {id for id, found in first.items() if found.mode == "passthrough"}
    prices = PriceList(scenario, catalog)
    each, spare = licence_price(scenario, catalog, prices), spare_host_price(scenario, catalog, prices)
    found = {}
    for group in scenario.groups:
        shared, gpus = bool(sharing_hosts - {group.id}), sum(wanted_gpus[id] for id in apart | {group.id})
        dearer = each is not None and spare is not None and spare > each * gpus
        case = alone[group.id]._replace(shared_hosts=shared, own_hosts_cost_more=dearer)
        words = _words(scenario, catalog, case, each, spare, wanted_gpus[group.id])
        found[group.id] = Weighed(case, _applied(catalog, case), profiles[group.id], words)
    return found


def _peak_gpus(group: Group) -> int:
    """Whole GPUs of the users who are active at the peak."""
    active = math.ceil(exact(group.people) * exact(group.active_share))
    return math.ceil(active * group.vms_each * exact(group.gpus_each))


def _applied(catalog: Catalog, case: access.Case) -> access.Access:
    return access.access_mode(case, rules=access_rules(catalog))


@lru_cache(maxsize=16)  # without it `explore` takes a tenth longer
def access_rules(catalog: Catalog) -> tuple[access.Rule, ...]:
    """The rules of the catalog, each fact of which is one that a rule may name."""
    found = tuple(
        access.Rule(
            row.id,
            str(row["verdict"]),
            listed(row["modes"]),
            listed(row["when"]),
        )
        for row in catalog.rows("access_rules")
    )
    for rule in found:
        for name in access.unknown_facts(rule):
            near = did_you_mean(name, (*access.FACTS, *access.LATE_FACTS))
            raise CatalogError(f"access_rules/{rule.code} names no known fact: {name!r}{near}")
    return found


def listed(cell: object) -> tuple[str, ...]:
    """The names in a cell, separated by semicolons."""
    return tuple(part.strip() for part in str(cell or "").split(";") if part.strip())


def _fitting(scenario: Scenario, catalog: Catalog, group: Group) -> dict[str, sharing.Profile | None]:
    gpu, version, share = scenario.hardware.gpu, scenario.platform.vsphere, share_each(group)
    return {
        backing: smallest_profile(catalog, gpu, backing, version, share) for backing in ("timesliced", "mig")
    }


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
        else stun_estimate_s(catalog, version, vm_frame_buffer_mb(group, profile))
        for backing, profile in profiles.items()
    }
    known_most = scenario.hardware.gpus_per_host  # where no source names a limit, the host is one
    return access.Case(
        gpus_each=group.gpus_each,
        vgpus_each=group.vgpus_each,
        distributed=group.vms_each > 1,
        remote_allowed=group.remote_allowed,
        low_latency=group.low_latency,
        isolation=group.isolation,
        vmotion=group.vmotion,
        wish=group.access,
        bitfusion_owned=platform.bitfusion,
        bitfusion_supported=version.value("bitfusion_server") == "supported",
        vgpu_profile=profiles["timesliced"] is not None,
        mig_profile=profiles["mig"] is not None,
        fixed_share_possible=platform.vgpu_sizes == "equal",
        max_vgpus_per_vm=int(version.value("max_vgpus_per_vm") or known_most),
        several_fractional_vgpus=bool(version.value("multi_vgpu_fractional")),
        max_passthrough_per_vm=int(version.value("max_passthrough_per_vm") or known_most),
        vgpu_stun_s=stun_s["timesliced"],
        mig_stun_s=stun_s["mig"],
        stun_limit_s=stun_limit_s(scenario, catalog),
        shared_hosts=False,
        licence_to_buy=licence_to_buy(scenario, catalog),
        own_hosts_cost_more=False,
    )


def stun_item(catalog: Catalog, version: str) -> Item:
    """What was measured about the stun by vMotion, for this vSphere version where it was."""
    return catalog.assumptions.get(f"vmotion-stun-10g-{version}") or catalog.assumptions["vmotion-stun-10g"]


def stun_limit_s(scenario: Scenario, catalog: Catalog) -> float:
    """How long a VM may stand still while it is moved: stated, or the catalog's limit."""
    usual = stun_item(catalog, scenario.platform.vsphere).fact("limit_s").value
    return float(scenario.availability.stun_limit_s or usual)


def stun_estimate_s(catalog: Catalog, version: Item, frame_buffer_mb: int) -> float | None:
    """How long moving a VM with so much frame buffer stuns it; None where vMotion of vGPUs is not known to be there."""
    if not version.value("vgpu_vmotion"):
        return None
    measured = stun_item(catalog, version.id)
    fixed_s, copy_rate_gb_s = (float(measured.fact(name).value) for name in ("fixed_s", "copy_rate_gb_s"))
    used_gb = frame_buffer_mb / MIB_PER_GIB
    return availability.stun_time_s(used_gb, fixed_s=fixed_s, copy_rate_gb_s=copy_rate_gb_s)


def licence_to_buy(scenario: Scenario, catalog: Catalog) -> bool:
    """Whether the GPU software of a vGPU is neither owned nor comes with the board for all years."""
    return scenario.cost.gpu_licence != "owned" and _years_to_pay(scenario, catalog) > 0


def _years_to_pay(scenario: Scenario, catalog: Catalog) -> int:
    included = int(catalog.gpus[scenario.hardware.gpu].value("nvaie_years") or 0)
    return max(0, scenario.cost.years - included)


def licence_price(scenario: Scenario, catalog: Catalog, prices: PriceList) -> float | None:
    """What the GPU software of one GPU costs over the years, before interest; None where nobody knows."""
    if not licence_to_buy(scenario, catalog):
        return 0.0
    given, once = scenario.cost, scenario.cost.gpu_licence == "perpetual"
    key = "nvaie-perpetual" if once else TERM_PRICES["nvaie"][given.licence_term_years]
    price = prices.price(key, "", "")
    if price is None:
        return None
    return price.value * (1 if once else _years_to_pay(scenario, catalog)) * (1 - given.licence_discount)


def spare_host_price(scenario: Scenario, catalog: Catalog, prices: PriceList) -> float | None:
    """What one more host costs with its boards and platform licences, before interest; None where nobody knows.

    The hosts that are spare for failures do not count: otherwise more of them could change the access.
    """
    hardware, money_in = scenario.hardware, scenario.cost
    board = prices.price(f"gpus/{hardware.gpu}", "", "")
    server, instead = server_price(scenario, catalog)
    host = prices.price(server, "", "", *instead)
    if board is None or host is None:
        return None
    bought = board.value * boards(scenario, catalog) + host.value
    by_term = TERM_PRICES.get(money_in.platform_licence, {})
    core = prices.price(by_term[money_in.licence_term_years], "", "") if by_term else None
    each, of_each = sockets(scenario, catalog), factor(scenario, catalog, "cores_per_socket")
    cores = int(each.value) * int(of_each.value)
    licences = core.value * cores * money_in.years if core else 0.0
    return bought * (1 - money_in.hardware_discount) + licences * (1 - money_in.licence_discount)


def _words(
    scenario: Scenario,
    catalog: Catalog,
    case: access.Case,
    each: float | None,
    spare: float | None,
    gpus: int,
) -> dict[str, object]:
    version = catalog.vsphere[scenario.platform.vsphere]
    stun_s = case.vgpu_stun_s if case.vgpu_stun_s is not None else case.mig_stun_s
    licences, currency = "a licence for each (price not known)", scenario.cost.currency
    if each:
        over = f"over {counted(scenario.cost.years, 'year')}"
        licences = f"{money(each, currency)} a GPU {over}, {money(each * gpus, currency)} in all"
    return {
        "gpu": catalog.gpus[scenario.hardware.gpu].name,
        "vsphere": version.name,
        "max_vgpus_per_vm": case.max_vgpus_per_vm,
        "max_passthrough_per_vm": case.max_passthrough_per_vm,
        "stun": "" if stun_s is None else amount(round(stun_s), "s"),
        "limit": amount(round(case.stun_limit_s), "s"),
        "licences": licences,
        "spare": "at a price not known"
        if spare is None
        else f"{money(spare, currency)} with its platform licences, before interest and without support, power, space and people",
    }
