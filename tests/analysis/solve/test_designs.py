"""Designs: every board is in the space or left out with a reason, and mixes put workloads on hosts of their own."""

from __future__ import annotations

import pytest

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.candidates import asked
from gpuplan.analysis.solve.designs import Design, as_asked, space_of
from gpuplan.catalog import Catalog
from gpuplan.plan.hardware import maker_of
from gpuplan.scenario import Scenario, views


@pytest.mark.parametrize("name", ["starter", "enterprise", "assistant", "current"])
def test_each_board_is_tried_or_left_out_with_a_reason(name: str, catalog: Catalog) -> None:
    space = space_of(load_scenario(name), catalog)
    tried, out = {hosts.gpu for hosts in space.hosts}, dict(space.left_out)
    assert tried | set(out) == set(catalog.gpus) and not tried & set(out)
    assert all(out.values())


def test_the_design_as_asked_changes_nothing(starter: Scenario, catalog: Catalog) -> None:
    assert as_asked(starter).apply(starter, catalog) == starter


def test_only_allowed_boards_and_makers_are_tried(starter: Scenario, catalog: Catalog) -> None:
    limited = starter.with_value("limits.boards", "h100-nvl-94gb, l40s-48gb").with_value(
        "limits.vendors", "Dell"
    )
    space = space_of(limited, catalog)
    assert {hosts.gpu for hosts in space.hosts} == {"h100-nvl-94gb", "l40s-48gb"}
    assert {maker_of(catalog.servers[hosts.server]) for hosts in space.hosts} == {"Dell"}


def test_a_mix_plans_each_part_on_its_own_hosts(starter: Scenario, catalog: Catalog) -> None:
    space = space_of(starter, catalog)
    assert space.mixes == (("data-scientists",),) or space.mixes == (("developers",),)
    other = next(hosts for hosts in space.hosts if hosts.gpu == "l40s-48gb" and hosts.sharing == "as asked")
    design = Design(asked(starter), 3, other, ("developers",))
    mixed = design.apply(starter, catalog)
    first, second = views(mixed)
    assert [group.id for group in second.groups] == ["developers"]
    assert (first.hardware.gpu, second.hardware.gpu) == (starter.hardware.gpu, "l40s-48gb")
    plan = make_plan(mixed, catalog, check=False)
    assert plan.new_boards == (starter.hardware.gpu, "l40s-48gb")


def test_no_host_has_more_gpus_than_the_input_takes(catalog: Catalog, starter: Scenario) -> None:
    assert max(hosts.gpus_per_host for hosts in space_of(starter, catalog).hosts) == 16
