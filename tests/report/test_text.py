"""How a report for a terminal is set."""

from __future__ import annotations

from dataclasses import replace

from gpuplan.report.table import Column, Table
from gpuplan.report.text import Block, chapter, heading, page, pairs, wrapped

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
