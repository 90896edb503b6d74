"""Hosts: a file of existing hosts, one per row or several identical ones, as kinds for a scenario."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gpuplan.audit.files import Lines, open_text
from gpuplan.audit.trace import refusal
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


class HostList(NamedTuple):
    """The hosts of a file."""

    existing: str
    """Hosts as in ``hardware.existing`` of a scenario; empty if there are none."""
    left_out: tuple[str, ...]


class _Kind(NamedTuple):
    gpus: int
    model: str
    vcpus: int
    memory: int
    name: str = ""


def read_hosts(path: Path, gpus: Mapping[str, str], models: Mapping[str, str] | None = None) -> HostList:
    """Read the kinds of hosts in a file from the command line, as ``hosts_in`` does."""
    with path.open("rb") as file:
        return hosts_in(file, gpus, models)


def hosts_in(file: BinaryIO, gpus: Mapping[str, str], models: Mapping[str, str] | None = None) -> HostList:
    """The kinds of hosts in a CSV file such as ``openb_nodes.csv``: number, GPUs and their model, vCPUs and memory of each.

    ``gpus`` are names of the catalog by id, ``models`` ids of models of the file; other hosts are left out.
    """
    text, _ = open_text(file)
    counted = _counted(csv.reader(Lines(text)))
    rows, left = [], Counter[tuple[str, str, str]]()
    for kind, hosts in counted.items():
        matches = [] if not kind.model else _matches(kind.model, gpus, models or {})
        if kind.gpus < 1:
            left["audit.hosts.without", "", ""] += hosts
        elif kind.model and len(matches) != 1:
            why = "audit.hosts.several" if matches else "audit.hosts.unknown"
            left[why, one_line(kind.model)[:40], ", ".join(matches[:4])] += hosts
        else:
            row = {"hosts": hosts, "gpus_per_host": kind.gpus, "gpu": matches[0] if matches else None}
            row |= {"vcpus_per_host": kind.vcpus or None, "memory_gib_per_host": kind.memory or None}
            rows.append(row | {"name": kind.name or None})
    existing = hosts_text(rows)
    if existing is None:
        raise refusal("audit.hosts.most")
    told = (said(why, n=n, model=model, names=names) for (why, model, names), n in left.items())
    return HostList(existing, tuple(told))


def _counted(rows: Iterable[list[str]]) -> Counter[_Kind]:
    counts: Counter[_Kind] = Counter()
    table = iter(rows)
    heads = [head.strip().lower() for head in next(table, [])]
    of = [(at, *COLUMNS[head]) for at, head in enumerate(heads) if head in COLUMNS]
    if not {"gpus"} & {what for _, what, _ in of}:
        raise refusal("audit.hosts.columns")
    for number, cells in enumerate(table, 2):
        if number > MAX_ROWS:
            raise refusal("audit.hosts.rows", most=f"{MAX_ROWS:,}")
        values: dict[str, Any] = {"gpus": 0, "vcpus": 0, "memory": 0}
        words: dict[str, Any] = {"model": "", "name": ""}
        for at, what, unit in of:
            text = cells[at].strip() if at < len(cells) else ""
            if what in words:
                words[what] = re.sub(r"[;:,]", " ", text)[:40].strip()
            elif text:
                if not re.fullmatch(r"\d{1,12}(\.\d{1,6})?", text):
                    place = said("audit.hosts.place", column=heads[at], line=number)
                    raise refusal("audit.hosts.number", where=place, value=show(text))
                values[what] = int(exact(text) * unit)
        count = values.pop("hosts", 1)
        counts[_Kind(**values, **words)] += count
    return counts


def _matches(model: str, gpus: Mapping[str, str], models: Mapping[str, str]) -> list[str]:
    if model in models:
        return [models[model]]
    plain = re.sub(r"[^a-z0-9]+", " ", model.lower()).split()
    if model.lower() in gpus:
        return [model.lower()]
    named = ((id, re.sub(r"[^a-z0-9]+", " ", name.lower()).split()) for id, name in gpus.items())
    return [id for id, name in named if plain and set(plain) <= {*name, *id.split("-")}]
