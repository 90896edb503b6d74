"""What the design document says: its ten chapters, from the summary to the sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from gpuplan.analysis.demand import methods, rule_answers, silos, week_demand
from gpuplan.catalog import Catalog
from gpuplan.facts import BASES
from gpuplan.plan import Plan
from gpuplan.plan.access import sharing_modes
from gpuplan.plan.bill_of_materials import Material
from gpuplan.plan.checks import check_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.customer import earned_in_all, earnings
from gpuplan.plan.power import PowerUse
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.results import GroupPlan, Input, Line, LossLevel, Message, Pool
from gpuplan.plan.training import TrainingUse
from gpuplan.report.cost_report import INTERNAL, PER, STATUS, UNITS
from gpuplan.report.document import (
    Block,
    Bullets,
    Chapter,
    DecisionBlock,
    Figure,
    Grid,
    KeyFigures,
    Paragraph,
    Section,
)
from gpuplan.report.tables import group_names, idle_text
from gpuplan.report.text import share_range, share_words
from gpuplan.scenario import FIELD_BY_PATH, FIELDS, Group, field_of
from gpuplan.units import SUFFIX
from gpuplan.wording import (
    AGGREGATION_NAMES,
    BASIS_WORDS,
    LICENCE_NAMES,
    METHOD_NAMES,
    MODE_NAMES,
    RULE_NAMES,
    TRANSPORT_NAMES,
    VERDICTS,
    amount,
    bare_amount,
    basis_word,
    capital,
    counted,
    hours,
    moment,
    money,
    number,
    percent,
    stated_percent,
    target_words,
    watts,
)

MOST_HOSTS = 24
"""Hosts of a pool that are listed one by one; more are counted by what stands on them."""
MOST_ROWS = 40
"""Rows of any other table."""
MOST_GROUPS = 20
"""Groups whose access is reasoned in full."""
MOST_SOURCES = 200
LEVEL_WORDS = {"stop": "Must be settled", "warn": "To settle", "note": "To know"}
CHOICE_NAMES: dict[str, dict[str, str]] = {
    **LICENCE_NAMES,
    "network.transport": TRANSPORT_NAMES,
    "training.aggregation": AGGREGATION_NAMES,
    "platform.vgpu_sizes": {"equal": "all of one size", "mixed": "of mixed sizes"},
    "platform.bitfusion_servers": {
        "auto": "what the vSphere version allows",
        "vgpu": "vGPU",
        "passthrough": "passthrough",
    },
    "platform.assignment": {"pack": "together", "spread": "apart"},
}
"""Inputs whose choices have names of their own."""
METHOD_MEANS = (
    "Known people: no more can ask than there are. Independent arrivals: requests come one by one, from anybody. Bursts: many "
    "requests come together, as in traces of real clusters."
)
ASKED = ("groups", "demand", "availability")
"""Parts of a scenario that say what is required; the others but what is internal say with what."""
PROVEN = {
    "volume": "proven: fewer hosts have too little room",
    "large": "proven: the VMs are too large to share fewer hosts",
    "programme": "proven: no way to fill the hosts does with fewer",
}
CHANGES = {
    "maintenance-bet": "Find out how often hosts fail and how long they are in maintenance, or plan one more spare host.",
    "network-carries": "Compare with the work that is planned; larger batches lose less.",
    "nothing-demanded": "Name the groups that need GPUs, or how many GPUs they need in all.",
    "stated-above-groups": "Find out who needs them, or plan fewer.",
    "waiting-likely": "Find out whether that share is the usual one or the highest, and agree how often somebody may wait.",
    "bitfusion-end-of-life": "Use it only where it is owned already; otherwise the groups move to vGPU.",
    "bitfusion-memory-only": "Where a guaranteed share matters, the group needs another access mode.",
    "inputs-assumed": "Confirm or correct them; the design document lists them.",
    "many-ports": "Take a faster link, or check how much other traffic there is.",
    "cost-excludes": "Ask for a quote.",
    "prices-assumed": "Ask for quotes for them.",
    "bursts-need-more": "Record the jobs that run today: they show how bursty the work is.",
    "resource-not-counted": "Find out both: what each VM needs, and what a host has.",
    "resource-counted-in-part": "Find out what the other groups need.",
    "beyond-stated-total": "Raise the stated total, size the design from the groups, or ask for less.",
    "latency-not-measured": "Measure the round trip between a compute host and a GPU host.",
    "spine-not-needed": "Leave the spine out, or count the compute hosts that are on the same switches.",
}
"""What to do about a message where the check says it to the person at the workbook, not to the customer."""
FACT_NAMES = {
    "rules/leaf-oversubscription/effect": "Most oversubscription of a leaf switch, to 1",
    "assumptions/training-allreduce/intra_host_gb_s": "Rate between GPUs of one host in training",
}
"""Facts of the catalog whose table and column do not name them well."""
WORK_NAMES = {
    "sent_mb": "sent in a step",
    "received_mb": "received in a step",
    "waits": "round trips in a step",
    "hidden": "share of the transfer hidden behind computing",
}
"""What is assumed of work over the network, in words."""
SCALES = ((1, ""), (1_000, "thousands of "), (1_000_000, "millions of "))
WIDEST_MONEY = 9
"""Characters of an amount in a column of the table by years."""


class Citations:
    """Numbers the sources in the order in which the document first cites them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.numbers: dict[str, int] = {}

    def number(self, source: str) -> int | None:
        """Number of a source; None for the customer's own statements, which are no document."""
        if source not in self._catalog.sources:
            return None
        return self.numbers.setdefault(source, len(self.numbers) + 1)

    def __call__(self, sources: Iterable[str]) -> str:
        """The sources behind a sentence: `` [1, 4-6]``; nothing without any."""
        found = sorted({n for source in sources if (n := self.number(source)) is not None})
        spans: list[list[int]] = []
        for n in found:
            if spans and spans[-1][1] == n - 1:
                spans[-1][1] = n
            else:
                spans.append([n, n])
        parts = [str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}-{b}" for a, b in spans]
        return f" [{', '.join(parts)}]" if parts else ""

    def titles(self, sources: Iterable[str]) -> tuple[str, ...]:
        """Title of each source behind its number."""
        known = [(s, n) for s in dict.fromkeys(sources) if (n := self.number(s)) is not None]
        return tuple(f"[{n}] {self._catalog.sources[s].title}" for s, n in known)


def chapters(plan: Plan) -> tuple[Chapter, ...]:
    """The chapters of the design document of a plan."""
    cite = Citations(plan.catalog)
    return (
        _summary(plan),
        _frame(plan, cite),
        _access(plan, cite),
        _demand(plan, cite),
        _hosts(plan),
        _availability(plan, cite),
        _network(plan, cite),
        _cost(plan, cite),
        _decisions(plan, cite),
        _sources(plan, cite),
        *_internal(plan),
    )


def what_to_do(message: Message) -> str:
    """What to do about a message, said to the customer.

    Parameters
    ----------
    message : Message
        What a check found. [-]

    Returns
    -------
    what_to_do : str
        Sentences; empty if there is nothing to do. [-]
    """
    return CHANGES.get(message.code, message.change)


