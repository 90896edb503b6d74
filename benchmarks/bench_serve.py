"""Opening a page, what a session holds, and what many sessions leave behind, beside a bare Voila page with one chart.

Run with ``make bench`` or ``python benchmarks/bench_serve.py [SESSIONS]``; it needs Linux and Chromium. What a user would pick
instead is ``voila`` as it comes, with a notebook that imports the same libraries and shows one chart; its links to a CDN fail at
once here, which is the best that can happen to it. The pages are opened in turn. A page of the workbook is open when the answer
and an input of the enterprise example are there; the bare page, when its chart is.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import start_new_kernel

from gpuplan.app.idle_work import KEPT_S

VISITS = 5
SESSIONS = 200
AT_ONCE = 20
FIRST, LATER = 1.0, 0.35
"""The most that the first visitor and the later ones may wait, as shares of the bare page's."""
PRIVATE_MB = 60.0
"""The most private memory of a session at rest, with that of its processes for long work."""
BARE = """import anywidget, ipywidgets, numpy, pandas, yaml
import altair as alt
from gpuplan.widgets.chart import Chart
rows = [{"host": f"h{i}", "gpus": i} for i in range(8)]
Chart(alt.Chart(alt.Data(values=rows)).mark_bar().encode(x="host:N", y="gpus:Q"))"""
KERNEL = "import ipywidgets, pandas, altair"
STEPS = ("demand", "hosts", "network", "cost", "compare", "design", "deliver", "usecases")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("localhost", 0)) as bound:
        return int(bound.getsockname()[1])


@contextlib.contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server, once its port answers."""
    with (folder / f"{port}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        try:
            while True:
                if process.poll() is not None:
                    raise RuntimeError((folder / f"{port}.log").read_text())
                with contextlib.suppress(OSError), socket.create_connection(("localhost", port), 1):
                    break
                time.sleep(0.05)
            yield process
        finally:
            process.terminate()
            process.wait(30)


def children(parent: int) -> list[int]:
    """Process ids of the children of a process."""
    lists = Path(f"/proc/{parent}/task").glob("*/children")  # of each thread
    return [int(pid) for found in lists for pid in found.read_text().split()]


def kernels(server: int) -> list[int]:
    """Process ids of a server's sessions: what they are forked from are its children."""
    return [kernel for child in children(server) for kernel in children(child)]


def memory_mb(pid: int) -> float:
    """Private memory of a process. [MB]"""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def opened(browser: Any, url: str, ready: str) -> tuple[Any, float]:
    """A page in a context of its own, and the time until it shows what it should. [s]"""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    start = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.locator(ready).first.wait_for(timeout=60_000)
    return page, time.perf_counter() - start


def use(page: Any) -> float:
    """Visit every step, change a number there and back; the time until the answer follows, at the median of four. [s]"""
    for step in STEPS:
        page.locator(f'nav [data-at="{step}"]').click()
        page.locator(f'.gp-head[data-step="{step}"]').wait_for()
    page.locator('[data-at="workload-researchers"]').click()
    field = page.locator('[data-at="groups.researchers.people"]')
    hosts = page.locator('.gp-part-strip [data-at="totals.hosts"]')
    times = []
    for people, answer in (("5", "10"), ("3", "8"), ("5", "10"), ("3", "8")):
        start = time.perf_counter()
        field.fill(people)
        hosts.get_by_text(answer, exact=True).wait_for()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def close(page: Any) -> None:
    """Close a page, and its connections after the farewell that frees the session."""
    context = page.context
    page.close(run_before_unload=True)
    time.sleep(0.5)
    context.close()


def wait_for(server: int, number: int) -> bool:
    """Whether a server comes down to so many sessions."""
    deadline = time.monotonic() + 60
    while len(kernels(server)) != number and time.monotonic() < deadline:
        time.sleep(0.1)
    return len(kernels(server)) == number


