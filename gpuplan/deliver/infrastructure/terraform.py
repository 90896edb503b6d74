"""Terraform in two flavours: for the vSphere provider, and for the workload domain of VMware Cloud Foundation.

Resources and arguments follow the providers' documentation and source (vmware-terraform-provider-vsphere, vmware-terraform-provider-vcf);
``tests/deliver/infrastructure`` compares every file with them. The vSphere provider has no argument that attaches a vGPU to a VM
(pull request 2113 of its repository was closed), so the profile is an entry of ``extra_config``, and the README says what to check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplan.deliver.infrastructure.shown import Foundation, foundation, subnets
from gpuplan.deliver.infrastructure.writing import written
from gpuplan.plan import Plan

VSPHERE_FILES = (
    "main.tf",
    "variables.tf",
    "cluster.tf",
    "network.tf",
    "vms.tf",
    "outputs.tf",
    "terraform.tfvars.example",
)
VCF_FILES = ("main.tf", "variables.tf", "domain.tf", "outputs.tf", "terraform.tfvars.example")
VCENTER_SIZES = {"x-large": "xlarge"}
"""Sizes of vCenter Server that the provider spells differently."""
NSX_SIZES = ("small", "medium", "large")
"""Sizes of an NSX Manager that the provider accepts."""
LEAST_HOSTS = {True: 3, False: 2}
"""With vSAN or without -> fewest hosts of a cluster that the provider accepts."""


def terraform_files(plan: Plan, given: Mapping[str, Any]) -> dict[str, str]:
    """Path -> text of the Terraform files of both flavours; the second only where its provider supports the version of vSphere."""
    vcf = foundation(plan)
    both = dict(given) | {"foundation": vcf}
    files = {"README.md": written("terraform.md", both)}
    files |= _vsphere(both, "vsphere", made=True)
    files["vsphere/README.md"] = written("vsphere/README.md", both | _flavour(made=True))
    if vcf:
        domain = both | _domain(plan, vcf, given)
        files |= {f"vcf/{name}": written(f"vcf/{name}", domain) for name in VCF_FILES}
        files["vcf/versions.tf"] = written("versions.tf", domain)
        files["vcf/README.md"] = written("vcf/README.md", domain)
        files |= _vsphere(both, "vcf/workloads", made=False)
    return files


def _flavour(*, made: bool) -> dict[str, Any]:
    """Return the differences between creating clusters and switches here and using those of the workload domain."""
    return {"made": made, "there": "" if made else "data."}


def _vsphere(both: Mapping[str, Any], folder: str, *, made: bool) -> dict[str, str]:
    shown = {
        **both,
        **_flavour(made=made),
        "provider_name": "vSphere",
        "provider_key": "vsphere",
        "taken_for": both["vsphere"],
    }
    empty = {"vms.tf": not shown["vms"], "network.tf": not (made or shown["rdma_switches"] or shown["vms"])}
    names = [name for name in VSPHERE_FILES if not empty.get(name)]
    files = {f"{folder}/{name}": written(f"vsphere/{name}", shown) for name in names}
    return files | {f"{folder}/versions.tf": written("versions.tf", shown)}


def _domain(plan: Plan, found: Foundation, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data for the files of the workload domain."""
    management = plan.management
    assert management is not None
    vsan = plan.scenario.hardware.storage == "vsan"
    vcenter, nsx = management.of("vcenter", domain=True), management.of("nsx-manager", domain=True)
    return {
        **_flavour(made=False),
        "provider": found.provider,
        "provider_name": "VMware Cloud Foundation",
        "provider_key": "vcf",
        "taken_for": found.release,
        "vsan": vsan,
        "network_mtu": plan.scenario.network.mtu_bytes,
        "subnets": {site.id: subnets(plan, site) for site in given["sites"]},
        "site_loop": {site.id: at for at, site in enumerate(given["sites"])},
        "vcenter_size": VCENTER_SIZES.get(vcenter.size, vcenter.size),
        "nsx_planned": nsx.size,
        "nsx_size": nsx.size if nsx.size in NSX_SIZES else NSX_SIZES[-1],
        "nsx_managers": nsx.nodes // management.domains,
        "domains": management.domains,
        "least_hosts": LEAST_HOSTS[vsan],
    }
