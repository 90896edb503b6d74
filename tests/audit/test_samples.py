"""Samples of activity and the logs of nvidia-smi."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from approved import is_approved
from random_cases import cases
from traces import MAY, MONDAY, refused, samples_of

from gpuplan.audit import Activity, Samples, audit, samples
from gpuplan.audit.samples import count_once, sampled

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


def activity_of(found: Samples) -> Activity:
    seen = audit(found).activity
    assert seen is not None
    return seen


def drawn(seed: int, total: int, **few: int) -> Iterator[np.random.Generator]:
    return (np.random.default_rng(case.getrandbits(32)) for case in cases(seed, total, **few))


def by_ticks(time: np.ndarray, gpu: np.ndarray, percent: np.ndarray) -> tuple[float, float]:
    """Mean GPUs and mean per cent, looked at each millisecond: a GPU is as busy as in the sample nearest to that."""
    mean, there = 0.0, 0
    ticks = np.arange(time.min(), time.max(), 1) + 0.5
    for one in np.unique(gpu):
        when, value = time[gpu == one], percent[gpu == one]
        nearest = np.abs(ticks[:, None] - when).argmin(axis=1)
        mean += value[nearest].sum()
        there += len(ticks)
    return there / len(ticks), mean / there


def test_gpus_that_are_logged_at_different_intervals_count_for_the_same_time() -> None:
    """Each is logged from begin to end, so the mean is that over a clock: to the half step at either end."""
    for rng in drawn(40_01, 200):
        end = 3600
        parts = []
        for gpu in range(int(rng.integers(1, 5))):
            step = int(rng.choice([1, 5, 15, 60, 300]))
            when = np.arange(0, end + 1, step)
            parts.append((when, np.full(len(when), gpu), rng.integers(0, 101, len(when))))
        time, gpus, percent = (np.concatenate(part).astype(float) for part in zip(*parts, strict=True))
        shuffled = rng.permutation(len(time))
        rows = "".join(f"{MAY + time[n]:.0f},{gpus[n]:.0f},{percent[n]:.0f}\n" for n in shuffled)
        seen = activity_of(samples_of(f"time,gpu,percent\n{rows}"))
        mean_gpus, mean = by_ticks(time, gpus, percent)
        assert seen.gaps == 0
        assert seen.groups[0].mean_gpus == pytest.approx(mean_gpus)
        assert seen.mean_activity_pct == pytest.approx(mean, abs=100 * 300 / end / 2)
        assert seen.groups[0].busy_gpus == pytest.approx(seen.mean_activity_pct / 100 * mean_gpus)


def test_samples_at_equal_steps_have_the_mean_of_their_values() -> None:
    time = np.tile(np.arange(0, 600, 60.0), 3)
    gpu = np.repeat(np.arange(3), 10)
    found = sampled(time, gpu, np.ones(30))
    assert found.length_s == pytest.approx(np.full(30, 60.0))
    assert (found.total_s, found.interval_s, found.gaps) == (600, 60, 0)


def test_a_change_of_the_interval_is_no_gap_and_a_night_is_one() -> None:
    slower = np.concatenate([np.arange(0, 600.0), np.arange(600, 18_600, 60.0)])
    found = sampled(slower, np.zeros(len(slower), dtype=int), np.ones(len(slower)))
    assert found.gaps == 0
    assert found.length_s.sum() == pytest.approx(found.total_s)
    day = np.arange(0, 36_000, 60.0)
    days = np.concatenate([day, day + 86_400])
    found = sampled(days, np.zeros(len(days), dtype=int), np.ones(len(days)))
    assert found.gaps == 1
    assert found.length_s.sum() == found.total_s == pytest.approx(72_000)
    assert found.gaps_h == pytest.approx(14)


@pytest.mark.parametrize("missing", [1, 2, 3, 50])
def test_a_sample_or_two_that_are_missing_are_no_gap(missing: int) -> None:
    when = np.delete(np.arange(100.0), slice(40, 40 + missing))
    time, gpu = np.concatenate([when, np.arange(100.0)]), np.repeat([0, 1], [len(when), 100])
    found = sampled(time, gpu, np.ones(len(time)))
    assert found.gaps == (missing > 2)
    assert found.total_s == 100
    lost = missing if missing > 2 else 0
    assert found.length_s[gpu == 0].sum() == pytest.approx(100 - lost)
    assert found.gaps_h == 0


def test_a_night_is_said_and_in_no_mean() -> None:
    rows = "".join(
        f"{MONDAY + 60 * n:.0f},g,{50 if n < 600 else 30}\n" for n in [*range(600), *range(1440, 2040)]
    )
    found = audit(samples_of(f"time,gpu,percent\n{rows}"))
    assert found.activity is not None
    assert found.activity.mean_activity_pct == pytest.approx(40)
    assert found.activity.groups[0].mean_gpus == pytest.approx(1)
    assert any("14" in note for note in found.notes)


LABELS = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "modelName": "NVIDIA L40S", "Hostname": "n1"}


def answered(*series: tuple[dict[str, str], list[float]], begin: float = MAY) -> Activity:
    result = [
        {"metric": LABELS | labels, "values": [[begin + 60 * n, str(v)] for n, v in enumerate(values)]}
        for labels, values in series
    ]
    text = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})
    return activity_of(samples_of(text))


@pytest.mark.parametrize(
    "label", ["prometheus_replica", "__replica__", "prometheus", "site", "instance", "job"]
)
def test_a_second_server_changes_nothing(label: str) -> None:
    for rng in drawn(40_02, 50, few=10):
        pods = [
            (
                {"UUID": f"GPU-{g}", "exported_namespace": f"n{g % 2}", "exported_pod": f"p{g}"},
                rng.integers(0, 101, 20),
            )
            for g in range(int(rng.integers(1, 5)))
        ]
        one = answered(*pods)
        two = answered(*((labels | {label: side}, values) for labels, values in pods for side in "ab"))
        assert two.gpus_seen == one.gpus_seen == len(pods)
        assert two.mean_activity_pct == pytest.approx(one.mean_activity_pct)
        for a, b in zip(one.groups, two.groups, strict=True):
            assert (a.name, a.mean_gpus, a.busy_gpus) == (
                b.name,
                pytest.approx(b.mean_gpus),
                pytest.approx(b.busy_gpus),
            )


@pytest.mark.parametrize("later", [1, 7, 30, 59])
def test_a_second_server_that_samples_between_is_no_other_gpu_and_no_gap(later: int) -> None:
    rows = "".join(f"{MAY + 60 * n + shift:.0f},g,{n % 50}\n" for n in range(100) for shift in (0, later))
    seen = activity_of(samples_of(f"time,gpu,percent\n{rows}"))
    assert (seen.gaps, seen.groups[0].mean_gpus) == (0, pytest.approx(1))
    assert seen.mean_activity_pct == pytest.approx(24.5, abs=0.3)


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("name", ["vgpu", "exported_pod", "pod"])
def test_pods_share_a_gpu_with_its_value_or_each_with_its_own(name: str, replicas: int) -> None:
    """A device's value is copied to each pod; values of each pod differ and are added."""
    for rng in drawn(40_03, 60, few=15):
        count = int(rng.integers(2, 6))
        own = rng.integers(0, 100 // count, (count, 30))
        own[:, rng.integers(0, 30, 5)] = 0
        device = own.sum(axis=0)
        of = "namespace" if name == "pod" else "exported_namespace"
        series = [{"UUID": "GPU-1", of: f"n{k % 2}", name: f"{k}"} for k in range(count)]
        sides = [{"prometheus_replica": f"r{n}"} for n in range(replicas)]
        copied = answered(*((labels | side, device.tolist()) for labels in series for side in sides))
        each = answered(
            *((labels | side, own[k].tolist()) for k, labels in enumerate(series) for side in sides)
        )
        for seen in (copied, each):
            assert (seen.gpus_seen, sum(g.mean_gpus for g in seen.groups)) == (
                pytest.approx(1),
                pytest.approx(1),
            )
            assert seen.mean_activity_pct == pytest.approx(device.mean())
        parts = {group.name: group for group in copied.groups}
        assert parts["n0"].mean_gpus == pytest.approx(-(-count // 2) / count)
        parts = {group.name: group for group in each.groups}
        assert parts["n1"].busy_gpus == pytest.approx(own[1::2].sum(axis=0).mean() / 100)


@pytest.mark.parametrize("of_each", [True, False, None])
def test_samples_are_looked_at_in_blocks(of_each: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for rng in drawn(40_05, 50, few=10):
        gpu, sharer = rng.integers(0, 6, 200), rng.integers(0, 3, 200)
        time, percent = rng.integers(0, 12, 200).astype(float), rng.integers(0, 101, 200).astype(float)
        found = []
        for size in (500_000, 7):
            monkeypatch.setattr(samples, "BLOCK", size)
            rows = {"time_s": time, "gpu": gpu, "percent": percent.copy(), "weight": np.ones(200)}
            counted = count_once(rows, sharer, of_each=of_each)
            spans = sampled(time, gpu, rows["weight"])
            found.append(
                (counted, rows["percent"], rows["weight"], spans.length_s, spans.sizes, spans.total_s)
            )
        whole, parts = found
        assert whole[0] == parts[0]
        assert all(np.allclose(a, b) for a, b in zip(whole[1:], parts[1:], strict=True))
        assert np.bincount(gpu * 12 + time.astype(int), weights=parts[2]).max() == pytest.approx(1)


def test_other_counters_are_never_added() -> None:
    rows = {name: np.array(values, dtype=float) for name, values in {
        "time_s": [0, 0, 1, 1], "gpu": [0, 0, 0, 0], "percent": [10, 20, 30, 50], "weight": [1, 1, 1, 1]
    }.items()}  # fmt: skip
    rows["gpu"] = rows["gpu"].astype(int)
    shared, of_each = count_once(rows, np.array([0, 1, 0, 1]), of_each=False)
    assert (shared, of_each) == (4, False)
    assert rows["weight"].tolist() == [0.5] * 4
    assert rows["percent"].tolist() == [10, 20, 30, 50]


@pytest.mark.parametrize(("slices", "idle"), [((3, 3, 1), 0), ((3, 2), 2 / 7), ((7,), 0)])
def test_a_board_beside_its_mig_instances_counts_once(slices: tuple[int, ...], idle: float) -> None:
    name = {
        "__name__": "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "modelName": "NVIDIA H100 80GB HBM3",
        "UUID": "GPU-1",
    }
    instances = [
        (
            name | {"GPU_I_ID": f"{n}", "GPU_I_PROFILE": f"{size}g.10gb", "exported_namespace": "ml"},
            [0.5] * 10,
        )
        for n, size in enumerate(slices)
    ]
    seen = answered((name, [0.9] * 10), *instances)
    assert seen.gpus_seen == pytest.approx(1)
    assert sum(group.mean_gpus for group in seen.groups) == pytest.approx(1)
    assert sum(group.busy_gpus for group in seen.groups) == pytest.approx(0.5 * (1 - idle))
    assert answered(*instances).gpus_seen == pytest.approx(1 - idle)
