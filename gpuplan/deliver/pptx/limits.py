"""The slides of the limits that the customer has set: how far the design is within each, and the best design within them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpuplan.deliver.pptx.blocks import Chart, Label, Series, Words
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.measure import SMALL, cut
from gpuplan.plan import Plan
from gpuplan.plan.limits import Within
from gpuplan.report import solve_report
from gpuplan.report.drawing import EDGE
from gpuplan.report.limits import KEPT, OVER, limit_state, limits_exceeded
from gpuplan.wording import amount, capital, headline_money, joined, said, short_number

NAME_WIDTH = 260
MOST_DESIGNS, MOST_WORDS = 6, 3
"""Most designs of the chart, and sentences below it; the notes have all."""
TO_SCALE = 2.0
"""Largest share of a limit up to which the axis goes."""


def limits_slide(deck: Deck) -> Iterator[Slide]:
    """Each limit as a bar up to what the design takes, in parts of the limit, and the others in words."""
    plan = deck.plan
    if not plan.pools or not plan.within:
        return
    bars = [each for each in reversed(plan.within) if each.share is not None]
    words = Words([said("limits.key"), *_in_words(plan)], SMALL, quiet=True)
    keys = [each.line for each in plan.within if each.line]
    more = [f"{each.name}: {each.why}" for each in plan.within if each.why]
    body = _chart(plan, bars) if bars else None
    yield Slide(
        _titles(deck), body, said("limits.figure alt"), [_titles(deck)[0]], keys, more=more, foot=words
    )


def _chart(plan: Plan, bars: Sequence[Within]) -> Chart:
    shares = [each.share or 0.0 for each in bars]
    labels = [Label(limit_state(plan, each), bold=each.met is False) for each in bars]
    inside = [min(1.0, share) for share in shares]
    colours = [KEPT if each.met else EDGE for each in bars]
    series = [
        Series(said("deck.limits.beyond"), OVER, shares, labels=labels),
        Series(said("deck.limits.within"), KEPT, inside, colours=colours),
    ]
    end = 1.5 * min(TO_SCALE, max(1.0, *shares, 1.0))
    names = [cut(each.name, SMALL, NAME_WIDTH) for each in bars]
    return Chart(said("limits.figure alt"), names, series, gap=55, overlap=100, end=end)


def _in_words(plan: Plan) -> Iterator[str]:
    """Limits that are no bars, by what is said of them."""
    names: dict[str, list[str]] = {}
    for each in plan.within:
        if each.share is None:
            names.setdefault(limit_state(plan, each), []).append(each.name)
    for state, these in names.items():
        yield said("deck.limits.others", state=capital(state), names=joined(these))


def _titles(deck: Deck) -> list[str]:
    limits, over = deck.plan.within, limits_exceeded(deck.plan)
    count = sum(each.met is (not over) for each in limits)
    short = said("deck.limits.over" if over else "deck.limits.kept", count=count, of=len(limits))
    return [over.removesuffix("."), short] if over else [short]


def solution_slide(deck: Deck) -> Iterator[Slide]:
    """The best design within the limits, and what each budget buys; without that, the best of each board."""
    found = deck.summary.solution
    if found is None:
        return
    best, certificate = found["best"], solve_report.certificate(found)
    chart = _designs(deck, found) if best else None
    more = [*certificate, *(best["conditions"] if best else ()), *found["scope"]]
    key = [said("deck.solved.key", currency=found["currency"])] if chart else []
    words = Words(certificate[1:MOST_WORDS], SMALL, quiet=True)
    titles, follows = _solved_titles(found), certificate[:1]
    yield Slide(titles, chart, "".join(key), follows, ("cost.net_present",), more=more, foot=words)


def _designs(deck: Deck, found: Mapping[str, Any]) -> Chart:
    """Net present cost of the designs around the best, which is in the accent of the brand."""
    gpus, curve, best = deck.plan.catalog.gpus, found["frontier"], found["best"]
    points = curve["points"] if curve else ()
    at = max((n for n, design in enumerate(points) if design["value"] <= best["value"]), default=0)
    first = max(0, min(at - MOST_DESIGNS // 2, len(points) - MOST_DESIGNS))
    designs = points[first : first + MOST_DESIGNS] or found["designs"][MOST_DESIGNS - 1 :: -1]
    at = at - first if points else len(designs) - 1
    names, labels = list[str](), list[Label]()
    for design in designs:
        name, board = solve_report.worth(found, design["value"]), gpus[design["gpu"]].name
        words = {"cost": short_number(design["net_present"]), "hosts": design["hosts"], "gpu": board}
        names.append(cut(name if found["quantity"]["most"] else board, SMALL, NAME_WIDTH))
        labels.append(Label(said("deck.solved.label", **words), bold=len(labels) == at))
    costs = [design["net_present"] for design in designs]
    colours = [deck.brand.accent if n == at else EDGE for n in range(len(designs))]
    title = said("chart.curve.cost", currency=found["currency"])
    series = Series(title, EDGE, costs, colours=colours, labels=labels)
    return Chart(said("chart.curve.about"), names, [series], gap=45, end=1.7 * max(costs))


def _solved_titles(found: Mapping[str, Any]) -> list[str]:
    """What the first limit that binds buys, and what the next step takes; else what is served."""
    if not found["best"] or not found["quantity"]["most"]:
        return [solve_report.verdict(found).removesuffix(".")]
    worth = solve_report.worth(found, found["best"]["value"])
    short = said("deck.solved.short", worth=worth)
    binding = next((each for each in found["binding"] if each["more"]), None)
    if not binding:
        return [short]
    words = {key: amount(binding[key], binding["unit"]) for key in ("limit", "more")}
    if binding["key"] == "budget":
        words["limit"] = headline_money(binding["limit"], binding["unit"])
    key = "deck.solved.buys" if binding["key"] == "budget" else "deck.solved.within"
    return [said(key, worth=worth, name=binding["name"], **words), short]
