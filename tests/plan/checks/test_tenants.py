"""Checks of tenants that are kept apart."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.scenario import from_dict


def codes(catalog: Catalog, apart: str, first: dict[str, Any], second: dict[str, Any]) -> set[str]:
    """The messages on tenants of a design of two groups."""
    groups = [{"id": id, "people": 4, **group} for id, group in (("a", first), ("b", second))]
    data = {"groups": groups, "availability": {"tenants_apart": apart}, "platform": {"vsphere": "8.0u3"}}
    plan = make_plan(from_dict(data | {"hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}), catalog)
    return {message.code for message in check_plan(plan) if message.code.startswith("tenant")}


WHOLE = {"gpus_each": 1, "access": "vgpu"}
HALF, QUARTER = {"gpus_each": 0.5, "access": "vgpu"}, {"gpus_each": 0.25, "access": "vgpu"}


@pytest.mark.parametrize(
    ("apart", "first", "second", "expected"),
    [
        ("none", QUARTER | {"tenant": "North"}, QUARTER, set()),
        ("gpu", QUARTER | {"tenant": "North"}, QUARTER | {"tenant": "South"}, {"tenants-without-rule"}),
        ("gpu", QUARTER | {"tenant": "North"}, QUARTER, {"tenants-without-rule", "tenant-not-stated"}),
        ("gpu", QUARTER | {"tenant": "North"}, QUARTER | {"tenant": "North"}, {"tenants-not-several"}),
        # profiles of two sizes share no GPU where each has one size, and whole GPUs are shared by nobody
        ("gpu", QUARTER | {"tenant": "North"}, HALF | {"tenant": "South"}, set()),
        ("gpu", QUARTER | {"tenant": "North"}, WHOLE | {"tenant": "South"}, set()),
        ("host", WHOLE | {"tenant": "North"}, WHOLE | {"tenant": "South"}, {"tenants-share-failover"}),
        ("cluster", WHOLE | {"tenant": "North"}, WHOLE | {"tenant": "South"}, set()),
    ],
)
def test_what_is_said_of_tenants(
    catalog: Catalog, apart: str, first: dict[str, Any], second: dict[str, Any], expected: set[str]
) -> None:
    assert codes(catalog, apart, first, second) == expected
