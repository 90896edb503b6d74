"""Charts of a plan for documents and notebooks, as SVG by vl-convert: no network and no browser is needed."""

import base64
import io
import itertools
import json
import math
import operator
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from gpuplan.analysis.demand import chance_curve, methods, week_demand
from gpuplan.analysis.purchases import purchase_ways
from gpuplan.plan import Plan
from gpuplan.plan.hosts import whole_pools
from gpuplan.report.charts.demand import LEAST_CHANCE, day_chart, day_rows, odds_chart, odds_rows
from gpuplan.report.charts.design import purchases_chart, purchases_rows, years_chart, years_rows
from gpuplan.report.charts.look import NOTEBOOK, PAPER, Look, Spec
from gpuplan.report.charts.solve import curve_chart, curve_rows
from gpuplan.report.drawing import WIDTH, clean_text, shortened, wrapped
from gpuplan.scenario import pick
from gpuplan.wording import said

SVG = "http://www.w3.org/2000/svg"
NAME_WIDTH = 270
"""Width of a group's name in the legend, in units of the drawing."""
NARROW = 300
"""Width of a line of an axis's title in a notebook."""
FINE, FEW = 2, 48
"""Pixels a unit of a picture in a notebook, and its colours: such a picture has 10 to 40 kB."""
SMALLEST_LETTER = 0.05
"""Share of the height from which a bar has room for its letter: a chart is higher on paper."""


def years_svg(plan: Plan) -> str | None:
    """Draw the payments at the start and in each year, by part; None without payments."""
    return _svg(years_spec(plan, PAPER))


def day_svg(plan: Plan) -> str | None:
    """GPUs needed on average in each hour of a Wednesday and a Saturday, by group; None if no group wants one."""
    return _svg(day_spec(plan, PAPER))


def waiting_svg(plan: Plan) -> str | None:
    """Draw how often a number of GPUs is too small, one line per assumption; None without requests for GPUs."""
    return _svg(waiting_spec(plan, PAPER))


def purchases_svg(plan: Plan) -> str | None:
    """Hosts of each way to buy for growth in each year, against those needed; None without growth."""
    data = purchases_rows(purchase_ways(plan))
    return _svg(purchases_chart(data, PAPER)) if data else None


def curve_svg(solution: Mapping[str, Any]) -> str | None:
    """Draw what each budget buys; None where that is not known."""
    found = solution["frontier"]
    data = curve_rows(found, found["budget"]) if found else {}
    return _svg(curve_chart(data, PAPER)) if data else None


def years_spec(plan: Plan, look: Look) -> Spec | None:
    """Specify the chart of payments at the start and in each year, by part."""
    costs = plan.costs
    if costs is None or not any(costs.cash):
        return None
    about = said("chart.years.about on paper", years=costs.years)
    return years_chart(years_rows(costs), look) | {"description": about}


def day_spec(plan: Plan, look: Look, place: str = "UTC") -> Spec | None:
    """GPUs needed on average in each hour of a Wednesday and a Saturday, by group, on the clock of a place."""
    data = day_rows(plan, week_demand(plan)[0], place, letter_share=SMALLEST_LETTER)
    if not data:
        return None
    names = {name: shortened(name, NAME_WIDTH) for name, _ in data["groups"]}
    groups = [(names[name], ink) for name, ink in data["groups"]]
    named = {"groups": groups, "rows": [row | {"group": names[row["group"]]} for row in data["rows"]]}
    return day_chart(data | named, look) | {"description": said("chart.day.about on paper")}


def waiting_spec(plan: Plan, look: Look, pool: str = "") -> Spec | None:
    """Specify how often a number of GPUs of a pool is too small; without a name, for the pool with the most GPUs."""
    kinds = {group.pool for group in plan.groups if group.mode and group.vms_placed}
    pools = {kind: whole for kind, whole in whole_pools(plan.pools).items() if kind in kinds}
    if not pools:
        return None
    shown = pick(pools, pool, "pool") if pool else max(pools.values(), key=lambda each: each.gpus)
    answers, points = methods(plan, shown.kind), chance_curve(plan, shown.kind)
    if not points:
        return None
    data = odds_rows(answers, points)
    lines = [said("chart.odds.gpus of a pool", pool=clean_text(shown.name)), said("chart.odds.when")]
    words = said("chart.odds.installed on paper", gpus=answers.gpus)
    title = wrapped(" ".join(lines), NARROW) if look.below else " ".join(lines)
    on_paper = {"rows": _ended(data["rows"]), "band": _band(data["band"])}
    return odds_chart(data | on_paper | {"gpus_title": title, "installed_words": words}, look)


