"""Fine-tuning: GPUs and hours of a job, and what the group then asks of the hosts."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.llm.tuning import Tuning, why_job
from gpuplan.plan.plan import Plan
from gpuplan.scenario import ScenarioError, from_dict

JOB = {
    "id": "nightly",
    "name": "Nightly",
    "use_case": "fine-tuning",
    "model": "llama-3.1-8b",
    "tuning": "lora",
    "tuning_tokens": 100,
    "jobs_per_day": 3,
    "hours": "20:00-08:00",
}


def tuned(catalog: Catalog, **given: Any) -> tuple[Plan, Tuning]:
    hardware = {"gpu": "h100-sxm5-80gb", "gpus_per_host": 8}
    plan = make_plan(from_dict({"groups": [{**JOB, **given}], "hardware": hardware}), catalog)
    return plan, plan.llm.tuning["nightly"]


def test_hours_are_tokens_over_the_speed_of_all_gpus(catalog: Catalog) -> None:
    plan, made = tuned(catalog)
    speed = made.tokens_per_gpu.value * made.gpus * made.hosts
    assert made.hours.value == pytest.approx(100e6 / speed / 3600)
    assert made.hours.low < made.hours.value < made.hours.high
    assert made.memory.total_gib < made.memory_gib
    group = plan.group("nightly")
    assert (group.gpus_each, plan.sized.get("groups.nightly.work_h")) == (made.gpus, made.hours.value)
    assert plan.scenario.get("groups.nightly.work_h") is None


def test_all_weights_take_more_gpus_than_adapters_and_these_more_than_on_four_bits(catalog: Catalog) -> None:
    large = {"model": "llama-3.3-70b"}
    full, lora, qlora = (
        made.hosts * made.gpus
        for _, made in (tuned(catalog, **large, tuning=how) for how in ("full", "lora", "qlora"))
    )
    assert full > lora >= qlora


def test_more_tokens_or_fewer_gpus_take_longer(catalog: Catalog) -> None:
    _, made = tuned(catalog)
    assert tuned(catalog, tuning_tokens=200)[1].hours.value == pytest.approx(2 * made.hours.value)
    wide = tuned(catalog, replica_gpus=8)[1]
    assert wide.gpus == 8 and wide.hours.value < made.hours.value
    assert has_approved(why_job(made), "8 GPUs")


def test_jobs_at_once_follow_from_jobs_a_day_and_their_hours(catalog: Catalog) -> None:
    """40 jobs a night of so many hours: at least as many GPUs as their hours need in twelve."""
    plan, made = tuned(catalog, jobs_per_day=40)
    assert plan.group("nightly").vms >= 40 * made.hours.value / 12 - 1
    assert plan.lines["groups.nightly.active"].inputs[1].key == "groups.nightly.job_h"


def test_a_job_longer_than_its_night_is_told(catalog: Catalog) -> None:
    plan, made = tuned(catalog, tuning_tokens=2000)
    assert made.ends_late
    assert "tuning-ends-late" in {message.code for message in check_plan(plan)}
    assert "tuning-ends-late" not in {message.code for message in check_plan(tuned(catalog)[0])}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"model": "llama-3.1-405b", "tuning": "full", "replica_gpus": 8}, "replica_gpus"),
        ({"replica_gpus": 0.5}, "replica_gpus"),
        ({"replica_gpus": 16}, "replica_gpus"),
        ({"longest_context": 500_000}, "longest_context"),
    ],
)
def test_what_cannot_be_names_its_field(catalog: Catalog, given: dict[str, Any], field: str) -> None:
    with pytest.raises(ScenarioError) as error:
        tuned(catalog, **given)
    assert [problem.path for problem in error.value.problems] == [f"groups.nightly.{field}"]


def test_a_job_of_many_weeks_is_planned_and_said(catalog: Catalog) -> None:
    plan, made = tuned(catalog, tuning_tokens=1_000_000)
    assert made.hours.value > 2000 and made.ends_late
    assert "tuning-ends-late" in {message.code for message in check_plan(plan)}
