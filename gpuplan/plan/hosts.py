"""Hosts of each cluster: how many for the demand and for failures, the VMs on each, and the lines that explain them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import NamedTuple

from gpuplan.facts import Brief, Fact
from gpuplan.models import availability, demand, placement, power_on
from gpuplan.models.availability import failover
from gpuplan.models.availability.idle import Idle
from gpuplan.models.availability.survey import Loss
from gpuplan.models.placement import Host, Request, Room, Shared
from gpuplan.plan.access import Unplaced, served_by
from gpuplan.plan.inputs import derived
from gpuplan.plan.layouts import Layout, LossLevel, loss_level
from gpuplan.plan.over_time.rules import policy_facts
from gpuplan.plan.requests import Requests, spare_hosts
from gpuplan.plan.sizing_rule import target_fact
from gpuplan.plan.trail import Given, Inputs, Line, Trail
from gpuplan.scenario import UNASSIGNED, Scenario
from gpuplan.simulation.jobs import simulate
from gpuplan.units import exact
from gpuplan.wording import NAMES, percent, said


class Share(NamedTuple):
    """The hosts of one kind in a cluster of several kinds."""

    scenario: Scenario
    """The view of this kind, as its hosts are planned."""
    requests: Requests
    pool: str
    """The pool of this kind."""
    laid: Layout
    room: Room


POOL_NAMES = NAMES["cluster"]


@dataclass(frozen=True, slots=True, repr=False)
class Pool(Brief):
    """GPU hosts that back each other up: one cluster of vSphere."""

    id: str
    """``kind``, or that with the number of the cluster where there are several."""
    kind: str
    """Pool of its groups."""
    name: str
    access: tuple[str, ...]
    gpu_mode: str
    server: str
    gpu: str
    hosts: int
    hosts_for_demand: int
    hosts_for_failures: int
    existing_hosts: int
    gpus_per_host: int
    gpus: int
    gpus_after_failure: int
    gpus_demanded: float
    gpus_occupied: int
    requests: tuple[Request, ...]
    rooms: tuple[Room, ...]
    """Capacity of each host, in the order of ``placement``; existing hosts first."""
    new_room: Room
    """Capacity of a new host."""
    placement: tuple[Host, ...]
    bound: int
    """Fewest hosts of any design without spare hosts, existing ones included."""
    hosts_at_best: int
    """Hosts that the best arrangement of the demand takes."""
    hosts_without_spare: int
    """Hosts of the best arrangement without failover capacity, existing ones included."""
    method: str
    shared: tuple[Shared, ...]
    idle: tuple[Idle, ...]
    unplaced: tuple[Unplaced, ...]
    failures: tuple[Loss, ...]
    """The loss of each host, hosts with the same VMs once, the worst first."""
    losses: tuple[LossLevel, ...]
    laid: Layout = field(repr=False)
    """VMs on its hosts."""
    whole: Layout = field(repr=False)
    """VMs on the hosts of all clusters of its pool, as if they were one cluster."""
    site: str = ""
    """Site of its hosts, if clusters are by site."""
    tenant: str = ""
    """Tenant whose VMs alone are on its hosts, if tenants are apart."""
    whole_name: str = field(default="", repr=False)
    """Name of its pool."""
    shares: tuple[Share, ...] = field(default=(), repr=False, compare=False)
    """Its hosts by kind, in their order, where it has several kinds; the strongest last."""

    @property
    def mixed(self) -> bool:
        """True if hosts differ, or CPU or memory is counted."""
        return bool(self.existing_hosts or self.new_room.vcpus or self.new_room.memory_gib)

    @property
    def new_needed(self) -> tuple[int, ...]:
        """New hosts that carry the demand when 0, 1, 2, ... existing ones are down, if they have other GPUs than
        new ones; otherwise one number, the hosts that carry it."""
        return self.laid.new_needed

    @property
    def survived(self) -> int:
        """Host failures at once after which every VM has a place again, whichever hosts they are."""
        return sum(1 for _ in takewhile(lambda level: level.fits, self.losses[1:]))


@dataclass(frozen=True, slots=True, repr=False)
class WholePool(Brief):
    """All clusters of a pool together, as a request may be served by any of them."""

    kind: str
    clusters: tuple[Pool, ...]

    @property
    def name(self) -> str:
        """Name of the pool."""
        return self.clusters[0].whole_name

    @property
    def hosts(self) -> int:
        """Hosts in all clusters."""
        return sum(pool.hosts for pool in self.clusters)

    @property
    def hosts_for_demand(self) -> int:
        """Hosts for the demand."""
        return sum(pool.hosts_for_demand for pool in self.clusters)

    @property
    def existing_hosts(self) -> int:
        """Hosts that are there already."""
        return sum(pool.existing_hosts for pool in self.clusters)

    @property
    def gpus(self) -> int:
        """GPUs in all clusters."""
        return sum(pool.gpus for pool in self.clusters)

    @property
    def gpus_after_failure(self) -> int:
        """GPUs left when hosts of one cluster are lost, the one that loses most."""
        return self.gpus - max(pool.gpus - pool.gpus_after_failure for pool in self.clusters)

    @property
    def layout(self) -> Layout:
        """VMs on the hosts, as if they were one cluster."""
        return self.clusters[0].whole

    @property
    def rooms(self) -> tuple[Room, ...]:
        """Capacity of each host, existing ones first."""
        existing = [room for pool in self.clusters for room in pool.rooms[: pool.existing_hosts]]
        return (*existing, *(room for pool in self.clusters for room in pool.rooms[pool.existing_hosts :]))

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups that are on its hosts."""
        return tuple(dict.fromkeys(request.group for pool in self.clusters for request in pool.requests))


