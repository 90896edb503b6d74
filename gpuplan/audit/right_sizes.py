"""Right-sizing: frame buffer used at peak, from logs beside an inventory, and the smallest profile that holds it."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from operator import attrgetter
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.audit.columns import COLUMNS
from gpuplan.audit.estate import Estate
from gpuplan.audit.estate_use import WHOLE, EstateUse, profile_row
from gpuplan.audit.files import refusing
from gpuplan.audit.formats import Export, with_dates
from gpuplan.audit.prometheus import LABEL, result_of
from gpuplan.audit.reading import export_of
from gpuplan.audit.table import Log, Table
from gpuplan.audit.trace import MAX_NAME, Collected
from gpuplan.audit.values import UNITS, BadValue, Clock
from gpuplan.catalog import Catalog
from gpuplan.units import MIB_PER_GIB

COUNTERS = re.compile(r"DCGM_FI_DEV_FB_USED|\w*memory_used(_bytes)?")
MACHINES, GPUS = (COLUMNS["memory"][what][0] for what in ("machine", "gpu"))
"""Labels and columns that tell machines and GPUs apart; ``vgpu`` tells sharers of one GPU apart, which are added."""
UNIT = re.compile(r"(bytes|[kmgt]i?b)\W*$", re.IGNORECASE)
AMOUNT = re.compile(r"(\d[\d.]*(?:e[+-]?\d+)?) ?(\w+)", re.IGNORECASE)
HIGH = 0.99
"""Share of the samples that the high percentile is not below."""


Use = tuple[float, float]
"""Peak and high percentile in MiB."""


class Fit(NamedTuple):
    """VMs of a profile, what those with samples used in GiB, the smallest profile for all of these, and whole GPUs saved."""

    board: str
    profile: str
    vms: int
    sampled: int
    allocated_gb: float
    high_gb: float
    peak_gb: float
    fits: str
    saved: int
    part: int = 0
    """vGPUs that a smaller profile would hold, if that saves more than one for all; the profile, and GPUs saved so."""
    part_fits: str = ""
    part_saved: int = 0


class RightSizes(NamedTuple):
    """What logs say of the profiles of an estate: hours from first to last sample, rows left out by reason, and names of no use."""

    headroom: float
    hours: float
    samples: int
    fits: tuple[Fit, ...]
    without: tuple[str, ...]
    """VMs with a GPU, but without a sample."""
    others: tuple[str, ...]
    """Machines of the logs that are no VM with a GPU, nor a host without VMs."""
    left: Mapping[str, int]


def right_sizes(
    files: Iterable[tuple[str, BinaryIO]], estate: Estate, use: EstateUse, catalog: Catalog, headroom: float
) -> RightSizes:
    """Return the smallest profiles that hold what VMs, and GPUs of hosts without VMs, used at peak by logs, and a headroom."""
    machines = [*map(attrgetter("name"), (*estate.vms, *estate.hosts))]
    log, hours, seen = _uses(files, {_short(name): name for name in machines[::-1]})
    bare = {gpu.host: gpu.gpu.gpu for gpu in use.gpus if not estate.by_host[gpu.host]}
    used, whole = dict[str, Use](), {name[:MAX_NAME]: name for name in machines}
    for (machine, gpu), amounts in seen.items():
        name = f"{machine} {gpu}" if machine in bare else whole.get(machine, machine)
        used[name] = max(amounts, used.get(name, amounts))
    seats = [(vm, gpu.gpu.gpu, profile) for gpu in use.gpus for vm, profile in gpu.vms]
    profiles: dict[tuple[str, str], list[str]] = {}
    seats += [(f"{machine} {gpu}", bare[machine], WHOLE) for machine, gpu in seen if machine in bare]
    for name, board, profile in seats:
        profiles.setdefault((board, profile), []).append(name)
    fits = (_fit(catalog, *key, names, used, headroom) for key, names in sorted(profiles.items()))
    named = {*chain(*profiles.values())}
    without, others = (tuple(sorted(each)) for each in (named - used.keys(), used.keys() - named))
    left = dict(map(attrgetter("reason", "rows"), log.left.values()))
    samples = log.rows - sum(left.values())
    return RightSizes(headroom, hours, samples, tuple(filter(None, fits)), without, others, left)


def _fit(
    catalog: Catalog, board: str, profile: str, names: Sequence[str], used: Mapping[str, Use], headroom: float
) -> Fit | None:
    """Return the fit of the VMs of a profile, one name for each of their GPUs; None without samples."""
    seen = [used[name] for name in names if name in used]
    if not (seen and board):
        return None
    *smaller, (_, allocated, per_gpu) = _sizes(catalog, board, profile)
    before, options = math.ceil(len(names) / per_gpu), [(0, 0, 0, profile)]
    for name, mb, most in smaller:
        part = sum(peak * (1 + headroom) <= mb for peak, _ in seen)
        after = math.ceil(part / most) + math.ceil((len(names) - part) / per_gpu)
        options.append((part, before - after, mb, name))
    _, saved, _, fits = next((each for each in options[1:] if each[0] == len(seen)), options[0])
    part, most_saved, _, part_fits = max(options, key=lambda each: each[1:3])
    peak, high = (max(each) for each in zip(*seen, strict=True))
    allocated_gb, high_gb, peak_gb = (round(mib / MIB_PER_GIB, 1) for mib in (allocated, high, peak))
    counts = len({*names}), len({*names} & used.keys())
    better = (part, part_fits, most_saved) if most_saved > max(0, saved) else ()
    return Fit(board, profile, *counts, allocated_gb, high_gb, peak_gb, fits, saved, *better)


def _sizes(catalog: Catalog, board: str, profile: str) -> list[tuple[str, int, int]]:
    """Return name, frame buffer and number on a GPU of the smaller profiles of its kind, the smallest first, and of a profile."""
    whole = int(float(str(catalog.gpus[board].value("memory_gib"))) * MIB_PER_GIB)
    known: Mapping[str, Any] = {"backing": "timesliced", "max_per_gpu": 1, "frame_buffer_mb": whole}
    row, series = profile_row(catalog, board, profile) or known, "C" if profile == WHOLE else profile[-1]
    rows = [each for each in catalog.profiles_of(board) if each["backing"] == row["backing"]]
    sizes = sorted((each["frame_buffer_mb"], each["max_per_gpu"], str(each["profile"])[:-1]) for each in rows)
    smaller = [(name + series, mb, most) for mb, most, name in sizes if mb < row["frame_buffer_mb"]]
    return [*smaller, (profile, int(row["frame_buffer_mb"]), int(row["max_per_gpu"]))]


def _uses(
    files: Iterable[tuple[str, BinaryIO]], known: Mapping[str, str]
) -> tuple[Log, float, dict[tuple[str, str], Use]]:
    """Return what was used of each GPU of a machine, over the hours of all files."""
    log, samples = Log(Clock(ZoneInfo("UTC"))), Collected("time_s", "mib", codes=("machine", "gpu", "vgpu"))
    for name, file in files:
        with refusing():
            table = _table(export_of(file, "auto"), PurePath(name).name.partition(".")[0], known)
            for rows in table.rows(table.find(COLUMNS["memory"], {}), log):
                time, mib = rows.time("time"), rows.read("used", mib_of)
                samples.add(rows.kept, time_s=time, mib=mib)
                samples.add_names(**{key: rows.texts(key) for key in ("machine", "gpu", "vgpu")})
    log.check(len(samples), "audit.none.samples")
    return log, float(np.ptp(samples["time_s"])) / 3600, dict(_by_gpu(samples))


def _by_gpu(samples: Collected) -> Iterator[tuple[tuple[str, str], Use]]:
    """Yield what was used of each GPU: of equal samples of a sharer the most, of all its sharers at one time the sum."""
    machines, gpus = (list(samples.names[key].shown) for key in ("machine", "gpu"))
    order = np.lexsort([samples[key] for key in ("vgpu", "time_s", "gpu", "machine")])
    machine, gpu, time, vgpu, mib = (
        samples[key][order] for key in ("machine", "gpu", "time_s", "vgpu", "mib")
    )
    sharers = _begins(machine, gpu, time, vgpu)
    moments = _begins(machine[sharers], gpu[sharers], time[sharers])
    used, first = np.add.reduceat(np.maximum.reduceat(mib, sharers), moments), sharers[moments]
    for begin, end in pairwise([*_begins(machine[first], gpu[first]), len(first)]):
        at, of_gpu = first[begin], used[begin:end]
        yield (machines[machine[at]], gpus[gpu[at]]), (float(of_gpu.max()), float(np.quantile(of_gpu, HIGH)))


def _begins(*columns: np.ndarray) -> np.ndarray:
    """Return the places at which rows begin that differ from the one before in any column."""
    return np.flatnonzero(np.append(True, np.any([np.diff(column) != 0 for column in columns], axis=0)))


def _table(export: Any, stem: str, known: Mapping[str, str]) -> Table:
    """Return a sample per row, of one with labels as columns, a series per column, or an answer of Prometheus."""
    table = with_dates(export.table, {}) if isinstance(export, Export) else _of_answer(export)
    at = table.find({key: COLUMNS["memory"][key] for key in ("time", "used")}, {})
    labels = _counted(table, at)
    ids = [n for n in range(len(table.names)) if n not in (*labels, *at.values()) and _is_label(table, n)]

    units = {place: UNIT.search(table.header[place].partition("{")[0]) for place in labels}

    @lru_cache(maxsize=10_000)  # a log names few machines and GPUs in many rows: half the time of reading
    def named(place: int, cells: tuple[str, ...]) -> list[str]:
        own = {table.header[n]: cell for n, cell in zip(ids, cells, strict=True)}
        return _ids(own | labels[place], stem, known)

    def samples(row: list[str]) -> Iterator[list[str]]:
        cells = tuple([row[place] for place in ids])
        for place in labels:
            used, unit = row[place].strip(), units[place]
            if used or not labels[place]:  # nvidia-smi and DCGM count in MiB
                used += f" {unit[1] if unit else 'MiB'}" * used[-1:].isdigit()
                yield [row[at["time"]], used, *named(place, cells)]

    return table.changed([table.header[at["time"]], "memory_used", "machine", "gpu", "vgpu"], samples)


def _counted(table: Table, at: Mapping[str, int]) -> dict[int, dict[str, str]]:
    """Return the columns of used memory, each with the labels in its name."""
    named = {place: name for place, name in enumerate(table.header) if COUNTERS.match(name)}
    labels = {place: dict(LABEL.findall(name)) for place, name in named.items() if "{" in name}
    labels = labels or {at[key]: {} for key in at if key == "used"}
    if "time" not in at or not labels:
        raise table.missing("fits.needs")
    return labels


def _of_answer(answer: Any) -> Table:
    """Return the series of the first counter of used memory in an answer of Prometheus, with their labels as columns."""
    series = [(n, of["metric"], of["values"]) for n, of in enumerate(result_of(answer), 1)]
    counters = [str(of.get("__name__", "")) for _, of, _ in series]
    counter = next(filter(COUNTERS.fullmatch, counters), "value")
    names = sorted({label for _, of, _ in series for label in of})
    rows = (
        (n, [*map(str, pair), *(str(of.get(label, "")) for label in names)])
        for (n, of, pairs), name in zip(series, counters, strict=True)
        for pair in pairs
        if name == counter
    )
    return Table(["time", counter, *names], rows)


def _is_label(table: Table, place: int) -> bool:
    first = "".join(table.values(place)[:1])
    return table.names[place] in (*MACHINES, *GPUS, "vgpu") or not first[:1].isdigit()


def mib_of(text: str) -> float:
    """Return an amount of memory with its unit in MiB.

    >>> mib_of("2147483648 bytes"), mib_of("812 MiB")
    (2048.0, 812.0)
    """
    amount = AMOUNT.fullmatch(text.strip())
    unit = UNITS["memory"].get(amount[2].lower()) if amount else None
    if not amount or not unit:
        raise BadValue("audit.value.number", text)
    return float(amount[1]) * unit.factor * MIB_PER_GIB


def _short(name: str) -> str:
    return re.split(r"[.:]", name.strip().lower())[0]


def _ids(labels: Mapping[str, str], stem: str, known: Mapping[str, str]) -> list[str]:
    """Return machine, GPU and sharer of a sample: a label that names a VM or host counts before others, the file's name last."""
    plain = {name.lower(): str(value) for name, value in labels.items()}
    named = (
        known[short]
        for name, value in plain.items()
        if name not in GPUS and (short := _short(value)) in known
    )
    others = (plain[name] for name in MACHINES if plain.get(name))
    machine = next(named, "") or next(others, known.get(_short(stem), stem))
    return [machine, " ".join(plain[name] for name in GPUS if plain.get(name)), plain.get("vgpu", "")]
