"""The slide of the limits that the customer has set: how far the design is within each."""

from collections.abc import Iterator, Sequence

from gpuplan.deliver.pptx.blocks import Chart, Label, Series, Words
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.measure import SMALL, cut
from gpuplan.plan import Plan
from gpuplan.plan.limits import Within
from gpuplan.report.drawing import EDGE
from gpuplan.report.limits import KEPT, OVER, limit_state, limits_exceeded
from gpuplan.wording import capital, joined, said

NAME_WIDTH = 260
TO_SCALE = 2.0
"""Largest share of a limit up to which the axis goes."""


def limits_slide(deck: Deck) -> Iterator[Slide]:
    """Each limit as a bar up to what the design takes, in parts of the limit, and the others in words."""
    plan = deck.plan
    if not plan.pools or not plan.within:
        return
    bars = [each for each in reversed(plan.within) if each.share is not None]
    words = Words([said("limits.key"), *_in_words(plan)], SMALL, quiet=True)
    keys = [each.line for each in plan.within if each.line]
    more = [f"{each.name}: {each.why}" for each in plan.within if each.why]
    yield Slide(_titles(deck), _chart(plan, bars) if bars else None, keys, more=more, foot=words)


def _chart(plan: Plan, bars: Sequence[Within]) -> Chart:
    shares = [each.share or 0.0 for each in bars]
    labels = [Label(limit_state(plan, each), bold=each.met is False) for each in bars]
    inside = [min(1.0, share) for share in shares]
    colours = [KEPT if each.met else EDGE for each in bars]
    series = [
        Series(said("deck.limits.beyond"), OVER, shares, labels=labels),
        Series(said("deck.limits.within"), KEPT, inside, colours=colours),
    ]
    end = 1.5 * min(TO_SCALE, max(1.0, *shares, 1.0))
    names = [cut(each.name, SMALL, NAME_WIDTH) for each in bars]
    return Chart(said("limits.figure alt"), names, series, (60, 50), gap=55, overlap=100, end=end)


def _in_words(plan: Plan) -> Iterator[str]:
    """Limits that are no bars, by what is said of them."""
    names: dict[str, list[str]] = {}
    for each in plan.within:
        if each.share is None:
            names.setdefault(limit_state(plan, each), []).append(each.name)
    for state, these in names.items():
        yield said("deck.limits.others", state=capital(state), names=joined(these))


def _titles(deck: Deck) -> list[str]:
    limits, over = deck.plan.within, limits_exceeded(deck.plan)
    count = sum(each.met is (not over) for each in limits)
    short = said("deck.limits.over" if over else "deck.limits.kept", count=count, of=len(limits))
    return [over.removesuffix("."), short] if over else [short]
