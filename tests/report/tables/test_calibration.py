"""The tables of the calibration hold what was found."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan.analysis.calibration import SERVERS, TRAINING
from gpuplan.catalog import Catalog
from gpuplan.report.table import Table, records
from gpuplan.report.tables import calibration


@pytest.fixture(scope="module")
def found(calibration: dict[str, Any]) -> dict[str, Any]:
    return calibration


def column(table: Table, key: str) -> list[Any]:
    return [row[key] for row in records(table)]


def test_each_table_has_all_of_its_rows(found: dict[str, Any], catalog: Catalog) -> None:
    assert column(calibration.parameters(found), "value") == [p["value"] for p in found["parameters"]]
    assert column(calibration.targets(found), "worst") == [t["worst"] for t in found["targets"]]
    assert len(calibration.errors(found).rows) == len(found["errors"]) + len(found["left_out"])
    assert column(calibration.predictions(found["rows"]), "error") == [r["error"] for r in found["rows"]]
    warm = catalog.rows("remote_times")
    assert column(calibration.warm_work(warm), "kept") == [r["native_s"] / r["remote_s"] for r in warm]


def test_an_error_is_said_as_its_area_states_it() -> None:
    assert calibration.error_words(TRAINING, 0.0312) == "3.1 %"
    assert calibration.error_words(SERVERS, 0.0312, sign=True) == "+0.031"
    assert calibration.error_words(calibration.STUN, -0.04, sign=True) == "0.0 s"
