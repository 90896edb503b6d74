"""The workbook calculated again by two other programs: it follows every kind of change as the plan does."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from approved import is_approved
from random_cases import of_the_day
from stated_money import unpriced
from workbooks import (
    Calculated,
    Edits,
    Formulas,
    Opened,
    Recalculated,
    book,
    converted,
    edited,
    find,
    libreoffice,
    live_part,
)

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.alternatives import alternatives
from gpuplan.catalog import Catalog
from gpuplan.deliver.executive import Executive, executive
from gpuplan.plan.prices import OTHER_TERMS, Price
from gpuplan.scenario import Scenario, from_dict

pytestmark = pytest.mark.by_day("recalculated", 6)

MONEY = ("Own prices", "Bill of materials", "Cost by year", "Factors", "Prices", "Overview")
"""Sheets that hold every formula of the cost."""
TWO_POOLS = {
    "groups": [
        {"id": "a", "name": "A", "people": 20, "gpus_each": 1, "growth": 0.3, "access": "passthrough"},
        {"id": "b", "name": "B", "people": 20, "gpus_each": 0.5, "growth": 0.2, "access": "vgpu"},
    ],
    "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
}
STATED = {
    "rack-year": 10_000.0,
    "platform-socket": 5_000.0,
    "platform-support-socket-year": 900.0,
    "nvaie-perpetual": 11_000.0,
    "nvaie-year-5": 2_800.0,
    "nvaie-support-year": 700.0,
    "storage-tb": 400.0,
}
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
    "several kinds of hosts": (
        "enterprise",
        {
            "cost.years": 6,
            "hardware.kinds": "Large: 8 x h200-nvl-141gb",
            "groups.researchers.hosts": "Large",
            "groups.developers.growth": 0.4,
        },
    ),
    "licences of existing hosts": (
        "current",
        {
            "cost.years": 7,
            "hardware.existing": "2 x 4, platform licences until 2029-01-01, boards of 2024-01-01; "
            "3 x 4, GPU software until 2028-01-01",
        },
    ),
}
H100 = "H100 NVL 94GB"
CHANGES: dict[str, tuple[Edits, dict[str, Any]]] = {
    "nothing": ({}, {}),
    "own prices": (
        {("Own prices", H100, "Own price"): 41_000, ("Own prices", "Electricity", "Own price"): 0.3},
        {"prices.gpus/h100-nvl-94gb": 41_000.0, "prices.electricity-kwh": 0.3},
    ),
    "discounts": (
        {
            ("Factors", "Discount on hardware", "Value"): 0.15,
            ("Factors", "Discount on licences", "Value"): 0.25,
        },
        {"cost.hardware_discount": 0.15, "cost.licence_discount": 0.25},
    ),
    "factors": (
        {
            ("Factors", "Residual value at the end, share of the hardware", "Value"): 0.05,
            ("Factors", "PUE: power of the building over that of the machines", "Value"): 1.2,
            ("Factors", "Hardware support a year, share of the hardware", "Value"): 0.12,
            ("Factors", "Years of warranty, free of support", "Value"): 1,
            ("Factors", "Price change of hardware a year", "Value"): -0.1,
        },
        {
            "cost.residual_share": 0.05,
            "cost.pue": 1.2,
            "cost.support_share": 0.12,
            "cost.warranty_years": 1,
            "cost.later_price_change": -0.1,
        },
    ),
    "discount rate": ({("Factors", "Discount rate a year", "Value"): 0.04}, {"cost.discount_rate": 0.04}),
}
"""What is entered on the sheets, and the inputs of a design that say the same."""
QUANTITY: Edits = {("Bill of materials", "Tesla V100 PCIe 32GB", "Quantity"): 36}
LATER: Edits = {("Cost by year", f"Units bought or licensed: {H100}", "Year 2"): 12}


def changed(scenario: Scenario, values: dict[str, Any]) -> Scenario:
    for path, value in values.items():
        scenario = scenario.with_value(path, value)
    return scenario


@pytest.fixture(scope="module")
def summary(plans: dict[str, Plan]) -> Executive:
    """What an executive decides on of a design that grows, with all its alternatives."""
    return executive(plans["current"])


@pytest.fixture(scope="module")
def current(plans: dict[str, Plan], summary: Executive, tmp_path_factory: pytest.TempPathFactory) -> Formulas:
    """The formulas of a design that grows."""
    return Formulas(tmp_path_factory.mktemp("current"), plans["current"], summary)


@pytest.fixture(scope="module")
def enterprise(plans: dict[str, Plan], tmp_path_factory: pytest.TempPathFactory) -> Formulas:
    """The formulas of a design that does not."""
    return Formulas(tmp_path_factory.mktemp("enterprise"), plans["enterprise"], sheets=MONEY)


def test_calculated_anew_it_is_the_plan(enterprise: Formulas, plans: dict[str, Plan], tmp_path: Path) -> None:
    enterprise.calculated().agrees(plans["enterprise"])
    Formulas(tmp_path, plans["starter"], sheets=MONEY).calculated().agrees(plans["starter"])


def variant(name: str, catalog: Catalog) -> Plan:
    given, values = VARIANTS[name]
    scenario = load_scenario(given) if isinstance(given, str) else from_dict(given)
    prices = {f"prices.{key}": value for key, value in STATED.items()}
    plan = make_plan(changed(scenario, {**prices, **values}), catalog)
    assert plan.costs is not None and plan.costs.net_present > 0
    return plan


@pytest.mark.parametrize("name", of_the_day(list(VARIANTS), few=1))
def test_other_designs_calculated_anew(name: str, catalog: Catalog, tmp_path: Path) -> None:
    plan = variant(name, catalog)
    Formulas(tmp_path, plan, sheets=MONEY).calculated().agrees(plan)


def test_power_and_racks_of_each_kind_follow_its_hosts(catalog: Catalog, tmp_path: Path) -> None:
    """Two more hosts of one kind draw what a host of it draws, and take its racks."""
    plan = variant("several kinds of hosts", catalog)
    assert plan.power and plan.counts and plan.costs
    model, large, now = (
        Formulas(tmp_path, plan, sheets=MONEY),
        plan.power.kinds["Large"],
        plan.growth.hosts[0],
    )
    (servers,) = (m for m in plan.costs.materials if m.key == "servers@large")
    edits: Edits = {("Bill of materials", servers.name, "Quantity"): servers.quantity + 2}
    before, after = model.calculated(), model.calculated(edits)

    def more(name: str) -> float:
        at = find(model.file["Cost by year"], name)
        return float(after.value("Cost by year", at, 4) - before.value("Cost by year", at, 4))

    hosts = plan.counts.kinds[1].hosts(now)
    assert more("Racks") == -(-(hosts + 2) // large.per_rack) - -(-hosts // large.per_rack) > 0
    load = plan.growth.kinds["Large"][0] / plan.counts.kinds[1].gpus(now)
    busy_w = 2 * large.busy_w * (large.idle_share + (1 - large.idle_share) * load)
    assert more("Energy of hosts and switches, kWh") == pytest.approx(busy_w * 8.76)


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_changed_in_the_workbook_changes_the_cost_as_in_the_plan(
    name: str, current: Formulas, plans: dict[str, Plan], catalog: Catalog
) -> None:
    edits, values = CHANGES[name]
    found = current.calculated(edits)
    found.agrees(make_plan(changed(plans["current"].scenario, values), catalog))
    names_agree(found)


def names_agree(found: Calculated) -> None:
    """The sheet of names has the value of the cell that each stands for."""
    sheet = found.file["Names"]
    for row in range(5, sheet.max_row + 1):
        name, where = sheet.cell(row, 1).value, sheet.cell(row, 5).value
        tab, _, cell = where.replace("'", "").partition("!")
        at = found.file[tab][cell]
        shown = found.value("Names", row, 3)
        there = found.value(tab, at.row, at.column)
        assert shown in ("", None) or shown == (pytest.approx(there) if shown != "none" else there), name


def test_every_price_has_its_share_of_the_cost(current: Formulas, plans: dict[str, Plan]) -> None:
    """The quantities behind the prices are all that is paid: priced, they are the net present cost, whatever is changed."""
    for edits in (LATER, *(edits for edits, _ in CHANGES.values())):
        found = current.calculated(edits)
        in_all = find(found.file["Own prices"], "All items")
        assert found.value("Own prices", in_all, 9) == pytest.approx(found.result("5-year cost (NPV)"))


def test_an_own_price_says_what_it_changes(
    current: Formulas, plans: dict[str, Plan], catalog: Catalog
) -> None:
    edits, values = CHANGES["own prices"]
    found, sheet = current.calculated(edits), current.file["Own prices"]
    costs = plans["current"].costs
    assert costs is not None
    for (_, item, _), (path, value) in zip(edits, values.items(), strict=True):
        alone = make_plan(plans["current"].scenario.with_value(path, value), catalog).costs
        assert alone is not None
        difference = found.value("Own prices", find(sheet, item), 10)
        assert difference == pytest.approx(alone.net_present - costs.net_present, abs=0.01)
        assert found.value("Own prices", find(sheet, item), 8) == value
    both = found.result("5-year cost (NPV)") - costs.net_present
    assert found.value("Own prices", find(sheet, "All items"), 10) == pytest.approx(both, abs=0.01)
    assert found.on_overview("Your changes") == pytest.approx(both, abs=0.01)


PRICED: dict[str, dict[str, Any]] = {
    "as it is": {},
    "terms of one year": {"cost.licence_term_years": 1},
    "terms of five years": {"cost.licence_term_years": 5, "cost.years": 7},
    "another term stated": {"prices.vcf-core-year-5": 250.0, "prices.nvaie-year": 4_000.0},
    "five years, the nearer term stated": {
        "cost.licence_term_years": 5,
        "cost.years": 7,
        "prices.vcf-core-year": 300.0,
        "prices.nvaie-year-5": 3_000.0,
    },
    "with a margin, in euros": {"internal.margin": 0.1, "cost.currency": "EUR", "cost.usd_rate": 0.9},
}
"""Inputs of the enterprise example for which each price is changed alone."""


@pytest.mark.parametrize("name", of_the_day(list(PRICED), few=2))
def test_each_price_changed_alone_changes_the_cost_as_in_the_plan(
    name: str, catalog: Catalog, tmp_path: Path
) -> None:
    plan = make_plan(changed(load_scenario("enterprise"), PRICED[name]), catalog)
    assert plan.costs is not None
    model, terms = Formulas(tmp_path, plan, sheets=MONEY), list[tuple[Price, Edits]]()
    for price in plan.costs.prices:
        edits: Edits = {("Own prices", price.name, "Own price"): 0.8 * price.value}
        stated = plan.scenario.with_value(f"prices.{price.key}", 0.8 * float(price.given.value))
        found = model.calculated(edits)
        found.agrees(make_plan(stated, catalog))
        more = found.result("5-year cost (NPV)") - plan.costs.net_present
        difference = found.value("Own prices", find(model.file["Own prices"], "All items"), 10)
        assert difference == pytest.approx(more, abs=0.01) and more < 0
        terms += [(price, edits)] * (price.key in OTHER_TERMS)
    together: Edits = {edit: 0.4 * price.value for price, edits in terms for edit in edits}
    halved = {f"prices.{price.key}": 0.4 * float(price.given.value) for price, _ in terms}
    model.calculated(together).agrees(make_plan(changed(plan.scenario, halved), catalog))


FACTORS = {
    "Discount rate a year": ("cost.discount_rate", 0, 0.2),
    "Discount on hardware": ("cost.hardware_discount", 0, 0.5),
    "Discount on licences": ("cost.licence_discount", 0, 0.5),
    "Hardware support a year, share of the hardware": ("cost.support_share", 0, 0.3),
    "Years of warranty, free of support": ("cost.warranty_years", 0, 5),
    "Price change of hardware a year": ("cost.later_price_change", -0.3, 0.3),
    "Residual value at the end, share of the hardware": ("cost.residual_share", 0, 0.3),
    "PUE: power of the building over that of the machines": ("cost.pue", 1, 2.5),
    "GPU-hours used, share of those installed": ("cost.utilisation", 0.01, 1),
}
"""Factors that may be typed: the input that says the same, and its limits."""


def random_edits(plan: Plan, file: Any, seed: int) -> tuple[Edits, dict[str, Any]]:
    """A value in every cell of a price or a factor, and the inputs of a design that say the same."""
    draw, edits, values = random.Random(seed), dict[tuple[str, str, str], float | None](), dict[str, Any]()
    assert plan.costs is not None
    labels = {file["Factors"].cell(row, 1).value for row in range(5, file["Factors"].max_row + 1)}
    for label, (path, low, high) in FACTORS.items():
        if label in labels:
            value: float = round(draw.uniform(low, high), 4)
            value = draw.randint(0, 5) if path == "cost.warranty_years" else value
            edits["Factors", label, "Value"] = values[path] = value
    for price in plan.costs.prices:
        value = round(price.value * draw.uniform(0.3, 2), 4)
        edits["Own prices", price.name, "Own price"] = values[f"prices.{price.key}"] = value
    return edits, values


def alternatives_agree(found: Calculated, summary: Executive, plan: Plan) -> None:
    """Cost and difference now are those of the alternatives of a plan, where gpuplan still offers the same."""
    expected, same = {each.key: each for each in alternatives(plan)}, 0
    made = {each.alternative.key: each.alternative for each in summary.priced}
    for row, key in enumerate((each.key for each in summary.choices), start=7):
        if (
            key not in expected
            or made[key].hosts != expected[key].hosts
            or made[key].name != expected[key].name
        ):
            continue
        same += 1
        cost, difference = (found.value("Alternatives", row, column) for column in (7, 8))
        assert cost == pytest.approx(expected[key].net_present, abs=0.01), key
        assert difference == pytest.approx(expected[key].difference, abs=0.01), key
    assert same > len(summary.choices) / 2


@pytest.mark.parametrize("name", CHANGES)
def test_alternatives_follow_every_price_and_factor(
    name: str, current: Formulas, summary: Executive, plans: dict[str, Plan], catalog: Catalog
) -> None:
    edits, values = CHANGES[name]
    changed_plan = make_plan(changed(plans["current"].scenario, values), catalog)
    alternatives_agree(current.calculated(edits), summary, changed_plan)
    assert {"n0", "n2", "board", "silos"} <= {each.key for each in summary.choices}


@pytest.mark.parametrize("seed", of_the_day(list(range(12)), few=2))
def test_random_values_in_every_cell_of_a_price_or_a_factor(
    seed: int, current: Formulas, summary: Executive, plans: dict[str, Plan], catalog: Catalog
) -> None:
    """Parts, years, results and alternatives are those of the plan with the same inputs."""
    edits, values = random_edits(plans["current"], current.file, seed)
    plan, found = make_plan(changed(plans["current"].scenario, values), catalog), current.calculated(edits)
    found.agrees(plan)
    alternatives_agree(found, summary, plan)


def test_a_stated_utilisation_and_rents_move_alternatives(catalog: Catalog, tmp_path: Path) -> None:
    """GPU-hours in use and the power of their GPUs, and the price of what only an alternative has."""
    scenario = load_scenario("assistant").with_value("cost.utilisation", 0.4)
    plan = make_plan(scenario, catalog)
    summary, shown = executive(plan), {"rent-on-demand"}
    model = Formulas(tmp_path, plan, summary)
    edits, values = random_edits(plan, model.file, 7)
    assert "cost.utilisation" in values and shown <= {each.key for each in summary.choices}
    alternatives_agree(model.calculated(edits), summary, make_plan(changed(scenario, values), catalog))
    sheet, before = model.file["Alternative costs"], model.calculated()
    row = next(r for r in range(8, sheet.max_row + 1) if str(sheet.cell(r, 2).value).startswith("Rent"))
    rent = next(n for n, each in enumerate(summary.choices, start=7) if each.key == "rent-on-demand")
    paid = sheet.cell(row, 4)
    assert not paid.protection.locked
    twice = model.calculated(cells={("Alternative costs", paid.coordinate): 2 * paid.value})
    assert twice.value("Alternatives", rent, 7) == pytest.approx(2 * before.value("Alternatives", rent, 7))


def test_orders_follow_the_quantities_of_the_sheets(current: Formulas, plans: dict[str, Plan]) -> None:
    """More boards at the start and at the end of the second year are in the phases and in what is paid for them."""
    start: Edits = {("Bill of materials", H100, "Quantity"): 44}
    before, after = current.calculated(), current.calculated({**start, **LATER})
    sheet = current.file["Orders"]
    first = find(sheet, H100)
    row = next(r for r in range(first + 1, sheet.max_row + 1) if sheet.cell(r, 1).value == H100)
    paid = next(
        r for r in range(row, sheet.max_row + 1) if str(sheet.cell(r, 1).value).startswith("Hardware")
    )
    assert [after.value("Orders", row, n) for n in (2, 4, 7)] == [44, 12, before.value("Orders", row, 7) + 8]
    assert after.value("Orders", first, 4) == 44
    plan = plans["current"].costs
    assert plan is not None
    more = after.value("Orders", paid, 2) - before.value("Orders", paid, 2)
    assert more == pytest.approx(4 * next(p.value for p in plan.prices if p.name == H100))


def test_no_two_cells_ask_for_the_same(current: Formulas) -> None:
    """Every input is one cell: prices and factors by their label, quantities by item and year."""
    asked = []
    for sheet in current.file:
        for row in sheet.iter_rows():
            cells = [cell for cell in row if not cell.protection.locked]
            about = tuple(str(cell.value) for cell in row[:3])
            asked += [(sheet.title in ("Own prices", "Factors"), about, cell.column) for cell in cells]
    assert len(asked) == len(set(asked)) > 20


def test_a_quantity_changes_money_and_gpu_hours(enterprise: Formulas, plans: dict[str, Plan]) -> None:
    four_more_v100(enterprise.calculated(QUANTITY), plans["enterprise"])


def four_more_v100(found: Calculated, plan: Plan) -> None:
    """Four more V100: their price at the start, their support each year, four more GPUs to divide by."""
    costs = plan.costs
    assert costs is not None and costs.discount_rate == 0.0723
    sheet = found.file["Cost by year"]
    worth = 4 * 9937.5
    annuity = sum(1 / 1.0723**year for year in range(1, 6))
    present = found.result("5-year cost (NPV)")
    growth = 0.0
    for year in range(1, 6):  # 28 of 36 GPUs are used instead of 28 of 32: idle ones draw less
        row = find(sheet, "Power")
        power = found.value("Cost by year", row, 3 + year) + found.value("Cost by year", row + 1, 3 + year)
        growth += (
            power - costs.part("Power").yearly[year] - costs.part("Cooling").yearly[year]
        ) / 1.0723**year
    assert growth < 0
    assert present == pytest.approx(costs.net_present + worth * (1 + 0.08 * annuity) + growth, rel=0.01)
    support = found.beside("Cost by year", "Hardware support", 6)
    share = costs.part("Hardware support").yearly[3] / costs.hardware
    assert support == pytest.approx((costs.hardware + worth) * share)
    hour = found.result("Cost per installed GPU-hour")
    assert hour == pytest.approx(present / (36 * 8760 * annuity))
    assert found.result("Cost per used GPU-hour") == pytest.approx(present / (28 * 8760 * annuity))


def test_the_units_of_a_later_year_are_paid_then(current: Formulas, plans: dict[str, Plan]) -> None:
    twelve_h100_later(current.calculated(LATER), current.calculated(), plans["current"])


def twelve_h100_later(found: Calculated, before: Calculated, plan: Plan) -> None:
    """Other boards bought after year 2: their price then, their support from the end of the warranty, their worth at the end."""
    costs = plan.costs
    assert costs is not None
    own = next(price for price in costs.prices if price.name == H100)
    row = find(found.file["Cost by year"], H100, 2, "Units bought or licensed")
    more = 12 - before.value("Cost by year", row, 5)
    assert more
    factors = found.file["Factors"]
    names = ("Price change of hardware a year", "Hardware support a year, share of the hardware",
             "Years of warranty, free of support", "Residual value at the end, share of the hardware")  # fmt: skip
    change, support, warranty, residual = (factors.cell(find(factors, name), 2).value for name in names)
    worth = more * own.value * (1 + change) ** 2
    for year in range(costs.years + 1):
        paid = worth * (year == 2) - residual * worth * (year == costs.years)
        paid += support * worth * (year < costs.years and year >= 2 + warranty)
        for part, due in (("GPUs", worth * (year == 2)), ("All parts", paid)):
            grown = found.beside("Cost by year", part, 3 + year) - before.beside(
                "Cost by year", part, 3 + year
            )
            energy = 0.0
            if part == "All parts":
                energy = sum(
                    found.beside("Cost by year", each, 3 + year)
                    - before.beside("Cost by year", each, 3 + year)
                    for each in ("Power", "Cooling")
                )
            assert grown - energy == pytest.approx(due, abs=0.01), (part, year)


def test_a_price_that_nobody_knew_is_filled_in(catalog: Catalog, tmp_path: Path) -> None:
    catalog = unpriced(catalog, "switches/dell-s5224f-on", "cable-10g")
    plan = make_plan(load_scenario("starter"), catalog)
    assert plan.costs is not None and len(plan.costs.unknown) == 2
    stated = {f"prices.{item.key}": 5_000.0 for item in plan.costs.unknown}
    model = Formulas(tmp_path, plan, sheets=MONEY)
    before, sheet = model.calculated(), model.file["Cost by year"]
    item = plan.costs.unknown[0].name
    note = next(cell.column for cell in sheet[4] if cell.value == "Note")
    row = find(sheet, item, 2)
    assert is_approved(before.value("Cost by year", row, note))
    found = model.calculated({("Own prices", each.name, "Own price"): 5_000 for each in plan.costs.unknown})
    found.agrees(make_plan(changed(plan.scenario, stated), catalog))
    assert found.value("Cost by year", row, note) == ""
    bill = model.file["Bill of materials"]
    price = next(cell.column for cell in bill[4] if str(cell.value).startswith("Unit price"))
    assert before.value("Bill of materials", find(bill, item, 2), price) == "not known"
    assert found.value("Bill of materials", find(bill, item, 2), price) == 5_000


def test_the_power_of_a_switch_that_nobody_knew_is_filled_in(
    enterprise: Formulas, plans: dict[str, Plan]
) -> None:
    plan = plans["enterprise"]
    assert plan.power is not None and plan.power.leaf_w == 0
    label = "Energy of hosts and switches, kWh"
    before = enterprise.calculated().beside("Cost by year", label, 4)
    after = enterprise.calculated({("Factors", "A leaf switch", "Value"): 100})
    assert after.beside("Cost by year", label, 4) - before == pytest.approx(2 * 0.1 * 8760)


def test_libreoffice_calculates_every_change_as_the_plan_does(
    plans: dict[str, Plan], current: Formulas, catalog: Catalog, tmp_path: Path
) -> None:
    libreoffice()
    grown, small = plans["current"], plans["enterprise"]

    def changes(name: str, opened: Opened) -> None:
        edits, values = CHANGES[name]
        opened.agrees(make_plan(changed(grown.scenario, values), catalog))
        names_agree(opened)
        if name in ("own prices", "discounts"):
            same_alternatives(opened, current.calculated(edits))

    cases: dict[str, tuple[Callable[[], bytes], Callable[[Opened], None]]] = {
        **{
            name: (partial(edited, current.file, edits), partial(changes, name))
            for name, (edits, _) in CHANGES.items()
        },
        "quantity": (
            lambda: edited(live_part(small, sheets=MONEY), QUANTITY),
            lambda opened: four_more_v100(opened, small),
        ),
        "later": (
            lambda: edited(current.file, LATER),
            lambda opened: twelve_h100_later(opened, current.calculated(), grown),
        ),
        **{
            name: (
                lambda name=name: edited(live_part(variant(name, catalog), sheets=MONEY), {}),
                lambda opened, name=name: opened.agrees(variant(name, catalog)),
            )
            for name in VARIANTS
        },
    }
    chosen = of_the_day(list(cases), few=4)
    books = {f"{at}.xlsx": cases[name][0]() for at, name in enumerate(chosen)}
    for name, path in zip(chosen, converted(tmp_path, books, "xlsx").values(), strict=True):
        opened = Opened(openpyxl.load_workbook(path, data_only=True))
        cases[name][1](opened)
        no_errors(opened.file)


def test_libreoffice_counts_nothing_for_a_price_that_nobody_knows(catalog: Catalog, tmp_path: Path) -> None:
    """It is an empty text, with which no spreadsheet calculates."""
    libreoffice()
    costs = {"private_ai": True, "licence_term_years": 1}
    plan = make_plan(from_dict({"groups": [{"id": "a", "people": 6}], "cost": costs}), catalog)
    assert plan.costs is not None and plan.costs.unknown
    books = {"unknown.xlsx": edited(live_part(plan, sheets=MONEY), {})}
    (path,) = converted(tmp_path, books, "xlsx").values()
    opened = Opened(openpyxl.load_workbook(path, data_only=True))
    opened.agrees(plan)
    no_errors(opened.file)


def same_alternatives(one: Calculated, other: Recalculated) -> None:
    """Both programs have the same live costs of the alternatives."""
    sheet = other.file["Alternatives"]
    row = 7
    while sheet.cell(row, 1).value:
        for column in (7, 8):
            mine, theirs = (each.value("Alternatives", row, column) for each in (one, other))
            assert mine == (pytest.approx(theirs) if isinstance(theirs, float) else theirs or None)
        row += 1


def no_errors(file: Any) -> None:
    """No cell says that it cannot be calculated."""
    for sheet in file:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "e", (sheet.title, cell.coordinate, cell.value)


def test_the_file_is_opened_as_it_is_written(plans: dict[str, Plan], summary: Executive) -> None:
    """The values that the formulas carry are those that a program shows without calculating."""
    kept = Opened(book(plans["current"], summary))
    kept.agrees(plans["current"])
    names_agree(kept)
