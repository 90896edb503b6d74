"""Boards: the work of one GPU of another board, and which VMs run as well on the board of owned hosts."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from approved import has_approved
from random_cases import cases

from gpuplan import Plan, ScenarioError, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.boards import ALIKE, derived, interactive, lack, speed_of, work_of
from gpuplan.plan.checks import check_plan
from gpuplan.plan.requests import too_large
from gpuplan.scenario import Group, from_dict

V100 = "v100-pcie-32gb"


def group(**given: object) -> Group:
    """A group that trains."""
    return replace(Group("a", "A", use_case="ds-workstation", people=8), **given)


def test_a_board_does_the_work_of_itself(catalog: Catalog) -> None:
    for gpu in catalog.gpus:
        assert work_of(catalog, group(), gpu, gpu).ratio == 1


def test_work_is_that_of_measurements_of_one_series(catalog: Catalog) -> None:
    """Rows of one benchmark on both boards, divided by hand."""
    rows = {
        (row["gpu"] or row["gpu_like"], row["precision"]): float(row["throughput_per_s"])
        for row in catalog.rows("workloads")
        if row["neural_network"] == "resnet-50" and row["gpus"] == 1 and row.id.startswith("lambda")
    }
    assert rows["h100-pcie-80gb", "FP16"] == 1866
    expected = 1866 / rows["v100-pcie-16gb", "FP16"]
    work = work_of(catalog, group(), "v100-pcie-16gb", "h100-pcie-80gb")
    assert work.ratio == pytest.approx(expected)
    assert work.basis == "measured" and work.sources and "ResNet-50 training" in work.how
    same_chip = work_of(catalog, group(), V100, "h100-pcie-80gb")
    assert same_chip.ratio == pytest.approx(expected) and same_chip.basis == "derived"


def test_there_and_back_is_one(catalog: Catalog) -> None:
    for other in ("h100-pcie-80gb", "h100-sxm5-80gb"):
        there, back = (work_of(catalog, group(), *pair).ratio for pair in ((V100, other), (other, V100)))
        assert there * back == pytest.approx(1)


def test_what_was_not_measured_is_scaled_by_the_lesser_and_assumed(catalog: Catalog) -> None:
    near, far = (work_of(catalog, group(), V100, gpu) for gpu in ("h100-sxm5-80gb", "h200-sxm5-141gb"))
    # more bandwidth and the same peak speed: no faster
    assert far.ratio == pytest.approx(near.ratio)
    assert (near.basis, far.basis) == ("derived", "assumed")
    assert has_approved(far.how)


def test_what_no_series_measures_is_derived_and_says_which_figure_bounds(catalog: Catalog) -> None:
    """One request at a time on an L40S beside an H100 NVL: 864 of 3,938 GB/s, and 362 of 835 TFLOP/s."""
    own, other = catalog.gpus["h100-nvl-94gb"], catalog.gpus["l40s-48gb"]
    by_hand = [
        float(other.value(name)) / float(own.value(name))
        for name in ("memory_bandwidth_gb_s", "fp16_tensor_tflops")
    ]
    work = work_of(catalog, group(use_case="inference"), own.id, other.id)
    assert work.ratio == pytest.approx(min(by_hand)) and by_hand[0] < by_hand[1]
    assert work.basis == "assumed" and work.sources and has_approved(work.how, f"{by_hand[0]:.2g}")
    assert work_of(catalog, group(use_case="hpc"), "p4-8gb", "p4-8gb").ratio == 1


def test_peaks_of_boards_of_two_architectures_are_compared_in_the_same_units(catalog: Catalog) -> None:
    """No source states the tensor rate of an RTX 6000 Ada: its 91 TFLOP/s in single precision are no peak beside an A100's."""
    ada, a100 = catalog.gpus["rtx6000-ada-48gb"], catalog.gpus["a100-pcie-80gb"]
    bandwidth = float(a100.value("memory_bandwidth_gb_s")) / float(ada.value("memory_bandwidth_gb_s"))
    assert derived(ada, a100).ratio == pytest.approx(bandwidth)
    rtx = catalog.gpus["rtx8000-48gb"]  # of one architecture with the RTX 6000: the same rate
    assert derived(catalog.gpus["rtx6000-24gb"], rtx).ratio == pytest.approx(1)


