"""Requests a second of users who wait, by Little's law."""

from __future__ import annotations

import pytest
from assistants import assistant

from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.plan.llm.arrivals import arrivals_of, per_second
from gpuplan.plan.llm.asks import Asks


def test_users_at_once_are_requests_a_second_times_the_time_that_each_stays(catalog: Catalog) -> None:
    made = make_plan(assistant(), catalog).llm.serving["assistant"]
    stay_s = (
        made.found.first_token_ms.value + made.found.time_per_token_ms.value * (made.load.tokens_out - 1)
    ) / 1e3
    assert per_second(made.found, made.load) * stay_s == pytest.approx(made.requests)
    stated = make_plan(assistant(requests_per_s=3), catalog).llm.serving["assistant"]
    assert per_second(stated.found, stated.load) == 3


def test_what_is_promised_is_as_stated_or_planned_with(catalog: Catalog) -> None:
    scenario = assistant(first_token_s=1.5, kept_share=0.9)
    found = arrivals_of(Asks(scenario, catalog, scenario.groups[0]))
    assert (found.first_token_s, found.share) == (1.5, 0.9)
    assert found.chunk_tokens == catalog.assumptions["llm-use"].fact("chunk_tokens").value
