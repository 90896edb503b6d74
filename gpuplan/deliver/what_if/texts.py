"""Texts of the page at every position, in the locale of the scenario, so that the page only picks."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from gpuplan.deliver.what_if.answers import Answer, Axis, Position, Refused, WhatIf
from gpuplan.locales import written
from gpuplan.report.drawing import clean_text
from gpuplan.scenario import Problem
from gpuplan.wording import (
    NAMES,
    capital,
    headline_money,
    money,
    number,
    priced,
    said,
    short_number,
    told,
    unit_of,
    watts,
    whole_percent,
)

MINUS = "\u2212"
ISOLATED = "\u2068{}\u2069"
"""Characters around a name, so that right-to-left letters turn nothing beside it."""
FIGURES = NAMES["what-if figure"]
"""Large figures of the page with their names; each has a note, and its difference from the design."""
HEADLINES = {"missing": "whatif.headline missing", "none": "whatif.headline none"}
"""Verdict on what does not fit -> key of the sentence with the answer."""


def named(text: str) -> str:
    """Return a name for a sentence: on one line, with its direction isolated."""
    text = clean_text(text)
    return text if text.isascii() else ISOLATED.format(text)


def label(axis: Axis) -> str:
    """Return the name of an axis."""
    text = NAMES["what-if slider"]["bought price" if axis.bought else axis.kind]
    return told(text, {"name": named(axis.name), "unit": unit_of(2, axis.unit)})


def readout(axis: Axis, at: int) -> str:
    """Return a position with its unit."""
    value = axis.values[at]
    if axis.kind in ("failures", "growth"):
        return said(f"whatif.{axis.kind}", value=value)
    if axis.kind in ("price", "budget"):
        return number(None) if math.isinf(value) else money(value, axis.unit)
    return f"{number(value)} {unit_of(value, axis.unit)}"


def workload(axis: Axis, at: int) -> str:
    """Return a workload with its size at a position."""
    return said("whatif.workload", name=named(axis.name), size=readout(axis, at))


def tick(axis: Axis, at: int) -> str:
    """Return a short form of a position."""
    value = axis.values[at]
    if axis.kind in ("failures", "growth") or math.isinf(value):
        return readout(axis, at)
    return short_number(value) if axis.kind in ("price", "budget") or value >= 10_000 else number(value)


def by(axis: Axis, at: int) -> str:
    """Return the distance of a position from the design, with its sign; empty at the design."""
    now, value = axis.values[axis.own], axis.values[at]
    if axis.kind == "failures" or not now:
        return signed(value - now, number)
    return signed((value - now) / now, whole_percent)


def moved(axis: Axis, at: int) -> str:
    """The same beside the slider."""
    return said("whatif.was", was=readout(axis, axis.own)) if at != axis.own else said("whatif.designed")


class Measure(NamedTuple):
    """A figure by which a position is compared with the design."""

    key: str
    kind: str = "count"
    field: str = ""
    """Name of it in the answer, where it is not the key."""

    def of(self, answer: Answer) -> float | None:
        """The figure of an answer; None where it has none."""
        name, parts = self.field or self.key, (answer, answer.totals, answer.cost)
        return next((getattr(part, name) for part in parts if hasattr(part, name)), None)

    def words(self, value: float, currency: str = "") -> str:
        """Return a size, with the given currency or without one where it appears elsewhere."""
        if self.kind == "money":
            return money(value, currency).strip()
        return watts(value) if self.kind == "power" else number(value)

    def said(self, answer: Answer, currency: str = "") -> str:
        """The figure of an answer, or nothing."""
        value = self.of(answer)
        return "" if value is None else self.words(value, currency)

    def by(self, here: Answer, there: Answer, currency: str = "") -> str:
        """Return the signed difference of this answer from the other; empty where they are equal or one is missing."""
        one, other = self.of(here), self.of(there)
        if one is None or other is None:
            return ""
        if self.kind == "money" and abs(other) < 100:  # as many decimals as the figures themselves
            return signed(one - other, lambda size: priced(written(size, ",.2f"), currency).strip())
        return signed(one - other, lambda size: self.words(size, currency))


def signed(difference: float, words: Callable[[float], str]) -> str:
    """Return a difference with its sign, in words of its size; empty where it would read like zero."""
    size = words(abs(difference))
    shown = any(digit in size for digit in "123456789")
    return f"{'+' if difference > 0 else MINUS}{size}" if shown else ""


MEASURES = (
    *map(Measure, ("hosts", "hosts_at_end", "gpus", "gpus_after_failure")),
    Measure("unplaced_after_failure", field="unplaced_vms_after_failure"),
    *(Measure(key, "money") for key in ("net_present", "low", "high", "upfront", "gpu_hour_used")),
    Measure("typical_w", "power"),
)


BY_KEY = {measure.key: measure for measure in MEASURES}


class Teller:
    """Words the answer of each position beside the design's, in the current locale."""

    def __init__(self, found: WhatIf) -> None:
        self.found, self.designed = found, found.designed
        self.currency = found.scenario.cost.currency
        self.failures = next(n for n, axis in enumerate(found.axes) if axis.kind == "failures")

    def texts(self, position: Position) -> dict[str, str]:
        """Return all texts of a position, by their place on the page."""
        answer = self.found.answers[position]
        if isinstance(answer, Refused):
            return self._refused(answer)
        differences = self._differences(answer)
        return {
            "headline": self._headline(position, answer),
            "sentence": answer.proof,
            "left-out": self._left_out(answer),
            "tone": answer.tone,
            **self._values(answer),
            **{f"{key}-note": note for key, note in self._notes(position, answer).items()},
            **{f"{key}-by": differences[key] or said("whatif.designed") for key in FIGURES},
            **self._rows(answer),
        }

    def _refused(self, answer: Refused) -> dict[str, str]:
        nothing = said("whatif.nothing")
        return {
            "headline": said("whatif.headline refused"),
            "sentence": " ".join(map(self._reason, answer.problems)),
            "left-out": "",
            "tone": "bad",
            **dict.fromkeys(FIGURES, nothing),
            **{f"{key}-{part}": "" for part in ("note", "by") for key in FIGURES},
            **{f"row-{measure.key}{part}": nothing for measure in MEASURES for part in ("", "-by")},
        }

    def _reason(self, problem: Problem) -> str:
        if not problem.path:
            return capital(problem.message)
        called = named(self.found.scenario.label(problem.path))
        return said("whatif.refused", label=called, value=problem.value, allowed=problem.message)

    def _headline(self, position: Position, answer: Answer) -> str:
        money = answer.cost.money if answer.cost else said("executive.no cost")
        fits = {"verdict": answer.note, "missing": answer.missing}
        hosts, what = answer.totals.hosts, self._carried(position)
        key = HEADLINES.get(answer.fits, "whatif.headline yes")
        return said(key, hosts=hosts, what=what, **fits, money=money)

    def _carried(self, position: Position) -> str:
        axis, at = self.found.axes[0], position[0]
        if axis.kind == "total":
            return said("whatif.demand", size=readout(axis, at))
        what = workload(axis, at)
        return said("whatif.workloads", what=what) if len(self.found.scenario.groups) > 1 else what

    def _left_out(self, answer: Answer) -> str:
        excluded = self.designed.cost.excludes if self.designed.cost else ()
        more = [item for item in answer.cost.excludes if item not in excluded] if answer.cost else []
        return said("whatif.left out", names="; ".join(more)) if more else ""

    def _values(self, answer: Answer) -> dict[str, str]:
        totals, hour = answer.totals, BY_KEY["gpu_hour_used"].said(answer, self.currency)
        texts = {"hosts": number(totals.hosts), "gpus": number(totals.gpus), "placed": answer.short}
        texts |= {"cost": answer.cost.price if answer.cost else "", "hour": hour}
        texts["power"] = watts(answer.typical_w)
        return {key: text or said("whatif.nothing") for key, text in texts.items()}

    def _notes(self, position: Position, answer: Answer) -> dict[str, str]:
        lost = max(1, int(self.found.axes[self.failures].values[position[self.failures]]))
        totals, cost = answer.totals, answer.cost
        needed, spare = number(totals.hosts_for_demand), number(totals.hosts_for_failures)
        left = said("whatif.gpus note", gpus=number(totals.gpus_after_failure), lost=lost)
        notes = {"hosts": said("whatif.hosts note", needed=needed, spare=spare), "gpus": left}
        notes |= {"placed": answer.note, "cost": self._range(answer)}
        notes["hour"] = said("whatif.hour note", share=cost.utilisation) if cost else ""
        return notes | {"power": said("whatif.power note", peak=watts(answer.peak_w))}

    def _range(self, answer: Answer) -> str:
        cost = answer.cost
        if cost is None or not cost.span:
            return ""
        key = "whatif.cost note with growth" if cost.grows else "whatif.cost note"
        return said(key, span=cost.span, hosts=cost.hosts_at_end)

    def _differences(self, answer: Answer) -> dict[str, str]:
        """Return each figure of the design with the difference from it; empty without any."""
        other = self.designed
        measures = {"hosts": "hosts", "gpus": "gpus", "hour": "gpu_hour_used"}
        changes = {key: BY_KEY[name].by(answer, other, self.currency) for key, name in measures.items()}
        changes |= {"power": signed(answer.typical_w - other.typical_w, watts), "cost": ""}
        if answer.cost and other.cost:
            more = answer.cost.net_present - other.cost.net_present
            changes["cost"] = signed(more, lambda size: headline_money(size, self.currency))
        was = self._values(other)
        texts = {key: said("whatif.was by", was=was[key], by=by) if by else "" for key, by in changes.items()}
        here, before = ((design.short, design.note) for design in (answer, other))
        return texts | {"placed": said("whatif.was", was=before[1]) if here != before else ""}

    def over_budget(self, position: Position, limit: float) -> str:
        """Say how much a position, or the high end of its range, costs more than a budget; empty where neither does."""
        answer = self.found.answers[position]
        cost = answer.cost if isinstance(answer, Answer) else None
        if cost is None or cost.high <= limit:
            return ""
        more = max(cost.net_present - limit, 0.0)
        over, budget = (headline_money(size, self.currency) for size in (more or cost.high - limit, limit))
        return said("whatif.over budget" if more else "whatif.over budget at high", over=over, budget=budget)

    def point(self, position: Position) -> dict[str, Any]:
        """Return a position of the chart by size; without a cost where it is not planned, yet or at all."""
        (axis, *_), (at, *_), answer = self.found.axes, position, self.found.answers.get(position)
        words = self.texts(position) if answer else {"headline": said("whatif.planning")}
        cost = answer.cost if isinstance(answer, Answer) else None
        planned = not isinstance(answer, Refused) and not (answer and answer.missing)
        return {
            "value": axis.values[at],
            **{key: getattr(cost, key, None) for key in ("net_present", "low", "high", "price", "money")},
            **{key: words.get(key, said("whatif.nothing")) for key in ("hosts", "headline")},
            "tick": tick(axis, at),
            "words": readout(axis, at),
            "bad": not planned,
            "click": {"type": "what-if", "path": axis.path, "at": at},
        }

    def _rows(self, answer: Answer) -> dict[str, str]:
        texts = {}
        for measure in MEASURES:
            text, by = measure.said(answer), measure.by(answer, self.designed)
            texts[f"row-{measure.key}"] = text or said("whatif.nothing")
            texts[f"row-{measure.key}-by"] = by or said("whatif.same")
        return texts
