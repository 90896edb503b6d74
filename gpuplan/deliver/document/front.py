"""The first page, for executives, with the cost drivers as a drawing, and the control of the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version

from gpuplan.deliver.document.blocks import Block, Figure, Grid, KeyFigures, Paragraph
from gpuplan.deliver.executive import MOST_ALTERNATIVES, MOST_DRIVERS, OWNERS, Driver, Executive, document_day
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.report.drawing import EDGE, INK, LINE, SIZE, SOFT, WIDTH, Area, Drawing, wrapped
from gpuplan.report.figures import Figures
from gpuplan.wording import NAMES, capital, number, priced, rounded_money, said

STATUS = NAMES["document.status"]
ALTERNATIVE_HEADS = (
    "front.alternatives.name",
    "front.alternatives.hosts",
    "front.alternatives.cost",
    "front.alternatives.difference",
    "front.alternatives.why",
)


def about(plan: Plan) -> str:
    """Describe the document in a line."""
    inputs = plan.scenario.document
    version_words = said("document.version", version=inputs.version or said("document.first version"))
    day, status = written_day(document_day(plan)), STATUS[inputs.status or "draft"]
    parts = (said("document.kind"), version_words, status, day, inputs.author)
    return " \u00b7 ".join(filter(None, parts))


def front_page(plan: Plan, summary: Executive) -> Iterator[Block]:
    """Recommendation, key figures, alternatives, what moves the answer, decisions: what fits on one page."""
    yield Paragraph(" ".join(summary.recommendation), "lead")
    if not plan.pools:
        return
    yield KeyFigures(tuple(_figures(plan)))
    yield Paragraph(said("front.carries", what=summary.carries))
    yield Paragraph(f"{summary.survives} {summary.money_about}")
    if summary.unsupported:
        yield Paragraph(summary.unsupported)
    if summary.choices:
        yield _alternatives(plan, summary)
    if drawing := tornado_svg(plan, summary.drivers[:MOST_DRIVERS]):
        yield Figure(drawing, said("front.drivers"), said("front.drivers alt"), 0.86)
    yield _decisions(summary)


def _figures(plan: Plan) -> Iterator[tuple[str, str, str]]:
    figures, totals = Figures(plan), plan.totals
    yield said("front.hosts"), number(totals.hosts), figures.said("front.spare")
    yield said("front.gpus"), number(totals.gpus), figures.said("front.after")
    yield said("front.availability"), plan.placed.short, plan.placed.note
    if cost := figures.cost:
        yield said("front.cost"), cost.price, figures.said("front.range") if cost.span else ""


def _alternatives(plan: Plan, summary: Executive) -> Grid:
    """Tabulate the other priced designs, and why they are not proposed."""
    assert plan.costs is not None
    now = rounded_money(plan.costs.net_present)[0]
    rows = [(said("front.this design"), number(plan.totals.hosts), now, "", "")]
    for choice in summary.choices[:MOST_ALTERNATIVES]:
        hosts = number(choice.hosts[0]) if choice.hosts else "\u2013"
        sign = "+" if choice.difference > 0 else "\u2212"
        cost, more = (rounded_money(value)[0] for value in (choice.net_present, abs(choice.difference)))
        why = capital(choice.gives_up).removesuffix(".")
        rows.append((choice.name, hosts, cost, f"{sign}{more}", f"{why}." if why else ""))
    caption = said("front.alternatives", currency=plan.costs.currency)
    heads, widths = tuple(map(said, ALTERNATIVE_HEADS)), (0.24, 0.09, 0.12, 0.13, 0.42)
    return Grid(heads, tuple(rows), caption, (1, 2, 3), widths, small=True)


def _decisions(summary: Executive) -> Grid:
    heads = tuple(said(key) for key in ("table.decisions.what", "table.owner", "table.due"))
    rows = tuple((item.what, OWNERS[item.owner], written_day(item.due)) for item in summary.first_decisions)
    return Grid(heads, rows, said("table.decisions"), (), (0.66, 0.16, 0.18), small=True)


def control(plan: Plan) -> Iterator[Block]:
    """Yield the author, the version, the approver and reading instructions."""
    inputs = plan.scenario.document
    named = said("document.to be named")
    rows = (
        (said("document.control.version"), inputs.version or said("document.first version")),
        (said("document.control.status"), STATUS[inputs.status or "draft"]),
        (said("document.control.date"), written_day(document_day(plan))),
        (said("document.control.author"), inputs.author or named),
        (said("document.control.approver"), inputs.approver or named),
        (said("document.control.made"), made_with(plan)),
    )
    yield Grid(("", ""), rows, said("document.control"), (), (0.28, 0.72))
    yield Paragraph(said("document.how to read"))


def made_with(plan: Plan) -> str:
    """Program and catalog."""
    return said("document.made", version=version("gpuplan"), catalog=plan.catalog.digest)


LABELS, ROW, BAR = 210.0, 40.0, 16.0
"""Width of the column of names, height of a row and of its bar."""
LOW, HIGH = "#56b4e9", "#e69f00"
"""Colours of the cost with the input at its low and at its high end."""
EDGES = 64.0
"""Room for the amounts beside the bars."""


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

    head = priced(rounded_money(now)[0], currency)
    drawing.text(x(now), SIZE, head, anchor="middle", bold=True)
    top = LINE + 2
    for at, driver in enumerate(drivers):
        y = top + at * ROW
        for line, text in enumerate(wrapped(driver.label, LABELS - 6)[:2]):
            drawing.text(0, y + SIZE + LINE * line - 2, text, fill=INK, room=LABELS - 6)
        _bar(drawing, driver, x(now), x(driver.at_low), x(driver.at_high), y + 3)
    bottom = top + ROW * len(drivers) - 6
    drawing.line(x(now), top - 2, x(now), bottom, stroke=EDGE, dashes="3 3")
    drawing.text(0, bottom + LINE, said("tornado.key"), fill=SOFT)
    return drawing.svg(bottom + LINE + 6, said("front.drivers alt"))


def _bar(drawing: Drawing, each: Driver, now: float, low: float, high: float, y: float) -> None:
    """Draw the cost from now to either end of the range, with the ends of the input beside it."""
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
