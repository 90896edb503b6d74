"""Undo and redo name what they do, the last thing first."""

from __future__ import annotations

import pytest
from approved import is_approved

from gpuplan.app.history import link_of, scenario_of

pytest.importorskip("traitlets")

from gpuplan.app.history import Link, change_words
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.scenario import load_scenario

PEOPLE = "groups.data-scientists.people"


@pytest.fixture
def enterprise(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("enterprise"))


def test_undo_says_what_it_undid_and_redo_what_it_brought_back(enterprise: Workbook) -> None:
    enterprise.edit(PEOPLE, "40")
    words = enterprise.undo_words
    assert words.endswith("of Data scientists: 32 \u2192 40") and enterprise.redo_words == ""
    enterprise.undo()
    assert enterprise.notice == ("note", f"Undone: {words}.")
    assert (enterprise.undo_words, enterprise.redo_words) == ("", words)
    enterprise.redo()
    assert enterprise.notice == ("note", f"Redone: {words}.")
    enterprise.edit("cost.years", "4")
    assert enterprise.notice == ("", "")  # it was about what came before


def test_the_last_thing_is_undone_first(enterprise: Workbook) -> None:
    enterprise.edit("cost.years", "many")
    enterprise.edit(PEOPLE, "40")
    assert "32 \u2192 40" in enterprise.undo_words
    enterprise.undo()
    assert (enterprise.scenario.get(PEOPLE), list(enterprise.drafts)) == (32, ["cost.years"])
    assert enterprise.undo_words.startswith("\u201cmany\u201d in ")
    enterprise.undo()
    assert not enterprise.drafts and not enterprise.can_undo


def test_two_texts_that_were_refused_are_undone_one_by_one(enterprise: Workbook) -> None:
    enterprise.edit("cost.years", "many")
    enterprise.edit(PEOPLE, "few")
    enterprise.undo()
    assert list(enterprise.drafts) == ["cost.years"]


def test_a_half_typed_number_does_not_stay(enterprise: Workbook) -> None:
    plan, past = enterprise.plan, list(enterprise.past)
    for text in ("1", "12", "120"):
        enterprise.edit("cost.discount_rate", text, live=True)
    assert (
        enterprise.scenario.get("cost.discount_rate") is None
    )  # 120 % is out of bounds: neither 12 % nor it
    enterprise.edit("cost.discount_rate", "120")
    assert enterprise.stale and enterprise.plan.lines == plan.lines
    assert enterprise.problem_of("cost.discount_rate").startswith('"120" is not valid: ')
    assert enterprise.past == past and "120" in enterprise.undo_words


def test_a_number_that_the_hardware_refuses_leaves_the_plan_before_it(enterprise: Workbook) -> None:
    plan = enterprise.plan
    enterprise.edit("hardware.gpus_per_host", "1", live=True)  # a group needs four in one host
    enterprise.edit("hardware.gpus_per_host", "16", live=True)
    enterprise.edit("hardware.gpus_per_host", "16")
    assert enterprise.refused and enterprise.plan is plan and enterprise.planned.hardware.gpus_per_host == 4
    enterprise.undo()
    assert not enterprise.refused and enterprise.scenario == load_scenario("enterprise")


def test_thousands_are_not_planned_while_they_are_typed(enterprise: Workbook) -> None:
    seen = []
    for text in ("1", "1,", "1,0", "1,00", "1,000"):
        enterprise.edit(PEOPLE, text, live=True)
        seen.append(enterprise.scenario.get(PEOPLE))
    enterprise.edit(PEOPLE, "1,000")
    assert seen == [1, 1, 1, 1, 1000] and enterprise.undo_words.endswith(": 32 \u2192 1\u202f000")
    enterprise.undo()
    assert enterprise.scenario.get(PEOPLE) == 32 and not enterprise.can_undo


