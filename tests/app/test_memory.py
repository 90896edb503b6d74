"""What a page remembers of its workbook brings all of it back; what comes back damaged costs that part and nothing else."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from approved import is_approved
from random_cases import of_the_day

pytest.importorskip("voila")

from gpuplan import load_scenario
from gpuplan.app.memory import SHAPES, memory_of, resume
from gpuplan.app.screen import WorkbookApp
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.scenario import Internal

PEOPLE = "groups.data-scientists.people"
DAMAGED = ("warn", "Part of what this tab remembered is damaged and was ignored.")


def worked_on(catalog: Catalog) -> Workbook:
    """A workbook with something of everything that is remembered."""
    book = Workbook(catalog, load_scenario("enterprise"))
    book.keep()
    for people in (40, 48, 64, 80):
        book.edit(PEOPLE, str(people))
    book.keep()
    book.undo()
    book.go("hosts")
    book.toggle_host("vgpu", 2)
    book.set_click("maintain")
    book.toggle_host("vgpu", 3)
    book.edit("hardware.gpus_per_host", "lots")
    book.drawer = "totals.hosts"
    return book


def through_the_browser(book: Workbook) -> tuple[Any, Any]:
    memory, designs = memory_of(book)
    return json.loads(json.dumps(memory)), json.loads(json.dumps(designs))


def resumed(catalog: Catalog, memory: Any, designs: Any, address: str = "") -> Workbook:
    book = Workbook(catalog)
    resume(book, memory, designs, address)
    return book


def state(book: Workbook) -> dict[str, Any]:
    """All that is to be there again."""
    return {
        **{name: getattr(book, name) for name in ("scenario", "seen", "plan", "aside", "drafts")},
        **{
            name: getattr(book, name)
            for name in (
                "failed",
                "maintenance",
                "click",
                "step",
                "drawer",
                "customer",
                "undo_words",
                "redo_words",
            )
        },
        "past": book.past,
        "future": book.future,
    }


def test_everything_is_there_again(catalog: Catalog) -> None:
    book = worked_on(catalog)
    again = resumed(catalog, *through_the_browser(book))
    assert state(again) == state(book)
    assert again.started and again.stale
    assert again.notice == ("", "")
    assert memory_of(again) == memory_of(book)
    for each in (book, again):
        each.undo()  # what was refused
        each.redo()
    assert again.scenario.get(PEOPLE) == 80
    for people in (64, 48, 40, 32, 32):
        for each in (book, again):
            each.undo()
        assert again.scenario == book.scenario
        assert again.scenario.get(PEOPLE) == people
    assert not again.can_undo


def test_typing_that_goes_on_is_undone_at_once(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    book.edit(PEOPLE, "4", live=True)
    again = resumed(catalog, *through_the_browser(book))
    again.edit(PEOPLE, "48", live=True)
    again.edit(PEOPLE, "48")
    again.undo()
    assert again.scenario == load_scenario("enterprise")


def test_a_design_that_cannot_be_planned_has_the_plan_before_it(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    book.toggle_host("vgpu", 2)
    plan = book.plan
    book.edit("hardware.gpus_per_host", "2")  # a VM needs 4
    assert book.refused
    again = resumed(catalog, *through_the_browser(book))
    assert (again.plan, again.refused, again.failed) == (plan, book.refused, {"vgpu": (2,)})
    assert again.scenario == book.scenario


def test_nothing_has_happened_yet(catalog: Catalog) -> None:
    again = resumed(catalog, *through_the_browser(Workbook(catalog)))
    assert (again.started, again.step, again.notice) == (False, "start", ("", ""))
    given = Workbook(catalog, load_scenario("starter"))
    resume(given, None, {}, "")
    assert (given.scenario, given.notice) == (load_scenario("starter"), ("", ""))


def test_the_customer_sees_no_more_than_before(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    book.edit("internal.margin", "25 %")
    book.keep()
    book.edit("internal.notes", "our own")
    book.look_as(True)
    drawn: list[tuple[bool, Any]] = []
    again = Workbook(catalog)
    again.observe(
        lambda _: drawn.append((again.customer, again.seen.internal)), ["revision", "step", "drawer"]
    )
    resume(again, *through_the_browser(book), "")
    assert drawn and set(drawn) == {(True, Internal())}, "nothing was drawn for anybody else"
    assert again.plan == book.plan
    assert [each.plan for each in again.kept] == [each.plan for each in book.kept]
    assert all(each.plan.scenario.internal == Internal() for each in again.kept)
    assert again.scenario.internal.notes == "our own"
    for _ in range(3):
        again.undo()
    assert again.scenario.internal.margin == 0.25, "undo shows no prices with another margin"
    assert again.notice[0] == "warn"

    given = Workbook(catalog, book.scenario)  # as the command line gives one
    resume(given, {"customer": True, "design": "lost"}, {}, "s=x")
    assert (given.customer, given.seen.internal) == (True, Internal())

    shown_to_them = Workbook(catalog, customer=True)
    book.look_as(False)
    memory, designs = through_the_browser(book)
    resume(shown_to_them, memory | {"drafts": {"internal.margin": "x"}}, designs, "")
    assert shown_to_them.customer
    assert shown_to_them.drafts == {}


GARBAGE: tuple[Any, ...] = (
    *(
        None,
        0,
        -1,
        1.5,
        True,
        "",
        "\0",
        "\ud800",
        "s=",
        "x" * 100_000,
        [],
        {},
        [[]],
        [{}],
        [None],
        ["\0"],
        ["\ud800"],
    ),
    *([1, 2], {"vgpu": [0, -1, 99, 2, 2]}, {"vgpu": [True]}, {"vgpu": ["2"]}, {"vgpu": 2}, {"\0": [2]}),
    *(
        {"groups.nobody.people": "x"},
        {"groups": "x"},
        {"groups.": "x"},
        {"name": "\0"},
        {PEOPLE: "\ud800"},
        {"": ""},
    ),
    *([["a", "b"], ["a"], ["a", "b", "c"]], [["name", "\0"]], list(range(100_000)), ["x"] * 100_000),
    *({str(n): [n] for n in range(10_000)}, {str(n): str(n) for n in range(10_000)}, [["x", "y"]] * 100_000),
)


@pytest.mark.parametrize("part", [*SHAPES, "unknown"])
def test_garbage_in_one_part_costs_that_part_only(catalog: Catalog, part: str) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    book.edit("name", "Another")
    book.edit("hardware.gpus_per_host", "lots")
    memory, designs = through_the_browser(book)
    before = state(book)
    costs = {part, "drafts", "undo_words"} | ({"aside"} if part == "kept" else set())
    for garbage in of_the_day(GARBAGE, few=10):
        again = resumed(catalog, memory | {part: garbage}, designs, book.fragment())
        after = state(again)
        gone = part == "estate" and again.notice[0] == "warn"  # any text may be the name of a file
        assert gone or again.notice in (("", ""), DAMAGED)
        if part not in ("started", "design"):  # without a design there is nothing that the others are of
            assert {name for name in before if before[name] != after[name]} <= costs, garbage
        json.dumps(memory_of(again)).encode()  # it can be sent


def test_garbage_for_hosts_that_are_down_takes_down_only_those_that_are_there(catalog: Catalog) -> None:
    memory, designs = through_the_browser(Workbook(catalog, load_scenario("enterprise")))
    for garbage in GARBAGE:
        again = resumed(catalog, memory | {"failed": garbage, "maintenance": garbage}, designs)
        assert again.failed in ({}, {"vgpu": (2,)})
        assert again.maintenance in ({}, {"vgpu": ()})


def damaged(good: str) -> Iterator[Any]:
    """Fragments that are none, or of something else."""
    rng = random.Random(2)
    yield from (
        None,
        7,
        "",
        "s=",
        "s=!!!",
        "\0",
        "\ud800",
        good[:-9],
        good[: len(good) // 2],
        "x" * 10_000,
        ["s="],
        {},
    )
    for _ in range(4):
        at = rng.randrange(2, len(good))
        yield good[:at] + rng.choice("ABCxyz019-_") + good[at + 1 :]


def test_a_damaged_design_costs_that_design_only(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    book.keep()
    for name in ("one", "two", "three"):
        book.edit("name", name)
    book.undo()
    before = load_scenario("starter").name
    memory, designs = through_the_browser(book)
    for of in (memory["design"], memory["past"][1][0], memory["future"][0][0], memory["kept"][0][1]):
        for fragment in of_the_day(list(damaged(designs[of])), few=4):
            again = resumed(catalog, memory, designs | {of: fragment}, book.fragment())
            assert again.scenario == book.scenario
            assert again.notice in (("", ""), DAMAGED)
            for act in (again.redo, again.undo, again.undo, again.undo):
                act()
            assert again.notice[0] in ("", "note", "warn", "stop")
            assert again.scenario.name in (before, "one", "two")
    again = resumed(catalog, memory, {}, "")
    assert (again.started, again.step, again.notice) == (False, "start", DAMAGED)
    for all_of_it in (7, "x", [], True):
        again = resumed(catalog, all_of_it, all_of_it, book.fragment())
        assert (again.scenario, again.notice) == (book.scenario, DAMAGED)


def test_a_damaged_step_of_the_history_says_so_and_is_passed_over(catalog: Catalog) -> None:
    book = worked_on(catalog)
    memory, designs = through_the_browser(book)
    again = resumed(catalog, memory | {"drafts": {}}, designs | {memory["past"][-1][0]: "s=x"}, "")
    again.undo()
    assert is_approved(again.notice, "stop")
    assert again.scenario.get(PEOPLE) == 64
    again.undo()
    assert again.scenario.get(PEOPLE) == 40


def told(app: WorkbookApp) -> list[dict[str, Any]]:
    """What the page is told, from now on."""
    messages: list[dict[str, Any]] = []
    assert app._bar is not None
    app._bar.send = lambda message, _buffers: messages.append(message)
    return messages


def test_the_page_is_told_what_it_does_not_know_yet(catalog: Catalog) -> None:
    app = WorkbookApp(Workbook(catalog, load_scenario("enterprise")))
    messages = told(app)
    app._receive("resume", {"number": 1, "memory": None, "designs": {}, "address": ""})
    app._receive("set", {"number": 2, "path": PEOPLE, "value": "64"})
    app._receive("set", {"number": 3, "path": PEOPLE, "value": "64"})
    app._receive("undo", {"number": 4})
    first, second, third, fourth = messages
    assert [message["number"] for message in messages] == [1, 2, 3, 4]
    assert list(first["designs"]) == [first["memory"]["design"]]
    assert list(second["designs"]) == [second["memory"]["design"]]
    assert second["memory"]["past"] == [[first["memory"]["design"], first["memory"]["identity"]]]
    assert "memory" not in third, "nothing is new"
    assert fourth["memory"]["future"] == [[second["memory"]["design"], first["memory"]["identity"]]]
    assert fourth["designs"] == {}, "all of them are there"

    app._receive(
        "again", {"held": list(first["designs"])}
    )  # the connection was lost, and what was sent over it
    assert messages[-1]["number"] == 4
    assert messages[-1]["memory"] == fourth["memory"]
    assert messages[-1]["designs"] == second["designs"]


def test_the_next_session_gets_what_the_last_one_said(catalog: Catalog) -> None:
    """As the page does it: only what is told, and what is told is enough."""
    app = WorkbookApp(Workbook(catalog))
    messages = told(app)
    steps: list[tuple[str, dict[str, Any]]] = [
        ("resume", {"memory": None, "designs": {}, "address": ""}),
        ("example", {"name": "enterprise"}),
        ("set", {"path": PEOPLE, "value": "64"}),
        ("keep", {}),
        ("delete", {"id": "hpc"}),
        ("undo", {}),
        ("undo", {}),
        ("fail", {"pool": "vgpu", "host": 1}),
    ]
    for number, (kind, content) in enumerate(steps, 1):
        app._receive(kind, {**content, "number": number})
    designs: dict[str, str] = {}
    for message in messages:
        designs |= message.get("designs", {})
    memory = messages[-1]["memory"]
    after = WorkbookApp(Workbook(catalog))
    messages = told(after)
    after._receive("resume", {"number": 1, "memory": memory, "designs": designs, "address": ""})
    after._receive("redo", {"number": 2})
    assert after.workbook.scenario.get(PEOPLE) == 64
    assert after.workbook.failed == {"vgpu": (1,)}
    assert [each.name for each in after.workbook.kept] == ["4 x V100 PCIe 32GB, C4140, N+1"]
    assert all(message["designs"] == {} for message in messages)
    for _ in range(3):
        after.workbook.undo()
    assert after.workbook.scenario.groups == ()
