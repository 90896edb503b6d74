"""A workload in one row: who asks and when, what one VM gets, what its access mode means."""

from __future__ import annotations

from dataclasses import replace

from approved import is_approved

from gpuplan import load_scenario, plan
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.report.workloads import KIND_NAMES, access, gets, kind_name, sentence
from gpuplan.scenario import Scenario, from_dict
from gpuplan.wording import said


def made(scenario: Scenario, catalog: Catalog) -> dict[str, tuple[tuple[str, ...], ...]]:
    found: Plan = plan(scenario, catalog)
    shown = {group.id: group for group in found.groups}
    return {
        group.name: (
            tuple(sentence(found, group, shown[group.id])),
            tuple(gets(found, group, shown[group.id])),
            tuple(access(shown[group.id])),
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
        "1/2 GPU",
        "H100L-47C",
        "supports vMotion",
    )


def test_models_say_what_they_promise(catalog: Catalog) -> None:
    rows = made(load_scenario("assistant"), catalog)
    words, size, _ = rows["Support assistant"]
    assert is_approved(words[0], "3.3", "70B", "FP8", "400 users", "12 %")
    assert is_approved(words[1], "2000 tokens", "400", "2 s", "30")
    assert size == ("2 whole GPUs", "per replica, H100L-94C")
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
    found = plan(load_scenario("enterprise"), catalog)
    group = found.scenario.groups[1]
    assert tuple(sentence(found, group, None)) == ("32 users, 50 % concurrent", "")
    assert tuple(gets(found, group, None)) == ("1/2 GPU", "per VM")
    assert tuple(access(None)) == ("\u2013", "")


def test_a_kind_has_a_short_name_and_other_use_cases_their_own(catalog: Catalog) -> None:
    found = plan(load_scenario("enterprise"), catalog)
    assert len(KIND_NAMES) == 7
    assert kind_name(found, "llm-serving") == "LLM serving"
    others = {row.id: row["name"] for row in catalog.rows("use_cases") if row.id not in KIND_NAMES}
    assert others and all(kind_name(found, use_case) == name for use_case, name in others.items())


def test_jobs_that_may_be_stopped_run_on_what_others_leave(catalog: Catalog) -> None:
    groups = [{"id": "a", "people": 4}, {"id": "b", "people": 4, "preemptible": True}]
    found = plan(from_dict({"groups": groups}), catalog)
    below = [sentence(found, group, found.group(group.id)).second for group in found.scenario.groups]
    assert [said("workload.on what is left") in text for text in below] == [False, True]
