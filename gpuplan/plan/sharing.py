"""Sharing: profiles of a GPU on this vSphere version, those that fit on one GPU together, and every way to share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from gpuplan.catalog import Catalog, Item, Row, load_catalog
from gpuplan.facts import Fact
from gpuplan.models import sharing
from gpuplan.models.gpu_layouts import Piece, layout_starts
from gpuplan.models.placement import Family
from gpuplan.scenario import Group, Scenario
from gpuplan.units import exact
from gpuplan.wording import NAMES, said


def share_each(group: Group) -> float:
    """Share of a GPU that each vGPU of a VM has; 1 for whole GPUs."""
    return float(min(Fraction(1), exact(group.gpus_each) / group.vgpus_each))


@lru_cache(maxsize=512)  # each group asks twice: without it a plan makes 4 to 8 % more calls
def smallest_profile(
    catalog: Catalog, gpu: str, backing: str, version_id: str, share: float
) -> sharing.Profile | None:
    """The smallest profile that gives at least a share of a GPU."""
    return sharing.smallest_profile(share, profiles=list(profiles_of(catalog, gpu, backing, version_id)))


@lru_cache(maxsize=512)  # each group asks for them: without it `explore` takes a tenth longer
def profiles_of(catalog: Catalog, gpu: str, backing: str, version_id: str) -> Mapping[sharing.Profile, Row]:
    """Profiles of a GPU that this vSphere version has, each with its catalog row."""
    every = all_profiles_of(catalog, gpu, backing, version_id)
    return {one: row for one, row in every.items() if not str(row["mig_profile"] or "").endswith("me")}


def all_profiles_of(
    catalog: Catalog, gpu: str, backing: str, version_id: str
) -> Mapping[sharing.Profile, Row]:
    """Profiles of a GPU that this vSphere version has, also those for media, which only a group's own wish takes."""
    version = catalog.vsphere[version_id]
    if backing == "mig" and not version.value("mig_backed_vgpu"):
        return {}
    order = version_order(catalog)
    profiles = {}
    slices = max((int(row["compute_slices"] or 0) for row in catalog.profiles_of(gpu)), default=0)
    for row in catalog.profiles_of(gpu):
        needs = row["min_vsphere"]
        if row["backing"] == backing and (not needs or order[needs] <= order[version.id]):
            profile = sharing.Profile(
                str(row["profile"]),
                int(row["frame_buffer_mb"]),
                int(row["max_per_gpu"]),
                backing == "timesliced" and bool(row["full_frame_buffer"]),
                int(row["compute_slices"]) if backing == "mig" else 0,
                slices if backing == "mig" else 0,
                int(row["max_per_gpu_mixed"] or 0),
            )
            profiles[profile] = row
    return profiles


def supports_board(version: Item, gpu: Item) -> bool:
    """True if a vSphere version serves vGPUs of a board: one that a source lists for it, or any if none lists them."""
    listed = version.value("vgpu_boards")
    return listed is None or any(gpu.name.startswith(name.strip()) for name in str(listed).split(","))


def whole_profile(scenario: Scenario, catalog: Catalog, group: Group, gpu: str) -> str:
    """Name the vGPU profile that gives VMs of a group whole GPUs of a board; empty if there is none, they have parts, or
    their own profile is stated."""
    version = catalog.vsphere[scenario.platform.vsphere]
    if group.profile or share_each(group) < 1 or not supports_board(version, catalog.gpus[gpu]):
        return ""
    profile = smallest_profile(catalog, gpu, "timesliced", version.id, 1.0)
    return profile.name if profile else ""


def year_of(date: object) -> float:
    """An ISO day, month or year as a number of years."""
    year, month = f"{date}-01".split("-")[:2]
    return int(year) + (int(month) - 1) / 12


def unconfirmed_on(catalog: Catalog, gpu: Item, version: Item) -> str:
    """Say why dates cast doubt on a board on a vSphere version, though no source does; empty without doubt."""
    order, launched = version_order(catalog), gpu.value("launched")
    if not launched:
        return ""
    ended = version.value("end_of_general_support")
    if ended and year_of(launched) > year_of(ended):
        return said("sharing.support ended", day=ended)
    older = [v for v in catalog.vsphere.values() if v.value("released") and order[v.id] <= order[version.id]]
    released = max((str(v.value("released")) for v in older), default="")
    years = float(catalog.row("factors", "board_version_years")["value"])
    early = released and year_of(launched) - year_of(released) > years
    return said("sharing.first released", day=released) if early else ""


