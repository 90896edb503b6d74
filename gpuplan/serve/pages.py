"""Pages: the server's answers, who gets them, and its error messages."""

import http.client
import time
from traceback import extract_tb
from typing import Any, cast
from urllib.parse import unquote

import tornado.web
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.services.kernels.handlers import KernelHandler
from tornado.httputil import url_concat
from tornado.iostream import StreamClosedError
from voila.handler import BaseVoilaHandler
from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler

from gpuplan.serve.identity import is_visit, without_token
from gpuplan.serve.logs import LOG, References, metrics_text, open_files, private_bytes, refused
from gpuplan.serve.sessions import Full, Kernels, Session, Visitor, free_bytes
from gpuplan.wording import said

AGAIN_S = 10
"""Time after which a page without a session tries again."""

LOG_REFERENCES = References()


def owner_of(handler: Any) -> str:
    """Return the owner of the session requested, from the identity provider."""
    return str(handler.identity_provider.owner_of(handler))


class Answering(tornado.web.RequestHandler):
    """Common parts of every answer: cookies that stay here, errors only for those concerned, no way out of a folder."""

    reference = ""

    async def prepare(self) -> None:
        """Refuse an address with a way up in it, whichever handler answers it."""
        path = unquote(self.request.path).replace("\\", "/")
        if {".", ".."} & {*path.split("/")} or "\0" in path:
            raise tornado.web.HTTPError(404)
        done = super().prepare()
        if done is not None:
            await done

    def check_host(self: Any) -> bool:
        """True if the name by which a request addresses this machine is served."""
        served = bool(super().check_host())  # type: ignore[misc]
        if not served:
            LOG.warning(
                "A request for %.80s was refused: without a token only this machine is served.",
                self.request.host,
            )
        return served

    def set_cookie(self, *args: Any, **kwargs: Any) -> None:
        """Set a cookie for this site only, and over TLS only if the page came that way."""
        kwargs.setdefault("samesite", "Lax")
        if self.request.protocol == "https":
            kwargs.setdefault("secure", True)
        super().set_cookie(*args, **kwargs)

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Log an internal error with a reference, and without the part of the address behind its path."""
        gone = isinstance(value, StreamClosedError)
        if gone or (isinstance(value, tornado.web.HTTPError) and value.status_code < 500):
            return
        kind = ("failed", typ, extract_tb(tb)[-1].lineno if tb else 0)
        self.reference = LOG_REFERENCES.of(kind)
        more = {"reference": self.reference, "kind": kind}
        LOG.error(
            "%s %s failed.", self.request.method, self.request.path, exc_info=(typ, value, tb), extra=more
        )

    def write_error(self, status_code: int, **_: Any) -> None:
        """Describe the error: to a person as a page, to a program as JSON; never with a traceback."""
        message = self._reason or http.client.responses.get(status_code, "Error")
        self.set_header("Cache-Control", "no-store")
        if isinstance(self, APIHandler):
            self.set_header("Content-Type", "application/json")
            self.finish({"message": message, "reference": self.reference})
            return
        page = self.settings["jinja2_env"].get_template("error.html")
        shown = {"status_code": status_code, "status_message": message, "reference": self.reference}
        self.finish(page.render(shown, base_url=self.settings["base_url"]))


def answering(handler: type[Any]) -> type[Any]:
    """Return a handler of Voila or Jupyter that answers like ours."""
    return handler if issubclass(handler, Answering) else type(handler.__name__, (Answering, handler), {})


class PageHandler(Answering, BaseVoilaHandler):  # type: ignore[misc]
    """The page. Every visit gets a session of its own, warm if there is one."""

    def initialize(self, notebook_path: str, **kwargs: Any) -> None:
        """Take the arguments of Voila's page handler."""
        super().initialize(**kwargs)
        self.notebook_path = notebook_path

    def get_login_url(self) -> str:
        """Return the address for signing in; a wrong token is removed."""
        url = super().get_login_url()
        if "?" in url:  # somebody else's page, which has its own way back
            return url
        extra = {"wrong": "yes"} if self.get_query_argument("token", "") else {}
        return url_concat(url, {"next": without_token(self), **extra})

    @tornado.web.authenticated
    async def get(self, path: str = "") -> None:
        """Send the page, which has no path behind the base address."""
        if path:
            raise tornado.web.HTTPError(404)
        if "token" in self.request.query_arguments:
            self.redirect(without_token(self))  # a cookie is there in its place; the fragment stays
            return
        if not is_visit(self.request.headers):
            refused("page")
            raise tornado.web.HTTPError(403, reason=said("serve.no visit"))
        manager, identity = cast(Kernels, self.kernel_manager), self.identity_provider
        visitor = Visitor(owner_of(self), identity.address_of(self), identity.is_new(self))
        _ = self.xsrf_token  # with the page, so that even one closed at once can free its session
        self.set_header("Cache-Control", "no-store")
        try:
            async for text in manager.open_session(self.notebook_path, visitor):
                self.write(text)
                await self.flush()
        except Full as full:
            self._say_full(str(full))
        except StreamClosedError:
            raise tornado.web.Finish from None  # the page has left

    def _say_full(self, why: str) -> None:
        refused("full")
        LOG.warning("A visitor was told to wait. %s", why)
        self.set_status(503)
        self.set_header("Retry-After", str(AGAIN_S))
        self.set_header("Cache-Control", "no-store")
        page = self.settings["jinja2_env"].get_template("full.html")
        self.finish(page.render(why=why, again_s=AGAIN_S, base_url=self.base_url))


