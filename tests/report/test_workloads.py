"""A workload in one row: who asks and when, what one VM gets, what its access mode means."""

from __future__ import annotations

from dataclasses import replace

from approved import is_approved

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.demand import week_demand
from gpuplan.analysis.drivers import drivers, loads
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.report.workloads import (
    KIND_NAMES,
    driver_rows,
    gets,
    kind_name,
    load_bars,
    next_host_words,
    sentence,
)
from gpuplan.scenario import Scenario, from_dict
from gpuplan.wording import number, said


def made(scenario: Scenario, catalog: Catalog) -> dict[str, tuple[tuple[str, ...], ...]]:
    found: Plan = make_plan(scenario, catalog)
    shown = {group.id: group for group in found.groups}
    return {
        group.name: (
            tuple(sentence(found, group, shown[group.id])),
            tuple(gets(found, group, shown[group.id])),
        )
        for group in found.scenario.groups
    }


def test_people_with_hours_sites_and_a_share(catalog: Catalog) -> None:
    rows = made(load_scenario("assistant"), catalog)
    assert is_approved(
        rows["Data scientists"],
        "40 users, 40 % concurrent",
        "11 VMs",
        "09:00–18:00",
        "11 \u00d7 1/2 GPU",
        "H100L-47C",
    )


def test_models_say_what_they_promise(catalog: Catalog) -> None:
    rows = made(load_scenario("assistant"), catalog)
    words, size = rows["Support assistant"]
    assert is_approved(words[0], "3.3", "70B", "FP8", "400 users", "12 %")
    assert is_approved(words[1], "2\u202f000 tokens", "400", "2 s", "30")
    assert size == ("5 \u00d7 2 GPUs", "H100L-94C")
    assert is_approved(rows["Nightly fine-tuning"][0][0], "3.1", "8B", "3 jobs", "100")
    assert rows["Document search"][0][0] == "bge-m3"


def test_jobs_are_counted_in_place_of_people(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    groups = tuple(
        replace(group, jobs_per_day=3.0, work_h=4.0) if group.id == "researchers" else group
        for group in scenario.groups
    )
    rows = made(scenario.with_groups(groups), catalog)
    assert is_approved(rows["High-performance researchers"][0][0], "3 jobs", "4 h")
    assert rows["HPC users"][0][0] == "2 users, all concurrent"


def test_what_is_not_planned_yet_has_no_profile_and_no_mode(catalog: Catalog) -> None:
    found = make_plan(load_scenario("enterprise"), catalog)
    group = found.scenario.groups[1]
    assert tuple(sentence(found, group, None)) == ("32 users, 50 % concurrent", "")
    assert tuple(gets(found, group, None)) == ("1/2 GPU", "")


def test_a_kind_has_a_short_name_and_other_use_cases_their_own(catalog: Catalog) -> None:
    found = make_plan(load_scenario("enterprise"), catalog)
    assert len(KIND_NAMES) == 7
    assert kind_name(found, "llm-serving") == "LLM serving"
    others = {row.id: row["name"] for row in catalog.rows("use_cases") if row.id not in KIND_NAMES}
    assert others and all(kind_name(found, use_case) == name for use_case, name in others.items())


def test_jobs_that_may_be_stopped_run_on_what_others_leave(catalog: Catalog) -> None:
    groups = [{"id": "a", "people": 4}, {"id": "b", "people": 4, "preemptible": True}]
    found = make_plan(from_dict({"groups": groups}), catalog)
    below = [sentence(found, group, found.group(group.id)).second for group in found.scenario.groups]
    assert [said("workload.on what is left") in text for text in below] == [False, True]


def test_bars_of_the_week(example: Plan) -> None:
    shown = load_bars(example, loads(example, week_demand(example)[0]))
    for bar in shown["bars"]:
        assert 0 < sum(part["share"] for part in bar["parts"]) <= 1
        assert len({part["colour"] for part in bar["parts"]}) == len(bar["parts"])
    names = [bar["name"] for bar in shown["bars"]]
    assert len(names) == len(set(names)) and all(names)
    letters = {group.letter for group in example.groups}
    assert {part["text"][0] for bar in shown["bars"] for part in bar["parts"] if part["text"]} <= letters
    installed = shown["lines"][-1]
    assert installed["at"] == 1 and number(example.totals.gpus) in installed["text"]


def test_what_drives_the_hosts(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    found = drivers(plan)
    rows = driver_rows(plan, found)
    assert [row["letter"] for row in rows][:2] == ["H", "D"]
    assert rows[0]["share"] == 1 and rows[0]["hosts"] == "\u22123 hosts"
    assert not rows[-1]["fewer"]
    assert is_approved(next_host_words(found), "9", "4", "1")
    assert not next_host_words(found._replace(next_host=None))
