"""The fabric as the screen has it: figures, drawing, settings, failures."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved
from site_designs import two_sites

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps import fabric as step
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict

Data = dict[str, Any]


def book_of(catalog: Catalog, name: str) -> Workbook:
    return Workbook(catalog, from_dict({}) if name == "blank" else load_scenario(name))


@pytest.fixture
def enterprise(catalog: Catalog) -> Workbook:
    return book_of(catalog, "enterprise")


def figures(data: Data) -> dict[str, Data]:
    return {figure["label"]: figure for figure in data["figures"]}


def rows(data: Data) -> dict[str, list[Data]]:
    """Rows of the first table by the text of their first cell."""
    return {row[0]["text"]: row for row in data["tables"][0]["rows"]}


def test_the_fabric_in_figures_and_as_a_drawing(enterprise: Workbook) -> None:
    shown = figures(step.fabric_data(enterprise))
    found = enterprise.plan.cabling
    assert found is not None
    assert found.switches is not None
    assert (shown["Shared ports per GPU host"]["value"], shown["RDMA ports"]["value"]) == ("2", "1")
    assert shown["Distributed switches"]["value"] == "2"
    assert (shown["Leaves"]["value"], shown["Spines"]["value"]) == ("2", "0")
    assert shown["Cables to hosts"]["value"] == "24"
    assert all(
        enterprise.plan.lines[figure["key"]].value == float(figure["value"].removesuffix(":1"))
        for figure in shown.values()
    )
    (drawing,) = step.drawing_data(enterprise)["fabrics"]
    assert drawing["hosts"]["rdma"] == 1
    assert is_approved(drawing["hosts"]["ports"], "2", "1", "100 Gbit/s", "2")
    assert drawing["hosts"]["pair"] == "8 GPU hosts"
    for words in ("2 leaf switches SN3700C", "without spines", "8 GPU hosts", "2 shared + 1 RDMA ports"):
        assert words in drawing["about"]
    enterprise.edit("network.transport", "infiniband")
    (drawing,) = step.drawing_data(enterprise)["fabrics"]
    assert not drawing["hosts"]["rdma"]
    assert is_approved(drawing["hosts"]["apart"], "1")
    enterprise.edit("network.compute_hosts", "20")
    assert is_approved(step.drawing_data(enterprise)["fabrics"][0]["hosts"]["pair"], "8 GPU hosts", "20")


def test_many_switches_are_drawn_in_part_and_counted_in_words(catalog: Catalog) -> None:
    book = book_of(catalog, "current")
    book.edit("demand.stated_gpus", "1500")
    book.edit("demand.rule", "stated")
    (drawing,) = step.drawing_data(book)["fabrics"]
    assert drawing["leaves"]["count"] > drawing["leaves"]["drawn"] == step.SHOWN_SWITCHES
    assert drawing["spines"]["drawn"] <= step.SHOWN_SWITCHES
    assert f"{drawing['leaves']['count']} leaf switches" in drawing["about"]
    assert drawing["hosts"]["pair"].startswith("up to ")
    assert figures(step.fabric_data(book))["Spines"]["note"] == drawing["spines"]["name"]


def test_each_fabric_is_drawn_for_itself(catalog: Catalog) -> None:
    """56 hosts in Berlin under two spines, 41 in Austin on a pair without; each with its own words."""
    book = Workbook(catalog, two_sites(220, 160))
    berlin, austin = step.drawing_data(book)["fabrics"]
    assert (berlin["spines"]["count"], berlin["spines"]["links"], berlin["leaves"]["count"]) == (2, 2, 4)
    assert (austin["spines"]["count"], austin["peer"]["links"], austin["leaves"]["count"]) == (0, 4, 2)
    assert [each["hosts"]["text"] for each in (berlin, austin)] == [["56 GPU hosts"], ["41 GPU hosts"]]
    for each, site in ((berlin, "Berlin"), (austin, "Austin")):
        assert site in each["name"] and each["about"].startswith(each["name"])
    shown = figures(step.fabric_data(book))
    assert (shown["Leaves"]["value"], shown["Spines"]["value"]) == ("6", "2")
    assert shown["Cables to hosts"]["value"] == "194" and "20" in shown["Cables to hosts"]["note"]
    assert shown["Oversubscription"]["value"] == "2.6:1" and "2" in shown["Oversubscription"]["note"]


def test_without_a_switch_the_reason_is_said(enterprise: Workbook, catalog: Catalog) -> None:
    enterprise.edit("network.link_gbit_s", "1")
    data = step.fabric_data(enterprise)
    assert has_approved(data["after"][0][1]["text"], "1 Gbit/s")
    assert step.drawing_data(enterprise) == {"shown": False}
    blank = book_of(catalog, "blank")
    assert has_approved(step.fabric_data(blank)["text"][0][0]["text"])
    assert not step.settings_data(blank)["shown"]
    assert not step.failures_data(blank)["shown"]


def test_settings_and_failures_name_their_parts(enterprise: Workbook) -> None:
    assert {"vCenter", "VMs"} <= set(rows(step.settings_data(enterprise)))
    failures = rows(step.failures_data(enterprise))
    assert has_approved(failures)
    assert all(cell["text"] for row in failures.values() for cell in row)


def test_compute_hosts_have_ports_of_their_own(enterprise: Workbook) -> None:
    assert not any("compute host" in label for label in figures(step.fabric_data(enterprise)))
    enterprise.edit("network.compute_hosts", "40")
    shown = figures(step.fabric_data(enterprise))["Ports per compute host"]
    assert shown["value"] == "2 + 1"
    assert is_approved(shown["note"], "40", "10 Gbit/s")
