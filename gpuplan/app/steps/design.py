"""Design: the numbered decisions, the messages, and the sources that the plan rests on."""

from __future__ import annotations

from typing import Any

from gpuplan.app.cards import Card, attributes, box
from gpuplan.app.header import message_data
from gpuplan.app.state import Workbook


def design_data(workbook: Workbook) -> dict[str, Any]:
    """Decisions with justification and implication, messages, and sources."""
    plan = workbook.plan
    cited = [source for decision in plan.decisions for source in decision.sources]
    cited += [source for group in plan.groups for reason in group.reasons for source in reason.sources]
    cited += [source for message in workbook.messages for source in message.sources]
    known = [plan.catalog.sources[id] for id in dict.fromkeys(cited) if id in plan.catalog.sources]
    numbers = {source.id: n for n, source in enumerate(known, 1)}
    return {
        "title": plan.scenario.name,
        "customer": plan.scenario.customer,
        "stale": workbook.stale,
        "decisions": [
            attributes(each, "number", "title", "decision", "justification", "implication")
            | {
                "cites": sorted(numbers[source] for source in each.sources if source in numbers),
                "key": each.lines[0] if each.lines else "",
            }
            for each in plan.decisions
        ],
        "messages": [message_data(workbook, message) for message in workbook.messages],
        "sources": [
            attributes(source, "title", "producer", "url")
            | {"number": numbers[source.id], "published": str(source.published or "")}
            for source in known
        ],
    }


PAGE = box("gp-page", Card("design", design_data))
