"""Letters and colours: one for each part of the cost, the colours those of the stylesheet."""

from __future__ import annotations

import re
from pathlib import Path

import gpuplan
from gpuplan.plan.cash_flow import PARTS as COST_PARTS
from gpuplan.report.colours import COLOURS, OKABE_ITO, PARTS


def test_every_part_of_a_cost_has_a_letter_of_its_own_and_a_colour_of_the_palette() -> None:
    assert tuple(PARTS) == COST_PARTS
    assert len({letter for letter, _ in PARTS.values()}) == len(PARTS)
    assert all(letter in name.upper() for name, (letter, _) in PARTS.items())
    assert all(0 <= colour < len(COLOURS) for _, colour in PARTS.values())


def test_the_colours_are_those_of_the_stylesheet() -> None:
    style = (Path(gpuplan.__file__).parent / "widgets" / "static" / "app.css").read_text(encoding="utf-8")
    assert len(set(OKABE_ITO)) == len(OKABE_ITO)
    for colour in OKABE_ITO:
        assert re.search(colour, style, re.IGNORECASE), colour
