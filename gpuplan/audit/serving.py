"""Groups served by language models, made from the requests of a trace, and the scenario with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from gpuplan.audit.arrivals import by_hour
from gpuplan.audit.curves import REAL_TIME_S
from gpuplan.audit.suggestions import (
    AROUND,
    WINDOW_DAYS,
    WINDOW_JOBS,
    group_field_range,
    hours_text,
    window,
    with_group,
)
from gpuplan.audit.trace import Requests
from gpuplan.audit.use import Audit
from gpuplan.scenario import Group, Origin, Scenario, one_line
from gpuplan.wording import counted, said

USE_CASE = "llm-serving"
MEASURED = (
    *("requests_per_s", "tokens_in", "tokens_out", "spread_in", "spread_out"),
    *("peakedness", "longest_context"),
)
"""Inputs of a group that a trace of requests gives."""
KEPT = (
    *("model", "weights", "cache", "first_token_s", "tokens_per_s"),
    *("least_replicas", "replica_gpus", "kept_share"),
)
"""Fields missing from a trace, taken from a serving group that the design already has."""


@dataclass(frozen=True, slots=True)
class ServingGroup:
    """A group of a scenario that sends the requests of a part of the trace, in its busiest hour."""

    name: str
    group: str
    requests_per_s: float
    tokens_in: int
    tokens_out: int
    spread_in: float
    spread_out: float
    peakedness: float
    longest_context: int
    hours: str
    time_zone: str
    note: str


def suggest_serving(audit: Audit, *, most: int = 6) -> tuple[ServingGroup, ...]:
    """Groups of a scenario with the requests of a trace, each at the rate of its busiest hour; most tokens first."""
    use = audit.arrivals
    if use is None or not isinstance(audit.trace, Requests):
        return ()
    trace = audit.trace
    long_enough = use.first_s >= REAL_TIME_S and use.days >= WINDOW_DAYS
    groups = []
    for group in use.groups[:most]:
        from_it = trace.where(trace.group == trace.groups.index(group.name))
        start, length = 0, 24
        if long_enough and group.requests >= WINDOW_JOBS:
            zone = ZoneInfo(audit.time_zone)
            start, length = window(by_hour(from_it.time_s, use.first_s, use.last_s, zone))
        least = group_field_range("requests_per_s")[0]
        groups.append(
            ServingGroup(
                name=said("audit.group.model") if len(use.groups) == 1 else one_line(group.name)[:56],
                group=group.name,
                requests_per_s=float(f"{max(group.busiest_per_second, least):.3g}"),
                tokens_in=max(1, round(group.tokens_in.mean)),
                tokens_out=max(1, round(group.tokens_out.mean)),
                spread_in=round(min(group.tokens_in.spread, 10.0), 2),
                spread_out=round(min(group.tokens_out.spread, 10.0), 2),
                peakedness=round(max(use.peakedness, 0.1), 2),
                longest_context=round(group.longest),
                hours=hours_text(start, length),
                time_zone=audit.time_zone,
                note=said("audit.group.requests", requests=counted(group.requests, "request")),
            )
        )
    return tuple(groups)


def serving_scenario(
    base: Scenario, groups: Sequence[ServingGroup], file: str = "a trace", model: str = ""
) -> Scenario:
    """Return a scenario with the suggested groups instead of those that language models serve in ``base``.

    ``model`` is a row of ``llm_models``; without one, it and its promises are those of the first such group of
    ``base``.
    """
    before = next((group for group in base.groups if group.use_case == USE_CASE), None)
    kept = {name: getattr(before, name) for name in KEPT} if before else {}
    kept |= {"model": model} if model else {}
    scenario = base.with_groups(group for group in base.groups if group.use_case != USE_CASE)
    measured = Origin("measured", "scenario", note=said("audit.origin", file=one_line(file)[:80]))
    for suggested in groups:
        around = suggested.hours == AROUND
        group = Group(
            id=scenario.new_group_id(suggested.name),
            name=suggested.name,
            use_case=USE_CASE,
            people=1,
            active_share=1.0,
            **{name: getattr(suggested, name) for name in MEASURED},
            hours=None if around else suggested.hours,
            sites=None if around else suggested.time_zone,
            **kept,
        )
        scenario = with_group(scenario, group, dict.fromkeys(MEASURED, measured))
    return scenario
