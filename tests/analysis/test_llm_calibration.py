"""The fit of serving: it finds parameters that made the runs, and is moved by runs, not by outliers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuplan.analysis.llm_calibration import (
    MOST_SHARE,
    STEP,
    WAIT,
    Sample,
    errors,
    fit,
    read_runs,
    samples,
    write_own,
)
from gpuplan.analysis.llm_predictions import Prediction
from gpuplan.analysis.llm_runs import runs_of
from gpuplan.catalog import Catalog, CatalogError, load_catalog
from gpuplan.models.llm.speeds import Speeds
from gpuplan.plan.llm_parts import speeds_of


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


def test_errors_by_hand() -> None:
    found = [Prediction("x", "tpot_ms", m, 10.0, 9.0, 11.0) for m in (8.0, 10.0, 10.5, 20.0)]
    off = errors(found)
    assert off and (off.runs, off.held, off.width) == (4, 0.5, 11 / 9)
    assert off.median == pytest.approx((0.25 + 10 / 10.5 * 0 + 0.5 / 10.5) / 2)
    assert errors([Prediction("x", "tpot_ms", 1.0, why="no")]) is None
    assert isinstance(Speeds(), Speeds)


HEAD = "source_id,model,gpu,tp,isl,osl,concurrency,tpot_ms,framework,mode,precision_weights"
ROW = "a,Llama-3.1-70B,H100,4,1024,1024,16,20,vllm,concurrency,fp8"


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_runs_are_read_with_empty_cells_and_columns_in_any_order(tmp_path: Path, catalog: Catalog) -> None:
    file = written(
        tmp_path / "r.csv", "gpu,model,tpot_ms,isl,weather", "H100,Qwen3-32B,12.5,,hot", "", "L40S,,,7,"
    )
    one, two = read_runs(file, catalog)
    assert (one.id, one.gpu, one.tpot_ms, one.isl, one.mode) == ("line-2", "H100", 12.5, None, "")
    assert (two.id, two.isl, two.tpot_ms) == ("line-4", 7, None)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["model,isl", "x,1"], "line 1, column gpu: there is no column gpu"),
        (["model,gpu,tpot_mss", "x,y,1"], "line 1, column tpot_mss: 'tpot_mss' is not a column of runs"),
        (["model,gpu,gpu", "x,y,z"], "line 1, column gpu: is there twice"),
        ([HEAD, ROW.replace("1024", "abc", 1)], "line 2, column isl: 'abc' is not allowed"),
        (
            [HEAD, ROW, ROW.replace(",4,", ",4.5,")],
            "line 3, column tp: '4.5' is not allowed; it needs a whole",
        ),
        ([HEAD, ROW.replace(",20,", ",-20,")], "line 2, column tpot_ms: '-20' is out of range"),
        ([HEAD, ROW.replace("fp8", "fp7")], "line 2, column precision_weights: 'fp7' is not allowed"),
        ([HEAD, ROW.replace("concurrency", "loop")], "line 2, column mode: 'loop' is not allowed"),
        ([HEAD, ROW + ",more"], "line 2: has 12 cells; the header has 11"),
        ([HEAD, '"open'], "is not well-formed CSV"),
        ([HEAD], "has no runs"),
    ],
)
def test_a_malformed_file_is_named_by_line_and_column(
    tmp_path: Path, catalog: Catalog, lines: list[str], words: str
) -> None:
    with pytest.raises(CatalogError) as error:
        read_runs(written(tmp_path / "runs.csv", *lines), catalog)
    assert words in str(error.value) and "runs.csv" in str(error.value)


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path: Path, catalog: Catalog) -> None:
    (tmp_path / "b.csv").write_bytes(b"model,gpu\n\xff\xfe,x\n")
    with pytest.raises(CatalogError, match="line 2: is not UTF-8"):
        read_runs(tmp_path / "b.csv", catalog)
    with pytest.raises(CatalogError, match="there is no such file"):
        read_runs(tmp_path / "none.csv", catalog)


def test_factors_become_a_catalog_that_opens_and_keep_what_is_there(tmp_path: Path, catalog: Catalog) -> None:
    folder = tmp_path / "mine"
    for model, step in (("llama-3.1-8b", 1.2), ("qwen3-32b", 0.9), ("llama-3.1-8b", 1.3)):
        item = {f"llm-own/{model}/h100-sxm5-80gb": {"own_step": step, "own_first": 2.0}}
        assert write_own(folder, item, 5) == ("sources.csv", "assumptions.csv")
    mine = load_catalog(folder)
    found = [speeds_of(mine, model, "h100-sxm5-80gb") for model in ("llama-3.1-8b", "qwen3-32b")]
    assert [(each.own_step, each.own_first) for each in found] == [(1.3, 2), (0.9, 2)]
    assert speeds_of(mine) == speeds_of(catalog) == speeds_of(mine, "llama-3.1-8b", "l40s-48gb")
