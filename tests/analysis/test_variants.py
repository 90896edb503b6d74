"""What a variant gives: its plan or why it is refused, and the figures by which plans are compared."""

from __future__ import annotations

import pytest

from gpuplan import Plan
from gpuplan.analysis.compare import RESULTS, TOPICS
from gpuplan.analysis.variants import FIGURES, figure, outcome
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario


def test_a_variant_has_the_plan_of_its_scenario(example: Plan, catalog: Catalog) -> None:
    assert example.costs is not None
    again = outcome(example.scenario, catalog)
    assert again.problems == () and again.plan is not None
    assert again.plan.totals == example.totals
    assert again.net_present == example.costs.net_present


def test_what_is_refused_says_why(example: Plan, catalog: Catalog) -> None:
    found = outcome(example.scenario.with_value("hardware.gpu", "no-such-board"), catalog)
    assert (found.plan, found.costs, found.net_present) == (None, None, None)
    assert [problem.path for problem in found.problems] == ["hardware.gpu"]


@pytest.mark.parametrize("key", sorted({*RESULTS, *TOPICS}))
def test_every_figure_is_that_of_a_line_or_has_a_rule(key: str, example: Plan) -> None:
    assert (key in example.lines) or key in FIGURES
    if key in example.lines:
        assert figure(example, key) == example.lines[key].value


def test_a_figure_that_a_plan_does_not_have_is_none(catalog: Catalog) -> None:
    empty = outcome(Scenario(), catalog).plan
    assert empty is not None
    assert [figure(empty, key) for key in ("placed", "gpu_price", "short_h", "cost.net_present")] == [
        None
    ] * 4
