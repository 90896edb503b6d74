"""The deliver step: what the customer keeps, to download."""

from __future__ import annotations

from typing import Any

from gpuplan.app.model import Workbook
from gpuplan.app.steps.background import background_card
from gpuplan.app.steps.cost_step import heads_of
from gpuplan.app.steps.failing import cell
from gpuplan.report import KINDS

HOLDS = {
    "html": "Summary, requirements, constraints, assumptions and risks, every chapter of the design with drawings, numbered "
    "decisions, sources. Opens in any browser; print it there for a PDF.",
    "docx": "The same to edit: headings, captions and a table of contents of the word processor.",
    "pptx": "One message on each slide, charts and tables that can be edited, the reasons in the notes.",
    "xlsx": "Bill of materials, cost by year, inputs, prices and sources; totals follow when a price is changed there.",
    "yaml": "Everything that was entered, to open here again or to plan from a shell.",
    "terraform": "Cluster with HA and DRS, host groups, networks and virtual machines of each group, with variables for what only "
    "the customer knows.",
}


def deliver_data(workbook: Workbook) -> dict[str, Any]:
    """What there is to keep, how far it is made, and what went wrong."""
    runner = workbook.delivering.runner
    card = background_card(
        runner, "deliver", ("Download everything", "Download everything"), again=False, off=workbook.stale
    )
    busy = runner.state == "running"
    acts = [] if busy or workbook.stale else [{"event": "deliver", "text": "Download"}]
    rows = [
        [
            cell(name, tone="strong"),
            cell(HOLDS[kind], tone="small"),
            cell("", tone="do") | {"acts": [a | {"rest": {"kind": kind}, "name": name} for a in acts]},
        ]
        for kind, name in KINDS.items()
    ]
    return card | {
        "title": "What the customer keeps",
        "hint": "the same numbers in every file",
        "text": _said(workbook),
        "tables": [
            {
                "title": "",
                "heads": heads_of("File", "What it holds", "", numeric=()),
                "rows": rows,
                "more": "",
            }
        ],
        "old": False,
        "stale": workbook.stale,
    }


def _said(workbook: Workbook) -> list[str]:
    delivering = workbook.delivering
    if delivering.runner.state == "done":
        return [
            f"Made: {KINDS.get(delivering.kind, 'everything, as a ZIP file')}. Your browser has put it where it keeps downloads."
        ]
    if workbook.stale:
        return ["The design has an input that cannot be used: mend it first, then download."]
    return ["Files are made on this machine; nothing is sent anywhere."]
