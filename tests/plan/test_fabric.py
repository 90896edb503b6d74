"""The fabric of a design: every link and size has switches or a reason, and no port is used twice."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from approved import has_approved, is_approved
from random_cases import cases

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.models.availability import cluster_hosts
from gpuplan.models.network.fabric import oversubscription
from gpuplan.plan.fabric import PORT_SPEEDS, TAKES, Cabling, Ports, cabling, switches_for
from gpuplan.plan.hosts import Pool
from gpuplan.plan.network import NetworkUse
from gpuplan.plan.switches import Fabric, Switches
from gpuplan.plan.trail import Trail
from gpuplan.report.fabrics import fabric_sheets
from gpuplan.scenario import FIELD_BY_PATH, Scenario, from_dict

LINKS = FIELD_BY_PATH["network.link_gbit_s"].choices
TRANSPORTS = FIELD_BY_PATH["network.transport"].choices


def built(catalog: Catalog, hosts: int, remote_gbit_s: float = 0.0, **network: Any) -> Cabling:
    """The fabric of so many hosts that do nothing but their other traffic, and serve remote GPUs."""
    scenario = from_dict({"network": network})
    pools: Any = [
        SimpleNamespace(hosts=many, site="") for many in cluster_hosts(hosts, clusters=-(-hosts // 64))
    ]
    found = cabling(Trail(), scenario, catalog, pools, NetworkUse(remote_gbit_s=remote_gbit_s))
    assert found is not None
    return found


def on_switches(ports: Ports, transport: str) -> int:
    """Ports of a host on the Ethernet switches: those for InfiniBand have switches of their own."""
    return ports.shared if transport == "infiniband" else ports.total


def count(catalog: Catalog, switch: str, speed: float) -> int:
    return int(catalog.switches[switch].value(f"ports_{int(speed)}g") or 0)


def holds(catalog: Catalog, found: Cabling, transport: str) -> None:
    """Every port exists, every cable has two ends, the bound on oversubscription is kept, in each fabric and in the sums."""
    assert found.switches is not None
    built = found.switches
    ports = max(on_switches(p, transport) for p in (found.ports, found.compute_ports) if p)
    for fabric in built.fabrics:
        fabric_holds(catalog, built, fabric, ports, found.max_oversubscription)
    assert sum(fabric.hosts.gpu_hosts for fabric in built.fabrics) == found.gpu_hosts
    assert sum(fabric.hosts.compute_hosts for fabric in built.fabrics) == found.compute_hosts
    for name, many in built.total._asdict().items():
        assert many == sum(getattr(fabric.shape, name) for fabric in built.fabrics)
    assert bool(built.spine) is bool(built.total.spines) is bool(built.spine_name)


def fabric_holds(catalog: Catalog, built: Switches, fabric: Fabric, ports: int, bound: float) -> None:
    """The figures of a fabric are its own: they satisfy the equations of its hosts and switches."""
    shape, hosts = fabric.shape, fabric.hosts.total
    assert shape.host_cables == hosts * ports
    assert shape.leaves % 2 == 0 and shape.leaves >= 2
    assert shape.hosts_per_pair == -(-hosts // (shape.leaves // 2))
    down_kind = next(k for k in TAKES[int(built.port_gbit_s)] if count(catalog, built.leaf, k) >= 4)
    down, up = count(catalog, built.leaf, down_kind), count(catalog, built.leaf, built.up_gbit_s)
    links = shape.uplinks_per_leaf or shape.peer_cables
    over = oversubscription(
        shape.down_ports_used, built.port_gbit_s, up_ports=links, up_gbit_s=built.up_gbit_s
    )
    assert shape.oversubscription == pytest.approx(over)
    assert over <= bound * (1 + 1e-9)
    if built.up_gbit_s == down_kind:
        assert fabric.free_leaf_ports == down - shape.down_ports_used - links >= 0
    else:
        assert shape.down_ports_used <= down
        assert fabric.free_leaf_ports == up - links >= 0
    assert built.up_gbit_s >= built.port_gbit_s
    assert shape.uplinks_per_leaf == shape.spines * shape.links_per_spine
    assert shape.spine_ports_used == shape.leaves * shape.links_per_spine
    if shape.spines:
        assert shape.links_per_spine > 0
        assert shape.spine_ports_used <= count(catalog, built.spine, built.up_gbit_s)
        assert shape.spine_ports_used * shape.spines == shape.uplink_cables
    else:
        assert shape.leaves == 2


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("link", LINKS)
def test_switches_or_a_reason(catalog: Catalog, link: int, transport: str) -> None:
    before = 0
    for hosts in (*range(1, 40), 64, 97, 128, 199, 200):
        fabric = built(catalog, hosts, link_gbit_s=link, transport=transport)
        assert (fabric.switches is None) is bool(fabric.reason)
        if fabric.switches is not None:
            holds(catalog, fabric, transport)
            switches = fabric.switches.total.leaves + fabric.switches.total.spines
            assert switches >= before
            before = switches
    assert (before == 0) is (link == 1)


def test_every_link_that_can_be_chosen_has_a_kind_of_port(catalog: Catalog) -> None:
    assert set(TAKES) == set(LINKS)
    for kinds in TAKES.values():
        assert set(kinds) <= set(PORT_SPEEDS)
    named = {p for item in catalog.switches.values() for p in item.facts if p.startswith("ports_")}
    assert named <= {f"ports_{speed}g" for speed in PORT_SPEEDS}


def test_a_thousand_and_ten_thousand_hosts(catalog: Catalog) -> None:
    """Where two tiers end, clusters are on fabrics of their own."""
    for hosts, several in ((1_000, False), (10_000, True)):
        fabric = built(catalog, hosts, link_gbit_s=25)
        holds(catalog, fabric, "tcp")
        assert fabric.switches is not None and (len(fabric.switches.fabrics) > 1) is several


def test_spines_are_like_the_leaves_where_that_costs_no_switch(catalog: Catalog) -> None:
    """Of switches that do equally well the leaf's own model comes first, then one of its maker."""
    found = {}
    for hosts in range(24, 60):
        switches = built(catalog, hosts, link_gbit_s=100, leaf="sn2700").switches
        if switches is not None and switches.spine:
            found[switches.spine] = hosts, switches.fabrics[0].shape
    most, own = found["sn2700"]
    assert own.spines == 2
    for other in ("dell-s5232f-on", "sn3700c"):
        assert other not in found
        given = built(catalog, most, link_gbit_s=100, leaf="sn2700", spine=other).switches
        assert given is not None and given.fabrics[0].shape == own


