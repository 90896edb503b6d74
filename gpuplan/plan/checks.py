"""Checks: coded messages over a plan, each with what to change.

``stop`` is a design that does not do what was asked, ``warn`` something to settle before buying,
``note`` something to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpuplan.facts import SCENARIO_SOURCE
from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.plan.access import stun_item
from gpuplan.plan.clusters import divided, division_words
from gpuplan.plan.cost import Costs
from gpuplan.plan.network import carried
from gpuplan.plan.plan import Plan
from gpuplan.plan.prices import Price
from gpuplan.plan.sharing import several_vgpus_confirmed
from gpuplan.plan.sizing_rule import Target, burst_fact, odds_of, peakedness_range
from gpuplan.plan.validation import server_gpu_limit
from gpuplan.scenario import FIELD_BY_PATH
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import (
    METHOD_NAMES,
    TRANSPORT_NAMES,
    amount,
    capital,
    counted,
    hours,
    number,
    percent,
    some_of,
    watts,
    week_hours,
)

LEVELS = ("stop", "warn", "note")

MANY_PORTS = 8
"""More network ports in one host than this are asked about: four adapters of two ports, our planning value."""


@dataclass(frozen=True, slots=True)
class Message:
    """Something to know about a plan. ``level`` is stop, warn or note; ``change`` says what to change, ``path`` where."""

    code: str
    level: str
    text: str
    change: str = ""
    path: str = ""
    sources: tuple[str, ...] = ()
    locator: str = ""


def check_plan(plan: Plan) -> tuple[Message, ...]:
    """All messages about a plan, the most serious first."""
    found = [message for check in _CHECKS for message in check(plan)]
    return tuple(sorted(found, key=lambda message: LEVELS.index(message.level)))


def _nothing_asked(plan: Plan) -> Iterator[Message]:
    if not plan.pools and not plan.totals.unplaced_vms:
        yield Message(
            "nothing-demanded",
            "note",
            "Nobody asks for a GPU yet.",
            "Add a workload group, or state a total.",
            "groups",
        )


def _unplaced(plan: Plan) -> Iterator[Message]:
    for group in plan.groups:
        for missing in group.unplaced:
            if missing.code == "no-mode-possible":
                why = " ".join(r.reason.text for r in group.ruled_out)
                yield Message(
                    "no-access-mode",
                    "stop",
                    f"{group.name}: {missing.reason} {why}",
                    "Change what the group needs, the GPU or the vSphere version.",
                    f"groups.{group.id}.access",
                    tuple(s for r in group.ruled_out for s in r.reason.sources if s != "scenario"),
                )
            else:
                yield Message(
                    "beyond-stated-total",
                    "stop",
                    f"{group.name}: no place for {amount(missing.vms, 'VM')} ({amount(missing.gpus, 'GPU')}), because "
                    f"{missing.reason}.",
                    "Raise the stated total, clear it to size from the groups, or ask for less.",
                    "demand.stated_gpus",
                )


def _stated_total(plan: Plan) -> Iterator[Message]:
    stated = plan.scenario.demand.stated_gpus
    groups = plan.lines["demand.groups_gpus"].value
    if stated is not None and plan.groups and groups < stated:
        rest = plan.lines["demand.unassigned_gpus"].value if "demand.unassigned_gpus" in plan.lines else 0
        yield Message(
            "stated-above-groups",
            "note",
            f"The groups add up to {groups:g} GPUs, the stated total is {stated}. {rest:g} whole GPUs are planned for no "
            "group.",
            "Describe who needs them, or lower the stated total.",
            "demand.stated_gpus",
        )


def _busiest_hours(plan: Plan) -> Iterator[Message]:
    names = {pool.id: pool.name for pool in plan.pools}
    for demand in plan.hours:
        if len(demand.needed) > 1 and demand.pool in names:
            chosen = demand.needed[demand.chosen]
            others = max(n for at, n in enumerate(demand.hosts) if at != demand.chosen)
            yield Message(
                "sized-for-busiest-hours",
                "note",
                f"{names[demand.pool]}: sized for who is active {week_hours(chosen.mix.quarters)} UTC, which takes the most hosts; "
                f"the other hours need at most {amount(others, 'host')} without spare ones. The pictures show that mix.",
                "Check the hours with each group: who works longer takes GPUs that others count on.",
                f"groups.{chosen.mix.asks[0].group}.hours",
                ("gpuplan-method",),
            )


def _lent_between_modes(plan: Plan) -> Iterator[Message]:
    """MIG and time-sliced vGPUs at different hours on the same GPUs."""
    backing = {group.id: group.backing for group in plan.groups}
    for demand in plan.hours:
        kinds = [
            frozenset(backing[g] for g, n in want.requests.items() if n and backing.get(g))
            for want in demand.needed
        ]
        if len(set(kinds)) > 1 and {"mig", "timesliced"} <= frozenset().union(*kinds):
            groups = [g.name for g in plan.groups if g.backing == "mig" and g.pool == demand.pool]
            yield Message(
                "mig-switched-through-the-day",
                "warn",
                f"{some_of(groups)} use MIG at other hours than others use the same GPUs time-sliced. A GPU is switched between the "
                "two only while nothing runs on it, on some boards with a restart of the host.",
                "Give all groups of these hosts the same kind of vGPU, or add their GPUs up at their peaks.",
                "demand.rule",
                plan.catalog.row("rules", "mig-enable-reboot").sources,
            )


def _waiting(plan: Plan) -> Iterator[Message]:
    asked, waiting = plan.scenario.demand, plan.lines.get("totals.waiting")
    if asked.rule in ("sum", "hours") and waiting and waiting.value >= WORTH_A_WORD_PCT:
        closed = waiting.function.endswith("closed_wait_chance")
        why = (
            "If each person is active at random with the share that is stated"
            if closed
            else "If work comes in bursts as they are stated or planned for"
        )
        more = " A share that is already the highest ever seen leaves no such risk." if closed else ""
        yield Message(
            "waiting-likely",
            "note",
            f"{why}, {percent(waiting.value / 100)} of the requests{' of the unluckiest group' * closed} find too few GPUs free in the "
            f"busiest hours.{more}",
            "Ask what the share is, the usual one or the highest, and choose how often somebody may wait.",
            "demand.rule",
            tuple(each for each in waiting.sources if each in plan.catalog.sources),
        )
    for demand in plan.hours:
        want = demand.needed[demand.chosen]
        if want.method in ("", "bursty"):
            continue
        odds = odds_of(want.mix, Target.of(plan.scenario))
        if not odds.asks:
            continue
        low, _, high = peakedness_range(plan.scenario, plan.catalog, odds)
        least, most = odds.least("bursty", low), odds.least("bursty", high)
        if least > want.gpus:
            yield Message(
                "bursts-need-more",
                "warn",
                f"The {number(want.gpus)} GPUs rest on {METHOD_NAMES[want.method].lower()}. If work comes in bursts, as in traces of "
                f"real clusters, the same target takes {number(least)} to {number(most)}.",
                "Audit the jobs that run today: it gives the customer's own peakedness.",
                "demand.method",
                burst_fact(plan.catalog).sources,
            )


WORTH_A_WORD_PCT = 10
"""A chance of waiting from which it is pointed out."""


def _count_and_placement(plan: Plan) -> Iterator[Message]:
    for pool in plan.pools:
        counted = plan.lines[f"pools.{pool.id}.count_hosts"].value
        if counted < pool.hosts_for_demand and not pool.existing_hosts:
            yield Message(
                "count-and-placement-part",
                "warn",
                f"{pool.name}: division says {amount(counted, 'host')}, placement needs {pool.hosts_for_demand}. A demand of "
                f"{amount(pool.gpus_demanded, 'GPU')} occupies {amount(pool.gpus_occupied, 'GPU')}, and all GPUs of one VM are "
                "in one host.",
                "Nothing is wrong: the design is sized by placement. Other GPUs per host may waste less.",
                "hardware.gpus_per_host",
                ("martello-toth-1990",),
            )
        if pool.method == "heuristic":
            found, least = pool.hosts_without_spare, pool.bound
            yield Message(
                "placement-not-proven",
                "warn",
                f"{pool.name}: {amount(found, 'host')} without spare ones were found, the least that any placement could have is "
                f"{least}; the gap of {found - least} is not closed.",
                "The design works as placed; whether one with fewer hosts exists is not known.",
                "hardware.gpus_per_host",
                ("martello-toth-1990",),
            )
        by_gpus = plan.lines.get(f"pools.{pool.id}.hosts_by_gpus")
        if by_gpus and by_gpus.value < pool.hosts_for_demand:
            yield Message(
                "cpu-or-memory-binds",
                "warn",
                f"{pool.name}: for the GPUs alone {amount(by_gpus.value, 'host')} would do; with CPU and memory it takes "
                f"{pool.hosts_for_demand}.",
                "Hosts with more CPU or memory, or other GPUs per host, may waste fewer GPUs.",
                "hardware.memory_gib_per_host",
                ("gpuplan-method",),
            )


def _stranded(plan: Plan) -> Iterator[Message]:
    for pool in plan.pools:
        lost = [i for i in pool.idle if not i.fits]
        gpus = sum(i.gpus for i in lost)
        if gpus >= 1:
            whole = sum(i.room * i.count for i in lost if i.kind == "whole")
            yield Message(
                "gpus-stranded",
                "note",
                f"{pool.name}: {amount(gpus, 'GPU')} of capacity idle on used hosts where no VM of this design fits"
                + (f", {whole} of it as whole GPUs" if whole else "")
                + ".",
                "Other GPUs per host, or other profiles, may use them; small jobs that may be stopped can.",
                "hardware.gpus_per_host",
                ("gpuplan-method",),
            )


def _after_failure(plan: Plan) -> Iterator[Message]:
    lost = plan.totals.unplaced_vms_after_failure - plan.totals.unplaced_vms
    if lost > 0 and plan.pools:
        level = "stop" if plan.scenario.availability.host_failures else "warn"
        yield Message(
            "failure-leaves-unplaced",
            level,
            f"The worst failure of one host leaves {amount(lost, 'VM')} without a GPU.",
            "Tolerate one host failure, or accept the risk.",
            "availability.host_failures",
            ("vmware-vsphere-8.0-admission-control",),
        )


def _maintenance_bet(plan: Plan) -> Iterator[Message]:
    availability = plan.scenario.availability
    chosen = next((p for p in plan.postures if p.chosen), None)
    for pool in plan.pools:
        spent = plan.lines[f"postures.n{availability.host_failures}.{pool.id}.maintenance_h"]
        if spent.value >= HOURS_PER_YEAR:
            yield Message(
                "maintenance-never-ends",
                "warn",
                f"{pool.name}: {pool.hosts} hosts, maintained one at a time, take the whole year. The figures of risk assume that "
                "one host is always out.",
                "Maintain several hosts at a time, with as many spare, or take less time for each.",
                "availability.maintenance_h_per_host",
                plan.catalog.assumptions["host-reliability"].fact("maintenance_h_per_host").sources,
            )
    if not chosen or not availability.maintenance_failure_accepted or not chosen.exposed_h:
        return
    more = next((p for p in plan.postures if p.host_failures == chosen.host_failures + 1), None)
    if chosen.maintenance_short_h >= chosen.exposed_h:
        yield Message(
            "maintenance-takes-gpus",
            "warn",
            f"No host is spare: for {hours(chosen.exposed_h)} a year maintenance itself leaves somebody without a GPU.",
            "Tolerate one host failure: the spare host serves maintenance too.",
            "availability.host_failures",
            ("vmware-sharing-gpus-2020",),
            "8.4.1 and 9.4.1",
        )
        return
    yield Message(
        "maintenance-bet",
        "note",
        f"A failure during maintenance is accepted: for {hours(chosen.exposed_h)} a year one more failure leaves somebody "
        f"without a GPU, with a chance of {percent(chosen.chance)} in a year."
        + (f" With N+{more.host_failures} it is {percent(more.chance)}." if more else ""),
        "State how often hosts fail and how long they are in maintenance, or do not accept it.",
        "availability.maintenance_failure_accepted",
        ("vmware-sharing-gpus-2020",),
        "8.4.1 and 9.4.1",
    )


def _vmotion(plan: Plan) -> Iterator[Message]:
    measured = stun_item(plan.catalog, plan.scenario.platform.vsphere)
    limit = plan.scenario.availability.stun_limit_s or int(measured.fact("limit_s").value)
    moved = [g for g in plan.groups if g.vms_placed and g.stun_s is not None]
    slow = [g for g in moved if g.stun_s is not None and g.stun_s > limit]
    if slow:
        longest = max(slow, key=lambda g: g.stun_s or 0)
        yield Message(
            "stun-over-limit",
            "warn",
            f"{some_of([g.name for g in slow])}: a VM may stand still for {longest.stun_s:.0f} s while it is moved, and the "
            f"limit is {limit} s.",
            "Raise the limit for these VMs, use less frame buffer, or shut them down for maintenance.",
            "availability.stun_limit_s",
            (*measured.fact("limit_s").sources, *plan.catalog.row("rules", "vmotion-stun-limit").sources),
        )
    tried = plan.catalog.rows("stun_times")
    most_gb = max(row["frame_buffer_gb"] for row in tried if row["vm_memory_gb"] is None)
    worst = max((row for row in tried if row["vm_memory_gb"] is not None), key=lambda row: row["stun_s"])
    near = [g for g in moved if g not in slow and g.frame_buffer_mb >= worst["frame_buffer_gb"] * MIB_PER_GIB]
    if near and worst["stun_s"] * 2 > limit:
        yield Message(
            "stun-worst-case",
            "note",
            f"{some_of([g.name for g in near])}: the vendor's worst case for a VM with {worst['frame_buffer_gb']:g} GB of vGPU and "
            f"{worst['vm_memory_gb']:g} GB of memory is {worst['stun_s']:g} s, more than twice what was measured.",
            "Try a migration before promising it.",
            "availability.stun_limit_s",
            worst.sources,
        )
    beyond = [g for g in moved if g.frame_buffer_mb > most_gb * MIB_PER_GIB]
    if beyond:
        yield Message(
            "stun-extrapolated",
            "note",
            f"{some_of([g.name for g in beyond])}: the stun is extrapolated; it was measured up to {most_gb:g} GB of frame buffer, on "
            "vSphere 7, a V100 and 10 GbE.",
            "Try a migration before promising it.",
            "availability.stun_limit_s",
            measured.fact("fixed_s").sources,
        )
    if moved and plan.scenario.network.link_gbit_s < 10:
        rule = plan.catalog.row("rules", "vmotion-network")
        yield Message(
            "vmotion-link-slow",
            "warn",
            f"{plan.scenario.network.link_gbit_s} Gbit/s is less than the 10 Gbit/s that vMotion of vGPU VMs wants; large "
            "profiles may fail to move.",
            "Choose 10 Gbit/s or more.",
            "network.link_gbit_s",
            rule.sources,
        )


def _sharing(plan: Plan) -> Iterator[Message]:
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


def _counted(plan: Plan) -> Iterator[Message]:
    """CPU and memory that are stated on one side only."""
    hardware = plan.scenario.hardware
    for mine, host, what in (
        ("vcpus_each", "vcpus_per_host", "vCPUs"),
        ("memory_gib_each", "memory_gib_per_host", "Memory"),
    ):
        stated = [g for g in plan.scenario.groups if getattr(g, mine)]
        if bool(stated) != bool(getattr(hardware, host)):
            yield Message(
                "resource-not-counted",
                "note",
                f"{what} of {'the VMs' if stated else 'a host'} is stated, of {'a host' if stated else 'the VMs'} not, so it is "
                "not counted.",
                "State both, or neither.",
                f"hardware.{host}",
            )
        elif stated and len(stated) < len(plan.scenario.groups):
            missing = [g.name for g in plan.scenario.groups if not getattr(g, mine)]
            yield Message(
                "resource-counted-in-part",
                "warn",
                f"{what} is counted, but not for {', '.join(missing[:3])}"
                + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
                + ": planned as none.",
                "State it for every group.",
                f"groups.{next(g.id for g in plan.scenario.groups if not getattr(g, mine))}.{mine}",
            )


def _bitfusion(plan: Plan) -> Iterator[Message]:
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


def _server(plan: Plan) -> Iterator[Message]:
    hardware = plan.scenario.hardware
    if not plan.pools:
        return
    if hardware.server is None:
        yield Message(
            "server-not-chosen",
            "note",
            "No server is chosen, so the number of GPUs per host is not checked.",
            "Choose a server.",
            "hardware.server",
        )
        return
    limit, why = server_gpu_limit(plan.scenario, plan.catalog)
    if limit is None:
        server = plan.catalog.servers[hardware.server]
        yield Message(
            "server-limit-unknown",
            "warn",
            f"{why[0].upper()}{why[1:]}: {hardware.gpus_per_host} per host is not confirmed.",
            "Ask the server vendor.",
            "hardware.server",
            tuple(dict.fromkeys(s for fact in server.facts.values() for s in fact.sources)),
        )


def _cluster_size(plan: Plan) -> Iterator[Message]:
    cluster = plan.catalog.assumptions["vi-cluster"]
    least, most = cluster.fact("min_hosts"), cluster.fact("max_hosts")
    for pool in plan.pools:
        if found := divided(plan.scenario, plan.catalog, pool):
            hours = " The hours at risk are worked out as for one cluster." if found.spare else ""
            yield Message(
                "cluster-too-large",
                "warn",
                f"{pool.name}: {number(pool.hosts)} hosts are planned as one cluster, which has at most {found.most}. Hosts of one "
                f"cluster do not restart VMs of another. {division_words(found)}{hours}",
                f"Buy {amount(found.more, 'host')} more, or divide the groups over several designs, one for each cluster."
                if found.more
                else "Divide the groups over several designs, one for each cluster.",
                "groups",
                most.sources,
                most.locator,
            )
        elif pool.hosts < int(least.value):
            yield Message(
                "cluster-too-small",
                "note",
                f"{pool.name}: {amount(pool.hosts, 'host')}, fewer than the {least.value} with which a cluster of a VI workload domain "
                "starts.",
                "Plan a host more, or run the GPU hosts in a cluster with others.",
                "availability.host_failures",
                least.sources,
                least.locator,
            )


def _gpu_support(plan: Plan) -> Iterator[Message]:
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


def _assignment(plan: Plan) -> Iterator[Message]:
    """What must be set up so that VMs really land as they are placed here."""
    catalog = plan.catalog
    for pool in plan.pools:
        kinds = {load.family.name if load.family else "whole" for host in pool.placement for load in host}
        if pool.gpu_mode == "vgpu" and len(kinds - {"bitfusion"}) > 1:
            yield Message(
                "gpu-consolidation",
                "warn",
                f"{pool.name}: the placement, and every restart in it, keeps VMs of one profile together on a GPU. "
                "vSphere spreads VMs over GPUs by default, and one small profile on each GPU locks larger ones out.",
                "Set the GPU assignment policy of the hosts to consolidation, and keep the spare host empty.",
                "hardware.gpu",
                (
                    *catalog.row("rules", "gpu-assignment-policy").sources,
                    *catalog.row("rules", "spread-locks-out").sources,
                ),
            )
    gpu = catalog.gpus[plan.scenario.hardware.gpu]
    sliced = [g.name for g in plan.groups if g.mode == "mig" and g.vms_placed]
    if sliced and gpu.value("architecture") == "Ampere":
        yield Message(
            "mig-needs-reboot",
            "warn",
            f"{gpu.name} is switched to MIG by a restart of its host, so {some_of(sliced)} restart on a spare host "
            "only if GPUs there are in MIG mode already.",
            "Keep GPUs of the spare host in MIG mode, or choose a GPU that is switched without a restart.",
            "hardware.gpu",
            catalog.row("rules", "mig-enable-reboot").sources,
        )


def _version(plan: Plan) -> Iterator[Message]:
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


def _assumed(plan: Plan) -> Iterator[Message]:
    assumed = sorted(
        {
            i.key
            for line in plan.lines.values()
            for i in line.inputs
            if i.basis == "assumed" and _is_input(plan, i.key)
        }
    )
    if assumed and plan.pools:
        yield Message(
            "inputs-assumed",
            "note",
            f"{len(assumed)} inputs are assumed, not yet stated by the customer.",
            "Ask for them; a changed input counts as stated.",
            _path_of(plan, assumed[0]),
        )


def _is_input(plan: Plan, key: str) -> bool:
    """Whether a key is that of an input or of a planning value that stands for an empty one, not of a figure in between."""
    return key not in plan.lines and (
        "/" not in key or key.startswith("prices.") or key.partition("/")[0] in plan.catalog.titles
    )


def _path_of(plan: Plan, key: str) -> str:
    """The input that a planning value stands for, or the key itself if it is an input."""
    if key == "assumptions/duration-of-work/work_h":
        return f"groups.{next(g.id for g in plan.scenario.groups if g.work_h is None)}.work_h"
    if key.startswith("assumptions/bursts/"):
        return "demand.peakedness"
    path = key.replace("assumptions/host-reliability/", "availability.").replace("factors/", "cost.")
    return path if path in FIELD_BY_PATH or path.startswith(("groups.", "prices.")) else ""


def _scenario_notes(plan: Plan) -> Iterator[Message]:
    for note in plan.scenario.notes:
        yield Message("source-note", "note", note.text, "", "", (note.source,), note.locator)


def _remote_gpus(plan: Plan) -> Iterator[Message]:
    """What the network leaves of the speed of remote GPUs, group by group, and the vendor's rules."""
    for use in plan.network.remote:
        if use.verdict == "good":
            continue
        yield Message(
            "network-slows-remote",
            "warn" if use.verdict == "bad" else "note",
            f"{use.name}: {use.workload_name} over the network keeps {percent(use.kept)} of its speed "
            f"({percent(use.kept_low)} to {percent(use.kept_high)}).",
            f"{capital('; '.join(use.changes))}.",
            f"groups.{use.id}.workload" if use.changes[0].startswith("no faster") else "network.link_gbit_s",
            use.sources,
        )
    for rule in plan.network.rules:
        if rule.met is False:
            trial = rule.code == "bitfusion-production"
            yield Message(
                rule.code,
                "note" if trial else "warn",
                f"{rule.text}.",
                "Take a faster link."
                if rule.path.endswith("link_gbit_s")
                else "Shorten the way between the hosts.",
                rule.path,
                rule.sources,
            )
        elif rule.met is None:
            yield Message(
                "latency-not-measured",
                "note",
                f"{rule.text}.",
                "Measure the round trip between a compute host and a GPU host, and enter it.",
                rule.path,
                rule.sources,
            )


