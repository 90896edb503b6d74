"""Checks of sharing: profiles on one GPU, Bitfusion, and what GPU and vSphere version support."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplan.plan.checks.message import Message
from gpuplan.plan.plan import Plan
from gpuplan.plan.sharing import several_vgpus_confirmed
from gpuplan.wording import some_of


def sharing(plan: Plan) -> Iterator[Message]:
    """What mixed sizes, MIG and several vGPUs of a VM take."""
    scenario, catalog = plan.scenario, plan.catalog
    shared = [
        g
        for g in plan.groups
        if g.vms_placed and g.backing == "timesliced" and g.gpus_each < max(1, g.vgpus_each)
    ]
    if scenario.platform.vgpu_sizes == "mixed" and shared:
        rule = catalog.row("rules", "mixed-size-reset")
        yield Message(
            "mixed-size-reset",
            "note",
            "Mixed-size mode is switched on per GPU while no vGPU runs, and a setting made with nvidia-smi is lost when the "
            "host restarts. It excludes the fixed-share scheduler.",
            "Switch it on in vCenter for every GPU, those of spare hosts too.",
            "platform.vgpu_sizes",
            (*rule.sources, *catalog.row("rules", "mixed-size-scheduler").sources),
        )
        unknown = _apart(plan, "timesliced")
        if unknown:
            yield Message(
                "mixed-size-unlisted",
                "warn",
                f"No source lists where {', '.join(unknown)} may start on a GPU in mixed-size mode: planned with one size per "
                "GPU.",
                "Ask the vendor for the placement ids, or plan with equal sizes.",
                "platform.vgpu_sizes",
                catalog.row("rules", "mixed-size-placement-ids").sources,
            )
    if slices := _apart(plan, "mig"):
        yield Message(
            "mig-unlisted",
            "warn",
            f"No source lists where {', '.join(slices)} may start on a GPU: planned with one MIG profile per GPU.",
            "Ask the vendor for the start positions, or use one profile.",
            "hardware.gpu",
            catalog.row("rules", "mig-slices").sources,
        )
    several = [
        g.name
        for g in plan.groups
        if g.vms_placed and g.vgpus_each > 1 and g.backing and g.gpus_each < g.vgpus_each
    ]
    if several and not several_vgpus_confirmed(scenario, catalog):
        yield Message(
            "several-vgpus-unconfirmed",
            "warn",
            f"{some_of(several)}: whether a VM can have several fractional vGPUs of {catalog.gpus[scenario.hardware.gpu].name} "
            "is not confirmed by a source.",
            "Ask the vendor, or give each VM one vGPU.",
            f"groups.{next(g.id for g in plan.groups if g.name in several)}.vgpus_each",
            catalog.row("rules", "multi-vgpu-vsphere8").sources,
        )


def _apart(plan: Plan, backing: str) -> list[str]:
    """Profiles of one backing that could share GPUs, and do not for want of their start positions."""
    found = {
        g.profile
        for g in plan.groups
        if g.vms_placed and g.backing == backing and g.gpus_each < max(1, g.vgpus_each)
    }
    together = {p for pool in plan.pools for r in pool.requests if r.family for p in r.family.profiles[1:]}
    return [] if found & together or len(found) < 2 else sorted(found)


def bitfusion(plan: Plan) -> Iterator[Message]:
    """What a design with Bitfusion must know."""
    scenario = plan.scenario
    used = [g for g in plan.groups if g.mode == "bitfusion"]
    if scenario.platform.bitfusion:
        product = plan.catalog.products.get("bitfusion")
        ended = product.value("end_of_availability") if product else None
        maintained = product.value("end_of_maintenance") if product else None
        yield Message(
            "bitfusion-end-of-life",
            "warn",
            f"Bitfusion reached end of availability ({ended or 'May 2023'}) and end of maintenance "
            f"({maintained or 'May 2025'}): a new design cannot buy it.",
            "Use it only where the customer owns it; otherwise switch it off, and the groups move to vGPU.",
            "platform.bitfusion",
            ("bitfusion-lifecycle",),
        )
    if not used:
        return
    pool_ids = {g.pool for g in used}
    gpu = plan.catalog.gpus[scenario.hardware.gpu]
    whole = any(
        r["full_frame_buffer"] and r["backing"] == "timesliced" for r in plan.catalog.profiles_of(gpu.id)
    )
    if "vgpu" in pool_ids and not whole:
        yield Message(
            "bitfusion-no-profile",
            "stop",
            f"Bitfusion servers are to get their GPUs by vGPU, and {gpu.name} has no "
            "whole-GPU compute profile in the catalog.",
            "Let Bitfusion servers get GPUs by passthrough, or choose another GPU.",
            "platform.bitfusion_servers",
            ("nvidia-aie-5.0-user-guide",),
        )
    elif "vgpu" in pool_ids:
        yield Message(
            "bitfusion-fed-by-vgpu",
            "note",
            "The reference architecture lets Bitfusion servers consume GPUs through vComputeServer; the vendor's FAQ "
            "asks for physical GPUs in passthrough. This plan builds the reference design.",
            "To follow the FAQ, let Bitfusion servers get GPUs by passthrough: they then have hosts of their own.",
            "platform.bitfusion_servers",
            ("vmware-sharing-gpus-2020", "vmware-bitfusion-faq"),
            "9.4.1 (6)",
        )
    names = {g.id for g in used}
    for pool in plan.pools:
        serving = sum(any(s.group in names for load in host for s in load.slots) for host in pool.placement)
        servers = pool.hosts if pool.id == "bitfusion" else serving
        if pool.id in pool_ids and servers == 2:
            yield Message(
                "bitfusion-two-servers",
                "warn",
                f"{pool.name}: 2 Bitfusion servers can lose their quorum. The vendor asks for 1, or for 3 and more.",
                "Add a third server; a witness server without GPUs will do.",
                "hardware.gpus_per_host",
                ("vmware-bitfusion-4.0-install-guide",),
            )
    if any(g.gpus_each < 1 for g in used):
        yield Message(
            "bitfusion-memory-only",
            "note",
            "Bitfusion divides only the memory of a GPU. Clients on one GPU compete for its compute.",
            "Where a guaranteed share matters, tick 'Guaranteed compute share'.",
            "groups",
            ("vmware-bitfusion-3.0-user-guide",),
        )
    if scenario.network.link_gbit_s < 10:
        yield Message(
            "remote-link-slow",
            "warn",
            f"{scenario.network.link_gbit_s} Gbit/s is less than the 10 Gbit/s named as the least for remote GPUs.",
            "Choose 10 Gbit/s or more.",
            "network.link_gbit_s",
            ("techtarget-bitfusion",),
        )


def gpu_support(plan: Plan) -> Iterator[Message]:
    """A GPU that no source confirms for vGPU."""
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    if gpu.value("vgpu_compute") == "unknown" and any(g.mode in ("vgpu", "mig") for g in plan.groups):
        yield Message(
            "vgpu-support-unknown",
            "warn",
            f"Whether {gpu.name} supports vGPU for compute on vSphere is not known from a source.",
            "Ask the vendor, or use passthrough.",
            "hardware.gpu",
            gpu.fact("vgpu_compute").sources,
        )


def version(plan: Plan) -> Iterator[Message]:
    """End of support of the vSphere version."""
    version = plan.catalog.vsphere[plan.scenario.platform.vsphere]
    ended = version.value("end_of_general_support")
    if ended and plan.pools:
        yield Message(
            "vsphere-support-ends",
            "note",
            f"General support of {version.name}: until {ended}.",
            "Check that the date fits the life of the design.",
            "platform.vsphere",
            version.fact("end_of_general_support").sources,
        )
