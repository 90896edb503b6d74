"""What the tests of solving look at: a small design with limits, few hosts to try, and how it is solved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpuplan.analysis.candidates import asked
from gpuplan.analysis.solve import Frontier, Solution, Space, frontier, solve
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


def small_space() -> Space:
    """Hosts with 2 and 4 GPUs of the small design's board and of another one."""
    own = asked(small_scenario())
    hosts = tuple(
        replace(own, gpu=gpu, gpus_per_host=count)
        for gpu in ("l40s-48gb", "h100-nvl-94gb")
        for count in (2, 4)
    )
    return Space(hosts, (own.link_gbit_s,), (3, 5), left_out=(("p4-8gb", "no longer sold"),))


def solution(catalog: Catalog, most: str = "users:a", **limits: Any) -> Solution:
    """Solve the small design over few hosts."""
    sought = {"maximise": most} if most else {"minimise": "cost"}
    return solve(small_scenario(), catalog, space=small_space(), workers=1, **sought, **limits)


def small_frontier(catalog: Catalog, scenario: Scenario) -> Frontier:
    """The least cost of four amounts."""
    return frontier(scenario, catalog, maximise="users:a", points=4, space=small_space(), workers=1)