def _carried(plan: Plan) -> Iterator[Message]:
    """For designs with remote GPUs: what one user keeps of usual work, and what the link does not carry."""
    if not plan.network.remote:
        return
    found = carried(plan.scenario, plan.catalog)
    good = [f"{c.remote.name} ({percent(c.remote.kept)})" for c in found if c.remote.verdict == "good"]
    bad = [f"{c.remote.name} ({percent(c.remote.kept)})" for c in found if c.remote.verdict == "bad"]
    apart = [
        f"{c.training.name} ({percent(c.training.efficiency)})"
        for c in found
        if c.training is not None and c.training.verdict == "bad"
    ]
    link = (
        f"{plan.scenario.network.link_gbit_s} Gbit/s with {TRANSPORT_NAMES[plan.scenario.network.transport]}"
    )
    text = (
        f"For one user of a remote GPU, {link} typically carries {', '.join(good)}."
        if good
        else f"{link} carries no remote work well."
    )
    if bad:
        text += f" It does not carry {', '.join(bad)}."
    if apart:
        hosts = next(c.training.hosts for c in found if c.training is not None)
        text += f" Training on {hosts} hosts is not carried for {', '.join(apart)}."
    yield Message(
        "network-carries",
        "note",
        text,
        "Compare with the work the customer has in mind; larger batches lose less.",
        "network.link_gbit_s",
        ("bitfusion-pytorch-measurements", "gpuless-thesis"),
    )


