"""Access mode: the reference architecture's cases, what an architect weighs, and every combination of facts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gpuplan.catalog import Catalog
from gpuplan.models.access import FACTS, MODES, VERDICTS, Access, Case, Rule, access_mode, unknown_facts
from gpuplan.plan.weighing import access_rules
from gpuplan.scenario import MODES as SCENARIO_MODES

NEEDS: dict[str, Any] = {
    "vgpus_each": 1,
    "distributed": False,
    "remote_allowed": True,
    "low_latency": False,
    "isolation": False,
    "vmotion": "auto",
    "wish": "auto",
}
PLATFORM: dict[str, Any] = {
    "bitfusion_owned": True,
    "bitfusion_supported": True,
    "board_supported": True,
    "vgpu_profile": True,
    "mig_board": True,
    "mig_profile": False,
    "fixed_share_possible": True,
    "max_vgpus_per_vm": 4,
    "several_fractional_vgpus": False,
    "max_passthrough_per_vm": 16,
    "vgpu_stun_s": 39.0,
    "mig_stun_s": None,
    "vgpu_moves": True,
    "stun_limit_s": 100.0,
    "shared_hosts": False,
    "licence_to_buy": False,
    "own_hosts_cost_more": False,
    "nvswitch": False,
    "passthrough_announced": False,
}
LOCAL = {"remote_allowed": False}
SLOW = LOCAL | {"vgpu_stun_s": 383.0}


@pytest.fixture(scope="module")
def rules(catalog: Catalog) -> tuple[Rule, ...]:
    return access_rules(catalog)


def decide(rules: tuple[Rule, ...], gpus_each: float, **changes: Any) -> Access:
    return access_mode(Case(gpus_each, **{**NEEDS, **PLATFORM, **changes}), rules=rules)


def ruled_out(access: Access) -> dict[str, tuple[str, bool]]:
    return {mode: (code, possible) for mode, code, possible in access.ruled_out}


@pytest.mark.parametrize(
    ("gpus_each", "changes", "mode"),
    [
        # 9.3.1 of the reference architecture: several GPUs, or low latency for long: on the GPU cluster
        (4, {"low_latency": True, "remote_allowed": False}, "vgpu"),
        (4, {}, "vgpu"),
        (1, {"low_latency": True}, "vgpu"),
        # 9.3.2: a single or partial GPU from anywhere; 9.3.3: distributed training
        (1, {}, "bitfusion"),
        (0.125, {}, "bitfusion"),
        (1, {"distributed": True}, "bitfusion"),
        (0.5, {"distributed": True}, "bitfusion"),
        # remote not allowed excludes Bitfusion
        (0.5, LOCAL, "vgpu"),
        (1, LOCAL, "vgpu"),
        # Bitfusion only where it is owned and its version supported
        (0.5, {"bitfusion_owned": False}, "vgpu"),
        (0.5, {"bitfusion_supported": False}, "vgpu"),
        (1, {"bitfusion_owned": False, "wish": "bitfusion"}, ""),
        # a guaranteed share of compute: a MIG slice, else the fixed-share scheduler, else none; a whole GPU has no neighbour
        (1 / 7, {"isolation": True, "mig_profile": True}, "mig"),
        (1 / 7, {"isolation": True}, "vgpu"),
        (0.25, {"isolation": True, "fixed_share_possible": False}, ""),
        (1, {"isolation": True, "bitfusion_owned": False}, "vgpu"),
        (1, {"isolation": True}, "bitfusion"),
        # MIG only where a guarantee is asked for, or nothing else is there
        (0.5, {"mig_profile": True, "bitfusion_owned": False}, "vgpu"),
        (0.5, LOCAL | {"mig_profile": True, "vgpu_profile": False}, "mig"),
        # no profile: whole GPUs by passthrough, parts not at all
        (2, {"vgpu_profile": False}, "passthrough"),
        (0.5, LOCAL | {"vgpu_profile": False}, ""),
        # more vGPUs than a VM can have
        (8, {}, "passthrough"),
        (8, {"max_vgpus_per_vm": 8}, "vgpu"),
        (8, {"max_passthrough_per_vm": 4}, ""),
        # several fractional vGPUs in one VM: only where the version has them
        (1, {"vgpus_each": 2}, ""),
        (1, {"vgpus_each": 2, "several_fractional_vgpus": True}, "vgpu"),
        (1, {"vgpus_each": 8, "several_fractional_vgpus": True}, ""),
        (1, {"vgpus_each": 7, "several_fractional_vgpus": True, "max_vgpus_per_vm": 8}, "vgpu"),
        (2, {"vgpus_each": 2}, "vgpu"),  # two whole ones
        # the customer decides, where it is possible
        (1, {"wish": "passthrough"}, "passthrough"),
        (0.5, {"wish": "passthrough"}, ""),
        (0.5, {"wish": "mig", "mig_profile": True}, "mig"),
        # a stun over the limit, or one that nobody knows, is no vMotion: nothing is left that a vGPU of whole GPUs would keep
        (4, SLOW, "passthrough"),
        (4, SLOW | {"licence_to_buy": True}, "passthrough"),
        (4, LOCAL | {"vgpu_stun_s": None, "vgpu_moves": False}, "passthrough"),
        (4, LOCAL | {"vgpu_stun_s": None}, "vgpu"),
        (4, LOCAL | {"vgpu_stun_s": None, "vmotion": "not-needed"}, "passthrough"),
        (4, LOCAL | {"vgpu_stun_s": 100.0}, "vgpu"),
        (4, SLOW | {"max_passthrough_per_vm": 2}, "vgpu"),
        # the group says whether it needs vMotion
        (4, SLOW | {"vmotion": "needed"}, "vgpu"),
        (1, LOCAL | {"vmotion": "not-needed"}, "passthrough"),
        (1, {"vmotion": "needed"}, "vgpu"),  # no source says that a Bitfusion client can be moved
        # hosts that other groups share: a cluster of its own has spare hosts of its own
        (4, SLOW | {"shared_hosts": True}, "vgpu"),
        (4, SLOW | {"shared_hosts": True, "licence_to_buy": True}, "passthrough"),
        (4, SLOW | {"shared_hosts": True, "licence_to_buy": True, "own_hosts_cost_more": True}, "vgpu"),
    ],
)
def test_mode(rules: tuple[Rule, ...], gpus_each: float, changes: dict[str, Any], mode: str) -> None:
    assert decide(rules, gpus_each, **changes).mode == mode


def test_reasons_of_the_reference_design(rules: tuple[Rule, ...]) -> None:
    """Two V100s are moved within the limit: 78 s."""
    researchers = decide(rules, 2, low_latency=True, remote_allowed=False, vgpu_stun_s=78)
    assert researchers.reasons == (
        "vgpu-keeps-vmotion",
        "several-gpus-one-host",
        "long-low-latency-local",
        "local-access-required",
    )
    assert ruled_out(researchers) == {
        "bitfusion": ("remote-not-allowed", False),
        "mig": ("whole-gpu-needs-no-slice", False),
        "passthrough": ("passthrough-loses-vmotion", True),
    }
    assert decide(rules, 0.125).reasons == ("anywhere-over-network", "any-fraction-of-memory")


def test_four_gpus_with_a_stun_over_the_limit(rules: tuple[Rule, ...]) -> None:
    """They got a vGPU because it keeps vMotion, beside a warning that it does not; and no reason named the licences."""
    found = decide(rules, 4, **SLOW, licence_to_buy=True)
    assert found.mode == "passthrough"
    assert {"passthrough-whole-gpu", "vmotion-over-limit-anyway", "licences-saved"} <= {*found.reasons}
    assert ruled_out(found)["vgpu"] == ("vgpu-loses-vmotion-too", True)
    shared = decide(rules, 4, **SLOW, shared_hosts=True)
    assert shared.reasons[0] == "vgpu-shares-hosts"
    assert "vgpu-keeps-vmotion" not in shared.reasons
    assert shared.against == ("vmotion-over-limit",)
    assert ruled_out(shared)["passthrough"] == ("passthrough-needs-hosts", True)


def test_what_licences_cost_is_weighed_aloud(rules: tuple[Rule, ...]) -> None:
    assert decide(rules, 1, **LOCAL, licence_to_buy=True).against == ("licences-cost",)
    assert decide(rules, 1, **LOCAL).against == ()
    assert decide(rules, 0.5, **LOCAL, licence_to_buy=True).against == ()  # passthrough is no way out


def test_systems_with_nvswitch_have_time_sliced_vgpus(rules: tuple[Rule, ...]) -> None:
    """NVIDIA supports neither passthrough nor MIG-backed vGPUs there; MIG is taken where nothing else serves, with what speaks against it."""
    there = LOCAL | {"nvswitch": True}
    whole = decide(rules, 4, **there | SLOW | {"licence_to_buy": True, "shared_hosts": True})
    assert whole.mode == "vgpu" and "licences-cost" not in whole.against
    assert ruled_out(whole)["passthrough"] == ("nvswitch-no-passthrough", False)
    refused = decide(rules, 8, **there, wish="passthrough", max_passthrough_per_vm=128, max_vgpus_per_vm=8)
    assert (refused.mode, refused.reasons) == ("", ("decided-mode-not-possible",))
    disputed = there | {"passthrough_announced": True, "max_passthrough_per_vm": 128, "max_vgpus_per_vm": 8}
    assert ruled_out(decide(rules, 8, **disputed))["passthrough"] == ("nvswitch-passthrough-disputed", False)
    chosen = decide(rules, 8, **disputed, wish="passthrough")
    assert chosen.mode == "passthrough" and "nvswitch-passthrough" in chosen.against
    slice_ = there | {"mig_profile": True, "isolation": True}
    guaranteed = decide(rules, 1 / 7, **slice_)
    assert guaranteed.reasons[0] == "fixed-share-guarantees-compute"
    assert ruled_out(guaranteed)["mig"] == ("nvswitch-mig-left", True)
    mixed = decide(rules, 1 / 7, **slice_, fixed_share_possible=False)
    assert (mixed.mode, mixed.against[-1]) == ("mig", "nvswitch-mig")


def test_a_guaranteed_share(rules: tuple[Rule, ...]) -> None:
    """A quarter of a board without MIG found no mode; whole GPUs were said to take turns."""
    quarter = decide(rules, 0.25, **LOCAL, isolation=True)
    assert quarter.reasons[0] == "fixed-share-guarantees-compute"
    assert quarter.against == ("fixed-share-lends-nothing",)
    mixed = decide(rules, 0.25, **LOCAL, isolation=True, fixed_share_possible=False)
    assert ruled_out(mixed)["vgpu"] == ("fixed-share-needs-equal-sizes", False)
    for more in ({}, {"vgpu_stun_s": 383.0}, {"remote_allowed": True}):
        whole = decide(rules, 1, **LOCAL | {"isolation": True} | more)
        assert "whole-gpus-have-no-neighbour" in whole.reasons


def test_a_decided_mode_that_is_impossible_says_so_and_not_that_nothing_is_possible(
    rules: tuple[Rule, ...],
) -> None:
    refused = decide(rules, 0.5, wish="passthrough")
    assert refused.reasons == ("decided-mode-not-possible",)
    assert ruled_out(refused)["vgpu"] == ("customer-decided-otherwise", True)
    hopeless = decide(rules, 0.5, wish="passthrough", remote_allowed=False, vgpu_profile=False)
    assert hopeless.reasons == ("no-mode-possible",)


def cases() -> list[Case]:
    """Combinations of what the rules tell apart, with numbers on both sides of each limit: 8 000, and all of any few choices."""
    yes_no = (False, True)
    choices: dict[str, tuple[Any, ...]] = {
        "gpus_each": (0.5, 1, 4),
        "vgpus_each": (1, 4),
        "remote_allowed": yes_no,
        "low_latency": yes_no,
        "isolation": yes_no,
        "vmotion": ("auto", "needed", "not-needed"),
        "wish": ("auto", *MODES),
        "platform": tuple(itertools.product(yes_no, yes_no, (2, 8))),
        "boards": tuple(itertools.product(yes_no, yes_no, (2, 8))),
        "joined": (("nvswitch", False), ("nvswitch", True), ("", False)),
        "stun": (None, 39.0, 383.0),
        "model": ((False, False, False), (True, False, False), (True, True, False), (True, False, True)),
        "money": ((False, False, False), (True, False, False), (True, True, False), (True, True, True)),
    }
    found = []
    for values in itertools.islice(itertools.product(*choices.values()), 0, None, 47):
        given = dict(zip(choices, values, strict=True))
        owned, several, vgpus = given.pop("platform")
        vgpu, mig, devices = given.pop("boards")
        shared, buy, more = given.pop("money")
        serves, large, vision = given.pop("model")
        stun = given.pop("stun")
        stated = given["wish"] in ("vgpu", "mig") and bool(len(found) % 2)
        joined, announced = given.pop("joined")
        found.append(
            Case(
                **NEEDS
                | PLATFORM
                | given
                | {
                    "distributed": given["low_latency"],
                    "bitfusion_owned": owned,
                    "several_fractional_vgpus": several,
                    "fixed_share_possible": several,
                    "max_vgpus_per_vm": vgpus,
                    "vgpu_profile": vgpu,
                    "mig_board": mig or several,
                    "mig_profile": mig,
                    "board_supported": vgpu or not shared,
                    "max_passthrough_per_vm": devices,
                    "vgpu_stun_s": stun if vgpu else None,
                    "mig_stun_s": stun if mig else None,
                    "shared_hosts": shared,
                    "licence_to_buy": buy,
                    "own_hosts_cost_more": more,
                    "serves_model": serves,
                    "large_model": large,
                    "vision_model": vision,
                    "profile_stated": stated,
                    "nvswitch": bool(joined),
                    "passthrough_announced": announced,
                }
            )
        )
    return found


def test_inference_follows_the_table_of_the_vendor(rules: tuple[Rule, ...]) -> None:
    serves = {"serves_model": True, "mig_profile": True, "several_fractional_vgpus": True, **LOCAL}
    several = decide(rules, 1, vgpus_each=2, **serves)
    assert {mode: ruled_out(several)[mode][0] for mode in ("vgpu", "mig")} == dict.fromkeys(
        ("vgpu", "mig"), "model-over-shares"
    )
    assert decide(rules, 2, **serves).mode == "vgpu", "whole frame buffers have peer to peer"
    seen = decide(rules, 1, vision_model=True, **serves)
    assert seen.mode == "passthrough" and ruled_out(seen)["vgpu"] == ("vision-model-no-vgpu", False)
    assert decide(rules, 1, vision_model=True, wish="vgpu", **serves).mode == "vgpu", "without NIM"
    small, large = (
        decide(rules, 0.5, isolation=True, large_model=large, **serves) for large in (False, True)
    )
    assert small.mode == "mig" and "inference-isolation" in small.reasons
    assert large.mode == "vgpu" and ruled_out(large)["mig"] == ("large-model-no-mig", False)
    dense = decide(rules, 0.5, mig_board=False, **(serves | {"mig_profile": False}))
    assert "inference-density" in dense.reasons and "inference-latency" in dense.against
    assert not {"inference-density", "inference-latency"} & {*decide(rules, 0.5, **LOCAL).reasons}


@pytest.mark.by_day("seconds", 3)
def test_every_case_is_consistent_and_every_reason_is_given_once(
    rules: tuple[Rule, ...], catalog: Catalog
) -> None:
    given: set[str] = set()
    for case in cases():
        answer = access_mode(case, rules=rules)
        given |= {*answer.reasons, *answer.against, *(code for _, code, _ in answer.ruled_out)}
        others = {mode for mode, *_ in answer.ruled_out}
        assert answer.reasons
        assert len(answer.ruled_out) == len(others)
        assert others == set(MODES) - {answer.mode}
        if case.wish != "auto":
            assert answer.mode in ("", case.wish)
        elif not answer.mode:
            assert not any(possible for *_, possible in answer.ruled_out)
        _check_mode(case, answer)
    never = {row.id for row in catalog.rows("access_rules")} - given
    assert never == {"bitfusion-version"}  # see the table above


def _check_mode(case: Case, answer: Access) -> None:
    """The mode can serve the case, and no reason claims what is not so."""
    partial = case.gpus_each < case.vgpus_each
    vgpus = case.vgpus_each if partial else case.gpus_each
    over = (case.stun_s(answer.mode) or 0) > case.stun_limit_s
    if answer.mode == "bitfusion":
        assert case.remote_allowed and case.bitfusion_owned
        assert case.gpus_each <= 1 or case.wish == "bitfusion"
        assert not (case.isolation and partial)
    if partial and case.vgpus_each > 1:
        assert answer.mode in ("", "vgpu", "mig")
        assert not answer.mode or case.several_fractional_vgpus
    assert case.board_supported or answer.mode not in ("vgpu", "mig")
    if answer.mode == "mig":
        assert (partial or case.profile_stated) and case.mig_profile
    if answer.mode == "passthrough":
        assert not partial and case.gpus_each <= case.max_passthrough_per_vm
    if answer.mode == "vgpu":
        assert case.vgpu_profile and vgpus <= case.max_vgpus_per_vm
        assert not (case.isolation and partial) or case.fixed_share_possible
    assert not ("vgpu-keeps-vmotion" in answer.reasons and (over or case.vgpu_stun_s is None))
    said = {"vmotion-over-limit", "vmotion-need-not-kept"} & {*answer.against}
    assert len(said) == (over and answer.mode in ("vgpu", "mig"))
    assert ("vmotion-need-not-kept" in said) == bool(said and case.vmotion == "needed")
    assert not (over and "vgpu-for-vmotion" in answer.reasons)
    unknown = case.stun_s(answer.mode) is None and answer.mode in ("vgpu", "mig")
    assert ("stun-not-known" in answer.against) == unknown
    if answer.mode == "passthrough" and (not case.vgpu_profile or vgpus > case.max_vgpus_per_vm):
        assert not {"licences-saved", "vmotion-over-limit-anyway"} & {
            *answer.reasons
        }  # no vGPU to compare with


def test_a_decision_for_bitfusion_overrides_preferences_but_not_rules(rules: tuple[Rule, ...]) -> None:
    # several GPUs at once or low latency perform best locally, which is advice; that remote is not allowed is a rule
    assert decide(rules, 4, wish="bitfusion")[:2] == ("bitfusion", ("customer-decided",))
    assert decide(rules, 1, wish="bitfusion", low_latency=True).mode == "bitfusion"
    assert decide(rules, 4, wish="bitfusion", remote_allowed=False).mode == ""
    assert decide(rules, 0.5, wish="bitfusion", isolation=True).mode == ""
    assert decide(rules, 4).mode == "vgpu"


def test_the_rules_name_facts_and_modes_that_there_are(rules: tuple[Rule, ...]) -> None:
    named = {name.removeprefix("not ") for rule in rules for name in rule.when}
    assert set(FACTS) - named == set()  # a fact that no rule names is no fact to know
    for rule in rules:
        assert not unknown_facts(rule)
        assert set(rule.modes) <= set(MODES)
        assert rule.verdict in VERDICTS
        assert bool(rule.modes) == (rule.verdict != "none")


def test_the_modes_are_those_of_the_scenario() -> None:
    assert set(MODES) == set(SCENARIO_MODES)
