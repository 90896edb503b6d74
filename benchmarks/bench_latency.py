"""From a change to everything on the screen, in a real browser on a real server, beside a bare slider with a label.

Run with ``make bench`` or ``python benchmarks/bench_latency.py [CHANGES] [DESIGN ...]``; it needs Chromium. The clock runs
inside the page: from the event of the input, its debounce included, to the frame that shows the last change of the document,
charts included. Two things are left out: the mark of an earlier change that goes, and what is planned beside the page and says
so until it is there; that is begun once nothing changes, so it follows a pause. Before the next change the kernel has to be
idle and nothing may have moved for a while, which is not counted.
What a user would pick instead is a notebook on the same server with a slider whose label Python sets: no model, no chart.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import yaml

from gpuplan.app.forms import Found, place_of

CHANGES = 200
BOUND_MS = 100
"""What 95 of 100 changes of an example may take, on two cores that do nothing else."""
BOUND_RATIO = 3
"""What the same may take, as a multiple of the bare slider."""
EXAMPLES = ("starter", "enterprise", "current", "assistant")
DESIGNS = (*EXAMPLES, "30 groups")
LOCAL = ("current", "assistant")
"""Designs that have no GPU over the network, and so no work to choose for it."""
WORK = ("resnet-50-infer-1", "resnet-50-train-256")
QUIET_MS = 400
"""How long nothing may move before a change counts as shown."""
PAUSE_MS = 200
"""What follows a pause of this length, with the kernel idle, is no longer part of the change; less than ``quiet.QUIET_S``."""
FOLDS = "details:not([open]):is(:has(input), :has([data-at=failures])) > summary"
"""What is opened on each step: the inputs that are folded, and what a failure does, with its chart."""
BARE = """import ipywidgets
slider, label = ipywidgets.IntSlider(description="GPUs", max=1000), ipywidgets.Label("0")
slider.observe(lambda change: setattr(label, "value", str(change["new"])), "value")
ipywidgets.VBox([slider, label])"""

CLOCK = (
    """
