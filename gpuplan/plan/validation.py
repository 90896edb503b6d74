"""Limits: inputs of a scenario that this catalog and this hardware do not allow, field by field."""

from __future__ import annotations

import difflib
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gpuplan.catalog import Catalog, Item, zone_of
from gpuplan.facts import Value
from gpuplan.locales import written
from gpuplan.models import demand
from gpuplan.models.placement import Request
from gpuplan.plan.hardware import gpus_per_board
from gpuplan.plan.layouts import spare_hosts
from gpuplan.plan.llm import KINDS, uses_model
from gpuplan.plan.over_time.rules import lacks
from gpuplan.plan.prices import PriceList, price_keys
from gpuplan.plan.sharing import mixed_sizes_refused
from gpuplan.plan.training.llm_job import fewest_hosts
from gpuplan.plan.working_week import work_fact
from gpuplan.scenario import (
    MAX_GPUS,
    MAX_VMS,
    PRICE,
    RISKS,
    Group,
    Problem,
    Scenario,
    ScenarioError,
    field_of,
    host_kinds,
    hours_length_h,
    other_vms,
    parse_value,
    show,
    sites_people,
    wrong_values,
)
from gpuplan.units import exact
from gpuplan.wording import amount, verb


def scenario_problems(scenario: Scenario, catalog: Catalog, sized: Callable[[], Scenario]) -> list[Problem]:
    """Find inputs that this catalog and this hardware do not allow; each stage runs only if those before it found none.

    ``sized`` gives the scenario with its language models as VMs, or refuses it.
    """
    if problems := wrong_values(scenario):
        return problems
    if problems := [problem for check in MUST_BE_KNOWN for problem in check(scenario, catalog)]:
        return problems
    problems = [problem for check in MUST_BE_POSSIBLE for problem in check(scenario, catalog)]
    try:
        of_vms = sized()
    except ScenarioError as error:
        problems += error.problems
    return problems or [problem for check in OF_THE_VMS for problem in check(of_vms, catalog)]


