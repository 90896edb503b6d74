"""Facts: what they refuse, and the order of the bases."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from approved import is_approved

from gpuplan.facts import (
    BASES,
    Fact,
    Source,
    data_root,
    did_you_mean,
    did_you_mean_file,
    weakest,
)


def fact(**changes: Any) -> Fact:
    given: dict[str, Any] = {
        "key": "gpus/x/tdp_w",
        "value": 250,
        "unit": "W",
        "low": None,
        "high": None,
        "basis": "published",
        "sources": ("brochure",),
    }
    return Fact(**{**given, **changes})


def test_a_fact_keeps_what_it_is_given() -> None:
    one = fact(low=200, high=300, locator="page 3", note="at 25 C")
    assert (one.value, one.unit, one.low, one.high) == (250, "W", 200, 300)
    assert (one.basis, one.sources, one.locator, one.note) == (
        "published",
        ("brochure",),
        "page 3",
        "at 25 C",
    )
    assert one.parameter == "tdp_w"


@pytest.mark.parametrize("value", ["PCIe", True, 0, -1.5, 10**15])
def test_values_of_all_kinds(value: Any) -> None:
    assert fact(value=value).value == value


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"basis": "guessed"},
            "basis 'guessed' is unknown; allowed are measured, published, quoted, derived, fitted, assumed",
        ),
        ({"basis": ""}, "basis '' is unknown"),
        ({"sources": ()}, "needs at least one source"),
        ({"sources": ("",)}, "needs at least one source"),
        ({"sources": "brochure"}, "needs at least one source"),
        ({"value": float("nan")}, "not a finite number"),
        ({"value": float("inf")}, "not a finite number"),
        ({"low": 1.0, "high": float("inf")}, "not a finite number"),
        ({"low": 260, "high": 300}, "250 is not between 260 and 300"),
        ({"low": 100, "high": 200}, "250 is not between 100 and 200"),
        ({"low": 100}, "low and high go together"),
        ({"high": 300}, "low and high go together"),
        ({"value": "PCIe", "low": 1, "high": 2}, "only a number"),
        ({"value": True, "low": 0, "high": 2}, "only a number"),
    ],
)
def test_a_fact_refuses(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        fact(**changes)
    assert "\n" not in str(caught.value)


def test_basis_and_sources_have_no_default() -> None:
    with pytest.raises(TypeError):
        Fact("k", 1, "W", None, None)  # type: ignore[call-arg]


def test_facts_and_sources_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        fact().value = 3  # type: ignore[misc]
    source = Source("a", "A", "me", "", "2020", "2026-11-20", "maker")
    with pytest.raises(dataclasses.FrozenInstanceError):
        source.title = "B"  # type: ignore[misc]


def test_weakest_is_the_last_in_the_order_of_strength() -> None:
    assert BASES == ("measured", "published", "quoted", "derived", "fitted", "assumed")
    for index, basis in enumerate(BASES):
        assert weakest(BASES[: index + 1]) == basis
        assert weakest(reversed(BASES[: index + 1])) == basis


def test_weakest_refuses_nothing_and_nonsense() -> None:
    with pytest.raises(ValueError, match="no basis"):
        weakest([])
    with pytest.raises(ValueError, match="'hearsay' is unknown"):
        weakest(["published", "hearsay"])


def test_data_root_holds_the_catalog() -> None:
    assert (data_root() / "schema.csv").is_file()


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("V100-PCIE", "; did you mean v100-pcie-16gb?"),  # whatever the case
        ("v100", "; did you mean v100-pcie-16gb or v100-sxm2-16gb?"),  # a part of the name
        ("a4o", "; did you mean a40-48gb?"),  # a part that is nearly so
        ("b200", ""),
        ("", ""),
    ],
)
def test_what_is_near_to_a_word(asked: str, near: str) -> None:
    known = ["v100-pcie-16gb", "v100-sxm2-16gb", "a40-48gb"]
    assert did_you_mean(asked, known) == near


def test_what_is_near_to_a_file(tmp_path: Path) -> None:
    for name in ("jobs.csv", "notes.txt"):
        (tmp_path / name).touch()
    assert is_approved(did_you_mean_file(tmp_path / "job.csv"), "jobs.csv")
    assert is_approved(did_you_mean_file(tmp_path / "startr", ["starter"]))
    assert did_you_mean_file(tmp_path / "none" / "jobs.csv") == did_you_mean_file(tmp_path / "jobs.csv") == ""
