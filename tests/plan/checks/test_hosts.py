"""Checks of the hosts."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.scenario import from_dict

L40S = {"hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}


def messages(catalog: Catalog, **data: Any) -> dict[str, Message]:
    return {m.code: m for m in check_plan(make_plan(from_dict(data), catalog))}


def one(**group: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "name": "Team", **group}]


def test_mig_on_hopper_needs_no_reboot(catalog: Catalog, plans: dict[str, Plan]) -> None:
    assert any(g.mode == "mig" for g in plans["current"].groups)
    assert "mig-needs-reboot" not in {m.code for m in check_plan(plans["current"])}


@pytest.mark.parametrize(("per_host", "said"), [(2, False), (3, True)])
def test_a_lower_bound_confirms_what_it_covers_and_no_more(
    catalog: Catalog, per_host: int, said: bool
) -> None:
    # the R740 is known to hold 2 double-wide GPUs; no source says whether it holds 3
    hardware = {"gpu": "v100-pcie-32gb", "server": "dell-r740", "gpus_per_host": per_host}
    found = messages(catalog, groups=one(), hardware=hardware)
    assert ("server-limit-unknown" in found) is said


def test_a_board_that_no_source_names_in_the_server_is_to_be_confirmed(catalog: Catalog) -> None:
    """It has the slots, but it may not have the power or the cooling."""
    hardware = {"gpu": "l40s-48gb", "server": "dell-c4140", "gpus_per_host": 4}
    said = messages(catalog, groups=one(), hardware=hardware)["server-limit-unknown"]
    assert said.level == "warn" and has_approved(said.text, "L40S", "PowerEdge C4140")


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
