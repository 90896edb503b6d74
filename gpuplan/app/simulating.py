"""Simulating: the plan's groups on its own hosts, in the background, and for which design that was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuplan.app.running import Runner
from gpuplan.scenario import Scenario

AROUND = 2
"""Hosts fewer and more that are simulated beside those of the plan."""


class Simulating:
    """Simulations of one design with a few numbers of hosts."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.runner = Runner(on_change)
        self.scenario: Scenario | None = None
        self.when = ""

    def start(self, scenario: Scenario, when: str, folder: str = "") -> None:
        """Simulate a design in its ``busiest`` hours or through its ``week``; ``folder`` has catalog rows of the user."""
        self.scenario, self.when = scenario, when
        catalog = ["--catalog", folder] if folder else []
        arguments = ["demand", "-", "--simulate", "--progress", "--around", str(AROUND), "--when", when]
        self.runner.start([*arguments, *catalog], scenario.to_yaml().encode())

    @property
    def trials(self) -> list[dict[str, Any]]:
        """What was found so far, pool by pool, fewest hosts first."""
        return [line["trial"] for line in self.runner.found]
