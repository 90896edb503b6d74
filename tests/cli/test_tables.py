"""``gpuplan catalog``, ``schema`` and ``calibrate``."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from benchmark_results import Measured, vllm
from command_line import run

from gpuplan.scenario import json_schema


def test_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "catalog")
    assert code == 0
    assert "Gpus" in out
    code, out, _ = run(capsys, "catalog", "v100")
    assert code == 0
    assert "Tesla V100 PCIe 32GB" in out
    code, out, err = run(capsys, "catalog", "unicorn")
    assert (code, out) == (1, "")
    assert "unicorn" in err


def test_the_table_that_an_error_names_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("gpus", "servers", "vsphere", "use_cases"):
        code, out, _ = run(capsys, "catalog", name)
        assert code == 0
        assert out


def test_schema(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "schema")
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(json_schema()))
    jsonschema.Draft202012Validator.check_schema(json.loads(out))


def test_a_catalog_of_one_s_own(capsys: pytest.CaptureFixture[str], tmp_path: Path, mine: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    _, before, _ = run(capsys, "plan", str(mine), "--json")
    (own / "gpus.csv").write_text(
        "item,parameter,value,low,high,unit,basis,source,locator,note\n"
        "l40s-48gb,name,Our own L40S,,,,quoted,vmware-bitfusion-faq,,\n",
        encoding="utf-8",
    )
    code, out, err = run(capsys, "plan", str(mine), "--json", "--catalog", str(own))
    assert (code, err) == (0, "")
    assert json.loads(out)["catalog"] != json.loads(before)["catalog"]
    assert json.loads(out)["totals"] == json.loads(before)["totals"]
    code, out, _ = run(capsys, "catalog", "l40s-48gb", "--catalog", str(own))
    assert "Our own L40S" in out


@pytest.mark.parametrize("content", ["item,parameter\nx,y\n", "not,a,catalog\n"])
def test_a_catalog_that_is_wrong(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, mine: Path, content: str
) -> None:
    (tmp_path / "gpus.csv").write_text(content, encoding="utf-8")
    code, out, err = run(capsys, "plan", str(mine), "--catalog", str(tmp_path))
    assert (code, out) == (2, "")
    assert "gpus.csv" in err
    assert "Traceback" not in err
    code, _, err = run(capsys, "plan", str(mine), "--catalog", str(tmp_path / "nowhere"))
    assert code == 2
    assert "nowhere" in err


def test_calibrate_prints_own_runs_beside_predictions(capsys, tmp_path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text(
        "source_id,model,gpu,tp,isl,osl,concurrency,tpot_ms,precision_weights\n"
        "a,Llama-3.1-70B,H100,4,1024,1024,16,13.2,fp8\nb,Unheard-of,H100,4,1024,1024,16,13.2,fp8\n"
    )
    code, out, _ = run(capsys, "calibrate", "--llm", str(file), "--json")
    rows = json.loads(out)["rows"]
    assert code == 0 and [row["source_id"] for row in rows] == ["a", "b"]
    assert rows[0]["low"] < rows[0]["predicted"] < rows[0]["high"] and rows[0]["held"]
    assert rows[1]["predicted"] is None and "Unheard-of" in rows[1]["why"]
    code, out, err = run(capsys, "calibrate", "--llm", str(file), "--fit", str(tmp_path / "mine"))
    assert code == 0 and "Time per token" in out and "Wrote" in err
    assert (tmp_path / "mine" / "assumptions.csv").exists()


def test_calibrate_for_a_design_plans_it_again(capsys, tmp_path) -> None:
    for n in (1, 4, 16):
        run_of = Measured(concurrency=n, isl=2000, osl=400, ttft_ms=300.0 + 20 * n, tpot_ms=14.0 + n / 2)
        content = vllm(run_of, model_id="meta-llama/Llama-3.3-70B-Instruct")
        (tmp_path / f"assistant--c{n}.json").write_text(json.dumps(content))
    files = [str(path) for path in sorted(tmp_path.glob("*.json"))]
    code, out, _ = run(capsys, "calibrate", "--llm", *files, "--for", "assistant", "--json")
    found = json.loads(out)
    assert code == 0 and len(found["rows"]) == 9 and not found["why"]
    assert {each["group"] for each in found["results"]} == {"assistant"}
    assert [each["figure"] for each in found["plans"]][-1] and len(found["refitted"]) == 3
    code, out, _ = run(
        capsys, "calibrate", "--llm", str(tmp_path), "--for", "assistant", "--fit", str(tmp_path / "mine")
    )
    assert code == 0 and (tmp_path / "mine" / "assumptions.csv").exists()
    code, out, _ = run(capsys, "plan", "assistant", "--catalog", str(tmp_path / "mine"), "--json")
    assert code == 0 and str(json.loads(out)["totals"]["hosts"]) == found["plans"][-1]["after"]


def test_calibrate_names_file_and_field_the_tools_that_are_read_and_the_groups(capsys, tmp_path) -> None:
    (tmp_path / "r.json").write_text('{"x": 1}')
    code, _, err = run(capsys, "calibrate", "--llm", str(tmp_path / "r.json"), "--for", "assistant")
    assert (
        code == 2
        and "r.json" in err
        and all(name in err for name in ("vllm bench serve", "GuideLLM", "AIPerf"))
    )
    (tmp_path / "r.json").write_text(json.dumps(vllm(Measured(), mean_ttft_ms="x")))
    code, _, err = run(capsys, "calibrate", "--llm", str(tmp_path / "r.json"))
    assert code == 2 and "mean_ttft_ms" in err
    code, _, err = run(capsys, "calibrate", "--llm", str(tmp_path / "r.json"), "--for", "starter")
    assert code == 2 and "--for" in err
    (tmp_path / "r.json").write_text(json.dumps(vllm(Measured())))
    code, _, err = run(
        capsys, "calibrate", "--llm", str(tmp_path / "r.json"), "--fit", str(tmp_path / "mine")
    )
    assert code == 2 and "--for" in err and not (tmp_path / "mine").exists()
    code, _, err = run(capsys, "calibrate", "--llm", str(tmp_path / "none.json"))
    assert code == 2 and "none.json" in err


def test_calibrate_refuses_what_needs_runs_and_names_line_and_column(capsys, tmp_path) -> None:
    code, _, err = run(capsys, "calibrate", "--fit", str(tmp_path))
    assert code == 2 and "--llm" in err
    (tmp_path / "bad.csv").write_text("model,gpu,isl\nx,H100,abc\n")
    code, _, err = run(capsys, "calibrate", "--llm", str(tmp_path / "bad.csv"))
    assert code == 2 and "line 2, column isl" in err
