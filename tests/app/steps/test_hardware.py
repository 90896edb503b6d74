"""How GPUs are shared: the hardware, what it allows, and what is shared, idle and stranded."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest
from approved import has_approved, is_approved
from kinds_of_hosts import design

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.events import EVENTS
from gpuplan.app.state import Workbook
from gpuplan.app.steps.hardware import (
    allowed_data,
    existing_grid,
    hardware_form,
    host_line_data,
    inventory_data,
    kinds_grid,
    management_data,
    management_form,
    more_form,
    other_vms_grid,
    shared_data,
    sharing_form,
    take_hosts,
)
from gpuplan.catalog import Catalog
from gpuplan.report.tables.known import input_words
from gpuplan.scenario import from_dict, host_kinds
from gpuplan.wording import NAMES


def plain(data: Any) -> Any:
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def test_hardware_offers_the_catalog(book: Workbook) -> None:
    fields = {field["path"]: field for field in plain(hardware_form(book))["fields"]}
    assert len(fields["hardware.gpu"]["options"]) == len(book.catalog.gpus)
    assert len(fields["hardware.server"]["options"]) == len(book.catalog.servers) + 1
    assert len(fields["platform.vsphere"]["options"]) == len(book.catalog.vsphere)
    for field in fields.values():
        if field["kind"] == "select":
            assert field["value"] in [option["value"] for option in field["options"]]


def test_mixed_sizes_are_refused_with_the_rule_and_its_source(book: Workbook) -> None:
    book.edit("platform.vsphere", "8.0u3")
    book.edit("platform.vgpu_sizes", "mixed")
    (field,) = sharing_form(book)["fields"]
    assert field["value"] == "mixed"
    assert has_approved(field["problem"])
    assert "NVIDIA AI Enterprise" in field["problem"]
    modes = {mode["id"]: mode for mode in allowed_data(book)["modes"]}
    assert modes["mixed"]["verdict"] == "no"


def test_what_is_allowed_has_a_word_a_rule_and_a_source(book: Workbook) -> None:
    data = plain(allowed_data(book))
    assert is_approved(data["title"], "Tesla V100 PCIe 32GB", "7.0")
    for mode in data["modes"]:
        assert (
            mode["word"]
            == NAMES["verdict on sharing"]["owned" if mode["id"] == "bitfusion" else mode["verdict"]]
        )
        assert mode["text"]
        assert mode["source"]
    book.edit("hardware.gpu", "a100-pcie-80gb")
    book.edit("platform.vsphere", "8.0u3")
    verdicts = {mode["id"]: mode["verdict"] for mode in allowed_data(book)["modes"]}
    assert (verdicts["mixed"], verdicts["mig"]) == ("yes", "yes")


def test_a_link_may_name_a_gpu_that_this_catalog_does_not_have(book: Workbook) -> None:
    link = zlib.compress(b'{"hardware": {"gpu": "v9000"}}')
    book.restore("#s=" + base64.urlsafe_b64encode(link).decode())
    assert book.stale
    assert "V100" in plain(allowed_data(book))["title"]
    plain(hardware_form(book))


def test_more_about_the_hosts(book: Workbook) -> None:
    data = plain(more_form(book))
    assert is_approved(data["hint"])
    assert [field["empty"] for field in data["fields"]] == ["not counted", "not counted", "1 (assumed)", ""]
    book.edit("hardware.vcpus_per_host", "64")
    assert is_approved(more_form(book)["hint"])  # no group says how many it needs
    book.edit("groups.hpc.vcpus_each", "8")
    book.edit("hardware.existing.1.hosts", "2")
    assert is_approved(more_form(book)["hint"], "2")


def test_shared_gpus_have_a_proof_and_a_trail(book: Workbook) -> None:
    shared, idle = plain(shared_data(book))["tables"]
    (row,) = shared["rows"]
    assert [cell["text"] for cell in row[:4]] == [
        "Bitfusion, by memory",
        "10",
        "proven minimum",
        "Data scientists, Developers",
    ]
    assert row[1]["key"] in book.plan.lines
    assert idle["rows"] == []
    assert is_approved(idle["more"])


def test_stranded_gpus_are_named(catalog: Catalog) -> None:
    threes = from_dict({"groups": [{"id": "a", "name": "Threes", "people": 2, "gpus_each": 3}]})
    book = Workbook(catalog, threes)
    assert is_approved(shared_data(book)["hint"], "2 GPUs")
    shared, idle = plain(shared_data(book))["tables"]
    assert is_approved(shared["more"])
    (row,) = idle["rows"]
    assert "stranded" in row[0]["text"]
    assert row[0]["tone"] == "warn"


def test_how_many_are_on_one_gpu(catalog: Catalog) -> None:
    groups = [
        {"id": "a", "name": "Halves", "people": 3, "gpus_each": 0.5},
        {"id": "b", "name": "Quarters", "people": 3, "gpus_each": 0.25},
    ]
    for sizes, words in (
        ("equal", ["2 of L40S-24C", "4 of L40S-12C"]),
        ("mixed", ["up to 2 of L40S-24C, or 4 of L40S-12C"]),
    ):
        book = Workbook(catalog, from_dict({"groups": groups, "platform": {"vgpu_sizes": sizes}}))
        shown = sorted(row[-1]["text"] for row in shared_data(book)["tables"][0]["rows"])
        assert shown == words


def test_nobody_asks(catalog: Catalog) -> None:
    book = Workbook(catalog)
    assert not plain(shared_data(book))["shown"]
    plain(more_form(book))


def test_hosts_there_are_a_grid_and_a_table(book: Workbook) -> None:
    assert inventory_data(book) == {"shown": False}
    grid = plain(existing_grid(book))
    assert [row["name"] for row in grid["rows"]] == ["new"]
    book.edit("hardware.existing.1.hosts", "2")
    book.edit("hardware.existing.1.gpus_per_host", "2")
    grid = plain(existing_grid(book))
    assert [row["name"] for row in grid["rows"]] == ["1", "new"]
    assert [cell["value"] for cell in grid["rows"][0]["cells"]] == ["", "2", "2", "", "", "", "", "", ""]
    book.edit("hardware.existing.1.platform_licensed_until", "2028-06-30")
    book.edit("hardware.existing.1.gpu_software_until", "perpetual")
    (kind,) = host_kinds(book.scenario.hardware.existing)
    assert (kind.platform_until, kind.software_until, kind.boards_since) == ("2028-06-30", "perpetual", None)
    book.edit("hardware.existing.1.boards_since", "last year")
    assert plain(existing_grid(book))["rows"][0]["cells"][8]["problem"]
    book.edit("hardware.existing.1.boards_since", "")
    there, fits = plain(inventory_data(book))["tables"]
    assert there["rows"][0][1]["text"] == "2"
    assert len(fits["rows"]) == len(book.plan.groups)
    book.edit("hardware.existing.1.hosts", "none")
    assert plain(existing_grid(book))["rows"][0]["cells"][1]["problem"]
    assert plain(other_vms_grid(book))["hint"] == "none"


def test_hosts_of_a_file_are_taken_as_already_there(catalog: Catalog) -> None:
    book = Workbook(catalog)
    book.open_example("enterprise")
    handled = EVENTS["hosts-file"]
    text = "name,hosts,gpus,model\nold,2,4,v100-pcie-32gb\nstrange,3,8,Q9\n"
    handled(book, {"name": "racks.csv", "base64": base64.b64encode(text.encode()).decode()})
    assert book.scenario.hardware.existing == "old: 2 x 4 v100-pcie-32gb"
    assert book.notice[0] == "warn"
    assert has_approved(book.notice[1], "2 hosts", "3", "Q9")
    assert len(plain(existing_grid(book))["rows"]) == 2
    book.undo()
    assert not book.scenario.hardware.existing


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"gpus,hosts\n2,4\nmany,1\n", 'gpus in line 3: "many": expected a number.'),
        (b"host,model\na,T4\n", "has a column gpus"),
        (b"", "empty"),
        (b"gpus,model\n8,Q9\n", "none of its hosts has a GPU in the catalog. Left out: 1 with Q9"),
        (b"gpus\n" + b"2\n" * 5_000_000, "too large"),
    ],
)
def test_a_file_of_hosts_that_cannot_be_used_changes_nothing(
    catalog: Catalog, text: bytes, said: str
) -> None:
    book = Workbook(catalog)
    book.open_example("enterprise")
    before = book.scenario
    take_hosts(book, "racks.csv", text)
    assert book.scenario is before
    assert book.notice[0] == "stop" and said in book.notice[1] and has_approved(book.notice[1], "racks.csv")


def test_a_host_to_order_and_the_management_domain(book: Workbook) -> None:
    """Both are folded with their answer; a part that is too little is named there."""
    plan = book.plan
    assert plan.host_line is not None and plan.management is not None
    order, domain = plain(host_line_data(book)), plain(management_data(book))
    assert str(plan.host_line.memory_gib) in order["hint"] and "too little" not in order["hint"]
    assert f"{plan.management.vcpus} vCPUs" in domain["hint"]
    assert plain(management_form(book))["hint"] == "4 hosts needed"
    book.edit("management.hosts", "3")
    assert is_approved(plain(management_form(book))["hint"], "4 hosts")
    book.edit("cost.cores_per_socket", "2")
    assert plain(host_line_data(book))["hint"].endswith("too little: processors")


def test_further_kinds_of_hosts_are_named_where_the_grid_is_folded(catalog: Catalog) -> None:
    book = Workbook(
        catalog, from_dict({"groups": [{"id": "a"}], "hardware": {"kinds": "large: 8 x h200-nvl-141gb"}})
    )
    assert kinds_grid(book)["hint"] == "large: 8 GPUs"


def test_the_boards_of_all_kinds_are_named_with_what_each_allows(catalog: Catalog) -> None:
    book = Workbook(catalog, from_dict(design()))
    data = plain(allowed_data(book))
    assert {"l40s-48gb-mig", "h200-nvl-141gb-mig"} <= {mode["id"] for mode in data["modes"]}
    assert all(name in data["title"] for name in ("L40S", "H200 NVL"))
    stated = input_words(book.plan, "hardware.kinds", book.scenario.hardware.kinds)
    assert stated.startswith("Large: 8") and stated.endswith("cluster first") and "H200 NVL" in stated
    (row, _) = kinds_grid(book)["rows"]
    assert [cell["value"] for cell in row["cells"] if cell["path"].endswith(".cluster")] == ["first"]
