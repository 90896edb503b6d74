"""The first page, for executives, with the cost drivers as a drawing; the control of the document; risks, decisions and sources."""

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

from gpuplan.analysis.mending import mended
from gpuplan.deliver.document.blocks import (
    Block,
    DecisionBlock,
    Decisions,
    Draft,
    KeyFigures,
    Paragraph,
    References,
    tabled,
)
from gpuplan.deliver.executive import MOST_ALTERNATIVES, MOST_DRIVERS, OWNERS, Driver, actions, due, edition
from gpuplan.facts import BASES, own_rows
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.known import inputs
from gpuplan.plan.trail import Line
from gpuplan.plan.weighing import listed
from gpuplan.report.drawing import EDGE, INK, LINE, SIZE, SOFT, WIDTH, Area, Drawing, wrapped
from gpuplan.report.explain import source_words
from gpuplan.report.figures import sentences, what_to_do
from gpuplan.report.physical import first_and_last
from gpuplan.report.site import SiteField, site_fields, site_value
from gpuplan.report.site import checklist as site_checklist
from gpuplan.report.table import Table, Worded, columns, filled, tabulate
from gpuplan.wording import (
    BASIS_WORDS,
    NAMES,
    amount,
    basis_word,
    capital,
    number,
    percent,
    priced,
    rounded_money,
    said,
    watts,
)

SIGNS = ("document.author", "sign.firm", "document.approver", "sign.customer")
"""Fields with the names of those who sign."""
LABELS, ROW, BAR = 210.0, 40.0, 16.0
"""Width of the column of names, height of a row and of its bar."""
LOW, HIGH = "#56b4e9", "#e69f00"
"""Colours of the cost with the input at its low and at its high end."""
EDGES = 64.0
"""Room for the amounts beside the bars."""


def about(plan: Plan) -> str:
    """Describe the document in a line."""
    return " \u00b7 ".join(sentences("edition of the document", plan.scenario.document, **edition(plan)))


def key_figures(draft: Draft) -> list[Block]:
    """Hosts, GPUs, availability and cost."""
    return [KeyFigures(tuple(draft.tiles("document")))]


def alternatives(draft: Draft) -> Table | None:
    """Tabulate the other priced designs, and why they are not proposed."""
    if not draft.summary.choices:
        return None
    now = rounded_money(draft.costs.net_present)[0]
    rows = [(said("front.this design"), number(draft.plan.totals.hosts), now, "", "")]
    for choice in draft.summary.choices[:MOST_ALTERNATIVES]:
        hosts = number(choice.hosts[0]) if choice.hosts else "\u2013"
        sign = "+" if choice.difference > 0 else "\u2212"
        cost, more = (rounded_money(value)[0] for value in (choice.net_present, abs(choice.difference)))
        why = capital(choice.gives_up).removesuffix(".")
        rows.append((choice.name, hosts, cost, f"{sign}{more}", f"{why}." if why else ""))
    return Table("front_alternatives", columns("front_alternatives"), tuple(rows), title="")


def drivers(draft: Draft) -> str | None:
    """Draw the assumptions that move the cost most."""
    return tornado_svg(draft.plan, draft.summary.drivers[:MOST_DRIVERS])


def decisions(draft: Draft) -> Table:
    """The decisions needed first, with owner and due date."""
    needed = draft.summary.first_decisions
    return tabulate("decisions_first", needed, owner=Worded(OWNERS.get), title=said("table.decisions"))


def control(draft: Draft) -> Table:
    """The author, the version and the approver."""
    rows = draft.tiles("control", **edition(draft.plan), made=made_with(draft.plan))
    return filled("document_control", (row[:2] for row in rows), title=said("document.control"))


def history(draft: Draft) -> Table:
    """The revision that this document is."""
    paper, now = draft.plan.scenario.document, edition(draft.plan)
    row = (now["version"], now["day"], paper.author or "", said("document.first change"))
    return filled("revision_history", [row])


def sign_off(draft: Draft) -> Table:
    """Who signs, with room for signatures."""
    names = {key: site_value(draft.plan, key) for key in SIGNS}
    return filled("sign_off", ((said(f"document.sign.{key}"), name, "", "") for key, name in names.items()))


def glossary(draft: Draft) -> Table:
    """The terms of the field that occur in the document."""
    rows = [
        (row["term"], row["meaning"])
        for row in own_rows("words/glossary")
        if any(
            term in draft.text or capital(term) in draft.text for term in (row["term"], *listed(row["also"]))
        )
    ]
    return filled("glossary", rows)


def made_with(plan: Plan) -> str:
    """Program and catalog."""
    return said("document.made", version=version("gpuplan"), catalog=plan.catalog.digest)


def tornado_svg(plan: Plan, drivers: Sequence[Driver]) -> str | None:
    """The assumptions that move the net present cost; None where none does."""
    if not drivers or plan.costs is None:
        return None
    now, currency = plan.costs.net_present, plan.costs.currency
    least, most = min(now, *(d.cost_low for d in drivers)), max(now, *(d.cost_high for d in drivers))
    left, right = LABELS + EDGES, WIDTH - EDGES
    drawing = Drawing()

    def x(value: float) -> float:
        return left + (right - left) * (value - least) / (most - least)

    drawing.text(x(now), SIZE, priced(rounded_money(now)[0], currency), anchor="middle", bold=True)
    top = LINE + 2
    for at, driver in enumerate(drivers):
        y = top + at * ROW
        for line, text in enumerate(wrapped(driver.label, LABELS - 6)[:2]):
            drawing.text(0, y + SIZE + LINE * line - 2, text, fill=INK, room=LABELS - 6)
        _bar(drawing, driver, x(now), x(driver.at_low), x(driver.at_high), y + 3)
    bottom = top + ROW * len(drivers) - 6
    drawing.line(x(now), top - 2, x(now), bottom, stroke=EDGE, dashes="3 3")
    drawing.text(0, bottom + LINE, said("tornado.key"), fill=SOFT)
    return drawing.svg(bottom + LINE + 6, said("front.drivers alt", years=plan.costs.years))


