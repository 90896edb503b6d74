"""Advice: what a message advises is done, and the message goes or says what else."""

from __future__ import annotations

from collections import Counter

import pytest
from advice import BESIDE_THE_INPUTS, FOLLOWED, design, fruitless
from random_cases import cases, often

from gpuplan.plan.checks.message import WORDS


def test_every_code_has_its_advice_here() -> None:
    acts = [code for codes in BESIDE_THE_INPUTS.values() for code in codes]
    assert len(acts) == len(set(acts)) and not set(acts) & set(FOLLOWED)
    missing = (set(WORDS) | {"source-note"}) ^ (set(FOLLOWED) | set(acts))
    assert not missing, f"say in tests/advice.py what follows from the advice of {missing}"


@pytest.mark.slow
def test_advice_that_is_followed_helps() -> None:
    """With 24 h between failures the advice against no failover capacity stayed when it was followed."""
    tried: Counter[str] = Counter()
    found = []
    for rng in cases(20_382, 2000, few=15):
        plan = design(rng)
        found += fruitless(plan, tried, most=12) if plan else []
    assert not found, "\n".join(found)
    assert often(len(tried), 41)
