"""Kinds of input: what each may hold, and what is said of a value that it may not."""

from __future__ import annotations

import datetime
import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gpuplan.scenario import (
    FIELDS,
    GROUP_FIELDS,
    Group,
    Scenario,
    ScenarioError,
    field_of,
    one_line,
    parse_value,
    show,
)

WRONG = [
    None, "", "x", "-1", -1, 0.5, "1/0", "1/2/3", "1e3", "NaN", float("nan"), float("inf"), "1" * 60, 10**30, True,
    [], {}, b"1", "101 %", "\u0663", "1_000", (1,), object(),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "given", "value"),
    [
        ("groups.a.gpus_each", "1/8", 0.125),
        ("groups.a.gpus_each", " 12.5 % ", 0.125),
        ("groups.a.gpus_each", "2", 2),
        ("groups.a.gpus_each", 0.01, 0.01),
        ("groups.a.gpus_each", "4/2", 2),
        ("groups.a.active_share", "40 %", 0.4),
        ("groups.a.active_share", ".4", 0.4),
        ("groups.a.active_share", "100%", 1.0),
        ("groups.a.active_share", "1e-06", 0.000001),  # what YAML takes for text in a JSON file
        ("groups.a.people", "30", 30),
        ("groups.a.people", 30.0, 30),
        ("groups.a.name", "  Team  ", "Team"),
        ("demand.stated_gpus", "", None),
        ("hardware.server", "", None),
        ("network.link_gbit_s", "100", 100),
        ("platform.vsphere", 7.0, "7.0"),  # what YAML makes of 7.0 without quotes
        ("platform.bitfusion", True, True),
        ("demand.wait_min", "7.5", 7.5),
        ("demand.wait_min", "10", 10),
        ("demand.chance", "5 %", 0.05),
        ("groups.a.growth", "-10 %", -0.1),
        ("groups.a.growth", "300 %", 3.0),
        ("cost.as_of", "2026-11-21", "2026-11-21"),
        ("cost.as_of", datetime.date(2026, 11, 21), "2026-11-21"),  # what YAML makes of it without quotes
        ("cost.as_of", "", None),
        ("cost.currency", " eur ", "EUR"),
        ("cost.usd_rate", "83.5", 83.5),
        ("cost.hardware_discount", "20 %", 0.2),
        ("prices.gpus/t4-16gb", "1999.5", 1999.5),
        ("prices.rack-year", 0, 0),
        ("prices.rack-year", "", None),
        ("ranges.cost.pue", "1.2 to 1.8", (1.2, 1.8)),
        ("ranges.cost.pue", "1.2 - 1.8", (1.2, 1.8)),
        ("ranges.groups.a.people", [20, 60], (20, 60)),
        ("ranges.cost.discount_rate", "5% to 10%", (0.05, 0.1)),
        ("ranges.cost.pue", "", None),
        ("groups.a.hours", "9-18", "09:00-18:00"),
        ("groups.a.hours", "22:30 - 6.15", "22:30-06:15"),
        ("groups.a.hours", "0-24", "00:00-24:00"),
        ("groups.a.hours", "18-0", "18:00-24:00"),
        ("groups.a.hours", "", None),
        ("groups.a.days", "weekdays", "weekdays"),
        ("groups.a.sites", " Bangalore  25,Austin 15 ", "Bangalore 25, Austin 15"),
        ("groups.a.sites", "UTC+5:30", "UTC+5:30"),
        ("groups.a.sites", "San Francisco, America/Sao_Paulo", "San Francisco, America/Sao_Paulo"),
        ("internal.notes", " one\r\n\ttwo \n", "one\n\ttwo"),
        ("internal.notes", " \n ", None),
        ("internal.margin", "18 %", 0.18),
        ("internal.margin", "", None),
    ],
)
def test_forms_and_files_give_text(path: str, given: Any, value: Any) -> None:
    read = parse_value(field_of(path), given, path)
    assert read == value
    assert type(read) is type(value)


