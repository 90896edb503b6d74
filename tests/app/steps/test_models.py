"""The inputs of a group that uses a language model, and what follows from them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from approved import has_approved, is_approved
from benchmark_results import Measured, vllm

from gpuplan.app.state import Workbook
from gpuplan.app.steps.models import validation_data
from gpuplan.catalog import Catalog
from gpuplan.scenario import load_scenario

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from assistants import assistant
from model_configs import config_of

from gpuplan.app.events import EVENTS
from gpuplan.app.steps.models import model_data, model_field
from gpuplan.app.steps.usecases import workloads_data
from gpuplan.plan.llm import INPUTS
from gpuplan.report.workloads import sentence
from gpuplan.scenario import decode_scenario, from_dict


def shown(book: Workbook) -> dict[str, Any]:
    last = book.scenario.groups[-1].id
    if book.workload != last:
        book.open_workload(last)
    found: dict[str, Any] = json.loads(json.dumps(workloads_data(book), allow_nan=False))["rows"][-1]
    return found


def fields(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The inputs of a row that is open, by their names."""
    found = (*row["open"]["fields"], *row["open"]["more"])
    return {field["path"].rpartition(".")[2]: field for field in found}


def test_a_group_without_a_model_has_none(book: Workbook) -> None:
    assert not {"model", "tokens_in"} & set(fields(shown(book)))


def test_an_added_group_is_sized_at_once(book: Workbook) -> None:
    book.edit("hardware.gpu", "a100-pcie-80gb")
    book.add_group("llm-serving")
    row = shown(book)
    assert not book.refused
    [group] = [g for g in book.scenario.groups if g.use_case == "llm-serving"]
    assert (group.model, group.people, group.tokens_in) == ("llama-3.1-8b", 100, 2000)
    assert set(INPUTS["llm-serving"]) <= set(fields(row))
    assert is_approved(row["words"][0], "3.1", "8B", "BF16", "100 users", "10 %")
    assert book.scenario.origin(f"groups.{group.id}.tokens_in").basis == "assumed"
    worked_out = fields(row)["gpus_each"]
    assert worked_out["locked"] and worked_out["value"] == "1/2"


def test_the_bar_adds_up_and_each_figure_has_its_line(catalog: Catalog) -> None:
    book = Workbook(catalog, assistant(people=4000))
    found = model_data(book, book.scenario.groups[0])
    parts, made = found["bar"]["parts"], book.plan.llm.serving["assistant"]
    assert sum(part["share"] for part in parts) == pytest.approx(1), "with what the engine keeps"
    assert [part["from"] for part in parts] == pytest.approx(
        [sum(p["share"] for p in parts[:n]) for n in range(len(parts))]
    )
    assert all(figure["key"] in book.plan.lines for figure in found["figures"])
    assert found["figures"][0]["value"] == str(made.replicas)
    assert f"{made.replicas + 1} replicas: first token" in found["figures"][2]["note"]


def test_what_is_missed_is_planned_and_what_does_not_fit_stands_beside_its_field(catalog: Catalog) -> None:
    book = Workbook(catalog, assistant())
    before = book.plan.totals
    book.edit("groups.assistant.tokens_per_s", "900")
    assert not book.stale and book.plan.llm.serving["assistant"].standing == "missed"
    book.edit("groups.assistant.tokens_in", "131000")
    assert fields(shown(book))["tokens_in"]["problem"] and book.stale
    assert book.plan.totals.gpus > before.gpus


def test_another_use_case_takes_the_models_inputs_away(catalog: Catalog) -> None:
    book = Workbook(catalog, assistant())
    book.edit("groups.assistant.use_case", "dev-test")
    [group] = book.scenario.groups
    assert (group.model, group.tokens_in, group.gpus_each) == (None, None, 0.125)
    assert "model" not in fields(shown(book))


def drop(book: Workbook, config: object, name: str = "config.json", group: str = "assistant") -> None:
    """Drop a file beside the model of a group."""
    content = config if isinstance(config, bytes) else json.dumps(config).encode()
    EVENTS["model-file"](book, {"id": group, "name": name, "base64": base64.b64encode(content).decode()})


