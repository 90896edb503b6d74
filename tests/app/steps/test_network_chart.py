"""The scaling chart: Vega-Lite that altair's own schema accepts, and that shows what it was given."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("altair")
pytest.importorskip("traitlets")

import altair as alt

from gpuplan import load_scenario
from gpuplan.app.model import Workbook
from gpuplan.app.steps.network_chart import CHOSEN, scaling_chart
from gpuplan.app.steps.network_step import scaling_rows
from gpuplan.catalog import Catalog


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("current"))


def layer(spec: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each for each in spec["layer"] if each["mark"]["type"] == kind]


@pytest.mark.parametrize("link", ["1", "10", "25", "40", "100", "400"])
@pytest.mark.parametrize("view", ["efficiency", "speed"])
def test_it_is_valid_vega_lite(book: Workbook, link: str, view: str) -> None:
    book.edit("network.link_gbit_s", link)
    book.look("scaling", view)
    spec = scaling_chart(scaling_rows(book), view == "speed")
    alt.Chart.from_dict(spec, validate=True)
    assert "Throughput" in spec["description"] if view == "speed" else "Efficiency" in spec["description"]
    assert len(layer(spec, "area")) == (view == "efficiency")  # a range is known of the efficiency


def test_the_design_is_thick_with_its_band_and_the_others_differ_by_more_than_colour(book: Workbook) -> None:
    data = scaling_rows(book)
    spec = scaling_chart(data, False)
    others, own = layer(spec, "line")
    assert own["mark"]["strokeWidth"] > 2 * others["mark"]["strokeWidth"]
    (band,) = layer(spec, "area")
    assert band["data"] == own["data"]
    assert {row["name"] for row in own["data"]["values"]} == {data["names"][0]["name"]}
    (points,) = layer(spec, "point")
    colours = points["encoding"]["color"]["scale"]
    shapes = points["encoding"]["shape"]["scale"]["range"]
    assert colours["domain"] == [each["name"] for each in data["names"]]
    assert (colours["range"][0], shapes[0]) == (CHOSEN, "circle")
    assert len(set(zip(colours["range"], shapes, strict=True))) == len(data["names"])
    dashes = others["encoding"]["strokeDash"]["scale"]["range"]
    assert [dash == [1, 0] for dash in dashes[1:]] == [each["rdma"] for each in data["names"][1:]]
