"""The lines from users to replicas: each says its formula with the numbers in it, and rests on what it is made from."""

from __future__ import annotations

from assistants import assistant

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.report import explain


def test_each_line_explains_itself(catalog: Catalog) -> None:
    for scenario in (assistant(), assistant(requests_per_s=5, weights=None, replica_gpus=4)):
        plan = make_plan(scenario, catalog)
        lines = [line for line in plan.llm.serving and plan.lines.values() if "models.llm" in line.function]
        assert len(lines) >= 12
        for line in lines:
            why = explain(plan, line.key)
            assert "{" not in why.formula and why.sentence and line.sources, line.key


def test_stated_is_quoted_and_what_is_fitted_is_not_better_than_fitted(catalog: Catalog) -> None:
    lines = make_plan(assistant(), catalog).lines
    at = "groups.assistant."
    assert lines[f"{at}requests_at_once"].basis == "quoted"
    assert lines[f"{at}requests_by_speed"].basis in ("fitted", "assumed")
    least = [lines[f"{at}requests_by_{what}"].value for what in ("memory", "speed", "first_token")]
    assert lines[f"{at}replica_requests"].value == min(least)
    assert lines[f"{at}active"].inputs[0].key == f"{at}replicas"
