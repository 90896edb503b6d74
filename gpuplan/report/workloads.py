"""A workload in one row: its users and when, and what one VM gets; what all of them need through the week, and what each adds."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuplan.analysis.drivers import Drivers, Load, Without
from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.llm import TUNING
from gpuplan.plan.llm.promises import MISSED
from gpuplan.plan.llm.retrieval import Retrieval
from gpuplan.plan.llm.serving import Serving
from gpuplan.plan.llm.tuning import Tuning
from gpuplan.report.drawing import OKABE_ITO
from gpuplan.report.figures import Figures
from gpuplan.scenario import Group, sites_people
from gpuplan.wording import (
    MINUS,
    MODE_NAMES,
    NAMES,
    capital,
    counted,
    joined,
    number,
    one_place,
    rounded_money,
    said,
)

KIND_NAMES = NAMES["kind of workload"]
"""The seven kinds of workloads by id, the most usual first."""
WHO, DAYS = NAMES["requester"], NAMES["days in a sentence"]
MODES = NAMES["mode of a workload"]


class Words(NamedTuple):
    """Two lines: what counts, and what belongs to it."""

    first: str
    second: str = ""


def kind_name(plan: Plan, use_case: str) -> str:
    """The name of a kind in a list of workloads."""
    return KIND_NAMES.get(use_case) or str(plan.catalog.row("use_cases", use_case)["name"])


def sentence(plan: Plan, group: Group, planned: GroupPlan | None) -> Words:
    """Say who uses the GPUs, how many users are concurrent, and when."""
    llm = plan.llm.of(group.id)
    if isinstance(llm, Serving):
        precision = plan.catalog.row("llm_precisions", llm.weights)["name"]
        missed = said("workload.missed") if llm.replicas and llm.standing == MISSED else ""
        return Words(f"{llm.model}, {precision} \u00b7 {llm.users}", _listed(llm.promises, missed))
    if isinstance(llm, Tuning):
        job = said("workload.job", gpus=llm.gpus * llm.hosts, llm=llm)
        return Words(f"{llm.model}, {llm.said}", _listed(job, _when(group)))
    if isinstance(llm, Retrieval):
        return Words(llm.model, llm.said)
    vms = counted(planned.vms, "VM") if planned else ""
    left = said("workload.on what is left") if group.preemptible else ""
    return Words(_who(group), _listed(vms if planned and planned.vms else left or vms, _when(group)))


def _who(group: Group) -> str:
    if group.jobs_per_day is not None:
        return said("workload.jobs" if group.work_h is None else "workload.jobs of hours", group=group)
    several, parts = group.people > 1, [counted(group.people, WHO.get(group.use_case, WHO["others"]))]
    if several:
        key = "workload.all concurrent" if group.active_share == 1 else "workload.concurrent"
        parts.append(said(key, group=group))
    if group.vms_each > 1:
        parts.append(said("workload.vms each" if several else "workload.vms", group=group))
    return _listed(*parts)


def _when(group: Group) -> str:
    hours = (group.hours or "").replace("-", "\u2013")
    if hours and (group.jobs_per_day is not None or group.use_case == TUNING):
        hours = said("workload.starts", hours=hours)
    days = DAYS.get(group.days or "", "")
    where = joined([name for name, _ in sites_people(group.sites)]) if group.sites else "UTC" * bool(hours)
    return _listed(f"{hours} {days}".strip(), where)


def _listed(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def gets(plan: Plan, group: Group, planned: GroupPlan | None) -> Words:
    """Say what one VM gets of the GPUs, and by which profile or access mode."""
    gpus = planned.gpus_each if planned else group.gpus_each
    size = said("workload.gpus", gpus=gpus)
    if planned and planned.vms:
        size = said("workload.times", vms=planned.vms, gpus=size)
    elif planned and plan.hours:
        return Words(size, said("workload.other hours"))
    return Words(size, (planned.profile or access(planned)) if planned else "")


def access(planned: GroupPlan) -> str:
    """Say how a workload reaches its GPUs."""
    if not planned.mode:
        return capital(MODE_NAMES[planned.mode])
    shared = planned.backing == "timesliced" and planned.gpus_each < 1
    return MODES["time-sliced" if shared else planned.mode]


def gpus_words(gpus: float) -> str:
    """Say a number of GPUs of a workload: parts of one as a fraction, means with one decimal."""
    return number(gpus) if gpus < 1 else one_place(gpus)


LABELLED, LETTERED = 0.08, 0.02
"""Shares of the chart from which a part of a bar has room for its letter with the number, and for the letter alone."""


def load_bars(plan: Plan, loads: Sequence[Load]) -> dict[str, Any]:
    """Return the GPUs planned for, by day, by night and at the weekend as bars of workloads, and lines at the GPUs there are.

    Lengths are shares of the longest.
    """
    totals, lost = plan.totals, Figures(plan).down
    end = max(totals.gpus, *(sum(load.gpus.values()) for load in loads)) or 1.0
    down = said("screen.strip.a failure" if lost == 1 else "screen.strip.failures", lost=lost)
    lines = [{"text": said("workload.installed", gpus=totals.gpus), "at": totals.gpus / end, "after": False}]
    if totals.gpus_after_failure < totals.gpus:
        left = said("screen.strip.after", gpus=totals.gpus_after_failure, failures=down)
        lines.insert(0, {"text": left, "at": totals.gpus_after_failure / end, "after": True})
    return {"bars": [_bar(plan, load, end) for load in loads], "lines": lines * bool(totals.gpus)}


def _bar(plan: Plan, load: Load, end: float) -> dict[str, Any]:
    names, needed = NAMES["part of the week"], sum(load.gpus.values())
    listed = [names[part] for part in load.parts if part != "planned"]
    planned = NAMES["planned demand"][plan.scenario.demand.rule] if "planned" in load.parts else ""
    always = len(load.parts) == len(names) + 1
    name = said("workload.around the clock") if always else joined(listed).lower() or planned
    parts = []
    for (id, gpus), colour in zip(load.gpus.items(), _colours(plan), strict=True):
        group, share = plan.group(id), gpus / end
        text = (
            f"{group.letter} {gpus_words(gpus)}" if share >= LABELLED else group.letter * (share >= LETTERED)
        )
        title = f"{group.name}: {gpus_words(gpus)}"
        parts.append({"text": text, "title": title, "share": share, "colour": colour})
    note = planned if listed and not always else ""
    parts = [part for part in parts if part["share"]]
    return {"name": capital(name), "note": note, "gpus": gpus_words(needed), "parts": parts}


def _colours(plan: Plan) -> list[int]:
    """Return the number of the colour of each workload, in their order."""
    return [1 + at % len(OKABE_ITO) for at in range(len(plan.scenario.groups))]


def driver_rows(plan: Plan, found: Drivers) -> list[dict[str, Any]]:
    """Return what the design saves without each workload, with its cost as a share of the largest."""
    colours = dict(zip((group.id for group in plan.scenario.groups), _colours(plan), strict=True))
    most = max((each.money or 0.0 for each in found.without), default=0.0) or 1.0
    return [
        {
            "letter": plan.group(each.group).letter,
            "name": plan.group(each.group).name,
            "colour": colours[each.group],
            "share": max(0.0, each.money or 0.0) / most,
            "fewer": bool(each.hosts),
            **_saved(each),
        }
        for each in found.without
    ]


def _saved(each: Without) -> dict[str, str]:
    signs = MINUS if each.hosts > 0 else "+"
    hosts = signs + counted(abs(each.hosts), "host") if each.hosts else said("workload.same hosts")
    if each.money is None:
        return {"hosts": hosts, "money": "\u2013"}
    return {"hosts": hosts, "money": (MINUS if each.money >= 0 else "+") + rounded_money(abs(each.money))[0]}


def next_host_words(found: Drivers) -> str:
    """Say with how much more of a workload the design needs another host; empty where it is not known."""
    if (host := found.next_host) is None:
        return ""
    at, more = (number(float(f"{value:.4g}")) for value in (host.at, host.more))
    return said("workload.next host", hosts=host.hosts, at=at, name=host.name, more=more)
