"""The tables of explored designs hold what was explored."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import Plan, load_scenario
from gpuplan.analysis.candidates import Space
from gpuplan.analysis.compare import compare_plans
from gpuplan.analysis.explore import explore
from gpuplan.analysis.sensitivity import Bar, Threshold
from gpuplan.catalog import Catalog
from gpuplan.report import exploration_dict, sensitivity_dict
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


@pytest.mark.parametrize(
    ("path", "value", "unit", "words"),
    [
        ("cost.hardware_discount", 0.125, "1", "12.5 %"),
        ("prices.gpus/v100-pcie-32gb", 4000, "currency", "4\u202f000"),
        ("ranges.cost.pue", (1.1, 1.3), "1", "1.1 to 1.3"),
        ("ranges.groups.developers.active_share", (0.2, 0.6), "1", "20 % to 60 %"),
        ("power.peak", 12_400.0, "W", "12.4 kW"),
        ("hosts", 8, "host", "8 hosts"),
        ("network.transport", "", "", "-"),
    ],
)
def test_a_value_reads_as_its_unit_says(path: str, value: object, unit: str, words: str) -> None:
    assert tables.value_words(path, value, unit) == words


def test_bars_and_thresholds_keep_their_numbers(plans: dict[str, Plan]) -> None:
    bar = Bar("cost.pue", "PUE", "1", 1.54, 1.3, 2.5, "quoted", "", 90.0, None, 8, None)
    at = Threshold("groups.developers.active_share", "Active", "1", 0.5, 0.25, 7, None, None)
    data = sensitivity_dict(plans["starter"], [bar], [at])
    table = tables.bars(data["bars"], 100.0, "USD")
    assert records(table)[0]["cost_low"] == 90.0
    assert texts(table)[0][6:] == ("90 (-10 %)".replace("10", "10.0"), "-", "8", "-")
    assert records(tables.thresholds(data["thresholds"]))[0]["hosts_below"] == 7


def test_designs_stand_in_columns(plans: dict[str, Plan]) -> None:
    found = compare_plans([plans["starter"], plans["enterprise"]])
    table = tables.compared(found)
    assert [column.label for column in table.columns[2:]] == list(found.names)
    assert [row[0] == "*" for row in texts(table)] == [row.differs for row in found.rows]
