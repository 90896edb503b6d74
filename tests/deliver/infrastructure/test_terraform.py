"""Which Terraform files a design has: both flavours where the provider supports its version, and none that would be empty."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatch

import pytest
from infrastructure_code import parse
from infrastructure_designs import VERSIONS, design
from site_values import all_typed

from gpuplan import Plan, make_plan
from gpuplan.deliver.infrastructure import infrastructure_files
from gpuplan.deliver.infrastructure.terraform import (
    VCF_FILES,
    VSPHERE_FILES,
    foundation,
    shown,
    subnets,
    terraform_files,
)
from gpuplan.report.site import site_fields


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


BOTH = ("host.*.name", "vcenter.name", "datacenter.name", "cluster.*.datastore")
VALUES = {
    "vsphere": (*BOTH, "role.automation", "network.*management.vlan", "network.*vmotion.vlan"),
    "vcf": (
        *(BOTH[:3]),
        *("sddc.*", "domain.name", "vcenter.*", "nsx.*", "manager.*", "network.*vm-management.gateway"),
        *("network.*vmotion.*", "network.*storage.*", "network.*-overlay.*", "network.overlay.*"),
    ),
}
"""Flavour -> keys of the names and addresses that its variables take."""


@pytest.mark.parametrize("name", ["current", "sites", "vsan", "mig"])
def test_what_is_stated_is_in_the_values_of_terraform(name: str) -> None:
    plan = design(name)
    full = make_plan(all_typed(plan), plan.catalog)
    found = infrastructure_files(full)
    for flavour, keys in VALUES.items():
        text = found[f"terraform/{flavour}/terraform.tfvars.example"]
        assert parse(text)
        for each in site_fields(full):
            if any(fnmatch(each.key, key) for key in keys) and not each.key.endswith("vm-management.vlan"):
                ends = each.value.split("-") if each.key.endswith(".range") else [each.value]
                assert all(end in text for end in ends), each.key
        assert [line for line in text.splitlines() if ".example.com" in line and "server-" not in line] == []
        assert "00000000" not in text


def test_a_stated_text_is_no_code_of_terraform() -> None:
    plan = design("current")
    pool = plan.pools[0].id
    site = {f"cluster.{pool}.datastore": '${file("/etc/passwd")}" }', "role.automation": 'a\\b"%{if true}'}
    stated = make_plan(replace(plan.scenario, site=tuple(site.items())), plan.catalog)
    for path, text in infrastructure_files(stated).items():
        if path.endswith("vsphere/terraform.tfvars.example"):
            found = parse(text)
            assert (
                "$${file" in text
                and found["vsphere_user"]
                and "/etc/passwd" in str(found[f"{pool}_datastore"])
            )