def _training_network(plan: Plan) -> Iterator[Message]:
    own, hardware = plan.network.training[-1], plan.scenario.hardware
    if own.verdict == "bad":
        yield Message(
            "job-not-carried",
            "warn",
            f"The training job: {own.workload_name} on {own.hosts} hosts reaches {percent(own.efficiency)} of what its GPUs do "
            f"alone ({percent(own.efficiency_low)} to {percent(own.efficiency_high)}).",
            f"{capital('; '.join(own.changes) or 'take larger batches, or fewer GPUs')}.",
            "training.workload",
            tuple(s for s in own.sources if s != "scenario"),
        )
    if plan.pools and (own.hosts > plan.totals.hosts or own.gpus_per_host > hardware.gpus_per_host):
        yield Message(
            "job-larger-than-design",
            "warn",
            f"The training job takes {own.hosts} hosts with {own.gpus_per_host} GPUs each; the design has {plan.totals.hosts} with "
            f"{hardware.gpus_per_host}.",
            "Make the job smaller, or read its figures as those of another design.",
            "training.hosts",
        )
    for use in plan.network.training[:-1]:
        if use.verdict == "good":
            continue
        yield Message(
            "network-slows-training",
            "warn" if use.verdict == "bad" else "note",
            f"{use.name}: {use.workload_name} in {use.hosts} VMs, each in a host of its own, reaches {percent(use.efficiency)} of what its GPUs do alone "
            f"({percent(use.efficiency_low)} to {percent(use.efficiency_high)}).",
            f"{capital('; '.join(use.changes))}. VMs that stand in one host lose less.",
            "network.link_gbit_s",
            use.sources,
        )


