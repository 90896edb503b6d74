"""The frontier of the explored designs, and the tornado."""

from __future__ import annotations

from gpuplan.report.charts.look import MONEY, Look, Spec, chart, field, labels, layer, told_apart, tooltip
from gpuplan.report.colours import COLOURS, OKABE_ITO

LOOKS = {
    "the winner": ("diamond", OKABE_ITO[5]),
    "as it was asked": ("square", OKABE_ITO[0]),
    "on the frontier": ("triangle-up", OKABE_ITO[2]),
    "beaten by another": ("circle", COLOURS[0]),
}
"""Point and colour of each kind of design."""
ENDS = {"at its low end": OKABE_ITO[1], "at its high end": OKABE_ITO[3]}
"""Colour of the two ends of a bar."""
HOURS = [0, 0.01, 0.1, 1, 10, 100, 1000]


def frontier_chart(data: Spec, look: Look) -> Spec:
    """Net present cost against capacity shortfall; the larger a point, the more likely requests wait."""
    rows = data["rows"]
    names = [kind for kind in data["kinds"] if any(row["kind"] == kind for row in rows)]
    most_h, most_waiting = (max(row[name] for row in rows) for name in ("short_h", "waiting"))
    points = {name: LOOKS[name][0] for name in names}
    inks = {name: LOOKS[name][1] for name in names}
    x = field(
        "cost",
        title=f"Net present cost, {data['currency']}",
        scale={"zero": False, "nice": True, "padding": 16},
        axis={"labelExpr": MONEY, "tickCount": 6},
    )
    y = field(
        "short_h",
        title="Capacity shortfall, h a year",
        scale={"type": "symlog", "constant": 0.01, "nice": False, "domain": [0, 1.3 * most_h or 1]},
        axis={"values": HOURS, "labelExpr": "format(datum.value, '~g')"},
    )
    size = field(
        "waiting",
        title="Probability of waiting, %",
        scale={"range": [80, 420], "domain": [0, max(1, most_waiting)]},
        legend={
            "orient": "right",
            "tickCount": 3,
            "symbolFillColor": COLOURS[0],
            "symbolStrokeWidth": 0,
            "format": ".3~g",
        },
    )
    strokes = {
        "condition": {"test": "datum.kind != 'beaten by another'", "value": look.ink},
        "value": "transparent",
    }
    designs = layer(
        rows,
        "point",
        {"filled": True, "opacity": 0.85, "strokeWidth": 1.5},
        x=x,
        y=y,
        color=told_apart("kind", inks, {"orient": "top", "symbolSize": 110}),
        shape=told_apart("kind", points),
        size=size,
        stroke=strokes,
        tooltip=tooltip(
            label="Design", money="Net present", hours="Capacity shortfall", wait="Probability of waiting"
        ),
    )
    beside = {"expr": "datum.kind == 'the winner' ? -9 : 15"}  # two designs may lie side by side
    how = {"align": "left", "dx": 12, "dy": beside, "fontWeight": 600, "color": look.ink}
    named = [row for row in rows if row["kind"] in ("the winner", "as it was asked")]
    words = labels(named, "kind", how, x=field("cost"), y=field("short_h"))
    about = "Net present cost against capacity shortfall of every priced design; the frontier stands in the table below"
    return chart([designs, words], look, about, 270)


def tornado_chart(data: Spec, look: Look) -> Spec:
    """A bar for each input, from the answer at its low end to that at its high end, around the answer now."""
    y = field(
        "input",
        "nominal",
        sort=data["inputs"],
        title=None,
        axis={"labelLimit": 300, "ticks": False, "domain": False, "labelColor": look.ink},
    )
    words = {"labelExpr": MONEY} if data["view"] == "cost" else {"format": "d", "tickMinStep": 1}
    wide: Spec = {"scale": {"zero": False, "padding": 70}, "axis": {"tickCount": 6, **words}}
    x = field("value", title=data["title"], **wide)
    end = told_apart("end", ENDS, {"orient": "top"})
    said = tooltip(input="Input", at="Is", words=data["title"])
    middle = {"field": "middle"}
    bars = layer(data["rows"], "bar", {"height": 14}, x=x, x2=middle, y=y, color=end, tooltip=said)
    ends = []
    for right, align, dx in ((True, "left", 5), (False, "right", -5)):
        rows = [row for row in data["rows"] if row["right"] is right]
        how = {"align": align, "dx": dx, "fontSize": look.small, "color": look.soft}
        ends.append(labels(rows, "at", how, x=x, y=y))
    now = layer([{"value": data["middle"]}], "rule", {"color": look.ink, "strokeWidth": 1.5}, x=x)
    about = "How far each input moves the answer within its own range; the same stands in the table below"
    return chart([bars, *ends, now], look, about, {"step": 24})
