"""Clusters of several kinds of hosts: failover hosts count once where one kind takes over the VMs of another."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress, product
from typing import NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.models.placement import Placement, Request
from gpuplan.plan.access import served_by
from gpuplan.plan.boards import lack
from gpuplan.plan.hardware import has_nvswitch
from gpuplan.plan.hosts import Share
from gpuplan.plan.layouts import Layout, fits_without, layouts, most_hosts, placed_mixed
from gpuplan.plan.requests import Requests, room_of, spare_hosts, too_large
from gpuplan.plan.sharing import version_order
from gpuplan.scenario import FIRST, RISKS, Group, Scenario, clusters_of_kinds, slug

CLUSTER_OF_SEVERAL_GPUS = "8.0"
"""First vSphere for which a source says that hosts of a cluster may have different GPUs (``rules/cluster-of-several-gpus``)."""


class Shared(NamedTuple):
    """A cluster of several kinds of hosts, the strongest last."""

    kind: str
    name: str
    shares: tuple[Share, ...]
    laid: Layout


class Apart(NamedTuple):
    """Kinds of hosts that are to share a cluster and have failover hosts of their own, with the groups of each reason."""

    name: str
    kinds: Sequence[str]
    why: Mapping[str, Sequence[str]]


def shared_clusters(
    scenario: Scenario, catalog: Catalog, kinds: Sequence[tuple[Scenario, Requests]]
) -> Iterator[Shared | Apart]:
    """Yield the clusters that kinds of hosts share, with the fewest spare hosts, and the kinds that stay apart.

    ``kinds`` are the views, as hosts are planned for them, and the requests of their VMs.
    """
    for name, members in clusters_of_kinds(scenario).items():
        mine = [kind for kind in kinds if kind[0].hardware.of in members]
        if obstacle := _obstacle(scenario, catalog) or ("alone" if len(mine) == 1 else ""):
            yield Apart(name, members, {obstacle: ()})
            continue
        for mode in dict.fromkeys(served_by(pool) for _, requests in mine for pool in requests.members):
            yield from _of_mode(scenario, catalog, name, mode, _shares(catalog, mine, mode))


def _of_mode(
    scenario: Scenario, catalog: Catalog, name: str, mode: str, shares: Sequence[Share]
) -> Iterator[Shared | Apart]:
    """Yield the cluster of kinds that serve groups in the same way, and the kinds that stay apart."""
    boards, linked, why = _taken_over(catalog, shares)
    if some := [share for share in shares if share.pool in linked]:
        cluster = _with_spares(boards, some, spare_hosts(scenario))
        if cluster and len(cluster[1].hosts) <= most_hosts(scenario, catalog):
            kind = f"shared-{mode}" if name == FIRST else f"{slug(name)}-shared-{mode}"
            yield Shared(kind, name, *cluster)
        else:
            linked, why = set(), {"limit": ()}
    if left := [share.scenario.hardware.of for share in shares if share.pool not in linked]:
        yield Apart(name, left, why or {"alone": ()})


def _obstacle(scenario: Scenario, catalog: Catalog) -> str:
    """Return why no kinds of hosts of a design share a cluster, by key; empty if nothing is in the way."""
    rules, order = scenario.availability, version_order(catalog)
    if rules.sized_for != "best" or scenario.demand.rule in RISKS:
        return "sizing"
    if rules.split != "few-large" or rules.tenants_apart in ("host", "cluster"):
        return "split"
    older = order[scenario.platform.vsphere] < order[CLUSTER_OF_SEVERAL_GPUS]
    return "version" if older else ""


def _shares(catalog: Catalog, kinds: Sequence[tuple[Scenario, Requests]], mode: str) -> list[Share]:
    """Return the hosts of each kind that serve groups in a way, without failover capacity, the strongest kind last."""
    groups = tuple(group for scenario, _ in kinds for group in scenario.groups)
    others = next(filter(None, (scenario.hardware.other_vms for scenario, _ in kinds)), None)
    shares = list[Share]()
    for scenario, requests in kinds:
        every = replace(scenario, groups=groups, hardware=replace(scenario.hardware, other_vms=others))
        room = room_of(every, every.hardware.gpus_per_host)._replace(board=every.hardware.gpu)
        for pool, laid in layouts(scenario, catalog, requests, 0).items():
            if served_by(pool) == mode:
                shares.append(Share(scenario, requests, pool, laid, room))
    return sorted(shares, key=lambda one: (catalog.gpus[one.room.board].value("memory_gib"), one.room))


def _taken_over(
    catalog: Catalog, shares: Sequence[Share]
) -> tuple[dict[str, tuple[str, ...]], set[str], Mapping[str, Sequence[str]]]:
    """Return the boards on which VMs of each group run, pools of which one takes over VMs of another, and why some are not."""
    boards, linked, why = dict[str, tuple[str, ...]](), set[str](), defaultdict[str, list[str]](list)
    if any(share.requests.rooms.get(share.pool) for share in shares):
        return boards, linked, {"owned": ()}
    for mine in shares:
        asked, others = {r.group: r for r in mine.laid.asked}, [o for o in shares if o is not mine]
        for group in filter(lambda group: group.id in asked, mine.scenario.groups):
            reasons = [_why_not(catalog, group, asked[group.id], mine, other) for other in others]
            for reason in filter(None, dict.fromkeys(reasons)):
                why[reason].append(group.name)
            refused = set(compress(map(_board, others), reasons))
            if mine.room.board in refused:  # nothing tells its hosts apart
                return boards, set(), why
            able = [other for other in others if other.room.board not in refused]
            takers = [mine, *able]
            boards[group.id] = tuple(dict.fromkeys(map(_board, takers)))
            linked.update(share.pool for share in takers if able)
    return boards, linked, why


def _board(share: Share) -> str:
    """The board of its hosts."""
    return share.room.board


def _why_not(catalog: Catalog, group: Group, request: Request, mine: Share, other: Share) -> str:
    """Return why hosts of another kind take over no VM of a group, by key; empty if they do."""
    mode = next(plan.mode for plan in mine.requests.groups if plan.id == group.id)
    families = {one.family for one in other.laid.asked}
    same, whole = mine.room.board == other.room.board, mode == "passthrough"
    switched = has_nvswitch(other.scenario, catalog) and not has_nvswitch(mine.scenario, catalog)
    released = catalog.vsphere[mine.scenario.platform.vsphere].value("nvswitch_passthrough")
    sizes = zip(mine.room.sizes, other.room.sizes, strict=True)
    lacking = {
        "bitfusion": mode == "bitfusion",
        "profile": not same and not whole,
        "profiles": families != {None} and request.family not in {None, *families},
        "nvswitch": switched and not (whole and released and request.gpus.bit_count() == 1),
        "counted": any(has and not room for has, room in sizes),
        "size": bool(too_large((request._replace(boards=()),), other.room)),
    }
    reason = next((name for name, lacks in lacking.items() if lacks), "")
    return reason or lack(catalog, group, mine.room.board, other.room.board)


def _with_spares(
    boards: Mapping[str, tuple[str, ...]], shares: Sequence[Share], spare: int
) -> tuple[tuple[Share, ...], Layout] | None:
    """Add the fewest spare hosts with which every VM has a place after any losses, at most as many as each kind alone has.

    VMs run on hosts of their own kind; after a failure, on those of any kind that takes them over. None where no placement is found.
    """
    numbers, gpus = product(range(spare + 1), repeat=len(shares)), [share.room.gpus for share in shares]
    for more in sorted(numbers, key=lambda more: (sum(more), sum(map(int.__mul__, more, gpus)))):
        mine = tuple(
            share._replace(laid=replace(share.laid, hosts=(*share.laid.hosts, *((),) * n), shared=True))
            for share, n in zip(shares, more, strict=True)
        )
        laid = _as_one(boards, mine, more[-1])
        if laid and (sum(more) == spare * len(shares) or fits_without(spare, laid)):
            return mine, laid
    return None


def _as_one(boards: Mapping[str, tuple[str, ...]], shares: Sequence[Share], spare: int) -> Layout | None:
    """Return the hosts of all kinds as one cluster, the last kind as its new hosts; None where no placement is found."""
    asked = tuple(r._replace(boards=boards.get(r.group, ())) for share in shares for r in share.laid.asked)
    hosts = tuple(host for share in shares for host in share.laid.hosts)
    existing, room = tuple(one.room for one in shares[:-1] for _ in one.laid.hosts), shares[-1].room
    try:
        fewest = placed_mixed(asked, room, existing).hosts
    except ValueError:
        return None
    placed = [share.laid.needed for share in shares]
    needed = Placement(
        hosts[: len(hosts) - spare],
        sum(one.bound for one in placed),
        next((one.method for one in placed if one.method == "heuristic"), placed[0].method),
        sum(one.gpus_occupied for one in placed),
        tuple(chain.from_iterable(one.shared for one in placed)),
    )
    laid = Layout(asked, existing, room, needed, hosts, True)
    return replace(
        laid, fewest_new=len(fewest) - len(existing) if laid.other_hosts else sum(map(bool, fewest))
    )
