"""Weighing: what vMotion really keeps, what licences cost, and hosts that groups share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpuplan import Plan, check_plan, load_catalog, load_scenario, make_plan
from gpuplan.catalog import Catalog, CatalogError
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.prices import PriceList
from gpuplan.plan.weighing import licence_price, spare_host_price, stun_estimate_s, stun_limit_s, weigh
from gpuplan.scenario import Scenario, from_dict


def asked(gpu: str, *groups: dict[str, Any], version: str = "8.0u3", **more: Any) -> Scenario:
    return from_dict(
        {
            "groups": [
                {"id": f"g{number}", "name": f"Group {number}", "remote_allowed": False, **group}
                for number, group in enumerate(groups, 1)
            ],
            "hardware": {"gpu": gpu, "gpus_per_host": 4},
            "platform": {"vsphere": version} | more.pop("platform", {}),
            **more,
        }
    )


def planned(catalog: Catalog, gpu: str, *groups: dict[str, Any], **more: Any) -> Plan:
    return make_plan(asked(gpu, *groups, **more), catalog)


def said(group: GroupPlan) -> str:
    return " ".join(reason.text for reason in (*group.reasons, *group.against))


FOUR = {"people": 4, "gpus_each": 4}


def test_four_whole_h100s(catalog: Catalog) -> None:
    """They got vGPU because it keeps vMotion, beside a warning that their stun is 383 s where 100 are allowed."""
    plan = planned(catalog, "h100-pcie-80gb", FOUR)
    group = plan.group("g1")
    assert group.mode == "passthrough"
    assert "about 383 s, and the limit is 100 s" in said(group)  # 1.67 s + 4 x 80 GB / 0.84 GB/s
    assert "licence" not in said(group)  # five years come with the board
    assert "stun-over-limit" not in {m.code for m in check_plan(plan)}
    assert plan.lines["groups.g1.stun_as_vgpu_s"].value == pytest.approx(382.6, abs=0.1)
    assert {t.feature: t.verdict for t in group.traits}["vMotion"] == "no"


def test_four_whole_l40s_and_their_licences(catalog: Catalog) -> None:
    """vGPU cost USD 360,000 more than passthrough in licences, and no reason said so: 16 GPUs x 5 years x USD 4,500."""
    plan = planned(catalog, "l40s-48gb", FOUR)
    group = plan.group("g1")
    assert group.mode == "passthrough"
    assert "USD 22\u202f500 a GPU over 5 years, USD 360\u202f000 in all" in said(group)
    by_vgpu = make_plan(plan.scenario.with_value("groups.g1.access", "vgpu"), catalog).group("g1")
    assert "USD 360\u202f000" in said(by_vgpu)
    assert {"licences-cost", "vmotion-over-limit"} == {reason.code for reason in by_vgpu.against}


@pytest.mark.parametrize(
    ("limit_s", "mode"), [(383, "vgpu"), (382, "passthrough"), (None, "passthrough"), (1000, "vgpu")]
)
def test_the_limit_that_is_stated_decides(catalog: Catalog, limit_s: int | None, mode: str) -> None:
    given = {"availability": {"stun_limit_s": limit_s}} if limit_s else {}
    assert planned(catalog, "h100-pcie-80gb", FOUR, **given).group("g1").mode == mode


def test_a_group_says_whether_it_needs_vmotion(catalog: Catalog) -> None:
    for vmotion, mode in (("auto", "vgpu"), ("needed", "vgpu"), ("not-needed", "passthrough")):
        assert planned(catalog, "l40s-48gb", {"people": 4, "vmotion": vmotion}).group("g1").mode == mode
    needed = planned(catalog, "h100-pcie-80gb", FOUR | {"vmotion": "needed"})
    assert needed.group("g1").mode == "vgpu"
    assert "vMotion is not kept" in said(needed.group("g1"))
    assert "stun-over-limit" in {m.code for m in check_plan(needed)}


def test_a_quarter_of_a_board_without_mig_with_a_guaranteed_share(catalog: Catalog) -> None:
    """It found no mode."""
    quarter = {"people": 8, "gpus_each": "1/4", "isolation": True}
    plan = planned(catalog, "l40s-48gb", quarter)
    group = plan.group("g1")
    assert (group.mode, group.profile, group.scheduler) == ("vgpu", "L40S-12C", "fixed-share")
    assert {t.feature: t.verdict for t in group.traits}["Compute isolation"] == "yes"
    assert "fixed-share-scheduler" in {m.code for m in check_plan(plan)}
    mixed = planned(catalog, "l40s-48gb", quarter, platform={"vgpu_sizes": "mixed"}).group("g1")
    assert mixed.mode == ""
    why = {r.mode: r.reason.text for r in mixed.ruled_out}["vgpu"]
    assert "equal vGPU sizes" in why and "a whole GPU" in why
    without = planned(catalog, "l40s-48gb", quarter | {"isolation": False})
    assert without.group("g1").scheduler == ""


def test_a_guaranteed_share_of_whole_gpus_says_nothing_of_taking_turns(catalog: Catalog) -> None:
    for gpu, version in (("l40s-48gb", "8.0u3"), ("h100-pcie-80gb", "8.0u3"), ("v100-pcie-32gb", "7.0u3")):
        for gpus_each in (1, 4):
            asks = {"people": 2, "gpus_each": gpus_each, "isolation": True}
            group = planned(catalog, gpu, asks, version=version).group("g1")
            assert "no other VM takes turns" in said(group)
            traits = {t.feature: t for t in group.traits}
            assert traits["Compute isolation"].verdict == "yes"
            assert "on one GPU take turns" not in " ".join(t.text for t in group.traits)


def test_whole_gpus_beside_groups_that_share_hosts(catalog: Catalog) -> None:
    """A cluster of its own has spare hosts of its own; where no licence has to be bought for it, the hosts are shared."""
    small = {"people": 16, "gpus_each": "1/4"}
    shared = planned(catalog, "h100-pcie-80gb", FOUR, small)
    assert [g.mode for g in shared.groups] == ["vgpu", "vgpu"]
    apart = make_plan(shared.scenario.with_value("groups.g1.access", "passthrough"), catalog)
    assert apart.totals.hosts > shared.totals.hosts
    assert "vMotion is not kept" in said(shared.group("g1"))
    bought = planned(catalog, "l40s-48gb", FOUR, small).group("g1")
    assert bought.mode == "passthrough"
    assert "of their own (each USD 165\u202f585 with its platform licences, before interest" in said(bought)


def test_licences_against_the_spare_hosts_of_another_cluster(catalog: Catalog) -> None:
    small = {"people": 16, "gpus_each": "1/4"}
    dear = {"prices": {"gpus/l40s-48gb": 50_000, "host-without-gpus": 200_000}}
    group = planned(catalog, "l40s-48gb", FOUR, small, **dear).group("g1")
    assert group.mode == "vgpu"
    assert group.reasons[0].code == "vgpu-licence-costs-less"
    assert "USD 512\u202f000" in said(group)  # 4 x 50,000 + 200,000 and 64 cores x 5 x 350, against 360,000


def test_what_the_licence_of_a_gpu_costs_by_hand(catalog: Catalog) -> None:
    for gpu, cost, price in (
        ("l40s-48gb", {"years": 5}, 22_500),
        ("l40s-48gb", {"years": 2, "licence_discount": 0.1}, 8_100),
        ("l40s-48gb", {"gpu_licence": "owned"}, 0),
        ("l40s-48gb", {"licence_term_years": 5}, 18_000),
        ("l40s-48gb", {"gpu_licence": "perpetual"}, 22_500),
        ("h100-pcie-80gb", {"years": 5}, 0),
        ("h100-pcie-80gb", {"years": 7}, 9_000),
    ):
        scenario = asked(gpu, FOUR, cost=cost)
        assert licence_price(scenario, catalog, PriceList(scenario, catalog)) == pytest.approx(price)


def test_what_one_more_host_costs_by_hand(catalog: Catalog) -> None:
    """Its failures do not count: more of them never bring two clusters together, which would take fewer hosts."""
    own = {"prices": {"gpus/l40s-48gb": 8_000, "host-without-gpus": 20_000, "vcf-core-year": 300}}
    for failures in (0, 1, 3):
        stand = {"availability": {"host_failures": failures}}
        cost = {"cost": {"years": 5, "cores_per_socket": 24, "sockets": 2, "hardware_discount": 0.1}}
        scenario = asked("l40s-48gb", FOUR, **own, **stand, **cost)
        found = spare_host_price(scenario, catalog, PriceList(scenario, catalog))
        assert found == pytest.approx(0.9 * (4 * 8_000 + 20_000) + 2 * 24 * 5 * 300)
    eight = asked("l40s-48gb", FOUR, prices={"large-host-without-gpus": 31_000}).with_value(
        "hardware.gpus_per_host", 8
    )
    found = spare_host_price(eight, catalog, PriceList(eight, catalog))
    assert found == pytest.approx(8 * 8_500 + 31_000 + 2 * 32 * 5 * 350)  # as in the bill of materials


def test_stuns_are_estimated_where_a_version_moves_vgpus(catalog: Catalog) -> None:
    version = catalog.vsphere["7.0"]
    assert stun_estimate_s(catalog, version, 32 * 1024) == pytest.approx(39.8, abs=0.1)
    assert stun_limit_s(asked("l40s-48gb"), catalog) == 100
    assert stun_limit_s(asked("l40s-48gb", availability={"stun_limit_s": 300}), catalog) == 300


def test_the_access_of_a_group_stays_as_it_grows(catalog: Catalog) -> None:
    """What the money decides today is not decided again for each year of growth."""
    grown = load_scenario("current").with_value("cost.gpu_licence", "owned")
    plan = make_plan(grown, catalog)
    modes = {group.id: group.mode for group in plan.groups}
    assert set(plan.growth.hosts[-1]) == {pool.id for pool in plan.pools}
    assert modes["fine-tuning"] == "vgpu"


def test_both_rounds_look_at_every_group(catalog: Catalog) -> None:
    weighed = weigh(load_scenario("enterprise"), catalog)
    assert {id: each.chosen.mode for id, each in weighed.items()} == {
        "researchers": "vgpu",
        "data-scientists": "bitfusion",
        "hpc": "bitfusion",
        "developers": "bitfusion",
        "distributed": "bitfusion",
    }
    assert weighed["researchers"].case.shared_hosts  # Bitfusion servers get their GPUs from the same hosts
    assert not weigh(load_scenario("starter"), catalog)["developers"].case.shared_hosts


def test_bitfusion_is_offered_where_it_is_owned_and_supported(catalog: Catalog) -> None:
    for version, owned, code in (
        ("7.0", False, "bitfusion-not-owned"),
        ("9.0", True, "bitfusion-version"),
        ("6.7u3", True, "bitfusion-version"),
    ):
        asks = {"people": 4, "remote_allowed": True}
        plan = planned(catalog, "v100-pcie-32gb", asks, version=version, platform={"bitfusion": owned})
        assert {r.mode: r.reason.code for r in plan.group("g1").ruled_out}["bitfusion"] == code


def test_a_rule_of_ones_own_that_names_no_fact_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    head = "id,verdict,modes,when,text,basis,source,locator,note\n"
    rule = "mine,out,vgpu,part of a GPUs,No.,derived,gpuplan-method,,\n"
    (folder / "access_rules.csv").write_text(head + rule, encoding="utf-8")
    with pytest.raises(CatalogError, match=r"part of a GPUs.*did you mean part of a GPU"):
        weigh(load_scenario("starter"), load_catalog(folder))
    good = rule.replace("GPUs,No", "GPU,No")
    (folder / "access_rules.csv").write_text(head + good, encoding="utf-8")
    mine = make_plan(asked("l40s-48gb", {"people": 4, "gpus_each": "1/4"}), load_catalog(folder))
    assert mine.group("g1").mode == ""
