"""The deck in progress: slides as data, and the one renderer that puts their words, figures, tables and charts on the grid."""

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from gpuplan.analysis.compare import Comparison
from gpuplan.deliver.brand import Brand
from gpuplan.deliver.executive import Executive, document_day
from gpuplan.deliver.html import clean, one_line
from gpuplan.deliver.office import set_properties
from gpuplan.deliver.pptx.blocks import Block, Shown, Tiles, Words, put
from gpuplan.deliver.pptx.measure import (
    BODY,
    INSET,
    LEAD,
    POINT,
    SMALL,
    TITLE,
    Box,
    box_of,
    cut,
    fitted,
    text_widths,
)
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
SIDE, SIDE_GAP, LEAST_SIDE = 0.72, 28, 230
"""Share of the width that a picture takes beside key figures, the room between them, and their least width."""
SUBTITLE, BAR = 13, 14
"""Indexes of the places for what belongs to the message: its scope, and what follows from it."""
TITLES = (TITLE, 24, LEAD)
LONGEST_TITLE = 64
BAR_HEIGHT, GAP = 42, 13
"""Height of the bar, and the room between what is below each other."""


class Slide(NamedTuple):
    """A slide: its message, what stands below it, and what its notes say."""

    titles: Sequence[str]
    """The message in one wording or several; the first that a line holds is shown."""
    body: Block | None = None
    subtitle: str = ""
    """Scope, unit and period of what is shown."""
    follows: Sequence[str] = ()
    """What follows from it, in the bar at the foot; the first wording that it holds."""
    keys: Sequence[str] = ()
    """Of the lines of the plan behind its figures."""
    sources: Sequence[str] = ()
    more: Sequence[str] = ()
    first: str = ""
    """What the presenter says first, if not the first of the titles."""
    top: Tiles | Shown | None = None
    side: Block | None = None
    """Key figures above the body, and what is at its right."""
    share: float = SIDE
    """Share of the width that the body takes beside that."""
    foot: Words | Tiles | Shown | None = None


