"""Checks of the basis."""

from __future__ import annotations

from typing import Any

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.scenario import from_dict


def messages(catalog: Catalog, **data: Any) -> dict[str, Message]:
    return {m.code: m for m in check_plan(make_plan(from_dict(data), catalog))}


def one(**group: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "name": "Team", **group}]


def test_the_slip_in_the_source_is_a_note_with_its_citation(plans: dict[str, Plan]) -> None:
    (note,) = [m for m in check_plan(plans["starter"]) if m.code == "source-note"]
    assert note.level == "note"
    assert "8 x 2 = 16" in note.text
    assert note.sources == ("vmware-sharing-gpus-2020",)
    assert note.locator


def test_figures_in_between_are_no_inputs(catalog: Catalog) -> None:
    """What is assumed of the cost counts once, not once for each year."""
    counts = [
        int(messages(catalog, groups=one(), cost={"years": years})["inputs-assumed"].text.split()[0])
        for years in (1, 7)
    ]
    assert counts[0] == counts[1]
