"""The workbook: read back cell by cell it says what the plan says; names are text, sizes are bounded, bytes are the same."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from typing import Any

import openpyxl
import pytest
from approved import has_approved, is_approved
from assistants import assistant
from random_cases import examples
from stated_money import unpriced
from workbooks import book, content, find, rows

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.purchases import purchase_ways
from gpuplan.catalog import Catalog
from gpuplan.deliver.executive import executive
from gpuplan.deliver.xlsx import xlsx_bytes
from gpuplan.plan.bill_of_materials import Material
from gpuplan.scenario import Scenario, from_dict

SHEETS = [
    "Overview", "Own prices", "Bill of materials", "Orders", "Cost by year", "Factors", "Decisions", "Workloads", "Demand", "Hosts",
    "Availability", "Network", "Network performance", "Platform", "Power", "Names and addresses", "Inputs", "Prices", "Messages", "Trail", "Sources",
    "Names",
]  # fmt: skip
"""Sheets of a design without alternatives."""
LIVE = {
    "Overview",
    "Own prices",
    "Bill of materials",
    "Orders",
    "Cost by year",
    "Workloads",
    "Hosts",
    "Names",
}
"""Sheets with formulas."""
TWO_POOLS = {
    "groups": [
        {"id": "a", "name": "A", "people": 20, "gpus_each": 1, "growth": 0.3, "access": "passthrough"},
        {"id": "b", "name": "B", "people": 20, "gpus_each": 0.5, "growth": 0.2, "access": "vgpu"},
    ],
    "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
}


def line(sheet: Any, label: str, years: int, above: str = "") -> list[Any]:
    """Start, years and total of a row of the sheet of costs."""
    row = find(sheet, label, above=above)
    return [sheet.cell(row, 3 + year).value for year in range(years + 2)]


def tiles(sheet: Any) -> dict[str, Any]:
    """The key figures of the first sheet by what stands above them."""
    found = {}
    for row in sheet.iter_rows(min_row=5, max_row=16):
        for cell in row:
            if isinstance(cell.value, str):
                found[cell.value] = sheet.cell(cell.row + 1, cell.column).value
    return found


def test_the_sheets_say_what_the_plan_says(example: Plan) -> None:
    file, costs = book(example), example.costs
    assert costs is not None and example.power is not None
    assert [name for name in file.sheetnames if name not in ("Power-on", "Purchases")] == SHEETS
    assert ("Purchases" in file.sheetnames) is bool(purchase_ways(example).ways)
    shown = tiles(file["Overview"])
    assert shown["Hosts"] == example.totals.hosts and shown["GPUs"] == example.totals.gpus
    assert shown["GPUs with 1 host lost"] == example.totals.gpus_after_failure
    assert shown["5-year cost (NPV), USD"] == pytest.approx(costs.net_present, abs=0.01)
    assert shown["Used GPU-hour, USD"] == pytest.approx(costs.gpu_hour_used)
    assert shown["Peak power, kW"] == pytest.approx(example.power.peak_w / 1000)
    years = file["Cost by year"]
    for part in costs.parts:
        assert line(years, part.name, costs.years) == pytest.approx([*part.yearly, part.total]), part.name
    assert line(years, "All parts", costs.years) == pytest.approx([*costs.cash, costs.total])
    trail = {row[0].value: row for row in file["Trail"].iter_rows(min_row=5)}
    assert list(trail) == list(example.lines)
    for key, found in example.lines.items():
        assert trail[key][2].value == pytest.approx(found.value) if found.value != "" else True
    groups = rows(file["Workloads"])
    assert sum(row["TCO, USD"] for row in groups) == pytest.approx(costs.total, abs=0.01)
    hosts = rows(file["Hosts"])
    assert sum(row["Hosts"] for row in hosts) == example.totals.hosts
    assert sum(row["Hosts"] * row["GPUs"] for row in hosts) == example.totals.gpus
    decided = rows(file["Decisions"], find(file["Decisions"], "Design decisions") + 1)
    assert [row["Decision"] for row in decided] == [d.decision for d in example.decisions]


def test_the_first_sheet_says_what_an_executive_decides_on(plans: dict[str, Plan]) -> None:
    plan = plans["starter"]
    scenario = plan.scenario
    for path, value in (("customer", "Contoso"), ("document.author", "Ann"), ("document.version", "1.2")):
        scenario = scenario.with_value(path, value)
    plan = make_plan(scenario.with_value("document.date", "2026-03-01"), plan.catalog)
    summary = executive(plan)
    file = book(plan, summary)
    said = [str(cell.value) for row in file["Overview"].iter_rows() for cell in row if cell.value is not None]
    assert said[:2] == [scenario.name, "Contoso"]
    assert is_approved(said[2], "Ann", "1.2", "2026-03-01")
    assert set(summary.recommendation) <= set(said)
    due = {(action.what, action.due) for action in summary.first_decisions}
    table = [[cell.value for cell in row] for row in file["Overview"].iter_rows()]
    assert due <= {(row[0], row[10]) for row in table}
    asked = rows(file["Decisions"], 5)
    assert [(row["Decision"], row["Why"], row["Owner"], row["Due"]) for row in asked] == [
        (each.what, each.why, "Customer", each.due) for each in summary.decisions
    ]
    choices = {row["Alternative"]: row for row in rows(file["Alternatives"], 5)}
    assert list(choices) == ["This design", *(choice.name for choice in summary.choices)]
    for choice in summary.choices:
        row = choices[choice.name]
        assert row["Why not"] == choice.gives_up
        assert row["Cost (NPV) as planned, USD"] == pytest.approx(choice.net_present)
        assert row["Difference now, USD"] == pytest.approx(choice.difference)
    moved = rows(file["Sensitivity"])
    assert [row["Assumption"] for row in moved] == [driver.label for driver in summary.drivers]
    strongest = summary.drivers[0]
    assert plan.costs is not None
    assert moved[0]["Lowers the cost by up to, USD"] == pytest.approx(
        strongest.cost_low - plan.costs.net_present
    )


def test_who_confirmed_what_stands_beside_the_decisions(plans: dict[str, Plan]) -> None:
    path, plan = "groups.hpc.people", plans["enterprise"]
    doubted = plan.scenario.confirmed(path, "Ms Ito, 2026-11-23").doubted(path, "2026-12-01")
    file = book(make_plan(doubted.confirmed(path, "Ms Ono, 2026-12-02"), plan.catalog))
    sheet = file["Decisions"]
    logged = rows(sheet, find(sheet, "Assumption log") + 1)
    assert [row["Confirmed by"] for row in logged] == ["Ms Ono", "Ms Ito"]


def test_formulas_carry_their_values_and_no_errors(example: Plan) -> None:
    values, formulas = book(example), book(example, values=False)
    live = dict.fromkeys(values.sheetnames, 0)
    for name in live:
        for row in formulas[name].iter_rows():
            for cell in row:
                shown = values[name][cell.coordinate].value
                assert not (isinstance(shown, str) and shown.startswith("#")), (name, cell.coordinate, shown)
                if cell.data_type == "f":
                    live[name] += 1
                    empty = "IF(" in cell.value and '""' in cell.value
                    assert shown is not None or empty, (name, cell.coordinate, cell.value)
    assert live["Cost by year"] > 100 and live["Bill of materials"] > 20
    assert live["Overview"] == 4 and live["Workloads"] == len(example.groups)
    assert {name for name, count in live.items() if count} == LIVE


def test_the_bill_and_the_prices(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("starter"), unpriced(catalog, "switches/dell-s5224f-on", "cable-10g"))
    file, costs = book(plan), plan.costs
    assert costs is not None and costs.unknown
    bill = rows(file["Bill of materials"])

    def check(row: dict[str, Any], material: Material) -> None:
        assert (row["Part"], row["Item"], row["Quantity"]) == (
            material.part,
            material.name,
            material.quantity,
        )
        assert row["Cost, USD"] == (None if material.cost is None else pytest.approx(material.cost))
        assert (row["Unit price, USD"] == "not known") is material.unknown

    for row, material in zip(bill, costs.materials, strict=False):
        check(row, material)
    once = sum(m.cost or 0 for m in costs.materials if m.status == "bought")
    assert [row["Cost, USD"] for row in bill[-2:]] == pytest.approx([once, 179_200])
    assert "PowerSwitch S5224F-ON" in file["Bill of materials"]["A2"].value
    prices = {row["Key"]: row for row in rows(file["Prices"])}
    own = {row["Item"]: row for row in rows(file["Own prices"])}
    for price in costs.prices:
        shown, mine = prices[price.key], own[price.name]
        assert shown["Price, USD"] == mine["Planning price"] == mine["Price used"] == price.value
        assert (shown["Low, USD"], shown["High, USD"]) == (price.fact.low, price.fact.high)
        assert (mine["Low"], mine["High"], mine["Own price"]) == (price.fact.low, price.fact.high, None)
    for item in costs.unknown:
        assert prices[item.key]["Price, USD"] == own[item.name]["Planning price"] == "not known"
        assert own[item.name]["Price used"] is None
    total = own["All items"]["Cost (NPV), USD"]
    assert total == pytest.approx(sum(own[p.name]["Cost (NPV), USD"] for p in costs.prices))
    assert total == pytest.approx(costs.net_present)


def test_growth_that_is_left_out_is_said_beside_the_cost(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    assert plan.costs is not None and plan.costs.growth_left_out is None
    assert "growth" not in book(plan)["Cost by year"]["A2"].value
    cut = plan.but(costs=replace(plan.costs, growth_left_out=2))
    assert has_approved(book(cut)["Cost by year"]["A2"].value, "2")


def test_a_price_says_what_it_is_for(plans: dict[str, Plan]) -> None:
    per = {row["Key"]: row["Per"] for row in rows(book(plans["enterprise"])["Prices"])}
    assert (per["electricity-kwh"], per["nvaie-year"]) == ("kWh", "GPU-year")


def test_many_sources_are_cited_by_their_numbers(plans: dict[str, Plan]) -> None:
    """A cell names two sources at most; the numbers are those of the sheet of sources."""
    plan = plans["enterprise"]
    file = book(plan)
    number = {row["Title"]: row["No."] for row in rows(file["Sources"])}
    shown = {row["What"]: row["Source"] for row in rows(file["Prices"])}
    assert plan.costs is not None
    for price in plan.costs.prices:
        titles = [plan.catalog.sources[source].title for source in price.fact.sources]
        if len(titles) <= 2:
            assert shown[price.name] == "; ".join(titles)
        else:
            assert f"{min(number[title] for title in titles)}" in shown[price.name].strip("[]").split("-")[0]
    cells = [str(cell.value or "") for sheet in file for row in sheet.iter_rows() for cell in row]
    assert max(map(len, cells)) < 1500


def test_names_are_text_whatever_they_look_like(catalog: Catalog) -> None:
    evil = [
        '=HYPERLINK("http://x","y")',
        "+1+1",
        "-2",
        "@SUM(A1)",
        "<script>&\"'",
        "a\x0bb\x00\ufffe\ud800c",
        "x" * 40_000,
    ]
    groups = [{"id": f"g{n}", "name": "ok", "people": 2} for n in range(len(evil))]
    scenario = from_dict({"name": "x", "groups": groups, "hardware": {"gpu": "l40s-48gb"}})
    plan = make_plan(scenario, catalog)
    assert plan.costs is not None
    named = tuple(replace(group, name=name) for group, name in zip(plan.groups, evil, strict=True))
    plan = plan.but(groups=named, scenario=replace(scenario, name=evil[0], customer=evil[4]))
    held = content(plan)
    file = openpyxl.load_workbook(io.BytesIO(held))
    names = [cell.value for cell in file["Workloads"]["A"][4:]]
    assert names[:5] == evil[:5]
    assert names[5] == "abc"
    assert 100 < len(names[6]) < 2000 and names[6].endswith("…")  # what the highest row shows
    assert (file["Overview"]["A1"].value, file["Overview"]["A1"].data_type) == (evil[0], "s")
    assert file["Overview"]["A2"].value == evil[4]
    assert {file["Workloads"].cell(5 + n, 1).data_type for n in range(4)} == {"s"}
    assert all(file["Workloads"].cell(5 + n, 1).quotePrefix for n in range(4))
    with zipfile.ZipFile(io.BytesIO(held)) as parts:
        held = b"".join(parts.read(name) for name in parts.namelist() if name.startswith("xl/worksheets/"))
    assert b"HYPERLINK" not in held and b"<hyperlink" not in held


def test_the_same_plan_gives_the_same_bytes(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = plans["enterprise"]
    again = make_plan(plan.scenario, catalog)
    assert xlsx_bytes(plan, executive(plan)) == xlsx_bytes(again, executive(again))
    later = make_plan(plan.scenario.with_value("cost.as_of", "2027-01-31"), catalog)
    created = openpyxl.load_workbook(io.BytesIO(content(later))).properties.created
    assert created.date().isoformat() == "2027-01-31"


def test_without_hosts(catalog: Catalog) -> None:
    """What has nothing to show has no sheet."""
    plan = make_plan(Scenario(), catalog)
    file = book(plan, executive(plan))
    assert file.sheetnames[0] == "Overview" and file["Overview"]["A1"].value == "Untitled design"
    assert not {"Own prices", "Cost by year", "Alternatives", "Hosts", "Availability"} & set(file.sheetnames)
    assert {"Inputs", "Names"} <= set(file.sheetnames)


@pytest.mark.by_day("seconds", 3)
def test_thousands_of_hosts_are_shown_by_kind(catalog: Catalog) -> None:
    people = examples(40_000, few=8_000)
    scenario = from_dict(
        {"groups": [{"id": "a", "people": people}], "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}
    )
    plan = make_plan(scenario, catalog)
    held = content(plan)
    file = openpyxl.load_workbook(io.BytesIO(held), data_only=True)
    hosts = list(file["Hosts"].iter_rows(min_row=5))
    assert plan.totals.hosts > people / 4 and len(hosts) == 2 * len(plan.pools)  # used ones, and a spare one
    assert sum(row[2].value for row in hosts) == plan.totals.hosts
    assert len(held) < 2_000_000 and max(sheet.max_row for sheet in file) < 6_000


def test_two_pools_have_their_hosts_and_groups(catalog: Catalog) -> None:
    plan = make_plan(from_dict(TWO_POOLS), catalog)
    file = book(plan)
    hosts = [row[0].value for row in file["Hosts"].iter_rows(min_row=5)]
    assert {pool.name: pool.hosts for pool in plan.pools} == {name: hosts.count(name) for name in hosts}


def test_what_is_internal_has_a_sheet_of_its_own(plans: dict[str, Plan], catalog: Catalog) -> None:
    assert "Internal" not in book(plans["enterprise"]).sheetnames
    scenario = plans["enterprise"].scenario.with_value("internal.notes", "Ask Bob.\n=1+1")
    plan = make_plan(scenario.with_value("internal.margin", 0.2), catalog)
    file = book(plan)
    rows = [[c.value for c in row[:4]] for row in file["Internal"].iter_rows()]
    assert ["Ask Bob.", None, None, None] in rows and ["=1+1", None, None, None] in rows
    sold = {row[0]: row[1:] for row in rows}
    gpus = plan.costs.part("GPUs").total if plan.costs else 0
    assert sold["GPUs"] == pytest.approx([0.8 * gpus, gpus, 0.2 * gpus], rel=1e-4)
    total = sold["All that is sold"]
    assert total[0] + total[2] == pytest.approx(total[1])
    assert not any(str(c.value).startswith("internal.") for row in file["Inputs"].iter_rows() for c in row)


def test_the_sheet_of_inputs_has_those_of_a_model_where_there_is_one(catalog: Catalog, example: Plan) -> None:
    def inputs(plan: Plan) -> set[str]:
        file = openpyxl.load_workbook(io.BytesIO(content(plan)), read_only=True)
        return {str(cell) for row in file["Inputs"].iter_rows(values_only=True) for cell in row if cell}

    assert not any(path.endswith(".tokens_in") for path in inputs(example))
    assert "groups.assistant.tokens_in" in inputs(make_plan(assistant(), catalog))
