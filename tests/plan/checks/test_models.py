"""Checks of language models: replicas on one host, what a failure leaves, precision, and parts of a GPU."""

from __future__ import annotations

from typing import Any

from assistants import assistant

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.checks.models import most_on_a_host


def checked(catalog: Catalog, failures: int = 1, **given: Any) -> tuple[Plan, dict[str, Message]]:
    scenario = assistant(**given).with_value("availability.host_failures", failures)
    plan = make_plan(scenario, catalog)
    return plan, {message.code: message for message in check_plan(plan)}


def test_replicas_that_share_a_host_though_they_need_not(catalog: Catalog) -> None:
    small = {"people": 40, "replica_gpus": 1, "tokens_per_s": 5}
    plan, found = checked(catalog, hardware={"gpus_per_host": 2}, **small)
    made = plan.llm.serving["assistant"]
    assert ("replicas-together" in found) == (most_on_a_host(plan, "assistant") > -(-made.replicas // 2))
    assert most_on_a_host(plan, "assistant") <= made.replicas


def test_without_a_spare_host_the_plan_says_how_much_slower_it_gets(catalog: Catalog) -> None:
    plan, found = checked(catalog, failures=0, people=4000)
    lost = most_on_a_host(plan, "assistant")
    left = plan.llm.serving["assistant"].replicas - lost
    text = found["replicas-lost"].text
    assert f"leaves {left or 'none'} of" in text.replace("leaves 0 of", "leaves none of")
    assert "first token" in text or "nobody" in text
    assert "replicas-lost" not in checked(catalog, people=4000)[1]


def test_fp8_on_a100_and_parts_of_a_gpu_are_noted(catalog: Catalog) -> None:
    _, found = checked(catalog, hardware={"gpu": "a100-sxm4-80gb"})
    assert "A100" in found["precision-unpacked"].text
    assert "share-not-measured" not in found
    _, found = checked(catalog, model="llama-3.1-8b", people=20)
    assert "1/" in found["share-not-measured"].text and "precision-unpacked" not in found
    assert "nim-on-vgpu" in found
