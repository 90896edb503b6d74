"""A plan as plain data: the ``--json`` contract."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from gpuplan.analysis.procurement import orders
from gpuplan.analysis.rent_or_buy import token_prices
from gpuplan.plan import Plan, of_design
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.limits import Within
from gpuplan.plan.over_time.power_on import PowerOn
from gpuplan.plan.power import PowerUse
from gpuplan.plan.sharing import sharing_modes
from gpuplan.report.explain import formula_text
from gpuplan.report.table import Table, records
from gpuplan.report.tables.cost import price_dict
from gpuplan.report.tables.plan import gpu_rows

JSON_VERSION = 2
VERDICT = ("state", "fits", "starts", "survives", "tolerance", "note", "sentence")


@of_design
def plan_dict(plan: Plan) -> dict[str, Any]:
    """Return the whole plan as plain JSON values, all finite. The contract is documented in the README.

    Parameters:
        plan: The plan. [-]

    Returns:
        plan_dict (dict): Keys ``version``, ``catalog``, ``scenario``, ``totals``, ``verdict``, ``postures``, ``pools``,
            ``power_on``, ``groups``, ``llm``, ``inventory``, ``sharing_modes``, ``network``, ``cabling``, ``power``,
            ``kinds`` (of several kinds of hosts), ``management``, ``host_line``, ``costs``, ``decisions``, ``within`` (of the limits that are set), ``messages``, ``lines``. [-]
    """
    return {
        "version": JSON_VERSION,
        "catalog": plan.catalog.digest,
        "scenario": plan.set_up.to_dict(),
        "totals": plain(plan.totals),
        "verdict": {name: getattr(plan.verdict, name) for name in VERDICT},
        "postures": plain(plan.postures),
        "pools": [_pool(pool) for pool in plan.pools],
        "power_on": [_power_on(trial) for trial in plan.power_on.values()],
        "groups": [
            _without(plain(group), "mode", "traits") | {"access_mode": group.mode, **_traits(group)}
            for group in plan.groups
        ],
        "llm": {name: [plain(part) for part in parts.values()] for name, parts in plan.llm.parts.items()}
        | {"token_costs": plain(token_prices(plan))},
        "inventory": plain(plan.inventory),
        "sharing_modes": plain(sharing_modes(plan.scenario, plan.catalog)),
        "network": plain(plan.network),
        "cabling": _without(plain(plan.cabling), "kinds") if plan.cabling else None,
        "power": power_dict(plan.power),
        **({"kinds": [_kind(part) for part in plan.by_kind]} if plan.parts[1:] else {}),
        "management": plain(plan.management),
        "host_line": plain(plan.host_line),
        "costs": costs_dict(plan),
        "decisions": plain(plan.decisions),
        **({"within": [_within(each) for each in plan.within]} if plan.within else {}),
        "messages": plain(check_plan(plan)),
        "lines": [plain(line) | {"formula": formula_text(line)} for line in plan.lines.values()],
    }


def _within(each: Within) -> dict[str, Any]:
    """How far the design is within a limit."""
    return {**plain(each), "share": each.share, "over": each.over}


def _traits(group: GroupPlan) -> dict[str, Any]:
    keeps = [trait for trait in group.traits if trait.verdict == "yes"]
    return {"gives_up": plain([trait for trait in group.traits if trait not in keeps]), "keeps": plain(keeps)}


def power_dict(power: PowerUse | None) -> dict[str, Any] | None:
    """Return power, heat and space as plain JSON values; None without hosts."""
    return None if power is None else _without(plain(power), "facts", "kinds")


def _kind(part: Plan) -> dict[str, Any]:
    """Return the hosts of one kind, where a design has several."""
    hardware, use = (
        part.scenario.hardware,
        part.power.kinds.get(part.scenario.hardware.of) if part.power else None,
    )
    return {
        "name": hardware.of,
        "hardware": {name: getattr(hardware, name) for name in ("gpu", "server", "gpus_per_host", "storage")},
        "pools": [pool.id for pool in part.pools],
        "groups": [group.id for group in part.groups],
        "totals": plain(part.totals),
        "sharing_modes": plain(sharing_modes(part.scenario, part.catalog)),
        "host_line": plain(part.host_line),
        "power": use and _without(plain(use), "lines"),
        "ports": plain(part.cabling.ports_of(hardware.of)) if part.cabling else None,
    }


def costs_dict(plan: Plan) -> dict[str, Any] | None:
    """Return the cost as plain JSON values, unrounded, with ``ranges`` of totals; None without hosts."""
    costs = plan.costs
    if costs is None:
        return None
    named = ("materials", "parts", "prices", "decided", "orders")
    return _without(plain(costs), *named) | {
        "excludes": list(costs.excludes),
        "outside": list(costs.outside),
        "hardware": costs.hardware,
        "ranges": plain(plan.cost_ranges),
        "parts": [plain(part) | {"total": part.total} for part in costs.parts],
        "materials": [
            _without(plain(order.material), "price_key")
            | {"price": price_dict(order.material.price) if order.material.price else None}
            | {"unknown": order.material.unknown}
            | _without(plain(order), "material")
            for order in orders(plan)
        ],
        "prices": [price_dict(price) for price in costs.prices],
    }


def as_json(**parts: Any) -> dict[str, Any]:
    """Return the parts of a report as plain JSON values."""
    return {name: plain(part) for name, part in parts.items()}


def plain(record: Any) -> Any:
    """A record as plain JSON values: dataclasses and named tuples become dicts, tuples and arrays lists, tables their records."""
    if isinstance(record, Table):
        record = records(record)
    elif hasattr(record, "_asdict") or is_dataclass(record):
        record = fields_of(record)
    elif isinstance(record, np.ndarray):
        return np.round(record, 6).tolist()
    if isinstance(record, dict):
        return {str(name): plain(value) for name, value in record.items()}
    if isinstance(record, Sequence) and not isinstance(record, str):
        return [plain(item) for item in record]
    return record.item() if isinstance(record, np.generic) else record


def fields_of(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass or a named tuple by name."""
    if hasattr(record, "_asdict"):
        return dict(record._asdict())
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in names}


