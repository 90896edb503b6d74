"""Runs of language models as data and as text: every row is there, and what was not predicted says why."""

from __future__ import annotations

import json

from approved import has_approved

from gpuplan.analysis.llm_runs import Prediction
from gpuplan.report.llm_report import LISTED, llm_runs_dict, llm_runs_text

FOUND = (
    Prediction("a", "tpot_ms", 10.0, 11.0, 9.5, 12.5),
    Prediction("b", "ttft_ms", 100.0, 300.0, 150.0, 600.0),
    Prediction("c", "tokens_per_s", 5.0, why="there is no board x in the catalog"),
)


def test_data_has_a_row_for_each_figure() -> None:
    found = llm_runs_dict(FOUND)
    assert json.loads(json.dumps(found)) == found
    assert [row["source_id"] for row in found["rows"]] == ["a", "b", "c"]
    assert [row["held"] for row in found["rows"]] == [True, False, None]
    assert found["rows"][2]["predicted"] is None and found["rows"][2]["why"]
    assert [e["quantity"] for e in found["errors"]] == ["tpot_ms", "ttft_ms"]


def test_text_lists_them_and_says_what_is_outside_and_why() -> None:
    text = llm_runs_text(FOUND)
    assert "+10 %" in text and "+200 %" in text and text.count("OUTSIDE") == 1
    assert has_approved(text) and text.endswith("\n") and not text.endswith("\n\n")
    assert "furthest off" not in text


def test_of_many_the_furthest_off_are_listed() -> None:
    many = [Prediction(f"r{i}", "tpot_ms", 100.0, 100.0 + i, 90.0, 200.0) for i in range(LISTED + 40)]
    text = llm_runs_text(many)
    assert has_approved(text, LISTED, LISTED + 40)
    assert f"r{LISTED + 39} " in text and "r1 " not in text
