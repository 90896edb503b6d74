"""Options of a server: the given ones, those that follow from them, and the sockets it listens on."""

import errno
import ipaddress
import os
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, urlsplit

import tornado.netutil

from gpuplan.wording import said

HERE = Path(__file__).resolve().parent
HUB_URL = "JUPYTERHUB_SERVICE_URL"
"""Variable in which a Hub says where its service listens."""
NOT_LISTENING = {errno.EADDRINUSE: "serve.port in use", errno.EACCES: "serve.port not permitted"}
"""Error of the system -> why the server cannot listen, where that is particular."""


@dataclass(frozen=True)
class Options:
    """Options for serving the workbook; ``gpuplan app --help`` describes most of them."""

    scenario: Path | None = None
    catalog: Path | None = None
    customer: bool = False
    host: str = "localhost"
    port: int = 8866
    """0 takes a free one."""
    token: str | None = None
    open_browser: bool = False
    notebook: Path | None = None
    base_url: str = "/"
    proxies: Sequence[str] = ()
    sessions: int = 0
    """0 for as many as there is memory for."""
    idle_s: float = 1800.0
    vanished_s: float = 45.0
    """Time for which the session of a page that went away without a word is kept. [s]"""
    pool_size: int = 1
    """Kernels kept warm for the next pages, about 50 MB each."""
    others: Sequence[str] = ()
    metrics: bool = False
    json_log: bool = False
    verbose: bool = False
    sockets: Sequence[socket.socket] = ()


class Refused(Exception):
    """The server cannot start; the message gives the reason and the remedy."""


def settled(options: Options) -> Options:
    """Return the options with missing ones filled in; under a Hub, it says where to listen."""
    try:
        notebook = (options.notebook or find_notebook()).resolve(strict=True)
    except FileNotFoundError as error:
        raise Refused(said("serve.no notebook", error=error)) from None
    for missing, path in (("serve.no scenario", options.scenario), ("serve.no catalog", options.catalog)):
        if path is not None and not path.exists():
            raise Refused(said(missing, path=path))
    options = replace(options, notebook=notebook)
    service = os.environ.get(HUB_URL)
    if service:
        at = urlsplit(service)
        prefix = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/")
        options = replace(options, host=at.hostname or "", port=at.port or 80, base_url=prefix)
        proxies = options.proxies or ("127.0.0.1", "::1")
        return replace(options, token="", open_browser=False, proxies=proxies)
    base_url = f"/{options.base_url.strip('/')}/" if options.base_url.strip("/") else "/"
    token = options.token or ("" if is_loopback(options.host) else secrets.token_urlsafe(24))
    return replace(options, base_url=base_url, token=token)


def listening(options: Options) -> list[socket.socket]:
    """Return sockets that listen at the address in the options."""
    host, port = options.host, options.port
    if not 0 <= port <= 65535:
        raise Refused(said("serve.no port", port=port))
    try:
        return tornado.netutil.bind_sockets(port, host or None, backlog=1024)
    except OSError as error:
        key = NOT_LISTENING.get(error.errno or 0, "serve.cannot listen")
        raise Refused(said(key, host=host, port=port, why=error.strerror or error)) from None


def url_of(options: Options, token: str = "") -> str:
    """Return the address of the server, with the token, if given, to sign in."""
    name = socket.gethostname() if options.host in ("", "0.0.0.0", "::") else options.host
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{options.port}{options.base_url}" + (f"?token={quote(token)}" if token else "")


def find_notebook() -> Path:
    """Return the app's notebook: beside this package in a wheel, in ``notebooks/`` in a checkout."""
    places = [HERE / "workbook.ipynb", HERE.parents[1] / "notebooks" / "workbook.ipynb"]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(said("serve.no workbook", first=places[0], second=places[1]))


def is_loopback(host: str) -> bool:
    """True if only this machine can reach a host name or address.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
