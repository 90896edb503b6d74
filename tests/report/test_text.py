"""The design and the catalog as text for a terminal."""

from __future__ import annotations

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.tables import plan_tables
from gpuplan.report.text import WIDTH, catalog_text, plan_text, table, table_text, wrapped
from gpuplan.scenario import from_dict


def test_the_design_is_readable(example: Plan) -> None:
    text = plan_text(example)
    for heading in ("Groups", "Why this access mode", "Design decisions", "Messages"):
        assert f"\n{heading}\n{'-' * len(heading)}\n" in text
    assert text.startswith(f"{example.scenario.name}\n=====")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert max(map(len, text.splitlines())) <= WIDTH + 20
    assert "None" not in text
    assert "{" not in text
    for group in example.groups:
        assert group.name in text
    for decision in example.decisions:
        assert f"({decision.number})" in text


def test_the_answer_comes_first(plans: dict[str, Plan]) -> None:
    head = plan_text(plans["enterprise"]).split("Groups")[0]
    assert "Hosts           8  (7 for the demand + 1 for failure and maintenance)" in head
    assert "GPUs            32  (28 after failure)" in head


def test_long_designs_are_cut_in_the_middle(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"groups": [{"id": "a", "people": 400}]}), catalog)
    text = plan_text(plan)
    assert "Host 12 " in text
    assert "Host 13 " not in text
    assert "Host 101" in text
    assert "77 more hosts" in text  # 101 - 24


def test_a_blank_design(catalog: Catalog) -> None:
    text = plan_text(make_plan(from_dict({"name": "Blank", "customer": "A & B"}), catalog))
    assert text.startswith("Blank for A & B\n")
    assert "Nobody asks for a GPU yet" in text


def test_names_are_text(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"groups": [{"id": "a", "name": "{x} <b>%s</b>"}]}), catalog)
    assert "{x} <b>%s</b>" in plan_text(plan)


def test_plan_tables_as_text(example: Plan) -> None:
    for name in plan_tables(example):
        text = table_text(example, name)
        columns, rows = plan_tables(example)[name]
        assert text.splitlines()[0].split("  ")[0].strip() == columns[0].replace("_", " ")
        assert len(text.splitlines()) >= len(rows) + 1


def test_the_catalog(catalog: Catalog) -> None:
    text = catalog_text(catalog)
    assert catalog.digest in text
    for name in ("gpus", "servers", "profiles", "rules", "access_reasons", "sources"):
        assert f"\n{name} " in text
    for gpu in catalog.gpus.values():
        assert gpu.id in text


@pytest.mark.parametrize(
    "name", ["gpus", "servers", "nics", "switches", "vsphere", "products", "assumptions"]
)
def test_a_table_of_facts(catalog: Catalog, name: str) -> None:
    text = catalog_text(catalog, name)
    for item in catalog.items(name).values():
        assert f"[{name}/{item.id}]" in text
    for fact in next(iter(catalog.items(name).values())).facts.values():
        assert fact.sources[0] in text


@pytest.mark.parametrize(
    "name",
    [
        "use_cases",
        "profiles",
        "rules",
        "modes",
        "components",
        "access_reasons",
        "mig_placements",
        "vgpu_placements",
    ],
)
def test_a_table_of_rows(catalog: Catalog, name: str) -> None:
    text = catalog_text(catalog, name)
    for row in catalog.rows(name):
        assert row.key in text
        assert row.sources[0] in text


def test_sources(catalog: Catalog) -> None:
    text = catalog_text(catalog, "sources")
    assert all(source in text for source in catalog.sources)


def test_a_search(catalog: Catalog) -> None:
    text = catalog_text(catalog, "v100")
    assert "Tesla V100 PCIe 32GB  [gpus/v100-pcie-32gb]" in text
    assert "Other tables" in text
    assert catalog_text(catalog, "V100") == text
    assert catalog_text(catalog, "no such thing at all") == ""
    rule = catalog_text(catalog, "bitfusion-server-count")
    assert "rules/bitfusion-server-count" in rule
    assert "vmware-bitfusion-4.0-install-guide" in rule


def test_tables_are_aligned() -> None:
    text = table(
        ("Name", "Count", "Text"), [("a", "1", "x"), ("long name", "1000", "word " * 40)], right=(1,)
    )
    lines = text.splitlines()
    assert lines[0] == "Name       Count  Text"
    assert lines[1] == "a              1  x"
    assert all(len(line) <= WIDTH for line in lines)
    assert lines[-1].startswith(" " * 18)
    assert table(("", ""), []) == ""


def test_wrapping() -> None:
    assert wrapped("word " * 50, "  ").splitlines()[1].startswith("    word")


def test_postures_say_where_maintenance_itself_is_too_much(plans: dict[str, Plan]) -> None:
    rows = plan_text(plans["enterprise"]).partition("Hosts, and hours a year at risk")[2].splitlines()
    none, one, two = (next(row for row in rows if row.startswith(f"N+{n}")) for n in range(3))
    assert none.split()[-3:] == ["112", "h", "short"]
    assert " ".join(one.split()[1:]) == "(chosen) 8 32 2.2 h 128 h 5.4 %"
    assert two.split()[-3:] == ["none", "0.15", "%"]


def test_the_chance_to_wait_is_said_where_somebody_asks(catalog: Catalog) -> None:
    text = plan_text(make_plan(load_scenario("enterprise"), catalog))
    assert "Chance to wait  0.39 %  (55 % after failure; in the busiest hours)" in text
    assert "Chance to wait" not in plan_text(make_plan(from_dict({}), catalog))
