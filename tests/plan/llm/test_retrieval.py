"""Embeddings and RAG: parts of a GPU, the index and its database, and what the hosts then carry."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.llm.retrieval import Retrieval, why_share
from gpuplan.plan.plan import Plan
from gpuplan.scenario import ScenarioError, from_dict, other_vms

SEARCH = {
    "id": "search",
    "name": "Search",
    "use_case": "rag",
    "model": "bge-m3",
    "reranker": "bge-reranker-v2-m3",
    "documents": 10_000_000,
    "requests_per_s": 2,
}


def searched(
    catalog: Catalog, hardware: dict[str, Any] | None = None, **given: Any
) -> tuple[Plan, Retrieval]:
    host = {"gpu": "l40s-48gb", "gpus_per_host": 4, **(hardware or {})}
    plan = make_plan(from_dict({"groups": [{**SEARCH, **given}], "hardware": host}), catalog)
    return plan, plan.llm.retrieval["search"]


def test_work_is_tokens_over_what_a_gpu_reads(catalog: Catalog) -> None:
    plan, made = searched(catalog)
    embeds, reranks = made.models
    # two queries of 50 tokens, and 50 passages of 500 tokens beside each, on GPUs that are busy 60 % of the time
    by_hand = 2 * (50 / embeds.tokens_per_s + 50 * 550 / reranks.tokens_per_s) / 0.6
    assert made.busy_gpus == pytest.approx(by_hand)
    assert made.replicas * made.gpus >= made.busy_gpus
    assert plan.group("search").vms == made.replicas and plan.group("search").gpus_each == made.gpus
    assert why_share(made)


def test_the_index_takes_what_the_vendors_formula_says(catalog: Catalog) -> None:
    _, made = searched(catalog)
    assert made.index_gib == pytest.approx(10e6 * (1024 * 4 + 16 * 16) * 1.2 / 2**30)
    assert made.database_vms == 2  # 48.6 GiB fit into 0.8 x 64, in two copies
    assert searched(catalog, documents=40_000_000)[1].database_vms == 2 * 4


def test_more_queries_and_a_reranker_take_more(catalog: Catalog) -> None:
    _, made = searched(catalog)
    assert searched(catalog, requests_per_s=4)[1].busy_gpus == pytest.approx(2 * made.busy_gpus)
    assert searched(catalog, reranker=None)[1].busy_gpus < made.busy_gpus / 50
    users = searched(catalog, requests_per_s=None, people=600, active_share=0.1)[1]
    assert users.queries_per_s == pytest.approx(60 / 30)


def test_the_database_stands_on_the_hosts_where_these_say_what_they_give(catalog: Catalog) -> None:
    plan, _ = searched(catalog)
    assert plan.sized.hardware.other_vms is None
    plan, made = searched(catalog, {"vcpus_per_host": 64, "memory_gib_per_host": 512})
    [database] = other_vms(plan.sized.hardware.other_vms)
    assert (database.vms, database.vcpus, database.memory_gib) == (made.database_vms, 8, 64)
    assert plan.scenario.hardware.other_vms is None
    assert plan.totals.unplaced_vms_after_failure == 0


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"model": "nv-embed-v2"}, "model"),
        ({"model": "llama-3.1-8b"}, "model"),
        ({"reranker": "bge-m3"}, "reranker"),
        ({"replica_gpus": 0.01}, "model"),
    ],
)
def test_what_cannot_be_names_its_field(catalog: Catalog, given: dict[str, Any], field: str) -> None:
    with pytest.raises(ScenarioError) as error:
        searched(catalog, **given)
    assert [problem.path for problem in error.value.problems] == [f"groups.search.{field}"]
