"""The picture of an estate that was read from an inventory."""

from __future__ import annotations

import json

import drifts
from estates import L40S, card, export, host, vgpu, vm, workbook

from gpuplan import Catalog
from gpuplan.app.state import Workbook
from gpuplan.app.steps.estate import drift_data, estate_data
from gpuplan.app.steps.hardware import take_hosts


def test_an_inventory_gives_the_existing_hosts_and_a_picture(catalog: Catalog) -> None:
    book = Workbook(catalog)
    book.open_example("enterprise")
    assert estate_data(book)["pools"] is None
    cards = [card("0000:4a:00.0", L40S, 1, 2), card("0000:61:00.0")]
    vms = [vm(at, 1, vgpu("nvidia_l40s-16c")) for at in (1, 2)]
    content = export([host(1, cards), host(2, cards[1:], inMaintenanceMode=True)], vms)
    take_hosts(book, "vcenter.json", json.dumps(content).encode())
    assert book.notice[0] == "note"
    assert str(book.scenario.hardware.existing).startswith("1 x 2 l40s-48gb")
    (pool,) = json.loads(json.dumps(estate_data(book)))["pools"]
    assert [tile["state"] for tile in pool["hosts"]] == ["", "maintenance"]
    used, empty = pool["hosts"][0]["gpus"]
    assert [part["weight"] for part in used["parts"]] == [16 * 1024] * 2
    assert (used["free"], used["rest"]) == (16 * 1024, 0)
    assert empty["parts"] == [] and empty["free"] and "vm1" in used["title"]
    assert len(pool["legend"]) == 1
    book.open_example("starter")
    assert estate_data(book)["pools"] is None


def test_a_list_of_hosts_has_no_picture_and_a_workbook_without_gpus_changes_nothing(catalog: Catalog) -> None:
    book = Workbook(catalog)
    book.open_example("enterprise")
    before = book.scenario
    vms = [["VM", "Powerstate", "CPUs", "Memory", "Host"], ["a", "poweredOn", 8, 16384, "esx1"]]
    take_hosts(book, "RVTools.xlsx", workbook(vInfo=vms))
    assert book.scenario is before and book.notice[0] == "stop"
    take_hosts(book, "hosts.csv", b"gpus,model\n2,L40S\n")
    assert book.scenario is not before and estate_data(book)["pools"] is None


def test_an_inventory_is_compared_with_the_design_when_that_is_asked_for(catalog: Catalog) -> None:
    book = Workbook(catalog)
    book.open_example("assistant")
    assert not drift_data(book)["shown"]
    now = drifts.drift("assistant")
    estate = drifts.replace_vm(now.estate, "acme-search-02", on=False)
    design = book.scenario
    take_hosts(book, "vcenter.json", json.dumps(drifts.exported(estate, catalog)).encode())
    assert drift_data(book)["shown"] and not drift_data(book)["tables"]
    book.opened |= {"drift"}
    book.undo()
    assert book.scenario == design
    data = json.loads(json.dumps(drift_data(book)))
    (table,) = data["tables"]
    (row,) = table["rows"]
    assert "acme-search-02" in str(row) and len(row) == len(table["heads"]) == 2
    assert len(data["text"]) == 4
    book.open_example("starter")
    assert not drift_data(book)["shown"]
