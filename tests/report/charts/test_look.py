"""How charts look: on both screens alike but for the colours, and on paper with a size of their own."""

from __future__ import annotations

from gpuplan.report.charts.look import DARK, LIGHT, PAPER, chart, config, named_colours


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
