"""``gpuplan lab``: JupyterLab with a card in its launcher that opens a new design."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from waiting import LIMIT_S, soon

pytest.importorskip("jupyterlab")

pytestmark = pytest.mark.browser


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Where Lab runs, with its token; it may run as root, as tests in a container do."""
    (tmp_path / "config").mkdir()
    settings = {"ServerApp": {"allow_root": True}}
    (tmp_path / "config" / "jupyter_server_config.json").write_text(json.dumps(settings))
    log = tmp_path / "log.txt"
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    command = [*(sys.executable, "-m", "gpuplan.cli", "lab", str(tmp_path / "designs")), "--no-browser"]
    with log.open("w") as written:
        served = subprocess.Popen(
            command, stdout=written, stderr=written, env={**os.environ, **folders, "JUPYTER_TOKEN": "known"}
        )
    try:
        yield soon(lambda: re.search(r"http://localhost:\d+/", log.read_text()), "it never ran")[0]
    finally:
        served.kill()  # one that ends while a kernel starts waits for ever; the kernel ends with it
        served.wait()


def test_the_card_of_the_launcher_opens_a_new_design_and_lab_asks_nothing_of_the_internet(
    lab: str, browser: Any, tmp_path: Path
) -> None:
    page = browser.new_page()
    elsewhere: list[str] = []
    page.on("request", lambda it: elsewhere.append(it.url))
    page.goto(f"{lab}lab?reset&token=known", timeout=1000 * LIMIT_S)
    page.locator(".jp-LauncherCard", has_text="GPU design").click(timeout=1000 * LIMIT_S)
    cells = page.locator(".jp-NotebookPanel .jp-CodeCell")
    cells.first.wait_for(timeout=1000 * LIMIT_S)
    cells.first.click()
    page.keyboard.press("Shift+Enter")
    cells.first.get_by_text("[1]:").wait_for(timeout=1000 * LIMIT_S)
    assert page.get_by_text("Traceback").count() == 0
    names = sorted(path.name for path in (tmp_path / "designs").glob("*.ipynb"))
    assert names == ["New design 2.ipynb", "New design.ipynb"]
    assert page.get_by_text("official Jupyter news").count() == 0
    assert not [
        url for url in elsewhere if not url.startswith((lab, lab.replace("http", "ws"), "data:", "blob:"))
    ]
    page.close()
