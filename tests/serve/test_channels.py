"""The connection of an open page: no frame stops the server or reaches a session unchecked, and it is its owner's only."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("voila")

from hypothesis import given
from hypothesis import strategies as st
from tornado.httpclient import HTTPClientError
from visiting import PROTOCOL, Visitor, message, run, said, visit
from waiting import LIMIT_S

from gpuplan.serve import channels

TOKEN = "token-of-the-team"


def test_a_message_of_a_page_is_read() -> None:
    channel, header = channels.read_frame(message("comm_msg", number="7"))
    assert (channel, header["msg_type"], header["msg_id"]) == ("shell", "comm_msg", "7")


def changed(at: int, value: int) -> bytes:
    """A message with one of its numbers put in place of another."""
    frame = bytearray(message())
    frame[8 * at : 8 * at + 8] = struct.pack("<Q", value)
    return bytes(frame)


HOSTILE = {
    "a count without end": struct.pack("<Q", 2**60) + b"x",
    "the old format": struct.pack("!I", 2**31 - 1) + b"x" * 20,
    "text": "{}",
    "nothing": b"",
    "three bytes": b"\x01\x00\x00",
    "no offsets": struct.pack("<Q", 0),
    "a count too large by one": changed(0, 8),
    "too many offsets": struct.pack("<Q", 65) + b"\0" * 600,
    "an offset behind the end": changed(3, 10_000),
    "an offset before the one before it": changed(3, 57),
    "a last offset before the end": changed(6, 60),
    "a first offset in the numbers": changed(1, 0),
    "the largest offset": changed(2, 2**64 - 1),
    "cut off": message()[:-1],
    "with more behind it": message() + b"x",
    "a channel of sessions": message(channel=b"iopub"),
    "no channel": message(channel=b""),
    "a channel that is no text": message(channel=b"\xff\xfe"),
    "a header that is no JSON": message(header=b"{"),
    "a header of another kind": message(header=b"[]"),
    "a header without a type": message(header=b'{"msg_id": "1"}'),
    "a type that is no text": message(header=b'{"msg_id": "1", "msg_type": {}}'),
    "a message without a number": message(header=b'{"msg_id": "", "msg_type": "x"}'),
    "a header without end": message(header=b"[" * 10_000),
    "a header too long": message(header=b'{"msg_id": "' + b"1" * 20_000 + b'", "msg_type": "x"}'),
    "a header that is no text": message(header=b"\xff\xff"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_message_is_refused(name: str) -> None:
    with pytest.raises(channels.BadFrame):
        channels.read_frame(HOSTILE[name])


HEADER = '{"msg_id": "1", "msg_type": "comm_msg"}'
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-8-sig")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("part", ["header", "parent", "metadata", "content"])
def test_every_part_is_utf_8(part: str, encoding: str) -> None:
    """Python guesses other encodings, a session does not, and would leave such a message unanswered for ever."""
    parts: dict[str, bytes] = {"header": HEADER.encode()}
    assert channels.read_frame(message(**parts))[1]["msg_id"] == "1"
    parts[part] = HEADER.encode(encoding)
    with pytest.raises(channels.BadFrame):
        channels.read_frame(message(**parts))


@pytest.mark.parametrize(
    "header",
    [
        '{"msg_id": "1", "msg_type": "comm_msg", "date": NaN}',
        '{"msg_id": "1", "msg_type": "comm_msg", "date": -Infinity}',
        '{"msg_id": "1", "msg_type": "input_reply", "msg_type": "comm_msg"}',
        '{"msg_id": "1", "msg_type": "comm_msg", "more": {"a": 1, "a": 2}}',
        '{"msg_id": "1", "msg_type": "\\ud800"}',
        '{"msg_id": "\\u0000", "msg_type": "comm_msg"}',
    ],
)
def test_a_header_that_readers_take_in_two_ways_is_refused(header: str) -> None:
    with pytest.raises(channels.BadFrame):
        channels.read_frame(message(header=header.encode()))


@given(st.binary(max_size=300))
def test_bytes_at_random_are_refused(frame: bytes) -> None:
    with pytest.raises(channels.BadFrame):
        channels.read_frame(frame)


@given(st.lists(st.tuples(st.integers(0, 220), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_message_with_bytes_changed_is_refused_or_still_whole(changes: list[tuple[int, int]]) -> None:
    frame = bytearray(message(number="1"))
    for at, value in changes:
        frame[at % len(frame)] = value
    try:
        channel, header = channels.read_frame(bytes(frame))
    except channels.BadFrame:
        return
    assert channel in channels.CHANNELS
    assert isinstance(header["msg_type"], str)


def unopened(**given: Any) -> Any:
    """A connection that was never made, to look at what it does."""
    page = channels.ChannelsHandler.__new__(channels.ChannelsHandler)
    for name, value in given.items():
        setattr(page, name, value)
    return page


def outgoing(kind: str, content: dict[str, Any], parent: str = "") -> bytes:
    parts = [json.dumps(each).encode() for each in ({"msg_type": kind}, {"msg_id": parent}, {}, content)]
    from jupyter_server.services.kernels.connection.base import serialize_msg_to_ws_v1

    frame: bytes = serialize_msg_to_ws_v1(parts, "iopub")
    return frame


def test_what_a_session_prints_goes_to_the_log_and_not_to_the_page(monkeypatch, caplog) -> None:
    sent: list[bytes] = []
    done = SimpleNamespace(add_done_callback=lambda _: None)
    monkeypatch.setattr(
        channels.KernelWebsocketHandler, "write_message", lambda self, data, binary: sent.append(data) or done
    )
    page = unopened(waiting={"1": (10, 0.0)}, taken=asyncio.Event())
    monkeypatch.setattr(channels, "now", lambda: 0.25)
    with caplog.at_level("ERROR"):
        page.write_message(outgoing("stream", {"name": "stderr", "text": "ValueError: in /srv"}), True)
        page.write_message(outgoing("error", {"ename": "E", "traceback": ["File /srv", "E: inside"]}), True)
    assert sent == []
    assert [record.traceback for record in caplog.records] == ["ValueError: in /srv", "File /srv\nE: inside"]
    page.write_message(outgoing("execute_input", {"code": "secret"}), True)
    assert sent == []
    idle = outgoing("status", {"execution_state": "idle"}, "1")
    page.write_message(idle, True)
    assert sent == [idle]
    assert page.waiting == {}
    assert page.taken.is_set()


def test_a_page_waits_while_its_session_has_much_before_it(monkeypatch) -> None:
    passed: list[bytes] = []
    connection = SimpleNamespace(handle_incoming_message=passed.append)
    monkeypatch.setattr(channels, "MOST_WAITING_BYTES", 100)

    async def main() -> None:
        page = unopened(waiting={}, taken=asyncio.Event(), connection=connection)
        await page._pass_on(b"a" * 150, "1")  # one alone is always passed on
        second = asyncio.ensure_future(page._pass_on(b"b" * 10, "2"))
        await asyncio.sleep(0)
        assert len(passed) == 1
        page._took("1")
        await second
        assert len(passed) == 2
        monkeypatch.setattr(channels, "PATIENCE_S", 0.01)
        refused: list[int] = []
        page.refuse = lambda code, why: refused.append(code) or setattr(page, "refused", True)
        await page._pass_on(b"c" * 100, "3")
        assert refused == [channels.TOO_MUCH]
        assert len(passed) == 2

    run(main())


# --- the real server


@pytest.fixture(scope="module")
def team(server: Callable[..., Any]) -> Any:
    return server(token=TOKEN)


def memory(server: Any) -> float:
    """What the server keeps in memory. [MB]"""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


@pytest.fixture
def watched(team: Any) -> Any:
    """Asks for the health of the server again and again; what it finds is looked at by the test."""
    found: list[bool] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            found.append(team.healthy())
            time.sleep(0.05)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    yield found
    done.set()
    thread.join()


@pytest.mark.browser
def test_frames_of_all_kinds_harm_nobody(team: Any, watched: list[bool]) -> None:
    """2,500 random and crafted frames on many connections; the other page goes on, and memory does not grow."""
    bad, good = Visitor(team, TOKEN), Visitor(team, TOKEN)
    chance = random.Random(16)
    hostile = list(HOSTILE.values())

    def one() -> Any:
        kind = chance.randrange(4)
        if kind == 0:
            return chance.randbytes(chance.randrange(200))
        if kind == 1:
            frame = bytearray(message())
            frame[chance.randrange(len(frame))] = chance.randrange(256)
            return bytes(frame)
        return chance.choice(hostile)

    async def main() -> tuple[int, set[int], int]:
        other = await good.connect()
        sent, codes, before = 0, set(), memory(team)
        while sent < 2500:
            line = await bad.connect()
            for _ in range(chance.randrange(1, 40)):
                frame = one()
                line.write_message(frame, binary=isinstance(frame, bytes))
                sent += 1
            line.write_message(struct.pack("<Q", 2**60) + b"x", binary=True)
            while await said(line) is not None:
                pass
            codes.add(line.close_code)
        other.write_message(message(number="still here"), binary=True)
        while b"still here" not in await said(other):
            pass
        grown = memory(team) - before
        other.close()
        return sent, codes, int(grown)

    sent, codes, grown = visit(main())
    assert sent >= 2500
    assert codes == {channels.WRONG_DATA}
    assert grown < 50
    assert all(watched)
    assert len(team.text) < 20_000, "one line, and a count"
    assert "was closed" in team.text


@pytest.mark.browser
@pytest.mark.parametrize("protocols", [None, ("other",), ("v2.kernel.websocket.jupyter.org", "graphql-ws")])
def test_another_language_is_not_spoken(team: Any, protocols: Any) -> None:
    with pytest.raises(HTTPClientError) as refused:
        visit(Visitor(team, TOKEN).connect(protocols=protocols))
    assert refused.value.code == 400


@pytest.mark.browser
def test_a_reason_is_given_and_the_session_goes_on(team: Any) -> None:
    who = Visitor(team, TOKEN)

    async def main() -> tuple[int, str]:
        line = await who.connect()
        line.write_message(message("execute_request", b'{"code": "1"}'), binary=True)
        while await said(line) is not None:
            pass
        again = await who.connect()
        again.write_message(message(number="again"), binary=True)
        while b"again" not in await said(again):
            pass
        again.close()
        return line.close_code, line.close_reason

    code, reason = visit(main())
    assert code == 1007 and "type" in reason


@pytest.mark.browser
def test_a_number_is_given_once(team: Any) -> None:
    """Else many messages would count as one of those that a session has before it."""
    who = Visitor(team, TOKEN)

    async def main() -> tuple[int, str]:
        line = await who.connect()
        for _ in range(50):
            line.write_message(
                message("comm_msg", b'{"x": "' + b"a" * 100_000 + b'"}', number="1"), binary=True
            )
        while await said(line) is not None:
            pass
        return line.close_code, line.close_reason

    code, reason = visit(main())
    assert code == 1007 and "number" in reason


@pytest.mark.browser
def test_a_message_too_large_ends_its_connection(team: Any) -> None:
    who = Visitor(team, TOKEN)

    async def main() -> int:
        line = await who.connect()
        line.write_message(message("comm_msg", b"x" * (channels.MOST_MESSAGE + 1)), binary=True)
        try:
            while await said(line) is not None:
                pass
        except OSError:
            pass
        return int(line.close_code or 1009)

    assert visit(main()) == 1009


@pytest.mark.browser
def test_a_session_is_its_owners_only_on_every_route(team: Any) -> None:
    mine, other = Visitor(team, TOKEN), Visitor(team, TOKEN)
    assert mine.kernel != other.kernel
    xsrf = next(each.value for each in other.jar if each.name == "_xsrf")
    for path in (f"gpuplan/session/{mine.kernel}", f"api/kernels/{mine.kernel}"):
        assert mine.ask(path)[0] == 200
        assert other.ask(path)[0] == 404
        assert other.ask(path.replace(mine.kernel, "0-0-0-0-0"))[1] == other.ask(path)[1], (
            "no word of difference"
        )
    headers = {"X-XSRFToken": xsrf}
    assert other.ask(f"voila/api/shutdown/{mine.kernel}", data=b"", **headers)[0] == 404
    assert other.ask(f"api/kernels/{mine.kernel}", method="DELETE", **headers)[0] in (404, 405)
    assert mine.ask(f"api/kernels/{mine.kernel}", method="DELETE", **headers)[0] in (403, 405)
    with pytest.raises(HTTPClientError) as refused:
        visit(other.connect(mine.kernel))
    assert refused.value.code == 404
    assert json.loads(mine.ask(f"gpuplan/session/{mine.kernel}")[1])["alive"] is True


@pytest.mark.browser
def test_one_session_has_few_connections(team: Any) -> None:
    who = Visitor(team, TOKEN)

    async def main() -> int:
        lines = [await who.connect() for _ in range(channels.MOST_LINES)]
        with pytest.raises(HTTPClientError) as refused:
            await who.connect()
        lines[0].close()
        async with asyncio.timeout(LIMIT_S):
            while len(lines) <= channels.MOST_LINES:
                with contextlib.suppress(HTTPClientError):
                    lines.append(await who.connect())
                await asyncio.sleep(0.05)
        for line in lines:
            line.close()
        return int(refused.value.code) if len(lines) == channels.MOST_LINES + 1 else 0

    assert visit(main()) == 429


@pytest.mark.browser
def test_a_page_that_sends_faster_than_its_session_works_is_slowed(team: Any) -> None:
    """60 messages of almost 2 MB at once: the server never holds more than a few of them."""
    who = Visitor(team, TOKEN)
    body = b'{"comm_id": "' + os.urandom(4).hex().encode() + b'", "data": {"x": "' + b"a" * 1_900_000 + b'"}}'

    async def main() -> float:
        line, most = await who.connect(), 0.0
        before = memory(team)

        async def read() -> None:
            while await said(line) is not None:
                pass

        reader = asyncio.ensure_future(read())
        for _ in range(60):
            await line.write_message(message("comm_msg", body), binary=True)
            most = max(most, memory(team) - before)
        line.close()
        reader.cancel()
        return most

    assert visit(main()) < 60


def test_the_format_is_jupyters() -> None:
    assert channels.PROTOCOL == PROTOCOL
