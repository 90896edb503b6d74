"""Network: whether the link is enough, its inputs, remote GPUs, typical work, the vendor's claim, and the fabric with its settings and failures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

from gpuplan.analysis.link_speeds import PATH as LINK
from gpuplan.analysis.link_speeds import RANKS, Speed, Use, link_speeds, link_uses
from gpuplan.analysis.rdma_claims import CLAIMED_GBIT_S, claims
from gpuplan.app.cards import Card, Contents, chip, figures, lettered, panel, paragraph, plain, source_titles
from gpuplan.app.forms import field_data, form
from gpuplan.app.state import Workbook
from gpuplan.app.steps.training import MARKS, judged, presets, with_changes
from gpuplan.facts import Fact
from gpuplan.locales import written
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.network import carried
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.switches import Hosts, Kind, Switches
from gpuplan.plan.training.speed import RDMA, round_trip, tcp_rate, usual_workload
from gpuplan.report import number
from gpuplan.report.headlines import HEADLINES, Headline
from gpuplan.report.table import Cell, Column, screen
from gpuplan.report.tables import network as tables
from gpuplan.report.tables.network import part_failures, settings
from gpuplan.scenario import FIELD_BY_PATH, Scenario, field_of
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, TRANSPORT_NAMES, amount, capital, headline_money, said, some_of, two_digits

MET = {
    True: {"sign": "\u2713", "text": "met", "tone": "good"},
    False: {"sign": "\u2715", "text": "not met", "tone": "bad"},
    None: {"sign": "?", "text": "not measured", "tone": "warn"},
}


def _link(scenario: Scenario) -> str:
    """Return the link of a scenario in words: ``100 Gbit/s with PVRDMA``."""
    transport = TRANSPORT_NAMES[scenario.network.transport]
    return said("screen.network.link", rate=scenario.network.link_gbit_s, transport=transport)


@partial(form, "network")
def network_form(workbook: Workbook) -> dict[str, Any]:
    links = [(str(g), f"{g} Gbit/s") for g in FIELD_BY_PATH["network.link_gbit_s"].choices]
    trip = round_trip(workbook.plan.scenario, workbook.catalog)
    empties = {"network.latency_us": f"{number(trip.value)} ({trip.basis})"}
    return {"options": {"network.link_gbit_s": links}, "empties": empties}


@partial(form, "rates")
def rates_form(workbook: Workbook) -> dict[str, Any]:
    tcp, more = tcp_rate(workbook.plan.scenario, workbook.catalog), ""
    rate_words = two_digits(float(tcp.value))
    if tcp.low is not None and tcp.high is not None:
        link = workbook.plan.scenario.network.link_gbit_s
        low, high = min(tcp.low, link), min(tcp.high, link)
        more = said("screen.network.without a rate", rate=rate_words, basis=tcp.basis, low=low, high=high)
    empties = {"network.tcp_gbit_s": f"{rate_words} ({tcp.basis})"}
    return {"empties": empties, "text": more, "stale": workbook.stale}


@partial(form, "fabric")
def fabric_form(workbook: Workbook) -> dict[str, Any]:
    cabling = workbook.plan.cabling
    most = cabling.max_oversubscription if cabling else None
    bound = said("screen.network.most by workload" if cabling else "screen.network.by workload", most=most)
    return {"empties": {"network.oversubscription": bound}}


SIGNS: Mapping[str, contract.Mark] = {
    **MARKS,
    "none": {"sign": "\u2013", "text": said("screen.network.no limit"), "tone": ""},
    "example": {"sign": "\u2013", "text": said("screen.network.not in use"), "tone": ""},
    "no fabric": {"sign": "?", "text": said("screen.network.no fabric"), "tone": "warn"},
    "wasted": {"sign": "", "text": said("screen.network.wasted"), "tone": "wasted"},
}
MAIN_GBIT_S = (10, 25, 100, 400)
"""Speeds that most fabrics have; the others are smaller in the scale, and on no card unless one of them is chosen or enough."""


def _speeds(workbook: Workbook) -> tuple[list[Speed], Speed | None]:
    """Return the design on each link speed, and the slowest that none is better than; nothing until that is worked out."""
    speeds = list(workbook.later("network: speeds", link_speeds) or ())
    return speeds, min(speeds, key=lambda speed: (speed.rank, speed.gbit_s), default=None)


def message(workbook: Workbook) -> Headline:
    """Return the verdict on the link; once other speeds are planned, with the slowest that is enough."""
    told, (_, least) = HEADLINES["network"](workbook.plan), _speeds(workbook)
    if least is None or least.rank or least.gbit_s == workbook.plan.scenario.network.link_gbit_s:
        return told
    words = {"told": told.sentence.rstrip("."), "speed": least.gbit_s}
    key = "screen.network.enough but vMotion" if _stuns(least) else "screen.network.enough"
    return told._replace(sentence=said(key, **words))


def _stuns(speed: Speed) -> bool:
    """True if vMotion exceeds the stun limit on a link that may be enough for all else."""
    return any(use.verdict == "over" for use in speed.uses)


@panel(draws="links")
def lanes_data(workbook: Workbook) -> Contents:
    uses, (speeds, _) = link_uses(workbook.plan), _speeds(workbook)
    return {
        "text": [] if uses else [plain(said("screen.network.no workloads"))],
        "path": LINK,
        "value": workbook.plan.scenario.network.link_gbit_s,
        "speeds": [{"value": int(n), "main": n in MAIN_GBIT_S} for n in FIELD_BY_PATH[LINK].choices],
        "lanes": [_lane(workbook, use, speeds) for use in uses],
        "legend": [SIGNS[name] for name in ("bad", "fair", "good", "wasted")],
    }


def _lane(workbook: Workbook, use: Use, speeds: Sequence[Speed]) -> contract.Lane:
    names = {group.id: group.name for group in workbook.plan.groups}
    results = [next((one for one in speed.uses if one.key == use.key), use) for speed in speeds]
    same = len([*takewhile(lambda one: (one.verdict, one.means) == results[-1][:2], reversed(results))])
    cells, before = list[contract.LinkCell](), ""
    for left, one in zip(range(len(results), 0, -1), results, strict=True):
        wasted = left < same and one.verdict in ("good", "none")
        mark, again = SIGNS["wasted" if wasted else one.verdict], one.value == before
        cells.append({"mark": mark, "text": one.value, "again": again, "title": one.means})
        before = one.value
    return {
        "chips": [chip(workbook, group)["chip"] for group in use.groups],
        "name": use.name or some_of([names[group] for group in use.groups]),
        "about": use.about,
        "cells": cells,
        "mark": SIGNS[use.verdict],
        "means": use.means,
        "key": use.key if use.key in workbook.plan.lines else "",
    }


@partial(Card, "posture", slow=True)
def speeds_data(workbook: Workbook) -> contract.Posture:
    """Return the speeds that matter side by side: the chosen one, the slowest that is enough, and the next ones."""
    chosen, (speeds, least) = workbook.plan.scenario.network.link_gbit_s, _speeds(workbook)
    slower = [n for n in reversed(MAIN_GBIT_S) if n < chosen][:1]
    matter = [chosen, least.gbit_s if least else 0, *slower, *(n for n in MAIN_GBIT_S if n > chosen)]
    shown = [*dict.fromkeys(matter)][:3]
    return {
        "path": LINK,
        "value": chosen,
        "cards": [_card(workbook, speed) for speed in speeds if speed.gbit_s in shown],
        "label": FIELD_BY_PATH[LINK].label,
        "question": FIELD_BY_PATH[LINK].question,
        "problem": "",
        "stale": workbook.stale,
    }


def _card(workbook: Workbook, speed: Speed) -> contract.PostureCard:
    costs, more = workbook.plan.costs, speed.dearer or 0.0
    worst = [use for use in speed.uses if speed.rank and RANKS.get(use.verdict) == speed.rank]
    words = [said("screen.network.slow for", names=[*dict.fromkeys(use.name or use.about for use in worst)])]
    stuns = [said("screen.network.but vMotion")] * _stuns(speed)
    words, cost = [*words[: len(worst)], *stuns, said("screen.network.leaves", speed=speed)], ""
    if costs and more:
        key = "screen.network.dearer" if more > 0 else "screen.network.cheaper"
        cost = said(key, money=headline_money(abs(more), costs.currency), years=costs.years)
        cost += said("screen.network.excludes", items=len(speed.excludes)) if speed.excludes else ""
    return {
        "value": speed.gbit_s,
        "title": said("screen.network.speed of", speed=speed.gbit_s),
        "mark": SIGNS[("good", "fair", "bad")[speed.rank]],
        "words": " ".join(words),
        "about": "; ".join(speed.excludes),
        "cost": cost,
        "key": "",
        "hosts": "",
        "gpus": "",
    }


@panel()
def remote_data(workbook: Workbook) -> Contents:
    plan, uses = workbook.plan, workbook.plan.network.remote
    if not uses:
        return said("screen.network.no remote" if plan.groups else "screen.network.no workloads")
    alike = len({use.speed for use in uses}) == 1
    table = lettered(workbook, tables.remote_gpus(plan), "group", [use.id for use in uses])
    table = judged(workbook, table, "kept", uses)
    table = table.dressed("work", lambda n, _: _work(workbook, uses[n], not alike))
    table = table.dressed("users", lambda n, _: {"title": said("screen.network.all in one", use=uses[n])})
    more = said("screen.network.bars")
    if alike:
        more = said("screen.network.bars and speed", bars=more, speed=uses[0].speed)
    return {"hint": _link(plan.scenario), "tables": [screen(with_changes(table, uses), more=more)]}


def _work(workbook: Workbook, use: RemoteUse, told: bool) -> dict[str, Any]:
    """Return the workload of a group, as a choice; with ``told``, also the basis of the speed of its GPU."""
    path = f"groups.{use.id}.workload"
    names = dict(presets(workbook.catalog))
    group = next((g for g in workbook.scenario.groups if g.id == use.id), None)
    if group is None:  # deleted, and what is left cannot be planned
        return {}
    usual = usual_workload(workbook.catalog, replace(group, workload=None))
    usual_name = said("screen.network.usual", name=names[usual])
    field = field_data(workbook, path, [("", usual_name), *names.items()])
    field["label"] = said("screen.of", label=field_of(path).label, name=use.name)
    return {"text": "", "field": field, "note": said("screen.network.speed", speed=use.speed) if told else ""}


@panel()
def rules_data(workbook: Workbook) -> Contents:
    rules = workbook.plan.network.rules
    if not rules:
        return None
    table = tables.rules(workbook.plan).dressed("met", lambda _, cell: {"text": "", "mark": MET[cell.value]})
    table = table.dressed(
        "path", lambda _, cell: {"text": "", "visit": cell.value, "visit_text": field_of(cell.value).label}
    )
    sources = [Cell(source_titles(workbook, rule.sources), tone="small") for rule in rules]
    table = table.beside(Column("titles", said("table.price_fields.source")), sources, after="rule")
    return {"tables": [screen(table, table.title)]}


@panel()
def carries_data(workbook: Workbook) -> Contents:
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
        table = table.beside(Column(basis, said("table.basis"), "basis"), bases, after=verdict)
        table = judged(workbook, table, column, uses, verdict, basis)
    return {"hint": _link(plan.scenario), "tables": [screen(table)]}


@panel(slow=True)
def claims_data(workbook: Workbook) -> Contents:
    plan = workbook.plan
    results = workbook.once("network: claims", lambda: claims(plan.scenario, plan.catalog))
    tcp = tcp_rate(plan.scenario, plan.catalog, CLAIMED_GBIT_S)
    true = [claim.workload_name for claim in results if round(claim.speedup, 2) >= 2]
    text = said(
        "screen.network.claim for some" if true else "screen.network.claim for none",
        rate=round(float(tcp.value), 1),
        basis="stated" if plan.scenario.network.tcp_gbit_s is not None else tcp.basis,
        workloads=" and for ".join(true),
        range=_tcp_range(tcp),
    )
    more = said("screen.network.claim computed")
    return {"text": [plain(text)], "tables": [screen(tables.vendor_claims(results), more=more)]}


def _tcp_range(tcp: Fact) -> str:
    if tcp.low is None or tcp.high is None:
        return ""
    return said("screen.network.TCP may move", low=written(tcp.low, "g"), high=written(tcp.high, "g"))


SHOWN_SWITCHES = 8
"""Most leaves, and spines, that are drawn; the words give their number."""


@panel()
def fabric_data(workbook: Workbook) -> Contents:
    cabling = workbook.plan.cabling
    if cabling is None:
        return said("screen.fabric.no hosts")
    found, switches, ports = cabling, cabling.switches, cabling.ports
    several, compute = cabling.distributed_switches > 1, cabling.compute_ports
    shared = "shared" if workbook.plan.scenario.network.transport in RDMA else "none"
    more = ["compute_ports_apart" if compute.rdma else "compute_ports"] if compute else []
    names = ["ports", *more, "rdma" if ports.rdma else "no_rdma", "switches" if several else "one_switch"]
    if switches is not None:
        names += ["leaves", "spines" if switches.spine else "no_spines", "oversubscription"]
        alone = "cables" if switches.spine else "cables_without_spines"
        names.append("cables_of_fabrics" if switches.where else alone)
    apart = NAMES["ports of RDMA"]["several" if several else "apart" if ports.rdma else shared]
    shown = figures(names, found=found, switches=switches, apart=apart)
    if switches is not None:
        return {"figures": shown}
    return {"figures": shown, "after": [paragraph("screen.fabric.no switches", reason=cabling.reason)]}


@panel(needs="cabling", draws="fabric")
def drawing_data(workbook: Workbook, cabling: Cabling) -> Contents:
    if cabling.switches is None:
        return None
    infiniband = workbook.plan.scenario.network.transport == "infiniband"
    found = cabling.switches
    return {"fabrics": [_fabric(cabling, found, kind, infiniband) for kind in found.kinds]}


def _fabric(found: Cabling, switches: Switches, kind: Kind, infiniband: bool) -> contract.OneFabric:
    shape, hosts, rdma = kind.fabric.shape, kind.fabric.hosts, found.ports.rdma
    to_leaf = said("screen.fabric.to each leaf", links=shape.host_links_per_leaf)
    speed = f"\u00d7 {number(switches.up_gbit_s)} Gbit/s"
    return {
        "name": capital(kind.name),
        "about": _about(found, switches, kind),
        "spines": {
            **_row(shape.spines, switches.spine_name),
            "links": shape.links_per_spine,
            "text": f"{number(shape.links_per_spine)} {speed}",
        },
        "leaves": _row(shape.leaves, switches.leaf_name),
        "peer": {"links": shape.peer_cables, "text": f"{number(shape.peer_cables)} {speed}"},
        "hosts": {
            "text": _hosts_words(hosts),
            "pair": " and ".join(_hosts_words(hosts))
            if shape.leaves == 2
            else said("screen.fabric.up to", hosts=shape.hosts_per_pair),
            "ports": [*_ports_words(found, switches), to_leaf],
            "links": shape.host_links_per_leaf,
            "rdma": 0 if infiniband else rdma,
            "apart": said("screen.fabric.apart", ports=rdma) if infiniband and rdma else "",
        },
    }


def _row(count: int, name: str) -> contract.Switches:
    return {"count": count, "drawn": min(count, SHOWN_SWITCHES), "name": name}


def _hosts_words(hosts: Hosts) -> list[str]:
    compute = [amount(hosts.compute_hosts, "compute host")] if hosts.compute_hosts else []
    return [amount(hosts.gpu_hosts, "GPU host"), *compute]


def _ports_words(found: Cabling, switches: Switches) -> list[str]:
    key = "screen.fabric.ports" if found.distributed_switches < 2 else "screen.fabric.ports and RDMA"
    return [said(key, ports=found.ports), said("screen.fabric.speed", switches=switches)]


def _about(found: Cabling, switches: Switches, kind: Kind) -> str:
    shape, ports = kind.fabric.shape, " ".join(_ports_words(found, switches))
    key = "screen.fabric.about spines" if shape.spines else "screen.fabric.about leaves"
    name = f"{capital(kind.name)}: " if kind.name else ""
    hosts = " and ".join(_hosts_words(kind.fabric.hosts))
    return said(key, name=name, switches=switches, shape=shape, hosts=hosts, ports=ports)


@panel(needs="cabling")
def settings_data(workbook: Workbook, cabling: Cabling) -> Contents:
    rows = cabling.settings
    return settings(cabling).dressed("what", lambda n, _: {"note": source_titles(workbook, rows[n].sources)})


@panel(needs="cabling")
def failures_data(_workbook: Workbook, cabling: Cabling) -> Contents:
    return part_failures(cabling)