def test_ports_by_hand(catalog: Catalog) -> None:
    """Other traffic alone: 10 Gbit/s on ports of which 95 % are usable."""
    for link, shared in ((1, 11), (10, 2), (25, 2)):
        assert built(catalog, 4, link_gbit_s=link).ports == (shared, 0, 10, 0)
    assert built(catalog, 4, link_gbit_s=10, other_gbit_s=28.6).ports.shared == 4
    assert built(catalog, 4, link_gbit_s=10, other_gbit_s=28.5).ports.shared == 3
    assert built(catalog, 4, link_gbit_s=10, other_gbit_s=0).ports.shared == 2


def test_pvrdma_adds_a_port_and_a_distributed_switch(catalog: Catalog) -> None:
    roce = built(catalog, 8, link_gbit_s=100, transport="roce")
    pvrdma = built(catalog, 8, link_gbit_s=100, transport="pvrdma")
    infiniband = built(catalog, 8, link_gbit_s=100, transport="infiniband")
    assert (roce.ports.total, roce.distributed_switches, roce.adapters) == (2, 1, 2)
    assert (pvrdma.ports.shared, pvrdma.ports.rdma, pvrdma.distributed_switches) == (2, 1, 2)
    assert (pvrdma.ports.total, pvrdma.adapters) == (3, 2)
    assert (infiniband.ports.rdma, infiniband.distributed_switches) == (1, 1)
    assert pvrdma.switches is not None and infiniband.switches is not None
    assert pvrdma.switches.total.host_cables == 24
    assert infiniband.switches.total.host_cables == 16
    assert any("no teaming" in s.what for s in pvrdma.settings)
    assert any("DSCP 26" in s.what for s in pvrdma.settings)
    assert not any("DSCP" in s.what for s in built(catalog, 8, link_gbit_s=100).settings)


