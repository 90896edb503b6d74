"""Steps of training runs: what is exchanged, by hand, and what a network can and cannot do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_runs import run
from random_cases import examples

from gpuplan.models.llm.training_run import StepTimes, step_times
from gpuplan.models.llm.training_setup import SHARDINGS
from gpuplan.models.network import GpuHosts, Link
from gpuplan.models.network.collectives import collective_time_s


def test_full_sharding_gathers_twice_and_spreads_once() -> None:
    found = step_times(run("7B", hosts=1))
    hosts = GpuHosts(1, Link(3200), gpus_per_host=8, intra_host_gb_s=370.8)
    weights, gradients = 6740 * 2 / 32, 6740 * 4 / 32
    by_hand = 32 * (
        2 * collective_time_s(weights, collective="all-gather", over=hosts)
        + collective_time_s(gradients, collective="reduce-scatter", over=hosts)
    )
    assert found.exchange_s == pytest.approx(by_hand)
    assert found.step_exchange_s == 0
    only = step_times(run("7B", hosts=1, sharding="gradients"))
    assert only.exchange_s < found.exchange_s


def test_frozen_weights_have_no_gradients_and_no_optimizer() -> None:
    full, lora = step_times(run("7B")), step_times(run("7B", method="lora"))
    assert lora.exchange_s < full.exchange_s
    assert lora.optimizer_s == 0 < full.optimizer_s


def test_one_gpu_exchanges_nothing() -> None:
    alone = step_times(run("7B", hosts=1, gpus_per_host=1))
    assert alone.exchange_s == alone.tensor_s == alone.step_exchange_s == 0
    assert alone.step_s == pytest.approx(alone.alone_s)


def test_a_copy_in_each_host_sends_once_a_step_what_sharding_sends_in_each_micro_batch() -> None:
    slow = {"link_gbit_s": 25.0, "links": 1, "transport": "tcp", "batch": 256}
    full, hybrid = step_times(run("7B", **slow)), step_times(run("7B", **slow, sharding="hybrid"))
    assert hybrid.step_s < full.step_s / 3
    assert hybrid.micro_batches == full.micro_batches == 16
    fast_full = step_times(run("7B"))
    assert fast_full.step_s < 1.3 * step_times(run("7B", sharding="hybrid")).step_s


def test_tensor_parallel_needs_no_network_between_hosts_but_for_its_copies() -> None:
    split = run("70B", sharding="tensor-pipeline", tensor=8)
    assert step_times(split).exchange_s == 0 < step_times(split).step_exchange_s
    stages = replace(split, pipeline=2)
    assert step_times(stages).exchange_s > 0 == step_times(stages).step_exchange_s
    assert step_times(split).tensor_s == pytest.approx(2 * step_times(stages).tensor_s)


@given(
    model=st.sampled_from(("7B", "70B")),
    sharding=st.sampled_from(SHARDINGS),
    hosts=st.sampled_from((1, 2, 4, 16)),
    link=st.sampled_from((10.0, 100.0, 400.0)),
    links=st.integers(1, 8),
)
@settings(max_examples=examples(60, few=20), deadline=None)
def test_physics(model: str, sharding: str, hosts: int, link: float, links: int) -> None:
    tensor = 8 if sharding == "tensor-pipeline" else 1

    def times(link: float) -> StepTimes:
        spread = {"sharding": sharding, "tensor": tensor, "hosts": hosts, "batch": 64 * hosts}
        return step_times(run(model, **spread, link_gbit_s=link, links=links))

    found = times(link)
    assert found.step_s >= found.alone_s
    assert times(2 * link).step_s <= found.step_s * (1 + 1e-9)
    if hosts == 1:
        assert times(1.0).step_s == pytest.approx(found.step_s)


def test_the_share_of_a_gpu_falls_with_hosts_and_on_a_slow_network_much() -> None:
    def kept(hosts: int, **network: object) -> float:
        found = step_times(run("13B", hosts=hosts, batch=64 * hosts, micro_batch=2, **network))
        return found.alone_s / found.step_s

    fast = [kept(hosts) for hosts in (1, 2, 4, 8, 16)]
    slow = [kept(hosts, link_gbit_s=25.0, links=1, transport="tcp") for hosts in (1, 2, 4, 8, 16)]
    assert fast == sorted(fast, reverse=True) and slow == sorted(slow, reverse=True)
    assert fast[-1] > 0.6
    assert slow[0] == fast[0] and slow[1] < 0.15


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sharding": "zero-9"}, "sharding"),
        ({"tensor": 2}, "tensor"),
        ({"sharding": "tensor-pipeline", "tensor": 3}, "multiple"),
        ({"sharding": "tensor-pipeline", "hosts": 64, "pipeline": 64}, "layers"),
        ({"hosts": 0}, "hosts"),
        ({"gpus_per_host": 7.5}, "gpus_per_host"),
        ({"batch": 0}, "batch"),
    ],
)
def test_bad_input_says_what_is_wrong(changed: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        step_times(run("7B", **changed))
