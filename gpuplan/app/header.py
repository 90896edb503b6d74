"""What is around every step: the bar, the answer strip, the list of steps, the drawer with explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpuplan.app.state import STEPS, Workbook
from gpuplan.facts import Fact
from gpuplan.plan import Plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.cost import Costs
from gpuplan.report import amount, basis_word, explain, number, percent
from gpuplan.scenario import Internal, field_of, parse_value
from gpuplan.units import exact
from gpuplan.wording import counted, short_number, short_watts, stated_percent

ON_HOSTS = ("platform.vsphere", "platform.vgpu_sizes")
"""Inputs of the platform that decide how a GPU is shared; they stand beside the hardware."""

ON_DEMAND = ("sites", "hours", "days", "off_hours_share", "work_h", "jobs_per_day", "growth", "assignment")
"""Inputs, of groups and of the platform, that decide when GPUs are wanted and how long."""

ON_NETWORK = ("network.", "training.")
"""Beginnings of the paths of the inputs of the network step; the work of a group is chosen there too."""

NOTES = {"sum": "from the groups", "hours": "busiest hours"}
CHANCES = ("totals.waiting", "totals.waiting_after_failure")
"""Lines that are chances: they are shown in per cent."""
POWER, COST = "power.typical", "cost.net_present"


def bar_data(workbook: Workbook) -> dict[str, Any]:
    """Brand, name of the design, and what can be done with it."""
    level, text = workbook.notice
    return {
        "name": workbook.scenario.name if workbook.started else "",
        "name_problem": workbook.problem_of("name"),
        "can_undo": workbook.can_undo,
        "can_redo": workbook.can_redo,
        "started": workbook.started,
        "notice": {"level": level, "text": text},
        "fragment": workbook.fragment() if workbook.started else "",
        "customer": workbook.customer,
        "internal": workbook.scenario.internal != Internal(),
        "share": workbook.fragment(customer=True) if workbook.started and workbook.customer else "",
    }


def strip_data(workbook: Workbook) -> dict[str, Any]:
    """The answer so far, in figures that can be asked why."""
    plan = workbook.plan
    totals, messages = plan.totals, workbook.messages
    failures = max(1, plan.scenario.availability.host_failures)
    after = "after a failure" if failures == 1 else f"after {failures} failures"
    worst = totals.unplaced_vms_after_failure
    stops, warns = (sum(m.level == level for m in messages) for level in ("stop", "warn"))
    asked = plan.scenario.demand
    waiting, waiting_after = (plan.lines.get(key) for key in CHANCES)
    figures = [
        _figure(
            "demand.gpus",
            "GPUs demanded",
            number(totals.gpus_demanded),
            "stated total" if asked.stated_gpus is not None else NOTES.get(asked.rule, "at the target"),
        ),
        _figure(
            "totals.hosts",
            "Hosts",
            number(totals.hosts),
            f"{number(totals.hosts_for_demand)} + {number(totals.hosts_for_failures)} spare",
        ),
        _figure("totals.gpus", "GPUs", number(totals.gpus), "installed"),
        _figure(
            "totals.gpus_after_failure",
            f"GPUs {after}",
            number(totals.gpus_after_failure),
            f"{number(totals.gpus - totals.gpus_after_failure)} fewer" if totals.gpus else "none",
        ),
        _figure(
            "totals.unplaced_vms",
            "VMs not placed",
            number(totals.unplaced_vms),
            "everybody has a GPU" if totals.unplaced_vms == 0 else "see messages",
            "good" if totals.unplaced_vms == 0 else "bad",
        ),
        _figure(
            "totals.unplaced_vms_after_failure",
            "After the worst failure",
            number(worst),
            "all placed again" if worst == 0 else "VMs not placed",
            "good" if worst == 0 else "bad",
        ),
        _figure(
            CHANCES[0],
            "Chance of waiting",
            _chance(waiting.value) if waiting else "\u2013",
            f"{_chance(waiting_after.value)} {after.replace(' a ', ' ')}" if waiting_after else "",
        ),
        *_power_and_cost(plan),
        _figure(
            "messages",
            "Messages",
            number(stops + warns) if stops + warns else "0",
            f"{amount(stops, '')} to fix"
            if stops
            else "to settle"
            if warns
            else amount(len(messages), "note"),
            "bad" if stops else "warn" if warns else "good",
        ),
    ]
    if not plan.pools and not plan.groups:
        for figure in figures:
            if figure["key"] != "messages":
                asked_first = figure["key"] == "demand.gpus"
                figure |= {"note": "nothing asked yet" if asked_first else "none yet", "tone": ""}
    return {"figures": figures, "stale": workbook.stale, "shown": workbook.started, "open": workbook.drawer}


def _power_and_cost(plan: Plan) -> list[dict[str, str]]:
    """What the design draws and costs; what has no price is counted, never taken as nothing."""
    if plan.power is None or plan.costs is None:
        return [_figure(POWER, "Power", "\u2013", ""), _figure(COST, "Cost", "\u2013", "")]
    years, left_out = plan.costs.years, len(plan.costs.excludes)
    what = "item" if plan.costs.not_counted else "price"
    return [
        _figure(
            POWER,
            "Typical power",
            short_watts(plan.power.typical_w),
            f"peak {short_watts(plan.power.peak_w)}",
        ),
        _figure(
            COST,
            f"Cost over {counted(years, 'year')}",
            short_number(plan.costs.net_present),
            f"{plan.costs.currency}, excl. {number(left_out)} {what}{'s' * (left_out > 1)}"
            if left_out
            else f"{plan.costs.currency} net present",
            "warn" if left_out else "",
        ),
    ]


def _chance(percentage: float) -> str:
    """A chance in per cent, as short as a figure must be."""
    return percent(percentage / 100).replace("under ", "< ").replace("over ", "> ")


SHORT: Mapping[str, Callable[[float], str]] = {
    **dict.fromkeys(CHANCES, _chance),
    POWER: short_watts,
    COST: short_number,
}
"""Key of a line -> how the strip shows it."""


def _figure(key: str, label: str, value: str, note: str, tone: str = "") -> dict[str, str]:
    return {"key": key, "label": label, "value": value, "note": note, "tone": tone}


def nav_data(workbook: Workbook) -> dict[str, Any]:
    """The steps and where we are."""
    wrong = {step: "" for step, _ in STEPS}
    for path in (*workbook.drafts, *(p.path for p in workbook.refused)):
        if path:
            wrong[step_of(path)] = "has an error"
    return {
        "current": workbook.step,
        "started": workbook.started,
        "steps": [{"id": step, "title": title, "error": wrong[step]} for step, title in STEPS],
    }


def step_of(path: str) -> str:
    """The step in which an input is found."""
    if path.startswith("ranges."):
        return "compare"
    if path.startswith(("cost.", "prices.", "internal.")):
        return "cost"
    if path in ON_HOSTS or path.startswith(("hardware.", "availability.")):
        return "hosts"
    if path.startswith(ON_NETWORK) or path.endswith(".workload"):
        return "network"
    demand = path.startswith("demand.") and path != "demand.stated_gpus"
    return "demand" if demand or path.rpartition(".")[2] in ON_DEMAND else "usecases"


def drawer_data(workbook: Workbook) -> dict[str, Any]:
    """The explanation of a number, or the messages about the plan."""
    plan, key = workbook.plan, workbook.drawer
    if key == "messages":
        return {
            "kind": "messages",
            "title": "Messages",
            "messages": [message_data(workbook, m) for m in workbook.messages],
        }
    if key not in plan.lines:
        return {"kind": "closed"}
    why = explain(plan, key)
    return {
        "kind": "why",
        "key": key,
        "title": f"Why {SHORT[key](plan.lines[key].value) if key in SHORT else why.value}?",
        "label": why.label,
        "more": _more(plan, key),
        "sentence": why.sentence,
        "formula": why.formula,
        "basis": why.basis,
        "basis_text": why.basis_text,
        "function": why.function,
        "inputs": [
            {"label": i.label, "value": i.value, "known": i.known, "basis": i.basis, "key": i.key}
            for i in why.inputs
        ],
        "sources": [{"title": s.title, "url": s.url, "where": s.where} for s in why.sources],
    }


def _more(plan: Plan, key: str) -> list[dict[str, str]]:
    """What else belongs to a number: the peak to typical power, and what a cost leaves out."""
    if key == POWER and plan.power is not None:
        return [
            {"text": "At peak it is "},
            {"text": amount(round(plan.power.peak_w), "W"), "key": "power.peak"},
            {"text": "."},
        ]
    if plan.costs is None or not plan.costs.excludes or key not in (COST, "cost.total"):
        return []
    return [{"text": "The cost excludes: ", "strong": "yes"}, *excluded(plan.costs), {"text": "."}]


def excluded(costs: Costs) -> list[dict[str, str]]:
    """What a cost leaves out, each with a way to its price if that is what is missing."""
    pieces: list[dict[str, str]] = []
    for item in costs.unknown:
        pieces += [{"text": "; "}, {"text": item.name, "visit": f"prices.{item.key}"}]
    for name in costs.not_counted:
        pieces += [{"text": "; "}, {"text": name}]
    return pieces[1:]


def message_data(workbook: Workbook, message: Message) -> dict[str, Any]:
    """A message with where to change what it is about."""
    sources = [
        workbook.plan.catalog.sources[s].title for s in message.sources if s in workbook.plan.catalog.sources
    ]
    return {
        "level": message.level,
        "code": message.code,
        "text": message.text,
        "change": message.change,
        "path": message.path,
        "where": _where(workbook, message.path),
        "sources": sources,
        "locator": message.locator,
    }


def _where(workbook: Workbook, path: str) -> str:
    if path in ("", "groups"):
        return "Use cases" if path else ""
    if path.startswith("prices.") and workbook.plan.costs is not None:
        costs = workbook.plan.costs
        names = {price.key: price.name for price in costs.prices} | {u.key: u.name for u in costs.unknown}
        return f"Price of {names.get(path.removeprefix('prices.'), path.removeprefix('prices.'))}"
    return field_of(path).label


def field_data(
    workbook: Workbook, path: str, options: list[tuple[str, str]] | None = None, *, empty: str = ""
) -> dict[str, Any]:
    """One input for a form: its label, value, options, the question to ask, and its problem.

    ``empty`` is what counts while nothing is stated, as the field shows it.
    """
    spec = field_of(path)
    value = workbook.text_of(path)
    if spec.kind == "share" and value is not None and path not in workbook.drafts:
        value = stated_percent(value)
    elif spec.kind == "range" and value is not None and path not in workbook.drafts:
        value = range_words(path, value)
    elif spec.kind == "gpus" and path not in workbook.drafts:
        shown = number(value)
        value = shown if parse_value(spec, shown, path) == value else str(exact(value))
    kinds = {"bool": "checkbox", "choice": "select", "id": "select", "int": "number", "area": "area"}
    if options is None and spec.kind == "choice":
        options = [*([("", empty)] if spec.optional else []), *((str(c), str(c)) for c in spec.choices)]
    known = workbook.seen.origin(path)
    grey = bool(empty) and value is None  # what is shown in grey says itself how it is known
    assumed = known.basis == "assumed" and not grey
    return {
        "path": path,
        "label": spec.label,
        "kind": kinds.get(spec.kind, "text"),
        "value": value if isinstance(value, bool) else "" if value is None else str(value),
        "options": [{"value": v, "text": t} for v, t in options or []],
        "unit": spec.unit if spec.kind in ("int", "number") else "",
        "empty": empty,
        "low": spec.low,
        "high": spec.high,
        "question": spec.question,
        "problem": workbook.problem_of(path),
        "locked": workbook.locked(path),
        "assumed": assumed,
        "known": known.note if assumed else "",
    }


def planned_field(workbook: Workbook, path: str, planned: Fact) -> dict[str, Any]:
    """An input that the catalog's planning value stands for while it is empty."""
    share = field_of(path).kind == "share"
    value = stated_percent(float(planned.value)) if share else number(planned.value)
    return field_data(workbook, path, empty=f"{value} ({basis_word(planned.basis)})")


def stated_hint(fields: Sequence[Mapping[str, Any]]) -> str:
    """How many inputs of a form are stated."""
    stated = sum(bool(field["value"]) and field["value"] != "0" for field in fields)
    return f"{stated} of {len(fields)} stated" if stated else "planning values of the catalog"


def range_words(path: str, ends: tuple[float, float]) -> str:
    """A range as it is typed: ``20 to 60``, of a share ``20% to 60%``."""
    within = path.removeprefix("ranges.")
    share = not within.startswith("prices.") and field_of(within).kind == "share"
    return " to ".join(stated_percent(end).replace(" ", "") if share else f"{end:.10g}" for end in ends)
