"""The design as text for a terminal."""

from __future__ import annotations

from approved import has_approved

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import fail_hosts
from gpuplan.report import failure_dict, failure_text
from gpuplan.report.plan_report import plan_text
from gpuplan.report.tables import plan_tables
from gpuplan.report.text import text as text_of
from gpuplan.report.topic_reports import demand_text
from gpuplan.scenario import from_dict
from gpuplan.wording import PAGE_WIDTH


def test_the_design_is_readable(example: Plan) -> None:
    text = plan_text(example)
    for heading in ("Workloads", "Why this access mode", "Design decisions", "Messages"):
        assert f"\n{heading}\n{'-' * len(heading)}\n" in text
    assert text.startswith(f"{example.scenario.name}\n=====")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert max(map(len, text.splitlines())) <= PAGE_WIDTH.get() + 20
    assert "None" not in text
    assert "{" not in text
    for group in example.groups:
        assert group.name in text
    for decision in example.decisions:
        assert f"({decision.number})" in text


def test_the_answer_comes_first(plans: dict[str, Plan]) -> None:
    head = plan_text(plans["enterprise"]).split("Workloads\n---")[0]
    assert has_approved(head, "8", "7", "1")
    assert has_approved(head, "32", "28")
    assert has_approved(head, "28", "1 host")


def test_many_hosts_are_counted_by_what_stands_on_them(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"groups": [{"id": "a", "people": 400}]}), catalog)
    table = plan_text(plan).partition("Hosts  VMs on the host")[2].partition("\n\n")[0]
    rows = [line.split() for line in table.splitlines()[1:]]
    assert [(hosts, *said[:1], free) for hosts, *said, free in rows] == [
        ("50", "4", "0"),
        ("1", "Failover", "4"),
    ]
    assert has_approved(plan_text(plan), "1", "2")
    assert 2 * sum(int(hosts) for hosts, *_ in rows) == plan.totals.hosts == 102


def test_a_blank_design(catalog: Catalog) -> None:
    text = plan_text(make_plan(from_dict({"name": "Blank", "customer": "A & B"}), catalog))
    assert text.startswith("Blank for A & B\n")
    assert "No workloads yet" in text


def test_names_are_text(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"groups": [{"id": "a", "name": "{x} <b>%s</b>"}]}), catalog)
    assert "{x} <b>%s</b>" in plan_text(plan)


def test_plan_tables_as_text(example: Plan) -> None:
    for table in plan_tables(example).values():
        shown = text_of(table)
        assert shown.splitlines()[0].split("  ")[0].strip() == table.shown().columns[0].label
        assert len(shown.splitlines()) >= len(table.rows) + 1


def test_postures_say_where_maintenance_itself_is_too_much(plans: dict[str, Plan]) -> None:
    rows = (
        plan_text(plans["enterprise"])
        .partition("Hosts, capacity shortfall and exposure a year")[2]
        .splitlines()
    )
    none, one, two = (next(row for row in rows if row.startswith(f"N+{n}")) for n in range(3))
    assert none.split()[-3:] == ["112", "h", "short"]
    assert " ".join(one.split()[1:]) == "(chosen) 8 32 2.2 h 128 h 5.4 %"
    assert two.split()[-3:] == ["none", "0.15", "%"]


def test_waiting_is_said_where_demand_is_discussed(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    assert has_approved(plan_text(plan))
    assert "0.39 %" not in plan_text(plan)
    said = " ".join(demand_text(plan).split())
    assert has_approved(said, "0.39 %", "55 %", "1 host")


def test_every_vm_of_a_lost_host_is_named_with_its_new_host(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    (pool,) = plan.pools
    outcome = fail_hosts(plan, pool.id, [1])
    data = failure_dict(plan, pool, (1,), outcome)
    on_it = {(slot.group, slot.vm) for load in pool.placement[0] for slot in load.slots}
    names = {plan.group(group).name for group, _ in on_it}
    assert len(data["vms"]) == len(on_it) and {row["group"] for row in data["vms"]} == names
    assert all(row["what"] == "restarts" and 2 <= row["to_host"] <= 8 for row in data["vms"])
    text = failure_text(plan, pool, (1,), outcome)
    assert has_approved(text, "1") and "other clusters" not in text


def test_a_vm_without_a_place_has_no_host(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    outcome = fail_hosts(plan, plan.pools[0].id, [1, 2, 3])
    rows = failure_dict(plan, plan.pools[0], (1, 2, 3), outcome)["vms"]
    missing = [row for row in rows if row["what"] == "has no GPU"]
    assert len(missing) == len(outcome.unplaced) > 0
    assert all(row["to_host"] is None for row in missing)
