"""What the tests of the picture of the hosts share: designs, and a cluster as the screen gets it."""

from __future__ import annotations

import json
from typing import Any

from gpuplan.app.state import Workbook
from gpuplan.app.steps.hosts import picture_data
from gpuplan.scenario import Scenario, from_dict


def plain(data: Any) -> Any:
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def scenario(**data: Any) -> Scenario:
    return from_dict(data)


def pool_of(book: Workbook, at: int = 0) -> dict[str, Any]:
    pool = plain(picture_data(book))["pools"][at]
    assert isinstance(pool, dict)
    return pool


def mixed(sizes: str = "mixed") -> Scenario:
    return scenario(
        groups=[
            {"id": "a", "name": "Halves", "people": 3, "gpus_each": 0.5},
            {"id": "b", "name": "Quarters", "people": 1, "gpus_each": 0.25},
        ],
        hardware={"gpu": "l40s-48gb"},
        platform={"vsphere": "8.0u3", "vgpu_sizes": sizes},
    )
