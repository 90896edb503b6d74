"""A design of several clusters has the same number of hosts wherever it is shown, delivered, cabled, powered and paid for."""

from __future__ import annotations

import io
import re
import zipfile

import openpyxl
import pytest
from summaries import document_of_one_design, summary_of
from workbooks import content

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver.document.docx_file import docx_bytes
from gpuplan.deliver.document.html_file import html_text
from gpuplan.deliver.infrastructure import infrastructure_files
from gpuplan.deliver.pptx import pptx_bytes
from gpuplan.report import cost_text, network_text, plan_dict, plan_text
from gpuplan.report.diagrams import hosts_sheets
from gpuplan.report.fabrics import fabric_sheets
from gpuplan.report.tables import TABLES
from gpuplan.scenario import from_dict, load_scenario


@pytest.fixture(scope="module")
def large(catalog: Catalog) -> Plan:
    """The current-generation example with 8,530 people on nine clusters."""
    data = load_scenario("current").to_dict()
    for group in data["groups"]:
        group["people"] = round(group["people"] * 70.5)
    return make_plan(from_dict(data), catalog)


def counts(text: str) -> set[int]:
    """Numbers of hundreds of hosts in a text."""
    plain = re.sub(r"<[^>]+>", " ", text).replace("\u202f", "")
    return {int(n) for n in re.findall(r"\b([1-9]\d\d)\s+(?:GPU )?hosts\b", plain)}


def packed(content: bytes) -> str:
    """The text of the members of a file that is packed."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return "".join(file.read(name).decode() for name in file.namelist() if name.endswith(".xml"))


def without_pictures(slides: str) -> str:
    """Slides without what is drawn of the hosts: hosts that are filled alike are drawn once with their number."""
    return re.sub(r"<p:grpSp\b.*?</p:grpSp>", "", slides, flags=re.DOTALL)


def test_the_numbers_of_the_plan(large: Plan) -> None:
    hosts, per_host = large.totals.hosts, large.scenario.hardware.gpus_per_host
    assert (len(large.pools), hosts) == (9, 565)
    assert hosts == 547 + 2 * 9 and large.totals.gpus == per_host * hosts
    data = plan_dict(large)
    assert sum(pool["hosts"] for pool in data["pools"]) == hosts
    assert sum(len(pool["placement"]) for pool in data["pools"]) == hosts
    assert {pool["kind"] for pool in data["pools"]} == {"vgpu"}
    assert next(p["hosts"] for p in data["postures"] if p["chosen"]) == hosts
    assert data["cabling"]["gpu_hosts"] == data["power"]["parts"][0]["count"] == hosts
    assert data["costs"]["hosts"][0] == hosts and data["costs"]["gpus"][0] == per_host * hosts
    bought = {material["key"]: material["quantity"] for material in data["costs"]["materials"]}
    assert bought["servers"] == hosts
    assert bought["host-cables"] == hosts * large.cabling.ports.total if large.cabling else None


@pytest.mark.by_day("seconds", 3)
def test_every_text_has_the_same_hosts(large: Plan) -> None:
    """Those for the demand (547), all (565), without spare ones and with one more are the only hundreds of hosts that are named."""
    known = {547, 546} | {posture.hosts for posture in large.postures}
    others = {
        int(n.value) for key, n in large.lines.items() if key == "pools.vgpu.clusters" for n in n.inputs
    }
    assert large.costs is not None
    allowed = known | others | {*large.costs.hosts}
    document = document_of_one_design(large)
    for text in (
        plan_text(large),
        cost_text(large),
        network_text(large),
        html_text(document),
        packed(docx_bytes(document)),
        without_pictures(packed(pptx_bytes(large, summary_of(large)))),
        *(sheet.svg for sheet in hosts_sheets(large)),
        *(text for path, text in infrastructure_files(large).items() if path.endswith("README.md")),
    ):
        found = counts(text)
        assert found <= allowed and (565 in found or not found), found
    assert 565 in counts(plan_text(large)) and 565 in counts(html_text(document))
    assert bool(fabric_sheets(large)) == bool(large.cabling and large.cabling.switches)


def test_every_list_of_hosts_has_all_of_them(large: Plan) -> None:
    file = openpyxl.load_workbook(io.BytesIO(content(large)), data_only=True)
    assert sum(row[2].value for row in file["Hosts"].iter_rows(min_row=5) if row[2].value) == 565
    clusters = TABLES["pools"](large)
    at = [column.key for column in clusters.columns].index("hosts")
    assert sum(row[at].value for row in clusters.cells()) == 565
    placed = TABLES["placement"](large)
    assert len({(row[0].value, row[1].value) for row in placed.cells()}) == 547
    files = infrastructure_files(large)
    for folder in ("vsphere", "vcf", "vcf/workloads"):
        listed = re.findall(r"length\(var\.\w+_hosts\) == (\d+)", files[f"terraform/{folder}/variables.tf"])
        assert sum(map(int, listed)) == 565
    for folder in ("vsphere", "vcf/workloads"):
        vms = sum(map(int, re.findall(r"  count +?= (\d+)", files[f"terraform/{folder}/vms.tf"])))
        assert vms == sum(group.vms_placed for group in large.groups)
