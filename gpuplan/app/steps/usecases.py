"""Workloads: a sentence for each, which opens for editing, the design's targets, and reasons for access modes."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from gpuplan.analysis.demand import stated_gap_gpus
from gpuplan.app.cards import Card, attributes, card, figures, group_colours
from gpuplan.app.forms import field_data, form
from gpuplan.app.state import Workbook
from gpuplan.app.steps.models import model_data, model_field, model_file
from gpuplan.facts import own_rows
from gpuplan.plan.access import GroupPlan, Reason
from gpuplan.plan.llm import INPUTS, TUNING
from gpuplan.report import number
from gpuplan.report.workloads import KIND_NAMES, gets, gpus_words, kind_name, sentence
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Group, new_hosts
from gpuplan.widgets import contract
from gpuplan.wording import MODE_NAMES, NAMES, said, unit_of, whole

T = TypeVar("T")
PER_VM = NAMES["column of a VM"]
INPUTS_OF = {row["use_case"]: row["inputs"].split() for row in own_rows("words/workload_inputs")}
"""Workload kind -> its few inputs, those of ``other`` kinds, and those of ``all``, which open with one click."""
DAYS = list(NAMES["days of a group"].items())
SIZED_FOR = ("hardware.gpu", "hardware.server", "platform.vsphere", "cost.years")
"""Targets of a design besides its workloads."""
WORKED_OUT = ("vms_each", "gpus_each")
OWNED = ("platform.bitfusion_servers",)
"""Inputs that count only where the customer owns Bitfusion."""
demand_form = form("customer", lambda book: {"without": OWNED * (not book.scenario.platform.bitfusion)})
limits_form = form("limits")
RULE, TOTAL = "demand.rule", "demand.stated_gpus"


def days_of(days: object) -> list[tuple[str, str]]:
    """Return the days to choose from; where every day is stated, that instead of leaving it open."""
    return [("every-day", DAYS[0][1]), *DAYS[1:]] if days == "every-day" else DAYS


@partial(Card, "workloads")
def workloads_data(workbook: Workbook) -> contract.Workloads:
    plan, shown = workbook.plan, {item.id: item for item in workbook.plan.groups}
    rows = [_row(workbook, group, shown.get(group.id)) for group in workbook.seen.groups]
    order = {use_case: at for at, use_case in enumerate(KIND_NAMES)}
    targets = [field_data(workbook, path) for path in SIZED_FOR]
    kinds: list[contract.Kind] = [
        {"id": row.id, "name": kind_name(plan, row.id), "about": str(row["example"])}
        for row in workbook.catalog.rows("use_cases")
    ]
    return {
        "sized_for": [field | {"unit": unit_of(2, field["unit"])} for field in targets],
        "per_host": said("screen.usecases.per host", gpus=workbook.seen.hardware.gpus_per_host),
        "fit": _fit(targets[1], workbook.seen.hardware.gpus_per_host),
        "rows": rows,
        "kinds": sorted((kind for kind in kinds if kind["id"] in order), key=lambda kind: order[kind["id"]]),
        "more_kinds": [kind for kind in kinds if kind["id"] not in order],
        "stated": stated_data(workbook),
        "stale": workbook.stale,
    }


def _fit(server: contract.Field, gpus: int) -> contract.Mark:
    """Say how many servers take as many of the board, or why the chosen one may not."""
    servers = [option for option in server["options"] if option["value"]]
    chosen = next((option for option in servers if option["value"] == server["value"]), None)
    if chosen and "why" in chosen:
        return {"sign": "!", "text": chosen["why"], "tone": "warn"}
    fitting = sum("why" not in option for option in servers)
    return {
        "sign": "\u2713",
        "text": said("screen.usecases.servers", fitting=fitting, of=len(servers), gpus=gpus),
        "tone": "good",
    }


def _row(workbook: Workbook, group: Group, planned: GroupPlan | None) -> contract.Workload:
    plan, line = workbook.plan, workbook.plan.lines.get(f"groups.{group.id}.demand_gpus")
    opened = workbook.workload == group.id
    wrong = any(path.startswith(f"groups.{group.id}.") for path in workbook.wrong)
    return {
        "id": group.id,
        "name": group.name,
        "letter": planned.letter if planned else "?",
        "colour": group_colours(workbook).get(group.id, 1),
        "kind": kind_name(plan, group.use_case),
        "words": _pieces(*sentence(plan, group, planned)),
        "gets": gets(plan, group, planned),
        "gpus": "\u2013" if line is None else gpus_words(line.value),
        "key": line.key if line else "",
        "error": said("screen.has an error") if wrong else "",
        "open": _open(workbook, group, planned) if opened else None,
    }


def _pieces(first: str, second: str) -> list[list[contract.Piece]]:
    """Return the two lines of a sentence, of the first each value emphasised."""
    pieces: list[contract.Piece] = [{"text": text, "strong": True} for text in re.split(", | \u00b7 ", first)]
    return [pieces, [{"text": second}]]


def _open(workbook: Workbook, group: Group, planned: GroupPlan | None) -> contract.OpenWorkload:
    inputs = INPUTS.get(group.use_case, ())
    first = INPUTS_OF.get(group.use_case) or INPUTS_OF["other"]
    kinds = ["hosts"] * bool(workbook.seen.hardware.kinds)
    rest = [name for name in dict.fromkeys((*kinds, *inputs, *INPUTS_OF["all"])) if name not in first]
    more = [group_field(workbook, group, name) for name in rest]
    stated = sum(bool(field["value"]) and not field["assumed"] and not field["locked"] for field in more)
    results = model_data(workbook, group) if inputs else _follows(group, planned)
    hint, vms = said("screen.stated", stated=stated, of=len(more)), f"groups.{group.id}.vcpus_each"
    fields = [group_field(workbook, group, name) for name in first]
    return {"fields": fields, "more": more, "hint": hint, "vms": vms, "file": model_file(group), **results}


def _follows(group: Group, planned: GroupPlan | None) -> contract.Results:
    results: contract.Results = {"bar": None, "figures": [], "notes": []}
    if planned is None:
        return results
    key = "screen.usecases.concurrent" if group.vms_each == 1 else "screen.usecases.per user"
    of = said(key, users=planned.active, vms=group.vms_each)
    names = ("peak_gpus", "vms", *(["profile"] if planned.profile else []))
    return results | {"figures": figures(names, planned=planned, of=of)}


def group_field(workbook: Workbook, group: Group, name: str) -> contract.Field:
    """Return an input of a group; values that the plan works out are shown and cannot be edited."""
    path = f"groups.{group.id}.{name}"
    of_job = group.use_case == TUNING and name in ("jobs_per_day", "hours")
    if of_job or name in INPUTS.get(group.use_case, ()):
        return model_field(workbook, group, name)
    cell = field_data(workbook, path, _options(workbook, name, group))
    if name == "hosts":
        cell |= {"kind": "select"}
    of_model = workbook.plan.llm.of(group.id)
    if (of_model and name in WORKED_OUT) or (group.profile and name == "gpus_each"):
        value = workbook.plan.sized.get(path)
        locked = said("screen.usecases.calculated" if of_model else "screen.usecases.of profile")
        cell |= {"value": number(value), "locked": locked, "assumed": False}
    return cell


def _options(workbook: Workbook, name: str, group: Group) -> list[tuple[str, str]] | None:
    """Return the options of an input, where the input itself has none."""
    if name == "use_case":
        return [(row.id, kind_name(workbook.plan, row.id)) for row in workbook.catalog.rows("use_cases")]
    if name == "access":
        modes = ("vgpu", "mig", "bitfusion", "passthrough")
        return [("auto", said("screen.usecases.automatic")), *((mode, MODE_NAMES[mode]) for mode in modes)]
    if name == "hosts":
        kinds = new_hosts(workbook.seen.hardware.kinds)
        return [("", said("screen.usecases.first kind")), *((kind.name, kind.name) for kind in kinds)]
    return days_of(group.days) if name == "days" else None


@card("grid")
def per_vm_data(workbook: Workbook) -> dict[str, Any]:
    groups = workbook.scenario.groups
    stated = sum(
        g.vgpus_each > 1 or g.vmotion != "auto" or bool(g.stun_read_s or g.vcpus_each or g.memory_gib_each)
        for g in groups
    )
    hint = said("screen.usecases.one vGPU")
    if stated:
        hint = said("screen.usecases.stated for", stated=stated, groups=len(groups))
    heads, rows = group_heads(PER_VM), group_rows(workbook, PER_VM)
    return {"hint": hint, "heads": heads, "rows": rows, "stale": workbook.stale}


def group_heads(columns: Mapping[str, str]) -> list[contract.GridHead]:
    """Return the heads of the columns of a grid of groups."""
    each = [(name, text, GROUP_FIELD_BY_NAME[name]) for name, text in columns.items()]
    return [
        {"name": name, "text": text, "question": of.question, "full": of.label} for name, text, of in each
    ]


def group_rows(workbook: Workbook, columns: Iterable[str]) -> list[contract.GridRow]:
    """Return a row of inputs for each group."""
    colours, letters = group_colours(workbook), {g.id: g.letter for g in workbook.plan.groups}
    return [
        {
            "id": group.id,
            "name": group.name,
            "letter": letters.get(group.id, "?"),
            "colour": colours.get(group.id, 1),
            "cells": [
                field_data(workbook, f"groups.{group.id}.{name}", _options(workbook, name, group))
                for name in columns
            ],
        }
        for group in workbook.scenario.groups
    ]


@partial(Card, "access")
def access_data(workbook: Workbook) -> dict[str, Any]:
    """Return the access mode of each group; reasons, rejected modes and drawbacks, each once for all its groups."""
    groups, colours = workbook.plan.groups, group_colours(workbook)
    out = _once(groups, lambda group: group.ruled_out)
    traits = _once(groups, lambda group: group.traits)
    listed = []
    for group in groups:
        shown = attributes(group, "id", "name", "letter", "profile", "profile_reason")
        shown |= {"colour": colours[group.id], "mode": MODE_NAMES[group.mode], "possible": bool(group.mode)}
        listed.append(shown | {"profile_key": f"groups.{group.id}.profile" if group.profile else ""})
    return {
        "groups": listed,
        "why": _why(workbook, groups),
        "ruled_out": [
            {"held": ids, "mode": MODE_NAMES[rejected.mode], "possible": rejected.possible}
            | _reason(workbook, rejected.reason)
            for rejected, ids in out.items()
        ],
        "traits": [
            attributes(trait, "feature", "verdict", "text")
            | {"held": ids, "source": _titles(workbook, trait.sources)}
            for trait, ids in traits.items()
        ],
        "stale": workbook.stale,
    }


def _why(workbook: Workbook, groups: Iterable[GroupPlan]) -> list[dict[str, Any]]:
    """Return the reasons for and against the access modes, together where they hold for the same groups."""
    blocks: dict[tuple[str, ...], dict[str, list[Reason]]] = {}
    reasons = _once(groups, lambda g: [(each, each in g.reasons) for each in (*g.reasons, *g.against)])
    for (reason, chosen), ids in reasons.items():
        block = blocks.setdefault(tuple(ids), {"reasons": [], "against": []})
        block["reasons" if chosen else "against"].append(reason)
    return [
        {"held": list(ids), "cites": _cites(workbook, [*block["reasons"], *block["against"]])}
        | {side: [_reason(workbook, reason) for reason in told] for side, told in block.items()}
        for ids, block in blocks.items()
    ]


def _once(groups: Iterable[GroupPlan], remarks: Callable[[GroupPlan], Iterable[T]]) -> dict[T, list[str]]:
    """Return each remark on groups once, with the ids of those that have it."""
    merged: dict[T, list[str]] = {}
    for group in groups:
        for remark in remarks(group):
            merged.setdefault(remark, []).append(group.id)
    return merged


def _reason(workbook: Workbook, reason: Reason) -> dict[str, str]:
    where = f", {reason.locator}" if reason.locator else ""
    return {"text": reason.text, "source": _titles(workbook, reason.sources) + where}


def _cites(workbook: Workbook, reasons: Iterable[Reason]) -> str:
    """Return each source once, with all the places in it."""
    places: dict[str, dict[str, None]] = {}
    for reason in reasons:
        for source in reason.sources:
            places.setdefault(source, {})
        if reason.sources and reason.locator:
            places[reason.sources[0]][reason.locator] = None
    return "; ".join(", ".join([_titles(workbook, (source,)), *where]) for source, where in places.items())


def _titles(workbook: Workbook, sources: tuple[str, ...]) -> str:
    by_id = workbook.catalog.sources
    return "; ".join(by_id[s].title if s in by_id else said("screen.usecases.this scenario") for s in sources)


def stated_data(workbook: Workbook) -> contract.Stated | None:
    """Return both numbers in a sentence, and the options; None without groups or without a total."""
    plan = workbook.plan
    gap, stated = stated_gap_gpus(plan), plan.scenario.demand.stated_gpus
    if gap is None or stated is None:
        return None
    by_total = plan.scenario.deciding_total_gpus is not None
    gpus = {"total": stated, "needed": whole(stated + gap)}
    ways = [("take-groups", said("screen.stated.size from groups"), RULE, "sum")]
    if not by_total:
        ways = [("take-groups", said("screen.stated.use groups", **gpus), TOTAL, "")]
        ways += [("take-total", said("screen.stated.use total", **gpus), RULE, "stated")] * (gap != 0)
    differing = "screen.stated.provides total" if by_total else "screen.stated.provides needed"
    text = said(differing if gap else "screen.stated.exact", **gpus)
    changes = [contract.Way(at=at, text=text, path=path, value=value) for at, text, path, value in ways]
    return {"text": text, "tone": "warn" if gap > 0 else "", "ways": changes}
