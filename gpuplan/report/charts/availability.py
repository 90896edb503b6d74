"""GPUs left after host failures, against those that the placed VMs occupy."""

from typing import Any

from gpuplan.plan import Plan
from gpuplan.plan.hosts import whole_pools
from gpuplan.report.charts.look import SCHEMA, Look, Spec, config, field, names_below, told_apart
from gpuplan.report.colours import OKABE_ITO
from gpuplan.wording import said

TITLE = {"text": said("chart.capacity.title"), "subtitle": said("chart.capacity.subtitle")}
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
    return [
        {
            "pool": pool.name if pool.id == pool.kind else said("chart.capacity.tightest", pool=pool.name),
            "lost": level.lost,
            "left": level.gpus_left,
            "occupied": pool.gpus_occupied,
            "state": STATES[level.fits],
        }
        for pool in tightest
        for level in pool.losses
    ]


def capacity_chart(rows: list[dict[str, Any]], look: Look) -> Spec:
    """GPUs left after host failures against what is occupied, for each pool."""
    many = len({r["pool"] for r in rows}) > 1
    colours = dict(zip(STATES.values(), (OKABE_ITO[2], OKABE_ITO[5], look.soft), strict=True))
    states = {r["state"] for r in rows}
    domain = [state for state in STATES.values() if state in states]
    left, lost = field("left"), field("lost", "ordinal")
    shown = {state: colours[state] for state in domain}
    tips = [
        lost | {"title": said("chart.capacity.lost")},
        left | {"title": said("chart.capacity.left")},
        field("occupied", title=said("chart.capacity.occupied")),
        field("state", "nominal", title=said("chart.capacity.state")),
    ]
    bars = {
        "mark": {"type": "bar", "size": 22, "cornerRadiusEnd": 3},
        "encoding": {
            "x": left | {"title": said("chart.capacity.left"), "axis": {"tickMinStep": 1}},
            "y": lost | {"title": said("chart.capacity.lost")},
            "color": told_apart("state", shown, {"orient": "bottom", **names_below(look)}),
            "tooltip": tips,
        },
    }
    words = {
        "mark": {"type": "text", "align": "left", "dx": 5, "color": look.ink},
        "encoding": {"x": left, "y": lost, "text": left},
    }
    rule = {
        "mark": {"type": "rule", "strokeDash": [5, 4], "strokeWidth": 2, "color": look.ink},
        "encoding": {"x": field("occupied", aggregate="max")},
    }
    layered = {
        "width": 260 if many else 560 if look.paper else "container",
        "height": {"step": 30},
        "description": said("chart.capacity.about"),
        "layer": [bars, words, rule],
    }
    column = {"column": field("pool", "nominal", title=None, sort=None)}
    return {
        "$schema": SCHEMA,
        **({"title": TITLE} if look.paper else {}),
        "data": {"values": rows},
        **({"facet": column, "spec": layered} if many else layered),
        "config": config(look),
    }
