"""What a link delivers: header shares by hand, transports, packets, users, and refused inputs."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from network_jobs import flat

from gpuplan.models.network.links import (
    TRANSPORTS,
    Link,
    delivered_gbit_s,
    fair_share_gbit_s,
    tcp_rate_gbit_s,
)

ETHERNET = [transport for transport in TRANSPORTS if transport != "infiniband"]
LINKS = st.floats(0.1, 800)
SHARES = st.floats(0.01, 1)
PACKETS = st.integers(576, 9216)


def test_tcp_gets_the_link_or_what_its_stack_moves() -> None:
    given = {"usable_share": 0.9, "tcp_gbit_s": 20, "mtu_bytes": 9000}
    assert delivered_gbit_s(Link(10, **given)) == pytest.approx(9)
    assert delivered_gbit_s(Link(25, **given)) == 20
    assert delivered_gbit_s(Link(800, **given)) == 20
    for transport in set(TRANSPORTS) - {"tcp"}:
        assert delivered_gbit_s(Link(100, transport, **given)) == pytest.approx(90)


def test_what_is_none_is_as_fitted_for_the_work() -> None:
    open_link = Link(100)
    assert delivered_gbit_s(open_link) == tcp_rate_gbit_s(100)
    assert delivered_gbit_s(Link(100, "roce")) == 95
    assert open_link.fitted(tcp_gbit_s=30, usable_share=0.9) == Link(100, "tcp", 30, 0.9)
    stated = Link(100, "tcp", 20, 0.8)
    assert stated.fitted(tcp_gbit_s=30, usable_share=0.9) == stated


def test_users_share_the_rate() -> None:
    assert delivered_gbit_s(Link(100, tcp_gbit_s=20, usable_share=0.9), users=4) == 5
    roce = Link(100, "roce", usable_share=0.9)
    assert delivered_gbit_s(roce, users=9) == pytest.approx(10)


@pytest.mark.parametrize(
    ("mtu", "payload"),
    # 20 bytes of IP, 20 of TCP, 12 of time stamps; 8 of preamble, 14 of header, 4 of check sequence, 12 of gap
    [(9000, 8948 / 9038), (1500, 1448 / 1538), (4096, 4044 / 4134), (576, 524 / 614)],
)
def test_small_packets_carry_more_headers(mtu: int, payload: float) -> None:
    ratio = payload / (8948 / 9038)
    for transport in ETHERNET:
        rate = delivered_gbit_s(Link(10, transport, usable_share=1, tcp_gbit_s=1e6, mtu_bytes=mtu))
        assert rate == pytest.approx(10 * ratio, rel=1e-12)
    assert delivered_gbit_s(Link(10, "infiniband", usable_share=1, mtu_bytes=mtu)) == 10


def test_packets_of_1500_bytes_cost_five_per_cent() -> None:
    small, large = (delivered_gbit_s(Link(10, "roce", mtu_bytes=mtu)) for mtu in (1500, 9000))
    assert small / large == pytest.approx(0.9510, abs=1e-4)


@given(LINKS, st.floats(0.1, 1000), SHARES, PACKETS, st.integers(1, 1000))
def test_a_rate_is_positive_within_the_link_and_rdma_is_never_below_tcp(
    link: float, tcp: float, share: float, mtu: int, users: int
) -> None:
    rates = {
        transport: delivered_gbit_s(Link(link, transport, tcp, share, mtu), users=users)
        for transport in TRANSPORTS
    }
    assert all(0 < rate * users <= link * (1 + 1e-12) and math.isfinite(rate) for rate in rates.values())
    assert rates["tcp"] * users <= tcp * (1 + 1e-12)
    assert rates["tcp"] == min(rates.values())
    assert rates["infiniband"] == max(rates.values())
    assert rates["roce-v1"] == rates["roce"] == rates["pvrdma"]


@given(
    st.sampled_from(TRANSPORTS), LINKS, LINKS, st.floats(0.1, 1000), PACKETS, PACKETS, st.integers(1, 1000)
)
def test_a_faster_link_a_larger_packet_and_fewer_users_are_never_slower(
    transport: str, link: float, other: float, tcp: float, mtu: int, packet: int, users: int
) -> None:
    def rate(link: float, tcp: float = tcp, mtu: int = mtu, users: int = users) -> float:
        return delivered_gbit_s(Link(link, transport, tcp, mtu_bytes=mtu), users=users)

    here = rate(link)
    assert rate(min(link, other)) <= here <= rate(max(link, other))
    assert rate(link, tcp=2 * tcp) >= here
    assert rate(link, mtu=min(mtu, packet)) <= here <= rate(link, mtu=max(mtu, packet))
    assert rate(link, users=users + 1) < here
    assert rate(link, mtu=9000) >= rate(link, mtu=1500)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("link_gbit_s", 0),
        ("link_gbit_s", -10),
        ("transport", "udp"),
        ("tcp_gbit_s", 0),
        ("tcp_gbit_s", -1),
        ("usable_share", 0),
        ("usable_share", 1.01),
        ("usable_share", math.nan),
        ("mtu_bytes", 575),
        ("mtu_bytes", 9217),
        ("users", 0),
    ],
)
def test_bad_inputs_are_named_with_their_value_and_what_is_allowed(field: str, value: object) -> None:
    inputs = {"link_gbit_s": 10, field: value}
    with pytest.raises(ValueError, match=rf"\b{field}( is)? {re.escape(repr(value))}.* must be "):
        flat(delivered_gbit_s)(**inputs)


def test_a_shared_link_by_hand() -> None:
    assert fair_share_gbit_s(10, others=[]) == 10
    assert fair_share_gbit_s(10, others=[(2, 3)]) == 4, "the others get what they need"
    assert fair_share_gbit_s(10, others=[(4, 9)]) == 2, "all want more than there is"
    # two small ones take 1 each; 8 are left for three
    assert fair_share_gbit_s(10, others=[(2, 9), (2, 1)]) == pytest.approx(8 / 3)
    assert fair_share_gbit_s(10, others=[(0.5, 4)]) == 8


@given(
    st.floats(0.1, 400),
    st.lists(st.tuples(st.floats(0, 20), st.floats(0, 100)), max_size=6),
)
def test_a_fair_share_fills_the_link(link: float, others: list[tuple[float, float]]) -> None:
    share = fair_share_gbit_s(link, others=others)
    taken = share + sum(count * min(need, share) for count, need in others)
    assert taken == pytest.approx(link)
    users = 1 + sum(count for count, _ in others)
    assert link / users * (1 - 1e-9) <= share <= link * (1 + 1e-9)
    assert fair_share_gbit_s(link * 2, others=others) >= share


def test_a_fair_share_refuses_what_makes_no_sense() -> None:
    with pytest.raises(ValueError, match="link_gbit_s is 0"):
        fair_share_gbit_s(0, others=[])
    with pytest.raises(ValueError, match="need_gbit_s is -1"):
        fair_share_gbit_s(10, others=[(1, -1)])


@pytest.mark.parametrize(
    ("link", "growth", "rate"), [(25, 0.4, 15), (100, 0.5, 30), (100, 0, 15), (50, 1, 30), (6.25, 0.5, 7.5)]
)
def test_what_a_stack_moves_grows_with_the_link(link: float, growth: float, rate: float) -> None:
    assert tcp_rate_gbit_s(link, at_25_gbit_s=15, growth=growth) == pytest.approx(rate)


@pytest.mark.parametrize("growth", [-0.1, 1.1])
def test_a_stack_grows_neither_backwards_nor_faster_than_its_link(growth: float) -> None:
    with pytest.raises(ValueError, match="growth is"):
        tcp_rate_gbit_s(25, growth=growth)
