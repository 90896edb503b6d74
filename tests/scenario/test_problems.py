"""How what was given is shown in a message."""

from __future__ import annotations

import pytest

from gpuplan.scenario import (
    shown_name,
)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.docx", "a.docx"),
        ("", "The file"),
        ("a\nb\u202e\0\ud800", "a\\nb\\u202e\\x00\\ud800"),
        ("x" * 81, "x" * 77 + "..."),
        ("\0" * 80, "\\x00" * 19 + "\\..."),
    ],
)
def test_names_of_files_are_shown_short_and_on_one_line(name: str, shown: str) -> None:
    assert shown_name(name) == shown
