"""The validation kit: what its scripts run when they are run, and that its results come back to the group they are of."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from approved import has_approved
from benchmark_results import Measured, aiperf, as_lines, sglang, vllm

from gpuplan.analysis.benchmarks import read_results
from gpuplan.analysis.benchmarks.customer import calibrate
from gpuplan.catalog import load_catalog
from gpuplan.deliver import zipped
from gpuplan.deliver.validation import kit_files
from gpuplan.deliver.validation.kit import Load, _script, loads
from gpuplan.plan import Plan, make_plan
from gpuplan.scenario import load_scenario

FAKE = """#!/bin/sh
"exec" "{python}" "$0" "$@"
import json, os, sys
with open({log!r}, "a") as file:
    print(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]), file=file)
"""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(load_scenario("assistant"))


@pytest.fixture(scope="module")
def two(plan: Plan) -> Plan:
    """A second group with a name that a shell would run."""
    group = plan.scenario.groups[0]
    coder = replace(
        group, id="coder", name='"; touch pwned; # $(touch pwned)', model="qwen3-32b", weights=None
    )
    return make_plan(
        replace(plan.scenario, name="`touch pwned` $(touch pwned)", groups=(*plan.scenario.groups, coder))
    )


def played(folder: Path, plan: Plan, *groups: str, engine: str = "vllm", **given: str) -> list[list[str]]:
    """Run the kit with programs that only note how they were called; return the calls."""
    for name, content in kit_files(plan, engine).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    programs, log = folder / "bin", folder / "calls"
    programs.mkdir()
    for program in ("vllm", "aiperf", "python3", "curl", "nvidia-smi"):
        path = programs / program
        path.write_text(FAKE.format(python=sys.executable, log=str(log)))
        path.chmod(0o755)
    env = {"PATH": f"{programs}:/usr/bin:/bin", **given}
    done = subprocess.run(
        ["bash", "run.sh", *groups], cwd=folder, env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert not list(folder.rglob("pwned"))
    return [json.loads(line) for line in log.read_text().splitlines()]


def options(call: list[str]) -> dict[str, str]:
    return {name: value for name, value in zip(call, [*call[1:], ""], strict=True) if name.startswith("--")}


def test_the_kit_runs_a_server_and_its_loads_for_each_group(tmp_path: Path, two: Plan) -> None:
    calls = played(tmp_path, two)
    served = [call for call in calls if call[:2] == ["vllm", "serve"]]
    assert [call[2] for call in served] == ["meta-llama/Llama-3.3-70B-Instruct", "Qwen/Qwen3-32B"]
    first = options(served[0])
    assert first["--tensor-parallel-size"] == "2" and first["--max-model-len"] == "32768"
    assert first["--kv-cache-dtype"] == "fp8" and first["--quantization"] == "fp8"
    assert int(first["--max-num-seqs"]) >= two.llm.serving["assistant"].limits.requests
    for id in ("assistant", "coder"):
        runs = [options(call) for call in calls if f"gpuplan_group={id}" in call]
        made = list(loads(two, id))
        assert [run["--result-filename"] for run in runs] == [f"{id}--{load.name}.json" for load in made]
        loops = [int(run["--max-concurrency"]) for run in runs if "--max-concurrency" in run]
        assert loops[0] == 1 and round(two.llm.serving[id].found.requests) in loops
        assert float(runs[-1]["--request-rate"]) * two.llm.serving[id].replicas == pytest.approx(
            two.llm.serving[id].load.requests_per_second, rel=0.01
        )
        assert len({run["--seed"] for run in runs}) == len(runs), "no prompt comes twice, from a cache"
        assert all(
            run["--random-input-len"] == "2000" and run["--random-output-len"] == "400" for run in runs
        )
    assert sum(call[0] == "nvidia-smi" for call in calls) == 2
    assert (tmp_path / "results.tar.gz").exists()


def test_requests_go_to_the_server_that_is_named_and_to_no_other(tmp_path: Path, two: Plan) -> None:
    calls = played(tmp_path, two, "coder", URL="http://gpu-host:8000", MODEL="/models/my qwen")
    assert not [call for call in calls if "serve" in call[1:2] or call[0] == "curl"]
    runs = [options(call) for call in calls if call[0] == "vllm"]
    assert {run["--base-url"] for run in runs} == {"http://gpu-host:8000"}
    assert {run["--model"] for run in runs} == {"/models/my qwen"}


@pytest.mark.parametrize(
    ("engine", "tool"), [("sglang", ""), ("vllm", "aiperf"), ("sglang", "aiperf"), ("vllm", "sglang")]
)
def test_each_engine_and_each_tool_has_its_own_options(
    tmp_path: Path, plan: Plan, engine: str, tool: str
) -> None:
    calls = played(tmp_path, plan, engine=engine, **({"TOOL": tool} if tool else {}))
    server = next(options(call) for call in calls if "serve" in call[1:2] or "sglang.launch_server" in call)
    assert (server.get("--tp-size") or server["--tensor-parallel-size"]) == "2"
    assert ("--context-length" in server) == (engine == "sglang")
    if tool == "aiperf":
        runs = [options(call) for call in calls if call[:2] == ["aiperf", "profile"]]
        assert all((run["--isl"], run["--osl"]) == ("2000", "400") for run in runs)
        assert all(run["--num-dataset-entries"] == run["--request-count"] for run in runs)
        assert all("assistant--aiperf-" in run["--artifact-dir"] for run in runs)
    else:
        runs = [options(call) for call in calls if "sglang.bench_serving" in call]
        assert all(run["--random-range-ratio"] == "1.0" and run["--tag"] == "assistant" for run in runs)
        assert {run["--backend"] for run in runs} == {"sglang" if engine == "sglang" else "vllm"}
    assert len(runs) == len(list(loads(plan, "assistant")))


def test_an_unknown_group_is_refused_with_those_that_are_there(tmp_path: Path, plan: Plan) -> None:
    for name, content in kit_files(plan).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    done = subprocess.run(
        ["bash", "run.sh", "../x"], cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True
    )
    assert done.returncode and "assistant" in done.stderr


@pytest.mark.parametrize(
    "model", ["a'; touch pwned; '", "$(touch pwned)", "a\nb; touch pwned", "`touch pwned`", "a b"]
)
def test_names_are_words_for_the_shell(tmp_path: Path, model: str) -> None:
    step = Load("c1", 1, None, 32, {})
    run = SimpleNamespace(
        model=model, gpu=model, tp=1.0, isl=10.0, osl=5.0, precision_weights="bf16", precision_kv="bf16"
    )
    text = _script(
        "group.sh",
        engine="vllm",
        loads=[step],
        id="g",
        run=run,
        context=1,
        sequences=1,
        native="bf16",
        memory=0.9,
    )
    (tmp_path / "g.sh").write_text(text)
    done = subprocess.run(
        ["bash", "-c", 'source ./g.sh; printf "%s" "$MODEL"'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == " ".join(model.split())
    assert not (tmp_path / "pwned").exists()
    assert shlex.quote(" ".join(model.split())) in text


def test_the_same_design_gives_the_same_bytes(plan: Plan) -> None:
    one, other = (zipped(kit_files(make_plan(load_scenario("assistant")))) for _ in range(2))
    assert one == other == zipped(kit_files(plan))
    assert zipped(kit_files(plan, "sglang")) != one


def test_the_procedure_fits_a_page_and_says_when_it_passes(plan: Plan) -> None:
    text = kit_files(plan)["PROCEDURE.txt"].decode()
    assert has_approved(text) and len(text.splitlines()) < 60
    made = plan.llm.serving["assistant"]
    assert f"{made.asks['first_token_s']} s" in text and f"{made.asks['tokens_per_s']} tokens/s" in text
    for load in loads(plan, "assistant"):
        assert load.name in text and load.predicted["ttft_ms"].low < load.predicted["ttft_ms"].high


def test_tokens_are_whole_and_seconds_no_fractions_where_prompts_repeat_themselves(plan: Plan) -> None:
    agents = {
        "use_kind": "agent",
        "tokens_in": None,
        "tokens_out": None,
        "longest_context": None,
        "first_token_s": 0.5,
    }
    group = replace(plan.scenario.groups[0], model="gpt-oss-120b", weights="mxfp4", **agents)
    text = kit_files(make_plan(replace(plan.scenario, groups=(group,))))["PROCEDURE.txt"].decode()
    assert "0.5 s" in text and "1/2" not in text
    assert not re.search(r"\.\d+\s+tokens in|\.\d+\s+tokens;", text)


@pytest.mark.parametrize("tool", ["vllm", "sglang", "aiperf"])
def test_results_come_back_to_their_group(tmp_path: Path, two: Plan, tool: str) -> None:
    """Whatever the tool, under the names that the kit gives, though the model is that of no group."""
    for load in loads(two, "coder"):
        run = Measured(
            concurrency=load.concurrency or 3,
            isl=2000,
            osl=400,
            model="/models/a",
            ttft_ms=90 + load.concurrency,
        )
        where = tmp_path / {"vllm": f"coder--{load.name}.json", "sglang": f"coder--{load.name}.jsonl"}.get(
            tool, f"coder--aiperf-{load.name}/profile_export_aiperf.json"
        )
        where.parent.mkdir(exist_ok=True)
        content = {"vllm": vllm, "sglang": sglang, "aiperf": aiperf}[tool](run)
        where.write_text(as_lines([content]))
    found = calibrate(two.catalog, read_results([tmp_path], load_catalog()), two)
    assert len(found.results) == len(list(loads(two, "coder")))
    assert {each.group for each in found.results} == {"coder"}
    assert all(each.predicted for each in found.predictions)