def test_what_is_typed_and_taken_back_is_no_change(enterprise: Workbook) -> None:
    enterprise.edit("demand.stated_gpus", "28")  # stated from now on
    enterprise.edit("demand.stated_gpus", "2", live=True)
    enterprise.edit("demand.stated_gpus", "28")
    steps = 0
    while enterprise.can_undo:
        enterprise.undo()
        steps += 1
    assert steps <= 1


def test_a_damaged_entry_has_no_words(enterprise: Workbook) -> None:
    enterprise.past = [Link("x", "s=damaged", enterprise.design)]
    assert enterprise.undo_words == ""


def test_the_customer_reads_nothing_of_what_is_held_back(enterprise: Workbook) -> None:
    enterprise.edit("prices.v100-pcie-32gb", "2500")
    enterprise.confirm("prices.v100-pcie-32gb", True)
    assert enterprise.undo_words.endswith(": confirmed")
    enterprise.look_as(True)
    assert is_approved(enterprise.undo_words)
    enterprise.undo()
    assert "2" not in enterprise.undo_words


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_a_design_comes_back_as_it_was_and_under_the_same_id(name: str) -> None:
    scenario = load_scenario(name)
    link = link_of(scenario)
    assert scenario_of(link.fragment) == scenario
    assert scenario_of(f"#{link.fragment}") == scenario
    assert link_of(scenario_of(link.fragment)) == link
    assert link_of(scenario.with_value("name", "Another")).id != link.id


@pytest.mark.parametrize("fragment", ["", "#", "s=", "s=!!!!", "s=\u6f22", "\0", "\ud800", "x" * 5000])
def test_other_text_is_refused(fragment: str) -> None:
    with pytest.raises(ValueError):
        scenario_of(fragment)


def done(catalog: Catalog, *changes: tuple[str, object]) -> str:
    book = Workbook(catalog, load_scenario("enterprise"))
    before = book.scenario
    for act, given in changes:
        if act in ("delete_group", "add_group", "duplicate_group"):
            getattr(book, act)(given)
        else:
            book.edit(act, given)
    return change_words(before, book.scenario, catalog)


@pytest.mark.parametrize(
    ("change", "figures"),
    [
        (("groups.data-scientists.people", "40"), ("Data scientists", "32", "40")),
        (("groups.data-scientists.active_share", "60"), ("Data scientists", "50 %", "60 %")),
        (("groups.data-scientists.isolation", True), ("Data scientists",)),
        (("groups.data-scientists.use_case", "training"), ("Data scientists",)),
        (
            ("groups.data-scientists.name", "Analysts"),
            ("Analysts", "Data scientists", "Analysts"),
        ),
        (("demand.rule", "wait"), ()),
        (("groups.developers.use_case", "hpc"), ("HPC",)),
        (("demand.stated_gpus", "40"), ("28 GPUs", "40 GPUs")),
        (("demand.stated_gpus", ""), ("28 GPUs",)),
        (("hardware.gpu", "l40s-48gb"), ("L40S",)),
        (("prices.v100-pcie-32gb", "2500"), ("USD 2\u202f500",)),
        (
            ("ranges.cost.hardware_discount", "20 to 60"),
            ("20 %", "60 %"),
        ),
        (("format.locale", "en-IN"), ("India",)),
        (("delete_group", "developers"), ("Developers",)),
        (("duplicate_group", "developers"), ("Developers",)),
    ],
)
def test_one_change_is_named(catalog: Catalog, change: tuple[str, object], figures: tuple[str, ...]) -> None:
    assert is_approved(done(catalog, change), *figures)


def test_groups_that_moved_another_design_and_many_inputs(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    book.move_group("developers", -1)
    assert is_approved(change_words(load_scenario("enterprise"), book.scenario, catalog))
    book.open_example("starter")
    assert book.undo_words == f"{book.scenario.name} opened"
    assert is_approved(done(catalog, ("cost.years", "4"), ("cost.pue", "1.3")))
    book.confirm("cost.years", True)
    assert book.undo_words.endswith(": confirmed")
