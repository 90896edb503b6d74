"""The network of a plan as plain data and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpuplan.analysis.rdma_claims import CLAIMED_GBIT_S, claims
from gpuplan.facts import Fact
from gpuplan.locales import spoken, written
from gpuplan.plan import Plan
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.network import carried
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.llm_job import job_curves
from gpuplan.plan.training.speed import many_tcp_rate, round_trip, tcp_rate
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.plan_data import as_json, fields_of
from gpuplan.report.tables import network
from gpuplan.report.tables.network import curve_network, network_name
from gpuplan.report.text import Content, chapter, page
from gpuplan.wording import AGGREGATION_NAMES, amount, basis_word, number, percent


def network_dict(plan: Plan) -> dict[str, Any]:
    """Return the network of a plan as plain JSON values, all finite.

    Keys ``link``, ``remote``, ``training``, ``rules``, ``carried``, ``scaling`` (a row for each number of
    hosts), ``claims`` and ``cabling``.
    """
    scenario, catalog, inputs = plan.scenario, plan.catalog, plan.scenario.network
    trip, tcp = round_trip(scenario, catalog), tcp_rate(scenario, catalog)
    return as_json(
        link={name: getattr(inputs, name) for name in ("link_gbit_s", "transport", "mtu_bytes")}
        | {"round_trip_us": trip.value, "round_trip_basis": trip.basis, "tcp_gbit_s": tcp.value}
        | {"tcp_low_gbit_s": tcp.low, "tcp_high_gbit_s": tcp.high, "tcp_basis": tcp.basis},
        remote=[fields_of(use) | {"slowdown": 1 / use.kept} for use in plan.network.remote],
        training=plan.network.training,
        rules=plan.network.rules,
        carried=carried(scenario, catalog),
        scaling=[
            {"link_gbit_s": curve.link_gbit_s, "transport": curve.transport}
            | {"network": curve_network(curve), "aggregation": curve.aggregation}
            | {"links": curve.links, "chosen": curve.chosen}
            | fields_of(step)
            for curve in job_curves(scenario, catalog)
            for step in curve.steps
        ],
        claims=claims(scenario, catalog),
        cabling=plan.cabling,
    )


@spoken
def network_text(plan: Plan) -> str:
    """Return the network of a plan as text for a terminal."""
    scenario, catalog = plan.scenario, plan.catalog
    jobs, hosts = plan.network.asked, max(2, scenario.training.hosts)
    job = plan.network.training[-1]
    how = job.spread or AGGREGATION_NAMES[scenario.training.aggregation]
    scaling = "Scaling of" if plan.network.job_named else "Example (no job entered): scaling of"
    return page(
        scenario.name,
        _link(plan),
        _remote(plan),
        network.rules(plan),
        network.carried_work(carried(scenario, catalog), hosts),
        chapter(network.training(plan).without("work", "basis"), *map(_job, jobs)),
        chapter(
            network.scaling(job_curves(scenario, catalog)), title=f"{scaling} {job.workload_name}, {how}"
        ),
        chapter(
            network.vendor_claims(claims(scenario, catalog)),
            _claimed(tcp_rate(scenario, catalog, CLAIMED_GBIT_S)),
        ),
        _fabric(plan.cabling),
    )


def _link(plan: Plan) -> str:
    scenario, catalog, inputs = plan.scenario, plan.catalog, plan.scenario.network
    trip, tcp = round_trip(scenario, catalog), tcp_rate(scenario, catalog)
    many = many_tcp_rate(scenario, catalog)
    more = "" if many == tcp else f", and {amount(many.value, many.unit)} over many connections"
    guess = "; it is not measured, so the plan uses the recommended maximum"
    return (
        f"{network_name(inputs.link_gbit_s, inputs.transport)}, MTU {inputs.mtu_bytes}. Round trip {_fact(trip)}"
        f"{guess if inputs.latency_us is None else ''}. A host moves {_fact(tcp)} over TCP{more}, if its link is as fast."
    )


def _fact(fact: Fact) -> str:
    """Return a value with its range and basis."""
    has_range = fact.low is not None and fact.high is not None
    spread = f", {written(fact.low, 'g')} to {written(fact.high, 'g')}" if has_range else ""
    return f"{amount(fact.value, fact.unit)} ({basis_word(fact.basis)}{spread})"


def _remote(plan: Plan) -> str:
    table = network.remote_gpus(plan).without("work")
    if not table.rows:
        none = "No GPU is reached over the network: vGPU, MIG and passthrough are in the VM's own host."
        return chapter(table.title, none)
    return chapter(table, *map(_work, plan.network.remote))


def _work(use: RemoteUse) -> str:
    usual = "" if use.chosen else " (usual for this workload)"
    return f"{use.name}: {use.workload_name}{usual}; speed of the GPU {use.speed}{_would_help(use.changes)}"


def _would_help(changes: Sequence[str]) -> str:
    return f". What would change it: {'; '.join(changes)}." if changes else "."


def _job(use: TrainingUse) -> str:
    speed = f"{number(round(use.one_gpu_per_s))} {use.unit}/s on one GPU, {use.speed}"
    if use.per_gpu and use.mfu and use.memory_gib:
        low, middle, high = (number(round(end)) for end in use.per_gpu)
        speed = (
            f"{use.spread}; {middle} tokens/s a GPU ({low} to {high}), {number(round(use.one_gpu_per_s))} on one host with memory "
            f"enough, {use.speed}; MFU {percent(use.mfu)}, {use.memory_gib:.0f} GiB on each GPU"
        )
    return (
        f"{use.name}: {use.workload_name}, {speed}; a step of "
        f"{written(use.compute_s, '.3f')} s takes {written(use.step_s, '.3f')} s; a host moves {written(use.needs_gbit_s, '.1f')} Gbit/s on average; "
        f"{basis_word(use.basis)}{_would_help(use.changes)}"
    )


def _claimed(tcp: Fact) -> str:
    return (
        f"The claim names neither model nor batch size. On 100 Gbit/s with {amount(tcp.value, tcp.unit)} over TCP this applies where the "
        "speed-up is 2 or more; the last column is the TCP rate at which it would be 2."
    )


def _fabric(fabric: Cabling | None) -> Iterator[Content]:
    """Yield the switches and cables, the settings, and the capacity that remains when a part fails."""
    if fabric is None:
        yield chapter("Fabric", "No GPU hosts, so no fabric.")
        return
    yield chapter(network.cabling(fabric), title="Fabric")
    yield chapter("Settings", *(f"{setting.where}: {setting.what}" for setting in fabric.settings))
    yield network.part_failures(fabric)
