"""Language models: the inputs of a group that uses one, and the results."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.analysis.llm_traffic import traffic_of
from gpuplan.app.cards import figure
from gpuplan.app.forms import field_data
from gpuplan.app.state import Workbook
from gpuplan.plan.llm import RETRIEVAL
from gpuplan.plan.llm.retrieval import Retrieval, why_share
from gpuplan.plan.llm.serving import Serving, why_size
from gpuplan.plan.llm.tuning import Tuning, why_job
from gpuplan.report import amount, number
from gpuplan.report.llm_report import started
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Group
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, PLURALS, capital, rough, rough_range

KINDS = {"model": ("generate",), "reranker": ("rerank",)}
"""Input that chooses a model -> the tasks of that model; in a search it makes embeddings."""
LIMITS = NAMES["limit of a replica"]


def model_data(workbook: Workbook, group: Group) -> contract.Results:
    """Return the results of the model that a group uses: memory as a bar, figures, and sentences."""
    sizing = workbook.plan.llm.of(group.id)
    if isinstance(sizing, Serving):
        return _serving(workbook, sizing)
    if isinstance(sizing, Tuning):
        return _tuning(sizing)
    if isinstance(sizing, Retrieval):
        return _retrieval(sizing)
    return {"bar": None, "figures": [], "notes": ["Choose a model."]}


def model_field(workbook: Workbook, group: Group, name: str) -> contract.Field:
    """Return an input, with the models to choose from, or the planning value used while it is empty."""
    path = f"groups.{group.id}.{name}"
    if name in KINDS:
        kinds = ("embed",) if group.use_case == RETRIEVAL and name == "model" else KINDS[name]
        rows = [row for row in workbook.catalog.rows("llm_models") if row["kind"] in kinds]
        none = [("", "none" if name == "reranker" else "not chosen")]
        return field_data(workbook, path, none + [(row.id, str(row["name"])) for row in rows])
    facts, empty = (
        workbook.catalog.assumptions["llm-use"].facts,
        NAMES["empty input of a model"].get(name, ""),
    )
    if name in facts:
        field = field_data(workbook, path, empty=facts[name])
    elif name in ("weights", "cache"):
        names = {row.id: str(row["name"]) for row in workbook.catalog.rows("llm_precisions")}
        shown = [("", empty), *((str(code), names[str(code)]) for code in GROUP_FIELD_BY_NAME[name].choices)]
        field = field_data(workbook, path, shown, empty=empty)
    else:
        field = field_data(workbook, path, empty=empty)
    return field | {"unit": PLURALS.get(field["unit"], field["unit"])}


def _serving(workbook: Workbook, made: Serving) -> contract.Results:
    at = f"groups.{made.id}"
    rate = made.found.token_rate
    figures = [
        figure(
            "Replicas",
            number(made.replicas),
            f"{number(made.requests)} concurrent requests, {rough(made.found.requests)} per replica",
            f"{at}.replicas",
        ),
        figure(
            "Tokens/s per replica",
            rough(rate.value),
            f"{rough_range(rate.low, rate.high)}, fitted",
            f"{at}.llm_replica_tokens",
        ),
        figure("Limited by", LIMITS[made.limit], _more(made) if made.steps else "", f"{at}.replica_requests"),
    ]
    return {
        "bar": _memory(made),
        "figures": figures if made.replicas else [],
        "notes": _notes(workbook, made) if made.replicas else ["Enter users, or requests per second."],
    }


def _tuning(made: Tuning) -> contract.Results:
    at, gpus, memory = f"groups.{made.id}", made.gpus * made.hosts, made.memory
    whole = made.memory_gib
    parts = (
        ("weights", memory.weights_gib, 1),
        ("states", memory.states_gib, 4),
        ("activations", memory.activations_gib, 2),
        ("runtime", memory.runtime_gib, 3),
    )
    hours, rate = made.hours, made.tokens_per_gpu
    figures = [
        figure("GPUs per job", number(gpus), f"in {amount(made.hosts, 'host')}", f"{at}.job_gpus"),
        figure("Job duration, h", rough(hours.value), rough_range(hours.low, hours.high), f"{at}.job_h"),
        figure("Tokens/s per GPU", rough(rate.value), rough_range(rate.low, rate.high), f"{at}.job_tokens"),
    ]
    return {
        "bar": _bar("Memory per GPU", parts, whole, 1.0),
        "figures": figures,
        "notes": [f"{capital(why)}." for why in (why_job(made),) if why] + [f"{capital(made.how)}."],
    }


def _retrieval(made: Retrieval) -> contract.Results:
    at = f"groups.{made.id}"
    parts = tuple((model.name, model.weights_gib, colour) for colour, model in enumerate(made.models, 1))
    figures = [
        figure("Replicas", number(made.replicas), f"of {amount(made.gpus, 'GPU')}", f"{at}.rag_replicas"),
        figure("Index", f"{rough(made.index_gib)} GiB", "per copy, in memory", f"{at}.rag_index_gib"),
        figure(
            "Database VMs",
            number(made.database_vms),
            f"{number(made.database_vcpus)} vCPUs, {number(made.database_gib)} GiB each",
            f"{at}.rag_database_vms",
        ),
    ]
    return {
        "bar": _bar("Memory per replica", parts, made.memory_gib, 1.0),
        "figures": figures,
        "notes": [f"{why_share(made)}."],
    }


def _memory(made: Serving) -> contract.MemoryBar:
    memory, count = made.held, max(1.0, made.gpus)
    parts = (
        ("weights", memory.weights_gib, 1),
        ("KV cache", made.cache_used_gib, 2),
        ("runtime", memory.activation_gib + memory.runtime_gib, 3),
    )
    return _bar("Memory per replica", parts, sum(memory), count, kept=memory.unused_gib)


def _bar(
    label: str, parts: Sequence[tuple[str, float, int]], whole: float, count: float, kept: float = 0.0
) -> contract.MemoryBar:
    """Return memory as a bar: its parts, the memory ``kept`` from the engine, and the free rest; of ``count`` GPUs."""
    at, drawn = 0.0, list[contract.MemoryPart]()
    free = max(0.0, whole - kept - sum(gib for _, gib, _ in parts))
    for name, gib, colour in (*parts, *[("engine reserve", kept, 0)] * (kept > 0), ("free", free, 0)):
        text = f"{name} {rough(gib * count)}"
        drawn.append({"from": at, "share": gib / whole, "colour": colour, "text": text})
        at += gib / whole
    label = f"{label}, {rough(whole * count)} GiB"
    return {"label": label, "parts": drawn, "text": ", ".join(part["text"] for part in drawn)}


def _more(made: Serving) -> str:
    last = made.steps[-1]
    return f"With {amount(last.replicas, 'replica')}: first token {rough(last.first_token_s.value)} s, {rough(last.tokens_per_s.value)} tokens/s"


def _notes(workbook: Workbook, made: Serving) -> list[str]:
    now = next(step for step in made.steps if step.replicas == made.replicas)
    first, speed = now.first_token_s, now.tokens_per_s
    notes = [
        f"Users get the first token after {rough(first.value)} s ({rough_range(first.low, first.high)}) and then {rough(speed.value)} tokens/s ({rough_range(speed.low, speed.high)}). "
        f"A replica handles {number(made.limits.memory)} requests by memory, {number(made.limits.speed)} by speed, "
        f"{number(made.limits.first_token)} by the first token."
    ]
    notes.append(started(traffic_of(workbook.plan, made.id)))
    fewer = made.steps[0]
    if fewer.replicas < made.replicas:
        notes.append(
            f"With {number(fewer.replicas)}: first token {rough(fewer.first_token_s.value)} s, {rough(fewer.tokens_per_s.value)} tokens/s"
            f"{'' if fewer.keeps else ', below the promise'}."
        )
    if why := why_size(made):
        notes.append(f"{capital(amount(made.gpus, 'GPU'))} per replica: {why}.")
    return notes
