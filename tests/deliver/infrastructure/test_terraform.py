"""Which Terraform files a design has: both flavours where the provider supports its version, and none that would be empty."""

from __future__ import annotations

from infrastructure_designs import VERSIONS, design

from gpuplan import Plan
from gpuplan.deliver.infrastructure.terraform import (
    VCF_FILES,
    VSPHERE_FILES,
    foundation,
    shown,
    subnets,
    terraform_files,
)


def files(plan: Plan) -> dict[str, str]:
    return terraform_files(plan, {"title": "A design", **shown(plan)})


def test_the_flavour_of_cloud_foundation_is_there_where_its_provider_takes_the_version(example: Plan) -> None:
    found = files(example)
    assert {f"vsphere/{name}" for name in (*VSPHERE_FILES, "versions.tf", "README.md")} <= found.keys()
    vcf = {f"vcf/{name}" for name in (*VCF_FILES, "versions.tf", "README.md")}
    assert (vcf <= found.keys()) == (foundation(example) is not None)
    assert not vcf & found.keys() or foundation(example) is not None


def test_hosts_are_named_as_in_the_plan(plans: dict[str, Plan]) -> None:
    found = files(plans["enterprise"])
    example = found["vsphere/terraform.tfvars.example"]
    assert all(f"vgpu-{number:02}" in example for number in range(1, 9)) and "vgpu-09" not in example


def test_there_is_no_file_of_vms_without_vms() -> None:
    found = files(design("all-pods"))
    assert "vsphere/vms.tf" not in found
    assert all(text.strip() and text.endswith("\n") for text in found.values())


def test_the_versions_differ_in_what_the_provider_takes(plans: dict[str, Plan]) -> None:
    taken = {version for version in VERSIONS if foundation(_of(plans["current"], version)) is not None}
    assert taken and "6.7u3" not in taken


def _of(plan: Plan, version: str) -> Plan:
    return plan.but(scenario=plan.scenario.with_value("platform.vsphere", version))


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


def test_subnets_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """All eight hosts are at one site: 8, 5, 8, 8, 8, 16, 45 and 8 addresses."""
    plan = plans["enterprise"]
    (site,) = shown(plan)["sites"]
    assert subnets(plan, site) == {
        "management": 28,
        "vm-management": 29,
        "bmc": 28,
        "vmotion": 28,
        "storage": 28,
        "overlay": 27,
        "vm": 26,
        "rdma": 28,
    }
