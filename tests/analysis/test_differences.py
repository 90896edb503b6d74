"""What differs between plans, in one sentence each, and what a plan is called by what it is."""

from __future__ import annotations

import pytest
from approved import has_approved, is_approved

from gpuplan import Plan, make_plan
from gpuplan.analysis.compare import (
    caveats,
    counting,
    design_name,
    differences,
    model_name,
    short_names,
)
from gpuplan.analysis.variants import on_board
from gpuplan.catalog import Catalog


@pytest.fixture(scope="module")
def pair(plans: dict[str, Plan], catalog: Catalog) -> list[Plan]:
    """The enterprise example, and the same on another board in another server."""
    other = (
        plans["enterprise"]
        .scenario.with_value("hardware.gpu", "a100-pcie-80gb")
        .with_value("hardware.server", "dell-r750xa")
    )
    return [plans["enterprise"], make_plan(other, catalog)]


def test_a_design_is_called_by_what_it_is(pair: list[Plan], catalog: Catalog) -> None:
    assert design_name(pair[0].scenario, catalog) == "4 x V100 PCIe 32GB, C4140, N+1"
    assert design_name(pair[1].scenario, catalog) == "4 x A100 PCIe 80GB, R750xa, N+1"
    assert model_name("L40S") == "L40S"
    assert short_names(("4 x L40S, N+1", "4 x L40S, N+2")) == ("N+1", "N+2")
    assert short_names(("Ours", "Ours")) == ("Ours", "Ours")


def test_a_plan_does_not_differ_from_itself(example: Plan) -> None:
    assert differences((example, example), ("one", "other")) == ()
    assert not list(caveats((example, example), ("one", "other")))


def test_two_boards_differ_in_memory_speed_watts_and_money_for_each_gpu(pair: list[Plan]) -> None:
    found = {each.key: each for each in differences(pair, ("Ours", "Theirs"))}
    assert is_approved(found["memory"].sentence, "80 GiB", "48 GiB")
    assert found["memory"].values == ("32 GiB", "80 GiB")
    assert has_approved(found["speed"].sentence, "V100 PCIe 32GB")
    assert found["speed"].values[0] == "1 x"
    assert found["board_power"].values == ("250 W", "300 W")
    assert found["gpu_price"].values[1].startswith("USD ")
    assert has_approved(found["cost.gpu_hour_used"].sentence)
    assert "totals.hosts" not in found, "as many hosts"


def test_it_is_said_how_gpus_of_different_models_are_counted(pair: list[Plan], catalog: Catalog) -> None:
    assert is_approved(counting(pair), "1 GPU", "1 GPU", "V100 PCIe 32GB", "A100 PCIe 80GB")
    assert next(caveats(pair, ("Ours", "Theirs"))) == counting(pair)
    same_work = on_board(pair[0].scenario, catalog, "a100-pcie-80gb").with_value(
        "hardware.gpu", "a100-pcie-80gb"
    )
    assert has_approved(counting([pair[0], make_plan(same_work, catalog)]))
    assert counting([pair[0], pair[0]]) == ""


def test_of_more_plans_each_is_compared_with_the_first(pair: list[Plan], catalog: Catalog) -> None:
    bare = make_plan(pair[0].scenario.with_value("availability.host_failures", 0), catalog)
    found = {each.key: each for each in differences([pair[0], bare, pair[1]], ("A", "B", "C"))}
    assert is_approved(found["totals.hosts"].clauses, "7 hosts")
    assert found["totals.hosts"].last == found["totals.hosts"].sentence
    assert is_approved(found["totals.hosts"].sentence, "7 hosts")
    assert has_approved(found["cost.net_present"].last)
    assert has_approved(found["cost.net_present"].sentence)
