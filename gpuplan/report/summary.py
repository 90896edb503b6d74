"""The answer at a glance, and what text, page, document, slides and workbook say of a plan in the same words."""

from __future__ import annotations

from gpuplan.locales import LOCALES
from gpuplan.plan import Plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.cost import Costs
from gpuplan.plan.prices import price_day
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.report.tables.cost import headlines
from gpuplan.wording import NAMES, amount, headline_money, number, percent, said, watts, whole

CHANGES = NAMES["what to do"]
"""What to do about a message where the check says it to the person at the workbook, not to the customer."""


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


def as_of(plan: Plan) -> str:
    """The ISO day of the prices and of the calculation."""
    return price_day(plan.scenario, plan.catalog)


def paper_of(plan: Plan) -> str:
    """The paper that was chosen, or that of the locale; empty where neither was."""
    chosen = plan.scenario.format
    return chosen.paper or (LOCALES[chosen.locale].paper if chosen.locale else "")


def total_words(plan: Plan) -> str:
    """What is said of the demand where no workload is described."""
    stated = plan.scenario.demand.stated_gpus
    if not stated:
        return said("writing.no workloads yet")
    total = amount(stated, "GPU")
    return said("writing.the customer states and", total=total)


def what_to_do(message: Message) -> str:
    """What to do about a message, said to the customer."""
    return CHANGES.get(message.code, message.change)


def cost_span(costs: Costs) -> str:
    """Over how long a net present cost is, and what is in it and what is not."""
    text = said("writing.over", years=costs.years)
    if costs.hosts[-1] > costs.hosts[0]:
        text += said("writing.with growth to", hosts=amount(costs.hosts[-1], "host"))
    text += said("writing.at the start", money=headline_money(costs.cash[0], costs.currency))
    left_out = len(costs.excludes)
    return text + said("writing.not included", items=left_out) if left_out else text


def waits(plan: Plan) -> tuple[str, str] | None:
    """The probability of waiting in the busiest hours, now and after a failure; None without requests."""
    now, after = (plan.lines.get(f"totals.{key}") for key in ("waiting", "waiting_after_failure"))
    return None if now is None or after is None else (percent(now.value / 100), percent(after.value / 100))


def hosts_lost(plan: Plan) -> int:
    """Hosts that are lost where figures after a failure are given."""
    return max(1, plan.scenario.availability.host_failures)
