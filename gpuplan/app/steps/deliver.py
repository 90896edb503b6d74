"""The deliver step: what the customer keeps, to download, for the customer or for ourselves, in templates of our own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.app.cards import Card, Page, Tab, act, box, select, wide_card
from gpuplan.app.header import field_data
from gpuplan.app.state import Workbook
from gpuplan.app.steps.background import IDLE, background_card, receiving, upload_data
from gpuplan.locales import LOCALES, PLAIN, written_day
from gpuplan.report import KINDS, money, number
from gpuplan.report.document.writing import as_of
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.table import Cell, Column, Table, listed, screen
from gpuplan.scenario import Scenario, shown_name
from gpuplan.wording import NAMES, some_of

HOLDS = NAMES["what a file holds"]
FOR_CUSTOMER, INTERNAL = "customer", "internal"
VERSIONS = {FOR_CUSTOMER: "for the customer", INTERNAL: "internal, with notes and margin"}
"""What ``looked["version"]`` may be, and its words."""
WHAT_IS_INTERNAL = (
    "Files for the customer hold neither internal notes nor the margin, and prices as they are sold"
)
TEMPLATES = {
    "docx": (
        "document (DOCX)",
        ".docx,.dotx",
        "Its styles, page and footers are taken; what it says is not.",
    ),
    "pptx": ("slide deck (PPTX)", ".pptx,.potx", "Its masters and layouts are taken; its slides are not."),
}
"""Kind of file -> what it is called, which files can be its template, and what is taken from that."""


def is_internal(workbook: Workbook) -> bool:
    """Whether files are made for ourselves: never while the customer looks on."""
    return not workbook.customer and workbook.looked.get("version") == INTERNAL


def beside(workbook: Workbook) -> tuple[Scenario, ...]:
    """The designs that were kept, which the files compare with this one, each by the name it was given."""
    return tuple(replace(each.scenario, name=each.name) for each in workbook.kept)


def deliver_data(workbook: Workbook) -> dict[str, Any]:
    """What there is to keep, how far it is made, and what went wrong."""
    runner = workbook.delivering.runner
    busy, nothing = runner.state == "running", not workbook.plan.pools
    card = background_card(workbook, runner, "deliver", ("Download everything",) * 2, empty=nothing)
    versions = {FOR_CUSTOMER: VERSIONS[FOR_CUSTOMER]} if workbook.customer else VERSIONS
    version = select("version", "Files", workbook.chosen("version", versions), versions)
    return card | {
        "title": "What the customer keeps",
        "hint": "the same numbers in every file",
        "inputs": [version | {"question": "" if workbook.customer else WHAT_IS_INTERNAL}],
        "text": _said(workbook),
        "tables": [screen(_files(off=busy or nothing or workbook.stale))],
    }


def _files(*, off: bool) -> Table:
    """Every kind of file, what it holds, and how to have it."""

    def download(kind: str) -> Cell:
        acts = [] if off else [act("deliver", "Download", KINDS[kind], kind=kind)]
        return Cell("", tone="do", more={"acts": acts})

    columns = (
        Column("file", "File", of=lambda kind: Cell(KINDS[kind], tone="strong")),
        Column("holds", "Content", of=lambda kind: Cell(HOLDS[kind], tone="small")),
        Column("acts", "", of=download),
    )
    return listed("files", "", columns, KINDS)


def _said(workbook: Workbook) -> list[str]:
    delivering = workbook.delivering
    order = delivering.order
    if not workbook.plan.pools:
        return ["No workloads yet, so there is no design to keep."]
    asked = (workbook.scenario, is_internal(workbook), beside(workbook))
    if workbook.stale:
        return ["The design has an input that cannot be used: mend it first, then download."]
    if (
        delivering.runner.state == "done"
        and order
        and (order.scenario, order.internal, order.beside) == asked
    ):
        return [
            f"Made: {KINDS.get(order.kind, 'everything, as a ZIP file')}. Your browser has put it where it keeps downloads."
        ]
    kept = some_of([each.name for each in workbook.kept])
    compared = (
        [f"Document, deck and workbook compare it with {kept}, kept on the Compare step."] if kept else []
    )
    return [*compared, "Files are made on this machine; nothing is sent anywhere."]


def template_data(kind: str, workbook: Workbook) -> dict[str, Any]:
    """The template of one kind of file: to choose, what is in use, and how to be rid of it."""
    template = workbook.delivering.templates[kind]
    what, accept, taken = TEMPLATES[kind]
    label = "Choose another template" if template.used else f"Choose a {kind.upper()} file"
    remove = {"text": "Remove", "event": f"remove-{kind}-template", "key": f"remove-{kind}"}
    in_use = f"{shown_name(template.used)} is used for the next download. {template.note}".strip()
    return {
        **IDLE,
        "title": f"Your template for the {what}",
        "upload": upload_data(template, label, accept, f"{kind}-template"),
        "buttons": [remove] if template.used else [],
        "progress": receiving(template) if template.name else None,
        "problem": template.error,
        "text": [in_use if template.used else taken],
    }


def format_form(workbook: Workbook) -> dict[str, Any]:
    """How the customer reads numbers, money and dates, and on which paper; with an example of it."""
    chosen, papers = workbook.seen.format, NAMES["format.paper"]
    paper = LOCALES[chosen.locale].paper if chosen.locale else PLAIN.paper
    options = {
        "format.locale": [("", PLAIN.name), *((locale.id, locale.name) for locale in LOCALES.values())],
        "format.paper": [("", f"{papers[paper]}, as usual there"), *papers.items()],
    }
    currency = workbook.seen.cost.currency
    day = written_day(as_of(workbook.plan))
    return {
        "title": "Numbers and paper",
        "fields": [field_data(workbook, path, choices) for path, choices in options.items()],
        "text": f"Written so: {number(12_500.5)} \u00b7 {money(2_400_000, currency)} \u00b7 {day}. "
        "Screen, documents, tables and charts follow; what is typed is read the same way.",
    }


PAGE = Page(
    lambda workbook: HEADLINES["deliver"](workbook.plan),
    (
        Tab(
            "files",
            "Files",
            box("gp-page", wide_card(Card("run", deliver_data))),
        ),
        Tab(
            "templates",
            "Templates",
            box(
                "gp-page",
                box(
                    "gp-split gp-even gp-cards-even",
                    box("gp-card", Card("run", partial(template_data, "docx"))),
                    box("gp-card", Card("run", partial(template_data, "pptx"))),
                ),
            ),
        ),
        Tab("format", "Numbers and paper", box("gp-page", box("gp-card", Card("form", format_form)))),
    ),
)
