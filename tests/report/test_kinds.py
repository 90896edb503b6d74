"""Each kind of quantity is written in its own way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from costs_table import COSTS

from gpuplan.report.kinds import between
from gpuplan.report.table import Column, heads, texts
from gpuplan.wording import one_place, percent


def test_a_reader_sees_each_value_as_its_kind_is_said() -> None:
    assert heads(COSTS.shown()) == ("Part", "Paid in all", "Share")
    assert texts(COSTS.shown()) == [("GPUs", "1\u202f234\u202f567", "25 %"), ("Racks", "no price known", "")]
    assert texts(COSTS)[0][3] == "a, b"


def test_a_kind_that_is_not_known_is_refused() -> None:
    with pytest.raises(KeyError, match="furlongs"):
        texts(replace(COSTS, columns=(Column("part", "Part", "furlongs"), *COSTS.columns[1:])))


def test_a_range_has_its_unit_once() -> None:
    assert between((0, 0.03), percent) == "0 to 3.0 %"
    assert between((0.5, 0.5), percent) == "50 %"
    assert between((1, 2.25), one_place) == "1 to 2.2"