def nvswitch_version(catalog: Catalog, gpu: Item, version: Item) -> Item | None:
    """The first vSphere version that serves vGPUs of a board in hosts with NVSwitch; None where this one does, or there is none."""
    architecture = str(gpu.value("architecture"))

    def serves(one: Item) -> bool:
        return architecture in str(one.value("nvswitch_architectures") or "").split(", ")

    if serves(version):
        return None
    order = version_order(catalog)
    return min(filter(serves, catalog.vsphere.values()), key=lambda one: order[one.id], default=None)


def version_order(catalog: Catalog) -> dict[str, int]:
    """Order of release of the vSphere versions."""
    return {version.id: int(version.fact("order").value) for version in catalog.vsphere.values()}


def most_on_gpu(scenario: Scenario, profile: sharing.Profile) -> int:
    """Return the most VMs of a profile on one GPU in the chosen mode."""
    mixed = scenario.platform.vgpu_sizes == "mixed" and not profile.compute_slices
    return profile.max_per_gpu_mixed if mixed else profile.max_per_gpu


def pieces_of(
    scenario: Scenario, catalog: Catalog, profiles: Sequence[str]
) -> tuple[tuple[Piece, ...], int, int]:
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


def starts_of(
    scenario: Scenario, catalog: Catalog, profiles: Sequence[str], counts: Sequence[int]
) -> list[tuple[str, tuple[int, ...]]] | None:
    """(profile, its starts) of a layout on a GPU, None where no source lists them.

    On a MIG GPU the larger instances come first, each at the lowest start that is free.
    """
    pieces, region, compute_slices = pieces_of(scenario, catalog, profiles)
    if not pieces:
        return None
    on_it = [(piece, n) for piece, n in zip(pieces, counts, strict=True) if n]
    if compute_slices:
        on_it.sort(key=lambda one: (-one[0].size, -one[0].compute))
    kinds = [piece for piece, _ in on_it]
    starts = layout_starts([n for _, n in on_it], pieces=kinds, region=region, compute_slices=compute_slices)
    return [(piece.name, where) for piece, where in zip(kinds, starts, strict=True)]


def more_that_fit(family: Family, counts: Sequence[int]) -> list[tuple[int, str]]:
    """(how many more, profile) that fit on a GPU with these counts; running MIG instances may block larger ones."""
    around = [lay for lay in family.layouts if all(a >= b for a, b in zip(lay, counts, strict=True))]
    sizes = family.sizes or (0,) * len(counts)
    least = min((size for size, n in zip(sizes, counts, strict=True) if n), default=0)
    found = []
    for at, (name, n) in enumerate(zip(family.profiles, counts, strict=True)):
        too_large = family.in_order and sizes[at] > least
        more = 0 if too_large else max((lay[at] for lay in around), default=n) - n
        found += [(more, name)] * bool(more)
    return found


def _mig_pieces(
    catalog: Catalog, gpu: str, rows: Mapping[str, Row], profiles: Sequence[str]
) -> tuple[tuple[Piece, ...], int, int]:
    placements = {str(r["mig_profile"]): r for r in catalog.rows("mig_placements") if gpu in r["gpus"]}
    places = {name: placements.get(str(rows[name]["mig_profile"])) for name in profiles}
    pieces = tuple(
        Piece(
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
) -> tuple[tuple[Piece, ...], int, int]:
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
        Piece(name, int(row["placement_size"]), _starts(row["placement_ids"]), int(row["max_per_gpu_mixed"]))
        for name, row in places.items()
        if row is not None
    )
    return (pieces, int(region["placement_size"]), 0) if len(pieces) == len(profiles) else ((), 0, 0)


def _starts(text: object) -> tuple[int, ...]:
    return tuple(int(start) for start in str(text).split())


def _for_architecture(rule: str, architecture: str) -> bool:
    """True if a row for ``all``, ``Ada`` or ``except Ada`` applies to a GPU."""
    if rule.startswith("except "):
        return architecture != rule.removeprefix("except ")
    return rule in ("all", architecture)


@dataclass(frozen=True, slots=True)
class SharingMode:
    """One way to share GPUs, and whether this GPU on this vSphere version has it."""

    id: str
    name: str
    verdict: str
    """``yes``, ``no`` or ``unknown``."""
    text: str
    basis: str
    sources: tuple[str, ...]


