"""Bars and thresholds: each end planned again gives the bar, and scanning every value gives the threshold."""

from __future__ import annotations

import math

import pytest
from approved import has_approved
from stated_money import unpriced

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.sensitivity import FACTORS, Bar, Threshold, thresholds, tornado
from gpuplan.catalog import Catalog
from gpuplan.scenario import FIELD_BY_PATH, Group, Scenario, ScenarioError, from_dict


@pytest.fixture(scope="module")
def small(catalog: Catalog) -> Plan:
    """Two groups on hosts of four GPUs, sized from the groups, with a stated range and a stated price.

    Their access is decided: to weigh the ways by cost would take each of hundreds of plans five times as long.
    """
    scenario = Scenario(
        name="Small",
        groups=(
            Group("a", "Analysts", people=9, active_share=0.6, gpus_each=0.5, access="vgpu"),
            Group(
                "b",
                "Builders",
                people=5,
                active_share=1.0,
                gpus_each=2,
                remote_allowed=False,
                growth=0.1,
                access="passthrough",
            ),
        ),
    )
    scenario = scenario.with_value("ranges.groups.b.people", (3, 8)).with_value("prices.gpus/l40s-48gb", 8000)
    return make_plan(scenario, catalog)


Counted = list[tuple[int, int]]
"""How many of how many steps were done, each time that progress was told."""


@pytest.fixture(scope="module")
def varied(small: Plan) -> tuple[dict[str, Bar], Counted]:
    """Bars of the small design, the largest first, and the progress to them."""
    told: Counted = []
    found = tornado(small, lambda done, total: told.append((done, total)))
    return {bar.path: bar for bar in found}, told


@pytest.fixture(scope="module")
def bars(varied: tuple[dict[str, Bar], Counted]) -> dict[str, Bar]:
    """Bars of the small design."""
    return varied[0]


@pytest.fixture(scope="module")
def scanned(small: Plan) -> tuple[dict[str, Threshold], Counted]:
    """Thresholds of the small design, and the progress to them."""
    told: Counted = []
    found = thresholds(small, lambda done, total: told.append((done, total)))
    return {each.path: each for each in found}, told


@pytest.fixture(scope="module")
def stated(small: Plan, catalog: Catalog) -> dict[str, Bar]:
    """Bars of the small design with two stated factors, one of them with a range, and a range that ends beyond a host."""
    scenario = small.scenario.with_value("cost.pue", 1.2).with_value("cost.support_share", 0.1)
    scenario = scenario.with_value("ranges.cost.support_share", (0.05, 0.15))
    scenario = scenario.with_value("ranges.groups.b.gpus_each", (1, 8))
    return {bar.path: bar for bar in tornado(make_plan(scenario, catalog))}


def test_every_bar_can_be_planned_again(small: Plan, bars: dict[str, Bar], catalog: Catalog) -> None:
    assert len(bars) > 10
    for bar in bars.values():
        for value, cost, hosts in (
            (bar.low, bar.cost_low, bar.hosts_low),
            (bar.high, bar.cost_high, bar.hosts_high),
        ):
            plan = make_plan(small.scenario.with_value(bar.path, value), catalog)
            assert plan.costs is not None
            assert (plan.costs.net_present, plan.totals.hosts) == (cost, hosts)


def test_setting_an_input_to_what_it_is_now_changes_nothing(
    small: Plan, bars: dict[str, Bar], catalog: Catalog
) -> None:
    assert small.costs is not None
    for bar in bars.values():
        plan = make_plan(small.scenario.with_value(bar.path, bar.now), catalog)
        assert plan.costs is not None
        assert plan.costs.net_present == pytest.approx(small.costs.net_present, rel=1e-12)
        assert bar.low <= bar.now <= bar.high


def test_the_largest_swing_comes_first(small: Plan, bars: dict[str, Bar]) -> None:
    assert small.costs is not None
    now = small.costs.net_present
    swings = [max(b.cost_low, b.cost_high, now) - min(b.cost_low, b.cost_high, now) for b in bars.values()]
    assert swings == sorted(swings, reverse=True)
    assert min(swings) > 0


