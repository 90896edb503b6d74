"""Sessions: the process of each open page, its owner, its end, and the limit on their number."""

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import tornado.ioloop
import tornado.web
import zmq
from ipykernel.kernelspec import RESOURCES
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_core.utils import ensure_async
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from traitlets import Float, Int, Unicode

from gpuplan.app.uploading import SCRATCH
from gpuplan.serve.forking import Nursery, passed
from gpuplan.serve.logs import LOG
from gpuplan.wording import said

SESSION_BYTES = 100_000_000
"""Memory counted for a session: twice that of one that has seen every step, to cover work beside it."""
SPARE_BYTES = 300_000_000
"""Memory below which no more sessions start."""
SHARE_OF_MEMORY = 0.8
MOST_KEPT_BYTES = 8 << 20
"""Most messages kept of a session while its page is away."""
FILES_OF_A_SESSION = 16
"""Descriptors that the server needs for one session: its channels, its process, its page."""
MOST_PER_OWNER = 12
"""Most open pages of one browser; one more replaces a page that is away, or is told to wait."""
OTHERS = 3
"""One address leaves a place in so many to visitors from elsewhere, if it has ``MOST_PER_OWNER``; browsers without a cookie do so always."""
STARTS = 3
"""Sessions started for a page, one after the other, until one lives."""
OF_A_SESSION = "<main"
"""Begin of what a page has of its session; the text before is the same for all."""
CONTROL_GROUP = Path("/sys/fs/cgroup")


class Visitor(NamedTuple):
    """Who opens a page."""

    owner: str
    address: str = ""
    """Network of the browser, or user of a Hub; empty where all visitors have one."""
    new: bool = False
    """True if it came without a cookie: then nothing says whether it is one browser or many."""


@dataclass
class Session:
    """A process that was given to a page."""

    owner: str
    """Browser that opened the page, as known to ``identity``."""
    heard: float
    """Time when the page last showed that it is there. [s]"""
    lines: set[object] = field(default_factory=set)
    """Connections of the page; one, and for a moment another when it connects again."""
    silent: bool = False
    """True if the last connection ended without a sign of the page: it may sleep, and come back."""
    address: str = ""
    new: bool = False
    """True if the browser came without a cookie and has not connected since."""


class Kept(list[Any]):
    """Messages of a session whose page is away, as long as they are few."""

    size = 0

    def append(self, message: Any) -> None:
        """Keep a message, if there is room."""
        self.size += sum(len(part) for part in message[1])
        if self.size <= MOST_KEPT_BYTES:
            super().append(message)


class Full(Exception):
    """There is no room for another session; the message says why."""


class NativeKernelSpecs(KernelSpecManager):
    """Knows one kernel, ``python3``: this interpreter, regardless of the kernels installed on the machine."""

    def _kernel_dirs_default(self) -> list[str]:
        return []

    def _find_spec_directory(self, kernel_name: str) -> str | None:
        return RESOURCES if kernel_name == "python3" else None


