"""Quantities: what is to be as much as possible within the limits, such as users of a workload, or as little, such as cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpuplan.facts import did_you_mean, own_rows
from gpuplan.plan.llm import INPUTS, uses_model
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Field, Group, Scenario, ScenarioError, field_of, problem
from gpuplan.units import exact
from gpuplan.wording import joined, said, told

ROWS: Mapping[str, Mapping[str, str]] = {row["key"]: row for row in own_rows("words/quantities")}
TOTAL = "demand.stated_gpus"
STEPS = 100
"""Steps in which a quantity that is not counted is varied, in parts of its present value."""
INSTEAD = {"people": ("requests_per_s", "jobs_per_day"), "requests_per_s": ("jobs_per_day",)}
"""Input of a workload -> those that decide in its place where they are stated."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is solved for: an input that grows in whole steps, or a figure of the plan that is to be small."""

    key: str
    """As it is asked for: ``users:assistant``, or ``cost``."""
    path: str
    """Input that grows; empty for a figure that is to be small."""
    figure: str
    """Figure of a design that is to be small, by its name in `Found`; the cost where something is to be much."""
    name: str
    unit: str
    step: float = 1.0
    """Value of one step, in the unit."""
    share: float = 1.0
    """Value of the quantity by that of the input."""
    asked: int = 0
    """Steps of the scenario as it is."""
    low: int = 1
    high: int = 1

    @property
    def most(self) -> bool:
        """True if as much as possible is wanted."""
        return bool(self.path)

    def at(self, scenario: Scenario, steps: int) -> Scenario:
        """Return the scenario with this much of the quantity."""
        if not self.path:
            return scenario
        if self.path == TOTAL and scenario.groups:
            scenario = scenario.with_value("demand.rule", "stated")
        wanted = exact(self.step) * steps / exact(self.share)
        whole = field_of(self.path).kind == "int"
        return scenario.with_value(self.path, math.ceil(wanted) if whole else float(wanted))

    def counted(self, gpus: float) -> Quantity:
        """Return a total as the sizing rule counts it where it is solved for; anything else as it is."""
        return replace(self, asked=math.ceil(gpus)) if self.path == TOTAL else self

    def value(self, steps: float) -> float:
        """Return the value of some steps, in the unit."""
        return steps * self.step


def quantity_of(scenario: Scenario, wanted: str) -> Quantity:
    """Return the quantity named ``users:GROUP``, ``gpus``, ``cost`` and so on. Raises a ScenarioError that names what would do."""
    key, _, id = str(wanted).partition(":")
    row = ROWS.get(key)
    if row is None:
        raise _refused(
            wanted, "solve.quantity", meant=did_you_mean(key, ROWS), names=joined([*offered(scenario)])
        )
    if row["sense"] == "least":
        name = told(row["name"], {"years": scenario.cost.years})
        return Quantity(key, "", row["input"], name, row["unit"] or scenario.cost.currency)
    if "." in row["input"]:
        if scenario.hardware.kinds:
            raise _refused(wanted, "solve.does not decide", names=joined([*offered(scenario)]))
        stated = float(scenario.demand.stated_gpus or 1)
        return _growing(key, row, row["input"], row["name"], stated, field_of(row["input"]))
    groups = {group.id: group for group in scenario.groups}
    if id not in groups:
        raise _refused(wanted, "solve.group", meant=did_you_mean(id, groups), names=joined([*groups]))
    group, name = groups[id], row["input"]
    if not _decides(group, name):
        raise _refused(wanted, "solve.does not decide", names=joined([*offered(scenario)]))
    share = group.active_share if key == "concurrency" else 1.0
    now = float(1 if getattr(group, name) is None else getattr(group, name)) * share
    words = told(row["name"], {"group": group.name})
    return _growing(wanted, row, f"groups.{id}.{name}", words, now, GROUP_FIELD_BY_NAME[name], share)


def _growing(
    key: str, row: Mapping[str, str], path: str, name: str, now: float, spec: Field, share: float = 1.0
) -> Quantity:
    step = 1.0 if spec.kind == "int" else now / STEPS
    low = max(1, math.ceil(float(spec.low or 0) * share / step))
    asked, high = (math.floor(most / step + 1e-9) for most in (now, float(spec.high or 0) * share))
    return Quantity(key, path, "net_present", name, row["unit"], step, share, asked, low, high)


def offered(scenario: Scenario) -> tuple[str, ...]:
    """Return every quantity that a scenario can be solved for, as it is asked for."""
    keys = []
    for key, row in ROWS.items():
        if row["input"] == TOTAL and scenario.hardware.kinds:
            continue  # a total does not say how many GPUs are of each kind
        of_group = row["sense"] == "most" and "." not in row["input"]
        groups = [group for group in scenario.groups if of_group and _decides(group, row["input"])]
        keys += [f"{key}:{group.id}" for group in groups] if of_group else [key]
    return tuple(keys)


def _decides(group: Group, name: str) -> bool:
    """True if an input of a workload decides how much it needs."""
    if group.preemptible or any(getattr(group, other) is not None for other in INSTEAD.get(name, ())):
        return False
    if name == "people" and not group.active_share:
        return False
    if name == "least_replicas":
        return uses_model(group) and name in INPUTS[group.use_case]
    return getattr(group, name) is not None


def _refused(wanted: object, key: str, **words: object) -> ScenarioError:
    return ScenarioError([problem(said("solve.for"), wanted, key, **words)])
