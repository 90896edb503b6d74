"""Drawings of the fabrics, each on pages of its own: switches, hosts and cables, every one by its whole name."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from gpuplan.plan import Plan
from gpuplan.plan.fabric import Cabling, Ports
from gpuplan.plan.racks import FabricNames, Place, places, racks, switch_names
from gpuplan.plan.switches import Fabric, Switches
from gpuplan.report.drawing import (
    ACCENT,
    EDGE,
    GREEN,
    INK,
    LINE,
    ORANGE,
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
from gpuplan.wording import amount, capital, said

MOST_HOSTS = 12
"""Most hosts of a fabric that are drawn one by one; of more, those of a cluster on a pair of leaves are one box."""
SPINES_ACROSS, PAIRS_ACROSS, MESH = 7, 4, 32
"""Spines and pairs of leaves side by side; most links between them that are drawn, of more one line stands for all."""
GAP, PORT, LANE, BOX, SWITCH = 12, 10, 6, 190, 44
"""Distance of boxes, side of a port, distance of cables side by side, width and height of a switch."""
CABLES = {"a": (ACCENT, ""), "b": (ORANGE, "7 4"), "rdma": (GREEN, "2 3"), "out": (SOFT, "")}
"""Kind of a cable -> its colour and its dashes, so that it is known in grey print, too."""


class _Cables(NamedTuple):
    """Cables of one kind from a host to a switch."""

    switch: int
    label: str
    kind: str


class _Node(NamedTuple):
    """A host, or hosts that are alike."""

    head: str
    lines: tuple[str, ...]
    cables: tuple[_Cables, ...]

    @property
    def need(self) -> float:
        """Least width of its box."""
        words = [text_width(word, bold=True) for text in (self.head, *self.lines) for word in text.split()]
        labels = [text_width(each.label) + 6 for each in self.cables]
        return max(*words, len(labels) * max(labels, default=0.0)) + 12


class _Switch(NamedTuple):
    """A switch, or several as one."""

    name: str
    where: str
    known: bool = True
    """False where others choose it."""


def fabric_sheets(plan: Plan) -> list[Sheet]:
    """Draw each fabric on pages of its own, and the InfiniBand ports of each site; empty without hosts or switches."""
    cabling = plan.cabling
    if cabling is None or cabling.switches is None:
        return []
    switches, every, sheets = cabling.switches, places(plan), list[Sheet]()
    where = {device.name: rack.name for rack in racks(plan) for device in rack.devices}
    apart = plan.scenario.network.transport == "infiniband"
    for number, (fabric, names) in enumerate(zip(switches.fabrics, switch_names(switches), strict=True), 1):
        hosts = _Hosts(cabling, [place for place in every if place.fabric == number], where)
        drawn = _Drawn(switches, fabric, names, where, hosts.on_pairs(fabric, shared_only=apart))
        key = "drawing.fabric.about" if fabric.shape.spines else "drawing.fabric.about a pair"
        about, name = said(key, hosts=fabric.hosts.total, shape=fabric.shape), switches.name(number)
        fabric_name = capital(name) if name else said("drawing.fabric.only")
        sheets += numbered(drawn.pages(), said("drawing.fabric.named", fabric=fabric_name, about=about))
    sites = {pool.id: pool.site for pool in plan.pools}
    for site, these in groupby(every, key=lambda place: sites[place.pool]):
        sheets += _apart(cabling, switches, _Hosts(cabling, list(these), where), site, infiniband=apart)
    return sheets


def _apart(
    cabling: Cabling, switches: Switches, hosts: "_Hosts", site: str, *, infiniband: bool
) -> Iterator[Sheet]:
    """Draw what has switches of its own at a site: InfiniBand ports, and the out-of-band network."""
    at = " at" * bool(site)
    if infiniband and (ports := sum(cabling.ports_of(place.of).rdma for place in hosts.places)):
        name = said("drawing.fabric.infiniband switches", ports=ports, switches=switches)
        drawn = _one_switch(name, hosts.nodes(hosts.places, _rdma))
        yield from numbered([drawn], said("drawing.fabric.infiniband" + at, site=site))
    name, nodes = _management(hosts, {place.fabric for place in hosts.places}, switch_names(switches))
    yield from numbered([_one_switch(name, nodes)], said("drawing.fabric.out of band" + at, site=site))


class _Hosts:
    """Hosts that are drawn together, one by one or by cluster."""

    def __init__(self, cabling: Cabling, places: Sequence[Place], where: Mapping[str, str]) -> None:
        self.cabling, self.places, self.where = cabling, places, where
        self.each = len(places) <= MOST_HOSTS

    def on_pairs(self, fabric: Fabric, *, shared_only: bool) -> dict[int, list[_Node]]:
        """Pair of leaves -> its hosts; compute hosts fill up the pairs with the fewest."""
        counts = Counter(place.pair for place in self.places)
        nodes: dict[int, list[_Node]] = {pair: [] for pair in counts}
        for pair, these in groupby(self.places, key=lambda place: place.pair):
            nodes[pair] = self.nodes(list(these), lambda ports: _two_leaves(ports, shared_only))
        computing = Counter[int]()
        for _ in range(fabric.hosts.compute_hosts):
            pair = min(counts, key=lambda pair: counts[pair] + computing[pair])
            computing[pair] += 1
        for pair, count in computing.items():
            assert self.cabling.compute_ports is not None
            cables = _two_leaves(self.cabling.compute_ports, shared_only)
            nodes[pair].append(_Node(amount(count, "compute host"), (), cables))
        return nodes

    def nodes(self, these: Sequence[Place], cables: Callable[[Ports], tuple[_Cables, ...]]) -> list[_Node]:
        """Draw these hosts one by one, or those of a cluster and a kind as one box."""
        found = []
        for (_, of, _), run in groupby(these, key=lambda p: (p.pool, p.of, p.number if self.each else 0)):
            hosts = list(run)
            ends = dict.fromkeys((hosts[0].name, hosts[-1].name))
            stand = dict.fromkeys(self.where[name] for name in ends if name in self.where)
            head, lines = hosts[0].name, [_span(list(stand))] if stand else []
            if len(hosts) > 1:
                head, lines = amount(len(hosts), "host"), [_span(list(ends)), *lines]
            found.append(_Node(head, tuple(lines), cables(self.cabling.ports_of(of))))
        return found


def _management(
    hosts: _Hosts, fabrics: Collection[int], names: Sequence[FabricNames]
) -> tuple[str, list[_Node]]:
    """The switch for out-of-band management, and what is cabled to it: the BMC of each host, and each switch."""
    nodes = hosts.nodes(hosts.places, lambda _: (_Cables(0, said("drawing.fabric.bmc"), "out"),))
    kinds = [[leaf for number in fabrics for both in names[number - 1].pairs.values() for leaf in both]]
    kinds.append([spine for number in fabrics for spine in names[number - 1].spines])
    cables, count = (_Cables(0, said("drawing.fabric.management"), "out"),), len(hosts.places)
    for switches in filter(None, kinds):
        count += len(switches)
        runs = [[name] for name in switches] if hosts.each else [switches]
        for run in runs:
            stand = tuple(hosts.where[name] for name in run if name in hosts.where and hosts.each)
            nodes.append(_Node(_span([*dict.fromkeys((run[0], run[-1]))]), stand, cables))
    return said("drawing.fabric.management switch", ports=count), nodes


def _span(names: Sequence[str]) -> str:
    return said("drawing.span", first=names[0], last=names[-1]) if names[1:] else names[0]


def _two_leaves(ports: Ports, shared_only: bool) -> tuple[_Cables, ...]:
    """Cables of a host to the two leaves of its pair: its ports alternate, those for RDMA after the others."""
    named = [(str(at), "ab"[(at - 1) % 2]) for at in range(1, ports.shared + 1)]
    named += [(f"R{at}", "rdma") for at in range(1, 1 + (0 if shared_only else ports.rdma))]
    sides = [(at % 2, kind, name) for at, (name, kind) in enumerate(named)]
    order = ((0, "a"), (0, "rdma"), (1, "rdma"), (1, "b"))
    groups = ((key, [name for side, kind, name in sides if (side, kind) == key]) for key in order)
    return tuple(_Cables(switch, _label(names), kind) for (switch, kind), names in groups if names)


def _label(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 3 else f"{len(names)} \u00d7"


class _Drawn:
    """A fabric: its switches by name, and the hosts on each pair of leaves."""

    def __init__(
        self,
        switches: Switches,
        fabric: Fabric,
        names: FabricNames,
        where: Mapping[str, str],
        nodes: Mapping[int, Sequence[_Node]],
    ) -> None:
        self.switches, self.fabric, self.shape = switches, fabric, fabric.shape
        self.spines, self.nodes = [_Switch(name, where.get(name, "")) for name in names.spines], nodes
        self.pairs = [
            (pair, [_Switch(leaf, where.get(leaf, "")) for leaf in both])
            for pair, both in names.pairs.items()
        ]
        need = max(node.need for on_pair in nodes.values() for node in on_pair) + 2 * GAP
        self.across = max(1, min(PAIRS_ACROSS, len(self.pairs), int((WIDTH - GAP) / need)))
        self.rows = [self.pairs[at : at + self.across] for at in range(0, len(self.pairs), self.across)]
        self.meshed = len(self.rows) == 1 and self.shape.leaves * self.shape.spines <= MESH
        self.left = 0 if self.meshed or not self.spines else GAP
        """Room at the left of the leaves for the line that joins them with the spines."""

    def pages(self) -> Iterator[tuple[Drawing, float]]:
        """Draw the fabric, with as many rows of leaves on a page as it has room for."""
        drawing, above, y = Drawing(), 0.0, 0.0
        for at, row in enumerate(self.rows):
            high = max(self._pair(Drawing(), Area(0, 0, self._wide, 0), *pair) for pair in row)
            if at and y + high > PAGE - 6 * LINE:
                yield drawing, self._notes(drawing, y)
                drawing, y = Drawing(), 0.0
            if not y:
                above = y = self._spines(drawing)
            y += 0 if self.meshed else 2 * GAP * bool(self.spines)
            for column, pair in enumerate(row):
                area = Area(self.left + column * (self._wide + GAP), y, self._wide, high)
                self._pair(drawing, area, *pair)
                self._up(drawing, area, above)
            y += high + GAP
        yield drawing, self._notes(drawing, y)

    @property
    def _wide(self) -> float:
        return (WIDTH - self.left - (self.across - 1) * GAP) / self.across

    def _spines(self, drawing: Drawing) -> float:
        """Draw the spines; return the height at which leaves may begin."""
        if not self.spines:
            return 0.0
        text = said("drawing.fabric.mesh", shape=self.shape, switches=self.switches)
        drawing.text(0, SIZE, text, fill=SOFT)
        rows = -(-len(self.spines) // SPINES_ACROSS)
        wide = min(BOX, (WIDTH - 2 * GAP) / -(-len(self.spines) // rows) - GAP)
        y = LINE + GAP
        if not self.meshed:
            drawing.box(Area(0, LINE + 2, WIDTH, rows * (SWITCH + GAP) + GAP), stroke=EDGE, fill=WHITE)
        for at, spine in enumerate(self.spines):
            x = self._spine_x(at)
            _switch(
                drawing,
                Area(x - wide / 2, y + self._spine_row(at) * (SWITCH + GAP), wide, SWITCH),
                spine,
                PALE,
            )
        return y + rows * (SWITCH + GAP) + (64 if self.meshed else 2)

    def _spine_row(self, at: int) -> int:
        rows = -(-len(self.spines) // SPINES_ACROSS)
        return at // -(-len(self.spines) // rows)

    def _spine_x(self, at: int) -> float:
        across = -(-len(self.spines) // -(-len(self.spines) // SPINES_ACROSS))
        return GAP + (at % across + 0.5) * (WIDTH - 2 * GAP) / across

    def _up(self, drawing: Drawing, area: Area, above: float) -> None:
        """Join the leaves of a pair with the spines: with each, or by one line that stands for all."""
        if not self.spines:
            return
        for leaf in _leaf_xs(area):
            if self.meshed:
                for at in range(len(self.spines)):
                    drawing.line(self._spine_x(at), area.y - 64 - GAP, leaf, area.y, stroke=SOFT, width=1.5)
            else:
                trunk = [(GAP / 2, above), (GAP / 2, area.y - GAP), (leaf, area.y - GAP), (leaf, area.y)]
                drawing.path(trunk, stroke=SOFT, width=2)

    def _pair(self, drawing: Drawing, area: Area, pair: int, both: Sequence[_Switch]) -> float:
        """Draw two leaves, their hosts and the cables between; return the height of all."""
        if peers := self.shape.peer_cables:
            left, right = (x + side * BOX / 2 for x, side in zip(_leaf_xs(area), (1, -1), strict=True))
            middle, speed = (
                (left + right) / 2,
                said("drawing.fabric.links", links=peers, switches=self.switches),
            )
            for y in (area.y + 18, area.y + 26)[: min(peers, 2)]:
                drawing.line(left, y, right, y, stroke=SOFT, width=2)
            drawing.text(middle, area.y + 12, speed, anchor="middle", bold=True)
            drawing.text(
                middle, area.y + 26 + LINE, said("drawing.fabric.between"), anchor="middle", fill=SOFT
            )
        wide = min(BOX, area.wide / 2 - 4)
        boxes = [Area(x - wide / 2, area.y, wide, SWITCH) for x in _leaf_xs(area)]
        for box, leaf in zip(boxes, both, strict=True):
            _switch(drawing, box, leaf, TINT)
        return _cabled(drawing, area, boxes, self.nodes[pair]) - area.y

    def _notes(self, drawing: Drawing, y: float) -> float:
        """Explain the cables and the switches below a page; return the height at which that ends."""
        leaves = [leaf.name for leaf in self.pairs[0][1]] if len(self.pairs) == 1 else ["", ""]
        kinds = {each.kind for nodes in self.nodes.values() for node in nodes for each in node.cables}
        words = {"a": ("drawing.fabric.first", leaves[0]), "b": ("drawing.fabric.second", leaves[1])}
        x = 0.0
        for kind in sorted(kinds):
            key, leaf = words.get(kind, ("drawing.fabric.rdma", ""))
            text = said(key + " by name" * bool(leaf), leaf=leaf)
            if x and x + 42 + text_width(text) > WIDTH:
                x, y = 0.0, y + LINE
            x = _legend(drawing, x, y, kind, text) + 2 * GAP
        told = {"switches": self.switches, "shape": self.shape, "fabric": self.fabric}
        lines = [said("drawing.fabric.leaves", **told)]
        lines += [said("drawing.fabric.spines", **told)] if self.spines else []
        return _written(drawing, y + LINE, lines)


def _written(drawing: Drawing, y: float, texts: Sequence[str]) -> float:
    for line in (line for text in texts for line in wrapped(text, WIDTH)):
        drawing.text(0, y + SIZE, line, fill=SOFT)
        y += LINE
    return y


def _legend(drawing: Drawing, x: float, y: float, kind: str, text: str) -> float:
    stroke, dashes = CABLES[kind]
    drawing.line(x, y + 9, x + 34, y + 9, stroke=stroke, width=2, dashes=dashes)
    drawing.text(x + 42, y + SIZE, text)
    return x + 42 + text_width(text)


def _leaf_xs(area: Area) -> tuple[float, float]:
    return area.x + area.wide / 4, area.x + area.wide * 3 / 4


def _switch(drawing: Drawing, area: Area, switch: _Switch, fill: str) -> None:
    drawing.box(area, fill=fill, stroke=ACCENT, dashed=not switch.known)
    middle = area.x + area.wide / 2
    head = area.y + (19 if switch.where else 27)
    drawing.text(middle, head, switch.name, anchor="middle", bold=True)
    if switch.where:
        drawing.text(middle, head + LINE, switch.where, anchor="middle", fill=SOFT)


def _one_switch(name: str, nodes: Sequence[_Node]) -> tuple[Drawing, float]:
    """Draw cables to switches that the plan does not choose."""
    drawing, box = Drawing(), Area(0, 0, WIDTH, SWITCH)
    _switch(drawing, box, _Switch(name, said("drawing.fabric.not chosen"), known=False), WHITE)
    return drawing, _cabled(drawing, box, [box], nodes) + 4


def _rdma(ports: Ports) -> tuple[_Cables, ...]:
    return (_Cables(0, _label([f"R{at}" for at in range(1, ports.rdma + 1)]), "rdma"),) if ports.rdma else ()


class _End(NamedTuple):
    """Where cables end at a host: the places by which they get there, the first below the switch."""

    cables: _Cables
    points: list[tuple[float, float]]


def _cabled(drawing: Drawing, area: Area, boxes: Sequence[Area], nodes: Sequence[_Node]) -> float:
    """Draw hosts below their switches, in rows, with their cables; return the height at which they end."""
    across, rows, lanes = _grid(area.wide, nodes)
    cell, gap, each_side = area.wide / across, GAP + 2 * LANE * lanes, _each_side(nodes)
    inside = cell - gap - 8
    texts = [
        (wrapped(node.head, inside / 1.1), [line for text in node.lines for line in wrapped(text, inside)])
        for node in nodes
    ]
    high = LINE * (1 + max((len(head) + len(lines) for head, lines in texts), default=0)) + 10
    top = area.y + SWITCH + (88 if area.wide > WIDTH / 2 and boxes[1:] else 52)
    ends = list[_End]()
    for at, (node, (head, lines)) in enumerate(zip(nodes, texts, strict=True)):
        row, column = divmod(at, across)
        box = Area(area.x + column * cell + gap / 2, top + row * (high + 2 * GAP), cell - gap, high)
        drawing.box(box, fill=WHITE, stroke=EDGE)
        for line, text in enumerate([*head, *lines]):
            bold, y = line < len(head), box.y + LINE * (line + 2)
            drawing.text(
                box.x + cell / 2 - gap / 2, y, text, anchor="middle", bold=bold, fill=INK if bold else SOFT
            )
        ends += _ends(node, box, top, passed=(row - 1) * each_side)
    for number, switch in enumerate(boxes):
        mine = sorted((end for end in ends if end.cables.switch == number), key=lambda end: end.points[0])
        for at, end in enumerate(mine):
            x = end.points[0][0] if len(boxes) == 1 else switch.x + switch.wide * (at + 0.5) / len(mine)
            _cable(drawing, [(x, switch.y + SWITCH), (x, switch.y + SWITCH + 8), *end.points], end.cables)
    return top + rows * (high + 2 * GAP) - 2 * GAP


def _ends(node: _Node, box: Area, top: float, *, passed: int) -> Iterator[_End]:
    """Yield where the cables of a host end, beside those that pass it on their way down."""
    seen = Counter[int]()
    for place, cables in enumerate(node.cables):
        seen[cables.switch] += 1
        x, lane = box.x + box.wide * (place + 0.5) / len(node.cables), passed + seen[cables.switch]
        yield _End(cables, _way(box, x, cables.switch, lane=lane, top=top))


def _cable(drawing: Drawing, points: Sequence[tuple[float, float]], cables: _Cables) -> None:
    """Draw cables from a switch to their port, with its name."""
    (stroke, dashes), (x, y) = CABLES[cables.kind], points[-1]
    drawing.path(points, stroke=stroke, width=1.5, dashes=dashes)
    drawing.box(Area(x - PORT / 2, y - PORT / 2, PORT, PORT), fill=stroke, stroke=stroke, rx=0)
    drawing.text(x, y + LINE, cables.label, anchor="middle", fill=SOFT)


def _way(box: Area, x: float, switch: int, *, lane: int, top: float) -> list[tuple[float, float]]:
    """The places by which a cable gets to a port of a host: past the hosts above it, at the side of its switch."""
    if box.y == top:
        return [(x, top - 18), (x, top)]
    past = box.x + box.wide + LANE * lane if switch else box.x - LANE * lane
    return [(past, top - 18), (past, box.y - GAP), (x, box.y - GAP), (x, box.y)]


def _each_side(nodes: Sequence[_Node]) -> int:
    """Most cables of a host to one switch that are drawn."""
    return max(
        (max(Counter(each.switch for each in node.cables).values(), default=0) for node in nodes), default=0
    )


def _grid(wide: float, nodes: Sequence[_Node]) -> tuple[int, int, int]:
    """(hosts side by side, rows of them, cables that pass a host at each side)."""
    need = max((node.need for node in nodes), default=0.0)
    for across in range(max(1, len(nodes)), 0, -1):
        rows = -(-len(nodes) // across)
        lanes = (rows - 1) * _each_side(nodes)
        if wide / across - GAP - 2 * LANE * lanes >= need:
            break
    return -(-len(nodes) // max(1, rows)), rows, lanes
