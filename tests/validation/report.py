"""The network models against published measurements, with their parameters fitted again, as plain data and as text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.locales import written
from gpuplan.models.availability import stun_time_s, worst_stun_time_s
from gpuplan.plan.training.llm import ITEM
from gpuplan.plan.training.scaling import WIDTH
from gpuplan.plan.weighing import stun_item
from gpuplan.report.plan_data import plain
from gpuplan.report.text import chapter, heading, text, wrapped
from validation import tables
from validation.calibration import (
    ITEMS,
    MEASURED,
    SERVERS,
    TRAINING,
    Errors,
    Point,
    errors,
    fit,
    mean_width,
    points,
    unseen,
)
from validation.llm_memory_runs import Kept
from validation.llm_training_calibration import (
    NAMES,
    STEPS,
    fit_of,
    fit_training,
    held_by_ranges,
    left_out_errors,
    mean_speed_width,
    training_points,
)
from validation.tables import STUN, TARGETS, WORST_STUN

WORST_ROWS = 12
"""Rows with the largest errors that are listed."""


def calibration_dict(catalog: Catalog) -> dict[str, Any]:
    """The models of network and training against published measurements, with their parameters fitted again, as plain JSON values.

    Keys ``parameters`` (``value`` of the catalog, ``refitted``, ``low``, ``high``, ``moved``), ``moved``
    (whether any differs by more than rounding to three digits), ``errors`` (in sample: by area, then by area
    and series, "" being all of them), ``left_out`` (the same by source, each predicted by parameters fitted on
    the others), ``ranges`` (unseen rows, how many of them lie in the range that a plan prints, and its mean width), ``targets``, and ``rows``.

    Errors are relative; of parameter servers they are differences of efficiency, of vMotion seconds.
    """
    parameters = _parameters(catalog)
    left_out = (*(e for area in ITEMS for e in _left_out(catalog, area)), *left_out_errors(catalog))
    return predicted_dict(catalog) | {
        "parameters": parameters,
        "moved": any(p["moved"] for p in parameters),
        "left_out": [plain(e) for e in left_out],
        "ranges": _ranges(catalog),
    }


def predicted_dict(catalog: Catalog) -> dict[str, Any]:
    """Published measurements against predictions with the catalog's parameters: ``errors``, ``targets`` and ``rows`` of `calibration_dict`."""
    found = [*points(catalog), *training_points(catalog), *_stuns(catalog)]
    on = [p for p in found if p.fitted]
    totals = _errors(on)
    notes = {row.id: row["note"] or "" for name in _MEASURED for row in catalog.rows(name)}
    return {
        "errors": [plain(e) for e in (*totals, *_errors(on, by_series=True))],
        "targets": [
            {
                "area": e.area,
                "rows": e.rows,
                "mean_at_most": TARGETS[e.area][0],
                "mean": e.mean,
                "worst_at_most": TARGETS[e.area][1],
                "worst": e.worst,
                "met": e.mean <= (TARGETS[e.area][0] or math.inf) and e.worst <= TARGETS[e.area][1],
            }
            for e in totals
        ],
        "rows": [plain(p) | {"error": _error(p), "note": notes.get(p.id, "")} for p in found],
    }


_MEASURED = (*MEASURED, "llm_training", "stun_times")


def _ranges(catalog: Catalog) -> list[dict[str, Any]]:
    """How many unseen rows the ranges of a plan hold, and how wide those of training across hosts are on average."""
    inside, rows = held_by_ranges(catalog)
    return [
        *(
            {
                "area": area,
                "rows": catalog.assumptions[ITEMS[area]].fact("unseen_rows").value,
                "inside": catalog.assumptions[ITEMS[area]].fact("unseen_inside").value,
                "mean_width": mean_width(unseen(catalog, area), **_width(catalog, area)),
            }
            for area in (TRAINING, SERVERS)
        ),
        {"area": STEPS, "rows": rows, "inside": inside, "mean_width": mean_speed_width(catalog)},
    ]


def _left_out(catalog: Catalog, area: str) -> tuple[Errors, ...]:
    """Errors of an area on rows that were predicted without their source: all of them, then each source."""
    found = unseen(catalog, area)
    return *errors(replace(p, series="") for p in found), *errors(found, by_series=True)


def _width(catalog: Catalog, area: str) -> dict[str, float]:
    held = catalog.assumptions[ITEMS[area]]
    return {name: float(held.fact(name).value) for name in WIDTH}


def _parameters(catalog: Catalog) -> list[dict[str, Any]]:
    rows = [
        _parameter(catalog, area, item, name, refitted)
        for area, item in ITEMS.items()
        for name, refitted in fit(catalog, area).items()
    ]
    for area in NAMES:
        for name, refitted in fit_of(fit_training(catalog, area), area).items():
            rows.append(_parameter(catalog, area, ITEM, name, refitted))
    return rows


