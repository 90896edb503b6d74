"""The state of one open workbook: nothing typed is lost, the last good plan stays, and links and files are checked."""

from __future__ import annotations

import base64
import json
import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from approved import has_approved
from benchmark_results import Measured, vllm

pytest.importorskip("traitlets")

from gpuplan import Plan, Scenario, load_scenario
from gpuplan.app.delivering import Order, Preview
from gpuplan.app.groups import Answers
from gpuplan.app.history import link_of
from gpuplan.app.state import STEPS, Validating, Workbook, guarded
from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.scenario import Internal, Problem


def hosts(book: Workbook) -> int:
    return book.plan.totals.hosts


# ---- undo and redo


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


SURVIVES = {
    "catalog": "it is of all designs",
    "customer": "who looks on, who may not see more than before",
    "click": "how the user works",
    "tabs": "where the user is",
    "step": "where the user is",
    "examples": "their descriptions on the start page",
    "before_presenting": "where the user was",
    "past": "undo returns to the design before",
    "future": "redo returns to it",
    "aside": "shown beside the design for which it was kept",
    "turn": "counts plans",
    "revision": "counts changes",
    "delivering.templates.brand": "if it is set as the firm's",
    "design": "a new one each time",
    "_plans": "a cache by the whole scenario",
    "_later": "a cache of the plan on the screen",
    "_linked": "a cache of the address",
    "once": "a function",
}
"""What of a workbook survives another design, and why; all else is as if the design had been opened first."""
SIMPLE = (str, int, float, bool, type(None), tuple, list, dict, frozenset, Scenario, Plan)


