"""Tables for the delivery team: software, storage, VM classes, names, networks, racks, and the as-built record."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hardware import needs_crx
from gpuplan.plan.hosts import Pool
from gpuplan.plan.racks import Rack, host_name, racks
from gpuplan.plan.sharing import whole_profile
from gpuplan.report.physical import alike, all_servers, first_and_last, names, networks, server_memory_gib
from gpuplan.report.site import site_fields, site_value
from gpuplan.report.table import Cell, Table, Worded, filled, tabulate
from gpuplan.report.tables.platform import parts_of_hosts
from gpuplan.wording import NAMES, PART, amount, number, said

LICENCE_PARTS = (PART["Platform licences"], PART["GPU software"])
MOST_BUILT = 32
PARTS = NAMES["software"]
UNKNOWN = "by-matrix"
"""Stands for all parts whose versions follow from the vendors' matrices."""


def software(plan: Plan) -> Table:
    """Tabulate versions, drivers and settings for the vSphere version; the vendor's matrix has those without a source."""
    version = plan.scenario.platform.vsphere
    software = (row for row in plan.catalog.rows("software") if row["vsphere"] in (None, "", version))
    rows = {str(row["part"]): row for row in software}

    if needs_crx(plan.scenario, plan.catalog):  # no guest driver of that release is known
        rows["vgpu-host"] = rows["vgpu-host-crx"]
        rows.pop("vgpu-guest", None)

    unknown = ", ".join(name for part, name in PARTS.items() if part not in rows)
    parts = [*(part for part in PARTS if part in rows), *[UNKNOWN] * bool(unknown)]
    own: dict[str, Any] = {"part": Worded(lambda part: PARTS.get(part, unknown), lambda part: part)}
    own["value"] = lambda part: rows[part]["value"] if part in rows else said("build.by matrix")
    own["basis"] = lambda part: rows[part].basis if part in rows else None
    own["sources"] = lambda part: rows[part].sources if part in rows else ()
    title = said("table.software", version=plan.catalog.vsphere[version].name)
    return tabulate("software", parts, **own, notes=(said("table.software.note"),), title=title)


def storage(plan: Plan) -> Table:
    """Tabulate the shared storage of the workload domain: known values, and those that its owner states."""
    bought = plan.scenario.cost.storage_tb
    kinds = dict.fromkeys(part.scenario.hardware.storage or "external" for part in plan.parts)
    kind = ", ".join(NAMES["storage in the document"][each] for each in kinds)
    stated = {
        name: _each(site_value(plan, f"cluster.{pool.id}.{name}") for pool in plan.pools)
        for name in ("policy", "datastore")
    }
    rows = (
        (said("storage.kind"), kind),
        (said("storage.capacity"), f"{number(bought)} TB" if bought else site_value(plan, "cost.storage_tb")),
        *((said(f"storage.{name}"), value) for name, value in stated.items()),
    )
    return filled("storage", rows, title=said("storage.title"))


def _each(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values))


def order_lines(plan: Plan) -> Table:
    """Tabulate a GPU host as ordered, line by line, with the entries that the reseller fills in."""
    notes = tuple(
        f"{said('table.host line of', hosts=name)} " * bool(name) + said("order.note", hosts=line.hosts)
        for name, line in plan.host_lines.items()
    )
    own: dict[str, Any] = dict.fromkeys(("number", "lead"), lambda _: "")
    return tabulate("order_lines", parts_of_hosts(plan), **own, notes=notes, title=said("order.title"))


def class_name(group: GroupPlan) -> str:
    """Return the name of a group's VM class in Kubernetes."""
    return f"gpu-{group.id}"[:63].rstrip("-")


class VmClass(NamedTuple):
    """Resources of one VM of a kind, and the number of such VMs."""

    name: str
    group: str
    vcpus: str | int
    """A text is a least, or the mark of what the customer states."""
    memory: str | int
    gpus: str
    vms: int


