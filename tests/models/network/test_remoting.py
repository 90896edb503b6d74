"""A GPU over the network: each term by hand, what is hidden, and the orderings."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from network_jobs import flat

from gpuplan.models.network import remoting
from gpuplan.models.network.links import TRANSPORTS
from gpuplan.models.network.remoting import remote_slowdown

remote_time_s = flat(remoting.remote_time_s)

FREE: dict[str, Any] = {"sync_us": 0, "call_us": 0, "usable_share": 1, "tcp_gbit_s": 1e6, "local_gbit_s": 1e6}
"""Nothing but the transfer takes time."""

WORK = st.fixed_dictionaries(
    {
        "sent_mb": st.floats(0, 10_000),
        "received_mb": st.floats(0, 10_000),
        "syncs": st.floats(0, 10_000),
        "calls": st.floats(0, 100_000),
        "link_gbit_s": st.floats(0.1, 800),
        "transport": st.sampled_from(TRANSPORTS),
        "users": st.integers(1, 100),
        "mtu_bytes": st.integers(576, 9216),
        "round_trip_us": st.floats(0, 1000),
        "hidden_share": st.floats(0, 1),
    }
)
NATIVE = st.floats(0.001, 100)


# ---- each term by hand


def test_the_transfer() -> None:
    # 800 MB and 200 MB are 8000 Mbit: 0.8 s on 10 Gbit/s
    assert remote_time_s(2, sent_mb=800, received_mb=200, link_gbit_s=10, **FREE) == pytest.approx(2.8)
    assert remote_time_s(2, sent_mb=200, received_mb=800, link_gbit_s=10, **FREE) == pytest.approx(2.8)
    assert remote_time_s(2, sent_mb=1000, link_gbit_s=10, users=4, **FREE) == pytest.approx(2 + 3.2)
    assert remote_time_s(2, sent_mb=1000, link_gbit_s=10, **{**FREE, "usable_share": 0.8}) == pytest.approx(3)
    assert remote_time_s(2, sent_mb=1000, link_gbit_s=100, **{**FREE, "tcp_gbit_s": 16}) == pytest.approx(2.5)


def test_pcie_bounds_a_link_that_is_faster() -> None:
    pcie = {**FREE, "local_gbit_s": 100}
    assert remote_time_s(2, sent_mb=1000, link_gbit_s=400, transport="roce", **pcie) == pytest.approx(2.08)
    # four users of 400 Gbit/s get 100 each, eight get 50: then the link is the slower
    for users, moved in ((4, 0.08), (8, 0.16)):
        time = remote_time_s(2, sent_mb=1000, link_gbit_s=400, transport="roce", users=users, **pcie)
        assert time == pytest.approx(2 + moved)


def test_waits_and_calls() -> None:
    software = {**FREE, "sync_us": 80, "call_us": 40}
    waits = remote_time_s(2, sent_mb=0, syncs=1000, link_gbit_s=10, **software)
    assert waits == pytest.approx(2.08)
    far = remote_time_s(2, sent_mb=0, syncs=1000, round_trip_us=50, link_gbit_s=10, **software)
    assert far == pytest.approx(2.13)
    calls = remote_time_s(2, sent_mb=0, calls=5000, round_trip_us=50, link_gbit_s=10, **software)
    assert calls == pytest.approx(2.2), "a call alone does not wait for the round trip"
    both = remote_time_s(2, sent_mb=0, syncs=1000, calls=5000, link_gbit_s=10, **software)
    assert both == pytest.approx(2.28)


def test_small_packets() -> None:
    time = remote_time_s(2, sent_mb=1250, link_gbit_s=10, mtu_bytes=1500, **FREE)
    assert time == pytest.approx(2 + (8948 / 9038) / (1448 / 1538))


@pytest.mark.parametrize(
    ("hidden", "by_hand"),
    [(0, 2.5), (0.5, 2.25), (1, 2)],
)
def test_a_transfer_shorter_than_the_work_hides_as_far_as_it_is_hidden(hidden: float, by_hand: float) -> None:
    # 0.5 s of transfer beside 2 s of work
    time = remote_time_s(2, sent_mb=625, link_gbit_s=10, hidden_share=hidden, **FREE)
    assert time == pytest.approx(by_hand)


@pytest.mark.parametrize(("hidden", "by_hand"), [(0, 6), (0.25, 5), (0.5, 4), (0.75, 4), (1, 4)])
def test_a_transfer_longer_than_the_work_is_never_hidden_altogether(hidden: float, by_hand: float) -> None:
    # 4 s of transfer, 2 s of work: with half of it hidden, 2 s run beside the work and 2 s after it
    time = remote_time_s(2, sent_mb=5000, link_gbit_s=10, hidden_share=hidden, **FREE)
    assert time == pytest.approx(by_hand)


def test_a_loader_that_prefetches_runs_like_two_machines_in_a_row() -> None:
    """Batches one after another over the link and then the GPU, the loader a batch ahead: simulated."""
    batches = 2000
    for moved, native in ((0.3, 1.0), (1.0, 0.3), (0.5, 0.5)):
        arrived = done = 0.0
        for _ in range(batches):
            arrived += moved
            done = max(done, arrived) + native
        time = remote_time_s(native, sent_mb=moved * 1250, link_gbit_s=10, hidden_share=1, **FREE)
        assert time == pytest.approx(done / batches, rel=2 / batches)


def test_a_server_that_keeps_the_gpu_ready_can_beat_a_cold_start() -> None:
    cold = remote_time_s(3, sent_mb=125, cold=True, ready_s=1, link_gbit_s=10, **FREE)
    assert cold == pytest.approx(2.1)
    assert remote_slowdown(3, remote_s=cold) == pytest.approx(0.7)
    slow = remote_time_s(3, sent_mb=125, cold=True, ready_s=1, link_gbit_s=0.1, **FREE)
    assert slow == pytest.approx(12)
    assert remote_slowdown(3, remote_s=slow) == pytest.approx(4)


def test_slowdown_is_one_over_the_share_of_native_speed() -> None:
    assert remote_slowdown(8, remote_s=12) == 1.5
    assert remote_slowdown(0.25, remote_s=0.25) == 1
    assert 1 / remote_slowdown(1, remote_s=1.25) == 0.8


# ---- orderings


@given(NATIVE, WORK)
def test_times_are_finite_and_nothing_is_faster_than_in_the_same_host(
    native: float, work: dict[str, Any]
) -> None:
    time = remote_time_s(native, **work)
    assert math.isfinite(time) and time >= native
    assert remote_slowdown(native, remote_s=time) >= 1


@given(NATIVE, WORK)
def test_no_data_moves_faster_than_its_share_of_the_link_or_than_pcie(
    native: float, work: dict[str, Any]
) -> None:
    """However much of it hides behind the work."""
    moved_gbit = (work["sent_mb"] + work["received_mb"]) * 8 / 1000
    time = remote_time_s(native, **work)
    assert moved_gbit <= time * min(work["link_gbit_s"] / work["users"], 96) * (1 + 1e-12)


@given(NATIVE, WORK)
def test_rdma_is_never_slower_than_tcp(native: float, work: dict[str, Any]) -> None:
    times = {name: remote_time_s(native, **{**work, "transport": name}) for name in TRANSPORTS}
    assert max(times.values()) == times["tcp"]


@given(NATIVE, WORK, st.integers(1, 100), st.floats(1, 100))
def test_more_users_data_waits_and_calls_are_never_faster_and_a_better_network_never_slower(
    native: float, work: dict[str, Any], more: int, factor: float
) -> None:
    time = remote_time_s(native, **work)
    slack = 1 + 1e-12
    assert remote_time_s(native, **{**work, "users": work["users"] + more}) * slack >= time
    for name in ("sent_mb", "received_mb", "syncs", "calls", "round_trip_us"):
        assert remote_time_s(native, **{**work, name: work[name] * factor}) * slack >= time
    assert remote_time_s(native, **{**work, "link_gbit_s": work["link_gbit_s"] * factor}) <= time * slack
    small, large = (remote_time_s(native, **{**work, "mtu_bytes": mtu}) for mtu in (1500, 9000))
    assert large <= small * slack


@given(NATIVE, WORK, st.floats(0, 1))
def test_hiding_more_of_the_transfer_is_never_slower(
    native: float, work: dict[str, Any], hidden: float
) -> None:
    low, high = sorted((work["hidden_share"], hidden))
    waited, loaded = (remote_time_s(native, **{**work, "hidden_share": k}) for k in (low, high))
    slack = 1 + 1e-12
    assert loaded <= waited * slack
    none, whole = (remote_time_s(native, **{**work, "hidden_share": k}) for k in (0, 1))
    assert whole <= loaded * slack and waited <= none * slack
    assert none - whole <= native * slack + 1e-9 * none, "no more can be hidden than the work lasts"


@given(NATIVE, WORK, st.floats(1, 256))
def test_a_larger_batch_never_loses_more(native: float, work: dict[str, Any], factor: float) -> None:
    """Work and data grow with the batch; the calls of a batch are as many."""
    one = remote_slowdown(native, remote_s=remote_time_s(native, **work))
    grown = {name: work[name] * factor for name in ("sent_mb", "received_mb")}
    larger = remote_time_s(native * factor, **{**work, **grown})
    assert remote_slowdown(native * factor, remote_s=larger) <= one * (1 + 1e-12)


@given(NATIVE, WORK, st.floats(0, 1000), st.floats(0, 10_000), st.floats(0, 100_000))
def test_a_cold_start_takes_at_least_as_long_as_a_warm_request(
    native: float, work: dict[str, Any], weights_mb: float, syncs: float, calls: float
) -> None:
    """Cold, the weights and the calls that load them come on top, and so does the time to load them."""
    warm = remote_time_s(native, **work)
    loading = {"sent_mb": weights_mb, "syncs": syncs, "calls": calls}
    more = {name: work[name] + value for name, value in loading.items()}
    context_s = 0.4
    cold = remote_time_s(native + context_s, cold=True, ready_s=context_s, **{**work, **more})
    assert cold * (1 + 1e-12) >= warm
    unready = remote_time_s(native + context_s, **{**work, **more})
    assert 0 <= unready - cold + 1e-9 * unready <= context_s + 2e-9 * unready


# ---- refused inputs


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((name, -1) for name in ("sent_mb", "received_mb", "syncs", "calls", "round_trip_us")),
        *((name, -0.5) for name in ("sync_us", "call_us", "ready_s")),
        ("native_s", 0),
        ("native_s", -2),
        ("hidden_share", -0.1),
        ("hidden_share", 1.1),
        ("local_gbit_s", 0),
        ("link_gbit_s", 0),
        ("tcp_gbit_s", -1),
        ("usable_share", 0),
        ("usable_share", 1.5),
        ("mtu_bytes", 100),
        ("users", 0),
        ("transport", "smoke"),
    ],
)
def test_bad_inputs_are_named_with_their_value_and_what_is_allowed(field: str, value: object) -> None:
    inputs: dict[str, Any] = {"native_s": 1, "sent_mb": 1, "link_gbit_s": 10, field: value}
    with pytest.raises(ValueError, match=rf"\b{field}( is)? {value!r}.* must be "):
        remote_time_s(inputs.pop("native_s"), **inputs)


def test_a_server_cannot_save_more_than_the_work_takes() -> None:
    with pytest.raises(ValueError, match=r"native_s is 1; a cold start must take longer than ready_s, 1"):
        remote_time_s(1, sent_mb=1, link_gbit_s=10, cold=True, ready_s=1)


@pytest.mark.parametrize(("native", "remote", "named"), [(0, 1, "native_s is 0"), (1, -1, "remote_s is -1")])
def test_a_slowdown_needs_two_times(native: float, remote: float, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        remote_slowdown(native, remote_s=remote)
