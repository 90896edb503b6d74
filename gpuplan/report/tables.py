"""A plan as plain data (the ``--json`` contract), as tables, and as pandas frames."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from gpuplan.checks import check_plan
from gpuplan.plan import Plan
from gpuplan.records import Pool
from gpuplan.report.explain import formula_text
from gpuplan.report.numbers import MODE_NAMES
from gpuplan.scenario import UNASSIGNED

if TYPE_CHECKING:
    import pandas as pd

JSON_VERSION = 1


def plan_dict(plan: Plan) -> dict[str, Any]:
    """The whole plan as plain JSON values, all finite. The contract is documented in the README.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    plan_dict : dict
        Keys ``version``, ``catalog``, ``scenario``, ``totals``, ``pools``, ``groups``, ``decisions``, ``messages``,
        ``lines``. [-]
    """
    return {
        "version": JSON_VERSION,
        "catalog": plan.catalog.digest,
        "scenario": plan.scenario.to_dict(),
        "totals": _plain(plan.totals),
        "pools": [_pool(pool) for pool in plan.pools],
        "groups": [
            _without(_plain(group), "mode", "traits")
            | {
                "access_mode": group.mode,
                "gives_up": [_plain(t) for t in group.traits if t.verdict != "yes"],
                "keeps": [_plain(t) for t in group.traits if t.verdict == "yes"],
            }
            for group in plan.groups
        ],
        "decisions": [_plain(d) for d in plan.decisions],
        "messages": [_plain(m) for m in check_plan(plan)],
        "lines": [_plain(line) | {"formula": formula_text(line)} for line in plan.lines.values()],
    }


def _plain(record: Any) -> Any:
    if is_dataclass(record):
        return {f.name: _plain(getattr(record, f.name)) for f in fields(record)}
    if isinstance(record, tuple | list):
        return [_plain(item) for item in record]
    return record


def _without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in names}


def _pool(pool: Pool) -> dict[str, Any]:
    data = _without(_plain(pool), "placement", "access", "shared", "bound", "method")
    data["access_modes"] = list(pool.access)
    data["proof"] = {"method": pool.method, "at_least_hosts": pool.bound}
    data["shared_gpus"] = [
        {"share": name, "gpus": gpus, "at_least_gpus": bound, "method": method}
        for name, gpus, bound, method in pool.shared
    ]
    data["placement"] = [
        {"host": number, "gpus": gpu_rows(pool, number)} for number in range(1, len(pool.placement) + 1)
    ]
    return data


def group_names(plan: Plan) -> dict[str, str]:
    """Name of each group by its id, and what is said of GPUs that belong to none."""
    return {g.id: g.name for g in plan.groups} | {UNASSIGNED: "Not assigned to a group"}


def gpu_rows(pool: Pool, host: int) -> list[dict[str, Any]]:
    """The GPUs of a host (numbered from 1) with the VMs on each."""
    rows: list[dict[str, Any]] = []
    for load in pool.placement[host - 1]:
        vms = [{"group": slot.group, "vm": slot.vm} for slot in load.slots]
        for _ in range(load.gpus):
            rows.append({"gpu": len(rows) + 1, "share": load.share_class or None, "vms": vms})
    rows += [{"gpu": n, "share": None, "vms": []} for n in range(len(rows) + 1, pool.gpus_per_host + 1)]
    return rows


def plan_tables(plan: Plan) -> dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]]:
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
            ("pool", "host_lost", "vms_restarted", "vms_moved", "vms_not_placed"),
            [
                (pool.name, f.host, f.restarted, f.moved, f.unplaced)
                for pool in plan.pools
                for f in pool.failures
            ],
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


def plan_frames(plan: Plan) -> dict[str, pd.DataFrame]:
    """The plan's tables as pandas frames; pandas comes with ``gpuplan[app]``.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    plan_frames : dict of str to DataFrame
        ``totals``, ``groups``, ``pools``, ``placement``, ``failures``, ``decisions``, ``messages``, ``lines``. [-]
    """
    import pandas as pd

    return {
        name: pd.DataFrame(rows, columns=list(columns)) for name, (columns, rows) in plan_tables(plan).items()
    }
