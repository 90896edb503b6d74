"""What a failure leaves, against the removal of each node and link of an explicit graph of every fabric."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from random_cases import cases
from site_designs import two_sites

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.facts import own_rows
from gpuplan.plan.fabric import Cabling, Failure
from gpuplan.plan.switches import Kind
from gpuplan.scenario import from_dict

Link = tuple[str, str, int]
PARTS: dict[str, list[str]] = {}
"""When a part can fail -> what the rows of then name."""
for _row in own_rows("words/failures"):
    PARTS.setdefault(_row["when"], []).append(_row["part"].partition("{")[0])


def links_of(kind: Kind, ports: int) -> list[Link]:
    """Every cable of a fabric: a host's ports alternate between its two leaves, a leaf is joined to each spine."""
    shape, hosts = kind.fabric.shape, kind.fabric.hosts.total
    pairs = shape.leaves // 2
    cables = [
        (f"host{host}", f"leaf{host % pairs}{'ab'[port % 2]}", port)
        for host in range(hosts)
        for port in range(ports)
    ]
    leaves = [f"leaf{pair}{twin}" for pair in range(pairs) for twin in "ab"]
    for leaf in leaves:
        for spine in range(shape.spines):
            cables += [(leaf, f"spine{spine}", at) for at in range(shape.links_per_spine)]
    return cables + [(leaves[0], leaves[1], at) for at in range(shape.peer_cables)]


def reached(cables: list[Link]) -> set[str]:
    """The nodes that are connected with the first host."""
    joined: dict[str, set[str]] = {}
    for one, other, _ in cables:
        joined.setdefault(one, set()).add(other)
        joined.setdefault(other, set()).add(one)
    found, edge = {"host0"}, ["host0"]
    while edge:
        edge = [node for at in edge for node in joined[at] if node not in found]
        found |= {*edge}
    return found


def degrees(cables: list[Link], head: str, other: str) -> Counter[str]:
    """Cables of each node whose name begins so, to nodes of another kind."""
    ends = [(one, two) for a, b, _ in cables for one, two in ((a, b), (b, a))]
    return Counter(one for one, two in ends if one.startswith(head) and two.startswith(other))


def worst(before: Counter[str], after: Counter[str]) -> tuple[float, int]:
    """(least share that a node keeps, number of nodes that lost something)."""
    shares = [after[node] / before[node] for node in before]
    return min(shares), sum(share < 1 for share in shares)


def removals(kind: Kind, ports: int) -> Iterator[tuple[str, float, int]]:
    """Yield each single failure of a switch or a link between switches: what fails, the least share left, those affected."""
    every = links_of(kind, ports)
    hosts = {f"host{n}" for n in range(kind.fabric.hosts.total)}
    for switch in sorted({node for a, b, _ in every for node in (a, b) if node not in hosts}):
        left = [cable for cable in every if switch not in cable[:2]]
        assert hosts <= reached(left)
        if switch.startswith("leaf"):
            yield "A leaf", *worst(degrees(every, "host", "leaf"), degrees(left, "host", "leaf"))
        else:
            yield "A spine", *worst(degrees(every, "leaf", "spine"), degrees(left, "leaf", "spine"))
    up = [cable for cable in every if not cable[0].startswith("host")]
    other = "spine" if kind.fabric.shape.spines else "leaf"
    name = "A link between leaf and spine" if kind.fabric.shape.spines else "A link between the two leaves"
    for cable in up:
        left = [each for each in up if each != cable]
        yield name, *worst(degrees(up, "leaf", other), degrees(left, "leaf", other))


def told(failures: tuple[Failure, ...], part: str, kind: Kind, several: bool) -> Failure:
    (found,) = [each for each in failures if each.part == part + f", {kind.name}" * several]
    return found


