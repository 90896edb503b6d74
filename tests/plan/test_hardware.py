"""Hardware of a host: boards are whole, and a server may be still to be chosen."""

from __future__ import annotations

import pytest

from gpuplan.catalog import Catalog
from gpuplan.plan.hardware import boards, gpus_per_board, server_of
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


def test_the_server_is_the_chosen_one(catalog: Catalog) -> None:
    assert server_of(from_dict({}), catalog) is None
    chosen = server_of(from_dict({"hardware": {"server": "dell-r740xd"}}), catalog)
    assert chosen is catalog.servers["dell-r740xd"]
