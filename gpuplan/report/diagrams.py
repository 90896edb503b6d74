"""Diagrams of a plan as SVG: the hosts with who is on them, the fabric, and the domains of the platform.

Pure shapes and text, so that a browser, a word processor and a converter to pictures all draw the same. A diagram is
640 units wide; with 13 units its text is 9 points high where the diagram is 16 cm wide.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from gpuplan.models.placement import Host, Load, Room
from gpuplan.plan import UNASSIGNED, Plan
from gpuplan.plan.bill_of_materials import DOMAIN, Material
from gpuplan.plan.fabric import Cabling, Ports, Switches
from gpuplan.plan.results import Pool
from gpuplan.report.colours import OKABE_ITO
from gpuplan.report.tables import group_names, host_kinds
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import MODE_NAMES, TRANSPORT_NAMES, amount, counted, number

WIDTH = 640
FONT = "Arial, Helvetica, DejaVu Sans, sans-serif"
SIZE = 13
"""Of text, in units of the drawing."""
LINE = 17
"""From one line of text to the next."""
INK, SOFT, EDGE, PALE = "#1a2230", "#4a5566", "#8b94a3", "#f4f6f8"
OTHER = "#b9c0ca"
"""Colour of what belongs to no group."""
MOST_HOSTS = 24
"""Up to so many hosts are drawn one by one."""
MOST_PIECES = 8
"""Pieces of one group on a GPU that are divided by lines."""
MOST_LISTED = 24
"""Groups in the legend; of more only those that are drawn."""
MOST_SWITCHES = 6
"""Spines, and leaves, that are drawn one by one."""


def clean_text(text: str) -> str:
    """Text without what XML forbids or what turns the direction of the text after it; line ends become spaces.

    Parameters
    ----------
    text : str
        Any text, such as a name that somebody typed. [-]

    Returns
    -------
    clean_text : str
        One line of text. [-]
    """
    kept = "".join(
        " " if c.isspace() else c
        for c in text
        if c.isspace()
        or not (
            unicodedata.category(c) in ("Cc", "Cs")
            or c in "\ufffe\uffff"
            or "\u202a" <= c <= "\u202e"
            or "\u2066" <= c <= "\u2069"
        )
    )
    return " ".join(kept.split(" ")).strip()


@cache
def _letter_width(letter: str) -> float:
    """Width of a letter for a font size of 1, as in the wider of the fonts."""
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF" or ord(letter) > 0xFFFF:
        return 1.05
    if letter in "iljI.,'|:;!()[] \u202f":
        return 0.35
    if letter in "mwMW@%":
        return 0.97
    return 0.69 if letter.isupper() else 0.61


def text_width(text: str, *, size: float = SIZE, bold: bool = False) -> float:
    """About how wide a text is; rather more than less.

    Parameters
    ----------
    text : str
        One line. [-]
    size : float
        Size of the font. [-]
    bold : bool
        Whether it is bold. [-]

    Returns
    -------
    text_width : float
        Width in units of the drawing. [-]
    """
    return sum(map(_letter_width, text)) * size * (1.1 if bold else 1)


def shortened(text: str, width: float, *, size: float = SIZE, bold: bool = False) -> str:
    """A text that fits into a width; what is too long ends with an ellipsis.

    Parameters
    ----------
    text : str
        Any text; it is cleaned. [-]
    width : float
        Units of the drawing. [-]
    size : float
        Size of the font. [-]
    bold : bool
        Whether it is bold. [-]

    Returns
    -------
    shortened : str
        The text, or its beginning. [-]
    """
    text = clean_text(text)
    if text_width(text, size=size, bold=bold) <= width:
        return text
    while text and text_width(text + "\u2026", size=size, bold=bold) > width:
        text = text[:-1]
    return text.rstrip() + "\u2026"


def _wrapped(text: str, width: float) -> list[str]:
    """A text in lines that fit into a width."""
    lines: list[str] = []
    for word in clean_text(text).split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(shortened(word, width))
    return lines


class Mark(NamedTuple):
    """How a group is drawn."""

    letter: str
    colour: str
    pen: str
    """Colour of text on it."""


def group_marks(plan: Plan) -> dict[str, Mark]:
    """Letter and colours of each group, and of GPUs that belong to none.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    group_marks : dict of str to Mark
        By the id of the group; where letters have run out, the number of the group stands for it. [-]
    """
    marks = {UNASSIGNED: Mark("\u00b7", OTHER, INK)}
    for at, group in enumerate(plan.groups):
        colour = OKABE_ITO[at % len(OKABE_ITO)]
        letter = group.letter if group.letter.isalpha() else str(at + 1)
        marks[group.id] = Mark(letter, colour, pen_on(colour))
    return marks


def pen_on(colour: str) -> str:
    """Colour of text that can be read on a colour: white on the dark blue, else dark.

    Parameters
    ----------
    colour : str
        Of the ground. [-]

    Returns
    -------
    pen_on : str
        Of the text. [-]
    """
    return "#ffffff" if colour == OKABE_ITO[0] else "#10151d"


def figure_png(svg: str, *, width_px: int = 1600) -> bytes:
    """A figure as a picture, for files that cannot hold drawings.

    Parameters
    ----------
    svg : str
        A drawing of this package. [-]
    width_px : int
        Width of the picture. [px]

    Returns
    -------
    figure_png : bytes
        A PNG file. [-]
    """
    import vl_convert

    wide = float(ElementTree.fromstring(svg).attrib["width"])
    return bytes(vl_convert.svg_to_png(svg, scale=width_px / wide))


def _n(value: float) -> str:
    """A coordinate."""
    return f"{value:.1f}".removesuffix(".0")


class _Drawing:
    """Shapes and texts, in the order in which they are drawn."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "#ffffff",
        edge: str = EDGE,
        dashed: bool = False,
        round_: float = 4,
        name: str = "",
    ) -> None:
        """A rectangle; ``name`` says what it stands for, for who looks for it in the file."""
        called = f' id="{name}"' if name else ""
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(
            f'<rect{called} x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(round_)}" fill="{fill}" '
            f'stroke="{edge}"{dashes}/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        room: float = WIDTH,
        anchor: str = "start",
        ink: str = INK,
        bold: bool = False,
        size: float = SIZE,
    ) -> None:
        """A line of text, cut where it needs more room."""
        weight = ' font-weight="bold"' if bold else ""
        shown = escape(shortened(text, room, size=size, bold=bold))
        self.parts.append(
            f'<text x="{_n(x)}" y="{_n(y)}" font-family="{FONT}" font-size="{_n(size)}"{weight} text-anchor="{anchor}" '
            f'fill="{ink}">{shown}</text>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, ink: str, wide: float = 1, dashes: str = ""
    ) -> None:
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(
            f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="{ink}" stroke-width="{_n(wide)}"{dashed}/>'
        )

    def arrow(self, x1: float, x2: float, y: float) -> None:
        """A line to the right or left with a head at its end."""
        back = -8 if x2 > x1 else 8
        self.line(x1, y, x2 + back, y, ink=INK, wide=2)
        self.parts.append(
            f'<polygon points="{_n(x2)},{_n(y)} {_n(x2 + back)},{_n(y - 5)} {_n(x2 + back)},{_n(y + 5)}" fill="{INK}"/>'
        )

    def svg(self, height: float, about: str) -> str:
        """The file; ``about`` is its title."""
        tall = _n(height + 4)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 4}" height="{tall}" viewBox="-2 -2 {WIDTH + 4} {tall}">'
            f"<title>{escape(clean_text(about))}</title>"
            f'<rect x="-2" y="-2" width="{WIDTH + 4}" height="{tall}" fill="#ffffff"/>'
            + "".join(self.parts)
            + "</svg>"
        )


