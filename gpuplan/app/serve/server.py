"""Serve the workbook as a web page: Voila in this process, for one person or for a team.

What it adds to Voila, and why:

* One session for each open page, and only that: a closed page frees its own, one that vanished soon after, a dead one is
  never restarted empty behind the page's back. A session belongs to the browser that opened it.
* No visitor can stop the others: connections, messages, pages and wrong tokens have limits.
* Nothing leaves the machine: own template without CDN links, and a Content-Security-Policy that allows no
  inline script, no ``eval`` and no other host.
* The server is the same wherever it is started: it reads no Jupyter or IPython settings of the user and no
  ``voila.json`` of the folder, runs kernels with its own interpreter in an empty folder, and keeps its files
  in one temporary folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gettext
import hashlib
import ipaddress
import logging
import os
import secrets
import shutil
import signal
import site
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import jinja2
import tornado.ioloop
import tornado.netutil
import tornado.web
from jupyter_core.paths import jupyter_path
from jupyter_server import DEFAULT_TEMPLATE_PATH_LIST
from jupyter_server.auth.logout import LogoutHandler
from jupyter_server.services.kernels.handlers import KernelHandler
from jupyter_server.utils import url_path_join
from traitlets.config import Config
from voila.app import Voila
from voila.request_info_handler import RequestInfoSocketHandler
from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler
from voila.static_file_handler import AllowListFileHandler, TemplateStaticFileHandler
from voila.tornado.handler import TornadoVoilaHandler
from voila.tornado.kernel_websocket_handler import VoilaKernelWebsocketHandler

from gpuplan.app.forking import FORKING, Kernel, Nursery
from gpuplan.app.serve.channels import MOST_MESSAGE, PING_MS, ChannelsHandler
from gpuplan.app.serve.connections import HttpServer, raise_file_limit
from gpuplan.app.serve.identity import TokenIdentity
from gpuplan.app.serve.logs import LOG, LineHandler, log_output, start_log
from gpuplan.app.serve.metrics import METRICS
from gpuplan.app.serve.pages import (
    Answering,
    MetricsHandler,
    ModelHandler,
    PageHandler,
    SessionHandler,
    ShutdownHandler,
    answering,
    log_request,
)
from gpuplan.app.serve.sessions import Kernels, NativeKernelSpecs, room

HERE = Path(__file__).resolve().parents[1]
TEMPLATES = HERE / "templates"
"""Goes to ``JUPYTER_PATH``: Voila finds ``voila/templates/gpuplan`` in it, in a wheel and in a checkout."""

HEALTH = "voila/templates/gpuplan/static/health.txt"
"""Path of the health check, below the base URL: needs no token and takes no kernel."""

EXTENSIONS = ["@voila-dashboards/widgets-manager8", "@jupyter-widgets/jupyterlab-manager", "anywidget"]

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' blob:",  # anywidget imports its modules as blobs
        "style-src 'self' 'unsafe-inline'",  # JupyterLab and Vega set styles on elements
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    ]
)

REFERRER_POLICY = "same-origin"
"""Tells other hosts nothing. ``no-referrer`` would make browsers send forms and beacons as ``Origin: null``,
which the server has to refuse: signing in, and in some browsers freeing a kernel, would fail."""

LONGEST_HOME = 38
"""A longer folder leaves no room for the names of the sockets in it: a system may take 103 bytes, of which they need 65."""

STARTED = "The workbook could not be opened. Reload the page; if it happens again, tell your administrator."
HERE_PACKAGE = "gpuplan.app.serve"
HUB_URL = "JUPYTERHUB_SERVICE_URL"
"""Variable in which a Hub says where its service listens."""
HOME, LOCK = "gpuplan-", "lock"
SWEEP_MS = 5_000
"""Time between two looks for sessions whose pages are gone. [ms]"""
MOST_CONNECTIONS = 1_000
RESERVED_FILES = 100
"""Descriptors kept for files, and for what Python needs itself."""

_KERNEL = r"(?P<kernel_id>\w+-\w+-\w+-\w+-\w+)"


def find_notebook() -> Path:
    """The app's notebook: beside this file in a wheel, in ``notebooks/`` in a checkout.

    Returns
    -------
    Path
        The notebook.

    Raises
    ------
    FileNotFoundError
        If it is in neither place.
    """
    places = [HERE / "workbook.ipynb", HERE.parents[1] / "notebooks" / "workbook.ipynb"]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(f"workbook.ipynb is neither at {places[0]} nor at {places[1]}")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host name or address.

    Parameters
    ----------
    host : str
        Name or address to listen on.

    Returns
    -------
    bool
        True for ``localhost`` and loopback addresses; False for everything else, also for the empty name.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Options:
    """How the workbook is served."""

    scenario: Path | None = None
    """Scenario that every new page opens with; reaches the kernels as ``GPUPLAN_SCENARIO``."""
    catalog: Path | None = None
    """Folder with the user's own catalog rows; reaches the kernels as ``GPUPLAN_CATALOG``."""
    customer: bool = False
    """Whether every new page opens in the customer view; reaches the kernels as ``GPUPLAN_VIEW``."""
    host: str = "localhost"
    """Name or address to listen on. Beyond this machine a token is required."""
    port: int = 8866
    """Port to listen on; 0 takes a free one."""
    token: str | None = None
    """Secret to sign in with. Made up if the host is not this machine and none is given."""
    open_browser: bool = False
    notebook: Path | None = None
    """Notebook to serve instead of the workbook."""
    base_url: str = "/"
    """Path in front of every address, if a proxy passes one."""
    proxies: Sequence[str] = ()
    """Addresses of proxies that are believed where a request comes from, and whether it came over TLS."""
    sessions: int = 0
    """Pages that may be open at once; 0 for as many as there is memory for."""
    idle_s: float = 1800.0
    """Time for which the session of a page that fell silent is kept. [s]"""
    vanished_s: float = 45.0
    """Time for which the session of a page that went away without a word is kept. [s]"""
    pool_size: int = 1
    """Kernels kept warm for the next pages, about 50 MB each."""
    others: Sequence[str] = ()
    """Paths on this host where other servers like this one answer: a page whose server is gone goes on there."""
    metrics: bool = False
    """Whether ``metrics`` below the base address answers, to those who are signed in."""
    json_log: bool = False
    """Whether each line of the log is a JSON object."""
    verbose: bool = False
    """Whether to log requests and sessions."""
    sockets: Sequence[socket.socket] = ()
    """What listens already, if anything does."""


