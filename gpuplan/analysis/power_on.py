"""Power-on tried thoroughly: thousands of orders on the hosts of each cluster, as set and with other settings."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gpuplan.analysis.variants import dearer
from gpuplan.models.power_on import Orders, Play, power_on_orders
from gpuplan.plan import Plan, of_design
from gpuplan.plan.hosts import Pool
from gpuplan.plan.over_time.power_on import PowerOn
from gpuplan.plan.over_time.rules import Enough, Reading, alike, least, reached
from gpuplan.plan.over_time.tried import Tried
from gpuplan.wording import said

ORDERS = 10_000
SEARCHED = 500
"""Orders used to search for a number of hosts; the result is tried with all."""
Progress = Callable[[float, str], object]
"""Callback that receives the share of the work done, and the cluster in progress."""


class PowerOnStudy(NamedTuple):
    """Power-on in one cluster, tried thoroughly."""

    made: PowerOn
    """The cluster with all these orders, as it is set and with other settings."""
    hosts: Mapping[str, int | None]
    """Setting -> fewest hosts for the demand on which the share of orders starts every VM in every reading, or None."""


@of_design
def power_on(
    plan: Plan, *, orders: int = ORDERS, progress: Progress | None = None
) -> tuple[PowerOnStudy, ...]:
    """Start the VMs of each cluster one after another, as vSphere does, in thousands of orders.

    Parameters:
        orders: Random orders that are tried under each reading of vSphere's rules. [-]
        progress (callable, optional): Told the share of the work that is done, and of which cluster it is. [-]
    """
    clusters = [_with_orders(trial, orders) for trial in plan.power_on.values()]
    parts = sum(len(trial.settings) + 1 for trial in clusters)
    studies, done = list[PowerOnStudy](), 0
    for trial in clusters:
        hosts: dict[str, int | None] = {}
        for key in ("now", *trial.settings):

            def tell(share: float, name: str = trial.pool.name, done: int = done) -> None:
                if progress:
                    progress((done + share) / parts, name)

            _try(trial, key, tell)
            hosts[key] = fewest_hosts(trial, key)
            done += 1
        best = trial.best.key
        studies.append(PowerOnStudy(trial, {**hosts, best: hosts.get(best) or fewest_hosts(trial, best)}))
    return tuple(studies)


def thorough(made: PowerOn, orders: int) -> PowerOn:
    """Return a cluster as it is set, with this number of orders."""
    made = _with_orders(made, orders)
    _try(made, "now", lambda share: None)
    return made


def _with_orders(made: PowerOn, orders: int) -> PowerOn:
    return replace(made, orders=1 if alike(made.pool.requests) else orders)


def _try(made: PowerOn, key: str, tell: Callable[[float], None]) -> None:
    requests, readings = made.set_up(key)
    runs = []
    for at, reading in enumerate(readings):

        def tick(done: int, at: int = at) -> None:
            tell((at + done / made.orders) / (len(readings) + 1))

        rules = reading.rules
        runs.append(power_on_orders(requests, rooms=made.rooms, rules=rules, orders=made.orders, tick=tick))
    made.keep(Tried(key, tuple(runs)))


def fewest_hosts(made: PowerOn, key: str) -> int | None:
    """Return the fewest hosts for the demand on which enough orders start every VM; None if none does."""
    requests, readings = made.set_up(key)
    named, planned, new = made.order(key), made.demand_rooms, made.pool.new_room
    wanted = Enough(readings, made.scenario.availability.orders_share, made.most_hosts)

    def enough(hosts: int, most: int) -> bool | None:
        rooms = (*planned[:hosts], *[new] * (hosts - len(planned)))
        return reached(requests, rooms, wanted, (named,) if named else most)

    few, hosts = min(made.orders, SEARCHED), len(planned)
    if enough(hosts, few) is False:
        hosts = least(lambda hosts: enough(hosts, few) is not False, hosts, max(hosts, made.most_hosts))
    else:
        while hosts > 1 and enough(hosts - 1, few) is not False:
            hosts -= 1
    return next((count for count in range(hosts, made.most_hosts + 1) if enough(count, made.orders)), None)


class Watched(NamedTuple):
    """One watched power-on order of a cluster."""

    pool: Pool
    reading: Reading
    play: Play


def watched(made: PowerOn, name: str) -> Watched:
    """Return an order by its name (see ``named_order``), to be watched VM by VM."""
    reading, kinds = named_order(made, name)
    return Watched(made.pool, reading, Play(made.pool.requests, made.rooms, reading.rules, kinds))


def named_order(made: PowerOn, name: str) -> tuple[Reading, tuple[int, ...]]:
    """Return the reading under which most VMs do not start, and the kinds of the VMs in an order by its name: a named
    one, ``groups``, ``worst`` or a random one's number; a ValueError if none is bad, or so named.
    """
    if name == "worst":
        if made.worst is None:
            raise ValueError(said("power on.no worst order", orders=made.now.orders))
        return made.worst
    pairs = zip(made.now.found, made.readings, strict=True)
    reading = min(pairs, key=lambda each: each[0].started)[1]
    requests = made.pool.requests
    kinds = tuple(kind for kind, request in enumerate(requests) for _ in range(request.vms))
    if name in made.named:
        return reading, made.named[name]
    if name == "groups":
        return reading, kinds
    return reading, tuple(np.random.RandomState(int(name)).permutation(kinds).tolist())


def studies_plain(plan: Plan, found: tuple[PowerOnStudy, ...]) -> dict[str, Any]:
    """Return results as plain data for ``studies_of``, with the extra cost of enough hosts for the orders."""
    clusters = []
    for study in found:
        made, hosts = study.made, dict(study.hosts)
        tried = {key: list(map(list, made.tried(key).found)) for key in study.hosts}
        clusters.append({"pool": made.pool.id, "orders": made.orders, "hosts": hosts, "found": tried})
    return {"clusters": clusters, "sized": sized_for_orders(plan)}


def sized_for_orders(plan: Plan) -> dict[str, Any] | None:
    """Return hosts and extra net present cost if sized for orders; None if it cannot be planned, or is so already."""
    if plan.scenario.availability.sized_for == "orders":
        return None
    sized = plan.with_scenario(plan.scenario.with_value("availability.sized_for", "orders"))
    try:
        return {"hosts": sized.totals.hosts, "dearer": dearer(sized, plan)}
    except ValueError:
        return None


def studies_of(plan: Plan, plain: Mapping[str, Any]) -> tuple[PowerOnStudy, ...]:
    """Return studies of a plan from the results of another process."""
    studies = []
    for cluster in plain["clusters"]:
        power_on = replace(plan.power_on[cluster["pool"]], orders=cluster["orders"])
        for key, results in cluster["found"].items():
            power_on.keep(Tried(key, tuple(_orders(*values) for values in results)))
        studies.append(PowerOnStudy(power_on, cluster["hosts"]))
    return tuple(studies)


def _orders(orders: int, started: int, missing: Any, by_kind: Any, stranded: float, worst: Any) -> Orders:
    return Orders(orders, started, tuple(map(tuple, missing)), tuple(by_kind), stranded, tuple(worst))
