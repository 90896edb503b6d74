"""What differs between tools: whose GPUs count, which requests, and which unit."""

from __future__ import annotations

from typing import Any

import pytest
from benchmark_results import Measured, aiperf, genai, guidellm, inferencex, llmperf, sglang, vllm

from gpuplan.analysis.benchmarks.tools import FIELDS, TOOLS, Record, Result
from gpuplan.catalog import CatalogError
from gpuplan.wording import NAMES


def read(tool: str, data: dict[str, Any], file: str = "f.json") -> Result:
    (found,) = TOOLS[tool](Record(file, data))
    return found


@pytest.mark.parametrize(
    ("form", "gpus", "tokens"),
    [
        ({}, 2, 1),
        ({"tp": 4, "pp": 2}, 8, 4),
        ({"tp": 2, "pcp_size": 2}, 4, 2),
        ({"disagg": True, "num_prefill_gpu": 4, "num_decode_gpu": 8}, 12, 4),
        ({"tp": 8, "dp_attention": "true"}, 8, 4),
    ],
)
def test_inferencex_counts_the_gpus_that_it_divided_by(
    form: dict[str, Any], gpus: float, tokens: float
) -> None:
    run = read("inferencex", inferencex(Measured(), **form)).run
    assert run.gpus == gpus
    assert run.tokens_per_s == pytest.approx(Measured().tokens_per_s * tokens)
    assert run.mode == ("disaggregated" if "disagg" in form else "concurrency") and run.tuned


@pytest.mark.parametrize(
    "wrong", [{"tp": 0.001}, {"pp": 0}, {"pcp_size": 1.5}, {"isl": 1e12}, {"conc": 1e12}, {"conc": 0}]
)
def test_counts_and_lengths_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(CatalogError):
        read("inferencex", inferencex(Measured(), **wrong))


def test_inferencex_names_board_engine_and_precision() -> None:
    form = {"hw": "b200-trt", "framework": "trt", "precision": "fp4"}
    run = read("inferencex", inferencex(Measured(), **form)).run
    assert (run.gpu, run.framework, run.precision_weights) == ("b200", "tensorrt-llm", "nvfp4")
    split = read("inferencex", inferencex(Measured(), tp=8, dp_attention="true")).run
    assert (split.tp, split.dp) == (1, 8)


def test_the_wait_for_the_first_token_is_not_in_the_time_per_token() -> None:
    """Of llmperf it is taken out; of GuideLLM the figure without it is taken."""
    for tool, data in (("llmperf", llmperf(Measured())), ("guidellm", guidellm(Measured()))):
        assert read(tool, data).run.tpot_ms == pytest.approx(15)


def test_lengths_are_those_sent_not_those_asked_for() -> None:
    assert read("sglang", sglang(Measured())).run.isl == 1024
    assert read("llmperf", llmperf(Measured())).run.isl == 1024


def test_units_are_read_where_they_are_stated() -> None:
    seconds = aiperf(Measured()) | {"time_to_first_token": {"unit": "s", "avg": 0.365}}
    assert read("aiperf", seconds).run.ttft_ms == pytest.approx(365)


def test_the_name_of_a_folder_gives_a_concurrency_that_the_file_lacks() -> None:
    bare = {name: value for name, value in genai(Measured()).items() if name != "input_config"}
    assert read("aiperf", bare, "llama-openai-chat-concurrency16/p.csv").run.concurrency == 16
    unnamed = read("aiperf", bare, "p.csv").run
    assert (unnamed.mode, unnamed.concurrency) == ("server", pytest.approx(32))


def test_a_measured_concurrency_goes_before_its_cap_and_a_burst_is_no_loop() -> None:
    assert read("sglang", sglang(Measured(), concurrency=29.5)).run.concurrency == 29.5
    burst = read("sglang", sglang(Measured(), max_concurrency=None)).run
    assert (burst.mode, burst.concurrency) == ("burst", 320)


def test_the_engine_follows_the_backend() -> None:
    assert read("vllm", vllm(Measured(), backend="sglang")).run.framework == "sglang"
    assert read("vllm", vllm(Measured(), backend="tgi", endpoint_type="tgi")).run.framework == ""
    assert read("sglang", sglang(Measured(), backend="vllm-chat")).run.framework == "vllm"


DEEP = Record(
    "f.json", {"a": {"b": [{"c": "1,955.10"}]}, "x.y": 2, "none": None, "n": ["one"], "off": "N/A"}, 3
)


def test_a_field_is_found_by_its_path_and_at_any_level() -> None:
    assert DEEP.value("x.y") == 2 and DEEP.value("a.z.q") is None
    assert DEEP.number("none", "off", "*.c") == 1955.1
    assert DEEP.number("x.y", times=1e3) == 2000
    assert (DEEP.text("n"), DEEP.text("a", "none")) == ("one", "")


@pytest.mark.parametrize(
    "value", ["1,95", "x", "--1", "1e", ".", [], {}, True, -0.1, 1e20, float("inf"), float("nan")]
)
def test_what_is_no_number_is_refused_with_its_field(value: object) -> None:
    with pytest.raises(CatalogError, match=r"f\.json, line 7.*in\.here") as error:
        Record("f.json", {"here": value}, 7, "in").number("here")
    assert error.value.row == 7


def test_lists_and_objects_are_what_they_are_said_to_be() -> None:
    assert [each.at for each in Record("f", {"l": [{}, {}]}).listed("l")] == ["l[0]", "l[1]"]
    for wrong in ({"l": 1}, {"l": [1]}):
        with pytest.raises(CatalogError):
            list(Record("f", wrong).listed("l"))
    with pytest.raises(CatalogError):
        Record("f", {"l": 1}).part("l")


def test_every_tool_has_a_name_and_a_sign() -> None:
    assert all(figures["sign"] for figures in FIELDS.values())
    assert {tool.removesuffix("-lines") for tool in FIELDS} <= NAMES["benchmark tool"].keys()
