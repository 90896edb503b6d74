"""The picture of an estate that was read from an inventory."""

from __future__ import annotations

import json
from dataclasses import replace

import drifts
from estates import L40S, card, export, host, vgpu, vm, workbook

from gpuplan import Catalog
from gpuplan.app.events import EVENTS
from gpuplan.app.memory import memory_of, resume
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
    assert [tile["state"] for tile in pool["hosts"]] == ["stuck", "maintenance"]
    used, empty = pool["hosts"][0]["gpus"]
    assert [part["weight"] for part in used["parts"]] == [16 * 1024] * 2
    assert (used["free"], used["rest"]) == (16 * 1024, 0)
    assert empty["parts"] == [] and empty["free"] and "vm1" in used["title"]
    assert len(pool["legend"]) == 1
    book.open_example("starter")
    assert estate_data(book)["pools"] is None


def test_a_vm_with_several_vgpus_is_one_of_its_profile(catalog: Catalog) -> None:
    book = Workbook(catalog)
    now = drifts.drift("current")
    take_hosts(book, "vcenter.json", json.dumps(drifts.exported(now.estate, catalog)).encode())
    vms = {each.name for each in now.estate.vms if each.on}
    assert any(len(each.devices) > 1 for each in now.estate.vms)
    counts = [
        int(entry["about"].split()[0]) for pool in estate_data(book)["pools"] for entry in pool["legend"]
    ]
    assert sum(counts) == len(vms)


def test_hosts_that_cannot_be_evacuated_are_marked(catalog: Catalog) -> None:
    book = Workbook(catalog)
    book.open_example("enterprise")
    cards = [card("0000:4a:00.0", L40S, 1), card("0000:61:00.0", L40S, 2)]
    vms = [vm(1, 1, vgpu("nvidia_l40s-48c")), vm(2, 1, vgpu("nvidia_l40s-16c", migrates=False)), vm(3, 2)]
    take_hosts(book, "vcenter.json", json.dumps(export([host(1, cards), host(2)], vms)).encode())
    (pool,) = estate_data(book)["pools"]
    assert [tile["state"] for tile in pool["hosts"]] == ["stuck", "spare"]
    assert [gpu["stuck"] for gpu in pool["hosts"][0]["gpus"]] == [True, True]
    assert pool["power_on"].count("esx1") == 2


def test_a_page_that_is_loaded_again_has_its_estate_and_what_was_matched_by_hand(catalog: Catalog) -> None:
    book = Workbook(catalog)
    book.open_example("assistant")
    now = drifts.drift("assistant")
    names = {each.name: f"srv-{at:03}" for at, each in enumerate(now.estate.vms)}
    estate = replace(now.estate, vms=tuple(replace(each, name=names[each.name]) for each in now.estate.vms))
    design = book.scenario
    take_hosts(book, "vcenter.json", json.dumps(drifts.exported(estate, catalog)).encode())
    book.use(design, "")
    book.opened |= {"drift"}
    before = drift_data(book)
    (menu,) = before["selects"]
    assert menu["what"] == "match-srv-*" and {each["value"] for each in menu["options"]} >= {
        "",
        "search",
        "developers",
    }
    EVENTS["look"](book, {"what": menu["what"], "value": "developers"})
    after = drift_data(book)
    assert after["selects"][0]["value"] == "developers" and after["tables"] != before["tables"]
    memory, designs = json.loads(json.dumps(memory_of(book)))
    again = Workbook(catalog)
    resume(again, memory, designs, "")
    again.opened |= {"drift"}
    assert (again.inventory, again.estate, again.matched) == (
        book.inventory,
        book.estate,
        {"srv-*": "developers"},
    )
    assert drift_data(again) == after
    lost = Workbook(catalog)
    resume(lost, memory, {key: text for key, text in designs.items() if key != memory["estate"][0][0]}, "")
    assert lost.inventory is None and lost.notice[0] == "warn" and "vcenter.json" in lost.notice[1]
    EVENTS["look"](book, {"what": menu["what"], "value": ""})
    assert book.matched == {} and drift_data(book) == before


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