# Hosts

COLUMNS, GAP, PAD = 4, 12, 6
TILE = (WIDTH - (COLUMNS - 1) * GAP) / COLUMNS


@dataclass(frozen=True)
class _Ink:
    """How groups look, and how large their pieces are."""

    marks: dict[str, Mark]
    piece_mb: dict[str, int]
    gpu_mb: int
    numbered: frozenset[str]
    """Groups whose VMs are drawn with their numbers: there is room for two digits."""
    drawn: set[str]
    """Groups that are on a host drawn so far."""


def hosts_svg(plan: Plan) -> str:
    """The hosts with who is on which GPU; many hosts are drawn once for all that are filled alike.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    hosts_svg : str
        The drawing, with its legend. [-]
    """
    drawing = _Drawing()
    if not plan.pools:
        drawing.text(0, 20, "No group asks for a GPU yet, so there is no host.")
        return drawing.svg(32, "No hosts")
    marks = group_marks(plan)
    drawn: set[str] = set()
    y = 0.0
    for pool in plan.pools:
        ink = _Ink(
            marks,
            {g.id: g.frame_buffer_mb // max(1, g.vgpus_each) for g in plan.groups}
            | {r.group: r.weight for r in pool.requests if r.weight},
            int(plan.catalog.gpus[pool.gpu].fact("memory_gib").value * MIB_PER_GIB),
            frozenset(g.id for g in plan.groups if g.vms_placed < 100),
            drawn,
        )
        y = _pool_hosts(drawing, plan, pool, ink, y)
    y = _legend(drawing, plan, marks, drawn, y)
    hosts = amount(plan.totals.hosts, "host")
    return drawing.svg(y, f"{hosts} with {amount(plan.totals.gpus, 'GPU')}, and who is on them")


def _pool_hosts(drawing: _Drawing, plan: Plan, pool: Pool, ink: _Ink, y: float) -> float:
    """The hosts of a pool from a height on; the height at which they end."""
    server = plan.catalog.servers[pool.server].name if pool.server else "server to be chosen"
    there = pool.existing_hosts
    new = (
        f"{number(pool.hosts - there)} x {server}, {pool.gpus_per_host} x {plan.catalog.gpus[pool.gpu].name}"
    )
    old = f"{number(there)} there already with {amount(pool.rooms[0].gpus, 'GPU')} each, " if there else ""
    drawing.text(0, y + 16, pool.name, bold=True, room=WIDTH)
    drawing.text(0, y + 16 + LINE, old + new, ink=SOFT, room=WIDTH)
    y += 16 + LINE + 10
    most = MOST_HOSTS // len(plan.pools)
    every = plan.totals.hosts <= MOST_HOSTS or pool.hosts <= most
    kinds = [[index] for index in range(pool.hosts)] if every else host_kinds(pool)
    shown = kinds if every else sorted(kinds[:most])
    for first in range(0, len(shown), COLUMNS):
        row = shown[first : first + COLUMNS]
        tall = max(_tile_height(pool.rooms[members[0]], bool(members[1:])) for members in row)
        for column, members in enumerate(row):
            _tile(drawing, pool, members, ink, column * (TILE + GAP), y, tall)
        y += tall + GAP
    if left := sum(map(len, kinds[len(shown) :])):
        others = len(kinds) - len(shown)
        ways = f"{number(others)} other ways" if others > 1 else "another way"
        drawing.text(0, y + SIZE, f"and {amount(left, 'host')} filled in {ways}", ink=SOFT)
        y += LINE + 6
    return y + 6


def _grid(gpus: int) -> tuple[int, float, float]:
    """(GPUs side by side in a host, width and height of one)."""
    across = 4 if gpus <= 8 else 6
    return across, (TILE - 2 * PAD - (across - 1) * 3) / across, 46 if gpus <= 4 else 34


def _tile_height(room: Room, several: bool) -> float:
    across, _, tall = _grid(room.gpus)
    return 22 + -(-room.gpus // across) * (tall + 3) + PAD + LINE * several


def _tile(
    drawing: _Drawing, pool: Pool, members: Sequence[int], ink: _Ink, x: float, y: float, tall: float
) -> None:
    """One host, or one for all that are filled alike."""
    first = members[0]
    loads, room = pool.placement[first], pool.rooms[first]
    ink.drawn.update(slot.group for load in loads for slot in load.slots)
    spare = not loads
    drawing.box(
        x, y, TILE, tall, fill="#ffffff" if spare else PALE, dashed=spare, name=f"host-{pool.id}-{first + 1}"
    )
    word = "spare" if spare else f"{sum(load.gpus for load in loads)} of {room.gpus}"
    head = f"Host {number(first + 1)}"
    drawing.text(x + PAD, y + 16, head, bold=True, room=TILE - 2 * PAD)
    drawing.text(x + TILE - PAD, y + 16, word, anchor="end", ink=SOFT)
    across, wide, high = _grid(room.gpus)
    for at, gpu in enumerate(_gpus(loads, room)):
        left, top = x + PAD + at % across * (wide + 3), y + 22 + at // across * (high + 3)
        name = f"gpu-{pool.id}-{first + 1}-{at + 1}"
        if gpu is None:
            drawing.box(left, top, wide, high, dashed=True, round_=2, name=name)
        else:
            one = len(members) == 1 and across == 4
            _gpu(
                drawing, gpu, ink if one else replace(ink, numbered=frozenset()), left, top, wide, high, name
            )
    if len(members) > 1:
        more = f"{number(len(members) - 1)} more like this"
        drawing.text(x + PAD, y + tall - PAD, more, room=TILE - 2 * PAD, ink=SOFT)


def _gpus(loads: Host, room: Room) -> list[Load | None]:
    """What is on each GPU of a host; None where nobody is."""
    found: list[Load | None] = [load for load in loads for _ in range(load.gpus)]
    return found + [None] * (room.gpus - len(found))


def _gpu(
    drawing: _Drawing, load: Load, ink: _Ink, x: float, y: float, wide: float, high: float, name: str
) -> None:
    """One GPU with its groups above each other, by how much of it they take."""
    drawing.box(
        x, y, wide, high, edge="#ffffff" if load.family is None else EDGE, dashed=True, round_=2, name=name
    )
    if load.family is None:
        slot = load.slots[0]
        mark = ink.marks[slot.group]
        text = (
            f"{mark.letter}{slot.vm}" if slot.group in ink.numbered and mark.letter.isalpha() else mark.letter
        )
        _band(drawing, mark, (text,), x, y, wide, high)
        return
    weights: dict[str, int] = {}
    counts: dict[str, int] = {}
    for slot in load.slots:
        weights[slot.group] = weights.get(slot.group, 0) + (ink.piece_mb.get(slot.group, 0) or 1)
        counts[slot.group] = counts.get(slot.group, 0) + 1
    whole = max(ink.gpu_mb, sum(weights.values()))
    bands = sorted(weights, key=lambda group: -weights[group])
    least = high / 3
    if len(bands) > 3:  # no room for more letters: the largest two, and how many others
        others = bands[2:]
        parts = [(ink.marks[g], counts[g], weights[g]) for g in bands[:2]]
        parts.append((Mark(f"+{len(others)}", OTHER, INK), 1, sum(weights[g] for g in others)))
    else:
        parts = [(ink.marks[g], counts[g], weights[g]) for g in bands]
    heights = [max(least, high * weight / whole) for _, _, weight in parts]
    over = sum(heights) - high
    if over > 0:
        heights[heights.index(max(heights))] -= over
    top = y
    for (mark, count, _), tall in zip(parts, heights, strict=True):
        texts = (f"{mark.letter}\u00d7{count}", mark.letter) if count > 1 else (mark.letter,)
        _band(drawing, mark, texts, x, top, wide, tall, count)
        top += tall


def _band(
    drawing: _Drawing,
    mark: Mark,
    texts: Sequence[str],
    x: float,
    y: float,
    wide: float,
    high: float,
    pieces: int = 1,
) -> None:
    """The part of a GPU that a group takes, with the longest of its texts that fits."""
    drawing.box(x, y, wide, high, fill=mark.colour, edge="#ffffff", round_=2)
    if 1 < pieces <= MOST_PIECES and high >= 24:
        for piece in range(1, pieces):
            at = x + wide * piece / pieces
            drawing.line(at, y + high - 5, at, y + high - 1, ink=mark.pen)
    text = next((t for t in texts if text_width(t, bold=True) <= wide), texts[-1])
    drawing.text(x + wide / 2, y + high / 2 + 4.5, text, room=WIDTH, anchor="middle", ink=mark.pen, bold=True)


def _legend(drawing: _Drawing, plan: Plan, marks: dict[str, Mark], drawn: set[str], y: float) -> float:
    """Each group with its letter, of many those that are drawn, and what the other boxes mean."""
    names = group_names(plan)
    placed = [g for g in plan.groups if g.vms_placed]
    listed = placed if len(placed) <= MOST_LISTED else [g for g in placed if g.id in drawn][:MOST_LISTED]
    entries: list[tuple[Mark, str, str]] = [
        (
            marks[g.id],
            g.name,
            f"{number(g.vms_placed)} x {amount(g.gpus_each, 'GPU')}, "
            + (g.profile if g.profile and g.gpus_each < 1 else MODE_NAMES[g.mode]),
        )
        for g in listed
    ]
    if any(request.group == UNASSIGNED for pool in plan.pools for request in pool.requests):
        entries.append((marks[UNASSIGNED], names[UNASSIGNED], "stated, but of no group"))
    if plan.totals.gpus > sum(pool.gpus_occupied for pool in plan.pools):
        spare = any(not host for pool in plan.pools for host in pool.placement)
        about = "spare hosts are kept for failures" if spare else "nobody is on it"
        entries.append((Mark("", "#ffffff", INK), "Free GPU", about))
    wide = (WIDTH - GAP) / 2
    for at, (mark, name, about) in enumerate(entries):
        x, top = at % 2 * (wide + GAP), y + at // 2 * 40
        drawing.box(x, top, 30, 32, fill=mark.colour, dashed=not mark.letter, round_=2)
        drawing.text(x + 15, top + 20.5, mark.letter, anchor="middle", ink=mark.pen, bold=True)
        drawing.text(x + 38, top + 13, name, bold=True, room=wide - 38)
        drawing.text(x + 38, top + 13 + LINE, about, room=wide - 38, ink=SOFT)
    y += -(-len(entries) // 2) * 40
    if left := len(placed) - len(listed):
        drawing.text(0, y + SIZE, f"and {counted(left, 'other group')}", ink=SOFT)
        y += LINE
    if plan.totals.unplaced_vms:
        drawing.text(
            0, y + SIZE, f"Not drawn: {amount(plan.totals.unplaced_vms, 'VM')} without a GPU", bold=True
        )
        y += LINE
    return y + 4


# Fabric

SIDE = 192
"""Width of the column of words."""


def fabric_svg(plan: Plan) -> str | None:
    """Spines, leaves and hosts with the links between them; None where there are no hosts or no switches.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    fabric_svg : str or None
        The drawing. [-]
    """
    found = plan.cabling
    if found is None or found.switches is None:
        return None
    switches, shape = found.switches, found.switches.shape
    infiniband = plan.scenario.network.transport == "infiniband"
    rdma = 0 if infiniband else found.ports.rdma
    speed = f"{number(switches.up_gbit_s)} Gbit/s"
    drawing = _Drawing()
    pairs = min(shape.leaves, MOST_SWITCHES) // 2
    spine_x = _spread(min(shape.spines, MOST_SWITCHES - 2))
    pair_x = _spread(pairs)
    cell = (WIDTH - SIDE) / pairs
    gap = min(120.0, cell / 4)
    y = 4.0
    leaf_y = y
    if shape.spines:
        said = [
            switches.spine_name,
            f"{amount(shape.spine_ports_used, 'port')} used on each",
            "each leaf to each spine:",
            f"{number(shape.links_per_spine)} x {speed}",
        ]
        end = _row_words(drawing, y, counted(shape.spines, "spine"), said, shape.spines - len(spine_x))
        leaf_y = max(end + 12, y + 110)
    said = [switches.leaf_name, f"up to {counted(shape.down_ports_used, 'host port')} used"]
    if not shape.spines:
        said += ["between the two:", f"{number(shape.peer_cables)} x {speed}"]
    end = _row_words(drawing, leaf_y, f"{number(shape.leaves)} leaves", said, shape.leaves - 2 * pairs)
    host_y = max(end + 12, leaf_y + 110)
    for x in pair_x:
        for leaf in (x - gap, x + gap):
            for spine in spine_x:
                _links(drawing, spine, y + 34, leaf, leaf_y, shape.links_per_spine, SOFT)
        if not shape.spines:
            _links(drawing, x - gap, leaf_y + 17, x + gap, leaf_y + 17, shape.peer_cables, SOFT)
        for middle, ports in _host_places(found, x, cell - 10, shape.leaves == 2):
            for side, leaf in ((-1, x - gap), (1, x + gap)):
                _links(drawing, middle + side * 30, host_y, leaf, leaf_y + 34, 1, OKABE_ITO[0])
                apart = 0 if infiniband else ports.rdma
                if apart > 1 or (apart and side < 0):
                    end = leaf - side * 22
                    drawing.line(
                        middle + side * 10, host_y, end, leaf_y + 34, ink=OKABE_ITO[5], wide=2, dashes="6 3"
                    )
    for at, x in enumerate(spine_x):
        _named_box(drawing, x, y, min(120, (WIDTH - SIDE) / len(spine_x) - 8), f"Spine {at + 1}", "spine")
    for at, x in enumerate(pair_x):
        for twin, leaf in (("A", x - gap), ("B", x + gap)):
            called = f"Leaf {at + 1}{twin}" if shape.leaves > 2 else f"Leaf {twin}"
            _named_box(drawing, leaf, leaf_y, min(120, cell / 2 - 8), called, "leaf")
    for x in pair_x:
        _hosts_box(drawing, found, shape.hosts_per_pair, x, host_y, cell - 10, shape.leaves == 2)
    said = _host_words(found, switches, rdma)
    end = _row_words(drawing, host_y, amount(found.gpu_hosts, "GPU host"), said, 0)
    y = max(end, host_y + 60) + 8
    y = _fabric_key(drawing, found, rdma, infiniband, y)
    about = f"{counted(shape.spines, 'spine')}, {number(shape.leaves)} leaves"
    return drawing.svg(y, f"Fabric: {about}, {amount(found.gpu_hosts, 'GPU host')}")


def _spread(count: int) -> list[float]:
    """Places of so many things side by side, right of the words."""
    return [SIDE + (WIDTH - SIDE) * (at + 0.5) / count for at in range(count)]


def _row_words(drawing: _Drawing, y: float, head: str, said: Iterable[str], left_out: int) -> float:
    """The words at the left of a row, from a height on; the height at which they end."""
    drawing.text(
        0, y + 14, f"{head}, {number(left_out)} not drawn" if left_out else head, bold=True, room=SIDE - 8
    )
    lines = [line for text in said for line in _wrapped(text, SIDE - 8)]
    for at, line in enumerate(lines, 1):
        drawing.text(0, y + 14 + LINE * at, line, room=SIDE - 8, ink=SOFT)
    return y + 14 + LINE * len(lines) + 4


def _links(drawing: _Drawing, x1: float, y1: float, x2: float, y2: float, links: int, ink: str) -> None:
    """Links as one line, wider the more there are."""
    drawing.line(x1, y1, x2, y2, ink=ink, wide=min(6.0, 1.5 + links.bit_length() / 2))


def _named_box(drawing: _Drawing, x: float, y: float, wide: float, text: str, kind: str) -> None:
    drawing.box(x - wide / 2, y, wide, 34, fill="#dfe9f2" if kind == "leaf" else "#e8e4f3", edge=SOFT)
    drawing.text(x, y + 21.5, text, anchor="middle", room=wide - 4)


def _host_places(found: Cabling, x: float, wide: float, only: bool) -> list[tuple[float, Ports]]:
    """(middle of the box, ports of a host) for the hosts on a pair of leaves: of a single pair compute hosts are apart."""
    if only and found.compute_ports:
        part = min(wide, 400.0) / 4
        return [(x - part, found.ports), (x + part, found.compute_ports)]
    return [(x, found.ports)]


def _hosts_box(
    drawing: _Drawing, found: Cabling, each: int, x: float, y: float, wide: float, only: bool
) -> None:
    """The hosts on a pair of leaves."""
    places = _host_places(found, x, wide, only)
    part = min(wide, 400.0) / len(places)
    kinds = ((found.gpu_hosts, "GPU host", PALE), (found.compute_hosts, "compute host", "#fdf3e1"))
    for (middle, _), (count, what, fill) in zip(places, kinds, strict=False):
        left = middle - part / 2 + 2
        for behind in (8, 4, 0) if (count if only else each) > 1 else (0,):
            drawing.box(left + behind / 2, y + behind, part - behind - 4, 44, fill=fill, edge=SOFT)
        text = amount(count, what) if only else f"up to {amount(each, 'host')}"
        drawing.text(middle, y + 26, text, anchor="middle", room=part - 10, bold=True)


def _host_words(found: Cabling, switches: Switches, rdma: int) -> list[str]:
    """Ports of a host, in lines."""
    speed = f"{number(switches.port_gbit_s)} Gbit/s"
    said = [f"each with {counted(found.ports.shared, 'shared port')}"]
    if rdma:
        said.append(f"and {counted(rdma, 'RDMA port')}")
    said.append(f"of {speed}")
    if compute := found.compute_ports:
        said.append(
            f"and {amount(found.compute_hosts, 'compute host')}, {amount(compute.total, 'port')} each"
        )
    said.append(f"at most {number(switches.shape.host_links_per_leaf)} to each leaf")
    return said


def _fabric_key(drawing: _Drawing, found: Cabling, rdma: int, infiniband: bool, y: float) -> float:
    """What the lines mean, and the oversubscription."""
    assert found.switches is not None
    ratio = found.switches.shape.oversubscription
    said = f"Oversubscription {ratio:.2f}:1, at most {found.max_oversubscription:g}:1"
    keys = [(OKABE_ITO[0], "", "shared ports, teamed")]
    if rdma:
        keys.append((OKABE_ITO[5], "6 3", "RDMA ports, each on its own distributed switch"))
    x = 0.0
    for ink, dashes, text in keys:
        drawing.line(x, y + 9, x + 34, y + 9, ink=ink, wide=2, dashes=dashes)
        drawing.text(x + 42, y + 14, text, ink=SOFT)
        x += 42 + text_width(text) + 24
    y += LINE
    if infiniband and found.ports.rdma:
        apart = f"{counted(found.ports.rdma, 'InfiniBand port')} of each GPU host on a fabric of its own, not drawn"
        drawing.text(0, y + 14, apart, ink=SOFT)
        y += LINE
    drawing.text(0, y + 14, said, ink=SOFT)
    return y + LINE + 4


# Domains

MOST_CLIENTS = 6
"""Groups that are named as clients of the GPU hosts."""


def domain_svg(plan: Plan) -> str:
    """Management domain, GPU workload domain with its components, and the compute cluster as its client.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    domain_svg : str
        The drawing; the components are those of the bill of materials. [-]
    """
    drawing = _Drawing()
    bill = {m.key: m for m in plan.costs.materials if m.part == DOMAIN} if plan.costs else {}
    if not plan.pools:
        drawing.text(0, 20, "No group asks for a GPU yet, so there is no workload domain.")
        return drawing.svg(32, "No workload domain")
    left, middle, gap = 186.0, 232.0, 18.0
    own = [
        _part(m)
        for key, m in bill.items()
        if key in ("vcenter", "nsx-manager", "distributed-switches", "storage")
    ]
    ends = [
        _domain(
            drawing,
            0,
            left,
            "Management domain",
            "runs the managers of all domains",
            [_part(bill[key]) for key in ("management-hosts", "sddc-manager") if key in bill],
        ),
        _workload_domain(drawing, plan, left + gap, middle, own),
    ]
    x = left + gap + middle + gap
    ends.append(_clients(drawing, plan, bill.get("compute-hosts"), x, WIDTH - x))
    tall = max(ends)
    frames = _Drawing()
    for at, wide in ((0.0, left), (left + gap, middle), (x, WIDTH - x)):
        frames.box(at + 0.5, 1, wide - 1, tall, fill=PALE, edge=SOFT, round_=6)
    y = 50.0
    frames.line(left, y, left + gap, y, ink=INK, wide=2)
    drawing.parts = frames.parts + drawing.parts
    remote = [g for g in plan.groups if g.mode == "bitfusion" and g.vms_placed]
    network = plan.scenario.network
    if remote:
        drawing.arrow(x, x - gap, y)
        way = f"Bitfusion over {TRANSPORT_NAMES[network.transport]}, {number(network.link_gbit_s)} Gbit/s"
        drawing.text(WIDTH, tall + 20, f"The compute cluster uses the GPUs by {way}", anchor="end", ink=SOFT)
        tall += LINE
    about = (
        f"GPU workload domain with {amount(plan.totals.hosts, 'host')}, its management domain and its clients"
    )
    return drawing.svg(tall + 12, about)


def _part(material: Material) -> tuple[str, str]:
    """(a component with its count, what is said of it)."""
    word = {
        "there": "there already",
        "to be sized": "to be sized",
        "included": "included",
        "bought": "to be bought",
    }
    unit = f"{material.unit} " if material.unit == "TB" else ""
    name = (
        f"{number(material.quantity)} {unit or 'x '}{material.name}" if material.quantity else material.name
    )
    return name, word.get(material.status, material.status)


def _domain(
    drawing: _Drawing, x: float, wide: float, title: str, about: str, parts: Iterable[tuple[str, str]]
) -> float:
    """Head and components of a domain; the height at which they end."""
    drawing.text(x + 10, 22, title, bold=True, room=wide - 20)
    y = 62.0
    for at, line in enumerate(_wrapped(about, wide - 20)):
        drawing.text(x + 10, 40 + LINE * at, line, ink=SOFT, room=wide - 20)
        y = 40 + LINE * at + 22
    for name, word in parts:
        y = _component(drawing, x + 10, y, wide - 20, name, word)
    return y + 6


def _component(drawing: _Drawing, x: float, y: float, wide: float, name: str, word: str) -> float:
    """A box with a component; the height at which the next begins."""
    lines = _wrapped(name, wide - 14)[:3]
    tall = LINE * (len(lines) + 1) + 8
    drawing.box(x, y, wide, tall, edge=EDGE, dashed=word == "to be sized")
    for at, line in enumerate(lines):
        drawing.text(x + 7, y + 17 + LINE * at, line, room=wide - 14)
    drawing.text(x + 7, y + 17 + LINE * len(lines), word, ink=SOFT, room=wide - 14)
    return y + tall + 8


def _workload_domain(
    drawing: _Drawing, plan: Plan, x: float, wide: float, parts: Sequence[tuple[str, str]]
) -> float:
    """The domain with the GPU hosts: its components, then a box for each cluster with who works on it."""
    y = _domain(drawing, x, wide, "GPU workload domain", "with its own vCenter Server", parts) - 6
    marks = group_marks(plan)
    for pool in plan.pools:
        here = [g for g in plan.groups if g.pool == pool.id and g.vms_placed]
        tall = 2 * LINE + 12 + 24 * -(-len(here) // 5)
        drawing.box(x + 10, y, wide - 20, tall, fill="#e3f0fa", edge=OKABE_ITO[0], name=f"cluster-{pool.id}")
        drawing.text(x + 17, y + 17, pool.name, bold=True, room=wide - 34)
        size = f"{amount(pool.hosts, 'host')}, {amount(pool.gpus, 'GPU')}"
        drawing.text(x + 17, y + 17 + LINE, size, ink=SOFT, room=wide - 34)
        for at, group in enumerate(here):
            _chip(drawing, marks[group.id], x + 17 + at % 5 * 38, y + 8 + 2 * LINE + at // 5 * 24)
        y += tall + 8
    return y + 6


def _chip(drawing: _Drawing, mark: Mark, x: float, y: float) -> None:
    drawing.box(x, y, 30, 19, fill=mark.colour, edge="#ffffff", round_=2)
    drawing.text(x + 15, y + 14, mark.letter, anchor="middle", ink=mark.pen, bold=True)


def _clients(drawing: _Drawing, plan: Plan, hosts: Material | None, x: float, wide: float) -> float:
    """The compute cluster with the VMs whose GPUs are elsewhere."""
    remote = [g for g in plan.groups if g.mode == "bitfusion" and g.vms_placed]
    about = "client of the GPU cluster" if remote else "no GPU is used over the network"
    part = []
    if hosts is not None:
        part = [
            (
                f"{number(hosts.quantity)} x Compute host" if hosts.quantity else "Compute hosts",
                _part(hosts)[1],
            )
        ]
    y = _domain(drawing, x, wide, "Compute cluster", about, part) - 6
    marks = group_marks(plan)
    for group in remote[:MOST_CLIENTS]:
        _chip(drawing, marks[group.id], x + 10, y)
        name = _wrapped(group.name, wide - 54)
        said = [*name[:2], f"{amount(group.vms_placed, 'VM')} x {amount(group.gpus_each, 'GPU')}"]
        for at, line in enumerate(said):
            ink = INK if at < len(said) - 1 else SOFT
            drawing.text(x + 46, y + 14 + LINE * at, line, room=wide - 54, ink=ink)
        y += LINE * len(said) + 10
    if len(remote) > MOST_CLIENTS:
        left = counted(len(remote) - MOST_CLIENTS, "other group")
        drawing.text(x + 10, y + 14, f"and {left}", ink=SOFT, room=wide - 20)
        y += 24
    return y + 6
