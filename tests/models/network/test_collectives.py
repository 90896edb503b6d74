"""Collectives: a ring simulated step by step; rings, trees and switches by hand; what physics allows; and refused inputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from network_jobs import CLEAN, GOOD, JOBS, NETWORK_FAULTS, SLACK, flat, refuses

from gpuplan.models.network import collectives
from gpuplan.models.network.collectives import ALGORITHMS, COLLECTIVES, nccl_allreduce_time_s

allreduce_time_s = flat(collectives.allreduce_time_s)
collective_time_s = flat(collectives.collective_time_s)

H100: dict[str, Any] = {
    "gpus_per_host": 8,
    "link_gbit_s": 400,
    "transport": "infiniband",
    "links": 8,
    "intra_host_gb_s": 370.8,
    "switch_gb_s": 480,
}
NO_WAIT: dict[str, Any] = {"launch_us": 0.0, "intra_step_us": 0.0, "step_latency_us": 0.0}
NVLINK_JOBS = st.fixed_dictionaries(
    {
        "message_mb": st.floats(0.001, 100_000),
        "hosts": st.integers(1, 64),
        "gpus_per_host": st.integers(1, 8),
        "link_gbit_s": st.sampled_from((25, 100, 400)),
        "transport": st.just("infiniband"),
        "links": st.integers(1, 10),
        "intra_host_gb_s": st.floats(10, 900),
        "switch_gb_s": st.none() | st.floats(10, 900),
        "in_network": st.booleans(),
        "collective": st.sampled_from(COLLECTIVES),
    }
)


def seconds(job: dict[str, Any], **other: Any) -> float:
    kept = {**job, **other}
    return collective_time_s(kept.pop("message_mb"), **kept)


def test_a_ring_by_hand() -> None:
    """Five hosts: 80 ring shares over 4 x 400 Gbit/s at 95 %, 190 GB/s; a tree would pass each byte twice."""
    ring = collective_time_s(1000, hosts=5, **{**H100, "links": 4}, **NO_WAIT)
    assert ring == pytest.approx(nccl_allreduce_time_s(1000, ranks=40, bus_gb_s=190))
    half = collective_time_s(1000, hosts=5, **{**H100, "links": 4}, **NO_WAIT, collective="all-gather")
    assert half == pytest.approx(ring / 2)


def test_a_tree_of_two_hosts_by_hand() -> None:
    """Each byte once over 8 x 400 Gbit/s, 380 GB/s; the switch passes 480 x 8 / 14 = 274.3 GB/s and decides."""
    assert collective_time_s(1000, hosts=2, **H100, **NO_WAIT) == pytest.approx(1 / (480 * 8 / 14))
    assert collective_time_s(1000, hosts=2, **{**H100, "links": 4}, **NO_WAIT) == pytest.approx(1 / 190)
    ring = collective_time_s(1000, hosts=2, **H100, **NO_WAIT, trees=False)
    assert ring == pytest.approx(2 * 15 / 16 / 370.8)


def test_switches_between_hosts_sum_once_whatever_the_number_of_hosts() -> None:
    few, many = (
        collective_time_s(1000, hosts=n, **{**H100, "links": 4}, **NO_WAIT, in_network=True) for n in (4, 64)
    )
    assert few == many == pytest.approx(1 / 190)
    with pytest.raises(ValueError, match="transport is 'roce'"):
        collective_time_s(1000, hosts=4, **{**H100, "transport": "roce"}, in_network=True)


def test_latency_counts_once_and_not_for_each_64_mib() -> None:
    """Launch 10, 14 steps of 1, 2 of 20 us: 64 us beside 3.645 ms and what fills the pipeline."""
    waits = {"launch_us": 10.0, "intra_step_us": 1.0, "step_latency_us": 20.0}
    found = collective_time_s(1000, hosts=2, **H100, **waits, fill_share=0.0)
    assert found == pytest.approx(1 / (480 * 8 / 14) + 64e-6)
    full = collective_time_s(1000, hosts=2, **H100, **waits, fill_share=1.0)
    assert full == pytest.approx((math.sqrt(1 / (480 * 8 / 14)) + math.sqrt(64e-6)) ** 2)


@given(NVLINK_JOBS)
def test_no_rate_above_its_links(job: dict[str, Any]) -> None:
    """Without sums in the network a host has to send 2 (h - 1) / h of an allreduce, with them all of it once."""
    if job["hosts"] > 1:
        ways = 2 if job["collective"] == "allreduce" else 1
        link = min(job["links"], job["gpus_per_host"]) * job["link_gbit_s"] / 8
        least = ways * (job["hosts"] - 1) / job["hosts"]
        if job["in_network"]:
            least = min(least, 1)
        assert seconds(job) >= least * job["message_mb"] / 1000 / link


@given(NVLINK_JOBS, st.sampled_from((25, 400, 800)))
def test_one_host_pays_no_network(job: dict[str, Any], link: int) -> None:
    assert seconds(job, hosts=1) == seconds(job, hosts=1, link_gbit_s=link, links=1, step_latency_us=99.0)
    assert seconds(job, hosts=1, gpus_per_host=1) == 0


@given(NVLINK_JOBS, st.integers(1, 64))
def test_more_links_never_slower_and_more_hosts_never_faster(job: dict[str, Any], hosts: int) -> None:
    assert seconds(job, links=job["links"] + 1) <= seconds(job) * SLACK
    assert seconds(job, link_gbit_s=2 * job["link_gbit_s"]) <= seconds(job) * SLACK
    few, many = sorted((hosts, job["hosts"]))
    assert seconds(job, hosts=few) <= seconds(job, hosts=many) * SLACK
    assert seconds(job, in_network=True) <= seconds(job, in_network=False) * SLACK


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("hosts", 0),
        ("hosts", 1.5),
        ("links", 0),
        ("gpus_per_host", 0),
        ("message_mb", -1.0),
        ("message_mb", math.nan),
        ("intra_host_gb_s", 0.0),
        ("switch_gb_s", -1.0),
        ("link_gbit_s", 0),
        ("fill_share", 1.1),
        ("collective", "gossip"),
        ("transport", "carrier"),
    ],
)
def test_a_collective_refuses(name: str, wrong: Any) -> None:
    with pytest.raises(ValueError, match=name):
        seconds({"message_mb": 1.0, "hosts": 2, **H100}, **{name: wrong})


# ---- one ring through all GPUs


def ring(values: np.ndarray, hop_s: list[float]) -> tuple[np.ndarray, float]:
    """Reduce-scatter and all-gather on a ring; a rank sends when it has received and its link is free.

    values: ranks x chunks; hop_s: time of one chunk from each rank to the next.
    """
    held = values.copy()
    n = len(held)
    ready, free = np.zeros(n), np.zeros(n)
    for step in range(2 * (n - 1)):
        sent, arrives = [], np.zeros(n)
        for rank in range(n):
            chunk = (rank - step) % n
            sent.append((chunk, held[rank, chunk]))
            free[rank] = max(free[rank], ready[rank]) + hop_s[rank]
            arrives[(rank + 1) % n] = free[rank]
        for rank, (chunk, value) in enumerate(sent):
            into = (rank + 1) % n
            held[into, chunk] = held[into, chunk] + value if step < n - 1 else value
        ready = arrives
    return held, float(ready.max())


@given(st.integers(1, 24), st.floats(0.01, 5000), st.floats(0.1, 300), st.floats(0, 100))
def test_a_ring_ends_with_the_sum_on_every_rank_and_takes_as_long(
    ranks: int, message_mb: float, bus_gb_s: float, latency_us: float
) -> None:
    values = np.random.default_rng(ranks).integers(0, 1000, (ranks, ranks)).astype(float)
    hop = message_mb / ranks / 1000 / bus_gb_s + latency_us * 1e-6
    held, seconds = ring(values, [hop] * ranks)
    assert (held == values.sum(axis=0)).all()
    time = nccl_allreduce_time_s(message_mb, ranks=ranks, bus_gb_s=bus_gb_s, step_latency_us=latency_us)
    assert time == pytest.approx(seconds, rel=1e-9, abs=1e-15)


@given(st.integers(2, 6), st.integers(1, 5), st.floats(1, 1000), st.floats(0.5, 20), st.floats(1, 200))
def test_a_ring_through_hosts_is_as_slow_as_its_slowest_link(
    hosts: int, gpus: int, gradient_mb: float, inside_gb_s: float, link_gbit_s: float
) -> None:
    ranks = hosts * gpus
    chunk = gradient_mb / ranks / 1000
    between = chunk / (link_gbit_s / 8)
    hops = [between if (rank + 1) % gpus == 0 else chunk / inside_gb_s for rank in range(ranks)]
    held, seconds = ring(np.ones((ranks, ranks)), hops)
    assert (held == ranks).all()
    time = allreduce_time_s(
        gradient_mb,
        hosts=hosts,
        gpus_per_host=gpus,
        link_gbit_s=link_gbit_s,
        transport="roce",
        usable_share=1,
        intra_host_gb_s=inside_gb_s,
        step_latency_us=0,
    )
    assert time == pytest.approx(seconds, rel=1e-9)


def test_nccl_by_hand() -> None:
    assert nccl_allreduce_time_s(800, ranks=1, bus_gb_s=10, step_latency_us=50) == 0
    assert nccl_allreduce_time_s(800, ranks=2, bus_gb_s=10) == pytest.approx(0.08)
    assert nccl_allreduce_time_s(800, ranks=8, bus_gb_s=10) == pytest.approx(0.14)
    assert nccl_allreduce_time_s(0, ranks=8, bus_gb_s=10, step_latency_us=5) == pytest.approx(70e-6)
    many = nccl_allreduce_time_s(800, ranks=10**9, bus_gb_s=10)
    assert many == pytest.approx(0.16), "twice the message, however many ranks"


def test_allreduce_by_hand() -> None:
    # 16 GPUs: 30 / 16 x 400 MB = 750 MB over 5 GB/s of the network, then over 3 GB/s inside
    job = {"hosts": 4, "gpus_per_host": 4, "link_gbit_s": 40, **CLEAN}
    assert allreduce_time_s(400, intra_host_gb_s=10, **job) == pytest.approx(0.15)
    assert allreduce_time_s(400, intra_host_gb_s=3, **job) == pytest.approx(0.25)
    # inside 6 / 4 x 400 MB over 10 GB/s, then 6 / 4 x 400 MB over 5 GB/s
    two = allreduce_time_s(400, intra_host_gb_s=10, algorithm="hierarchical", **job)
    assert two == pytest.approx(0.06 + 0.12)
    one = allreduce_time_s(400, hosts=1, gpus_per_host=4, intra_host_gb_s=10, link_gbit_s=1)
    assert one == pytest.approx(0.06)


def test_processors_that_sum_bound_the_rate() -> None:
    job = {"hosts": 4, "gpus_per_host": 4, "link_gbit_s": 40, "intra_host_gb_s": 10, **CLEAN}
    assert allreduce_time_s(400, reduce_gb_s=1, **job) == pytest.approx(0.75)
    assert allreduce_time_s(400, reduce_gb_s=100, **job) == allreduce_time_s(400, **job)
    two = allreduce_time_s(400, reduce_gb_s=2, algorithm="hierarchical", **job)
    assert two == pytest.approx(0.3 + 0.3)


def test_latency_by_hand() -> None:
    job = {**CLEAN, "hosts": 4, "gpus_per_host": 4, "link_gbit_s": 40, "step_latency_us": 10}
    without = allreduce_time_s(400, **{**job, "step_latency_us": 0})
    assert allreduce_time_s(400, messages=1, **job) - without == pytest.approx(30 * 10e-6)
    assert allreduce_time_s(400, messages=161, **job) - without == pytest.approx(161 * 30 * 10e-6)
    # six messages of 64 MiB hold 400 MB
    assert allreduce_time_s(400, **job) == allreduce_time_s(400, messages=6, **job)
    assert allreduce_time_s(1, **job) == allreduce_time_s(1, messages=1, **job)
    two = {**job, "algorithm": "hierarchical"}
    steps = allreduce_time_s(400, messages=3, **two) - allreduce_time_s(400, **{**two, "step_latency_us": 0})
    assert steps == pytest.approx(3 * 6 * 10e-6), "between hosts only"


@given(JOBS)
def test_with_one_gpu_per_host_the_two_algorithms_are_one(job: dict[str, Any]) -> None:
    job |= {"gpus_per_host": 1}
    times = [allreduce_time_s(**{**job, "algorithm": algorithm}) for algorithm in ALGORITHMS]
    assert times[0] == times[1]


@given(st.integers(2, 512), st.integers(1, 16), st.floats(1, 10_000), st.floats(0.1, 800))
def test_what_a_host_sends_over_the_network(hosts: int, gpus: int, gradient: float, link: float) -> None:
    job = {**CLEAN, "hosts": hosts, "gpus_per_host": gpus, "link_gbit_s": link, "intra_host_gb_s": 1e12}
    flat, two = (
        allreduce_time_s(gradient, **job, algorithm=algorithm) * link / 8 * 1000 for algorithm in ALGORITHMS
    )
    n = hosts * gpus
    assert two == pytest.approx(2 * (hosts - 1) / hosts * gradient, rel=1e-6)
    assert flat == pytest.approx(2 * (n - 1) / n * gradient, rel=1e-6)
    assert two <= flat * SLACK <= 2 * gradient * SLACK


@pytest.mark.parametrize(
    ("field", "value"),
    [("ranks", 0), ("bus_gb_s", 0), ("bus_gb_s", -1), ("message_mb", -1), ("step_latency_us", -1)],
)
def test_a_ring_refuses(field: str, value: object) -> None:
    refuses(nccl_allreduce_time_s, {"message_mb": 1, "ranks": 2, "bus_gb_s": 1, field: value}, field, value)


@pytest.mark.parametrize(("field", "value"), [*NETWORK_FAULTS, ("algorithm", "tree"), ("messages", 0)])
def test_an_allreduce_refuses(field: str, value: object) -> None:
    refuses(allreduce_time_s, {**GOOD, field: value}, field, value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("gradient_mb", -1), ("intra_host_gb_s", 0), ("reduce_gb_s", 0), ("step_latency_us", -2)],
)
@pytest.mark.parametrize("gpus", [1, 4])
@pytest.mark.parametrize("hosts", [1, 4])
def test_an_allreduce_refuses_by_the_callers_names(field: str, value: object, gpus: int, hosts: int) -> None:
    job = {**GOOD, "messages": 3, "hosts": hosts, "gpus_per_host": gpus, field: value}
    refuses(allreduce_time_s, job, field, value)
