"""GPU sharing: the hardware, the modes it allows on this version, and shared, idle and stranded GPUs."""

from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Any

from gpuplan.app.cards import Body, Card, Contents, attributes, details, panel, source_titles
from gpuplan.app.forms import choices, form
from gpuplan.app.groups import COUNT, rows_of
from gpuplan.app.state import Workbook
from gpuplan.app.steps.estate import MOST_FILE_BYTES, show_estate
from gpuplan.app.steps.failures import shown_clusters
from gpuplan.audit.inventories import existing_of, read_estate
from gpuplan.audit.trace import TraceError, refusal
from gpuplan.models.placement import Request, Shared
from gpuplan.plan import Plan
from gpuplan.plan.host_line import HostLine
from gpuplan.plan.hosts import Pool
from gpuplan.plan.management import ManagementDomain
from gpuplan.plan.sharing import sharing_modes
from gpuplan.report import amount, group_names, idle_text, number
from gpuplan.report.table import Cell, Worded, screen, tabulate
from gpuplan.report.tables import platform
from gpuplan.scenario import (
    DAYS,
    EXISTING_HOSTS,
    KINDS_PATH,
    field_of,
    host_kinds,
    one_line,
    other_vms,
    shown_name,
    views,
)
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, joined, said

hardware_form, sharing_form = form("hardware"), form("sharing")
COUNTED = {
    (False, False): "screen.hardware.only GPUs",
    (True, False): "screen.hardware.CPU",
    (False, True): "screen.hardware.memory",
    (True, True): "screen.hardware.CPU and memory",
}
"""Whether CPU and memory are stated for hosts and VMs -> what placement counts."""
EXISTING = "hardware.existing"
OWN, DATED = ("name", "hosts", "vms"), [EXISTING_HOSTS.keys[name] for name in DAYS]
"""Columns that no new host has a value for, and those of days."""


@partial(form, "host", fold=True)
def more_form(workbook: Workbook) -> dict[str, Any]:
    hardware, groups = workbook.scenario.hardware, workbook.scenario.groups
    vcpus = bool(hardware.vcpus_per_host) and any(group.vcpus_each for group in groups)
    memory = bool(hardware.memory_gib_per_host) and any(group.memory_gib_each for group in groups)
    hint = [said(COUNTED[vcpus, memory])]
    if existing := sum(kind.hosts for kind in host_kinds(hardware.existing)):
        hint.append(said("screen.hardware.existing", hosts=existing))
    if others := sum(each.vms for each in other_vms(hardware.other_vms)):
        hint.append(said("screen.hardware.without a GPU", vms=others))
    return {"hint": ", ".join(hint)}


@partial(form, "management", fold=True)
def management_form(workbook: Workbook) -> dict[str, Any]:
    domain = workbook.plan.management
    if domain is None:
        return {"hint": ""}
    key = "screen.hardware.too few hosts" if domain.short else "screen.hardware.hosts needed"
    return {"hint": said(key, hosts=domain.needed_hosts)}


def _order_hint(line: HostLine) -> str:
    short = "; ".join(f"{part.short}: {part.name.lower()}" for part in line.short)
    sizes = ", ".join(part.size for part in line.parts if part.key in ("processors", "memory"))
    return f"{sizes}; {short}" if short else sizes


@details("host-line", lambda workbook: workbook.plan.host_line, hint=_order_hint)
def host_line_data(workbook: Workbook, _line: HostLine) -> Body:
    return platform.host_line(workbook.plan).without("sources")


@details(
    "management",
    lambda workbook: workbook.plan.management,
    hint=lambda domain: said("screen.hardware.management", domain=domain),
)
def management_data(workbook: Workbook, _domain: ManagementDomain) -> Body:
    tables = platform.management(workbook.plan), platform.management_hosts(workbook.plan)
    return {"tables": [screen(table.without("sources"), table.title) for table in tables]}


@panel(needs="inventory")
def inventory_data(workbook: Workbook, _inventory: Any) -> Contents:
    why = " ".join(message.text for message in workbook.messages if message.code == "owned-hosts-not-used")
    there = screen(platform.hosts_there(workbook.plan), more=why)
    return {"tables": [there, screen(platform.inventory(workbook.plan))]}


@partial(Card, "grid")
def existing_grid(workbook: Workbook) -> contract.Grid:
    gpus = [("", "as new"), *((g.id, g.name) for g in workbook.catalog.gpus.values())]
    grid = _grid(workbook, EXISTING, NAMES["column of the hosts there"], {"gpu": gpus}, "as new")
    label, hint = said("screen.hardware.import"), said("screen.hardware.rows")
    accept, most = ".csv,.txt,.gz,.json,.xlsx", MOST_FILE_BYTES
    file = contract.File(label=label, hint=hint, event="hosts-file", accept=accept, most=most)
    return grid | {"file": file}


