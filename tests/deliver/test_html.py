"""How texts are written in pages: escaped, with places to break long words, and marked where they are filled in."""

from __future__ import annotations

import pytest

from gpuplan.deliver.html import FILLED, LONGEST_WORD, clean, one_line, templates


@pytest.fixture(params=["document", "what_if"])
def filters(request: pytest.FixtureRequest) -> dict[str, object]:
    found: dict[str, object] = templates(request.param).filters
    return found


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("text", "a <b> \x0b& c", "a &lt;b&gt; &amp; c"),
        ("text", "by \u2039name\u203a", "by <i>\u2039name\u203a</i>"),
        ("text", "a" * (LONGEST_WORD + 1), f"{'a' * LONGEST_WORD}<wbr>a"),
        ("plain", 'say "<b>"', "say &quot;&lt;b&gt;&quot;"),
        ("css", 'a"}', "a\\22 \\7d "),
    ],
)
def test_texts_are_written_so_that_they_mean_themselves(
    filters: dict[str, object], name: str, text: str, written: str
) -> None:
    write = filters[name]
    assert callable(write) and str(write(text)) == written


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
