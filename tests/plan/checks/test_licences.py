"""Checks of licences: what is no longer sold, and what existing hosts are assumed to lack."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import check_plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks.message import Message
from gpuplan.scenario import from_dict

HALVES = {"id": "halves", "people": 24, "gpus_each": "1/2", "access": "vgpu", "remote_allowed": False}


def messages(
    catalog: Catalog, existing: str | None, version: str = "8.0u3", **cost: Any
) -> dict[str, Message]:
    gpu = cost.pop("gpu", "l40s-48gb")
    data = {
        "groups": [HALVES],
        "hardware": {"gpu": gpu, "gpus_per_host": 4, "existing": existing},
        "platform": {"vsphere": version},
        "cost": cost,
    }
    return {message.code: message for message in check_plan(make_plan(from_dict(data), catalog))}


@pytest.mark.parametrize("choice", ["vcf", "vvf", "owned", "socket"])
@pytest.mark.parametrize("version", ["8.0", "8.0u3", "9.0", "9.0.1", "9.1"])
@pytest.mark.parametrize(
    ("existing", "missing"),
    [
        (None, 4),
        ("2 x 4", 4),
        ("2 x 4, platform licences perpetual", 2),
        ("6 x 4, platform licences perpetual", 0),
    ],
)
def test_perpetual_licences_that_are_bought_are_marked(
    catalog: Catalog, choice: str, version: str, existing: str | None, missing: int
) -> None:
    """Six hosts on 9.0 took perpetual licences of USD 1,027,651 without a word."""
    found = messages(catalog, existing, version, platform_licence=choice).get("licence-not-sold")
    later = version.startswith("9")
    assert (found is not None) is (choice == "socket" and (missing > 0 or later))
    if found:
        assert found.level == ("stop" if later else "warn")
        assert (f"for {missing} hosts" in found.text) is (missing > 0)


@pytest.mark.parametrize(
    ("gpu", "existing", "cost", "unknown"),
    [
        ("l40s-48gb", "4 x 4", {}, True),
        ("l40s-48gb", "4 x 4, platform licences until 2027-01-01", {}, True),
        ("l40s-48gb", "4 x 4, platform licences until 2027-01-01, GPU software perpetual", {}, False),
        ("l40s-48gb", "4 x 4, platform licences until 2027-01-01, boards of 2024-01-01", {}, True),
        ("l40s-48gb", "4 x 4", {"platform_licence": "owned", "gpu_licence": "owned"}, False),
        ("h100-nvl-94gb", "4 x 4, platform licences until 2020-01-01, boards of 2024-01-01", {}, False),
        ("h100-nvl-94gb", "4 x 4, platform licences until 2020-01-01", {}, True),
    ],
)
def test_silence_on_existing_hosts_is_to_be_confirmed(
    catalog: Catalog, gpu: str, existing: str, cost: dict[str, Any], unknown: bool
) -> None:
    assert ("owned-licences-unknown" in messages(catalog, existing, gpu=gpu, **cost)) is unknown


def test_silence_that_is_confirmed_is_no_question(catalog: Catalog) -> None:
    hosts = {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": "4 x 4"}
    scenario = from_dict({"groups": [HALVES], "hardware": hosts}).confirmed("hardware.existing")
    codes = {message.code for message in check_plan(make_plan(scenario, catalog))}
    assert "owned-licences-unknown" not in codes
