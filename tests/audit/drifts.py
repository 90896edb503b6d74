"""Estates made from designs: exactly as planned, and with random differences of each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import cycle
from random import Random

from drawn_designs import OTHERS, group

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.audit.drift import MIG, MIXED, POLICIES, SAME, Drift, drift_of
from gpuplan.audit.estate import Device, Estate, EstateCluster, EstateGpu, EstateHost, EstateVm
from gpuplan.audit.estate_use import WHOLE
from gpuplan.audit.matching import Design, design_of
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.plan.hardware import vsphere_profile
from gpuplan.report.physical import servers_of
from gpuplan.scenario import from_dict

PREFIX = "acme-"
"""What the names of an estate have before those of the design."""
Changed = tuple[Estate, str, str]
"""An estate, and code and host or VM or cluster of the difference."""

SIZES = {"vcpus_each": 8, "memory_gib_each": 64}
DESIGNS = {
    "starter": "starter",
    "enterprise": "enterprise",
    "current": "current",
    "assistant": "assistant",
    "two pools": OTHERS["two pools"],
    "eight GPUs": OTHERS["eight GPUs"],
    "passthrough and vGPU, sizes of hosts": {
        "groups": [
            group("Training", 5, 2, access="passthrough", **SIZES),
            group("Notebooks", 30, 0.25, access="vgpu", **SIZES),
        ],
        "hardware": {
            "gpu": "l40s-48gb",
            "gpus_per_host": 4,
            "vcpus_per_host": 128,
            "memory_gib_per_host": 1024,
        },
        "platform": {"vsphere": "8.0u3"},
    },
    "stated profiles": {
        "groups": [
            group("Two-sizes", 6, 1, profile="L40S-12C + L40S-24C"),
            group("Stated", 9, 1, profile="L40S-16C"),
        ],
        "hardware": {"gpu": "l40s-48gb"},
        "platform": {"vsphere": "9.0"},
    },
    "two kinds of new hosts": {
        "groups": [
            group("Notebooks", 20, 0.25, access="vgpu", **SIZES),
            group("Serving", 6, 2, access="vgpu", hosts="Large", **SIZES),
        ],
        "hardware": {
            "gpu": "l40s-48gb",
            "vcpus_per_host": 128,
            "memory_gib_per_host": 1024,
            "kinds": "Large: 8 x h200-nvl-141gb, 256 vCPUs, 2048 GiB",
        },
        "platform": {"vsphere": "9.0"},
    },
    "mixed sizes": {
        "groups": [group("Halves", 14, 0.5, access="vgpu"), group("Quarters", 9, 0.25, access="vgpu")],
        "hardware": {"gpu": "l40s-48gb"},
        "platform": {"vsphere": "8.0u3", "vgpu_sizes": "mixed"},
    },
    "boards of two kinds": {
        "groups": [group("Whole", 16, 1, access="passthrough"), group("Parts", 12, 0.25, access="vgpu")],
        "hardware": {"gpu": "a40-48gb", "existing": "Newer: 3 x 4 l40s-48gb"},
        "platform": {"vsphere": "8.0u3"},
    },
}


@cache
def design(name: str) -> Design:
    what = DESIGNS[name]
    scenario = load_scenario(what) if isinstance(what, str) else from_dict(what)
    return design_of(make_plan(scenario, load_catalog()))


def drift(name: str, prefix: str = PREFIX) -> Drift:
    of = design(name)
    return drift_of(of, as_planned(of.plan, prefix), {})


def as_planned(plan: Plan, prefix: str = "", domain: str = ".example.test") -> Estate:
    """The estate that a design describes."""
    design, hosts, vms = design_of(plan), list[EstateHost](), list[EstateVm]()
    failures = plan.scenario.availability.host_failures
    version = {"7.0": "7.0.0", "8.0u3": "8.0.3", "9.0": "9.0.0", "6.7u3": "6.7.0", "7.0u3": "7.0.3"}
    for planned in design.hosts:
        vgpu = plan.pool(planned.pool).gpu_mode == "vgpu"
        size = MIXED if plan.set_up.platform.vgpu_sizes == "mixed" else SAME
        modes = [MIG] * planned.mig + [size] * planned.shared
        modes += ["none"] * (planned.gpus - len(modes))
        gpus = tuple(
            EstateGpu("", planned.board, (), f"0000:{16 * (at + 1):02x}:00.0", None, "sharedDirect", mode)
            if vgpu
            else EstateGpu("", planned.board, (), f"0000:{16 * (at + 1):02x}:00.0", None, "direct")
            for at, mode in enumerate(modes)
        )
        hosts.append(
            EstateHost(
                f"{prefix}{planned.name}{domain}",
                f"{prefix}{planned.pool}",
                version[plan.scenario.platform.vsphere],
                "connected",
                cores=planned.vcpus // 2 or None,
                memory_gib=planned.memory_gib * 0.999 or None,
                gpus=gpus,
                assignment=POLICIES[plan.set_up.platform.gpu_policy] if vgpu else None,
            )
        )
    vms = _vms(plan, design, hosts, prefix)
    clusters = tuple(
        EstateCluster(f"{prefix}{pool.id}", True, True, min(failures, pool.hosts - 1) or None, True)
        for pool in plan.pools
    )
    return Estate("vcenter", tuple(hosts), tuple(vms), clusters)


def _vms(plan: Plan, design: Design, hosts: list[EstateHost], prefix: str) -> list[EstateVm]:
    """VMs of all groups on the hosts where the design places them, and Bitfusion servers."""
    names = {id: iter(group.names) for id, group in design.groups.items()}
    sliced = {group.id for group in plan.groups if group.backing == "mig"}
    seated, first = dict[tuple[str, int, str], tuple[EstateHost, list[str]]](), 0
    vms = list[EstateVm]()
    for pool in plan.pools:
        here = hosts[first : first + pool.hosts]
        first += pool.hosts
        for host, loads in zip(here, pool.placement, strict=True):
            free = [gpu.address for gpu in host.gpus or ()]
            for load in sorted(loads, key=lambda load: not load.slots or load.slots[0].group not in sliced):
                addresses, free = free[: load.gpus], free[load.gpus :]
                for slot in load.slots:
                    if slot.group not in design.groups:
                        continue
                    at = addresses if load.family is None else addresses[:1]
                    seated.setdefault((slot.group, slot.vm, pool.id), (host, []))[1].extend(at)
        if servers := servers_of(plan, pool):
            for number, server in enumerate(servers.vms):
                host = here[server.host]
                at = [gpu.address for gpu in host.gpus or ()][-len(server.gpus) :]
                devices = tuple(_device(plan, servers.profile or WHOLE, address) for address in at)
                vms.append(
                    _vm(f"bitfusion_server {number} {pool.id}", host, devices, design, "bitfusion_server")
                )
    for (id, at, pool_id), (host, addresses) in seated.items():
        (way,) = design.groups[id].devices[pool_id]
        ways = zip((name for name, n in way for _ in range(n)), cycle(addresses), strict=False)
        vms.append(_vm(f"{id} {at}", host, tuple(_device(plan, *each) for each in ways), design, id))
    return [replace(vm, name=f"{prefix}{next(names[vm.name.split()[0]])}") for vm in vms]


def _device(plan: Plan, name: str, address: str) -> Device:
    if name == WHOLE:
        return Device("passthrough", "", address, "fixed")
    rows = {str(row["profile"]): gpu for gpu in plan.new_boards for row in plan.catalog.profiles_of(gpu)}
    gpu = rows.get(name, plan.scenario.hardware.gpu)
    return Device("vgpu", vsphere_profile(plan.catalog, gpu, name), address, "vmiop")


def _vm(name: str, host: EstateHost, devices: tuple[Device, ...], design: Design, group: str) -> EstateVm:
    sizes = next((each for each in design.plan.sized.groups if each.id == group), None)
    memory = float(sizes.memory_gib_each) if sizes and sizes.memory_gib_each else None
    return EstateVm(name, host.name, host.cluster, True, sizes and sizes.vcpus_each, memory, devices, True)


def changed(rng: Random, drift: Drift, code: str, taken: set[str]) -> Changed | None:
    """The estate with one difference of a kind, on hosts and VMs that are not taken; None where the design has none to change."""
    hosts = [
        host for host in drift.estate.hosts if host.name in drift.matches.hosts and host.name not in taken
    ]
    vms = [each.vm for each in drift.matches.vms if each.group and not {each.vm.name, each.vm.host} & taken]
    change = CHANGES[code]
    subjects: list[EstateHost] | list[EstateVm] | list[EstateCluster] = list(drift.estate.clusters)
    if not code.startswith("cluster"):
        subjects = vms if code.startswith("vm") else hosts
    for one in rng.sample(subjects, len(subjects)):
        estate = change(rng, drift, one)
        if estate is not None:
            taken.add(one.name)
            before = {each.name for each in (*drift.estate.hosts, *drift.estate.vms)}
            new = [each.name for each in (*estate.hosts, *estate.vms) if each.name not in before]
            taken.update(new)
            missing = _missing(drift, one.name) if code.endswith("-missing") else one.name
            return estate, code, next(iter(new), missing)
    return None


def _missing(drift: Drift, name: str) -> str:
    """Name that the design gives what is missing."""
    planned = drift.matches.hosts.get(name)
    return planned.name if planned else name.removeprefix(PREFIX)


def _host(field: str, value: Callable[[Random, Drift, EstateHost], object]) -> Callable[..., Estate | None]:
    def change(rng: Random, drift: Drift, host: EstateHost) -> Estate | None:
        new = value(rng, drift, host)
        if new is None:
            return None
        return replace_host(drift.estate, replace(host, **{field: new}))

    return change


def replace_host(estate: Estate, host: EstateHost) -> Estate:
    """The estate with another host of that name."""
    return replace(estate, hosts=tuple(host if each.name == host.name else each for each in estate.hosts))


def replace_vm(estate: Estate, name: str, **fields: object) -> Estate:
    """The estate with a VM that differs."""
    vms = tuple(replace(vm, **fields) if vm.name == name else vm for vm in estate.vms)
    return replace(estate, vms=vms)


def _cluster(**fields: object) -> Callable[..., Estate | None]:
    def change(rng: Random, drift: Drift, cluster: EstateCluster) -> Estate | None:
        if "drs" not in fields and not cluster.failover_hosts:
            return None
        if "failover_hosts" in fields:
            fields["failover_hosts"] = (cluster.failover_hosts or 0) + 1
        new = replace(cluster, **fields)
        clusters = tuple(new if each == cluster else each for each in drift.estate.clusters)
        return replace(drift.estate, clusters=clusters)

    return change


def _vgpu(drift: Drift, host: EstateHost) -> bool:
    return drift.design.plan.pool(drift.matches.hosts[host.name].pool).gpu_mode == "vgpu"


def _gpus(rng: Random, drift: Drift, host: EstateHost, **fields: object) -> tuple[EstateGpu, ...]:
    return tuple(replace(gpu, **fields) for gpu in host.gpus or ())


def _other_board(rng: Random, drift: Drift, host: EstateHost) -> object:
    boards = {planned.board for planned in drift.design.hosts}
    others = [id for id in sorted(drift.design.plan.catalog.gpus) if id not in boards]
    return _gpus(rng, drift, host, gpu=rng.choice(others))


def _fewer(rng: Random, drift: Drift, host: EstateHost) -> object:
    return (
        tuple(rng.sample(host.gpus, len(host.gpus) - rng.randint(1, len(host.gpus)))) if host.gpus else None
    )


def _more(rng: Random, drift: Drift, host: EstateHost) -> object:
    return (*(host.gpus or ()), *(replace(gpu, address="") for gpu in (host.gpus or ())[:1]))


def _mode(rng: Random, drift: Drift, host: EstateHost) -> object:
    return _gpus(rng, drift, host, graphics="direct" if _vgpu(drift, host) else "sharedDirect")


def _sizes(rng: Random, drift: Drift, host: EstateHost) -> object:
    used = {gpu.vgpu_mode for gpu in host.gpus or ()} - {MIG, "none", None}
    other = {SAME: MIXED, MIXED: SAME}.get(str(next(iter(used), "")))
    gpus = host.gpus or ()
    return tuple(replace(g, vgpu_mode=other) if g.vgpu_mode in used else g for g in gpus) if other else None


def _mig(rng: Random, drift: Drift, host: EstateHost) -> object:
    gpus = list(host.gpus or ())
    at = next((i for i, gpu in enumerate(gpus) if gpu.vgpu_mode == MIG), None)
    if at is None or "none" in {gpu.vgpu_mode for gpu in gpus}:
        return None
    gpus[at] = replace(gpus[at], vgpu_mode=SAME)
    return tuple(gpus)


def _policy(rng: Random, drift: Drift, host: EstateHost) -> object:
    return {"performance": "consolidation", "consolidation": "performance"}.get(host.assignment or "")


def _lost_host(rng: Random, drift: Drift, host: EstateHost) -> Estate | None:
    """The host is gone; its VMs are on another of its cluster."""
    mates = [each for each in drift.estate.hosts if each.cluster == host.cluster and each.name != host.name]
    if not mates:
        return None
    to = rng.choice(mates).name
    vms = tuple(replace(vm, host=to) if vm.host == host.name else vm for vm in drift.estate.vms)
    return replace(drift.estate, hosts=tuple(h for h in drift.estate.hosts if h != host), vms=vms)


def _moved_host(rng: Random, drift: Drift, host: EstateHost) -> Estate | None:
    """A host without VMs is in another cluster of the design, its own still having one."""
    others = [cluster.name for cluster in drift.estate.clusters if cluster.name != host.cluster]
    alone = sum(each.cluster == host.cluster for each in drift.estate.hosts) < 2
    if not others or alone or any(vm.host == host.name for vm in drift.estate.vms):
        return None
    return replace_host(drift.estate, replace(host, cluster=rng.choice(others)))


def _split(rng: Random, drift: Drift, cluster: EstateCluster) -> Estate | None:
    """A part of a cluster's hosts is in a new cluster, of the same settings."""
    names = [host.name for host in drift.estate.hosts if host.cluster == cluster.name]
    if len(names) < 2:
        return None
    out, new = set(rng.sample(names, len(names) // 2)), f"{cluster.name}-b"
    hosts = tuple(replace(h, cluster=new) if h.name in out else h for h in drift.estate.hosts)
    vms = tuple(replace(vm, cluster=new) if vm.host in out else vm for vm in drift.estate.vms)
    return replace(
        drift.estate, hosts=hosts, vms=vms, clusters=(*drift.estate.clusters, replace(cluster, name=new))
    )


def _other_devices(rng: Random, drift: Drift, vm: EstateVm) -> Estate | None:
    design, of = drift.design, next(each.group for each in drift.matches.vms if each.vm == vm)
    ways = [way for group in design.groups.values() for each in group.devices.values() for way in each]
    own = frozenset().union(*design.groups[of].devices.values())
    others = [way for way in (*ways, ()) if way not in own]
    way = rng.choice(sorted(others))
    devices = tuple(_device(design.plan, name, "") for name, n in way for _ in range(n))
    return replace_vm(drift.estate, vm.name, devices=devices)


def _on_other(board: bool) -> Callable[..., Estate | None]:
    def change(rng: Random, drift: Drift, vm: EstateVm) -> Estate | None:
        id = next(each.group for each in drift.matches.vms if each.vm == vm)
        pools, boards = drift.design.groups[id].devices, drift.design.boards(id)
        able = [
            host
            for host in drift.estate.hosts
            if (planned := drift.matches.hosts.get(host.name))
            and (planned.board not in boards if board else planned.pool not in pools)
            and (board or planned.board in boards)
        ]
        if not able:
            return None
        to = rng.choice(able)
        return replace_vm(drift.estate, vm.name, host=to.name, cluster=to.cluster)

    return change


def _new_host(rng: Random, drift: Drift, host: EstateHost) -> Estate | None:
    new = replace(host, name="acme-new-host.example.test")
    return replace(drift.estate, hosts=(*drift.estate.hosts, new))


def _new_vm(name: str, profile: str = "") -> Callable[..., Estate | None]:
    def change(rng: Random, drift: Drift, vm: EstateVm) -> Estate | None:
        devices = (Device("vgpu", profile, "", "vmiop"),) if profile else vm.devices
        stem = vm.name.rstrip("0123456789")
        new = replace(vm, name=name or f"{stem}9999", devices=devices)
        return replace(drift.estate, vms=(*drift.estate.vms, new))

    return change


CHANGES: dict[str, Callable[..., Estate | None]] = {
    "host-missing": _lost_host,
    "host-extra": _new_host,
    "host-board": _host("gpus", _other_board),
    "host-gpus": _host("gpus", lambda rng, *of: rng.choice((_fewer, _fewer, _more))(rng, *of)),
    "host-vcpus": _host("cores", lambda rng, drift, host: host.cores and host.cores * 3 // 4),
    "host-memory": _host("memory_gib", lambda rng, drift, host: host.memory_gib and host.memory_gib * 0.75),
    "host-version": _host("version", lambda rng, drift, host: rng.choice(("8.0.1", "7.0.2", "9.1.0"))),
    "host-mode": _host("gpus", _mode),
    "host-sizes": _host("gpus", _sizes),
    "host-mig": _host("gpus", _mig),
    "host-policy": _host("assignment", _policy),
    "host-maintenance": _host("state", lambda rng, drift, host: "maintenance"),
    "host-disconnected": _host(
        "state", lambda rng, drift, host: rng.choice(("disconnected", "notResponding"))
    ),
    "host-cluster": _moved_host,
    "cluster-split": _split,
    "cluster-ha": _cluster(ha=False),
    "cluster-drs": _cluster(drs=False),
    "cluster-admission": _cluster(admission=False),
    "cluster-failover_hosts": _cluster(failover_hosts=0),
    "vm-missing": lambda rng, drift, vm: replace(
        drift.estate, vms=tuple(v for v in drift.estate.vms if v != vm)
    ),
    "vm-extra": _new_vm(""),
    "vm-devices": _other_devices,
    "vm-vcpus": lambda rng, drift, vm: (
        vm.vcpus and replace_vm(drift.estate, vm.name, vcpus=vm.vcpus + rng.choice((-2, 1, 8)))
    ),
    "vm-memory": lambda rng, drift, vm: (
        vm.memory_gib
        and replace_vm(drift.estate, vm.name, memory_gib=vm.memory_gib + rng.choice((-16, 1, 64)))
    ),
    "vm-off": lambda rng, drift, vm: replace_vm(drift.estate, vm.name, on=False),
    "vm-board": _on_other(board=True),
    "vm-cluster": _on_other(board=False),
    "vm-unplanned": _new_vm("stray-1", "nvidia_rtx_pro_6000_blackwell_dc-3q"),
}
"""Code -> a difference of that kind."""


def exported(estate: Estate, catalog: Catalog) -> dict[str, object]:
    """The estate as the collector of gpuplan exports it from a vCenter."""
    ids = {cluster.name: f"ClusterComputeResource-domain-c{at}" for at, cluster in enumerate(estate.clusters)}
    clusters = [
        {
            "id": ids[cluster.name],
            "name": cluster.name,
            "haEnabled": cluster.ha,
            "drsEnabled": cluster.drs,
            "admissionControlEnabled": cluster.admission,
            "failoverLevel": cluster.failover_hosts or 0,
        }
        for cluster in estate.clusters
    ]
    numbers = {vm: f"VirtualMachine-vm-{at}" for at, vm in enumerate(estate.vms)}
    hosts = [_exported_host(host, estate, catalog, ids, numbers) for host in estate.hosts]
    vms = [
        {
            "id": number,
            "name": vm.name,
            "host": f"HostSystem-{vm.host}",
            "powerState": "poweredOn" if vm.on else "poweredOff",
            "template": False,
            "numCPU": vm.vcpus or 8,
            "memoryMB": 1024 * int(vm.memory_gib or 16),
            "devices": [{"kind": device.kind, "backing": _backing(device)} for device in vm.devices],
        }
        for vm, number in numbers.items()
    ]
    return {"gpuplan": 1, "exported": "2026-11-29T01:00:00", "clusters": clusters, "hosts": hosts, "vms": vms}


def _backing(device: Device) -> dict[str, object]:
    if device.kind == "vgpu":
        return {"Vgpu": device.profile, "MigrateSupported": True}
    return {"Id": device.address, "DeviceId": "26b9", "SystemId": "x", "VendorId": 0x10DE}


def _exported_host(
    host: EstateHost, estate: Estate, catalog: Catalog, ids: dict[str, str], numbers: dict[EstateVm, str]
) -> dict[str, object]:
    cards, devices = list[dict[str, object]](), list[dict[str, object]]()
    for gpu in host.gpus or ():
        memory = float(str(catalog.gpus[gpu.gpu].value("memory_gib")))
        name = f"NVIDIA {catalog.gpus[gpu.gpu].name}"
        on = [
            number
            for vm, number in numbers.items()
            if vm.host == host.name
            for d in vm.devices
            if d.address == gpu.address
        ]
        if gpu.graphics == "direct":
            devices.append(
                {"Id": gpu.address, "ClassId": 0x0302, "VendorId": 0x10DE, "DeviceId": 0, "DeviceName": name}
            )
        else:
            cards.append(
                {
                    "deviceName": name,
                    "vendorName": "NVIDIA Corporation",
                    "pciId": gpu.address,
                    "graphicsType": gpu.graphics,
                    "vgpuMode": gpu.vgpu_mode,
                    "memorySizeInKB": int(memory * 2**20),
                    "vm": on,
                }
            )
    return {
        "id": f"HostSystem-{host.name}",
        "name": host.name,
        "cluster": ids[host.cluster or ""],
        "version": host.version,
        "connectionState": host.state if host.state != "maintenance" else "connected",
        "inMaintenanceMode": host.state == "maintenance",
        "memorySize": int((host.memory_gib or 1024) * 2**30),
        "numCpuCores": host.cores or 64,
        "graphicsInfo": cards,
        "sharedPassthruAssignmentPolicy": host.assignment,
        "pciDevice": devices,
        "pciPassthruInfo": [{"Id": device["Id"], "PassthruEnabled": True} for device in devices],
    }
