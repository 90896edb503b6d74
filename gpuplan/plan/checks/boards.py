"""Checks of boards: limits of a GPU, its wiring and its software on vSphere, boards no longer sold, and owned ones without a VM."""

from collections.abc import Iterator
from typing import Any

from gpuplan.locales import written_day
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.boards import lack
from gpuplan.plan.checks.message import Message, about, message, placed
from gpuplan.plan.hardware import has_nvswitch, needs_crx, vsphere_profile
from gpuplan.plan.plan import Plan
from gpuplan.plan.sharing import nvswitch_version, share_each, unconfirmed_on
from gpuplan.plan.weighing import SERVES
from gpuplan.scenario import UNASSIGNED, Group
from gpuplan.wording import NAMES, counted, joined, said, some_of, told

HALF = 4
"""GPUs of a half of a baseboard (``rules/nvswitch-halves``)."""


def gpu_support(plan: Plan) -> Iterator[Message]:
    """A GPU that no source confirms for vGPU."""
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    if gpu.value("vgpu_compute") == "unknown" and any(g.mode in ("vgpu", "mig") for g in plan.groups):
        sources = gpu.fact("vgpu_compute").sources
        yield message(plan, "vgpu-support-unknown", gpu=gpu.name, sources=sources)


def board_on_version(plan: Plan) -> Iterator[Message]:
    """A board that is not known to run on the vSphere version, or that serves no vGPUs on it."""
    catalog, hardware = plan.catalog, plan.scenario.hardware
    gpu, version = catalog.gpus[hardware.gpu], catalog.vsphere[plan.scenario.platform.vsphere]
    if not plan.pools:
        return
    at = {"gpu": gpu.name, "version": version.name}
    if why := unconfirmed_on(catalog, gpu, version):
        launched = gpu.fact("launched")
        sources, out = launched.sources, launched.value
        yield message(plan, "board-not-confirmed", sources=sources, launched=out, why=why, **at)
    needed = nvswitch_version(catalog, gpu, version)
    if (
        needed
        and has_nvswitch(plan.scenario, catalog)
        and any(pool.gpu_mode == "vgpu" for pool in plan.pools)
    ):
        sources = catalog.row("rules", "nvswitch-versions").sources
        yield message(plan, "nvswitch-version", sources=sources, needed=needed.name, **at)


def nvswitch_partitions(plan: Plan) -> Iterator[Message]:
    """Report the VMs that get an NVLink partition of a baseboard."""
    if not has_nvswitch(plan.scenario, plan.catalog):
        return
    sizes: dict[int, list[GroupPlan]] = {}
    for group in placed(plan, "vgpu", "passthrough"):
        whole = int(group.gpus_each) if group.gpus_each >= group.vgpus_each else 0
        sizes.setdefault(whole, []).append(group)
    for size, groups in sorted(sizes.items()):
        below = 2 ** (size.bit_length() - 1) if size else 0  # rules/nvswitch-partitions: powers of two
        if size != below:
            yield from about(plan, "nvswitch-no-partition", groups, size=size, lower=below, higher=2 * below)
    linked = [
        group for size, groups in sizes.items() if size in (2, 4, 8) for group in groups if group.profile
    ]
    names = list(dict.fromkeys(device_group(plan, group) for group in linked))
    yield from about(plan, "nvswitch-device-group", linked, names=joined(names))
    if HALF in sizes and min(sizes) < HALF:
        yield from about(plan, "nvswitch-halves", sizes[HALF])


def device_group(plan: Plan, group: GroupPlan) -> str:
    """Name the device group of one VM's GPUs as vSphere lists it; where no source names its vGPU type, say which it is."""
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    if group.profile.endswith("-whole-GPU"):
        return said("check.device group", gpus=int(group.gpus_each), gpu=gpu.name)
    return f"Nvidia:{int(group.gpus_each)}@{vsphere_profile(plan.catalog, gpu.id, group.profile)}%NVLink"


def nvswitch_support(plan: Plan) -> Iterator[Message]:
    """Report features that the maker's list of NVSwitch systems leaves out."""
    if not has_nvswitch(plan.scenario, plan.catalog):
        return
    gpu, version = plan.catalog.gpus[plan.scenario.hardware.gpu], plan.scenario.platform.vsphere
    at = {"gpu": gpu.name, "version": plan.catalog.vsphere[version].name}
    yield from about(plan, "nvswitch-mig", placed(plan, "mig"))
    yield from about(plan, "nvswitch-passthrough", placed(plan, "passthrough"), **at)
    if needs_crx(plan.scenario, plan.catalog) and placed(plan, "vgpu"):
        yield message(plan, "nvswitch-release", gpu=gpu.name)


