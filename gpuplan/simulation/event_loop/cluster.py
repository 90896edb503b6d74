"""What requests take of a cluster, as the constants of an event loop."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gpuplan.simulation.arrivals import Stream
from gpuplan.units import exact


class Cluster(NamedTuple):
    """Constants of each stream: GPUs of a VM (0 for a fraction), VMs, and GPUs allocated by a VM; of a fraction its
    weight, the weight that fills a GPU, and its family; vCPUs and memory of a VM, and hosts that it may not take."""

    gpus: Any
    vms: Any
    load: Any
    weight: Any
    full: Any
    family: Any
    takes: Any
    barred: Any

    @classmethod
    def of(cls, kinds: Sequence[Stream], hosts: Sequence[int], clusters: Sequence[int] = ()) -> "Cluster":
        """The streams as numbers; the parts of a GPU of each family have one denominator, so that they add up exactly."""
        part, family, full = _parts(kinds)
        names, number = list(full), clusters or [0] * len(hosts)
        cluster = cls(
            gpus=np.array([int(k.gpus) for k in kinds]),
            vms=np.array([k.vms for k in kinds]),
            load=np.array([float(k.gpus) for k in kinds]),
            weight=np.array([int(p * full[f]) for p, f in zip(part, family, strict=True)]),
            full=np.array([full[f] for f in family]),
            family=np.array([names.index(f) for f in family]),
            takes=np.array([n for k in kinds for n in k.takes]),
            barred=np.array([int(bool(k.clusters) and c not in k.clusters) for k in kinds for c in number]),
        )
        cluster._check_room(kinds, hosts)
        return cluster

    def _check_room(self, kinds: Sequence[Stream], hosts: Sequence[int]) -> None:
        """Refuse requests whose VMs can never start together."""
        for k, weight, whole in zip(kinds, self.weight.tolist(), self.full.tolist(), strict=True):
            room = sum(hosts) * (whole // weight) if weight else sum(h // int(k.gpus) for h in hosts)
            if room < k.vms:
                raise ValueError(
                    f"stream {k.name!r}: {k.vms} VMs of {k.gpus:g} GPUs can never start together; "
                    f"{len(hosts)} hosts with {sum(hosts)} GPUs in all, at most {max(hosts)} in one, hold {room}"
                )

    def hosts_that_matter(self, hosts: Sequence[int]) -> Sequence[int]:
        """One host in place of all where every VM fits on one GPU and those of a family are alike: it is faster, and the same."""
        families = list(zip(self.family.tolist(), self.weight.tolist(), strict=True))
        alike = len(set(families)) == len(set(self.family.tolist()))
        return (sum(hosts),) if alike and max(self.gpus) <= 1 and not self.limited else hosts

    @property
    def limited(self) -> bool:
        """True if vCPUs or memory count, or some VMs may not take every host."""
        return any(self.takes) or any(self.barred)


def _parts(kinds: Sequence[Stream]) -> tuple[list[Fraction], list[str], dict[str, int]]:
    """Return the part of a GPU that a VM of each kind takes, 0 for whole ones, its family, and the denominator of each family."""
    part = [exact(k.gpus) if not k.per_gpu else Fraction(1, k.per_gpu) for k in kinds]
    part = [p if k.gpus < 1 else Fraction(0) for p, k in zip(part, kinds, strict=True)]
    family = [k.family or str(k.gpus) for k in kinds]
    full = dict.fromkeys(family, 1)
    for p, name in zip(part, family, strict=True):
        full[name] = math.lcm(full[name], p.denominator)
    for name, denominator in full.items():
        if denominator > 1 << 40:
            why = "the fractions of a GPU have no common part; fewer or rounder ones do"
            raise ValueError(f"family {name!r}: {why}")
    return part, family, full
