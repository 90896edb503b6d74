"""Drift: an estate as planned has no finding, and each difference is found where it is, and no other."""

from __future__ import annotations

import pytest
from drifts import CHANGES, DESIGNS, PREFIX, changed, design, drift
from random_cases import cases

from gpuplan.audit.drift import drift_of


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("prefix", ["", PREFIX])
def test_an_estate_as_planned_has_no_finding(name: str, prefix: str) -> None:
    of = drift(name, prefix)
    assert of.estate.vms
    assert of.findings == ()
    assert {each.by for each in of.matches.vms} == {"name"}


def test_each_difference_is_found_and_no_other() -> None:
    kinds = sorted(CHANGES)
    for at, rng in enumerate(cases(4001, 4050, few=270)):
        code = kinds[at % len(kinds)]
        ways = (
            (name, changed(rng, drift(name), code, set()))
            for name in rng.sample(sorted(DESIGNS), len(DESIGNS))
        )
        name, change = next((name, change) for name, change in ways if change)
        (found,) = drift_of(design(name), change[0], {}).findings
        assert found.code == code, name
        assert change[2] in found.subjects
        assert len(found.subjects) == 1 + (code == "cluster-split")


def test_several_differences_are_all_found_and_no_other() -> None:
    for rng in cases(4002, 2000, few=150):
        name, taken, wanted = rng.choice(sorted(DESIGNS)), set[str](), set()
        of = drift(name)
        for code in rng.sample(
            [code for code in CHANGES if code not in ("cluster-split", "host-cluster")], 4
        ):
            change = changed(rng, of, code, taken)
            if change:
                of = drift_of(of.design, change[0], {})
                wanted.add(change[1:])
        assert {(each.code, one) for each in of.findings for one in each.subjects} == wanted, name
