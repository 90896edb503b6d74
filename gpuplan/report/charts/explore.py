"""The frontier of the explored designs, and the tornado."""

from collections.abc import Sequence
from itertools import product

from gpuplan.report.charts.look import MONEY, Look, Spec, chart, field, labels, layer, told_apart, tooltip
from gpuplan.report.colours import COLOURS, OKABE_ITO
from gpuplan.report.tables.sensitivity import input_words
from gpuplan.wording import NAMES, amount, hours, money, percent, said

END_NAMES = NAMES["end of a bar"]
ENDS = {END_NAMES["low"]: OKABE_ITO[1], END_NAMES["high"]: OKABE_ITO[3]}
HOURS = [0, 0.01, 0.1, 1, 10, 100, 1000]
LINE = 40
"""Characters of an input's name on one line."""
_BREAK = f"lastindexof(slice(datum.label, 0, {LINE}), ' ')"
TWO_LINES = f"length(datum.label) > {LINE} ? [slice(datum.label, 0, {_BREAK}), slice(datum.label, {_BREAK} + 1)] : datum.label"
SHOWN = 14
"""Most bars of the tornado that are drawn; the table has all."""
DRAWN = 300
"""Designs around the frontier that are drawn, the cheapest first."""
KINDS = NAMES["mark of a design"]
WINNER, ASKED, OTHER = (KINDS[kind] for kind in ("winner", "asked", "other"))
LOOKS = {
    WINNER: ("diamond", OKABE_ITO[5]),
    ASKED: ("square", OKABE_ITO[0]),
    KINDS["frontier"]: ("triangle-up", OKABE_ITO[2]),
    OTHER: ("circle", COLOURS[0]),
}


def priced(found: Spec) -> list[Spec]:
    """Options of an exploration, as plain data, that have every number of the chart."""
    return [o for o in found["ranked"] if o["net_present"] is not None and o["short_h"] is not None]


def frontier_rows(found: Spec) -> Spec:
    """Return every priced design of an exploration, its kind, and its text."""
    requested, drawn = found["asked"], [*found["frontier"], *priced(found)[:DRAWN]]
    if not priced(found):
        return {}
    if not requested["reasons"] and requested["net_present"] is not None:
        drawn.append(requested)
    kinds = {option["label"]: "frontier" for option in found["frontier"]} | {requested["label"]: "asked"}
    if found["winner"]:
        kinds[found["winner"]["label"]] = "winner"
    rows = []
    for label, option in {option["label"]: option for option in drawn}.items():
        cost, short, waiting = option["net_present"], option["short_h"], option["waiting_pct"] or 0.0
        row = {"label": label, "cost": cost, "short_h": short, "waiting": waiting}
        row |= {"kind": KINDS[kinds.get(label, "other")], "money": money(cost, found["currency"])}
        rows.append(row | {"hours": hours(short), "wait": percent(waiting / 100)})
    order = list(KINDS.values())
    rows.sort(key=lambda row: -order.index(row["kind"]))  # recommended is drawn last, above the others
    return {"rows": rows, "kinds": order, "currency": found["currency"]}


