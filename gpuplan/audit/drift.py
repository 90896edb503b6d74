"""Drift: what differs between a design and an estate, on hosts, clusters and VMs that are matched."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gpuplan.audit.estate import Estate, EstateGpu, EstateHost
from gpuplan.audit.estate_report import profile_words
from gpuplan.audit.estate_use import MIG, MIXED, SAME
from gpuplan.audit.matching import (
    NEAR,
    Design,
    Devices,
    Matches,
    PlannedHost,
    PlannedVms,
    VmMatch,
    match,
    plain,
)
from gpuplan.wording import NAMES, amount, number

POLICIES = {"spread": "performance", "group": "consolidation"}
"""GPU assignment policy of a design -> as vSphere has it."""
AWAY = {"maintenance": "maintenance", "disconnected": "disconnected", "notResponding": "disconnected"}
SETTINGS = NAMES["setting of a host"]


class Finding(NamedTuple):
    """A difference: hosts, VMs or clusters, the cluster or group of the design, what it says and what there is."""

    code: str
    subjects: tuple[str, ...]
    where: str
    planned: str
    there: str


class Drift(NamedTuple):
    """A design and an estate, with what is matched and what differs."""

    design: Design
    estate: Estate
    matches: Matches
    findings: tuple[Finding, ...] = ()

    def board(self, board: str) -> str:
        """Return the name of a board, if the catalog has it."""
        gpus = self.design.plan.catalog.gpus
        return gpus[board].name if board in gpus else board


Difference = tuple[str, str, str, str, str]
"""Code, host or VM or cluster, then where, planned and there."""


def drift_of(design: Design, estate: Estate, stated: Mapping[str, str]) -> Drift:
    """Return what differs; ``stated`` are groups, or clusters of the design, by patterns of names."""
    matches, found = match(design, estate, stated), dict[tuple[str, ...], list[str]]()
    drift = Drift(design, _reserved(design, estate, matches), matches)
    for part in (_unmatched, _hosts, _clusters, _settings, _counts, _vms):
        for code, subject, *values in part(drift):
            found.setdefault((code, *values), []).append(subject)
    return drift._replace(findings=tuple(Finding(key[0], tuple(of), *key[1:]) for key, of in found.items()))


def _reserved(design: Design, estate: Estate, matches: Matches) -> Estate:
    """Return the estate with its reserved hosts, which may wait in maintenance mode, as connected."""
    left = dict.fromkeys(matches.clusters.values(), design.plan.scenario.availability.reserved_hosts)
    hosts = []
    for host in estate.hosts:
        planned = matches.hosts.get(host.name)
        waits = host.state == "maintenance" and not estate.by_host[host.name]
        if planned and waits and left.get(planned.pool):
            left[planned.pool] -= 1
            host = replace(host, state="connected")
        hosts.append(host)
    return replace(estate, hosts=tuple(hosts))


def _unmatched(drift: Drift) -> Iterator[Difference]:
    for planned in drift.matches.missing:
        yield "host-missing", planned.name, planned.pool, f"{planned.gpus} x {drift.board(planned.board)}", ""
    for host in drift.matches.extra:
        boards = Counter(drift.board(gpu.gpu or gpu.name) for gpu in host.gpus or ())
        yield "host-extra", host.name, "", "", ", ".join(f"{n} x {name}" for name, n in boards.items())
    for each in drift.matches.vms:
        if each.by in ("unplanned", "several"):
            names = ", ".join(drift.design.groups[id].name for id in each.may_be)
            yield f"vm-{each.by}", each.vm.name, "", names, _words(each.devices or ())


def _words(devices: Devices) -> str:
    return ", ".join(f"{n} x {profile_words(name)}" for name, n in devices) or SETTINGS["no GPU"]


def per_core_of(drift: Drift) -> dict[str, float]:
    """Return the vCPUs per core by cluster of the estate: as stated, else those of most matched hosts of the cluster, if whole."""
    (plan, _, _), (matched, *_), ratios = drift.design, drift.matches, Counter[tuple[str, float]]()
    stated = plan.scenario.hardware.vcpus_per_core
    for host in drift.estate.hosts:
        planned = matched.get(host.name)
        if planned and planned.vcpus and host.cores:
            ratios[planned.pool, planned.vcpus / host.cores] += 1
    usual = {pool: ratio for (pool, ratio), _ in ratios.most_common()[::-1] if ratio in range(1, 9)}
    clusters = drift.matches.clusters.items()
    return {name: stated or usual[pool] for name, pool in clusters if stated or pool in usual}


def _hosts(drift: Drift) -> Iterator[Difference]:
    ratios = per_core_of(drift)
    for host in drift.estate.hosts:
        if planned := drift.matches.hosts.get(host.name):
            ratio = ratios.get(host.cluster or "", 1)
            for code, said, there in (*_host(drift, host, planned, ratio), *_gpus(drift, host, planned)):
                yield code, host.name, "", said, there


def _host(
    drift: Drift, host: EstateHost, planned: PlannedHost, ratio: float
) -> Iterator[tuple[str, str, str]]:
    """Yield what differs on a host but for its GPUs; ``ratio`` are vCPUs per core, as stated or on most hosts."""
    if host.state in AWAY:
        yield f"host-{AWAY[host.state]}", "", ""
    version, there = _version(drift.design.plan.scenario.platform.vsphere), _version(host.version or "")
    if there and there != version[: len(there)]:
        yield "host-version", ".".join(map(str, version)), ".".join(map(str, there))
    if host.cores and planned.vcpus and planned.vcpus != host.cores * ratio:
        yield "host-vcpus", number(planned.vcpus), amount(host.cores, "core")
    if host.memory_gib and abs(host.memory_gib / (planned.memory_gib or host.memory_gib) - 1) > NEAR:
        yield "host-memory", amount(planned.memory_gib, "GiB"), amount(round(host.memory_gib), "GiB")


def _version(text: str) -> tuple[int, ...]:
    """Return a version as numbers: ``8.0u3`` is 8.0.3; a host of 6.7 shows no update."""
    found = re.search(r"(\d+)\.(\d+)(?:[.u](\d+))?", text)
    numbers = tuple(int(part or 0) for part in found.groups()) if found else ()
    return numbers[:2] if numbers[:1] < (7,) else numbers


def _gpus(drift: Drift, host: EstateHost, planned: PlannedHost) -> Iterator[tuple[str, str, str]]:
    """Yield what differs on the GPUs of a host, if they are known."""
    if host.gpus is None:
        return
    names = {gpu.gpu or gpu.name for gpu in host.gpus if planned.board not in (gpu.gpu, *gpu.may_be)} - {""}
    if names:
        yield "host-board", drift.board(planned.board), ", ".join(map(drift.board, sorted(names)))
    for code, said, there in _modes(drift.design, host.gpus, planned, host.assignment):
        if there not in (None, said):
            yield code, SETTINGS[said], SETTINGS.get(there, there)
    if len(host.gpus) != planned.gpus:
        yield "host-gpus", number(planned.gpus), number(len(host.gpus))
    elif drift.design.is_vgpu(planned) and {gpu.graphics for gpu in host.gpus} <= {None, "sharedDirect"}:
        modes = Counter(gpu.vgpu_mode for gpu in host.gpus)
        enough = planned.mig <= modes[MIG] + modes[None] + modes["none"]
        if not (enough and modes[MIG] + planned.shared <= planned.gpus):
            yield "host-mig", number(planned.mig), number(modes[MIG])


def _modes(
    design: Design, gpus: Sequence[EstateGpu], planned: PlannedHost, assignment: str | None
) -> dict[tuple[str, str, str | None], None]:
    """Return settings of GPUs: code, as designed and as they are."""
    platform, vgpu = design.plan.set_up.platform, design.is_vgpu(planned)
    wanted, size = "sharedDirect" if vgpu else "direct", MIXED if platform.vgpu_sizes == "mixed" else SAME
    settings = [("host-mode", wanted, gpu.graphics) for gpu in gpus]
    if vgpu and {gpu.graphics for gpu in gpus} <= {None, wanted}:
        settings += [("host-sizes", size, gpu.vgpu_mode) for gpu in gpus if gpu.vgpu_mode in (SAME, MIXED)]
        settings.append(("host-policy", POLICIES[platform.gpu_policy], assignment))
    return dict.fromkeys(settings)


def _clusters(drift: Drift) -> Iterator[Difference]:
    """Yield clusters of the design that are several, or part of another, and hosts in another cluster than planned."""
    pools: dict[str, list[EstateHost]] = {}
    for host in drift.estate.hosts:
        if host.cluster and host.name in drift.matches.hosts:
            pools.setdefault(drift.matches.hosts[host.name].pool, []).append(host)
    for pool, hosts in pools.items():
        there = dict.fromkeys(str(host.cluster) for host in hosts)
        own = [cluster for cluster in there if drift.matches.clusters[cluster] == pool]
        if len(own) != 1:
            code, n = {0: "cluster-joined"}.get(len(own), "cluster-split"), number(max(1, len(own)))
            yield from ((code, cluster, pool, "1", n) for cluster in own or there)
        strays = [host for host in hosts if own and host.cluster not in own]
        yield from (("host-cluster", host.name, "", pool, str(host.cluster)) for host in strays)


def _settings(drift: Drift) -> Iterator[Difference]:
    """Yield settings of HA and DRS that are not those of the design."""
    hosts = Counter(planned.pool for planned in drift.design.hosts)
    for cluster in drift.estate.clusters:
        if pool := drift.matches.clusters.get(cluster.name):
            lost = min(drift.design.plan.scenario.availability.host_failures, hosts[pool] - 1)
            settings = {"drs": True, "ha": lost > 0, "admission": lost > 0, "failover_hosts": lost}
            for name, wanted in settings.items():
                there = getattr(cluster, name)
                if wanted and there not in (None, wanted):
                    yield f"cluster-{name}", cluster.name, "", number(lost), number(there)


def _counts(drift: Drift) -> Iterator[Difference]:
    """Yield VMs that a group lacks or has beyond those planned: by number where most names have one, else how many."""
    of: dict[str, list[str]] = {id: [] for id in drift.design.groups}
    for each in drift.matches.vms:
        if each.group:
            of[each.group].append(each.vm.name)
    for id, names in of.items():
        group, beyond = drift.design.groups[id], list[str]()
        free, stem = dict(enumerate(group.names, 1)), group.names[0].rpartition("-")[0]
        for name in sorted(names):
            digits = re.search(rf"(?<={stem})-?(\d{{1,9}})$", plain(name))
            if free.pop(int(digits[1]) if digits else 0, None) is None:
                beyond.append(name)
        planned, there = len(group.names), len(names)
        if 2 * len(free) > planned:
            beyond, free = [group.name] * (there > planned), {0: group.name} if there < planned else {}
        for code, subjects in (("vm-extra", beyond), ("vm-missing", free.values())):
            for subject in subjects:
                yield code, subject, group.name, number(planned), number(there)


def _vms(drift: Drift) -> Iterator[Difference]:
    """Yield VMs of groups that have other devices or another size, are off, or are on a host for others."""
    for each in drift.matches.vms:
        if each.group:
            group = drift.design.groups[each.group]
            for code, planned, there in (*_vm(drift, each, group), *_seat(drift, each, group)):
                yield code, each.vm.name, group.name, planned, there


def _vm(drift: Drift, each: VmMatch, group: PlannedVms) -> Iterator[tuple[str, str, str]]:
    vm, host = each.vm, drift.matches.hosts.get(each.vm.host or "")
    ways = group.devices.get(host.pool if host else "") or frozenset[Devices]().union(*group.devices.values())
    if each.devices is not None and each.devices not in ways:
        yield "vm-devices", " / ".join(map(_words, sorted(ways))), _words(each.devices)
    gib = None if vm.memory_gib is None else round(vm.memory_gib)
    if group.vcpus and vm.vcpus not in (None, group.vcpus):
        yield "vm-vcpus", number(group.vcpus), number(vm.vcpus)
    if group.memory_gib and gib not in (None, group.memory_gib):
        yield "vm-memory", amount(group.memory_gib, "GiB"), amount(gib, "GiB")
    if vm.on is False:
        yield "vm-off", "", ""


def _seat(drift: Drift, each: VmMatch, group: PlannedVms) -> Iterator[tuple[str, str, str]]:
    able, planned = drift.design.boards(each.group), drift.matches.hosts.get(each.vm.host or "")
    extra = (gpu.gpu for host in drift.matches.extra if host.name == each.vm.host for gpu in host.gpus or ())
    boards = {planned.board} if planned else {*extra} - {""}
    if boards and not boards & able:
        said, there = (", ".join(map(drift.board, sorted(names))) for names in (able, boards))
        yield "vm-board", said, there
    elif planned and planned.pool not in group.devices:
        yield "vm-cluster", ", ".join(group.devices), planned.pool
