"""Drawing of the hosts with their workloads; the load of each GPU, what may join it, and the look of a workload in all drawings."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gpuplan.models.placement import Family, Host, Load
from gpuplan.plan import UNASSIGNED, Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.sharing import more_that_fit, starts_of
from gpuplan.report.drawing import (
    INK,
    LINE,
    OKABE_ITO,
    PAGE,
    SIZE,
    SOFT,
    WHITE,
    WIDTH,
    Area,
    Drawing,
    Sheet,
    numbered,
    pen_on,
    text_width,
    wrapped,
)
from gpuplan.report.tables import group_names, host_kinds
from gpuplan.report.tables.plan import clusters_alike, equipment, unassigned_words
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import MODE_NAMES, amount, joined, number, run_words, said

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
MOST_HOSTS, MOST_KINDS = 12, 24
"""Most hosts of a design that are drawn one by one, and most kinds of hosts of a cluster where they are not."""
MOST_PIECES = 8
"""Most parts of one group on a GPU that are separated by ticks."""
GAP, PAD, BETWEEN = 8, 6, 3
COVER = 440.0
"""Height of the drawing on a cover."""
MOST_TILES, LEAST_TILES, LOW = {2: 8, 4: 5, 6: 3}, 4, 28.0
"""GPUs side by side in a host -> most hosts of an overview; hosts for which it has room at least; and the height of a GPU there."""
LEAST_PIECE = 13.0
"""Width of a part of a GPU that has room for a letter."""


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


def hosts_sheets(plan: Plan, tallest: float = PAGE) -> list[Sheet]:
    """Draw the hosts with the workloads on their GPUs, and a legend on each page; of many hosts, those filled alike once."""
    if not plan.pools:
        return []
    pages, symbols = [_Page()], group_symbols(plan)
    for pool in clusters_alike(plan):
        hosts = _Hosts(plan, pool, symbols)
        for row in hosts.rows():
            groups, trial = hosts.groups(row), _Page()
            high = hosts.draw(trial, row)
            legend = _legend(Drawing(), plan, pages[-1].drawn | groups, 0)
            if pages[-1].y and pages[-1].y + high + legend > tallest:
                pages.append(_Page())
            pages[-1].drawn |= groups
            hosts.draw(pages[-1], row)
        if hosts.left:
            pages[-1].say(hosts.left, GAP)
    undrawn = {g.id for g in plan.groups if g.vms_placed}.difference(*(page.drawn for page in pages))
    for page in pages:
        page.y = _legend(page.drawing, plan, page.drawn, page.y)
    if undrawn:
        pages[-1].say(said("drawing.hosts.more groups", groups=len(undrawn)))
    if missing := plan.totals.unplaced_vms:
        pages[-1].say(said("drawing.hosts.not drawn", vms=missing))
    about = said("drawing.hosts.about", hosts=plan.totals.hosts, gpus=plan.totals.gpus)
    return numbered(((page.drawing, page.y + 4) for page in pages), about)


def first_hosts_svg(plan: Plan) -> str | None:
    """Draw the first page of the hosts, for a cover; None without hosts."""
    return next((sheet.svg for sheet in hosts_sheets(plan, COVER)), None)


def overview_svg(plan: Plan) -> str:
    """Draw the hosts in one row, those filled alike once where there are many, with a short legend; of clusters the commonest first."""
    drawing, symbols, drawn = Drawing(), group_symbols(plan), set[str]()
    clusters = [_Hosts(plan, pool, symbols) for pool in clusters_alike(plan)]
    most = MOST_TILES[max(hosts.across for hosts in clusters)]
    most = min(most, max(5, len(clusters))) if clusters[1:] else most
    each = plan.totals.hosts <= most
    ranked = [
        (rank, hosts, alike)
        for hosts in clusters
        for rank, alike in enumerate(hosts.shown if each else host_kinds(hosts.pool))
    ]
    tiles = sorted(ranked, key=lambda tile: tile[0])[:most]
    across = max(LEAST_TILES, len(tiles))
    wide = (WIDTH - (across - 1) * GAP) / across
    heads = []
    for _, hosts, alike in tiles:
        hosts.wide = wide
        hosts.gpu = ((wide - 2 * PAD - (hosts.across - 1) * BETWEEN) / hosts.across, LOW)
        named = wrapped(hosts.pool.name, (wide - 2 * PAD) / 1.1) if clusters[1:] else []
        heads.append([*((line, "") for line in named), *hosts.head(alike)])
    top = 6 + LINE * max(map(len, heads))
    lines = max(-(-hosts.pool.rooms[alike[0]].gpus // hosts.across) for _, hosts, alike in tiles)
    high = top + lines * (LOW + BETWEEN) + PAD
    for column, ((_, hosts, alike), head) in enumerate(zip(tiles, heads, strict=True)):
        hosts.tile(drawing, alike, Area(column * (wide + GAP), 0, wide, high), head, top)
        drawn |= hosts.groups([alike])
    y = high + GAP
    if left := plan.totals.hosts - sum(len(alike) for *_, alike in tiles):
        drawing.text(0, y + SIZE, said("drawing.hosts.another way", hosts=left), fill=SOFT)
        y += LINE + PAD
    y = _short_legend(drawing, _legend_entries(plan, [g for g in plan.groups if g.id in drawn]), y)
    about = said("drawing.hosts.about", hosts=plan.totals.hosts, gpus=plan.totals.gpus)
    return drawing.svg(y + LINE + 4, about)


def _short_legend(drawing: Drawing, entries: Sequence[tuple[Symbol, str, str]], y: float) -> float:
    """Draw symbols and names in at most three lines, and count the others; return the height of the last line."""
    x, last = 0.0, y + 2 * (LINE + PAD)
    for at, (symbol, name, _) in enumerate(entries):
        room = 24 + text_width(name)
        if x and x + room > WIDTH:
            x, y = 0.0, y + LINE + PAD
        if y > last:
            drawing.text(0, y + SIZE, said("drawing.hosts.more groups", groups=len(entries) - at), fill=SOFT)
            break
        _mark(drawing, symbol, x, y)
        drawing.text(x + 24, y + SIZE + 2, name)
        x += room + GAP
    return y


class _Page:
    """A page in progress, the height at which it goes on, and the groups that are on it."""

    def __init__(self) -> None:
        self.drawing, self.y, self.drawn, self.head = Drawing(), 0.0, set[str](), ""

    def say(self, text: str, below: float = 0) -> None:
        """Add a line of text."""
        self.drawing.text(0, self.y + SIZE, text, fill=SOFT)
        self.y += LINE + below


class _Hosts:
    """The hosts of a cluster, in rows of tiles."""

    def __init__(self, plan: Plan, pool: Pool, symbols: Mapping[str, Symbol]) -> None:
        self.plan, self.pool, self.symbols, self.shares = plan, pool, symbols, Shares(plan, pool)
        most = max((room.gpus for room in pool.rooms), default=1)
        self.columns, self.across = (5, 2) if most <= 4 else (4, 4) if most <= 8 else (3, 6)
        self.wide = (WIDTH - (self.columns - 1) * GAP) / self.columns
        self.gpu = (
            (self.wide - 2 * PAD - (self.across - 1) * BETWEEN) / self.across,
            46.0 if most <= 4 else 34.0,
        )
        self.numbered = {g.id for g in plan.groups if g.vms_placed < 100}
        """Groups whose VMs are drawn with their numbers: there is room for two digits."""
        each = plan.totals.hosts <= MOST_HOSTS
        kinds = [[index] for index in range(pool.hosts)] if each else host_kinds(pool)
        self.shown, left = sorted(kinds[:MOST_KINDS]), kinds[MOST_KINDS:]
        key = "drawing.hosts.other ways" if left[1:] else "drawing.hosts.another way"
        self.left = said(key, hosts=sum(map(len, left)), ways=len(left)) if left else ""
        """About the hosts that are not drawn."""

    def rows(self) -> Iterator[list[list[int]]]:
        """Yield the tiles that stand side by side, each with the numbers of its hosts from 0."""
        for first in range(0, len(self.shown), self.columns):
            yield self.shown[first : first + self.columns]

    def groups(self, row: Sequence[Sequence[int]]) -> set[str]:
        """The groups on some tiles."""
        return {slot.group for alike in row for load in self.pool.placement[alike[0]] for slot in load.slots}

    def draw(self, page: _Page, row: Sequence[Sequence[int]]) -> float:
        """Add a row of tiles to a page, below the name of the cluster where this is not there yet; return its height."""
        start = page.y
        if page.head != self.pool.id:
            page.head = self.pool.id
            page.drawing.text(0, page.y + 16, self.pool.name, bold=True)
            page.y += 16 + 10
            for line in wrapped(equipment(self.plan, self.pool), WIDTH):
                page.drawing.text(0, page.y + 7, line, fill=SOFT)
                page.y += LINE
        heads = [self.head(alike) for alike in row]
        top = 6 + LINE * max(map(len, heads))
        lines = max(-(-self.pool.rooms[alike[0]].gpus // self.across) for alike in row)
        high = top + lines * (self.gpu[1] + BETWEEN) + PAD
        for column, (alike, head) in enumerate(zip(row, heads, strict=True)):
            area = Area(column * (self.wide + GAP), page.y, self.wide, high)
            self.tile(page.drawing, alike, area, head, area.y + top)
        page.y += high + GAP
        return page.y - start

    def head(self, alike: Sequence[int]) -> list[tuple[str, str]]:
        """The numbers of identical hosts and the GPUs in use, in lines: (at the left, at the right)."""
        loads, room, inside = self.pool.placement[alike[0]], self.pool.rooms[alike[0]], self.wide - 2 * PAD
        several, key = len(alike) > 1, "drawing.hosts.used" if loads else "drawing.hosts.spare"
        name = "drawing.hosts.numbers" if several else "drawing.hosts.host"
        texts = [said(name, numbers=run_words([at + 1 for at in alike]), number=alike[0] + 1)]
        texts += [said("drawing.hosts.count", hosts=len(alike))] if several else []
        lines = [line for text in texts for line in wrapped(text, inside / 1.1)]
        word = said(key, used=sum(load.gpus for load in loads), gpus=room.gpus)
        fits = 0.93 * (text_width(lines[-1], bold=True) + text_width(word)) + 2 <= inside
        return [(line, "") for line in lines[:-1]] + (
            [(lines[-1], word)] if fits else [(lines[-1], ""), ("", word)]
        )

    def tile(
        self, drawing: Drawing, alike: Sequence[int], area: Area, head: Sequence[tuple[str, str]], top: float
    ) -> None:
        """Draw one host, or one for all with identical load."""
        first = alike[0]
        loads, room, name = self.pool.placement[first], self.pool.rooms[first], f"{self.pool.id}-{first + 1}"
        drawing.box(area, dashed=not loads, id=f"host-{name}")
        left, right = area.x + PAD, area.x + self.wide - PAD
        for line, (start, end) in enumerate(head):
            drawing.text(left, area.y + 16 + LINE * line, start, bold=not line)
            drawing.text(right, area.y + 16 + LINE * line, end, anchor="end", fill=SOFT)
        wide, high = self.gpu
        for at, load in enumerate(on_each_gpu(loads, room.gpus)):
            row, column = divmod(at, self.across)
            x, y = left + column * (wide + BETWEEN), top + row * (high + BETWEEN)
            place = Area(x, y, wide, high)
            drawing.box(place, rx=2, id=f"gpu-{name}-{at + 1}")
            if load and load.family is None:
                self._whole_gpu(drawing, load, place, numbered=len(alike) == 1 and wide >= 30)
            else:
                self._shared_gpu(drawing, load, place)

    def _whole_gpu(self, drawing: Drawing, load: Load, area: Area, *, numbered: bool) -> None:
        slot = load.slots[0]
        symbol = self.symbols[slot.group]
        with_number = numbered and slot.group in self.numbered and symbol.letter.isalpha()
        _piece(drawing, symbol, area, [f"{symbol.letter}{slot.vm}" if with_number else symbol.letter])

    def _shared_gpu(self, drawing: Drawing, load: Load | None, area: Area) -> None:
        """Draw the VMs on a GPU side by side, each as wide as its part, and hatch what is free."""
        shares = sorted(self.shares.of(load).items(), key=lambda each: -each[1].mb) if load else []
        parts = [(self.symbols[group], *share) for group, share in shares]
        if len(parts) > 3:  # no room for more letters: the largest two, and a count of the others
            others = Symbol(f"+{len(parts) - 2}", OTHER, INK)
            parts = [*parts[:2], (others, 1, sum(weight for _, _, weight in parts[2:]))]
        whole = max(self.shares.gpu_mb, sum(mb for *_, mb in parts))
        least = min(LEAST_PIECE, area.wide / max(1, len(parts)))
        widths = [max(least, area.wide * weight / whole) for *_, weight in parts]
        if (over := sum(widths) - area.wide) > 0:
            widths[widths.index(max(widths))] -= over
        x = area.x
        for (symbol, count, _), wide in zip(parts, widths, strict=True):
            apart = count if wide / count >= LEAST_PIECE else 1
            for at in range(apart):
                piece = Area(x + at * wide / apart, area.y, wide / apart, area.high)
                texts = [f"{symbol.letter}\u00d7{count}"] if count > apart else []
                _piece(drawing, symbol, piece, [*texts, symbol.letter], count if apart == 1 else 1)
            x += wide
        drawing.hatch(area._replace(x=x, wide=area.x + area.wide - x))


def _piece(drawing: Drawing, symbol: Symbol, area: Area, texts: Sequence[str], pieces: int = 1) -> None:
    """The part of a GPU that a VM takes, or several with ticks between them, with the longest of its texts that fits."""
    x, y, wide, high = area
    drawing.box(area, fill=symbol.colour, stroke=WHITE, rx=2)
    if 1 < pieces <= MOST_PIECES:
        for piece in range(1, pieces):
            at = x + wide * piece / pieces
            for end in (y + 1, y + high - 5):
                drawing.line(at, end, at, end + 4, stroke=symbol.pen)
    text = next((t for t in texts if text_width(t, bold=True) <= wide), texts[-1])
    drawing.text(x + wide / 2, y + high / 2 + 4.5, text, anchor="middle", fill=symbol.pen, bold=True)


def _legend(drawing: Drawing, plan: Plan, drawn: Collection[str], y: float) -> float:
    """Explain the letters of some groups, in two columns; return the height at which that ends."""
    listed, wide = [g for g in plan.groups if g.id in drawn], (WIDTH - GAP) / 2
    entries = _legend_entries(plan, listed)
    for at in range(0, len(entries), 2):
        high = 0.0
        for column, (symbol, name, about) in enumerate(entries[at : at + 2]):
            x = column * (wide + GAP)
            _mark(drawing, symbol, x, y)
            heads, texts = wrapped(name, (wide - 28) / 1.1), wrapped(about, wide - 28)
            for line, text in enumerate([*heads, *texts]):
                bold = line < len(heads)
                drawing.text(x + 28, y + SIZE + LINE * line, text, bold=bold, fill=INK if bold else SOFT)
            high = max(high, LINE * len([*heads, *texts]) + 6)
        y += high
    return y


def _mark(drawing: Drawing, symbol: Symbol, x: float, y: float) -> None:
    """The square of a group in a legend; hatched for what is free."""
    box = Area(x, y + 1, 20, 20)
    drawing.box(box, fill=symbol.colour, rx=2)
    if not symbol.letter:
        drawing.hatch(box)
    drawing.text(x + 10, y + 15.5, symbol.letter, anchor="middle", fill=symbol.pen, bold=True)


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
