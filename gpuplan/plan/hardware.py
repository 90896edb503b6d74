"""Hardware of a host: its server, the boards that carry its GPUs, and which boards a server takes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.scenario import Scenario


def server_of(scenario: Scenario, catalog: Catalog) -> Item | None:
    """The server that is chosen."""
    return catalog.servers[scenario.hardware.server] if scenario.hardware.server else None


def gpus_per_board(scenario: Scenario, catalog: Catalog) -> int:
    """GPUs on one board."""
    return _per_board(catalog.gpus[scenario.hardware.gpu])


def _per_board(gpu: Item) -> int:
    return int(gpu.value("gpus_per_board") or 1)


def boards(scenario: Scenario, catalog: Catalog, gpus: int | None = None) -> int:
    """Boards that carry so many GPUs, else those of a new host."""
    count = scenario.hardware.gpus_per_host if gpus is None else gpus
    return -(-count // gpus_per_board(scenario, catalog))


class Fit(NamedTuple):
    """That a server takes a board, and how well that is known."""

    gpus: int
    """Most GPUs of it in one server."""
    basis: str
    sources: tuple[str, ...]
    like: str
    """The board by which it is derived, by width, power and PCIe generation; empty where a row of the catalog has the board."""
    whole: bool
    """Whether the GPUs come together on one baseboard, so that fewer are not sold."""


def fit_of(catalog: Catalog, server: str, gpu: str) -> Fit | None:
    """How many GPUs of a model a server takes; None where no row of the catalog has it and none allows to derive it."""
    return _fits(catalog).get((server, gpu))


@lru_cache(maxsize=8)  # each candidate of `explore` asks: without it the rows are read thousands of times
def _fits(catalog: Catalog) -> Mapping[tuple[str, str], Fit]:
    listed: dict[str, list[Row]] = {}
    for each in catalog.rows("server_gpus"):
        listed.setdefault(each["server"], []).append(each)
    found = {}
    for server, rows in listed.items():
        for gpu in catalog.gpus.values():
            own = next((row for row in rows if row["gpu"] == gpu.id), None)
            like = (row for row in rows if _like(catalog.gpus[row["gpu"]], gpu))
            if (row := own or next(like, None)) is not None:
                found[server, gpu.id] = Fit(
                    int(row["boards"]) * _per_board(gpu),
                    row.basis if own else "derived",
                    row.sources,
                    "" if own else str(row["gpu"]),
                    str(gpu.value("form_factor")).startswith("SXM"),
                )
    return found


def _like(known: Item, other: Item) -> bool:
    """Whether a server that takes a PCIe board takes another one: of its width and PCIe generation, and of no more power."""
    names = ("form_factor", "slot_width", "cooling", "pcie_generation")
    if known.value("form_factor") != "PCIe" or any(known.value(n) != other.value(n) for n in names):
        return False
    watts, limit = other.value("tdp_w"), known.value("tdp_w")
    return watts is not None and limit is not None and float(watts) <= float(limit)
