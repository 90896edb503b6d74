"""The network models against the published measurements: targets, out of sample, and a fit that the catalog repeats."""

from __future__ import annotations

import csv
import inspect
import math
import re
from collections import Counter
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gpuplan.catalog import Catalog
from gpuplan.models.network import (
    GpuHosts,
    Latencies,
    Link,
    Overlap,
    collectives,
    links,
    parameter_servers,
    remoting,
)
from validation.calibration import (
    COLD,
    COLLECTIVE,
    FREE,
    ITEMS,
    PRIORS,
    SERVERS,
    TRAINING,
    UNSTATED,
    Point,
    errors,
    fit,
    fitted_values,
    inside,
    leave_one_out,
    mean_width,
    points,
    range_shares,
    unseen,
)

MEASURED = {
    "hvd16-inceptionv3-16-ps": 1345.8 / 16 / 134.4,
    "hvd16-vgg-16-16-ps": 74.7 / 16 / 130.9,
    "hvd16-vgg-16-16-gpu-horovod-tcp-nccl": 64 * 16 / 1308.7,
    "hvd16-vgg-16-16-gpu-horovod-rdma-nccl": 64 * 16 / 1787.4,
    "hvd512-vgg-16": 64 / 130.9 / 0.68,
    "hkbu-resnet-50-10gbe-tcp-bsp-a2a-8": 64 * 8 / 1282.28,
    "hkbu-resnet-50-100gb-ib-mg-wfbp-32": 64 * 32 / 7876.46,
    "hkbu-resnet-50-10gbe-tcp-wfbp-ps-32": 6945.39 / 32 / 253.1,
    "hkbu-resnet-50-100gbe-tcp-bytescheduler-ps-32": 7982.248 / 32 / 253.1,
    "tf-p2-resnet-50-bs64-64": 2744 / 64 / 52.4,
    "ebug-awsp2.xlarge-128": 1077.59125 / 128 / 30.55,
    "azure-v100-resnet50-intelmpi-32": 64 * 32 / 6514.4,
    "hkbu-bert-base-100gb-ib-mg-wfbp-32": 64 * 32 / 4940.08,
    "hkbu-bert-base-100gbe-tcp-wfbp-ps-16": 2271.995 / 16 / 212.8,
    "hkbu-bert-large-10gbe-tcp-bsp-a2a-8": 8 * 8 / 28.96,
    "dlperf-oneflow-bert-base-96-32": 96 * 32 / 4455.97,
    "gpuless-cold-resnet50-0.1g": 18.575,
    "gpuless-cold-3d-unet-kits19-50g": 12.768,
}
"""Typed by hand from the measurements: seconds, for parameter servers the efficiency."""

ROWS = {TRAINING: 123, SERVERS: 85, COLLECTIVE: 34, COLD: 26}
"""Area -> rows that the parameters are fitted on."""

LARGEST = {TRAINING: (0.10, 0.20), SERVERS: (0.05, 0.10), COLLECTIVE: (0.15, 0.45), COLD: (0.10, 0.22)}
"""Area -> largest mean and single error that is accepted on the rows the parameters were fitted on."""

HELD = {TRAINING: 124, SERVERS: 28, COLLECTIVE: 11, COLD: 0}
"""Area -> rows that are held back from the fit: BERT-large, six frameworks on hosts with NVLink; a provider's own transport, and PCIe."""

OUT_OF_SAMPLE = {
    TRAINING: {"azure": (0.10, 0.25), "hkbu": (0.10, 0.25), "horovod": (0.10, 0.25), "dlperf": (0.10, 0.25)},
    SERVERS: dict.fromkeys(("ebug", "hkbu", "horovod", "tensorflow"), (0.05, 0.13)),
    COLLECTIVE: {
        "a3mega": (0.30, 0.65),
        "aic": (0.20, 0.45),
        "modal": (0.10, 0.10),
        "nccl": (0.10, 0.35),
        "nebius": (0.10, 0.25),
    },
    COLD: dict.fromkeys(("3d-unet-kits19", "resnet50"), (0.10, 0.22)),
}
"""Area -> source -> mean and single error when it is predicted without its own rows. What is asked for is a mean of 10 %, each 25 %,
servers within 0.12."""


