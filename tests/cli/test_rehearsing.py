"""``gpuplan rehearse``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from approved import has_approved
from command_line import run


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