((QUIET, PAUSE) => {
  const now = () => performance.now();
  const clock = {};
  const text = new TextDecoder();
  const idle = (data) => /"execution_state": ?"idle"/.test(typeof data === "string" ? data : text.decode(data));
  const move = () => {
    if (clock.idle >= clock.asked && clock.asked && now() - clock.moved > PAUSE) clock.over = true;
    clock.moved = now();
  };
  window.WebSocket = class extends WebSocket {
    constructor(...all) {
      super(...all);
      this.addEventListener("message", ({ data }) => { move(); clock.idle += idle(data); });
    }
    send(data) {
      clock.asked += 1;
      clock.moved = now();
      super.send(data);
    }
  };
  const began = (event) => { if (clock.start === null) clock.start = event.timeStamp; };
  for (const kind of ["input", "change", "click", "keydown"]) addEventListener(kind, began, true);
  let waiting = false;
  const mark = (change) => change.type === "attributes" && change.target.matches(".gp-figures, .gp-tip");
  const changed = (changes) => {
    if (changes.every(mark)) return;
    move();
    if (waiting || clock.over) return;
    waiting = true;
    requestAnimationFrame(() => setTimeout(() => { waiting = false; clock.shown = now(); }));
  };
  addEventListener("DOMContentLoaded", () => new MutationObserver(changed).observe(document.body,
    { childList: true, subtree: true, attributes: true, characterData: true }));
  window.startClock = () => Object.assign(clock, { start: null, asked: 0, idle: 0, shown: 0, moved: now(), over: false });
  window.readClock = () => new Promise((done) => {
    const look = () => {
      const still = now() - Math.max(clock.moved, clock.shown) > QUIET && !waiting && clock.idle >= clock.asked;
      if (!still) return setTimeout(look, 20);
      done(clock.start !== null && clock.asked ? clock.shown - clock.start : null);
    };
    look();
  });
  startClock();
})"""
    f"({QUIET_MS}, {PAUSE_MS});"
)
"""A clock in the page. It counts the messages sent and how often the kernel said that it is idle again."""

Change = tuple[str, str, str]
"""What is done (fill, select, click, press), to what (a ``data-at`` or a selector), and the value."""


def session(group: str, price: str, turn: int, remote: bool) -> list[tuple[str, list[Change]]]:
    """A round through every step. Most changes are taken back by a later one, so that rounds can follow one another.

    Numbers differ from turn to turn, so that hardly anything is remembered from the turn before.
    """
    people, share, work = (f"groups.{group}.{name}" for name in ("people", "active_share", "workload"))
    local, sites, hours, days = (
        f"groups.{group}.{name}" for name in ("remote_allowed", "sites", "hours", "days")
    )
    back = [("click", "undo", ""), ("click", "redo", "")]
    return [
        (
            "usecases",
            [
                *(("fill", people, f"{n + turn}") for n in (33, 34, 36)),
                *(("fill", share, f"{n + turn} %") for n in (60, 55, 50)),
                *(("click", local, "") for _ in range(2)),
                *back,
            ],
        ),
        (
            "demand",
            [
                ("fill", sites, "Austin"),
                ("fill", hours, "08:00-18:00"),
                ("click", "rule-wait", ""),
                *(("press", "slider", key) for key in ("ArrowRight", "ArrowLeft")),
                ("click", "rule-sum", ""),
                *(("select", days, kind) for kind in ("weekdays", "")),
                *back,
            ],
        ),
        (
            "hosts",
            [
                *(("click", f"n{n}", "") for n in (2, 1)),
                *(("click", "availability.maintenance_failure_accepted", "") for _ in range(2)),
                *(("fill", "hardware.existing.1.hosts", n) for n in ("2", "3")),
                *(("click", f".gp-host >> nth={n}", "") for n in (2, 4)),
                ("click", "restore", ""),
                *(("fill", "availability.mtbf_h", f"{n + turn}") for n in (40_000, 60_000)),
                *back,
            ],
        ),
        (
            "network",
            [
                *(("select", "network.link_gbit_s", n) for n in ("25", "100")),
                *(("select", "network.mtu_bytes", n) for n in ("1500", "9000")),
                *(("select", work, name) for name in WORK if remote),
                *(("fill", "training.hosts", n) for n in ("8", "4")),
            ],
        ),
        (
            "cost",
            [
                *(("fill", "cost.years", n) for n in ("3", "5")),
                *(("fill", "cost.hardware_discount", n) for n in ("10 %", "0 %")),
                *(("select", "cost.licence_term_years", way) for way in ("5", "3")),
                *(("fill", price, f"{n + turn}") for n in (30_000, 32_000)),
            ],
        ),
        ("compare", back * 2),
        ("design", back),
        ("deliver", back),
    ]


def thirty_groups(folder: Path) -> Path:
    """A design of 30 groups in three places."""
    sizes = ("1", "1/2", "1/4", "2", "4")
    groups = [
        {
            "id": f"group-{n}",
            "name": f"Group {n}",
            "people": 4 + n % 7,
            "active_share": 0.5,
            "gpus_each": sizes[n % 5],
            "sites": ("Austin", "Bangalore", "London")[n % 3],
            "hours": "8-18",
        }
        for n in range(30)
    ]
    hardware = {"gpu": "v100-pcie-32gb", "server": "dell-c4140", "gpus_per_host": 4}
    path = folder / "thirty.yaml"
    path.write_text(
        yaml.safe_dump({"schema": 1, "name": "30 groups", "groups": groups, "hardware": hardware})
    )
    return path


@contextlib.contextmanager
def serving(folder: Path, **arguments: Any) -> Iterator[str]:
    """Address of a real server on a free port."""
    code = f"from pathlib import PosixPath, WindowsPath\nfrom gpuplan.serve.server import serve\nserve(port=0, **{arguments!r})"
    server = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        text=True,
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().partition(" is running at ")[2].split()[0]
    finally:
        server.terminate()
        server.wait(20)


def took_ms(page: Any, change: Change) -> float:
    """Time of one change. [ms]"""
    act, at, value = change
    control = page.locator(at if at.startswith(".") else f'[data-at="{at}"]').locator("visible=true").first
    if act == "click":
        control.scroll_into_view_if_needed()
    page.evaluate("startClock()")
    if act == "fill":
        control.fill(value)
    elif act == "select":
        control.select_option(value)
    elif act == "click":
        control.click()
    else:
        control.press(value)
    taken = page.evaluate("readClock()")
    if taken is None:
        raise RuntimeError(f"Nothing was sent for {change}")
    if act in ("fill", "press"):  # what was typed is final when the field is left; nothing changes any more
        control.blur()
        page.evaluate("readClock()")
    return float(taken)


def bare_ms(browser: Any, folder: Path, changes: int) -> list[float]:
    """Times of a bare slider with a label. [ms]"""
    notebook = folder / "bare.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(BARE)]), notebook)
    with serving(folder, notebook=notebook) as url, visiting(browser) as page:
        page.goto(url)
        handle = page.locator(".noUi-handle")
        handle.wait_for()
        handle.focus()
        page.evaluate("readClock()")
        return [took_ms(page, ("press", ".noUi-handle", "ArrowRight")) for _ in range(changes)]


@contextlib.contextmanager
def visiting(browser: Any) -> Iterator[Any]:
    """A page with the clock in it."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True)
    context.set_default_timeout(300_000)
    context.add_init_script(CLOCK)
    page = context.new_page()
    yield page
    page.close()


