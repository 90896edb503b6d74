"""Right-sizing: peaks by VM from each kind of log, the smallest profile that holds them, and GPUs saved, against counting."""

from __future__ import annotations

import io
import json
import math

import pytest
from estates import L40S, card, estate_of, export, host, vgpu, vm
from random_cases import cases, often

from gpuplan import Catalog
from gpuplan.audit.estate_use import use_of
from gpuplan.audit.right_sizes import RightSizes, right_sizes
from gpuplan.audit.trace import TraceError

SIZES = {4: 12, 6: 8, 8: 6, 12: 4, 16: 3, 24: 2, 48: 1}
"""GiB of a profile of the L40S -> vGPUs of it on a GPU."""


def sized(
    catalog: Catalog, logs: dict[str, str], vms: int = 4, size: int = 24, headroom: float = 0.2
) -> RightSizes:
    most = SIZES[size]
    on = [list(range(first, min(first + most, vms))) for first in range(0, vms, most)]
    cards = [card(f"0000:{at + 1:02x}:00.0", L40S, *numbers) for at, numbers in enumerate(on)]
    backing = vgpu(f"nvidia_l40s-{size}c")
    estate = estate_of(
        catalog, export([host(1, cards), host(2, cards[:1])], [vm(at, 1, backing) for at in range(vms)])
    )
    files = [(name, io.BytesIO(text.encode())) for name, text in logs.items()]
    return right_sizes(files, estate, use_of(estate, catalog), catalog, headroom)


def smi(peaks: dict[str, float], unit: str = " MiB") -> str:
    rows = [
        f"2026/11/02 {10 + at // 60}:{at % 60:02d}:00.000, {name}, 0, {mib * (at + 1) / 120:.0f}{unit}, 5 %"
        for at in range(120)
        for name, mib in peaks.items()
    ]
    return "\n".join(["timestamp, vm, index, memory.used [MiB], utilization.gpu [%]", *rows])


