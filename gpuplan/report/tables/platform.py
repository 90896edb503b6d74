"""Tables of the platform: a GPU host as ordered, the management domain's appliances, and its host configuration."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.plan.host_line import HostPart
from gpuplan.plan.management import Appliance
from gpuplan.report.table import Cell, Column, Table, listed
from gpuplan.wording import NAMES, amount, capital, counted, said

PART_COLUMNS = (
    Column("part", said("table.columns.part"), of="name"),
    Column("size", said("table.columns.size"), of=lambda part: _size(part)),
    Column("rule", said("table.columns.rule"), of=lambda part: Cell(part.rule, tone="small")),
    Column("basis", said("table.columns.basis"), "basis"),
    Column("sources", said("table.columns.sources"), "sources"),
)


def _size(part: HostPart) -> Cell:
    """Return the ordered size, and what is wrong with it."""
    words = f"{part.size}: {part.short}" if part.short else None
    return Cell(part.size, words=words, line=part.line, tone="warn" if part.short else "")


def host_line(plan: Plan) -> Table:
    """A new GPU host, part by part, with the rule behind each."""
    line = plan.host_line
    notes = (
        () if line is None else (said("table.to this specification the", hosts=counted(line.hosts, "host")),)
    )
    return listed("host_line", PART_COLUMNS, line.parts if line else (), notes=notes)


def management_hosts(plan: Plan) -> Table:
    """A host of the management domain, part by part."""
    parts = plan.management.parts if plan.management else ()
    return listed("management_hosts", PART_COLUMNS, parts)


def management(plan: Plan) -> Table:
    """The appliances of the management domain and those on the GPU cluster, with their sum."""
    domain = plan.management
    sums = tuple((name, said(f"table.management.{name}")) for name in ("vcpus", "memory_gb", "disk_gb"))
    total: tuple[tuple[Cell | None, ...], ...] = ()
    if domain:
        cells = (Cell(getattr(domain, name), line=f"domain.{name}", tone="total") for name, _ in sums)
        empty = Cell(None, words="")
        total = (
            (Cell(said("table.management.total"), tone="total"), empty, empty, *cells, empty, None, None),
        )
    apart = any(a.on_gpu_hosts for a in domain.appliances) if domain else False
    return listed(
        "management",
        (
            Column("appliance", of=_appliance),
            Column("size"),
            Column("nodes", kind="number"),
            *(
                Column(name, label, "number", words=lambda n: None if n else said("table.not known"))
                for name, label in sums
            ),
            Column("where", detail=not apart, of=_where),
            Column("basis", kind="basis"),
            Column("sources", kind="sources"),
        ),
        domain.appliances if domain else (),
        totals=total,
        notes=_notes(plan),
    )


def _appliance(appliance: Appliance) -> str:
    of_domain = appliance.id.startswith("domain-")
    return said("table.management.in domain", name=appliance.name) if of_domain else appliance.name


def _where(appliance: Appliance) -> str:
    place = "on gpu cluster" if appliance.on_gpu_hosts else "in management domain"
    return said(f"table.management.{place}")


def _notes(plan: Plan) -> tuple[str, ...]:
    """Say how many hosts they need, and to which release the sizes belong."""
    domain = plan.management
    if domain is None:
        return ()
    model = NAMES["management.model"][domain.model]
    sentences = [
        said(
            "table.management.hosts needed",
            model=capital(model),
            size=domain.size,
            hosts=domain.needed_hosts,
            least=domain.min_hosts,
            raw=round(domain.raw_gb / 1000, 1),
        )
    ]
    if plan.scenario.management.model == "simple" != domain.model:
        sentences.append(said("table.the simple model requires"))
    if domain.short:
        sentences.append(
            said("table.the stated are too", hosts=amount(domain.hosts, "host"), short=domain.short)
        )
    if any(a.basis == "assumed" for a in domain.appliances):
        sentences.append(said("table.sizes are published for"))
    return tuple(sentences)
