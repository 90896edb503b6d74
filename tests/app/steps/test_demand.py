"""The demand step: rules, hours, people, methods, silos, growth, the week."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from approved import has_approved, is_approved
from offices import office
from random_cases import of_the_day

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.analysis.demand import hour_demand, local_quarters, rule_answers, week_demand
from gpuplan.app.cards import AT_ONCE
from gpuplan.app.forms import place_of
from gpuplan.app.state import Workbook
from gpuplan.app.steps import demand as step
from gpuplan.app.steps import methods
from gpuplan.catalog import Catalog
from gpuplan.plan.sizing_rule import target_words
from gpuplan.report.tables.demand import believe_words
from gpuplan.scenario import GROUP_RULES, RULES, from_dict
from gpuplan.wording import moment, stated_percent

PARTS = (
    step.rules_data,
    step.day_head,
    step.day_data,
    step.day_rows,
    step.people_data,
    methods.odds_head,
    methods.odds_data,
    methods.odds_rows,
    methods.assumption_form,
    step.silo_data,
    step.growth_form,
    step.mixes_data,
)


@pytest.fixture
def hours(catalog: Catalog) -> Workbook:
    return Workbook(catalog, office())


def plain(data: Any) -> Any:
    assert json.loads(json.dumps(data, allow_nan=False)) == json.loads(json.dumps(data))
    return data


def said(data: dict[str, Any], key: str = "text") -> str:
    return " ".join("".join(part["text"] for part in parts) for parts in data[key])


def rows_of(table: dict[str, Any]) -> list[list[str]]:
    return [[cell["text"] for cell in row] for row in table["rows"]]


@pytest.mark.parametrize(
    ("name", "rule"), of_the_day(list(product(("starter", "enterprise", "current", "blank"), RULES)), few=8)
)
def test_every_part_is_plain_data(catalog: Catalog, name: str, rule: str) -> None:
    book = Workbook(catalog, from_dict({}) if name == "blank" else load_scenario(name))
    book.edit("demand.rule", rule)
    for part in PARTS:
        plain(part(book))


# ---- rules


def test_the_rules_stand_side_by_side(book: Workbook) -> None:
    data = step.rules_data(book)
    shown = {c["value"]: c["gpus"] for c in data["cards"]}
    assert shown.pop("stated") == "28 GPUs"
    assert shown == {answer.rule: f"{answer.gpus:g} GPUs" for answer in rule_answers(book.plan)}
    assert (shown["sum"], shown["hours"], shown["wait"]) == ("28 GPUs", "28 GPUs", "31 GPUs")
    assert data["value"] == "sum"
    assert data["target"] is None
    assert has_approved(data["sentence"])


@pytest.mark.parametrize("rule", RULES)
def test_the_chosen_rule_can_be_asked_why(book: Workbook, rule: str) -> None:
    book.edit("demand.rule", rule)
    cards = {c["value"]: c for c in step.rules_data(book)["cards"]}
    keys = {value: c["key"] for value, c in cards.items() if c["key"]}
    assert list(keys) == [rule]
    assert f"{book.plan.lines[keys[rule]].value:g} GPUs" == cards[rule]["gpus"]
    assert book.plan.totals.gpus_demanded == book.plan.lines[keys[rule]].value


def test_the_target_is_a_sentence_that_fits_the_rule(book: Workbook) -> None:
    book.edit("demand.rule", "wait-time")
    shown = step.rules_data(book)
    target, (slider,) = shown["target"], shown["sliders"]
    assert (target["chance"]["value"], target["words"], target["wait"]["value"]) == (
        "5 %",
        "wait longer than",
        "10",
    )
    assert target["steps"][slider["at"]] == "5 %"
    assert [option["value"] for option in target["whom"]["options"]] == ["each", "all"]
    book.edit("demand.rule", "denied")
    assert step.rules_data(book)["target"]["wait"] is None


@pytest.mark.parametrize(
    ("chance", "nearest"), [("0.3 %", "0.2 %"), ("1 %", "1 %"), ("40 %", "50 %"), ("0.01 %", "0.1 %")]
)
def test_the_slider_is_at_the_nearest_step(book: Workbook, chance: str, nearest: str) -> None:
    book.edit("demand.rule", "wait")
    book.edit("demand.chance", chance)
    shown = step.rules_data(book)
    target, (slider,) = shown["target"], shown["sliders"]
    assert (target["chance"]["value"], target["steps"][slider["at"]]) == (chance, nearest)
    for text in target["steps"]:
        book.edit("demand.chance", text)
        assert not book.drafts
        assert step.rules_data(book)["target"]["chance"]["value"] == text


def test_the_stated_total_is_a_rule_only_where_there_is_one(book: Workbook) -> None:
    assert [card["value"] for card in step.rules_data(book)["cards"]][-1] == "stated"
    book.edit("demand.stated_gpus", "")
    data = step.rules_data(book)
    assert [card["value"] for card in data["cards"]] == list(GROUP_RULES)
    assert data["stated"] is None


def test_a_method_that_cannot_answer(book: Workbook) -> None:
    book.edit("groups.hpc.jobs_per_day", "20")
    book.edit("demand.method", "closed")
    assert not book.stale  # the rule is the sum
    cards = {c["value"]: c for c in step.rules_data(book)["cards"]}
    assert cards["sum"]["gpus"] == "29 GPUs"  # 20 a day, each for 3 h, are 2.5 at once
    assert cards["wait"]["gpus"] == "\u2013"
    assert is_approved(cards["wait"]["about"])
    book.edit("demand.rule", "wait")
    assert book.stale
    field = next(f for f in methods.assumption_form(book)["fields"] if f["path"] == "demand.method")
    assert has_approved(field["problem"])


def test_a_rule_promises_replicas_where_language_models_are_asked(catalog: Catalog, book: Workbook) -> None:
    users = step.rules_data(book)["sentence"]
    both = step.rules_data(Workbook(catalog, load_scenario("assistant")))["sentence"]
    alone = step.rules_data(served(catalog))["sentence"]
    assert len({users, both, alone}) == 3
    assert has_approved(alone) and "GPU for every" not in alone


def served(catalog: Catalog) -> Workbook:
    """The language model of an example alone."""
    scenario = load_scenario("assistant")
    return Workbook(catalog, scenario.with_groups(scenario.groups[:1]))


def test_hours_of_language_models_are_tokens_and_requests_under_what_replicas_carry(catalog: Catalog) -> None:
    book = served(catalog)
    assert [o["value"] for o in step.day_head(book)["selects"][0]["options"]] == [
        "tokens",
        "requests",
        "gpus",
    ]
    (serving,) = book.plan.llm.serving.values()
    for view, peak in (
        ("tokens", serving.load.requests_per_second * serving.asks["tokens_out"]),
        ("requests", serving.requests),
    ):
        book.look("hours", view)
        rows = plain(step.day_rows(book))["rows"]
        asked, carried = ([row for row in rows if row["carried"] is kind] for kind in (False, True))
        assert max(row["value"] for row in asked) == pytest.approx(peak), "the plan's own figure"
        assert all(a["value"] <= c["value"] for a, c in zip(asked, carried, strict=True))
    shown = said(step.day_data(book))
    assert "promised 2" in shown and "promised 30" in shown
    book.look("hours", "gpus")
    assert "lines" in step.day_rows(book)


def test_designs_without_language_models_have_no_other_view(book: Workbook) -> None:
    assert step.day_head(book)["selects"] == []


# ---- people


def test_the_grid_says_what_counts_where_nothing_is_stated(book: Workbook) -> None:
    data = plain(step.people_data(book))
    cells = {cell["path"].rpartition(".")[2]: cell for cell in data["rows"][0]["cells"]}
    assert list(cells) == list(step.COLUMNS)
    assert {name: cell["empty"] for name, cell in cells.items() if not cell["value"]} == {
        "sites": "UTC",
        "hours": "around the clock",
        "days": "",
        "off_hours_share": "none",
        "work_h": "3 (assumed)",
        "jobs_per_day": "from active users",
        "growth": "none",
    } | {"days": "every day"}
    assert cells["days"]["options"][0] == {"value": "", "text": "every day"}
    assert all(head["question"] for head in data["heads"])


def test_a_stated_every_day_can_be_shown(hours: Workbook) -> None:
    hours.edit("groups.night.days", "every-day")
    by_group = {row["id"]: {c["path"]: c for c in row["cells"]} for row in step.people_data(hours)["rows"]}
    cell = by_group["night"]["groups.night.days"]
    assert cell["value"] in [option["value"] for option in cell["options"]]
    cell = by_group["office"]["groups.office.days"]
    assert [option["value"] for option in cell["options"]] == ["", "weekdays", "weekends"]
    assert cell["value"] == "weekdays"


def test_what_is_typed_in_the_grid_is_read(hours: Workbook) -> None:
    for name, typed in (
        ("sites", "Austin"),
        ("hours", "9-17"),
        ("growth", "10 %"),
        ("work_h", "0.5"),
        ("off_hours_share", "5 %"),
    ):
        hours.edit(f"groups.night.{name}", typed)
    assert not hours.stale
    group = hours.scenario.groups[1]
    assert (group.sites, group.hours, group.growth) == ("Austin", "09:00-17:00", 0.1)
    hours.edit("groups.night.sites", "Atlantis")
    assert "Atlantis" in hours.problem_of("groups.night.sites")


def test_curves_are_worked_out_once_for_a_plan(book: Workbook, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    asked = {
        "silos": step,
        "purchase_plan": step,
        "chance_curve": methods,
        "methods": methods,
        "rule_answers": step,
    }
    for name, module in asked.items():
        work = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, name=name, work=work, **k: (calls.append(name), work(*a, **k))[1]
        )
    book.edit("groups.hpc.growth", "10 %")
    for _ in range(2):
        for part in PARTS:
            part(book)
    assert sorted(calls) == ["chance_curve", "methods", "purchase_plan", "rule_answers", "silos"]
    book.edit("groups.hpc.people", "3")
    step.silo_data(book)
    assert calls.count("silos") == 2


# ---- growth


def test_what_takes_long_for_many_groups_waits_until_it_is_asked_for(catalog: Catalog) -> None:
    groups = [{"id": f"g{n}", "people": 2, "growth": 0.2} for n in range(AT_ONCE + 1)]
    book = Workbook(catalog, from_dict({"groups": groups}))
    assert step.silo_data(book)["button"] == {"key": "silos", "text": "Plan 11 silos"}
    assert step.growth_form(book)["button"]["key"] == "growth"
    book.fold("silos", True)
    book.fold("growth", True)
    assert len(step.silo_data(book)["tables"][0]["rows"]) == 11 + 3
    assert len(step.growth_form(book)["tables"][0]["rows"]) == 3


def test_growth_is_bought_in_its_year(hours: Workbook) -> None:
    data = step.growth_form(hours)
    rows = rows_of(data["tables"][0])
    assert [row[0] for row in rows] == ["Year 1", "Year 2", "Year 3"]
    assert [int(row[1]) for row in rows] == [43, 63, 93]
    assert [int(row[3]) for row in rows] == list(np.cumsum([int(row[5]) for row in rows]))
    assert int(rows[0][3]) == hours.plan.totals.hosts
    costs = hours.plan.costs
    assert costs is not None and costs.years != 3
    assert f"{costs.hosts[-1]} hosts in year {costs.years}." in data["tables"][0]["more"]
    hours.edit("demand.years", "1")
    assert len(step.growth_form(hours)["tables"][0]["rows"]) == 1


def test_no_growth_is_one_line(book: Workbook) -> None:
    data = step.growth_form(book)
    assert data["tables"] == []
    assert data["text"].startswith("No workload grows")


def test_growth_that_no_design_can_hold_is_said(hours: Workbook) -> None:
    hours.edit("groups.office.people", "30000")
    hours.edit("groups.office.growth", "500 %")
    (table,) = step.growth_form(hours)["tables"]
    assert len(table["rows"]) == 1
    assert has_approved(table["more"], "2")


# ---- words


def test_words() -> None:
    assert (stated_percent(0.002), stated_percent(0.333), stated_percent(5)) == ("0.2 %", "33.3 %", "500 %")
    assert (moment(0), moment(2 * 96 + 61), moment(671)) == ("Mon 00:00", "Wed 15:15", "Sun 23:45")
    assert is_approved(target_words("wait-time", 0.05, 10, True), "5 %", "10 min")
    for method in ("closed", "bursty"):
        assert "hoose" in believe_words(method, 1, 22.3)
    assert has_approved(believe_words("bursty", 1, 22.3), "22 times")
    assert has_approved(believe_words("bursty", 2.1, 22.3), "2 times")


def test_silos_against_the_pool(book: Workbook) -> None:
    data = step.silo_data(book)
    rows = {row[0]: row[1:] for row in rows_of(data["tables"][0])}
    assert rows["High-performance researchers"] == ["12", "4", "16", "75 %"]
    assert rows["All silos"] == ["", "13", "52", "54 %"]
    assert rows["Pooled"] == ["28", "8", "32", "88 %"]
    assert rows["Saved by sharing"] == ["", "5", "20", ""]
    assert is_approved(said(data), "52 GPUs", "13 hosts", "54 %", "32", "8", "88 %")
    assert "25 to 30 %" in data["notes"][0]["text"]
    assert data["notes"][0]["cite"]
    assert "Not counted" not in data["tables"][0]["more"]
    book.edit("demand.rule", "stated")
    more = step.silo_data(book)["tables"][0]["more"]
    assert has_approved(more)


def test_a_pool_that_saves_nothing_is_not_praised(catalog: Catalog) -> None:
    groups = [
        {"id": "a", "name": "A", "people": 4, "access": "passthrough"},
        {"id": "b", "name": "B", "people": 4, "access": "vgpu"},
    ]
    book = Workbook(catalog, from_dict({"groups": groups}))
    saved = step.silo_data(book)["tables"][0]["rows"][-1]
    assert [c["text"] for c in saved] == ["Saved by sharing", "", "0", "0", ""]
    assert saved[0]["tone"] == ""


def test_one_group_has_no_silos(catalog: Catalog) -> None:
    book = Workbook(catalog, from_dict({"groups": [{"id": "a", "people": 4}]}))
    assert has_approved(said(step.silo_data(book)))


def test_the_hours_lend_each_other_gpus(hours: Workbook) -> None:
    # Office: 20 people in each place x 1/2 x 1/2 = 5 GPUs by day there: 03:30-12:30 and 15:00-24:00 UTC. Night: 12 from 18:00.
    (week,) = week_demand(hours.plan)
    assert (week.peak_gpus, week.everybody_gpus) == (17, 22)
    assert {name: gpus.max() for name, gpus in week.gpus.items()} == {"office": 5, "night": 12}
    assert not week.steady
    text = said(step.day_data(hours))
    assert has_approved(text, "17 GPUs", "18:00", "22 GPUs")
    assert has_approved(text, "5 GPUs")


def test_the_busiest_hour_lists_what_is_needed_in_it(catalog: Catalog) -> None:
    office = {"id": "office", "people": 20, "gpus_each": 1, "hours": "09:00-18:00"}
    batch = {"id": "batch", "people": 6, "gpus_each": 1, "hours": "20:00-06:00"}
    book = Workbook(catalog, from_dict({"groups": [office, batch], "demand": {"rule": "hours"}}))
    (table,) = step.day_data(book)["tables"]
    assert [row[-1]["text"] for row in table["rows"]] == ["20", "0"], (
        "the rows add up to the sentence beside them"
    )


def test_the_clock_of_a_place(hours: Workbook) -> None:
    assert [o["value"] for o in step.day_head(hours)["selects"][0]["options"]] == [
        "UTC",
        "Bangalore",
        "UTC-6",
    ]
    hours.look("clock", "Bangalore")
    assert "Mon 23:30 Bangalore" in said(step.day_data(hours))
    assert step.day_rows(hours)["place"] == "Bangalore"
    hours.edit("groups.office.sites", "Austin")
    assert step.day_head(hours)["selects"][0]["value"] == "UTC"  # nobody is in Bangalore any more


def test_hours_of_a_day_are_means_on_the_clock_of_a_place(hours: Workbook) -> None:
    (week,) = week_demand(hours.plan)
    utc, local = hour_demand(week, (2, 5)), hour_demand(week, (2, 5), place="Bangalore")
    assert [found.group for found in utc] == ["office", "night"]
    # 03:30 UTC is the middle of an hour there, and 09:00 in Bangalore
    assert utc[0].gpus[0][2:5] == (0, 2.5, 5)
    assert local[0].gpus[0][8:10] == (0, 5)
    assert sum(utc[0].gpus[1]) == 0  # Saturday
    assert sum(utc[1].gpus[1]) == 12 * 9
    assert local_quarters(week, [4 * 3 + 2], "Bangalore") == (4 * 9,)
    assert local_quarters(week, [0], "UTC-6") == (672 - 24,)


def test_small_groups_are_put_together(catalog: Catalog) -> None:
    groups = [{"id": f"g{n}", "name": f"Group {n}", "people": n} for n in range(1, 13)]
    book = Workbook(catalog, from_dict({"groups": groups}))
    (week,) = week_demand(book.plan)
    found = hour_demand(week, (0,))
    assert [f.group for f in found] == [f"g{n}" for n in range(6, 13)] + [""]
    assert np.sum([f.gpus for f in found]) == 24 * 78
    assert rows_of(step.day_data(book)["tables"][0])[-1] == ["5 other workloads", "15"]
    assert step.day_rows(book)["groups"][-1][0] == "\u00b7 other workloads"


def test_the_bars_of_the_chart_add_up(hours: Workbook) -> None:
    data = step.day_rows(hours)
    (week,) = week_demand(hours.plan)
    wednesday = sum(
        (row["high"] - row["low"]) * (row["end"] - row["x"]) for row in data["rows"] if row["x"] < 24
    )
    assert wednesday == pytest.approx(sum(float(g[192:288].mean()) * 24 for g in week.gpus.values()))
    assert all(
        float(row["gpus"]) == pytest.approx(row["high"] - row["low"], abs=0.006) for row in data["rows"]
    )
    for hour in (*range(24), *range(26, 50)):
        stacked = [row for row in data["rows"] if row["x"] <= hour < row["end"]]
        assert [row["low"] for row in stacked] == [0, *(row["high"] for row in stacked[:-1])]
        assert [row["group"][0] for row in stacked] == ["O", "N"]
    first = data["rows"][0]
    assert (first["x"], first["end"], first["clock"]) == (0, 3, "Wed 00:00-03:00"), (
        "nobody in India before 03:30 UTC"
    )
    assert {mark["letter"] for mark in data["letters"]} == {group.letter for group in hours.plan.groups}
    for mark in data["letters"]:
        (bar,) = [
            row
            for row in data["rows"]
            if row["x"] < mark["x"] < row["end"] and row["low"] < mark["y"] < row["high"]
        ]
        assert bar["group"].startswith(mark["letter"])
    assert data["days"] == ["Wednesday", "Saturday"]
    assert is_approved([line["words"] for line in data["lines"]], "22", "planned: 17")
    hours.edit("demand.stated_gpus", "21")
    hours.edit("demand.rule", "stated")
    lines = step.day_rows(hours)["lines"]
    assert [(line["gpus"], line["below"]) for line in lines] == [(22, False), (21, True)]


def test_groups_that_work_around_the_clock_are_asked_for_hours(book: Workbook) -> None:
    data = step.day_data(book)
    assert "around the clock" in said(data)
    (link,) = [part for part in data["text"][0] if part.get("visit")]
    assert link["visit"] == "groups.researchers.sites"
    assert place_of(link["visit"]).step == "demand"
    assert len(step.day_rows(book)["lines"]) == 1  # planned, and all peaks at once


def test_the_other_half_of_the_year_is_said_where_it_differs(catalog: Catalog) -> None:
    groups = [
        {"id": "a", "people": 4, "sites": "Austin", "hours": "09:00-17:00"},
        {"id": "b", "people": 3, "hours": "08:00-15:00"},
    ]
    text = said(step.day_data(Workbook(catalog, from_dict({"groups": groups}))))
    # Austin is 6 hours behind in January and 5 in July: the day overlaps with the other one from 15:00, or from 14:00.
    assert has_approved(text, "7 GPUs", "14:00")
    assert has_approved(text, "4 GPUs", "15:00")


def test_the_mixes_of_a_week(catalog: Catalog) -> None:
    spans = {"a": (8, "08:00-16:00"), "b": (6, "12:00-20:00"), "c": (6, "02:00-06:00")}
    groups = [{"id": g, "people": n, "hours": span, "days": "weekdays"} for g, (n, span) in spans.items()]
    book = Workbook(catalog, from_dict({"groups": groups, "demand": {"rule": "hours"}}))
    (table,) = step.mixes_data(book)["tables"]
    assert rows_of(table) == [
        ["14", "14", "4", "Mon-Fri 12:00-16:00"],
        ["6", "6", "2", "Mon-Fri 02:00-06:00"],
    ]
    assert [row[-1].get("tag") for row in table["rows"]] == ["sized for this", None]
    book.edit("groups.c.sites", "UTC-6")
    book.look("clock", "UTC-6")
    shown = rows_of(step.mixes_data(book)["tables"][0])  # c is now at work from 08:00 to 12:00 UTC, with a
    assert [row[-1] for row in shown] == ["Mon-Fri 02:00-06:00", "Mon-Fri 06:00-10:00"]
    book.edit("demand.rule", "sum")
    assert step.mixes_data(book) == {"shown": False}
