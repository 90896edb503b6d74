"""Visitors without a browser: what one sends is said to the byte."""

from __future__ import annotations

import asyncio
import contextlib
import http.cookiejar
import json
import os
import re
import struct
import urllib.request
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import urlsplit

from waiting import LIMIT_S

T = TypeVar("T")
PROTOCOL = "v1.kernel.websocket.jupyter.org"


def message(
    kind: str = "comm_info_request",
    content: bytes = b"{}",
    *,
    channel: bytes = b"shell",
    number: str = "",
    header: bytes | None = None,
    parent: bytes = b"{}",
    metadata: bytes = b"{}",
) -> bytes:
    """A message as a page sends it."""
    said = {"msg_id": number or os.urandom(8).hex(), "msg_type": kind, "username": "", "session": "x"}
    said |= {"date": "2026-11-22T00:00:00Z", "version": "5.3"}
    parts = [header if header is not None else json.dumps(said).encode(), parent, metadata, content]
    count = 2 + len(parts)
    offsets = [8 * (count + 1), 8 * (count + 1) + len(channel)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    numbers = struct.pack(f"<{count + 1}Q", count, *offsets)
    return numbers + channel + b"".join(parts)


LINES: list[Any] = []
"""Connections that were made and not yet ended."""


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run in a thread of its own: the browser of other tests leaves a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def visit(journey: Coroutine[Any, Any, T]) -> T:
    """Run what visitors do, and end their connections."""

    async def main() -> T:
        try:
            return await journey
        finally:
            while LINES:
                line = LINES.pop()
                ended = line.close_code is not None
                line.close()
                if ended:
                    continue
                with contextlib.suppress(TimeoutError, OSError):
                    while await said(line, 5) is not None:
                        pass

    return run(main())


class Visitor:
    """Somebody with cookies of their own, who signs in and opens a page."""

    def __init__(self, server: Any, token: str = "") -> None:
        self.server = server
        self.jar = http.cookiejar.CookieJar()
        self._open = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.jar)
        ).open
        address = urlsplit(server.url)
        self.base = f"{address.scheme}://localhost:{address.port}{address.path}"
        query = f"?token={token}" if token else ""
        request = urllib.request.Request(f"{self.base}{query}", headers={"Accept": "text/html"})
        with self._open(request, timeout=LIMIT_S) as answer:
            self.page = answer.read().decode()
        found = re.search(r'"kernelId": "([^"]+)"', self.page)
        self.kernel = found[1] if found else ""

    @property
    def cookies(self) -> str:
        return "; ".join(f"{each.name}={each.value}" for each in self.jar)

    def ask(self, path: str, **given: Any) -> tuple[int, str, Any]:
        """Status, body and headers of what it asks for."""
        return self.server.ask(path, host="localhost", Cookie=self.cookies, **given)

    async def connect(self, kernel: str = "", protocols: Sequence[str] | None = (PROTOCOL,)) -> Any:
        """A connection to a session, its own if none is named."""
        from tornado.httpclient import HTTPRequest
        from tornado.websocket import websocket_connect

        line = self.base.replace("http", "ws", 1)
        address = f"{line}api/kernels/{kernel or self.kernel}/channels?session_id={os.urandom(4).hex()}"
        request = HTTPRequest(address, headers={"Cookie": self.cookies})
        line = await websocket_connect(request, subprotocols=list(protocols) if protocols else None)
        LINES.append(line)
        return line


async def said(line: Any, seconds: float = LIMIT_S) -> Any:
    """What comes over a connection next; None if it ends."""
    return await asyncio.wait_for(line.read_message(), seconds)
