"""Start: the ways to begin."""

from __future__ import annotations

import json

import pytest
from approved import is_approved

pytest.importorskip("traitlets")

from gpuplan.app.state import Workbook
from gpuplan.app.steps.hosts import picture_data
from gpuplan.app.steps.start import guide_data, shown_figures, shown_head, shown_picture, start_data
from gpuplan.app.strip import strip_data
from gpuplan.catalog import Catalog
from gpuplan.facts import data_root
from gpuplan.report.workloads import KIND_NAMES
from gpuplan.scenario import example_names
from gpuplan.wording import NAMES


def test_each_example_shows_its_answer(catalog: Catalog) -> None:
    book = Workbook(catalog)
    data = start_data(book)
    now, before = ({card["id"]: card["answer"] for card in data[kind]} for kind in ("examples", "references"))
    assert is_approved(now["assistant"], "6 hosts", "24 H100 NVL", "USD 2.8 M")
    assert is_approved(before["enterprise"], "8 hosts", "32 Tesla V100", "USD 2.5 M")
    assert now.keys() | before.keys() == set(example_names())
    assert json.loads(json.dumps(data)) == data


def test_the_examples_do_not_depend_on_the_design_at_hand(catalog: Catalog) -> None:
    book = Workbook(catalog)
    before = start_data(book)["examples"], shown_figures(book)
    assert not guide_data(book)["started"]
    book.open_example("starter")
    book.edit("demand.stated_gpus", "100")
    assert (start_data(book)["examples"], shown_figures(book)) == before
    assert guide_data(book)["started"]


def test_the_picture_is_that_of_the_example(catalog: Catalog) -> None:
    book = Workbook(catalog)
    book.open_example(shown_head(book)["acts"][0]["rest"]["name"])
    (pool,), (shown,) = (of["pools"] for of in (picture_data(book), shown_picture(book)))
    assert (shown["hosts"], shown["legend"]) == (pool["hosts"], pool["legend"])
    values = [figure["value"] for figure in shown_figures(book)["figures"]]
    strip = {figure["key"]: figure["value"] for figure in strip_data(book)["figures"]}
    assert values[0] == str(len(pool["hosts"])) and values[1] == strip["cost.net_present"]


@pytest.mark.parametrize("name", sorted(NAMES["industry"]))
def test_each_template_is_planned_without_an_error_and_assumes_all_it_states(
    catalog: Catalog, name: str
) -> None:
    book = Workbook(catalog)
    book.open_example(name)
    assert not [message.code for message in book.messages if message.level == "stop"]
    assert book.plan.totals.hosts and not book.plan.totals.unplaced_vms and not book.refused
    facts = [
        book.scenario.fact(f"groups.{group.id}.{each}")
        for group in book.scenario.groups
        for each in ("people", "active_share")
    ]
    assert {fact.basis for fact in facts} == {"assumed"}
    assert {card["id"] for card in start_data(book)["templates"]} == {
        path.stem for path in (data_root() / "templates").glob("*.yaml")
    }


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
