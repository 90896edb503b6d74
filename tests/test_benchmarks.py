"""The benchmarks run by hand, so a test holds that what they take from gpuplan is there, also in the code that they give to other processes."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_what_a_benchmark_takes_from_gpuplan_is_there(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    taken = re.findall(r"from (gpuplan[\w.]*) import (\w+(?:, \w+)*|\([^)]*\))", text)
    assert taken
    for module, names in taken:
        for name in re.findall(r"\w+", names):
            assert hasattr(import_module(module), name), f"{module} has no {name}"