def agrees(cabling: Cabling, ports: int) -> set[str]:
    """Compare each row about a fabric with the removal of each of its parts; return the parts compared."""
    assert cabling.switches is not None
    kinds, compared = cabling.switches.kinds, set[str]()
    for kind in kinds:
        lost: dict[str, list[tuple[float, int]]] = {}
        for part, share, affected in removals(kind, ports):
            lost.setdefault(part, []).append((share, affected))
        for part, results in lost.items():
            row = told(cabling.failures, part, kind, len(kinds) > 1)
            (percent,) = re.findall(r"^(\d+)\s?%", row.left)
            assert abs(int(percent) - 100 * min(share for share, _ in results)) <= 0.5, (part, row, results)
            if part == "A leaf":
                assert f" {max(affected for _, affected in results)} hosts" in row.left
        compared |= {*lost}
    about = [each.part for each in cabling.failures if each.part.split(",")[0] in compared]
    assert len(about) == len({*about})
    return compared


def test_every_failure_agrees_with_the_removal_of_the_part(catalog: Catalog) -> None:
    """Fabrics of two sites, alike or not, with and without spines, of two to many ports a host."""
    compared, shapes = set[str](), 0
    for rng in cases(71, 40, few=14):
        network = {"link_gbit_s": rng.choice([25, 100]), "other_gbit_s": rng.choice([10, 60, 150])}
        network |= {"transport": rng.choice(["tcp", "pvrdma"])}
        berlin = rng.randint(1, 420)
        plan = make_plan(
            two_sites(berlin, rng.choice([berlin, rng.randint(1, 60)]), network=network), catalog
        )
        assert plan.cabling is not None
        if plan.cabling.switches is not None:
            compared |= agrees(plan.cabling, plan.cabling.ports.total)
            shapes += len({kind.fabric.shape for kind in plan.cabling.switches.kinds}) > 1
    assert compared == {PARTS[when][0] for when in ("switches", "links", "spines", "peers")}
    assert shapes


def test_hosts_whose_ports_differ_have_a_row_each_and_a_leaf_the_range(catalog: Catalog) -> None:
    """A GPU host with 2 teamed ports and 1 for PVRDMA keeps a third without a leaf, a compute host with 2 and 2 a half."""
    data = {
        "groups": [
            {"id": "remote", "people": 12, "active_share": 1, "gpus_each": 0.5, "access": "bitfusion"}
            | {"remote_allowed": True}
        ],
        "hardware": {"gpu": "v100-pcie-32gb"},
        "platform": {"vsphere": "7.0", "bitfusion": True},
        "network": {"compute_hosts": 1, "transport": "pvrdma", "link_gbit_s": 10},
    }
    cabling = make_plan(from_dict(data), catalog).cabling
    assert cabling is not None and cabling.compute_ports is not None
    ends = sorted(
        (one.total - -(-one.total // 2)) / one.total for one in (cabling.ports, cabling.compute_ports)
    )
    left = {each.part: each.left for each in cabling.failures}
    assert cabling.ports[:2] != cabling.compute_ports[:2]
    teamed = PARTS["always"][0]
    assert len([part for part in left if part.startswith(teamed)]) == 2 and teamed in left
    shares = [int(share) for share in re.findall(r"\d+", left["A leaf"])][:2]
    assert shares == [round(100 * end) for end in ends] or ends[0] == ends[1]


def test_a_lost_port_and_a_lost_adapter_against_a_host_with_its_cards(catalog: Catalog) -> None:
    """Deal the teamed ports to the adapters in turn, take each port and each adapter away, and count what is left."""
    counts = set[int]()
    for other in (10, 60, 100, 150, 240, 300):
        network = {"link_gbit_s": 25, "other_gbit_s": other}
        cabling = make_plan(two_sites(8, 8, network=network), catalog).cabling
        assert cabling is not None
        ports = cabling.ports
        on_card = Counter(port % ports.adapters for port in range(ports.shared))
        assert max(on_card.values()) <= 2  # an adapter has two ports
        left = {each.part: each.left for each in cabling.failures}
        for part, lost in (("A teamed port of a host", 1), ("An adapter of a host", max(on_card.values()))):
            (percent,) = re.findall(r"^(\d+)", left[part])
            assert abs(int(percent) - 100 * (ports.shared - lost) / ports.shared) <= 0.5
        counts.add(ports.shared)
    assert len(counts) > 3
