"""Access: how each group reaches its GPUs, by which profile, and what that keeps and gives up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.facts import Fact, derived
from gpuplan.models import access, availability, demand, sharing
from gpuplan.plan.sharing import most_on_gpu, profiles_of, share_each, smallest_profile, version_order
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import Group, Scenario
from gpuplan.units import MIB_PER_GIB, exact


@dataclass(frozen=True, slots=True)
class Reason:
    """Why, in words, and where it is written."""

    code: str
    text: str
    basis: str
    sources: tuple[str, ...]
    locator: str = ""


@dataclass(frozen=True, slots=True)
class RuledOut:
    """An access mode that was not taken; ``possible`` if it would have worked."""

    mode: str
    possible: bool
    reason: Reason


@dataclass(frozen=True, slots=True)
class Trait:
    """What an access mode keeps or gives up: vMotion, DRS, HA restart and so on."""

    feature: str
    verdict: str
    text: str
    basis: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unplaced:
    """VMs that have no GPU, and why."""

    group: str
    vms: int
    gpus: float
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """A workload group with its access mode and what it asks for."""

    id: str
    name: str
    letter: str
    use_case: str
    mode: str
    reasons: tuple[Reason, ...]
    ruled_out: tuple[RuledOut, ...]
    traits: tuple[Trait, ...]
    active: int
    vms: int
    vms_placed: int
    gpus_each: float
    vgpus_each: int
    demand_gpus: float
    profile: str
    profile_reason: str
    backing: str
    """How the profile shares a GPU: ``timesliced`` or ``mig``; empty without a profile."""
    frame_buffer_mb: int
    """Frame buffer of all vGPUs of one VM; 0 where the mode has none."""
    stun_s: float | None
    """Longest stun of one VM while vMotion moves it; None where it cannot be moved."""
    pool: str
    unplaced: tuple[Unplaced, ...]


BACKINGS = {"vgpu": "timesliced", "mig": "mig"}


def allocate(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    group: Group,
    active: int,
    vms: int,
    demand_gpus: float,
    gpus_left: Fraction | None,
) -> GroupPlan:
    """The access mode and the profile of a group with so many VMs, and how many of them are within the stated total."""
    gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
    profiles = {backing: profiles_of(catalog, gpu.id, backing, version) for backing in ("timesliced", "mig")}
    fitting = {
        backing: smallest_profile(catalog, gpu.id, backing, version.id, share_each(group))
        for backing in profiles
    }
    chosen, limits = _access(scenario, catalog, group, fitting)
    words = {"gpu": gpu.name, "vsphere": version.name, **limits}
    reasons = tuple(_reason(catalog, code, words) for code in chosen.reasons)
    fits = vms
    if gpus_left is not None:
        fits = demand.admitted_vms(vms, gpus_each=group.gpus_each, gpus_left=float(gpus_left))
    if chosen.mode:
        missing, code = vms - fits, "beyond-stated-total"
        why = "the groups before it use up the customer's stated total"
    else:
        missing, code, why = vms, "no-mode-possible", reasons[0].text
    missing_gpus = demand.group_demand_gpus(missing, gpus_each=group.gpus_each)
    backing = BACKINGS.get(chosen.mode, "")
    profile, frame_buffer_mb, stun_s = fitting.get(backing), 0, None
    if profile:
        vgpus = group.vgpus_each if share_each(group) < 1 else int(group.gpus_each)
        frame_buffer_mb = vgpus * profile.frame_buffer_mb
        _profile_line(
            trail, scenario, group, profile, profiles[backing][profile], most_on_gpu(scenario, profile)
        )
        if version.value("vgpu_vmotion"):
            stun_s = _stun(trail, catalog, version.id, group, frame_buffer_mb)
    return GroupPlan(
        id=group.id,
        name=group.name,
        letter="",
        use_case=str(catalog.row("use_cases", group.use_case)["name"]),
        mode=chosen.mode,
        reasons=reasons,
        ruled_out=tuple(
            RuledOut(mode, possible, _reason(catalog, code, words))
            for mode, code, possible in chosen.ruled_out
        ),
        traits=_traits(catalog, chosen.mode, version),
        active=active,
        vms=vms,
        vms_placed=fits if chosen.mode else 0,
        gpus_each=group.gpus_each,
        vgpus_each=group.vgpus_each,
        demand_gpus=demand_gpus,
        profile=profile.name if profile else "",
        profile_reason=_profile_reason(scenario, group, profile),
        backing=backing,
        frame_buffer_mb=frame_buffer_mb,
        stun_s=stun_s,
        pool="",
        unplaced=(Unplaced(group.id, missing, missing_gpus, code, why),) if missing else (),
    )


def _reason(catalog: Catalog, code: str, words: Mapping[str, object]) -> Reason:
    """A reason in words."""
    row = catalog.row("access_reasons", code)
    text = str(row["text"])
    for word, meaning in words.items():
        text = text.replace(f"{{{word}}}", str(meaning))
    return Reason(code, text, row.basis, row.sources, row.locator)


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


def _profile_line(
    trail: Trail, scenario: Scenario, group: Group, profile: sharing.Profile, row: Row, most: int
) -> None:
    column = "max_per_gpu" if most == profile.max_per_gpu else "max_per_gpu_mixed"
    key = f"profiles/{profile.name}/{column}"
    count = Fact(key, most, "1", None, None, row.basis, row.sources, row.locator, row.note)
    at = f"groups.{group.id}"
    inputs: dict[str, Fact | Line] = {"gpus_each": scenario.fact(f"{at}.gpus_each"), "max_per_gpu": count}
    several = share_each(group) < 1 and group.vgpus_each > 1
    if several:
        inputs["vgpus_each"] = scenario.fact(f"{at}.vgpus_each")
    here, when = trail.about(at, name=group.name), "several" * several
    here.record("profile", sharing.smallest_profile, profile.name, inputs, when=when)


def _stun(trail: Trail, catalog: Catalog, version: str, group: Group, frame_buffer_mb: int) -> float:
    """Stun of one VM of the group when vMotion moves it, all its frame buffer being in use."""
    measured = stun_item(catalog, version)
    used = derived(
        f"groups/{group.id}/frame buffer of a VM",
        frame_buffer_mb / MIB_PER_GIB,
        "GB",
        "all vGPUs of the VM, fully used",
    )
    line = trail.about(f"groups.{group.id}", name=group.name).compute(
        "stun_s",
        availability.stun_time_s,
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
    fit = f"{each}the smallest that gives at least {share} of a GPU; {most_on_gpu(scenario, profile)} fit on a GPU"
    if profile.compute_slices:
        fit += f", each with {profile.compute_slices} of {profile.gpu_slices} compute slices"
    return fit


def _traits(catalog: Catalog, mode: str, version: Item) -> tuple[Trait, ...]:
    """What a mode keeps and gives up on this vSphere version."""
    order = version_order(catalog)
    now = order[version.id]
    return tuple(
        Trait(str(row["feature"]), str(row["verdict"]), str(row["text"]), row.basis, row.sources)
        for row in catalog.rows("modes")
        if row["mode"] == mode
        and (not row["vsphere_from"] or order[row["vsphere_from"]] <= now)
        and (not row["vsphere_until"] or order[row["vsphere_until"]] >= now)
    )


def _letters(scenario: Scenario, catalog: Catalog) -> dict[str, str]:
    """A letter for each group in the pictures, unique in the scenario; its place in the list where no letter is left."""
    preset = {row.id: str(row["letter"]) for row in catalog.rows("use_cases")}
    found: dict[str, str] = {}
    taken: set[str] = set()
    for place, group in enumerate(scenario.groups, 1):
        wishes = [
            preset[group.use_case],
            *(c.upper() for c in group.name if c.isascii() and c.isalpha()),
            *"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        ]
        found[group.id] = next((c for c in wishes if c not in taken), str(place))
        taken.add(found[group.id])
    return found


def with_pools(scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan]) -> list[GroupPlan]:
    """The groups with the pools of hosts that serve them, and their letters."""
    letters = _letters(scenario, catalog)
    servers = scenario.platform.bitfusion_servers
    local = any(group.mode in ("vgpu", "mig") for group in groups)
    shared = servers == "vgpu" or (servers == "auto" and local)
    pools = {
        "vgpu": "vgpu",
        "mig": "vgpu",
        "passthrough": "passthrough",
        "bitfusion": "vgpu" if shared else "bitfusion",
    }
    return [replace(g, pool=pools.get(g.mode, ""), letter=letters[g.id]) for g in groups]
