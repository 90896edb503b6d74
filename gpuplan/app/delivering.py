"""Delivering: the files of a design, made in a process of its own, which prints them and leaves none behind."""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gpuplan.app.background import Runner
from gpuplan.app.uploading import Dress
from gpuplan.deliver import KINDS, file_stem, kinds_made_here, zipped
from gpuplan.deliver.document.html_file import first_pages
from gpuplan.scenario import Scenario

DRESS = {"docx": "--docx-template", "pptx": "--pptx-template", "brand": "--brand"}
"""Template or brand that the user can upload -> its option of the command."""
COMPARING = ("html", "docx", "brief", "pptx", "pdf", "xlsx")


class Order(NamedTuple):
    """A request: one kind of file of a design, or all of them with an empty ``kind``."""

    scenario: Scenario
    kind: str
    internal: bool
    beside: tuple[Scenario, ...] = ()
    solution: Mapping[str, Any] | None = None
    """The best design within the limits, as ``gpuplan solve`` found it."""


class Source(NamedTuple):
    """Source of a file: the same source gives the same file."""

    scenario: Scenario
    beside: tuple[Scenario, ...]
    solution: Mapping[str, Any] | None
    turns: tuple[int, ...]
    """Version of template and brand, see `Dress.turn`."""


class Preview(NamedTuple):
    """The first pages of a document, as HTML."""

    internal: bool
    source: Source
    page: str


class Delivering:
    """Files made for the browser to keep, one order after the other; ``on_change`` is called when there is something to show."""

    def __init__(self, on_change: Callable[[], None], folder: str = "") -> None:
        self.runner = Runner(self._changed, folder)
        self.templates = {kind: Dress(on_change, kind) for kind in DRESS}
        self.made: dict[tuple[str, bool], Source] = {}
        """Kind of file, and whether it is internal -> source of the last one."""
        self.previewer = Runner(self._previewed, folder)
        self.preview: Preview | None = None
        self.order: Order | None = None
        self._waiting: list[Order] = []
        self._on_change = on_change
        self._ready: list[tuple[str, bytes]] = []
        self._sources: dict[tuple[str, bool], Source] = {}
        self._previewing: tuple[bool, Source] | None = None
        """Kind of the preview that was ordered last (True if internal), and its source."""

    def start(self, scenario: Scenario, kind: str = "", *, internal: bool = False, **more: Any) -> None:
        """Make one kind of file of a design, or all, with ``more`` of an `Order`; an order in progress is finished first."""
        order = Order(scenario, kind if kind in KINDS else "", internal, **more)
        if not self.runner.busy:
            self._make(order)
        elif order != self.order and order not in self._waiting:
            self._waiting.append(order)

    def cancel(self) -> None:
        self._waiting, self._ready = [], []
        self.runner.cancel()

    def cancel_internal(self) -> None:
        """Cancel internal files; files for the customer are still made."""
        self._waiting = [order for order in self._waiting if not order.internal]
        if self.order and self.order.internal and self.runner.busy:
            self.runner.cancel()
            if self._waiting:
                self._make(self._waiting.pop(0))

    def keep_previewed(self, order: Order) -> None:
        """Make the preview of an order once nothing changes; never twice the same, as it may have failed."""
        if self._previewing != (order.internal, self.source(order, "html")):
            self._previewing = order.internal, self.source(order, "html")
            self.previewer.once_quiet(lambda: self.start_preview(order))

    def start_preview(self, order: Order) -> None:
        self._previewing = order.internal, self.source(order, "html")
        self._run(self.previewer, order)

    def forget_preview(self) -> None:
        self.previewer.clear()
        self.preview = self._previewing = None

    def forget(self) -> None:
        """Forget all files made and ordered, the templates, and a brand that is not set as the firm's: they belong to another design."""
        self.cancel()
        self.runner.clear()
        self.forget_preview()
        self.made, self._sources, self.order = {}, {}, None
        for dress in self.templates.values():
            if dress.used and not dress.firm:
                dress.remove()

    def source(self, order: Order, kind: str) -> Source:
        """Return the source of a file of a kind if it is ordered now."""
        turns = tuple(
            dress.turn for name, dress in self.templates.items() if name in (kind, "brand") or kind == "pdf"
        )
        beside, solution = (order.beside, order.solution) if kind in COMPARING else ((), None)
        return Source(order.scenario, beside, solution, turns)

    def offer(self, name: str, content: bytes) -> None:
        """Give the browser a file that is made already."""
        self._ready.append((name, content))
        self._on_change()

    def take(self) -> tuple[str, bytes] | None:
        return self._ready.pop(0) if self._ready else None

    def _make(self, order: Order) -> None:
        self.order = order
        kinds = [order.kind] if order.kind else kinds_made_here()
        self._sources = {(kind, order.internal): self.source(order, kind) for kind in kinds}
        self._run(self.runner, order)

    def _run(self, runner: Runner, order: Order) -> None:
        last = json.dumps(order.solution) if order.solution else ""
        runner.start_on((order.scenario, *order.beside), *self._arguments(order), last=last)

    def _arguments(self, order: Order) -> list[str]:
        arguments = ["report", "-", "--to", "-", "--progress"]
        arguments += ["--only", order.kind] if order.kind else []
        arguments += ["--internal"] if order.internal else []
        arguments += ["--solution", "-"] if order.solution else []
        for name, dress in self.templates.items():
            arguments += [DRESS[name], str(dress.kept)] if dress.used else []
        return arguments

    def _previewed(self) -> None:
        if self.previewer.state == "done" and self.previewer.found and self._previewing:
            (page,) = self.previewer.found.pop()["files"].values()
            self.preview = Preview(*self._previewing, first_pages(base64.b64decode(page).decode()))
        self._on_change()

    def _changed(self) -> None:
        if self.runner.state == "done" and self.runner.found and self.order:
            self.made |= self._sources
            encoded = self.runner.found.pop()["files"]
            files = {name: base64.b64decode(content) for name, content in encoded.items()}
            if len(files) == 1:
                self._ready.append(next(iter(files.items())))
            else:
                stem = file_stem(self.order.scenario.name) + "-internal" * self.order.internal
                suffix = f"-{self.order.kind}" if self.order.kind else ""
                self._ready.append((f"{stem}{suffix}.zip", zipped(files)))
        self._on_change()
        if self._waiting and self.runner.state in ("done", "failed"):
            self._make(self._waiting.pop(0))
