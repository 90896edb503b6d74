"""An estate as data and as text."""

from __future__ import annotations

import json

from approved import is_approved
from estates import L40S, card, estate_of, export, host, vgpu, vm

from gpuplan import Catalog
from gpuplan.audit.estate_report import Inventory, inventory_dict, inventory_tables, inventory_text
from gpuplan.audit.estate_use import use_of
from gpuplan.audit.inventories import existing_of
from gpuplan.report.table import records


def made(catalog: Catalog) -> Inventory:
    cards = [card("0000:4a:00.0", L40S, 1, 2), card("0000:61:00.0")]
    vms = [vm(1, 1, vgpu("nvidia_l40s-16c")), vm(2, 1, vgpu("nvidia_l40s-16c")), vm(3, 2)]
    estate = estate_of(catalog, export([host(1, cards), host(2, [])], vms))
    return Inventory(estate, use_of(estate, catalog), existing_of(estate, catalog), catalog)


def test_tables_have_the_figures_of_the_use(catalog: Catalog) -> None:
    tables = inventory_tables(made(catalog))
    (board,) = records(tables["boards"])
    assert (board["gpus"], board["empty"], board["used_gb"], board["free_gb"]) == (2, 1, 32, 64)
    (profile,) = records(tables["profiles"])
    assert (profile["profile"], profile["vms"], profile["more"]) == ("L40S-16C", 2, 4)
    assert [row["vm"] for row in records(tables["evacuation"])] == ["vm1, vm2"]


def test_the_text_says_what_the_data_has(catalog: Catalog) -> None:
    inventory = made(catalog)
    data = json.loads(json.dumps(inventory_dict(inventory), allow_nan=False))
    assert data["existing"].startswith("1 x 2 l40s-48gb")
    assert [len(data[key]) for key in ("hosts", "vms", "clusters", "gpus")] == [2, 3, 1, 2]
    assert [blocked["vm"] for blocked in data["evacuation"]["esx1.example.test"]] == ["vm1", "vm2"]
    text = inventory_text(inventory)
    assert is_approved(text, "esx1.example.test", "0000:4a:00.0", "2 x L40S-16C", "vm1, vm2")
    assert inventory_text(made(catalog)) == text
