"""Checks of owned hosts: those on which no VM of the design runs."""

from collections.abc import Iterator

from gpuplan.plan.boards import lack
from gpuplan.plan.checks.message import Message, message
from gpuplan.plan.plan import Plan
from gpuplan.scenario import UNASSIGNED, Group
from gpuplan.wording import NAMES, counted, said, some_of

WHY = NAMES["why not on a board"]
"""What a board lacks, by key, in words."""


def not_used(plan: Plan) -> Iterator[Message]:
    """Existing hosts with a board that no VM of the design runs on, and why."""
    found = plan.inventory
    left = [kind for kind in found.kinds if not kind.joins] if found else []
    for gpu in dict.fromkeys(kind.gpu for kind in left):
        kinds = [kind for kind in left if kind.gpu == gpu]
        yield message(
            plan,
            "owned-hosts-not-used",
            names=some_of([kind.name for kind in kinds]),
            hosts=sum(kind.hosts for kind in kinds),
            gpus=counted(sum(kind.hosts * kind.gpus_per_host for kind in kinds), "GPU"),
            gpu=plan.catalog.gpus[gpu].name,
            why=_why(plan, gpu),
            buy=counted(found.buy if found else 0, "host"),
        )


def _why(plan: Plan, gpu: str) -> str:
    """Say why the groups do not run on a board, those of one reason together."""
    own, why = plan.scenario.hardware.gpu, dict[str, list[str]]()
    groups = [group for group in plan.sized.groups if group.id in plan.requests.by_group]
    for group in groups or [Group(UNASSIGNED, said("decided.of no group"))]:
        reason = WHY[lack(plan.catalog, group, own, gpu) or "vgpu"]
        why.setdefault(reason.format(board=plan.catalog.gpus[own].name), []).append(group.name)
    return "; ".join(f"{some_of(names)}: {reason}" for reason, names in why.items())
