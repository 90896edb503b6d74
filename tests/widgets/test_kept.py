"""Widgets on a page where none lives: each keeps words, tables and pictures, and a box those of the widgets in it."""

from __future__ import annotations

import base64
import re
from typing import Any

import nbformat
import pytest
from ipywidgets import HTML, Dropdown, IntSlider
from nbconvert import HTMLExporter

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


def test_a_page_without_scripts_and_internet_shows_them_though_the_state_of_the_widgets_is_saved(
    catalog: Catalog, outputs: list[dict[str, Any]]
) -> None:
    """nbconvert prefers the view of a widget whose state it has to all other formats of that output, and then shows nothing."""
    design = Design("enterprise", catalog)
    widgets = [
        design.headline(),
        VBox([design.slider("groups.researchers.people", 1, 9), design.plot.cost()]),
    ]
    for widget in widgets:
        widget._ipython_display_()
    shown = [nbformat.v4.new_output("display_data", data=data) for data in outputs]
    saved = {"version_major": 2, "version_minor": 0, "state": {widget.model_id: {} for widget in widgets}}
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("", outputs=shown)],
        metadata={"widgets": {"application/vnd.jupyter.widget-state+json": saved}},
    )
    page, _ = HTMLExporter().from_notebook_node(notebook)
    bare = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)
    assert "USD 2.5 M (1.9 to 2.8 M)" in bare and "Users: <strong>3</strong>" in bare
    assert bare.count("data:image/png;base64,") == 1
