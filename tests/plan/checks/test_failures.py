"""Checks of failures: the most serious first."""

from __future__ import annotations

from typing import Any

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import LEVELS
from gpuplan.scenario import from_dict


def one(**group: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "name": "Team", **group}]


def test_the_most_serious_first(catalog: Catalog) -> None:
    found = check_plan(
        make_plan(
            from_dict(
                {"groups": one(people=5), "demand": {"stated_gpus": 4}, "platform": {"bitfusion": True}}
            ),
            catalog,
        )
    )
    assert [LEVELS.index(m.level) for m in found] == sorted(LEVELS.index(m.level) for m in found)
    assert {m.level for m in found} == set(LEVELS)
