"""Alternatives of the same plan: each is that plan with one thing changed, priced alike, and says what it gives up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.alternatives import Alternative, alternatives, nearby
from gpuplan.analysis.rent_or_buy import rent_or_buy
from gpuplan.analysis.silos import silo_costs
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict


def by_key(plan: Plan) -> dict[str, Alternative]:
    """The alternatives by their key."""
    return {each.key: each for each in alternatives(plan)}


def test_the_plan_stands_first_and_all_others_beside_it(example: Plan) -> None:
    found = alternatives(example)
    costs = example.costs
    assert costs is not None
    assert [each.chosen for each in found] == [True, *[False] * (len(found) - 1)]
    assert (found[0].hosts, found[0].gpus, found[0].net_present) == (
        costs.hosts,
        costs.gpus,
        costs.net_present,
    )
    assert found[0].difference == 0 and found[0].gives_up == ""
    for each in found:
        assert each.difference == pytest.approx(each.net_present - costs.net_present)
        assert len(each.gpus) == costs.years
        assert each.gives_up or each.chosen
    keys = [each.key for each in found]
    assert len(keys) == len(set(keys)) and {"n0", "n2", "silos"} <= set(keys)


def test_each_cost_lies_within_its_range(example: Plan) -> None:
    found = by_key(example)
    for each in found.values():
        assert each.low is not None and each.high is not None
        assert each.low <= each.net_present + 1e-6 and each.net_present - 1e-6 <= each.high, each.key
    assert example.cost_ranges is not None
    assert (found["plan"].low, found["plan"].high) == example.cost_ranges.net_present


def test_a_stated_rent_has_no_range(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("enterprise").with_value("prices.rent/v100-pcie-32gb", 0.5), catalog)
    row = by_key(plan)["rent-on-demand"]
    assert (row.low, row.high) == (None, None)


def test_fewer_hosts_cost_less_and_more_cost_more(example: Plan, catalog: Catalog) -> None:
    found = by_key(example)
    assert found["n0"].difference < 0 < found["n2"].difference
    for failures in (0, 2):
        other = make_plan(example.scenario.with_value("availability.host_failures", failures), catalog)
        assert other.costs is not None
        row = found[f"n{failures}"]
        assert (row.net_present, row.hosts) == (other.costs.net_present, other.costs.hosts)
    assert "without a GPU" in by_key(make_plan(load_scenario("starter"), catalog))["n0"].gives_up
    assert found["n2"].gives_up.startswith("capacity shortfall")


def test_growth_is_in_every_row_but_the_one_that_leaves_it_out(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("current"), catalog)
    found = by_key(plan)
    assert found["plan"].hosts[-1] > found["plan"].hosts[0]
    for key in ("plan", "n0", "n2", "silos"):
        assert found[key].hosts[-1] > found[key].hosts[0], key
    assert found["rent-on-demand"].gpus[-1] > found["rent-on-demand"].gpus[0]
    still = found["no-growth"]
    assert set(still.hosts) == {found["plan"].hosts[0]} and still.difference < 0
    assert "growth" in still.gives_up
    flat = plan.scenario.with_groups([replace(group, growth=None) for group in plan.scenario.groups])
    without = by_key(make_plan(flat, catalog))
    assert "no-growth" not in without
    assert without["plan"].net_present == pytest.approx(still.net_present)


def test_silos_are_the_groups_alone_beside_the_plan(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("demand.stated_gpus", None)
    plan = make_plan(scenario, catalog)
    against = silo_costs(plan)
    assert against is not None
    row = by_key(plan)["silos"]
    assert row.net_present == pytest.approx(against.net_present)
    assert (row.hosts[0], row.gpus[0]) == (against.hosts, against.gpus)
    stored = make_plan(
        scenario.with_value("cost.storage_tb", 100).with_value("prices.storage-tb", 900), catalog
    )
    assert by_key(stored)["silos"].difference == pytest.approx(row.difference)
    assert by_key(stored)["silos"].net_present > row.net_present


def test_one_group_has_no_silos(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"groups": [{"id": "a", "people": 8}]}), catalog)
    assert "silos" not in by_key(plan)


def test_renting_costs_what_rent_or_buy_says_without_the_spare_gpus(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("current"), catalog)
    row, found = by_key(plan)["rent-on-demand"], rent_or_buy(plan)
    assert found is not None and plan.costs is not None
    assert row.net_present == found.rent_net_present and row.hosts == ()
    assert row.gpus == tuple(n - found.spare_gpus for n in plan.costs.gpus)
    assert found.spare_gpus == 2 * 4  # one for failure and one for maintenance, 4 GPUs each
    stated = make_plan(load_scenario("enterprise").with_value("prices.rent/v100-pcie-32gb", 0.5), catalog)
    assert "rent-on-demand" in by_key(stated)
    assert not any(key.startswith("rent") for key in by_key(make_plan(load_scenario("enterprise"), catalog)))


def test_a_plan_with_more_spare_hosts_than_usual_has_all_three_beside_it(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("starter").with_value("availability.host_failures", 3), catalog)
    assert [each.key for each in alternatives(plan)][:4] == ["plan", "n0", "n1", "n2"]


def test_nothing_has_no_alternatives(catalog: Catalog) -> None:
    assert alternatives(make_plan(from_dict({}), catalog)) == ()


def test_one_decision_is_taken_otherwise(example: Plan, catalog: Catalog) -> None:
    found = dict(nearby(example.scenario, catalog))
    failures = example.scenario.availability.host_failures
    assert 2 <= len(found) <= 3
    safer = found[f"N+{failures + 1}"]
    assert safer == example.scenario.with_value("availability.host_failures", failures + 1)
    boards = [each for each in found.values() if each.hardware.gpu != example.scenario.hardware.gpu]
    assert len(boards) == 1
    assert boards[0].availability == example.scenario.availability
