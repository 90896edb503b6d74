"""GPU sharing: the hardware, the modes it allows on this version, and shared, idle and stranded GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from io import BytesIO
from typing import Any

from gpuplan.app.cards import Card, Contents, attributes, details, panel, source_titles
from gpuplan.app.forms import form
from gpuplan.app.groups import COUNT, rows_of
from gpuplan.app.state import Workbook
from gpuplan.app.steps.failures import shown_clusters
from gpuplan.audit.hosts import hosts_in
from gpuplan.audit.trace import TraceError, refusal
from gpuplan.models.placement import Request, Shared
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.sharing import SharingMode, sharing_modes
from gpuplan.report import amount, group_names, idle_text, number
from gpuplan.report.table import Cell, Column, listed, screen
from gpuplan.report.tables import platform
from gpuplan.scenario import field_of, host_kinds, one_line, other_vms, shown_name
from gpuplan.widgets import contract
from gpuplan.wording import NAMES

MOST_FILE_BYTES = 10_000_000
"""Most bytes of a file of hosts: some 100,000 rows."""


hardware_form, sharing_form = form("hardware", "Hardware"), form("sharing", "Sharing")


@partial(form, "host", "More about the hosts", fold=True)
def more_form(workbook: Workbook) -> dict[str, Any]:
    """Return which of CPU, memory, existing hosts and other VMs count."""
    hardware = workbook.scenario.hardware
    counted = [
        word
        for word, host, each in (
            ("CPU", hardware.vcpus_per_host, "vcpus_each"),
            ("memory", hardware.memory_gib_per_host, "memory_gib_each"),
        )
        if host and any(getattr(group, each) for group in workbook.scenario.groups)
    ]
    said = [f"{' and '.join(counted)} counted" if counted else "placement counts only GPUs"]
    if existing := sum(kind.hosts for kind in host_kinds(hardware.existing)):
        said.append(f"{number(existing)} existing host{'s' * (existing != 1)}")
    if others := sum(each.vms for each in other_vms(hardware.other_vms)):
        said.append(f"{amount(others, 'VM')} without a GPU")
    return {"hint": ", ".join(said)}


@partial(form, "management", "Management domain", fold=True)
def management_form(workbook: Workbook) -> dict[str, Any]:
    """Return how many hosts the management domain needs."""
    domain = workbook.plan.management
    said = "" if domain is None else f"{amount(domain.needed_hosts, 'host')} needed"
    return {"hint": said + ", too few stated" * bool(domain and domain.short)}


def _order_hint(workbook: Workbook) -> str:
    line = workbook.plan.host_line
    if line is None:
        return ""
    short = "; ".join(f"{part.short}: {part.name.lower()}" for part in line.short)
    sizes = ", ".join(part.size for part in line.parts if part.key in ("processors", "memory"))
    return f"{sizes}; {short}" if short else sizes


@details("host-line", "GPU host to order", _order_hint, lambda workbook: workbook.plan.host_line)
def host_line_data(workbook: Workbook) -> Contents:
    """Return a new GPU host, part by part."""
    return {"tables": [screen(platform.host_line(workbook.plan).without("sources"))]}


def _management_hint(workbook: Workbook) -> str:
    domain = workbook.plan.management
    if domain is None:
        return ""
    return f"{number(domain.vcpus)} vCPUs and {number(domain.memory_gb)} GB on {amount(domain.needed_hosts, 'host')}"


@details(
    "management",
    "Management appliances and hosts",
    _management_hint,
    lambda workbook: workbook.plan.management,
)
def management_data(workbook: Workbook) -> Contents:
    """Return the appliances of the management domain, and one of its hosts."""
    tables = platform.management(workbook.plan), platform.management_hosts(workbook.plan)
    return {"tables": [screen(table.without("sources"), table.title) for table in tables]}


@panel("What fits on existing hosts", needs="inventory")
def inventory_data(workbook: Workbook) -> Contents:
    """Return the demand that fits on existing hosts, and the purchases for the rest."""
    makers = platform.hosts_there, platform.inventory
    return {"tables": [screen(table(workbook.plan)) for table in makers]}


EXISTING = "hardware.existing"


@partial(Card, "grid")
def existing_grid(workbook: Workbook) -> contract.Grid:
    """Return the grid of existing hosts, a row for each kind and one more to type into, and an upload button."""
    gpus = [("", "as new"), *((g.id, g.name) for g in workbook.catalog.gpus.values())]
    grid = _grid(workbook, EXISTING, NAMES["column of the hosts there"], {"gpu": gpus}, "as new")
    return grid | {
        "file": {
            "label": "Import from CSV",
            "hint": "One row per host or kind of host; column gpus, and optionally hosts, model, vcpus, memory_gib, name",
            "event": "hosts-file",
            "most": MOST_FILE_BYTES,
        }
    }


def take_hosts(workbook: Workbook, name: str, content: bytes) -> None:
    """Take the hosts of a file as the existing ones; a file that cannot be used leaves everything unchanged."""
    shown, gpus = shown_name(name), {gpu.id: gpu.name for gpu in workbook.catalog.gpus.values()}
    try:
        if len(content) > MOST_FILE_BYTES:
            raise refusal("audit.hosts.too large", most=f"{MOST_FILE_BYTES:,}")
        imported = hosts_in(BytesIO(content), gpus)
    except TraceError as error:
        workbook.say("stop", f"{shown} was not imported. {one_line(str(error))}.")
        return
    left = f" Left out: {'; '.join(imported.left_out)}." if imported.left_out else ""
    if not imported.existing:
        workbook.say("stop", f"{shown} was not imported: none of its hosts has a GPU in the catalog.{left}")
        return
    workbook.edit(EXISTING, imported.existing)
    taken = sum(kind.hosts for kind in host_kinds(imported.existing))
    workbook.say(
        "warn" if left else "note", f"{shown}: {amount(taken, 'host')} imported as existing hosts.{left}"
    )


@partial(Card, "grid")
def other_vms_grid(workbook: Workbook) -> contract.Grid:
    """Return the grid of the VMs without a GPU."""
    return _grid(workbook, "hardware.other_vms", NAMES["column of the VMs without a GPU"], {}, "not counted")


def _grid(
    workbook: Workbook,
    path: str,
    heads: Mapping[str, str],
    options: Mapping[str, list[tuple[str, str]]],
    empty: str,
) -> contract.Grid:
    """Return a grid of an input that holds rows."""
    rows, field = rows_of(workbook.seen, path), field_of(path)
    counts = [int(row[COUNT[path]]) for row in rows]
    return {
        "fold": field.label,
        "hint": ", ".join(amount(n, {"hosts": "host", "vms": "VM"}[COUNT[path]]) for n in counts) or "none",
        "head": "Kind",
        "heads": [
            {"name": key, "text": text, "question": field.question, "full": text}
            for key, text in heads.items()
        ],
        "rows": [
            {
                "id": str(at),
                "name": f"{at}" if at <= len(rows) else "new",
                "letter": "",
                "colour": 0,
                "cells": [
                    _cell(workbook, f"{path}.{at}.{key}", text, row.get(key), options.get(key, []), empty)
                    for key, text in heads.items()
                ],
            }
            for at, row in enumerate([*rows, {}], 1)
        ],
        "stale": workbook.stale,
    }


def _cell(
    workbook: Workbook, path: str, label: str, value: Any, options: list[tuple[str, str]], empty: str
) -> contract.Field:
    """Return one cell of such a grid, in the form's format."""
    key = path.rpartition(".")[2]
    shown = workbook.drafts[path][0] if path in workbook.drafts else value
    return {
        "path": path,
        "label": label,
        "question": "",
        "low": 0,
        "high": 0,
        "kind": "select" if options else "text",
        "value": "" if shown is None else str(shown),
        "options": [{"value": v, "text": t} for v, t in options],
        "unit": "",
        "empty": "" if key in ("name", *COUNT.values()) else empty,
        "problem": workbook.problem_of(path),
        "locked": workbook.locked(path),
        "assumed": False,
        "known": "",
    }


