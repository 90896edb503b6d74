"""The table of names and addresses has a row for each field."""

from __future__ import annotations

from gpuplan import Plan
from gpuplan.report.site import site_fields
from gpuplan.report.tables.site import names_and_addresses


def test_each_field_is_a_row(plans: dict[str, Plan]) -> None:
    table = names_and_addresses(plans["current"])
    assert [row[-1] for row in table.rows] == [each.path for each in site_fields(plans["current"])]
    assert [column.key for column in table.columns][4] == "value"
