"""Allocation: the access mode and the profile of each group, and what this GPU on this vSphere version allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Any, TypeVar

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.facts import Fact, derived
from gpuplan.models import access, availability, demand, placement, sharing
from gpuplan.plan.results import GroupPlan, Line, Reason, RuledOut, SharingMode, Trail, Trait, Unplaced
from gpuplan.scenario import Group, Scenario
from gpuplan.units import MIB_PER_GIB, exact

T = TypeVar("T")

BACKINGS = {"vgpu": "timesliced", "mig": "mig"}


def allocate(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    group: Group,
    vms: Line,
    gpus: Line,
    gpus_left: Fraction | None,
) -> GroupPlan:
    """The access mode and the profile of a group, and how many of its VMs are within the stated total."""
    at = f"groups.{group.id}"
    gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
    share = share_each(group)
    profiles = {backing: profiles_of(catalog, gpu.id, backing, version) for backing in ("timesliced", "mig")}
    fitting = {backing: _smallest(catalog, gpu.id, backing, version.id, share) for backing in profiles}
    chosen, limits = _access(scenario, catalog, group, fitting)
    texts = {row.id: row for row in catalog.rows("access_reasons")}
    words = {"gpu": gpu.name, "vsphere": version.name, **limits}

    def reason(code: str) -> Reason:
        row = texts[code]
        text = str(row["text"])
        for word, meaning in words.items():
            text = text.replace(f"{{{word}}}", str(meaning))
        return Reason(code, text, row.basis, row.sources, row.locator)

    backing = BACKINGS.get(chosen.mode, "")
    profile = fitting[backing] if backing else None
    fits = vms.value
    if gpus_left is not None:
        fits = demand.admitted_vms(vms.value, gpus_each=group.gpus_each, gpus_left=float(gpus_left))
    unplaced = []
    if not chosen.mode and vms.value:
        unplaced.append(_unplaced(group, vms.value, "no-mode-possible", reason(chosen.reasons[0]).text))
    elif fits < vms.value:
        why = "the groups before it use up the customer's stated total"
        unplaced.append(_unplaced(group, vms.value - fits, "beyond-stated-total", why))
    frame_buffer_mb = 0
    if profile:
        vgpus = group.vgpus_each if share < 1 else int(group.gpus_each)
        frame_buffer_mb = vgpus * profile.frame_buffer_mb
        _profile_line(trail, scenario, group, profile, profiles[backing][profile], _most(scenario, profile))
    stun_s = None
    if profile and version.value("vgpu_vmotion"):
        stun_s = _stun(trail, catalog, version.id, group, frame_buffer_mb)
    use_case = catalog.row("use_cases", group.use_case)
    return GroupPlan(
        id=group.id,
        name=group.name,
        letter=_letter(scenario, catalog, group),
        use_case=str(use_case["name"]),
        mode=chosen.mode,
        reasons=tuple(reason(code) for code in chosen.reasons),
        ruled_out=tuple(RuledOut(mode, possible, reason(code)) for mode, code, possible in chosen.ruled_out),
        traits=_traits(catalog, chosen.mode, version),
        active=trail.lines[f"{at}.active"].value,
        vms=vms.value,
        vms_placed=fits if chosen.mode else 0,
        gpus_each=group.gpus_each,
        vgpus_each=group.vgpus_each,
        demand_gpus=gpus.value,
        profile=profile.name if profile else "",
        profile_reason=_profile_reason(scenario, group, profile),
        backing=backing,
        frame_buffer_mb=frame_buffer_mb,
        stun_s=stun_s,
        pool="",
        unplaced=tuple(unplaced),
    )


def share_each(group: Group) -> float:
    """Share of a GPU that each vGPU of a VM has; 1 for whole GPUs."""
    return float(min(Fraction(1), exact(group.gpus_each) / group.vgpus_each))


def _access(
    scenario: Scenario,
    catalog: Catalog,
    group: Group,
    fitting: Mapping[str, sharing.Profile | None],
) -> tuple[access.Access, dict[str, int]]:
    """The access mode of a group, and the limits of this version that its reasons name."""
    version = catalog.vsphere[scenario.platform.vsphere]
    offered = "" if scenario.platform.bitfusion else "bitfusion-not-chosen"
    if not offered and version.value("bitfusion_server") == "not supported":
        offered = "bitfusion-version"
    limits = {name: int(version.value(name) or 0) for name in ("max_vgpus_per_vm", "max_passthrough_per_vm")}
    known_most = scenario.hardware.gpus_per_host  # where no source names a limit, the host is one
    chosen = access.access_mode(
        group.gpus_each,
        vgpus_each=group.vgpus_each,
        distributed=group.vms_each > 1,
        remote_allowed=group.remote_allowed,
        low_latency=group.low_latency,
        isolation=group.isolation,
        wish=group.access,
        bitfusion_offered=offered,
        vgpu_profile=fitting["timesliced"] is not None,
        mig_profile=fitting["mig"] is not None,
        max_vgpus_per_vm=limits["max_vgpus_per_vm"] or known_most,
        several_fractional_vgpus=bool(version.value("multi_vgpu_fractional")),
        max_passthrough_per_vm=limits["max_passthrough_per_vm"] or known_most,
    )
    return chosen, limits


def _unplaced(group: Group, vms: int, code: str, reason: str) -> Unplaced:
    return Unplaced(group.id, vms, demand.group_demand_gpus(vms, gpus_each=group.gpus_each), code, reason)


def _most(scenario: Scenario, profile: sharing.Profile) -> int:
    """How many of a profile one GPU holds in the chosen mode."""
    mixed = scenario.platform.vgpu_sizes == "mixed" and not profile.compute_slices
    return profile.max_per_gpu_mixed if mixed else profile.max_per_gpu


def _profile_line(
    trail: Trail, scenario: Scenario, group: Group, profile: sharing.Profile, row: Row, most: int
) -> None:
    column = "max_per_gpu" if most == profile.max_per_gpu else "max_per_gpu_mixed"
    count = Fact(
        key=f"profiles/{profile.name}/{column}",
        value=most,
        unit="1",
        low=None,
        high=None,
        basis=row.basis,
        sources=row.sources,
        locator=row.locator,
        note=row.note,
    )
    at = f"groups.{group.id}"
    inputs: dict[str, Fact | Line] = {"gpus_each": scenario.fact(f"{at}.gpus_each"), "max_per_gpu": count}
    formula = "{gpus_each} GPU per VM: {value}, {max_per_gpu} of it on a GPU"
    if share_each(group) < 1 and group.vgpus_each > 1:
        inputs["vgpus_each"] = scenario.fact(f"{at}.vgpus_each")
        formula = "{gpus_each} GPU per VM in {vgpus_each} vGPUs: {value}, {max_per_gpu} of it on a GPU"
    label = f"{group.name}: vGPU profile"
    trail.record(f"{at}.profile", label, "", sharing.smallest_profile, formula, profile.name, inputs)


def _stun(trail: Trail, catalog: Catalog, version: str, group: Group, frame_buffer_mb: int) -> float:
    """Stun of one VM of the group when vMotion moves it, all its frame buffer being in use."""
    measured = stun_item(catalog, version)
    used = derived(
        f"groups/{group.id}/frame buffer of a VM",
        frame_buffer_mb / MIB_PER_GIB,
        "GB",
        "all vGPUs of the VM, fully used",
    )
    line = trail.compute(
        f"groups.{group.id}.stun_s",
        f"{group.name}: stun while a VM is moved",
        "s",
        availability.stun_time_s,
        "{fixed_s} s + {frame_buffer_gb} GB / {copy_rate_gb_s} GB/s = {value} s",
        frame_buffer_gb=used,
        fixed_s=measured.fact("fixed_s"),
        copy_rate_gb_s=measured.fact("copy_rate_gb_s"),
    )
    return float(line.value)


def stun_item(catalog: Catalog, version: str) -> Item:
    """What was measured about the stun by vMotion, for this vSphere version where it was."""
    return catalog.assumptions.get(f"vmotion-stun-10g-{version}") or catalog.assumptions["vmotion-stun-10g"]


def _profile_reason(scenario: Scenario, group: Group, profile: sharing.Profile | None) -> str:
    if profile is None:
        return ""
    share = exact(share_each(group))
    if profile.whole and share == 1:
        return "the whole frame buffer of " + ("a GPU" if group.gpus_each <= 1 else "each GPU")
    each = f"{group.vgpus_each} in each VM, " if group.vgpus_each > 1 else ""
    fit = f"{each}the smallest that gives at least {share} of a GPU; {_most(scenario, profile)} fit on a GPU"
    if profile.compute_slices:
        fit += f", each with {profile.compute_slices} of {profile.gpu_slices} compute slices"
    return fit


def profiles_of(catalog: Catalog, gpu: str, backing: str, version: Item) -> Mapping[sharing.Profile, Row]:
    """Profiles of a GPU that this vSphere version has, each with its catalog row."""
    return _profiles_of(catalog, gpu, backing, version.id)


@lru_cache(maxsize=1024)
def _smallest(
    catalog: Catalog, gpu: str, backing: str, version_id: str, share: float
) -> sharing.Profile | None:
    """The smallest profile that gives at least a share of a GPU."""
    return sharing.smallest_profile(share, profiles=list(_profiles_of(catalog, gpu, backing, version_id)))


@lru_cache(maxsize=512)
def _profiles_of(catalog: Catalog, gpu: str, backing: str, version_id: str) -> Mapping[sharing.Profile, Row]:
    version = catalog.vsphere[version_id]
    if backing == "mig" and not version.value("mig_backed_vgpu"):
        return {}
    order = _version_order(catalog)
    found = {}
    slices = max((int(row["compute_slices"] or 0) for row in catalog.profiles_of(gpu)), default=0)
    for row in catalog.profiles_of(gpu):
        needs = row["min_vsphere"]
        media_only = str(row["mig_profile"] or "").endswith("me")
        if row["backing"] == backing and not media_only and (not needs or order[needs] <= order[version.id]):
            profile = sharing.Profile(
                str(row["profile"]),
                int(row["frame_buffer_mb"]),
                int(row["max_per_gpu"]),
                backing == "timesliced" and bool(row["full_frame_buffer"]),
                int(row["compute_slices"]) if backing == "mig" else 0,
                slices if backing == "mig" else 0,
                int(row["max_per_gpu_mixed"] or 0),
            )
            found[profile] = row
    return found


def _version_order(catalog: Catalog) -> dict[str, int]:
    """Order of release of the vSphere versions."""
    return {version.id: int(version.fact("order").value) for version in catalog.vsphere.values()}


def _traits(catalog: Catalog, mode: str, version: Item) -> tuple[Trait, ...]:
    """What a mode keeps and gives up on this vSphere version."""
    order = _version_order(catalog)
    now = order[version.id]
    return tuple(
        Trait(str(row["feature"]), str(row["verdict"]), str(row["text"]), row.basis, row.sources)
        for row in catalog.rows("modes")
        if row["mode"] == mode
        and (not row["vsphere_from"] or order[row["vsphere_from"]] <= now)
        and (not row["vsphere_until"] or order[row["vsphere_until"]] >= now)
    )


def _letter(scenario: Scenario, catalog: Catalog, group: Group) -> str:
    """A letter for the pictures, unique in the scenario; its place in the list where no letter is left."""
    return _letters(catalog, tuple((g.id, g.use_case, g.name) for g in scenario.groups))[group.id]


@lru_cache(maxsize=64)
def _letters(catalog: Catalog, groups: tuple[tuple[str, str, str], ...]) -> Mapping[str, str]:
    """The letter of each group of (id, use case, name)."""
    preset = {row.id: str(row["letter"]) for row in catalog.rows("use_cases")}
    found: dict[str, str] = {}
    taken: set[str] = set()
    for place, (group_id, use_case, name) in enumerate(groups, 1):
        wishes = [
            preset[use_case],
            *(c.upper() for c in name if c.isascii() and c.isalpha()),
            *"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        ]
        found[group_id] = next((c for c in wishes if c not in taken), str(place))
        taken.add(found[group_id])
    return found


def with_pool(plan: GroupPlan, scenario: Scenario, groups: Sequence[GroupPlan]) -> GroupPlan:
    """The group with the pool of hosts that serves it."""
    pool = {"vgpu": "vgpu", "mig": "vgpu", "passthrough": "passthrough"}.get(plan.mode, "")
    if plan.mode == "bitfusion":
        wish = scenario.platform.bitfusion_servers
        local = any(g.mode in ("vgpu", "mig") for g in groups)
        pool = "vgpu" if wish == "vgpu" or (wish == "auto" and local) else "bitfusion"
    return replace(plan, pool=pool)


def requests_of(
    trail: Trail, scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan]
) -> dict[str, placement.Request]:
    """What each group asks the hosts for; who can share a GPU depends on which profiles are asked for."""
    by_profile = _families(scenario, catalog, groups)
    asked = {group.id: group for group in scenario.groups}
    found = {}
    for plan in groups:
        if not plan.vms_placed:
            continue
        group = asked[plan.id]
        request = placement.Request(
            plan.id, plan.vms_placed, vcpus=group.vcpus_each or 0, memory_gib=group.memory_gib_each or 0
        )
        if share_each(group) == 1:
            request = request._replace(gpus=int(group.gpus_each))
        elif plan.mode == "bitfusion":
            memory = catalog.gpus[scenario.hardware.gpu].fact("memory_gib")
            share = trail.compute(
                f"groups.{plan.id}.share_mb",
                f"{plan.name}: GPU memory per VM",
                "MB",
                sharing.memory_share_mb,
                "{gpus_each} of {memory_gib} GiB, in whole MB = {value}",
                gpus_each=scenario.fact(f"groups.{plan.id}.gpus_each"),
                memory_gib=memory,
            )
            capacity = int(memory.value * MIB_PER_GIB)
            request = request._replace(
                family=placement.Family("bitfusion", capacity=capacity), weight=share.value
            )
        else:
            request = request._replace(
                family=by_profile[plan.profile], profile=plan.profile, shares=group.vgpus_each
            )
        found[plan.id] = request
    return found


def work_fact(scenario: Scenario, catalog: Catalog, group: Group) -> Fact:
    """How long a piece of work of a group takes: stated, or the catalog's planning value."""
    if group.work_h is None:
        return catalog.assumptions["duration-of-work"].fact("work_h")
    return scenario.fact(f"groups.{group.id}.work_h")


