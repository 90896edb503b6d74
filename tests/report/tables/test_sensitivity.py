"""The tables of what moves the answer say values as a reader sees them."""

from __future__ import annotations

import pytest

from gpuplan import Plan
from gpuplan.analysis.compare import compare_plans
from gpuplan.analysis.sensitivity import Bar, Threshold
from gpuplan.report import sensitivity_dict
from gpuplan.report.table import records, texts
from gpuplan.report.tables import sensitivity


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
    assert sensitivity.value_words(path, value, unit) == words


def test_bars_and_thresholds_keep_their_numbers(plans: dict[str, Plan]) -> None:
    bar = Bar("cost.pue", "PUE", "1", 1.54, 1.3, 2.5, "quoted", "", 90.0, None, 8, None)
    at = Threshold("groups.developers.active_share", "Active", "1", 0.5, 0.25, 7, None, None)
    data = sensitivity_dict(plans["starter"], [bar], [at])
    table = sensitivity.bars(data["bars"], 100.0, "USD")
    assert records(table)[0]["cost_low"] == 90.0
    assert texts(table)[0][6:] == ("90 (-10 %)".replace("10", "10.0"), "-", "8", "-")
    assert records(sensitivity.thresholds(data["thresholds"]))[0]["hosts_below"] == 7


def test_designs_stand_in_columns(plans: dict[str, Plan]) -> None:
    found = compare_plans([plans["starter"], plans["enterprise"]])
    table = sensitivity.compared(found)
    assert [column.label for column in table.columns[2:]] == list(found.names)
    assert [row[0] == "*" for row in texts(table)] == [row.differs for row in found.rows]
