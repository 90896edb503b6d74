"""A leaf switch: its ports and uplinks for hosts on a pair of leaves; and the fabric of leaves and spines."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from gpuplan.units import number_between, whole_number

MOST_PORTS = 10_000
"""Ports of one switch; no switch has as many."""
MOST_HOSTS = 1_000_000
ROUNDING = 1e-12
"""A share of a link below which it is the rounding of a decimal."""


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
        return _over(hosts * self.links, self.port_gbit_s, up_ports, self.up_gbit_s)

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


def _count(name: str, value: int, *, least: int = 1, most: int = MOST_HOSTS) -> int:
    return whole_number(name, value, least=least, most=most)


def _amount(name: str, value: float, *, least: float = 0.001, most: float = 1e6) -> float:
    return number_between(name, value, least=least, most=most)


def _whole(links: float) -> int:
    """Links, rounded up unless the excess is the rounding of a decimal."""
    return math.ceil(links * (1 - ROUNDING))


def _over(down_ports: int, down_gbit_s: float, up_ports: int, up_gbit_s: float) -> float:
    down = _count("down_ports", down_ports) * _amount("down_gbit_s", down_gbit_s)
    return down / (_count("up_ports", up_ports) * _amount("up_gbit_s", up_gbit_s))
