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
    found, now = workbook.boards.found, on_screen(workbook)
    most = {name: max((board[name] or 0 for board in boards), default=0) for name in SIZES}
    drawn = [
        _drawn(board, found["cheapest"], now, _sizes(board, most, found["currency"])) for board in boards
    ]
    return {"shown": True, "old": now is None or workbook.stale, "cards": drawn}


def _drawn(
    board: Board, cheapest: str, now: str | None, bars: Sequence[contract.BoardBar]
) -> contract.BoardCard:
    can, label = board["can"], board["label"]
    return {
        "gpu": board["gpu"],
        "name": board["name"],
        "best": said("table.same_boards.cheapest") if board["gpu"] == cheapest else "",
        "hosts": amount(board["hosts"], "host") if can else said("screen.boards.cannot"),
        "design": label if can else "",
        "bars": [*bars] if can else [],
        "works": [_work(work) for work in board["works"] if work["value"]],
        "told": list(tables.remarks(board)),
        "now": label == now,
        "use": said("screen.use") if can and now not in (None, label) else "",
    }


def _sizes(board: Board, most: Mapping[str, float], currency: str) -> Sequence[contract.BoardBar]:
    cost, power, ends = board["net_present"], board["peak_w"], (board["low"], board["high"])
    unknown = said("screen.boards.not known")
    words = {
        "hosts": said("screen.boards.hosts", hosts=board["hosts"] or 0, gpus=board["gpus"] or 0),
        "net_present": unknown
        if cost is None
        else headline_money(cost, currency, None if None in ends else ends),
        "peak_w": unknown if power is None else watts(power),
    }
    shares = {name: (board[name] or 0) / (most[name] or 1) for name in SIZES}
    return [_bar(said(f"screen.boards.{name} label"), words[name], shares[name]) for name in SIZES]


def _bar(label: str, text: str, share: float, basis: str = "", title: str = "") -> contract.BoardBar:
    return {"label": label, "text": text, "share": share, "basis": basis, "title": title}


def _work(work: Mapping[str, Any]) -> contract.BoardBar:
    value, of = float(f"{work['value']:.3g}"), work["of"]
    text = said("screen.boards.work", value=worded(value, "#"), of=NAMES["work of a GPU"][of])
    basis = "assumed" if work["basis"] == "assumed" else ""
    return _bar(work["name"], amount(value, "VM") if of == "vms" else text, work["share"], basis, work["how"])


@details("boards-works", _boards)
def works_data(workbook: Workbook, _boards: Sequence[Any]) -> Body:
    return tables.same_works(workbook.boards.found or {})
