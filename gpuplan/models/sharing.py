"""Sharing one GPU: the profile of a share of a GPU, and the number of them on one GPU.

Counts come from the vendor's tables and are never memory divided by size. [nvidia-mig-user-guide-610]_
[nvidia-vgpu-17.0-user-guide]_
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from gpuplan.units import above_zero, exact, whole_from_zero, zero_to_one


class Profile(NamedTuple):
    """A vGPU profile of one GPU model."""

    name: str
    frame_buffer_mb: int
    max_per_gpu: int
    whole: bool
    """True for the full-frame-buffer profile."""
    compute_slices: int = 0
    """Compute slices of a MIG profile; 0 for time slices, which take turns on the whole GPU."""
    gpu_slices: int = 0
    """Compute slices of the whole GPU."""
    max_per_gpu_mixed: int = 0
    """Number of this profile on a GPU in mixed-size mode; 0 where there is no such mode."""


def smallest_profile(gpus_each: float, *, profiles: Sequence[Profile]) -> Profile | None:
    """Smallest vGPU profile that gives a VM at least its share of the GPU.

    Parameters:
        gpus_each: Share of one GPU that the VM needs; 1 or more asks for the whole frame buffer. [GPU]
        profiles (sequence of Profile): Profiles of one GPU model with one backing. [-]

    None if there is none. Large enough means frame buffer >= share * frame buffer of the whole-GPU profile, or that so
    few of several fit on a GPU that each has the share (1 / max per GPU >= share), which covers the profiles that lose a
    little frame buffer to rounding (H100 NVL: 4 x 23 GB of 94 GB). A MIG profile must also have the share in compute
    slices, to the nearest slice (of 7, a half is 3 and a quarter is 2); with the whole share of compute, the memory slices
    that belong to it are enough (4/7 is 4g, which has 4 of 8). Of those large enough, the one with the highest maximum
    per GPU, then with the fewest compute slices, then with the most frame buffer. Equal-size mode: one profile per GPU.
    [nvidia-aie-5.0-user-guide]_

    >>> v100 = [Profile("V100D-32C", 32768, 1, True), Profile("V100D-16C", 16384, 2, False),
    ...         Profile("V100D-8C", 8192, 4, False), Profile("V100D-4C", 4096, 8, False)]
    >>> smallest_profile(0.5, profiles=v100).name
    'V100D-16C'
    >>> smallest_profile(0.3, profiles=v100).name
    'V100D-16C'
    """
    above_zero(gpus_each=gpus_each)
    full = max((p.frame_buffer_mb for p in profiles), default=0)
    share = exact(gpus_each)
    if share >= 1:
        return next((p for p in profiles if p.whole), None)
    enough = [
        p
        for p in profiles
        if p.compute_slices >= share * p.gpu_slices - Fraction(1, 2)
        and (
            p.frame_buffer_mb >= share * full
            or 1 < p.max_per_gpu <= 1 / share
            or (p.gpu_slices and Fraction(p.compute_slices, p.gpu_slices) >= share)
        )
    ]
    return max(enough, key=lambda p: (p.max_per_gpu, -p.compute_slices, p.frame_buffer_mb), default=None)


def profile_gpus(parts: Sequence[tuple[Profile, int]]) -> float:
    """GPUs that the vGPUs of a VM are, by the compute of their profiles.

    Parameters:
        parts (sequence of (Profile, int)): Profiles of one VM, and how many vGPUs of each. [-]

    A MIG profile counts with its compute slices, of all of the GPU; a time-sliced one as a GPU divided by the most of it
    on one. Their sum, which says less than their places: 1g.10gb of an A100 has 1 of 7 slices, and only four fit.
    [nvidia-mig-user-guide-610]_ [nvidia-vgpu-17.0-user-guide]_

    >>> profile_gpus([(Profile("L40S-24C", 24576, 2, False), 1), (Profile("L40S-12C", 12288, 4, False), 2)])
    1.0
    """
    whole_from_zero(**{f"parts {at}": n for at, (_, n) in enumerate(parts)})
    shares = (n * Fraction(p.compute_slices or 1, p.gpu_slices or p.max_per_gpu) for p, n in parts)
    return float(sum(shares))


def memory_share_mb(gpus_each: float, *, memory_gib: float) -> int:
    """Frame buffer that a Bitfusion client gets for its share of a GPU.

    Parameters:
        gpus_each: Share of the GPU's memory, 0 to 1. [GPU]
        memory_gib: Memory of the GPU. [GiB]

    Rounded down to whole MB (of 2**20 bytes) so that n shares of 1/n fit: floor(share * memory * 1024), with a share
    such as 0.333333 read as the fraction it stands for. Only memory is divided; the compute of the GPU is shared and
    contended. [vmware-bitfusion-3.0-user-guide]_

    >>> memory_share_mb(0.5, memory_gib=32)
    16384
    >>> 3 * memory_share_mb(1/3, memory_gib=32) <= 32 * 1024
    True
    """
    zero_to_one(gpus_each=gpus_each)
    above_zero(memory_gib=memory_gib)
    share = exact(gpus_each)
    return max(1, int(share * Fraction(memory_gib) * 1024))
