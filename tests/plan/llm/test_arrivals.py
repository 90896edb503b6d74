"""Arrivals of requests: as many as users send at the promised pace, or as stated."""

from __future__ import annotations

import pytest
from assistants import assistant

from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.plan.llm.arrivals import arrivals_of
from gpuplan.plan.llm.asks import Asks


def test_users_ask_again_once_they_have_thought_and_read_at_the_promised_pace(catalog: Catalog) -> None:
    made = make_plan(assistant(think_s=28.05), catalog).llm.serving["assistant"]
    assert made.load.requests_per_second == pytest.approx(400 * 0.12 / (28.05 + 2 + 399 / 20))
    stated = make_plan(assistant(requests_per_s=3), catalog).llm.serving["assistant"]
    assert stated.load.requests_per_second == 3


def test_what_is_promised_is_as_stated_or_planned_with(catalog: Catalog) -> None:
    scenario = assistant(first_token_s=1.5, kept_share=0.9)
    found = arrivals_of(Asks(scenario, catalog, scenario.groups[0]))
    assert (found.first_token_s, found.share) == (1.5, 0.9)
    assert found.chunk_tokens == catalog.assumptions["llm-use"].fact("chunk_tokens").value