def design_ms(browser: Any, folder: Path, design: str, changes: int) -> dict[str, list[float]]:
    """Times of a session with a design, by step. [ms]"""
    file = thirty_groups(folder) if design == "30 groups" else None
    found: dict[str, list[float]] = defaultdict(list)
    with serving(folder, **({"scenario": file} if file else {})) as url, visiting(browser) as page:
        page.goto(url)
        if not file:
            page.locator(f'.gp-pick[data-at="{design}"]').click()
        row = page.locator(".gp-workload-row").nth(1)
        group = row.get_attribute("data-at").removeprefix("workload-")
        row.click()
        enter(page, "compare")  # the work in the background is done before the clock starts
        page.locator('[data-at="keep"]').click()
        reveal(page, "explore-go", Found("compare", "explore"))
        page.locator('[data-at="explore-go"]').click()
        page.get_by_role("button", name="Explore again").wait_for()
        reveal(page, "prices.servers/", place_of("prices.servers/"))
        price = page.locator('[data-at^="prices.servers/"]').first.get_attribute("data-at")
        rounds = (
            step for turn in itertools.count() for step in session(group, price, turn, design not in LOCAL)
        )
        while (left := changes - sum(map(len, found.values()))) > 0:
            step, script = next(rounds)
            enter(page, step)
            for change in script[:left]:
                reveal(page, change[1], place_of(change[1]) if "." in change[1].strip(".") else None)
                found[step].append(took_ms(page, change))
    return found


def enter(page: Any, step: str) -> None:
    """Go to a step, wait until it is there, and open what is folded."""
    page.evaluate("startClock()")
    page.locator(f'nav [data-at="{step}"]').click()
    page.locator(f'.gp-head[data-step="{step}"]').wait_for()
    unfold(page)


def unfold(page: Any) -> None:
    """Open what is folded."""
    page.evaluate("readClock()")
    while (folds := page.locator(FOLDS).locator("visible=true")).count():
        page.evaluate("startClock()")
        folds.first.click()
        page.evaluate("readClock()")


def reveal(page: Any, key: str, place: Found | None) -> None:
    """Open the tab that something is on, the first if nobody says which; what is on the screen needs no tab."""
    if page.locator(key if key.startswith(".") else f'[data-at^="{key}"]').locator("visible=true").count():
        return
    if place and not page.locator(f'.gp-head[data-step="{place.step}"]').count():
        enter(page, place.step)
    tab = page.locator(f'[data-at="tab-{place.tab}"]' if place else ".gp-tabs [role=tab]").first
    page.evaluate("startClock()")
    tab.click()
    unfold(page)


def p95(times: list[float]) -> float:
    """Time that 95 of 100 changes do not exceed."""
    return sorted(times)[max(0, -(-95 * len(times) // 100) - 1)]


def line(name: str, times: list[float], bare: float) -> str:
    """A row of the table."""
    return (
        f"  {name:24} {len(times):5} {statistics.median(times):8.0f} {p95(times):8.0f} {max(times):8.0f} "
        f"{p95(times) / bare:10.1f} x"
    )


def main() -> int:
    """Print the times of each design by step; 1 if an example takes longer than it may."""
    from playwright.sync_api import sync_playwright

    changes = int(sys.argv[1]) if len(sys.argv) > 1 else CHANGES
    chromium = os.environ.get("GPUPLAN_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    code = 0
    print(f"{os.cpu_count()} cores here, load {os.getloadavg()[0]:.1f}; milliseconds")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        bare = bare_ms(browser, folder, changes)
        print(f"  {'':24} {'n':>5} {'p50':>8} {'p95':>8} {'worst':>8} {'p95 / bare':>12}")
        print(line("slider and label", bare, p95(bare)), flush=True)
        for design in sys.argv[2:] or DESIGNS:
            by_step = design_ms(browser, folder, design, changes)
            every = [taken for times in by_step.values() for taken in times]
            print(line(design, every, p95(bare)))
            for step, times in by_step.items():
                print(line(f"  {step}", times, p95(bare)))
            if design in EXAMPLES:
                most = min(BOUND_MS, BOUND_RATIO * p95(bare))
                code |= p95(every) > most
                print(
                    f"  {design}: p95 {p95(every):.0f} ms of the {most:.0f} ms that it may take", flush=True
                )
        browser.close()
    return code


if __name__ == "__main__":
    sys.exit(main())
