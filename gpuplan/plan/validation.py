"""Limits: what in a scenario this catalog and this hardware do not allow, field by field."""

from __future__ import annotations

import difflib
import itertools
import math
from collections.abc import Collection, Mapping
from typing import Any

from gpuplan.catalog import Catalog, zone_of
from gpuplan.models import demand
from gpuplan.models.placement import Request
from gpuplan.plan.prices import PriceList, price_keys
from gpuplan.plan.sharing import mixed_sizes_refused
from gpuplan.plan.working_week import work_fact
from gpuplan.scenario import (
    FIELD_BY_PATH,
    GROUP_FIELD_BY_NAME,
    MAX_GPUS,
    MAX_VMS,
    PRICE,
    Group,
    Problem,
    Scenario,
    ScenarioError,
    field_of,
    hours_length_h,
    parse_value,
    show,
    sites_people,
    wrong_values,
)
from gpuplan.units import exact


def scenario_problems(scenario: Scenario, catalog: Catalog) -> list[Problem]:
    """What in a scenario this catalog and this hardware do not allow."""
    if problems := wrong_values(scenario):
        return problems
    tables: list[tuple[str, str, Mapping[str, Any]]] = [
        ("hardware.gpu", "gpus", catalog.gpus),
        ("platform.vsphere", "vsphere", catalog.vsphere),
    ]
    if scenario.hardware.server is not None:
        tables.append(("hardware.server", "servers", catalog.servers))
    works = {row.id: row for row in catalog.rows("network_workloads")}
    tables.append(("training.workload", "network_workloads", works))
    tables += [
        (f"network.{name}", "switches", catalog.switches)
        for name in ("leaf", "spine")
        if scenario.get(f"network.{name}") is not None
    ]
    tables += [
        (f"groups.{g.id}.workload", "network_workloads", works)
        for g in scenario.groups
        if g.workload is not None
    ]
    use_cases = {row.id: row for row in catalog.rows("use_cases")}
    tables += [(f"groups.{g.id}.use_case", "use_cases", use_cases) for g in scenario.groups]
    for path, table, known in tables:
        given = scenario.get(path)
        if given not in known:
            near = [i for i in known if given.lower() in i][:3] or difflib.get_close_matches(
                given, known, n=3, cutoff=0.3
            )
            hint = f"nearest are {', '.join(near)}; " if near else ""
            problems.append(
                Problem(path, show(given), f"{hint}'gpuplan catalog {table}' lists all {len(known)}")
            )
    if scenario.training.workload in works and works[scenario.training.workload]["phase"] != "training":
        trains = ", ".join(i for i, r in works.items() if r["phase"] == "training")
        problems.append(
            Problem("training.workload", scenario.training.workload, f"work that trains: {trains}")
        )
    for path, origin in scenario.origins:
        if origin.source != "scenario" and origin.source not in catalog.sources:
            problems.append(
                Problem(f"origins.{path}.source", show(origin.source), "the id of a row in sources.csv")
            )
    problems += _money_problems(scenario, catalog)
    for number, note in enumerate(scenario.notes, 1):
        if note.source not in catalog.sources:
            problems.append(
                Problem(f"notes.{number}.source", show(note.source), "the id of a row in sources.csv")
            )
    if problems:
        return problems
    limit, why = server_gpu_limit(scenario, catalog)
    per_host = scenario.hardware.gpus_per_host
    if limit is not None and per_host > limit:
        problems.append(Problem("hardware.gpus_per_host", str(per_host), why))
    per_board = int(catalog.gpus[scenario.hardware.gpu].value("gpus_per_board") or 1)
    counts = {"hardware.gpus_per_host": per_host}
    if scenario.hardware.existing_hosts and scenario.hardware.existing_gpus_per_host:
        counts["hardware.existing_gpus_per_host"] = scenario.hardware.existing_gpus_per_host
    for path, count in counts.items():
        if count % per_board:
            name = catalog.gpus[scenario.hardware.gpu].name
            allowed = f"{name} carries {per_board} GPUs on a board, so a multiple of {per_board}"
            problems.append(Problem(path, str(count), allowed))
    if scenario.platform.vgpu_sizes == "mixed" and (rule := mixed_sizes_refused(scenario, catalog)):
        gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
        where = "; ".join(catalog.sources[source].title for source in rule.sources)
        problems.append(
            Problem(
                "platform.vgpu_sizes",
                f"mixed sizes with {gpu.name} on {version.name}",
                f"{rule['rule']} ({where})",
            )
        )
    for group in scenario.groups:
        problems += _group_problems(scenario, group)
        off = group.off_hours_share
        if group.jobs_per_day is None and off is not None and off > group.active_share:
            allowed = f"at most the {show(group.active_share)} that are active within the hours; exchange the hours if not"
            problems.append(Problem(f"groups.{group.id}.off_hours_share", show(off), allowed))
        problems += [
            Problem(
                f"groups.{group.id}.sites",
                show(name),
                "a city, a time zone such as Asia/Kolkata, or UTC+5:30; a larger city with the same clock will do",
            )
            for name, _ in sites_people(group.sites)
            if not zone_of(name, catalog)
        ]
    problems += demand_problems(scenario)
    vms = {
        g.id: demand.group_vms(_active(scenario, catalog, g), vms_each=g.vms_each) for g in scenario.groups
    }
    if sum(vms.values()) > MAX_VMS:
        largest = max(vms, key=lambda g: vms[g])
        jobs = next(g for g in scenario.groups if g.id == largest).jobs_per_day is not None
        problems.append(
            Problem(
                f"groups.{largest}.{'jobs_per_day' if jobs else 'people'}",
                f"{sum(vms.values()):,} VMs in all",
                f"at most {MAX_VMS:,} VMs in one design",
            )
        )
    gpus = sum(vms[g.id] * exact(g.gpus_each) for g in scenario.groups)
    if gpus > MAX_GPUS:
        problems.append(
            Problem("groups", f"{float(gpus):,.0f} GPUs in all", f"at most {MAX_GPUS:,} GPUs in one design")
        )
    return problems