BITFUSION = "Bitfusion, by memory"
WORDS = {"yes": "yes", "no": "no", "unknown": "not known"}


def _word(mode: SharingMode) -> str:
    """Return a word for whether GPUs can be shared that way; Bitfusion can no longer be bought."""
    owned = mode.id == "bitfusion" and mode.verdict == "yes"
    return "only if owned" if owned else WORDS[mode.verdict]


@partial(Card, "allowed")
def allowed_data(workbook: Workbook) -> dict[str, Any]:
    """Return every way to share GPUs, whether this GPU on this version supports it, and the rule with its source."""
    catalog, scenario = workbook.catalog, workbook.scenario
    if scenario.hardware.gpu not in catalog.gpus or scenario.platform.vsphere not in catalog.vsphere:
        scenario = workbook.plan.scenario  # a link may name hardware missing from this catalog
    gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
    return {
        "title": f"What {gpu.name} on {version.name} allows",
        "modes": [
            attributes(mode, "id", "name", "verdict", "text")
            | {"word": _word(mode), "source": source_titles(workbook, mode.sources)}
            for mode in sharing_modes(scenario, catalog)
        ],
    }


def _shared_hint(workbook: Workbook) -> str:
    pools = workbook.plan.pools
    ways = sum(len(pool.shared) for pool in pools)
    stranded = sum(idle.gpus for pool in pools for idle in pool.idle if not idle.fits)
    said = f"{ways} sharing mode{'s' * (ways > 1)} in use" if ways else "no GPU is shared"
    return f"{said}, {amount(stranded, 'GPU') if stranded else 'nothing'} stranded"


