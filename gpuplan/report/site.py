"""Names and addresses at the customer's site: what the plan needs, who states it and until when, and the values that follow."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from itertools import groupby, product
from typing import NamedTuple

from gpuplan.models.access import holds
from gpuplan.plan import Plan
from gpuplan.plan.prices import due_day
from gpuplan.plan.weighing import listed
from gpuplan.report.physical import (
    appliances,
    design_facts,
    most_nodes,
    names,
    networks,
    pod_network,
    site_ids,
    slug,
)
from gpuplan.scenario.inputs import SITE_ROWS
from gpuplan.wording import said, told

MANY = ("host", "switch", "rack")
"""Things that share a number of the checklist: each is listed in the workbook and the app."""
MOST = 500
"""Things of a kind that are listed one by one."""
FROM_NETWORK = "@"
"""Begins what is proposed from the subnet of a network."""


class Thing(NamedTuple):
    """A host, a network or another thing that has names and addresses; the only one has no id."""

    id: str = ""
    name: str = ""
    site: str = ""
    number: int = 1
    """Its number at its site, from 1."""


@dataclass(frozen=True, slots=True)
class SiteField:
    """A name or an address that the customer states."""

    number: str
    """Number in the checklist, such as C12: that of the subnet where an address follows from one."""
    key: str
    path: str
    """The input of the scenario that holds it."""
    area: str
    what: str
    of: str
    """Name of the thing that it is of; empty for the only one."""
    owner: str
    due: str
    proposed: str
    value: str
    """The value as typed; empty until then."""

    @property
    def full_name(self) -> str:
        """What it is, and of which thing."""
        return said("site.of", what=self.what, name=self.of) if self.of else self.what

    @property
    def mark(self) -> str:
        """Reference to the row of the checklist that is to fill in."""
        return f"\u2039{self.number}\u203a"


def site_value(plan: Plan, key: str) -> str:
    """Return a name or an address: as typed, else as proposed, else the mark with its number in the checklist."""
    return known_value(plan, key) or _fields(plan)[key].mark


def known_value(plan: Plan, key: str) -> str:
    """Return a name or an address as typed, else as proposed; empty if neither, or if the design has no such field."""
    found = _fields(plan).get(key)
    return found.value or found.proposed if found else ""


def site_fields(plan: Plan) -> tuple[SiteField, ...]:
    """Every name and address that a design needs, in the order of its checklist; of more than `MOST` things alike none is typed."""
    fields = _fields(plan).values()
    alike = Counter((each.area, each.what) for each in fields)
    return tuple(each for each in fields if alike[each.area, each.what] <= MOST)


def checklist(plan: Plan) -> tuple[SiteField, ...]:
    """The rows of the checklist: the first field of each number."""
    rows: dict[str, SiteField] = {}
    for each in _fields(plan).values():
        rows.setdefault(each.number, each)
    return tuple(rows.values())


def _fields(plan: Plan) -> dict[str, SiteField]:
    return plan.once("site", lambda: {each.key: each for each in _Site(plan).fields()} if plan.pools else {})


class _Site:
    """The fields of a plan, the values typed, and the addresses that follow from typed subnets."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.typed = plan, dict(plan.scenario.site)
        self.networks = {network.id: network for network in networks(plan)}
        self.pods = pod_network(most_nodes(plan))
        self.sites = {site: id.replace("_", "-") for site, id in site_ids(plan).items()}

    def fields(self) -> Iterator[SiteField]:
        """Yield the fields; an address that follows from a subnet has the number of the subnet."""
        rows, numbers, places = list(self._rows()), dict[str, str](), []
        for row, thing in rows:
            own = row["key"] if row["repeats"] in MANY else row["key"].replace("*", thing.id)
            if not row["proposed"].startswith(FROM_NETWORK):
                numbers.setdefault(own, f"C{len(numbers) + 1}")
            places.append(own)
        for (row, thing), own in zip(rows, places, strict=True):
            key = row["key"].replace("*", thing.id)
            path = f"site.{key}" if row["form"] else key
            value = self.typed.get(key) if row["form"] else self.plan.scenario.get(path)
            due = due_day(self.plan.scenario, self.plan.catalog, int(row["days"]))
            number = numbers.get(own) or numbers[f"network.{self._network(row, thing)}.subnet"]
            proposed = self._proposed(row, thing)
            yield SiteField(
                number,
                key,
                path,
                row["area"],
                row["what"],
                thing.name,
                row["owner"],
                due,
                proposed,
                str(value or ""),
            )

    def _rows(self) -> Iterator[tuple[Mapping[str, str], Thing]]:
        """Yield each row with each thing that it is of, all rows of a thing together."""
        things: dict[str, list[Thing]] = {}
        for kind, thing in self._things():
            things.setdefault(kind, []).append(thing)
        facts = design_facts(self.plan)
        rows = (row for row in SITE_ROWS if holds(listed(row["when"]), facts=facts))
        for (_, repeats), block in groupby(rows, key=lambda row: (row["area"], row["repeats"])):
            yield from ((row, thing) for thing, row in product(things.get(repeats, ()), list(block)))

    def _things(self) -> Iterator[tuple[str, Thing]]:
        """Yield the things of a design, each with its kind."""
        plan, nodes = self.plan, appliances(self.plan)
        yield "", Thing()
        tenants = dict.fromkeys(group.tenant for group in plan.scenario.groups if group.tenant)
        taken, there = set[str](), {group.id for group in plan.groups if group.vms}
        yield from (
            ("tenant", Thing(slug(each, taken, "tenant").replace("_", "-"), each)) for each in tenants
        )
        groups = (group for group in plan.scenario.groups if group.id in there)
        yield from (("workload", Thing(group.id, group.name)) for group in groups)
        for kind in ("manager", "edge"):
            yield from ((kind, Thing(str(n), str(n), number=n)) for n in range(1, nodes[f"{kind}s"] + 1))
        for each in self.networks.values():
            yield "network", Thing(each.id, each.purpose, each.site)
        yield from (("cluster", Thing(pool.id, pool.name, pool.site)) for pool in plan.pools)
        counts = Counter[tuple[str, str]]()
        for group in names(plan):
            for name in group.names:
                counts[group.kind, group.site] += 1
                yield group.kind, Thing(name, name, group.site, counts[group.kind, group.site])

    def _network(self, row: Mapping[str, str], thing: Thing) -> str:
        """Return the id of the network from which a value follows: of the thing's site, else of the first."""
        wanted = row["proposed"].removeprefix(FROM_NETWORK).partition("+")[0]
        if wanted.startswith("."):
            return thing.id
        site = self.sites.get(thing.site) or next(iter(self.sites.values()))
        return f"{site}-{wanted}" if site else wanted

    def _proposed(self, row: Mapping[str, str], thing: Thing) -> str:
        text = row["proposed"]
        if not text.startswith(FROM_NETWORK):
            letter = chr(ord("a") + thing.number - 1)
            return told(text, {**thing._asdict(), "letter": letter, "pods": self.pods})
        id, (_, _, skip) = self._network(row, thing), text.partition("+")
        if text == "@.gateway":
            return self._gateway(id)
        ends = self._range(id)
        if text == "@.range" or not ends:
            return ends
        first, last = (ip_address(end) for end in ends.split("-"))
        wanted = first + int(skip or 0) + thing.number - 1
        return str(wanted) if int(wanted) <= int(last) else ""

    def _gateway(self, id: str) -> str:
        """The gateway of a network: as typed, else the first address of its subnet."""
        subnet = self.typed.get(f"network.{id}.subnet")
        return str(self.typed.get(f"network.{id}.gateway") or (ip_network(subnet)[1] if subnet else ""))

    def _range(self, id: str) -> str:
        """The range of a network: as typed, else as many addresses as it needs, after the gateway if they fit there."""
        subnet, typed = self.typed.get(f"network.{id}.subnet"), self.typed.get(f"network.{id}.range")
        if typed or not subnet:
            return str(typed or "")
        within, count = ip_network(subnet), self.networks[id].addresses
        gateway = int(ip_address(self._gateway(id))) - int(within[0])
        for first in (gateway + 1, 1):
            if first + count < within.num_addresses and not first <= gateway < first + count:
                return f"{within[first]}-{within[first + count - 1]}"
        return ""
