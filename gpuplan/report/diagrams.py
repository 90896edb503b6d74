"""Drawing of the hosts with their workloads; the load of each GPU, what may join it, and the look of a workload in all drawings."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gpuplan.models.placement import Family, Host, Load, Room
from gpuplan.plan import UNASSIGNED, Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.sharing import more_that_fit, starts_of
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
    pen_on,
    text_width,
)
from gpuplan.report.tables import group_names, host_kinds
from gpuplan.report.tables.plan import clusters_alike, equipment, unassigned_words
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import MODE_NAMES, amount, joined, number, said

SHOWN_PLACES = 8
"""Most places on a GPU that are listed; of more, the first and the last."""


class Share(NamedTuple):
    """Part of a GPU that a group takes."""

    vms: int
    mb: int


class Shares:
    """Memory of a pool's GPUs, and the part of it that one VM of each group takes."""

    def __init__(self, plan: Plan, pool: Pool) -> None:
        self.gpu_mb = int(plan.catalog.gpus[pool.gpu].fact("memory_gib").value * MIB_PER_GIB)
        self._piece_mb = {g.id: g.frame_buffer_mb // max(1, g.vgpus_each) for g in plan.groups}
        self._piece_mb |= {request.group: request.weight for request in pool.requests if request.weight}

    def piece_mb(self, group: str, unknown: int = 1) -> int:
        """Return the part of one VM; ``unknown`` where its memory is."""
        return self._piece_mb.get(group, 0) or unknown

    def of(self, load: Load, unknown: int = 1) -> dict[str, Share]:
        """Return the parts of the groups on a GPU, in the order of their first VMs."""
        counts = Counter(slot.group for slot in load.slots)
        return {group: Share(vms, vms * self.piece_mb(group, unknown)) for group, vms in counts.items()}

    def left_mb(self, load: Load) -> int:
        """Return the memory of a GPU that no group takes."""
        return max(0, self.gpu_mb - sum(share.mb for share in self.of(load).values()))


def on_each_gpu(loads: Host, gpus: int) -> list[Load | None]:
    """Return the load on each GPU of a host; None for an empty one."""
    found: list[Load | None] = [load for load in loads for _ in range(load.gpus)]
    return found + [None] * (gpus - len(found))


def room_words(family: Family, counts: Sequence[int]) -> str:
    """Return the VMs that still fit on a GPU with these counts."""
    room = more_that_fit(family, counts)
    return said("hosts.or").join(said("hosts.more of a profile", more=n, profile=name) for n, name in room)


def layout_words(plan: Plan, family: Family, counts: Sequence[int]) -> str:
    """Return the profiles on a GPU, and the start of each, where a source lists it."""
    starts = starts_of(plan.scenario, plan.catalog, family.profiles, counts)
    if starts is None:
        return ", ".join(f"{n} x {name}" for n, name in zip(counts, family.profiles, strict=True) if n)
    return ", ".join(said("hosts.profile at", profile=name, places=places_words(at)) for name, at in starts)


def places_words(numbers: Sequence[int]) -> str:
    """Return numbers as a list that ends with 'and'; of many the first and the last."""
    if len(numbers) > SHOWN_PLACES:
        return said("hosts.places", places=len(numbers), first=numbers[0], last=numbers[-1])
    return joined([*map(number, numbers)])


OTHER = "#b9c0ca"
MOST_HOSTS = 24
MOST_CLUSTERS = 5
"""Most clusters that are drawn, so that the text stays legible on paper; the tables cover the others."""
MOST_PIECES = 8
"""Most parts of one group on a GPU that are separated by lines."""
MOST_LISTED = 24
"""Most groups in the legend; beyond them only those drawn."""
COLUMNS, GAP, PAD = 4, 12, 6
TILE = (WIDTH - (COLUMNS - 1) * GAP) / COLUMNS


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
            edge = WHITE if no_edge else EDGE
            drawing.box(place, stroke=edge, dashed=True, rx=2, id=f"gpu-{name}-{at + 1}")
            if load and load.family is None:
                self._whole_gpu(load, place, numbered=len(alike) == 1 and across == 4)
            elif load:
                self._shared_gpu(load, place)
        if len(alike) > 1:
            more = said("drawing.hosts.more alike", more=len(alike) - 1)
            drawing.text(inside[0], area.y + area.high - PAD, more, room=inside[2], fill=SOFT)

    def _whole_gpu(self, load: Load, area: Area, *, numbered: bool) -> None:
        slot = load.slots[0]
        symbol = self.symbols[slot.group]
        with_number = numbered and slot.group in self.numbered and symbol.letter.isalpha()
        self._band(symbol, area, [f"{symbol.letter}{slot.vm}" if with_number else symbol.letter])

    def _shared_gpu(self, load: Load, area: Area) -> None:
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
        size = f"{number(g.vms_placed)} x {amount(g.gpus_each, 'GPU')}"
        entries.append((symbols[g.id], g.name, f"{size}, {how}"))
    if any(request.group == UNASSIGNED for pool in plan.pools for request in pool.requests):
        entries.append((symbols[UNASSIGNED], group_names(plan)[UNASSIGNED], unassigned_words(plan)))
    if plan.totals.gpus > sum(pool.gpus_occupied for pool in plan.pools):
        spare = any(not host for pool in plan.pools for host in pool.placement)
        about = said("drawing.hosts.failover" if spare else "drawing.hosts.no vm")
        entries.append((Symbol("", WHITE, INK), said("drawing.hosts.free"), about))
    return entries
