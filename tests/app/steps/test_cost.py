"""Cost: its inputs, what is paid when and for what, every price in place, power and space, the bill of materials."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from approved import has_approved, is_approved
from priced_screen import book_of, prices
from stated_money import unpriced

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.cards import bare
from gpuplan.app.forms import place_of
from gpuplan.app.header import drawer_data, settings
from gpuplan.app.state import Workbook
from gpuplan.app.steps import cost as step
from gpuplan.app.steps.prices import prices_badge, prices_data
from gpuplan.app.strip import strip_data
from gpuplan.catalog import Catalog
from gpuplan.plan.cash_flow import PARTS as COST_PARTS
from gpuplan.report.charts.design import purchases_chart, years_chart
from gpuplan.report.charts.look import LIGHT
from gpuplan.report.drawing import COLOURS, PARTS
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.tables.cost import STATUS
from gpuplan.scenario import FIELDS
from gpuplan.wording import money, rounded_money

Data = dict[str, Any]
DRAWN: tuple[Callable[[Workbook], Data], ...] = (
    step.first_form,
    step.money_form,
    step.factors_form,
    step.years_head,
    step.parts_in_short,
    step.unit_data,
    step.cost_data,
    step.years_rows,
    step.parts_data,
    step.years_table,
    step.groups_data,
    prices_data,
    step.power_data,
    step.bill_data,
    step.internal_form,
)


FORMS = (step.first_form, step.money_form, step.factors_form, settings.data)


def cells(data: Data) -> list[Data]:
    return [cell for table in data.get("tables", ()) for row in table["rows"] for cell in row]


def rows(data: Data, table: int = 0) -> dict[str, list[Data]]:
    return {row[0]["text"]: row for row in data["tables"][table]["rows"]}


def strip(book: Workbook) -> dict[str, Data]:
    return {figure["key"]: figure for figure in strip_data(book)["figures"]}


@pytest.mark.parametrize("name", ["starter", "enterprise", "current", "blank"])
def test_every_part_is_plain_data_and_every_number_with_a_trail_opens_it(catalog: Catalog, name: str) -> None:
    book = book_of(catalog, name)
    asked = 0
    for part in DRAWN:
        data = part(book)
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        for cell in [*cells(data), *data.get("figures", ())]:
            if cell.get("key"):
                asked += 1
                book.drawer = cell["key"]
                assert drawer_data(book)["kind"] == "why", cell
    assert asked > 30 or name == "blank"


def test_all_inputs_of_the_cost_are_in_the_forms(enterprise: Workbook) -> None:
    asked = [f["path"] for form in FORMS for f in form(enterprise)["fields"]]
    assert sorted(asked) == sorted(f.path for f in FIELDS if f.path.startswith(("cost.", "format.")))
    assert {place_of(path).step for path in asked if path != "cost.years"} == {"cost", ""}, (
        "the bar has no step"
    )
    for form in FORMS:
        for field in form(enterprise)["fields"]:
            if field["kind"] == "select":
                assert field["value"] in [option["value"] for option in field["options"]]


def test_an_empty_factor_shows_the_planning_value_and_counts_what_is_stated(enterprise: Workbook) -> None:
    fields = {f["path"]: f for f in step.factors_form(enterprise)["fields"]}
    pue = enterprise.catalog.row("factors", "pue")
    assert fields["cost.pue"]["empty"].startswith(f"{pue['value']:g} (")
    assert "%" in fields["cost.support_share"]["empty"]
    enterprise.edit("cost.as_of", "")
    assert step.factors_form(enterprise)["hint"] == "catalog planning values"
    enterprise.edit("cost.pue", "1.2")
    assert step.factors_form(enterprise)["hint"].startswith("1 of ")


def test_the_figures_are_those_of_the_plan(enterprise: Workbook) -> None:
    costs = enterprise.plan.costs
    assert costs is not None
    ranges = enterprise.plan.cost_ranges
    assert ranges is not None and costs.gpu_hour_used is not None
    shown = {f["label"]: (f["value"], f["note"]) for f in step.cost_data(enterprise)["figures"]}
    for label, value, ends in (
        (f"{costs.years}-year cost (NPV)", costs.net_present, ranges.net_present),
        ("TCO", costs.total, ranges.total),
        ("At the start", costs.cash[0], ranges.cash[0]),
        ("GPU-hour used", costs.gpu_hour_used, ranges.gpu_hour_used),
    ):
        said, low, high = rounded_money(value, ends)
        assert shown[label][0] == said and f"USD, {low} to {high}" in shown[label][1]


def test_the_chart_and_its_tables_hold_all_the_money(catalog: Catalog) -> None:
    book = book_of(catalog, "current")
    book.edit("cost.residual_share", "20 %")
    costs = book.plan.costs
    assert costs is not None
    data = step.years_rows(book)
    assert sum(row["cost"] for row in data["rows"]) == pytest.approx(costs.total)
    assert {row["year"] for row in data["rows"]} == {"Start", *(f"Year {n}" for n in range(1, 6))}
    below = [row for row in data["rows"] if row["cost"] < 0]
    assert {row["part"] for row in below} == {"V Residual value"}
    spec = years_chart(data, LIGHT)
    assert spec == json.loads(json.dumps(spec, allow_nan=False))
    table = rows(step.years_table(book))
    assert [c["text"] for c in table["All parts"][1:-1]] == [bare(cash) for cash in costs.cash]
    assert table["All parts"][-1]["text"] == bare(costs.total)
    assert [c["text"] for c in table["GPU hosts"][2:-1]] == [str(n) for n in costs.hosts]
    assert list(rows(step.parts_data(book))) == [*(p.name for p in costs.parts), "All parts"]


def test_every_part_has_a_letter_of_its_own_and_a_colour_of_the_palette() -> None:
    assert set(PARTS) == set(COST_PARTS)
    assert len({letter for letter, _ in PARTS.values()}) == len(COST_PARTS)
    assert all(0 <= colour < len(COLOURS) for _, colour in PARTS.values())


def test_groups_share_all_of_the_cost(enterprise: Workbook) -> None:
    costs = enterprise.plan.costs
    assert costs is not None
    shown = rows(step.groups_data(enterprise))
    assert list(shown) == [g.name for g in enterprise.plan.groups]
    assert sum(each.total for each in costs.groups) == pytest.approx(costs.total)
    enterprise.edit("demand.stated_gpus", "40")
    enterprise.edit("demand.rule", "stated")
    assert len(step.groups_data(enterprise)["tables"][0]["rows"]) == len(shown) + 1


def test_the_total_that_leads_is_labelled_and_agrees_with_the_strip(enterprise: Workbook) -> None:
    sentence, about = HEADLINES["cost"](enterprise.plan)
    leading = strip(enterprise)["cost.net_present"]
    assert f"The design costs {leading['value']} (" in sentence
    assert has_approved(about, "5-year", "7.2 %")
    assert is_approved(leading["label"], "5-year")


def test_the_parts_beside_the_chart_have_their_letters_and_the_first_of_what_has_no_price(
    enterprise: Workbook,
) -> None:
    costs = enterprise.plan.costs
    assert costs is not None
    data = step.parts_in_short(enterprise)
    assert [part["name"] for part in data["parts"]] == [part.name for part in costs.parts]
    assert [part["chip"][0] for part in data["parts"]] == [PARTS[part.name][0] for part in costs.parts]
    assert "".join(piece["text"] for piece in data["after"][0]) == f"Cost excludes: {costs.excludes[0]}."


def test_of_many_items_without_a_price_three_are_named_and_the_others_counted(catalog: Catalog) -> None:
    keys = ("switches/sn3700c", "servers/dell-c4140", "gpus/v100-pcie-32gb", "vcf-core-year")
    book = book_of(unpriced(catalog, *keys), "enterprise")
    costs = book.plan.costs
    assert costs is not None
    said = step.parts_in_short(book)["after"][0]
    assert len([piece for piece in said if piece["text"] in costs.excludes]) == 3
    assert said[-1]["text"] == f" and {len(costs.excludes) - 3} more."
    assumed = len([p for p in costs.prices if p.fact.basis == "assumed"])
    assert assumed and prices_badge(book) == f"{assumed} assumed, {len(costs.unknown)} not known"


def test_each_unit_has_its_cost_and_why(catalog: Catalog) -> None:
    book = book_of(catalog, "assistant")
    costs, (tokens,) = book.plan.costs, book.plan.token_costs.values()
    assert costs is not None and costs.gpu_hour_used is not None and tokens.user_month is not None
    shown = {name: (row[1]["text"], row[1]["key"]) for name, row in rows(step.unit_data(book)).items()}
    assert shown["GPU-hour used"][1] == "cost.gpu_hour_used"
    assert shown["Million output tokens"][0] == money(tokens.million_out, "").strip()
    assert shown["Per user and month"] == (
        money(tokens.user_month, "").strip(),
        "groups.assistant.user_month",
    )


def test_what_nobody_knows_is_named_with_an_empty_field_and_marked_in_the_strip(unknown: Workbook) -> None:
    costs = unknown.plan.costs
    assert costs is not None
    item = costs.unknown[0]
    row = prices(unknown)[item.key]
    assert (row[0]["text"], row[1]["input"]["empty"], row[4]["text"]) == (item.name, "unknown", "not known")
    assert f"{len(costs.unknown)} unknown" in prices_data(unknown)["hint"]
    said = step.cost_data(unknown)["after"][1]
    assert said[0]["text"] == "Cost excludes: "
    assert [piece["visit"] for piece in said if "visit" in piece] == [
        f"prices.{u.key}" for u in costs.unknown
    ]
    assert costs.not_counted
    assert all(any(piece["text"] == name for piece in said) for name in costs.excludes)
    figure = strip(unknown)["cost.net_present"]
    assert figure["value"].startswith("USD ") and figure["tone"] == "warn"
    assert figure["note"].endswith(f" M, excl. {len(costs.excludes)} items")
    unknown.drawer = "cost.net_present"
    more = drawer_data(unknown)["more"]
    assert [piece["text"] for piece in more if "visit" in piece] == [u.name for u in costs.unknown]
    assert all(any(piece["text"] == name for piece in more) for name in costs.not_counted)
    bill = [row for row in step.bill_data(unknown)["tables"][0]["rows"] if row[3]["text"] == "not known"]
    assert bill
    assert all(row[4]["text"] == "\u2013" for row in bill)
    for each in costs.unknown:
        unknown.edit(f"prices.{each.key}", "100")
    left = len(costs.not_counted)
    assert strip(unknown)["cost.net_present"]["note"].endswith(f" M, excl. {left} item{'s' * (left > 1)}")
    assert "".join(p["text"] for p in step.cost_data(unknown)["after"][1]) == (
        f"Cost excludes: {'; '.join(costs.not_counted)}."
    )


def test_a_field_that_the_catalog_fills_says_how_the_catalog_knows_it(enterprise: Workbook) -> None:
    def rate() -> Data:
        return next(f for f in step.money_form(enterprise)["fields"] if f["path"] == "cost.discount_rate")

    assert rate()["empty"].endswith("(published)")
    assert not rate()["assumed"]
    years = next(f for f in step.first_form(enterprise)["fields"] if f["path"] == "cost.years")
    assert years["assumed"]


def test_another_currency_needs_its_rate_and_keeps_the_last_plan(enterprise: Workbook) -> None:
    before = enterprise.plan.costs
    assert before is not None
    enterprise.edit("cost.currency", "eur")
    fields = {f["path"]: f for f in settings.data(enterprise)["fields"]}
    assert has_approved(fields["cost.usd_rate"]["problem"])
    assert enterprise.plan.costs == before
    assert strip_data(enterprise)["stale"]
    enterprise.edit("cost.usd_rate", "0.9")
    after = enterprise.plan.costs
    assert after is not None
    assert after.net_present == pytest.approx(0.9 * before.net_present)
    assert strip(enterprise)["cost.net_present"]["value"].startswith("EUR ")
    assert prices_data(enterprise)["heads"][1]["text"] == "EUR"
    enterprise.edit("cost.currency", "dollars")
    fields = {f["path"]: f for f in settings.data(enterprise)["fields"]}
    assert fields["cost.currency"]["problem"]


def test_power_has_its_peak_behind_it(enterprise: Workbook) -> None:
    enterprise.drawer = "power.typical"
    more = drawer_data(enterprise)["more"]
    assert [piece["key"] for piece in more if "key" in piece] == ["power.peak"]


def test_power_and_space_are_figures_that_can_be_asked_why(enterprise: Workbook) -> None:
    use = enterprise.plan.power
    assert use is not None
    shown = {f["label"]: f for f in step.power_data(enterprise)["figures"]}
    assert list(shown) == ["Typical", "Peak", "Heat", "Energy", "CO\u2082", "Rack units", "Racks"]
    assert is_approved(shown["Racks"]["note"], f"{use.hosts_per_rack} hosts")
    enterprise.edit("cost.rack_kw", "1")
    data = step.power_data(enterprise)
    assert {f["label"]: f["value"] for f in data["figures"]}["Racks"] == "none"
    assert has_approved(data["after"][0][0]["text"])


def test_rack_units_say_what_they_leave_out(catalog: Catalog, enterprise: Workbook) -> None:
    def units(book: Workbook) -> str:
        return {f["label"]: f["note"] for f in step.power_data(book)["figures"]}["Rack units"]

    assert units(enterprise) == "U"
    assert units(book_of(catalog, "current")).startswith("switches "), "the height of the server is not known"


def test_the_bill_names_rule_price_cost_and_source_of_every_item(enterprise: Workbook) -> None:
    costs = enterprise.plan.costs
    assert costs is not None
    shown = step.bill_data(enterprise)["tables"][0]["rows"]
    assert [row[0]["text"] for row in shown] == [m.name for m in costs.materials]
    for row, item in zip(shown, costs.materials, strict=True):
        assert row[2]["text"] == item.rule
        assert row[3]["cites"] or not item.sources
        if item.status in STATUS:
            assert row[3]["text"] == STATUS[item.status]
    enterprise.edit("cost.hardware_discount", "20 %")
    assert rows(step.bill_data(enterprise))["PowerEdge C4140"][4]["text"] == "20 %"


def test_a_blank_design_has_nothing_to_pay_for(catalog: Catalog) -> None:
    blank = book_of(catalog, "blank")
    assert "so no cost" in step.years_head(blank)["text"][0][0]["text"]
    assert step.years_rows(blank) == {}
    for part in (
        step.cost_data,
        step.parts_in_short,
        step.unit_data,
        step.parts_data,
        step.years_table,
        step.groups_data,
        prices_data,
        step.power_data,
        step.bill_data,
    ):
        assert not part(blank)["shown"]
    assert strip(blank)["cost.net_present"]["value"] == "\u2013"


# What is internal


@pytest.fixture
def sold(enterprise: Workbook) -> Workbook:
    """The enterprise example with internal notes and a margin."""
    enterprise.edit("internal.notes", "Ask Bob.")
    enterprise.edit("internal.margin", "18 %")
    enterprise.edit("prices.gpus/v100-pcie-32gb", "8417.39")
    return enterprise


def inputs_of(data: Data) -> dict[str, Data]:
    return {row["id"]: row["cells"][1]["input"] for row in data["rows"]}


def test_the_internal_card_says_what_is_paid_and_earned(sold: Workbook) -> None:
    card = step.internal_form(sold)
    assert is_approved(card["hint"])
    (table,) = card["tables"]
    rows = {row[0]["text"]: [c["text"] for c in row[1:]] for row in table["rows"]}
    # 32 GPUs at 8 417.39, which are sold at 8 417.39 / 0.82 = 10 265.11
    assert rows["GPUs"] == ["269\u202f356", "328\u202f484", "59\u202f127"]
    assert is_approved(list(rows)[-1])
    sold.edit("internal.margin", "")
    card = step.internal_form(sold)
    assert (card["tables"], card["hint"]) == ([], "internal notes")


def test_prices_are_those_that_we_pay_beside_those_of_the_customer(sold: Workbook) -> None:
    row = next(r for r in prices_data(sold)["rows"] if r["id"] == "prices.gpus/v100-pcie-32gb")
    assert row["cells"][0]["note"] == "the customer pays 10\u202f265"
    assert row["cells"][1]["input"]["value"] == "8\u202f417.39"
    assert is_approved(row["cells"][1]["acts"][0]["text"], "9\u202f938")
    row = next(r for r in prices_data(sold)["rows"] if r["id"] == "prices.electricity-kwh")
    assert "note" not in row["cells"][0]


def test_nothing_internal_is_in_the_customer_view(sold: Workbook) -> None:
    before = strip_data(sold)
    sold.look_as(customer=True)
    for now, then in zip(strip_data(sold)["figures"][:-1], before["figures"][:-1], strict=True):
        assert now["was"] == ""
        different = {key for key in now if now[key] != then[key]} - {"was"}
        assert not different or (now["key"], different) == (
            "cost.net_present",
            {"note", "range"},
        )  # an offer has no range
    card = step.internal_form(sold)
    assert (card["shown"], card["fields"]) == (False, [])
    fields = inputs_of(prices_data(sold))
    gpu = fields["prices.gpus/v100-pcie-32gb"]
    assert gpu["value"] == "10\u202f265.11"
    assert has_approved(gpu["locked"])
    assert fields["prices.electricity-kwh"]["locked"] == ""
    assert set(fields) <= {row["id"] for row in prices_data(sold)["rows"]}
    drawn = [json.dumps(data(sold)) for data in DRAWN]
    for key in [*sold.plan.lines, "messages"]:
        sold.drawer = key
        drawn.append(json.dumps(drawer_data(sold)))
    for text in drawn:
        assert not re.search(r"8.?417|19.?58[45]|Ask Bob|margin|back to the catalog", text)


def test_what_the_offer_says_is_not_changed_in_the_customer_view(sold: Workbook) -> None:
    sold.look_as(customer=True)
    before = sold.scenario
    for path in ("prices.gpus/v100-pcie-32gb", "ranges.prices.gpus/v100-pcie-32gb", "internal.margin"):
        sold.edit(path, "1")
        assert sold.scenario == before
        assert has_approved(sold.notice[1].lower())
    sold.edit("prices.electricity-kwh", "0.5")
    sold.edit("cost.years", "3")
    sold.look_as(customer=False)
    assert sold.scenario.get("prices.electricity-kwh") == 0.5
    assert (sold.scenario.internal.margin, sold.scenario.get("prices.gpus/v100-pcie-32gb")) == (0.18, 8417.39)


def test_purchases_are_compared_on_the_growth_tab(catalog: Catalog) -> None:
    book, still = book_of(catalog, "current"), book_of(catalog, "starter")
    purchases, orders = step.purchases_data(book), step.purchase_steps_data(book)
    assert [len(data["tables"][0]["rows"]) for data in (purchases, orders)] == [5, 12]
    assert purchases_chart(step.purchases_rows(book), LIGHT)["layer"]
    assert step.purchases_data(still)["text"] and step.purchases_rows(still) == {}
    for data in (purchases, orders):
        assert json.loads(json.dumps(data, allow_nan=False)) == data
