"""Clusters: the division of a pool's hosts where one cluster may not have as many, or where they are kept apart."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact
from gpuplan.models import availability
from gpuplan.models.availability import cluster_hosts
from gpuplan.models.placement import Host, Placement, Request, Room, Shared, Slot, worst_losses
from gpuplan.plan.access import served_by
from gpuplan.plan.hosts import Named, Pool, cluster_of_pool, pool_name, undivided_pool, whole_pool_lines
from gpuplan.plan.inputs import derived
from gpuplan.plan.layouts import (
    Kept,
    Layout,
    enough_of,
    for_orders,
    most_hosts,
    most_hosts_fact,
    placed,
    unused,
    with_more,
)
from gpuplan.plan.over_time.rules import Enough
from gpuplan.plan.requests import LAST, Requests, placed_most, remembered, spare_hosts, too_large
from gpuplan.plan.simulated import Promise, kept
from gpuplan.plan.sizing_rule import target_fact
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import OTHER_VMS, Scenario, sites_people
from gpuplan.simulation.jobs import simulate
from gpuplan.wording import NAMES, counted, percent

SPLIT_NAMES = NAMES["availability.split"]
"""Ways to divide a pool, as an input names them, and their words."""


class Cluster(NamedTuple):
    """VMs on the hosts of one cluster."""

    layout: Layout
    home: str = ""
    """Whose it is: a site where clusters are by site, and after a line break a tenant where they are apart."""


class Within(NamedTuple):
    """Limits of a cluster."""

    spare: int
    most: int
    enough: Enough | None
    promise: Promise | None
    """What a rule by risk promises; None without one, and where it is not checked."""


@dataclass(frozen=True)
class Division:
    """The clusters of a pool, usually one."""

    whole: Layout
    """Without bounds of clusters."""
    clusters: tuple[Cluster, ...]
    name: str = ""
    """Name of the pool."""

    @property
    def hosts(self) -> int:
        """Hosts in all clusters."""
        return sum(len(cluster.layout.hosts) for cluster in self.clusters)

    @property
    def reached(self) -> bool:
        """True if the requested share of orders of power-on starts every VM in all of the clusters."""
        return all(cluster.layout.reached for cluster in self.clusters)

    @property
    def kept(self) -> Kept | None:
        """The rule by risk on all of these hosts: of the groups with the highest chance; None where it is not checked."""
        results = (cluster.layout.kept for cluster in self.clusters)
        kept = {id(one): one for one in results if one}.values()  # clusters simulated together share it
        if not kept:
            return None
        worst = max(kept, key=lambda one: (not one.held, one.value))
        more, first = sum(one.more for one in kept), max(one.at_first for one in kept)
        return worst._replace(more=more, at_first=first)

    def named(self, kind: str) -> list[tuple[Named, Layout]]:
        """Return the clusters with their names, numbered if there are several."""
        name, owners = self.name, [cluster.home.partition("\n")[::2] for cluster in self.clusters]
        if len(self.clusters) == 1:
            return [(Named(kind, kind, name, *owners[0]), self.clusters[0].layout)]
        return [
            (Named(kind, f"{kind}-{at}", ", ".join([f"{name} {at}", *filter(None, owner)]), *owner), layout)
            for at, ((layout, _), owner) in enumerate(zip(self.clusters, owners, strict=True), 1)
        ]


def divisions(
    scenario: Scenario, catalog: Catalog, requests: Requests, layouts: Mapping[str, Layout]
) -> dict[str, Division]:
    """The clusters of each pool, with the hosts on which a rule by risk holds."""
    return {
        kind: _divided(scenario, catalog, kind, requests, layout, scenario.availability.split)
        for kind, layout in layouts.items()
    }


def _divided(
    scenario: Scenario, catalog: Catalog, kind: str, requests: Requests, whole: Layout, split: str
) -> Division:
    """Return the clusters of a pool, each with its own spare hosts, and at least one for the demand."""
    spare = spare_hosts(scenario)
    most = most_hosts(scenario, catalog)
    promise = requests.promises.get(kind)
    within = Within(spare, most, enough_of(scenario, catalog, kind, whole.asked), promise)
    priority = {group.id: group.priority for group in scenario.groups}
    asked, existing, apart = whole.asked, whole.existing, tuple[Cluster, ...]()
    homes = dict(zip(requests.members[kind], _homes(scenario, requests, kind, split), strict=True))
    if served_by(kind) == "vgpu" and any(room.board != whole.room.board for room in existing):
        asked, existing, apart = _by_board(whole, homes, priority, spare, most)
    together = split == "few-large" and len({*homes.values()} - {None}) < 2
    if together and len(whole.hosts) <= most and existing == whole.existing:

        def lay(more: int) -> list[Layout]:
            one = with_more(whole, more, spare)
            few = len(one.hosts) <= most
            return [one] if few else _few_large((), whole.asked, whole.existing, whole.room, within, more)

        home = next(filter(None, homes.values()), "")
        laid_out = tuple(Cluster(laid, home) for laid in kept(promise, whole.asked, lay))
        return Division(whole, laid_out, pool_name(scenario, kind))
    homes_of = tuple(homes[request.group] for request in asked)
    levels = tuple(priority.get(request.group, LAST) for request in asked)
    clusters = _clusters(asked, existing, whole.room, within, homes_of, levels, apart)
    if split == "by-group":
        clusters = tuple(cluster._replace(home="") for cluster in clusters)
    return Division(whole, clusters, pool_name(scenario, kind))


def _by_board(
    whole: Layout, homes: Mapping[str, str | None], priority: Mapping[str, int], spare: int, most: int
) -> tuple[tuple[Request, ...], tuple[Room, ...], tuple[Cluster, ...]]:
    """The VMs and existing hosts with the board of the design, and for each other board a cluster of each home, with spare hosts.

    A vGPU profile belongs to one board, and no new host has another one: as many VMs run there as the loss of any spare
    hosts leaves a place for. A group without a home goes with the largest.
    """
    own, left, clusters = whole.room.board, list(whole.asked), list[Cluster]()
    largest = _largest(homes, {r.group: r.vms * max(1, r.gpus) for r in left})
    home_of = {group: home or largest for group, home in homes.items()}
    by_board = defaultdict[str, list[Room]](list)
    for room in whole.existing:
        by_board[room.board].append(room)
    of_own = tuple(by_board.pop(own, ()))
    for board in sorted(by_board):
        there = [request for request in left if board in request.boards and request.vms]
        rooms = tuple(sorted(by_board[board]))[-most:]
        made = _on_board(whole, there, rooms, home_of, priority, spare)
        taken = Counter({r.group: r.vms for cluster in made for r in cluster.layout.asked})
        left = [r._replace(vms=r.vms - taken[r.group]) for r in left]
        clusters += made
    rest = tuple(r._replace(boards=(own,)) for r in left if r.vms)
    return rest, of_own, tuple(clusters)


def _on_board(
    whole: Layout,
    there: Sequence[Request],
    rooms: tuple[Room, ...],
    home_of: Mapping[str, str],
    priority: Mapping[str, int],
    spare: int,
) -> list[Cluster]:
    """Return a cluster of each home on the existing hosts of one board; the last one has the hosts that are left, too."""
    stuck = {request.group for request in too_large(there, whole.room)}  # first, and without spare hosts
    levels = {r.group: 0 if r.group in stuck else priority.get(r.group, LAST) for r in there}
    together: dict[str, list[Request]] = defaultdict(list)
    for request in there:
        together[home_of[request.group]].append(request._replace(boards=(rooms[0].board,)))
    made = list[Cluster]()
    for home, able in sorted(together.items(), key=lambda one: min(levels[r.group] for r in one[1])):
        lost = 0 if stuck & {r.group for r in able} else spare
        wanted = _held(able, rooms, levels, lost)
        if not wanted:
            continue
        some = rooms
        if len(together) > 1:
            taken = _taken(wanted, rooms, whole.room, spare)
            some = _split(rooms, taken)[0]
            some = some if _held(wanted, some, levels, lost) == wanted else rooms
        made.append(Cluster(placed(wanted, some, whole.room, spare), home))
        rooms = tuple(sorted((Counter(rooms) - Counter(some)).elements()))
    if made and rooms:
        last = made.pop()
        both = tuple(sorted((*last.layout.existing, *rooms)))
        made.append(last._replace(layout=placed(last.layout.asked, both, whole.room, spare)))
    return made


def _held(
    asked: Sequence[Request], rooms: tuple[Room, ...], levels: Mapping[str, int], lost: int
) -> tuple[Request, ...]:
    """As many of these VMs as the loss of any such number of these hosts leaves a place for."""
    after = [Counter(rooms) - loss for loss in worst_losses(Counter(rooms), lost=min(lost, len(rooms)))]
    order = tuple(levels[request.group] for request in asked)
    held = [placed_most(tuple(asked), tuple(sorted(left.elements())), order).placed for left in after]
    counts = map(min, zip(*held, strict=True))
    return tuple(r._replace(vms=vms) for r, vms in zip(asked, counts, strict=True) if vms)


def _homes(scenario: Scenario, requests: Requests, kind: str, split: str) -> tuple[str | None, ...]:
    """Return the owner of the cluster of each request of a pool: a group, a site, or all together; of each tenant apart.

    None goes with most of the demand of the pool. A pool without any site is where most GPUs of the other pools are.
    """
    members = requests.members[kind]
    if split == "by-group":
        return tuple(None if m.startswith(OTHER_VMS) else m for m in members)
    apart = scenario.availability.tenants_apart in ("host", "cluster")
    tenants = {group.id: group.tenant or "" for group in scenario.groups}
    if not (apart and any(tenants.values())):
        return _sites(scenario, requests, members, split)
    homes, gpus = dict[str, str](), {group.id: group.demand_gpus for group in requests.groups}
    by_tenant = defaultdict[str, list[str]](list)
    for member in filter(tenants.__contains__, members):
        by_tenant[tenants[member]].append(member)
    for tenant, mine in by_tenant.items():
        at = dict(zip(mine, _sites(scenario, requests, mine, split), strict=True))
        largest = _largest(at, gpus)
        homes |= {m: f"{site or largest}\n{tenant}" for m, site in at.items()}
    return tuple(map(homes.get, members))  # what is no group's goes with most of the demand


def _largest(homes: Mapping[str, str | None], gpus: Mapping[str, float]) -> str:
    """Return the home with most GPUs of these groups."""
    sizes: dict[str, float] = defaultdict(float)
    for group, home in homes.items():
        sizes[home or ""] += gpus[group] if home else 0.0
    return max(sizes, key=lambda home: sizes[home], default="")


def _sites(
    scenario: Scenario, requests: Requests, members: Sequence[str], split: str
) -> tuple[str | None, ...]:
    """Return the site of each request where clusters are by site, otherwise one without a name."""
    if split != "by-site":
        return tuple(None if m.startswith(OTHER_VMS) else "" for m in members)
    sites = {group.id: _main_site(group.sites) for group in scenario.groups if group.sites}
    homes = tuple(sites.get(member) for member in members)
    if any(homes):
        return homes
    gpus: dict[str, float] = defaultdict(float)
    for group in requests.groups:
        if group.vms_placed and group.id in sites:
            gpus[sites[group.id]] += group.demand_gpus
    return (max(gpus, key=lambda site: gpus[site], default=""),) * len(members)


def _main_site(sites: str) -> str:
    """Return the site with most people of a group."""
    return max(sites_people(sites), key=lambda site: site[1])[0]


@remembered
def _clusters(
    asked: tuple[Request, ...],
    existing: tuple[Room, ...],
    room: Room,
    within: Within,
    homes: tuple[str | None, ...],
    levels: tuple[int, ...],
    boards: tuple[Cluster, ...] = (),
) -> tuple[Cluster, ...]:
    """Return the clusters of the demand, apart by the ``homes`` of the requests; existing hosts go by priority.

    Those of owned ``boards`` are there already.
    """
    together, first, rest = _by_home(asked, homes, levels)
    for _, home in boards:
        together[home]  # which may have no other host
    stuck = {home: too_large(requests, room) for home, requests in together.items()}

    def alone(home: str) -> int:
        fitting = tuple(request for request in together[home] if request not in stuck[home])
        return len(placed(fitting, (), room, 0).hosts)

    largest = max(together, key=alone, default="")
    together[largest] += rest
    clusters, left = [], existing
    for at, home in enumerate(sorted(together, key=lambda h: (not stuck.get(h), first.get(h, LAST))), 1):
        requests, rooms = tuple(together[home]), left
        if at < len(together) and left:
            rooms, left = _split(left, _taken(requests, left, room, within.spare))
        there = tuple(layout for layout, of in boards if of == home)
        every = _asked(requests, there)
        lay = partial(_few_large, there, requests, rooms, room, within)
        if (promise := within.promise) is not None:
            everywhere = _asked(asked, [layout for layout, _ in boards]) if home == largest else None
            promise = _of_cluster(promise, every, everywhere)
        clusters += [Cluster(layout, home) for layout in kept(promise, every, lay)]
    return tuple(_numbered(clusters))


def _by_home(
    asked: Sequence[Request], homes: Sequence[str | None], levels: Sequence[int]
) -> tuple[defaultdict[str, list[Request]], dict[str, int], list[Request]]:
    """Return the requests of each home, the best priority of a group in it, and the requests without a home."""
    together, first, rest = defaultdict[str, list[Request]](list), dict[str, int](), list[Request]()
    for home, level, request in zip(homes, levels, asked, strict=True):
        if home is None:
            rest.append(request)
            continue
        together[home].append(request)
        first[home] = min(level, first.get(home, level))
    return together, first, rest


def _asked(requests: Sequence[Request], owned: Sequence[Layout]) -> tuple[Request, ...]:
    """Return these requests and those on owned hosts."""
    return (*requests, *(request for layout in owned for request in layout.asked))


def _of_cluster(promise: Promise, asked: Sequence[Request], everywhere: Sequence[Request] | None) -> Promise:
    """Return what is promised to the groups of a cluster; with all requests given, to groups without a VM, too."""
    nowhere = set[str]() if everywhere is None else promise.groups - {r.group for r in everywhere}
    return promise.of_groups({request.group for request in asked} | nowhere)


def _split(rooms: Sequence[Room], taken: set[int]) -> tuple[tuple[Room, ...], tuple[Room, ...]]:
    """Return the rooms at these positions, and the others."""
    both = [[room for at, room in enumerate(rooms) if (at in taken) == wanted] for wanted in (True, False)]
    return tuple(both[0]), tuple(both[1])


def _taken(requests: tuple[Request, ...], left: tuple[Room, ...], room: Room, spare: int) -> set[int]:
    """Positions of the existing hosts that these requests take, and of the largest others for failover."""
    hosts = placed(requests, left, room, spare).hosts[: len(left)]
    idle = sorted((n for n, host in enumerate(hosts) if not host), key=lambda n: left[n], reverse=True)
    return {n for n, host in enumerate(hosts) if host} | {*idle[:spare]}


def _few_large(
    boards: tuple[Layout, ...],
    asked: tuple[Request, ...],
    existing: tuple[Room, ...],
    room: Room,
    within: Within,
    more: int,
) -> list[Layout]:
    """The fewest clusters of nearly equal size: the hosts of the whole placement are dealt out, existing ones first.

    They have ``more`` hosts for the demand, or as many as they may. Existing hosts that the demand does not take are left out
    where a cluster would have too many with them. Clusters of owned ``boards`` come first, and their idle hosts.
    """
    spare, most, enough, _ = within
    for laid in boards:
        taken = min(more, unused(laid, spare))
        boards, more = (*boards[1:], with_more(laid, taken, spare)), more - taken
    if not asked:
        return list(boards)
    undivided = with_more(placed(asked, existing, room, spare, (), enough), more, spare)
    if len(undivided.hosts) <= most:
        return [*boards, undivided]
    whole = placed(asked, existing, room, spare)
    used = [at for at, host in enumerate(whole.needed.hosts) if host]
    idle = [at for at, host in enumerate(whole.needed.hosts) if not host]
    fewest = availability.cluster_count(len(used) + more, spare_hosts=spare, most_hosts=most)
    clusters = max(fewest, -(-len(whole.needed.hosts) // most))
    while True:
        dealt = _dealt(whole, used, idle, clusters, within)
        for _ in range(more):
            least = min(range(len(dealt)), key=lambda at: len(dealt[at].hosts))
            full = len(dealt[least].hosts) >= most and clusters >= len(used)
            dealt[least] = dealt[least] if full else with_more(dealt[least], 1, spare)
        if clusters >= len(used) or all(len(part.hosts) <= most for part in dealt):
            return [*boards, *dealt]
        clusters += 1


def _dealt(
    whole: Layout, used: Sequence[int], idle: Sequence[int], clusters: int, within: Within
) -> list[Layout]:
    """Deal out the hosts of a placement to so many clusters, and idle ones as long as there is room for them."""
    spare, most, enough, _ = within
    dealt, first = [], 0
    sizes = cluster_hosts(len(used), clusters=min(clusters, len(used)))
    for size, beside in zip(sizes, _idle_hosts(idle, sizes), strict=True):
        chunk = used[first : first + size]
        part = _part(whole, sorted((*chunk, *beside)), spare)
        while clusters >= len(used) and beside and len(part.hosts) > most:
            beside = beside[: max(0, len(beside) - len(part.hosts) + most)]
            part = _part(whole, sorted((*chunk, *beside)), spare)
        dealt.append(part if enough is None else for_orders(part, enough, spare))
        first += size
    return dealt


def _idle_hosts(idle: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
    """Deal out existing hosts that the demand does not take to clusters of these sizes, the smallest first."""
    dealt: list[list[int]] = [[] for _ in sizes]
    for host in idle:
        least = min(range(len(sizes)), key=lambda at: sizes[at] + len(dealt[at]))
        dealt[least].append(host)
    return dealt


def _part(whole: Layout, hosts: Sequence[int], spare: int) -> Layout:
    """Return the cluster of some hosts of a placement, with its own spare hosts."""
    old_count = len(whole.existing)
    existing = tuple(whole.existing[at] for at in hosts if at < old_count)
    content = tuple(whole.needed.hosts[at] for at in hosts)
    vms = Counter(group for group, _ in _vms(content))
    wanted = tuple(request._replace(vms=vms[request.group]) for request in whole.asked if vms[request.group])
    needed, mixed = _needed(whole, content, len(existing)), bool(existing or (whole.mixed and not old_count))
    dealt = replace(whole, asked=wanted, existing=existing, needed=needed, mixed=mixed)
    if set(existing) <= {whole.room}:  # an empty host takes over the VMs of any lost one
        empty = sum(not host for host in content)
        return replace(dealt, hosts=content + ((),) * max(0, spare - empty))
    again = placed(wanted, existing, whole.room, spare)
    takes_over = all(whole.room.offers_as_much(host) for host in existing)
    if takes_over and len(content) + spare < len(again.hosts):
        return replace(dealt, hosts=content + ((),) * spare)
    return again


def _needed(whole: Layout, content: tuple[Host, ...], existing: int) -> Placement:
    """The part of a placement, as proven as the whole: where a part could do with fewer hosts, the whole could."""
    placement = whole.needed
    gap = len(placement.hosts) - placement.bound
    loads = [load for host in content for load in host]
    shared = []
    for share in placement.shared:
        gpus = sum(load.gpus for load in loads if load.family and load.family.name == share.family)
        if gpus:
            bound = max(1, gpus - (share.gpus - share.bound))
            shared.append(Shared(share.family, gpus, bound, share.method))
    return Placement(
        content,
        max(existing, len(content) - gap),
        placement.method,
        sum(load.gpus for load in loads),
        tuple(shared),
    )


def _vms(hosts: Sequence[Host]) -> set[tuple[str, int]]:
    return {(slot.group, slot.vm) for host in hosts for load in host for slot in load.slots}


def _numbered(clusters: Sequence[Cluster]) -> Iterator[Cluster]:
    """The clusters with the VMs of each group numbered on from one to the next."""
    numbered = Counter[str]()
    for layout, home in clusters:
        hosts = layout.hosts
        first: dict[str, int] = {}
        for group, vm in _vms(hosts):
            first[group] = min(first.get(group, vm), vm)
        shift = {group: numbered[group] + 1 - vm for group, vm in first.items()}
        if any(shift.values()):
            hosts = tuple(_shifted(host, shift) for host in hosts)
        for request in layout.asked:
            numbered[request.group] += request.vms
        yield Cluster(replace(layout, hosts=hosts), home)


def _shifted(host: Host, shift: Mapping[str, int]) -> Host:
    """A host whose VMs have other numbers."""
    return tuple(
        load._replace(
            slots=tuple(Slot(s.group, s.vm + shift[s.group], s.profile, s.weight) for s in load.slots)
        )
        for load in host
    )


def pools(
    trail: Trail, scenario: Scenario, catalog: Catalog, requests: Requests, divided: Mapping[str, Division]
) -> tuple[Pool, ...]:
    """Return each cluster of hosts, with its placement and the effect of failures on it."""
    all_pools: list[Pool] = []
    for kind, division in divided.items():
        clusters = division.named(kind)
        if len(clusters) == 1:
            all_pools.append(undivided_pool(trail, scenario, requests, *clusters[0]))
            _chance_line(trail, scenario, kind, division)
            continue
        parts = whole_pool_lines(trail, scenario, requests, kind, division.whole)
        all_pools += [
            cluster_of_pool(trail, scenario, requests, *pair, division.whole, parts) for pair in clusters
        ]
        _cluster_lines(trail, scenario, catalog, requests, kind, division)
        _chance_line(trail, scenario, kind, division)
    return tuple(all_pools)


def _chance_line(trail: Trail, scenario: Scenario, kind: str, division: Division) -> None:
    """Add a line for the chance that a rule by risk limits, simulated on the hosts for the demand of a pool."""
    if (kept := division.kept) is not None:
        hosts = sum(cluster.layout.used for cluster in division.clusters)
        trail.about(f"pools.{kind}", name=pool_name(scenario, kind)).record(
            "simulated_chance",
            simulate,
            100 * kept.value,
            when="more" * bool(kept.more) if kept.held else "too high",
            words={
                "half": percent(kept.half_width or 0.0),
                "first": percent(kept.at_first),
                "more": kept.more,
            },
            hosts=derived(f"pools/{kind}/hosts simulated", hosts, "hosts simulated"),
            target=target_fact(scenario),
            policy=scenario.fact("platform.assignment"),
        )


def _cluster_lines(
    trail: Trail, scenario: Scenario, catalog: Catalog, requests: Requests, kind: str, division: Division
) -> None:
    """Add lines for the number of clusters of a pool, beside the alternatives for dividing it, and for their hosts."""
    here, count = trail.about(f"pools.{kind}", name=pool_name(scenario, kind)), len(division.clusters)
    inputs: dict[str, Fact | Line] = {
        "hosts_for_demand": trail[f"pools.{kind}.hosts_for_demand"],
        "hosts_for_failures": trail[f"pools.{kind}-1.hosts_for_failures"],
        "most_hosts": most_hosts_fact(scenario, catalog),
    }
    for split in SPLIT_NAMES:
        way = _divided(scenario, catalog, kind, requests, division.whole, split)
        clusters = counted(len(way.clusters), "cluster")
        inputs[split.replace("-", "_")] = derived(
            f"clusters/{split}", way.hosts, "hosts of a division", clusters=clusters
        )
    here.record("clusters", availability.cluster_count, count, inputs)
    parts: dict[str, Fact | Line] = {
        str(number): trail[f"pools.{kind}-{number}.hosts"] for number in range(1, count + 1)
    }
    here.add_up("hosts", availability.sum_over_pools, parts)
