"""Rules of power-on: the documented behaviour of vSphere when a VM starts, and the orders of VMs to try with it.

Where sources differ there are several readings.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple, TypeVar

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact
from gpuplan.models import power_on
from gpuplan.models.placement import Family, Request, Room
from gpuplan.models.placement.fit import Rules as Fits
from gpuplan.plan.access import served_by
from gpuplan.plan.hardware import has_nvswitch
from gpuplan.plan.requests import remembered
from gpuplan.plan.sharing import pieces_of, profiles_of, version_order
from gpuplan.scenario import Scenario

BRIDGED = 2
"""GPUs that a bridge joins where the catalog knows no more of the board (``rules/nvlink-device-group``)."""
ORDERS = 100
"""Orders that a plan tries under each reading, and fewer where there are more than two."""
WORK = 4_500_000
"""Orders x VMs x hosts that it tries at most under all readings together: some 100 ms."""
STEP, PLACES = 2000, 200
"""Hosts that equal the work of one VM, and of a VM in an order where the start of shares on a GPU matters."""
SIZING_ORDERS, SIZING_WORK = 4000, 16_000_000
"""The same under each reading where hosts are sized for orders."""
FIRST_ORDERS = 200
"""Orders tried first there; all are tried where these leave it open whether the share holds."""
FEWEST = 10
"""Fewest orders that are informative; with fewer, none is tried."""
POLICY, CONSOLIDATION = "platform.gpu_policy", "platform.drs_consolidation"
OPEN = (POLICY, CONSOLIDATION)
"""Settings of vSphere that the design decides where they are not stated."""
Number = TypeVar("Number", int, float)


def alike(asked: Sequence[Request]) -> bool:
    """True if all VMs have the same request, so that all orders are one."""
    return len({request._replace(group="", vms=0) for request in asked}) == 1


class Reading(NamedTuple):
    """One reading of the rules, as a whole."""

    name: str
    """Ids of its rows in ``data/power_on_rules.csv``."""
    words: str
    rules: power_on.Rules
    sources: tuple[str, ...]


def readings_of(
    scenario: Scenario, catalog: Catalog, kind: str, asked: Sequence[Request]
) -> tuple[Reading, ...]:
    """Every reading of the rules for VMs of a kind of pool: one where sources agree, none with Bitfusion."""
    if any(request.family and request.family.capacity for request in asked):
        return ()
    families = list(dict.fromkeys(request.family for request in asked if request.family))
    hosts = _hosts(scenario, catalog, kind)
    ways = [_ways(scenario, catalog, family) for family in families]
    if alike(asked):  # every order is the same
        hosts, ways = hosts[:1], [options[:1] for options in ways]
    domain, partitions, linked = _links(scenario, catalog, kind, asked)
    own_first = len({request.boards[0] for request in asked if request.boards}) > 1  # of a shared cluster
    readings = dict[power_on.Rules, Reading]()
    for host, chosen in product(hosts, list(product(*ways))):
        pairs = tuple((family.name, way) for family, (_, way) in zip(families, chosen, strict=True))
        rules = power_on.Rules(
            host["take"], host["policy"] == "consolidate", pairs, domain, partitions, own_first
        )
        readings[rules] = _reading(rules, [host, *(row for row, _ in chosen), *linked])
    return tuple(readings.values())


def _reading(rules: power_on.Rules, said: Sequence[Row]) -> Reading:
    """A reading of the rules, by the rows behind it."""
    rows = {row.id: row for row in said}
    words = "; ".join(row["words"] for row in rows.values())
    sources = tuple(dict.fromkeys(source for row in rows.values() for source in row.sources))
    return Reading(" ".join(rows), words, rules, sources)


def _rows(catalog: Catalog, mode: str) -> list[Row]:
    return [row for row in catalog.rows("power_on_rules") if row["mode"] == mode]


def _hosts(scenario: Scenario, catalog: Catalog, kind: str) -> list[Row]:
    """Return the rules that choose the host; consolidation looks at vGPUs alone."""
    policy = "consolidate" if scenario.platform.drs_consolidation and served_by(kind) == "vgpu" else "default"
    return [row for row in _rows(catalog, "host") if row["policy"] == policy]


def _ways(scenario: Scenario, catalog: Catalog, family: Family) -> list[tuple[Row, power_on.Way]]:
    """Return the rules that put a family's shares on GPUs; starts of a single profile never exclude each other."""
    gpu = catalog.gpus[scenario.hardware.gpu]
    backing = next(r["backing"] for r in catalog.profiles_of(gpu.id) if r["profile"] == family.profiles[0])
    mixed = scenario.platform.vgpu_sizes == "mixed"
    mode = "mig" if backing == "mig" else "mixed-size" if mixed else "same-size"
    rows = [
        row
        for row in _rows(catalog, mode)
        if row["architecture"] in ("all", gpu.value("architecture"))
        and row["policy"] in (None, scenario.platform.gpu_policy)
    ]
    if len(family.profiles) == 1:
        return list({row["take"]: (row, power_on.Way(row["take"])) for row in reversed(rows)}.values())[::-1]
    every = (one.name for one in profiles_of(catalog, gpu.id, backing, scenario.platform.vsphere))
    places = pieces_of(scenario, catalog, tuple(dict.fromkeys((*every, *family.profiles))))
    if not places[0]:
        places = pieces_of(scenario, catalog, family.profiles)
    return [(row, power_on.Way(row["take"], row["start"] or "lowest", *places)) for row in rows]


