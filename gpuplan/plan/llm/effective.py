"""From language models to VMs: each group that uses one becomes the replicas, jobs or services that it takes.

What follows the plan for every group (demand by hour, access, placement, failures, cost) then holds for these, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.facts import Brief
from gpuplan.plan.llm.asks import RETRIEVAL, SERVING, TUNING, Asks, uses_model
from gpuplan.plan.llm.engine import engine_of
from gpuplan.plan.llm.retrieval import Retrieval, retrieval_of
from gpuplan.plan.llm.serving import Serving, check_lengths, serving_of
from gpuplan.plan.llm.serving_lines import serving_lines
from gpuplan.plan.llm.tuning import Tuning, tuning_lines, tuning_of
from gpuplan.plan.trail import Trail
from gpuplan.scenario import Group, Problem, Scenario, ScenarioError

MODEL_INPUTS = ("model", "requests_per_s", "jobs_per_day")
"""Inputs of a group that its VMs no longer depend on once they are sized."""


@dataclass(frozen=True, repr=False)
class Llm(Brief):
    """What the groups that use a language model take."""

    scenario: Scenario
    """Each such group as its VMs."""
    serving: Mapping[str, Serving] = field(default_factory=dict)
    tuning: Mapping[str, Tuning] = field(default_factory=dict)
    retrieval: Mapping[str, Retrieval] = field(default_factory=dict)

    @property
    def parts(self) -> dict[str, Mapping[str, Serving] | Mapping[str, Tuning] | Mapping[str, Retrieval]]:
        """What the groups take, by what their models do."""
        return {"serving": self.serving, "tuning": self.tuning, "retrieval": self.retrieval}

    def of(self, group: str) -> Serving | Tuning | Retrieval | None:
        """What a group takes; None where it uses no model."""
        return next((found[group] for found in self.parts.values() if group in found), None)


def llm_of(trail: Trail, scenario: Scenario, catalog: Catalog) -> Llm:
    """Each group that uses a language model as the VMs that it takes; the trail leads from these to its inputs.

    Models that do not fit, or cannot keep what is promised, on this hardware are refused, those of all groups at once.
    """
    taken: dict[str, Serving | Tuning | Retrieval] = {}
    problems: list[Problem] = []
    for group in filter(uses_model, scenario.groups):
        try:
            here = trail.about(f"groups.{group.id}", name=group.name)
            taken[group.id] = TAKES[group.use_case](here, Asks(scenario, catalog, group))
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
    serving = {id: made for id, made in taken.items() if isinstance(made, Serving)}
    tuned = {id: made for id, made in taken.items() if isinstance(made, Tuning)}
    searched = {id: made for id, made in taken.items() if isinstance(made, Retrieval)}
    return Llm(_with_databases(replace(scenario, groups=groups), searched), serving, tuned, searched)


def _serving(trail: Trail, asks: Asks) -> Serving:
    check_lengths(asks)
    engine = engine_of(asks)
    made = serving_of(asks, engine)
    serving_lines(trail, asks, engine, made)
    return made


def _tuning(trail: Trail, asks: Asks) -> Tuning:
    made = tuning_of(asks)
    tuning_lines(trail, asks, made)
    return made


def _retrieval(trail: Trail, asks: Asks) -> Retrieval:
    return retrieval_of(asks, trail)


TAKES: Mapping[str, Callable[[Trail, Asks], Serving | Tuning | Retrieval]] = {
    SERVING: _serving,
    TUNING: _tuning,
    RETRIEVAL: _retrieval,
}
"""What a group takes, by its workload."""


def _with_databases(scenario: Scenario, searched: Mapping[str, Retrieval]) -> Scenario:
    """The scenario with the VMs of vector databases on its hosts, where it states what these give to VMs without a GPU."""
    hardware = scenario.hardware
    if not searched or not hardware.vcpus_per_host or not hardware.memory_gib_per_host:
        return scenario
    others = "; ".join(filter(None, [hardware.other_vms, *(made.database for made in searched.values())]))
    return replace(scenario, hardware=replace(hardware, other_vms=others))


def _as_vms(group: Group, follows: Mapping[str, Any], *, local: bool) -> Group:
    """A group as its VMs: its model is spoken for; ``local`` where Bitfusion is there, for which no language model is measured."""
    at = {"remote_allowed": False} if local else {}
    return replace(group, **{**dict.fromkeys(MODEL_INPUTS), **follows, **at})
