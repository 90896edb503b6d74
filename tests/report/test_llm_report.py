"""Runs of language models as data and as text: every row is there, and what was not predicted says why."""

from __future__ import annotations

import json
from dataclasses import replace

from approved import has_approved
from assistants import assistant

from gpuplan.analysis.benchmarks import Result
from gpuplan.analysis.benchmarks.customer import Calibration, Own
from gpuplan.analysis.llm_predictions import Prediction
from gpuplan.analysis.llm_runs import Run
from gpuplan.analysis.llm_traffic import GroupTraffic, played, traffic_of
from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.report.llm_report import (
    LISTED,
    asked,
    calibrated_dict,
    calibrated_text,
    llm_runs_text,
    started,
    traffic_dict,
    traffic_text,
)

FOUND = (
    Prediction("a", "tpot_ms", 10.0, 11.0, 9.5, 12.5),
    Prediction("b", "ttft_ms", 100.0, 300.0, 150.0, 600.0),
    Prediction("c", "tokens_per_s", 5.0, why="there is no board x in the catalog"),
)


def test_data_has_a_row_for_each_figure() -> None:
    found = calibrated_dict(Calibration((), FOUND, FOUND[:1], Own({})))
    assert json.loads(json.dumps(found)) == found
    assert [row["source_id"] for row in found["rows"]] == ["a", "b", "c"]
    assert [row["held"] for row in found["rows"]] == [True, False, None]
    assert found["rows"][2]["predicted"] is None and found["rows"][2]["why"]
    assert [e["quantity"] for e in found["errors"]] == ["tpot_ms", "ttft_ms"]
    assert [e["quantity"] for e in found["refitted"]] == ["tpot_ms"] and found["plans"] == []


def test_text_lists_them_and_says_what_is_outside_and_why() -> None:
    text = llm_runs_text(FOUND)
    assert "+10 %" in text and "+200 %" in text and text.count("OUTSIDE") == 1
    assert has_approved(text) and text.endswith("\n") and not text.endswith("\n\n")
    assert "furthest off" not in text


def test_results_are_said_with_their_loads_and_doubts(catalog: Catalog) -> None:
    timed = Result(
        Run("a.json", "m", "g", isl=1024, osl=256, concurrency=32, tpot_ms=1),
        "vllm",
        "a.json",
        "",
        {},
        ("odd",),
    )
    log = Result(
        Run("t.jsonl", "", "", isl=9000, osl=300),
        "mooncake",
        "t.jsonl",
        "",
        {"prefix_hit": 0.4, "requests_per_s": 2.0},
    )
    plan = make_plan(assistant(), catalog)
    found = Calibration((timed, log), FOUND, FOUND, Own({}), plan, plan)
    text = calibrated_text(found)
    assert has_approved(text) and "odd" in text
    rows = calibrated_dict(found)["plans"]
    assert len(rows) == 6 and all(row["before"] == row["after"] for row in rows)
    assert "why not" in calibrated_text(replace(found, again=None, why="why not"))


def test_of_many_the_furthest_off_are_listed() -> None:
    many = [Prediction(f"r{i}", "tpot_ms", 100.0, 100.0 + i, 90.0, 200.0) for i in range(LISTED + 40)]
    text = llm_runs_text(many)
    assert has_approved(text, LISTED, LISTED + 40)
    assert f"r{LISTED + 39} " in text and "r1 " not in text


def traffic(catalog: Catalog, **given: object) -> GroupTraffic:
    return traffic_of(make_plan(assistant(**given), catalog), "assistant")  # type: ignore[arg-type]


def test_text_and_data_have_the_same_figures(catalog: Catalog) -> None:
    plan = make_plan(assistant(), catalog)
    of = traffic_of(plan, "assistant")
    found = [(of, played(of, count=3_000))]
    data = json.loads(json.dumps(traffic_dict(plan, found), allow_nan=False))
    group = data["groups"]["assistant"]
    assert group["replicas_needed"] == of.needed.replicas
    assert group["simulated"]["p95_s"]["value"] == found[0][1].p95_s.value
    assert len(group["day_per_second"]) == 24
    text = " ".join(traffic_text(plan, found).split())
    assert has_approved(text, "95 %", f"{of.planned.p95_s:.2f} s")
    low, high = group["p95_range_s"]
    assert low < of.planned.p95_s < high
    assert has_approved(text)


def test_bursts_are_named(catalog: Catalog) -> None:
    of = traffic(catalog)
    bursty = replace(of, traffic=replace(of.traffic, peakedness=3.0))
    assert "peakedness 3" in asked(bursty)


def test_what_cannot_be_kept_is_said(catalog: Catalog) -> None:
    sooner = replace(traffic(catalog), first_token_s=0.2)
    assert has_approved(started(sooner), "95 %")
    few = replace(traffic(catalog, requests_per_s=60), replicas=1)
    assert has_approved(started(few))
    enough = few.needed.replicas
    assert has_approved(started(few), f"{enough} replicas", "95 %")
    assert "keep it" not in started(replace(few, replicas=enough))
