"""Serve the workbook as a web page: Voila in this process, for one person or for a team.

Nothing leaves the machine: no template has CDN links, and a Content-Security-Policy allows no inline script,
``eval`` or other host. The server is the same wherever it is started: it reads no settings of Jupyter, IPython
or Voila, and keeps its files in one temporary folder. `README.md` says the rest.
"""

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import socket
import sys
import threading
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Any

import tornado.ioloop
import tornado.netutil
import tornado.web
from jupyter_core.paths import jupyter_path
from jupyter_server.auth.logout import LogoutHandler
from jupyter_server.services.kernels.handlers import KernelHandler
from jupyter_server.utils import url_path_join
from voila.app import Voila
from voila.request_info_handler import RequestInfoSocketHandler
from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler
from voila.static_file_handler import AllowListFileHandler, TemplateStaticFileHandler
from voila.tornado.handler import TornadoVoilaHandler
from voila.tornado.kernel_websocket_handler import VoilaKernelWebsocketHandler

from gpuplan.serve import pages
from gpuplan.serve.channels import ChannelsHandler
from gpuplan.serve.connections import HttpServer, raise_file_limit
from gpuplan.serve.forking import FORKING, Nursery
from gpuplan.serve.logs import LOG, LineHandler, log_output, start_log
from gpuplan.serve.options import (
    HUB_URL,
    Options,
    Refused,
    config_of,
    environment,
    listening,
    made_home,
    set_environment,
    settled,
    url_of,
)
from gpuplan.serve.sessions import room
from gpuplan.wording import said

HEALTH = "voila/templates/gpuplan/static/health.txt"
"""Path of the health check, below the base URL: needs no token and takes no kernel."""

SWEEP_MS = 5_000
"""Time between two looks for sessions whose pages are gone. [ms]"""
MOST_CONNECTIONS = 1_000
RESERVED_FILES = 100
"""Descriptors kept for files, and for Python itself."""

_KERNEL = r"(?P<kernel_id>\w+-\w+-\w+-\w+-\w+)"


class Server(Voila):  # type: ignore[misc]
    """Voila with the handlers above, on sockets that are already bound."""

    options: Options
    sockets: list[socket.socket]
    most_connections: int
    lines: LineHandler
    url: str
    greeting: str
    nursery: Nursery | None = None
    output: int | None = None

    @property
    def data_dir(self) -> str:
        """Folder with Voila's own themes; Voila would take the first that exists, which is ours."""
        here = (path for path in jupyter_path("voila") if Path(path, "themes").is_dir())
        return next(here, super().data_dir)

    def load_config_file(self, *args: Any, **kwargs: Any) -> None:
        """Read no ``voila.json``: neither the folder's nor the user's."""

    def init_settings(self) -> dict[str, Any]:
        """Return Voila's settings with ours among them from the beginning: compression is decided then."""
        return {**super().init_settings(), **self.tornado_settings}

    def init_handlers(self) -> list[Any]:
        """Voila's handlers with ours in their place, without those that tell a kernel about the request, log out or give files."""
        ours = {
            TornadoVoilaHandler: pages.PageHandler,
            VoilaShutdownKernelHandler: pages.ShutdownHandler,
            VoilaKernelWebsocketHandler: ChannelsHandler,
            KernelHandler: pages.ModelHandler,
        }
        unused = (RequestInfoSocketHandler, LogoutHandler, AllowListFileHandler)
        rules: list[tuple[Any, ...]] = [rule for rule in super().init_handlers() if rule[1] not in unused]
        rules = [(rule[0], pages.answering(ours.get(rule[1], rule[1])), *rule[2:]) for rule in rules]
        for index, rule in enumerate(rules):
            if not rule[0].startswith(self.server_url):  # signing in, which Voila leaves before the prefix
                rules[index] = (url_path_join(self.server_url, rule[0]), *rule[1:])
            if issubclass(rule[1], TemplateStaticFileHandler):
                # it fails on paths other than <template>/static/<file>
                path = url_path_join(self.server_url, r"/voila/templates/([\w-]+/static/.+)")
                rules[index] = (path, *rule[1:])
        session = url_path_join(self.server_url, "/gpuplan/session/" + _KERNEL)
        added: list[tuple[str, Any]] = [(session, pages.SessionHandler)]
        if self.options.metrics:
            added.append((url_path_join(self.server_url, "/metrics"), pages.MetricsHandler))
        return [*added, *rules]

    def listen(self) -> None:
        """Serve until Ctrl+C or SIGTERM, then end every session."""
        self.ioloop = tornado.ioloop.IOLoop.current()
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._handle_signal_stop) for number in numbers}
        server = HttpServer(self.app, proxies=self.options.proxies, most_connections=self.most_connections)
        self.app.settings["gpuplan_http"] = server
        server.add_sockets(self.sockets)
        self._sweeper = tornado.ioloop.PeriodicCallback(self._look_around, SWEEP_MS)
        self._sweeper.start()
        print(self.greeting, flush=True)
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

    async def _look_around(self) -> None:
        """End sessions whose pages are gone, and write the counts of repeated messages."""
        self.lines.write_counts()
        try:
            await self.kernel_manager.sweep()
        except Exception:
            LOG.exception("Looking for sessions whose pages are gone failed.")

    def stop(self) -> None:
        """End every session, also those still starting."""
        for logger in (self.log, logging.getLogger("asyncio"), logging.getLogger("tornado")):
            logger.setLevel(logging.CRITICAL)  # requests under way end with meaningless errors
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


def serve(**given: Any) -> int:
    """Serve the workbook, as `Options` are given, until Ctrl+C or SIGTERM; exit code 0, or 2 if the server could not start."""
    stated = Options(**given)
    hub = bool(os.environ.get(HUB_URL))
    try:
        options = settled(stated)
        sockets = list(options.sockets) or listening(options)
    except Refused as why:
        print(why, file=sys.stderr)
        return 2
    options = replace(options, port=sockets[0].getsockname()[1])
    files = raise_file_limit()
    connections = min(MOST_CONNECTIONS, max(64, files // 4))
    sessions = options.sessions or room(files - connections - RESERVED_FILES)
    home, lock = made_home()
    loop = tornado.ioloop.IOLoop(make_current=True)
    nursery, lines = None, None
    try:
        with set_environment(environment(home, options)):
            printed, output = os.pipe()
            os.set_blocking(printed, False)
            loop.add_handler(printed, lambda *_: log_output(printed), loop.READ)
            if FORKING:
                nursery = Nursery(home / "work", output)
            server = Server.instance(config=config_of(options, home=home, hub=hub, sessions=sessions))
            server.options, server.sockets = options, sockets
            server.nursery, server.output = nursery, output
            server.most_connections = connections
            server.url = url_of(options, options.token or "")
            # a given token is printed nowhere
            shown = server.url if not stated.token else url_of(options)
            server.greeting = said("serve.running", url=shown)
            if options.token or hub:
                server.greeting += f"\n{said('serve.sessions', n=sessions)}"
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
