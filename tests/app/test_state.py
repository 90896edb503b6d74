"""The state of one open workbook: nothing typed is lost, the last good plan stays, and links and files are checked."""

from __future__ import annotations

import base64
import json
import random
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("traitlets")

from gpuplan import Scenario, load_scenario
from gpuplan.app import history
from gpuplan.app.forms import field_data
from gpuplan.app.header import nav_data
from gpuplan.app.state import STEPS, Workbook, guarded
from gpuplan.app.strip import strip_data
from gpuplan.catalog import Catalog
from gpuplan.locales import speaking
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.known import unconfirmed
from gpuplan.scenario import FIELDS, GROUP_FIELDS, STATED, Internal, field_of, from_dict


def hosts(book: Workbook) -> int:
    return book.plan.totals.hosts


# ---- editing


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
    assert strip_data(book)["wrong"]["text"] == reason
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

    monkeypatch.setattr("gpuplan.app.state.make_plan", plan)


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

    monkeypatch.setattr("gpuplan.app.state.make_plan", plan)
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


# ---- undo and redo


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
    monkeypatch.setattr(history, "MOST", 10)
    for number in range(30):
        book.edit("demand.stated_gpus", str(30 + number % 2))
    steps = 0
    while book.can_undo:
        book.undo()
        steps += 1
    assert 10 <= steps <= 11


# ---- examples and files


def test_examples(blank: Workbook) -> None:
    assert not blank.started
    for name, count in [("starter", 8), ("enterprise", 8), ("current", 10), ("blank", 0)]:
        blank.open_example(name)
        assert hosts(blank) == count
        assert blank.step == "usecases"
        assert blank.started
    blank.undo()
    assert hosts(blank) == 10


def test_opening_leaves_nothing_of_the_design_before(book: Workbook) -> None:
    book.edit("groups.hpc.people", "many")
    book.toggle_host("vgpu", 1)
    book.drawer = "totals.hosts"
    book.open_example("starter")
    assert (book.drafts, book.failed, book.drawer, book.stale) == ({}, {}, "", False)


def test_a_file(book: Workbook) -> None:
    content = load_scenario("starter").to_yaml().encode()
    book.open_file("mine.yaml", content)
    assert book.scenario == load_scenario("starter")
    assert book.notice == ("note", "Opened mine.yaml.")
    book.undo()
    assert book.scenario == load_scenario("enterprise")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"colour: red", "colour"),
        (b"\xff\xfe", "UTF-8"),
        (b"x" * 1_000_001, "too large"),
        (b"hardware: {gpu: unicorn}", "hardware.gpu"),
        (b"groups: [{id: a, people: -1, gpus_each: 99}]", "and 1 more"),
        (b"[" * 10_000, "nested"),
        (b"groups: [{id: a, people: 0x" + b"f" * 20_000 + b"}]", "groups.a.people"),
    ],
)
def test_a_file_that_cannot_be_used_changes_nothing(book: Workbook, content: bytes, said: str) -> None:
    book.edit("groups.hpc.people", "many")
    before = (book.scenario, book.plan, dict(book.drafts), book.step)
    book.open_file("mine.yaml", content)
    level, text = book.notice
    assert level == "stop"
    assert has_approved(text, "mine.yaml")
    assert said in text
    assert (book.scenario, book.plan, dict(book.drafts), book.step) == before


# ---- links


def test_a_link_brings_the_design_back(blank: Workbook) -> None:
    for name in ("starter", "enterprise", "current"):
        book = Workbook(blank.catalog, load_scenario(name))
        blank.restore(book.fragment())
        assert blank.scenario == book.scenario
        assert blank.plan == book.plan
        assert len(book.fragment()) < 2000
        assert set(book.fragment()) <= set("s=") | set(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        )
    blank.restore("#" + blank.fragment())
    assert blank.notice == ("", "")


