"""Tables for the delivery team: software, storage, VM classes, names, networks, racks, and the as-built record."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hardware import needs_crx
from gpuplan.plan.hosts import Pool
from gpuplan.plan.racks import Rack, host_name, racks
from gpuplan.plan.sharing import whole_profile
from gpuplan.report.physical import alike, all_servers, first_and_last, names, networks, server_memory_gib
from gpuplan.report.table import Cell, Table, Worded, filled, tabulate
from gpuplan.report.tables.platform import parts_of_hosts
from gpuplan.wording import NAMES, amount, number, said

TO_FILL = "fill"
"""Tone of a cell that the delivery team fills in."""
LICENCE_PARTS = ("Platform licences", "GPU software")
MOST_BUILT = 32
PARTS = NAMES["software"]


def to_fill(what: str = "") -> Cell:
    """Return a placeholder that is filled in while the cluster is built."""
    return Cell("", words=f"\u2039{what or said('build.fill')}\u203a", tone=TO_FILL)


def software(plan: Plan) -> Table:
    """Tabulate versions, drivers and settings for the vSphere version; values without a source are to fill in."""
    version = plan.scenario.platform.vsphere
    software = (row for row in plan.catalog.rows("software") if row["vsphere"] in (None, "", version))
    rows = {str(row["part"]): row for row in software}

    if needs_crx(plan.scenario, plan.catalog):  # no guest driver of that release is known
        rows["vgpu-host"] = rows["vgpu-host-crx"]
        rows.pop("vgpu-guest", None)

    def value(part: str) -> Cell:
        return Cell(rows[part]["value"]) if part in rows else to_fill(said("build.by matrix"))

    own: dict[str, Any] = {"part": Worded(PARTS.get, lambda part: part), "value": value}
    own["basis"] = lambda part: rows[part].basis if part in rows else None
    own["sources"] = lambda part: rows[part].sources if part in rows else ()
    title = said("table.software", version=plan.catalog.vsphere[version].name)
    return tabulate("software", list(PARTS), **own, notes=(said("table.software.note"),), title=title)


def storage(plan: Plan) -> Table:
    """Tabulate the shared storage of the workload domain: known values, and those that its owner fills in."""
    bought = plan.scenario.cost.storage_tb
    kinds = dict.fromkeys(part.scenario.hardware.storage or "external" for part in plan.parts)
    kind = ", ".join(NAMES["storage in the document"][each] for each in kinds)
    rows = (
        (said("storage.kind"), kind),
        (said("storage.capacity"), Cell(f"{number(bought)} TB") if bought else to_fill()),
        (said("storage.policy"), to_fill()),
        (said("storage.datastore"), to_fill()),
    )
    return filled("storage", rows, title=said("storage.title"))


def order_lines(plan: Plan) -> Table:
    """Tabulate a GPU host as ordered, line by line, with the entries that the reseller fills in."""
    notes = tuple(
        f"{said('table.host line of', hosts=name)} " * bool(name) + said("order.note", hosts=line.hosts)
        for name, line in plan.host_lines.items()
    )
    own: dict[str, Any] = dict.fromkeys(("number", "lead"), lambda _: to_fill())
    return tabulate("order_lines", parts_of_hosts(plan), **own, notes=notes, title=said("order.title"))


def class_name(group: GroupPlan) -> str:
    """Return the name of a group's VM class in Kubernetes."""
    return f"gpu-{group.id}"[:63].rstrip("-")


class VmClass(NamedTuple):
    """Resources of one VM of a kind, and the number of such VMs."""

    name: str
    group: str
    vcpus: str | int | None
    """None is filled in, a text is a least."""
    memory: str | int | None
    gpus: str
    vms: int


def vm_classes(plan: Plan) -> Table:
    """Tabulate processors, memory and GPUs of one VM of each workload and of each service."""
    return tabulate(
        "vm_classes",
        list(_vm_classes(plan)),
        vcpus=lambda each: each.vcpus or to_fill(),
        memory=lambda each: each.memory or to_fill(),
    )


