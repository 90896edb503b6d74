"""Options: what is refused before anything starts, and what is filled in."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import uuid
from pathlib import Path

import pytest

pytest.importorskip("voila")

from gpuplan.serve.options import (
    Options,
    Refused,
    config_of,
    environment,
    find_notebook,
    is_loopback,
    listening,
    made_home,
    set_environment,
    settled,
    url_of,
)


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


@pytest.mark.skipif(os.name == "nt", reason="no folder that is in use is removed there")
def test_folders_of_killed_servers_are_removed_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    other = tmp_path / "gpuplan-other"
    other.mkdir()
    first, lock = made_home()
    second, second_lock = made_home()
    with second_lock:
        assert first.is_dir() and second.is_dir(), "both run"
        lock.close()  # as the system does for a process that is killed
        third, third_lock = made_home()
        with third_lock:
            assert {path.name for path in tmp_path.iterdir()} == {second.name, third.name, other.name}
    assert {path.name for path in third.iterdir()} == {
        "config", "data", "runtime", "ipython", "work", "lock",
    }  # fmt: skip


def test_variables_lead_home_and_are_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/elsewhere")
    monkeypatch.delenv("GPUPLAN_VIEW", raising=False)
    before = dict(os.environ)
    with set_environment(environment(tmp_path, Options(scenario=Path("a.yaml"), customer=True))):
        assert os.environ["GPUPLAN_SCENARIO"] == str(Path("a.yaml").resolve())
        assert os.environ["GPUPLAN_VIEW"] == "customer"
        assert "GPUPLAN_CATALOG" not in os.environ and "JUPYTER_CONFIG_PATH" not in os.environ
        written = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
        assert {Path(os.environ[name]).parent for name in written} == {tmp_path}
    assert dict(os.environ) == before


@pytest.mark.skipif(sys.platform == "win32", reason="no such files")
@pytest.mark.parametrize(("name", "files"), [("/tmp/gpuplan-12345678", True), ("/tmp/" + "x" * 60, False)])
def test_kernels_are_reached_by_files_where_their_names_fit(name: str, files: bool) -> None:
    """A port that is chosen for a kernel may be another's before the kernel takes it, and the page waits in vain."""
    options = Options(notebook=Path("a.ipynb"), token="")
    config = config_of(options, home=Path(name), hub=False, sessions=1)
    assert ("transport" in config.KernelManager) is files
    longest = f"{name}/voila_12345678/kernel-{uuid.uuid4()}-ipc-5"
    assert (len(longest) <= 103) is files
