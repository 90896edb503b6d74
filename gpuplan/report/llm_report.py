"""Runs of language models beside what gpuplan predicts for them, as plain data and as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.llm_calibration import Errors, errors
from gpuplan.analysis.llm_runs import QUANTITIES, Prediction
from gpuplan.locales import per_cent, written
from gpuplan.report.plan_data import plain
from gpuplan.report.table import Column, listed
from gpuplan.report.text import chapter
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
    return {
        "rows": [
            {
                "source_id": p.source_id,
                "quantity": p.quantity,
                "measured": p.measured,
                "predicted": p.predicted,
                "low": p.low,
                "high": p.high,
                "error": p.error,
                "held": p.held,
                "why": p.why,
            }
            for p in found
        ],
        "errors": [{"quantity": name} | plain(e) for name, e in _errors(found)],
    }


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
            Column("source_id", "Run"),
            Column("quantity", "Figure", of=lambda p: NAMES[p.quantity]),
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
    said = (
        f"The {LISTED} furthest off of {written(len(known), ',')} figures; --json prints all."
        if short
        else ""
    )
    missing = [p for p in found if p.predicted is None]
    why = listed(
        "llm-not-predicted",
        (
            Column("source_id", "Run"),
            Column("quantity", "Figure", of=lambda p: NAMES[p.quantity]),
            Column("why", "Why"),
        ),
        missing[:LISTED],
        title="Not predicted",
    )
    parts = (chapter(rows, said), chapter(why), llm_errors_text(found))
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _digits(value: float) -> str:
    return written(value, ",.4g") if value < 1e4 else written(value, ",.0f")


def _per_cent(value: float) -> str:
    return points(100 * value)


def llm_errors_text(found: Sequence[Prediction], title: str = "Errors") -> str:
    """Errors of predictions by figure, and how many were held between low and high."""

    table = listed(
        "llm-errors",
        (
            Column("name", "Figure", of=lambda row: NAMES[row[0]]),
            Column("runs", "Runs", "number", of=lambda row: row[1].runs),
            Column("median", "Median", "number", of=lambda row: row[1].median, words=_per_cent),
            Column("mean", "Mean", "number", of=lambda row: row[1].mean, words=_per_cent),
            Column(
                "nine_in_ten", "Nine in ten", "number", of=lambda row: row[1].nine_in_ten, words=_per_cent
            ),
            Column("held", "In range", "number", of=lambda row: row[1].held, words=_per_cent),
            Column(
                "width",
                "High over low",
                "number",
                of=lambda row: row[1].width,
                words=lambda w: written(w, ".2f"),
            ),
        ),
        _errors(found),
        title=title,
    )
    return chapter(table).rstrip("\n") + "\n"
