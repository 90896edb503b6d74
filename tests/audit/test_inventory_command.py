"""``gpuplan inventory``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run
from estates import card, export, host, vgpu, vm

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
