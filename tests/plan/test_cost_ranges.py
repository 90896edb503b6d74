"""Ranges of the cost: one cause by hand, several against plans drawn at random, directions, and what has none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from random_cases import examples
from stated_money import costs_of, priced

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.cost_ranges import SUPPORT, CostRanges
from gpuplan.plan.prices import catalog_factor
from gpuplan.scenario import Scenario

NINETY = 1.6448536269514722


def ranges_of(plan: Plan) -> CostRanges:
    assert plan.cost_ranges is not None
    return plan.cost_ranges


def stated(catalog: Catalog) -> Scenario:
    """The enterprise example with every price and factor stated: without a range."""
    scenario = priced(load_scenario("enterprise"))
    for price in costs_of(make_plan(scenario, catalog)).prices:
        scenario = scenario.with_value(f"prices.{price.key}", price.value)
    return scenario


def test_without_ranges_low_and_high_are_the_total(catalog: Catalog) -> None:
    plan = make_plan(stated(catalog), catalog)
    costs, found = costs_of(plan), ranges_of(plan)
    assert found.causes == {}
    assert found.net_present == pytest.approx([costs.net_present] * 2)
    assert found.total == pytest.approx([costs.total] * 2)
    for low, high, paid in ((*ends, paid) for ends, paid in zip(found.cash, costs.cash, strict=True)):
        assert low == high == pytest.approx(paid)


def test_two_causes_by_hand(catalog: Catalog) -> None:
    """32 boards at 9,000, 6,000 to 15,000, without support; electricity alone moves the power of the years."""
    scenario = stated(catalog).with_value("cost.support_share", 0)
    ranges = (("prices.gpus/v100-pcie-32gb", (6_000, 15_000)), ("prices.electricity-kwh", (0.1, 0.3)))
    plan = make_plan(_ranged(scenario, ranges), catalog)
    costs, found = costs_of(plan), ranges_of(plan)
    energy = sum(
        paid / 1.1**year for name in ("Power", "Cooling") for year, paid in enumerate(costs.part(name).yearly)
    )
    assert found.causes["GPUs"] == pytest.approx(
        (costs.net_present - 32 * 3_000, costs.net_present + 32 * 6_000)
    )
    assert found.causes["electricity"] == pytest.approx(
        (costs.net_present - 0.5 * energy, costs.net_present + 0.5 * energy)
    )
    assert found.net_present == pytest.approx(
        (
            costs.net_present - math.hypot(32 * 3_000, 0.5 * energy),
            costs.net_present + math.hypot(32 * 6_000, 0.5 * energy),
        )
    )
    assert found.hardware == pytest.approx((costs.hardware - 32 * 3_000, costs.hardware + 32 * 6_000))
    assert found.parts["GPUs"] == pytest.approx((32 * 6_000, 32 * 15_000))
    assert found.parts["Servers"] == pytest.approx([costs.part("Servers").total] * 2)
    used, installed = costs.gpu_hour_used, costs.gpu_hour_installed
    assert used and installed and found.gpu_hour_used and found.gpu_hour_installed
    for ends, hour in ((found.gpu_hour_used, used), (found.gpu_hour_installed, installed)):
        assert np.array(ends) / hour == pytest.approx(np.array(found.net_present) / costs.net_present)


def test_pue_and_discount_rate_by_hand(catalog: Catalog) -> None:
    """PUE 1.5, 1.25 to 2: cooling halves or doubles. Rate 10 %, 5 to 12 %: low rate, high cost, of the hours too."""
    bare = stated(catalog)
    ranges = (("cost.pue", (1.25, 2.0)), ("cost.discount_rate", (0.05, 0.12)))
    plan = make_plan(_ranged(bare, ranges), catalog)
    costs, found = costs_of(plan), ranges_of(plan)
    assert costs.net_present == costs_of(make_plan(bare, catalog)).net_present

    def present(rate: float, cash: tuple[float, ...]) -> float:
        return sum(paid / (1 + rate) ** year for year, paid in enumerate(cash))

    cooling = present(0.1, costs.part("Cooling").yearly)
    assert found.causes["pue"] == pytest.approx(
        (costs.net_present - cooling / 2, costs.net_present + cooling)
    )
    by_rate = [present(rate, costs.cash) for rate in (0.12, 0.05)]
    assert found.causes["discount_rate"] == pytest.approx(by_rate)
    assert found.total == pytest.approx(
        (costs.total - costs.part("Cooling").total / 2, costs.total + costs.part("Cooling").total)
    )
    hours = [present(rate, (0.0, *costs.gpu_hours)) for rate in (0.12, 0.1, 0.05)]
    dearer, now, cheaper = by_rate[0] / hours[0], costs.net_present / hours[1], by_rate[1] / hours[2]
    assert found.gpu_hour_installed == pytest.approx(
        (
            now - math.hypot(now - cheaper, cooling / 2 / hours[1]),
            now + math.hypot(dearer - now, cooling / hours[1]),
        )
    )


def _ranged(scenario: Scenario, ranges: tuple[tuple[str, tuple[float, float]], ...]) -> Scenario:
    for path, ends in ranges:
        scenario = scenario.with_value(f"ranges.{path}", ends)
    return scenario


def test_prices_of_one_cause_move_together(catalog: Catalog) -> None:
    """Switches, adapters and cables are one cause: their moves add up."""
    plan = make_plan(load_scenario("enterprise"), catalog)
    costs, found = costs_of(plan), ranges_of(plan)
    network = [m for m in costs.materials if m.part == "Network"]
    assert len(network) > 2
    low = sum(m.quantity * float(m.price.fact.low or 0) for m in network if m.price)
    assert found.parts["Network"][0] == pytest.approx(low)
    causes = {SUPPORT, "vcf", "nvaie", "GPUs", "Servers", "pue", "discount_rate"}
    assert causes <= set(found.causes)


def test_the_range_holds_ninety_per_cent_of_plans_drawn_at_random(catalog: Catalog) -> None:
    """Each cause at a place of its own, its range the middle 90 %: plans made anew with all prices stated."""
    plan = make_plan(load_scenario("enterprise"), catalog)
    costs, found = costs_of(plan), ranges_of(plan)
    shares = {
        "support_share": SUPPORT,
        "pue": "pue",
        "discount_rate": "discount_rate",
    }
    rng, inside, draws = np.random.default_rng(3), 0, examples(300, few=75)
    for _ in range(draws):
        place = {cause: rng.normal() / NINETY for cause in found.causes}
        scenario = plan.scenario

        def at(cause: str, value: float, low: float, high: float, place: dict[str, float] = place) -> float:
            z = place.get(cause, 0.0)
            return max(0.0, value + z * ((value - low) if z < 0 else (high - value)))

        for price in costs.prices:
            fact = price.fact
            value = at(price.cause, price.value, float(fact.low or 0), float(fact.high or 0))
            scenario = scenario.with_value(f"prices.{price.key}", value)
        for name, cause in shares.items():
            share = catalog_factor(catalog, name)
            drawn = at(cause, float(share.value), float(share.low or 0), float(share.high or 0))
            scenario = scenario.with_value(f"cost.{name}", max(drawn, 1.0) if name == "pue" else drawn)
        low, high = found.net_present
        inside += low <= costs_of(make_plan(scenario, catalog)).net_present <= high
    assert 0.84 <= inside / draws <= 0.96


def test_a_quotation_narrows_the_range(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("enterprise"), catalog)
    price = next(p for p in costs_of(plan).prices if p.key.startswith("gpus/"))
    quoted = make_plan(plan.scenario.with_value(f"prices.{price.key}", price.value), catalog)
    assert costs_of(quoted).net_present == pytest.approx(costs_of(plan).net_present)
    (low, high), (least, most) = ranges_of(quoted).net_present, ranges_of(plan).net_present
    assert least < low < high < most
    assert "GPUs" not in ranges_of(quoted).causes


def test_every_total_lies_within_its_range(example: Plan) -> None:
    costs, found = costs_of(example), ranges_of(example)
    assert found.net_present[0] < costs.net_present < found.net_present[1]
    assert found.total[0] < costs.total < found.total[1]
    assert found.hardware[0] <= costs.hardware <= found.hardware[1]
    for ends, paid in zip(found.cash, costs.cash, strict=True):
        assert ends[0] <= paid <= ends[1]
    for part in costs.parts:
        low, high = found.parts[part.name]
        assert 0 <= low <= part.total <= high
    widths = [high - low for low, high in found.causes.values()]
    assert widths == sorted(widths, reverse=True)


def test_without_hosts_there_is_none(catalog: Catalog) -> None:
    assert make_plan(Scenario(), catalog).cost_ranges is None
