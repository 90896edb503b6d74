"""Cost by year, the bill of materials, prices, power and space, what is internal, and designs compared."""

from collections.abc import Iterator
from dataclasses import replace

from gpuplan.deliver.document.blocks import MOST_ROWS, Block, Bullets, Draft, Paragraph, tabled
from gpuplan.report.table import Table
from gpuplan.report.tables import cost, platform
from gpuplan.report.tables.explore import compared as designs_compared
from gpuplan.report.text import fitted
from gpuplan.wording import said, stated_percent


def lead(draft: Draft) -> str:
    """The net present cost, the total, and growth if there is any."""
    costs, span = draft.costs, cost.headlines(draft.plan)
    text = draft.said("cost.over the net present", rate=stated_percent(costs.discount_rate), **span)
    grows = costs.hosts[-1] > costs.hosts[0]
    return text + (draft.said("cost.that includes growth from") if grows else "")


def gpu_hours(draft: Draft) -> str:
    """The cost of a GPU-hour, installed and used; empty where it is not known."""
    costs, span, text = draft.costs, cost.headlines(draft.plan), ""
    if costs.gpu_hour_installed is not None:
        text = said("cost.a gpu hour costs", cost=span["gpu_hour_installed"])
    if costs.gpu_hour_used is not None:
        text += said("cost.and used with gpus", cost=span["gpu_hour_used"], use=cost.use_words(draft.plan))
    return said("cost.hours discounted", text=text) if text else ""


def left_out(draft: Draft) -> Iterator[Block]:
    """What the cost excludes for lack of a price, and what is no part of it."""
    costs = draft.costs
    if costs.excludes:
        yield Paragraph(said("cost.left out because a"))
        yield Bullets(costs.excludes[:MOST_ROWS])
    if costs.outside:
        yield Paragraph(said("cost.not part of the", outside="; ".join(costs.outside)), "note")


def years(draft: Draft) -> list[Block]:
    """Payments at the start and in each year, by part."""
    unit, table = fitted(cost.cost_by_year(draft.plan))
    return tabled(table, caption=draft.said("cost.table cost by year in", unit=unit))


def weak(draft: Draft) -> str:
    """The parts of the cost that rest on an assumption."""
    parts = [part.name for part in draft.costs.parts if part.basis == "assumed" and part.total]
    return said("cost.parts based on an", parts=", ".join(parts)) if parts else ""


def power_points(draft: Draft) -> list[str]:
    """What follows from power and space."""
    use = draft.plan.power
    return [f"{name}: {words}." for name, words in platform.power_points(use)] if use else []


def differences(draft: Draft) -> Iterator[Block]:
    """Say how this design differs from the others in its results, the largest difference first."""
    assert draft.compared is not None
    first, *others = [difference.sentence for difference in draft.compared.differences] or [
        said("compared.the designs have the")
    ]
    yield Paragraph(first, "lead")
    if others:
        yield Bullets(tuple(others))
    for note in draft.compared.notes:
        yield Paragraph(note, "note")


def beside(draft: Draft) -> Table:
    """Inputs and results of the designs side by side."""
    assert draft.compared is not None
    return replace(designs_compared(draft.compared, draft.plan.catalog).without("differs"), notes=())


def notes(draft: Draft) -> list[str]:
    """The internal notes, line by line."""
    text = draft.plan.scenario.internal.notes or ""
    return [line for line in text.split("\n") if line.strip()]


def margin(draft: Draft) -> list[Block]:
    """The margin, and what is paid and earned."""
    table, inputs = cost.margin(draft.plan), draft.plan.scenario.internal
    if table is None:
        return []
    text = said("cost.the margin is of", margin=stated_percent(inputs.margin or 0))
    return [Paragraph(text), *tabled(table, caption=draft.said("cost.what is paid and"))]
