"""Sessions forked from one process in which everything is imported: ready sooner, and most of their memory is shared.

`Nursery` runs in the server and keeps that process, which is this module as a program. A session is a copy of it, made
before it ever ran anything of a session, so no session can see another. Where forking is not safe (it is not on macOS, and
Windows has none) or does not work, `Kernel` starts an ordinary kernel.
"""

import asyncio
import contextlib
import gc
import importlib
import json
import logging
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from jupyter_server.services.kernels.kernelmanager import ServerKernelManager

FORKING = sys.platform == "linux" and hasattr(os, "pidfd_open")
"""True if sessions are forked here. Linux only: elsewhere system libraries start threads, which no copy survives."""
PRELOADED = (
    "gpuplan.serve.kernel",
    "ipykernel.debugger",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "IPython.core.completerlib",
    "IPython.extensions.storemagic",
    "psutil",
    "sqlite3",
    "tornado.platform.asyncio",
    "tornado.queues",
    "gpuplan.app.screen",
    "scipy.optimize",
)
"""Modules that sessions need: those that a kernel would import by itself, 5 MB of each; of scipy, whose import takes a quarter
of a second, the part that existing hosts use."""
MOST_FORKS = 100
"""Forks after which a new process takes over, with a new seed for the hashes of strings."""
READY_S = 120.0
FORK_S = 20.0
LARGEST = 1 << 20
MOST_DATA = 4 << 30
"""Most memory of a session, or a command beside it: more is an error of its own and no harm to others. [B]"""
SINGLE = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX"), "1"
)
"""The process may have no thread beside its main one when it forks, and the first three libraries start some when they are
imported. The last one saves a tenth of a session's memory: its threads take theirs from one heap."""
PASSED = frozenset((
    "GPUPLAN_CATALOG", "GPUPLAN_SCENARIO", "GPUPLAN_VIEW", "HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH",
    "LOGNAME", "PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "TZ", "USER", "IPYTHONDIR",
    "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_PATH", "JUPYTER_PREFER_ENV_PATH",
    "JUPYTER_RUNTIME_DIR", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONPATH", "PYTHONUNBUFFERED",
))  # fmt: skip
PASSED_KINDS = ("LC_", "NUMBA_")
"""Variables of the server that a session sees: no other, since any may be a secret of the machine."""


def passed(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a session may see."""
    return {name: variables[name] for name in variables if name in PASSED or name.startswith(PASSED_KINDS)}


class Forked:
    """A session's process, as far as jupyter_client needs it: the part of ``subprocess.Popen`` that it uses."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, handle: int) -> None:
        self.pid = pid
        self._handle = handle
        """Handle of this very process, even if its number is used again."""
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return None while it runs, else 0; only its parent knows how it ended."""
        return self._ended(0)

    def _ended(self, wait_ms: int | None) -> int | None:
        if self.returncode is None:
            line = select.poll()  # not select(), which knows no number above 1023
            line.register(self._handle, select.POLLIN)
            if line.poll(wait_ms):
                os.close(self._handle)
                self.returncode = 0
        return self.returncode

    def wait(self) -> int:
        """Wait until it has ended."""
        while self._ended(None) is None:
            pass
        return 0

    def send_signal(self, number: int) -> None:
        """Send it a signal; one that has ended gets none."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


class _Parent:
    """A process that forks, and the connection to it."""

    def __init__(self, folder: Path, alive: int, output: int | None) -> None:
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno()), str(alive)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(theirs.fileno(), alive),
                cwd=folder,
                env=passed(os.environ) | SINGLE,
                start_new_session=True,
            )
        self.ready = False
        self.forks = 0

    def fork(self, request: bytes) -> Forked:
        """Fork one more session. Raises OSError if the process does not answer as it should."""
        if not self.ready:
            self.line.settimeout(READY_S)
            if self.line.recv(LARGEST) != b"ready":
                raise ConnectionError("the process that forks sessions has ended")
            self.ready = True
        self.line.settimeout(FORK_S)
        self.line.send(request)
        answer, handles, _, _ = socket.recv_fds(self.line, LARGEST, 1)
        if not handles:
            raise ConnectionError("the process that forks sessions did not fork")
        self.forks += 1
        return Forked(int(answer), handles[0])

    def retire(self) -> None:
        self.line.close()


