"""Hardware of a host: its server, and the boards that carry its GPUs."""

from __future__ import annotations

from gpuplan.catalog import Catalog, Item
from gpuplan.scenario import Scenario


def server_of(scenario: Scenario, catalog: Catalog) -> Item | None:
    """The server that is chosen."""
    return catalog.servers[scenario.hardware.server] if scenario.hardware.server else None


def gpus_per_board(scenario: Scenario, catalog: Catalog) -> int:
    """GPUs on one board."""
    return int(catalog.gpus[scenario.hardware.gpu].value("gpus_per_board") or 1)


def boards(scenario: Scenario, catalog: Catalog, gpus: int | None = None) -> int:
    """Boards that carry so many GPUs, else those of a new host."""
    count = scenario.hardware.gpus_per_host if gpus is None else gpus
    return -(-count // gpus_per_board(scenario, catalog))