@pytest.fixture(scope="module")
def predicted(catalog: Catalog) -> dict[str, Point]:
    return {point.id: point for point in points(catalog)}


def test_measured_values_are_those_of_the_sources(predicted: dict[str, Point]) -> None:
    for id, value in MEASURED.items():
        assert predicted[id].measured == pytest.approx(value, rel=1e-5), id


def test_every_row_has_a_finite_prediction(catalog: Catalog, predicted: dict[str, Point]) -> None:
    assert {row.id for row in catalog.rows("training_times")} <= set(predicted)
    warm = {row.id for row in catalog.rows("remote_times") if row["phase"] != "cold inference"}
    assert {row.id for row in catalog.rows("remote_times")} - set(predicted) == warm
    assert len(predicted) == 400 + 45 + 26
    for point in predicted.values():
        assert 0 < point.predicted < math.inf and 0 < point.measured < math.inf, point
        assert math.isfinite(point.error)
        if point.area == SERVERS:
            assert point.predicted <= 1


def test_rows_that_are_only_shown_say_why(catalog: Catalog) -> None:
    for table in ("training_times", "remote_times"):
        for row in catalog.rows(table):
            assert row["use"] in ("fit", "held", "shown")
            if table == "training_times" and row["use"] == "shown":
                assert row.note


@pytest.mark.parametrize("area", ITEMS)
def test_targets_on_the_rows_fitted_on(predicted: dict[str, Point], area: str) -> None:
    (found,) = errors(p for p in predicted.values() if p.area == area and p.fitted)
    mean, worst = LARGEST[area]
    assert found.rows == ROWS[area]
    assert found.mean <= mean
    assert found.worst <= worst
    assert abs(found.bias) <= mean / 2


@pytest.mark.parametrize("area", ITEMS)
def test_a_source_predicted_from_the_others(catalog: Catalog, area: str) -> None:
    found = errors(unseen(catalog, area), by_series=True)
    for summary in found:
        mean, worst = OUT_OF_SAMPLE[area][summary.series]
        assert summary.mean <= mean, summary
        assert summary.worst <= worst, summary
    assert sum(s.rows for s in found) == ROWS[area] + HELD[area]
    assert {s.series for s in found} == set(OUT_OF_SAMPLE[area])


def test_no_unseen_step_is_a_quarter_off_and_few_servers_more_than_12_points(catalog: Catalog) -> None:
    """The two servers lose nothing on two hosts of 10 Gbit/s, and 6 and 14 points on four and eight of them."""
    assert max(abs(p.error) for p in unseen(catalog, TRAINING)) < 0.25
    off = {p.id for p in unseen(catalog, SERVERS) if abs(p.error) > 0.12}
    assert off <= {f"hkbu-resnet-50-10gbe-tcp-{way}-ps-8" for way in ("wfbp", "bytescheduler")}


def test_what_was_measured_again_on_the_same_hosts_was_predicted_before(predicted: dict[str, Point]) -> None:
    """45 rows that the parameters have never seen, PyTorch and MXNet without a data loader on the GPU among them."""
    (again,) = errors(p for p in predicted.values() if p.series == "dlperf-2020-10")
    assert again.rows == 45
    assert again.mean <= 0.05
    assert again.worst <= 0.20


def test_the_same_work_without_the_infiniband_driver_is_predicted_over_tcp(
    catalog: Catalog, predicted: dict[str, Point]
) -> None:
    """TensorFlow with BERT on two and four hosts: 0.47 and 0.53 s in August, 0.36 and 0.38 s with the driver in October."""
    rows = {row.id: row for row in catalog.rows("training_times")}
    for gpus in (16, 32):
        tcp, driver = f"dlperf-tf1-bert-base-32-{gpus}", f"dlperf-2020-10-ngc-tf1-bert-base-32-{gpus}"
        assert (rows[tcp]["transport"], rows[driver]["transport"]) == ("tcp", "infiniband")
        assert abs(predicted[tcp].error) < 0.15 and abs(predicted[driver].error) < 0.10
        assert predicted[tcp].predicted > 1.3 * predicted[driver].predicted