def take_hosts(workbook: Workbook, name: str, content: bytes) -> None:
    """Take the hosts of a file as the existing ones; a file that cannot be used leaves everything unchanged."""
    shown, catalog = shown_name(name), workbook.catalog
    try:
        if len(content) > MOST_FILE_BYTES:
            raise refusal("audit.hosts.too large", most=f"{MOST_FILE_BYTES:,}")
        estate = read_estate([(name, BytesIO(content))], catalog)
        imported = existing_of(estate, catalog)
    except TraceError as error:
        workbook.say("stop", said("screen.hardware.not imported", name=shown, why=one_line(str(error))))
        return
    left_out = "; ".join(imported.left_out)
    left = said("screen.hardware.left out", what=left_out) if left_out else ""
    left += said("screen.hardware.unread", names=", ".join(imported.unread)) if imported.unread else ""
    left += "".join(f" {note}." for note in imported.notes)
    if not imported.existing:
        workbook.say("stop", said("screen.hardware.no GPU known", name=shown, left=left))
        return
    workbook.edit(EXISTING, imported.existing)
    show_estate(workbook, estate, shown, content)
    taken = sum(kind.hosts for kind in host_kinds(imported.existing))
    text = said("screen.hardware.imported", name=shown, hosts=taken, left=left)
    workbook.say("warn" if imported.left_out or imported.unread else "note", text)


@partial(Card, "grid")
def other_vms_grid(workbook: Workbook) -> contract.Grid:
    return _grid(workbook, "hardware.other_vms", NAMES["column of the VMs without a GPU"], {}, "not counted")


UNITS = {"hosts": "host", "vms": "VM", "gpus_per_host": "GPU"}
"""Column that every row needs -> what it counts."""


@partial(Card, "grid")
def kinds_grid(workbook: Workbook) -> contract.Grid:
    catalog, storages = workbook.catalog, NAMES["storage of a kind of hosts"]
    options = {
        "gpu": [(gpu.id, gpu.name) for gpu in catalog.gpus.values()],
        "server": [
            ("", said("screen.hardware.not chosen")),
            *((s.id, s.name) for s in catalog.servers.values()),
        ],
        "storage": [("", next(iter(storages.values()))), *storages.items()],
    }
    return _grid(workbook, KINDS_PATH, NAMES["column of a kind of hosts"], options, "not counted")


def _grid(
    workbook: Workbook,
    path: str,
    heads: Mapping[str, str],
    options: Mapping[str, list[tuple[str, str]]],
    empty: str,
) -> contract.Grid:
    rows, field = rows_of(workbook.seen, path), field_of(path)
    counts = [amount(int(row[COUNT[path]]), UNITS[COUNT[path]]) for row in rows]
    if path == KINDS_PATH:
        counts = [f"{row['name']}: {gpus}" for row, gpus in zip(rows, counts, strict=True)]
    listed = list[contract.GridRow]()
    for at, row in enumerate([*rows, {}], 1):
        of = ((f"{path}.{at}.{key}", text, row, options.get(key, [])) for key, text in heads.items())
        needed = workbook.needed(path, at)
        cells = [_cell(workbook, *each, empty, needed) for each in of]
        name = f"{at}" if at <= len(rows) else "new"
        listed.append({"id": str(at), "name": name, "letter": "", "colour": 0, "cells": cells})
    return {
        "fold": field.label,
        "hint": ", ".join(counts) or "none",
        "head": "Kind",
        "heads": [
            {"name": key, "text": text, "question": field.question, "full": text}
            for key, text in heads.items()
        ],
        "rows": listed,
        "stale": workbook.stale,
    }


def _cell(
    workbook: Workbook,
    path: str,
    label: str,
    row: Mapping[str, Any],
    options: list[tuple[str, str]],
    empty: str,
    needed: Sequence[str],
) -> contract.Field:
    key = path.rpartition(".")[2]
    shown = workbook.drafts[path][0] if path in workbook.drafts else row.get(key)
    usual = said("screen.hardware.unknown") if key in DATED else "" if key in OWN else empty
    empty = said("screen.hardware.own cluster") if key == "cluster" else usual
    if key in needed:
        empty = said("screen.hardware.asked", name=label)
        options = [("", empty), *options] if options else []
    return {
        "path": path,
        "label": label,
        "kind": "select" if options else "text",
        "value": "" if shown is None else str(shown),
        "options": choices(workbook, path, options, row),
        "empty": empty,
        "problem": workbook.problem_of(path),
        "locked": workbook.locked(path),
        "question": "",
        "low": 0,
        "high": 0,
        "unit": "",
        "assumed": False,
        "known": "",
    }


