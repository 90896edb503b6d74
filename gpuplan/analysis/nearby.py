"""Nearby designs: the one at hand with one decision taken otherwise, to see at once what that changes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from gpuplan.analysis.candidates import Candidate, Space, asked, default_space, unfit
from gpuplan.analysis.differences import design_name, differences, short_names
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.scenario import Scenario, ScenarioError

TOLD = ("totals.hosts", "totals.gpus", "cost.net_present")
"""What is said of each: hosts, or GPUs where the hosts are as many, and cost."""


def nearby(scenario: Scenario, catalog: Catalog) -> tuple[tuple[str, Scenario], ...]:
    """(what it is, the scenario) of up to three designs: one failure more, another board that does the same work, other GPUs per host."""
    names, found = [design_name(scenario, catalog)], []
    space = default_space(scenario, catalog)
    for candidates in (_safer(scenario), _other_board(scenario, space), _other_hosts(scenario)):
        for candidate in candidates:
            if unfit(scenario, catalog, candidate):
                continue
            with contextlib.suppress(ScenarioError):
                other = candidate.apply(scenario, catalog)
                names.append(design_name(other, catalog))
                found.append(other)
                break
    return tuple(
        (short_names((names[0], name))[1], other) for name, other in zip(names[1:], found, strict=True)
    )


def _safer(scenario: Scenario) -> Iterator[Candidate]:
    own = asked(scenario)
    yield replace(own, host_failures=own.host_failures + 1)


def _other_board(scenario: Scenario, space: Space) -> Iterator[Candidate]:
    """Boards in the order in which they replace that of the design, each in its own server first."""
    own = asked(scenario)
    for gpu in space.gpus[1:]:
        for server in dict.fromkeys((own.server, *space.servers)):
            yield replace(own, gpu=gpu, server=server)


def _other_hosts(scenario: Scenario) -> Iterator[Candidate]:
    own = asked(scenario)
    for factor in (2, 0.5):
        if own.gpus_per_host * factor >= 1 and (own.gpus_per_host * factor) % 1 == 0:
            yield replace(own, gpus_per_host=int(own.gpus_per_host * factor))


def told(plan: Plan, other: Scenario) -> str:
    """What another design changes in hosts and cost; a ScenarioError if it cannot be planned."""
    found = {
        each.key: each.sentence for each in differences((plan, make_plan(other, plan.catalog)), ("Now", "It"))
    }
    said = [found[key] for key in TOLD if key in found]
    if "totals.hosts" in found and "totals.gpus" in found:
        said.remove(found["totals.gpus"])
    return " ".join(said) or "Hosts and cost do not change."
