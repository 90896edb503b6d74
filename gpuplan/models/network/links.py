"""Throughput of a network link: by transport, frame size and the number of flows that share it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpuplan.units import above_zero, at_least_one, not_negative, zero_to_one

TRANSPORTS = ("tcp", "roce-v1", "roce", "pvrdma", "infiniband")
"""TCP; RDMA over Converged Ethernet v1 and v2; paravirtual RDMA over RoCE; RDMA over InfiniBand."""

ETHERNET_BYTES = 38
"""Preamble, header, check sequence and gap of an Ethernet frame."""

HEADER_BYTES = 52
"""IP and TCP headers with time stamps; RoCE headers are about as long."""

JUMBO_BYTES = 9000

USABLE_SHARE = 0.95
"""Share of a link that large transfers get; fitted."""


@dataclass(frozen=True, slots=True)
class Link:
    """The network of a host. None means the value fitted for the workload."""

    link_gbit_s: float
    """Speed of the link, of all its ports that the work uses together. [Gbit/s]"""
    transport: str = "tcp"
    """Transport, one of ``TRANSPORTS``. [-]"""
    tcp_gbit_s: float | None = None
    """Throughput of the host's TCP stack, however fast the link is; None: `tcp_rate_gbit_s`, which grows with the link,
    if the workload names no other rate. [Gbit/s]"""
    usable_share: float | None = None
    """Share of the link that large transfers get, in (0, 1]; None: 0.95, if the work names no other. [-]"""
    mtu_bytes: int = JUMBO_BYTES
    """Largest packet, 576 to 9216, the same at both ends and on every switch. [-]"""

    def __post_init__(self) -> None:
        if self.transport not in TRANSPORTS:
            raise ValueError(f"transport is {self.transport!r}; it must be one of {', '.join(TRANSPORTS)}")
        above_zero(link_gbit_s=self.link_gbit_s)
        if self.tcp_gbit_s is not None:
            above_zero(tcp_gbit_s=self.tcp_gbit_s)
        if self.usable_share is not None:
            above_zero(usable_share=self.usable_share)
            zero_to_one(usable_share=self.usable_share)
        at_least_one(mtu_bytes=self.mtu_bytes)
        if not 576 <= self.mtu_bytes <= 9216:
            raise ValueError(f"mtu_bytes is {self.mtu_bytes}; it must be 576 to 9216")

    def fitted(self, *, tcp_gbit_s: float | None = None, usable_share: float | None = None) -> "Link":
        """The same link with these values for what is None."""
        tcp, usable = self.tcp_gbit_s or tcp_gbit_s, self.usable_share or usable_share
        return replace(self, tcp_gbit_s=tcp, usable_share=usable)


def tcp_rate_gbit_s(link_gbit_s: float, *, at_25_gbit_s: float = 14.4, growth: float = 0.164) -> float:
    """Rate of NCCL and similar libraries over TCP from one host with an untuned stack.

    Parameters:
        link_gbit_s: Speed of the link. [Gbit/s]
        at_25_gbit_s: The rate on a link of 25 Gbit/s. [Gbit/s]
        growth: How the rate grows with the link, 0 to 1. [-]

    On a slow link the link itself is less. at_25_gbit_s x (link / 25) ^ growth. Measured on 100 Gbit/s: 10.7 to 48;
    what a stack moves is best measured. [nccl-issue-209]_ [nccl-issue-450]_ [hkbu-ddl-benchmarks]_

    >>> tcp_rate_gbit_s(25, at_25_gbit_s=15), tcp_rate_gbit_s(100, at_25_gbit_s=15, growth=0.5)
    (15.0, 30.0)
    """
    above_zero(link_gbit_s=link_gbit_s, at_25_gbit_s=at_25_gbit_s)
    zero_to_one(growth=growth)
    return float(at_25_gbit_s * (link_gbit_s / 25) ** growth)


def delivered_gbit_s(link: Link, *, users: float = 1) -> float:
    """Rate that one of the users of a network link gets.

    Parameters:
        users: Users who transfer at the same time; 1.5 if another has half of the time. [-]

    min(usable_share x link, TCP rate if the transport is TCP) x payload(mtu) / payload(9000) / users, with
    payload(mtu) = (mtu - 52) / (mtu + 38), an MTU above 9000 counting as 9000; InfiniBand has frames of its own and no such term. The processor time that
    small packets cost is not in it, nor is what PVRDMA may cost over RoCE: no measurement was found for either.
    [nccl-issue-209]_ [spark-roce-benchmark]_ [rfc-7323]_

    >>> delivered_gbit_s(Link(10))
    9.5
    >>> delivered_gbit_s(Link(100, tcp_gbit_s=20)), delivered_gbit_s(Link(100, transport="roce"))
    (20.0, 95.0)
    """
    above_zero(users=users)
    if users < 1:
        raise ValueError(f"users is {users}; it must be at least 1, and finite")
    rate = (USABLE_SHARE if link.usable_share is None else link.usable_share) * link.link_gbit_s
    if link.transport == "tcp":
        rate = min(rate, link.tcp_gbit_s or tcp_rate_gbit_s(link.link_gbit_s))
    if link.transport != "infiniband":
        rate *= _payload(min(link.mtu_bytes, JUMBO_BYTES)) / _payload(JUMBO_BYTES)
    return rate / users


def _payload(mtu_bytes: int) -> float:
    return (mtu_bytes - HEADER_BYTES) / (mtu_bytes + ETHERNET_BYTES)


def fair_share_gbit_s(link_gbit_s: float, *, others: Sequence[tuple[float, float]]) -> float:
    """Rate that a user gets who takes all that a shared link leaves, if the link is shared fairly.

    Parameters:
        link_gbit_s: What the link carries. [Gbit/s]
        others (sequence of (float, float)): How many others there are of each kind, and what one of them needs at most. [-]

    Max-min fairness. The level L with L + sum of count x min(need, L) = link: who needs less than L gets that, all
    others L. On an idle link L is what the others leave; when all need more, the link over the users.
    [bertsekas-data-networks-1992]_

    >>> fair_share_gbit_s(10, others=[(3, 2)])
    4.0
    >>> fair_share_gbit_s(10, others=[(3, 20), (2, 1)])
    2.0
    """
    above_zero(link_gbit_s=link_gbit_s)
    for count, need in others:
        not_negative(**{"others: count": count, "others: need_gbit_s": need})
    left, sharing = link_gbit_s, 1.0 + sum(count for count, _ in others)
    for count, need in sorted(others, key=lambda other: other[1]):
        if need >= left / sharing:
            break
        left, sharing = left - count * need, sharing - count
    return left / sharing
