"""Training with parameter servers: steps by hand, variables laid out one by one, and refused inputs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from network_jobs import COMPUTE, GOOD, NETWORK_FAULTS, SHARE_FAULTS, SLACK, flat, jobs_with_servers, refuses

from gpuplan.models.network import parameter_servers
from gpuplan.models.network.training import host_traffic_gbit_s

parameter_server_step_s = flat(parameter_servers.parameter_server_step_s)


def test_a_step_with_parameter_servers_by_hand() -> None:
    job = {
        "gradient_mb": 500, "largest_variable_mb": 100, "hosts": 4, "gpus_per_host": 2, "link_gbit_s": 40,
        "transport": "roce", "usable_share": 1, "server_gbit_s": 1000, "intra_host_gb_s": 10,
    }  # fmt: skip

    def step(exposed: float = 1, overlap: float = 0, straggler: float = 0, **other: Any) -> float:
        shares = {"exposed_share": exposed, "overlap_share": overlap, "straggler_share": straggler}
        return parameter_server_step_s(0.5, **{**job, **other}, **shares)

    # 8 workers, 8 servers: the busiest moves 8 x (100 + 400 / 8) MB = 1200 MB over 5 GB/s; but into each host come
    # 2 x 500 MB x 3/4 for its workers and as much for its servers, 1500 MB
    assert step() == pytest.approx(0.8)
    assert step(exposed=0.1, overlap=0.4) == pytest.approx(0.6)
    assert step(exposed=0.5, overlap=0.4) == pytest.approx(0.65)
    assert step(straggler=0.01) == pytest.approx(0.815)
    assert step(servers=2) == pytest.approx(0.5 + 8 * 300 / 5000)
    # a server that moves 8 Gbit/s: 1200 MB over 1 GB/s
    assert step(server_gbit_s=8) == pytest.approx(1.7)
    # one worker for the two GPUs of a host: 500 MB inside over 10 GB/s, then 4 x (100 + 400 / 4) MB over 5 GB/s
    assert step(workers_per_host=1) == pytest.approx(0.5 + 0.05 + 0.16)
    # in parts: 2 x 500 MB over 5 GB/s beside the 0.05 s inside; no variable lies on one server, none is slow
    parts = {"workers_per_host": 1, "partitioned": True, "server_gbit_s": 1}
    assert step(**parts, beside_share=0) == pytest.approx(0.5 + 0.2)
    assert step(**parts, beside_share=1) == pytest.approx(0.5 + 0.25)
    assert step(**parts, beside_share=1, link_gbit_s=400) == pytest.approx(0.5 + 0.02 + 0.05)
    assert step(**parts, hosts=1) == pytest.approx(0.5 + 0.05), "one host sums inside"


@given(st.integers(2, 64), st.floats(1, 1000), st.floats(0.01, 1))
def test_a_single_server_moves_the_gradient_for_every_worker(
    hosts: int, gradient: float, largest: float
) -> None:
    step = parameter_server_step_s(
        1, gradient_mb=gradient, largest_variable_mb=gradient * largest, hosts=hosts, servers=1, link_gbit_s=8,
        transport="roce", usable_share=1, server_gbit_s=1000, exposed_share=1, overlap_share=0, straggler_share=0,
    )  # fmt: skip
    assert step - 1 == pytest.approx(hosts * gradient / 1000)


@given(st.lists(st.floats(0.1, 500), min_size=1, max_size=60), st.integers(1, 12))
def test_the_busiest_server_holds_no_less_than_when_variables_are_laid_out_one_by_one(
    variables: list[float], servers: int
) -> None:
    """Each variable in turn to the server that has least: the model is the bound on it, and exact at its edges."""
    held = [0.0] * servers
    for size in variables:
        held[held.index(min(held))] += size
    gradient, largest, hosts = sum(variables), max(variables), 64
    step = parameter_server_step_s(
        1, gradient_mb=gradient, largest_variable_mb=largest, hosts=hosts, servers=servers, link_gbit_s=8,
        transport="roce", usable_share=1, server_gbit_s=1000, exposed_share=1, overlap_share=0, straggler_share=0,
    )  # fmt: skip
    busiest = (step - 1) * 1000 / hosts
    assert max(held) <= busiest * (1 + 1e-9)
    assert busiest <= largest + gradient / servers + 1e-6
    if servers == 1 or len(variables) == 1:
        assert busiest == pytest.approx(max(held))


@given(COMPUTE, jobs_with_servers(), st.integers(1, 1000))
def test_more_servers_and_smaller_variables_are_never_slower(
    compute: float, job: dict[str, Any], servers: int
) -> None:
    few, many = sorted((servers, job["servers"] or 1))
    step = parameter_server_step_s(compute, **{**job, "servers": few})
    assert parameter_server_step_s(compute, **{**job, "servers": many}) <= step * SLACK
    finer = {**job, "servers": few, "largest_variable_mb": job["largest_variable_mb"] / 2}
    assert parameter_server_step_s(compute, **finer) <= step * SLACK


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *NETWORK_FAULTS,
        *SHARE_FAULTS,
        ("workers_per_host", 0),
        ("workers_per_host", 5),
        ("servers", 0),
        ("largest_variable_mb", 0),
        ("largest_variable_mb", 100.5),
        ("server_gbit_s", 0),
    ],
)
def test_a_step_with_servers_refuses(field: str, value: object) -> None:
    inputs = {"compute_s": 1, **GOOD, "largest_variable_mb": 10, field: value}
    refuses(parameter_server_step_s, inputs, field, value)


@given(COMPUTE, jobs_with_servers(), st.integers(2, 16), st.floats(0.001, 0.01))
def test_a_host_receives_the_variables_of_its_workers_over_its_own_link(
    compute: float, job: dict[str, Any], hosts: int, largest: float
) -> None:
    """Every worker reads all variables in a step; with equal hosts (h - 1) / h of them come from other hosts."""
    job |= {"hosts": hosts, "largest_variable_mb": job["gradient_mb"] * largest}
    shares = {"exposed_share": 1, "overlap_share": 0, "straggler_share": 0}
    job |= {"transport": "roce", "usable_share": 1, "mtu_bytes": 9000, "intra_host_gb_s": 1e12, **shares}
    step = parameter_server_step_s(compute, **job)
    each = job["workers_per_host"] or job["gpus_per_host"]
    arrives_mb = each * job["gradient_mb"] * (job["hosts"] - 1) / job["hosts"]
    assert (step - compute) * (1 + 1e-6) + 1e-9 >= arrives_mb * 8 / 1000 / job["link_gbit_s"]


@given(COMPUTE, jobs_with_servers(), st.integers(2, 64))
def test_no_host_moves_more_than_its_link_in_a_step(compute: float, job: dict[str, Any], hosts: int) -> None:
    """What the workers of a host send and read, and in parts what servers beside them do too, however much of it hides."""
    job |= {"hosts": hosts}
    step = parameter_server_step_s(compute, **job)
    workers = job["workers_per_host"] or job["gpus_per_host"]
    moved_mb = 2 * workers * job["gradient_mb"] * (1 if job["partitioned"] else (hosts - 1) / hosts)
    assert moved_mb * 8 / 1000 / step <= job["link_gbit_s"] * SLACK
    if not job["partitioned"] and workers == job["gpus_per_host"]:
        sent = host_traffic_gbit_s(
            job["gradient_mb"], step_s=step, hosts=hosts, gpus_per_host=workers, algorithm="parameter-server"
        )
        assert sent <= job["link_gbit_s"] * SLACK
