"""A plan as slides that a person presents and can go on editing: which ones, in order, in a template of the user's own if one is given."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from pptx import Presentation
from pptx.oxml.ns import qn

from gpuplan.analysis.compare import Comparison
from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.executive import Executive
from gpuplan.deliver.office import same_bytes
from gpuplan.deliver.pptx.appendix import APPENDIX
from gpuplan.deliver.pptx.covers import closing_slide, divider, title_slide
from gpuplan.deliver.pptx.deck import Deck
from gpuplan.deliver.pptx.design import architecture_slide, failure_slide, hosts_slide, network_slide
from gpuplan.deliver.pptx.master import own_presentation
from gpuplan.deliver.pptx.money import alternatives_slide, cost_slide, drivers_slide, growth_slide
from gpuplan.deliver.pptx.opening import asked_slide, executive_slide, when_slide
from gpuplan.deliver.pptx.steps import decisions_slide, next_steps_slide
from gpuplan.deliver.template import checked_template, usable_template
from gpuplan.locales import spoken
from gpuplan.plan import Plan

OPENING = (executive_slide, asked_slide)
HOSTS = (when_slide, hosts_slide, failure_slide, architecture_slide, network_slide)
"""Slides of a plan with hosts."""
MONEY = (cost_slide, alternatives_slide, drivers_slide, growth_slide, decisions_slide, next_steps_slide)
"""Each yields no slide where the plan has nothing for it."""


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
    if template is None:
        return _written(Deck(own_presentation(brand), plan, summary, brand, compared))
    with usable_template("pptx"):
        show: Any = Presentation(BytesIO(checked_template(template, "pptx").file))
        _emptied(show)
        return _written(Deck(show, plan, summary, brand, compared))


def _written(deck: Deck) -> bytes:
    title_slide(deck)
    for chapter in (*OPENING, *(HOSTS if deck.plan.pools else ()), *MONEY):
        deck.add(chapter(deck))
    divider(deck)
    for chapter in APPENDIX:
        deck.add(chapter(deck))
    closing_slide(deck)
    stream = BytesIO()
    deck.show.save(stream)
    return same_bytes(stream.getvalue(), day=deck.day)


def _emptied(show: Any) -> None:
    """Remove the slides of a template, and all references to them."""
    for slide in list(show.element.get_or_add_sldIdLst()):
        slide.getparent().remove(slide)
    for child in list(show.element):
        if child.tag == qn("p:custShowLst"):
            show.element.remove(child)
        elif child.tag == qn("p:extLst"):
            for extension in list(child):
                if any(inner.tag.endswith("}sectionLst") for inner in extension):
                    child.remove(extension)
            if not len(child):
                show.element.remove(child)
