"""Checks of sharing: profiles on one GPU, Bitfusion, and the support of GPU and vSphere version."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from gpuplan.locales import written_day
from gpuplan.plan.access import GroupPlan, served_by
from gpuplan.plan.checks.message import Message, about, message, placed
from gpuplan.plan.over_time.rules import POLICY, is_open
from gpuplan.plan.plan import Plan
from gpuplan.plan.prices import price_day
from gpuplan.plan.sharing import several_vgpus_confirmed, share_each, smallest_profile
from gpuplan.units import exact
from gpuplan.wording import joined, said


def mixed_sizes(plan: Plan) -> Iterator[Message]:
    """Report the effects of mixed sizes, which the GPU assignment policy does not take into account, nor MIG."""
    mixed = _sharing(plan, "timesliced") if plan.scenario.platform.vgpu_sizes == "mixed" else []
    if mixed:
        yield message(plan, "mixed-size-reset")
        if unknown := _apart(plan, "timesliced"):
            yield message(plan, "mixed-size-unlisted", profiles=", ".join(unknown))
    platform = plan.scenario.platform
    if platform.gpu_policy == "group" and not is_open(plan.scenario, POLICY):
        remedy = said("check.one size" if mixed else "check.policy of MIG")
        yield from about(plan, "gpu-policy-ignored", mixed + _sharing(plan, "mig"), remedy=remedy)


def sharing(plan: Plan) -> Iterator[Message]:
    """Report the requirements of MIG and of several vGPUs in a VM."""
    scenario, catalog = plan.scenario, plan.catalog
    if slices := _apart(plan, "mig"):
        yield message(plan, "mig-unlisted", profiles=", ".join(slices))
    several = [g for g in placed(plan) if g.backing and max(1, g.gpus_each) < g.vgpus_each]
    yield from about(plan, "vgpus-of-two-sizes", [g for g in several if " + " in g.profile])
    gpu = catalog.gpus[scenario.hardware.gpu]
    if gpu.value("nvlink_gb_s"):
        yield from about(plan, "fractions-without-nvlink", several, gpu=gpu.name)
    if not several_vgpus_confirmed(scenario, catalog):
        yield from about(plan, "several-vgpus-unconfirmed", several, gpu=gpu.name)


def handed_over(plan: Plan) -> Iterator[Message]:
    """Report whether VMs can be suspended that give their GPUs back: to others, or of a stated profile at other hours."""
    stops = {g.id for g in plan.scenario.groups if g.preemptible or (g.profile and g.hours and plan.hours)}
    handed = [group for group in plan.groups if group.id in stops]
    vgpus = [group for group in handed if group.backing]
    words = {"version": plan.catalog.vsphere[plan.scenario.platform.vsphere].name}
    words["profiles"] = joined(list(dict.fromkeys(group.profile for group in vgpus)))
    yield from about(plan, "vgpus-suspended", vgpus, **words)
    yield from about(plan, "passthrough-not-suspended", [g for g in handed if g.mode == "passthrough"])


def guarantees(plan: Plan) -> Iterator[Message]:
    """MIG slices with less of the compute than the share that is guaranteed."""
    scenario, catalog = plan.sized, plan.catalog
    rows = {str(row["profile"]): row for row in catalog.profiles_of(scenario.hardware.gpu)}
    every = max((int(row["compute_slices"] or 0) for row in rows.values()), default=0)
    shares = {group.id: share_each(group) for group in scenario.groups if group.isolation}
    short: dict[tuple[str, float], list[GroupPlan]] = {}
    for group in placed(plan):
        if group.backing == "mig" and group.id in shares and group.profile in rows:
            slices = int(rows[group.profile]["compute_slices"])
            if Fraction(slices, every) < exact(shares[group.id]):
                short.setdefault((group.profile, shares[group.id]), []).append(group)
    for (profile, share), groups in short.items():
        slices = int(rows[profile]["compute_slices"])
        words: dict[str, Any] = {"share": share, "profile": profile, "slices": slices, "every": every}
        words |= {"percent": slices / every, "remedy": _remedy(plan, groups[0], share, slices / every)}
        yield from about(plan, "guarantee-not-kept", groups, **words)


def _remedy(plan: Plan, group: GroupPlan, share: float, has: float) -> str:
    """Say how to keep a guaranteed share that a MIG slice does not."""
    version = plan.scenario.platform.vsphere
    profile = smallest_profile(plan.catalog, plan.scenario.hardware.gpu, "timesliced", version, share)
    if profile and any(out.mode == "vgpu" and out.possible for out in group.ruled_out):
        return said("check.fixed share", portion=1 / profile.max_per_gpu, has=has)
    return said("check.whole GPU", has=has)


def fixed_share(plan: Plan) -> Iterator[Message]:
    """A scheduler that has to be set."""
    guaranteed = [group for group in placed(plan) if group.scheduler == "fixed-share"]
    yield from about(plan, "fixed-share-scheduler", guaranteed)


def _sharing(plan: Plan, backing: str) -> list[GroupPlan]:
    """Groups with VMs on hosts that have a part of a GPU by one kind of vGPU."""
    return [g for g in placed(plan) if g.backing == backing and g.gpus_each < max(1, g.vgpus_each)]


def _apart(plan: Plan, backing: str) -> list[str]:
    """Profiles of one backing that could share GPUs, and do not for want of their start positions."""
    profiles = {group.profile for group in _sharing(plan, backing)}
    together = {p for pool in plan.pools for r in pool.requests if r.family for p in r.family.profiles[1:]}
    return [] if profiles & together or len(profiles) < 2 else sorted(profiles)


def bitfusion_product(plan: Plan) -> Iterator[Message]:
    """That Bitfusion is no longer sold."""
    if plan.scenario.platform.bitfusion:
        product = plan.catalog.products.get("bitfusion")
        ended = product.value("end_of_availability") if product else None
        maintained = product.value("end_of_maintenance") if product else None
        ended, maintained = ended or "May 2023", maintained or "May 2025"
        yield message(plan, "bitfusion-end-of-life", ended=ended, maintained=maintained)


def bitfusion_servers(plan: Plan) -> Iterator[Message]:
    """Report how Bitfusion servers get their GPUs, and the number of servers."""
    used = {g.id: g.pool for g in plan.groups if g.mode == "bitfusion"}
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    if "vgpu" in used.values():
        rows = plan.catalog.profiles_of(gpu.id)
        whole = any(row["full_frame_buffer"] and row["backing"] == "timesliced" for row in rows)
        yield message(plan, "bitfusion-fed-by-vgpu" if whole else "bitfusion-no-profile", gpu=gpu.name)
    for pool in (pool for pool in plan.pools if pool.kind in used.values()):
        serving = sum(any(s.group in used for load in host for s in load.slots) for host in pool.placement)
        if (pool.hosts if served_by(pool.kind) == "bitfusion" else serving) == 2:
            yield message(plan, "bitfusion-two-servers", pool=pool.name)


def bitfusion_clients(plan: Plan) -> Iterator[Message]:
    """Report the resources that Bitfusion clients share, and their link."""
    used = [g for g in plan.groups if g.mode == "bitfusion"]
    link = plan.scenario.network.link_gbit_s
    if any(g.gpus_each < 1 for g in used):
        yield message(plan, "bitfusion-memory-only")
    if used and link < 10:
        yield message(plan, "remote-link-slow", link=link)


def version(plan: Plan) -> Iterator[Message]:
    """End of support of the vSphere version, possibly before the day of the prices."""
    version = plan.catalog.vsphere[plan.scenario.platform.vsphere]
    ends = version.value("end_of_general_support")
    if not ends or not plan.pools:
        return
    words: dict[str, Any] = {"version": version.name, "until": written_day(str(ends))}
    sources = version.fact("end_of_general_support").sources
    ended = str(ends) < price_day(plan.scenario, plan.catalog)
    code = "vsphere-support-ended" if ended else "vsphere-support-ends"
    yield message(plan, code, sources=sources, **words)
