"""Cost slides: by year, against the alternatives, with the strongest drivers and the growth; else power and space."""

from collections.abc import Iterator

from gpuplan.deliver.pptx.blocks import Chart, Label, Series, Tile, Tiles, Words, piled, scale_of
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.measure import SMALL, cut, text_width
from gpuplan.plan.cash_flow import CostPart
from gpuplan.plan.cost import Costs
from gpuplan.report.charts.design import year_names
from gpuplan.report.drawing import COLOURS, OKABE_ITO, PARTS, pen_on
from gpuplan.report.tables.purchases import purchases
from gpuplan.wording import headline_money, number, rounded_money, said, short_number, watts

SERIES = 7
LETTER_SHARE = 0.07
"""Share of the tallest column from which a part has room for its letter."""
MOST_DRIVERS, MOST_CHOICES, NAME_WIDTH = 6, 7, 400
LOW, HIGH = OKABE_ITO[0], OKABE_ITO[3]
OTHER = COLOURS[0]


def cost_series(costs: Costs) -> tuple[CostPart, ...]:
    """Return the parts of the cost for a chart: the largest, and the others combined; they sum to the payments."""
    ranked = sorted(costs.parts, key=lambda part: -sum(abs(value) for value in part.yearly))
    if len(ranked) <= SERIES + 1:
        return tuple(costs.parts)
    shown = {part.name for part in ranked[:SERIES]}
    others = [part for part in costs.parts if part.name not in shown]
    rest = tuple(sum(values) for values in zip(*(part.yearly for part in others), strict=True))
    largest = (part for part in costs.parts if part.name in shown)
    return *largest, CostPart(said("deck.cost.others"), rest, "")


def cost_slide(deck: Deck) -> Iterator[Slide]:
    """Payments at the start and in each year, by part, with totals."""
    costs, figures = deck.plan.costs, deck.figures
    if costs is None:
        return
    parts = cost_series(costs)
    tops = [sum(max(0.0, part.yearly[at]) for part in parts) for at in range(len(costs.cash))]
    pattern, letter = scale_of(max(tops))
    pairs = zip(costs.cash, tops, strict=True)
    sums = [Label(short_number(paid)) if paid or top else None for paid, top in pairs]
    total = Series(said("deck.cost.total"), OTHER, tops, pattern, labels=sums, at="t")
    series = [*(_part_series(part, max(tops)) for part in parts), total]
    axis = said("deck.cost.axis", currency=costs.currency, letter=letter).strip()
    start = None if min(costs.cash) < 0 else 0
    chart = piled(said("deck.cost.about"), year_names(costs), series, axis, gap=55)
    chart = chart._replace(pattern=pattern, start=start, summed=True)
    keys = ("cost.net_present", "cost.total", "cost.years.0")
    more = [f"{figures.money} {figures.cost_about}", _largest(costs)]
    left_out = said("deck.cost.excludes", names="; ".join(costs.excludes))
    notes = [cut(left_out, SMALL, deck.box.width, 2)] if costs.excludes else []
    titles = [figures.said("deck.cost.title"), figures.said("deck.cost.short")]
    yield Slide(titles, chart, keys, more=more, foot=Words(notes, SMALL, quiet=True))


def _largest(costs: Costs) -> str:
    largest = max(costs.parts, key=lambda part: part.total, default=None)
    if largest is None or not costs.total:
        return ""
    money = headline_money(largest.total, costs.currency)
    return said("deck.cost.largest", part=largest.name, money=money, share=largest.total / costs.total)


def _part_series(part: CostPart, tallest: float) -> Series:
    """Return the payments for a part, with its letter in each column that has room for it."""
    letter, colour = PARTS.get(part.name, ("\u00b7", 0))
    label = Label(letter, colour=pen_on(COLOURS[colour]))
    labels = [label if abs(value) > LETTER_SHARE * tallest else None for value in part.yearly]
    return Series(f"{letter}  {part.name}", COLOURS[colour], part.yearly, labels=labels, at="ctr")


def signed(amount: float) -> str:
    """An amount as a difference."""
    if abs(amount) < 0.5:
        return "\u00b10"
    sign = "+" if amount > 0 else "\u2212"
    return f"{sign}{short_number(abs(amount))}"