def held_gpus(scenario: Scenario, catalog: Catalog, group: Group, plan: GroupPlan) -> float:
    """GPUs that one VM of a group really takes: a share that does not fill a GPU takes what a GPU holds of its like."""
    share = exact(share_each(group))
    if share == 1:
        return float(group.gpus_each)
    if plan.profile:
        row = next(r for r in catalog.profiles_of(scenario.hardware.gpu) if r["profile"] == plan.profile)
        mixed = scenario.platform.vgpu_sizes == "mixed" and plan.backing == "timesliced"
        return group.vgpus_each / int(row["max_per_gpu_mixed" if mixed else "max_per_gpu"])
    return group.vgpus_each / (1 / share).__floor__()


def room_of(scenario: Scenario, gpus: int) -> placement.Room:
    """What a host with so many GPUs offers; what no group or no host states is not counted."""
    hardware = scenario.hardware
    return placement.Room(
        gpus,
        (hardware.vcpus_per_host or 0) if any(g.vcpus_each for g in scenario.groups) else 0,
        (hardware.memory_gib_per_host or 0) if any(g.memory_gib_each for g in scenario.groups) else 0,
    )


FEW_VMS = 2000
"""Placements of more VMs are large (10 MB for 10,000 hosts), so few of them are remembered."""