def cost_span(costs: Costs) -> str:
    """Over how long a net present cost is, and what is in it and what is not.

    Parameters
    ----------
    costs : Costs
        Cost of a plan. [-]

    Returns
    -------
    cost_span : str
        Words that follow the amount. [-]
    """
    text = f"over {counted(costs.years, 'year')}"
    if costs.hosts[-1] > costs.hosts[0]:
        text += f", with growth to {amount(costs.hosts[-1], 'host')}"
    text += f"; {money(costs.cash[0], costs.currency)} of it at the start"
    left_out = len(costs.excludes)
    return (
        f"{text}; {counted(left_out, 'item')} {'is' if left_out == 1 else 'are'} not in it"
        if left_out
        else text
    )


def hosts_lost(plan: Plan) -> int:
    """Hosts that are lost where figures after a failure are given.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    hosts_lost : int
        Hosts, as many as the design must survive and at least one. [-]
    """
    return max(1, plan.scenario.availability.host_failures)


def _table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    widths: Sequence[float] = (),
    total: bool = False,
    most: int = MOST_ROWS,
) -> list[Block]:
    """A table of at most so many rows, and how many more there are; nothing without rows."""
    if not rows:
        return []
    shown = tuple(tuple(row) for row in rows[:most])
    grid = Grid(tuple(heads), shown, caption, tuple(right), tuple(widths), total and len(rows) <= most)
    return [grid, *_more(len(rows) - len(shown))]


def _more(left: int) -> list[Block]:
    return [Paragraph(f"And {number(left)} more in the workbook.", "note")] if left > 0 else []


def _figure(svg: str | None, caption: str, alt: str, width: float = 1.0) -> list[Block]:
    return [] if svg is None else [Figure(svg, caption, alt, width)]


# 1


def _summary(plan: Plan) -> Chapter:
    messages = check_plan(plan)
    blocks: list[Block] = [Paragraph(_lead(plan), "lead")]
    if why := _why_so_many(plan):
        blocks.append(Paragraph(why))
    if plan.pools:
        blocks.append(KeyFigures(tuple(_key_figures(plan))))
    if plan.costs is not None and plan.costs.excludes:
        left_out = "; ".join(plan.costs.excludes)
        blocks.append(Paragraph(f"The cost leaves out what has no known price or count: {left_out}.", "note"))
    settle = [m for m in messages if m.level != "note"]
    if settle:
        items = tuple(f"{m.text} {what_to_do(m)}".rstrip() for m in settle[:MOST_ROWS])
        open_points = (Bullets(items), *_more(len(settle) - len(items)))
    else:
        open_points = (
            Paragraph(
                "No check of the design found anything that must be settled. The assumptions in chapter 2 are to be confirmed."
            ),
        )
    return Chapter("Summary", tuple(blocks), (Section("To settle", open_points),))


def _lead(plan: Plan) -> str:
    """What is proposed, in a sentence or two."""
    totals = plan.totals
    if not plan.pools:
        return (
            f"No host is proposed: {amount(totals.unplaced_vms, 'VM')} have no way to reach a GPU."
            if totals.unplaced_vms
            else "No host is proposed: nobody asks for a GPU yet."
        )
    boards = " and ".join(dict.fromkeys(plan.catalog.gpus[pool.gpu].name for pool in plan.pools))
    clusters = f" in {counted(len(plan.pools), 'cluster')}" if len(plan.pools) > 1 else ""
    carry = "carries" if totals.hosts == 1 else "carry"
    text = (
        f"{amount(totals.hosts, 'host')}{clusters} with {amount(totals.gpus, 'GPU')} ({boards}) {carry} a demand of "
        f"{amount(totals.gpus_demanded, 'GPU')}."
    )
    if totals.unplaced_vms:
        text += f" {_vms(totals.unplaced_vms)} no GPU."
    if totals.unplaced_vms_after_failure:
        return (
            text + f" After the worst failure of one host {_vms(totals.unplaced_vms_after_failure)} no GPU."
        )
    return text + " When any one host fails, every VM that had a GPU gets one again."


def _vms(count: int) -> str:
    return f"{amount(count, 'VM')} {'has' if count == 1 else 'have'}"


def _why_so_many(plan: Plan) -> str:
    """Why the design has so many hosts: the justification of the decisions about them."""
    found = [d for d in plan.decisions if d.title.startswith("Hosts for the demand")]
    found += [d for d in plan.decisions if d.title in ("Spare hosts", "No spare host")]
    return " ".join(f"{d.decision} {d.justification}" for d in found)


def _key_figures(plan: Plan) -> list[tuple[str, str, str]]:
    totals = plan.totals
    lost = amount(hosts_lost(plan), "host")
    found = [
        (
            "Hosts",
            number(totals.hosts),
            f"{number(totals.hosts_for_demand)} for the demand, {number(totals.hosts_for_failures)} for failure and maintenance",
        ),
        ("GPUs", number(totals.gpus), f"for a demand of {number(totals.gpus_demanded)}"),
        ("GPUs after a failure", number(totals.gpus_after_failure), f"with {lost} lost"),
        (
            "VMs not placed",
            number(totals.unplaced_vms),
            f"{number(totals.unplaced_vms_after_failure)} after the worst failure of one host",
        ),
    ]
    now, after = (plan.lines.get(f"totals.{key}") for key in ("waiting", "waiting_after_failure"))
    if now is not None and after is not None:
        note = f"in the busiest hours; {percent(after.value / 100)} with {lost} lost"
        found.append(("Chance to wait", percent(now.value / 100), note))
    if plan.power is not None:
        racks = f", {counted(plan.power.racks, 'rack')}" if plan.power.racks else ""
        note = f"typical; {watts(plan.power.peak_w)} at peak{racks}"
        found.append(("Power", watts(plan.power.typical_w), note))
    if plan.costs is not None:
        costs = plan.costs
        cost = money(costs.net_present, costs.currency)
        found.append(("Cost", cost, f"net present {cost_span(costs)}"))
    return found


# 2


def _frame(plan: Plan, cite: Citations) -> Chapter:
    lead = Paragraph(
        "What the customer asks for, what is given, what had to be assumed, and what may go wrong. Later chapters rest on these "
        "points."
    )
    return Chapter(
        "Requirements, constraints, assumptions and risks",
        (lead,),
        (
            Section("Requirements", tuple(_numbered("R", "Requirement", _requirements(plan, cite)))),
            Section("Constraints", tuple(_given(plan, _constraints(plan, cite)))),
            Section("Assumptions", tuple(_assumptions(plan, cite))),
            Section("Risks", tuple(_risks(plan, cite))),
        ),
    )


def _given(plan: Plan, rows: Sequence[tuple[str, str]]) -> list[Block]:
    """The constraints, and what was chosen for want of one."""
    paths = ("hardware.gpu", "hardware.server", "platform.vsphere")
    held = [
        (path, plan.scenario.get(path)) for path in paths if plan.scenario.origin(path).basis == "assumed"
    ]
    chosen = [_value(plan, path, value) for path, value in held if value]
    text = f"Chosen for this design, not required by anybody: {', '.join(chosen)}."
    return [
        *([Paragraph(text)] if chosen else []),
        *(_numbered("C", "Constraint", rows) if rows or not chosen else []),
    ]


def _numbered(letter: str, head: str, rows: Sequence[tuple[str, str]]) -> list[Block]:
    if not rows:
        return [Paragraph("None is stated.")]
    shown = [(f"{letter}{n}", *row) for n, row in enumerate(rows, 1)]
    return _table(f"{head}s", ("No.", head, "Known from"), shown, widths=(0.08, 0.64, 0.28))


def _origin(plan: Plan, path: str, cite: Citations) -> str:
    """How an input is known, with its document."""
    origin = plan.scenario.origin(path)
    return capital(basis_word(origin.basis)) + cite((origin.source,))


