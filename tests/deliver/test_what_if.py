"""The what-if page: at every position it says what `make_plan` says there, asks for nothing, and runs nothing that a name holds."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from approved import has_approved, is_approved
from branding import ACME
from random_cases import of_the_day

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.customer import customer_scenario
from gpuplan.catalog import Catalog
from gpuplan.deliver.brand import contrast_on_white
from gpuplan.deliver.what_if import Axis, Refused, WhatIf, what_if, what_if_page
from gpuplan.deliver.what_if.answers import size_positions
from gpuplan.deliver.what_if.page import DARK_CARD, marks_to, on_dark
from gpuplan.deliver.what_if.texts import signed
from gpuplan.locales import speaking
from gpuplan.scenario import Problem, Scenario
from gpuplan.wording import headline_money, money, number, watts

MOST_BYTES = 300_000
HOSTILE = (
    "</script><script>alert(1)</script>",
    '=HYPERLINK("http://example.com", "x")',
    "</style></title><b>&amp;<!--",
    '" onload="alert(1)',
    "\u05d0\u05d1\u05d2 \u202e" + "x" * 70,
)


def one_group(name: str = "", **values: Any) -> Scenario:
    """The starter example with one group of one user, which is planned quickly."""
    scenario = load_scenario("starter")
    group = scenario.groups[0]
    scenario = replace(scenario, groups=(replace(group, people=1, name=name or group.name),))
    for path, value in values.items():
        scenario = scenario.with_value(path.replace("__", "."), value)
    return scenario


@pytest.fixture(scope="module")
def found(catalog: Catalog) -> WhatIf:
    """The answers of a small design."""
    return what_if(make_plan(one_group(), catalog))


@pytest.fixture(scope="module")
def page(found: WhatIf) -> str:
    return what_if_page(found)


class Reader(HTMLParser):
    """Tags with their attributes, and what stands in scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and data.strip():
            self.scripts.append(data)


def shown(page: str, axes: tuple[Axis, ...], position: tuple[int, ...]) -> Mapping[str, str]:
    """What the script shows at a position, picked as it picks."""
    data = json.loads(re.findall(r'id="answers">(.*?)</script>', page, re.S)[0])
    at = 0
    for axis, value in zip(axes, position, strict=True):
        at = at * len(axis.values) + value
    return {key: data["texts"][n] for key, n in zip(data["fields"], data["answers"][at], strict=True)}


def stated(scenario: Scenario, axes: tuple[Axis, ...], position: tuple[int, ...]) -> Scenario:
    """The scenario of a position, with each input stated at its path."""
    for axis, at in zip(axes, position, strict=True):
        if at != axis.own:
            scenario = scenario.with_value(axis.path, axis.values[at])
    return scenario


def assert_says(told: Mapping[str, str], plan: Plan) -> None:
    """The figures and the table are those of a plan."""
    totals, costs, ranges, power = plan.totals, plan.costs, plan.cost_ranges, plan.power
    assert costs and ranges and power
    with speaking(plan.scenario.format.locale):
        low, high = ranges.net_present
        wanted = {
            "hosts": number(totals.hosts),
            "gpus": number(totals.gpus),
            "placed": plan.verdict.short,
            "placed-note": plan.verdict.note,
            "sentence": plan.verdict.proof,
            "power": watts(power.typical_w),
            "row-hosts": number(totals.hosts),
            "row-hosts_at_end": number(costs.hosts[-1]),
            "row-gpus": number(totals.gpus),
            "row-gpus_after_failure": number(totals.gpus_after_failure),
            "row-unplaced_after_failure": number(totals.unplaced_vms_after_failure),
            "row-net_present": money(costs.net_present, "").strip(),
            "row-low": money(low, "").strip(),
            "row-high": money(high, "").strip(),
            "row-upfront": money(costs.cash[0], "").strip(),
            "row-typical_w": watts(power.typical_w),
        }
        assert {key: told[key] for key in wanted} == wanted
        assert headline_money(costs.net_present, costs.currency, (low, high)) in told["headline"]


