"""Checks of boards: NVSwitch and NVLink, profiles that no source names, NIM, what is no longer sold."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from approved import is_approved

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.hardware import has_nvswitch
from gpuplan.plan.hosts import whole_pools
from gpuplan.plan.sharing import version_order
from gpuplan.report.tables.build import software
from gpuplan.report.tables.platform import platform_rules
from gpuplan.scenario import from_dict

HGX = {"gpu": "h100-sxm5-80gb", "gpus_per_host": 8}


def planned(catalog: Catalog, *groups: dict[str, Any], **data: Any) -> tuple[Plan, dict[str, Message]]:
    listed = [
        {"id": f"g{at}", "name": f"Team {at}", "remote_allowed": False, **g} for at, g in enumerate(groups, 1)
    ]
    plan = make_plan(from_dict({"groups": listed, "platform": {"vsphere": "8.0u3"}, **data}), catalog)
    return plan, {m.code: m for m in check_plan(plan)}


def occupied(plan: Plan) -> int:
    return sum(pool.layout.needed.gpus_occupied for pool in whole_pools(plan.pools).values())


@pytest.mark.parametrize(
    ("gpu", "per_host", "server", "joined"),
    [
        ("h100-sxm5-80gb", 8, None, True),
        ("h100-sxm5-80gb", 4, None, False),  # four modules reach each other directly
        ("h100-sxm5-80gb", 4, "dell-xe8640", False),
        ("h100-sxm5-80gb", 8, "dell-xe9680", True),
        ("b200-sxm6-180gb", 4, None, True),  # no server of the catalog has fewer than 8
        ("v100-sxm2-32gb", 8, "nvidia-dgx-1-v100", False),  # a mesh
        ("h200-nvl-141gb", 8, "dell-xe7745", False),  # PCIe boards with bridges
    ],
)
def test_where_nvswitch_joins_the_gpus(
    catalog: Catalog, gpu: str, per_host: int, server: str | None, joined: bool
) -> None:
    hardware = {"gpu": gpu, "gpus_per_host": per_host, "server": server}
    assert has_nvswitch(from_dict({"hardware": hardware}), catalog) is joined


@pytest.mark.parametrize(("size", "offer"), [(3, "2 or 4"), (5, "4 or 8"), (6, "4 or 8"), (7, "4 or 8")])
def test_a_vm_without_a_partition_is_told_what_to_choose(catalog: Catalog, size: int, offer: str) -> None:
    plan, found = planned(catalog, {"gpus_each": size}, hardware=HGX)
    assert plan.group("g1").mode == "vgpu"
    warning = found["nvswitch-no-partition"]
    assert f"with {size} GPUs" in warning.text and offer in warning.change
    assert warning.sources == ("frankdenneman-partitions-2026",)
    assert "nvswitch-device-group" not in found


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_a_vm_with_a_partition_is_told_how_to_get_it(catalog: Catalog, size: int) -> None:
    _, found = planned(catalog, {"gpus_each": size}, hardware=HGX)
    assert "nvswitch-no-partition" not in found
    assert ("nvswitch-device-group" in found) is (size > 1)
    if size > 1:
        assert f"Nvidia:{size}@nvidia_h100xm-80c%NVLink" in found["nvswitch-device-group"].text
    assert "nvswitch-halves" not in found  # all VMs are of one size
    _, beside = planned(catalog, {"gpus_each": size}, {"gpus_each": 0.25}, hardware=HGX)
    assert ("nvswitch-halves" in beside) is (size == 4)


def test_passthrough_and_mig_on_nvswitch(catalog: Catalog) -> None:
    """Whole GPUs over the limit of the stun got passthrough there, which NVIDIA does not support under vSphere."""
    plan, _ = planned(catalog, {"gpus_each": 8}, hardware=HGX)
    assert plan.group("g1").mode == "vgpu"
    _, refused = planned(catalog, {"gpus_each": 8, "access": "passthrough"}, hardware=HGX)
    assert "NVSwitch" in refused["decided-mode-impossible"].text
    plan, found = planned(catalog, {"gpus_each": "1/7", "isolation": True}, hardware=HGX)
    assert plan.group("g1").scheduler == "fixed-share" and "nvswitch-mig" not in found
    plan, found = planned(catalog, {"gpus_each": "1/7", "access": "mig"}, hardware=HGX)
    assert found["nvswitch-mig"].level == "warn"
    assert [reason.code for reason in plan.group("g1").against][-1] == "nvswitch-mig"
    four = {"gpu": "h100-sxm5-80gb", "gpus_per_host": 4, "server": "dell-xe8640"}
    plan, _ = planned(catalog, {"gpus_each": 4}, hardware=four)
    assert plan.group("g1").mode == "passthrough"


@pytest.mark.slow
def test_every_hgx_board_on_every_version_says_who_says_what_of_each_mode(catalog: Catalog) -> None:
    """NVIDIA and Broadcom disagree on passthrough from VCF 9.0 on: both are shown, and only a stated wish plans it."""
    order = version_order(catalog)
    modules = {
        gpu.id for gpu in catalog.gpus.values() if gpu.value("form_factor") in ("SXM4", "SXM5", "SXM6")
    }
    tried = set()
    for gpu, version, mode in itertools.product(
        sorted(modules), catalog.vsphere, ("auto", "vgpu", "mig", "passthrough")
    ):
        size = "1/7" if mode == "mig" else 8
        hardware = {"gpu": gpu, "gpus_per_host": 8}
        plan, found = planned(
            catalog, {"gpus_each": size, "access": mode}, hardware=hardware, platform={"vsphere": version}
        )
        got, late = plan.group("g1").mode, order[version] >= order["9.0"]
        tried.add((gpu, got, late))
        rules = {rule.id: rule for rule in platform_rules(plan)}
        assert ("nvswitch-passthrough" in found) is (got == "passthrough"), (gpu, version, mode)
        if mode == "passthrough":
            assert got == ("passthrough" if late else "")
            refused = found.get("decided-mode-impossible") or found.get("no-access-mode")
            words = (found["nvswitch-passthrough"] if late or refused is None else refused).text
            assert "NVIDIA" in words and "2026" in words
            assert ("Broadcom" in words and "2025-09-16" in words) is late
        elif got:
            assert got != "passthrough"
            left = next(other.reason for other in plan.group("g1").ruled_out if other.mode == "passthrough")
            assert ("Broadcom" in left.text and "2025-09-16" in left.text) is (late and mode != "mig")
        blackwell = catalog.gpus[gpu].value("architecture") == "Blackwell"
        assert ("nvswitch-release" in found) is (blackwell and got == "vgpu")
        host = next(row for row in software(plan).rows if "8.2" in str(row)) if blackwell else ""
        assert ("Infra 8.2" in str(host)) is blackwell
        if not plan.pools:
            continue
        rule = rules["nvswitch-passthrough-9" if late else "nvswitch-passthrough"]
        assert ("Broadcom" in rule.conflict) is late and ("nvswitch-crx" in rules) is (
            blackwell and got == "vgpu"
        )
    assert {(late, got) for _, got, late in tried} >= {(True, "passthrough"), (False, ""), (True, "vgpu")}
    assert {gpu for gpu, *_ in tried} == modules and len(modules) >= 6


@pytest.mark.parametrize(("size", "said"), [(2, False), (4, False), (5, True), (8, True)])
def test_bridges_join_four_h200_nvl(catalog: Catalog, size: int, said: bool) -> None:
    _, found = planned(catalog, {"gpus_each": size}, hardware={"gpu": "h200-nvl-141gb", "gpus_per_host": 8})
    assert ("nvlink-bridges" in found) is said


def test_parts_of_a_b200_are_whole_gpus_until_a_source_names_its_profiles(catalog: Catalog) -> None:
    asked = ({"people": 3, "gpus_each": 0.5}, {"people": 1, "gpus_each": 4})
    hardware = {"gpu": "b200-sxm6-180gb", "gpus_per_host": 8, "server": "dell-xe9680l"}
    plan, found = planned(catalog, *asked, hardware=hardware, platform={"vsphere": "9.0"})
    assert plan.totals.unplaced_vms == 0
    assert occupied(plan) == 3 + 4
    assert "Team 1: each part" in found["vgpu-profiles-unlisted"].text
    assert is_approved(plan.group("g1").profile_reason, "1/2")
    assert "8.2" in found["nvswitch-release"].text and "nvswitch-version" not in found
    _, before = planned(catalog, *asked, hardware=hardware)
    assert before["nvswitch-version"].level == "stop"


@pytest.mark.parametrize(
    ("gpu", "group", "profile", "gpus"),
    [
        ("rtx-pro-6000-se-96gb", {"people": 13, "gpus_each": "1/12"}, "DC-8C", 2),  # 12 on a GPU
        ("rtx-pro-6000-se-96gb", {"people": 5, "gpus_each": "1/4", "isolation": True}, "DC-1-24C", 2),
        ("rtx-pro-4500-se-32gb", {"people": 3, "gpus_each": "1/2", "isolation": True}, "DC-1-16C", 2),
        ("rtx-pro-4500-se-32gb", {"people": 5, "gpus_each": "1/4"}, "DC-8C", 2),
        ("h200-nvl-141gb", {"people": 8, "gpus_each": "1/7", "isolation": True}, "H200-1-18C", 2),
    ],
)
def test_vms_on_todays_boards(
    catalog: Catalog, gpu: str, group: dict[str, Any], profile: str, gpus: int
) -> None:
    plan, _ = planned(catalog, group, hardware={"gpu": gpu, "gpus_per_host": 8})
    assert plan.group("g1").profile == profile and plan.totals.unplaced_vms == 0
    assert occupied(plan) == gpus


def test_mixed_sizes_share_a_blackwell_board(catalog: Catalog) -> None:
    """One VM with 48 GB, one with 32 and one with 16 fill a GPU; with equal sizes they take three."""
    asked = [{"people": 1, "gpus_each": share} for share in ("1/2", "1/3", "1/6")]
    hardware = {"gpu": "rtx-pro-6000-se-96gb", "gpus_per_host": 8}
    for sizes, gpus in (("mixed", 1), ("equal", 3)):
        platform = {"vsphere": "8.0u3", "vgpu_sizes": sizes}
        plan, found = planned(catalog, *asked, hardware=hardware, platform=platform)
        assert occupied(plan) == gpus
        assert "mixed-size-unlisted" not in found


@pytest.mark.parametrize(("gpu", "gpus"), [("h100-pcie-80gb", 1), ("a100-pcie-80gb", 2)])
def test_a_lone_3g_leaves_four_1g_on_hopper(catalog: Catalog, gpu: str, gpus: int) -> None:
    asked = [
        {"people": people, "gpus_each": share, "access": "mig"} for people, share in ((1, "3/7"), (4, "1/7"))
    ]
    plan, _ = planned(catalog, *asked, hardware={"gpu": gpu, "gpus_per_host": 4})
    assert occupied(plan) == gpus


def test_what_nim_does_not_do_is_said_where_models_are_served(catalog: Catalog) -> None:
    serving = {"use_case": "inference", "gpus_each": "1/4"}
    l40s = {"gpu": "l40s-48gb", "gpus_per_host": 4}
    assert {"nim-on-vgpu"} == {code for code in planned(catalog, serving, hardware=l40s)[1] if "nim" in code}
    assert not [code for code in planned(catalog, {"gpus_each": "1/4"}, hardware=l40s)[1] if "nim" in code]


def test_what_is_no_longer_sold_is_not_chosen_but_may_be_named(catalog: Catalog) -> None:
    """SN2700 switches were planned with, whose end of life has passed."""
    l40s = {"gpu": "l40s-48gb", "gpus_per_host": 4}
    for link in (10, 25, 40, 100):
        plan, found = planned(catalog, {}, hardware=l40s, network={"link_gbit_s": link})
        assert "no-longer-sold" not in found, plan.cabling
    named, found = planned(
        catalog, {}, hardware=l40s, network={"link_gbit_s": 100, "leaf": "sn2700", "compute_hosts": 80}
    )
    assert named.cabling and named.cabling.switches and named.cabling.switches.leaf == "sn2700"
    assert "SN2700" in found["no-longer-sold"].text
    assert (
        "a100-sxm4-80gb" in catalog.gpus and catalog.gpus["a100-sxm4-80gb"].value("end_of_sale") == "2025-11"
    )


def test_a_whole_gpu_needs_no_scheduler_for_its_share(catalog: Catalog) -> None:
    """Of the B300 no type smaller than a whole GPU is known: nobody shares it, so that nothing is to be set."""
    group = {"id": "a", "people": 4, "gpus_each": 0.25, "isolation": True}
    hardware, platform = {"gpu": "b300-sxm6-288gb", "gpus_per_host": 8}, {"vsphere": "9.1"}
    plan = make_plan(from_dict({"groups": [group], "hardware": hardware, "platform": platform}), catalog)
    assert plan.groups[0].mode == "vgpu" and not plan.groups[0].scheduler
    assert "fixed-share-scheduler" not in {m.code for m in check_plan(plan)}


def test_device_groups_are_named_by_the_vm_s_gpus_and_its_own_board(catalog: Catalog) -> None:
    boards = [gpu for gpu, item in catalog.gpus.items() if str(item.value("form_factor")).startswith("SXM")]
    for gpu in boards:
        for version in ("8.0u3", "9.0"):
            plan, found = planned(
                catalog,
                *({"gpus_each": size, "access": "vgpu"} for size in (1, 2, 8, 2)),
                hardware={"gpu": gpu, "gpus_per_host": 8},
                platform={"vsphere": version},
            )
            if "nvswitch-device-group" not in found:
                assert not has_nvswitch(plan.scenario, catalog) or not plan.pools
                continue
            text = found["nvswitch-device-group"].text
            assert [int(n) for n in re.findall(r"Nvidia:(\d+)@", text)] == [2, 8]
            named = re.findall(r"@(?:grid|nvidia)_([\w-]+)%NVLink", text)
            whole = plan.groups[0].profile.lower()
            assert named == ([] if "whole" in whole else [whole] * 2), gpu
            assert catalog.gpus[gpu].name in text or named


def on_owned(
    catalog: Catalog, board: str, existing: str, *, people: int = 10, failures: int = 1, **group: Any
) -> Plan:
    """One group on passthrough, and owned hosts."""
    one = {"id": "a", "people": people, "active_share": 1, "access": "passthrough", **group}
    hardware = {"gpu": board, "gpus_per_host": 4, "existing": existing}
    data = {"groups": [one], "hardware": hardware, "availability": {"host_failures": failures}}
    return make_plan(from_dict(data), catalog)


def codes(plan: Plan) -> list[str]:
    return [message.code for message in check_plan(plan)]


@pytest.mark.parametrize(
    ("board", "owned", "access", "used"),
    [
        ("l40s-48gb", "h100-nvl-94gb", "passthrough", True),
        ("l40s-48gb", "rtx8000-48gb", "passthrough", False),
        ("l4-24gb", "p40-24gb", "passthrough", False),
        ("l40s-48gb", "l40s-48gb", "vgpu", True),
    ],
)
def test_owned_hosts_that_run_nothing_are_named(
    board: str, owned: str, access: str, used: bool, catalog: Catalog
) -> None:
    plan = on_owned(catalog, board, f"Old: 3 x 4 {owned}", access=access)
    assert ("owned-hosts-not-used" in codes(plan)) is not used
    assert sum(pool.existing_hosts for pool in plan.pools) == 3 * used
    # ten VMs on three owned hosts of four and a spare one, or on four new ones
    assert (plan.totals.hosts, plan.inventory.buy if plan.inventory else -1) == (4, 1 if used else 4)


def test_whole_gpus_by_vgpu_have_clusters_of_their_own_on_owned_boards(catalog: Catalog) -> None:
    """Three hosts of which one may fail hold eight VMs; two more take a new host and a spare one. One host alone holds none."""
    plan = on_owned(catalog, "l40s-48gb", "Old: 3 x 4 h100-nvl-94gb", access="auto")
    assert [(pool.gpu, pool.hosts, pool.existing_hosts) for pool in plan.pools] == [
        ("h100-nvl-94gb", 3, 3),
        ("l40s-48gb", 2, 0),
    ]
    assert [sum(r.vms for r in pool.requests) for pool in plan.pools] == [8, 2]
    assert not any(loss.unplaced for pool in plan.pools for loss in pool.failures)
    alone = on_owned(catalog, "l40s-48gb", "Old: 1 x 4 h100-nvl-94gb", access="auto")
    assert alone.totals.hosts == 4 and "owned-hosts-not-used" in codes(alone)


def test_vms_larger_than_a_new_host_have_failover_only_on_owned_ones(catalog: Catalog) -> None:
    for hosts, lacking in ((3, False), (2, True)):
        plan = on_owned(catalog, "l40s-48gb", f"{hosts} x 8 l40s-48gb", people=2, gpus_each=8)
        assert ("on-owned-hosts-only" in codes(plan)) is lacking
        assert "failure-leaves-unplaced" not in codes(plan)
        assert plan.inventory is not None and plan.inventory.buy == 0
    accepted = on_owned(catalog, "l40s-48gb", "2 x 8 l40s-48gb", people=2, gpus_each=8, failures=0)
    assert {m.code: m.level for m in check_plan(accepted)}["on-owned-hosts-only"] == "warn"
