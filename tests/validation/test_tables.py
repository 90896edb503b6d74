"""The tables of the calibration hold what was found."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan.report.table import Table, records
from validation import tables
from validation.calibration import SERVERS, TRAINING


@pytest.fixture(scope="module")
def found(calibration: dict[str, Any]) -> dict[str, Any]:
    return calibration


def column(table: Table, key: str) -> list[Any]:
    return [row[key] for row in records(table)]


def test_each_table_has_all_of_its_rows(found: dict[str, Any]) -> None:
    assert column(tables.parameters(found), "value") == [p["value"] for p in found["parameters"]]
    assert column(tables.targets(found), "worst") == [t["worst"] for t in found["targets"]]
    assert len(tables.errors(found).rows) == len(found["errors"]) + len(found["left_out"])
    assert column(tables.predictions(found["rows"]), "error") == [r["error"] for r in found["rows"]]


def test_an_error_is_said_as_its_area_states_it() -> None:
    assert tables.error_words(TRAINING, 0.0312) == "3.1 %"
    assert tables.error_words(SERVERS, 0.0312, sign=True) == "+0.031"
    assert tables.error_words(tables.STUN, -0.04, sign=True) == "0.0 s"
