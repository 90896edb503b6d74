"""Start: the ways to begin."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("traitlets")

from gpuplan.app.state import STEPS, Workbook
from gpuplan.app.steps.start import EXAMPLES, start_data
from gpuplan.catalog import Catalog
from gpuplan.scenario import example_names


def test_each_example_shows_its_answer(catalog: Catalog) -> None:
    book = Workbook(catalog)
    data = start_data(book)
    answers = {e["id"]: e["answer"] for e in data["examples"]}
    assert answers["starter"] == "14 GPUs demanded \u2192 8 hosts, 16 GPUs (14 after a failure)"
    assert answers["enterprise"] == "28 GPUs demanded \u2192 8 hosts, 32 GPUs (28 after a failure)"
    assert set(answers) == set(example_names()) == set(EXAMPLES)
    assert json.loads(json.dumps(data)) == data
    assert not data["started"]


def test_the_examples_do_not_depend_on_the_design_at_hand(catalog: Catalog) -> None:
    book = Workbook(catalog)
    before = start_data(book)["examples"]
    book.open_example("starter")
    book.edit("demand.stated_gpus", "100")
    assert start_data(book)["examples"] == before
    assert start_data(book)["started"]


def test_every_step_says_what_it_answers(catalog: Catalog) -> None:
    journey = start_data(Workbook(catalog))["journey"]
    assert [(step["id"], step["title"]) for step in journey] == list(STEPS[1:])
    assert all(step["text"] for step in journey)
