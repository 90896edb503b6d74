"""The logical and the physical design as drawings: domains, clusters and networks; racks with hosts and switches."""

from collections.abc import Sequence
from typing import NamedTuple

from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.racks import Rack, racks
from gpuplan.report.drawing import EDGE, INK, LINE, PALE, SIZE, SOFT, WHITE, WIDTH, Area, Drawing, wrapped
from gpuplan.report.physical import alike, first_and_last, on_kubernetes
from gpuplan.report.tables.plan import equipment
from gpuplan.wording import MODE_NAMES, NAMES, amount, said

MOST_BOXES, MOST_RACKS, ACROSS = 3, 8, 4
"""Most clusters, and most kinds of racks, that are drawn; racks side by side."""
UNIT, UNKNOWN_U = 5.0, 2
"""Height of a rack unit in the drawing, and assumed rack units of a host of unknown height."""
ACCENT, TINT = "#0b5cad", "#e7eff8"
PAD, GAP = 10, 12


class _Box(NamedTuple):
    title: str
    lines: Sequence[str]


def logical_svg(plan: Plan) -> str:
    """Draw the management domain, the GPU workload domain with its clusters, users, storage and network."""
    drawing, names = Drawing(), [group.name for group in plan.groups]
    users = wrapped(said("logical.names", names=names), WIDTH - 2 * PAD) if names else ()
    y = _band(drawing, 0, [_Box(said("logical.users"), users)], fill=WHITE)
    y = _arrow(drawing, y)
    top, y = y, y + PAD + LINE
    y = _band(drawing, y, _clusters(plan), fill=WHITE, inset=PAD)
    y = _band(drawing, y + GAP, [_services(plan)], fill=WHITE, inset=PAD) + PAD
    frame = Drawing()
    frame.box(Area(0, top, WIDTH, y - top), fill=TINT, stroke=ACCENT)
    frame.text(PAD, top + PAD + 8, said("logical.domain"), bold=True, room=WIDTH - 2 * PAD, fill=ACCENT)
    drawing.shapes = frame.shapes + drawing.shapes
    y = _arrow(drawing, y)
    y = _band(drawing, y, _below(plan), fill=PALE)
    return drawing.svg(y, said("logical.about", clusters=len(plan.pools)))


def _clusters(plan: Plan) -> list[_Box]:
    """Draw the clusters, one box for identical ones."""
    kinds: dict[tuple[object, ...], list[Pool]] = {}
    for pool in plan.pools:
        alike = (pool.kind, pool.site, pool.hosts, pool.gpus, pool.hosts_for_failures)
        kinds.setdefault(alike, []).append(pool)
    shown = list(kinds.values())
    wide = _wide(min(len(shown), MOST_BOXES), PAD) - 2 * PAD
    names = [p[0].name if len(p) == 1 else said("logical.alike", count=len(p)) for p in shown[:MOST_BOXES]]
    boxes = [_Box(name, _cluster_lines(plan, p[0], wide)) for name, p in zip(names, shown, strict=False)]
    if len(shown) > MOST_BOXES:
        rest = [pool for pools in shown[MOST_BOXES - 1 :] for pool in pools]
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


def _services(plan: Plan) -> _Box:
    lines = [said("logical.services")]
    if plan.scenario.management.supervisor not in (None, "none") or on_kubernetes(plan):
        names = [group.name for group in on_kubernetes(plan)] or ["\u2013"]
        lines.append(said("logical.supervisor", names=names))
    return _Box(said("logical.shared"), lines)


def _below(plan: Plan) -> list[_Box]:
    domain, fabric = plan.management, plan.cabling
    wide = _wide(3, 0) - 2 * PAD
    managed = said("logical.management", hosts=domain.hosts, vcpus=round(domain.vcpus)) if domain else ""
    link, ports = plan.scenario.network.link_gbit_s, fabric.ports.total if fabric else 2
    network = said("logical.network", link=link, ports=ports)
    storage = NAMES["storage in the document"]["vsan" if plan.vsan else "external"]
    heads = ("logical.management head", "logical.network head", "logical.storage head")
    named = zip(heads, (managed, network, storage), strict=True)
    return [_Box(said(head), wrapped(text, wide) if text else ()) for head, text in named]


def _wide(count: int, inset: float) -> float:
    return (WIDTH - 2 * inset - (count - 1) * GAP) / max(1, count)


