"""The postures side by side, the maintenance bet, and the inputs of the risk."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.analysis.rent_or_buy import posture_costs
from gpuplan.app.state import Workbook
from gpuplan.app.steps.posture import maintenance_form, posture_data, risk_form, tolerance_data
from gpuplan.catalog import Catalog
from gpuplan.wording import short_number


def plain(data: Any) -> Any:
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def test_postures_stand_side_by_side_and_every_figure_has_its_trail(book: Workbook) -> None:
    data = plain(posture_data(book))
    assert [(c["title"], c["hosts"], c["gpus"]) for c in data["cards"]] == [
        ("N+0", "7 hosts", "28 GPUs"),
        ("N+1", "8 hosts", "32 GPUs"),
        ("N+2", "9 hosts", "36 GPUs"),
    ]
    assert data["value"] == 1
    (table,) = plain(tolerance_data(book))["tables"]
    for card, row in zip(data["cards"], table["rows"], strict=True):
        keys = [cell["key"] for cell in row if cell["key"]]
        shown = ["hosts", "short_h", "exposed_h", "chance"]
        assert keys == [f"postures.n{card['value']}.{name}" for name in shown]
        assert set(keys) <= set(book.plan.lines) and card["key"] in keys
    costs = [p.net_present for p in posture_costs(book.plan)]
    assert [c["cost"] for c in data["cards"]] == [f"USD {short_number(cost)}" for cost in costs]
    assert costs == sorted(costs)


def test_the_cost_of_each_posture_is_planned_beside_the_page_where_groups_grow(book: Workbook) -> None:
    book.edit("groups.hpc.growth", "10 %")

    async def shown() -> list[str]:
        costs = [""]
        assert [card["cost"] for card in posture_data(book)["cards"]] == ["", "", ""]
        while "" in costs:
            await asyncio.sleep(0.05)
            costs = [card["cost"] for card in posture_data(book)["cards"]]
        return costs

    costs = asyncio.run(asyncio.wait_for(shown(), 60))
    assert costs == [f"USD {short_number(p.net_present)}" for p in posture_costs(book.plan)]


def test_a_higher_posture_has_its_card(book: Workbook) -> None:
    book.edit("availability.host_failures", "4")
    data = plain(posture_data(book))
    assert [card["title"] for card in data["cards"]] == ["N+0", "N+1", "N+2", "N+4"]
    assert data["value"] == 4
    assert data["cards"][-1]["hosts"] == "11 hosts"


def test_without_a_spare_host_maintenance_itself_is_short(book: Workbook) -> None:
    def exposed(row: int) -> str:
        return str(tolerance_data(book)["tables"][0]["rows"][row][4]["text"])

    assert exposed(0) == "112 h short"
    assert exposed(1) == "128 h"
    book.edit("availability.host_failures", "0")
    assert has_approved(maintenance_form(book)["text"], "112 h")
    book.edit("availability.maintenance_failure_accepted", False)  # one host more, for maintenance
    assert exposed(0).endswith(" h")
    assert maintenance_form(book)["text"].startswith("No failover ")


def test_a_card_says_what_the_spare_hosts_are_for(book: Workbook) -> None:
    assert is_approved([card["words"] for card in posture_data(book)["cards"]], "1 host", "2 hosts")
    book.edit("availability.maintenance_failure_accepted", False)
    assert [card["words"] for card in posture_data(book)["cards"]] == [
        "maintenance only",
        "1 failure + maintenance",
        "2 failures + maintenance",
    ]


def test_the_bet_says_hours_chance_and_what_one_more_host_changes(book: Workbook) -> None:
    known = {p.host_failures: p for p in book.plan.postures}
    bet = maintenance_form(book)["text"]
    assert has_approved(bet, f"{known[1].exposed_h:.0f} h")
    assert has_approved(bet, "N+2")
    book.edit("availability.host_failures", "0")
    bet = maintenance_form(book)["text"]
    assert has_approved(bet)
    assert has_approved(bet, "N+1")
    book.edit("availability.maintenance_failure_accepted", False)
    assert maintenance_form(book)["text"].startswith("No failover ")
    book.edit("availability.host_failures", "1")
    assert has_approved(maintenance_form(book)["text"])


def test_postures_can_be_chosen_before_anybody_asks(catalog: Catalog) -> None:
    data = plain(posture_data(Workbook(catalog)))
    assert [card["title"] for card in data["cards"]] == ["N+0", "N+1", "N+2"]
    assert {card["hosts"] for card in data["cards"]} == {""}
    assert maintenance_form(Workbook(catalog))["text"] == ""


def test_empty_risk_inputs_show_the_planning_values(book: Workbook) -> None:
    data = plain(risk_form(book))
    shown = {field["path"]: field["empty"] for field in data["fields"]}
    assert shown["availability.mtbf_h"] == "16\u202f000 (assumed)"
    assert shown["availability.stun_limit_s"] == "100 (published)"
    assert data["hint"] == "catalog planning values"
    before = maintenance_form(book)["text"]
    book.edit("availability.mtbf_h", "1000")
    assert risk_form(book)["hint"] == "1 of 4 stated"
    assert maintenance_form(book)["text"] != before


def test_the_stun_of_each_group(book: Workbook) -> None:
    (table,) = plain(risk_form(book))["tables"]
    rows = {row[0]["text"]: row for row in table["rows"]}
    assert set(rows) == {g.name for g in book.scenario.groups}
    researchers = rows["High-performance researchers"]
    assert researchers[2]["key"] in book.plan.lines
    assert is_approved(researchers[3]["text"])
    assert is_approved([cell["text"] for cell in rows["Developers"][2:]], "none")
    assert risk_form(Workbook(book.catalog))["tables"] == []
