"""What charts of studies draw: an axis with most numbers, marks for what cannot be bought, and every draw once."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan.report.charts import studies
from gpuplan.report.charts.look import NOTEBOOK
from gpuplan.report.charts.studies import SHAPES, STATES, draws_chart, draws_rows, study_chart, study_rows


def row(gpu: str, people: int, hosts: int | None, *, valid: bool = True) -> dict[str, Any]:
    return {
        "gpu": gpu,
        "people": people,
        "hosts": hosts,
        "valid": valid,
        "refused": "" if hosts else "too few",
    }


ROWS = [row("a", 1, 2), row("a", 2, 3, valid=False), row("b", 1, 4), row("b", 2, None)]


def test_numbers_are_the_axis_and_each_other_value_is_a_line() -> None:
    data = study_rows(ROWS, ["gpu", "people"], "hosts", {"people": "Users"}, {"hosts": "host"})
    assert (data["axis"], data["kind"], data["names"]) == ("Users", "quantitative", ["a", "b"])
    assert [(at["x"], at["series"], at["value"]) for at in data["rows"]] == [
        (1, "a", 2), (2, "a", 3), (1, "b", 4), (2, "b", None)
    ]  # fmt: skip
    assert [at["state"] for at in data["rows"]] == [
        STATES[s] for s in ("valid", "invalid", "valid", "refused")
    ]
    assert data["rows"][3]["words"] == "too few" and set(SHAPES) == set(STATES.values())
    drawn = study_chart(data, NOTEBOOK)["layer"]
    assert [layer["mark"]["type"] for layer in drawn] == ["line", "point", "text"]
    assert len(drawn[1]["data"]["values"]) == 3 and len(drawn[2]["data"]["values"]) == 1


def test_texts_alone_are_points_and_many_lines_a_map(monkeypatch: pytest.MonkeyPatch) -> None:
    data = study_rows(ROWS, ["gpu"], "hosts", {}, {})
    assert data["kind"] == "nominal"
    assert [layer["mark"]["type"] for layer in study_chart(data, NOTEBOOK)["layer"]] == ["point", "text"]
    monkeypatch.setattr(studies, "MANY", 1)
    data = study_rows(ROWS, ["gpu", "people"], "hosts", {}, {})
    assert [layer["mark"]["type"] for layer in study_chart(data, NOTEBOOK)["layer"]] == ["rect", "text"]


def test_without_any_figure_there_is_no_chart() -> None:
    assert study_rows([row("b", 2, None)], ["gpu"], "hosts", {}, {}) == {}
    assert draws_rows([], {}, "", "") == {}


@pytest.mark.parametrize("values", [[8, 9, 9, 12], [8.0] * 5, [1.5, 2.5, 1e6], list(range(100))])
def test_each_draw_is_in_one_bar(values: list[float]) -> None:
    data = draws_rows(values, {0.5: 9}, "Hosts", "host")
    assert sum(bar["draws"] for bar in data["rows"]) == len(values)
    assert all(
        first["high"] == second["low"] for first, second in zip(data["rows"], data["rows"][1:], strict=False)
    )
    assert draws_chart(data, NOTEBOOK)["layer"][1]["data"]["values"] == data["lines"]


def test_few_whole_numbers_have_a_bar_each() -> None:
    bars = draws_rows([8, 9, 9, 11], {}, "Hosts", "host")["rows"]
    assert [(bar["low"], bar["draws"]) for bar in bars] == [(7.5, 1), (8.5, 2), (9.5, 0), (10.5, 1)]
