"""Forked sessions: each a kernel of its own that nothing of another can reach, and no way to be left without one."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from approved import has_approved
from waiting import LIMIT_S, soon

pytest.importorskip("jupyter_server")

from jupyter_client import BlockingKernelClient, KernelManager
from jupyter_client.connect import write_connection_file
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from gpuplan.serve import forking
from gpuplan.serve.forking import MOST_DATA, ForkedKernel, Kernel, Nursery

pytestmark = [
    pytest.mark.skipif(not forking.FORKING, reason="sessions are forked on Linux only"),
    pytest.mark.by_day("forking", 5),
]


class Session:
    """A kernel and a client of it."""

    def __init__(self, nursery: Nursery, folder: Path, name: str, **env: str) -> None:
        path, _ = write_connection_file(str(folder / f"{name}.json"))
        request = {"arguments": ["-f", path], "env": {**os.environ, **env}, "cwd": str(folder)}
        process = nursery.fork(request)
        assert process is not None
        self.process = process
        self.client = BlockingKernelClient(connection_file=path)
        self.client.load_connection_file()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=LIMIT_S)

    def ask(self, expression: str) -> Any:
        """Value of an expression in the session."""
        answer = self.client.execute_interactive(
            "", user_expressions={"x": expression}, allow_stdin=False, timeout=LIMIT_S
        )["content"]["user_expressions"]["x"]
        assert answer["status"] == "ok", answer
        return eval(answer["data"]["text/plain"])

    def end(self) -> None:
        """Kill it and close the client."""
        self.process.kill()
        self.client.stop_channels()
        self.client.context.destroy(linger=0)


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    made = Nursery(tmp_path_factory.mktemp("work"))
    yield made
    made.close()


@pytest.fixture
def session(nursery: Nursery, tmp_path: Path) -> Iterator[Callable[..., Session]]:
    made: list[Session] = []

    def new(name: str, of: Nursery | None = None, **env: str) -> Session:
        made.append(Session(of or nursery, tmp_path, name, **env))
        return made[-1]

    yield new
    for each in made:
        each.end()


def gone(pid: int) -> bool:
    """Whether a process ends and leaves no entry in the table of processes."""
    return soon(lambda: not Path(f"/proc/{pid}").exists(), f"process {pid} is still there")


def test_session_is_a_process_of_its_own(session: Callable[..., Session], tmp_path: Path) -> None:
    one = session("one", GPUPLAN_SCENARIO="mine.yaml")
    assert one.ask("__import__('os').getpid()") == one.process.pid
    assert one.ask("__import__('os').getpgid(0)") == one.process.pid, (
        "it leads its group: all of it can be ended"
    )
    assert one.ask("__import__('os').getcwd()") == str(tmp_path)
    assert one.ask("__import__('os').environ['GPUPLAN_SCENARIO']") == "mine.yaml"
    assert one.ask("'gpuplan.app.screen' in __import__('sys').modules")
    assert one.ask("__import__('signal').getsignal(17).name") == "SIG_DFL", "it can wait for its own children"


def test_a_session_that_takes_too_much_memory_fails_alone(session: Callable[..., Session]) -> None:
    one, two = session("one"), session("two")
    one.client.execute_interactive(
        f"try:\n    failed = not bytes({MOST_DATA})\nexcept MemoryError:\n    failed = True", timeout=LIMIT_S
    )
    assert one.ask("failed") is True
    assert two.ask("1 + 1") == 2


def test_nothing_of_a_session_is_seen_in_another(session: Callable[..., Session]) -> None:
    one = session("one", SECRET="of one")
    one.client.execute_interactive(
        "import gpuplan, os, sys, ipywidgets\n"
        "secret = gpuplan.secret = sys.secret = 'of one'\n"
        "slider = ipywidgets.IntSlider()\n"
        "os.environ['ANOTHER'] = 'of one'",
        timeout=LIMIT_S,
    )
    two = session("two")
    assert one.ask("len(__import__('ipywidgets').Widget.widgets)") > 0
    assert two.ask("len(__import__('ipywidgets').Widget.widgets)") == 0
    assert two.ask("'secret' in globals()") is False
    assert two.ask("[hasattr(__import__(m), 'secret') for m in ('gpuplan', 'sys')]") == [False, False]
    assert two.ask("[n in __import__('os').environ for n in ('SECRET', 'ANOTHER')]") == [False, False]
    assert "of one" not in Path(f"/proc/{two.process.pid}/environ").read_text(errors="replace")
    for draw in (
        "__import__('random').random()",
        "__import__('numpy').random.random()",
        "__import__('uuid').uuid4().hex",
    ):
        assert one.ask(draw) != two.ask(draw)


def test_comms_of_widgets_are_known_and_none_is_open(session: Callable[..., Session]) -> None:
    targets = "sorted(__import__('comm').get_comm_manager().targets)"
    comms = "len(__import__('comm').get_comm_manager().comms)"
    one = session("one")
    assert {"jupyter.widget", "jupyter.widget.control"} <= set(one.ask(targets))
    assert one.ask(comms) == 0


def test_session_that_ended_is_known_and_leaves_nothing(session: Callable[..., Session]) -> None:
    one = session("one")
    assert one.process.poll() is None
    one.client.shutdown()
    assert one.process.wait() == 0
    assert one.process.poll() == 0
    assert gone(one.process.pid)
    one.process.kill()  # has ended already: nothing happens


def test_crashed_parent_is_replaced_and_its_sessions_go_on(
    nursery: Nursery, session: Callable[..., Session]
) -> None:
    one = session("one")
    crashed = nursery._parent.process
    os.kill(crashed.pid, signal.SIGKILL)
    two = session("two")
    assert one.ask("6 * 7") == two.ask("6 * 7") == 42
    assert nursery._parent.process.pid != crashed.pid
    assert crashed.poll() == -signal.SIGKILL
    one.process.kill()
    assert one.process.wait() == 0


def test_parents_are_renewed_with_their_hash_seed(
    nursery: Nursery, session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = session("one"), session("two")
    seen = "hash('gpuplan')"
    assert one.ask(seen) == two.ask(seen)
    old = nursery._parent.process
    monkeypatch.setattr(forking, "MOST_FORKS", 1)
    three = session("three")
    assert three.ask(seen) != one.ask(seen)
    for each in (one, two):
        assert old.poll() is None, "it waits for its sessions"
        each.end()
    assert old.wait(10) == 0


def test_closing_ends_everything(tmp_path: Path, session: Callable[..., Session]) -> None:
    before = os.listdir("/proc/self/fd")
    own = Nursery(tmp_path)
    one = session("one", of=own)
    parent = own._parent.process
    own.close()
    assert parent.poll() == 0
    assert gone(one.process.pid)
    one.end()
    assert one.process.poll() == 0
    assert len(os.listdir("/proc/self/fd")) <= len(before)


def test_no_session_outlives_a_server_that_is_killed(
    tmp_path: Path, children: Callable[[int], list[int]]
) -> None:
    code = (
        "import os, pathlib, sys, time\n"
        "from jupyter_client.connect import write_connection_file\n"
        "from gpuplan.serve.forking import Nursery\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "path, _ = write_connection_file(str(folder / 'k.json'))\n"
        "nursery = Nursery(folder)\n"
        "request = {'arguments': ['-f', path], 'env': dict(os.environ), 'cwd': str(folder)}\n"
        "print(nursery.fork(request).pid, flush=True)\n"
        "time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        (parent,) = children(server.pid)
        assert pid in children(parent)
        server.kill()
    assert gone(pid)
    assert gone(parent)


def test_without_forks_there_is_none_and_an_ordinary_kernel_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    own = Nursery(tmp_path)
    request = {"arguments": [], "env": {}, "cwd": str(tmp_path)}
    assert own.fork(request) is None
    assert own.fork(request) is None, "also when it is asked again"
    started: list[list[str]] = []

    async def ordinary(_: Any, cmd: list[str], **__: Any) -> dict[str, int]:
        started.append(cmd)
        return {"shell_port": 1}

    monkeypatch.setattr(LocalProvisioner, "launch_kernel", ordinary)
    kernel = ForkedKernel(kernel_id="k", kernel_spec=None)
    kernel.nursery = own
    command = ["python", "-m", "ipykernel_launcher", "-f", "k.json"]
    found = asyncio.run(kernel.launch_kernel(command, env={}, cwd=tmp_path))
    quiet = ["python", "-m", "gpuplan.serve.kernel", "-f", "k.json"]
    assert (found, started) == ({"shell_port": 1}, [quiet])
    own.close()
    kernel.nursery = None  # where forking is not safe
    asyncio.run(kernel.launch_kernel(command, env={}, cwd=tmp_path))
    assert started == [quiet, quiet]


def test_nothing_is_forked_beside_a_thread() -> None:
    code = (
        "import threading, time, socket\n"
        "from gpuplan.serve import forking\n"
        "forking._preload = lambda: threading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n"
        "ours, theirs = socket.socketpair()\n"
        "forking.main(theirs, 0)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT_S)
    assert found.returncode == 1
    assert has_approved(found.stderr)


def test_a_session_that_writes_its_file_again_does_not_disturb_its_start(tmp_path: Path) -> None:
    """ipykernel does so where connections are encrypted; jupyter_client reads the file at the same time."""
    assert hasattr(KernelManager, "_reconcile_connection_info"), "else jupyter_client does it by another name"
    file = tmp_path / "kernel.json"
    file.write_text("")
    kernel = Kernel(connection_file=str(file))
    kernel._reconcile_connection_info(kernel.get_connection_info())
    assert file.read_text() == ""


def test_what_builds_parsers_for_seconds_is_not_loaded() -> None:
    """Half of the time of a start; in a process of its own, as pytest's plugins load it here."""
    code = "import sys, gpuplan.serve.server; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_long_work_has_a_process_that_ends_with_its_session(
    session: Callable[..., Session], children: Callable[[int], list[int]]
) -> None:
    """In a thread it would hold up what a user does."""
    one = session("one")
    (beside,) = children(one.process.pid)
    assert one.ask("__import__('gc').get_threshold()[0]") > 100_000
    one.process.kill()
    assert gone(beside)
