"""The tables of the platform: a GPU host as it is ordered, the management domain's appliances, and one of its hosts."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.plan.host_line import HostPart
from gpuplan.plan.management import Appliance
from gpuplan.report.table import Cell, Column, Table, listed
from gpuplan.wording import NAMES, amount, capital, counted, number

PART_COLUMNS = (
    Column("part", "Part", of="name"),
    Column("size", "Each host", of=lambda part: _size(part)),
    Column("rule", "Rule", of=lambda part: Cell(part.rule, tone="small")),
    Column("basis", "Known", "basis"),
    Column("sources", "Sources", "sources"),
)


def _size(part: HostPart) -> Cell:
    """What is ordered of it, and what is wrong with that."""
    words = f"{part.size}: {part.short}" if part.short else None
    return Cell(part.size, words=words, line=part.line, tone="warn" if part.short else "")


def host_line(plan: Plan) -> Table:
    """A new GPU host, part by part, with the rule behind each."""
    line = plan.host_line
    notes = (
        ()
        if line is None
        else (
            f"{counted(line.hosts, 'host')} like this. The price of a server in the bill is that of its catalog row, with its usual processors and memory.",
        )
    )
    return listed("host_line", "A GPU host to order", PART_COLUMNS, line.parts if line else (), notes=notes)


def management_hosts(plan: Plan) -> Table:
    """A host of the management domain, part by part."""
    parts = plan.management.parts if plan.management else ()
    return listed("management_hosts", "A management host", PART_COLUMNS, parts)


def management(plan: Plan) -> Table:
    """The appliances of the management domain and those on the GPU cluster, with their sum."""
    domain = plan.management
    sums = (("vcpus", "vCPUs"), ("memory_gb", "Memory, GB"), ("disk_gb", "Disk, GB"))
    total: tuple[tuple[Cell | None, ...], ...] = ()
    if domain:
        cells = (Cell(getattr(domain, name), line=f"domain.{name}", tone="total") for name, _ in sums)
        empty = Cell(None, words="")
        total = ((Cell("Management domain", tone="total"), empty, empty, *cells, empty, None, None),)
    apart = any(a.on_gpu_hosts for a in domain.appliances) if domain else False
    return listed(
        "management",
        "Appliances of VMware Cloud Foundation",
        (
            Column(
                "appliance",
                "Appliance",
                of=lambda a: a.name + ", workload domain" * a.id.startswith("domain-"),
            ),
            Column("size", "Size"),
            Column("nodes", "VMs", "number"),
            *(
                Column(name, label, "number", words=lambda n: None if n else "not known")
                for name, label in sums
            ),
            Column("where", "Runs on", detail=not apart, of=_where),
            Column("basis", "Known", "basis"),
            Column("sources", "Sources", "sources"),
        ),
        domain.appliances if domain else (),
        totals=total,
        notes=_notes(plan),
    )


def _where(appliance: Appliance) -> str:
    return "GPU cluster" if appliance.on_gpu_hosts else "management domain"


def _notes(plan: Plan) -> tuple[str, ...]:
    """How many hosts they need, and of which release the sizes are."""
    domain = plan.management
    if domain is None:
        return ()
    model = NAMES["management.model"][domain.model]
    said = [
        f"{capital(model)}, {domain.size}: {amount(domain.needed_hosts, 'host')} needed, "
        f"{number(domain.min_hosts)} the least; storage {number(round(domain.raw_gb / 1000, 1))} TB."
    ]
    if plan.scenario.management.model == "simple" != domain.model:
        said.append(
            "The simple model comes with VCF 9.0: on an earlier release it is planned with high availability."
        )
    if domain.short:
        said.append(f"The {amount(domain.hosts, 'host')} stated are too few: {domain.short}.")
    if any(a.basis == "assumed" for a in domain.appliances):
        said.append("Sizes are those published for VCF 9.1; for this release they are assumed.")
    return tuple(said)
