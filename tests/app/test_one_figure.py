"""One figure once: all that the tabs show of a quantity is the plan's, in one form, and no tab contradicts another."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from random_cases import cases, of_the_day

pytest.importorskip("ipywidgets")

from gpuplan.app.cards import Box, Card, Place
from gpuplan.app.header import head_data
from gpuplan.app.screen import PAGES
from gpuplan.app.state import Workbook
from gpuplan.app.strip import strip_data
from gpuplan.catalog import Catalog
from gpuplan.report.figures import open_points
from gpuplan.scenario import ScenarioError, from_dict, load_scenario

NUMBER = re.compile(r"(?<![\w.,\u202f])\d[\d\u202f]*(?:\.\d+)?")
SCALES = {"k": 1e3, "M": 1e6, "bn": 1e9, "kW": 1e3, "MW": 1e6}
UNGROUPED = re.compile(
    r"^\d{4,}$|(?<![\w.,\u202f-])\d{4,}(?= (?:hosts?|GPUs?|VMs?|users?|W|kW|h|tokens?|GiB|GB|jobs?|MW|requests?)\b)"
)
NOT_SHOWN = ("path", "href", "rest", "fragment", "options", "svg", "id", "value")
"""Keys of data that nobody reads: what a script needs, and values as they are typed."""


def cards(place: Place) -> Iterator[Card]:
    if isinstance(place, Box):
        for child in place.children:
            yield from cards(child)
    elif isinstance(place, Card):
        yield place


def shown(book: Workbook) -> Iterator[tuple[str, Any]]:
    """The data of the strip, and of each card of each tab."""
    yield "strip", strip_data(book)
    for step, page in PAGES.items():
        yield step, head_data(book, step, page)
        for tab in page.tabs:
            for card in cards(tab.content):
                yield f"{step}/{tab.name}/{card.name}", card.data(book)


def texts(data: Any) -> Iterator[str]:
    """All texts of the data that are read."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key not in NOT_SHOWN:
                yield from texts(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from texts(value)
    elif isinstance(data, str):
        yield data


def traced(data: Any) -> Iterator[tuple[str, str]]:
    """(key of a line, the text that is shown for it)."""
    if isinstance(data, Mapping):
        text = data.get("text", data.get("value"))
        if isinstance(data.get("key"), str) and isinstance(text, str):
            yield data["key"], text
        for value in data.values():
            yield from traced(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from traced(value)


def says(text: str, value: float) -> bool:
    """True if the first number of a text is a value, as rounded as it is shown: also in per cent, or whole ones of a part."""
    found = NUMBER.search(text)
    if found is None:
        return True
    digits, scale = found[0].replace("\u202f", ""), SCALES.get(text[found.end() :].strip().split(" ")[0], 1.0)
    step = 10 ** -len(digits.partition(".")[2]) * scale
    if re.match("under|less|over|[<>]", text):
        return text.startswith(("over", ">")) or abs(value) <= float(digits)
    wanted = [
        value,
        100 * value,
        100 / value if value else 0,
        -(-value // 1),
        60 * value,
        value / 60,
        value / 1000,
    ]
    apart = [(abs(float(digits) * scale - abs(one)), abs(one)) for one in wanted]
    return any(each <= max(0.51 * step, 0.005 * size) + 1e-9 for each, size in apart)  # three digits at least


def contradictions(book: Workbook) -> list[str]:
    """What the tabs say that is not the plan's, or not in one form."""
    plan, found, forms = book.plan, [], defaultdict[str, set[str]](set)
    stops, warns, _ = open_points(plan, book.messages)
    existing = sum(pool.existing_hosts for pool in plan.pools)
    bought = plan.totals.hosts - existing
    shares = plan.scenario.demand.rule not in ("sum", "stated")
    for where, data in shown(book):
        for key, text in traced(data):
            line = plan.lines.get(key)
            if line is None or isinstance(line.value, str | bool) or not where.count("/"):
                continue
            if not says(text, float(line.value)):
                found.append(f"{where}: {key} is {line.value}, and is shown as {text!r}")
            if not re.search(r"\d\s?(k|M|bn)\b|\u00d7|%", text) and (number := NUMBER.search(text)):
                forms[key].add(number[0])
        for text in texts(data):
            found += [
                f"{where}: {text[:80]!r} without thousands"
                for _ in UNGROUPED.findall(text)
                if not YEAR.match(text)
            ]
            for count in re.findall(r"design buys (\d+) hosts?", text):
                found += [f"{where}: {text!r}, and {bought} are new"] * (int(count) != bought)
            if bought and re.search(r"no host is bought", text):
                found.append(f"{where}: {text!r}, and {bought} are new")
            if re.search(r"ifferent hours save \d", text) and not shares:
                found.append(f"{where}: {text!r}, and the peaks are added")
            if re.search(r"nothing left to confirm", text) and stops + warns:
                found.append(f"{where}: {text!r}")
    return found + [f"{key} is shown as {sorted(one)}" for key, one in forms.items() if len(one) > 1]


YEAR = re.compile(r"(19|20)\d\d$")


@pytest.mark.slow
@pytest.mark.parametrize("example", of_the_day(["starter", "current", "assistant", "enterprise"], few=2))
def test_each_figure_of_an_example_is_the_plans(catalog: Catalog, example: str) -> None:
    assert not (found := contradictions(Workbook(catalog, load_scenario(example)))), "\n".join(found)


def drawn(rng: Any, catalog: Catalog) -> dict[str, Any]:
    """A design with hosts there, hours, and numbers with thousands."""
    groups = []
    for at in range(rng.randint(1, 4)):
        group = {
            "id": f"g{at}",
            "name": f"Group {at}",
            "people": rng.choice((3, 40, 300)),
            "active_share": rng.choice((0.1, 0.5, 1)),
        }
        group |= {
            "gpus_each": rng.choice((1, 2, "1/4")),
            "hours": rng.choice((None, "09:00-17:00", "20:00-06:00")),
        }
        groups.append(group)
    hardware = {"gpu": rng.choice(list(catalog.gpus)), "gpus_per_host": rng.choice((4, 8))}
    hardware["existing"] = rng.choice((None, "3 hosts", "old: 2 x 4; 5 hosts"))
    return {
        "groups": groups,
        "hardware": hardware,
        "demand": {"rule": rng.choice(("sum", "hours", "denied"))},
        "availability": {"host_failures": rng.choice((0, 1, 2))},
    }


@pytest.mark.slow
def test_each_figure_of_random_designs_is_the_plans(catalog: Catalog) -> None:
    for rng in cases(42_4, 50, few=2):
        try:
            book = Workbook(catalog, from_dict(drawn(rng, catalog)))
        except ScenarioError:
            continue
        assert not (found := contradictions(book)), "\n".join([str(book.scenario.to_dict()), *found])
