"""The tables of language models agree with the plan, and carry the lines behind their figures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from assistants import assistant

from gpuplan import Plan, make_plan
from gpuplan.analysis.llm_traffic import played, traffic_of
from gpuplan.analysis.rent_or_buy import token_prices
from gpuplan.catalog import Catalog
from gpuplan.report import plan_dict, plan_text
from gpuplan.report.table import records
from gpuplan.report.tables.models import serving, token_costs, waits
from gpuplan.report.text import text


def test_a_row_for_each_group_with_a_model_and_none_without(catalog: Catalog, example: Plan) -> None:
    assert not serving(example).rows
    plan = make_plan(assistant(people=4000), catalog)
    made, [row] = plan.llm.serving["assistant"], records(serving(plan))
    assert (row["replicas"], row["gpus_each"], row["requests"]) == (made.replicas, made.gpus, made.requests)
    assert row["at_once"] == min(row["by_memory"], row["by_speed"], row["by_first_token"])
    for cells in serving(plan).cells():
        assert all(cell.line in plan.lines for cell in cells if cell.line)
        assert all(cell.low < cell.value < cell.high for cell in cells if cell.low is not None and cell.high)


def test_text_and_json_have_it(catalog: Catalog) -> None:
    plan = make_plan(assistant(), catalog)
    assert "LLM serving" in plan_text(plan)
    [found] = plan_dict(plan)["llm"]["serving"]
    assert found["replicas"] == plan.group("assistant").vms
    assert found["found"]["first_token_ms"]["low"] < found["found"]["first_token_ms"]["high"]
    assert plan_dict(plan)["scenario"]["groups"][0]["people"] == 400


def test_only_prices_of_the_design_under_its_own_load_have_a_line(catalog: Catalog) -> None:
    """At other loads, rented and per token the line would say another number."""
    scenario = assistant(hours="09:00-18:00", off_hours_share=0.0001)
    for way, price in (("in", 0.5), ("out", 2.0)):
        scenario = scenario.with_value(f"prices.tokens-{way}", price)
    plan = make_plan(scenario, catalog)
    table = token_costs(plan)
    own, *others = table.cells()
    names = [column.key for column in table.columns]
    lines = {name: cell.line for name, cell in zip(names, own, strict=True) if cell.line}
    assert lines == {name: f"groups.assistant.{name}" for name in ("million_in", "million_out", "user_month")}
    for name, line in lines.items():
        assert plan.lines[line].value == own[names.index(name)].value
    assert {price.way for price in token_prices(plan)} == {"design", "rent", "price"}
    assert not any(cell.line for row in others for cell in row)


def test_the_planned_replicas_stand_by_formula_and_simulated(catalog: Catalog) -> None:
    of = traffic_of(make_plan(assistant(), catalog), "assistant")
    found = played(of, count=5_000)
    table = waits(of, [(of.replicas, found)])
    rows = records(table)
    planned = [row for row in rows if row["replicas"] == of.replicas]
    assert [row["method"] for row in planned] == ["formula", "simulated"]
    assert planned[0]["p95_s"] == of.planned.p95_s and planned[1]["p95_s"] == found.p95_s.value
    assert [row["replicas"] for row in rows] == sorted(row["replicas"] for row in rows)
    assert f"{of.replicas} (planned)" in text(table) and "\u00b1" in text(table)


def test_too_few_replicas_have_no_wait(catalog: Catalog) -> None:
    of = replace(traffic_of(make_plan(assistant(requests_per_s=60), catalog), "assistant"), replicas=1)
    first = records(waits(of))[0]
    assert first["replicas"] == 1 and first["p95_s"] is None and first["kept_share"] == 0
    assert "keeps growing" in text(waits(of))


@pytest.mark.parametrize("given", [{}, {"requests_per_s": 3}, {"think_s": 20}, {"tool_s": 40}])
def test_the_lines_behind_a_row_have_its_numbers(catalog: Catalog, given: dict[str, float]) -> None:
    plan = make_plan(assistant(**given), catalog)
    for cells in serving(plan).cells():
        for cell in cells:
            if cell.line and isinstance(cell.value, int | float):
                assert plan.lines[cell.line].value == pytest.approx(cell.value), cell.line


@pytest.mark.parametrize("given", [{}, {"tokens_per_s": 400}, {"first_token_s": 0.05}])
def test_concurrent_requests_are_explained_at_the_pace_that_is_planned(
    catalog: Catalog, given: dict[str, float]
) -> None:
    plan = make_plan(assistant(**given), catalog)
    made, line = plan.llm.serving["assistant"], plan.lines["groups.assistant.requests_at_once"]
    [stay] = [fact.value for fact in line.inputs if fact.key.endswith("stay")]
    every = 400 * 0.12 / made.load.requests_per_second
    assert f"every {every:.3g} s" in line.formula
    assert made.requests == pytest.approx(400 * 0.12 / every * stay, rel=0.01)
