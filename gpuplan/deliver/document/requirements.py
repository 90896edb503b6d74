"""Requirements, given facts, and assumptions in place of missing ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from gpuplan.deliver.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.writing import MOST_ROWS, Citations, grid_of
from gpuplan.facts import weakest
from gpuplan.locales import quoted
from gpuplan.plan import Plan
from gpuplan.plan.known import inputs
from gpuplan.plan.sharing import sharing_modes
from gpuplan.plan.sizing_rule import Target
from gpuplan.plan.trail import Input
from gpuplan.report.tables.known import WORK_NAMES, assumed_name, assumed_range, assumed_value, input_words
from gpuplan.report.tables.plan import catalog_name
from gpuplan.scenario import FIELDS, Group, field_of
from gpuplan.wording import (
    MODE_NAMES,
    NAMES,
    amount,
    basis_word,
    capital,
    counted,
    number,
    said,
    stated_percent,
    verb,
)

Assumption = tuple[str, str, str, tuple[str, ...]]
"""An assumption: value, range, reason and sources."""
ASKED = ("groups", "demand", "availability")
"""Parts of a scenario that state requirements; the others, except internal ones, state means."""
OF_COST = ("cost.years", "cost.as_of")
"""Inputs of the cost that state no means."""


def requirements_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write the chapter of requirements, given facts, and assumptions in place of missing ones."""
    return chapter(
        said("requirements.title"),
        section(said("requirements.requirements"), _numbered("requirement", _requirements(plan, cite))),
        section(said("requirements.constraints"), _given(plan, _constraints(plan, cite))),
        section(said("requirements.assumptions"), _assumptions(plan, cite)),
    )


def _given(plan: Plan, rows: Sequence[tuple[str, str]]) -> list[Block]:
    """List the constraints, and the choices made without one."""
    paths = ("hardware.gpu", "hardware.server", "platform.vsphere")
    assumed = [
        (path, plan.scenario.get(path)) for path in paths if plan.scenario.origin(path).basis == "assumed"
    ]
    chosen = [input_words(plan, path, value) for path, value in assumed if value]
    text = said("requirements.chosen for this design", inputs=", ".join(chosen))
    return [
        *([Paragraph(text)] if chosen else []),
        *(_numbered("constraint", rows) if rows or not chosen else []),
    ]


def _numbered(kind: str, rows: Sequence[tuple[str, str]]) -> list[Block]:
    if not rows:
        return [Paragraph(said("requirements.none is stated"))]
    shown = [(said(f"requirements.{kind} number", number=n), *row) for n, row in enumerate(rows, 1)]
    heads = (said("table.number"), said(f"requirements.{kind}"), said("requirements.source"))
    return grid_of(said(f"requirements.{kind}s"), heads, shown, widths=(0.08, 0.64, 0.28))


def _origin(plan: Plan, path: str, cite: Citations) -> str:
    """Return the basis of an input, with its document."""
    origin = plan.scenario.origin(path)
    return capital(basis_word(origin.basis)) + cite((origin.source,))


def _origin_of_group(plan: Plan, group: Group, known: Mapping[str, Input], cite: Citations) -> str:
    """Return the basis of a group: that of its inputs, some of which the customer may have confirmed."""
    entries = [i for key, i in known.items() if key.startswith(f"groups.{group.id}.")]
    assumed = [i for i in entries if i.basis == "assumed"]
    if not entries or len(assumed) == len(entries):
        return _origin(plan, f"groups.{group.id}", cite)
    weak = assumed or entries
    words = said("requirements.partly assumed") if assumed else basis_word(weakest(i.basis for i in entries))
    return capital(words) + cite(dict.fromkeys(source for i in weak for source in i.sources))


