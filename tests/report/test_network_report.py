"""The network as plain data and as text: the same numbers as the plan's, all finite."""

from __future__ import annotations

import json
import re

import pytest
from approved import has_approved

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.training.scaling import HOSTS
from gpuplan.report import network_dict, network_text, plan_text
from gpuplan.scenario import from_dict
from gpuplan.wording import share_range, share_words


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_the_examples_as_data(example: Plan) -> None:
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


def test_the_examples_as_text(example: Plan) -> None:
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
        assert all(change in one_line(text) for change in use.changes)
    for rule in example.network.rules:
        assert rule.text in one_line(text)


def test_the_starter_says_what_ten_gigabit_carries(catalog: Catalog) -> None:
    text = network_text(make_plan(load_scenario("starter"), catalog))
    lines = text.partition("What this link carries")[2].partition("\n\n")[0].splitlines()
    carried = {line.partition("  ")[0]: line.partition("  ")[2].strip() for line in lines}
    assert carried["ResNet-50 training, batch 256"].startswith("97 % (")
    assert carried["ResNet-50 inference, batch 1"].startswith("62 % (")
    for name in ("VGG-16 training, batch 64", "BERT-large fine-tuning, batch 8"):
        assert carried[name].endswith("too slow")
    assert re.search("not met +Link speed +40 to 100 Gbit/s beyond a trial", text)
    assert has_approved(one_line(text))


def test_what_is_measured_is_said_to_be(catalog: Catalog) -> None:
    text = network_text(make_plan(load_scenario("starter").with_value("network.latency_us", 80), catalog))
    assert "Round trip 80 µs" in text
    assert "not measured" not in one_line(text)
    assert re.search("not met +Round trip", text)


def test_what_would_help_is_said(catalog: Catalog) -> None:
    slow = load_scenario("starter").with_value("training.workload", "vgg-16-train-64")
    text = one_line(network_text(make_plan(slow, catalog)))
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
    assert f"{shape.spines} x {plan.cabling.switches.spine_name}" in one_line(plan_text(plan))
    slow = make_plan(load_scenario("starter").with_value("network.link_gbit_s", 1), catalog)
    assert slow.cabling.switches is None
    assert f"none: {slow.cabling.reason}" in one_line(network_text(slow))
    assert slow.cabling.reason in one_line(plan_text(slow))


def test_the_design_has_the_network_in_short(example: Plan) -> None:
    section = plan_text(example).partition("\nNetwork\n-------\n")[2].partition("\n\nDesign decisions")[0]
    for use in (*example.network.remote, *example.network.asked):
        assert use.name.split()[0] in section  # a long name is folded
    assert example.cabling.switches.leaf_name in section


# ---- calibration
