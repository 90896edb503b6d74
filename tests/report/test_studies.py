"""Frames of studies are tidy: a key, a type for each column, a unit for each number; and each has its chart."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("altair")

import altair as alt
import pandas as pd
from solved import small_frontier, small_scenario, solution

import gpuplan as gp
from gpuplan import Plan, ScenarioError
from gpuplan.analysis.candidates import Space
from gpuplan.analysis.monte_carlo import monte_carlo
from gpuplan.analysis.solve import Frontier, Solution
from gpuplan.report.studies import FRAMES

PEOPLE = "groups.developers.people"
SPACE = Space(("v100-pcie-32gb", "h100-sxm5-64gb"), ("dell-c4140",), (4,), ("as asked",), (100,), (0, 1))
STUDIES: dict[str, Callable[[], Any]] = {
    "grid": lambda: gp.grid(
        "enterprise", {"groups.researchers.access": ["vgpu", "mig"], PEOPLE: [40, -1, 60]}
    ),
    "texts": lambda: gp.grid("starter", {"hardware.gpu": ["l40s-48gb", "none such", 7]}),
    "monte carlo": lambda: monte_carlo(
        gp.load_scenario("starter").with_value("limits.budget", 2e6), 12, workers=1
    ),
    "compare": lambda: gp.compare("starter", "enterprise", "assistant"),
    "explore": lambda: gp.explore("enterprise", space=SPACE, workers=1),
    "solve": lambda: solution(gp.load_catalog(), budget=1e6),
    "frontier": lambda: small_frontier(gp.load_catalog(), small_scenario()),
}


@pytest.fixture(scope="module", params=STUDIES)
def study(request: pytest.FixtureRequest) -> Any:
    return STUDIES[request.param]()


def test_its_frame_is_tidy(study: Any) -> None:
    frame = study.frame
    assert len(frame) and frame.index.is_unique and frame.index.name and frame.columns.is_unique
    for name in frame.columns:
        values = {type(value) for value in frame[name].dropna()}
        assert len(values) <= 1, name
        assert frame[name].dtype != object or values <= {str}, name
    assert set(frame.attrs["units"]) == set(frame.select_dtypes("number").columns)
    assert all(frame.attrs["units"].values())
    beside = {"hosts", "net_present", "valid"} | (
        set() if isinstance(study, Solution | Frontier) else {"unplaced", "low", "high"}
    )
    assert beside <= set(frame.columns)


def test_its_frame_survives_a_file(study: Any) -> None:
    frame = study.frame
    text = io.StringIO(frame.to_csv())
    again = pd.read_csv(
        text, index_col=0, dtype=frame.dtypes.to_dict(), keep_default_na=False, na_values=[""]
    )
    assert list(again.columns) == list(frame.columns) and list(again.index) == list(frame.index)
    for name in frame.select_dtypes("number"):
        pd.testing.assert_series_equal(again[name], frame[name])
    assert frame.equals(pd.read_pickle(_pickled(frame)))


def _pickled(frame: Any) -> io.BytesIO:
    kept = io.BytesIO()
    frame.to_pickle(kept)
    kept.seek(0)
    return kept


def test_it_has_a_chart_and_a_card(study: Any) -> None:
    chart = study.plot()
    assert isinstance(chart, alt.LayerChart) and chart.to_dict()["layer"]
    assert "<table>" in study._repr_html_()


def test_a_chart_marks_what_cannot_be_bought_and_refuses_other_figures(plans: dict[str, Plan]) -> None:
    found = STUDIES["grid"]()
    shown = str(found.plot("hosts").to_dict())
    assert all(f"'state': '{state}'" in shown for state in ("valid", "not valid", "refused"))
    with pytest.raises(ScenarioError, match="hosts"):
        found.plot("hots")
    with pytest.raises(ScenarioError, match="no figure"):
        STUDIES["explore"]().plot("hosts")


def test_every_kind_of_study_has_a_frame() -> None:
    assert {kind.__name__ for kind in FRAMES} >= {
        "Grid",
        "MonteCarlo",
        "Comparison",
        "Exploration",
        "Solution",
        "Frontier",
    }