def answer(*series: tuple[dict[str, str], list[float]]) -> str:
    result = [
        {
            "metric": {"__name__": "DCGM_FI_DEV_FB_USED"} | labels,
            "values": [[1.8e9 + 60 * at, str(v)] for at, v in enumerate(values)],
        }
        for labels, values in series
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def peak(found: RightSizes) -> float:
    (fit,) = found.fits
    return fit.peak_gb


def test_each_kind_of_log_gives_the_peak_of_a_vm(catalog: Catalog) -> None:
    values = [1024.0, 6144.0, 2048.0]
    at = [f"2026-11-02 10:0{minute}:00" for minute in range(3)]
    by_name = "\n".join(
        ["timestamp,memory.used [MiB]", *(f"{t},{v:.0f}" for t, v in zip(at, values, strict=True))]
    )
    series = '"DCGM_FI_DEV_FB_USED{Hostname=""vm1"",gpu=""0""}"'
    grafana = "\n".join([f"Time,{series}", *(f"{t},{v}" for t, v in zip(at, values, strict=True))])
    in_bytes = by_name.replace("memory.used [MiB]", "memory_used_bytes").replace("6144", str(6144 * 2**20))
    logs = {
        "smi.csv": smi({"VM1.example.test": 6144}),
        "nounits.csv": smi({"vm1": 6144}, ""),
        "vm1.csv": by_name,
        "vm1.log": in_bytes,
        "grafana.csv": grafana,
        "prometheus.json": answer(({"Hostname": "vm1", "gpu": "0"}, values)),
        "kubernetes.json": answer(
            ({"instance": "10.0.0.7:9400", "exported_instance": "vm1", "UUID": "GPU-1"}, values)
        ),
    }
    for name, text in logs.items():
        found = sized(catalog, {name: text})
        assert peak(found) == 6.0, name
        assert found.fits[0].fits == "L40S-8C" and found.without == ("vm0", "vm2", "vm3")
    together = sized(catalog, {"a.json": answer(({"Hostname": "vm1"}, values)), "vm2.csv": by_name})
    assert (together.fits[0].sampled, together.others) == (2, ())


def test_a_name_longer_than_a_table_shows_is_that_of_its_vm(catalog: Catalog) -> None:
    name = "x" * 70
    cards = [card("0000:01:00.0", L40S, 1)]
    content = export([host(1, cards)], [vm(1, 1, vgpu("nvidia_l40s-24c"), name=name)])
    estate = estate_of(catalog, content)
    log = [("smi.csv", io.BytesIO(smi({name: 2048}).encode()))]
    found = right_sizes(log, estate, use_of(estate, catalog), catalog, 0.2)
    assert (found.without, found.others, peak(found)) == ((), (), 2.0)


def test_sharers_of_a_gpu_are_added_and_two_servers_of_one_series_are_not(catalog: Catalog) -> None:
    labels = {"Hostname": "vm1", "UUID": "GPU-1"}
    shared = [(labels | {"vgpu": str(at)}, [3072.0, 1024.0 * at]) for at in range(3)]
    assert peak(sized(catalog, {"a.json": answer(*shared)})) == 9.0
    twice = [(labels | {"prometheus": str(at)}, [3072.0]) for at in range(3)]
    assert peak(sized(catalog, {"a.json": answer(*twice)})) == 3.0


def test_the_smallest_profile_and_the_gpus_saved_are_those_of_counting(catalog: Catalog) -> None:
    saved = set()
    for rng in cases(4061, 200, few=25):
        size, vms, headroom = (
            rng.choice((12, 16, 24, 48)),
            rng.randint(1, 9),
            rng.choice((0.0, 0.1, 0.2, 0.5)),
        )
        most = rng.choice((0.2, 0.5, 1.0)) * 1024 * size
        peaks = {f"vm{at}": most * rng.random() for at in range(vms) if rng.random() < 0.8}
        if not peaks:
            continue
        (fit,) = sized(catalog, {"smi.csv": smi(peaks)}, vms, size, headroom).fits
        need = [math.floor(mib + 0.5) * (1 + headroom) for mib in peaks.values()]
        holds = min(each for each in SIZES if 1024 * each >= min(max(need), 1024 * size))
        assert (fit.vms, fit.sampled, fit.fits) == (vms, len(peaks), f"L40S-{holds}C")

        def gpus(small: int, n: int, size: int = size, vms: int = vms) -> int:
            return math.ceil(n / SIZES[small]) + math.ceil((vms - n) / SIZES[size])

        now = math.ceil(vms / SIZES[size])
        assert fit.saved == (now - gpus(holds, len(peaks)) if holds < size else 0)
        parts = [now - gpus(each, sum(mib <= 1024 * each for mib in need)) for each in SIZES if each < size]
        best = max([0, *parts])
        assert fit.part_saved == (best if best > max(0, fit.saved) else 0)
        saved.add((fit.saved > 0, fit.part_saved > 0))
    assert often(len(saved), 3)


def test_a_host_without_vms_is_counted_by_gpu_and_strangers_are_named(catalog: Catalog) -> None:
    series = [({"Hostname": "esx2", "gpu": str(at)}, [2048.0 + at]) for at in range(2)]
    found = sized(
        catalog, {"a.json": answer(*series, ({"Hostname": "esx1"}, [9.0]), ({"Hostname": "x"}, [9.0]))}
    )
    (fit,) = found.fits
    assert (fit.profile, fit.vms, fit.fits, fit.saved) == ("whole GPU", 2, "L40S-4C", 1)
    assert found.others == ("esx1.example.test", "x")


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "timestamp,vm\n2026-11-02 10:00:00,vm1\n", answer()])
def test_a_log_without_used_memory_is_refused(text: str, catalog: Catalog) -> None:
    with pytest.raises(TraceError):
        sized(catalog, {"log.csv": text})
