"""Tables of a rehearsal: a row a host, in the order of the upgrade, that adds up to the VMs there are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from approved import has_approved, is_approved
from power_on_designs import one_large_among_small

from gpuplan.analysis.power_on import thorough, watched
from gpuplan.catalog import Catalog
from gpuplan.models.placement import Family, Request
from gpuplan.models.power_on import Refusal, Rules
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.over_time.rehearsal import Rehearsed, Upgraded
from gpuplan.report.table import records, texts
from gpuplan.report.tables import over_time as tables
from gpuplan.report.tables.over_time import (
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


@pytest.fixture
def found(plans: dict[str, Plan]) -> Rehearsed:
    """The rehearsal of the example with vGPUs of many sizes."""
    return plans["current"].rehearsed["vgpu"]


def told(found: Rehearsed, upgrade: Upgraded) -> Rehearsed:
    """The same with another upgrade."""
    other = replace(found)
    vars(other)["upgrade"] = upgrade
    return other


def test_a_row_for_each_host_in_the_order_of_the_upgrade(plans: dict[str, Plan], found: Rehearsed) -> None:
    rows = records(tables.upgrades(plans["current"]))
    assert [row["host"] for row in rows] == list(found.upgrade.order)
    for row, turn in zip(rows, found.upgrade.turns, strict=True):
        assert row["moved"] + row["restarted"] + turn.vms("down") == len(turn.went)
        assert row["host"] not in row["to_hosts"] and row["down"] == turn.down[1]
    assert tables.upgrades(plans["starter"]).rows == ()


def test_a_host_that_is_emptied_vm_by_vm(plans: dict[str, Plan], found: Rehearsed) -> None:
    turn = found.emptied(3)
    rows = texts(tables.emptied(plans["current"], turn))
    assert is_approved(rows, "3", "3")


def test_restarts_are_told_worst_first(plans: dict[str, Plan], found: Rehearsed) -> None:
    table = tables.restarts(plans["current"])
    rows = records(table)
    assert len(rows) == found.pool.hosts and "static" not in rows[0]
    missing = [row["missing"][1] for row in rows]
    assert missing == sorted(missing, reverse=True)
    assert is_approved([column.label for column in table.keyless().columns][-2])
    pair = tables.restart(plans["current"], found, found.failed(1, 2))
    assert texts(pair)[0][:4] == ("1, 2", "2", "0 %", "2")


def test_vms_that_stay_down_are_said_where_all_others_restart(found: Rehearsed) -> None:
    sure = found.failures[-1]._replace(chance=(1.0, 1.0), missing=(0.0, 0.0))
    for static, drawn, said in (
        (0, 0, "HA restarts all its VMs, in any order"),
        (2, 0, "all its VMs but up to 2 VMs with static passthrough, in any order"),
        (0, 200, "in each of 200 orders tried"),
    ):
        other = replace(found)
        vars(other)["failures"] = (sure._replace(static=static, drawn=drawn),)
        assert said in tables.restart_sentence(other)


def test_vms_with_static_passthrough_are_not_said_to_run_on(catalog: Catalog) -> None:
    group = {"id": "a", "people": 4, "gpus_each": 1, "access": "passthrough"}
    hardware = {"gpu": "v100-pcie-32gb", "gpus_per_host": 2}
    asked = from_dict({"groups": [group], "hardware": hardware, "platform": {"vsphere": "6.7u3"}})
    static = make_plan(asked, catalog).rehearsed["passthrough"]
    assert is_approved(tables.upgrade_sentence(static), "4 VMs")
    assert is_approved(tables.design_sentence(static))
    assert has_approved(tables.restart_sentence(static))


def test_a_week_names_its_worst_hour(plans: dict[str, Plan], found: Rehearsed) -> None:
    (row,) = records(tables.weeks(plans["current"]))
    assert found.week is not None
    assert row["missing"] == max(found.week.missing) == found.week.missing[row["worst_hour"]]
    assert "retried every hour" in tables.week_sentence(found)


def test_the_verdict_comes_first(found: Rehearsed) -> None:
    assert has_approved(tables.upgrade_sentence(found), "2 VMs")
    works = told(found, found.upgrade._replace(works=True, turns=found.upgrade.turns[:1]))
    assert found.not_started[1] and is_approved(tables.upgrade_sentence(works), "2 VMs", "10")
    none = told(found, works.upgrade._replace(down=(0, 0)))
    assert has_approved(tables.upgrade_sentence(none))
    impossible = told(found, found.upgrade._replace(proven=True, down=(1, 1)))
    assert has_approved(tables.upgrade_sentence(impossible), "1 VM")
    assert has_approved(tables.upgrade_sentence(impossible))
    assert has_approved(tables.start_sentence(found), "24")
    assert has_approved(tables.design_sentence(found))


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
        platform={"drs_consolidation": True},
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
