"""Models of a design's own: read from a file, part of the scenario, beside the catalog in its plan and in no other."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from approved import has_approved
from assistants import assistant
from model_configs import config_of

from gpuplan import load_catalog, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.llm.own_models import CONFIG, OwnModel, own_model, with_models
from gpuplan.scenario import Scenario, ScenarioError, from_dict, parse_scenario


def model(catalog: Catalog, id: str = "qwen3-8b", name: str = "ours", **more: Any) -> OwnModel:
    """A model of the catalog as its configuration describes it, under another name."""
    config = {**config_of(catalog.row("llm_models", id)), **more}
    return own_model("config.json", name, json.dumps(config).encode())


def design(own: OwnModel, **given: Any) -> Scenario:
    """A design that uses a model of its own."""
    return own.put_in(assistant(model=own.id, weights="bf16", **given))


@pytest.mark.parametrize(
    "id", ("qwen3-8b", "gpt-oss-20b", "gemma-3-27b", "qwen3.5-27b", "glm-4.5-air", "llama-4-scout")
)
def test_a_model_of_ones_own_needs_the_memory_of_the_same_in_the_catalog(catalog: Catalog, id: str) -> None:
    usual = make_plan(assistant(model=id, weights="bf16"), catalog).llm.serving["assistant"]
    own = make_plan(design(model(catalog, id)), catalog).llm.serving["assistant"]
    assert own.held.weights_gib * own.gpus == pytest.approx(usual.held.weights_gib * usual.gpus, rel=0.03)
    assert own.model == "ours" and usual.model != "ours"
    assert own.unseen, "no run of it was published"


def test_it_is_part_of_the_scenario_and_of_its_file(catalog: Catalog) -> None:
    scenario = design(model(catalog))
    again = parse_scenario(scenario.to_yaml())
    assert again == scenario and hash(again) == hash(scenario)
    assert parse_scenario(json.dumps(scenario.to_dict())) == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert scenario["models.ours"] and dict(scenario["models.ours"])["layers"] == 36
    assert scenario.label("models.ours").endswith("ours")
    assert Scenario(models={"ours": dict(scenario["models.ours"])}).models == scenario.models
    gone = scenario.with_value("models.ours", None)
    assert not gone.models
    with pytest.raises(ScenarioError):
        make_plan(gone, catalog)


def test_another_design_does_not_have_it(catalog: Catalog) -> None:
    plan = make_plan(design(model(catalog)), catalog)
    assert plan.catalog.row("llm_models", "ours")["layers"] == 36
    assert plan.catalog is make_plan(plan.scenario, plan.catalog).catalog, "remembered"
    other = assistant(model="ours", weights="bf16")
    for start in (catalog, plan.catalog):
        with pytest.raises(ScenarioError) as error:
            make_plan(other, start)
        assert error.value.problems[0].path == "groups.assistant.model"
    assert plan.with_scenario(assistant()).catalog is catalog
    assert with_models(assistant(), plan.catalog) is catalog


def test_two_designs_may_call_different_models_alike(catalog: Catalog) -> None:
    small, large = (
        make_plan(design(model(catalog, id, "ours")), catalog).llm.serving["assistant"]
        for id in ("qwen3-8b", "qwen3-32b")
    )
    assert large.held.weights_gib * large.gpus > 3 * small.held.weights_gib * small.gpus


def test_its_checkpoint_keeps_what_the_file_says(catalog: Catalog) -> None:
    config = {"quant_method": "fp8", "modules_to_not_convert": ["re:.*self_attn.*"]}
    own = model(catalog, quantization_config=config)
    pure = make_plan(design(model(catalog)).with_value("groups.assistant.weights", "fp8"), catalog)
    mixed = make_plan(design(own).with_value("groups.assistant.weights", "fp8"), catalog)
    gib = [plan.lines["groups.assistant.weights_gib"].value for plan in (pure, mixed)]
    assert 1.1 < gib[1] / gib[0] < 1.3


def test_the_number_says_that_the_customer_stated_the_model(catalog: Catalog) -> None:
    line = make_plan(design(model(catalog)), catalog).lines["groups.assistant.weights_gib"]
    assert "scenario" in line.sources


@pytest.mark.parametrize(
    ("file", "name", "stated", "id"),
    [
        ("config.json", "", "Qwen/Qwen3-8B", "qwen3-8b"),
        ("C:\\models\\My Model\\config.json", "", "", "my-model"),
        ("/models/My Model/config.json", "", "", "my-model"),
        ("granite-9.json", "", "x/y", "granite-9"),
        ("config.json", "", "", "own-model"),
        ("config.json", "\u2603", "", "own-model"),
        ("config.json", "Given Name", "x/y", "given-name"),
    ],
)
def test_it_is_called_by_its_name_or_its_file(
    catalog: Catalog, file: str, name: str, stated: str, id: str
) -> None:
    config = {**config_of(catalog.row("llm_models", "qwen3-8b")), "_name_or_path": stated}
    own = own_model(file, name, json.dumps(config).encode())
    assert own.id == id and own.cells["name"]
    assert make_plan(design(own), catalog).llm.serving["assistant"].model == own.cells["name"]


def test_what_was_read_and_what_was_not_is_said(catalog: Catalog) -> None:
    words = model(catalog, laurel_rank=64).words
    assert has_approved(words, "8.19", "36", "laurel_rank")
    assert "laurel_rank" not in model(catalog).words


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (b"[1, 2]", "config"),
        (b"{}", "config"),
        (b'{"hidden_size": NaN}', "config.hidden_size"),
        (b'{"hidden_size": 1e400}', "config.hidden_size"),
        (b'{"hidden_size": -4}', "config.hidden_size"),
        (b'{"hidden_size": 4, "hidden_size": 5}', "hidden_size"),
        (b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", ""),
        (b"x" * (CONFIG.bytes + 1), ""),
        (b"\x00\x01", ""),
        (b"\xff\xfe{", ""),
        (b"!!python/object/apply:os.system [ls]", ""),
    ],
)
def test_a_file_that_is_none_is_refused_by_name(content: bytes, path: str) -> None:
    with pytest.raises(ScenarioError) as error:
        own_model("config.json", content=content)
    assert error.value.problems[0].path == path


@pytest.mark.parametrize(
    ("cells", "path"),
    [
        ({"layers": 0}, "models.ours.layers"),
        ({"layers": "many"}, "models.ours.layers"),
        ({"layers": 10**9}, "models.ours.layers"),
        ({"hidden_size": 1e30}, "models.ours.hidden_size"),
        ({"total_parameters": float("inf")}, "models.ours.total_parameters"),
        ({"total_parameters": "nan"}, "models.ours.total_parameters"),
        ({"attention": "sparse"}, "models.ours.attention"),
        ({"kind": "paint"}, "models.ours.kind"),
        ({"layer": 3}, "models.ours.layer"),
        ({"kept": "half"}, "models.ours.kept"),
        ({"layers": [1]}, "models.ours"),
        ({"name": "x" * 300}, "models.ours"),
        ({}, "models.ours"),
        (3, "models.ours"),
        ({f"c{n}": n for n in range(300)}, "models.ours"),
    ],
)
def test_columns_that_cannot_be_are_named(catalog: Catalog, cells: Any, path: str) -> None:
    usual = dict(design(model(catalog))["models.ours"])
    given = {**usual, **cells} if isinstance(cells, dict) and cells else cells
    with pytest.raises(ScenarioError) as error:
        make_plan(from_dict({"models": {"ours": given}}), catalog)
    assert error.value.problems[0].path == path


def test_a_model_without_layers_may_stand_in_a_design_that_uses_another(catalog: Catalog) -> None:
    sizes = {"name": "Sizes only", "total_parameters": 70, "active_parameters": 70, "context_tokens": 8192}
    data = {**assistant().to_dict(), "models": {"sizes": sizes}}
    assert make_plan(from_dict(data), catalog).llm.serving["assistant"].replicas
    data["groups"][0]["model"] = "sizes"
    with pytest.raises(ScenarioError) as error:
        make_plan(from_dict(data), catalog)
    [wrong] = error.value.problems
    assert wrong.path == "groups.assistant.model" and has_approved(wrong.words, "layers", "65 GiB")


def test_a_folder_of_ones_own_stays_beneath(catalog: Catalog, tmp_path: Any) -> None:
    own = load_catalog(tmp_path)
    assert make_plan(design(model(catalog)), own).catalog.beneath is own