def whole_pools(pools: Sequence[Pool]) -> dict[str, WholePool]:
    """Group the clusters by pool."""
    kinds = dict.fromkeys(pool.kind for pool in pools)
    return {kind: WholePool(kind, tuple(pool for pool in pools if pool.kind == kind)) for kind in kinds}


def pool_names(pools: Sequence[Pool]) -> dict[str, str]:
    """Pool -> its name, however many clusters it has."""
    return {pool.kind: pool.whole_name for pool in pools}


def pool_name(scenario: Scenario, kind: str) -> str:
    """Name of a pool, with the name of its hosts where these are of a further kind."""
    name, hosts = POOL_NAMES[served_by(kind)], scenario.hardware.of
    return said("pool.of hosts", pool=name, hosts=hosts) if hosts else name


class Named(NamedTuple):
    """A cluster of hosts, with its name."""

    kind: str
    id: str
    name: str
    site: str = ""
    tenant: str = ""


def undivided_pool(
    trail: Trail, scenario: Scenario, requests: Requests, cluster: Named, laid: Layout
) -> Pool:
    """The hosts for the groups of one pool: the fewest on which everything fits, plus failover capacity."""
    whole_pool_lines(trail, scenario, requests, cluster.kind, laid)
    here = trail.about(f"pools.{cluster.id}", name=cluster.name)
    _host_lines(here, scenario, here["hosts_for_demand"], laid)
    return _pool(here, scenario, requests, cluster, laid, laid)


SUMS = ("gpus_demanded", "gpus_occupied", "hosts_for_demand", "hosts_for_failures", "hosts", "gpus")


def shared_pool(
    trail: Trail, requests: Requests, kind: str, name: str, laid: Layout, shares: tuple[Share, ...]
) -> Pool:
    """The hosts of several kinds in one cluster, by the lines of the hosts of each kind."""
    name, scenario = said("pool.shared", pool=POOL_NAMES[served_by(kind)], cluster=name), shares[-1].scenario
    here = trail.about(f"pools.{kind}", name=name)
    for each in SUMS:
        parts = {share.pool: trail[f"pools.{share.pool}.{each}"] for share in shares}
        here.add_up(each, availability.sum_over_pools, parts)
    after_loss_line(here, scenario, here["gpus"], here["hosts"], laid.rooms)
    pool = _pool(here, scenario, requests, Named(kind, kind, name), laid, laid)
    return replace(pool, whole_name=name, existing_hosts=0, shares=shares)


def whole_pool_lines(
    trail: Trail, scenario: Scenario, requests: Requests, kind: str, laid: Layout
) -> dict[str, Line]:
    """Add the hosts for the demand of a pool, as if it were one cluster; return the GPUs of each of its groups."""
    here = trail.about(f"pools.{kind}", name=pool_name(scenario, kind))
    parts = _parts(trail, scenario, kind, requests)
    demanded = here.add_up("gpus_demanded", demand.total_demand_gpus, parts)
    _hosts_by_gpus(here, laid, demanded)
    _demand_lines(here, scenario, demanded, laid)
    return parts


def cluster_of_pool(
    trail: Trail,
    scenario: Scenario,
    requests: Requests,
    cluster: Named,
    laid: Layout,
    whole: Layout,
    parts: Mapping[str, Line],
) -> Pool:
    """One cluster of a pool that is divided; ``parts`` are the GPUs of each group in all of its clusters."""
    here = trail.about(f"pools.{cluster.id}", name=cluster.name)
    names = {g.id: g.name for g in requests.groups}
    lines = {}
    for request in laid.asked:
        if request.group not in parts:  # VMs without a GPU
            continue
        line, every = parts[request.group], requests.by_group[request.group].vms
        if request.vms < every:
            gpus = float(exact(line.value) * request.vms / every)
            words = {"group": names.get(request.group, "no group"), "vms": request.vms, "every": every}
            line = here.record(
                f"part.{request.group}", demand.group_demand_gpus, gpus, words=words, gpus=line
            )
        lines[request.group] = line
    demanded = here.add_up("gpus_demanded", demand.total_demand_gpus, lines)
    _demand_lines(here, scenario, demanded, laid)
    _host_lines(here, scenario, here["hosts_for_demand"], laid)
    return _pool(here, scenario, requests, cluster, laid, whole)


