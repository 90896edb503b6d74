"""Presenting: full screen, the customer's view, only the input under discussion; and back to the view before."""

from __future__ import annotations

from typing import Any

from gpuplan.app.state import STEPS, Before, Workbook

SHOWN = tuple(step for step, _ in STEPS if step not in ("start", "deliver"))
"""Steps that are presented, in order."""


def present(workbook: Workbook) -> None:
    """Begin to present, in the customer's view: at the tab on the screen if presented, at first tabs elsewhere."""
    if workbook.before_presenting is not None or not workbook.started:
        return
    workbook.before_presenting = Before(workbook.step, dict(workbook.tabs), workbook.customer)
    workbook.drawer = ""
    workbook.tabs = {step: tab for step, tab in workbook.tabs.items() if step == workbook.step}
    workbook.look_as(True)
    workbook.go(workbook.step if workbook.step in SHOWN else SHOWN[0])


def edit_again(workbook: Workbook) -> None:
    """Return to editing: to the earlier step, tabs and view."""
    before, workbook.before_presenting = workbook.before_presenting, None
    if before is None:
        return
    workbook.tabs = before.tabs
    workbook.look_as(before.customer)
    workbook.go(before.step)


def turn(workbook: Workbook, by: int) -> None:
    """Go to the next step, or to the one before."""
    if workbook.before_presenting is not None:
        at = SHOWN.index(workbook.step) + by if workbook.step in SHOWN else 0
        workbook.go(SHOWN[min(max(at, 0), len(SHOWN) - 1)])


def present_data(workbook: Workbook) -> dict[str, Any]:
    """Return whether the workbook is being presented, and which step of how many is shown."""
    at = SHOWN.index(workbook.step) + 1 if workbook.step in SHOWN else 1
    return {
        "on": workbook.before_presenting is not None,
        "name": workbook.scenario.name,
        "step": dict(STEPS)[workbook.step],
        "at": at,
        "of": len(SHOWN),
    }
