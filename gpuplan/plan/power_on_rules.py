"""Rules of power-on: what vSphere does when a VM starts, as far as it is known. Where sources differ there are several readings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact
from gpuplan.models import power_on
from gpuplan.models.placement import Family, Request
from gpuplan.plan.hardware import has_nvswitch
from gpuplan.plan.sharing import pieces_of, profiles_of, version_order
from gpuplan.scenario import Scenario

BRIDGED = 2
"""GPUs that a bridge joins where the catalog knows no more of the board (``rules/nvlink-device-group``)."""


def alike(asked: Sequence[Request]) -> bool:
    """Whether all VMs ask for the same, so that all orders are one."""
    return len({request._replace(group="", vms=0) for request in asked}) == 1


class Reading(NamedTuple):
    """One reading of the rules, as a whole."""

    name: str
    """Ids of its rows in ``data/power_on_rules.csv``."""
    words: str
    rules: power_on.Rules
    sources: tuple[str, ...]


def readings_of(
    scenario: Scenario, catalog: Catalog, kind: str, asked: Sequence[Request]
) -> tuple[Reading, ...]:
    """Every reading of the rules for VMs of a kind of pool: one where all is known, none where Bitfusion shares the GPUs."""
    if any(request.family and request.family.capacity for request in asked):
        return ()
    families = list(dict.fromkeys(request.family for request in asked if request.family))
    hosts = _hosts(scenario, catalog, kind)
    ways = [_ways(scenario, catalog, family) for family in families]
    if alike(asked):  # every order is the same
        hosts, ways = hosts[:1], [each[:1] for each in ways]
    domain, partitions, linked = _links(scenario, catalog, kind, asked)
    found = dict[power_on.Rules, Reading]()
    for host, chosen in product(hosts, list(product(*ways))):
        given = tuple((family.name, way) for family, (_, way) in zip(families, chosen, strict=True))
        rules = power_on.Rules(host["take"], host["policy"] == "consolidate", given, domain, partitions)
        found[rules] = _reading(rules, [host, *(row for row, _ in chosen), *linked])
    return tuple(found.values())


def _reading(rules: power_on.Rules, said: Sequence[Row]) -> Reading:
    """A reading of the rules, by the rows that say so."""
    rows = {row.id: row for row in said}
    words = "; ".join(row["words"] for row in rows.values())
    sources = tuple(dict.fromkeys(source for row in rows.values() for source in row.sources))
    return Reading(" ".join(rows), words, rules, sources)


def _rows(catalog: Catalog, mode: str) -> list[Row]:
    return [row for row in catalog.rows("power_on_rules") if row["mode"] == mode]


def _hosts(scenario: Scenario, catalog: Catalog, kind: str) -> list[Row]:
    """How the host is chosen; consolidation looks at vGPUs alone."""
    asked = "consolidate" if scenario.platform.drs_consolidation and kind == "vgpu" else "default"
    return [row for row in _rows(catalog, "host") if row["policy"] == asked]


def _ways(scenario: Scenario, catalog: Catalog, family: Family) -> list[tuple[Row, power_on.Way]]:
    """How the shares of a family are put on GPUs; where only one profile is asked for, its starts never exclude each other."""
    gpu = catalog.gpus[scenario.hardware.gpu]
    backing = next(r["backing"] for r in catalog.profiles_of(gpu.id) if r["profile"] == family.profiles[0])
    mixed = scenario.platform.vgpu_sizes == "mixed"
    mode = "mig" if backing == "mig" else "mixed-size" if mixed else "same-size"
    rows = [
        row
        for row in _rows(catalog, mode)
        if row["architecture"] in ("all", gpu.value("architecture"))
        and row["policy"] in (None, scenario.platform.gpu_policy)
    ]
    if len(family.profiles) == 1:
        return list({row["take"]: (row, power_on.Way(row["take"])) for row in reversed(rows)}.values())[::-1]
    version = catalog.vsphere[scenario.platform.vsphere]
    every = [profile.name for profile in profiles_of(catalog, gpu.id, backing, version)]
    places = pieces_of(scenario, catalog, every)
    if not places[0]:
        places = pieces_of(scenario, catalog, family.profiles)
    return [(row, power_on.Way(row["take"], row["start"] or "lowest", *places)) for row in rows]


def _links(
    scenario: Scenario, catalog: Catalog, kind: str, asked: Sequence[Request]
) -> tuple[int, bool, list[Row]]:
    """(GPUs of an NVLink domain, whether NVSwitch has partitions, the rules that say so) for VMs with several GPUs."""
    gpu, wanted = catalog.gpus[scenario.hardware.gpu], scenario.platform.nvlink_groups
    several = any(request.gpus > 1 for request in asked)
    if kind != "vgpu" or wanted == "no" or not several:
        return 0, False, []
    if has_nvswitch(scenario, catalog):
        return 0, True, _rows(catalog, "nvswitch")
    joined = int(gpu.value("nvlink_bridge_gpus") or 0)
    if wanted == "yes" and not joined and not str(gpu.value("form_factor")).startswith("SXM"):
        joined = BRIDGED
    if not 0 < joined < scenario.hardware.gpus_per_host:
        return 0, False, []
    return joined, False, _rows(catalog, "bridge")


def lacks(version: str, catalog: Catalog, row: str) -> str | None:
    """The first vSphere version that has what a row says, where this one does not yet."""
    since, order = catalog.row("power_on_rules", row)["vsphere_from"], version_order(catalog)
    return since if since and order[version] < order[since] else None


def policy_facts(scenario: Scenario) -> dict[str, Fact]:
    """The inputs that the readings follow."""
    names = ("gpu_policy", "drs_consolidation", "nvlink_groups")
    return {name: scenario.fact(f"platform.{name}") for name in names}
