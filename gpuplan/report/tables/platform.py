"""Tables of the platform: a GPU host as ordered, the management domain's appliances, and its host configuration."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.plan.host_line import HostPart
from gpuplan.plan.management import Appliance
from gpuplan.report.table import Cell, Table, Worded, columns, listed, tabulate
from gpuplan.wording import NAMES, amount, capital, counted, said


def _size(part: HostPart) -> Cell:
    """Return the ordered size, and what is wrong with it."""
    words = f"{part.size}: {part.short}" if part.short else None
    return Cell(part.size, words=words, line=part.line, tone="warn" if part.short else "")


PART_COLUMNS = columns("columns", size=_size, rule=lambda part: Cell(part.rule, tone="small"))


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
    sums = ("vcpus", "memory_gb", "disk_gb")
    total: tuple[tuple[Cell | None, ...], ...] = ()
    if domain:
        cells = (Cell(getattr(domain, name), line=f"domain.{name}", tone="total") for name in sums)
        empty = Cell(None, words="")
        total = (
            (Cell(said("table.management.total"), tone="total"), empty, empty, *cells, empty, None, None),
        )
    apart = any(a.on_gpu_hosts for a in domain.appliances) if domain else False
    return tabulate(
        "management",
        domain.appliances if domain else (),
        appliance=_appliance,
        where=_where,
        **dict.fromkeys(sums, Worded(lambda n: None if n else said("table.not known"))),
        hidden={"where": not apart},
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
