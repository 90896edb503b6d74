"""A workload in one row: its users and when, what one VM gets, and what its access mode means for operations."""

from typing import NamedTuple

from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.llm.retrieval import Retrieval
from gpuplan.plan.llm.serving import Serving
from gpuplan.plan.llm.tuning import Tuning
from gpuplan.scenario import Group, sites_people
from gpuplan.wording import MODE_NAMES, NAMES, capital, counted, joined, said

KIND_NAMES = NAMES["kind of workload"]
"""The seven kinds of workloads by id, the most usual first."""
WHO, DAYS = NAMES["requester"], NAMES["days in a sentence"]
MODES, VMOTION = NAMES["mode of a workload"], NAMES["vMotion of a workload"]


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
        return Words(f"{llm.model}, {precision} \u00b7 {llm.users}", llm.promises)
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
    days = DAYS.get(group.days or "", "")
    where = joined([name for name, _ in sites_people(group.sites)]) if group.sites else ""
    return _listed(f"{hours} {days}".strip(), where)


def _listed(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def gets(plan: Plan, group: Group, planned: GroupPlan | None) -> Words:
    """Say what one VM gets of the GPUs, and by which profile."""
    gpus = planned.gpus_each if planned else group.gpus_each
    size = said("workload.whole gpus" if gpus > 1 else "workload.gpus", gpus=gpus)
    profile = planned.profile if planned else ""
    if isinstance(plan.llm.of(group.id), Serving | Retrieval):
        return Words(size, _listed(said("workload.per replica"), profile))
    return Words(size, profile or said("workload.in one host" if gpus > 1 else "workload.per vm"))


def access(planned: GroupPlan | None) -> Words:
    """Say how a workload reaches its GPUs, and what that means for vMotion."""
    if planned is None:
        return Words("\u2013")
    if not planned.mode:
        return Words(capital(MODE_NAMES[planned.mode]))
    verdict = next((trait.verdict for trait in planned.traits if trait.feature == "vMotion"), "unknown")
    shared = planned.backing == "timesliced" and planned.gpus_each < 1
    return Words(MODES["time-sliced" if shared else planned.mode], VMOTION[verdict])
