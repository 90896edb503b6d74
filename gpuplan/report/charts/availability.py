"""GPUs left after host failures, against those that the placed VMs occupy."""

from typing import Any

from gpuplan.plan import Plan
from gpuplan.plan.hosts import whole_pools
from gpuplan.report.charts.look import SCHEMA, Look, Spec, config, filled
from gpuplan.report.colours import OKABE_ITO
from gpuplan.wording import said

STATES = {
    True: said("chart.capacity.all fit"),
    False: said("chart.capacity.not all fit"),
    None: said("chart.capacity.not known"),
}
"""Texts that say whether every VM on the hosts can restart after a loss."""


def capacity_rows(plan: Plan) -> list[dict[str, Any]]:
    """GPUs left after no, one, two and more losses, beside what the placed VMs occupy; of the clusters of a pool in the tightest."""
    tightest = [
        min(pool.clusters, key=lambda each: each.losses[1].gpus_left - each.gpus_occupied)
        for pool in whole_pools(plan.pools).values()
    ]
    rows = []
    for pool in tightest:
        name = pool.name if pool.id == pool.kind else said("chart.capacity.tightest", pool=pool.name)
        for level in pool.losses:
            row = {"pool": name, "lost": level.lost, "left": level.gpus_left, "occupied": pool.gpus_occupied}
            rows.append(row | {"state": STATES[level.fits]})
    return rows


def capacity_chart(rows: list[dict[str, Any]], look: Look) -> Spec:
    """GPUs left after host failures against what is occupied, for each pool."""
    many = len({r["pool"] for r in rows}) > 1
    colours = dict(zip(STATES.values(), (OKABE_ITO[2], OKABE_ITO[5], look.soft), strict=True))
    states = {r["state"] for r in rows}
    shown = {state: ink for state, ink in colours.items() if state in states}
    wide = 260 if many else 560 if look.paper else "container"
    spec = filled("capacity", look, {"states": list(shown), "inks": list(shown.values()), "wide": wide})
    title = {"title": spec["title"]} if look.paper else {}
    drawn = {"facet": spec["pools"], "spec": spec["layered"]} if many else spec["layered"]
    return {"$schema": SCHEMA, **title, "data": {"values": rows}, **drawn, "config": config(look)}
