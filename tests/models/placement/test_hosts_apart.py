"""Equal hosts with the shares of a VM let apart: exact for single shares, for others a bound."""

from __future__ import annotations

from brute_force import FAMILIES, fewest_hosts, random_requests
from random_cases import cases

from gpuplan.models.placement import Request, Room
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.hosts_apart import HostsApart


def test_whole_gpus_and_single_shares_are_exact() -> None:
    for rng in cases(23, 100, few=25):
        gpus = rng.randint(1, 4)
        requests = random_requests(rng, gpus, most=6)
        rules = Rules(requests)
        solution = HostsApart(rules).apart(rules.vms, Room(gpus))
        assert solution.hosts == solution.bound == fewest_hosts(requests, gpus)


def test_of_vms_with_several_shares_it_is_a_bound() -> None:
    """Three VMs of two thirds each: their six thirds fill two GPUs, but none of these has two of the VMs whole."""
    thirds = [Request("a", 3, family=FAMILIES["third"], profile="third", shares=2)]
    rules = Rules(thirds)
    assert HostsApart(rules).apart(rules.vms, Room(1)).bound == 2
    assert fewest_hosts(thirds, 1) == 3
