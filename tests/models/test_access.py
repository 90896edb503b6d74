"""Access mode: the reference architecture's cases, and every combination of facts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gpuplan.catalog import Catalog
from gpuplan.models.access import MODES, Access, access_mode
from gpuplan.scenario import MODES as SCENARIO_MODES

NEEDS: dict[str, Any] = {
    "vgpus_each": 1,
    "distributed": False,
    "remote_allowed": True,
    "low_latency": False,
    "isolation": False,
    "wish": "auto",
}
PLATFORM: dict[str, Any] = {
    "bitfusion_offered": "",
    "vgpu_profile": True,
    "mig_profile": False,
    "max_vgpus_per_vm": 4,
    "several_fractional_vgpus": False,
    "max_passthrough_per_vm": 16,
}


def decide(gpus_each: float, **changes: Any) -> Access:
    return access_mode(gpus_each, **{**NEEDS, **PLATFORM, **changes})


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
        (0.5, {"remote_allowed": False}, "vgpu"),
        (1, {"remote_allowed": False}, "vgpu"),
        # no Bitfusion on this platform
        (0.5, {"bitfusion_offered": "bitfusion-not-chosen"}, "vgpu"),
        # a guaranteed share of compute
        (1 / 7, {"isolation": True, "mig_profile": True}, "mig"),
        (1 / 7, {"isolation": True}, ""),
        (1, {"isolation": True, "bitfusion_offered": "bitfusion-not-chosen"}, "vgpu"),
        (1, {"isolation": True}, "bitfusion"),  # a whole GPU has no neighbour
        # MIG only where a guarantee is asked for, or nothing else is there
        (0.5, {"mig_profile": True, "bitfusion_offered": "bitfusion-not-chosen"}, "vgpu"),
        (0.5, {"mig_profile": True, "vgpu_profile": False, "remote_allowed": False}, "mig"),
        # no profile: whole GPUs by passthrough, parts not at all
        (2, {"vgpu_profile": False}, "passthrough"),
        (0.5, {"vgpu_profile": False, "remote_allowed": False}, ""),
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
    ],
)
def test_mode(gpus_each: float, changes: dict[str, Any], mode: str) -> None:
    assert decide(gpus_each, **changes).mode == mode


def test_reasons_of_the_reference_design() -> None:
    researchers = decide(4, low_latency=True, remote_allowed=False)
    assert researchers.reasons == (
        "several-gpus-one-host",
        "long-low-latency-local",
        "local-access-required",
        "vgpu-keeps-vmotion",
    )
    assert ruled_out(researchers) == {
        "bitfusion": ("remote-not-allowed", False),
        "mig": ("whole-gpu-needs-no-slice", False),
        "passthrough": ("passthrough-loses-vmotion", True),
    }
    assert decide(0.125).reasons == ("anywhere-over-network", "any-fraction-of-memory")


def test_a_decided_mode_that_is_impossible_says_so_and_not_that_nothing_is_possible() -> None:
    refused = decide(0.5, wish="passthrough")
    assert refused.reasons == ("decided-mode-not-possible",)
    assert ruled_out(refused)["vgpu"] == ("customer-decided-otherwise", True)
    hopeless = decide(0.5, wish="passthrough", remote_allowed=False, vgpu_profile=False)
    assert hopeless.reasons == ("no-mode-possible",)


CASES = [
    dict(
        zip(
            (
                "gpus_each",
                "vgpus_each",
                "distributed",
                "remote_allowed",
                "low_latency",
                "isolation",
                "wish",
                "bitfusion_offered",
                "vgpu_profile",
                "mig_profile",
                "max_vgpus_per_vm",
                "several_fractional_vgpus",
                "max_passthrough_per_vm",
            ),
            values,
            strict=True,
        )
    )
    for values in itertools.product(
        (0.5, 1, 4),
        (1, 4),
        *[(False, True)] * 4,
        ("auto", *MODES),
        ("", "bitfusion-not-chosen", "bitfusion-version"),
        *[(False, True)] * 2,
        (2, 8),
        (False, True),
        (2, 8),
    )
]


def test_every_case_is_consistent() -> None:
    for case in CASES:
        answer = access_mode(**case)
        others = {mode for mode, *_ in answer.ruled_out}
        assert answer.reasons
        assert len(answer.ruled_out) == len(others)
        assert others == set(MODES) - {answer.mode}
        if case["wish"] != "auto":
            assert answer.mode in ("", case["wish"])
        elif not answer.mode:
            assert not any(possible for *_, possible in answer.ruled_out)
        if answer.mode == "bitfusion":
            assert case["remote_allowed"] and not case["bitfusion_offered"]
            assert case["gpus_each"] <= 1 or case["wish"] == "bitfusion"
        partial = case["gpus_each"] < case["vgpus_each"]
        vgpus = case["vgpus_each"] if partial else case["gpus_each"]
        if partial and case["vgpus_each"] > 1:
            assert answer.mode in ("", "vgpu", "mig")
            assert not answer.mode or case["several_fractional_vgpus"]
        if answer.mode == "mig":
            assert partial and case["mig_profile"]
        if answer.mode == "passthrough":
            assert not partial and case["gpus_each"] <= case["max_passthrough_per_vm"]
        if answer.mode == "vgpu":
            assert case["vgpu_profile"] and vgpus <= case["max_vgpus_per_vm"]
            assert not (case["isolation"] and partial)


def test_a_decision_for_bitfusion_overrides_preferences_but_not_rules() -> None:
    # several GPUs at once or low latency perform best locally, which is advice; that remote is not allowed is a rule
    assert decide(4, wish="bitfusion")[:2] == ("bitfusion", ("customer-decided",))
    assert decide(1, wish="bitfusion", low_latency=True).mode == "bitfusion"
    assert decide(4, wish="bitfusion", remote_allowed=False).mode == ""
    assert decide(0.5, wish="bitfusion", isolation=True).mode == ""
    assert decide(4).mode == "vgpu"


def test_every_reason_is_explained_and_every_explanation_can_be_given(catalog: Catalog) -> None:
    given: set[str] = set()
    for case in CASES:
        answer = access_mode(**case)
        given |= {*answer.reasons, *(code for _, code, _ in answer.ruled_out)}
    assert given == {row.id for row in catalog.rows("access_reasons")}


def test_the_modes_are_those_of_the_scenario() -> None:
    assert set(MODES) == set(SCENARIO_MODES)
