"""The lines of serving: from the users of a language model to its replicas, each with what it rests on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, derived
from gpuplan.locales import written
from gpuplan.models import demand
from gpuplan.models.llm import memory, replicas, serving, traffic
from gpuplan.plan.llm.asks import Asks
from gpuplan.plan.llm.engine import Engine
from gpuplan.plan.llm.serving import Serving, why_size
from gpuplan.plan.trail import Line, Trail, resting_on
from gpuplan.wording import stated_percent


def serving_lines(here: Trail, asks: Asks, engine: Engine, made: Serving) -> None:
    """A line for each number on the way from the users to the replicas, which stand in for people from then on."""
    requests = _requests_line(here, asks, made)
    speed: Any = _behind(asks.catalog, "llm-serving", *SPEEDS)
    tokens: Any = {name: asks.fact(name) for name in ("tokens_in", "tokens_out")}
    where: Any = {"gpus": _gpus_line(here, asks, engine, made)}
    held, count = made.held, max(1.0, made.gpus)
    weights = here.record(
        "weights_gib",
        memory.weights_gib,
        held.weights_gib * count,
        parameters=engine.fact("total_parameters"),
        precision=asks.said("weights", engine.weights, "where nothing is stated, 16 bits"),
    )
    room = here.record(
        "cache_gib",
        memory.held,
        held.cache_gib * count,
        where,
        weights=weights,
        memory_gib=engine.gpu.fact("memory_gib"),
        overheads=_behind(asks.catalog, "llm-memory", "usable_share", "activation_gib", "runtime_gib")[
            "llm-memory"
        ],
    )
    most = made.limits
    by_memory = here.record(
        "requests_by_memory",
        memory.requests_at_once,
        most.memory,
        tokens,
        room=room,
        layers=engine.fact("layers"),
    )
    by_speed = here.record(
        "requests_by_speed",
        replicas.limits,
        most.speed,
        tokens,
        promise=asks.fact("tokens_per_s"),
        **where,
        **speed,
    )
    by_first = here.record(
        "requests_by_first_token",
        replicas.limits,
        most.first_token,
        tokens,
        promise=asks.fact("first_token_s"),
        **where,
        **speed,
    )
    each = here.record(
        "replica_requests",
        replicas.limits,
        most.requests,
        memory=by_memory,
        speed=by_speed,
        first_token=by_first,
    )
    decided: Any = {"least": asks.fact("least_replicas")}
    if made.in_time:
        share = asks.fact("kept_share")
        share = replace(share, value=100 * share.value, low=None, high=None, unit="%")
        decided = {"share": share, "promise": asks.fact("first_token_s"), "when": "in time"}
    how: Any = traffic.replicas_for if made.in_time else replicas.replicas
    count_line = here.record("replicas", how, made.replicas, requests=requests, each=each, **decided)
    seen: Any = {"requests": requests, "replicas": count_line, **tokens, **where, **speed}
    for key, function, value in (
        ("first_token_s", serving.first_token_ms, made.found.first_token_ms.value / 1e3),
        ("tokens_per_s", serving.time_per_token_ms, made.tokens_per_s.value),
        ("replica_tokens", serving.token_rate, made.found.token_rate.value),
    ):
        here.record(f"llm_{key}", function, value, seen)
    here.stand_in(f"groups.{made.id}.people", count_line)
    here.stand_in(f"groups.{made.id}.gpus_each", where["gpus"])
    all_run = here.record("replicas_running", replicas.replicas, 1.0, replicas=count_line)
    here.stand_in(f"groups.{made.id}.active_share", all_run)


SPEEDS = ("bandwidth_share", "compute_share", "overlap_share", "step_us", "layer_us", "sequence_us")
"""Fitted parameters that a reader is shown; the others stand beside them in the catalog."""


def _behind(catalog: Catalog, item: str, *names: str) -> dict[str, Fact]:
    """Parameters of an item as one input of a line: known as well as the weakest of them, with their sources."""
    facts = [catalog.assumptions[item].fact(name) for name in names]
    note = ", ".join(_part(name, fact) for name, fact in zip(names, facts, strict=True))
    return {item: resting_on(facts, f"assumptions/{item}", "fitted", "", note)}


def _part(name: str, fact: Fact) -> str:
    """A parameter in words: a share in per cent, all others with their unit."""
    if name.endswith("_share"):
        return f"{name.replace('_', ' ')} {stated_percent(float(fact.value))}"
    return f"{name.removesuffix(f'_{fact.unit.lower()}').replace('_', ' ')} {written(float(fact.value), 'g')} {fact.unit}".strip()


def _requests_line(here: Trail, asks: Asks, made: Serving) -> Line:
    """Requests at once: of the users who are active, or of so many a second by Little's law."""
    at = f"groups.{made.id}"
    if asks.group.requests_per_s is None:
        people, share = (asks.scenario.fact(f"{at}.{name}") for name in ("people", "active_share"))
        return here.compute(
            "requests_at_once", demand.active_people, people=people, active_share=share, when="people"
        )
    each, first = made.found.time_per_token_ms.value, made.found.first_token_ms.value
    stay = derived(
        f"groups/{made.id}/stay",
        (first + each * (made.asks["tokens_out"] - 1)) / 1e3,
        "s",
        "first token and answer",
    )
    rate = asks.fact("requests_per_s")
    return here.record(
        "requests_at_once", replicas.replicas, made.requests, rate=rate, stay=stay, when="rate"
    )


def _gpus_line(here: Trail, asks: Asks, engine: Engine, made: Serving) -> Line:
    """GPUs of a replica: stated, or the size with which all replicas take the fewest."""
    stated = asks.group.replica_gpus is not None
    inputs: Any = (
        {"stated": asks.fact("replica_gpus")} if stated else {"model": engine.fact("total_parameters")}
    )
    words = {"why": "" if stated else why_size(made)}
    return here.record(
        "replica_gpus", memory.least_gpus, made.gpus, inputs, when="stated" if stated else "", words=words
    )
