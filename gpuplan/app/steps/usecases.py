"""Use cases: the table of workload groups, and the access mode of each with its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuplan.app.cards import Card, Page, Tab, attributes, box, group_colours
from gpuplan.app.header import field_data
from gpuplan.app.state import Workbook
from gpuplan.app.steps.models import model_data
from gpuplan.app.steps.stated import stated_data
from gpuplan.plan.access import GroupPlan, Reason
from gpuplan.report import amount, number
from gpuplan.report.headlines import HEADLINES
from gpuplan.scenario import GROUP_FIELD_BY_NAME
from gpuplan.wording import MODE_NAMES, NAMES

COLUMNS, PER_VM = NAMES["column of the groups"], NAMES["column of a VM"]
"""Attribute of a group -> its head in the grid."""
SUMS = {
    "sum": "all at their peak at once",
    "stated": "all at their peak at once",
    "hours": "in the busiest hours",
}


def table_data(workbook: Workbook) -> dict[str, Any]:
    """The grid of groups, each cell an input."""
    presets = [(row.id, str(row["name"])) for row in workbook.catalog.rows("use_cases")]
    options = {
        "use_case": presets,
        "access": [
            ("auto", "by the rules"),
            *((m, MODE_NAMES[m]) for m in ("vgpu", "mig", "bitfusion", "passthrough")),
        ],
    }
    lines = workbook.plan.lines
    rows = group_rows(workbook, COLUMNS, options, {})
    groups = {group.id: group for group in workbook.scenario.groups}
    for row in rows:
        demand = lines.get(f"groups.{row['id']}.demand_gpus")
        row |= {"gpus": number(demand.value), "key": demand.key} if demand else {"gpus": "\u2013", "key": ""}
        row["model"] = model_data(workbook, groups[row["id"]])
        if workbook.plan.llm.of(row["id"]):
            _worked_out(workbook, row)
    return {
        "heads": group_heads(COLUMNS),
        "rows": rows,
        "presets": [
            {"id": row.id} | {name: str(row[name]) for name in ("name", "configuration", "example")}
            for row in workbook.catalog.rows("use_cases")
        ],
        "sum": number(lines["demand.groups_gpus"].value),
        "sum_label": f"Sum of the groups, {SUMS.get(workbook.plan.scenario.demand.rule, 'at the target')}",
        "stated": stated_data(workbook),
        "stale": workbook.stale,
    }


WORKED_OUT = ("vms_each", "gpus_each")
"""What a group that uses a language model does not state."""


def _worked_out(workbook: Workbook, row: dict[str, Any]) -> None:
    """Show what the plan works out for a row, and that it is not typed in."""
    for cell in row["cells"]:
        name = cell["path"].rpartition(".")[2]
        if name in WORKED_OUT:
            value = workbook.plan.sized.get(cell["path"])
            shown = value if isinstance(value, bool) else number(value)
            cell |= {"value": shown, "locked": "Worked out from the model.", "assumed": False}


def per_vm_data(workbook: Workbook) -> dict[str, Any]:
    """The second grid of groups: what else one VM needs."""
    groups = workbook.scenario.groups
    stated = sum(
        g.vgpus_each > 1 or g.vmotion != "auto" or bool(g.stun_read_s or g.vcpus_each or g.memory_gib_each)
        for g in groups
    )
    options = {"vmotion": list(NAMES["groups.*.vmotion"].items())}
    return {
        "fold": "vGPUs, vMotion, CPU, memory and priority",
        "hint": f"stated for {stated} of {amount(len(groups), '')} groups"
        if stated
        else "one vGPU for each share; CPU and memory not counted",
        "heads": group_heads(PER_VM),
        "rows": group_rows(
            workbook, PER_VM, options, dict.fromkeys(PER_VM, "not counted") | {"stun_read_s": "not read"}
        ),
        "stale": workbook.stale,
    }


def group_heads(columns: Mapping[str, str]) -> list[dict[str, str]]:
    """Heads of the columns of a grid of groups."""
    fields = [(name, text, GROUP_FIELD_BY_NAME[name]) for name, text in columns.items()]
    return [
        {"name": name, "text": text, "question": field.question, "full": field.label}
        for name, text, field in fields
    ]


def group_rows(
    workbook: Workbook,
    columns: Iterable[str],
    options: Mapping[str, list[tuple[str, str]]],
    empties: Mapping[str, str],
) -> list[dict[str, Any]]:
    """A row of inputs for each group; ``empties`` is what counts where nothing is stated."""
    colours, letters = group_colours(workbook), {g.id: g.letter for g in workbook.plan.groups}
    return [
        {
            "id": group.id,
            "name": group.name,
            "letter": letters.get(group.id, "?"),
            "colour": colours.get(group.id, 1),
            "cells": [
                field_data(workbook, f"groups.{group.id}.{c}", options.get(c), empty=empties.get(c, ""))
                for c in columns
            ],
        }
        for group in workbook.scenario.groups
    ]


def demand_form(workbook: Workbook) -> dict[str, Any]:
    """The inputs beside the table: customer, stated total, Bitfusion."""
    paths = ["customer", "demand.stated_gpus", "platform.bitfusion"]
    paths += ["platform.bitfusion_servers"] * workbook.scenario.platform.bitfusion
    return {"title": "Customer and demand", "fields": [field_data(workbook, path) for path in paths]}


def access_data(workbook: Workbook) -> dict[str, Any]:
    """The access mode of each group: why, what was ruled out and why, what it gives up."""
    colours = group_colours(workbook)
    return {
        "groups": [_access(workbook, g, colours[g.id]) for g in workbook.plan.groups],
        "stale": workbook.stale,
    }


def _access(workbook: Workbook, group: GroupPlan, colour: int) -> dict[str, Any]:
    return attributes(group, "id", "name", "letter", "profile", "profile_reason") | {
        "colour": colour,
        "mode": MODE_NAMES[group.mode],
        "possible": bool(group.mode),
        "profile_key": f"groups.{group.id}.profile" if group.profile else "",
        "reasons": [_reason(workbook, reason) for reason in group.reasons],
        "against": [_reason(workbook, reason) for reason in group.against],
        "ruled_out": [
            {"mode": MODE_NAMES[each.mode], "possible": each.possible} | _reason(workbook, each.reason)
            for each in group.ruled_out
        ],
        "cites": _cites(workbook, (*group.reasons, *group.against)),
        "traits": [
            attributes(trait, "feature", "verdict", "text") | {"source": _titles(workbook, trait.sources)}
            for trait in group.traits
        ],
    }


def _reason(workbook: Workbook, reason: Reason) -> dict[str, str]:
    where = f", {reason.locator}" if reason.locator else ""
    return {"text": reason.text, "source": _titles(workbook, reason.sources) + where, "basis": reason.basis}


def _cites(workbook: Workbook, reasons: tuple[Reason, ...]) -> str:
    """Each source once, with all the places in it."""
    places: dict[str, dict[str, None]] = {}
    for reason in reasons:
        for source in reason.sources:
            places.setdefault(source, {})
        if reason.sources and reason.locator:
            places[reason.sources[0]][reason.locator] = None
    return "; ".join(", ".join([_titles(workbook, (source,)), *where]) for source, where in places.items())


def _titles(workbook: Workbook, sources: tuple[str, ...]) -> str:
    known = workbook.catalog.sources
    return "; ".join(known[s].title if s in known else "This scenario" for s in sources)


PAGE = Page(
    lambda workbook: HEADLINES["usecases"](workbook.plan),
    (
        Tab(
            "groups",
            "Workloads",
            box("gp-page", Card("grid", table_data)),
        ),
        Tab(
            "vms",
            "Virtual machines",
            box("gp-page", Card("grid", per_vm_data)),
        ),
        Tab(
            "access",
            "Access",
            box("gp-page", Card("access", access_data)),
        ),
        Tab(
            "basis",
            "Customer",
            box("gp-page", Card("form", demand_form)),
        ),
    ),
)
