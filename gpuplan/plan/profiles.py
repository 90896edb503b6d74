"""Profiles: the vGPU or MIG profile that a group states by its name, and the GPUs per VM that follow from it."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.catalog.boards import profile_named
from gpuplan.locales import written
from gpuplan.models import sharing
from gpuplan.models.gpu_layouts import gpu_layouts
from gpuplan.models.placement.packing import cover
from gpuplan.plan.sharing import all_profiles_of, most_on_gpu, pieces_of, version_order
from gpuplan.plan.trail import Trail
from gpuplan.scenario import Group, Problem, Scenario, ScenarioError, problem, show
from gpuplan.units import exact
from gpuplan.wording import MODE_NAMES

MODES = {"mig": "mig", "timesliced": "vgpu"}
"""Backing of a profile -> the access mode that gives it."""
MIG_PREFIX = re.compile(r"^(nvidia\.com/)?mig[- ]")
COUNTED = re.compile(r"(?:([1-9]\d?)\s*[x\u00d7*]\s+)?((?:mig )?\S+)")
"""How many of a profile, and its name."""
PLUS = re.compile(r"\s*\+\s*(?!me\b)")
"""Between two profiles; ``+me`` is part of the name of one."""
ROUNDED = Fraction(1, 200)
"""Share of a GPU that a stated number may be off by rounding."""


class Stated(NamedTuple):
    """The vGPUs of one VM as a group states them, all of one backing."""

    backing: str
    parts: tuple[tuple[sharing.Profile, int], ...]
    """Each profile and how many of it, largest first."""
    memory_mb: int
    """Frame buffer of the whole GPU."""

    @property
    def name(self) -> str:
        """The profiles by their names in the catalog."""
        return " + ".join(f"{n} x {one.name}" if n > 1 else one.name for one, n in self.parts)

    @property
    def profile(self) -> sharing.Profile:
        """Its profile; of two sizes both together, with the mean frame buffer, of which no other VM shares a GPU."""
        if len(self.parts) == 1:
            return self.parts[0][0]
        memory_mb = sum(n * one.frame_buffer_mb for one, n in self.parts) // self.vgpus
        return sharing.Profile(self.name, memory_mb, 0, False)

    @property
    def vgpus(self) -> int:
        """vGPUs of one VM."""
        return sum(n for _, n in self.parts)

    @property
    def whole(self) -> bool:
        """True for vGPUs with the whole frame buffer of a GPU."""
        return all(profile.whole for profile, _ in self.parts)

    def gpus(self, by_memory: bool = False) -> float:
        """GPUs that the vGPUs of a VM are, by their compute or by their frame buffer."""
        if not by_memory:
            return sharing.profile_gpus(self.parts)
        return float(Fraction(sum(n * one.frame_buffer_mb for one, n in self.parts), self.memory_mb))

    def agrees(self, gpus: float) -> bool:
        """True if a number of GPUs per VM is what the profile gives: between its shares of compute and memory."""
        if self.whole and self.vgpus == 1:
            return gpus >= 1
        ends = sorted(exact(self.gpus(by_memory)) for by_memory in (False, True))
        return ends[0] - ROUNDED <= exact(gpus) <= ends[1] + ROUNDED


def stated_profile(scenario: Scenario, catalog: Catalog, group: Group) -> Stated:
    """Return the profile that a group states; a ScenarioError names those that the board has on this version."""
    gpu, version = scenario.hardware.gpu, scenario.platform.vsphere
    return _stated(catalog, gpu, version, str(group.profile), f"groups.{group.id}.profile")


@lru_cache(maxsize=256)  # a group asks in each chapter that needs its profile
def _stated(catalog: Catalog, gpu: str, version: str, text: str, at: str) -> Stated:
    names, now = _names(catalog, gpu, version), catalog.vsphere[version].name
    have = {name.lower(): named for name, named in names.items()}
    counts = Counter[tuple[str, sharing.Profile]]()
    for part in PLUS.split(text.strip().lower()):
        match = COUNTED.fullmatch(part)
        name, vgpus = match[2] if match else part, int(match[1] or 1) if match else 1
        if printed := profile_named(catalog, name):
            name, vgpus = printed.name.lower(), vgpus * printed.count
        name = MIG_PREFIX.sub("", name).replace(".me", "+me")
        if name not in have:
            raise ScenarioError([_no_profile(catalog, gpu, version, at, name)])
        counts[have[name]] += vgpus
    if len({backing for backing, _ in counts}) > 1:
        raise ScenarioError([problem(at, show(text), "limit.backings of a VM")])
    if len(counts) > 1 and not catalog.vsphere[version].value("multi_vgpu_fractional"):
        needed = _first(catalog, lambda one: bool(catalog.vsphere[one].value("multi_vgpu_fractional")))
        words = {"needed": needed, "version": now}
        raise ScenarioError([problem(at, show(text), "limit.profiles of a VM", **words)])
    parts = sorted(((one, n) for (_, one), n in counts.items()), key=lambda part: -part[0].frame_buffer_mb)
    memory_mb = max(profile.frame_buffer_mb for _, profile in have.values())
    return Stated(next(iter(counts))[0], tuple(parts), memory_mb)


def _no_profile(catalog: Catalog, gpu: str, version: str, at: str, name: str) -> Problem:
    """A profile that the board does not have on this version, and the version that has it."""
    names = _names(catalog, gpu, version)
    needed = _first(catalog, lambda one: name in map(str.lower, _names(catalog, gpu, one)))
    words = {"gpu": catalog.gpus[gpu].name, "profiles": ", ".join(names), "needed": needed}
    key = "limit.profile version" if needed else "limit.profile" if names else "limit.no profiles"
    return problem(at, show(name), key, version=catalog.vsphere[version].name, **words)


def _names(catalog: Catalog, gpu: str, version: str) -> dict[str, tuple[str, sharing.Profile]]:
    """Return (backing, profile) of a board on a version by each name: that of the vGPU, and that of its MIG instance."""
    return {
        str(name): (backing, profile)
        for backing in MODES
        for profile, row in all_profiles_of(catalog, gpu, backing, version).items()
        for name in (profile.name, row["mig_profile"] or profile.name)
    }


def _first(catalog: Catalog, holds: Callable[[str], bool]) -> str:
    """Name of the first vSphere version of which something holds; empty if there is none."""
    order = version_order(catalog)
    return next((catalog.vsphere[one].name for one in sorted(order, key=order.__getitem__) if holds(one)), "")


def own_gpus(scenario: Scenario, catalog: Catalog, group: Group) -> int:
    """Return the GPUs of a VM with vGPUs of two sizes, which has them for itself."""
    parts = stated_profile(scenario, catalog, group).parts
    pieces, region, compute = pieces_of(scenario, catalog, [one.name for one, _ in parts])
    if not pieces:
        return sum(-(-n // most_on_gpu(scenario, one)) for one, n in parts)
    layouts = gpu_layouts(pieces, region=region, compute_slices=compute, in_order=bool(compute))
    return cover([n for _, n in parts], layouts=layouts).bins


def vgpus_named(profile: str, vgpus: int) -> tuple[str, ...]:
    """Profile of each vGPU of a VM, whose profile may name two sizes."""
    parts = [part.rpartition(" x ") for part in profile.split(" + ")]
    names = tuple(name for count, _, name in parts for _ in range(int(count or 1)))
    return names if len(parts) > 1 else names * max(1, vgpus)


def with_profiles(
    trail: Trail, scenario: Scenario, catalog: Catalog, uses_model: Callable[[Group], bool]
) -> Scenario:
    """Return the scenario with GPUs per VM, vGPUs per VM and access of each group as its stated profile gives them.

    For a language model it is the GPUs per replica. A ScenarioError names all groups whose profile cannot be had.
    """
    if not any(group.profile for group in scenario.groups):
        return scenario
    groups, problems = [], list[Problem]()
    for group in scenario.groups:
        try:
            field = "replica_gpus" if uses_model(group) else "gpus_each"
            groups.append(_sized(trail, scenario, catalog, group, field) if group.profile else group)
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return replace(scenario, groups=tuple(groups))


def _sized(trail: Trail, scenario: Scenario, catalog: Catalog, group: Group, field: str) -> Group:
    """Return a group as its profile gives it: what it states beside the profile has to agree with that."""
    at, stated = f"groups.{group.id}", stated_profile(scenario, catalog, group)
    if stated.vgpus == 1:
        stated = stated._replace(parts=((stated.parts[0][0], group.vgpus_each),))
    mode, given, gpus = MODES[stated.backing], getattr(group, field), stated.gpus(field == "replica_gpus")
    gives = written(gpus, ".3g")
    words = {"profile": stated.name, "mode": MODE_NAMES[mode], "vgpus": stated.vgpus, "gives": gives}
    wrong = (
        ("access", "limit.profile mode", group.access not in ("auto", mode)),
        ("vgpus_each", "limit.profile vgpus", group.vgpus_each not in (1, stated.vgpus)),
        (field, "limit.profile share", given not in (None, 1) and not stated.agrees(given)),
    )
    if refused := [(one, key) for one, key, holds in wrong if holds]:
        raise ScenarioError(problem(f"{at}.{one}", getattr(group, one), key, **words) for one, key in refused)
    if given not in (None, 1) or (stated.whole and stated.vgpus == 1):
        gpus = given  # of a model as many whole ones as it needs
    elif gpus != 1:
        named, here = scenario.fact(f"{at}.profile"), trail.about(at, name=group.name)
        trail.stand_in(
            f"{at}.{field}", here.record("profile_gpus", sharing.profile_gpus, gpus, profile=named)
        )
    vgpus = group.vgpus_each if stated.whole else stated.vgpus
    size: dict[str, Any] = {field: gpus}
    return replace(group, access=mode, vgpus_each=vgpus, **size)
