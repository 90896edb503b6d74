"""Requests: what a share of a GPU really takes."""

from __future__ import annotations

from typing import Any

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.working_week import weeks
from gpuplan.scenario import Scenario, from_dict


def scenario(*groups: dict[str, Any], **demand: Any) -> Scenario:
    return from_dict({"groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)], "demand": demand})


def test_a_share_takes_what_a_gpu_holds_of_its_like(catalog: Catalog) -> None:
    """0.3 of a GPU is half a profile where no smaller one gives it: two fit on a GPU, not three and a third."""
    data = {
        "groups": [
            {"id": "a", "people": 60, "active_share": 0.3, "gpus_each": 0.3, "access": "vgpu"},
            {"id": "b", "people": 10, "gpus_each": 2, "vms_each": 3},
        ],
        "hardware": {"gpu": "h100-nvl-94gb", "gpus_per_host": 4},
    }
    plan = make_plan(from_dict(data), catalog)
    sizes = {g: week.gpus for g, week in weeks(plan.scenario, catalog, plan.groups)["July"].items()}
    assert sizes == {"a": 0.5, "b": 6}
    assert weeks(plan.scenario, catalog)["July"]["a"].gpus == 0.3
    assert plan.pools[0].gpus_occupied == 18 / 2 + 60
