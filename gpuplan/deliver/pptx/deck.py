"""The deck in progress: slides as data, and the one renderer that puts their words, figures, tables and charts on the grid."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, Protocol

from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from gpuplan.analysis.compare import Comparison
from gpuplan.deliver.brand import Brand
from gpuplan.deliver.executive import Executive, document_day
from gpuplan.deliver.html import clean, one_line
from gpuplan.deliver.office import set_properties
from gpuplan.deliver.pptx.blocks import Tiles, Words, put
from gpuplan.deliver.pptx.measure import POINT, SMALL, Box, box_of, cut, fit_title, text_widths
from gpuplan.deliver.pptx.paging import Listing
from gpuplan.deliver.untrusted import TemplateError
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.report.explain import explain
from gpuplan.report.figures import Figures
from gpuplan.wording import capital, said

MOST_SOURCES = 8
"""Sources that the notes of a slide name; all are in the design document."""
SMALL_PLACES = {13, 15, 16}
"""Placeholder types of slide number, footer and date."""
SIDE, SIDE_GAP = 0.68, 28
"""Share of the width that a picture takes beside key figures, and the room between them."""


class Block(Protocol):
    """Something that is put into a place on a slide."""

    def put(self, deck: "Deck", slide: Any, box: Box) -> None:
        """Draw it."""


class Slide(NamedTuple):
    """A slide: its message, what stands below it, and what its notes say."""

    titles: Sequence[str]
    """The message in one wording or several; the first that two lines hold is shown."""
    body: Block | None = None
    keys: Sequence[str] = ()
    """Of the lines of the plan behind its figures."""
    sources: Sequence[str] = ()
    more: Sequence[str] = ()
    first: str = ""
    """What the presenter says first, if not the first of the titles."""
    top: Tiles | None = None
    side: Tiles | None = None
    """Key figures above the body, and at its right."""
    foot: Words | Tiles | None = None
    gap: float = 10
    """Room between the body and what is above or below it."""


class Deck:
    """Slides on one grid."""

    def __init__(
        self, show: Any, plan: Plan, summary: Executive, brand: Brand, compared: Comparison | None
    ) -> None:
        self.show, self.plan, self.summary, self.brand, self.compared = show, plan, summary, brand, compared
        self.messages, self.figures = check_plan(plan), Figures(plan)
        self.day = document_day(plan)
        self.layouts = [layout for master in show.slide_masters for layout in master.slide_layouts]
        self.layout, self.title_box = self._content_layout()
        self.loose, self.narrow = text_widths(_font_of(show))
        self.cited: dict[str, None] = {}
        bottom = show.slide_height / POINT - 44
        top = self.title_box.top + self.title_box.height + 8
        self.box = Box(self.title_box.left, top, self.title_box.width, bottom - top)
        core, related, scenario = show.core_properties, show.part.package._rels, plan.scenario
        about = {"title": scenario.name, "subject": scenario.customer, "author": brand.name}
        set_properties(core, related, **about, day=self.day)

    def layout_with(self, places: set[int], kind: str = "") -> Any:
        """Return the first layout with such placeholders, and of a type if one is named; None without one."""
        for layout in self.layouts:
            present = {int(place.placeholder_format.type or 0) for place in layout.placeholders}
            if places <= present and kind in ("", layout.element.get("type")):
                return layout
        return None

    def _content_layout(self) -> tuple[Any, Box]:
        """Return the layout for all slides with content: a title at the top, and no placeholder below it."""
        for layout in sorted(self.layouts, key=lambda each: each.name.strip().casefold() != "title only"):
            kinds = {int(p.placeholder_format.type or 0): p for p in layout.placeholders}
            title = kinds.get(1) or kinds.get(3)
            if title is None or title.width is None or set(kinds) - SMALL_PLACES - {1, 3}:
                continue
            box = box_of(title)
            if self._has_room(box):
                return layout, box
        raise TemplateError(said("template.no layout"))

    def _has_room(self, title: Box) -> bool:
        """True if a title is on the slide, large enough, and has room below it."""
        wide, high = self.show.slide_width / POINT, self.show.slide_height / POINT
        large = title.width > 0.6 * wide and title.height > 36
        inside = title.left >= 0 and title.left + title.width <= wide
        return large and inside and high - title.top - title.height > 0.55 * high

    @property
    def own(self) -> bool:
        """True if the layouts are the deck's own."""
        ruled = any(shape.name == "Accent rule" for shape in self.layout.shapes)
        return self.layout.name == "Title Only" and ruled

    def add(self, slides: Iterable[Slide]) -> None:
        """Draw slides, each before the next one is made; a table of the appendix takes as many as it needs."""
        for slide in slides:
            if not isinstance(slide.body, Listing) or not slide.body.paged:
                self._draw(slide)
                continue
            (title,), pages = slide.titles, slide.body.pages(self.box)
            for at, page in enumerate(pages, 1):
                name = said("deck.appendix.page", title=title, number=at, of=len(pages))
                name = name if len(pages) > 1 else title
                self._draw(slide._replace(titles=[name], body=page._replace(about=name), first=title))

    def _draw(self, content: Slide) -> None:
        """Draw a slide: its message, its footer and its notes, then what it shows."""
        slide = self.show.slides.add_slide(self.layout)
        self.title(slide.shapes.title, [title.removesuffix(".") for title in content.titles])
        self.finish(slide, content)
        box = self.box
        if content.top:
            content.top.put(self, slide, box)
            box = box.below(content.top.height(box.width) + content.gap)
        whole = box
        if content.foot:
            box = whole.above(whole.height - content.foot.height(whole.width) - content.gap)
        left, right = box.sides(box.width * SIDE, SIDE_GAP)
        if content.body:
            content.body.put(self, slide, left if content.side else box)
        if content.side:
            content.side.put(self, slide, right)
        if content.foot and content.foot[0]:  # some words or figures
            content.foot.put(self, slide, whole.below(whole.height - content.foot.height(whole.width)))

    def title(self, shape: Any, wordings: Sequence[str]) -> None:
        """The message of a slide, on two lines at most; smaller only where the title of a template has no room for it."""
        text, size = fit_title(wordings, self.title_box, own=self.own)
        put(shape, text, size, bold=True)

    def finish(self, slide: Any, content: Slide) -> None:
        """Footer, number and notes of a slide."""
        parts = (one_line(self.brand.footer), one_line(self.plan.scenario.name))
        footer = " \u00b7 ".join(filter(None, parts))
        for place in slide.slide_layout.placeholders:
            kind = int(place.placeholder_format.type or 0)
            if kind != 13 and not (kind == 15 and self.own):
                continue
            slide.shapes._spTree.append(deepcopy(place._element))
            if kind == 15:
                put(slide.shapes[-1], cut(footer, SMALL, box_of(place).width), 0)
        self.cited |= dict.fromkeys(sources_of(self.plan, content)[:MOST_SOURCES])
        slide.notes_slide.notes_text_frame.text = told(self.plan, content)


