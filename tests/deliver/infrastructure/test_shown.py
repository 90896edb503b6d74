"""What the templates show of a plan is the plan's: clusters, hosts, subnets and the names of profiles."""

from __future__ import annotations

import pytest
from infrastructure_designs import design

from gpuplan import Plan
from gpuplan.deliver.infrastructure.shown import shown, subnets, vsphere_profile


def test_clusters_and_hosts_are_those_of_the_plan(example: Plan) -> None:
    given = shown(example)
    assert sum(cluster["hosts"] for cluster in given["clusters"]) == example.totals.hosts
    names = [name for cluster in given["clusters"] for name in cluster["host_names"]]
    assert len(names) == len(set(names)) == example.totals.hosts
    for cluster in given["clusters"]:
        assert sorted((*cluster["used"], *cluster["spare"])) == list(range(cluster["hosts"]))
        assert 0 <= cluster["tolerated"] < cluster["hosts"]


def test_one_site_has_no_name_and_several_have_their_own(plans: dict[str, Plan]) -> None:
    (site,) = shown(plans["enterprise"])["sites"]
    assert (site.id, site.named("dvs"), site.where) == ("", "dvs", "")
    several = shown(design("sites-vsan-9"))["sites"]
    assert len(several) == 2 and len({site.id for site in several}) == 2
    assert all(site.named("dvs") == f"{site.id}_dvs" and site.name in site.where for site in several)


@pytest.mark.parametrize(
    ("name", "profile", "called"),
    [("enterprise", "V100D-32C", "grid_v100d-32c"), ("current", "H100L-47C", "nvidia_h100l-47c")],
)
def test_profiles_are_called_as_vsphere_lists_them(
    plans: dict[str, Plan], name: str, profile: str, called: str
) -> None:
    assert vsphere_profile(plans[name], profile) == called


def test_subnets_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """All eight hosts are at one site: 16, 8, 8, 16, 41 and 8 addresses."""
    plan = plans["enterprise"]
    (site,) = shown(plan)["sites"]
    assert subnets(plan, site) == {
        "management": 27,
        "vmotion": 28,
        "storage": 28,
        "overlay": 27,
        "vm": 26,
        "rdma": 28,
    }