class OwnSession(Answering):
    """Finds the session of a request, for its owner only."""

    def own_session(self: Any, kernel_id: str) -> Session:
        """Return the session of a kernel. Raises the same 404 for another visitor's as for an unknown one."""
        session = cast(Kernels, self.kernel_manager).session_of(kernel_id, owner_of(self))
        if session is None:
            raise tornado.web.HTTPError(404)
        return session


class SessionHandler(OwnSession, APIHandler):  # type: ignore[misc]
    """Says whether a page's session is still the process it started with; gives the page its XSRF cookie.

    Kernels are never restarted (``autorestart`` is off), so a kernel that lives is the one the page knows.
    """

    _track_activity = False

    @tornado.web.authenticated
    async def get(self, kernel_id: str) -> None:
        """Answer whether the kernel is ``alive``, and whether it is ``busy``."""
        _ = self.xsrf_token  # again, should the browser have dropped it
        self.own_session(kernel_id)
        manager = cast(Kernels, self.kernel_manager)
        alive = await manager.is_living(kernel_id)
        if not alive:
            await manager.free(kernel_id)
        busy = alive and getattr(manager.get_kernel(kernel_id), "execution_state", "") == "busy"
        self.set_header("Cache-Control", "no-store")
        self.finish({"alive": alive, "busy": busy})


class ShutdownHandler(OwnSession, VoilaShutdownKernelHandler):  # type: ignore[misc]
    """Frees a session; a page may ask twice (``beforeunload`` and ``pagehide``)."""

    @tornado.web.authenticated
    async def post(self, kernel_id: str) -> None:
        """End the session."""
        self.own_session(kernel_id)
        await cast(Kernels, self.kernel_manager).free(kernel_id)
        self.set_status(204)
        self.finish()


class ModelHandler(OwnSession, KernelHandler):  # type: ignore[misc]
    """Answer to the request of Voila's script about its kernel before it connects."""

    SUPPORTED_METHODS = ("GET",)

    async def get(self, kernel_id: str) -> None:
        """Describe the kernel."""
        self.own_session(kernel_id)
        await super().get(kernel_id)  # type: ignore[misc]


class MetricsHandler(Answering, JupyterHandler):  # type: ignore[misc]
    """Figures for the operator of the server."""

    @tornado.web.authenticated
    async def get(self) -> None:
        """Send the figures."""
        manager, server = cast(Kernels, self.kernel_manager), self.settings["gpuplan_http"]
        open_pages = sum(bool(session.lines) for session in manager.sessions.values())
        numbers = manager.processes()
        figures: dict[str, float] = {"sessions": len(manager.sessions), "sessions_connected": open_pages}
        figures |= {"sessions_most": manager.most_sessions, "connections": server.connections}
        figures |= {"open_files": open_files(), "server_private_bytes": private_bytes(["self"])}
        figures |= {"sessions_private_bytes": private_bytes(numbers), "free_bytes": free_bytes()}
        figures |= {"time_seconds": time.time()}
        self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.finish(metrics_text(figures))


def log_request(handler: Any) -> None:
    """Log a request without the part of its address behind the path: that may be a token."""
    request, status = handler.request, handler.get_status()
    about = (request.method, request.path, status, request.remote_ip, 1000 * request.request_time())
    LOG.info("%s %s %d from %s in %.0f ms", *about)