def remembered(work: Callable[..., T]) -> Callable[..., T]:
    """Remembers what follows from the requests that it is given first: of few VMs the last 256 answers, of more the last 4."""
    few, many = lru_cache(maxsize=256)(work), lru_cache(maxsize=4)(work)

    @wraps(work)
    def known(requests: tuple[placement.Request, ...], *rest: Any) -> T:
        return (few if sum(request.vms for request in requests) <= FEW_VMS else many)(requests, *rest)

    return known


@remembered
def placed_varied(
    requests: tuple[placement.Request, ...],
    room: placement.Room,
    existing: tuple[placement.Room, ...],
    spare: int = 0,
) -> placement.Placement:
    """``placement.place_mixed``, remembered: postures and designs that differ elsewhere ask for the same ones."""
    return placement.place_mixed(requests, room=room, existing=existing, spare=spare)


def existing_rooms(
    scenario: Scenario, by_pool: Mapping[str, list[str]], groups: Sequence[GroupPlan]
) -> dict[str, tuple[placement.Room, ...]]:
    """Hosts already there join the pool with the largest demand."""
    hardware = scenario.hardware
    if not by_pool or not hardware.existing_hosts:
        return {}
    home = max(by_pool, key=lambda p: sum(g.demand_gpus for g in groups if g.pool == p))
    room = room_of(scenario, hardware.existing_gpus_per_host or hardware.gpus_per_host)
    return {home: (room,) * hardware.existing_hosts}