def _band(drawing: Drawing, y: float, boxes: Sequence[_Box], *, fill: str, inset: float = 0) -> float:
    """Draw boxes side by side from a height on; return the height at which they end."""
    wide = _wide(len(boxes), inset)
    high = 2 * PAD + SIZE + max((LINE * len(box.lines) for box in boxes), default=0)
    for at, box in enumerate(boxes):
        x = inset + at * (wide + GAP)
        drawing.box(Area(x, y, wide, high), fill=fill)
        drawing.text(x + PAD, y + PAD + 10, box.title, bold=True, room=wide - 2 * PAD)
        for row, line in enumerate(box.lines, 1):
            drawing.text(x + PAD, y + PAD + 10 + LINE * row, line, room=wide - 2 * PAD, fill=SOFT)
    return y + high


def _arrow(drawing: Drawing, y: float) -> float:
    """Draw a link between two bands; return where the next begins."""
    drawing.line(WIDTH / 2, y, WIDTH / 2, y + 20, stroke=EDGE, width=2)
    return y + 20


def racks_svg(plan: Plan) -> str | None:
    """Draw the racks with hosts and leaf switches, identical racks once; None without racks."""
    all_racks = racks(plan)
    if not all_racks:
        return None
    drawing, kinds = Drawing(), alike(all_racks)
    units = int(plan.catalog.row("factors", "rack_units_u")["value"])
    heights, wide = [_host_units(plan, these[0]) for these in kinds], _wide(ACROSS, 0)
    high = LINE + 4 + units * UNIT + (3 + any(rack.site for rack in all_racks)) * LINE
    y = 0.0
    for at, these in enumerate(kinds[:MOST_RACKS]):
        if at and at % ACROSS == 0:
            y += high + GAP
        _rack(drawing, these, Area(at % ACROSS * (wide + GAP), y, wide, high), units, heights[at])
    y += high + 8
    drawing.box(Area(0, y, 22, 12), fill=ACCENT, stroke=ACCENT, rx=1)
    drawing.text(28, y + 11, said("physical.leaf"), fill=SOFT)
    drawing.box(Area(130, y, 22, 12), fill=WHITE, rx=1)
    drawing.text(158, y + 11, said("physical.host"), fill=SOFT)
    note = said("physical.scale", units=units) if all(heights) else said("physical.no scale")
    if (left := len(kinds) - MOST_RACKS) > 0:
        note = f"{said('physical.more racks', count=sum(map(len, kinds[-left:])))} {note}"
    for line in wrapped(note, WIDTH):
        y += LINE
        drawing.text(0, y + SIZE, line, fill=SOFT)
    return drawing.svg(y + LINE, said("physical.about", racks=len(all_racks)))


def _host_units(plan: Plan, rack: Rack) -> float:
    """Return the height of a host of a rack in rack units; 0 where it is unknown."""
    part = plan.power.kinds[rack.hosts[0].of].part if plan.power else None
    return part.rack_units_u / part.count if part and part.rack_units_u and part.count else 0.0


def _rack(drawing: Drawing, these: Sequence[Rack], area: Area, units: int, host_u: float) -> None:
    """Draw one rack, or one for all identical ones, with the names of its contents below."""
    first, last = these[0], these[-1]
    x, y, wide, _ = area
    run = "physical.rack" if first is last else "physical.rack run"
    drawing.text(x, y + SIZE, said(run, first=first.number, last=last.number), bold=True, room=wide)
    top = y + LINE + 2
    drawing.box(Area(x, top, wide, units * UNIT), fill=PALE, rx=2)
    for at in range(len(first.leaves)):
        drawing.box(Area(x + 3, top + 2 + at * (UNIT + 1), wide - 6, UNIT), fill=ACCENT, stroke=ACCENT, rx=1)
    bottom, high = top + units * UNIT - 2, (host_u or UNKNOWN_U) * UNIT
    for at in range(len(first.hosts)):
        drawing.box(Area(x + 3, bottom - (at + 1) * high, wide - 6, high - 1), fill=WHITE, rx=1)
    lines = [first.site] if first.site else []
    lines += wrapped(first_and_last([place.name for place in (*first.hosts, *last.hosts)]), wide)
    leaves = [leaf for rack in these for leaf in rack.leaves]
    lines += [first_and_last(leaves)] if leaves else []
    for row, line in enumerate(lines, 1):
        drawing.text(x, top + units * UNIT + LINE * row - 2, line, room=wide, fill=INK)
