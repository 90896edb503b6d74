"""The Terraform files: they parse, they name what exists, and their numbers are the plan's."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from functools import cache
from typing import Any

import hcl2
import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report import plan_text
from gpuplan.report.terraform import terraform_files
from gpuplan.scenario import Group, Scenario, from_dict

HOSTILE = '"${var.x}" %{if true} <script>alert(1)</script> `a` | =HYPERLINK("b") \\'


def variants() -> dict[str, Scenario]:
    enterprise, current = load_scenario("enterprise"), load_scenario("current")
    wide = replace(current.hardware, vcpus_per_host=128, memory_gib_per_host=2048)
    return {
        "passthrough": replace(
            enterprise,
            demand=replace(enterprise.demand, stated_gpus=None),
            groups=(
                Group("a-b", name="Two GPUs", access="passthrough", gpus_each=2, people=3),
                Group("0x", access="passthrough", people=2),
                *enterprise.groups,
            ),
        ),
        "bitfusion-servers": replace(
            enterprise, platform=replace(enterprise.platform, bitfusion_servers="passthrough")
        ),
        "existing": replace(current, hardware=replace(current.hardware, existing="2 x 2")),
        "no-spare": replace(
            current,
            availability=replace(current.availability, host_failures=0, maintenance_failure_accepted=True),
        ),
        "no-group": replace(enterprise, groups=()),
        "sizes": replace(
            current,
            hardware=wide,
            groups=tuple(replace(g, vcpus_each=8, memory_gib_each=48) for g in current.groups),
        ),
    }


@pytest.fixture(scope="module")
def all_plans(plans: dict[str, Plan], catalog: Catalog) -> dict[str, Plan]:
    """The examples and designs of every access mode."""
    return plans | {name: make_plan(scenario, catalog) for name, scenario in variants().items()}


NAMES = ("starter", "enterprise", "current", *variants())


@pytest.fixture(params=NAMES)
def any_plan(request: pytest.FixtureRequest, all_plans: dict[str, Plan]) -> Plan:
    return all_plans[request.param]


def bare(value: Any) -> Any:
    """Parsed HCL without the quotes that the parser keeps and without its notes."""
    if isinstance(value, dict):
        return {bare(k): bare(v) for k, v in value.items() if not k.startswith("__")}
    if isinstance(value, list):
        return [bare(item) for item in value]
    if isinstance(value, str) and value[:1] == value[-1:] == '"':
        return value[1:-1]
    return value


@cache
def parse(text: str) -> Any:
    return bare(hcl2.loads(text))


def parsed(files: dict[str, str]) -> dict[str, Any]:
    """All .tf files as one: block type -> label(s) -> body."""
    found: dict[str, Any] = {"locals": {}, "resource": {}, "data": {}, "variable": {}, "output": {}}
    for name, text in files.items():
        if not name.endswith(".tf"):
            continue
        for kind, blocks in parse(text).items():
            for block in blocks:
                if kind in ("resource", "data"):
                    ((type_, named),) = block.items()
                    for label, body in named.items():
                        assert (type_, label) not in found[kind], f"{type_}.{label} twice"
                        found[kind][type_, label] = body
                else:
                    for label, body in block.items():
                        assert label not in found.setdefault(kind, {}), f"{kind} {label} twice"
                        found[kind][label] = body
    return found


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
    hcl = parsed(terraform_files(any_plan))
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
    hcl = parsed(terraform_files(any_plan))
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
    hcl = parsed(terraform_files(any_plan))
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
        return parsed(terraform_files(plan))["variable"]["vgpu_profile_names"]["default"]

    assert names(all_plans["enterprise"]) == {"V100D-32C": "grid_v100d-32c"}
    assert names(all_plans["current"])["H100L-1-12C"] == "nvidia_h100l-1-12c"


def test_the_network_is_that_of_the_plan(any_plan: Plan) -> None:
    hcl = parsed(terraform_files(any_plan))
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
    hcl = parsed(terraform_files(all_plans["enterprise"]))
    assert ("vsphere_distributed_virtual_switch", "rdma_1") in hcl["resource"]
    server = hcl["resource"]["vsphere_virtual_machine", "bitfusion_server"]
    assert [n.get("adapter_type") for n in server["network_interface"]] == [None, "${var.rdma_adapter_type}"]
    researchers = hcl["resource"]["vsphere_virtual_machine", "researchers"]
    assert len(researchers["network_interface"]) == 1
    assert "rdma_nics" not in parsed(terraform_files(all_plans["starter"]))["variable"]


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
    hcl = parsed(terraform_files(plan))
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
    hcl = parsed(terraform_files(plan))
    pool = next(p for p in plan.pools if p.id == "bitfusion")
    assert vms_of(hcl)["bitfusion_server"] == pool.hosts
    assert sorted(spots(hcl, "bitfusion")) == [
        (host, gpu) for host, room in enumerate(pool.rooms) for gpu in range(room.gpus)
    ]


def test_bitfusion_servers_with_vgpus(all_plans: dict[str, Plan]) -> None:
    hcl = parsed(terraform_files(all_plans["enterprise"]))
    # 28 GPUs: 3 researchers with 4 each have 12, the other groups 16, by Bitfusion.
    servers = hcl["locals"]["bitfusion_server_vms"].values()
    assert sum(server["vgpus"] for server in servers) == 16
    # 4 boards of 32 GB: 2 x 128 GB are a power of two. At least 1.5 x 128 GB of memory.
    assert {server["mmio_gib"] for server in servers} == {256}
    assert ">= 192 " in hcl["variable"]["bitfusion_server_memory_gib"]["validation"][0]["condition"]


def test_how_clients_start_their_work(all_plans: dict[str, Plan]) -> None:
    value = parsed(terraform_files(all_plans["enterprise"]))["output"]["bitfusion_clients"]["value"]
    assert value == {
        "data_scientists": "bitfusion run -n 1 -p 0.5 -- COMMAND",
        "hpc": "bitfusion run -n 1 -- COMMAND",
        "developers": "bitfusion run -n 1 -p 0.125 -- COMMAND",
        "distributed": "bitfusion run -n 1 -- COMMAND",
    }


def test_sizes_have_a_default_only_where_the_scenario_knows_them(all_plans: dict[str, Plan]) -> None:
    known = parsed(terraform_files(all_plans["sizes"]))["variable"]
    unknown = parsed(terraform_files(all_plans["current"]))["variable"]
    assert (known["inference_num_cpus"]["default"], known["inference_memory_gib"]["default"]) == (8, 48)
    assert "default" not in unknown["inference_num_cpus"]
    assert "default" not in unknown["inference_memory_gib"]


def test_the_example_fills_every_variable_without_a_default(any_plan: Plan) -> None:
    files = terraform_files(any_plan)
    variables = parsed(files)["variable"]
    example = parse(files["terraform.tfvars.example"])
    assert set(example) == {n for n, v in variables.items() if "default" not in v} - {"vsphere_password"}
    for pool in any_plan.pools:
        hosts = example[f"{pool.id}_hosts"]
        assert len(set(hosts)) == pool.hosts
        assert all(host.endswith(".example.com") for host in hosts)
        if ids := example.get(f"{pool.id}_gpu_pci_ids"):
            assert [len(set(host)) for host in ids] == [room.gpus for room in pool.rooms]
    assert {n for n, v in variables.items() if v.get("sensitive")} == {"vsphere_user", "vsphere_password"}


def test_everything_that_is_named_exists(any_plan: Plan) -> None:
    files = terraform_files(any_plan)
    hcl = parsed(files)
    code = "\n".join(re.sub(r"^\s*#.*$", "", t, flags=re.M) for n, t in files.items() if n.endswith(".tf"))
    assert set(re.findall(r"\bvar\.(\w+)", code)) == set(hcl["variable"])
    assert set(re.findall(r"\blocal\.(\w+)", code)) == set(hcl["locals"])
    data = set(re.findall(r"\bdata\.(vsphere_\w+)\.(\w+)", code))
    assert data == set(hcl["data"])
    resources = set(re.findall(r"(?<![\w.])(vsphere_\w+)\.(\w+)", code))
    assert resources <= set(hcl["resource"])


def test_the_files_are_formatted(any_plan: Plan) -> None:
    """As `terraform fmt` leaves them: two spaces, equals signs of neighbours in one column."""
    argument = re.compile(r'( *)(?:[\w-]+|"[^"]*")( +)= \S.*(?<![\[{(])$')
    for name, text in terraform_files(any_plan).items():
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        if name == "README.md":
            continue
        lines = text.splitlines()
        assert not any(line != line.rstrip() or "\t" in line for line in lines)
        assert all((len(line) - len(line.lstrip())) % 2 == 0 for line in lines)
        for above, below in itertools.pairwise(lines):
            first, second = argument.match(above), argument.match(below)
            if first and second and first[1] == second[1]:
                assert above.index(" = ") == below.index(" = "), (above, below)


@pytest.mark.parametrize("name", ["enterprise", "current", "passthrough"])
def test_hostile_names_do_no_harm(name: str, all_plans: dict[str, Plan]) -> None:
    plan = all_plans[name]
    nasty = HOSTILE + '\n}\nresource "x" "y" {\x0b\u2028}'
    spoilt = plan.but(
        scenario=replace(plan.scenario, name=nasty, customer=nasty),
        groups=tuple(replace(g, name=nasty) for g in plan.groups),
        pools=tuple(replace(p, name=nasty) for p in plan.pools),
    )
    files, harmless = terraform_files(spoilt), terraform_files(plan)
    hcl = parsed(files)
    assert hcl["resource"].keys() == parsed(harmless)["resource"].keys()
    assert vms_of(hcl) == vms_of(parsed(harmless))
    label = next(label for kind, label in hcl["resource"] if kind == "vsphere_virtual_machine")
    said = hcl["resource"]["vsphere_virtual_machine", label]["annotation"]
    assert said.startswith('\\"$${var.x}\\" %%{if true} <script>')
    assert "\n" not in said
    assert "<script>" not in files["README.md"]
    assert "&lt;script&gt;" in files["README.md"]
    for text in files.values():
        assert "\x0b" not in text
        assert "\u2028" not in text
        assert not re.search(r'^resource "x"', text, re.M)


def test_groups_whose_ids_read_alike_do_not_clash(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    one = scenario.groups[1]
    ids = ("a-b", "a--b", "bitfusion-server", "vgpu", "1", "-")
    groups = tuple(replace(one, id=id, people=2, active_share=1.0) for id in ids)
    plan = make_plan(replace(scenario, groups=groups, origins=()), catalog)
    counts = vms_of(parsed(terraform_files(plan)))
    assert list(counts) == ["a_b", "a_b_2", "bitfusion_server_2", "vgpu_2", "group_1", "group"]
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", label) for label in counts)


def test_a_plan_without_hosts_says_so(catalog: Catalog) -> None:
    files = terraform_files(make_plan(Scenario(name="<Nothing>"), catalog))
    assert list(files) == ["README.md"]
    assert "nothing to build" in files["README.md"]
    assert "&lt;Nothing&gt;" in files["README.md"]


def test_fewer_failures_than_hosts_are_tolerated(all_plans: dict[str, Plan]) -> None:
    plan = all_plans["current"]
    many = replace(plan.scenario, availability=replace(plan.scenario.availability, host_failures=99))
    files = terraform_files(plan.but(scenario=many))
    cluster = parsed(files)["resource"]["vsphere_compute_cluster", "vgpu"]
    assert cluster["ha_admission_control_host_failure_tolerance"] == plan.pools[0].hosts - 1
    assert "tolerates fewer failures than asked for" in files["README.md"]


def test_the_readme_says_what_must_be_checked(all_plans: dict[str, Plan]) -> None:
    readme = {name: terraform_files(plan)["README.md"] for name, plan in all_plans.items()}
    assert "no argument for a vGPU" in readme["enterprise"]
    assert "V100D-32C as `grid_v100d-32c`" in readme["enterprise"]
    assert "vmxnet3vrdma" in readme["enterprise"]
    assert "no argument for a vGPU" not in readme["starter"]
    assert "Switch passthrough on" in readme["starter"]
    assert "Host 6 of `vgpu_hosts` has 2 GPUs in MIG mode" in readme["current"]
    assert "28 GPUs of the stated total without a workload" in readme["no-group"]
    assert "already out of the cluster" in readme["existing"]
    for plan_name, text in readme.items():
        totals = all_plans[plan_name].totals
        assert f"{totals.hosts} hosts with {totals.gpus} GPUs, {totals.gpus_after_failure} after" in text


def test_a_template_made_anew_replaces_no_vm(any_plan: Plan) -> None:
    for body in parsed(terraform_files(any_plan))["resource"].values():
        if "clone" in body:
            lifecycle = body["lifecycle"][0] if isinstance(body["lifecycle"], list) else body["lifecycle"]
            ignored = {str(name).strip("${}") for name in lifecycle["ignore_changes"]}
            assert ignored == {"clone", "disk", "guest_id", "scsi_type"}


def test_the_readme_warns_of_what_cannot_be_taken_back(all_plans: dict[str, Plan], catalog: Catalog) -> None:
    readme = terraform_files(all_plans["enterprise"])["README.md"]
    assert "move its management network first" in readme
    assert "destroyed with their disks" in readme
    assert "at most 64 hosts" not in readme
    sliced = from_dict(
        {
            "groups": [{"id": "a", "people": 7 * 4 * 70, "gpus_each": "1/7", "access": "mig"}],
            "hardware": {"gpu": "h100-pcie-80gb", "gpus_per_host": 4},
        }
    )
    readme = terraform_files(make_plan(sliced, catalog))["README.md"]
    assert readme.count("**MIG.**") == 2
    assert "Hosts 1 to 35 of `vgpu_1_hosts` have 4 GPUs each in MIG mode" in readme


def test_each_cluster_is_a_resource_with_its_hosts_and_its_vms(catalog: Catalog) -> None:
    """70 hosts of MIG VMs are two clusters of 35 + 1: the VMs of the group are numbered on from one to the next."""
    data = {
        "groups": [{"id": "a", "people": 7 * 4 * 70, "gpus_each": "1/7", "access": "mig"}],
        "hardware": {"gpu": "h100-pcie-80gb", "gpus_per_host": 4},
    }
    files = terraform_files(make_plan(from_dict(data), catalog))
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


def test_the_same_plan_gives_the_same_files(any_plan: Plan) -> None:
    files = terraform_files(any_plan)
    assert terraform_files(any_plan) == files
    for text in files.values():
        assert "registry" not in text


def test_vms_without_a_gpu_are_left_out_and_said_once(catalog: Catalog) -> None:
    """They run already: no file makes them, and on their host they stand "without a GPU", not "with 0 GPUs"."""
    given = load_scenario("starter").with_value("hardware.other_vms", "Licences: 6 x 8 vCPUs")
    plan = make_plan(given.with_value("hardware.vcpus_per_host", 64), catalog)
    files = terraform_files(plan)
    assert "* 6 VMs without a GPU (Licences): they run already." in files["README.md"]
    assert "Licences" not in "".join(text for name, text in files.items() if name != "README.md")
    assert "6 x Licences without a GPU" in plan_text(plan)
