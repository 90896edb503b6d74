"""Serve the workbook as a web page: Voila in this process, for one person or for a team.

What it adds to Voila, and why:

* One kernel per open page, and only that: a closed page frees its kernel (Voila's own call is refused
  because the page never got an XSRF cookie), a dead one is never restarted empty behind the page's back, a
  forgotten one is culled.
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
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import jinja2
import tornado.httpserver
import tornado.ioloop
import tornado.netutil
import tornado.web
from ipykernel.kernelspec import RESOURCES
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_core.paths import jupyter_path
from jupyter_core.utils import ensure_async
from jupyter_server import DEFAULT_TEMPLATE_PATH_LIST
from jupyter_server._tz import utcnow
from jupyter_server.auth.logout import LogoutHandler
from jupyter_server.base.handlers import APIHandler
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyter_server.utils import url_path_join
from traitlets import Unicode
from traitlets.config import Config
from voila.app import Voila
from voila.request_info_handler import RequestInfoSocketHandler
from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler
from voila.static_file_handler import TemplateStaticFileHandler
from voila.tornado.handler import TornadoVoilaHandler
from voila.tornado.kernel_websocket_handler import VoilaKernelWebsocketHandler

from gpuplan.app.forking import FORKING, Kernel, Nursery
from gpuplan.app.uploading import SCRATCH

HERE = Path(__file__).resolve().parent
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

PING_MS = 30_000
"""Time between two questions whether a page is still there. [ms]"""

REFERRER_POLICY = "same-origin"
"""Tells other hosts nothing. ``no-referrer`` would make browsers send forms and beacons as ``Origin: null``,
which the server has to refuse: signing in, and in some browsers freeing a kernel, would fail."""

LONGEST_HOME = 38
"""A longer folder leaves no room for the names of the sockets in it: a system may take 103 bytes, of which they need 65."""

STARTED = "The workbook could not be opened. The server's log says why."

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


class NativeKernelSpecs(KernelSpecManager):
    """Knows one kernel, ``python3``: this interpreter, whatever kernels the machine has installed."""

    def _kernel_dirs_default(self) -> list[str]:
        return []

    def _find_spec_directory(self, kernel_name: str) -> str | None:
        return RESOURCES if kernel_name == "python3" else None


class Kernels(AsyncMappingKernelManager):
    """Kernels that know nothing of the folder they were started from, nor of other people's visits."""

    work_dir = Unicode(
        config=True, help="Empty folder in which every kernel starts: no file lying about is imported."
    )

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        self.scratch: dict[str, Path] = {}
        """Folder of each kernel for what its page sends; it goes with the kernel, however that ends."""
        self.visited: set[str] = set()  # a page has asked for it
        self.unvisited: set[str] = set()  # given to a page that has not asked for it when last looked at

    async def cull_kernel_if_idle(self, kernel_id: str) -> None:
        """End a forgotten kernel: idle and without a page for long, or given to a page that closed at once.

        Parameters
        ----------
        kernel_id : str
            Kernel to look at; Voila does not ask for warm ones.
        """
        if kernel_id in self.visited:
            await super().cull_kernel_if_idle(kernel_id)  # type: ignore[no-untyped-call]
        elif kernel_id in self.unvisited:
            await free_kernel(self, kernel_id)
        else:
            self.unvisited.add(kernel_id)

    @property
    def nursery(self) -> Nursery | None:
        """Where kernels are forked, if they are."""
        found: Nursery | None = cast(Server, self.parent).nursery
        return found

    def cwd_for_path(self, path: str, **kwargs: Any) -> str:
        """Folder of a kernel.

        Parameters
        ----------
        path : str
            Folder of the notebook; not used.
        **kwargs
            Not used.

        Returns
        -------
        str
            The empty folder.
        """
        return self.work_dir

    async def start_kernel(self, **kwargs: Any) -> str:  # type: ignore[override]
        """Start a kernel, without the address (and token) of the visit that caused it.

        Parameters
        ----------
        **kwargs
            As for ``AsyncMappingKernelManager.start_kernel``.

        Returns
        -------
        str
            Id of the kernel.
        """
        for name in ("VOILA_REQUEST_URL", "QUERY_STRING"):
            kwargs.get("env", {}).pop(name, None)
        folder = Path(tempfile.mkdtemp(prefix="session-", dir=Path(self.work_dir).parent))
        kwargs["env"] = {**(kwargs.get("env") or os.environ), SCRATCH: str(folder)}
        kernel_id = await super()._async_start_kernel(**kwargs)
        self.scratch[kernel_id] = folder
        return kernel_id

    def remove_kernel(self, kernel_id: str) -> Any:
        """Forget a kernel that has ended, and remove its files.

        Parameters
        ----------
        kernel_id : str
            Kernel that has ended.

        Returns
        -------
        KernelManager
            What managed it.
        """
        folder = self.scratch.pop(kernel_id, None)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if kernel_id in self:  # the channels of a page that left while its kernel ended
            self.stop_buffering(kernel_id)  # type: ignore[no-untyped-call]
        return super().remove_kernel(kernel_id)


