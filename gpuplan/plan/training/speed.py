"""Speed of a GPU on the work of a preset, and the rates that the network models take from a design."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact
from gpuplan.locales import written
from gpuplan.models.network.links import TRANSPORTS, tcp_rate_gbit_s
from gpuplan.plan.hardware import architecture_of, sum_rates
from gpuplan.plan.prices import stated_or
from gpuplan.scenario import Group, Scenario
from gpuplan.wording import said

RDMA = tuple(transport for transport in TRANSPORTS if transport != "tcp")
LINKS = (10, 25, 40, 50, 100, 200, 400)

ITEM = {
    "ring": "training-allreduce",
    "hierarchical": "training-allreduce",
    "parameter-server": "training-parameter-server",
    "in-network": "training-allreduce",
}
"""Aggregation of gradients -> the item of the assumptions with the parameters of its fit."""

LARGE_BATCH = 8
"""Batch from which the published throughputs, which are of large batches, apply."""

MIXED = ("AMP", "FP16")

REFERENCE = "v100-pcie-32gb"
"""GPU whose memory bandwidth is used for a GPU that states none."""


class Speed(NamedTuple):
    """Samples per second of a single GPU, and the basis."""

    per_s: Fact
    how: str

    def but(self, words: str, basis: str) -> "Speed":
        """The same speed with something more to say, and known as well as that."""
        how = f"{self.how}, {words}"
        return Speed(replace(self.per_s, basis=basis, note=how), how)


Known = Mapping[str, tuple[Fact, str]]
"""GPU -> its published speed, and its precision in words; empty where the preset itself says it."""


def usual_workload(catalog: Catalog, group: Group) -> str:
    """Return the usual preset of a group's workload kind, unless one is chosen."""
    if group.workload is not None:
        return group.workload
    usual = (
        row.id for row in catalog.rows("network_workloads") if group.use_case in (row["use_cases"] or ())
    )
    return next(usual, "resnet-50-train-256")


def gpu_speed(catalog: Catalog, preset: Row, gpu: str) -> Speed:
    """Samples per second of one GPU on the work of a preset: measured on that board, or scaled by memory bandwidth."""
    speeds: dict[str, tuple[Fact, str]] = {}
    if preset["batch"] >= LARGE_BATCH:
        speeds.update(_measured(catalog, preset["neural_network"] or "", preset["phase"]))
    measured = preset.fact("one_gpu_per_s")
    if measured.value:
        measured = replace(measured, value=float(measured.value))
        if preset["gpu"] is None:
            how = said("training.another GPU")
            return Speed(replace(measured, basis="assumed", note=how), how)
        speeds[preset["gpu"]] = measured, ""
    others = speeds if gpu not in speeds else ()
    ratios = {g: _bandwidth(catalog, gpu) / _bandwidth(catalog, g) for g in others}
    near = min(ratios, key=lambda g: (abs(math.log(ratios[g])), g), default=gpu)
    speed, precision = speeds[near]
    words = {"gpu": catalog.gpus[near].name, "precision": precision}
    how = said("training.as measured", **words)
    if near != gpu:
        speed = replace(speed, value=float(speed.value) * ratios[near], basis="assumed")
        how = said("training.scaled", ratio=written(ratios[near], ".2f"), **words)
    return Speed(replace(speed, key=measured.key, note=how), how)


def _bandwidth(catalog: Catalog, gpu: str) -> float:
    name = "memory_bandwidth_gb_s"
    return float(catalog.gpus[gpu].value(name) or catalog.gpus[REFERENCE].value(name) or 1)


