"""Designs in columns: the figures of each as bars on a common axis, the best of each row, and what the difference means."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.analysis.compare import THIS, UNITS, caveats, clause, named, words_of
from gpuplan.analysis.same_work import work_of_gpu
from gpuplan.analysis.variants import COMPARED, figure, outcome
from gpuplan.models.cost import combined_range
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.cost_ranges import End
from gpuplan.plan.llm.promises import MISSED
from gpuplan.report.figures import cost_figures, open_points
from gpuplan.scenario import Scenario, views
from gpuplan.wording import amount, hours, joined, number, percent, said, short_number, watts, worded

COST, WORK, TOKEN, WAITING = "npv", "work", "first_token", "totals.waiting"
KEYS = (*COMPARED["side by side"],)


class Amount(NamedTuple):
    """A figure of a design, in words, with its range."""

    value: float
    text: str
    note: str = ""
    ends: End | None = None
    causes: Mapping[str, End] = {}
    """A cost with one cause of its range alone at its ends."""
    about: str = ""
    """What is counted, where its row does not say it."""


NOTHING = Amount(0.0, "")


class Design(NamedTuple):
    """A design in its figures; without any where it cannot be planned."""

    name: str
    money: tuple[str, int] | None = None
    """Currency and years of its cost."""
    amounts: Mapping[str, Amount] = {}
    tone: str = ""
    standing: str = ""
    """Whether it meets the request, in a few words, or why it cannot be planned."""
    missed: bool = False
    """True if it cannot keep its promises to users of language models."""


def design(name: str, plan: Plan, first: Plan, *, checked: bool = True) -> Design:
    """Return a design in its figures, with its work in that of the ``first``; checking it, for its open points, takes longer."""
    amounts = {key: found for key, found in _amounts(plan, first) if found}
    if checked:
        stops, warns, values = open_points(plan, check_plan(plan))
        text = number(stops + warns)
        amounts["points"] = Amount(stops + warns, text, said("side.assumptions", count=values))
    targets = [target for serving in plan.llm.serving.values() for target in serving.targets]
    missed = [said(f"side.missed {t.name}", target=t) for t in targets if t.standing == MISSED]
    verdict = (plan if checked else plan.unchecked()).verdict
    stands = ("bad", ", ".join(missed)) if missed else (verdict.tone, verdict.short)
    return Design(
        name, (plan.scenario.cost.currency, plan.scenario.cost.years), amounts, *stands, bool(missed)
    )


def others(plan: Plan, scenarios: Sequence[tuple[str, Scenario]]) -> tuple[list[Design], list[str]]:
    """Plan other designs, each under its name; return their figures, and what makes all of them hard to compare."""
    designs, plans = [], [named(plan, THIS)]
    for name, scenario in scenarios:
        found = outcome(scenario, plan.catalog)
        why = "; ".join(problem.message for problem in found.problems)
        designs.append(
            design(name, found.plan, plan) if found.plan else Design(name, tone="bad", standing=why)
        )
        plans += [named(found.plan, name)] if found.plan else []
    names = [each.scenario.name for each in plans]
    return designs, list(caveats(plans, names, checked=False)) if plans[1:] else []


def _amounts(plan: Plan, first: Plan) -> Iterator[tuple[str, Amount | None]]:
    totals, cost, power = plan.totals, cost_figures(plan), plan.power
    yield "totals.hosts", Amount(totals.hosts, number(totals.hosts), amount(totals.gpus, "GPU"))
    if cost and plan.cost_ranges:
        money, ends = short_number(cost.net_present), (cost.low, cost.high)
        yield COST, Amount(cost.net_present, money, cost.span, ends, plan.cost_ranges.causes)
    if power:
        typical, peak = watts(power.typical_w), said("side.peak", peak=watts(power.peak_w))
        yield "power.typical", Amount(power.typical_w, typical, peak)
    yield WORK, _work(plan, first)
    yield TOKEN, _first_token(plan, first)
    if (waiting := figure(plan, WAITING)) is not None and not first.llm.serving:
        yield WAITING, Amount(waiting, _short(percent(waiting / 100)))
    if (short := figure(plan, "short_h")) is not None:
        yield "short_h", Amount(short, _short(hours(short)))


def _short(text: str) -> str:
    for key in ("wording.less", "wording.under"):
        text = text.replace(said(key, value=""), "< ")
    return text


def _largest(plan: Plan, ids: Sequence[str]) -> str:
    """Return the workload with most GPUs of these, by which designs are compared; empty if there is none."""
    groups = [group for group in plan.groups if group.id in ids]
    return max(groups, key=lambda group: group.demand_gpus).id if groups else ""


def _work(plan: Plan, first: Plan) -> Amount | None:
    """Return what one GPU does of the largest workload of the first design."""
    view = views(first.scenario)[0]
    given = {group.id: group for group in view.groups if not group.hosts}
    group = given.get(_largest(first, [*given]))
    if group is None or plan.parts[1:] or group.id not in [each.id for each in plan.groups]:
        return None
    work = work_of_gpu(view, plan.catalog, group, plan.scenario.hardware.gpu, plan)
    if not work.value:
        return None
    text, about = worded(float(f"{work.value:.3g}"), "#"), said(f"side.work {work.of}", name=group.name)
    return Amount(work.value, f"{text} x" if work.of == "times" else text, about=about)


def _first_token(plan: Plan, first: Plan) -> Amount | None:
    """Return how long users of the largest language model wait for an answer to begin."""
    serving = plan.llm.serving.get(_largest(first, [*first.llm.serving]))
    if serving is None:
        return None
    value, low, high = (each / 1000 for each in serving.found.first_token_ms)
    asked = said("side.of", most=serving.asks["first_token_s"])
    return Amount(value, said("side.seconds", value=value), asked, (low, high))


def rows(designs: Sequence[Design]) -> list[dict[str, Any]]:
    """Return the figures that any of the designs has: in each row its name, the places of all designs as shares of the longest bar, and how the first differs from the best, or from the next."""
    return [_row(key, designs) for key in KEYS if any(key in each.amounts for each in designs)]


def _row(key: str, designs: Sequence[Design]) -> dict[str, Any]:
    best, alike = _best(key, designs), _alike(key, designs)
    known = [each.amounts[key] for each in designs if key in each.amounts]
    drawn = {each.text: each.value for each in known}  # what reads the same is drawn the same
    most = max([*drawn.values(), *(end for each in known for end in each.ends or ())]) or 1
    word, places = said("side.tie" if best[1:] else "side.best"), []
    for at, each in enumerate(designs):
        of = each.amounts.get(key, NOTHING)
        bar = _shares(of, drawn, most) if alike and key in each.amounts else (None, None, None)
        place = {"text": of.text, "note": of.note, "best": word * (at in best)}
        places.append(place | dict(zip(("share", "low", "high"), bar, strict=True)))
    currency, years = next((each.money for each in designs if each.money), ("", 0))
    about = known[0].about or said(f"side.{key} about", currency=currency)
    label, sentence = said(f"side.{key}", years=years), _sentence(key, designs, best)
    return {"label": label, "about": about, "places": places, "sentence": sentence}


def _shares(of: Amount, drawn: Mapping[str, float], most: float) -> tuple[float | None, ...]:
    """Return a figure and the ends of its range as shares of the longest bar."""
    ends = [end / most for end in of.ends] if of.ends else [None, None]
    return (drawn[of.text] / most, *ends)


def _alike(key: str, designs: Sequence[Design]) -> bool:
    """False for costs in several currencies or over several periods."""
    return key != COST or len({each.money for each in designs if each.money}) == 1


def _best(key: str, designs: Sequence[Design]) -> tuple[int, ...]:
    """Return the columns of the best designs that keep their promises; none of fewer than two."""
    able = {at: each.amounts[key] for at, each in enumerate(designs) if key in each.amounts}
    sound = {at: each for at, each in able.items() if designs[at].tone != "bad"}
    if len(able) < 2 or not sound or not _alike(key, designs):
        return ()
    best = min(sound.values(), key=lambda each: _rank(key, each))
    return tuple(at for at, each in sound.items() if not _worse(each, best))


def cheapest(designs: Sequence[Design]) -> str:
    """Say which designs cost least of those that do the work; empty where fewer than two have a cost to compare."""
    if designs[1:] and all(each.tone == "bad" for each in designs):
        return said("side.none")
    names = [designs[at].name for at in _best(COST, designs)]
    key = "side.equal" if names[1:] else "side.least"
    return said(key, names=joined(names), count=len(designs)) if names else ""


def _rank(key: str, of: Amount) -> float:
    return -of.value if key == WORK else of.value


def _worse(of: Amount, best: Amount) -> bool:
    """True if a figure is worse than the best in all that is known: prices of one cause move together in both."""
    if of.text == best.text:
        return False
    if of.causes or best.causes:
        causes = {**of.causes, **best.causes}
        ends = [[each.causes.get(c, (each.value,) * 2) for each in (of, best)] for c in causes]
        apart = [(own[0] - other[0], own[1] - other[1]) for own, other in ends]
        return combined_range(of.value - best.value, ends=apart)[0] > 0
    return not (of.ends and best.ends) or of.ends[0] > best.ends[1]


def _sentence(key: str, designs: Sequence[Design], best: Sequence[int]) -> str:
    """Say how the best design differs from the first; where that is the best, how the next one does."""
    first, *rest = [(each.name, each.amounts[key]) for each in designs if key in each.amounts]
    different = [each for each in rest if each[1].text != first[1].text]
    if not best or not different or key not in designs[0].amounts:
        return ""
    name, other = min(different, key=lambda each: _rank(key, each[1]))
    currency, unit = designs[0].money[0] if designs[0].money else "", UNITS[key]
    own, its = ((a.value, words_of(a.value, unit, currency) if unit else a.text) for a in (first[1], other))
    return f"{clause(key, name, own, its, currency)}."