def test_derived_ratios_are_near_to_measured_ones(catalog: Catalog) -> None:
    """Half of the pairs within a quarter; the lesser of two figures is rather too little than too much."""
    presets = {row["neural_network"] for row in catalog.rows("network_workloads")}
    errors = [
        math.log(derived(catalog.gpus[own], catalog.gpus[other]).ratio / ratio)
        for (network, own, other), ratios in measured_pairs(catalog).items()
        for ratio in ratios
        if network in presets
    ]
    assert math.exp(statistics.median(map(abs, errors))) < 1.25
    assert 0.8 < math.exp(statistics.mean(errors)) < 1


def test_a_board_without_bandwidth_or_peak_counts_as_the_same_and_says_so(catalog: Catalog) -> None:
    assert derived(catalog.gpus[V100], replace(catalog.gpus["l40s-48gb"], facts={})) == ALIKE


def test_an_open_vm_takes_its_memory_however_fast_the_board_is(catalog: Catalog) -> None:
    for use_case in ("dev-test", "small-workstation"):
        work = work_of(catalog, group(use_case=use_case), "h100-nvl-94gb", "h200-nvl-141gb")
        assert (work.ratio, work.basis) == (pytest.approx(141 / 94), "derived")
        assert has_approved(work.how, "94 GiB")
    chosen = group(use_case="dev-test", workload="resnet-50-train-256")
    assert not interactive(catalog, chosen)
    assert not interactive(catalog, group(use_case="dev-test", jobs_per_day=4))
    # a little less memory is taken as one, as least_gpu_share says
    little = work_of(catalog, group(use_case="dev-test"), "h100-nvl-94gb", "h100-pcie-80gb")
    assert (little.ratio, little.basis) == (1, "assumed") and has_approved(little.how, "80 GiB", "94 GiB")


def measured_pairs(catalog: Catalog) -> dict[tuple[str, str, str], set[float]]:
    """(network, board, other board) -> ratios of their throughputs in training, each of one series in mixed precision."""
    series: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in catalog.rows("workloads"):
        board = row["gpu"] or row["gpu_like"]
        if board and row["gpus"] == 1 and row["scaling"] != "fixed" and row["precision"] in ("AMP", "FP16"):
            key = (row["neural_network"], row.sources, row["framework"], row["phase"])
            series.setdefault(key, {}).setdefault(board, float(row["throughput_per_s"]))
    found: dict[tuple[str, str, str], set[float]] = {}
    for (network, *_, phase), speeds in series.items():
        for own, other in itertools.permutations(speeds, 2):
            if phase != "inference":
                found.setdefault((network, own, other), set()).add(speeds[other] / speeds[own])
    return found


def test_two_boards_of_one_series_differ_as_measured(catalog: Catalog) -> None:
    """For each network and pair of boards; where several series have the pair, as in one of them."""
    presets = {row["neural_network"]: row for row in catalog.rows("network_workloads") if row["batch"] >= 8}
    several = 0
    for (network, own, other), ratios in measured_pairs(catalog).items():
        if network not in presets or presets[network]["phase"] != "training":
            continue
        work = speed_of(catalog, group(workload=presets[network].id), own, other)
        assert work.basis in ("measured", "derived")
        assert any(work.ratio == pytest.approx(ratio) for ratio in ratios), (network, own, other)
        several += 1
    assert several > 200


def test_double_precision_is_compared_by_the_lesser_of_rate_and_bandwidth(catalog: Catalog) -> None:
    hpc = group(use_case="hpc")
    assert work_of(catalog, hpc, V100, "a100-pcie-80gb").ratio == pytest.approx(9.75 / 7)  # bandwidth: 2.15
    assert work_of(catalog, hpc, V100, "h100-pcie-80gb").ratio == pytest.approx(2000 / 900)  # rate: 3.66
    assert work_of(catalog, hpc, V100, "l40s-48gb").ratio < 0.3


@pytest.mark.parametrize(
    ("own", "other", "use_case", "lacks"),
    [
        ("l4-24gb", "p40-24gb", "dev-test", "precision"),
        ("l40s-48gb", "rtx8000-48gb", "dev-test", "precision"),
        ("l40s-48gb", "a40-48gb", "dev-test", "speed"),
        ("l40s-48gb", "h100-nvl-94gb", "dev-test", ""),
        ("l40s-48gb", "a100-pcie-80gb", "dev-test", ""),
        ("l40s-48gb", "a100-pcie-80gb", "llm-serving", "precision"),
        ("h100-nvl-94gb", "l40s-48gb", "dev-test", "memory"),
        ("b200-sxm6-180gb", "b300-sxm6-288gb", "hpc", "fp64"),
        ("l4-24gb", "v100-pcie-32gb", "hpc", ""),
        ("l4-24gb", "rtx-pro-4500-se-32gb", "hpc", "fp64"),
    ],
)
def test_what_a_board_lacks(own: str, other: str, use_case: str, lacks: str, catalog: Catalog) -> None:
    """Memory, precision, double precision and speed decide, and not the memory alone."""
    assert lack(catalog, group(use_case=use_case), own, other) == lacks