def test_compute_hosts_are_counted(catalog: Catalog) -> None:
    alone = built(catalog, 8, link_gbit_s=25)
    with_compute = built(catalog, 8, link_gbit_s=25, compute_hosts=100)
    assert alone.switches is not None and with_compute.switches is not None
    assert (with_compute.gpu_hosts, with_compute.compute_hosts) == (8, 100)
    assert with_compute.switches.total.host_cables == 108 * 2
    assert alone.switches.total.host_cables == 16
    assert with_compute.switches.total.leaves > alone.switches.total.leaves


def test_ports_of_a_compute_host_by_hand(catalog: Catalog) -> None:
    """What 8 GPU hosts send to their users reaches 4 compute hosts: 8 x 12 / 4 = 24 Gbit/s beside 10 of other traffic."""
    assert built(catalog, 8, link_gbit_s=10).compute_ports is None
    tcp = built(catalog, 8, 12.0, link_gbit_s=10, compute_hosts=4)
    assert tcp.ports == (3, 0, 22, 0)  # 22 / 9.5
    assert tcp.compute_ports == (4, 0, 34, 0)  # 34 / 9.5
    assert tcp.compute_ports is not None
    assert tcp.ports.demand_gbit_s * 8 - 80 == tcp.compute_ports.demand_gbit_s * 4 - 40
    apart = built(catalog, 8, 12.0, link_gbit_s=10, transport="pvrdma", compute_hosts=4)
    assert apart.ports == (2, 2, 10, 12)  # 12 / 9.5
    assert apart.compute_ports == (2, 3, 10, 24)  # 24 / 9.5
    many = built(catalog, 8, 12.0, link_gbit_s=10, compute_hosts=96)
    assert many.compute_ports == (2, 0, 11, 0)
    for fabric, transport in ((tcp, "tcp"), (apart, "pvrdma"), (many, "tcp")):
        holds(catalog, fabric, transport)


def test_remote_gpus_ask_for_ports(catalog: Catalog) -> None:
    assert [built(catalog, 4, moved, link_gbit_s=10).ports.shared for moved in (0, 9, 9.1, 18.5, 18.6)] == [
        2,
        2,
        3,
        3,
        4,
    ]
    assert built(catalog, 4, 50.0, link_gbit_s=10, transport="infiniband").ports == (2, 6, 10, 50)


def test_a_lost_leaf_leaves_the_ports_on_the_other(catalog: Catalog) -> None:
    """A GPU host with 3 ports has 2 on one leaf and one on the other, and its compute hosts half of theirs."""
    for compute in (2, 1):  # 6 and 10 ports each
        fabric = built(catalog, 8, 10.0, link_gbit_s=10, compute_hosts=compute)
        assert fabric.ports.total == 3
        assert fabric.compute_ports is not None and fabric.compute_ports.total > 4
        (leaf,) = [f for f in fabric.failures if f.part == "A leaf"]
        assert leaf.left.startswith("33 to 50 %")


def test_a_stated_leaf_and_spine_are_taken(catalog: Catalog) -> None:
    """150 hosts with 2 x 25 Gbit/s on 48-port leaves: 4 pairs of 38, at 3:1 38 x 25 / 300 = 4 uplinks."""
    fabric = built(catalog, 150, link_gbit_s=25, leaf="sn2410", spine="sn2700")
    assert fabric.switches is not None
    (only,) = fabric.switches.fabrics
    shape = only.shape
    assert (fabric.switches.leaf, fabric.switches.spine) == ("sn2410", "sn2700")
    assert (shape.leaves, shape.spines, shape.uplinks_per_leaf, shape.hosts_per_pair) == (8, 2, 4, 38)
    assert shape.oversubscription == pytest.approx(38 * 25 / 400)
    for leaf in catalog.switches:
        for link in LINKS:
            found = built(catalog, 60, link_gbit_s=link, leaf=leaf)
            assert found.reason if found.switches is None else found.switches.leaf == leaf
    for spine in catalog.switches:
        found = built(catalog, 200, link_gbit_s=25, spine=spine)
        assert found.reason if found.switches is None else found.switches.spine == spine


