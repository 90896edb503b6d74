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

from gpuplan.locales import speaking, written_day
from gpuplan.report.document import Document, clean

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

LONGEST_WORD = 24
"""Characters of a word that stay on one line; a longer one may be broken, so that no table grows beyond the page."""
SHORT = 12
"""Characters of a cell at the right that are never wrapped."""
_BREAKS = re.compile(rf"[^\s]{{{LONGEST_WORD + 1},}}")
_PIECES = re.compile(rf"[^-/_.,;:=&?]{{1,{LONGEST_WORD}}}[-/_.,;:=&?]*|[-/_.,;:=&?]+")


def html_text(document: Document) -> str:
    """A design document as one self-contained HTML file: style and figures are inside, nothing runs or is requested."""
    shown = {field.name: getattr(document, field.name) for field in fields(document)}
    named = document.title + (f" for {document.customer}" if document.customer else "")
    with speaking(document.locale):
        shown["day"] = written_day(document.as_of)
    return _templates().get_template("document.html.j2").render(shown, named=named, short_cell=SHORT)


@cache  # reading the template takes 0.1 s
def _templates() -> Environment:
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
    return found


def _plain(text: str) -> Markup:
    """Text for an attribute or a title."""
    from markupsafe import Markup

    return Markup(escape(clean(text)))


def _text(text: str) -> Markup:
    """Text that is shown, with places where long words may be broken."""
    from markupsafe import Markup

    found, at = [], 0
    cleaned = clean(text)
    for word in _BREAKS.finditer(cleaned):
        found.append(escape(cleaned[at : word.start()]))
        found.append("<wbr>".join(escape(piece) for piece in _PIECES.findall(word.group())))
        at = word.end()
    return Markup("".join([*found, escape(cleaned[at:])]))


def _in_css(text: str) -> str:
    """Text for between the quotes of a style, short enough for the foot of a page."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\{ord(c):x} " for c in clean(text)[:90])
