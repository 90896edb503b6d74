"""Headline and tables of a design in a notebook: live, each figure with its condition."""

from __future__ import annotations

from typing import Any

import pytest
from screen_contract import check

from gpuplan import Design, ScenarioError
from gpuplan.app.live import LISTED
from gpuplan.catalog import Catalog
from gpuplan.report.plot import SPECS
from gpuplan.scenario import parse_scenario

PEOPLE = "groups.researchers.people"


@pytest.fixture
def design(catalog: Catalog) -> Design:
    return Design("enterprise", catalog)


def panel(widget: Any) -> dict[str, Any]:
    data: dict[str, Any] = widget._parts["panel"].data
    check("panel", data)
    return data


def text(widget: Any) -> str:
    data = panel(widget)
    return " ".join(
        piece["text"] for part in ("text", "after") for said in data.get(part, ()) for piece in said
    )


def test_a_headline_and_a_table_follow_the_design(design: Design) -> None:
    headline, table = design.headline(), design.table("hosts")
    design.set(PEOPLE, 6)
    hosts, totals = design.plan.totals.hosts, design.plan.totals
    figures = {figure["key"]: figure for figure in headline._parts["strip"].data["figures"]}
    assert figures["totals.hosts"]["value"] == str(hosts) and hosts > 8
    assert figures["cost.net_present"]["note"] and figures["messages"]["note"]
    clusters = panel(table)["tables"][0]["rows"][0]
    assert {str(hosts), str(totals.gpus)} <= {cell["text"] for cell in clusters}
    for widget in (headline, table):
        assert design.plan.verdict.sentence in text(widget)


def test_a_design_that_does_not_serve_all_says_so_beside_its_figures(design: Design) -> None:
    widgets = design.headline(), design.table("hosts"), design.table("placement")
    design.set("groups.researchers.access", "mig")
    assert design.plan.standing.words
    for widget in widgets:
        assert design.plan.standing.words in text(widget)
    assert design.plan.standing.words in widgets[1].kept()[0].data["text/html"]


def test_a_refused_value_is_told_in_the_headline_until_another_is_planned(design: Design) -> None:
    headline, table = design.headline(), design.table("pools")
    slider, plan = design.slider("hardware.gpus_per_host", 0, 4), design.plan
    slider.value = 0
    assert design.plan is plan and "gpus_per_host" in text(headline) and "gpus_per_host" in text(table)
    design.set(PEOPLE, 4)
    assert "gpus_per_host" not in text(headline)
    design.widget("usecases")._receive("set", {"path": PEOPLE, "value": "many", "live": False})
    assert panel(headline)["stale"] and "many" in text(headline)


def test_an_explanation_opens_where_it_was_asked(design: Design) -> None:
    asked, other, step = design.headline(), design.table("hosts"), design.widget("hosts")
    asked._receive("why", {"key": "totals.hosts"})
    drawers = [asked._parts["drawer"], other._parts["drawer"], step._columns]
    assert [part.data["kind"] for part in drawers[:2]] == ["why", "closed"]
    step._receive("why", {"key": "totals.gpus"})
    assert asked._parts["drawer"].data["kind"] == "closed" and design.state.drawer == "totals.gpus"


def test_tables_go_by_their_names_and_by_those_of_steps(design: Design) -> None:
    for name in LISTED:
        assert panel(design.table(name))["shown"] and design.table(name).kept()
    with pytest.raises(ScenarioError, match=r"did you mean .*hosts"):
        design.table("host")
    with pytest.raises(AttributeError, match="did you mean cost"):
        design.plot.coast()
    assert set(dir(design.plot)) >= set(SPECS)


def test_an_empty_design_has_a_headline_and_tables(catalog: Catalog) -> None:
    empty = Design(parse_scenario("name: Nothing yet"), catalog)
    for widget in (empty.headline(), empty.table("hosts"), empty.table("cost")):
        assert text(widget) and widget.kept()[0].data["text/plain"]
