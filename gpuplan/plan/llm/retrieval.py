"""Embeddings and RAG: the parts of a GPU that embedding and reranking take, and the VMs of the vector database."""

import math
import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gpuplan.catalog import Row
from gpuplan.facts import Fact
from gpuplan.models import demand
from gpuplan.models.llm import retrieval
from gpuplan.models.llm.memory import GIB
from gpuplan.plan.inputs import derived
from gpuplan.plan.llm.asks import Asks, as_vms
from gpuplan.plan.llm.engine import gpu_shares
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import show, sites_people, vms_text
from gpuplan.wording import joined, rough, said


class Encoder(NamedTuple):
    """A model that embeds or reranks."""

    name: str
    weights_gib: float
    tokens_per_s: float
    """Of a whole GPU."""
    tokens_a_query: float


@dataclass(frozen=True)
class Retrieval:
    """Resources of document search for a language model."""

    id: str
    name: str
    models: tuple[Encoder, ...]
    """The one that embeds, and the one that reranks if there is one."""
    queries_per_s: float
    passages: int
    busy_gpus: float
    """GPUs' worth of work at the peak."""
    gpus: float
    """Of a replica."""
    replicas: int
    least: int
    memory_gib: float
    """Of a replica's part of a GPU."""
    index_gib: float
    """Of one copy."""
    indexing_h: float
    """To embed all passages once on one GPU."""
    database_vms: int
    database_vcpus: int
    """Of each VM; its memory below."""
    database_gib: int
    off_hours: bool
    several_sites: bool

    @property
    def as_group(self) -> dict[str, Any]:
        """The inputs of the group as its VMs."""
        off = self.least / self.replicas if self.off_hours and self.replicas else None
        return as_vms(self.replicas, self.gpus, None if off is None else min(1.0, off), self.several_sites)

    @property
    def model(self) -> str:
        """The name of the model that embeds."""
        return self.models[0].name

    @property
    def said(self) -> str:
        """Its task, in words."""
        reranked = "".join(said("llm.reranked", model=model.name) for model in self.models[1:])
        queries = rough(self.queries_per_s)
        return said("llm.queries", reranked=reranked, queries=queries, passages=self.passages)

    @property
    def database(self) -> str:
        """The VMs of the vector database as an input lists them."""
        name = re.sub(r"[;:,]+", " ", self.name)[:30].strip()
        size = {"vcpus_each": self.database_vcpus, "memory_gib_each": self.database_gib}
        return str(vms_text([{"name": said("llm.database", name=name), "vms": self.database_vms, **size}]))


def retrieval_of(asks: Asks, here: Trail) -> Retrieval:
    """The replicas and the database of a group, with a line for each number on the way."""
    group, catalog = asks.group, asks.catalog
    rows = [catalog.row("llm_models", id) for id in (str(group.model), group.reranker) if id]
    passage, query = (float(asks.value(name)) for name in ("passage_tokens", "query_tokens"))
    candidates = float(asks.value("candidates"))
    lengths = (query, candidates * (passage + query))
    models = tuple(_encoder(asks, row, tokens, passage) for row, tokens in zip(rows, lengths, strict=False))
    planning = catalog.assumptions["llm-retrieval"]
    queries = _queries_line(here, asks)
    busy_share = planning.fact("busy_share")
    used = {"busy_share": float(busy_share.value)}
    needs = ((model.tokens_a_query, model.tokens_per_s) for model in models if queries.value)
    busy = 0.0 + sum(
        retrieval.busy_gpus(float(queries.value), request_tokens=tokens, throughput=rate, **used)
        for tokens, rate in needs
    )
    inputs: dict[str, Fact | Line] = {"queries": queries, **planning.given("compute_share", "busy_share")}
    inputs |= asks.given("passage_tokens", "candidates")
    inputs["rate"] = catalog.gpus[asks.scenario.hardware.gpu].fact("fp16_tensor_tflops")
    words = {"models": joined([model.name for model in models])}
    work = here.record("rag_gpus", retrieval.busy_gpus, busy, inputs, words=words)
    least = int(asks.value("least_replicas"))
    gpus = _share(asks, models, busy, least)
    count = max(least, math.ceil(busy / gpus - 1e-9)) if queries.value else 0
    gib = sum(model.weights_gib for model in models)
    weights = derived(f"groups/{group.id}/weights", gib, "weights of models")
    size = here.record("rag_share", retrieval.busy_gpus, gpus, work=work, memory=weights)
    replicas = here.record(
        "rag_replicas", retrieval.busy_gpus, count, work=work, size=size, least=asks.fact("least_replicas")
    )
    index = _index_line(here, asks, rows[0])
    memory, copies, usable = asks.fact("database_gib"), planning.fact("copies"), planning.fact("index_share")
    sizes: Any = {"copies": copies.value, "usable_share": usable.value}
    count_vms = retrieval.database_vms(float(index.value), vm_memory_gib=float(memory.value), **sizes)
    inputs = {"index": index, "memory": memory, "copies": copies, "usable": usable}
    vms = here.record("rag_database_vms", retrieval.database_vms, count_vms, inputs)
    at = f"groups.{group.id}"
    here.stand_in(f"{at}.people", replicas)
    here.stand_in(f"{at}.gpus_each", size)
    all_run = here.record("replicas_running", retrieval.busy_gpus, 1.0, replicas=replicas)
    here.stand_in(f"{at}.active_share", all_run)
    passages = int(asks.value("documents"))
    return Retrieval(
        id=group.id,
        name=group.name,
        models=models,
        queries_per_s=float(queries.value),
        passages=passages,
        busy_gpus=busy,
        gpus=gpus,
        replicas=count,
        least=least,
        memory_gib=float(catalog.gpus[asks.scenario.hardware.gpu].fact("memory_gib").value) * gpus,
        index_gib=float(index.value),
        indexing_h=retrieval.embedding_time_h(passages * passage, gpus=1, throughput=models[0].tokens_per_s),
        database_vms=int(vms.value),
        database_vcpus=int(asks.value("database_vcpus")),
        database_gib=int(asks.value("database_gib")),
        off_hours=bool(group.off_hours_share),
        several_sites=len(sites_people(group.sites)) > 1,
    )


