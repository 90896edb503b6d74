"""A plan as plain data (the ``--json`` contract), as tables, and as pandas frames."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from gpuplan.models.availability.failover import Idle
from gpuplan.models.placement import Room
from gpuplan.plan import Plan
from gpuplan.plan.access import sharing_modes
from gpuplan.plan.checks import check_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.power import PowerUse
from gpuplan.plan.prices import Price
from gpuplan.plan.results import Pool
from gpuplan.report.explain import formula_text
from gpuplan.scenario import UNASSIGNED
from gpuplan.wording import MODE_NAMES, amount, number

if TYPE_CHECKING:
    import pandas as pd

JSON_VERSION = 2

Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]
"""Column names, and rows."""


def plan_dict(plan: Plan) -> dict[str, Any]:
    """The whole plan as plain JSON values, all finite. The contract is documented in the README.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    plan_dict : dict
        Keys ``version``, ``catalog``, ``scenario``, ``totals``, ``postures``, ``pools``, ``groups``, ``sharing_modes``,
        ``network``, ``cabling``, ``power``, ``costs``, ``decisions``, ``messages``, ``lines``. [-]
    """
    return {
        "version": JSON_VERSION,
        "catalog": plan.catalog.digest,
        "scenario": plan.scenario.to_dict(),
        "totals": plain(plan.totals),
        "postures": plain(plan.postures),
        "pools": [_pool(pool) for pool in plan.pools],
        "groups": [
            _without(plain(group), "mode", "traits")
            | {
                "access_mode": group.mode,
                "gives_up": [plain(t) for t in group.traits if t.verdict != "yes"],
                "keeps": [plain(t) for t in group.traits if t.verdict == "yes"],
            }
            for group in plan.groups
        ],
        "sharing_modes": plain(sharing_modes(plan.scenario, plan.catalog)),
        "network": plain(plan.network),
        "cabling": plain(plan.cabling),
        "power": power_dict(plan.power),
        "costs": None if plan.costs is None else costs_dict(plan.costs),
        "decisions": [plain(d) for d in plan.decisions],
        "messages": [plain(m) for m in check_plan(plan)],
        "lines": [plain(line) | {"formula": formula_text(line)} for line in plan.lines.values()],
    }


def power_dict(power: PowerUse | None) -> dict[str, Any] | None:
    """Power, heat and space as plain JSON values; None without hosts."""
    return None if power is None else _without(plain(power), "facts")


def costs_dict(costs: Costs) -> dict[str, Any]:
    """The money of a plan as plain JSON values, in one currency and unrounded.

    Parameters
    ----------
    costs : Costs
        The costs of a plan. [-]

    Returns
    -------
    costs_dict : dict
        Totals, cash by year, parts, groups, ``materials``, ``prices``, and what is ``unknown``. [-]
    """
    named = ("materials", "parts", "prices")
    return _without(plain(costs), *named) | {
        "excludes": list(costs.excludes),
        "outside": list(costs.outside),
        "hardware": costs.hardware,
        "parts": [plain(part) | {"total": part.total} for part in costs.parts],
        "materials": [
            plain(material)
            | {"price": None if material.price is None else price_dict(material.price)}
            | {"unknown": material.unknown}
            for material in costs.materials
        ],
        "prices": [price_dict(price) for price in costs.prices],
    }


def price_dict(price: Price) -> dict[str, Any]:
    """A price, how well it is known, and where from."""
    fact = price.fact
    return {
        "key": price.key,
        "name": price.name,
        "per": price.per,
        "value": price.value,
        "low": fact.low,
        "high": fact.high,
        "currency": fact.unit,
        "basis": fact.basis,
        "as_of": price.as_of,
        "stated": price.stated,
        "old": price.old,
        "sources": list(fact.sources),
        "locator": fact.locator,
        "note": fact.note,
    }


def plain(record: Any) -> Any:
    """A record as plain JSON values: dataclasses and named tuples become dicts, tuples lists."""
    if is_dataclass(record):
        return {f.name: plain(getattr(record, f.name)) for f in fields(record)}
    if hasattr(record, "_asdict"):
        return {name: plain(value) for name, value in record._asdict().items()}
    if isinstance(record, tuple | list):
        return [plain(item) for item in record]
    return record


def _without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in names}


def _pool(pool: Pool) -> dict[str, Any]:
    named = ("placement", "requests", "rooms", "new_room", "access", "shared", "bound", "method", "failures")
    data = {f.name: plain(getattr(pool, f.name)) for f in fields(pool) if f.name not in named}
    data["access_modes"] = list(pool.access)
    data["proof"] = {"method": pool.method, "at_least_hosts": pool.bound}
    data["shared_gpus"] = [
        {"share": s.family, "gpus": s.gpus, "at_least_gpus": s.bound, "method": s.method} for s in pool.shared
    ]
    data["failures"] = [
        {"host": loss.hosts[0] + 1} | _without(plain(loss), "hosts") for loss in pool.failures
    ]
    data["placement"] = [
        {"host": number, "offers": plain(room), "gpus": gpu_rows(pool, number)}
        for number, room in enumerate(pool.rooms, 1)
    ]
    return data


def group_names(plan: Plan) -> dict[str, str]:
    """Name of each group by its id, and what is said of GPUs that belong to none."""
    return {g.id: g.name for g in plan.groups} | {UNASSIGNED: "Not assigned to a group"}


def idle_text(plan: Plan, idle: Idle) -> str:
    """What is idle, where, and who could use it, in one sentence."""
    names = group_names(plan)
    if idle.kind == "whole":
        each = "" if idle.count == 1 else " each"
        what = f"{amount(idle.room, 'GPU')}{each} idle on {amount(idle.count, 'host')}"
        pool = next(pool for pool in plan.pools if idle in pool.idle)
        few = any(request.gpus <= idle.room for request in pool.requests)
        why = (
            "what is left of CPU and memory there is too little"
            if few
            else "no VM in this design asks for so few GPUs at once"
        )
    else:
        places = "MB of memory" if idle.family == "bitfusion" else "place" if idle.room == 1 else "places"
        each = "" if idle.count == 1 else " on each"
        what = (
            f"{number(idle.room)} {places} free{each} of {amount(idle.count, 'GPU')} shared as {idle.family}"
        )
        why = "no VM in this design fits into what is left"
    if idle.fits:
        return f"{what}: room for {', '.join(names[g] for g in idle.fits)}."
    return f"{what}, stranded: {why}."


def host_kinds(pool: Pool) -> list[list[int]]:
    """Indices of the hosts that are filled alike, the most frequent kind first.

    Parameters
    ----------
    pool : Pool
        Hosts and who is on them. [-]

    Returns
    -------
    host_kinds : list of list of int
        Each host in one list, counted from 0. [-]
    """
    kinds: dict[tuple[Room, str], list[int]] = {}
    for index, (room, host) in enumerate(zip(pool.rooms, pool.placement, strict=True)):
        loads = [(load.gpus, sorted((s.group, s.profile, s.weight) for s in load.slots)) for load in host]
        kinds.setdefault((room, repr(loads)), []).append(index)
    return sorted(kinds.values(), key=lambda members: (-len(members), members[0]))


def gpu_rows(pool: Pool, host: int) -> list[dict[str, Any]]:
    """The GPUs of a host (numbered from 1) with the VMs on each."""
    rows: list[dict[str, Any]] = []
    for load in pool.placement[host - 1]:
        share = load.family.name if load.family else None
        vms = [{"group": slot.group, "vm": slot.vm, "profile": slot.profile or None} for slot in load.slots]
        for _ in range(load.gpus):
            rows.append({"gpu": len(rows) + 1, "share": share, "vms": vms})
    free = range(len(rows) + 1, pool.rooms[host - 1].gpus + 1)
    rows += [{"gpu": number, "share": None, "vms": []} for number in free]
    return rows


def plan_tables(plan: Plan) -> dict[str, Table]:
    """The plan's tables: name -> (column names, rows)."""
    names = group_names(plan)
    return {
        "totals": (
            ("figure", "value", "unit"),
            [
                (line.label, line.value, line.unit)
                for key, line in plan.lines.items()
                if key == "demand.gpus" or key.startswith("totals.")
            ],
        ),
        "groups": (
            ("group", "access", "active", "vms", "gpus_each", "gpus", "profile", "pool", "vms_not_placed"),
            [
                (
                    g.name,
                    MODE_NAMES[g.mode],
                    g.active,
                    g.vms,
                    g.gpus_each,
                    g.demand_gpus,
                    g.profile,
                    g.pool,
                    sum(u.vms for u in g.unplaced),
                )
                for g in plan.groups
            ],
        ),
        "pools": (
            (
                "pool",
                "server",
                "gpu",
                "gpus_per_host",
                "hosts_for_demand",
                "hosts_for_failures",
                "hosts",
                "gpus",
                "gpus_after_failure",
                "proof",
            ),
            [
                (
                    p.name,
                    p.server,
                    p.gpu,
                    p.gpus_per_host,
                    p.hosts_for_demand,
                    p.hosts_for_failures,
                    p.hosts,
                    p.gpus,
                    p.gpus_after_failure,
                    p.method,
                )
                for p in plan.pools
            ],
        ),
        "placement": (
            ("pool", "host", "gpu", "share", "group", "vm"),
            [
                (pool.name, host, row["gpu"], row["share"] or "", names[vm["group"]], vm["vm"])
                for pool in plan.pools
                for host in range(1, pool.hosts + 1)
                for row in gpu_rows(pool, host)
                for vm in row["vms"]
            ],
        ),
        "failures": (
            ("pool", "host_lost", "hosts_alike", "vms_restarted", "vms_moved", "vms_not_placed"),
            [
                (pool.name, f.hosts[0] + 1, f.alike, f.restarted, f.moved, f.unplaced)
                for pool in plan.pools
                for f in pool.failures
            ],
        ),
        "shared_gpus": (
            ("pool", "share", "gpus", "at_least", "proof"),
            [(p.name, s.family, s.gpus, s.bound, s.method) for p in plan.pools for s in p.shared],
        ),
        "idle": (
            ("pool", "kind", "share", "free_each", "count", "gpus_idle", "usable_by"),
            [
                (p.name, i.kind, i.family, i.room, i.count, i.gpus, ", ".join(names[g] for g in i.fits))
                for p in plan.pools
                for i in p.idle
            ],
        ),
        "postures": (
            (
                "posture",
                "hosts",
                "gpus",
                "hours_short",
                "hours_exposed",
                "hours_short_in_maintenance",
                "chance",
            ),
            [
                (
                    f"N+{p.host_failures}",
                    p.hosts,
                    p.gpus,
                    p.short_h,
                    p.exposed_h,
                    p.maintenance_short_h,
                    p.chance,
                )
                for p in plan.postures
            ],
        ),
        "remote_gpus": (
            ("group", "work", "users", "gbit_s_each", "kept_low", "kept", "kept_high", "verdict", "basis"),
            [
                (
                    r.name,
                    r.workload_name,
                    r.users,
                    r.needs_gbit_s,
                    r.kept_low,
                    r.kept,
                    r.kept_high,
                    r.verdict,
                    r.basis,
                )
                for r in plan.network.remote
            ],
        ),
        "training": (
            (
                "job",
                "work",
                "hosts",
                "gpus_per_host",
                "low",
                "efficiency",
                "high",
                "per_s",
                "knee_hosts",
                "basis",
            ),
            [
                (
                    t.name,
                    t.workload_name,
                    t.hosts,
                    t.gpus_per_host,
                    t.efficiency_low,
                    t.efficiency,
                    t.efficiency_high,
                    t.per_s,
                    t.knee_hosts,
                    t.basis,
                )
                for t in plan.network.training
            ],
        ),
        "materials": _materials_table(plan),
        "cost_by_year": _cost_by_year_table(plan),
        "prices": _prices_table(plan),
        "sharing_modes": (
            ("mode", "possible", "rule"),
            [(m.name, m.verdict, m.text) for m in sharing_modes(plan.scenario, plan.catalog)],
        ),
        "decisions": (
            ("number", "title", "decision", "justification", "implication"),
            [(d.number, d.title, d.decision, d.justification, d.implication) for d in plan.decisions],
        ),
        "messages": (
            ("level", "code", "text", "change"),
            [(m.level, m.code, m.text, m.change) for m in check_plan(plan)],
        ),
        "lines": (
            ("key", "label", "value", "unit", "formula", "basis", "sources"),
            [
                (
                    line.key,
                    line.label,
                    line.value,
                    line.unit,
                    formula_text(line),
                    line.basis,
                    "; ".join(line.sources),
                )
                for line in plan.lines.values()
            ],
        ),
    }


