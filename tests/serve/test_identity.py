"""Signing in: wrong tokens are slowed by address, and the token goes no further than to the server."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from email.message import Message
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from waiting import soon

pytest.importorskip("voila")

from gpuplan.serve import identity

TOKEN = "token-of-the-team"
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Mode": "navigate"}
BROWSER |= {"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "none", "Sec-Fetch-User": "?1"}


class Clock:
    """Time that stands still until it is moved."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_each_wrong_token_makes_the_next_one_wait_longer() -> None:
    clock = Clock()
    guesses = identity.Guesses(clock)
    for number in range(1, identity.FREE_GUESSES + 1):
        assert guesses.wait_s("a") == 0
        assert guesses.wrong("a") == number
    waits = []
    for _ in range(12):
        waits.append(guesses.wait_s("a"))
        clock.now += waits[-1]
        assert guesses.wait_s("a") == 0
        guesses.wrong("a")
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    assert guesses.wait_s("b") == 0, "others do not wait"


def test_wrong_tokens_are_forgotten_in_time_and_fill_no_memory() -> None:
    clock = Clock()
    guesses = identity.Guesses(clock)
    for _ in range(6):
        guesses.wrong("a")
    clock.now += identity.FORGOTTEN_S + 1
    assert guesses.wrong("a") == 1
    for number in range(identity.MOST_ADDRESSES + 10):
        guesses.wrong(f"n{number}")
    assert len(guesses._wrong) == identity.MOST_ADDRESSES


def test_a_household_of_ipv6_is_one_address() -> None:
    same = {identity.network_of(each) for each in ("2001:db8::1", "2001:db8::2:3:4", "2001:db8:0:0:ffff::")}
    assert same == {"2001:db8::"}
    assert identity.network_of("2001:db8:0:1::1") != "2001:db8::"
    assert identity.network_of("::ffff:192.0.2.1") == identity.network_of("192.0.2.1") == "192.0.2.1"


def test_an_address_loses_its_token_and_nothing_else() -> None:
    arguments = {"theme": [b"dark"], "token": [b"secret"], "x": [b"1&2"]}
    handler = SimpleNamespace(request=SimpleNamespace(path="/gpuplan/", query_arguments=arguments))
    assert identity.without_token(handler) == "/gpuplan/?theme=dark&x=1%262"


@pytest.mark.parametrize(
    ("headers", "visit"),
    [
        (BROWSER, True),
        (BROWSER | {"Sec-Fetch-Site": "cross-site"}, True),
        ({"Accept": "text/html"}, True),
        (BROWSER | {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "same-origin"}, True),
        ({}, False),
        ({"Accept": "*/*"}, False),
        ({"Accept": "image/avif,image/webp,*/*"}, False),
        (BROWSER | {"Sec-Fetch-Dest": "image", "Sec-Fetch-Mode": "no-cors"}, False),
        (BROWSER | {"Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors"}, False),
        (BROWSER | {"Sec-Fetch-Dest": "script", "Sec-Fetch-Mode": "no-cors"}, False),
        (BROWSER | {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "cross-site"}, False),
        (BROWSER | {"Sec-Fetch-Dest": "object"}, False),
        (BROWSER | {"Sec-Purpose": "prefetch;prerender"}, False),
        (BROWSER | {"Purpose": "prefetch"}, False),
        ({"Accept": "text/html", "Sec-Fetch-Dest": "image"}, False),
    ],
)
def test_a_visit_is_told_from_a_picture(headers: dict[str, str], visit: bool) -> None:
    assert identity.is_visit(headers) is visit


# --- the real server


@pytest.fixture(scope="module")
def team(server: Callable[..., Any]) -> Any:
    return server(token=TOKEN, proxies=["127.0.0.1"], verbose=True, own_clock=True)


def cookies(headers: Message) -> dict[str, str]:
    """Name and attributes of each cookie that an answer sets."""
    return {each.partition("=")[0]: each for each in headers.get_all("Set-Cookie") or ()}


def sign_in(team: Any, token: str, **headers: str) -> tuple[int, str, Message]:
    """Enter a token into the form."""
    _, page, given = team.ask("login")
    found = re.search(r'name="_xsrf" value="([^"]+)"', page)
    assert found
    data = urlencode({"password": token, "_xsrf": found[1]}).encode()
    xsrf = cookies(given)["_xsrf"].partition(";")[0]
    return team.ask("login", data=data, Cookie=xsrf, **headers)


