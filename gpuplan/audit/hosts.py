"""Hosts: the hosts of an inventory as kinds for a scenario, those with a GPU of the catalog."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gpuplan.audit.estate import Estate, EstateHost
from gpuplan.audit.inventories import read_estate
from gpuplan.audit.trace import refusal
from gpuplan.catalog import Catalog
from gpuplan.catalog.boards import told_apart_by
from gpuplan.scenario import hosts_text
from gpuplan.wording import said


class HostList(NamedTuple):
    """The hosts of a file."""

    existing: str
    """Hosts as in ``hardware.existing`` of a scenario; empty if there are none."""
    left_out: tuple[str, ...]
    unread: tuple[str, ...] = ()
    """Columns that say nothing known of hosts."""
    notes: tuple[str, ...] = ()
    """What a reader should know of the reading."""


def read_hosts(path: Path, catalog: Catalog, models: Mapping[str, str] | None = None) -> HostList:
    """The kinds of hosts in an inventory or in a CSV file such as ``openb_nodes.csv``: number, GPUs, vCPUs and memory of each.

    ``models`` are ids of the catalog by models of the file; hosts whose board is not known, or one of several, are left out.
    """
    with path.open("rb") as file:
        return existing_of(read_estate([(path.name, file)], catalog, models), catalog)


def existing_of(estate: Estate, catalog: Catalog) -> HostList:
    """The hosts of an estate that have GPUs of one board of the catalog, or of none that is named, as kinds."""
    kinds, left = Counter[tuple[Any, ...]](), Counter[tuple[str, ...]]()
    each_named = 1 < len(estate.hosts) == len({host.kind for host in estate.hosts})
    for host in estate.hosts:
        if why := _left_out(host, catalog):
            left[why] += 1
        else:
            gpus = host.gpus or ()
            memory = None if host.memory_gib is None else int(host.memory_gib + 0.01) or None
            kinds[len(gpus), gpus[0].gpu or None, host.cores, memory, None if each_named else host.kind] += 1
    names = ("gpus_per_host", "gpu", "vcpus_per_host", "memory_gib_per_host", "name")
    existing = hosts_text([{"hosts": n, **dict(zip(names, kind, strict=True))} for kind, n in kinds.items()])
    if existing is None:
        raise refusal("audit.hosts.most")
    words = ("model", "names", "tells")
    told = (said(why, n=n, **dict(zip(words, of, strict=True))) for (why, *of), n in left.items())
    return HostList(existing, tuple(told), estate.unread, estate.notes)


def _left_out(host: EstateHost, catalog: Catalog) -> tuple[str, ...]:
    """Why a host is no owned host of a scenario: key, model, boards that it may have, and what tells them apart."""
    if not host.gpus:
        return ("audit.hosts.without", "", "", "")
    if len({gpu.gpu for gpu in host.gpus}) > 1:
        return ("audit.hosts.mixed", ", ".join(sorted({gpu.gpu or gpu.name for gpu in host.gpus})), "", "")
    gpu = host.gpus[0]
    if gpu.gpu or not gpu.name:
        return ()
    boards = ", ".join(gpu.may_be[:5])
    tells = told_apart_by(catalog, gpu.may_be) if gpu.may_be else ""
    return ("audit.hosts.several" if gpu.may_be else "audit.hosts.unknown", gpu.name[:40], boards, tells)