def _vm_classes(plan: Plan) -> Iterator[VmClass]:
    sized = {group.id: group for group in plan.sized.groups}
    for group in plan.groups:
        if group.vms:
            spec, what = sized[group.id], devices(plan, group)
            name = class_name(group)
            yield VmClass(name, group.name, spec.vcpus_each, spec.memory_gib_each, what, group.vms)
    for servers in all_servers(plan):
        counts = Counter(len(vm.gpus) for vm in servers.vms)
        for gpus, vms in counts.most_common():
            what = said("build.passthrough", gpus=amount(gpus, "GPU"))
            if servers.profile:
                what = said("build.profile", count=gpus, profile=servers.profile)
            least = (servers.least_vcpus, server_memory_gib(plan.home(plan.pool(servers.pool)), gpus))
            vcpus, memory = (said("build.least", value=value) for value in least)
            name = said("build.server class", gpus=gpus)
            yield VmClass(name, said("build.servers"), vcpus, memory, what, vms)
    for group_id, retrieval in plan.llm.retrieval.items():
        if retrieval.database_vms:
            name = next(group.name for group in plan.groups if group.id == group_id)
            id = said("build.database class", id=group_id)[:63].rstrip("-")
            sizes = (retrieval.database_vcpus, retrieval.database_gib)
            what = said("build.no gpu")
            yield VmClass(id, said("build.database", name=name), *sizes, what, retrieval.database_vms)


def profile_in(plan: Plan, pool: Pool, group: GroupPlan) -> str:
    """Name the profile of a group's VMs in a cluster: it belongs to the board of its hosts."""
    if pool.gpu == plan.home(pool).scenario.hardware.gpu or not group.profile:
        return group.profile
    inputs = next(item for item in plan.sized.groups if item.id == group.id)
    return whole_profile(plan.sized, plan.catalog, inputs, pool.gpu)


def devices(plan: Plan, group: GroupPlan) -> str:
    """Describe the GPUs of one VM: profiles, by the boards of its clusters, whole devices or GPUs over the network."""
    if group.profile:
        clusters = [pool for pool in plan.pools if any(r.group == group.id for r in pool.requests)]
        profiles = dict.fromkeys(profile_in(plan, pool, group) for pool in clusters) or [group.profile]
        several = " + " in group.profile
        return group.profile if several else f"{number(group.vgpus)} x {' / '.join(profiles)}"
    key = "build.passthrough" if group.mode == "passthrough" else "build.remote"
    return said(key, gpus=amount(group.gpus_each, "GPU"))


def licences(plan: Plan) -> Table:
    """Tabulate the licences of the bill of materials: number, product, and how they are counted."""
    rows = [row for row in plan.costs.materials if row.part in LICENCE_PARTS] if plan.costs else []
    return tabulate("licences", rows)


def naming(plan: Plan) -> Table:
    """Tabulate the names of all parts of the design."""
    own: dict[str, Any] = {"standard": lambda _: to_fill()}
    own["names"] = lambda each: first_and_last(each.names)
    return tabulate("naming", list(names(plan)), **own, notes=(said("table.naming.note"),))


def network_plan(plan: Plan) -> Table:
    """Tabulate the networks of the GPU hosts, with the values that the customer's network team fills in."""
    blanks: dict[str, Any] = {"vlan": lambda _: to_fill("VLAN"), "gateway": lambda _: to_fill("IP")}
    blanks["subnet"] = lambda each: to_fill(f"{said('build.network')}/{each.prefix}")
    return tabulate("network_plan", networks(plan), **blanks, notes=(said("table.network_plan.note"),))


def rack_plan(plan: Plan) -> Table:
    """Tabulate the hosts and switches of each rack; identical racks share a row."""
    own: dict[str, Any] = {
        "rack": lambda these: "\u2013".join(dict.fromkeys((str(these[0].number), str(these[-1].number))))
    }
    own |= {"site": lambda these: these[0].site, "leaves": _switches, "hosts": _hosts}
    own["kw"] = lambda these: round(these[0].peak_w / 1000, 1)
    return tabulate("racks", alike(racks(plan)), **own, feeds=lambda _: to_fill(said("build.feeds")))


def _switches(these: Sequence[Rack]) -> str:
    kinds = ([name for rack in these for name in getattr(rack, each)] for each in ("leaves", "spines"))
    return ", ".join(first_and_last(names) if names[2:] else ", ".join(names) for names in kinds if names)


def _hosts(these: Sequence[Rack]) -> str:
    named = first_and_last((these[0].hosts[0].name, these[-1].hosts[-1].name))
    return named if len(these) == 1 else said("build.hosts each", names=named, hosts=len(these[0].hosts))


def as_built(plan: Plan, most: int = MOST_BUILT) -> Table:
    """Tabulate address and serial number of each host, to fill in during the build; of many hosts only the first."""
    hosts = [host_name(pool, number) for pool in plan.pools for number in range(1, pool.hosts + 1)]
    notes = (said("table.as_built.more", hosts=len(hosts) - most),) if len(hosts) > most else ()
    empty: dict[str, Any] = dict.fromkeys(("name", "management", "bmc", "serial"), lambda _: to_fill())
    return tabulate("as_built", hosts[:most], host=str, **empty, notes=notes)
