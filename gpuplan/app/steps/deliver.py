"""The deliver step: files to download, for the customer or internal, in the user's own templates."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.app.cards import IDLE, Card, act, background_card, receiving, select, upload_data
from gpuplan.app.delivering import Order, Preview
from gpuplan.app.forms import form
from gpuplan.app.state import Workbook
from gpuplan.deliver import KINDS
from gpuplan.deliver.executive import document_day
from gpuplan.locales import LOCALES, PLAIN, written_day
from gpuplan.report import money, number
from gpuplan.report.figures import as_of
from gpuplan.report.table import Cell, Column, Table, listed, screen
from gpuplan.scenario import Scenario, shown_name
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, said, some_of

HOLDS = NAMES["what a file holds"]
FOR_CUSTOMER, INTERNAL = "customer", "internal"
VERSIONS = {FOR_CUSTOMER: "for the customer", INTERNAL: "internal, with notes and margin"}
"""Values of ``looked["version"]``, and their words."""
WHAT_IS_INTERNAL = "Customer files contain neither internal notes nor the margin, and show selling prices"
UP_TO_DATE = {"mark": {"sign": "\u2713", "text": "this design", "tone": "good"}}
OUTDATED = {"mark": {"sign": "\u2260", "text": "before the last change", "tone": "warn"}}
"""Mark of a file made from an earlier design."""
TEMPLATES = {
    "docx": (
        "Document template (DOCX)",
        ".docx,.dotx",
        "gpuplan uses its styles, page set-up and footers, not its text.",
    ),
    "pptx": (
        "Slide deck template (PPTX)",
        ".pptx,.potx",
        "gpuplan uses its masters and layouts, not its slides.",
    ),
    "brand": (
        "Brand for all files",
        ".yaml,.yml,.zip",
        "A YAML file with name, colours, fonts and footer; with a logo, a ZIP file of both.",
    ),
}
"""Template that can be uploaded -> its title, accepted files, and the parts of it that are used."""


def is_internal(workbook: Workbook) -> bool:
    """True if internal files are made: never in the customer view."""
    return not workbook.customer and workbook.looked.get("version") == INTERNAL


def beside(workbook: Workbook) -> tuple[Scenario, ...]:
    """Return the kept designs, which the files compare with this one, each by its given name."""
    return tuple(replace(kept.scenario, name=kept.name) for kept in workbook.kept)


def order(workbook: Workbook, kind: str) -> Order:
    """Return the order of one kind of file, or of all with an empty one, by the current settings."""
    return Order(workbook.scenario, kind, is_internal(workbook), beside(workbook))


@partial(Card, "run")
def deliver_data(workbook: Workbook) -> dict[str, Any]:
    """Return the files to download, the progress of making them, and any problem."""
    runner = workbook.delivering.runner
    busy, nothing = runner.state == "running", not workbook.plan.pools
    card = background_card(workbook, runner, "deliver", ("Download everything",) * 2, empty=nothing)
    versions = {FOR_CUSTOMER: VERSIONS[FOR_CUSTOMER]} if workbook.customer else VERSIONS
    version = select("version", "Files", workbook.chosen("version", versions), versions)
    return card | {
        "title": "What the customer keeps",
        "hint": "for the customer or for your team",
        "inputs": [version | {"question": "" if workbook.customer else WHAT_IS_INTERNAL}],
        "text": _said(workbook),
        "tables": [screen(_files(workbook, off=busy or nothing or workbook.stale))],
    }


def _made_from(workbook: Workbook, kind: str) -> dict[str, Any]:
    """Return whether the last file of a kind is up to date; nothing if there is none."""
    request = order(workbook, kind)
    last = workbook.delivering.made.get((kind, request.internal))
    if last is None:
        return {}
    return UP_TO_DATE if last == workbook.delivering.source(request, kind) else OUTDATED


def _files(workbook: Workbook, *, off: bool) -> Table:
    """Return every kind of file with its contents and its download."""

    def download(kind: str) -> Cell:
        acts = [] if off else [act("deliver", "Download", KINDS[kind], kind=kind)]
        return Cell("", tone="do", more={"acts": acts})

    columns = (
        Column("file", "File", of=lambda kind: Cell(KINDS[kind], tone="strong")),
        Column("holds", "Content", of=lambda kind: Cell(HOLDS[kind], tone="small")),
        Column("made", "Made from", of=lambda kind: Cell("", tone="made", more=_made_from(workbook, kind))),
        Column("acts", "", of=download),
    )
    return listed("files", columns, KINDS, title="")


def _said(workbook: Workbook) -> list[str]:
    delivering = workbook.delivering
    if not workbook.plan.pools:
        return ["Add a workload first."]
    if workbook.stale:
        return ["An input is invalid: correct it, then download."]
    last, marks = delivering.order, {kind: _made_from(workbook, kind) for kind in KINDS}
    if delivering.runner.state == "done" and last and last.internal == is_internal(workbook):
        of_last = [last.kind] if last.kind else KINDS
        if all(marks[kind] == UP_TO_DATE for kind in of_last):
            what = KINDS.get(last.kind, "everything, as a ZIP file")
            return [f"Made: {what}. It is in your browser's downloads."]
    if OUTDATED in marks.values():
        return ["Made from the design before the last change: download again."]
    kept = some_of([design.name for design in workbook.kept])
    compared = (
        [f"Document, deck and workbook compare this design with {kept}, which you kept on the Compare step."]
        if kept
        else []
    )
    return [*compared, "Files are made on this machine; nothing is sent anywhere."]


def template_data(kind: str, workbook: Workbook) -> dict[str, Any]:
    """Return the card of a template or of the brand: to choose one, the one in use, and its removal."""
    template = workbook.delivering.templates[kind]
    title, accept, taken = TEMPLATES[kind]
    label = (
        "Choose another file"
        if template.used
        else f"Choose a {kind.upper() if kind != 'brand' else kind} file"
    )
    remove = {"text": "Remove", "event": f"remove-{kind}-template", "key": f"remove-{kind}"}
    in_use = f"{shown_name(template.used)} is used for the next download. {template.note}".strip()
    return {
        **IDLE,
        "title": title,
        "upload": upload_data(template, label, accept, f"{kind}-template"),
        "buttons": [remove] if template.used else [],
        "progress": receiving(template) if template.name else None,
        "problem": template.error,
        "text": [in_use if template.used else taken],
    }


@partial(form, "document", "Document control")
def document_form(workbook: Workbook) -> dict[str, Any]:
    """Return what the document says where author, approver, version or date are not stated."""
    empties = {
        **dict.fromkeys(("author", "approver"), said("document.to be named")),
        "version": said("document.first version"),
        "date": f"{written_day(document_day(workbook.plan))}, day of the prices",
    }
    return {"empties": {f"document.{name}": words for name, words in empties.items()}}


@partial(Card, "run")
def preview_run(workbook: Workbook) -> dict[str, Any]:
    """Return the button for the first pages of the document, and their progress."""
    shown, nothing = _previewed(workbook), not workbook.plan.pools
    runner = workbook.delivering.previewer
    texts = ("Preview", "Preview again")
    card = background_card(workbook, runner, "preview", texts, again=shown is not None, empty=nothing)
    old = "Made from the design before the last change: preview again."
    text = [] if shown else ["Front page, document control and contents, as in the file."]
    return card | {
        "title": "First pages",
        "hint": VERSIONS[INTERNAL if is_internal(workbook) else FOR_CUSTOMER],
        "text": [old] if _preview_is_old(workbook) else text,
    }


@partial(Card, "preview")
def preview_data(workbook: Workbook) -> contract.Preview:
    """Return the first pages of the document."""
    shown = _previewed(workbook)
    return {"page": shown.page if shown else "", "old": workbook.stale or _preview_is_old(workbook)}


def _previewed(workbook: Workbook) -> Preview | None:
    """Return the first pages that were made, if they are for the current view."""
    preview = workbook.delivering.preview
    return preview if preview and preview.internal == is_internal(workbook) else None


def _preview_is_old(workbook: Workbook) -> bool:
    shown = _previewed(workbook)
    return shown is not None and shown.source != workbook.delivering.source(order(workbook, "html"), "html")


@partial(form, "format", "Numbers and paper")
def format_form(workbook: Workbook) -> dict[str, Any]:
    """Return the customer's formats of numbers, money, dates and paper; with an example."""
    chosen, papers = workbook.seen.format, NAMES["format.paper"]
    paper = LOCALES[chosen.locale].paper if chosen.locale else PLAIN.paper
    options = {
        "format.locale": [("", PLAIN.name), *((locale.id, locale.name) for locale in LOCALES.values())],
        "format.paper": [("", f"{papers[paper]} (default)"), *papers.items()],
    }
    currency = workbook.seen.cost.currency
    day = written_day(as_of(workbook.plan))
    return {
        "options": options,
        "text": f"Example: {number(12_500.5)} \u00b7 {money(2_400_000, currency)} \u00b7 {day}. "
        "Screen, documents, tables and charts follow, and typed values are read the same way.",
    }


docx_template, pptx_template, brand = (Card("run", partial(template_data, kind)) for kind in TEMPLATES)
