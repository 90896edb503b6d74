"""Network: its inputs, remote GPUs, what the link carries, training on several hosts, and the vendor's claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpuplan.app.cards import Cell, cell, figure, group_cell, heads, rate, select, source_titles, table
from gpuplan.app.header import field_data
from gpuplan.app.page import Card, Picture, box, parted_card, title, wide_card
from gpuplan.app.state import Workbook
from gpuplan.app.steps import fabric
from gpuplan.facts import Fact
from gpuplan.plan.gpu_speed import RDMA, round_trip, tcp_rate, usual_workload
from gpuplan.plan.network import Carried, Verdict, carried
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training import CLAIMED_GBIT_S, JOB, MAX_HOSTS, Curve, TrainingUse, claims, curves
from gpuplan.report import amount, hours, number
from gpuplan.report.charts.network import curve_look, scaling_chart
from gpuplan.report.table import screen
from gpuplan.report.tables import network as tables
from gpuplan.scenario import FIELD_BY_PATH, Scenario, field_of
from gpuplan.wording import AGGREGATION_NAMES, TRANSPORT_NAMES, VERDICTS

MARKS = {
    "good": {"sign": "\u2713", "text": VERDICTS["good"], "tone": "good"},
    "fair": {"sign": "!", "text": VERDICTS["fair"], "tone": "warn"},
    "bad": {"sign": "\u2715", "text": VERDICTS["bad"], "tone": "bad"},
}
"""A sign and a word beside each colour."""
MET = {
    True: {"sign": "\u2713", "text": "met", "tone": "good"},
    False: {"sign": "\u2715", "text": "not met", "tone": "bad"},
    None: {"sign": "?", "text": "not measured", "tone": "warn"},
}
KNEE = {0: "not worth it on one host already", 1: "a second host is not worth it"}
"""What is said of the knee where it is at once."""
VIEWS = {"efficiency": "Efficiency", "speed": "Samples a second"}
"""What the scaling chart may show."""


def _share(value: float) -> str:
    """A share in whole per cent; never 100 for what is not all of it."""
    return "99 %" if 0.995 <= value < 1 else f"{value:.0%}".replace("%", " %")


def _range(low: float, high: float) -> str:
    return f"{_share(low).removesuffix(' %')}\u2013{_share(high)}"


def _three(value: float) -> str:
    return number(float(f"{value:.3g}") if value < 1000 else round(value))


def _kept(workbook: Workbook, low: float, typical: float, high: float, key: str = "") -> Cell:
    """A share with its range, as number and as bar; the marks are where work counts as slower and as carried."""
    planning = workbook.catalog.assumptions["network-planning"]
    marks = [float(planning.fact(name).value) for name in ("fair_share", "good_share")]
    words = f"{_share(typical)}, between {_share(low)} and {_share(high)}"
    return cell(_share(typical), key=key) | {
        "range": {
            "low": low,
            "typical": typical,
            "high": high,
            "marks": marks,
            "text": _range(low, high),
            "words": words,
        }
    }


def _mark(verdict: str) -> Cell:
    return cell("") | {"mark": MARKS[verdict]}


def _known(basis: str, title: str = "") -> Cell:
    return cell("") | {"basis": basis, "title": title}


def _presets(workbook: Workbook, phase: str = "") -> list[tuple[str, str]]:
    rows = workbook.catalog.rows("network_workloads")
    return [(row.id, str(row["name"])) for row in rows if phase in ("", row["phase"])]


def _link(scenario: Scenario) -> str:
    """The link of a scenario in words: ``100 Gbit/s with PVRDMA``."""
    return f"{scenario.network.link_gbit_s} Gbit/s with {TRANSPORT_NAMES[scenario.network.transport]}"


# Inputs


def network_form(workbook: Workbook) -> dict[str, Any]:
    """What the network is, and what counts where nothing is stated."""
    scenario, catalog = workbook.plan.scenario, workbook.catalog
    links = [(str(g), f"{g} Gbit/s") for g in FIELD_BY_PATH["network.link_gbit_s"].choices]
    frames = [("1500", "1,500 bytes"), ("9000", "9,000 bytes (jumbo)")]
    tcp, trip = tcp_rate(scenario, catalog), round_trip(scenario, catalog)
    while_empty = []
    if scenario.network.latency_us is None:
        while_empty.append(f"a round trip of {amount(trip.value, 'us')} is planned with ({trip.basis})")
    if tcp.low is not None and tcp.high is not None:
        ends = f"between {number(tcp.low)} and {number(tcp.high)}"
        while_empty.append(f"a TCP rate of {rate(float(tcp.value))} Gbit/s, {ends} ({tcp.basis})")
    return {
        "title": "Network of a host",
        "fields": [
            field_data(workbook, "network.link_gbit_s", links),
            field_data(workbook, "network.transport", list(TRANSPORT_NAMES.items())),
            field_data(workbook, "network.mtu_bytes", frames),
            field_data(workbook, "network.latency_us", empty=f"{number(trip.value)} ({trip.basis})"),
        ],
        "text": f"While nothing is stated: {' and '.join(while_empty)}." if while_empty else "",
        "stale": workbook.stale,
    }


def more_network_form(workbook: Workbook) -> dict[str, Any]:
    """What is asked less often: rates and sharing of a link, other hosts, and the switches."""
    scenario, cabling = workbook.plan.scenario, workbook.plan.cabling
    tcp = tcp_rate(scenario, workbook.catalog)
    switches = [("", "chosen by gpuplan"), *((s.id, s.name) for s in workbook.catalog.switches.values())]
    bound = f"{number(cabling.max_oversubscription)}:1, by the work" if cabling else "by the work"
    return {
        "title": "More about the network",
        "fold": True,
        "hint": "TCP rate, other traffic, compute hosts, switches",
        "fields": [
            field_data(workbook, "network.tcp_gbit_s", empty=f"{rate(float(tcp.value))} ({tcp.basis})"),
            field_data(workbook, "network.users_per_link", empty="by the placement"),
            field_data(workbook, "network.other_gbit_s"),
            field_data(workbook, "network.compute_hosts", empty="none counted"),
            field_data(workbook, "network.oversubscription", empty=bound),
            field_data(workbook, "network.leaf", switches),
            field_data(workbook, "network.spine", switches),
        ],
    }


def training_form(workbook: Workbook) -> dict[str, Any]:
    """The training job, and what counts where nothing is stated."""
    scenario, job = workbook.plan.scenario, _job(workbook)
    samples = number(job.samples) if job.samples and scenario.training.samples is None else "not stated"
    return {
        "title": "Training on several hosts",
        "fields": [
            field_data(workbook, "training.workload", _presets(workbook, "training")),
            field_data(workbook, "training.hosts"),
            field_data(workbook, "training.gpus_per_host", empty=f"all {number(job.gpus_per_host)}"),
            field_data(workbook, "training.batch", empty=number(job.batch)),
            field_data(workbook, "training.gpu_samples_per_s", empty=_three(job.one_gpu_per_s)),
            field_data(workbook, "training.samples", empty=samples),
            field_data(workbook, "training.epochs", empty="not stated"),
            field_data(workbook, "training.aggregation", list(AGGREGATION_NAMES.items())),
        ],
        "text": "A job to try out, whether or not a group trains so: it changes neither hosts nor cost.",
    }


def _job(workbook: Workbook) -> TrainingUse:
    return workbook.plan.network.training[-1]


# GPUs over the network


def remote_data(workbook: Workbook) -> dict[str, Any]:
    """What the network leaves of the speed of each group on remote GPUs."""
    plan = workbook.plan
    title = {"shown": True, "title": "GPUs over the network", "stale": workbook.stale}
    if not plan.network.remote:
        return title | {"text": [[{"text": _nobody(workbook)}]]}
    columns = heads(
        "Group",
        "Work",
        "Users on a link",
        "Gbit/s a user",
        "Share of native speed",
        "Slowdown",
        "Verdict",
        "Known",
        "What would change it",
        numeric=(2, 3, 5),
    )
    rows = [_remote_row(workbook, use) for use in plan.network.remote]
    more = "A bar is the range, its line the typical share; left of the first tick work is not carried, right of the second it is."
    return title | {
        "hint": _link(plan.scenario),
        "tables": [table(columns, rows, more=more)],
    }


def _nobody(workbook: Workbook) -> str:
    if not workbook.plan.groups:
        return "No group asks for a GPU yet. What this link would carry stands below."
    return (
        "No group reaches its GPU over the network: vGPU, MIG and passthrough are in the VM\u2019s own host."
    )


def _remote_row(workbook: Workbook, use: RemoteUse) -> list[Cell]:
    plan = workbook.plan
    key = f"network.remote.{use.id}.slowdown"
    return [
        group_cell(workbook, use.id, use.name),
        _work(workbook, use),
        cell(number(use.users), numeric=True)
        | {"title": f"{rate(use.on_host_gbit_s)} Gbit/s for all in one host"},
        cell(rate(use.needs_gbit_s), numeric=True),
        _kept(workbook, use.kept_low, use.kept, use.kept_high, key),
        cell(f"\u00d7\u202f{plan.lines[key].value:.2f}", key=key, numeric=True),
        _mark(use.verdict),
        _known(use.basis, source_titles(workbook, use.sources)),
        cell("; ".join(use.changes) or "\u2013", tone="help"),
    ]


def _work(workbook: Workbook, use: RemoteUse) -> Cell:
    """What a group runs, as a choice; and how fast its GPU is at it."""
    path = f"groups.{use.id}.workload"
    names = dict(_presets(workbook))
    group = next((g for g in workbook.scenario.groups if g.id == use.id), None)
    if group is None:  # deleted, and what is left cannot be planned
        return cell(use.workload_name)
    usual = usual_workload(workbook.catalog, replace(group, workload=None))
    field = field_data(workbook, path, [("", f"{names[usual]} (usual)"), *names.items()])
    field["label"] = f"{field_of(path).label} of {use.name}"
    return cell("") | {"field": field, "note": f"speed {use.speed}"}


def rules_data(workbook: Workbook) -> dict[str, Any]:
    """The vendor's rules for GPUs over the network, and where to change what they are about."""
    rules = workbook.plan.network.rules
    if not rules:
        return {"shown": False}
    rows = [_rule_row(workbook, rule) for rule in rules]
    return {
        "shown": True,
        "tables": [table(heads("", "Rule", "To change", "Source"), rows, title="The vendor\u2019s rules")],
        "stale": workbook.stale,
    }