def test_large_messages_of_unseen_sources_are_within_a_fifth(catalog: Catalog) -> None:
    """From 100 MB on, where training lives; small ones wait for software that differs by more than that."""
    sizes = {row["id"]: row["message_mb"] or math.inf for row in catalog.rows("collective_times")}
    large = [abs(p.error) for p in unseen(catalog, COLLECTIVE) if sizes[p.id] >= 100]
    assert len(large) == 22
    assert sum(large) / len(large) <= 0.06
    assert max(large) <= 0.20


def test_small_messages_over_pcie_wait_as_long_as_over_nvlink(predicted: dict[str, Point]) -> None:
    """512 bytes on two, four and eight L40S and RTX PRO 6000: nothing was fitted on PCIe, only the rate of large messages is looked up."""
    (pcie,) = errors(
        replace(p, series="") for p in predicted.values() if p.series in ("aic-l40s", "aic-rtx-pro-6000")
    )
    (nvlink,) = errors(
        replace(p, series="")
        for p in predicted.values()
        if p.id.startswith("aic-") and p.id.endswith("-512b") and p.fitted
    )
    assert (pcie.rows, nvlink.rows) == (6, 12)
    assert pcie.mean <= 0.20 and pcie.mean <= nvlink.mean
    assert pcie.worst <= 0.45


def test_two_hosts_of_eight_h100_reach_more_than_twice_what_one_latency_per_64_mib_gave(
    catalog: Catalog, predicted: dict[str, Point]
) -> None:
    """204 GB/s were predicted for 400 Gbit/s a GPU; 449.5 and 435 GB/s of bus bandwidth are published."""
    for id, mb in (("modal-2x8-4gb", 4000), ("nebius-2x8-1000mib", 1048.576)):
        moved_gb = 2 * 15 / 16 * mb / 1000
        assert moved_gb / predicted[id].measured > 2 * 204
        assert moved_gb / predicted[id].predicted > 2 * 204
        assert predicted[id].error == pytest.approx(0, abs=0.06)


def test_a_transformer_is_predicted_from_convolutions_alone(catalog: Catalog) -> None:
    """No row of BERT in the fit: its steps and efficiencies come from the shape of its layers."""
    for area, mean in ((TRAINING, 0.10), (SERVERS, 0.05)):
        values = fitted_values(catalog)
        values[ITEMS[area]].update(fit(catalog, area, without=["hkbu-bert-base"]))
        bert = [p for p in points(catalog, values) if p.series == "hkbu-bert-base" and p.area == area]
        (found,) = errors(bert)
        assert found.rows == {TRAINING: 48, SERVERS: 36}[area]
        assert found.mean <= mean, found
        assert found.worst <= 0.25


@pytest.mark.parametrize("area", (TRAINING, SERVERS))
def test_ranges_hold_at_least_four_fifths_of_what_was_not_seen(catalog: Catalog, area: str) -> None:
    """Counted anew: the widths are those of the catalog, and the rows are predicted without their source."""
    held, found = catalog.assumptions[ITEMS[area]], unseen(catalog, area)
    width = {name: float(held.fact(name).value) for name in ("slower_share", "faster_share", "base_share")}
    within = inside(found, **width)
    for source in {p.series for p in found}:
        own = [p for p in found if p.series == source]
        assert inside(own, **width) >= 0.8 * len(own), source
    assert (held.fact("unseen_inside").value, held.fact("unseen_rows").value) == (within, len(found))
    slower, faster = range_shares(found, base_share=width["base_share"])
    assert width["slower_share"] == pytest.approx(slower, rel=0.01)
    assert width["faster_share"] == pytest.approx(faster, rel=0.01)
    narrow = {**width, "slower_share": slower / 2, "faster_share": faster / 2}
    held_by = Counter(p.series for p in found if inside([p], **narrow))
    rows = Counter(p.series for p in found)
    assert any(held_by[s] < 0.8 * rows[s] for s in rows), "half as wide is too narrow for a source"
    assert mean_width(found, **width) < 0.17


@pytest.mark.parametrize("area", (TRAINING, SERVERS))
def test_ranges_from_other_sources_hold_four_fifths_too(catalog: Catalog, area: str) -> None:
    """Neither the parameters nor the width have seen the source."""
    found, within = unseen(catalog, area), 0
    for source in {p.series for p in found}:
        slower, faster = range_shares([p for p in found if p.series != source], base_share=0.3)
        own = [p for p in found if p.series == source]
        within += inside(own, slower_share=slower, faster_share=faster, base_share=0.3)
    assert within >= 0.8 * len(found)


