"""Requirements, given facts, and assumptions in place of missing ones."""

from collections.abc import Iterator, Mapping, Sequence

from gpuplan.deliver.document.blocks import MOST_ROWS, Block, Bullets, Content, Draft, tabled
from gpuplan.facts import own_rows, weakest
from gpuplan.locales import quoted
from gpuplan.plan import Plan
from gpuplan.plan.inputs import Input
from gpuplan.plan.known import inputs
from gpuplan.plan.sharing import SharingMode, sharing_modes
from gpuplan.plan.sizing_rule import Target
from gpuplan.report.figures import has, sentences
from gpuplan.report.table import Table, columns
from gpuplan.report.tables.demand import promise_words
from gpuplan.report.tables.known import WORK_NAMES, assumed_name, assumed_range, assumed_value, input_words
from gpuplan.report.tables.plan import catalog_name
from gpuplan.scenario import FIELDS, Group, field_of
from gpuplan.wording import amount, basis_word, capital, joined, number, said

Assumption = tuple[str, str, str, tuple[str, ...]]
ASKED = ("groups", "demand", "availability")
"""Parts of a scenario that state requirements; the others, except internal ones, state means."""
OF_COST = ("cost.years", "cost.as_of")
"""Inputs of the cost that state no means."""


def required(draft: Draft) -> Content:
    """List what the customer requires."""
    plan, by_key = draft.plan, inputs(draft.plan)
    groups = plan.scenario.groups
    rows = [(_group_asks(plan, group), _origin_of_group(draft, group, by_key)) for group in groups]
    if (left := len(rows) - MOST_ROWS // 2) > 0:
        rows = [*rows[: MOST_ROWS // 2], (said("requirements.more groups listed in", left=number(left)), "")]
    rows += [(text, _origin(draft, path)) for path, text in _asked_in_all(draft).items()]
    none = said("requirements.none is stated")
    return _numbered("requirements", "requirements.requirement number", rows) or none


def chosen(draft: Draft) -> str:
    """Name the hardware and the platform that were chosen without a requirement."""
    plan = draft.plan
    paths = ("hardware.gpu", "hardware.server", "platform.vsphere")
    assumed = (path for path in paths if plan.scenario.origin(path).basis == "assumed")
    named = [input_words(plan, path, value) for path in assumed if (value := plan.scenario.get(path))]
    return said("requirements.chosen for this design", inputs=", ".join(named)) if named else ""


def constraints(draft: Draft) -> Content:
    """List the constraints."""
    plan, scenario = draft.plan, draft.plan.scenario
    rows = []
    for path, label in ((spec.path, spec.label) for spec in FIELDS):
        head, _, tail = path.partition(".")
        value = scenario.get(path)
        states_means = tail and head not in (*ASKED, "format", "internal") and path not in OF_COST
        if states_means and value is not None and scenario.origin(path).basis != "assumed":
            rows.append((f"{label}: {input_words(plan, path, value)}.", _origin(draft, path)))
    if scenario.prices:
        text = said("requirements.stated see the prices", prices=len(scenario.prices))
        rows.append((text, said("requirements.stated")))
    rows += _impossible(draft)
    table = _numbered("constraints", "requirements.constraint number", rows)
    return table or ("" if chosen(draft) else said("requirements.none is stated"))


def _impossible(draft: Draft) -> Iterator[tuple[str, str]]:
    """Ways to share GPUs that the platform does not have, with their boards where others have them."""
    plan, boards = draft.plan, dict[SharingMode, list[str]]()
    for part in plan.parts:
        for mode in sharing_modes(part.scenario, plan.catalog):
            boards.setdefault(mode, []).append(plan.catalog.gpus[part.scenario.hardware.gpu].name)
    for mode, names in boards.items():
        if mode.verdict == "no":
            of = f", {joined(names)}" if len(names) < len(plan.parts) else ""
            text = said("requirements.not possible here", name=mode.name + of, text=mode.text)
            yield text, capital(basis_word(mode.basis)) + draft.cite(mode.sources)


def _numbered(name: str, number: str, rows: Sequence[tuple[str, str]]) -> Table | None:
    if not rows:
        return None
    shown = tuple((said(number, number=n), *row) for n, row in enumerate(rows, 1))
    return Table(name, columns(name), shown, title="")


def _origin(draft: Draft, path: str) -> str:
    origin = draft.plan.scenario.origin(path)
    return capital(basis_word(origin.basis)) + draft.cite((origin.source,))


def _origin_of_group(draft: Draft, group: Group, known: Mapping[str, Input]) -> str:
    """Return the basis of a group: that of its inputs, some of which the customer may have confirmed."""
    entries = [i for key, i in known.items() if key.startswith(f"groups.{group.id}.")]
    assumed = [i for i in entries if i.basis == "assumed"]
    if not entries or len(assumed) == len(entries):
        return _origin(draft, f"groups.{group.id}")
    weak = assumed or entries
    words = said("requirements.partly assumed") if assumed else basis_word(weakest(i.basis for i in entries))
    return capital(words) + draft.cite(dict.fromkeys(source for i in weak for source in i.sources))


def _asked_in_all(draft: Draft) -> dict[str, str]:
    """Map the path of an input to its requirement."""
    rows = (row for row in own_rows("words/requirements") if has(draft, row["needs"]))
    return {row["path"]: draft.said(row["text"], promise=promise(draft.plan)) for row in rows}


def _group_asks(plan: Plan, group: Group) -> str:
    planned, model = plan.group(group.id), plan.llm.of(group.id)
    vms, gpus = amount(planned.vms, "VM"), amount(planned.gpus_each, "GPU")
    text = said("requirements.concurrently each", name=planned.name, vms=vms, gpus=gpus)
    if model:
        text = f"{planned.name}: {model.model}, {model.said}"
    wishes = sentences("wish of a group", group, planned=planned)
    return f"{text}; {', '.join(wishes)}." if wishes else f"{text}."


def promise(plan: Plan) -> str:
    """Say in a sentence what the sizing rule promises."""
    return promise_words(plan) or said("requirements.enough gpus that", target=Target.of(plan.scenario).words)


def assumptions(draft: Draft) -> Iterator[Block | str]:
    """List the assumptions: those with a range or a specific reason in a table, the rest by reason."""
    assumed = {key: i for key, i in inputs(draft.plan).items() if i.basis == "assumed"}
    if not assumed:
        yield said("assumptions.none")
        return
    yield said("assumptions.lead", count=len(assumed))
    kinds = (_assumed_of_groups, _assumed_of_work, _assumed_facts)
    yield from _by_reason(draft, [row for kind in kinds for row in kind(draft.plan, assumed)])


def _by_reason(draft: Draft, rows: Sequence[Assumption]) -> Iterator[Block]:
    by_reason: dict[tuple[str, tuple[str, ...]], list[str]] = {row[2:]: [] for row in rows}
    for what, span, note, sources in rows:
        if not span:
            by_reason[note, sources].append(what)
    shared = {reason: texts for reason, texts in by_reason.items() if len(texts) > 2}
    apart = [row for row in rows if row[1] or row[2:] not in shared]
    shown = tuple((f"A{n}", *row[:2], _why(draft, *row[2:]).strip()) for n, row in enumerate(apart, 1))
    points = tuple(
        said("assumptions.reason", reason=_why(draft, *reason), what="; ".join(texts))
        for reason, texts in shared.items()
    )
    if points:
        yield Bullets(points)
    table = Table("assumptions", columns("assumptions"), shown, title=said("assumptions.table"))
    yield from tabled(table, widths=(0.07, 0.34, 0.14, 0.45))


def _why(draft: Draft, note: str, sources: tuple[str, ...]) -> str:
    return capital(note) + draft.cite(sources)


def _assumed_of_groups(plan: Plan, found: Mapping[str, Input]) -> Iterator[Assumption]:
    for group in plan.scenario.groups:
        entries = [i for key, i in found.items() if key.startswith(f"groups.{group.id}.")]
        if entries:
            stated = [i for i in entries if i.value != ""]
            texts = (f"{_small(field_of(i.key).label)} {input_words(plan, i.key, i.value)}" for i in stated)
            what = ", ".join(texts)
            yield f"{group.name}: {what}", "", quoted(entries[0].note), entries[0].sources


def _assumed_of_work(plan: Plan, found: Mapping[str, Input]) -> Iterator[Assumption]:
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
    for key, i in found.items():
        if key.startswith(("groups.", "network_workloads/")):
            continue
        what = f"{assumed_name(plan, key)}: {assumed_value(plan, i)}"
        yield what, assumed_range(plan, i), quoted(i.note), i.sources


def _small(label: str) -> str:
    """A label within a sentence: a small first letter, unless it begins an abbreviation."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]
