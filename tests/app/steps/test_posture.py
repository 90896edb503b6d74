"""The postures side by side, the maintenance bet, and the inputs of the risk."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.analysis.posture_costs import posture_costs
from gpuplan.app.state import Workbook
from gpuplan.app.steps.posture import posture_data, risk_form
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
    for card in data["cards"]:
        keys = [card["key"], *(key for figure in card["figures"] for key, _ in figure["parts"])]
        shown = ["hosts", "short_h", "exposed_h", *(["chance"] if card["value"] else [])]
        assert keys == [f"postures.n{card['value']}.{name}" for name in shown]
        assert set(keys) <= set(book.plan.lines)
    costs = [p.net_present for p in posture_costs(book.plan)]
    assert [c["cost"] for c in data["cards"]] == [f"USD {short_number(cost)}" for cost in costs]
    assert costs == sorted(costs)


def test_many_hosts_are_not_planned_again_for_the_cost_of_each_posture(book: Workbook) -> None:
    book.edit("groups.data-scientists.people", "1520")
    costs = [card["cost"] for card in posture_data(book)["cards"]]
    assert costs[0] == costs[2] == "see the cost step"
    assert costs[1].startswith("USD ")


def test_a_higher_posture_has_its_card(book: Workbook) -> None:
    book.edit("availability.host_failures", "4")
    data = plain(posture_data(book))
    assert [card["title"] for card in data["cards"]] == ["N+0", "N+1", "N+2", "N+4"]
    assert data["value"] == 4
    assert data["cards"][-1]["hosts"] == "11 hosts"


def test_without_a_spare_host_maintenance_itself_is_short(book: Workbook) -> None:
    def bet(card: int) -> list[str]:
        return [text for _, text in posture_data(book)["cards"][card]["figures"][1]["parts"]]

    assert bet(0) == ["112 h short"]
    assert bet(1)[0] == "128 h"
    assert "maintenance itself" in posture_data(book)["cards"][0]["figures"][1]["about"]
    book.edit("availability.host_failures", "0")
    assert posture_data(book)["bet"].startswith(
        "Maintenance itself takes GPUs that the plan needs: 112 h a year. "
    )
    book.edit("availability.maintenance_failure_accepted", False)  # one host more, for maintenance
    assert bet(0)[0].endswith(" h")
    assert posture_data(book)["bet"].startswith("During ")


def test_the_bet_says_hours_chance_and_what_one_more_host_changes(book: Workbook) -> None:
    known = {p.host_failures: p for p in book.plan.postures}
    bet = posture_data(book)["bet"]
    assert bet.startswith(
        f"During {known[1].exposed_h:.0f} h of maintenance a year the cluster has no failover capacity; "
    )
    assert "With one more host (N+2): " in bet
    book.edit("availability.host_failures", "0")
    bet = posture_data(book)["bet"]
    assert bet.startswith("Maintenance itself takes GPUs that the plan needs: ")
    assert "With one more host (N+1): " in bet
    book.edit("availability.maintenance_failure_accepted", False)
    assert posture_data(book)["bet"].startswith("During ")
    book.edit("availability.host_failures", "1")
    assert posture_data(book)["bet"].startswith("The cluster keeps failover capacity during maintenance; ")


def test_postures_can_be_chosen_before_anybody_asks(catalog: Catalog) -> None:
    data = plain(posture_data(Workbook(catalog)))
    assert [card["title"] for card in data["cards"]] == ["N+0", "N+1", "N+2"]
    assert {card["hosts"] for card in data["cards"]} == {""}
    assert data["bet"] == ""


def test_empty_risk_inputs_show_the_planning_values(book: Workbook) -> None:
    data = plain(risk_form(book))
    shown = {field["path"]: field["empty"] for field in data["fields"]}
    assert shown["availability.mtbf_h"] == "16\u202f000 (assumed)"
    assert shown["availability.stun_limit_s"] == "100 (published)"
    assert data["hint"] == "planning values of the catalog"
    before = posture_data(book)["bet"]
    book.edit("availability.mtbf_h", "1000")
    assert risk_form(book)["hint"] == "1 of 4 stated"
    assert posture_data(book)["bet"] != before


def test_the_stun_of_each_group(book: Workbook) -> None:
    (table,) = plain(risk_form(book))["tables"]
    rows = {row[0]["text"]: row for row in table["rows"]}
    assert set(rows) == {g.name for g in book.scenario.groups}
    researchers = rows["High-performance researchers"]
    assert researchers[2]["key"] in book.plan.lines
    assert researchers[3]["text"] == "stun over the limit"
    assert [cell["text"] for cell in rows["Developers"][2:]] == [
        "none",
        "test whether it can be moved while it runs",
    ]
    assert risk_form(Workbook(book.catalog))["tables"] == []
