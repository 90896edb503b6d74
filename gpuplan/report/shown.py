"""Cards and tables of plain HTML for notebook cells, loaded through ``gpuplan.showing`` on use."""

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import fields
from html import escape
from typing import Any

from gpuplan.analysis.compare import Comparison
from gpuplan.analysis.grid import Grid
from gpuplan.analysis.monte_carlo import MonteCarlo
from gpuplan.analysis.ranking import Exploration
from gpuplan.analysis.solve import Frontier, Solution
from gpuplan.catalog import Catalog
from gpuplan.catalog.catalog import Item, Row
from gpuplan.facts import Brief, Named, Several, own_specs
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.trail import Line, Lines
from gpuplan.report import tables
from gpuplan.report.explain import Explanation, formula_text
from gpuplan.report.explore_report import exploration_dict
from gpuplan.report.figures import Figures
from gpuplan.report.solve_report import answer, solution_dict
from gpuplan.report.table import Column, Table, filled, heads, listed, numeric, tabulate, texts
from gpuplan.report.tables import explore as explored
from gpuplan.report.tables import plan_table
from gpuplan.report.tables import solve as solved
from gpuplan.scenario import FIELD_BY_PATH, Scenario
from gpuplan.wording import NAMES, amount, basis_word, number, said, short_watts

STEP_OF = {"workloads" if step == "usecases" else step: step for step in NAMES["step"]}
"""Name of a step as users type it -> the step."""
OPEN = 8
"""Most rows of a folding table that is initially open."""
MOST_ROWS = 40
"""Most rows of a table in a cell; further ones are counted."""


def html(thing: Any) -> str:
    """Return the HTML of a plan, a table, an item of the catalog, several messages, or any record."""
    for kind, shown in SHOWN.items():
        if isinstance(thing, kind):
            return shown(thing)
    raise TypeError(f"nothing is known of how to show a {type(thing).__name__}")


def step_html(plan: Plan, step: str, sentence: str) -> str:
    """Return a static view of a workbook step: its message, the figures of the plan and its tables."""
    shown = [plan_table(plan, name) for name in own_specs("gpuplan.report", "step_tables").get(step, ())]
    body = "".join(_table(table) for table in shown if table.rows)
    title = f"<strong>{escape(plan.scenario.name)}</strong><p>{escape(sentence)}</p>"
    return _card(f"{title}{_totals(plan)}{body}")


def _table(table: Table, most: int = MOST_ROWS) -> str:
    shown = table.shown()
    right, rows = numeric(shown), texts(shown)

    def row(cells: Iterable[str], tag: str) -> str:
        return "<tr>" + "".join(
            f'<{tag} style="text-align:{"right" if at in right else "left"};vertical-align:top">{escape(cell)}</{tag}>'
            for at, cell in enumerate(cells)
        )

    body = "".join(row(cells, "td") for cells in rows[:most])
    notes = [*shown.notes, *([said("table.more rows", left=len(rows) - most)] if len(rows) > most else [])]
    title = f"<strong>{escape(shown.title)}</strong>" if shown.title else ""
    below = f"<small>{escape(' '.join(notes))}</small>" if notes else ""
    head = f"<thead>{row(heads(shown), 'th')}</thead>"
    return _card(f"{title}<table>{head}<tbody>{body}</tbody></table>{below}")


def _folded(table: Table, words: str) -> str:
    if not table.rows:
        return ""
    fold = "open" if len(table.rows) <= OPEN else ""
    return f"<details {fold}><summary>{len(table.rows)} {escape(words)}</summary>{_table(table)}</details>"


def _card(inner: str) -> str:
    return f'<div class="gpuplan" style="overflow-x:auto;max-width:60rem">{inner}</div>'


def _totals(plan: Plan) -> str:
    figures = list[tuple[str, str]]()
    for key in ("demand.gpus", "totals.hosts", "totals.gpus", "totals.gpus_after_failure", "power.typical"):
        if line := plan.lines.get(key):
            figures.append((line.label, short_watts(line.value) if line.unit == "W" else number(line.value)))
    if plan.costs:
        figures.append((Figures(plan).said("summary.net present"), Figures(plan).money))
    cells = "".join(
        f'<td style="text-align:left;padding:0 1.5rem .5rem 0"><small>{escape(label)}</small><br>'
        f'<span style="font-size:1.3em">{escape(value)}</span></td>'
        for label, value in figures
    )
    return f"<table><tbody><tr>{cells}</tr></tbody></table>"


@spoken
def _plan(plan: Plan) -> str:
    groups = tables.plan.groups(plan).only("group", "use_case", "people", "vms", "gpus", "access")
    sentences = [plan.verdict.sentence, *([_wrong(plan.standing.words)] if plan.standing.stops else [])]
    about = f"<strong>{escape(plan.scenario.name)}</strong><p>{escape(' '.join(sentences))}</p>"
    return _card(about + _totals(plan) + (_table(groups) if plan.totals.gpus_demanded else ""))


@spoken
def _scenario(scenario: Scenario) -> str:
    """Return the customer's statements: the groups, and each input that differs from its default."""
    groups = tabulate("groups_stated", scenario.groups, title=scenario.name)
    changed = [p for p, field in FIELD_BY_PATH.items() if scenario.get(p) != field.default and "." in p]
    stated = [(p, scenario.label(p), scenario.get(p), basis_word(scenario.origin(p).basis)) for p in changed]
    return _card(_table(groups) + _table(filled("inputs_stated", stated, title="Inputs")))


