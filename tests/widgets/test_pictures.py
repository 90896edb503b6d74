"""Widgets on a page where none lives: a box keeps the pictures and tables of those in it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from ipywidgets import HTML, Dropdown, HBox, IntSlider, VBox

from gpuplan.widgets.chart import Chart, bundle_of

BARS = {
    "data": {"values": [{"x": 1}]},
    "mark": "bar",
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}
VIEW = "application/vnd.jupyter.widget-view+json"


def kept(box: Any) -> dict[str, Any]:
    shown = bundle_of(box)
    return shown[0] if isinstance(shown, tuple) else shown


def test_a_box_keeps_pictures_names_and_values() -> None:
    chosen = Dropdown(options=[("Twenty-five", 25)], description="<Link>")
    slider = IntSlider(3, description="Users")
    found = kept(VBox([HBox([slider, chosen]), HTML("<em>so</em>"), Chart(BARS)]))
    assert VIEW in found
    html = found["text/html"]
    assert "Users: <strong>3</strong>" in html and "&lt;Link&gt;: <strong>Twenty-five</strong>" in html
    assert "<em>so</em>" in html and html.count("<svg") == 1 and "row wrap" in html


def test_a_box_of_inputs_alone_is_as_it_was() -> None:
    box = HBox([IntSlider(3, description="Users")])
    assert kept(box) == box._repr_mimebundle_()


def test_a_notebook_that_uses_gpuplan_keeps_them() -> None:
    code = """if True:
        from IPython.core.interactiveshell import InteractiveShell
        show = InteractiveShell.instance().display_formatter.format
        import gpuplan, ipywidgets
        design = gpuplan.Design("enterprise")
        box = ipywidgets.VBox([design.slider("groups.researchers.people", 1, 9), design.widget("cost"), design.chart("cost")])
        html = show(box)[0]["text/html"]
        print("Users" in html, "Platform licences" in html, "<svg" in html)
        print("Year 1" in show(design.widget("cost"))[0]["text/html"])
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "True True True",
        "True",
    ]
