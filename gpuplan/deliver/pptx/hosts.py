"""The hosts as a picture: workloads on GPUs, and VMs after host failures; many identical hosts appear once."""

from collections import Counter
from collections.abc import Sequence
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
KEY, KEY_GAP = 272.0, 28.0
"""Width of the key at the right of the hosts, and the room before it."""
WIDE_TILE, LEAST_TILE = 170.0, 128.0
"""Width of a host with room for its name and a note, and the smallest with room for four GPUs."""
LOWEST, HIGHEST = 30.0, 96.0
"""Least and most height of a GPU; it is as high as all hosts allow."""
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
    picture = _Picture(plan, sketch, parts)
    *sections, last = [_section(plan, pools, picture.most) for pools in parts]
    others = said("deck.hosts.other clusters", count=sum(map(len, left))) if left else ""
    picture.draw([*sections, last._replace(rest="; ".join(filter(None, (last.rest, others))))])


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
    picture = _Picture(plan, sketch, [[pool]])
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
    picture.draw([Section(_titles(plan, pool), tiles, "; ".join(rest), marked)], failure=True)


def _titles(plan: Plan, pool: Pool) -> Sequence[str]:
    """Wordings of the name of a cluster and its hosts, the longest first."""
    long, gpu = f"{pool.name}: {equipment(plan, pool)}", plan.catalog.gpus[pool.gpu].name
    short = said("deck.hosts.short", name=pool.name, hosts=pool.hosts, gpus=pool.gpus_per_host, gpu=gpu)
    return (long, pool.name if pool.shares or pool.existing_hosts else short, pool.name)


class _Picture:
    """Hosts at the left, the key to the groups at the right."""

    def __init__(self, plan: Plan, sketch: Sketch, parts: Sequence[Sequence[Pool]]) -> None:
        self.plan, self.sketch = plan, sketch
        self.symbols = group_symbols(plan)
        self.groups: set[str] = set()
        """Groups on the hosts drawn so far."""
        self.wide = sketch.box.width - KEY - KEY_GAP
        hosts = [sum(pool.hosts for pool in pools) for pools in parts]
        gpu_rows = [_gpu_rows(max(room.gpus for pool in pools for room in pool.rooms)) for pools in parts]
        room = sketch.box.height / len(hosts) - HEAD - FOOT
        most_rows = max(1, int((room + GAP) / (self._tile_height(max(gpu_rows), LOWEST) + GAP)))
        for least in (WIDE_TILE, LEAST_TILE):
            self.across = max(2, int((self.wide + GAP) / (least + GAP)))
            rows = min(-(-max(hosts) // self.across), most_rows)
            if rows * self.across >= max(hosts):
                break
        self.tile = (self.wide - (self.across - 1) * GAP) / self.across
        bare = sum(self._tile_height(count, 0) for count in gpu_rows)
        spare = (((room + GAP) / rows - GAP) * len(hosts) - bare) / sum(gpu_rows)
        self.high = min(HIGHEST / max(gpu_rows) ** 0.5, max(LINE, spare))
        self.most = rows * self.across

    def _tile_height(self, gpu_rows: int, high: float) -> float:
        return LINE + 6 + gpu_rows * (high + 3) + PAD

    def draw(self, sections: Sequence[Section], *, failure: bool = False) -> None:
        place = Box(0, 0, self.wide, LINE)
        for section in sections:
            tall = self._tile_height(max(_gpu_rows(tile.gpus) for tile in section.tiles), self.high)
            wide = place.width / self.sketch.loose
            fitting = (text for text in section.titles if text_width(text, SMALL, bold=True) <= wide)
            self.sketch.text(place, next(fitting, section.titles[-1]), bold=True)
            place = place.down(HEAD)
            for at, tile in enumerate(section.tiles):
                self._tile(section, tile, place.cell(at, self.across, self.tile, tall, GAP))
            place = place.down(-(-len(section.tiles) // self.across) * (tall + GAP))
            if section.rest:
                self.sketch.text(place.down(2 - GAP), section.rest, colour="tx2")
            place = place.down(FOOT - GAP)
        self._key(failure)

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
        across = _across(tile.gpus)
        wide = (inside - (across - 1) * 3) / across
        for at, load in enumerate(on_each_gpu(tile.loads, tile.gpus)):
            row, column = divmod(at, across)
            left, upper = place.left + PAD + column * (wide + 3), place.top + LINE + 6 + row * (self.high + 3)
            self._gpu(section, tile, load, Box(left, upper, wide, self.high))

    def _gpu(self, section: Section, tile: Tile, load: Load | None, area: Box) -> None:
        bands = _bands(self.plan, tile.pool, load, area.height) if load else []
        if sum(high for *_, high in bands) < 0.97 * area.height:
            self.sketch.rect(area, line=FREE, dashed=True, round_by=2, name="Free")
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
        if symbol:
            self.groups.add(group)
        fill, pen = (GREY, "5A6576") if tile.failed else (colour, pen)
        text = f"{letter}\u00d7{count}" if count > 1 else letter
        text = text if text_width(text, SMALL, bold=True) <= 1.15 * area.width else letter
        name = said("deck.gpu of", letter=letter)
        self.sketch.rect(area, fill=fill, line="FFFFFF", round_by=2, text=text, pen=pen, name=name)

    def _key(self, failure: bool) -> None:
        names = group_names(self.plan)
        entries = [(self.symbols[g.id], g.name, _about(g)) for g in self.plan.groups if g.id in self.groups]
        if UNASSIGNED in self.groups:
            entries.append((self.symbols[UNASSIGNED], names[UNASSIGNED], ""))
        room = self.sketch.box.height - (LINE + 8) * failure
        with_words = len(entries) * (2 * LINE + 8) <= room
        step = 2 * LINE + 8 if with_words else LINE + 7
        shown, rest = first_of(entries, int(room / step))
        place, words = Box(self.sketch.box.width - KEY, 0, KEY, LINE), 34
        for symbol, name, about in shown:
            key_swatch(self.sketch, place._replace(width=26, height=LINE + 3), symbol)
            beside = place.down(1).right(words)
            self.sketch.text(beside, name)
            if with_words and about:
                self.sketch.text(beside.down(LINE), about, colour="tx2")
            place = place.down(step)
        if rest:
            self.sketch.text(place, said("deck.hosts.other groups", count=len(rest)), colour="tx2")
            place = place.down(step)
        if failure:
            place = place.down(2)
            swatch = place._replace(width=26)
            self.sketch.rect(swatch, line="1A2230", width=2.25, round_by=2, name="Key: restarts")
            self.sketch.text(place.right(words), said("deck.failure.key"))


def key_swatch(sketch: Sketch, area: Box, symbol: tuple[str, str, str]) -> None:
    """The letter of a group on its colour."""
    letter, colour, pen = symbol
    sketch.rect(area, fill=colour, round_by=2, text=letter, pen=pen, name=f"Key {letter}")


def _about(group: GroupPlan) -> str:
    return f"{number(group.vms_placed)} \u00d7 {amount(group.gpus_each, 'GPU')}, {MODE_NAMES[group.mode]}"


def _across(gpus: int) -> int:
    return 4 if gpus <= 8 else 8


def _gpu_rows(gpus: int) -> int:
    return -(-gpus // _across(gpus))


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
