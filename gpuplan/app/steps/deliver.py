"""The deliver step: files to download, for the customer or internal, in the user's own templates."""

from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.app.cards import IDLE, Card, act, background_card, card, menu, receiving, upload_data
from gpuplan.app.delivering import Order, Preview
from gpuplan.app.forms import form
from gpuplan.app.state import Workbook
from gpuplan.app.steps import solve
from gpuplan.deliver import KINDS, kinds_made_here
from gpuplan.deliver.executive import document_day
from gpuplan.locales import written_day
from gpuplan.report.table import Cell, Table, screen, tabulate
from gpuplan.scenario import Scenario, shown_name
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, said

HOLDS = NAMES["what a file holds"]
FOR_CUSTOMER, INTERNAL = "customer", "internal"
VERSIONS = NAMES["version of the files"]
UP_TO_DATE = {"mark": {"sign": "\u2713", "text": said("screen.deliver.this design"), "tone": "good"}}
OUTDATED = {"mark": {"sign": "\u2260", "text": said("screen.deliver.before"), "tone": "warn"}}
TEMPLATES = {"docx": ".docx,.dotx", "pptx": ".pptx,.potx", "brand": ".yaml,.yml,.zip"}


def is_internal(workbook: Workbook) -> bool:
    """True if internal files are made: never in the customer view."""
    return not workbook.customer and workbook.looked.get("version") == INTERNAL


def beside(workbook: Workbook) -> tuple[Scenario, ...]:
    """Return the kept designs, which the files compare with this one, each by its given name."""
    return tuple(replace(kept.scenario, name=kept.name) for kept in workbook.kept)


def order(workbook: Workbook, kind: str) -> Order:
    """Return the order of one kind of file, or of all with an empty one, by the current settings."""
    solved = not workbook.solving.busy and solve.on_screen(workbook) is not None
    solution = workbook.solving.found if solved else None
    return Order(workbook.scenario, kind, is_internal(workbook), beside(workbook), solution)


@card("run")
def deliver_data(workbook: Workbook) -> dict[str, Any]:
    runner = workbook.delivering.runner
    busy, nothing = runner.busy, not workbook.plan.pools
    shown = background_card(workbook, runner, "deliver", said("screen.deliver.all"), empty=nothing)
    versions = {FOR_CUSTOMER: VERSIONS[FOR_CUSTOMER]} if workbook.customer else VERSIONS
    version = menu(workbook, "version", said("screen.deliver.files"), versions)
    table = screen(_files(workbook, off=busy or nothing or workbook.stale))
    holds = said("screen.deliver.is internal" if is_internal(workbook) else "screen.deliver.what is internal")
    after = [] if workbook.customer else [holds]
    return shown | {"inputs": [version], "text": _said(workbook), "tables": [table], "after": after}


def _made_from(workbook: Workbook, kind: str) -> dict[str, Any]:
    """Return whether the last file of a kind is up to date; nothing if there is none."""
    request = order(workbook, kind)
    last = workbook.delivering.made.get((kind, request.internal))
    if last is None:
        return {}
    return UP_TO_DATE if last == workbook.delivering.source(request, kind) else OUTDATED


def _files(workbook: Workbook, *, off: bool) -> Table:

    def download(kind: str) -> Cell:
        acts = [] if off or kind not in here else [act("deliver", "Download", KINDS[kind], kind=kind)]
        return Cell("", tone="do", more={"acts": acts})

    here, missing = kinds_made_here(), said("screen.deliver.no office")
    own: dict[str, Any] = {
        "acts": download,
        "file": lambda kind: Cell(
            KINDS[kind], tone="file", more={"note": HOLDS[kind] if kind in here else missing}
        ),
    }
    made = {kind: _made_from(workbook, kind) for kind in KINDS}
    own["made"] = lambda kind: Cell("", tone="made", more=made[kind])
    table = tabulate("files", KINDS, title="", **own)
    return table if any(made.values()) else table.without("made")


