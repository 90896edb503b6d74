"""From language models to VMs: each group that uses one becomes the replicas, jobs or services that it needs.

Later chapters of every group (demand by hour, access, placement, failures, cost) then apply to these, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.facts import Brief, Fact
from gpuplan.locales import written
from gpuplan.models import demand
from gpuplan.models.llm import memory, replicas, serving, traffic
from gpuplan.models.llm.shape import BITS
from gpuplan.plan.inputs import derived, plain_name, resting_on
from gpuplan.plan.llm.asks import RETRIEVAL, TUNING, Asks, in_percent, uses_model
from gpuplan.plan.llm.engine import Engine, engine_lines, engine_of, sequences_of
from gpuplan.plan.llm.retrieval import Retrieval, retrieval_of
from gpuplan.plan.llm.serving import Serving, check_lengths, serving_of, why_size
from gpuplan.plan.llm.sessions import session_lines
from gpuplan.plan.llm.sizing import round_s
from gpuplan.plan.llm.tuning import Tuning, tuning_lines, tuning_of
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import Group, Problem, Scenario, ScenarioError
from gpuplan.wording import NAMES, said, stated_percent

MODEL_INPUTS = ("model", "requests_per_s", "jobs_per_day")
"""Inputs of a group that its VMs no longer depend on once they are sized."""
SPEEDS = ("bandwidth_share", "compute_share", "installed_power", "step_us", "layer_us", "sequence_us")
"""Fitted parameters that a reader is shown; the catalog lists the others beside them."""


@dataclass(frozen=True, repr=False)
class Llm(Brief):
    """Resources for the groups that use a language model."""

    scenario: Scenario
    """Each such group as its VMs."""
    serving: Mapping[str, Serving] = field(default_factory=dict)
    tuning: Mapping[str, Tuning] = field(default_factory=dict)
    retrieval: Mapping[str, Retrieval] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    """Group -> the id of its model."""

    @property
    def parts(self) -> dict[str, Mapping[str, Serving] | Mapping[str, Tuning] | Mapping[str, Retrieval]]:
        """Results of the groups, by the work of their models."""
        return {"serving": self.serving, "tuning": self.tuning, "retrieval": self.retrieval}

    def of(self, group: str) -> Serving | Tuning | Retrieval | None:
        """Return the result of a group; None where it uses no model."""
        return next((results[group] for results in self.parts.values() if group in results), None)


def llm_of(trail: Trail, scenario: Scenario, catalog: Catalog) -> Llm:
    """Convert each group with a language model to its VMs; the trail leads from these to its inputs.

    Models that do not fit, or cannot keep their promises, on this hardware are rejected, all groups at once.
    """
    taken: dict[str, Serving | Tuning | Retrieval] = {}
    problems: list[Problem] = []
    for group in filter(uses_model, scenario.groups):
        try:
            here = trail.about(f"groups.{group.id}", name=group.name)
            taken[group.id] = _taken(here, Asks(scenario, catalog, group))
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    if not taken:
        return Llm(scenario)
    local = scenario.platform.bitfusion
    groups = tuple(
        _as_vms(group, taken[group.id].as_group, local=local) if group.id in taken else group
        for group in scenario.groups
    )
    serving = {id: result for id, result in taken.items() if isinstance(result, Serving)}
    tuned = {id: result for id, result in taken.items() if isinstance(result, Tuning)}
    searched = {id: result for id, result in taken.items() if isinstance(result, Retrieval)}
    models = {group.id: str(group.model) for group in scenario.groups if group.id in taken}
    return Llm(_with_databases(replace(scenario, groups=groups), searched), serving, tuned, searched, models)


def _taken(trail: Trail, asks: Asks) -> Serving | Tuning | Retrieval:
    """Size a group by the work of its model, with lines."""
    if asks.group.use_case == RETRIEVAL:
        return retrieval_of(asks, trail)
    if asks.group.use_case == TUNING:
        job = tuning_of(asks)
        tuning_lines(trail, asks, job)
        return job
    check_lengths(asks)
    engine = engine_of(asks)
    result = serving_of(asks, engine)
    serving_lines(trail, asks, engine, result)
    return result


def _with_databases(scenario: Scenario, searched: Mapping[str, Retrieval]) -> Scenario:
    """Add the VMs of vector databases to the hosts of a scenario that states capacity for VMs without a GPU."""
    hardware = scenario.hardware
    if not searched or not hardware.vcpus_per_host or not hardware.memory_gib_per_host:
        return scenario
    others = "; ".join(filter(None, [hardware.other_vms, *(result.database for result in searched.values())]))
    return replace(scenario, hardware=replace(hardware, other_vms=others))


def _as_vms(group: Group, follows: Mapping[str, Any], *, local: bool) -> Group:
    """A group as its VMs, without its model; ``local`` with Bitfusion, on which no language model is measured."""
    at = {"remote_allowed": False} if local else {}
    return replace(group, **{**dict.fromkeys(MODEL_INPUTS), **follows, **at})


def serving_lines(here: Trail, asks: Asks, engine: Engine, made: Serving) -> None:
    """Add a line for each number from the users to the replicas, which replace people in later lines."""
    requests = _requests_line(here, asks, made)
    speed: Any = _behind(asks.catalog, "llm-serving", *SPEEDS)
    tokens: Any = asks.given("tokens_in", "tokens_out")
    where: Any = {"gpus": _gpus_line(here, asks, engine, made)}
    if made.reuse:
        session_lines(here, asks, engine, made.reuse, made.size, made.replicas)
    beside = engine_lines(here, asks, engine, where["gpus"])
    usage, count = made.held, max(1.0, made.gpus)
    kept: Any = {"kept": engine.kept} if BITS[engine.weights] < 16 else {}
    kept["parameters"] = engine.fact("total_parameters")
    kept["precision"] = asks.said("weights", engine.weights, said("llm.bits"))
    gib = usage.weights_gib * count - (beside.value if beside else 0.0)
    words = {"parts": NAMES["parts at 16 bits"][str(engine.kept.value)]}
    weights = here.record("weights_gib", memory.weights_gib, gib, kept, words=words)
    room_of: Any = {**where, "beside": beside} if beside else {**where}
    room_of |= {"weights": weights, "memory_gib": engine.gpu.fact("memory_gib")}
    overheads = _behind(asks.catalog, "llm-memory", "usable_share", "activation_gib", "runtime_gib")
    room_of["overheads"] = overheads["llm-memory"]
    when = "beside" if beside else ""
    room = here.record("cache_gib", memory.held, usage.cache_gib * count, room_of, when=when)
    most = made.limits
    held: Any = {**tokens, "room": room, "layers": engine.fact("layers")}
    by_memory = here.record("requests_by_memory", memory.requests_at_once, most.memory, held)
    promised = {**tokens, **where, **speed}
    by_speed, by_first = (
        here.record(f"requests_by_{name}", replicas.limits, count, promised, promise=asks.fact(promise))
        for name, count, promise in (
            ("speed", most.speed, "tokens_per_s"),
            ("first_token", most.first_token, "first_token_s"),
        )
    )
    engine_first = most.by == "engine"
    limits: Any = {"sequences": sequences_of(asks, engine.gpu)} if engine_first else {}
    limits |= {"memory": by_memory, "speed": by_speed, "first_token": by_first}
    when = "engine" if engine_first else ""
    per_replica = here.record("replica_requests", replicas.limits, most.requests, limits, when=when)
    decided: Any = {"least": asks.fact("least_replicas")}
    if made.in_time:
        share = in_percent(asks.fact("kept_share"))
        decided = {"share": share, "promise": asks.fact("first_token_s"), "when": "in time"}
    how: Any = traffic.replicas_for if made.in_time else replicas.replicas
    count_line = here.record("replicas", how, made.replicas, requests=requests, each=per_replica, **decided)
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


def _behind(catalog: Catalog, item: str, *names: str) -> dict[str, Fact]:
    """Combine parameters of an item as one input of a line: known as well as the weakest, with their sources."""
    facts = [catalog.assumptions[item].fact(name) for name in names]
    note = ", ".join(_part(name, fact) for name, fact in zip(names, facts, strict=True))
    return {item: resting_on(facts, f"assumptions/{item}", "fitted", "fitted parameters", note=note)}


def _part(name: str, fact: Fact) -> str:
    """A parameter in words: a share in per cent, all others with their unit."""
    value = float(fact.value)
    text = stated_percent(value) if name.endswith("_share") else f"{written(value, 'g')} {fact.unit}".strip()
    return f"{plain_name(name)} {text}"


def _requests_line(here: Trail, asks: Asks, made: Serving) -> Line:
    """Add concurrent requests: of the active users at the promised pace, or of a stated arrival rate, by Little's law."""
    token_ms, first_ms = made.found.time_per_token_ms.value, made.found.first_token_ms.value
    stay_s = (first_ms + token_ms * (made.asks["tokens_out"] - 1)) / 1e3
    stay = derived(f"groups/{made.id}/stay", stay_s, "stay of a request")
    inputs: Any = {"stay": replace(stay, basis="fitted")}
    when, words = "rate", {}
    if asks.group.requests_per_s is None:
        inputs |= asks.given("people", "active_share")
        waits = asks.given("tool_s", "think_s")
        active = demand.active_people(asks.group.people, active_share=asks.group.active_share)
        rate = made.load.requests_per_second  # at the pace that is planned: a missed promise is not kept
        when, words = "people", {"round": written(active / rate if rate else round_s(asks), ".3g")}
        if any(fact.value for fact in waits.values()):
            inputs, when = inputs | waits, "waits"
    else:
        inputs["rate"] = asks.fact("requests_per_s")
    return here.record("requests_at_once", replicas.replicas, made.requests, inputs, when=when, words=words)


def _gpus_line(here: Trail, asks: Asks, engine: Engine, made: Serving) -> Line:
    """GPUs of a replica: stated, or the size with which all replicas take the fewest."""
    stated = asks.group.replica_gpus is not None
    fact = asks.fact("replica_gpus") if stated else engine.fact("total_parameters")
    inputs, words = {"stated" if stated else "model": fact}, {"why": "" if stated else why_size(made)}
    when = "stated" if stated else ""
    return here.record("replica_gpus", memory.splits, made.gpus, inputs, when=when, words=words)
