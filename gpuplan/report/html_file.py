"""The design document as one HTML file: for the screen and for print, without scripts or requests.

The file is the template ``templates/document.html.j2``; this module says how texts are written in it.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import fields
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from gpuplan.locales import speaking
from gpuplan.report.brand import PLAIN, Brand
from gpuplan.report.document import FILLED, Document, clean
from gpuplan.wording import said

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

LONGEST_WORD = 24
"""Characters of a word that stay on one line; a longer one may be broken, so that no table grows beyond the page."""
SHORT = 12
"""Characters of a cell at the right that are never wrapped."""
LINK = re.compile(r"</?a\b[^>]*>")
"""Where a link begins or ends."""
PAGE = '<div class="page">'
_BREAKS = re.compile(rf"[^\s]{{{LONGEST_WORD + 1},}}")
_PIECES = re.compile(rf"[^-/_.,;:=&?]{{1,{LONGEST_WORD}}}[-/_.,;:=&?]*|[-/_.,;:=&?]+")


def html_text(document: Document, *, brand: Brand = PLAIN) -> str:
    """A design document as one self-contained HTML file: style and figures are inside, nothing runs or is requested."""
    shown = {field.name: getattr(document, field.name) for field in fields(document)}
    named = document.title + (f" for {document.customer}" if document.customer else "")
    logo = {"logo": b64encode(brand.logo).decode(), "logo_kind": brand.logo_kind}
    foot = "  \u00b7  ".join(filter(None, (brand.footer, document.title)))
    with speaking(document.locale):
        template = templates().get_template("document.html.j2")
        return template.render(shown, **logo, brand=brand, foot=foot, named=named, short_cell=SHORT)


def first_pages(page: str) -> str:
    """Front page, document control and contents of a document, without links, as no chapter is there.

    They take the focus as a whole, so that they can be scrolled with keys where they are shown in a frame.
    """
    front = LINK.sub("", page.partition("<main>")[0])
    reached = front.replace(PAGE, f'{PAGE[:-1]} role="region" aria-label="First pages" tabindex="0">', 1)
    return reached + "</div>\n</body>\n</html>\n"


@cache  # reading the template takes 0.1 s
def templates() -> Environment:
    """Where pages come from, and how texts are written in them."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("gpuplan.report"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {
        "base64": lambda text: b64encode(clean(text).encode()).decode(),
        "css": _in_css,
        "kind": lambda block: type(block).__name__,
        "plain": _plain,
        "text": _text,
    }
    found.globals["words"] = said
    return found


def _plain(text: str) -> Markup:
    """Text for an attribute or a title."""
    from markupsafe import Markup

    return Markup(escape(clean(text)))


def _text(text: str) -> Markup:
    """Text that is shown, with places where long words may be broken, and what is filled in later marked."""
    from markupsafe import Markup

    parts = (part for part in FILLED.split(clean(text)) if part)
    return Markup(
        "".join(f"<i>{_broken(part)}</i>" if FILLED.fullmatch(part) else _broken(part) for part in parts)
    )


def _broken(cleaned: str) -> str:
    """Escaped text with places where long words may be broken."""
    found, at = [], 0
    for word in _BREAKS.finditer(cleaned):
        found.append(escape(cleaned[at : word.start()]))
        found.append("<wbr>".join(escape(piece) for piece in _PIECES.findall(word.group())))
        at = word.end()
    return "".join([*found, escape(cleaned[at:])])


def _in_css(text: str) -> str:
    """Text for between the quotes of a style, short enough for the foot of a page."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\{ord(c):x} " for c in clean(text)[:90])
