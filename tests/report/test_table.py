"""A table is data once: every renderer gives the same cells, and a column added to it is in all of them."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import NamedTuple

import pytest
from costs_table import COSTS

import gpuplan
from gpuplan.facts import own_rows
from gpuplan.report.exported import csv_text, frame
from gpuplan.report.kinds import KINDS
from gpuplan.report.table import (
    CELLS,
    COLUMNS,
    UNSORTED,
    Cell,
    Column,
    Table,
    Worded,
    columns,
    heads,
    listed,
    records,
    screen,
    tabulate,
    texts,
)
from gpuplan.report.text import text
from gpuplan.wording import TEXTS


class CostShare(NamedTuple):
    """Cost of a group."""

    id: str
    total: float
    share: float


PACKAGE = Path(gpuplan.__file__).parent


def test_the_screen_knows_why() -> None:
    shown = screen(COSTS)
    assert shown["rows"][0][1] == {
        "text": "1\u202f234\u202f567", "key": "cost.gpus", "numeric": True, "tone": ""
    }  # fmt: skip
    assert shown["more"] == "Prices of today."


def test_a_long_table_is_sorted_on_the_screen_by_value_not_by_text() -> None:
    hundred = Table(
        "all", COSTS.columns[:2], tuple((f"part {n}", n * 1000.5) for n in range(UNSORTED + 1)), title="All"
    )
    assert [row[1]["sort"] for row in screen(hundred)["rows"]] == [n * 1000.5 for n in range(UNSORTED + 1)]
    assert not any("sort" in cell for row in screen(hundred.top(UNSORTED))["rows"] for cell in row)
    unknown = replace(hundred, rows=(("none", Cell(None, words="not known")), ("all", inf), *hundred.rows))
    assert not any("sort" in row[1] for row in screen(unknown)["rows"][:2])
    summed = screen(replace(hundred, rows=(*hundred.rows, ("Total", 1.0)), totals=1))
    assert (summed["totals"], len(summed["rows"])) == (1, UNSORTED + 2)
    dressed = hundred.dressed("part", lambda n, cell: {"text": "", "sort": -n})
    assert screen(dressed)["rows"][3][0]["sort"] == -3


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


def test_totals_are_for_readers() -> None:
    table = replace(COSTS, totals=1)
    assert len(texts(table)) == 2
    assert len(records(table)) == len(frame(table)) == 1
    assert len(table.top(0).rows) == 1


def test_the_screen_draws_more_in_a_column() -> None:
    dressed = COSTS.dressed("part", lambda at, cell: {"chip": [cell.value, at]})
    assert screen(dressed)["rows"][1][0]["chip"] == ["Racks", 1]
    assert "chip" not in screen(dressed)["rows"][1][1]


def test_a_column_is_put_beside_another() -> None:
    wider = COSTS.beside(Column("rank", "Rank", "number"), range(len(COSTS.rows)), after="part")
    assert [column.key for column in wider.columns][:2] == ["part", "rank"]
    assert [row["rank"] for row in records(wider)] == list(range(len(records(wider))))
    assert wider.without("rank") == COSTS


def test_a_column_says_what_it_gets_from_the_thing_of_a_row() -> None:
    given = (
        Column("name", "Name"),
        Column("gpus", "GPUs", "number", of="boards"),
        Column("twice", "Twice", "number", of=lambda host: 2 * host["boards"]),
        Column("state", "State", words={"up": "it runs"}.get),
    )
    hosts = [{"name": "a", "boards": 4, "state": "up"}, {"name": "b", "boards": 2, "state": "down"}]
    table = listed("hosts", given, hosts, totals=[("all", 6, 12, "")], notes=["Of today."], title="Hosts")
    assert records(table) == [
        {"name": "a", "gpus": 4, "twice": 8, "state": "up"},
        {"name": "b", "gpus": 2, "twice": 4, "state": "down"},
    ]
    assert texts(table)[0] == ("a", "4", "8", "it runs")
    assert [row[3] for row in texts(table)] == ["it runs", "down", ""]
    assert table.totals == 1
    assert table.notes == ("Of today.",)
    named = listed("named", (Column("label", "Label"),), given, title="Named")
    assert [row["label"] for row in records(named)] == ["Name", "GPUs", "Twice", "State"]


def test_a_table_has_the_columns_that_the_data_list() -> None:
    hosts = [
        {"name": "a", "hosts": 2, "gpu": "x", "gpus_per_host": 4, "gpus_used": 8, "vms": 3, "joins": True}
    ]
    table = tabulate(
        "hosts_there", hosts, gpu=Worded({"x": "Board X"}.get), vms=lambda host: 2 * host["hosts"]
    )
    assert heads(table) == ("Kind", "Hosts", "GPU", "GPUs each", "GPUs used", "VMs", "In this design")
    assert texts(table.without("kind"))[0] == ("2", "Board X", "4", "8", "4", "yes")
    other = columns("hosts_there", heads={"gpu": "Board"}, hidden={"vms": True})
    assert [(each.label, each.detail) for each in other if each.key in ("gpu", "vms")] == [
        ("Board", False),
        (other[5].label, True),
    ]
    assert columns("cash_flow", "EUR")[2].unit == "EUR"
    with pytest.raises(KeyError, match="hosts_there has no column racks"):
        columns("hosts_there", racks=str)


def test_every_listed_table_is_made_and_each_column_of_it_is_of_a_known_kind() -> None:
    made = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    listed = {row["table"] for row in own_rows("words/design_rows")}
    for name, rows in COLUMNS.items():
        assert name in listed or any(f'"{name}"' in text for text in made.values()), name
        assert len({row["column"] for row in rows}) == len(rows), name
        for row in rows:
            assert (row["kind"] or "text") in KINDS and row["detail"] in ("", "yes"), row
            assert row["head"] in TEXTS or "." not in row["head"], row


def test_a_cell_has_format_line_and_tone_as_the_data_say() -> None:
    assert {name for name, _ in CELLS} <= {*COLUMNS}
    for table, column in CELLS:
        assert column in {row["column"] for row in COLUMNS[table]}, (table, column)
    (row,) = tabulate("cost_by_group", [CostShare("a", 12.0, 0.5)], "EUR", group=lambda _: "A").rows
    assert row[1] == Cell(12.0, line="groups.a.cost")
    work = {"name": "A", "board": "T4", "of": "times", "value": 0.3333, "share": 1.0, "gpus": 2.0}
    work |= {"how": "x", "basis": "assumed", "sources": (), "hosts": 2, "net_present": 1.0}
    ((_, _, _, value, _, _, how, *_),) = tabulate("same_works", [work]).rows
    assert (value.words, how.tone) == ("0.333", "small")
