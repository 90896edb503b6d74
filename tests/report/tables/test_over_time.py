"""Tables of a rehearsal: a row a host, in the order of the upgrade, that adds up to the VMs there are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from approved import has_approved, is_approved
from power_on_designs import stated

from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.over_time.rehearsal import Rehearsed, Upgraded
from gpuplan.plan.verdict import restarts_of
from gpuplan.report.table import records, texts
from gpuplan.report.tables import over_time as tables
from gpuplan.scenario import from_dict, load_scenario


@pytest.fixture
def plan(catalog: Catalog) -> Plan:
    """The example with vGPUs of many sizes, with the defaults of vSphere, under which some VMs do not start."""
    return make_plan(stated(load_scenario("current")), catalog)


@pytest.fixture
def found(plan: Plan) -> Rehearsed:
    """Its rehearsal."""
    return plan.rehearsed["vgpu"]


def told(found: Rehearsed, upgrade: Upgraded) -> Rehearsed:
    """The same with another upgrade."""
    other = replace(found)
    vars(other)["upgrade"] = upgrade
    return other


def test_a_row_for_each_host_in_the_order_of_the_upgrade(
    plans: dict[str, Plan], plan: Plan, found: Rehearsed
) -> None:
    rows = records(tables.upgrades(plan))
    assert [row["host"] for row in rows] == list(found.upgrade.order)
    for row, turn in zip(rows, found.upgrade.turns, strict=True):
        assert row["moved"] + row["restarted"] + turn.vms("down") == len(turn.went)
        assert row["host"] not in row["to_hosts"] and row["down"] == turn.down[1]
    assert tables.upgrades(plans["starter"]).rows == ()


def test_a_host_that_is_emptied_vm_by_vm(plan: Plan, found: Rehearsed) -> None:
    turn = found.emptied(3)
    rows = texts(tables.emptied(plan, turn))
    assert is_approved(rows, "3", "3")


def test_restarts_are_told_worst_first(plan: Plan, found: Rehearsed) -> None:
    table = tables.restarts(plan)
    rows = records(table)
    assert len(rows) == found.pool.hosts and "static" not in rows[0]
    missing = [row["missing"][1] for row in rows]
    assert missing == sorted(missing, reverse=True)
    assert is_approved([column.label for column in table.keyless().columns][-2])
    pair = tables.restart(plan, found, found.failed(1, 2))
    assert texts(pair)[0][:4] == ("1, 2", "2", "0 %", "2")


def test_vms_that_stay_down_are_said_where_all_others_restart(found: Rehearsed) -> None:
    sure = found.failures[-1]._replace(chance=(1.0, 1.0), missing=(0.0, 0.0))
    for static, drawn, state in ((0, 0, "yes"), (2, 0, "static"), (0, 200, "yes")):
        other = replace(found)
        vars(other)["failures"] = (sure._replace(static=static, drawn=drawn),)
        restart = restarts_of({"": other})[""]
        assert (restart.state, restart.static, restart.drawn) == (state, static, drawn)
        assert is_approved(restart.sentence, *(f"{n}" for n in (static, drawn) if n))


def test_vms_with_static_passthrough_are_not_said_to_run_on(catalog: Catalog) -> None:
    group = {"id": "a", "people": 4, "gpus_each": 1, "access": "passthrough"}
    hardware = {"gpu": "v100-pcie-32gb", "gpus_per_host": 2}
    asked = from_dict({"groups": [group], "hardware": hardware, "platform": {"vsphere": "6.7u3"}})
    static = make_plan(asked, catalog).rehearsed["passthrough"]
    assert is_approved(tables.upgrade_sentence(static), "4 VMs")
    assert is_approved(tables.design_sentence(static))
    assert is_approved(restarts_of({"": static})[""].sentence, "2 VMs")


def test_a_week_names_its_worst_hour(plan: Plan, found: Rehearsed) -> None:
    (row,) = records(tables.weeks(plan))
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
