"""Diagrams of a plan: the hosts with their workloads, and the fabric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gpuplan.locales import written
from gpuplan.models.placement import Load, Room
from gpuplan.plan import UNASSIGNED, Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.fabric import Cabling, Ports, Switches
from gpuplan.plan.hosts import Pool
from gpuplan.report.colours import OKABE_ITO
from gpuplan.report.drawing import (
    EDGE,
    INK,
    LINE,
    PALE,
    SIZE,
    SOFT,
    WHITE,
    WIDTH,
    Area,
    Drawing,
    pen_on,
    text_width,
    wrapped,
)
from gpuplan.report.host_tiles import Shares, on_each_gpu
from gpuplan.report.tables import group_names, host_kinds
from gpuplan.report.tables.plan import clusters_alike, equipment, unassigned_words
from gpuplan.wording import MODE_NAMES, amount, number, said

OTHER = "#b9c0ca"
"""Colour of GPUs that belong to no group."""
MOST_HOSTS = 24
"""Most hosts that are drawn individually."""
MOST_CLUSTERS = 5
"""Most clusters that are drawn, so that the text stays legible on paper; the tables cover the others."""
MOST_PIECES = 8
"""Most parts of one group on a GPU that are separated by lines."""
MOST_LISTED = 24
"""Most groups in the legend; beyond them only those drawn."""
MOST_SWITCHES = 6
"""Most spines, and most leaves, that are drawn individually."""


class Symbol(NamedTuple):
    """Look of a group in a drawing."""

    letter: str
    colour: str
    pen: str
    """Text colour that is legible on the symbol's colour."""


def group_symbols(plan: Plan) -> dict[str, Symbol]:
    """Map each group's id, and GPUs of no group, to a symbol; numbers replace letters once these have run out."""
    symbols = {UNASSIGNED: Symbol("\u00b7", OTHER, INK)}
    for at, group in enumerate(plan.groups):
        colour = OKABE_ITO[at % len(OKABE_ITO)]
        letter = group.letter if group.letter.isalpha() else str(at + 1)
        symbols[group.id] = Symbol(letter, colour, pen_on(colour))
    return symbols


# Hosts

COLUMNS, GAP, PAD = 4, 12, 6
TILE = (WIDTH - (COLUMNS - 1) * GAP) / COLUMNS


def hosts_svg(plan: Plan) -> str:
    """Draw the hosts with the workloads on their GPUs, and a legend; many hosts are drawn once per identical load."""
    drawing = Drawing()
    if not plan.pools:
        drawing.text(0, 20, said("drawing.hosts.none"))
        return drawing.svg(32, said("drawing.hosts.none about"))
    y = 0.0
    drawn: set[str] = set()
    clusters = clusters_alike(plan)
    most = MOST_HOSTS // min(len(clusters), MOST_CLUSTERS)
    for pool in clusters[:MOST_CLUSTERS]:
        hosts = _Hosts(drawing, plan, pool)
        y = hosts.draw(y, most)
        drawn |= hosts.drawn
    if (left := len(clusters) - MOST_CLUSTERS) > 0:
        drawing.text(0, y + SIZE, said("drawing.hosts.more clusters", clusters=left), fill=SOFT)
        y += LINE + 6
    y = _legend(drawing, plan, drawn, y)
    return drawing.svg(y, said("drawing.hosts.about", hosts=plan.totals.hosts, gpus=plan.totals.gpus))


