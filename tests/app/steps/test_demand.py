"""The demand step: rules, hours, people, methods, silos, growth, the week."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from approved import has_approved, is_approved
from offices import office

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.analysis.demand import rule_answers
from gpuplan.app.cards import AT_ONCE
from gpuplan.app.state import Workbook
from gpuplan.app.steps import demand as step
from gpuplan.app.steps import methods
from gpuplan.app.steps import week as hourly
from gpuplan.catalog import Catalog
from gpuplan.locales import moment
from gpuplan.plan.sizing_rule import target_words
from gpuplan.report.tables.demand import believe_words
from gpuplan.scenario import GROUP_RULES, RULES, from_dict
from gpuplan.wording import stated_percent

PARTS = (
    step.rules_data,
    hourly.day_head,
    hourly.day_data,
    hourly.day_rows,
    step.people_data,
    methods.odds_head,
    methods.odds_data,
    methods.odds_rows,
    methods.assumption_form,
    step.silo_data,
    step.growth_form,
    hourly.mixes_data,
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


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["starter", "enterprise", "current", "blank"])
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
    target = step.rules_data(book)["target"]
    assert (target["chance"]["value"], target["words"], target["wait"]["value"]) == (
        "5 %",
        "wait longer than",
        "10",
    )
    assert target["steps"][target["at"]] == "5 %"
    assert [option["value"] for option in target["whom"]["options"]] == ["each", "all"]
    book.edit("demand.rule", "denied")
    assert step.rules_data(book)["target"]["wait"] is None


@pytest.mark.parametrize(
    ("chance", "nearest"), [("0.3 %", "0.2 %"), ("1 %", "1 %"), ("40 %", "50 %"), ("0.01 %", "0.1 %")]
)
def test_the_slider_is_at_the_nearest_step(book: Workbook, chance: str, nearest: str) -> None:
    book.edit("demand.rule", "wait")
    book.edit("demand.chance", chance)
    target = step.rules_data(book)["target"]
    assert (target["chance"]["value"], target["steps"][target["at"]]) == (chance, nearest)
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
    assert data["text"].startswith("No group grows")


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
