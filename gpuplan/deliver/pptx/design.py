"""Design slides: the hosts, the effect of a failure, the logical architecture, and whether the network suffices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from gpuplan.deliver.pptx.architecture import architecture_sketch
from gpuplan.deliver.pptx.blocks import GAP, Chart, Label, Series, Tile, Tiles, Words
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.hosts import failed_sketch, hosts_sketch, worst_case
from gpuplan.deliver.pptx.measure import BODY, LEAD, SMALL, cut
from gpuplan.deliver.pptx.paging import Listing
from gpuplan.deliver.pptx.sketch import Picture
from gpuplan.plan.link_verdicts import LinkVerdict, link_verdicts
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.figures import Figures
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.tables.network import fabric_words, network_name, part_failures
from gpuplan.wording import VERDICTS, amount, hours, number, run_words, said, share_words

VERDICT_COLOURS = {"good": "009E73", "fair": "E69F00", "bad": "D55E00"}
MOST_LINKS, MOST_FAILURES = 6, 4
"""Most workloads whose speed over the network is shown; most parts whose failure is."""
NAME_WIDTH = 230
"""Width of a workload's name beside the bar of its speed, in points."""


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
    plan, figures = deck.plan, Figures(deck.plan)
    left = [
        said(
            "deck.failure.posture",
            failures=level.host_failures,
            hosts=level.hosts,
            hours=hours(level.short_h),
        )
        for level in plan.postures
    ]
    keys = ("totals.gpus_after_failure", "totals.unplaced_vms_after_failure")
    more = [deck.summary.survives, *left]
    failed = worst_case(plan, figures.down)
    if failed is None:
        words = Words([said("deck.failure.no other about")], LEAD)
        yield Slide([said("deck.failure.no other")], words, keys, more=more)
        return
    outcome, one = failed.outcome, figures.down == 1
    key = "deck.failure.touches none" if one else "deck.failure.touches none several"
    if outcome.unplaced:
        key = "deck.failure.leaves"
    elif outcome.restarted:
        key = "deck.failure.restarts" if one else "deck.failure.restarts several"
    title = figures.said(key, missing=len(outcome.unplaced))
    case = "deck.failure.words moved" if outcome.moved else "deck.failure.words"
    effect = said(
        case if outcome.restarted else "deck.failure.words none",
        moved=len(outcome.moved),
        moving=len(outcome.restarted),
        others=len({host for _, _, host in outcome.restarted}),
        shown=said("deck.failure.host" if one else "deck.failure.hosts", numbers=run_words(failed.hosts)),
    )
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


# Network

NETWORK_KEYS = (
    "network.ports.shared",
    "network.ports.rdma",
    "network.fabric.leaves",
    "network.fabric.oversubscription",
)


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
    yield Slide([title], body, NETWORK_KEYS, sources, more, top=top, gap=gap)


def _speeds(used: Sequence[LinkVerdict]) -> Chart:
    """The share of the native speed that the link leaves, the lowest last."""
    ranked = sorted(used, key=lambda each: _kept(each.use)[1], reverse=True)
    shown = [*reversed(ranked[-MOST_LINKS:])]
    shares = [_kept(link.use) for link in shown]
    series = Series(
        said("deck.network.series"),
        VERDICT_COLOURS["good"],
        [share for _, share, _ in shares],
        colours=[VERDICT_COLOURS.get(link.verdict, "8B94A3") for link in shown],
        labels=[
            Label(f"{share_words(share)}, {VERDICTS[link.verdict]}", colour="10151D")
            for link, (_, share, _) in zip(shown, shares, strict=True)
        ],
        at="inBase",
    )
    spans = [(low, high) for low, _, high in shares]
    names = [_link_name(link) for link in shown]
    return Chart(said("deck.network.about"), names, [series], (40, 46), end=1.1, spans=spans)


def _kept(use: RemoteUse | TrainingUse | None) -> tuple[float, float, float]:
    """Low, typical and high share of the native speed."""
    if isinstance(use, RemoteUse):
        return use.kept_low, use.kept, use.kept_high
    assert use is not None
    return use.efficiency_low, use.efficiency, use.efficiency_high


def _link_name(each: LinkVerdict) -> str:
    name = cut(each.name, SMALL, NAME_WIDTH)
    if isinstance(each.use, TrainingUse):
        return said("deck.network.training", name=name, places=amount(each.use.hosts, each.place))
    return said("deck.network.remote", name=name)


def _network_tiles(deck: Deck, verdicts: Sequence[LinkVerdict]) -> list[Tile]:
    """Link, ports, switches, and what vMotion needs."""
    network, fabric = deck.plan.scenario.network, deck.plan.cabling
    speed, _, transport = network_name(network.link_gbit_s, network.transport).partition(" Gbit/s ")
    tiles = [Tile(said("deck.network.link"), f"{speed} Gbit/s", transport)]
    if fabric:
        key = "deck.network.ports of" if fabric.ports.rdma else "deck.network.teamed"
        shared = said(key, shared=fabric.ports.shared, rdma=fabric.ports.rdma)
        tiles.append(Tile(said("deck.network.ports"), number(fabric.ports.total), shared))
    if fabric and fabric.switches:
        leaves = number(fabric.switches.shape.leaves)
        tiles.append(Tile(said("deck.network.leaves"), leaves, fabric.switches.leaf_name))
    if vmotion := next((link for link in verdicts if link.kind == "vmotion"), None):
        tiles.append(Tile(said("deck.network.vmotion"), VERDICTS[vmotion.verdict], vmotion.words))
    return tiles
