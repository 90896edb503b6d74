"""Packages of other authors: the worked example of `docs/how/extend.md`, as it is printed there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gpuplan.extensions import added

ROOT = Path(__file__).resolve().parents[1]
EXTEND = (ROOT / "docs" / "how" / "extend.md").read_text(encoding="utf-8")


def test_nothing_is_added_by_gpuplan_itself() -> None:
    assert not any(added(kind) for kind in ("figures", "readers", "files"))


@pytest.mark.slow
def test_what_an_author_adds_is_planned_explained_read_and_written(tmp_path: Path) -> None:
    """The files of `docs/how/extend.md`, beside gpuplan as pip would install them, in a process of their own."""
    files: dict[str, str] = {}
    for name, text in re.findall(r"^```\w+\n# ([\w./]+)(?:, continued)?\n(.*?)^```", EXTEND, re.M | re.S):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        files[name] = files.get(name, "") + text
        path.write_text(files[name], encoding="utf-8")
    project = tomllib.loads(files["pyproject.toml"])["project"]
    points = (
        f"[{group}]\n" + "".join(f"{name} = {thing}\n" for name, thing in of.items())
        for group, of in project["entry-points"].items()
    )
    told = tmp_path / "northwind_gpuplan-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    (told / "entry_points.txt").write_text("".join(points))
    commands = re.findall(r"^gpuplan (.*)$", EXTEND, re.M)
    script = [f"assert main({command.split()!r}) == 0\nprint('~~~')" for command in commands]
    shown = [block for block in re.findall(r"^```python\n(.*?)^```", EXTEND, re.M | re.S) if block[0] != "#"]
    last = (
        "print(gp.explain(plan, 'added.air').formula, list(lines.loc[lines['key'] == 'added.air', 'value']))"
    )
    code = "\n".join(["from gpuplan.cli import main", *script, *shown, last])
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    call = [sys.executable, "-c", code]
    made = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=300)
    assert made.returncode == 0, made.stderr[-3000:]
    answer, audited, _, said = made.stdout.split("~~~\n")
    plan = json.loads(answer)
    line = next(line for line in plan["lines"] if line["key"] == "added.air")
    assert "northwind-facility" in line["sources"] and line["basis"] == "assumed"
    peak = next(line for line in plan["lines"] if line["key"] == "power.peak")["value"]
    assert line["value"] == pytest.approx(3600 * peak / (1.2 * 1005 * 12))
    assert str(line["value"]) in said and "K" in said
    assert plan["groups"][0]["use_case"] == "Quality inspection"
    assert "robot" in audited
    assert (tmp_path / "files" / "northwind-vision-questions.csv").stat().st_size > 100
    document = (tmp_path / "files" / "northwind-vision.html").read_text(encoding="utf-8")
    assert "Cooling air" in document and "m³/h" in document