def _links(
    scenario: Scenario, catalog: Catalog, kind: str, asked: Sequence[Request]
) -> tuple[int, bool, list[Row]]:
    """(GPUs of an NVLink domain, whether NVSwitch has partitions, the rules behind this) for VMs with several GPUs."""
    gpu, wanted = catalog.gpus[scenario.hardware.gpu], scenario.platform.nvlink_groups
    several = any(request.gpus > 1 for request in asked)
    if served_by(kind) != "vgpu" or wanted == "no" or not several:
        return 0, False, []
    if has_nvswitch(scenario, catalog):
        return 0, True, _rows(catalog, "nvswitch")
    joined = int(gpu.value("nvlink_bridge_gpus") or 0)
    if wanted == "yes" and not joined and not str(gpu.value("form_factor")).startswith("SXM"):
        joined = BRIDGED
    if not 0 < joined < scenario.hardware.gpus_per_host:
        return 0, False, []
    return joined, False, _rows(catalog, "bridge")


def lacks(version: str, catalog: Catalog, row: str) -> str | None:
    """Return the first vSphere version with the feature of a row, if this version lacks it."""
    since, order = catalog.row("power_on_rules", row)["vsphere_from"], version_order(catalog)
    return since if since and order[version] < order[since] else None


def is_open(scenario: Scenario, path: str) -> bool:
    """True if the design decides the setting at a path, as it is only assumed."""
    return path in OPEN and scenario.origin(path).basis == "assumed"


def policy_facts(scenario: Scenario) -> dict[str, Fact]:
    """The inputs that the readings follow."""
    return scenario.given("platform", "gpu_policy", "drs_consolidation", "nvlink_groups")


def ends(values: Sequence[Number]) -> tuple[Number, Number]:
    """The lowest and the highest."""
    return min(values), max(values)


class Enough(NamedTuple):
    """Target for orders of power-on on the hosts for the demand."""

    readings: tuple[Reading, ...]
    share: float
    """Least share of the orders that start every VM."""
    most: int
    """Hosts that a cluster may have for the demand."""


def largest_first(asked: Sequence[Request]) -> list[int]:
    """Kinds of VMs by GPUs, the most first, then by vCPUs and memory."""
    worth = Fits(asked).worth
    return sorted(range(len(asked)), key=lambda k: (-worth[k], -asked[k].vcpus, -asked[k].memory_gib))


