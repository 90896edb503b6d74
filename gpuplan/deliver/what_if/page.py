"""The page: one HTML file with style, script and answers inside, from ``templates/what-if.html.j2``."""

import json
import math
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.deliver.brand import PLAIN, Brand, contrast_on_white, mixed
from gpuplan.deliver.executive import document_day
from gpuplan.deliver.html import clean, templates
from gpuplan.deliver.what_if import texts
from gpuplan.deliver.what_if.answers import ASIDE, Answer, Axis, WhatIf, sizes
from gpuplan.deliver.what_if.texts import FIGURES, MEASURES, Measure, Teller, named
from gpuplan.locales import spoken, written_day
from gpuplan.report.figures import as_of, paper_of
from gpuplan.scenario import Scenario, views
from gpuplan.wording import NAMES, said, short_number, told, unit_of

HEIGHT = 1000
MOST_STEPS = 5
ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
DARK_CARD = "18202B"
LEAST_CONTRAST = 5.5
"""Least contrast of the accent on a dark card, where text is small."""
PLAIN_ON_DARK = "5AA9F0"


@spoken
def what_if_page(found: WhatIf, *, brand: Brand = PLAIN) -> str:
    """The page of these answers, in the looks of a firm."""
    scenario, teller = found.scenario, Teller(found)
    title = said("whatif.title", name=named(scenario.name))
    customer = said("whatif.customer", customer=named(scenario.customer)) if scenario.customer else ""
    css, html = map(templates("what_if").get_template, ("what-if.css.j2", "what-if.html.j2"))
    style = css.render(
        brand=brand,
        accent_on_dark=on_dark(brand.accent),
        own_font=brand.text if brand.text != PLAIN.text else "",
        own_heading_font=brand.headings if brand.headings != PLAIN.headings else "",
        paper=paper_of(found.design),
        named=f"{title} {customer}".strip(),
    )
    script = files("gpuplan.deliver").joinpath("what_if/templates/what-if.js").read_text(encoding="utf-8")
    day = written_day(document_day(found.design))
    return html.render(
        answers=_data(found, teller),
        axes=found.axes,
        brand=brand,
        customer=customer,
        figures={key: told(text, {"years": scenario.cost.years}) for key, text in FIGURES.items()},
        fixed=tuple(_fixed(found)),
        labels=[texts.label(axis) for axis in found.axes],
        logo=b64encode(brand.logo).decode(),
        made=said("whatif.made", version=version("gpuplan"), day=day),
        own=teller.texts(found.own),
        row_label=partial(_row_label, found),
        rows=tuple(_measures(found)),
        said=said,
        script=script,
        script_hash=_hash(script),
        style=style,
        style_hash=_hash(style),
        title=title,
        words=texts,
        years=scenario.cost.years,
        currency=scenario.cost.currency,
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _data(found: WhatIf, teller: Teller) -> str:
    """Return texts and heights of every position as JSON, each text once, and none that ends the script around it."""
    kept: dict[str, int] = {}

    def at(text: str) -> int:
        return kept.setdefault(clean(text), len(kept))

    shown = {position: teller.texts(position) for position in found.answers}
    costs = list(map(_drawn, found.answers.values()))
    scale = scale_to(max((cost[-1] for cost in costs if cost), default=0))
    data = {
        "fields": list(shown[found.own]),
        "answers": [[at(text) for text in texts.values()] for texts in shown.values()],
        "heights": [list(map(scale.at, cost)) for cost in costs],
        "marks": [[scale.at(value), at(short_number(value))] for value in scale.marks],
        "axes": [_positions(axis, at) for axis in found.axes],
        "unit": at(unit_of(2, found.axes[0].unit)),
        "hosts": at(said("whatif.chart hosts")),
        "design": at(said("whatif.chart own")),
    }
    text = json.dumps(data | {"texts": list(kept)}, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _positions(axis: Axis, at: Any) -> dict[str, Any]:
    count = range(len(axis.values))
    said_of = {
        "readouts": texts.readout,
        "moved": texts.moved,
        "by": lambda *where: texts.by(*where) or said("whatif.same"),
        "ticks": texts.tick,
    }
    return {"own": axis.own} | {key: [at(of(axis, n)) for n in count] for key, of in said_of.items()}


def _drawn(answer: object) -> tuple[float, ...]:
    """Return an answer's cost and the ends of its range; empty without a cost."""
    cost = answer.cost if isinstance(answer, Answer) else None
    return (cost.net_present, cost.low, cost.high) if cost else ()


def _measures(found: WhatIf) -> Iterator[Measure]:
    """Rows of the table: hosts of the last year only where a design grows."""
    costs = [(a.cost, a.totals) for a in found.answers.values() if isinstance(a, Answer) and a.cost]
    grows = any(cost.hosts_at_end != totals.hosts for cost, totals in costs)
    yield from (measure for measure in MEASURES if grows or measure.key != "hosts_at_end")


def _row_label(found: WhatIf, measure: Measure) -> str:
    costs = found.scenario.cost
    label = told(NAMES["what-if row"][measure.key], {"years": costs.years})
    return said("whatif.currency", label=label, currency=costs.currency) if measure.kind == "money" else label


def _fixed(found: WhatIf) -> Iterator[str]:
    """Say what all positions have in common, and what to know about them."""
    plan, scenario = found.design, found.scenario
    price = next((axis for axis in found.axes if axis.kind == "price"), None)
    day = written_day(document_day(plan))
    version = scenario.document.version or said("document.first version")
    yield said("whatif.fixed rest", day=day, version=version)
    yield " ".join(_hosts_of(view, plan.catalog) for view in views(scenario))
    if others := [
        texts.workload(axis, axis.own) for axis in sizes(scenario) if axis.path != found.axes[0].path
    ]:
        yield said("whatif.fixed others", names=others)
    yield said("whatif.fixed money", years=scenario.cost.years, day=written_day(as_of(plan)))
    if plan.costs and plan.costs.excludes:
        yield said("whatif.fixed excludes", names="; ".join(plan.costs.excludes))
    if price:
        ranged = said("whatif.fixed ranged") if price.ranged else said("whatif.fixed aside", share=ASIDE)
        less = scenario.cost.hardware_discount
        yield f"{ranged} {said('whatif.fixed discount', share=less)}" if less else ranged
    yield said("whatif.fixed planned", positions=len(found.answers))


def _hosts_of(scenario: Scenario, catalog: Catalog) -> str:
    hardware = scenario.hardware
    server = catalog.servers[hardware.server].name if hardware.server else said("executive.server")
    board = catalog.gpus[hardware.gpu].name
    words = {"server": named(server), "gpus": hardware.gpus_per_host, "board": named(board)}
    key = "whatif.fixed hosts of kind" if hardware.of else "whatif.fixed hosts"
    return said(key, **words, hosts=named(hardware.of))


class Scale(NamedTuple):
    """Scale of round amounts, from zero to the top."""

    step: float
    steps: int

    def at(self, value: float) -> int:
        """Return the height of an amount."""
        return round(HEIGHT * value / (self.step * self.steps))

    @property
    def marks(self) -> tuple[float, ...]:
        """Labelled amounts."""
        return tuple(self.step * n for n in range(self.steps + 1))


def scale_to(most: float) -> Scale:
    """The scale that holds an amount in a few round steps."""
    if most <= 0:
        return Scale(1.0, 1)
    least = most / MOST_STEPS
    size = 10.0 ** math.floor(math.log10(least))
    step = next(round_ * size for round_ in ROUND if round_ * size >= least)
    return Scale(step, max(1, math.ceil(most / step - 1e-9)))


def on_dark(accent: str) -> str:
    """Lighten the accent as far as a dark card requires."""
    if accent == PLAIN.accent:
        return PLAIN_ON_DARK
    lighter, card = (mixed(accent, tenths / 10) for tenths in range(10, -1, -1)), contrast_on_white(DARK_CARD)
    return next(colour for colour in lighter if card / contrast_on_white(colour) >= LEAST_CONTRAST)
