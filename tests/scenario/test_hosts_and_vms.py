"""Hosts already there and VMs without a GPU, as people type them and as a file lists them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from gpuplan.scenario import HostKind, OtherVms, ScenarioError, from_dict, host_kinds, hosts_text, other_vms
from gpuplan.scenario.hosts_and_vms import vms_text


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("3", "3 hosts"),
        ("3 hosts", "3 hosts"),
        ("4 x 2", "4 x 2"),
        (
            " R740 :4x2 v100-pcie-32gb 96 vCPUs,384GiB;2 ",
            "R740: 4 x 2 v100-pcie-32gb, 96 vCPUs, 384 GiB; 2 hosts",
        ),
        ("a: 1 x 8\nb: 2 x 4, 512 GiB", "a: 1 x 8; b: 2 x 4, 512 GiB"),
        ([{"hosts": 2, "gpus_per_host": 8, "name": "old"}], "old: 2 x 8"),
        ([{"hosts": "2", "vcpus_per_host": 64}], "2 hosts, 64 vCPUs"),
        (
            "2 x 4 platform licences until perpetual,GPU software 2028-06-30 , boards of 2024-02-29",
            "2 x 4, platform licences perpetual, GPU software until 2028-06-30, boards of 2024-02-29",
        ),
        (
            [{"hosts": 2, "platform_licensed_until": date(2028, 6, 30), "gpu_software_until": "perpetual"}],
            "2 hosts, platform licences until 2028-06-30, GPU software perpetual",
        ),
    ],
)
def test_hosts_are_stored_in_one_form(given: Any, stored: str) -> None:
    assert hosts_text(given) == stored
    assert hosts_text(stored) == stored


@pytest.mark.parametrize(
    "given",
    [
        "x 2",
        "0 x 2",
        "3 x 17",
        "3 v100",
        "3 x 2, boards of perpetual",
        "3 x 2, boards of 2023-02-29",
        "3 x 2, platform licences until soon",
        [{"hosts": 2, "boards_since": "2028"}],
        "a:",
        "3 x 2 V100;",
        [{"hosts": 2, "gpu": "l40s-48gb"}],
        [{"gpus": 2}],
        [{"name": "a"}],
        [3],
        3.5,
        "; ".join(["1"] * 51),
    ],
)
def test_what_is_no_kind_of_hosts(given: Any) -> None:
    assert hosts_text(given) is None


def test_the_kinds_of_an_input() -> None:
    assert host_kinds(None) == ()
    assert host_kinds("R740: 4 x 2 v100-pcie-32gb, 96 vCPUs; 2 hosts, 256 GiB") == (
        HostKind("R740", 4, 2, "v100-pcie-32gb", 96),
        HostKind("Hosts 2", 2, memory_gib=256),
    )
    assert vms_text("Web: 12 VMs x 4 vCPUs, 16 GiB; 3x8 vCPUs") == "Web: 12 x 4 vCPUs, 16 GiB; 3 x 8 vCPUs"
    assert vms_text("3 x") is None
    assert other_vms("Web: 12 x 4 vCPUs, 16 GiB; 3 x 8 GiB") == (
        OtherVms("Web", 12, 4, 16),
        OtherVms("VMs 2", 3, 0, 8),
    )


def test_a_file_lists_them_and_one_of_before_means_the_same() -> None:
    listed = from_dict({"hardware": {"existing": [{"name": "old", "hosts": 3, "gpus_per_host": 2}]}})
    assert listed.hardware.existing == "old: 3 x 2"
    assert listed.to_dict()["hardware"]["existing"] == [{"name": "old", "hosts": 3, "gpus_per_host": 2}]
    assert from_dict(listed.to_dict()) == listed
    origin = {"basis": "quoted", "source": "scenario"}
    before = from_dict(
        {
            "hardware": {"existing_hosts": 3, "existing_gpus_per_host": 2},
            "origins": {"hardware.existing_hosts": origin, "hardware.existing_gpus_per_host": origin},
        }
    )
    assert before.hardware.existing == "3 x 2"
    assert before.origin("hardware.existing").basis == "quoted"
    assert from_dict({"hardware": {"existing_hosts": 0}}).hardware.existing is None
    assert from_dict({"hardware": {"existing_hosts": 4}}).hardware.existing == "4 hosts"
    with pytest.raises(ScenarioError, match=r"hardware\.existing_hosts"):
        from_dict({"hardware": {"existing_hosts": -1}})