class PageHandler(TornadoVoilaHandler):  # type: ignore[misc]
    """The page. Every visitor gets a warm kernel if there is one, whatever the query says."""

    async def prepare(self) -> None:
        """Send the XSRF cookie with the page, so that even a page closed at once can free its kernel."""
        await super().prepare()
        _ = self.xsrf_token

    def should_use_rendered_notebook(self, notebook_data: dict[str, Any], pool_size: int, *_: Any) -> bool:
        """Whether a warm kernel can be used.

        Parameters
        ----------
        notebook_data : dict
            What Voila knows about the notebook; empty before the first kernel is warm.
        pool_size : int
            Warm kernels.
        *_
            Template, theme and query of the request, which change nothing here.

        Returns
        -------
        bool
            True if there is one.
        """
        return pool_size > 0 and bool(notebook_data)

    async def get_generator(self, path: str | None = None) -> AsyncIterator[str]:
        """The page in pieces, as Voila makes it.

        Parameters
        ----------
        path : str, optional
            What follows the base URL; only the empty one is the page.

        Yields
        ------
        str
            HTML.
        """
        if not path:
            await self.check_pool()
        async for html in super().get_generator(path=path):
            yield html

    async def check_pool(self) -> None:
        """Drop warm kernels that died or did not start; keep the culler off the one about to be used."""
        manager = self.kernel_manager
        drop_failed(manager)
        for item in [item for item in pools(manager).get(self.notebook_path, []) if item.done()]:
            kernel_id = item.result()["kernel_id"]
            if await is_alive(manager, kernel_id):
                manager.get_kernel(kernel_id).last_activity = utcnow()
                manager.unvisited.discard(kernel_id)
            else:
                await free_kernel(manager, kernel_id)  # takes it out of the pool, too
        manager.fill_if_needed(notebook_name=self.notebook_path)


class SessionHandler(APIHandler):
    """Says whether a page's kernel is still the process it started with; gives the page its XSRF cookie.

    Kernels are never restarted (``autorestart`` is off), so a kernel that lives is the one the page knows.
    """

    _track_activity = False

    @tornado.web.authenticated
    async def get(self, kernel_id: str) -> None:
        """Answer whether the kernel is ``alive``, and whether it is ``busy``.

        Parameters
        ----------
        kernel_id : str
            Kernel of the page.
        """
        _ = self.xsrf_token  # again, should the browser have dropped it
        manager = cast(Kernels, self.kernel_manager)
        alive = await is_alive(manager, kernel_id)
        if alive:
            manager.visited.add(kernel_id)
        else:
            await free_kernel(manager, kernel_id)
        busy = alive and getattr(manager.get_kernel(kernel_id), "execution_state", "") == "busy"
        self.set_header("Cache-Control", "no-store")
        self.finish({"alive": alive, "busy": busy})


class ShutdownHandler(VoilaShutdownKernelHandler):  # type: ignore[misc]
    """Frees a kernel; a page may ask twice (``beforeunload`` and ``pagehide``)."""

    @tornado.web.authenticated
    async def post(self, kernel_id: str) -> None:
        """Shut the kernel down.

        Parameters
        ----------
        kernel_id : str
            Kernel of the page that closes.
        """
        await free_kernel(self.kernel_manager, kernel_id)
        self.set_status(204)
        self.finish()


