"""Collectives on NVLink: rings, trees and switches by hand, and what physics allows."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models.network.collectives import COLLECTIVES, collective_time_s
from gpuplan.models.network.training import nccl_allreduce_time_s

H100: dict[str, Any] = {
    "gpus_per_host": 8,
    "link_gbit_s": 400,
    "links": 8,
    "intra_host_gb_s": 370.8,
    "switch_gb_s": 480,
}
NO_WAIT: dict[str, Any] = {"launch_us": 0.0, "intra_step_us": 0.0, "step_latency_us": 0.0}
JOBS = st.fixed_dictionaries(
    {
        "message_mb": st.floats(0.001, 100_000),
        "hosts": st.integers(1, 64),
        "gpus_per_host": st.integers(1, 8),
        "link_gbit_s": st.sampled_from((25, 100, 400)),
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
        collective_time_s(1000, hosts=4, **H100, in_network=True, transport="roce")


def test_latency_counts_once_and_not_for_each_64_mib() -> None:
    """Launch 10, 14 steps of 1, 2 of 20 us: 64 us beside 3.645 ms and what fills the pipeline."""
    waits = {"launch_us": 10.0, "intra_step_us": 1.0, "step_latency_us": 20.0}
    found = collective_time_s(1000, hosts=2, **H100, **waits, fill_share=0.0)
    assert found == pytest.approx(1 / (480 * 8 / 14) + 64e-6)
    full = collective_time_s(1000, hosts=2, **H100, **waits, fill_share=1.0)
    assert full == pytest.approx((math.sqrt(1 / (480 * 8 / 14)) + math.sqrt(64e-6)) ** 2)


@given(JOBS)
def test_no_rate_above_its_links(job: dict[str, Any]) -> None:
    """Without sums in the network a host has to send 2 (h - 1) / h of an allreduce, with them all of it once."""
    if job["hosts"] > 1:
        ways = 2 if job["collective"] == "allreduce" else 1
        link = min(job["links"], job["gpus_per_host"]) * job["link_gbit_s"] / 8
        least = ways * (job["hosts"] - 1) / job["hosts"]
        if job["in_network"]:
            least = min(least, 1)
        assert seconds(job) >= least * job["message_mb"] / 1000 / link


@given(JOBS, st.sampled_from((25, 400, 800)))
def test_one_host_pays_no_network(job: dict[str, Any], link: int) -> None:
    assert seconds(job, hosts=1) == seconds(job, hosts=1, link_gbit_s=link, links=1, step_latency_us=99.0)
    assert seconds(job, hosts=1, gpus_per_host=1) == 0


@given(JOBS, st.integers(1, 64))
def test_more_links_never_slower_and_more_hosts_never_faster(job: dict[str, Any], hosts: int) -> None:
    slack = 1 + 1e-12
    assert seconds(job, links=job["links"] + 1) <= seconds(job) * slack
    assert seconds(job, link_gbit_s=2 * job["link_gbit_s"]) <= seconds(job) * slack
    few, many = sorted((hosts, job["hosts"]))
    assert seconds(job, hosts=few) <= seconds(job, hosts=many) * slack
    assert seconds(job, in_network=True) <= seconds(job, in_network=False) * slack


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
def test_refused(name: str, wrong: Any) -> None:
    with pytest.raises(ValueError, match=name):
        seconds({"message_mb": 1.0, "hosts": 2, **H100}, **{name: wrong})