def test_a_board_that_lacks_nothing_is_as_large_and_as_fast(catalog: Catalog) -> None:
    for own in catalog.gpus:
        assert not lack(catalog, group(), own, own) or catalog.gpus[own].value("memory_gib") is None
        for other in catalog.gpus:
            if not lack(catalog, group(gpus_each=2), own, other):
                mine, theirs = catalog.gpus[own], catalog.gpus[other]
                assert float(theirs.value("memory_gib")) >= float(mine.value("memory_gib"))
                assert speed_of(catalog, group(), own, other).ratio >= 1 - 1e-9
                assert float(theirs.value("nvlink_gb_s") or 0) >= float(mine.value("nvlink_gb_s") or 0)


OWNED = ("h100-nvl-94gb", "a100-pcie-80gb", "p40-24gb", "rtx8000-48gb", "l40s-48gb", "l4-24gb")


def random_design(rng: random.Random, catalog: Catalog) -> Plan | None:
    """Owned hosts of some kinds and boards, and groups of some use cases; None where a VM has no place."""
    kinds = [
        {
            "name": f"Kind {at}",
            "hosts": rng.randint(1, 5),
            "gpus_per_host": rng.choice([2, 4, 8]),
            "gpu": rng.choice(OWNED),
            **({"vcpus_per_host": rng.choice([64, 128])} if rng.random() < 0.5 else {}),
        }
        for at in range(rng.randint(1, 4))
    ]
    groups = [
        {
            "id": f"g{at}",
            "use_case": rng.choice(["dev-test", "hpc", "ds-workstation", "inference"]),
            "people": rng.randint(1, 14),
            "active_share": 1,
            "gpus_each": rng.choice(["1/2", 1, 1, 2, 4, 8]),
            "vcpus_each": rng.choice([4, 16]),
            "priority": rng.randint(1, 2),
            "access": "auto",
            "vmotion": rng.choice(["needed", "not-needed"]),
        }
        for at in range(rng.randint(1, 4))
    ]
    for one in groups:
        if one["gpus_each"] != "1/2" and rng.random() < 0.7:
            one["access"] = "passthrough"
            one.pop("vmotion")
    hardware = {"gpu": rng.choice(["l40s-48gb", "l4-24gb"]), "gpus_per_host": 4, "vcpus_per_host": 96}
    data: dict[str, Any] = {"groups": groups, "hardware": {**hardware, "existing": kinds}}
    if rng.random() < 0.3:
        data["availability"] = {"host_failures": rng.randint(0, 2)}
    try:
        return make_plan(from_dict(data), catalog)
    except ScenarioError as error:
        assert all("gpus_each" in wrong.path for wrong in error.problems), error
        return None


def test_owned_hosts_are_hosts_of_the_design_or_are_said_to_be_none(catalog: Catalog) -> None:
    """Each runs only what its board does as well; all that join are placed, counted, powered and backed up."""
    with_others = 0
    for rng in cases(38, 300, few=30):
        plan = random_design(rng, catalog)
        if plan is None or plan.inventory is None:
            continue
        own, groups = plan.scenario.hardware.gpu, {g.id: g for g in plan.sized.groups}
        joined = sum(kind.hosts for kind in plan.inventory.kinds if kind.joins)
        assert joined == sum(pool.existing_hosts for pool in plan.pools)
        assert plan.inventory.buy == plan.totals.hosts - joined
        assert plan.power is None or plan.power.parts[0].count == plan.totals.hosts
        boards = Counter[str]()
        for pool in plan.pools:
            for host, room in zip(pool.placement, pool.rooms, strict=True):
                boards[room.board or own] += 1
                for slot in (slot for load in host for slot in load.slots):
                    assert room.board in ("", own) or not lack(catalog, groups[slot.group], own, room.board)
            large = too_large(pool.requests, pool.new_room)
            if plan.scenario.availability.host_failures and not large:
                assert not any(loss.unplaced for loss in pool.failures)
        with_others += len(boards) > 1
        unused = {kind.gpu for kind in plan.inventory.kinds if not kind.joins}
        said = [m for m in check_plan(plan) if m.code == "owned-hosts-not-used"]
        assert len(said) == len(unused)
        plan.read()
    assert with_others
