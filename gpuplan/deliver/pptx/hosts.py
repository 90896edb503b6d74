"""The hosts as a picture: workloads on GPUs, and VMs after host failures; many identical hosts appear once."""

from collections import Counter
from collections.abc import Sequence
from math import log
from typing import NamedTuple

from gpuplan.deliver.pptx.blocks import Sketch
from gpuplan.deliver.pptx.measure import LINE_HEIGHT, SMALL, Box, first_of, text_width
from gpuplan.models.availability.failover import Outcome
from gpuplan.models.placement import Host, Load
from gpuplan.plan import UNASSIGNED, Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.failures import fail_hosts, worst_failures
from gpuplan.plan.hosts import Pool
from gpuplan.report.diagrams import OTHER, Shares, group_symbols, on_each_gpu
from gpuplan.report.tables import group_names
from gpuplan.report.tables.plan import equipment
from gpuplan.wording import MODE_NAMES, amount, number, said

LINE = SMALL * LINE_HEIGHT
GAP, PAD = 12.0, 7.0
HEAD, FOOT = LINE + 6, LINE + 2
"""Height of the name of a cluster, and of the text below its hosts."""
KEY_GAP = 16.0
"""Room between the hosts and the key below them."""
KEY_WIDTH, LONGEST_KEY, MOST_KEY_ROWS = 160.0, 280.0, 3
"""Least and most width of an entry of the key, and most rows of them."""
LEAST_TILE = 128.0
"""Width of the smallest host, with room for four GPUs."""
LOWEST, HIGHEST = 30.0, 250.0
"""Least height of a GPU; most of a host, which is as high as all hosts allow."""
MOST_CLUSTERS = 3
"""Most clusters that are drawn individually; of more, those of a pool share a section."""
BAD, FREE, GREY = "B3261E", "8B94A3", "D9DDE3"
"""Edge of failed hosts, edge of free GPUs, and the former load of a failed host."""


class Tile(NamedTuple):
    """A host, or one for several with identical load."""

    name: str
    pool: Pool
    loads: Host
    gpus: int
    note: str = ""
    failed: bool = False
    landing: bool = False


class Section(NamedTuple):
    """Hosts drawn together under one name."""

    titles: Sequence[str]
    """Wordings of its name, of which the first that fits is shown."""
    tiles: Sequence[Tile]
    rest: str = ""
    """Text about hosts that are not drawn."""
    marked: frozenset[tuple[str, int]] = frozenset()
    """(group, VM) of VMs that restart."""


def hosts_sketch(plan: Plan, sketch: Sketch) -> None:
    """Draw the hosts with the workloads on their GPUs."""
    together: dict[str, list[Pool]] = {}
    for pool in plan.pools:
        together.setdefault(pool.kind if len(plan.pools) > MOST_CLUSTERS else pool.id, []).append(pool)
    parts, left = list(together.values())[:MOST_CLUSTERS], list(together.values())[MOST_CLUSTERS:]
    picture = _Picture(plan, sketch, len(parts), plan.pools)
    *sections, last = [_section(plan, pools, picture.most) for pools in parts]
    others = said("deck.hosts.other clusters", count=sum(map(len, left))) if left else ""
    picture.draw([*sections, last._replace(rest="; ".join(filter(None, (last.rest, others))))])


def strip_sketch(plan: Plan, sketch: Sketch) -> None:
    """Draw the hosts of all clusters in one row, alike ones once."""
    picture = _Picture(plan, sketch, 1, plan.pools, rows=1)
    picture.draw([_section(plan, plan.pools, picture.most)._replace(titles=(), rest="")])


def _section(plan: Plan, pools: Sequence[Pool], most: int) -> Section:
    """Return the hosts of some clusters, individually where there is room for all of them."""
    pool = pools[0]
    titles = _titles(plan, pool)
    if len(pools) > 1:
        counts = {name: sum(getattr(cluster, name) for cluster in pools) for name in ("hosts", "gpus")}
        titles = [said("deck.hosts.clusters", name=pool.whole_name, count=len(pools), **counts)]
    elif pool.hosts <= most:
        return Section(titles, [_host(pool, at, pool.placement[at]) for at in range(pool.hosts)])
    kinds: dict[str, list[Tile]] = {}
    for cluster in pools:
        for at in range(cluster.hosts):
            kinds.setdefault(_filled(cluster, at), []).append(_host(cluster, at, cluster.placement[at]))
    ranked = sorted(kinds.values(), key=lambda alike: (not alike[0].loads, -len(alike)))
    tiles = [alike[0]._replace(name=amount(len(alike), "host")) for alike in ranked[:most]]
    left = sum(map(len, ranked[most:]))
    return Section(titles, tiles, said("deck.hosts.others", hosts=left) if left else "")