def _pool(
    here: Trail, scenario: Scenario, requests: Requests, cluster: Named, laid: Layout, whole: Layout
) -> Pool:
    groups, ids = requests.groups, {request.group for request in laid.asked}
    needed, layout, rooms = laid.needed, laid.hosts, laid.rooms
    boards = {room.board for room in rooms}
    for loss in laid.failures:  # a line for each kind of host that can be lost
        number, outcomes = loss.hosts[0], ("restarted", "moved", "unplaced")
        inputs = {name: counted_vms(f"plan/VMs_{name}", getattr(loss, name)) for name in outcomes}
        words = {"number": number}
        here.record(f"failure.{number}", failover.after_failure, loss.restarted, inputs, words=words)
    return Pool(
        id=cluster.id,
        kind=cluster.kind,
        name=cluster.name,
        access=tuple(dict.fromkeys(g.mode for g in groups if g.id in ids)),
        gpu_mode="vgpu" if served_by(cluster.kind) == "vgpu" else "passthrough",
        server=scenario.hardware.server or "",
        gpu=boards.pop() if len(boards) == 1 and "" not in boards else scenario.hardware.gpu,
        hosts=len(layout),
        hosts_for_demand=laid.used,
        hosts_for_failures=len(layout) - laid.used,
        existing_hosts=len(laid.existing),
        gpus_per_host=scenario.hardware.gpus_per_host,
        gpus=here["gpus"].value,
        gpus_after_failure=here["gpus_after_failure"].value,
        gpus_demanded=here["gpus_demanded"].value,
        gpus_occupied=needed.gpus_occupied,
        requests=laid.asked,
        rooms=rooms,
        new_room=laid.room,
        placement=layout,
        bound=needed.bound,
        hosts_at_best=laid.fewest,
        hosts_without_spare=len(needed.hosts),
        method=needed.method,
        shared=needed.shared,
        idle=laid.idle,
        unplaced=tuple(u for g in groups if g.id in ids for u in g.unplaced),
        failures=laid.failures,
        losses=tuple(loss_level(lost, laid) for lost in range(max(2, spare_hosts(scenario)) + 1)),
        laid=laid,
        whole=whole,
        site=cluster.site,
        tenant=cluster.tenant,
        whole_name=pool_name(scenario, cluster.kind),
    )


def _parts(trail: Trail, scenario: Scenario, kind: str, asked: Requests) -> dict[str, Line]:
    members = asked.members[kind]
    groups = [group for group in asked.groups if group.id in members]
    parts = {group.id: trail[f"groups.{group.id}.demand_gpus"] for group in groups}
    stated = scenario.fact("demand.stated_gpus")
    if UNASSIGNED in members:
        unassigned = float(asked.by_group[UNASSIGNED].vms)
        behind: Inputs = {"groups_gpus": trail["demand.groups_gpus"], "stated_gpus": stated}
        parts[UNASSIGNED] = trail.record(
            "demand.unassigned_gpus", demand.planned_demand_gpus, unassigned, behind
        )
    for plan in (group for group in groups if group.vms_placed < group.vms):
        admitted = demand.group_demand_gpus(plan.vms_placed, gpus_each=plan.gpus_each)
        parts[plan.id] = trail.about(f"groups.{plan.id}", name=plan.name).record(
            "admitted_gpus", demand.admitted_vms, admitted, gpus=parts[plan.id], stated=stated
        )
    return parts


def _hosts_by_gpus(here: Trail, laid: Layout, demanded: Line) -> None:
    """The hosts if only GPUs counted, where CPU or memory counts too."""
    if laid.mixed and not laid.existing:
        alone = laid.hosts_by_gpus
        when, words = "heuristic" * (alone.method == "heuristic"), {"least": alone.bound}
        count = len(alone.hosts)
        here.record("hosts_by_gpus", placement.place, count, when=when, words=words, gpus_demanded=demanded)


