"""Inputs of lines: values that the plan works out, and their labels."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from gpuplan.facts import Fact, own_rows
from gpuplan.plan.inputs import NOTES, derived, label_of, resting_on
from gpuplan.units import SUFFIX

PLAN = Path(__file__).parents[2] / "gpuplan" / "plan"


def test_what_the_plan_works_out_says_so() -> None:
    fact = derived("power/boards", 3)
    assert (fact.value, fact.unit, fact.basis, fact.note) == (3, "1", "derived", NOTES["power/boards"][1])
    assert fact.sources == ("gpuplan-method",)


def test_a_note_is_found_by_a_name_and_filled_in() -> None:
    fact = derived("domain/x", 3, "domain/host_vcpus", cores=12)
    assert (fact.key, fact.unit, fact.note) == ("domain/x", "1", "of 12 cores")
    with pytest.raises(KeyError):
        derived("domain/x", 3)


def test_what_rests_on_others_is_known_no_better_than_the_weakest() -> None:
    a = Fact("a", 1, "1", None, None, "measured", ("s", "t"))
    b = Fact("b", 1, "1", None, None, "assumed", ("t", "u"))
    fact = resting_on((a, b), "power/idle_share", 0.5)
    assert (fact.value, fact.basis, fact.sources) == (0.5, "assumed", ("s", "t", "u"))


def test_every_note_is_used_and_has_a_unit_of_gpuplan() -> None:
    code = "".join(path.read_text() for path in PLAN.rglob("*.py"))
    named = set(re.findall(r'"([^"\n]+)"', code))
    job = ast.walk(ast.parse((PLAN / "training" / "llm_job.py").read_text()))
    calls = [
        n for n in job if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and "derived" in n.func.id
    ]
    keys = {ast.unparse(argument).strip("f'") for call in calls for argument in call.args[:1]}
    named |= {key.replace("{PATH}", "network.job") for key in keys}
    named |= {
        f"network.job/{word.arg}" for call in calls if call.func.id == "_derived" for word in call.keywords
    }
    built = {"cost/gpu_hours_installed", "cost/gpu_hours_used"}  # by the two kinds of hours
    assert set(NOTES) - named == built
    assert len(NOTES) == len(own_rows("words/derived"))
    assert {unit for unit, _ in NOTES.values()} <= {*SUFFIX.values(), "1", ""}


def test_a_label_is_that_of_an_input_or_made_of_a_name() -> None:
    assert label_of("assumptions/x/mtbf_h") == "X time between failures"
    assert label_of("plan/GPUs left") == "GPUs left" and label_of("plan/gpu_memory_gib") == "GPU memory"
