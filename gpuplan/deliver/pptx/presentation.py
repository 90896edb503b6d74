"""A plan as slides that a person presents and can go on editing: which ones, in order, in a template of the user's own if one is given."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from gpuplan.analysis.compare import Comparison
from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.executive import Executive
from gpuplan.deliver.office import same_bytes
from gpuplan.deliver.pptx import design, money, opening, steps
from gpuplan.deliver.pptx.appendix import appendix
from gpuplan.deliver.pptx.deck import Deck, emptied
from gpuplan.deliver.pptx.master import own_presentation
from gpuplan.deliver.template import checked_template, usable_template
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan


@spoken
def pptx_bytes(
    plan: Plan,
    summary: Executive,
    compared: Comparison | None = None,
    *,
    brand: Brand = PLAIN,
    template: bytes | None = None,
) -> bytes:
    """A plan, what an executive decides on, and what it is compared with, as a PPTX file, the same bytes for the same plan.

    A template brings its own looks; the brand then colours the charts only.
    """
    from pptx import Presentation

    if template is None:
        return _written(Deck(own_presentation(brand), plan, summary, brand), compared)
    with usable_template("pptx"):
        show = Presentation(BytesIO(checked_template(template, "pptx").file))
        emptied(show)
        return _written(Deck(show, plan, summary, brand), compared)


def _written(deck: Deck, compared: Comparison | None) -> bytes:
    plan, costs = deck.plan, deck.plan.costs
    messages = check_plan(plan)
    opening.title_slide(deck)
    opening.executive_slide(deck)
    opening.asked_slide(deck)
    if plan.pools:
        opening.when_slide(deck)
        design.hosts_slide(deck)
        design.failure_slide(deck)
        design.architecture_slide(deck)
        design.network_slide(deck)
    if costs is not None:
        money.cost_slide(deck, costs)
        money.alternatives_slide(deck, costs)
        money.drivers_slide(deck, costs)
    if costs is not None and costs.hosts[-1] > costs.hosts[0]:
        money.growth_slide(deck, costs)
    else:
        money.power_slide(deck)
    steps.decisions_slide(deck)
    steps.next_steps_slide(deck, messages)
    appendix(deck, messages, compared)
    return _saved(deck)


def _saved(deck: Deck) -> bytes:
    stream = BytesIO()
    show: Any = deck.show
    show.save(stream)
    return same_bytes(stream.getvalue(), day=deck.day)
