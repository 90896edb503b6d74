"""Objects on the Supervisor: VM classes, namespaces, VKS clusters with a GPU node pool per group, and the GPU Operator.

VM classes are vCenter objects that no manifest makes: the vSphere provider does, or its API where the provider lacks an argument. Fields follow
broadcom-vm-class-api, vm-operator-types, vks-manifest-annotated, broadcom-vks-variables, tkc-gpu-manifest-2022, supervisor-namespace-9.1,
nvidia-gpu-operator-vgpu and nvidia-gpu-operator-install; the README says which parts are composed and nowhere published whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any, NamedTuple

from gpuplan.deliver.infrastructure.terraform import vsphere_profiles, vsphere_provider
from gpuplan.deliver.infrastructure.vms import Size, sizes_of
from gpuplan.deliver.infrastructure.writing import written
from gpuplan.plan import Plan
from gpuplan.report.physical import (
    PODS_OF_A_NODE,
    cluster_id,
    group_slugs,
    most_nodes,
    on_kubernetes,
    vms_of,
)
from gpuplan.report.site import site_value
from gpuplan.report.tables.build import class_name
from gpuplan.wording import said

SINCE = "7.0u3"
"""Version of vSphere from which VM classes take GPUs."""
CLUSTER_API_SINCE, GENERIC_SINCE = "8.0", "8.0u3"
"""Versions from which clusters are made by the Cluster API, and by the generic cluster class, with a namespace by Terraform."""
CONTROL_PLANES = {100: "large", 250: "2xlarge", 500: "4xlarge"}
"""Nodes of a cluster -> VM class of its control plane, with 4, 8 and 16 vCPUs; beyond, with 32 (kubernetes-large-clusters)."""
AUTOMATION = ("9.1", "operations-automation")
"""Version of vSphere and services with a known manifest of a namespace."""
CLASS_FILES = ("main.tf", "variables.tf", "outputs.tf", "terraform.tfvars.example")
OPERATOR_FILES = ("namespace.yaml", "values.yaml")


@dataclass(frozen=True, slots=True)
class VmClass:
    """The VM class of a group."""

    slug: str
    name: str
    group: str
    group_name: str
    profile: str
    vgpus: int
    gpus: int
    vms: int
    vcpus: int | None
    memory_gib: int | None
    pods: bool

    @property
    def sizes(self) -> tuple[Size, Size]:
        """Variables with its processors and its memory."""
        return sizes_of(self.slug, said("terraform.class", name=self.name), self.vcpus, self.memory_gib)


class NodePool(NamedTuple):
    """Nodes of one class in a Kubernetes cluster."""

    vm_class: VmClass
    replicas: int


class Cluster(NamedTuple):
    """A Kubernetes cluster on a Supervisor, which is a cluster of vSphere."""

    id: str
    """Id of the vSphere cluster in identifiers."""
    key: str
    name: str
    pools: tuple[NodePool, ...]


def kubernetes_files(plan: Plan, given: Mapping[str, Any]) -> dict[str, str]:
    """Map each path to a manifest for the Supervisor; empty where the design has no Supervisor."""
    pods = on_kubernetes(plan)
    if plan.scenario.management.supervisor in (None, "none") and not pods:
        return {}
    ready, classes = _since(plan, SINCE), _classes(plan)
    ids = {group.id for group in pods}
    remote = [group.name for group in plan.groups if group.mode == "bitfusion" and group.id in ids]
    shown = {**given, "classes": classes, "remote": remote, "ready": ready}
    if not ready or not classes:
        return {"README.md": written("kubernetes/nothing.md", shown)}
    shown |= _shown(plan, classes)
    files = {f"vm-classes/{name}": written(f"kubernetes/vm-classes/{name}", shown) for name in CLASS_FILES}
    files["vm-classes/versions.tf"] = written("versions.tf", shown)
    for vm_class in shown["api_classes"]:
        own = shown | {"each": vm_class}
        files[f"vm-classes/{vm_class.name}.json"] = written("kubernetes/vm-class.json", own)
    if shown["kubernetes"]:
        files |= _of_pods(shown)
    if (plan.scenario.platform.vsphere, plan.scenario.management.services) == AUTOMATION:
        files["supervisor-namespace.yaml"] = written("kubernetes/supervisor-namespace.yaml", shown)
        shown["automation"] = True
    files["settings.env.example"] = written("kubernetes/settings.env", shown)
    return files | {"README.md": written("kubernetes/README.md", shown)}


def _of_pods(shown: Mapping[str, Any]) -> dict[str, str]:
    template = f"kubernetes/{shown['api']}.yaml"
    clusters = ((each.key, {**shown, "cluster": each}) for each in shown["kubernetes"])
    files = {f"clusters/{key}.yaml": written(template, values) for key, values in clusters}
    for name in OPERATOR_FILES:
        files[f"gpu-operator/{name}"] = written(f"kubernetes/gpu-operator/{name}", shown)
    if shown["licensed"]:
        files["gpu-operator/gridd.conf"] = written("kubernetes/gpu-operator/gridd.conf", shown)
    return files | {"test-pods.yaml": written("kubernetes/test-pods.yaml", shown)}


def _shown(plan: Plan, classes: list[VmClass]) -> dict[str, Any]:
    namespaced = _since(plan, GENERIC_SINCE)
    clusters = _clusters(plan, classes)
    kubernetes = [cluster for cluster in clusters if cluster.pools]
    most, pod_cidr = most_nodes(plan), site_value(plan, "pods.subnet") if kubernetes else ""
    return {
        "provider": vsphere_provider(plan),
        "provider_name": "vSphere",
        "provider_key": "vsphere",
        "taken_for": plan.catalog.vsphere[plan.scenario.platform.vsphere].name,
        "vgpu_classes": [item for item in classes if item.profile],
        "api_classes": [item for item in classes if not item.profile],
        "vsphere_profiles": vsphere_profiles(plan, classes),
        "namespaced": namespaced,
        "supervisors": kubernetes or clusters[:1],  # the first one serves VMs alone
        "kubernetes": kubernetes,
        "api": "cluster" if _since(plan, CLUSTER_API_SINCE) else "tanzu-cluster",
        "licensed": any(pool.vm_class.profile for item in kubernetes for pool in item.pools),
        "automation": False,
        "most_nodes": most,
        "pod_cidr": pod_cidr,
        "nodes_with_pods": ip_network(pod_cidr).num_addresses // PODS_OF_A_NODE if pod_cidr else 0,
        "control_plane": control_plane(most),
    }


def control_plane(nodes: int) -> str:
    """Return the VM class of the control plane of a cluster with so many worker nodes.

    >>> control_plane(100), control_plane(700)
    ('best-effort-large', 'best-effort-8xlarge')
    """
    return f"best-effort-{next((size for most, size in CONTROL_PLANES.items() if nodes <= most), '8xlarge')}"


def _since(plan: Plan, version: str) -> bool:
    order = {key: int(item.value("order") or 0) for key, item in plan.catalog.vsphere.items()}
    return order[plan.scenario.platform.vsphere] >= order[version]


def _classes(plan: Plan) -> list[VmClass]:
    """Classes of the groups on Kubernetes; of all groups where none is, for VMs that users make on the Supervisor."""
    sized, slugs = {group.id: group for group in plan.sized.groups}, group_slugs(plan)
    pods = {group.id for group in on_kubernetes(plan)}
    return [
        VmClass(
            slug=slugs[group.id],
            name=class_name(group),
            group=group.id,
            group_name=group.name,
            profile=group.profile,
            vgpus=group.vgpus,
            gpus=0 if group.profile else round(group.gpus_each),
            vms=group.vms,
            vcpus=sized[group.id].vcpus_each,
            memory_gib=sized[group.id].memory_gib_each,
            pods=group.id in pods,
        )
        for group in plan.groups
        if group.vms and group.mode != "bitfusion" and (group.id in pods or not pods)
    ]


def _clusters(plan: Plan, classes: list[VmClass]) -> list[Cluster]:
    """A Kubernetes cluster on each cluster of vSphere, of the nodes that it has."""
    clusters = []
    for pool in plan.pools:
        counts = vms_of(pool)
        nodes = [NodePool(kind, counts[kind.group]) for kind in classes if kind.pods and counts[kind.group]]
        clusters.append(Cluster(cluster_id(pool), pool.id, pool.name, tuple(nodes)))
    return clusters
