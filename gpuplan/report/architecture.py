"""The logical and the physical design as drawings: domains, clusters and networks; racks with hosts and switches; the fabric."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gpuplan.plan import Plan
from gpuplan.plan.fabric import Cabling, Ports
from gpuplan.plan.hosts import Pool
from gpuplan.plan.racks import Rack, racks
from gpuplan.plan.switches import Kind, Switches
from gpuplan.report.drawing import (
    EDGE,
    INK,
    LINE,
    OKABE_ITO,
    PALE,
    SIZE,
    SOFT,
    WHITE,
    WIDTH,
    Area,
    Drawing,
    text_width,
    wrapped,
)
from gpuplan.report.figures import sentences
from gpuplan.report.physical import alike, first_and_last, on_kubernetes
from gpuplan.report.tables.plan import equipment
from gpuplan.wording import MODE_NAMES, NAMES, amount, capital, said

MOST_BOXES, MOST_RACKS, ACROSS = 3, 8, 4
"""Most clusters, and most kinds of racks, that are drawn; racks side by side."""
UNIT, UNKNOWN_U = 5.0, 2
"""Height of a rack unit in the drawing, and assumed rack units of a host of unknown height."""
ACCENT, TINT = "#0b5cad", "#e7eff8"
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
    y = _band(drawing, y, _clusters(plan, wide), fill=WHITE, inset=PAD)
    y = _band(drawing, y + GAP, [_services(plan, wide)], fill=WHITE, inset=PAD) + PAD
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
    drawing.line(drawing.wide / 2, y, drawing.wide / 2, y + 20, stroke=EDGE, width=2)
    return y + 20


def racks_svg(plan: Plan) -> str | None:
    """Draw the racks with hosts and leaf switches, identical racks once; None without racks."""
    all_racks = racks(plan)
    if not all_racks:
        return None
    drawing, kinds = Drawing(), alike(all_racks)
    units = int(plan.catalog.row("factors", "rack_units_u")["value"])
    heights, wide = [_host_units(plan, these[0]) for these in kinds], _wide(WIDTH, ACROSS, 0)
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


MOST_SWITCHES = 6
"""Most spines, and most leaves, that are drawn individually."""
MOST_FABRICS = 4
SIDE = 192


def fabric_svg(plan: Plan) -> str | None:
    """Spines, leaves and hosts with the links between them, fabric by fabric; None where there are no hosts or no switches."""
    cabling = plan.cabling
    if cabling is None or cabling.switches is None:
        return None
    switches, drawing, y = cabling.switches, Drawing(), 0.0
    infiniband = plan.scenario.network.transport == "infiniband"
    kinds = switches.kinds
    for kind in kinds[:MOST_FABRICS]:
        y = _Fabric(drawing, cabling, switches, kind, infiniband=infiniband).drawn(y)
    y = _key(drawing, cabling, y, infiniband=infiniband)
    if left := sum(kind.fabrics for kind in kinds[MOST_FABRICS:]):
        drawing.text(0, y + 14, said("drawing.fabric.more", fabrics=left), fill=SOFT)
        y += LINE
    total, hosts = switches.total, cabling.gpu_hosts
    leaves = said("drawing.fabric.leaves", leaves=total.leaves, where=switches.where)
    key = "drawing.fabric.about" if total.spines else "drawing.fabric.about without spines"
    return drawing.svg(y, said(key, spines=total.spines, leaves=leaves, hosts=hosts))


class _Fabric:
    """A fabric in three rows, each labelled at its left: spines, leaves in pairs, hosts."""

    def __init__(
        self, drawing: Drawing, found: Cabling, switches: Switches, kind: Kind, *, infiniband: bool
    ) -> None:
        self.drawing, self.found, self.switches = drawing, found, switches
        self.kind, self.hosts, self.shape = kind, kind.fabric.hosts, kind.fabric.shape
        self.rdma = 0 if infiniband else found.ports.rdma
        pairs = min(self.shape.leaves, MOST_SWITCHES) // 2
        self.spine_x = _spread(min(self.shape.spines, MOST_SWITCHES - 2))
        self.pair_x = _spread(pairs)
        self.cell = (WIDTH - SIDE) / pairs
        self.gap = min(120.0, self.cell / 4)
        self.one_pair = self.shape.leaves == 2

    def drawn(self, y: float) -> float:
        """Draw the fabric from a height on; return the height at which it ends."""
        shape, hosts = self.shape, amount(self.hosts.gpu_hosts, "GPU host")
        if self.kind.name:
            over = said("drawing.fabric.named", fabric=capital(self.kind.name), shape=shape)
            self.drawing.text(0, y + 14, over, bold=True, room=WIDTH)
            y += LINE + 8
        spine_y = leaf_y = y + 4.0
        if shape.spines:
            head = _head(amount(shape.spines, "spine"), shape.spines - len(self.spine_x))
            leaf_y = max(self._words(spine_y, head, sentences("fabric spines", self)) + 12, spine_y + 110)
        alone = shape.leaves - 2 * len(self.pair_x)
        head = _head(said("drawing.fabric.leaves", leaves=shape.leaves, where=""), alone)
        host_y = max(self._words(leaf_y, head, sentences("fabric leaves", self)) + 12, leaf_y + 110)
        self._links(spine_y, leaf_y, host_y)
        self._switches(spine_y, leaf_y)
        for x in self.pair_x:
            self._hosts(x, host_y)
        return max(self._words(host_y, hosts, sentences("fabric hosts", self)), host_y + 60) + 8

    def _words(self, y: float, head: str, told: Iterable[str]) -> float:
        """Write the labels at the left of a row, from a height on; return the height at which they end."""
        self.drawing.text(0, y + 14, head, bold=True, room=SIDE - 8)
        lines = [line for text in told for line in wrapped(text, SIDE - 8)]
        for at, line in enumerate(lines, 1):
            self.drawing.text(0, y + 14 + LINE * at, line, room=SIDE - 8, fill=SOFT)
        return y + 14 + LINE * len(lines) + 4

    def _links(self, spine_y: float, leaf_y: float, host_y: float) -> None:
        """Links between switches, and from both leaves of a pair to its hosts; wider the more there are."""
        shape, blue, orange = self.shape, OKABE_ITO[0], OKABE_ITO[5]
        link = self.drawing.line
        for x in self.pair_x:
            left, right = x - self.gap, x + self.gap
            for leaf in (left, right):
                for spine in self.spine_x:
                    link(spine, spine_y + 34, leaf, leaf_y, stroke=SOFT, width=_width(shape.links_per_spine))
            if not shape.spines:
                peer = leaf_y + 17
                link(left, peer, right, peer, stroke=SOFT, width=_width(self.shape.peer_cables))
            for middle, ports in self._host_places(x):
                rdma = ports.rdma if self.rdma else 0
                for side, leaf in ((-1, left), (1, right)):
                    link(middle + side * 30, host_y, leaf, leaf_y + 34, stroke=blue, width=_width(1))
                    if rdma > 1 or (rdma and side < 0):
                        end = leaf - side * 22
                        link(
                            middle + side * 10, host_y, end, leaf_y + 34, stroke=orange, width=2, dashes="6 3"
                        )

    def _switches(self, spine_y: float, leaf_y: float) -> None:
        for at, x in enumerate(self.spine_x, 1):
            wide = min(120, (WIDTH - SIDE) / len(self.spine_x) - 8)
            self._named_box(x, spine_y, wide, said("drawing.fabric.spine", number=at), fill="#e8e4f3")
        for at, x in enumerate(self.pair_x, 1):
            pair = "" if self.one_pair else str(at)
            for twin, leaf in (("A", x - self.gap), ("B", x + self.gap)):
                name = said("drawing.fabric.leaf", letter=f"{pair}{twin}")
                self._named_box(leaf, leaf_y, min(120, self.cell / 2 - 8), name, fill="#dfe9f2")

    def _named_box(self, x: float, y: float, wide: float, text: str, *, fill: str) -> None:
        self.drawing.box(Area(x - wide / 2, y, wide, 34), fill=fill, stroke=SOFT)
        self.drawing.text(x, y + 21.5, text, anchor="middle", room=wide - 4)

    def _host_places(self, x: float) -> list[tuple[float, Ports]]:
        """(middle of the box, ports of a host) for the hosts on a pair of leaves: of a single pair compute hosts are apart."""
        if self.one_pair and self.found.compute_ports:
            quarter = min(self.cell - 10, 400.0) / 4
            return [(x - quarter, self.found.ports), (x + quarter, self.found.compute_ports)]
        return [(x, self.found.ports)]

    def _hosts(self, x: float, y: float) -> None:
        places = self._host_places(x)
        wide = min(self.cell - 10, 400.0) / len(places)
        on_it, per_pair = self.hosts, self.shape.hosts_per_pair
        kinds = ((on_it.gpu_hosts, "GPU host", PALE), (on_it.compute_hosts, "compute host", "#fdf3e1"))
        for (middle, _), (count, what, fill) in zip(places, kinds, strict=False):
            left = middle - wide / 2 + 2
            for behind in (8, 4, 0) if (count if self.one_pair else per_pair) > 1 else (0,):
                area = Area(left + behind / 2, y + behind, wide - behind - 4, 44)
                self.drawing.box(area, fill=fill, stroke=SOFT)
            text = amount(count, what) if self.one_pair else said("drawing.fabric.up to", hosts=per_pair)
            self.drawing.text(middle, y + 26, text, anchor="middle", room=wide - 10, bold=True)


def _key(drawing: Drawing, found: Cabling, y: float, *, infiniband: bool) -> float:
    """Explain the lines and the oversubscription; return the height at which that ends."""
    assert found.switches is not None
    rdma, x = found.ports.rdma, 0.0
    keys = [(OKABE_ITO[0], "", said("drawing.fabric.shared key"))]
    if rdma and not infiniband:
        keys.append((OKABE_ITO[5], "6 3", said("drawing.fabric.rdma key")))
    for stroke, dashes, text in keys:
        drawing.line(x, y + 9, x + 34, y + 9, stroke=stroke, width=2, dashes=dashes)
        drawing.text(x + 42, y + 14, text, fill=SOFT)
        x += 42 + text_width(text) + 24
    notes = [said("drawing.fabric.infiniband", ports=rdma)] if rdma and infiniband else []
    worst = {"shape": found.switches.busiest.shape, "where": found.switches.highest}
    notes.append(said("drawing.fabric.oversubscription", **worst, most=found.max_oversubscription))
    for at, line in enumerate(notes, 1):
        drawing.text(0, y + LINE * at + 14, line, fill=SOFT)
    return y + LINE * (len(notes) + 1) + 4


def _spread(count: int) -> list[float]:
    return [SIDE + (WIDTH - SIDE) * (at + 0.5) / count for at in range(count)]


def _head(text: str, left_out: int) -> str:
    return said("drawing.fabric.not drawn", switches=text, left=left_out) if left_out else text


def _width(links: int) -> float:
    return min(6.0, 1.5 + links.bit_length() / 2)
