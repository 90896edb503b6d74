"""The card of work in the background: its button, progress and problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplan.app.background import Runner
from gpuplan.app.cards import attributes
from gpuplan.app.state import Workbook
from gpuplan.app.uploading import CHUNK_BYTES, Upload
from gpuplan.wording import share_words, wait_words

ADD_GROUP = {
    "text": "Add a workload",
    "event": "visit",
    "rest": {"path": "groups"},
    "key": "add-group",
    "primary": True,
}
"""The button of a card without workloads."""


STARTING = "Starting\u2026"
IDLE: Mapping[str, Any] = {
    "shown": True,
    "hint": "",
    "inputs": [],
    "buttons": [],
    "progress": None,
    "problem": "",
    "text": [],
    "tables": [],
    "after": [],
    "old": False,
    "stale": False,
}
"""Contents of a work card with nothing to show."""


def background_card(
    workbook: Workbook,
    runner: Runner,
    key: str,
    texts: tuple[str, str],
    *,
    again: bool = False,
    off: bool = False,
    empty: bool = False,
) -> dict[str, Any]:
    """Return the data that the cards of background work share.

    ``key`` names its events (``KEY`` and ``cancel-KEY``), ``texts`` are those of its button for the first time and for
    when there are results (``again``); ``off`` is true if it cannot be started, ``empty`` if a group comes first.
    """
    running = runner.state == "running"
    stop = {"text": "Stop", "event": f"cancel-{key}", "key": f"{key}-stop"}
    go = {
        "text": texts[again],
        "event": key,
        "key": f"{key}-go",
        "primary": True,
        "off": off or workbook.stale,
    }
    return {
        **IDLE,
        "buttons": [stop if running else ADD_GROUP if empty else go],
        "progress": _progress(runner) if running else None,
        "problem": runner.error,
        "stale": workbook.stale,
    }


def _progress(runner: Runner) -> dict[str, Any]:
    """Return the progress and the remaining time; before the work begins, that it is being prepared."""
    if not runner.started:
        return {"done": None, "text": STARTING}
    left = f", {_left(runner.left_s)} left" if runner.left_s >= 1 else ""
    return {"done": runner.done, "text": (runner.step or share_words(runner.done)) + left}


def _left(seconds: float) -> str:
    """Return the remaining time of work, in words."""
    return f"{seconds:.0f} s" if seconds < 90 else wait_words(seconds / 3600)


def upload_data(upload: Upload, label: str, accept: str, event: str) -> dict[str, Any]:
    """Return the button for uploading a file, and its progress."""
    sent = attributes(upload, "name", "got")
    return {"label": label, "accept": accept, "piece": CHUNK_BYTES, "event": event, **sent}


def receiving(upload: Upload) -> dict[str, Any]:
    """Return the progress of an upload."""
    done = upload.got / upload.size
    return {"done": done, "text": f"Receiving {upload.name[:60]}: {share_words(done)}"}
