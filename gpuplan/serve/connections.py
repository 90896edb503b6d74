"""Connections: how many, for how long, and which origin is believed; the proxy limits rates."""

import contextlib
import ipaddress
from collections.abc import Iterable
from typing import Any

import tornado.httpserver
import tornado.iostream
from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, RequestStartLine, ResponseStartLine

from gpuplan.serve.logs import LOG, refused

WAIT_S = 20.0
"""Longest time for a request to arrive, and for a connection to wait for the next one."""
BODY_S = 30.0
MOST_BODY = 1 << 14
"""Most bytes of a form or a farewell; files come over the connection of an open page."""
MOST_HEADER = 1 << 16
MOST_READ, MOST_WRITE = 4 << 20, 16 << 20
"""Memory kept for one connection: for data that arrives, and for data that its other end does not take."""
FORWARDED = ("X-Forwarded-For", "X-Forwarded-Proto")
NEVER_BELIEVED = ("X-Real-Ip", "X-Scheme")
"""Headers that tornado would put before the others, and in which proxies pass on text of a visitor."""


def raise_file_limit() -> int:
    """Let this process open as many files as it may; return their number."""
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
    """Return the network that counts as one address: for IPv6, that of one household or firm."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False).network_address)
    return address


class _Request(HTTPMessageDelegate):
    """A request without headers that its sender is not trusted to know."""

    def __init__(self, inner: HTTPMessageDelegate, trusted: bool) -> None:
        self._inner = inner
        self._trusted = trusted

    def headers_received(self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders) -> Any:
        for name in (*NEVER_BELIEVED, *(() if self._trusted else FORWARDED)):
            headers.pop(name, None)
        return self._inner.headers_received(start_line, headers)

    def data_received(self, chunk: bytes) -> Any:
        return self._inner.data_received(chunk)

    def finish(self) -> None:
        self._inner.finish()

    def on_connection_close(self) -> None:
        self._inner.on_connection_close()


class HttpServer(tornado.httpserver.HTTPServer):
    """Tornado's server with limits for size, time and the number of connections."""

    proxies: frozenset[str]
    """Addresses trusted to say where a request comes from, and whether it was encrypted."""
    most_connections: int
    _trusted: dict[tornado.iostream.IOStream, bool]
    """Connections, without those of open pages -> True if it is a trusted proxy's."""

    def initialize(  # type: ignore[override]
        self, application: Any, *, proxies: Iterable[str] = (), most_connections: int = 1000
    ) -> None:
        """Take the application and the limits."""
        self.proxies = frozenset(proxies)
        self.most_connections = most_connections
        self._trusted = {}
        limits: dict[str, Any] = {"idle_connection_timeout": WAIT_S, "body_timeout": BODY_S}
        limits |= {"max_body_size": MOST_BODY, "max_header_size": MOST_HEADER, "max_buffer_size": MOST_READ}
        super().initialize(application, xheaders=True, trusted_downstream=list(self.proxies), **limits)

    @property
    def connections(self) -> int:
        """Number of connections, without those of open pages."""
        return len(self._trusted)

    def handle_stream(self, stream: tornado.iostream.IOStream, address: Any) -> None:
        """Serve a connection, or close it if there are too many."""
        peer = str(address[0]).removeprefix("::ffff:") if address else ""
        if self.connections >= self.most_connections:
            refused("connection")
            LOG.warning("A connection from %s was refused: there are too many.", network_of(peer))
            stream.close()
            return
        stream.max_write_buffer_size = MOST_WRITE
        self._trusted[stream] = peer in self.proxies
        super().handle_stream(stream, address)

    def start_request(self, server_conn: Any, request_conn: Any) -> HTTPMessageDelegate:
        """Wait for a request on a connection."""
        trusted = self._trusted.get(server_conn.stream, False)
        return _Request(super().start_request(server_conn, request_conn), trusted)

    def on_close(self, server_conn: Any) -> None:
        """Forget a connection that has ended, or that belongs to an open page from now on."""
        super().on_close(server_conn)
        self._trusted.pop(server_conn.stream, None)