@pytest.mark.slow
@pytest.mark.parametrize("name", of_the_day(["starter", "current", "enterprise", "assistant"], few=1))
def test_every_position_says_what_its_plan_says(name: str, catalog: Catalog) -> None:
    told: list[tuple[int, int]] = []
    scenario = load_scenario(name)
    found = what_if(make_plan(scenario, catalog), lambda done, of: told.append((done, of)))
    page = what_if_page(found)
    every = list(itertools.product(*(range(len(axis.values)) for axis in found.axes)))
    assert list(found.answers) == every
    assert len(page.encode()) < MOST_BYTES
    assert [axis.kind for axis in found.axes] == ["people", "failures", "price"]
    corners = {(a, b, c) for a in (0, -1) for b in (0, -1) for c in (0, -1)}
    ends = {
        tuple(at % len(axis.values) for at, axis in zip(corner, found.axes, strict=True))
        for corner in corners
    }
    for position in sorted({*ends, *every[5::17], found.own}):
        assert_says(
            shown(page, found.axes, position), make_plan(stated(scenario, found.axes, position), catalog)
        )
    assert [done for done, _ in told] == list(range(1, len(told) + 1))
    assert len(told) <= told[0][1] and len({of for _, of in told}) == 1


def test_the_page_says_before_any_script_runs_what_the_design_says(page: str, found: WhatIf) -> None:
    told = shown(page, found.axes, found.own)
    assert_says(told, found.design)
    for key in ("headline", "hosts", "cost", "row-net_present"):
        assert html.escape(told[key]) in page
    assert {told[f"{key}-by"] for key in ("hosts", "gpus", "cost", "power")} == {"as designed"}


def test_differences_are_to_the_design(page: str, found: WhatIf, catalog: Catalog) -> None:
    position = (3, 2, 4)
    plan = make_plan(stated(found.scenario, found.axes, position), catalog)
    told = shown(page, found.axes, position)
    assert plan.costs and found.design.costs
    more = plan.costs.net_present - found.design.costs.net_present
    assert told["row-net_present-by"] == f"+{money(more, '').strip()}"
    assert told["row-hosts-by"] == f"+{plan.totals.hosts - found.design.totals.hosts}"
    assert told["row-hosts-by"] in told["hosts-by"] and str(found.design.totals.hosts) in told["hosts-by"]


