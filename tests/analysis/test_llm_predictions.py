"""Published runs of language models beside their predictions, and the errors they are held to."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from statistics import median

import pytest

from gpuplan.analysis.llm_predictions import Prediction, errors, predict
from gpuplan.analysis.llm_runs import NotPredicted, Run, model_of, runs_of, work_of
from gpuplan.catalog import Catalog, load_catalog

CLOSED = Run(
    *("own", "Llama-3.1-70B", "h100-sxm5-80gb"),
    precision_weights="fp8",
    tp=4,
    isl=1024,
    osl=1024,
    concurrency=16,
    tpot_ms=13.2,
    mode="concurrency",
    framework="vllm",
)


@lru_cache(maxsize=1)
def published() -> tuple[Prediction, ...]:
    catalog = load_catalog()
    return predict(catalog, runs_of(catalog))


@lru_cache(maxsize=1)
def modes() -> dict[str, str]:
    return {run.id: run.mode for run in runs_of(load_catalog())}


@lru_cache(maxsize=1)
def dense_runs() -> dict[str, bool]:
    catalog = load_catalog()
    known = {run.id: run for run in runs_of(catalog)}
    return {p.source_id: model_of(catalog, known[p.source_id])[1].dense for p in published() if p.predicted}


def kept(quantity: str, *of: str, dense: bool | None = None) -> list[Prediction]:
    return [
        p
        for p in published()
        if p.quantity == quantity
        and (not of or modes()[p.source_id] in of)
        and (dense is None or (p.predicted and dense_runs()[p.source_id] == dense))
    ]


def test_every_published_figure_is_predicted_within_its_range_or_not() -> None:
    assert len(published()) == 4863
    assert sum(not p.predicted for p in published()) < 25
    for p in published():
        assert not p.predicted or (p.low and p.high and p.low < p.predicted < p.high), p


def test_times_per_token_are_within_the_bars() -> None:
    dense, every = errors(kept("tpot_ms", dense=True)), errors(kept("tpot_ms"))
    assert dense and every
    assert dense.median <= 0.12
    assert (every.median, every.mean, every.nine_in_ten) <= (0.15, 0.20, 0.40)
    assert every.mean <= 0.20 and every.nine_in_ten <= 0.40


def test_first_tokens_and_offline_rates_are_within_the_bars() -> None:
    first = errors(kept("ttft_ms"))
    dense, experts = (errors(kept("tokens_per_s", "offline", dense=d)) for d in (True, False))
    assert first and dense and experts
    assert first.median <= 0.35
    assert dense.median <= 0.15
    assert experts.median <= 0.30


@pytest.mark.parametrize(("quantity", "widest"), [("tpot_ms", 1.9), ("ttft_ms", 8), ("tokens_per_s", 3)])
def test_ranges_hold_four_fifths_and_are_no_wider_than_they_must_be(quantity: str, widest: float) -> None:
    found = errors(kept(quantity))
    assert found and 0.79 <= found.held <= 0.92
    assert found.width <= widest


@pytest.mark.parametrize("mode", ["server", "interactive", "static", "burst", "disaggregated"])
def test_kinds_of_runs_that_nothing_was_fitted_on_are_right_in_size(mode: str) -> None:
    for quantity in ("tpot_ms", "ttft_ms", "tokens_per_s"):
        off = [abs(p.error or 0) for p in kept(quantity, mode)]
        assert not off or median(off) < 0.5, quantity


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"model": "Foo"}, "Foo is no model of the catalog"),
        ({"gpu": "gaudi3"}, "there is no board gaudi3"),
        ({"gpu": ""}, "gpu is empty"),
        ({"model": ""}, "model is empty"),
        ({"model": "NV-Embed-v2"}, "NV-Embed-v2 writes no tokens"),
        ({"gpu": "p40-24gb"}, "its tensor rate is not known"),
        ({"isl": None, "model": "Qwen3-32B"}, "isl is empty"),
        ({"tp": 1, "precision_weights": "bf16"}, "does not fit on 1 x"),
    ],
)
def test_a_run_that_cannot_be_predicted_says_why(catalog: Catalog, change: dict, why: str) -> None:
    run = replace(CLOSED, **change)
    with pytest.raises(NotPredicted, match=why):
        work_of(catalog, run)
    (found,) = predict(catalog, [run])
    assert found.predicted is None and why in found.why and found.held is None


def test_a_closed_loop_gives_what_its_two_times_allow(catalog: Catalog) -> None:
    run = replace(CLOSED, ttft_ms=100.0, tokens_per_s=1000.0)
    said = {p.quantity: p.predicted or 0.0 for p in predict(catalog, [run])}
    whole_s = (said["ttft_ms"] + said["tpot_ms"] * 1023) / 1e3
    assert said["tokens_per_s"] == pytest.approx(16 * 1024 / whole_s)


def test_a_range_is_wider_for_a_board_without_a_run(catalog: Catalog) -> None:
    known, other = predict(catalog, [CLOSED, replace(CLOSED, gpu="l40s-48gb")])
    assert known.held
    assert other.high and other.low and known.high and known.low
    assert other.high / other.low > known.high / known.low


def test_errors_by_hand() -> None:
    found = [Prediction("x", "tpot_ms", m, 10.0, 9.0, 11.0) for m in (8.0, 10.0, 10.5, 20.0)]
    off = errors(found)
    assert off and (off.runs, off.held, off.width) == (4, 0.5, 11 / 9)
    assert off.median == pytest.approx((0.25 + 10 / 10.5 * 0 + 0.5 / 10.5) / 2)
    assert errors([Prediction("x", "tpot_ms", 1.0, why="no")]) is None
