"""The tables of the calibration: fitted parameters, targets, errors, and measurements beside predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.calibration import COLD, COLLECTIVE, SERVERS, TRAINING
from gpuplan.analysis.llm_training_calibration import MEMORY, STEPS, TUNING
from gpuplan.catalog import Row
from gpuplan.locales import per_cent
from gpuplan.report.table import Cell, Column, Table, listed
from gpuplan.wording import said

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
        said("table.parameters"),
        (
            Column("item", said("table.parameters.item")),
            Column("parameter", said("table.parameters.parameter")),
            Column("value", said("table.parameters.value"), "number", words=_digits()),
            Column("refitted", said("table.parameters.refitted"), "number", words=_digits(".3g")),
            Column("low", said("table.parameters.low"), "number", words=_digits()),
            Column("high", said("table.parameters.high"), "number", words=_digits()),
            Column("moved", "", words=lambda moved: "moved" * moved),
        ),
        found["parameters"],
    )


def targets(found: Mapping[str, Any]) -> Table:
    """What the models are held to on the rows they were fitted on, and what is reached."""
    return listed(
        "targets",
        said("table.targets"),
        (
            Column("area", said("table.targets.area")),
            Column("rows", said("table.targets.rows"), "number"),
            Column(
                "mean_at_most",
                said("table.targets.mean_at_most"),
                "number",
                of=partial(_error, "mean_at_most"),
            ),
            Column("mean", said("table.targets.mean"), "number", of=partial(_error, "mean")),
            Column(
                "worst_at_most",
                said("table.targets.worst_at_most"),
                "number",
                of=partial(_error, "worst_at_most"),
            ),
            Column("worst", said("table.targets.worst"), "number", of=partial(_error, "worst")),
            Column("met", "", words=lambda met: "met" if met else "NOT MET"),
        ),
        found["targets"],
    )


def errors(found: Mapping[str, Any]) -> Table:
    """Errors of each series, fitted on all series and on the others alone."""
    return listed(
        "errors",
        said("table.errors"),
        (
            Column("area", said("table.errors.area")),
            Column("series", said("table.errors.series"), of=lambda e: e["series"] or "all"),
            Column("how", ""),
            Column("rows", said("table.errors.rows"), "number"),
            Column("mean", said("table.errors.mean"), "number", of=partial(_error, "mean")),
            Column("worst", said("table.errors.worst"), "number", of=partial(_error, "worst")),
            Column("bias", said("table.errors.bias"), "number", of=partial(_error, "bias", sign=True)),
        ),
        [
            {"how": how, **each}
            for area in TARGETS
            for how, errors in (("fitted on", found["errors"]), ("left out", found["left_out"]))
            for each in errors
            if each["area"] == area
        ],
    )


def predictions(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Measurements beside predictions; ``held`` marks those held back, ``shown`` those only shown."""
    return listed(
        "predictions",
        said("table.predictions"),
        (
            Column("id", said("table.predictions.id")),
            Column(
                "measured", said("table.predictions.measured"), "number", of=partial(_measured, "measured")
            ),
            Column(
                "predicted", said("table.predictions.predicted"), "number", of=partial(_measured, "predicted")
            ),
            Column(
                "error", said("table.predictions.error"), "number", of=partial(_error, "error", sign=True)
            ),
            Column("use", "", of=lambda row: "" if row["fitted"] else "held" if row["held"] else "shown"),
        ),
        rows,
    )


def _measured(name: str, row: Mapping[str, Any]) -> Cell:
    return Cell(row[name], words=_digits(".4g", UNITS.get(row["area"], " s"))(row[name]))


def warm_work(rows: Sequence[Row]) -> Table:
    """Published times of warm work: native, over the network, the share kept, and what was added."""
    ms = _digits(".4g", " ms", 1000)
    return listed(
        "warm_work",
        said("table.warm_work"),
        (
            Column("series", said("table.warm_work.series")),
            Column("work", said("table.warm_work.work"), of=lambda row: f"{row['workload']}, {row['phase']}"),
            Column("batch", said("table.warm_work.batch"), "number"),
            Column("link_gbit_s", said("table.warm_work.link_gbit_s"), "number", words=_digits()),
            Column("native_s", said("table.warm_work.native_s"), "number", "s", words=ms),
            Column("remote_s", said("table.warm_work.remote_s"), "number", "s", words=ms),
            Column(
                "kept",
                said("table.warm_work.kept"),
                "share",
                of=lambda row: row["native_s"] / row["remote_s"],
            ),
            Column(
                "added_s",
                said("table.warm_work.added_s"),
                "number",
                "s",
                of=_added,
                words=_digits(".3g", " ms", 1000),
            ),
        ),
        [row.cells for row in rows],
    )


def _added(row: Mapping[str, Any]) -> float:
    return float(row["remote_s"] - row["native_s"])
