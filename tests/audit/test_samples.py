"""Samples of activity and the logs of nvidia-smi."""

from __future__ import annotations

import pytest
from approved import is_approved
from traces import MAY, refused, samples_of

SAMPLES = """\
time,host,gpu,gpu_util,project
2024-05-01 00:00:00,n1,0,50,vision
2024-05-01 00:01:00,n1,0,0,vision
2024-05-01 00:00:00,n2,0,100 %,speech
"""


def test_samples() -> None:
    found = samples_of(SAMPLES)
    assert found.quantity == "activity"
    assert found.percent.tolist() == [50, 0, 100]
    assert (found.time_s - MAY).tolist() == [0, 60, 0]
    assert found.gpus == ("n1 0", "n2 0")
    assert found.gpu.tolist() == [0, 0, 1]
    assert [found.groups[n] for n in found.group] == ["vision", "vision", "speech"]
    assert found.weight.tolist() == [1, 1, 1]


def test_samples_by_hand_as_ratios_and_by_user() -> None:
    text = "t,card,busy_ratio,who\n2024-05-01,a,0.25,ana\n2024-05-01,b,1,bo\n"
    found = samples_of(text, columns={"time": "t", "gpu": "card", "percent": "busy_ratio", "user": "who"})
    assert found.percent.tolist() == [25, 100]
    assert found.groups == ("ana", "bo")


def test_samples_out_of_range() -> None:
    found = samples_of(SAMPLES + "2024-05-01 00:00:00,n2,0,101,x\n2024-05-01 00:00:00,n2,0,-1,x\n")
    assert is_approved(found.reading.skipped[0][:3], "0", "100", "2", "5")


def test_samples_that_look_like_shares_are_noted() -> None:
    found = samples_of("time,gpu,percent\n2024-05-01,a,0.5\n2024-05-01,b,1\n")
    assert found.percent.tolist() == [0.5, 1]
    assert any("shares from 0 to 1" in note for note in found.reading.notes)


SMI = """\
timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB]
2024/05/01 12:00:00.123, 0, GPU-aa, NVIDIA A100-SXM4-40GB, 45 %, 1024 MiB
2024/05/01 12:00:00.125, 1, GPU-bb, NVIDIA A100-SXM4-40GB, 0 %, 3 MiB
timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB]
2024/05/01 12:00:05.123, 0, GPU-aa, NVIDIA A100-SXM4-40GB, 100 %, 1024 MiB
"""


@pytest.mark.parametrize(
    "text", [SMI, SMI.replace(" %,", ",").replace(" MiB\n", "\n")], ids=["units", "nounits"]
)
def test_nvidia_smi(text: str) -> None:
    found = samples_of(text)
    assert found.reading.format == "nvidia-smi"
    assert found.percent.tolist() == [45, 0, 100]
    assert found.gpus == ("GPU-aa", "GPU-bb")
    assert (found.reading.rows, found.reading.used) == (3, 3)
    assert found.time_s[0] == pytest.approx(MAY + 12 * 3600 + 0.123, abs=1e-6)
    assert found.metric == "utilization.gpu [%]"


def test_nvidia_smi_without_header() -> None:
    message = refused("2024/05/01 12:00:00.123, 0, GPU-aa, NVIDIA A100-SXM4-40GB, 45 %\n" * 3)
    assert "without noheader" in message


@pytest.mark.parametrize("value", ["[N/A]", "N/A", "[Not Supported]"])
def test_nvidia_smi_under_mig_names_the_right_counter(value: str) -> None:
    text = SMI.replace("45 %", value).replace("100 %", value).replace("0 %", value)
    message = refused(text)
    assert "MIG" in message
    assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in message
    part = samples_of(SMI.replace("45 %", value))
    assert part.reading.used == 2
    assert any("DCGM_FI_PROF_GR_ENGINE_ACTIVE" in note for note in part.reading.notes)


def test_nvidia_smi_that_states_mig_mode() -> None:
    text = (
        "timestamp, uuid, mig.mode.current, utilization.gpu [%]\n"
        "2024/05/01 12:00:00.123, GPU-aa, Enabled, 0 %\n"
        "2024/05/01 12:00:00.123, GPU-bb, Disabled, 7 %\n"
    )
    assert samples_of(text).percent.tolist() == [7]
    assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in refused(text.replace("Disabled", "Enabled"))


def test_very_many_headers_in_a_row_do_no_harm() -> None:
    head, *rest = SMI.splitlines()
    assert samples_of("\n".join([*[head] * 2000, *rest]) + "\n").percent.tolist() == [45, 0, 100]
