"""What a plan rests on, and what of it is to be confirmed: the same in the document, on the slides and on the screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from approved import has_approved
from summaries import brief_document

from gpuplan.catalog import Catalog
from gpuplan.deliver.document.blocks import Paragraph
from gpuplan.plan import make_plan
from gpuplan.plan.known import inputs, unconfirmed
from gpuplan.scenario import STATED, from_dict, load_scenario


@pytest.mark.parametrize("name", ["starter", "enterprise"])
def test_the_count_is_that_of_the_documents_list(catalog: Catalog, name: str) -> None:
    plan = make_plan(load_scenario(name), catalog)
    assumed = [key for key, given in inputs(plan).items() if given.basis == "assumed"]
    assert [key for key, _ in unconfirmed(plan)] == assumed
    parts = [part for chapter in brief_document(plan).chapters for part in chapter.sections]
    lead = next(part for part in parts if part.title == "Assumptions").blocks[0]
    assert isinstance(lead, Paragraph) and has_approved(lead.text, f"{len(assumed)} inputs")


def test_what_is_confirmed_is_no_planning_value_any_more(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    before = dict(unconfirmed(make_plan(scenario, catalog)))
    assert before["groups.developers.people"].startswith("Developers: ")
    after = dict(unconfirmed(make_plan(scenario.with_origin("groups.developers.people", STATED), catalog)))
    assert before.keys() - after.keys() == {"groups.developers.people"}


def test_an_empty_design_has_nothing_to_confirm_of_groups(catalog: Catalog) -> None:
    assert not any(key.startswith("groups.") for key, _ in unconfirmed(make_plan(from_dict({}), catalog)))
    stated = from_dict({"demand": {"stated_gpus": 9}})
    assert all(label for _, label in unconfirmed(make_plan(replace(stated, name="x"), catalog)))