def _power_on(made: PowerOn) -> dict[str, Any]:
    """Return the power-on of a cluster as set; null where no order was tried."""
    now = made.now if made.known else None
    ends = ("chance", "interval", "missing", "most_missing", "stranded_gpus")
    readings = [{"rules": r.name, "words": r.words, "sources": list(r.sources)} for r in made.readings]
    first = {"pool": made.pool.id, "hosts": len(made.rooms), "orders": made.orders, "sentence": made.sentence}
    found = {name: plain(getattr(now, name)) if now else None for name in ends}
    return {**first, **found, "readings": readings}


def _pool(pool: Pool) -> dict[str, Any]:
    named = (
        "placement", "requests", "rooms", "new_room", "access", "shared", "bound", "method", "failures",
        "laid", "shares", "whole", "whole_name",
    )  # fmt: skip
    data = {f.name: plain(getattr(pool, f.name)) for f in fields(pool) if f.name not in named}
    data["access_modes"] = list(pool.access)
    data["new_needed"] = plain(pool.new_needed)
    data["proof"] = {"method": pool.method, "at_least_hosts": pool.bound}
    data["shared_gpus"] = [
        {"share": s.family, "gpus": s.gpus, "at_least_gpus": s.bound, "method": s.method} for s in pool.shared
    ]
    data["failures"] = [{"host": loss.hosts[0]} | _without(plain(loss), "hosts") for loss in pool.failures]
    rooms = enumerate(pool.rooms, 1)
    data["placement"] = [{"host": n, "offers": plain(room), "gpus": gpu_rows(pool, n)} for n, room in rooms]
    return data
