"""Upgrades rehearsed on the hosts step: worked out when opened, each row empties its host on the picture."""

from __future__ import annotations

import json

import pytest
from approved import has_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.events import EVENTS
from gpuplan.app.state import Workbook
from gpuplan.app.steps.rehearse import rehearse_data
from gpuplan.catalog import Catalog
from gpuplan.plan import rehearsal
from gpuplan.report.tables.rehearsal import NOT_REHEARSED, TOO_LARGE
from gpuplan.scenario import load_scenario


@pytest.fixture
def vgpus(catalog: Catalog) -> Workbook:
    """The example with vGPUs of many sizes."""
    return Workbook(catalog, load_scenario("current"))


def test_where_bitfusion_shares_gpus_there_is_nothing_to_rehearse(book: Workbook) -> None:
    assert rehearse_data(book)["text"][0][0]["text"] == NOT_REHEARSED


def test_verdict_tables_and_a_row_that_empties_its_host(vgpus: Workbook) -> None:
    data = rehearse_data(vgpus)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert has_approved(data["text"][0][0]["text"], "2 VMs") and "largest first" in data["text"][1][0]["text"]
    upgrades, restarts, week = data["tables"]
    assert len(upgrades["rows"]) == len(restarts["rows"]) == 10 and len(week["rows"]) == 1
    (act,) = upgrades["rows"][0][0]["acts"]
    assert act["text"] == "Evacuate"
    EVENTS[act["event"]](vgpus, act["rest"])
    assert vgpus.maintenance == {"vgpu": (10,)} and not vgpus.failed.get("vgpu")
    (act,) = rehearse_data(vgpus)["tables"][0]["rows"][0][0]["acts"]
    assert act["text"] == "Bring back"
    EVENTS[act["event"]](vgpus, act["rest"])
    assert not vgpus.maintenance.get("vgpu")
    EVENTS["maintain"](vgpus, {"pool": "vgpu", "host": 99})
    assert not vgpus.maintenance.get("vgpu")


def test_a_cluster_that_is_too_large_says_so(vgpus: Workbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "LOOKS", 100)
    data = rehearse_data(vgpus)
    assert data["shown"] and data["text"][0][0]["text"] == TOO_LARGE and not data.get("tables")
