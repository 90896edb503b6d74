"""Each name and address that is typed is in the document, in the workbook and in the values of Terraform."""

from __future__ import annotations

import html
import io
import re

import pytest
from site_values import all_typed

from gpuplan import Plan, make_plan
from gpuplan.deliver import design_files
from gpuplan.report.site import site_fields
from gpuplan.report.typed_site import typed_cells
from gpuplan.scenario import parse_scenario


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_every_name_is_in_document_and_workbook(plans: dict[str, Plan], name: str) -> None:
    full = make_plan(all_typed(plans[name]), plans[name].catalog)
    fields = [each for each in site_fields(full) if each.value]
    files = design_files(full, ["html", "xlsx", "yaml"])
    page, book, scenario = (
        next(f for n, f in files.items() if n.endswith(end)) for end in (".html", ".xlsx", ".yaml")
    )
    text = html.unescape(re.sub(r"<[^>]*>|[\u200b\u2060\u00ad]", "", page.decode()))
    assert [each.key for each in fields if each.value not in text] == []
    assert {cell.path: cell.text for cell in typed_cells(io.BytesIO(book)) if cell.text} == {
        each.path: each.value for each in fields
    }
    assert parse_scenario(scenario.decode()).site == full.scenario.site
    stated = {each.number for each in fields}
    open_marks = {mark[1:-1] for mark in re.findall("\u2039C[0-9]+\u203a", text)} - {
        "C12"
    }  # the example of a mark
    assert not open_marks & stated