def _requirements(plan: Plan, cite: Citations) -> list[tuple[str, str]]:
    scenario = plan.scenario
    asked, stand = scenario.demand, scenario.availability
    rows = [
        (_group_asks(plan, group), _origin(plan, f"groups.{group.id}", cite)) for group in scenario.groups
    ]
    if len(rows) > MOST_ROWS // 2:
        left = len(rows) - MOST_ROWS // 2
        rows = [*rows[: MOST_ROWS // 2], (f"{number(left)} groups more, as in the workbook.", "")]
    if asked.stated_gpus is not None:
        rows.append(
            (
                f"{amount(asked.stated_gpus, 'GPU')} in all, as stated"
                + ("; this wins over the sum of the groups." if rows else "."),
                _origin(plan, "demand.stated_gpus", cite),
            )
        )
    if scenario.groups:
        rows.append((_promise(plan), _origin(plan, "demand.rule", cite)))
    if plan.pools:
        lost = stand.host_failures
        rows.append(
            (
                f"Everybody has a GPU again when any {amount(lost, 'host')} {'is' if lost == 1 else 'are'} lost."
                if lost
                else "No host failure has to be survived.",
                _origin(plan, "availability.host_failures", cite),
            )
        )
        rows.append(
            (
                "A failure while a host is in maintenance may leave somebody without a GPU."
                if stand.maintenance_failure_accepted
                else "Also a failure while a host is in maintenance leaves nobody without a GPU.",
                _origin(plan, "availability.maintenance_failure_accepted", cite),
            )
        )
        rows.append(
            (
                f"The cost is counted over {counted(scenario.cost.years, 'year')}.",
                _origin(plan, "cost.years", cite),
            )
        )
    return rows


def _group_asks(plan: Plan, group: Group) -> str:
    found = plan.group(group.id)
    text = f"{found.name}: {amount(found.vms, 'VM')} at the same time, {amount(found.gpus_each, 'GPU')} each"
    wishes = [
        words
        for words, wanted in (
            ("GPUs in the VM's own host", not group.remote_allowed),
            ("the least latency", group.low_latency),
            ("a guaranteed share of the compute", group.isolation),
            (f"access by {MODE_NAMES.get(group.access, group.access)}", group.access != "auto"),
            (f"{stated_percent(group.growth or 0)} more each year", group.growth),
        )
        if wanted
    ]
    return f"{text}; {', '.join(wishes)}." if wishes else f"{text}."


def _promise(plan: Plan) -> str:
    asked = plan.scenario.demand
    if asked.rule == "sum":
        return "There is a GPU for everybody who is active at the peak of each group, all peaks at the same time."
    if asked.rule == "hours":
        return "There is a GPU for everybody in the busiest hours of the week."
    each = asked.for_whom == "each"
    return f"Enough GPUs that {target_words(asked.rule, asked.chance, asked.wait_min, each)}."


def _constraints(plan: Plan, cite: Citations) -> list[tuple[str, str]]:
    scenario = plan.scenario
    rows = []
    for spec in FIELDS:
        head, _, tail = spec.path.partition(".")
        value = scenario.get(spec.path)
        known = tail and head not in (*ASKED, "internal") and spec.path not in ("cost.years", "cost.as_of")
        if known and value is not None and scenario.origin(spec.path).basis != "assumed":
            rows.append((f"{spec.label}: {_value(plan, spec.path, value)}.", _origin(plan, spec.path, cite)))
    if scenario.prices:
        rows.append((f"{capital(counted(len(scenario.prices), 'price'))} stated, see the prices.", "Stated"))
    rows += [
        (f"{mode.name}: not possible here. {mode.text}", capital(basis_word(mode.basis)) + cite(mode.sources))
        for mode in sharing_modes(scenario, plan.catalog)
        if mode.verdict == "no"
    ]
    return rows


def _value(plan: Plan, path: str, value: Any) -> str:
    """An input as a reader sees it, with its unit."""
    if value is None or value == "":
        return "as planned for want of one"
    if path.startswith("prices."):
        return money(value, plan.scenario.cost.currency)
    spec = field_of(path)
    if spec.table:
        return _item_name(plan.catalog, spec.table, str(value))
    if path in CHOICE_NAMES:
        return CHOICE_NAMES[path].get(str(value), str(value))
    if spec.kind == "share":
        return stated_percent(value)
    if spec.unit == "year":
        return counted(value, "year")
    return amount(value, spec.unit)


def _item_name(catalog: Catalog, table: str, id: str) -> str:
    """What a row or an item of the catalog is called."""
    if table in ("gpus", "servers", "nics", "switches", "vsphere", "products", "assumptions"):
        items = catalog.items(table)
        return items[id].name if id in items else id
    named = next((row.cells.get("name") for row in catalog.rows(table) if row.id == id), None)
    return str(named or id.replace("-", " "))


def _assumed(plan: Plan) -> dict[str, Input]:
    """Inputs and facts that are assumed and that numbers of the plan rest on, by key."""
    return {key: i for key, i in _inputs(plan).items() if i.basis == "assumed"}


def _assumptions(plan: Plan, cite: Citations) -> list[Block]:
    found = _assumed(plan)
    if not found:
        return [Paragraph("No number rests on an assumption.")]
    rows = []
    for group in plan.scenario.groups:
        own = [i for key, i in found.items() if key.startswith(f"groups.{group.id}.")]
        if own:
            what = ", ".join(
                f"{_small(field_of(i.key).label)} {_value(plan, i.key, i.value)}"
                for i in own
                if i.value != ""
            )
            rows.append((f"{group.name}: {what}", "", own[0].note, own[0].sources))
    prices = {price.fact.key: price.name for price in plan.costs.prices} if plan.costs else {}
    work: dict[str, list[Input]] = {}
    for key, i in found.items():
        if key.startswith("network_workloads/"):
            work.setdefault(key.split("/")[1], []).append(i)
    for item, own in work.items():
        what = ", ".join(f"{_work_name(i.key)} {_assumed_value(plan, i)}" for i in own)
        name = _item_name(plan.catalog, "network_workloads", item)
        rows.append((f"{name}: {what}", "", own[0].note, own[0].sources))
    for key, i in found.items():
        if not key.startswith(("groups.", "network_workloads/")):
            low, high = _ends(plan, key)
            if low is not None and high is not None and not low <= float(i.value) <= high:
                low = high = None
            span = ""
            if low is not None and high is not None:
                currency = plan.scenario.cost.currency
                ends = [bare_amount(n, currency) if key in prices else number(n) for n in (low, high)]
                span = " to ".join(ends)
            rows.append(
                (f"{_assumed_name(plan, key, prices)}: {_assumed_value(plan, i)}", span, i.note, i.sources)
            )
    shown = [
        (f"A{n}", what, span, f"{capital(note)}{cite(sources)}".strip())
        for n, (what, span, note, sources) in enumerate(rows, 1)
    ]
    return [
        Paragraph(
            f"{capital(counted(len(found), 'input'))} of the calculation {'is' if len(found) == 1 else 'are'} assumed. Each can be "
            "replaced by what the customer knows."
        ),
        *_table(
            "Assumptions, with the range that is likely",
            ("No.", "Assumption", "Range", "Why"),
            shown,
            widths=(0.08, 0.36, 0.14, 0.42),
        ),
    ]


def _work_name(key: str) -> str:
    """What a figure of work over the network is called."""
    column = key.rpartition("/")[2]
    return WORK_NAMES.get(column, column.replace("_", " "))


def _small(label: str) -> str:
    """A label within a sentence: a small first letter, unless it begins an abbreviation."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def _ends(plan: Plan, key: str) -> tuple[float | None, float | None]:
    """Low and high of a fact of the catalog."""
    table, _, rest = key.partition("/")
    item, _, parameter = rest.partition("/")
    if table == "assumptions" and item in plan.catalog.assumptions:
        fact = plan.catalog.assumptions[item].fact(parameter)
        return fact.low, fact.high
    if table == "factors":
        row = plan.catalog.row("factors", item)
        return row["low"], row["high"]
    if plan.costs is not None:
        for price in plan.costs.prices:
            if price.fact.key == key:
                return price.fact.low, price.fact.high
    return None, None


def _assumed_name(plan: Plan, key: str, prices: dict[str, str]) -> str:
    if key in prices:
        return f"Price of {prices[key]}"
    if key in FACT_NAMES:
        return FACT_NAMES[key]
    path = key.replace("assumptions/host-reliability/", "availability.").replace("factors/", "cost.")
    if path in FIELD_BY_PATH or path.startswith("prices."):
        return field_of(path).label
    table, _, rest = key.partition("/")
    item, _, parameter = rest.partition("/")
    name = _item_name(plan.catalog, table, item)
    for suffix in sorted(SUFFIX, key=len, reverse=True):
        parameter = parameter.removesuffix(f"_{suffix}")
    return f"{name}, {parameter.replace('_', ' ')}" if parameter else name


def _assumed_value(plan: Plan, given: Input) -> str:
    if "/" not in given.key:
        return _value(plan, given.key, given.value)
    return amount(given.value, given.unit)


def _risks(plan: Plan, cite: Citations) -> list[Block]:
    found = check_plan(plan)
    if not found:
        return [Paragraph("No check of the design found anything.")]
    rows = [
        (f"K{n}", LEVEL_WORDS[m.level], m.text + cite(m.sources), what_to_do(m))
        for n, m in enumerate(found, 1)
    ]
    return _table(
        "Risks and what to do about them",
        ("No.", "Weight", "What", "What to do"),
        rows,
        widths=(0.08, 0.13, 0.47, 0.32),
    )


# 3


def _access(plan: Plan, cite: Citations) -> Chapter:
    title = "Use cases and access"
    if not plan.groups:
        return Chapter(title, (Paragraph("No workload group is described yet."),))
    asked = {group.id: group for group in plan.scenario.groups}
    rows = [
        (
            g.name,
            _item_name(plan.catalog, "use_cases", g.use_case),
            number(asked[g.id].people),
            number(g.vms),
            number(g.gpus_each),
            MODE_NAMES[g.mode],
            g.profile,
        )
        for g in plan.groups
    ]
    blocks = [
        Paragraph(
            "A workload group is people with the same kind of work. How a group reaches its GPUs follows from what it needs, from the "
            "GPU and from the vSphere version."
        ),
        *_table(
            "Workload groups",
            ("Group", "Use case", "People", "VMs", "GPUs each", "Access", "Profile"),
            rows,
            right=(2, 3, 4),
        ),
    ]
    sections = [Section(g.name, tuple(_reasons(g, cite))) for g in plan.groups[:MOST_GROUPS]]
    if len(plan.groups) > MOST_GROUPS:
        left = number(len(plan.groups) - MOST_GROUPS)
        sections.append(
            Section("Other groups", (Paragraph(f"The access of {left} groups more is in the workbook."),))
        )
    return Chapter(title, tuple(blocks), tuple(sections))


def _reasons(group: GroupPlan, cite: Citations) -> list[Block]:
    why = " ".join(r.text + cite(r.sources) for r in group.reasons)
    blocks: list[Block] = [Paragraph(f"{MODE_NAMES[group.mode]}. {why}".strip())]
    if group.profile_reason:
        blocks.append(Paragraph(f"Profile {group.profile}: {group.profile_reason.removesuffix('.')}."))
    kept = [t.feature for t in group.traits if t.verdict == "yes"]
    if kept:
        blocks.append(Paragraph(f"Keeps {', '.join(kept)}."))
    limits = [f"{t.feature}: {t.text}{cite(t.sources)}" for t in group.traits if t.verdict != "yes"]
    if limits:
        blocks += [Paragraph("What it gives up, or has within limits:"), Bullets(tuple(limits))]
    rows = [
        (
            MODE_NAMES[r.mode],
            number(r.possible),
            r.reason.text + cite(r.reason.sources),
        )
        for r in group.ruled_out
    ]
    blocks += _table(
        f"{group.name}: what was not taken",
        ("Access mode", "Possible", "Why not"),
        rows,
        widths=(0.22, 0.16, 0.62),
    )
    blocks += [
        Paragraph(f"{_vms(missing.vms)} no GPU: {missing.reason}", "note") for missing in group.unplaced
    ]
    return blocks


# 4


def _demand(plan: Plan, cite: Citations) -> Chapter:
    if not plan.groups:
        stated = plan.scenario.demand.stated_gpus
        text = f"The customer states {amount(stated, 'GPU')}; no group says who needs them." if stated else ""
        return Chapter("Demand", (Paragraph(text or "Nobody asks for a GPU yet."),))
    blocks: list[Block] = [Paragraph(_method(plan))]
    rows = [
        (
            g.name,
            number(g.active),
            number(g.vms),
            number(g.gpus_each),
            number(g.demand_gpus),
            number(round(float(plan.lines[f"groups.{g.id}.held_gpus"].value), 1)),
        )
        for g in plan.groups
    ]
    blocks += _table(
        "Demand by group",
        ("Group", "Active at the peak", "VMs", "GPUs each", "GPUs", "GPUs held on average"),
        rows,
        right=(1, 2, 3, 4, 5),
    )
    blocks.append(Paragraph(_peak(plan)))
    sections = [
        Section("Through the day", tuple(_day(plan))),
        Section("What is enough", tuple(_enough(plan, cite))),
    ]
    if plan.costs is not None and any(group.growth for group in plan.scenario.groups):
        sections.append(Section("Growth", tuple(_growth(plan.costs))))
    return Chapter("Demand", tuple(blocks), tuple(s for s in sections if s.blocks))


def _method(plan: Plan) -> str:
    text = (
        f"{_promise(plan)} That gives {amount(plan.lines['demand.groups_gpus'].value, 'GPU')} for all groups."
    )
    stated = plan.scenario.demand.stated_gpus
    if stated is not None:
        text += f" The customer states {amount(stated, 'GPU')}, and the stated total wins."
    return text


def _peak(plan: Plan) -> str:
    week, *others = week_demand(plan)
    season = f" (clocks as in {week.season})" if others else ""
    if round(week.peak_gpus, 1) == round(week.everybody_gpus, 1):
        return f"In the busiest hours {amount(round(week.peak_gpus, 1), 'GPU')} are wanted on average, as if everybody worked at the same time."
    return (
        f"Busiest on average: {amount(round(week.peak_gpus, 1), 'GPU')}, {moment(week.peak_quarter)} UTC{season}. Everybody at work "
        f"at the same time would be {number(round(week.everybody_gpus, 1))}."
    )


def _day(plan: Plan) -> list[Block]:
    from gpuplan.report import charts

    week = week_demand(plan)[0]
    return _figure(
        charts.day_svg(plan),
        "GPUs that the groups want on average through the day",
        f"Chart of the GPUs that each group wants by hour; the most at once is {number(round(week.peak_gpus, 1))}.",
    )


def _enough(plan: Plan, cite: Citations) -> list[Block]:
    from gpuplan.report import charts

    asked = plan.scenario.demand
    now, after = (plan.lines.get(f"totals.{key}") for key in ("waiting", "waiting_after_failure"))
    blocks: list[Block] = []
    if now is not None and after is not None:
        risk = asked.rule in ("wait", "wait-time", "turned-away")
        each = asked.for_whom == "each"
        target = (
            f" The target is {target_words(asked.rule, asked.chance, asked.wait_min, each)}."
            if risk
            else f" No chance of waiting is stated as a target; the figure and the table take {stated_percent(asked.chance)}."
        )
        blocks.append(
            Paragraph(
                f"If people and jobs come at random with the activity that is stated, in the busiest hours {percent(now.value / 100)} of "
                f"the requests find too few GPUs free while all hosts run, and {percent(after.value / 100)} with "
                f"{amount(hosts_lost(plan), 'host')} lost. The figure below leaves the spare hosts out.{target}{cite(now.sources)}"
            )
        )
    blocks += _figure(
        charts.waiting_svg(plan),
        "Chance to wait by the number of GPUs",
        "Chart of the chance to wait over the number of GPUs, by the assumption about arrivals.",
    )
    rows = [
        (
            RULE_NAMES[a.rule] + " (chosen)" * a.chosen,
            "cannot say" if a.gpus is None else number(a.gpus),
            METHOD_NAMES.get(a.method, ""),
        )
        for a in rule_answers(plan)
    ]
    blocks += _table("GPUs by each rule for what is enough", ("Rule", "GPUs", "Assumption"), rows, right=(1,))
    if plan.pools and any(g.pool == plan.pools[0].id and g.mode for g in plan.groups):
        known = methods(plan, plan.pools[0].id)
        blocks.append(
            Paragraph(
                f"{METHOD_MEANS} Closest to this work: {METHOD_NAMES[known.believe].lower()}.",
                "note",
            )
        )
    return blocks


def _growth(costs: Costs) -> list[Block]:
    bought = [now - before for before, now in pairwise(costs.hosts)]
    rows = [
        (
            f"Year {year}" if year else "Start",
            number(costs.hosts[year]),
            number(costs.gpus[year]),
            number(new),
        )
        for year, new in enumerate((costs.hosts[0], *bought))
    ]
    return [
        *_table("Growth", ("", "Hosts", "GPUs", "Of the hosts, new in that year"), rows, right=(1, 2, 3)),
        Paragraph("A year counts from the day the design is installed. Hosts once bought stay.", "note"),
    ]


# 5


def _hosts(plan: Plan) -> Chapter:
    from gpuplan.report import diagrams

    title = "Hosts and placement"
    if not plan.pools:
        return Chapter(title, (Paragraph("No host is needed."),))
    rows = [
        (
            pool.name,
            _server(plan, pool),
            plan.catalog.gpus[pool.gpu].name,
            number(pool.gpus_per_host),
            f"{number(pool.hosts_for_demand)} + {number(pool.hosts_for_failures)}",
            number(pool.hosts),
            number(pool.gpus),
        )
        for pool in plan.pools
    ]
    blocks: list[Block] = [
        Paragraph(
            "A cluster is a set of hosts that stand in for each other. Every VM has its place on one of them."
        ),
        *_table(
            "Clusters: hosts for the demand + hosts for failure and maintenance",
            ("Cluster", "Server", "GPU", "GPUs per host", "Demand + spare", "Hosts", "GPUs"),
            rows,
            right=(3, 4, 5, 6),
        ),
        *_figure(
            diagrams.hosts_svg(plan),
            "The hosts, their GPUs and who uses them",
            f"Drawing of {amount(plan.totals.hosts, 'host')} with {amount(plan.totals.gpus, 'GPU')}, each GPU marked with the letter "
            "of the group on it.",
        ),
    ]
    sections = [
        Section(pool.name if len(plan.pools) > 1 else "What stands where", tuple(_placement(plan, pool)))
        for pool in plan.pools
    ]
    if 1 < len(plan.groups) <= MOST_GROUPS:
        sections.append(Section("One pool instead of silos", tuple(_silos(plan))))
    return Chapter(title, tuple(blocks), tuple(sections))


def _server(plan: Plan, pool: Pool) -> str:
    return plan.catalog.servers[pool.server].name if pool.server else "to be chosen"


def _placement(plan: Plan, pool: Pool) -> list[Block]:
    stands = [
        (_on_host(plan, pool, at), room.gpus - sum(load.gpus for load in pool.placement[at]))
        for at, room in enumerate(pool.rooms)
    ]
    if len(stands) <= MOST_HOSTS:
        caption, head = "What stands on each host", "Host"
        rows = [(str(n), what, number(free)) for n, (what, free) in enumerate(stands, 1)]
    else:
        caption, head = "Hosts by what stands on them", "Hosts"
        rows = [(number(n), what, number(free)) for (what, free), n in Counter(stands).most_common()]
    proof = PROVEN.get(pool.method, "")
    text = f"The demand takes {amount(pool.hosts_for_demand, 'host')} ({proof})."
    if not proof:
        text = f"A placement on {amount(pool.hosts_without_spare, 'host')} was found; the least that any could have is {pool.bound}."
        if pool.hosts_without_spare == pool.bound:
            text += " So no other placement does with fewer."
    blocks: list[Block] = [Paragraph(text)]
    blocks += _table(
        f"{pool.name}: {caption[0].lower()}{caption[1:]}" if len(plan.pools) > 1 else caption,
        (head, "What stands on it", "GPUs free"),
        rows,
        right=(0, 2),
        widths=(0.1, 0.76, 0.14),
        most=MOST_HOSTS,
    )
    idle = tuple(idle_text(plan, each) for each in pool.idle)
    if idle:
        blocks += [
            Paragraph("GPUs that are idle on hosts in use:"),
            Bullets(idle[:MOST_HOSTS]),
            *_more(len(idle) - MOST_HOSTS),
        ]
    return blocks


def _on_host(plan: Plan, pool: Pool, at: int) -> str:
    """What is on a host, equal loads counted."""
    names = group_names(plan)
    counts: Counter[str] = Counter()
    for load in pool.placement[at]:
        who = Counter(slot.group for slot in load.slots)
        if load.family:
            sharing = " + ".join(f"{n} x {names[g]}" for g, n in who.items())
            counts[f"GPU shared by {sharing} ({MODE_NAMES.get(load.family.name, load.family.name)})"] += 1
        else:
            counts[
                f"{names[load.slots[0].group]} with {'a GPU' if load.gpus == 1 else f'{load.gpus} GPUs'}"
            ] += 1
    return "; ".join(f"{n} x {what}" if n > 1 else what for what, n in counts.items()) or "Spare"


def _silos(plan: Plan) -> list[Block]:
    found = silos(plan)
    names = group_names(plan)
    rows = [
        (names[s.group], number(s.hosts), number(s.installed_gpus), percent(min(1.0, s.utilisation)))
        for s in found.groups
    ]
    rows.append(("All alone", number(found.hosts), number(found.gpus), percent(min(1.0, found.utilisation))))
    pool = found.pool
    rows.append(
        ("Together", number(pool.hosts), number(pool.installed_gpus), percent(min(1.0, pool.utilisation)))
    )
    if found.saved_gpus > 0:
        text = f"The pool needs {amount(found.saved_gpus, 'GPU')} fewer than a silo for each group would."
    else:
        text = "The pool needs as many GPUs as a silo for each group would, or more."
    return [
        Paragraph(
            f"{text} Each silo has spare hosts of its own; a stated total and hosts already there are left aside."
        ),
        *_table(
            "A silo for each group against the pool, with spare hosts",
            ("", "Hosts", "GPUs", "GPUs used"),
            rows,
            right=(1, 2, 3),
        ),
    ]


# 6


def _availability(plan: Plan, cite: Citations) -> Chapter:
    if not plan.pools:
        return Chapter("Availability", (Paragraph("Without hosts nothing can fail."),))
    totals = plan.totals
    lost = totals.unplaced_vms_after_failure
    lead = (
        f"After the worst failure of one host {_vms(lost)} no GPU."
        if lost
        else "Every VM was placed again after the loss of each host in turn; nobody is left without a GPU."
    )
    chosen = next((p for p in plan.postures if p.chosen), None)
    if not lost and chosen is not None and chosen.short_h > 0:
        lead += f" More hosts that fail at once leave somebody without a GPU: {hours(chosen.short_h)} a year are to be expected."
    sections = [
        Section("When a host fails", tuple(_failures(plan))),
        Section("Hours at risk", tuple(_hours(plan, cite))),
    ]
    sections.append(Section("Maintenance", tuple(_maintenance(plan))))
    return Chapter("Availability", (Paragraph(lead, "lead"),), tuple(s for s in sections if s.blocks))


def _failures(plan: Plan) -> list[Block]:
    blocks: list[Block] = []
    several = len(plan.pools) > 1
    for pool in plan.pools:
        rows = [
            (
                f"Host {loss.hosts[0] + 1}",
                number(loss.alike),
                number(loss.restarted),
                number(loss.moved),
                number(loss.unplaced),
            )
            for loss in pool.failures
        ]
        blocks += _table(
            f"{pool.name}: what the loss of a host does" if several else "What the loss of a host does",
            (
                "Lost",
                "Hosts filled alike",
                "VMs that restart",
                "VMs moved to make room",
                "VMs left without a GPU",
            ),
            rows,
            right=(1, 2, 3, 4),
            most=MOST_HOSTS,
        )
    rows = [
        (pool.name, number(level.lost), number(level.gpus_left), *_fits(level))
        for pool in plan.pools
        for level in pool.losses
    ]
    return [
        *blocks,
        *_table(
            "What is left, whichever hosts are lost",
            ("Cluster", "Hosts lost at once", "GPUs left", "Everything fits again", "By restarts alone"),
            rows,
            right=(1, 2),
        ),
    ]


def _fits(level: LossLevel) -> tuple[str, str]:
    words = {True: "yes", False: "no", None: "not known"}
    return words[level.fits], words[level.without_moving]


def _hours(plan: Plan, cite: Citations) -> list[Block]:
    rows = [
        (
            f"N+{p.host_failures}" + " (chosen)" * p.chosen,
            number(p.hosts),
            number(p.gpus),
            hours(p.short_h),
            hours(p.exposed_h) + " short" * (p.chance == 1 and p.exposed_h > 0),
            "" if p.chance == 1 else percent(p.chance),
        )
        for p in plan.postures
    ]
    sources = plan.lines["availability.host_up"].sources if "availability.host_up" in plan.lines else ()
    return [
        *_table(
            "Host failures to tolerate, and the hours of a year at risk",
            (
                "",
                "Hosts",
                "GPUs",
                "Short by failures",
                "Maintenance in which one failure more is too much",
                "Chance of that in a year",
            ),
            rows,
            right=(1, 2, 3, 4, 5),
        ),
        Paragraph(
            "Short by failures: expected hours of a year in which somebody has no GPU. The hours rest on how often a host fails and how "
            f"long its repair takes.{cite(sources)}",
            "note",
        ),
    ]


def _maintenance(plan: Plan) -> list[Block]:
    stand = plan.scenario.availability
    text = (
        "A failure during maintenance is accepted: the spare host is also the one that stands in for a host in maintenance."
        if stand.maintenance_failure_accepted
        else "A failure during maintenance is not accepted: a host more stands in for the one in maintenance."
    )
    rows = [
        (g.name, MODE_NAMES[g.mode], t.text, "no vMotion" if g.stun_s is None else f"{round(g.stun_s)} s")
        for g in plan.groups
        for t in g.traits
        if t.feature == "Maintenance"
    ]
    return [
        Paragraph(text),
        *_table(
            "What maintenance of a host means to each group",
            ("Group", "Access", "In maintenance", "VM stands still for"),
            rows,
            right=(3,),
            widths=(0.24, 0.14, 0.44, 0.18),
        ),
    ]


# 7


def _network(plan: Plan, cite: Citations) -> Chapter:
    from gpuplan.report import diagrams

    given, use, fabric = plan.scenario.network, plan.network, plan.cabling
    blocks: list[Block] = [
        Paragraph(
            f"Each GPU host has links of {number(given.link_gbit_s)} Gbit/s with {TRANSPORT_NAMES[given.transport]}, MTU "
            f"{number(given.mtu_bytes)} bytes."
        )
    ]
    sections = [Section("Work over the network", tuple(_work(plan, cite)))]
    if use.rules:
        met = {True: "met", False: "not met", None: "not measured"}
        rows = [(rule.text + cite(rule.sources), met[rule.met]) for rule in use.rules]
        table = _table("The vendor's rules", ("Rule", "Verdict"), rows, widths=(0.8, 0.2))
        sections.append(Section("The vendor's rules for remote GPUs", tuple(table)))
    if fabric is not None:
        parts: list[Block] = [*_fabric(plan)]
        parts += _figure(
            diagrams.fabric_svg(plan),
            "Hosts, leaf and spine switches",
            f"Drawing of {amount(fabric.gpu_hosts, 'GPU host')} and the switches that they connect to.",
        )
        sections.append(Section("Ports and switches", tuple(parts)))
        settings = [(s.where, s.what + cite(s.sources)) for s in fabric.settings]
        sections.append(
            Section(
                "Settings", tuple(_table("To configure", ("Where", "What"), settings, widths=(0.28, 0.72)))
            )
        )
        failures = [(f.part, f.left, f.affected) for f in fabric.failures]
        sections.append(
            Section(
                "When a part fails",
                tuple(_table("What a failure leaves", ("Part", "Left", "Affected"), failures)),
            )
        )
    return Chapter("Network", tuple(blocks), tuple(s for s in sections if s.blocks))


def _work(plan: Plan, cite: Citations) -> list[Block]:
    use = plan.network
    blocks: list[Block] = []
    if use.remote:
        rows = [
            (
                r.name,
                r.workload_name + cite(r.sources),
                number(r.users),
                share_range(r.kept_low, r.kept, r.kept_high),
                VERDICTS[r.verdict],
                basis_word(r.basis),
            )
            for r in use.remote
        ]
        heads = ("Group", "Work", "Users on a link", "Speed kept (low to high)", "Verdict", "Known how")
        blocks += _table(
            "What each group keeps of the speed of a GPU in its own host", heads, rows, right=(2,)
        )
    else:
        blocks.append(Paragraph("No group reaches its GPUs over the network."))
    rows = [
        (
            t.name,
            t.workload_name + cite(t.sources),
            f"{number(t.hosts)} x {number(t.gpus_per_host)}",
            share_range(t.efficiency_low, t.efficiency, t.efficiency_high),
            VERDICTS[t.verdict],
            basis_word(t.basis),
        )
        for t in use.training
    ]
    heads = ("Job", "Work", "Hosts x GPUs", "Efficiency (low to high)", "Verdict", "Known how")
    blocks += _table("Training on several hosts", heads, rows, right=(2,))
    works: tuple[RemoteUse | TrainingUse, ...] = (*use.remote, *use.training)
    changes = [
        f"{each.name}: {'; '.join(each.changes)}."
        for each in works
        if each.changes and each.verdict != "good"
    ]
    if changes:
        blocks += [Paragraph("What would change it:"), Bullets(tuple(changes[:MOST_ROWS]))]
    return blocks


def _fabric(plan: Plan) -> list[Block]:
    fabric = plan.cabling
    assert fabric is not None
    ports = f"{number(fabric.ports.shared)} teamed" + (
        f", {number(fabric.ports.rdma)} for RDMA alone" if fabric.ports.rdma else ""
    )
    rows = [
        ("Hosts", amount(fabric.gpu_hosts, "GPU host")),
        ("Ports of a GPU host", ports),
        ("Adapters of a GPU host", f"{number(fabric.adapters)}, with two ports each"),
        ("Distributed switches", number(fabric.distributed_switches)),
    ]
    if fabric.compute_hosts:
        rows[0] = ("Hosts", f"{rows[0][1]}, {amount(fabric.compute_hosts, 'compute host')}")
    switches = fabric.switches
    if switches is None:
        rows.append(("Switches", f"none: {fabric.reason.replace('_', ' ')}"))
    else:
        shape = switches.shape
        spines = (
            f"{number(shape.spines)} x {switches.spine_name}"
            if shape.spines
            else "none: one pair of leaves holds every host"
        )
        between = shape.uplink_cables or shape.peer_cables
        rows += [
            ("Leaf switches", f"{number(shape.leaves)} x {switches.leaf_name}"),
            ("Spine switches", spines),
            (
                "Oversubscription",
                f"{shape.oversubscription:.2f}:1, at most {fabric.max_oversubscription:g}:1 is planned",
            ),
            (
                "Cables",
                f"{number(shape.host_cables)} to hosts at {number(switches.port_gbit_s)} Gbit/s, {number(between)} between switches at "
                f"{number(switches.up_gbit_s)} Gbit/s",
            ),
        ]
    return _table("Ports and switches", ("", ""), rows, widths=(0.3, 0.7))


# 8


def _cost(plan: Plan, cite: Citations) -> Chapter:
    title = "Cost, power and space"
    costs, power = plan.costs, plan.power
    if costs is None or power is None:
        return Chapter(title, (Paragraph("Without hosts nothing is bought."),))
    currency = costs.currency
    lead = (
        f"Over {counted(costs.years, 'year')} the design costs {money(costs.net_present, currency)} net present, with later payments "
        f"discounted at {stated_percent(costs.discount_rate)} a year. {money(costs.total, currency)} are paid in all, "
        f"{money(costs.cash[0], currency)} of it at the start."
    )
    if costs.hosts[-1] > costs.hosts[0]:
        lead += (
            f" That includes growth from {number(costs.hosts[0])} to {amount(costs.hosts[-1], 'host')}, which the demand chapter "
            "shows by year."
        )
    blocks: list[Block] = [Paragraph(lead, "lead")]
    if costs.gpu_hour_installed is not None:
        text = f"A GPU-hour costs {money(costs.gpu_hour_installed, currency)} installed"
        if costs.gpu_hour_used is not None:
            text += f" and {money(costs.gpu_hour_used, currency)} used, with GPUs used {percent(costs.utilisation)} of the time"
        blocks.append(Paragraph(f"{text}."))
    if costs.excludes:
        blocks += [
            Paragraph("Left out, for want of a price or a count:"),
            Bullets(costs.excludes[:MOST_ROWS]),
        ]
    if costs.outside:
        blocks.append(Paragraph(f"Not part of the cost: {'; '.join(costs.outside)}.", "note"))
    if costs.growth_left_out:
        blocks.append(
            Paragraph(
                f"From year {costs.growth_left_out} on the growth is more than one design can hold: hosts are counted as in the year "
                "before.",
                "note",
            )
        )
    return Chapter(
        title,
        tuple(blocks),
        (
            Section("Cost by year", tuple(_years(plan, costs))),
            Section("Bill of materials", tuple(_bill(costs, cite))),
            Section("Prices", tuple(_prices(costs, cite))),
            Section("Power and space", tuple(_power(power))),
        ),
    )


def _years(plan: Plan, costs: Costs) -> list[Block]:
    from gpuplan.report import charts

    rows = [(part.name, (*part.yearly, part.total)) for part in costs.parts]
    rows.append(("All", (*costs.cash, costs.total)))
    word, shown = _scaled(rows, costs.currency)
    heads = ("Part", "Start", *(f"Year {year}" for year in range(1, costs.years + 1)), "Total")
    blocks = _table(
        f"What is paid when, in {word}{costs.currency}",
        heads,
        shown,
        right=tuple(range(1, len(heads))),
        total=True,
    )
    blocks += _figure(
        charts.years_svg(plan),
        f"Cost by year and part, in {costs.currency}",
        f"Chart of what is paid at the start and in each of {counted(costs.years, 'year')}, by part; "
        f"{money(costs.total, costs.currency)} in all.",
    )
    names = group_names(plan)
    shares = [(names[g.id], share_words(g.share), money(g.total, costs.currency)) for g in costs.groups]
    blocks += _table(
        "Cost by group, by the GPUs they ask for", ("Group", "Share", "Paid in all"), shares, right=(1, 2)
    )
    weak = [part.name for part in costs.parts if part.basis == "assumed" and part.total]
    if weak:
        blocks.append(Paragraph(f"Parts that rest on an assumed price or count: {', '.join(weak)}.", "note"))
    return blocks


def _scaled(rows: Sequence[tuple[str, Sequence[float]]], currency: str) -> tuple[str, list[tuple[str, ...]]]:
    """Rows of money in units, thousands or millions, so that a page holds the columns; (which of them, the rows)."""
    found = []
    for scale, word in SCALES:
        shown = [
            (name, *(bare_amount(round(value / scale), currency) for value in values))
            for name, values in rows
        ]
        found.append((word, shown))
    return next(
        ((word, shown) for word, shown in found if max(len(c) for r in shown for c in r[1:]) <= WIDEST_MONEY),
        found[-1],
    )


def _bill(costs: Costs, cite: Citations) -> list[Block]:
    rows = [
        (
            number(m.quantity) + UNITS.get(m.unit, "") if m.quantity else "",
            m.name,
            m.rule + cite(m.sources),
            money(m.price.value, costs.currency) if m.price else "",
            _paid(m, costs.currency),
        )
        for m in costs.materials
    ]
    table = _table(
        "Bill of materials, on the day it is installed",
        ("Number", "What", "Rule", "Each", "Cost"),
        rows,
        right=(0, 3, 4),
        widths=(0.1, 0.24, 0.34, 0.14, 0.18),
    )
    note = "Prices are shown rounded; costs are worked out from the exact prices."
    return [*table, Paragraph(note, "note")] if table else []


def _paid(material: Material, currency: str) -> str:
    """What a material costs, or why it does not."""
    if material.unknown:
        return "no price known"
    if material.cost is None:
        return STATUS.get(material.status, "")
    return money(material.cost, currency) + " a year" * (material.status == "yearly")


def _prices(costs: Costs, cite: Citations) -> list[Block]:
    rows = [
        (
            price.name,
            f"{money(price.value, costs.currency)} {PER.get(price.per, price.per)}",
            f"{bare_amount(price.fact.low, costs.currency)} to {bare_amount(price.fact.high, costs.currency)}"
            if price.fact.low is not None and price.fact.high is not None
            else "",
            "stated" if price.stated else basis_word(price.fact.basis),
            price.as_of + " (old)" * price.old,
            cite(price.fact.sources).strip(),
        )
        for price in costs.prices
    ]
    rows += [(item.name, "unknown", "", "", "", "") for item in costs.unknown]
    return [
        Paragraph(
            f"Prices before discounts, in {costs.currency}. A price is old if it is more than a year older than {costs.as_of}."
        ),
        *_table(
            "Prices, how well they are known, and from when",
            ("What", "Price", "Low to high", "Known how", "As of", "Source"),
            rows,
        ),
    ]


def _power(power: PowerUse) -> list[Block]:
    rows = [
        (
            capital(part.name),
            number(part.count),
            watts(part.typical_w) if part.peak_w else "not known",
            watts(part.peak_w) if part.peak_w else "not known",
            "not known" if part.rack_units_u is None else f"{number(part.rack_units_u)} U",
        )
        for part in power.parts
    ]
    rows.append(
        ("Together", "", watts(power.typical_w), watts(power.peak_w), f"{number(power.rack_units_u)} U")
    )
    racks = (
        f"{counted(power.racks, 'rack')}, of {counted(power.hosts_per_rack, 'host')} each at most"
        if power.racks
        else "one host draws more, or is higher, than a rack may carry"
    )
    points = [
        f"With cooling and losses of the building: {watts(power.facility_w)} typical, {number(round(power.energy_kwh))} kWh a year.",
        f"Heat at peak: {number(round(power.heat_btu_h))} BTU/h.",
        f"CO2: {number(round(power.emissions_kg / 1000, 1))} t a year.",
        f"Space: {racks}.",
    ]
    if power.excludes:
        points.append(f"Not known, and left out: {'; '.join(power.excludes)}.")
    return [
        *_table(
            "Power and space",
            ("", "Number", "Typical", "At peak", "Height"),
            rows,
            right=(1, 2, 3, 4),
            total=True,
        ),
        Bullets(tuple(points)),
    ]


# 9


def _decisions(plan: Plan, cite: Citations) -> Chapter:
    blocks: tuple[Block, ...] = tuple(
        DecisionBlock(d.number, d.title, d.decision, d.justification, d.implication, _listed(cite, d.sources))
        for d in plan.decisions
    )
    return Chapter("Design decisions", blocks or (Paragraph("Without hosts there is nothing to decide."),))


MOST_CITED = 6
"""Sources of a decision that are named; the others by their numbers."""


def _listed(cite: Citations, sources: Sequence[str]) -> tuple[str, ...]:
    titles = cite.titles(sources)
    rest = cite(sources[MOST_CITED:]).strip() if len(titles) > MOST_CITED else ""
    return (*titles[:MOST_CITED], f"and {rest}") if rest else titles


# 10


def _sources(plan: Plan, cite: Citations) -> Chapter:
    for line in plan.lines.values():
        cite(line.sources)
    known = Counter(i.basis for i in _inputs(plan).values())
    bases = [(capital(BASIS_WORDS[basis]), BASIS_MEANS[basis], number(known[basis])) for basis in BASES]
    headline = [
        (
            line.label,
            _result(line),
            basis_word(line.basis),
        )
        for key, line in plan.lines.items()
        if key.startswith("totals.")
        or key in ("demand.gpus", "power.typical", "power.peak", "cost.net_present")
    ]
    rows = []
    for source, n in cite.numbers.items():
        known_as = plan.catalog.sources[source]
        rows.append((str(n), known_as.title, known_as.producer, known_as.published, known_as.url))
    return Chapter(
        "Sources, and how numbers are known",
        (),
        (
            Section(
                "How numbers are known",
                (
                    Paragraph(
                        "Every number is worked out from inputs of which it is recorded how they are known. A result is called after "
                        "the weakest of its inputs."
                    ),
                    *_table(
                        "Inputs of this design, by how they are known",
                        ("Known how", "What it means", "Inputs"),
                        bases,
                        right=(2,),
                        widths=(0.24, 0.62, 0.14),
                    ),
                    *_table(
                        "The main results and their weakest input",
                        ("Result", "Value", "Weakest input"),
                        [tuple(row) for row in headline],
                        right=(1,),
                    ),
                ),
            ),
            Section(
                "Sources",
                tuple(
                    _table(
                        "Sources",
                        ("No.", "Title", "Producer", "Date", "Address"),
                        rows,
                        right=(0,),
                        widths=(0.05, 0.34, 0.17, 0.11, 0.33),
                        most=MOST_SOURCES,
                    )
                )
                or (Paragraph("No source is cited."),),
            ),
        ),
    )


def _result(line: Line) -> str:
    """A main result, as other chapters show it."""
    if line.unit == "%":
        return percent(line.value / 100)
    return watts(line.value) if line.unit == "W" else amount(line.value, line.unit)


BASIS_MEANS = {
    "measured": "Measured on such hardware, by a publication or by the customer.",
    "published": "Written by the producer or in a standard.",
    "quoted": "Stated by the customer, or quoted by somebody who sells it.",
    "derived": "Worked out from values of the kinds above.",
    "fitted": "A parameter of a model, fitted to published measurements.",
    "assumed": "A planning value that nobody has confirmed for this customer.",
}


def _inputs(plan: Plan) -> dict[str, Input]:
    """Inputs and facts that the numbers of the plan rest on, by key; not figures in between."""
    tables = plan.catalog.titles
    held = [
        i
        for line in plan.lines.values()
        for i in line.inputs
        if i.key not in plan.lines
        and ("/" not in i.key or i.key.startswith("prices.") or i.key.partition("/")[0] in tables)
    ]
    return {i.key: i for i in held} | {i.key: i for i in held if i.basis == "assumed"}


# Internal


def _internal(plan: Plan) -> list[Chapter]:
    """What the customer's version does not have: nothing where nothing is internal."""
    held = plan.scenario.internal
    sections = []
    if held.notes:
        lines = [line for line in held.notes.split("\n") if line.strip()]
        sections.append(Section("Notes", tuple(Paragraph(line) for line in lines)))
    found = earnings(plan)
    if found:
        currency = found[0].currency
        rows = [
            (
                each.part,
                *(bare_amount(round(value), currency) for value in (each.paid, each.price, each.earned)),
            )
            for each in (*found, earned_in_all(found))
        ]
        table = _table(
            f"What is paid and earned over all years, in {currency}",
            ("Part", "We pay", "The customer pays", "We earn"),
            rows,
            right=(1, 2, 3),
            total=True,
        )
        share = stated_percent(held.margin or 0)
        text = f"The margin is {share} of the selling price of hardware, licences and their support. Energy, space and people carry none."
        sections.append(Section("Margin", (Paragraph(text), *table)))
    lead = Paragraph("This chapter is left out of the version for the customer.", "lead")
    return [Chapter(INTERNAL, (lead,), tuple(sections))] if sections else []