def test_a_stated_oversubscription_is_kept_and_a_lower_one_needs_no_fewer_switches(catalog: Catalog) -> None:
    before = 0
    for bound in (20, 8, 3, 2, 1.5, 1):
        fabric = built(catalog, 150, link_gbit_s=25, oversubscription=bound)
        assert fabric.max_oversubscription == bound
        assert fabric.switches is not None
        holds(catalog, fabric, "tcp")
        switches = fabric.switches.total.leaves + fabric.switches.total.spines
        assert switches >= before
        before = switches


def test_training_over_rdma_is_not_oversubscribed(plans: dict[str, Plan], catalog: Catalog) -> None:
    bounds = {n: p.cabling.max_oversubscription for n, p in plans.items() if p.cabling}
    assert bounds == {"starter": 3, "enterprise": 1, "current": 1}
    tcp = make_plan(load_scenario("enterprise").with_value("network.transport", "tcp"), catalog)
    assert tcp.cabling is not None and tcp.cabling.max_oversubscription == 3


def test_what_failures_leave_by_hand(plans: dict[str, Plan], catalog: Catalog) -> None:
    """Enterprise: 2 teamed ports and one for PVRDMA, so a leaf takes 2 of a host's 3; two leaves with 16 links."""
    fabric = plans["enterprise"].cabling
    assert fabric is not None and fabric.switches is not None
    left = {f.part: f.left for f in fabric.failures}
    assert left["A teamed port of a host"].startswith("50 %")
    assert left["An RDMA port of a host"].startswith("no RDMA")
    assert left["A leaf"].startswith("33 %")
    assert left["A link between the two leaves"].startswith(
        f"{100 * (1 - 1 / fabric.switches.total.peer_cables):.0f} %"
    )
    wide = built(catalog, 150, link_gbit_s=25, leaf="sn2410", spine="sn2700")
    found = {f.part: f for f in wide.failures}
    assert found["A leaf"].left.startswith("50 %")
    assert found["A spine"].left.startswith("50 %")
    assert "from 2.38:1 to 4.75:1" in found["A spine"].affected  # 38 x 25 over 400, and over 200


def test_an_infiniband_port_that_fails(catalog: Catalog) -> None:
    """Nothing falls back by itself: one port lost is all of it; of two, half is left."""
    for moved, left, words in (
        (0.0, "0 %", "Jobs on that host stop"),
        (150.0, "50 %", "continue over the remaining ports"),
    ):
        fabric = built(catalog, 8, moved, link_gbit_s=100, transport="infiniband")
        found = {f.part: f for f in fabric.failures}
        assert is_approved(found["An InfiniBand port of a host"].left, left)
        assert words in found["An InfiniBand port of a host"].affected
        assert not any("RDMA port" in part for part in found)
        assert "fall back" not in found["A leaf"].affected
        assert found["A leaf"].left.startswith("50 %")  # of the 2 on Ethernet


def test_the_examples_have_switches(example: Plan, catalog: Catalog) -> None:
    fabric = example.cabling
    assert fabric is not None and fabric.switches is not None
    holds(catalog, fabric, example.scenario.network.transport)
    (only,) = fabric.switches.fabrics
    shape = only.shape
    lines = example.lines
    assert lines["network.fabric.leaves"].value == shape.leaves
    assert lines["network.fabric.spines"].value == shape.spines
    assert lines["network.fabric.oversubscription"].value == pytest.approx(shape.oversubscription)
    assert lines["network.ports.shared"].value == fabric.ports.shared
    assert ("network.ports.rdma" in lines) is bool(fabric.ports.rdma)
    assert fabric.gpu_hosts == example.totals.hosts
    for setting in fabric.settings:
        assert setting.sources and all(s in catalog.sources for s in setting.sources)


def test_nothing_to_connect(catalog: Catalog) -> None:
    none: tuple[Pool, ...] = ()
    assert cabling(Trail(), Scenario(), catalog, none, NetworkUse()) is None


