"""A part of the screen: its JavaScript file in ``static`` draws plain data and sends events back."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from ipywidgets import Dropdown, FloatSlider

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


INPUTS = ("selects", "inputs", "sliders")
"""Keys of data that list menus and sliders, which are made by ipywidgets and placed by ``slot`` in ``common.js``."""
MOST = 12
"""Options up to which a menu is a ``Dropdown``; more are searched in a field."""


class Part(Sent):
    """A part of the screen, drawn by its JavaScript file from ``data``; made by ``make_part``."""

    changing = ("data",)
    data = traitlets.Dict().tag(sync=True)

    def __init__(self, on_event: OnEvent) -> None:
        super().__init__()
        self._inputs: dict[tuple[Any, ...], Dropdown | FloatSlider] = {}
        self._pass_on = on_event
        self.hear(self._heard)

    def show(self, data: Mapping[str, Any]) -> None:
        """Draw new data; nothing is sent if nothing changed."""
        data = {**data, **{key: [*map(self._placed, data[key])] for key in INPUTS if key in data}}
        if data != self.data:
            self.data = data

    def send_again(self) -> None:
        """Send the state of this part and of its inputs."""
        super().send_again()
        for made in self._inputs.values():
            made.send_state()

    def _placed(self, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data of an input with the id of its widget; a text, a long list and a slider with one place have none."""
        low, high, step = spec.get("range", (0, 0, 0))
        options = [(option["value"], option["text"]) for option in spec.get("options", ())]
        if low == high and not 0 < len(options) <= MOST:
            return spec
        made = self._inputs.get(key := (spec["what"], low, high))
        if made is None:
            ends = {"min": low, "max": high, "step": step, "readout": False}
            made = FloatSlider(**ends) if options == [] else Dropdown(description=spec["label"])
            self._inputs[key] = made
        with made.hold_sync():
            if options:
                values, made.options = zip(*options, strict=True)
                made.index = values.index(spec["value"]) if spec["value"] in values else None
            else:
                made.value = spec["at"]
        return {**spec, "input": made.model_id}

    def _heard(self, kind: str, content: Mapping[str, Any]) -> None:
        """Take over what the browser shows of an input, without an answer, as the hand may be further already."""
        for made in self._inputs.values():
            if made.model_id == content.get("input"):
                name = "index" if isinstance(made, Dropdown) else "value"
                with (
                    contextlib.suppress(traitlets.TraitError),
                    made._lock_property(**{name: content.get("held")}),
                ):
                    setattr(made, name, content.get("held"))
        self._pass_on(kind, content)


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