def _font_of(show: Any) -> str:
    theme = parse_xml(show.slide_masters[0].part.part_related_by(RELATIONSHIP_TYPE.THEME).blob)
    font = theme.find(f".//{qn('a:minorFont')}/{qn('a:latin')}")
    return "" if font is None else str(font.get("typeface", ""))


def told(plan: Plan, content: Slide) -> str:
    """Return the notes: the first words, each figure with its formula and certainty, and the sources."""
    paragraphs = [said("deck.notes.first", text=_sentence(content.first or content.titles[0]))]
    bases: dict[str, None] = {}
    for key in content.keys:
        if key in plan.lines:
            figure = explain(plan, key)
            paragraphs.append(
                said("deck.notes.why", label=figure.label, formula=figure.formula, sentence=figure.sentence)
            )
            bases[figure.basis_text] = None
    paragraphs += [capital(_sentence(text)) for text in content.more if text]
    paragraphs += bases
    sources = [plan.catalog.sources[source] for source in sources_of(plan, content)]
    parts = [(source.title, source.producer, source.published[:4]) for source in sources[:MOST_SOURCES]]
    listed = [", ".join(filter(None, part)) for part in parts]
    if left := len(sources) - len(listed):
        listed.append(said("deck.notes.more sources", count=left))
    paragraphs.append("\n".join([said("deck.notes.sources"), *(listed or [said("deck.notes.no source")])]))
    return clean("\n".join(paragraphs))


def sources_of(plan: Plan, content: Slide) -> list[str]:
    """Return the sources behind a slide: first those of its figures, then those of the underlying figures."""
    sources, keys = dict.fromkeys(content.sources), [key for key in content.keys if key in plan.lines]
    for key in keys:  # and of what their lines rest on
        for used in plan.lines[key].inputs:
            if used.key not in plan.lines:
                sources |= dict.fromkeys(used.sources)
            elif used.key not in keys:
                keys.append(used.key)
    return [source for source in sources if source in plan.catalog.sources]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."
