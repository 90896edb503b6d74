"""Access mode: how a use case reaches its GPU, with the reasons and what was ruled out.

The function decides on plain facts about the use case and the platform and answers with
reason codes. What a code means, and where it is written, is data (``data/access_reasons.csv``);
so are the versions that decide whether a mode is offered (``data/vsphere.csv``).
"""

from typing import NamedTuple

MODES = ("bitfusion", "mig", "vgpu", "passthrough")
"""Modes in the order in which they are preferred where they are possible."""


class Access(NamedTuple):
    """The chosen mode (empty if none is possible), its reasons, and the others with theirs."""

    mode: str
    reasons: tuple[str, ...]
    ruled_out: tuple[tuple[str, str, bool], ...]
    """(mode, reason code, whether it would have been possible)"""


def access_mode(
    gpus_each: float,
    *,
    vgpus_each: int,
    distributed: bool,
    remote_allowed: bool,
    low_latency: bool,
    isolation: bool,
    wish: str,
    bitfusion_offered: str,
    vgpu_profile: bool,
    mig_profile: bool,
    max_vgpus_per_vm: int,
    several_fractional_vgpus: bool,
    max_passthrough_per_vm: int,
) -> Access:
    """How the VMs of a group reach their GPU: over the network, as a vGPU, as a MIG slice, or whole by passthrough.

    Parameters
    ----------
    gpus_each : float
        GPUs per VM: a fraction of one GPU, or a whole number. [GPU]
    vgpus_each : int
        Equal shares in which the VM gets its GPUs; 1 stands for one share, or one for each whole GPU. [-]
    distributed : bool
        Whether one job runs on several VMs. [-]
    remote_allowed : bool
        Whether the GPU may be reached over the network. [-]
    low_latency : bool
        Whether the work needs the GPU at minimum latency over long periods. [-]
    isolation : bool
        Whether a neighbour on the same GPU must never slow the VM down. [-]
    wish : str
        ``auto``, or the mode that the customer has decided on. [-]
    bitfusion_offered : str
        Empty if Bitfusion can be used, else the reason code why not. [-]
    vgpu_profile : bool
        Whether the GPU has a time-sliced vGPU profile large enough. [-]
    mig_profile : bool
        Whether the GPU has a MIG-backed vGPU profile large enough. [-]
    max_vgpus_per_vm : int
        vGPUs that one VM can have on this vSphere version. [-]
    several_fractional_vgpus : bool
        Whether this vSphere version gives one VM several vGPUs that are less than a GPU. [-]
    max_passthrough_per_vm : int
        Passthrough devices that one VM can have on this vSphere version. [-]

    Returns
    -------
    access_mode : Access
        The mode, its reason codes, and each other mode with the code why not. [-]

    Notes
    -----
    A mode that a rule excludes is out; that several GPUs or low latency want a local GPU is a preference,
    which a customer's decision for Bitfusion overrides. Of those left: Bitfusion where a single or partial GPU may
    be reached from anywhere; MIG where a share of compute is guaranteed; vGPU, because it keeps
    vMotion; passthrough last.

    Examples
    --------
    >>> platform = dict(bitfusion_offered="", vgpu_profile=True, mig_profile=False, max_vgpus_per_vm=4,
    ...                 several_fractional_vgpus=False, max_passthrough_per_vm=16)
    >>> needs = dict(vgpus_each=1, distributed=False, low_latency=False, isolation=False, wish="auto")
    >>> access_mode(4, remote_allowed=False, **needs, **platform).mode
    'vgpu'
    >>> access_mode(0.5, remote_allowed=True, **needs, **platform).mode
    'bitfusion'

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    .. [2] vmware-bitfusion-3.0-user-guide
    """
    partial = gpus_each < max(1, vgpus_each)
    several = gpus_each > 1
    shares = vgpus_each if partial else 1
    vgpus = shares if partial else gpus_each
    out: dict[str, str] = {}
    if not remote_allowed:
        out["bitfusion"] = "remote-not-allowed"
    elif low_latency and wish != "bitfusion":
        out["bitfusion"] = "latency-needs-local"
    elif several and wish != "bitfusion":
        out["bitfusion"] = "several-in-one-host"
    elif isolation and partial:
        out["bitfusion"] = "bitfusion-shares-compute"
    elif shares > 1:
        out["bitfusion"] = "several-shares-are-vgpu"
    if bitfusion_offered:
        out["bitfusion"] = bitfusion_offered
    if not vgpu_profile:
        out["vgpu"] = "no-vgpu-profile"
    elif vgpus > max_vgpus_per_vm:
        out["vgpu"] = "too-many-vgpus"
    elif shares > 1 and not several_fractional_vgpus:
        out["vgpu"] = "multi-vgpu-full-only"
    elif isolation and partial:
        out["vgpu"] = "time-slices-share-compute"
    if not partial:
        out["mig"] = "whole-gpu-needs-no-slice"
    elif not mig_profile:
        out["mig"] = "no-mig-profile"
    elif shares > max_vgpus_per_vm:
        out["mig"] = "too-many-vgpus"
    elif shares > 1 and not several_fractional_vgpus:
        out["mig"] = "multi-vgpu-full-only"
    if partial:
        out["passthrough"] = "passthrough-gives-whole-gpus"
    elif gpus_each > max_passthrough_per_vm:
        out["passthrough"] = "too-many-passthrough"

    chosen = next((mode for mode in MODES if mode not in out and (mode != "mig" or isolation)), "")
    if wish != "auto":
        chosen = wish if wish not in out else ""
    if not chosen and wish == "auto" and "mig" not in out:
        chosen = "mig"
    reasons = _reasons(chosen, wish, partial, several, shares, distributed, low_latency, remote_allowed)
    if wish != "auto" and not chosen and len(out) < len(MODES):
        reasons = ("decided-mode-not-possible",)
    ruled_out = tuple(
        (mode, out[mode], False) if mode in out else (mode, _passed_over(mode, chosen, wish), True)
        for mode in MODES
        if mode != chosen
    )
    return Access(chosen, reasons, ruled_out)


def _reasons(
    mode: str,
    wish: str,
    partial: bool,
    several: bool,
    shares: int,
    distributed: bool,
    low_latency: bool,
    remote_allowed: bool,
) -> tuple[str, ...]:
    if not mode:
        return ("no-mode-possible",)
    reasons = ["customer-decided"] if wish != "auto" else []
    if several and mode != "bitfusion":
        reasons.append("several-gpus-one-host")
    if low_latency and mode != "bitfusion":
        reasons.append("long-low-latency-local")
    if not remote_allowed:
        reasons.append("local-access-required")
    if mode == "bitfusion":
        if distributed:
            reasons.append("distributed-over-network")
        elif not several:
            reasons.append("anywhere-over-network")
        if partial:
            reasons.append("any-fraction-of-memory")
    elif mode == "mig":
        reasons.append("mig-guarantees-compute")
    elif mode == "vgpu":
        reasons.append("vgpu-partial" if partial else "vgpu-keeps-vmotion")
    else:
        reasons.append("passthrough-whole-gpu")
    if shares > 1:
        reasons.append("several-vgpus-of-one-vm")
    return tuple(reasons)


def _passed_over(mode: str, chosen: str, wish: str) -> str:
    """Why a possible mode was not taken."""
    if wish != "auto":
        return "customer-decided-otherwise"
    return {
        "mig": "no-guarantee-asked",
        "vgpu": "ties-vm-to-gpu-cluster",
        "passthrough": "ties-vm-to-gpu-cluster" if chosen == "bitfusion" else "passthrough-loses-vmotion",
    }[mode]
