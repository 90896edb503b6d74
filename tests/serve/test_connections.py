"""Connections: their number, the time for a request, and what is believed of where it comes from."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any, ClassVar

import pytest

pytest.importorskip("voila")

import tornado.netutil
import tornado.web
from visiting import run
from waiting import LIMIT_S

from gpuplan.serve import connections, logs


class Slow(tornado.web.RequestHandler):
    """Answers when it is told to, and says where a request came from."""

    go: asyncio.Event

    async def get(self) -> None:
        await self.go.wait()
        self.finish(f"{self.request.remote_ip} {self.request.protocol}")

    post = get


class Client:
    """One end of a connection."""

    made: ClassVar[list[Client]] = []

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.end = socket.create_connection((host, port))
        self.end.setblocking(False)
        self.made.append(self)

    def send(self, text: str) -> Client:
        self.end.sendall(text.encode())
        return self

    async def answer(self) -> str:
        """What comes next; empty if the other side has closed."""
        with contextlib.suppress(ConnectionResetError):
            return (
                await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self.end, 65536), LIMIT_S)
            ).decode()
        return ""

    async def is_open(self) -> bool:
        """Whether nothing has come so far, not even an end."""
        await asyncio.sleep(0)
        try:
            return bool(self.end.recv(1))
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False


REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a test with a server in the same loop: `serving(test, most_connections=...)`."""

    @contextlib.asynccontextmanager
    async def made(host: str = "127.0.0.1", **given: Any) -> AsyncIterator[tuple[Any, int]]:
        Slow.go = asyncio.Event()
        server = connections.HttpServer(tornado.web.Application([("/", Slow)]), **given)
        sockets = tornado.netutil.bind_sockets(0, host)
        server.add_sockets(sockets)
        try:
            yield server, sockets[0].getsockname()[1]
        finally:
            server.stop()
            await server.close_all_connections()
            while Client.made:
                Client.made.pop().end.close()

    def served(test: Callable[..., Any], **given: Any) -> None:
        async def main() -> None:
            async with made(**given) as (server, port):
                await test(server, port)

        run(main())

    return served


async def until(true: Callable[[], bool]) -> None:
    """Wait for a state."""
    async with asyncio.timeout(LIMIT_S):
        while not true():
            await asyncio.sleep(0.01)


def test_one_too_many_is_refused_and_counted(serving) -> None:
    counted = logs.REFUSED.labels("connection")._value
    before = counted.get()

    async def test(server: Any, port: int) -> None:
        at_work = [Client(port).send(REQUEST) for _ in range(3)]
        await until(lambda: server.connections == 3)
        assert await Client(port).answer() == ""
        assert counted.get() == before + 1
        Slow.go.set()
        assert all(["200 OK" in await each.answer() for each in at_work])
        at_work[0].end.close()
        await until(lambda: server.connections == 2)
        assert "200 OK" in await Client(port).send(REQUEST).answer(), "there is room again"

    serving(test, most_connections=3)


def test_a_request_that_does_not_arrive_is_given_up(serving, monkeypatch) -> None:
    monkeypatch.setattr(connections, "WAIT_S", 0.2)

    async def test(server: Any, port: int) -> None:
        slow = [Client(port), Client(port).send("GET / HTTP/1.1\r\nHost: ")]
        assert [await each.answer() for each in slow] == ["", ""]
        await until(lambda: server.connections == 0)

    serving(test)


def test_where_a_request_comes_from_is_believed_of_a_known_proxy_only(serving) -> None:
    said = REQUEST.replace(
        "\r\n\r\n",
        "\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https"
        "\r\nX-Real-Ip: 198.51.100.1\r\nX-Scheme: http\r\n\r\n",
    )

    async def believed(server: Any, port: int) -> None:
        Slow.go.set()
        assert (await Client(port).send(said).answer()).endswith("192.0.2.7 https")

    async def not_believed(server: Any, port: int) -> None:
        Slow.go.set()
        assert (await Client(port).send(said).answer()).endswith("127.0.0.1 http")

    serving(believed, proxies=["127.0.0.1"])
    serving(not_believed)

    async def with_six(server: Any, port: int) -> None:
        Slow.go.set()
        assert (await Client(port, "::1").send(said).answer()).endswith("192.0.2.7 https")

    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return  # a machine without IPv6
    serving(with_six, host="::1", proxies=["::1"])


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_the_limit_of_files_is_raised() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, before[1]), before[1]))
        most = connections.raise_file_limit()
        assert most == min(before[1], 1 << 20) or before[1] == resource.RLIM_INFINITY
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == before[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