def test_width_of_a_range_by_hand() -> None:
    """Twenty rows that keep 0.7, so that 0.3 + 0.3 of a step may be off: two lie beyond each end. A second source needs less."""
    times = (0.4, 0.5, 0.8, *[1] * 14, 1.2, 3, 4)
    found = [Point(str(n), "s", TRAINING, "", True, time, 1.0, 0.7) for n, time in enumerate(times)]
    found += [Point(f"t{n}", "t", TRAINING, "", True, time, 1.0, 0.7) for n, time in enumerate((0.9, 1.1))]
    slower, faster = range_shares(found, base_share=0.3)
    assert slower == pytest.approx(0.2 / 0.6)
    assert faster == pytest.approx((1 / 0.8 - 1) / 0.6)
    assert inside(found, slower_share=slower + 1e-9, faster_share=faster + 1e-9, base_share=0.3) == 16 + 2
    ranges = {"slower_share": 0.2 / 0.6, "faster_share": 0.25 / 0.6, "base_share": 0.3}
    assert mean_width(found, **ranges) == pytest.approx(0.7 * 1.25 - 0.7 / 1.2)
    late = [replace(p, measured=2.0) for p in found]
    assert range_shares(late, base_share=0.3)[1] == 0, "a range holds the prediction"


@pytest.mark.parametrize("area", ITEMS)
def test_the_catalog_has_what_the_fit_gives(catalog: Catalog, area: str) -> None:
    held = catalog.assumptions[ITEMS[area]]
    for name, value in fit(catalog, area).items():
        fact = held.fact(name)
        assert fact.value == pytest.approx(float(f"{value:.3g}"), rel=1e-9), name
        assert fact.basis == "fitted"
        assert fact.low is not None and fact.high is not None and fact.low <= fact.value <= fact.high, name


@pytest.mark.parametrize("area", ITEMS)
def test_low_and_high_hold_the_fits_without_one_source(catalog: Catalog, area: str) -> None:
    held = catalog.assumptions[ITEMS[area]]
    for _, values in leave_one_out(catalog, area):
        for name in FREE[area]:
            fact = held.fact(name)
            assert fact.low is not None and fact.high is not None
            assert fact.low * 0.993 <= values[name] <= fact.high * 1.007, name


DEFAULTS: list[tuple[Any, str, dict[str, str]]] = [
    ({"usable_share": links.USABLE_SHARE}, ITEMS[TRAINING], {}),
    (GpuHosts(1, Link(1)), ITEMS[TRAINING], {}),
    (Overlap(), ITEMS[TRAINING], {}),
    (parameter_servers.OVERLAP, ITEMS[SERVERS], {}),
    (parameter_servers.parameter_server_step_s, ITEMS[SERVERS], {}),
    ({"tcp": parameter_servers.TCP_GBIT_S}, ITEMS[SERVERS], {"tcp": "server_tcp_gbit_s"}),
    (Latencies(), ITEMS[COLLECTIVE], {}),
    (remoting.Remoting(), ITEMS[COLD], {}),
    ({"usable_share": remoting.USABLE_SHARE}, ITEMS[COLD], {}),
]


@pytest.mark.parametrize(("defaults", "item", "called"), DEFAULTS)
def test_defaults_of_the_models_are_the_values_of_the_catalog(
    catalog: Catalog, defaults: Any, item: str, called: dict[str, str]
) -> None:
    """Who calls a model with plain numbers gets the same as the plan."""
    known, compared = fitted_values(catalog)[item], set()
    if callable(defaults):
        defaults = {name: p.default for name, p in inspect.signature(defaults).parameters.items()}
    elif is_dataclass(defaults):
        defaults = {field.name: getattr(defaults, field.name) for field in fields(defaults)}
    for name, value in defaults.items():
        expected = known.get(called.get(name, name))
        if expected is not None and isinstance(value, float) and name != "ready_s":
            assert value == expected, name
            compared.add(name)
    assert compared


def test_the_rate_over_tcp_is_that_of_the_catalog(catalog: Catalog) -> None:
    ring = fitted_values(catalog)[ITEMS[TRAINING]]
    given = inspect.signature(links.tcp_rate_gbit_s).parameters
    assert given["at_25_gbit_s"].default == ring["tcp_gbit_s"]
    assert given["growth"].default == ring["tcp_growth"]