def _rule_row(workbook: Workbook, rule: Verdict) -> list[Cell]:
    return [
        cell("") | {"mark": MET[rule.met]},
        cell(rule.text),
        cell("") | {"visit": rule.path, "visit_text": field_of(rule.path).label},
        cell(source_titles(workbook, rule.sources), tone="small"),
    ]


# What this link carries


def carries_data(workbook: Workbook) -> dict[str, Any]:
    """What the link carries of each preset, whoever the groups are."""
    plan = workbook.plan
    found = workbook.once("network: carried", lambda: carried(plan.scenario, plan.catalog))
    hosts = next(each.training.hosts for each in found if each.training)
    rows = [_carried_row(workbook, each) for each in found]
    return {
        "shown": True,
        "title": "What this link carries",
        "hint": _link(plan.scenario),
        "text": [
            [
                {
                    "text": "Share of native speed that each kind of work keeps: on a remote GPU with the link to itself, and in "
                    f"training on {amount(hosts, 'host')}."
                }
            ]
        ],
        "tables": [
            table(
                heads("Work", "Remote GPU, one user", "", "Known", f"Training on {hosts} hosts", "", "Known"),
                rows,
            )
        ],
        "stale": workbook.stale,
    }


def _carried_row(workbook: Workbook, each: Carried) -> list[Cell]:
    use, trains = each.remote, each.training
    row = [
        cell(use.name, tone="whole"),
        _kept(workbook, use.kept_low, use.kept, use.kept_high),
        _mark(use.verdict),
        _known(use.basis, source_titles(workbook, use.sources)),
    ]
    if trains is None:
        return [*row, cell("\u2013"), cell(""), cell("")]
    return [
        *row,
        _kept(workbook, trains.efficiency_low, trains.efficiency, trains.efficiency_high),
        _mark(trains.verdict),
        _known(trains.basis, source_titles(workbook, trains.sources)),
    ]


