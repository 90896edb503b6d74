"""The documentation site: it builds without a warning, loads nothing from elsewhere, and its pages' code works."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from test_docstrings import FUNCTIONS

import gpuplan
from gpuplan.cli import main

ROOT = Path(__file__).resolve().parents[1]
HOW = ROOT / "docs" / "how"
PAGES = sorted(path for path in HOW.glob("*.md") if path.stem not in ("index", "extend"))
sys.path.append(str(ROOT / "docs"))
mathml = pytest.importorskip("mathml")


def test_there_are_pages_by_question() -> None:
    assert len(PAGES) > 12


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_a_page_works(page: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    """Python gives what its comments say; a command after `$` ends with 0, others have options that exist."""
    monkeypatch.chdir(tmp_path)
    for table in HOW.glob("*.csv"):
        shutil.copy(table, tmp_path)
    names: dict[str, object] = {}
    for kind, code in re.findall(
        r"^```(python|console|shell)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S
    ):
        if kind == "python":
            run(code, names)
        for command in re.findall(r"^\$ gpuplan (.*)$", code, re.M):
            assert not main(command.split()), command
        for command, rest in re.findall(r"^gpuplan (\S+)(.*)$", code, re.M):
            assert {*re.findall(r"--[\w-]+", rest)} <= options_of(command), command


def options_of(command: str) -> set[str]:
    """Options of a command."""
    table = (ROOT / "data" / "words" / "options.csv").read_text(encoding="utf-8").splitlines()
    rows = (line.split(",") for line in table)
    return {row[1] for row in rows if command in row[0].split()}


def run(code: str, names: dict[str, object]) -> None:
    """Run statements one after another; the value of an expression is what the comment after it says."""
    lines = code.splitlines()
    for node in ast.parse(code).body:
        text = ast.get_source_segment(code, node) or ""
        if not isinstance(node, ast.Expr):
            exec(text, names)
            continue
        value = eval(text, names)
        said = lines[(node.end_lineno or 1) - 1].partition("  # ")[2]
        if said:
            assert value == ast.literal_eval(said), text


def test_a_formula_is_drawn_and_prose_is_not() -> None:
    drawn = mathml.mathml("ceil(hosts / (most_hosts - spare_hosts))")
    assert "⌈<mfrac>" in drawn.replace("</mo>", "").replace("<mo>", "")
    assert "<msup>" in mathml.mathml("price * (1 + yearly_change) ** year")
    assert mathml.mathml("a / b / c").count("<mfrac>") == 1
    assert mathml.mathml("load x size").count("×") == 1
    for prose in ("Fails and/or waits.", "First-fit of M/M/c, e.g. 24 GPUs.", "A line of 1 to 32 GB."):
        assert mathml.marked(prose) == prose
    text = mathml.marked("gpus * 8760. Failures are not taken off. [walker-cpu-hour-2009]_")
    assert text.startswith(":formula-block:`gpus * 8760`") and text.endswith("[walker-cpu-hour-2009]_")


class Page(HTMLParser):
    """Links of a page, what it loads, its anchors and its formulas."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors = {""}
        self.formulas = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Sort the attributes of a tag."""
        of = {name: value or "" for name, value in attrs}
        self.anchors |= {of.get("id", ""), of.get("name", "")}
        self.formulas += tag == "math"
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        elif tag == "link" and of.get("rel") not in ("canonical", "search", "index", "next", "prev"):
            self.loads.append(of.get("href", ""))
        else:
            self.loads += [of[name] for name in ("src", "srcset", "data", "poster") if name in of]


@pytest.fixture(scope="module")
def site() -> Iterator[Path]:
    """The site, built as `make docs` does; what is there from the last time is brought up to date."""
    folder = ROOT / "build" / "docs"
    call = [sys.executable, str(ROOT / "docs" / "build.py"), str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    made = subprocess.run(call, capture_output=True, text=True, env=environment, timeout=900)
    assert made.returncode == 0, made.stderr[-4000:]
    yield folder


@pytest.mark.slow
def test_the_site_is_whole_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    outside = {load for page in pages.values() for load in page.loads if urlsplit(load).netloc}
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    outside |= {
        found for style in styles for found in re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", style)
    }
    assert not outside
    broken = []
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            part = urlsplit(link)
            if part.scheme or part.netloc or not link:
                continue
            target = (path.parent / unquote(part.path)).resolve() if part.path else path
            lost = target in pages and unquote(part.fragment) not in pages[target].anchors
            if lost or not target.exists():
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken
    anchors = set().union(*(page.anchors for page in pages.values()))
    public = {name for name in gpuplan.__all__ if not isinstance(getattr(gpuplan, name), str)}
    public -= {name for name in public if inspect.ismodule(getattr(gpuplan, name))}
    assert not {f"gpuplan.{name}" for name in public} - anchors
    assert not {f"gpuplan.models.{name}" for name in FUNCTIONS if "gpuplan" not in name} - anchors
    assert sum(page.formulas for path, page in pages.items() if "models" in path.parts) > 150
    assert (site / "searchindex.js").exists()