def parts(thing: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Every attribute of a workbook and of the work beside it, by its place."""
    values = vars(thing) | getattr(thing, "_trait_values", {})
    for name, value in values.items():
        place = f"{at}{name}"
        if {place, name} & SURVIVES.keys() or name.startswith(("_trait", "_cross")) or callable(value):
            continue
        if name == "templates":
            for kind, dress in value.items():
                if f"{place}.{kind}" not in SURVIVES:
                    yield f"{place}.{kind}", dress.used
        elif isinstance(value, SIMPLE):
            yield place, value
        elif type(value).__module__.startswith("gpuplan."):
            yield from parts(value, f"{place}.")
        elif name not in ("_process", "_loop"):
            raise AssertionError(f"say whether {place} survives another design")


def used(catalog: Catalog, tmp_path: Path) -> Workbook:
    """A workbook in which everything was used on the design of one customer."""
    book = Workbook(catalog, load_scenario("current"))
    book.edit("customer", SECRET)
    book.keep()
    book.edit("name", f"{SECRET} two")
    book.toggle_host("vgpu", 1)
    book.maintain("vgpu", 2)
    book.watch("vgpu")
    book.open_workload("fine-tuning")
    book.fold(SECRET, True)
    book.look("version", "internal")
    book.explain("totals.hosts")
    book.edit("groups.fine-tuning.people", SECRET)
    book.unread = (Problem("people", SECRET, SECRET),)
    book.cause = f"groups.{SECRET}.people"
    for runner in (
        book.simulating.runner,
        book.auditing.runner,
        book.delivering.runner,
        book.delivering.previewer,
    ):
        runner.state, runner.found, runner.error, runner.step = "done", [{"audit": SECRET}], SECRET, SECRET
    book.simulating.scenario, book.simulating.when = book.scenario, "week"
    for exploring in (book.exploring, book.sensitivity, book.powering_on):
        exploring.plan, exploring.runner.found = book.plan, [{"exploration": SECRET}]
    auditing = book.auditing
    auditing.columns, auditing.first_day, auditing.time_zone, auditing.format = SECRET, SECRET, "CET", "sacct"
    auditing.name, auditing.size, auditing.got, auditing.replayed = SECRET, 9, 9, book.scenario
    book.validating.results = (SECRET,)  # type: ignore[assignment]
    made = book.delivering
    order = Order(book.scenario, "pptx", True, (book.scenario,))
    made.order, made._waiting, made._ready = order, [order], [(SECRET, b"file")]
    made.made = made._sources = {("pptx", True): made.source(order, "pptx")}
    made.preview = Preview(True, made.source(order, "html"), SECRET)
    for kind, dress in made.templates.items():
        dress.kept.parent.mkdir(exist_ok=True, parents=True)
        dress.kept.write_text(SECRET)
        dress.used = dress.note = f"{SECRET}.{kind}"
    return book


SECRET = "ZQX-ACME"
OPENS: dict[str, Callable[[Workbook], None]] = {
    "example": lambda book: book.open_example("starter"),
    "blank": lambda book: book.open_example("blank"),
    "file": lambda book: book.open_file("mine.yaml", load_scenario("starter").to_yaml().encode()),
    "guided": lambda book: book.start_guided(Answers({"ds-workstation": "10"}, {})),
    "recent": lambda book: book.open_recent(link_of(load_scenario("starter")).fragment),
    "address": lambda book: book.restore(link_of(load_scenario("starter")).fragment) and None,
    "notebook": lambda book: book.exchange(load_scenario("starter")),
    "customer": lambda book: book.edit("customer", "Bolt"),
}


@pytest.mark.parametrize("way", OPENS)
def test_what_belongs_to_a_design_ends_with_it(catalog: Catalog, tmp_path: Path, way: str) -> None:
    book = used(catalog, tmp_path)
    OPENS[way](book)
    fresh = Workbook(catalog, book.scenario if way == "customer" else None)
    OPENS[way](fresh)
    told = ("notice", "cause", "before", "messages_before")  # of the change that made it another design
    of = [
        {at: value for at, value in parts(each) if way != "customer" or at not in told}
        for each in (book, fresh)
    ]
    assert of[0] == of[1]
    assert book.kept == () and len(book.aside) == 1
    assert not any(dress.used for dress in book.delivering.templates.values())


def test_a_firm_keeps_its_brand_and_no_other(catalog: Catalog, tmp_path: Path) -> None:
    book = used(catalog, tmp_path)
    brand = book.delivering.templates["brand"]
    brand.set_firm(True)
    book.open_example("starter")
    assert {kind: dress.used for kind, dress in book.delivering.templates.items()} == {
        "docx": "",
        "pptx": "",
        "brand": f"{SECRET}.brand",
    }
    brand.set_firm(False)
    book.open_example("enterprise")
    assert not brand.used and not brand.kept.exists()


@pytest.mark.parametrize(
    ("now", "another"),
    [("Bolt", True), (f"{SECRET} Ltd", False), (SECRET.lower(), False), ("", False), ("ZQX", False)],
)
def test_another_customer_has_another_design(catalog: Catalog, now: str, another: bool) -> None:
    """However the name is entered, also after it was cleared; a correction of the same name is the same design."""
    for typed in (False, True):
        book = Workbook(catalog, load_scenario("starter"))
        identity = book.design
        book.edit("customer", SECRET)
        assert book.design == identity, "it had no customer before"
        book.keep()
        book.edit("customer", "")
        for end in range(1, len(now)) if typed else ():
            book.edit("customer", now[:end], live=True)
            assert book.design == identity, "nothing ends before it is entered"
        if typed and now:
            book.edit("customer", now, live=True)
        book.edit("customer", now)
        assert (book.design != identity, not book.kept) == (another, another)
        assert bool(book.others) == another
        if another:
            book.undo()
            assert book.design == identity and len(book.kept) == 1


def test_a_notebook_puts_another_design_in_its_place_or_another_version(catalog: Catalog) -> None:
    start = load_scenario("enterprise").with_value("customer", SECRET)
    same = (
        start.with_value("groups.hpc.people", 5),
        start.with_value("name", "renamed"),
        start.with_value("customer", ""),
    )
    other = (
        load_scenario("starter"),
        start.with_value("customer", "Bolt"),
        start.with_value("name", "renamed").with_value("groups.hpc.people", 5),
    )
    for scenario in (*same, *other):
        book = Workbook(catalog, start)
        identity = book.design
        book.keep()
        book.exchange(scenario)
        assert book.scenario == scenario
        assert (book.design == identity) == bool(book.kept) == (scenario in same)
        book.undo()
        assert (book.scenario, book.design, len(book.kept)) == (start, identity, 1)


def test_undo_returns_to_the_design_before_with_what_was_kept_beside_it(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("current"))
    book.keep()
    (kept,) = book.kept
    identity = book.design
    book.open_example("starter")
    book.keep()
    assert [each.scenario.name for each in book.kept] == [load_scenario("starter").name]
    book.undo()
    assert (book.kept, book.design) == ((kept,), identity)
    book.redo()
    assert [each.scenario.name for each in book.kept] == [load_scenario("starter").name]


def test_no_customer_is_led_back_to_the_design_of_another(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("current"))
    book.edit("customer", SECRET)
    book.open_example("starter")
    book.edit("name", "offer")
    book.look_as(True)
    book.undo()
    assert book.scenario.name == load_scenario("starter").name
    assert book.undo_words == ""
    book.undo()
    assert book.scenario.customer != SECRET and book.notice[0] == "warn"
    book.look_as(False)
    book.undo()
    assert book.scenario.customer == SECRET


def test_a_design_is_carried_over_under_the_name_of_its_customer(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("current"))
    book.edit("customer", SECRET)
    book.keep()
    (kept,) = book.kept
    book.open_example("starter")
    (other,) = book.others
    assert other == kept and book.kept == ()
    book.look_as(True)
    assert book.others == ()
    book.look_as(False)
    book.carry(kept.name, kept.link.design)
    (carried,) = book.kept
    assert SECRET in carried.name and carried.scenario == kept.scenario
    book.undo()
    assert [each.name for each in book.kept] == [kept.name], "it stays where it was kept"


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


def test_what_is_wrong_with_the_internal_part_of_a_file_is_not_said_to_the_customer(book: Workbook) -> None:
    file = b"internal: {margin: 0.95, notes: Ask Bob}"
    book.open_file("ours.yaml", file)
    assert "internal.margin: 0.95" in book.notice[1]
    book.look_as(customer=True)
    book.open_file("ours.yaml", file)
    assert "0.95" not in book.notice[1] and has_approved(book.notice[1])


def test_a_file_is_read_and_removed_and_an_error_leaves_the_others() -> None:
    changes: list[int] = []
    work, plan = Validating(lambda: changes.append(1)), make_plan(load_scenario("assistant"))
    for name, content in (("assistant--c1.json", vllm(Measured())), ("bad.json", {"x": 1})):
        data = json.dumps(content).encode()
        assert work.receive(name, len(data), 0, data)
        work.compare(plan)
        assert not list(work.folder.iterdir())
    assert "bad.json" in work.error and len(work.results) == 1 and changes
    work.forget_all()
    assert not work.results and work.found is None
