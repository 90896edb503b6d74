"""The workbook: read back cell by cell it says what the plan says, and calculated anew it follows a price as the plan does."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from assistants import assistant
from stated_money import unpriced

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.bill_of_materials import Material
from gpuplan.report.xlsx import xlsx_bytes
from gpuplan.report.xlsx.book import MAX_TEXT
from gpuplan.scenario import Scenario, from_dict

SHEETS = [
    "Summary", "Groups", "Hosts", "Power-on", "Demand", "Availability", "Network", "Platform", "Bill of materials", "Cost by year", "Alternatives",
    "Power", "Inputs", "Prices", "Factors", "Trail", "Sources", "Messages", "Decisions",
]  # fmt: skip
LIVE = {"Summary", "Groups", "Bill of materials", "Cost by year", "Prices", "Factors"}
"""Sheets with formulas."""
TWO_POOLS = {
    "groups": [
        {"id": "a", "name": "A", "people": 20, "gpus_each": 1, "growth": 0.3, "access": "passthrough"},
        {"id": "b", "name": "B", "people": 20, "gpus_each": 0.5, "growth": 0.2, "access": "vgpu"},
    ],
    "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
}
STATED = {
    "rack-year": 10_000.0,
    "switches/s5224f-on": 7_000.0,
    "platform-socket": 5_000.0,
    "platform-support-socket-year": 900.0,
    "nvaie-perpetual": 11_000.0,
    "nvaie-year-5": 2_800.0,
    "nvaie-support-year": 700.0,
    "storage-tb": 400.0,
}


def book(plan: Plan, *, values: bool = True) -> Any:
    """The workbook as another library reads it, with its cached values or with its formulas."""
    return openpyxl.load_workbook(io.BytesIO(xlsx_bytes(plan)), data_only=values)


def changed(scenario: Scenario, values: dict[str, Any]) -> Scenario:
    for path, value in values.items():
        scenario = scenario.with_value(path, value)
    return scenario


def find(sheet: Any, label: str, column: int = 1, above: str = "") -> int:
    """Row of a label, the first below another one."""
    start = find(sheet, above) if above else 0
    for row in range(start + 1, sheet.max_row + 1):
        if sheet.cell(row, column).value == label:
            return row
    raise AssertionError(f"{sheet.title} has no {label!r}")


def rows(sheet: Any) -> list[dict[str, Any]]:
    """The rows of a sheet with one table, by the heads of its columns."""
    heads, *found = ([cell.value for cell in row] for row in sheet.iter_rows(min_row=4))
    return [dict(zip(heads, row, strict=True)) for row in found]


def line(sheet: Any, label: str, years: int, above: str = "") -> list[Any]:
    """Start, years and total of a row of the sheet of costs."""
    row = find(sheet, label, above=above)
    return [sheet.cell(row, 3 + year).value for year in range(years + 2)]


class Recalculated:
    """A workbook that a spreadsheet program would have calculated after some cells were changed."""

    def __init__(
        self, folder: Path, plan: Plan, edits: Mapping[tuple[str, str, str], float | None] | None = None
    ) -> None:
        import formulas

        path = folder / "book.xlsx"
        file = book(plan, values=False)
        for (name, label, head), value in (edits or {}).items():
            sheet = file[name]
            column = next(cell.column for cell in sheet[4] if str(cell.value).startswith(head))
            key = 2 if name == "Bill of materials" else 1
            sheet.cell(find(sheet, label, key), column).value = value
        for name in set(SHEETS) - LIVE:
            del file[name]
        file.save(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the libraries that calculate
            found = formulas.ExcelModel().loads(str(path)).finish().calculate()
        self._found = {str(key).upper(): cell for key, cell in found.items()}
        self.file = file

    def value(self, sheet: str, row: int, column: int) -> Any:
        where = f"'[BOOK.XLSX]{sheet.upper()}'!{openpyxl.utils.get_column_letter(column)}{row}"
        return self._found[where].value[0, 0]

    def agrees(self, plan: Plan) -> None:
        """Every total, part and year is that of a plan."""
        costs = plan.costs
        assert costs is not None
        sheet = self.file["Cost by year"]

        def result(label: str) -> float:
            return float(self.value("Cost by year", find(sheet, label, above="Result"), 3))

        def years(row: int, first: int = 0) -> list[float]:
            return [float(self.value("Cost by year", row, 3 + y)) for y in range(first, costs.years + 1)]

        assert result("Total paid") == pytest.approx(costs.total, abs=0.01)
        assert result("Net present cost") == pytest.approx(costs.net_present, abs=0.01)
        assert result("Cost of a GPU-hour installed") == pytest.approx(costs.gpu_hour_installed, rel=1e-9)
        if costs.gpu_hour_used is not None:
            assert result("Cost of a GPU-hour used") == pytest.approx(costs.gpu_hour_used, rel=1e-9)
        for part in costs.parts:
            assert years(find(sheet, part.name)) == pytest.approx(part.yearly, abs=0.01), part.name
        assert years(find(sheet, "All parts")) == pytest.approx(costs.cash, abs=0.01)
        assert years(find(sheet, "Hosts"), 1) == pytest.approx(costs.hosts)
        assert years(find(sheet, "GPUs", above="Hosts"), 1) == pytest.approx(costs.gpus)
        assert years(find(sheet, "GPU-hours used"), 1) == pytest.approx(costs.used_gpu_hours)
        summary = self.file["Summary"]
        shown = self.value("Summary", find(summary, "Net present cost"), 2)
        assert float(shown) == pytest.approx(costs.net_present, abs=0.01)


def test_the_sheets_say_what_the_plan_says(example: Plan) -> None:
    file, costs = book(example), example.costs
    assert costs is not None and example.power is not None
    assert file.sheetnames == SHEETS
    summary = file["Summary"]
    shown = {row[0].value: row[1].value for row in summary.iter_rows()}
    assert shown["Hosts"] == example.totals.hosts
    assert shown["GPUs after a failure"] == example.totals.gpus_after_failure
    assert shown["Net present cost"] == pytest.approx(costs.net_present, abs=0.01)
    assert shown["A GPU-hour used"] == pytest.approx(costs.gpu_hour_used)
    assert shown["Power, peak"] == pytest.approx(example.power.peak_w / 1000)
    years = file["Cost by year"]
    for part in costs.parts:
        assert line(years, part.name, costs.years) == pytest.approx([*part.yearly, part.total]), part.name
    assert line(years, "All parts", costs.years) == pytest.approx([*costs.cash, costs.total])
    trail = {row[0].value: row for row in file["Trail"].iter_rows(min_row=5)}
    assert list(trail) == list(example.lines)
    for key, found in example.lines.items():
        assert trail[key][2].value == pytest.approx(found.value) if found.value != "" else True
    groups = rows(file["Groups"])
    assert sum(row["TCO, USD"] for row in groups) == pytest.approx(costs.total, abs=0.01)
    hosts = rows(file["Hosts"])
    assert sum(row["Hosts"] for row in hosts) == example.totals.hosts
    assert sum(row["Hosts"] * row["GPUs"] for row in hosts) == example.totals.gpus
    assert [row["Decision"] for row in rows(file["Decisions"])] == [d.decision for d in example.decisions]


def test_formulas_carry_their_values_and_no_errors(example: Plan) -> None:
    values, formulas = book(example), book(example, values=False)
    live = dict.fromkeys(SHEETS, 0)
    for name in SHEETS:
        for row in formulas[name].iter_rows():
            for cell in row:
                shown = values[name][cell.coordinate].value
                assert not (isinstance(shown, str) and shown.startswith("#")), (name, cell.coordinate, shown)
                if cell.data_type == "f":
                    live[name] += 1
                    empty = "IF(" in cell.value and '""' in cell.value
                    assert shown is not None or empty, (name, cell.coordinate, cell.value)
    assert live["Cost by year"] > 100 and live["Bill of materials"] > 20
    assert live["Summary"] >= 6 and live["Groups"] == len(example.groups)
    assert {name for name, count in live.items() if count} == LIVE - {"Factors"}


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
        assert (row["Price known"] == "not known") is material.unknown

    for row, material in zip(bill, costs.materials, strict=False):
        check(row, material)
    once = sum(m.cost or 0 for m in costs.materials if m.status == "bought")
    assert [row["Cost, USD"] for row in bill[-2:]] == pytest.approx([once, 179_200])
    assert "exclude: PowerSwitch S5224F-ON" in file["Bill of materials"]["A2"].value
    prices = {row["Key"]: row for row in rows(file["Prices"])}
    for price in costs.prices:
        shown = prices[price.key]
        assert shown["Price, USD"] == pytest.approx(price.value)
        assert (shown["Low, USD"], shown["High, USD"]) == (price.fact.low, price.fact.high)
    for item in costs.unknown:
        shown = prices[item.key]
        assert (shown["Price, USD"], shown["Known"]) == (None, "not known")


def test_calculated_anew_it_is_the_plan(example: Plan, tmp_path: Path) -> None:
    Recalculated(tmp_path, example).agrees(example)


VARIANTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "by the socket, for ever, with support": (
        "enterprise",
        {
            "cost.platform_licence": "socket",
            "cost.gpu_licence": "perpetual",
            "cost.years": 7,
            "cost.residual_share": 0.1,
            "cost.hardware_discount": 0.2,
            "cost.licence_discount": 0.3,
            "cost.utilisation": 0.4,
            "cost.spare_gpus": 3,
            "cost.storage_tb": 12.5,
            "cost.management_hosts": 4,
            "hardware.existing": "2 x 2",
        },
    ),
    "two pools, terms, another currency": (
        TWO_POOLS,
        {"cost.licence_term_years": 5, "cost.years": 7, "cost.currency": "EUR", "cost.usd_rate": 0.9},
    ),
    "a management domain that is bought": (
        "enterprise",
        {"cost.management_hosts": 4, "cost.licence_term_years": 1},
    ),
    "two pools, for ever": (TWO_POOLS, {"cost.gpu_licence": "perpetual", "cost.years": 7}),
    "licences that come with the board": ("current", {"cost.years": 7}),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_other_designs_calculated_anew(name: str, catalog: Catalog, tmp_path: Path) -> None:
    given, values = VARIANTS[name]
    scenario = load_scenario(given) if isinstance(given, str) else from_dict(given)
    prices = {f"prices.{key}": value for key, value in STATED.items() if "s5224f" not in key}
    plan = make_plan(changed(scenario, {**prices, **values}), catalog)
    assert plan.costs is not None and plan.costs.net_present > 0
    Recalculated(tmp_path, plan).agrees(plan)


def test_what_is_changed_in_the_workbook_changes_the_cost_as_in_the_plan(
    plans: dict[str, Plan], catalog: Catalog, tmp_path: Path
) -> None:
    plan = plans["current"]
    gpu = f"gpus/{plan.scenario.hardware.gpu}"
    assert plan.costs is not None
    price = next(p.value for p in plan.costs.prices if p.key == gpu)
    found = Recalculated(
        tmp_path,
        plan,
        {
            ("Prices", gpu, "Price"): 2 * price,
            ("Prices", "electricity-kwh", "Price"): 0.3,
            ("Factors", "discount_rate", "Value"): 0.04,
            ("Factors", "hardware_discount", "Value"): 0.15,
            ("Factors", "licence_discount", "Value"): 0.25,
            ("Factors", "residual_share", "Value"): 0.05,
            ("Factors", "power_usage_effectiveness", "Value"): 1.2,
        },
    )
    stated = {
        f"prices.{gpu}": 2 * price,
        "prices.electricity-kwh": 0.3,
        "cost.discount_rate": 0.04,
        "cost.hardware_discount": 0.15,
        "cost.licence_discount": 0.25,
        "cost.residual_share": 0.05,
        "cost.pue": 1.2,
    }
    found.agrees(make_plan(changed(plan.scenario, stated), catalog))


def test_the_gpu_price_doubled(plans: dict[str, Plan], catalog: Catalog, tmp_path: Path) -> None:
    plan = plans["enterprise"]
    key = "gpus/v100-pcie-32gb"
    doubled = make_plan(plan.scenario.with_value(f"prices.{key}", 2 * 9937.5), catalog)
    assert plan.costs is not None and doubled.costs is not None
    assert doubled.costs.net_present > plan.costs.net_present + 318_000
    Recalculated(tmp_path, plan, {("Prices", key, "Price"): 2 * 9937.5}).agrees(doubled)


def test_a_price_that_nobody_knew_is_filled_in(catalog: Catalog, tmp_path: Path) -> None:
    catalog = unpriced(catalog, "switches/dell-s5224f-on", "cable-10g")
    plan = make_plan(load_scenario("starter"), catalog)
    assert plan.costs is not None
    keys = [item.key for item in plan.costs.unknown]
    known = make_plan(changed(plan.scenario, {f"prices.{key}": 5_000.0 for key in keys}), catalog)
    found = Recalculated(tmp_path, plan, {("Prices", key, "Price"): 5_000 for key in keys})
    found.agrees(known)
    prices = found.file["Prices"]
    known = next(cell.column for cell in prices[4] if cell.value == "Known")
    assert found.value("Prices", find(prices, keys[0]), known) == "yes"


def test_a_price_that_is_deleted_is_said_to_be_left_out(plans: dict[str, Plan], tmp_path: Path) -> None:
    """Nothing may count as free without a word: not on the summary, not beside the item, not beside the part."""
    plan = plans["enterprise"]
    keys = ("gpus/v100-pcie-32gb", "electricity-kwh")
    before = book(plan)
    assert before["Summary"].cell(find(before["Summary"], "Prices not known"), 2).value == 0
    found = Recalculated(tmp_path, plan, {("Prices", key, "Price"): None for key in keys})
    assert found.value("Summary", find(found.file["Summary"], "Prices not known"), 2) == 2
    sheet = found.file["Cost by year"]
    note = next(cell.column for cell in sheet[4] if cell.value == "Note")
    item = find(sheet, "Tesla V100 PCIe 32GB", 2)
    assert found.value("Cost by year", item, note).startswith("price not known: left out; 4 boards")
    for part in ("Power", "Cooling"):
        assert found.value("Cost by year", find(sheet, part), note) == "price not known: left out"
    assert before["Cost by year"].cell(item, note).value.startswith("4 boards")
    assert found.value("Cost by year", find(sheet, "Space"), note) == ""


def test_the_power_of_a_switch_that_nobody_knew_is_filled_in(plans: dict[str, Plan], tmp_path: Path) -> None:
    plan = plans["enterprise"]
    assert plan.power is not None and plan.power.leaf_w == 0
    file = book(plan)
    leaf = find(file["Factors"], "leaf_w")
    assert file["Factors"].cell(leaf, 3).fill.fgColor.rgb == "FFFFF4CC"
    assert file["Power"].cell(find(file["Power"], "Leaf switches"), 4).value == "not known"
    label = "Energy of hosts and switches"
    before = file["Cost by year"].cell(find(file["Cost by year"], label), 4).value
    found = Recalculated(tmp_path, plan, {("Factors", "leaf_w", "Value"): 100})
    after = found.value("Cost by year", find(found.file["Cost by year"], label), 4)
    assert after - before == pytest.approx(2 * 0.1 * 8760)


def test_growth_that_is_left_out_is_said_beside_the_cost(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    assert plan.costs is not None and plan.costs.growth_left_out is None
    assert "growth" not in book(plan)["Cost by year"]["A2"].value
    cut = plan.but(costs=replace(plan.costs, growth_left_out=2))
    assert "From year 2 on the growth is more" in book(cut)["Cost by year"]["A2"].value


def test_cells_take_only_what_makes_sense(plans: dict[str, Plan]) -> None:
    factors = book(plans["enterprise"], values=False)["Factors"]
    rules = {str(rule.sqref): rule for rule in factors.data_validations.dataValidation}
    pue = rules[f"C{find(factors, 'power_usage_effectiveness')}"]
    assert (pue.operator, pue.formula1) == ("greaterThanOrEqual", "1")
    rate = rules[f"C{find(factors, 'discount_rate')}"]
    assert (rate.formula1, rate.formula2) == ("0", "1")
    leaf = rules[f"C{find(factors, 'leaf_w')}"]
    assert (leaf.operator, leaf.formula1) == ("greaterThanOrEqual", "0")


def test_a_price_says_what_it_is_for(plans: dict[str, Plan]) -> None:
    per = {row["Key"]: row["Per"] for row in rows(book(plans["enterprise"])["Prices"])}
    assert (per["electricity-kwh"], per["nvaie-year"]) == ("kWh", "GPU-year")


def test_a_quantity_changes_money_and_gpu_hours(plans: dict[str, Plan], tmp_path: Path) -> None:
    """Four more V100: their price at the start, their support each year, four more GPUs to divide by."""
    plan = plans["enterprise"]
    costs = plan.costs
    assert costs is not None and costs.discount_rate == 0.0723
    found = Recalculated(tmp_path, plan, {("Bill of materials", "Tesla V100 PCIe 32GB", "Quantity"): 36})
    sheet = found.file["Cost by year"]
    worth = 4 * 9937.5
    annuity = sum(1 / 1.0723**year for year in range(1, 6))
    present = found.value("Cost by year", find(sheet, "Net present cost"), 3)
    growth = 0.0
    for year in range(1, 6):  # 28 of 36 GPUs are used instead of 28 of 32: idle ones draw less
        row = find(sheet, "Power")
        power = found.value("Cost by year", row, 3 + year) + found.value("Cost by year", row + 1, 3 + year)
        growth += (
            power - costs.part("Power").yearly[year] - costs.part("Cooling").yearly[year]
        ) / 1.0723**year
    assert growth < 0
    assert present == pytest.approx(costs.net_present + worth * (1 + 0.08 * annuity) + growth, rel=0.01)
    support = found.value("Cost by year", find(sheet, "Hardware support"), 4)
    share = costs.part("Hardware support").yearly[1] / costs.hardware
    assert support == pytest.approx((costs.hardware + worth) * share)
    hour = found.value("Cost by year", find(sheet, "Cost of a GPU-hour installed"), 3)
    assert hour == pytest.approx(present / (36 * 8760 * annuity))
    used = found.value("Cost by year", find(sheet, "Cost of a GPU-hour used"), 3)
    assert used == pytest.approx(present / (28 * 8760 * annuity))


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
    content = xlsx_bytes(plan)
    file = openpyxl.load_workbook(io.BytesIO(content))
    names = [cell.value for cell in file["Groups"]["A"][4:]]
    assert names[:5] == evil[:5]
    assert names[5] == "abc"
    assert len(names[6]) == MAX_TEXT and names[6].endswith("…")
    assert file["Summary"]["A1"].value == evil[0]
    assert {file["Groups"].cell(5 + n, 1).data_type for n in range(4)} == {"s"}
    assert all(file["Groups"].cell(5 + n, 1).quotePrefix for n in range(4))
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        held = b"".join(parts.read(name) for name in parts.namelist() if name.startswith("xl/worksheets/"))
    assert b"HYPERLINK" not in held and b"<hyperlink" not in held


def test_the_same_plan_gives_the_same_bytes(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = plans["enterprise"]
    assert xlsx_bytes(plan) == xlsx_bytes(make_plan(plan.scenario, catalog))
    later = make_plan(plan.scenario.with_value("cost.as_of", "2027-01-31"), catalog)
    created = openpyxl.load_workbook(io.BytesIO(xlsx_bytes(later))).properties.created
    assert created.date().isoformat() == "2027-01-31"


def test_without_hosts(catalog: Catalog) -> None:
    file = book(make_plan(Scenario(), catalog))
    assert file.sheetnames == SHEETS
    assert file["Cost by year"]["A4"].value == "Nothing to show for this design."
    assert file["Summary"]["A1"].value == "Untitled design"


def test_ten_thousand_hosts_are_shown_by_kind(catalog: Catalog) -> None:
    scenario = from_dict(
        {"groups": [{"id": "a", "people": 40_000}], "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}
    )
    plan = make_plan(scenario, catalog)
    content = xlsx_bytes(plan)
    rows = list(openpyxl.load_workbook(io.BytesIO(content), data_only=True)["Hosts"].iter_rows(min_row=5))
    assert plan.totals.hosts > 10_000 and len(rows) == 2 * len(plan.pools)  # used ones, and a spare one
    assert sum(row[2].value for row in rows) == plan.totals.hosts
    assert len(content) < 2_000_000


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


def test_it_can_be_read_and_printed(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    file = book(plan, values=False)
    for sheet in file:
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.sheet_properties.pageSetUpPr.fitToPage and sheet.page_setup.fitToHeight == 0
        assert sheet.print_title_rows and sheet.freeze_panes
    assert file["Trail"].auto_filter.ref == f"A4:J{4 + len(plan.lines)}"
    assert {"discount_rate", "gpu_price", "net_present_cost", "gpu_hour_used"} <= set(file.defined_names)
    prices, years = file["Prices"], file["Cost by year"]
    assert prices["C5"].fill.fgColor.rgb == "FFFFF4CC"
    assert not years["C6"].fill.fill_type
    assert prices["C4"].value == "Price, USD" and prices.data_validations.count


def test_the_sheet_of_inputs_has_those_of_a_model_where_there_is_one(catalog: Catalog, example: Plan) -> None:
    def inputs(plan: Plan) -> set[str]:
        book = openpyxl.load_workbook(io.BytesIO(xlsx_bytes(plan)), read_only=True)
        return {str(cell) for row in book["Inputs"].iter_rows(values_only=True) for cell in row if cell}

    assert not any(path.endswith(".tokens_in") for path in inputs(example))
    assert "groups.assistant.tokens_in" in inputs(make_plan(assistant(), catalog))
