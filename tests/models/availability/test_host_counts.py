"""Spare hosts, clusters, and the GPUs installed and left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models.availability import (
    cluster_count,
    gpus_after_failure,
    installed_gpus,
    spare_hosts,
    sum_over_pools,
    total_hosts,
)


@pytest.mark.parametrize(
    ("failures", "accepted", "spare"),
    [(0, True, 0), (1, True, 1), (1, False, 2), (2, True, 2), (0, False, 1)],
)
def test_spare_hosts(failures: int, accepted: bool, spare: int) -> None:
    assert spare_hosts(failures, maintenance_failure_accepted=accepted) == spare


def test_the_worked_designs() -> None:
    # starter: 7 + 1 hosts of 2 GPUs; enterprise: 7 + 1 hosts of 4
    assert total_hosts(7, hosts_for_failures=1) == 8
    assert installed_gpus(8, gpus_per_host=2) == 16
    assert gpus_after_failure(16, gpus_per_host=2, hosts_lost=1, hosts=8) == 14
    assert installed_gpus(8, gpus_per_host=4) == 32
    assert gpus_after_failure(32, gpus_per_host=4, hosts_lost=1, hosts=8) == 28


@given(st.integers(0, 1000), st.integers(1, 16), st.integers(1, 5))
def test_what_is_left_is_what_the_other_hosts_hold(hosts: int, each: int, lost: int) -> None:
    left = gpus_after_failure(
        installed_gpus(hosts, gpus_per_host=each), gpus_per_host=each, hosts_lost=lost, hosts=hosts
    )
    assert left == installed_gpus(max(0, hosts - lost), gpus_per_host=each) >= 0


def test_sum_over_pools() -> None:
    assert sum_over_pools() == 0
    assert sum_over_pools(5, 5) == 10


def test_hosts_already_there_have_their_own_gpus() -> None:
    assert installed_gpus(8, gpus_per_host=4) == 32
    assert installed_gpus(5, gpus_per_host=8, existing_hosts=2, existing_gpus=6) == 3 * 8 + 2 * 3


@pytest.mark.parametrize(
    ("hosts", "spare", "most", "clusters"),
    [(0, 1, 64, 1), (63, 1, 64, 1), (64, 1, 64, 2), (64, 0, 64, 1), (3, 3, 4, 3)],
)
def test_each_cluster_has_spare_hosts_of_its_own(hosts: int, spare: int, most: int, clusters: int) -> None:
    assert cluster_count(hosts, spare_hosts=spare, most_hosts=most) == clusters
    # as many clusters as full ones hold that, and one fewer do not
    assert clusters * (most - spare) >= hosts > (clusters - 1) * (most - spare) - (hosts == 0)


@pytest.mark.parametrize("spare", [4, 5])
def test_a_cluster_is_more_than_its_spare_hosts(spare: int) -> None:
    with pytest.raises(ValueError, match=f"spare_hosts is {spare}: must be fewer than the 4 hosts"):
        cluster_count(3, spare_hosts=spare, most_hosts=4)
