"""The tables of explored designs hold what was explored."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import load_scenario
from gpuplan.analysis.candidates import Space
from gpuplan.analysis.explore import explore
from gpuplan.catalog import Catalog
from gpuplan.report import exploration_dict
from gpuplan.report.table import records, texts
from gpuplan.report.tables import explore as tables


@pytest.fixture(scope="module")
def data(catalog: Catalog) -> dict[str, Any]:
    scenario = load_scenario("enterprise")
    space = Space(("v100-pcie-32gb", "h100-sxm5-64gb"), ("dell-c4140",), (4,), ("as asked",), (100,), (0, 1))
    return exploration_dict(explore(scenario, catalog, space, workers=1), scenario)


def test_designs_keep_their_figures_and_say_what_they_are(data: dict[str, Any]) -> None:
    table = tables.designs(data, data["ranked"])
    assert [row["net_present"] for row in records(table)] == [o["net_present"] for o in data["ranked"]]
    assert sum("recommended" in row[-1] for row in texts(table)) == 1
    assert "the current design" in tables.against(data, data["asked"])


def test_every_design_is_in_one_table(data: dict[str, Any]) -> None:
    found = records(tables.every_design(data))
    assert len(found) == sum(len(data[name]) for name in ("ranked", "unpriced", "rejected"))
    assert [row["status"] for row in found].count("winner") == 1
    assert found[0]["rank"] == 1


def test_what_is_missing_and_what_is_out_is_counted(data: dict[str, Any]) -> None:
    assert sum(row["designs"] for row in records(tables.reasons(data))) == len(data["rejected"])
    named = sum(len(option["unpriced"]) for option in data["unpriced"])
    assert sum(row["designs"] for row in records(tables.unpriced(data))) == named
