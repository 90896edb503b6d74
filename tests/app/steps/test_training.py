"""The training job: its figures, the groups that train so, and the chart of more hosts."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps import network as step
from gpuplan.app.steps import training
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict

Data = dict[str, Any]


def book_of(catalog: Catalog, name: str) -> Workbook:
    return Workbook(catalog, from_dict({}) if name == "blank" else load_scenario(name))


@pytest.fixture
def starter(catalog: Catalog) -> Workbook:
    return book_of(catalog, "starter")


@pytest.fixture
def enterprise(catalog: Catalog) -> Workbook:
    return book_of(catalog, "enterprise")


def rows(data: Data) -> dict[str, list[Data]]:
    """Rows of the first table by the text of their first cell."""
    return {row[0]["text"]: row for row in data["tables"][0]["rows"]}


def figures(data: Data) -> dict[str, Data]:
    return {figure["label"]: figure for figure in data["figures"]}


def test_the_job_is_shown_in_figures(enterprise: Workbook) -> None:
    shown = figures(training.training_data(enterprise))
    assert shown["Efficiency on 4 \u00d7 4 GPUs"]["key"] == "network.job.efficiency"
    assert shown["Training time"] == {
        "label": "Training time",
        "value": "\u2013",
        "note": "state epochs",
        "key": "",
    }
    assert has_approved(shown["Samples per second"]["note"], "Tesla V100")
    enterprise.edit("training.epochs", "90")
    lines, use = enterprise.plan.lines, enterprise.plan.network.training[-1]
    assert {figure["key"] for figure in training.training_data(enterprise)["figures"]} <= set(lines)
    assert (lines["network.job.per_s"].value, lines["network.job.hours"].value) == (use.per_s, use.hours)
    assert lines["network.job.knee_hosts"].value == use.knee_hosts
    shown = figures(training.training_data(enterprise))["Training time"]
    job = enterprise.plan.network.training[-1]
    assert job.hours is not None
    assert shown["value"] == f"{job.hours:.1f} h"
    assert shown["note"] == "90 epochs of 1\u202f281\u202f167 samples"
    enterprise.edit("training.workload", "bert-large-squad-8")
    enterprise.edit("training.epochs", "")
    data = training.training_data(enterprise)
    assert is_approved(figures(data)["Training time"]["note"])
    assert is_approved(figures(data)["Useful hosts"]["note"])
    assert is_approved(data["after"][0][0]["text"])
    enterprise.edit("training.aggregation", "parameter-server")
    assert "Gradient exchange" not in figures(training.training_data(enterprise))


def test_groups_that_train_across_vms_have_a_row(enterprise: Workbook, starter: Workbook) -> None:
    row = rows(training.groups_data(enterprise))["Distributed machine learning"]
    assert row[2]["text"] == "4"
    assert row[3]["key"] == "network.training.distributed.efficiency"
    assert [row[at]["key"] for at in (4, 5)] == [
        f"network.training.distributed.{name}" for name in ("per_s", "knee_hosts")
    ]
    assert row[5]["text"] == "64+"
    assert training.groups_data(starter) == {"shown": False}


def test_the_chart_shows_the_design_first_and_its_table_the_same(enterprise: Workbook) -> None:
    data = training.scaling_rows(enterprise)
    names = [each["name"] for each in training.scaling_head(enterprise)["legend"]]
    assert is_approved(names[0], "100 Gbit/s")
    assert names == list(dict.fromkeys(row["name"] for row in data["rows"]))
    own = [row for row in data["rows"] if row["chosen"]]
    assert [row["hosts"] for row in own][:4] == [1, 2, 3, 4]
    assert all(row["low"] <= row["value"] <= row["high"] for row in own)
    assert training.scaling_table(enterprise)["tables"] == []
    enterprise.fold("scaling", True)
    table = training.scaling_table(enterprise)["tables"][0]
    assert [head["text"] for head in table["heads"]][2:] == names
    assert len(table["rows"]) == len(own)
    four = next(row for row in table["rows"] if row[0]["text"] == "4")
    said = next(row["words"] for row in own if row["hosts"] == 4)
    assert said.startswith(four[2]["text"].split(" (")[0])
    enterprise.look("scaling", "speed")
    assert training.scaling_rows(enterprise)["rows"][0]["value"] > 100
    enterprise.look("scaling", "colour")
    assert training.scaling_rows(enterprise)["view"] == "efficiency"


def test_a_language_model_is_asked_for_other_things_and_shown_in_tokens(enterprise: Workbook) -> None:
    before = {field["path"] for field in training.training_form(enterprise)["fields"]}
    assert "training.model" in before and "training.sharding" not in before
    enterprise.edit("hardware.server", "")
    enterprise.edit("hardware.gpu", "h100-sxm5-80gb")
    enterprise.edit("training.model", "llama-3.1-70b")
    paths = {field["path"]: field for field in training.training_form(enterprise)["fields"]}
    assert {"training.method", "training.sharding", "training.precision", "training.micro_batch"} <= set(
        paths
    )
    assert "training.aggregation" not in paths
    assert paths["training.batch"]["empty"] == "4 sequences"
    assert {"value": "lora", "text": "LoRA"} in paths["training.method"]["options"]
    enterprise.edit("training.samples", "1000000000")
    data = training.training_data(enterprise)
    shown, job = figures(data), enterprise.plan.network.training[-1]
    assert job.per_gpu is not None and job.memory_gib is not None
    assert {figure["key"] for figure in data["figures"]} <= set(enterprise.plan.lines)
    assert f"{job.memory_gib:.3g} GiB" == shown["Memory per GPU"]["value"]
    assert "to" in shown["Training time"]["note"]
    assert job.spread in str(data["after"][0])
    rows_of = training.scaling_rows(enterprise)["rows"]
    assert min(row["hosts"] for row in rows_of) == job.hosts
    enterprise.fold("scaling", True)
    assert training.scaling_table(enterprise)["tables"]
    assert len({row["name"] for row in rows_of}) == len(training.scaling_head(enterprise)["legend"])
    enterprise.edit("training.method", "lora")
    assert enterprise.plan.network.training[-1].hosts <= job.hosts


def test_a_range_is_around_its_number_and_said_in_words(enterprise: Workbook) -> None:
    for data in (step.remote_data(enterprise), step.carries_data(enterprise)):
        for row in data["tables"][0]["rows"]:
            for cell in row:
                if "range" in cell:
                    shown = cell["range"]
                    assert 0 < shown["low"] <= shown["typical"] <= shown["high"] <= 1
                    assert shown["marks"] == [0.75, 0.9]
                    assert shown["words"].startswith(f"{cell['text']}, between ")


def test_every_verdict_has_a_sign_and_a_word_of_its_own() -> None:
    for verdicts in (training.MARKS, step.MET):
        for shown in ("sign", "text"):
            assert len({verdict[shown] for verdict in verdicts.values()}) == len(verdicts)
