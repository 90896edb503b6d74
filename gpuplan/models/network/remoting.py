"""A GPU reached over the network: how much longer a unit of work takes than on a GPU in the same host."""

from __future__ import annotations

from gpuplan.models.network.links import JUMBO_BYTES, delivered_gbit_s
from gpuplan.units import above_zero, not_negative, zero_to_one


def remote_time_s(
    native_s: float,
    *,
    sent_mb: float,
    received_mb: float = 0.0,
    syncs: float = 0.0,
    calls: float = 0.0,
    link_gbit_s: float,
    transport: str = "tcp",
    users: float = 1,
    mtu_bytes: int = JUMBO_BYTES,
    round_trip_us: float = 0.0,
    hidden_share: float = 0.0,
    sync_us: float = 99.4,
    call_us: float = 47.1,
    cold: bool = False,
    ready_s: float = 0.439,
    local_gbit_s: float = 96.0,
    tcp_gbit_s: float | None = None,
    usable_share: float = 0.887,
) -> float:
    """Time of one unit of work on a remote GPU: a batch, a request, or a cold start.

    Parameters
    ----------
    native_s : float
        Its time with the GPU in the same host. [s]
    sent_mb : float
        Data sent to the GPU. [MB]
    received_mb : float
        Data received from it. [MB]
    syncs : float
        Times it waits for the GPU's answer. [-]
    calls : float
        Calls to the GPU in all. [-]
    link_gbit_s : float
        Link of the GPU host, or of the client if that is slower. [Gbit/s]
    transport : str
        ``tcp``, ``roce-v1``, ``roce``, ``pvrdma`` or ``infiniband``. [-]
    users : float
        Users who transfer over the link at the same time; 1.5 if another has half of the time. [-]
    mtu_bytes : int
        Largest packet on the network. [-]
    round_trip_us : float
        Round trip between client and server. [us]
    hidden_share : float
        Share of the transfer that runs while the GPU computes: 0 if it is waited for, 1 with a prefetching loader. [-]
    sync_us : float
        Time of the remoting software for each wait, round trip not counted. [us]
    call_us : float
        Time of the remoting software for each call. [us]
    cold : bool
        Whether it is a cold start: native_s is that of a new process that makes a context on the GPU and loads its model. [-]
    ready_s : float
        Part of native_s that a cold start saves on a server which keeps the GPU ready. [s]
    local_gbit_s : float
        Rate of PCIe on the way to the GPU. [Gbit/s]
    tcp_gbit_s : float or None
        What the TCP stack of a host moves, however fast the link is; None if all of it, as in the measurements. [Gbit/s]
    usable_share : float
        Share of the link that remoting gets. [-]

    Notes
    -----
    With T = native_s, less ready_s in a cold start, k the hidden share and X = 8 (sent + received) / rate:
    max(T, k X) + (1 - k) X + syncs (round trip + sync_us) + calls x call_us; rate = min(link as delivered / users, PCIe). sync_us,
    call_us and usable_share are fitted on cold starts of two networks from 0.1 to 100 Gbit/s, all over TCP.

    Examples
    --------
    >>> remote_time_s(1.0, sent_mb=1250, link_gbit_s=10, usable_share=1)
    2.0
    >>> remote_time_s(1.0, sent_mb=1250, link_gbit_s=10, usable_share=1, hidden_share=1)
    1.0

    References
    ----------
    .. [1] gpuless-thesis
    .. [2] bitfusion-pytorch-measurements
    .. [3] rcuda-connectib
    """
    not_negative(
        sent_mb=sent_mb,
        received_mb=received_mb,
        syncs=syncs,
        calls=calls,
        round_trip_us=round_trip_us,
        sync_us=sync_us,
        call_us=call_us,
        ready_s=ready_s,
    )
    above_zero(native_s=native_s, local_gbit_s=local_gbit_s)
    computing = native_s - ready_s if cold else native_s
    if computing <= 0:
        raise ValueError(f"native_s is {native_s}; a cold start must take longer than ready_s, {ready_s}")
    zero_to_one(hidden_share=hidden_share)
    rate = delivered_gbit_s(
        link_gbit_s,
        transport=transport,
        tcp_gbit_s=link_gbit_s if tcp_gbit_s is None else tcp_gbit_s,
        usable_share=usable_share,
        mtu_bytes=mtu_bytes,
        users=users,
    )
    moved = (sent_mb + received_mb) * 8 / 1000 / min(rate, local_gbit_s)
    waited = syncs * (round_trip_us + sync_us) * 1e-6 + calls * call_us * 1e-6
    return max(computing, hidden_share * moved) + (1 - hidden_share) * moved + waited


def remote_slowdown(native_s: float, *, remote_s: float) -> float:
    """How many times as long work takes on a remote GPU.

    Parameters
    ----------
    native_s : float
        Its time with the GPU in the same host. [s]
    remote_s : float
        Its time over the network. [s]

    Returns
    -------
    remote_slowdown : float
        1 is as fast as in the same host; the share of native speed is one over it. [-]

    Notes
    -----
    remote_s / native_s. It can be below 1 for a cold start, where the server has the GPU ready.

    Examples
    --------
    >>> remote_slowdown(8.0, remote_s=12.0)
    1.5

    References
    ----------
    .. [1] bitfusion-pytorch-measurements
    """
    above_zero(native_s=native_s, remote_s=remote_s)
    return remote_s / native_s