def _parameter(catalog: Catalog, area: str, item: str, name: str, refitted: float) -> dict[str, Any]:
    fact = catalog.assumptions[item].fact(name)
    value = float(fact.value)
    return {
        "area": area,
        "item": item,
        "parameter": name,
        "unit": fact.unit,
        "value": value,
        "refitted": refitted,
        "low": fact.low,
        "high": fact.high,
        "moved": not same_to_three_digits(value, refitted),
    }


def same_to_three_digits(held: float, refitted: float) -> bool:
    """Whether a value differs from one that was rounded to three digits by less than one of the third."""
    return abs(refitted - held) < 10.0 ** (math.floor(math.log10(held)) - 2)


def _stuns(catalog: Catalog) -> list[Point]:
    """Each published stun of vMotion beside its prediction."""
    worst = catalog.assumptions["vmotion-worst-stun-10g"]
    rates = {
        name: float(worst.fact(name).value) for name in ("fixed_s", "copy_rate_gb_s", "memory_rate_gb_s")
    }
    found = []
    for row in catalog.rows("stun_times"):
        size, memory = float(row["frame_buffer_gb"]), row["vm_memory_gb"]
        if memory is None:
            line = stun_item(catalog, row["vsphere"], row["gpu"])
            seen = stun_time_s(
                size,
                fixed_s=float(line.fact("fixed_s").value),
                copy_rate_gb_s=float(line.fact("copy_rate_gb_s").value),
            )
            area, what = STUN, f"{written(size, 'g')} GB of frame buffer in use"
        else:
            seen = worst_stun_time_s(size, vm_memory_gb=memory, **rates)
            area, what = WORST_STUN, f"{written(size, 'g')} GB of vGPUs, VM with {written(memory, 'g')} GB"
        series = f"vSphere {row['vsphere']}"
        found.append(Point(row.id, series, area, what, True, float(row["stun_s"]), seen))
    return found


def _error(point: Point) -> float:
    """Relative error; for parameter servers the difference of efficiency, for vMotion of seconds."""
    if point.area in (STUN, WORST_STUN):
        return point.predicted - point.measured
    return point.error


def _errors(found: Sequence[Point], *, by_series: bool = False) -> tuple[Errors, ...]:
    """Errors by area (and series), those of vMotion in seconds."""
    known = [p for p in found if p.area not in (STUN, WORST_STUN)]
    groups: dict[tuple[str, str], list[float]] = {}
    for point in found:
        if point.area in (STUN, WORST_STUN):
            groups.setdefault((point.area, point.series if by_series else ""), []).append(_error(point))
    return (
        *errors(known, by_series=by_series),
        *(
            Errors(area, series, len(e), sum(map(abs, e)) / len(e), max(map(abs, e)), sum(e) / len(e))
            for (area, series), e in groups.items()
        ),
    )


def calibration_text(found: Mapping[str, Any]) -> str:
    """What ``calibration_dict`` found, as text: parameters, targets, errors in sample and left out, and the largest errors."""
    moved = [p["parameter"] for p in found["parameters"] if p["moved"]]
    verdict = (
        f"The catalog values differ from the fit: {', '.join(moved)}. Write the refitted values into data/assumptions.csv "
        "and the defaults of the models."
        if moved
        else "The catalog matches the fit, to three digits."
    )
    parts = [
        chapter(tables.parameters(found)),
        wrapped(verdict),
        chapter(tables.targets(found)),
        chapter(tables.errors(found)),
        wrapped(ranges_text(found)),
        heading("Rows with the largest errors") + worst_text(found),
    ]
    return "\n\n".join(parts) + "\n"


def ranges_text(found: Mapping[str, Any]) -> str:
    """How many unseen measurements the printed ranges hold."""
    held = (
        f"{each['inside']} of {each['rows']} ({each['area']}), {100 * each['mean_width']:.0f} points wide on average"
        for each in found["ranges"]
    )
    return f"Ranges of a plan held, of published rows predicted without their source: {'; '.join(held)}."


def worst_text(found: Mapping[str, Any], rows: int = WORST_ROWS) -> str:
    """The rows of training and remoting whose prediction is furthest off, those fitted on, held back and only shown."""
    known = [r for r in found["rows"] if r["area"] in (*ITEMS, *NAMES)]
    return _rows_text(sorted(known, key=lambda r: -abs(r["error"]))[:rows])


def _rows_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Measurements beside predictions; why nothing was fitted on some of them is said below."""
    notes = Counter(r["note"] for r in rows if not r["fitted"] and not r["held"])
    said = [
        wrapped(f"Only shown, not fitted on ({count} of these rows): {note}") for note, count in notes.items()
    ]
    return "\n".join([text(tables.predictions(rows)), *said])


def memory_text(memory: Sequence[Kept]) -> str:
    """Errors of what is worked out of an engine's memory."""
    return chapter(tables.memory(memory)).rstrip("\n") + "\n"
