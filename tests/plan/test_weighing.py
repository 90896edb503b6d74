"""Weighing: what vMotion really keeps, what licences cost, and hosts that groups share."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from approved import has_approved
from own_catalog import without_profiles
from random_cases import cases

from gpuplan import Plan, check_plan, load_catalog, load_scenario, make_plan
from gpuplan.catalog import Catalog, CatalogError
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.weighing import Outcome, licence_to_buy, stun_estimate_s, stun_item, stun_limit_s, weigh
from gpuplan.report import plan_text
from gpuplan.scenario import Scenario, from_dict
from gpuplan.wording import counted, money


def asked(gpu: str, *groups: dict[str, Any], version: str = "8.0u3", **more: Any) -> Scenario:
    return from_dict(
        {
            "groups": [
                {"id": f"g{number}", "name": f"Group {number}", "remote_allowed": False, **group}
                for number, group in enumerate(groups, 1)
            ],
            "hardware": {"gpu": gpu, "gpus_per_host": 4} | more.pop("hardware", {}),
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
    assert has_approved(said(group), "383 s", "100 s")  # 1.67 s + 4 x 80 GB / 0.84 GB/s
    assert "licence" not in said(group)  # five years come with the board
    assert "stun-over-limit" not in {m.code for m in check_plan(plan)}
    assert plan.lines["groups.g1.stun_as_vgpu_s"].value == pytest.approx(382.6, abs=0.1)
    assert {t.feature: t.verdict for t in group.traits}["vMotion"] == "no"


def other_way(plan: Plan, group: str) -> Plan:
    """The same design with the other access for whole GPUs."""
    wish = "passthrough" if plan.group(group).mode == "vgpu" else "vgpu"
    return make_plan(plan.scenario.with_value(f"groups.{group}.access", wish), plan.catalog)


def software(plan: Plan) -> float:
    assert plan.costs
    return sum(part.total for part in plan.costs.parts if part.name == "GPU software")


def paid(plan: Plan) -> float:
    assert plan.costs
    return plan.costs.net_present


def test_four_whole_l40s_and_their_licences(catalog: Catalog) -> None:
    """Five hosts with the spare one, so 20 GPUs x 5 years x USD 4,500, and no reason said so."""
    plan = planned(catalog, "l40s-48gb", FOUR)
    group = plan.group("g1")
    assert group.mode == "passthrough"
    assert has_approved(said(group), "USD 450\u202f000", "5 years", "20 GPUs")
    by_vgpu = other_way(plan, "g1").group("g1")
    assert "USD 450\u202f000" in said(by_vgpu)
    assert {"licences-cost", "vmotion-over-limit"} == {reason.code for reason in by_vgpu.against}


@pytest.mark.parametrize("years", range(1, 8))
def test_the_licences_of_a_reason_are_those_of_the_bill(catalog: Catalog, years: int) -> None:
    """At a term of 5 and 1 year a reason said USD 3,600 a GPU, and the bill 18,000."""
    for term in (1, 3, 5):
        cost = {"years": years, "licence_term_years": term}
        plan = planned(catalog, "l40s-48gb", {"people": 7}, cost=cost)
        assert plan.group("g1").mode == "vgpu"
        bill = money(software(plan), "USD")
        assert has_approved(said(plan.group("g1")), bill, counted(years, "year"), "12 GPUs")


def test_licences_beside_other_groups_and_their_growth(catalog: Catalog) -> None:
    """What the other groups need anyway is not counted; what is bought later is."""
    small = {"people": 30, "gpus_each": "1/4"}
    plan = planned(catalog, "l40s-48gb", FOUR | {"growth": 0.3}, small, cost={"licence_discount": 0.2})
    more = abs(software(plan) - software(other_way(plan, "g1")))
    assert more and money(more, "USD") in said(plan.group("g1"))
    assert "not known" not in said(plan.group("g1"))


@pytest.mark.parametrize(
    ("limit_s", "mode"), [(383, "vgpu"), (382, "passthrough"), (None, "passthrough"), (1000, "vgpu")]
)
def test_the_limit_that_is_stated_decides(catalog: Catalog, limit_s: int | None, mode: str) -> None:
    given = {"availability": {"stun_limit_s": limit_s}} if limit_s else {}
    assert planned(catalog, "h100-pcie-80gb", FOUR, **given).group("g1").mode == mode


def test_a_group_says_whether_it_needs_vmotion(catalog: Catalog) -> None:
    for vmotion, mode in (("auto", "vgpu"), ("needed", "vgpu"), ("not-needed", "passthrough")):
        assert planned(catalog, "l40s-48gb", {"people": 4, "vmotion": vmotion}).group("g1").mode == mode


def test_a_need_that_is_not_kept_is_said_and_not_claimed(catalog: Catalog) -> None:
    """The reason said that only vGPUs can be moved, and a warning to shut the VMs down."""
    eight = {"people": 8, "gpus_each": 8, "vmotion": "needed"}
    for group, mode in ((eight, "vgpu"), (eight | {"access": "passthrough"}, "passthrough")):
        plan = planned(catalog, "h200-nvl-141gb", group, hardware={"gpus_per_host": 8})
        assert plan.group("g1").mode == mode
        found = {m.code: m for m in check_plan(plan)}
        assert found["vmotion-need-not-kept"].level == "stop"
        assert has_approved(found["vmotion-need-not-kept"].change)
        assert "stun-over-limit" not in found
        assert not {"vgpu-for-vmotion", "vgpu-keeps-vmotion"} & {r.code for r in plan.group("g1").reasons}
        assert "hut them down" not in said(plan.group("g1"))
    kept = planned(catalog, "l40s-48gb", {"people": 4, "vmotion": "needed"})
    assert "vmotion-need-not-kept" not in {m.code for m in check_plan(kept)}


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
            assert has_approved(said(group))
            traits = {t.feature: t for t in group.traits}
            assert traits["Compute isolation"].verdict == "yes"
            assert "take turns" not in " ".join(t.text for t in group.traits)


def test_whole_gpus_beside_groups_that_share_hosts(catalog: Catalog) -> None:
    """A cluster of its own has spare hosts of its own; where no licence has to be bought for it, the hosts are shared."""
    small = {"people": 16, "gpus_each": "1/4"}
    shared = planned(catalog, "h100-pcie-80gb", FOUR, small)
    assert [g.mode for g in shared.groups] == ["vgpu", "vgpu"]
    apart = make_plan(shared.scenario.with_value("groups.g1.access", "passthrough"), catalog)
    assert apart.totals.hosts > shared.totals.hosts
    assert has_approved(said(shared.group("g1")))
    bought = planned(catalog, "l40s-48gb", FOUR, small).group("g1")
    assert bought.mode == "passthrough"
    assert has_approved(said(bought), "7 hosts", "6 hosts")


@pytest.mark.parametrize(("failures", "hosts"), [(1, 7), (2, 8), (3, 9)])
def test_the_hosts_of_all_failures_are_weighed(catalog: Catalog, failures: int, hosts: int) -> None:
    """Passthrough was chosen although it cost USD 10,146, 380,298 and 678,445 more: one spare host was weighed, whatever was asked."""
    stated = {"availability": {"host_failures": failures}, "cost": {"years": 5, "licence_term_years": 5}}
    two, small = {"people": 8, "gpus_each": 2}, {"people": 30, "gpus_each": "1/4", "remote_allowed": True}
    plan = planned(catalog, "h100-sxm5-80gb", two, small, **stated)
    other = other_way(plan, "g1")
    assert (plan.group("g1").mode, plan.totals.hosts, other.totals.hosts) == ("vgpu", hosts, hosts + failures)
    assert has_approved(said(plan.group("g1")), f"{hosts} hosts", f"{hosts + failures} hosts")
    assert money(paid(other) - paid(plan), "USD") in said(plan.group("g1"))
    assert money(paid(other) - paid(plan), "USD") in said(other.group("g1"))


def test_what_is_chosen_by_money_costs_least_however_it_is_switched(catalog: Catalog) -> None:
    """A dozen random designs; a mode that costs more than the other says what it buys."""
    chance, weighed = random.Random(18), 0
    for _ in range(12):
        asked = [
            {"people": chance.randint(1, 6), "gpus_each": chance.choice([1, 2, 4])},
            {"people": chance.randint(1, 4), "gpus_each": chance.choice([2, 3, 4]), "vmotion": "not-needed"},
            {"people": chance.randint(4, 30), "gpus_each": chance.choice(["1/2", "1/4"])},
        ]
        plan = planned(
            catalog,
            chance.choice(["l40s-48gb", "h100-sxm5-80gb", "a100-pcie-80gb"]),
            *asked,
            availability={"host_failures": chance.randint(0, 3)},
            cost={"years": chance.choice([1, 3, 5, 7]), "licence_term_years": chance.choice([1, 3, 5])},
        )
        for group in plan.groups[:2]:
            buys = {r.code for r in group.reasons} & {"vgpu-keeps-vmotion"}
            assert buys or paid(plan) <= paid(other_way(plan, group.id)) + 1e-6
            weighed += plan.weighed[group.id].by_money
    assert weighed > 5


COMPARED = {"passthrough-takes-hosts": "vgpu", "vgpu-licence-costs-less": "passthrough"}
"""A reason that compares hosts and money -> the access that it compares with."""


def test_a_reason_compares_all_groups_that_would_change_together(catalog: Catalog) -> None:
    """Two groups in passthrough said USD 493,282 and 739,923 more and no host less; both on vGPUs are 1,047,955 and one host less."""
    several, at_random = 0, 0
    for rng in cases(20_381, 400, few=30):
        wholes = [
            {
                "people": rng.randint(1, 8),
                "gpus_each": rng.randint(1, 4),
                "access": rng.choice(["auto", "auto", "auto", "passthrough", "vgpu"]),
                "vmotion": rng.choice(["auto", "not-needed"]),
            }
            for _ in range(rng.randint(2, 3))
        ]
        plan = planned(
            catalog,
            rng.choice(["l40s-48gb", "h200-nvl-141gb", "h100-sxm5-80gb", "a100-pcie-80gb"]),
            *wholes,
            {"people": rng.randint(2, 30), "gpus_each": rng.choice(["1/2", "1/4"])},
            availability={"host_failures": rng.randint(0, 3)},
            cost={"years": rng.choice([3, 5, 7]), "licence_discount": rng.choice([0, 0.3, 0.8])},
        )
        for group in plan.groups:
            for reason in (*group.reasons, *group.against):
                if (other := COMPARED.get(reason.code)) is None:
                    continue
                named = [g for g in plan.groups if g.name in reason.text] or [group]
                at_random, several = at_random + 1, several + (len(named) > 1)
                flipped = plan.scenario
                for each in named:
                    flipped = flipped.with_value(f"groups.{each.id}.access", other)
                there = make_plan(flipped, catalog)
                more = paid(there) - paid(plan)
                assert f"{money(abs(more), 'USD')} {'more' if more >= 0 else 'less'}" in reason.text
                counts = re.findall(r"(\d+) hosts? instead of (\d+) host", reason.text)
                assert counts in ([], [(str(plan.totals.hosts), str(there.totals.hosts))])
                fewer = there.totals.hosts < plan.totals.hosts
                assert bool(counts) is (
                    there.totals.hosts != plan.totals.hosts and fewer is (other == "vgpu")
                )
                if plan.weighed[group.id].by_money:
                    assert group in named and more >= -1e-6, "the money decided for what costs more"
    assert at_random >= several > 5


def test_how_often_a_design_is_planned(catalog: Catalog) -> None:
    """Two groups, so four ways; none where a board comes with its licences, or where the customer has decided."""
    asked_for: list[Scenario] = []

    def outcome(scenario: Scenario, check: bool) -> Outcome:
        asked_for.append(scenario)
        vgpus = sum(group.access == "vgpu" for group in scenario.groups)
        return Outcome(100.0 - vgpus, 0.0, 0, 1)

    groups = (FOUR, FOUR, {"people": 9, "gpus_each": "1/4"})
    found = weigh(asked("l40s-48gb", *groups), catalog, outcome)
    assert [found[id].chosen.mode for id in ("g1", "g2", "g3")] == ["vgpu", "vgpu", "vgpu"]
    assert len(set(asked_for)) == 4
    asked_for.clear()
    weigh(load_scenario("current"), catalog, outcome)
    weigh(load_scenario("enterprise"), catalog, outcome)
    assert asked_for == []


@pytest.mark.parametrize(
    ("existing", "to_buy"),
    [
        (None, False),
        ("2 x 4", True),
        ("2 x 4, boards of 2026-01-01", True),
        ("2 x 4, GPU software perpetual", False),
        ("2 x 4 p40-24gb", False),
    ],
)
def test_licences_are_to_buy_where_those_of_existing_boards_do_not_last(
    catalog: Catalog, existing: str | None, to_buy: bool
) -> None:
    """A vGPU profile belongs to the board of the design, so that hosts with another one share none."""
    hardware = {"gpus_per_host": 4, "existing": existing}
    scenario = asked("h100-nvl-94gb", {"people": 4}, hardware=hardware, cost={"years": 5})
    assert licence_to_buy(scenario, catalog) is to_buy


def test_another_link_is_weighed_anew(catalog: Catalog) -> None:
    plan = planned(catalog, "l40s-48gb", FOUR, {"people": 16, "gpus_each": "1/4"})
    other = plan.scenario.with_value("network.link_gbit_s", 200)
    assert said(plan.relinked(other).group("g1")) == said(make_plan(other, catalog).group("g1"))


def test_licences_that_cost_less_than_hosts_of_their_own(catalog: Catalog) -> None:
    small = {"people": 16, "gpus_each": "1/4"}
    dear = {"prices": {"gpus/l40s-48gb": 50_000, "host-without-gpus": 200_000}}
    group = planned(catalog, "l40s-48gb", FOUR, small, **dear).group("g1")
    assert group.mode == "vgpu"
    assert group.reasons[0].code == "vgpu-licence-costs-less"


def test_licences_that_another_access_would_not_save_are_not_said_to_cost_nothing_for_no_gpus(
    catalog: Catalog,
) -> None:
    whole, parts = {"people": 1, "gpus_each": 1, "access": "vgpu"}, {"people": 4, "gpus_each": "1/2"}
    group = planned(catalog, "l40s-48gb", whole, parts).group("g1")
    assert has_approved(said(group)) and "no GPUs" not in said(group)


@pytest.mark.parametrize(
    ("gpu", "gpus_each", "version"), [("l40s-48gb", 4, "8.0u3"), ("v100-pcie-32gb", 8, "6.7u3")]
)
def test_what_is_not_possible_is_not_compared_with(
    catalog: Catalog, gpu: str, gpus_each: int, version: str
) -> None:
    """The licences of vGPUs were named that there are none of."""
    asks = {"people": 2, "gpus_each": gpus_each}
    known = without_profiles(catalog, "l40s-48gb")
    group = planned(known, gpu, asks, version=version, hardware={"gpus_per_host": 8}).group("g1")
    assert group.mode == "passthrough"
    assert "USD" not in said(group) and "vGPU" not in said(group)


def test_a_board_without_mig_has_no_profile_too_small(catalog: Catalog) -> None:
    for gpu, code in (
        ("l40s-48gb", "no-mig-board"),
        ("t4-16gb", "no-mig-board"),
        ("a100-pcie-40gb", "no-mig-profile"),
    ):
        group = planned(catalog, gpu, {"people": 2, "gpus_each": "2/3"}, version="7.0").group("g1")
        assert {r.mode: r.reason.code for r in group.ruled_out}["mig"] == code


def test_stuns_are_estimated_where_a_version_moves_vgpus(catalog: Catalog) -> None:
    version = catalog.vsphere["7.0"]
    assert stun_estimate_s(catalog, version, "v100-pcie-32gb", 32 * 1024) == pytest.approx(39.8, abs=0.1)
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
    weighed = make_plan(load_scenario("enterprise"), catalog).weighed
    assert {id: each.chosen.mode for id, each in weighed.items()} == {
        "researchers": "vgpu",
        "data-scientists": "bitfusion",
        "hpc": "bitfusion",
        "developers": "bitfusion",
        "distributed": "bitfusion",
    }
    assert weighed["researchers"].case.shared_hosts  # Bitfusion servers get their GPUs from the same hosts


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
        make_plan(load_scenario("starter"), load_catalog(folder))
    good = rule.replace("GPUs,No", "GPU,No")
    (folder / "access_rules.csv").write_text(head + good, encoding="utf-8")
    mine = make_plan(asked("l40s-48gb", {"people": 4, "gpus_each": "1/4"}), load_catalog(folder))
    assert mine.group("g1").mode == ""


@pytest.mark.parametrize(("gpu", "stun_s"), [("t4-16gb", 91.2), ("v100-pcie-32gb", 20.1)])
def test_on_6_7_the_stun_is_that_of_the_board(catalog: Catalog, gpu: str, stun_s: float) -> None:
    """The vendor measured 91.2 s for 12 GB of a P40, and V100s on their own; boards that nobody measured are taken as the slower one."""
    version = catalog.vsphere["6.7u3"]
    assert stun_estimate_s(catalog, version, gpu, 12 * 1024) == pytest.approx(stun_s, abs=0.1)
    assert stun_item(catalog, "6.7u3", gpu).value("limit_s") == 100


@pytest.mark.parametrize("version", ["6.7u3", "7.0", "7.0u2", "8.0u3"])
@pytest.mark.parametrize("gpu", ["t4-16gb", "v100-pcie-32gb", "p40-24gb", "h100-nvl-94gb"])
def test_more_frame_buffer_is_never_moved_sooner(catalog: Catalog, gpu: str, version: str) -> None:
    stuns = [
        stun_estimate_s(catalog, catalog.vsphere[version], gpu, gb * 1024) or 0 for gb in range(0, 400, 7)
    ]
    assert stuns == sorted(stuns) and stuns[0] > 0


@pytest.mark.parametrize("version", ["9.0", "9.0.1", "9.1"])
def test_from_9_0_on_no_stun_is_extrapolated(catalog: Catalog, version: str) -> None:
    """Four H100 NVL had 449 s, from a V100 on 7.0; the method changed, so that nobody knows before vCenter is asked."""
    assert stun_estimate_s(catalog, catalog.vsphere[version], "h100-nvl-94gb", 4 * 94 * 1024) is None
    for gpu, people, each in (("h100-nvl-94gb", 3, 4), ("l40s-48gb", 5, 1), ("h100-nvl-94gb", 8, "1/7")):
        for vmotion, mode in (("auto", "vgpu"), ("needed", "vgpu"), ("not-needed", "passthrough")):
            asks = {"people": people, "gpus_each": each, "vmotion": vmotion}
            plan = planned(catalog, gpu, asks, version=version)
            group = plan.group("g1")
            assert group.mode == (mode if each != "1/7" else "vgpu")
            assert group.stun_s is None and group.stun_not_known == bool(group.backing)
            assert not any("stun" in key and "limit" not in key for key in plan.lines)
            codes = {message.code for message in check_plan(plan)}
            assert ("stun-not-known" in codes) == bool(group.backing)
            assert not codes & {
                "stun-extrapolated",
                "stun-over-limit",
                "stun-worst-case",
                "vmotion-need-not-kept",
            }
            stunned = re.compile(
                r"stands? still for (about|up to)|stun\w* (it|them|the VM)? ?for|449 s|\bs, and the limit"
            )
            assert not stunned.search(plan_text(plan)), version


def test_a_stun_that_was_read_in_vcenter_is_what_the_plan_takes(catalog: Catalog) -> None:
    """Nothing is guessed any more: below the limit of 100 s vMotion is kept, above it is not, and both say the seconds."""
    asks = {"people": 5, "gpus_each": 1, "vmotion": "needed"}
    for version in ("8.0u3", "9.0"):
        for read, kept in ((12.5, True), (140.0, False)):
            plan = planned(catalog, "l40s-48gb", asks | {"stun_read_s": read}, version=version)
            group, line = plan.group("g1"), plan.lines["groups.g1.stun_s"]
            assert group.stun_s == line.value == read and not group.stun_not_known
            assert [i.name for i in line.inputs] == ["stun_read_s"] and "reported by vCenter" in line.formula
            assert ("stun within limit" in group.facts) is kept
            codes = {message.code for message in check_plan(plan)}
            assert ("vmotion-need-not-kept" in codes) is not kept
            assert not codes & {"stun-not-known", "stun-extrapolated", "stun-worst-case"}
            assert ("stunTimeEstimates" in said(group)) is False
    alone = planned(catalog, "l40s-48gb", asks | {"vmotion": "not-needed", "stun_read_s": 8.0}, version="9.0")
    assert alone.group("g1").stun_s is None and alone.lines["groups.g1.stun_as_vgpu_s"].value == 8


def test_a_later_version_never_loses_vmotion(catalog: Catalog) -> None:
    """What 8.0 moves within the limit 9.0 moves sooner: the choice stays, and says what is not known."""
    asks = {"people": 5, "gpus_each": 1}
    before, after = (planned(catalog, "l40s-48gb", asks, version=v).group("g1") for v in ("8.0u3", "9.0"))
    assert before.mode == after.mode == "vgpu"
    assert {t.feature: t.verdict for t in after.traits}["vMotion"] == "limited"
    assert "stunTimeEstimates" in said(after) and "stunTimeEstimates" not in said(before)
    assert after.reasons[0].code == "vgpu-keeps-reworked-vmotion"
    needed = planned(catalog, "l40s-48gb", asks | {"vmotion": "needed"}, version="9.0")
    assert {m.code: m.level for m in check_plan(needed)}["stun-not-known"] == "warn"
