"""Checks of the basis: inputs that are assumed, and notes of the scenario's sources."""

from collections.abc import Iterator

from gpuplan.locales import written
from gpuplan.plan.checks.message import Message, message
from gpuplan.plan.plan import Plan
from gpuplan.scenario import FIELD_BY_PATH, field_of
from gpuplan.wording import stated_percent


def assumed(plan: Plan) -> Iterator[Message]:
    """Report results that rest on planning values."""
    behind = (fact for line in plan.asked_lines.values() for fact in line.given.values())
    keys = {fact.key for fact in behind if fact.basis == "assumed"}
    assumed = sorted(key for key in keys if _is_input(plan, key))
    if assumed and plan.pools:
        yield message(plan, "inputs-assumed", inputs=len(assumed), path=_path_of(plan, assumed[0]))


def beside_ranges(plan: Plan) -> Iterator[Message]:
    """Report ranges of the scenario that do not contain the planned value."""
    for path, (low, high) in plan.scenario.ranges:
        now = plan.planned(path)
        if now is not None and not low <= now <= high:
            worded = stated_percent if field_of(path).kind == "share" else _plain
            ends, label = f"{worded(low)} to {worded(high)}", plan.scenario.label(path)
            yield message(plan, "range-beside-value", label=label, now=worded(now), ends=ends, key=path)


def _plain(value: float) -> str:
    return written(value, ".10g")


def _is_input(plan: Plan, key: str) -> bool:
    """True for an input or a planning value that replaces an empty one, not for a figure in between."""
    return key not in plan.lines and (
        "/" not in key or key.startswith("prices.") or key.partition("/")[0] in plan.catalog.titles
    )


def _path_of(plan: Plan, key: str) -> str:
    """Return the input that a planning value replaces, or the key itself if it is an input."""
    if key == "assumptions/duration-of-work/work_h":
        return f"groups.{next(g.id for g in plan.sized.groups if g.work_h is None)}.work_h"
    if key.startswith("assumptions/bursts/"):
        return "demand.peakedness"
    path = key.replace("assumptions/host-reliability/", "availability.").replace("factors/", "cost.")
    path = path.replace("assumptions/gpu-host/", "hardware.")
    return path if path in FIELD_BY_PATH or path.startswith(("groups.", "prices.")) else ""


def scenario_notes(plan: Plan) -> Iterator[Message]:
    """Report the notes of the scenario itself."""
    for note in plan.scenario.notes:
        yield Message("source-note", "note", note.text, "", "", (note.source,), note.locator)
