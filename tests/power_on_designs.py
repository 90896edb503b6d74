"""A design whose orders of power-on are counted by hand, for the tests of power-on."""

from __future__ import annotations

from typing import Any

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario, from_dict

DEFAULTS = {"gpu_policy": "spread", "drs_consolidation": False}
"""The defaults of vSphere, stated: where they are not, the design decides."""


def stated(scenario: Scenario) -> Scenario:
    """A scenario with the defaults of vSphere, as the customer states them."""
    for name, value in DEFAULTS.items():
        scenario = scenario.with_value(f"platform.{name}", value)
    return scenario


def one_large_among_small(catalog: Catalog, **sections: Any) -> Plan:
    """A VM with 4 GPUs and four with one on two hosts of 4, none spare.

    Spread, the first VM goes to one host and the second to the other. The large one starts if it is the first or the second of
    the five: 2 of 5 orders. On h hosts it is among the first h; on 5 always.
    """
    data = {
        "groups": [
            {"id": "large", "name": "Researchers", "people": 1, "gpus_each": 4},
            {"id": "small", "name": "Developers", "people": 4, "gpus_each": 1},
        ],
        "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
        "availability": {"host_failures": 0},
        "platform": DEFAULTS,
        **sections,
    }
    for group in data["groups"]:
        group |= {"access": "vgpu", "remote_allowed": False}
    return make_plan(from_dict(data), catalog)