@partial(Card, "allowed")
def allowed_data(workbook: Workbook) -> dict[str, Any]:
    """Return every way to share GPUs, whether this GPU on this version supports it, and the rule with its source."""
    catalog, scenario = workbook.catalog, workbook.scenario
    kinds = {view.hardware.gpu: view for view in views(scenario)}
    if not kinds.keys() <= catalog.gpus.keys() or scenario.platform.vsphere not in catalog.vsphere:
        scenario = workbook.plan.scenario  # a link may name hardware missing from this catalog
        kinds = {view.hardware.gpu: view for view in views(scenario)}
    words, version = NAMES["verdict on sharing"], catalog.vsphere[scenario.platform.vsphere]
    names = {gpu: catalog.gpus[gpu].name for gpu in kinds}
    return {
        "title": said("screen.hardware.allows", gpu=joined([*names.values()]), version=version.name),
        "modes": [
            attributes(mode, "verdict", "text")
            | {
                "id": f"{gpu}-{mode.id}" if len(kinds) > 1 else mode.id,
                "name": f"{names[gpu]}: {mode.name}" if len(kinds) > 1 else mode.name,
                # Bitfusion can no longer be bought
                "word": words["owned" if (mode.id, mode.verdict) == ("bitfusion", "yes") else mode.verdict],
                "source": source_titles(workbook, mode.sources),
            }
            for gpu, view in kinds.items()
            for mode in sharing_modes(view, catalog)
        ],
    }


@panel(needs="pools")
def shared_data(workbook: Workbook, pools: Sequence[Pool]) -> Contents:
    ways = sum(len(pool.shared) for pool in pools)
    stranded = sum(idle.gpus for pool in pools for idle in pool.idle if not idle.fits)
    shown = [table for pool in shown_clusters(workbook) for table in _shared_tables(workbook.plan, pool)]
    modes = said("screen.hardware.modes" if ways else "screen.hardware.none shared", count=ways)
    idle = amount(stranded, "GPU") if stranded else said("screen.hardware.nothing")
    return {"hint": said("screen.hardware.modes in use", ways=modes, stranded=idle), "tables": shown}


def _shared_tables(plan: Plan, pool: Pool) -> list[dict[str, Any]]:
    of, names = f"{pool.name}: " if len(plan.pools) > 1 else "", group_names(plan)

    def asked(shared: Shared) -> list[Request]:
        return [r for r in pool.requests if r.family is not None and r.family.name == shared.family]

    own: dict[str, Any] = {"proof": _proof, "most": lambda shared: _per_gpu(asked(shared))}
    own["family"] = Worded(lambda name: said("screen.hardware.bitfusion") if name == "bitfusion" else name)
    own["gpus"] = lambda s: Cell(s.gpus, line=f"pools.{pool.id}.shared.{s.family}")
    own["groups"] = lambda shared: ", ".join(names[r.group] for r in asked(shared))
    shared = tabulate("shared", pool.shared, title="", **own)
    left: dict[str, Any] = {"title": ""}
    left["idle"] = lambda each: Cell(idle_text(plan, each), tone="" if each.fits else "warn")
    idle = tabulate("idle_gpus", pool.idle, **left)
    none = "" if pool.shared else said("screen.hardware.no GPU shared")
    occupied = "" if pool.idle else said("screen.hardware.all occupied")
    rest = screen(idle, said("screen.hardware.idle", of=of), occupied) | {"heads": []}
    return [screen(shared, said("screen.hardware.shared", of=of), none), rest]


def _proof(shared: Shared) -> Cell:
    if shared.gpus == shared.bound:
        return Cell(said("screen.hardware.proven"))
    return Cell(said("screen.hardware.at least", bound=shared.bound), tone="warn")


def _per_gpu(asked: list[Request]) -> str:
    """Say how much of its family one GPU holds."""
    family = asked[0].family if asked else None
    if family is None:
        return ""
    if family.capacity:
        shares = ", ".join(dict.fromkeys(number(r.weight) for r in asked))
        return said("screen.hardware.in shares", memory=family.capacity, shares=shares)
    alone = [(max(layout[at] for layout in family.layouts), name) for at, name in enumerate(family.profiles)]
    if len(alone) == 1:
        return said("screen.hardware.of", most=alone[0][0], name=alone[0][1])
    ways = (said("screen.hardware.of", most=most, name=name) for most, name in alone)
    return said("screen.hardware.up to", ways=", or ".join(ways))
