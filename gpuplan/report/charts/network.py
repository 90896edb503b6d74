"""The scaling chart: the network of the design against others."""

import math
from collections.abc import Sequence

from gpuplan.locales import per_cent
from gpuplan.plan.training.scaling import Curve
from gpuplan.plan.training.speed import RDMA
from gpuplan.report.charts.look import Look, Spec, drawn, named_colours
from gpuplan.report.colours import OKABE_ITO
from gpuplan.wording import TRANSPORT_NAMES, kept_range, kept_share, number, said, three_digits

CHOSEN = OKABE_ITO[0]
LINKS = {"10": OKABE_ITO[5], "25": OKABE_ITO[3], "100": OKABE_ITO[2], "400": OKABE_ITO[4]}
WAYS: dict[bool, tuple[str, list[int]]] = {False: ("triangle-up", [5, 3]), True: ("square", [1, 0])}
"""Point and dashes of an alternative over TCP, and over RDMA."""
THIN, THICK = 1.5, 4.0


def curve_name(curve: Curve) -> str:
    """A link and its transport in a few words."""
    how = TRANSPORT_NAMES[curve.transport] if curve.chosen or curve.transport not in RDMA else "RDMA"
    several = f"{curve.links} \u00d7 " if curve.links > 1 else ""
    name = f"{several}{number(curve.link_gbit_s)} Gbit/s {how}"
    return said("chart.scaling.this design", network=name) if curve.chosen else name


def curve_look(curve: Curve) -> Spec:
    """Return the look of a network's curve; with several links a host it has another point."""
    if curve.chosen:
        return {"ink": CHOSEN, "point": "circle", "dash": [1, 0], "width": THICK}
    point, dash = WAYS[curve.transport in RDMA]
    point = "diamond" if curve.links > 1 else point
    return {"ink": LINKS[number(curve.link_gbit_s)], "point": point, "dash": dash, "width": THIN}


def scaling_rows(curves: Sequence[Curve], view: str, unit: str) -> Spec:
    """Efficiency or throughput of each network at each number of hosts."""
    rows: list[Spec] = []
    for curve, step in ((each, step) for each in curves for step in each.steps):
        row: Spec = {"name": curve_name(curve), "chosen": curve.chosen, "hosts": step.hosts}
        row |= {"low": step.low, "high": step.high}
        row["value"] = step.efficiency if view == "efficiency" else step.per_s
        row["words"] = f"{kept_share(step.efficiency)} ({kept_range(step.low, step.high)})"
        row["per_s"] = said("chart.scaling.a second", unit=f"{three_digits(step.per_s)} {unit}")
        rows.append(row | curve_look(curve))
    return {"view": view, "unit": unit, "rows": rows}


def _efficiency(lowest: float) -> Spec:
    """The axis of efficiency: it says so where it does not begin at zero."""
    begin = max(0, math.floor(10 * lowest) / 10)
    sign = per_cent("1 %")[1:]
    title = said("chart.scaling.efficiency from", share=begin) if begin else said("chart.scaling.efficiency")
    axis = {"labelExpr": f"format(100 * datum.value, 'd') + '{sign}'", "tickCount": 5}
    return {"title": title, "scale": {"domain": [begin, 1], "zero": False}, "axis": axis}


def scaling_chart(data: Spec, look: Look) -> Spec:
    """Draw efficiency or throughput over hosts by the looks in the rows: the design thick, others thin."""
    efficiency, rows = data["view"] == "efficiency", data["rows"]
    y = _efficiency(min((row["low"] for row in rows), default=0))
    if not efficiency:
        title = said("chart.scaling.a second", unit=data["unit"].capitalize())
        y = {"title": title, "scale": {"type": "log"}, "axis": {"format": "~s", "tickCount": 5}}
    named = list({row["name"]: row["ink"] for row in rows}.items())
    key = {"orient": "bottom", "columns": 2, "labelLimit": 290, "symbolType": "stroke"}
    as_is = {"field": "ink", "type": "nominal", "scale": None}
    return drawn(
        "scaling",
        look,
        data,
        efficiency=efficiency,
        y=y,
        colours=named_colours("name", named, look, **key) if look.paper else as_is,
        thick=[row for row in rows if row["chosen"]],
        thin=[row for row in rows if not row["chosen"]],
        chosen=CHOSEN,
        about=said("chart.scaling.about efficiency" if efficiency else "chart.scaling.about throughput"),
    )