def orders_of(readings: int) -> int:
    """Return the number of orders that a plan tries under each of these readings."""
    return ORDERS if readings <= 2 else max(FEWEST, 2 * ORDERS // readings)


def orders_within(
    asked: Sequence[Request], hosts: int, readings: Sequence[Reading], clusters: int = 1
) -> int:
    """Return the orders that a plan of these clusters tries per reading; 0 if one is too large, 1 if all are alike."""
    places = any(way.pieces for reading in readings for _, way in reading.rules.ways)
    work = WORK // max(1, len(readings) * clusters)
    return _orders_for(asked, work, hosts + PLACES * places, orders_of(len(readings)))


def sizing_orders(asked: Sequence[Request], hosts: int, share: float) -> int:
    """The same where hosts are sized for orders; 0 if too few can be tried to show that this share starts every VM."""
    orders = _orders_for(asked, SIZING_WORK, max(1, hosts), SIZING_ORDERS)
    ends = [power_on.chance_interval(most, most)[0] for most in (max(1, orders), SIZING_ORDERS)]
    return orders if alike(asked) or ends[0] >= min(share, ends[1]) else 0


def _orders_for(asked: Sequence[Request], work: int, hosts: int, most: int) -> int:
    if alike(asked):
        return 1
    orders = (work // sum(request.vms for request in asked) - STEP) // hosts
    return min(most, orders) if orders >= FEWEST else 0


@remembered
def tried(
    asked: tuple[Request, ...],
    rooms: tuple[Room, ...],
    rules: power_on.Rules,
    orders: int | tuple[tuple[int, ...], ...],
) -> power_on.Orders:
    """``power_on_orders``, remembered: chapters, checks and decisions ask for the same ones."""
    return power_on.power_on_orders(asked, rooms=rooms, rules=rules, orders=orders)


def reached(
    asked: tuple[Request, ...],
    rooms: tuple[Room, ...],
    enough: Enough,
    orders: int | tuple[tuple[int, ...], ...],
) -> bool | None:
    """True if the share of all orders starts every VM on these hosts under every reading, at the lower end of its
    interval; None if the orders that were tried leave it open. A named order, and VMs all alike, are exact."""
    exact = alike(asked) or not isinstance(orders, int)
    lower = upper = 1.0
    for reading in enough.readings:
        if exact or not starts_always(asked, rooms, reading.rules):
            found = tried(asked, rooms, reading.rules, orders)
            share = found.started / found.orders
            low, high = (share, share) if exact else power_on.chance_interval(found.started, found.orders)
            lower, upper = min(lower, low), min(upper, high)
    return True if lower >= enough.share else None if upper >= enough.share else False


def starts_always(asked: Sequence[Request], rooms: Sequence[Room], rules: power_on.Rules) -> bool:
    """True if too few VMs are planned for any order to leave no host for one: a host without room holds at least one
    other VM, and more GPUs, vCPUs or memory than a VM would leave."""

    vms = sum(request.vms for request in asked)
    total = [
        sum(sizes)
        for sizes in zip(*(map(request.vms.__mul__, _takes(request)) for request in asked), strict=True)
    ]
    linked = bool(rules.domain or rules.partitions)
    for request in asked:
        here = _takes(request)
        fits = [room.sizes for room in rooms if room.takes(request) and _holds(room, here)]
        blocked = 0 if not linked else vms
        for at, need in enumerate(here):
            least = min((sizes[at] for sizes in fits if sizes[at]), default=None)
            blocked += 0 if least is None else (total[at] - need) // (least - need + 1)
        if len(fits) <= min(vms - 1, blocked):
            return False
    return True


def _takes(request: Request) -> tuple[int, ...]:
    """GPUs, vCPUs and memory of a VM; at worst each share is on its own GPU."""
    gpus = request.gpus or (request.shares if request.family else 0)
    return gpus, request.vcpus, request.memory_gib


def _holds(room: Room, sizes: Sequence[int]) -> bool:
    """True if an empty host offers this much of what is counted."""
    return all(size <= most or not most for size, most in zip(sizes, room.sizes, strict=True))


def least(do: Callable[[int], bool], below: int, most: int) -> int:
    """The least number above ``below`` that passes, by doubling and halving; ``most`` where none may."""
    low, high = below, min(most, below + 1)
    while high < most and not do(high):
        low, high = high, min(most, 2 * high - below)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if do(middle) else (middle, high)
    return high


@remembered
def more_hosts(
    asked: tuple[Request, ...], rooms: tuple[Room, ...], room: Room, enough: Enough
) -> tuple[int, bool]:
    """Return the new hosts, beyond the best arrangement, for which the share of orders starts all VMs, and if it does.

    Found by doubling and halving. The cluster's maximum where no number does; none where a design is too large to try.
    """
    vms = sum(request.vms for request in asked)
    orders = sizing_orders(asked, len(rooms), enough.share)
    if not orders:
        return 0, False

    def do(more: int) -> bool:
        there = (*rooms, *[room] * more)
        first = reached(asked, there, enough, min(orders, FIRST_ORDERS))
        return bool(reached(asked, there, enough, orders) if first is None else first)

    alone = vms - sum(host == room for host in rooms)  # each VM on its own host
    most = max(0, min(alone, enough.most - len(rooms)))
    high = least(do, -1, most)
    return high, high < most or do(high)
