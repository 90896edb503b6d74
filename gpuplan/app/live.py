"""Live cards of a design for cells of a notebook: its headline, and its tables."""

import logging
from collections.abc import Mapping
from html import escape
from typing import Any

import ipywidgets

from gpuplan.app.cards import Data, plain
from gpuplan.app.events import EVENTS
from gpuplan.app.header import drawer_data
from gpuplan.app.state import Workbook, guarded
from gpuplan.app.strip import strip_data
from gpuplan.facts import own_specs
from gpuplan.locales import locale_of, speaking
from gpuplan.report.headlines import cost, to_confirm
from gpuplan.report.shown import STEP_OF, html, step_html
from gpuplan.report.table import Table, screen
from gpuplan.report.tables import TABLES, plan_table
from gpuplan.scenario import pick
from gpuplan.widgets.kept import Kept, Output, words
from gpuplan.widgets.part import make_part
from gpuplan.wording import capital, said

log = logging.getLogger("gpuplan.app")
OF_STEPS = own_specs("gpuplan.report", "step_tables")
LISTED: Mapping[str, tuple[str, ...]] = {
    **{name: tuple(OF_STEPS[step]) for name, step in STEP_OF.items() if step in OF_STEPS},
    **{name: (name,) for name in TABLES},
}
"""Name of a table, or of a step -> its tables."""


class Live(Kept, ipywidgets.VBox):  # type: ignore[misc]
    """Parts of the screen that follow a design; each figure in them can be asked why."""

    def __init__(self, book: Workbook, **parts: Data) -> None:
        self._book = book
        data: dict[str, Data] = {**parts, "drawer": lambda book: drawer_data(book, self.model_id)}
        self._parts = {name: make_part(name, self._receive, styled=name in [*parts][:1]) for name in data}
        self._data = data
        super().__init__(children=[*self._parts.values()])
        for style in ("gp-app", "gp-one-step"):
            self.add_class(style)
        book.observe(self._draw, ["revision", "drawer"])
        self._draw()

    def _draw(self, _change: object = None) -> None:
        with speaking(locale_of(self._book.seen)):
            for name, part in self._parts.items():
                part.show(self._data[name](self._book))

    def _receive(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind in EVENTS:
            self._book.asked_in = self.model_id
            with speaking(locale_of(self._book.seen)):
                guarded(self._book, log.exception, EVENTS[kind], (self._book, content))


class Headline(Live):
    """Hosts, cost, GPUs and the verdict of a design, each with its condition."""

    def __init__(self, book: Workbook) -> None:
        super().__init__(book, strip=lambda book: strip_data(book) | {"shown": True}, panel=self._answer)

    def _answer(self, book: Workbook) -> dict[str, Any]:
        texts = [*_problems(book), *_conditions(book, False)]
        return {"shown": True, "stale": book.stale, "text": [plain(text) for text in texts]}

    def kept(self) -> list[Output]:
        """Return the figures and their conditions as a card."""
        text = " ".join(_conditions(self._book, False))
        return [words(step_html(self._book.plan, "", text), text)]


class LiveTable(Live):
    """Tables of a design, with their conditions below."""

    def __init__(self, book: Workbook, name: str) -> None:
        self._names = pick(LISTED, name, "table")
        super().__init__(book, panel=self._shown)

    def _tables(self) -> list[Table]:
        made = [plan_table(self._book.plan, name) for name in self._names]
        return [table for table in made if table.rows] or made[:1]

    def _below(self, book: Workbook, tables: list[Table]) -> list[str]:
        of_money = any(column.kind == "money" for table in tables for column in table.columns)
        return _conditions(book, of_money)

    def _shown(self, book: Workbook) -> dict[str, Any]:
        tables = self._tables()
        texts = [*_problems(book), *self._below(book, tables)]
        drawn = [screen(table, table.title) for table in tables]
        return {"shown": True, "stale": book.stale, "tables": drawn, "after": [plain(text) for text in texts]}

    def kept(self) -> list[Output]:
        """Return the tables as HTML, which every page shows."""
        tables = self._tables()
        below = escape(" ".join(self._below(self._book, tables)))
        title = "; ".join(table.title for table in tables)
        return [words("".join(map(html, tables)) + f"<p>{below}</p>", f"{title}. {below}")]


def _conditions(book: Workbook, of_money: bool) -> list[str]:
    """Return under which conditions the figures hold: the verdict, the range of the cost, what is open."""
    plan, wrong = book.plan, book.plan.standing.words
    if not plan.pools and not plan.groups:
        return [said("headline.empty")]
    texts = [plan.verdict.sentence]
    if of_money and plan.costs:
        texts.append(cost(plan).sentence)
    elif wrong:
        texts.append(said("standing.sentence", wrong=wrong))
    return [*texts, f"{capital(to_confirm(plan, book.messages))}."]


def _problems(book: Workbook) -> list[str]:
    """Return why the last change could not be planned; the last good plan is shown then."""
    level, notice = book.notice
    inputs = [f"{book.name_of(path)}: {book.problem_of(path)}" for path in book.wrong[:1]]
    return inputs or [notice] * (level == "stop")
