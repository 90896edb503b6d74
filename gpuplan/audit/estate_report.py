"""An estate as it is, as plain data and as text: GPUs and their VMs, what still fits, what cannot be evacuated or restarted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.audit.estate import Estate
from gpuplan.audit.estate_use import WHOLE, Blocked, EstateUse, GpuUse
from gpuplan.audit.inventories import HostList
from gpuplan.audit.right_sizes import RightSizes
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.report.plan_data import as_json, fields_of
from gpuplan.report.table import Table, tabulate
from gpuplan.report.tables import platform
from gpuplan.report.text import Content, chapter, page
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import NAMES, number, said, some_of

MOST_NAMED = 20
"""VMs that no GPU is known for, and that are named."""


class Inventory(NamedTuple):
    """An estate with its use, and what of a design's demand its hosts take."""

    estate: Estate
    use: EstateUse
    hosts: HostList
    catalog: Catalog
    plan: Plan | None = None
    """The design on these hosts; None without one."""
    sizes: RightSizes | None = None
    """What logs say of its profiles; None without logs."""


def inventory_tables(inventory: Inventory) -> dict[str, Table]:
    """Return the tables of an estate, by key."""
    use, catalog, fits = inventory.use, inventory.catalog, inventory.sizes.fits if inventory.sizes else ()

    def board(use: GpuUse) -> str:
        return catalog.gpus[use.gpu.gpu].name if use.gpu.gpu else use.gpu.name

    boards = {name: [one for one in use.gpus if board(one) == name] for name in map(board, use.gpus)}
    profiles = [row for name, uses in boards.items() for row in _profiles(name, uses)]
    return {
        "boards": tabulate("estate_boards", [_board(name, uses) for name, uses in boards.items()]),
        "profiles": tabulate("estate_profiles", profiles),
        "gpus": tabulate(
            "estate_gpus",
            use.gpus,
            board=board,
            profiles=lambda use: ", ".join(f"{n} x {profile_words(p)}" for p, n in Counter(_on(use)).items()),
            vms=lambda use: ", ".join(name for name, _ in use.vms),
            free_gb=lambda use: _gb([use], "free_mb"),
            stranded_gb=lambda use: _gb([use], "stranded_mb"),
        ),
        "fits": tabulate(
            "estate_fits",
            fits,
            board=lambda fit: catalog.gpus[fit.board].name,
            profile=lambda fit: profile_words(fit.profile),
            fits=lambda fit: profile_words(fit.fits),
        ),
        "evacuation": tabulate("estate_evacuation", blocked_rows(use.evacuation)),
        "restart": tabulate("estate_restart", blocked_rows(use.restart)),
    }


def _on(use: GpuUse) -> list[str]:
    return [profile for _, profile in use.vms]


def _gb(uses: Sequence[GpuUse], name: str) -> float | None:
    known = [getattr(use, name) for use in uses if use.free_mb is not None]
    return round(sum(known) / MIB_PER_GIB, 1) if known else None


def _board(name: str, uses: Sequence[GpuUse]) -> dict[str, Any]:
    sizes = {f"{key}_gb": _gb(uses, f"{key}_mb") for key in ("used", "free", "stranded")}
    hosts, empty = len({use.host for use in uses}), sum(not use.vms for use in uses)
    return {"board": name, "hosts": hosts, "gpus": len(uses), "empty": empty, **sizes}


def _profiles(board: str, uses: Sequence[GpuUse]) -> Iterator[dict[str, Any]]:
    for profile, n in sorted(Counter(profile for use in uses for profile in _on(use)).items()):
        more = None if profile == WHOLE else sum(use.more.get(profile, 0) for use in uses)
        yield {"board": board, "profile": profile_words(profile), "vms": n, "more": more}


