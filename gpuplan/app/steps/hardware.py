"""How GPUs are shared: the hardware, what it allows on this version, and what is shared, idle and stranded."""

from __future__ import annotations

from typing import Any

from gpuplan.app.cards import Cell, cell, heads, table
from gpuplan.app.header import field_data
from gpuplan.app.state import Workbook
from gpuplan.models.placement import Family, Request, Shared
from gpuplan.plan.hosts import Pool
from gpuplan.plan.sharing import sharing_modes
from gpuplan.report import amount, group_names, idle_text, number

SIZES = [("equal", "one size on each GPU"), ("mixed", "mixed sizes on a GPU")]


def hardware_form(workbook: Workbook) -> dict[str, Any]:
    """GPU, server, GPUs per host, and the version and mode that decide how a GPU is shared."""
    gpus = [(g.id, g.name) for g in workbook.catalog.gpus.values()]
    servers = [("", "not chosen"), *((s.id, s.name) for s in workbook.catalog.servers.values())]
    versions = [(v.id, v.name) for v in workbook.catalog.vsphere.values()]
    return {
        "title": "Hardware",
        "fields": [
            field_data(workbook, "hardware.gpu", gpus),
            field_data(workbook, "hardware.server", servers),
            field_data(workbook, "hardware.gpus_per_host"),
            field_data(workbook, "platform.vsphere", versions),
            field_data(workbook, "platform.vgpu_sizes", SIZES),
        ],
    }


def more_form(workbook: Workbook) -> dict[str, Any]:
    """CPU and memory of a host, and hosts that are there already."""
    hardware = workbook.scenario.hardware
    counted = [
        word
        for word, host, each in (
            ("CPU", hardware.vcpus_per_host, "vcpus_each"),
            ("memory", hardware.memory_gib_per_host, "memory_gib_each"),
        )
        if host and any(getattr(group, each) for group in workbook.scenario.groups)
    ]
    there = f"{amount(hardware.existing_hosts, 'host')} there already" if hardware.existing_hosts else ""
    said = [f"{' and '.join(counted)} counted" if counted else "only GPUs counted", there]
    return {
        "title": "More about the hosts",
        "fold": True,
        "hint": ", ".join(filter(None, said)),
        "fields": [
            field_data(workbook, "hardware.vcpus_per_host", empty="not counted"),
            field_data(workbook, "hardware.memory_gib_per_host", empty="not counted"),
            field_data(workbook, "hardware.existing_hosts"),
            field_data(workbook, "hardware.existing_gpus_per_host", empty="as a new host"),
        ],
    }


BITFUSION = "Bitfusion, by memory"
WORDS = {"yes": "yes", "no": "no", "unknown": "not known"}


def allowed_data(workbook: Workbook) -> dict[str, Any]:
    """Every way to share GPUs, and whether this GPU on this version has it, with the rule and its source."""
    catalog, scenario = workbook.catalog, workbook.scenario
    if scenario.hardware.gpu not in catalog.gpus or scenario.platform.vsphere not in catalog.vsphere:
        scenario = workbook.plan.scenario  # a link may bring what this catalog does not have
    gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
    return {
        "title": f"What {gpu.name} on {version.name} allows",
        "modes": [
            {
                "id": mode.id,
                "name": mode.name,
                "verdict": mode.verdict,
                "word": WORDS[mode.verdict],
                "text": mode.text,
                "source": "; ".join(catalog.sources[s].title for s in mode.sources if s in catalog.sources),
            }
            for mode in sharing_modes(scenario, catalog)
        ],
    }


def shared_data(workbook: Workbook) -> dict[str, Any]:
    """The shared GPUs with their proof, and what is idle; worked out while the details are open."""
    pools = workbook.plan.pools
    opened = "shared" in workbook.opened
    shared, idle = sum(len(p.shared) for p in pools), [i for p in pools for i in p.idle]
    stranded = sum(i.gpus for i in idle if not i.fits)
    said = [
        "no GPU is shared"
        if not shared
        else "GPUs shared in " + (f"{shared} ways" if shared > 1 else "one way"),
        f"{amount(stranded, 'GPU')} stranded" if stranded else "nothing stranded",
    ]
    return {
        "key": "shared",
        "title": "GPUs by profile, idle and stranded",
        "hint": ", ".join(said),
        "open": opened,
        "shown": bool(pools),
        "tables": [each for pool in pools for each in _shared_tables(workbook, pool)] if opened else [],
        "stale": workbook.stale,
    }


def _shared_tables(workbook: Workbook, pool: Pool) -> list[dict[str, Any]]:
    of = f"{pool.name}: " if len(workbook.plan.pools) > 1 else ""
    return [
        table(
            heads("Shared as", "GPUs", "Proof", "Who", "On one GPU", numeric=(1,)),
            [_shared_row(workbook, pool, shared) for shared in pool.shared],
            title=f"{of}shared GPUs",
            more="" if pool.shared else "No GPU is shared.",
        ),
        table(
            [],
            [[cell(idle_text(workbook.plan, idle), tone="" if idle.fits else "warn")] for idle in pool.idle],
            title=f"{of}idle on hosts in use",
            more="" if pool.idle else "Every GPU of the hosts in use is occupied.",
        ),
    ]


def _shared_row(workbook: Workbook, pool: Pool, shared: Shared) -> list[Cell]:
    names = group_names(workbook.plan)
    asked = [r for r in pool.requests if r.family is not None and r.family.name == shared.family]
    proven = shared.gpus == shared.bound
    return [
        cell(BITFUSION if shared.family == "bitfusion" else shared.family),
        cell(number(shared.gpus), key=f"pools.{pool.id}.shared.{shared.family}", numeric=True),
        cell("fewer cannot" if proven else f"at least {number(shared.bound)}", tone="" if proven else "warn"),
        cell(", ".join(names[r.group] for r in asked)),
        cell(_per_gpu(asked[0].family, asked) if asked and asked[0].family else ""),
    ]


def _per_gpu(family: Family, asked: list[Request]) -> str:
    """How much of a family one GPU holds."""
    if family.capacity:
        each = ", ".join(dict.fromkeys(number(r.weight) for r in asked))
        return f"{number(family.capacity)} MB, in shares of {each}"
    alone = [(max(layout[at] for layout in family.layouts), name) for at, name in enumerate(family.profiles)]
    if len(alone) == 1:
        return f"{alone[0][0]} of {alone[0][1]}"
    return "up to " + ", or ".join(f"{most} of {name}" for most, name in alone)
