"""Hosts and availability: the picture before and after failures, and the tables beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.app.model import Workbook
from gpuplan.app.steps.hosts import (
    SHOWN_HOSTS,
    capacity_rows,
    failure_table,
    hardware_form,
    picture_data,
    posture_data,
)
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario, from_dict


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("enterprise"))


def plain(data: Any) -> Any:
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def scenario(**data: Any) -> Scenario:
    return from_dict(data)


def test_the_picture_shows_every_gpu_of_every_host(book: Workbook) -> None:
    data = plain(picture_data(book))
    (pool,) = data["pools"]
    assert [host["number"] for host in pool["hosts"]] == list(range(1, 9))
    assert all(len(host["gpus"]) == 4 for host in pool["hosts"])
    assert [host["state"] for host in pool["hosts"]] == [""] * 7 + ["spare"]
    assert pool["more"] == 0
    assert {row["name"] for row in data["legend"]} == {g.name for g in book.scenario.groups}
    assert pool["verdict"]["tone"] == "good"
    # three researchers with four GPUs each: R on twelve GPUs
    shown = [part["letter"] for host in pool["hosts"] for gpu in host["gpus"] for part in gpu["parts"]]
    researchers = book.plan.group("researchers").letter
    assert shown.count(researchers) == 12
    assert shown.count(book.plan.group("data-scientists").letter) == 16


def test_a_failed_host_and_who_lands_where(book: Workbook) -> None:
    book.toggle_host("vgpu", 1)
    (pool,) = plain(picture_data(book))["pools"]
    assert picture_data(book)["any_failed"]
    states = [host["state"] for host in pool["hosts"]]
    assert states == ["failed", "", "", "", "", "", "", "landing"]
    assert pool["hosts"][7]["word"] == "gets R1"
    assert pool["verdict"]["lead"] == "Host 1 lost:"
    assert pool["verdict"]["text"].startswith("everyone is placed again. 1 VM restarts")
    rows = {row["name"]: row for row in pool["verdict"]["groups"]}
    row = rows["High-performance researchers"]
    assert (row["keeps"], row["restarts"], row["moves"], row["missing"]) == (2, 1, 0, 0)


def test_one_failure_too_many(book: Workbook) -> None:
    for host in (1, 2):
        book.toggle_host("vgpu", host)
    (pool,) = plain(picture_data(book))["pools"]
    assert pool["verdict"]["tone"] == "bad"
    assert pool["verdict"]["text"].startswith("1 VM without a GPU; 1 restart.")
    assert "survives 1 host down" in pool["verdict"]["text"]


def test_every_set_of_failures_can_be_drawn(book: Workbook) -> None:
    for host in range(1, 9):
        book.toggle_host("vgpu", host)
        data = plain(picture_data(book))
        for row in data["pools"][0]["verdict"]["groups"]:
            total = row["restarts"] + row["moves"] + row["missing"] + (row["keeps"] or 0)
            assert total >= 0
            assert (row["keeps"] or 0) >= 0
    assert all(host["state"] == "failed" for host in picture_data(book)["pools"][0]["hosts"])


def test_a_large_pool_is_cut(catalog: Catalog) -> None:
    book = Workbook(catalog, scenario(groups=[{"id": "a", "people": 400}]))
    (pool,) = plain(picture_data(book))["pools"]
    assert (len(pool["hosts"]), pool["more"]) == (SHOWN_HOSTS, 101 - SHOWN_HOSTS)


def test_gpus_of_no_group_and_no_groups(catalog: Catalog) -> None:
    book = Workbook(catalog, scenario(demand={"stated_gpus": 5}))
    data = plain(picture_data(book))
    assert data["legend"][-1]["name"] == "Not assigned to a group"
    book.toggle_host("gpu", 1)
    plain(picture_data(book))
    assert plain(picture_data(Workbook(catalog)))["pools"] == []


def test_no_spare_host_is_said(catalog: Catalog) -> None:
    book = Workbook(catalog, scenario(groups=[{"id": "a", "people": 8}], availability={"host_failures": 0}))
    verdict = picture_data(book)["pools"][0]["verdict"]
    assert (verdict["tone"], verdict["lead"]) == ("warn", "No host is spare.")
    assert "leaves 4 VMs without a GPU" in verdict["text"]


def test_posture(book: Workbook) -> None:
    data = plain(posture_data(book))
    assert [option["text"] for option in data["options"]] == ["N+0", "N+1", "N+2"]
    assert data["value"] == 1
    book.edit("availability.host_failures", "4")
    data = posture_data(book)
    assert data["value"] in [option["value"] for option in data["options"]]


def test_hardware_offers_the_catalog(book: Workbook) -> None:
    fields = {field["path"]: field for field in plain(hardware_form(book))["fields"]}
    assert len(fields["hardware.gpu"]["options"]) == len(book.catalog.gpus)
    assert len(fields["hardware.server"]["options"]) == len(book.catalog.servers) + 1
    for field in fields.values():
        if field["kind"] == "select":
            assert field["value"] in [option["value"] for option in field["options"]]


def test_failures_agree_with_the_plan(book: Workbook) -> None:
    data = plain(failure_table(book))
    assert data["more"] == 0
    assert [row["unplaced"] for row in data["rows"]] == ["0"] * len(data["rows"])
    assert data["rows"][0]["hosts"] == "Hosts 1\u20133"  # one researcher each
    assert data["rows"][-1]["hosts"] == "Host 8"
    assert data["rows"][-1]["restarted"] == "0"


def test_capacity(book: Workbook) -> None:
    rows = plain(capacity_rows(book))
    assert [row["left"] for row in rows] == [32, 28, 24, 20]
    assert [row["state"] for row in rows] == ["everything fits"] * 2 + ["not everything fits"] * 2
    assert {row["occupied"] for row in rows} == {28}
    assert capacity_rows(Workbook(book.catalog)) == []
