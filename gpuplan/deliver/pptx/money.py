"""Cost slides: by year, against the alternatives, and what moves it."""

from collections.abc import Iterator, Sequence
from functools import partial

from gpuplan.analysis.alternatives import Alternative
from gpuplan.deliver.pptx.blocks import (
    Card,
    Chart,
    Label,
    Picture,
    Series,
    Sketch,
    Tile,
    Tiles,
    cards,
    piled,
    scale_of,
    squares,
    unit_of_squares,
)
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.measure import LEAD, SMALL, Box, cut, text_width
from gpuplan.plan.cash_flow import HARDWARE, CostPart
from gpuplan.plan.cost import Costs
from gpuplan.report.charts.design import year_names
from gpuplan.report.drawing import COLOURS, OKABE_ITO
from gpuplan.report.headlines import to_confirm
from gpuplan.wording import (
    PART,
    capital,
    headline_money,
    rounded_money,
    said,
    short_number,
    spanned,
)

LICENCES = (PART["Platform licences"], PART["GPU software"], PART["Hardware support"])
"""Parts that are licences and support; others that are no hardware are paid to run it."""
LABEL_SHARE = 0.07
"""Share of the tallest column from which a part has room for its number."""
MOST_DRIVERS, MOST_CARDS, NAME_WIDTH = 6, 4, 330
LOW, HIGH = OKABE_ITO[0], OKABE_ITO[3]
OTHER, PALE = COLOURS[0], "E5E8EC"


def cost_series(costs: Costs) -> tuple[CostPart, ...]:
    """Return the payments for hardware, for licences, for running it, and what is left at the end; they sum to the payments."""
    kinds: dict[str, list[CostPart]] = {}
    for part in costs.parts:
        kind = "hardware" if part.name in HARDWARE else "licences" if part.name in LICENCES else "running"
        kinds.setdefault("residual" if min(part.yearly) < 0 else kind, []).append(part)
    return tuple(
        CostPart(
            said(f"deck.cost.{kind}"),
            tuple(sum(paid) for paid in zip(*(p.yearly for p in kinds[kind]), strict=True)),
            "",
        )
        for kind in ("hardware", "licences", "running", "residual")
        if kind in kinds
    )


def cost_slide(deck: Deck) -> Iterator[Slide]:
    """Payments at the start and in each year, by kind, with totals."""
    costs, figures = deck.plan.costs, deck.figures
    if costs is None:
        return
    parts = cost_series(costs)
    tops = [sum(max(0.0, part.yearly[at]) for part in parts) for at in range(len(costs.cash))]
    pattern, letter = scale_of(max(tops))
    pairs = zip(costs.cash, tops, strict=True)
    sums = [Label(short_number(paid)) if paid or top else None for paid, top in pairs]
    total = Series(said("deck.cost.total"), OTHER, tops, pattern, labels=sums, at="t")
    colours = (deck.brand.accent, "85ADD6", "CBD1DA", OTHER)
    series = [
        _part_series(part, ink, deck.brand.accent, max(tops))
        for part, ink in zip(parts, colours, strict=False)
    ]
    scope = figures.said("deck.cost.axis", currency=costs.currency, letter=letter)
    start = None if min(costs.cash) < 0 else 0
    chart = piled(said("deck.cost.about"), year_names(costs), [*series, total], "", gap=50)
    chart = chart._replace(pattern=pattern, start=start, summed=True)
    keys = ("cost.net_present", "cost.total", "cost.years.0")
    more = [f"{figures.money} {figures.cost_about}", _largest(costs)]
    excluded = {"names": "; ".join(costs.excludes), "count": len(costs.excludes)}
    without = (
        ("deck.cost.excludes", "deck.cost.excludes count") if costs.excludes else ("deck.cost.complete",)
    )
    titles = [figures.said("deck.cost.title"), figures.said("deck.cost.short")]
    side = Tiles([Tile(*tile) for tile in figures.tiles("deck cost")], upright=True)
    yield Slide(titles, chart, scope, [said(key, **excluded) for key in without], keys, more=more, side=side)


def _largest(costs: Costs) -> str:
    largest = max(costs.parts, key=lambda part: part.total, default=None)
    if largest is None or not costs.total:
        return ""
    money = headline_money(largest.total, costs.currency)
    return said("deck.cost.largest", part=largest.name, money=money, share=largest.total / costs.total)


