"""Runs of language models beside what gpuplan predicts for them, as plain data and as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.llm_calibration import Errors, errors
from gpuplan.analysis.llm_runs import QUANTITIES, Prediction
from gpuplan.locales import per_cent, written
from gpuplan.report.plan_data import as_json, fields_of
from gpuplan.report.table import Column, Table, listed, two_places
from gpuplan.report.text import chapter, page
from gpuplan.wording import points

LISTED = 60
"""Rows that are printed; of more, those furthest off."""
NAMES = {
    "tpot_ms": "Time per token",
    "ttft_ms": "First token",
    "tokens_per_s": "Tokens per second",
}


def llm_runs_dict(found: Sequence[Prediction]) -> dict[str, Any]:
    """Measured figures of runs beside their predictions, as plain JSON values.

    Keys ``rows`` (``source_id``, ``quantity``, ``measured``, ``predicted``, ``low``, ``high``, ``error``, ``held``, and ``why`` where
    there is no prediction) and ``errors`` (by quantity: runs, median, mean and nine in ten of the absolute errors, share held
    between low and high, and their mean width as high over low).
    """
    own = ("source_id", "quantity", "measured", "predicted", "low", "high", "error", "held", "why")
    return as_json(
        rows=[{name: getattr(each, name) for name in own} for each in found],
        errors=[{"quantity": name} | fields_of(each) for name, each in _errors(found)],
    )


def _errors(found: Sequence[Prediction]) -> list[tuple[str, Errors]]:
    by = ((name, errors(p for p in found if p.quantity == name)) for name in QUANTITIES)
    return [(name, e) for name, e in by if e]


def llm_runs_text(found: Sequence[Prediction], title: str = "Runs of language models") -> str:
    """Measured figures of runs beside their predictions, and their errors."""
    known = sorted((p for p in found if p.error is not None), key=lambda p: -abs(p.error or 0.0))
    short = len(found) > LISTED
    shown = known[:LISTED] if short else [p for p in found if p.predicted is not None]
    rows = listed(
        "llm-runs",
        (
            *RUN,
            Column("measured", "Measured", "number", words=_digits),
            Column("predicted", "Predicted", "number", words=_digits),
            Column("error", "Error", "number", words=lambda e: per_cent(f"{100 * e:+.0f} %")),
            Column("low", "Low", "number", words=_digits),
            Column("high", "High", "number", words=_digits),
            Column("held", "", words=lambda held: "" if held else "OUTSIDE"),
        ),
        shown,
        title=title,
    )
    all_of = f"The {LISTED} furthest off of {written(len(known), ',')} figures; --json prints all."
    missing = [p for p in found if p.predicted is None]
    why = listed("llm-not-predicted", (*RUN, Column("why", "Why")), missing[:LISTED], title="Not predicted")
    return page("", chapter(rows, all_of * short), why, error_table(found))


RUN = (Column("source_id", "Run"), Column("quantity", "Figure", of=lambda p: NAMES[p.quantity]))


def _digits(value: float) -> str:
    return written(value, ",.4g") if value < 1e4 else written(value, ",.0f")


def _per_cent(value: float) -> str:
    return points(100 * value)


def error_table(found: Sequence[Prediction]) -> Table:
    """Errors of predictions by figure, and how many were held between low and high."""
    shares = {"median": "Median", "mean": "Mean", "nine_in_ten": "Nine in ten", "held": "In range"}
    columns = (
        Column("name", "Figure"),
        Column("runs", "Runs", "number"),
        *(Column(name, head, "number", words=_per_cent) for name, head in shares.items()),
        Column("width", "High over low", "number", words=two_places),
    )
    rows = [{"name": NAMES[name]} | fields_of(each) for name, each in _errors(found)]
    return listed("llm-errors", columns, rows, title="Errors")
