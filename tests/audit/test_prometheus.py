"""Answers and tables of Prometheus."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from approved import has_approved, is_approved
from traces import MAY, refused, samples_of

from gpuplan.audit.prometheus import mig_weight
from gpuplan.audit.trace import NO_GROUP


def answer(*series: tuple[Mapping[str, str], list[Any]]) -> str:
    result = [
        {"metric": dict(m), "values": [[MAY + 30 * n, v] for n, v in enumerate(vs)]} for m, vs in series
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def labels(metric: str, gpu: str = "0", **more: str) -> dict[str, str]:
    return {
        "__name__": metric,
        "UUID": f"GPU-{gpu}",
        "gpu": gpu,
        "Hostname": "node1",
        "modelName": "NVIDIA A100-SXM4-80GB",
        **more,
    }


UTIL, ACTIVE = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"


def test_a_range_query() -> None:
    found = samples_of(
        answer((labels(UTIL, "0", namespace="a"), ["50", "70"]), (labels(UTIL, "1"), ["0", "NaN"]))
    )
    assert found.reading.format == "prometheus"
    assert found.percent.tolist() == [50, 70, 0]
    assert found.time_s.tolist() == [MAY, MAY + 30, MAY]
    assert found.gpus == ("GPU-0", "GPU-1")
    assert [found.groups[n] for n in found.group] == ["a", "a", NO_GROUP]
    assert found.metric == UTIL
    assert found.reading.skipped[0].reason == "no value"


@pytest.mark.parametrize("metric", [ACTIVE, "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", "DCGM_FI_PROF_SM_ACTIVE"])
def test_ratios_become_per_cent(metric: str) -> None:
    found = samples_of(answer((labels(metric), ["0.5", "1"]), (labels(UTIL), ["7"])))
    assert found.percent.tolist() == [50, 100]
    assert found.metric == metric


@pytest.mark.parametrize("mig", [{"GPU_I_ID": "3", "GPU_I_PROFILE": "1g.10gb"}, {"GPU_I_PROFILE": "1g.10gb"}])
def test_the_counter_that_is_blind_under_mig_is_refused(mig: dict[str, str]) -> None:
    blind = labels(UTIL, "0", **mig)
    plain = labels(UTIL, "1")
    for text in (
        answer((blind, ["0", "0"])),
        answer((plain, ["50", "60"]), (blind, ["0", "0"])),
        "timestamp,gpu,GPU_I_ID,GPU_I_PROFILE,DCGM_FI_DEV_GPU_UTIL\n2024-05-01,0,,,50\n2024-05-01,0,3,1g.10gb,0\n",
        'Time,"DCGM_FI_DEV_GPU_UTIL{gpu=""0"",GPU_I_ID=""3""}"\n2024-05-01,0\n',
    ):
        message = refused(text)
        assert "DCGM_FI_DEV_GPU_UTIL" in message
        assert "refused" in message
        assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in message


def test_empty_mig_labels_are_none() -> None:
    found = samples_of(answer((labels(UTIL, "0", GPU_I_ID="", GPU_I_PROFILE=""), ["40"])))
    assert found.percent.tolist() == [40]


def test_mig_instances_weigh_their_slices() -> None:
    found = samples_of(
        answer(
            (labels(ACTIVE, "0", GPU_I_ID="1", GPU_I_PROFILE="3g.40gb"), ["1"]),
            (labels(ACTIVE, "0", GPU_I_ID="2", GPU_I_PROFILE="1g.10gb"), ["0"]),
            (labels(UTIL, "0", GPU_I_ID="1", GPU_I_PROFILE="3g.40gb"), ["0"]),
        )
    )
    assert found.metric == ACTIVE, "the other counter is left aside, not refused"
    assert found.weight.tolist() == pytest.approx([3 / 7, 1 / 7])
    assert found.gpus == ("GPU-0 MIG 1", "GPU-0 MIG 2")
    notes = " ".join(found.reading.notes)
    assert "compute slices" in notes
    assert UTIL in notes


def test_mig_weights() -> None:
    assert mig_weight("7g.80gb", model="NVIDIA H100 80GB HBM3") == 1
    assert mig_weight("2g.12gb", model="NVIDIA A30") == 0.5
    assert mig_weight("", model="NVIDIA A30") == 1
    assert mig_weight("1g.16gb", model="NVIDIA-RTX-PRO-4500-Blackwell-Server-Edition") == 0.5
    assert mig_weight("1g.24gb", model="NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition") == 0.25
    assert mig_weight("1g.5gb", model="A100") == mig_weight("1g.12gb", model="no board") == 1 / 7


def test_the_namespace_of_the_work_not_of_the_exporter() -> None:
    found = samples_of(
        answer(
            (labels(UTIL, "0", namespace="gpu-operator", exported_namespace="team-a"), ["5"]),
            (labels(UTIL, "1", namespace="gpu-operator", exported_namespace=""), ["5"]),
        )
    )
    assert [found.groups[n] for n in found.group] == ["team-a", NO_GROUP]
    by_pod = samples_of(
        answer((labels(UTIL, "0", namespace="a", pod="p-1"), ["5"])), columns={"group": "pod"}
    )
    assert by_pod.groups == ("p-1",)


@pytest.mark.parametrize("busy", [1, 3])
def test_idle_gpus_are_of_no_group_whatever_series_say_so(busy: int) -> None:
    """Where any series has labels of the work, ``namespace`` is that of the exporter on all of them."""
    own = {"namespace": "gpu-operator", "pod": "nvidia-dcgm-exporter-x1", "container": "nvidia-dcgm-exporter"}
    other = {"namespace": "monitoring", "pod": "metrics-7", "container": "metrics"}
    for exporter in (own, other):
        series = [
            (labels(UTIL, f"{n}", **exporter) | ({"exported_namespace": "ml"} if n < busy else {}), ["5"])
            for n in range(5)
        ]
        found = samples_of(answer(*series))
        assert [found.groups[n] for n in found.group] == ["ml"] * busy + [NO_GROUP] * (5 - busy)
    kept = samples_of(
        answer((labels(UTIL, "0", **own), ["5"]), (labels(UTIL, "1", namespace="ml", pod="p"), ["5"]))
    )
    assert kept.groups == (NO_GROUP, "ml"), "honorLabels: idle GPUs have those of the exporter"


def test_series_without_a_gpu_are_one_each() -> None:
    bare = [{"__name__": UTIL, "Hostname": "n", "namespace": name} for name in "ab"]
    found = samples_of(answer(*((of, ["5", "7"]) for of in bare)))
    assert len(found.gpus) == 2
    assert found.weight.tolist() == [1] * 4


def test_a_query_that_dropped_the_name() -> None:
    bare = labels(UTIL)
    del bare["__name__"]
    text = answer((bare, ["50"]))
    assert "columns metric" in refused(text)
    assert samples_of(text, columns={"metric": UTIL}).percent.tolist() == [50]
    assert has_approved(refused(text, columns={"gpus": "x"}))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"status": "error", "error": "too many points"}', "too many points"),
        ('{"status": "success", "data": {"resultType": "vector", "result": []}}', "a matrix is needed"),
        ('{"status": "success", "data": {"resultType": "matrix", "result": []}}', "no series"),
        ('{"status": "success", "data": {"resultType": "matrix", "result": [5]}}', "a list of series"),
        ('{"status": "success"}', "query_range"),
        ("[1, 2]", "query_range"),
        ('{"status": "succ', "no JSON"),
        (answer((labels("DCGM_FI_DEV_POWER_USAGE"), ["5"])), "no counter of activity"),
        (answer((labels(UTIL), ["9223372036854775794", "500"])), "outside 0 to 100"),
    ],
)
def test_answers_that_cannot_be_used(text: str, said: str) -> None:
    assert said in refused(text)


def test_a_sample_that_is_no_pair_is_left_out() -> None:
    text = answer((labels(UTIL), ["5", "6", "7"])).replace(f'[{MAY + 30}, "6"]', '["x"]')
    found = samples_of(text)
    assert found.percent.tolist() == [5, 7]
    assert is_approved(found.reading.skipped[0].reason)


def test_tables_of_prometheus() -> None:
    long = (
        "timestamp,__name__,UUID,namespace,value\n"
        f"2024-05-01T00:00:00Z,{ACTIVE},GPU-0,a,0.5\n2024-05-01T00:00:30Z,{ACTIVE},GPU-1,b,1\n"
    )
    named = long.replace("value", ACTIVE).replace("__name__,", "").replace(f"{ACTIVE},GPU", "GPU")
    wide = (
        f'"Time","{ACTIVE}{{UUID=""GPU-0"", namespace=""a""}}","{{__name__=""{ACTIVE}"", UUID=""GPU-1"", namespace=""b""}}"\n'
        "2024-05-01 00:00:00,0.5,\n2024-05-01 00:00:30,,1\n"
    )
    for text in (long, named, wide):
        found = samples_of(text)
        assert found.percent.tolist() == [50, 100]
        assert found.gpus == ("GPU-0", "GPU-1")
        assert found.groups == ("a", "b")
        assert (found.time_s - MAY).tolist() == [0, 30]
        assert found.metric == ACTIVE
    mixed = long.replace(f"30Z,{ACTIVE}", f"30Z,{UTIL}")
    assert "several counters" in refused(mixed)


def test_a_series_without_samples_does_no_harm() -> None:
    found = samples_of(answer((labels(UTIL, "0"), []), (labels(UTIL, "1"), ["7"])))
    assert found.percent.tolist() == [7]


@pytest.mark.parametrize("wide", [True, False])
def test_dates_with_the_year_last_are_told_apart_over_the_table(wide: bool) -> None:
    head = f'Time,"{UTIL}{{UUID=""GPU-0""}}"\n' if wide else f"Time,UUID,{UTIL}\n"
    rows = "".join(f"{day}/05/2024 00:00:30,{'' if wide else 'GPU-0,'}50\n" for day in (1, 2, 13))
    assert (samples_of(head + rows).time_s - MAY).tolist() == [30, 86430, 12 * 86400 + 30]
    text = head + rows.partition("13/")[0]
    assert "time=Time:dmy" in refused(text)
    assert samples_of(text, columns={"time": "Time:dmy"}).time_s[0] - MAY == 30
