"""Leaves and spines of a design: fabrics that no switch joins, each with its hosts, and their sums.

A ratio, a number of links or of ports belongs to one fabric; only switches and cables are added up.
"""

from dataclasses import dataclass
from typing import NamedTuple

from gpuplan.facts import Brief
from gpuplan.models.network.fabric import LeafSpine
from gpuplan.wording import run_words, said, some_of


class Hosts(NamedTuple):
    """Hosts that are on the same fabric."""

    site: str
    """Their site, where clusters are by site."""
    gpu_hosts: int
    compute_hosts: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.gpu_hosts + self.compute_hosts


class Fabric(NamedTuple):
    """Switches that join some hosts, and no others."""

    hosts: Hosts
    shape: LeafSpine
    free_leaf_ports: int
    """Free uplink ports on its fullest leaf, for links out of the cluster."""


class Kind(NamedTuple):
    """Fabrics that are alike: the same hosts on the same switches."""

    fabric: Fabric
    name: str
    """Their numbers and sites; empty for the only fabric."""
    fabrics: int


class Totals(NamedTuple):
    """Switches and cables of all fabrics."""

    leaves: int
    spines: int
    host_cables: int
    uplink_cables: int
    peer_cables: int

    @property
    def between_switches(self) -> int:
        """Cables between leaves and spines, or the leaves of a pair."""
        return self.uplink_cables + self.peer_cables


@dataclass(frozen=True, slots=True, repr=False)
class Switches(Brief):
    """Leaves and spines that connect the hosts."""

    leaf: str
    leaf_name: str
    spine: str
    spine_name: str
    port_gbit_s: float
    up_gbit_s: float
    fabrics: tuple[Fabric, ...]
    """Fabrics that no switch of these joins, each for whole clusters of one site."""
    total: Totals

    @property
    def busiest(self) -> Fabric:
        """The fabric whose fullest leaf has the highest oversubscription."""
        return max(self.fabrics, key=lambda fabric: fabric.shape.oversubscription)

    @property
    def kinds(self) -> list[Kind]:
        """The fabrics, those alike once."""
        alike: dict[tuple[object, ...], list[int]] = {}
        for number, (hosts, *built) in enumerate(self.fabrics, 1):
            alike.setdefault((hosts[1:], *built), []).append(number)
        return [
            Kind(self.fabrics[numbers[0] - 1], self.name(*numbers), len(numbers))
            for numbers in alike.values()
        ]

    def name(self, *numbers: int) -> str:
        """The name of fabrics by their numbers, from 1; empty for the only one."""
        sites = [site for number in numbers if (site := self.fabrics[number - 1].hosts.site)]
        words = {"numbers": run_words(numbers), "sites": some_of(sites)}
        key = ("fabric.names" if numbers[1:] else "fabric.name") + " at" * bool(sites)
        return said(key, **words) if self.where else ""

    @property
    def pairs(self) -> str:
        """The leaves where there are no spines."""
        return said("fabric.one pair each" if len(self.fabrics) > 1 else "fabric.one pair")

    @property
    def where(self) -> str:
        """The number of fabrics in words, if there are several."""
        return self._of_several("fabric.in fabrics")

    @property
    def highest(self) -> str:
        """That a figure is the highest of the fabrics, if there are several."""
        return self._of_several("fabric.highest")

    def _of_several(self, key: str) -> str:
        return said(key, fabrics=len(self.fabrics)) if len(self.fabrics) > 1 else ""

    def words(self, fabric: Fabric) -> str:
        """Hosts, switches and links of one of the fabrics."""
        key = "fabric.with spines" if fabric.shape.spines else "fabric.of a pair"
        return said(key, hosts=fabric.hosts, shape=fabric.shape, up=self.up_gbit_s)