def test_a_stated_range_wins_over_the_planning_range(bars: dict[str, Bar]) -> None:
    assert (bars["groups.b.people"].low, bars["groups.b.people"].high) == (3, 8)
    assert bars["groups.b.people"].basis == "quoted"
    assert (bars["groups.a.people"].low, bars["groups.a.people"].high) == (
        7,
        12,
    )  # 0.8 x 9 and 1.3 x 9, outwards
    assert bars["groups.a.people"].basis == "assumed"
    assert "Rounded outwards" in bars["groups.a.people"].note


def test_a_range_ends_where_the_input_does(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    bar = next(b for b in tornado(make_plan(scenario, catalog)) if b.path == "groups.inference.active_share")
    assert (bar.low, bar.now, bar.high) == (pytest.approx(0.7), 1.0, 1.0)
    assert has_approved(bar.note, "1")


def test_prices_and_factors_have_the_range_of_the_catalog(
    small: Plan, bars: dict[str, Bar], catalog: Catalog
) -> None:
    row = catalog.row("factors", "support_share")
    bar = bars["cost.support_share"]
    assert (bar.now, bar.low, bar.high) == (row["value"], row["low"], row["high"])
    assert "prices.gpus/l40s-48gb" not in bars  # it is stated, and without a range
    assert small.costs is not None
    for price in small.costs.prices:
        path = f"prices.{price.key}"
        if path in bars:
            assert (bars[path].low, bars[path].high) == (price.fact.low, price.fact.high)
            assert bars[path].unit == "USD"
    assert sum(path.startswith("prices.") for path in bars) >= 4


def test_a_stated_factor_is_certain_unless_a_range_is_stated(
    bars: dict[str, Bar], stated: dict[str, Bar]
) -> None:
    assert "cost.pue" in bars and "cost.pue" not in stated
    bar = stated["cost.support_share"]
    assert (bar.low, bar.now, bar.high) == (0.05, 0.1, 0.15)


def test_an_end_that_cannot_be_planned_is_said(stated: dict[str, Bar]) -> None:
    bar = stated["groups.b.gpus_each"]
    assert (bar.cost_high, bar.hosts_high) == (None, None)
    assert bar.cost_low is not None
    assert has_approved(bar.note)


def test_what_the_cost_at_an_end_leaves_out_is_said(catalog: Catalog) -> None:
    without = unpriced(catalog, "switches/dell-s5448f-on")
    bars = tornado(make_plan(load_scenario("enterprise").with_value("demand.rule", "stated"), without))
    note = next(bar.note for bar in bars if bar.path == "demand.stated_gpus")
    assert has_approved(note, "PowerSwitch S5448F-ON")


def test_bursts_count_where_jobs_may_wait(catalog: Catalog) -> None:
    group = Group("jobs", "Jobs", people=1, jobs_per_day=200.0, work_h=2.0, remote_allowed=False)
    scenario = Scenario(name="Jobs", groups=(group,)).with_value("demand.rule", "wait")
    found = {bar.path: bar for bar in tornado(make_plan(scenario, catalog))}
    bar = found["demand.peakedness"]
    assert bar.hosts_low is not None and bar.hosts_high is not None
    assert bar.hosts_low < bar.hosts_high
    assert {"groups.jobs.jobs_per_day", "groups.jobs.work_h"} <= set(found)
    assert "groups.jobs.people" not in found


@pytest.mark.parametrize("work", ["varied", "scanned"])
def test_progress_counts_to_the_end(work: str, request: pytest.FixtureRequest) -> None:
    _, seen = request.getfixturevalue(work)
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert {total for _, total in seen} == {len(seen)}


def test_every_factor_is_an_input_and_a_row(catalog: Catalog) -> None:
    for name in FACTORS:
        assert f"cost.{name}" in FIELD_BY_PATH
        assert catalog.row("factors", name)["low"] < catalog.row("factors", name)["high"]


def test_planning_ranges_hold_what_is_stated(catalog: Catalog) -> None:
    for row in catalog.rows("ranges"):
        neutral = 1 if row["way"] == "times" else 0
        assert row["low"] < neutral < row["high"]
        assert row.note


def test_without_hosts_there_is_nothing_to_vary(catalog: Catalog) -> None:
    plan = make_plan(Scenario(name="Nobody"), catalog)
    assert (tornado(plan), thresholds(plan)) == ((), ())


def scan(plan: Plan, path: str, values: list[float]) -> tuple[float | None, int | None]:
    """The first of some values at which the number of hosts is another one."""
    for value in values:
        try:
            hosts = sum(
                make_plan(plan.scenario.with_value(path, value), plan.catalog).hosts_by_pool().values()
            )
        except ScenarioError:
            return None, None
        if hosts != plan.totals.hosts:
            return value, hosts
    return None, None


def test_thresholds_are_what_a_scan_finds(small: Plan, scanned: tuple[dict[str, Threshold], Counted]) -> None:
    found, _ = scanned
    assert list(found) == [f"groups.{g}.{name}" for g in "ab" for name in ("people", "active_share")]
    for group, people in (("a", 9), ("b", 5)):
        given = found[f"groups.{group}.people"]
        assert (given.below, given.hosts_below) == scan(small, given.path, [*range(people - 1, -1, -1)])
        assert (given.above, given.hosts_above) == scan(small, given.path, [*range(people + 1, people + 40)])
    given = found["groups.a.active_share"]
    assert (given.below, given.hosts_below) == scan(small, given.path, steps(range(599, -1, -1), given.below))
    assert (given.above, given.hosts_above) == scan(small, given.path, steps(range(601, 1001), given.above))


def steps(thousandths: range, found: float | None) -> list[float]:
    """Shares to look at: every fiftieth, and each beside what was found."""
    here = 1000 * (found if found is not None else math.inf)
    return [n / 1000 for n in thousandths if n % 20 == 0 or abs(n - here) < 3]


def test_the_stated_total_and_the_accepted_chance_have_thresholds(small: Plan, catalog: Catalog) -> None:
    stated = make_plan(
        small.scenario.with_value("demand.stated_gpus", 18).with_value("demand.rule", "stated"), catalog
    )
    given = next(t for t in thresholds(stated) if t.path == "demand.stated_gpus")
    assert (given.below, given.hosts_below) == scan(stated, given.path, [*range(17, 0, -1)])
    assert (given.above, given.hosts_above) == scan(stated, given.path, [*range(19, 60)])
    waits = make_plan(small.scenario.with_value("demand.rule", "wait"), catalog)
    given = next(t for t in thresholds(waits) if t.path == "demand.chance")
    for value, hosts in ((given.below, given.hosts_below), (given.above, given.hosts_above)):
        if value is not None:
            assert make_plan(waits.scenario.with_value(given.path, value), catalog).totals.hosts == hosts
            inside = value + (0.0001 if value < 0.05 else -0.0001)
            near = make_plan(waits.scenario.with_value(given.path, round(inside, 4)), catalog)
            assert near.totals.hosts == waits.totals.hosts


def test_with_a_margin_prices_are_tried_as_they_are_bought(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("starter").with_value("internal.margin", 0.3), catalog)
    assert plan.costs is not None
    path = f"prices.gpus/{plan.scenario.hardware.gpu}"
    bar = next(bar for bar in tornado(plan) if bar.path == path)
    row = next(r for r in catalog.rows("prices") if f"prices.{r['item']}" == path and r["use"] == "default")
    assert bar.label.startswith("Purchase price")
    assert (bar.low, bar.now, bar.high) == (row["low_usd"], row["price_usd"], row["high_usd"])
    again = make_plan(plan.scenario.with_value(path, bar.now), catalog)
    assert again.costs is not None and again.costs.net_present == plan.costs.net_present


def test_a_rack_carries_one_host_at_the_low_end(catalog: Catalog) -> None:
    """The planning value is 8 kW, 4 to 30; a host of 12.5 kW raises it and its low."""
    hardware = {"gpu": "h200-sxm5-141gb", "server": "dell-xe9680", "gpus_per_host": 8}
    plan = make_plan(from_dict({"groups": [{"id": "a", "people": 30}], "hardware": hardware}), catalog)
    (found,) = (bar for bar in tornado(plan) if bar.path == "cost.rack_kw")
    assert (found.now, found.low, found.high) == (12.5, 12.5, 30)
    assert found.cost_low is not None and found.cost_high is not None
    assert found.cost_low >= found.cost_high
