"""Designs beside each other: the same numbers as those explored, every reason said, and nothing a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import fields, replace

import pytest
from approved import has_approved, is_approved

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.break_even import to_win
from gpuplan.analysis.candidates import Candidate, Space
from gpuplan.analysis.compare import compare_plans
from gpuplan.analysis.explore import explore
from gpuplan.analysis.option import Option
from gpuplan.analysis.ranking import Exploration, why_not
from gpuplan.analysis.sensitivity import Bar, Threshold, thresholds, tornado
from gpuplan.catalog import Catalog
from gpuplan.report import (
    beside_winner,
    compare_dict,
    compare_text,
    exploration_csv,
    exploration_dict,
    exploration_text,
    money,
    sensitivity_dict,
    sensitivity_text,
)
from gpuplan.report.table import records
from gpuplan.report.tables.explore import reasons as reasons_of
from gpuplan.scenario import Scenario, from_dict

SPACE = Space(
    gpus=("v100-pcie-32gb", "a100-pcie-80gb", "h100-sxm5-64gb"),
    servers=("dell-c4140", "dell-r750xa"),
    gpus_per_host=(2, 4),
    sharing=("as asked",),
    links=(100,),
    host_failures=(1, 2),
)


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return load_scenario("enterprise")


@pytest.fixture(scope="module")
def found(scenario: Scenario, catalog: Catalog) -> Exploration:
    return explore(scenario, catalog, SPACE, workers=1)


def one_line(text: str) -> str:
    return re.sub(r"[ \n]+", " ", text)


def everything(found: Exploration) -> tuple[Option, ...]:
    return (*found.ranked, *found.unpriced, *found.rejected)


def test_an_exploration_as_data(found: Exploration, scenario: Scenario) -> None:
    data = json.loads(json.dumps(exploration_dict(found, scenario), allow_nan=False))
    for name in ("ranked", "unpriced", "rejected", "frontier"):
        assert [o["label"] for o in data[name]] == [o.label for o in getattr(found, name)]
    assert found.winner is not None
    assert data["winner"]["candidate"]["gpu"] == found.winner.candidate.gpu
    assert data["winner"]["why_not"] == []
    for given, option in zip(data["ranked"], found.ranked, strict=True):
        assert given["why_not"] == list(why_not(option, found.winner, scenario))
        assert given["net_present"] == option.net_present
    assert data["to_win"] is None


def test_an_exploration_as_text(found: Exploration, scenario: Scenario) -> None:
    text = exploration_text(found, scenario)
    assert found.winner is not None
    assert f"{len(everything(found))} designs planned: {len(found.ranked)} ranked" in one_line(text)
    assert found.winner.label in one_line(text.partition("Winner")[2].partition("Current design")[0])
    assert found.asked.label in one_line(text.partition("Current design")[2])
    for option in found.best[:5]:
        assert option.label.split()[0] in text
        assert money(option.net_present or 0, "").strip() in text
    reasons = [reason for option in found.rejected for reason in option.reasons]
    assert reasons
    listed = records(reasons_of(exploration_dict(found, scenario)))
    assert sum(row["designs"] for row in listed) == len(found.rejected)
    assert any(max(reasons, key=reasons.count) in row["reason"] for row in listed)
    assert has_approved(text)
    assert "None" not in text


def test_reasons_that_differ_by_a_share_alone_are_one(found: Exploration, scenario: Scenario) -> None:
    loser = found.ranked[-1]
    out = tuple(replace(loser, reasons=(f"A: of whose native speed {n} % is left",)) for n in (12, 34, 7.4))
    (row,) = records(reasons_of(exploration_dict(replace(found, rejected=out), scenario)))
    assert is_approved(row["reason"])
    assert row["designs"] == 3


def test_what_would_have_to_be_true_is_said(found: Exploration, scenario: Scenario, catalog: Catalog) -> None:
    other = beside_winner(found)
    assert other is not None
    assert found.winner is not None
    assert other.candidate != found.winner.candidate
    conditions = to_win(scenario, catalog, found.winner, other)
    text = exploration_text(found, scenario, conditions, other)
    part = one_line(text.partition("What would make this win")[2])
    assert other.label in part
    assert all(one_line(condition.text) in part for condition in conditions)
    data = json.loads(json.dumps(exploration_dict(found, scenario, conditions, other), allow_nan=False))
    assert data["to_win"]["label"] == other.label
    assert [c["path"] for c in data["to_win"]["conditions"]] == [c.path for c in conditions]


def test_the_design_asked_about_is_the_one_that_stands_if_it_loses(found: Exploration) -> None:
    assert found.winner is not None
    loses = replace(found, winner=next(o for o in found.ranked if o.candidate != found.asked.candidate))
    if found.asked in found.ranked:
        assert beside_winner(loses) == found.asked
    stands = replace(found, asked=found.winner)
    other = beside_winner(stands)
    assert other is not None
    assert other.candidate.host_failures in SPACE.host_failures
    assert (other.candidate.gpu, other.candidate.server, other.candidate.gpus_per_host) != (
        found.winner.candidate.gpu,
        found.winner.candidate.server,
        found.winner.candidate.gpus_per_host,
    )
    assert beside_winner(replace(found, winner=None)) is None
    assert beside_winner(replace(stands, ranked=(found.winner,))) is None


def test_csv_has_every_design_and_every_field(found: Exploration, scenario: Scenario) -> None:
    rows = list(csv.DictReader(io.StringIO(exploration_csv(found, scenario))))
    options = everything(found)
    assert [row["label"] for row in rows] == [option.label for option in options]
    named = {f.name for f in fields(Candidate)} | {f.name for f in fields(Option)} - {"candidate"}
    assert named <= set(rows[0])
    for row, option in zip(rows, options, strict=True):
        assert row["gpu"] == option.candidate.gpu
        assert row["net_present"] == ("" if option.net_present is None else str(option.net_present))
        assert row["reasons"] == "; ".join(option.reasons)
        assert row["currency"] == "USD"
        assert (row["frontier"] == "yes") is (option in found.frontier)
    assert [row["status"] for row in rows].count("winner") == 1
    assert [row["rank"] for row in rows if row["rank"]] == [str(n + 1) for n in range(len(found.ranked))]


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx"])
def test_a_name_that_looks_like_a_formula_is_text_to_a_spreadsheet(
    found: Exploration, scenario: Scenario, text: str
) -> None:
    evil = replace(found.ranked[0], label=text, excludes=(text, "b"))
    mine = replace(found, ranked=(evil,), unpriced=(), rejected=(), winner=evil, asked=evil, frontier=(evil,))
    (row,) = csv.DictReader(io.StringIO(exploration_csv(mine, scenario)))
    assert row["label"] == f"'{text}"
    assert row["excludes"] == f"'{text}; b"


def test_nothing_that_wins_is_said(scenario: Scenario, catalog: Catalog) -> None:
    space = replace(SPACE, gpus=("h100-sxm5-64gb",), servers=("dell-c4140",))
    mine = replace(scenario, hardware=replace(scenario.hardware, gpu="h100-sxm5-64gb", server=None))
    found = explore(mine, catalog, space, workers=1)
    assert found.winner is None
    text = exploration_text(found, mine)
    assert "Winner          none" in text
    assert has_approved(text)
    json.dumps(exploration_dict(found, mine), allow_nan=False)


def test_what_has_no_price_is_listed_apart(found: Exploration, scenario: Scenario) -> None:
    unknown = replace(found.ranked[1], unpriced=("Board X",))
    mine = replace(found, ranked=found.ranked[:1], unpriced=(unknown,), asked=unknown)
    text = one_line(exploration_text(mine, scenario))
    assert has_approved(text)
    assert has_approved(text, unknown.label, f"{unknown.hosts} hosts")
    (row,) = [
        r for r in csv.DictReader(io.StringIO(exploration_csv(mine, scenario))) if r["status"] == "unpriced"
    ]
    assert has_approved(row["why_not"])


def test_sensitivity_as_data_and_text(plans: dict[str, Plan]) -> None:
    plan = plans["starter"]
    bars, limits = tornado(plan), thresholds(plan)
    data = json.loads(json.dumps(sensitivity_dict(plan, bars, limits), allow_nan=False))
    assert [b["path"] for b in data["bars"]] == [b.path for b in bars]
    assert [t["path"] for t in data["thresholds"]] == [t.path for t in limits]
    assert data["net_present"] == plan.costs.net_present  # type: ignore[union-attr]
    text = sensitivity_text(plan, bars, limits)
    assert bars[0].label.split()[0] in text
    for bar in bars[:3]:
        for value in (bar.cost_low, bar.cost_high):
            assert value is None or money(value, "").strip() in text
    assert has_approved(text, "8 hosts")
    assert "None" not in text


def test_an_end_that_cannot_be_planned_is_said_and_unchanged_cost_has_no_share(
    plans: dict[str, Plan],
) -> None:
    plan = plans["starter"]
    now = plan.costs.net_present  # type: ignore[union-attr]
    bar = Bar("cost.pue", "PUE", "1", 1.54, 1.3, 2.5, "quoted", "The high end fails.", now, None, 8, None)
    at = Threshold("groups.developers.active_share", "Active", "1", 0.5, 0.25, 7, None, None)
    text = sensitivity_text(plan, [bar], [at])
    row = next(line for line in text.splitlines() if line.startswith("PUE  "))
    assert "%" not in row
    assert " - " in row
    assert has_approved(text)
    limit = next(line for line in text.splitlines() if line.startswith("Active"))
    assert limit.split() == ["Active", "50", "%", "25", "%", "7", "-", "-"]


def test_nothing_asked_has_nothing_to_move(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"name": "Blank"}), catalog)
    assert "No workloads yet" in sensitivity_text(plan, (), ())
    assert sensitivity_dict(plan, (), ())["net_present"] is None


def test_plans_in_columns(plans: dict[str, Plan]) -> None:
    found = compare_plans([plans["starter"], plans["enterprise"], plans["current"]])
    data = json.loads(json.dumps(compare_dict(found), allow_nan=False))
    assert data["names"] == list(found.names)
    assert len(data["rows"]) == len(found.rows)
    text = compare_text(found)
    lines = {line[3:].split("  ")[0]: line for line in text.splitlines() if line[:1] in ("*", " ")}
    assert lines["Hosts"].split() == ["*", "Hosts", "8", "hosts", "8", "hosts", "10", "hosts"]
    assert lines["VMs not placed"].startswith("   ")
    assert all(one_line(sentence) in one_line(text) for sentence in found.sentences)
    assert "None" not in text


def test_shares_and_prices_are_told_as_such(catalog: Catalog) -> None:
    one = load_scenario("enterprise")
    other = (
        one.with_value("cost.hardware_discount", 0.125)
        .with_value("prices.gpus/v100-pcie-32gb", 4000)
        .with_value("cost.pue", 1.2)
        .with_value("ranges.cost.pue", (1.1, 1.3))
    )
    found = compare_plans([make_plan(scenario, catalog) for scenario in (one, other)])
    text = one_line(compare_text(found))
    assert "12.5 %" in text
    assert "4\u202f000" in text
    assert "1.1 to 1.3" in text
