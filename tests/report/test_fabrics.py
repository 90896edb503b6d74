"""Drawings of the fabrics: every switch and host by its whole name, each fabric with its own links."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from drawn_designs import NAMESPACE, OTHERS, parsed, texts
from random_cases import cases
from site_designs import two_sites

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.racks import places, switch_names
from gpuplan.report.drawing import SOFT, Sheet
from gpuplan.report.fabrics import MOST_HOSTS, fabric_sheets
from gpuplan.report.tables.network import cabling, fabric_words
from gpuplan.scenario import from_dict
from gpuplan.wording import capital, said


def data_sheets(plan: Plan) -> list[Sheet]:
    """The drawings but those of the out-of-band network."""
    return [
        sheet
        for sheet in fabric_sheets(plan)
        if not sheet.about.startswith(said("drawing.fabric.out of band"))
    ]


@pytest.fixture(scope="module")
def others(catalog: Catalog) -> dict[str, Plan]:
    return {name: make_plan(from_dict(data), catalog) for name, data in OTHERS.items()}


@pytest.fixture(params=("starter", "enterprise", "current", *OTHERS))
def plan(request: pytest.FixtureRequest, plans: dict[str, Plan], others: dict[str, Plan]) -> Plan:
    return {**plans, **others}[request.param]


def test_every_switch_and_host_of_a_fabric_is_named(plan: Plan) -> None:
    assert plan.cabling is not None and plan.cabling.switches is not None
    switches = plan.cabling.switches
    (names,) = switch_names(switches)
    sheets = data_sheets(plan)
    shown = [text for sheet in sheets for text in texts(sheet.svg)]
    for leaf in (leaf for both in names.pairs.values() for leaf in both):
        assert shown.count(leaf) == 1
    assert all(spine in shown for spine in names.spines)
    assert not [text for text in shown if "\u2026" in text]
    assert switches.leaf_name in " ".join(shown)
    if len(places(plan)) <= MOST_HOSTS:
        assert all(shown.count(place.name) == 1 for place in places(plan))
    else:
        counted = [int(text.split()[0]) for text in shown if re.fullmatch(r"\d+ hosts", text)]
        boxes = Counter((place.pool, place.of, place.pair) for place in places(plan))
        assert sorted(counted) == sorted(hosts for hosts in boxes.values() if hosts > 1)
    if computing := plan.cabling.compute_hosts:
        told = re.findall(r"(\d+) compute hosts", " ".join(shown))
        assert sum(map(int, told)) == computing
    joined = [node for sheet in sheets for node in parsed(sheet.svg) if node.tag == f"{NAMESPACE}polyline"]
    dotted = [node for node in joined if node.get("stroke-dasharray") == "2 3"]
    assert bool(dotted) is bool(plan.cabling.ports.rdma) and len(joined) >= 2 * len(names.pairs)


def test_each_fabric_is_drawn_with_its_own_switches_and_links(catalog: Catalog) -> None:
    """No leaf is joined to the spine of another fabric, and none by no link."""
    for rng in cases(62, 60, few=8):
        network = {"link_gbit_s": 100, "other_gbit_s": rng.choice([10, 150])}
        plan = make_plan(two_sites(rng.randint(1, 320), rng.randint(1, 320), network=network), catalog)
        assert plan.cabling is not None and plan.cabling.switches is not None
        switches, sheets = plan.cabling.switches, data_sheets(plan)
        told = [text for sheet in sheets for text in texts(sheet.svg)]
        told += [fabric_words(plan.cabling)]
        told += [str(cell) for row in cabling(plan.cabling).rows for cell in row]
        told += [decision.decision for decision in plan.decisions]
        assert not [text for text in told if re.search(r"\b0 [x\u00d7] \d|\bnone of\b", text)]
        for number, (fabric, names) in enumerate(
            zip(switches.fabrics, switch_names(switches), strict=True), 1
        ):
            head = capital(switches.name(number))
            mine = [sheet for sheet in sheets if sheet.about.startswith(head)]
            shown = [text for sheet in mine for text in texts(sheet.svg)]
            assert mine and {*names.spines} <= {*shown}
            assert not {
                name for other in switch_names(switches) if other != names for name in other.spines
            } & {*shown}
            drawn = [
                node
                for sheet in mine
                for node in parsed(sheet.svg)
                if node.tag == f"{NAMESPACE}line" and node.get("stroke") == SOFT
            ]
            links = fabric.shape.leaves * fabric.shape.spines or min(fabric.shape.peer_cables, 2)
            assert len(drawn) == links or fabric.shape.leaves > 8


def test_infiniband_ports_lead_to_switches_of_their_own(plans: dict[str, Plan], catalog: Catalog) -> None:
    scenario = plans["enterprise"].scenario.with_value("network.transport", "infiniband")
    plan = make_plan(scenario, catalog)
    ethernet, apart = data_sheets(plan)
    assert plan.cabling is not None
    ports = plan.cabling.ports.rdma * plan.totals.hosts
    assert any(f"{ports} ports" in text for text in texts(apart.svg)) and "R1" in texts(apart.svg)
    assert "R1" not in texts(ethernet.svg)
    assert all(place.name in texts(apart.svg) for place in places(plan))


def test_every_host_and_switch_has_a_port_for_management(catalog: Catalog) -> None:
    plan = make_plan(two_sites(12, 300), catalog)
    assert plan.cabling is not None and plan.cabling.switches is not None
    total = plan.cabling.switches.total
    shown = [sheet for sheet in fabric_sheets(plan) if sheet not in data_sheets(plan)]
    assert len(shown) == 2
    heads = [re.findall(r"(\d+) ports", text) for sheet in shown for text in texts(sheet.svg)]
    ports = sum(int(count) for counts in heads for count in counts)
    assert ports == plan.totals.hosts + total.leaves + total.spines
    small = texts(shown[0].svg)
    berlin = [place.name for place in places(plan) if place.fabric == 1]
    assert len(berlin) <= MOST_HOSTS and {*berlin, "leaf-01a", "leaf-01b"} <= {*small}
