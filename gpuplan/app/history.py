"""The history of a workbook: designs that undo and redo return to, and a description of each change."""

from __future__ import annotations

from gpuplan.app.changes import change_words
from gpuplan.app.fragments import Link, scenario_of
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario

MOST = 200
"""Most designs that undo returns to."""
MOST_READ = 8
"""Most designs of the history that are also kept as scenarios."""


class History:
    """Designs before and after the current one; on each side the last is the first to return to."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.past: list[Link] = []
        """Designs that undo returns to."""
        self.future: list[Link] = []
        """Designs that redo returns to."""
        self._read: dict[str, Scenario] = {}

    def took(self, link: Link, scenario: Scenario) -> None:
        """Record a change to this design: from now on undo returns to it."""
        self.past = [*self.past[-MOST:], link]
        self.future = []
        self.remember(link, scenario)

    def remember(self, link: Link, scenario: Scenario) -> None:
        """Keep a design that will soon be needed, so that its text need not be read."""
        self._read = dict([*self._read.items()][-MOST_READ:]) | {link.id: scenario}

    def scenario(self, link: Link) -> Scenario:
        """Return the design of a link; raise ValueError if it is damaged."""
        if link.id not in self._read:
            self.remember(link, scenario_of(link.fragment))
        return self._read[link.id]

    def undo_words(self, now: Scenario, unsaid: tuple[str, ...] = ()) -> str:
        """Describe the change that undo takes back, without some sections; empty if there is none that can be read."""
        return self._words(self.past, now, unsaid, back=True)

    def redo_words(self, now: Scenario, unsaid: tuple[str, ...] = ()) -> str:
        """Describe the change that redo brings back."""
        return self._words(self.future, now, unsaid, back=False)

    def _words(self, there: list[Link], now: Scenario, unsaid: tuple[str, ...], back: bool) -> str:
        try:
            other = self.scenario(there[-1]) if there else None
        except ValueError:
            other = None
        if other is None:
            return ""
        old, new = (other, now) if back else (now, other)
        return change_words(old, new, self._catalog, unsaid)
