"""The tables of the calibration: fitted parameters, targets, errors, and measurements beside predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean, median
from typing import Any

from gpuplan.locales import per_cent
from gpuplan.report.table import Cell, Column, Table, listed
from gpuplan.wording import points
from validation.calibration import COLD, COLLECTIVE, SERVERS, TRAINING
from validation.llm_memory_runs import Kept
from validation.llm_training_calibration import MEMORY, STEPS, TUNING

STUN, WORST_STUN = "vMotion stun", "vMotion stun, worst case"
TARGETS: dict[str, tuple[float | None, float]] = {
    TRAINING: (0.10, 0.20),
    SERVERS: (None, 0.10),
    COLLECTIVE: (0.15, 0.45),
    COLD: (0.10, 0.22),
    STEPS: (0.10, 0.25),
    TUNING: (0.15, 0.80),
    MEMORY: (0.10, 0.40),
    STUN: (None, 2.0),
    WORST_STUN: (None, 2.0),
}
"""Area -> mean and largest error that the models are held to on the published rows."""


UNITS = {SERVERS: "", STEPS: "/s", TUNING: "/s", MEMORY: " GB"}
"""Area -> what its measurements are in, where that is not seconds."""


def error_words(area: str, error: float, *, sign: bool = False) -> str:
    """An error as its area states it: per cent, difference of efficiency, or seconds."""
    if area in (STUN, WORST_STUN):
        shown, digits, unit = error, 1, " s"
    elif area == SERVERS:
        shown, digits, unit = error, 3, ""
    else:
        shown, digits, unit = 100 * error, 1, " %"
    shown = round(shown, digits)
    plus = "+" if sign and shown > 0 else ""
    return per_cent(f"{plus}{shown or 0:.{digits}f}{unit}")


def _error(name: str, row: Mapping[str, Any], *, sign: bool = False) -> Cell:
    error = row[name]
    return Cell(error, words="" if error is None else error_words(row["area"], error, sign=sign))


def _digits(shape: str = "g", unit: str = "", times: float = 1) -> Callable[[float | None], str]:
    """How a value reads with some digits, in a unit of which it is so many."""
    return lambda value: "" if value is None else f"{times * value:{shape}}{unit}"


def parameters(found: Mapping[str, Any]) -> Table:
    """Fitted parameters: the value of the catalog, fitted again, and the range."""
    return listed(
        "parameters",
        (
            Column("item", "Item"),
            Column("parameter", "Parameter"),
            Column("value", "Catalog", "number", words=_digits()),
            Column("refitted", "Refitted", "number", words=_digits(".3g")),
            Column("low", "Low", "number", words=_digits()),
            Column("high", "High", "number", words=_digits()),
            Column("moved", "", words=lambda moved: "moved" * moved),
        ),
        found["parameters"],
        title="Fitted parameters",
    )


def targets(found: Mapping[str, Any]) -> Table:
    """What the models are held to on the rows they were fitted on, and what is reached."""
    return listed(
        "targets",
        (
            Column("area", "Area"),
            Column("rows", "Rows", "number"),
            Column(
                "mean_at_most",
                "Mean at most",
                "number",
                of=partial(_error, "mean_at_most"),
            ),
            Column("mean", "Mean", "number", of=partial(_error, "mean")),
            Column(
                "worst_at_most",
                "Worst at most",
                "number",
                of=partial(_error, "worst_at_most"),
            ),
            Column("worst", "Worst", "number", of=partial(_error, "worst")),
            Column("met", "", words=lambda met: "met" if met else "NOT MET"),
        ),
        found["targets"],
        title="Targets",
    )


def errors(found: Mapping[str, Any]) -> Table:
    """Errors of each series, fitted on all series and on the others alone."""
    return listed(
        "errors",
        (
            Column("area", "Area"),
            Column("series", "Series", of=lambda e: e["series"] or "all"),
            Column("how", ""),
            Column("rows", "Rows", "number"),
            Column("mean", "Mean", "number", of=partial(_error, "mean")),
            Column("worst", "Worst", "number", of=partial(_error, "worst")),
            Column("bias", "Bias", "number", of=partial(_error, "bias", sign=True)),
        ),
        [
            {"how": how, **each}
            for area in TARGETS
            for how, errors in (("fitted on", found["errors"]), ("left out", found["left_out"]))
            for each in errors
            if each["area"] == area
        ],
        title="Errors",
    )


def predictions(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Measurements beside predictions; ``held`` marks those held back, ``shown`` those only shown."""
    return listed(
        "predictions",
        (
            Column("id", "Row"),
            Column("measured", "Measured", "number", of=partial(_measured, "measured")),
            Column("predicted", "Predicted", "number", of=partial(_measured, "predicted")),
            Column("error", "Error", "number", of=partial(_error, "error", sign=True)),
            Column("use", "", of=lambda row: "" if row["fitted"] else "held" if row["held"] else "shown"),
        ),
        rows,
        title="Measured and predicted",
    )


def _measured(name: str, row: Mapping[str, Any]) -> Cell:
    return Cell(row[name], words=_digits(".4g", UNITS.get(row["area"], " s"))(row[name]))


MEMORY_FIGURES = {
    "weights": "Weights",
    "cache": "Room for the cache",
    "tokens": "Tokens in the cache",
    "fits": "Whether it fits (wrong)",
}


def memory(found: Sequence[Kept]) -> Table:
    """Errors of each figure of memory that engines printed."""
    off = {name: [abs(f.error) for f in found if f.quantity == name] for name in MEMORY_FIGURES}
    return listed(
        "llm-memory",
        (
            Column("name", "Figure", of=lambda name: MEMORY_FIGURES[name]),
            Column("figures", "Figures", "number", of=lambda name: len(off[name])),
            Column("median", "Median", "number", of=lambda name: median(off[name]), words=_per_cent),
            Column("mean", "Mean", "number", of=lambda name: fmean(off[name]), words=_per_cent),
        ),
        [name for name in MEMORY_FIGURES if off[name]],
        title="Memory",
    )


def _per_cent(value: float) -> str:
    return points(100 * value)