class NotFound(Answering):
    """An address that is none."""

    async def prepare(self) -> None:
        """Say so."""
        raise tornado.web.HTTPError(404)


class Server(Voila):  # type: ignore[misc]
    """Voila with the handlers above, on sockets that are already bound."""

    options: Options
    sockets: list[socket.socket]
    most_connections: int
    lines: LineHandler
    url: str
    said: str
    """What is printed when the server runs."""
    nursery: Nursery | None = None
    output: int | None = None
    """Where sessions print to."""

    @property
    def data_dir(self) -> str:
        """Folder with Voila's own themes; Voila would take the first that exists, which is ours."""
        return next(
            (path for path in jupyter_path("voila") if Path(path, "themes").is_dir()), super().data_dir
        )

    def load_config_file(self, *args: Any, **kwargs: Any) -> None:
        """Read no ``voila.json``: neither the folder's nor the user's."""

    def init_settings(self) -> dict[str, Any]:
        """Voila's settings with ours among them from the beginning: what is compressed is settled then."""
        return {**super().init_settings(), **self.tornado_settings}

    def init_handlers(self) -> list[Any]:
        """Voila's handlers with ours in their place, without those that tell a kernel about the request, log out or give files."""
        ours = {
            TornadoVoilaHandler: PageHandler,
            VoilaShutdownKernelHandler: ShutdownHandler,
            VoilaKernelWebsocketHandler: ChannelsHandler,
            KernelHandler: ModelHandler,
        }
        unused = (RequestInfoSocketHandler, LogoutHandler, AllowListFileHandler)
        rules: list[tuple[Any, ...]] = [rule for rule in super().init_handlers() if rule[1] not in unused]
        rules = [(rule[0], answering(ours.get(rule[1], rule[1])), *rule[2:]) for rule in rules]
        for index, rule in enumerate(rules):
            if not rule[0].startswith(self.server_url):  # signing in, which Voila leaves before the prefix
                rules[index] = (url_path_join(self.server_url, rule[0]), *rule[1:])
            if issubclass(rule[1], TemplateStaticFileHandler):
                # it stumbles over what is not <template>/static/<file>
                path = url_path_join(self.server_url, r"/voila/templates/([\w-]+/static/.+)")
                rules[index] = (path, *rule[1:])
        added: list[tuple[str, Any]] = [
            (url_path_join(self.server_url, "/gpuplan/session/" + _KERNEL), SessionHandler)
        ]
        if self.options.metrics:
            added.append((url_path_join(self.server_url, "/metrics"), MetricsHandler))
        return [*added, *rules]

    def listen(self) -> None:
        """Serve until Ctrl+C or SIGTERM, then end every session."""
        self.ioloop = tornado.ioloop.IOLoop.current()
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._handle_signal_stop) for number in numbers}
        server = HttpServer(self.app, proxies=self.options.proxies, most_connections=self.most_connections)
        self.app.settings["gpuplan_http"] = server
        server.add_sockets(self.sockets)
        self._sweeper = tornado.ioloop.PeriodicCallback(lambda: self._look_around(server), SWEEP_MS)
        self._sweeper.start()
        print(self.said, flush=True)
        if self.options.open_browser:
            threading.Thread(target=webbrowser.open, args=(self.url, 2), daemon=True).start()
        try:
            self.ioloop.start()
        finally:
            for number in numbers:
                signal.signal(number, signal.SIG_IGN)
            self._sweeper.stop()
            server.stop()
            self.stop()
            for number, handler in before.items():
                signal.signal(number, handler)

    async def _look_around(self, server: HttpServer) -> None:
        """End sessions whose pages are gone, and write what was only counted."""
        self.lines.write_counts()
        server.cut_stuck()
        METRICS.refused("connection", server.take_refused())
        try:
            await self.kernel_manager.sweep()
        except Exception:
            LOG.exception("Looking for sessions whose pages are gone failed.")

    def stop(self) -> None:
        """End every session, also those still starting."""
        for logger in (self.log, logging.getLogger("asyncio"), logging.getLogger("tornado")):
            logger.setLevel(logging.CRITICAL)  # what was under way ends with errors that mean nothing
        try:
            self.ioloop.run_sync(self._end, timeout=10)
        except Exception as error:
            LOG.error("Not every session ended cleanly: %r", error)

    async def _end(self) -> None:
        await self.kernel_manager.end()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2)


