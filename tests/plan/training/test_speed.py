"""Speeds of a GPU alone: measured on its board, scaled, or as in the measurement; and the rates of a design."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from approved import has_approved

from gpuplan.catalog import Catalog, Row
from gpuplan.plan.training.speed import (
    LARGE_BATCH,
    LINKS,
    RDMA,
    gpu_speed,
    inside_host_gb_s,
    many_tcp_rate,
    round_trip,
    tcp_rate,
    usual_workload,
    verdict_of,
)
from gpuplan.scenario import FIELD_BY_PATH, Group, Network, Scenario


def preset(catalog: Catalog, id: str) -> Row:
    return catalog.row("network_workloads", id)


@pytest.mark.parametrize(
    ("work", "gpu", "per_s", "precision"),
    [
        ("resnet-50-train-256", "v100-pcie-32gb", 823.74, ""),  # Bitfusion's own measurement, native
        ("resnet-50-infer-256", "v100-pcie-32gb", 1182.87, ""),
        ("resnet-50-infer-1", "v100-pcie-32gb", 122.37, ""),
        ("vgg-16-train-64", "a100-pcie-40gb", 1190, " in mixed precision"),  # the only row of FP16
        ("resnet-152-train-64", "a100-pcie-40gb", 886, " in mixed precision"),
        ("resnet-50-train-256", "h100-sxm5-80gb", 2616, " in mixed precision"),
    ],
)
def test_a_board_that_was_measured(
    catalog: Catalog, work: str, gpu: str, per_s: float, precision: str
) -> None:
    speed = gpu_speed(catalog, preset(catalog, work), gpu)
    assert speed.per_s.value == per_s
    assert speed.how == f"as measured on {catalog.gpus[gpu].name}{precision}"
    assert all(source in catalog.sources for source in speed.per_s.sources)


def test_another_board_is_scaled_by_memory_bandwidth(catalog: Catalog) -> None:
    """Only the V100 was measured with batch 1: 900 GB/s, so a T4 with 320 GB/s gets 320/900 of it."""
    bandwidth = {
        g: float(catalog.gpus[g].value("memory_bandwidth_gb_s")) for g in ("t4-16gb", "v100-pcie-32gb")
    }
    speed = gpu_speed(catalog, preset(catalog, "resnet-50-infer-1"), "t4-16gb")
    assert speed.per_s.value == pytest.approx(122.37 * bandwidth["t4-16gb"] / bandwidth["v100-pcie-32gb"])
    assert speed.per_s.basis == "assumed"
    assert has_approved(speed.how, "Tesla V100 PCIe 32GB", "0.3")


def test_a_preset_whose_gpu_is_not_in_the_catalog(catalog: Catalog) -> None:
    found = {gpu_speed(catalog, preset(catalog, "unet-3d-infer"), gpu) for gpu in catalog.gpus}
    (speed,) = found
    assert speed.per_s.value == pytest.approx(1 / 8.3531, rel=1e-4)
    assert speed.per_s.basis == "assumed"
    assert "another GPU" in speed.how


def test_every_board_has_a_speed_on_every_preset(catalog: Catalog) -> None:
    for work in catalog.rows("network_workloads"):
        for gpu in catalog.gpus:
            speed = gpu_speed(catalog, work, gpu)
            assert 0 < speed.per_s.value < math.inf, (work.id, gpu)
            assert speed.per_s.basis == "assumed" or speed.how.startswith("as measured on")
            assert speed.per_s.sources


def test_a_board_without_a_memory_bandwidth_counts_as_the_reference(catalog: Catalog) -> None:
    missing = [g for g, item in catalog.gpus.items() if not item.value("memory_bandwidth_gb_s")]
    for gpu in missing:
        speed = gpu_speed(catalog, preset(catalog, "resnet-50-infer-1"), gpu)
        assert speed.per_s.value == pytest.approx(122.37)
        assert speed.per_s.basis == "assumed"


def test_large_batches_take_large_batch_measurements_and_no_others_do(catalog: Catalog) -> None:
    small = [w for w in catalog.rows("network_workloads") if w["batch"] < LARGE_BATCH]
    assert {w.id for w in small} == {"resnet-50-infer-1", "unet-3d-infer"}
    one, large = (gpu_speed(catalog, preset(catalog, f"resnet-50-infer-{b}"), "t4-16gb") for b in (1, 256))
    assert large.per_s.value > 5 * one.per_s.value


@pytest.mark.parametrize(
    ("work", "measured"),
    [("vgg-16-train-64", 456), ("resnet-152-train-64", 518)],  # lambda-tf, V100 32 GB, FP16
)
def test_the_v100_of_both_examples_is_near_what_is_published_for_a_v100(
    catalog: Catalog, work: str, measured: float
) -> None:
    speed = gpu_speed(catalog, preset(catalog, work), "v100-pcie-32gb").per_s.value
    assert measured / 1.4 < speed < measured * 1.4


def test_a_t4_trains_no_less_than_what_its_tensor_cores_do(catalog: Catalog) -> None:
    """By memory bandwidth from the V100 in the same precision: 824 x 320 / 900 = 293 images/s, not 160."""
    speed = gpu_speed(catalog, preset(catalog, "resnet-50-train-256"), "t4-16gb").per_s.value
    assert speed > 250


def test_one_precision_for_all_gpus_of_a_preset(catalog: Catalog) -> None:
    """Mixed precision wherever any is published, and the words name it: no GPU is compared in FP32 with one in FP16."""
    for work in catalog.rows("network_workloads"):
        mixed = any(
            row["neural_network"] == work["neural_network"]
            and row["precision"] in ("AMP", "FP16")
            and (row["phase"] == "inference") is (work["phase"] == "inference")
            and row["gpus"] == 1
            and (row["gpu"] or row["gpu_like"])
            for row in catalog.rows("workloads")
        )
        for gpu in catalog.gpus:
            how = gpu_speed(catalog, work, gpu).how
            assert not (" in FP32" in how and mixed), (work.id, gpu, how)
            assert mixed or "mixed" not in how, (work.id, gpu, how)


def test_a_board_of_which_only_a_relative_was_measured_is_assumed(catalog: Catalog) -> None:
    """V100 rows that name no board stand for the V100 of the catalog, and are not called measurements of it."""
    alike = [row for row in catalog.rows("workloads") if row["gpu_like"]]
    assert alike
    assert all(row["gpu"] is None and row["gpu_like"] in catalog.gpus for row in alike)
    speed = gpu_speed(catalog, preset(catalog, "vgg-16-train-64"), "v100-pcie-32gb")
    assert speed.per_s.basis == "assumed"


def test_the_usual_work_of_a_use_case(catalog: Catalog) -> None:
    group = Group(id="a", name="A")
    for use_case in (row.id for row in catalog.rows("use_cases")):
        work = usual_workload(catalog, replace(group, use_case=use_case))
        assert catalog.row("network_workloads", work)
    assert usual_workload(catalog, replace(group, use_case="inference")) == "resnet-50-infer-1"
    assert usual_workload(catalog, replace(group, use_case="ds-workstation")) == "resnet-50-train-256"
    chosen = replace(group, use_case="inference", workload="gnmt-v2-train")
    assert usual_workload(catalog, chosen) == "gnmt-v2-train"


def test_the_use_cases_that_presets_name_exist_and_are_named_once(catalog: Catalog) -> None:
    named = [u for row in catalog.rows("network_workloads") for u in row["use_cases"] or ()]
    assert len(named) == len(set(named))
    assert set(named) <= {row.id for row in catalog.rows("use_cases")}


def test_stated_rates_win(catalog: Catalog) -> None:
    plain = Scenario()
    assert tcp_rate(plain, catalog).basis == "fitted"
    assert round_trip(plain, catalog).value == 50
    stated = replace(plain, network=replace(plain.network, tcp_gbit_s=40.0, latency_us=9.0))
    assert (tcp_rate(stated, catalog).value, round_trip(stated, catalog).value) == (40, 9)
    assert tcp_rate(stated, catalog).key == "network.tcp_gbit_s"


def test_links_are_those_that_can_be_chosen() -> None:
    assert set(FIELD_BY_PATH["network.link_gbit_s"].choices) == {1, *LINKS}
    assert set(FIELD_BY_PATH["network.transport"].choices) == {"tcp", *RDMA}
    assert list(LINKS) == sorted(LINKS)


def test_rates_inside_a_host(catalog: Catalog) -> None:
    """NVLink above PCIe 5.0 above 4.0 above 3.0; a board on PCIe has what was fitted on PCIe 3.0."""
    fitted = catalog.assumptions["training-allreduce"].fact("intra_host_gb_s").value
    v100, a100, h100, sxm = (
        inside_host_gb_s(catalog, g, 4)
        for g in ("v100-pcie-32gb", "a100-pcie-40gb", "h100-pcie-80gb", "v100-sxm2-32gb")
    )
    assert (v100.value, a100.value, h100.value) == (fitted, 2 * fitted, 4 * fitted)
    assert sxm.value == 120  # 6 links of 20 GB/s each
    assert (v100.basis, a100.basis, sxm.basis) == ("fitted", "assumed", "derived")
    assert inside_host_gb_s(catalog, "a100-sxm4-40gb", 8).value == 240  # 12 links
    for memory in (64, 94):
        assert inside_host_gb_s(catalog, f"h100-sxm5-{memory}gb", 4).value == pytest.approx(18 * 20.6)
    for gpu in catalog.gpus:
        fact = inside_host_gb_s(catalog, gpu, 4)
        assert fitted <= fact.value < 2_000, gpu
        assert fact.sources


def test_many_connections_move_more_than_a_ring(catalog: Catalog) -> None:
    """As a host with several users or parameter servers has them; what a customer measured holds for both."""
    open_, stated = Scenario(network=Network(link_gbit_s=100)), Scenario(network=Network(tcp_gbit_s=33.0))
    many, ring = many_tcp_rate(open_, catalog), tcp_rate(open_, catalog)
    assert many.value == catalog.assumptions["training-parameter-server"].fact("server_tcp_gbit_s").value
    assert ring.value < many.value
    assert (many.low, many.high) == (ring.low, ring.high) == (10.7, 48)
    assert many_tcp_rate(stated, catalog).value == tcp_rate(stated, catalog).value == 33


def test_a_rate_inside_a_host_that_was_measured_is_taken(catalog: Catalog) -> None:
    """For as many GPUs; switches that sum make eight H100 faster than their links."""
    rates = [inside_host_gb_s(catalog, "h100-sxm5-80gb", gpus) for gpus in (1, 2, 4, 8, 16)]
    assert [rate.value for rate in rates] == [318.3, 318.3, 350.2, 445, 445]
    assert {rate.basis for rate in rates} == {"measured"}
    assert inside_host_gb_s(catalog, "l40s-48gb", 4).value == 5.2


def test_what_nccl_plans_with_is_near_what_was_measured(catalog: Catalog) -> None:
    """18 links of a B200 are 721.8 GB/s, 12 of an A100 240; only where switches sum is more reached than the links carry."""
    for row in catalog.rows("nccl_rates"):
        item = catalog.gpus[row["gpu"]]
        link, total = item.value("nccl_nvlink_link_gb_s"), item.value("nvlink_gb_s")
        one_way = (total or 128) / 2  # PCIe 5.0 x16 is 64
        sums = "in the switches" in (
            row.note or ""
        )  # then each GPU sends its message once: 2 (n - 1) / n is for free
        assert row["rate_gb_s"] < one_way * (2 * (row["gpus"] - 1) / row["gpus"] if sums else 1), row.id
        if link and row["gpus"] == 8:
            planned = {"a100": 240, "h100": 370.8, "h200": 370.8, "b200": 721.8}[row["gpu"][:4]]
            assert row["rate_gb_s"] == pytest.approx(planned, rel=0.25)


def test_verdicts_follow_what_is_shown(catalog: Catalog) -> None:
    planning = catalog.assumptions["network-planning"]
    good, fair = (float(planning.fact(n).value) for n in ("good_share", "fair_share"))
    assert verdict_of(catalog, 1.0) == verdict_of(catalog, good) == "good"
    assert verdict_of(catalog, good - 0.004) == "good"  # shown as the same per cent
    assert verdict_of(catalog, good - 0.01) == verdict_of(catalog, fair) == "fair"
    assert verdict_of(catalog, fair - 0.01) == verdict_of(catalog, 0.0001) == "bad"
