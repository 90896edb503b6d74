"""The built wheel, installed into a fresh virtual environment without a network, plans from another folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from email import message_from_string
from email.message import Message
from importlib.metadata import distribution
from pathlib import Path

import pytest
from approved import has_approved

ROOT = Path(__file__).resolve().parents[1]

NEEDED = {"numpy", "scipy", "pyyaml", "tzdata"}
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
"""Without a path on which the tree itself is found."""

pytestmark = pytest.mark.slow


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=CLEAN, capture_output=True, text=True)
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
        "gpuplan/__init__.pyi",
        "gpuplan/py.typed",
        "gpuplan/serve/workbook.ipynb",
        "gpuplan/deliver/document/templates/document.html.j2",
        "gpuplan/deliver/infrastructure/templates/vsphere/main.tf.j2",
        "gpuplan/deliver/pptx/templates/chart.xml.j2",
        "gpuplan/widgets/static/app.css",
        "gpuplan/widgets/static/vega.js",
    ):
        assert needed in names
    assert any(n.endswith("templates/gpuplan/index.html.j2") for n in names)
    assert not [
        n for n in names if n.startswith(("tests/", "notebooks/", "benchmarks/")) or "__pycache__" in n
    ]


@pytest.fixture
def environment(wheel: Path, tmp_path: Path) -> Path:
    """A virtual environment with the wheel and what it needs, linked from the one of this run, so that nothing is downloaded."""
    folder = tmp_path / "env"
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    packages = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip()
    )
    for name in NEEDED:
        installed = distribution(name)
        for part in {file.parts[0] for file in installed.files or ()} - {".."}:
            (packages / part).symlink_to(installed.locate_file(part))
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--no-index", "--no-compile", wheel, cwd=tmp_path)
    return folder / "bin"


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as packed:
        name = next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(packed.read(name).decode())


def test_the_package_says_what_it_is(metadata: Message) -> None:
    assert metadata["Author"] and "vSphere" in metadata["Keywords"]
    assert {"Typing :: Typed", "Framework :: Jupyter"} <= set(metadata.get_all("Classifier", ()))
    assert "analysis" in metadata.get_all("Provides-Extra", ())
    assert metadata["License"] is metadata["License-Expression"] is None, "its owner decides"


def test_it_needs_little(metadata: Message) -> None:
    needed = [each for each in metadata.get_all("Requires-Dist", ()) if "extra ==" not in each]
    assert {re.match(r"[\w-]+", each)[0] for each in needed} == NEEDED


def test_installed_wheel_plans_the_enterprise_example(environment: Path, tmp_path: Path) -> None:
    command = environment / "gpuplan"
    totals = json.loads(run(command, "plan", "enterprise", "--json", cwd=tmp_path))["totals"]
    assert (totals["hosts"], totals["gpus"], totals["gpus_after_failure"]) == (8, 32, 28)
    assert run(command, "--version", cwd=tmp_path).startswith("gpuplan ")
    assert "Tesla V100" in run(command, "catalog", "v100", cwd=tmp_path)
    done = subprocess.run([str(command), "app"], cwd=tmp_path, env=CLEAN, capture_output=True, text=True)
    assert done.returncode == 2
    assert has_approved(done.stderr, '"gpuplan[app]"')