def test_wrong_values_everywhere_are_refused_with_field_value_and_what_is_allowed() -> None:
    for path, wrong in itertools.product(
        [f.path for f in FIELDS] + [f"groups.a.{f.path}" for f in GROUP_FIELDS], WRONG
    ):
        spec = field_of(path)
        try:
            value = parse_value(spec, wrong, path)
        except ScenarioError as error:
            (found,) = error.problems
            assert (found.path, found.message) == (path, spec.allowed())
            assert found.value == ("nothing" if wrong in (None, "", []) else show(wrong))
            assert len(found.value) <= 60
            assert one_line(str(error)) == str(error)
            continue
        # what is accepted is in the bounds of the field
        if value is None:
            assert spec.optional
        elif spec.kind == "int":
            assert type(value) is int
            assert spec.low <= value <= spec.high
        elif spec.kind in ("share", "gpus", "number"):
            assert spec.low <= value <= spec.high
        elif spec.kind == "text":
            assert spec.low <= len(value) <= spec.high
        elif spec.kind == "choice":
            assert value in spec.choices
        elif spec.kind == "bool":
            assert type(value) is bool


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("groups.a.people", -1),
        ("groups.a.people", 100_001),
        ("groups.a.people", 2.5),
        ("groups.a.people", True),
        ("groups.a.people", "300 %"),
        ("groups.a.active_share", 1.01),
        ("groups.a.active_share", "40"),
        ("groups.a.gpus_each", 0),
        ("groups.a.gpus_each", 0.0099),
        ("groups.a.gpus_each", 1.5),
        ("groups.a.gpus_each", 17),
        ("groups.a.name", "a\nb"),
        ("groups.a.name", "x" * 61),
        ("groups.a.name", "\ud800"),
        ("groups.a.remote_allowed", "yes"),
        ("groups.a.access", "magic"),
        ("demand.stated_gpus", 0),
        ("hardware.gpus_per_host", 17),
        ("availability.host_failures", 5),
        ("network.link_gbit_s", 26),
        ("network.transport", ["tcp"]),
        ("name", ""),
        ("demand.wait_min", "10 %"),
        ("demand.chance", 0),
        ("groups.a.growth", "-60 %"),
        ("cost.as_of", "2026-02-30"),
        ("cost.as_of", "21.11.2026"),
        ("cost.as_of", "2026-11"),
        ("cost.currency", "euro"),
        ("cost.currency", ""),
        ("cost.currency", "E1R"),
        ("cost.usd_rate", 0),
        ("cost.years", 0),
        ("cost.years", 8),
        ("cost.hardware_discount", 0.91),
        ("cost.discount_rate", "60 %"),
        ("cost.utilisation", 0),
        ("cost.pue", 0.9),
        ("prices.rack-year", -1),
        ("prices.rack-year", 2e9),
        ("prices.rack-year", "cheap"),
        ("prices.rack-year", True),
        ("ranges.cost.pue", [2, 1]),
        ("ranges.cost.pue", [1]),
        ("ranges.cost.pue", [1, 2, 3]),
        ("ranges.cost.pue", 1.5),
        ("ranges.cost.pue", "1.5"),
        ("ranges.cost.pue", [float("nan"), 2]),
        ("ranges.cost.pue", [-1, 2]),
        ("groups.a.hours", "9"),
        ("groups.a.hours", "09:00-09:00"),
        ("groups.a.hours", "09:10-18:00"),
        ("groups.a.hours", "24-6"),
        ("groups.a.hours", "9-25"),
        ("groups.a.days", "Mondays"),
        ("groups.a.sites", "Bangalore 25, Austin"),
        ("groups.a.sites", "Bangalore 0, Austin 0"),
        ("groups.a.sites", "Bangalore,,Austin"),
        ("groups.a.sites", "25"),
        ("groups.a.sites", ", ".join(["Austin"] * 9)),
        ("groups.a.sites", 7),
        ("internal.notes", "x" * 4_001),
        ("internal.notes", "a\0b"),
        ("internal.notes", "a\u2028b"),
        ("internal.notes", ["a"]),
        ("internal.margin", 0.91),
        ("internal.margin", -0.1),
        ("internal.margin", "18"),
    ],
)
def test_values_that_are_not_allowed(path: str, given: Any) -> None:
    with pytest.raises(ScenarioError):
        parse_value(field_of(path), given, path)


@pytest.mark.parametrize("given", ["12,500", "12.500", "1.000", "1,000,000"])
def test_thousands_with_a_point_or_comma_are_refused_with_the_reason(given: str) -> None:
    """1.000 is one to some and a thousand to others, so it is neither."""
    with pytest.raises(
        ScenarioError, match=f"thousands are meant, write {given.replace(',', '').replace('.', '')}"
    ):
        parse_value(field_of("demand.stated_gpus"), given, "demand.stated_gpus")
    assert parse_value(field_of("cost.discount_rate"), "0.125", "cost.discount_rate") == 0.125


@pytest.mark.parametrize("given", [5e-324, 1e-13, "0.0000000000001", "0.00000000001 %"])
def test_next_to_nothing_is_refused_with_the_least_that_counts(given: Any) -> None:
    path = "groups.g.active_share"
    with pytest.raises(ScenarioError, match=r"active_share: .* what is not 0 is at least 0\.000000000001"):
        parse_value(field_of(path), given, path)
    assert [parse_value(field_of(path), value, path) for value in (0, 1e-12, "0 %")] == [0, 1e-12, 0]


@pytest.mark.parametrize(
    ("path", "given", "value"),
    [
        ("groups.a.active_share", np.float32(0.1), 0.1),
        ("groups.a.active_share", Decimal("0.1"), 0.1),
        ("groups.a.gpus_each", Fraction(1, 8), 0.125),
        ("groups.a.people", Decimal("30"), 30),
        ("network.link_gbit_s", 25.0, 25),
        ("network.mtu_bytes", np.float64(9000), 9000),
        ("cost.licence_term_years", np.float32(3), 3),
        ("platform.vsphere", "7.0", "7.0"),
        ("ranges.cost.pue", np.array([1.2, 1.8]), (1.2, 1.8)),
        ("ranges.cost.pue", np.array([1.2, 1.8], np.float32), (1.2, 1.8)),
        ("ranges.cost.pue", [np.float32(1.2), np.int64(2)], (1.2, 2)),
        ("demand.stated_gpus", np.float64("nan"), None),
        ("cost.pue", float("nan"), None),
    ],
)
def test_numbers_of_python_and_numpy_are_read_as_what_they_are(path: str, given: Any, value: Any) -> None:
    read = parse_value(field_of(path), given, path)
    assert read == value and type(read) is type(value)


def test_what_a_frame_lacks_is_nothing_where_nothing_is_allowed() -> None:
    pd = pytest.importorskip("pandas")
    for missing in (pd.NA, pd.NaT, np.nan):
        assert parse_value(field_of("groups.a.hours"), missing, "groups.a.hours") is None
        with pytest.raises(ScenarioError, match="people"):
            parse_value(field_of("groups.a.people"), missing, "groups.a.people")


def test_a_kind_of_workload_is_known_by_its_name_on_the_screens() -> None:
    group = Group("lab", use_case="Notebooks")
    assert Scenario(groups=[group]).groups[0].use_case == "small-workstation"