def blocked_rows(hosts: Mapping[str, Sequence[Blocked]]) -> list[dict[str, str]]:
    """Return a row for the VMs of a host that cannot leave it, or would not restart, by profile and reason."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for host, blocked in hosts.items():
        for vm in blocked:
            rows.setdefault((host, vm.what, NAMES["estate"][vm.why]), []).append(vm.vm)
    return [
        {"host": host, "vm": some_of(vms), "what": what, "why": why}
        for (host, what, why), vms in rows.items()
    ]


def counted(estate: Estate, use: EstateUse) -> Iterator[str]:
    """Yield how memory and vCPUs are counted where VMs find places."""
    one = len({*use.per_core.values()}) == 1
    ratios = [
        number(n) if one else said("estate.counted in", ratio=n, cluster=name)
        for name, n in use.per_core.items()
    ]
    if ratios:
        yield said("estate.counted", ratios=ratios[:1] if one else ratios)
    sizes = [None in (vm.vcpus, vm.memory_gib) for vm in estate.vms if vm.on is not False]
    if any(sizes):
        yield said("estate.unsized", vms=sum(sizes))


def profile_words(profile: str) -> str:
    """Return a profile, or a whole GPU in words."""
    return NAMES["estate"].get(profile, profile)


def gpu_words(use: GpuUse) -> str:
    """Return a GPU in a sentence: its address, the VMs on it, and what else fits."""
    vms = ", ".join(f"{vm} ({profile_words(profile)})" for vm, profile in use.vms) or said("estate.gpu empty")
    fits = [said("hosts.more of a profile", more=n, profile=name) for name, n in use.more.items() if n]
    more = said("hosts.or").join(fits) or said("estate.gpu full")
    return said("estate.gpu", name=f"{use.gpu.name} {use.gpu.address}".strip(), vms=vms, more=more)


def sized(sizes: RightSizes) -> Iterator[str]:
    """Yield what right-sizing rests on, its condition, and what was left out."""
    yield said("fits.lead", samples=sizes.samples, hours=round(sizes.hours, 1), headroom=sizes.headroom)
    parts = (fit._asdict() for fit in sizes.fits if fit.part)
    yield from (said("fits.part", **part) for part in parts)
    yield said("fits.condition")
    for key in ("without", "others"):
        if names := getattr(sizes, key):
            yield said(f"fits.{key}", names=names)
    yield from (said("fits.left", rows=n, reason=reason) for reason, n in sizes.left.items())


def inventory_text(inventory: Inventory) -> str:
    """Return an estate as text for a terminal."""
    estate, use, hosts, _, plan, sizes = inventory
    tables, on = inventory_tables(inventory), [vm for vm in estate.vms if vm.on is not False]
    counts = {"hosts": len(estate.hosts), "gpus": len(use.gpus), "vms": len(on)}
    lead = [
        said("estate.lead", on=sum(bool(vm.devices) for vm in on), **counts),
        *(f"{note}." for note in estate.notes),
        said("estate.packed") if use.packed else "",
        *(said("estate.unseated", vm=vm, what=profile_words(what)) for vm, what in use.unseated[:MOST_NAMED]),
    ]
    answers = [
        said(key, hosts=sum(not vms for vms in of.values()), of=len(of)) if of else ""
        for key, of in (("estate.evacuated", use.evacuation), ("estate.restarted", use.restart))
    ]
    owned = [said("estate.owned", hosts=hosts.existing or "-"), *hosts.left_out]
    design: list[Content] = [] if plan is None else [platform.hosts_there(plan), platform.inventory(plan)]
    shown = [tables[key] for key in ("boards", "profiles", "gpus")]
    return page(
        said("estate.title"),
        lead,
        shown,
        [answers[0], tables["evacuation"], answers[1], tables["restart"], *counted(estate, use)],
        [tables["fits"], *sized(sizes)] if sizes else [],
        chapter(said("estate.for a scenario"), *owned),
        design,
    )


def inventory_dict(inventory: Inventory) -> dict[str, Any]:
    """Return an estate as plain JSON values: the estate, its use, the hosts for a scenario, the tables of boards and profiles."""
    estate, use, hosts, _, plan, sizes = inventory
    tables = inventory_tables(inventory)
    if plan:
        tables |= {"hosts_there": platform.hosts_there(plan), "inventory": platform.inventory(plan)}
    tables = {key: tables[key] for key in ("boards", "profiles", "hosts_there", "inventory") if key in tables}
    return as_json(
        existing=hosts.existing,
        left_out=hosts.left_out,
        right_sizing=sizes,
        **fields_of(estate),
        **fields_of(use),
        **tables,
    )
