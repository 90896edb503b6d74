"""The management domain: the published sheet's own sums, what each choice adds, and hosts that are stated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from approved import is_approved
from own_catalog import write

from gpuplan import Plan, load_catalog, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.management import Appliance, ManagementDomain, release
from gpuplan.scenario import from_dict

SUMS = ("nodes", "vcpus", "memory_gb", "disk_gb")


def plan_of(catalog: Catalog, version: str, given: dict[str, Any]) -> Plan:
    scenario = load_scenario("current").with_value("platform.vsphere", version)
    for path, value in given.items():
        scenario = scenario.with_value(path, value)
    return make_plan(scenario, catalog)


def domain_of(catalog: Catalog, version: str = "9.1", **given: Any) -> ManagementDomain:
    found = plan_of(
        catalog, version, {f"management.{name}": value for name, value in given.items()}
    ).management
    assert found is not None
    return found


def sums(appliances: list[Appliance]) -> list[float]:
    return [sum(getattr(each, name) for each in appliances) for name in SUMS]


def own(domain: ManagementDomain) -> list[Appliance]:
    """Without those of the workload domain."""
    return [a for a in domain.appliances if not a.id.startswith("domain-") and not a.on_gpu_hosts]


def test_the_workbook_sums_its_example_alike(catalog: Catalog) -> None:
    """High availability, medium, without VCF Operations: 12 VMs, 122 vCPU, 316 GB, 7,872 GB, by the published total."""
    domain = domain_of(catalog, services="none")
    assert sums(own(domain)) == [12, 122, 316, 7872]
    assert {a.basis for a in domain.appliances} == {"published"}
    assert (domain.min_hosts, domain.needed_hosts) == (4, 4)
    assert domain.memory_gib == 1024, "what the workbook asks for, more than the appliances need"


def test_a_workload_domain_adds_its_own_vcenter_and_managers(catalog: Catalog) -> None:
    """vCenter medium 8 / 30 / 1,658 and three NSX Managers of 6 / 24 / 300: 148 vCPUs, 418 GB, 10,430 GB in all."""
    domain = domain_of(catalog, services="none")
    assert (domain.vcpus, domain.memory_gb, domain.disk_gb) == (148, 418, 10_430)
    assert domain.raw_gb == 23_270, "10,848 x 1.5 = 16,272; x 1.3, up to 21,154; x 1.1, up to 23,270"


def test_operations_and_automation_by_hand(catalog: Catalog) -> None:
    """Three of 16 / 48 / 274 and a license server of 2 / 4 / 12; Automation three of 24 / 96 / 334."""
    without, with_operations = domain_of(catalog, services="none"), domain_of(catalog)
    both = domain_of(catalog, services="operations-automation")
    assert with_operations.vcpus - without.vcpus == 3 * 16 + 2
    assert with_operations.memory_gb - without.memory_gb == 3 * 48 + 4
    assert both.disk_gb - with_operations.disk_gb == 3 * 334


@pytest.mark.parametrize(("storage", "hosts"), [("vsan", 3), ("external", 2)])
def test_simple_takes_one_of_each_and_fewer_hosts(catalog: Catalog, storage: str, hosts: int) -> None:
    """SDDC Manager, vCenter small, one NSX Manager, one control node and three workers of the small size, the reserve."""
    domain = domain_of(catalog, model="simple", size="small", storage=storage, services="none")
    vcpus = 4 + 4 + 6 + 4 + 3 * 12 + 8
    assert sums(own(domain)) == [
        8,
        vcpus,
        16 + 21 + 24 + 10 + 3 * 24 + 24,
        914 + 1519 + 300 + 100 + 300 + 2600 + 800,
    ]
    assert domain.min_hosts == hosts
    assert (domain.parts[-1].size == "none") == (storage == "external")


def test_a_size_that_a_folder_of_one_s_own_takes_is_counted(catalog: Catalog, tmp_path: Path) -> None:
    """Log management, small, of the published sizes: one VM of 8 vCPUs, 16 GB and 575 GB beside all else."""
    table = (Path(__file__).parents[2] / "data" / "appliances.csv").read_text(encoding="utf-8").splitlines()
    row = next(line for line in table if line.startswith("log-management/small,"))
    taken = row.replace(",small,,,", ",small,medium,medium,", 1)
    mine = domain_of(load_catalog(write(tmp_path / "own", "appliances.csv", table[0], taken)))
    added = mine.of("log-management")
    assert (added.nodes, added.vcpus, added.memory_gb, added.disk_gb) == (1, 8, 16, 575)
    assert mine.vcpus == domain_of(catalog).vcpus + 8


def test_an_older_release_has_no_services_and_assumes_the_sizes(catalog: Catalog) -> None:
    """Before 9.0 neither Operations nor a simple model; before 9.1 no services runtime, and four hosts whichever model."""
    old, newer = domain_of(catalog, "8.0u3", model="simple"), domain_of(catalog, "9.0", model="simple")
    assert [a.id for a in old.appliances] == [
        "sddc-manager",
        "vcenter",
        "nsx-manager",
        "domain-vcenter",
        "domain-nsx-manager",
    ]
    assert old.model == "high-availability" and old.of("nsx-manager").nodes == 3
    assert (
        newer.model == "simple"
        and newer.of("nsx-manager").nodes == 1
        and newer.of("vcf-operations").nodes == 1
    )
    assert {a.basis for a in (*old.appliances, *newer.appliances)} == {"assumed"}
    assert old.min_hosts == newer.min_hosts == 4


def test_what_runs_on_the_gpu_hosts_is_not_in_the_domain(catalog: Catalog) -> None:
    """One edge large and one control plane VM small on a host at most: 8 + 4 vCPUs, 32 + 16 GB."""
    domain = domain_of(catalog, edges="large", supervisor="small")
    assert (domain.vcpus, domain.memory_gb) == (domain_of(catalog).vcpus, domain_of(catalog).memory_gb)
    assert domain.on_gpu_hosts == (12, 48)
    assert is_approved([(a.name, a.nodes) for a in domain.appliances if a.on_gpu_hosts], "NSX Edge", "2", "3")


def test_hosts_that_are_there_are_checked(catalog: Catalog) -> None:
    """198 vCPUs on three hosts take 66 and, ESXi and vSAN keeping 18 %, 81 cores: 96 suffice, 64 do not."""
    enough = domain_of(catalog, services="operations", hosts=4, cores_per_host=96, memory_gib_per_host=1024)
    assert enough.vcpus == 198 and not enough.short
    plan = plan_of(catalog, "9.1", {"management.hosts": 4, "management.cores_per_host": 64})
    domain = plan.management
    assert domain is not None and domain.needed_hosts == 5
    assert is_approved(domain.short, "157", "198 vCPUs")
    message = next(m for m in check_plan(plan) if m.code == "management-too-small")
    assert message.path == "management.hosts" and "5 hosts" in message.change
    few = domain_of(catalog, hosts=3)
    assert is_approved(few.short, "4", "157", "198 vCPUs")


def test_releases() -> None:
    starter = load_scenario("starter")
    for version, found in (("8.0u3", (8, 0)), ("9.1", (9, 1)), ("6.7u3", (6, 7))):
        assert release(starter.with_value("platform.vsphere", version)) == found


def test_without_hosts_there_is_none(catalog: Catalog) -> None:
    plan = make_plan(from_dict({}), catalog)
    assert plan.management is None and plan.host_line is None
