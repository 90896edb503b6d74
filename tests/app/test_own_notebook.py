"""A customer's notebook is served by Voila as it is: its widgets live, its charts and tables are there, and no cell fails."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from waiting import LIMIT_S, soon

pytest.importorskip("voila")

from gpuplan.report.plot import MIME

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "09_your_own_notebook.ipynb"


def test_voila_serves_it_with_widgets_charts_and_tables() -> None:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    asked = (str(NOTEBOOK), "--no-browser", "--port", str(port))
    served = subprocess.Popen([sys.executable, "-m", "voila", *asked], stderr=subprocess.DEVNULL)
    address = f"http://localhost:{port}/"

    def page() -> str:
        try:
            with urllib.request.urlopen(address, timeout=LIMIT_S) as answer:
                return str(answer.read().decode())
        except urllib.error.URLError:
            return ""  # not there yet

    try:
        text = soon(page)
    finally:
        served.terminate()
        served.wait()
    assert "Northwind AI lab" in text and "Traceback" not in text
    assert text.count("application/vnd.jupyter.widget-view+json") == 2
    assert text.count(MIME) >= 2 and "gpus_after_failure" in text