def described(spec: Spec) -> str:
    """Return what a chart shows, or each of those joined in it."""
    parts = [part for name in ("hconcat", "vconcat", "concat", "layer") for part in spec.get(name, ())]
    inside = dict.fromkeys(filter(None, map(described, [*parts, *filter(None, [spec.get("spec")])])))
    return str(spec.get("description", "")) or " ".join(inside)


def picture(spec: Spec) -> tuple[str, int]:
    """Return (a chart as PNG for fine pixels, its width on a page), on white and in few colours, as a notebook keeps it.

    A ValueError if its rows are on another host.
    """
    import vl_convert
    from PIL import Image

    fine = vl_convert.vegalite_to_png(inked(spec), scale=FINE, allowed_base_urls=[])
    image, small = Image.open(io.BytesIO(fine)).convert("RGB"), io.BytesIO()
    image.quantize(FEW, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode(), image.width // FINE


def inked(spec: Spec) -> Spec:
    """Return a chart with fixed size and background, ink for the page's colour, and letters as wide as measured."""
    sized = spec | {"width": WIDTH} if spec.get("width") == "container" else spec
    inked: Spec = json.loads(json.dumps(sized).replace(NOTEBOOK.ink, PAPER.ink))
    return inked | {"background": PAPER.ground, "config": {"font": PAPER.font} | inked.get("config", {})}


def _ended(rows: Sequence[Spec]) -> list[Spec]:
    """Return the lines down to the least probability that is drawn."""
    lines = itertools.groupby(rows, key=operator.itemgetter("method"))
    return [
        {"method": method, "gpus": gpus, "chance": chance, "low": chance, "high": chance}
        for method, line in lines
        for gpus, chance in _above_floor([(row["gpus"], row["chance"]) for row in line])
    ]


def _band(rows: Sequence[Spec]) -> list[Spec]:
    """Return the range of a line, drawn only above the lowest probability."""
    lows, highs = (_above_floor([(row["gpus"], row[end]) for row in rows]) for end in ("low", "high"))
    after = lows[-1][0] if lows else 0.0
    edges = [(gpus, low, _between(highs, gpus)) for gpus, low in lows]
    edges += [(gpus, LEAST_CHANCE, high) for gpus, high in highs if gpus > after]
    return [{"gpus": gpus, "chance": low, "low": low, "high": high} for gpus, low, high in edges]


def _above_floor(line: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points of a falling line down to the least probability drawn, and the one where it gets there."""
    points: list[tuple[float, float]] = []
    for at, chance in line:
        if chance < LEAST_CHANCE:
            if points:
                before, above = points[-1]
                share = math.log(above / LEAST_CHANCE) / math.log(above / max(chance, 1e-12))
                points.append((before + share * (at - before), LEAST_CHANCE))
            break
        points.append((at, chance))
    return points


def _between(line: Sequence[tuple[float, float]], at: float) -> float:
    for (x1, y1), (x2, y2) in itertools.pairwise(line):
        if x1 <= at <= x2:
            return math.exp(math.log(y1) + (at - x1) / (x2 - x1) * math.log(y2 / y1))
    return line[-1][1]


def _svg(chart: Spec | None) -> str | None:
    """Return the drawing with its title, without parts that only a web page with style sheet and script needs."""
    return None if chart is None else _cleaned(json.dumps(chart))


@lru_cache(maxsize=16)  # drawing takes 0.2 s, and each file of a design has the same charts
def _cleaned(written: str) -> str:
    import vl_convert

    chart = json.loads(written)
    root = ElementTree.fromstring(str(vl_convert.vegalite_to_svg(chart, allowed_base_urls=[])))
    dropped = ("class", "role", "pointer-events")
    for node in root.iter():
        for child in [
            c for c in node if c.tag == f"{{{SVG}}}path" and (c.get("display") == "none" or not c.get("d"))
        ]:
            node.remove(child)
        for name in [n for n in node.attrib if n in dropped or n.startswith("aria-")]:
            del node.attrib[name]
        node.tag = node.tag.removeprefix(f"{{{SVG}}}")
    title = ElementTree.Element("title")
    title.text = chart["description"]
    root.insert(0, title)
    root.set("xmlns", SVG)
    return ElementTree.tostring(root, encoding="unicode")