def frontier_chart(data: Spec, look: Look) -> Spec:
    """Net present cost against capacity shortfall; the larger a point, the more likely requests wait."""
    rows = data["rows"]
    names = [kind for kind in data["kinds"] if any(row["kind"] == kind for row in rows)]
    most_h, most_waiting = (max(row[name] for row in rows) for name in ("short_h", "waiting"))
    points = {name: LOOKS[name][0] for name in names}
    inks = {name: LOOKS[name][1] for name in names}
    title = said("chart.frontier.cost", currency=data["currency"])
    scale, axis = {"zero": False, "nice": True, "padding": 16}, {"labelExpr": MONEY, "tickCount": 6}
    x = field("cost", title=title, scale=scale, axis=axis)
    spread = {"type": "symlog", "constant": 0.01, "nice": False, "domain": [0, 1.3 * most_h or 1]}
    ticks = {"values": HOURS, "labelExpr": "format(datum.value, '~g')"}
    y = field("short_h", title=said("chart.frontier.shortfall axis"), scale=spread, axis=ticks)
    area = {"range": [80, 420], "domain": [0, max(1, most_waiting)]}
    dots = {"symbolFillColor": COLOURS[0], "symbolStrokeWidth": 0}
    legend = {"orient": "right", "tickCount": 3, **dots, "format": ".3~g"}
    size = field("waiting", title=said("chart.frontier.waiting axis"), scale=area, legend=legend)
    strokes = {"condition": {"test": f"datum.kind != '{OTHER}'", "value": look.ink}, "value": "transparent"}
    ink = told_apart("kind", inks, {"orient": "top", "symbolSize": 110})
    drawn: Spec = {"x": x, "y": y, "color": ink, "shape": told_apart("kind", points), "size": size}
    heads = {"label": said("chart.frontier.design"), "money": said("chart.frontier.net present")}
    heads |= {"hours": said("chart.frontier.shortfall"), "wait": said("chart.frontier.waiting")}
    mark = {"filled": True, "opacity": 0.85, "strokeWidth": 1.5}
    designs = layer(rows, "point", mark, **drawn, stroke=strokes, tooltip=tooltip(**heads))
    beside = {"expr": f"datum.kind == '{WINNER}' ? -9 : 15"}  # two designs may lie side by side
    how = {"align": "left", "dx": 12, "dy": beside, "fontWeight": 600, "color": look.ink}
    named = [row for row in rows if row["kind"] in (WINNER, ASKED)]
    words = labels(named, "kind", how, x=field("cost"), y=field("short_h"))
    return chart([designs, words], look, said("chart.frontier.about"), 270, 320)


def tornado_rows(bars: Sequence[Spec], view: str, now: float, currency: str) -> Spec:
    """The widest bars, as plain data: from the answer at the low end of an input to that at its high end."""

    def spread(bar: Spec) -> float:
        """Return its width, with the current design in place of an end that cannot be planned."""
        ends = [now, *(bar[f"{view}_{end}"] for end in ("low", "high") if bar[f"{view}_{end}"] is not None)]
        return float(max(ends) - min(ends))

    rows, of_cost = [], view == "cost"
    for bar, end in product(sorted(bars, key=spread, reverse=True)[:SHOWN], ("low", "high")):
        value = bar[f"{view}_{end}"]
        if value is not None and value != now:
            row = {"input": bar["label"], "end": END_NAMES[end], "value": value, "middle": now}
            words = money(value, currency) if of_cost else amount(value, "host")
            rows.append(row | {"at": input_words(bar, bar[end]), "words": words, "right": value > now})
    title = said("chart.frontier.cost", currency=currency) if of_cost else said("chart.tornado.hosts")
    inputs = list(dict.fromkeys(row["input"] for row in rows))
    return {"rows": rows, "middle": now, "title": title, "view": view, "inputs": inputs}


def tornado_chart(data: Spec, look: Look) -> Spec:
    """A bar for each input, from the answer at its low end to that at its high end, around the answer now."""
    axis = {"labelExpr": TWO_LINES, "labelLimit": 0, "ticks": False, "domain": False, "labelColor": look.ink}
    y = field("input", "nominal", sort=data["inputs"], title=None, axis=axis)
    words = {"labelExpr": MONEY} if data["view"] == "cost" else {"format": "d", "tickMinStep": 1}
    wide: Spec = {"scale": {"zero": False, "padding": 70}, "axis": {"tickCount": 6, **words}}
    x = field("value", title=data["title"], **wide)
    end = told_apart("end", ENDS, {"orient": "top"})
    tips = tooltip(input=said("chart.tornado.input"), at=said("chart.tornado.at"), words=data["title"])
    middle = {"field": "middle"}
    bars = layer(data["rows"], "bar", {"height": 14}, x=x, x2=middle, y=y, color=end, tooltip=tips)
    ends = []
    for right, align, dx in ((True, "left", 5), (False, "right", -5)):
        rows = [row for row in data["rows"] if row["right"] is right]
        how = {"align": align, "dx": dx, "fontSize": look.small, "color": look.soft}
        ends.append(labels(rows, "at", how, x=x, y=y))
    now = layer([{"value": data["middle"]}], "rule", {"color": look.ink, "strokeWidth": 1.5}, x=x)
    about = said("chart.tornado.about")
    step = {"step": 24 if max(map(len, data["inputs"]), default=0) <= LINE else 32}
    return chart([bars, *ends, now], look, about, step, step)
