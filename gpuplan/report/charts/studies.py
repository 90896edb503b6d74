"""The designs of a study: a figure by their inputs, as lines, points or a map, with invalid designs marked."""

from collections.abc import Mapping, Sequence

from gpuplan.report.charts.look import MONEY, Look, Spec, drawn
from gpuplan.report.drawing import COLOURS, OKABE_ITO
from gpuplan.wording import NAMES, amount, headline_money, is_currency, said

MANY = 8
"""Most lines in a chart; two inputs with more values are drawn as a map."""
INKS = (*(OKABE_ITO[at] for at in (0, 3, 2, 4, 1, 7, 6)), COLOURS[0])
"""Colours of lines, neighbours far apart; the remaining one is that of invalid designs."""
BINS = 30
"""Most intervals in which draws are counted."""
WIDE_BINS = {"kind": "quantitative", "bins": {"maxbins": BINS}, "scale": {"zero": False, "nice": False}}
STATES = NAMES["state of a design"]
SHAPES = {STATES["valid"]: "circle", STATES["invalid"]: "cross", STATES["refused"]: "cross"}


def study_rows(records: Sequence[Spec], axes: Sequence[str], figure: str, labels: Spec, units: Spec) -> Spec:
    """Return a figure of each design by the inputs that the study changes; empty where no design has it.

    The input with most numbers is the horizontal axis; lines are the values of the others.
    """
    numeric = [axis for axis in axes if all(isinstance(row[axis], int | float) for row in records)]
    x = max(numeric or axes, key=lambda axis: len({row[axis] for row in records}))
    rest, unit = [axis for axis in axes if axis != x], units.get(figure, "")
    rows = [
        {
            "x": row[x],
            "series": ", ".join(str(row[axis]) for axis in rest),
            "design": ", ".join(f"{labels.get(axis, axis)} {row[axis]}" for axis in axes),
            **_marked(row, figure, unit),
        }
        for row in records
    ]
    if all(row["value"] is None for row in rows):
        return {}
    names = list(dict.fromkeys(row["series"] for row in rows))
    return {
        "rows": rows,
        "names": names,
        "axis": labels.get(x, x),
        "second": ", ".join(labels.get(axis, axis) for axis in rest),
        "title": labels.get(figure, figure),
        "money": is_currency(unit),
        "kind": "quantitative" if x in numeric else "nominal",
        "map": len(rest) == 1 and len(names) > MANY,
    }


def _marked(row: Spec, figure: str, unit: str) -> Spec:
    """Return a figure of a design with its range, its words, and whether it can be bought."""
    value, ends = row[figure], ("low", "high") if figure == "net_present" else ()
    state = "refused" if value is None else "valid" if row["valid"] else "invalid"
    words = row.get("refused", "") if value is None else words_of(value, unit)
    return {"value": value, **{end: row.get(end) for end in ends}, "words": words, "state": STATES[state]}


def study_chart(data: Spec, look: Look) -> Spec:
    """A line or points for each series over the input with most values, or a map of two inputs."""
    priced = [row for row in data["rows"] if row["value"] is not None]
    invalid, refused = (
        [row for row in data["rows"] if row["state"] == STATES[state]] for state in ("invalid", "refused")
    )
    states = list(dict.fromkeys(row["state"] for row in priced))
    of_lines, several = data["kind"] == "quantitative", len(data["names"]) > 1
    more: Spec = {"rows": priced, "refused": refused, "invalid": invalid + refused, "angle": 0}
    more |= {"lines": priced if of_lines else [], "ranged": [row for row in priced if row.get("low")]}
    more |= {"states": states, "shapes": [SHAPES[state] for state in states], "bad_ink": OKABE_ITO[5]}
    more |= {"inks": [INKS[at % len(INKS)] for at in range(len(data["names"]))]}
    more |= {"legend": {"orient": "top", "columns": 3, "symbolOpacity": 1} if several else None}
    more |= {"marks": {"orient": "top"} if len(states) > 1 else None}
    more |= {"format": _format(data)}
    more |= {"about": said("chart.study.about", title=data["title"], axis=data["axis"])}
    return drawn("study_map" if data["map"] else "study", look, data, **more)


def draws_rows(values: Sequence[float], quantiles: Mapping[float, float], label: str, unit: str) -> Spec:
    """Return a figure of all draws and its quantiles; empty without draws."""
    whole = (
        all(value == round(value) for value in values)
        and max(values, default=0) - min(values, default=0) < BINS
    )
    lines = [
        {"value": value, "words": said("chart.draws.quantile", share=share, value=words_of(value, unit))}
        for share, value in quantiles.items()
    ]
    rows = [{"value": value} for value in values]
    about = {"title": label, "money": is_currency(unit), "counted": whole, "draws": len(values)}
    return {"rows": rows, "lines": lines, **about} if rows else {}


def words_of(value: float, unit: str) -> str:
    """Return a figure as a chart says it: money in short."""
    return headline_money(value, unit) if is_currency(unit) else amount(value, unit)


def draws_chart(data: Spec, look: Look) -> Spec:
    """The number of draws by a figure, with lines at its quantiles."""
    more: Spec = {"ink_of_bars": OKABE_ITO[1], "line_ink": OKABE_ITO[5], "format": _format(data)}
    more |= {"kind": "ordinal", "bins": False, "scale": {}} if data["counted"] else WIDE_BINS
    about = said("chart.draws.about", title=data["title"], draws=data["draws"])
    return drawn("draws", look, data, about=about, **more)


def _format(data: Spec) -> Spec:
    return {"labelExpr": MONEY} if data["money"] else {"format": ",~g"}
