"""Texts of the page at every position, in the locale of the scenario, so that the page only picks."""

from __future__ import annotations

from gpuplan.deliver.what_if.answers import Answer, Position, Refused, WhatIf
from gpuplan.deliver.what_if.words import MEASURES, named, readout, signed
from gpuplan.scenario import Problem
from gpuplan.wording import (
    capital,
    headline_money,
    number,
    said,
    watts,
)

BY_KEY = {measure.key: measure for measure in MEASURES}
FIGURES = ("hosts", "gpus", "placed", "cost", "hour", "power")
"""Large figures of the page; each has a note, and its difference from the design."""


HEADLINES = {
    "all": "whatif.headline all",
    "lost": "whatif.headline lost",
    "unknown": "whatif.headline unknown",
    "missing": "whatif.headline missing",
    "none": "whatif.headline none",
}
"""State of the placement -> key of the sentence with the answer."""


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
            "sentence": answer.placed.sentence,
            "left-out": self._left_out(answer),
            "tone": answer.placed.tone,
            **self._values(answer),
            **{f"{key}-note": note for key, note in self._notes(position, answer).items()},
            **{f"{key}-by": differences[key] or said("whatif.designed") for key in FIGURES},
            **self._rows(answer),
        }

    def _refused(self, answer: Refused) -> dict[str, str]:
        """Return the texts where there is no plan."""
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

    # The answer in a sentence

    def _headline(self, position: Position, answer: Answer) -> str:
        placed = answer.placed
        return said(
            HEADLINES[placed.state],
            hosts=answer.totals.hosts,
            what=self._carried(position),
            failures=placed.failures,
            lost=placed.lost,
            missing=placed.missing,
            money=answer.cost.money if answer.cost else said("executive.no cost"),
        )

    def _carried(self, position: Position) -> str:
        """Say what the hosts carry, by the size that is moved."""
        axis, size = self.found.axes[0], readout(self.found.axes[0], position[0])
        if axis.kind == "total":
            return said("whatif.demand", size=size)
        what = said("whatif.workload", name=named(axis.name), size=size)
        return said("whatif.workloads", what=what) if len(self.found.scenario.groups) > 1 else what

    def _left_out(self, answer: Answer) -> str:
        """Say what this cost excludes beyond the design's exclusions."""
        own = self.designed.cost.excludes if self.designed.cost else ()
        more = [each for each in answer.cost.excludes if each not in own] if answer.cost else []
        return said("whatif.left out", names="; ".join(more)) if more else ""

    # The large figures

    def _values(self, answer: Answer) -> dict[str, str]:
        found = {
            "hosts": number(answer.totals.hosts),
            "gpus": number(answer.totals.gpus),
            "placed": answer.placed.short,
            "cost": answer.cost.price if answer.cost else "",
            "hour": BY_KEY["gpu_hour_used"].said(answer, self.currency),
            "power": watts(answer.typical_w),
        }
        return {key: text or said("whatif.nothing") for key, text in found.items()}

    def _notes(self, position: Position, answer: Answer) -> dict[str, str]:
        """Return the note for each figure."""
        lost = max(1, int(self.found.axes[self.failures].values[position[self.failures]]))
        totals, cost = answer.totals, answer.cost
        needed, spare = number(totals.hosts_for_demand), number(totals.hosts_for_failures)
        return {
            "hosts": said("whatif.hosts note", needed=needed, spare=spare),
            "gpus": said("whatif.gpus note", gpus=number(totals.gpus_after_failure), lost=lost),
            "placed": answer.placed.note,
            "cost": self._range(answer),
            "hour": said("whatif.hour note", share=cost.utilisation) if cost else "",
            "power": said("whatif.power note", peak=watts(answer.peak_w)),
        }

    def _range(self, answer: Answer) -> str:
        """The range of the cost, and how many hosts it grows to."""
        cost = answer.cost
        if cost is None or not cost.span:
            return ""
        key = "whatif.cost note with growth" if cost.grows else "whatif.cost note"
        return said(key, span=cost.span, hosts=cost.hosts_at_end)

    def _differences(self, answer: Answer) -> dict[str, str]:
        """Return the difference of each figure from the design; empty without any."""
        other = self.designed
        found = {
            key: BY_KEY[key].by(answer, other, self.currency) for key in ("hosts", "gpus", "gpu_hour_used")
        }
        found["hour"] = found.pop("gpu_hour_used")
        found["power"] = signed(answer.typical_w - other.typical_w, watts)
        found["cost"] = ""
        if answer.cost and other.cost:
            more = answer.cost.net_present - other.cost.net_present
            found["cost"] = signed(more, lambda size: headline_money(size, self.currency))
        told = {key: said("whatif.against", by=text) if text else "" for key, text in found.items()}
        here, there = ((each.placed.short, each.placed.note) for each in (answer, other))
        return told | {"placed": said("whatif.was", was=there[1]) if here != there else ""}

    # The table

    def _rows(self, answer: Answer) -> dict[str, str]:
        """Each figure exactly, and its difference."""
        found = {}
        for measure in MEASURES:
            text, by = measure.said(answer), measure.by(answer, self.designed)
            found[f"row-{measure.key}"] = text or said("whatif.nothing")
            found[f"row-{measure.key}-by"] = by or said("whatif.same")
        return found
