"""Fabric: network ports of a host, leaf and spine switches with their links, and the bandwidth that failures leave.

Parameters:
    down_ports: Ports in use for hosts. [-]
    down_gbit_s: Speed of each. [Gbit/s]
    max_oversubscription: Most that host bandwidth may be of uplink bandwidth on any leaf. [-]
    port_gbit_s: Speed of a port of a host. [Gbit/s]
    usable_share: Share of the speed that traffic may fill, above 0 up to 1. [-]
"""

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from gpuplan.units import number_between, whole_number

MOST_PORTS = 10_000
"""Ports of one switch; no switch has as many."""
MOST_HOSTS = 1_000_000
ROUNDING = 1e-12
"""A share of a link below which it is the rounding of a decimal."""

_count = partial(whole_number, least=1, most=MOST_HOSTS)
_amount = partial(number_between, least=0.001, most=1e6)  # of a speed or a ratio


@dataclass(frozen=True, slots=True)
class LeafSpine:
    """Switches and links of a fabric of one pair of leaves, or of pairs of leaves under spines.

    ``leaves`` and ``spines`` are switches; ``spines`` is 0 where one pair of leaves holds every host. ``hosts_per_pair``:
    hosts on the fullest pair, the others have the same or one or more fewer. ``host_links_per_leaf``: links of one
    host to the first leaf of its pair, an odd one included; this many are lost when that leaf fails.
    ``down_ports_used``: host ports in use on the busiest leaf. ``uplinks_per_leaf``: links from each leaf to all
    spines, ``links_per_spine`` those to one spine, ``spine_ports_used`` ports in use on each spine; all 0 without
    spines. ``oversubscription`` of the busiest leaf as built: host bandwidth over uplink bandwidth, over peer link
    bandwidth without spines; ``oversubscription_after_spine`` the same with one spine lost, None where no other
    spine is left. ``host_cables``, ``uplink_cables`` and ``peer_cables`` (between the two leaves of the only pair)
    are cables in all.
    """

    leaves: int
    spines: int
    hosts_per_pair: int
    host_links_per_leaf: int
    down_ports_used: int
    uplinks_per_leaf: int
    links_per_spine: int
    spine_ports_used: int
    oversubscription: float
    oversubscription_after_spine: float | None
    host_cables: int
    uplink_cables: int
    peer_cables: int


class TooManyLeaves(ValueError):
    """More leaves than a spine has ports; says how many hosts two tiers of these switches connect."""

    def __init__(self, reason: str, most_hosts: int) -> None:
        super().__init__(reason)
        self.most_hosts = most_hosts


class Leaf(NamedTuple):
    """A leaf, and the ports that hosts on a pair of such leaves need of each."""

    down_ports: int
    """Ports for hosts; all ports if they are identical."""
    up_ports: int | None
    """Ports for uplinks; None if all its ports are identical."""
    links: int
    """Links of a host to the leaf."""
    port_gbit_s: float
    up_gbit_s: float
    max_oversubscription: float
    spines: int
    """Fewest there may be above more than one pair."""

    def needed(self, hosts: int) -> int:
        """Uplinks that so many hosts on a pair need, however many spines there are: `uplinks` to one, the inputs being checked."""
        carried = self.up_gbit_s * self.max_oversubscription
        return _whole(hosts * self.links * self.port_gbit_s / carried)

    def at_least(self, hosts: int) -> int:
        """The same, and at least one to each spine."""
        return max(self.needed(hosts), self.spines)

    def free(self, hosts: int) -> int:
        """Ports that are there for uplinks beside so many hosts on a pair."""
        return self.down_ports - hosts * self.links if self.up_ports is None else self.up_ports

    def oversubscription(self, hosts: int, up_ports: int) -> float:
        """Oversubscription with so many hosts on a pair and so many uplinks."""
        down = hosts * self.links
        return oversubscription(down, self.port_gbit_s, up_ports=up_ports, up_gbit_s=self.up_gbit_s)

    def fullest(self) -> int:
        """Most hosts on a pair; a ValueError if there is no place for one."""
        most = self.down_ports // self.links
        if fits := bisect_right(range(1, most + 1), 0, key=lambda n: self.at_least(n) > self.free(n)):
            return fits
        other = ", faster uplinks, fewer spines or a higher max_oversubscription" if most else ""
        has = (
            f"{self.down_ports} and {self.up_ports}"
            if self.up_ports is not None
            else f"{self.down_ports} for both"
        )
        raise ValueError(
            f"for one host a leaf needs {self.links} down and {self.at_least(1)} up ports ({self.needed(1)} up at"
            f" {self.max_oversubscription:g}:1, at least one to each of {self.spines} spines), and it has {has}: take a leaf"
            f" with more ports{other}"
        )

    def wider(self, fullest: int) -> str:
        """Changes with which one host more goes on a pair."""
        one_more = fullest + 1
        bound = (
            one_more * self.links <= self.down_ports
            and self.needed(one_more) > self.free(one_more) >= self.spines
        )
        return "a higher max_oversubscription" if bound else "a leaf with more ports for hosts"


