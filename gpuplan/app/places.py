"""Where on the screen an input is found: its step, and the tab of that step."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple


class Found(NamedTuple):
    """A tab of a step."""

    step: str
    tab: str


PLACES: tuple[tuple[str, Found], ...] = (
    ("ranges.*", Found("compare", "inputs")),
    ("prices.*", Found("cost", "prices")),
    ("internal.*", Found("cost", "money")),
    ("cost.years", Found("usecases", "groups")),
    ("cost.hardware_discount", Found("cost", "years")),
    ("cost.licence_discount", Found("cost", "years")),
    ("cost.*", Found("cost", "money")),
    ("format.*", Found("deliver", "format")),
    ("document.*", Found("deliver", "document")),
    ("hardware.gpu", Found("usecases", "groups")),
    ("hardware.server", Found("usecases", "groups")),
    ("hardware.gpus_per_host", Found("hosts", "picture")),
    ("hardware.*", Found("hosts", "hardware")),
    ("platform.vsphere", Found("usecases", "groups")),
    ("platform.vgpu_sizes", Found("hosts", "hardware")),
    ("platform.gpu_policy", Found("hosts", "power-on")),
    ("platform.drs_consolidation", Found("hosts", "power-on")),
    ("platform.nvlink_groups", Found("hosts", "power-on")),
    ("availability.host_failures", Found("hosts", "picture")),
    ("availability.maintenance_failure_accepted", Found("hosts", "picture")),
    ("availability.split", Found("hosts", "hardware")),
    ("availability.hosts_per_cluster", Found("hosts", "hardware")),
    ("availability.orders_share", Found("hosts", "power-on")),
    ("availability.sized_for", Found("hosts", "power-on")),
    ("availability.reserved_hosts", Found("hosts", "power-on")),
    ("availability.*", Found("hosts", "risk")),
    ("training.*", Found("network", "training")),
    ("network.tcp_gbit_s", Found("network", "remote")),
    ("network.users_per_link", Found("network", "remote")),
    ("network.other_gbit_s", Found("network", "fabric")),
    ("network.compute_hosts", Found("network", "fabric")),
    ("network.oversubscription", Found("network", "fabric")),
    ("network.leaf", Found("network", "fabric")),
    ("network.spine", Found("network", "fabric")),
    ("network.*", Found("network", "verdict")),
    ("groups.*.workload", Found("network", "remote")),
    ("groups.*.growth", Found("demand", "people")),
    ("groups.*.sites", Found("demand", "people")),
    ("groups.*.hours", Found("demand", "people")),
    ("groups.*.days", Found("demand", "people")),
    ("groups.*.off_hours_share", Found("demand", "people")),
    ("groups.*.work_h", Found("demand", "people")),
    ("groups.*.jobs_per_day", Found("demand", "people")),
    ("demand.stated_gpus", Found("usecases", "basis")),
    ("demand.years", Found("demand", "pool")),
    ("demand.method", Found("demand", "waiting")),
    ("demand.peakedness*", Found("demand", "waiting")),
    ("demand.*", Found("demand", "rule")),
    ("platform.assignment", Found("demand", "waiting")),
    ("platform.*", Found("usecases", "basis")),
    ("customer", Found("usecases", "basis")),
    ("management.*", Found("hosts", "hardware")),
    ("groups.*.memory_gib_each", Found("usecases", "vms")),
    ("groups.*.priority", Found("usecases", "vms")),
    ("groups.*.stun_read_s", Found("usecases", "vms")),
    ("groups.*.vcpus_each", Found("usecases", "vms")),
    ("groups.*.vgpus_each", Found("usecases", "vms")),
    ("groups.*.vmotion", Found("usecases", "vms")),
    ("*", Found("usecases", "groups")),
)
"""Beginning or end of an input's path -> where it is asked for; the first that fits counts."""


def place_of(path: str) -> Found:
    """The step and the tab in which an input is found."""
    return next(found for pattern, found in PLACES if fnmatchcase(path, pattern))