def test_the_page_requests_nothing_and_runs_only_what_is_its_own(page: str) -> None:
    read = Reader(page)
    addresses = [
        value for _, attributes in read.tags for key, value in attributes.items() if key in ("src", "href")
    ]
    assert addresses == []
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\(|@import|fetch\(|XMLHttp|import\(", page)
    policy = next(attributes["content"] or "" for _, attributes in read.tags if "http-equiv" in attributes)
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert [attributes.get("type") for tag, attributes in read.tags if tag == "script"] == [
        "application/json",
        None,
    ]


def test_the_same_design_gives_the_same_bytes(page: str, catalog: Catalog) -> None:
    assert what_if_page(what_if(make_plan(one_group(), catalog))) == page


def test_every_input_is_labelled_and_every_section_has_a_name(page: str) -> None:
    tags = Reader(page).tags
    labelled = {attributes.get("for") for tag, attributes in tags if tag == "label"}
    assert labelled == {attributes["id"] for tag, attributes in tags if tag == "input"} != set()
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in tags:
        if tag == "section":
            assert attributes.get("aria-label") or attributes["aria-labelledby"] in ids


@pytest.mark.parametrize("text", HOSTILE)
def test_names_are_harmless(found: WhatIf, text: str) -> None:
    scenario = replace(one_group(text), name=text, customer=text)
    design = Plan(scenario, found.design.catalog)
    axes = tuple(replace(axis, name=text) if axis.kind == "people" else axis for axis in found.axes)
    printable = text.replace("\u202e", "")  # a brand file takes no other
    brand = replace(ACME, name=printable, footer=printable, logo=b"")
    page = what_if_page(WhatIf(design, axes, found.answers), brand=brand)
    read = Reader(page)
    assert [tag for tag, _ in read.tags].count("script") == 2 and len(read.scripts) == 2
    assert not {"b", "link", "iframe"} & {tag for tag, _ in read.tags}
    assert not any(key.startswith("on") for _, attributes in read.tags for key in attributes)
    assert "<" not in read.scripts[0]
    json.loads(read.scripts[0])
    assert "\u202e" not in page


def test_a_brand_gives_its_colours_fonts_logo_and_footer(found: WhatIf) -> None:
    page = what_if_page(found, brand=ACME)
    assert "--accent: #7A1F3D" in page and f"--accent: #{on_dark(ACME.accent)}" in page
    assert '"Verdana"' in page and '"Georgia"' in page and ACME.footer in page
    images = [attributes for tag, attributes in Reader(page).tags if tag == "img"]
    assert [image["alt"] for image in images] == ["ACME Systems"]
    assert all((image["src"] or "").startswith("data:image/png;base64,") for image in images)


@pytest.mark.parametrize("accent", ["0B5CAD", "7A1F3D", "000000"])
def test_an_accent_is_read_on_dark(accent: str) -> None:
    assert contrast_on_white(DARK_CARD) / contrast_on_white(on_dark(accent)) >= 5.5


def test_the_customer_learns_neither_purchase_price_nor_margin(catalog: Catalog) -> None:
    ours = make_plan(one_group(internal__margin=0.2), catalog)
    theirs = make_plan(customer_scenario(ours.scenario, catalog), catalog)
    for_us = what_if(ours)
    page, internal = what_if_page(what_if(theirs)), what_if_page(for_us)
    bought = for_us.axes[-1]
    purchase = money(bought.values[bought.own], "USD")
    assert bought.bought and "Purchase price" in internal and purchase in internal
    assert "Purchase price" not in page and purchase not in page
    assert ours.costs and theirs.costs
    for each in (page, internal):
        assert money(theirs.costs.net_present, "").strip() in each


def test_a_position_that_cannot_be_planned_says_why(found: WhatIf) -> None:
    position = (3, 3, 0)
    problem = Problem("availability.host_failures", "3", "at most 2")
    refused = replace(found, answers=dict(found.answers) | {position: Refused((problem,))})
    told = shown(what_if_page(refused), found.axes, position)
    assert is_approved(told["headline"])
    assert has_approved(told["sentence"], "3", "2")
    assert (told["tone"], told["hosts"], told["row-net_present"]) == ("bad", "\u2013", "\u2013")


def test_a_stated_total_is_moved_where_no_workload_is_described(catalog: Catalog) -> None:
    scenario = replace(load_scenario("starter"), groups=()).with_value("demand.stated_gpus", 2)
    found = what_if(make_plan(scenario, catalog))
    assert (found.axes[0].kind, found.axes[0].path) == ("total", "demand.stated_gpus")
    assert "a demand of 2 GPUs" in shown(what_if_page(found), found.axes, found.own)["headline"]


def test_a_design_without_workloads_has_a_page(catalog: Catalog) -> None:
    found = what_if(make_plan(Scenario(), catalog))
    assert [axis.kind for axis in found.axes] == ["failures"]
    assert has_approved(what_if_page(found))


def test_numbers_are_written_as_in_the_locale_of_the_design(catalog: Catalog) -> None:
    found = what_if(make_plan(one_group(format__locale="de-DE"), catalog))
    assert_says(shown(what_if_page(found), found.axes, found.own), found.design)


@pytest.mark.parametrize(
    ("now", "positions"),
    [
        (0, (0, 1, 2, 3)),
        (1, (1, 2, 3, 4)),
        (3, (1, 2, 3, 4, 5, 6)),
        (20, (10, 13, 15, 18, 20, 25, 30, 35, 40)),
        (400, (200, 250, 300, 350, 400, 500, 600, 700, 800)),
    ],
)
def test_sizes_are_around_that_of_the_design(now: int, positions: tuple[int, ...]) -> None:
    assert size_positions(now, 1e6) == positions
    assert size_positions(now, now)[-1] == now


def test_prices_go_from_the_low_to_the_high_end_of_the_range(found: WhatIf) -> None:
    axis, design = found.axes[-1], found.design
    assert design.costs
    known = next(price for price in design.costs.prices if f"prices.{price.key}" == axis.path).given
    assert (axis.values[0], axis.values[axis.own], axis.values[-1]) == (known.low, known.value, known.high)
    assert list(axis.values) == sorted(set(axis.values))


@pytest.mark.parametrize(("most", "top"), [(0, 1), (1.8e6, 2e6), (8.7e6, 1e7), (9, 10), (10, 10)])
def test_the_chart_has_a_few_round_marks_and_holds_all(most: float, top: float) -> None:
    marks = marks_to(most)
    assert (marks[0], marks[-1]) == (0, pytest.approx(top)) and len(marks) <= 6


def test_a_difference_that_reads_like_none_is_none() -> None:
    assert signed(0.2, number) != signed(0.0, number) == ""
    assert signed(-3, number) == "\u22123" and signed(3, number) == "+3"
