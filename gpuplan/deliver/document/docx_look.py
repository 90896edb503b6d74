"""The look of the Word file: its page, styles and numbered headings, or those of a user's template."""

from typing import Any, NamedTuple

from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor

from gpuplan.deliver.brand import Brand
from gpuplan.deliver.html import templates
from gpuplan.deliver.template import LOOKS

OWN_STYLES = {
    "lead": "gpuplan lead",
    "note": "gpuplan note",
    "cell": "gpuplan table",
    "small": "gpuplan small table",
    "reference": "gpuplan reference",
}
PAPERS = {"": (210, 297), "a4": (210, 297), "letter": (215.9, 279.4)}
"""Paper -> its width and height in mm; A4 where none is chosen."""


class _Look(NamedTuple):
    """The look of a style, with sizes in points; spacing and weight are as they were where none is stated."""

    size: float
    colour: str
    before: float
    after: float
    spacing: float | None = None
    bold: bool | None = None

    def give(self, style: Any) -> None:
        """Give a style this look."""
        style.font.size, form = Pt(self.size), style.paragraph_format
        if self.colour:
            style.font.color.rgb = RGBColor.from_string(self.colour)
        if self.bold is not None:
            style.font.bold = self.bold
        form.space_before, form.space_after = Pt(self.before), Pt(self.after)
        form.line_spacing = self.spacing


def filled(template: str, **given: object) -> str:
    """Fill a template of the Word file."""
    return templates("document").get_template(template).render(given)


def dress(word: Any, brand: Brand, paper: str) -> None:
    """Give the usual file its page, styles and numbered headings."""
    section = word.sections[0]
    section.page_width, section.page_height = map(Mm, PAPERS[paper])
    section.left_margin = section.right_margin = Mm(22)
    section.top_margin, section.bottom_margin = Mm(20), Mm(20)
    looks = {
        "Normal": _Look(10, brand.ink, 0, 5, 1.08),
        "Title": _Look(22, brand.accent, 0, 2, 1.0),
        "Subtitle": _Look(10, brand.quiet, 0, 8, 1.08),
        "Heading 1": _Look(18, brand.accent, 22, 8, 1.08),
        "Heading 2": _Look(13, brand.accent, 14, 4, 1.08),
        "Caption": _Look(9, brand.quiet, 6, 3, 1.08),
        "List Bullet": _Look(10, brand.ink, 0, 3, 1.08),
    }
    for name, look in looks.items():
        style = word.styles[name]
        look.give(style)
        heads = name.startswith(("Title", "Heading"))
        style.font.name, style.font.italic = brand.headings if heads else brand.text, False
        for theme in ("asciiTheme", "hAnsiTheme"):
            style.element.rPr.rFonts.attrib.pop(qn(f"w:{theme}"), None)
        for border in style.element.iter(qn("w:pBdr")):
            border.getparent().remove(border)
    _numbered_headings(word)


def _numbered_headings(word: Any) -> None:
    numbering, styles = word.part.numbering_part.element, word.styles
    taken = [int(a.get(qn("w:abstractNumId"))) for a in numbering.iter(qn("w:abstractNum"))]
    identity = max(taken, default=0) + 1
    headings = [styles[f"Heading {level}"] for level in (1, 2)]
    level_styles = [heading.style_id for heading in headings]
    numbers = filled("numbering.xml.j2", identity=identity, styles=level_styles)
    numbering.find(qn("w:num")).addprevious(parse_xml(numbers))
    number = numbering.add_num(identity).numId
    for level, heading in enumerate(headings):
        properties = heading.element.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_ilvl().val = level
        properties.get_or_add_numId().val = number
    styles["TOC Heading"].element.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = 0


def add_styles(word: Any, brand: Brand, *, own: bool) -> None:
    """Add the styles that a template lacks; those that it has stay as they are."""
    present = {style.name for style in word.styles}
    looks = {
        "lead": _Look(12, brand.ink, 0, 6, None, True),
        "note": _Look(9, brand.quiet, 0, 6, None),
        "cell": _Look(9, "", 0, 0, 1.0),
        "small": _Look(8.5, "", 0, 0, 1.0),
        "reference": _Look(8, brand.ink, 0, 2, 1.0),
    }
    for name, look in looks.items():
        if OWN_STYLES[name] not in present:
            style = word.styles.add_style(OWN_STYLES[name], WD_STYLE_TYPE.PARAGRAPH)
            style.base_style = word.styles.default(WD_STYLE_TYPE.PARAGRAPH)
            look.give(style)
    if own:
        for level, look in enumerate((_Look(10, "", 3, 1, 1.0, True), _Look(9, "", 0, 1, 1.0, False)), 1):
            style = word.styles.add_style(f"toc {level}", WD_STYLE_TYPE.PARAGRAPH, builtin=True)
            style.base_style = word.styles["Normal"]
            form = style.paragraph_format
            form.left_indent, form.line_spacing = Pt(18 * (level - 1)), 1.0
            look.give(style)
    for language in word.styles.element.iter(qn("w:lang")):
        language.set(qn("w:val"), "en-GB")


def emptied(word: Any) -> None:
    """Remove the body text of a template; its page, headers and footers stay."""
    body, sections = word.element.body, [section._sectPr for section in word.sections]
    for child in list(word.element):
        if child is not body:
            word.element.remove(child)  # the page background, which refers to a picture
    last = sections[-1]
    for section in reversed(sections[:-1]):
        present = {reference.get(qn("w:type")) + reference.tag for reference in references(last)}
        for reference in reversed(references(section)):
            if reference.get(qn("w:type")) + reference.tag not in present:
                last.insert(0, reference)
    for child in [child for child in body if child is not last] + last.findall(qn("w:printerSettings")):
        child.getparent().remove(child)
    for key, relation in list(word.part.rels.items()):
        if relation.reltype.rpartition("/")[2] not in LOOKS:
            del word.part.rels[key]


def references(section: Any) -> list[Any]:
    """The headers and footers that a section refers to."""
    return [child for child in section if child.tag in (qn("w:headerReference"), qn("w:footerReference"))]
