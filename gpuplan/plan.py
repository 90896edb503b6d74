"""The plan: a pure function of a scenario and a catalog, and the only place where models are chained.

Read ``make_plan`` from top to bottom: demand, access mode, sharing, placement and hosts,
availability, totals, decisions.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.decisions import decide
from gpuplan.facts import Fact
from gpuplan.fields import MAX_GPUS, Problem, ScenarioError, show
from gpuplan.models import access, availability, demand, placement, sharing
from gpuplan.records import (
    Decision,
    GroupPlan,
    HostFailure,
    Line,
    Pool,
    Reason,
    RuledOut,
    Totals,
    Trail,
    Trait,
    Unplaced,
    failure_runs,
)
from gpuplan.scenario import MAX_VMS, Group, Scenario, wrong_values
from gpuplan.scenario import UNASSIGNED as UNASSIGNED
from gpuplan.units import MIB_PER_GIB, exact

POOL_NAMES = {
    "vgpu": "vGPU cluster",
    "passthrough": "Passthrough cluster",
    "bitfusion": "Bitfusion cluster",
    "gpu": "GPU cluster",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer to a scenario: frozen, with the trail of every number.

    ``lines`` maps a key such as ``totals.hosts`` to its `Line`; ``pools`` are groups of equal
    hosts; ``groups`` hold the access decisions.
    """

    scenario: Scenario
    catalog: Catalog = field(repr=False)
    totals: Totals
    groups: tuple[GroupPlan, ...]
    pools: tuple[Pool, ...]
    decisions: tuple[Decision, ...]
    lines: Mapping[str, Line]

    def group(self, group_id: str) -> GroupPlan:
        """The group with this id."""
        return next(g for g in self.groups if g.id == group_id)


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
    for path, origin in scenario.origins:
        if origin.source != "scenario" and origin.source not in catalog.sources:
            problems.append(
                Problem(f"origins.{path}.source", show(origin.source), "the id of a row in sources.csv")
            )
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
    if per_host % per_board:
        name = catalog.gpus[scenario.hardware.gpu].name
        problems.append(
            Problem(
                "hardware.gpus_per_host",
                str(per_host),
                f"{name} carries {per_board} GPUs on a board, so a multiple of {per_board}",
            )
        )
    for group in scenario.groups:
        if group.gpus_each > per_host:
            problems.append(
                Problem(
                    f"groups.{group.id}.gpus_each",
                    show(group.gpus_each),
                    f"all GPUs of one VM are in one host, and a host has {per_host}: at most {per_host}, "
                    "or more GPUs per host",
                )
            )
    vms = {
        g.id: demand.group_vms(
            demand.active_people(g.people, active_share=g.active_share), vms_each=g.vms_each
        )
        for g in scenario.groups
    }
    if sum(vms.values()) > MAX_VMS:
        largest = max(vms, key=lambda g: vms[g])
        problems.append(
            Problem(
                f"groups.{largest}.people",
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


def make_plan(scenario: Scenario, catalog: Catalog) -> Plan:
    """The plan for a scenario with a catalog: the same two always give the same plan.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    catalog : Catalog
        Hardware, software, rules and their sources. [-]

    Returns
    -------
    make_plan : Plan
        Hosts, placement, decisions and the trail of every number. [-]

    Raises
    ------
    ScenarioError
        Naming each field that the catalog or the hardware does not allow.
    """
    if problems := scenario_problems(scenario, catalog):
        raise ScenarioError(problems)
    trail = Trail()

    # Demand: people -> VMs -> GPUs at the peak
    wanted = {group.id: _group_demand(trail, scenario, group) for group in scenario.groups}
    by_groups = trail.add_up(
        "demand.groups_gpus",
        "Sum of the groups",
        "GPU",
        demand.total_demand_gpus,
        {group_id: lines[1] for group_id, lines in wanted.items()},
    )
    asked = trail.compute(
        "demand.gpus",
        "GPUs demanded",
        "GPU",
        demand.planned_demand_gpus,
        "{groups_gpus} GPUs by the groups = {value}"
        if scenario.demand.stated_gpus is None
        else "the stated {stated_gpus} GPUs win over the groups' {groups_gpus}",
        groups_gpus=by_groups,
        stated_gpus=scenario.fact("demand.stated_gpus"),
    )

    # Access mode and sharing, group by group, within the stated total
    left = None if scenario.demand.stated_gpus is None else Fraction(scenario.demand.stated_gpus)
    groups: list[GroupPlan] = []
    requests: dict[str, list[placement.Request]] = {}
    for group in scenario.groups:
        vms, gpus = wanted[group.id]
        plan, request = _group_access(trail, scenario, catalog, group, vms, gpus, left)
        if left is not None:
            left -= plan.vms_placed * exact(group.gpus_each)
        groups.append(plan)
        requests[group.id] = [request] if request else []
    groups = [_with_pool(plan, scenario, groups) for plan in groups]

    # Placement, hosts and availability, pool by pool
    by_pool: dict[str, list[str]] = {}
    for plan in groups:
        if plan.vms_placed:
            by_pool.setdefault(plan.pool, []).append(plan.id)
    unassigned = 0 if left is None else int(left)
    if unassigned:
        home = max(by_pool, key=lambda p: sum(g.demand_gpus for g in groups if g.pool == p), default="gpu")
        by_pool.setdefault(home, []).append(UNASSIGNED)
        requests[UNASSIGNED] = [placement.Request(UNASSIGNED, unassigned, gpus=1)]
    pools = tuple(
        _pool(trail, scenario, catalog, pool_id, members, requests, groups)
        for pool_id, members in by_pool.items()
    )

    totals = _totals(trail, scenario, asked, pools, groups)
    decisions = decide(scenario, catalog, totals, tuple(groups), pools, trail.lines)
    return Plan(scenario, catalog, totals, tuple(groups), pools, decisions, dict(trail.lines))


def _group_demand(trail: Trail, scenario: Scenario, group: Group) -> tuple[Line, Line]:
    """(VMs, GPUs) of a group at the peak."""
    at, name = f"groups.{group.id}", group.name
    active = trail.compute(
        f"{at}.active",
        f"{name}: active at the peak",
        "1",
        demand.active_people,
        "{people} people x {active_share}, rounded up = {value}",
        people=scenario.fact(f"{at}.people"),
        active_share=scenario.fact(f"{at}.active_share"),
    )
    vms = trail.compute(
        f"{at}.vms",
        f"{name}: VMs",
        "VM",
        demand.group_vms,
        "{active} active x {vms_each} VMs each = {value}",
        active=active,
        vms_each=scenario.fact(f"{at}.vms_each"),
    )
    gpus = trail.compute(
        f"{at}.demand_gpus",
        f"{name}: GPUs",
        "GPU",
        demand.group_demand_gpus,
        "{vms} VMs x {gpus_each} GPU each = {value}",
        vms=vms,
        gpus_each=scenario.fact(f"{at}.gpus_each"),
    )
    return vms, gpus


def _group_access(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    group: Group,
    vms: Line,
    gpus: Line,
    gpus_left: Fraction | None,
) -> tuple[GroupPlan, placement.Request | None]:
    """Access mode and profile of a group, and what it asks the hosts for."""
    at = f"groups.{group.id}"
    gpu, version = catalog.gpus[scenario.hardware.gpu], catalog.vsphere[scenario.platform.vsphere]
    profiles = {backing: _profiles(catalog, gpu.id, backing, version) for backing in ("timesliced", "mig")}
    fitting = {
        backing: sharing.smallest_profile(group.gpus_each, profiles=list(rows))
        for backing, rows in profiles.items()
    }
    offered = "" if scenario.platform.bitfusion else "bitfusion-not-chosen"
    if not offered and version.value("bitfusion_server") == "not supported":
        offered = "bitfusion-version"
    limits = {name: int(version.value(name) or 0) for name in ("max_vgpus_per_vm", "max_passthrough_per_vm")}
    known_most = scenario.hardware.gpus_per_host  # where no source names a limit, the host is one
    chosen = access.access_mode(
        group.gpus_each,
        distributed=group.vms_each > 1,
        remote_allowed=group.remote_allowed,
        low_latency=group.low_latency,
        isolation=group.isolation,
        wish=group.access,
        bitfusion_offered=offered,
        vgpu_profile=fitting["timesliced"] is not None,
        mig_profile=fitting["mig"] is not None,
        max_vgpus_per_vm=limits["max_vgpus_per_vm"] or known_most,
        max_passthrough_per_vm=limits["max_passthrough_per_vm"] or known_most,
    )
    words = {"gpu": gpu.name, "vsphere": version.name, **limits}
    texts = {row.id: row for row in catalog.rows("access_reasons")}

    def reason(code: str) -> Reason:
        row = texts[code]
        text = str(row["text"])
        for word, meaning in words.items():
            text = text.replace(f"{{{word}}}", str(meaning))
        return Reason(code, text, row.basis, row.sources, row.locator)

    profile = (
        fitting["mig" if chosen.mode == "mig" else "timesliced"] if chosen.mode in ("vgpu", "mig") else None
    )
    fits = vms.value
    if gpus_left is not None:
        fits = demand.admitted_vms(vms.value, gpus_each=group.gpus_each, gpus_left=float(gpus_left))
    placed = fits if chosen.mode else 0
    unplaced = []
    if not chosen.mode and vms.value:
        unplaced.append(_unplaced(group, vms.value, "no-mode-possible", reason(chosen.reasons[0]).text))
    elif fits < vms.value:
        unplaced.append(
            _unplaced(
                group,
                vms.value - fits,
                "beyond-stated-total",
                "the groups before it use up the customer's stated total",
            )
        )
    request: placement.Request | None = None
    if placed and group.gpus_each >= 1:
        request = placement.Request(group.id, placed, gpus=int(group.gpus_each))
    elif placed and chosen.mode == "bitfusion":
        memory = gpu.fact("memory_gib")
        share = trail.compute(
            f"{at}.share_mb",
            f"{group.name}: GPU memory per VM",
            "MB",
            sharing.memory_share_mb,
            "{gpus_each} of {memory_gib} GiB, in whole MB = {value}",
            gpus_each=scenario.fact(f"{at}.gpus_each"),
            memory_gib=memory,
        )
        request = placement.Request(
            group.id,
            placed,
            share_class="bitfusion",
            weight=share.value,
            capacity=int(memory.value * MIB_PER_GIB),
        )
    elif placed and profile:
        request = placement.Request(
            group.id, placed, share_class=profile.name, weight=1, capacity=profile.max_per_gpu
        )
    if profile:
        row = profiles["mig" if chosen.mode == "mig" else "timesliced"][profile]
        count = Fact(
            key=f"profiles/{profile.name}/max_per_gpu",
            value=profile.max_per_gpu,
            unit="1",
            low=None,
            high=None,
            basis=row.basis,
            sources=row.sources,
            locator=row.locator,
            note=row.note,
        )
        trail.record(
            f"{at}.profile",
            f"{group.name}: vGPU profile",
            "",
            sharing.smallest_profile,
            "{gpus_each} GPU per VM: {value}, {max_per_gpu} of it on a GPU",
            profile.name,
            {"gpus_each": scenario.fact(f"{at}.gpus_each"), "max_per_gpu": count},
        )
    use_case = next(row for row in catalog.rows("use_cases") if row.id == group.use_case)
    return GroupPlan(
        id=group.id,
        name=group.name,
        letter=_letter(scenario, catalog, group),
        use_case=str(use_case["name"]),
        mode=chosen.mode,
        reasons=tuple(reason(code) for code in chosen.reasons),
        ruled_out=tuple(RuledOut(mode, possible, reason(code)) for mode, code, possible in chosen.ruled_out),
        traits=_traits(catalog, chosen.mode, version),
        active=trail.lines[f"{at}.active"].value,
        vms=vms.value,
        vms_placed=placed,
        gpus_each=group.gpus_each,
        demand_gpus=gpus.value,
        profile=profile.name if profile else "",
        profile_reason=_profile_reason(profile, group),
        pool="",
        unplaced=tuple(unplaced),
    ), request


def _unplaced(group: Group, vms: int, code: str, reason: str) -> Unplaced:
    return Unplaced(group.id, vms, demand.group_demand_gpus(vms, gpus_each=group.gpus_each), code, reason)


def _profile_reason(profile: sharing.Profile | None, group: Group) -> str:
    if profile is None:
        return ""
    if profile.whole:
        return (
            "the whole frame buffer of a GPU"
            if group.gpus_each <= 1
            else "the whole frame buffer of each GPU"
        )
    fit = f"the smallest that gives at least {exact(group.gpus_each)} of a GPU; {profile.max_per_gpu} fit on a GPU"
    if profile.compute_slices:
        fit += f", each with {profile.compute_slices} of {profile.gpu_slices} compute slices"
    return fit


def _profiles(catalog: Catalog, gpu: str, backing: str, version: Item) -> dict[sharing.Profile, Row]:
    """Profiles of a GPU that this vSphere version has, each with its catalog row."""
    if backing == "mig" and not version.value("mig_backed_vgpu"):
        return {}
    order = _version_order(catalog)
    found = {}
    slices = max((int(row["compute_slices"] or 0) for row in catalog.profiles_of(gpu)), default=0)
    for row in catalog.profiles_of(gpu):
        needs = row["min_vsphere"]
        media_only = str(row["mig_profile"] or "").endswith("me")
        if row["backing"] == backing and not media_only and (not needs or order[needs] <= order[version.id]):
            profile = sharing.Profile(
                str(row["profile"]),
                int(row["frame_buffer_mb"]),
                int(row["max_per_gpu"]),
                backing == "timesliced" and bool(row["full_frame_buffer"]),
                int(row["compute_slices"]) if backing == "mig" else 0,
                slices if backing == "mig" else 0,
            )
            found[profile] = row
    return found


def _version_order(catalog: Catalog) -> dict[str, int]:
    """Order of release of the vSphere versions."""
    return {version.id: int(version.fact("order").value) for version in catalog.vsphere.values()}


def _traits(catalog: Catalog, mode: str, version: Item) -> tuple[Trait, ...]:
    """What a mode keeps and gives up on this vSphere version."""
    order = _version_order(catalog)
    now = order[version.id]
    return tuple(
        Trait(str(row["feature"]), str(row["verdict"]), str(row["text"]), row.basis, row.sources)
        for row in catalog.rows("modes")
        if row["mode"] == mode
        and (not row["vsphere_from"] or order[row["vsphere_from"]] <= now)
        and (not row["vsphere_until"] or order[row["vsphere_until"]] >= now)
    )


def _letter(scenario: Scenario, catalog: Catalog, group: Group) -> str:
    """A letter for the pictures, unique in the scenario while there are letters left."""
    preset = {row.id: str(row["letter"]) for row in catalog.rows("use_cases")}
    taken: dict[str, str] = {}
    for other in scenario.groups:
        wishes = [
            preset[other.use_case],
            *(c.upper() for c in other.name if c.isascii() and c.isalpha()),
            *"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        ]
        taken[other.id] = next((c for c in wishes if c not in taken.values()), "*")
    return taken[group.id]


def _with_pool(plan: GroupPlan, scenario: Scenario, groups: Sequence[GroupPlan]) -> GroupPlan:
    """The group with the pool of hosts that serves it."""
    pool = {"vgpu": "vgpu", "mig": "vgpu", "passthrough": "passthrough"}.get(plan.mode, "")
    if plan.mode == "bitfusion":
        wish = scenario.platform.bitfusion_servers
        local = any(g.mode in ("vgpu", "mig") for g in groups)
        pool = "vgpu" if wish == "vgpu" or (wish == "auto" and local) else "bitfusion"
    return replace(plan, pool=pool)


def _pool(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    pool_id: str,
    members: Sequence[str],
    requests: Mapping[str, list[placement.Request]],
    groups: Sequence[GroupPlan],
) -> Pool:
    """Equal hosts for the groups of one pool: the fewest on which everything fits, plus the spare ones."""
    at, name = f"pools.{pool_id}", POOL_NAMES[pool_id]
    per_host = scenario.fact("hardware.gpus_per_host")
    all_requests = [r for member in members for r in requests[member]]
    gpus_per_host = scenario.hardware.gpus_per_host
    placed = placement.place(all_requests, gpus_per_host=gpus_per_host)

    parts = {g.id: trail.lines[f"groups.{g.id}.demand_gpus"] for g in groups if g.id in members}
    if UNASSIGNED in members:
        rest = requests[UNASSIGNED][0].vms
        parts[UNASSIGNED] = trail.record(
            "demand.unassigned_gpus",
            "Stated, but of no group",
            "GPU",
            demand.planned_demand_gpus,
            "{stated_gpus} stated; what the VMs placed of the groups' {groups_gpus} leave, in whole GPUs = {value}",
            float(rest),
            {
                "groups_gpus": trail.lines["demand.groups_gpus"],
                "stated_gpus": scenario.fact("demand.stated_gpus"),
            },
        )
    for plan in (g for g in groups if g.id in members and g.vms_placed < g.vms):
        parts[plan.id] = trail.record(
            f"groups.{plan.id}.admitted_gpus",
            f"{plan.name}: GPUs within the stated total",
            "GPU",
            demand.admitted_vms,
            "{value} of {gpus} GPUs fit into the stated total",
            demand.group_demand_gpus(plan.vms_placed, gpus_each=plan.gpus_each),
            {"gpus": parts[plan.id], "stated": scenario.fact("demand.stated_gpus")},
        )
    demanded = trail.add_up(
        f"{at}.gpus_demanded", f"{name}: GPUs demanded", "GPU", demand.total_demand_gpus, parts
    )
    occupied = trail.record(
        f"{at}.gpus_occupied",
        f"{name}: GPUs occupied",
        "GPU",
        placement.place,
        "{gpus_demanded} GPUs of demand occupy {value} GPUs",
        placed.gpus_occupied,
        {"gpus_demanded": demanded},
    )
    counted = trail.compute(
        f"{at}.count_hosts",
        f"{name}: hosts by division",
        "host",
        placement.count_hosts,
        "{gpus} GPUs / {gpus_per_host} per host, rounded up = {value}",
        gpus=demanded,
        gpus_per_host=per_host,
    )
    needed = trail.record(
        f"{at}.hosts_for_demand",
        f"{name}: hosts for the demand",
        "host",
        placement.place,
        _proof_formula(placed),
        len(placed.hosts),
        {"gpus_occupied": occupied, "gpus_per_host": per_host, "count_hosts": counted},
    )
    failures = scenario.fact("availability.host_failures")
    spare = trail.compute(
        f"{at}.hosts_for_failures",
        f"{name}: hosts for failure and maintenance",
        "host",
        availability.spare_hosts,
        "{host_failures} for failures and maintenance = {value}"
        if scenario.availability.maintenance_failure_accepted
        else "{host_failures} for failures + 1 for maintenance = {value}",
        host_failures=failures,
        maintenance_failure_accepted=scenario.fact("availability.maintenance_failure_accepted"),
    )
    hosts = trail.compute(
        f"{at}.hosts",
        f"{name}: hosts",
        "host",
        availability.total_hosts,
        "{hosts_for_demand} for the demand + {hosts_for_failures} spare = {value}",
        hosts_for_demand=needed,
        hosts_for_failures=spare,
    )
    gpus = trail.compute(
        f"{at}.gpus",
        f"{name}: GPUs",
        "GPU",
        availability.installed_gpus,
        "{hosts} hosts x {gpus_per_host} = {value}",
        hosts=hosts,
        gpus_per_host=per_host,
    )
    remaining = trail.compute(
        f"{at}.gpus_after_failure",
        f"{name}: GPUs after failure",
        "GPU",
        availability.gpus_after_failure,
        "{gpus} GPUs - {hosts_lost} host x {gpus_per_host} GPUs = {value}",
        gpus=gpus,
        gpus_per_host=per_host,
        hosts_lost=_hosts_lost(scenario),
        hosts=hosts,
    )
    layout = (*placed.hosts, *(() for _ in range(spare.value)))
    modes = dict.fromkeys(g.mode for g in groups if g.id in members)
    return Pool(
        id=pool_id,
        name=name,
        access=tuple(modes),
        gpu_mode="vgpu" if pool_id == "vgpu" else "passthrough",
        server=scenario.hardware.server or "",
        gpu=scenario.hardware.gpu,
        hosts=hosts.value,
        hosts_for_demand=needed.value,
        hosts_for_failures=spare.value,
        gpus_per_host=gpus_per_host,
        gpus=gpus.value,
        gpus_after_failure=remaining.value,
        gpus_demanded=demanded.value,
        gpus_occupied=placed.gpus_occupied,
        placement=layout,
        bound=placed.bound,
        method=placed.method,
        shared=placed.shared,
        unplaced=tuple(u for g in groups if g.id in members for u in g.unplaced),
        failures=_failure_lines(trail, at, name, _every_failure(layout, gpus_per_host)),
    )


def _proof_formula(placed: placement.Placement) -> str:
    return {
        "volume": "{gpus_occupied} GPUs occupied / {gpus_per_host} per host, rounded up = {value}; a placement on "
        "{value} hosts exists, and fewer have too few GPUs",
        "large": "a placement on {value} hosts exists; VMs too large to share a host rule out fewer",
        "programme": "a placement on {value} hosts exists; the integer programme over all ways to fill a host "
        "shows that fewer cannot do",
        "heuristic": f"a placement on {{value}} hosts exists; at least {placed.bound} are needed",
    }[placed.method]


def _hosts_lost(scenario: Scenario) -> Fact:
    """Hosts lost in 'after failure': the number to tolerate, and at least one."""
    given = scenario.fact("availability.host_failures")
    return replace(given, value=max(1, given.value))


def _every_failure(hosts: Sequence[placement.Host], gpus_per_host: int) -> tuple[HostFailure, ...]:
    """The loss of each single host; hosts filled alike are worked out once."""
    seen: dict[Any, placement.Outcome] = {}
    rows = []
    for index, host in enumerate(hosts):
        alike = tuple(
            sorted((ld.gpus, ld.share_class, sorted((s.group, s.weight) for s in ld.slots)) for ld in host)
        )
        key = repr(alike)
        if key not in seen:
            seen[key] = placement.after_failure(hosts, failed={index}, gpus_per_host=gpus_per_host)
        outcome = seen[key]
        rows.append(HostFailure(index + 1, len(outcome.restarted), len(outcome.moved), len(outcome.unplaced)))
    return tuple(rows)


def _failure_lines(
    trail: Trail, at: str, name: str, failures: tuple[HostFailure, ...]
) -> tuple[HostFailure, ...]:
    """The failures, with a line for the first of each run of hosts that do the same."""
    for first, _ in failure_runs(failures):
        counts = {"restarted": first.restarted, "moved": first.moved, "unplaced": first.unplaced}
        trail.record(
            f"{at}.failure.{first.host}",
            f"{name}: VMs that restart when host {first.host} is lost",
            "VM",
            placement.after_failure,
            "{restarted} restart, {moved} others move to make room, {unplaced} are not placed",
            first.restarted,
            {count: _placed_fact(f"plan/VMs_{count}", value) for count, value in counts.items()},
        )
    return failures


def _placed_fact(key: str, value: int) -> Fact:
    """A count of VMs that the placement itself gives."""
    return Fact(
        key=key,
        value=value,
        unit="VM",
        low=None,
        high=None,
        basis="derived",
        sources=("gpuplan-method",),
        locator="",
        note="counted in the placement, each host failed in turn",
    )


def _totals(
    trail: Trail, scenario: Scenario, asked: Line, pools: Sequence[Pool], groups: Sequence[GroupPlan]
) -> Totals:
    """Sums over the pools."""

    def total(name: str, label: str, unit: str) -> Line:
        parts = {pool.id: trail.lines[f"pools.{pool.id}.{name}"] for pool in pools}
        if len(parts) == 1:
            return trail.repeat(f"totals.{name}", label, next(iter(parts.values())))
        return trail.add_up(f"totals.{name}", label, unit, availability.sum_over_pools, parts)

    hosts = total("hosts", "Hosts", "host")
    needed = total("hosts_for_demand", "Hosts for the demand", "host")
    spare = total("hosts_for_failures", "Hosts for failure and maintenance", "host")
    gpus = total("gpus", "GPUs", "GPU")
    remaining = trail.compute(
        "totals.gpus_after_failure",
        "GPUs after failure",
        "GPU",
        availability.gpus_after_failure,
        "{gpus} GPUs - {hosts_lost} host x {gpus_per_host} GPUs = {value}",
        gpus=gpus,
        gpus_per_host=scenario.fact("hardware.gpus_per_host"),
        hosts_lost=_hosts_lost(scenario),
        hosts=hosts,
    )
    missing = sum(u.vms for g in groups for u in g.unplaced)
    worst = max((f.unplaced for pool in pools for f in pool.failures), default=0)
    not_placed = trail.record(
        "totals.unplaced_vms",
        "VMs not placed",
        "VM",
        placement.place,
        "{value} VMs have no GPU",
        missing,
        {"demand": asked},
    )
    after = trail.record(
        "totals.unplaced_vms_after_failure",
        "VMs not placed after the worst host failure",
        "VM",
        placement.after_failure,
        "{unplaced} in normal operation + {lost} more when the worst host fails = {value}",
        missing + worst,
        {
            "unplaced": not_placed,
            "lost": _placed_fact("plan/worst_host_failure", worst),
        },
    )
    return Totals(
        hosts=hosts.value,
        hosts_for_demand=needed.value,
        hosts_for_failures=spare.value,
        gpus=gpus.value,
        gpus_after_failure=remaining.value,
        gpus_demanded=asked.value,
        unplaced_vms=missing,
        unplaced_vms_after_failure=after.value,
    )


def fail_hosts(plan: Plan, pool_id: str, failed: Sequence[int]) -> placement.Outcome:
    """What happens when hosts of a pool fail.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    pool_id : str
        Id of the pool. [-]
    failed : sequence of int
        Numbers of the failed hosts, from 1. [-]

    Returns
    -------
    fail_hosts : Outcome
        Loads afterwards, restarts, moves and what is not placed; host numbers in it count from 0. [-]
    """
    pool = next(p for p in plan.pools if p.id == pool_id)
    return placement.after_failure(
        pool.placement, failed={n - 1 for n in failed}, gpus_per_host=pool.gpus_per_host
    )
