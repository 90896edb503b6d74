"""Inputs behind the numbers of a plan, and those that the customer has yet to confirm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuplan.facts import Fact
from gpuplan.plan.inputs import Input, label_of
from gpuplan.plan.trail import Line, input_of

if TYPE_CHECKING:
    from gpuplan.plan.plan import Plan


def inputs(plan: Plan) -> dict[str, Input]:
    """Inputs and facts that the numbers of the plan rest on, by key; not figures in between."""
    return {key: input_of(key, fact) for key, fact in _given(plan).items()}


def unconfirmed(plan: Plan) -> tuple[tuple[str, str], ...]:
    """(key, label) of each planning value behind the numbers, for the customer to confirm."""
    groups = {group.id: f"{group.name}: " for group in plan.scenario.groups}
    return tuple(
        (
            key,
            groups.get(key.split(".")[1], "") + label_of(key) if key.startswith("groups.") else label_of(key),
        )
        for key, fact in _given(plan).items()
        if fact.basis == "assumed"
    )


def _given(plan: Plan) -> dict[str, Fact | Line]:
    """Return the inputs behind the lines, by key; of two bases for one input the weaker counts."""
    lines, tables = plan.lines, plan.catalog.titles
    facts = [
        fact
        for line in plan.asked_lines.values()
        for fact in line.given.values()
        if fact.key not in lines
        and ("/" not in fact.key or fact.key.startswith("prices.") or fact.key.partition("/")[0] in tables)
    ]
    return {item.key: item for item in facts} | {item.key: item for item in facts if item.basis == "assumed"}