def _materials_table(plan: Plan) -> Table:
    return (
        (
            "part",
            "name",
            "quantity",
            "rule",
            "status",
            "unit_price",
            "discount",
            "cost",
            "currency",
            "sources",
        ),
        [
            (
                m.part,
                m.name,
                m.quantity,
                m.rule,
                m.status,
                m.price.value if m.price else None,
                m.discount,
                m.cost,
                plan.costs.currency,
                "; ".join(m.sources),
            )
            for m in plan.costs.materials
        ]
        if plan.costs
        else [],
    )


def _cost_by_year_table(plan: Plan) -> Table:
    years = plan.scenario.cost.years
    columns = ("part", "at_start", *(f"year_{year}" for year in range(1, years + 1)), "total", "basis")
    parts = plan.costs.parts if plan.costs else ()
    return columns, [(part.name, *part.yearly, part.total, part.basis) for part in parts]


def _prices_table(plan: Plan) -> Table:
    shown = ("key", "name", "per", "value", "low", "high", "currency", "basis", "as_of", "stated", "old")
    columns = (*shown, "sources")
    if plan.costs is None:
        return columns, []
    known = [price_dict(price) for price in plan.costs.prices]
    rows: list[tuple[Any, ...]] = [
        (*(price[name] for name in shown), "; ".join(price["sources"])) for price in known
    ]
    rows += [
        (
            item.key,
            item.name,
            item.per,
            None,
            None,
            None,
            plan.costs.currency,
            "unknown",
            "",
            False,
            False,
            "",
        )
        for item in plan.costs.unknown
    ]
    return columns, rows


def plan_frames(plan: Plan) -> dict[str, pd.DataFrame]:
    """The plan's tables as pandas frames; pandas comes with ``gpuplan[app]``.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    plan_frames : dict of str to DataFrame
        The tables of ``plan_tables``, among them ``totals``, ``groups``, ``placement``, ``failures``, ``cost_by_year`` and
        ``lines``. [-]
    """
    import pandas as pd

    return {
        name: pd.DataFrame(rows, columns=list(columns)) for name, (columns, rows) in plan_tables(plan).items()
    }
