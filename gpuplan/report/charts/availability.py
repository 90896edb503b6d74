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
    domain = [state for state in STATES.values() if state in states]
    left, lost = field("left"), field("lost", "ordinal")
    shown = {state: colours[state] for state in domain}
    tips = [lost | {"title": said("chart.capacity.lost")}, left | {"title": said("chart.capacity.left")}]
    tips += [field("occupied", title=said("chart.capacity.occupied"))]
    tips += [field("state", "nominal", title=said("chart.capacity.state"))]
    x = left | {"title": said("chart.capacity.left"), "axis": {"tickMinStep": 1}}
    ink = told_apart("state", shown, {"orient": "bottom", **names_below(look)})
    encoded = {"x": x, "y": lost | {"title": said("chart.capacity.lost")}, "color": ink, "tooltip": tips}
    bars = {"mark": {"type": "bar", "size": 22, "cornerRadiusEnd": 3}, "encoding": encoded}
    beside = {"type": "text", "align": "left", "dx": 5, "color": look.ink}
    words = {"mark": beside, "encoding": {"x": left, "y": lost, "text": left}}
    dashed = {"type": "rule", "strokeDash": [5, 4], "strokeWidth": 2, "color": look.ink}
    rule = {"mark": dashed, "encoding": {"x": field("occupied", aggregate="max")}}
    wide = 260 if many else 560 if look.paper else "container"
    about = said("chart.capacity.about")
    layered = {"width": wide, "height": {"step": 30}, "description": about, "layer": [bars, words, rule]}
    column = {"column": field("pool", "nominal", title=None, sort=None)}
    title = {"title": TITLE} if look.paper else {}
    drawn = {"facet": column, "spec": layered} if many else layered
    return {"$schema": SCHEMA, **title, "data": {"values": rows}, **drawn, "config": config(look)}
