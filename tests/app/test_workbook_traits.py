"""Traits of a design and of its widgets: scenario, plan and failed hosts, to observe, to link and to set."""

from __future__ import annotations

import ipywidgets
import numpy as np
import pytest
from traitlets import TraitError

from gpuplan import Design, ScenarioError, workbook
from gpuplan.catalog import Catalog

PEOPLE = "groups.researchers.people"


@pytest.fixture
def design(catalog: Catalog) -> Design:
    return Design("enterprise", catalog)


def test_the_widget_of_a_step_is_watched_like_the_design(design: Design) -> None:
    """A widget that was observed said nothing, and no error either."""
    hosts, seen = design.widget("hosts"), list[str]()
    for name in ("scenario", "plan", "failed"):
        hosts.observe(lambda change: seen.append(change["name"]), name)
    design.set(PEOPLE, 6)
    assert sorted(seen) == ["plan", "scenario"] and hosts.plan is design.plan
    hosts._receive("fail", {"pool": "vgpu", "host": 1})
    assert seen[-1] == "failed" and design.failed == hosts.failed == {"vgpu": (1,)}
    hosts.scenario = "starter"
    assert design.plan.totals.gpus == 16


def test_widgets_of_two_designs_are_linked(design: Design, catalog: Catalog) -> None:
    other = workbook("enterprise", step="cost", catalog=catalog)
    ipywidgets.link((design.widget("hosts"), "scenario"), (other, "scenario"))
    design.set(PEOPLE, 5)
    assert other.plan.scenario.get(PEOPLE) == 5


def test_whatever_means_a_design_is_assigned(design: Design, catalog: Catalog) -> None:
    starter = Design("starter", catalog)
    for meant in (starter, starter.plan, starter.scenario, "starter"):
        design.scenario = "enterprise"
        design.scenario = meant
        assert design.scenario == starter.scenario
    for wrong in (3, None):
        with pytest.raises(TraitError):
            design.scenario = wrong
    with pytest.raises(ScenarioError, match="no-such"):
        design.scenario = "no-such"


def test_hosts_are_numbers_of_any_library(design: Design) -> None:
    for hosts in ([np.int64(3)], np.array([3]), [3.0], (3,)):
        design.failed = {}
        design.failed = {"vgpu": hosts}
        assert design.failed == {"vgpu": (3,)} and type(design.failed["vgpu"][0]) is int
    with pytest.raises(ScenarioError, match="host"):
        design.failed = {"vgpu": [2.5]}


def test_what_an_event_changes_is_drawn_once(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    app = workbook("enterprise", catalog=catalog)
    app._receive("set", {"path": PEOPLE, "value": "6"})
    drawn: list[int] = []
    monkeypatch.setattr(app, "_send_changes", lambda: drawn.append(app.plan.scenario.get(PEOPLE)))
    app._receive("undo", {})
    app._receive("redo", {})
    assert len(drawn) == 2 and drawn[1] == 6


def test_undo_and_redo_plan_nothing_again(catalog: Catalog) -> None:
    book = workbook("enterprise", catalog=catalog).workbook
    before = book.plan
    book.edit(PEOPLE, "6")
    after = book.plan
    book.undo()
    assert book.plan is before
    book.redo()
    assert book.plan is after
