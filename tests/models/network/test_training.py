"""Training across hosts: steps by hand, orderings whatever the job, what a host sends, and refused inputs."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from network_jobs import (
    CLEAN,
    COMPUTE,
    GOOD,
    JOBS,
    NETWORK,
    NETWORK_FAULTS,
    SHARE_FAULTS,
    SLACK,
    flat,
    jobs_with_servers,
    numbers_of,
    refuses,
)

from gpuplan.models.network import (
    GpuHosts,
    Link,
    collectives,
    fabric,
    links,
    parameter_servers,
    remoting,
    training,
)
from gpuplan.models.network.collectives import ALGORITHMS, nccl_allreduce_time_s
from gpuplan.models.network.links import TRANSPORTS
from gpuplan.models.network.training import (
    efficiency_range,
    host_traffic_gbit_s,
    scaling_efficiency,
    training_throughput,
    training_time_h,
)

allreduce_time_s = flat(collectives.allreduce_time_s)
collective_time_s = flat(collectives.collective_time_s)
parameter_server_step_s = flat(parameter_servers.parameter_server_step_s)
overlapped_step_s = flat(training.overlapped_step_s)
tcp_rate_for_speedup_gbit_s = flat(training.tcp_rate_for_speedup_gbit_s)
training_step_s = flat(training.training_step_s)


def steps_of_training(compute_s: float, job: dict[str, Any]) -> float:
    """A step of whichever way the job trains."""
    way: Callable[..., float] = parameter_server_step_s if "servers" in job else training_step_s
    return way(compute_s, **job)


EITHER = JOBS | jobs_with_servers()


# ---- a step by hand


def test_a_step_by_hand() -> None:
    # the allreduce takes 0.15 s, see above
    job = {
        "gradient_mb": 400, "hosts": 4, "gpus_per_host": 4, "link_gbit_s": 40, "intra_host_gb_s": 10, **CLEAN
    }  # fmt: skip

    def step(compute: float, exposed: float, overlap: float, straggler: float) -> float:
        shares = {"exposed_share": exposed, "overlap_share": overlap, "straggler_share": straggler}
        return training_step_s(compute, **job, **shares)

    assert step(0.2, 1, 0, 0) == pytest.approx(0.35), "no overlap"
    assert step(0.2, 0, 0.5, 0) == pytest.approx(0.25), "0.1 s of it hides"
    assert step(0.2, 0.4, 0.5, 0) == pytest.approx(0.26), "0.06 s never hides"
    assert step(0.4, 0, 0.5, 0) == pytest.approx(0.4), "all of it hides"
    assert step(0.2, 1, 0, 0.01) == pytest.approx(0.358), "four doublings of one GPU"


def test_what_is_ready_last_is_not_hidden() -> None:
    """A tenth never hides, of the half that is ready last all of it: 0.55 of 0.15 s."""
    job = {
        "gradient_mb": 400, "hosts": 4, "gpus_per_host": 4, "link_gbit_s": 40, "intra_host_gb_s": 10, **CLEAN,
        "exposed_share": 0.1, "overlap_share": 1, "straggler_share": 0,
    }  # fmt: skip
    assert training_step_s(1, **job) == pytest.approx(1.015)
    assert training_step_s(1, **job, late_share=0.5) == pytest.approx(1 + 0.55 * 0.15)
    assert training_step_s(1, **job, late_share=1) == pytest.approx(1.15)


@given(COMPUTE, JOBS, st.floats(0, 1), st.floats(0, 1))
def test_a_gradient_that_is_ready_later_is_never_faster(
    compute: float, job: dict[str, Any], one: float, other: float
) -> None:
    steps = [training_step_s(compute, **job, late_share=late) for late in sorted((one, other))]
    assert steps[0] <= steps[1] * SLACK


@given(st.floats(0.001, 1), st.floats(0, 3), st.floats(0, 3), st.floats(0, 1))
def test_a_range_holds_what_it_is_the_range_of(
    kept: float, slower: float, faster: float, base: float
) -> None:
    low, high = efficiency_range(kept, slower_share=slower, faster_share=faster, base_share=base)
    assert 0 < low <= kept <= high <= 1
    wider = efficiency_range(kept, slower_share=slower + 1, faster_share=faster + 1, base_share=base)
    assert wider[0] <= low and wider[1] >= high


def test_a_range_by_hand() -> None:
    # 0.5 + 0.3 of the step may be off: 25 % longer at most, 20 % shorter
    low, high = efficiency_range(0.5, slower_share=0.3125, faster_share=0.25, base_share=0.3)
    assert (low, high) == pytest.approx((0.4, 0.6))
    assert efficiency_range(0.99, slower_share=0, faster_share=9) == (0.99, 1)


# ---- four hosts of four GPUs on 25 Gbit/s: the networks that Horovod was shown on

NETWORKS = {  # gradient, largest variable (MB), images per second of one GPU
    "inception-v3": (108.6, 9.8, 134.4),
    "resnet-101": (178.2, 9.4, 119.4),
    "vgg-16": (553.4, 411.0, 130.9),
}
CLUSTER = {"hosts": 4, "gpus_per_host": 4, "link_gbit_s": 25}


def left(network: str, transport: str, servers: bool) -> float:
    """Scaling efficiency with a batch of 64 on each GPU."""
    gradient, largest, images_per_s = NETWORKS[network]
    compute = 64 / images_per_s
    job: dict[str, Any] = {**CLUSTER, "gradient_mb": gradient, "transport": transport}
    if servers:
        step = parameter_server_step_s(compute, **job, largest_variable_mb=largest)
    else:
        step = training_step_s(compute, **job)
    return scaling_efficiency(compute, step_s=step)


def test_vgg_on_16_gpus_with_parameter_servers_is_slower_than_one_gpu() -> None:
    assert 16 * left("vgg-16", "tcp", servers=True) < 1
    assert all(16 * left(network, "tcp", servers=True) > 1 for network in ("inception-v3", "resnet-101"))


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("servers", [True, False])
def test_vgg_loses_most_and_servers_lose_more_than_allreduce(transport: str, servers: bool) -> None:
    efficiency = {network: left(network, transport, servers) for network in NETWORKS}
    assert min(efficiency, key=efficiency.__getitem__) == "vgg-16"
    assert efficiency["vgg-16"] < min(efficiency["inception-v3"], efficiency["resnet-101"])
    if servers:
        assert all(efficiency[network] < left(network, transport, servers=False) for network in NETWORKS)


# ---- orderings, whatever the job


@given(COMPUTE, EITHER)
def test_a_step_is_finite_and_no_shorter_than_its_computing(compute: float, job: dict[str, Any]) -> None:
    step = steps_of_training(compute, job)
    assert math.isfinite(step)
    assert 0 < scaling_efficiency(compute, step_s=step) <= 1


@given(COMPUTE, EITHER)
def test_rdma_is_never_slower_than_tcp(compute: float, job: dict[str, Any]) -> None:
    steps = {name: steps_of_training(compute, {**job, "transport": name}) for name in TRANSPORTS}
    assert steps["tcp"] == max(steps.values())
    if "servers" not in job:
        reduced = [allreduce_time_s(**{**job, "transport": name}) for name in ("tcp", "roce")]
        assert reduced[1] <= reduced[0]


@given(COMPUTE, EITHER, st.floats(1, 100))
def test_more_bandwidth_is_never_slower(compute: float, job: dict[str, Any], factor: float) -> None:
    step = steps_of_training(compute, job)
    for name in ("link_gbit_s", "tcp_gbit_s"):
        assert steps_of_training(compute, {**job, name: job[name] * factor}) <= step * SLACK
    assert steps_of_training(compute, {**job, "intra_host_gb_s": 10}) >= steps_of_training(
        compute, {**job, "intra_host_gb_s": 10 * factor}
    )


@given(COMPUTE, EITHER, NETWORK["mtu_bytes"], NETWORK["mtu_bytes"])
def test_larger_packets_are_never_slower(compute: float, job: dict[str, Any], one: int, other: int) -> None:
    for small, large in ((1500, 9000), sorted((one, other))):
        steps = [steps_of_training(compute, {**job, "mtu_bytes": mtu}) for mtu in (small, large)]
        assert steps[1] <= steps[0]


@given(COMPUTE, EITHER, st.floats(1, 1000))
def test_a_larger_batch_never_loses_more(compute: float, job: dict[str, Any], factor: float) -> None:
    small, large = (
        scaling_efficiency(time, step_s=steps_of_training(time, job)) for time in (compute, compute * factor)
    )
    assert large * SLACK >= small


@given(COMPUTE, EITHER, st.floats(1, 100))
def test_a_larger_gradient_is_never_faster(compute: float, job: dict[str, Any], factor: float) -> None:
    grown = {name: job[name] * factor for name in ("gradient_mb", "largest_variable_mb") if name in job}
    assert steps_of_training(compute, {**job, **grown}) * SLACK >= steps_of_training(compute, job)


@given(COMPUTE, EITHER, st.integers(0, 512), st.integers(0, 16))
def test_more_hosts_or_gpus_never_scale_better(
    compute: float, job: dict[str, Any], hosts: int, gpus: int
) -> None:
    step = steps_of_training(compute, job)
    assert steps_of_training(compute, {**job, "hosts": job["hosts"] + hosts}) * SLACK >= step
    more = steps_of_training(compute, {**job, "gpus_per_host": job["gpus_per_host"] + gpus})
    assert more * SLACK >= step


@given(COMPUTE, EITHER, st.fixed_dictionaries(NETWORK))
def test_one_host_has_no_network(compute: float, job: dict[str, Any], network: dict[str, Any]) -> None:
    job |= {"hosts": 1}
    assert steps_of_training(compute, job) == steps_of_training(compute, {**job, **network})
    if "servers" not in job:
        assert allreduce_time_s(**job) == allreduce_time_s(**{**job, **network})


@given(COMPUTE, EITHER)
def test_one_gpu_trains_alone(compute: float, job: dict[str, Any]) -> None:
    job |= {"hosts": 1, "gpus_per_host": 1}
    if "servers" in job:
        job |= {"workers_per_host": None}
    else:
        assert allreduce_time_s(**job) == 0
    assert steps_of_training(compute, job) == compute


SHARE = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)


@given(COMPUTE, EITHER, SHARE, SHARE, SHARE)
def test_hiding_more_is_never_slower_and_a_straggler_never_faster(
    compute: float, job: dict[str, Any], exposed: list[float], overlap: list[float], straggler: list[float]
) -> None:
    def step(exposed: float, overlap: float, straggler: float) -> float:
        shares = {"exposed_share": exposed, "overlap_share": overlap, "straggler_share": straggler}
        return steps_of_training(compute, {**job, **shares})

    best = step(exposed[0], overlap[1], straggler[0])
    assert best <= step(exposed[1], overlap[1], straggler[0])
    assert best <= step(exposed[0], overlap[0], straggler[0])
    assert best <= step(exposed[0], overlap[1], straggler[1])
    whole, none = step(1, 0, straggler[0]), step(0, 1, straggler[0])
    assert whole - none <= compute + 1e-9 * whole, "no more can be hidden than the step computes"


@given(COMPUTE, JOBS, st.integers(1, 1000), st.integers(1, 1000))
def test_fewer_messages_are_never_slower(compute: float, job: dict[str, Any], one: int, other: int) -> None:
    assume(one != other)
    few, many = (
        training_step_s(compute, **job, messages=messages, step_latency_us=8)
        for messages in sorted((one, other))
    )
    assert few <= many


# ---- a step whose sum is pipelined over NVLink and several links


PIPELINED = st.fixed_dictionaries(
    {
        "message_mb": st.floats(1, 10_000),
        "hosts": st.integers(1, 64),
        "gpus_per_host": st.integers(1, 8),
        "link_gbit_s": st.sampled_from((25, 100, 400)),
        "links": st.integers(1, 8),
        "intra_host_gb_s": st.floats(1, 900),
        "switch_gb_s": st.none() | st.floats(10, 900),
        "transport": st.sampled_from(TRANSPORTS),
    }
)


def pipelined(compute: float, job: dict[str, Any], late: float, **other: Any) -> float:
    kept = {**job, **other}
    gpus = kept["hosts"] * kept["gpus_per_host"]
    return overlapped_step_s(compute, sum_s=collective_time_s(**kept), gpus=gpus, late_share=late)


@given(COMPUTE, PIPELINED, st.floats(0, 1), st.integers(1, 64))
def test_a_pipelined_step_obeys_what_every_step_does(
    compute: float, job: dict[str, Any], late: float, hosts: int
) -> None:
    """No rate above the links, one host pays no network, more bandwidth is never slower, more hosts never faster for a GPU."""
    step = pipelined(compute, job, late)
    assert compute <= step < math.inf
    if job["hosts"] > 1:
        links = min(job["links"], job["gpus_per_host"]) * job["link_gbit_s"]
        least_mb = 2 * (job["hosts"] - 1) / job["hosts"] * job["message_mb"]
        assert least_mb * 8 / 1000 / step <= links * SLACK
    alone = pipelined(compute, job, late, hosts=1)
    assert alone == pipelined(compute, job, late, hosts=1, link_gbit_s=1, transport="roce", links=1)
    for better in ({"link_gbit_s": 2 * job["link_gbit_s"]}, {"links": job["links"] + 1}):
        assert pipelined(compute, job, late, **better) <= step * SLACK
    assert pipelined(compute, job, late, intra_host_gb_s=2 * job["intra_host_gb_s"]) <= step * SLACK
    few, many = sorted((hosts, job["hosts"]))
    assert pipelined(compute, job, late, hosts=few) <= pipelined(compute, job, late, hosts=many) * SLACK


# ---- what a host sends


def test_traffic_by_hand() -> None:
    # 16 GPUs: 30 / 16 x 400 MB = 750 MB; 4 hosts: 6 / 4 x 400 MB = 600 MB; steps of 2 s
    job: dict[str, Any] = {"step_s": 2, "hosts": 4, "gpus_per_host": 4}
    assert host_traffic_gbit_s(400, **job) == pytest.approx(3.0)
    assert host_traffic_gbit_s(400, **job, algorithm="hierarchical") == pytest.approx(2.4)
    # each of 4 workers sends 3/4 of 400 MB to other hosts, and the 4 servers here answer 12 workers with 25 MB each
    servers = host_traffic_gbit_s(400, **job, algorithm="parameter-server")
    assert servers == pytest.approx((4 * 300 + 4 * 12 * 25) * 8 / 1000 / 2) == pytest.approx(9.6)
    assert host_traffic_gbit_s(1000, step_s=1, hosts=2) == pytest.approx(8)
    assert host_traffic_gbit_s(0, step_s=1, hosts=2) == 0


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "parameter-server"])
def test_one_host_sends_nothing(algorithm: str) -> None:
    assert host_traffic_gbit_s(5000, step_s=0.1, hosts=1, gpus_per_host=16, algorithm=algorithm) == 0


def sent_between_hosts(messages: Iterable[tuple[int, int, float]], gpus: int, hosts: int) -> list[float]:
    """MB that leave each host; messages are (rank, rank, MB), ranks counted through the hosts."""
    sent = [0.0] * hosts
    for source, target, size in messages:
        if source // gpus != target // gpus:
            sent[source // gpus] += size
    return sent


@given(st.integers(2, 8), st.integers(1, 6), st.floats(1, 2000), st.floats(0.01, 10))
def test_traffic_of_a_ring_and_of_servers_sent_one_by_one(
    hosts: int, gpus: int, gradient: float, step: float
) -> None:
    """Every host sends the same, and receives as much."""
    ranks = hosts * gpus
    sent_by: dict[str, list[tuple[int, int, float]]] = {
        "ring": [
            (rank, (rank + 1) % ranks, gradient / ranks)
            for _ in range(2 * (ranks - 1))
            for rank in range(ranks)
        ],
        "hierarchical": [
            (host * gpus, (host + 1) % hosts * gpus, gradient / hosts)
            for _ in range(2 * (hosts - 1))
            for host in range(hosts)
        ],
        "parameter-server": [
            (*ends, gradient / ranks)
            for pair in itertools.product(range(ranks), repeat=2)
            for ends in (pair, pair[::-1])  # gradients to the server, variables back
        ],
    }
    for algorithm, messages in sent_by.items():
        sent = sent_between_hosts(messages, gpus, hosts)
        received = sent_between_hosts([(b, a, size) for a, b, size in messages], gpus, hosts)
        rate = host_traffic_gbit_s(
            gradient, step_s=step, hosts=hosts, gpus_per_host=gpus, algorithm=algorithm
        )
        assert sent == pytest.approx([rate * step * 1000 / 8] * hosts), algorithm
        assert received == pytest.approx(sent), algorithm


@given(JOBS, st.floats(1, 100))
def test_no_host_sends_more_than_its_link_in_an_allreduce(job: dict[str, Any], factor: float) -> None:
    """Nor in a longer step."""
    job |= {"hosts": max(2, job["hosts"])}
    reduced = allreduce_time_s(**job)
    held = {name: job[name] for name in ("gradient_mb", "hosts", "gpus_per_host", "algorithm")}
    rate = host_traffic_gbit_s(**held, step_s=reduced)
    assert 0 < rate <= 0.95 * job["link_gbit_s"] * SLACK
    if job["transport"] == "tcp":
        assert rate <= job["tcp_gbit_s"] * SLACK
    assert host_traffic_gbit_s(**held, step_s=reduced * factor) == pytest.approx(rate / factor)


@given(COMPUTE, JOBS)
def test_no_host_sends_more_than_its_link_in_a_step(compute: float, job: dict[str, Any]) -> None:
    job |= {"hosts": max(2, job["hosts"])}
    held = {name: job[name] for name in ("gradient_mb", "hosts", "gpus_per_host", "algorithm")}
    assert host_traffic_gbit_s(**held, step_s=training_step_s(compute, **job)) <= job["link_gbit_s"] * SLACK


@given(st.integers(2, 512), st.integers(1, 16), st.floats(1, 10_000))
def test_who_sends_most(hosts: int, gpus: int, gradient: float) -> None:
    """A ring of hosts no more than one of GPUs, and that no more than servers; alike with one GPU in each host."""
    two, flat, servers = (
        host_traffic_gbit_s(gradient, step_s=1, hosts=hosts, gpus_per_host=gpus, algorithm=algorithm)
        for algorithm in ("hierarchical", "ring", "parameter-server")
    )
    assert two <= flat * SLACK
    assert flat <= servers * SLACK
    assert flat < 2 * gradient * 8 / 1000
    if gpus == 1:
        assert two == flat == servers


# ---- hours


def test_scaling_efficiency_is_what_all_gpus_do_over_what_they_would_do_alone() -> None:
    compute, step, gpus, batch = 0.5, 0.625, 16, 64
    together, alone = gpus * batch / step, batch / compute
    assert scaling_efficiency(compute, step_s=step) == pytest.approx(together / (gpus * alone)) == 0.8
    assert scaling_efficiency(0.3, step_s=0.3) == 1


def test_throughput_by_hand() -> None:
    assert training_throughput(4, batch_per_gpu=32, step_s=2) == 64
    # 1024 samples are then done in 16 s
    assert 1024 / training_throughput(4, batch_per_gpu=32, step_s=2) == 3600 * training_time_h(
        1024, epochs=1, gpus=4, batch_per_gpu=32, step_s=2
    )


@pytest.mark.parametrize("field", ["gpus", "batch_per_gpu", "step_s"])
def test_throughput_refuses(field: str) -> None:
    for value in (0, -1):
        refuses(training_throughput, {"gpus": 1, "batch_per_gpu": 1, "step_s": 1, field: value}, field, value)


def test_hours_by_hand() -> None:
    # 1000 samples, 4 GPUs of 32: 7.8, so 8 steps an epoch; 450 epochs are 3600 steps of 2 s
    assert training_time_h(1000, epochs=450, gpus=4, batch_per_gpu=32, step_s=2) == 2
    assert training_time_h(1024, epochs=450, gpus=4, batch_per_gpu=32, step_s=2) == 2
    assert training_time_h(1025, epochs=400, gpus=4, batch_per_gpu=32, step_s=2) == 2
    assert training_time_h(1, epochs=1, gpus=1, batch_per_gpu=1, step_s=3600) == 1


@given(st.integers(1, 10**9), st.floats(0.1, 1000), st.integers(1, 4096), st.integers(1, 4096), COMPUTE)
def test_twice_the_epochs_or_the_step_are_twice_the_hours(
    samples: int, epochs: float, gpus: int, batch: int, step: float
) -> None:
    def hours(epochs: float = epochs, gpus: int = gpus, step: float = step) -> float:
        return training_time_h(samples, epochs=epochs, gpus=gpus, batch_per_gpu=batch, step_s=step)

    assert hours(epochs=2 * epochs) == 2 * hours()
    assert hours(step=2 * step) == 2 * hours()
    assert hours(gpus=gpus + 1) <= hours()
    whole = samples / (gpus * batch) * epochs * step / 3600
    assert whole * (1 - 1e-12) <= hours() <= whole + epochs * step / 3600 * SLACK


def test_a_steady_step_trains_twice_as_fast_on_twice_the_gpus() -> None:
    each = [
        training_time_h(1_048_576, epochs=90, gpus=gpus, batch_per_gpu=64, step_s=0.3) for gpus in (4, 8, 16)
    ]
    assert all(one == 2 * other for one, other in itertools.pairwise(each))


# ---- refused inputs


MODELS: dict[Callable[..., Any], dict[str, Any]] = {
    nccl_allreduce_time_s: {"message_mb": 1.0, "ranks": 2, "bus_gb_s": 1.0},
    allreduce_time_s: GOOD,
    training_step_s: {"compute_s": 1.0, **GOOD},
    parameter_server_step_s: {"compute_s": 1.0, **GOOD, "largest_variable_mb": 10.0},
    host_traffic_gbit_s: {"gradient_mb": 100, "step_s": 1, "hosts": 2, "gpus_per_host": 1},
    scaling_efficiency: {"compute_s": 1.0, "step_s": 1.0},
    efficiency_range: {"efficiency": 0.5, "slower_share": 0.1, "faster_share": 0.1},
    training_throughput: {"gpus": 1, "batch_per_gpu": 1, "step_s": 1},
    training_time_h: {"samples": 1000, "epochs": 1, "gpus": 1, "batch_per_gpu": 1, "step_s": 1},
    tcp_rate_for_speedup_gbit_s: {
        "compute_s": 0.2, "speedup": 2, "gradient_mb": 100, "hosts": 4, "link_gbit_s": 100, "transport": "pvrdma"
    },
    links.tcp_rate_gbit_s: {"link_gbit_s": 10},
    flat(links.delivered_gbit_s): {"link_gbit_s": 10},
    flat(remoting.remote_time_s): {"native_s": 1.0, "sent_mb": 1, "link_gbit_s": 10},
    remoting.remote_slowdown: {"native_s": 1.0, "remote_s": 1.0},
    fabric.oversubscription: {"down_ports": 48, "down_gbit_s": 25, "up_ports": 4, "up_gbit_s": 100},
    fabric.uplinks: {
        "down_ports": 48, "down_gbit_s": 25, "up_gbit_s": 100, "max_oversubscription": 3, "spines": 2
    },
    fabric.host_ports: {"demand_gbit_s": 10, "port_gbit_s": 25, "usable_share": 0.95},
    fabric.pvrdma_ports: {"rdma_demand_gbit_s": 10, "port_gbit_s": 25, "usable_share": 0.95},
    fabric.bandwidth_left: {"links": 4},
}  # fmt: skip
"""Each model with inputs that it takes."""

COUNTS = (
    "hosts",
    "gpus",
    "gpus_per_host",
    "ranks",
    "batch_per_gpu",
    "messages",
    "servers",
    "workers_per_host",
)


@pytest.mark.parametrize("function", MODELS, ids=lambda function: function.__name__)
def test_no_number_is_a_string_or_not_a_number_or_negative(function: Callable[..., Any]) -> None:
    """By its name, with what is allowed; and there is no fraction of a host."""
    good = MODELS[function]
    function(**good)
    for name in numbers_of(inspect.unwrap(function)):
        for value in ("4", math.nan, -1, *((2.5,) if name in COUNTS else ())):
            with pytest.raises(ValueError, match=rf"\b{name} is {re.escape(repr(value))}.* must be "):
                function(**{**good, name: value})


@pytest.mark.parametrize(("field", "value"), [*NETWORK_FAULTS, *SHARE_FAULTS])
def test_a_step_refuses(field: str, value: object) -> None:
    refuses(training_step_s, {"compute_s": 1, **GOOD, field: value}, field, value)


@pytest.mark.parametrize(("field", "value"), [("compute_s", 0), ("compute_s", 2)])
def test_an_efficiency_refuses(field: str, value: object) -> None:
    refuses(scaling_efficiency, {"compute_s": 1, "step_s": 1, field: value}, field, value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("gradient_mb", -1),
        ("step_s", 0),
        ("step_s", -1),
        ("hosts", 0),
        ("gpus_per_host", 0),
        ("algorithm", "tree"),
    ],
)
def test_traffic_refuses(field: str, value: object) -> None:
    good = {"gradient_mb": 100, "step_s": 1, "hosts": 2, "gpus_per_host": 1}
    refuses(host_traffic_gbit_s, {**good, field: value}, field, value)


@pytest.mark.parametrize("field", ["samples", "epochs", "gpus", "batch_per_gpu", "step_s"])
def test_hours_refuse(field: str) -> None:
    good = {"samples": 1000, "epochs": 1, "gpus": 1, "batch_per_gpu": 1, "step_s": 1}
    for value in (0, -1):
        refuses(training_time_h, {**good, field: value}, field, value)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("field", ["compute_s", "gradient_mb", "link_gbit_s", "straggler_share"])
def test_no_result_that_is_not_finite(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"\b{field}( is)? {value}"):
        inputs = {"compute_s": 1, **GOOD, "transport": "roce", field: value}
        training_step_s(inputs.pop("compute_s"), **inputs)


HOSTS = GpuHosts(4, Link(100, "pvrdma"))


def test_at_that_rate_the_step_is_so_many_times_longer() -> None:
    rate = tcp_rate_for_speedup_gbit_s(0.2, speedup=2, gradient_mb=100, over=HOSTS)
    over_tcp = replace(HOSTS, link=Link(100, "tcp", rate))
    slow, fast = (training_step_s(0.2, gradient_mb=100, over=over) for over in (over_tcp, HOSTS))
    assert slow / fast == pytest.approx(2, rel=1e-6)


def test_no_rate_is_slow_enough_for_next_to_no_gradient() -> None:
    assert tcp_rate_for_speedup_gbit_s(0.2, speedup=2, gradient_mb=1e-6, over=HOSTS) == 0


@pytest.mark.parametrize(("speedup", "hosts"), [(1, 4), (2, 1)])
def test_a_claim_needs_two_hosts_and_something_that_is_faster(speedup: float, hosts: int) -> None:
    with pytest.raises(ValueError, match="speedup is"):
        tcp_rate_for_speedup_gbit_s(0.2, speedup=speedup, gradient_mb=100, over=replace(HOSTS, hosts=hosts))
