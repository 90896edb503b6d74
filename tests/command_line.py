"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuplan.cli import main

SCENARIO = "name: Mine\ngroups:\n- {id: a, name: Team, people: 8, gpus_each: 3}\n"
JOBS = "submit,duration,gpus,group\n" + "".join(
    f"2024-05-{6 + hour // 24:02} {hour % 24:02}:00:00,{3600 * (1 + hour % 3)},{1 + hour % 2},{'ab'[hour % 2]}\n"
    for hour in range(240)
)
FEW = (
    "--gpu",
    "v100-pcie-32gb",
    "--server",
    "any",
    "--gpus-per-host",
    "4",
    "--link",
    "100",
    "--workers",
    "1",
)
"""Options that leave few designs to explore."""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS, encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err
