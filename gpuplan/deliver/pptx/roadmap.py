"""The way from here: phases and years, and the decisions with what comes next, each with its owner and day."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from gpuplan.deliver.executive import OWNERS, Action, actions
from gpuplan.deliver.pptx.blocks import Card, Picture, Shown, Sketch, Words, cards, squares, unit_of_squares
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.measure import BODY, LEAD, SMALL, Box
from gpuplan.deliver.pptx.paging import Listing
from gpuplan.locales import written_day
from gpuplan.plan.cost import Costs
from gpuplan.report.table import Table, Worded, filled, tabulate
from gpuplan.report.tables.acceptance import acceptance
from gpuplan.wording import NAMES, PART, joined, said

MOST_STEPS, STEPS = 4, NAMES["step of the deck"]
"""Most steps beside the decisions, and actions in a few words by the code of their message."""
WIDTHS = (7, 2.1, 2.3)
DECISIONS, ROAD = 208.0, 166.0
"""Height of the cards of the decisions, and of the phases and years."""
MOST_YEARS, PHASES = 6, 0.43
"""Most years that are drawn, and the share of the width for the phases before them."""
AHEAD = "85ADD6"


def next_steps(deck: Deck) -> tuple[list[Action], list[Action]]:
    """(the steps of the slide, all others): the first due first, one that is on the slide of decisions not again."""
    decided = {action.code for action in deck.summary.first_decisions}
    steps = [action for action in actions(deck.plan, deck.messages) if action.code not in decided]
    levels = {message.code: message.level for message in deck.messages}
    weight = {"stop": 0, "warn": 1, "note": 2}
    ranked = sorted(steps, key=lambda each: (weight[levels[each.code]], each.due))
    first = sorted(ranked[:MOST_STEPS], key=lambda each: each.due)
    return first, [action for action in steps if action not in first]


def in_short(step: Action) -> str:
    """An action in a few words, or in its own where there are none."""
    return STEPS.get(step.code) or step.what.removesuffix(".")


def steps_table(name: str, title: str, steps: Sequence[Action]) -> Table:
    """Actions with owner and day."""
    return tabulate(name, steps, what=in_short, owner=Worded(OWNERS.get), title=title)


def step_reasons(steps: Sequence[Action]) -> list[str]:
    """Actions in whole sentences, and why they are necessary."""
    return [f"{step.what} {step.why}" for step in steps]


def roadmap_slide(deck: Deck) -> Iterator[Slide]:
    """From the decision to the last year: what is ordered when, and what is due before."""
    plan, costs = deck.plan, deck.plan.costs
    if not plan.pools or costs is None:
        return
    due: dict[tuple[str, str], list[str]] = {}
    for step in actions(plan, deck.messages):
        due.setdefault((step.due, OWNERS[step.owner]), []).append(in_short(step))
    rows = [(day, owner, len(steps), "; ".join(steps)) for (day, owner), steps in sorted(due.items())]
    years = enumerate(pairwise(costs.hosts), 2)
    added = [str(year) for year, (before, after) in years if after > before]
    grows = " with growth" * bool(added)
    title = said(f"deck.roadmap.title{grows}", first=costs.hosts[0], last=costs.hosts[-1], year=costs.years)
    growing = [group for group in plan.scenario.groups if group.growth]
    groups = [said("deck.growth.group", name=group.name, share=group.growth) for group in growing]
    table = filled("slide_confirmations", rows, title=said("deck.roadmap.confirmations"))
    body = Listing(table, (1.7, 1.7, 1.2, 8), (BODY, SMALL), lines=1)
    top = Shown(Picture("Roadmap", partial(_road, deck, costs), said("deck.roadmap.about")), ROAD)
    scope, follows = (
        said(f"deck.roadmap.scope{grows}", years=joined(added)),
        said("deck.roadmap.follows", day=_last_day(deck)),
    )
    more = [said("deck.growth.how"), *groups]
    yield Slide([title], body, scope, [follows], ("totals.hosts", "cost.net_present"), more=more, top=top)


def _last_day(deck: Deck) -> str:
    """The day by which all decisions are due."""
    return written_day(max((action.due for action in deck.summary.first_decisions), default=deck.day))


def _road(deck: Deck, costs: Costs, sketch: Sketch) -> None:
    """Phases as arrows, then years with a square for each host, those added in bold edges."""
    plan, wide = deck.plan, (sketch.box.width - 10) * PHASES / 3
    weeks = [row for row in plan.catalog.rows("lead_times") if row["gpu"] in (None, *plan.new_boards)]
    lead = said("deck.roadmap.quote")
    if weeks:
        most = max(row["most"] or row["fewest"] for row in weeks)
        lead = said("deck.roadmap.weeks", fewest=min(row["fewest"] for row in weeks), most=most)
    decisions = said("deck.roadmap.decisions", count=len(deck.summary.first_decisions))
    tests = said("deck.roadmap.tests", count=len(acceptance(plan).rows))
    phases = (
        ("decide", said("deck.roadmap.by", day=_last_day(deck)), decisions),
        ("order", lead, said("deck.roadmap.checklist")),
        ("build", tests, said("deck.roadmap.criterion")),
    )
    for at, (name, first, second) in enumerate(phases):
        form, fill, pen = ("chevron", AHEAD, "1A2230") if at else ("homePlate", "accent1", "bg1")
        area, words = Box(at * wide, 0, wide - 2, 44), Box(at * wide + 2, 54, wide - 14, 36)
        sketch.rect(area, fill=fill, form=form, name=name)
        head = area.right(26 if at else 12)._replace(width=wide - 40)
        sketch.text(head, said(f"deck.roadmap.{name}"), bold=True, colour=pen)
        sketch.text(words, first, bold=True, lines=2)
        sketch.text(words.down(38)._replace(height=74), second, colour="tx2", lines=4)
    _years(costs, sketch, 3 * wide + 10)


def _years(costs: Costs, sketch: Sketch, start: float) -> None:
    """The hosts in each year, and what is ordered or renewed in it."""
    years = [*range(1, costs.years + 1)]
    shown = years if len(years) <= MOST_YEARS else [*years[: MOST_YEARS - 1], years[-1]]
    each = (sketch.box.width - start + 8) / len(shown)
    unit, renewed = unit_of_squares(max(costs.hosts), 2 * int((each - 4) / 16)), _licences(costs)
    for at, year in enumerate(shown):
        hosts, before, after = (
            costs.hosts[max(0, min(n, costs.years - 1))] for n in (year - 1, year - 2, year)
        )
        area = Box(start + at * each, 0, each - 8, 44)
        sketch.rect(area, fill="bg2", line="accent1", form="rect", name=f"Year {year}")
        sketch.text(area.right(8), said("deck.roadmap.year", year=year), bold=True)
        squares(sketch, area.down(52).above(30), hosts, unit, "accent1", new=hosts - before, side=12)
        place = sketch.text(area.down(84).above(20), said("deck.roadmap.hosts", hosts=hosts), bold=True)
        words = [said("deck.roadmap.order next", hosts=after - hosts)] if after > hosts else []
        words += [said("deck.roadmap.renew")] if renewed[year - 1] and year > 1 else []
        words += [said("deck.roadmap.refresh")] if year == costs.years else []
        sketch.text(place._replace(height=62), "; ".join(words), colour="tx2", lines=3)


def _licences(costs: Costs) -> list[float]:
    paid = [
        part.yearly for part in costs.parts if part.name in (PART["Platform licences"], PART["GPU software"])
    ]
    return [sum(values) for values in zip(*paid, strict=True)]


def decisions_slide(deck: Deck) -> Iterator[Slide]:
    """The customer's decisions as cards, and the steps that come next."""
    needed, (first, others) = deck.summary.first_decisions, next_steps(deck)
    if not needed:
        words = Words([step.what for step in first] or [said("deck.steps.quotation")], LEAD)
        yield Slide(
            [said("deck.steps.title" if first else "deck.steps.none")],
            words,
            follows=[said("deck.steps.follows")],
        )
        return
    by = _last_day(deck)
    title = said("deck.decisions.title", count=len(needed), day=by)
    shown = [
        Card(
            f"{at}  {in_short(each)}",
            f"{each.what} {each.why}",
            (OWNERS[each.owner], written_day(each.due)),
            shorter=each.what,
        )
        for at, each in enumerate(needed, 1)
    ]
    picture = Picture("Decisions", partial(cards, shown), title)
    table = steps_table("next_steps", said("deck.steps.title"), first)
    scope = said("deck.decisions.scope", count=len(first), more=len(others))
    yield Slide(
        [title],
        Listing(table, WIDTHS, (BODY, SMALL)) if first else None,
        scope,
        [said("deck.decisions.follows", day=by)],
        more=[*step_reasons(needed), *step_reasons(first)],
        top=Shown(picture, DECISIONS),
    )
