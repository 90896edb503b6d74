"""Design slides: the hosts, the effect of a failure, the logical architecture, and whether the network suffices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.deliver.pptx.architecture import architecture_sketch
from gpuplan.deliver.pptx.deck import GAP, TILE, Deck, Tile
from gpuplan.deliver.pptx.hosts import failed_sketch, hosts_sketch, worst_case
from gpuplan.deliver.pptx.measure import BODY, LEAD, SMALL, cut
from gpuplan.deliver.pptx.native import Look, Series, add_chart, fill, label_point, ranges
from gpuplan.deliver.pptx.notes import Reasons
from gpuplan.deliver.pptx.paging import pages, put_table
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
FAILURE_WIDTHS = (3, 5)
NAME_WIDTH = 230
"""Width of a workload's name beside the bar of its speed, in points."""


def hosts_slide(deck: Deck) -> None:
    """The hosts, with the workloads on their GPUs."""
    plan = deck.plan
    used = sum(pool.gpus_occupied for pool in plan.pools)
    spare = plan.totals.hosts_for_failures
    title = said("deck.hosts.title", used=used, gpus=plan.totals.gpus, hosts=plan.totals.hosts)
    also = said("deck.hosts.failover", hosts=spare) if spare else said("deck.hosts.no failover")
    slide = deck.slide(
        [f"{title}; {also}", title],
        title,
        Reasons(
            keys=(
                "totals.hosts",
                *(f"pools.{pool.id}.hosts_for_demand" for pool in plan.pools[:2]),
                "totals.gpus",
            ),
            more=list(dict.fromkeys(made.sentence for made in plan.power_on.values())),
        ),
    )
    hosts_sketch(plan, deck.sketch(deck.box)).put_on(slide, "Hosts", said("deck.hosts.about", title=title))


def failure_slide(deck: Deck) -> None:
    """Add the slide of the worst failure: the failed hosts, and where their VMs restart."""
    plan, figures = deck.plan, Figures(deck.plan)
    failed = worst_case(plan, figures.down)
    reasons = Reasons(
        keys=("totals.gpus_after_failure", "totals.unplaced_vms_after_failure"),
        more=[deck.summary.survives, *_postures_words(deck)],
    )
    if failed is None:
        title = said("deck.failure.no other")
        slide = deck.slide(title, title, reasons)
        deck.text(slide, said("deck.failure.no other about"), deck.box, LEAD)
        return
    missing = len(failed.outcome.unplaced)
    restarted, moved = len(failed.outcome.restarted), len(failed.outcome.moved)
    one = figures.down == 1
    shown = said("deck.failure.host" if one else "deck.failure.hosts", numbers=run_words(failed.hosts))
    others = len({host for _, _, host in failed.outcome.restarted})
    key = "deck.failure.touches none" if one else "deck.failure.touches none several"
    if missing:
        key = "deck.failure.leaves"
    elif restarted:
        key = "deck.failure.restarts" if one else "deck.failure.restarts several"
    title = figures.said(key, missing=missing)
    slide = deck.slide([f"{title}; {figures.said('deck.failure.left')}", title], title, reasons)
    case = "deck.failure.words moved" if moved else "deck.failure.words"
    words = said(
        case if restarted else "deck.failure.words none",
        moved=moved,
        moving=restarted,
        others=others,
        shown=shown,
    )
    upper, lower = deck.footed([words], BODY)
    picture = failed_sketch(plan, failed, deck.sketch(upper))
    picture.put_on(slide, "Failure", said("deck.failure.about", title=title))
    deck.text(slide, words, lower, BODY)


def _postures_words(deck: Deck) -> list[str]:
    return [
        said(
            "deck.failure.posture",
            failures=each.host_failures,
            hosts=each.hosts,
            hours=hours(each.short_h),
        )
        for each in deck.plan.postures
    ]


