"""``gpuplan plan``, ``demand``, ``network``, ``cost``, ``sensitivity`` and ``compare``."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from approved import has_approved
from assistants import assistant
from command_line import FEW, SCENARIO, run

from gpuplan.scenario import load_scenario


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_plan_prints_the_design(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, err = run(capsys, "plan", name)
    assert (code, err) == (0, "")
    assert "Design decisions" in out
    assert "Messages" in out


def test_plan_of_a_file(capsys: pytest.CaptureFixture[str], mine: Path) -> None:
    code, out, _ = run(capsys, "plan", str(mine))
    assert code == 0
    assert "9  (8 for the demand, 1" in out  # eight VMs of 3 GPUs on hosts of 4, and a spare one


def test_plan_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "plan", "enterprise", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert data["totals"]["hosts"] == 8
    assert data["totals"]["gpus_after_failure"] == 28


def test_plan_says_what_the_loss_of_hosts_does(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Four clusters of 5 + 1 hosts: only VMs of the fourth restart, on hosts of the fourth."""
    data = {
        "groups": [{"id": "a", "people": 80, "remote_allowed": False}],
        "availability": {"hosts_per_cluster": 6},
    }
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    code, out, err = run(capsys, "plan", str(path), "--fail", "vgpu-4:3")
    assert (code, err) == (0, "") and has_approved(out, "3", "4")
    code, out, _ = run(capsys, "plan", str(path), "--fail", "vgpu-4:3", "--json")
    vms = json.loads(out)["vms"]
    assert [(row["vm"], row["from_host"], row["to_host"]) for row in vms] == [
        (n, 3, 6) for n in (69, 70, 71, 72)
    ]
    both = run(capsys, "plan", str(path), "--fail", "vgpu-4:3", "--fail", "vgpu-4:1", "--json")
    assert both == run(capsys, "plan", str(path), "--fail", "vgpu-4:1,3", "--json")
    data = json.loads(both[1])
    assert data["hosts_lost"] == [1, 3] and {row["from_host"] for row in data["vms"]} == {1, 3}
    code, out, err = run(capsys, "plan", str(path), "--fail", "vgpu-4:3", "--fail", "vgpu-3:1")
    assert (code, out) == (2, "") and has_approved(err)


@pytest.mark.parametrize("given", ["vgpu", "vgpu:x", "vgpu:0", "vgpu:9", "vgpx:1"])
def test_hosts_that_are_not_there_cannot_be_lost(capsys: pytest.CaptureFixture[str], given: str) -> None:
    code, out, err = run(capsys, "plan", "enterprise", "--fail", given)
    assert (code, out) == (2, "") and err.count("\n") <= 2


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


def test_demand_prints_rules_methods_silos_and_growth(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "demand", "enterprise")
    assert (code, err) == (0, "")
    for heading in (
        "GPUs by sizing rule",
        "Silos and pool",
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
    assert has_approved(out, "8 hosts", "16 GPUs")


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


def test_cost_prints_years_bill_and_alternatives(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "cost", "enterprise")
    assert (code, err) == (0, "")
    for heading in ("Payments by year", "Bill of materials", "Alternatives"):
        assert heading in out
    code, out, err = run(capsys, "cost", "enterprise", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert data["costs"]["total"] == pytest.approx(sum(data["costs"]["cash"]))


def test_sensitivity_prints_bars_and_thresholds(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "sensitivity", "starter")
    assert (code, err) == (0, "")
    assert has_approved(out)
    assert has_approved(out, "8 hosts")
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


@pytest.mark.parametrize("command", ["plan", "demand", "network", "cost"])
def test_a_scenario_is_read_from_the_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """``gpuplan plan -`` looked for a file of that name."""
    given = io.TextIOWrapper(io.BytesIO(SCENARIO.encode()))
    monkeypatch.setattr("sys.stdin", given)
    code, out, err = run(capsys, command, "-")
    assert (code, err) == (0, "")
    assert out.startswith("Mine\n====\n")


def test_headlines_count_whole_gpus(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """2.143 GPUs of demand are 3 where a headline says so."""
    path = tmp_path / "sevenths.yaml"
    path.write_text("groups: [{id: a, people: 15, gpus_each: 1/7}]", encoding="utf-8")
    out = run(capsys, "plan", str(path))[1]
    assert "for a demand of 3)" in out
    assert has_approved(out, "3 GPUs")


def test_traffic_prints_and_gives_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "assistant.yaml"
    path.write_text(assistant().to_yaml(), encoding="utf-8")
    code, out, err = run(capsys, "traffic", str(path))
    assert (code, err) == (0, "")
    assert "within the promised 2 s" in " ".join(out.split())
    code, out, _ = run(capsys, "traffic", str(path), "--json")
    assert code == 0 and json.loads(out)["groups"]["assistant"]["waits"]


def test_a_design_without_a_language_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "traffic", "starter")
    assert code == 2 and "LLM serving" in err


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

    monkeypatch.setattr("gpuplan.cli.designs.explore", interrupted)
    assert run(capsys, "explore", "starter") == (130, "", "")


@pytest.mark.by_day("seconds", 3)
def test_boards_are_compared_by_the_same_work(capsys: pytest.CaptureFixture[str]) -> None:
    boards = ("--gpu", "l40s-48gb", "--gpu", "h100-nvl-94gb", "--gpu", "p4-8gb")
    code, out, err = run(capsys, "boards", "starter", *boards, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    cards = {card["gpu"]: card for card in data["boards"]}
    assert {gpu: card["can"] for gpu, card in cards.items()} == {
        "h100-nvl-94gb": True,
        "l40s-48gb": True,
        "p4-8gb": False,
    }
    assert data["cheapest"] == data["boards"][0]["gpu"] and cards["p4-8gb"]["reasons"]
    code, out, _ = run(capsys, "boards", "starter", *boards)
    assert code == 0 and f"L40S: {cards['l40s-48gb']['hosts']} hosts" in out
    code, out, _ = run(capsys, "boards", "starter", *boards, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and len(rows) == 3 * 2 and {row["of"] for row in rows} == {"times", "vms"}


def test_an_unknown_board_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "boards", "starter", "--gpu", "l40s")
    assert code == 2 and "--gpu" in err and "l40s-48gb" in err
