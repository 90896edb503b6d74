"""Widgets on a page where none lives: each keeps words, tables and pictures, and a box those of the widgets in it."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ipywidgets import HTML, Dropdown, IntSlider

from gpuplan import Chart, Design, HBox, VBox
from gpuplan.catalog import Catalog
from gpuplan.widgets.kept import VIEW

BARS = {
    "data": {"values": [{"x": 1}]},
    "mark": "bar",
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}
MOST = 40_000
"""Characters of a picture in a notebook."""


def test_a_box_keeps_pictures_names_and_values() -> None:
    chosen = Dropdown(options=[("Twenty-five", 25)], description="<Link>")
    box = VBox([HBox([IntSlider(3, description="Users"), chosen]), HTML("<em>so</em>"), Chart(BARS)])
    users, link, said, about, drawn = (data for data, _ in box.kept())
    assert "Users: <strong>3</strong>" in users["text/html"] and users["text/plain"] == "Users: 3"
    assert "&lt;Link&gt;: <strong>Twenty-five</strong>" in link["text/html"]
    assert said["text/html"] == "<em>so</em>" and about["text/plain"] == drawn["text/plain"]
    assert base64.b64decode(drawn["image/png"]).startswith(b"\x89PNG")


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What a kernel sends to a cell."""
    import IPython
    import IPython.display

    shown: list[dict[str, Any]] = []
    monkeypatch.setattr(IPython.display, "display", lambda data, raw, metadata=None: shown.append(data))
    monkeypatch.setattr(IPython, "get_ipython", lambda: type("Shell", (), {"kernel": None}))
    return shown


def test_every_widget_of_a_design_leaves_something_to_read(
    catalog: Catalog, outputs: list[dict[str, Any]]
) -> None:
    design = Design("enterprise", catalog)
    people = "groups.researchers.people"
    widgets = {
        "slider": design.slider(people, 1, 9),
        "choice": design.choice("hardware.gpu"),
        "headline": design.headline(),
        "table": design.table("hosts"),
        "step": design.widget("cost"),
        "chart": design.plot.cost(),
        "box": VBox([design.slider(people, 1, 9), design.headline()]),
    }
    for name, widget in widgets.items():
        outputs.clear()
        widget._ipython_display_()
        view, *kept = outputs
        assert view == {VIEW: view[VIEW], "text/plain": ""} and view[VIEW]["model_id"] == widget.model_id
        assert kept and all(each["text/plain"] for each in kept), name
        assert all("gp-kept" in each["text/html"] for each in kept if "image/png" not in each)
        assert all("<script" not in str(each) for each in kept)
        assert all(len(each.get("image/png", "")) < MOST for each in kept), name
    outputs.clear()
    widgets["headline"]._ipython_display_()
    card = outputs[1]["text/html"]
    assert all(figure in card for figure in ("28", "32", "USD 2.5 M (1.9 to 2.8 M)", "42"))
    assert "gp-live" in widgets["slider"]._dom_classes
