"""Profiles: the vGPU or MIG profile that a group states by its name, and the GPUs per VM that follow from it."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.catalog.boards import profile_named
from gpuplan.locales import written
from gpuplan.models import sharing
from gpuplan.plan.sharing import all_profiles_of, version_order
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
ROUNDED = exact(0.005)
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
    found = _stated(catalog, scenario.hardware.gpu, scenario.platform.vsphere, str(group.profile))
    if isinstance(found, Problem):
        raise ScenarioError([replace(found, path=f"groups.{group.id}.profile")])
    return found


@lru_cache(maxsize=256)  # a group asks in each chapter that needs its profile
def _stated(catalog: Catalog, gpu: str, version: str, text: str) -> Stated | Problem:
    have = {
        name.lower(): (backing, profile)
        for backing in MODES
        for profile, row in all_profiles_of(catalog, gpu, backing, version).items()
        for name in (profile.name, str(row["mig_profile"] or profile.name))
    }
    counts = Counter[str]()
    for part in PLUS.split(text.strip().lower()):
        match = COUNTED.fullmatch(part)
        name, vgpus = match[2] if match else part, int(match[1] or 1) if match else 1
        if printed := profile_named(catalog, name):
            name, vgpus = printed.name.lower(), vgpus * printed.count
        name = MIG_PREFIX.sub("", name).replace(".me", "+me")
        if name not in have:
            return _unknown(catalog, gpu, version, name, have)
        counts[have[name][1].name.lower()] += vgpus
    if len({have[name][0] for name in counts}) > 1:
        return problem("", show(text), "limit.backings of a VM")
    if len(counts) > 1 and not catalog.vsphere[version].value("multi_vgpu_fractional"):
        needed = _first(catalog, lambda one: bool(catalog.vsphere[one].value("multi_vgpu_fractional")))
        return problem(
            "", show(text), "limit.profiles of a VM", needed=needed, version=catalog.vsphere[version].name
        )
    parts = sorted(
        ((have[name][1], n) for name, n in counts.items()),
        key=lambda part: (-part[0].frame_buffer_mb, -part[0].compute_slices),
    )
    memory_mb = max(profile.frame_buffer_mb for _, profile in have.values())
    return Stated(have[next(iter(counts))][0], tuple(parts), memory_mb)


def _unknown(
    catalog: Catalog, gpu: str, version: str, name: str, have: Mapping[str, tuple[str, sharing.Profile]]
) -> Problem:
    """Say which version has a profile that this one lacks, or which profiles the board has."""
    board, now = catalog.gpus[gpu].name, catalog.vsphere[version].name

    def has(one: str) -> bool:
        names = {
            known.lower()
            for backing in MODES
            for profile, row in all_profiles_of(catalog, gpu, backing, one).items()
            for known in (profile.name, str(row["mig_profile"]))
        }
        return name in names

    if needed := _first(catalog, has):
        return problem("", show(name), "limit.profile version", gpu=board, needed=needed, version=now)
    if not have:
        return problem("", show(name), "limit.no profiles", gpu=board, version=now)
    known: dict[str, str] = {}
    for other, (_, profile) in have.items():
        known[profile.name] = profile.name if other == profile.name.lower() else f"{profile.name} ({other})"
    return problem("", show(name), "limit.profile", gpu=board, profiles=", ".join(known.values()))


def _first(catalog: Catalog, holds: Callable[[str], bool]) -> str:
    """Name of the first vSphere version of which something holds; empty if there is none."""
    order = version_order(catalog)
    return next((catalog.vsphere[one].name for one in sorted(order, key=order.__getitem__) if holds(one)), "")


def with_profiles(
    trail: Trail, scenario: Scenario, catalog: Catalog, uses_model: Callable[[Group], bool]
) -> Scenario:
    """Return the scenario with GPUs per VM, vGPUs per VM and access of each group as its stated profile gives them.

    For a language model it is the GPUs per replica. A ScenarioError names all groups whose profile cannot be had.
    """
    groups: list[Group] = []
    problems: list[Problem] = []
    for group in scenario.groups:
        try:
            of_model = uses_model(group)
            groups.append(_sized(trail, scenario, catalog, group, of_model) if group.profile else group)
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return replace(scenario, groups=tuple(groups)) if any(g.profile for g in groups) else scenario


def _sized(trail: Trail, scenario: Scenario, catalog: Catalog, group: Group, of_model: bool) -> Group:
    """Return a group as its profile gives it: what it states beside the profile has to agree with that."""
    at, stated = f"groups.{group.id}", stated_profile(scenario, catalog, group)
    mode = MODES[stated.backing]
    if group.access not in ("auto", mode):
        words = {"profile": stated.name, "mode": MODE_NAMES[mode]}
        raise ScenarioError([problem(f"{at}.access", group.access, "limit.profile mode", **words)])
    if stated.vgpus == 1 and group.vgpus_each > 1:
        stated = stated._replace(parts=((stated.parts[0][0], group.vgpus_each),))
    elif group.vgpus_each not in (1, stated.vgpus):
        words = {"profile": stated.name, "vgpus": stated.vgpus}
        raise ScenarioError([problem(f"{at}.vgpus_each", group.vgpus_each, "limit.profile vgpus", **words)])
    field = "replica_gpus" if of_model else "gpus_each"
    gpus, given = stated.gpus(of_model), getattr(group, field)
    if given not in (None, 1):
        if not stated.agrees(given):
            words = {"profile": stated.name, "gives": written(gpus, ".3g")}
            raise ScenarioError([problem(f"{at}.{field}", given, "limit.profile share", **words)])
        gpus = given
    elif stated.whole and stated.vgpus == 1:
        gpus = given  # of a model as many as it needs
    elif gpus != 1:
        line = trail.about(at, name=group.name).record(
            "profile_gpus", sharing.profile_gpus, gpus, profile=scenario.fact(f"{at}.profile")
        )
        trail.stand_in(f"{at}.{field}", line)
    vgpus = group.vgpus_each if stated.whole else stated.vgpus
    return replace(group, access=mode, vgpus_each=vgpus, **{field: gpus})