def _families(
    scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan]
) -> dict[str, placement.Family]:
    """For each profile that is asked for, the profiles that can be on one GPU with it."""
    asked = {plan.profile: plan.backing for plan in groups if plan.vms_placed and plan.profile}
    most = {str(row["profile"]): row for row in catalog.profiles_of(scenario.hardware.gpu)}
    found: dict[str, placement.Family] = {}
    for backing, together in (("timesliced", "mixed sizes"), ("mig", "MIG layouts")):
        wanted = tuple(name for name in most if asked.get(name) == backing)
        pieces, region, compute_slices = pieces_of(scenario, catalog, wanted)
        if pieces:
            in_order = backing == "mig"
            layouts = sharing.gpu_layouts(
                pieces, region=region, compute_slices=compute_slices, lowest_start=in_order
            )
            family = placement.Family(
                wanted[0] if len(wanted) == 1 else together,
                wanted,
                layouts,
                sizes=tuple(
                    100 * piece.size + piece.compute for piece in pieces
                ),  # memory first, then compute
                in_order=in_order,
            )
            found.update(dict.fromkeys(wanted, family))
        else:  # one size per GPU
            mixed = scenario.platform.vgpu_sizes == "mixed" and backing == "timesliced"
            column = "max_per_gpu_mixed" if mixed else "max_per_gpu"
            found |= {name: placement.Family(name, (name,), ((int(most[name][column]),),)) for name in wanted}
    return found