def test_the_latency_of_a_step_is_that_of_the_catalog(catalog: Catalog) -> None:
    ring = fitted_values(catalog)[ITEMS[TRAINING]]
    for transport, latency in collectives.STEP_LATENCY_US.items():
        assert latency == ring["tcp_step_us" if transport == "tcp" else "rdma_step_us"]


def test_a_parameter_moved_from_its_fit_fits_worse(catalog: Catalog, predicted: dict[str, Point]) -> None:
    values = fitted_values(catalog)
    values[ITEMS[SERVERS]]["server_gbit_s"] *= 1.5
    moved = [p for p in points(catalog, values) if p.area == SERVERS and p.fitted]
    kept = [p for p in predicted.values() if p.area == SERVERS and p.fitted]
    assert sum(p.error**2 for p in moved) > 1.2 * sum(p.error**2 for p in kept)


def test_errors_by_hand() -> None:
    found = errors(
        [
            Point("a", "s", TRAINING, "", True, 1.0, 1.1),
            Point("b", "s", TRAINING, "", True, 2.0, 1.6),
            Point("c", "t", SERVERS, "", True, 0.5, 0.45),
        ]
    )
    assert [(e.area, e.rows) for e in found] == [(TRAINING, 2), (SERVERS, 1)]
    assert (found[0].mean, found[0].worst, found[0].bias) == pytest.approx((0.15, 0.2, -0.05))
    assert (found[1].mean, found[1].worst, found[1].bias) == pytest.approx((0.05, 0.05, -0.05))
    by_series = errors([Point("a", "s", TRAINING, "", True, 1.0, 1.1)], by_series=True)
    assert by_series[0].series == "s"


def test_every_parameter_has_a_prior_and_a_series_for_what_is_unstated(catalog: Catalog) -> None:
    for area, item in ITEMS.items():
        assert set(PRIORS[area]) == {*FREE[area], *UNSTATED[area].values()}
        assert all(catalog.assumptions[item].fact(name).value for name in PRIORS[area])
    series = Counter(row["series"] for row in catalog.rows("training_times"))
    for unstated in UNSTATED.values():
        assert set(unstated) <= set(series)


def test_orderings_that_were_measured_are_predicted(predicted: dict[str, Point]) -> None:
    """VGG-16 loses most, RDMA is not slower, and 16 GPUs with parameter servers are slower than one on VGG-16."""
    for way in ("gpu-horovod-tcp-nccl", "gpu-horovod-rdma-nccl"):
        kept = [
            64 / one / predicted[f"hvd16-{net}-16-{way}"].predicted
            for net, one in (("inceptionv3", 134.4), ("resnet-101", 119.4), ("vgg-16", 130.9))
        ]
        assert min(kept) == kept[2] and kept[1] < kept[0]
    for net in ("inceptionv3", "resnet-101", "vgg-16"):
        tcp, rdma = (predicted[f"hvd16-{net}-16-gpu-horovod-{by}-nccl"].predicted for by in ("tcp", "rdma"))
        assert rdma <= tcp
    assert 16 * predicted["hvd16-vgg-16-16-ps"].predicted < 1


def test_rows_called_a_copy_agree_with_what_they_copy() -> None:
    """A reason for leaving a row out has to be true of that row."""
    table = Path(__file__).parents[2] / "data" / "training_times.csv"
    with table.open(encoding="utf-8", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    called = {id: row for id, row in rows.items() if re.search("agrees within [12] %", row["note"])}
    assert called
    assert all(row["use"] == "shown" for row in called.values())
    wrong = {}
    for id, row in called.items():
        twin = rows[id.replace("100gbe", "10gbe")]
        apart = float(row["throughput_per_s"]) / float(twin["throughput_per_s"]) - 1
        if abs(apart) > 0.0105 * (2 if "within 2 %" in row["note"] else 1):
            wrong[id] = round(apart, 3)
    assert not wrong
    apart = [id for id in rows if "100gbe-tcp-bytescheduler-ps" in id]  # up to 16 % from those of 10 GbE
    assert len(apart) == 12
    assert all(rows[id]["use"] == ("held" if "large" in id else "fit") for id in apart)