def sharing_modes(scenario: Scenario, catalog: Catalog | None = None) -> tuple[SharingMode, ...]:
    """Every way to share GPUs, and whether this GPU on this vSphere version has it, with the rule."""
    catalog = load_catalog() if catalog is None else catalog
    version = catalog.vsphere[scenario.platform.vsphere]
    profiles = {
        backing: profiles_of(catalog, scenario.hardware.gpu, backing, version.id)
        for backing in ("timesliced", "mig")
    }
    whole = catalog.row("rules", "passthrough-pinned")
    modes = [_mode("passthrough", "yes", whole["rule"], whole)]
    modes += _timesliced_modes(scenario, catalog, profiles["timesliced"])
    modes.append(_mig_mode(scenario, catalog, profiles["mig"]))
    if any(profiles.values()):
        several = bool(version.value("multi_vgpu_fractional"))
        row = catalog.row("rules", "multi-vgpu-vsphere8" if several else "multi-vgpu-vsphere6-7")
        confirmed = several_vgpus_confirmed(scenario, catalog)
        verdict = "no" if not several else "yes" if confirmed else "unknown"
        modes.append(_mode("several", verdict, row["rule"], row))
    offered, memory = version.fact("bitfusion_server"), catalog.row("rules", "bitfusion-memory-only")
    verdict = {"supported": "yes", "not supported": "no"}.get(str(offered.value), "unknown")
    if verdict == "no":
        text = said("sharing.no Bitfusion", version=version.name)
        return (*modes, _mode("bitfusion", verdict, text, offered))
    return (*modes, _mode("bitfusion", verdict, memory["rule"], memory))


def _mode(id: str, verdict: str, text: str, known: Row | Fact, name: str = "") -> SharingMode:
    return SharingMode(id, name or NAMES["sharing mode"][id], verdict, text, known.basis, known.sources)


def _timesliced_modes(
    scenario: Scenario, catalog: Catalog, profiles: Mapping[sharing.Profile, Row]
) -> Iterator[SharingMode]:
    gpu = catalog.gpus[scenario.hardware.gpu]
    if not profiles:
        fact = gpu.fact("vgpu_compute")
        unknown = fact.value == "unknown"
        text = said("sharing.profile unknown" if unknown else "sharing.no profile", gpu=gpu.name)
        yield _mode("equal", "unknown" if unknown else "no", text, fact, said("sharing.time-sliced"))
        return
    row = catalog.row("rules", "timesliced-equal-size")
    yield _mode("equal", "yes", said("sharing.profiles", rule=row["rule"], profiles=len(profiles)), row)
    refused = mixed_sizes_refused(scenario, catalog)
    mixed = replace(scenario, platform=replace(scenario.platform, vgpu_sizes="mixed"))
    listed = bool(pieces_of(mixed, catalog, [next(iter(profiles)).name])[0])
    row = refused or catalog.row("rules", "mixed-size-placement-ids")
    verdict, text = "no" if refused else "yes", row["rule"]
    if not refused and not listed:
        verdict, text = "unknown", said("sharing.one size", gpu=gpu.name)
    yield _mode("mixed", verdict, text, row)


def _mig_mode(scenario: Scenario, catalog: Catalog, profiles: Mapping[sharing.Profile, Row]) -> SharingMode:
    gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
    instances = gpu.value("mig_instances")
    if profiles:
        row = catalog.row("rules", "mig-slices")
        return _mode("mig", "yes", said("sharing.profiles", rule=row["rule"], profiles=len(profiles)), row)
    if not instances:
        fact = gpu.fact("architecture" if instances is None else "mig_instances")
        return _mode("mig", "no", said("sharing.no MIG", gpu=gpu.name), fact)
    backed = version.fact("mig_backed_vgpu")
    if backed.value:
        return _mode("mig", "unknown", said("sharing.MIG unknown", gpu=gpu.name), backed)
    return _mode("mig", "no", said("sharing.no MIG on version", version=version.name), backed)


def mixed_sizes_refused(scenario: Scenario, catalog: Catalog) -> Row | None:
    """The rule that excludes vGPUs of several sizes on one GPU, if there is one."""
    gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
    if not version.value("mixed_size_vgpu"):
        return catalog.row("rules", "timesliced-mixed-size")
    profiles = profiles_of(catalog, gpu.id, "timesliced", version.id)
    if profiles and not any(p.max_per_gpu_mixed for p in profiles):
        return catalog.row("rules", "mixed-size-boards")
    return None


def several_vgpus_confirmed(scenario: Scenario, catalog: Catalog) -> bool:
    """True if a source says that one VM can have several fractional vGPUs of this GPU."""
    rows = [r for r in catalog.profiles_of(scenario.hardware.gpu) if not r["full_frame_buffer"]]
    return bool(rows) and all(r["multi_vgpu_vsphere8"] for r in rows)
