"""``gpuplan inventory`` and ``gpuplan drift``."""

from __future__ import annotations

import json
from pathlib import Path

import drifts
import pytest
from command_line import run
from estates import card, export, host, vgpu, vm

from gpuplan import Catalog

CARDS = [card(f"0000:{at:02x}:00.0") for at in range(16, 144, 16)]


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    path = tmp_path / "vcenter.json"
    hosts = [host(at, CARDS) for at in (1, 2)]
    path.write_text(json.dumps(export(hosts, [vm(1, 1, vgpu("nvidia_l40s-24c"))])), encoding="utf-8")
    return path


def test_the_collector_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "inventory", "--print-collector")
    assert (code, err) == (0, "")
    assert "Get-View" in out and "Out-File" in out


def test_an_estate_as_text_and_as_json(capsys: pytest.CaptureFixture[str], exported: Path) -> None:
    code, out, _ = run(capsys, "inventory", str(exported))
    assert code == 0 and "esx1.example.test" in out
    code, out, _ = run(capsys, "inventory", str(exported), "--json")
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert data["existing"].startswith("2 x 8 l40s-48gb")
    assert data["evacuation"] == {"esx1.example.test": []}


def test_a_design_on_these_hosts_says_what_must_be_bought(
    capsys: pytest.CaptureFixture[str], exported: Path
) -> None:
    code, out, _ = run(capsys, "inventory", str(exported), "--scenario", "enterprise", "--json")
    data = json.loads(out)
    assert code == 0
    assert data["hosts_there"][0]["hosts"] == 2 and data["inventory"]


def test_more_gpus_than_a_host_of_a_scenario_can_have_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "hosts.csv"
    path.write_text("Host,GPUs,Model\na,20,L40S\n", encoding="utf-8")
    code, out, _ = run(capsys, "inventory", str(path), "--json")
    data = json.loads(out)
    assert (code, data["existing"], len(data["left_out"]), len(data["gpus"])) == (0, "", 1, 20)


@pytest.mark.parametrize("arguments", [(), ("none.csv",), ("--gpu", "P100")])
def test_what_is_missing_is_named(
    capsys: pytest.CaptureFixture[str], exported: Path, arguments: tuple[str, ...]
) -> None:
    files = [str(exported)] if "--gpu" in arguments else []
    code, _, err = run(capsys, "inventory", *files, *arguments)
    assert code == 2 and len(err.splitlines()) == 1


@pytest.fixture
def as_planned(tmp_path: Path, catalog: Catalog) -> str:
    """The export of a vCenter whose estate is as planned but for one VM that is off."""
    now = drifts.drift("assistant")
    estate = drifts.replace_vm(now.estate, "acme-search-02", on=False)
    file = tmp_path / "vcenter.json"
    file.write_text(json.dumps(drifts.exported(estate, catalog)), encoding="utf-8")
    return str(file)


def test_it_prints_the_differences_of_an_export(capsys: pytest.CaptureFixture[str], as_planned: str) -> None:
    code, out, err = run(capsys, "drift", "assistant", as_planned)
    assert (code, err) == (0, "")
    assert "acme-search-02" in out
    code, out, _ = run(capsys, "drift", "assistant", as_planned, "--json")
    data = json.loads(out)
    assert code == 0
    assert [(row["code"], row["subjects"]) for row in data["findings"]] == [("vm-off", ["acme-search-02"])]
    assert [each["unplaced"] for each in data["tolerance"]] == [[]]
    assert {vm["by"] for vm in data["vms"]} == {"name"}


def test_a_pattern_states_the_group(capsys: pytest.CaptureFixture[str], as_planned: str) -> None:
    code, out, _ = run(capsys, "drift", "assistant", as_planned, "--json", "--match", "*search*=developers")
    data = json.loads(out)
    assert code == 0
    stated = {vm["name"]: vm["group"] for vm in data["vms"] if vm["by"] == "stated"}
    assert stated == {"acme-search-01": "developers", "acme-search-02": "developers"}
    assert {row["code"] for row in data["findings"]} == {"vm-off", "vm-extra", "vm-missing"}


@pytest.mark.parametrize("pattern", ["ml-*", "ml-*=nobody", "=developers"])
def test_a_pattern_without_a_group_is_refused(
    capsys: pytest.CaptureFixture[str], as_planned: str, pattern: str
) -> None:
    code, out, err = run(capsys, "drift", "assistant", as_planned, "--match", pattern)
    assert (code, out) == (2, "")
    assert "--match" in err and "data-scientists" in err and err.count("\n") == 1


def test_a_file_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "drift", "assistant")
    assert code == 2
    assert "--print-collector" in err
