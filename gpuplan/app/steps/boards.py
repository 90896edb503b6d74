"""Boards for the same work: the cheapest design with each as a card with bars, and why it takes more or cannot."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.candidates import asked as chosen_in
from gpuplan.app.cards import Body, Card, background_card, card, details
from gpuplan.app.state import Workbook
from gpuplan.app.steps.explore import candidate_of, put_design, shown_design
from gpuplan.report.tables import explore as tables
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, amount, headline_money, said, watts, worded

Board = dict[str, Any]
SIZES = ("hosts", "net_present", "peak_w")
"""Figures of a design that are drawn beside those of the others: less is better."""


def _boards(workbook: Workbook) -> list[Board]:
    return list((workbook.boards.found or {}).get("boards", ()))


def on_screen(workbook: Workbook) -> str | None:
    """Return the label of the design that is on the screen, empty for one without a card; None if an input has changed since."""
    able, plan = [board for board in _boards(workbook) if board["can"]], workbook.boards.plan
    own = chosen_in(plan.scenario) if plan else None
    entered = next((str(board["label"]) for board in able if candidate_of(board) == own), "")
    return shown_design(workbook, workbook.boards, entered, able)


def use_board(workbook: Workbook, gpu: str) -> None:
    """Put the design with a board in place of the one on the screen; undo brings it back."""
    chosen = next((board for board in _boards(workbook) if board["gpu"] == gpu and board["can"]), None)
    if chosen is not None and on_screen(workbook) is not None:
        put_design(workbook, workbook.boards, chosen)


@card("run")
def boards_data(workbook: Workbook) -> dict[str, Any]:
    found, runner = workbook.boards.found, workbook.boards.runner
    old = found is not None and on_screen(workbook) is None
    go, empty = said("screen.boards.again" if found else "screen.boards.go"), not workbook.plan.pools
    text = [said("screen.boards.old")] * old
    text += [found["message"], found["demand"]] if found else [said("screen.boards.every board")]
    if found is None and runner.state == "cancelled":
        text = [said("screen.stopped")]
    return background_card(workbook, runner, "boards", go, empty=empty) | {"text": text, "old": old}


@partial(Card, "boards")
def cards_data(workbook: Workbook) -> contract.Boards | contract.Hidden:
    boards = _boards(workbook)
    if workbook.boards.found is None or not boards:
        return {"shown": False}
    now, currency = on_screen(workbook), workbook.boards.found["currency"]
    most = {name: max((board[name] or 0 for board in boards), default=0) for name in SIZES}
    cheapest = workbook.boards.found["cheapest"]
    return {
        "shown": True,
        "old": now is None or workbook.stale,
        "cards": [
            {
                "gpu": board["gpu"],
                "name": board["name"],
                "best": said("table.same_boards.cheapest") if board["gpu"] == cheapest else "",
                "hosts": amount(board["hosts"], "host") if board["can"] else said("screen.boards.cannot"),
                "design": board["label"] if board["can"] else "",
                "bars": [*_sizes(board, most, currency)] if board["can"] else [],
                "works": [_work(work) for work in board["works"] if work["value"]],
                "told": list(tables.remarks(board)),
                "now": board["label"] == now,
                "use": said("screen.use") if board["can"] and now not in (None, board["label"]) else "",
            }
            for board in boards
        ],
    }


def _sizes(board: Board, most: Mapping[str, float], currency: str) -> Sequence[contract.BoardBar]:
    ends = None if None in (board["low"], board["high"]) else (board["low"], board["high"])
    words = {
        "hosts": said("screen.boards.hosts", hosts=board["hosts"], gpus=board["gpus"]),
        "net_present": ""
        if board["net_present"] is None
        else headline_money(board["net_present"], currency, ends),
        "peak_w": "" if board["peak_w"] is None else watts(board["peak_w"]),
    }
    return [
        {
            "label": said(f"screen.boards.{name} label"),
            "text": words[name] or said("screen.boards.not known"),
            "share": (board[name] or 0) / most[name] if most[name] else 0.0,
            "basis": "",
            "title": "; ".join(board["unpriced"]) if name == "net_present" else "",
        }
        for name in SIZES
    ]


def _work(work: Mapping[str, Any]) -> contract.BoardBar:
    value, of = float(f"{work['value']:.3g}"), work["of"]
    text = said("screen.boards.work", value=worded(value, "#"), of=NAMES["work of a GPU"][of])
    return {
        "label": work["name"],
        "text": amount(value, "VM") if of == "vms" else text,
        "share": work["share"] or 0.0,
        "basis": work["basis"] if work["basis"] == "assumed" else "",
        "title": work["how"],
    }


@details("boards-works", _boards)
def works_data(workbook: Workbook, _boards: Sequence[Any]) -> Body:
    return tables.same_works(workbook.boards.found or {})
