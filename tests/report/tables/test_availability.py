"""The tables of availability: what the loss of a host does and leaves, and what each posture takes."""

from __future__ import annotations

from gpuplan import load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.table import records
from gpuplan.report.tables import availability as tables


def test_what_losses_do_and_leave_is_that_of_the_plan(catalog: Catalog) -> None:
    """28 GPUs on seven hosts of four and a spare one: any one is lost without a loss, any two are not."""
    plan = make_plan(load_scenario("enterprise"), catalog)
    (pool,) = plan.pools
    left = records(tables.losses(plan))
    assert [(row["hosts_down"], row["gpus_left"], row["fits"]) for row in left][:3] == [
        (0, 32, True),
        (1, 28, True),
        (2, 24, False),
    ]
    lost = records(tables.failures(plan))
    assert sum(row["hosts_alike"] for row in lost) == pool.hosts == 8
    assert not any(row["vms_not_placed"] for row in lost)
    cells = tables.lost_hosts(pool, pool.failures[:1], traced=True).rows[0]
    assert cells[1].line == f"pools.{pool.id}.failure.{pool.failures[0].hosts[0]}"


def test_each_posture_has_its_row_and_one_is_planned(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("starter"), catalog)
    rows = tables.postures(plan).rows
    assert len(rows) == len(plan.postures)
    assert sum(posture.chosen for posture in plan.postures) == 1
