"""The page: one HTML file with style, script and answers inside, which requests nothing.

The file is the template ``templates/what-if.html.j2`` with its style and script beside it; what the script shows are texts and
heights that are worked out here.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.executive import document_day
from gpuplan.deliver.html import templates
from gpuplan.deliver.texts import clean
from gpuplan.deliver.what_if import axis_words
from gpuplan.deliver.what_if.answers import Answer, WhatIf
from gpuplan.deliver.what_if.axes import ASIDE, Axis, sizes
from gpuplan.deliver.what_if.axis_words import named
from gpuplan.deliver.what_if.colours import on_dark
from gpuplan.deliver.what_if.measures import MEASURES, Measure
from gpuplan.deliver.what_if.scale import Scale, scale_to
from gpuplan.deliver.what_if.texts import FIGURES, Teller
from gpuplan.locales import spoken, written_day
from gpuplan.report.figures import as_of, paper_of
from gpuplan.wording import said, short_number, unit_of


@spoken
def what_if_page(found: WhatIf, *, brand: Brand = PLAIN) -> str:
    """The page of these answers, in the looks of a firm."""
    scenario, teller = found.scenario, Teller(found)
    title = said("whatif.title", name=named(scenario.name))
    customer = said("whatif.customer", customer=named(scenario.customer)) if scenario.customer else ""
    style = (
        templates("what_if")
        .get_template("what-if.css.j2")
        .render(
            brand=brand,
            accent_on_dark=on_dark(brand.accent),
            own_font=brand.text if brand.text != PLAIN.text else "",
            own_heading_font=brand.headings if brand.headings != PLAIN.headings else "",
            paper=paper_of(found.design),
            named=f"{title} {customer}".strip(),
        )
    )
    script = files("gpuplan.deliver").joinpath("what_if/templates/what-if.js").read_text(encoding="utf-8")
    day = written_day(document_day(found.design))
    return (
        templates("what_if")
        .get_template("what-if.html.j2")
        .render(
            answers=_data(found, teller),
            axes=found.axes,
            brand=brand,
            customer=customer,
            figures=FIGURES,
            fixed=tuple(_fixed(found)),
            labels=[axis_words.label(axis) for axis in found.axes],
            logo=b64encode(brand.logo).decode(),
            made=said("whatif.made", version=version("gpuplan"), day=day),
            own=teller.texts(found.own),
            row_label=partial(_row_label, found),
            rows=tuple(_measures(found)),
            said=lambda key, **words: said(f"whatif.{key}", **words),
            script=script,
            script_hash=_hash(script),
            style=style,
            style_hash=_hash(style),
            title=title,
            words=axis_words,
            years=scenario.cost.years,
            currency=scenario.cost.currency,
        )
    )


def _hash(text: str) -> str:
    """By which a browser knows a style or a script that it may use."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


# What the script reads


def _data(found: WhatIf, teller: Teller) -> str:
    """Texts and heights of every position as JSON, each text once, and none that ends the script that holds it."""
    kept: dict[str, int] = {}

    def at(text: str) -> int:
        return kept.setdefault(clean(text), len(kept))

    told = {position: teller.texts(position) for position in found.answers}
    scale = scale_to(max((high for _, high in _ends(found)), default=0))
    data = {
        "fields": list(told[found.own]),
        "answers": [[at(text) for text in texts.values()] for texts in told.values()],
        "heights": [_heights(answer, scale) for answer in found.answers.values()],
        "marks": [[scale.at(value), at(short_number(value))] for value in scale.marks],
        "axes": [_positions(axis, at) for axis in found.axes],
        "unit": at(unit_of(2, found.axes[0].unit)),
        "hosts": at(said("whatif.chart hosts")),
        "design": at(said("whatif.chart own")),
    }
    text = json.dumps(data | {"texts": list(kept)}, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _positions(axis: Axis, at: Any) -> dict[str, Any]:
    """What a slider says at each position."""
    count = range(len(axis.values))
    said_of = {"readouts": axis_words.readout, "moved": axis_words.moved, "by": _by, "ticks": axis_words.tick}
    return {"own": axis.own} | {key: [at(words(axis, n)) for n in count] for key, words in said_of.items()}


def _by(axis: Axis, at: int) -> str:
    return axis_words.by(axis, at) or said("whatif.same")


def _ends(found: WhatIf) -> Iterator[tuple[float, float]]:
    for answer in found.answers.values():
        if isinstance(answer, Answer) and answer.cost:
            yield answer.cost.low, answer.cost.high


def _heights(answer: object, scale: Scale) -> list[int]:
    """How high an answer's cost and the ends of its range are in the chart; nothing where there is none."""
    if not isinstance(answer, Answer) or answer.cost is None:
        return []
    cost = answer.cost
    return [scale.at(value) for value in (cost.net_present, cost.low, cost.high)]


# What does not move


def _measures(found: WhatIf) -> Iterator[Measure]:
    """Rows of the table: hosts of the last year only where a design grows."""
    answers = [answer for answer in found.answers.values() if isinstance(answer, Answer)]
    grows = any(answer.cost and answer.cost.hosts_at_end != answer.totals.hosts for answer in answers)
    yield from (measure for measure in MEASURES if grows or measure.key != "hosts_at_end")


def _row_label(found: WhatIf, measure: Measure) -> str:
    costs = found.scenario.cost
    label = said(f"whatif.row {measure.key}", years=costs.years)
    return said("whatif.currency", label=label, currency=costs.currency) if measure.is_money else label


def _fixed(found: WhatIf) -> Iterator[str]:
    """What all positions have in common, and what is to be known of them."""
    plan, scenario = found.design, found.scenario
    price = next((axis for axis in found.axes if axis.kind == "price"), None)
    day = written_day(document_day(plan))
    yield said(
        "whatif.fixed rest", day=day, version=scenario.document.version or said("document.first version")
    )
    yield _hosts(found)
    if others := [_workload(axis) for axis in sizes(scenario) if axis.path != found.axes[0].path]:
        yield said("whatif.fixed others", names=others)
    yield said("whatif.fixed money", years=scenario.cost.years, day=written_day(as_of(plan)))
    if plan.costs and plan.costs.excludes:
        yield said("whatif.fixed excludes", names="; ".join(plan.costs.excludes))
    if price:
        ranged = said("whatif.fixed ranged") if price.ranged else said("whatif.fixed aside", share=ASIDE)
        less = scenario.cost.hardware_discount
        yield f"{ranged} {said('whatif.fixed discount', share=less)}" if less else ranged
    yield said("whatif.fixed planned", positions=len(found.answers))


def _hosts(found: WhatIf) -> str:
    given, catalog = found.scenario.hardware, found.design.catalog
    server = catalog.servers[given.server].name if given.server else said("executive.server")
    board = catalog.gpus[given.gpu].name
    return said("whatif.fixed hosts", server=named(server), gpus=given.gpus_per_host, board=named(board))


def _workload(axis: Axis) -> str:
    return said("whatif.workload", name=named(axis.name), size=axis_words.readout(axis, axis.own))
