"""Replacements for widgets on a page without live ones, such as ``nbconvert``'s: pictures and tables of a box."""

from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets

from gpuplan.widgets.chart import with_more

PICTURES = ("text/html", "image/svg+xml")
"""Formats in which a widget shows itself beside its view."""


def bundle_of(box: ipywidgets.Box, **which: Any) -> Any:
    """Return the saved output of a box: its view, and replacements for its widgets if one of them has a picture."""
    shown = box._repr_mimebundle_(**which)
    drawn, has_picture = ("", False) if _gives_its_own(box) else _drawn(box)
    return with_more(shown, {"text/html": drawn}) if has_picture else shown


def _gives_its_own(widget: Any) -> bool:
    """True if a widget defines its own saved output, as those of ipywidgets do not."""
    return type(widget)._repr_mimebundle_ is not ipywidgets.Widget._repr_mimebundle_


def _drawn(widget: Any) -> tuple[str, bool]:
    """Return (a widget as plain HTML: its picture, its children, or its name and value; whether it has a picture)."""
    if _gives_its_own(widget):
        shown = widget._repr_mimebundle_()
        data = shown[0] if isinstance(shown, tuple) else shown or {}
        picture = next((str(data[kind]) for kind in PICTURES if kind in data), "")
        return picture, bool(picture)
    if isinstance(widget, ipywidgets.HTML):
        return str(widget.value), False
    if isinstance(widget, ipywidgets.Box):
        row = isinstance(widget, ipywidgets.HBox)
        flow, share = ("row wrap", "flex:1 1 20rem;min-width:0") if row else ("column", "")
        children = [_drawn(child) for child in widget.children]
        inner = "".join(f'<div style="{share}">{html}</div>' for html, _ in children if html)
        box = f'<div style="display:flex;flex-flow:{flow};gap:.5rem 1.5rem">{inner}</div>'
        return box, any(pictured for _, pictured in children)
    value = getattr(widget, "label", None) or getattr(widget, "value", "")
    said = getattr(widget, "description", "")
    return (f"<div>{escape(str(said))}: <strong>{escape(str(value))}</strong></div>" if said else ""), False
