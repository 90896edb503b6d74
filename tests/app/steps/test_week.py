"""When GPUs are wanted: hour by hour on a clock that is chosen, and the mixes of a week."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from approved import has_approved, is_approved
from offices import office

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.analysis.demand import hour_demand, local_quarters, week_demand
from gpuplan.app.forms import place_of
from gpuplan.app.state import Workbook
from gpuplan.app.steps import week as hourly
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict


@pytest.fixture
def hours(catalog: Catalog) -> Workbook:
    return Workbook(catalog, office())


def said(data: dict[str, Any], key: str = "text") -> str:
    return " ".join("".join(part["text"] for part in parts) for parts in data[key])


def rows_of(table: dict[str, Any]) -> list[list[str]]:
    return [[cell["text"] for cell in row] for row in table["rows"]]


def test_the_hours_lend_each_other_gpus(hours: Workbook) -> None:
    # Office: 20 people in each place x 1/2 x 1/2 = 5 GPUs by day there: 03:30-12:30 and 15:00-24:00 UTC. Night: 12 from 18:00.
    (week,) = week_demand(hours.plan)
    assert (week.peak_gpus, week.everybody_gpus) == (17, 22)
    assert dict(week.peaks_gpus) == {"office": 5, "night": 12}
    assert not week.steady
    text = said(hourly.day_data(hours))
    assert has_approved(text, "17 GPUs", "18:00", "22 GPUs")
    assert has_approved(text, "5 GPUs")


def test_the_clock_of_a_place(hours: Workbook) -> None:
    assert [o["value"] for o in hourly.day_head(hours)["selects"][0]["options"]] == [
        "UTC",
        "Bangalore",
        "UTC-6",
    ]
    hours.look("clock", "Bangalore")
    assert "Mon 23:30 Bangalore" in said(hourly.day_data(hours))
    assert hourly.day_rows(hours)["place"] == "Bangalore"
    hours.edit("groups.office.sites", "Austin")
    assert hourly.day_head(hours)["selects"][0]["value"] == "UTC"  # nobody is in Bangalore any more


def test_hours_of_a_day_are_means_on_the_clock_of_a_place(hours: Workbook) -> None:
    (week,) = week_demand(hours.plan)
    utc, local = hour_demand(week, (2, 5)), hour_demand(week, (2, 5), place="Bangalore")
    assert [found.group for found in utc] == ["office", "night"]
    # 03:30 UTC is the middle of an hour there, and 09:00 in Bangalore
    assert utc[0].gpus[0][2:5] == (0, 2.5, 5)
    assert local[0].gpus[0][8:10] == (0, 5)
    assert sum(utc[0].gpus[1]) == 0  # Saturday
    assert sum(utc[1].gpus[1]) == 12 * 9
    assert local_quarters(week, [4 * 3 + 2], "Bangalore") == (4 * 9,)
    assert local_quarters(week, [0], "UTC-6") == (672 - 24,)


def test_small_groups_are_put_together(catalog: Catalog) -> None:
    groups = [{"id": f"g{n}", "name": f"Group {n}", "people": n} for n in range(1, 13)]
    book = Workbook(catalog, from_dict({"groups": groups}))
    (week,) = week_demand(book.plan)
    found = hour_demand(week, (0,))
    assert [f.group for f in found] == [f"g{n}" for n in range(6, 13)] + [""]
    assert np.sum([f.gpus for f in found]) == 24 * 78
    assert rows_of(hourly.day_data(book)["tables"][0])[-1] == ["5 other groups", "15"]
    assert hourly.day_rows(book)["groups"][-1][0] == "\u00b7 other groups"


def test_the_bars_of_the_chart_add_up(hours: Workbook) -> None:
    data = hourly.day_rows(hours)
    (week,) = week_demand(hours.plan)
    wednesday = sum(
        (row["high"] - row["low"]) * (row["end"] - row["x"]) for row in data["rows"] if row["x"] < 24
    )
    assert wednesday == pytest.approx(sum(float(g[192:288].mean()) * 24 for g in week.gpus.values()))
    assert all(
        float(row["gpus"]) == pytest.approx(row["high"] - row["low"], abs=0.006) for row in data["rows"]
    )
    for hour in (*range(24), *range(26, 50)):
        stacked = [row for row in data["rows"] if row["x"] <= hour < row["end"]]
        assert [row["low"] for row in stacked] == [0, *(row["high"] for row in stacked[:-1])]
        assert [row["group"][0] for row in stacked] == ["D", "N"]
    first = data["rows"][0]
    assert (first["x"], first["end"], first["clock"]) == (0, 3, "Wed 00:00-03:00"), (
        "nobody in India before 03:30 UTC"
    )
    assert {mark["letter"] for mark in data["letters"]} == {group.letter for group in hours.plan.groups}
    for mark in data["letters"]:
        (bar,) = [
            row
            for row in data["rows"]
            if row["x"] < mark["x"] < row["end"] and row["low"] < mark["y"] < row["high"]
        ]
        assert bar["group"].startswith(mark["letter"])
    assert data["days"] == ["Wednesday", "Saturday"]
    assert is_approved([line["words"] for line in data["lines"]], "22", "planned: 17")
    hours.edit("demand.stated_gpus", "21")
    hours.edit("demand.rule", "stated")
    lines = hourly.day_rows(hours)["lines"]
    assert [(line["gpus"], line["below"]) for line in lines] == [(22, False), (21, True)]


def test_groups_that_work_around_the_clock_are_asked_for_hours(book: Workbook) -> None:
    data = hourly.day_data(book)
    assert "around the clock" in said(data)
    (link,) = [part for part in data["text"][0] if part.get("visit")]
    assert link["visit"] == "groups.researchers.sites"
    assert place_of(link["visit"]).step == "demand"
    assert len(hourly.day_rows(book)["lines"]) == 1  # planned, and all peaks at once


def test_the_other_half_of_the_year_is_said_where_it_differs(catalog: Catalog) -> None:
    groups = [
        {"id": "a", "people": 4, "sites": "Austin", "hours": "09:00-17:00"},
        {"id": "b", "people": 3, "hours": "08:00-15:00"},
    ]
    text = said(hourly.day_data(Workbook(catalog, from_dict({"groups": groups}))))
    # Austin is 6 hours behind in January and 5 in July: the day overlaps with the other one from 15:00, or from 14:00.
    assert has_approved(text, "7 GPUs", "14:00")
    assert has_approved(text, "4 GPUs", "15:00")


def test_the_mixes_of_a_week(catalog: Catalog) -> None:
    spans = {"a": (8, "08:00-16:00"), "b": (6, "12:00-20:00"), "c": (6, "02:00-06:00")}
    groups = [{"id": g, "people": n, "hours": span, "days": "weekdays"} for g, (n, span) in spans.items()]
    book = Workbook(catalog, from_dict({"groups": groups, "demand": {"rule": "hours"}}))
    (table,) = hourly.mixes_data(book)["tables"]
    assert rows_of(table) == [
        ["14", "14", "4", "Mon-Fri 12:00-16:00"],
        ["6", "6", "2", "Mon-Fri 02:00-06:00"],
    ]
    assert [row[-1].get("tag") for row in table["rows"]] == ["sized for this", None]
    book.edit("groups.c.sites", "UTC-6")
    book.look("clock", "UTC-6")
    shown = rows_of(hourly.mixes_data(book)["tables"][0])  # c is now at work from 08:00 to 12:00 UTC, with a
    assert [row[-1] for row in shown] == ["Mon-Fri 02:00-06:00", "Mon-Fri 06:00-10:00"]
    book.edit("demand.rule", "sum")
    assert hourly.mixes_data(book) == {"shown": False}
