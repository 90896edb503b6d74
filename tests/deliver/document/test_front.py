"""Bars of what moves the cost: from the cost now to that at either end, on one scale, in colours of the ends."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from gpuplan import Plan
from gpuplan.deliver.document.front import EDGES, HIGH, LABELS, LOW, tornado_svg
from gpuplan.deliver.executive import Driver
from gpuplan.report.drawing import WIDTH
from gpuplan.wording import priced, rounded_money

SVG = "{http://www.w3.org/2000/svg}"


def driver(now: float, low: float, high: float, label: str = "Input") -> Driver:
    """An input that costs so much more or less at its ends."""
    ends = sorted((now + low, now + high, now))
    return Driver(label, "least", "most", ends[0], ends[-1], now + low, now + high)


def bars(svg: str, colour: str) -> list[tuple[float, float]]:
    """Where the bars of a colour begin and end, from the top."""
    found = [node for node in ElementTree.fromstring(svg).iter(f"{SVG}rect") if node.get("fill") == colour]
    found.sort(key=lambda node: float(node.attrib["y"]))
    return [(x := float(node.attrib["x"]), x + float(node.attrib["width"])) for node in found]  # type: ignore[misc]


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.fixture
def now(plans: dict[str, Plan]) -> float:
    costs = plans["enterprise"].costs
    assert costs is not None
    return costs.net_present


def test_the_widest_bar_fills_the_width_and_the_others_are_on_its_scale(
    plans: dict[str, Plan], now: float
) -> None:
    """From 1 M below to 3 M above: the cost now is at a quarter, and half a million is an eighth."""
    svg = tornado_svg(plans["enterprise"], [driver(now, -1e6, 3e6), driver(now, -5e5, 5e5)])
    assert svg is not None
    left, right = LABELS + EDGES, WIDTH - EDGES
    wide = right - left
    assert bars(svg, LOW) == [
        pytest.approx((left, left + wide / 4), abs=0.2),
        pytest.approx((left + wide / 8, left + wide / 4), abs=0.2),
    ]
    assert bars(svg, HIGH) == [
        pytest.approx((left + wide / 4, right), abs=0.2),
        pytest.approx((left + wide / 4, left + wide * 3 / 8), abs=0.2),
    ]


def test_an_input_whose_high_end_is_cheaper_goes_to_the_left(plans: dict[str, Plan], now: float) -> None:
    svg = tornado_svg(plans["enterprise"], [driver(now, 1e6, -1e6)])
    assert svg is not None
    middle = (LABELS + WIDTH) / 2
    assert (
        bars(svg, HIGH)[0][1]
        == pytest.approx(middle, abs=0.2)
        == pytest.approx(bars(svg, LOW)[0][0], abs=0.2)
    )
    said = texts(svg)
    assert said.index("most") < said.index("least")  # the left end first


def test_an_end_that_changes_nothing_has_no_bar(plans: dict[str, Plan], now: float) -> None:
    svg = tornado_svg(plans["enterprise"], [driver(now, 0.0, 2e6)])
    assert svg is not None
    assert not bars(svg, LOW)
    assert bars(svg, HIGH) == [pytest.approx((LABELS + EDGES, WIDTH - EDGES), abs=0.2)]


def test_costs_and_ends_stand_beside_the_bars(plans: dict[str, Plan], now: float) -> None:
    svg = tornado_svg(plans["enterprise"], [driver(now, -1e6, 3e6, "<Cores> & more")])
    assert svg is not None
    said = texts(svg)
    for words in ("<Cores> & more", "least", "most", priced(rounded_money(now)[0], "USD")):
        assert words in said
    assert {rounded_money(now - 1e6)[0], rounded_money(now + 3e6)[0]} <= set(said)
    anchors = [
        node for node in ElementTree.fromstring(svg).iter(f"{SVG}text") if node.get("text-anchor") == "end"
    ]
    assert all(float(node.attrib["x"]) - EDGES >= LABELS - 6 for node in anchors)


def test_there_is_no_drawing_of_nothing(plans: dict[str, Plan], now: float) -> None:
    assert tornado_svg(plans["enterprise"], ()) is None
    assert tornado_svg(plans["enterprise"].but(costs=None), [driver(now, -1.0, 1e6)]) is None