def _fabric(plan: Plan) -> Iterator[Message]:
    fabric, network = plan.cabling, plan.scenario.network
    if fabric is None:
        return
    if fabric.switches is None:
        yield Message(
            "no-switch",
            "note",
            f"No switches are counted: {fabric.reason}.",
            "Choose another link, or name the switches.",
            "network.link_gbit_s",
        )
    elif network.transport == "roce-v1" and fabric.switches.shape.leaves > 2:
        yield Message(
            "roce-v1-does-not-route",
            "warn",
            f"RoCE v1 stays in one broadcast domain, and this fabric has {fabric.switches.shape.leaves} leaves.",
            "Take RoCE v2, or stretch one VLAN through all leaves and spines.",
            "network.transport",
            _rule(plan, "roce-versions"),
        )
    elif network.spine and not fabric.switches.shape.spines:
        yield Message(
            "spine-not-needed",
            "note",
            "One pair of leaves holds every host, so the spine that is named is not used.",
            "Leave the spine empty, or count the compute hosts that are on the same switches.",
            "network.spine",
        )
    kinds = (("GPU", fabric.ports), ("compute", fabric.compute_ports))
    for kind, ports in ((kind, ports.total) for kind, ports in kinds if ports and ports.total > MANY_PORTS):
        yield Message(
            "many-ports",
            "warn",
            f"A {kind} host would need {ports} network ports of {network.link_gbit_s} Gbit/s.",
            "Take a faster link, or check what is stated of other traffic.",
            "network.link_gbit_s",
        )
    remote = any(g.mode == "bitfusion" for g in plan.groups)
    if remote and network.transport == "infiniband":
        yield Message(
            "bitfusion-infiniband",
            "warn",
            "The user guide names TCP/IP and RoCE between Bitfusion client and server; only the reference architecture names "
            "InfiniBand.",
            "Ask the vendor, or take RoCE or PVRDMA.",
            "network.transport",
            _rule(plan, "bitfusion-transport"),
        )
    jumbo = network.transport in ("roce", "roce-v1", "pvrdma") or (remote and network.transport == "tcp")
    if network.mtu_bytes < 9000 and jumbo:
        yield Message(
            "small-frames",
            "note",
            f"An MTU of {network.mtu_bytes:,} costs about 5 % of the link, and processor time that is not counted here.",
            "Set 9,000 on every adapter, distributed switch and physical switch.",
            "network.mtu_bytes",
            _rule(plan, "rdma-jumbo"),
        )


