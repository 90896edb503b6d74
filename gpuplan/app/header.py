"""The frame around every step: the bar, the list of steps, the head of a step, the drawer with explanations."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from gpuplan.analysis.mending import MISSES, mendings, with_mendings
from gpuplan.app.cards import Page, attributes, paragraph, plain, source_titles, visit
from gpuplan.app.forms import Found, form, place_of
from gpuplan.app.state import STEPS, Before, Workbook
from gpuplan.app.strip import COST, MONEY, OF_BOARDS, OF_HOSTS, PLACEMENT
from gpuplan.facts import own_rows
from gpuplan.locales import LOCALES, PLAIN, written_day
from gpuplan.plan import Plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.cost import Costs
from gpuplan.plan.known import unconfirmed
from gpuplan.plan.limits import NAMED, Within, in_words
from gpuplan.plan.prices import Price, Unknown
from gpuplan.report import amount, explain, number, percent
from gpuplan.report.figures import Figures, as_of, cost_figures
from gpuplan.report.tables.known import stated_at
from gpuplan.report.tables.plan import KEPT
from gpuplan.scenario import Internal, Limits, field_of
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, capital, money, said, short_watts

GLOSSARY = "glossary"
"""Key of the drawer while it shows the list of terms."""
CHANCES = ("totals.waiting", "totals.waiting_after_failure")
"""Lines that are probabilities: they are shown in per cent."""
POWER = "power.typical"
LIMITS_OF = {COST: MONEY, "totals.hosts": OF_HOSTS, "totals.gpus": OF_BOARDS}
"""Figure of the strip -> the limits that its explanation shows."""
MOST_TITLES = 3
SHOWN = tuple(step for step, _ in STEPS if step not in ("start", "deliver"))


def glossary_data(workbook: Workbook) -> contract.Glossary:
    """Return all terms; they are the same in every design, so they are sent once."""
    return {"terms": [_term(workbook, row) for row in own_rows("words/glossary")]}


def _term(workbook: Workbook, row: Mapping[str, str]) -> contract.Term:
    """Return a term of the field: with a capital letter, unless it has its own spelling, then other spellings and synonyms."""
    name = row["term"]
    names = [name, *filter(None, row["also"].split("; "))]
    sources = source_titles(workbook, row["sources"].split())
    term = capital(name) if name.split()[0].islower() else name
    return {"term": term, "names": names, "meaning": row["meaning"], "sources": sources}


@partial(form, "format")
def settings(workbook: Workbook) -> dict[str, Any]:
    """Ask how numbers, money and paper are, with an example."""
    chosen, papers, currency = workbook.seen.format, NAMES["format.paper"], workbook.seen.cost.currency
    paper = LOCALES[chosen.locale].paper if chosen.locale else PLAIN.paper
    options = {
        "format.locale": [("", PLAIN.name), *((locale.id, locale.name) for locale in LOCALES.values())],
        "format.paper": [("", said("screen.default", name=papers[paper])), *papers.items()],
    }
    rate = "1" if currency == "USD" else said("screen.cost.how many", currency=currency)
    example = {
        "number": 12_500.5,
        "money": money(2_400_000, currency),
        "day": written_day(as_of(workbook.plan)),
    }
    text = said("screen.bar.example", **example)
    return {"options": options, "empties": {"cost.usd_rate": rate}, "text": text}


def bar_data(workbook: Workbook) -> dict[str, Any]:
    """Return brand, name of the design, and the actions on it."""
    level, text = workbook.notice
    return {
        "name": workbook.scenario.name if workbook.started else "",
        "name_problem": workbook.problem_of("name"),
        "can_undo": workbook.can_undo,
        "can_redo": workbook.can_redo,
        "undo": workbook.undo_words,
        "redo": workbook.redo_words,
        "started": workbook.started,
        "notice": {"level": level, "text": text},
        "fragment": workbook.fragment() if workbook.started else "",
        "customer": workbook.customer,
        "internal": workbook.scenario.internal != Internal(),
        "share": workbook.fragment(customer=True) if workbook.started and workbook.customer else "",
        "recent": _recent(workbook),
        "settings": settings.data(workbook),
    }


def _recent(workbook: Workbook) -> contract.Recent | None:
    """Return by what the browser lists the design; nothing while a text is typed, or for a customer."""
    if not workbook.started or workbook.customer or workbook.typing:
        return None
    plan = workbook.plan
    figures, verdict = Figures(plan), plan.unchecked().verdict
    shown = {"hosts": number(plan.totals.hosts), "gpus": number(plan.totals.gpus), "model": figures.board}
    shown |= {
        "cost": figures.cost.price if figures.cost else "",
        "state": verdict.short,
        "tone": verdict.tone,
    }
    of: dict[str, Any] = {"design": workbook.design, "customer": workbook.scenario.customer}
    return of | (dict.fromkeys(shown, "") if workbook.stale else shown)  # type: ignore[return-value]


def _chance(percentage: float) -> str:
    return percent(percentage / 100).replace("under ", "< ").replace("over ", "> ")


SHORT: Mapping[str, Callable[[float], str]] = {**dict.fromkeys(CHANCES, _chance), POWER: short_watts}


def nav_data(workbook: Workbook) -> contract.Nav:
    """Return the steps, and the current one."""
    wrong = {place_of(path).step: said("screen.has an error") for path in workbook.wrong}
    steps = [contract.Step(id=step, title=title, error=wrong.get(step, "")) for step, title in STEPS]
    return {"current": workbook.step, "glossary": workbook.drawer == GLOSSARY, "steps": steps}


def head_data(workbook: Workbook, step: str, page: Page) -> contract.HeadData:
    """Return the message of a step, and its tabs."""
    if step == "start":
        return {}
    sentence, about = page.message(workbook)
    places = [place_of(path) for path in workbook.wrong]
    wrong = {place.tab: said("screen.has an error") for place in places if place.step == step}
    shown = page.tab(workbook.tabs.get(step, ""))
    met = {"": True, "workloads": workbook.plan.groups, "hosts": workbook.plan.pools}
    clicked = workbook.plan.groups if step == "usecases" else workbook.plan.pools
    return {
        "step": step,
        "title": dict(STEPS)[step],
        "sentence": sentence,
        "about": about,
        "assumed": _assumed(workbook, Found(step, shown.name)),
        "stale": workbook.stale,
        "hint": NAMES["hint of a step"].get(step, "") if clicked and not workbook.customer else "",
        "tab": shown.name,
        "nothing": "" if met[shown.needs] else NAMES["what a tab is empty without"][shown.needs],
        "tabs": [
            {
                "name": tab.name,
                "title": tab.title,
                "badge": tab.badge(workbook),
                "error": wrong.get(tab.name, ""),
            }
            for tab in page.tabs
        ],
    }


def _assumed(workbook: Workbook, at: Found) -> str:
    """Count the assumptions behind the numbers, and those of them that are inputs of a tab; empty without any."""
    plan = workbook.plan
    keys = [key for key, _ in unconfirmed(plan)]
    if not keys:
        return ""
    paths = (path for key in keys if (path := stated_at(plan, key)))
    here = workbook.once("places of assumptions", lambda: Counter(map(place_of, paths)))[at]
    return said("screen.assumed here" if here else "screen.assumed in all", here=here, all=len(keys))


def drawer_data(workbook: Workbook, widget: str = "") -> dict[str, Any]:
    """Return the explanation of a number, the messages about the plan, or the list of terms; in the widget that was asked."""
    asked = not widget or workbook.asked_in in ("", widget)
    plan, key = workbook.plan, workbook.drawer if asked else ""
    if key == GLOSSARY:
        return {"kind": "glossary", "title": said("screen.why.glossary")}
    if key == "messages":
        listed = [message_data(workbook, message) for message in _with_mendings(workbook)]
        about = {"title": said("screen.why.messages"), "limits": limit_bars(plan, Limits.__slots__)}
        return {"kind": "messages", "messages": listed, **about}
    if key not in plan.lines:
        return {"kind": "closed"}
    why = explain(plan, key)
    down = workbook.step == "hosts" and (any(workbook.failed.values()) or any(workbook.maintenance.values()))
    # the strip shows the figure with some hosts down
    question = "screen.why.running" if down and key in (PLACEMENT, "totals.gpus") else "screen.why.title"
    return attributes(why, "label", "sentence", "formula", "basis", "basis_text", "function") | {
        "kind": "why",
        "key": key,
        "title": said(question, value=_shown(plan, key, why.value)),
        "more": _more(workbook.checked, key),
        "limits": limit_bars(plan, LIMITS_OF.get(key, ())),
        "inputs": [attributes(item, "label", "value", "known", "basis", "key") for item in why.inputs],
        "sources": [attributes(item, "title", "url", "where") for item in why.sources],
    }


def limit_bars(plan: Plan, keys: Collection[str]) -> list[contract.Limit]:
    """Return how far the design is within each of these limits that is set."""
    return [_bar(each, **in_words(plan.catalog, each)) for each in plan.within if each.key in keys]


def _bar(each: Within, limit: str, value: str, over: str) -> contract.Limit:
    listed, found = each.key in NAMED, said("screen.limit.of", value=value, limit=limit)
    return {
        "name": each.name,
        "path": f"limits.{each.key}",
        "text": value if listed else found if value else limit,
        "tone": KEPT[each.met],
        "share": each.share,
        "over": said("screen.limit.over", over=over)
        if each.over
        else NAMES["mark of a limit"][str(each.met)],
        "why": said("screen.limit.allowed", limit=limit) if listed else each.why,
    }


def _with_mendings(workbook: Workbook) -> list[Message]:
    """Return the messages, each on a limit or a target that is missed with the change that mends it; until that is found, with a note."""
    if not any(message.code in MISSES for message in workbook.messages):
        return list(workbook.messages)
    return with_mendings(workbook.messages, workbook.later("mendings", mendings))


def _shown(plan: Plan, key: str, value: str) -> str:
    if key == PLACEMENT:
        return plan.unchecked().verdict.short.lower()
    if key == COST and (cost := cost_figures(plan)):
        return cost.price
    return SHORT[key](plan.lines[key].value) if key in SHORT else value


def _more(plan: Plan, key: str) -> list[contract.Piece]:
    """Add to a number: placement in a sentence, the peak to typical power, the items a cost leaves out."""
    if key == PLACEMENT:
        return plain(plan.verdict.sentence)
    if key == POWER and plan.power is not None:
        return paragraph("screen.why.peak", peak=_linked(plan.power.peak_w, "W", "power.peak"))
    if key == "totals.gpus":
        left = _linked(plan.totals.gpus_after_failure, "GPU", "totals.gpus_after_failure")
        return paragraph("screen.why.after failures", left=left)
    if plan.costs is None or not plan.costs.excludes or key not in (COST, "cost.total"):
        return []
    return paragraph("screen.why.excludes", items=excluded(plan.costs))


def _linked(value: float, unit: str, key: str) -> contract.Piece:
    return {"text": amount(round(value), unit), "key": key}


def excluded(costs: Costs) -> list[contract.Piece]:
    """List the items that a cost leaves out, each with a way to its price if that is missing."""
    items = [visit(item.name, f"prices.{item.key}") for item in costs.unknown]
    items += plain(*costs.not_counted)
    return [piece for item in items for piece in (*plain("; "), item)][1:]


def message_data(workbook: Workbook, message: Message) -> dict[str, Any]:
    """Return a message with a link to the input it concerns."""
    sources = workbook.plan.catalog.sources
    titles = list(dict.fromkeys(sources[source].title for source in message.sources if source in sources))
    left = len(titles) - MOST_TITLES
    return attributes(message, "level", "code", "text", "change", "path", "locator") | {
        "where": _where(workbook, message.path),
        "sources": [*titles[:MOST_TITLES], *([said("screen.more sources", left=left)] if left > 0 else [])],
    }


def _where(workbook: Workbook, path: str) -> str:
    if path in ("", "groups"):
        return dict(STEPS)["usecases"] if path else ""
    if path.startswith("prices.") and workbook.plan.costs is not None:
        return said("screen.price of", name=price_name(path.removeprefix("prices."), workbook.plan))
    return field_of(path).label


def paid_for(costs: Costs) -> list[Price | Unknown]:
    """List the items that a design pays for, with a known price or without one."""
    return [*costs.prices, *costs.unknown]


def price_name(key: str, *plans: Plan) -> str:
    """Return the name of the item that a price is for, as one of these designs calls it."""
    items = [item for plan in plans if plan.costs for item in paid_for(plan.costs)]
    return next((item.name for item in items if item.key == key), key)


def present(workbook: Workbook) -> None:
    """Begin to present, in the customer's view: at the tab on the screen if presented, at first tabs elsewhere."""
    if workbook.before_presenting is not None or not workbook.started:
        return
    workbook.before_presenting = Before(workbook.step, dict(workbook.tabs), workbook.customer)
    workbook.drawer = ""
    workbook.tabs = {step: tab for step, tab in workbook.tabs.items() if step == workbook.step}
    workbook.look_as(True)
    workbook.go(workbook.step if workbook.step in SHOWN else SHOWN[0])


def edit_again(workbook: Workbook) -> None:
    """Return to editing: to the earlier step, tabs and view."""
    before, workbook.before_presenting = workbook.before_presenting, None
    if before is None:
        return
    workbook.tabs = before.tabs
    workbook.look_as(before.customer)
    workbook.go(before.step)


def turn(workbook: Workbook, by: int) -> None:
    """Go to the next step, or to the one before."""
    if workbook.before_presenting is not None:
        at = SHOWN.index(workbook.step) + by if workbook.step in SHOWN else 0
        workbook.go(SHOWN[min(max(at, 0), len(SHOWN) - 1)])


def present_data(workbook: Workbook) -> contract.Present:
    """Return whether the workbook is being presented, and which step of how many is shown."""
    at = SHOWN.index(workbook.step) + 1 if workbook.step in SHOWN else 1
    on, step = workbook.before_presenting is not None, dict(STEPS)[workbook.step]
    return {"on": on, "name": workbook.scenario.name, "step": step, "at": at, "of": len(SHOWN)}
