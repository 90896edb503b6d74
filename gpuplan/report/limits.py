"""Limits in words and as a drawing: which the design keeps, exceeds or leaves open, and by how much, for documents, slides and workbook."""

from gpuplan.analysis.mending import mendings
from gpuplan.plan import Plan
from gpuplan.plan.limits import Within, limit_words
from gpuplan.report.drawing import EDGE, INK, LINE, PALE, SIZE, SOFT, WHITE, WIDTH, Area, Drawing
from gpuplan.wording import headline_money, is_currency, joined, said

KEPT, OVER, OPEN = "#009e73", "#b3261e", "#8f5200"
INKS = {True: SOFT, False: OVER, None: OPEN}
"""Colours of a limit that is kept, of what is beyond one, and of one that is not known."""
ROW, BAR, NAMES_END, BARS_END = 30.0, 14.0, 182.0, 440.0
"""Height of a row and of its bar, and where the columns of names and of bars end."""
MOST_SHARE = 1.6
"""Largest share of a limit that is drawn to scale; what takes more ends there, and its words say how much."""


def limits_exceeded(plan: Plan) -> str:
    """Say which limits the design exceeds, and by how much; empty where it exceeds none."""
    limits = plan.within if plan.pools else ()
    over = [_over(plan, each) for each in limits if each.met is False]
    return said("limits.over", count=len(over), names=joined(over), of=len(limits)) if over else ""


def within_words(plan: Plan) -> str:
    """Say in a sentence or two which limits the design exceeds, by how much, and which are not confirmed."""
    texts, unknown = [limits_exceeded(plan)], [each.name for each in plan.within if each.met is None]
    if not texts[0]:
        kept = len(plan.within) - len(unknown)
        texts = [said("limits.kept" if kept else "limits.none known", count=kept, of=len(plan.within))]
    if unknown:
        texts.append(said("limits.unknown", names=joined(unknown)))
    return " ".join(texts)


def _over(plan: Plan, each: Within) -> str:
    """The name of a limit, and by how much the design exceeds it."""
    if not each.over:
        return each.name
    return said("limits.by", name=each.name, over=over_words(plan, each))


def over_words(plan: Plan, each: Within) -> str:
    """The excess over a limit, rounded for a headline."""
    if is_currency(each.unit) and each.over:
        return headline_money(each.over, each.unit)
    return limit_words(plan.catalog, each, each.over and float(f"{each.over:.3g}"))


def limit_state(plan: Plan, each: Within) -> str:
    """Say in a few words how far the design is within a limit."""
    over = over_words(plan, each)
    if each.met is False:
        return said("limits.state over", over=over) if over else said("limits.state missed")
    if each.share is None:
        return said("limits.state within" if each.met else "limits.state not known")
    return said("limits.state share" if each.met else "limits.state open", share=each.share)


def mending_sentences(plan: Plan) -> list[str]:
    """Say of each limit that the design exceeds which single change keeps it, or comes nearest."""
    changes = mendings(plan)
    names = {each.key: each.name for each in plan.within if each.key in changes}
    words = {key: change.sentence if (change := changes[key]) else said("mending.none") for key in names}
    return [said("limits.mending", name=names[key], words=text) for key, text in words.items()]


def limits_svg(plan: Plan) -> str | None:
    """Draw each limit as a bar that ends where the design does, with one line for all limits; None without any."""
    if not plan.pools or not plan.within:
        return None
    drawing, top = Drawing(), LINE + 6.0
    most = min(MOST_SHARE, max(1.0, *(each.share or 0.0 for each in plan.within)))
    at = NAMES_END + (BARS_END - NAMES_END) / most
    drawing.text(at, SIZE, said("limits.line"), anchor="end" if most == 1 else "middle", fill=SOFT)
    for row, each in enumerate(plan.within):
        _row(drawing, plan, each, top + row * ROW, at, most)
    bottom = top + ROW * len(plan.within) - 8
    drawing.line(at, top - 4, at, bottom, stroke=INK, width=1.5)
    return drawing.svg(bottom + 6, said("limits.figure alt"))


def _row(drawing: Drawing, plan: Plan, each: Within, y: float, at: float, most: float) -> None:
    base, bar = y + BAR - 2, Area(NAMES_END, y, at - NAMES_END, BAR)
    drawing.text(0, base, each.name, room=NAMES_END - 8)
    if each.share is None and each.value is not None:  # makers, boards or a day
        value = limit_words(plan.catalog, each, each.value)
        drawing.text(NAMES_END, base, value, fill=SOFT, room=bar.wide - 8)
    else:
        drawing.box(bar, fill=PALE if each.met is not None else WHITE, dashed=each.met is None, rx=1)
    if each.share:
        colour = KEPT if each.met else EDGE
        drawing.box(bar._replace(wide=bar.wide * min(1.0, each.share)), fill=colour, stroke=colour, rx=1)
    if each.share and each.share > 1:
        drawing.box(Area(at, y, (min(most, each.share) - 1) * bar.wide, BAR), fill=OVER, stroke=OVER, rx=1)
    text, room = limit_state(plan, each), WIDTH - BARS_END - 10
    drawing.text(BARS_END + 10, base, text, fill=INKS[each.met], bold=each.met is False, room=room)