def _bar(drawing: Drawing, each: Driver, now: float, low: float, high: float, y: float) -> None:
    for end, colour in ((low, LOW), (high, HIGH)):
        if abs(end - now) > 0.5:
            drawing.box(Area(min(now, end), y, abs(end - now), BAR), fill=colour, stroke=colour, rx=1)
    ends = sorted(((low, each.low, each.at_low), (high, each.high, each.at_high)))
    (left, said_left, cost_left), (right, said_right, cost_right) = ends
    left, right = min(left, now), max(right, now)
    drawing.text(left - 5, y + 12, rounded_money(cost_left)[0], anchor="end", fill=INK)
    drawing.text(right + 5, y + 12, rounded_money(cost_right)[0], fill=INK)
    drawing.text(left - 5, y + 12 + LINE - 2, said_left, anchor="end", fill=SOFT)
    drawing.text(right + 5, y + 12 + LINE - 2, said_right, fill=SOFT)


LEVELS, BASIS_MEANS = NAMES["level"], NAMES["meaning of basis"]
MOST_CITED = 4
"""Most sources named for a decision: its own, and the first behind its numbers, which the tables cite."""
MOST_SOURCES = 140
"""Most sources, as two pages hold."""
MOST_FIELDS = 200
"""Most rows of an area of the checklist."""
HEADLINE = ("demand.gpus", "power.typical", "power.peak", "cost.net_present")


def open_points(draft: Draft) -> str:
    """Count the actions that are open."""
    if not check_plan(draft.plan):
        return said("risks.nothing")
    return said("risks.lead", count=len(actions(draft.plan)))


def risks(draft: Draft) -> Table:
    """Risks and open points, with owners and due dates."""
    rows = []
    for n, m in enumerate(check_plan(mended(draft.plan)), 1):
        what, day = m.text + draft.cite(m.sources), due(draft.plan, m.days, decided=m.owner == "customer")
        rows.append((f"K{n}", LEVELS[m.level], what, what_to_do(m), OWNERS[m.owner], written_day(day)))
    return Table("open_points", columns("open_points"), tuple(rows), title=said("risks.title"))


def all_decisions(draft: Draft) -> list[Block]:
    """The design decisions in full."""
    cards = []
    for d in draft.plan.decisions:
        implication = d.implication + draft.cite(d.sources[:MOST_CITED])
        cards.append(DecisionBlock(d.number, d.title, d.decision, d.justification, implication))
    return [Decisions(tuple(cards))] if cards else [Paragraph(said("decisions.nothing"))]


def bases(draft: Draft) -> Table:
    """The number of inputs of each basis."""
    counts = Counter(i.basis for i in inputs(draft.plan).values())
    rows = [(capital(BASIS_WORDS[b]), BASIS_MEANS[b], number(counts[b])) for b in BASES if counts[b]]
    return Table("inputs_by_basis", columns("inputs_by_basis"), tuple(rows), title=said("sources.bases"))


def results(draft: Draft) -> Table:
    """The main results with their weakest input."""
    lines = (
        line
        for key, line in draft.plan.lines.items()
        if key.startswith(("totals.", "added.")) or key in HEADLINE
    )
    rows = tuple((line.label, _result(line), basis_word(line.basis)) for line in lines)
    return Table("main_results", columns("main_results"), rows, title=said("sources.results"))


def _result(line: Line) -> str:
    if line.unit == "%":
        return percent(line.value / 100)
    return watts(line.value) if line.unit == "W" else amount(line.value, line.unit)


def references(draft: Draft) -> list[Block]:
    """The sources by title, producer and year; of very many those that are cited first."""
    known = draft.plan.catalog.sources
    cited = [(str(n), source_words(known[id])) for id, n in draft.cite.numbers.items()]
    left = len(cited) - MOST_SOURCES
    more = [Paragraph(said("sources.more", count=left), "note")] if left > 0 else []
    return [References(tuple(cited[:MOST_SOURCES])), *more] if cited else [Paragraph(said("sources.none"))]


def checklist(draft: Draft) -> Iterator[Block]:
    """All that the customer states, by area, with owner and due date; a row for many hosts or racks names the first and the last."""
    rows = site_checklist(draft.plan)
    alike: dict[tuple[str, str], list[SiteField]] = {}
    for each in site_fields(draft.plan):
        alike.setdefault((each.number, each.what), []).append(each)

    def what(of: SiteField) -> str:
        name = first_and_last([each.of for each in alike.get((of.number, of.what), [of])])
        return said("checklist.of", name=name, what=of.what) if name else of.what

    def proposed(of: SiteField) -> str:
        return first_and_last([each.proposed for each in alike.get((of.number, of.what), [of])])

    yield Paragraph(said("checklist.lead", count=len(rows)), "lead")
    for area in dict.fromkeys(each.area for each in rows):
        these = (each for each in rows if each.area == area)
        own: dict[str, Any] = {
            "owner": Worded(OWNERS.get),
            "due": Worded(written_day),
            "what": what,
            "proposed": proposed,
            "value": lambda each: each.value or each.mark,
        }
        table = tabulate("checklist", these, title=area, **own)
        yield from tabled(table, widths=(0.06, 0.31, 0.16, 0.22, 0.13, 0.12), most=MOST_FIELDS)
