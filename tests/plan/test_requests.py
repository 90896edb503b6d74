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


def test_mixed_sizes_are_of_time_slices_and_not_of_mig_instances(catalog: Catalog) -> None:
    """No source says where the slices of this GPU start: 7 of a seventh on a GPU in either mode; of 16 of 48 GB 3 or 2."""
    for gpu, gpus_each, isolation, held in (
        ("h100-sxm5-64gb", "1/7", True, {"equal": 7, "mixed": 7}),
        ("h100-sxm5-64gb", "2/7", True, {"equal": 3, "mixed": 3}),
        ("l40s-48gb", "1/3", False, {"equal": 3, "mixed": 2}),
    ):
        group = {
            "id": "a",
            "people": 6,
            "gpus_each": gpus_each,
            "isolation": isolation,
            "remote_allowed": False,
        }
        for mode, most in held.items():
            data = {
                "groups": [group],
                "hardware": {"gpu": gpu, "gpus_per_host": 4},
                "platform": {"vsphere": "8.0u3", "vgpu_sizes": mode},
            }
            plan = make_plan(from_dict(data), catalog)
            assert plan.pools[0].gpus_occupied == -(-6 // most)
