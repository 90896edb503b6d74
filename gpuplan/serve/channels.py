"""Channels: the connection of an open page to its session. Each message is checked before any of it is parsed.

The format is Jupyter's ``v1.kernel.websocket.jupyter.org`` and no other: eight bytes with the number of offsets, the
offsets, then the name of a channel and the parts of a message one behind the other, all numbers little-endian.
"""

import asyncio
import itertools
import json
from collections.abc import Awaitable
from typing import Any, cast

import tornado.iostream
import tornado.web
import tornado.websocket
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

from gpuplan.scenario.reading import strict_json
from gpuplan.serve.logs import CHANGES, LOG, log_text, refused
from gpuplan.serve.pages import OwnSession
from gpuplan.serve.sessions import Session, now

PROTOCOL = "v1.kernel.websocket.jupyter.org"
PING_MS = 30_000
"""Time between two pings of a page. [ms]"""
MOST_MESSAGE = 2 << 20
"""Bytes of one message. Files come in pieces that are smaller."""
MOST_HEADER = 16_384
FEWEST_OFFSETS, MOST_OFFSETS = 6, 64
"""Channel, header, parent header, metadata, content and the end of them; each buffer brings one more."""
CHANNELS = ("shell", "control")
MOST_WAITING_BYTES, MOST_WAITING = 8 << 20, 2_000
"""Most messages waiting for a session; a page that sends more waits."""
PATIENCE_S = 120.0
"""Longest wait of a page for that."""
MOST_LINES = 3
"""Most connections to one session: its page's, and others while it connects again."""
UNSPOKEN = ("execute_input",)
"""Messages of a session that no page needs."""
FOR_THE_LOG = ("stream", "error")
"""Messages of a session for the log: its output, and errors with the paths of this machine."""
WRONG_DATA, TOO_MUCH = 1007, 1008
LONGEST_REASON = 120
HEADER, PARENT, CONTENT = 1, 2, 4
"""Parts of a message by their places; the channel is the first."""


class BadFrame(ValueError):
    """A frame that is no message; its text names the error."""


def read_frame(frame: str | bytes) -> tuple[str, dict[str, Any]]:
    """Return channel and header of a message, after checking the frame against its size; BadFrame if it is none."""
    if isinstance(frame, str):
        raise BadFrame("text where a binary message is due")
    count = int.from_bytes(frame[:8], "little")
    if not FEWEST_OFFSETS <= count <= MOST_OFFSETS or len(frame) < 8 * (count + 1):
        raise BadFrame(f"a number of offsets that its {len(frame)} bytes cannot have")
    offsets = [int.from_bytes(frame[at : at + 8], "little") for at in range(8, 8 * (count + 1), 8)]
    if offsets[0] != 8 * (count + 1) or offsets[-1] != len(frame) or offsets != sorted(offsets):
        raise BadFrame("offsets that do not follow each other from the first byte to the last")
    channel, header, *beside = (frame[start:end] for start, end in itertools.pairwise(offsets[:6]))
    if channel not in [name.encode() for name in CHANNELS]:
        raise BadFrame("a channel that a page does not send on")
    if len(header) > MOST_HEADER:
        raise BadFrame(f"a header of {len(header)} bytes")
    try:  # as text first: of bytes, json guesses the encoding, and a session does not
        parsed, sound = strict_json(header.decode()), all(map(_is_mapping, beside))
    except (ValueError, RecursionError):
        raise BadFrame("a header or a part that is no JSON in UTF-8") from None
    if not sound:
        raise BadFrame("a part that is no JSON in UTF-8")
    if not _has_words(parsed, "msg_type", "msg_id"):
        raise BadFrame("a header without type and number of the message")
    return channel.decode(), parsed


def _is_mapping(part: bytes) -> bool:
    """True if a part of a message begins as a mapping of JSON in UTF-8."""
    return part.decode().startswith("{") and b"\0" not in part


def _has_words(header: Any, *names: str) -> bool:
    """True if a header has a text that can be read, and no empty one, under each name."""
    return isinstance(header, dict) and all(
        isinstance(header.get(name), str) and header[name] and header[name].isprintable() for name in names
    )


