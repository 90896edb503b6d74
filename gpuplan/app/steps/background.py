"""The card of work that goes on in the background: its button, how far it is, and what went wrong."""

from __future__ import annotations

from typing import Any

from gpuplan.app.background import Runner
from gpuplan.app.cards import attributes
from gpuplan.app.uploading import CHUNK_BYTES, Upload

ADD_GROUP = {
    "text": "Add a group",
    "event": "visit",
    "rest": {"path": "groups"},
    "key": "add-group",
    "primary": True,
}
"""The button of a card that has nothing to work on yet."""


def background_card(
    runner: Runner, key: str, texts: tuple[str, str], *, again: bool, off: bool
) -> dict[str, Any]:
    """The parts of a card that such work shares.

    ``key`` names its events (``KEY`` and ``cancel-KEY``), ``texts`` are those of its button for the first time and for
    when there is something found (``again``); ``off`` is whether it cannot be started.
    """
    running = runner.state == "running"
    stop = {"text": "Stop", "event": f"cancel-{key}", "key": f"{key}-stop"}
    go = {"text": texts[again], "event": key, "key": f"{key}-go", "primary": True, "off": off}
    progress = {"done": runner.done, "text": runner.step or f"{round(100 * runner.done)} %"}
    return {
        "shown": True,
        "inputs": [],
        "buttons": [stop if running else go],
        "progress": progress if running else None,
        "problem": runner.error,
        "tables": [],
        "after": [],
    }


def upload_data(upload: Upload, label: str, accept: str, event: str) -> dict[str, Any]:
    """The button for a file to send, and how much of it has arrived."""
    sent = attributes(upload, "name", "got")
    return {"label": label, "accept": accept, "piece": CHUNK_BYTES, "event": event, **sent}


def receiving(upload: Upload) -> dict[str, Any]:
    """How far a file has arrived."""
    done = upload.got / upload.size
    return {"done": done, "text": f"Receiving {upload.name[:60]}: {round(100 * done)} %"}
