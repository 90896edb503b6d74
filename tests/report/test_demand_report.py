"""The demand as plain data and as text: the same numbers as the study's, all finite."""

from __future__ import annotations

import json
import re

import pytest
from approved import has_approved

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.demand import methods, rule_answers
from gpuplan.analysis.silos import silos
from gpuplan.analysis.simulation import simulate_pool
from gpuplan.catalog import Catalog
from gpuplan.report import demand_dict, demand_text
from gpuplan.scenario import example_names, from_dict


@pytest.mark.parametrize("name", example_names())
def test_the_examples_as_data(name: str, catalog: Catalog) -> None:
    plan = make_plan(load_scenario(name), catalog)
    found = json.loads(
        json.dumps(demand_dict(plan, [simulate_pool(plan, plan.pools[0].id)]), allow_nan=False)
    )
    assert found["gpus_demanded"] == plan.totals.gpus_demanded
    assert [(r["rule"], r["gpus"]) for r in found["rules"]] == [(a.rule, a.gpus) for a in rule_answers(plan)]
    assert found["silos"]["together"]["hosts"] == silos(plan).together.hosts
    assert found["methods"][0]["answers"][0]["gpus"] == methods(plan, plan.pools[0].id).answers[0].gpus
    for week in found["weeks"]:
        totals = [sum(each) for each in zip(*week["quarter_hours_gpus"].values(), strict=True)]
        assert len(totals) == 672
        assert max(totals) == pytest.approx(week["peak_gpus"], abs=1e-5)
    assert found["simulated"][0]["hosts"] == plan.pools[0].hosts
    assert [y["year"] for y in found["purchase_plan"]] == [1, 2, 3]


def test_the_examples_as_text(catalog: Catalog) -> None:
    text = demand_text(make_plan(load_scenario("enterprise"), catalog))
    assert has_approved(text, "28 GPUs", "28")
    assert "Known users (chosen)" in text
    assert "binomial" in text
    current = make_plan(load_scenario("current"), catalog)
    text = demand_text(current, [simulate_pool(current, "vgpu", when="week")])
    assert has_approved(" ".join(text.split()), "10")
    assert has_approved(text, "10 hosts", "40 GPUs")
    assert "All silos" in text
    assert "Saved by sharing" in text
    assert max(map(len, text.splitlines())) <= 120


def test_the_mixes_of_the_week(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("current").with_value("demand.rule", "hours"), catalog)
    found = demand_dict(plan)["mixes"]
    assert sum(mix["sized_for"] for mix in found) == 1
    assert max(mix["hosts"] for mix in found) == plan.totals.hosts_for_demand
    text = demand_text(plan)
    assert "(sized for)" in text
    assert "Mon-Fri" in text


def test_nothing_asked_and_a_total_for_nobody(catalog: Catalog) -> None:
    nobody = make_plan(from_dict({}), catalog)
    assert demand_dict(nobody)["methods"] == []
    assert "No workloads yet." in demand_text(nobody)
    stated = make_plan(from_dict({"demand": {"stated_gpus": 9}}), catalog)
    assert demand_dict(stated)["gpus_demanded"] == 9
    text = demand_text(stated)
    assert has_approved(text, "9 GPUs")
    assert not re.search("0 GPUs|silo|user|group|at the same time", text, re.IGNORECASE)
