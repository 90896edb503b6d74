"""Access: how each group reaches its GPUs, by which profile, and the features that this keeps and gives up."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from string import ascii_uppercase
from typing import NamedTuple

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.facts import Brief, Fact
from gpuplan.models import access, availability, demand, sharing
from gpuplan.plan.inputs import derived
from gpuplan.plan.sharing import most_on_gpu, share_each, version_order
from gpuplan.plan.trail import Line, Trail
from gpuplan.plan.weighing import Weighed, filled, listed, stun_item, vm_frame_buffer_mb, vm_stun_s
from gpuplan.scenario import Group, Scenario, slug
from gpuplan.units import MIB_PER_GIB, exact
from gpuplan.wording import said


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason in words, and its source."""

    code: str
    sentence: str
    basis: str
    sources: tuple[str, ...]
    locator: str = ""
    words: Mapping[str, object] = field(default_factory=dict, repr=False, compare=False)
    """Values for the gaps in the sentence."""

    @property
    def text(self) -> str:
        """The sentence; comparisons of modes are planned when it is read."""
        return filled(self.sentence, self.words)

    def _asdict(self) -> dict[str, object]:
        said = {"code": self.code, "text": self.text, "basis": self.basis}
        return {**said, "sources": self.sources, "locator": self.locator}


@dataclass(frozen=True, slots=True)
class RuledOut:
    """An access mode that was not taken; ``possible`` if it would have worked."""

    mode: str
    possible: bool
    reason: Reason


@dataclass(frozen=True, slots=True)
class Trait:
    """A feature that an access mode keeps or gives up: vMotion, DRS, HA restart and so on."""

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


@dataclass(frozen=True, slots=True, repr=False)
class GroupPlan(Brief):
    """A workload group with its access mode and its requests."""

    id: str
    name: str
    letter: str
    use_case: str
    mode: str
    reasons: tuple[Reason, ...]
    against: tuple[Reason, ...]
    """Reasons against the mode, or its costs."""
    ruled_out: tuple[RuledOut, ...]
    traits: tuple[Trait, ...]
    facts: tuple[str, ...]
    """Facts of the group in its mode that the rules use."""
    active: int
    vms: int
    vms_placed: int
    gpus_each: float
    vgpus_each: int
    demand_gpus: float
    profile: str
    profile_reason: str
    backing: str
    """Sharing of a GPU by the profile: ``timesliced`` or ``mig``; empty without a profile."""
    scheduler: str
    """``fixed-share`` where the share of compute is guaranteed by it, else empty."""
    frame_buffer_mb: int
    """Frame buffer of all vGPUs of one VM; 0 where the mode has none."""
    stun_s: float | None
    """Longest stun of one VM in vMotion; None where it cannot be moved, or the stun is not known."""
    pool: str
    unplaced: tuple[Unplaced, ...]

    @property
    def vgpus(self) -> int:
        """vGPUs of one VM: as requested, and at least one for each whole GPU; 0 without a profile."""
        return max(self.vgpus_each, round(self.gpus_each)) if self.profile else 0

    @property
    def stun_not_known(self) -> bool:
        """True if vMotion moves its VMs, and the stun is not known."""
        return bool(self.backing) and "stun not known" in self.facts


BACKINGS = {"vgpu": "timesliced", "mig": "mig"}


class Wanted(NamedTuple):
    """Demand of a group: active users, VMs, and total GPUs."""

    active: int
    vms: int
    gpus: float


