"""Why a VM does not start, in words."""

from __future__ import annotations

from gpuplan.models.placement import Request
from gpuplan.models.power_on import Refusal, Rules
from gpuplan.wording import amount, number, verb


def refusal_words(request: Request, refusal: Refusal, rules: Rules) -> str:
    """Why a VM does not start, and what stands on the GPUs."""
    return f"{_missing(request, refusal, rules)} {_standing(request, refusal)}".strip()


def _missing(request: Request, refusal: Refusal, rules: Rules) -> str:
    """What a VM finds on no host."""
    if refusal.short_of:
        return f"Hosts with the GPUs it needs have too little {' and '.join(refusal.short_of)} left."
    if request.family:
        what = request.profile or "it"
        if request.shares == 1:
            return f"No GPU has a place for {what}."
        return f"No host has {number(request.shares)} places for {what}."
    free, needed = refusal.free_on_a_host, request.gpus
    if free < needed:
        needs = "a free GPU" if needed == 1 else f"{number(needed)} free GPUs in one host"
        most = f"no host has more than {number(free)}" if free else "none is free"
        return f"It needs {needs}, and {most}."
    what = "make up an NVSwitch partition" if rules.partitions else "lie in one NVLink domain"
    return f"No {number(needed)} free GPUs of a host {what}."


def _standing(request: Request, refusal: Refusal) -> str:
    """What stands on the GPUs."""
    said = list[str]()
    for profiles, many in refusal.locked:
        locked = "" if said else f" {verb(many, 'are')} locked"
        said.append(f"{number(many)}{locked} to {' and '.join(profiles)}")
    open_ones = refusal.open - refusal.neutral if request.family else 0
    counts = (
        (refusal.full, "have", "the size it needs and no place left"),
        (open_ones, "have", "a place for one more"),
        (refusal.whole, "belong", "to VMs with whole GPUs"),
        (refusal.neutral, "are", "free"),
    )
    said += [f"{number(many)} {verb(many, does)} {words}" for many, does, words in counts if many > 0]
    if not said:
        return ""
    *before, last = said
    return f"Of {amount(refusal.gpus, 'GPU')} {', '.join(before)}{' and ' * bool(before)}{last}."
