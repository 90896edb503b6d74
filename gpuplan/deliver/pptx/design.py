"""Design slides: the hosts, and the effect of a failure."""

from collections.abc import Iterator
from functools import partial

from gpuplan.deliver.pptx.blocks import Picture, Shown, Words
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.hosts import failed_sketch, hosts_sketch, worst_case
from gpuplan.deliver.pptx.measure import BODY, LEAD, SMALL
from gpuplan.deliver.pptx.paging import Listing
from gpuplan.plan import Plan
from gpuplan.report.tables.availability import postures
from gpuplan.report.tables.plan import equipment
from gpuplan.wording import run_words, said

POSTURES = 118.0
"""Height of the table of failures that are tolerated."""
SMALL_SLIDE = 350.0
"""Room on a slide with which it is left out."""


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
    scope = "; ".join(dict.fromkeys(equipment(plan, pool) for pool in plan.pools))
    follows = [*starts[:1], said("deck.hosts.free", free=totals.gpus - used)]
    yield Slide(
        [longer, title],
        picture,
        said("deck.hosts.scope", hosts=scope),
        follows,
        keys,
        more=starts,
        first=title,
    )


def failure_slide(deck: Deck) -> Iterator[Slide]:
    """The worst failure: the failed hosts, and where their VMs restart; and what more or fewer spare hosts mean."""
    plan, figures = deck.plan, deck.figures
    keys = ("totals.gpus_after_failure", "totals.unplaced_vms_after_failure")
    more = [deck.summary.survives]
    more += [said("deck.failure.posture", level=level) for level in plan.postures]
    table = Listing(postures(plan).shown(), (2.6, 1.5, 1.5, 2, 2.2, 2.2), (LEAD, BODY, SMALL))
    failed = worst_case(plan, figures.down)
    if failed is None:
        words = [said("deck.failure.no other about")]
        body = table if plan.postures else Words(words, LEAD)
        yield Slide([said("deck.failure.no other")], body, follows=words, keys=keys, more=more)
        return
    foot = (
        Shown(table._replace(sizes=(BODY, SMALL)), POSTURES)
        if plan.postures and deck.box.height > SMALL_SLIDE
        else None
    )
    outcome, one = failed.outcome, figures.down == 1
    key = "deck.failure.leaves" if outcome.unplaced else "deck.failure.tolerance"
    title = said(key, missing=len(outcome.unplaced), verdict=plan.verdict.note)
    case = "deck.failure.words moved" if outcome.moved else "deck.failure.words"
    shown = said("deck.failure.host" if one else "deck.failure.hosts", numbers=run_words(failed.hosts))
    counts = {"moved": len(outcome.moved), "moving": len(outcome.restarted)}
    counts["others"] = len({host for _, _, host in outcome.restarted})
    effect = said(case if outcome.restarted else "deck.failure.words none", **counts, shown=shown)
    draw, longer = partial(failed_sketch, plan, failed), f"{title}; {figures.said('deck.failure.left')}"
    short = figures.said("deck.failure.short")
    picture = Picture("Failure", draw, said("deck.failure.about", title=title))
    yield Slide(
        [longer, title, short], picture, effect, [_to_decide(plan)], keys, more=more, foot=foot, first=title
    )


def _to_decide(plan: Plan) -> str:
    """What the customer decides about failures: maintenance without failover capacity, or another host."""
    chosen = next((level for level in plan.postures if level.chosen), None)
    safer = next((level for level in plan.postures if chosen and level.hosts > chosen.hosts), None)
    if chosen and safer and chosen.exposed_h:
        return said("deck.failure.decide", level=chosen, safer=safer)
    return said("deck.failure.confirm", tolerance=plan.verdict.tolerance)
