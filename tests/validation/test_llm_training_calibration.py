"""Training of language models against published steps: what the catalog has is what the fit gives, and how far off the unseen are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuplan.catalog import Catalog
from gpuplan.models.llm.training import model_flops_share
from gpuplan.models.llm.training_run import FITTED_NAMES, TUNING_NAMES, step_times
from gpuplan.models.llm.training_setup import Fitted
from gpuplan.plan.training.llm import ITEM, MEASURED, fitted_values
from validation.calibration import Point, errors
from validation.llm_training_calibration import (
    GROUPS,
    MEMORY,
    NAMES,
    PRIORS,
    STEPS,
    TUNING,
    fit_of,
    fit_training,
    held_by_ranges,
    left_out,
    left_out_errors,
    mean_speed_width,
    run_of,
    tail_shares,
    training_points,
    unseen_steps,
)


@pytest.fixture(scope="module")
def points(catalog: Catalog) -> tuple[Point, ...]:
    return training_points(catalog)


def test_measured_values_are_those_of_the_sources(points: tuple[Point, ...], catalog: Catalog) -> None:
    """Typed by hand from the tables."""
    seen = {point.id: point.measured for point in points}
    assert seen["tr-003"] == 1058 and seen["tr-078"] == 410
    assert seen["tr-446"] == 1717 and seen["tr-457"] == 2621
    assert seen["qwen-7b-lora-2048"] == pytest.approx(8 * 2048 / 5.2, rel=1e-3)
    assert seen["qwen-72b-qlora-8192-memory"] == 75.6
    rows = {row.id: row for row in catalog.rows("llm_training")}
    assert rows["tr-426"]["minutes"] == 1.865


def test_shapes_give_the_mfu_that_the_sources_print(catalog: Catalog) -> None:
    """48.56 % of 32 A100 with MPT-70b; NeMo states 763 TFLOP/s for each GPU with Llama-2-70B in FP8."""
    rows = {row.id: row for row in catalog.rows("llm_training")}
    for id, rate, share in (
        ("tr-079", 312.0, 0.4856),
        ("tr-010", 989.4, 0.422),
        ("tr-446", 1979.0, 763 / 1979),
    ):
        row = rows[id]
        found = model_flops_share(
            row["tokens_per_gpu"],
            active_parameters=row["active_parameters"],
            layers=row["layers"],
            attention_size=row["attention_size"],
            sequence_tokens=row["sequence_tokens"],
            matmul_tflops=rate,
        )
        assert found == pytest.approx(share, rel=0.01), id


def test_targets_on_the_rows_fitted_on(points: tuple[Point, ...]) -> None:
    found = {e.area: e for e in errors(p for p in points if p.fitted)}
    assert {area: e.rows for area, e in found.items()} == {STEPS: 133, TUNING: 57, MEMORY: 57}
    for area, mean, worst in ((STEPS, 0.10, 0.25), (TUNING, 0.15, 0.80), (MEMORY, 0.10, 0.40)):
        assert found[area].mean <= mean, area
        assert found[area].worst <= worst, area
        assert abs(found[area].bias) <= mean / 2


def test_tuning_of_usual_lengths_and_memory_of_lora_are_nearer(points: tuple[Point, ...]) -> None:
    long = [p for p in points if p.area == TUNING and p.fitted and not p.id.endswith(("-256", "-512"))]
    (found,) = errors(long)
    assert found.rows == 37
    assert found.mean <= 0.10 and found.worst <= 0.37
    lora = [p for p in points if p.area == MEMORY and "-lora-" in p.id]
    (found,) = errors(lora)
    assert found.mean <= 0.06 and found.worst <= 0.13


def test_tuning_that_was_held_back(points: tuple[Point, ...]) -> None:
    """NeMo's full and LoRA tuning: 70 x 10^9 within 2 %, 7 x 10^9 on packed short sequences predicted a fifth too slow."""
    held = {p.id: p.error for p in points if p.held}
    assert set(held) == {"tr-452", "tr-454", "tr-455", "tr-457"}
    assert abs(held["tr-454"]) < 0.03 and abs(held["tr-457"]) < 0.03
    assert -0.25 < held["tr-455"] < held["tr-452"] < -0.15