def _settings(*, loopback: bool) -> dict[str, Any]:
    """Tornado's settings: headers, and which host names a browser may use."""
    folder = TEMPLATES / "voila" / "templates" / "gpuplan"
    pages = jinja2.Environment(
        loader=jinja2.FileSystemLoader([str(folder), *DEFAULT_TEMPLATE_PATH_LIST]),
        extensions=["jinja2.ext.i18n"],
        autoescape=True,
    )
    pages.install_gettext_translations(gettext.NullTranslations(), newstyle=False)  # type: ignore[attr-defined]
    return {
        "headers": {
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": REFERRER_POLICY,
        },
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


def _config(options: Options, *, home: Path, hub: bool, sessions: int) -> Config:
    c = Config()
    c.Voila.notebook_path = str(options.notebook)
    c.Voila.base_url = options.base_url
    c.Voila.port = options.port
    c.Voila.open_browser = False
    c.Voila.connection_dir_root = str(home)
    c.Voila.log_level = logging.INFO if options.verbose else logging.ERROR
    if hub:
        c.Voila.auto_token = True  # else Voila would set a token, which the Hub's provider has of its own
        c.Voila.identity_provider_class = f"{HERE_PACKAGE}.hub.HubIdentity"
        c.Voila.authorizer_class = f"{HERE_PACKAGE}.hub.HubAuthorizer"
    else:
        c.Voila.token = options.token
        c.Voila.identity_provider_class = f"{TokenIdentity.__module__}.{TokenIdentity.__name__}"
    if options.token:  # with the same token, a login outlives the server
        c.Voila.cookie_secret = hashlib.sha256(b"gpuplan " + options.token.encode()).digest()
    c.Voila.tornado_settings = _settings(loopback=not (options.token or hub))
    c.VoilaConfiguration.template = "gpuplan"
    c.VoilaConfiguration.allow_template_override = "NO"
    c.VoilaConfiguration.allow_theme_override = "NO"  # the page does it: see static/gpuplan.js
    c.VoilaConfiguration.page_config_hook = lambda page, **_: {**page, "gpuplanOthers": options.others}
    c.VoilaConfiguration.preheat_kernel = True
    c.VoilaConfiguration.default_pool_size = options.pool_size
    c.VoilaConfiguration.file_allowlist = []
    c.VoilaConfiguration.extension_allowlist = EXTENSIONS
    c.VoilaConfiguration.show_tracebacks = False
    c.VoilaConfiguration.kernel_spec_manager_class = NativeKernelSpecs
    c.VoilaConfiguration.multi_kernel_manager_class = Kernels
    c.VoilaExecutor.timeout = 120
    c.VoilaExecutor.startup_timeout = 120
    c.VoilaExecutor.cell_error_instruction = STARTED
    c.VoilaExecutor.cell_timeout_instruction = STARTED
    c.Kernels.work_dir = str(home / "work")
    c.Kernels.most_sessions = sessions
    c.Kernels.idle_s, c.Kernels.vanished_s = options.idle_s, options.vanished_s
    c.Kernels.cull_idle_timeout = 0  # see Kernels.sweep
    c.Kernels.kernel_manager_class = f"{Kernel.__module__}.{Kernel.__name__}"
    c.Kernels.allow_tracebacks = False
    c.Kernels.transport_encryption = "auto"  # other users of the machine cannot listen in
    c.KernelManager.autorestart = False
    if sys.platform != "win32" and len(os.fsencode(home)) <= LONGEST_HOME:
        c.KernelManager.transport = (
            "ipc"  # others may take a port between the choice of it and the start of the kernel
        )
    c.ZMQChannelsWebsocketConnection.iopub_data_rate_limit = 0  # charts bring a megabyte of JavaScript
    c.ZMQChannelsWebsocketConnection.iopub_msg_rate_limit = 0
    return c


def _environment(home: Path, options: Options) -> dict[str, str | None]:
    """Variables of this process and of every kernel; None removes one."""
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
def _set_environment(values: dict[str, str | None]) -> Iterator[None]:
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


def _url(options: Options, token: str = "") -> str:
    name = socket.gethostname() if options.host in ("", "0.0.0.0", "::") else options.host
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{options.port}{options.base_url}" + (f"?token={quote(token)}" if token else "")


def _made_home() -> tuple[Path, Any]:
    """A new folder for all that the server writes, and what locks it; folders of servers that were killed are removed."""
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
    """Lock a file for as long as it is open here; whether that could be done."""
    try:
        import fcntl
    except ImportError:  # Windows removes no folder that is in use, so it needs no lock
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class Refused(Exception):
    """The server cannot start; says why and what to do."""


def _bound(options: Options) -> list[socket.socket]:
    host, port = options.host, options.port
    if not 0 <= port <= 65535:
        raise Refused(f"{port} is not a port. Choose one from 1 to 65535 with --port.")
    try:
        return tornado.netutil.bind_sockets(port, host or None, backlog=1024)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            why = f"Port {port} is in use. Choose another with --port, or stop the other program."
        elif error.errno == errno.EACCES:
            why = f"Port {port} may not be opened by this user. Choose another with --port."
        else:
            why = f"Cannot listen on {host}, port {port}: {error.strerror or error}"
        raise Refused(why) from None


def _settled(options: Options) -> Options:
    """The options with what is not given filled in; under a Hub, it says where to listen."""
    try:
        notebook = (options.notebook or find_notebook()).resolve(strict=True)
    except FileNotFoundError as error:
        raise Refused(f"The notebook is missing: {error}") from None
    for what, path in (("Scenario", options.scenario), ("Catalog", options.catalog)):
        if path is not None and not path.exists():
            raise Refused(f"{what} not found: {path}")
    options = replace(options, notebook=notebook)
    service = os.environ.get(HUB_URL)
    if service:
        at = urlsplit(service)
        return replace(
            options,
            host=at.hostname or "",
            port=at.port or 80,
            base_url=os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/"),
            token="",
            open_browser=False,
            proxies=options.proxies or ("127.0.0.1", "::1"),
        )
    base_url = f"/{options.base_url.strip('/')}/" if options.base_url.strip("/") else "/"
    token = options.token or ("" if is_loopback(options.host) else secrets.token_urlsafe(24))
    return replace(options, base_url=base_url, token=token)


def serve(**given: Any) -> int:
    """Serve the workbook until Ctrl+C or SIGTERM.

    Parameters
    ----------
    **given
        What `Options` says.

    Returns
    -------
    int
        Exit code: 0 after a clean stop, 2 if the server could not start.
    """
    asked = Options(**given)
    hub = bool(os.environ.get(HUB_URL))
    try:
        options = _settled(asked)
        sockets = list(options.sockets) or _bound(options)
    except Refused as why:
        print(why, file=sys.stderr)
        return 2
    options = replace(options, port=sockets[0].getsockname()[1])
    files = raise_file_limit()
    connections = min(MOST_CONNECTIONS, max(64, files // 4))
    sessions = options.sessions or room(files - connections - RESERVED_FILES)
    home, lock = _made_home()
    loop = tornado.ioloop.IOLoop(make_current=True)
    nursery, lines = None, None
    try:
        with _set_environment(_environment(home, options)):
            said, output = os.pipe()
            os.set_blocking(said, False)
            loop.add_handler(said, lambda *_: log_output(said), loop.READ)
            if FORKING:
                nursery = Nursery(home / "work", output)
            server = Server.instance(config=_config(options, home=home, hub=hub, sessions=sessions))
            server.options, server.sockets = options, sockets
            server.nursery, server.output = nursery, output
            server.most_connections = connections
            server.url = _url(options, options.token or "")
            # a token that was given is told nowhere
            shown = server.url if not asked.token else _url(options)
            server.said = f"gpuplan is running at {shown} (Ctrl+C to stop)"
            if options.token or hub:
                server.said += f"\nPages that can be open at once: {sessions} (--sessions)."
            server.initialize(argv=[])
            server.lines = lines = start_log(verbose=options.verbose, as_json=options.json_log)
            LOG.info("There is room for %d sessions and %d connections beside them.", sessions, connections)
            server.start()
    finally:
        Server.clear_instance()
        if nursery is not None:
            nursery.close()
        loop.close(all_fds=True)
        with contextlib.suppress(OSError):
            os.close(output)
        for bound in sockets:
            bound.close()
        shutil.rmtree(home, ignore_errors=True)
        lock.close()
        if lines is not None:
            lines.close()
    return 0