def _host(pool: Pool, at: int, loads: Host) -> Tile:
    note = "" if loads else said("deck.hosts.spare")
    return Tile(said("deck.hosts.host", number=at + 1), pool, loads, pool.rooms[at].gpus, note)


def _filled(pool: Pool, at: int) -> str:
    """Describe the load of a host, regardless of which VMs of a group these are."""
    counted = (Counter(slot.group for slot in load.slots) for load in pool.placement[at])
    loads = zip(pool.placement[at], counted, strict=True)
    return repr((pool.rooms[at].gpus, sorted((load.gpus, sorted(counts.items())) for load, counts in loads)))


class Failed(NamedTuple):
    """Failed hosts and the consequences."""

    pool: Pool
    hosts: tuple[int, ...]
    outcome: Outcome


def worst_case(plan: Plan, lost: int) -> Failed | None:
    """Return the worst failure of ``lost`` hosts; None where no cluster has more hosts."""
    pools = [pool for pool in plan.pools if pool.hosts > lost]
    losses = [(pool, loss) for pool in pools for loss in worst_failures(plan, pool.id, lost)[:1]]
    if not losses:
        return None
    pool, loss = max(losses, key=lambda each: (each[1].unplaced_gpus, each[1].unplaced, each[1].restarted))
    return Failed(pool, loss.hosts, fail_hosts(plan, pool.id, loss.hosts))


def failed_sketch(plan: Plan, failed: Failed, sketch: Sketch) -> None:
    """Draw the hosts of a cluster after a failure: failed hosts, restarted VMs, and some of the others."""
    pool, outcome = failed.pool, failed.outcome
    gone = {host - 1 for host in failed.hosts}
    restarts = Counter(host - 1 for _, _, host in outcome.restarted)
    picture = _Picture(plan, sketch, 1, [pool], failure=True)
    touched = [*sorted(gone), *sorted(set(restarts) - gone)]
    others = (at for at in range(pool.hosts) if at not in touched)
    shown = sorted([*touched, *others][: picture.most])
    tiles = []
    for at in shown:
        tile = _host(pool, at, pool.placement[at] if at in gone else outcome.hosts[at])
        if at in gone:
            tile = tile._replace(note=said("deck.failure.failed"), failed=True)
        elif restarts[at]:
            tile = tile._replace(note=f"+{number(restarts[at])}", landing=True)
        tiles.append(tile)
    rest = []
    if left := pool.hosts - len(shown):
        rest.append(said("deck.failure.others", hosts=left))
    if others_untouched := len(plan.pools) - 1:
        rest.append(said("deck.failure.other clusters", count=others_untouched))
    marked = frozenset((group, vm) for group, vm, _ in outcome.restarted)
    picture.draw([Section(_titles(plan, pool), tiles, "; ".join(rest), marked)])


def _titles(plan: Plan, pool: Pool) -> Sequence[str]:
    """Wordings of the name of a cluster and its hosts, the longest first."""
    long, gpu = f"{pool.name}: {equipment(plan, pool)}", plan.catalog.gpus[pool.gpu].name
    short = said("deck.hosts.short", name=pool.name, hosts=pool.hosts, gpus=pool.gpus_per_host, gpu=gpu)
    return (long, pool.name if pool.shares or pool.existing_hosts else short, pool.name)