def test_models_and_boards_left_out(catalog: Catalog) -> None:
    """Asked for: a mean of 10 % and each 25 %."""
    without = {by: left_out(catalog, STEPS, by) for by in ("model", "GPU")}
    for points in without.values():
        (found,) = errors(points)
        assert found.rows == 133
        assert found.mean <= 0.05
        assert found.worst <= 0.18
    rows = {row.id: row for row in catalog.rows("llm_training")}
    by_board = [replace(p, series=GROUPS["GPU"](rows[p.id])) for p in without["GPU"]]
    assert {e.series: e.mean <= 0.07 for e in errors(by_board, by_series=True)} == dict.fromkeys(
        MEASURED, True
    )


def test_sources_left_out(catalog: Catalog) -> None:
    """Eleven rows of one board and one precision cannot tell what 122 others are; the other way they nearly can."""
    found = {e.series: e for e in left_out_errors(catalog) if e.area == STEPS}
    assert found["without nemo"].mean <= 0.14 and found["without nemo"].worst <= 0.20
    assert 0.10 < found["without mpt"].mean <= 0.25
    assert found["each GPU unseen"].mean <= 0.06


def test_ranges_hold_four_fifths_of_every_source(catalog: Catalog) -> None:
    held = catalog.assumptions[ITEM]
    inside, rows = held_by_ranges(catalog)
    assert (held.fact("unseen_inside").value, held.fact("unseen_rows").value) == (inside, rows)
    for begin, found in unseen_steps(catalog).items():
        slower, faster = (float(held.fact(f"{begin}{end}_share").value) for end in ("slower", "faster"))
        late, early = tail_shares(found)
        assert slower >= 0.99 * late and faster >= 0.99 * early
        for series in {p.series for p in found}:
            own = [p for p in found if p.series == series]
            within = [p.predicted / (1 + slower) <= p.measured <= p.predicted * (1 + faster) for p in own]
            assert sum(within) >= 0.8 * len(own), (begin, series)
    assert mean_speed_width(catalog) < 0.35


@pytest.mark.parametrize("area", NAMES)
def test_the_catalog_repeats_the_fit(catalog: Catalog, area: str) -> None:
    for name, value in fit_of(fit_training(catalog, area), area).items():
        fact = catalog.assumptions[ITEM].fact(name)
        assert float(fact.value) == pytest.approx(value, rel=6e-3), name
        assert fact.basis == "fitted"
        assert fact.low is not None and fact.high is not None and fact.low <= fact.value <= fact.high


def test_the_models_default_to_the_catalog(catalog: Catalog) -> None:
    held, default = fitted_values(catalog), Fitted()
    for name in (*FITTED_NAMES, *TUNING_NAMES):
        assert getattr(held, name) == getattr(default, name), name
    assert held.overlap_share == pytest.approx(default.overlap_share, rel=0.01)
    assert set(PRIORS) == {*FITTED_NAMES, *TUNING_NAMES}


def test_adapters_on_a_70b_model_scale_as_published_within_a_third(catalog: Catalog) -> None:
    """MLPerf, LoRA at one global batch: 64 H100 over 4 took 4.97 / 57.3 to 61.9 of the minutes, evaluation and start counted."""
    rows = [
        row for row in catalog.rows("llm_training") if row["series"] == "mlperf-4.1" and row["batch"] == 8
    ]
    minutes: dict[int, list[float]] = {}
    for row in rows:
        if row["gpu"] == "h100-sxm5-80gb":
            minutes.setdefault(row["hosts"] * row["gpus_per_host"], []).append(row["minutes"])
    nemo = next(row for row in catalog.rows("llm_training") if row.id == "tr-457")
    published = run_of(catalog, nemo)
    on_four = published.on(published.over.hosts, 4)
    few = replace(on_four, sequence_tokens=8192, batch=8, tensor=4, pipeline=1)
    four = step_times(few).step_s
    for gpus, sizes in {8: (1, 8, 1), 32: (4, 8, 1), 64: (8, 8, 2)}.items():
        hosts, each, context = sizes
        link = replace(few.over.link, link_gbit_s=400.0)
        over = replace(few.over, hosts=hosts, gpus_per_host=each, link=link, links=8)
        run = replace(few, over=over, context=context)
        measured = sorted(minutes[gpus])[len(minutes[gpus]) // 2] / sorted(minutes[4])[1]
        assert step_times(run).step_s / four == pytest.approx(measured, rel=0.33), gpus
