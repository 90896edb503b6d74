"""How things look in a cell of a notebook: a card or a table of plain HTML, in the colours and the type of the page around it.

``gpuplan/__init__.py`` tells IPython to ask here; nothing is loaded before something is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from gpuplan.analysis.compare import Comparison
from gpuplan.catalog import Catalog
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.trail import Line, Lines
from gpuplan.report import tables
from gpuplan.report.explain import Explanation, formula_text
from gpuplan.report.table import Column, Table, heads, listed, numeric, texts
from gpuplan.report.tables.sensitivity import compared
from gpuplan.scenario import FIELD_BY_PATH, Scenario
from gpuplan.wording import amount, basis_word, number, short_watts

MOST_ROWS = 40
"""Rows of a table in a cell; of more the first are shown and the rest is counted."""


def html(thing: Any) -> str:
    """A thing in a cell: plan, scenario, line, lines, table, costs or catalog."""
    for kind, shown in SHOWN.items():
        if isinstance(thing, kind):
            return shown(thing)
    raise TypeError(f"nothing is known of how to show a {type(thing).__name__}")


def _table(table: Table) -> str:
    """A table with its title and notes."""
    shown = table.shown()
    right, rows = numeric(shown), texts(shown)

    def row(cells: Iterable[str], tag: str) -> str:
        return "<tr>" + "".join(
            f'<{tag} style="text-align:{"right" if at in right else "left"};vertical-align:top">{escape(cell)}</{tag}>'
            for at, cell in enumerate(cells)
        )

    body = "".join(row(cells, "td") for cells in rows[:MOST_ROWS])
    said = [*shown.notes, *[f"and {len(rows) - MOST_ROWS} more rows"] * (len(rows) > MOST_ROWS)]
    title = f"<strong>{escape(shown.title)}</strong>" if shown.title else ""
    below = f"<small>{escape(' '.join(said))}</small>" if said else ""
    return _card(
        f"{title}<table><thead>{row(heads(shown), 'th')}</thead><tbody>{body}</tbody></table>{below}"
    )


def _card(inner: str) -> str:
    return f'<div class="gpuplan" style="overflow-x:auto;max-width:60rem">{inner}</div>'


def _figures(figures: Iterable[tuple[str, str]]) -> str:
    """Numbers large, with what they are above."""
    cells = "".join(
        f'<div style="padding:0 1.5rem .5rem 0"><small>{escape(label)}</small><div style="font-size:1.3em">{escape(value)}</div></div>'
        for label, value in figures
    )
    return f'<div style="display:flex;flex-wrap:wrap">{cells}</div>'


@spoken
def _plan(plan: Plan) -> str:
    totals, figures = plan.totals, list[tuple[str, str]]()
    for key in ("demand.gpus", "totals.hosts", "totals.gpus", "totals.gpus_after_failure", "power.typical"):
        if line := plan.lines.get(key):
            figures.append((line.label, short_watts(line.value) if line.unit == "W" else number(line.value)))
    if plan.costs:
        figures.append(("Net present cost", tables.cost.headlines(plan)["net_present"]))
    groups = tables.plan.groups(plan).only("group", "use_case", "people", "vms", "gpus", "access")
    about = f"<strong>{escape(plan.scenario.name)}</strong><p>{escape(plan.placed.sentence)}</p>"
    return _card(about + _figures(figures) + (_table(groups) if totals.gpus_demanded else ""))


@spoken
def _scenario(scenario: Scenario) -> str:
    """What the customer stated: the groups, and each input that is not as it would be without a statement."""
    columns = (
        Column("name", "Group"),
        Column("people", "People", "number"),
        Column("active_share", "Concurrent", "share"),
        Column("gpus_each", "GPUs each", "number"),
    )
    groups = listed("groups", scenario.name, columns, scenario.groups)
    stated = [
        (path, scenario.label(path), scenario.get(path), basis_word(scenario.origin(path).basis))
        for path, field in FIELD_BY_PATH.items()
        if scenario.get(path) != field.default and "." in path
    ]
    inputs = Table(
        "inputs",
        "Inputs",
        (
            Column("path", "Path"),
            Column("label", "Input"),
            Column("value", "Value"),
            Column("known", "Known"),
        ),
        tuple(stated),
    )
    return _card(_table(groups) + _table(inputs))


def _line(line: Line) -> str:
    columns = (
        Column("label", "Input"),
        Column("value", "Value", of=lambda given: amount(given.value, given.unit)),
        Column("basis", "Known", "basis"),
        Column("sources", "Sources", "sources"),
    )
    inputs = listed("inputs", "", columns, line.inputs)
    value = f"<strong>{escape(line.label)}: {escape(amount(line.value, line.unit))}</strong>"
    known = f"<small>{escape(basis_word(line.basis))}; {escape(line.function)}</small>"
    return _card(
        f"{value}<p>{escape(line.sentence)}</p><p>{escape(formula_text(line))}</p>{_table(inputs)}{known}"
    )


def _lines(lines: Lines) -> str:
    columns = (
        Column("key", "Key"),
        Column("label", "Number"),
        Column("value", "Value", of=lambda line: amount(line.value, line.unit)),
        Column("basis", "Known", "basis"),
    )
    return _table(listed("lines", "", columns, lines.values()))


def _costs(costs: Costs) -> str:
    columns = (Column("name", "Part"), Column("total", f"{costs.currency} over {costs.years} years", "money"))
    totals = (("All parts", costs.total), ("Net present cost", costs.net_present))
    return _table(listed("costs", "Cost", columns, costs.parts, totals=totals))


def _explanation(why: Explanation) -> str:
    known = Column("known", "Known or worked out")
    inputs = listed("inputs", "", (Column("label", "Input"), Column("value", "Value"), known), why.inputs)
    sources = listed("sources", "", (Column("title", "Source"), Column("where", "Where")), why.sources)
    return _card(
        f"<strong>{escape(why.label)}: {escape(why.value)}</strong><p>{escape(why.sentence)}</p>"
        f"<p>{escape(why.formula)}</p>{_table(inputs)}{_table(sources) if why.sources else ''}"
        f"<small>{escape(why.basis_text)}</small>"
    )


def _comparison(found: Comparison) -> str:
    said = "".join(f"<li>{escape(sentence)}</li>" for sentence in found.sentences)
    return _card(f"{_table(compared(found))}<ul>{said}</ul>")


def _catalog(catalog: Catalog) -> str:
    columns = (Column("name", "Table"), Column("title", "Holds"))
    return _table(Table("catalog", f"Catalog {catalog.digest}", columns, tuple(catalog.titles.items())))


SHOWN: Mapping[type, Callable[[Any], str]] = {
    Plan: _plan,
    Scenario: _scenario,
    Line: _line,
    Lines: _lines,
    Table: _table,
    Costs: _costs,
    Catalog: _catalog,
    Explanation: _explanation,
    Comparison: _comparison,
}
"""A kind of thing -> how it is shown."""
