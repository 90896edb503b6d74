"""Names as sources write them mean one model each."""

from __future__ import annotations

from assistants import assistant

from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.plan.llm_names import key_of, model_named


def test_published_runs_of_another_name_are_runs_of_the_model(catalog: Catalog) -> None:
    for name, id in (("Mistral-7B", "mistral-7b-v0.3"), ("DeepSeek-V3.1", "deepseek-v3")):
        row = model_named(catalog, name)
        assert row is not None and row.id == id
        assert any(run["model"] == name for run in catalog.rows("llm_runs"))
    assert model_named(catalog, "no such model 9B") is None
    board = next(run["gpu"] for run in catalog.rows("llm_runs") if run["model"] == "Mistral-7B")
    plan = make_plan(assistant({"gpu": board}, model="mistral-7b-v0.3", replica_gpus=1), catalog)
    assert plan.llm.serving["assistant"].unseen == ""


def test_endings_and_makers_are_no_part_of_a_name() -> None:
    assert key_of("mistralai/Mistral-7B-Instruct") == key_of("Mistral 7B")
