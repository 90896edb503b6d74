"""The workload domain of VMware Cloud Foundation: hosts, clusters, ports and addresses of the plan, arguments of the release."""

from __future__ import annotations

import ipaddress
import re
from typing import Any

import pytest
from approved import has_approved
from infrastructure_code import module, parse, parsed, provider_of
from infrastructure_designs import VERSIONS, design, files_of

from gpuplan.report.physical import networks

SUPPORTED = {
    "7.0u3": ("VCF 4.5.2", "0.11.0"),
    "8.0u2": ("VCF 5.1", "0.11.0"),
    "8.0u3": ("VCF 5.2.1", "~> 0.16.2"),
    "9.0": ("VCF 9.0", "~> 0.19.0"),
    "9.0.1": ("VCF 9.0.1", "~> 0.19.0"),
    "9.1": ("VCF 9.1", "~> 0.19.0"),
}
DESIGNS = ("current", "assistant", "existing", "mig", "sites", "sites-vsan-9", "large", "vsan", "vsphere-9.0")


def domain(name: str) -> dict[str, Any]:
    """The parsed files of the workload domain of a design."""
    return parsed(module(files_of(name), "terraform/vcf"))


def clusters_of(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Name -> body of each cluster, the first that of the domain."""
    (first,) = found["resource"]["vcf_domain", "gpu"]["cluster"]
    more = [body for (kind, _), body in found["resource"].items() if kind == "vcf_cluster"]
    return {body["name"]: body for body in (first, *more)}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_flavour_is_there_where_its_provider_supports_the_version(version: str) -> None:
    files = files_of(f"vsphere-{version}")
    readme = files["terraform/README.md"]
    if version in SUPPORTED:
        release, versions = SUPPORTED[version]
        assert provider_of(module(files, "terraform/vcf")) == ("vmware/vcf", versions)
        assert release in files["terraform/vcf/README.md"] and "Use one flavour" in readme
    else:
        assert not [path for path in files if path.startswith("terraform/vcf")]
        assert has_approved(readme)


@pytest.mark.parametrize("name", DESIGNS)
def test_every_cluster_and_host_of_the_plan_is_in_the_domain(name: str) -> None:
    plan, found = design(name), domain(name)
    assert list(clusters_of(found)) == [f"${{var.name_prefix}}{pool.id}" for pool in plan.pools]
    for pool in plan.pools:
        id = pool.id.replace("-", "_")
        rule = found["variable"][f"{id}_hosts"]["validation"][0]["condition"]
        assert f"length(var.{id}_hosts) == {pool.hosts} " in rule
        assert found["resource"]["vcf_host", id]["for_each"] == f"${{toset(var.{id}_hosts)}}"
        body = clusters_of(found)[f"${{var.name_prefix}}{pool.id}"]
        assert body["high_availability_enabled"] is True
        (hosts,) = [each["host"] for each in body["dynamic"] if "host" in each]
        assert hosts["for_each"] == f"${{var.{id}_hosts}}"
    ports = plan.cabling.ports.shared if plan.cabling else 0
    assert f"== {ports} " in found["variable"]["teamed_nics"]["validation"][0]["condition"]
    value = found["output"]["design"]["value"]
    assert (value["hosts"], value["gpus"]) == (plan.totals.hosts, plan.totals.gpus)


@pytest.mark.parametrize("name", DESIGNS)
def test_subnets_hold_the_hosts_of_each_site(name: str) -> None:
    plan, files = design(name), module(files_of(name), "terraform/vcf")
    example, variables = parse(files["terraform.tfvars.example"]), parsed(files)["variable"]
    sites = {pool.site: 0 for pool in plan.pools}
    for pool in plan.pools:
        sites[pool.site] += pool.hosts
    pools = [kind for kind, _ in parsed(files)["resource"] if kind == "vcf_network_pool"]
    assert len(pools) == len(sites)
    seen: list[ipaddress.IPv4Network] = []
    for (site, hosts), what in ((s, w) for s in sites.items() for w in ("vmotion", "storage")):
        names = [n for n in example if n.endswith(f"{what}_network") and site.lower() in n]
        (name_of,) = names
        given = {key: str(value) for key, value in example[name_of].items()}
        subnet = ipaddress.ip_network(given["cidr"])
        first, last = ipaddress.ip_address(given["first"]), ipaddress.ip_address(given["last"])
        assert int(last) - int(first) + 1 >= hosts
        assert {first, last, ipaddress.ip_address(given["gateway"])} <= {*subnet.hosts()}
        assert f"<= {subnet.prefixlen}," in variables[name_of]["validation"][1]["condition"]
        assert not any(subnet.overlaps(other) for other in seen)
        seen.append(subnet)
        if len(sites) == 1:
            assert subnet.prefixlen == next(n.prefix for n in networks(plan) if n.key == what)


def test_licence_keys_before_9_and_a_sign_on_domain_from_then_on() -> None:
    before, after = domain("vsan"), domain("sites-vsan-9")
    assert {"esx_license_key", "vsan_license_key", "nsx_license_key"} <= set(before["variable"])
    assert "sso" not in before["resource"]["vcf_domain", "gpu"]
    assert not [name for name in after["variable"] if "license" in name]
    assert after["resource"]["vcf_domain", "gpu"]["sso"] == [
        {"domain_name": "${var.sso_domain}", "domain_password": "${var.sso_password}"}
    ]
    assert "vsan_license_key" not in domain("current")["variable"]


def test_storage_is_that_of_the_design() -> None:
    vsan, external = domain("vsan"), domain("current")
    assert vsan["resource"]["vcf_host", "vgpu"]["storage_type"] == "VSAN"
    (body,) = clusters_of(vsan).values()
    assert body["vsan_datastore"][0]["esa_enabled"] == "${var.vsan_esa}"
    kinds = {group["transport_type"] for group in body["vds"][0]["portgroup"]}
    assert kinds == {"MANAGEMENT", "VMOTION", "VSAN"}
    types = {net["type"] for net in vsan["resource"]["vcf_network_pool", "gpu"]["network"]}
    assert types == {"VMOTION", "VSAN"}
    (body,) = clusters_of(external).values()
    offered = {name for each in body["dynamic"] for name in each}
    assert {"nfs_datastores", "vmfs_datastore"} <= offered and "vsan_datastore" not in body
    assert "esa_enabled" not in str(domain("vsphere-7.0u3"))


def test_sizes_of_the_appliances_are_those_of_the_plan() -> None:
    for name in ("current", "large"):
        management = design(name).management
        assert management is not None
        variables = domain(name)["variable"]
        assert variables["vcenter_size"]["default"] == management.of("vcenter", domain=True).size
        nsx = management.of("nsx-manager", domain=True).size
        assert variables["nsx_size"]["default"] == (nsx if nsx != "x-large" else "large")


def test_clusters_of_a_site_share_its_pool_of_tunnel_endpoints() -> None:
    """The first makes it, the others name it: a second pool of the same name and subnet would be refused."""
    bodies = clusters_of(domain("large")).values()
    pools = [
        each["ip_address_pool"]["content"][0]
        for b in bodies
        for each in b["dynamic"]
        if "ip_address_pool" in each
    ]
    assert len(pools) == len(design("large").pools) > 1
    assert ["subnet" in pool for pool in pools] == [True] + [False] * (len(pools) - 1)
    assert len({pool["name"] for pool in pools}) == 1
    sites = [
        each["ip_address_pool"]["content"][0]
        for b in clusters_of(domain("sites")).values()
        for each in b["dynamic"]
        if "ip_address_pool" in each
    ]
    assert all("subnet" in pool for pool in sites) and len({pool["name"] for pool in sites}) == len(sites)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_vms_stand_on_clusters_and_switches_that_the_domain_has_made(name: str) -> None:
    there = parsed(module(files_of(name), "terraform/vcf/workloads"))
    made = clusters_of(domain(name))
    looked_up = {
        body["name"] for (kind, _), body in there["data"].items() if kind == "vsphere_compute_cluster"
    }
    assert looked_up == set(made)
    switches = {
        body["name"]
        for (kind, _), body in there["data"].items()
        if kind == "vsphere_distributed_virtual_switch"
    }
    assert switches <= {body["vds"][0]["name"] for body in made.values()}
    assert "vsphere_compute_cluster" not in {kind for kind, _ in there["resource"]}
    counts = {
        label: body.get("count") for (kind, label), body in there["resource"].items() if "machine" in kind
    }
    alone = parsed(module(files_of(name)))["resource"]
    assert counts == {label: b.get("count") for (kind, label), b in alone.items() if "machine" in kind}


def test_a_cluster_that_is_too_small_for_a_domain_is_named() -> None:
    for name in DESIGNS:
        plan, readme = design(name), files_of(name)["terraform/vcf/README.md"]
        least = 3 if plan.scenario.hardware.storage == "vsan" else 2
        assert ("takes at least" in readme) == any(pool.hosts < least for pool in plan.pools)


def test_what_a_readme_says_it_says_once() -> None:
    for name in ("current", "sites-vsan-9", "enterprise", "pods-at-sites"):
        for path, text in files_of(name).items():
            if path.endswith("README.md"):
                said = [
                    s
                    for s in re.split(r"(?<=[.:;]) |\n", text)
                    if len(s) > 40 and not s.startswith(("|", "#"))
                ]
                assert len(said) == len(set(said)), (path, [s for s in said if said.count(s) > 1])