def _part_series(part: CostPart, colour: str, brand: str, tallest: float) -> Series:
    """Return the payments for a part, with its number in each column that has room for it."""
    pen = "FFFFFF" if colour == brand else "1A2230"
    tall = (abs(value) > LABEL_SHARE * tallest for value in part.yearly)
    pairs = zip(part.yearly, tall, strict=True)
    labels = [Label(short_number(value), bold=False, colour=pen) if high else None for value, high in pairs]
    return Series(part.name, colour, part.yearly, labels=labels, at="ctr")


def signed(amount: float) -> str:
    """An amount as a difference."""
    if abs(amount) < 0.5:
        return "\u00b10"
    sign = "+" if amount > 0 else "\u2212"
    return f"{sign}{short_number(abs(amount))}"


def drawback(choice: Alternative) -> str:
    """What is wrong with an alternative, and why it is not recommended."""
    return "; ".join(
        filter(
            None,
            (
                capital(choice.standing.words),
                choice.gives_up if choice.standing.words else capital(choice.gives_up),
            ),
        )
    )


def alternatives_slide(deck: Deck) -> Iterator[Slide]:
    """This design and the alternatives that tell most, each with its hosts, its cost and why not."""
    costs, choices = deck.plan.costs, deck.summary.choices
    if costs is None or not choices:
        return
    titles = _choice_titles(choices, costs.currency)
    ends = deck.plan.cost_ranges.net_present if deck.plan.cost_ranges else (None, None)
    name, fits = said("deck.choices.this"), deck.plan.verdict.fit_sentence
    counts = (costs.hosts, costs.gpus, costs.net_present)
    own = Alternative("plan", name, *counts, ends[0], ends[1], 0.0, fits, costs.excludes)
    shown = (own, *choices[: MOST_CARDS - 1])
    most = max(max(each.net_present, each.high or 0) for each in shown)
    unit = unit_of_squares(max(each.hosts[0] for each in shown if each.hosts), 9)
    given_up = [f"{choice.name}: {choice.gives_up}" for choice in choices if choice.gives_up]
    follows = _least(choices, costs.currency)
    about, scope = (
        said("deck.choices.about", years=costs.years),
        said("deck.choices.scope", years=costs.years),
    )
    body = Picture("Alternatives", partial(cards, [_choice(deck, each, most, unit) for each in shown]), about)
    more = [said("deck.appendix.choices scope"), *given_up]
    yield Slide(titles, body, scope, [follows], ("cost.net_present",), more=more)


def _choice_titles(choices: Sequence[Alternative], currency: str) -> list[str]:
    """What sharing saves, and how many alternatives cost less."""
    silos = [choice.difference for choice in choices if choice.key == "silos" and choice.difference > 0]
    cheaper = sum(choice.difference < 0 for choice in choices)
    key = "deck.choices.title" if cheaper else "deck.choices.none"
    saved = [said("deck.choices.silos", more=headline_money(more, currency)) for more in silos[:1]]
    return [*saved, said(key, count=len(choices), cheaper=cheaper)]


def _least(choices: Sequence[Alternative], currency: str) -> str:
    """What the cheapest alternative saves, and why it is not recommended; or that none does."""
    least = min(choices, key=lambda each: each.net_present)
    if least.difference >= 0:
        return said("deck.choices.none follows")
    less = headline_money(-least.difference, currency)
    return said("deck.choices.cheapest", less=less, name=least.name, why=drawback(least))


def _choice(deck: Deck, each: Alternative, most: float, unit: int) -> Card:
    """A design with its hosts and its cost, or this one."""
    currency = deck.plan.scenario.cost.currency
    colour = deck.brand.accent if each.chosen else "5F6B7A"
    draw = partial(_hosts_and_cost, each, currency, colour, most, unit)
    if each.chosen:
        foot = (said("deck.choices.chosen"), deck.plan.verdict.short)
        return Card(each.name, each.gives_up, foot, ground="bg2", draw=draw)
    foot = (said("deck.choices.difference"), f"{signed(each.difference)} {currency}")
    return Card(each.name, drawback(each), foot, "525D6D", draw=draw)


