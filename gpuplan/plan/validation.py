"""Limits: inputs of a scenario that this catalog and this hardware do not allow, field by field."""

import difflib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog, Item, zone_of
from gpuplan.facts import SCENARIO_SOURCE, Value
from gpuplan.locales import written
from gpuplan.models import demand
from gpuplan.models.placement import Request, Room
from gpuplan.plan.hardware import gpus_of_board, known_takers, maker_of
from gpuplan.plan.llm import KINDS, TUNING, uses_model
from gpuplan.plan.over_time.rules import lacks
from gpuplan.plan.prices import PriceList, is_priced, price_keys
from gpuplan.plan.requests import kind_room, placed_most, room_of, spare_hosts, too_large
from gpuplan.plan.sharing import mixed_sizes_refused
from gpuplan.plan.training.llm_job import fewest_hosts
from gpuplan.plan.working_week import work_fact
from gpuplan.scenario import (
    KINDS_PATH,
    MAX_GPUS,
    MAX_VMS,
    OTHER_VMS,
    PRICE,
    RISKS,
    Group,
    Problem,
    Scenario,
    ScenarioError,
    field_of,
    host_kinds,
    hours_length_h,
    new_hosts,
    other_vms,
    parse_value,
    problem,
    show,
    sites_people,
    slug,
    wrong_values,
)
from gpuplan.units import exact
from gpuplan.wording import NAMES, said


def scenario_problems(scenario: Scenario, catalog: Catalog, sized: Callable[[], Scenario]) -> list[Problem]:
    """Find inputs that this catalog and this hardware do not allow; each stage runs only if those before it found none.

    ``sized`` gives the scenario with its language models as VMs, or refuses it.
    """
    if problems := wrong_values(scenario):
        return problems
    if problems := [wrong for check in MUST_BE_KNOWN for wrong in check(scenario, catalog)]:
        return problems
    problems = [wrong for check in MUST_BE_POSSIBLE for wrong in check(scenario, catalog)]
    try:
        of_vms = sized()
    except ScenarioError as error:
        problems += error.problems
    return problems or [wrong for check in OF_THE_VMS for wrong in check(of_vms, catalog)]


