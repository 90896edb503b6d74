"""Tables of power-on: what was tried, one order VM by VM, and why a VM does not start."""

from __future__ import annotations

import pytest
from approved import has_approved, is_approved
from power_on_designs import one_large_among_small

from gpuplan.analysis.power_on import thorough, watched
from gpuplan.catalog import Catalog
from gpuplan.models.placement import Family, Request
from gpuplan.models.power_on import Refusal, Rules
from gpuplan.plan import Plan, make_plan
from gpuplan.report.table import records, texts
from gpuplan.report.tables.power_on import (
    FOR_DEMAND,
    answer,
    named_orders,
    power_on,
    readings,
    refusal_words,
    settings,
    steps,
)
from gpuplan.scenario import from_dict


@pytest.fixture(scope="module")
def plan(catalog: Catalog) -> Plan:
    return one_large_among_small(catalog)


def test_every_setting_has_a_row_with_its_hosts(plan: Plan) -> None:
    made = thorough(plan.power_on["vgpu"], 500)
    table = settings([(made, {"now": 5, "consolidation": None})])
    now, consolidated = records(table)
    assert (now["setting"], now["hosts"], now["orders"]) == ("now", 5, 500)
    assert now["interval_low"] < now["chance"] <= now["chance_high"] < now["interval_high"]
    assert (consolidated["setting"], consolidated["chance"], consolidated["hosts"]) == (
        "consolidation",
        1,
        None,
    )
    words = texts(table.shown())[1]
    assert words[-1] == f"over {made.most_hosts}" and "100 %" in words
    assert "host group" in table.notes[0] and "2 hosts" in table.notes[0]
    assert FOR_DEMAND in table.notes and FOR_DEMAND not in power_on(plan).notes


def test_a_plan_shows_what_it_tried_and_nothing_where_all_vms_are_alike(plan: Plan, catalog: Catalog) -> None:
    assert [row["setting"] for row in records(power_on(plan))] == ["now", "consolidation"]
    alike = one_large_among_small(catalog, groups=[{"id": "a", "people": 6, "gpus_each": 2}])
    assert (power_on(alike).rows, power_on(alike).notes) == ((), ())


def test_readings_and_named_orders(plan: Plan) -> None:
    made = plan.power_on["vgpu"]
    assert [row["missing"] for row in records(named_orders([made]))] == [0, 1]
    rows = records(readings([made]))
    assert [row["rules"] for row in rows] == ["host-spread", "host-turn"]
    assert all(row["sources"] for row in rows)


def test_how_vsphere_is_set_stands_beside_the_answer(plan: Plan, catalog: Catalog) -> None:
    assert has_approved(answer(plan.power_on["vgpu"]))
    halves = one_large_among_small(
        catalog,
        groups=[{"id": "a", "people": 4, "gpus_each": 0.5}, {"id": "b", "people": 2, "gpus_each": 1}],
        availability={"host_failures": 1, "reserved_hosts": 1},
        platform={"gpu_policy": "spread", "drs_consolidation": True},
    )
    assert has_approved(answer(halves.power_on["vgpu"]), "1 host")


def test_settings_that_a_cluster_does_not_have_are_not_said(catalog: Catalog) -> None:
    """MIG ignores the GPU assignment policy, and DRS consolidation looks at vGPUs alone."""
    groups = [
        {"id": "a", "people": 4, "gpus_each": "1/7", "access": "mig"},
        {"id": "b", "people": 2, "gpus_each": 1, "access": "passthrough"},
    ]
    hardware = {"gpu": "h100-pcie-80gb", "gpus_per_host": 2}
    mig = make_plan(from_dict({"groups": groups, "hardware": hardware}), catalog)
    assert has_approved(answer(mig.power_on["vgpu"]))
    assert "Current settings:" not in answer(mig.power_on["passthrough"])


def test_one_order_vm_by_vm(plan: Plan) -> None:
    made = plan.power_on["vgpu"]
    play = watched(made, "smallest").play
    rows = records(steps(plan, play))
    assert [(row["host"], row["gpus"]) for row in rows] == [
        (1, (1,)),
        (2, (1,)),
        (1, (2,)),
        (2, (2,)),
        (None, ()),
    ]
    assert rows[-1]["group"] == "Researchers" and rows[-1]["profile"] == "4 GPUs"
    assert has_approved(rows[-1]["why"], "4") and not rows[0]["why"]
    assert play.at == 5


SHARE = Request("a", 1, family=Family("24C", ("24C",), ((2,),)), profile="24C")


LOCKED = ((("12C",), 3), (("6C",), 1))


@pytest.mark.parametrize(
    ("request_", "refusal", "rules", "figures"),
    [
        (
            Request("a", 1, gpus=2),
            Refusal(8, 0, 4, 0, LOCKED, 0, 0, ()),
            Rules(),
            ("2", "8 GPUs", "3", "12C", "1", "6C", "4"),
        ),
        (
            Request("a", 1, gpus=1),
            Refusal(1, 0, 1, 0, (), 0, 0, ()),
            Rules(),
            ("1 GPU", "1"),
        ),
        (
            Request("a", 1, gpus=4),
            Refusal(16, 6, 10, 0, (), 0, 3, ()),
            Rules(),
            ("4", "3", "16 GPUs", "10", "6"),
        ),
        (
            Request("a", 1, gpus=2),
            Refusal(4, 2, 2, 0, (), 0, 2, ()),
            Rules(partitions=True),
            ("2", "4 GPUs", "2", "2"),
        ),
        (
            Request("a", 1, gpus=2),
            Refusal(4, 2, 2, 0, (), 0, 2, ()),
            Rules(domain=2),
            ("2", "4 GPUs", "2", "2"),
        ),
        (
            SHARE,
            Refusal(8, 0, 1, 3, LOCKED, 0, 0, ()),
            Rules(),
            ("24C", "8 GPUs", "3", "12C", "1", "6C", "3", "1"),
        ),
        (
            SHARE._replace(shares=2),
            Refusal(2, 0, 0, 1, (), 1, 0, ()),
            Rules(),
            ("2", "24C", "2 GPUs", "1", "1"),
        ),
        (
            SHARE,
            Refusal(2, 1, 0, 1, (), 1, 1, ("CPU", "memory")),
            Rules(),
            ("2 GPUs", "1", "1"),
        ),
        (Request("a", 1, memory_gib=8), Refusal(0, 0, 0, 0, (), 0, 0, ("memory",)), Rules(), ()),
    ],
)  # fmt: skip
def test_why_it_does_not_start(
    request_: Request, refusal: Refusal, rules: Rules, figures: tuple[str, ...]
) -> None:
    assert is_approved(refusal_words(request_, refusal, rules), *figures)