class ChannelsHandler(VoilaKernelWebsocketHandler):  # type: ignore[misc]
    """Connects a page to its kernel; a page may be gone before the kernel has answered."""

    opened = False
    left = False

    async def pre_get(self) -> None:
        """Wait for the kernel; end quietly if nobody waits with us any more.

        Raises
        ------
        tornado.web.Finish
            If the page closed meanwhile.
        """
        await super().pre_get()
        if self.left:
            self.connection._open_sessions.pop(self.connection.session_key, None)
            raise tornado.web.Finish

    async def open(self, kernel_id: str) -> None:
        """Connect to the kernel.

        Parameters
        ----------
        kernel_id : str
            Kernel of the page.
        """
        self.opened = True
        await super().open(kernel_id)

    def send_ping(self) -> None:
        """Ask whether the page is still there; one that has not answered for three intervals is given up.

        After one interval, the limit that tornado accepts, jupyter_server would close what it has not even asked.
        """
        now, line = tornado.ioloop.IOLoop.current().time(), self.ws_connection
        if line is None or line.client_terminated or 1000 * (now - self.last_pong) > 3 * PING_MS:
            super().send_ping()
        else:
            self.ping(b"")
            self.last_ping = now

    def on_close(self) -> None:
        """Disconnect from the kernel, if it came to that; jupyter_server would trip over it, or count it twice."""
        if self.opened:
            super().on_close()
        self.left = True


def pools(manager: Kernels) -> dict[str, list[Any]]:
    """Voila's warm kernels.

    Parameters
    ----------
    manager : Kernels
        Manager, as made by Voila's factory.

    Returns
    -------
    dict
        Notebook -> futures of its warm kernels.
    """
    return getattr(manager, "_pools", {})


def drop_failed(manager: Kernels) -> None:
    """Forget warm kernels that did not start: Voila would trip over them at every shutdown.

    Parameters
    ----------
    manager : Kernels
        Manager of the kernels.
    """
    for pool in pools(manager).values():
        pool[:] = [item for item in pool if not (item.done() and (item.cancelled() or item.exception()))]


async def is_alive(manager: Kernels, kernel_id: str) -> bool:
    """Whether the kernel is known and its process runs.

    Parameters
    ----------
    manager : Kernels
        Manager of the kernel.
    kernel_id : str
        Kernel.

    Returns
    -------
    bool
        False also for an unknown kernel.
    """
    return kernel_id in manager and bool(await ensure_async(manager.get_kernel(kernel_id).is_alive()))


_leaving: set[str] = set()


async def free_kernel(manager: Kernels, kernel_id: str) -> None:
    """Shut a kernel down once, however often it is asked for.

    Parameters
    ----------
    manager : Kernels
        Manager of the kernel.
    kernel_id : str
        Kernel; an unknown one is ignored.
    """
    if kernel_id in _leaving or kernel_id not in manager:
        return
    _leaving.add(kernel_id)
    drop_failed(manager)
    try:
        await manager.shutdown_kernel(kernel_id, now=True)  # type: ignore[no-untyped-call]
    finally:
        _leaving.discard(kernel_id)
        manager.visited.discard(kernel_id)
        manager.unvisited.discard(kernel_id)


