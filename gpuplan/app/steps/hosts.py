"""The picture of the hosts with who is on which GPU, in three degrees of detail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpuplan.app.cards import group_colours
from gpuplan.app.page import Card, Picture, box
from gpuplan.app.state import Workbook
from gpuplan.app.steps import failures, hardware, posture
from gpuplan.app.steps.failures import runs, verdict
from gpuplan.models.availability.failover import Outcome
from gpuplan.models.placement import Family, Host, Load, Room, Slot
from gpuplan.models.sharing import layout_starts
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.sharing import pieces_of
from gpuplan.report import amount, group_names, number
from gpuplan.report.charts.availability import capacity_chart
from gpuplan.report.tables import host_kinds
from gpuplan.scenario import UNASSIGNED
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import MODE_NAMES

LARGE, COMPACT = 16, 64
"""Up to so many hosts are drawn large, and up to so many compact; above, one tile stands for all that are alike."""

SHOWN_KINDS = 24
SHOWN_PARTS = 8
"""Pieces of one GPU that are drawn one by one; more are drawn as one piece for each group."""


@dataclass(frozen=True)
class _Ink:
    """How groups look, and how large their pieces are."""

    names: dict[str, str]
    letters: dict[str, str]
    colours: dict[str, int]
    profiles: dict[str, str]
    piece_mb: dict[str, int]
    gpu_mb: int
    plan: Plan
    known: dict[tuple[str, tuple[int, ...]], tuple[str, str]]
    """What is said of the shares on a GPU, by family and counts, where it was asked before of this plan."""


def picture_data(workbook: Workbook) -> dict[str, Any]:
    """The hosts of every pool with who is on which GPU, before or after the failures clicked."""
    plan = workbook.plan
    colours = group_colours(workbook)
    data: dict[str, Any] = {
        "pools": [_pool(workbook, pool) for pool in plan.pools],
        "click": workbook.click,
        "any_down": any((*workbook.failed.values(), *workbook.maintenance.values())),
        "stale": workbook.stale,
    }
    legend = [
        {
            "letter": g.letter,
            "colour": colours[g.id],
            "name": g.name,
            "about": f"{number(g.vms_placed)} x {amount(g.gpus_each, 'GPU')}, {MODE_NAMES[g.mode]}"
            + (f" {g.profile}" if g.profile and g.gpus_each < 1 else ""),
        }
        for g in plan.groups
        if g.vms_placed
    ]
    if any(request.group == UNASSIGNED for pool in plan.pools for request in pool.requests):
        name = group_names(plan)[UNASSIGNED]
        legend.append({"letter": "\u00b7", "colour": 0, "name": name, "about": "stated, but of no group"})
    return data | {"legend": legend}


def _ink(workbook: Workbook, pool: Pool) -> _Ink:
    plan = workbook.plan
    pieces = {g.id: g.frame_buffer_mb // max(1, g.vgpus_each) for g in plan.groups}
    pieces |= {r.group: r.weight for r in pool.requests if r.weight}
    return _Ink(
        names=group_names(plan),
        letters={g.id: g.letter for g in plan.groups} | {UNASSIGNED: "\u00b7"},
        colours=group_colours(workbook) | {UNASSIGNED: 0},
        profiles={g.id: g.profile for g in plan.groups},
        piece_mb=pieces,
        gpu_mb=int(plan.catalog.gpus[pool.gpu].fact("memory_gib").value * MIB_PER_GIB),
        plan=plan,
        known=workbook.once("shares of a GPU in words", dict),
    )


def _pool(workbook: Workbook, pool: Pool) -> dict[str, Any]:
    zoom = "large" if pool.hosts <= LARGE else "compact" if pool.hosts <= COMPACT else "kinds"
    data = {
        "id": pool.id,
        "name": pool.name,
        "about": _about(workbook.plan, pool),
        "zoom": zoom,
        "wide": max(room.gpus for room in pool.rooms) > 4,
        "worst": _worst_buttons(workbook, pool),
        "verdict": verdict(workbook, pool),
    }
    ink = _ink(workbook, pool)
    outcome = workbook.outcome(pool.id)
    failed = frozenset(workbook.failed.get(pool.id, ()))
    maintenance = frozenset(workbook.maintenance.get(pool.id, ()))
    arrivals = _arrivals(outcome, ink)
    if zoom == "kinds":
        kinds = workbook.once(f"kinds of {pool.id}", lambda: host_kinds(pool))
        last = _last_down(workbook, pool)
        tiles = [
            _kind(pool, kind, ink, failed, maintenance, arrivals) | {"back": _back(kind, last)}
            for kind in kinds[:SHOWN_KINDS]
        ]
        return data | {"hosts": tiles, "more": max(0, len(kinds) - SHOWN_KINDS)}
    tiles = []
    for index in range(pool.hosts):
        down = "failed" if index + 1 in failed else "maintenance" if index + 1 in maintenance else ""
        loads = pool.placement[index] if down or outcome is None else outcome.hosts[index]
        tiles.append(_host(pool, index, loads, down, arrivals.get(index, []), ink, zoom, outcome is not None))
    return data | {"hosts": tiles, "more": 0}


def _worst_buttons(workbook: Workbook, pool: Pool) -> dict[str, Any]:
    """What can be failed at once: the worst host and the worst pair, beside those in maintenance."""
    down = workbook.maintenance.get(pool.id, ())
    hosts = (
        amount(len(down), "host")
        if len(down) > 3
        else f"{'host' if len(down) == 1 else 'hosts'} {runs(down)}"
    )
    return {
        "beside": f"Beside {hosts}" if down else "",
        "buttons": [
            {"lost": lost, "text": words, "name": f"{words} beside {hosts} in maintenance" if down else words}
            for lost, words in ((1, "Worst failure"), (2, "Worst pair"))
            if pool.hosts - len(down) >= lost
        ],
    }


def _about(plan: Plan, pool: Pool) -> str:
    server = plan.catalog.servers[pool.server].name if pool.server else "server to be chosen"
    gpu = plan.catalog.gpus[pool.gpu].name
    there = pool.existing_hosts
    old = f"{number(there)} there already with {amount(pool.rooms[0].gpus, 'GPU')} each, " if there else ""
    return f"{old}{number(pool.hosts - there)} x {server}, {pool.gpus_per_host} x {gpu}"


def _arrivals(outcome: Outcome | None, ink: _Ink) -> dict[int, list[str]]:
    """VMs that a host gets, by its index; a VM that goes on from there is not one of them."""
    where: dict[tuple[str, int], int] = {}
    if outcome is not None:
        for group, vm, _, host in (*outcome.evacuated, *outcome.moved):
            where[group, vm] = host
        for group, vm, host in outcome.restarted:
            where[group, vm] = host
        for lost in outcome.unplaced:
            where.pop(lost, None)
    found: dict[int, list[str]] = {}
    for (group, vm), host in where.items():
        letter = ink.letters[group]
        found.setdefault(host, []).append(f"{letter}{'.' if letter.isdigit() else ''}{vm}")
    return found


def _last_down(workbook: Workbook, pool: Pool) -> list[int]:
    """Numbers of the hosts that are down, those first that one would bring back first."""
    down = [workbook.failed.get(pool.id, ()), workbook.maintenance.get(pool.id, ())]
    if workbook.click == "maintain":
        down.reverse()
    return [n for numbers in down for n in reversed(numbers)]


def _back(members: list[int], last: list[int]) -> int:
    """Number of the host of a kind to bring back; 0 if all of them run."""
    mine = set(members)
    return next((n for n in last if n - 1 in mine), 0)


def _kind(
    pool: Pool,
    members: list[int],
    ink: _Ink,
    failed: frozenset[int],
    maintenance: frozenset[int],
    arrivals: dict[int, list[str]],
) -> dict[str, Any]:
    """One tile for all hosts that are filled alike; a click takes one of them."""
    first = members[0]
    numbers = [index + 1 for index in members]
    running = [n for n in numbers if n not in failed and n not in maintenance]
    down = len(members) - len(running)
    landing = sum(len(arrivals.get(index, ())) for index in members) if arrivals else 0
    loads, room = pool.placement[first], pool.rooms[first]
    said = [
        f"{number(count)} {what}"
        for count, what in (
            (sum(n in failed for n in numbers), "failed"),
            (sum(n in maintenance for n in numbers), "in maintenance"),
        )
        if count
    ]
    if landing:
        said.append(f"gets {amount(landing, 'VM')}")
    state = (
        ("failed" if any(n in failed for n in numbers) else "maintenance")
        if down
        else "landing"
        if landing
        else ""
    )
    state = state or ("" if loads else "spare")
    word = ", ".join(said) or _use_word(loads, room)
    return {
        "number": running[0] if running else 0,
        "at": f"kind-{numbers[0]}",
        "head": f"\u00d7\u202f{number(len(members))}",
        "state": state,
        "all_down": not running,
        "word": word,
        "title": f"Hosts {runs(numbers)}",
        "name": f"{amount(len(members), 'host')} like this, {word}: {_summary(loads, ink)}",
        "gpus": _gpus(loads, room, ink, "kinds"),
    }


def _host(
    pool: Pool,
    index: int,
    loads: Host,
    down: str,
    arrivals: list[str],
    ink: _Ink,
    zoom: str,
    something_down: bool,
) -> dict[str, Any]:
    room = pool.rooms[index]
    if down:
        state, word = down, "failed" if down == "failed" else "in maintenance"
    elif arrivals:
        state, word = (
            "landing",
            "gets " + (", ".join(arrivals) if len(arrivals) <= 3 else f"{len(arrivals)} VMs"),
        )
    elif not loads:
        state, word = "spare", "spare"
    else:
        state, word = "", "keeps running" if something_down else _use_word(loads, room)
    free = _free_words(pool, loads, room)
    return {
        "number": index + 1,
        "at": f"host-{index + 1}",
        "head": f"Host {index + 1}" if zoom == "large" else str(index + 1),
        "state": state,
        "word": word,
        "title": ". ".join(filter(None, [f"Host {index + 1}: {word}", free])),
        "name": f"Host {index + 1}, {word}: {_summary(loads, ink)}",
        "gpus": _gpus(loads, room, ink, zoom),
    }


def _use_word(loads: Host, room: Room) -> str:
    return f"{sum(load.gpus for load in loads)} of {room.gpus} used" if loads else "spare"


def _summary(loads: Host, ink: _Ink) -> str:
    """Who is on a host, in a few words."""
    vms = Counter(group for group, _ in {(slot.group, slot.vm) for load in loads for slot in load.slots})
    return ", ".join(f"{number(n)} x {ink.names[g]}" for g, n in sorted(vms.items())) or "nobody on it"


def _free_words(pool: Pool, loads: Host, room: Room) -> str:
    """CPU and memory that are left on a host, where they are counted."""
    requests = {request.group: request for request in pool.requests}
    on_it = [requests[group] for group, _ in {(slot.group, slot.vm) for load in loads for slot in load.slots}]
    said = []
    for offered, used, unit in (
        (room.vcpus, sum(r.vcpus for r in on_it), "vCPUs"),
        (room.memory_gib, sum(r.memory_gib for r in on_it), "GiB memory"),
    ):
        if offered:
            said.append(f"{number(offered - used)} of {number(offered)} {unit} free")
    return ", ".join(said)


def _gpus(loads: Host, room: Room, ink: _Ink, zoom: str) -> list[dict[str, Any]]:
    """The GPUs of a host, each with its pieces."""
    gpus: list[dict[str, Any]] = []
    for load in loads:
        for _ in range(load.gpus):
            draw = _whole_gpu if load.family is None else _shared_gpu
            gpus.append(draw(load, len(gpus) + 1, ink, zoom))
    for n in range(len(gpus) + 1, room.gpus + 1):
        gpus.append({"parts": [], "free": 1, "rest": 0, "title": f"GPU {n}: free"})
    return gpus


def _whole_gpu(load: Load, gpu: int, ink: _Ink, zoom: str) -> dict[str, Any]:
    slot = load.slots[0]
    what = ink.profiles.get(slot.group) or "whole GPU"
    several = f", {load.gpus} GPUs in this host" if load.gpus > 1 else ""
    return {
        "parts": [_part(slot.group, 1, ink.letters[slot.group], ink)],
        "free": 0,
        "rest": 0,
        "title": f"GPU {gpu}: {what}. {ink.names[slot.group]} {slot.vm}{several}",
    }


def _part(group: str, weight: int, text: str, ink: _Ink) -> dict[str, Any]:
    return {"text": text, "colour": ink.colours[group], "weight": weight}


def _shared_gpu(load: Load, gpu: int, ink: _Ink, zoom: str) -> dict[str, Any]:
    """A GPU that several pieces share, in proportion to their frame buffer."""
    family = load.family
    assert family is not None
    used = sum(_piece_mb(slot, ink) for slot in load.slots)
    left = max(0, ink.gpu_mb - used)
    layout, room_for = _shared_words(load, family, left, ink)
    people: dict[str, list[int]] = {}
    for slot in load.slots:
        people.setdefault(slot.group, []).append(slot.vm)
    who = ", ".join(f"{ink.names[g]} {runs(vms)}" for g, vms in people.items())
    if zoom == "large" and len(load.slots) <= SHOWN_PARTS:
        parts = [_part(s.group, _piece_mb(s, ink), ink.letters[s.group], ink) for s in load.slots]
    else:
        parts = _parts_by_group(load.slots, ink, zoom)
    return {
        "parts": parts,
        "free": left if room_for else 0,
        "rest": 0 if room_for else left,
        "title": f"GPU {gpu}: {layout}. {who}. {room_for or 'No room for more'}",
    }


def _piece_mb(slot: Slot, ink: _Ink) -> int:
    return ink.piece_mb.get(slot.group, 0) or 1


def _parts_by_group(slots: Sequence[Slot], ink: _Ink, zoom: str) -> list[dict[str, Any]]:
    """One piece for each group; where there are more than two, the letters of the two largest."""
    weights: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for slot in slots:
        weights[slot.group] += _piece_mb(slot, ink)
        counts[slot.group] += 1
    lettered = {group for group, _ in weights.most_common(2)}
    parts = []
    for group, weight in weights.items():
        letter = ink.letters[group] if group in lettered else ""
        many = zoom == "large" and len(weights) <= 2 and counts[group] > 1
        parts.append(_part(group, weight, f"{letter}\u00d7{counts[group]}" if many else letter, ink))
    return parts


def _shared_words(load: Load, family: Family, left: int, ink: _Ink) -> tuple[str, str]:
    """(what is on a shared GPU, what more it has room for)."""
    if family.capacity:
        asked = sum(slot.weight for slot in load.slots)
        free = family.capacity - asked
        return f"Bitfusion, {number(asked)} MB shared out", f"{number(free)} MB free" if free else ""
    counts = tuple(sum(slot.profile == name for slot in load.slots) for name in family.profiles)
    key = family.name, counts
    if key not in ink.known:
        around = [
            layout for layout in family.layouts if all(a >= b for a, b in zip(layout, counts, strict=True))
        ]
        sizes = family.sizes or (0,) * len(counts)
        least = min((size for size, n in zip(sizes, counts, strict=True) if n), default=0)
        more = (
            0 if family.in_order and sizes[at] > least else max((x[at] for x in around), default=n) - n
            for at, n in enumerate(counts)
        )  # a GPU with running MIG instances takes no larger one for sure
        fits = [f"{n} more {name}" for n, name in zip(more, family.profiles, strict=True) if n]
        ink.known[key] = _layout_words(family, counts, ink.plan), " or ".join(fits)
    layout, fitting = ink.known[key]
    return layout, f"{number(left)} MB free: room for {fitting}" if fitting else ""


def _layout_words(family: Family, counts: Sequence[int], plan: Plan) -> str:
    """The profiles on a GPU, and where each begins, where a source lists that."""
    pieces, region, compute_slices = pieces_of(plan.scenario, plan.catalog, family.profiles)
    if not pieces:
        return ", ".join(f"{n} x {name}" for n, name in zip(counts, family.profiles, strict=True) if n)
    on_it = [(piece, n) for piece, n in zip(pieces, counts, strict=True) if n]
    if compute_slices:  # MIG: the larger come first, each to the lowest start that is free
        on_it.sort(key=lambda one: (-one[0].size, -one[0].compute))
    starts = layout_starts(
        [n for _, n in on_it],
        pieces=[piece for piece, _ in on_it],
        region=region,
        compute_slices=compute_slices,
    )
    return ", ".join(
        f"{piece.name} at {_listed(where)}" for (piece, _), where in zip(on_it, starts, strict=True)
    )


def _listed(numbers: Sequence[int]) -> str:
    """Numbers as a list that ends with 'and'; of many the first and the last."""
    if len(numbers) > SHOWN_PARTS:
        return f"{number(len(numbers))} places from {numbers[0]} to {numbers[-1]}"
    *before, last = map(number, numbers)
    return f"{', '.join(before)} and {last}" if before else last


PAGE = box(
    "gp-page",
    Card("posture", posture.posture_data, slow=True),
    box(
        "gp-two",
        box(
            "gp-main",
            Card("hosts", picture_data),
            box(
                "gp-card",
                Card("tables", failures.failures_data),
                Picture(failures.capacity_drawn, capacity_chart, wide=False),
            ),
            box("gp-card", Card("tables", hardware.shared_data)),
            Card("form", posture.risk_form),
        ),
        box(
            "gp-side",
            Card("form", hardware.hardware_form),
            Card("form", hardware.more_form),
            Card("allowed", hardware.allowed_data),
        ),
    ),
)
