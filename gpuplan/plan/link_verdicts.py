"""Verdicts on the link of a design for each use of it: vMotion, GPUs over the network, training across hosts."""

from dataclasses import dataclass

from gpuplan.plan.plan import Plan
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.use import TrainingUse
from gpuplan.plan.weighing import stun_limit_s
from gpuplan.wording import said

VMOTION_GBIT_S = 10
"""The least that vMotion of VMs with vGPUs wants, by the rule ``vmotion-network``."""


@dataclass(frozen=True, slots=True)
class LinkVerdict:
    """Verdict on the link for one use."""

    kind: str
    """``vmotion``, ``remote`` or ``training``."""
    name: str
    """Of the group or of the job."""
    group: str
    """Id of the group; empty where several groups are affected."""
    verdict: str
    """``good``, ``fair`` or ``bad``; for vMotion also ``over`` where the stun exceeds the limit, and ``unknown``."""
    use: RemoteUse | TrainingUse | None = None
    """Analysis behind the verdict; None for vMotion."""
    words: str = ""
    """Reason in words, where no share of a speed gives it."""

    @property
    def place(self) -> str:
        """Place of each part of a training job: a group names VMs, a job of the scenario hosts."""
        return "VM" if self.group else "host"


def link_verdicts(plan: Plan) -> tuple[LinkVerdict, ...]:
    """Verdicts on vMotion, on each group with GPUs over the network, and on all training that is entered."""
    groups = {group.id for group in plan.groups}
    verdicts = [LinkVerdict("remote", use.name, use.id, use.verdict, use) for use in plan.network.remote]
    verdicts += [
        LinkVerdict("training", use.name, use.id if use.id in groups else "", use.verdict, use)
        for use in plan.network.asked
    ]
    return (*_vmotion(plan), *verdicts)


def _vmotion(plan: Plan) -> list[LinkVerdict]:
    """The verdict on vMotion; none where no VM with a GPU can be moved."""
    moved = [g for g in plan.groups if g.vms_placed and (g.stun_not_known or g.stun_s is not None)]
    if not moved:
        return []
    limit = stun_limit_s(plan.scenario, plan.catalog)
    longest = max((g.stun_s for g in moved if g.stun_s is not None), default=None)
    if plan.scenario.network.link_gbit_s < VMOTION_GBIT_S:
        verdict, words = "bad", said("network.vmotion wants", speed=VMOTION_GBIT_S)
    elif longest is None:
        verdict, words = "unknown", said("network.stun not known")
    else:
        verdict = "over" if longest > limit else "unknown" if any(g.stun_not_known for g in moved) else "good"
        words = said("network.stun", longest=round(longest), limit=round(limit))
    return [LinkVerdict("vmotion", "vMotion", "", verdict, words=words)]
