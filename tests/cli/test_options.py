"""Options that several commands share."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from approved import has_approved
from assistants import assistant
from command_line import FEW, run
from model_configs import config_of

from gpuplan.catalog import Catalog
from gpuplan.scenario import load_scenario


def test_files_that_are_not_there_or_too_large(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    huge = tmp_path / "huge.yaml"
    with huge.open("wb") as file:
        file.truncate(50_000_000)
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(bytes(range(256)))
    for name, words in [
        ("no-such-example", "cannot read no-such-example"),
        (str(tmp_path), "cannot read"),
        (str(huge), "at most 1,000,000 bytes"),
        (str(binary), "not UTF-8"),
    ]:
        code, out, err = run(capsys, "plan", name)
        assert (code, out) == (2, "")
        assert words in err
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--hosts", "1", "--down", "1"], "cannot simulate"),
        (["--hosts", "seven"], '--hosts: "seven" is not valid: a whole number from 1'),
        (["--hosts", "-3"], '--hosts: "-3" is not valid'),
        (["--hosts", "7,0"], '--hosts: "0" is not valid'),
        (["--around", "-5"], '--around: "-5" is not valid: a whole number from 0'),
        (["--down", "-1"], '--down: "-1" is not valid: a whole number from 0'),
        (["--seed", "-1"], '--seed: "-1" is not valid'),
    ],
)
def test_what_cannot_be_simulated_is_said(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    code, out, err = run(capsys, "demand", "starter", "--simulate", *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_options_of_a_simulation_are_read_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "demand", "starter", "--hosts", "0")
    assert (code, out) == (2, "")
    assert "--hosts" in err


def test_progress_is_told_line_by_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The app reads these lines; the last one holds what was found."""
    given = load_scenario("starter").to_yaml().encode()
    for command, key, more in (("explore", "exploration", FEW), ("sensitivity", "sensitivity", ())):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        code, out, err = run(capsys, command, "-", "--progress", *more)
        assert (code, err) == (0, "")
        *steps, last = [json.loads(line) for line in out.splitlines()]
        assert steps
        shares = [step["done"] for step in steps]
        assert shares == sorted(shares)
        assert all(0 < share <= 1 and step["step"] for share, step in zip(shares, steps, strict=True))
        assert set(last) == {"done", key}
        assert last["done"] == 1
    assert {"bars", "thresholds"} <= set(last["sensitivity"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("explore", "starter", "--gpu", "v1000"), ["--gpu", "v1000", "gpuplan catalog gpus"]),
        (("explore", "starter", "--server", "abacus"), ["--server", "abacus", "gpuplan catalog servers"]),
        (("explore", "starter", "--link", "3"), ["--link", "one of"]),
        (("explore", "starter", "--gpus-per-host", "99"), ["--gpus-per-host", "99"]),
        (("explore", "starter", "--failures", "x"), ["--failures", "x"]),
        (("explore", "starter", "--workers", "-1"), ["--workers", "-1"]),
        (("explore", "starter", "--engine", "dask"), ["cannot explore", "scheduler"]),
        (("compare", "starter"), ["file", "2 to 4 designs"]),
        (("compare", "-", "-"), ["at most one of them from standard input"]),
        (("compare", *["starter"] * 5), ["2 to 4 designs"]),
        (("cost", "no-such-example"), ["cannot read no-such-example"]),
        (("sensitivity", "no-such-example"), ["cannot read no-such-example"]),
    ],
)
def test_wrong_designs_and_options_are_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: list[str]
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert all(word in err for word in words), err


@pytest.fixture
def ours(catalog: Catalog, tmp_path: Path) -> tuple[str, str]:
    """A scenario with a model of its own, and its configuration."""
    config, scenario = tmp_path / "Ours-8B" / "config.json", tmp_path / "ours.yaml"
    config.parent.mkdir()
    config.write_text(json.dumps(config_of(catalog.row("llm_models", "qwen3-8b"))), encoding="utf-8")
    scenario.write_text(assistant(model="ours-8b", weights="bf16").to_yaml(), encoding="utf-8")
    return str(scenario), str(config)


@pytest.mark.parametrize("command", ("plan", "network", "cost", "demand", "traffic"))
def test_a_scenario_may_name_a_model_that_a_file_describes(
    capsys: pytest.CaptureFixture[str], ours: tuple[str, str], command: str
) -> None:
    scenario, config = ours
    assert run(capsys, command, scenario)[0] == 2
    code, _, err = run(capsys, command, scenario, "--model-config", config)
    assert code == 0 and has_approved(err, "ours-8b", "8.19")


def test_a_model_of_a_file_may_have_another_name_and_is_in_the_files(
    capsys: pytest.CaptureFixture[str], ours: tuple[str, str], tmp_path: Path
) -> None:
    scenario, config = ours
    assert run(capsys, "plan", scenario, "--model-config", f"other={config}")[0] == 2
    code, *_ = run(
        *(capsys, "report", scenario, "--model-config", f"Ours 8B={config}"),
        *("--only", "yaml", "--to", str(tmp_path / "out")),
    )
    assert code == 0
    [written] = (tmp_path / "out").rglob("*.yaml")
    assert [id for id, _ in load_scenario(written).models] == ["ours-8b"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        ("{}", "hidden_size"),
        ('{"hidden_size": -3}', "config.hidden_size"),
        ("", "config"),
    ],
)
def test_a_file_that_is_no_model_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], ours: tuple[str, str], tmp_path: Path, content: str | None, words: str
) -> None:
    file = tmp_path / "other.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    code, out, err = run(capsys, "plan", ours[0], "--model-config", str(file))
    assert (code, out) == (2, "") and words in err and len(err.splitlines()) == 1
