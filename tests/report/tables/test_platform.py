"""The tables of the platform agree with the plan, and add up."""

from __future__ import annotations

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.table import records, screen
from gpuplan.report.tables import plan_tables
from gpuplan.report.tables.platform import host_line, management, management_hosts
from gpuplan.scenario import from_dict


def test_the_sum_is_that_of_the_rows(example: Plan) -> None:
    table, domain = management(example), example.management
    assert domain is not None
    for name in ("vcpus", "memory_gb", "disk_gb"):
        rows = [row for row in records(table) if row["where"] == "management domain"]
        assert (
            sum(row[name] for row in rows) == getattr(domain, name) == example.lines[f"domain.{name}"].value
        )
    assert table.totals == 1 and "4 hosts needed" in table.notes[0]


def test_every_part_says_how_it_follows(example: Plan) -> None:
    for table in (host_line(example), management_hosts(example)):
        for row in records(table):
            assert row["part"] and row["size"] and row["rule"] and row["basis"]


def test_what_is_too_little_stands_out(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("cost.cores_per_socket", 16)
    drawn = screen(host_line(make_plan(scenario, catalog)))
    (short,) = [row for row in drawn["rows"] if "too little" in row[1]["text"]]
    assert short[0]["text"] == "Processors" and short[1]["tone"] == "warn"


def test_without_hosts_they_are_empty(catalog: Catalog) -> None:
    blank = plan_tables(make_plan(from_dict({}), catalog))
    assert [records(blank[name]) for name in ("host_line", "management", "management_hosts")] == [[], [], []]


def test_a_simple_domain_before_its_release_is_said(catalog: Catalog) -> None:
    for version, said in (("8.0u3", True), ("9.0", False)):
        scenario = load_scenario("starter").with_value("platform.vsphere", version)
        notes = management(make_plan(scenario.with_value("management.model", "simple"), catalog)).notes
        assert any("high availability" in note for note in notes) is said
