"""Menus and sliders of a part are widgets of ipywidgets, which follow its data and what is chosen in the browser."""

from __future__ import annotations

from typing import Any

import ipywidgets
import pytest

from gpuplan.widgets.part import MOST, Part, make_part

Heard = list[tuple[str, Any]]


def menu(value: str, options: str = "abc") -> dict[str, Any]:
    listed = [{"value": option, "text": option.upper()} for option in options]
    return {"what": "view", "label": "Show", "value": value, "options": listed}


@pytest.fixture
def heard() -> Heard:
    """What the part has passed on."""
    return []


@pytest.fixture
def part(heard: Heard) -> Part:
    return make_part("panel", lambda kind, content: heard.append((kind, content["held"])))


def widget(part: Part) -> Any:
    (made,) = part._inputs.values()
    return made


def test_a_menu_follows_its_data_and_keeps_its_widget(part: Part) -> None:
    part.show({"shown": True, "selects": [menu("b")]})
    made = widget(part)
    assert isinstance(made, ipywidgets.Dropdown) and (made.index, made.label) == (1, "B")
    assert part.data["selects"][0]["input"] == made.model_id
    part.show({"shown": True, "selects": [menu("d", "abcd")]})
    assert widget(part) is made and (made.index, made.options) == (3, tuple("ABCD"))
    part.show({"shown": True, "selects": [menu("gone")]})
    assert made.index is None


@pytest.mark.parametrize(("held", "at"), [(2, 2), (9, 0), ("many", 0)])
def test_what_is_chosen_is_taken_over_and_passed_on(part: Part, heard: Heard, held: Any, at: int) -> None:
    part.show({"shown": True, "selects": [menu("a")]})
    part._heard("look", {"input": widget(part).model_id, "held": held})
    assert widget(part).index == at and heard == [("look", held)]


def test_a_slider_has_its_ends_and_one_with_other_ends_is_another(part: Part) -> None:
    slide = {"what": "budget", "at": 2, "range": [0, 4, 1]}
    part.show({"shown": True, "sliders": [slide]})
    assert isinstance(widget(part), ipywidgets.FloatSlider) and (widget(part).value, widget(part).max) == (
        2,
        4,
    )
    part.show({"shown": True, "sliders": [{**slide, "at": 9, "range": [8, 9, 1]}]})
    assert [made.value for made in part._inputs.values()] == [2, 9]


def test_texts_long_lists_and_single_places_have_no_widget(part: Part) -> None:
    specs = [
        {"what": "text", "value": ""},
        menu("0", "0123456789abc"),
        {"what": "one", "at": 0, "range": [0, 0, 1]},
    ]
    assert len(specs[1]["options"]) > MOST
    part.show({"shown": True, "inputs": specs})
    assert not part._inputs and part.data["inputs"] == specs
