"""How many GPUs are enough by what is assumed about arrivals."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.state import Workbook
from gpuplan.app.steps import methods
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict


def said(data: dict[str, Any], key: str = "text") -> str:
    return " ".join("".join(part["text"] for part in parts) for parts in data[key])


def rows_of(table: dict[str, Any]) -> list[list[str]]:
    return [[cell["text"] for cell in row] for row in table["rows"]]


def test_methods_stand_beside_each_other(book: Workbook) -> None:
    book.edit("demand.rule", "wait")
    book.edit("demand.stated_gpus", "")
    data = methods.odds_data(book)
    rows = rows_of(data["tables"][0])
    assert [row[0] for row in rows] == ["Known users", "Independent arrivals", "Bursts"]
    assert is_approved(
        [cell.get("note") for cell in (row[0] for row in data["tables"][0]["rows"])],
        "binomial",
        "Erlang C, Hayward",
    )
    assert int(rows[0][1]) == 31 < int(rows[1][1]) < int(rows[2][1])
    closed, _, bursty = data["tables"][0]["rows"]
    assert (closed[0]["tag"], closed[1]["key"]) == ("used", "pools.vgpu.gpus_for_target")
    low, high = (int(text) for text in bursty[1]["note"].split(" to "))
    assert low <= int(bursty[1]["text"]) <= high
    assert has_approved(said(data, "after"), "31 GPUs")
    keys = [part["key"] for part in data["text"][0] if part.get("key")]
    assert keys == ["pools.vgpu.busy_gpus", "totals.waiting", "totals.waiting_after_failure"]
    assert set(keys) <= set(book.plan.lines)


def test_without_a_target_the_methods_are_a_question(book: Workbook) -> None:
    data = methods.odds_data(book)
    assert has_approved(said(data), "5 %")
    assert not any("tag" in row[0] for row in data["tables"][0]["rows"])


def test_jobs_are_believed_to_come_in_bursts(book: Workbook) -> None:
    book.edit("groups.hpc.jobs_per_day", "20")
    data = methods.odds_data(book)
    assert rows_of(data["tables"][0])[0][1:] == ["not applicable", "\u2013"]
    assert has_approved(said(data, "after"))
    assert "audit" in said(data, "after")


def test_what_is_assumed_about_bursts_is_shown_and_can_be_stated(book: Workbook) -> None:
    form = methods.assumption_form(book)
    empties = [float(field["empty"].removesuffix(" (assumed)")) for field in form["fields"][1:4]]
    value, low, high = empties
    assert low <= value <= high
    assert is_approved(form["hint"])
    book.edit("demand.peakedness", "9")
    assert methods.assumption_form(book)["hint"] == "automatic, peakedness stated"
    assert book.plan.scenario.demand.peakedness == 9


def test_each_pool_of_hosts_has_its_methods(catalog: Catalog) -> None:
    groups = [
        {"id": "a", "people": 8, "active_share": 0.5, "access": "passthrough"},
        {"id": "b", "people": 40, "active_share": 0.5, "gpus_each": 0.5, "access": "vgpu"},
    ]
    book = Workbook(catalog, from_dict({"groups": groups}))
    pools = {pool.id: pool for pool in book.plan.pools}
    assert len(pools) == 2
    (select,) = methods.odds_head(book)["selects"]
    assert [option["value"] for option in select["options"]] == list(pools)
    seen = set()
    for pool in pools.values():
        book.look("pool", pool.id)
        assert methods.odds_rows(book)["installed"] == 4 * pool.hosts_for_demand
        seen.add(str(methods.odds_data(book)["tables"]))
    assert len(seen) == 2
    book.look("pool", "no such pool")
    assert methods.odds_rows(book)["installed"] == 4 * book.plan.pools[0].hosts_for_demand