def _requirements(plan: Plan, cite: Citations) -> list[tuple[str, str]]:
    scenario = plan.scenario
    by_key = inputs(plan)
    rows = [
        (_group_asks(plan, group), _origin_of_group(plan, group, by_key, cite)) for group in scenario.groups
    ]
    if (left := len(rows) - MOST_ROWS // 2) > 0:
        rows = [*rows[: MOST_ROWS // 2], (said("requirements.more groups listed in", left=number(left)), "")]
    rows += [(text, _origin(plan, path, cite)) for path, text in _asked_in_all(plan).items() if text]
    return rows


def _asked_in_all(plan: Plan) -> dict[str, str]:
    """Map the path of an input to its requirement; empty where it does not matter."""
    demand, stand, groups = plan.scenario.demand, plan.scenario.availability, plan.scenario.groups
    stated = ""
    if demand.stated_gpus is not None:
        decides = plan.scenario.deciding_total_gpus is not None
        key = "requirements.total decides" if decides else "requirements.groups decide"
        stated = said(key, gpus=demand.stated_gpus)
    texts = {"demand.stated_gpus": stated, "demand.rule": promise(plan) if groups else ""}
    if not plan.pools:
        return texts
    lost, share = stand.host_failures, stated_percent(stand.orders_share)
    survived = said("requirements.when any lost all", hosts=amount(lost, "host"), are=verb(lost, "are"))
    accepted = stand.maintenance_failure_accepted
    risk = said("requirements.maintenance risk" if accepted else "requirements.maintenance covered")
    starts = said("requirements.every planned vm starts", share=share)
    years = counted(plan.scenario.cost.years, "year")
    return texts | {
        "availability.host_failures": survived if lost else said("requirements.the design need not"),
        "availability.maintenance_failure_accepted": risk,
        "availability.sized_for": "" if stand.sized_for == "best" else starts,
        "cost.years": said("requirements.costs are counted over", years=years),
    }


def _group_asks(plan: Plan, group: Group) -> str:
    planned, model = plan.group(group.id), plan.llm.of(group.id)
    vms, gpus = amount(planned.vms, "VM"), amount(planned.gpus_each, "GPU")
    text = said("requirements.concurrently each", name=planned.name, vms=vms, gpus=gpus)
    if model:
        text = f"{planned.name}: {model.model}, {model.said}"
    vmotion = "requirements.vmotion" if group.vmotion == "needed" else "requirements.no vmotion"
    mode, growth = MODE_NAMES.get(group.access, group.access), stated_percent(group.growth or 0)
    requests = (
        (said("requirements.own host"), not group.remote_allowed),
        (said("requirements.low latency"), group.low_latency),
        (said("requirements.isolation"), group.isolation),
        (said(vmotion), group.vmotion != "auto"),
        (said("requirements.access by", mode=mode), group.access != "auto"),
        (said("requirements.more each year", growth=growth), group.growth),
    )
    wishes = [words for words, wanted in requests if wanted]
    return f"{text}; {', '.join(wishes)}." if wishes else f"{text}."


PROMISES = NAMES["promise of a rule"]


def promise(plan: Plan) -> str:
    """Say in a sentence what the sizing rule promises."""
    demand = plan.scenario.demand
    if demand.rule in PROMISES:
        return PROMISES[demand.rule]
    return said("requirements.enough gpus that", target=Target.of(plan.scenario).words)


def _constraints(plan: Plan, cite: Citations) -> list[tuple[str, str]]:
    scenario = plan.scenario
    rows = []
    for path, label in ((spec.path, spec.label) for spec in FIELDS):
        head, _, tail = path.partition(".")
        value = scenario.get(path)
        states_means = tail and head not in (*ASKED, "format", "internal") and path not in OF_COST
        if states_means and value is not None and scenario.origin(path).basis != "assumed":
            rows.append((f"{label}: {input_words(plan, path, value)}.", _origin(plan, path, cite)))
    if scenario.prices:
        prices = capital(counted(len(scenario.prices), "price"))
        text = said("requirements.stated see the prices", prices=prices)
        rows.append((text, said("requirements.stated")))
    rows += [
        (
            said("requirements.not possible here", name=mode.name, text=mode.text),
            capital(basis_word(mode.basis)) + cite(mode.sources),
        )
        for mode in sharing_modes(scenario, plan.catalog)
        if mode.verdict == "no"
    ]
    return rows


def _assumptions(plan: Plan, cite: Citations) -> list[Block]:
    """List the assumptions: those with a range or a specific reason in a table, the rest by reason."""
    assumed = {key: i for key, i in inputs(plan).items() if i.basis == "assumed"}
    if not assumed:
        return [Paragraph(said("assumptions.none"))]
    rows = [
        *_assumed_of_groups(plan, assumed),
        *_assumed_of_work(plan, assumed),
        *_assumed_facts(plan, assumed),
    ]
    alike = Counter((note, sources) for _, span, note, sources in rows if not span)
    together = {reason for reason, count in alike.items() if count > 2}
    apart = [row for row in rows if row[1] or row[2:] not in together]
    shown = [
        (f"A{n}", what, span, f"{capital(note)}{cite(sources)}".strip())
        for n, (what, span, note, sources) in enumerate(apart, 1)
    ]
    points = [
        said(
            "assumptions.reason",
            reason=capital(note) + cite(sources),
            what="; ".join(row[0] for row in rows if not row[1] and row[2:] == (note, sources)),
        )
        for note, sources in dict.fromkeys(row[2:] for row in rows if row[2:] in together)
    ]
    heads = tuple(said(f"assumptions.{key}") for key in ("number", "what", "range", "why"))
    return [
        Paragraph(said("assumptions.lead", count=len(assumed))),
        *([Bullets(tuple(points))] if points else []),
        *grid_of(said("assumptions.table"), heads, shown, widths=(0.07, 0.34, 0.14, 0.45)),
    ]


def _assumed_of_groups(plan: Plan, found: Mapping[str, Input]) -> Iterator[Assumption]:
    """Yield the assumptions about each group, one line per group."""
    for group in plan.scenario.groups:
        entries = [i for key, i in found.items() if key.startswith(f"groups.{group.id}.")]
        if entries:
            stated = [i for i in entries if i.value != ""]
            what = ", ".join(
                f"{_small(field_of(i.key).label)} {input_words(plan, i.key, i.value)}" for i in stated
            )
            yield f"{group.name}: {what}", "", quoted(entries[0].note), entries[0].sources


def _assumed_of_work(plan: Plan, found: Mapping[str, Input]) -> Iterator[Assumption]:
    """Yield the assumptions about each kind of work over the network, one line per kind."""
    work: dict[str, list[Input]] = {}
    for key, i in found.items():
        if key.startswith("network_workloads/"):
            work.setdefault(key.split("/")[1], []).append(i)
    for item, entries in work.items():
        columns = [i.key.rpartition("/")[2] for i in entries]
        names = [WORK_NAMES.get(column, column.replace("_", " ")) for column in columns]
        what = ", ".join(f"{name} {assumed_value(plan, i)}" for name, i in zip(names, entries, strict=True))
        name = catalog_name(plan.catalog, "network_workloads", item)
        yield f"{name}: {what}", "", quoted(entries[0].note), entries[0].sources


def _assumed_facts(plan: Plan, found: Mapping[str, Input]) -> Iterator[Assumption]:
    """Yield the other assumptions, each with its range."""
    for key, i in found.items():
        if key.startswith(("groups.", "network_workloads/")):
            continue
        what = f"{assumed_name(plan, key)}: {assumed_value(plan, i)}"
        yield what, assumed_range(plan, i), quoted(i.note), i.sources


def _small(label: str) -> str:
    """A label within a sentence: a small first letter, unless it begins an abbreviation."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]
