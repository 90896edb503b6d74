"""The fit of serving: it finds parameters that made the runs, and is moved by runs, not by outliers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuplan.analysis.llm_calibration import (
    MOST_SHARE,
    STEP,
    WAIT,
    Sample,
    errors,
    fit,
    samples,
)
from gpuplan.analysis.llm_runs import Prediction, runs_of
from gpuplan.catalog import Catalog
from gpuplan.models.llm.speeds import Speeds
from gpuplan.plan.llm_parts import speeds_of


@pytest.fixture(scope="module")
def few(catalog: Catalog) -> tuple[Sample, ...]:
    """One published figure in twelve."""
    return samples(catalog, runs_of(catalog)[::12])


def test_samples_are_closed_loops_and_offline_rates(few: tuple[Sample, ...]) -> None:
    assert {sample.quantity for sample in few} == {"tpot_ms", "ttft_ms", "tokens_per_s"}
    assert {sample.run.mode for sample in few} == {"concurrency", "offline"}


def test_the_fit_finds_the_parameters_that_made_the_runs(few: tuple[Sample, ...], catalog: Catalog) -> None:
    true = replace(speeds_of(catalog), layer_us=70.0, vllm=1.3, wait_ms=90.0)
    made = [replace(sample, measured=sample.value(true)) for sample in few]
    found = fit(made, speeds_of(catalog))
    assert found.layer_us == pytest.approx(70, rel=0.06)
    assert found.vllm == pytest.approx(1.3, rel=0.03)
    assert found.wait_ms == pytest.approx(90, rel=0.2)


def test_some_outliers_hardly_move_the_fit(few: tuple[Sample, ...], catalog: Catalog) -> None:
    start = speeds_of(catalog)
    odd = [replace(s, measured=s.measured / 3) if i % 25 == 0 else s for i, s in enumerate(few)]
    usual, off = fit(few, start, rounds=6), fit(odd, start, rounds=6)
    assert off.layer_us == pytest.approx(usual.layer_us, rel=0.1)


def test_the_catalog_holds_the_fit_and_no_share_is_above_its_limit(catalog: Catalog) -> None:
    held = speeds_of(catalog)
    for name in (*STEP, *WAIT):
        fact = catalog.assumptions["llm-serving"].fact(name)
        assert fact.basis == "fitted" and fact.low is not None and fact.high is not None
        assert fact.low <= getattr(held, name) <= fact.high, name
        assert not name.endswith("_share") or getattr(held, name) <= MOST_SHARE
    assert held.overlap_share >= held.compute_share, "prompts never take less than at the full tensor rate"


def test_errors_by_hand() -> None:
    found = [Prediction("x", "tpot_ms", m, 10.0, 9.0, 11.0) for m in (8.0, 10.0, 10.5, 20.0)]
    off = errors(found)
    assert off and (off.runs, off.held, off.width) == (4, 0.5, 11 / 9)
    assert off.median == pytest.approx((0.25 + 10 / 10.5 * 0 + 0.5 / 10.5) / 2)
    assert errors([Prediction("x", "tpot_ms", 1.0, why="no")]) is None
    assert isinstance(Speeds(), Speeds)
