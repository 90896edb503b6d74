"""Visitors under JupyterHub, asked of the Hub for page, API and connection; nothing else needs jupyterhub."""

import json
import os
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import tornado.ioloop
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyterhub import __version__
from jupyterhub.singleuser import extension
from tornado.httpclient import AsyncHTTPClient
from tornado.log import app_log

from gpuplan.serve.logs import LOG
from gpuplan.serve.pages import Answering
from gpuplan.serve.sessions import Kernels, now

SIGN_IN = "sign-in"
ACTIVITY_S = 300
"""Time between two reports of a single-user server to the Hub. [s]"""

HubAuthorizer = extension.JupyterHubAuthorizer
app_log.addFilter(lambda record: record.module != "_xsrf_utils")  # it writes the ids of sign-ins into the log


class HubIdentity(extension.JupyterHubIdentityProvider):  # type: ignore[misc]
    """Users of a Hub; each of their browsers has sessions of its own."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        hub = self.hub_auth
        hub.login_url = f"{hub.base_url}{SIGN_IN}?{hub.login_url.partition('?')[2]}"
        self.parent.tornado_settings["headers"]["X-JupyterHub-Version"] = __version__  # the Hub looks for it
        self._activity_url = os.environ.get("JUPYTERHUB_ACTIVITY_URL")
        self._reported = 0.0
        if self._activity_url:  # one server for each user, which the Hub ends when it is idle
            interval_s = float(os.environ.get("JUPYTERHUB_ACTIVITY_INTERVAL") or ACTIVITY_S)
            tornado.ioloop.PeriodicCallback(self._report, 1000 * interval_s).start()

    def owner_of(self, handler: Any) -> str:
        """Return the owner of the session requested: the user, in the browser that signed in."""
        user = handler.current_user
        return json.dumps([user.username, self.hub_auth.get_session_id(handler)]) if user else ""

    def address_of(self, handler: Any) -> str:
        """Return the user, all of whose browsers share; empty on a server of one user."""
        user = handler.current_user
        return str(user.username) if user and not self._activity_url else ""

    def is_new(self, _handler: Any) -> bool:
        """Return False: the Hub knows each browser."""
        return False

    def get_handlers(self) -> list[Any]:
        """Return the pages for signing in, and for returning from the Hub; signing out is the Hub's."""
        back = ("/oauth_callback", CallbackHandler, {"hub_auth": self.hub_auth})
        return [(f"/{SIGN_IN}", SignInHandler), back]

    async def _report(self) -> None:
        """Tell the Hub when a page was last heard of; an open page is in use."""
        kernels = cast(Kernels, self.parent.kernel_manager)
        heard = max((now() if page.lines else page.heard for page in kernels.sessions.values()), default=0.0)
        if heard <= self._reported:
            return
        at = (datetime.now(UTC) - timedelta(seconds=now() - heard)).isoformat()
        name = os.environ.get("JUPYTERHUB_SERVER_NAME", "")
        try:
            await AsyncHTTPClient().fetch(
                str(self._activity_url),
                method="POST",
                headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
                body=json.dumps({"servers": {name: {"last_activity": at}}, "last_activity": at}),
            )
            self._reported = heard
        except Exception as error:
            LOG.warning("The Hub did not take the report of the last activity: %r", error)


class Secured(Answering):
    """Sends the headers that pages of Jupyter send, too."""

    def set_default_headers(self) -> None:
        """Set the headers."""
        for name, value in self.settings["headers"].items():
            self.set_header(name, value)


class CallbackHandler(Secured, extension.JupyterHubOAuthCallbackHandler):  # type: ignore[misc]
    """Address to which the Hub sends a user who has signed in."""


class SignInHandler(Secured):
    """Sends a visitor to the Hub, by a page that keeps the design of the address for when they are back.

    Browsers carry a fragment over redirects, but not over forms, and the Hub may ask for a password in one.
    """

    @allow_unauthenticated
    def get(self) -> None:
        """Send the page; the text after the "?" is for the Hub, which made it."""
        hub = self.settings["identity_provider"].hub_auth
        self.set_header("Cache-Control", "no-store")
        page = self.settings["jinja2_env"].get_template("leaving.html")
        to = f"{hub.oauth_authorization_url}?{self.request.query}"
        self.finish(page.render(to=to, base_url=self.settings["base_url"]))
