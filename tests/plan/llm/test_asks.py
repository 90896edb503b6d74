"""What a group asks of a language model: stated, or the planning values of the catalog."""

from __future__ import annotations

from assistants import assistant

from gpuplan.catalog import Catalog
from gpuplan.plan.llm.asks import INPUTS, USES, Asks, uses_model
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Group


def test_an_empty_input_takes_the_planning_value_with_its_basis(catalog: Catalog) -> None:
    scenario = assistant(tokens_in=None)
    asks = Asks(scenario, catalog, scenario.groups[0])
    planned, stated = asks.fact("tokens_in"), asks.fact("tokens_out")
    assert (planned.key, planned.value, planned.basis) == ("assumptions/llm-use/tokens_in", 2000, "assumed")
    assert planned.low < planned.value < planned.high
    assert (stated.key, stated.value, stated.basis) == ("groups.assistant.tokens_out", 400, "quoted")


def test_only_groups_with_a_model_and_a_use_for_it_are_sized_by_it() -> None:
    assert uses_model(Group("a", use_case="llm-serving", model="llama-3.1-8b"))
    assert not uses_model(Group("a", use_case="llm-serving"))
    assert not uses_model(Group("a", use_case="dev-test", model="llama-3.1-8b"))


def test_every_input_of_a_use_is_one_of_a_group(catalog: Catalog) -> None:
    assert set(INPUTS) == set(USES) <= {row.id for row in catalog.rows("use_cases")}
    assert {name for names in INPUTS.values() for name in names} <= set(GROUP_FIELD_BY_NAME)