def pieces_of(
    scenario: Scenario, catalog: Catalog, profiles: Sequence[str]
) -> tuple[tuple[sharing.Piece, ...], int, int]:
    """(pieces, length of a GPU, compute slices) of profiles that can be on one GPU together; no pieces if they cannot, or no source has their start positions.

    Time-sliced profiles share a GPU in mixed-size mode only. The length is in placement ids, or in memory slices for MIG.
    """
    gpu = catalog.gpus[scenario.hardware.gpu]
    rows = {str(row["profile"]): row for row in catalog.profiles_of(gpu.id)}
    backings = {rows[name]["backing"] for name in profiles}
    if backings == {"mig"}:
        return _mig_pieces(catalog, gpu.id, rows, profiles)
    if backings == {"timesliced"} and scenario.platform.vgpu_sizes == "mixed":
        return _mixed_pieces(catalog, gpu, rows, profiles)
    return (), 0, 0


def _mig_pieces(
    catalog: Catalog, gpu: str, rows: Mapping[str, Row], profiles: Sequence[str]
) -> tuple[tuple[sharing.Piece, ...], int, int]:
    placements = {str(r["mig_profile"]): r for r in catalog.rows("mig_placements") if gpu in r["gpus"]}
    places = {name: placements.get(str(rows[name]["mig_profile"])) for name in profiles}
    pieces = tuple(
        sharing.Piece(
            name,
            int(row["memory_slices"]),
            _starts(row["start_positions"]),
            int(row["max_instances"]),
            int(row["compute_slices"]),
        )
        for name, row in places.items()
        if row is not None
    )
    if len(pieces) < len(profiles):
        return (), 0, 0
    whole = next(iter(placements.values()))
    return pieces, int(whole["memory_slices_total"]), int(whole["compute_slices_total"])


