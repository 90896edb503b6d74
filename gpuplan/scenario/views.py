"""Views of a scenario with several kinds of new hosts: for each kind an ordinary scenario of its hosts and its groups."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gpuplan.scenario.hosts_and_vms import (
    EXISTING_HOSTS,
    FIRST,
    NEW_HOSTS,
    NewHosts,
    host_kinds,
    hosts_text,
    new_hosts,
)
from gpuplan.scenario.scenario import Scenario
from gpuplan.scenario.sections import Hardware, Origin, Training

KINDS_PATH = "hardware.kinds"
"""Path of the further kinds of hosts."""


@dataclass(frozen=True, slots=True)
class KindHardware(Hardware):
    """The hosts of a further kind."""

    of: str = ""


def is_mixed(scenario: Scenario) -> bool:
    """True if any group runs on a further kind of hosts."""
    return not scenario.hardware.of and any(group.hosts for group in scenario.groups)


def views(scenario: Scenario) -> tuple[Scenario, ...]:
    """Return a scenario for each kind of hosts that runs groups, the first kind first; itself where it has one kind.

    Existing hosts belong to the first kind, those with the board of a further kind that is in use to that; VMs without a
    GPU and the training job belong to the first kind.
    """
    if not is_mixed(scenario):
        return (scenario,)
    used = {group.hosts for group in scenario.groups}
    kinds = [kind for kind in new_hosts(scenario.hardware.kinds) if kind.name in used]
    return (_view(scenario, None, kinds), *(_view(scenario, kind, kinds) for kind in kinds))


def clusters_of_kinds(scenario: Scenario) -> dict[str, list[str]]:
    """Return the kinds of hosts in use that are to share a cluster, by its name; the first kind has an empty name."""
    used = {group.hosts for group in scenario.groups}
    kinds = {kind.name: kind.cluster for kind in new_hosts(scenario.hardware.kinds) if kind.name in used}
    names = dict.fromkeys(filter(None, kinds.values()))
    return {
        name: [""] * (name == FIRST) + [kind for kind, cluster in kinds.items() if cluster == name]
        for name in names
    }


def _view(scenario: Scenario, kind: NewHosts | None, kinds: list[NewHosts]) -> Scenario:
    """Return the view of a further kind, or of the first."""
    first, existing = scenario.hardware, _existing(scenario, kind, kinds)
    if kind is None:
        return _with(scenario, replace(first, kinds=None, existing=existing))
    stated: dict[str, Any] = {NEW_HOSTS.keys[name]: value for name, value in kind._asdict().items()}
    stated.pop("cluster")
    shared = {"vcpus_per_core": first.vcpus_per_core, "existing": existing, "of": stated.pop("name")}
    hardware = KindHardware(**stated, **shared)
    return replace(_with(scenario, hardware), training=Training())


def _existing(scenario: Scenario, mine: NewHosts | None, kinds: list[NewHosts]) -> str | None:
    """The existing hosts of a kind: with its board; of the first kind all that belong to no other."""
    owned, rows = scenario.hardware.existing, []
    if not owned:
        return None
    for there, row in zip(host_kinds(owned), EXISTING_HOSTS.file_rows(owned), strict=True):
        boards = [kind for kind in kinds if kind.gpu == there.gpu != scenario.hardware.gpu]
        if (boards[0] if boards else None) == mine:
            rows.append(row)
    return hosts_text(rows) if rows else None


def _with(scenario: Scenario, hardware: Hardware) -> Scenario:
    groups = tuple(group for group in scenario.groups if (group.hosts or "") == hardware.of)
    ids = {group.id for group in scenario.groups} - {group.id for group in groups}
    ranges = tuple(pair for pair in scenario.ranges if not _of_group(pair[0], ids))
    origins = tuple(_origins(scenario, hardware))
    return replace(scenario, groups=groups, hardware=hardware, ranges=ranges, origins=origins)


def _of_group(path: str, ids: set[str]) -> bool:
    head, _, rest = path.partition(".")
    return head == "groups" and rest.partition(".")[0] in ids


def _origins(scenario: Scenario, hardware: Hardware) -> Iterator[tuple[str, Origin]]:
    """Origins of a view: what a further kind of hosts has is as well known as the list of kinds."""
    if not hardware.of:
        yield from scenario.origins
        return
    shared = ("hardware.vcpus_per_core", "hardware.existing")
    yield from (pair for pair in scenario.origins if not pair[0].startswith("hardware") or pair[0] in shared)
    yield "hardware", scenario.origin(KINDS_PATH)


def path_of_kind(view: Scenario, path: str) -> str:
    """Return the path in the whole scenario of an input of a view."""
    return (
        KINDS_PATH
        if view.hardware.of and path.startswith("hardware.") and path != "hardware.existing"
        else path
    )
