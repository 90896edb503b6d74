"""A table is data once: every renderer gives the same cells, and a column added to it is in all of them."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from gpuplan.report.table import (
    Cell,
    Column,
    Table,
    csv_text,
    frame,
    heads,
    records,
    scaled,
    screen,
    text,
    texts,
)

COSTS = Table(
    "costs",
    "What is paid",
    (
        Column("part", "Part"),
        Column("total", "Paid in all", "money", "EUR"),
        Column("share", "Share", "share"),
        Column("sources", "Sources", "sources", detail=True),
    ),
    (
        ("GPUs", Cell(1_234_567.4, line="cost.gpus"), 0.25, ("a", "b")),
        ("Racks", Cell(None, words="no price known"), None, ()),
    ),
    notes=("Prices of today.",),
)


def test_a_reader_sees_each_value_as_its_kind_is_said() -> None:
    assert heads(COSTS.shown()) == ("Part", "Paid in all", "Share")
    assert texts(COSTS.shown()) == [("GPUs", "1\u202f234\u202f567", "25 %"), ("Racks", "no price known", "")]
    assert texts(COSTS)[0][3] == "a, b"


def test_a_terminal_aligns_numbers_at_the_right() -> None:
    assert text(COSTS).splitlines() == [
        "Part      Paid in all  Share",
        "GPUs        1\u202f234\u202f567   25 %",
        "Racks  no price known",
    ]


def test_programs_get_what_was_not_rounded() -> None:
    assert records(COSTS)[0] == {"part": "GPUs", "total": 1_234_567.4, "share": 0.25, "sources": ("a", "b")}
    assert next(csv.DictReader(io.StringIO(csv_text(COSTS))))["total"] == "1234567.4"
    assert frame(COSTS)["total"][0] == 1_234_567.4


def test_the_screen_knows_why() -> None:
    shown = screen(COSTS)
    assert shown["rows"][0][1] == {
        "text": "1\u202f234\u202f567", "key": "cost.gpus", "numeric": True, "tone": ""
    }  # fmt: skip
    assert shown["more"] == "Prices of today."


def test_only_money_is_scaled() -> None:
    assert texts(scaled(COSTS, 1000).shown())[0] == ("GPUs", "1\u202f235", "25 %")
    assert texts(scaled(COSTS, 1000))[1][1] == "no price known"


def test_a_column_more_is_in_every_rendering() -> None:
    more = replace(
        COSTS,
        columns=(*COSTS.columns, Column("users", "Cost per user", "money", "EUR")),
        rows=tuple((*row, 42.5) for row in COSTS.rows),
    )
    assert "Cost per user" in text(more)
    assert "42.50" in text(more)
    assert screen(more)["heads"][-1]["text"] == "Cost per user"
    assert records(more)[0]["users"] == frame(more)["users"][0] == 42.5
    assert csv_text(more).splitlines()[0].endswith(",users")


def test_a_kind_that_is_not_known_is_refused() -> None:
    with pytest.raises(KeyError, match="furlongs"):
        texts(replace(COSTS, columns=(Column("part", "Part", "furlongs"), *COSTS.columns[1:])))
