"""Hosts: a file of existing hosts, one per row or several identical ones, as kinds for a scenario."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gpuplan.audit.files import Lines, open_text
from gpuplan.audit.trace import refusal
from gpuplan.catalog import Catalog
from gpuplan.catalog.boards import boards_named, told_apart_by
from gpuplan.facts import own_rows
from gpuplan.scenario import hosts_text, one_line, show
from gpuplan.units import exact
from gpuplan.wording import said

MAX_ROWS = 200_000
COLUMNS = {
    name: (row["what"], exact(row["unit"]))
    for row in own_rows("words/host_columns")
    for name in row["names"].split()
}
"""Column name -> (its content, planned units per unit of the column)."""
GIB = {"kib": 2**-20, "kb": 2**-20, "mib": 2**-10, "mb": 2**-10, "gib": 1, "gb": 1, "tib": 1024, "tb": 1024}
"""Unit of memory as lists of hosts write it -> GiB; they mean powers of two by either spelling."""
_NUMBER = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kmgt]i?b)?", re.IGNORECASE)


class HostList(NamedTuple):
    """The hosts of a file."""

    existing: str
    """Hosts as in ``hardware.existing`` of a scenario; empty if there are none."""
    left_out: tuple[str, ...]
    unread: tuple[str, ...] = ()
    """Columns that say nothing known of hosts."""


class _Kind(NamedTuple):
    gpus: int
    model: str
    vcpus: int
    memory: int
    gpu_memory: int
    name: str = ""


def read_hosts(path: Path, catalog: Catalog, models: Mapping[str, str] | None = None) -> HostList:
    """Read the kinds of hosts in a file from the command line, as ``hosts_in`` does."""
    with path.open("rb") as file:
        return hosts_in(file, catalog, models)


def hosts_in(file: BinaryIO, catalog: Catalog, models: Mapping[str, str] | None = None) -> HostList:
    """The kinds of hosts in a CSV file such as ``openb_nodes.csv``: number, GPUs and their model, vCPUs and memory of each.

    ``models`` are ids of the catalog by models of the file; hosts whose board is not known, or one of several, are left out.
    """
    text, _ = open_text(file)
    lines = iter(Lines(text))
    first = next(lines, "")
    delimiter = max(",;\t|", key=first.count)
    counted, unread = _counted(csv.reader(chain([first], lines), delimiter=delimiter))
    kinds, left = Counter[tuple[Any, ...]](), Counter[tuple[str, ...]]()
    for kind, hosts in counted.items():
        boards = _boards(kind, catalog, models or {})
        if kind.gpus < 1:
            left["audit.hosts.without", "", "", ""] += hosts
        elif kind.model and len(boards) != 1:
            why = "audit.hosts.several" if boards else "audit.hosts.unknown"
            tells = told_apart_by(catalog, boards) if boards else ""
            left[why, one_line(kind.model)[:40], ", ".join(boards[:5]), tells] += hosts
        else:
            board = boards[0] if boards else None
            kinds[kind.gpus, board, kind.vcpus or None, kind.memory or None, kind.name or None] += hosts
    names = ("gpus_per_host", "gpu", "vcpus_per_host", "memory_gib_per_host", "name")
    existing = hosts_text([{"hosts": n, **dict(zip(names, kind, strict=True))} for kind, n in kinds.items()])
    if existing is None:
        raise refusal("audit.hosts.most")
    told = (
        said(why, n=n, model=model, names=names, tells=tells)
        for (why, model, names, tells), n in left.items()
    )
    return HostList(existing, tuple(told), unread)


def _boards(kind: _Kind, catalog: Catalog, models: Mapping[str, str]) -> tuple[str, ...]:
    if kind.model in models:
        return (models[kind.model],)
    return boards_named(catalog, kind.model, memory_gib=kind.gpu_memory or None) if kind.model else ()


def _columns(heads: Sequence[str]) -> tuple[list[tuple[int, str, float]], tuple[str, ...]]:
    """Columns by what they hold, with planned units per unit of each, and the names of the others."""
    known, unread = [], []
    for at, head in enumerate(heads):
        name = re.sub(r"[^a-z0-9]+", "_", head.lower()).strip("_")
        base, _, unit = name.rpartition("_")
        if unit in GIB and COLUMNS.get(base, ("", 0))[0] in ("memory", "gpu_memory"):
            known.append((at, COLUMNS[base][0], GIB[unit]))
        elif name in COLUMNS:
            known.append((at, *COLUMNS[name]))
        elif name:
            unread.append(one_line(head.strip())[:40])
    return known, tuple(unread[:20])


def _counted(rows: Iterable[list[str]]) -> tuple[Counter[_Kind], tuple[str, ...]]:
    counts: Counter[_Kind] = Counter()
    table = iter(rows)
    heads = next(table, [])
    of, unread = _columns(heads)
    if "gpus" not in {what for _, what, _ in of}:
        raise refusal("audit.hosts.columns")
    for number, cells in enumerate(table, 2):
        if number > MAX_ROWS:
            raise refusal("audit.hosts.rows", most=f"{MAX_ROWS:,}")
        values: dict[str, Any] = {"gpus": 0, "vcpus": 0, "memory": 0, "gpu_memory": 0}
        words: dict[str, Any] = {"model": "", "name": "", "host": ""}
        for at, what, unit in of:
            text = cells[at].strip() if at < len(cells) else ""
            if what in words:
                words[what] = re.sub(r"[;:,]", " ", text)[: 80 if what == "model" else 40].strip()
            elif text:
                match = _NUMBER.fullmatch(text)
                if not match or (match[2] and "memory" not in what):
                    place = said("audit.hosts.place", column=heads[at].strip(), line=number)
                    raise refusal("audit.hosts.number", where=place, value=show(text))
                values[what] = int(exact(match[1]) * (GIB[match[2].lower()] if match[2] else unit))
        count = values.pop("hosts", 1)
        del words["host"]
        counts[_Kind(**values, **words)] += count
    return counts, unread
