"""The network of a plan as plain data and as text."""

from collections.abc import Iterator, Sequence
from typing import Any

from gpuplan.analysis.rdma_claims import CLAIMED_GBIT_S, claims
from gpuplan.facts import Fact
from gpuplan.locales import spoken
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
from gpuplan.wording import AGGREGATION_NAMES, amount, basis_word, said


def network_dict(plan: Plan) -> dict[str, Any]:
    """Return the network of a plan as plain JSON values, all finite; ``scaling`` by number of hosts."""
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
    job, claimed = plan.network.training[-1], tcp_rate(scenario, catalog, CLAIMED_GBIT_S)
    how = job.spread or AGGREGATION_NAMES[scenario.training.aggregation]
    scaling = "network.scaling of" if plan.network.job_named else "network.scaling of an example"
    title, rate = said(scaling, work=job.workload_name, how=how), amount(claimed.value, claimed.unit)
    return page(
        scenario.name,
        _link(plan),
        _remote(plan),
        network.rules(plan),
        network.carried_work(carried(scenario, catalog), hosts),
        chapter(network.training(plan).without("work", "basis"), *map(_job, jobs)),
        chapter(network.scaling(job_curves(scenario, catalog)), title=title),
        chapter(network.vendor_claims(claims(scenario, catalog)), said("network.claimed", tcp=rate)),
        _fabric(plan.cabling),
    )


def _link(plan: Plan) -> str:
    scenario, catalog, inputs = plan.scenario, plan.catalog, plan.scenario.network
    trip, tcp = round_trip(scenario, catalog), tcp_rate(scenario, catalog)
    many = many_tcp_rate(scenario, catalog)
    network = network_name(inputs.link_gbit_s, inputs.transport)
    trip_key = "network.round trip assumed" if inputs.latency_us is None else "network.round trip"
    tcp_key = "network.tcp" if many == tcp else "network.tcp of many"
    link = said("network.link in short", network=network, mtu=inputs.mtu_bytes)
    rate = said(tcp_key, tcp=_fact(tcp), many=amount(many.value, many.unit))
    return " ".join((link, said(trip_key, trip=_fact(trip)), rate))


def _fact(fact: Fact) -> str:
    key = "network.fact" if fact.low is None or fact.high is None else "network.fact with range"
    return said(key, value=amount(fact.value, fact.unit), basis=basis_word(fact.basis), fact=fact)


def _remote(plan: Plan) -> str:
    table = network.remote_gpus(plan).without("work")
    if not table.rows:
        return chapter(table.title, said("network.no remote here"))
    return chapter(table, *map(_work, plan.network.remote))


def _work(use: RemoteUse) -> str:
    key = "network.remote work" if use.chosen else "network.remote work as usual"
    return _with_changes(said(key, use=use), use.changes)


def _with_changes(sentence: str, changes: Sequence[str]) -> str:
    return f"{sentence} {said('network.would help', changes='; '.join(changes))}" if changes else sentence


def _job(use: TrainingUse) -> str:
    key = "network.job of a model" if use.per_gpu and use.mfu and use.memory_gib else "network.job"
    return _with_changes(said(key, use=use), use.changes)


def _fabric(fabric: Cabling | None) -> Iterator[Content]:
    if fabric is None:
        yield chapter(said("network.fabric"), said("network.no fabric"))
        return
    yield chapter(network.cabling(fabric), title=said("network.fabric"))
    settings = (said("network.setting", setting=setting) for setting in fabric.settings)
    yield chapter(said("network.fabric settings"), *settings)
    yield network.part_failures(fabric)
