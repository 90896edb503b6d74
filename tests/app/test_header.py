"""What is around every step: the bar, the steps, the head, the drawer."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from approved import has_approved, is_approved

from gpuplan import load_catalog, load_scenario
from gpuplan.app.header import SHOWN, edit_again, present, present_data, turn
from gpuplan.app.memory import memory_of, resume
from gpuplan.app.state import Workbook

pytest.importorskip("traitlets")

from gpuplan.app.header import (
    MOST_TITLES,
    bar_data,
    drawer_data,
    glossary_data,
    head_data,
    message_data,
    nav_data,
)
from gpuplan.app.screen import PAGES
from gpuplan.app.state import STEPS
from gpuplan.app.strip import strip_data
from gpuplan.catalog import Catalog
from gpuplan.facts import own_rows
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.known import unconfirmed
from gpuplan.scenario import from_dict


def test_a_probability_is_asked_why_in_per_cent(book: Workbook) -> None:
    for figure, key in (("0.39 %", "totals.waiting"), ("55 %", "totals.waiting_after_failure")):
        book.drawer = key
        assert drawer_data(book)["title"] == f"Why {figure}?"


def test_why_goes_on_along_the_inputs(book: Workbook) -> None:
    for key in book.plan.lines:
        book.drawer = key
        data = drawer_data(book)
        assert data["kind"] == "why"
        assert all(row["key"] == "" or row["key"] in book.plan.lines for row in data["inputs"])
    book.drawer = "no such number"
    assert drawer_data(book) == {"kind": "closed"}


def test_a_blank_design_asks_for_nothing(blank: Workbook) -> None:
    assert bar_data(blank)["name"] == ""
    assert bar_data(blank)["fragment"] == ""


def test_the_browser_lists_what_is_entered_and_nothing_for_a_customer(book: Workbook) -> None:
    book.edit("customer", "ACME")
    recent, totals = bar_data(book)["recent"], book.plan.totals
    assert recent is not None and (recent["design"], recent["customer"]) == (book.design, "ACME")
    assert (recent["hosts"], recent["gpus"]) == (str(totals.hosts), str(totals.gpus))
    assert (
        "V100" in recent["model"] and recent["cost"].startswith("USD ") and recent["state"] and recent["tone"]
    )
    book.edit("name", "half a na", live=True)
    assert bar_data(book)["recent"] is None
    book.edit("name", "half a na")
    book.edit("hardware.gpus_per_host", "many")  # these figures are not of this text
    wrong = bar_data(book)["recent"]
    assert wrong is not None and {wrong["hosts"], wrong["cost"], wrong["state"]} == {""}
    book.look_as(True)
    assert bar_data(book)["recent"] is None
    assert bar_data(Workbook(book.catalog))["recent"] is None


def test_the_bar(book: Workbook) -> None:
    data = bar_data(book)
    assert (data["name"], data["can_undo"], data["can_redo"]) == ("Enterprise example", False, False)
    assert data["fragment"] == book.fragment()
    book.edit("name", "")
    assert bar_data(book)["name"] == "Enterprise example"
    assert "1 to 80 characters" in bar_data(book)["name_problem"]
    assert bar_data(book)["can_undo"]
    book.edit("name", "<b>bold</b>")
    assert bar_data(book)["name"] == "<b>bold</b>"
    book.say("warn", "Mind the gap.")
    assert bar_data(book)["notice"] == {"level": "warn", "text": "Mind the gap."}


def test_the_bar_says_who_looks_on_and_what_a_link_would_carry(book: Workbook) -> None:
    data = bar_data(book)
    assert (data["customer"], data["internal"], data["share"]) == (False, False, "")
    book.edit("internal.notes", "Ask Bob.")
    assert bar_data(book)["internal"]
    book.look_as(customer=True)
    data = bar_data(book)
    assert data["customer"]
    assert data["share"] == book.fragment(customer=True) != data["fragment"] == book.fragment()


def test_a_step_with_an_error_says_so(book: Workbook) -> None:
    def wrong() -> set[str]:
        return {step["id"] for step in nav_data(book)["steps"] if step["error"]}

    assert [step["id"] for step in nav_data(book)["steps"]] == [step for step, _ in STEPS]
    assert wrong() == set()
    book.edit("groups.hpc.people", "x")
    assert wrong() == {"usecases"}
    book.edit("availability.host_failures", "x")
    assert wrong() == {"usecases", "hosts"}


def test_the_head_has_the_message_and_the_tabs_of_a_step(book: Workbook) -> None:
    head = head_data(book, "cost", PAGES["cost"])
    assert has_approved(head["sentence"], "USD 2.5 M")
    assert head["tab"] == "years" and "prices" in [tab["name"] for tab in head["tabs"]]
    book.open_tab("cost", "prices")
    book.edit("cost.discount_rate", "x")
    head = head_data(book, "cost", PAGES["cost"])
    assert head["tab"] == "prices"
    assert [tab["name"] for tab in head["tabs"] if tab["error"]] == ["money"]
    book.open_tab("cost", "no such tab")
    assert head_data(book, "cost", PAGES["cost"])["tab"] == "years"
    assert head_data(book, "start", PAGES["start"]) == {}


def test_the_head_counts_the_assumptions_of_its_tab_and_of_the_design(book: Workbook) -> None:
    (shown,) = (figure["note"] for figure in strip_data(book)["figures"] if figure["key"] == "messages")
    count = shown.split()[0]
    heads = {step: head_data(book, step, PAGES[step])["assumed"] for step, _ in STEPS if step != "start"}
    assert all(count in head for head in heads.values())
    here = heads["usecases"].split()[0]
    for key, _ in unconfirmed(book.plan):
        if key.startswith("groups."):
            book.confirm(key, yes=True)
    after = head_data(book, "usecases", PAGES["usecases"])["assumed"]
    assert 0 < int(here) < int(count) and after.split()[0] == str(int(count) - int(here))


def test_two_steps_have_a_hint_and_the_customer_sees_none(book: Workbook) -> None:
    hints = {step: head_data(book, step, PAGES[step]).get("hint", "") for step, _ in STEPS}
    assert {step for step, hint in hints.items() if hint} == {"usecases", "cost"}
    book.look_as(True)
    assert head_data(book, "usecases", PAGES["usecases"])["hint"] == ""


def test_a_message_about_a_price_names_what_is_priced(book: Workbook) -> None:
    message = Message("cost-excludes", "note", "", path="prices.electricity-kwh")
    assert message_data(book, message)["where"] == "Price of Electricity"
    message = Message("cost-excludes", "note", "", path="prices.gpus/a40-48gb")
    assert is_approved(message_data(book, message)["where"], "gpus/a40-48gb")


def test_messages_say_where_to_change(book: Workbook) -> None:
    for message in check_plan(book.plan):
        data = message_data(book, message)
        assert (data["level"], data["code"], data["text"]) == (message.level, message.code, message.text)
        assert len(data["sources"]) == min(len(set(data["sources"])), MOST_TITLES + 1)
        assert bool(data["sources"]) == bool(message.sources)
        if message.path:
            assert data["where"], message


def test_while_hosts_are_down_the_drawer_says_that_it_explains_all_of_them(book: Workbook) -> None:
    book.step, book.drawer = "hosts", "totals.gpus"
    assert drawer_data(book)["title"] == "Why 32 GPUs?"
    book.toggle_host(book.plan.pools[0].id, 1)
    assert is_approved(drawer_data(book)["title"], "32 GPUs")


def test_a_tab_without_contents_says_why(catalog: Catalog) -> None:
    blank = Workbook(catalog, from_dict({}))
    empty = [(step, tab.name) for step, page in PAGES.items() for tab in page.tabs if tab.needs]
    assert len(empty) == 17
    for step, tab in empty:
        blank.open_tab(step, tab)
        assert has_approved(head_data(blank, step, PAGES[step])["nothing"])
    blank.open_tab("cost", "years")
    assert head_data(blank, "cost", PAGES["cost"])["nothing"] == ""


def test_a_stated_total_without_workloads_is_said(catalog: Catalog) -> None:
    book = Workbook(catalog, from_dict({"demand": {"stated_gpus": 28}}))
    head = head_data(book, "usecases", PAGES["usecases"])
    assert is_approved(head["sentence"], "28 GPUs")


ROOT = Path(__file__).resolve().parents[2]
LONGEST = 200
"""Characters of a meaning, so that it can be read in passing."""


@pytest.fixture(scope="module")
def words() -> str:
    """Everything that the app may say: tables of words, inputs, rules, and the texts of its modules."""
    tables = [path for path in (ROOT / "data" / "words").glob("*.csv") if path.stem != "glossary"]
    tables += [ROOT / "data" / f"{name}.csv" for name in ("inputs", "access_rules", "rules")]
    texts = [path.read_text(encoding="utf-8") for path in tables]
    for path in (ROOT / "gpuplan").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        about = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        found = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in about)
        texts += [node.value for node in found if isinstance(node.value, str)]
    return "\n".join(texts)


TERMS = own_rows("words/glossary")


def spellings(term: dict[str, str]) -> list[str]:
    return [term["term"], *filter(None, term["also"].split("; "))]


def test_each_spelling_means_one_thing() -> None:
    spelt = Counter(name.lower() for term in TERMS for name in spellings(term))
    assert [name for name, times in spelt.items() if times > 1] == []
    assert [term["term"] for term in TERMS] == sorted((term["term"] for term in TERMS), key=str.lower)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term["term"])
def test_a_term_is_short_and_is_used(term: dict[str, str], words: str, catalog: Catalog) -> None:
    assert len(term["meaning"]) < LONGEST and term["meaning"].endswith(".")
    spelt = "|".join(map(re.escape, spellings(term)))
    assert re.search(rf"(?<![\w-])({spelt})(?!\w)", words, re.IGNORECASE), "no text of the app has it"
    assert not set(term["sources"].split()) - set(catalog.sources)


def test_terms_are_the_same_in_every_design(blank: Workbook) -> None:
    terms = glossary_data(blank)["terms"]
    assert len(terms) == len(TERMS) > 40
    shown = {term["names"][0]: term["term"] for term in terms}
    assert (shown["queue"], shown["vGPU"], shown["KV cache"]) == ("Queue", "vGPU", "KV cache")
    blank.open_example("enterprise")
    assert glossary_data(blank)["terms"] == terms


@pytest.fixture
def sold() -> Workbook:
    sold = Workbook(load_catalog(), load_scenario("starter").with_value("internal.margin", 0.2))
    sold.go("cost")
    sold.open_tab("cost", "prices")
    return sold


def test_it_shows_the_customers_version_and_returns_to_where_one_was(sold: Workbook) -> None:
    own = sold.plan.scenario
    sold.open_tab("hosts", "hardware")
    present(sold)
    assert sold.customer and sold.seen != sold.scenario and present_data(sold)["on"]
    assert sold.tabs == {"cost": "prices"}, "others begin with their first tab"
    turn(sold, -1)
    sold.open_tab("network", "fabric")
    assert (sold.step, present_data(sold)["at"]) == ("network", 4)
    edit_again(sold)
    assert (sold.step, sold.tabs["cost"], sold.customer) == ("cost", "prices", False)
    assert (
        sold.tabs["hosts"] == "hardware"
        and "network" not in sold.tabs
        and sold.plan.scenario == own
        and not present_data(sold)["on"]
    )


def test_the_customers_view_stays_where_it_was_chosen_before(sold: Workbook) -> None:
    sold.look_as(True)
    present(sold)
    edit_again(sold)
    assert sold.customer


def test_a_page_that_is_loaded_again_goes_on_presenting(sold: Workbook) -> None:
    present(sold)
    again = Workbook(load_catalog())
    resume(again, *memory_of(sold), "")
    assert again.customer and present_data(again)["on"]
    edit_again(again)
    assert (again.step, again.tabs["cost"], again.customer) == ("cost", "prices", False)


def test_steps_end_at_the_first_and_the_last(sold: Workbook) -> None:
    turn(sold, 1)
    assert sold.step == "cost", "only while one presents"
    present(sold)
    for by, end in ((1, SHOWN[-1]), (-1, SHOWN[0])):
        for _ in range(2 * len(SHOWN)):
            turn(sold, by)
        assert sold.step == end


def test_what_is_not_presented_begins_with_the_first_step_and_nothing_without_a_design() -> None:
    sold = Workbook(load_catalog(), load_scenario("starter"))
    sold.go("deliver")
    present(sold)
    assert sold.step == SHOWN[0]
    blank = Workbook(load_catalog())
    present(blank)
    assert not present_data(blank)["on"] and not blank.customer


def test_bars_show_each_limit_that_is_set(book: Workbook) -> None:
    book.edit("limits.budget", "USD 2 Mio")
    book.edit("limits.racks", "2 racks")
    book.edit("limits.power_kw", "40 kW")
    book.edit("limits.boards", "l40s-48gb")
    book.drawer = "messages"
    bars = {bar["path"]: bar for bar in drawer_data(book)["limits"]}
    assert {path: bar["tone"] for path, bar in bars.items()} == {
        "limits.budget": "bad",
        "limits.power_kw": "warn",
        "limits.racks": "good",
        "limits.boards": "bad",
    }
    assert bars["limits.budget"]["share"] == book.plan.within[0].share
    assert bars["limits.racks"]["share"] == 1 and bars["limits.boards"]["share"] is None
    assert bars["limits.power_kw"]["why"] and not bars["limits.racks"]["over"]
    for figure, paths in (("cost.net_present", {"limits.budget"}), ("totals.gpus", {"limits.boards"})):
        book.drawer = figure
        assert {bar["path"] for bar in drawer_data(book)["limits"]} == paths


def test_a_limit_in_another_currency_stays_in_its_field(book: Workbook) -> None:
    before = book.plan
    book.edit("limits.budget", "1.5M EUR")
    assert book.plan is before and "USD" in book.problem_of("limits.budget")


def test_a_message_on_a_limit_says_what_mends_it(book: Workbook) -> None:
    book.edit("limits.racks", "1")
    book.drawer = "messages"
    (over,) = (m for m in drawer_data(book)["messages"] if m["code"] == "over-limit")
    (plain,) = (m for m in book.messages if m.code == "over-limit")
    assert over["path"] == "limits.racks" and over["change"] != plain.change
