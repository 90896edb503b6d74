"""Designs of several sites, and designs with more people."""

from __future__ import annotations

from typing import Any

from gpuplan.scenario import Scenario, from_dict


def two_sites(berlin: int, austin: int, **sections: Any) -> Scenario:
    """So many people with a GPU each at two sites, on hosts of four GPUs."""
    groups = [
        {"id": site.lower(), "people": people, "sites": f"{site} {people}", "access": "passthrough"}
        for site, people in (("Berlin", berlin), ("Austin", austin))
    ]
    base: dict[str, Any] = {
        "groups": [{**group, "active_share": 1} for group in groups],
        "hardware": {"gpu": "h100-nvl-94gb", "gpus_per_host": 4},
        "availability": {"split": "by-site"},
        "network": {"link_gbit_s": 100, "other_gbit_s": 150},
    }
    return from_dict(base | sections)


def larger(scenario: Scenario, times: int) -> Scenario:
    """The same workloads with so many times the people."""
    data = scenario.to_dict()
    for group in data["groups"]:
        group["people"] *= times
    return from_dict(data)