def _mixed_pieces(
    catalog: Catalog, gpu: Item, rows: Mapping[str, Row], profiles: Sequence[str]
) -> tuple[tuple[sharing.Piece, ...], int, int]:
    whole = max(row["frame_buffer_mb"] for row in rows.values() if row["backing"] == "timesliced")
    architecture = str(gpu.value("architecture"))
    placements = [
        row
        for row in catalog.rows("vgpu_placements")
        if _for_architecture(str(row["architecture"]), architecture)
    ]
    region = next((r for r in placements if r["frame_buffer_mb"] == whole and r["max_per_gpu"] == 1), None)
    if region is None:
        return (), 0, 0
    by_size = {r["frame_buffer_mb"]: r for r in placements if r["region_gb"] == region["region_gb"]}
    places = {name: by_size.get(rows[name]["frame_buffer_mb"]) for name in profiles}
    pieces = tuple(
        sharing.Piece(
            name, int(row["placement_size"]), _starts(row["placement_ids"]), int(row["max_per_gpu_mixed"])
        )
        for name, row in places.items()
        if row is not None
    )
    return (pieces, int(region["placement_size"]), 0) if len(pieces) == len(profiles) else ((), 0, 0)


def _starts(text: object) -> tuple[int, ...]:
    return tuple(int(start) for start in str(text).split())


def _for_architecture(rule: str, architecture: str) -> bool:
    """Whether a row for ``all``, ``Ada`` or ``except Ada`` holds for a GPU."""
    if rule.startswith("except "):
        return architecture != rule.removeprefix("except ")
    return rule in ("all", architecture)


def mixed_sizes_refused(scenario: Scenario, catalog: Catalog) -> Row | None:
    """The rule that excludes vGPUs of several sizes on one GPU, if there is one."""
    gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
    if not version.value("mixed_size_vgpu"):
        return catalog.row("rules", "timesliced-mixed-size")
    profiles = profiles_of(catalog, gpu.id, "timesliced", version)
    if profiles and not any(p.max_per_gpu_mixed for p in profiles):
        return catalog.row("rules", "mixed-size-boards")
    return None


