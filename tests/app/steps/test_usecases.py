"""Workloads: their rows, the inputs of the one that is open, and the access mode of each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps.usecases import stated_data, workloads_data
from gpuplan.catalog import Catalog

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.steps import demand
from gpuplan.app.steps.usecases import (
    PER_VM,
    SIZED_FOR,
    access_data,
    demand_form,
    per_vm_data,
)
from gpuplan.report.workloads import KIND_NAMES
from gpuplan.scenario import GROUP_FIELDS


def plain(data: Any) -> Any:
    assert json.loads(json.dumps(data, allow_nan=False)) == json.loads(json.dumps(data))
    return json.loads(json.dumps(data))


def opened(book: Workbook, group: str) -> dict[str, Any]:
    """What stands in a workload that is open."""
    if book.workload != group:
        book.open_workload(group)
    row = next(row for row in plain(workloads_data(book))["rows"] if row["id"] == group)
    found: dict[str, Any] = row["open"]
    return found


def cells(book: Workbook, group: str) -> dict[str, dict[str, Any]]:
    """The inputs of a workload that is open, by their names."""
    found = opened(book, group)
    return {field["path"].rpartition(".")[2]: field for field in (*found["fields"], *found["more"])}


def test_every_input_of_a_group_has_a_place(book: Workbook) -> None:
    for use_case in ("llm-serving", "fine-tuning", "rag", "high-end-training", "dev-test"):
        book.add_group(use_case)
    elsewhere = {*PER_VM, *demand.COLUMNS, "workload"}  # on tabs of their own, and in the network step
    shown = {name for group in book.scenario.groups for name in cells(book, group.id)}
    assert {f.path for f in GROUP_FIELDS} - shown == (elsewhere | {"hosts"}) - shown
    for key, value in (("name", "Serving"), ("gpus_per_host", "4"), ("gpu", "h200-nvl-141gb")):
        book.edit(f"hardware.kinds.1.{key}", value)
    assert "hosts" in cells(book, book.scenario.groups[0].id)  # of a design with several kinds of hosts
    assert {"people", "hours", "access", "remote_allowed", "model", "peakedness", "documents"} <= shown


def test_a_workload_is_a_row_and_one_is_open(book: Workbook) -> None:
    data = plain(workloads_data(book))
    assert [row["id"] for row in data["rows"]] == [g.id for g in book.scenario.groups]
    assert [row["gpus"] for row in data["rows"]] == ["12", "8", "2", "2", "4"]
    assert [row["open"] for row in data["rows"]] == [None] * 5
    book.open_workload("hpc")
    book.open_workload("developers")
    assert [row["id"] for row in workloads_data(book)["rows"] if row["open"]] == ["developers"]
    book.open_workload("developers")
    assert not any(row["open"] for row in workloads_data(book)["rows"])


def test_a_row_says_who_what_and_how(book: Workbook) -> None:
    rows = {row["id"]: row for row in plain(workloads_data(book))["rows"]}
    first, second = rows["data-scientists"]["words"]
    assert [(piece["text"], piece["strong"]) for piece in first] == [
        ("32 users", True),
        ("50 % concurrent", True),
    ]
    assert [piece["text"] for piece in second] == ["16 VMs"]
    assert rows["data-scientists"]["gets"] == ["16 \u00d7 1/2 GPU", "Bitfusion"]
    assert rows["researchers"]["gets"] == ["3 \u00d7 4 GPUs", "V100D-32C"]
    book.edit("groups.data-scientists.people", "8")
    book.edit("groups.data-scientists.hours", "09:00-18:00")
    book.edit("groups.data-scientists.sites", "Bangalore 5, Austin 3")
    row = next(row for row in plain(workloads_data(book))["rows"] if row["id"] == "data-scientists")
    words = [[piece["text"] for piece in line] for line in row["words"]]
    assert is_approved(words, "8 users", "50 % concurrent", "4 VMs", "09:00–18:00")


def test_seven_kinds_and_the_others_can_be_added(book: Workbook) -> None:
    data = plain(workloads_data(book))
    assert [kind["name"] for kind in data["kinds"]] == list(KIND_NAMES.values())
    listed = {kind["id"] for kind in (*data["kinds"], *data["more_kinds"])}
    assert listed == {row.id for row in book.catalog.rows("use_cases")}
    for kind in data["kinds"]:
        book.add_group(kind["id"])
        assert opened(book, book.workload)["fields"], "what was added is open"


def test_what_a_design_is_sized_for_is_asked_first(catalog: Catalog) -> None:
    book = Workbook(catalog)
    fields = plain(workloads_data(book))["sized_for"]
    assert [field["path"] for field in fields] == list(SIZED_FOR)
    assert all(field["assumed"] for field in fields if field["value"])
    book.edit("hardware.gpu", "h100-nvl-94gb")
    assert not workloads_data(book)["sized_for"][0]["assumed"]


def test_what_fits_the_board_is_first_and_the_rest_says_why(book: Workbook) -> None:
    def servers() -> list[dict[str, Any]]:
        return plain(workloads_data(book))["sized_for"][1]["options"]

    fitting = [bool(option.get("why")) for option in servers()]
    assert fitting == sorted(fitting) and {True, False} == {*fitting}
    assert plain(workloads_data(book))["fit"]["text"].startswith(
        f"{fitting.count(False) - 1} of {len(fitting) - 1}"
    )
    book.edit("hardware.server", "")
    book.edit("hardware.gpu", "h100-sxm5-80gb")
    off = [option for option in servers() if option.get("off")]
    assert off == servers()[-len(off) :] and any("SXM5" in option["why"] for option in off)
    book.edit("hardware.server", off[0]["value"])
    assert "hardware.server" in {problem.path for problem in book.refused}
    chosen = next(option for option in servers() if option.get("why") and not option.get("off"))
    book.edit("hardware.server", chosen["value"])
    assert not book.refused and plain(workloads_data(book))["fit"]["text"] == chosen["why"]


def test_what_else_a_vm_needs_is_in_a_second_table(book: Workbook) -> None:
    data = plain(per_vm_data(book))
    assert [head["name"] for head in data["heads"]] == list(PER_VM)
    for row, group in zip(data["rows"], book.scenario.groups, strict=True):
        assert [cell["path"] for cell in row["cells"]] == [f"groups.{group.id}.{c}" for c in PER_VM]
        assert [cell["value"] for cell in row["cells"]] == ["1", "auto", "", "", "", "1"]
        assert [row["cells"][n]["empty"] for n in (2, 3)] == ["not measured", "not counted"]
    assert "not counted" in data["hint"]
    book.edit("groups.hpc.vcpus_each", "8")
    assert is_approved(per_vm_data(book)["hint"], "1", "5 workloads")
    book.edit("groups.hpc.vcpus_each", "many")
    cell = next(row for row in per_vm_data(book)["rows"] if row["id"] == "hpc")["cells"][3]
    assert (cell["value"], bool(cell["problem"])) == ("many", True)


def test_selects_offer_what_is_chosen(book: Workbook) -> None:
    inputs = [*workloads_data(book)["sized_for"], *demand_form(book)["fields"]]
    for group in book.scenario.groups:
        inputs += cells(book, group.id).values()
    for field in inputs:
        if field["kind"] == "select":
            assert field["value"] in [option["value"] for option in field["options"]], field["path"]


def test_a_problem_is_beside_its_input_and_its_row_is_marked(book: Workbook) -> None:
    book.edit("groups.hpc.people", "many")
    found = cells(book, "hpc")
    assert [name for name, cell in found.items() if cell["problem"]] == ["people"]
    assert found["people"]["value"] == "many"
    book.open_workload("developers")
    assert [row["id"] for row in workloads_data(book)["rows"] if row["error"]] == ["hpc"]
    assert workloads_data(book)["stale"]


def test_a_new_group_that_cannot_be_planned_yet_is_in_the_list(book: Workbook) -> None:
    book.edit("hardware.gpus_per_host", "2")  # refused: the researchers need 4
    book.add_group("dev-test")
    row = plain(workloads_data(book))["rows"][-1]
    assert (row["gpus"], row["key"], row["letter"]) == ("\u2013", "", "?")
    assert row["open"]["fields"] and not row["open"]["figures"]
    plain(access_data(book))


def test_reasons_of_access_are_said_once(book: Workbook) -> None:
    data = plain(access_data(book))
    modes = {g["id"]: g["mode"] for g in data["groups"]}
    assert (modes["researchers"], modes["developers"]) == ("vGPU", "Bitfusion")
    for part in ("reasons", "against"):
        said = [reason["text"] for why in data["why"] for reason in why[part]]
        assert len(said) == len(set(said))
    for group in book.plan.groups:
        mine = [why for why in data["why"] if group.id in why["held"]]
        assert {r["text"] for why in mine for r in why["reasons"]} == {r.text for r in group.reasons}
        assert {r["text"] for why in mine for r in why["against"]} == {r.text for r in group.against}
        out = [each for each in data["ruled_out"] if group.id in each["held"]]
        assert len(out) == 3
        kept = {(t["feature"], t["text"]) for t in data["traits"] if group.id in t["held"]}
        assert kept == {(t.feature, t.text) for t in group.traits}
    assert all(why["cites"] for why in data["why"])
    assert all(each["text"] and each["source"] for each in data["ruled_out"])
    both = next(why for why in data["why"] if set(why["held"]) == {"data-scientists", "developers"})
    assert both["reasons"], "a fraction of the memory, for both of them"


def test_bitfusion_servers_are_asked_about_only_with_bitfusion(book: Workbook) -> None:
    def paths() -> list[str]:
        return [field["path"] for field in plain(demand_form(book))["fields"]]

    assert "platform.bitfusion_servers" in paths()
    book.edit("platform.bitfusion", False)
    assert "platform.bitfusion_servers" not in paths()


def test_names_are_text(book: Workbook) -> None:
    book.edit("groups.hpc.name", "<script>x</script>")
    row = next(r for r in workloads_data(book)["rows"] if r["id"] == "hpc")
    assert row["name"] == "<script>x</script>"


def test_a_blank_design(catalog: Catalog) -> None:
    book = Workbook(catalog)
    assert plain(workloads_data(book))["rows"] == []
    assert plain(per_vm_data(book))["rows"] == []
    assert plain(access_data(book))["groups"] == []


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("enterprise"))


def shown(book: Workbook) -> dict[str, Any]:
    data = stated_data(book)
    assert data is not None
    assert workloads_data(book)["stated"] == data
    return data


def take(book: Workbook, at: str) -> None:
    way = next(way for way in shown(book)["ways"] if way["at"] == at)
    book.edit(way["path"], way["value"])


def test_both_are_said_and_either_is_a_click_away(book: Workbook) -> None:
    assert is_approved(shown(book)["text"], "28 GPUs")
    book.edit("groups.data-scientists.people", "64")
    data = shown(book)
    assert is_approved(data["text"], "28 GPUs", "36", "36 GPUs")
    assert (data["tone"], [way["at"] for way in data["ways"]]) == ("warn", ["take-groups", "take-total"])

    take(book, "take-total")
    assert (book.plan.totals.gpus_demanded, book.plan.totals.unplaced_vms) == (28, 22)
    assert has_approved(shown(book)["text"], "28 GPUs")
    take(book, "take-groups")
    assert (book.plan.totals.gpus_demanded, book.plan.totals.unplaced_vms) == (36, 0)

    take(book, "take-groups")
    assert (book.scenario.demand.stated_gpus, stated_data(book)) == (None, None)
    assert book.plan.totals.hosts == 10


def test_a_total_above_the_groups_is_no_warning(book: Workbook) -> None:
    book.edit("demand.stated_gpus", "40")
    data = shown(book)
    assert data["tone"] == ""
    assert is_approved(data["text"].partition(".")[0], "40 GPUs", "28")


def test_without_groups_there_is_nothing_to_compare(catalog: Catalog) -> None:
    blank = Workbook(catalog)
    blank.edit("demand.stated_gpus", "9")
    assert stated_data(blank) is None
    assert blank.plan.totals.gpus_demanded == 9