def bare_kernel_mb() -> float:
    """Private memory of an ordinary kernel that imports what a notebook with widgets and charts does. [MB]"""
    manager, client = start_new_kernel()
    try:
        client.execute_interactive(KERNEL, timeout=60)
        return memory_mb(manager.provisioner.process.pid)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def open_and_hold(browser: Any, folder: Path) -> bool:
    """Print how long pages take to open and what a session holds; whether that is within the bounds."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(BARE)])
    notebook.metadata.kernelspec = {"name": "python3", "language": "python", "display_name": "Python 3"}
    nbformat.write(notebook, folder / "bare.ipynb")
    first: dict[str, list[float]] = {"gpuplan": [], "bare": []}
    later: dict[str, list[float]] = {"gpuplan": [], "bare": []}
    for _ in range(2):
        ours, bare = free_port(), free_port()
        commands = {
            "gpuplan": (
                ["-m", "gpuplan.cli", "app", "enterprise", "--port", str(ours)],
                ours,
                '[data-at="workload-researchers"]',
            ),
            "bare": (
                ["-m", "voila", "bare.ipynb", "--no-browser", f"--port={bare}"],
                bare,
                ".vega-embed svg",
            ),
        }
        for visit in range(1 + VISITS):
            if visit == 0:
                stack = contextlib.ExitStack()
            for name, (command, port, ready) in commands.items():
                if visit == 0:
                    stack.enter_context(running([sys.executable, *command], port, folder))
                page, taken = opened(browser, f"http://localhost:{port}/", ready)
                (later if visit else first)[name].append(taken)
                close(page)
            time.sleep(3)
        stack.close()
    ratios = []
    for what, found, most in (("first visitor", first, FIRST), ("later visitors", later, LATER)):
        middle = {name: statistics.median(times) for name, times in found.items()}
        ratios.append((middle["gpuplan"] / middle["bare"], most))
        print(
            f"open, {what}: gpuplan {middle['gpuplan']:.2f} s, bare Voila {middle['bare']:.2f} s: {ratios[-1][0]:.2f} times "
            f"(at most {most})"
        )
    ours = free_port()
    with running(
        [sys.executable, "-m", "gpuplan.cli", "app", "enterprise", "--port", str(ours)], ours, folder
    ) as server:
        page, _ = opened(browser, f"http://localhost:{ours}/", ".gp-part-strip")
        (session,) = kernels(server.pid)[:1]
        use(page)
        time.sleep(KEPT_S + 2)
        held, bare_mb = (
            sum(map(memory_mb, (session, *children(session), *kernels(session)))),
            bare_kernel_mb(),
        )
        close(page)
    ratios.append((held / PRIVATE_MB, 1.0))
    print(
        f"private memory after every step: gpuplan {held:.0f} MB (at most {PRIVATE_MB:.0f}), a bare kernel {bare_mb:.0f} MB"
    )
    return all(ratio <= most for ratio, most in ratios)


def soak(browser: Any, folder: Path, sessions: int) -> bool:
    """Print what sessions in a row and many at once leave behind; whether that is nothing."""
    port = free_port()
    url = f"http://localhost:{port}/"
    with running(
        [sys.executable, "-m", "gpuplan.cli", "app", "enterprise", "--port", str(port)], port, folder
    ) as server:
        (parent,) = children(server.pid)
        home = Path(os.readlink(f"/proc/{parent}/cwd")).parent

        def state() -> tuple[int, int, float]:
            """Files of all sessions, open files of the server, its memory."""
            files = sum(len(files) for _, _, files in os.walk(home))
            return files, len(os.listdir(f"/proc/{server.pid}/fd")), memory_mb(server.pid)

        latencies: list[float] = []
        errors: list[str] = []

        def session() -> Any:
            page, _ = opened(browser, url, ".gp-part-strip")
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on(
                "console", lambda message: errors.append(message.text) if message.type == "error" else None
            )
            return page

        for _ in range(5):  # the first ones fill caches
            page = session()
            use(page)
            close(page)
        clean = wait_for(server.pid, 1)
        before = state()
        for _ in range(sessions):
            page = session()
            latencies.append(use(page))
            close(page)
        clean &= wait_for(server.pid, 1)
        middle = state()
        pages = [session() for _ in range(AT_ONCE)]
        together = len(kernels(server.pid))
        shared = [use(page) for page in pages]
        for page in pages:
            close(page)
        clean &= wait_for(server.pid, 1)
        time.sleep(2)
        after = state()
        log = (folder / f"{port}.log").read_text()
    tenth = max(1, sessions // 10)
    start, end = statistics.median(latencies[:tenth]), statistics.median(latencies[-tenth:])
    print(f"soak: {sessions} sessions in sequence, then {AT_ONCE} at once ({together} processes then)")
    print(f"  only the warm session is left: {'yes' if clean else 'NO'}; errors: {len(errors)}")
    for name, at in (("before", before), ("after the sequence", middle), ("after those at once", after)):
        print(f"  {name}: {at[0]} files, {at[1]} open files, {at[2]:.0f} MB of the server")
    print(
        f"  a change takes {1000 * start:.0f} ms in the first tenth of sessions, {1000 * end:.0f} ms in the last: {end / start:.2f} times"
    )
    print(f"  with {AT_ONCE} pages open, one of them used: {1000 * statistics.median(shared):.0f} ms")
    for error in {*errors, *(line for line in log.splitlines() if "Error" in line or "Traceback" in line)}:
        print(f"  {error}")
    kept = after[0] <= before[0] + 3 and after[1] <= before[1] + 3
    return clean and kept and not errors and "Traceback" not in log and end < 1.5 * start


def main() -> int:
    """Print what was measured; 1 if a bound is not kept."""
    from playwright.sync_api import sync_playwright

    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS
    print(f"{os.cpu_count()} cores here, load {os.getloadavg()[0]:.1f}")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        kept = open_and_hold(browser, Path(folder))
        kept &= soak(browser, Path(folder), sessions)
        browser.close()
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
