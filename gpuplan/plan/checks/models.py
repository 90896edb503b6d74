"""Checks of language models: replicas that share a host, service after a failure, and models without a measured run."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from gpuplan.plan.checks.message import Message, about, message
from gpuplan.plan.llm.promises import LIKELY, MISSED, Target
from gpuplan.plan.llm.serving import Serving
from gpuplan.plan.plan import Plan
from gpuplan.wording import amount, counted, joined, rough, said, share_words, some_of

KEEPS = 0.9
"""Share of the sessions below which a design is said not to keep them."""


def replicas_together(plan: Plan) -> Iterator[Message]:
    """Replicas of a model on one host, which a failure takes together."""
    for serving in plan.llm.serving.values():
        most = most_on_a_host(plan, serving.id)
        least = -(-serving.replicas // max(1, plan.totals.hosts - plan.totals.hosts_for_failures))
        if serving.replicas > 1 and most > max(1, least):
            words: dict[str, Any] = {"most": most, "left": serving.replicas - most or "none"}
            yield message(plan, "replicas-together", serving=serving, **words)


def most_on_a_host(plan: Plan, group: str) -> int:
    """Return the most VMs of a group on any one host."""
    hosts = [host for pool in plan.pools for host in pool.placement]
    counts = [
        Counter(name for name, _ in {(s.group, s.vm) for load in host for s in load.slots}) for host in hosts
    ]
    return max((count[group] for count in counts), default=0)


def slower_after_failure(plan: Plan) -> Iterator[Message]:
    """Report the service to users of a model after a host failure without failover capacity."""
    if plan.scenario.availability.host_failures:
        return
    for serving in plan.llm.serving.values():
        lost = most_on_a_host(plan, serving.id)
        if not lost:
            continue
        step = serving.after(serving.replicas - lost)
        seen = said("check.no answers")
        if step is not None:
            wait, speed = rough(step.first_token_s.value), rough(step.tokens_per_s.value)
            seen = said("check.slower", wait=wait, speed=speed)
            seen = seen if step.keeps else said("check.below promise", seen=seen)
            if step.queued:
                seen = said("check.queue", seen=seen, requests=counted(step.queued, "request"))
        left = said("check.replicas left", left=serving.replicas - lost, replicas=serving.replicas)
        yield message(plan, "replicas-lost", group=serving.name, left=left, seen=seen)


def tuning_ends_late(plan: Plan) -> Iterator[Message]:
    """Jobs that do not end within their hours."""
    for job in plan.llm.tuning.values():
        if job.ends_late:
            yield message(plan, "tuning-ends-late", job=job)


def precision_unpacked(plan: Plan) -> Iterator[Message]:
    """Weights in a precision that the board does not compute in."""
    groups = [serving for serving in plan.llm.serving.values() if serving.unpacked]
    names = {row.id: str(row["name"]) for row in plan.catalog.rows("llm_precisions")}
    for weights in dict.fromkeys(serving.weights for serving in groups):
        those = [serving for serving in groups if serving.weights == weights]
        gpu = plan.catalog.gpus[plan.scenario.hardware.gpu].name
        words = {"gpu": gpu, "precision": names[weights]}
        sources = plan.catalog.row("llm_precisions", weights).sources
        yield from about(plan, "precision-unpacked", those, sources=sources, **words)


def promises(plan: Plan) -> Iterator[Message]:
    """Promises that the hardware does not keep, and those that it keeps only by the middle of the ranges."""
    for serving in plan.llm.serving.values():
        missed, likely = ([t for t in serving.targets if t.standing == name] for name in (MISSED, LIKELY))
        words: dict[str, Any] = {"group": serving.name, "id": serving.id}
        if missed and serving.replicas:
            words |= {"nearest": _promises(missed, "planned"), "input": missed[0].name}
            yield message(plan, "promise-missed", promises=_promises(missed), **words)
        if likely and serving.replicas:
            surely = said("llm.never surely")
            if (size := serving.surely) and size.found:
                surely = said("llm.surely", size=size)
            words |= {"surely": surely, "count": len(likely)}
            yield message(plan, "promise-likely", promises=_promises(likely), **words)


def _promises(targets: Sequence[Target], which: str = "asked") -> str:
    """Promises in words: those asked for, or planned."""
    return joined([said(f"llm.promise {each.name}", value=getattr(each, which)) for each in targets])


def runs_not_published(plan: Plan) -> Iterator[Message]:
    """Models and boards of which no run was published: the ranges are wider."""
    missing: dict[str, list[Serving]] = {}
    for serving in plan.llm.serving.values():
        if serving.unseen and serving.gpus >= 1 and serving.replicas:
            missing.setdefault(serving.unseen, []).append(serving)
    for what, groups in missing.items():
        yield from about(plan, "run-not-published", groups, what=what)


def shares_not_measured(plan: Plan) -> Iterator[Message]:
    """Models on a part of a GPU, of which no speed was published."""
    parts = [serving for serving in plan.llm.serving.values() if serving.gpus < 1 and serving.replicas]
    names = some_of([f"{serving.name} ({amount(serving.gpus, 'GPU')})" for serving in parts])
    yield from about(plan, "share-not-measured", parts, groups=names)


def sessions_not_kept(plan: Plan) -> Iterator[Message]:
    """Sessions whose context leaves the cache before they come back."""
    for made in plan.llm.serving.values():
        kept = made.size.sessions
        if made.reuse and made.replicas and kept < KEEPS and made.reuse.session.turns > 1:
            hits, full = (share_words(made.reuse.hits(share)) for share in (kept, 1.0))
            yield message(plan, "sessions-not-kept", made=made, hits=hits, full=full)


def drafts_do_harm(plan: Plan) -> Iterator[Message]:
    """Speculative decoding that makes answers slower at the planned load, or that keeps prompts from being reused."""
    for made in plan.llm.serving.values():
        if made.draft_gain < 1 and made.replicas:
            slower = share_words(1 / made.draft_gain - 1)
            yield message(plan, "speculation-slower", made=made, slower=slower)
    drafted = [made for made in plan.llm.serving.values() if made.reuse and made.reuse.drafted]
    yield from about(plan, "drafts-without-reuse", drafted)