# Training on several hosts


def training_data(workbook: Workbook) -> dict[str, Any]:
    """The training job in figures, and what would help it."""
    plan, job = workbook.plan, _job(workbook)
    worth = plan.catalog.assumptions["network-planning"].fact("worth_share").value
    keeps = f"a GPU keeps {_share(float(worth))} up to there"
    knee = amount(job.knee_hosts, "host") if job.knee_hosts else "none"
    takes = "\u2013" if job.hours is None else hours(job.hours)
    times = "state epochs and samples"
    if job.hours is not None and job.samples and job.epochs:
        times = f"{amount(job.epochs, '')} epochs of {number(job.samples)} {job.unit}"
    elif job.samples:
        times = "state epochs"
    figures = [
        figure(
            f"Efficiency on {job.hosts} \u00d7 {amount(job.gpus_per_host, 'GPU')}",
            _share(job.efficiency),
            "",
            key=f"network.{JOB}.efficiency",
        )
        | {"range": _kept(workbook, job.efficiency_low, job.efficiency, job.efficiency_high)["range"]}
        | {"mark": MARKS[job.verdict], "basis": job.basis},
        figure(
            f"{job.unit.capitalize()} a second",
            _three(job.per_s),
            f"one GPU alone {_three(job.one_gpu_per_s)}, {job.speed}",
            key=f"network.{JOB}.per_s",
        ),
        figure(
            "Time of a step",
            f"{_three(job.step_s)} s",
            f"{_three(job.compute_s)} s of it computing",
            key=f"network.{JOB}.step_s",
        ),
        *_allreduce(workbook),
        figure("Time for the epochs", takes, times, key="" if job.hours is None else f"network.{JOB}.hours"),
        figure(
            "Hosts worth it",
            f"{knee} or more" if job.knee_hosts == MAX_HOSTS else knee,
            KNEE.get(job.knee_hosts, keeps),
            key=f"network.{JOB}.knee_hosts",
        ),
    ]
    text = []
    if job.changes:
        text = [[{"text": "What would change it: ", "strong": True}, {"text": f"{'; '.join(job.changes)}."}]]
    return {
        "shown": True,
        "figures": figures,
        "after": text,
        "stale": workbook.stale,
    }


