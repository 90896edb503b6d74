"""Connections: how many the server keeps, for how long they may say nothing, and what it does when there are too many.

A connection on which a request is expected costs its opener nothing, so it is the first to go: the oldest without any
request, then the oldest between two requests. One that is being answered, or that an open page holds, is never cut.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
from collections import Counter
from collections.abc import Iterable
from typing import Any

import tornado.httpserver
import tornado.iostream
from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, RequestStartLine, ResponseStartLine
from tornado.ioloop import IOLoop

from gpuplan.serve.logs import LOG

WAIT_S = 20.0
"""How long a request may take to arrive, and how long a connection may wait for the next one."""
BODY_S = 30.0
MOST_BODY = 1 << 14
"""Of a form or a farewell; files come over the connection of an open page."""
MOST_HEADER = 1 << 16
MOST_READ, MOST_WRITE = 4 << 20, 16 << 20
"""What is kept in memory for one connection: of what arrives, and of what its other end does not take."""
SEND_BUFFER = 1 << 18
"""What the system keeps of an answer for one connection."""
MOST_PER_ADDRESS = 256
BACK_OFF_S = 0.25
ACCEPTED_AT_ONCE = 64
NO_FILE_LEFT = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
FORWARDED = ("X-Forwarded-For", "X-Forwarded-Proto")
NEVER_BELIEVED = ("X-Real-Ip", "X-Scheme")
"""Tornado would put them before the others, and proxies pass on what a visitor wrote into them."""


def raise_file_limit() -> int:
    """Let this process open as many files as it may; how many that are."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return 1 << 14
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1 << 20 if most == resource.RLIM_INFINITY else most


def network_of(address: str) -> str:
    """What counts as one address: of IPv6, the network that one household or firm has."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False).network_address)
    return address


class _Connection:
    """What is known of a connection."""

    def __init__(self, stream: tornado.iostream.IOStream, address: str, trusted: bool) -> None:
        self.stream = stream
        self.address = address
        """What counts as its address, see ``network_of``."""
        self.trusted = trusted
        """Whether it is a proxy's that is believed."""
        self.used = False
        """Whether a request has come over it."""
        self.written, self.since = 0, 0.0
        """How much of its answers the other end has taken, and since when no more."""

    def is_stuck(self, now: float) -> bool:
        """Whether its other end takes nothing of what is there for it."""
        written = self.stream._total_write_done_index
        if written != self.written or not self.stream.writing():
            self.written, self.since = written, now
        return now - self.since > WAIT_S


class _Watched(HTTPMessageDelegate):
    """A request on its way to who answers it."""

    def __init__(
        self, inner: HTTPMessageDelegate, server: HttpServer, connection: _Connection | None
    ) -> None:
        self._inner = inner
        self._server = server
        self._connection = connection

    def headers_received(self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders) -> Any:
        connection = self._connection
        trusted = connection is not None and connection.trusted
        for name in (*NEVER_BELIEVED, *(() if trusted else FORWARDED)):
            headers.pop(name, None)
        return self._inner.headers_received(start_line, headers)

    def data_received(self, chunk: bytes) -> Any:
        return self._inner.data_received(chunk)

    def finish(self) -> None:
        if self._connection is not None:  # all of the request is there; until then it can give way to others
            self._server.waiting.pop(self._connection, None)
            self._connection.used = True
        self._inner.finish()

    def on_connection_close(self) -> None:
        self._inner.on_connection_close()


