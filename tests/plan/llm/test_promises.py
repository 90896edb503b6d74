"""Promises: met at the slow end, likely at the value, or missed and planned as near as the hardware allows."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from assistants import assistant

from gpuplan import make_plan
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.llm.serving import Serving
from gpuplan.report.table import records
from gpuplan.report.tables import models


def served(**given: Any) -> Serving:
    return make_plan(assistant(**given), load_catalog()).llm.serving["assistant"]


def codes(**given: Any) -> set[str]:
    return {each.code for each in check_plan(make_plan(assistant(**given), load_catalog()))}


@pytest.mark.parametrize(
    "given", [{"tokens_per_s": 400}, {"first_token_s": 0.05}, {"weights": "bf16", "tokens_per_s": 90}]
)
def test_what_the_hardware_cannot_keep_is_planned_near_and_marked(given: dict[str, Any]) -> None:
    made = served(**given)
    missed = {target.name: target for target in made.targets if target.standing == "missed"}
    assert set(missed) == set(given) & {"tokens_per_s", "first_token_s"}
    assert made.standing == "missed" and "promise-missed" in codes(**given)
    for name, target in missed.items():
        assert target.asked == given[name]
        near = {name: target.planned}
        assert not {t.standing for t in served(**{**given, **near}).targets if t.name == name} & {"missed"}


def test_a_nearer_promise_is_kept_and_a_harder_one_takes_no_fewer_gpus() -> None:
    taken = [served(tokens_per_s=speed) for speed in (10, 30, 50, 70, 90, 200)]
    gpus = [made.gpus * made.replicas for made in taken]
    assert gpus == sorted(gpus)
    standings = [made.standing == "missed" for made in taken]
    assert standings == sorted(standings) and standings[-1] and not standings[0]


def test_met_is_the_slow_end_of_the_range() -> None:
    made = served()
    speed = made.found.time_per_token_ms
    for wanted, standing in ((0.99 * 1e3 / speed.high, "met"), (1.01 * 1e3 / speed.high, "likely")):
        again = served(
            tokens_per_s=wanted,
            requests_per_s=made.load.requests_per_second,
            least_replicas=made.replicas,
            replica_gpus=made.gpus,
        )
        assert again.replicas == made.replicas
        [target] = [target for target in again.targets if target.name == "tokens_per_s"]
        assert target.standing == standing


def test_replicas_that_keep_it_surely_keep_it_when_they_are_planned() -> None:
    for people, speed in itertools.product((100, 400, 2000), (15, 30)):
        made = served(people=people, tokens_per_s=speed)
        if made.standing == "likely" and made.surely and made.surely.found:
            assert made.surely.gpus_in_all > made.gpus * made.replicas
            size = {"least_replicas": made.surely.found.replicas, "replica_gpus": made.surely.gpus}
            assert served(people=people, tokens_per_s=speed, **size).standing == "met"


def test_fewer_bits_are_named_where_they_keep_what_is_missed() -> None:
    missed = served(weights="bf16", tokens_per_s=90)
    assert missed.standing == "missed" and missed.ways
    assert served(weights="fp8", tokens_per_s=90).standing != "missed"
    small = served(model="llama-3.1-8b", replica_gpus=0.5, weights="fp8", tokens_per_s=200)
    assert small.standing == "missed" and small.ways


@pytest.mark.parametrize("given", [{"tokens_per_s": 400}, {"first_token_s": 0.05, "people": 2000}])
def test_an_easier_promise_takes_as_many_gpus_as_is_said(given: dict[str, Any]) -> None:
    missed = served(**given)
    said = re.sub(r"(?<=\d)\s(?=\d)", "", missed.ways[0])
    first, speed, gpus = map(float, re.findall(r"\d+(?:\.\d+)?", said))
    easier = served(**{**given, "first_token_s": first, "tokens_per_s": speed})
    assert easier.standing != "missed" and easier.gpus * easier.replicas == gpus


def test_the_standing_is_in_the_table_and_in_a_message(catalog: Catalog) -> None:
    plan = make_plan(assistant(tokens_per_s=400), catalog)
    [row] = records(models.serving(plan))
    assert row["promises"] == "missed"
    likely = served()
    assert likely.standing == "likely" and "promise-likely" in codes()
    assert likely.surely and likely.surely.found
    sure = {"least_replicas": likely.surely.found.replicas, "replica_gpus": likely.surely.gpus}
    assert served(**sure).standing == "met" and "promise-likely" not in codes(**sure)