class _Picture:
    """Hosts in rows, and below them the key to the groups."""

    def __init__(
        self,
        plan: Plan,
        sketch: Sketch,
        parts: int,
        pools: Sequence[Pool],
        *,
        failure: bool = False,
        rows: int = 0,
    ) -> None:
        self.plan, self.sketch, self.failure = plan, sketch, failure
        self.symbols = group_symbols(plan)
        kinds = {pool.kind for pool in pools}
        names = [group.name for group in plan.groups if group.pool in kinds]
        longest = 40 + sketch.loose * max((text_width(name, SMALL, bold=True) for name in names), default=0)
        columns = int((sketch.box.width + GAP) / (GAP + min(LONGEST_KEY, max(KEY_WIDTH, longest))))
        self.columns, groups = columns, len(names) + failure
        self.key = min(MOST_KEY_ROWS, -(-max(1, groups) // columns))
        """Rows of the key; its words are on two lines where there are few."""
        self.key_line = 2 * LINE + 6 if self.key < MOST_KEY_ROWS and not (rows or failure) else LINE + 8
        self.room = sketch.box.height - self.key * self.key_line - KEY_GAP
        gpus = max(room.gpus for pool in pools for room in pool.rooms)
        least = LINE + 6 + -(-gpus // (4 if gpus <= 8 else 8)) * (LOWEST + 3) + PAD
        self.widest = max(2, int((sketch.box.width + GAP) / (LEAST_TILE + GAP)))
        fitting = int((self.room / parts - HEAD - FOOT + GAP) / (least + GAP))
        self.most = (rows or max(1, fitting)) * self.widest

    def draw(self, sections: Sequence[Section]) -> None:
        across = self._across(max(len(section.tiles) for section in sections))
        lines = [-(-len(section.tiles) // across) for section in sections]
        words = sum(HEAD * bool(section.titles) + FOOT * bool(section.rest) for section in sections)
        tall = min(HIGHEST, (self.room - words) / sum(lines) - GAP)
        place = Box(0, 0, self.sketch.box.width, LINE)
        wide = (place.width - (across - 1) * GAP) / across
        for section, rows in zip(sections, lines, strict=True):
            if section.titles:
                room = place.width / self.sketch.loose
                fitting = (text for text in section.titles if text_width(text, SMALL, bold=True) <= room)
                self.sketch.text(place, next(fitting, section.titles[-1]), bold=True)
                place = place.down(HEAD)
            for at, tile in enumerate(section.tiles):
                self._tile(section, tile, place.cell(at, across, wide, tall, GAP))
            place = place.down(rows * (tall + GAP))
            if section.rest:
                self.sketch.text(place.down(4 - GAP), section.rest, colour="tx2")
                place = place.down(FOOT)
        drawn = {
            slot.group for s in sections for tile in s.tiles for load in tile.loads for slot in load.slots
        }
        self._key(drawn, place.top - GAP + KEY_GAP)

    def _across(self, tiles: int) -> int:
        """Hosts in a row, all rows about as long."""
        rows = -(-tiles // self.widest)
        return max(2, -(-tiles // rows))

    def _tile(self, section: Section, tile: Tile, place: Box) -> None:
        strong = tile.failed or tile.landing
        edge = BAD if tile.failed else "accent1" if tile.landing else FREE
        dashed = tile.failed or not tile.loads
        width = 1.75 if strong else 0.75
        self.sketch.rect(place, fill="FFFFFF", line=edge, width=width, dashed=dashed, name=tile.name)
        inside = place.width - 2 * PAD
        long = text_width(tile.name, SMALL, bold=True)
        top = Box(place.left + PAD, place.top + 3, inside, LINE)
        self.sketch.text(top, tile.name, bold=True)
        if tile.note:
            area = top._replace(left=top.left + long, width=inside - long)
            tone = BAD if tile.failed else "accent1" if tile.landing else "tx2"
            self.sketch.text(area, tile.note, colour=tone, align="r", bold=strong)
        area = Box(place.left + PAD, place.top + LINE + 6, inside, place.height - LINE - 6 - PAD)
        across, wide, high = _grid(tile.gpus, area)
        for at, load in enumerate(on_each_gpu(tile.loads, tile.gpus)):
            self._gpu(section, tile, load, area.cell(at, across, wide, high, 3))

    def _gpu(self, section: Section, tile: Tile, load: Load | None, area: Box) -> None:
        bands = _bands(self.plan, tile.pool, load, area.height) if load else []
        if sum(high for *_, high in bands) < 0.97 * area.height:
            self.sketch.rect(area, fill="free", line=FREE, round_by=2, name="Free")
        top = area.top
        for group, count, high in bands:
            self._band(tile, group, count, area._replace(top=top, height=high))
            top += high
        restarted = load is not None and any((slot.group, slot.vm) in section.marked for slot in load.slots)
        if restarted and not tile.failed:
            self.sketch.rect(area, line="1A2230", width=2.25, round_by=2, name="Restarted here")

    def _band(self, tile: Tile, group: str, count: int, area: Box) -> None:
        symbol = self.symbols.get(group)
        letter, colour, pen = symbol or (group, OTHER, "#1A2230")
        fill, pen = (GREY, "5A6576") if tile.failed else (colour, pen)
        text = f"{letter}\u00d7{count}" if count > 1 else letter
        text = text if text_width(text, SMALL, bold=True) <= 1.15 * area.width else letter
        name = said("deck.gpu of", letter=letter)
        self.sketch.rect(area, fill=fill, line="FFFFFF", round_by=2, text=text, pen=pen, name=name)

    def _key(self, drawn: set[str], top: float) -> None:
        names = group_names(self.plan)
        entries = [(self.symbols[g.id], g.name, _about(g)) for g in self.plan.groups if g.id in drawn]
        if UNASSIGNED in drawn:
            entries.append((self.symbols[UNASSIGNED], names[UNASSIGNED], ""))
        columns = self.columns
        shown, rest = first_of(entries, columns * self.key - self.failure)
        columns = min(columns, len(shown) + bool(rest) + self.failure)
        wide = (self.sketch.box.width - (columns - 1) * GAP) / max(1, columns)
        whole = Box(0, top, self.sketch.box.width, LINE)
        cells = [whole.cell(at, columns, wide, self.key_line - GAP, GAP) for at in range(columns * self.key)]
        two = self.key_line > 2 * LINE
        for (symbol, name, about), cell in zip(shown, cells, strict=False):
            key_swatch(self.sketch, cell._replace(width=26, height=LINE + 3), symbol)
            beside = cell.down(1).right(34)._replace(height=LINE)
            self.sketch.text(beside, name, bold=two)
            if two and about:
                self.sketch.text(beside.down(LINE), about, colour="tx2")
        if rest:
            more = cells[len(shown)]._replace(height=LINE)
            self.sketch.text(more, said("deck.hosts.other groups", count=len(rest)), colour="tx2")
        if self.failure:
            cell = cells[len(shown) + bool(rest)]
            swatch = cell._replace(width=26, height=LINE + 3)
            self.sketch.rect(swatch, line="1A2230", width=2.25, round_by=2, name="Key: restarts")
            words = cell.down(1).right(34)._replace(width=whole.width - cell.left - 34, height=LINE)
            self.sketch.text(words, said("deck.failure.key"))


def key_swatch(sketch: Sketch, area: Box, symbol: tuple[str, str, str]) -> None:
    """The letter of a group on its colour."""
    letter, colour, pen = symbol
    sketch.rect(area, fill=colour, round_by=2, text=letter, pen=pen, name=f"Key {letter}")


def _about(group: GroupPlan) -> str:
    return f"{number(group.vms_placed)} \u00d7 {amount(group.gpus_each, 'GPU')}, {MODE_NAMES[group.mode]}"


def _grid(gpus: int, area: Box) -> tuple[int, float, float]:
    """(GPUs in a row, width, height), each GPU about as wide as high."""

    def cell(across: int) -> tuple[int, float, float]:
        rows = -(-gpus // across)
        return across, (area.width - (across - 1) * 3) / across, (area.height - (rows - 1) * 3) / rows

    whole = [cell(across) for across in (1, 2, 4, 8, 16) if across <= max(1, gpus)]
    return min(whole, key=lambda grid: abs(log(max(1.0, grid[1]) / max(1.0, grid[2]))))


def _bands(plan: Plan, pool: Pool, load: Load, high: float) -> list[tuple[str, int, float]]:
    """Return (group, VMs, height) on a GPU, the largest first; without room for all, the number of others."""
    if load.family is None:
        return [(load.slots[0].group, 1, high)]
    shares = Shares(plan, pool)
    ranked = sorted(shares.of(load, shares.gpu_mb).items(), key=lambda each: (-each[1].mb, each[0]))
    most = max(1, int(high / LINE))
    kept = [(group, share.vms, share.mb / shares.gpu_mb) for group, share in ranked]
    if len(kept) > most:
        others = kept[most - 1 :]
        kept = [*kept[: most - 1], (f"+{len(others)}", 1, sum(part for *_, part in others))]
    tall = [max(LINE, high * part) for *_, part in kept]
    factor = min(1.0, high / sum(tall))
    return [(group, count, height * factor) for (group, count, _), height in zip(kept, tall, strict=True)]
