"""The command line as a whole: exit codes, mistakes, terminals; once for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run

from gpuplan import __version__
from gpuplan.analysis.candidates import SHARING
from gpuplan.analysis.compare import FEWEST, MOST
from gpuplan.analysis.power_on import ORDERS
from gpuplan.audit import FORMATS
from gpuplan.cli import COMMANDS, main
from gpuplan.cli.language import SHIPPED
from gpuplan.deliver import KINDS
from gpuplan.facts import own_rows
from gpuplan.scenario import MAX_GPUS, one_line
from gpuplan.wording import NAMES

BAD = {
    "unknown-field.yaml": ("colour: red", ["colour", "red", "known are"]),
    "negative.yaml": ("groups: [{id: a, people: -3}]", ["groups.a.people", "-3", "from 0 to 100\u202f000"]),
    "absurd.yaml": ("groups: [{id: a, people: 99999999}]", ["groups.a.people", "99999999"]),
    "gpu.yaml": ("hardware: {gpu: v1000}", ["hardware.gpu", "v1000", "gpuplan catalog gpus"]),
    "too-many.yaml": (
        "hardware: {gpu: v100-pcie-32gb, server: dell-c4140, gpus_per_host: 8}",
        ["hardware.gpus_per_host", "8", "at most 4"],
    ),
    "too-large-vm.yaml": ("groups: [{id: a, gpus_each: 8}]", ["groups.a.gpus_each", "8", "at most 4"]),
    "list.yaml": ("- a\n- b", ["a list"]),
    "bomb.yaml": ("a: &a [x, x]\nb: [*a, *a]", ["anchors"]),
    "broken.yaml": ("a: [", ["not valid YAML", "line"]),
    "huge-number.yaml": ("groups: [{id: a, people: 0x" + "f" * 20_000 + "}]", ["groups.a.people"]),
    "terminal.yaml": ('"\\e[31mred\\nline": 1', ["no such field"]),
    "surrogate.yaml": ('name: "\\ud800"', ["name"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_exit_2_with_a_line_that_says_what_to_change(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    text, words = BAD[name]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    code, out, err = run(capsys, "plan", str(path))
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
    assert one_line(err.strip()) == err.strip()
    assert all(word in err for word in words), err


def test_one_line_per_problem(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("colour: red\ngroups: [{id: a, people: -3, gpus_each: 99}]", encoding="utf-8")
    code, _, err = run(capsys, "plan", str(path))
    assert code == 2
    assert len(err.splitlines()) == 3


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["plan"], ["plan", "a", "b"]])
def test_wrong_arguments(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: gpuplan" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("explor starter", "explore"),
        ("cost starter --jsn", "--json"),
        ("plan enterprse", "enterprise"),
        ("network curent", "current"),
        ("compare starter startr", "starter"),
        ("sensitivity starter --progres1", "--progress"),
        ("demand starter --when wek", "week"),
        ("explore starter --gpu v100", "v100-pcie-16gb"),
        ("explore starter --server r740dx", "dell-r740xd"),
        ("explore starter --sharing mgi", "mig"),
        ("report starter --to x --only docs", "docx"),
        ("audit pyproject.tml", "pyproject.toml"),
        ("audit pyproject.toml --time-zone Europe/Belin", "Europe/Berlin"),
        ("catalog sevrers", "servers"),
        ("app --prot 99", "--port"),
        ("completion bsh", "bash"),
        ("schema --hlp", "--help"),
        ("calibrate --jsom", "--json"),
    ],
)
def test_a_misspelt_word_is_refused_with_the_nearest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str, near: str
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    try:
        code = main(line.split())
    except SystemExit as end:
        code = int(end.code or 0)
    out, err = capsys.readouterr()
    assert code and not out
    assert near in err.rpartition("did you mean ")[2].split("?")[0].split(" or "), err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for argument, said in [("--version", __version__), ("--help", "plan")]:
        with pytest.raises(SystemExit) as caught:
            main([argument])
        assert caught.value.code == 0
        assert said in capsys.readouterr().out


def gpuplan(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "gpuplan.cli", *arguments],
        capture_output=True,
        env={**os.environ, **environment},
    )


def test_for_real(tmp_path: Path) -> None:
    done = gpuplan("plan", "starter", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["totals"]["hosts"] == 8
    path = tmp_path / "mine.yaml"
    path.write_text("colour: red", encoding="utf-8")
    done = gpuplan("plan", str(path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr


def test_a_terminal_that_knows_few_characters(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        'name: "Universit\u00e4t \u6f22"\ngroups: [{id: a, name: "\u6f22", people: 12000}]\n',
        encoding="utf-8",
    )
    done = gpuplan("plan", str(path), PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert b"Universit" in done.stdout


def test_a_reader_that_goes_away() -> None:
    code = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-m', 'gpuplan.cli', 'catalog'], stdout=subprocess.PIPE, "
        "stderr=subprocess.PIPE)\n"
        "p.stdout.close(); err = p.stderr.read(); p.wait(); sys.stdout.write(repr((p.returncode, err)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "(0, b'')"


def test_very_many_mistakes_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(f"k{n}: 1" for n in range(100)))
    code, _, err = run(capsys, "plan", str(path))
    assert (code, len(err.splitlines()), err.splitlines()[-1]) == (2, 21, "and 80 more")


def test_the_help_of_compare_says_how_many_designs_can_be_compared() -> None:
    assert f"{FEWEST} to {MOST} designs" in COMMANDS["compare"][1]


def test_what_a_library_prints_beside_python_stays_out_of_the_answer() -> None:
    """A solver in C writes to the descriptor of standard output; the JSON must still be JSON."""
    code = (
        "import os, sys\n"
        "from gpuplan import cli\n"
        "from gpuplan.cli import designs\n"
        "plan = designs.run_plan\n"
        "designs.run_plan = lambda args: (os.write(1, b'noise'), plan(args))[1]\n"
        "sys.argv = ['gpuplan', 'plan', 'starter', '--json']\n"
        "sys.exit(cli.main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["scenario"]["name"] == "Starter example"
    assert done.stderr == "noise"


def test_choices_of_options_are_those_of_the_code() -> None:
    chosen = {
        (row["commands"], row["option"]): tuple(row["choices"].split("; "))
        for row in own_rows("words/options")
        if row["choices"]
    }
    assert chosen["demand", "--when"] == tuple(NAMES["hours simulated"])
    assert chosen["explore", "--sharing"] == SHARING
    assert chosen["report", "--only"] == tuple(KINDS)
    assert chosen["audit", "--format"] == tuple(FORMATS)
    defaults = {row["option"]: row["default"] for row in own_rows("words/options")}
    assert defaults["--orders"] == str(ORDERS) and defaults["--language"] == SHIPPED
    numbers = {row["option"]: row["number"] for row in own_rows("words/options") if row["number"]}
    assert numbers["--installed"].endswith(f" {MAX_GPUS}") and numbers["--largest"].endswith(f" {MAX_GPUS}")