class Server(Voila):  # type: ignore[misc]
    """Voila with the handlers above, on sockets that are already bound."""

    sockets: list[socket.socket]
    url: str
    show_browser: bool
    nursery: Nursery | None = None

    @property
    def data_dir(self) -> str:
        """Folder with Voila's own themes; Voila would take the first that exists, which is ours."""
        return next(
            (path for path in jupyter_path("voila") if Path(path, "themes").is_dir()), super().data_dir
        )

    def load_config_file(self, *args: Any, **kwargs: Any) -> None:
        """Read no ``voila.json``: neither the folder's nor the user's."""

    def init_settings(self) -> dict[str, Any]:
        """Voila's settings with ours among them from the beginning: what is compressed is settled then.

        Returns
        -------
        dict
            Settings of the application.
        """
        return {**super().init_settings(), **self.tornado_settings}

    def init_handlers(self) -> list[Any]:
        """Voila's handlers with ours in their place, without those that tell a kernel about the request or log out.

        Returns
        -------
        list
            Tornado rules.
        """
        ours = {
            TornadoVoilaHandler: PageHandler,
            VoilaShutdownKernelHandler: ShutdownHandler,
            VoilaKernelWebsocketHandler: ChannelsHandler,
        }
        unused = (RequestInfoSocketHandler, LogoutHandler)  # nothing leads to the latter, and it has no page
        rules = [rule for rule in super().init_handlers() if rule[1] not in unused]
        rules = [(rule[0], ours.get(rule[1], rule[1]), *rule[2:]) for rule in rules]
        for index, rule in enumerate(rules):
            if not rule[0].startswith(self.server_url):  # signing in, which Voila leaves before the prefix
                rules[index] = (url_path_join(self.server_url, rule[0]), *rule[1:])
            if rule[1] is TemplateStaticFileHandler:  # it stumbles over what is not <template>/static/<file>
                path = url_path_join(self.server_url, r"/voila/templates/([\w-]+/static/(?!.*\.\.).+)")
                rules[index] = (path, *rule[1:])
        return [(url_path_join(self.server_url, "/gpuplan/session/" + _KERNEL), SessionHandler), *rules]

    def listen(self) -> None:
        """Serve until Ctrl+C or SIGTERM, then end every kernel."""
        self.ioloop = tornado.ioloop.IOLoop.current()
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._handle_signal_stop) for number in numbers}
        server = tornado.httpserver.HTTPServer(self.app)
        server.add_sockets(self.sockets)
        print(f"gpuplan is running at {self.url} (Ctrl+C to stop)", flush=True)
        if self.show_browser:
            threading.Thread(target=webbrowser.open, args=(self.url, 2), daemon=True).start()
        try:
            self.ioloop.start()
        finally:
            for number in numbers:
                signal.signal(number, signal.SIG_IGN)
            server.stop()
            self.stop()
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        """End every kernel, also those still starting."""
        for logger in (self.log, logging.getLogger("asyncio"), logging.getLogger("tornado")):
            logger.setLevel(logging.CRITICAL)  # what was under way ends with errors that mean nothing
        try:
            self.ioloop.run_sync(self._end, timeout=10)
        except Exception as error:
            print(f"gpuplan: not every session ended cleanly: {error!r}", file=sys.stderr)

    async def _end(self) -> None:
        starting = [item for pool in pools(self.kernel_manager).values() for item in pool if not item.done()]
        if starting:  # half a start cannot be undone; a whole one can
            await asyncio.wait(starting, timeout=5)
        await self.kernel_manager.shutdown_all(now=True)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2)


def _settings(*, loopback: bool, token: str) -> dict[str, Any]:
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
        # Without a token only this machine's names are served: no web page can point its own name here.
        "allow_remote_access": bool(token),
        "local_hostnames": ["localhost"],
        "compress_response": not loopback,
        "ws_ping_interval": PING_MS,
        "ws_ping_timeout": PING_MS,  # tornado wants no more; see ChannelsHandler.send_ping
        "websocket_max_message_size": 32 * 1024 * 1024,
        "jinja2_env": pages,
    }


def _config(
    *,
    notebook: Path,
    home: Path,
    port: int,
    token: str,
    base_url: str,
    pool_size: int,
    cull: tuple[int, int],
    verbose: bool,
) -> Config:
    c = Config()
    c.Voila.notebook_path = str(notebook)
    c.Voila.base_url = base_url
    c.Voila.port = port
    c.Voila.open_browser = False
    c.Voila.connection_dir_root = str(home)
    c.Voila.log_level = logging.INFO if verbose else logging.ERROR
    c.Voila.token = token
    c.PasswordIdentityProvider.allow_password_change = False
    if token:  # with the same token, a login outlives the server
        c.Voila.cookie_secret = hashlib.sha256(b"gpuplan " + token.encode()).digest()
    c.Voila.tornado_settings = _settings(loopback=not token, token=token)
    c.VoilaConfiguration.template = "gpuplan"
    c.VoilaConfiguration.allow_template_override = "NO"
    c.VoilaConfiguration.allow_theme_override = "NO"  # the page does it: see static/gpuplan.js
    c.VoilaConfiguration.preheat_kernel = True
    c.VoilaConfiguration.default_pool_size = pool_size
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
    c.Kernels.cull_idle_timeout, c.Kernels.cull_interval = cull
    c.Kernels.cull_connected = False
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


def _environment(
    home: Path, scenario: Path | None, catalog: Path | None, customer: bool
) -> dict[str, str | None]:
    """Variables of this process and of every kernel; None removes one."""
    package_parent = str(HERE.parents[1])
    installed = {*site.getsitepackages(), site.getusersitepackages()}
    paths = [] if package_parent in installed else [package_parent]
    return {
        "GPUPLAN_SCENARIO": str(scenario.resolve()) if scenario else None,
        "GPUPLAN_CATALOG": str(catalog.resolve()) if catalog else None,
        "GPUPLAN_VIEW": "customer" if customer else None,
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


def _url(host: str, port: int, base_url: str, token: str) -> str:
    name = socket.gethostname() if host in ("", "0.0.0.0", "::") else host
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}{base_url}" + (f"?token={quote(token)}" if token else "")


