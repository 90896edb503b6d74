"""Boards by name: what drivers, inventories, labels and vGPU profiles print, as ids of the catalog.

A name is a board's if it has the words by which the board is known and no word that the board does not have; else it is in
``gpu_names.csv``. A name of several boards gives all of them, and is never guessed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gpuplan.catalog.catalog import Catalog, Item, Row
from gpuplan.wording import said

FILLERS = frozenset(["gpu", "tensor", "core", "graphics", "accelerator"])
"""Words that say nothing of a board."""
DRIVER_SHARE = (0.9, 1.03)
"""Memory that a driver shows, as a share of a board's own: error correction and the driver take up to a tenth."""

_OPTIONAL = re.compile(r"pcie|sxm\d*|nvl\d*|fhhl|passive|active|ada|se|\d+gb")
"""Words of an id by which one board is told from another of its family."""
_MAKER = re.compile(r"(mock )?(nvidia[ _-]*(corporation|corp\.?)?[ _-]*)+", re.IGNORECASE)
_MIG = re.compile(r"-mig-\d+g\.\d+gb\S*$|-shared$", re.IGNORECASE)
_SPLITS = (
    (re.compile(r"rtx(?=a?\d)"), "rtx "),
    (re.compile(r"(?<=\d)(sxm\d*|pcie|nvl)\b"), r" \1"),
    (re.compile(r"\b(\d+) ?gi?b?\b"), r"\1gb"),
)
_VGPU = re.compile(
    r"(?:nvidia:(\d)@)?(?:(?:grid|nvidia)[ _])?(.+?)-(?:(\d)-)?(\d{1,3})([a-z]{1,3})(?:%nvlink)?"
)


@dataclass(frozen=True, slots=True)
class Profile:
    """A vGPU profile: its name as the catalog writes it (``H100XM-80C``) and the boards that have it, none if unknown."""

    name: str
    gpus: tuple[str, ...]
    memory_gb: int
    slices: int | None
    """Compute slices of its MIG instance; None without MIG."""
    count: int
    """Profiles of a device group; 1 for a single one."""


@lru_cache(maxsize=4096)  # a list of 1,000 hosts names each of its boards for every GPU
def boards_named(
    catalog: Catalog, name: str, *, memory_gib: float | None = None, pci_id: str = ""
) -> tuple[str, ...]:
    """Boards that a name may mean, ids of the catalog; none if no board has it, several if it does not tell them apart.

    The memory is as the driver or the hypervisor shows it; the PCI id may have a subsystem, as ``25B6:14A9``.
    """
    exact, by_pci = _printed(catalog)
    device = by_pci.get(pci_id.upper()) or by_pci.get(pci_id.upper().partition(":")[0], ())
    own = (name.lower(),) if name.lower() in catalog.gpus else ()
    named = own or exact.get(_key(name)) or exact.get(_key(_inner(name)), ())
    if not own and not _of_memory(catalog, named, memory_gib):
        named = tuple(boards_like(catalog, name))
    if device:
        named = tuple(id for id in named if id in device) or device
    return _of_memory(catalog, named, memory_gib)


def boards_like(catalog: Catalog, name: str, *, of_runs: bool = False) -> list[str]:
    """Boards whose words a name has, without the names of the catalog that follow no rule; those that share most of them.

    With ``of_runs`` also boards of published runs that no host is ordered with.
    """
    words, fits = _words(_inner(name)), []
    for id, (required, allowed, own) in _vocabularies(catalog).items():
        if required <= words <= allowed and (of_runs or id in catalog.gpus):
            fits.append((len(words & own), id))
    most = max(fits, default=(0, ""))[0]
    return [id for shared, id in fits if shared == most]


def told_apart_by(catalog: Catalog, boards: Sequence[str]) -> str:
    """What tells boards of one name apart, in words: memory size, PCI device id, or the full name."""
    sizes = {catalog.gpus[id].value("memory_gib") for id in boards}
    own = {of[0] for of in _printed(catalog)[1].values() if len(of) == 1}
    ways = ["memory"] * (len(sizes) == len(boards)) + ["pci"] * (own >= {*boards}) + ["name"]
    return said(f"boards.by.{ways[0]}")


def profile_named(catalog: Catalog, text: str) -> Profile | None:
    """Read the name of a vGPU profile, such as ``nvidia_h100xm-80c`` or ``GRID A100D-3-40C``, or of a device group; None if it is none."""
    match = _VGPU.fullmatch(text.strip().lower())
    if match is None:
        return None
    count, stem, slices, size, series = match.groups()
    key, gpus = _of_stem(catalog, re.sub("[_ ]", "-", stem))
    name = f"{key}-{slices}-{size}{series}" if slices else f"{key}-{size}{series}"
    rows = [row for id in gpus for row in catalog.profiles_of(id) if row["profile"].lower() == name]
    named = {row["gpu"]: str(row["profile"]) for row in rows}
    sizes = {id: float(str(catalog.gpus[id].value("memory_gib"))) for id in gpus}
    fits = tuple(named) or tuple(id for id in gpus if int(size) <= sizes[id] + 1)
    slots = int(slices) if slices else None
    return Profile(min(named.values(), default=name.upper()), fits, int(size), slots, int(count or 1))


