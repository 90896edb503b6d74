"""What a network link delivers: by transport, frame size and the number of flows that share it."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.units import above_zero, at_least_one, not_negative, zero_to_one

TRANSPORTS = ("tcp", "roce-v1", "roce", "pvrdma", "infiniband")
"""TCP; RDMA over Converged Ethernet v1 and v2; paravirtual RDMA over RoCE; RDMA over InfiniBand."""

ETHERNET_BYTES = 38
"""Preamble, header, check sequence and gap of an Ethernet frame."""

HEADER_BYTES = 52
"""IP and TCP headers with time stamps; those of RoCE are about as long."""

JUMBO_BYTES = 9000


def tcp_rate_gbit_s(link_gbit_s: float, *, at_25_gbit_s: float = 14.4, growth: float = 0.164) -> float:
    """What NCCL and its like move over TCP from one host with an untuned stack.

    Parameters
    ----------
    link_gbit_s : float
        Speed of the link. [Gbit/s]
    at_25_gbit_s : float
        The rate on a link of 25 Gbit/s. [Gbit/s]
    growth : float
        How the rate grows with the link, 0 to 1. [-]

    Returns
    -------
    tcp_rate_gbit_s : float
        Rate; on a slow link the link itself is less. [Gbit/s]

    Notes
    -----
    at_25_gbit_s x (link / 25) ^ growth. Measured on 100 Gbit/s: 10.7 to 48; what a stack moves is best measured.

    Examples
    --------
    >>> tcp_rate_gbit_s(25, at_25_gbit_s=15), tcp_rate_gbit_s(100, at_25_gbit_s=15, growth=0.5)
    (15.0, 30.0)

    References
    ----------
    .. [1] nccl-issue-209
    .. [2] nccl-issue-450
    .. [3] hkbu-ddl-benchmarks
    """
    above_zero(link_gbit_s=link_gbit_s, at_25_gbit_s=at_25_gbit_s)
    zero_to_one(growth=growth)
    return float(at_25_gbit_s * (link_gbit_s / 25) ** growth)


def delivered_gbit_s(
    link_gbit_s: float,
    *,
    transport: str = "tcp",
    tcp_gbit_s: float | None = None,
    usable_share: float = 0.95,
    mtu_bytes: int = JUMBO_BYTES,
    users: float = 1,
) -> float:
    """Rate that one of the users of a network link gets.

    Parameters
    ----------
    link_gbit_s : float
        Speed of the link, all its ports together. [Gbit/s]
    transport : str
        One of ``TRANSPORTS``. [-]
    tcp_gbit_s : float or None
        What the TCP stack of the host moves, however fast the link is; None for that of tcp_rate_gbit_s. [Gbit/s]
    usable_share : float
        Share of the link that large transfers get, in (0, 1]. [-]
    mtu_bytes : int
        Largest packet, 576 to 9216, the same at both ends and on every switch. [-]
    users : float
        Users who transfer at the same time; 1.5 if another has half of the time. [-]

    Notes
    -----
    min(usable_share x link, TCP rate if the transport is TCP) x payload(mtu) / payload(9000) / users, with
    payload(mtu) = (mtu - 52) / (mtu + 38), an MTU above 9000 counting as 9000; InfiniBand has frames of its own and no such term. The processor time that
    small packets cost is not in it, nor is what PVRDMA may cost over RoCE: no measurement was found for either.

    Examples
    --------
    >>> delivered_gbit_s(10)
    9.5
    >>> delivered_gbit_s(100, tcp_gbit_s=20), delivered_gbit_s(100, transport="roce")
    (20.0, 95.0)

    References
    ----------
    .. [1] nccl-issue-209
    .. [2] spark-roce-benchmark
    .. [3] rfc-7323
    """
    if transport not in TRANSPORTS:
        raise ValueError(f"transport is {transport!r}; it must be one of {', '.join(TRANSPORTS)}")
    above_zero(link_gbit_s=link_gbit_s, usable_share=usable_share, users=users)
    zero_to_one(usable_share=usable_share)
    tcp = tcp_rate_gbit_s(link_gbit_s) if tcp_gbit_s is None else tcp_gbit_s
    above_zero(tcp_gbit_s=tcp)
    at_least_one(mtu_bytes=mtu_bytes)
    if not 576 <= mtu_bytes <= 9216:
        raise ValueError(f"mtu_bytes is {mtu_bytes}; it must be 576 to 9216")
    if users < 1:
        raise ValueError(f"users is {users}; it must be at least 1, and finite")
    rate = usable_share * link_gbit_s
    if transport == "tcp":
        rate = min(rate, tcp)
    if transport != "infiniband":
        rate *= _payload(min(mtu_bytes, JUMBO_BYTES)) / _payload(JUMBO_BYTES)
    return rate / users


def _payload(mtu_bytes: int) -> float:
    return (mtu_bytes - HEADER_BYTES) / (mtu_bytes + ETHERNET_BYTES)


def fair_share_gbit_s(link_gbit_s: float, *, others: Sequence[tuple[float, float]]) -> float:
    """Rate that a user gets who takes all that a shared link leaves, if the link is shared fairly.

    Parameters
    ----------
    link_gbit_s : float
        What the link carries. [Gbit/s]
    others : sequence of (float, float)
        How many others there are of each kind, and what one of them needs at most. [-]

    Returns
    -------
    fair_share_gbit_s : float
        Rate of that user, by max-min fairness. [Gbit/s]

    Notes
    -----
    The level L with L + sum of count x min(need, L) = link: who needs less than L gets that, all others L. On an idle link
    L is what the others leave; when all need more, the link over the users.

    Examples
    --------
    >>> fair_share_gbit_s(10, others=[(3, 2)])
    4.0
    >>> fair_share_gbit_s(10, others=[(3, 20), (2, 1)])
    2.0

    References
    ----------
    .. [1] bertsekas-data-networks-1992
    """
    above_zero(link_gbit_s=link_gbit_s)
    for count, need in others:
        not_negative(count=count, need_gbit_s=need)
    left, sharing = link_gbit_s, 1.0 + sum(count for count, _ in others)
    for count, need in sorted(others, key=lambda other: other[1]):
        if need >= left / sharing:
            break
        left, sharing = left - count * need, sharing - count
    return left / sharing
