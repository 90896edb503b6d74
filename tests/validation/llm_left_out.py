"""Errors on sources that no fit has seen, as `tests/VALIDATION.md` and chapter 8 state them.

A fit without a source takes a minute, so its parameters are kept beside this file: `python -m validation --left-out` in tests/
fits again, keeps them and prints both tables. The tests compare page and chapter with predictions by the parameters kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

from gpuplan.analysis.llm_predictions import QUANTITIES, Prediction, errors
from gpuplan.analysis.llm_runs import runs_of
from gpuplan.catalog import Catalog
from gpuplan.models.llm.speeds import Speeds
from validation.llm_fit import LeftOut, held, left_out, sources, without

KEPT = Path(__file__).with_suffix(".json")
NAMES = {"tpot_ms": "time per token", "ttft_ms": "first token", "tokens_per_s": "tokens a second"}
LOADS = {"served": "as they come", "loop": "closed loop", "offline": "offline", "other": "other"}
COLUMNS = ("runs", "median", "mean", "nine in ten", "signed", "held", "high / low")
WHOLE = ("source left out", "figure")
PARTS = ("without", "figure", "load", "kind")
"""First columns of the two tables: of each source and figure, and by load and kind of model."""


class Seen(NamedTuple):
    """A figure of a source that was left out, within the range that all other sources give."""

    source: str
    load: str
    experts: bool
    prediction: Prediction


def keep(catalog: Catalog, file: Path = KEPT) -> None:
    """Fit without each source, and keep the parameters."""
    found = {group.name: group.speeds for group in left_out(catalog)}
    rounded = {
        name: {key: float(f"{value:.6g}") for key, value in asdict(speeds).items()}
        for name, speeds in found.items()
    }
    file.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


def kept_fits(catalog: Catalog, file: Path = KEPT) -> tuple[LeftOut, ...]:
    """Each source predicted by the parameters kept, which were fitted without it."""
    fits: Mapping[str, Mapping[str, float]] = json.loads(file.read_text(encoding="utf-8"))
    runs = runs_of(catalog)
    group = sources(runs)
    return tuple(without(catalog, runs, group, name, Speeds(**values)) for name, values in fits.items())


def seen(found: Sequence[LeftOut]) -> tuple[Seen, ...]:
    """All figures, each within the range of the other sources."""
    within = held(found)
    return tuple(
        Seen(group.name, figure.load, figure.experts, prediction)
        for group in found
        for figure, prediction in zip(group.figures, within[group.name], strict=True)
    )


def whole_rows(figures: Iterable[Seen]) -> list[tuple[str, ...]]:
    """A row for each source and figure."""
    return _rows(figures, lambda each: (each.source, NAMES[each.prediction.quantity]))


def part_rows(figures: Iterable[Seen]) -> list[tuple[str, ...]]:
    """A row for each source, figure, load and kind of model."""
    return _rows(
        figures,
        lambda each: (
            each.source,
            NAMES[each.prediction.quantity],
            LOADS[each.load],
            "experts" if each.experts else "dense",
        ),
    )


def _rows(figures: Iterable[Seen], by: Callable[[Seen], tuple[str, ...]]) -> list[tuple[str, ...]]:
    parts: dict[tuple[str, ...], list[Prediction]] = {}
    for each in sorted(figures, key=_place):
        parts.setdefault(by(each), []).append(each.prediction)
    rows = []
    for key, predictions in parts.items():
        off = errors(predictions)
        assert off is not None
        shares = (off.median, off.mean, off.nine_in_ten)
        signed = f"{off.signed:+.0%}".replace("-0%", "+0%")
        row = (*key, str(off.runs), *(f"{share:.0%}" for share in shares), signed)
        rows.append((*row, f"{off.held:.0%}", f"{off.width:.1f}"))
    return [tuple(cell.replace("%", " %") for cell in row) for row in rows]


def _place(of: Seen) -> tuple[str, int, int, bool]:
    return of.source, QUANTITIES.index(of.prediction.quantity), list(LOADS).index(of.load), of.experts


class Aim(NamedTuple):
    """What is aimed at on sources that no fit has seen: an error of theirs between two bounds."""

    name: str
    error: str
    """Field of ``Errors``."""
    low: float
    high: float
    quantities: tuple[str, ...] = QUANTITIES
    loads: tuple[str, ...] = tuple(LOADS)
    kinds: tuple[bool, ...] = (False, True)
    """True: mixtures of experts."""


TOKEN, FIRST, RATE = ((quantity,) for quantity in QUANTITIES)
BUSY = ("offline", "other")
AIMS = (
    Aim("time per token: median at most 12 %", "median", 0, 0.12, TOKEN),
    Aim("time per token: mean at most 18 %", "mean", 0, 0.18, TOKEN),
    Aim("time per token: nine in ten within 35 %", "nine_in_ten", 0, 0.35, TOKEN),
    Aim("first token: median at most 35 %", "median", 0, 0.35, FIRST),
    Aim("first token: signed median within 15 %", "signed", -0.15, 0.15, FIRST),
    Aim("rate offline or in a burst, dense: median at most 20 %", "median", 0, 0.2, RATE, BUSY, (False,)),
    Aim("rate offline or in a burst, experts: median at most 30 %", "median", 0, 0.3, RATE, BUSY, (True,)),
    Aim("time per token: 78 to 90 % within the range", "held", 0.78, 0.9, TOKEN),
    Aim("first token: 78 to 90 % within the range", "held", 0.78, 0.9, FIRST),
    Aim("rate: 78 to 90 % within the range", "held", 0.78, 0.9, RATE),
)


def aim_rows(figures: Sequence[Seen]) -> list[tuple[str, ...]]:
    """A row for each aim: sources that meet it, and those that miss it with what they reach."""
    rows = []
    for aim in AIMS:
        parts: dict[str, list[Prediction]] = {}
        for each in figures:
            wanted = each.prediction.quantity in aim.quantities and each.load in aim.loads
            if wanted and each.experts in aim.kinds:
                parts.setdefault(each.source, []).append(each.prediction)
        reached = {name: getattr(errors(found), aim.error) for name, found in parts.items()}
        sign = "+" if aim.low < 0 else ""
        missed = {n: f"{value:{sign}.1%}" for n, value in reached.items() if not aim.low <= value <= aim.high}
        met = ", ".join(name for name in reached if name not in missed)
        words = ", ".join(f"{name} {value}".replace("%", " %") for name, value in missed.items())
        rows.append((aim.name, met or "–", words or "–"))
    return rows


FAMILY, LEAST = 0.35, 10
"""Signed median beyond which a model of a source is named, and its least figures."""


def far_models(catalog: Catalog, figures: Iterable[Seen]) -> list[tuple[str, ...]]:
    """A row for each model of a source whose times per token or rates are off to one side by more than a third."""
    model = {run.id: run.model for run in runs_of(catalog)}
    parts: dict[tuple[str, str, str], list[float]] = {}
    for each in sorted(figures, key=_place):
        if (found := each.prediction).quantity not in FIRST and found.error is not None:
            key = (each.source, model[found.source_id], NAMES[found.quantity])
            parts.setdefault(key, []).append(found.error)
    signed = {key: median(off) for key, off in parts.items() if len(off) >= LEAST}
    far = {key: value for key, value in signed.items() if abs(value) > FAMILY}
    return [(*key, str(len(parts[key])), f"{value:+.0%}".replace("%", " %")) for key, value in far.items()]


def page(catalog: Catalog, figures: Sequence[Seen]) -> str:
    """All tables as `tests/VALIDATION.md` has them."""
    tables = (
        markdown((*WHOLE, *COLUMNS), whole_rows(figures)),
        markdown(("aim", "met", "missed"), aim_rows(figures)),
        markdown(("source left out", "model", "figure", "runs", "signed"), far_models(catalog, figures)),
        markdown((*PARTS, *COLUMNS), part_rows(figures)),
    )
    return "\n".join(tables)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of a page."""
    lines = (head, *rows)
    first, *rest = ("| " + " | ".join(line) + " |\n" for line in lines)
    return "".join((first, "|" + "---|" * len(head) + "\n", *rest))
