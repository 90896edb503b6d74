"""Versions of the scenario file: what an older file means in today's terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplan.scenario.hosts_and_vms import hosts_text
from gpuplan.scenario.inputs import GROUP_RULES, field_of
from gpuplan.scenario.problems import Problem, ScenarioError, show
from gpuplan.scenario.renamed import renamed

SCHEMA_VERSION = 2
SIZED_BY_TOTAL = "the file is of schema 1, in which a stated total sized the design"


def up_to_date(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The data of a file in the terms of this version; a file of an unknown version is refused."""
    version = data.get("schema", SCHEMA_VERSION)
    if isinstance(version, bool) or version not in (1, SCHEMA_VERSION):
        allowed = f"this version of gpuplan reads schema 1 and {SCHEMA_VERSION}"
        raise ScenarioError([Problem("schema", show(version), allowed)])
    data = renamed(data)
    data = _hosts_of_kinds(data)
    return _total_decides(data) if version == 1 else data


OLD_HOSTS, OLD_GPUS = "existing_hosts", "existing_gpus_per_host"


def _hosts_of_kinds(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Before there were several kinds of hosts already there, they were a number of hosts with so many GPUs each: one kind."""
    hardware, origins = data.get("hardware"), data.get("origins")
    if not isinstance(hardware, Mapping) or not {OLD_HOSTS, OLD_GPUS} & hardware.keys():
        return data
    now = {key: value for key, value in hardware.items() if key not in (OLD_HOSTS, OLD_GPUS)}
    if hosts := hardware.get(OLD_HOSTS):
        row = {"hosts": hosts, "gpus_per_host": hardware.get(OLD_GPUS)}
        if hosts_text([row]) is None:
            given = f"{show(hosts)} with {show(row['gpus_per_host'])} GPUs"
            raise ScenarioError(
                [Problem(f"hardware.{OLD_HOSTS}", given, field_of("hardware.existing").allowed())]
            )
        now.setdefault("existing", [row])
    changed: dict[Any, Any] = {**data, "hardware": now}
    if isinstance(origins, Mapping):
        kept = {
            key: value
            for key, value in origins.items()
            if key not in (f"hardware.{OLD_HOSTS}", f"hardware.{OLD_GPUS}")
        }
        if f"hardware.{OLD_HOSTS}" in origins and "existing" in now:
            kept["hardware.existing"] = origins[f"hardware.{OLD_HOSTS}"]
        changed["origins"] = kept
    return changed


def _total_decides(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """In schema 1 a stated total sized the design whatever the groups needed; that is a sizing rule now."""
    demand, origins, notes = data.get("demand"), data.get("origins", {}), data.get("notes", [])
    if not isinstance(demand, Mapping) or demand.get("stated_gpus") is None or not data.get("groups"):
        return data
    rule = demand.get("rule", "sum")
    if rule not in GROUP_RULES:
        return data
    changed: dict[Any, Any] = {**data, "demand": {**demand, "rule": "stated"}}
    if isinstance(origins, Mapping):
        origin = {"basis": "derived", "source": "scenario", "note": SIZED_BY_TOTAL}
        changed["origins"] = {**origins, "demand.rule": origin}
    if rule != "sum" and isinstance(notes, list):
        text = (
            f"{SIZED_BY_TOTAL[0].upper()}{SIZED_BY_TOTAL[1:]}, and the rule {rule!r} divided it among the groups. "
            "The total is unchanged; the groups now take their shares of it at their own peaks."
        )
        changed["notes"] = [*notes, {"text": text, "source": "gpuplan-method"}]
    return changed
