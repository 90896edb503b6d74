"""``gpuplan rehearse``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from approved import has_approved
from command_line import run
from power_on_designs import one_large_among_small

from gpuplan.catalog import Catalog


def test_upgrades_restarts_and_a_week(capsys: pytest.CaptureFixture[str], mine: Path) -> None:
    """Eight VMs of 3 GPUs on nine hosts of 4: the ninth takes what leaves another."""
    code, out, err = run(capsys, "rehearse", str(mine))
    assert (code, err) == (0, "")
    assert "in the order 9, 1\u20138" in " ".join(out.split()) and has_approved(out)
    code, out, _ = run(capsys, "rehearse", str(mine), "--json")
    (cluster,) = json.loads(out)["clusters"].values()
    assert cluster["upgrade"]["works"] and cluster["upgrade_as_designed"]["works"]


def test_one_host_or_one_failure(capsys: pytest.CaptureFixture[str], mine: Path) -> None:
    code, out, _ = run(capsys, "rehearse", str(mine), "--host", "2")
    assert code == 0 and out.startswith("Host 2 of the") and out.count("Team") == 1
    code, out, _ = run(capsys, "rehearse", str(mine), "--fail", "1,2", "--json")
    data = json.loads(out)
    assert (data["vms"], data["hosts"], data["best"]) == (2, [1, 2], 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host", "99"), "1 to 9"),
        (("--host", "1,2"), "one host"),
        (("--fail", "x"), "1 to 9"),
        (("--fail", "nowhere:1"), "nowhere"),
    ],
)
def test_a_host_that_is_not_there_is_named(
    capsys: pytest.CaptureFixture[str], mine: Path, arguments: tuple[str, str], said: str
) -> None:
    code, out, err = run(capsys, "rehearse", str(mine), *arguments)
    assert (code, out) == (2, "") and said in err


def test_bitfusion_has_nothing_to_rehearse(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "rehearse", "starter", "--host", "1")
    assert code == 2 and "Bitfusion" in err


@pytest.fixture
def design(tmp_path: Path, catalog: Catalog) -> str:
    path = tmp_path / "design.yaml"
    path.write_text(one_large_among_small(catalog).scenario.to_yaml(), encoding="utf-8")
    return str(path)


def test_the_answer_and_its_data(capsys: pytest.CaptureFixture[str], design: str) -> None:
    code, out, err = run(capsys, "power-on", design, "--orders", "200")
    assert (code, err) == (0, "")
    assert "Best arrangement: 2 hosts" in out and "DRS consolidation" in out
    code, out, _ = run(capsys, "power-on", design, "--orders", "200", "--consolidate", "--json")
    (cluster,) = json.loads(out)["clusters"]
    assert code == 0 and cluster["settings"][0]["chance"] == 1 and cluster["orders"] == 200


def test_progress_in_lines_of_json(capsys: pytest.CaptureFixture[str], design: str) -> None:
    code, out, _ = run(capsys, "power-on", design, "--orders", "200", "--progress")
    *steps, last = map(json.loads, out.splitlines())
    assert code == 0 and steps and all(0 < step["done"] <= 1 for step in steps)
    assert last["power_on"]["clusters"][0]["id"] == "vgpu"


def test_an_order_is_watched(capsys: pytest.CaptureFixture[str], design: str) -> None:
    code, out, _ = run(capsys, "power-on", design, "--watch", "--orders", "100")
    assert code == 0 and has_approved(out, "1 VM", "5") and "Host 2" in out
    code, out, _ = run(capsys, "power-on", design, "--order", "largest", "--json")
    steps = json.loads(out)["clusters"][0]["steps"]
    assert code == 0 and [step["host"] for step in steps] == [1, 2, 2, 2, 2]
    code, out, _ = run(capsys, "power-on", design, "--watch", "--consolidate", "--orders", "50")
    assert code == 0 and "All 5 VMs start" in out, "without a bad order a random one is shown"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--orders", "0"), "--orders"),
        (("--order", "largset"), "--order"),
        (("--order", "priority"), "--order"),
        (("--order", "worst", "--consolidate"), "--order"),
        (("--reserve", "3"), "availability.reserved_hosts"),
        (("--sizes", "mixed", "--reserve", "-1"), "--reserve"),
    ],
)
def test_what_cannot_be_is_refused(
    capsys: pytest.CaptureFixture[str], design: str, options: tuple[str, ...], named: str
) -> None:
    code, out, err = run(capsys, "power-on", design, *options)
    assert (code, out) == (2, "") and named in err and len(err.splitlines()) == 1