def allocate(
    trail: Trail | None,
    scenario: Scenario,
    catalog: Catalog,
    group: Group,
    weighed: Weighed,
    wanted: Wanted,
    gpus_left: Fraction | None,
) -> GroupPlan:
    """Choose access mode and profile of a group, and count its VMs that are within the stated total.

    Without a trail there are no lines, and no stun time, which follows from one.
    """
    chosen = weighed.chosen
    reasons = tuple(_reason(catalog, code, weighed.words) for code in chosen.reasons)
    fits, code = wanted.vms, "beyond-stated-total"
    why = said("plan.total used up")
    if not chosen.mode:
        fits, code, why = 0, "no-mode-possible", reasons[0].text
    elif gpus_left is not None:
        fits = demand.admitted_vms(wanted.vms, gpus_each=group.gpus_each, gpus_left=float(gpus_left))
    missing = wanted.vms - fits
    missing_gpus = demand.group_demand_gpus(missing, gpus_each=group.gpus_each)
    backing = BACKINGS.get(chosen.mode, "")
    profile, frame_buffer_mb = weighed.profiles.get(backing), 0
    if profile:
        frame_buffer_mb = vm_frame_buffer_mb(group, profile)
        _profile_line(trail, scenario, catalog, group, profile)
    alone = profile is not None and profile.max_per_gpu == 1
    fixed = chosen.mode == "vgpu" and weighed.takes_fixed_share and not alone
    return GroupPlan(
        id=group.id,
        name=group.name,
        letter="",
        use_case=str(catalog.row("use_cases", group.use_case)["name"]),
        mode=chosen.mode,
        reasons=reasons,
        against=tuple(_reason(catalog, code, weighed.words) for code in chosen.against),
        ruled_out=tuple(
            RuledOut(mode, possible, _reason(catalog, code, weighed.words))
            for mode, code, possible in chosen.ruled_out
        ),
        traits=(),
        facts=tuple(name for name in (*access.FACTS, *access.LATE_FACTS) if name in chosen.facts),
        active=wanted.active,
        vms=wanted.vms,
        vms_placed=fits,
        gpus_each=group.gpus_each,
        vgpus_each=group.vgpus_each,
        demand_gpus=wanted.gpus,
        profile=profile.name if profile else "",
        profile_reason=_profile_reason(scenario, group, profile),
        backing=backing,
        scheduler="fixed-share" if fixed else "",
        frame_buffer_mb=frame_buffer_mb,
        stun_s=_stun(trail, scenario, catalog, group, weighed, frame_buffer_mb),
        pool="",
        unplaced=(Unplaced(group.id, missing, missing_gpus, code, why),) if missing else (),
    )


def _reason(catalog: Catalog, code: str, words: Mapping[str, object]) -> Reason:
    row = catalog.row("access_rules", code)
    return Reason(code, str(row["text"]), row.basis, row.sources, row.locator, words)


def _profile_line(
    trail: Trail | None, scenario: Scenario, catalog: Catalog, group: Group, profile: sharing.Profile
) -> None:
    if trail is None:
        return
    here, at = trail.about(f"groups.{group.id}", name=group.name), f"groups.{group.id}"
    if group.profile:
        named = scenario.fact(f"{at}.profile")
        here.record("profile", sharing.profile_gpus, profile.name, when="stated", profile=named)
        return
    most, rows = most_on_gpu(scenario, profile), catalog.profiles_of(scenario.hardware.gpu)
    row = next(row for row in rows if row["profile"] == profile.name)
    column = "max_per_gpu" if most == profile.max_per_gpu else "max_per_gpu_mixed"
    count = replace(row.fact(column), key=f"profiles/{profile.name}/{column}", value=most)
    inputs: dict[str, Fact | Line] = {"gpus_each": scenario.fact(f"{at}.gpus_each"), "max_per_gpu": count}
    several = share_each(group) < 1 and group.vgpus_each > 1
    if several:
        inputs["vgpus_each"] = scenario.fact(f"{at}.vgpus_each")
    here.record("profile", sharing.smallest_profile, profile.name, inputs, when="several" * several)


def _stun(
    trail: Trail | None, scenario: Scenario, catalog: Catalog, group: Group, weighed: Weighed, used_mb: int
) -> float | None:
    """Stun of one VM in vMotion, with all its frame buffer in use; None where it is not moved, or not known.

    The alternative to passthrough has a line, too.
    """
    as_vgpu = weighed.profiles["timesliced"]
    weighed_against = weighed.chosen.mode == "passthrough" and as_vgpu is not None
    if weighed_against and as_vgpu:
        used_mb = vm_frame_buffer_mb(group, as_vgpu)
    stun_s = vm_stun_s(scenario, catalog, group, used_mb) if used_mb else None
    if stun_s is None or trail is None:
        return None
    here = trail.about(f"groups.{group.id}", name=group.name)
    key = "stun_as_vgpu_s" if weighed_against else "stun_s"
    if group.stun_read_s is not None:
        read = scenario.fact(f"groups.{group.id}.stun_read_s")
        here.record(key, availability.stun_time_s, stun_s, when="read", stun_read_s=read)
        return None if weighed_against else stun_s
    measured = stun_item(catalog, scenario.platform.vsphere, scenario.hardware.gpu)
    used_gb = used_mb / MIB_PER_GIB
    used = derived(f"groups/{group.id}/frame buffer of a VM", used_gb, "frame buffer of a VM")
    inputs = {"frame_buffer_gb": used, **{n: measured.fact(n) for n in ("fixed_s", "copy_rate_gb_s")}}
    line = here.compute(key, availability.stun_time_s, inputs)
    return None if weighed_against else float(line.value)


