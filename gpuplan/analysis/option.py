"""An option: a planned candidate with its cost, reasons for rejection, and points to confirm."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from gpuplan.analysis.candidates import (
    SHARING,
    Candidate,
    kind_of,
    launched,
    left_open,
    maybe_ended,
    unfit,
    view_of,
)
from gpuplan.analysis.variants import Outcome, figure, outcome_of, standing
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.hardware import fit_of
from gpuplan.plan.llm.promises import MISSED
from gpuplan.plan.power import PowerUse
from gpuplan.plan.prices import ANY_HOST, LARGE_HOST, MODULE_HOSTS
from gpuplan.plan.sharing import unconfirmed_on
from gpuplan.scenario import FIELD_BY_PATH, Scenario
from gpuplan.wording import MODE_NAMES, said

HOSTS = (ANY_HOST, LARGE_HOST, *MODULE_HOSTS.values())


@dataclass(frozen=True, slots=True)
class Option:
    """A candidate that was planned. Numbers are None where it cannot be planned."""

    candidate: Candidate
    label: str
    hosts: int | None = None
    hosts_at_end: int | None = None
    """Hosts including later purchases for the growth, which its cost includes."""
    gpus: int | None = None
    total: float | None = None
    net_present: float | None = None
    low: float | None = None
    high: float | None = None
    first: float | None = None
    gpu_hour_used: float | None = None
    waiting_pct: float | None = None
    """Requests that find too few GPUs free in the busiest hours."""
    short_h: float | None = None
    """Expected hours a year in which failures leave users without a GPU."""
    peak_w: float | None = None
    racks: int | None = None
    kept: float | None = None
    """Worst share of native speed kept by a group with remote GPUs; None if there is none."""
    unplaced_vms: int | None = None
    stops: tuple[str, ...] = ()
    checked: bool = True
    """False if a rule by risk has only its answer by formula, which its hosts may not hold."""
    excludes: tuple[str, ...] = ()
    assumed_prices: int | None = None
    old_prices: int | None = None
    reasons: tuple[str, ...] = ()
    unpriced: tuple[str, ...] = ()
    """GPUs, servers and adapters without a price: then its cost cannot be compared with others."""
    powerless: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    confirm: tuple[str, ...] = ()
    """Questions for the maker before an order is signed."""
    maybe_ended: bool = False
    """True if its board is so old that it may no longer be sold."""


def assess(scenario: Scenario, catalog: Catalog, candidate: Candidate, *, same_work: bool = False) -> Option:
    """Plan one candidate and return it as an option.

    For the ``same_work`` a smaller board is fit where enough of it does the work, and a promise that it misses is a reason.
    """
    label, view = candidate.label(catalog), view_of(scenario, candidate)
    if why := unfit(view, catalog, candidate, smaller=same_work):
        other = not candidate.server and candidate.gpu != view.hardware.gpu
        return Option(candidate, catalog.gpus[candidate.gpu].name if other else label, reasons=(why,))
    result = outcome_of(partial(_planned, scenario, catalog, candidate))
    if (plan := result.plan) is None:
        return Option(candidate, label, reasons=tuple(_refused(scenario, result)))
    if same_work and (missed := tuple(late(plan))):
        return Option(candidate, label, reasons=missed)
    missed = tuple(unmet(plan, chosen_for(scenario, candidate)))
    stands = standing(plan, () if missed else None)  # checks take longer than all else here
    counts = {name: getattr(plan.totals, name) for name in ("hosts", "gpus", "unplaced_vms")}
    stand = {name: getattr(stands, name) for name in ("stops", "low", "high", "checked")}
    return Option(
        candidate=candidate,
        label=label,
        waiting_pct=figure(plan, "totals.waiting"),
        short_h=figure(plan, "short_h"),
        kept=figure(plan, "kept"),
        reasons=missed or tuple(m.text for m in check_plan(plan) if m.code in stands.stops),
        modes=tuple(group.mode for group in plan.groups),
        confirm=tuple(_to_confirm(plan, kind_of(candidate))),
        maybe_ended=bool(day := _bought_on(plan)) and maybe_ended(candidate.gpu, catalog, day),
        **counts,
        **stand,
        **_money(plan.costs),
        **_power(plan.power),
    )


def _planned(scenario: Scenario, catalog: Catalog, candidate: Candidate) -> Plan:
    """Return the plan of a candidate; candidates that differ only in their link share everything independent of it."""
    link = scenario.network.link_gbit_s
    on_own_link = _on_own_link(replace(candidate, link_gbit_s=link).apply(scenario, catalog), catalog)
    if candidate.link_gbit_s == link:
        return on_own_link
    return on_own_link.relinked(candidate.apply(scenario, catalog))


@lru_cache(maxsize=2)  # candidates come link after link: without it exploring takes a third longer
def _on_own_link(scenario: Scenario, catalog: Catalog) -> Plan:
    return make_plan(scenario, catalog, check=False)


def _bought_on(plan: Plan) -> str:
    """Return the date of the prices; empty where existing hosts are enough, also for the growth."""
    existing = sum(pool.existing_hosts for pool in plan.pools)
    return plan.costs.as_of if plan.costs and max(plan.costs.hosts) > existing else ""


def _to_confirm(plan: Plan, kind: str) -> Iterator[str]:
    """Yield points to confirm: boards no list shows in a server, few hosts or one processor, old vSphere or boards."""
    hosts = (part.scenario.hardware for part in plan.parts)
    catalog, hardware = plan.catalog, next(each for each in hosts if each.of == kind)
    gpu = catalog.gpus[hardware.gpu]
    day = _bought_on(plan)
    if not day:
        return
    if hardware.server:
        server, fit = catalog.servers[hardware.server], fit_of(catalog, hardware.server, gpu.id)
        if fit is None or fit.basis in ("derived", "assumed"):
            yield said("option.sold with", server=server.name, gpu=gpu.name)
        if server.value("cpu_sockets") == 1:
            yield said("option.one processor", cores=plan.cores.value, gpus=hardware.gpus_per_host)
    least = int(catalog.assumptions["vi-cluster"].fact("min_hosts").value)
    if few := [pool.hosts for pool in plan.pools if pool.hosts < least]:
        yield said("option.few hosts", hosts=min(few), least=least)
    version, launch = catalog.vsphere[plan.scenario.platform.vsphere], launched(gpu.id, catalog)
    if unconfirmed_on(catalog, gpu, version):
        yield said("option.runs on", gpu=gpu.name, year=launch, version=version.name)
    if maybe_ended(gpu.id, catalog, day):
        yield said("option.still sold", gpu=gpu.name, year=launch)


def _money(costs: Costs | None) -> dict[str, Any]:
    if costs is None:
        return {}
    same = ("total", "net_present", "gpu_hour_used", "excludes")
    found = {name: getattr(costs, name) for name in same}
    found |= {"hosts_at_end": costs.hosts[-1], "first": costs.cash[0]}
    found["assumed_prices"] = sum(p.fact.basis == "assumed" for p in costs.prices)
    found["old_prices"] = sum(p.old for p in costs.prices)
    return found | {"unpriced": unpriced(costs)}


def unpriced(costs: Costs | None) -> tuple[str, ...]:
    """Return what every host has and no price is known for: without it the cost of a design says little."""
    every_host = ("gpus/", "servers/", "adapter-")
    unknown = costs.unknown if costs else ()
    return tuple(item.name for item in unknown if item.key.startswith(every_host) or item.key in HOSTS)


def _power(power: PowerUse | None) -> dict[str, Any]:
    if power is None:
        return {}
    return {"peak_w": power.peak_w, "racks": power.racks or None, "powerless": power.unknown_power}


def _input(scenario: Scenario, path: str) -> str:
    return scenario.label(path) if path in FIELD_BY_PATH or path.count(".") == 2 else path


def chosen_for(scenario: Scenario, candidate: Candidate) -> dict[str, str]:
    """Return the groups for which a candidate, not the customer, chooses the mode, with the name of the mode."""
    if candidate.sharing == SHARING[0]:
        return {}
    return {group.id: MODE_NAMES[candidate.sharing] for group in left_open(scenario)}


def unmet(plan: Plan, chosen: Mapping[str, str], *, network: bool = True) -> Iterator[str]:
    """Yield reasons why a design misses a requirement; ``chosen`` has the modes left open by the customer."""
    yield from _without_gpu(plan, chosen)
    if network:
        yield from _slow_over_network(plan)
    yield from _not_to_build(plan)


def _without_gpu(plan: Plan, chosen: Mapping[str, str]) -> Iterator[str]:
    if not plan.pools and not plan.totals.unplaced_vms:
        yield said("option.no workloads")
    for group in plan.groups:
        for missing in group.unplaced:
            why = missing.reason
            if missing.code == "no-mode-possible" and group.id in chosen:
                why = said("option.cannot serve", mode=chosen[group.id])
            yield said("option.no place", group=group.name, vms=missing.vms, why=why)
    lost = plan.totals.unplaced_vms_after_failure - plan.totals.unplaced_vms
    if lost and plan.scenario.availability.host_failures:
        yield said("option.after failure", lost=lost)


def _slow_over_network(plan: Plan) -> Iterator[str]:
    link = plan.scenario.network.link_gbit_s
    for use in plan.network.remote:
        if use.verdict == "bad":
            yield said("option.slow for remote", group=use.name, link=link, kept=use.kept)
    for job in plan.network.training[:-1]:
        if job.verdict == "bad":
            values = {"hosts": job.hosts, "kept": job.efficiency}
            yield said("option.slow for training", group=job.name, link=link, **values)


def _refused(scenario: Scenario, result: Outcome) -> Iterator[str]:
    return (f"{_input(scenario, p.path)} {p.value}: {p.message}" for p in result.problems)


def late(plan: Plan) -> Iterator[str]:
    """Yield the promises to users of language models that the hardware cannot keep, with the nearest that it can."""
    for serving in plan.llm.serving.values():
        for target in serving.targets:
            if target.standing == MISSED:
                values = {"asked": target.asked, "nearest": target.planned}
                yield said(f"option.missed {target.name}", group=serving.name, **values)


def _not_to_build(plan: Plan) -> Iterator[str]:
    """Yield obstacles to a build: a host that no rack takes, or a GPU that no source says can be shared."""
    if plan.power is not None and not plan.power.racks:
        given = plan.lines["power.hosts_per_rack"].given
        kw, limit = round(float(given["host_w"].value) / 1000, 1), given["rack_kw"].value
        yield said("option.rack", kw=kw, limit=limit)
    for part in plan.parts:
        gpu = plan.catalog.gpus[part.scenario.hardware.gpu]
        if gpu.value("vgpu_compute") != "yes" and any(group.mode in ("vgpu", "mig") for group in part.groups):
            yield said("option.not shared", gpu=gpu.name)