class _Hosts:
    """The hosts of a pool."""

    def __init__(self, drawing: Drawing, plan: Plan, pool: Pool) -> None:
        self.drawing, self.plan, self.pool = drawing, plan, pool
        self.symbols = group_symbols(plan)
        self.shares = Shares(plan, pool)
        self.numbered = {g.id for g in plan.groups if g.vms_placed < 100}
        """Groups whose VMs are drawn with their numbers: there is room for two digits."""
        self.drawn: set[str] = set()
        """Groups that are on a host drawn so far."""

    def draw(self, y: float, most: int) -> float:
        """Draw the hosts from a height on, at most ``most`` of them; return the height at which they end."""
        pool, plan = self.pool, self.plan
        self.drawing.text(0, y + 16, pool.name, bold=True)
        self.drawing.text(0, y + 16 + LINE, equipment(plan, pool), fill=SOFT)
        y += 16 + LINE + 10
        every = plan.totals.hosts <= MOST_HOSTS or pool.hosts <= most
        kinds = [[index] for index in range(pool.hosts)] if every else host_kinds(pool)
        shown = kinds if every else sorted(kinds[:most])
        for first in range(0, len(shown), COLUMNS):
            row = shown[first : first + COLUMNS]
            high = max(_tile_height(pool.rooms[alike[0]], len(alike) > 1) for alike in row)
            for column, alike in enumerate(row):
                self._tile(alike, Area(column * (TILE + GAP), y, TILE, high))
            y += high + GAP
        if left := sum(map(len, kinds[len(shown) :])):
            others = len(kinds) - len(shown)
            key = "drawing.hosts.other ways" if others > 1 else "drawing.hosts.another way"
            self.drawing.text(0, y + SIZE, said(key, hosts=left, ways=others), fill=SOFT)
            y += LINE + 6
        return y + 6

    def _tile(self, alike: Sequence[int], area: Area) -> None:
        """Draw one host, or one for all with identical load."""
        first, drawing = alike[0], self.drawing
        loads, room = self.pool.placement[first], self.pool.rooms[first]
        self.drawn.update(slot.group for load in loads for slot in load.slots)
        name = f"{self.pool.id}-{first + 1}"
        drawing.box(area, fill=PALE if loads else WHITE, dashed=not loads, id=f"host-{name}")
        inside = area.x + PAD, area.x + TILE - PAD, TILE - 2 * PAD
        key = "drawing.hosts.used" if loads else "drawing.hosts.spare"
        word = said(key, used=sum(load.gpus for load in loads), gpus=room.gpus)
        host = said("drawing.hosts.host", number=first + 1)
        drawing.text(inside[0], area.y + 16, host, bold=True, room=inside[2])
        drawing.text(inside[1], area.y + 16, word, anchor="end", fill=SOFT)
        across, wide, high = _grid(room.gpus)
        for at, load in enumerate(on_each_gpu(loads, room.gpus)):
            row, column = divmod(at, across)
            place = Area(inside[0] + column * (wide + 3), area.y + 22 + row * (high + 3), wide, high)
            no_edge = load is not None and load.family is None
            drawing.box(
                place, stroke=WHITE if no_edge else EDGE, dashed=True, rx=2, id=f"gpu-{name}-{at + 1}"
            )
            if load and load.family is None:
                self._whole_gpu(load, place, numbered=len(alike) == 1 and across == 4)
            elif load:
                self._shared_gpu(load, place)
        if len(alike) > 1:
            more = said("drawing.hosts.more alike", more=len(alike) - 1)
            drawing.text(inside[0], area.y + area.high - PAD, more, room=inside[2], fill=SOFT)

    def _whole_gpu(self, load: Load, area: Area, *, numbered: bool) -> None:
        """Draw a GPU that belongs to one VM."""
        slot = load.slots[0]
        symbol = self.symbols[slot.group]
        with_number = numbered and slot.group in self.numbered and symbol.letter.isalpha()
        self._band(symbol, area, [f"{symbol.letter}{slot.vm}" if with_number else symbol.letter])

    def _shared_gpu(self, load: Load, area: Area) -> None:
        """Draw a GPU with its groups stacked, each sized by its share of the GPU."""
        shares = sorted(self.shares.of(load).items(), key=lambda each: -each[1].mb)
        bands = [(self.symbols[group], *share) for group, share in shares]
        if len(bands) > 3:  # no room for more letters: the largest two, and a count of the others
            others = Symbol(f"+{len(bands) - 2}", OTHER, INK)
            bands = [*bands[:2], (others, 1, sum(weight for _, _, weight in bands[2:]))]
        whole = max(self.shares.gpu_mb, sum(mb for *_, mb in bands))
        heights = [max(area.high / 3, area.high * weight / whole) for _, _, weight in bands]
        if (over := sum(heights) - area.high) > 0:
            heights[heights.index(max(heights))] -= over
        y = area.y
        for (symbol, count, _), high in zip(bands, heights, strict=True):
            texts = [f"{symbol.letter}\u00d7{count}"] if count > 1 else []
            self._band(symbol, Area(area.x, y, area.wide, high), [*texts, symbol.letter], count)
            y += high

    def _band(self, symbol: Symbol, area: Area, texts: Sequence[str], pieces: int = 1) -> None:
        """The part of a GPU that a group takes, with the longest of its texts that fits."""
        x, y, wide, high = area
        self.drawing.box(area, fill=symbol.colour, stroke=WHITE, rx=2)
        if 1 < pieces <= MOST_PIECES and high >= 24:
            for piece in range(1, pieces):
                at = x + wide * piece / pieces
                self.drawing.line(at, y + high - 5, at, y + high - 1, stroke=symbol.pen)
        text = next((t for t in texts if text_width(t, bold=True) <= wide), texts[-1])
        self.drawing.text(x + wide / 2, y + high / 2 + 4.5, text, anchor="middle", fill=symbol.pen, bold=True)


def _grid(gpus: int) -> tuple[int, float, float]:
    """(GPUs side by side in a host, width and height of one)."""
    across = 4 if gpus <= 8 else 6
    return across, (TILE - 2 * PAD - (across - 1) * 3) / across, 46 if gpus <= 4 else 34


