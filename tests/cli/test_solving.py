"""``gpuplan solve``: the answer, its exit code, and what it says of bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from solved import FEW, small

from gpuplan.analysis.solve import Progress, Solution, solve
from gpuplan.cli import solving
from gpuplan.plan import make_plan
from gpuplan.scenario import load_scenario
from gpuplan.wording import money

__all__ = ["small"]
LIMITED = ("--budget", "1.5M", "--for", "users:a", *FEW)


def test_the_answer_is_text_data_and_a_scenario(
    capsys: pytest.CaptureFixture[str], small: str, tmp_path: Path
) -> None:
    code, out, err = run(capsys, "solve", small, *LIMITED)
    assert (code, err) == (0, "") and "40 users" in out and money(1_348_002, "USD") in out
    written = tmp_path / "best.yaml"
    code, out, err = run(capsys, "solve", small, *LIMITED, "--json", "--to", str(written))
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert code == 0 and written.name in err
    assert (data["best"]["value"], data["best"]["hosts"], data["proven"], data["gap"]) == (40, 6, True, 0)
    design = make_plan(load_scenario(str(written)))
    assert design.costs and design.costs.net_present == pytest.approx(data["best"]["net_present"])
    assert design.totals.unplaced_vms == 0 and all(each.met for each in design.within)


def test_progress_is_a_line_of_json_for_each_step_and_the_solution_last(
    capsys: pytest.CaptureFixture[str], small: str
) -> None:
    code, out, err = run(capsys, "solve", small, *LIMITED, "--progress")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "") and lines[-1]["done"] == 1
    solutions = [line["solution"] for line in lines if "solution" in line]
    assert not solutions[0]["proven"] and solutions[-1]["proven"]
    gaps = [each["gap"] for each in solutions if each["gap"] is not None]
    assert gaps == sorted(gaps, reverse=True)


@pytest.mark.by_day("seconds", 3)
def test_no_design_within_the_limits_is_explained_with_code_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, small: str
) -> None:
    found: list[Solution] = []

    def once(*given: Any, **on: Any) -> Solution:
        found[:] = found or [solve(*given, **on)]
        return found[0]

    monkeypatch.setattr(solving, "solve", once)  # for both commands, as every board is measured
    code, out, err = run(capsys, "solve", small, "--budget", "1M", "--racks", "2", *FEW)
    assert (code, err) == (1, "") and money(1e6, "USD") in out
    code, out, _ = run(capsys, "solve", small, "--budget", "1M", "--racks", "2", *FEW, "--progress")
    clash = json.loads(out.splitlines()[-1])["solution"]["clash"]
    assert code == 0 and clash["limits"] == ["Budget"]
    assert [(each["key"], each["limit"]) for each in clash["relaxed"]] == [("budget", 1_000_000)]


def test_the_frontier_costs_more_for_more(capsys: pytest.CaptureFixture[str], small: str) -> None:
    code, out, err = run(capsys, "solve", small, *LIMITED, "--frontier", "--json")
    frontier = json.loads(out)["frontier"]
    points = [(each["value"], each["net_present"]) for each in frontier["points"]]
    assert (code, err) == (0, "") and frontier["budget"] == 1_500_000
    assert len(points) > 2 and points == sorted(set(points)) and points[-1][1] > 1_500_000


def test_csv_has_a_row_for_each_design(capsys: pytest.CaptureFixture[str], small: str) -> None:
    code, out, err = run(capsys, "solve", small, *LIMITED, "--csv")
    assert (code, err) == (0, "") and out.startswith("status,gpu,server,")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--budget", "EUR 2M"), ("--budget", "EUR 2M", "USD")),
        (("--budget", "lots", "--racks", "1.5"), ("--budget", "lots", "--racks", "1.5")),
        (("--for", "users:b"), ("users:b", "a")),
        (("--for", "user:a"), ("user:a", "users")),
        (("--for", "replicas:a"), ("replicas:a", "users:a")),
        (("--for", "users:a", "--least", "cost"), ("cost",)),
        (("--least", "users:a"), ("users:a",)),
        (("--board", "l40s"), ("l40s-48gb",)),
        (("--vendor", "Del"), ("Dell",)),
        (("--seconds", "soon"), ("--seconds", "soon")),
    ],
)
def test_bad_input_is_named_with_code_2(
    capsys: pytest.CaptureFixture[str], small: str, options: tuple[str, ...], said: tuple[str, ...]
) -> None:
    code, out, err = run(capsys, "solve", small, *options)
    assert (code, out) == (2, "") and all(word in err for word in said) and "Traceback" not in err


def test_a_file_that_cannot_be_written_is_named(capsys: pytest.CaptureFixture[str], small: str) -> None:
    code, out, err = run(capsys, "solve", small, *LIMITED, "--to", "/nowhere/best.yaml")
    assert (code, out) == (2, "") and "/nowhere/best.yaml" in err


def test_ctrl_c_prints_the_best_so_far_with_its_gap(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, small: str
) -> None:
    solve = solving.solve

    def interrupted(*asked: Any, told: Any, **options: Any) -> Any:
        def stop(progress: Progress) -> None:
            told(progress)
            if progress.bound is not None:
                raise KeyboardInterrupt

        return solve(*asked, told=stop, **options)

    monkeypatch.setattr(solving, "solve", interrupted)
    code, out, _ = run(capsys, "solve", small, *LIMITED, "--json")
    data = json.loads(out)
    assert code == 130 and data["best"] and not data["proven"] and data["gap"] is not None
    monkeypatch.setattr(solving, "solve", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run(capsys, "solve", small, *LIMITED)[:2] == (130, "")
