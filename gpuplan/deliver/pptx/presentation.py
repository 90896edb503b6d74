"""A plan as slides that a person presents and can go on editing: which ones, in order, in a template of the user's own if one is given."""

from functools import partial
from io import BytesIO
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from gpuplan.analysis.compare import Comparison
from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.executive import Executive, edition
from gpuplan.deliver.html import one_line
from gpuplan.deliver.office import same_bytes
from gpuplan.deliver.pptx.appendix import APPENDIX
from gpuplan.deliver.pptx.blocks import Picture, Words, put, put_lines, render
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.design import failure_slide, hosts_slide
from gpuplan.deliver.pptx.hosts import strip_sketch
from gpuplan.deliver.pptx.limits import limits_slide, solution_slide
from gpuplan.deliver.pptx.measure import BODY, COVER, LEAD, POINT, SMALL, TITLE, Box, box_of, cut
from gpuplan.deliver.pptx.money import alternatives_slide, cost_slide, drivers_slide
from gpuplan.deliver.pptx.opening import asked_slide, executive_slide, when_slide
from gpuplan.deliver.pptx.roadmap import decisions_slide, roadmap_slide
from gpuplan.deliver.template import checked_template, usable_template
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.report.drawing import OKABE_ITO
from gpuplan.report.figures import sentences
from gpuplan.wording import said

LOGO, SMALL_LOGO = Box(702, 462, 216, 62), Box(716, 502, 140, 24)
STRIP = Box(42, 268, 876, 182)
"""Position of the logo on the title slide, beside the number of the others, and of the hosts on the title slide."""
WITH_SLIDES = "p:sldIdLst/* | p:custShowLst | p:extLst/*[*[local-name()='sectionLst']]"
"""What refers to the slides of a template."""
OPENING = (executive_slide, asked_slide)
HOSTS = (when_slide, hosts_slide, failure_slide)
MONEY = (
    limits_slide,
    solution_slide,
    cost_slide,
    alternatives_slide,
    drivers_slide,
    roadmap_slide,
    decisions_slide,
)
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
    """A plan as slides, always the same bytes; with a template the brand colours the charts only."""
    if template is None:
        return _written(Deck(_own_presentation(brand), plan, summary, brand, compared))
    with usable_template("pptx"):
        show: Any = Presentation(BytesIO(checked_template(template, "pptx").file))
        for paths in (WITH_SLIDES, "p:extLst[not(*)]"):
            for gone in show.element.xpath(paths):
                gone.getparent().remove(gone)
        return _written(Deck(show, plan, summary, brand, compared))


def _written(deck: Deck) -> bytes:
    _title_slide(deck)
    for chapter in (*OPENING, *(HOSTS if deck.plan.pools else ()), *MONEY):
        deck.add(chapter(deck))
    _divider(deck)
    for chapter in APPENDIX:
        deck.add(chapter(deck))
    stream = BytesIO()
    deck.show.save(stream)
    return same_bytes(stream.getvalue(), day=deck.day, company=deck.brand.name)


def _own_presentation(brand: Brand) -> Any:
    show: Any = Presentation()
    _, _, show.slide_width, show.slide_height = Box(0, 0, 960, 540).emu
    firm = cut(brand.name, LEAD, LOGO.width, 2, bold=True) if brand.name and not brand.logo else ""
    pages = {page.tag: page for page in render("master", firm=firm, logo=LOGO)}
    for layout in list(show.slide_layouts):
        kind = layout.element.get("type")
        if kind not in pages:
            show.slide_layouts.remove(layout)
            continue
        layout.name = pages[kind].get("name")
        if kind == "obj":
            layout.element.set("type", "cust")
        _fill(layout, pages[kind])
        _with_logo(layout, brand, {"title": LOGO, "secHead": None}.get(kind, SMALL_LOGO))
    master = show.slide_master
    _fill(master, pages["master"])
    _styles(master)
    _theme(master, brand)
    for key, relation in list(show.part.rels.items()):
        if relation.reltype.endswith("/printerSettings"):
            show.part.rels.pop(key)
    return show


