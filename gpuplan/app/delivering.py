"""Delivering: the files of a design made in a process of its own, so that no session carries their libraries.

They come back through the output of that process, not through a folder: nothing is left when a page closes meanwhile.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import NamedTuple

from gpuplan.app.background import Runner
from gpuplan.app.uploading import Template
from gpuplan.report import KINDS, file_stem, zipped
from gpuplan.scenario import Scenario


class Order(NamedTuple):
    """A request: one kind of file of a design, or all of them with an empty ``kind``."""

    scenario: Scenario
    kind: str
    internal: bool
    """Whether they are for ourselves, with internal notes and margin."""
    beside: tuple[Scenario, ...] = ()
    """Designs that it is compared with."""


class Delivering:
    """Files made for the browser to keep, one order after the other; ``on_change`` is called when there is something to show."""

    def __init__(self, on_change: Callable[[], None], folder: str = "") -> None:
        self.runner = Runner(self._changed, folder)
        self.templates = {kind: Template(on_change, kind) for kind in ("docx", "pptx")}
        self.order: Order | None = None
        """What is being made or was made last."""
        self._waiting: list[Order] = []
        self._on_change = on_change
        self._ready: list[tuple[str, bytes]] = []

    def start(
        self,
        scenario: Scenario,
        kind: str = "",
        *,
        internal: bool = False,
        beside: tuple[Scenario, ...] = (),
    ) -> None:
        """Make one kind of file of a design, or all; what is being made already is finished first."""
        order = Order(scenario, kind if kind in KINDS else "", internal, beside)
        if self.runner.state != "running":
            self._make(order)
        elif order != self.order and order not in self._waiting:
            self._waiting.append(order)

    def cancel(self) -> None:
        """Make nothing of it, nor of what waits."""
        self._waiting, self._ready = [], []
        self.runner.cancel()

    def cancel_internal(self) -> None:
        """Make nothing for ourselves any more; what is for the customer is made."""
        self._waiting = [order for order in self._waiting if not order.internal]
        if self.order and self.order.internal and self.runner.state == "running":
            self.runner.cancel()
            if self._waiting:
                self._make(self._waiting.pop(0))

    def take(self) -> tuple[str, bytes] | None:
        """Name and content of what is ready, once."""
        return self._ready.pop(0) if self._ready else None

    def _make(self, order: Order) -> None:
        self.order = order
        arguments = ["report", "-", "--to", "-", "--progress"]
        arguments += ["--only", order.kind] if order.kind else []
        arguments += ["--internal"] if order.internal else []
        for kind, template in self.templates.items():
            arguments += [f"--{kind}-template", str(template.kept)] if template.used else []
        self.runner.start_on((order.scenario, *order.beside), *arguments)

    def _changed(self) -> None:
        if self.runner.state == "done" and self.runner.found and self.order:
            made = self.runner.found.pop()["files"]
            files = {name: base64.b64decode(content) for name, content in made.items()}
            if len(files) == 1:
                self._ready.append(next(iter(files.items())))
            else:
                stem = file_stem(self.order.scenario.name) + "-internal" * self.order.internal
                suffix = f"-{self.order.kind}" if self.order.kind else ""
                self._ready.append((f"{stem}{suffix}.zip", zipped(files)))
        self._on_change()
        if self._waiting and self.runner.state in ("done", "failed"):
            self._make(self._waiting.pop(0))
