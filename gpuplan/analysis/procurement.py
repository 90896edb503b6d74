"""What an order states of each item: part number, lead time, term, alternates, and how many are ordered when."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from gpuplan.analysis.candidates import default_space
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import LICENCES, Material
from gpuplan.plan.cash_flow import HARDWARE
from gpuplan.plan.hardware import fit_of
from gpuplan.plan.prices import factor

EACH_HOST = ("servers", "memory", "gpus", "adapters")
"""Materials of which each new host of a kind has as many."""
PAID = ("bought", "yearly")
MOST = 3
"""Most alternates of an item."""


class Order(NamedTuple):
    """The order of one line of the bill of materials."""

    material: Material
    part_number: str
    """As its maker or the device itself states it; empty where none was found."""
    lead_weeks: tuple[float, float | None] | None
    """Fewest and most weeks; the most is None where no source names it, all of it where no source speaks of the item."""
    term_years: int | None
    """Years of a subscription, or of the warranty of hardware."""
    alternates: tuple[str, ...]
    per_host: float | None
    """Quantity in each new host; None where it is not by the host."""
    phases: tuple[float, ...]
    """Quantity ordered for each year from 1."""


def orders(plan: Plan) -> tuple[Order, ...]:
    """The orders of all lines of the bill of materials; none without hosts."""
    return plan.once("orders", lambda: tuple(_orders(plan)))


def _orders(plan: Plan) -> Iterator[Order]:
    numbers = {row["item"]: str(row["part_number"]) for row in plan.catalog.rows("part_numbers")}

    def named(table: str, id: str) -> str:
        name, number = plan.catalog.items(table)[id].name, numbers.get(f"{table}/{id}", "")
        return f"{name} ({number})" if number else name

    for material in plan.costs.materials if plan.costs else ():
        assert plan.costs is not None
        yield Order(
            material,
            numbers.get(material.item, ""),
            _lead_weeks(plan.catalog, material.item),
            _term_years(plan, material),
            tuple(named(*other) for other in islice(_alternates(plan, material), MOST)),
            _per_host(plan, material),
            plan.costs.orders[material.key],
        )


def _lead_weeks(catalog: Catalog, item: str) -> tuple[float, float | None] | None:
    """Weeks of a board by its own sources, else by those of data-centre boards; of one that is sold."""
    if not item.startswith("gpus/") or catalog.items("gpus")[item.partition("/")[2]].value("end_of_sale"):
        return None
    rows = catalog.rows("lead_times")
    own = [row for row in rows if row["gpu"] == item.partition("/")[2]] or [
        r for r in rows if r["gpu"] is None
    ]
    most = [row["most"] for row in own]
    return min(float(row["fewest"]) for row in own), None if None in most else max(map(float, most))


def _term_years(plan: Plan, material: Material) -> int | None:
    if material.status == "yearly":
        return plan.scenario.cost.licence_term_years
    if material.status == "bought" and material.part in HARDWARE and material.part not in LICENCES:
        return int(factor(plan.scenario, plan.catalog, "warranty_years").value)
    return None


def _per_host(plan: Plan, material: Material) -> float | None:
    base, _, of = material.key.partition("@")
    kinds = plan.counts.kinds if plan.counts else ()
    if base not in EACH_HOST or (base == "adapters" and kinds[1:]) or plan.counts is None:
        return None
    kind = next(kind for kind in kinds if kind.suffix.removeprefix("@") == of)
    new = kind.hosts(plan.counts.at_start()) - kind.existing
    return material.quantity / new if new else None


def _alternates(plan: Plan, material: Material) -> Iterator[tuple[str, str]]:
    """Yield table and id of boards and servers that replace those of the design, switches with its ports, adapters with its links."""
    (table, _, id), catalog = material.item.partition("/"), plan.catalog
    if table in ("gpus", "servers"):
        scenario = next(
            p.scenario for p in plan.parts if id in (p.scenario.hardware.gpu, p.scenario.hardware.server)
        )
        found, gpu = getattr(default_space(scenario, catalog), table), scenario.hardware.gpu
        fit = (other for other in found if table == "gpus" or (other and fit_of(catalog, other, gpu)))
        yield from ((table, other) for other in fit if other != id)
    if table == "switches":
        yield from ((table, other) for other in _switches(catalog, id))
    if material.key == "adapters":
        link = plan.scenario.network.link_gbit_s
        speeds = {id: float(nic.value("max_speed_gbit_s") or 0) for id, nic in catalog.nics.items()}
        yield from (("nics", id) for id in sorted(speeds, key=lambda id: speeds[id]) if speeds[id] >= link)


def _switches(catalog: Catalog, id: str) -> Iterator[str]:
    """Yield switches that are sold and have as many ports of each speed, those of the same maker first."""
    own = catalog.switches[id]
    ports = {name: float(own.value(name) or 0) for name in own.facts if name.startswith("ports_")}
    fit = [
        other
        for other in catalog.switches.values()
        if other is not own
        and other.value("end_of_sale") is None
        and all(float(other.value(name) or 0) >= many for name, many in ports.items())
    ]
    yield from (other.id for other in sorted(fit, key=lambda o: o.value("vendor") != own.value("vendor")))
