"""Texts as files can hold them."""

from __future__ import annotations

import re

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that XML or HTML cannot hold."""
FILLED = re.compile("(\u2039[^\u203a]*\u203a)")
"""Placeholders that the customer or the delivery team fills in."""


def clean(text: str) -> str:
    """The text without the characters that files cannot hold."""
    return FORBIDDEN.sub("", text)


def one_line(text: str) -> str:
    """The text on one line, without the characters that XML cannot hold; spaces that do not break stay."""
    return re.sub("[ \t\r\n]+", " ", clean(text)).strip()
