"""The plan as data: the contract of `--json`, and the tables."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from approved import is_approved

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.facts import BASES
from gpuplan.report.plan_data import plan_dict
from gpuplan.scenario import from_dict

NUMBER = (int, float)
CONTRACT: dict[str, Any] = {
    "version": int,
    "catalog": str,
    "scenario": dict,
    "totals": {
        "hosts": int,
        "hosts_for_demand": int,
        "hosts_for_failures": int,
        "gpus": int,
        "gpus_after_failure": int,
        "gpus_demanded": NUMBER,
        "unplaced_vms": int,
        "unplaced_vms_after_failure": int,
    },
    "pools": [
        {
            "id": str,
            "access_modes": [str],
            "server": str,
            "gpu": str,
            "hosts": int,
            "gpus_per_host": int,
            "gpus": int,
            "gpus_after_failure": int,
            "placement": [
                {
                    "host": int,
                    "offers": {"gpus": int, "vcpus": int, "memory_gib": int},
                    "gpus": [{"gpu": int, "share": (str, type(None)), "vms": list}],
                }
            ],
            "proof": {"method": str, "at_least_hosts": int},
            "shared_gpus": [{"share": str, "gpus": int, "at_least_gpus": int, "method": str}],
            "unplaced": [{"group": str, "vms": int, "gpus": NUMBER, "code": str, "reason": str}],
            "failures": [
                {
                    "host": int,
                    "alike": int,
                    "restarted": int,
                    "moved": int,
                    "unplaced": int,
                    "unplaced_gpus": NUMBER,
                }
            ],
            "losses": [{"lost": int, "gpus_left": int, "fits": bool, "without_moving": (bool, type(None))}],
            "idle": [{"kind": str, "family": str, "room": int, "count": int, "gpus": NUMBER, "fits": [str]}],
        }
    ],
    "power_on": [
        {
            "pool": str,
            "hosts": int,
            "orders": int,
            "sentence": str,
            "chance": (list, type(None)),
            "interval": (list, type(None)),
            "missing": (list, type(None)),
            "most_missing": (int, type(None)),
            "stranded_gpus": (float, int, type(None)),
            "readings": [{"rules": str, "words": str, "sources": [str]}],
        }
    ],
    "verdict": dict.fromkeys(("state", "fits", "starts", "survives", "tolerance", "note", "sentence"), str),
    "postures": [
        {
            "host_failures": int,
            "chosen": bool,
            "hosts": int,
            "gpus": int,
            "short_h": NUMBER,
            "exposed_h": NUMBER,
            "maintenance_short_h": NUMBER,
            "chance": NUMBER,
        }
    ],
    "sharing_modes": [{"id": str, "name": str, "verdict": str, "text": str, "basis": str, "sources": [str]}],
    "groups": [
        {
            "id": str,
            "name": str,
            "access_mode": str,
            "reasons": [{"code": str, "text": str, "basis": str, "sources": [str]}],
            "ruled_out": [{"mode": str, "possible": bool, "reason": dict}],
            "gives_up": [{"feature": str, "verdict": str, "text": str}],
            "keeps": [{"feature": str, "verdict": str, "text": str}],
            "vms": int,
            "vms_placed": int,
            "demand_gpus": NUMBER,
            "profile": str,
            "unplaced": list,
        }
    ],
    "network": {
        "remote": [
            {
                "id": str,
                "name": str,
                "workload": str,
                "users": int,
                "needs_gbit_s": NUMBER,
                "kept_low": NUMBER,
                "kept": NUMBER,
                "kept_high": NUMBER,
                "verdict": str,
                "basis": str,
                "changes": [str],
                "sources": [str],
            }
        ],
        "training": [
            {
                "id": str,
                "workload": str,
                "hosts": int,
                "gpus_per_host": int,
                "step_s": NUMBER,
                "efficiency_low": NUMBER,
                "efficiency": NUMBER,
                "efficiency_high": NUMBER,
                "per_s": NUMBER,
                "hours": (int, float, type(None)),
                "knee_hosts": int,
                "verdict": str,
                "basis": str,
            }
        ],
        "rules": [{"code": str, "met": (bool, type(None)), "text": str, "path": str, "sources": [str]}],
    },
    "llm": {"serving": list, "tuning": list, "retrieval": list, "token_costs": list},
    "inventory": (dict, type(None)),
    "cabling": (dict, type(None)),
    "power": (dict, type(None)),
    "management": (dict, type(None)),
    "host_line": (dict, type(None)),
    "costs": (dict, type(None)),
    "decisions": [
        {
            "number": int,
            "case": str,
            "title": str,
            "decision": str,
            "justification": str,
            "implication": str,
            "sources": [str],
        }
    ],
    "messages": [{"code": str, "level": str, "text": str, "change": str, "path": str, "sources": [str]}],
    "lines": [
        {
            "key": str,
            "label": str,
            "value": (int, float, str),
            "unit": str,
            "function": str,
            "formula": str,
            "inputs": [{"name": str, "key": str, "label": str, "unit": str, "basis": str, "sources": [str]}],
            "sources": [str],
            "basis": str,
        }
    ],
}


def check(data: Any, shape: Any, at: str = "plan") -> None:
    if isinstance(shape, dict):
        assert isinstance(data, dict), at
        for key, inner in shape.items():
            assert key in data, f"{at}.{key} is missing"
            check(data[key], inner, f"{at}.{key}")
    elif isinstance(shape, list):
        assert isinstance(data, list), at
        for number, item in enumerate(data):
            check(item, shape[0], f"{at}[{number}]")
    else:
        assert isinstance(data, shape), f"{at} is {data!r}"
        if shape is int or shape is NUMBER:
            assert not isinstance(data, bool), at


def test_the_contract(example: Plan) -> None:
    data = plan_dict(example)
    assert set(data) == set(CONTRACT)
    check(data, CONTRACT)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert all(line["basis"] in BASES for line in data["lines"])
    assert all(m["level"] in ("stop", "warn", "note") for m in data["messages"])


def test_the_contract_holds_for_what_is_not_placed(catalog: Catalog) -> None:
    for scenario in (
        {},
        {"demand": {"stated_gpus": 9}},
        {
            "groups": [{"id": "a", "people": 9}, {"id": "b", "gpus_each": 0.5, "access": "passthrough"}],
            "demand": {"rule": "stated", "stated_gpus": 4},
        },
    ):
        check(plan_dict(make_plan(from_dict(scenario), catalog)), CONTRACT)


def test_the_scenario_in_the_plan_is_the_scenario_as_vsphere_is_set_up(example: Plan) -> None:
    """Planned again it gives the same plan: what was not stated is still assumed."""
    scenario = from_dict(plan_dict(example)["scenario"])
    assert scenario == example.set_up == make_plan(scenario, example.catalog).set_up
    assert scenario.platform.vgpu_sizes == example.scenario.platform.vgpu_sizes
    assert replace(scenario, platform=example.scenario.platform, origins=()) == replace(
        example.scenario, origins=()
    )


def test_unplaced_vms_of_a_stated_total_are_listed_with_their_reason(catalog: Catalog) -> None:
    scenario = {"groups": [{"id": "a", "people": 9}], "demand": {"rule": "stated", "stated_gpus": 4}}
    (pool,) = plan_dict(make_plan(from_dict(scenario), catalog))["pools"]
    assert is_approved(pool["unplaced"], "group", "a", "vms", "5", "gpus", "5.0", "code", "reason")


def test_names_are_not_changed(catalog: Catalog) -> None:
    name = "<script>alert('&amp;')</script>"
    data = plan_dict(make_plan(from_dict({"name": name, "groups": [{"id": "a", "name": name}]}), catalog))
    assert data["scenario"]["name"] == data["groups"][0]["name"] == name


POWER: dict[str, Any] = {
    "parts": [{"name": str, "count": int, "peak_w": NUMBER, "typical_w": NUMBER}],
    "peak_w": NUMBER,
    "typical_w": NUMBER,
    "facility_w": NUMBER,
    "energy_kwh": NUMBER,
    "heat_btu_h": NUMBER,
    "emissions_kg": NUMBER,
    "rack_units_u": NUMBER,
    "hosts_per_rack": int,
    "racks": int,
    "excludes": [str],
}
PRICE: dict[str, Any] = {
    "key": str,
    "name": str,
    "per": str,
    "value": NUMBER,
    "currency": str,
    "basis": str,
    "as_of": str,
    "stated": bool,
    "old": bool,
    "sources": [str],
}
COSTS: dict[str, Any] = {
    "currency": str,
    "years": int,
    "as_of": str,
    "discount_rate": NUMBER,
    "hosts": [int],
    "gpus": [int],
    "cash": [NUMBER],
    "total": NUMBER,
    "net_present": NUMBER,
    "parts": [{"name": str, "yearly": [NUMBER], "total": NUMBER, "basis": str}],
    "groups": [{"id": str, "share": NUMBER, "total": NUMBER}],
    "materials": [{"key": str, "part": str, "name": str, "quantity": NUMBER, "rule": str, "sources": [str]}],
    "prices": [PRICE],
    "unknown": [{"key": str, "name": str, "per": str}],
    "excludes": [str],
    "outside": [str],
    "gpu_hour_installed": (int, float, type(None)),
    "gpu_hour_used": (int, float, type(None)),
    "utilisation": NUMBER,
}


def test_the_contract_of_power_and_cost(example: Plan, catalog: Catalog) -> None:
    data = plan_dict(example)
    check(data["power"], POWER, "power")
    check(data["costs"], COSTS, "costs")
    costs = data["costs"]
    assert costs["total"] == pytest.approx(sum(costs["cash"]))
    assert costs["total"] == pytest.approx(sum(part["total"] for part in costs["parts"]))
    assert costs["total"] == pytest.approx(sum(group["total"] for group in costs["groups"]))
    assert len(costs["cash"]) == costs["years"] + 1
    assert data["power"]["peak_w"] == pytest.approx(sum(part["peak_w"] for part in data["power"]["parts"]))
    blank = plan_dict(make_plan(from_dict({}), catalog))
    assert blank["power"] is None
    assert blank["costs"] is None
