"""Hosts and money never stand alone: beside them, whether the design is valid, its unplaced VMs, stops and the range."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

import gpuplan as gp
from gpuplan import Plan, Scenario, load_scenario, make_plan
from gpuplan.analysis.alternatives import alternatives
from gpuplan.analysis.break_even import to_win
from gpuplan.analysis.candidates import asked
from gpuplan.analysis.option import assess
from gpuplan.analysis.ranking import sorted_out
from gpuplan.analysis.rent_or_buy import posture_costs, purchase_plan
from gpuplan.analysis.sensitivity import tornado
from gpuplan.analysis.silos import silo_costs, silos
from gpuplan.analysis.variants import REFUSED, outcome, standing, together
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.report import cost_text, demand_text, plan_frames, plan_text
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.table import COLUMNS, texts
from gpuplan.report.tables import demand, explore
from gpuplan.report.tables.alternatives import in_short

BESIDE = ["valid", "unplaced_vms", "stops", "low", "high", "checked"]
COUNTED = {"hosts", "gpus", "net_present"}
SAYS = re.compile(r"without a GPU|no GPU|not placed|to fix")
OF_DESIGNS = ("alternatives", "postures", "silos", "growth", "designs", "same_boards", "points")
"""Tables with a row for each of several designs."""


def wrong_ones() -> dict[str, Scenario]:
    """Designs of which some VMs have no GPU, or of which a check says stop."""
    enterprise, starter = load_scenario("enterprise"), load_scenario("starter")
    first = starter.groups[0].id
    return {
        "mode that the board lacks": enterprise.with_value("groups.researchers.access", "mig"),
        "mode for one host only": enterprise.with_value("groups.researchers.access", "bitfusion"),
        "stated total too small": enterprise.with_value("demand.rule", "stated").with_value("demand.stated_gpus", 9),
        "vMotion that cannot be": starter.with_value(f"groups.{first}.vmotion", "needed").with_value(f"groups.{first}.access", "passthrough"),
    }  # fmt: skip


@pytest.fixture(scope="module", params=wrong_ones())
def wrong(request: pytest.FixtureRequest, catalog: Catalog) -> Plan:
    return make_plan(wrong_ones()[request.param], catalog)


def test_a_design_with_unplaced_vms_or_a_stop_is_not_valid(wrong: Plan) -> None:
    found = standing(wrong)
    assert found.unplaced_vms == wrong.totals.unplaced_vms
    assert set(found.stops) == {message.code for message in check_plan(wrong) if message.level == "stop"}
    assert found.valid is (not found.unplaced_vms and not found.stops)
    if wrong.cost_ranges:
        assert (found.low, found.high) == wrong.cost_ranges.net_present
    assert SAYS.search(found.words) if not found.valid else not found.words


def test_what_is_shown_of_it_says_so(wrong: Plan) -> None:
    if standing(wrong).valid:
        pytest.skip("this board can do it")
    texts_of = {
        "repr": repr(wrong),
        "card": wrong._repr_html_(),
        "hosts": repr(gp.explain(wrong, "totals.hosts")),
        "card of hosts": gp.explain(wrong, "totals.hosts")._repr_html_(),
        "plan": plan_text(wrong),
        "demand": demand_text(wrong),
    }
    if wrong.costs:
        texts_of |= {
            "cost": cost_text(wrong),
            "cost explained": repr(gp.explain(wrong, "cost.net_present")),
            "headline of cost": HEADLINES["cost"](wrong).sentence,
            "page 1": str(texts(in_short(wrong, alternatives(wrong)))[0]),
            "alternative": alternatives(wrong)[0].gives_up,
        }
    assert [name for name, text in texts_of.items() if not SAYS.search(text)] == []


def test_every_frame_with_hosts_or_money_has_it_beside(wrong: Plan, plans: dict[str, Plan]) -> None:
    for plan in (wrong, plans["starter"]):
        for name, rows in plan_frames(plan).items():
            if COUNTED & {*rows.columns}:
                assert set(BESIDE) <= {*rows.columns}, name
                if name not in OF_DESIGNS:
                    assert [*rows["valid"].unique()] in ([], [standing(plan).valid]), name


@pytest.mark.parametrize("name", OF_DESIGNS)
def test_every_table_of_designs_has_the_columns(name: str) -> None:
    assert any((row["column"], row["of"]) == ("standing", "set") for row in COLUMNS[name])
    others = {table for table, rows in COLUMNS.items() if table not in OF_DESIGNS for row in rows
              if row["column"] == "net_present"}  # fmt: skip
    within = {"same_works", "solved", "solved_all", "quantiles"}  # valid, or say why there is none
    assert others <= {"alternatives_in_short", *within}, "tables of designs by their cost"


def test_a_sweep_says_which_values_can_be_bought() -> None:
    found = gp.sweep("enterprise", "groups.researchers.access", ["vgpu", "mig", "bitfusion"])
    assert [*found["valid"]] == [True, False, False]
    assert [*found["unplaced"]] == [0, 3, 3]
    assert [bool(stops) for stops in found["stops"]] == [False, True, True]
    assert (found["low"] < found["net_present"]).all() and (found["net_present"] < found["high"]).all()
    none = gp.sweep("enterprise", "hardware.gpus_per_host", [4, 99])
    assert [*none["valid"]] == [True, False] and none["refused"][1]
    assert (
        outcome(
            load_scenario("enterprise").with_value("hardware.gpus_per_host", 99), gp.load_catalog()
        ).standing
        == REFUSED
    )


def test_it_never_ranks_first(wrong: Plan, catalog: Catalog, plans: dict[str, Plan]) -> None:
    own, sound = asked(wrong.scenario), plans["enterprise"].scenario
    option = assess(wrong.scenario, catalog, own)
    found = sorted_out(wrong.scenario, catalog, [option])
    assert bool(found.winner) is (standing(wrong).valid and not option.reasons)
    if not standing(wrong).valid:
        assert option.reasons and found.ranked == ()
    here = assess(sound, catalog, asked(sound))
    if wrong.totals.unplaced_vms:
        assert to_win(wrong.scenario, catalog, option, here) == (), "its cost is no cost to reach"


def test_comparisons_and_analyses_say_so(wrong: Plan, plans: dict[str, Plan]) -> None:
    found = gp.compare(plans["enterprise"], wrong)
    rows = {row.key: row.values[1] for row in found.rows}
    known = standing(wrong)
    assert (rows["valid"], rows["totals.unplaced_vms"]) == (known.valid, known.unplaced_vms)
    assert (rows["low"], rows["high"]) == (known.low, known.high)
    assert known.valid or any(SAYS.search(note) for note in found.notes)
    years = purchase_plan(wrong)
    assert years[0].standing == known
    assert (texts(demand.growth(years)) != []) and (known.valid or not years[0].standing.valid)
    assert all(posture.unplaced_vms == known.unplaced_vms for posture in posture_costs(wrong))
    if wrong.groups:
        apart = silos(wrong)
        assert apart.together.standing == together(silo.standing for silo in apart.groups)
        priced = silo_costs(wrong)
        assert priced is None or [s.unplaced_vms for s in priced.groups] == [
            s.standing.unplaced_vms for s in apart.groups
        ]


def test_an_end_of_a_range_that_serves_fewer_says_so(catalog: Catalog) -> None:
    scenario = (
        load_scenario("enterprise").with_value("demand.rule", "stated").with_value("demand.stated_gpus", 28)
    )
    plan = make_plan(scenario, catalog)
    fewer = [bar for bar in tornado(plan) if bar.unplaced_high]
    assert fewer
    for bar in fewer:
        high = make_plan(scenario.with_value(bar.path, bar.high), catalog)
        assert bar.unplaced_high == high.totals.unplaced_vms
        assert SAYS.search(bar.note)
        data: dict[str, Any] = {name: getattr(bar, name) for name in bar.__slots__}
        known = {n: getattr(bar, n) for n in ("path", "label", "unit", "now", "low", "high", "basis", "note")}
        assert SAYS.search(str(texts(explore.bars([known | data], 1.0, "USD"))))
    assert replace(fewer[0], unplaced_high=0) != fewer[0]