class HttpServer(tornado.httpserver.HTTPServer):
    """Tornado's server with limits for connections, by address and in all."""

    proxies: frozenset[str]
    """Addresses whose word counts for where a request comes from, and whether it was encrypted."""
    most_connections: int
    waiting: dict[_Connection, None]
    """Connections on which a request is expected, the one that has waited longest first."""
    refused: int
    _open: dict[tornado.iostream.IOStream, _Connection]
    _count: Counter[str]
    """Connections by address."""

    def initialize(  # type: ignore[override]
        self, application: Any, *, proxies: Iterable[str] = (), most_connections: int = 1000
    ) -> None:
        """Take the application and the limits."""
        self.proxies = frozenset(proxies)
        self.most_connections = most_connections
        self.waiting, self._open, self._count = {}, {}, Counter()
        self._listening: list[socket.socket] = []
        self.refused = 0
        super().initialize(
            application,
            xheaders=True,
            trusted_downstream=list(self.proxies),
            idle_connection_timeout=WAIT_S,
            body_timeout=BODY_S,
            max_body_size=MOST_BODY,
            max_header_size=MOST_HEADER,
            max_buffer_size=MOST_READ,
        )

    @property
    def connections(self) -> int:
        """How many connections there are, without those of open pages."""
        return len(self._open)

    def take_refused(self) -> int:
        """How many connections were refused or cut since this was last asked."""
        found, self.refused = self.refused, 0
        return found

    def cut_stuck(self) -> None:
        """Close the connections whose other ends take no answer."""
        now = IOLoop.current().time()
        for connection in [each for each in self._open.values() if each.is_stuck(now)]:
            self.refused += 1
            LOG.warning("A connection from %s was closed: it takes no answer.", connection.address)
            connection.stream.close()

    def add_sockets(self, sockets: Any) -> None:
        """Listen on sockets."""
        for each in sockets:
            self._listening.append(each)
            IOLoop.current().add_handler(each, self._accept, IOLoop.READ)

    def stop(self) -> None:
        """Listen no more."""
        for each in self._listening:
            with contextlib.suppress(KeyError, ValueError, OSError):
                IOLoop.current().remove_handler(each)
            each.close()
        self._listening = []

    def _accept(self, listening: socket.socket, _events: int) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                connection, address = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in NO_FILE_LEFT:
                    raise
                LOG.error("No connection can be taken: %s. The oldest that wait are closed.", error.strerror)
                self._back_off(listening)
                return
            self._take(connection, address)

    def _back_off(self, listening: socket.socket) -> None:
        """Make room, and take connections again in a moment; until then the system keeps them."""
        for _ in range(ACCEPTED_AT_ONCE):
            self._cut_one()
        loop = IOLoop.current()
        loop.remove_handler(listening)

        def again() -> None:
            if listening in self._listening:
                loop.add_handler(listening, self._accept, IOLoop.READ)

        loop.call_later(BACK_OFF_S, again)

    def _take(self, connection: socket.socket, address: Any) -> None:
        """Serve a connection, in the place of one that waits if there are too many."""
        peer = str(address[0]).removeprefix("::ffff:") if address else ""
        name, trusted = network_of(peer), peer in self.proxies
        crowded = self._count[name] >= MOST_PER_ADDRESS and not trusted
        full = len(self._open) >= self.most_connections
        if (crowded and not self._cut_one(name)) or (full and not self._cut_one()):
            self.refused += 1
            LOG.warning("A connection from %s was refused: there are too many.", name)
            connection.close()
            return
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        stream = tornado.iostream.IOStream(
            connection, max_buffer_size=self.max_buffer_size, max_write_buffer_size=MOST_WRITE
        )
        ours = self._open[stream] = _Connection(stream, name, trusted)
        ours.since = IOLoop.current().time()
        self._count[name] += 1
        self.waiting[ours] = None
        self.handle_stream(stream, address)

    def _cut_one(self, address: str | None = None) -> bool:
        """Close the connection that has waited longest, of this address or of the one that has most that wait."""
        if address is None:
            most = Counter(each.address for each in self.waiting).most_common(1)
            address = most[0][0] if most else ""
        mine = [each for each in self.waiting if each.address == address]
        oldest = next((each for each in mine if not each.used), mine[0] if mine else None)
        if oldest is None:
            return False
        self.refused += 1
        LOG.warning("Too many connections from %s: the oldest that wait for a request are closed.", address)
        self._forget(oldest.stream)
        oldest.stream.close()
        return True

    def _forget(self, stream: tornado.iostream.IOStream) -> None:
        connection = self._open.pop(stream, None)
        if connection is not None:
            self.waiting.pop(connection, None)
            self._count[connection.address] -= 1
            if not self._count[connection.address]:
                del self._count[connection.address]

    def start_request(self, server_conn: Any, request_conn: Any) -> HTTPMessageDelegate:
        """Wait for a request on a connection."""
        connection = self._open.get(server_conn.stream)
        if connection is not None:
            self.waiting.pop(connection, None)
            self.waiting[connection] = None  # behind those that wait already
        return _Watched(super().start_request(server_conn, request_conn), self, connection)

    def on_close(self, server_conn: Any) -> None:
        """Forget a connection that has ended, or that is an open page's from now on."""
        super().on_close(server_conn)
        self._forget(server_conn.stream)
