"""Design: the numbered decisions, the messages, and the sources that the plan rests on."""

from __future__ import annotations

from typing import Any

from gpuplan.app.header import message_data
from gpuplan.app.page import Card, box
from gpuplan.app.state import Workbook


def design_data(workbook: Workbook) -> dict[str, Any]:
    """Decisions with justification and implication, messages, and sources."""
    plan = workbook.plan
    known = plan.catalog.sources
    used: dict[str, None] = {}
    for decision in plan.decisions:
        used.update(dict.fromkeys(decision.sources))
    for group in plan.groups:
        for reason in group.reasons:
            used.update(dict.fromkeys(reason.sources))
    for message in workbook.messages:
        used.update(dict.fromkeys(message.sources))
    numbers = {source: n for n, source in enumerate((s for s in used if s in known), 1)}
    return {
        "title": plan.scenario.name,
        "customer": plan.scenario.customer,
        "stale": workbook.stale,
        "decisions": [
            {
                "number": d.number,
                "title": d.title,
                "decision": d.decision,
                "justification": d.justification,
                "implication": d.implication,
                "cites": sorted(numbers[s] for s in d.sources if s in numbers),
                "key": d.lines[0] if d.lines else "",
            }
            for d in plan.decisions
        ],
        "messages": [message_data(workbook, m) for m in workbook.messages],
        "sources": [
            {
                "number": n,
                "title": known[s].title,
                "producer": known[s].producer,
                "published": str(known[s].published or ""),
                "url": known[s].url,
            }
            for s, n in numbers.items()
        ],
    }


PAGE = box("gp-page", Card("design", design_data))
