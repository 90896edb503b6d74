"""A plan as slides that a person can go on editing: which ones, in order, in a template of the user's own if one is given."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from gpuplan.analysis.compare import Comparison
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.report.docx_file import same_bytes
from gpuplan.report.pptx import slides
from gpuplan.report.pptx.deck import Deck, emptied, widen
from gpuplan.report.template import checked_template, usable_template


@spoken
def pptx_bytes(plan: Plan, compared: Comparison | None = None, *, template: bytes | None = None) -> bytes:
    """A plan, and what it is compared with, as a PPTX file, the same bytes for the same plan."""
    from pptx import Presentation

    if template is None:
        show = Presentation()
        widen(show)
        return _written(plan, compared, show)
    with usable_template("pptx"):
        show = Presentation(BytesIO(checked_template(template, "pptx").file))
        emptied(show)
        return _written(plan, compared, show)


def _written(plan: Plan, compared: Comparison | None, show: Any) -> bytes:
    deck = Deck(show, plan)
    messages = check_plan(plan)
    slides.title_slide(deck)
    slides.demand_slide(deck)
    if plan.pools:
        slides.waiting_slide(deck)
        slides.design_slide(deck)
        slides.hosts_slide(deck)
        slides.failure_slide(deck)
        slides.network_slide(deck)
    if plan.costs is not None:
        slides.cost_by_year_slide(deck, plan.costs)
        slides.cost_by_part_slide(deck, plan.costs)
        slides.alternatives_slide(deck)
    if compared is not None:
        slides.compared_slide(deck, compared)
    slides.decisions_slide(deck)
    slides.open_points_slide(deck, messages)
    slides.next_steps_slide(deck, messages)
    stream = BytesIO()
    show.save(stream)
    return same_bytes(stream.getvalue(), day=deck.as_of)
