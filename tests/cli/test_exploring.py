"""``gpuplan explore``: forms, parts, and what is refused."""

from __future__ import annotations

import csv
import io
import json

import pytest
from command_line import FEW, run


def test_explore_ranks_designs_as_text_json_and_csv(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "explore", "enterprise", *FEW)
    assert (code, err) == (0, "")
    assert "Winner" in out
    code, out, _ = run(capsys, "explore", "enterprise", *FEW, "--json")
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert code == 0
    assert data["winner"]["why_not"] == []
    options = [option for name in ("ranked", "unpriced", "rejected") for option in data[name]]
    own = data["asked"]["candidate"]
    for option in options:
        given = option["candidate"]
        assert given == own or (given["gpu"], given["server"], given["link_gbit_s"]) == (
            "v100-pcie-32gb",
            "",
            100,
        )
    code, out, _ = run(capsys, "explore", "enterprise", *FEW, "--csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["label"] for row in rows] == [option["label"] for option in options]


def test_each_part_of_what_is_explored_can_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    parts = (
        "--sharing",
        "vgpu",
        "--sharing",
        "as asked",
        "--failures",
        "1",
        "--failures",
        "2",
        "--failures",
        "1",
    )
    _, out, _ = run(capsys, "explore", "enterprise", *FEW, *parts, "--json")
    data = json.loads(out)
    found = {
        (option["candidate"]["sharing"], option["candidate"]["host_failures"])
        for name in ("ranked", "unpriced", "rejected")
        for option in data[name]
    }
    assert found == {(sharing, n) for sharing in ("vgpu", "as asked") for n in (1, 2)}


def test_all_wrong_options_of_an_exploration_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = run(
        capsys, "explore", "starter", "--gpu", "a", "--server", "b", "--link", "3", "--failures", "9"
    )
    assert len(err.splitlines()) == 4


def test_ctrl_c_ends_quietly(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpuplan.cli.exploring.explore", interrupted)
    assert run(capsys, "explore", "starter") == (130, "", "")
