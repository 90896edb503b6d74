"""What the Supervisor takes: fields against what was read of each kind, names and numbers against the plan."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from ipaddress import ip_network
from typing import Any

import pytest
import yaml
from approved import has_approved
from infrastructure_code import DATA, module, parse, parsed, provider_of
from infrastructure_designs import HOSTILES, NAMES, SCENARIOS, design, files_of, pods

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver.infrastructure import infrastructure_files
from gpuplan.report.tables.build import class_name, vm_classes

KNOWN = json.loads((DATA / "supervisor.json").read_text(encoding="utf-8"))
ON_KUBERNETES = tuple(name for name in NAMES if "pods" in name) + tuple(n for n in HOSTILES if "pods" in n)
MANIFESTS = tuple(
    name for name in ON_KUBERNETES if name not in ("pods-6.7u3", "pods-7.0", "passthrough-pods")
)
HOLE = re.compile(r"[$][{](\w+)[}]")


def kubernetes(name: str) -> dict[str, str]:
    """The files of a design for Kubernetes, by their path in that folder."""
    return {
        path.removeprefix("kubernetes/"): text
        for path, text in files_of(name).items()
        if path.startswith("kubernetes/")
    }


def settings(text: str) -> dict[str, str]:
    """The example of what is filled in."""
    lines = [line.partition("=") for line in text.splitlines() if line and not line.startswith("#")]
    assert len({name for name, _, _ in lines}) == len(lines)
    return {name: value for name, _, value in lines}


def filled(text: str, values: dict[str, str]) -> str:
    """As `envsubst` leaves it, comments aside."""
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return HOLE.sub(lambda hole: values[hole[1]], code)


def manifests(name: str) -> list[tuple[str, Any]]:
    """Every manifest of a design, filled in."""
    files = kubernetes(name)
    values = settings(files["settings.env.example"])
    return [
        (path, each)
        for path, text in files.items()
        if path.endswith(".yaml")
        for each in yaml.safe_load_all(filled(text, values))
    ]


TYPES: dict[str, type | tuple[type, ...]] = {"string": str, "integer": int, "any": object}


def strangers(value: Any, known: Any, where: str = "") -> list[str]:
    """Fields that are not among the known ones, that are of another type, or that are required and missing."""
    if known is None:
        return []
    if isinstance(known, str):
        return [] if isinstance(value, TYPES[known.rstrip("!")]) else [f"{where}: {value!r} is no {known}"]
    if isinstance(known, list):
        return [f for at, each in enumerate(value) for f in strangers(each, known[0], f"{where}[{at}]")]
    required = {name for name, each in known.items() if isinstance(each, str) and each.endswith("!")}
    found = [f"{where}.{name} is missing" for name in required - set(value)]
    for name, each in value.items():
        if name not in known and "*" not in known:
            found.append(f"{where}.{name}")
        else:
            found += strangers(each, known.get(name, known.get("*")), f"{where}.{name}")
    return found


def test_a_manifest_that_the_types_of_the_api_do_not_take_is_found() -> None:
    spec = {"topology": {"class": "a", "workers": {"machineDeployments": [{"name": 3, "replicas": "2"}]}}}
    found = strangers(spec, KNOWN["Cluster"]["spec"])
    assert len(found) == 4, found


@pytest.mark.parametrize("name", NAMES)
def test_the_folder_is_there_only_where_the_design_has_a_supervisor(name: str) -> None:
    scenario = SCENARIOS[name]
    wanted = any(group.runs_as == "kubernetes" for group in scenario.groups)
    assert bool(kubernetes(name)) == (wanted or scenario.management.supervisor == "small")


@pytest.mark.parametrize("name", MANIFESTS)
def test_every_field_is_one_that_was_read(name: str) -> None:
    for path, manifest in manifests(name):
        if path == "gpu-operator/values.yaml":
            assert strangers(manifest, KNOWN["gpu_operator_values"]["fields"]) == []
        elif (kind := manifest["kind"]) in KNOWN:
            assert manifest["apiVersion"] == KNOWN[kind]["apiVersion"]
            assert strangers(manifest["spec"], KNOWN[kind]["spec"]) == [], path
            if kind == "Cluster":
                check_variables(manifest["spec"]["topology"])
        else:
            assert kind in ("Namespace", "Pod"), path
        if "metadata" in manifest:
            names = [manifest["metadata"].get("name"), manifest["metadata"].get("namespace")]
            assert all(re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", n) for n in names if n)


def check_variables(topology: dict[str, Any]) -> None:
    """Variables of a cluster and of its pools are those of its class."""
    known = KNOWN["Cluster"]["variables"][topology["class"]]
    pools = topology["workers"]["machineDeployments"]
    for variables in (topology["variables"], *(pool["variables"]["overrides"] for pool in pools)):
        assert strangers({each["name"]: each["value"] for each in variables}, known["fields"]) == []
        assert all(set(each) == {"name", "value"} for each in variables)
    assert {each["name"] for each in topology["variables"]} >= set(known["required"])


@pytest.mark.parametrize("name", MANIFESTS)
def test_what_is_filled_in_is_described_and_used(name: str) -> None:
    files = kubernetes(name)
    example = files["settings.env.example"]
    values = settings(example)
    holes = {
        hole
        for path, text in files.items()
        if path.endswith((".yaml", ".json"))
        for line in text.splitlines()
        if not line.lstrip().startswith("#")
        for hole in HOLE.findall(line)
    }
    assert holes == set(values)
    above = [
        a.startswith("#") or "=" in a
        for a, b in zip(["", *example.splitlines()], example.splitlines(), strict=False)
        if "=" in b and not b.startswith("#")
    ]
    assert all(above), "each has a line that says what it is"


def pools_of(name: str) -> dict[str, Counter[str]]:
    """Cluster of vSphere -> class -> nodes, as the manifests have them."""
    found: dict[str, Counter[str]] = {}
    for path, manifest in manifests(name):
        if not path.startswith("clusters/"):
            continue
        topology = manifest["spec"]["topology"]
        if manifest["kind"] == "Cluster":
            pools = [(p["variables"]["overrides"], p) for p in topology["workers"]["machineDeployments"]]
            made = {next(v["value"] for v in o if v["name"] == "vmClass"): p["replicas"] for o, p in pools}
        else:
            made = {p["vmClass"]: p["replicas"] for p in topology["nodePools"]}
        found[path.removeprefix("clusters/").removesuffix(".yaml")] = Counter(made)
    return found


@pytest.mark.parametrize("name", MANIFESTS)
def test_each_group_has_its_nodes_and_no_vm_by_terraform(name: str) -> None:
    plan = design(name.partition("!")[0])
    wanted = {
        class_name(g): g.vms_placed
        for g in plan.groups
        if next(s for s in plan.scenario.groups if s.id == g.id).runs_as == "kubernetes"
    }
    nodes = pools_of(name)
    assert sum(nodes.values(), Counter[str]()) == Counter(wanted)
    assert set(nodes) <= {pool.id for pool in plan.pools}
    made = parsed(module(files_of(name)))["resource"]
    labels = {label for kind, label in made if kind == "vsphere_virtual_machine"}
    groups = {g.id.replace("-", "_") for g in plan.groups if class_name(g) in wanted}
    assert not labels & groups


@pytest.mark.parametrize(
    "name", ["pods", "all-pods", "pods-7.0u3", "pods-8.0", "pods-at-sites", "supervisor"]
)
def test_classes_are_those_of_the_table(name: str) -> None:
    plan = design(name)
    groups = {class_name(group) for group in plan.groups}
    rows = {row[0].value: [cell.value for cell in row] for row in vm_classes(plan).cells()}
    rows = {name: row for name, row in rows.items() if name in groups}
    made = parsed(module(files_of(name), "kubernetes/vm-classes"))
    classes = {
        b["name"]: b for (kind, _), b in made["resource"].items() if kind == "vsphere_virtual_machine_class"
    }
    assert set(classes) <= set(rows)
    assert name not in ("all-pods", "supervisor") or set(classes) == set(rows)
    for group in plan.groups:
        if (body := classes.get(class_name(group))) is not None:
            assert body["memory_reservation"] == 100
            count = max(group.vgpus_each, math.ceil(group.gpus_each))
            assert body["vgpu_devices"] == (
                f'${{[for vgpu in range({count}) : var.vgpu_profile_names["{group.profile}"]]}}'
            )
    used = {cls for pool in pools_of(name).values() for cls in pool} if name != "supervisor" else set()
    assert used <= set(classes)


def test_classes_with_gpus_in_passthrough_are_made_by_the_api() -> None:
    files = kubernetes("passthrough-pods")
    made = json.loads(
        filled(files["vm-classes/gpu-fine-tuning.json"], settings(files["settings.env.example"]))
    )
    known = KNOWN["vm_class_api"]
    assert strangers(made, known["fields"]) == [] and set(known["required"]) <= set(made)
    (device,) = made["devices"]["dynamic_direct_path_IO_devices"]
    assert device["vendor_id"] == 0x10DE
    assert '"gpu-fine-tuning"' in files["vm-classes/main.tf"]
    values = yaml.safe_load(files["gpu-operator/values.yaml"])
    assert values == {"driver": {"enabled": True}}, "no vGPU, no licence"
    assert "curl" in files["README.md"]


@pytest.mark.parametrize(
    ("name", "kind", "provider", "namespace"),
    [
        ("pods-7.0u3", "TanzuKubernetesCluster", "2.15.1", False),
        ("pods-8.0", "Cluster", "~> 2.17.1", False),
        ("pods-8.0u3", "Cluster", "~> 2.17.1", True),
        ("pods-9.1", "Cluster", "~> 2.17.1", True),
    ],
)
def test_what_each_version_of_vsphere_takes(name: str, kind: str, provider: str, namespace: bool) -> None:
    assert {m["kind"] for path, m in manifests(name) if path.startswith("clusters/")} == {kind}
    files = module(files_of(name), "kubernetes/vm-classes")
    assert provider_of(files)[1] == provider
    kinds = {kind for kind, _ in parsed(files)["resource"]}
    assert ("vsphere_namespace" in kinds) == namespace


@pytest.mark.parametrize("version", ["6.7u3", "7.0"])
def test_versions_without_such_classes_say_so(version: str) -> None:
    ((path, text),) = kubernetes(f"pods-{version}").items()
    assert path == "README.md" and has_approved(text, "7.0", "3")


def test_a_supervisor_at_each_site_has_a_namespace_and_a_cluster_of_its_own() -> None:
    files = kubernetes("pods-at-sites")
    pools = design("pods-at-sites").pools
    assert {p for p in files if p.startswith("clusters/")} == {f"clusters/{pool.id}.yaml" for pool in pools}
    namespaces = {
        m["metadata"]["namespace"] for path, m in manifests("pods-at-sites") if path.startswith("cl")
    }
    assert namespaces == {f"gpu-{pool.id}" for pool in pools}
    made = parsed(module(files_of("pods-at-sites"), "kubernetes/vm-classes"))["resource"]
    names = {body["name"] for (kind, _), body in made.items() if kind == "vsphere_namespace"}
    assert names == {f"${{var.namespace}}-{pool.id}" for pool in pools}
    assert "supervisor-namespace.yaml" in files, "VCF Automation 9.1 is deployed"
    assert "supervisor-namespace.yaml" not in kubernetes("pods-9.1")


@pytest.mark.parametrize("name", MANIFESTS)
def test_the_pods_of_every_node_have_addresses_with_room_to_grow(name: str) -> None:
    """A node takes a /24 of the network of the pods, which no change makes larger."""
    values = settings(kubernetes(name)["settings.env.example"])
    pods_network, services = (ip_network(values[key]) for key in ("POD_CIDR", "SERVICE_CIDR"))
    most = max(sum(pools.values()) for pools in pools_of(name).values())
    assert pods_network.num_addresses / 256 >= 2 * most
    assert pods_network.is_private and not pods_network.overlaps(services)
    cores = {"large": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32}
    least = next((size for nodes, size in ((100, 4), (250, 8), (500, 16)) if most <= nodes), 32)
    assert cores[values["CONTROL_PLANE_CLASS"].removeprefix("best-effort-")] == least
    assert name != "many-pods" or most > 700


def test_pods_over_the_network_have_no_nodes_here(catalog: Catalog) -> None:
    scenario = pods(SCENARIOS["starter"]).with_value("platform.vsphere", "7.0u3")
    plan: Plan = make_plan(scenario, catalog)
    files = infrastructure_files(plan)
    assert {group.mode for group in plan.groups} == {"bitfusion"}
    assert "compute hosts" in files["kubernetes/README.md"]
    assert [path for path in files if path.startswith("kubernetes/")] == ["kubernetes/README.md"]


def test_a_test_pod_asks_for_the_gpus_of_a_node() -> None:
    found = {
        m["spec"]["nodeSelector"]["gpu-class"]: m for p, m in manifests("all-pods") if p == "test-pods.yaml"
    }
    plan = design("all-pods")
    assert set(found) == {class_name(group) for group in plan.groups}
    for group in plan.groups:
        (container,) = found[class_name(group)]["spec"]["containers"]
        assert container["resources"]["limits"] == {
            "nvidia.com/gpu": max(group.vgpus_each, math.ceil(group.gpus_each))
        }


@pytest.mark.parametrize("name", MANIFESTS)
def test_the_readme_names_every_file_and_what_is_composed(name: str) -> None:
    files = kubernetes(name)
    readme = files["README.md"]
    assert "Composition" in readme
    assert parse(files["vm-classes/terraform.tfvars.example"])
    for path in set(files) - {"README.md"}:
        assert path.partition("/")[0] in readme, path
