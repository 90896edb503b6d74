"""The tables of the network agree with the plan."""

from __future__ import annotations

from gpuplan import Plan
from gpuplan.analysis.rdma_claims import claims
from gpuplan.plan.network import carried
from gpuplan.plan.training.scaling import curves
from gpuplan.report.table import records, texts
from gpuplan.report.tables import network


def test_work_over_the_network_is_as_planned(example: Plan) -> None:
    found = records(network.remote_gpus(example))
    assert [row["kept"] for row in found] == [use.kept for use in example.network.remote]
    jobs = records(network.training(example))
    assert [row["efficiency"] for row in jobs] == [use.efficiency for use in example.network.asked]
    assert [row["rule"] for row in records(network.rules(example))] == [
        rule.text for rule in example.network.rules
    ]


def test_what_the_link_carries_is_told_for_every_work(example: Plan) -> None:
    found = carried(example.scenario, example.catalog)
    table = network.carried_work(found, 4)
    assert [row[0] for row in texts(table)] == [each.remote.name for each in found]
    assert "Training on 4 hosts" in [column.label for column in table.columns]


def test_scaling_and_claims(example: Plan) -> None:
    table = network.scaling(curves(example.scenario, example.catalog))
    assert [row["hosts"] for row in records(table)] == list(network.SHOWN_HOSTS)
    assert records(table)[0]["efficiency"] <= 1
    known = claims(example.scenario, example.catalog)
    assert [row["speedup"] for row in records(network.vendor_claims(known))] == [
        each.speedup for each in known
    ]


def test_the_fabric(plans: dict[str, Plan]) -> None:
    fabric = plans["enterprise"].cabling
    assert fabric is not None
    assert len(network.settings(fabric).rows) == len(fabric.settings)
    assert [row["part"] for row in records(network.part_failures(fabric))] == [
        each.part for each in fabric.failures
    ]
