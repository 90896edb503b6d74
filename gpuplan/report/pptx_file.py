"""A plan as slides: one message each, said by its title, with tables and charts that a person can go on editing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from io import BytesIO
from typing import Any, NamedTuple

from gpuplan.analysis.alternatives import silo_costs
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.cost import CostPart, Costs
from gpuplan.plan.results import Message
from gpuplan.report.document import clean
from gpuplan.report.document.writing import cost_span, hosts_lost, what_to_do
from gpuplan.report.docx_file import add_svg, moment_of, one_line, same_bytes
from gpuplan.report.explain import explain
from gpuplan.report.template import checked_template, usable_template
from gpuplan.report.text import share_range
from gpuplan.report.untrusted import TemplateError
from gpuplan.wording import (
    MODE_NAMES,
    TRANSPORT_NAMES,
    VERDICTS,
    amount,
    capital,
    counted,
    hours,
    money,
    number,
    percent,
    watts,
)

POINT = 12_700
"""English Metric Units in a point."""
INCH = 72 * POINT
SLIDE = (int(13.333 * INCH), int(7.5 * INCH))
SIZES = (18, 16, 14, 12)
"""Sizes of text in points, the first that fits is taken."""
LINE_HEIGHT = 1.2
INSET = 0.1 * INCH
"""Left and right in a box and in a cell; half as much above and below."""
SERIES = 7
"""Parts of the cost that are told apart by colour; the smallest are put together."""
COLOURS = ("0072B2", "E69F00", "009E73", "CC79A7", "56B4E9", "D55E00", "F0E442", "5A6576")
ACCENT, INK, QUIET, SHADE = "0B5CAD", "1A2230", "5A6576", "E8EEF6"
COUNT_WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
MORE = "in the design document"


class Box(NamedTuple):
    """A place on a slide in English Metric Units."""

    left: int
    top: int
    width: int
    height: int


def pptx_bytes(plan: Plan, *, template: bytes | None = None) -> bytes:
    """A plan as a PPTX file, the same bytes for the same plan.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    template : bytes or None
        A PPTX or POTX file whose masters and layouts are taken; its slides are left out. [-]

    Returns
    -------
    pptx_bytes : bytes
        The file. [-]

    Raises
    ------
    TemplateError
        If the template cannot be read, its looks load from elsewhere or run, or it has no layout with a title and room below it.
    """
    from pptx import Presentation

    if template is None:
        show = Presentation()
        _widen(show)
        return _written(plan, show)
    with usable_template("pptx"):
        show = Presentation(BytesIO(checked_template(template, "pptx").file))
        _emptied(show)
        return _written(plan, show)


def _written(plan: Plan, show: Any) -> bytes:
    deck = _Deck(show, plan)
    messages = check_plan(plan)
    _title(deck)
    _demand(deck)
    if plan.pools:
        _design(deck)
        _hosts(deck)
        _failure(deck)
        _waiting(deck)
        _network(deck)
    if plan.costs is not None:
        _cost_years(deck, plan.costs)
        _cost_parts(deck, plan.costs)
        _silos(deck)
    _decisions(deck)
    _open(deck, messages)
    _next(deck, messages)
    stream = BytesIO()
    show.save(stream)
    return same_bytes(stream.getvalue(), day=deck.as_of)


# Text and its room


def text_lines(text: str, size: float, width: float) -> int:
    """Lines that a text takes, rather too many than too few.

    Parameters
    ----------
    text : str
        The text. [-]
    size : float
        Size of its characters in points. [-]
    width : float
        Width of a line in points. [-]

    Returns
    -------
    text_lines : int
        Lines. [-]
    """
    lines = 0
    for paragraph in text.split("\n"):
        used, lines = 0.0, lines + 1
        for word in paragraph.split(" "):
            long = _text_width(word, size)
            if used and used + long > width:
                lines, used = lines + 1, 0.0
            while long > width:
                lines, long = lines + 1, long - width
            used += long + _text_width(" ", size)
    return lines


def _text_width(text: str, size: float) -> float:
    """Width of a text in points, as wide as in Arial."""
    return size * sum(_character_width(character) for character in text)


@lru_cache(maxsize=4096)
def _character_width(character: str) -> float:
    if ord(character) > 0x2E80:
        return 1.0
    if character in " iljtfrI.,:;'|!()[]/\u202f\u00a0":
        return 0.34
    if character in "mwMW@%…":
        return 1.0
    return 0.72 if character.isupper() else 0.58


def _height(text: str, size: float, width: float) -> float:
    """Height of a text in points."""
    return text_lines(text, size, width) * size * LINE_HEIGHT


def _cut(text: str, size: float, width: float, lines: int) -> str:
    """The text, or as much of it as so many lines hold."""
    text = one_line(text)
    if text_lines(text, size, width) <= lines:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if text_lines(text[:middle].rstrip() + "…", size, width) <= lines:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…"


def _count(value: int) -> str:
    """A count in a sentence: small ones as words."""
    return COUNT_WORDS[value] if value < len(COUNT_WORDS) else number(value)


def _rgb(colour: str) -> Any:
    from pptx.dml.color import RGBColor

    made: Any = RGBColor
    return made.from_string(colour)


def _chart_data(categories: Sequence[str], series: Mapping[str, Sequence[float]]) -> Any:
    """Numbers of a chart, as a workbook inside the slides holds them."""
    from pptx.chart.data import CategoryChartData

    made: Any = CategoryChartData
    data = made(number_format="#,##0")
    data.categories = categories
    for name, values in series.items():
        data.add_series(name, values)
    return data


def _are(count: int, word: str, verb: str, verbs: str) -> str:
    """A count of things with its verb: ``eight hosts carry``."""
    return f"{_count(count)} {word}{'' if count == 1 else 's'} {verb if count == 1 else verbs}"


# The file and its slides


def _widen(show: Any) -> None:
    """Make the slides 16:9, with their titles at the left."""
    from pptx.oxml.ns import qn

    factor = SLIDE[0] / show.slide_width
    show.slide_width, show.slide_height = SLIDE
    for page in (show.slide_master, *show.slide_layouts):
        for shape in page.placeholders:
            if shape._element.spPr.xfrm is not None:
                shape.left, shape.width = int(shape.left * factor), int(shape.width * factor)
    title = next(s for s in show.slide_master.placeholders if s.placeholder_format.type == 1)
    title.left, title.top = int(0.6 * INCH), int(0.35 * INCH)
    title.width, title.height = SLIDE[0] - int(1.2 * INCH), int(1.0 * INCH)
    level = show.slide_master.element.find(f".//{qn('p:titleStyle')}/{qn('a:lvl1pPr')}")
    level.set("algn", "l")
    level.find(qn("a:defRPr")).set("b", "1")


def _emptied(show: Any) -> None:
    """Take the slides of a template out of it, and what names them."""
    from pptx.oxml.ns import qn

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


class _Deck:
    """Slides on one grid."""

    def __init__(self, show: Any, plan: Plan) -> None:
        self.show, self.plan = show, plan
        self.as_of = plan.costs.as_of if plan.costs else plan.scenario.cost.as_of or ""
        self.layout, self.title_box = self._layout()
        self.drawings = 0
        top = self.title_box.top + self.title_box.height + int(0.15 * INCH)
        bottom = show.slide_height - int(0.65 * INCH)
        self.box = Box(self.title_box.left, top, self.title_box.width, bottom - top)
        self._properties()

    def _layout(self) -> tuple[Any, Box]:
        """The layout for all slides but the first: a title at the top, and nothing to fill below it."""
        small = {13, 15, 16}  # number of the slide, footer, date
        layouts = [layout for master in self.show.slide_masters for layout in master.slide_layouts]
        for layout in sorted(layouts, key=lambda each: each.name.strip().casefold() != "title only"):
            kinds = {int(p.placeholder_format.type or 0): p for p in layout.placeholders}
            title = kinds.get(1) or kinds.get(3)
            if title is None or title.width is None or set(kinds) - small - {1, 3}:
                continue
            box = Box(title.left, title.top, title.width, title.height)
            room = self.show.slide_height - box.top - box.height
            if (
                room > 0.55 * self.show.slide_height
                and box.width > 0.6 * self.show.slide_width
                and box.height > 0.5 * INCH
                and box.left >= 0
                and box.left + box.width <= self.show.slide_width
            ):
                return layout, box
        raise TemplateError(
            "template has no layout with a title at the top and room below it; add one named Title Only"
        )

    def _properties(self) -> None:
        properties, scenario = self.show.core_properties, self.plan.scenario
        properties.title = one_line(scenario.name)[:255]
        properties.subject = one_line(scenario.customer)[:255]
        properties.author = properties.last_modified_by = "gpuplan"
        properties.comments = properties.keywords = properties.category = ""
        properties.language = "en-GB"
        properties.revision = 1
        properties.created = properties.modified = moment_of(self.as_of)
        package = self.show.part.package
        for key, relation in list(package._rels.items()):
            if relation.reltype.endswith("/thumbnail"):
                package._rels.pop(key)

    def slide(self, title: str, keys: Sequence[str] = (), sources: Sequence[str] = (), why: str = "") -> Any:
        """A slide with its title, and notes that say why and from where."""
        slide = self.show.slides.add_slide(self.layout)
        self.fill(slide.shapes.title, capital(title), self.title_box, (28, 24, 20, 18), bold=True)
        for shape in self.layout.placeholders:
            if int(shape.placeholder_format.type or 0) == 13:
                slide.shapes._spTree.append(deepcopy(shape._element))
        self._notes(slide, keys, sources, why)
        return slide

    def _notes(self, slide: Any, keys: Sequence[str], sources: Sequence[str], why: str) -> None:
        parts = [why] if why else []
        cited = dict.fromkeys(sources)
        for key in keys:
            if key not in self.plan.lines:
                continue
            known = explain(self.plan, key)
            parts.append(f"Why {known.label}: {known.formula}. {known.sentence}")
            parts.append(known.basis_text)
            cited.update(dict.fromkeys(source.id for source in known.sources))
        held = [self.plan.catalog.sources[s] for s in cited if s in self.plan.catalog.sources]
        listed = [", ".join(part for part in (s.title, s.producer, s.published, s.url) if part) for s in held]
        parts.append("Sources:\n" + "\n".join(listed or ["The scenario, and the arithmetic of gpuplan."]))
        slide.notes_slide.notes_text_frame.text = clean("\n".join(parts))

    def fill(
        self, shape: Any, text: str, box: Box, sizes: Sequence[int], *, bold: bool = False, colour: str = ""
    ) -> None:
        """Put text into a shape, at the first size at which it fits; the last one holds as much as fits."""
        from pptx.util import Pt

        width = (box.width - 2 * INSET) / POINT * (0.94 if bold else 1)
        height = (box.height - INSET) / POINT
        text = one_line(text)
        size = next((s for s in sizes if _height(text, s, width) <= height), sizes[-1])
        frame = shape.text_frame
        frame.word_wrap = True
        frame.text = _cut(text, size, width, max(1, int(height / (size * LINE_HEIGHT))))
        for run in frame.paragraphs[0].runs:
            run.font.size, run.font.bold = Pt(size), bold
            if colour:
                run.font.color.rgb = _rgb(colour)

    def text(
        self,
        slide: Any,
        text: str,
        box: Box,
        sizes: Sequence[int] = SIZES,
        *,
        bold: bool = False,
        colour: str = INK,
    ) -> None:
        """A box with text."""
        self.fill(self._text_box(slide, box), text, box, sizes, bold=bold, colour=colour)

    @staticmethod
    def _text_box(slide: Any, box: Box) -> Any:
        return slide.shapes.add_textbox(*box)

    def points(self, slide: Any, items: Sequence[str], box: Box) -> None:
        """Points of a list, at the first size at which they fit; those that do not fit are counted."""
        from pptx.util import Pt

        width, height = (box.width - 2 * INSET) / POINT, (box.height - INSET) / POINT
        for size in SIZES:
            shown = [f"•  {_cut(item, size, width - 2 * size, 3)}" for item in items]
            tall = [_height(item, size, width) + size / 2 for item in shown]
            if sum(tall) <= height:
                break
        if sum(tall) > height:
            room = height - 1.5 * size * LINE_HEIGHT
            fits = 0
            while fits < len(tall) and sum(tall[: fits + 1]) <= room:
                fits += 1
            shown = [*shown[:fits], f"•  and {number(len(items) - fits)} more {MORE}"]
        frame = self._text_box(slide, box).text_frame
        frame.word_wrap = True
        for at, item in enumerate(shown):
            paragraph = frame.paragraphs[0] if at == 0 else frame.add_paragraph()
            run = paragraph.add_run()
            run.text = item
            run.font.size, run.font.color.rgb = Pt(size), _rgb(INK)
            paragraph.space_after = Pt(size / 2)

    def tiles(self, slide: Any, items: Sequence[tuple[str, str, str]], box: Box, columns: int = 3) -> None:
        """Key figures: label, value and a note for each."""
        from pptx.enum.shapes import MSO_SHAPE

        gap = int(0.2 * INCH)
        rows = -(-len(items) // columns)
        width = (box.width - (columns - 1) * gap) // columns
        height = min((box.height - (rows - 1) * gap) // rows, int(2.3 * INCH))
        for at, (label, value, note) in enumerate(items):
            left = box.left + at % columns * (width + gap)
            top = box.top + at // columns * (height + gap)
            back = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, left, top, width, height)
            back.fill.solid()
            back.fill.fore_color.rgb = _rgb(SHADE)
            back.line.fill.background()
            back.shadow.inherit = False
            back.name = f"Back of {label}"
            for text, start, share, sizes, bold, colour in (
                (label, 0.04, 0.2, (16, 14, 12), False, QUIET),
                (value, 0.24, 0.34, (32, 28, 24, 20, 16), True, ACCENT),
                (note, 0.58, 0.4, (14, 12), False, INK),
            ):
                inside = Box(left, top + int(start * height), width, int(share * height))
                self.text(slide, text, inside, sizes, bold=bold, colour=colour)

    def table(
        self,
        slide: Any,
        heads: Sequence[str],
        rows: Sequence[Sequence[str]],
        box: Box,
        *,
        widths: Sequence[float],
        right: Sequence[int] = (),
        keep: int = 0,
        lines: int = 3,
        about: str,
    ) -> int:
        """A table at the first size at which it fits; rows that do not fit are counted, the last ``keep`` of them stay.

        Returns its height."""
        from pptx.enum.text import PP_ALIGN
        from pptx.util import Pt

        each = [int(box.width * share / sum(widths)) for share in widths]
        inner = [(width - 2 * INSET) / POINT * 0.94 for width in each]
        for size in SIZES:
            cells = [
                [_cut(text, size, width, lines) for text, width in zip(row, inner, strict=True)]
                for row in (heads, *rows)
            ]
            tall = [
                int((max(map(_height, row, [size] * len(row), inner)) + 0.1 * 72) * POINT) for row in cells
            ]
            if sum(tall) <= box.height:
                break
        if sum(tall) > box.height:
            last = len(cells) - keep
            room = box.height - sum(tall[last:]) - int((size * LINE_HEIGHT + 0.1 * 72) * POINT)
            fits = 1
            while fits < last and sum(tall[: fits + 1]) <= room:
                fits += 1
            line = [f"and {number(last - fits)} more", *[""] * (len(heads) - 1)]
            cells = [*cells[:fits], line, *cells[last:]]
            tall = [*tall[:fits], int((_height(line[0], size, inner[0]) + 0.1 * 72) * POINT), *tall[last:]]
        frame = slide.shapes.add_table(len(cells), len(heads), box.left, box.top, sum(each), sum(tall))
        frame._element.nvGraphicFramePr.cNvPr.set("descr", clean(about))
        table = frame.table
        for column, width in enumerate(each):
            table.columns[column].width = width
        for at, (row, texts) in enumerate(zip(table.rows, cells, strict=True)):
            row.height = tall[at]
            for column, (cell, text) in enumerate(zip(row.cells, texts, strict=True)):
                cell.text = text
                paragraph = cell.text_frame.paragraphs[0]
                paragraph.font.size = Pt(size)
                paragraph.font.bold = at == 0 or at >= len(cells) - keep
                if column in right:
                    paragraph.alignment = PP_ALIGN.RIGHT
        return sum(tall)

    def picture(self, slide: Any, svg: str, about: str, box: Box) -> None:
        """A drawing, as SVG and as PNG for programs that know no SVG."""
        from pptx.opc.package import Part
        from pptx.opc.packuri import PackURI

        from gpuplan.report.diagrams import figure_png

        self.drawings += 1
        shown = slide.shapes.add_picture(BytesIO(figure_png(clean(svg))), box.left, box.top)
        factor = min(box.width / shown.width, box.height / shown.height)
        shown.width, shown.height = int(shown.width * factor), int(shown.height * factor)
        shown.left = box.left + (box.width - shown.width) // 2
        shown._element.nvPicPr.cNvPr.set("descr", clean(about))
        shown.name = f"Drawing {self.drawings}"
        name = PackURI(f"/ppt/media/drawing{self.drawings}.svg")
        drawing = Part(name, "image/svg+xml", slide.part.package, clean(svg).encode())
        add_svg(slide.part, shown._element.xpath(".//a:blip")[0], drawing)

    def chart(
        self, slide: Any, kind: Any, data: Any, box: Box, *, unit: str, most: float, legend: bool, about: str
    ) -> Any:
        """A chart whose numbers can be edited; large amounts are shown in thousands or millions."""
        from pptx.enum.chart import XL_LEGEND_POSITION
        from pptx.util import Pt

        frame = slide.shapes.add_chart(kind, *box, data)
        frame._element.nvGraphicFramePr.cNvPr.set("descr", clean(about))
        chart = frame.chart
        chart.font.size = Pt(12)
        chart.has_title = False
        chart.has_legend = legend
        if legend:
            chart.legend.position = XL_LEGEND_POSITION.RIGHT
            chart.legend.include_in_layout = False
        pattern, scale = ("#,##0", "")
        if most >= 1e7:
            pattern, scale = "#,##0.0,,", "millions of "
        elif most >= 1e4:
            pattern, scale = "#,##0,", "thousands of "
        axis = chart.value_axis
        axis.has_title = True
        axis.axis_title.text_frame.text = f"{scale}{unit}"
        axis.axis_title.text_frame.paragraphs[0].runs[0].font.size = Pt(12)
        axis.tick_labels.number_format = pattern
        axis.tick_labels.number_format_is_linked = False
        return chart, pattern


# The slides


def _title(deck: _Deck) -> None:
    plan, show = deck.plan, deck.show
    layout = next(
        (
            each
            for each in show.slide_layouts
            if {3, 4} <= {int(p.placeholder_format.type or 0) for p in each.placeholders}
        ),
        None,
    )
    made = f"gpuplan, catalog {plan.catalog.digest}"
    below = "  ·  ".join(part for part in (plan.scenario.customer, deck.as_of, made) if part)
    slide = show.slides.add_slide(layout or deck.layout)
    title = slide.shapes.title
    box = Box(title.left, title.top, title.width, title.height)
    deck.fill(title, plan.scenario.name, box, (40, 32, 28, 24, 20), bold=True)
    if layout is None:
        deck.text(slide, below, deck.box, (20, *SIZES))
    else:
        subtitle = next(p for p in slide.placeholders if int(p.placeholder_format.type) == 4)
        box = Box(subtitle.left, subtitle.top, subtitle.width, subtitle.height)
        deck.fill(subtitle, below, box, (20, *SIZES))
    notes = f"Design of a cluster that shares GPUs, made with {made}."
    slide.notes_slide.notes_text_frame.text = clean(notes + "\nSources:\nThe scenario and the catalog.")


def _demand(deck: _Deck) -> None:
    plan = deck.plan
    demanded = amount(plan.totals.gpus_demanded, "GPU")
    if not plan.groups:
        title = f"{demanded} are asked for" if plan.pools else "Nobody asks for a GPU yet"
        slide = deck.slide(title, ("demand.gpus",))
        deck.text(slide, "No group is named in the scenario.", deck.box)
        return
    title = f"{_are(len(plan.groups), 'group', 'asks', 'ask')} for {demanded} at the planned peak"
    slide = deck.slide(title, ("demand.gpus",))
    rows = [
        (g.name, MODE_NAMES[g.mode], number(g.vms), number(g.gpus_each), number(g.demand_gpus))
        for g in sorted(plan.groups, key=lambda g: -g.demand_gpus)
    ]
    deck.table(
        slide,
        ("Group", "How it reaches GPUs", "VMs", "GPUs each", "GPUs"),
        rows,
        deck.box,
        widths=(4, 3, 1.4, 1.6, 1.4),
        right=(2, 3, 4),
        about="Demand of each group",
    )


def _survived(plan: Plan) -> int:
    """Host failures in each pool after which everybody has a place again."""
    found = []
    for pool in plan.pools:
        lost = 0
        for level in pool.losses:
            if level.lost == lost + 1 and level.fits:
                lost += 1
        found.append(lost)
    return min(found, default=0)


def _design(deck: _Deck) -> None:
    plan, totals = deck.plan, deck.plan.totals
    demand = f"{amount(totals.gpus_demanded, 'GPU')} of demand"
    survived = _survived(plan)
    if totals.unplaced_vms:
        end = f"leave {counted(totals.unplaced_vms, 'VM')} without a GPU"
        end = end if totals.hosts != 1 else end.replace("leave", "leaves", 1)
    elif survived:
        verb = "survives" if totals.hosts == 1 else "survive"
        end = f"{verb} the loss of {_count(survived)}"
        end += " in each cluster" if len(plan.pools) > 1 else ""
    else:
        end = "have none to spare" if totals.hosts != 1 else "has none to spare"
    slide = deck.slide(
        f"{_are(totals.hosts, 'host', 'carries', 'carry')} {demand} and {end}",
        ("totals.hosts", "totals.gpus"),
    )
    tiles = [
        (
            "Hosts",
            number(totals.hosts),
            f"{number(totals.hosts_for_demand)} for the demand, {number(totals.hosts_for_failures)} for failure and maintenance",
        ),
        ("GPUs", number(totals.gpus), f"{number(totals.gpus_after_failure)} with {_lost(plan)}"),
        (
            "VMs not placed",
            number(totals.unplaced_vms),
            f"{number(totals.unplaced_vms_after_failure)} after the worst failure of one host",
        ),
    ]
    waiting = _waits(plan)
    if waiting is not None:
        tiles.append(("Chance to wait", waiting[0], f"in the busiest hours; {waiting[1]} with {_lost(plan)}"))
    if plan.power is not None:
        racks = f", {counted(plan.power.racks, 'rack')}" if plan.power.racks else ""
        tiles.append(
            ("Power", watts(plan.power.typical_w), f"typically; {watts(plan.power.peak_w)} at peak{racks}")
        )
    if plan.costs is not None:
        tiles.append(
            ("Net present cost", money(plan.costs.net_present, plan.costs.currency), cost_span(plan.costs))
        )
    band = int(0.75 * INCH)
    above = Box(deck.box.left, deck.box.top, deck.box.width, deck.box.height - band)
    deck.tiles(slide, tiles, above)
    kinds = "; ".join(
        f"{pool.name}: {number(pool.hosts)} x "
        + (plan.catalog.servers[pool.server].name if pool.server else "server to be chosen")
        + f" with {pool.gpus_per_host} {plan.catalog.gpus[pool.gpu].name}"
        for pool in plan.pools
    )
    below = Box(deck.box.left, above.top + above.height, deck.box.width, band)
    deck.text(slide, kinds, below, (16, 14, 12))


def _waits(plan: Plan) -> tuple[str, str] | None:
    """The chance to wait in the busiest hours, now and after a failure."""
    now, after = (plan.lines.get(f"totals.{key}") for key in ("waiting", "waiting_after_failure"))
    return None if now is None or after is None else (percent(now.value / 100), percent(after.value / 100))


def _lost(plan: Plan) -> str:
    """The loss that figures after a failure stand for."""
    return amount(hosts_lost(plan), "host") + " lost"


def _hosts(deck: _Deck) -> None:
    from gpuplan.report.diagrams import hosts_svg

    plan = deck.plan
    used = sum(pool.gpus_occupied for pool in plan.pools)
    spare = plan.totals.hosts_for_failures
    title = f"{number(used)} of {amount(plan.totals.gpus, 'GPU')} are taken at the peak"
    title += f"; {_are(spare, 'host', 'is', 'are')} spare" if spare else ""
    slide = deck.slide(title, ("totals.gpus", *(f"pools.{pool.id}.hosts" for pool in plan.pools)))
    deck.picture(slide, hosts_svg(plan), f"Hosts and who is on their GPUs: {title}", deck.box)


def _failure(deck: _Deck) -> None:
    plan, totals = deck.plan, deck.plan.totals
    lost = totals.unplaced_vms_after_failure
    if lost:
        title = f"When the worst host fails, {counted(lost, 'VM')} {'has' if lost == 1 else 'have'} no GPU"
    else:
        gone = hosts_lost(plan)
        fails = "a host fails" if gone == 1 else f"{_count(gone)} hosts fail"
        title = f"When {fails}, {amount(totals.gpus_after_failure, 'GPU')} are left"
        title += " and everybody has a place" if _survived(plan) >= gone else ""
    chosen = next((p for p in plan.postures if p.chosen), None)
    slide = deck.slide(title, ("totals.gpus_after_failure", "totals.unplaced_vms_after_failure"))
    if chosen is None:
        deck.text(slide, "The hours at risk are not worked out for this design.", deck.box)
        return
    rows = [
        (
            f"N+{p.host_failures}{' (chosen)' if p.chosen else ''}",
            number(p.hosts),
            number(p.gpus),
            hours(p.short_h),
            hours(p.exposed_h),
            "certain" if p.chance == 1 else percent(p.chance),
        )
        for p in plan.postures
    ]
    tall = deck.table(
        slide,
        (
            "Failures tolerated",
            "Hosts",
            "GPUs",
            "Short by failures, a year",
            "At risk in maintenance, a year",
            "Chance of it",
        ),
        rows,
        Box(deck.box.left, deck.box.top, deck.box.width, int(deck.box.height * 0.65)),
        widths=(2.4, 1.1, 1.1, 2.2, 2.5, 1.6),
        right=(1, 2, 3, 4, 5),
        about="Hosts and hours at risk for each number of failures tolerated",
    )
    top = deck.box.top + tall + int(0.2 * INCH)
    deck.text(
        slide,
        "Short: hours a year in which failures leave somebody without a GPU. At risk: hours of maintenance in which one more "
        "failure would; the chance that it happens in a year stands beside it.",
        Box(deck.box.left, top, deck.box.width, deck.box.top + deck.box.height - top),
        (16, 14, 12),
        colour=QUIET,
    )


def _waiting(deck: _Deck) -> None:
    from gpuplan.report.charts import waiting_svg

    waiting = _waits(deck.plan)
    if waiting is None:
        return
    now, after = waiting
    if {now, after} == {percent(0)}:
        title = "In the busiest hours nobody has to wait, not even after a failure"
    else:
        title = f"In the busiest hours {now} of the requests find too few GPUs free, {after} with {_lost(deck.plan)}"
    slide = deck.slide(title, ("totals.waiting", "totals.waiting_after_failure"))
    svg = waiting_svg(deck.plan)
    band = int(1.7 * INCH) if svg else min(deck.box.height, int(2.3 * INCH))
    tiles = [
        ("All hosts are up", now, "of the requests wait or are turned away"),
        (capital(_lost(deck.plan)), after, "of the requests wait or are turned away"),
    ]
    deck.tiles(slide, tiles, Box(deck.box.left, deck.box.top, deck.box.width, band), columns=2)
    if svg:
        top = band + int(0.15 * INCH)
        below = Box(deck.box.left, deck.box.top + top, deck.box.width, deck.box.height - top)
        deck.picture(slide, svg, "Chance to wait against the number of GPUs", below)


def _network(deck: _Deck) -> None:
    plan = deck.plan
    given, use = plan.scenario.network, plan.network
    link = f"{given.link_gbit_s:g} Gbit/s {TRANSPORT_NAMES[given.transport]}"
    rows = [
        (
            r.name,
            f"Remote GPUs: {r.workload_name}",
            share_range(r.kept_low, r.kept, r.kept_high),
            VERDICTS[r.verdict],
        )
        for r in use.remote
    ] + [
        (
            t.name,
            f"Training on {amount(t.hosts, 'host')}: {t.workload_name}",
            share_range(t.efficiency_low, t.efficiency, t.efficiency_high),
            VERDICTS[t.verdict],
        )
        for t in use.training
    ]
    weak = [row for row in rows if row[3] != VERDICTS["good"]]
    if not rows:
        title = f"No group works over the network; {link} carries data and vMotion"
    elif not plan.groups:
        title = f"{link} {'does not carry all' if weak else 'carries the'} work that was looked at"
    elif weak:
        title = f"{link} does not carry all work at full speed: {_are(len(weak), 'use', 'is', 'are')} slowed or worse"
    else:
        title = f"{link} carries what the groups do over the network"
    sources = [s for r in use.remote for s in r.sources] + [s for t in use.training for s in t.sources]
    slide = deck.slide(title, ("network.ports.shared", "network.fabric.leaves"), sources)
    top = deck.box.top
    if rows:
        top += deck.table(
            slide,
            ("Who", "Work", "Speed kept (range)", "Verdict"),
            rows,
            Box(deck.box.left, top, deck.box.width, int(0.68 * deck.box.height)),
            widths=(3, 4.2, 2.8, 1.6),
            about="What the network leaves of the speed",
        ) + int(0.2 * INCH)
    deck.points(
        slide, _fabric(plan), Box(deck.box.left, top, deck.box.width, deck.box.top + deck.box.height - top)
    )


def _fabric(plan: Plan) -> list[str]:
    fabric = plan.cabling
    if fabric is None:
        return ["Switches are not planned."]
    points = [
        f"{amount(fabric.ports.total, 'port')} for each GPU host, on {amount(fabric.adapters, 'adapter')}{'s' * (fabric.adapters != 1)}."
    ]
    if fabric.switches is None:
        return [*points, f"The switches are to be chosen: {fabric.reason.replace('_', ' ')}."]
    shape = fabric.switches.shape
    spines = f" under {shape.spines} x {fabric.switches.spine_name}" if shape.spines else ""
    points.append(
        f"{shape.leaves} x {fabric.switches.leaf_name}{spines}, oversubscription {shape.oversubscription:.2f}:1."
    )
    return [
        *points,
        *(f"{each.part} fails: {each.left}." for each in fabric.failures if each.part == "A leaf"),
    ]


def cost_series(costs: Costs) -> tuple[CostPart, ...]:
    """Parts of the cost as a chart shows them: the largest, and the others put together; they sum to what is paid."""
    ranked = sorted(costs.parts, key=lambda part: -sum(abs(value) for value in part.yearly))
    if len(ranked) <= SERIES + 1:
        return tuple(costs.parts)
    shown = {part.name for part in ranked[:SERIES]}
    others = [part for part in costs.parts if part.name not in shown]
    rest = tuple(sum(values) for values in zip(*(part.yearly for part in others), strict=True))
    return (*(part for part in costs.parts if part.name in shown), CostPart("Other parts", rest, ""))


def _cost_years(deck: _Deck, costs: Costs) -> None:
    from pptx.enum.chart import XL_CHART_TYPE

    slide = deck.slide(
        f"The design costs {money(costs.net_present, costs.currency)} net present {cost_span(costs).partition(';')[0]}",
        ("cost.net_present", "cost.years.0"),
    )
    years = ["Start", *(f"Year {year}" for year in range(1, costs.years + 1))]
    data = _chart_data(years, {part.name: part.yearly for part in cost_series(costs)})
    note = int(0.65 * INCH) if costs.excludes else 0
    box = Box(deck.box.left, deck.box.top, deck.box.width, deck.box.height - note)
    chart, _ = deck.chart(
        slide,
        XL_CHART_TYPE.COLUMN_STACKED,
        data,
        box,
        unit=costs.currency,
        most=max(map(abs, costs.cash)),
        legend=True,
        about="Cost of each part in each year",
    )
    for series, colour in zip(chart.plots[0].series, COLOURS, strict=False):
        series.format.fill.solid()
        series.format.fill.fore_color.rgb = _rgb(colour)
        series.format.line.color.rgb = _rgb("FFFFFF")
        series.invert_if_negative = False
    chart.plots[0].gap_width = 60
    if note:
        below = Box(box.left, box.top + box.height, box.width, note)
        deck.text(slide, f"Cost excludes: {'; '.join(costs.excludes)}", below, (14, 12), colour=QUIET)


def _cost_parts(deck: _Deck, costs: Costs) -> None:
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Pt

    parts = sorted(costs.parts, key=lambda part: part.total)
    if not parts:
        return
    largest = parts[-1]
    slide = deck.slide(
        f"{largest.name}: the largest part, {money(largest.total, costs.currency)} of "
        f"{money(costs.total, costs.currency)} paid over {counted(costs.years, 'year')}",
        ("cost.total", f"cost.parts.{largest.name.lower().replace(' ', '-')}"),
    )
    totals = {f"Paid over {counted(costs.years, 'year')}": [part.total for part in parts]}
    data = _chart_data([part.name for part in parts], totals)
    most = max(abs(part.total) for part in parts)
    chart, pattern = deck.chart(
        slide,
        XL_CHART_TYPE.BAR_CLUSTERED,
        data,
        deck.box,
        unit=costs.currency,
        most=most,
        legend=False,
        about="Cost of each part over all years",
    )
    plot = chart.plots[0]
    plot.gap_width = 50
    plot.has_data_labels = True
    plot.data_labels.number_format, plot.data_labels.number_format_is_linked = pattern, False
    plot.data_labels.font.size = Pt(12)
    plot.series[0].invert_if_negative = False
    plot.series[0].format.fill.solid()
    plot.series[0].format.fill.fore_color.rgb = _rgb(COLOURS[0])


def _silos(deck: _Deck) -> None:
    against = silo_costs(deck.plan)
    if against is None or len(against.groups) < 2:
        return
    currency = against.currency
    if against.saved > 0:
        title = f"Shared hosts save {money(against.saved, currency)} net present against hosts for each group alone"
    elif against.saved == 0:
        title = "Hosts for each group alone cost as much as shared ones"
    else:
        title = f"Hosts for each group alone would cost {money(-against.saved, currency)} less net present"
    slide = deck.slide(
        title,
        why="Each group is planned again with hosts of its own, at the same target, and all of them on shared hosts. A stated "
        "total and hosts already there are left aside.",
    )
    rows = [
        (silo.name, number(silo.hosts), number(silo.gpus), money(silo.net_present, currency))
        for silo in sorted(against.groups, key=lambda silo: -silo.net_present)
    ]
    rows += [
        (
            "All groups, each alone",
            number(against.hosts),
            number(against.gpus),
            money(against.net_present, currency),
        ),
        (
            "All groups, shared",
            number(against.pool_hosts),
            number(against.pool_gpus),
            money(against.pool_net_present, currency),
        ),
    ]
    note = int(0.65 * INCH) if against.excludes else 0
    deck.table(
        slide,
        ("Group", "Hosts", "GPUs", "Net present cost"),
        rows,
        Box(deck.box.left, deck.box.top, deck.box.width, deck.box.height - note),
        widths=(5, 1.5, 1.5, 3),
        right=(1, 2, 3),
        keep=2,
        about="Hosts and cost of each group alone, and of all of them on shared hosts",
    )
    if note:
        below = Box(deck.box.left, deck.box.top + deck.box.height - note, deck.box.width, note)
        deck.text(slide, f"Cost excludes: {'; '.join(against.excludes)}", below, (14, 12), colour=QUIET)


def _decisions(deck: _Deck) -> None:
    decisions = deck.plan.decisions
    if not decisions:
        return
    slides = 1 if len(decisions) <= 5 else 2
    each = -(-len(decisions) // slides)
    for at in range(slides):
        part = decisions[at * each : (at + 1) * each]
        title = f"{_are(len(decisions), 'decision', 'shapes', 'shape')} the design"
        slide = deck.slide(
            title + (f" ({at + 1} of {slides})" if slides > 1 else ""),
            sources=[s for d in part for s in d.sources],
            why="\n".join(f"({d.number}) {d.justification} {d.implication}" for d in part),
        )
        deck.table(
            slide,
            ("", "About", "Decision"),
            [(str(d.number), d.title, d.decision) for d in part],
            deck.box,
            widths=(0.8, 2.6, 8.6),
            lines=5,
            about="Design decisions",
        )


def _open(deck: _Deck, messages: Sequence[Message]) -> None:
    """What is assumed, and what is open."""
    weighty = [m for m in messages if m.level in ("stop", "warn")]
    assumed = [m for m in messages if m.code.endswith("-assumed")]
    title = (
        f"{_are(len(weighty), 'point', 'is', 'are')} open, and inputs are assumed"
        if assumed and weighty
        else f"{_are(len(weighty), 'point', 'is', 'are')} open"
        if weighty
        else "The design rests on assumptions that the customer can confirm"
        if assumed
        else "Nothing is open, and no input is assumed"
    )
    slide = deck.slide(
        title,
        sources=[s for m in messages for s in m.sources],
        why="\n".join(m.text for m in messages if not m.change),
    )
    items = [m.text for m in (*weighty, *assumed)]
    if deck.plan.costs is not None and deck.plan.costs.excludes:
        items.append(f"The cost excludes: {'; '.join(deck.plan.costs.excludes)}.")
    deck.points(slide, items or ["Every input is stated."], deck.box)


def _next(deck: _Deck, messages: Sequence[Message]) -> None:
    """What to ask and to do next."""
    asked: dict[str, list[str]] = {}
    for message in messages:
        if change := what_to_do(message):
            asked.setdefault(change, []).append(message.text.rstrip("."))
    changes = [
        f"{change} ({texts[0]}{f'; and {len(texts) - 1} more like it' if len(texts) > 1 else ''})"
        for change, texts in asked.items()
    ]
    if changes:
        title = f"{_are(len(changes), 'step', 'is', 'are')} next"
    else:
        title = "The next step is a quote"
    slide = deck.slide(
        title,
        sources=[s for m in messages for s in m.sources],
        why="\n".join(f"{m.text} {what_to_do(m)}".strip() for m in messages if m.change),
    )
    deck.points(slide, changes or ["Ask for quotes, and confirm the design."], deck.box)
