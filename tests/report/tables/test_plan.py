"""The tables of a plan agree with it, and a column added to one of them is wherever the table is."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from approved import is_approved

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report import plan_text
from gpuplan.report.exported import csv_text
from gpuplan.report.table import Column, Table, records, screen, texts
from gpuplan.report.tables import TABLES, gpu_rows, plan_frames, plan_tables
from gpuplan.report.tables import plan as topic
from gpuplan.report.tables.cost import cost_by_group
from gpuplan.report.tables.plan import equipment, hosts, placement
from gpuplan.report.text import text
from gpuplan.scenario import UNASSIGNED, from_dict
from gpuplan.wording import said


def test_every_gpu_of_every_host_is_listed(example: Plan) -> None:
    for pool in example.pools:
        vms: set[tuple[str, int]] = set()
        for host in range(1, pool.hosts + 1):
            rows = gpu_rows(pool, host)
            assert [row["gpu"] for row in rows] == list(range(1, pool.gpus_per_host + 1))
            vms |= {(vm["group"], vm["vm"]) for row in rows for vm in row["vms"]}
        for group in example.groups:
            if group.pool == pool.id:
                assert {vm for g, vm in vms if g == group.id} == set(range(1, group.vms_placed + 1))


def test_tables_agree_with_the_plan(example: Plan) -> None:
    tables = plan_tables(example)
    for table in tables.values():
        assert len({column.key for column in table.columns}) == len(table.columns)
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert len(texts(table)) == len(table.rows)
    assert [row["group"] for row in records(tables["groups"])] == [g.name for g in example.groups]
    assert sum(row["hosts"] for row in records(tables["pools"])) == example.totals.hosts
    assert sum(row["hosts_alike"] for row in records(tables["failures"])) == example.totals.hosts
    assert len(tables["postures"].rows) == len(example.postures) == 3
    assert len(tables["lines"].rows) == len(example.lines)
    assert len(tables["decisions"].rows) == len(example.decisions)
    totals = {row["figure"]: row["value"] for row in records(tables["totals"])}
    assert totals["Hosts"] == example.totals.hosts
    assert totals["GPUs after a failure"] == example.totals.gpus_after_failure


def test_a_stated_total_alone_speaks_of_no_group(catalog: Catalog) -> None:
    """ "4 x Not assigned to a group with a GPU" stood on every host, and one line of cost was by group."""
    plan = make_plan(from_dict({"demand": {"stated_gpus": 3}}), catalog)
    assert is_approved(hosts(plan, plan.pools, 10).rows[0][7], "3")
    assert not cost_by_group(plan).rows


def test_gpus_of_no_group_have_a_name(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"demand": {"stated_gpus": 3}}), catalog)
    assert {row["group"] for row in records(placement(plan))} == {said("table.groups.stated total")}
    assert {vm["group"] for row in gpu_rows(plan.pools[0], 1) for vm in row["vms"]} == {UNASSIGNED}


def test_frames(catalog: Catalog) -> None:
    pandas = pytest.importorskip("pandas")
    plan = make_plan(load_scenario("enterprise"), catalog)
    frames, tables = plan_frames(plan), plan_tables(plan)
    assert set(frames) == set(tables)
    assert all(isinstance(frame, pandas.DataFrame) for frame in frames.values())
    assert frames["pools"]["hosts"].sum() == 8
    assert frames["placement"]["host"].max() == 7  # the eighth is empty
    for name, frame in frames.items():
        assert len(frame) == len(records(tables[name]))


def test_a_column_more_is_wherever_the_table_is(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    before = topic.groups

    def with_desks(plan: Plan) -> Table:
        table = before(plan)
        desks = (group.people for group in plan.scenario.groups)
        return replace(
            table,
            columns=(*table.columns, Column("desks", "Desks", "number")),
            rows=tuple((*row, count) for row, count in zip(table.rows, desks, strict=True)),
        )

    monkeypatch.setitem(TABLES, "groups", with_desks)
    plan = plans["enterprise"]
    wanted = [group.people for group in plan.scenario.groups]
    assert "Desks" in " ".join(text(plan_tables(plan)["groups"]).split())
    table = plan_tables(plan)["groups"]
    assert [row["desks"] for row in records(table)] == wanted
    assert [int(row["desks"]) for row in csv.DictReader(io.StringIO(csv_text(table)))] == wanted
    assert list(plan_frames(plan)["groups"]["desks"]) == wanted
    assert screen(table)["heads"][-1]["text"] == "Desks"
    assert plan_text(plan)


def test_what_the_hosts_of_a_cluster_are(catalog: Catalog) -> None:
    """Each host has what it has: two of 2 and one of 6 that are there, and new ones of 4."""
    hardware = {"gpu": "l40s-48gb", "gpus_per_host": 4, "server": "dell-r750xa", "existing": "2 x 2; 1 x 6"}
    plan = make_plan(from_dict({"groups": [{"id": "a", "people": 18}], "hardware": hardware}), catalog)
    (pool,) = plan.pools
    new = f"{pool.hosts - 3} x {catalog.servers['dell-r750xa'].name} with 4 L40S"
    assert is_approved(equipment(plan, pool), "2", "2 GPUs", "1", "6 GPUs", new)
    assert sum(room.gpus for room in pool.rooms) == 2 * 2 + 6 + 4 * (pool.hosts - 3) == plan.totals.gpus
    (row,) = texts(plan_tables(plan)["pools"])
    assert "2, 4, 6" in row
    assert f"{pool.name}: {equipment(plan, pool)}" in plan_text(plan)


def test_vms_without_a_gpu_stand_on_a_host_without_one(catalog: Catalog) -> None:
    hardware = {
        "gpu": "l40s-48gb",
        "gpus_per_host": 4,
        "vcpus_per_host": 64,
        "other_vms": "Web: 12 x 2 vCPUs",
    }
    group = {"id": "a", "people": 4, "vcpus_each": 4}
    plan = make_plan(from_dict({"groups": [group], "hardware": hardware}), catalog)
    shown = plan_text(plan)
    assert "12 x Web without a GPU" in shown and "0 GPUs" not in shown.partition("Hosts, capacity")[0]


def test_a_cluster_of_hosts_already_there_alone_names_no_new_one(catalog: Catalog) -> None:
    hardware = {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": "3 x 2"}
    plan = make_plan(from_dict({"groups": [{"id": "a", "people": 3}], "hardware": hardware}), catalog)
    assert equipment(plan, plan.pools[0]) == "3 x 2 GPUs (existing)"
