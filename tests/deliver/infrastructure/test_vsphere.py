"""The files for the vSphere provider: their numbers are the plan's."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from approved import has_approved
from infrastructure_code import module, parsed
from infrastructure_designs import design

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver.infrastructure import infrastructure_files
from gpuplan.report import plan_text
from gpuplan.scenario import Scenario

NAMES = (
    "starter",
    "enterprise",
    "current",
    "passthrough",
    "bitfusion-servers",
    "existing",
    "no-spare",
    "no-group",
    "sizes",
)


@pytest.fixture(params=NAMES)
def any_plan(request: pytest.FixtureRequest) -> Plan:
    return design(request.param)


@pytest.fixture(scope="module")
def all_plans() -> dict[str, Plan]:
    """The examples and designs of every access mode."""
    return {name: design(name) for name in NAMES}


def vsphere_files(plan: Plan) -> dict[str, str]:
    """The files for the vSphere provider."""
    return module(infrastructure_files(plan))


def vms_of(hcl: dict[str, Any]) -> dict[str, int]:
    """VMs of each resource."""
    found = {}
    for (kind, label), body in hcl["resource"].items():
        if kind == "vsphere_virtual_machine":
            found[label] = body["count"] if "count" in body else len(hcl["locals"][f"{label}_vms"])
    return found


def slug(group_id: str) -> str:
    stem = group_id.replace("-", "_")
    return stem if stem[0].isalpha() else f"group_{stem}"


def test_hosts_and_failures_are_those_of_the_plan(any_plan: Plan) -> None:
    hcl = parsed(vsphere_files(any_plan))
    failures = any_plan.scenario.availability.host_failures
    clusters = {label for kind, label in hcl["resource"] if kind == "vsphere_compute_cluster"}
    assert clusters == {pool.id for pool in any_plan.pools}
    for pool in any_plan.pools:
        rule = hcl["variable"][f"{pool.id}_hosts"]["validation"][0]["condition"]
        assert f"length(var.{pool.id}_hosts) == {pool.hosts} " in rule
        cluster = hcl["resource"]["vsphere_compute_cluster", pool.id]
        assert cluster["ha_enabled"] is True
        assert cluster["drs_automation_level"] == "partiallyAutomated"
        if failures:
            assert cluster["ha_admission_control_host_failure_tolerance"] == failures
            assert cluster["ha_admission_control_policy"] == "resourcePercentage"
        else:
            assert cluster["ha_admission_control_policy"] == "disabled"
    value = hcl["output"]["design"]["value"]
    totals = any_plan.totals
    assert (value["hosts"], value["gpus"]) == (totals.hosts, totals.gpus)
    assert value["gpus_after_failure"] == totals.gpus_after_failure


def test_hosts_kept_free_are_those_without_a_vm(any_plan: Plan) -> None:
    hcl = parsed(vsphere_files(any_plan))
    for pool in any_plan.pools:
        chosen = {}
        for what in ("gpu", "spare"):
            body = hcl["resource"].get(("vsphere_compute_cluster_host_group", f"{pool.id}_{what}"))
            listed = re.search(r"in \[([\d, ]*)\]", str(body["host_system_ids"])) if body else None
            chosen[what] = {int(n) for n in listed[1].split(",")} if listed else set()
        assert chosen["spare"] == {at for at, host in enumerate(pool.placement) if not host}
        assert chosen["gpu"] | chosen["spare"] == set(range(pool.hosts))
        assert not chosen["gpu"] & chosen["spare"]


def test_every_group_has_its_vms_and_profile(any_plan: Plan) -> None:
    hcl = parsed(vsphere_files(any_plan))
    counts = vms_of(hcl)
    expected = {slug(g.id): g.vms_placed for g in any_plan.groups if g.vms_placed}
    assert {label: n for label, n in counts.items() if label != "bitfusion_server"} == expected
    for group in any_plan.groups:
        if not group.vms_placed:
            continue
        body = hcl["resource"]["vsphere_virtual_machine", slug(group.id)]
        config = body.get("extra_config", {})
        profiles = [v for k, v in config.items() if k.endswith(".vgpu")]
        rows = any_plan.catalog.profiles_of(any_plan.scenario.hardware.gpu)
        if group.profile and group.mode != "passthrough":
            each = next(r["frame_buffer_mb"] for r in rows if r["profile"] == group.profile)
            assert len(profiles) == group.frame_buffer_mb // each
            assert all(f'["{group.profile}"]' in p for p in profiles)
            names = hcl["variable"]["vgpu_profile_names"]["default"]
            assert names[group.profile].endswith(f"_{group.profile.lower()}")
        else:
            assert profiles == []


def test_names_of_profiles_as_vsphere_spells_them(all_plans: dict[str, Plan]) -> None:
    def names(plan: Plan) -> dict[str, str]:
        return parsed(vsphere_files(plan))["variable"]["vgpu_profile_names"]["default"]

    assert names(all_plans["enterprise"]) == {"V100D-32C": "grid_v100d-32c"}
    assert names(all_plans["current"])["H100L-1-12C"] == "nvidia_h100l-1-12c"


def test_the_network_is_that_of_the_plan(any_plan: Plan) -> None:
    hcl = parsed(vsphere_files(any_plan))
    fabric = any_plan.cabling
    assert fabric is not None
    switches = {
        label: body
        for (kind, label), body in hcl["resource"].items()
        if kind == "vsphere_distributed_virtual_switch"
    }
    assert len(switches) == fabric.distributed_switches
    assert {s["max_mtu"] for s in switches.values()} == {any_plan.scenario.network.mtu_bytes}
    assert len(switches["shared"]["uplinks"]) == fabric.ports.shared
    assert all(len(s["uplinks"]) == 1 for label, s in switches.items() if label != "shared")


def test_pvrdma_has_a_switch_and_an_adapter_of_its_own(all_plans: dict[str, Plan]) -> None:
    hcl = parsed(vsphere_files(all_plans["enterprise"]))
    assert ("vsphere_distributed_virtual_switch", "rdma_1") in hcl["resource"]
    server = hcl["resource"]["vsphere_virtual_machine", "bitfusion_server"]
    assert [n.get("adapter_type") for n in server["network_interface"]] == [None, "${var.rdma_adapter_type}"]
    researchers = hcl["resource"]["vsphere_virtual_machine", "researchers"]
    assert len(researchers["network_interface"]) == 1
    assert "rdma_nics" not in parsed(vsphere_files(all_plans["starter"]))["variable"]


def spots(hcl: dict[str, Any], pool_id: str) -> list[tuple[int, int]]:
    """(host, GPU) of each device of a pool that a VM holds."""
    found = []
    for (kind, label), body in hcl["resource"].items():
        if kind == "vsphere_virtual_machine" and f"var.{pool_id}_gpu_pci_ids" in str(body):
            for vm in hcl["locals"][f"{label}_vms"].values():
                found += [(vm["host"], gpu) for gpu in vm["gpus"]]
    return found


def test_each_gpu_in_passthrough_is_given_once(all_plans: dict[str, Plan]) -> None:
    plan = all_plans["passthrough"]
    hcl = parsed(vsphere_files(plan))
    pool = next(p for p in plan.pools if p.id == "passthrough")
    given = spots(hcl, "passthrough")
    assert len(given) == len(set(given)) == 3 * 2 + 2 * 1
    assert all(gpu < pool.rooms[host].gpus for host, gpu in given)
    assert {len(vm["gpus"]) for vm in hcl["locals"]["a_b_vms"].values()} == {2}
    override = hcl["resource"]["vsphere_drs_vm_override", "a_b"]
    assert override["drs_enabled"] is False


@pytest.mark.parametrize("name", ["starter", "bitfusion-servers"])
def test_a_bitfusion_server_has_all_gpus_of_its_host(name: str, all_plans: dict[str, Plan]) -> None:
    plan = all_plans[name]
    hcl = parsed(vsphere_files(plan))
    pool = next(p for p in plan.pools if p.id == "bitfusion")
    assert vms_of(hcl)["bitfusion_server"] == pool.hosts
    assert sorted(spots(hcl, "bitfusion")) == [
        (host, gpu) for host, room in enumerate(pool.rooms) for gpu in range(room.gpus)
    ]


def test_bitfusion_servers_with_vgpus(all_plans: dict[str, Plan]) -> None:
    hcl = parsed(vsphere_files(all_plans["enterprise"]))
    # 28 GPUs: 3 researchers with 4 each have 12, the other groups 16, by Bitfusion.
    servers = hcl["locals"]["bitfusion_server_vms"].values()
    assert sum(server["vgpus"] for server in servers) == 16
    # 4 boards of 32 GB: 2 x 128 GB are a power of two. At least 1.5 x 128 GB of memory.
    assert {server["mmio_gib"] for server in servers} == {256}
    assert ">= 192 " in hcl["variable"]["bitfusion_server_memory_gib"]["validation"][0]["condition"]


def test_how_clients_start_their_work(all_plans: dict[str, Plan]) -> None:
    value = parsed(vsphere_files(all_plans["enterprise"]))["output"]["bitfusion_clients"]["value"]
    assert value == {
        "data_scientists": "bitfusion run -n 1 -p 0.5 -- COMMAND",
        "hpc": "bitfusion run -n 1 -- COMMAND",
        "developers": "bitfusion run -n 1 -p 0.125 -- COMMAND",
        "distributed": "bitfusion run -n 1 -- COMMAND",
    }


def test_sizes_have_a_default_only_where_the_scenario_knows_them(all_plans: dict[str, Plan]) -> None:
    known = parsed(vsphere_files(all_plans["sizes"]))["variable"]
    unknown = parsed(vsphere_files(all_plans["current"]))["variable"]
    assert (known["inference_num_cpus"]["default"], known["inference_memory_gib"]["default"]) == (8, 48)
    assert "default" not in unknown["inference_num_cpus"]
    assert "default" not in unknown["inference_memory_gib"]


def test_groups_whose_ids_read_alike_do_not_clash(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    one = scenario.groups[1]
    ids = ("a-b", "a--b", "bitfusion-server", "vgpu", "1", "-")
    groups = tuple(replace(one, id=id, people=2, active_share=1.0) for id in ids)
    plan = make_plan(replace(scenario, groups=groups, origins=()), catalog)
    counts = vms_of(parsed(vsphere_files(plan)))
    assert list(counts) == ["a_b", "a_b_2", "bitfusion_server_2", "vgpu_2", "group_1", "group"]
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", label) for label in counts)


def test_a_plan_without_hosts_says_so(catalog: Catalog) -> None:
    files = infrastructure_files(make_plan(Scenario(name="<Nothing>"), catalog))
    ((path, text),) = files.items()
    assert path == "terraform/README.md"
    assert "nothing to build" in text and "&lt;Nothing&gt;" in text


def test_fewer_failures_than_hosts_are_tolerated(all_plans: dict[str, Plan]) -> None:
    plan = all_plans["current"]
    many = replace(plan.scenario, availability=replace(plan.scenario.availability, host_failures=99))
    files = vsphere_files(plan.but(scenario=many))
    cluster = parsed(files)["resource"]["vsphere_compute_cluster", "vgpu"]
    assert cluster["ha_admission_control_host_failure_tolerance"] == plan.pools[0].hosts - 1
    assert has_approved(files["README.md"])


def test_the_readme_says_what_must_be_checked(all_plans: dict[str, Plan]) -> None:
    readme = {name: vsphere_files(plan)["README.md"] for name, plan in all_plans.items()}
    assert has_approved(readme["enterprise"])
    assert "V100D-32C as `grid_v100d-32c`" in readme["enterprise"]
    assert "vmxnet3vrdma" in readme["enterprise"]
    assert "no argument for" not in readme["starter"]
    assert "Switch passthrough on" in readme["starter"]
    assert has_approved(readme["current"], "6", "`vgpu_hosts`", "2 GPUs")
    assert has_approved(readme["no-group"], "28 GPUs")
    assert has_approved(readme["existing"])
    for plan_name, text in readme.items():
        totals = all_plans[plan_name].totals
        assert has_approved(text, f"{totals.hosts} hosts", f"{totals.gpus} GPUs", totals.gpus_after_failure)


def test_a_template_made_anew_replaces_no_vm(any_plan: Plan) -> None:
    for body in parsed(vsphere_files(any_plan))["resource"].values():
        if "clone" in body:
            lifecycle = body["lifecycle"][0] if isinstance(body["lifecycle"], list) else body["lifecycle"]
            ignored = {str(name).strip("${}") for name in lifecycle["ignore_changes"]}
            assert ignored == {"clone", "disk", "guest_id", "scsi_type"}


def test_the_readme_warns_of_what_cannot_be_taken_back(all_plans: dict[str, Plan]) -> None:
    readme = vsphere_files(all_plans["enterprise"])["README.md"]
    assert has_approved(readme)
    assert has_approved(readme)
    assert "at most 64 hosts" not in readme
    readme = vsphere_files(design("mig"))["README.md"]
    assert readme.count("**MIG.**") == 2
    assert has_approved(readme, "1", "35", "`vgpu_1_hosts`", "4 GPUs")


def test_each_cluster_is_a_resource_with_its_hosts_and_its_vms() -> None:
    """70 hosts of MIG VMs are two clusters of 35 + 1: the VMs of the group are numbered on from one to the next."""
    files = vsphere_files(design("mig"))
    clusters = re.findall(r'resource "vsphere_compute_cluster" "(\w+)"', files["cluster.tf"])
    assert clusters == ["vgpu_1", "vgpu_2"]
    for id in clusters:
        assert f"length(var.{id}_hosts) == 36" in files["variables.tf"]
        assert f"data.vsphere_host.{id}[*].id" in files["cluster.tf"]
    assert files["variables.tf"].count('variable "a_num_cpus"') == 1
    assert re.findall(r'resource "vsphere_virtual_machine" "(\w+)"', files["vms.tf"]) == [
        "a_vgpu_1",
        "a_vgpu_2",
    ]
    assert files["vms.tf"].count("  count            = 980") == 2
    assert 'format("%04d", count.index + 1)' in files["vms.tf"]
    assert 'format("%04d", count.index + 981)' in files["vms.tf"]


def test_vms_without_a_gpu_are_left_out_and_said_once(catalog: Catalog) -> None:
    """They run already: no file makes them, and on their host they stand "without a GPU", not "with 0 GPUs"."""
    given = load_scenario("starter").with_value("hardware.other_vms", "Licences: 6 x 8 vCPUs")
    plan = make_plan(given.with_value("hardware.vcpus_per_host", 64), catalog)
    files = vsphere_files(plan)
    assert has_approved(files["README.md"], "6 VMs")
    assert "Licences" not in "".join(text for name, text in files.items() if name != "README.md")
    assert "6 x Licences without a GPU" in plan_text(plan)
