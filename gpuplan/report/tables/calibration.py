"""The tables of the calibration: fitted parameters, targets, errors, and measurements beside predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuplan.analysis.calibration import COLD, SERVERS, TRAINING
from gpuplan.catalog import Row
from gpuplan.report.table import Cell, Column, Table

STUN, WORST_STUN = "vMotion stun", "vMotion stun, worst case"
TARGETS: dict[str, tuple[float | None, float]] = {
    TRAINING: (0.10, 0.20),
    SERVERS: (None, 0.10),
    COLD: (0.10, 0.22),
    STUN: (None, 2.0),
    WORST_STUN: (None, 2.0),
}
"""Area -> mean and largest error that the models are held to on the published rows."""


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
    return f"{plus}{shown or 0:.{digits}f}{unit}"


def _error(area: str, error: float | None, *, sign: bool = False) -> Cell:
    return Cell(error, words="" if error is None else error_words(area, error, sign=sign))


def _digits(value: float | None, shape: str = "g", unit: str = "") -> Cell:
    return Cell(value, words="" if value is None else f"{value:{shape}}{unit}")


def parameters(found: Mapping[str, Any]) -> Table:
    """Fitted parameters: the value of the catalog, fitted again, and the range."""
    return Table(
        "parameters",
        "Parameters of the network models",
        (
            Column("item", "Item"),
            Column("parameter", "Parameter"),
            Column("value", "Catalog", "number"),
            Column("refitted", "Refitted", "number"),
            Column("low", "Low", "number"),
            Column("high", "High", "number"),
            Column("moved", ""),
        ),
        tuple(
            (
                p["item"],
                p["parameter"],
                _digits(p["value"]),
                _digits(p["refitted"], ".3g"),
                _digits(p["low"]),
                _digits(p["high"]),
                Cell(p["moved"], words="moved" * p["moved"]),
            )
            for p in found["parameters"]
        ),
    )


def targets(found: Mapping[str, Any]) -> Table:
    """What the models are held to on the rows they were fitted on, and what is reached."""
    return Table(
        "targets",
        "Targets",
        (
            Column("area", "Area"),
            Column("rows", "Rows", "number"),
            Column("mean_at_most", "Mean at most", "number"),
            Column("mean", "Mean", "number"),
            Column("worst_at_most", "Worst at most", "number"),
            Column("worst", "Worst", "number"),
            Column("met", ""),
        ),
        tuple(
            (
                t["area"],
                t["rows"],
                *(_error(t["area"], t[name]) for name in ("mean_at_most", "mean", "worst_at_most", "worst")),
                Cell(t["met"], words="met" if t["met"] else "NOT MET"),
            )
            for t in found["targets"]
        ),
    )


def errors(found: Mapping[str, Any]) -> Table:
    """Errors of each series, fitted on all series and on the others alone."""
    return Table(
        "errors",
        "Errors",
        (
            Column("area", "Area"),
            Column("series", "Series"),
            Column("how", ""),
            Column("rows", "Rows", "number"),
            Column("mean", "Mean", "number"),
            Column("worst", "Worst", "number"),
            Column("bias", "Bias", "number"),
        ),
        tuple(
            (
                area,
                e["series"] or "all",
                how,
                e["rows"],
                _error(area, e["mean"]),
                _error(area, e["worst"]),
                _error(area, e["bias"], sign=True),
            )
            for area in TARGETS
            for how, listed in (("fitted on", found["errors"]), ("left out", found["left_out"]))
            for e in listed
            if e["area"] == area
        ),
    )


def predictions(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Measurements beside predictions; ``shown`` marks those on which nothing was fitted."""
    return Table(
        "predictions",
        "Measured and predicted",
        (
            Column("id", "Row"),
            Column("measured", "Measured", "number"),
            Column("predicted", "Predicted", "number"),
            Column("error", "Error", "number"),
            Column("fitted", ""),
        ),
        tuple(
            (
                r["id"],
                *(
                    _digits(r[name], ".4g", "" if r["area"] == SERVERS else " s")
                    for name in ("measured", "predicted")
                ),
                _error(r["area"], r["error"], sign=True),
                Cell(r["fitted"], words="" if r["fitted"] else "shown"),
            )
            for r in rows
        ),
    )


def warm_work(rows: Sequence[Row]) -> Table:
    """Published times of warm work: native, over the network, the share kept, and what was added."""
    return Table(
        "warm_work",
        "Warm work over the network",
        (
            Column("series", "Series"),
            Column("work", "Work"),
            Column("batch", "Batch", "number"),
            Column("link_gbit_s", "Gbit/s", "number"),
            Column("native_s", "Native", "number", "s"),
            Column("remote_s", "Remote", "number", "s"),
            Column("kept", "Kept", "share"),
            Column("added_s", "Added", "number", "s"),
        ),
        tuple(
            (
                row["series"],
                f"{row['workload']}, {row['phase']}",
                row["batch"],
                _digits(row["link_gbit_s"]),
                Cell(row["native_s"], words=f"{1000 * row['native_s']:.4g} ms"),
                Cell(row["remote_s"], words=f"{1000 * row['remote_s']:.4g} ms"),
                row["native_s"] / row["remote_s"],
                Cell(
                    row["remote_s"] - row["native_s"],
                    words=f"{1000 * (row['remote_s'] - row['native_s']):.3g} ms",
                ),
            )
            for row in rows
        ),
    )
