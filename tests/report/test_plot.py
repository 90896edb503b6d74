"""The charts of a plan in a notebook: altair's own, to be changed and laid over each other, and no other host is asked."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from approved import has_approved

pytest.importorskip("altair")

import altair as alt
import vl_convert
from drawn_designs import OTHERS

import gpuplan
from gpuplan import Plan, ScenarioError, load_scenario, make_plan
from gpuplan.analysis.candidates import default_space
from gpuplan.analysis.explore import explore
from gpuplan.catalog import Catalog
from gpuplan.report import plot
from gpuplan.report.charts.look import LIGHT
from gpuplan.report.plot import MIME
from gpuplan.report.shown import html
from gpuplan.scenario import from_dict, parse_scenario

QUICK = ("cost", "demand", "waiting", "capacity", "network", "tornado")


@pytest.fixture(autouse=True)
def renderer() -> Iterator[None]:
    alt.renderers.enable("default")
    yield
    alt.renderers.enable("default")


@pytest.fixture(scope="module")
def plan(catalog: Catalog) -> Plan:
    return make_plan(load_scenario("enterprise"), catalog)


@pytest.mark.parametrize("name", QUICK)
def test_a_chart_can_be_changed_and_laid_under_another(plan: Plan, name: str) -> None:
    chart = getattr(plan.plot, name)()
    assert isinstance(chart, alt.LayerChart) and chart.properties(width=300).to_dict()["width"] == 300
    rule = alt.Chart(alt.Data(values=[{"at": 1}])).mark_rule().encode(x="at:Q")
    assert len((chart + rule).to_dict()["layer"]) == len(chart.layer) + 1
    assert (chart | plan.plot.cost()).to_dict()["hconcat"]


def test_charts_hold_the_numbers_of_the_plan(plan: Plan) -> None:
    assert plan.costs is not None
    drawn = json.dumps(plan.plot.cost().to_dict())
    assert all(f" {part.name}" in drawn for part in plan.costs.parts if any(part.yearly))
    left = plan.plot.capacity().to_dict()["datasets"]
    assert [row["left"] for rows in left.values() for row in rows] == [32, 28, 24]
    assert "this design: 28" in json.dumps(plan.plot.waiting().to_dict())
    assert "(this design)" in json.dumps(plan.plot.network("speed").to_dict())


def test_a_cell_has_the_chart_its_picture_and_its_words_and_asks_no_other_host(plan: Plan) -> None:
    bundle, about = plan.plot.cost()._repr_mimebundle_()
    assert set(bundle) == {MIME, "image/png", "text/plain"}
    assert has_approved(bundle["text/plain"])
    assert len(bundle["image/png"]) < 40_000
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert "https://" not in json.dumps(bundle[MIME])
    assert about[MIME]["embed_options"]["config"]["background"] == "transparent"
    assert about[MIME]["embed_options"]["actions"]["editor"] is False
    assert about["image/png"]["alt"] == bundle["text/plain"]


def test_charts_of_a_session_are_shown_as_before_until_it_is_told_otherwise(
    catalog: Catalog, plan: Plan
) -> None:
    own = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    for uses in (lambda: gpuplan.Chart(own), lambda: gpuplan.Design("starter", catalog), plan.plot.cost):
        uses()
    assert alt.renderers.active == "default" and "cdn" in own._repr_mimebundle_()["text/html"]
    gpuplan.offline()
    assert MIME in own._repr_mimebundle_()[0]
    far = alt.Chart("https://example.com/rows.csv").mark_point().encode(x="x:Q")
    assert set(far._repr_mimebundle_()[0]) == {MIME, "text/plain"}, "rows on another host are not fetched"


def test_a_chart_of_a_plan_needs_no_internet_however_it_is_joined_and_follows_a_choice(plan: Plan) -> None:
    cost, own = plan.plot.cost(), alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    for chart in (cost | own, cost & own, cost + own, (cost | own) & cost, cost.properties(title="Cost")):
        assert MIME in chart._repr_mimebundle_()[0]
    alt.renderers.enable("mimetype")
    assert MIME not in cost._repr_mimebundle_()


def written(chart: Any) -> dict[str, Any]:
    return dict(chart.to_dict(validate=False))


def of_colours(spec: dict[str, Any]) -> tuple[list[Any], int]:
    """The values and colours of each colour scale of a chart, as Vega draws them, and how many legends it has."""
    compiled = vl_convert.vegalite_to_vega(spec)
    scales = [scale for scale in compiled["scales"] if scale["name"].endswith("color")]
    return [
        (str(scale["domain"]), scale["range"]) for scale in scales if "data" not in scale["domain"]
    ], legends(compiled)


def legends(spec: Any) -> int:
    if isinstance(spec, list):
        return sum(map(legends, spec))
    if not isinstance(spec, dict):
        return 0
    return len(spec.get("legends", ())) + sum(legends(part) for part in spec.values())


@pytest.fixture(scope="module")
def drawn(plan: Plan) -> dict[str, Any]:
    """A chart of each topic, and one of the user's own with the colours of its kind."""
    several = make_plan(from_dict({"name": "Two pools"} | OTHERS["two pools"]), plan.catalog)
    rows = [{"x": at, "kind": kind} for at, kind in enumerate("ab")]
    own = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(x="x:Q", color=alt.Color("kind:N", sort=["a", "b"]))
    )
    charts = {name: getattr(plan.plot, name)() for name in QUICK}
    return charts | {"clusters": several.plot.capacity(), "own": own}