def test_a_model_that_is_dropped_is_used_and_stays_with_its_design(catalog: Catalog) -> None:
    book = Workbook(catalog, assistant(weights=None))
    assert shown(book)["open"]["file"]["event"] == "model-file"
    config = config_of(catalog.row("llm_models", "qwen3-8b"))
    drop(book, config, "Ours 8B.json")
    assert book.scenario.groups[0].model == "ours-8b" and not book.refused
    assert book.notice[0] == "note" and has_approved(book.notice[1], "ours-8b", "8.19")
    options = fields(shown(book))["model"]["options"]
    assert {"value": "ours-8b", "text": "Ours 8B"} in options
    assert book.plan.llm.serving["assistant"].model == "Ours 8B"
    drop(book, {**config, "num_hidden_layers": 12}, "Ours 8B.json")
    assert [id for id, _ in book.scenario.models] == ["ours-8b", "ours-8b-2"], (
        "a second file is another model"
    )
    saved = decode_scenario(book.scenario.to_yaml().encode())
    again = Workbook(catalog)
    assert again.restore(book.fragment()) and again.scenario.models == saved.models == book.scenario.models
    assert again.for_customer().models == saved.models
    book.undo()
    assert [id for id, _ in book.scenario.models] == ["ours-8b"]
    book.start(assistant())
    assert not book.scenario.models
    assert "ours-8b" not in {option["value"] for option in fields(shown(book))["model"]["options"]}


def test_a_quantised_checkpoint_brings_its_precision(catalog: Catalog) -> None:
    config = config_of(catalog.row("llm_models", "qwen3-8b"))
    book = Workbook(catalog, assistant(weights="int8"))
    drop(book, config)
    assert book.scenario.groups[0].weights == "int8", "one that is not leaves what is stated"
    drop(book, {**config, "quantization_config": {"quant_method": "fp8"}})
    assert book.scenario.groups[0].weights == "fp8" and not book.refused


@pytest.mark.parametrize(
    ("config", "figures"),
    [
        ({}, ("hidden_size", "vocab_size")),
        ({"hidden_size": -1}, ("hidden_size", "-1")),
        (b"not json [", ("not json",)),
        (b"", ("None",)),
        ([1], ("[1]",)),
    ],
)
def test_a_file_that_is_no_model_changes_nothing(
    catalog: Catalog, config: object, figures: tuple[str, ...]
) -> None:
    book = Workbook(catalog, assistant())
    before = book.scenario
    drop(book, config)
    assert book.scenario is before
    assert book.notice[0] == "stop" and has_approved(book.notice[1], *figures)


def test_a_model_beyond_all_bounds_changes_nothing(catalog: Catalog) -> None:
    book = Workbook(catalog, assistant())
    before, config = book.scenario, config_of(catalog.row("llm_models", "qwen3-8b"))
    drop(book, {**config, "intermediate_size": 10**8, "hidden_size": 10**8, "num_hidden_layers": 900})
    assert book.scenario is before and book.notice[0] == "stop"


def test_only_groups_that_write_with_a_model_take_one(book: Workbook) -> None:
    for use_case, takes in (
        ("llm-serving", True),
        ("fine-tuning", True),
        ("rag", False),
        ("dev-test", False),
    ):
        book.add_group(use_case)
        assert bool(shown(book)["open"]["file"]) is takes


@pytest.fixture
def served(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("assistant"))


def send(served: Workbook, name: str, content: str) -> None:
    data = content.encode()
    EVENTS["result-piece"](served, {"name": name, "size": len(data), "at": 0, "buffer": data})


def measured(n: int) -> str:
    run = Measured(concurrency=n, isl=2000, osl=400, ttft_ms=300.0 + 30 * n, tpot_ms=15.0 + n / 2)
    return json.dumps(vllm(run, model_id="meta-llama/Llama-3.3-70B-Instruct"))


def test_results_add_up_and_plan_the_design_again(served: Workbook) -> None:
    assert (
        not validation_data(served)["tables"] and validation_data(served)["upload"]["event"] == "result-piece"
    )
    for n in (1, 4, 12):
        send(served, "assistant--c.json", measured(n))
    found = served.validating.found
    assert found and len(found.results) == 3 and len({each.run.id for each in found.results}) == 3
    assert found.again and {each.group for each in found.results} == {"assistant"}
    data = validation_data(served)
    assert len(data["tables"]) == 3 and len(data["text"]) == 3 and not data["old"] and not data["problem"]
    assert not list(served.validating.folder.iterdir()), "nothing is kept on disk"
    served.edit("groups.assistant.people", "500")
    assert validation_data(served)["old"]
    EVENTS["forget-results"](served, {})
    assert served.validating.found is None and not validation_data(served)["tables"]


