"""Design slides: the hosts, the effect of a failure, the logical architecture, and whether the network suffices."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

from gpuplan.deliver.pptx.blocks import GAP, Chart, Label, Picture, Series, Sketch, Tile, Tiles, Words
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.hosts import LINE, failed_sketch, hosts_sketch, key_swatch, worst_case
from gpuplan.deliver.pptx.measure import BODY, LEAD, SMALL, Box, cut, first_of, text_lines
from gpuplan.deliver.pptx.paging import Listing
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.link_verdicts import LinkVerdict, link_verdicts
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.diagrams import group_symbols
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.tables.network import fabric_words, network_name, part_failures
from gpuplan.report.tables.plan import clusters_alike, equipment
from gpuplan.wording import MODE_NAMES, VERDICTS, amount, run_words, said, share_words

VERDICT_COLOURS = {"good": "009E73", "fair": "E69F00", "bad": "D55E00"}
MOST_LINKS, MOST_FAILURES = 6, 4
"""Most workloads whose speed over the network is shown; most parts whose failure is."""
NAME_WIDTH = 230
PAD, APART = 12.0, 26.0
"""Margin of a panel, and the room between panels."""
BOTTOM, LINK = 66.0, 30.0
"""Height of the network, and of the links to it."""
MOST_CLUSTERS = 3
EDGE = "8B94A3"
ICONS = ((62.0, 34.0), (44.0, 26.0), (30.0, 18.0), (20.0, 12.0))
KEPT = {
    "remote": attrgetter("kept_low", "kept", "kept_high"),
    "training": attrgetter("efficiency_low", "efficiency", "efficiency_high"),
}
"""Kind of a use of the link -> low, typical and high share of the native speed that it keeps."""


def hosts_slide(deck: Deck) -> Iterator[Slide]:
    """The hosts, with the workloads on their GPUs."""
    plan, totals = deck.plan, deck.plan.totals
    used = sum(pool.gpus_occupied for pool in plan.pools)
    title = said("deck.hosts.title", used=used, gpus=totals.gpus, hosts=totals.hosts)
    spare = "deck.hosts.failover" if totals.hosts_for_failures else "deck.hosts.no failover"
    demanded = (f"pools.{pool.id}.hosts_for_demand" for pool in plan.pools[:2])
    keys = ("totals.hosts", *demanded, "totals.gpus")
    starts = list(dict.fromkeys(order.sentence for order in plan.power_on.values()))
    picture = Picture("Hosts", partial(hosts_sketch, plan), said("deck.hosts.about", title=title))
    longer = f"{title}; {said(spare, hosts=totals.hosts_for_failures)}"
    yield Slide([longer, title], picture, keys, more=starts, first=title)


def failure_slide(deck: Deck) -> Iterator[Slide]:
    """The worst failure: the failed hosts, and where their VMs restart."""
    plan, figures = deck.plan, deck.figures
    keys = ("totals.gpus_after_failure", "totals.unplaced_vms_after_failure")
    more = [deck.summary.survives]
    more += [said("deck.failure.posture", level=level) for level in plan.postures]
    failed = worst_case(plan, figures.down)
    if failed is None:
        words = Words([said("deck.failure.no other about")], LEAD)
        yield Slide([said("deck.failure.no other")], words, keys, more=more)
        return
    outcome, one = failed.outcome, figures.down == 1
    key = "deck.failure.leaves" if outcome.unplaced else "deck.failure.tolerance"
    title = said(key, missing=len(outcome.unplaced), verdict=plan.verdict.note)
    case = "deck.failure.words moved" if outcome.moved else "deck.failure.words"
    shown = said("deck.failure.host" if one else "deck.failure.hosts", numbers=run_words(failed.hosts))
    counts = {"moved": len(outcome.moved), "moving": len(outcome.restarted)}
    counts["others"] = len({host for _, _, host in outcome.restarted})
    effect = said(case if outcome.restarted else "deck.failure.words none", **counts, shown=shown)
    draw, longer = partial(failed_sketch, plan, failed), f"{title}; {figures.said('deck.failure.left')}"
    picture = Picture("Failure", draw, said("deck.failure.about", title=title))
    yield Slide([longer, title], picture, keys, more=more, foot=Words([effect]), first=title)


def architecture_slide(deck: Deck) -> Iterator[Slide]:
    """The logical architecture."""
    plan, decided = deck.plan, deck.plan.decisions[:3]
    key = "deck.architecture.title clusters" if len(plan.pools) > 1 else "deck.architecture.title"
    sources = [source for decision in decided for source in decision.sources]
    more = [f"{decision.title}: {decision.decision} {decision.justification}" for decision in decided]
    picture = Picture("Architecture", partial(architecture_sketch, plan), said("deck.architecture.about"))
    yield Slide([said(key, clusters=len(plan.pools))], picture, sources=sources, more=more)


def architecture_sketch(plan: Plan, sketch: Sketch) -> None:
    """Users at the left, the GPU workload domain in the middle, management at the right, the network below all."""
    box = sketch.box
    high = box.height - BOTTOM - LINK
    users, rest = Box(0, 0, box.width, high).sides(box.width * 0.28, APART)
    domain, management = rest.sides(rest.width * 0.64, APART)
    _users(sketch, plan, users)
    _domain(sketch, plan, domain)
    _management(sketch, plan, management)
    for part in (users, domain, management):
        sketch.arrow(part.left + part.width / 2, high, high + LINK, EDGE, 1.5)
    link = network_name(plan.scenario.network.link_gbit_s, plan.scenario.network.transport)
    title = said("deck.architecture.network", link=link)
    _panel(sketch, Box(0, high + LINK, box.width, BOTTOM), title, [_switches(plan)])


def _panel(
    sketch: Sketch,
    area: Box,
    title: str,
    lines: Iterable[str] = (),
    *,
    name: str = "",
    fill: str = "FFFFFF",
    edge: str = EDGE,
    width: float = 1,
    pen: str = "tx1",
) -> Box:
    """A box with its title, and lines below it, as many as fit; return the place of the next line."""
    sketch.rect(area, fill=fill, line=edge, width=width, round_by=5, name=name or title)
    place = Box(area.left + PAD, area.top + PAD, area.width - 2 * PAD, LINE)
    sketch.text(place, title, bold=True, colour=pen)
    place = place.down(LINE + 4)
    for text in lines:
        if place.top + LINE > area.top + area.height - 4:
            break
        sketch.text(place, text, colour="tx2")
        place = place.down(LINE + 2)
    return place


def _wrapped(sketch: Sketch, area: Box, *texts: str) -> Iterator[str]:
    for text in texts:
        line, *words = text.split(" ")
        for word in words:
            longer = f"{line} {word}"
            if text_lines(longer, SMALL, (area.width - 2 * PAD) / sketch.loose) > 1:
                yield line
                longer = word
            line = longer
        yield line


def _users(sketch: Sketch, plan: Plan, area: Box) -> None:
    compute = plan.cabling.compute_hosts if plan.cabling else 0
    remote = any(item.mode == "bitfusion" for item in plan.groups)
    low = 3 * LINE + 2 * PAD if compute or remote else 0
    upper = area.above(area.height - (low + 12 if low else 0))
    place = _panel(sketch, upper, said("deck.architecture.users"), name="Users").down(4)
    symbols, step = group_symbols(plan), LINE + 8
    shown, rest = first_of(plan.groups, int((upper.height - 2 * PAD - LINE - 4) / step))
    for group in shown:
        key_swatch(sketch, place._replace(width=24, height=LINE + 2), symbols[group.id])
        sketch.text(place.right(32)._replace(height=LINE + 2), group.name)
        place = place.down(step)
    if rest:
        sketch.text(place, said("deck.hosts.other groups", count=len(rest)), colour="tx2")
    if not plan.groups:
        sketch.text(place, said("deck.architecture.total", gpus=plan.totals.gpus_demanded), colour="tx2")
    if low:
        key = "deck.architecture.compute" if compute else "deck.architecture.compute stated"
        lower = area.below(area.height - low)
        lines = _wrapped(sketch, lower, said(key, hosts=compute))
        _panel(sketch, lower, said("deck.architecture.compute head"), lines)


def _domain(sketch: Sketch, plan: Plan, area: Box) -> None:
    title, name = said("deck.architecture.domain"), "GPU workload domain"
    look = {"fill": "bg2", "edge": "accent1", "pen": "accent1"}
    place = _panel(sketch, area, title, name=name, width=1.5, **look).down(4)
    shown, rest = first_of(clusters_alike(plan), MOST_CLUSTERS)
    rows = len(shown) + bool(rest)
    room = area.height - (place.top - area.top) - PAD - LINE - 6
    place = place._replace(height=(room - (rows - 1) * 10) / max(1, rows))
    for pool in shown:
        modes = dict.fromkeys(MODE_NAMES[g.mode] for g in plan.groups if g.pool == pool.kind)
        spare = "deck.architecture.spare" if pool.hosts_for_failures else "deck.architecture.no spare"
        counts = said("deck.architecture.cluster", hosts=pool.hosts, gpus=pool.gpus)
        spares = said(spare, hosts=pool.hosts_for_failures)
        lines = (equipment(plan, pool), counts, spares, ", ".join(modes))
        left = _panel(sketch, place, pool.name, filter(None, lines)).down(6)
        _hosts(sketch, pool, left._replace(height=place.top + place.height - left.top - 8))
        place = place.down(place.height + 10)
    if rest:
        hosts, gpus = sum(pool.hosts for pool in rest), sum(pool.gpus for pool in rest)
        title = said("deck.architecture.more clusters", count=len(rest))
        _panel(sketch, place, title, [said("deck.architecture.cluster", hosts=hosts, gpus=gpus)])
    foot = Box(place.left, area.top + area.height - PAD - LINE + 4, place.width, LINE)
    sketch.text(foot, said("deck.architecture.services"), colour="tx2")


def _hosts(sketch: Sketch, pool: Pool, area: Box) -> None:
    """Every host of a cluster as a small box, those for failures dashed; none where there is no room for all."""
    for wide, high in ICONS:
        across, rows = int((area.width + 6) / (wide + 6)), int((area.height + 6) / (high + 6))
        if pool.hosts <= across * rows:
            break
    else:
        return
    for at in range(pool.hosts):
        spare = at >= pool.hosts - pool.hosts_for_failures
        place, fill = area.cell(at, across, wide, high, 6), "" if spare else "accent1"
        sketch.rect(place, fill=fill, line="accent1", dashed=spare, round_by=2, name="Host")


def _management(sketch: Sketch, plan: Plan, area: Box) -> None:
    words = [said("deck.architecture.vcenter"), said("deck.architecture.sddc manager")]
    if domain := plan.management:
        vcpus, memory = round(domain.vcpus), round(domain.memory_gb)
        words.append(said("deck.architecture.management", hosts=domain.hosts))
        words.append(said("deck.architecture.sizes", vcpus=vcpus, memory=memory))
    low = 4 * LINE + 2 * PAD
    upper, lower = area.above(area.height - low - 12), area.below(area.height - low)
    _panel(sketch, upper, said("deck.architecture.management head"), _wrapped(sketch, upper, *words))
    storage = said("deck.architecture.storage vsan" if plan.vsan else "deck.architecture.storage external")
    _panel(sketch, lower, said("deck.architecture.storage head"), _wrapped(sketch, lower, storage))


def _switches(plan: Plan) -> str:
    fabric = plan.cabling
    if fabric is None or not fabric.switches:
        return said("deck.architecture.no switches")
    spines = " and spines" * bool(fabric.switches.total.spines)
    return said(f"deck.architecture.leaves{spines}", fabric=fabric)


def network_slide(deck: Deck) -> Iterator[Slide]:
    """State for each workload that depends on the link whether it suffices, with the switches."""
    plan, cabling = deck.plan, deck.plan.cabling
    verdicts = link_verdicts(plan)
    used = [link for link in verdicts if link.use]
    local = said("deck.network.local")
    sources = [source for link in used if link.use for source in link.use.sources]
    others = [f"{link.name}: {link.words}" for link in verdicts if not link.use]
    more = [fabric_words(cabling) if cabling else "", *others, "" if used else local]
    body: Chart | Listing | Words = Words([local])
    if used:
        body = _speeds(used)
    elif cabling and cabling.failures:
        table = replace(part_failures(cabling).only("part", "left"), title=said("deck.network.failures"))
        body = Listing(table, (3, 5), (BODY,), MOST_FAILURES)
    title, top = HEADLINES["network"](plan).sentence, Tiles(_network_tiles(deck, verdicts))
    gap = GAP if used else 2 * GAP
    ports = ("network.ports.shared", "network.ports.rdma")
    keys = (*ports, "network.fabric.leaves", "network.fabric.oversubscription")
    yield Slide([title], body, keys, sources, more, top=top, gap=gap)


def _speeds(used: Sequence[LinkVerdict]) -> Chart:
    """The share of the native speed that the link leaves, the lowest last."""
    ranked = sorted(used, key=lambda each: KEPT[each.kind](each.use)[1], reverse=True)
    shown = [*reversed(ranked[-MOST_LINKS:])]
    shares = [KEPT[link.kind](link.use) for link in shown]
    kept, good = [share for _, share, _ in shares], VERDICT_COLOURS["good"]
    inks = [VERDICT_COLOURS.get(link.verdict, "8B94A3") for link in shown]
    pairs = zip(shown, kept, strict=True)
    texts = (f"{share_words(share)}, {VERDICTS[link.verdict]}" for link, share in pairs)
    labels = [Label(text, colour="10151D") for text in texts]
    series = Series(said("deck.network.series"), good, kept, colours=inks, labels=labels, at="inBase")
    names, spans = [*map(_link_name, shown)], [(low, high) for low, _, high in shares]
    return Chart(said("deck.network.about"), names, [series], (40, 46), end=1.1, spans=spans)


def _link_name(each: LinkVerdict) -> str:
    name = cut(each.name, SMALL, NAME_WIDTH)
    if isinstance(each.use, TrainingUse):
        return said("deck.network.training", name=name, places=amount(each.use.hosts, each.place))
    return said("deck.network.remote", name=name)


def _network_tiles(deck: Deck, verdicts: Sequence[LinkVerdict]) -> list[Tile]:
    tiles = [Tile(*tile) for tile in deck.figures.tiles("network")]
    if vmotion := next((link for link in verdicts if link.kind == "vmotion"), None):
        tiles.append(Tile(said("deck.network.vmotion"), VERDICTS[vmotion.verdict], vmotion.words))
    return tiles
