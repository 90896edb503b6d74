"""Hardware of a host: boards are whole, and a server may be still to be chosen."""

from __future__ import annotations

import pytest

from gpuplan.catalog import Catalog
from gpuplan.plan.hardware import (
    architecture_of,
    boards,
    fit_of,
    gpus_per_board,
    has_nvswitch,
    server_of,
    sum_rates,
    vsphere_profile,
)
from gpuplan.plan.training.speed import inside_host_gb_s
from gpuplan.scenario import from_dict


@pytest.mark.parametrize(
    ("gpu", "per_host", "per_board", "needed"),
    [("t4-16gb", 4, 1, 4), ("a16-64gb", 8, 4, 2), ("a16-64gb", 12, 4, 3)],
)
def test_boards_carry_all_gpus(
    catalog: Catalog, gpu: str, per_host: int, per_board: int, needed: int
) -> None:
    scenario = from_dict({"hardware": {"gpu": gpu, "gpus_per_host": per_host}})
    assert gpus_per_board(scenario, catalog) == per_board
    assert boards(scenario, catalog) == needed
    assert boards(scenario, catalog, 2 * per_host) == 2 * needed
    assert boards(scenario, catalog, 0) == 0


@pytest.mark.parametrize(
    ("gpu", "per_host", "server", "joined"),
    [
        ("h100-sxm5-80gb", 8, "dell-xe9680", True),
        ("h100-sxm5-80gb", 4, "dell-xe8640", False),
        ("h100-pcie-80gb", 8, None, False),
        ("v100-sxm2-32gb", 8, None, False),
    ],
)
def test_nvswitch_joins_more_than_four_modules(
    catalog: Catalog, gpu: str, per_host: int, server: str | None, joined: bool
) -> None:
    scenario = from_dict({"hardware": {"gpu": gpu, "gpus_per_host": per_host, "server": server}})
    assert has_nvswitch(scenario, catalog) is joined


def test_the_server_is_the_chosen_one(catalog: Catalog) -> None:
    assert server_of(from_dict({}), catalog) is None
    chosen = server_of(from_dict({"hardware": {"server": "dell-r740xd"}}), catalog)
    assert chosen is catalog.servers["dell-r740xd"]


def test_what_a_server_takes_is_a_row_of_the_catalog(catalog: Catalog) -> None:
    fit = fit_of(catalog, "dell-r760xa", "h100-nvl-94gb")
    assert fit is not None and (fit.gpus, fit.basis, fit.whole) == (4, "measured", False)
    whole = fit_of(catalog, "dell-xe9680", "h100-sxm5-80gb")
    assert whole is not None and (whole.gpus, whole.whole) == (8, True)
    boards_of_four = fit_of(catalog, "dell-r750xa", "a16-64gb")
    assert boards_of_four is not None and boards_of_four.gpus == 16
    listed = {(row["server"], row["gpu"]): row.basis for row in catalog.rows("server_gpus")}
    for server in catalog.servers:
        for gpu in catalog.gpus:
            fit = fit_of(catalog, server, gpu)
            assert (fit.basis if fit else None) == listed.get((server, gpu))


def test_no_row_means_that_nothing_is_known(catalog: Catalog) -> None:
    for server, gpu in (
        ("dell-c4140", "a40-48gb"),
        ("dell-r760xa", "h200-nvl-141gb"),
        ("dell-xe8640", "h200-sxm5-141gb"),
        ("hpe-dl380-gen10", "v100-pcie-32gb"),
        ("dell-dss-8440", "l40-48gb"),  # as wide and as hungry as what it takes: that is no row
    ):
        assert fit_of(catalog, server, gpu) is None, (server, gpu)


def test_every_board_is_of_an_architecture_that_the_catalog_describes(catalog: Catalog) -> None:
    for gpu in catalog.gpus.values():
        assert architecture_of(catalog, gpu.id)["name"] == gpu.value("architecture")


@pytest.mark.parametrize(
    ("gpu", "profile", "called"),
    [
        ("v100-pcie-32gb", "V100D-32C", "grid_v100d-32c"),
        ("h100-nvl-94gb", "H100L-47C", "nvidia_h100l-47c"),
    ],
)
def test_profiles_are_called_as_vsphere_lists_them(
    catalog: Catalog, gpu: str, profile: str, called: str
) -> None:
    assert vsphere_profile(catalog, gpu, profile) == called


def test_sums_on_a_board_without_nvlink_are_as_measured_on_its_architecture(catalog: Catalog) -> None:
    measured = {row["gpu"] for row in catalog.rows("nccl_rates")}
    for gpu, item in catalog.gpus.items():
        boards = {row["gpu"] for row in sum_rates(catalog, gpu)}
        kind = item.value("architecture")
        if gpu in measured:
            assert boards == {gpu}
        elif item.value("nvlink_gb_s"):
            assert not boards
        else:
            assert all(catalog.gpus[other].value("architecture") == kind for other in boards)
    assert {row["gpu"] for row in sum_rates(catalog, "l40-48gb")} == {"l40s-48gb"}
    assert inside_host_gb_s(catalog, "l40-48gb", 4).basis == "derived"
    assert inside_host_gb_s(catalog, "l40-48gb", 4).value == inside_host_gb_s(catalog, "l40s-48gb", 4).value
