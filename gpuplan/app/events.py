"""Events that the browser reports, by name, and the workbook's response to each."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

from gpuplan.app import header
from gpuplan.app.groups import Answers
from gpuplan.app.state import Workbook
from gpuplan.app.steps import (
    boards,
    compare,
    deliver,
    estate,
    explore,
    hardware,
    models,
    site,
    solve,
    what_if,
)
from gpuplan.audit.step import EVENTS as AUDIT_EVENTS
from gpuplan.scenario import MAX_FILE_BYTES, shown_name
from gpuplan.wording import said

Content = Mapping[str, Any]
Handler = Callable[[Workbook, Content], object]


def _calls(action: Callable[..., object], **arguments: type) -> Handler:
    """Return a handler that calls an action with these values of the event, each converted to its type."""
    return lambda book, content: action(book, *(kind(content[name]) for name, kind in arguments.items()))


def _look(workbook: Workbook, content: Content) -> None:
    what, value = str(content["what"]), str(content["value"])
    if what.startswith("audit-"):
        workbook.auditing.option(what.removeprefix("audit-"), value)
    elif what.startswith("match-"):
        estate.match_by_hand(workbook, what.removeprefix("match-"), value)
    else:
        workbook.look(what, value)


def _too_large(workbook: Workbook, content: Content) -> None:
    name, size = shown_name(str(content["name"])), int(content["size"])
    text = said("screen.open.too large", name=name, size=f"{size:,}", most=f"{MAX_FILE_BYTES:,}")
    workbook.say("stop", text)


def _deliver(workbook: Workbook, content: Content) -> None:
    order = deliver.order(workbook, str(content.get("kind", "")))
    workbook.delivering.start(**order._asdict())


def _template(kind: str) -> dict[str, Handler]:
    return {
        f"{kind}-template": lambda workbook, content: workbook.delivering.templates[kind].arrived(content),
        f"remove-{kind}-template": lambda workbook, _: workbook.delivering.templates[kind].remove(),
        f"{kind}-firm": lambda book, content: book.delivering.templates[kind].set_firm(bool(content["firm"])),
    }


EVENTS: Mapping[str, Handler] = {
    # typing, and the place on the screen
    "set": lambda workbook, content: workbook.edit(
        str(content["path"]), content["value"], live=bool(content.get("live"))
    ),
    "untype": _calls(Workbook.untype, path=str),
    "confirm": lambda workbook, content: workbook.confirm(
        str(content["path"]), bool(content["yes"]), str(content.get("by", ""))
    ),
    "go": _calls(Workbook.go, step=str),
    "at": _calls(Workbook.arrive, at=str),
    "tab": _calls(Workbook.open_tab, step=str, tab=str),
    "why": _calls(Workbook.explain, key=str),
    "close": lambda workbook, _: workbook.explain(""),
    "fold": _calls(Workbook.fold, key=str, open=bool),
    "look": _look,
    "view": _calls(Workbook.look_as, customer=bool),
    "dismiss": _calls(Workbook.dismiss, text=str),
    "present": lambda workbook, _: header.present(workbook),
    "edit": lambda workbook, _: header.edit_again(workbook),
    "turn": _calls(header.turn, by=int),
    # the design
    "add": _calls(Workbook.add_group, use_case=str),
    "duplicate": _calls(Workbook.duplicate_group, id=str),
    "delete": _calls(Workbook.delete_group, id=str),
    "workload": _calls(Workbook.open_workload, id=str),
    "move": _calls(Workbook.move_group, id=str, by=int),
    "undo": _calls(Workbook.undo),
    "redo": _calls(Workbook.redo),
    "example": _calls(Workbook.open_example, name=str),
    "guide": lambda workbook, content: workbook.start_guided(
        Answers(*({str(at): str(text) for at, text in content[part].items()} for part in ("counts", "where")))
    ),
    "open": lambda book, content: book.open_file(str(content["name"]), base64.b64decode(content["base64"])),
    "too-large": _too_large,
    "model-file": lambda workbook, content: models.take_model(
        workbook, str(content["id"]), str(content["name"]), base64.b64decode(content["base64"])
    ),
    "hosts-file": lambda workbook, content: hardware.take_hosts(
        workbook, str(content["name"]), base64.b64decode(content["base64"])
    ),
    "site-file": lambda workbook, content: site.take_workbook(
        workbook, str(content["name"]), base64.b64decode(content["base64"])
    ),
    "restore": _calls(Workbook.restore, fragment=str),
    "recent": _calls(Workbook.open_recent, fragment=str, design=str),
    "keep": _calls(Workbook.keep),
    "carry": _calls(Workbook.carry, name=str, design=str),
    "open-kept": _calls(Workbook.open_kept, name=str),
    "forget-kept": _calls(Workbook.forget_kept, name=str),
    "rename-kept": _calls(Workbook.rename_kept, name=str, to=str),
    "try": _calls(compare.try_out, name=str),
    "pin": _calls(compare.pin, name=str),
    "use-board": _calls(boards.use_board, gpu=str),
    "use-option": _calls(explore.use_option, option=str),
    "use-solution": _calls(solve.use, key=str),
    "keep-solution": _calls(solve.keep, key=str),
    "what-if": _calls(what_if.move, path=str, at=int),
    "what-if-keep": _calls(what_if.keep, beside=bool),
    "what-if-solve": lambda workbook, _: what_if.solve_for(workbook),
    "use-audit": _calls(Workbook.use_audit),
    # hosts that are down
    "fail": _calls(Workbook.toggle_host, pool=str, host=int),
    "worst": _calls(Workbook.fail_worst, pool=str, lost=int),
    "bring-back": _calls(Workbook.bring_back, pool=str, host=int),
    "maintain": _calls(Workbook.maintain, pool=str, host=int),
    "click": _calls(Workbook.set_click, what=str),
    "restore-hosts": _calls(Workbook.restore_hosts),
    # power-on, VM by VM
    "watch": _calls(Workbook.watch, pool=str),
    "stop-watching": _calls(Workbook.stop_watching),
    "watch-at": _calls(lambda workbook, value: workbook.watch_on(at=value), value=int),
    "watch-order": _calls(lambda workbook, value: workbook.watch_on(order=value), value=str),
    "watch-reading": _calls(lambda workbook, value: workbook.watch_on(reading=value), value=str),
    "watch-seed": _calls(lambda workbook, value: workbook.watch_on(seed=value), value=int),
    # work beside the page
    "simulate": lambda book, _: book.simulating.start(book.plan.scenario, book.looked.get("when", "busiest")),
    "cancel-simulate": lambda workbook, _: workbook.simulating.runner.cancel(),
    **AUDIT_EVENTS,
    **models.EVENTS,
    "explore": lambda workbook, _: workbook.exploring.start(workbook.plan),
    "cancel-explore": lambda workbook, _: workbook.exploring.runner.cancel(),
    "solve": lambda workbook, _: solve.start(workbook),
    "cancel-solve": lambda workbook, _: workbook.solving.runner.cancel(),
    "boards": lambda workbook, _: workbook.boards.start(workbook.plan),
    "cancel-boards": lambda workbook, _: workbook.boards.runner.cancel(),
    "sensitivity": lambda workbook, _: workbook.sensitivity.start(workbook.plan),
    "cancel-sensitivity": lambda workbook, _: workbook.sensitivity.runner.cancel(),
    "power-on": lambda workbook, _: workbook.powering_on.start(workbook.plan),
    "cancel-power-on": lambda workbook, _: workbook.powering_on.runner.cancel(),
    "deliver": _deliver,
    "cancel-deliver": lambda workbook, _: workbook.delivering.cancel(),
    "preview": lambda workbook, _: workbook.delivering.start_preview(deliver.order(workbook, "html")),
    **(_template("brand") | _template("docx") | _template("pptx")),
}
