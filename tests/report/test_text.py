"""How a report for a terminal is set."""

from __future__ import annotations

from dataclasses import replace

from costs_table import COSTS

from gpuplan.report.table import Column, Table, texts
from gpuplan.report.text import Block, chapter, fitted, grid_text, heading, page, pairs, scaled, text, wrapped
from gpuplan.wording import PAGE_WIDTH

COUNTS = Table(
    "counts", (Column("a", "A"), Column("b", "B", "number")), (("x", 1),), notes=("Counted.",), title="Counts"
)


def test_wrapping() -> None:
    assert wrapped("  " + "word " * 50).splitlines()[1].startswith("    word")


def test_a_page_leaves_out_chapters_that_say_nothing() -> None:
    assert page("Title", "one", "", "two") == "Title\n=====\n\none\n\ntwo\n"


def test_a_page_wraps_sentences_and_sets_tables_under_their_title() -> None:
    lines = Block("a  " * 60)
    text = page("Title", "word " * 30, [lines, (COUNTS, ())])
    assert text == f"Title\n=====\n\n{wrapped('word ' * 30)}\n\n{lines}\n\n{chapter(COUNTS)}\n"
    assert page("", "alone") == "alone\n"
    assert page("", "a  b\n" + "word " * 30) == "a  b\n" + "word " * 30 + "\n"


def test_a_heading_stands_above_sentences_only() -> None:
    assert chapter("Notes", "One.", "", "Two.") == heading("Notes") + "One.\nTwo."
    assert chapter("Notes") == chapter("Notes", "") == ""


def test_a_chapter_is_a_table_with_what_is_said_of_it() -> None:
    said = chapter(COUNTS, "After.", before="Before.")
    assert said == heading("Counts") + "Before.\n\nA  B\nx  1\nAfter.\nCounted."
    assert chapter(replace(COUNTS, rows=())) == ""


def test_pairs_are_aligned() -> None:
    assert pairs([("a", "1"), ("long", "2")]) == "a     1\nlong  2"


def test_a_terminal_aligns_numbers_at_the_right() -> None:
    assert text(COSTS).splitlines() == [
        "Part      Paid in all  Share",
        "GPUs        1\u202f234\u202f567   25 %",
        "Racks  no price known",
    ]


def test_only_money_is_scaled() -> None:
    assert texts(scaled(COSTS, 1000).shown())[0] == ("GPUs", "1\u202f235", "25 %")
    assert texts(scaled(COSTS, 1000))[1][1] == "no price known"


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
