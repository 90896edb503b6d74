"""Every format and version gives the run that was written; what is doubtful is said, what cannot be read is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmark_results import (
    FILES,
    Measured,
    aiperf,
    aiperf_lines,
    as_lines,
    genai_csv,
    guidellm,
    sglang,
    vllm,
)
from random_cases import cases

from gpuplan.analysis.benchmarks import Result, read_results
from gpuplan.analysis.benchmarks.reading import UnknownTool, read_runs
from gpuplan.catalog import Catalog, CatalogError
from gpuplan.wording import NAMES

Read = Callable[..., tuple[Result, ...]]


@pytest.fixture
def read(tmp_path: Path, catalog: Catalog) -> Read:
    def read(text: str | dict[str, Any], name: str = "r.json") -> tuple[Result, ...]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return read_results([path], catalog)

    return read


def same(found: Result, run: Measured, rel: float = 1e-5) -> None:
    read = found.run
    for name in ("concurrency", "isl", "osl", "ttft_ms", "tpot_ms", "tokens_per_s"):
        assert getattr(read, name) == pytest.approx(getattr(run, name), rel=rel), name
    assert not found.warnings


@pytest.mark.parametrize("kind", FILES)
def test_each_format_and_version_gives_the_run_that_was_written(kind: str, read: Read) -> None:
    name, text = FILES[kind]
    found = read(text(Measured()), name)
    assert len(found) == 1 + kind.endswith(("appended", "several runs"))
    for each in found:
        assert len(each.warnings) == (name in ("profile_export.jsonl", "spend.csv", "spend.json")), (
            "requests lost"
        )
        same(replace(each, warnings=()), Measured(), 1e-3 if "csv" in kind else 1e-5)
        assert each.tool in NAMES["benchmark tool"]


def test_each_format_gives_it_for_whatever_figures(read: Read) -> None:
    for rng in cases(39, 200, few=30):
        run = Measured(
            concurrency=rng.randrange(1, 513),
            isl=rng.randrange(8, 32_000),
            osl=rng.randrange(2, 4_000),
            ttft_ms=rng.uniform(8, 9_000),
            tpot_ms=rng.uniform(2, 300),
            requests=rng.randrange(600, 900),
        )
        kind = rng.choice([kind for kind in FILES if "32" not in FILES[kind][0] and "lines" not in kind])
        if kind.startswith("litellm"):
            continue  # its busiest five minutes
        name, text = FILES[str(kind)]
        for found in read(text(run), name):
            same(found, run)


@pytest.mark.parametrize(
    ("form", "mode"),
    [
        ({"request_rate": "inf", "max_concurrency": None}, ("burst", 320)),
        ({"request_rate": "inf", "max_concurrency": 32}, ("concurrency", 32)),
        ({"request_rate": Measured().rate, "max_concurrency": None}, ("server", 32)),
        ({"request_rate": Measured().rate, "max_concurrency": 32}, ("server", 32)),
        ({"request_rate": Measured().rate, "max_concurrency": 4096}, ("server", 32)),
    ],
)
def test_a_load_is_a_loop_a_rate_or_all_at_once(
    form: dict[str, Any], mode: tuple[str, int], read: Read
) -> None:
    (found,) = read(vllm(Measured(), **form))
    assert (found.run.mode, found.run.concurrency) == (mode[0], pytest.approx(mode[1]))


def test_percentiles_and_rates_stay_beside_the_mean(read: Read) -> None:
    (found,) = read(vllm(Measured()))
    assert found.figures["ttft_p99_ms"] == 730 and found.figures["tpot_p50_ms"] == 15
    assert found.figures["requests_per_s"] == pytest.approx(Measured().rate)


def test_a_sweep_gives_a_run_for_each_load(read: Read) -> None:
    steps = [guidellm(Measured(concurrency=n))["benchmarks"][0] for n in (1, 8, 64)]
    found = read({"benchmarks": steps, "config": {"model": "m"}})
    assert [each.run.concurrency for each in found] == [1, 8, 64]
    assert len({each.run.id for each in found}) == 3 and {each.run.model for each in found} == {"m"}


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ({}, 0),
        (
            {
                "completed": 300,
                "total_input_tokens": 300 * 1024,
                "total_output_tokens": 300 * 256,
                "duration": 39.286,
            },
            1,
        ),
        ({"failed": 3}, 1),
        ({"mean_ttft_ms": 0.365, "mean_e2el_ms": 4190}, 1),
        ({"mean_e2el_ms": 4.19}, 2),
        ({"max_concurrency": 128}, 1),
        ({"output_throughput": 1000.0}, 1),
        ({"mean_tpot_ms": 0.015, "mean_ttft_ms": 0.365}, 2),
    ],
)
def test_figures_that_contradict_each_other_are_doubted(
    change: dict[str, Any], count: int, read: Read
) -> None:
    (found,) = read(vllm(Measured(), **change))
    assert len(found.warnings) == count, found.warnings


def test_a_file_or_its_folder_names_the_group(tmp_path: Path, catalog: Catalog) -> None:
    names = ("assistant--c32.json", "assistant--aiperf-c32/profile_export_aiperf.json", "else.json")
    for name, content in zip(names, (vllm(Measured()), aiperf(Measured()), vllm(Measured())), strict=True):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "tagged.jsonl").write_text(as_lines([sglang(Measured(), tag="coder")]))
    found = {each.file: each.group for each in read_results([tmp_path], catalog)}
    assert found == {
        names[0]: "assistant",
        names[1]: "assistant",
        "tagged.jsonl": "coder",
    }  # else.json is a copy


def test_in_a_folder_a_run_counts_once_and_other_files_are_left_out(tmp_path: Path, catalog: Catalog) -> None:
    (tmp_path / "profile_export_aiperf.json").write_text(json.dumps(aiperf(Measured())))
    (tmp_path / "profile_export_aiperf.csv").write_text(genai_csv(Measured()))
    (tmp_path / "profile_export.jsonl").write_text(as_lines(aiperf_lines(Measured())))
    (tmp_path / "inputs.json").write_text('{"data": [{"session_id": "s", "payloads": [{}]}]}')
    (tmp_path / "power.csv").write_text("timestamp,power\n1,300\n")
    (tmp_path / "notes.txt").write_text("x")
    (found,) = read_results([tmp_path], catalog)
    assert found.tool == "aiperf" and found.run.model, "the summary, which names the model"


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "wrk", "rps": 3}',
        "[1, 2]",
        '[{"x": 1}]',
        "a,b\n1,2\n",
        '{"avg_latency": 1.0}',
        "hello",
        "[]",
        "null",
    ],
)
def test_an_unknown_tool_is_answered_with_those_that_are_read(text: str, read: Read) -> None:
    with pytest.raises(CatalogError) as error:
        read(text, "r.json")
    if text != "[]":
        assert isinstance(error.value, UnknownTool)
        assert all(name in str(error.value) for name in NAMES["benchmark tool"].values())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "r.json"),
        (json.dumps(vllm(Measured()))[:-30], "r.json, line 1"),
        ('{"completed": 1,\n "mean_ttft_ms": }', "r.json, line 2"),
        ("[" * 100_000, "r.json, line 1"),
        ('{"completed": ' + "9" * 5_000 + ', "mean_ttft_ms": 1}', "r.json"),
        (vllm(Measured(), mean_ttft_ms="soon"), "mean_ttft_ms"),
        (vllm(Measured(), mean_ttft_ms=-1), "mean_ttft_ms"),
        (vllm(Measured(), mean_ttft_ms=float("nan")), "mean_ttft_ms"),
        (vllm(Measured(), mean_tpot_ms=1e400), "mean_tpot_ms"),
        (vllm(Measured(), completed=True), "completed"),
        (vllm(Measured(), completed=0), "completed"),
        (vllm(Measured(), completed=[1]), "completed"),
        (vllm(Measured(), max_concurrency=0), "max_concurrency"),
        (vllm(Measured(), max_concurrency=2.5), "max_concurrency"),
        (vllm(Measured(), total_output_tokens=None), "total_output_tokens"),
        ({"benchmarks": []}, "r.json"),
        ({"benchmarks": [1]}, "benchmarks[0]"),
        (
            {"benchmarks": [{"metrics": {"time_to_first_token_ms": {"successful": {"mean": "x"}}}}]},
            "benchmarks[0].metrics",
        ),
        (
            aiperf(Measured()) | {"time_to_first_token": {"unit": "parsec", "avg": 1}},
            "time_to_first_token.unit",
        ),
        (aiperf(Measured()) | {"request_latency": {"unit": "ms", "avg": "x"}}, "request_latency.avg"),
    ],
)
def test_a_malformed_file_is_refused_with_file_and_field(text: Any, words: str, read: Read) -> None:
    with pytest.raises(CatalogError) as error:
        read(text)
    assert words in str(error.value) and "r.json" in str(error.value)
    assert len(str(error.value)) < 700


def test_hostile_names_stay_on_one_line(tmp_path: Path, catalog: Catalog) -> None:
    path = tmp_path / "a\x1b[31m\nb.json"
    path.write_text('{"x\\u001b[0m": 1}')
    with pytest.raises(CatalogError) as error:
        read_results([path], catalog)
    assert str(error.value).isprintable()


def test_every_cut_and_every_changed_value_is_read_or_refused(read: Read) -> None:
    """Nothing but a CatalogError: each format cut anywhere, and with each value replaced."""
    odd = [None, "", "x", -1, 0, 1e300, [], {}, [1], {"a": 1}, True, "1,2", "nan"]
    for rng in cases(40, 400, few=120):
        kind = rng.choice([*FILES])
        name, write = FILES[kind]
        text = write(Measured())
        if rng.random() < 0.5 or not name.endswith("json"):
            at = rng.randrange(0, len(text))
            text = (
                text[:at]
                + str(rng.choice(["", "\x00", '"', "{", ",", "\n"]))
                + text[at + 1 :][: rng.randrange(0, 400)]
            )
        else:
            data = json.loads(text.split("\n{")[0]) if "appended" in kind else json.loads(text)
            here = data[0] if isinstance(data, list) else data
            while isinstance(here, dict):
                key = str(rng.choice([*here]))
                inner = here[key]
                if not isinstance(inner, dict) or not inner or rng.random() < 0.4:
                    here[key] = rng.choice(odd)
                    break
                here = inner
            text = json.dumps(data)
        try:
            read(text, name)
        except CatalogError as error:
            assert name in str(error)


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
