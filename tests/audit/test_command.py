"""``gpuplan audit``: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import drifts
import pytest
from approved import has_approved, is_approved
from assistants import assistant
from command_line import JOBS, SCENARIO, run
from estates import card, export, host, vgpu, vm

from gpuplan import Catalog, load_scenario


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
    assert has_approved(out, "8 hosts", "32 GPUs")
    assert has_approved(" ".join(out.split()), "0 %", "10 min")
    code, out, _ = run(capsys, "demand", str(made))
    assert code == 0
    assert has_approved(out)


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
    assert has_approved(out, "1 %", "2.5 min")
    _, out, _ = run(capsys, "audit", str(jobs), "--on", str(mine), "--wait-min", "0", "--share", "20 %")
    assert has_approved(out, "20 %", "0 min")


def test_a_trace_too_large_for_a_scenario_is_still_audited(
    capsys: pytest.CaptureFixture[str], jobs: Path, tmp_path: Path
) -> None:
    jobs.write_text(JOBS.replace(":00:00,3600,1,", ":00:00,3600000,99999,"), encoding="utf-8")
    code, out, _ = run(capsys, "audit", str(jobs))
    assert code == 0
    assert has_approved(out)
    assert "Concurrent" not in out
    code, _, err = run(capsys, "audit", str(jobs), "--scenario", str(tmp_path / "made.yaml"))
    assert code == 2
    assert has_approved(err)
    assert not (tmp_path / "made.yaml").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nofile.csv"], "cannot read nofile.csv: No such file or directory"),
        (["."], "cannot read .: Is a directory"),
        (
            ["jobs.csv", "--scenario", "nonexist/x.yaml"],
            "--scenario: nonexist/x.yaml is not valid: a file that can",
        ),
        (["jobs.csv", "--scenario", "."], "Is a directory"),
        (["jobs.csv", "--skip", "0.95"], '--skip: "0.95" is not valid: a share from 0 % to 90 %'),
        (["jobs.csv", "--skip", "2"], '--skip: "2" is not valid'),
        (["jobs.csv", "--installed", "0"], '--installed: "0" is not valid: a whole number from 1'),
        (["jobs.csv", "--wait-min", "-1"], '--wait-min: "-1" is not valid: a number from 0'),
        (["jobs.csv", "--share", "2"], '--share: "2" is not valid: a share from 0.01 % to 50 %'),
        (["jobs.csv", "--share", "nan"], '--share: "nan" is not valid'),
        (["jobs.csv", "--first-day", "1.4.2020"], 'first day: "1.4.2020": expected a date such as'),
        (
            ["jobs.csv", "--first-day", "2020-04-30", "--last-day", "2020-04-01"],
            "is before the first day, 2020",
        ),
        (
            ["jobs.csv", "--first-day", "2020-04-01", "--last-day", "2020-04-30"],
            "nothing is left from 2020-04-01",
        ),
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


def test_only_some_days_of_a_file(capsys: pytest.CaptureFixture[str], jobs: Path) -> None:
    code, out, _ = run(capsys, "audit", str(jobs), "--first-day", "2", "--last-day", "3", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["allocation"]["days"], found["allocation"]["jobs"]) == (2, 48 + 1)
    assert has_approved(found["reading"]["notes"][-1], "2")


def test_users_are_the_groups_where_none_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "users.csv"
    path.write_text(JOBS.replace("group", "user", 1), encoding="utf-8")
    _, out, _ = run(capsys, "audit", str(path), "--json")
    assert [g["name"] for g in json.loads(out)["allocation"]["groups"]] == ["b", "a"]


def test_columns_are_shown_as_read_and_corrected_by_hand(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "begin,took,plan_gpu,inst_num,queue,user\n0,90,50,4,600,a\n1,30,100,1,7,b\n0,x,50,4,8,b\n"
    )
    columns = ("--column", "start=begin:h", "--column", "duration=took:min")
    _, out, err = run(capsys, "audit", str(path), *columns)
    assert err == ""
    assert has_approved(" ".join(out.split()), "hours", "minutes")
    _, out, _ = run(capsys, "audit", str(path), *columns, "--json")
    found = json.loads(out)
    assert found["allocation"]["gpu_h"] == pytest.approx(3.5)
    assert [group["name"] for group in found["allocation"]["groups"]] == ["a", "b"]
    assert (found["reading"]["skipped"][0]["gpu_h"], found["reading"]["skipped"][0]["unknown"]) == (0, 1)
    _, out, _ = run(capsys, "audit", str(path), *columns, "--column", "times=", "--json")
    assert json.loads(out)["allocation"]["gpu_h"] == pytest.approx(1.25)


def test_jobs_too_large_for_the_hosts_are_left_out_and_counted(
    capsys: pytest.CaptureFixture[str], jobs: Path
) -> None:
    jobs.write_text(JOBS + "2024-05-16 00:00:00,60,64,a\n", encoding="utf-8")
    code, out, _ = run(capsys, "audit", str(jobs), "--on", "enterprise")
    assert code == 0
    assert has_approved(out, "1 job")


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("", [], "empty"),
        ("a,b\n1,2\n", [], "gpus"),
        (JOBS, ["--column", "gpus"], "gpus=num_gpus"),
        (JOBS, ["--time-zone", "Mars/Olympus"], "IANA"),
        (JOBS, ["--largest", "0.5"], "some job"),
        ("time,gpu,percent\n2024-05-06 00:00:00,0,50\n", ["--on", "starter"], "only jobs can be replayed"),
        ("time,gpu,percent\n2024-05-06 00:00:00,0,50\n", ["--scenario", "out.yaml"], "no workloads"),
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


def test_a_trace_is_called_what_it_was_called(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "arriving"
    path.write_text("submit,duration,gpus\n1970-01-01,60,1\n2024-05-01,60,1\n")
    code, _, err = run(capsys, "audit", str(path), "--name", "jobs\u202e.csv")
    assert code == 2
    assert has_approved(err, "jobs\\u202e.csv")


def test_a_file_of_hosts_goes_into_the_scenario(
    capsys: pytest.CaptureFixture[str], jobs: Path, tmp_path: Path
) -> None:
    hosts, made = tmp_path / "nodes.csv", tmp_path / "made.yaml"
    hosts.write_text("sn,cpu_milli,memory_mib,gpu,model\na,64000,262144,2,P100\nb,96000,393216,8,G2\n")
    order = (
        "audit",
        str(jobs),
        "--hosts",
        str(hosts),
        "--gpu",
        "P100=p100-pcie-16gb",
        "--scenario",
        str(made),
    )
    code, out, _ = run(capsys, *order)
    assert code == 0
    assert has_approved(" ".join(out.split()), "1", "G2")
    assert is_approved(
        load_scenario(made).hardware.existing, "1", "2", "p100-pcie-16gb", "64 vCPUs", "256 GiB"
    )
    for wrong in (("--gpu", "P100"), ("--hosts", str(tmp_path / "none.csv"))):
        code, _, err = run(capsys, *order, *wrong)
        assert (code, wrong[0] in err) == (2, True)


REQUESTS = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2024-05-10 {10 + n // 3600}:{n // 60 % 60:02}:{n % 60:02}.5000000,{800 + n % 700},{50 + n % 200}\n"
    for n in range(0, 7200, 2)
)


def test_requests_are_replayed_on_the_planned_replicas(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log, mine, made = tmp_path / "log.csv", tmp_path / "mine.yaml", tmp_path / "made.yaml"
    log.write_text(REQUESTS, encoding="utf-8")
    mine.write_text(assistant().to_yaml(), encoding="utf-8")
    code, out, err = run(capsys, "audit", str(log), "--on", str(mine), "--scenario", str(made))
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert has_approved(said, "3 600 requests", "0.5")
    assert has_approved(said)
    assert load_scenario(str(made)).groups[0].requests_per_s == 0.5
    code, out, _ = run(capsys, "audit", str(log), "--on", str(mine), "--json")
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert code == 0 and data["replayed"]["count"] == 3600
    assert data["serving"][0]["tokens_in"] == round(data["arrivals"]["tokens_in"]["mean"])
    assert data["allocation"] is None and data["comparison"] is None
    _, out, _ = run(capsys, "audit", str(log), "--on", str(mine), "--progress")
    assert set(json.loads(out.splitlines()[-1])) == {"audit", "scenario"}


def test_requests_need_a_model_to_be_replayed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(REQUESTS, encoding="utf-8")
    code, _, err = run(capsys, "audit", str(log), "--on", "current")
    assert code == 2 and "--model" in err
    code, out, _ = run(capsys, "audit", str(log), "--on", "current", "--model", "llama-3.1-8b")
    assert code == 0 and has_approved(out)
    code, _, err = run(capsys, "audit", str(log), "--model", "llama-3.1-8")
    assert code == 2 and has_approved(err, "llama-3.1-8b")


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
