"""Output for a terminal alone: its own width, colour, and a bar with the progress of long work."""

import os
import re
import shutil
import sys
from typing import TextIO

NARROWEST, WIDEST = 72, 160
BAR = 24
BOLD = "\033[1m"
LEVELS = {"STOP": "\033[1;31m", "WARN": "\033[33m", "NOTE": "\033[36m"}
PLAIN, CLEAR = "\033[0m", "\r\033[K"


def is_terminal(stream: TextIO) -> bool:
    """True if a person reads along, on a screen with a cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def fit_to_terminal() -> None:
    """Set the width of a page to the terminal's; a file keeps the usual one."""
    if is_terminal(sys.stdout):
        from gpuplan.wording import PAGE_WIDTH  # not before the language is known

        columns = shutil.get_terminal_size((PAGE_WIDTH.get(), 24)).columns
        PAGE_WIDTH.set(min(max(columns, NARROWEST), WIDEST))


def coloured(text: str) -> str:
    """Return a report's text with bold headings and coloured messages, where the terminal has colour and allows it."""
    if not is_terminal(sys.stdout) or os.environ.get("NO_COLOR"):
        return text
    text = re.sub(r"^(.+)\n(?==+$|-+$)", rf"{BOLD}\1{PLAIN}\n", text, flags=re.MULTILINE)

    def coloured(found: re.Match[str]) -> str:
        return f"{LEVELS[found[1]]}{found[1]}{PLAIN}"

    return re.sub(rf"^({'|'.join(LEVELS)})\b", coloured, text, flags=re.MULTILINE)


def show_bar(step: str, done: float | None = None) -> None:
    """Show the progress of long work, on one line of the terminal that is overwritten."""
    if not is_terminal(sys.stderr):
        return
    bar = ""
    if done is not None:
        full = round(BAR * min(1.0, max(0.0, done)))
        bar = f"[{'#' * full}{'.' * (BAR - full)}] {done:4.0%}  "
    sys.stderr.write(CLEAR + f"{bar}{step}"[: shutil.get_terminal_size((100, 24)).columns - 1])
    sys.stderr.flush()


def clear_bar() -> None:
    """Remove the bar, before an answer or an error is printed."""
    if is_terminal(sys.stderr):
        sys.stderr.write(CLEAR)
        sys.stderr.flush()