def _refuse(message: str) -> int:
    print(message, file=sys.stderr)
    return 2


def serve(
    *,
    scenario: Path | None = None,
    catalog: Path | None = None,
    customer: bool = False,
    host: str = "localhost",
    port: int = 8866,
    token: str | None = None,
    open_browser: bool = False,
    notebook: Path | None = None,
    base_url: str = "/",
    pool_size: int = 1,
    cull_idle_s: int = 1800,
    cull_interval_s: int = 60,
    verbose: bool = False,
) -> int:
    """Serve the workbook until Ctrl+C or SIGTERM.

    Parameters
    ----------
    scenario : Path, optional
        Scenario that every new page opens with; reaches the kernels as ``GPUPLAN_SCENARIO``.
    catalog : Path, optional
        Folder with the user's own catalog rows; reaches the kernels as ``GPUPLAN_CATALOG``.
    customer : bool
        Whether every new page opens in the customer view; reaches the kernels as ``GPUPLAN_VIEW``.
    host : str
        Name or address to listen on. Beyond this machine a token is required.
    port : int
        Port to listen on; 0 takes a free one.
    token : str, optional
        Secret that the address must carry once. Made up if the host is not this machine and none is given.
    open_browser : bool
        Whether to open the page in the user's browser.
    notebook : Path, optional
        Notebook to serve instead of the workbook.
    base_url : str
        Path in front of every address, if a proxy passes one.
    pool_size : int
        Kernels kept warm for the next pages, about 50 MB each.
    cull_idle_s : int
        Time without a message after which a kernel without a page ends. [s]
    cull_interval_s : int
        Time between two looks for such kernels. [s]
    verbose : bool
        Whether to log requests and kernels.

    Returns
    -------
    int
        Exit code: 0 after a clean stop, 2 if the server could not start.
    """
    try:
        notebook = (notebook or find_notebook()).resolve(strict=True)
    except FileNotFoundError as error:
        return _refuse(f"The notebook is missing: {error}")
    for what, path in (("Scenario", scenario), ("Catalog", catalog)):
        if path is not None and not path.exists():
            return _refuse(f"{what} not found: {path}")
    if not token:
        token = "" if is_loopback(host) else secrets.token_urlsafe(24)
    base_url = f"/{base_url.strip('/')}/" if base_url.strip("/") else "/"
    if not 0 <= port <= 65535:
        return _refuse(f"{port} is not a port. Choose one from 1 to 65535 with --port.")
    try:
        sockets = tornado.netutil.bind_sockets(port, host or None)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return _refuse(f"Port {port} is in use. Choose another with --port, or stop the other program.")
        if error.errno == errno.EACCES:
            return _refuse(f"Port {port} may not be opened by this user. Choose another with --port.")
        return _refuse(f"Cannot listen on {host}, port {port}: {error.strerror or error}")
    port = sockets[0].getsockname()[1]

    home = Path(tempfile.mkdtemp(prefix="gpuplan-"))
    for name in ("config", "data", "runtime", "ipython", "work"):
        (home / name).mkdir()
    logging.getLogger("tornado.access").setLevel(logging.INFO if verbose else logging.CRITICAL)
    loop = tornado.ioloop.IOLoop(make_current=True)
    nursery = None
    try:
        with _set_environment(_environment(home, scenario, catalog, customer)):
            if FORKING:
                nursery = Nursery(home / "work")
            config = _config(
                notebook=notebook,
                home=home,
                port=port,
                token=token,
                base_url=base_url,
                pool_size=pool_size,
                cull=(cull_idle_s, cull_interval_s),
                verbose=verbose,
            )
            server = Server.instance(config=config)
            server.sockets, server.nursery, server.show_browser = sockets, nursery, open_browser
            server.url = _url(host, port, base_url, token)
            server.initialize(argv=[])
            server.start()
    finally:
        Server.clear_instance()
        if nursery is not None:
            nursery.close()
        loop.close(all_fds=True)
        for bound in sockets:
            bound.close()
        shutil.rmtree(home, ignore_errors=True)
    return 0