def _unknown_ids(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Choices that are no id of their table."""
    works = {row.id: row for row in catalog.rows("network_workloads")}
    use_cases = {row.id: row for row in catalog.rows("use_cases")}
    models = {row.id: row for row in catalog.rows("llm_models")}
    groups = [f"groups.{group.id}" for group in scenario.groups]
    tables: list[tuple[str, str, Mapping[str, Any]]] = [
        ("hardware.gpu", "gpus", catalog.gpus),
        ("platform.vsphere", "vsphere", catalog.vsphere),
        ("hardware.server", "servers", catalog.servers),
        ("training.workload", "network_workloads", works),
        ("training.model", "llm_models", models),
        ("network.leaf", "switches", catalog.switches),
        ("network.spine", "switches", catalog.switches),
        *((f"{group}.workload", "network_workloads", works) for group in groups),
        *((f"{group}.use_case", "use_cases", use_cases) for group in groups),
        *((f"{group}.{name}", "llm_models", models) for group in groups for name in ("model", "reranker")),
    ]
    for path, table, ids in tables:
        value = scenario.get(path)
        if value is not None and value not in ids:
            near = [i for i in ids if value.lower() in i][:3] or _similar(value, ids)
            hint = f"nearest are {', '.join(near)}; " if near else ""
            yield Problem(path, show(value), f"{hint}'gpuplan catalog {table}' lists all {len(ids)}")


def _other_models(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Models that do something else than they are used for."""
    kinds = {row.id: (row["kind"], row["name"]) for row in catalog.rows("llm_models")}
    for group in filter(uses_model, scenario.groups):
        for name, wanted in (("model", KINDS[group.use_case]), ("reranker", "rerank")):
            model = getattr(group, name)
            if model in kinds and kinds[model][0] != wanted:
                does = ", ".join(id for id, (kind, _) in kinds.items() if kind == wanted)
                yield Problem(
                    f"groups.{group.id}.{name}", show(model), f"a model that {DOES[wanted]}: {does}"
                )


DOES = {"generate": "writes text", "embed": "makes embeddings", "rerank": "orders what a search found"}


def _similar(given: str, known: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(given, known, n=3, cutoff=0.3)


def _no_training(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """A training job with a preset that does not train."""
    phases = {row.id: row["phase"] for row in catalog.rows("network_workloads")}
    workload = scenario.training.workload
    if phases.get(workload, "training") != "training":
        trains = ", ".join(i for i, phase in phases.items() if phase == "training")
        yield Problem("training.workload", workload, f"work that trains: {trains}")


def _unknown_origins(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    for path, origin in scenario.origins:
        if origin.source != "scenario":
            yield from _unknown_source(f"origins.{path}", origin.source, catalog)


def _unknown_notes(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    for number, note in enumerate(scenario.notes, 1):
        yield from _unknown_source(f"notes.{number}", note.source, catalog)


def _unknown_source(at: str, source: str, catalog: Catalog) -> Iterator[Problem]:
    if source not in catalog.sources:
        yield Problem(f"{at}.source", show(source), "the id of a row in sources.csv")


def _too_many_gpus_in_a_host(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    most, why = server_gpu_limit(scenario, catalog)
    if most == 0 and scenario.hardware.server:
        yield Problem("hardware.server", catalog.servers[scenario.hardware.server].name, why)
    elif most is not None and scenario.hardware.gpus_per_host > most:
        yield Problem("hardware.gpus_per_host", str(scenario.hardware.gpus_per_host), why)


def _divided_boards(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """GPUs of a host that are no whole number of boards."""
    hardware = scenario.hardware
    hosts = [("gpus_per_host", hardware.gpu, hardware.gpus_per_host)]
    hosts += [
        ("existing", kind.gpu or hardware.gpu, kind.gpus or 0) for kind in host_kinds(hardware.existing)
    ]
    for name, gpu, count in hosts:
        per_board = int(catalog.gpus[gpu].value("gpus_per_board") or 1)
        if count % per_board:
            allowed = (
                f"{catalog.gpus[gpu].name} carries {per_board} GPUs on a board, so a multiple of {per_board}"
            )
            yield Problem(f"hardware.{name}", str(count), allowed)


def _unknown_boards(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Existing hosts with a GPU that the catalog does not have."""
    for kind in host_kinds(scenario.hardware.existing):
        if kind.gpu is not None and kind.gpu not in catalog.gpus:
            near = _similar(kind.gpu, catalog.gpus)
            hint = f"nearest are {', '.join(near)}; " if near else ""
            yield Problem(
                "hardware.existing",
                show(kind.gpu),
                f"{hint}'gpuplan catalog gpus' lists all {len(catalog.gpus)}",
            )


def _uncounted_vms(scenario: Scenario, _catalog: Catalog) -> Iterator[Problem]:
    """VMs without a GPU on hosts whose CPU or memory is not known, or that are too large for them."""
    hardware = scenario.hardware
    for vm in other_vms(hardware.other_vms):
        for need, offered, name, unit in (
            (vm.vcpus, hardware.vcpus_per_host, "vcpus_per_host", "vCPUs"),
            (vm.memory_gib, hardware.memory_gib_per_host, "memory_gib_per_host", "GiB"),
        ):
            if need and not offered:
                allowed = f"state it: each of {vm.name} takes {need} {unit}"
                yield Problem(f"hardware.{name}", "nothing", allowed)
            elif need and offered and need > offered:
                allowed = f"a host gives its VMs {offered} {unit}: at most {offered}"
                yield Problem("hardware.other_vms", f"{vm.name} with {need} {unit}", allowed)


def _refused_mix(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """vGPUs of mixed sizes, where a rule says that this GPU on this version does not have them."""
    rule = scenario.platform.vgpu_sizes == "mixed" and mixed_sizes_refused(scenario, catalog)
    if rule:
        gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
        where = "; ".join(catalog.sources[source].title for source in rule.sources)
        stated = f"mixed sizes with {gpu.name} on {version.name}"
        yield Problem("platform.vgpu_sizes", stated, f"{rule['rule']} ({where})")


def _refused_placement(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Settings of power-on that this version does not have, that this board cannot follow, or that take more than the spare hosts."""
    platform, gpu = scenario.platform, catalog.gpus[scenario.hardware.gpu]
    if platform.drs_consolidation and (since := lacks(platform.vsphere, catalog, "host-consolidate")):
        on, allowed = catalog.vsphere[platform.vsphere].name, f"{catalog.vsphere[since].name} or later has it"
        yield Problem("platform.drs_consolidation", f"yes on {on}", allowed)
    linked = gpu.value("nvlink_gb_s") or gpu.value("nvlink_bridge_gpus")
    if platform.nvlink_groups == "yes" and not linked:
        allowed = f"no source of the catalog says that {gpu.name} has NVLink: auto or no"
        yield Problem("platform.nvlink_groups", "yes", allowed)
    reserved, spare = scenario.availability.reserved_hosts, spare_hosts(scenario)
    if reserved > spare:
        allowed = f"{amount(spare, 'host')} of each cluster {verb(spare, 'are')} spare: at most {spare}"
        yield Problem("availability.reserved_hosts", str(reserved), allowed)


def _group_problems(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    for group in scenario.groups:
        yield from _vm_problems(scenario, group)
        off = group.off_hours_share
        if group.jobs_per_day is None and off is not None and off > group.active_share:
            allowed = f"at most the {show(group.active_share)} that are active within the hours; swap the hours if not"
            yield Problem(f"groups.{group.id}.off_hours_share", show(off), allowed)
        for name, _ in sites_people(group.sites):
            if not zone_of(name, catalog):
                allowed = "a city, a time zone such as Asia/Kolkata, or UTC+5:30; or a larger city in the same time zone"
                yield Problem(f"groups.{group.id}.sites", show(name), allowed)


def _too_large(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """More VMs, or more GPUs, than one design has."""
    vms = {
        g.id: demand.group_vms(_active(scenario, catalog, g), vms_each=g.vms_each) for g in scenario.groups
    }
    if sum(vms.values()) > MAX_VMS:
        largest = max(scenario.groups, key=lambda group: vms[group.id])
        name = "people" if largest.jobs_per_day is None else "jobs_per_day"
        stated, allowed = (
            f"{written(sum(vms.values()), ',')} VMs in all",
            f"at most {written(MAX_VMS, ',')} VMs in one design",
        )
        yield Problem(f"groups.{largest.id}.{name}", stated, allowed)
    gpus = sum(vms[g.id] * exact(g.gpus_each) for g in scenario.groups)
    if gpus > MAX_GPUS:
        yield Problem(
            "groups",
            f"{written(float(gpus), ',.0f')} GPUs in all",
            f"at most {written(MAX_GPUS, ',')} GPUs in one design",
        )


def _price_problems(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Prices of nothing, ranges of no input, a currency without its rate, and a margin beyond every price."""
    keys = price_keys(catalog)
    before = [
        *(
            problem
            for key, price in scenario.prices
            for problem in _unpriced(key, f"prices.{key}", price, keys)
        ),
        *(
            problem
            for path, ends in scenario.ranges
            for problem in _range_problems(scenario, path, ends, keys)
        ),
        *_rate_problems(scenario),
    ]
    yield from before or _margin_problems(scenario, catalog)


def _range_problems(
    scenario: Scenario, path: str, ends: tuple[Any, Any], known: Collection[str]
) -> Iterator[Problem]:
    """A range of no input, or with ends that the input may not have."""
    price = path.startswith("prices.")
    if price:
        yield from _unpriced(path.removeprefix("prices."), f"ranges.{path}", [*ends], known)
    else:
        try:
            scenario.get(path)
        except ScenarioError as error:
            yield from (
                replace(problem, path=f"ranges.{path}", value=show([*ends])) for problem in error.problems
            )
            return
        if field_of(path).kind not in ("int", "number", "share", "gpus"):
            yield Problem(f"ranges.{path}", show([*ends]), "the path of an input that is a number")
            return
    for end in ends:
        try:
            parse_value(field_of(path), end, f"ranges.{path}")
        except ScenarioError as error:
            yield from error.problems


def _rate_problems(scenario: Scenario) -> Iterator[Problem]:
    currency, rate = scenario.cost.currency, scenario.cost.usd_rate
    if currency != "USD" and rate is None:
        question = f"how much {currency} is one US dollar? Prices are in US dollars"
        yield Problem("cost.usd_rate", "nothing", question)
    if currency == "USD" and rate not in (None, 1):
        yield Problem("cost.usd_rate", show(rate), "1 or nothing while the currency is USD")


def _margin_problems(scenario: Scenario, catalog: Catalog) -> list[Problem]:
    """A margin that raises a price above the largest allowed."""
    prices = PriceList(scenario, catalog)
    if not prices.margin:
        return []
    dearest = max(prices.sold().values(), key=lambda price: price.value)
    if dearest.value <= PRICE.high:
        return []
    allowed = f"the customer would pay {written(dearest.value, ',.0f')} for {dearest.key}, and a price is at most {written(PRICE.high, ',.0f')}"
    return [Problem("internal.margin", written(prices.margin, "g"), allowed)]


def _unpriced(key: str, path: str, given: Any, known: Collection[str]) -> Iterator[Problem]:
    """Report a price, or a range of one, whose key prices nothing."""
    if key not in known:
        plain = ", ".join(sorted(k for k in known if "/" not in k))
        near = _similar(key, known)
        hint = f"; nearest are {', '.join(near)}" if near else ""
        allowed = f"what is priced is a catalog item such as gpus/a100-pcie-80gb, or one of {plain}{hint}"
        yield Problem(path, show(given), allowed)


def _active(scenario: Scenario, catalog: Catalog, group: Group) -> int:
    """Requests of a group at once at its peak; of jobs no fewer, as if they had no time to build up."""
    if group.jobs_per_day is None:
        return demand.active_people(group.people, active_share=group.active_share)
    work_h = float(work_fact(scenario, catalog, group).value)
    return math.ceil(group.jobs_per_day / hours_length_h(group.hours) * work_h)


def _demand_problems(scenario: Scenario, _catalog: Catalog) -> Iterator[Problem]:
    """Report questions that the assumption about arrivals cannot answer, and invalid ranges."""
    settings = scenario.demand
    if settings.rule == "stated" and settings.stated_gpus is None and scenario.groups:
        yield Problem(
            "demand.stated_gpus",
            "nothing",
            "state the total that sizes the design, or choose another sizing rule",
        )
    if settings.method == "closed" and settings.rule in RISKS:
        jobs = next((g for g in scenario.groups if g.jobs_per_day is not None), None)
        if jobs:
            allowed = f"{jobs.name} states jobs a day, not a known number of users; choose another setting for Arrivals"
            yield Problem("demand.method", "closed", allowed)
    stated = {name: getattr(settings, name) for name in ("peakedness_low", "peakedness", "peakedness_high")}
    bounds = [(name, value) for name, value in stated.items() if value is not None]
    for (low_name, low), (_, high) in itertools.pairwise(bounds):
        if low > high:
            yield Problem(f"demand.{low_name}", show(low), f"at most the {show(high)} stated above it")


def _cluster_size(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """A cluster of more hosts than the platform allows, or with failover capacity only."""
    path, stated = "availability.hosts_per_cluster", scenario.availability.hosts_per_cluster
    if stated is None:
        return
    most, spare = int(catalog.assumptions["vi-cluster"].fact("max_hosts").value), spare_hosts(scenario)
    version = catalog.vsphere[scenario.platform.vsphere]
    allowed = max(most, int(version.value("max_cluster_hosts") or most))
    if stated > most and scenario.cost.platform_licence == "vcf":
        also = f"; without it {version.name} may have {allowed}" if allowed > most else ""
        yield Problem(
            path,
            str(stated),
            f"VMware Cloud Foundation and vSAN allow a cluster {most} hosts: at most {most}{also}",
        )
    elif stated > allowed:
        yield Problem(
            path, str(stated), f"{version.name} allows a cluster {allowed} hosts: at most {allowed}"
        )
    elif stated <= spare:
        yield Problem(
            path,
            str(stated),
            f"{spare} of them are failover capacity, one more carries demand: at least {spare + 1}",
        )


MUST_BE_KNOWN = (
    _unknown_ids,
    _unknown_boards,
    _no_training,
    _other_models,
    _unknown_origins,
    _price_problems,
    _unknown_notes,
)


def _sums_in_switches(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Sums in switches that do not sum."""
    how, transport = scenario.training.aggregation, scenario.network.transport
    if how == "in-network" and transport != "infiniband":
        allowed = f"only switches of InfiniBand sum, and the transport is {transport}: ring, hierarchical or parameter-server"
        yield Problem("training.aggregation", show(how), allowed)


def _trained_model(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """A language model that the training job cannot train on any of the hosts that a job may have."""
    if scenario.training.model is not None:
        try:
            fewest_hosts(scenario, catalog)
        except ValueError as error:
            yield Problem("training.model", show(scenario.training.model), str(error))


MUST_BE_POSSIBLE = (
    _too_many_gpus_in_a_host,
    _divided_boards,
    _uncounted_vms,
    _refused_mix,
    _refused_placement,
    _sums_in_switches,
    _demand_problems,
    _cluster_size,
    _trained_model,
)
OF_THE_VMS = (_group_problems, _too_large)
"""Checks of the groups of a scenario, in this order; the last runs once models are replicas."""


def _vm_problems(scenario: Scenario, group: Group) -> Iterator[Problem]:
    """Report requests of a group's VM that no host can meet."""
    at, hardware = f"groups.{group.id}", scenario.hardware
    if group.gpus_each > hardware.gpus_per_host:
        allowed = (
            f"all GPUs of one VM are in one host, and a new host has {hardware.gpus_per_host}: at most "
            f"{hardware.gpus_per_host}, or more GPUs per host"
        )
        yield Problem(f"{at}.gpus_each", show(group.gpus_each), allowed)
    if group.vgpus_each > 1 and group.gpus_each > group.vgpus_each:
        allowed = (
            f"a vGPU is at most one GPU, so {written(group.gpus_each, 'g')} GPUs are at least {written(group.gpus_each, 'g')} vGPUs; 1 gives a "
            "vGPU for each whole GPU"
        )
        yield Problem(f"{at}.vgpus_each", str(group.vgpus_each), allowed)
    for field, host, unit in (
        ("vcpus_each", "vcpus_per_host", "vCPUs"),
        ("memory_gib_each", "memory_gib_per_host", "GiB"),
    ):
        need, most = getattr(group, field), getattr(hardware, host)
        if need and most and need > most:
            yield Problem(f"{at}.{field}", str(need), f"a host gives its VMs {most} {unit}: at most {most}")


def request_problems(scenario: Scenario, requests: Mapping[str, Request]) -> list[Problem]:
    """VMs whose vGPUs need more GPUs than a new host has, in any arrangement."""
    per_host = scenario.hardware.gpus_per_host
    problems = []
    for group_id, request in requests.items():
        family = request.family
        if family is None or family.capacity:
            continue
        at = family.profiles.index(request.profile)
        most = max(layout[at] for layout in family.layouts)
        gpus = -(-request.shares // most)
        if gpus > per_host:
            allowed = (
                f"{request.shares} vGPUs {request.profile} take {amount(gpus, 'GPU')} in one host, and a new host has {per_host}; fewer "
                "vGPUs, or more GPUs per host"
            )
            problems.append(Problem(f"groups.{group_id}.vgpus_each", str(request.shares), allowed))
    return problems


def server_gpu_limit(scenario: Scenario, catalog: Catalog) -> tuple[int | None, str]:
    """Most GPUs of this model that this server is known to take (None if not known), and a sentence about it."""
    if scenario.hardware.server is None:
        return None, "no server is chosen"
    server, gpu = catalog.servers[scenario.hardware.server], catalog.gpus[scenario.hardware.gpu]
    form, per_board = str(gpu.value("form_factor") or ""), gpus_per_board(scenario, catalog)
    wanted = scenario.hardware.gpus_per_host
    if form.startswith("SXM"):
        taken = str(server.value("sxm_form_factor") or "").split()
        if taken and form not in taken:
            return 0, f"{gpu.name} is {form}, and of SXM boards {server.name} takes {' or '.join(taken)} only"
        kind, boards = form, server.value("max_gpus_sxm")
    else:
        kind, boards = _slots(server, gpu, wanted / per_board)
    if boards is None:
        return None, f"no source says how many {gpu.name} {server.name} takes"
    most = int(boards) * per_board
    if server.value("gpu_limits") == "lower-bound" and wanted > most:
        return (
            None,
            f"{server.name} is known to hold {most} {kind} GPUs; no source says whether it holds more",
        )
    return most, f"{server.name} holds at most {most} {kind} GPUs of this kind"


def _slots(server: Item, gpu: Item, wanted: float) -> tuple[str, Value | None]:
    """Width of a board, and the server's slots for boards of this width; None if it is not known."""
    width = int(gpu.value("slot_width") or 0)
    narrow, wide = server.value("max_gpus_single_wide"), server.value("max_gpus_double_wide")
    if width == 1:
        # slots for wide boards take as many narrow ones; whether they take more is not known
        enough = wide if wide and wanted <= int(wide) else None
        return "single-wide", enough if narrow is None else narrow
    return ("double-wide", wide) if width == 2 else ("", None)
