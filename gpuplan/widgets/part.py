"""A part of the screen: its JavaScript file in ``static`` draws plain data and sends events back."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import traitlets

STATIC = Path(__file__).parent / "static"
OnEvent = Callable[[str, Mapping[str, Any]], None]
"""Takes an event of the browser: its type and its content."""


STYLES = ("app.css", "notebook.css")
_collected: list[dict[str, dict[str, Any]]] = []
"""Model -> part of its state to send, for each ``together`` that is open."""


class Sent(anywidget.AnyWidget):
    """A widget whose changes go to the browser in one message with other widgets' changes, see ``together``."""

    changing: tuple[str, ...]
    """Names of its state that change after it was made."""

    def send_state(self, key: str | Iterable[str] | None = None) -> None:
        """Send the state, or have it sent with the state of others."""
        if _collected and self.comm is not None:  # it has none while it is made
            _collected[-1].setdefault(self.model_id, {}).update(self.get_state(key))
        else:
            super().send_state(key)

    def send_again(self) -> None:
        """Send the state that the browser may not have got."""
        self.send_state(self.changing)

    def hear(self, on_event: OnEvent) -> None:
        """Pass on what happens in the browser."""
        self._on_event = on_event
        self.on_msg(self._receive)

    def _receive(self, _widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, Mapping) and isinstance(content.get("type"), str):
            self._on_event(content["type"], {**content, "buffer": buffers[0] if buffers else b""})


class Part(Sent):
    """A part of the screen, drawn by its JavaScript file from ``data``; made by ``make_part``."""

    changing = ("data",)
    data = traitlets.Dict().tag(sync=True)

    def __init__(self, on_event: OnEvent) -> None:
        super().__init__()
        self.hear(on_event)

    def show(self, data: Mapping[str, Any]) -> None:
        """Draw new data; nothing is sent if nothing changed."""
        if data != self.data:
            self.data = dict(data)


@contextlib.contextmanager
def together(carrier: Part) -> Iterator[None]:
    """Send the changes made meanwhile in one message, by the strip, which gives each widget its own (``strip.js``)."""
    _collected.append({})
    try:
        yield
    finally:
        if states := _collected.pop():
            carrier.send({"type": "states", "states": states})


@cache
def _part_class(name: str, styled: bool) -> type[Part]:
    files = [(STATIC / file).read_text(encoding="utf-8") for file in ("common.js", f"{name}.js")]
    styles = [(STATIC / file).read_text(encoding="utf-8") for file in STYLES if styled]
    style = {"_css": "".join(styles)} if styled else {}
    return type(f"Part_{name}", (Part,), {"_esm": "".join(files), **style})


def make_part(name: str, on_event: OnEvent, styled: bool = False) -> Part:
    """Return the part that ``static/NAME.js`` draws; one part of a page brings the style of the whole app."""
    part = _part_class(name, styled)(on_event)
    part.add_class("gp-part")
    part.add_class(f"gp-part-{name}")
    return part