def _demand_lines(here: Trail, scenario: Scenario, demanded: Line, laid: Layout) -> None:
    per_host, needed = scenario.fact("hardware.gpus_per_host"), laid.needed
    place = placement.place_mixed if laid.mixed else placement.place
    for share in needed.shared:
        when = "" if share.gpus == share.bound else "heuristic"
        words: dict[str, object] = {"family": share.family, "least": share.bound}
        here.record(
            f"shared.{share.family}", place, share.gpus, when=when, words=words, gpus_demanded=demanded
        )
    occupied = here.record("gpus_occupied", place, needed.gpus_occupied, gpus_demanded=demanded)
    counted = here.compute("count_hosts", placement.count_hosts, gpus=demanded, gpus_per_host=per_host)
    when, proof = _proof(needed, laid.mixed, len(laid.existing))
    key = "hosts_for_demand"
    inputs: Inputs = {"gpus_occupied": occupied, "gpus_per_host": per_host, "count_hosts": counted}
    best = "hosts_at_best" if laid.more else key
    fewest = here.record(best, place, laid.fewest, inputs, when=when, words=proof)
    words = {"more": laid.more}
    if laid.more and laid.kept and laid.kept.more:
        result = laid.kept
        when = "target" if result.held else "target, not reached"
        words |= {"first": percent(result.at_first), "chance": percent(result.value)}
        inputs = {"hosts_at_best": fewest, "target": target_fact(scenario)}
        inputs["policy"] = scenario.fact("platform.assignment")
        here.record(key, simulate, laid.used, inputs, when=when, words=words)
    elif laid.more:
        when = "orders" if laid.reached else "orders, not reached"
        inputs = {"hosts_at_best": fewest, "share": scenario.fact("availability.orders_share")}
        inputs |= policy_facts(scenario)
        here.record(key, power_on.power_on_orders, laid.used, inputs, when=when, words=words)


def _host_lines(here: Trail, scenario: Scenario, for_demand: Line, laid: Layout) -> None:
    per_host = scenario.fact("hardware.gpus_per_host")
    rooms, existing = laid.rooms, len(laid.existing)
    tolerated = scenario.given("availability", "host_failures", "maintenance_failure_accepted")
    when = "accepted" if tolerated["maintenance_failure_accepted"].value else "not accepted"
    key = "hosts_for_failures"
    if laid.mixed or laid.shared:
        behind: Inputs = {"host_failures": tolerated["host_failures"], "hosts_for_demand": for_demand}
        count, when = len(rooms) - for_demand.value, f"{when}, {'shared' if laid.shared else 'placed again'}"
        spare = here.record(key, placement.place_mixed, count, behind, when=when)
    else:
        spare = here.compute(key, availability.spare_hosts, tolerated, when=when)
    hosts = here.compute(
        "hosts", availability.total_hosts, hosts_for_demand=for_demand, hosts_for_failures=spare
    )
    inputs: Inputs = {"hosts": hosts, "gpus_per_host": per_host}
    if existing:
        fact = scenario.fact("hardware.existing")
        inputs["existing_hosts"] = replace(fact, value=existing, unit="host")
        inputs["existing_gpus"] = replace(fact, value=sum(room.gpus for room in rooms[:existing]), unit="GPU")
    gpus = here.compute("gpus", availability.installed_gpus, inputs, when="existing" * bool(existing))
    after_loss_line(here, scenario, gpus, hosts, rooms)


def _proof(placed: placement.Placement, mixed: bool, existing: int) -> tuple[str, dict[str, int]]:
    """Say how fewer hosts are proven not to suffice, with the numbers that go into the words."""
    new, least = len(placed.hosts) - existing, max(0, placed.bound - existing)
    how: str = placed.method
    if existing:
        how = "existing" if new == least else "existing, heuristic"
    elif mixed and how != "heuristic":
        how = "mixed"
    return how, {"existing": existing, "new": new, "least": least, "bound": placed.bound}


def after_loss_line(
    trail: Trail, scenario: Scenario, gpus: Line, hosts: Line, rooms: Sequence[placement.Room]
) -> Line:
    """GPUs left when the number of hosts to tolerate, and at least one, is lost; the largest where hosts differ."""
    key, failures = "gpus_after_failure", scenario.fact("availability.host_failures")
    count = min(max(1, int(failures.value)), len(rooms))
    lost = replace(failures, value=count)
    if any(room.gpus != scenario.hardware.gpus_per_host for room in rooms):
        function = availability.gpus_without_largest
        value = function([room.gpus for room in rooms], hosts_lost=count)
        return trail.record(key, function, value, when="largest", gpus=gpus, hosts=hosts, hosts_lost=lost)
    per_host = scenario.fact("hardware.gpus_per_host")
    inputs: Given = {"gpus": gpus, "gpus_per_host": per_host, "hosts_lost": lost, "hosts": hosts}
    return trail.compute(key, availability.gpus_after_failure, inputs)


def counted_vms(key: str, value: int) -> Fact:
    """A count of VMs that the placement itself gives."""
    return derived(key, value, "counted VMs")