class Deck:
    """Slides on one grid."""

    def __init__(
        self, show: Any, plan: Plan, summary: Executive, brand: Brand, compared: Comparison | None
    ) -> None:
        self.show, self.plan, self.summary, self.brand, self.compared = show, plan, summary, brand, compared
        self.messages, self.figures = check_plan(plan), Figures(plan)
        self.day = document_day(plan)
        self.layouts = [layout for master in show.slide_masters for layout in master.slide_layouts]
        places = {
            layout.name: {p.placeholder_format.idx for p in layout.placeholders} for layout in self.layouts
        }
        self.own = BAR in places.get("Message", ()) and SUBTITLE in places.get("Title Only", ())
        self.layout, self.title_box = self._content_layout()
        self.loose, self.narrow = text_widths(*_fonts_of(show))
        box, bottom = self.title_box, show.slide_height / POINT - 44
        self.subtitle_box = Box(box.left, box.top + box.height, box.width, 24 if self.own else 36)
        top = self.subtitle_box.top + self.subtitle_box.height + 14
        self.box = Box(box.left, top, box.width, bottom - top)
        self.cited = Counter[str]()
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
        """Return the layout for all slides with content: a title at the top, and no placeholder below it but the deck's own."""
        for layout in sorted(self.layouts, key=lambda each: each.name.strip().casefold() != "title only"):
            kinds = {int(p.placeholder_format.type or 0): p for p in layout.placeholders}
            title = kinds.get(1) or kinds.get(3)
            others = set(kinds) - SMALL_PLACES - {1, 3} - ({2} if self.own else set())
            if title is None or title.width is None or others:
                continue
            box = box_of(title)
            if self._has_room(box):
                return layout, box
        raise TemplateError(said("template.no layout"))

    def _has_room(self, title: Box) -> bool:
        """True if a title is on the slide, large enough, and has room below it."""
        wide, high = self.show.slide_width / POINT, self.show.slide_height / POINT
        large = title.width > 0.6 * wide and title.height > 35
        inside = title.left >= 0 and title.left + title.width <= wide
        return large and inside and high - title.top - title.height > 0.55 * high

    def add(self, slides: Iterable[Slide]) -> None:
        """Draw slides, each before the next one is made; a table of the appendix takes as many as it needs."""
        for slide in slides:
            if not isinstance(slide.body, Listing) or not slide.body.paged:
                self._draw(slide)
                continue
            (title,), pages = slide.titles, slide.body.pages(self.box, self.loose)
            for at, page in enumerate(pages, 1):
                name = said("deck.appendix.page", title=title, number=at, of=len(pages))
                name = name if len(pages) > 1 else title
                self._draw(slide._replace(titles=[name], body=page._replace(about=name), first=title))

    def _draw(self, content: Slide) -> None:
        """Draw a slide: its message, what it shows and what follows, then its footer and its notes."""
        message = [each for each in self.layouts if each.name == "Message" and self.own and content.follows]
        slide = self.show.slides.add_slide((*message, self.layout)[0])
        self.title(slide.shapes.title, [title.removesuffix(".") for title in content.titles])
        self._line(slide, SUBTITLE, [content.subtitle], self.subtitle_box, (BODY, SMALL))
        box = self.box
        if content.follows:
            low = box.below(box.height - BAR_HEIGHT)
            box = box.above(box.height - BAR_HEIGHT - GAP)
        if content.top:
            high = content.top.height(box.width)
            content.top.put(self, slide, box.above(high))
            box = box.below(high + GAP)
        if content.foot and content.foot[0]:  # some words or figures
            tall = content.foot.height(box.width)
            content.foot.put(self, slide, box.below(box.height - tall))
            box = box.above(box.height - tall - GAP)
        left, right = box.sides(min(box.width * content.share, box.width - SIDE_GAP - LEAST_SIDE), SIDE_GAP)
        if content.body:
            content.body.put(self, slide, left if content.side else box)
        if content.side:
            content.side.put(self, slide, right)
        if content.follows:
            self._line(slide, BAR, content.follows, low, (18, BODY, SMALL))
        self.finish(slide, content)

    def title(self, shape: Any, wordings: Sequence[str]) -> None:
        """The message of a slide, on one line; smaller only where its place has no room for it."""
        width = self.title_box.width - (0 if self.own else 2 * INSET)
        short = [text for text in wordings if len(text) <= LONGEST_TITLE]
        sizes = TITLES if self.own else (*TITLES, BODY, SMALL)
        shown = short or [f"{wordings[-1][: LONGEST_TITLE - 1]}\u2026"]
        text, size = fitted(shown, self.title_box._replace(width=width / self.narrow), sizes, bold=True)
        put(shape, text, size, bold=True)

    def _line(self, slide: Any, at: int, wordings: Sequence[str], box: Box, sizes: Sequence[int]) -> None:
        """Put a text into its place in the layout, after what has been drawn; else into a box of its own."""
        bar = at == BAR
        room = box._replace(width=(box.width - 32 * bar) / self.narrow)
        choices = (fitted([text], room, sizes) for text in wordings)
        whole = (choice for choice in choices if not choice[0].endswith("\u2026"))
        text, size = next(whole, None) or fitted(wordings[-1:], room, sizes)
        place = next((p for p in slide.placeholders if self.own and p.placeholder_format.idx == at), None)
        if place is None:
            Words([text] * bool(text), size, not bar, "bg2" * bar).put(self, slide, box)
            return
        slide.shapes._spTree.remove(place._element)
        if text:
            slide.shapes._spTree.append(place._element)
            put(place, text, size)

    def finish(self, slide: Any, content: Slide) -> None:
        """Footer, number and notes of a slide."""
        parts = (one_line(self.brand.footer), one_line(self.plan.scenario.name))
        footer = " \u00b7 ".join(filter(None, parts))
        for place in slide.slide_layout.placeholders:
            kind = int(place.placeholder_format.type or 0)
            if kind != 13 and not (kind == 15 and self.own):
                continue
            tree, copied = slide.shapes._spTree, deepcopy(place._element)
            copied.nvSpPr.cNvPr.set("id", str(tree.max_shape_id + 1))
            tree.append(copied)
            if kind == 15:
                put(slide.shapes[-1], cut(footer, SMALL, box_of(place).width), 0)
        self.cited.update(sources_of(self.plan, content)[:MOST_SOURCES])
        slide.notes_slide.notes_text_frame.text = told(self.plan, content)


def _fonts_of(show: Any) -> list[str]:
    theme = parse_xml(show.slide_masters[0].part.part_related_by(RELATIONSHIP_TYPE.THEME).blob)
    fonts = (theme.find(f".//{qn(f'a:{kind}')}/{qn('a:latin')}") for kind in ("majorFont", "minorFont"))
    return [str(font.get("typeface", "")) for font in fonts if font is not None]


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