def _said(workbook: Workbook) -> list[str]:
    if not workbook.plan.pools:
        return [said("screen.add a workload first")]
    if workbook.stale:
        return [said("screen.deliver.invalid")]
    if what := _just_made(workbook):
        return [said("screen.deliver.made", what=what)]
    if OUTDATED in (_made_from(workbook, kind) for kind in KINDS):
        return [said("screen.deliver.outdated")]
    kept = [design.name for design in workbook.kept]
    compared = [said("screen.deliver.compared", kept=kept)] if kept else []
    return [*compared, said("screen.deliver.on this machine")]


def _just_made(workbook: Workbook) -> str:
    """Return the files that were made last, if they are of this design and for this view."""
    last = workbook.delivering.order
    if workbook.delivering.runner.state != "done" or last is None or last.internal != is_internal(workbook):
        return ""
    kinds = [last.kind] if last.kind else kinds_made_here()
    if any(_made_from(workbook, kind) != UP_TO_DATE for kind in kinds):
        return ""
    return KINDS[last.kind] if last.kind else said("screen.deliver.everything")


def template_data(kind: str, workbook: Workbook) -> dict[str, Any]:
    """Return the card of a template or of the brand: to choose one, the one in use, and its removal."""
    template = workbook.delivering.templates[kind]
    label = said("screen.deliver.choose another") if template.used else NAMES["to choose a template"][kind]
    of = {"event": f"remove-{kind}-template", "key": f"remove-{kind}"}
    remove = {"text": said("screen.deliver.remove"), **of}
    scope = said("screen.deliver.one design" if template.firm else "screen.deliver.all designs")
    firm = {"rest": {"firm": not template.firm}}
    stays = {"text": scope, "event": f"{kind}-firm", "key": f"firm-{kind}", **firm}
    in_use = said("screen.deliver.in use", name=shown_name(template.used), note=template.note).strip()
    return {
        **IDLE,
        "title": NAMES["template"][kind],
        "upload": upload_data(template, label, TEMPLATES[kind], f"{kind}-template"),
        "buttons": [stays, remove] if template.used else [],
        "progress": receiving(template) if template.name else None,
        "problem": template.error,
        "text": [
            in_use if template.used else NAMES["what of a template is used"][kind],
            *[said("screen.deliver.stays" if template.firm else "screen.deliver.ends")] * bool(template.used),
        ],
    }


@partial(form, "document")
def document_form(workbook: Workbook) -> dict[str, Any]:
    day = said("screen.deliver.day of prices", day=written_day(document_day(workbook.plan)))
    empties = dict.fromkeys(("author", "approver"), said("document.to be named"))
    empties |= {"version": said("document.first version"), "date": day}
    return {"empties": {f"document.{name}": words for name, words in empties.items()}}


@card("run")
def preview_run(workbook: Workbook) -> dict[str, Any]:
    runner, nothing = workbook.delivering.previewer, not workbook.plan.pools
    again = said("screen.deliver.preview again")
    card = background_card(workbook, runner, "preview", again, empty=nothing)
    by_itself: dict[str, Any] = {} if nothing or runner.error else {"buttons": [], "progress": None}
    version = VERSIONS[INTERNAL if is_internal(workbook) else FOR_CUSTOMER]
    old = said("screen.deliver.preview is old", version=version)
    return card | by_itself | {"hint": old if _preview_is_old(workbook) else version}


@partial(Card, "preview")
def preview_data(workbook: Workbook) -> contract.Preview:
    shown, scenario = _previewed(workbook), workbook.seen
    if workbook.plan.pools and not workbook.stale:
        workbook.delivering.keep_previewed(order(workbook, "html"))
    return {
        "page": shown.page if shown else "",
        "old": workbook.stale or _preview_is_old(workbook),
        "name": scenario.name,
        "about": scenario.customer,
    }


def _previewed(workbook: Workbook) -> Preview | None:
    """Return the first pages that were made, if they are for the current view."""
    preview = workbook.delivering.preview
    return preview if preview and preview.internal == is_internal(workbook) else None


def _preview_is_old(workbook: Workbook) -> bool:
    shown = _previewed(workbook)
    return shown is not None and shown.source != workbook.delivering.source(order(workbook, "html"), "html")


docx_template, pptx_template, brand = (Card("run", partial(template_data, kind)) for kind in TEMPLATES)
