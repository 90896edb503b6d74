"""A design that is edited: nothing typed is lost, the last good plan stays, and each change can be taken back."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("traitlets")

from gpuplan import Scenario
from gpuplan.app import editing
from gpuplan.app.forms import field_data
from gpuplan.app.header import nav_data
from gpuplan.app.state import STEPS, Workbook
from gpuplan.app.strip import strip_data
from gpuplan.catalog import Catalog
from gpuplan.locales import speaking
from gpuplan.plan import Plan, make_plan
from gpuplan.scenario import FIELDS, GROUP_FIELDS, STATED, field_of


def hosts(book: Workbook) -> int:
    return book.plan.totals.hosts


def test_a_change_makes_a_new_plan(book: Workbook) -> None:
    before = book.revision
    book.edit("groups.data-scientists.people", "80")
    assert hosts(book) == 11  # 40 / 4 + 1
    assert book.scenario.origin("groups.data-scientists.people") == STATED
    assert book.revision > before
    assert not book.stale


def test_what_cannot_be_read_stays_in_its_field_beside_the_last_good_plan(book: Workbook) -> None:
    path = "groups.hpc.people"
    book.edit(path, "many")
    assert book.stale
    assert book.text_of(path) == "many"
    assert is_approved(book.problem_of(path), '"many"', "0", "100\u202f000")
    assert book.problem_of("groups.hpc.vms_each") == ""
    assert hosts(book) == 8
    assert book.scenario.get(path) == 2
    book.edit(path, "3")
    assert not book.stale
    assert book.problem_of(path) == ""
    assert book.text_of(path) == 3


def test_an_empty_field_says_what_to_enter(book: Workbook) -> None:
    path = "groups.hpc.people"
    book.edit(path, " ")
    assert is_approved(book.problem_of(path), "0", "100\u202f000")
    assert is_approved(book.undo_words)


@pytest.mark.parametrize(
    ("locale", "typed", "limit"), [("", "24.000", "100\u202f000"), ("de-DE", "24,000", "100.000")]
)
def test_a_number_that_may_be_thousands_says_how_to_write_it(
    book: Workbook, locale: str, typed: str, limit: str
) -> None:
    book.edit("format.locale", locale)
    book.edit("groups.hpc.people", typed)
    with speaking(locale):
        assert field_of("groups.hpc.people").allowed().endswith(f" to {limit}")
    problem = book.problem_of("groups.hpc.people")
    assert typed in problem and problem.endswith("write 24000")
    book.edit("groups.hpc.people", "24000")
    assert not book.stale


def test_what_the_hardware_does_not_allow_is_kept_and_the_plan_too(book: Workbook) -> None:
    book.edit("hardware.gpus_per_host", 2)
    assert book.stale
    assert book.scenario.hardware.gpus_per_host == 2
    reason = book.problem_of("groups.researchers.gpus_each")
    assert has_approved(reason)
    said = book.problem_of("hardware.gpus_per_host")  # the field that was typed into says it, too
    assert has_approved(said) and said.endswith(reason)
    assert [step["id"] for step in nav_data(book)["steps"] if step["error"]] == ["usecases", "hosts"]
    assert strip_data(book)["wrong"]["path"] == "groups.researchers.gpus_each"
    assert hosts(book) == 8
    # the refused value is made good in another place, and is still there
    book.edit("groups.researchers.gpus_each", "2")
    assert not book.stale
    assert book.scenario.hardware.gpus_per_host == 2
    assert book.plan.scenario == book.scenario


def broken(monkeypatch: pytest.MonkeyPatch, people: int) -> None:
    """Let a plan for so many researchers fail as a model does that cannot answer."""

    def plan(scenario: Scenario, catalog: Catalog) -> Plan:
        if scenario.get("groups.researchers.people") == people:
            raise ValueError("the pieces do not fit on one GPU together")
        return make_plan(scenario, catalog)

    monkeypatch.setattr("gpuplan.app.editing.make_plan", plan)


def test_a_model_that_cannot_answer_leaves_the_last_plan(
    book: Workbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, 9)
    before = book.plan
    book.edit("groups.researchers.people", "9")
    assert book.stale
    assert book.plan is before
    assert book.scenario.get("groups.researchers.people") == 9
    assert [problem.path for problem in book.refused] == [""]
    assert book.notice[0] == "stop"
    assert has_approved(book.notice[1])
    assert [step["error"] for step in nav_data(book)["steps"]] == [""] * len(STEPS)  # no field is to blame
    book.say("", "")
    book.edit("demand.stated_gpus", "")  # still cannot be planned, and says so again
    assert book.notice[0] == "stop"
    book.edit("groups.researchers.people", "4")
    assert not book.stale
    assert book.plan.scenario == book.scenario
    assert book.notice == ("", "")
    book.undo()
    assert book.stale
    book.undo()
    book.undo()
    assert (book.stale, book.plan) == (False, before)


def test_a_file_or_link_that_a_model_cannot_answer(book: Workbook, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = book.scenario.with_value("groups.researchers.people", 9)
    link = Workbook(book.catalog, scenario).fragment()
    broken(monkeypatch, 9)
    before = book.scenario
    book.open_file("bad.yaml", scenario.to_yaml().encode())
    assert has_approved(book.notice[1], "bad.yaml")
    assert book.scenario is before
    plan = book.plan
    book.restore(link)
    assert book.stale
    assert book.plan is plan


def test_an_error_that_is_none_of_a_model_is_not_hidden(
    book: Workbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(*_: Any) -> Plan:
        raise KeyError("hosts")

    monkeypatch.setattr("gpuplan.app.editing.make_plan", plan)
    with pytest.raises(KeyError):
        book.edit("groups.researchers.people", "9")
    assert book.refused == ()


def test_nothing_typed_is_lost_when_something_else_changes(book: Workbook) -> None:
    book.edit("groups.hpc.people", "many")
    book.edit("hardware.gpus_per_host", "lots")
    book.edit("demand.stated_gpus", "20")
    book.go("hosts")
    book.go("usecases")
    assert book.text_of("groups.hpc.people") == "many"
    assert book.text_of("hardware.gpus_per_host") == "lots"
    assert book.scenario.demand.stated_gpus == 20
    book.edit("hardware.gpus_per_host", "4")
    assert book.text_of("groups.hpc.people") == "many"
    assert book.stale


def test_half_a_number_being_typed_is_left_alone(book: Workbook) -> None:
    book.edit("groups.hpc.gpus_each", "1/", live=True)
    assert not book.stale
    assert book.scenario.get("groups.hpc.gpus_each") == 1


def test_every_field_can_be_set_to_what_it_is(book: Workbook) -> None:
    paths = [f.path for f in FIELDS] + [f"groups.hpc.{f.path}" for f in GROUP_FIELDS]
    for path in paths:
        assert field_of(path).label
        value = book.scenario.get(path)
        book.edit(path, field_data(book, path)["value"])
        if not path.endswith("use_case"):  # that brings its preset
            assert book.scenario.get(path) == value, path
    assert not book.stale


def test_typing_into_a_deleted_row_does_nothing(book: Workbook) -> None:
    book.delete_group("hpc")
    for given in ("7", "x"):
        book.edit("groups.hpc.people", given)
        assert not book.stale
        assert "hpc" not in {g.id for g in book.scenario.groups}


def test_undo_and_redo(book: Workbook) -> None:
    start = book.scenario
    assert not book.can_undo
    book.edit("groups.data-scientists.people", "80")
    book.edit("groups.data-scientists.people", "96")
    assert book.can_undo
    book.undo()
    assert hosts(book) == 11
    book.undo()
    assert book.scenario == start
    assert not book.can_undo
    assert book.can_redo
    book.redo()
    book.redo()
    assert hosts(book) == 12
    assert not book.can_redo
    book.redo()
    book.undo()
    book.edit("groups.data-scientists.people", "160")
    assert not book.can_redo  # another way was taken


def test_undo_takes_back_first_what_was_refused(book: Workbook) -> None:
    book.edit("demand.stated_gpus", "40")
    book.edit("groups.hpc.people", "many")
    book.undo()
    assert not book.stale
    assert book.scenario.demand.stated_gpus == 40
    book.undo()
    assert book.scenario.demand.stated_gpus == 28


def test_undo_of_a_value_that_the_hardware_refuses(book: Workbook) -> None:
    book.edit("hardware.gpus_per_host", "2")
    assert book.stale
    book.undo()
    assert not book.stale
    assert book.plan.scenario == book.scenario


def test_typing_is_undone_at_once(book: Workbook) -> None:
    start = book.scenario
    for text in ("3", "30", "300"):
        book.edit("demand.stated_gpus", text, live=True)
    book.edit("demand.stated_gpus", "300")  # the field is left
    assert book.scenario.demand.stated_gpus == 300
    book.undo()
    assert book.scenario == start
    assert not book.can_undo


def test_typing_in_two_fields_is_two_steps(book: Workbook) -> None:
    start = book.scenario
    book.edit("demand.stated_gpus", "30", live=True)
    book.edit("groups.hpc.people", "3", live=True)
    book.edit("groups.hpc.people", "33", live=True)
    book.undo()
    assert book.scenario.get("groups.hpc.people") == 2
    assert book.scenario.demand.stated_gpus == 30
    book.undo()
    assert book.scenario == start


def test_typing_again_after_undo_can_be_undone(book: Workbook) -> None:
    start = book.scenario
    book.edit("demand.stated_gpus", "30", live=True)
    book.undo()
    book.edit("demand.stated_gpus", "50", live=True)
    assert book.can_undo
    assert not book.can_redo
    book.undo()
    assert book.scenario == start
    book.redo()
    book.edit("demand.stated_gpus", "55", live=True)
    book.undo()
    assert book.scenario.demand.stated_gpus == 50


def test_setting_a_field_to_what_it_is_is_no_step(book: Workbook) -> None:
    book.edit("demand.stated_gpus", "40")
    book.edit("demand.stated_gpus", "40")
    book.undo()
    assert book.scenario.demand.stated_gpus == 28


def test_a_long_history_ends(book: Workbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editing, "MOST", 10)
    for number in range(30):
        book.edit("demand.stated_gpus", str(30 + number % 2))
    steps = 0
    while book.can_undo:
        book.undo()
        steps += 1
    assert 10 <= steps <= 11
