"""Inputs behind the numbers of a plan, and those that the customer has yet to confirm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuplan.facts import Fact
from gpuplan.plan.trail import Input, Line, input_of, label_of

if TYPE_CHECKING:
    from gpuplan.plan.plan import Plan


def inputs(plan: Plan) -> dict[str, Input]:
    """Inputs and facts that the numbers of the plan rest on, by key; not figures in between."""
    return {key: input_of(key, given) for key, given in _given(plan).items()}


def unconfirmed(plan: Plan) -> tuple[tuple[str, str], ...]:
    """(key, label) of each planning value behind the numbers, for the customer to confirm."""
    groups = {group.id: f"{group.name}: " for group in plan.scenario.groups}
    return tuple(
        (
            key,
            groups.get(key.split(".")[1], "") + label_of(key) if key.startswith("groups.") else label_of(key),
        )
        for key, given in _given(plan).items()
        if given.basis == "assumed"
    )


def _given(plan: Plan) -> dict[str, Fact | Line]:
    """Return the inputs behind the lines, by key; of two bases for one input the weaker counts."""
    lines, tables = plan.lines, plan.catalog.titles
    held = [
        given
        for line in plan.asked_lines.values()
        for given in line.given.values()
        if given.key not in lines
        and ("/" not in given.key or given.key.startswith("prices.") or given.key.partition("/")[0] in tables)
    ]
    return {each.key: each for each in held} | {each.key: each for each in held if each.basis == "assumed"}
