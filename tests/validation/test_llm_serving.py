"""Boards left out are predicted by the others, and ranges hold the share that they should."""

from __future__ import annotations

import pytest

from gpuplan.analysis.llm_calibration import errors
from gpuplan.analysis.llm_predictions import Prediction
from gpuplan.catalog import Catalog
from gpuplan.plan.llm_parts import speeds_of
from validation.llm_serving import left_out, spread


def test_a_board_left_out_is_predicted_by_the_others(catalog: Catalog) -> None:
    found = {group: (speeds, said) for group, speeds, said in left_out(catalog, "board", every=40, rounds=2)}
    assert {"b200-sxm6-180gb", "h100-sxm5-80gb", "rtx-pro-6000-se-96gb"} <= set(found)
    speeds, said = found["h100-sxm5-80gb"]
    assert speeds != speeds_of(catalog)
    off = errors(p for p in said if p.quantity == "tpot_ms")
    assert off and off.runs > 300 and off.median < 0.2


def test_a_spread_by_hand() -> None:
    many = [Prediction("x", "tpot_ms", 10.0 + i / 10, 10.0) for i in range(101)]
    low, high = spread(many, "tpot_ms")
    assert low == pytest.approx(1.08, abs=0.01) and high == pytest.approx(1.92, abs=0.01)
