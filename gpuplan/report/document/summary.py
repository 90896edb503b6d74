"""The answer at a glance, for terminal and slides."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.report.document.writing import cost_span, hosts_lost
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.report.tables.cost import headlines
from gpuplan.wording import amount, number, said, watts, whole


def demand_words(plan: Plan) -> str:
    """The GPUs that the hosts carry: ``a demand of 28``, or the stated total where that decides."""
    key = "summary.demand" if plan.scenario.deciding_total_gpus is None else "summary.stated total"
    return said(key, gpus=whole(plan.totals.gpus_demanded))


def key_figures(plan: Plan) -> list[tuple[str, str, str]]:
    """The answer at a glance: what it is, its value, and what is to know of it."""
    totals = plan.totals
    lost = amount(hosts_lost(plan), "host")
    found = [
        (
            said("summary.hosts"),
            count_over_years(plan.costs.hosts) if plan.costs else number(totals.hosts),
            said(
                "summary.for the demand for",
                demand=number(totals.hosts_for_demand),
                failures=number(totals.hosts_for_failures),
            ),
        ),
        (said("summary.gpus"), number(totals.gpus), said("summary.for", demand=demand_words(plan))),
        (
            said("summary.after a failure"),
            number(totals.gpus_after_failure),
            said("summary.with lost", lost=lost),
        ),
        (said("summary.placement"), plan.placed.short, plan.placed.note),
    ]
    if plan.power is not None:
        key = "summary.power note in racks" if plan.power.racks else "summary.power note"
        note = said(key, peak=watts(plan.power.peak_w), racks=plan.power.racks)
        found.append((said("summary.power"), watts(plan.power.typical_w), note))
    if plan.costs is not None:
        costs = plan.costs
        found.append((said("summary.net present"), headlines(plan)["net_present"], cost_span(costs)))
    return found
