"""A customer's notebook is served by Voila as it is: its widgets live, its charts and tables are there, and no cell fails."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from waiting import LIMIT_S, LONG_S, soon

pytest.importorskip("voila")

from gpuplan.report.plot import MIME

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "09_your_own_notebook.ipynb"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where Voila serves it."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    asked = (str(NOTEBOOK), "--no-browser", "--port", str(port))
    served = subprocess.Popen([sys.executable, "-m", "voila", *asked], stderr=subprocess.DEVNULL)
    try:
        yield f"http://localhost:{port}/"
    finally:
        served.terminate()
        served.wait()


def test_voila_serves_it_with_widgets_charts_and_tables(address: str) -> None:
    def page() -> str:
        try:
            with urllib.request.urlopen(address, timeout=LIMIT_S) as answer:
                return str(answer.read().decode())
        except urllib.error.URLError:
            return ""  # not there yet

    text = soon(page)
    assert "Northwind AI lab" in text and "Traceback" not in text
    assert text.count("application/vnd.jupyter.widget-view+json") == 2
    assert text.count(MIME) >= 2 and "gpus_after_failure" in text


def test_its_charts_are_drawn_and_follow_a_slider(address: str, browser: Any) -> None:
    page = browser.new_page()
    page.route(lambda url: not url.startswith(address), lambda route: route.abort())
    page.goto(address, timeout=1000 * LONG_S)
    charts = page.locator(".gp-own-chart svg")
    charts.nth(1).wait_for(timeout=1000 * LONG_S)
    assert page.get_by_text("Javascript Error").count() == 0
    before = charts.nth(0).inner_html()
    page.get_by_role("slider").first.press("ArrowRight")
    soon(lambda: charts.nth(0).inner_html() != before)
    page.close()