def _money_problems(scenario: Scenario, catalog: Catalog) -> list[Problem]:
    """Prices of nothing, ranges of no input, and a currency without its rate."""
    problems = []
    known = price_keys(catalog)
    for key, price in scenario.prices:
        problems += _unpriced(key, f"prices.{key}", price, known)
    for path, (low, high) in scenario.ranges:
        if path.startswith("prices."):
            problems += _unpriced(path.removeprefix("prices."), f"ranges.{path}", [low, high], known)
        kind = _kind_of(scenario, path)
        if kind not in ("int", "number", "share", "gpus") and not path.startswith("prices."):
            problems.append(
                Problem(f"ranges.{path}", show([low, high]), "the path of an input that is a number")
            )
            continue
        for end in (low, high):
            try:
                parse_value(field_of(path), end, f"ranges.{path}")
            except ScenarioError as error:
                problems += error.problems
    given = scenario.cost
    if given.currency != "USD" and given.usd_rate is None:
        problems.append(
            Problem(
                "cost.usd_rate",
                "nothing",
                f"how much {given.currency} is one US dollar? Prices are in US dollars",
            )
        )
    if given.currency == "USD" and given.usd_rate not in (None, 1):
        problems.append(
            Problem("cost.usd_rate", show(given.usd_rate), "1 or nothing while the currency is USD")
        )
    return problems or _margin_problems(scenario, catalog)


def _margin_problems(scenario: Scenario, catalog: Catalog) -> list[Problem]:
    """A margin with which something costs the customer more than a price may be."""
    prices = PriceList(scenario, catalog)
    if not prices.margin:
        return []
    dearest = max(prices.sold().values(), key=lambda price: price.value)
    if dearest.value <= PRICE.high:
        return []
    made = f"the customer would pay {dearest.value:,.0f} for {dearest.key}, and a price is at most {PRICE.high:,.0f}"
    return [Problem("internal.margin", f"{prices.margin:g}", made)]


def _unpriced(key: str, path: str, given: Any, known: Collection[str]) -> list[Problem]:
    """What is wrong with a price, or a range of one, that is the price of nothing."""
    if key in known:
        return []
    near = difflib.get_close_matches(key, known, n=3, cutoff=0.3)
    return [
        Problem(
            path,
            show(given),
            "what is priced is a catalog item such as gpus/a100-pcie-80gb, or one of "
            + ", ".join(sorted(k for k in known if "/" not in k))
            + (f"; nearest are {', '.join(near)}" if near else ""),
        )
    ]


def _kind_of(scenario: Scenario, path: str) -> str:
    """Kind of the input at a path of a scenario, or nothing if there is none."""
    if path.startswith(("prices.", "ranges.")):
        return ""
    parts = path.split(".", 2)
    if parts[0] == "groups":
        known = (
            len(parts) == 3
            and parts[1] in {g.id for g in scenario.groups}
            and parts[2] in GROUP_FIELD_BY_NAME
        )
        return GROUP_FIELD_BY_NAME[parts[2]].kind if known else ""
    return FIELD_BY_PATH[path].kind if path in FIELD_BY_PATH else ""


def _active(scenario: Scenario, catalog: Catalog, group: Group) -> int:
    """Requests of a group at once at its peak; of pieces of work no fewer, as if they had no time to build up."""
    if group.jobs_per_day is None:
        return demand.active_people(group.people, active_share=group.active_share)
    work_h = float(work_fact(scenario, catalog, group).value)
    return math.ceil(group.jobs_per_day / hours_length_h(group.hours) * work_h)


