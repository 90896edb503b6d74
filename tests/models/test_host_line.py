"""What a host is ordered with: by hand, never too little, and never a size too large."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models.host_line import ordered_cores, ordered_disks, ordered_memory_gib

CORES, MEMORY = (16, 32, 48, 64, 96), (256, 512, 1024, 2048)


def test_by_hand() -> None:
    """60 vCPUs / 0.92 = 65.2 cores, 32.6 on each of two processors: not 32. 400 GiB + 32 for vSAN / 0.92 = 469.6."""
    assert ordered_cores(60, sockets=2, sizes=CORES, kept_share=0.08) == 48
    assert ordered_cores(58, sockets=2, sizes=CORES, kept_share=0.08) == 32
    assert ordered_memory_gib(400, sizes_gib=MEMORY, kept_share=0.08, kept_gib=32) == 512
    assert ordered_memory_gib(440, sizes_gib=MEMORY, kept_share=0.08, kept_gib=32) == 1024


def test_the_published_design_follows_from_its_own_rule() -> None:
    """8 GPUs of 80 GB and 1.6 GB for each: 1,024 GB, exactly a size, not the next."""
    assert ordered_memory_gib(0, sizes_gib=MEMORY, gpus_gib=640, per_gpu_memory=1.6) == 1024


def test_beyond_what_is_sold() -> None:
    assert ordered_cores(500, sockets=2, sizes=CORES) == 250
    assert ordered_memory_gib(5000, sizes_gib=MEMORY) == 3 * 2048


@given(
    vcpus=st.integers(0, 400), ratio=st.sampled_from([1, 1.5, 2, 4]), kept=st.sampled_from([0, 0.08, 0.18])
)
def test_cores_carry_the_vms_and_one_size_less_does_not(vcpus: int, ratio: float, kept: float) -> None:
    found = ordered_cores(vcpus, sockets=2, sizes=CORES, vcpus_per_core=ratio, kept_share=kept)
    assert 2 * found * ratio * (1 - kept) >= vcpus - 1e-6
    smaller = [size for size in CORES if size < found]
    if found in CORES and smaller:
        assert 2 * max(smaller) * ratio * (1 - kept) < vcpus
    assert found >= ordered_cores(vcpus, sockets=2, sizes=CORES, vcpus_per_core=ratio * 2, kept_share=kept)


def test_disks() -> None:
    assert ordered_disks(0, disk_gb=3200, least=4) == 4
    assert ordered_disks(12_800, disk_gb=3200, least=4) == 4
    assert ordered_disks(12_801, disk_gb=3200, least=4) == 5


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ordered_cores(-1, sockets=2, sizes=CORES), "vcpus"),
        (lambda: ordered_cores(1, sockets=0, sizes=CORES), "sockets"),
        (lambda: ordered_cores(1, sockets=2, sizes=CORES, kept_share=1), "kept_share"),
        (lambda: ordered_memory_gib(1, sizes_gib=()), "sizes_gib"),
        (lambda: ordered_memory_gib(float("nan"), sizes_gib=MEMORY), "vms_gib"),
        (lambda: ordered_disks(1, disk_gb=0), "disk_gb"),
    ],
)
def test_nonsense_is_refused_by_name(call, named: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=named):
        call()
