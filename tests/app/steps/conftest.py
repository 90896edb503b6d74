"""What the tests of the steps share: a small exploration, as the command prints it, and examples to be edited."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from stated_money import unpriced

from gpuplan import load_scenario
from gpuplan.analysis.candidates import Space, default_space
from gpuplan.analysis.explore import explore
from gpuplan.catalog import Catalog
from gpuplan.report.explore_report import exploration_dict

if TYPE_CHECKING:
    from gpuplan.app.state import Workbook


@pytest.fixture(scope="module")
def found(catalog: Catalog) -> dict[str, Any]:
    """A small exploration of the enterprise example, as the command prints it."""
    scenario = load_scenario("enterprise")
    wide = default_space(scenario, catalog)
    space = Space(
        ("v100-pcie-32gb", "rtx-a6000-48gb", "a100-sxm4-80gb"),  # nobody lists the server of the last
        wide.servers,
        (2, 4, 8),
        ("as asked", "vgpu"),
        (10, 100),
        (1, 2),
    )
    data = exploration_dict(explore(scenario, catalog, space, workers=1), scenario)
    kept: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    return kept


@pytest.fixture
def enterprise(catalog: Catalog) -> Workbook:
    """The enterprise example, to be edited."""
    from priced_screen import book_of

    return book_of(catalog, "enterprise")


@pytest.fixture
def unknown(catalog: Catalog) -> Workbook:
    """The enterprise example with a switch whose price nobody knows."""
    from priced_screen import book_of

    book = book_of(unpriced(catalog, "switches/sn3700c"), "enterprise")
    assert book.plan.costs and book.plan.costs.unknown
    return book
