"""The log: what happens again and again is one line and a count, and nothing in it can be made to look like another line."""

from __future__ import annotations

import io
import json
import logging
import mmap
import os
import sys

import pytest
from approved import has_approved
from prometheus_client.parser import text_string_to_metric_families

from gpuplan.serve import logs


class Clock:
    """Time that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def made(clock: Clock) -> tuple[logging.Logger, io.StringIO, logs.LineHandler]:
    stream = io.StringIO()
    handler = logs.LineHandler(stream, now=clock)
    logger = logging.Logger("test")
    logger.addHandler(handler)
    return logger, stream, handler


def test_what_happens_again_is_counted(made, clock) -> None:
    logger, stream, handler = made
    for number in range(1000):
        logger.warning("refused %d", number)
    logger.warning("another")
    assert [line.split(" ", 2)[2] for line in stream.getvalue().splitlines()] == [
        "WARNING refused 0",
        "WARNING another",
    ]
    clock.now = logs.WINDOW_S + 1
    handler.write_counts()
    last = stream.getvalue().splitlines()[-1]
    assert has_approved(last, "999", "999")
    logger.warning("refused from elsewhere")
    assert stream.getvalue().splitlines()[-1].endswith("refused from elsewhere")


def test_the_end_writes_what_was_only_counted(made) -> None:
    logger, stream, handler = made
    for _ in range(3):
        logger.error("again")
    handler.close()
    assert stream.getvalue().count("again") == 2
    assert has_approved(stream.getvalue(), "2")


def test_kinds_are_told_apart_by_what_they_name(made) -> None:
    logger, stream, _ = made
    for address in ("a", "b", "a"):
        logger.warning("wrong token from %s", address, extra={"kind": ("token", address)})
    assert [line[-1] for line in stream.getvalue().splitlines()] == ["a", "b"]


def test_it_never_grows_beyond_its_limit(made) -> None:
    logger, stream, handler = made
    for number in range(5000):
        logger.warning("x" * 5000, extra={"kind": ("kind", number)})
    assert len(stream.getvalue()) < logs.MOST_BYTES + 2 * logs.LONGEST_MESSAGE
    handler.close()
    assert has_approved(stream.getvalue())


def test_no_text_can_look_like_a_line_of_its_own(made) -> None:
    logger, stream, _ = made
    logger.warning("from %s", "x\n2026-11-22 00:00:00 ERROR all is lost\x1b[2J")
    assert len(stream.getvalue().splitlines()) == 1
    assert "\x1b" not in stream.getvalue()


def test_a_traceback_stands_below_its_reference(made) -> None:
    logger, stream, _ = made
    try:
        raise ValueError("inside")
    except ValueError:
        logger.exception("GET / failed.", extra={"reference": "AB12"})
    first, *rest = stream.getvalue().splitlines()
    assert has_approved(first, "AB12")
    assert rest[-1].strip() == "ValueError: inside"
    assert all(line.startswith("    ") for line in rest)


def test_lines_of_json(clock) -> None:
    stream = io.StringIO()
    logger = logging.Logger("test")
    logger.addHandler(logs.LineHandler(stream, as_json=True, now=clock))
    try:
        raise ValueError("inside")
    except ValueError:
        logger.exception("failed\nindeed", extra={"reference": "AB12"})
    (line,) = stream.getvalue().splitlines()
    found = json.loads(line)
    assert (found["level"], found["message"], found["reference"]) == ("ERROR", "failed\nindeed", "AB12")
    assert found["traceback"].endswith("ValueError: inside")


def test_what_sessions_print_is_read_without_waiting(caplog) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with caplog.at_level("ERROR"):
        logs.log_output(reading)
        os.write(writing, b"Traceback\nValueError: inside\n")
        logs.log_output(reading)
    for end in (reading, writing):
        os.close(end)
    (record,) = caplog.records
    assert record.traceback == "Traceback\nValueError: inside"


def test_an_error_that_is_only_counted_has_the_reference_of_the_one_shown(clock: Clock) -> None:
    references = logs.References(clock)
    first = references.of("a")
    assert references.of("a") == first != references.of("b")
    clock.now = logs.WINDOW_S + 1
    assert references.of("a") != first


def test_references_differ() -> None:
    assert len({logs.new_reference() for _ in range(100)}) == 100


def test_start_sends_everything_through_one_handler(capsys) -> None:
    root = logging.getLogger()
    before = root.handlers, root.level
    try:
        handler = logs.start_log(verbose=False, as_json=False)
        handler._stream = sys.stderr
        logging.getLogger("Server").error("one")
        logging.getLogger("tornado.access").error("two")
        logging.getLogger("asyncio").warning("three")
    finally:
        root.handlers, level = before
        root.setLevel(level)
    printed = capsys.readouterr().err
    assert "one" in printed
    assert "two" not in printed
    assert "three" not in printed


def found(**figures: float) -> dict[tuple[str, str], float]:
    return {
        (sample.name, sample.labels.get("what", sample.labels.get("le", ""))): sample.value
        for family in text_string_to_metric_families(logs.metrics_text(figures).decode())
        for sample in family.samples
    }


def test_what_is_counted_is_told() -> None:
    before = found()
    assert ("gpuplan_refused_total", "token") in before, "a rate needs a beginning"
    logs.refused("frame")
    logs.refused("connection")
    for seconds in (0.02, 0.2):
        logs.CHANGES.observe(seconds)
    assert found(sessions=4)["gpuplan_sessions", ""] == 4
    after = found(sessions=5)
    assert after["gpuplan_sessions", ""] == 5
    more = {key: after[key] - value for key, value in before.items()}
    assert more["gpuplan_refused_total", "frame"] == 1
    assert more["gpuplan_refused_total", "connection"] == 1
    assert more["gpuplan_refused_total", "token"] == 0
    assert more["gpuplan_change_seconds_count", ""] == 2
    assert more["gpuplan_change_seconds_bucket", "0.1"] == 1
    assert more["gpuplan_change_seconds_sum", ""] == pytest.approx(0.22)


@pytest.mark.skipif(sys.platform != "linux", reason="no such files")
def test_memory_and_files_of_a_process() -> None:
    before = logs.private_bytes([os.getpid()])
    held = mmap.mmap(-1, 30_000_000)  # no copy beside it, whose memory the process may keep
    for _ in range(30):
        held.write(os.urandom(1_000_000))
    assert logs.private_bytes([os.getpid()]) - before == pytest.approx(len(held), rel=0.2)
    files = logs.open_files()
    with open(os.devnull):
        assert logs.open_files() == files + 1
    assert logs.private_bytes([1 << 30]) == 0