@pytest.mark.parametrize(
    "network",
    [
        {"link_gbit_s": 400, "leaf": "sn2700"},  # 32 x 100G
        {"link_gbit_s": 25, "spine": "sn3700"},  # 32 x 200G, the uplinks of every leaf are 100G
    ],
)
def test_a_reason_says_that_the_named_switch_does_not_fit(catalog: Catalog, network: dict[str, Any]) -> None:
    reason = built(catalog, 300, **network).reason
    figures = ("SN2700", "400") if "leaf" in network else ("SN3700", "16", "100")
    assert has_approved(reason, *figures)


def test_users_of_a_link_do_not_ask_for_ports_without_end(catalog: Catalog) -> None:
    plan = make_plan(
        from_dict(
            {
                "groups": [{"id": "a", "people": 3}],
                "network": {"users_per_link": 10_000, "link_gbit_s": 10},
                "platform": {"bitfusion": True},
            }
        ),
        catalog,
    )
    assert plan.cabling is not None and plan.cabling.ports.shared <= 16
    alone = make_plan(plan.scenario.with_value("network.users_per_link", 1), catalog)
    assert alone.cabling is not None and plan.cabling.ports == alone.cabling.ports


def test_what_one_fabric_cannot_hold_are_several_with_every_port_cabled_once(catalog: Catalog) -> None:
    """Two tiers of these switches end at 1,024 hosts: 19 clusters are on two fabrics, each cluster on one of them."""
    data = load_scenario("current").to_dict()
    for group in data["groups"]:
        group["people"] *= 150
    plan = make_plan(from_dict(data), catalog)
    found = plan.cabling
    assert found is not None and found.switches is not None
    shape, fabrics = found.switches.total, found.switches.fabrics
    assert len(fabrics) == 2 and len(plan.pools) == 19
    upto = list(itertools.accumulate(pool.hosts for pool in plan.pools))
    assert set(itertools.accumulate(fabric.hosts.gpu_hosts for fabric in fabrics)) <= {*upto}
    holds(catalog, found, "tcp")
    assert shape.host_cables == plan.totals.hosts * found.ports.total
    assert plan.costs is not None and has_approved(plan.costs.excludes)
    bought = {material.key: material.quantity for material in plan.costs.materials}
    assert (bought["leaf"], bought["spine"]) == (shape.leaves, shape.spines)
    assert bought["host-cables"] == shape.host_cables
    assert "in 2 fabrics" in next(d.decision for d in plan.decisions if d.title == "Fabric")


@pytest.mark.parametrize("compute", [0, 9])
def test_each_site_has_switches_of_its_own(catalog: Catalog, compute: int) -> None:
    """20 GPUs in Austin and 40 in Bangalore, hosts of 4: 6 + 11 hosts, each site on a pair of leaves, however few its ports."""
    data = {
        "groups": [
            {"id": "a", "people": 20, "sites": "Austin 20"},
            {"id": "b", "people": 40, "sites": "Bangalore 40"},
        ],
        "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
        "availability": {"split": "by-site"},
        "network": {"link_gbit_s": 25} | ({"compute_hosts": compute} if compute else {}),
    }
    plan = make_plan(from_dict(data), catalog)
    found = plan.cabling
    assert found is not None and found.switches is not None and plan.costs is not None
    shape = found.switches.total
    assert found.site_hosts == (6, 11) and [pool.site for pool in plan.pools] == ["Austin", "Bangalore"]
    assert (len(found.switches.fabrics), shape.leaves, shape.spines) == (2, 4, 0)
    assert shape.host_cables == 17 * found.ports.total + compute * 2
    austin, bangalore = found.switches.fabrics
    computing = round(compute * 6 / 17)
    assert austin.hosts == ("Austin", 6, computing) and bangalore.hosts == (
        "Bangalore",
        11,
        compute - computing,
    )
    assert [f.shape.hosts_per_pair for f in (austin, bangalore)] == [
        f.hosts.total for f in (austin, bangalore)
    ]
    holds(catalog, found, "tcp")
    bought = {material.key: material.quantity for material in plan.costs.materials}
    assert (bought["leaf"], bought["host-cables"]) == (4, shape.host_cables)
    assert has_approved(plan.costs.excludes)
    decision = next(d for d in plan.decisions if d.title.startswith("Clusters"))
    assert has_approved(decision.implication)
    fabric = next(d.decision for d in plan.decisions if d.title == "Fabric")
    assert has_approved(fabric, f"{bangalore.shape.peer_cables} links", "100 Gbit/s")
    drawn = [sheet.svg for sheet in fabric_sheets(plan)][:2]
    assert [">leaf-01b<" in svg for svg in drawn] == [True, False]
    assert [">leaf-02b<" in svg for svg in drawn] == [False, True]
    together = make_plan(plan.scenario.with_value("availability.split", "few-large"), catalog).cabling
    assert together is not None and together.switches is not None and together.switches.total.leaves == 2


