"""What each budget buys: real designs from few to many, the design as it is, and the one under the budget."""

from typing import Any

from gpuplan.report.charts.look import Look, Spec, drawn
from gpuplan.report.drawing import COLOURS, OKABE_ITO
from gpuplan.wording import NAMES, amount, capital, headline_money, money, number

KINDS = NAMES["mark of a budget"]
LOOKS = {
    KINDS["point"]: ("circle", OKABE_ITO[1], 70),
    KINDS["asked"]: ("square", OKABE_ITO[0], 110),
    KINDS["chosen"]: ("diamond", OKABE_ITO[5], 190),
}


def curve_rows(found: Spec, budget: float | None = None, asked: tuple[float, float] | None = None) -> Spec:
    """Return the points of a frontier as ``frontier_dict`` gives it, the best for a budget marked.

    ``asked`` is (amount, net present cost) of the design as it is. Empty without points.
    """
    if not found["points"]:
        return {}
    chosen, points = under(found, budget), []
    for design in found["points"]:
        kind = KINDS["chosen" if design is chosen else "point"]
        about = {"hosts": amount(design["hosts"], "host"), "label": design["label"], "click": _look(design)}
        points.append(_point(found, design["value"], design["net_present"], kind) | about)
    rows = [{"cost": point["cost"], "value": point["value"]} for point in points]
    searched = [*(point["cost"] for point in points), *([budget] if budget else [])]
    rows.append({"cost": max(searched), "value": rows[-1]["value"]})
    if asked:
        points.append(_point(found, *asked, KINDS["asked"]) | {"hosts": "", "label": "", "click": None})
    lines = [{"cost": budget, "words": headline_money(budget, found["currency"])}] if budget else []
    names = {"name": capital(found["quantity"]["name"]), "currency": found["currency"]}
    return {"rows": rows, "points": points, "lines": lines, **names}


def _look(design: Spec) -> Spec:
    return {"type": "look", "what": "budget", "value": str(design["net_present"])}


def _point(found: Spec, value: float, cost: float, kind: str) -> Spec:
    words = f"{number(value)} {found['quantity']['name']}"
    return {
        "value": value,
        "cost": cost,
        "kind": kind,
        "amount": words,
        "money": money(cost, found["currency"]),
    }


def under(found: Spec, budget: float | None) -> Any:
    """Return the design that serves most for a budget; None where none costs as little."""
    able = (each for each in found["points"] if budget is not None and each["net_present"] <= budget)
    return max(able, key=lambda each: each["value"], default=None)


def curve_chart(data: Spec, look: Look) -> Spec:
    """The most that each net present cost buys, with the budget as a line."""
    names = [kind for kind in LOOKS if any(point["kind"] == kind for point in data["points"])]
    shapes, inks, sizes = ([LOOKS[name][at] for name in names] for at in range(3))
    more: Spec = {"names": names, "shapes": shapes, "inks": inks, "sizes": sizes}
    more |= {"line_ink": COLOURS[0], "budget_ink": OKABE_ITO[5]}
    return drawn("curve", look, data, **more)


def what_if_chart(data: Spec, look: Look) -> Spec:
    """The cost at each size with its range, the design and the position that is looked at, and the budget."""
    return drawn("what_if", look, data, line_ink=OKABE_ITO[0], limit_ink=OKABE_ITO[5])