# Reads all published measurements for each group: without it an edit takes a fifth longer.
@lru_cache(maxsize=64)
def _measured(catalog: Catalog, network: str, phase: str) -> Known:
    """GPU -> the median published speed of one GPU on a network, all in mixed precision if any of it is."""
    rows: dict[str, list[Row]] = {}
    for row in catalog.rows("workloads"):
        if row["neural_network"] == network and _of_one_gpu(row, phase):
            rows.setdefault(row["gpu"] or row["gpu_like"], []).append(row)
    mixed = any(r["precision"] in MIXED for runs in rows.values() for r in runs)
    speeds = {}
    for gpu, runs in rows.items():
        kept = [
            r for r in runs if not r["phase"].startswith("pretrain") and (r["precision"] in MIXED) == mixed
        ]
        if kept:
            middle = sorted(kept, key=lambda r: (r["throughput_per_s"], r.id))[len(kept) // 2]
            speed = middle.fact("throughput_per_s")
            fact = speed if middle["gpu"] else replace(speed, basis="assumed")
            speeds[gpu] = fact, said("training.mixed" if mixed else "training.FP32")
    return speeds


def _of_one_gpu(row: Row, phase: str) -> bool:
    """True if a published throughput is for a single known GPU in this phase."""
    single = (row["gpu"] or row["gpu_like"]) and row["gpus"] == 1 and row["scaling"] != "fixed"
    return bool(single) and (row["phase"] == "inference") == (phase == "inference")


def tcp_rate(scenario: Scenario, catalog: Catalog, link_gbit_s: float | None = None) -> Fact:
    """Return the TCP rate of a host on its link (or another): measured by the customer, or as fitted."""
    if scenario.network.tcp_gbit_s is not None:
        return scenario.fact("network.tcp_gbit_s")
    return _fitted_tcp_rate(catalog, link_gbit_s or scenario.network.link_gbit_s)


def many_tcp_rate(scenario: Scenario, catalog: Catalog) -> Fact:
    """Return a host's rate over many TCP connections, as of users and parameter servers: customer's or fitted."""
    if scenario.network.tcp_gbit_s is not None:
        return scenario.fact("network.tcp_gbit_s")
    seen = catalog.assumptions[ITEM["ring"]].fact("tcp_gbit_s")
    fitted = catalog.assumptions[ITEM["parameter-server"]].fact("server_tcp_gbit_s")
    return replace(fitted, low=seen.low, high=seen.high)


def _fitted_tcp_rate(catalog: Catalog, link: float) -> Fact:
    ring = catalog.assumptions[ITEM["ring"]]
    fitted = ring.fact("tcp_gbit_s")
    growth = float(ring.fact("tcp_growth").value)
    rate = round(tcp_rate_gbit_s(link, at_25_gbit_s=float(fitted.value), growth=growth), 1)
    low, high = min(fitted.low or rate, rate), max(fitted.high or rate, rate)
    note = said("training.TCP growth", rate=f"{fitted.value:g}", link=f"{link:g}")
    return replace(fitted, value=rate, low=low, high=high, note=note)


def network_bases(scenario: Scenario) -> tuple[str, ...]:
    """Bases of the link, the transport and the MTU of a design."""
    paths = ("network.link_gbit_s", "network.transport", "network.mtu_bytes")
    return tuple(scenario.fact(path).basis for path in paths)


def round_trip(scenario: Scenario, catalog: Catalog) -> Fact:
    """Round trip between client and GPU: measured, or the most that the vendor recommends."""
    usual = catalog.assumptions["network-planning"].fact("round_trip_us")
    return stated_or(scenario, "network.latency_us", usual)


def nvlink_gb_s(catalog: Catalog, gpu: str) -> Fact | None:
    """Rate that NCCL plans for a ring where NVLink joins all GPUs of a host, as SXM does; a bridge joins two boards."""
    item = catalog.gpus[gpu]
    link, total = item.value("nccl_nvlink_link_gb_s"), item.value("nvlink_gb_s")
    per_link = architecture_of(catalog, gpu).get("nvlink_gb_s")
    if not (link and total and per_link and "SXM" in str(item.value("form_factor"))):
        return None
    rate, note = float(link) * float(total) / float(per_link), said("training.NVLink")
    return replace(item.fact("nccl_nvlink_link_gb_s"), value=rate, basis="derived", note=note)


def inside_host_gb_s(catalog: Catalog, gpu: str, gpus: int) -> Fact:
    """Rate of these GPUs when summing in one host: as measured, else of NVLink if any, else of PCIe by generation."""
    if measured := sum_rates(catalog, gpu):
        near = min(measured, key=lambda row: (abs(row["gpus"] - gpus), row["gpus"]))
        rate = near.fact("rate_gb_s", "GB/s")
        return rate if near["gpu"] == gpu else replace(rate, basis="derived")
    planned = nvlink_gb_s(catalog, gpu)
    if planned is not None:
        return planned
    item = catalog.gpus[gpu]
    fitted = catalog.assumptions[ITEM["ring"]].fact("intra_host_gb_s")
    generation = int(item.value("pcie_generation") or 3)
    if generation <= 3:
        return fitted
    rate, note = float(fitted.value) * 2 ** (generation - 3), said("training.PCIe", generation=generation)
    return replace(fitted, value=rate, low=None, high=None, basis="assumed", note=note)


def verdict_of(catalog: Catalog, kept: float) -> str:
    """``good``, ``fair`` or ``bad``: the verdict on work that keeps this share of its speed, in whole per cent."""
    planning = catalog.assumptions["network-planning"]
    shown = round(kept, 2)
    if shown >= float(planning.fact("good_share").value):
        return "good"
    return "fair" if shown >= float(planning.fact("fair_share").value) else "bad"
