"""An estate as it is, as plain data and as text: GPUs and their VMs, what still fits, what cannot be evacuated or restarted."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from gpuplan.audit.estate import Estate
from gpuplan.audit.estate_use import WHOLE, Blocked, EstateUse, GpuUse
from gpuplan.audit.hosts import HostList
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.report.plan_data import as_json
from gpuplan.report.table import Table, tabulate
from gpuplan.report.tables import platform
from gpuplan.report.text import Content, chapter, page
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import NAMES, said


class Inventory(NamedTuple):
    """An estate with its use, and what of a design's demand its hosts take."""

    estate: Estate
    use: EstateUse
    hosts: HostList
    catalog: Catalog
    plan: Plan | None = None
    """The design on these hosts; None without one."""


def inventory_tables(inventory: Inventory) -> dict[str, Table]:
    """Return the tables of an estate, by key."""
    use, catalog = inventory.use, inventory.catalog
    boards: dict[str, list[GpuUse]] = {}
    for gpu in use.gpus:
        boards.setdefault(catalog.gpus[gpu.gpu.gpu].name if gpu.gpu.gpu else gpu.gpu.name, []).append(gpu)
    return {
        "boards": tabulate("estate_boards", [_board(name, gpus) for name, gpus in boards.items()]),
        "profiles": tabulate(
            "estate_profiles", [row for name, gpus in boards.items() for row in _profiles(name, gpus)]
        ),
        "gpus": tabulate("estate_gpus", [_gpu(gpu, catalog) for gpu in use.gpus]),
        "evacuation": tabulate("estate_evacuation", list(_blocked(use.evacuation))),
        "restart": tabulate("estate_restart", list(_blocked(use.restart))),
    }


def _gb(uses: list[GpuUse], name: str) -> float | None:
    known = [getattr(use, name) for use in uses if use.free_mb is not None]
    return round(sum(known) / MIB_PER_GIB, 1) if known else None


def _board(name: str, uses: list[GpuUse]) -> dict[str, Any]:
    free, stranded = _gb(uses, "free_mb"), _gb(uses, "stranded_mb")
    sizes = {"used_gb": _gb(uses, "used_mb"), "free_gb": free, "stranded_gb": stranded}
    hosts, empty = len({use.host for use in uses}), sum(not use.vms for use in uses)
    return {"board": name, "hosts": hosts, "gpus": len(uses), "empty": empty, **sizes}


def _profiles(board: str, uses: list[GpuUse]) -> Iterator[dict[str, Any]]:
    vms = Counter(profile for use in uses for _, profile in use.vms)
    for profile, n in sorted(vms.items()):
        more = None if profile == WHOLE else sum(use.more.get(profile, 0) for use in uses)
        yield {"board": board, "profile": NAMES["estate"].get(profile, profile), "vms": n, "more": more}


def _gpu(use: GpuUse, catalog: Catalog) -> dict[str, Any]:
    on = Counter(profile for _, profile in use.vms)
    profiles = ", ".join(f"{n} x {NAMES['estate'].get(profile, profile)}" for profile, n in on.items())
    board = catalog.gpus[use.gpu.gpu].name if use.gpu.gpu else use.gpu.name
    sizes = {"free_gb": _gb([use], "free_mb"), "stranded_gb": _gb([use], "stranded_mb")}
    names = ", ".join(name for name, _ in use.vms)
    return {
        "host": use.host,
        "address": use.gpu.address,
        "board": board,
        "profiles": profiles,
        "vms": names,
        **sizes,
    }


def _blocked(hosts: Any) -> Iterator[dict[str, str]]:
    for host, blocked in hosts.items():
        for vm, what, why in blocked:
            yield {"host": host, "vm": vm, "what": what, "why": NAMES["estate"][why]}


def inventory_text(inventory: Inventory) -> str:
    """Return an estate as text for a terminal."""
    estate, use, hosts, _, plan = inventory
    tables, free = inventory_tables(inventory), [host for host, vms in use.evacuation.items() if not vms]
    lead = [
        said(
            "estate.lead",
            hosts=len(estate.hosts),
            gpus=len(use.gpus),
            on=sum(bool(vm.devices) and vm.on is not False for vm in estate.vms),
            vms=sum(vm.on is not False for vm in estate.vms),
        ),
        *(f"{note}." for note in estate.notes),
        said("estate.packed") if use.packed else "",
        said("estate.unseated", vms=", ".join(f"{vm} ({what})" for vm, what in use.unseated))
        if use.unseated
        else "",
    ]
    moved = said("estate.evacuated", hosts=len(free), of=len(use.evacuation)) if use.evacuation else ""
    safe = [host for host, vms in use.restart.items() if not vms]
    back = said("estate.restarted", hosts=len(safe), of=len(use.restart)) if use.restart else ""
    owned = [said("estate.owned", hosts=hosts.existing or "-"), *hosts.left_out]
    design: list[Content] = [] if plan is None else [platform.hosts_there(plan), platform.inventory(plan)]
    return page(
        said("estate.title"),
        lead,
        tables["boards"],
        tables["profiles"],
        tables["gpus"],
        [moved, tables["evacuation"], back, tables["restart"]],
        chapter(said("estate.for a scenario"), *owned),
        design,
    )


def inventory_dict(inventory: Inventory) -> dict[str, Any]:
    """Return an estate as plain JSON values: ``notes``, ``existing``, ``left_out``, the tables, ``evacuation`` and ``restart`` by host."""
    estate, use, hosts, _, plan = inventory
    design = (
        {}
        if plan is None
        else {"hosts_there": platform.hosts_there(plan), "inventory": platform.inventory(plan)}
    )
    return as_json(
        exported=estate.exported,
        notes=estate.notes,
        hosts=estate.hosts,
        vms=estate.vms,
        clusters=estate.clusters,
        existing=hosts.existing,
        left_out=hosts.left_out,
        packed=use.packed,
        unseated=use.unseated,
        gpus=use.gpus,
        evacuation={host: [Blocked(*vm) for vm in vms] for host, vms in use.evacuation.items()},
        restart={host: [Blocked(*vm) for vm in vms] for host, vms in use.restart.items()},
        **{key: table for key, table in inventory_tables(inventory).items() if key in ("boards", "profiles")},
        **design,
    )
