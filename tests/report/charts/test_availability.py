"""The chart of what is left when hosts are lost."""

from __future__ import annotations

from approved import is_approved

from gpuplan import Plan
from gpuplan.report.charts.availability import capacity_chart, capacity_rows
from gpuplan.report.charts.look import DARK


def test_the_chart_shows_the_levels(plans: dict[str, Plan]) -> None:
    rows = capacity_rows(plans["enterprise"])
    assert [row["left"] for row in rows] == [32, 28, 24]
    assert is_approved([row["state"] for row in rows])
    assert {row["occupied"] for row in rows} == {28}


def test_the_chart_names_only_what_it_may_show(plans: dict[str, Plan]) -> None:
    rows = capacity_rows(plans["enterprise"])
    for shown in (rows, rows[:2]):
        drawn = capacity_chart(shown, DARK)
        domain = drawn["layer"][0]["encoding"]["color"]["scale"]["domain"]
        assert domain == list(dict.fromkeys(row["state"] for row in shown))