class Nursery:
    """Source of sessions. One for a server; its methods may be called from any thread."""

    def __init__(self, folder: Path, output: int | None = None) -> None:
        self._folder = folder
        self._output = output
        self._lock = threading.Lock()
        # sessions read the one end; it breaks when this process and its other end go
        self._alive, self._held = os.pipe()
        self._parent = _Parent(folder, self._alive, output)
        self._retired: list[_Parent] = []

    def fork(self, request: dict[str, Any]) -> Forked | None:
        """Return a new session with these ``arguments``, ``env`` and ``cwd``, or None if none can be forked."""
        message = json.dumps(request).encode()
        with self._lock:
            if self._parent.forks >= MOST_FORKS:
                self._renew()
            for attempt in range(2):
                with contextlib.suppress(OSError, ValueError):
                    return self._parent.fork(message)
                if attempt == 0:
                    self._parent.process.kill()
                    self._renew()
        return None

    def _renew(self) -> None:
        self._parent.retire()
        self._retired = [old for old in self._retired if old.process.poll() is None]
        self._retired.append(self._parent)
        self._parent = _Parent(self._folder, self._alive, self._output)

    def close(self) -> None:
        """End the forking process; sessions that are still running end now."""
        os.close(self._held)
        os.close(self._alive)
        parents = [*self._retired, self._parent]
        for parent in parents:
            parent.retire()
        for parent in parents:
            try:
                parent.process.wait(5)
            except subprocess.TimeoutExpired:
                parent.process.kill()
                parent.process.wait()


class ForkedKernel(LocalProvisioner):
    """Starts a kernel by forking; an ordinary one if that does not work."""

    nursery: Nursery | None
    process: Any = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Start the kernel; the arguments after the module of an ordinary one's command are ours, too."""
        module = cmd.index("ipykernel_launcher")
        ordinary = [*cmd[:module], "gpuplan.serve.kernel", *cmd[module + 1 :]]
        if self.nursery is None:
            return await super().launch_kernel(ordinary, **kwargs)
        request = {"arguments": cmd[module + 1 :], "env": kwargs["env"], "cwd": str(kwargs["cwd"])}
        forked = await asyncio.to_thread(self.nursery.fork, request)
        if forked is None:
            self.log.warning("A session could not be forked; an ordinary kernel is started.")
            return await super().launch_kernel(ordinary, **kwargs)
        self.process = forked
        self.pid = self.pgid = forked.pid
        self.cwd = kwargs["cwd"]
        return self.connection_info


class Kernel(ServerKernelManager):
    """One kernel. jupyter_server looks for the message here, but defines it on the manager of all kernels."""

    traceback_replacement_message = "An error is in the server's log."

    async def _async_pre_start_kernel(self, **kwargs: Any) -> Any:
        if self.provisioner is None:
            id = self.kernel_id or kwargs.get("kernel_id", "")
            self.provisioner = ForkedKernel(kernel_id=id, kernel_spec=self.kernel_spec, parent=self)
            self.provisioner.nursery = cast(Any, self.parent).nursery
        return await super()._async_pre_start_kernel(**kwargs)

    def _reconcile_connection_info(self, info: Any) -> None:
        """Do nothing: this file was written before the fork, and reads as empty while the session writes it again."""


def _end_with(alive: int) -> None:
    """End this session when the server has ended, however it did."""
    os.read(alive, 1)
    os._exit(1)


def _session(request: dict[str, Any], alive: int) -> None:
    import resource  # Windows has none

    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))
    time.tzset()
    random.seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    sys.modules["gpuplan.app.idle_work"].prepare()
    threading.Thread(target=_end_with, args=(alive,), daemon=True).start()
    # 1: no parent to watch by its number, because the thread above does that
    sys.modules["gpuplan.serve.kernel"].launch(argv=request["arguments"], parent_handle=1)


def _preload() -> None:
    """Import everything a session needs, and do the work common to all sessions once."""
    for name in PRELOADED:
        importlib.import_module(name)
    sys.modules["ipywidgets"].register_comm_target()  # undone where it is imported outside a kernel
    sys.modules["gpuplan.app.screen"].warm_up()
    logging.getLogger("Comm").setLevel(logging.ERROR)  # a page may close a closed comm: no news
    gc.collect()
    gc.freeze()  # sessions leave these objects alone, so their pages stay shared


def main(line: socket.socket, alive: int) -> None:
    """Fork a session for each request until the line is closed; then wait for them to end, as they do when ``alive`` breaks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # sessions that ended leave nothing behind
    _preload()
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("a library has started a thread: no session is forked")
    line.send(b"ready")
    while request := line.recv(LARGEST):
        spec = json.loads(request)
        pid = os.fork()
        if pid == 0:
            line.close()
            _session(spec, alive)
            return
        handle = os.pidfd_open(pid)
        socket.send_fds(line, [str(pid).encode()], [handle])
        os.close(handle)
    with contextlib.suppress(ChildProcessError):
        os.wait()


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
