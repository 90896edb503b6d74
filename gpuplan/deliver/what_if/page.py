"""The page: one HTML file with style, script and answers inside, from ``templates/what-if.html.j2``."""

import json
import math
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.deliver.brand import PLAIN, Brand, contrast_on_white, mixed
from gpuplan.deliver.executive import document_day
from gpuplan.deliver.html import clean, templates
from gpuplan.deliver.what_if import texts
from gpuplan.deliver.what_if.answers import ASIDE, Answer, Axis, WhatIf, sizes
from gpuplan.deliver.what_if.texts import FIGURES, MEASURES, Teller, named
from gpuplan.locales import spoken, written_day
from gpuplan.report.figures import as_of, paper_of
from gpuplan.scenario import Scenario, views
from gpuplan.wording import NAMES, said, short_number, told, unit_of

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
        plain=PLAIN,
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
        logo=b64encode(brand.logo).decode(),
        made=said("whatif.made", version=version("gpuplan"), day=day),
        own=teller.texts(found.own),
        rows=tuple(_table(found)),
        said=said,
        script=script,
        script_hash=_hash(script),
        style=style,
        style_hash=_hash(style),
        title=title,
        words=texts,
        costs=scenario.cost,
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _data(found: WhatIf, teller: Teller) -> str:
    """Return texts and heights of every position as JSON, each text once, and none that ends the script around it."""
    kept: dict[str, int] = {}

    def at(text: str) -> int:
        return kept.setdefault(clean(text), len(kept))

    shown = {position: teller.texts(position) for position in found.answers}
    costs = [answer.cost if isinstance(answer, Answer) else None for answer in found.answers.values()]
    marks = marks_to(max((cost.high for cost in costs if cost), default=0))
    data = {
        "fields": list(shown[found.own]),
        "answers": [[at(text) for text in texts.values()] for texts in shown.values()],
        "costs": [[cost.net_present, cost.low, cost.high] if cost else [] for cost in costs],
        "marks": [[value, at(short_number(value))] for value in marks],
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


def _table(found: WhatIf) -> Iterator[tuple[str, str]]:
    """Return keys and labels of the rows of the table: hosts of the last year only where a design grows."""
    costs, answers = (
        found.scenario.cost,
        [each for each in found.answers.values() if isinstance(each, Answer)],
    )
    grows = any(each.cost and each.cost.hosts_at_end != each.totals.hosts for each in answers)
    for key, kind, _ in MEASURES:
        label = told(NAMES["what-if row"][key], {"years": costs.years})
        if grows or key != "hosts_at_end":
            of_money = said("whatif.currency", label=label, currency=costs.currency)
            yield key, of_money if kind == "money" else label


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


def marks_to(most: float) -> list[float]:
    """Return round amounts in a few even steps, from zero to one that holds an amount."""
    if most <= 0:
        return [0.0, 1.0]
    least = most / MOST_STEPS
    size = 10.0 ** math.floor(math.log10(least))
    step = next(round_ * size for round_ in ROUND if round_ * size >= least)
    return [step * n for n in range(1 + max(1, math.ceil(most / step - 1e-9)))]


def on_dark(accent: str) -> str:
    """Lighten the accent as far as a dark card requires."""
    if accent == PLAIN.accent:
        return PLAIN_ON_DARK
    lighter, card = (mixed(accent, tenths / 10) for tenths in range(10, -1, -1)), contrast_on_white(DARK_CARD)
    return next(colour for colour in lighter if card / contrast_on_white(colour) >= LEAST_CONTRAST)
