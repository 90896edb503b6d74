"""The shipped logs are those that their generator makes, and say what the chapter about them says."""

from __future__ import annotations

import pytest
from example_logs import FILES, FOLDER

from gpuplan.audit import audit, read_trace


@pytest.mark.parametrize("name", FILES)
def test_the_generator_makes_the_file(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == "\n".join([*FILES[name](), ""])


def test_analysts_hold_gpus_that_do_little() -> None:
    jobs = audit(read_trace(FOLDER / "northwind_sacct.txt", time_zone="Europe/Berlin"), installed_gpus=16)
    assert jobs.allocation and jobs.allocation.utilisation == pytest.approx(0.35, abs=0.005)
    samples = audit(read_trace(FOLDER / "northwind_activity.csv", time_zone="Europe/Berlin"))
    groups = {group.name: group for group in samples.activity.groups}
    assert groups["analytics"].mean_gpus > groups["imaging"].mean_gpus > 2
    assert groups["analytics"].busy_gpus < 0.5 < 2 < groups["imaging"].busy_gpus
