"""Texts that files can hold: nothing that XML forbids, and one line where there is room for one."""

from __future__ import annotations

from gpuplan.deliver.texts import FILLED, clean, one_line


def test_clean_and_one_line() -> None:
    assert clean("a\x00\x0b\x1f\ufffe\ud800b\tc\nd😀") == "ab\tc\nd😀"
    assert one_line(" a\n\tb\x0b 10\u202f000 ") == "a b 10\u202f000"


def test_what_is_filled_in_later_is_found_in_a_text() -> None:
    assert FILLED.split("by \u2039name\u203a on \u2039day\u203a") == [
        "by ",
        "\u2039name\u203a",
        " on ",
        "\u2039day\u203a",
        "",
    ]
