"""The command line, in the process and once for real."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from hostile.corpus import office, related

from gpuplan import __version__
from gpuplan.cli import main
from gpuplan.scenario import decode_scenario, json_schema, load_scenario

SCENARIO = "name: Mine\ngroups:\n- {id: a, name: Team, people: 8, gpus_each: 3}\n"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_plan_prints_the_design(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, err = run(capsys, "plan", name)
    assert (code, err) == (0, "")
    assert "Design decisions" in out
    assert "Messages" in out


def test_plan_of_a_file(capsys: pytest.CaptureFixture[str], mine: Path) -> None:
    code, out, _ = run(capsys, "plan", str(mine))
    assert code == 0
    assert "9  (8 for the demand + 1" in out  # eight VMs of 3 GPUs on hosts of 4, and a spare one


def test_plan_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "plan", "enterprise", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert data["totals"]["hosts"] == 8
    assert data["totals"]["gpus_after_failure"] == 28


def test_json_is_plain_ascii_so_that_every_terminal_can_carry_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text('name: "Universit\u00e4t \U0001f680"\n', encoding="utf-8")
    code, out, _ = run(capsys, "plan", str(path), "--json")
    assert code == 0
    assert out.isascii()
    assert json.loads(out)["scenario"]["name"] == "Universit\u00e4t \U0001f680"


def test_a_scenario_in_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(
        json.dumps({"demand": {"stated_gpus": 14}, "hardware": {"gpus_per_host": 2}}), encoding="utf-8"
    )
    code, out, _ = run(capsys, "plan", str(path), "--json")
    assert code == 0
    assert json.loads(out)["totals"]["hosts"] == 8


BAD = {
    "unknown-field.yaml": ("colour: red", ["colour", "red", "known are"]),
    "negative.yaml": ("groups: [{id: a, people: -3}]", ["groups.a.people", "-3", "from 0 to 100000"]),
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
    assert err.strip().isprintable()
    assert all(word in err for word in words), err


def test_one_line_per_problem(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("colour: red\ngroups: [{id: a, people: -3, gpus_each: 99}]", encoding="utf-8")
    code, _, err = run(capsys, "plan", str(path))
    assert code == 2
    assert len(err.splitlines()) == 3


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


def test_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "catalog")
    assert code == 0
    assert "Gpus" in out
    code, out, _ = run(capsys, "catalog", "v100")
    assert code == 0
    assert "Tesla V100 PCIe 32GB" in out
    code, out, err = run(capsys, "catalog", "unicorn")
    assert (code, out) == (1, "")
    assert "unicorn" in err


def test_the_table_that_an_error_names_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("gpus", "servers", "vsphere", "use_cases"):
        code, out, _ = run(capsys, "catalog", name)
        assert code == 0
        assert out


def test_schema(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "schema")
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(json_schema()))
    jsonschema.Draft202012Validator.check_schema(json.loads(out))


def test_a_catalog_of_one_s_own(capsys: pytest.CaptureFixture[str], tmp_path: Path, mine: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    _, before, _ = run(capsys, "plan", str(mine), "--json")
    (own / "gpus.csv").write_text(
        "item,parameter,value,low,high,unit,basis,source,locator,note\n"
        "l40s-48gb,name,Our own L40S,,,,quoted,vmware-bitfusion-faq,,\n",
        encoding="utf-8",
    )
    code, out, err = run(capsys, "plan", str(mine), "--json", "--catalog", str(own))
    assert (code, err) == (0, "")
    assert json.loads(out)["catalog"] != json.loads(before)["catalog"]
    assert json.loads(out)["totals"] == json.loads(before)["totals"]
    code, out, _ = run(capsys, "catalog", "l40s-48gb", "--catalog", str(own))
    assert "Our own L40S" in out


@pytest.mark.parametrize("content", ["item,parameter\nx,y\n", "not,a,catalog\n"])
def test_a_catalog_that_is_wrong(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, mine: Path, content: str
) -> None:
    (tmp_path / "gpus.csv").write_text(content, encoding="utf-8")
    code, out, err = run(capsys, "plan", str(mine), "--catalog", str(tmp_path))
    assert (code, out) == (2, "")
    assert "gpus.csv" in err
    assert "Traceback" not in err
    code, _, err = run(capsys, "plan", str(mine), "--catalog", str(tmp_path / "nowhere"))
    assert code == 2
    assert "nowhere" in err


def test_the_app_refuses_a_bad_file_before_it_starts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("colour: red", encoding="utf-8")
    code, _, err = run(capsys, "app", str(path), "--no-browser")
    assert code == 2
    assert "colour" in err


def test_token_and_path_of_the_app_come_from_options_or_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpuplan.app import serve

    asked: list[tuple[object, object]] = []
    for name in ("GPUPLAN_TOKEN", "GPUPLAN_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        serve, "serve", lambda **given: asked.append((given["token"], given["base_url"])) or 0
    )
    main(["app"])
    monkeypatch.setenv("GPUPLAN_BASE_URL", "/gpu")
    for arguments in (["app"], ["app", "--token", "other", "--base-url", "/team"]):
        monkeypatch.setenv("GPUPLAN_TOKEN", "hidden")
        main(arguments)
        assert "GPUPLAN_TOKEN" not in os.environ, "a session could read it"
    assert asked == [(None, "/"), ("hidden", "/gpu"), ("other", "/team")]


def test_a_path_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "app", "--base-url", "/(gpu)?")
    assert code == 2
    assert "--base-url: " in err
    assert "is not allowed: a path of letters" in err


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["plan"], ["plan", "a", "b"]])
def test_wrong_arguments(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: gpuplan" in capsys.readouterr().err


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


# ---- demand and audit

JOBS = "submit,duration,gpus,group\n" + "".join(
    f"2024-05-{6 + hour // 24:02} {hour % 24:02}:00:00,{3600 * (1 + hour % 3)},{1 + hour % 2},{'ab'[hour % 2]}\n"
    for hour in range(240)
)


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS, encoding="utf-8")
    return path


def test_demand_prints_rules_methods_silos_and_growth(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "demand", "enterprise")
    assert (code, err) == (0, "")
    for heading in (
        "What is enough",
        "Silos against the pool",
        "Growth",
        "binomial",
    ):
        assert heading in out
    code, out, _ = run(capsys, "demand", "enterprise", "--json")
    assert json.loads(out)["silos"]["pool"]["hosts"] == 8


def test_demand_simulates_other_hosts_and_failures(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "demand", "starter", "--simulate", "--hosts", "8,9", "--down", "1", "--json")
    assert code == 0
    assert [(t["hosts"], t["down"]) for t in json.loads(out)["simulated"]] == [(7, 1), (8, 1)]
    code, out, _ = run(capsys, "demand", "starter", "--simulate", "--when", "week")
    assert "Simulated on 8 hosts with 16 GPUs (whole week)" in out


def test_network_prints_what_the_link_carries_and_the_fabric(
    capsys: pytest.CaptureFixture[str], mine: Path
) -> None:
    code, out, err = run(capsys, "network", "starter")
    assert (code, err) == (0, "")
    for heading in ("GPUs over the network", "The vendor's rules", "What this link carries", "Fabric"):
        assert f"\n{heading}\n---" in out
    code, out, _ = run(capsys, "network", str(mine), "--json")
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert code == 0
    assert data["remote"] == []
    assert data["cabling"]["gpu_hosts"] == 9


def test_network_of_a_bad_file(capsys: pytest.CaptureFixture[str], mine: Path) -> None:
    mine.write_text(SCENARIO + "network: {link_gbit_s: fast}\n", encoding="utf-8")
    code, out, err = run(capsys, "network", str(mine))
    assert (code, out) == (2, "")
    assert "network.link_gbit_s" in err
    assert len(err.splitlines()) == 1


def test_the_catalog_holds_what_a_fit_gives(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "calibrate")
    assert (code, err) == (0, ""), out
    assert "The catalog holds what the fit gives" in out


def test_a_parameter_that_no_fit_gives_is_told_with_exit_code_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "assumptions.csv").write_text(
        "item,parameter,value,low,high,unit,basis,source,locator,note\n"
        "remoting,ready_s,0.9,0.8,1,s,fitted,gpuless-thesis,,\n",
        encoding="utf-8",
    )
    code, out, _ = run(capsys, "calibrate", "--json", "--catalog", str(tmp_path))
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert code == 1
    assert [(p["parameter"], p["value"]) for p in data["parameters"] if p["moved"]] == [("ready_s", 0.9)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--hosts", "1", "--down", "1"], "cannot simulate"),
        (["--hosts", "seven"], '--hosts: "seven" is not allowed: a whole number from 1'),
        (["--hosts", "-3"], '--hosts: "-3" is not allowed'),
        (["--hosts", "7,0"], '--hosts: "0" is not allowed'),
        (["--around", "-5"], '--around: "-5" is not allowed: a whole number from 0'),
        (["--down", "-1"], '--down: "-1" is not allowed: a whole number from 0'),
        (["--seed", "-1"], '--seed: "-1" is not allowed'),
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


def test_audit_prints_and_writes_a_scenario(
    capsys: pytest.CaptureFixture[str], jobs: Path, tmp_path: Path
) -> None:
    made = tmp_path / "made.yaml"
    code, out, err = run(
        capsys, "audit", str(jobs), "--on", "enterprise", "--scenario", str(made), "--installed", "10"
    )
    assert (code, err) == (0, "")
    assert "240 of 240 rows used" in out
    assert "480 h" not in out
    assert "The same jobs on 8 hosts with 32 GPUs" in out
    assert "0 % wait longer than 10 min" in " ".join(out.split())
    code, out, _ = run(capsys, "demand", str(made))
    assert code == 0
    assert "Few wait long (chosen)" in out


def test_audit_json_is_finite(capsys: pytest.CaptureFixture[str], jobs: Path) -> None:
    code, out, _ = run(capsys, "audit", str(jobs), "--on", "starter", "--json", "--largest", "1")
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert code == 0
    assert data["allocation"]["jobs"] == 120
    assert data["comparison"]["jobs"] == 120
    assert data["comparison"]["left_out_jobs"] == 0
    assert len(data["allocation"]["week_gpus"]) == 168
    code, out, _ = run(capsys, "audit", str(jobs), "--on", "starter", "--progress")
    lines = [json.loads(line) for line in out.splitlines()]
    assert lines[0] == {"step": "Reading jobs.csv"}
    assert set(lines[-1]) == {"audit", "scenario"}


def test_the_wait_of_a_replay_is_that_of_the_scenario_unless_another_is_given(
    capsys: pytest.CaptureFixture[str], jobs: Path, mine: Path
) -> None:
    mine.write_text(SCENARIO + "demand: {rule: wait-time, wait_min: 2.5, chance: 0.01}\n", encoding="utf-8")
    code, out, _ = run(capsys, "audit", str(jobs), "--on", str(mine))
    assert code == 0
    assert "At most 1 % of the jobs wait longer than 2.5 min" in out
    _, out, _ = run(capsys, "audit", str(jobs), "--on", str(mine), "--wait-min", "0", "--share", "20 %")
    assert "At most 20 % of the jobs wait longer than 0 min" in out


def test_a_trace_too_large_for_a_scenario_is_still_audited(
    capsys: pytest.CaptureFixture[str], jobs: Path, tmp_path: Path
) -> None:
    jobs.write_text(JOBS.replace(":00:00,3600,1,", ":00:00,3600000,99999,"), encoding="utf-8")
    code, out, _ = run(capsys, "audit", str(jobs))
    assert code == 0
    assert "No groups for a scenario: the jobs hold" in out
    assert "At once" not in out
    code, _, err = run(capsys, "audit", str(jobs), "--scenario", str(tmp_path / "made.yaml"))
    assert code == 2
    assert "no scenario is larger than" in err
    assert not (tmp_path / "made.yaml").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nofile.csv"], "cannot read nofile.csv: No such file or directory"),
        (["."], "cannot read .: Is a directory"),
        (
            ["jobs.csv", "--scenario", "nonexist/x.yaml"],
            "--scenario: nonexist/x.yaml is not allowed: a file that can",
        ),
        (["jobs.csv", "--scenario", "."], "Is a directory"),
        (["jobs.csv", "--skip", "0.95"], '--skip: "0.95" is not allowed: a share from 0 to 0.9'),
        (["jobs.csv", "--skip", "2"], '--skip: "2" is not allowed'),
        (["jobs.csv", "--installed", "0"], '--installed: "0" is not allowed: a whole number from 1'),
        (["jobs.csv", "--wait-min", "-1"], '--wait-min: "-1" is not allowed: a number from 0'),
        (["jobs.csv", "--share", "2"], '--share: "2" is not allowed: a share from 0.0001 to 0.5'),
        (["jobs.csv", "--share", "nan"], '--share: "nan" is not allowed'),
        (["jobs.csv", "--largest", "0"], "a size that some job of the file has"),
        (["jobs.csv", "--time-zone", "Factory"], "must be an IANA name"),
    ],
)
def test_a_wrong_option_of_an_audit_is_one_sentence(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    jobs: Path,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(jobs.parent)
    code, out, err = run(capsys, "audit", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_users_are_the_groups_where_none_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "users.csv"
    path.write_text(JOBS.replace("group", "user", 1), encoding="utf-8")
    _, out, _ = run(capsys, "audit", str(path), "--json")
    assert [g["name"] for g in json.loads(out)["allocation"]["groups"]] == ["b", "a"]


def test_jobs_too_large_for_the_hosts_are_left_out_and_counted(
    capsys: pytest.CaptureFixture[str], jobs: Path
) -> None:
    jobs.write_text(JOBS + "2024-05-16 00:00:00,60,64,a\n", encoding="utf-8")
    code, out, _ = run(capsys, "audit", str(jobs), "--on", "enterprise")
    assert code == 0
    assert "1 job left out: they ask for more GPUs than all hosts have." in out


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("", [], "empty"),
        ("a,b\n1,2\n", [], "gpus"),
        (JOBS, ["--column", "gpus"], "gpus=num_gpus"),
        (JOBS, ["--time-zone", "Mars/Olympus"], "IANA"),
        (JOBS, ["--largest", "0.5"], "some job"),
        ("time,gpu,percent\n2024-05-06 00:00:00,0,50\n", ["--on", "starter"], "only jobs can be replayed"),
        ("time,gpu,percent\n2024-05-06 00:00:00,0,50\n", ["--scenario", "out.yaml"], "no groups"),
    ],
)
def test_what_cannot_be_audited_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, arguments: list[str], words: str
) -> None:
    path = tmp_path / "file.csv"
    path.write_text(text, encoding="utf-8")
    code, out, err = run(capsys, "audit", str(path), *arguments)
    assert (code, out) == (2, "")
    assert words in err


FEW = (
    "--gpu",
    "v100-pcie-32gb",
    "--server",
    "any",
    "--gpus-per-host",
    "4",
    "--link",
    "100",
    "--workers",
    "1",
)
"""Options that leave few designs to explore."""


def test_cost_prints_years_bill_and_alternatives(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "cost", "enterprise")
    assert (code, err) == (0, "")
    for heading in ("What is paid when", "Bill of materials", "Rent or buy", "Spare hosts"):
        assert heading in out
    code, out, err = run(capsys, "cost", "enterprise", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert data["costs"]["total"] == pytest.approx(sum(data["costs"]["cash"]))


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


def test_sensitivity_prints_bars_and_thresholds(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "sensitivity", "starter")
    assert (code, err) == (0, "")
    assert "Cost, the input that moves it most first" in out
    assert "Where it is no longer 8 hosts" in out
    code, out, _ = run(capsys, "sensitivity", "starter", "--json")
    assert code == 0
    assert json.loads(out)["hosts"] == 8


def test_compare_prints_designs_in_columns(capsys: pytest.CaptureFixture[str], mine: Path) -> None:
    code, out, err = run(capsys, "compare", "starter", "enterprise", str(mine))
    assert (code, err) == (0, "")
    assert "* differs" in out
    code, out, _ = run(capsys, "compare", "starter", "starter", "--json")
    assert code == 0
    data = json.loads(out)
    assert not any(row["differs"] for row in data["rows"])


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
        (("compare", "-", "-"), ["at most one of them from the input"]),
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


def test_all_wrong_options_of_an_exploration_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = run(
        capsys, "explore", "starter", "--gpu", "a", "--server", "b", "--link", "3", "--failures", "9"
    )
    assert len(err.splitlines()) == 4


def test_ctrl_c_ends_quietly(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpuplan.cli.explore", interrupted)
    assert run(capsys, "explore", "starter") == (130, "", "")


def test_report_writes_the_files_where_it_is_told(
    capsys: pytest.CaptureFixture[str], mine: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "made" / "here"
    code, out, err = run(
        capsys, "report", str(mine), "--to", str(folder), "--only", "yaml", "--only", "terraform"
    )
    assert (code, err) == (0, "")
    written = {p for p in folder.rglob("*") if p.is_file()}
    assert {Path(line) for line in out.splitlines()} == written
    assert load_scenario(str(folder / "mine.yaml")) == load_scenario(str(mine))
    assert (folder / "terraform" / "README.md") in written


def test_report_says_what_it_does_for_a_program(
    capsys: pytest.CaptureFixture[str], mine: Path, tmp_path: Path
) -> None:
    code, out, _ = run(capsys, "report", str(mine), "--to", str(tmp_path), "--only", "yaml", "--progress")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert lines[-1] == {"done": 1, "files": ["mine.yaml"]}
    code, out, _ = run(capsys, "report", str(mine), "--to", "-", "--only", "yaml", "--progress")
    content = base64.b64decode(json.loads(out.splitlines()[-1])["files"]["mine.yaml"])
    assert code == 0 and decode_scenario(content) == load_scenario(str(mine))
    assert not Path("-").exists()


def test_report_with_a_template_that_is_none_says_so(
    capsys: pytest.CaptureFixture[str], mine: Path, tmp_path: Path
) -> None:
    for kind in ("docx", "pptx"):
        arguments = ("report", str(mine), "--to", str(tmp_path), "--only", kind, f"--{kind}-template")
        code, out, err = run(capsys, *arguments, str(mine))
        assert (code, out) == (2, "")
        assert f"{mine} was not taken: template is no {kind.upper()} file" in err and "Traceback" not in err
        code, _, err = run(capsys, *arguments, str(tmp_path / "none"))
        assert code == 2 and "cannot read" in err
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    code, _, err = run(capsys, "report", str(mine), "--to", str(blocked), "--only", "yaml")
    assert code == 2 and "cannot write" in err


def test_what_is_internal_is_printed_unless_it_is_for_the_customer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    scenario = (
        load_scenario("starter").with_value("internal.notes", "Ask Bob.").with_value("internal.margin", 0.2)
    )
    path = tmp_path / "own.yaml"
    path.write_text(scenario.to_yaml(), encoding="utf-8")
    _, ours, _ = run(capsys, "cost", str(path))
    _, theirs, _ = run(capsys, "cost", str(path), "--customer")
    assert "The customer pays" in ours and "margin of 20 %" in ours
    assert not re.search("margin|internal", theirs, re.I)
    assert "We earn" not in run(capsys, "cost", "starter")[1]
    _, ours, _ = run(capsys, "cost", str(path), "--json")
    _, theirs, _ = run(capsys, "cost", str(path), "--json", "--customer")
    found = {each["part"]: each for each in json.loads(ours)["internal"]}
    assert found["GPUs"]["earned"] == pytest.approx(0.2 * found["GPUs"]["price"], rel=1e-5)
    assert "internal" not in json.loads(theirs)
    assert json.loads(ours)["costs"]["total"] == json.loads(theirs)["costs"]["total"]
    assert "Ask Bob" in run(capsys, "plan", str(path), "--json")[1]
    assert "Ask Bob" not in run(capsys, "plan", str(path), "--json", "--customer")[1]
    for option, name in (((), "starter-example.yaml"), (("--internal",), "starter-example-internal.yaml")):
        code, _, _ = run(capsys, "report", str(path), "--to", str(tmp_path), "--only", "yaml", *option)
        assert code == 0
        assert ("Ask Bob" in (tmp_path / name).read_text(encoding="utf-8")) is bool(option)


def test_a_template_that_is_none_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(b"no zip file")
    options = ("report", "starter", "--to", str(tmp_path / "made"), "--only", "docx", "--docx-template")
    refused = f"{path} was not taken: template is no DOCX file"
    for given, words in ((path, refused), (tmp_path / "none", "cannot read"), (tmp_path, "cannot read")):
        code, out, err = run(capsys, *options, str(given))
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert words in err
    assert not (tmp_path / "made").exists()


def test_what_is_left_out_of_a_template_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "a.pptx"
    file = office("pptx", lambda parts: related(parts, "ppt/slides/slide1.xml", "image", "http://a.test/x"))
    path.write_bytes(file)
    made = str(tmp_path / "made")
    code, _, err = run(
        capsys, "report", "starter", "--to", made, "--only", "yaml", "--pptx-template", str(path)
    )
    assert code == 0
    said = f"{path} is used. Left out of it, because it would load from elsewhere or run: ppt/slides/"
    assert err.startswith(said)


def test_very_many_mistakes_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(f"k{n}: 1" for n in range(100)))
    code, _, err = run(capsys, "plan", str(path))
    assert (code, len(err.splitlines()), err.splitlines()[-1]) == (2, 21, "and 80 more")


def test_a_trace_is_called_what_it_was_called(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "arriving"
    path.write_text("submit,duration,gpus\n1970-01-01,60,1\n2024-05-01,60,1\n")
    code, _, err = run(capsys, "audit", str(path), "--name", "jobs\u202e.csv")
    assert code == 2
    assert err.startswith("cannot audit jobs\\u202e.csv: its jobs span")
