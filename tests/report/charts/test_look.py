"""How charts look: on both screens alike but for the colours, and on paper with a size of their own."""

from __future__ import annotations

import pytest
import vl_convert
from labels import collisions
from random_cases import of_the_day

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.charts.look import DARK, LIGHT, PAPER, chart, config, named_colours
from gpuplan.report.charts.paper import inked
from gpuplan.report.plot import SPECS
from gpuplan.scenario import from_dict

WIDTHS = (320, 480, 640, 900)
LONG = "A team with a name that is as long as a name may be"
HOSTILE = {
    "name": "Long names",
    "groups": [
        {"id": "wide", "name": "W" * 60, "people": 400, "gpus_each": 2},
        {"id": "own", "name": LONG, "people": 2, "gpus_each": 1, "access": "passthrough"},
        *({"id": f"g{n}", "name": f"{LONG} {n}", "people": 30 * n, "gpus_each": 0.5} for n in range(1, 8)),
    ],
    "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 8},
}
DRAWN = [*((name, ()) for name in SPECS), ("network", ("speed",))]


def test_screens_differ_in_colour_only() -> None:
    light, dark = config(LIGHT), config(DARK)
    assert light["background"] == dark["background"] == "transparent"
    assert light["title"]["color"] == "#1a2230"
    assert dark["title"]["color"] == "#e8edf4"
    assert light.keys() == dark.keys()


def test_a_chart_is_as_wide_as_its_place_and_on_paper_640_units() -> None:
    assert chart([], LIGHT, "about", 270, 360)["width"] == "container"
    paper = chart([], PAPER, "about", 270, 360)
    assert (paper["width"], paper["height"], paper["config"]["background"]) == (640, 360, "#ffffff")


def test_only_paper_names_the_colours_in_the_chart() -> None:
    colours = [("A", "#111111"), ("B", "#222222")]
    assert named_colours("group", colours, LIGHT)["legend"] is None
    on_paper = named_colours("group", colours, PAPER, columns=2)
    assert on_paper["legend"]["columns"] == 2
    assert on_paper["scale"] == {"domain": ["A", "B"], "range": ["#111111", "#222222"]}


@pytest.mark.parametrize(("name", "about"), DRAWN, ids=lambda part: str(part))
def test_labels_of_a_notebook_never_collide(
    name: str, about: tuple[str, ...], plans: dict[str, Plan], catalog: Catalog
) -> None:
    """Of the examples, and at each width of a design with names as long as they may be."""
    hostile = make_plan(from_dict(HOSTILE), catalog)
    designs = [(plan, width) for plan in plans.values() for width in of_the_day(WIDTHS, 1, name)]
    for plan, width in [*designs, *((hostile, width) for width in WIDTHS)]:
        spec = plan.plot.spec(name, *about)
        wide = spec | ({"width": width} if "layer" in spec else {})
        found = collisions(str(vl_convert.vegalite_to_svg(inked(wide))))
        assert not found, (plan.scenario.name, width)
