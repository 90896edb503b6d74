"""The answer at a glance, for terminal and slides."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.report.document.writing import cost_span, hosts_lost
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.report.tables.cost import headlines
from gpuplan.wording import amount, counted, number, said, watts, whole


def demand_words(plan: Plan, unit: str = "GPU") -> str:
    """What the hosts carry: ``a demand of 28 GPUs``, or the stated total where that decides."""
    kind = "a demand" if plan.scenario.deciding_total_gpus is None else "the stated total"
    return f"{kind} of {amount(whole(plan.totals.gpus_demanded), unit)}"


AFTER_FAILURE = "GPUs after a failure"
"""The key figure that a slide leaves out."""


def key_figures(plan: Plan) -> list[tuple[str, str, str]]:
    """The answer at a glance: what it is, its value, and what is to know of it."""
    totals = plan.totals
    lost = amount(hosts_lost(plan), "host")
    found = [
        (
            "Hosts",
            count_over_years(plan.costs.hosts) if plan.costs else number(totals.hosts),
            said(
                "summary.for the demand for",
                demand=number(totals.hosts_for_demand),
                failures=number(totals.hosts_for_failures),
            ),
        ),
        ("GPUs", number(totals.gpus), f"for {demand_words(plan, '')}"),
        (AFTER_FAILURE, number(totals.gpus_after_failure), said("summary.with lost", lost=lost)),
        ("Placement", plan.placed.short, plan.placed.note),
    ]
    if plan.power is not None:
        racks = f", {counted(plan.power.racks, 'rack')}" if plan.power.racks else ""
        note = f"typical; {watts(plan.power.peak_w)} at peak{racks}"
        found.append(("Power", watts(plan.power.typical_w), note))
    if plan.costs is not None:
        costs = plan.costs
        found.append(("Net present cost", headlines(plan)["net_present"], cost_span(costs)))
    return found
