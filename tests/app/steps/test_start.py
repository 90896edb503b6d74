"""Start: the ways to begin."""

from __future__ import annotations

import json

import pytest
from approved import is_approved

pytest.importorskip("traitlets")

from gpuplan.app.state import STEPS, Workbook
from gpuplan.app.steps.start import EXAMPLES, guide_data, start_data
from gpuplan.catalog import Catalog
from gpuplan.report.workloads import KIND_NAMES
from gpuplan.scenario import example_names


def test_each_example_shows_its_answer(catalog: Catalog) -> None:
    book = Workbook(catalog)
    data = start_data(book)
    answers = {e["id"]: e["answer"] for e in data["examples"]}
    assert is_approved(answers["starter"], "14 GPUs", "8 hosts", "16 GPUs", "14")
    assert is_approved(answers["enterprise"], "28 GPUs", "8 hosts", "32 GPUs", "28")
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
    assert [step["title"] for step in journey] == [title for _, title in STEPS[1:]]
    assert all(step["text"] for step in journey)


def test_three_questions_with_what_counts_where_nothing_is_answered(catalog: Catalog) -> None:
    data = guide_data(Workbook(catalog))
    assert json.loads(json.dumps(data)) == data
    kinds = {kind["id"]: kind for kind in data["kinds"]}
    assert [kind["name"] for kind in kinds.values()] == list(KIND_NAMES.values())
    assert (kinds["llm-serving"]["label"], kinds["llm-serving"]["planned"]) == ("Users", "100 assumed")
    assert (kinds["fine-tuning"]["label"], kinds["fine-tuning"]["planned"]) == (
        "Jobs per day",
        "one at a time",
    )
    gpu, server, failures = data["where"]
    assert all(place["options"][0] == ["", "Suggest"] for place in data["where"])
    assert len(gpu["options"]) == len(catalog.gpus) + 1
    assert len(server["options"]) == len(catalog.servers) + 1
    assert [value for value, _ in failures["options"]] == ["", "1", "2", "0"]