def _tile_height(room: Room, several: bool) -> float:
    across, _, high = _grid(room.gpus)
    return 22 + -(-room.gpus // across) * (high + 3) + PAD + LINE * several


def _legend(drawing: Drawing, plan: Plan, drawn: set[str], y: float) -> float:
    """Draw each group with its letter, of many only those drawn, and the meaning of the other boxes."""
    placed = [g for g in plan.groups if g.vms_placed]
    listed = placed if len(placed) <= MOST_LISTED else [g for g in placed if g.id in drawn][:MOST_LISTED]
    entries = _legend_entries(plan, listed)
    wide = (WIDTH - GAP) / 2
    for at, (symbol, name, about) in enumerate(entries):
        x, top = at % 2 * (wide + GAP), y + at // 2 * 40
        drawing.box(Area(x, top, 30, 32), fill=symbol.colour, dashed=not symbol.letter, rx=2)
        drawing.text(x + 15, top + 20.5, symbol.letter, anchor="middle", fill=symbol.pen, bold=True)
        drawing.text(x + 38, top + 13, name, bold=True, room=wide - 38)
        drawing.text(x + 38, top + 13 + LINE, about, room=wide - 38, fill=SOFT)
    y += -(-len(entries) // 2) * 40
    if left := len(placed) - len(listed):
        drawing.text(0, y + SIZE, said("drawing.hosts.more groups", groups=left), fill=SOFT)
        y += LINE
    if missing := plan.totals.unplaced_vms:
        drawing.text(0, y + SIZE, said("drawing.hosts.not drawn", vms=missing), bold=True)
        y += LINE
    return y + 4


def _legend_entries(plan: Plan, listed: Iterable[GroupPlan]) -> list[tuple[Symbol, str, str]]:
    """List (symbol, name, description) of some groups, of GPUs of no group and of free ones."""
    symbols = group_symbols(plan)
    entries = []
    for g in listed:
        how = g.profile if g.profile and g.gpus_each < 1 else MODE_NAMES[g.mode]
        entries.append(
            (symbols[g.id], g.name, f"{number(g.vms_placed)} x {amount(g.gpus_each, 'GPU')}, {how}")
        )
    if any(request.group == UNASSIGNED for pool in plan.pools for request in pool.requests):
        entries.append((symbols[UNASSIGNED], group_names(plan)[UNASSIGNED], unassigned_words(plan)))
    if plan.totals.gpus > sum(pool.gpus_occupied for pool in plan.pools):
        spare = any(not host for pool in plan.pools for host in pool.placement)
        about = said("drawing.hosts.failover" if spare else "drawing.hosts.no vm")
        entries.append((Symbol("", WHITE, INK), said("drawing.hosts.free"), about))
    return entries


# Fabric

SIDE = 192
"""Width of the column of words."""


def fabric_svg(plan: Plan) -> str | None:
    """Spines, leaves and hosts with the links between them; None where there are no hosts or no switches."""
    cabling = plan.cabling
    if cabling is None or cabling.switches is None:
        return None
    return _Fabric(
        cabling, cabling.switches, infiniband=plan.scenario.network.transport == "infiniband"
    ).svg()


class _Fabric:
    """The fabric in three rows, each labelled at its left: spines, leaves in pairs, hosts."""

    def __init__(self, found: Cabling, switches: Switches, *, infiniband: bool) -> None:
        self.drawing = Drawing()
        self.found, self.switches, self.shape = found, switches, switches.shape
        self.apart = found.ports.rdma if infiniband else 0
        """InfiniBand ports of a host, on a fabric that is not drawn."""
        self.rdma = 0 if infiniband else found.ports.rdma
        pairs = min(self.shape.leaves, MOST_SWITCHES) // 2
        self.spine_x = _spread(min(self.shape.spines, MOST_SWITCHES - 2))
        self.pair_x = _spread(pairs)
        self.cell = (WIDTH - SIDE) / pairs
        self.gap = min(120.0, self.cell / 4)
        self.one_pair = self.shape.leaves == 2

    def svg(self) -> str:
        shape, hosts = self.shape, amount(self.found.gpu_hosts, "GPU host")
        spine_y = leaf_y = 4.0
        if shape.spines:
            head = _head(amount(shape.spines, "spine"), shape.spines - len(self.spine_x))
            leaf_y = max(self._words(spine_y, head, self._spine_words()) + 12, spine_y + 110)
        leaves = said("drawing.fabric.leaves", leaves=shape.leaves, where=self.switches.where)
        head = _head(leaves, shape.leaves - 2 * len(self.pair_x))
        host_y = max(self._words(leaf_y, head, self._leaf_words()) + 12, leaf_y + 110)
        self._links(spine_y, leaf_y, host_y)
        self._switches(spine_y, leaf_y)
        for x in self.pair_x:
            self._hosts(x, host_y)
        end = self._words(host_y, hosts, self._host_words())
        y = self._key(max(end, host_y + 60) + 8)
        key = "drawing.fabric.about" if shape.spines else "drawing.fabric.about without spines"
        about = said(key, spines=shape.spines, leaves=leaves, hosts=self.found.gpu_hosts)
        return self.drawing.svg(y, about)

    def _words(self, y: float, head: str, told: Iterable[str]) -> float:
        """Write the labels at the left of a row, from a height on; return the height at which they end."""
        self.drawing.text(0, y + 14, head, bold=True, room=SIDE - 8)
        lines = [line for text in told for line in wrapped(text, SIDE - 8)]
        for at, line in enumerate(lines, 1):
            self.drawing.text(0, y + 14 + LINE * at, line, room=SIDE - 8, fill=SOFT)
        return y + 14 + LINE * len(lines) + 4

    def _spine_words(self) -> Iterable[str]:
        yield self.switches.spine_name
        yield said("drawing.fabric.spine ports", ports=self.shape.spine_ports_used)
        yield said("drawing.fabric.each leaf")
        yield f"{number(self.shape.links_per_spine)} x {number(self.switches.up_gbit_s)} Gbit/s"

    def _leaf_words(self) -> Iterable[str]:
        yield self.switches.leaf_name
        yield said("drawing.fabric.leaf ports", ports=self.shape.down_ports_used)
        if not self.shape.spines:
            yield said("drawing.fabric.between")
            yield f"{number(self.switches.peer_links)} x {number(self.switches.up_gbit_s)} Gbit/s"

    def _host_words(self) -> Iterable[str]:
        cabling = self.found
        yield said("drawing.fabric.shared ports", ports=cabling.ports.shared)
        if self.rdma:
            yield said("drawing.fabric.rdma ports", ports=self.rdma)
        yield said("drawing.fabric.speed", speed=self.switches.port_gbit_s)
        if compute := cabling.compute_ports:
            yield said("drawing.fabric.compute hosts", hosts=cabling.compute_hosts, ports=compute.total)
        yield said("drawing.fabric.to each leaf", links=self.shape.host_links_per_leaf)

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
                link(left, peer, right, peer, stroke=SOFT, width=_width(self.switches.peer_links))
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
        """The hosts on a pair of leaves."""
        places = self._host_places(x)
        wide = min(self.cell - 10, 400.0) / len(places)
        cabling, per_pair = self.found, self.shape.hosts_per_pair
        kinds = ((cabling.gpu_hosts, "GPU host", PALE), (cabling.compute_hosts, "compute host", "#fdf3e1"))
        for (middle, _), (count, what, fill) in zip(places, kinds, strict=False):
            left = middle - wide / 2 + 2
            for behind in (8, 4, 0) if (count if self.one_pair else per_pair) > 1 else (0,):
                area = Area(left + behind / 2, y + behind, wide - behind - 4, 44)
                self.drawing.box(area, fill=fill, stroke=SOFT)
            text = amount(count, what) if self.one_pair else said("drawing.fabric.up to", hosts=per_pair)
            self.drawing.text(middle, y + 26, text, anchor="middle", room=wide - 10, bold=True)

    def _key(self, y: float) -> float:
        """Explain the lines and the oversubscription."""
        drawing, x = self.drawing, 0.0
        keys = [(OKABE_ITO[0], "", said("drawing.fabric.shared key"))]
        if self.rdma:
            keys.append((OKABE_ITO[5], "6 3", said("drawing.fabric.rdma key")))
        for stroke, dashes, text in keys:
            drawing.line(x, y + 9, x + 34, y + 9, stroke=stroke, width=2, dashes=dashes)
            drawing.text(x + 42, y + 14, text, fill=SOFT)
            x += 42 + text_width(text) + 24
        notes = []
        if self.apart:
            notes.append(said("drawing.fabric.infiniband", ports=self.apart))
        ratio, most = self.shape.oversubscription, self.found.max_oversubscription
        notes.append(
            said("drawing.fabric.oversubscription", ratio=written(ratio, ".2f"), most=written(most, "g"))
        )
        for at, line in enumerate(notes, 1):
            drawing.text(0, y + LINE * at + 14, line, fill=SOFT)
        return y + LINE * (len(notes) + 1) + 4


def _spread(count: int) -> list[float]:
    """Spread ``count`` items side by side, right of the labels."""
    return [SIDE + (WIDTH - SIDE) * (at + 0.5) / count for at in range(count)]


def _head(text: str, left_out: int) -> str:
    return said("drawing.fabric.not drawn", switches=text, left=left_out) if left_out else text


def _width(links: int) -> float:
    """Width of the line that represents ``links`` links."""
    return min(6.0, 1.5 + links.bit_length() / 2)