def bridges(plan: Plan) -> Iterator[Message]:
    """VMs with more GPUs than NVLink bridges join."""
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    most = int(gpu.value("nvlink_bridge_gpus") or 0)
    wide = [group for group in placed(plan, "vgpu", "passthrough") if most and group.gpus_each > most]
    yield from about(plan, "nvlink-bridges", wide, joined=most, gpu=gpu.name)


def unlisted_profiles(plan: Plan) -> Iterator[Message]:
    """A board of which no source lists a vGPU profile smaller than a whole GPU, nor the name of that."""
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    rows = [row for row in plan.catalog.profiles_of(gpu.id) if row["backing"] == "timesliced"]
    if len(rows) == 1 and rows[0].basis == "derived" and (groups := placed(plan, "vgpu")):
        parts = {group.id for group in plan.sized.groups if share_each(group) < 1}
        cut = some_of([group.name for group in groups if group.id in parts])
        whole = said("check.cut", groups=cut) if cut else ""
        words = {"gpu": gpu.name, "profile": rows[0]["profile"], "whole": whole}
        yield message(plan, "vgpu-profiles-unlisted", sources=rows[0].sources, **words)


def inference_software(plan: Plan) -> Iterator[Message]:
    """Report limits of NVIDIA NIM on shared GPUs, where models are served."""
    serving = {group.id for group in plan.scenario.groups if group.use_case in SERVES}
    for mode in ("vgpu", "mig"):
        groups = [group for group in placed(plan, mode) if group.id in serving]
        yield from about(plan, {"vgpu": "nim-on-vgpu", "mig": "nim-on-mig"}[mode], groups)


def no_longer_sold(plan: Plan) -> Iterator[Message]:
    """Boards and switches of the design that cannot be ordered any more."""
    catalog, hardware, fabric = plan.catalog, plan.scenario.hardware, plan.cabling
    items = [catalog.gpus[hardware.gpu]]
    if fabric and fabric.switches and not hardware.of:
        named = (fabric.switches.leaf, fabric.switches.spine)
        items += [catalog.switches[id] for id in dict.fromkeys(named) if id]
    for item in items:
        if plan.pools and item.value("end_of_sale"):
            since = item.fact("end_of_sale")
            where = "hardware.gpu" if item is items[0] else "network.leaf"
            words: dict[str, Any] = {"item": item, "path": where, "sources": since.sources}
            yield message(plan, "no-longer-sold", since=since.value, **words)


def lead_times(plan: Plan) -> Iterator[Message]:
    """The weeks to delivery that sources name for a board, each with its producer and date."""
    catalog, gpu = plan.catalog, plan.catalog.gpus[plan.scenario.hardware.gpu]
    rows = [row for row in catalog.rows("lead_times") if row["gpu"] in (None, gpu.id)]
    if not any(row["gpu"] for row in rows) or not any(
        pool.hosts > pool.existing_hosts for pool in plan.pools
    ):
        return
    times = (
        said("check.weeks to" if row["most"] else "check.weeks or more", **row.cells, who=who, day=day)
        for row in rows
        for who, day in [(catalog.sources[row.sources[0]].producer, written_day(str(row["as_of"])))]
    )
    sources = tuple(dict.fromkeys(source for row in rows for source in row.sources))
    yield message(plan, "lead-times", gpu=gpu.name, times="; ".join(times), sources=sources)


WHY = NAMES["why not on a board"]
"""What a board lacks, by key, in words."""


def not_used(plan: Plan) -> Iterator[Message]:
    """Existing hosts with a board that no VM of the design runs on, and why."""
    found = plan.inventory
    left = [kind for kind in found.kinds if not kind.joins] if found else []
    for gpu in dict.fromkeys(kind.gpu for kind in left):
        kinds = [kind for kind in left if kind.gpu == gpu]
        yield message(
            plan,
            "owned-hosts-not-used",
            names=some_of([kind.name for kind in kinds]),
            hosts=sum(kind.hosts for kind in kinds),
            gpus=counted(sum(kind.hosts * kind.gpus_per_host for kind in kinds), "GPU"),
            gpu=plan.catalog.gpus[gpu].name,
            why=_why(plan, gpu),
            buy=counted(found.buy if found else 0, "host"),
        )


def _why(plan: Plan, gpu: str) -> str:
    """Say why the groups do not run on a board, those of one reason together."""
    own, why = plan.scenario.hardware.gpu, dict[str, list[str]]()
    groups = [group for group in plan.sized.groups if group.id in plan.requests.by_group]
    for group in groups or [Group(UNASSIGNED, said("decided.of no group"))]:
        reason = WHY[lack(plan.catalog, group, own, gpu) or "vgpu"]
        why.setdefault(told(reason, {"board": plan.catalog.gpus[own].name}), []).append(group.name)
    return "; ".join(f"{some_of(names)}: {reason}" for reason, names in why.items())
