"""A GPU reached over the network: how much longer a unit of work takes than on a GPU in the same host."""

from dataclasses import dataclass

from gpuplan.models.network.links import Link, delivered_gbit_s
from gpuplan.units import above_zero, not_negative, zero_to_one

USABLE_SHARE = 0.887
"""Share of the link that remoting gets; fitted."""


@dataclass(frozen=True, slots=True)
class Remoting:
    """Overhead of the remoting software, beside the network; item ``remoting`` of the assumptions."""

    sync_us: float = 99.4
    """Time for each wait, round trip not counted. [us]"""
    call_us: float = 47.1
    """Time for each call. [us]"""
    ready_s: float = 0.439
    """Part of a cold start that is saved on a server which keeps the GPU ready. [s]"""
    local_gbit_s: float = 96.0
    """Rate of PCIe on the way to the GPU. [Gbit/s]"""

    def __post_init__(self) -> None:
        not_negative(sync_us=self.sync_us, call_us=self.call_us, ready_s=self.ready_s)
        above_zero(local_gbit_s=self.local_gbit_s)


def remote_time_s(
    native_s: float,
    *,
    sent_mb: float,
    received_mb: float = 0.0,
    syncs: float = 0.0,
    calls: float = 0.0,
    link: Link,
    users: float = 1,
    round_trip_us: float = 0.0,
    hidden_share: float = 0.0,
    cold: bool = False,
    software: Remoting = Remoting(),
) -> float:
    """Time of one unit of work on a remote GPU: a batch, a request, or a cold start.

    Parameters:
        native_s: Its time with the GPU in the same host. [s]
        sent_mb: Data sent to the GPU. [MB]
        received_mb: Data received from it. [MB]
        syncs: Times it waits for the GPU's answer. [-]
        calls: Calls to the GPU in all. [-]
        link: That of the GPU host, or of the client if that is slower. [-]
        users: Users who transfer over the link at the same time; 1.5 if another has half of the time. [-]
        round_trip_us: Round trip between client and server. [us]
        hidden_share: Share of the transfer that runs while the GPU computes: 0 if it is waited for, 1 with a prefetching
            loader. [-]
        cold: Whether it is a cold start: native_s is that of a new process that makes a context on the GPU and loads its model.
            [-]

    With T = native_s, less ready_s in a cold start, k the hidden share and X = 8 (sent + received) / rate:
    max(T, k X) + (1 - k) X + syncs (round trip + sync_us) + calls x call_us; rate = min(link as delivered / users, PCIe). sync_us,
    call_us and usable_share (0.887) are fitted on cold starts of two networks from 0.1 to 100 Gbit/s, all over TCP, which moves all
    of the link there. [gpuless-thesis]_ [bitfusion-pytorch-measurements]_ [rcuda-connectib]_

    >>> remote_time_s(1.0, sent_mb=1250, link=Link(10, usable_share=1))
    2.0
    >>> remote_time_s(1.0, sent_mb=1250, link=Link(10, usable_share=1), hidden_share=1)
    1.0
    """
    not_negative(sent_mb=sent_mb, received_mb=received_mb, round_trip_us=round_trip_us)
    not_negative(syncs=syncs, calls=calls)
    above_zero(native_s=native_s)
    computing = native_s - software.ready_s if cold else native_s
    if computing <= 0:
        raise ValueError(
            f"native_s is {native_s}; a cold start must take longer than ready_s, {software.ready_s}"
        )
    zero_to_one(hidden_share=hidden_share)
    over = link.fitted(usable_share=USABLE_SHARE, tcp_gbit_s=link.link_gbit_s)
    rate = delivered_gbit_s(over, users=users)
    moved = (sent_mb + received_mb) * 8 / 1000 / min(rate, software.local_gbit_s)
    waited = syncs * (round_trip_us + software.sync_us) * 1e-6 + calls * software.call_us * 1e-6
    return max(computing, hidden_share * moved) + (1 - hidden_share) * moved + waited


def remote_slowdown(native_s: float, *, remote_s: float) -> float:
    """Time of work on a remote GPU, as a multiple of that on a local one.

    Parameters:
        native_s: Its time with the GPU in the same host. [s]
        remote_s: Its time over the network. [s]

    1 is as fast as in the same host; the share of native speed is one over it. [-] remote_s / native_s. It can be below
    1 for a cold start, where the server has the GPU ready. [bitfusion-pytorch-measurements]_

    >>> remote_slowdown(8.0, remote_s=12.0)
    1.5
    """
    above_zero(native_s=native_s, remote_s=remote_s)
    return remote_s / native_s
