"""Lines of a user's own code run as written, and type checkers know what each of them gives."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S))
PAGE = """
import gpuplan as gp

design = gp.Scenario(
    name="Northwind",
    groups=[
        gp.Group("assistant", use_case="llm-serving", model="llama-3.3-70b", people=400, active_share=0.12),
        gp.Group("scientists", use_case="notebooks", people=40, gpus_each="1/2"),
    ],
    hardware=gp.Hardware(gpu="h100-nvl-94gb", gpus_per_host=4),
)
plan = gp.make_plan(design)
plan
plan.verdict
plan.totals.hosts
plan.plot.cost()
gp.explain(plan, "totals.hosts")

other = gp.make_plan(gp.load_scenario("enterprise"))
gp.compare(plan, other)
gp.sweep(other, "groups.researchers.people", [20, 40])
gp.plan_frames(other)
gp.solve(design, maximise="users:assistant", budget=1.5e6, power_kw=40, racks=2)

d = gp.Design(design)
d.slider("groups.assistant.people", 100, 1000); d.headline(); d.widget("hosts"); d.plot.cost()
gp.report(plan, to="northwind", only=["pdf", "pptx"])
"""
LONG = ("solve", "report")
"""Functions that take tens of seconds on such a design."""
STRICT = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)]}


def run(page: str, *left_out: str) -> None:
    """Run each statement of a page; what a line shows has a text."""
    names: dict[str, Any] = {}
    for node in ast.parse(page).body:
        code = ast.unparse(node)
        if any(f"gp.{name}(" in code for name in left_out):
            continue
        if isinstance(node, ast.Expr):
            assert repr(eval(code, names)), code
        else:
            exec(code, names)


@pytest.mark.slow
def test_each_line_runs_as_written() -> None:
    pytest.importorskip("altair")
    run(PAGE, *LONG)


@pytest.mark.nightly
def test_long_lines_run_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(PAGE)
    assert {path.suffix for path in (tmp_path / "northwind").iterdir()} == {".pdf", ".pptx"}


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_type_checker_finds_nothing_and_knows_what_each_line_gives(checker: str, tmp_path: Path) -> None:
    pytest.importorskip(checker)
    if not any((Path(path) / "pandas-stubs").is_dir() for path in sys.path):
        pytest.skip("pandas-stubs is missing")
    shown = ast.parse(PAGE + README.replace("import gpuplan as gp\n", ""))
    for node in shown.body:
        if isinstance(node, ast.Expr):
            node.value = ast.Call(ast.Name("reveal_type"), [node.value], [])
    (tmp_path / "page.py").write_text(ast.unparse(shown))
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(STRICT))
    if checker == "mypy":  # with what it knows of gpuplan from before: without, it takes half a minute
        command, folder = (tmp_path / "page.py",), ROOT
    else:
        command, folder = ("--pythonpath", sys.executable), tmp_path
    done = subprocess.run(
        [sys.executable, "-m", checker, *command], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    revealed = [line for line in done.stdout.splitlines() if "Revealed type" in line or "Type of" in line]
    assert len(revealed) == sum(isinstance(node, ast.Expr) for node in shown.body)
    assert [line for line in revealed if re.search(r"\bAny\b|Unknown", line)] == []