def _theme(master: Any, brand: Brand) -> None:
    """The colours and the fonts of the brand, under the names that every program shows in its menus."""
    part = master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    theme = parse_xml(part.blob)
    theme.set("name", one_line(brand.name) or "gpuplan")
    accents = (brand.accent, *(OKABE_ITO[at].lstrip("#").upper() for at in (1, 2, 3, 4, 5)))
    colours = {"dk1": brand.ink, "lt1": "FFFFFF", "dk2": brand.quiet, "lt2": brand.shade}
    colours |= {f"accent{at}": colour for at, colour in enumerate(accents, 1)}
    colours |= {"hlink": brand.accent, "folHlink": brand.quiet}
    for name, colour in colours.items():
        place = theme.find(f".//{qn(f'a:{name}')}")
        place[:] = [place.makeelement(qn("a:srgbClr"), {"val": colour})]
    for kind, font in (("majorFont", brand.headings), ("minorFont", brand.text)):
        theme.find(f".//{qn(f'a:{kind}')}/{qn('a:latin')}").set("typeface", font)
    part._blob = etree.tostring(theme, xml_declaration=True, encoding="UTF-8", standalone=True)


def _styles(master: Any) -> None:
    styles = master.element.find(qn("p:txStyles"))
    first = styles.find(qn("p:titleStyle")).find(qn("a:lvl1pPr"))
    first.set("algn", "l")
    first.find(qn("a:defRPr")).set("sz", str(100 * TITLE))
    first.find(qn("a:defRPr")).set("b", "1")
    for level, size in zip(styles.find(qn("p:bodyStyle")), (LEAD, BODY, *[SMALL] * 7), strict=False):
        level.find(qn("a:defRPr")).set("sz", str(100 * size))


def _fill(page: Any, shapes: Any) -> None:
    for number, shape in enumerate(shapes, 2):
        shape[0][0].set("id", str(number))
    page.shapes._spTree[2:] = list(shapes)


def _with_logo(layout: Any, brand: Brand, room: Box | None) -> None:
    """The logo at the right of its place, as large as fits."""
    if not brand.logo or room is None:
        return
    image, relation = layout.part.get_or_add_image_part(BytesIO(brand.logo))
    wide, high = image.scale(None, None)
    factor = min(room.width * POINT / wide, room.height * POINT / high)
    width, height = wide * factor / POINT, high * factor / POINT
    left, top = room.left + room.width - width, room.top + (room.height - height) / 2
    name = one_line(brand.name) or "Logo"
    shown = Box(left, top, width, height)
    logo = render("logo", id=len(layout.shapes) + 20, name=name, box=shown, relation=relation)
    layout.shapes._spTree.append(logo)


def _title_slide(deck: Deck) -> None:
    scenario = deck.plan.scenario
    slide = deck.show.slides.add_slide(deck.layout_with({3, 4}) or deck.layout)
    box = box_of(slide.shapes.title)
    lines = max(1, int(box.height / (COVER * 1.2)))
    size = COVER if len(scenario.name) < 60 else TITLE
    put(slide.shapes.title, cut(scenario.name, size, box.width - 15, lines, bold=True), size, bold=True)
    lead = said("deck.title.design")
    if scenario.customer:
        lead = said("deck.title.customer", customer=scenario.customer)
    _title_words(deck, slide, lead, sentences("edition of the deck", scenario.document, **edition(deck.plan)))
    if deck.own and deck.plan.pools:
        Picture("Hosts", partial(strip_sketch, deck.plan), said("deck.title.hosts")).put(deck, slide, STRIP)
    first = said("deck.title.first", name=scenario.name)
    deck.finish(slide, Slide([first], more=deck.summary.recommendation))


def _title_words(deck: Deck, slide: Any, lead: str, details: list[str]) -> None:
    """Write the text below the title: into the placeholders of the layout, else into a box."""
    places = {int(p.placeholder_format.type): p for p in slide.placeholders}
    subtitle, body = places.get(4), places.get(2)
    if subtitle is None:
        Words([lead, *details], LEAD).put(deck, slide, deck.box)
        return
    if body is None:
        lead = " \u00b7 ".join([lead, *details])
    else:
        put_lines(body, details)
    box = box_of(subtitle)
    put(subtitle, cut(lead, LEAD, box.width - 15, max(1, int(box.height / 24))), LEAD)


def _divider(deck: Deck) -> None:
    """The slide before the appendix: in the layout of a section, or with its words below the title."""
    layout, title, about = (
        deck.layout_with({1, 2}, "secHead"),
        said("deck.appendix"),
        said("deck.appendix.about"),
    )
    slide = deck.show.slides.add_slide(layout or deck.layout)
    put(slide.shapes.title, title, 0)
    if layout is None:
        Words([about], LEAD).put(deck, slide, deck.box)
    else:
        put_lines(next(p for p in slide.placeholders if int(p.placeholder_format.type) == 2), [about], 9)
    deck.finish(slide, Slide([title], more=[said("deck.appendix.notes")]))
