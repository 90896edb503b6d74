"""A customer's notebook is served by Voila as it is: its widgets live, its charts and tables are there, and no cell fails."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from waiting import LONG_S, soon

pytest.importorskip("voila")

from gpuplan.report.plot import MIME

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "09_your_own_notebook.ipynb"


pytestmark = pytest.mark.browser


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Where Voila serves it: on a port that it finds free itself."""
    log = tmp_path / "log.txt"
    command = [sys.executable, "-m", "voila", str(NOTEBOOK), "--no-browser"]
    with log.open("w") as written:
        served = subprocess.Popen(command, stdout=written, stderr=written)
    try:
        yield soon(lambda: re.search(r"http://localhost:\d+/", log.read_text()), "it never ran")[0]
    finally:
        served.terminate()
        served.wait()


def test_voila_serves_it_with_widgets_tables_and_charts_that_follow_a_slider(
    address: str, browser: Any
) -> None:
    page = browser.new_page()
    page.route(lambda url: not url.startswith(address), lambda route: route.abort())
    text = page.goto(address, timeout=1000 * LONG_S).text()
    assert "Northwind AI lab" in text and "Traceback" not in text
    assert text.count("application/vnd.jupyter.widget-view+json") == 2
    assert text.count(MIME) >= 2 and "dataframe" in text
    charts = page.locator(".gp-own-chart svg")
    charts.nth(1).wait_for(timeout=1000 * LONG_S)
    assert page.get_by_text("Javascript Error").count() == 0
    before = charts.nth(0).inner_html()
    page.get_by_role("slider").first.press("ArrowRight")
    soon(lambda: charts.nth(0).inner_html() != before)
    page.close()
