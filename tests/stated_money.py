"""Designs whose prices and factors are stated, so that a table of cost can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpuplan import Plan
from gpuplan.catalog import Catalog
from gpuplan.plan.cost import Costs
from gpuplan.scenario import Scenario

PRICES = {
    "servers/dell-c4140": 20_000,
    "gpus/v100-pcie-32gb": 9_000,
    "adapter-100g": 1_000,
    "switches/sn3700c": 12_000,
    "cable-100g": 100,
    "vcf-core-year": 300,
    "vcf-core-year-1": 300,
    "nvaie-year": 4_000,
    "nvaie-year-3": 4_000,
    "nvaie-year-5": 3_600,
    "nvaie-perpetual": 22_000,
    "nvaie-support-year": 900,
    "electricity-kwh": 0.2,
    "rack-year": 10_000,
    "administration-host-year": 3_000,
}


def priced(scenario: Scenario, **cost: Any) -> Scenario:
    """The scenario with the prices and factors of these tests."""
    for key, price in PRICES.items():
        scenario = scenario.with_value(f"prices.{key}", price)
    given = {
        "years": 5,
        "discount_rate": 0.1,
        "pue": 1.5,
        "rack_kw": 8,
        "sockets": 2,
        "cores_per_socket": 24,
        "support_share": 0.1,
        "warranty_years": 0,
        "licence_term_years": 1,
        "residual_share": 0,
        "host_base_w": 500,
    }
    for name, value in (given | cost).items():
        scenario = scenario.with_value(f"cost.{name}", value)
    return scenario


def costs_of(plan: Plan) -> Costs:
    assert plan.costs is not None
    return plan.costs


def unpriced(catalog: Catalog, *keys: str) -> Catalog:
    """The catalog of somebody who has no price of these."""
    rows = catalog._rows["prices"]
    left = {id: row for id, row in rows.items() if not {id, row["item"]} & set(keys)}
    assert len(left) < len(rows)
    return replace(catalog, _rows={**catalog._rows, "prices": left})