def oversubscription(down_ports: int, down_gbit_s: float, *, up_ports: int, up_gbit_s: float) -> float:
    """Bandwidth of a leaf to its hosts divided by its bandwidth to the spines.

    Parameters:
        up_ports: Uplinks in use. [-]
        up_gbit_s: Speed of each. [Gbit/s]

    3 is 3:1; 1 is non-blocking, below 1 the uplinks have bandwidth to spare. [-] down_ports * down_gbit_s / (up_ports *
    up_gbit_s). The worst case, in which all hosts send to other leaves at once; it counts link speeds, not what
    protocols or uneven spreading of flows over the links leave of them. [vmware-vvd-4.0-leaf-spine]_ [al-fares-2008]_

    >>> oversubscription(48, 25, up_ports=4, up_gbit_s=100)
    3.0
    >>> oversubscription(19, 10, up_ports=4, up_gbit_s=40)
    1.1875
    """
    down = _count("down_ports", down_ports) * _amount("down_gbit_s", down_gbit_s)
    return down / (_count("up_ports", up_ports) * _amount("up_gbit_s", up_gbit_s))


def uplinks(
    down_ports: int, down_gbit_s: float, *, up_gbit_s: float, max_oversubscription: float, spines: int
) -> int:
    """Fewest uplinks of a leaf within an oversubscription, as many to one spine as to any other.

    Parameters:
        up_gbit_s: Speed of an uplink. [Gbit/s]
        spines: Spines there are; each leaf is linked to each. [-]

    ceil(down_ports * down_gbit_s / (max_oversubscription * up_gbit_s)), raised to the next multiple of spines. Equal
    numbers to every spine keep one spine from becoming a hot spot. [vmware-vvd-4.0-leaf-spine]_

    >>> uplinks(48, 25, up_gbit_s=100, max_oversubscription=3, spines=2)
    4
    >>> uplinks(48, 25, up_gbit_s=100, max_oversubscription=3, spines=3)
    6
    """
    spines = _count("spines", spines)
    bandwidth = _count("down_ports", down_ports) * _amount("down_gbit_s", down_gbit_s)
    carried = _amount("up_gbit_s", up_gbit_s) * _amount("max_oversubscription", max_oversubscription)
    return math.ceil(_whole(bandwidth / carried) / spines) * spines