class Kernels(AsyncMappingKernelManager):
    """Kernels that know nothing of the folder they were started from, nor of other people's visits."""

    work_dir = Unicode(config=True, help="Empty folder where kernels start: no file lying about is imported.")
    most_sessions = Int(1, config=True, help="Sessions that pages may have at once.")
    idle_s = Float(1800.0, config=True, help="How long the session of a page that fell silent is kept.")
    vanished_s = Float(45.0, config=True, help="How long the session of a page that went away is kept.")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        self.context.set(zmq.MAX_SOCKETS, max(1023, FILES_OF_A_SESSION * self.most_sessions))
        self.scratch: dict[str, Path] = {}
        """Folder of each kernel for files that its page sends; it is removed with the kernel, however that ends."""
        self.sessions: dict[str, Session] = {}
        """Kernel -> the session of a page; warm kernels have none yet."""
        self._opening: Counter[Visitor] = Counter()
        self._leaving: set[str] = set()

    @property
    def nursery(self) -> Nursery | None:
        """Process from which kernels are forked, if they are."""
        process: Nursery | None = cast(Any, self.parent).nursery
        return process

    def cwd_for_path(self, path: str, **kwargs: Any) -> str:
        """Return the empty folder in which each kernel starts."""
        return self.work_dir

    async def start_kernel(self, **kwargs: Any) -> str:  # type: ignore[override]
        """Start a kernel that sees no visit and no secret in its variables; return its id."""
        folder = Path(tempfile.mkdtemp(prefix="session-", dir=Path(self.work_dir).parent))
        output = cast(Any, self.parent).output
        env = {**passed(kwargs.get("env") or os.environ), SCRATCH: str(folder)}
        kwargs |= {"env": env, "stdout": output, "stderr": output}
        kernel_id = await super()._async_start_kernel(**kwargs)
        self.scratch[kernel_id] = folder
        return kernel_id

    def start_buffering(self, kernel_id: str, session_key: str, channels: Any) -> None:
        """Keep messages of a session while its page is away, up to a limit; later ones are dropped."""
        super().start_buffering(kernel_id, session_key, channels)  # type: ignore[no-untyped-call]
        if kernel_id in self._kernel_buffers:
            self._kernel_buffers[kernel_id]["buffer"] = Kept()

    def remove_kernel(self, kernel_id: str) -> Any:
        """Forget a kernel that has ended, and remove its files."""
        self.sessions.pop(kernel_id, None)
        folder = self.scratch.pop(kernel_id, None)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if kernel_id in self:  # the channels of a page that left while its kernel ended
            self.stop_buffering(kernel_id)  # type: ignore[no-untyped-call]
        return super().remove_kernel(kernel_id)

    def session_of(self, kernel_id: str, owner: str) -> Session | None:
        """Return the session of a kernel, if it is this owner's; it counts as heard from now."""
        session = self.sessions.get(kernel_id)
        if session is None or session.owner != owner or kernel_id not in self:
            return None
        session.heard, session.silent = now(), False
        return session

    async def open_session(self, notebook: str, visitor: Visitor) -> AsyncGenerator[str, None]:
        """Give a page a session that lives; yield its text: early what is the same for any session, the rest once it is rendered.

        Another one is started if a session ends before. Raises Full if there is no room, or none has lived.
        """
        sent = 0
        for _ in range(STARTS):
            await self._make_room(visitor)
            self._opening[visitor] += 1
            try:
                task, ready, kernel_id = await self._warm_kernel(notebook)
            finally:
                self._opening[visitor] -= 1
                self._opening += Counter()  # without visitors that open none
            self.sessions[kernel_id] = Session(visitor.owner, now(), address=visitor.address, new=visitor.new)
            early = "".join(ready).partition(OF_A_SESSION)[0][sent:]
            yield early
            sent += len(early)
            with contextlib.suppress(RuntimeError):  # Voila's word for one that has ended
                rendered, rendering = await task
                text = "".join([*rendered, *[html async for html, _ in rendering]])
                if await self.is_living(kernel_id):
                    yield text[sent:]
                    return
            if kernel_id not in self:  # it was ended
                break
            LOG.warning("A session ended before its page was there.")
            await self.free(kernel_id)
        raise Full(said("serve.full starts"))

    async def _make_room(self, visitor: Visitor) -> None:
        """Make sure that one more session may start.

        The session of a page that is away gives way: one of this browser or, if all places are taken that its address or
        all visitors may have, one whose page has been away for longer than a page needs to connect again.
        """
        (owner, address, new), here = visitor, "serve.full address"
        shared = max(1, self.most_sessions - max(1, self.most_sessions // OTHERS))
        limits: tuple[tuple[Callable[[Visitor | Session], bool], int, str], ...] = (
            (lambda of: of.owner == owner, MOST_PER_OWNER, "serve.full browser"),
            (lambda of: new and of.new and of.address == address, min(MOST_PER_OWNER, shared), here),
            (lambda of: address != "" and of.address == address, max(MOST_PER_OWNER, shared), here),
            (lambda _: True, self.most_sessions, "serve.full"),
        )
        away_s = 0.0
        for counts, most, why in limits:
            held = [kernel_id for kernel_id, session in self.sessions.items() if counts(session)]
            opening = sum(many for of, many in self._opening.items() if counts(of))
            if len(held) + opening >= most and not await self._free_one_away(held, away_s=away_s):
                raise Full(said(why, most=most))
            away_s = self.vanished_s  # these may be pages of others, on their way
        if free_bytes() < SPARE_BYTES:
            raise Full(said("serve.full memory"))

    async def _free_one_away(self, among: list[str], *, away_s: float) -> bool:
        """End the session whose page has been away the longest, and at least this long."""
        away = [(self.sessions[key].heard, key) for key in among if not self.sessions[key].lines]
        heard, kernel_id = min(away, default=(now(), ""))
        if not kernel_id or now() - heard < away_s:
            return False
        await self.free(kernel_id)
        return True

    async def is_living(self, kernel_id: str) -> bool:
        """True if the process of a kernel runs; False also for an unknown one."""
        return kernel_id in self and bool(await ensure_async(self.get_kernel(kernel_id).is_alive()))

    async def free(self, kernel_id: str) -> None:
        """End a kernel once, even if called repeatedly; an unknown one is ignored."""
        if kernel_id in self._leaving or kernel_id not in self:
            return
        self._leaving.add(kernel_id)
        self.drop_failed()
        try:
            await self.shutdown_kernel(kernel_id, now=True)  # type: ignore[no-untyped-call]
        finally:
            self._leaving.discard(kernel_id)

    def processes(self) -> list[int]:
        """Return the ids of the processes of all sessions."""
        managers: list[Any] = [self.get_kernel(kernel) for kernel in self.sessions if kernel in self]
        return [kernel.provisioner.pid for kernel in managers if kernel.provisioner]

    async def sweep(self) -> None:
        """End the sessions whose pages are gone: those that vanished soon, those that fell silent after the idle time."""
        for kernel_id, session in list(self.sessions.items()):
            kept_s = self.idle_s if session.silent else min(self.vanished_s, self.idle_s)
            if not session.lines and now() - session.heard > kept_s:
                LOG.info("A session ends: nothing was heard of its page for %.0f s.", now() - session.heard)
                await self.free(kernel_id)

    @property
    def pools(self) -> dict[str, list[Any]]:
        """Notebook -> futures of its warm kernels."""
        futures: dict[str, list[Any]] = cast(Any, self)._pools
        return futures

    def drop_failed(self) -> None:
        """Forget warm kernels that did not start; Voila would stumble over them when it frees any other."""
        for pool in self.pools.values():
            for item in [item for item in pool if item.done() and (item.cancelled() or item.exception())]:
                pool.remove(item)

    async def _warm_kernel(self, notebook: str) -> tuple[Any, list[str], str]:
        """Return a kernel in which the notebook runs or ran: (its rendering, output so far, its id)."""
        self.drop_failed()
        for item in [item for item in self.pools.get(notebook, []) if item.done()]:
            kernel_id = item.result()["kernel_id"]
            if not await self.is_living(kernel_id):
                await self.free(kernel_id)  # takes it out of the pool, too
        manager = cast(Any, self)
        if not self.pools.get(notebook):
            manager.fill_if_needed(delay=0, notebook_name=notebook)
        try:
            rendered: tuple[Any, list[str], str] = await manager.get_rendered_notebook(notebook_name=notebook)
        except tornado.web.HTTPError as error:
            # Voila's word for a notebook that it cannot read; no fault of the visitor's
            raise RuntimeError("no session could be started") from error
        return rendered

    async def end(self) -> None:
        """End every kernel, also those still starting."""
        starting = [item for pool in self.pools.values() for item in pool if not item.done()]
        if starting:  # half a start cannot be undone; a whole one can
            await asyncio.wait(starting, timeout=5)
        await self.shutdown_all(now=True)


def now() -> float:
    """Return the loop's clock. [s]"""
    return tornado.ioloop.IOLoop.current().time()


def free_bytes() -> int:
    """Return the free memory, by the machine and by the control group of the server; much where it is unknown."""
    left = [1 << 40]
    with contextlib.suppress(OSError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        left += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    with contextlib.suppress(OSError, ValueError):  # no control group, or none with a limit
        name = Path("/proc/self/cgroup").read_text(encoding="ascii").rpartition("0::/")[2].strip()
        group = CONTROL_GROUP / name
        most, taken = (int((group / f"memory.{n}").read_text(encoding="ascii")) for n in ("max", "current"))
        figures = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        cached = dict(line.split() for line in figures)
        left.append(most - taken + int(cached.get("inactive_file", 0)))
    return min(left)


def room(files: int) -> int:
    """Return the number of sessions that fit, by memory and by the descriptors left for them."""
    memory = int(SHARE_OF_MEMORY * free_bytes() / SESSION_BYTES)
    return max(1, min(memory, files // FILES_OF_A_SESSION, 10_000))