def vm_classes(plan: Plan) -> Table:
    """Tabulate processors, memory and GPUs of one VM of each workload and of each service."""
    return tabulate("vm_classes", list(_vm_classes(plan)))


def _vm_classes(plan: Plan) -> Iterator[VmClass]:
    sized = {group.id: group for group in plan.sized.groups}
    for group in plan.groups:
        if group.vms:
            spec, what = sized[group.id], devices(plan, group)
            keys = ("vcpus_each", "memory_gib_each")
            vcpus, memory = (
                getattr(spec, key) or site_value(plan, f"groups.{group.id}.{key}") for key in keys
            )
            yield VmClass(class_name(group), group.name, vcpus, memory, what, group.vms)
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
    own: dict[str, Any] = {"names": lambda each: first_and_last(each.names)}
    own["standard"] = lambda each: first_and_last(
        [site_value(plan, f"{each.kind}.{name}.name") for name in each.names]
    )
    return tabulate("naming", list(names(plan)), **own, notes=(said("table.naming.note"),))


def network_plan(plan: Plan) -> Table:
    """Tabulate the networks of each site, with the values that the customer's teams state."""
    own: dict[str, Any] = {
        name: lambda each, name=name: site_value(plan, f"network.{each.id}.{name}")
        for name in ("vlan", "subnet", "gateway", "range")
    }
    own["dhcp"], own["owner"] = Worded(NAMES["dhcp"].get), Worded(NAMES["owner"].get)
    own["addresses"] = lambda each: Cell(each.addresses, f"{number(each.addresses)} (/{each.prefix})")
    return tabulate("network_plan", networks(plan), **own, notes=(said("table.network_plan.note"),))


def rack_plan(plan: Plan) -> Table:
    """Tabulate the hosts and switches of each rack; identical racks share a row."""
    own: dict[str, Any] = {
        "rack": lambda these: "\u2013".join(dict.fromkeys((str(these[0].number), str(these[-1].number))))
    }
    own |= {"site": lambda these: these[0].site, "leaves": _switches, "hosts": _hosts}
    own["kw"] = lambda these: round(these[0].peak_w / 1000, 1)
    own["feeds"] = lambda these: _each(
        site_value(plan, f"rack.rack-{rack.number:02}.feeds") for rack in these
    )
    return tabulate("racks", alike(racks(plan)), **own)


def _switches(these: Sequence[Rack]) -> str:
    kinds = ([name for rack in these for name in getattr(rack, each)] for each in ("leaves", "spines"))
    return ", ".join(first_and_last(names) if names[2:] else ", ".join(names) for names in kinds if names)


def _hosts(these: Sequence[Rack]) -> str:
    named = first_and_last((these[0].hosts[0].name, these[-1].hosts[-1].name))
    return named if len(these) == 1 else said("build.hosts each", names=named, hosts=len(these[0].hosts))


def as_built(plan: Plan, most: int = MOST_BUILT) -> Table:
    """Tabulate name, addresses and serial number of each host; of many hosts only the first."""
    hosts = [host_name(pool, number) for pool in plan.pools for number in range(1, pool.hosts + 1)]
    notes = (said("table.as_built.more", hosts=len(hosts) - most),) if len(hosts) > most else ()
    own: dict[str, Any] = {
        name: lambda host, name=name: site_value(plan, f"host.{host}.{name}")
        for name in ("name", "management", "bmc", "serial")
    }
    return tabulate("as_built", hosts[:most], host=str, **own, notes=notes)


def built_parts(plan: Plan, most: int = 2 * MOST_BUILT) -> Table:
    """Tabulate names and addresses of switches and racks, and the GPUs in passthrough of each host; of many only the first."""
    parts = [
        each
        for each in site_fields(plan)
        if each.key.startswith(("switch.", "rack.")) or each.key.endswith(".gpus")
    ]
    notes = (said("table.as_built.more", hosts=len(parts) - most),) if len(parts) > most else ()
    return tabulate("built_parts", parts[:most], value=lambda each: site_value(plan, each.key), notes=notes)
