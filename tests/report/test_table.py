"""A table is data once: every renderer gives the same cells, and a column added to it is in all of them."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

import gpuplan
from gpuplan.report.table import (
    COLUMNS,
    KINDS,
    UNSORTED,
    Cell,
    Column,
    Table,
    Worded,
    columns,
    csv_text,
    fitted,
    frame,
    grid_text,
    heads,
    listed,
    records,
    scaled,
    screen,
    tabulate,
    text,
    texts,
)
from gpuplan.wording import PAGE_WIDTH, TEXTS

PACKAGE = Path(gpuplan.__file__).parent

COSTS = Table(
    "costs",
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
    title="What is paid",
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


def test_tables_are_aligned() -> None:
    text = grid_text(
        ("Name", "Count", "Text"), [("a", "1", "x"), ("long name", "1000", "word " * 40)], right=(1,)
    )
    lines = text.splitlines()
    assert lines[0] == "Name       Count  Text"
    assert lines[1] == "a              1  x"
    assert all(len(line) <= PAGE_WIDTH.get() for line in lines)
    assert lines[-1].startswith(" " * 18)
    assert grid_text(("", ""), []) == ""


def test_a_line_that_is_too_long_gives_way_in_its_heads_and_texts() -> None:
    text = grid_text(
        ("Name", "A long head of a number", "Text", "More"),
        [("name " * 12, "12", "text " * 12, "more " * 12)],
        right=(1,),
    )
    assert max(map(len, text.splitlines())) <= PAGE_WIDTH.get()
    assert " ".join(text.split()).count("more") == 12


def test_totals_are_for_readers() -> None:
    table = replace(COSTS, totals=1)
    assert len(texts(table)) == 2
    assert len(records(table)) == len(frame(table)) == 1
    assert len(table.top(0).rows) == 1


def test_what_is_written_below_a_row() -> None:
    assert text(COSTS, below=("share",)).splitlines()[1:] == [
        "GPUs        1\u202f234\u202f567",
        f"{' ' * 12}25 %",
        "Racks  no price known",
    ]


def test_a_page_too_narrow_for_money_tells_it_in_thousands() -> None:
    wide = Table(
        "wide",
        tuple(Column(f"y{n}", f"Year {n}", "money") for n in range(9)),
        (tuple(123_456_789.0 for _ in range(9)),),
        title="Wide",
    )
    word, table = fitted(wide)
    assert word == "thousands of "
    assert texts(table)[0][0] == "123\u202f457"
    assert fitted(COSTS) == ("", scaled(COSTS, 1))


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
    for name, rows in COLUMNS.items():
        assert any(f'"{name}"' in text for text in made.values()), name
        assert len({row["column"] for row in rows}) == len(rows), name
        for row in rows:
            assert (row["kind"] or "text") in KINDS and row["detail"] in ("", "yes"), row
            assert row["head"] in TEXTS or "." not in row["head"], row
