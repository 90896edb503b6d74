"""The frontier of the explored designs, and the tornado."""

from collections.abc import Sequence
from itertools import product

from gpuplan.report.charts.look import MONEY, Look, Spec, drawn
from gpuplan.report.drawing import COLOURS, OKABE_ITO
from gpuplan.report.tables.explore import input_words
from gpuplan.wording import NAMES, amount, hours, money, percent, said

END_NAMES = NAMES["end of a bar"]
ENDS = {END_NAMES["low"]: OKABE_ITO[1], END_NAMES["high"]: OKABE_ITO[3]}
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
    names: list[str] = [kind for kind in data["kinds"] if any(row["kind"] == kind for row in rows)]
    most_h, most_waiting = (max(row[name] for row in rows) for name in ("short_h", "waiting"))
    more: Spec = {"names": names, "points": [LOOKS[name][0] for name in names], "other_ink": COLOURS[0]}
    more |= {"inks": [LOOKS[name][1] for name in names], "is_no_other": f"datum.kind != '{OTHER}'"}
    more |= {"most_h": 1.3 * most_h or 1, "most_waiting": max(1, most_waiting)}
    more["named"] = [row for row in rows if row["kind"] in (WINNER, ASKED)]
    more["beside"] = f"datum.kind == '{WINNER}' ? -9 : 15"  # two designs may lie side by side
    return drawn("frontier", look, data, **more)


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
    more: Spec = {"two_lines": TWO_LINES, "ends": list(ENDS), "inks": list(ENDS.values())}
    more["words"] = {"labelExpr": MONEY} if data["view"] == "cost" else {"format": "d", "tickMinStep": 1}
    more["right"] = [row for row in data["rows"] if row["right"]]
    more["left"] = [row for row in data["rows"] if not row["right"]]
    more["height"] = len(data["inputs"]) * (24 if max(map(len, data["inputs"]), default=0) <= LINE else 32)
    return drawn("tornado", look, data, **more)
