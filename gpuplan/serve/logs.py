"""What the operator sees: a log with one line for each event and a count where it repeats, and figures in Prometheus' format."""

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from gpuplan.app.background import new_reference
from gpuplan.wording import NAMES

LOG = logging.getLogger("gpuplan.serve")
WINDOW_S = 60.0
"""Time for which a repeated message is only counted."""
LONGEST_MESSAGE, LONGEST_TRACEBACK = 2_000, 10_000
MOST_BYTES = 200_000
MOST_OUTPUT = 1 << 16
MOST_KINDS = 500
"""Most kinds of messages written in one window; the others are counted."""


class References:
    """A reference for each error in the log: errors that are only counted share the one of the error shown."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._known: dict[Any, tuple[str, float]] = {}

    def of(self, kind: Any) -> str:
        """Return the reference for an error of a kind."""
        at = self._now()
        self._known = {other: entry for other, entry in self._known.items() if at - entry[1] < WINDOW_S}
        return self._known.setdefault(kind, (new_reference(), at))[0]


class LineHandler(logging.Handler):
    """Writes records as lines of text or of JSON, of warnings and errors each kind once in a while.

    Records are alike if they come from the same place in the code, or have the same ``kind`` in ``extra``.
    """

    def __init__(
        self, stream: TextIO, *, as_json: bool = False, now: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._stream = stream
        self._as_json = as_json
        self._now = now
        self._since: dict[Any, float] = {}
        """Kind of record -> time when it was written."""
        self._more: dict[Any, tuple[int, logging.LogRecord]] = {}
        """Kind of record -> number of further ones, and the last of them."""
        self._window, self._written = now(), 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it."""
        try:
            kind = getattr(record, "kind", None) or (record.name, record.pathname, record.lineno)
            self.write_counts()
            full = len(self._since) >= MOST_KINDS or self._written >= MOST_BYTES
            if record.levelno < logging.WARNING and not full:
                self._write(record, "")
            elif kind in self._since or full:
                kind = kind if kind in self._since else None
                self._more[kind] = (self._more.get(kind, (0, record))[0] + 1, record)
            else:
                self._since[kind] = self._now()
                self._write(record, "")
        except Exception:
            self.handleError(record)

    def write_counts(self, *, all_now: bool = False) -> None:
        """Write the counts of repeated events whose time is over."""
        now = self._now()
        over = all_now or now - self._window >= WINDOW_S
        if over:
            self._window, self._written = now, 0
        for kind, since in list(self._since.items()):
            if all_now or now - since >= WINDOW_S:
                del self._since[kind]
                self._count(kind)
        if over:
            self._count(None)

    def _count(self, kind: Any) -> None:
        if kind in self._more:
            count, record = self._more.pop(kind)
            self._write(record, f"{count} more of this kind, the last: ")

    def _write(self, record: logging.LogRecord, before: str) -> None:
        message = _cut(record.getMessage(), LONGEST_MESSAGE)
        # of a record that was only counted, the place is known from the first of its kind
        traceback = "" if before or not record.exc_info else _traceback(record)
        traceback = traceback or ("" if before else getattr(record, "traceback", ""))
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created))
        reference = getattr(record, "reference", "")
        if self._as_json:
            line = {"time": at, "level": record.levelname, "logger": record.name, "message": before + message}
            line |= {"reference": reference} if reference else {}
            line |= {"traceback": traceback} if traceback else {}
            text = json.dumps(line, ensure_ascii=False)
        else:
            named = f"[{reference}] " if reference else ""
            text = f"{at} {record.levelname} {named}{before}{_one_line(message)}"
            text += "".join(f"\n    {part}" for part in traceback.splitlines())
        self._written += len(text) + 1
        self._stream.write(text + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Write the counts that are left."""
        self.write_counts(all_now=True)
        super().close()


def _traceback(record: logging.LogRecord) -> str:
    assert record.exc_info
    return _cut(logging.Formatter().formatException(record.exc_info), LONGEST_TRACEBACK)


def _cut(text: str, longest: int) -> str:
    """Return a text of bounded length; both ends of a traceback are kept."""
    return text if len(text) <= longest else f"{text[: longest // 2]} [...] {text[-longest // 2 :]}"


def _one_line(text: str) -> str:
    """Return a text without line breaks and control characters, so that a visitor's input cannot fake a log line."""
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in text)


def log_text(text: str) -> None:
    """Put the output of a session into the log, cut so that long texts leave room for others."""
    text = text.strip()
    if text:
        kind = ("session", text.splitlines()[-1][-200:])
        LOG.error("A session said:", extra={"traceback": _cut(text, LONGEST_TRACEBACK), "kind": kind})


def log_output(output: int) -> None:
    """Put output of sessions outside their pages into the log, from a non-blocking descriptor."""
    with contextlib.suppress(BlockingIOError):
        log_text(os.read(output, MOST_OUTPUT).decode("utf-8", "replace"))


def start_log(*, verbose: bool, as_json: bool) -> LineHandler:
    """Send all logs of this process through one handler on standard error; if verbose, requests and sessions too."""
    handler = LineHandler(sys.stderr, as_json=as_json)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO if verbose else logging.WARNING)
    level = logging.INFO if verbose else logging.ERROR
    for name in ("Server", "asyncio", "tornado.general", "tornado.application", "traitlets"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(level)
    # pages.log_request says the same without the query
    logging.getLogger("tornado.access").setLevel(logging.CRITICAL)
    return handler


REGISTRY = CollectorRegistry()
REFUSED = Counter("gpuplan_refused", NAMES["metric"]["refused"], ["what"], registry=REGISTRY)
for kind in ("channel", "connection", "frame", "full", "page", "token"):
    REFUSED.labels(kind)  # a rate needs a beginning
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
CHANGES = Histogram(
    "gpuplan_change_seconds", NAMES["metric"]["change_seconds"], buckets=BUCKETS, registry=REGISTRY
)


def refused(what: str) -> None:
    """Count a refusal."""
    REFUSED.labels(what).inc()


def metrics_text(figures: Mapping[str, float]) -> bytes:
    """Return all counters, and figures looked up now: the value of each by its name."""
    looked_up = CollectorRegistry()
    for name, value in figures.items():
        Gauge(f"gpuplan_{name}", NAMES["metric"][name], registry=looked_up).set(value)
    return generate_latest(REGISTRY) + generate_latest(looked_up)


def private_bytes(processes: Iterable[int | str]) -> int:
    """Return the memory that these processes share with no other; 0 where it is unknown."""
    total = 0
    for number in processes:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii").splitlines():
                if line.startswith("Private_"):
                    total += 1024 * int(line.split()[1])
    return total


def open_files() -> int:
    """Return the number of files that this process has open; 0 where it is unknown."""
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0
