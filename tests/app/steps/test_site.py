"""Names and addresses on the Deliver step: typed, refused, undone, and taken from a workbook."""

from __future__ import annotations

import io
from typing import Any

import openpyxl

from gpuplan.app.events import EVENTS
from gpuplan.app.state import Workbook
from gpuplan.app.steps.site import site_badge, site_data, take_workbook
from gpuplan.catalog import Catalog
from gpuplan.deliver import design_files
from gpuplan.report.site import site_fields, site_value
from gpuplan.report.typed_site import SHEET
from gpuplan.widgets.contract import Sheet


def inputs(workbook: Workbook) -> dict[str, Any]:
    """Path -> input of each name and address."""
    data: Any = site_data(workbook)
    assert set(data) <= {*Sheet.__annotations__}
    fields = [cell["input"] for row in data["rows"] for cell in row["cells"] if cell.get("input")]
    assert [row["id"] for row in data["rows"]] == [field["path"] for field in fields]
    return {field["path"]: field for field in fields}


def test_a_name_is_typed_counted_and_undone(enterprise: Workbook) -> None:
    assert {*inputs(enterprise)} == {each.path for each in site_fields(enterprise.plan)}
    empty, chapters = site_badge(enterprise), enterprise.plan.pools
    enterprise.edit("site.network.management.subnet", "10.1.0.0/24")
    assert site_badge(enterprise) != empty and enterprise.plan.pools is chapters  # nothing is planned anew
    shown = inputs(enterprise)
    assert shown["site.network.management.subnet"]["value"] == "10.1.0.0/24"
    assert shown["site.host.vgpu-01.management"]["empty"] == "10.1.0.2"
    assert enterprise.plan.set_up.site == enterprise.scenario.site
    enterprise.edit("site.network.management.vlan", "5000")
    refused = inputs(enterprise)["site.network.management.vlan"]
    assert (
        refused["value"] == "5000"
        and refused["problem"]
        and not enterprise.plan.scenario.get(refused["path"])
    )
    enterprise.edit("site.network.management.vlan", "1611")
    assert site_value(enterprise.plan, "network.management.vlan") == "1611"
    for _ in range(2):
        enterprise.undo()
    assert enterprise.scenario.site == () and site_badge(enterprise) == empty


def test_a_design_without_hosts_has_no_fields(catalog: Catalog) -> None:
    workbook = Workbook(catalog)
    assert site_badge(workbook) == "" and site_data(workbook) == {"shown": False}


def test_a_workbook_is_taken_over_and_a_wrong_one_changes_nothing(enterprise: Workbook) -> None:
    (content,) = design_files(enterprise.plan, ["xlsx"]).values()
    book, out = openpyxl.load_workbook(io.BytesIO(content)), io.BytesIO()
    cells = {row[8].value: row[4] for row in book[SHEET].iter_rows(min_row=5)}
    cells["site.dns.domain"].value = "gpu.example.com"
    book.save(out)
    take_workbook(enterprise, "typed.xlsx", out.getvalue())
    assert enterprise.scenario.site == (("dns.domain", "gpu.example.com"),) and enterprise.notice[0] == "note"
    before = enterprise.scenario
    cells["site.dns.domain"].value = "no name"
    out = io.BytesIO()
    book.save(out)
    for wrong in (out.getvalue(), b"no workbook", b"", b"0" * 40_000_000):
        take_workbook(enterprise, "typed.xlsx", wrong)
        assert enterprise.scenario is before and enterprise.notice[0] == "stop"
    enterprise.undo()
    assert enterprise.scenario.site == () and "site-file" in EVENTS