def demand_problems(scenario: Scenario) -> list[Problem]:
    """What the assumption about arrivals cannot answer, and a range that is none."""
    asked = scenario.demand
    problems = []
    if asked.method == "closed" and asked.rule not in ("sum", "hours"):
        jobs = next((g for g in scenario.groups if g.jobs_per_day is not None), None)
        if jobs:
            allowed = f"{jobs.name} states pieces of work a day, which are no closed group; choose another assumption"
            problems.append(Problem("demand.method", "closed", allowed))
    stated = [("peakedness_low", asked.peakedness_low), ("peakedness", asked.peakedness)]
    stated.append(("peakedness_high", asked.peakedness_high))
    known = [(name, value) for name, value in stated if value is not None]
    for (low_name, low), (_, high) in itertools.pairwise(known):
        if low > high:
            problems.append(
                Problem(f"demand.{low_name}", show(low), f"at most the {show(high)} stated above it")
            )
    return problems


def _group_problems(scenario: Scenario, group: Group) -> list[Problem]:
    """What a VM of a group asks for and no host has."""
    at, hardware = f"groups.{group.id}", scenario.hardware
    problems = []
    if group.gpus_each > hardware.gpus_per_host:
        allowed = (
            f"all GPUs of one VM are in one host, and a new host has {hardware.gpus_per_host}: at most "
            f"{hardware.gpus_per_host}, or more GPUs per host"
        )
        problems.append(Problem(f"{at}.gpus_each", show(group.gpus_each), allowed))
    if group.vgpus_each > 1 and group.gpus_each > group.vgpus_each:
        allowed = (
            f"a vGPU is at most one GPU, so {group.gpus_each:g} GPUs are at least {group.gpus_each:g} vGPUs; 1 gives a "
            "vGPU for each whole GPU"
        )
        problems.append(Problem(f"{at}.vgpus_each", str(group.vgpus_each), allowed))
    for mine, host, unit in (
        ("vcpus_each", "vcpus_per_host", "vCPUs"),
        ("memory_gib_each", "memory_gib_per_host", "GiB"),
    ):
        asked, most = getattr(group, mine), getattr(hardware, host)
        if asked and most and asked > most:
            problems.append(
                Problem(f"{at}.{mine}", str(asked), f"a host gives its VMs {most} {unit}: at most {most}")
            )
    return problems


def request_problems(scenario: Scenario, requests: Mapping[str, Request]) -> list[Problem]:
    """VMs whose vGPUs take more GPUs than a new host has, however they are laid."""
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
                f"{request.shares} vGPUs {request.profile} take {gpus} GPUs in one host, and a new host has {per_host}; fewer "
                "vGPUs, or more GPUs per host"
            )
            problems.append(Problem(f"groups.{group_id}.vgpus_each", str(request.shares), allowed))
    return problems


def server_gpu_limit(scenario: Scenario, catalog: Catalog) -> tuple[int | None, str]:
    """Most GPUs of this model that this server is known to hold (None if not known), and a sentence about it."""
    if scenario.hardware.server is None:
        return None, "no server is chosen"
    server = catalog.servers[scenario.hardware.server]
    gpu = catalog.gpus[scenario.hardware.gpu]
    form = str(gpu.value("form_factor") or "")
    per_board = int(gpu.value("gpus_per_board") or 1)
    if form.startswith("SXM"):
        taken = str(server.value("sxm_form_factor") or "").split()
        boards = server.value("max_gpus_sxm")
        if taken and form not in taken:
            return 0, f"{server.name} takes {' or '.join(taken)} boards, and {gpu.name} is {form}"
        kind = form
    else:
        width = gpu.value("slot_width")
        kind = {1: "single-wide", 2: "double-wide"}.get(int(width or 0), "")
        boards = server.value(f"max_gpus_{kind.replace('-', '_')}") if kind else None
        if boards is None and kind == "single-wide":
            # what holds so many wide boards holds as many narrow ones; whether more is not known
            wide = server.value("max_gpus_double_wide")
            boards = wide if wide and scenario.hardware.gpus_per_host <= int(wide) * per_board else None
    if boards is None:
        return None, f"how many {gpu.name} {server.name} takes is not known from a source"
    most = int(boards) * per_board
    if server.value("gpu_limits") == "lower-bound" and scenario.hardware.gpus_per_host > most:
        return None, f"{server.name} is known to hold {most} {kind} GPUs, and not whether it holds more"
    return most, f"{server.name} holds at most {most} {kind} GPUs of this kind"