def leaf_spine(
    hosts: int,
    *,
    ports_per_host: int,
    port_gbit_s: float,
    up_gbit_s: float,
    spine_ports: int,
    max_oversubscription: float,
    leaf_down_ports: int | None = None,
    leaf_up_ports: int | None = None,
    leaf_ports: int | None = None,
    spines: int = 2,
) -> LeafSpine:
    """Fewest leaf and spine switches that connect hosts to leaf pairs within an oversubscription limit.

    Parameters:
        hosts: Hosts to connect. [host]
        ports_per_host: Ports of each host, at least 2, spread evenly over the two leaves of one pair. [-]
        up_gbit_s: Speed of an uplink, and of a link between the leaves of the only pair. [Gbit/s]
        spine_ports: Ports of a spine, at the speed of the uplinks. [-]
        leaf_down_ports: Ports of a leaf for hosts, where it has ports of two kinds. [-]
        leaf_up_ports: Ports of a leaf for uplinks, where it has ports of two kinds. [-]
        leaf_ports: Ports of a leaf whose ports are all alike, instead of the other two. [-]
        spines: Fewest spines, where there are any. [-]

    With p pairs a pair has up to h = ceil(hosts / p) hosts, a leaf d = h * ceil(ports_per_host / 2) host ports and
    n = ceil(d * port_gbit_s / (max_oversubscription * up_gbit_s)) uplinks, raised to a multiple of the s spines;
    a spine uses 2p * (uplinks / s) ports. Of all p and s that exceed no switch's ports, the fewest switches 2p + s;
    of equals, the fewest leaves. So a leaf short of uplinks takes fewer hosts, and a spine short of ports gets
    more spines beside it. More hosts never need fewer switches, but sometimes fewer leaves under more spines. The
    second leaf of a pair is built like the first, though an odd port leaves it less full.

    Hosts that fit one pair need no spine: its leaves are joined by max(n, spines) peer links at the speed of the
    uplinks, so that traffic from one leaf to the other has what it would have through spines. Under spines no links
    within a pair are counted; a pair that shares link aggregation needs some. Links to the world outside, to storage
    and to management are not counted either. Two tiers end at spine_ports leaves. [vmware-vvd-4.0-leaf-spine]_
    [vmware-vvd-6.0-physical-network]_ [juniper-layer3-fabrics]_ [al-fares-2008]_ [gpuplan-method]_ Refused where a leaf
    cannot carry one host, or the leaves are more than a spine has ports; says what to change.

    >>> pair = leaf_spine(8, ports_per_host=2, port_gbit_s=25, leaf_down_ports=48, leaf_up_ports=6,
    ...                   up_gbit_s=100, spine_ports=32, max_oversubscription=3)
    >>> pair.leaves, pair.spines, pair.peer_cables
    (2, 0, 2)
    >>> built = leaf_spine(96, ports_per_host=2, port_gbit_s=25, leaf_down_ports=48, leaf_up_ports=6,
    ...                    up_gbit_s=100, spine_ports=32, max_oversubscription=3)
    >>> built.leaves, built.spines, built.uplinks_per_leaf, built.oversubscription
    (4, 2, 4, 3.0)
    """
    hosts = _count("hosts", hosts)
    ports_per_host = _count("ports_per_host", ports_per_host, least=2, most=MOST_PORTS)
    spine_ports = _count("spine_ports", spine_ports, most=MOST_PORTS)
    leaf = Leaf(
        *_ports_of(leaf_down_ports, leaf_up_ports, leaf_ports),
        links=math.ceil(ports_per_host / 2),
        port_gbit_s=_amount("port_gbit_s", port_gbit_s),
        up_gbit_s=_amount("up_gbit_s", up_gbit_s),
        max_oversubscription=_amount("max_oversubscription", max_oversubscription),
        spines=_count("spines", spines, most=MOST_PORTS),
    )
    fullest = leaf.fullest()
    pairs = math.ceil(hosts / fullest)
    if pairs > 1 and 2 * pairs > spine_ports:
        raise TooManyLeaves(
            f"{hosts} hosts need {2 * pairs} leaves, and with the {spine_ports} ports of a spine two tiers end at"
            f" {spine_ports // 2 * fullest} hosts: take a spine with more ports, {leaf.wider(fullest)} or a third tier",
            spine_ports // 2 * fullest,
        )

    def fewest_spines(pairs: int) -> int:
        """Fewest spines under which a leaf has ports for its uplinks and a spine for its leaves; 0 for one pair."""
        if pairs == 1:
            return 0
        on_pair = math.ceil(hosts / pairs)
        least = leaf.needed(on_pair)
        links = min(spine_ports // (2 * pairs), math.ceil(least / spines))
        while True:  # ends: with one link to each spine there are max(least, spines) uplinks, which fit
            count = max(spines, math.ceil(least / links))
            if count * links <= leaf.free(on_pair):
                return count
            links -= 1

    worth_trying = min(hosts, spine_ports // 2, pairs + max(0, fewest_spines(pairs) - spines) // 2)
    _, pairs = min((2 * p + fewest_spines(p), p) for p in range(pairs, max(pairs, worth_trying) + 1))
    on_pair, count = math.ceil(hosts / pairs), fewest_spines(pairs)
    links = math.ceil(leaf.needed(on_pair) / count) if count else leaf.at_least(on_pair)
    up = links * (count or 1)
    to_spines = up if count else 0
    return LeafSpine(
        leaves=2 * pairs,
        spines=count,
        hosts_per_pair=on_pair,
        host_links_per_leaf=leaf.links,
        down_ports_used=on_pair * leaf.links,
        uplinks_per_leaf=to_spines,
        links_per_spine=links if count else 0,
        spine_ports_used=2 * pairs * links if count else 0,
        oversubscription=leaf.oversubscription(on_pair, up),
        oversubscription_after_spine=leaf.oversubscription(on_pair, up - links) if count > 1 else None,
        host_cables=hosts * ports_per_host,
        uplink_cables=2 * pairs * to_spines,
        peer_cables=up - to_spines,
    )


def host_ports(demand_gbit_s: float, port_gbit_s: float, *, usable_share: float, minimum: int = 2) -> int:
    """Teamed network ports of a host, enough for its concurrent traffic.

    Parameters:
        demand_gbit_s: Traffic of the host that runs together: GPUs over the network, training, storage, vMotion. [Gbit/s]
        minimum: Fewest ports; two, one to each leaf of a pair, so that one may fail. [-]

    max(minimum, ceil(demand_gbit_s / (usable_share * port_gbit_s))). Each direction of a link carries the full
    speed, so the demand is that of the busier direction. Flows are taken to spread evenly over the ports; one
    flow never gets more than one port. With a port lost the rest need not carry the demand.
    [vmware-vvd-6.0-physical-network]_ [gpuplan-method]_

    >>> host_ports(45, 25, usable_share=0.8)
    3
    >>> host_ports(8, 10, usable_share=0.8)
    2
    """
    minimum = _count("minimum", minimum, most=MOST_PORTS)
    return max(minimum, _ports("demand_gbit_s", demand_gbit_s, port_gbit_s, usable_share))


def pvrdma_ports(rdma_demand_gbit_s: float, port_gbit_s: float, *, usable_share: float) -> int:
    """PVRDMA ports of a host besides its teamed ports, each the only uplink of its own distributed switch.

    Parameters:
        rdma_demand_gbit_s: RDMA traffic of the host that runs together. [Gbit/s]

    max(1, ceil(rdma_demand_gbit_s / (usable_share * port_gbit_s))). PVRDMA knows no teaming: with a port lost, the
    virtual machines on its distributed switch lose RDMA and fall back to TCP over the teamed ports. A virtual adapter
    is on one distributed switch, so none gets more than one port. [vmware-vsphere-7.0-pvrdma]_ [gpuplan-method]_

    >>> pvrdma_ports(60, 100, usable_share=0.9)
    1
    >>> pvrdma_ports(100, 100, usable_share=0.9)
    2
    """
    return max(1, _ports("rdma_demand_gbit_s", rdma_demand_gbit_s, port_gbit_s, usable_share))


def bandwidth_left(links: int, lost: int = 1) -> float:
    """Share of bandwidth left when some of several equal links fail.

    Parameters:
        links: Links that share the traffic: ports of a host, uplinks of a leaf, spines, peer links. [-]
        lost: Those that are lost at once, from 0 to all. [-]

    (links - lost) / links. Of a host with n ports on a pair of leaves, the loss of the first leaf takes
    ceil(n / 2), of the second floor(n / 2). Oversubscription rises by the inverse. Exact when what is left shares the
    traffic evenly, once routing or teaming has moved it. [gpuplan-method]_

    >>> bandwidth_left(4)
    0.75
    >>> bandwidth_left(3, 2)  # the leaf with two of a host's three ports
    0.3333333333333333
    """
    links = _count("links", links)
    return (links - _count("lost", lost, least=0, most=links)) / links


def _ports(name: str, demand_gbit_s: float, port_gbit_s: float, usable_share: float) -> int:
    """Ports that carry a demand, none for no demand."""
    usable = _amount("usable_share", usable_share, most=1) * _amount("port_gbit_s", port_gbit_s)
    return _whole(_amount(name, demand_gbit_s, least=0) / usable)


def _ports_of(down: int | None, up: int | None, shared: int | None) -> tuple[int, int | None]:
    """Return ports for hosts and for uplinks; None for the second if all ports of a leaf are identical."""
    if shared is not None and down is None and up is None:
        return _count("leaf_ports", shared, most=MOST_PORTS), None
    if shared is not None or down is None or up is None:
        raise ValueError(
            f"leaf_down_ports is {down!r}, leaf_up_ports {up!r}, leaf_ports {shared!r}:"
            " give both of the first, or leaf_ports alone where all ports of a leaf are alike"
        )
    return _count("leaf_down_ports", down, most=MOST_PORTS), _count("leaf_up_ports", up, most=MOST_PORTS)


def _whole(links: float) -> int:
    """Links, rounded up unless the excess is the rounding of a decimal."""
    return math.ceil(links * (1 - ROUNDING))
