"""Network: whether the link is enough, its inputs, remote GPUs, typical work, training on several hosts, and the vendor's claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.analysis.rdma_claims import CLAIMED_GBIT_S, claims
from gpuplan.app.cards import Contents, lettered, panel, rate, said, source_titles, strong
from gpuplan.app.forms import field_data, form
from gpuplan.app.state import Workbook
from gpuplan.app.steps.training import judged, presets, with_changes
from gpuplan.facts import Fact
from gpuplan.locales import written
from gpuplan.plan.link_verdicts import LinkVerdict, link_verdicts
from gpuplan.plan.network import carried
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.speed import round_trip, tcp_rate, usual_workload
from gpuplan.report import number
from gpuplan.report.table import Cell, Column, screen
from gpuplan.report.tables import network as tables
from gpuplan.scenario import FIELD_BY_PATH, Scenario, field_of
from gpuplan.widgets import contract
from gpuplan.wording import TRANSPORT_NAMES, counted, some_of

MET = {
    True: {"sign": "\u2713", "text": "met", "tone": "good"},
    False: {"sign": "\u2715", "text": "not met", "tone": "bad"},
    None: {"sign": "?", "text": "not measured", "tone": "warn"},
}
"""A sign and a word beside each colour."""
BARS = "Each bar shows the range of native speed kept, with a line at the typical value. Below the first mark the link is too slow; above the second it is enough."
NO_WORKLOADS = "The other tabs show how this link serves typical workloads."
NO_REMOTE = "No GPU is reached over the network: vGPU, MIG and passthrough are in the VM\u2019s own host."
FEW = 3
"""Most names in a sentence."""
SHOWN_HELP = 2
"""Most remedies beside the verdict."""


def _link(scenario: Scenario) -> str:
    """Return the link of a scenario in words: ``100 Gbit/s with PVRDMA``."""
    return f"{scenario.network.link_gbit_s} Gbit/s with {TRANSPORT_NAMES[scenario.network.transport]}"


# Inputs


@partial(form, "network", "Network of a host")
def network_form(workbook: Workbook) -> dict[str, Any]:
    """Return the speeds of a host's link to choose from, and its round trip."""
    links = [(str(g), f"{g} Gbit/s") for g in FIELD_BY_PATH["network.link_gbit_s"].choices]
    trip = round_trip(workbook.plan.scenario, workbook.catalog)
    return {
        "options": {"network.link_gbit_s": links},
        "empties": {"network.latency_us": f"{number(trip.value)} ({trip.basis})"},
    }


@partial(form, "rates", "Rates")
def rates_form(workbook: Workbook) -> dict[str, Any]:
    """Return the rates of a link, and its users: shown where GPUs are reached over it."""
    tcp, more = tcp_rate(workbook.plan.scenario, workbook.catalog), ""
    if tcp.low is not None and tcp.high is not None:
        link = workbook.plan.scenario.network.link_gbit_s
        ends = f"between {number(min(tcp.low, link))} and {number(min(tcp.high, link))} Gbit/s"
        more = f"Without a TCP rate, the plan uses {rate(float(tcp.value))} Gbit/s ({tcp.basis}, {ends})."
    return {
        "empties": {"network.tcp_gbit_s": f"{rate(float(tcp.value))} ({tcp.basis})"},
        "text": more,
        "stale": workbook.stale,
    }


@partial(form, "fabric", "Hosts and switches")
def fabric_form(workbook: Workbook) -> dict[str, Any]:
    """Return the oversubscription that the workloads allow."""
    cabling = workbook.plan.cabling
    bound = f"{number(cabling.max_oversubscription)}:1, by workload" if cabling else "by workload"
    return {"empties": {"network.oversubscription": bound}}


# Verdict


@panel("Is the link enough?")
def verdict_data(workbook: Workbook) -> Contents:
    """Return whether the link suffices for each use that depends on it, and the remedies."""
    plan, verdicts = workbook.plan, link_verdicts(workbook.plan)
    if not plan.groups:
        return NO_WORKLOADS
    if not verdicts:
        return NO_REMOTE
    table = lettered(workbook, tables.speed_kept(plan), "who")
    table = table.dressed("work", lambda n, _: _in_short(verdicts[n]))
    table = judged(workbook, table, "kept", [verdict.use for verdict in verdicts], basis="")
    more = BARS if any(verdict.use for verdict in verdicts) else ""
    return {"hint": _link(plan.scenario), "tables": [screen(table, more=more)], "after": _helped(verdicts)}


def _helped(found: Sequence[LinkVerdict]) -> list[list[contract.Piece]]:
    """Return the remedies, each once with all that it helps; if there are many, those for the slowest."""
    names: dict[str, list[str]] = {}
    for link in sorted(found, key=lambda each: each.verdict != "bad"):
        if link.use and link.use.changes and link.verdict != "good":
            names.setdefault("; ".join(link.use.changes), []).append(link.name)
    helped = []
    for change, who in ((change, list(dict.fromkeys(who))) for change, who in names.items()):
        whose = some_of(who) if len(who) <= FEW else counted(len(who), "workload")
        helped.append(said(strong(f"{whose}: "), f"{change}."))
    left = len(helped) - SHOWN_HELP
    return [*helped[:SHOWN_HELP], said(f"The other tabs show {number(left)} more.")] if left > 0 else helped


