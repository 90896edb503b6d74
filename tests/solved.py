"""What the tests of solving look at: a small design with limits, few hosts to try, and how it is solved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpuplan.analysis.candidates import asked
from gpuplan.analysis.solve import Solution, Space, solve
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario, decode_scenario

SMALL = """name: Small
groups:
- {id: a, name: Assistant, people: 40, gpus_each: 1, active_share: 0.5, access: passthrough}
hardware: {gpu: l40s-48gb, server: dell-r760xa}
limits: {boards: "l40s-48gb, h100-nvl-94gb", vendors: Dell}
"""
FEW = ("--workers", "1", "--seconds", "60")
"""Options that solve in this process."""


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return str(path)


def small_scenario(limits: str = "") -> Scenario:
    return decode_scenario((SMALL + limits).encode())


def solution(catalog: Catalog, most: str = "users:a", **limits: Any) -> Solution:
    """Solve the small design over hosts with 2 and 4 GPUs of it and of another board."""
    scenario = small_scenario()
    own = asked(scenario)
    hosts = tuple(
        type(own)(
            gpu,
            own.server,
            count,
            *(getattr(own, name) for name in ("sharing", "link_gbit_s", "host_failures")),
        )
        for gpu in ("l40s-48gb", "h100-nvl-94gb")
        for count in (2, 4)
    )
    space = Space(hosts, (own.link_gbit_s,), (3, 5), left_out=(("p4-8gb", "no longer sold"),))
    sought = {"maximise": most} if most else {"minimise": "cost"}
    return solve(scenario, catalog, space=space, workers=1, **sought, **limits)