def _unknown_ids(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    works, use_cases, models = (
        {row.id: row for row in catalog.rows(table)}
        for table in ("network_workloads", "use_cases", "llm_models")
    )
    groups = [f"groups.{group.id}" for group in scenario.groups]
    tables: list[tuple[str, str, Mapping[str, Any]]] = [
        ("hardware.gpu", "gpus", catalog.gpus),
        ("platform.vsphere", "vsphere", catalog.vsphere),
        ("hardware.server", "servers", catalog.servers),
        ("training.workload", "network_workloads", works),
        ("training.model", "llm_models", models),
        *((f"network.{switch}", "switches", catalog.switches) for switch in ("leaf", "spine")),
        *((f"{group}.workload", "network_workloads", works) for group in groups),
        *((f"{group}.use_case", "use_cases", use_cases) for group in groups),
        *((f"{group}.{name}", "llm_models", models) for group in groups for name in ("model", "reranker")),
    ]
    for path, table, ids in tables:
        value = scenario.get(path)
        if value is not None and value not in ids:
            near = [i for i in ids if value.lower() in i][:3] or _similar(value, ids)
            yield _unlisted(path, value, near, table, len(ids))


def _unknown_limits(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Boards and makers of servers allowed that the catalog does not have."""
    limits, makers = scenario.limits, sorted({*filter(None, map(maker_of, catalog.servers.values()))})
    for board in limits.names("boards"):
        if board not in catalog.gpus:
            yield _unlisted("limits.boards", board, _similar(board, catalog.gpus), "gpus", len(catalog.gpus))
    for maker in limits.names("vendors"):
        if maker.casefold() not in (known.casefold() for known in makers):
            yield problem("limits.vendors", show(maker), "limit.unlisted maker", names=", ".join(makers))


def _unlisted(path: str, value: str, near: Sequence[str], table: str, many: int) -> Problem:
    """A choice that is no id of its table, with the nearest ones."""
    key = "limit.unlisted near" if near else "limit.unlisted"
    return problem(path, show(value), key, near=", ".join(near), table=table, many=many)


def _unknown_kinds(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Kinds of hosts with boards or servers that the catalog does not have, and groups on kinds that there are not."""
    kinds = new_hosts(scenario.hardware.kinds)
    for value, table in (
        (value, table) for kind in kinds for value, table in ((kind.gpu, "gpus"), (kind.server, "servers"))
    ):
        ids = catalog.items(table)
        if value is not None and value not in ids:
            yield _unlisted(KINDS_PATH, value, _similar(value, ids), table, len(ids))
    names = [kind.name for kind in kinds]
    for group in scenario.groups:
        if group.hosts and group.hosts not in (*names, scenario.hardware.of):
            key = "limit.no kind" if names else "limit.no kinds"
            yield problem(f"groups.{group.id}.hosts", show(group.hosts), key, names=", ".join(names))
    known = ["", *map(slug, names)]
    for key, _ in scenario.prices if names else ():
        if key.partition("@")[2] not in known:
            yield problem(f"prices.{key}", show(key), "limit.price of no kind", names=", ".join(known[1:]))


def kinds_problems(scenario: Scenario, catalog: Catalog) -> list[Problem]:
    """Inputs that several kinds of hosts do not allow together."""
    if wrong := [*wrong_values(scenario), *_unknown_kinds(scenario, catalog)]:
        return wrong
    if all(group.hosts for group in scenario.groups):
        return [problem(KINDS_PATH, scenario.hardware.kinds, "limit.first kind unused")]
    if scenario.demand.rule == "stated":
        return [problem("demand.rule", "stated", "limit.total of kinds")]
    return []


def _other_models(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Models that do something else than they are used for, and work that may not be stopped while people wait."""
    groups = list(filter(uses_model, scenario.groups))
    kinds = {row.id: (row["kind"], row["name"]) for row in catalog.rows("llm_models") if groups}
    for group in groups:
        for name, wanted in (("model", KINDS[group.use_case]), ("reranker", "rerank")):
            model = getattr(group, name)
            if model in kinds and kinds[model][0] != wanted:
                ids = ", ".join(id for id, (kind, _) in kinds.items() if kind == wanted)
                path, does = f"groups.{group.id}.{name}", DOES[wanted]
                yield problem(path, show(model), "limit.other work", does=does, ids=ids)
        if group.preemptible and group.use_case != TUNING:
            yield problem(f"groups.{group.id}.preemptible", "true", "limit.preemptible")


DOES = NAMES["work of a model"]


def _similar(given: str, known: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(given, known, n=3, cutoff=0.3)


def _no_training(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    phases = {row.id: row["phase"] for row in catalog.rows("network_workloads")}
    workload = scenario.training.workload
    if phases.get(workload, "training") != "training":
        trains = ", ".join(i for i, phase in phases.items() if phase == "training")
        yield problem("training.workload", workload, "limit.no training", ids=trains)


def _unknown_sources(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    cited = [
        (f"origins.{path}", origin.source)
        for path, origin in scenario.origins
        if origin.source != SCENARIO_SOURCE
    ]
    cited += [(f"notes.{number}", note.source) for number, note in enumerate(scenario.notes, 1)]
    for at, source in cited:
        if source not in catalog.sources:
            yield problem(f"{at}.source", show(source), "limit.source")


def _too_many_gpus_in_a_host(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    most, why = server_gpu_limit(scenario, catalog)
    if most == 0 and scenario.hardware.server:
        known = known_takers(scenario, catalog)
        yield Problem("hardware.server", catalog.servers[scenario.hardware.server].name, f"{why}{known}")
    elif most is not None and scenario.hardware.gpus_per_host > most:
        yield Problem("hardware.gpus_per_host", str(scenario.hardware.gpus_per_host), why)


def _divided_boards(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    hardware = scenario.hardware
    hosts = [("gpus_per_host", hardware.gpu, hardware.gpus_per_host)]
    hosts += [
        ("existing", kind.gpu or hardware.gpu, kind.gpus or 0) for kind in host_kinds(hardware.existing)
    ]
    for name, gpu, count in hosts:
        per_board = gpus_of_board(catalog.gpus[gpu])
        if count % per_board:
            board = catalog.gpus[gpu].name
            yield problem(f"hardware.{name}", count, "limit.boards", gpu=board, each=per_board)


def _unknown_boards(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    for kind in host_kinds(scenario.hardware.existing):
        if kind.gpu is not None and kind.gpu not in catalog.gpus:
            near = _similar(kind.gpu, catalog.gpus)
            yield _unlisted("hardware.existing", kind.gpu, near, "gpus", len(catalog.gpus))


def _large_vms(scenario: Scenario, _catalog: Catalog) -> Iterator[Problem]:
    """VMs without a GPU that are too large for every host."""
    hardware, hosts = scenario.hardware, _hosts(scenario)
    for vm in other_vms(hardware.other_vms):
        for need, offered, unit in (
            (vm.vcpus, hardware.vcpus_per_host, "vCPUs"),
            (vm.memory_gib, hardware.memory_gib_per_host, "GiB"),
        ):
            most = max(room.vcpus if unit == "vCPUs" else room.memory_gib for room in hosts)
            if need and offered and need > most:
                vms = said("limit.vm needs", name=vm.name, need=need, unit=unit)
                yield problem("hardware.other_vms", vms, "limit.a host gives", most=most, unit=unit)


def _refused_mix(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """vGPUs of mixed sizes, where a rule says that this GPU on this version does not have them."""
    rule = scenario.platform.vgpu_sizes == "mixed" and mixed_sizes_refused(scenario, catalog)
    if rule:
        gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
        where = "; ".join(catalog.sources[source].title for source in rule.sources)
        stated = said("limit.mixed sizes", gpu=gpu.name, version=version.name)
        yield Problem("platform.vgpu_sizes", stated, f"{rule['rule']} ({where})")


def _refused_placement(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Settings of power-on that this version does not have, that this board cannot follow, or that take more than the spare hosts."""
    platform, gpu = scenario.platform, catalog.gpus[scenario.hardware.gpu]
    if platform.drs_consolidation and (since := lacks(platform.vsphere, catalog, "host-consolidate")):
        on = said("limit.on version", version=catalog.vsphere[platform.vsphere].name)
        yield problem("platform.drs_consolidation", on, "limit.since", version=catalog.vsphere[since].name)
    linked = gpu.value("nvlink_gb_s") or gpu.value("nvlink_bridge_gpus")
    if platform.nvlink_groups == "yes" and not linked:
        yield problem("platform.nvlink_groups", "yes", "limit.no nvlink", gpu=gpu.name)
    reserved, spare = scenario.availability.reserved_hosts, spare_hosts(scenario)
    if reserved > spare:
        yield problem("availability.reserved_hosts", reserved, "limit.spare hosts", spare=spare)


def _group_problems(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    for group in scenario.groups:
        yield from _vm_problems(scenario, group)
        off = group.off_hours_share
        if group.jobs_per_day is None and off is not None and off > group.active_share:
            share = show(group.active_share)
            yield problem(f"groups.{group.id}.off_hours_share", off, "limit.off hours", share=share)
        for name, _ in sites_people(group.sites):
            if not zone_of(name, catalog):
                yield problem(f"groups.{group.id}.sites", show(name), "limit.site")


def too_many(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """More VMs, or more GPUs, than one design has."""
    vms = {
        g.id: demand.group_vms(
            _active(scenario, catalog, g), vms_each=g.vms_each, reserved_vms=g.reserved_vms or 0
        )
        for g in scenario.groups
    }
    if sum(vms.values()) > MAX_VMS:
        largest = max(scenario.groups, key=lambda group: vms[group.id])
        name = "people" if largest.jobs_per_day is None else "jobs_per_day"
        stated = said("limit.vms in all", many=written(sum(vms.values()), ","))
        yield problem(f"groups.{largest.id}.{name}", stated, "limit.vms", most=written(MAX_VMS, ","))
    gpus = sum(vms[g.id] * exact(g.gpus_each) for g in scenario.groups)
    if gpus > MAX_GPUS:
        stated = said("limit.gpus in all", many=written(float(gpus), ",.0f"))
        yield problem("groups", stated, "limit.gpus", most=written(MAX_GPUS, ","))


def _price_problems(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """Prices of nothing, ranges of no input, a currency without its rate, and a margin beyond every price."""
    before: list[Problem] = []
    for key, price in scenario.prices:
        before += _unpriced(key, f"prices.{key}", price, catalog)
    for key, day in scenario.valid_until:
        if key not in dict(scenario.prices):
            before.append(problem(f"valid_until.{key}", day, "limit.no stated price", key=key))
    for path, ends in scenario.ranges:
        before += _range_problems(scenario, path, ends, catalog)
    yield from [*before, *_rate_problems(scenario)] or _margin_problems(scenario, catalog)


def _range_problems(
    scenario: Scenario, path: str, ends: tuple[Any, Any], catalog: Catalog
) -> Iterator[Problem]:
    """A range of no input, or with ends that the input may not have."""
    price = path.startswith("prices.")
    if price:
        yield from _unpriced(path.removeprefix("prices."), f"ranges.{path}", [*ends], catalog)
    else:
        try:
            scenario.get(path)
        except ScenarioError as error:
            yield from (
                replace(wrong, path=f"ranges.{path}", value=show([*ends])) for wrong in error.problems
            )
            return
        if field_of(path).kind not in ("int", "number", "share", "gpus"):
            yield problem(f"ranges.{path}", show([*ends]), "limit.no number")
            return
    for end in ends:
        try:
            parse_value(field_of(path), end, f"ranges.{path}")
        except ScenarioError as error:
            yield from error.problems


def _rate_problems(scenario: Scenario) -> Iterator[Problem]:
    currency, rate = scenario.cost.currency, scenario.cost.usd_rate
    if currency != "USD" and rate is None:
        yield problem("cost.usd_rate", None, "limit.no rate", currency=currency)
    if currency == "USD" and rate not in (None, 1):
        yield problem("cost.usd_rate", rate, "limit.rate of one")


def _margin_problems(scenario: Scenario, catalog: Catalog) -> list[Problem]:
    """A margin that raises a price above the largest allowed."""
    prices = PriceList(scenario, catalog)
    if not prices.margin:
        return []
    dearest = max(prices.sold().values(), key=lambda price: price.value)
    if dearest.value <= PRICE.high:
        return []
    paid, most = written(dearest.value, ",.0f"), written(PRICE.high, ",.0f")
    margin = written(prices.margin, "g")
    return [problem("internal.margin", margin, "limit.margin", paid=paid, key=dearest.key, most=most)]


def _unpriced(key: str, path: str, given: Any, catalog: Catalog) -> Iterator[Problem]:
    """Report a price, or a range of one, whose key prices nothing."""
    if not is_priced(key, catalog):
        known = price_keys(catalog)
        plain, near = ", ".join(sorted(k for k in known if "/" not in k)), ", ".join(_similar(key, known))
        wrong = "limit.unpriced near" if near else "limit.unpriced"
        yield problem(path, show(given), wrong, keys=plain, near=near)


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
        yield problem("demand.stated_gpus", None, "limit.no total")
    if settings.method == "closed" and settings.rule in RISKS:
        jobs = next((g for g in scenario.groups if g.jobs_per_day is not None), None)
        if jobs:
            yield problem("demand.method", "closed", "limit.jobs a day", group=jobs.name)
    stated = {name: getattr(settings, name) for name in ("peakedness_low", "peakedness", "peakedness_high")}
    bounds = [(name, value) for name, value in stated.items() if value is not None]
    for (low_name, low), (_, high) in itertools.pairwise(bounds):
        if low > high:
            yield problem(f"demand.{low_name}", low, "limit.stated above", high=high)


def _cluster_size(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """A cluster of more hosts than the platform allows, or with failover capacity only."""
    path, stated = "availability.hosts_per_cluster", scenario.availability.hosts_per_cluster
    if stated is None:
        return
    most, spare = int(catalog.assumptions["vi-cluster"].fact("max_hosts").value), spare_hosts(scenario)
    version = catalog.vsphere[scenario.platform.vsphere]
    allowed = max(most, int(version.value("max_cluster_hosts") or most))
    words = {"version": version.name, "most": most, "allowed": allowed}
    if stated > most and scenario.cost.platform_licence == "vcf":
        key = "limit.cluster of vcf or more" if allowed > most else "limit.cluster of vcf"
        yield problem(path, stated, key, **words)
    elif stated > allowed:
        yield problem(path, stated, "limit.cluster", version=version.name, most=allowed)
    elif stated <= spare:
        yield problem(path, stated, "limit.cluster of spare hosts", spare=spare, least=spare + 1)


MUST_BE_KNOWN = (
    *(
        _unknown_ids,
        _unknown_limits,
        _unknown_boards,
        _unknown_kinds,
        _no_training,
        _other_models,
        _unknown_sources,
    ),
    _price_problems,
)


def _sums_in_switches(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    how, transport = scenario.training.aggregation, scenario.network.transport
    if how == "in-network" and transport != "infiniband":
        yield problem("training.aggregation", show(how), "limit.sum in switches", transport=transport)


def _trained_model(scenario: Scenario, catalog: Catalog) -> Iterator[Problem]:
    """A language model that the training job cannot train on any of the hosts that a job may have."""
    if scenario.training.model is not None:
        try:
            fewest_hosts(scenario, catalog)
        except ValueError as error:
            yield Problem("training.model", show(scenario.training.model), str(error))


MUST_BE_POSSIBLE = (
    *(_too_many_gpus_in_a_host, _divided_boards, _large_vms, _refused_mix, _refused_placement),
    *(_sums_in_switches, _demand_problems, _cluster_size, _trained_model),
)
OF_THE_VMS = (_group_problems, too_many)
"""Checks of the groups of a scenario, in this order; the last runs once models are replicas."""


def _vm_problems(scenario: Scenario, group: Group) -> Iterator[Problem]:
    at, hosts = f"groups.{group.id}", _hosts(scenario)
    most = max(room.gpus for room in hosts)
    if group.gpus_each > most:
        yield problem(f"{at}.gpus_each", group.gpus_each, "limit.gpus of a VM", most=most)
    if group.vgpus_each > 1 and group.gpus_each > group.vgpus_each:
        gpus = written(group.gpus_each, "g")
        yield problem(f"{at}.vgpus_each", group.vgpus_each, "limit.vgpus of a VM", gpus=gpus)
    for field, size, unit in (("vcpus_each", 1, "vCPUs"), ("memory_gib_each", 2, "GiB")):
        need, offers = getattr(group, field), [room.sizes[size] for room in hosts]
        if need and all(offers) and need > max(offers):
            yield problem(f"{at}.{field}", need, "limit.a host gives", most=max(offers), unit=unit)


def _hosts(scenario: Scenario) -> list[Room]:
    kinds = (kind_room(scenario, kind) for kind in host_kinds(scenario.hardware.existing))
    return [room_of(scenario, scenario.hardware.gpus_per_host), *kinds]


def request_problems(
    scenario: Scenario,
    by_group: Mapping[str, Request],
    members: Mapping[str, Sequence[str]],
    there: Mapping[str, tuple[Room, ...]],
) -> list[Problem]:
    """VMs that no host of their pool can take, and VMs too large for a new host that its existing hosts cannot all hold."""
    new, problems = room_of(scenario, scenario.hardware.gpus_per_host), []
    for pool, ids in members.items():
        rooms = there.get(pool, ())
        stuck = too_large([by_group[id] for id in ids], new)
        nowhere = [one for one in stuck if all(too_large((one,), room) for room in rooms)]
        problems += [_on_no_host(request, (new, *rooms)) for request in nowhere]
        held = placed_most(stuck, rooms, ()).placed if stuck and not nowhere else ()
        for request, placed in zip(stuck, held, strict=False):
            if placed < request.vms:
                name = "gpus" if request.gpus else "vcpus"
                path, size = _path(request, f"{name}_each"), getattr(request, name)
                words = {"held": placed, "vms": request.vms}
                problems.append(problem(path, size, "limit.existing hosts hold", **words))
    return problems


def _path(request: Request, name: str) -> str:
    return "hardware.other_vms" if request.group.startswith(OTHER_VMS) else f"groups.{request.group}.{name}"


def _on_no_host(request: Request, rooms: Sequence[Room]) -> Problem:
    """Name what a VM needs that no host has."""
    most, family = max(room.gpus for room in rooms if room.takes(request)), request.family
    if family is not None and not family.capacity:
        per_gpu = max(layout[family.profiles.index(request.profile)] for layout in family.layouts)
        if (gpus := -(-request.shares // per_gpu)) > most:
            words = {"vgpus": request.shares, "profile": request.profile, "gpus": gpus, "most": most}
            return problem(_path(request, "vgpus_each"), request.shares, "limit.vgpus in a host", **words)
    if request.gpus > most:
        return problem(_path(request, "gpus_each"), request.gpus, "limit.gpus of a VM", most=most)
    return problem(
        _path(request, "vcpus_each"), request.vcpus, "limit.no host has both", memory=request.memory_gib
    )


class HostLimit(NamedTuple):
    """Most GPUs of a model that a server is known to take; None if no source says."""

    most: int | None
    key: str
    """Key of the texts about it, in words and in short."""
    words: Mapping[str, Any]


def server_gpu_limit(scenario: Scenario, catalog: Catalog) -> tuple[int | None, str]:
    """Most GPUs of this model that this server is known to take (None if not known), and a sentence about it."""
    hardware = scenario.hardware
    if hardware.server is None:
        return None, said("limit.no server")
    limit = host_limit(catalog, hardware.server, hardware.gpu, hardware.gpus_per_host)
    return limit.most, said(f"limit.{limit.key}", **limit.words)


def host_limit(catalog: Catalog, server_id: str, gpu_id: str, wanted: int) -> HostLimit:
    """Return the most GPUs of a model that a server is known to take, by its slots and its baseboard."""
    server, gpu = catalog.servers[server_id], catalog.gpus[gpu_id]
    per_board = gpus_of_board(gpu)
    form, words = str(gpu.value("form_factor") or ""), dict[str, Any](gpu=gpu.name, server=server.name)
    if form.startswith("SXM"):
        taken = str(server.value("sxm_form_factor") or "").split()
        if taken and form not in taken:
            return HostLimit(0, "form factor", words | {"form": form, "taken": " or ".join(taken)})
        kind, boards = form, server.value("max_gpus_sxm")
    else:
        kind, boards = _slots(server, gpu, wanted / per_board)
    if boards is None:
        return HostLimit(None, "server unknown", words)
    most = int(boards) * per_board
    words |= {"most": most, "kind": kind}
    if server.value("gpu_limits") == "lower-bound" and wanted > most:
        return HostLimit(None, "server at least", words)
    return HostLimit(most, "server", words)


def _slots(server: Item, gpu: Item, wanted: float) -> tuple[str, Value | None]:
    """Width of a board, and the server's slots for boards of this width; None if it is not known."""
    width = int(gpu.value("slot_width") or 0)
    narrow, wide = server.value("max_gpus_single_wide"), server.value("max_gpus_double_wide")
    if width == 1:
        # slots for wide boards take as many narrow ones; whether they take more is not known
        enough = wide if wide and wanted <= int(wide) else None
        return "single-wide", enough if narrow is None else narrow
    return ("double-wide", wide) if width == 2 else ("", None)