def test_a_link_with_names_of_all_kinds(blank: Workbook) -> None:
    blank.open_example("blank")
    blank.edit("name", "<b>\u6f22 & \U0001f680</b> %20#s=")
    other = Workbook(blank.catalog)
    other.restore(blank.fragment())
    assert other.scenario == blank.scenario


def packed(text: bytes) -> str:
    return "s=" + base64.urlsafe_b64encode(zlib.compress(text, 9)).decode().rstrip("=")


def damaged() -> Iterator[str]:
    good = packed(json.dumps(load_scenario("starter").to_dict()).encode())
    rng = random.Random(1)
    yield from (good[: len(good) // 2], good[:-4], "s=", "", "#", "s=!!!!", "s=\u6f22", "x" * 5000)
    for _ in range(100):
        at = rng.randrange(2, len(good))
        yield good[:at] + rng.choice("ABCxyz019-_") + good[at + 1 :]
    yield packed(b"not json")
    yield packed(b"[" * 100_000)
    yield packed(b"[]")
    yield packed(b"\xff\xfe")
    yield packed(b'{"colour": "red"}')
    yield packed(b'{"groups": [{"id": "a", "people": NaN}]}')
    yield packed(b'{"groups": [{"id": "a", "people": ' + b"9" * 5000 + b"}]}")
    yield packed(b'{"name": "\\ud800"}')
    yield packed(b" " * 50_000_000)  # a bomb: 50 MB in 50 kB
    yield packed(json.dumps({"name": "x" * 2_000_000}).encode())


def test_a_damaged_link_changes_nothing_and_says_so(book: Workbook) -> None:
    before = (book.scenario, book.plan)
    refused = 0
    for fragment in damaged():
        book.notice = ("", "")
        book.restore(fragment)
        if book.notice == ("", ""):  # a flipped character that changes nothing
            assert book.scenario in (before[0], load_scenario("starter"))
            book.scenario, book.plan = before
            continue
        refused += 1
        assert book.notice[0] == "stop"
        assert "not opened" in book.notice[1]
        assert (book.scenario, book.plan) == before
    assert refused > 100


def test_a_recent_design_is_opened_from_its_fragment_and_can_be_taken_back(book: Workbook) -> None:
    before, other = book.scenario, Workbook(book.catalog, load_scenario("starter"))
    book.step = "start"
    book.open_recent(f"{other.fragment()[:-6]}")
    assert (book.scenario, book.step, book.notice[0]) == (before, "start", "stop")
    book.open_recent(other.fragment())
    assert (book.scenario, book.step, book.notice) == (other.scenario, "usecases", ("", ""))
    book.undo()
    assert book.scenario == before


def test_a_link_leaves_nothing_of_the_design_before(book: Workbook) -> None:
    fragment = Workbook(book.catalog, load_scenario("starter")).fragment()
    book.edit("hardware.gpus_per_host", "lots")
    book.toggle_host("vgpu", 1)
    book.restore(fragment)
    assert (book.drafts, book.failed, book.stale) == ({}, {}, False)


def test_a_link_whose_design_cannot_be_planned_here_says_what_is_wrong(blank: Workbook) -> None:
    blank.restore(packed(b'{"hardware": {"gpu": "unicorn"}}'))
    assert blank.stale
    assert "unicorn" in blank.problem_of("hardware.gpu")


# ---- the rest


def test_steps(blank: Workbook) -> None:
    for step, _ in STEPS:
        blank.go(step)
        assert blank.step == step
    blank.go("nowhere")
    assert blank.step == "deliver"
    assert blank.started


def test_an_error_in_a_callback_is_logged_and_said_without_a_traceback(book: Workbook) -> None:
    logged: list[str] = []

    def breaks(*_: Any) -> None:
        raise ZeroDivisionError("division by zero in secret.py")

    guarded(book, logged.append, breaks, ())
    assert "ZeroDivisionError" in logged[0]
    assert book.notice[0] == "stop"
    assert "secret" not in book.notice[1]
    guarded(book, logged.append, book.edit, ("groups.data-scientists.people", "80"))
    assert len(logged) == 1
    assert hosts(book) == 11


def test_a_blank_workbook_has_a_plan(blank: Workbook) -> None:
    assert hosts(blank) == 0
    assert blank.scenario.hardware == Scenario().hardware
    assert blank.scenario.origin("hardware.gpu").basis == "assumed"


# The customer view


@pytest.fixture
def sold(book: Workbook) -> Workbook:
    """The workbook with internal notes and a margin."""
    book.edit("internal.notes", "Ask Bob.")
    book.edit("internal.margin", "20 %")
    return book


def test_in_the_customer_view_all_is_of_the_customer_s_version(sold: Workbook) -> None:
    own = sold.plan
    sold.look_as(customer=True)
    assert sold.plan.scenario.internal == Internal()
    assert sold.plan.totals == own.totals
    assert sold.scenario == own.scenario
    assert sold.for_customer().internal == Internal()
    carried = Workbook(sold.catalog)
    carried.restore(sold.fragment(customer=True))
    assert carried.scenario == sold.for_customer()
    carried.restore(sold.fragment())  # that of the address bar: nothing is lost when the page is loaded again
    assert (carried.scenario, carried.customer) == (own.scenario, False)
    sold.look_as(customer=False)
    assert sold.plan == own


def test_a_design_made_from_what_the_customer_sees_keeps_what_is_internal(sold: Workbook) -> None:
    sold.edit("prices.adapter-100g", "1999")
    own = sold.scenario
    sold.look_as(customer=True)
    sold.use(sold.plan.scenario.with_value("hardware.gpus_per_host", 8), "Eight it is.")
    assert sold.scenario == own.with_value("hardware.gpus_per_host", 8)
    sold.undo()
    assert sold.scenario == own


def test_undo_does_not_show_the_customer_another_margin(sold: Workbook) -> None:
    sold.look_as(customer=True)
    sold.edit("cost.years", "3")
    sold.undo()
    seen = sold.plan
    sold.undo()  # would take the margin back
    assert sold.plan is seen
    assert has_approved(sold.notice[1])
    sold.look_as(customer=False)
    sold.undo()
    assert sold.scenario.internal.margin is None


def test_a_design_is_put_aside_again_unless_it_is_damaged(book: Workbook) -> None:
    link = book.link
    assert book.keep_again("First", link)
    assert book.keep_again("First", link), "a name that is there already is no damage"
    assert not book.keep_again("Second", link._replace(fragment="s=damaged"))
    assert [kept.name for kept in book.aside] == ["First"]


def test_designs_with_another_margin_are_not_compared_in_front_of_the_customer(sold: Workbook) -> None:
    sold.keep()
    sold.undo()
    sold.keep()
    sold.redo()
    assert [kept.plan.scenario.internal.margin for kept in sold.kept] == [0.2, None]
    sold.look_as(customer=True)
    (kept,) = sold.kept
    assert kept.plan.scenario.internal == Internal()
    sold.open_kept(kept.name)
    assert sold.scenario.internal.margin == 0.2
    sold.look_as(customer=False)
    assert [kept.plan.scenario.internal.margin for kept in sold.kept] == [0.2, None]


def test_what_was_explored_with_our_prices_is_forgotten(sold: Workbook) -> None:
    for background in (sold.exploring, sold.sensitivity):
        background.plan = sold.plan
        background.runner.found = [{"exploration": {}, "sensitivity": {}}]
    sold.look_as(customer=True)
    assert [(b.plan, b.found) for b in (sold.exploring, sold.sensitivity)] == [(None, None)] * 2


def test_a_wrong_margin_does_not_block_the_customer_view(sold: Workbook) -> None:
    sold.edit("internal.margin", "much")
    assert sold.stale
    sold.look_as(customer=True)
    assert not sold.stale


def test_a_plan_that_stays_while_an_input_is_refused_is_of_the_customer_s_version_too(sold: Workbook) -> None:
    own = sold.plan
    sold.edit("cost.currency", "EUR")
    assert sold.stale and sold.plan is own  # how much EUR a dollar is was not said
    sold.look_as(customer=True)
    assert sold.stale and sold.plan.scenario.internal == Internal()
    assert not any("margin" in each.note for line in sold.plan.lines.values() for each in line.inputs)
    sold.look_as(customer=False)
    assert sold.plan == own


def test_redo_does_not_show_the_customer_a_margin(sold: Workbook) -> None:
    sold.undo()
    sold.look_as(customer=True)
    seen = sold.plan
    sold.redo()
    assert sold.plan is seen
    assert has_approved(sold.notice[1])


def test_what_was_explored_before_the_margin_was_taken_away_is_forgotten(sold: Workbook) -> None:
    for background in (sold.exploring, sold.sensitivity):
        background.plan = sold.plan
        background.runner.found = [{"exploration": {}, "sensitivity": {}}]
    sold.edit("internal.margin", "")
    sold.edit("internal.notes", "")
    sold.look_as(customer=True)
    assert [(b.plan, b.found) for b in (sold.exploring, sold.sensitivity)] == [(None, None)] * 2


def test_a_design_that_is_not_kept_for_hidden_ones_is_said(sold: Workbook) -> None:
    sold.keep()
    sold.edit("internal.margin", "30 %")
    sold.look_as(customer=True)
    assert sold.kept == ()
    sold.keep()
    sold.keep()
    sold.keep()  # there is no room, though two are shown
    assert is_approved(sold.notice, "warn", "3 designs")
    sold.look_as(customer=False)
    assert len({kept.name for kept in sold.kept}) == len(sold.kept) == 3


def test_what_is_wrong_with_the_internal_part_of_a_file_is_not_said_to_the_customer(book: Workbook) -> None:
    file = b"internal: {margin: 0.95, notes: Ask Bob}"
    book.open_file("ours.yaml", file)
    assert "internal.margin: 0.95" in book.notice[1]
    book.look_as(customer=True)
    book.open_file("ours.yaml", file)
    assert "0.95" not in book.notice[1] and has_approved(book.notice[1])


def test_what_the_customer_confirmed_is_not_assumed_any_more_and_can_be_taken_back(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    path = "groups.developers.people"
    before = unconfirmed(book.plan)
    book.confirm(path, True, "J. Rao,\n2026-11-23")
    assert is_approved(book.scenario.origin(path).note, "2026-11-23")
    assert len(unconfirmed(book.plan)) == len(before) - 1
    data = field_data(book, path)
    assert (data["assumed"], data["confirmed"]) == (False, True)
    assert from_dict(book.scenario.to_dict()) == book.scenario
    book.confirm(path, False)
    assert book.scenario.origin(path) == load_scenario("enterprise").origin(path)
    book.confirm("network.mtu_bytes", True)
    book.confirm("network.mtu_bytes", False)  # it had a record of its own
    assert book.scenario.origin("network.mtu_bytes").basis == "assumed"
    assert unconfirmed(book.plan) == before


def test_what_the_customer_typed_is_never_called_assumed(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    for path in ("groups.developers.people", "network.mtu_bytes", "cost.years"):
        book.edit(path, str(book.scenario.get(path)))
        assert not field_data(book, path)["assumed"]
    book.edit("groups.developers.use_case", "training")  # its preset is assumed, what was typed is not
    assert not field_data(book, "groups.developers.people")["assumed"]
    book.confirm("groups.nobody.people", True)  # deleted since
    customer = Workbook(catalog, load_scenario("enterprise"), customer=True)
    customer.confirm("internal.margin", True)
    assert customer.notice[0] == "warn" and not customer.can_undo
