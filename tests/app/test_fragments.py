"""A design as text comes back as it was; other text is refused."""

from __future__ import annotations

import pytest

from gpuplan import load_scenario
from gpuplan.app.fragments import link_of, scenario_of


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_a_design_comes_back_as_it_was_and_under_the_same_id(name: str) -> None:
    scenario = load_scenario(name)
    link = link_of(scenario)
    assert scenario_of(link.fragment) == scenario
    assert scenario_of(f"#{link.fragment}") == scenario
    assert link_of(scenario_of(link.fragment)) == link
    assert link_of(scenario.with_value("name", "Another")).id != link.id


@pytest.mark.parametrize("fragment", ["", "#", "s=", "s=!!!!", "s=\u6f22", "\0", "\ud800", "x" * 5000])
def test_other_text_is_refused(fragment: str) -> None:
    with pytest.raises(ValueError):
        scenario_of(fragment)
