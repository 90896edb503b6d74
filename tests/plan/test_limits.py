"""How far a design is within each limit: values by hand, what is not known, growth, and what is not read."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from kinds_of_hosts import design

from gpuplan import Limits, Plan, Scenario, check_plan, load_catalog, load_scenario, make_plan
from gpuplan.plan.limits import MEASURES, Within
from gpuplan.scenario import Group, ScenarioError, from_dict

CATALOG = load_catalog()


def limited(name: str, **limits: Any) -> Plan:
    scenario = load_scenario(name)
    for limit, value in limits.items():
        scenario = scenario.with_value(f"limits.{limit}", value)
    return make_plan(scenario, CATALOG)


def one(name: str, **limits: Any) -> Within:
    (found,) = limited(name, **limits).within
    return found


def with_boards(gpu: str, **limits: Any) -> Within:
    scenario = load_scenario("assistant").with_value("hardware.gpu", gpu)
    (found,) = make_plan(Scenario(**_parts(scenario, limits)), CATALOG).within
    return found


def _parts(scenario: Scenario, limits: dict[str, Any]) -> dict[str, Any]:
    parts = {name: getattr(scenario, name) for name in Scenario.__slots__}
    return parts | {"limits": Limits(**limits)}


def test_no_limit_no_record() -> None:
    assert make_plan(load_scenario("starter"), CATALOG).within == ()


def test_every_limit_is_measured_in_the_order_of_its_inputs() -> None:
    assert tuple(MEASURES) == Limits.__slots__


def test_the_figures_are_those_of_the_plan() -> None:
    plan = limited(
        "starter", budget=1e9, budget_start=1e9, power_kw=1, cooling_kw=1, racks=9, ports=9, co2_t=1
    )
    assert plan.costs and plan.power and plan.cabling and plan.cabling.switches
    values = {each.key: each.value for each in plan.within}
    assert values == {
        "budget": plan.costs.net_present,
        "budget_start": plan.costs.cash[0],
        "power_kw": plan.power.peak_w / 1000,
        "cooling_kw": plan.power.peak_w / 1000,
        "racks": plan.power.racks,
        "ports": plan.cabling.switches.total.host_cables,
        "co2_t": plan.power.emissions_kg / 1000,
    }
    assert all(plan.line(each.line).basis == each.basis for each in plan.within)


def test_a_list_has_no_excess() -> None:
    for allowed in ("h100-nvl-94gb", "l4-24gb"):
        found = one("assistant", boards=allowed)
        assert (found.over, found.share) == (None, None)
        assert not check_plan(limited("assistant", boards="h100-nvl-94gb"))[0].path.startswith("limits.")


def test_over_by_hand() -> None:
    found = one("assistant", racks=2)  # 2 racks for 6 hosts, 3 for those of the last year
    assert (found.limit, found.value, found.met, found.share, found.over) == (2, 3, False, 1.5, 1)
    assert "2 racks" in found.why


def test_racks_and_boards_read_no_cost() -> None:
    plan = limited(
        "starter", racks=9, power_kw=90, ports=9, boards="l40s-48gb", vendors="Dell", delivery_weeks=9
    )
    assert len(plan.within) == 6
    assert not {"costs", "counts", "management"} & vars(plan).keys()


@pytest.mark.parametrize(
    ("gpu", "limit", "value", "met"),
    [
        ("b200-sxm6-180gb", 43, 43, True),
        ("b200-sxm6-180gb", 20, 43, None),
        ("b200-sxm6-180gb", 7, 8, False),
        ("h200-sxm5-141gb", 500, 40, None),
        ("h200-sxm5-141gb", 39, 40, False),
        ("h100-nvl-94gb", 500, None, None),
    ],
)
def test_delivery(gpu: str, limit: float, value: float | None, met: bool | None) -> None:
    found = with_boards(gpu, delivery_weeks=limit)
    assert (found.value, found.met) == (value, met)
    assert found.why


def test_a_delivery_date_counts_from_the_decision() -> None:
    scenario = load_scenario("assistant").with_value("hardware.gpu", "h100-sxm5-80gb")
    scenario = scenario.with_value("document.decide_by", "2027-01-01")
    scenario = scenario.with_value("limits.delivery_date", "2027-03-01")
    (found,) = make_plan(scenario, CATALOG).within
    weeks = (date(2027, 9, 10) - date(2027, 1, 1)).days / 7
    assert weeks == 36 and (found.value, found.met) == ("2027-09-10", False)
    assert found.over == (date(2027, 9, 10) - date(2027, 3, 1)).days / 7


@pytest.mark.parametrize(
    ("limits", "path", "named"),
    [
        ({"boards": "l40s-48"}, "limits.boards", "l40s-48gb"),
        ({"vendors": "Dell, Acme"}, "limits.vendors", "Supermicro"),
    ],
)
def test_what_cannot_be_is_refused(limits: dict[str, Any], path: str, named: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        limited("starter", **limits)
    (wrong,) = refused.value.problems
    assert wrong.path == path and named in wrong.message


def test_a_limit_that_nothing_can_keep_is_missed_and_not_refused() -> None:
    found = {
        each.key: each
        for each in limited("starter", delivery_date="2020-01-01", budget=10, budget_start=11).within
    }
    assert {each.met for each in found.values()} == {False} and len(found) == 3
    over = found["delivery_date"].over
    assert over is not None and over > 300


def test_several_kinds_of_hosts_are_measured_together() -> None:
    limits = {"racks": 9, "power_kw": 1, "budget": 1e9, "boards": "l4-24gb", "vendors": "Dell"}
    scenario = from_dict(design(limits=limits))
    plan = make_plan(scenario, CATALOG)
    found = {each.key: each for each in plan.within}
    assert plan.costs and plan.power and len(plan.new_boards) > 1
    assert found["budget"].value == plan.costs.net_present and found["racks"].value == plan.power.racks
    assert set(str(found["boards"].value).split(", ")) == set(plan.new_boards)
    assert found["boards"].met is False and found["vendors"].met is None


def test_without_hosts_nothing_is_known() -> None:
    empty = make_plan(Scenario(limits=Limits(budget=1, racks=1, power_kw=1)), CATALOG)
    assert [each.met for each in empty.within] == [None, None, None]


def test_lists_are_read_from_lists_and_text() -> None:
    assert limited("starter", boards=["l40s-48gb"]).scenario.limits.boards == "l40s-48gb"
    listed = Scenario(groups=(Group("a"),), limits=Limits(boards=["l40s-48gb", "l4-24gb"]))  # type: ignore[arg-type]
    assert (
        listed.limits.names("boards")
        == ("l40s-48gb", "l4-24gb")
        == Limits(boards="l40s-48gb, l4-24gb").names("boards")
    )
