"""One's own runs: files that are refused by line and column, and a fit written into a catalog folder that opens again."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuplan.analysis import llm_files
from gpuplan.analysis.llm_files import fit_own, read_runs, write_own
from gpuplan.analysis.llm_runs import predict, runs_of
from gpuplan.catalog import Catalog, CatalogError, load_catalog
from gpuplan.plan.llm_parts import speeds_of

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


def test_a_fit_with_own_runs_becomes_a_catalog_that_opens(
    tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = [ROW.replace("a,", f"a{i},", 1).replace(",20,", ",30,") for i in range(60)]
    own = read_runs(written(tmp_path / "r.csv", HEAD, *slow), catalog)
    with monkeypatch.context() as patch:  # one published run in twelve: the fit of all takes seconds
        patch.setattr(llm_files, "runs_of", lambda known: runs_of(known)[::12])
        speeds = fit_own(catalog, own)
    folder = tmp_path / "mine"
    assert write_own(folder, catalog, own, speeds) == ("sources.csv", "llm_runs.csv", "assumptions.csv")
    write_own(folder, catalog, own[:1], speeds)
    mine = load_catalog(folder)
    assert len(runs_of(mine)) == len(runs_of(catalog)) + 60
    assert speeds_of(mine).vllm == pytest.approx(speeds.vllm, rel=1e-3)
    before, after = (predict(c, own[:1])[0] for c in (catalog, mine))
    assert abs(after.error or 0) < abs(before.error or 0)