def alternatives_slide(deck: Deck) -> Iterator[Slide]:
    """This design and its alternatives, priced on the same basis, with each cost difference."""
    costs, choices = deck.plan.costs, deck.summary.choices[:MOST_CHOICES]
    if costs is None or not choices:
        return
    silos = [choice.difference for choice in choices if choice.key == "silos" and choice.difference > 0]
    titles = [said("deck.choices.silos", more=headline_money(more, costs.currency)) for more in silos[:1]]
    cheaper = sum(choice.difference < 0 for choice in choices)
    key = "deck.choices.title" if cheaper else "deck.choices.none"
    titles.append(said(key, count=len(choices), cheaper=cheaper))
    given_up = [f"{choice.name}: {choice.gives_up}" for choice in choices if choice.gives_up]
    current = Label(rounded_money(costs.net_present)[0])
    bars = [(cut(said("deck.choices.this"), SMALL, 280), costs.net_present, deck.brand.accent, current)]
    for choice in choices:
        money = rounded_money(choice.net_present)[0]
        label = said("deck.choices.label", money=money, difference=signed(choice.difference))
        bars.append((cut(choice.name, SMALL, 280), choice.net_present, "", Label(label, bold=False)))
    names, values, colours, labels = zip(*sorted(bars, key=lambda each: -each[1]), strict=True)
    name = said("deck.choices.series", currency=costs.currency, years=costs.years)
    series = Series(name, "AEB6C2", values, colours=colours, labels=labels)
    about = said("deck.choices.about", years=costs.years)
    chart = Chart(about, names, [series], (50, 50), end=1.4 * max(values))
    yield Slide(titles, chart, ("cost.net_present",), more=[said("deck.choices.alike"), *given_up])


def drivers_slide(deck: Deck) -> Iterator[Slide]:
    """The assumptions that move the cost most, at their low and at their high end."""
    costs, strongest = deck.plan.costs, deck.summary.drivers[:MOST_DRIVERS]
    if costs is None or not strongest:
        return
    first, rows, now = strongest[0], strongest[::-1], costs.net_present
    low, high = (rounded_money(end)[0] for end in (first.cost_low, first.cost_high))
    name = _driver_name(deck, first.label)
    title = said("deck.drivers.title", name=name, low=low, high=high, currency=costs.currency)
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
    chart = Chart(
        about, names, series, (90, 52), gap=55, overlap=100, legend="b", start=-1.5 * most, end=1.5 * most
    )
    note = said("deck.drivers.from", money=headline_money(now, costs.currency), years=costs.years)
    foot = Words([note], SMALL, quiet=True)
    yield Slide([title, said("deck.drivers.short")], chart, more=more, foot=foot)


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


def growth_slide(deck: Deck) -> Iterator[Slide]:
    """Hosts and GPUs by year; without growth, power and space."""
    costs = deck.plan.costs
    if costs is None or costs.hosts[-1] <= costs.hosts[0]:
        yield from _power_slide(deck)
        return
    growing = [group for group in deck.plan.scenario.groups if group.growth]
    groups = [said("deck.growth.group", name=group.name, share=group.growth) for group in growing]
    series = [
        Series(said("deck.growth.hosts"), deck.brand.accent, costs.hosts, "#,##0"),
        Series(said("deck.growth.gpus"), OKABE_ITO[1], costs.gpus, "#,##0"),
    ]
    about, years = said("deck.growth.about"), year_names(costs)[1:]
    chart = Chart(about, years, series, kind="COLUMN_CLUSTERED", gap=60, overlap=-8, legend="b")
    title = said("deck.growth.title", first=costs.hosts[0], last=costs.hosts[-1], year=costs.years)
    keys, bought = ("totals.hosts", "cost.net_present"), purchases(deck.plan).notes[:1]
    yield Slide([title], chart, keys, more=[said("deck.growth.how"), *groups, *bought])


def _power_slide(deck: Deck) -> Iterator[Slide]:
    use = deck.plan.power
    if use is None:
        return
    bars = {
        "deck.power.cooled": use.facility_w,
        "deck.power.peak": use.peak_w,
        "deck.power.typical": use.typical_w,
    }
    unit, pattern = (1e6, '#,##0.00" MW"') if max(bars.values()) >= 999_950 else (1e3, '#,##0.0" kW"')
    shown = [round(value / unit, 3) for value in bars.values()]
    series = Series(said("deck.power.series"), deck.brand.accent, shown, pattern)
    key = "deck.power.title" if use.racks else "deck.power.title beyond"
    title = said(key, use=use)
    keys = ("power.typical", "power.peak", "power.facility", "power.racks")
    more = [said("deck.cost.excludes", names="; ".join(use.excludes))] if use.excludes else []
    racks = number(use.racks) if use.racks else "\u2013"
    peaks = sorted(kind.peak_w for kind in use.kinds.values())
    each, host = said("deck.power.each", use=use), watts(peaks[0])
    if peaks[1:]:
        ends = {"low": watts(peaks[0]), "high": watts(peaks[-1])}
        each, host = said("deck.power.kinds apart"), said("deck.power.host of kinds", **ends)
    tiles = deck.figures.tiles("power", racks=racks, each=each, host=host)
    chart = Chart(said("deck.power.about"), [*map(said, bars)], [series])
    yield Slide([title], chart, keys, more=more, foot=Tiles([Tile(*tile) for tile in tiles]), gap=20)