def _cost_basis(plan: Plan) -> Iterator[Message]:
    """What the cost leaves out, and prices that are old or assumed."""
    costs, use = plan.costs, plan.power
    if costs is None or use is None:
        return
    if costs.unknown:
        yield Message(
            "cost-excludes",
            "note",
            f"The cost excludes {'; '.join(item.name for item in costs.unknown)}: nobody knows the price.",
            "Ask for a quote, and state the price.",
            f"prices.{costs.unknown[0].key}",
        )
    if costs.not_counted:
        yield Message(
            "cost-not-counted",
            "note",
            f"The cost excludes what cannot be counted. {'. '.join(costs.not_counted)}.",
            "Choose another link or other switches, or a rack that may be given more power.",
            "network.link_gbit_s" if use.racks else "cost.rack_kw",
        )
    if old := [price for price in costs.prices if price.old]:
        yield Message(
            "prices-old",
            "note",
            f"{_of_prices(old, costs)} older than a year on {costs.as_of}: {'; '.join(price.name for price in old)}.",
            "Ask for new quotes, the dearest parts first.",
            f"prices.{old[0].key}",
            _price_sources(old),
        )
    if assumed := [price for price in costs.prices if price.fact.basis == "assumed"]:
        yield Message(
            "prices-assumed",
            "note",
            f"{_of_prices(assumed, costs)} assumed: {'; '.join(price.name for price in assumed)}.",
            "Ask for a quote: a stated price counts as quoted.",
            f"prices.{assumed[0].key}",
            _price_sources(assumed),
        )