def _encoder(asks: Asks, row: Row, tokens: float, passage: float) -> Encoder:
    """A model on a whole GPU of the design; a ScenarioError where its size or the board's rate is not known."""
    where = "model" if row["kind"] == "embed" else "reranker"
    gpu = asks.catalog.gpus[asks.scenario.hardware.gpu]
    rate, parameters = gpu.value("fp16_tensor_tflops"), row["total_parameters"]
    if not rate:
        raise asks.refuse(where, show(row.id), "limit.tensor rate", name=gpu.name)
    if not parameters:
        raise asks.refuse(where, show(row.id), "limit.parameters", name=row["name"])
    table = (row["vocabulary"] or 0) * (row["hidden_size"] or 0) / 1e9
    share = asks.catalog.assumptions["llm-retrieval"].fact("compute_share")
    speed: Any = {"tensor_tflops": float(rate), "compute_share": float(share.value)}
    speed |= {"passage_tokens": passage, "layers": int(row["layers"] or 0), "vocabulary_parameters": table}
    width = int(row["heads"] or 0) * int(row["head_size"] or 0)
    throughput = retrieval.encoder_throughput(float(parameters), attention_size=width, **speed)
    return Encoder(str(row["name"]), float(parameters) * 2e9 / GIB, throughput, tokens)


def _share(asks: Asks, models: tuple[Encoder, ...], busy: float, least: int) -> float:
    """The part of a GPU for which all replicas together take the fewest GPUs; it must hold the models."""
    memory = float(asks.catalog.gpus[asks.scenario.hardware.gpu].fact("memory_gib").value)
    needed = sum(model.weights_gib for model in models) + float(asks.value("encoder_gib"))
    sizes = [size for size in (*gpu_shares(asks), 1.0) if size * memory >= needed]
    if (stated := asks.group.replica_gpus) is not None:
        sizes = [stated] if stated * memory >= needed else []
    if not sizes:
        words = {"gib": rough(needed), "memory": memory}
        raise asks.refuse("model", show(asks.group.model), "limit.models in a GPU", **words)
    return min(sizes, key=lambda size: (size * max(least, math.ceil(busy / size - 1e-9)), -size))


def _queries_line(here: Trail, asks: Asks) -> Line:
    """Queries a second: stated, or from the active users."""
    stated = asks.group.requests_per_s
    if stated is not None:
        behind = {"stated": asks.fact("requests_per_s")}
        return here.record("queries", demand.active_people, stated, behind, when="stated")
    active = demand.active_people(asks.group.people, active_share=asks.group.active_share)
    gap = asks.fact("query_gap_s")
    inputs = {**asks.given("people", "active_share"), "gap": gap}
    return here.record("queries", demand.active_people, active / float(gap.value), inputs, when="people")


def _index_line(here: Trail, asks: Asks, row: Row) -> Line:
    """Memory of one copy of the index."""
    planning = asks.catalog.assumptions["llm-retrieval"]
    dimensions = row.fact("hidden_size")
    if not dimensions.value:
        note = said("llm.width unknown")
        dimensions = replace(dimensions, value=1024, basis="assumed", note=note)
    inputs: dict[str, Fact | Line] = {"vectors": asks.fact("documents"), "dimensions": dimensions}
    names = ("dimension_bytes", "neighbours", "neighbour_bytes", "headroom_share")
    return here.compute("rag_index_gib", retrieval.index_gib, {**planning.given(*names), **inputs})


def why_share(made: Retrieval) -> str:
    """Word the size of the work and of the database."""
    return said("llm.why share", made=made)
