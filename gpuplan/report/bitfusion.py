"""Bitfusion servers: the VMs that hold the GPUs which clients use over the network. The plan places the clients' shares; this says which server has which GPUs."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from gpuplan.plan import Plan
from gpuplan.plan.access import served_by
from gpuplan.plan.hosts import Pool
from gpuplan.units import exact

SERVER_MEMORY = exact(1.5)
"""Memory of a Bitfusion server for each GiB of its GPUs (rule bitfusion-server-memory)."""
SERVER_VCPUS = 4
"""Least virtual CPUs of a Bitfusion server (rule bitfusion-server-memory)."""


class Server(NamedTuple):
    """A Bitfusion server: numbers of its host and of the host's GPUs that it holds, from 0."""

    host: int
    gpus: range


@dataclass(frozen=True, slots=True)
class Servers:
    """The Bitfusion servers of a cluster."""

    pool: str
    vms: tuple[Server, ...]
    profile: str
    """The vGPU profile of each of its GPUs; empty where it holds them by passthrough."""
    least_vcpus: int
    least_memory_gib: int


def servers_of(plan: Plan, pool: Pool) -> Servers | None:
    """Return a cluster's Bitfusion servers: one per host with GPUs for them, more where a VM cannot have all vGPUs."""
    plan = plan.home(pool)
    if served_by(pool.kind) == "bitfusion":
        counts, most, profile = [room.gpus for room in pool.rooms], pool.gpus_per_host, ""
    else:
        counts, profile = gpus_of(pool, clients(plan)), whole_profile(plan)
        version = plan.catalog.vsphere[plan.scenario.platform.vsphere]
        most = int(version.value("max_vgpus_per_vm") or pool.gpus_per_host)
    starts = ((at, gpus, first) for at, gpus in enumerate(counts) for first in range(0, gpus, most))
    vms = tuple(Server(at, range(first, min(first + most, gpus))) for at, gpus, first in starts)
    if not vms:
        return None
    largest = max(len(vm.gpus) for vm in vms)
    return Servers(pool.id, vms, profile, SERVER_VCPUS, server_memory_gib(plan, largest))


def server_memory_gib(plan: Plan, gpus: int) -> int:
    """Return the least memory of a Bitfusion server with ``gpus`` GPUs."""
    return math.ceil(SERVER_MEMORY * gpu_gib(plan) * gpus)


def all_servers(plan: Plan) -> tuple[Servers, ...]:
    """The Bitfusion servers of each cluster that has some."""
    by_pool = (servers_of(plan, pool) for pool in plan.pools)
    return tuple(servers for servers in by_pool if servers is not None)


def clients(plan: Plan) -> frozenset[str]:
    """Ids of the groups that use GPUs over the network."""
    return frozenset(group.id for group in plan.groups if group.mode == "bitfusion")


def gpus_of(pool: Pool, groups: Collection[str]) -> list[int]:
    """GPUs of each host on which some groups are."""
    own = [[load for load in host if load.slots and load.slots[0].group in groups] for host in pool.placement]
    return [sum(load.gpus for load in host) for host in own]


def gpu_gib(plan: Plan) -> Fraction:
    """Memory of a GPU."""
    return exact(plan.catalog.gpus[plan.scenario.hardware.gpu].fact("memory_gib").value)


def whole_profile(plan: Plan) -> str:
    """Return the time-sliced profile with the whole frame buffer, one per GPU of a Bitfusion server; empty if none."""
    rows = plan.catalog.profiles_of(plan.scenario.hardware.gpu)
    whole = (r for r in rows if r["backing"] == "timesliced" and r["full_frame_buffer"])
    return next((str(r["profile"]) for r in whole), "")