@pytest.mark.browser
def test_the_token_leaves_the_address_at_once(team: Any) -> None:
    status, _, headers = team.ask(f"?token={TOKEN}&theme=dark", Accept="text/html")
    assert (status, headers["Location"]) == (302, "/?theme=dark")
    (cookie,) = (each for name, each in cookies(headers).items() if name.startswith("username-"))
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/" in cookie
    assert "Secure" not in cookie
    expires = re.search(r"expires=([^;]+)", cookie)
    assert expires
    until = time.mktime(time.strptime(expires[1], "%a, %d %b %Y %H:%M:%S GMT")) - time.timezone
    assert until - time.time() == pytest.approx(86400 * identity.SIGNED_IN_DAYS, abs=120)
    status, _, headers = team.ask("?token=wrong-one&theme=dark", Accept="text/html")
    assert (status, headers["Location"]) == (302, "/login?next=%2F%3Ftheme%3Ddark&wrong=yes")
    assert "not valid" in team.ask("login?next=%2F&wrong=yes")[1]
    team.ask(f"voila/static/voila.js?token={TOKEN}")
    team.ask(f"nothing/{TOKEN[:0]}?token={TOKEN}")
    assert TOKEN not in team.text
    assert "wrong-one" not in team.text
    assert "GET / 302" in team.text


@pytest.mark.browser
def test_cookies_are_secure_behind_a_proxy_that_is_believed(server: Callable[..., Any], team: Any) -> None:
    asked = {"Accept": "text/html", "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
    found = cookies(team.ask(f"?token={TOKEN}", host="127.0.0.1", **asked)[2])
    assert found
    assert all("Secure" in each and "SameSite=Lax" in each for each in found.values())
    soon(lambda: "from 192.0.2.7" in team.text, "the log does not say from where")
    alone = server(token=TOKEN, verbose=True)
    found = cookies(alone.ask(f"?token={TOKEN}", host="127.0.0.1", **asked)[2])
    assert found
    assert not any("Secure" in each for each in found.values()), "anybody can say so"
    assert "192.0.2.7" not in alone.text


@pytest.mark.browser
def test_wrong_tokens_are_answered_slowly_and_lock_no_right_one_out(team: Any) -> None:
    """A team may have one address, and one of it a wrong link."""
    headers = {"X-Forwarded-For": "198.51.100.9"}
    for _ in range(identity.FREE_GUESSES):
        assert sign_in(team, "wrong", **headers)[0] == 401
    status, page, given = sign_in(team, "wrong", **headers)
    assert status == 429
    assert "Too many wrong" in page
    assert int(given["Retry-After"]) >= 1
    assert not any(name.startswith("username-") for name in cookies(given))
    assert sign_in(team, TOKEN, **headers)[0] == 302
    soon(lambda: "Wrong token from 198.51.100.9" in team.text, "the log does not say so")
    status, _, headers = team.ask("gpuplan/session/0-0-0-0-0", Authorization=f"Bearer {TOKEN}")
    assert status == 404, "let in, and there is no such session"


def test_guesses_of_one_address_are_few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "ANSWER_S", 0.01)
    provider = identity.TokenIdentity(token=TOKEN)
    here, there = (
        SimpleNamespace(request=SimpleNamespace(remote_ip=ip)) for ip in ("192.0.2.1", "192.0.2.2")
    )

    async def guess() -> list[bool]:
        wrong = [
            asyncio.create_task(provider.knows(here, f"no {n}")) for n in range(3 * identity.MOST_GUESSES)
        ]
        await asyncio.sleep(0)
        busy = await asyncio.gather(provider.knows(here, TOKEN), provider.knows(there, TOKEN))
        await asyncio.gather(*wrong)
        return [*busy, await provider.knows(here, TOKEN)]

    assert asyncio.run(guess()) == [False, True, True]
    assert provider.guesses.wrong("192.0.2.1") == identity.MOST_GUESSES + 1, "no other was looked at"
    assert not provider.answering


@pytest.mark.browser
def test_a_request_beside_a_page_gets_and_loses_no_cookie(app: Any) -> None:
    """It may arrive before the cookie that comes with the page, and be answered after it."""
    signed = cookies(app.visit()[2])
    (name,) = (each for each in signed if each.startswith("username-"))
    kernel = "voila/api/shutdown/0-0-0-0-0"
    for given in ({}, {"Cookie": f"{name}=of-a-server-that-has-ended"}):
        for path in ("gpuplan/session/0-0-0-0-0", "api/kernels/0-0-0-0-0", "voila/static/voila.js", kernel):
            headers = app.ask(path, data=b"" if path == kernel else None, **given)[2]
            assert name not in cookies(headers), path
    renewed = cookies(app.visit(Cookie=f"{name}=of-a-server-that-has-ended")[2])[name]
    assert renewed.partition(";")[0] != f'{name}=""'


def test_who_gives_the_token_without_a_cookie_leaves_places(server: Callable[..., Any]) -> None:
    """Each visit was another visitor, so that none of them had too many pages."""
    team = server(token=TOKEN, proxies=["127.0.0.1"], sessions=3)

    def visits(address: str, **headers: str) -> tuple[int, Message]:
        given = {"Authorization": f"token {TOKEN}", "X-Forwarded-For": address, **headers}
        status, _, answer = team.visit(**given)
        return status, answer

    assert [visits("198.51.100.7")[0] for _ in range(6)] == [200, 200, 503, 503, 503, 503]
    status, answer = visits("203.0.113.5")
    assert status == 200
    assert any(name.startswith("username-") for name in cookies(answer))
