"""The card of work that goes on in the background: its button, how far it is, and what went wrong."""

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
"""The button of a card that has nothing to work on yet."""


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
"""What a card of work holds while it has nothing to say."""


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
    """What the cards of such work share.

    ``key`` names its events (``KEY`` and ``cancel-KEY``), ``texts`` are those of its button for the first time and for
    when there is something found (``again``); ``off`` is whether it cannot be started, ``empty`` whether a group comes first.
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
    """How far it is, and how long it still takes; before it begins, that it is made ready."""
    if not runner.started:
        return {"done": None, "text": STARTING}
    left = f", {_left(runner.left_s)} left" if runner.left_s >= 1 else ""
    return {"done": runner.done, "text": (runner.step or share_words(runner.done)) + left}


def _left(seconds: float) -> str:
    """Time that work still takes, in words."""
    return f"{seconds:.0f} s" if seconds < 90 else wait_words(seconds / 3600)


def upload_data(upload: Upload, label: str, accept: str, event: str) -> dict[str, Any]:
    """The button for a file to send, and how much of it has arrived."""
    sent = attributes(upload, "name", "got")
    return {"label": label, "accept": accept, "piece": CHUNK_BYTES, "event": event, **sent}


def receiving(upload: Upload) -> dict[str, Any]:
    """How far a file has arrived."""
    done = upload.got / upload.size
    return {"done": done, "text": f"Receiving {upload.name[:60]}: {share_words(done)}"}