def sharing_modes(scenario: Scenario, catalog: Catalog) -> tuple[SharingMode, ...]:
    """Every way to share GPUs, and whether this GPU on this vSphere version has it, with the rule."""
    gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
    timesliced = profiles_of(catalog, gpu.id, "timesliced", version)
    mig = profiles_of(catalog, gpu.id, "mig", version)
    unknown = gpu.value("vgpu_compute") == "unknown"

    def rule(id: str, name: str, verdict: str, row: Row, text: str = "") -> SharingMode:
        return SharingMode(id, name, verdict, text or str(row["rule"]), row.basis, row.sources)

    def facts(id: str, name: str, verdict: str, text: str, fact: Fact) -> SharingMode:
        return SharingMode(id, name, verdict, text, fact.basis, fact.sources)

    found = [
        rule("passthrough", "Passthrough, whole GPUs", "yes", catalog.row("rules", "passthrough-pinned")),
    ]
    if timesliced:
        equal = catalog.row("rules", "timesliced-equal-size")
        found.append(
            rule(
                "equal",
                "Time-sliced, equal size",
                "yes",
                equal,
                f"{equal['rule']} {len(timesliced)} profiles.",
            )
        )
        refused = mixed_sizes_refused(scenario, catalog)
        row = refused or catalog.row("rules", "mixed-size-placement-ids")
        mixed = replace(scenario, platform=replace(scenario.platform, vgpu_sizes="mixed"))
        listed = bool(pieces_of(mixed, catalog, [next(iter(timesliced)).name])[0])
        text = (
            ""
            if refused or listed
            else f"No source lists where vGPUs of {gpu.name} may start: one size per GPU."
        )
        verdict = "no" if refused else "yes" if listed else "unknown"
        found.append(rule("mixed", "Time-sliced, mixed sizes", verdict, row, text))
    else:
        fact = gpu.fact("vgpu_compute")
        text = (
            f"Whether {gpu.name} has compute profiles on vSphere is not known from a source."
            if unknown
            else f"{gpu.name} has no time-sliced compute profile."
        )
        found.append(facts("equal", "Time-sliced vGPU", "unknown" if unknown else "no", text, fact))
    if mig:
        slices = catalog.row("rules", "mig-slices")
        found.append(rule("mig", "MIG-backed", "yes", slices, f"{slices['rule']} {len(mig)} profiles."))
    elif gpu.value("mig_instances"):
        fact = version.fact("mig_backed_vgpu")
        text = (
            f"{version.name} does not support MIG-backed vGPUs."
            if not fact.value
            else f"No MIG-backed profile of {gpu.name} is known from a source."
        )
        found.append(facts("mig", "MIG-backed", "unknown" if fact.value else "no", text, fact))
    else:
        fact = (
            gpu.fact("mig_instances") if gpu.value("mig_instances") is not None else gpu.fact("architecture")
        )
        found.append(facts("mig", "MIG-backed", "no", f"{gpu.name} cannot be divided by MIG.", fact))
    several = version.fact("multi_vgpu_fractional")
    row = catalog.row("rules", "multi-vgpu-vsphere8" if several.value else "multi-vgpu-vsphere6-7")
    if timesliced or mig:
        verdict = "yes" if several.value else "no"
        if several.value and not several_vgpus_confirmed(scenario, catalog):
            verdict = "unknown"
        found.append(rule("several", "Several fractional vGPUs in a VM", verdict, row))
    offered = version.fact("bitfusion_server")
    verdict = {"supported": "yes", "not supported": "no"}.get(str(offered.value), "unknown")
    memory = catalog.row("rules", "bitfusion-memory-only")
    if verdict == "no":
        text = f"Bitfusion servers are not supported on {version.name}."
        found.append(facts("bitfusion", "Bitfusion, by memory", "no", text, offered))
    else:
        found.append(rule("bitfusion", "Bitfusion, by memory", verdict, memory))
    return tuple(found)


def several_vgpus_confirmed(scenario: Scenario, catalog: Catalog) -> bool:
    """Whether a source says that one VM can have several fractional vGPUs of this GPU."""
    rows = [r for r in catalog.profiles_of(scenario.hardware.gpu) if not r["full_frame_buffer"]]
    return bool(rows) and all(r["multi_vgpu_vsphere8"] for r in rows)
