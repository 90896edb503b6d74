"""Explanation of a number by its line: sentence, formula with the numbers in it, inputs, sources, basis."""

import re
from dataclasses import dataclass

from gpuplan.analysis.variants import standing
from gpuplan.facts import TIERS, Brief, Source
from gpuplan.locales import per_cent, quoted, spoken
from gpuplan.plan import Plan, of_design
from gpuplan.plan.inputs import Input
from gpuplan.plan.trail import Line
from gpuplan.wording import NAMES, amount, bare_amount, basis_word, number, said, told

BASIS_TEXT, TIER_WORDS = NAMES["weakest basis"], NAMES["tier of a source"]
WHOLE = ("totals.", "cost.", "pools.", "demand.", "power.", "postures.")
"""Beginnings of the keys of lines that count or price the whole design."""
ALIKE = re.compile(r"(?<![^ ])([^ ]+)(?: \+ \1(?![^ ])){3,}")
"""Four terms of a sum or more that follow each other and are alike."""


@dataclass(frozen=True, slots=True)
class InputRow:
    """One input of an explained number."""

    label: str
    value: str
    known: str
    basis: str
    key: str
    """Key of the line that explains it, or empty."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source of an explained number."""

    id: str
    title: str
    url: str
    where: str


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Brief):
    """Everything known about one number."""

    key: str
    label: str
    value: str
    condition: str
    """What is wrong with the design, for what counts or prices all of it; empty where nothing is."""
    sentence: str
    formula: str
    inputs: tuple[InputRow, ...]
    sources: tuple[SourceRow, ...]
    basis: str
    basis_text: str
    function: str


@of_design
@spoken
def explain(plan: Plan, key: str) -> Explanation:
    """The explanation of the line with this key."""
    line = plan.line(key)
    return Explanation(
        key=key,
        value=amount(line.value, line.unit),
        condition=standing(plan).words if key.startswith(WHOLE) else "",
        formula=formula_text(line),
        inputs=tuple(_row(plan, i) for i in line.inputs),
        sources=tuple(_source(plan, line, s) for s in line.sources),
        basis_text=BASIS_TEXT[line.basis],
        **{name: getattr(line, name) for name in ("label", "sentence", "basis", "function")},
    )


def formula_text(line: Line) -> str:
    """The formula with the numbers in it."""
    values = [(i.name, i.value, i.unit) for i in line.inputs] + [("value", line.value, line.unit)]
    words = {name: bare_amount(value, unit) for name, value, unit in values}
    words |= {f"{name}_u": amount(value, unit) for name, value, unit in values}
    return per_cent(ALIKE.sub(_counted, told(line.formula, words)))


def _counted(alike: re.Match[str]) -> str:
    """Terms of a sum that are alike, said once."""
    return f"{number(alike[0].count(' + ') + 1)} x {alike[1]}"


def _row(plan: Plan, given: Input) -> InputRow:
    value, line = amount(given.value, given.unit), plan.lines.get(given.key)
    if line is not None:
        return InputRow(given.label, value, formula_text(line), given.basis, given.key)
    origin = given.note or basis_word(given.basis)
    titles = [plan.catalog.sources[s].title for s in given.sources if s in plan.catalog.sources]
    if titles:
        origin = ": ".join(filter(None, (", ".join(filter(None, (titles[0], given.locator))), given.note)))
    return InputRow(given.label, value, quoted(origin), given.basis, "")


def _source(plan: Plan, line: Line, source_id: str) -> SourceRow:
    where = next((i.locator for i in line.inputs if source_id in i.sources and i.locator), "")
    if source_id == "scenario":
        return SourceRow("scenario", "This scenario", "", where)
    source = plan.catalog.sources[source_id]
    tiers = {plan.catalog.sources[id].tier for id in line.sources if id in plan.catalog.sources}
    weak = len(tiers) > 1 and source.tier == max(tiers, key=TIERS.index)
    tier = said("source.weakest" if weak else "source.tier", tier=TIER_WORDS[source.tier])
    return SourceRow(source.id, source.title, source.url, "; ".join(filter(None, (quoted(where), tier))))


def source_words(source: Source) -> str:
    """Cite a source by title, producer, year and tier; one without a date by the year in which it was read."""
    year, tier = (
        source.published[:4] or said("source.undated", year=source.accessed[:4]),
        TIER_WORDS[source.tier],
    )
    return said("source.cited", title=source.title, producer=source.producer, year=year, tier=tier)
