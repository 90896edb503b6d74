"""What failures and maintenance do: the verdict, the tables of every loss, the chart."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.state import Workbook
from gpuplan.app.steps.failures import (
    capacity_drawn,
    failures_data,
    runs,
    verdict,
)
from gpuplan.catalog import Catalog
from gpuplan.plan.weighing import stun_limit_s
from gpuplan.report.charts.design import capacity_chart, capacity_rows
from gpuplan.report.charts.look import LIGHT
from gpuplan.scenario import from_dict


def verdict_of(book: Workbook) -> dict[str, Any]:
    data = verdict(book, book.plan.pools[0])
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def rows_of(table: dict[str, Any]) -> list[list[str]]:
    return [[cell["text"] for cell in row] for row in table["rows"]]


def put_down(book: Workbook, failed: tuple[int, ...] = (), maintenance: tuple[int, ...] = ()) -> None:
    for click, hosts in (("maintain", maintenance), ("fail", failed)):
        book.set_click(click)
        for host in hosts:
            book.toggle_host("vgpu", host)


def test_runs() -> None:
    assert runs([]) == ""
    assert runs([3]) == "3"
    assert runs([2, 1]) == "1, 2"
    assert runs([5, 1, 2, 3, 9]) == "1\u20133, 5, 9"
    assert runs(range(1, 40, 2)) == "1, 3, 5, 7 and 16 more"


def test_nothing_has_failed(book: Workbook) -> None:
    data = verdict_of(book)
    assert (data["tone"], data["rows"]) == ("good", [])
    assert is_approved(data["lead"])
    assert has_approved(data["text"], "7 hosts")


def test_a_failed_host_says_what_it_does_to_whom(book: Workbook) -> None:
    put_down(book, failed=(1,))
    data = verdict_of(book)
    assert data["lead"] == "Host 1 failed:"
    assert is_approved(data["text"], "1 VM")
    assert is_approved(
        [head["text"] for head in data["heads"]], "Workload", "Keeps running", "Restarts", "Not placed"
    )
    assert rows_of(data) == [["High-performance researchers", "2", "1", "0", "0"]]
    assert is_approved(data["rest"])
    assert data["rows"][0][2]["title"]


def test_clients_of_bitfusion_do_not_restart(book: Workbook) -> None:
    """On host 6 are 2 HPC users and 16 developers, whose VMs run elsewhere."""
    put_down(book, failed=(6,))
    said = verdict_of(book)["text"]
    assert is_approved(said, "18 clients")


def test_a_failure_is_not_said_to_place_vms_that_have_no_place(book: Workbook) -> None:
    book.edit("groups.data-scientists.people", "64")
    book.edit("demand.rule", "stated")
    assert book.plan.totals.unplaced_vms == 22
    whole = verdict_of(book)
    assert whole["tone"] == "bad" and is_approved(whole["lead"], "22", "57")
    put_down(book, failed=(3,))
    data = verdict_of(book)
    assert data["tone"] == "bad"
    assert has_approved(data["text"], "22")
    assert "all VMs" not in data["text"]


def test_one_failure_too_many_names_who_is_not_placed(book: Workbook) -> None:
    put_down(book, failed=(1, 2))
    data = verdict_of(book)
    assert data["tone"] == "bad"
    assert has_approved(data["text"], "1 VM", "1 VM")
    missing = data["rows"][0][-1]
    assert (missing["text"], missing["tone"]) == ("1", "bad")
    assert missing["note"] in ("VM 1", "VM 2")


def test_maintenance_moves_before_the_failure_and_compares_the_stun(book: Workbook) -> None:
    put_down(book, maintenance=(1,))
    data = verdict_of(book)
    assert data["lead"] == "Host 1 in maintenance:"
    assert is_approved(data["text"], "1 VM")
    assert [head["text"] for head in data["heads"]][2] == "Moved for maintenance"
    moved = data["rows"][0][2]
    stun = book.plan.group("researchers").stun_s
    assert stun is not None
    assert stun > stun_limit_s(book.scenario, book.catalog) == 100
    assert (moved["text"], moved["note_tone"]) == ("1", "bad")
    assert is_approved(moved["note"], f"{stun:.0f} s", "100 s")
    book.edit("availability.stun_limit_s", "300")
    moved = verdict_of(book)["rows"][0][2]
    assert (moved["note"], moved["note_tone"]) == (f"stun {stun:.0f} s, limit 300 s", "")


def test_bitfusion_is_moved_as_its_text_says(book: Workbook) -> None:
    put_down(book, maintenance=(4,))  # Bitfusion's clients
    (row,) = verdict_of(book)["rows"]
    assert row[2]["note_tone"] == "warn"
    assert is_approved(row[2]["note"])
    assert has_approved(row[2]["title"])


def crowded(catalog: Catalog, access: str) -> Workbook:
    """Hosts on which others make room for one that was lost."""
    asked = {"threes": (4, 3), "twos": (2, 2), "fives": (3, 5)}
    groups = [{"id": g, "people": n, "gpus_each": gpus, "access": access} for g, (n, gpus) in asked.items()]
    hardware = {"gpus_per_host": 8, "existing_hosts": 2, "existing_gpus_per_host": 2}
    none = {"host_failures": 0}
    return Workbook(catalog, from_dict({"groups": groups, "hardware": hardware, "availability": none}))


@pytest.mark.parametrize("access", ["passthrough", "vgpu"])
def test_who_makes_room_is_shut_down_or_moved(catalog: Catalog, access: str) -> None:
    book = crowded(catalog, access)
    (pool,) = book.plan.pools
    book.toggle_host(pool.id, 3)
    data = verdict_of(book)
    assert has_approved(data["text"], "1 VM", "1 VM", "2 VMs")
    moved = [row[3] for row in data["rows"]]
    assert sum(int(cell["text"]) for cell in moved) == 2
    for cell in moved:
        assert bool(cell.get("note")) == (cell["text"] != "0")
    notes = {cell["note"] for cell in moved if cell["text"] != "0"}
    if access == "passthrough":
        assert is_approved(notes)
        assert has_approved([cell.get("title", "") for cell in moved])
    else:
        assert all(note.startswith("stun ") for note in notes)


def test_what_no_source_says_of_a_group_is_not_said(book: Workbook) -> None:
    group = book.plan.group("researchers")
    bare = book.plan.but(groups=tuple(replace(g, traits=(), stun_s=None) for g in book.plan.groups))
    book.plan = bare
    assert group.traits
    put_down(book, maintenance=(1,))
    moved = verdict_of(book)["rows"][0][2]
    assert moved["title"] == ""
    assert is_approved(moved["note"])


def test_maintenance_and_failure_together(book: Workbook) -> None:
    put_down(book, failed=(6, 7), maintenance=(1,))
    data = verdict_of(book)
    assert is_approved(data["lead"], "1", "6", "7")
    assert data["tone"] == "bad"
    for row in data["rows"]:
        assert all(int(cell["text"]) >= 0 for cell in row[1:])


def test_no_spare_host_is_said(catalog: Catalog) -> None:
    lonely = from_dict({"groups": [{"id": "a", "people": 8}], "availability": {"host_failures": 0}})
    data = verdict_of(Workbook(catalog, lonely))
    assert data["tone"] == "good", "no failure is to be tolerated"
    assert is_approved(data["lead"])
    assert has_approved(data["text"], "4 VMs")


def test_losses_with_their_trail(book: Workbook) -> None:
    assert capacity_drawn(book) == capacity_rows(book.plan) != []
    data = failures_data(book)
    assert is_approved(data["hint"])
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    levels, singles, pairs = data["tables"]
    assert rows_of(levels) == [["0", "32", "yes", "yes"], ["1", "28", "yes", "yes"], ["2", "24", "no", "no"]]
    assert ["Host 1 (3 identical hosts)", "1", "0", "0", "0"] in rows_of(singles)
    assert {cell["key"] for row in singles["rows"] for cell in row if cell["key"]} <= set(book.plan.lines)
    assert sum(bool(cell["key"]) for row in singles["rows"] for cell in row) == len(singles["rows"])
    assert len(pairs["rows"]) == 8
    assert rows_of(pairs)[0][3] == str(book.worst("vgpu", 2)[0].unplaced)
    assert is_approved(pairs["more"])


def test_what_is_not_known_of_a_loss_is_neither_yes_nor_no(book: Workbook) -> None:
    (pool,) = book.plan.pools
    unknown = tuple(replace(level, fits=None if level.lost else True) for level in pool.losses)
    left = tuple(loss._replace(unplaced=2) for loss in pool.failures)
    book.plan = book.plan.but(pools=(replace(pool, losses=unknown, failures=left),))
    data = failures_data(book)
    assert is_approved(data["hint"])
    cells = [row[2] for row in data["tables"][0]["rows"]]
    assert [(cell["text"], cell["tone"]) for cell in cells] == [
        ("yes", ""),
        ("not known", ""),
        ("not known", ""),
    ]
    said = verdict_of(book)
    assert said["tone"] == "warn"
    assert is_approved(said["lead"])
    assert has_approved(said["text"], "2 VMs")
    rows = capacity_rows(book.plan)
    assert [row["state"] for row in rows] == ["all VMs fit", "not known", "not known"]
    drawn = capacity_chart(rows, LIGHT)
    scale = drawn["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == ["all VMs fit", "not known"]
    assert scale["range"][1] == LIGHT.soft


def test_nothing_to_lose(catalog: Catalog) -> None:
    book = Workbook(catalog)
    assert not failures_data(book)["shown"]
    assert capacity_drawn(book) == []
