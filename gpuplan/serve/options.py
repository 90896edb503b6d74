"""Options of a server: the given ones, those that follow from them, its sockets, its folder and variables, and what they mean for Voila."""

import contextlib
import errno
import gettext
import hashlib
import ipaddress
import logging
import os
import secrets
import shutil
import site
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import jinja2
import tornado.netutil
import tornado.web
from jupyter_server import DEFAULT_TEMPLATE_PATH_LIST
from traitlets.config import Config

from gpuplan.facts import own_specs
from gpuplan.serve.channels import MOST_MESSAGE, PING_MS
from gpuplan.serve.pages import Answering, log_request
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


TEMPLATES = HERE / "templates"
"""Goes to ``JUPYTER_PATH``: Voila finds ``voila/templates/gpuplan`` in it, in a wheel and in a checkout."""

HOME, LOCK = "gpuplan-", "lock"


def made_home() -> tuple[Path, Any]:
    """Return a new folder for all that the server writes, and its lock; folders of killed servers are removed."""
    above = Path(tempfile.gettempdir())
    for old in above.glob(HOME + "*"):
        with contextlib.suppress(OSError), (old / LOCK).open("r+b") as lock:
            if not old.is_symlink() and _locked(lock):
                shutil.rmtree(old, ignore_errors=True)
    home = Path(tempfile.mkdtemp(prefix=HOME))
    lock = (home / f"{LOCK}-new").open("w+b")
    _locked(lock)
    with contextlib.suppress(OSError):  # Windows renames no open file
        (home / f"{LOCK}-new").rename(home / LOCK)  # nobody sees it before it is locked
    for name in ("config", "data", "runtime", "ipython", "work"):
        (home / name).mkdir()
    return home, lock


def _locked(file: Any) -> bool:
    """Lock a file for as long as it is open here; return whether that succeeded."""
    try:
        import fcntl
    except ImportError:  # Windows removes no folder that is in use, so it needs no lock
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def environment(home: Path, options: Options) -> dict[str, str | None]:
    """Return variables of this process and of every kernel; None removes one."""
    package_parent = str(HERE.parents[1])
    installed = {*site.getsitepackages(), site.getusersitepackages()}
    paths = [] if package_parent in installed else [package_parent]
    return {
        "GPUPLAN_SCENARIO": str(options.scenario.resolve()) if options.scenario else None,
        "GPUPLAN_CATALOG": str(options.catalog.resolve()) if options.catalog else None,
        "GPUPLAN_VIEW": "customer" if options.customer else None,
        "JUPYTER_PATH": os.pathsep.join([str(TEMPLATES), *filter(None, [os.environ.get("JUPYTER_PATH")])]),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_CONFIG_PATH": None,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONSTARTUP": None,
        # The kernel imports the same gpuplan as the server, also from a checkout that is not installed.
        "PYTHONPATH": os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])]) or None,
    }


@contextlib.contextmanager
def set_environment(values: dict[str, str | None]) -> Iterator[None]:
    """Set variables of this process for a while; None removes one."""
    before = {name: os.environ.get(name) for name in values}
    _update_environment(values)
    try:
        yield
    finally:
        _update_environment(before)


def _update_environment(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


LONGEST_HOME = 38
"""A longer folder leaves no room for the names of the sockets in it: a system may take 103 bytes, of which they need 65."""


class NotFound(Answering):
    """An unknown address."""

    async def prepare(self) -> None:
        """Answer that the address is unknown."""
        raise tornado.web.HTTPError(404)


def settings_of(*, loopback: bool) -> dict[str, Any]:
    """Tornado's settings: headers, and which host names a browser may use."""
    folder = TEMPLATES / "voila" / "templates" / "gpuplan"
    loader = jinja2.FileSystemLoader([str(folder), *DEFAULT_TEMPLATE_PATH_LIST])
    pages = jinja2.Environment(loader=loader, extensions=["jinja2.ext.i18n"], autoescape=True)
    pages.install_gettext_translations(gettext.NullTranslations(), newstyle=False)  # type: ignore[attr-defined]
    same = own_specs("gpuplan.serve", "voila")
    return {
        "headers": {"Content-Security-Policy": "; ".join(same["policy"])} | same["headers"],
        # Without signing in only this machine's names are served: no web page can point its own name here.
        "allow_remote_access": not loopback,
        "local_hostnames": ["localhost"],
        "compress_response": not loopback,
        "ws_ping_interval": PING_MS,
        "ws_ping_timeout": PING_MS,  # tornado wants no more; see ChannelsHandler.send_ping
        "websocket_max_message_size": MOST_MESSAGE,
        "log_function": log_request,
        "default_handler_class": NotFound,
        "jinja2_env": pages,
    }


def config_of(options: Options, *, home: Path, hub: bool, sessions: int) -> Config:
    """Return the configuration of Voila, of its kernels and of who may visit."""
    c = Config(own_specs("gpuplan.serve", "voila")["config"])
    c.Voila.notebook_path = str(options.notebook)
    c.Voila.base_url = options.base_url
    c.Voila.port = options.port
    c.Voila.connection_dir_root = str(home)
    c.Voila.log_level = logging.INFO if options.verbose else logging.ERROR
    if hub:
        c.Voila.auto_token = True  # else Voila would set a token, which the Hub's provider has of its own
        c.Voila.identity_provider_class = "gpuplan.serve.hub.HubIdentity"
        c.Voila.authorizer_class = "gpuplan.serve.hub.HubAuthorizer"
    else:
        c.Voila.token = options.token
        c.Voila.identity_provider_class = "gpuplan.serve.identity.TokenIdentity"
    if options.token:  # with the same token, a login outlives the server
        c.Voila.cookie_secret = hashlib.sha256(b"gpuplan " + options.token.encode()).digest()
    c.Voila.tornado_settings = settings_of(loopback=not (options.token or hub))
    c.VoilaConfiguration.page_config_hook = lambda page, **_: {**page, "gpuplanOthers": options.others}
    c.VoilaConfiguration.default_pool_size = options.pool_size
    c.VoilaExecutor.cell_error_instruction = said("serve.not opened")
    c.VoilaExecutor.cell_timeout_instruction = said("serve.not opened")
    c.Kernels.work_dir = str(home / "work")
    c.Kernels.most_sessions = sessions
    c.Kernels.idle_s, c.Kernels.vanished_s = options.idle_s, options.vanished_s
    if sys.platform != "win32" and len(os.fsencode(home)) <= LONGEST_HOME:
        c.KernelManager.transport = "ipc"  # a port may be taken between its choice and the kernel's start
    return c