def _of_stem(catalog: Catalog, key: str) -> tuple[str, tuple[str, ...]]:
    """The beginning of a profile's name without the name of a board before it, and the boards that have it."""
    board, _, last = key.rpartition("-")
    stems = _stems(catalog)
    if not stems.get(key) and last in stems:
        alike = boards_like(catalog, board)
        if gpus := tuple(id for id in stems[last] if id in alike):
            return last, gpus
    return key, stems.get(key, ())


@lru_cache(maxsize=4)
def _printed(catalog: Catalog) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    """Boards by names that are exact, and by PCI ids."""
    names, ids = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]]()
    for row in catalog.rows("gpu_names"):
        for known, key in (
            (names, _key(row["name"])),
            *((ids, pci) for pci in (row["pci_ids"] or "").split()),
        ):
            known[key] = tuple(dict.fromkeys((*known.get(key, ()), *row["gpus"])))
    return names, ids


@lru_cache(maxsize=4)
def _stems(catalog: Catalog) -> Mapping[str, tuple[str, ...]]:
    """Boards by the beginning of their profiles, such as ``h100xm``."""
    stems: dict[str, tuple[str, ...]] = {}
    for row in catalog.rows("profiles"):
        stem = re.sub(r"-(\d-)?\d+[a-z]+$|-whole-gpu$", "", str(row["profile"]).lower())
        if row["gpu"] not in stems.get(stem, ()):
            stems[stem] = (*stems.get(stem, ()), row["gpu"])
    return stems


def _inner(name: str) -> str:
    """Name in the brackets of the PCI database, after the chip's; labels' endings for shares and instances are left out."""
    match = re.search(r"\[(.+)\]", name)
    if match and re.match(r"\s*(\w+ )?[A-Z]{2}\d{3}(GL)?\s", name.replace("[", " ", 1)):
        name = match[1]
    return _MIG.sub("", name.strip())


def _key(name: str) -> str:
    return " ".join(re.findall(r"[a-z0-9/]+", name.lower()))


def _words(name: str) -> frozenset[str]:
    text = " ".join(re.findall(r"[a-z0-9.]+", _MAKER.sub(" ", name).lower()))
    for pattern, to in _SPLITS:
        text = pattern.sub(to, text)
    return frozenset(text.split()) - FILLERS


@lru_cache(maxsize=4)
def _vocabularies(catalog: Catalog) -> Mapping[str, tuple[frozenset[str], frozenset[str], frozenset[str]]]:
    boards: dict[str, Item | Row] = {**catalog.gpus, **{row.id: row for row in catalog.rows("llm_boards")}}
    return {id: _vocabulary(id, board) for id, board in boards.items()}


def _vocabulary(id: str, board: Item | Row) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Words that a board's name must have, those it may have, and those of its id."""
    own = _words(id.replace("-", " "))
    facts = dict(board.facts) if isinstance(board, Item) else {}
    value = {name: str(fact.value).lower() for name, fact in facts.items()}
    required = frozenset(word for word in own if not _OPTIONAL.fullmatch(word))
    if any(re.fullmatch(r"[a-z]+\d+[a-z]*", word) for word in required) or "pro" in required:
        required -= {"rtx"}
    form = value.get("form_factor", "")
    name = board.name if isinstance(board, Item) else str(board["name"])
    allowed = own | _words(name) | {form, re.sub(r"\d+", "", form), "hgx" * form.startswith("sxm")}
    allowed |= {value.get("memory_type", ""), value.get("architecture", ""), "tesla" * ("rtx" not in own)}
    if "memory_gib" in value:
        size, each = float(value["memory_gib"]), float(value.get("gpus_per_board", 1))
        allowed |= {f"{size:.0f}gb", f"{size * each:.0f}gb"}
    allowed |= {word.removesuffix("gb") for word in allowed if re.fullmatch(r"\d+gb", word)}
    if isinstance(board, Row):  # of published runs; a superchip's name may have its processor's memory
        allowed |= {"amd", "sxm", "hbm3", "480gb" * id.startswith("gh200")}
    return required, frozenset(allowed), own


def _of_memory(catalog: Catalog, ids: Iterable[str], memory_gib: float | None) -> tuple[str, ...]:
    low, high = DRIVER_SHARE
    sizes = {id: float(str(catalog.gpus[id].value("memory_gib"))) for id in ids}
    return tuple(
        id for id, size in sizes.items() if not memory_gib or low * size <= memory_gib <= high * size
    )
