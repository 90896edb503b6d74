"""Versions of the scenario file: the meaning of an older file in today's terms, and names that have changed since."""

from collections.abc import Mapping
from typing import Any

from gpuplan.facts import own_rows
from gpuplan.scenario.hosts_and_vms import hosts_text
from gpuplan.scenario.inputs import FIELD_BY_PATH, GROUP_FIELD_BY_NAME, GROUP_RULES, field_of
from gpuplan.scenario.problems import Problem, ScenarioError, problem, show
from gpuplan.wording import said

SCHEMA_VERSION = 2
OLD_HOSTS, OLD_GPUS = "existing_hosts", "existing_gpus_per_host"
OLD_FACTS = ("access", "gpus_each", "vgpus_each", "remote_allowed", "low_latency")
"""Inputs of the old access rules."""
GPU_LICENCES = {"year": (), "5-years": (("licence_term_years", 5),)}
"""Old GPU software licence -> its other implied values; both are subscriptions now."""
OF_A_TERM = {"nvaie-5-years": ("nvaie-year-5", 5)}
"""Old price key, for a whole term -> its key now, and the years of the term: the price is for one year now."""
SIZING_RULES = {"turned-away": "denied"}
"""Old sizing rule -> its name today."""


def up_to_date(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The data of a file in the terms of this version; a file of an unknown version is refused."""
    version = data.get("schema", SCHEMA_VERSION)
    if isinstance(version, bool) or version not in (1, SCHEMA_VERSION):
        raise ScenarioError([problem("schema", show(version), "file.version", newest=SCHEMA_VERSION)])
    data = renamed(data)
    data = _hosts_of_kinds(data)
    return _total_decides(_whole_as_vgpus(data)) if version == 1 else data


def _hosts_of_kinds(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Convert a number of existing hosts with a number of GPUs each, as older files have it, to one kind of host."""
    hardware, origins = data.get("hardware"), data.get("origins")
    if not isinstance(hardware, Mapping) or not {OLD_HOSTS, OLD_GPUS} & hardware.keys():
        return data
    now = {key: value for key, value in hardware.items() if key not in (OLD_HOSTS, OLD_GPUS)}
    if hosts := hardware.get(OLD_HOSTS):
        row = {"hosts": hosts, "gpus_per_host": hardware.get(OLD_GPUS)}
        if hosts_text([row]) is None:
            shown = said("file.old hosts", hosts=show(hosts), gpus=show(row["gpus_per_host"]))
            allowed = field_of("hardware.existing").allowed()
            raise ScenarioError([Problem(f"hardware.{OLD_HOSTS}", shown, allowed)])
        now.setdefault("existing", [row])
    changed: dict[Any, Any] = {**data, "hardware": now}
    if isinstance(origins, Mapping):
        old = (f"hardware.{OLD_HOSTS}", f"hardware.{OLD_GPUS}")
        kept = {key: value for key, value in origins.items() if key not in old}
        if f"hardware.{OLD_HOSTS}" in origins and "existing" in now:
            kept["hardware.existing"] = origins[f"hardware.{OLD_HOSTS}"]
        changed["origins"] = kept
    return changed


def _whole_as_vgpus(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Before groups could state a need for vMotion, whole GPUs without Bitfusion were vGPUs wherever possible."""
    groups, origins, notes = data.get("groups"), data.get("origins", {}), data.get("notes", [])
    if not isinstance(groups, list) or not isinstance(origins, Mapping) or not isinstance(notes, list):
        return data
    pinned = [g for g in groups if isinstance(g, Mapping) and _was_vgpu(data, g)]
    if not pinned:
        return data
    origin = {"basis": "derived", "source": "scenario", "note": said("file.schema 1 vgpus")}
    names = ", ".join(str(g.get("name") or g.get("id")) for g in pinned)
    return {
        **data,
        "groups": [{**g, "access": "vgpu"} if g in pinned else g for g in groups],
        "origins": {**origins, **{f"groups.{g.get('id')}.access": origin for g in pinned}},
        "notes": [*notes, _note(said("file.schema 1 vgpus note", names=names))],
    }


def _note(text: str) -> dict[str, str]:
    return {"text": text, "source": "gpuplan-method"}


def _given(data: Mapping[Any, Any], section: str, name: str) -> Any:
    stated = data.get(section)
    default = FIELD_BY_PATH[f"{section}.{name}"].default
    return stated.get(name, default) if isinstance(stated, Mapping) else default


def _was_vgpu(data: Mapping[Any, Any], group: Mapping[Any, Any]) -> bool:
    """True if automatic access by the old rules gave a group whole GPUs as vGPUs."""
    fields = {name: group.get(name, GROUP_FIELD_BY_NAME[name].default) for name in OLD_FACTS}
    version, gpu = _given(data, "platform", "vsphere"), _given(data, "hardware", "gpu")
    facts = {row["parameter"]: row["value"] for row in own_rows("vsphere") if row["item"] == version}
    gpus = _whole_gpus(fields)
    if not gpus or "vmotion" in group or gpus > int(facts.get("max_vgpus_per_vm", 0)):
        return False
    remote = fields["remote_allowed"] and not fields["low_latency"] and gpus == 1
    if remote and _given(data, "platform", "bitfusion") and facts.get("bitfusion_server") == "supported":
        return False
    return any(
        row["gpu"] == gpu and row["backing"] == "timesliced" and row["full_frame_buffer"] == "true"
        for row in own_rows("profiles")
    )


def _whole_gpus(known: Mapping[str, Any]) -> int:
    """Whole GPUs of one VM, as one vGPU each or unspecified; 0 for parts, and where the access is stated."""
    gpus = str(known["gpus_each"]).removesuffix(".0")
    if known["access"] != "auto" or not gpus.isdigit() or known["vgpus_each"] not in (1, int(gpus)):
        return 0
    return int(gpus)


def _total_decides(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """In schema 1 a stated total sized the design whatever the groups needed; this is a sizing rule now."""
    demand, origins, notes = data.get("demand"), data.get("origins", {}), data.get("notes", [])
    if not isinstance(demand, Mapping) or demand.get("stated_gpus") is None or not data.get("groups"):
        return data
    rule = demand.get("rule", "sum")
    if rule not in GROUP_RULES:
        return data
    changed: dict[Any, Any] = {**data, "demand": {**demand, "rule": "stated"}}
    if isinstance(origins, Mapping):
        origin = {"basis": "derived", "source": "scenario", "note": said("file.schema 1 total")}
        changed["origins"] = {**origins, "demand.rule": origin}
    if rule != "sum" and isinstance(notes, list):
        changed["notes"] = [*notes, _note(said("file.schema 1 total note", rule=rule))]
    return changed


def renamed(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return the data of a scenario file with today's names; unknown content stays as it is."""
    data = {**data}
    cost, prices, ranges = (data.get(name) for name in ("cost", "prices", "ranges"))
    demand = data.get("demand")
    if isinstance(demand, Mapping) and isinstance(rule := demand.get("rule"), str):
        data["demand"] = {**demand, "rule": SIZING_RULES.get(rule, rule)}
    if (
        isinstance(cost, Mapping)
        and isinstance(licence := cost.get("gpu_licence"), str)
        and licence in GPU_LICENCES
    ):
        data["cost"] = {**dict(GPU_LICENCES[licence]), **cost, "gpu_licence": "subscription"}
    if isinstance(prices, Mapping):
        data["prices"] = _by_year(prices, "")
    if isinstance(ranges, Mapping):
        data["ranges"] = _by_year(ranges, "prices.")
    if isinstance(origins := data.get("origins"), Mapping):
        keys = {f"prices.{old}": f"prices.{new}" for old, (new, _) in OF_A_TERM.items()}
        data["origins"] = {_moved(path, keys): origin for path, origin in origins.items()}
    return data


def _moved(path: Any, keys: Mapping[str, str]) -> Any:
    if not isinstance(path, str):
        return path
    head = "ranges." * path.startswith("ranges.")
    return head + keys.get(path.removeprefix(head), path.removeprefix(head))


def _by_year(given: Mapping[Any, Any], head: str) -> dict[Any, Any]:
    """Return prices, or ranges of them, with whole-term prices divided into yearly ones."""
    prices = dict(given)
    for old, (new, years) in OF_A_TERM.items():
        value = prices.pop(head + old, None)
        if isinstance(value, list):
            prices.setdefault(head + new, [_share(end, years) for end in value])
        elif value is not None:
            prices.setdefault(head + new, _share(value, years))
    return prices


def _share(value: Any, years: int) -> Any:
    return value / years if isinstance(value, int | float) and not isinstance(value, bool) else value
