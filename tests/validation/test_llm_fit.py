"""The fit of serving finds parameters that made the runs and is moved by runs, not by outliers; what is left out is predicted."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from gpuplan.analysis.llm_predictions import Prediction, errors
from gpuplan.analysis.llm_runs import runs_of
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.plan.llm_parts import ranges_of, speeds_of
from validation import __main__
from validation.llm_fit import (
    BY,
    MOST_SHARE,
    NEW,
    STEP,
    WAIT,
    Figure,
    LeftOut,
    Sample,
    fit,
    held,
    left_out,
    samples,
    sources,
    spread,
    spreads,
)


@pytest.fixture(scope="module")
def few(catalog: Catalog) -> tuple[Sample, ...]:
    """One published figure in twelve."""
    return samples(catalog, runs_of(catalog)[::12])


def test_samples_are_closed_loops_and_offline_rates(few: tuple[Sample, ...]) -> None:
    assert {sample.quantity for sample in few} == {"tpot_ms", "ttft_ms", "tokens_per_s"}
    assert {sample.run.mode for sample in few} == {"concurrency", "offline", "server"}


def test_the_fit_finds_the_parameters_that_made_the_runs(few: tuple[Sample, ...], catalog: Catalog) -> None:
    true = replace(speeds_of(catalog), layer_us=60.0, vllm=1.15, loop_queue=0.18)
    made = [replace(sample, measured=sample.value(true)) for sample in few]
    found = fit(made, speeds_of(catalog))
    assert found.layer_us == pytest.approx(60, rel=0.06)
    assert found.vllm == pytest.approx(1.15, rel=0.03)
    assert found.loop_queue == pytest.approx(0.18, rel=0.1)


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


@lru_cache(maxsize=1)
def found() -> dict[str, LeftOut]:
    """Each source left out, with one in forty runs of the others, so that it takes seconds."""
    return {each.name: each for each in left_out(load_catalog(), "source", every=40, rounds=2)}


def test_rounds_of_a_benchmark_are_one_source_and_small_ones_count_together(catalog: Catalog) -> None:
    runs = runs_of(catalog)
    names = sources(runs)
    assert {names[run.id] for run in runs if run.source.startswith("mlperf")} == {"mlperf-inference"}
    assert len({names[run.id] for run in runs}) < len({run.source for run in runs})
    assert set(BY) == {"source", "board", "model"}


def test_a_source_left_out_is_predicted_by_the_others(catalog: Catalog) -> None:
    group = found()["mlperf-inference"]
    assert group.speeds != speeds_of(catalog)
    off = errors(f.prediction for f in group.figures if f.load == "offline" and not f.experts)
    assert off and off.runs > 100 and off.median < 0.25
    assert all(figure.prediction.predicted for figure in group.figures)


def made(name: str, offs: list[float], load: str = "served", *, known: bool = True) -> LeftOut:
    of = [Prediction(f"{name}-{i}", "tpot_ms", math.exp(off), 1.0) for i, off in enumerate(offs)]
    return LeftOut(name, speeds_of(load_catalog()), tuple(Figure(p, load, False, known) for p in of))


def test_a_range_by_hand() -> None:
    even = [-0.5 + i / 100 for i in range(101)]
    low, high = spread([made("a", even), made("b", even)], "tpot_ms", "served", False, True)[4:6]
    assert math.log(low) == pytest.approx(-0.4 * NEW, abs=0.01)
    assert math.log(high) == pytest.approx(0.4 * NEW, abs=0.01)


def test_a_large_source_counts_no_more_than_sixty_figures() -> None:
    few, many = made("few", [0.5] * 60), made("many", [-0.5] * 6000)
    here = spread([few, many], "tpot_ms", "served", False, True)
    assert math.log(here.low) == pytest.approx(-0.5 * NEW, abs=0.02)
    assert math.log(here.high) == pytest.approx(0.5 * NEW, abs=0.02)


def test_unknown_boards_and_models_never_have_narrower_ranges() -> None:
    group = [made("a", [0.1] * 20), made("b", [-0.1] * 20), made("c", [0.9] * 20, known=False)]
    group.append(made("d", [0.8] * 20, known=False))
    known, unknown = (spread(group, "tpot_ms", "served", False, flag) for flag in (True, False))
    assert unknown.low <= known.low and unknown.high >= known.high


def test_ranges_of_the_others_hold_what_is_alike() -> None:
    random = np.random.default_rng(1)
    group = [made(name, random.normal(0, 0.2, 200).tolist()) for name in "abcde"]
    shares = [np.mean([p.held for p in within]) for within in held(group).values()]
    assert all(0.8 <= share <= 0.95 for share in shares)


def test_the_catalog_has_a_range_for_every_kind(catalog: Catalog) -> None:
    for each in spreads(tuple(found().values())):
        ranges = ranges_of(catalog, each.load, experts=each.experts, known=each.known)
        for low, high in (ranges.token, ranges.first, ranges.rate):
            assert 0.2 < low < 1 < high < 6
    for row in catalog.rows("llm_ranges"):
        if row.id.endswith("-unknown"):
            known = catalog.row("llm_ranges", row.id.removesuffix("-unknown"))
            assert row["low"] <= known["low"] and row["high"] >= known["high"]


@pytest.mark.parametrize("by", ["board", "model"])
def test_the_command_prints_what_is_off_without_each_board_or_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    groups = [made(name, [0.1] * 20) for name in "ab"]
    asked: list[str] = []
    monkeypatch.setattr(__main__, "left_out", lambda _catalog, by: (asked.append(by), iter(groups))[1])
    assert __main__.main(["--left-out", by]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert asked == [by] and [line[:4] for line in lines] == ["| so", "|---", "| a ", "| b "]
    assert all("| 20 | 10 % |" in line for line in lines[2:])
