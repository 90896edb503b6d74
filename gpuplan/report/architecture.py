"""The logical and the physical design as drawings: domains, clusters and networks; racks with hosts and switches."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.racks import Rack, racks
from gpuplan.report.drawing import (
    ACCENT,
    EDGE,
    INK,
    LINE,
    PAGE,
    PALE,
    SIZE,
    SOFT,
    TINT,
    WHITE,
    WIDTH,
    Area,
    Drawing,
    Sheet,
    numbered,
    text_width,
    wrapped,
)
from gpuplan.report.physical import alike, on_kubernetes
from gpuplan.report.tables.plan import equipment
from gpuplan.wording import MODE_NAMES, NAMES, amount, said

MOST_BOXES, MOST_CLUSTERS, ACROSS = 3, 6, 4
"""Clusters side by side, most of them that are drawn, and racks side by side."""
UNIT, RAIL = 13.5, 54
"""Height of a rack unit in the drawing, and room for its number."""
WIDEST, LEAST_FREE = 220, 4
"""Greatest width of a rack, and the rack units as which free ones are drawn."""
PAD, GAP = 10, 12


class _Box(NamedTuple):
    title: str
    lines: Sequence[str]


def logical_svg(plan: Plan, wide: int = WIDTH) -> str:
    """Draw the management domain, the GPU workload domain with its clusters, users, storage and network."""
    drawing, names = Drawing(wide), [group.name for group in plan.groups]
    users = wrapped(said("logical.names", names=names), wide - 2 * PAD) if names else ()
    y = _band(drawing, 0, [_Box(said("logical.users"), users)], fill=WHITE)
    y = _arrow(drawing, y)
    top, y = y, y + PAD + LINE
    clusters = _clusters(plan, wide)
    for at in range(0, len(clusters), MOST_BOXES):
        y = _band(drawing, y, clusters[at : at + MOST_BOXES], fill=WHITE, inset=PAD) + GAP
    y = _band(drawing, y, [_services(plan, wide)], fill=WHITE, inset=PAD) + PAD
    frame = Drawing()
    frame.box(Area(0, top, wide, y - top), fill=TINT, stroke=ACCENT)
    frame.text(PAD, top + PAD + 8, said("logical.domain"), bold=True, room=wide - 2 * PAD, fill=ACCENT)
    drawing.shapes = frame.shapes + drawing.shapes
    y = _arrow(drawing, y)
    y = _band(drawing, y, _below(plan, wide), fill=PALE)
    return drawing.svg(y, said("logical.about", clusters=len(plan.pools)))


def _clusters(plan: Plan, all_wide: float) -> list[_Box]:
    """Draw the clusters, one box for identical ones."""
    kinds: dict[tuple[object, ...], list[Pool]] = {}
    for pool in plan.pools:
        alike = (pool.kind, pool.site, pool.hosts, pool.gpus, pool.hosts_for_failures)
        kinds.setdefault(alike, []).append(pool)
    shown = list(kinds.values())
    wide = _wide(all_wide, min(len(shown), MOST_BOXES), PAD) - 2 * PAD
    names = [p[0].name if len(p) == 1 else said("logical.alike", count=len(p)) for p in shown[:MOST_CLUSTERS]]
    boxes = [_Box(name, _cluster_lines(plan, p[0], wide)) for name, p in zip(names, shown, strict=False)]
    if len(shown) > MOST_CLUSTERS:
        rest = [pool for pools in shown[MOST_CLUSTERS - 1 :] for pool in pools]
        hosts, gpus = sum(pool.hosts for pool in rest), sum(pool.gpus for pool in rest)
        more = said("logical.more", count=len(rest))
        boxes[-1] = _Box(more, [amount(hosts, "host"), amount(gpus, "GPU")])
    return boxes


def _cluster_lines(plan: Plan, pool: Pool, wide: float) -> list[str]:
    modes = dict.fromkeys(MODE_NAMES[g.mode] for g in plan.groups if g.pool == pool.kind)
    key = "logical.spare" if pool.hosts_for_failures else "logical.no spare"
    spare = said(key, hosts=pool.hosts_for_failures)
    texts = (equipment(plan, pool), amount(pool.gpus, "GPU"), spare, ", ".join(modes))
    return [line for text in texts if text for line in wrapped(text, wide)]


def _services(plan: Plan, wide: float) -> _Box:
    lines = [said("logical.services")]
    if plan.scenario.management.supervisor not in (None, "none") or on_kubernetes(plan):
        names = [group.name for group in on_kubernetes(plan)] or ["\u2013"]
        lines.append(said("logical.supervisor", names=names))
    return _Box(said("logical.shared"), [part for line in lines for part in wrapped(line, wide - 4 * PAD)])


def _below(plan: Plan, all_wide: float) -> list[_Box]:
    domain, fabric = plan.management, plan.cabling
    wide = _wide(all_wide, 3, 0) - 2 * PAD
    managed = said("logical.management", hosts=domain.hosts, vcpus=round(domain.vcpus)) if domain else ""
    link, ports = plan.scenario.network.link_gbit_s, fabric.ports.total if fabric else 2
    network = said("logical.network", link=link, ports=ports)
    storage = NAMES["storage in the document"]["vsan" if plan.vsan else "external"]
    heads = ("logical.management head", "logical.network head", "logical.storage head")
    named = zip(heads, (managed, network, storage), strict=True)
    return [_Box(said(head), wrapped(text, wide) if text else ()) for head, text in named]


def _wide(wide: float, count: int, inset: float) -> float:
    return (wide - 2 * inset - (count - 1) * GAP) / max(1, count)


def _band(drawing: Drawing, y: float, boxes: Sequence[_Box], *, fill: str, inset: float = 0) -> float:
    """Draw boxes side by side from a height on; return the height at which they end."""
    wide = _wide(drawing.wide, len(boxes), inset)
    heads = [wrapped(box.title, (wide - 2 * PAD) / 1.1) for box in boxes]
    lines = [len(head) - 1 + len(box.lines) for head, box in zip(heads, boxes, strict=True)]
    high = 2 * PAD + SIZE + LINE * max(lines, default=0)
    for at, (head, box) in enumerate(zip(heads, boxes, strict=True)):
        x = inset + at * (wide + GAP)
        drawing.box(Area(x, y, wide, high), fill=fill)
        for row, line in enumerate([*head, *box.lines]):
            bold = row < len(head)
            drawing.text(x + PAD, y + PAD + 10 + LINE * row, line, bold=bold, fill=INK if bold else SOFT)
    return y + high


def _arrow(drawing: Drawing, y: float) -> float:
    """Draw a link between two bands; return where the next begins."""
    drawing.line(drawing.wide / 2, y, drawing.wide / 2, y + 20, stroke=EDGE, width=2)
    return y + 20


def rack_sheets(plan: Plan) -> list[Sheet]:
    """Draw the racks with each device at its height, identical racks once; empty without racks."""
    kinds = alike(racks(plan))
    if not kinds or plan.power is None:
        return []
    need = max(text_width(device.name) for these in kinds for device in these[0].devices) + PAD
    across = max(1, min(ACROSS, len(kinds), int((WIDTH + GAP) / (need + RAIL + GAP))))
    wide = min(WIDEST, _wide(WIDTH, across, 0))
    known = all(kind.part.rack_units_u is not None for kind in plan.power.kinds.values())
    told = {"physical.first named": any(these[1:] for these in kinds), "physical.no scale": not known}
    notes = " ".join([said("physical.scale"), *(said(key) for key, holds in told.items() if holds)])
    pages, rows = [(Drawing(), 0.0)], [kinds[at : at + across] for at in range(0, len(kinds), across)]
    for row in rows:
        drawing, y = pages[-1]
        if y and y + _rack_row(Drawing(), 0, row, wide) > PAGE - 3 * LINE:
            pages.append((drawing := Drawing(), y := 0.0))
        pages[-1] = drawing, _rack_row(drawing, y, row, wide)
    about = said("physical.about", racks=sum(map(len, kinds)))
    return numbered(((drawing, _written(drawing, y, notes)) for drawing, y in pages), about)


def _written(drawing: Drawing, y: float, text: str) -> float:
    for line in wrapped(text, WIDTH):
        y += LINE
        drawing.text(0, y, line, fill=SOFT)
    return y + 4


def _rack_row(drawing: Drawing, y: float, row: Sequence[Sequence[Rack]], wide: float) -> float:
    """Draw racks side by side from a height on, the height that is free in all of them shorter; return where they end."""
    heads, feet = [_rack_head(these, wide) for these in row], [_rack_names(these, wide) for these in row]
    top = y + LINE * max(map(len, heads)) + 4
    hosts, switches = (max(_taken(these[0])[at] for these in row) for at in (0, 1))
    high = UNIT * min(hosts + switches + LEAST_FREE, *(these[0].units for these in row))
    for at, (these, head, foot) in enumerate(zip(row, heads, feet, strict=True)):
        x = at * (wide + GAP)
        for line, text in enumerate(head):
            drawing.text(x, y + SIZE + LINE * line, text, bold=not line)
        _rack(drawing, these[0], Area(x + RAIL, top, wide - RAIL, high))
        for line, text in enumerate(foot, 1):
            drawing.text(x, top + high + LINE * line, text, fill=SOFT)
    return top + high + LINE * max(map(len, feet)) + PAD + GAP


def _taken(rack: Rack) -> tuple[float, float]:
    """Rack units that hosts and switches take."""
    hosts = sum(device.height_u for device in rack.devices if device.what == "host")
    return hosts, rack.units - rack.free_u - hosts


def _rack_head(these: Sequence[Rack], wide: float) -> list[str]:
    """Name, number and site of identical racks, and the power of one."""
    first, last = these[0], these[-1]
    texts = [first.name if first is last else said("drawing.span", first=first.name, last=last.name)]
    texts += [said("physical.alike", count=len(these))] if these[1:] else []
    texts += [first.site] if first.site else []
    texts.append(said("physical.power", peak=first.peak_w / 1000, most=first.limit_w / 1000))
    return [line for text in texts for line in wrapped(text, wide / 1.1)]


def _rack_names(these: Sequence[Rack], wide: float) -> list[str]:
    """The devices of identical racks from first to last; of a single one they are in the drawing."""
    if len(these) == 1:
        return []
    hosts = groupby((host for rack in these for host in rack.hosts), key=lambda host: host.pool)
    kinds = [[host.name for host in run] for _, run in hosts]
    kinds += [
        [name for rack in these for name in of(rack)] for of in (attrgetter("leaves"), attrgetter("spines"))
    ]
    spans = [said("drawing.span", first=names[0], last=names[-1]) for names in kinds if names]
    return [line for text in spans for line in wrapped(text, wide)]


def _rack(drawing: Drawing, rack: Rack, area: Area) -> None:
    """Draw a rack with the rack units of each device at its left, and the free ones."""
    x, y, wide, high = area
    drawing.box(area, fill=PALE, rx=2)
    for device in rack.devices:
        tall, host = device.height_u * UNIT, device.what == "host"
        below = device.bottom_u * UNIT if host else high - (rack.units - device.bottom_u) * UNIT
        top = y + high - below - tall
        fill, edge = (WHITE, EDGE) if host else (TINT, ACCENT)
        drawing.box(Area(x + 2, top, wide - 4, tall), fill=fill, stroke=edge, rx=1)
        drawing.text(x + wide / 2, top + tall / 2 + 4.5, device.name, anchor="middle")
        drawing.text(x - 4, top + tall / 2 + 4.5, device.units, anchor="end", fill=SOFT)
    if rack.free_u:
        hosts, switches = _taken(rack)
        middle = y + (high + (switches - hosts) * UNIT) / 2 + 4.5
        text = said("physical.free", units=rack.free_u)
        drawing.text(x + wide / 2, middle, text, anchor="middle", fill=SOFT)