def _line(line: Line) -> str:
    inputs = tabulate("line_inputs", line.inputs, value=lambda of: amount(of.value, of.unit), title="")
    value = f"<strong>{escape(line.label)}: {escape(amount(line.value, line.unit))}</strong>"
    footer = f"<small>{escape(basis_word(line.basis))}; {escape(line.function)}</small>"
    text = f"<p>{escape(line.sentence)}</p><p>{escape(formula_text(line))}</p>"
    return _card(f"{value}{text}{_table(inputs)}{footer}")


def _lines(lines: Lines) -> str:
    shown = tabulate("line_list", lines.values(), value=lambda line: amount(line.value, line.unit), title="")
    return _table(shown)


def _costs(costs: Costs) -> str:
    total = Column("total", said("table.costs.total", costs=costs), "money")
    present = said("summary.net present", years=costs.years)
    totals = ((said("table.all parts"), costs.total), (present, costs.net_present))
    columns = (Column("name", said("table.costs.name")), total)
    return _table(listed("costs", columns, costs.parts, totals=totals, title=said("table.costs")))


def _explanation(why: Explanation) -> str:
    inputs = tabulate("explained_inputs", why.inputs, title="")
    sources = tabulate("explained_sources", why.sources, title="")
    if not any(source.where for source in why.sources):
        sources = sources.without("where")
    condition = f"<p>{escape(_wrong(why.condition))}</p>" if why.condition else ""
    return _card(
        f"<strong>{escape(why.label)}: {escape(why.value)}</strong>{condition}<p>{escape(why.sentence)}</p>"
        f"<p>{escape(why.formula)}</p>{_folded(inputs, 'inputs')}{_folded(sources, 'sources')}"
        f"<small>{escape(why.basis_text)}</small>"
    )


def _wrong(words: str) -> str:
    return said("standing.sentence", wrong=words)


def _comparison(found: Comparison) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in found.sentences)
    return _card(f"{_table(explored.compared(found))}<ul>{items}</ul>")


@spoken
def _solution(found: Solution) -> str:
    data = solution_dict(found)
    lead, *rest = answer(data)
    shown = (
        solved.designs(data, data["designs"]),
        solved.gave(data),
        solved.relaxed(data),
        solved.missed(data),
    )
    about = f"<strong>{escape(lead)}</strong><p>{escape(' '.join(rest))}</p>"
    return _card(about + "".join(_table(table) for table in shown if table.rows))


def _frontier(found: Frontier) -> str:
    return _table(solved.budgets(found).without("conditions"))


def _exploration(found: Exploration) -> str:
    data = exploration_dict(found, found.scenario)
    return _table(explored.designs(data, data["best"], said("explored.best")))


def _catalog(catalog: Catalog) -> str:
    note = f"catalog {catalog.digest}"
    listing = filled("catalog_tables", catalog.titles.items(), notes=(note,), title="Catalog")
    return _table(listing, most=len(listing.rows))


def _item(item: Item) -> str:
    facts = ((name, amount(of.value, of.unit), of.basis, of.sources) for name, of in item.facts.items())
    return _table(filled("item_facts", facts, title=item.name))


def _record(record: Brief) -> str:
    rows = tuple((name, _plain(value)) for name, value in _fields(record).items())
    heads = (Column("name", "Name"), Column("value", "Value"))
    return _table(Table("record", heads, rows, title=type(record).__name__))


def _several(things: Several[Any]) -> str:
    """Tabulate records below each other, with a column for each field that any of them fills."""
    records = [_fields(thing) for thing in things]
    names = dict.fromkeys(name for record in records for name in record)
    fields_shown = tuple(Column(name, name.replace("_", " ").capitalize()) for name in names)
    rows = tuple(tuple(_plain(record.get(name, "")) for name in names) for record in records)
    return _table(Table("several", fields_shown, rows, title="")) if rows else _card("none")


def _named(things: Named[Any]) -> str:
    rows = tuple((id, getattr(thing, "name", "")) for id, thing in things.items())
    return _table(Table("named", (Column("id", "Id"), Column("name", "Name")), rows, title=""))


def _fields(record: Any) -> dict[str, Any]:
    """Return the fields of a record that have content."""
    visible = {field.name: getattr(record, field.name) for field in fields(record) if field.repr}
    cells = {"id": record.id, **record.cells} if isinstance(record, Row) else visible
    return {name: value for name, value in cells.items() if value not in (None, "", ())}


def _plain(value: Any) -> str:
    """Return a value for a cell; for a container, the number of its elements."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return number(value)
    if isinstance(value, tuple) and all(isinstance(item, str | int | float) for item in value):
        return ", ".join(map(_plain, value))
    return f"{len(value)} entries" if isinstance(value, Sized) else type(value).__name__


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
    Exploration: _exploration,
    Grid: lambda found: _table(explored.points(found)),
    MonteCarlo: lambda found: _table(explored.quantiles(found)) + _several(Several(found.inputs.values())),
    Solution: _solution,
    Frontier: _frontier,
    Item: _item,
    Several: _several,
    Named: _named,
    Brief: _record,
}
