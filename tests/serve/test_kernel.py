"""No kernel of a session listens on a port, and what its cells print arrives all the same."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import LIMIT_S

pytest.importorskip("jupyter_server")

from jupyter_client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

from gpuplan.serve import forking
from gpuplan.serve.forking import Nursery

pytestmark = pytest.mark.skipif(not forking.FORKING, reason="sessions talk over files on Linux only")

LISTENS = "0A"
"""State of a socket in /proc/net/tcp."""


def ports_of(pid: int) -> list[str]:
    """Addresses at which a process and its children listen, or take datagrams."""
    found = []
    for each in (pid, *children_of(pid)):
        handles = {
            os.readlink(handle) for handle in Path(f"/proc/{each}/fd").iterdir() if handle.is_symlink()
        }
        for kind in ("tcp", "tcp6", "udp", "udp6"):
            for row in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]:
                _, address, _, state, *rest = row.split()
                listens = state == LISTENS or kind.startswith("udp")
                found += [f"{kind} {address}"] * (listens and f"socket:[{rest[5]}]" in handles)
    return found


def children_of(pid: int) -> list[int]:
    """Children of a process, and theirs."""
    files = Path(f"/proc/{pid}/task").glob("*/children")
    direct = [int(child) for file in files for child in file.read_text().split()]
    return [*direct, *(grandchild for child in direct for grandchild in children_of(child))]


@pytest.fixture(params=["forked", "ordinary"])
def kernel(request: pytest.FixtureRequest) -> Iterator[tuple[int, str]]:
    """The process of a kernel over files, and its connection file; the path of a socket may have 107 characters."""
    with tempfile.TemporaryDirectory() as folder:
        yield from started(request.param, Path(folder))


def started(how: str, folder: Path) -> Iterator[tuple[int, str]]:
    """The same in a folder."""
    path, _ = write_connection_file(str(folder / "k.json"), transport="ipc", ip=str(folder / "k"))
    if how == "forked":
        nursery = Nursery(folder)
        session = nursery.fork({"arguments": ["-f", path], "env": {**os.environ}, "cwd": str(folder)})
        assert session is not None
        yield session.pid, path
        nursery.close()
        return
    command = [sys.executable, "-m", "gpuplan.serve.kernel", "-f", path]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as process:
        yield process.pid, path
        process.kill()


def test_no_port_is_open_and_output_arrives(kernel: tuple[int, str]) -> None:
    pid, path = kernel
    client = BlockingKernelClient(connection_file=path)
    client.load_connection_file()
    client.start_channels()
    client.wait_for_ready(timeout=LIMIT_S)
    printed: list[str] = []
    answer = client.execute_interactive(
        "print(6 * 7)",
        timeout=LIMIT_S,
        output_hook=lambda said: printed.append(said["content"].get("text", "")),
    )
    assert answer["content"]["status"] == "ok"
    assert "".join(printed) == "42\n"
    assert ports_of(pid) == []
    client.stop_channels()
    client.context.destroy(linger=0)


def test_a_port_would_be_seen() -> None:
    code = "import socket; s = socket.create_server(('127.0.0.1', 0)); print('there', flush=True); input()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline()
        assert len(ports_of(process.pid)) == 1
        process.kill()