def test_charts_keep_colours_legends_and_sizes_in_any_pair(drawn: dict[str, Any]) -> None:
    specs = {name: written(chart) | {"config": {}} for name, chart in drawn.items()}
    alone = {name: of_colours(spec) for name, spec in specs.items()}
    for one, other in combinations(specs, 2):
        inside = [
            {name: part for name, part in specs[each].items() if name != "config"} for each in (one, other)
        ]
        datasets = [part.pop("datasets", {}) for part in inside]
        colours, named = of_colours({"hconcat": inside, "datasets": datasets[0] | datasets[1]})
        for each in (one, other):
            assert all(scale in colours for scale in alone[each][0]), (one, other)
        assert named == alone[one][1] + alone[other][1], (one, other)


def test_charts_that_are_joined_by_any_operator_and_again_keep_them(drawn: dict[str, Any]) -> None:
    cost, clusters, own = drawn["cost"], drawn["clusters"], drawn["own"]
    kept = [scale for chart in (cost, clusters) for scale in of_colours(written(chart))[0]]
    for joined in (
        cost | clusters,
        cost & clusters,
        (own | cost) & clusters,
        alt.vconcat(clusters, alt.hconcat(cost, own)),
    ):
        colours, _ = of_colours(written(joined))
        assert all(scale in colours for scale in kept)
    assert "width / " not in json.dumps(written(cost | clusters)), "beside others a chart's width has no name"
    over, named = of_colours(written(cost + drawn["demand"] + own))
    assert all(scale in over for chart in (cost, drawn["demand"]) for scale in of_colours(written(chart))[0])
    assert named == sum(of_colours(written(chart))[1] for chart in (cost, drawn["demand"], own))
    assert [part["width"] for part in written(cost.properties(width=300) | drawn["demand"])["hconcat"]] == [
        300,
        560,
    ]


def test_a_stored_chart_has_lines_and_words_in_the_colours_of_its_page(plan: Plan) -> None:
    own = plan.plot.cost().configure_axis(labelFontSize=20)
    config = own._repr_mimebundle_()[0][MIME]["config"]
    assert config["axis"]["labelFontSize"] == 20 and config["axis"]["labelColor"] == "currentColor"
    assert config["background"] == "transparent" and config["axis"]["gridColor"] != LIGHT.line


def test_a_chart_that_is_not_there_names_the_nearest(plan: Plan) -> None:
    with pytest.raises(AttributeError, match="did you mean capacity"):
        plan.plot.capasity()
    assert "capacity()" in repr(plan.plot)


def test_years_of_a_cost_chart_are_whole(plan: Plan) -> None:
    axis = plan.plot.cost().to_dict()["layer"][0]["layer"][0]["encoding"]["x"]["axis"]
    assert axis["tickMinStep"] == 1, "which some of the Vega that notebooks bring do not know"
    assert axis["labelExpr"].startswith("datum.value % 1 ? ''")


@pytest.mark.parametrize("name", ["cost", "demand", "waiting", "capacity", "tornado"])
def test_an_empty_design_says_that_there_is_nothing_to_draw(catalog: Catalog, name: str) -> None:
    empty = make_plan(parse_scenario("name: Nothing yet"), catalog)
    (inside,) = getattr(empty.plot, name)().to_dict()["layer"]
    assert inside["layer"][0]["mark"]["text"].startswith("No ")


def test_the_frontier_has_the_winner(catalog: Catalog, monkeypatch: pytest.MonkeyPatch, plan: Plan) -> None:
    space = replace(default_space(plan.scenario, catalog), gpus=("v100-pcie-32gb",), servers=("dell-c4140",))
    monkeypatch.setattr(
        plot, "explore", lambda scenario, known, **rest: explore(scenario, known, space, workers=1, **rest)
    )
    told: list[tuple[int, int]] = []
    chart = plan.plot.frontier(lambda done, of: told.append((done, of)))
    assert "recommended" in json.dumps(chart.to_dict()) and told[-1][0] == told[-1][1]


def test_views_that_are_not_there_are_refused(plan: Plan) -> None:
    for refused in (lambda: plan.plot.network("speeds"), lambda: plan.plot.tornado("gpus")):
        with pytest.raises(ScenarioError, match="there is no view"):
            refused()


def test_a_person_meets_what_a_person_needs() -> None:
    assert {"scenario", "plan", "Design", "workbook", "explain", "compare", "sweep", "Chart"} <= set(
        dir(gpuplan)
    )
    enterprise = gpuplan.make_plan("enterprise")
    assert enterprise.scenario == gpuplan.load_scenario("enterprise")
    why, beside = gpuplan.explain(enterprise, "totals.hosts"), gpuplan.compare("starter", enterprise)
    assert why.formula in html(why) and beside.sentences[0].split(" ")[0] in html(beside)
    assert enterprise.scenario["hardware.gpus_per_host"] == 4
    assert "groups.researchers.people" in enterprise.scenario._ipython_key_completions_()


def test_whatever_means_a_design_is_taken_where_one_is_meant(plan: Plan) -> None:
    design = gpuplan.Design("enterprise", plan.catalog)
    for meant in ("enterprise", plan.scenario, plan, design, design.widget("hosts")):
        assert gpuplan.make_plan(meant).totals.hosts == 8
        assert gpuplan.explain(meant, "totals.hosts").value == "8 hosts"
        assert [each.code for each in gpuplan.check_plan(meant)] == [
            each.code for each in gpuplan.check_plan(plan)
        ]
    assert not gpuplan.compare(design, "enterprise").differences
    assert gpuplan.sweep(design, "cost.years", [3.0]).hosts[0] == 8
    assert "groups" in gpuplan.plan_frames("starter") and gpuplan.plan_dict(design)["totals"]["hosts"] == 8
    assert gpuplan.power_on("starter", orders=10) is not None


def test_a_plan_needs_no_chart() -> None:
    code = "import sys, gpuplan; gpuplan.make_plan('starter').totals; print({'gpuplan.report', 'altair'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
