"""What a cell keeps of widgets for pages where none lives: words, tables and pictures, hidden where the widgets show themselves."""

from collections.abc import Iterator
from html import escape
from typing import Any, NamedTuple

import ipywidgets

VIEW = "application/vnd.jupyter.widget-view+json"
LIVE = "gp-live"
"""Class of a widget on a page; saved outputs after it are hidden by `HIDES`."""
HIDES = (
    f"<style>.jp-OutputArea:has(.{LIVE}) > .jp-OutputArea-child:is(:has(.gp-kept), :has(.gp-kept) + :has(> .jp-RenderedImage))"
    " {display: none !important}</style>"
)
"""Style of a cell, which wins over that of any page around it."""


class Output(NamedTuple):
    """An output of a cell."""

    data: dict[str, Any]
    """Format -> content."""
    about: dict[str, Any]
    """Format -> how it is shown."""


def words(html: str, text: str) -> Output:
    """Return an output of plain HTML, and its text."""
    return Output({"text/html": html, "text/plain": text}, {})


class Kept(ipywidgets.DOMWidget):  # type: ignore[misc]
    """A widget whose cell keeps more than its view, which needs a kernel or the internet: see ``kept``."""

    def kept(self) -> list[Output]:
        """Return the outputs for pages without live widgets; a picture comes after the words about it."""
        return list(_kept(self))

    def _ipython_display_(self) -> None:
        from IPython import display

        show: Any = display.display
        self.add_class(LIVE)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        show({VIEW: view, "text/plain": ""}, raw=True)
        for data, about in self.kept():
            if html := data.get("text/html"):
                data = data | {"text/html": f'{HIDES}<div class="gp-kept">{html}</div>'}
            show(data, metadata=about, raw=True)


def _kept(widget: ipywidgets.Widget) -> Iterator[Output]:
    """Yield what stands for a widget: its own outputs, those of the widgets in it, or its name and value."""
    if isinstance(widget, Kept) and type(widget).kept is not Kept.kept:
        yield from widget.kept()
    elif isinstance(widget, ipywidgets.HTML):
        yield words(str(widget.value), "")
    elif isinstance(widget, ipywidgets.Box):
        for child in widget.children:
            yield from _kept(child)
    elif name := getattr(widget, "description", ""):
        value = getattr(widget, "label", None) or getattr(widget, "value", "")
        yield words(f"<p>{escape(str(name))}: <strong>{escape(str(value))}</strong></p>", f"{name}: {value}")


class HBox(Kept, ipywidgets.HBox):  # type: ignore[misc]
    """Widgets beside each other; its cell keeps the pictures and tables of those in it."""


class VBox(Kept, ipywidgets.VBox):  # type: ignore[misc]
    """Widgets below each other; its cell keeps the pictures and tables of those in it."""
