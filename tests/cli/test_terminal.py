"""What a terminal gets: its own width, colour and a bar; what is written to a file stays as it is."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from gpuplan.cli import main, terminal
from gpuplan.deliver import KINDS
from gpuplan.wording import PAGE_WIDTH, said


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Output and errors go to a terminal from now on; a fixture would be too early, since pytest sets them for each test."""
    made = Screen()
    monkeypatch.setattr(sys, "stdout", made)
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return made


@pytest.fixture(autouse=True)
def usual_width() -> object:
    token = PAGE_WIDTH.set(100)
    yield
    PAGE_WIDTH.reset(token)


@pytest.mark.parametrize(("columns", "widest"), [(80, 80), (132, 132), (20, 72), (400, 160)])
def test_lines_are_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: int, widest: int
) -> None:
    screen = on_screen(monkeypatch)
    size = os.terminal_size((columns, 24))
    monkeypatch.setattr(terminal.shutil, "get_terminal_size", lambda *_: size)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["demand", "current"]) == 0
    longest = max(len(line.split("\r\033[K")[-1]) for line in screen.getvalue().splitlines())
    assert 0.75 * widest <= longest <= widest


def test_a_file_gets_the_usual_width_and_no_colour(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "enterprise"]) == 0
    out, err = capsys.readouterr()
    assert "\033" not in out + err
    assert 90 <= max(map(len, out.splitlines())) <= 100


def test_headings_and_levels_have_a_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    assert main(["plan", "enterprise"]) == 0
    text = screen.getvalue()
    assert "\033[1mEnterprise example\033[0m\n=====" in text
    assert "\033[33mWARN\033[0m " in text
    assert terminal.coloured("Swarn\nWARNING\n") == "Swarn\nWARNING\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colour_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    screen = on_screen(monkeypatch)
    monkeypatch.setenv(name, value)
    assert main(["plan", "starter"]) == 0
    assert "\033[1m" not in screen.getvalue()


def test_a_bar_goes_before_the_answer_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    terminal.show_bar("half of it", 0.5)
    assert "[############............]  50%  half of it" in screen.getvalue()
    terminal.clear_bar()
    assert screen.getvalue().endswith("\r\033[K")


def test_a_report_tells_on_a_terminal_what_it_makes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    screen = on_screen(monkeypatch)
    assert main(["report", "starter", "--only", "yaml", "--to", str(tmp_path)]) == 0
    planning, making, *_ = screen.getvalue().split("\r\033[K")[1:]
    assert planning == said("terminal.planning") and KINDS["yaml"] in making


def test_no_bar_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show_bar("half of it", 0.5)
    terminal.clear_bar()
    assert capsys.readouterr() == ("", "")
