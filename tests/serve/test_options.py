"""Options: what is refused before anything starts, and what is filled in."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

pytest.importorskip("voila")

from gpuplan.serve.options import Options, Refused, find_notebook, is_loopback, listening, settled, url_of


def test_loopback_names() -> None:
    assert all(map(is_loopback, ("localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1")))
    assert not any(map(is_loopback, ("", "0.0.0.0", "::", "10.0.0.1", "example.org")))


def test_beyond_this_machine_a_token_is_made_up_unless_one_is_given() -> None:
    assert settled(Options()).token == ""
    made = settled(Options(host="0.0.0.0")).token
    assert made and len(made) >= 32 and made != settled(Options(host="0.0.0.0")).token
    assert settled(Options(host="0.0.0.0", token="given")).token == "given"
    assert settled(Options(token="given")).token == "given"


@pytest.mark.parametrize("given", ["prefix", "/prefix", "/prefix/", "prefix/"])
def test_a_prefix_of_a_proxy_begins_and_ends_with_a_stroke(given: str) -> None:
    assert settled(Options(base_url=given)).base_url == "/prefix/"
    assert settled(Options(base_url="//")).base_url == "/"


def test_under_a_hub_the_hub_says_where_to_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_SERVICE_URL", "http://127.0.0.1:8123/services/gpuplan/")
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/services/gpuplan/")
    found = settled(Options(host="0.0.0.0", token="ours", open_browser=True))
    assert (found.host, found.port, found.base_url) == ("127.0.0.1", 8123, "/services/gpuplan/")
    assert (found.token, found.open_browser, found.proxies) == ("", False, ("127.0.0.1", "::1"))


def test_what_is_missing_is_refused(tmp_path: Path) -> None:
    assert find_notebook().name == "workbook.ipynb"
    with pytest.raises(Refused, match="The notebook is missing"):
        settled(Options(notebook=tmp_path / "none.ipynb"))
    with pytest.raises(Refused, match="Catalog not found"):
        settled(Options(catalog=tmp_path / "none"))


def test_sockets_and_their_address() -> None:
    (made,) = listening(Options(host="127.0.0.1", port=0))
    with made:
        port = made.getsockname()[1]
    assert url_of(Options(host="127.0.0.1", port=port), "a b") == f"http://127.0.0.1:{port}/?token=a%20b"
    assert url_of(Options(host="::1", port=1, base_url="/x/")) == "http://[::1]:1/x/"
    assert url_of(Options(host="0.0.0.0", port=1)) == f"http://{socket.gethostname()}:1/"
    with pytest.raises(Refused, match="70000 is not a port"):
        listening(Options(port=70_000))
