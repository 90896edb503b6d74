"""The TCP rate at which RDMA makes a step so many times faster: the step at that rate, and where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuplan.models.network import GpuHosts, Link
from gpuplan.models.network.speedup import tcp_rate_for_speedup_gbit_s
from gpuplan.models.network.training import training_step_s

HOSTS = GpuHosts(4, Link(100, "pvrdma"))


def test_at_that_rate_the_step_is_so_many_times_longer() -> None:
    rate = tcp_rate_for_speedup_gbit_s(0.2, speedup=2, gradient_mb=100, over=HOSTS)
    over_tcp = replace(HOSTS, link=Link(100, "tcp", rate))
    slow, fast = (training_step_s(0.2, gradient_mb=100, over=over) for over in (over_tcp, HOSTS))
    assert slow / fast == pytest.approx(2, rel=1e-6)


def test_no_rate_is_slow_enough_for_next_to_no_gradient() -> None:
    assert tcp_rate_for_speedup_gbit_s(0.2, speedup=2, gradient_mb=1e-6, over=HOSTS) == 0


@pytest.mark.parametrize(("speedup", "hosts"), [(1, 4), (2, 1)])
def test_a_claim_needs_two_hosts_and_something_that_is_faster(speedup: float, hosts: int) -> None:
    with pytest.raises(ValueError, match="speedup is"):
        tcp_rate_for_speedup_gbit_s(0.2, speedup=speedup, gradient_mb=100, over=replace(HOSTS, hosts=hosts))