def _hosts_and_cost(
    each: Alternative, currency: str, colour: str, most: float, unit: int, sketch: Sketch, place: Box
) -> float:
    """Draw a square for each host, and a bar with the range of the cost; return their height."""
    hosts, gpus = (number_of[0] if number_of else 0 for number_of in (each.hosts, each.gpus))
    squares(sketch, place.above(22), hosts, unit, colour, side=12)
    counts = said("deck.choices.hosts" if hosts else "deck.choices.rented", hosts=hosts, gpus=gpus)
    sketch.text(place.down(24).above(20), counts, colour="tx2")
    bar = place.down(52).above(16)
    sketch.rect(bar, fill=PALE, form="rect", name="Scale")
    sketch.rect(
        bar._replace(width=max(1.0, bar.width * each.net_present / most)),
        fill=colour,
        form="rect",
        name="Cost",
    )
    money, span = rounded_money(each.net_present)[0], ""
    if each.low is not None and each.high is not None:
        money, *ends = rounded_money(each.net_present, (each.low, each.high))
        span = spanned(*ends) if ends[0] else ""
        left, right = (end / most * bar.width for end in (each.low, each.high))
        line = Box(bar.left + left, bar.top + 7, right - left, 2)
        sketch.rect(line, fill="1A2230", form="rect", name="Range")
    sketch.text(place.down(74).above(26), f"{currency} {money}", bold=True, size=LEAD)
    sketch.text(place.down(99).above(20), span, colour="tx2")
    return 130


def drivers_slide(deck: Deck) -> Iterator[Slide]:
    """The assumptions that move the cost most, at their low and at their high end."""
    costs, strongest = deck.plan.costs, deck.summary.drivers[:MOST_DRIVERS]
    if costs is None or not strongest:
        return
    first, rows, now = strongest[0], strongest[::-1], costs.net_present
    low, high = (rounded_money(end)[0] for end in (first.cost_low, first.cost_high))
    name = _driver_name(deck, first.label)
    words = {"name": name, "low": low, "high": high, "currency": costs.currency}
    titles = [said(f"deck.drivers.{size}", **words) for size in ("title", "name", "short")]
    more = [said("deck.drivers.how")]
    more += [said("deck.drivers.words", driver=driver, currency=costs.currency) for driver in strongest]
    most = max(abs(end - now) for driver in rows for end in (driver.at_low, driver.at_high))
    ends = (
        ("deck.drivers.low", LOW, [(driver.low, driver.at_low - now) for driver in rows]),
        ("deck.drivers.high", HIGH, [(driver.high, driver.at_high - now) for driver in rows]),
    )
    series = [
        Series(said(key), colour, [more for _, more in bars], labels=[_end_label(*bar, most) for bar in bars])
        for key, colour, bars in ends
    ]
    about = said("deck.drivers.about", years=costs.years)
    names = [_driver_name(deck, driver.label) for driver in rows]
    chart = Chart(about, names, series, gap=45, overlap=100, legend="b", start=-2.2 * most, end=2.2 * most)
    scope = said("deck.drivers.from", money=headline_money(now, costs.currency), years=costs.years)
    open_ones = to_confirm(deck.plan, deck.messages)
    follows = [
        said("deck.drivers.follows", points=open_ones, **words),
        said("deck.drivers.settle", points=open_ones),
    ]
    tiles = deck.figures.tiles("deck drivers", **words)
    yield Slide(
        titles, chart, scope, follows, more=more, side=Tiles([Tile(*tile) for tile in tiles], upright=True)
    )


def _end_label(words: str, more: float, most: float) -> Label | None:
    """Label an end of an input, unless the bar is too short to be seen."""
    if abs(more) <= 0.005 * most:
        return None
    return Label(said("deck.drivers.label", end=words, difference=signed(more)), bold=False)


def _driver_name(deck: Deck, label: str) -> str:
    """The name of an input; of a long one of a group the name of the group is cut."""
    group = next((g.name for g in deck.plan.groups if label.startswith(f"{g.name}: ")), "")
    if not group:
        return cut(label, SMALL, NAME_WIDTH)
    what = label.removeprefix(group)
    return cut(group, SMALL, max(60.0, NAME_WIDTH - text_width(what, SMALL))) + what
