"""The pages of the steps, as ``data/words/pages.csv`` lays them out."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from itertools import groupby
from typing import Any

from gpuplan.app.cards import Box, Page, Place, Tab
from gpuplan.app.state import Workbook
from gpuplan.app.steps import compare, design
from gpuplan.facts import own_rows
from gpuplan.report.headlines import HEADLINES, Headline

MESSAGES: Mapping[str, Callable[[Workbook], Headline]] = {
    "start": lambda _workbook: Headline(""),
    "compare": compare.message,
    "design": design.message,
    "hosts": lambda workbook: HEADLINES["hosts"](workbook.checked),
}


def _named(name: str) -> Any:
    module, _, what = name.partition(".")
    return getattr(import_module(f"gpuplan.app.steps.{module}"), what)


def _laid_out(rows: Iterable[tuple[list[str], Place]]) -> tuple[Place, ...]:
    """Return cards in boxes: those that follow each other in one of the same style share it, until a ``+`` begins another."""
    places: list[Place | tuple[str, list[tuple[list[str], Place]]]] = []
    opened = ""
    for (style, *inside), place in ((path or [""], place) for path, place in rows):
        if not style:
            places.append(place)
        elif style == opened:
            places[-1][1].append((inside, place))  # type: ignore[index]
        else:
            places.append((style.removeprefix("+"), [(inside, place)]))
        opened = style.removeprefix("+")
    return tuple(Box(part[0], _laid_out(part[1])) if isinstance(part, tuple) else part for part in places)


def _page(step: str, rows: Iterable[Mapping[str, str]]) -> Page:
    tabs = []
    for name, (first, *others) in ((name, [*group]) for name, group in groupby(rows, lambda row: row["tab"])):
        (content,) = _laid_out([(row["box"].split("/"), _named(row["card"])) for row in (first, *others)])
        assert isinstance(content, Box)
        badge = {"badge": _named(first["badge"])} if first["badge"] else {}
        tabs.append(Tab(name, first["title"], content, needs=first["needs"], **badge))
    return Page(MESSAGES.get(step) or (lambda workbook: HEADLINES[step](workbook.plan)), tuple(tabs))


PAGES = {step: _page(step, rows) for step, rows in groupby(own_rows("words/pages"), lambda row: row["step"])}