def _allreduce(workbook: Workbook) -> list[dict[str, Any]]:
    """How long the gradients take alone, where they are summed in a ring."""
    key, job = f"network.{JOB}.allreduce_s", _job(workbook)
    line = workbook.plan.lines.get(key)
    if line is None:
        return []
    note = f"a host moves {rate(job.needs_gbit_s)} Gbit/s on average"
    return [figure("To sum the gradient", f"{_three(line.value)} s", note, key=key)]


def groups_data(workbook: Workbook) -> dict[str, Any]:
    """The groups that train across VMs."""
    groups = workbook.plan.network.training[:-1]
    if not groups:
        return {"shown": False}
    columns = heads(
        "Group",
        "Work",
        "VMs of a job",
        "Efficiency",
        "Verdict",
        "Known",
        "A second",
        "Hosts worth it",
        "What would change it",
        numeric=(2, 6, 7),
    )
    rows = [
        [
            group_cell(workbook, use.id, use.name),
            cell(use.workload_name),
            cell(number(use.hosts), numeric=True),
            _kept(
                workbook,
                use.efficiency_low,
                use.efficiency,
                use.efficiency_high,
                f"{use.path}.efficiency",
            ),
            _mark(use.verdict),
            _known(use.basis, source_titles(workbook, use.sources)),
            cell(f"{_three(use.per_s)} {use.unit}", key=f"{use.path}.per_s", numeric=True),
            cell(
                f"{use.knee_hosts} or more" if use.knee_hosts == MAX_HOSTS else number(use.knee_hosts),
                key=f"{use.path}.knee_hosts",
                numeric=True,
            ),
            cell("; ".join(use.changes) or "\u2013", tone="help"),
        ]
        for use in groups
    ]
    trained = table(columns, rows, title="Groups that train across VMs")
    return {"shown": True, "tables": [trained], "stale": workbook.stale}


def _curves(workbook: Workbook) -> tuple[Curve, ...]:
    plan = workbook.plan
    return workbook.once("network: curves", lambda: curves(plan.scenario, plan.catalog))


def curve_name(curve: Curve) -> str:
    """A link and its transport in a few words."""
    own = " (this design)" if curve.chosen else ""
    how = TRANSPORT_NAMES[curve.transport] if curve.chosen or curve.transport not in RDMA else "RDMA"
    return f"{number(curve.link_gbit_s)} Gbit/s {how}{own}"


def _view(workbook: Workbook) -> str:
    view = workbook.looked.get("scaling", "efficiency")
    return view if view in VIEWS else "efficiency"


def scaling_head(workbook: Workbook) -> dict[str, Any]:
    """Heading of the scaling chart, and what it shows."""
    job = _job(workbook)
    return {
        "shown": True,
        "title": "More hosts",
        "hint": f"{job.workload_name}, {amount(job.gpus_per_host, 'GPU')} a host"
        + (", with its range" if _view(workbook) == "efficiency" else ""),
        "selects": [select("scaling", "Show", _view(workbook), VIEWS)],
        "legend": [{"name": curve_name(curve), **_look(curve)} for curve in _curves(workbook)],
        "stale": workbook.stale,
    }


