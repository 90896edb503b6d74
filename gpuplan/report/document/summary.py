"""Chapter 1: what is proposed, in figures, and what is to be settled."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.report.document.blocks import Bullets, Chapter, KeyFigures, Paragraph, chapter, section
from gpuplan.report.document.writing import MOST_ROWS, and_more, cost_span, hosts_lost, what_to_do
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.report.tables.cost import headlines
from gpuplan.wording import amount, counted, number, verb, watts, whole


def summary_chapter(plan: Plan) -> Chapter:
    """Chapter 1: what is proposed, in figures, and what is to confirm."""
    settle = [m for m in check_plan(plan) if m.level != "note"]
    items = tuple(f"{m.text} {what_to_do(m)}".rstrip() for m in settle[:MOST_ROWS])
    nothing = "No check of the design found anything that must be resolved. The assumptions in chapter 2 are to be confirmed."
    why, left_out = _why_so_many(plan), "; ".join(plan.costs.excludes) if plan.costs else ""
    return chapter(
        "Summary",
        Paragraph(_lead(plan), "lead"),
        Paragraph(why) if why else None,
        KeyFigures(tuple(key_figures(plan))) if plan.pools else None,
        Paragraph(f"The cost leaves out what has no known price or count: {left_out}.", "note")
        if left_out
        else None,
        section(
            "To confirm", Bullets(items) if items else Paragraph(nothing), and_more(len(settle) - len(items))
        ),
    )


def _lead(plan: Plan) -> str:
    """What is proposed, in a sentence or two."""
    totals = plan.totals
    if not plan.pools:
        return (
            f"No host is proposed: {vms(totals.unplaced_vms)} no way to reach a GPU."
            if totals.unplaced_vms
            else "No host is proposed: there are no workloads yet."
        )
    boards = " and ".join(dict.fromkeys(plan.catalog.gpus[pool.gpu].name for pool in plan.pools))
    clusters = f" in {counted(len(plan.pools), 'cluster')}" if len(plan.pools) > 1 else ""
    text = (
        f"{amount(totals.hosts, 'host')}{clusters} with {amount(totals.gpus, 'GPU')} ({boards}) {verb(totals.hosts, 'carry')} "
        f"{demand_words(plan)}."
    )
    return f"{text} {plan.placed.sentence}"


def vms(count: int) -> str:
    """A count of VMs with its verb: ``3 VMs have``."""
    return f"{amount(count, 'VM')} {verb(count, 'have')}"


def _why_so_many(plan: Plan) -> str:
    """Why the design has so many hosts: the justification of the decisions about them."""
    found = [d for d in plan.decisions if d.title.startswith("Hosts for the demand")]
    found += [d for d in plan.decisions if d.title in ("Failover capacity", "No failover capacity")]
    return " ".join(f"{d.decision} {d.justification}" for d in found)


def demand_words(plan: Plan, unit: str = "GPU") -> str:
    """What the hosts carry: ``a demand of 28 GPUs``, or the stated total where that decides."""
    kind = "a demand" if plan.scenario.deciding_total_gpus is None else "the stated total"
    return f"{kind} of {amount(whole(plan.totals.gpus_demanded), unit)}"


def key_figures(plan: Plan) -> list[tuple[str, str, str]]:
    """The answer at a glance: what it is, its value, and what is to know of it."""
    totals = plan.totals
    lost = amount(hosts_lost(plan), "host")
    found = [
        (
            "Hosts",
            count_over_years(plan.costs.hosts) if plan.costs else number(totals.hosts),
            f"{number(totals.hosts_for_demand)} for the demand, {number(totals.hosts_for_failures)} for failure and maintenance",
        ),
        ("GPUs", number(totals.gpus), f"for {demand_words(plan, '')}"),
        ("GPUs after a failure", number(totals.gpus_after_failure), f"with {lost} lost"),
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
