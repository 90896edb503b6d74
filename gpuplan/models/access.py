"""Access mode: how a use case reaches its GPU, with the reasons and what was ruled out.

The function decides on plain facts about the use case and the platform and answers with
reason codes. What a code means, and where it is written, is data (``data/access_reasons.csv``);
so are the versions that decide whether a mode is offered (``data/vsphere.csv``).
"""

from collections.abc import Callable
from typing import NamedTuple

MODES = ("bitfusion", "mig", "vgpu", "passthrough")
"""Modes in the order in which they are preferred where they are possible."""
MODES_WITHOUT_ISOLATION = ("bitfusion", "vgpu", "passthrough", "mig")
"""The same where nobody asks for a guaranteed share of compute: MIG is the last resort."""


class Access(NamedTuple):
    """The chosen mode (empty if none is possible), its reasons, and the others with theirs."""

    mode: str
    reasons: tuple[str, ...]
    ruled_out: tuple[tuple[str, str, bool], ...]
    """(mode, reason code, whether it would have been possible)"""


class _Case(NamedTuple):
    """What the rules look at: a use case and its platform, as ``access_mode`` takes them."""

    gpus_each: float
    vgpus_each: int
    distributed: bool
    remote_allowed: bool
    low_latency: bool
    isolation: bool
    wish: str
    vgpu_profile: bool
    mig_profile: bool
    max_vgpus_per_vm: int
    several_fractional_vgpus: bool
    max_passthrough_per_vm: int

    @property
    def partial(self) -> bool:
        """A share of a GPU, or several, not whole ones."""
        return self.gpus_each < max(1, self.vgpus_each)

    @property
    def several(self) -> bool:
        """More than one GPU."""
        return self.gpus_each > 1

    @property
    def shares(self) -> int:
        """Partial vGPUs of the VM; 1 for whole GPUs."""
        return self.vgpus_each if self.partial else 1

    @property
    def vgpus(self) -> float:
        """vGPUs of the VM, partial or whole."""
        return self.shares if self.partial else self.gpus_each


RULES: tuple[tuple[str, str, Callable[[_Case], bool]], ...] = (
    ("bitfusion", "remote-not-allowed", lambda case: not case.remote_allowed),
    ("bitfusion", "latency-needs-local", lambda case: case.low_latency and case.wish != "bitfusion"),
    ("bitfusion", "several-in-one-host", lambda case: case.several and case.wish != "bitfusion"),
    ("bitfusion", "bitfusion-shares-compute", lambda case: case.isolation and case.partial),
    ("bitfusion", "several-shares-are-vgpu", lambda case: case.shares > 1),
    ("mig", "whole-gpu-needs-no-slice", lambda case: not case.partial),
    ("mig", "no-mig-profile", lambda case: not case.mig_profile),
    ("mig", "too-many-vgpus", lambda case: case.shares > case.max_vgpus_per_vm),
    ("mig", "multi-vgpu-full-only", lambda case: case.shares > 1 and not case.several_fractional_vgpus),
    ("vgpu", "no-vgpu-profile", lambda case: not case.vgpu_profile),
    ("vgpu", "too-many-vgpus", lambda case: case.vgpus > case.max_vgpus_per_vm),
    ("vgpu", "multi-vgpu-full-only", lambda case: case.shares > 1 and not case.several_fractional_vgpus),
    ("vgpu", "time-slices-share-compute", lambda case: case.isolation and case.partial),
    ("passthrough", "passthrough-gives-whole-gpus", lambda case: case.partial),
    ("passthrough", "too-many-passthrough", lambda case: case.gpus_each > case.max_passthrough_per_vm),
)
"""(mode, reason, when): the first rule of a mode that holds rules it out."""

REASONS: tuple[tuple[tuple[str, ...], str, Callable[[_Case], bool]], ...] = (
    (MODES, "customer-decided", lambda case: case.wish != "auto"),
    (("mig", "vgpu", "passthrough"), "several-gpus-one-host", lambda case: case.several),
    (("mig", "vgpu", "passthrough"), "long-low-latency-local", lambda case: case.low_latency),
    (MODES, "local-access-required", lambda case: not case.remote_allowed),
    (("bitfusion",), "distributed-over-network", lambda case: case.distributed),
    (("bitfusion",), "anywhere-over-network", lambda case: not case.distributed and not case.several),
    (("bitfusion",), "any-fraction-of-memory", lambda case: case.partial),
    (("mig",), "mig-guarantees-compute", lambda case: True),
    (("vgpu",), "vgpu-partial", lambda case: case.partial),
    (("vgpu",), "vgpu-keeps-vmotion", lambda case: not case.partial),
    (("passthrough",), "passthrough-whole-gpu", lambda case: True),
    (MODES, "several-vgpus-of-one-vm", lambda case: case.shares > 1),
)
"""(modes, reason, when): all that hold for the chosen mode are its reasons, in this order."""


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
    case = _Case(
        gpus_each,
        vgpus_each,
        distributed,
        remote_allowed,
        low_latency,
        isolation,
        wish,
        vgpu_profile,
        mig_profile,
        max_vgpus_per_vm,
        several_fractional_vgpus,
        max_passthrough_per_vm,
    )
    out = {"bitfusion": bitfusion_offered} if bitfusion_offered else {}
    for mode, reason, holds in RULES:
        if mode not in out and holds(case):
            out[mode] = reason
    order = MODES if isolation else MODES_WITHOUT_ISOLATION
    wanted = order if wish == "auto" else (wish,)
    chosen = next((mode for mode in wanted if mode not in out), "")
    if chosen:
        reasons = tuple(reason for modes, reason, holds in REASONS if chosen in modes and holds(case))
    elif len(out) < len(MODES):
        reasons = ("decided-mode-not-possible",)
    else:
        reasons = ("no-mode-possible",)
    ruled_out = tuple(
        (mode, out[mode], False) if mode in out else (mode, _passed_over(mode, chosen, wish), True)
        for mode in MODES
        if mode != chosen
    )
    return Access(chosen, reasons, ruled_out)


def _passed_over(mode: str, chosen: str, wish: str) -> str:
    """Why a possible mode was not taken."""
    if wish != "auto":
        return "customer-decided-otherwise"
    return {
        "mig": "no-guarantee-asked",
        "vgpu": "ties-vm-to-gpu-cluster",
        "passthrough": "ties-vm-to-gpu-cluster" if chosen == "bitfusion" else "passthrough-loses-vmotion",
    }[mode]
