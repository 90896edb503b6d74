"""Texts as files can hold them, and files from templates: how texts are written in HTML and in shapes of slides."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from gpuplan.locales import SPOKEN
from gpuplan.wording import said

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that XML or HTML cannot hold."""
FILLED = re.compile("(\u2039[^\u203a]*\u203a)")
"""Placeholders that the customer or the delivery team fills in."""
LONGEST_WORD = 24
"""Characters of a word that stay on one line; a longer one may be broken, so that no table grows beyond the page."""
_BREAKS = re.compile(rf"[^\s]{{{LONGEST_WORD + 1},}}")
_PIECES = re.compile(rf"[^-/_.,;:=&?]{{1,{LONGEST_WORD}}}[-/_.,;:=&?]*|[-/_.,;:=&?]+")


def clean(text: str) -> str:
    """The text without the characters that files cannot hold."""
    return FORBIDDEN.sub("", text)


def one_line(text: str) -> str:
    """The text on one line, without the characters that XML cannot hold; spaces that do not break stay."""
    return re.sub("[ \t\r\n]+", " ", clean(text)).strip()


def environment(kind: str, **more: Any) -> Environment:
    """The templates of a kind of file, in which a name that is not given is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("gpuplan.deliver", f"{kind}/templates")
    return Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **more)


def language() -> str:
    """The language of the texts, in the form of the country whose numbers they have where it is the same one."""
    texts, numbers = said("wording.language"), SPOKEN.get().id
    return numbers if numbers[:2] == texts[:2] else texts


@cache  # reading the template takes 0.1 s
def templates(kind: str) -> Environment:
    """The templates of a kind of file, and how texts are written in them."""
    filled = environment(kind, autoescape=True, keep_trailing_newline=True)
    filled.filters |= {"css": _in_css, "plain": _plain, "text": _text, "kind": lambda of: type(of).__name__}
    filled.filters["base64"] = lambda text: b64encode(clean(text).encode()).decode()
    filled.globals |= {"words": said, "language": language}
    return filled


def _plain(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(escape(clean(text)))


def _text(text: str) -> Markup:
    """Text that is shown, with places where long words may be broken, and what is filled in later marked."""
    from markupsafe import Markup

    parts = (part for part in FILLED.split(clean(text)) if part)
    broken = (f"<i>{_broken(part)}</i>" if FILLED.fullmatch(part) else _broken(part) for part in parts)
    return Markup("".join(broken))


def _broken(cleaned: str) -> str:
    parts, at = [], 0
    for word in _BREAKS.finditer(cleaned):
        parts.append(escape(cleaned[at : word.start()]))
        parts.append("<wbr>".join(escape(piece) for piece in _PIECES.findall(word.group())))
        at = word.end()
    return "".join([*parts, escape(cleaned[at:])])


def _in_css(text: str) -> str:
    """Text for between the quotes of a style, short enough for the foot of a page."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\{ord(c):x} " for c in clean(text)[:90])