def _profile_reason(scenario: Scenario, group: Group, profile: sharing.Profile | None) -> str:
    if profile is None:
        return ""
    if not profile.max_per_gpu:
        return said("plan.profile of two sizes")
    share = exact(share_each(group))
    if profile.whole:
        what = said("plan.profile whole" if group.gpus_each <= 1 else "plan.profile whole each")
        return what if share == 1 else said("plan.profile none smaller", what=what, share=share)
    slices, every = profile.compute_slices, profile.gpu_slices
    key = "plan.profile nearest" if slices < share * every else "plan.profile smallest"
    what = said(
        "plan.profile stated" if group.profile else key, share=share, most=most_on_gpu(scenario, profile)
    )
    if group.vgpus_each > 1:
        what = said("plan.profile in each VM", vgpus=group.vgpus_each, what=what)
    return said("plan.profile slices", what=what, slices=slices, every=every) if slices else what


def _traits(
    catalog: Catalog, mode: str, facts: tuple[str, ...], version: Item, words: Mapping[str, object]
) -> tuple[Trait, ...]:
    """Return the features that an access mode keeps and gives up with these facts on this vSphere version."""
    rows = _trait_rows(catalog, mode, facts, version.id)
    return tuple(
        Trait(
            str(row["feature"]), str(row["verdict"]), filled(str(row["text"]), words), row.basis, row.sources
        )
        for row in rows
    )


@lru_cache(maxsize=256)  # each group asks twice: without it a plan makes 3 % more calls
def _trait_rows(catalog: Catalog, mode: str, facts: tuple[str, ...], version_id: str) -> tuple[Row, ...]:
    """The rows on an access mode that apply with these facts on this vSphere version."""
    order, fact_set = version_order(catalog), frozenset(facts)
    now = order[version_id]
    return tuple(
        row
        for row in catalog.rows("modes")
        if row["mode"] == mode
        and access.holds(listed(row["when"]), facts=fact_set)
        and (not row["vsphere_from"] or order[row["vsphere_from"]] <= now)
        and (not row["vsphere_until"] or order[row["vsphere_until"]] >= now)
    )


def of_kind(scenario: Scenario) -> str:
    """What ids of a further kind of hosts begin with; empty for the first kind."""
    return f"{slug(scenario.hardware.of)}-" if scenario.hardware.of else ""


def served_by(kind: str) -> str:
    """Return how the hosts of a pool serve its groups: ``vgpu``, ``passthrough``, ``bitfusion`` or ``gpu``."""
    return kind.rpartition("-")[2]


def letters_of(groups: Sequence[Group]) -> dict[str, str]:
    """Return a letter of each workload's name, first those that begin a word; where all of them are taken any, then its place."""
    letters: dict[str, str] = {}
    for place, group in enumerate(groups, 1):
        words = re.findall("[A-Z]+", group.name.upper())
        wishes = (*(word[0] for word in words), *"".join(words), *ascii_uppercase)
        taken = letters.values()
        letters[group.id] = next((letter for letter in wishes if letter not in taken), str(place))
    return letters


SERVERS_ON_VGPU = "Bitfusion servers on vGPU"
"""Fact of groups with remote GPUs, once all groups have their mode."""


def with_pools(
    scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan], weighed: Mapping[str, Weighed]
) -> list[GroupPlan]:
    """Assign groups to the pools of hosts that serve them, with the effects on features, and letters."""
    letters, version = letters_of(scenario.groups), catalog.vsphere[scenario.platform.vsphere]
    servers = scenario.platform.bitfusion_servers
    local = any(group.mode in ("vgpu", "mig") for group in groups)
    shared = servers == "vgpu" or (servers == "auto" and local)
    pools = {
        "vgpu": "vgpu",
        "mig": "vgpu",
        "passthrough": "passthrough",
        "bitfusion": "vgpu" if shared else "bitfusion",
    }
    apart, plans = of_kind(scenario), []
    for group in groups:
        fed = (SERVERS_ON_VGPU,) * (group.mode == "bitfusion" and shared)
        facts = (*group.facts, *fed)
        traits = _traits(catalog, group.mode, facts, version, weighed[group.id].words)
        pool, letter = pools.get(group.mode, ""), letters[group.id]
        pool = f"{apart}{pool}" if pool else ""
        plans.append(replace(group, pool=pool, letter=letter, facts=facts, traits=traits))
    return plans
