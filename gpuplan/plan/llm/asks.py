"""A group's inputs for its language model: its own, and the planning values that replace those left empty."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, own_rows
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Group, Scenario, ScenarioError, problem

SERVING, TUNING, RETRIEVAL = "llm-serving", "fine-tuning", "rag"
USES = (SERVING, TUNING, RETRIEVAL)
"""Workload kinds that are sized from a model."""
KINDS = {SERVING: "generate", TUNING: "generate", RETRIEVAL: "embed"}
"""Workload kind -> the task of its model."""

SESSIONS = ("use_kind", "turns", "turn_tokens", "tool_s", "hit_share")
"""Inputs for requests that follow one another."""
SETTINGS = ("sequences", "chunk_tokens", "draft_tokens", "accepted_tokens", "adapters", "adapter_rank")
"""Inputs for the engine."""
BEHIND = (*SESSIONS, *SETTINGS)
"""Inputs that stay empty in a new group: without them requests are single ones on an engine as it is."""

INPUTS = {
    row["use_case"]: tuple(row["of_models"].split())
    for row in own_rows("words/workload_inputs")
    if row["of_models"]
}
"""Workload kind -> the inputs of a group that only it has."""


def uses_model(group: Group) -> bool:
    """True if the resources of a group follow from the model that it uses."""
    return group.model is not None and group.use_case in USES


def as_vms(replicas: int, gpus: float, off_hours_share: float | None, several_sites: bool) -> dict[str, Any]:
    """The inputs of a group as its replicas; users in several places, whose hours differ, share some that always run."""
    always = ("hours", "days", "off_hours_share") if several_sites else ()
    return {
        "people": replicas,
        "active_share": 1.0,
        "vms_each": 1,
        "vgpus_each": 1,
        "gpus_each": gpus,
        "off_hours_share": off_hours_share,
        **dict.fromkeys(always),
    }


def planned(catalog: Catalog, kind: str | None) -> Mapping[str, Fact]:
    """Return the planning values of a group that uses a model: those of its kind of use, where it has one, and the usual ones."""
    own = catalog.assumptions[f"llm-use-{kind}"].facts if kind else {}
    return {**catalog.assumptions["llm-use"].facts, **own}


def in_percent(share: Fact) -> Fact:
    """Return a share as a line shows it."""
    return replace(share, value=100 * float(share.value), low=None, high=None, unit="%")


class Asks:
    """The inputs of one group as facts, with the planning value where one is empty."""

    def __init__(self, scenario: Scenario, catalog: Catalog, group: Group) -> None:
        self.scenario, self.catalog, self.group = scenario, catalog, group
        self.planned = planned(catalog, group.use_kind)

    def fact(self, name: str) -> Fact:
        """Return an input of the group; the planning value of the catalog where it is empty and there is one."""
        defaults = self.planned
        if name not in GROUP_FIELD_BY_NAME:
            return defaults[name]
        stated = self.scenario.fact(f"groups.{self.group.id}.{name}")
        return defaults[name] if stated.value is None and name in defaults else stated

    def value(self, name: str) -> Any:
        """Its value."""
        return self.fact(name).value

    def given(self, *names: str) -> dict[str, Any]:
        """Some inputs as those of a line."""
        return {name: self.fact(name) for name in names}

    def having(self, name: str, value: float) -> "Asks":
        """Return the same group with another input, of three digits."""
        scenario = self.scenario.with_value(f"groups.{self.group.id}.{name}", float(f"{value:.3g}"))
        return Asks(scenario, self.catalog, self.group)

    def said(self, name: str, value: Any, note: str) -> Fact:
        """Return an input, or the value used where it is empty, with its basis."""
        stated = self.fact(name)
        return (
            stated if stated.value is not None else replace(stated, value=value, basis="assumed", note=note)
        )

    def refuse(self, name: str, value: object, key: str, /, **words: object) -> ScenarioError:
        """Return the error that names an input of this group, its value, and values that would work."""
        return ScenarioError([problem(f"groups.{self.group.id}.{name}", value, key, **words)])
