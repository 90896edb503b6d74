"""Rows of the low-level design: a design has those that it needs, and none of what it lacks."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from infrastructure_designs import scenarios
from kinds_of_hosts import design
from site_designs import two_sites

from gpuplan import Plan, load_catalog, make_plan
from gpuplan.deliver.document.blocks import Draft
from gpuplan.deliver.document.chapters import ROWS as CHAPTER_ROWS
from gpuplan.deliver.document.chapters import Chapter, chapter_of
from gpuplan.facts import data_root, own_rows
from gpuplan.plan.weighing import listed
from gpuplan.report.site import checklist
from gpuplan.report.tables.acceptance import CELLS, ROWS, _facts, design_rows
from gpuplan.scenario import Scenario, from_dict

TENANTS = {
    "groups": [
        {"id": name, "people": 4, "access": "passthrough", "tenant": name} for name in ("red", "blue")
    ],
    "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
    "availability": {"tenants_apart": "host"},
}
NOTHING = from_dict({})
DESIGNS: dict[str, Scenario] = {
    **{name: each for name, each in scenarios().items() if name in (
        "starter", "enterprise", "current", "assistant", "sites", "vsan", "all-pods", "supervisor", "passthrough"
    )},
    "two sites": two_sites(8, 4),
    "kinds": from_dict(design()),
    "tenants": from_dict(TENANTS),
    "owned": from_dict({**TENANTS, "cost": {"platform_licence": "vvf"}}),
}  # fmt: skip
NEEDS = {
    "NSX|overlay|SDDC": "vcf",
    "Edge|BGP|edges": "edges",
    "Supervisor|Kubernetes": "supervisor",
    "namespace|GPU Operator|(?<!VMs and )pods? ": "kubernetes",
    "Bitfusion": "bitfusion",
    "vGPU|licence server": "vgpu",
    "RDMA|RoCE": "rdma",
    "vSAN": "vsan",
    "tenant": "tenants",
}
"""Words of a feature -> the fact of a design that has it."""
MENTIONED = {
    ("build_order", "management"),
    ("startup", "storage"),
    ("prerequisites", "owned"),
    ("nsx", "tier-1"),
    ("nsx", "no-edges"),
    ("supervisor", "edges"),
    ("backup", "switches"),
}
"""Rows that name a feature which the design need not have."""


@cache
def plan_of(name: str) -> Plan:
    return make_plan(DESIGNS[name], load_catalog())


def marks(chapters: list[Chapter]) -> set[str]:
    """What stands in angle brackets."""
    return set(re.findall("\u2039([^\u203a]*)\u203a", repr(chapters)))


def test_every_row_has_a_source_or_says_how_it_is_known() -> None:
    sources = load_catalog().sources
    keys = [(row["table"], row["id"]) for row in own_rows("words/design_rows")]
    assert len(keys) == len(set(keys)) and all(all(key) for key in keys)
    for row in own_rows("words/design_rows"):
        named = row["sources"].split()
        assert all("/" in name or name in sources for name in named) and row["when"], row
        strong = any("/" in name or sources[name].tier != "practitioner" for name in named)
        assert row["basis"] in (
            ["published", "assumed"] if strong else ["assumed"] if named else ["derived", "assumed"]
        ), row


def test_conditions_and_fields_are_facts_of_a_design() -> None:
    facts = {"no fact": None} | dict.fromkeys(("vcf", "vsan", "edges")) | dict(_facts(plan_of("all-pods")))
    for row in own_rows("words/design_rows"):
        assert {name.removeprefix("not ") for name in listed(row["when"])} <= facts.keys(), row
        fields = (field for key in CELLS for _, field, _, _ in Formatter().parse(row[key]) if field)
        assert all(re.split(r"[.\[]", field)[0] in facts for field in fields), row


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_has_no_row_of_what_it_lacks(name: str) -> None:
    plan = plan_of(name)
    facts = _facts(plan)
    assert bool(design_rows("nsx", plan).rows) == bool(facts.get("vcf"))
    assert bool(design_rows("supervisor", plan).rows) == bool(facts["supervisor"])
    for table in ROWS.keys() - {"cluster_settings", "upgrade_order", "acceptance"}:
        rows = design_rows(table, plan).rows
        assert rows or table in ("nsx", "supervisor"), table
        told = {" ".join(str(getattr(cell, "value", cell)) for cell in row[:-1]) for row in rows}
        kept = {row["id"]: row for row in ROWS[table] if (table, row["id"]) in MENTIONED}
        for words, fact in NEEDS.items():
            if not facts.get(fact):
                known = {row["a"] for row in kept.values()}
                named = {
                    text for text in told if re.search(words, text) and not any(a in text for a in known)
                }
                assert not named, (table, fact, named)


@pytest.mark.parametrize("name", DESIGNS)
def test_one_checklist_has_every_mark(name: str) -> None:
    plan = plan_of(name)
    draft = Draft(plan)
    chapters = [
        chapter_of(title, draft)
        for title in CHAPTER_ROWS
        if title.partition(".")[0] not in ("brief", "cost", "document", "risks")
    ]
    assert all(section.blocks for chapter in chapters for section in chapter.sections)
    assert marks(chapters) <= {row.number for row in checklist(plan)}


def test_a_design_without_hosts_has_none_of_these_chapters() -> None:
    plan = make_plan(NOTHING, load_catalog())
    assert not any(design_rows(table, plan).rows for table in ROWS)


@pytest.mark.parametrize("path", sorted((data_root() / "words").glob("*.csv")), ids=lambda path: path.stem)
def test_no_row_of_words_has_more_cells_than_heads(path: Path) -> None:
    """A text with a comma and without quotes would lose its end."""
    with path.open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    assert not [row for row in rows if len(row) != len(heads)]
