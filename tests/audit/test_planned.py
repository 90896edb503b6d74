"""A design as an inventory shows it: the hosts and VMs of the plan, by the names of its Terraform files."""

from __future__ import annotations

from collections import Counter

import pytest
from drifts import DESIGNS, design

from gpuplan.audit.planned import plain
from gpuplan.deliver.infrastructure.vms import all_vms
from gpuplan.plan.profiles import vgpus_named


@pytest.mark.parametrize("name", DESIGNS)
def test_hosts_and_vms_are_those_of_the_infrastructure_code(name: str) -> None:
    of = design(name)
    assert len(of.hosts) == of.plan.totals.hosts
    assert sum(host.gpus for host in of.hosts) == of.plan.totals.gpus
    counts: dict[str, int] = {}
    for vms in all_vms(of.plan):
        if not vms.client:
            counts[plain(vms.label)] = vms.in_all
            least = {
                name.rpartition("-")[0]: len(name.rpartition("-")[2]) for name in of.groups[_id(vms)].names
            }
            assert least == {plain(vms.label): max(2, len(str(vms.in_all)))}
            ways = of.groups[_id(vms)].devices[vms.key]
            if vms.profile and vms.vgpus:
                names = Counter(vgpus_named(vms.profile, vms.vgpus))
                assert ways == {tuple(sorted(names.items()))}
    assert counts == {vms.names[0].rpartition("-")[0]: len(vms.names) for vms in of.groups.values()}


def _id(vms: object) -> str:
    return getattr(vms, "group", "") or "bitfusion_server"


def test_mig_and_time_sliced_gpus_of_a_host_are_told_apart() -> None:
    hosts = design("current").hosts
    assert sum(host.mig for host in hosts) == 2
    assert all(host.mig + host.shared <= host.gpus for host in hosts)
    assert {(host.mig, host.shared) for host in design("starter").hosts} == {(0, 0)}
