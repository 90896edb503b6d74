"""Every step as a screen: its first tab fits and fills half of it, no other is longer than two, nothing scrolls sideways, and axe finds nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, caught_up, finished, go, open_tab, take, until
from random_cases import of_the_day

from gpuplan import load_scenario
from gpuplan.analysis.compare import model_name
from gpuplan.app.screen import PAGES
from gpuplan.app.state import STEPS
from gpuplan.catalog import Catalog
from gpuplan.wording import NOUNS, unit_of

pytestmark = pytest.mark.browser
SCREEN = {"width": 1280, "height": 800}
SIZE = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
CARDS_END = """() => Math.max(...[...document.querySelectorAll(".gp-page .gp-card")].map((each) => each.getBoundingClientRect().bottom))"""
"""JavaScript: where the last card of a tab ends."""
EXAMPLES = ("starter", "enterprise", "current", "assistant")


def tabs() -> list[tuple[str, str]]:
    """Every tab of every step, the first of each step first."""
    return [(step, tab.name) for step, _ in STEPS if step != "start" for tab in PAGES[step].tabs]


def enter(page: Any, step: str, tab: str) -> None:
    """Go to a tab."""
    if not page.locator(f'.gp-head[data-step="{step}"]').count():
        go(page, step)
    if at(page, f"tab-{tab}").count():
        open_tab(page, tab)
    caught_up(page)


@pytest.mark.parametrize("example", of_the_day(EXAMPLES, 1))
def test_the_first_tab_of_each_step_is_one_screen_and_no_other_is_longer_than_two(
    visit: Any, example: str
) -> None:
    page = visit.page
    page.set_viewport_size(SCREEN)
    take(page, example)
    shown = set()
    for step, tab in tabs():
        enter(page, step, tab)
        wide, tall = page.evaluate(SIZE)
        assert wide <= SCREEN["width"], (step, tab)
        assert tall <= SCREEN["height"] * (2 if step in shown else 1), (step, tab, tall)
        assert step in shown or page.evaluate(CARDS_END) > SCREEN["height"] / 2, (step, tab)
        shown.add(step)


MOST_WORDS = 120
SEEN = """() => { const found = [], walk = document.createTreeWalker(document.querySelector(".gp-work"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) { const node = walk.currentNode, range = document.createRange();
    if (node.parentElement.closest("select, .gp-hidden, .gp-chip, .gp-host, .gp-figures, nav") || !node.parentElement.checkVisibility({ visibilityProperty: true })) continue;
    range.selectNodeContents(node);
    if (range.getClientRects().length) found.push(node.data.trim()); }
  return found.filter((text) => text.length > 1).map((text) => text.replaceAll("\u00a0", " ")); }"""
"""JavaScript: each text that can be read on a step's page, without lists of choices, letters of workloads and what is on hosts."""
UNITS = (
    *NOUNS,
    *(unit_of(2, noun) for noun in NOUNS),
    "[kM]",
    "bn",
    "%",
    "[x\u00d7]",
    "[kM]?Wh?",
    "G(?:B/s|bit/s|iB|B)",
    "h",
    "min",
    "m?s",
    "\u00b5s",
)
"""What stands behind a number and is part of the figure; a currency before it is, too."""
UNIT = rf"(?:\s?(?:{'|'.join(sorted(UNITS, key=len, reverse=True))})(?!\w))*"
NUMBER = r"[<>~+\u2212-]?\s?\d[\d\u202f.,:/]*"
FIGURE = re.compile(
    rf"(?:\b[A-Z]{{3}}\s)?{NUMBER}{UNIT}(?:(?:\sto\s|\u2013|\sof\s){NUMBER}{UNIT})*|\b(?:USD|EUR)\b"
)
CODE = re.compile(r"(?<!\w)[^\W\d]+[+-]?\d[\w-]*")
"""A word with a digit, such as N+1 or a profile."""
WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:[\u2019'/-][^\W\d_]+)*(?!\w)")


def named(example: str, catalog: Catalog) -> list[str]:
    """Names that a design shows: its own, of its workloads, places, boards, servers, switches, software and language models."""
    scenario = load_scenario(example)
    hardware = (*catalog.gpus.values(), *catalog.servers.values(), *catalog.switches.values())
    names = {
        scenario.name,
        scenario.customer,
        *(each.name for each in (*scenario.groups, *catalog.products.values())),
    }
    names |= {name for each in hardware for name in (each.name, model_name(each.name))}
    models = [model for each in scenario.groups for model in (each.model, each.reranker) if model]
    names |= {str(catalog.row("llm_models", model)["name"]) for model in models}
    names |= {place for each in scenario.groups for place in re.findall(r"[^\W\d]+", each.sites or "")}
    return sorted(filter(None, names), key=len, reverse=True)


def words(texts: list[str], names: list[str]) -> list[str]:
    """The words of texts, besides names and figures."""
    known = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
    return [
        word for text in texts for word in WORD.findall(FIGURE.sub(" ", CODE.sub(" ", known.sub(" ", text))))
    ]


@pytest.mark.parametrize("example", of_the_day(EXAMPLES, 1))
def test_the_first_tab_of_each_step_has_at_most_120_words(visit: Any, catalog: Catalog, example: str) -> None:
    """Besides names and figures.

    Counted is each word that can be seen on the page of the step, below the strip and beside the list of steps: its headline,
    its tabs, labels, buttons, charts and tables. Not counted are what is folded or in a list of choices, the tiles of the hosts,
    names (of the design, workloads, places, boards, servers, switches, software and language models), numbers with their units
    or with the noun that they count, and words with a digit, such as a profile.
    """
    page, names, found = visit.page, named(example, catalog), dict[str, list[str]]()
    page.set_viewport_size(SCREEN)
    take(page, example)
    for step, _ in STEPS[1:]:
        enter(page, step, PAGES[step].tabs[0].name)
        finished(page)
        found[step] = words(page.evaluate(SEEN), names)
    long = {f"{step}, {len(said)}": " ".join(said) for step, said in found.items() if len(said) > MOST_WORDS}
    assert not long, "\n".join(f"{step} words: {said}" for step, said in long.items())


PHONE = {"width": 390, "height": 844}
SMALL = """() => [...document.querySelectorAll(".gp-acts > button, nav button, .gp-tabs button, .gp-page :is(select, .gp-field input)")]
  .filter((each) => each.offsetParent && !["checkbox", "radio", "range"].includes(each.type))
  .filter((each) => each.getBoundingClientRect().height < 44).map((each) => each.outerHTML.slice(0, 120))"""
"""JavaScript: what a finger would miss of what is pressed or filled in."""


@pytest.mark.parametrize("example", of_the_day(EXAMPLES, 1))
def test_a_phone_shows_every_step_without_scrolling_sideways_and_its_fields_are_for_fingers(
    visit: Any, example: str
) -> None:
    page = visit.page
    page.set_viewport_size(PHONE)
    take(page, example)
    for step, _ in STEPS[1:]:
        enter(page, step, PAGES[step].tabs[0].name)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"], step
        assert page.evaluate(SMALL) == [], step
    assert at(page, "totals.unplaced_vms_after_failure").locator(".gp-figure-note").is_visible()


BACKGROUND = "getComputedStyle(document.querySelector('.gp-app')).backgroundColor"
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
PHONE_RULES = {"rules": {"scrollable-region-focusable": {"enabled": False}}}
"""A browser itself lets the focus enter what scrolls."""


@pytest.mark.by_day("axe", 3)
@pytest.mark.parametrize("example", ["enterprise", "assistant"])
def test_axe_finds_nothing_on_any_tab(audited: Callable[[str, int], Any], example: str) -> None:
    """Some of the tabs each day, all at night, on a screen and a phone; in dark only the colours are others, in between only the widths."""
    opened = audited("light", 1280)
    page = opened.page
    assert opened.faults() == []
    take(page, example)
    for step, tab in of_the_day(tabs(), 8):
        enter(page, step, tab)
        opened.unfold()
        for width in (820, 1920):
            page.set_viewport_size({"width": width, "height": 800})
            caught_up(page)
            assert page.evaluate(SIZE)[0] <= width, (step, tab)
        for width, rules in ((390, PHONE_RULES), (1280, {})):
            page.set_viewport_size({"width": width, "height": 844})
            for background, only in (("rgb(16, 21, 29)", COLOURS), ("rgb(245, 246, 248)", rules)):
                at(page, "theme").click()
                until(page, BACKGROUND, background)
                caught_up(page)
                assert opened.faults(**only) == [], (step, tab, width, background)