def _in_short(each: LinkVerdict) -> dict[str, Any]:
    """Return a workload's use of the network, in a word or two; on hovering, its name."""
    if each.use is None:
        return {}
    runs = {"title": each.use.workload_name}
    if isinstance(each.use, RemoteUse):
        return runs | {"text": "Remote GPUs"}
    return runs | {"text": f"Training, {counted(each.use.hosts, each.place)}"}


# GPUs over the network


@panel("GPUs over the network")
def remote_data(workbook: Workbook) -> Contents:
    """Return the speed that the network leaves each group on remote GPUs."""
    plan, uses = workbook.plan, workbook.plan.network.remote
    if not uses:
        return NO_REMOTE if plan.groups else NO_WORKLOADS
    alike = len({use.speed for use in uses}) == 1
    table = lettered(workbook, tables.remote_gpus(plan), "group", [use.id for use in uses])
    table = judged(workbook, table, "kept", uses).dressed(
        "work", lambda n, _: _work(workbook, uses[n], not alike)
    )
    table = table.dressed(
        "users", lambda n, _: {"title": f"{rate(uses[n].on_host_gbit_s)} Gbit/s for all in one host"}
    )
    speed = f" Speed of the GPU {uses[0].speed}." * alike
    return {
        "hint": _link(plan.scenario),
        "tables": [screen(with_changes(table, uses), more=f"{BARS}{speed}")],
    }


def _work(workbook: Workbook, use: RemoteUse, told: bool) -> dict[str, Any]:
    """Return the workload of a group, as a choice; with ``told``, also the basis of the speed of its GPU."""
    path = f"groups.{use.id}.workload"
    names = dict(presets(workbook.catalog))
    group = next((g for g in workbook.scenario.groups if g.id == use.id), None)
    if group is None:  # deleted, and what is left cannot be planned
        return {}
    usual = usual_workload(workbook.catalog, replace(group, workload=None))
    field = field_data(workbook, path, [("", f"{names[usual]} (usual)"), *names.items()])
    field["label"] = f"{field_of(path).label} of {use.name}"
    return {"text": "", "field": field, "note": f"speed {use.speed}" * told}


@panel()
def rules_data(workbook: Workbook) -> Contents:
    """Return the vendor's rules for GPUs over the network, and where to change the inputs they concern."""
    rules = workbook.plan.network.rules
    if not rules:
        return None
    table = tables.rules(workbook.plan).dressed("met", lambda _, cell: {"text": "", "mark": MET[cell.value]})
    table = table.dressed(
        "path", lambda _, cell: {"text": "", "visit": cell.value, "visit_text": field_of(cell.value).label}
    )
    sources = [Cell(source_titles(workbook, rule.sources), tone="small") for rule in rules]
    table = table.beside(Column("titles", "Source"), sources, after="rule")
    return {"tables": [screen(table, table.title)]}


# What this link carries


@panel("What this link carries")
def carries_data(workbook: Workbook) -> Contents:
    """Return how much of each preset the link carries, whatever the groups are."""
    plan = workbook.plan
    rows = workbook.once("network: carried", lambda: carried(plan.scenario, plan.catalog))
    hosts = next(row.training.hosts for row in rows if row.training)
    table = tables.carried_work(rows, hosts).dressed("work", lambda *_: {"tone": "whole"})
    for column, uses in (
        ("kept", [row.remote for row in rows]),
        ("efficiency", [row.training for row in rows]),
    ):
        verdict, basis = f"{column}_verdict", f"{column}_basis"
        bases = [use and use.basis for use in uses]
        table = table.beside(Column(basis, "Basis", "basis"), bases, after=verdict)
        table = judged(workbook, table, column, uses, verdict, basis)
    return {"hint": _link(plan.scenario), "tables": [screen(table)]}


# The vendor's claim


@panel("The vendor\u2019s \u201c2\u00d7 with PVRDMA on four T4 nodes\u201d", slow=True)
def claims_data(workbook: Workbook) -> Contents:
    """Return the conditions for the vendor's doubling with PVRDMA, network by network."""
    plan = workbook.plan
    results = workbook.once("network: claims", lambda: claims(plan.scenario, plan.catalog))
    tcp = tcp_rate(plan.scenario, plan.catalog, CLAIMED_GBIT_S)
    true = [claim.workload_name for claim in results if round(claim.speedup, 2) >= 2]
    rest = "for the others" if true else "for all of these"
    only = f"only for {' and for '.join(true)}" if true else "for none of these"
    basis = "stated" if plan.scenario.network.tcp_gbit_s is not None else tcp.basis
    text = (
        f"The claim names neither model nor batch size. With one T4 per node, 100 Gbit/s and TCP at {number(round(float(tcp.value), 1))} "
        f"Gbit/s ({basis}) it holds {only}; {rest}, TCP would have to be as slow as the last column shows. {_tcp_range(tcp)}"
    )
    more = "Computed with parameters fitted to published measurements; no measurement behind the claim was found."
    return {"text": [said(text)], "tables": [screen(tables.vendor_claims(results), more=more)]}


def _tcp_range(tcp: Fact) -> str:
    if tcp.low is None or tcp.high is None:
        return ""
    return f"TCP may move {written(tcp.low, 'g')} to {written(tcp.high, 'g')} Gbit/s, which gives the speed-up its range."