def architecture_slide(deck: Deck) -> None:
    """The logical architecture."""
    plan = deck.plan
    key = "deck.architecture.title clusters" if len(plan.pools) > 1 else "deck.architecture.title"
    title = said(key, clusters=len(plan.pools))
    decided = [f"{each.title}: {each.decision} {each.justification}" for each in plan.decisions[:3]]
    sources = [s for each in plan.decisions[:3] for s in each.sources]
    slide = deck.slide(title, title, Reasons(more=decided, sources=sources))
    architecture_sketch(plan, deck.sketch(deck.box)).put_on(
        slide, "Architecture", said("deck.architecture.about")
    )


# Network


def network_slide(deck: Deck) -> None:
    """Add the slide that says whether the link suffices for each workload that depends on it, with the switches."""
    plan = deck.plan
    found = link_verdicts(plan)
    used = [each for each in found if each.use]
    title = HEADLINES["network"](plan).sentence
    reasons = Reasons(
        keys=(
            "network.ports.shared",
            "network.ports.rdma",
            "network.fabric.leaves",
            "network.fabric.oversubscription",
        ),
        sources=[source for each in used if each.use for source in each.use.sources],
        more=[
            fabric_words(plan.cabling) if plan.cabling else "",
            *(f"{each.name}: {each.words}" for each in found if not each.use),
            "" if used else said("deck.network.local"),
        ],
    )
    slide = deck.slide(title, title, reasons)
    tiles = _network_tiles(deck, found)
    deck.tiles(slide, tiles, deck.box)
    if used:
        _speeds(slide, used, deck.box.below(TILE + GAP))
        return
    rest = deck.box.below(TILE + 2 * GAP)
    if plan.cabling is None or not plan.cabling.failures:
        deck.text(slide, said("deck.network.local"), rest, BODY)
        return
    table = part_failures(plan.cabling).only("part", "left")
    page = pages(table, rest, FAILURE_WIDTHS, size=BODY, most=MOST_FAILURES, lines=2)[0]
    put_table(slide, page, said("deck.network.failures"))


def _speeds(slide: Any, used: Sequence[LinkVerdict], box: Any) -> None:
    """The share of the native speed that the link leaves, the lowest last."""
    ranked = sorted(used, key=lambda each: _kept(each.use)[1], reverse=True)
    shown = [*reversed(ranked[-MOST_LINKS:])]
    shares = [_kept(each.use) for each in shown]
    chart = add_chart(
        slide,
        box._replace(height=min(box.height, 40 + 46 * len(shown))),
        [_link_name(each) for each in shown],
        [Series(said("deck.network.series"), [share for _, share, _ in shares], VERDICT_COLOURS["good"])],
        Look(gap=45, end=1.1),
        said("deck.network.about"),
    )
    ranges(chart, [(low, high) for low, _, high in shares])
    for at, (each, (_, share, _)) in enumerate(zip(shown, shares, strict=True)):
        fill(chart.plots[0].series[0].points[at], VERDICT_COLOURS.get(each.verdict, "8B94A3"))
        text = f"{share_words(share)}, {VERDICTS[each.verdict]}"
        label_point(chart, 0, at, text, colour="10151D", at="INSIDE_BASE")


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


def _network_tiles(deck: Deck, found: Sequence[LinkVerdict]) -> list[Tile]:
    """Link, ports, switches, and what vMotion needs."""
    given, fabric = deck.plan.scenario.network, deck.plan.cabling
    name = network_name(given.link_gbit_s, given.transport)
    speed, _, transport = name.partition(" Gbit/s ")
    tiles = [Tile(said("deck.network.link"), f"{speed} Gbit/s", transport)]
    if fabric:
        tiles.append(
            Tile(
                said("deck.network.ports"),
                number(fabric.ports.total),
                said("deck.network.ports of", shared=fabric.ports.shared, rdma=fabric.ports.rdma)
                if fabric.ports.rdma
                else said("deck.network.teamed"),
            )
        )
    if fabric and fabric.switches:
        shape = fabric.switches.shape
        tiles.append(Tile(said("deck.network.leaves"), number(shape.leaves), fabric.switches.leaf_name))
    vmotion = next((each for each in found if each.kind == "vmotion"), None)
    if vmotion:
        tiles.append(Tile(said("deck.network.vmotion"), VERDICTS[vmotion.verdict], vmotion.words))
    return tiles
