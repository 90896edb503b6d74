"""Validation in the app: files are read one after the other, and the design is planned again with all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmark_results import Measured, vllm

from gpuplan.app.state import Workbook
from gpuplan.app.steps.validation import EVENTS, validation_data
from gpuplan.catalog import Catalog
from gpuplan.scenario import load_scenario


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("assistant"))


def send(book: Workbook, name: str, content: str) -> None:
    data = content.encode()
    EVENTS["result-piece"](book, {"name": name, "size": len(data), "at": 0, "buffer": data})


def measured(n: int) -> str:
    run = Measured(concurrency=n, isl=2000, osl=400, ttft_ms=300.0 + 30 * n, tpot_ms=15.0 + n / 2)
    return json.dumps(vllm(run, model_id="meta-llama/Llama-3.3-70B-Instruct"))


def test_results_add_up_and_plan_the_design_again(book: Workbook) -> None:
    assert not validation_data(book)["tables"] and validation_data(book)["upload"]["event"] == "result-piece"
    for n in (1, 4, 12):
        send(book, "assistant--c.json", measured(n))
    found = book.validating.found
    assert found and len(found.results) == 3 and len({each.run.id for each in found.results}) == 3
    assert found.again and {each.group for each in found.results} == {"assistant"}
    data = validation_data(book)
    assert len(data["tables"]) == 3 and len(data["text"]) == 3 and not data["old"] and not data["problem"]
    assert not list(book.validating.folder.iterdir()), "nothing is kept on disk"
    book.edit("groups.assistant.people", "500")
    assert validation_data(book)["old"]
    EVENTS["forget-results"](book, {})
    assert book.validating.found is None and not validation_data(book)["tables"]


@pytest.mark.parametrize("name", ["../../x.json", "/etc/x.json", "..", "a\x00b.json", "a/b--c.json", ".json"])
def test_a_file_that_cannot_be_read_is_named_and_the_others_stay(book: Workbook, name: str) -> None:
    send(book, "assistant--c1.json", measured(1))
    send(book, name, '{"x": 1}')
    assert "GuideLLM" in validation_data(book)["problem"]
    assert book.validating.found and len(book.validating.found.results) == 1
    assert not list(book.validating.folder.iterdir())


def test_the_kit_is_offered_and_only_where_a_model_is_served(book: Workbook, catalog: Catalog) -> None:
    EVENTS["kit"](book, {})
    ready = book.delivering.take()
    assert ready and ready[0].endswith("-validation.zip") and ready[1].startswith(b"PK")
    bare = validation_data(Workbook(catalog, load_scenario("starter")))
    assert not bare["buttons"] and "upload" not in bare


def test_another_design_starts_without_results(book: Workbook) -> None:
    send(book, "assistant--c1.json", measured(1))
    book.open_example("starter")
    assert book.validating.found is None and not book.validating.results


def test_an_upload_in_pieces_shows_its_progress(book: Workbook, tmp_path: Path) -> None:
    data = measured(1).encode()
    EVENTS["result-piece"](book, {"name": "r.json", "size": len(data), "at": 0, "buffer": data[:100]})
    assert validation_data(book)["progress"]
    EVENTS["result-piece"](book, {"name": "r.json", "size": len(data), "at": 100, "buffer": data[100:]})
    assert book.validating.found and not validation_data(book)["progress"]
