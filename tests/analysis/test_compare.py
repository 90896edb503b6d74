"""Plans in columns: what differs is found, counted and said, and nothing else."""

from __future__ import annotations

import pytest
from approved import has_approved, is_approved
from stated_money import unpriced

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.compare import RESULTS, compare_plans
from gpuplan.catalog import Catalog


@pytest.fixture(scope="module")
def three(catalog: Catalog) -> list[Plan]:
    """The current example, with one failure more, and without one group and with another link."""
    base = load_scenario("current")
    smaller = base.with_groups(base.groups[:-1]).with_value("network.link_gbit_s", 25)
    return [make_plan(s, catalog) for s in (base, base.with_value("availability.host_failures", 2), smaller)]


def test_a_plan_does_not_differ_from_itself(example: Plan) -> None:
    found = compare_plans([example, example])
    assert [row.key for row in found.rows] == list(RESULTS)
    assert not any(row.differs for row in found.rows)
    assert found.sentences == ()
    assert found.names == (f"{example.scenario.name} (1)", f"{example.scenario.name} (2)")


def test_the_inputs_that_differ_are_those_that_were_changed(three: list[Plan]) -> None:
    found = compare_plans(three)
    inputs = {row.key: row.values for row in found.rows if row.key not in RESULTS}
    assert inputs == {
        "availability.host_failures": (1, 2, 1),
        "platform.drs_consolidation": (True, False, False),  # each as is best for its hosts
        "network.link_gbit_s": (100, 100, 25),
        "groups.distributed.people": (1, 1, None),
        "groups.distributed.gpus_each": (1, 1, None),
    }


def test_results_are_those_of_the_plans(three: list[Plan]) -> None:
    rows = {row.key: row for row in compare_plans(three).rows}
    assert rows["totals.hosts"].values == tuple(plan.totals.hosts for plan in three)
    assert rows["cost.net_present"].values == tuple(plan.costs.net_present for plan in three if plan.costs)
    assert rows["cost.net_present"].unit == "USD"
    assert rows["power.racks"].values == tuple(plan.power.racks for plan in three if plan.power)
    assert rows["short_h"].values == tuple(
        next(p.short_h for p in plan.postures if p.chosen) for plan in three
    )
    for row in rows.values():
        assert row.differs == (len(set(row.values)) > 1)


def test_each_result_that_differs_is_said_once(three: list[Plan]) -> None:
    found = compare_plans(three)
    assert found.sentences == (*found.notes, *(each.sentence for each in found.differences))
    keys = [each.key for each in found.differences]
    assert len(set(keys)) == len(keys) and "totals.hosts" in keys
    a, b, c = (plan.totals.hosts for plan in three)
    hosts = next(each for each in found.differences if each.key == "totals.hosts")
    assert hosts.values == (f"{a} hosts", f"{b} hosts", f"{c} hosts")
    assert has_approved(hosts.sentence, f"{b} hosts")
    assert hosts.sentence.endswith("fewer.")


def test_money_in_different_currencies_is_not_compared(three: list[Plan], catalog: Catalog) -> None:
    euro = three[0].scenario.with_value("cost.currency", "EUR").with_value("cost.usd_rate", 0.9)
    found = compare_plans([three[0], make_plan(euro, catalog)])
    assert is_approved(found.sentences, found.names[0], found.names[1]), "no money is compared"
    rows = {row.key: row for row in found.rows}
    assert rows["cost.net_present"].unit == "currency"
    assert rows["cost.net_present"].values[1] == pytest.approx(0.9 * rows["cost.net_present"].values[0])


def test_other_years_and_what_is_left_out_are_said(three: list[Plan], catalog: Catalog) -> None:
    other = three[0].scenario.with_value("cost.years", 1).with_value("cost.storage_tb", 10)
    found = compare_plans([three[0], make_plan(other, unpriced(catalog, "storage-tb"))])
    assert has_approved(found.sentences[0], "5 years", found.names[0], "1 year", found.names[1])
    assert "exclude different items" in found.sentences[1] and "Shared storage" in found.sentences[1]


def test_a_design_without_hosts_has_no_money(three: list[Plan], catalog: Catalog) -> None:
    empty = make_plan(three[0].scenario.with_groups([]), catalog)
    found = compare_plans([three[0], empty])
    rows = {row.key: row.values for row in found.rows}
    assert rows["cost.net_present"][1] is None
    assert rows["totals.hosts"][1] == 0
    assert any(each.values[1] == "none" for each in found.differences)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_two_to_four_plans(three: list[Plan], count: int) -> None:
    with pytest.raises(ValueError, match=f"plans has {count}; from 2 to 4"):
        compare_plans(three[:1] * count)


def test_money_below_a_hundred_is_apart_by_what_is_shown(catalog: Catalog) -> None:
    plans = [make_plan(load_scenario(name), catalog) for name in ("starter", "enterprise")]
    said = {each.key: each.sentence for each in compare_plans(plans).differences}["cost.gpu_hour_used"]
    assert is_approved(said, "USD 2.46", "USD 0.63", "20 %")
