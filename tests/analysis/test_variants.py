"""What a variant gives: its plan or why it is refused, and the figures by which plans are compared."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from approved import has_approved

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.compare import RESULTS, TOPICS
from gpuplan.analysis.variants import FIGURES, figure, on_board, outcome
from gpuplan.catalog import Catalog
from gpuplan.plan.boards import interactive, work_of
from gpuplan.scenario import Group, Scenario


def test_a_variant_has_the_plan_of_its_scenario(example: Plan, catalog: Catalog) -> None:
    assert example.costs is not None
    again = outcome(example.scenario, catalog)
    assert again.problems == () and again.plan is not None
    assert again.plan.totals == example.totals
    assert again.net_present == example.costs.net_present


def test_what_is_refused_says_why(example: Plan, catalog: Catalog) -> None:
    found = outcome(example.scenario.with_value("hardware.gpu", "no-such-board"), catalog)
    assert (found.plan, found.costs, found.net_present) == (None, None, None)
    assert [problem.path for problem in found.problems] == ["hardware.gpu"]


@pytest.mark.parametrize("key", sorted({*RESULTS, *TOPICS}))
def test_every_figure_is_that_of_a_line_or_has_a_rule(key: str, example: Plan) -> None:
    assert (key in example.lines) or key in FIGURES
    if key in example.lines:
        assert figure(example, key) == example.lines[key].value


def test_a_figure_that_a_plan_does_not_have_is_none(catalog: Catalog) -> None:
    empty = outcome(Scenario(), catalog).plan
    assert empty is not None
    assert [figure(empty, key) for key in ("placed", "gpu_price", "short_h", "cost.net_present")] == [
        None
    ] * 4


EXAMPLES = ("starter", "enterprise", "current")
V100 = "v100-pcie-32gb"


def group(**given: object) -> Group:
    """A group that trains."""
    return replace(Group("a", "A", use_case="ds-workstation", people=8), **given)


def scenario_of(own: Group, gpu: str = V100) -> Scenario:
    """A design for one group."""
    return Scenario(groups=(own,)).with_value("hardware.gpu", gpu)


@pytest.mark.parametrize(
    ("given", "gpu", "expected"),
    [
        # 1 H100 PCIe does the work of 2.24 V100; 32 of its 80 GiB are 0.4: two share one
        ({"gpus_each": 1}, "h100-pcie-80gb", (0.5, 1, 8)),
        # four of them: 1.8 by the work, 1.6 by memory
        ({"gpus_each": 4}, "h100-pcie-80gb", (2, 1, 8)),
        # a guaranteed share, or a GPU of one's own, is not divided
        ({"gpus_each": 1, "isolation": True}, "h100-pcie-80gb", (1, 1, 8)),
        ({"gpus_each": 1, "access": "passthrough"}, "h100-pcie-80gb", (1, 1, 8)),
        # workers of one job: 4 / 2.24
        ({"gpus_each": 1, "vms_each": 4}, "h100-pcie-80gb", (1, 2, 8)),
        # the frame buffer binds: 32 GiB of 40
        ({"gpus_each": 1}, "a100-pcie-40gb", (1, 1, 8)),
        # a slower board: 8 / 0.797 at once
        ({"gpus_each": 1}, "rtx8000-passive-48gb", (1, 1, 11)),
        # half of one, on a slower board
        ({"gpus_each": 0.5}, "rtx8000-passive-48gb", (1, 1, 8)),
        # a notebook of 8 GiB: eleven on 94 GiB, however fast; and a slower board serves as many users
        ({"gpus_each": 0.25, "use_case": "dev-test"}, "h100-nvl-94gb", (1 / 11, 1, 8)),
        ({"gpus_each": 1, "use_case": "dev-test"}, "rtx8000-passive-48gb", (1, 1, 8)),
        # half the memory: two boards for a VM, whatever their speed
        ({"gpus_each": 1}, "v100-pcie-16gb", (2, 1, 8)),
    ],
)
def test_what_a_group_needs_of_another_board(
    catalog: Catalog, given: dict[str, object], gpu: str, expected: tuple[float, int, int]
) -> None:
    (made,) = on_board(scenario_of(group(**given)), catalog, gpu).groups
    assert (made.gpus_each, made.vms_each, made.people) == expected


def test_pieces_of_work_take_their_time_by_the_speed(catalog: Catalog) -> None:
    own = scenario_of(group(jobs_per_day=40, work_h=6.0))
    ratio = work_of(catalog, own.groups[0], V100, "h100-pcie-80gb").ratio
    (made,) = on_board(own, catalog, "h100-pcie-80gb").groups
    assert made.work_h == pytest.approx(6 / ratio)
    assert (made.gpus_each, made.people) == (1, 8)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_vm_keeps_its_memory_and_its_work(name: str, catalog: Catalog) -> None:
    scenario = load_scenario(name)
    own = catalog.gpus[scenario.hardware.gpu]
    memory = float(own.value("memory_gib") or 0)
    for gpu in catalog.gpus.values():
        made = on_board(scenario, catalog, gpu.id)
        other = float(gpu.value("memory_gib") or 0)
        for before, after in zip(scenario.groups, made.groups, strict=True):
            ratio = work_of(catalog, before, own.id, gpu.id).ratio
            if other >= 0.8 * memory:  # as least_gpu_share says, a little less is taken as one
                kept = min(memory, other) if other < memory else memory
                assert after.gpus_each * other >= before.gpus_each * kept - 1e-6, (gpu.id, before.id)
            if interactive(catalog, before):
                assert (after.people, after.vms_each) == (before.people, before.vms_each)
                continue
            work = before.gpus_each * before.vms_each * before.people
            done = after.gpus_each * after.vms_each * after.people * ratio
            assert done >= work - 1e-6, (gpu.id, before.id)


def test_where_the_changed_inputs_are_known_from_is_said(catalog: Catalog) -> None:
    made = on_board(load_scenario("enterprise"), catalog, "h100-pcie-80gb")
    origin = made.origin("groups.researchers.gpus_each")
    assert origin.basis == "assumed" and has_approved(origin.note, "4", "Tesla V100 PCIe 32GB")
    assert made.origin("groups.researchers.people") == load_scenario("enterprise").origin(
        "groups.researchers.people"
    )


def test_a_stated_total_follows_the_groups(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    assert on_board(scenario, catalog, V100).demand.stated_gpus == scenario.demand.stated_gpus
    made = on_board(scenario, catalog, "h100-pcie-80gb")
    assert make_plan(made, catalog).totals.unplaced_vms == 0
    alone = on_board(
        Scenario().with_value("demand.stated_gpus", 28).with_value("hardware.gpu", V100),
        catalog,
        "h100-pcie-80gb",
    )
    same = on_board(
        Scenario().with_value("demand.stated_gpus", 28).with_value("hardware.gpu", V100), catalog, V100
    )
    assert same.demand.stated_gpus == 28
    ratio = work_of(catalog, group(), V100, "h100-pcie-80gb").ratio
    assert alone.demand.stated_gpus == math.ceil(28 / ratio)
