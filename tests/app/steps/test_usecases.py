"""Use cases: the table of groups, and the access mode of each."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.state import Workbook
from gpuplan.app.steps import demand
from gpuplan.app.steps.usecases import COLUMNS, PER_VM, access_data, demand_form, per_vm_data, table_data
from gpuplan.catalog import Catalog
from gpuplan.plan.llm import INPUTS
from gpuplan.scenario import GROUP_FIELDS


def plain(data: Any) -> Any:
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def test_the_tables_have_a_cell_for_every_input(book: Workbook) -> None:
    data = plain(table_data(book))
    elsewhere = {"workload"}  # in the network step, for groups on remote GPUs
    elsewhere |= {
        name for names in INPUTS.values() for name in names
    }  # below the row of a group with a model
    assert {*COLUMNS, *PER_VM, *demand.COLUMNS, *elsewhere} == {f.path for f in GROUP_FIELDS}
    assert [row["id"] for row in data["rows"]] == [g.id for g in book.scenario.groups]
    for row in data["rows"]:
        assert [cell["path"] for cell in row["cells"]] == [f"groups.{row['id']}.{c}" for c in COLUMNS]
    assert [row["gpus"] for row in data["rows"]] == ["12", "8", "2", "2", "4"]
    assert (data["sum"], data["sum_label"]) == ("28", "Sum of the groups, all at their peak at once")
    assert len(data["presets"]) == len(book.catalog.rows("use_cases"))
    assert all(head["question"] for head in data["heads"])


def test_the_sum_says_what_it_is_for(book: Workbook) -> None:
    book.edit("demand.rule", "hours")
    assert table_data(book)["sum_label"] == "Sum of the groups, in the busiest hours"
    book.edit("demand.rule", "wait")
    assert (table_data(book)["sum"], table_data(book)["sum_label"]) == (
        "31",
        "Sum of the groups, at the target",
    )


def test_what_else_a_vm_needs_is_in_a_second_table(book: Workbook) -> None:
    data = plain(per_vm_data(book))
    assert [head["name"] for head in data["heads"]] == list(PER_VM)
    for row, group in zip(data["rows"], book.scenario.groups, strict=True):
        assert [cell["path"] for cell in row["cells"]] == [f"groups.{group.id}.{c}" for c in PER_VM]
        assert [cell["value"] for cell in row["cells"]] == ["1", "auto", "", "", "", "1"]
        assert [row["cells"][n]["empty"] for n in (2, 3)] == ["not read", "not counted"]
    assert "not counted" in data["hint"]
    book.edit("groups.hpc.vcpus_each", "8")
    assert per_vm_data(book)["hint"] == "stated for 1 of 5 groups"
    book.edit("groups.hpc.vcpus_each", "many")
    cell = next(row for row in per_vm_data(book)["rows"] if row["id"] == "hpc")["cells"][3]
    assert (cell["value"], bool(cell["problem"])) == ("many", True)


def test_selects_offer_what_is_chosen(book: Workbook) -> None:
    for row in table_data(book)["rows"]:
        for cell in row["cells"]:
            if cell["kind"] == "select":
                assert cell["value"] in [option["value"] for option in cell["options"]]
    for field in demand_form(book)["fields"]:
        if field["kind"] == "select":
            assert field["value"] in [option["value"] for option in field["options"]]


def test_a_problem_is_beside_its_cell(book: Workbook) -> None:
    book.edit("groups.hpc.people", "many")
    cells = {c["path"]: c for row in table_data(book)["rows"] for c in row["cells"]}
    assert cells["groups.hpc.people"]["value"] == "many"
    assert cells["groups.hpc.people"]["problem"]
    assert [path for path, cell in cells.items() if cell["problem"]] == ["groups.hpc.people"]
    assert table_data(book)["stale"]


def test_a_new_group_that_cannot_be_planned_yet_is_in_the_table(book: Workbook) -> None:
    book.edit("hardware.gpus_per_host", "2")  # refused: the researchers need 4
    book.add_group("dev-test")
    row = plain(table_data(book))["rows"][-1]
    assert (row["gpus"], row["key"], row["letter"]) == ("\u2013", "", "?")
    plain(access_data(book))


def test_access_has_reasons_and_what_was_ruled_out(book: Workbook) -> None:
    data = plain(access_data(book))
    modes = {g["id"]: g["mode"] for g in data["groups"]}
    assert modes["researchers"] == "vGPU"
    assert modes["developers"] == "Bitfusion"
    for group in data["groups"]:
        assert group["possible"]
        assert group["reasons"]
        assert all(r["text"] and r["source"] for r in group["reasons"])
        assert len(group["ruled_out"]) == 3
        assert all(r["text"] and r["source"] for r in group["ruled_out"])
        assert group["traits"]
        assert group["cites"]


def test_bitfusion_servers_are_asked_about_only_with_bitfusion(book: Workbook) -> None:
    def paths() -> list[str]:
        return [field["path"] for field in plain(demand_form(book))["fields"]]

    assert "platform.bitfusion_servers" in paths()
    book.edit("platform.bitfusion", False)
    assert "platform.bitfusion_servers" not in paths()


def test_names_are_text(book: Workbook) -> None:
    book.edit("groups.hpc.name", "<script>x</script>")
    row = next(r for r in table_data(book)["rows"] if r["id"] == "hpc")
    assert row["name"] == "<script>x</script>"


def test_a_blank_design(catalog: Catalog) -> None:
    book = Workbook(catalog)
    assert plain(table_data(book))["rows"] == []
    assert plain(per_vm_data(book))["rows"] == []
    assert table_data(book)["sum"] == "0"
    assert plain(access_data(book))["groups"] == []
