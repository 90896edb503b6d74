"""Tables of language models: the needs and the performance of each group that uses one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuplan.analysis.token_prices import TokenPrice, token_prices
from gpuplan.models.llm.shape import Range
from gpuplan.plan import Plan
from gpuplan.plan.llm.retrieval import Retrieval
from gpuplan.plan.llm.serving import Serving
from gpuplan.plan.llm.tuning import METHODS, Tuning
from gpuplan.report.table import Cell, Column, Table, key, listed
from gpuplan.wording import NAMES, rough, rough_range, said, share_words

LIMITS = NAMES["limit of a replica"]


def serving(plan: Plan) -> Table:
    """The replicas of each group that language models serve, and what its users see."""
    precisions = {row.id: str(row["name"]) for row in plan.catalog.rows("llm_precisions")}
    return listed(
        "serving",
        (
            Column("group", of="name"),
            Column("model", of=lambda made: f"{made.model}, {precisions[made.weights]}"),
            Column("requests", kind="whole", of=_figure("requests", "requests_at_once")),
            Column("limited_by", of="limit", words=LIMITS.get),
            Column("gpus_each", kind="number", of=_figure("gpus", "replica_gpus")),
            Column("replicas", kind="number", of=_figure("replicas", "replicas")),
            Column("first_token", kind="number", unit="s", of=_range(_first_token_s, "llm_first_token_s")),
            Column(
                "tokens_per_s", kind="number", of=_range(lambda made: made.tokens_per_s, "llm_tokens_per_s")
            ),
            Column(
                "replica_tokens",
                kind="number",
                of=_range(lambda made: made.found.token_rate, "llm_replica_tokens"),
            ),
            Column("at_once", kind="number", detail=True, of=lambda made: made.limits.requests),
            Column("by_memory", kind="number", detail=True, of=lambda made: made.limits.memory),
            Column("by_speed", kind="number", detail=True, of=lambda made: made.limits.speed),
            Column("by_first_token", kind="number", detail=True, of=lambda made: made.limits.first_token),
            key("group_id", "id"),
        ),
        [made for made in plan.llm.serving.values() if made.replicas],
        title=said("table.serving.llm"),
    )


def tuning(plan: Plan) -> Table:
    """The jobs that tune language models: GPUs, speed and hours of one."""
    return listed(
        "tuning",
        (
            Column("group", of="name"),
            Column("model", of=lambda made: f"{made.model}, {METHODS[made.method]}"),
            Column("tokens", kind="number", of=_figure("tokens", "job_h")),
            Column("jobs_per_day", kind="number", of=lambda made: Cell(made.jobs_per_day, words=None)),
            Column(
                "gpus_each",
                kind="number",
                of=lambda made: Cell(made.gpus * made.hosts, line=f"groups.{made.id}.job_gpus"),
            ),
            Column(
                "memory_gib",
                kind="number",
                unit="GiB",
                of=lambda made: Cell(made.memory.total_gib, words=rough(made.memory.total_gib)),
            ),
            Column(
                "tokens_per_gpu", kind="number", of=_range(lambda made: made.tokens_per_gpu, "job_tokens")
            ),
            Column("hours", kind="number", unit="h", of=_range(lambda made: made.hours, "job_h")),
            Column("known", detail=True, of="how"),
            key("group_id", "id"),
        ),
        list(plan.llm.tuning.values()),
    )


def retrieval(plan: Plan) -> Table:
    """Tabulate the resources for document retrieval: parts of a GPU, the index, and the VMs of the database."""
    return listed(
        "retrieval",
        (
            Column("group", of="name"),
            Column("models", of=lambda made: ", ".join(model.name for model in made.models)),
            Column("queries_per_s", kind="number", of=_rough("queries_per_s", "queries")),
            Column("busy_gpus", kind="number", of=_rough("busy_gpus", "rag_gpus")),
            Column("gpus_each", kind="number", of=_figure("gpus", "rag_share")),
            Column("replicas", kind="number", of=_figure("replicas", "rag_replicas")),
            Column("passages", kind="number"),
            Column("index_gib", kind="number", unit="GiB", of=_rough("index_gib", "rag_index_gib")),
            Column("database_vms", kind="number", of=_figure("database_vms", "rag_database_vms")),
            Column("database_vcpus", kind="number", detail=True),
            Column("database_gib", kind="number", unit="GiB", detail=True),
            key("group_id", "id"),
        ),
        list(plan.llm.retrieval.values()),
    )


def token_costs(plan: Plan) -> Table:
    """Tabulate the cost of a million tokens: of the design by its load, of rented GPUs, and at a price per token."""
    currency = plan.scenario.cost.currency
    return listed(
        "token_costs",
        (
            Column("group", of="name"),
            Column("way", of=_way),
            Column("million_in", kind="price", unit=currency, of=_traced("million_in")),
            Column("million_out", kind="price", unit=currency, of=_traced("million_out")),
            Column("user_month", kind="price", unit=currency, of=_traced("user_month")),
            Column("year", kind="money", unit=currency),
            key("group_id", "group"),
        ),
        token_prices(plan),
    )


def _way(price: TokenPrice) -> str:
    """Say where tokens come from."""
    if price.way == "design":
        load = said("table.of the planned load", share=share_words(price.load))
        return (
            said("table.this design at its", load=load) if price.own else said("table.this design", load=load)
        )
    return f"{WAYS[price.way]}, {price.note}"


WAYS = {way: said(f"table.token_prices.{way}") for way in ("rent", "price")}


def _traced(name: str) -> Callable[[TokenPrice], Cell]:
    """Return a getter of a price, with the plan's line if the price has one."""

    def held(price: TokenPrice) -> Cell:
        value = getattr(price, name)
        planned = price.way == "design" and price.own and value is not None
        return Cell(value, line=f"groups.{price.group}.{name}" if planned else "")

    return held


def _first_token_s(made: Serving) -> Range:
    return Range(*(each / 1e3 for each in made.found.first_token_ms))


def _figure(name: str, line: str) -> Callable[[Serving | Tuning | Retrieval], Cell]:
    """A figure with its line."""
    return lambda made: Cell(getattr(made, name), line=f"groups.{made.id}.{line}")


def _rough(name: str, line: str) -> Callable[[Retrieval], Cell]:
    """Return a rough figure, with its line."""

    def held(made: Retrieval) -> Cell:
        value = getattr(made, name)
        return Cell(value, words=rough(value), line=f"groups.{made.id}.{line}")

    return held


def _range(of: Callable[[Any], Range], line: str) -> Callable[[Serving | Tuning], Cell]:
    """Return a getter of a figure with a range, with its line."""

    def held(made: Serving | Tuning) -> Cell:
        found = of(made)
        words = f"{rough(found.value)} ({rough_range(found.low, found.high)})"
        return Cell(found.value, words=words, low=found.low, high=found.high, line=f"groups.{made.id}.{line}")

    return held