@pytest.mark.parametrize(
    ("name", "left"),
    [("enterprise", 32 - 16 - 16), ("starter", 4 - 2), ("current", 32 - 10 - 10)],
)
def test_ports_left_on_a_leaf_by_hand(plans: dict[str, Plan], name: str, left: int) -> None:
    """What its hosts and the links to the other leaf leave; the starter's leaf has 4 ports of 100 Gbit/s beside those for hosts."""
    cabling = plans[name].cabling
    assert cabling is not None and cabling.switches is not None
    assert [fabric.free_leaf_ports for fabric in cabling.switches.fabrics] == [left]


def at_sites(catalog: Catalog, sites: dict[str, list[int]], remote_gbit_s: float, **network: Any) -> Cabling:
    """The fabrics of clusters of so many hosts at each site."""
    pools: Any = [SimpleNamespace(hosts=hosts, site=site) for site, many in sites.items() for hosts in many]
    found = cabling(
        Trail(), from_dict({"network": network}), catalog, pools, NetworkUse(remote_gbit_s=remote_gbit_s)
    )
    assert found is not None
    return found


def test_each_fabric_has_the_figures_of_its_own_hosts(catalog: Catalog) -> None:
    """Sites, links and ports by chance: a fabric for each site, whose ratios, links and ports are its own."""
    apart = 0
    for rng in cases(38, 400, few=60):
        sites = {
            f"Site {at}": [rng.randint(1, 64) for _ in range(rng.randint(1, 3))]
            for at in range(rng.randint(1, 4))
        }
        network = {
            "link_gbit_s": rng.choice([10, 25, 100, 200]),
            "compute_hosts": rng.randint(1, 199) if rng.random() < 0.3 else None,
        }
        found = at_sites(catalog, sites, rng.choice([0.0, 0.0, 40.0]), **network)
        if found.switches is None:
            continue
        holds(catalog, found, "tcp")
        hosts = [(fabric.hosts.site, fabric.hosts.gpu_hosts) for fabric in found.switches.fabrics]
        assert hosts == [(site, sum(many)) for site, many in sites.items()]
        apart += len({bool(fabric.shape.spines) for fabric in found.switches.fabrics}) > 1
    assert apart  # some have spines at one site, and none at another


def test_clusters_are_whole_on_each_of_the_fabrics_of_a_site(catalog: Catalog) -> None:
    """Clusters of 64 hosts, where two tiers end at fewer hosts than the site has."""
    clusters = [64, 3, 64, 17, *[64] * 80]
    found = at_sites(catalog, {"": clusters}, 0, link_gbit_s=25, compute_hosts=300)
    assert found.switches is not None and len(found.switches.fabrics) > 1
    holds(catalog, found, "tcp")
    ends = itertools.accumulate(fabric.hosts.gpu_hosts for fabric in found.switches.fabrics)
    assert {*ends} <= {*itertools.accumulate(clusters)}


def test_a_fabric_is_its_own_however_many_hosts_growth_adds(catalog: Catalog) -> None:
    scenario = from_dict({"network": {"link_gbit_s": 100}})
    found = at_sites(catalog, {"Austin": [30], "Bangalore": [12, 3]}, 0, link_gbit_s=100)
    for hosts in (45, 46, 90, 400):
        switches = switches_for(scenario, catalog, found, hosts)
        assert switches is not None
        assert [fabric.hosts.site for fabric in switches.fabrics] == ["Austin", "Bangalore"]
        assert sum(fabric.hosts.gpu_hosts for fabric in switches.fabrics) == hosts
        for fabric in switches.fabrics:
            fabric_holds(catalog, switches, fabric, 2, found.max_oversubscription)
    assert switches_for(scenario, catalog, found, 45) == found.switches
