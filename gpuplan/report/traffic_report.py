"""Traffic on the language models of a plan, as plain data and as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.llm_traffic import GroupTraffic
from gpuplan.locales import spoken, written
from gpuplan.plan import Plan
from gpuplan.report.plan_data import as_json
from gpuplan.report.tables.traffic import few_digits, seconds, waits
from gpuplan.report.text import chapter, page
from gpuplan.simulation.batching import Simulated
from gpuplan.wording import number, said, share_words

Played = Sequence[tuple[GroupTraffic, Simulated]]
"""Each group with what the simulation found for its planned replicas."""


def traffic_dict(plan: Plan, found: Played) -> dict[str, Any]:
    """Traffic as plain JSON values, all finite: key ``groups``, by id.

    Each has ``replicas`` (planned), ``replicas_needed`` (or ``why`` none do), ``p95_range_s``, ``waits`` by formula and simulated, and
    ``simulated`` with the interval of each figure.
    """
    return as_json(
        groups={
            of.id: {"name": of.name, "replicas": of.replicas}
            | {"replicas_needed": of.needed.replicas, "why": of.needed.why}
            | {"share": of.share, "first_token_s": of.first_token_s, "p95_range_s": of.p95_range_s}
            | {"requests_per_second": of.per_second, "day_per_second": of.day_per_second}
            | {"traffic": of.traffic, "waits": waits(of, [(of.replicas, played)]), "simulated": played}
            for of, played in found
        }
    )


@spoken
def traffic_text(plan: Plan, found: Played) -> str:
    """Traffic as text for a terminal."""
    return page(
        f"{plan.scenario.name or 'Design'}: requests as they come",
        *(
            chapter(
                waits(of, [(of.replicas, played)]),
                started(of),
                "By formula: an M/G/k queue whose speed depends on the requests at once. Simulated: continuous batching, request by request, "
                "in the busiest hour.",
                before=asked(of),
                title=of.name,
            )
            for of, played in found
        ),
    )


def asked(of: GroupTraffic) -> str:
    """Say how requests arrive."""
    traffic = of.traffic
    peaked = f"peakedness {written(traffic.peakedness, 'g')}"
    bursts = "independent of each other" if traffic.peakedness == 1 else peaked
    return (
        f"{few_digits(of.per_second)} requests a second in the busiest hour, {bursts}; prompts of {number(traffic.tokens_in)} tokens, answers of "
        f"{number(traffic.tokens_out)} on average; spread {written(traffic.spread_in, 'g')} and {written(traffic.spread_out, 'g')} (standard deviation over mean)."
    )


def started(of: GroupTraffic) -> str:
    """Say what that means for the service level."""
    planned, needed = of.planned, of.needed
    seen = said("traffic.queue grows")
    if of.p95_range_s:
        p95, low, high = map(seconds, (planned.p95_s, *of.p95_range_s))
        promise = {"kept": planned.kept_share, "first_token": written(of.first_token_s, "g")}
        seen = said("traffic.seen", share=share_words(0.95), p95=p95, low=low, high=high, **promise)
    key = "traffic.uneven" if needed.replicas == of.replicas else "traffic.uneven kept"
    if needed.replicas is None:
        key = "traffic.uneven never kept"
    return said(key, replicas=of.replicas, seen=seen, needed=needed.replicas, share=of.share, why=needed.why)
