"""Hours and sites: what people type, and what is planned with."""

from __future__ import annotations

import pytest

from gpuplan.scenario import (
    ScenarioError,
    field_of,
    hours_min,
    parse_value,
    sites_people,
)


def test_hours_and_sites_are_read_back() -> None:
    assert hours_min("22:30-06:15") == (1350, 375)
    assert hours_min(None) == (0, 1440)
    assert sites_people("Bangalore 25, San Francisco 15") == (("Bangalore", 25), ("San Francisco", 15))
    assert sites_people("UTC+5:30, Austin") == (("UTC+5:30", 1), ("Austin", 1))
    assert sites_people(None) == (("UTC", 1),)


def test_sites_begin_with_any_letter() -> None:
    path = "groups.a.sites"
    assert parse_value(field_of(path), "\u00d8rsta 3, Zu\u0308rich 4", path) == "\u00d8rsta 3, Z\u00fcrich 4"
    for wrong in ("_Berlin", "7 Oaks", "-Berlin"):
        with pytest.raises(ScenarioError):
            parse_value(field_of(path), wrong, path)