@pytest.mark.parametrize("name", ["../../x.json", "/etc/x.json", "..", "a\x00b.json", "a/b--c.json", ".json"])
def test_a_file_that_cannot_be_read_is_named_and_the_others_stay(served: Workbook, name: str) -> None:
    send(served, "assistant--c1.json", measured(1))
    send(served, name, '{"x": 1}')
    assert "GuideLLM" in validation_data(served)["problem"]
    assert served.validating.found and len(served.validating.found.results) == 1
    assert not list(served.validating.folder.iterdir())


def test_the_kit_is_offered_and_only_where_a_model_is_served(served: Workbook, catalog: Catalog) -> None:
    EVENTS["kit"](served, {})
    ready = served.delivering.take()
    assert ready and ready[0].endswith("-validation.zip") and ready[1].startswith(b"PK")
    bare = validation_data(Workbook(catalog, load_scenario("starter")))
    assert not bare["buttons"] and "upload" not in bare


def test_another_design_starts_without_results(served: Workbook) -> None:
    send(served, "assistant--c1.json", measured(1))
    served.open_example("starter")
    assert served.validating.found is None and not served.validating.results


def test_an_upload_in_pieces_shows_its_progress(served: Workbook, tmp_path: Path) -> None:
    data = measured(1).encode()
    EVENTS["result-piece"](served, {"name": "r.json", "size": len(data), "at": 0, "buffer": data[:100]})
    assert validation_data(served)["progress"]
    EVENTS["result-piece"](served, {"name": "r.json", "size": len(data), "at": 100, "buffer": data[100:]})
    assert served.validating.found and not validation_data(served)["progress"]


def test_a_missed_promise_is_named_with_what_the_plan_keeps(catalog: Catalog) -> None:
    """A prompt of 2,000 tokens on four L40S takes longer than promised: one figure in place of it, and the row says so."""
    serving = {
        "id": "chat",
        "use_case": "llm-serving",
        "model": "llama-3.3-70b",
        "weights": "fp8",
        "people": 400,
    }
    serving |= {
        "active_share": 0.05,
        "tokens_in": 2000,
        "tokens_out": 400,
        "first_token_s": 2,
        "tokens_per_s": 20,
    }
    hardware = {"gpu": "l40s-48gb", "gpus_per_host": 4}
    book = Workbook(catalog, from_dict({"groups": [serving], "hardware": hardware}))
    made = book.plan.llm.serving["chat"]
    assert made.standing == "missed"
    first, _ = made.targets
    notes = " ".join(model_data(book, book.scenario.groups[0])["notes"])
    assert f"{first.planned:g} s" in notes and "at least" not in notes
    assert "missed" in sentence(book.plan, book.scenario.groups[0], None).second


def test_fewer_replicas_are_too_few_for_a_reason_that_is_shown(catalog: Catalog) -> None:
    """Means within the promise do not read as below it: the share of the requests in time decides."""
    book = Workbook(catalog, load_scenario("assistant"))
    made = book.plan.llm.serving["assistant"]
    fewer, first = made.steps[0], made.targets[0]
    assert made.in_time and not fewer.keeps and fewer.first_token_s.value < first.asked
    notes = model_data(book, book.scenario.groups[0])["notes"]
    assert any("95" in note and f"{fewer.replicas}:" in note for note in notes)
    assert not any("4\u202f096" in note for note in notes), "no limit is named that does not decide"


def test_methods_of_tuning_have_names(catalog: Catalog) -> None:
    job = {"id": "job", "use_case": "fine-tuning", "model": "llama-3.1-8b"}
    book = Workbook(catalog, from_dict({"groups": [job], "hardware": {"gpu": "h100-nvl-94gb"}}))
    options = model_field(book, book.scenario.groups[0], "tuning")["options"]
    assert len({each["text"].lower() for each in options}) == len(options) == 4
    assert {each["value"]: each["text"] for each in options}["qlora"] == "QLoRA"
