"""The cost of a plan as plain data and as text: the same numbers as the plan's, all finite, nothing left out in silence."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from approved import has_approved, is_approved
from random_cases import of_the_day
from stated_money import unpriced

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.alternatives import alternatives
from gpuplan.analysis.demand import methods, rule_answers
from gpuplan.analysis.rent_or_buy import posture_costs, rent_or_buy
from gpuplan.analysis.silos import silo_costs, silos
from gpuplan.analysis.simulation import simulate_pool
from gpuplan.catalog import Catalog
from gpuplan.plan.training.scaling import HOSTS
from gpuplan.report import (
    cost_dict,
    cost_text,
    demand_dict,
    demand_text,
    money,
    network_dict,
    network_text,
    plan_text,
)
from gpuplan.scenario import Scenario, example_names, from_dict
from gpuplan.wording import PAGE_WIDTH, headline_money, share_range, share_words

HEADINGS = (
    "By part",
    "By workload, by GPU demand",
    "Bill of materials, on the day of installation",
    "Prices",
    "Power and space",
    "Alternatives",
)


def section(text: str, heading: str) -> str:
    return text.partition(f"\n{heading}\n")[2].partition("\n\n")[0]


def one_line(text: str) -> str:
    return re.sub(r"[ \n]+", " ", text)


def in_currency(scenario: Scenario, currency: str, rate: float) -> Scenario:
    return replace(scenario, cost=replace(scenario.cost, currency=currency, usd_rate=rate))


def test_the_examples_as_data(example: Plan) -> None:
    data = json.loads(json.dumps(cost_dict(example), allow_nan=False))
    costs = example.costs
    assert costs is not None
    assert data["costs"]["net_present"] == costs.net_present
    assert data["costs"]["excludes"] == list(costs.excludes)
    assert "materials" not in data["costs"]
    assert [m["key"] for m in data["bill_of_materials"]] == [m.key for m in costs.materials]
    assert all(m["rule"] and m["sources"] for m in data["bill_of_materials"])
    assert [p["host_failures"] for p in data["postures"]] == [p.host_failures for p in posture_costs(example)]
    against = silo_costs(example)
    assert against is not None
    assert data["silos"]["saved"] == against.saved
    assert bool(data["rent_or_buy"]) is not bool(data["no_rental"])


def test_the_examples_as_text(example: Plan) -> None:
    text = cost_text(example)
    costs = example.costs
    assert costs is not None
    assert text.startswith(f"{example.scenario.name}\n====")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    for heading in HEADINGS:
        assert f"\n{heading}\n{'-' * len(heading)}\n" in text
    assert f"{money(costs.net_present, '').strip()} exactly" in one_line(text)
    assert example.cost_ranges is not None
    assert headline_money(costs.net_present, "USD", example.cost_ranges.net_present) in text
    for part in costs.parts:
        assert part.name in text
    for item in costs.unknown:
        assert item.name in text
        assert f"\n{item.key} " in section(text, "Prices") or item.key in text
    assert "None" not in text
    assert "{" not in text.replace("{KEY: ...}", "")
    assert max(map(len, text.splitlines())) <= PAGE_WIDTH.get() + 35


def test_the_answer_names_what_the_cost_leaves_out(catalog: Catalog) -> None:
    catalog = unpriced(catalog, "gpus/h100-sxm5-64gb", "adapter-25g")
    scenario = from_dict({"groups": [{"id": "a"}], "hardware": {"gpu": "h100-sxm5-64gb"}})
    plan = make_plan(scenario, catalog)
    text = cost_text(plan)
    name = catalog.gpus["h100-sxm5-64gb"].name
    assert name in one_line(text.partition("Cost excludes")[2].partition("\n\n")[0])
    assert "not known" in section(text, "Bill of materials, on the day of installation")
    assert plan.costs is not None
    left_out = len(plan.costs.excludes)
    not_in_it = f"{left_out} item{'s' * (left_out > 1)} {'are' if left_out > 1 else 'is'} not included"
    assert not_in_it in one_line(plan_text(plan).partition("5-year cost (NPV)  ")[2].partition("\n\n")[0])
    whole = scenario
    for item in plan.costs.unknown:
        whole = whole.with_value(f"prices.{item.key}", 1.0)
    assert "Cost excludes" not in cost_text(make_plan(whole, catalog))


def test_columns_of_years_add_up_as_shown(plans: dict[str, Plan]) -> None:
    """Rounded to whole dollars, each column is at most half a dollar a part away from its sum."""
    text = cost_text(plans["enterprise"]).replace("\u202f", "")
    rows = section(text, "Payments by year, in USD").splitlines()[2:]
    found = {
        row[:17].strip(): [0 if n == "\u2013" else int(n) for n in row[17:].split()] for row in rows[:12]
    }
    parts = [values for name, values in found.items() if name not in ("All parts", "GPU hosts")]
    assert len(parts) == len(plans["enterprise"].costs.parts)  # type: ignore[union-attr]
    for at, total in enumerate(found["All parts"]):
        assert abs(sum(values[at] for values in parts) - total) <= len(parts)
    assert found["GPU hosts"] == [8] * 5


@pytest.mark.parametrize(("rate", "word"), [(1.0, ""), (200.0, "thousands of "), (100_000.0, "millions of ")])
def test_large_amounts_are_told_in_thousands(catalog: Catalog, rate: float, word: str) -> None:
    scenario = in_currency(load_scenario("enterprise"), "VND", rate)
    text = cost_text(make_plan(scenario.with_value("cost.years", 7), catalog))
    assert has_approved(text, f"{word}VND")
    assert "USD" not in text.partition("Rent or buy")[0]


def test_every_price_says_what_it_is_and_since_when(example: Plan) -> None:
    costs = example.costs
    assert costs is not None
    prices = text = cost_text(example).partition("\nPrices\n")[2].partition("\nPower and space\n")[0]
    for price in costs.prices:
        row = next(line for line in prices.splitlines() if line.startswith(f"{price.key} "))
        assert price.as_of in row
        assert ("(old)" in row) is price.old
        assert price.fact.sources[0] in row
    old = sum(price.old for price in costs.prices)
    assert has_approved(one_line(text), old, "2026-11-21", len(costs.unknown))


def test_a_stated_price_is_called_stated(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("prices.gpus/v100-pcie-32gb", 5000)
    prices = cost_text(make_plan(scenario, catalog)).partition("\nPrices\n")[2]
    row = next(line for line in prices.splitlines() if line.startswith("gpus/v100-pcie-32gb "))
    assert row.split("  ")[1:] and "5\u202f000  each" in row
    assert " stated " in row


def test_a_discount_is_said_where_it_is_taken_off(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("prices.gpus/v100-pcie-32gb", 5000)
    text = cost_text(make_plan(scenario.with_value("cost.hardware_discount", 0.4), catalog))
    bill = one_line(section(text, "Bill of materials, on the day of installation"))
    each, paid = (money(value, "").strip() for value in (5000, 0.6 * 32 * 5000))
    assert has_approved(bill, each, "40 %", paid, "4 boards", "8")  # a stated price too
    assert f"{each} 40 %" not in one_line(cost_text(make_plan(scenario, catalog)))


def test_alternatives_that_leave_out_different_things_are_said(example: Plan) -> None:
    mine, *others = alternatives(example)
    text = one_line(cost_text(example).partition("\nAlternatives\n")[2])
    for each in others:
        differ = bool(each.hosts or each.excludes) and set(each.excludes) != set(mine.excludes)
        more, fewer = (set(one.excludes) - set(two.excludes) for one, two in ((each, mine), (mine, each)))
        said = text.partition(f"{each.name}: the cost ")[2].partition(" (power not known).")[0]
        assert bool(said) == differ
        assert not differ or (
            ("also excludes " in said) == bool(more) and ("does not exclude " in said) == bool(fewer)
        )


def test_the_hosts_that_a_cost_is_for_stand_beside_it(plans: dict[str, Plan]) -> None:
    assert has_approved(cost_text(plans["current"]), "10 hosts", "19", "5")
    assert "For                8 hosts\n" in cost_text(plans["starter"])


def test_rent_or_buy_is_told_as_it_is_worked_out(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("current").with_value("prices.rent/h100-nvl-94gb", 3), catalog)
    found = rent_or_buy(plan)
    assert found is not None
    text = cost_text(plan).partition("\nAlternatives\n")[2]
    row = next(line for line in text.splitlines() if line.startswith("Rented on demand"))
    assert money(found.rent_net_present, "").strip() in row
    none = cost_text(make_plan(load_scenario("enterprise"), catalog))
    assert has_approved(one_line(none), "Tesla V100 PCIe 32GB")
    assert "Rent or buy" not in none


def test_a_rack_that_cannot_carry_a_host_is_said(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("enterprise").with_value("cost.rack_kw", 1), catalog)
    assert has_approved(cost_text(plan).partition("\nPower and space\n")[2])
    assert "rack" not in plan_text(plan).partition("Power  ")[2].partition("\n")[0]


def test_a_switch_of_unknown_power_draws_not_nothing(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("enterprise"), catalog)
    assert plan.power is not None
    without = [part for part in plan.power.parts if not part.peak_w]
    text = section(cost_text(plan), "Power and space")
    assert text.count("not known  not known") == len(without)
    assert " 0 W" not in text


def test_growth_beyond_a_design_is_said(catalog: Catalog) -> None:
    plan = make_plan(
        from_dict({"groups": [{"id": "a", "people": 99_000, "active_share": 0.001, "growth": 0.5}]}), catalog
    )
    assert has_approved(one_line(cost_text(plan)))


def test_nothing_asked_costs_nothing(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"name": "Blank"}), catalog)
    data = json.loads(json.dumps(cost_dict(plan), allow_nan=False))
    assert data["costs"] is data["power"] is data["silos"] is data["rent_or_buy"] is None
    assert data["bill_of_materials"] == data["postures"] == []
    assert is_approved(cost_text(plan))


def test_the_design_names_power_and_cost_in_its_answer(plans: dict[str, Plan]) -> None:
    head = plan_text(plans["enterprise"]).partition("Workloads\n---")[0]
    plan = plans["enterprise"]
    assert plan.costs is not None
    assert has_approved(head, "12.4 kW", "2 racks")  # 8 x 1,549 W
    assert has_approved(head, "5-year", "USD 2.5 M", "1.9", "2.8", "USD 1.51 M")


@pytest.mark.parametrize("name", of_the_day(example_names(), few=2))
def test_the_demand_of_examples_as_data(name: str, catalog: Catalog) -> None:
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


def test_the_demand_of_examples_as_text(catalog: Catalog) -> None:
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


def on_one_line(text: str) -> str:
    return " ".join(text.split())


def test_the_network_of_examples_as_data(example: Plan) -> None:
    data = json.loads(json.dumps(network_dict(example), allow_nan=False))
    assert data["link"]["link_gbit_s"] == example.scenario.network.link_gbit_s
    assert [r["kept"] for r in data["remote"]] == [r.kept for r in example.network.remote]
    assert [t["efficiency"] for t in data["training"]] == [t.efficiency for t in example.network.training]
    assert [v["met"] for v in data["rules"]] == [v.met for v in example.network.rules]
    assert {c["remote"]["id"] for c in data["carried"]} == {
        row.id for row in example.catalog.rows("network_workloads")
    }
    chosen = [row for row in data["scaling"] if row["chosen"]]
    assert [row["hosts"] for row in chosen] == list(HOSTS)
    assert len(data["scaling"]) % len(HOSTS) == 0
    job = example.network.training[-1]
    assert next(row["efficiency"] for row in chosen if row["hosts"] == job.hosts) == job.efficiency
    for row in data["remote"]:
        assert row["slowdown"] * row["kept"] == pytest.approx(1)
        assert 0 < row["kept_low"] <= row["kept"] <= row["kept_high"] <= 1
    assert data["cabling"]["gpu_hosts"] == example.totals.hosts


def test_the_network_of_examples_as_text(example: Plan) -> None:
    text = network_text(example)
    for heading in (
        "GPUs over the network",
        "What this link carries",
        "Example (no job entered): scaling of ResNet-50 training, batch 256, ring allreduce",
        "Fabric",
        "Settings",
        "When a part fails",
    ):
        assert f"\n{heading}\n{'-' * len(heading)}\n" in text
    assert max(map(len, text.splitlines())) <= 120
    assert "None" not in text
    assert "{" not in text
    assert text.endswith("\n")
    for use in (*example.network.remote, *example.network.asked):
        assert use.name in text
        assert all(change in on_one_line(text) for change in use.changes)
    for rule in example.network.rules:
        assert rule.text in on_one_line(text)


def test_the_starter_says_what_ten_gigabit_carries(catalog: Catalog) -> None:
    text = network_text(make_plan(load_scenario("starter"), catalog))
    lines = text.partition("What this link carries")[2].partition("\n\n")[0].splitlines()
    carried = {line.partition("  ")[0]: line.partition("  ")[2].strip() for line in lines}
    assert carried["ResNet-50 training, batch 256"].startswith("97 % (")
    assert carried["ResNet-50 inference, batch 1"].startswith("62 % (")
    for name in ("VGG-16 training, batch 64", "BERT-large fine-tuning, batch 8"):
        assert carried[name].endswith("too slow")
    assert re.search("not met +Link speed +40 to 100 Gbit/s beyond a trial", text)
    assert has_approved(on_one_line(text))


def test_what_is_measured_is_said_to_be(catalog: Catalog) -> None:
    text = network_text(make_plan(load_scenario("starter").with_value("network.latency_us", 80), catalog))
    assert "Round trip 80 µs" in text
    assert "not measured" not in on_one_line(text)
    assert re.search("not met +Round trip", text)


def test_what_would_help_is_said(catalog: Catalog) -> None:
    slow = load_scenario("starter").with_value("training.workload", "vgg-16-train-64")
    text = on_one_line(network_text(make_plan(slow, catalog)))
    assert has_approved(text)
    assert "too slow" in text


def test_hours_and_the_knee(catalog: Catalog) -> None:
    asked = load_scenario("starter").with_value("training.epochs", 90)
    plan = make_plan(asked, catalog)
    job = plan.network.training[-1]
    assert f"{job.hours:.1f}" in network_text(plan)
    assert " 64+ " in network_text(plan)
    knees = make_plan(asked.with_value("training.workload", "vgg-16-train-64"), catalog)
    assert " 64+ " not in network_text(knees)


def test_little_is_not_nothing(catalog: Catalog) -> None:
    assert share_range(0.001, 0.0151, 0.999) == "2 % (<1 to 100 %)"
    assert (share_words(0), share_words(0.004), share_words(1)) == ("0 %", "<1 %", "100 %")
    asked = load_scenario("current").with_value("training.workload", "vgg-16-train-64")
    text = network_text(make_plan(asked.with_value("training.aggregation", "parameter-server"), catalog))
    section = text.partition("Scaling of VGG-16 training, batch 64, parameter servers")[2].partition("\n\n")[
        0
    ]
    assert "<1 %" in section
    assert " 0 %" not in section
    assert max(map(len, text.splitlines())) <= 120


def test_nothing_asked(catalog: Catalog) -> None:
    nobody = make_plan(from_dict({}), catalog)
    data = json.loads(json.dumps(network_dict(nobody), allow_nan=False))
    assert (data["remote"], data["rules"], data["cabling"]) == ([], [], None)
    text = network_text(nobody)
    assert has_approved(text)
    assert has_approved(text)
    assert "The vendor's rules" not in text


def test_compute_hosts_spines_and_a_switch_that_is_missing(catalog: Catalog) -> None:
    asked = load_scenario("enterprise").with_value("network.compute_hosts", 200)
    plan = make_plan(asked, catalog)
    text = network_text(plan)
    shape = plan.cabling.switches.total
    assert has_approved(text, "8 GPU hosts", "200")
    assert f"{shape.spines} x {plan.cabling.switches.spine_name}" in text
    assert f"{shape.spines} x {plan.cabling.switches.spine_name}" in on_one_line(plan_text(plan))
    slow = make_plan(load_scenario("starter").with_value("network.link_gbit_s", 1), catalog)
    assert slow.cabling.switches is None
    assert f"none: {slow.cabling.reason}" in on_one_line(network_text(slow))
    assert slow.cabling.reason in on_one_line(plan_text(slow))


def test_the_design_has_the_network_in_short(example: Plan) -> None:
    section = plan_text(example).partition("\nNetwork\n-------\n")[2].partition("\n\nDesign decisions")[0]
    for use in (*example.network.remote, *example.network.asked):
        assert use.name.split()[0] in section  # a long name is folded
    assert example.cabling.switches.leaf_name in section


# ---- calibration