@panel("GPUs by profile", needs="pools")
def shared_data(workbook: Workbook) -> Contents:
    """Return the shared GPUs with their proof, and the idle ones."""
    return {
        "hint": _shared_hint(workbook),
        "tables": [
            table for pool in shown_clusters(workbook) for table in _shared_tables(workbook.plan, pool)
        ],
    }


def _shared_tables(plan: Plan, pool: Pool) -> list[dict[str, Any]]:
    of, names = f"{pool.name}: " if len(plan.pools) > 1 else "", group_names(plan)

    def asked(shared: Shared) -> list[Request]:
        return [r for r in pool.requests if r.family is not None and r.family.name == shared.family]

    columns = (
        Column("family", "Shared as", words=lambda name: BITFUSION if name == "bitfusion" else name),
        Column(
            "gpus", "GPUs", "number", of=lambda s: Cell(s.gpus, line=f"pools.{pool.id}.shared.{s.family}")
        ),
        Column("proof", "Proof", of=_proof),
        Column("groups", "Who", of=lambda shared: ", ".join(names[r.group] for r in asked(shared))),
        Column("most", "On one GPU", of=lambda shared: _per_gpu(asked(shared))),
    )
    shared = listed("shared", columns, pool.shared, title="")
    idle = Column("idle", "", of=lambda each: Cell(idle_text(plan, each), tone="" if each.fits else "warn"))
    none = "" if pool.idle else "All GPUs on hosts in use are occupied."
    return [
        screen(shared, f"{of}shared GPUs", "" if pool.shared else "No GPU is shared."),
        screen(listed("idle", (idle,), pool.idle, title=""), f"{of}idle on hosts in use", none)
        | {"heads": []},
    ]


def _proof(shared: Shared) -> Cell:
    if shared.gpus == shared.bound:
        return Cell("proven minimum")
    return Cell(f"at least {number(shared.bound)}", tone="warn")


def _per_gpu(asked: list[Request]) -> str:
    """Say how much of its family one GPU holds."""
    family = asked[0].family if asked else None
    if family is None:
        return ""
    if family.capacity:
        shares = ", ".join(dict.fromkeys(number(r.weight) for r in asked))
        return f"{number(family.capacity)} MB, in shares of {shares}"
    alone = [(max(layout[at] for layout in family.layouts), name) for at, name in enumerate(family.profiles)]
    if len(alone) == 1:
        return f"{alone[0][0]} of {alone[0][1]}"
    return "up to " + ", or ".join(f"{most} of {name}" for most, name in alone)
