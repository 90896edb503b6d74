"""What would have to be true for another design to win, one input at a time."""

from __future__ import annotations

import re
from typing import Any

from gpuplan.analysis.ranking import Option
from gpuplan.analysis.what_wins import Condition, to_win
from gpuplan.app.cards import Cell, bare, cell, heads, table
from gpuplan.app.state import Workbook
from gpuplan.app.steps.explore import SHOWN, candidate_of
from gpuplan.report import number
from gpuplan.wording import LICENCE_NAMES, capital, counted, stated_percent

NOW = re.compile(r" \(now [^)]*\)")
"""What a condition says of now, which has a column of its own."""


def _option(option: dict[str, Any]) -> Option:
    """An option as the conditions are asked with: its candidate is what counts."""
    return Option(candidate_of(option), str(option["label"]))


def to_win_data(workbook: Workbook) -> dict[str, Any]:
    """What would have to be true for another design to win, one input at a time."""
    found, plan = workbook.exploring.found, workbook.exploring.plan
    if found is None or plan is None or found["winner"] is None or len(found["ranked"]) < 2:
        return {"shown": False}
    asked, winner = plan.scenario, found["winner"]["label"]
    labels = [option["label"] for option in found["ranked"] if option["label"] != winner]
    chosen = workbook.looked.get("other", "")
    by_label = {option["label"]: option for option in found["ranked"]}
    listed = list(dict.fromkeys([*labels[:SHOWN], *([chosen] if chosen in labels else [])]))
    options = [("", "choose a design"), *((label, label) for label in listed)]
    data: dict[str, Any] = {
        "shown": True,
        "title": "What would have to be true for another design to win?",
        "selects": [
            {
                "what": "other",
                "label": "Design",
                "value": chosen if chosen in labels else "",
                "options": [{"value": value, "text": text} for value, text in options],
            }
        ],
        "stale": workbook.stale,
    }
    if chosen not in labels:
        return data
    conditions = workbook.exploring.later(
        f"to win: {chosen}",
        lambda: to_win(asked, workbook.catalog, _option(by_label[winner]), _option(by_label[chosen])),
    )
    if conditions is None:
        return data | {
            "text": [[{"text": "Both designs are planned with one input changed at a time \u2026"}]]
        }
    rows = [
        _condition_row(each) for each in sorted(conditions, key=lambda each: (not each.possible, each.beyond))
    ]
    columns = heads("Input", "Now", "Needed", "Possible", "", numeric=(1, 2))
    more = f"One input at a time; at the value needed it costs as much as {winner}."
    return data | {
        "tables": [table(columns, rows, more=more)] if rows else [],
        "text": [] if rows else [[{"text": "No single input makes it win."}]],
    }


def _condition_row(each: Condition) -> list[Cell]:
    if not each.possible:
        mark = {"sign": "\u2715", "text": "no", "tone": "bad"}
    elif each.beyond:
        mark = {"sign": "!", "text": "unlikely", "tone": "warn"}
    else:
        mark = {"sign": "\u2713", "text": "yes", "tone": "good"}
    return [
        cell(each.label),
        cell(_named(each, each.now), numeric=True),
        cell(_named(each, each.needed), numeric=True),
        cell("", tone="whole") | {"mark": mark},
        cell(capital(NOW.sub("", each.text.removeprefix(f"{each.label}: "))), tone="small"),
    ]


def _named(each: Condition, value: Any) -> str:
    """The value of an input, a licence by its name in the form."""
    return LICENCE_NAMES.get(each.path, {}).get(value) or _value(value, each.unit)


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
