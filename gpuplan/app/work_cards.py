"""Cards of work beside the page: the button that starts it, its progress, and files that are uploaded."""

from collections.abc import Mapping
from typing import Any

from gpuplan.app.background import Runner
from gpuplan.app.cards import attributes
from gpuplan.app.state import Workbook
from gpuplan.app.uploading import CHUNK_BYTES, Upload
from gpuplan.widgets import contract
from gpuplan.wording import said, share_words, wait_words

ADD_GROUP = contract.Button(
    text=said("screen.add a workload"), event="visit", rest={"path": "groups"}, key="add-group", primary=True
)


STARTING = said("screen.starting")
IDLE: Mapping[str, Any] = {
    "shown": True,
    "old": False,
    "stale": False,
    "hint": "",
    "problem": "",
    "progress": None,
    **{name: [] for name in ("inputs", "buttons", "text", "tables", "after")},
}
"""Contents of a work card with nothing to show."""


def background_card(
    workbook: Workbook, runner: Runner, key: str, text: str, *, off: bool = False, empty: bool = False
) -> dict[str, Any]:
    """Return the data of a card of background work; ``key`` names its events, ``empty``: a group comes first."""
    running = runner.busy
    stop = {"text": said("screen.stop"), "event": f"cancel-{key}", "key": f"{key}-stop"}
    go = {"text": text, "event": key, "key": f"{key}-go", "primary": True, "off": off or workbook.stale}
    button = stop if running else ADD_GROUP if empty else go
    progress = _progress(runner) if running else None
    shown = {"buttons": [button], "progress": progress, "problem": runner.error, "stale": workbook.stale}
    return {**IDLE, **shown}


def _progress(runner: Runner) -> contract.Progress:
    """Return the progress and the remaining time; before the work begins, that it is being prepared."""
    if not runner.started:
        return {"done": None, "text": STARTING}
    text = runner.step or share_words(runner.done)
    if (seconds := runner.left_s) >= 1:
        left = f"{seconds:.0f} s" if seconds < 90 else wait_words(seconds / 3600)
        text = said("screen.time left", step=text, left=left)
    return {"done": runner.done, "text": text}


def upload_data(upload: Upload, label: str, accept: str, event: str) -> dict[str, Any]:
    """Return the button for uploading a file, and its progress."""
    sent = attributes(upload, "name", "got")
    return {"label": label, "accept": accept, "piece": CHUNK_BYTES, "event": event, **sent}


def receiving(upload: Upload) -> contract.Progress:
    """Return the progress of an upload."""
    done = upload.got / upload.size
    return {"done": done, "text": said("screen.receiving", name=upload.name[:60], done=share_words(done))}
