"""Checks of the limits that the customer has set: those that the design exceeds, and those of which that is not known."""

from collections.abc import Iterator
from typing import Any

from gpuplan.plan.checks.message import Message, message
from gpuplan.plan.limits import in_words
from gpuplan.plan.plan import Plan
from gpuplan.wording import said


def limits(plan: Plan) -> Iterator[Message]:
    """Report each limit that the design exceeds, or may exceed."""
    for each in plan.within if plan.pools else ():
        kind = each.key if each.key in ("delivery_date", "boards", "vendors") else "amount"
        words: dict[str, Any] = {"name": each.name, "key": each.key, **in_words(plan.catalog, each)}
        if each.met is False:
            why = f" ({each.why})" if each.why else ""
            yield message(plan, "over-limit", **words, what=said(f"check.over {kind}", **words), why=why)
        elif each.met is None:
            takes = said("check.takes", **words) if each.value is not None else ""
            yield message(plan, "limit-not-known", **words, takes=takes, why=each.why)