class ChannelsHandler(OwnSession, KernelWebsocketHandler):  # type: ignore[misc]
    """Connects a page to its session; a page may be gone before the session has answered."""

    opened = False
    left = False
    refused = False
    session: Session | None = None

    async def pre_get(self) -> None:
        """Let in the owner of the session if it speaks its format; wait for the session.

        Else the answer is 404 for another visitor's, 400 without the format, 429 if it has connections enough.
        """
        session = self.own_session(self.kernel_id)
        offered = self.request.headers.get("Sec-WebSocket-Protocol", "").split(",")
        if PROTOCOL not in [name.strip() for name in offered]:
            raise tornado.web.HTTPError(400, reason=f"Only {PROTOCOL} is spoken here")
        if len(session.lines) >= MOST_LINES:
            refused("channel")
            raise tornado.web.HTTPError(429, reason="This session has connections enough")
        self.session = session
        session.lines.add(self)
        session.new = False
        self.waiting: dict[str, tuple[int, float]] = {}
        self.taken = asyncio.Event()
        await super().pre_get()  # type: ignore[no-untyped-call]
        if self.left:
            self.connection._open_sessions.pop(self.connection.session_key, None)
            raise tornado.web.Finish

    def on_finish(self) -> None:
        """Forget a connection that was not established."""
        if self.session is not None and self.ws_connection is None:
            self.session.lines.discard(self)

    def select_subprotocol(self, _offered: list[str]) -> str:
        """Accept the one format."""
        return PROTOCOL

    async def open(self, kernel_id: str) -> None:
        """Connect to the session."""
        self.opened = True
        await super().open(kernel_id)  # type: ignore[no-untyped-call]

    def on_message(self, frame: str | bytes) -> Awaitable[None] | None:
        """Pass a message on; an invalid one ends the connection."""
        if self.refused or self.session is None:
            return None
        self.session.heard = now()
        try:
            header = read_frame(frame)[1]
            if header["msg_type"] not in self.kernel_manager.allowed_message_types:
                raise BadFrame("a message of a type that no page sends")
            if header["msg_id"] in self.waiting:
                raise BadFrame("two messages with one number")
        except BadFrame as error:
            self.refuse(WRONG_DATA, str(error))
            return None
        return self._pass_on(cast(bytes, frame), header["msg_id"])

    async def _pass_on(self, frame: bytes, number: str) -> None:
        """Pass a message on when the session has room; until then nothing more is read from the page."""
        end = now() + PATIENCE_S
        while self._crowded(len(frame)) and not self.refused and not self.left:
            self.taken.clear()
            try:
                await asyncio.wait_for(self.taken.wait(), end - now())
            except TimeoutError:
                self.refuse(TOO_MUCH, "more than the session can take")
        if self.refused or self.left or self.connection is None:
            return
        self.waiting[number] = (len(frame), now())
        self.connection.handle_incoming_message(frame)

    def _crowded(self, more: int) -> bool:
        """True if a session has too many messages waiting to take more."""
        waiting = sum(size for size, _ in self.waiting.values())
        most = len(self.waiting) >= MOST_WAITING or waiting + more > MOST_WAITING_BYTES
        return bool(self.waiting) and most

    def refuse(self, code: int, why: str) -> None:
        """Close the connection with a reason, and say so in the log."""
        self.refused = True
        self.taken.set()
        refused("frame")
        LOG.warning("A connection from %s was closed: it sent %s.", self.request.remote_ip, why)
        self.close(code, f"It sent {why}"[:LONGEST_REASON])

    def write_message(self, message: Any, binary: bool = False) -> Any:
        """Send a message of the session to the page, unless it is for the log."""
        if isinstance(message, bytes):
            kind = _part(message, HEADER).get("msg_type")
            if kind in FOR_THE_LOG:
                content = _part(message, CONTENT)
                log_text(str(content.get("text") or "\n".join(content.get("traceback", ()))))
            if kind in (*UNSPOKEN, *FOR_THE_LOG):
                return None
            if kind == "status" and b'"idle"' in message[-64:]:
                self._took(_part(message, PARENT).get("msg_id", ""))
        try:
            written = super().write_message(message, binary)
            # the page may have left meanwhile: that is no error
            written.add_done_callback(lambda done: done.cancelled() or done.exception())
            return written
        except tornado.websocket.WebSocketClosedError:
            return None
        except tornado.iostream.StreamBufferFullError:
            self.refuse(TOO_MUCH, "requests and takes no answers")
            self._cut()
            return None

    def _took(self, number: str) -> None:
        if number in self.waiting:
            CHANGES.observe(now() - self.waiting.pop(number)[1])
            self.taken.set()

    def send_ping(self) -> None:
        """Ask whether the page is there, giving it three intervals; jupyter_server would give it one."""
        line = self.ws_connection
        if line is None or line.client_terminated:
            super().send_ping()
        elif 1000 * (now() - self.last_pong) > 3 * PING_MS:
            if self.session is not None:
                self.session.silent = True
            self._cut()
        else:
            self.ping(b"")
            self.last_ping = now()

    def _cut(self) -> None:
        if self.ws_connection is not None and self.ws_connection.stream is not None:
            self.ws_connection.stream.close()

    def on_pong(self, data: bytes) -> None:
        """Record that the page is there."""
        super().on_pong(data)  # type: ignore[no-untyped-call]
        if self.session is not None:
            self.session.heard = now()

    def on_close(self) -> None:
        """Disconnect from the session, if connected; otherwise jupyter_server would fail, or count it twice."""
        if self.session is not None:
            self.session.lines.discard(self)
            self.session.heard = now()
        if self.opened:
            super().on_close()  # type: ignore[no-untyped-call]
        self.left = True
        self.taken.set()


def _part(message: bytes, place: int) -> dict[str, Any]:
    at = 8 * (place + 1)
    begin, end = (int.from_bytes(message[start : start + 8], "little") for start in (at, at + 8))
    return dict(json.loads(message[begin:end] or b"{}"))