def _look(curve: Curve) -> dict[str, Any]:
    return curve_look(chosen=curve.chosen, link=number(curve.link_gbit_s), rdma=curve.transport in RDMA)


def scaling_rows(workbook: Workbook) -> dict[str, Any]:
    """What the scaling chart draws."""
    rows = []
    for curve in _curves(workbook):
        drawn = _look(curve)
        for step in curve.steps:
            shown = (step.efficiency, step.low, step.high)
            rows.append(
                {
                    "name": curve_name(curve),
                    "chosen": curve.chosen,
                    "hosts": step.hosts,
                    "value": step.efficiency if _view(workbook) == "efficiency" else step.per_s,
                    "low": step.low,
                    "high": step.high,
                    "words": f"{_share(shown[0])} ({_range(*shown[1:])})",
                    "per_s": f"{_three(step.per_s)} {_job(workbook).unit} a second",
                    **drawn,
                }
            )
    return {"view": _view(workbook), "unit": _job(workbook).unit, "rows": rows}


def scaling_table(workbook: Workbook) -> dict[str, Any]:
    """The numbers of the scaling chart, while the details are open."""
    opened = "scaling" in workbook.opened
    data = {
        "shown": True,
        "key": "scaling",
        "title": "The same as a table",
        "hint": "efficiency, and samples a second, by hosts",
        "open": opened,
        "stale": workbook.stale,
        "tables": [],
    }
    if not opened:
        return data
    found = _curves(workbook)
    columns = heads("Hosts", *(curve_name(c) for c in found), numeric=tuple(range(1, len(found) + 1)))
    rows = []
    for steps in zip(*(curve.steps for curve in found), strict=True):
        rows.append(
            [
                cell(number(steps[0].hosts)),
                *(cell(_share(s.efficiency), numeric=True) | {"note": _three(s.per_s)} for s in steps),
            ]
        )
    return data | {"tables": [table(columns, rows)]}


# The vendor's claim


def claims_data(workbook: Workbook) -> dict[str, Any]:
    """What would make the vendor's doubling with PVRDMA true, network by network."""
    plan = workbook.plan
    found = workbook.once("network: claims", lambda: claims(plan.scenario, plan.catalog))
    tcp = tcp_rate(plan.scenario, plan.catalog, CLAIMED_GBIT_S)
    true = [claim.workload_name for claim in found if round(claim.speedup, 2) >= 2]
    rest = "for the others" if true else "for all of these"
    only = f"only for {' and for '.join(true)}" if true else "for none of these"
    basis = "stated" if plan.scenario.network.tcp_gbit_s is not None else tcp.basis
    return {
        "shown": True,
        "title": "The vendor\u2019s \u201c2\u00d7 with PVRDMA on four T4 nodes\u201d",
        "text": [
            [
                {
                    "text": "A claim without model or batch. With one T4 a node, 100 Gbit/s and TCP at "
                    f"{number(round(float(tcp.value), 1))} Gbit/s ({basis}) it is true {only}; {rest} TCP would have to be as slow as the "
                    f"last column says. {_tcp_range(tcp)}"
                }
            ]
        ],
        "tables": [
            screen(
                tables.vendor_claims(found),
                more="Computed with parameters that are fitted to published measurements; no measurement behind the claim was found.",
            )
        ],
        "stale": workbook.stale,
    }


def _tcp_range(tcp: Fact) -> str:
    if tcp.low is None or tcp.high is None:
        return ""
    return f"TCP may move {tcp.low:g} to {tcp.high:g} Gbit/s: the speed-up is shown with its range."


PAGE = box(
    "gp-page",
    title("Network", "What it carries, what it slows down, how it is wired."),
    box("gp-inputs", Card("form", network_form), Card("form", more_network_form)),
    parted_card(Card("panel", remote_data), Card("panel", rules_data)),
    parted_card(Card("panel", fabric.fabric_data), Card("fabric", fabric.drawing_data)),
    box(
        "gp-split gp-even gp-cards-even",
        box("gp-card", Card("panel", fabric.settings_data)),
        box("gp-card", Card("panel", fabric.failures_data)),
    ),
    wide_card(Card("panel", carries_data)),
    box(
        "gp-inputs gp-joined",
        Card("form", training_form),
        parted_card(
            Card("panel", training_data),
            Card("panel", groups_data),
            Card("panel", scaling_head, slow=True),
            Picture(scaling_rows, scaling_chart, slow=True),
            Card("tables", scaling_table, slow=True),
        ),
    ),
    wide_card(Card("panel", claims_data, slow=True)),
)
