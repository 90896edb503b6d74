"""Identity of a visitor: a browser that has given the token, or any browser of this machine where none is required."""

import asyncio
import hmac
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import tornado.web
from jupyter_server.auth import IdentityProvider, User
from jupyter_server.auth.decorator import allow_unauthenticated
from tornado.httputil import url_concat
from voila.voila_identity_provider import VoilaLoginHandler

from gpuplan.serve.connections import network_of
from gpuplan.serve.logs import LOG, refused
from gpuplan.serve.sessions import now

SIGNED_IN_DAYS = 7
FREE_GUESSES = 5
"""Wrong tokens from one address before each next one has to wait."""
LONGEST_WAIT_S = 300.0
FORGOTTEN_S = 900.0
MOST_ADDRESSES = 10_000
ANSWER_S = 1.0
MOST_GUESSES = 20
"""Wrong tokens of one address that wait for their answer at once."""


class Guesses:
    """Wrong tokens by address, and how long one is asked to wait with the next: 1 s, 2 s, 4 s, up to five minutes."""

    def __init__(self, clock: Callable[[], float] = now) -> None:
        self._now = clock
        self._wrong: dict[str, tuple[int, float]] = {}
        """Address -> number of wrong tokens, and the time of the last one."""

    def wait_s(self, address: str) -> float:
        """Return how long a visitor from an address is asked to wait with the next token; 0 if not at all."""
        count, last = self._wrong.get(address, (0, 0.0))
        if count < FREE_GUESSES:
            return 0.0
        return max(0.0, last + min(LONGEST_WAIT_S, 2.0 ** min(count - FREE_GUESSES, 20)) - self._now())

    def wrong(self, address: str) -> int:
        """Count a wrong token; return how many there have been from this address."""
        at = self._now()
        count, last = self._wrong.pop(address, (0, at))
        count = 1 if at - last > FORGOTTEN_S else count + 1
        self._wrong[address] = (count, at)
        if len(self._wrong) > MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]
        return count


def is_visit(headers: Any) -> bool:
    """True if a browser requests a page for a visit, not for another page or ahead of one."""
    if "prefetch" in headers.get("Sec-Purpose", headers.get("Purpose", "")):
        return False
    mode, goal = headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")
    if mode is not None or goal is not None:
        framed_here = goal in ("iframe", "frame") and headers.get("Sec-Fetch-Site") == "same-origin"
        return mode == "navigate" and (goal == "document" or framed_here)
    return "text/html" in headers.get("Accept", "")


class TokenIdentity(IdentityProvider):
    """One token for a team; each browser that has given it is a visitor of its own, known by a signed cookie."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "login_handler_class": LoginHandler})
        self.guesses = Guesses()
        self.answering = Counter[str]()
        """Address -> wrong tokens that wait for their answer."""
        self.cookie_options = {"samesite": "Lax", "httponly": True, "expires_days": SIGNED_IN_DAYS}
        self.get_secure_cookie_kwargs = {"max_age_days": SIGNED_IN_DAYS}

    @property
    def auth_enabled(self) -> bool:
        """True if a token is required."""
        return bool(self.token)

    def set_login_cookie(self, handler: Any, user: User) -> None:
        """Give a browser its cookie with a page, or for a token that was entered.

        A request beside a page, as the farewell of the page before, would replace the cookie that comes with the page, and
        leave that without its session.
        """
        if is_visit(handler.request.headers) or isinstance(handler, LoginHandler):
            super().set_login_cookie(handler, user)

    def clear_login_cookie(self, handler: Any) -> None:
        """Take a cookie that is not valid away from a visit; see ``set_login_cookie``."""
        if is_visit(handler.request.headers):
            super().clear_login_cookie(handler)

    def owner_of(self, handler: Any) -> str:
        """Return the owner of the session requested: the browser."""
        return str(handler.current_user.username) if handler.current_user else ""

    def address_of(self, handler: Any) -> str:
        """Return the network of a browser; without a token all are of this machine."""
        return network_of(handler.request.remote_ip or "") if self.token else ""

    def is_new(self, handler: Any) -> bool:
        """True if a request has no cookie of a visitor."""
        return self.get_user_cookie(handler) is None

    async def knows(self, handler: Any, given: str) -> bool:
        """True if a token is right, whatever came from its address before: a team may have one address.

        A wrong one is answered late. While ``MOST_GUESSES`` of an address wait for that, no other is looked at.
        """
        address = network_of(handler.request.remote_ip or "")
        free = self.answering[address] < MOST_GUESSES
        if free and hmac.compare_digest(given.encode("utf-8", "replace"), str(self.token).encode()):
            return True
        refused("token")
        if free:
            count = self.guesses.wrong(address)
            kind = {"kind": ("token", address)}
            LOG.warning("Wrong token from %s, %d in a row.", address, count, extra=kind)
        self.answering[address] += free
        try:
            await asyncio.sleep(ANSWER_S)
        finally:  # also for one who is gone meanwhile
            self.answering[address] -= free
            self.answering += Counter()  # without addresses for which none waits
        return False

    def wait_s(self, handler: Any) -> int:
        """Return how long the address of a request has to wait with its next token. [s]"""
        return math.ceil(self.guesses.wait_s(network_of(handler.request.remote_ip or "")))

    async def get_user_token(self, handler: Any) -> User | None:
        """Return the user who gives the token with a request, in its address or a header; None if wrong or missing."""
        token = self.get_token(handler)
        if not self.token or not token:
            return None
        if not await self.knows(handler, token):
            return None
        return self.get_user_cookie(handler) or self.generate_anonymous_user(handler)  # type: ignore[return-value]


class LoginHandler(VoilaLoginHandler):  # type: ignore[misc]
    """The page on which a token is entered."""

    def _render(self, message: Any = None) -> None:
        wrong = message or ({"error": True} if self.get_query_argument("wrong", "") else None)
        super()._render(wrong)

    def _redirect_safe(self, url: str, default: str | None = None) -> None:
        super()._redirect_safe(url if url.isprintable() else self.base_url, default)

    @allow_unauthenticated
    async def post(self) -> None:
        """Take the token of the form; after several wrong ones from an address the answer asks to wait."""
        identity = self.identity_provider
        wait_s = identity.wait_s(self)
        if await identity.knows(self, self.get_argument("password", default="")):
            user = self.current_user = identity.generate_anonymous_user(self)
            identity.set_login_cookie(self, user)
            self._redirect_safe(self.get_argument("next", default=self.base_url))
            return
        self.set_status(429 if wait_s else 401)
        if wait_s:
            wait_s = max(1, identity.wait_s(self))
            self.set_header("Retry-After", str(wait_s))
        self._render({"error": True, "wait_s": wait_s})


def without_token(handler: tornado.web.RequestHandler) -> str:
    """Return the address of a request without the token in it."""
    asked = [(name, v) for name, values in handler.request.query_arguments.items() for v in values]
    kept = [(name, value.decode("utf-8", "replace")) for name, value in asked if name != "token"]
    return url_concat(handler.request.path, kept)
