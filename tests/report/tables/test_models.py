"""The tables of language models agree with the plan, and carry the lines behind their figures."""

from __future__ import annotations

from assistants import assistant

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report import plan_dict, plan_text
from gpuplan.report.table import records
from gpuplan.report.tables.models import serving


def test_a_row_for_each_group_with_a_model_and_none_without(catalog: Catalog, example: Plan) -> None:
    assert not serving(example).rows
    plan = make_plan(assistant(people=4000), catalog)
    made, [row] = plan.llm.serving["assistant"], records(serving(plan))
    assert (row["replicas"], row["gpus_each"], row["requests"]) == (made.replicas, made.gpus, 480)
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
