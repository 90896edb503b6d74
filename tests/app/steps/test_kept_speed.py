"""How much of its speed a GPU keeps: a bar around its number, a verdict with a sign."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps import kept_speed
from gpuplan.app.steps import network as step
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict

Data = dict[str, Any]


def book_of(catalog: Catalog, name: str) -> Workbook:
    return Workbook(catalog, from_dict({}) if name == "blank" else load_scenario(name))


@pytest.fixture
def enterprise(catalog: Catalog) -> Workbook:
    return book_of(catalog, "enterprise")


def rows(data: Data) -> dict[str, list[Data]]:
    """Rows of the first table by the text of their first cell."""
    return {row[0]["text"]: row for row in data["tables"][0]["rows"]}


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
    for verdicts in (kept_speed.MARKS, step.MET):
        for shown in ("sign", "text"):
            assert len({verdict[shown] for verdict in verdicts.values()}) == len(verdicts)