def _of_prices(found: Sequence[Price], costs: Costs) -> str:
    return f"{len(found)} of {counted(len(costs.prices), 'price')} {'is' if len(found) == 1 else 'are'}"


def _price_sources(found: Sequence[Price]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s for price in found for s in price.fact.sources if s != SCENARIO_SOURCE))


def _cost(plan: Plan) -> Iterator[Message]:
    costs, use = plan.costs, plan.power
    if costs is None or use is None:
        return
    if costs.growth_left_out is not None:
        yield Message(
            "growth-beyond-horizon",
            "warn",
            f"From year {costs.growth_left_out} on the groups grow beyond what one design can hold; the cost counts the hosts of the "
            "year before.",
            "Look at fewer years, or divide the groups over several designs.",
            "cost.years",
        )
    if not use.racks:
        limit = next(i for i in plan.lines["power.hosts_per_rack"].inputs if i.name == "rack_kw")
        yield Message(
            "host-over-rack-limit",
            "warn",
            f"One host draws {watts(use.host_peak_w)} at full load, or is higher than a rack; a rack may be given "
            f"{number(limit.value)} kW. Space is not counted.",
            "Take racks with more power, or fewer GPUs per host.",
            "cost.rack_kw",
            tuple(s for s in limit.sources if s != SCENARIO_SOURCE),
        )
    claimed = plan.catalog.assumptions["silo-gpu-utilisation"].fact("utilisation_pct")
    if plan.totals.gpus_demanded and costs.utilisation < float(claimed.high or 0) / 100:
        yield Message(
            "utilisation-low",
            "note",
            f"The GPUs are used {percent(costs.utilisation)} of the time. GPUs bound to single machines are said to reach {claimed.low:g} to "
            f"{claimed.high:g} %, so sharing gains nothing here.",
            "Ask for the usual share that is active, its hours, and who else could use the GPUs.",
            "cost.utilisation",
            claimed.sources,
        )


def _rule(plan: Plan, rule_id: str) -> tuple[str, ...]:
    """Sources of a rule of the catalog."""
    sources: tuple[str, ...] = plan.catalog.row("rules", rule_id)["source"]
    return sources


_CHECKS = (
    _nothing_asked,
    _unplaced,
    _after_failure,
    _busiest_hours,
    _lent_between_modes,
    _waiting,
    _count_and_placement,
    _stranded,
    _sharing,
    _counted,
    _vmotion,
    _maintenance_bet,
    _bitfusion,
    _remote_gpus,
    _carried,
    _training_network,
    _fabric,
    _server,
    _cluster_size,
    _gpu_support,
    _assignment,
    _stated_total,
    _scenario_notes,
    _version,
    _cost,
    _cost_basis,
    _assumed,
)
