"""The built wheel, installed into a fresh virtual environment, plans from another folder."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from approved import has_approved

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.slow


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


def test_wheel_carries_what_it_needs_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    shipped = {str(path.relative_to(ROOT)) for path in (ROOT / "data").rglob("*") if path.is_file()}
    assert shipped <= {n.removeprefix("gpuplan/") for n in names if n.startswith("gpuplan/data/")}
    for needed in (
        "gpuplan/app/workbook.ipynb",
        "gpuplan/report/templates/document.html.j2",
        "gpuplan/report/templates/infrastructure/vsphere/main.tf.j2",
        "gpuplan/widgets/static/app.css",
        "gpuplan/widgets/static/vega.js",
    ):
        assert needed in names
    assert any(n.endswith("templates/gpuplan/index.html.j2") for n in names)
    assert not [
        n for n in names if n.startswith(("tests/", "notebooks/", "benchmarks/")) or "__pycache__" in n
    ]


def test_installed_wheel_plans_the_enterprise_example(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=elsewhere)
    command = tmp_path / "env" / "bin" / "gpuplan"
    totals = json.loads(run(command, "plan", "enterprise", "--json", cwd=elsewhere))["totals"]
    assert (totals["hosts"], totals["gpus"], totals["gpus_after_failure"]) == (8, 32, 28)
    assert "Tesla V100" in run(command, "catalog", "v100", cwd=elsewhere)
    installed = run(python, "-m", "pip", "list", "--format=json", cwd=elsewhere)
    assert {p["name"].lower() for p in json.loads(installed)} <= {
        "gpuplan",
        "numpy",
        "scipy",
        "pyyaml",
        "pip",
        "setuptools",
        "tzdata",
    }
    done = subprocess.run([str(command), "app"], cwd=elsewhere, capture_output=True, text=True)
    assert done.returncode == 2
    assert has_approved(done.stderr, '"gpuplan[app]"')
