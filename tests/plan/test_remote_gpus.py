"""Work on remote GPUs: the measured shares, ranges, orderings, and what is said to help."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from approved import has_approved
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import examples

from gpuplan import load_catalog
from gpuplan.catalog import Catalog, Row
from gpuplan.plan.remote_gpus import RemoteUse, RemoteWork, native_time_s, needs_gbit_s, remote_use
from gpuplan.plan.trail import Trail
from gpuplan.plan.training.speed import LINKS
from gpuplan.scenario import Network, Scenario

CATALOG = load_catalog()
PRESETS = CATALOG.rows("network_workloads")
SHARES = ("kept_low", "kept", "kept_high")
LINK = st.sampled_from((1, *LINKS))
NETWORKS = st.builds(
    Network,
    link_gbit_s=LINK,
    transport=st.sampled_from(("tcp", "roce", "roce-v1", "pvrdma", "infiniband")),
    mtu_bytes=st.sampled_from((1500, 9000)),
    latency_us=st.none() | st.sampled_from((1.0, 10.0, 49.9, 500.0, 100_000.0)),
    tcp_gbit_s=st.none() | st.sampled_from((0.1, 5.0, 40.0, 800.0)),
)
WORK = st.sampled_from(PRESETS)
GPU = st.sampled_from(sorted(CATALOG.gpus))
USERS = st.integers(1, 40)


def used(network: Network, preset: Row, gpu: str = "v100-pcie-32gb", **how: Any) -> RemoteUse:
    plain = Scenario()
    scenario = replace(plain, network=network, hardware=replace(plain.hardware, gpu=gpu))
    return remote_use(scenario, CATALOG, RemoteWork(preset, "x", "X", **how))


def shares(use: RemoteUse) -> tuple[float, float, float]:
    return use.kept_low, use.kept, use.kept_high


def no_less(more: RemoteUse, less: RemoteUse) -> bool:
    return all(a >= b - 1e-12 for a, b in zip(shares(more), shares(less), strict=True))


@pytest.mark.parametrize(
    ("work", "measured"),
    [
        ("resnet-50-train-256", 800.49 / 823.74),
        ("resnet-50-infer-256", 1159.0 / 1182.87),
        ("resnet-50-infer-1", 76.18 / 122.37),
    ],
)
def test_what_bitfusion_was_measured_to_keep(catalog: Catalog, work: str, measured: float) -> None:
    """10 GbE, MTU 9000, V100, one user: 97.2, 98.0 and 62.3 % of the native speed, within one point."""
    use = used(Network(link_gbit_s=10), catalog.row("network_workloads", work))
    assert use.kept == pytest.approx(measured, abs=0.01)
    assert use.kept_low - 0.01 <= measured <= use.kept_high
    assert use.verdict == ("bad" if measured < 0.75 else "good")


def test_one_step_by_hand(catalog: Catalog) -> None:
    """Batch 1: 8.172 ms native, 99 round trips of 50 us, its 0.6 MB hidden behind computing at 10 Gbit/s."""
    work = catalog.row("network_workloads", "resnet-50-infer-1")
    native = 1 / 122.37
    assert native_time_s(catalog, work, "v100-pcie-32gb", 1.0) == pytest.approx(native)
    assert used(Network(link_gbit_s=10), work).kept == pytest.approx(native / (native + 99 * 50e-6))
    assert needs_gbit_s(work, native) == pytest.approx(0.606112 * 8 / 1000 * 122.37)


@settings(max_examples=examples(150, few=30))
@given(NETWORKS, WORK, GPU, USERS, st.sampled_from((0.01, 0.25, 1.0)))
def test_shares_are_a_range(network: Network, preset: Row, gpu: str, users: int, gpu_share: float) -> None:
    use = used(network, preset, gpu, users=users, gpu_share=gpu_share)
    assert 0 < use.kept_low <= use.kept <= use.kept_high <= 1
    assert 0 < use.needs_gbit_s <= use.on_host_gbit_s < math.inf
    assert 0 < use.native_s < math.inf
    assert bool(use.changes) is (use.verdict != "good")
    assert "nan" not in " ".join(use.changes)


@settings(max_examples=examples(150, few=30))
@given(NETWORKS, LINK, WORK, GPU, USERS)
def test_a_faster_link_never_keeps_less(
    network: Network, link: int, preset: Row, gpu: str, users: int
) -> None:
    slow, fast = sorted((network.link_gbit_s, link))
    a, b = (used(replace(network, link_gbit_s=n), preset, gpu, users=users) for n in (slow, fast))
    assert no_less(b, a)


@settings(max_examples=examples(150, few=30))
@given(NETWORKS, WORK, GPU, USERS)
def test_rdma_and_large_frames_never_keep_less(network: Network, preset: Row, gpu: str, users: int) -> None:
    tcp = used(replace(network, transport="tcp"), preset, gpu, users=users)
    for transport in ("roce", "roce-v1", "pvrdma", "infiniband"):
        assert no_less(used(replace(network, transport=transport), preset, gpu, users=users), tcp)
    small, large = (used(replace(network, mtu_bytes=m), preset, gpu, users=users) for m in (1500, 9000))
    assert no_less(large, small)


@settings(max_examples=examples(100, few=25))
@given(NETWORKS, WORK, GPU, USERS, st.floats(1, 1000), st.floats(1, 1000))
def test_more_users_and_longer_ways_never_keep_more(
    network: Network, preset: Row, gpu: str, users: int, one: float, other: float
) -> None:
    assert no_less(used(network, preset, gpu, users=users), used(network, preset, gpu, users=users + 1))
    near, far = (
        used(replace(network, latency_us=trip), preset, gpu, users=users) for trip in sorted((one, other))
    )
    assert no_less(near, far)


@settings(max_examples=examples(60, few=15))
@given(NETWORKS, st.sampled_from((1.0, 5.0, 15.0, 40.0)), WORK, USERS)
def test_a_slower_tcp_stack_never_keeps_more(network: Network, rate: float, preset: Row, users: int) -> None:
    slow, fast = (
        used(replace(network, transport="tcp", tcp_gbit_s=r), preset, users=users) for r in (rate, 2 * rate)
    )
    assert no_less(fast, slow)


def test_a_larger_batch_loses_less(catalog: Catalog) -> None:
    for kind in ("train-32", "train-256"), ("infer-1", "infer-256"):
        small, large = (
            used(Network(link_gbit_s=10), catalog.row("network_workloads", f"resnet-50-{k}")) for k in kind
        )
        assert small.kept < large.kept


def test_a_share_of_a_gpu_loses_less_but_is_slower(catalog: Catalog) -> None:
    work = catalog.row("network_workloads", "resnet-50-train-32")
    whole, part = (used(Network(link_gbit_s=10), work, gpu_share=s) for s in (1.0, 0.25))
    assert part.native_s == pytest.approx(4 * whole.native_s)
    assert part.needs_gbit_s == pytest.approx(whole.needs_gbit_s / 4)
    assert part.kept > whole.kept


def test_the_low_end_is_all_users_at_once_with_nothing_hidden(catalog: Catalog) -> None:
    """Batch 256 on RoCE at 10 Gbit/s, 4 users: 154.14 MB at 0.787 x 10 / 4 Gbit/s, and 181 round trips."""
    work = catalog.row("network_workloads", "resnet-50-train-256")
    usable = catalog.assumptions["remoting"].fact("usable_share")
    native = 256 / 823.74
    moved = 154.14 * 8 / 1000 / (float(usable.low or 0) * 10 / 4)
    use = used(Network(link_gbit_s=10, transport="roce"), work, users=4)
    assert use.kept_low == pytest.approx(native / (native + moved + 181 * 50e-6))
    alone = 154.14 * 8 / 1000 / (float(usable.high or 0) * 10)
    assert use.kept_high == pytest.approx(native / (max(native, alone) + 35 * 50e-6))


def test_what_helps_does_what_it_says(catalog: Catalog) -> None:
    """The advice is the smallest link that carries it, with the share that it would have."""
    work = catalog.row("network_workloads", "resnet-50-train-256")
    slow = used(Network(link_gbit_s=1), work)
    (advice,) = slow.changes
    assert advice == "10 Gbit/s would keep 97 %"
    link, _, share = advice.partition(" Gbit/s would keep ")
    better = used(Network(link_gbit_s=int(link)), work)
    assert better.verdict == "good"
    assert share == f"{100 * better.kept:.0f} %"
    assert all(used(Network(link_gbit_s=n), work).verdict != "good" for n in (1, *LINKS) if n < int(link))


ADVICE = re.compile(r"(\d+) Gbit/s( with RDMA)? would keep (\d+) %(, and no link keeps more)?")


@settings(max_examples=examples(150, few=30))
@given(NETWORKS, WORK, GPU, USERS)
def test_every_advice_about_a_link_is_true(network: Network, preset: Row, gpu: str, users: int) -> None:
    """Whoever takes the link that is named gets the share that is named; and where none helps, none does."""
    use = used(network, preset, gpu, users=users)
    if use.verdict == "good":
        assert use.changes == ()
        return
    said = ADVICE.fullmatch(use.changes[0])
    every = {
        (link, transport): used(
            replace(network, link_gbit_s=link, transport=transport), preset, gpu, users=users
        )
        for link in (n for n in LINKS if n >= network.link_gbit_s)
        for transport in (network.transport, "roce")
    }
    most = max(other.kept for other in every.values())
    if said is None:
        assert use.changes[0].startswith("no faster link")
        assert most <= use.kept + 0.0051
        return
    link, rdma = int(said[1]), "roce" if said[2] else network.transport
    better = used(replace(network, link_gbit_s=link, transport=rdma), preset, gpu, users=users)
    assert int(said[3]) == round(100 * better.kept)
    assert (better.verdict == "good") is (said[4] is None)
    assert (len(use.changes) == 1) is (said[4] is None)
    if said[4]:
        assert most <= better.kept + 0.0051
    else:
        slower = [o for (n, t), o in every.items() if n < link and t == rdma]
        assert all(other.verdict != "good" for other in slower)


def test_where_round_trips_take_the_time_no_link_is_advised(catalog: Catalog) -> None:
    use = used(Network(link_gbit_s=10), catalog.row("network_workloads", "resnet-50-infer-1"))
    assert not any("Gbit/s" in change for change in use.changes)
    assert has_approved(use.changes[0])
    assert any("larger batches" in change for change in use.changes)
    assert not any("round trip" in change and "half" in change for change in use.changes)


def test_a_round_trip_below_the_measured_one_helps_the_high_end_only(catalog: Catalog) -> None:
    """The overhead was read as round trips of 50 us; what a shorter one gains nobody measured."""
    work = catalog.row("network_workloads", "resnet-50-infer-1")
    planned, near, far = (used(Network(link_gbit_s=10, latency_us=t), work) for t in (50.0, 10.0, 60.0))
    assert used(Network(link_gbit_s=10), work) == replace(
        planned, basis=used(Network(link_gbit_s=10), work).basis
    )
    assert (near.kept_low, near.kept) == (planned.kept_low, planned.kept)
    native = 1 / 122.37
    assert near.kept_high == pytest.approx(native / (native + 35 * 10e-6))
    assert planned.kept_high == pytest.approx(native / (native + 35 * 50e-6))
    assert all(a < b for a, b in zip(shares(far), shares(planned), strict=True))


def test_the_line_shows_the_round_trip_that_was_counted(catalog: Catalog) -> None:
    work = catalog.row("network_workloads", "resnet-50-infer-1")
    for stated, counted in ((10.0, 50.0), (50.0, 50.0), (80.0, 80.0)):
        trail = Trail()
        scenario = replace(Scenario(), network=Network(link_gbit_s=10, latency_us=stated))
        remote_use(scenario, catalog, RemoteWork(work, "x", "X"), trail)
        held = {i.name: i.value for i in trail.lines["network.remote.x.time_s"].inputs}
        assert held["round_trip_us"] == counted


def test_traffic_of_the_host_is_what_the_caller_says_or_that_of_the_link(catalog: Catalog) -> None:
    work = catalog.row("network_workloads", "resnet-50-train-256")
    network = Network(link_gbit_s=10)
    alone, three = used(network, work), used(network, work, users=3)
    assert alone.on_host_gbit_s == alone.needs_gbit_s
    assert three.on_host_gbit_s == pytest.approx(3 * alone.needs_gbit_s)
    assert used(network, work, users=3, on_host_gbit_s=7.5).on_host_gbit_s == 7.5


def test_the_lines_say_what_the_table_says(catalog: Catalog) -> None:
    for work in PRESETS:
        trail = Trail()
        scenario = Scenario()
        use = remote_use(scenario, catalog, RemoteWork(work, "x", "X", users=3), trail)
        slowdown = trail.lines["network.remote.x.slowdown"]
        assert slowdown.value == pytest.approx(1 / use.kept), work.id
        assert trail.lines["network.remote.x.time_s"].value == pytest.approx(use.native_s / use.kept)


def test_rdma_shares_the_link_with_the_others_whatever_tcp_would_carry(catalog: Catalog) -> None:
    """2,000 MB a step, none hidden, and 9 others: at 100 Gbit/s by RoCE one gets what the 9 leave at their needs."""
    work = catalog.row("network_workloads", "unet-3d-infer")
    native = native_time_s(catalog, work, "v100-pcie-32gb", 1.0)
    usable = float(catalog.assumptions["remoting"].fact("usable_share").value)
    left = usable * 100 - 9 * 2000 * 8 / 1000 / native
    time = native + 2000 * 8 / 1000 / left + work["waits"] * 50e-6
    for tcp_gbit_s in (None, 5.0, 50.0):
        network = Network(link_gbit_s=100, transport="roce", tcp_gbit_s=tcp_gbit_s)
        assert used(network, work, users=10).kept == pytest.approx(native / time)
    assert used(Network(link_gbit_s=100, tcp_gbit_s=5.0), work, users=10).kept < native / time
