"""vMotion: stun time of a VM with vGPUs while it is moved. [vmware-vsphere-7.0-vgpu-vmotion]_"""

from gpuplan.units import above_zero, not_negative


def stun_time_s(frame_buffer_gb: float, *, fixed_s: float, copy_rate_gb_s: float) -> float:
    """Stun of a VM with vGPUs during vMotion, while its used frame buffer is copied.

    Parameters:
        frame_buffer_gb: Frame buffer in use, in all vGPUs of the VM together. [GB]
        fixed_s: Part that does not depend on the frame buffer. [s]
        copy_rate_gb_s: Frame buffer copied per second of standing still. [GB/s]

    fixed_s + frame_buffer_gb / copy_rate_gb_s, a line through measurements of 1 to 32 GB (vSphere 7.0,
    V100, 10 Gbit/s). Beyond 32 GB it extrapolates; it does not hold for other links, GPUs or releases: on 10 Gbit/s
    1.67 s and 0.84 GB/s with vSphere 7.0 and V100, 1.17 s and 0.635 GB/s with 6.7 U3 and V100, 1.53 s and 0.134 GB/s with 6.7 U1
    and P40. From vSphere 9.0 on vMotion works otherwise, and no line is known.

    >>> stun_time_s(32, fixed_s=1.5, copy_rate_gb_s=0.8)
    41.5
    """
    not_negative(frame_buffer_gb=frame_buffer_gb, fixed_s=fixed_s)
    above_zero(copy_rate_gb_s=copy_rate_gb_s)
    return fixed_s + frame_buffer_gb / copy_rate_gb_s


def worst_stun_time_s(
    vgpu_gb: float, *, vm_memory_gb: float, fixed_s: float, copy_rate_gb_s: float, memory_rate_gb_s: float
) -> float:
    """Worst-case stun of a VM with vGPUs during vMotion, by the vendor's estimate.

    Parameters:
        vgpu_gb: Frame buffer of all vGPUs of the VM together, used or not. [GB]
        vm_memory_gb: Memory of the VM. [GB]
        fixed_s: Part that depends on neither. [s]
        copy_rate_gb_s: Frame buffer copied per second of standing still. [GB/s]
        memory_rate_gb_s: Memory of the VM for each second that it adds to standing still. [GB/s]

    fixed_s + vgpu_gb / copy_rate_gb_s + vm_memory_gb / memory_rate_gb_s, a plane through the vendor's table of worst
    cases (vSphere 7.0, 10 Gbit/s): vGPUs of 1 to 32 GB, VMs of 4 to 32 GB. Beyond them it extrapolates; it does not
    hold for other links.

    >>> worst_stun_time_s(32, vm_memory_gb=32, fixed_s=1, copy_rate_gb_s=0.4, memory_rate_gb_s=4)
    89.0
    """
    not_negative(vgpu_gb=vgpu_gb, vm_memory_gb=vm_memory_gb, fixed_s=fixed_s)
    above_zero(copy_rate_gb_s=copy_rate_gb_s, memory_rate_gb_s=memory_rate_gb_s)
    return fixed_s + vgpu_gb / copy_rate_gb_s + vm_memory_gb / memory_rate_gb_s
