"""The tables of an audit hold its figures."""

from __future__ import annotations

from typing import Any

from approved import is_approved

from gpuplan.audit import tables
from gpuplan.report.table import records, texts

GROUP = {
    "name": "vision",
    "jobs": 12_000,
    "gpu_h": 345.6,
    "share": 0.25,
    "mean_duration_h": 1.26,
    "mean_gpus": 3.04,
    "peak_gpus": 8.0,
    "own_peak_utilisation": 0.38,
}
METHOD = {"name": "erlang-c", "chance": 0.05, "gpus_needed": None, "assumption": "independent jobs"}


def test_who_holds_gpus_reads_as_its_kinds_say() -> None:
    table = tables.holders({"groups": [GROUP]})
    assert texts(table) == [
        ("vision", "12\u202f000", "346", "25 %", "1.26", "3", "8", "38 %"),
    ]
    assert records(table) == [GROUP]


def test_busy_chips_are_told_in_points() -> None:
    names = ("samples", "mean_activity_pct", "active_share", "busy_share", "mean_gpus", "busy_gpus")
    row: dict[str, Any] = {"name": "a", **dict.fromkeys(names, 0.5)}
    assert texts(tables.activity({"groups": [row]}))[0][2:4] == ("0.5 %", "50 %")


def test_groups_for_a_scenario() -> None:
    row = {
        "name": "a",
        "people": 3,
        "gpus_each": 2,
        "vms_each": 2,
        "jobs_per_day": 1.234,
        "work_h": 0.5,
        "hours": "00:00-24:00",
        "days": "Mon-Sun",
        "time_zone": "UTC",
    }
    always, office = texts(tables.suggestions([row, row | {"hours": "09:00-17:00", "vms_each": 1}]))
    assert always == ("a", "3", "2 x 2", "1.23", "0.50", "around the clock")
    assert office[2:] == ("2", "1.23", "0.50", "09:00-17:00 UTC, Mon-Sun")


def test_formulas_have_their_names_in_the_field() -> None:
    found = {
        "share": 0.05,
        "wait_limit_h": 0.25,
        "hosts": (4, 4),
        "waits_long": [METHOD],
        "denied": [METHOD | {"gpus_needed": 9}],
    }
    waits, away = tables.few_wait(found), tables.few_denied(found)
    assert is_approved(waits.title, "5 %", "15 min")
    assert [column.label for column in waits.columns][1] == "With 8"
    assert texts(waits)[0] == ("Erlang C", "5.0 %", "", "independent jobs")
    assert texts(away)[0][2] == "9"
