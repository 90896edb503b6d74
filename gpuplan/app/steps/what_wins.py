"""What would have to be true for another design to win, one input at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.option import Option
from gpuplan.analysis.what_wins import Condition, to_win
from gpuplan.app.cards import Contents, bare, panel, said, select
from gpuplan.app.state import Workbook
from gpuplan.app.steps.explore import SHOWN, candidate_of
from gpuplan.plan import Plan
from gpuplan.report import number
from gpuplan.report.table import Cell, Column, Table, listed, screen
from gpuplan.wording import LICENCE_NAMES, capital, counted, stated_percent

NOW = re.compile(r" \(now [^)]*\)")
"""What a condition says of now, which has a column of its own."""
IMPOSSIBLE = {"sign": "\u2715", "text": "no", "tone": "bad"}
LIKELY = {
    (True, False): {"sign": "\u2713", "text": "yes", "tone": "good"},
    (True, True): {"sign": "!", "text": "unlikely", "tone": "warn"},
    (False, False): IMPOSSIBLE,
    (False, True): IMPOSSIBLE,
}
"""Whether a condition is possible, and whether its value is beyond what is known -> a sign and a word."""


@panel("What would make another design win?")
def to_win_data(workbook: Workbook) -> Contents:
    """What would have to be true for another design to win, one input at a time."""
    exploring = workbook.exploring
    found, plan = exploring.found, exploring.plan
    if found is None or plan is None or found["winner"] is None or len(found["ranked"]) < 2:
        return None
    winner = found["winner"]["label"]
    others = {option["label"]: option for option in found["ranked"] if option["label"] != winner}
    chosen = workbook.chosen("other", ["", *others])
    named = {label: label for label in [*list(others)[:SHOWN], chosen] if label}
    data = {"selects": [select("other", "Design", chosen, {"": "choose a design"} | named)]}
    if not chosen:
        return data
    duel = partial(_to_win, first=_option(found["winner"]), other=_option(others[chosen]))
    conditions = exploring.later(f"to win: {chosen}", duel)
    if conditions is None:
        return data | {"text": [said("Both designs are planned with one input changed at a time \u2026")]}
    if not conditions:
        return data | {"text": [said("No single input makes it win.")]}
    more = f"One input at a time; at that value it costs as much as {winner}."
    return data | {"tables": [screen(_conditions(conditions), more=more)]}


def _to_win(plan: Plan, first: Option, other: Option) -> tuple[Condition, ...]:
    return to_win(plan.scenario, plan.catalog, first, other)


def _option(option: dict[str, Any]) -> Option:
    """An option as the conditions are asked with: its candidate is what counts."""
    return Option(candidate_of(option), str(option["label"]))


def _conditions(found: Sequence[Condition]) -> Table:
    columns = (
        Column("label", "Input"),
        Column("now", "Now", "number", of=lambda each: _named(each, each.now)),
        Column("needed", "Needed", "number", of=lambda each: _named(each, each.needed)),
        Column("possible", "Possible", of=_likely),
        Column("text", "", of=_words),
    )
    return listed(
        "conditions", columns, sorted(found, key=lambda each: (not each.possible, each.beyond)), title=""
    )


def _likely(each: Condition) -> Cell:
    return Cell("", tone="whole", more={"mark": LIKELY[each.possible, each.beyond]})


def _words(each: Condition) -> Cell:
    return Cell(capital(NOW.sub("", each.text.removeprefix(f"{each.label}: "))), tone="small")


def _named(each: Condition, value: Any) -> Cell:
    """The value of an input, a licence by its name in the form."""
    return Cell(value, words=LICENCE_NAMES.get(each.path, {}).get(value) or _value(value, each.unit))


def _value(value: Any, unit: str) -> str:
    if value is None:
        return "\u2013"
    if isinstance(value, str):
        return value
    if len(unit) == 3 and unit.isupper():
        return bare(value)
    if unit in ("1", "%"):
        return stated_percent(float(f"{value:.4g}"))
    if unit == "year":
        return counted(value, "year")
    return f"{number(float(f'{value:.4g}'))} {unit}".strip()
