"""The management domain by hand, against the published sheet, and in its directions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models.management import domain_hosts, share_of_host, vsan_raw_gb


def test_the_sheet_of_the_planning_workbook() -> None:
    """Its own example, high availability and medium: 122 vCPU, 316 GB, 7,872 GB; four hosts; 41, 106 and 5,855 on each of three."""
    raw = vsan_raw_gb(7872, memory_gb=316)
    assert raw == 17_564
    assert domain_hosts(122, memory_gb=316, host_vcpus=128, host_memory_gb=1024) == 4
    assert [share_of_host(total, hosts=4) for total in (122, 316, raw)] == [41, 106, 5855]


def test_the_steps_of_vsan_by_hand() -> None:
    """8,188 x 1.5 = 12,282; x 1.3 = 15,966.6, up to 15,967; x 1.1 = 17,563.7, up to 17,564."""
    assert vsan_raw_gb(8188) == 17_564
    assert vsan_raw_gb(1000, redundancy=2, reserve_share=0, growth_share=0) == 2000
    assert vsan_raw_gb(100, redundancy=1.1, reserve_share=0, growth_share=0) == 110, "no step more than it is"


def test_memory_or_processors_may_decide() -> None:
    assert domain_hosts(100, memory_gb=10, host_vcpus=20, host_memory_gb=1000, min_hosts=2) == 6
    assert domain_hosts(10, memory_gb=1000, host_vcpus=20, host_memory_gb=100, min_hosts=2) == 11
    assert domain_hosts(10, memory_gb=1000, host_vcpus=20, host_memory_gb=100, spare_hosts=2) == 12


@given(
    vcpus=st.integers(0, 2000),
    memory=st.integers(0, 8000),
    host=st.integers(16, 256),
    least=st.integers(2, 8),
)
def test_so_many_hosts_carry_it_when_one_is_down_and_fewer_do_not(
    vcpus: int, memory: int, host: int, least: int
) -> None:
    """A second way: count up from the fewest until the others carry everything."""
    found = domain_hosts(vcpus, memory_gb=memory, host_vcpus=host, host_memory_gb=8 * host, min_hosts=least)
    hosts = least
    while (hosts - 1) * host < vcpus or (hosts - 1) * 8 * host < memory:
        hosts += 1
    assert found == hosts
    assert share_of_host(vcpus, hosts=found) <= host


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: domain_hosts(-1, memory_gb=1, host_vcpus=1, host_memory_gb=1), "vcpus"),
        (lambda: domain_hosts(1, memory_gb=1, host_vcpus=0, host_memory_gb=1), "host_vcpus"),
        (lambda: domain_hosts(1, memory_gb=1, host_vcpus=1, host_memory_gb=1, min_hosts=2.5), "min_hosts"),  # type: ignore[arg-type]
        (lambda: share_of_host(1, hosts=1), "hosts"),
        (lambda: share_of_host(float("nan"), hosts=4), "total"),
        (lambda: vsan_raw_gb(-1), "disk_gb"),
        (lambda: vsan_raw_gb(1, redundancy=0), "redundancy"),
    ],
)
def test_nonsense_is_refused_by_name(call, named: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=named):
        call()
