"""Network: whether the link is enough, its inputs, remote GPUs, typical work, the vendor's claim, and the fabric with its settings and failures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.analysis.link_speeds import PATH as LINK
from gpuplan.analysis.link_speeds import Speed, Use, least_enough, link_speeds, link_uses
from gpuplan.analysis.rdma_claims import CLAIMED_GBIT_S, claims
from gpuplan.app.cards import Card, Contents, chip, figures, lettered, panel, paragraph, plain, source_titles
from gpuplan.app.forms import field_data, form
from gpuplan.app.state import Workbook
from gpuplan.app.steps.training import MARKS, judged, presets, with_changes
from gpuplan.facts import Fact
from gpuplan.locales import written
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.link_verdicts import LinkVerdict, link_verdicts
from gpuplan.plan.network import carried
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.switches import Hosts, Kind, Switches
from gpuplan.plan.training.speed import RDMA, round_trip, tcp_rate, usual_workload
from gpuplan.report import number
from gpuplan.report.headlines import Headline
from gpuplan.report.headlines import network as network_headline
from gpuplan.report.link_lanes import Segment, about, lane, meaning, speed_at
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
FEW = 3
SHOWN_HELP = 2


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


SIGNS: Mapping[str, contract.Mark] = MARKS | {
    "none": {"sign": "\u2013", "text": said("screen.network.no limit"), "tone": ""},
    "wasted": {"sign": "", "text": said("screen.network.wasted"), "tone": "wasted"},
}
EXAMPLE: contract.Mark = {"sign": "\u2013", "text": said("screen.network.not in use"), "tone": ""}
NO_FABRIC: contract.Mark = {"sign": "?", "text": said("screen.network.no fabric"), "tone": "warn"}
LEGEND = ("bad", "fair", "good", "wasted")
MAIN_GBIT_S = (10, 25, 100, 400)
"""Speeds that most fabrics have; the others are smaller in the scale, and on no card unless one of them is chosen or enough."""
CARDS = 3


def message(workbook: Workbook) -> Headline:
    """Return the verdict on the link; once other speeds are planned, with the slowest that is enough."""
    least = least_enough(speeds) if (speeds := _speeds(workbook)) else None
    return network_headline(workbook.plan, least.gbit_s if least and not least.rank else 0)


def _speeds(workbook: Workbook) -> tuple[Speed, ...]:
    """Return the design on each link speed; nothing until that is worked out."""
    return workbook.later("network: speeds", link_speeds) or ()


@panel(draws="links")
def lanes_data(workbook: Workbook) -> Contents:
    plan, speeds = workbook.plan, _speeds(workbook)
    uses = link_uses(plan)
    choices = map(int, FIELD_BY_PATH[LINK].choices)
    return {
        "text": [] if uses else [plain(said("screen.network.no workloads"))],
        "path": LINK,
        "value": plan.scenario.network.link_gbit_s,
        "speeds": [{"value": n, "at": speed_at(n), "main": n in MAIN_GBIT_S} for n in choices],
        "lanes": [_lane(workbook, use, lane(speeds, use) if speeds else []) for use in uses],
        "legend": [SIGNS[name] for name in LEGEND],
        "after": _helped(link_verdicts(plan)),
    }


def _lane(workbook: Workbook, use: Use, segments: Sequence[Segment]) -> contract.Lane:
    names = {group.id: group.name for group in workbook.plan.groups}
    mark = SIGNS[use.verdict] if use.kind != "example" else EXAMPLE
    return {
        "chips": [chip(workbook, group)["chip"] for group in use.groups],
        "name": use.name or some_of([names[group] for group in use.groups]) or said("screen.network.ports"),
        "about": about(use),
        "segments": [{"mark": SIGNS[each.verdict], **each._asdict()} for each in segments],  # type: ignore[typeddict-item]
        "mark": NO_FABRIC if use.kind == "ports" and use.verdict == "unknown" else mark,
        "means": meaning(use),
        "key": use.key if use.key in workbook.plan.lines else "",
    }


@partial(Card, "posture", slow=True)
def speeds_data(workbook: Workbook) -> contract.Posture:
    """Return the speeds that matter side by side: the chosen one, the slowest that is enough, and the next ones."""
    chosen = workbook.plan.scenario.network.link_gbit_s
    by_speed = {speed.gbit_s: speed for speed in _speeds(workbook)}
    matter = [chosen, least_enough(tuple(by_speed.values())).gbit_s] if by_speed else []
    matter += [n for n in reversed(MAIN_GBIT_S) if n < chosen][:1] + [n for n in MAIN_GBIT_S if n > chosen]
    shown = sorted([n for n in dict.fromkeys(matter) if n in by_speed][:CARDS])
    return {
        "path": LINK,
        "value": chosen,
        "cards": [_card(workbook, by_speed[n]) for n in shown],
        "label": FIELD_BY_PATH[LINK].label,
        "question": FIELD_BY_PATH[LINK].question,
        "problem": "",
        "stale": workbook.stale,
    }


def _card(workbook: Workbook, speed: Speed) -> contract.PostureCard:
    chosen = speed.gbit_s == workbook.plan.scenario.network.link_gbit_s
    slow = list(dict.fromkeys(use.name or about(use) for use in speed.uses if use.rank == speed.rank))
    words = [said("screen.network.slow for", names=slow)] if speed.rank and slow else []
    fabric = "screen.network.leaves" if speed.leaves else "screen.network.no fabric"
    words.append(said(fabric, leaves=speed.leaves, cables=speed.cables))
    cost, costs = "", workbook.plan.costs
    if costs and speed.dearer is not None and not chosen:
        key = "screen.network.dearer" if speed.dearer > 0 else "screen.network.cheaper"
        cost = said(key, money=headline_money(abs(speed.dearer), costs.currency), years=costs.years)
        if speed.excludes:
            cost = said("screen.network.excludes", cost=cost, items=len(speed.excludes))
    return {
        "value": speed.gbit_s,
        "title": said(
            "screen.network.this speed" if chosen else "screen.network.speed of", speed=speed.gbit_s
        ),
        "mark": SIGNS[("good", "fair", "bad")[speed.rank]],
        "words": " ".join(words),
        "about": "; ".join(speed.excludes),
        "cost": cost,
        "key": "",
        "hosts": "",
        "gpus": "",
    }


def _helped(found: Sequence[LinkVerdict]) -> list[list[contract.Piece]]:
    """Return the remedies, each once with all that it helps; if there are many, those for the slowest."""
    names: dict[str, list[str]] = {}
    for link in sorted(found, key=lambda each: each.verdict != "bad"):
        if link.use and link.use.changes and link.verdict != "good":
            names.setdefault("; ".join(link.use.changes), []).append(link.name)
    helped = []
    for change, who in ((change, list(dict.fromkeys(who))) for change, who in names.items()):
        whose = some_of(who) if len(who) <= FEW else amount(len(who), "workload")
        helped.append(paragraph("screen.network.helps", whose=whose, change=change))
    left = len(helped) - SHOWN_HELP
    return [*helped[:SHOWN_HELP], plain(said("screen.network.more help", left=left))] if left > 0 else helped


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
