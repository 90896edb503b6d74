"""An audit as text and as data: the figures of the audit, and nothing that JSON cannot hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approved import has_approved, is_approved

from gpuplan.audit import Jobs, audit, compare, read_trace, report, suggest_groups
from gpuplan.audit.report import Findings, audit_dict, audit_text
from gpuplan.report.table import records, texts
from gpuplan.wording import wait_words


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    rng = np.random.default_rng(2)
    rows = [
        f"{at:.0f},{at + 30 * int(rng.integers(0, 60)):.0f},{rng.exponential(7200):.0f},{rng.choice([1, 2, 4])},team{at % 3}"
        for at in np.sort(rng.uniform(1_714_953_600, 1_717_372_800, 400)).astype(int).tolist()
    ]
    trace = read_trace(
        written(tmp_path, "jobs.csv", "submit,start,duration,gpus,group\n" + "\n".join(rows) + "\n,,-5,1,x\n")
    )
    assert isinstance(trace, Jobs)
    return trace


def test_the_figures_of_the_audit_are_shown(jobs: Jobs) -> None:
    found = audit(jobs, installed_gpus=64)
    use = found.allocation
    assert use is not None
    assert use.waits is not None
    comparison = compare(jobs, hosts=[4, 4, 4])
    text = audit_text(Findings(found, suggest_groups(found), comparison, left_out=2))
    assert "400 of 401 rows used" in text
    assert "Left out: 1 rows" in text
    assert f"peakedness {use.wanted.peakedness:.1f}" in text
    assert f"90 % at most {wait_words(use.waits.p90_h)}" in text
    assert "of 64 GPUs installed" in text
    assert has_approved(text, "3 hosts", "12 GPUs")
    assert "2 jobs left out" in text
    assert "Kaufman-Roberts" in text
    data = json.loads(
        json.dumps(audit_dict(Findings(found, suggest_groups(found), comparison, 2)), allow_nan=False)
    )
    assert data["allocation"]["wanted"]["peakedness"] == use.wanted.peakedness
    assert data["allocation"]["held"]["peak_gpus"] == use.held.peak_gpus if use.held else False
    assert data["activity"] is None
    assert data["reading"]["skipped"][0]["rows"] == 1
    assert data["comparison"]["left_out_jobs"] == 2
    assert data["comparison"]["waiting"]["wait_p90_h"] == comparison.waiting.quantile_wait_h(0.9)
    assert len(data["suggestions"]) == len(suggest_groups(found))
    week = np.array(data["allocation"]["week_gpus"])
    assert week.shape == (168, 3)


def test_the_two_means_say_what_they_count(tmp_path: Path) -> None:
    # a GPU for 1 h every hour of 10, and for 100 h from the last request on: 110 GPU-hours, of which 10 within the period
    rows = "\n".join(f"{3600 * n},{360_000 if n == 10 else 3600},1" for n in range(11))
    trace = read_trace(written(tmp_path, "late.csv", f"submit,duration,gpus\n{rows}\n"))
    text = " ".join(audit_text(Findings(audit(trace))).split())
    assert has_approved(text, "11 jobs", "110 GPU-hours", "11 GPUs")
    assert has_approved(text, "1")


def test_groups_that_are_rounded_up_are_named(tmp_path: Path) -> None:
    rows = "\n".join(f"{86_400 * n},7200,1,a" for n in range(365))
    trace = read_trace(written(tmp_path, "few.csv", f"submit,duration,gpus,group\n{rows}\n9000,30,4,b\n"))
    found = audit(trace)
    text = " ".join(audit_text(Findings(found, suggest_groups(found))).split())
    assert has_approved(text, "4 GPUs", "1 job", "0 GPU-hours")
    assert "a, 1 GPU: 365 jobs" not in text


def test_activity_is_never_called_allocation(tmp_path: Path) -> None:
    rows = [f"2024-05-06 {h:02}:00:00,{g},{10 * g},team" for h in range(24) for g in range(3)]
    trace = read_trace(written(tmp_path, "samples.csv", "time,gpu,percent,group\n" + "\n".join(rows) + "\n"))
    found = audit(trace)
    text = " ".join(audit_text(Findings(found, suggest_groups(found))).split())
    assert has_approved(text)
    assert "mean 10.0 %" in text
    assert has_approved(text)
    assert "Allocation:" not in text
    assert "Groups for a scenario" not in text
    data = json.loads(json.dumps(audit_dict(Findings(found)), allow_nan=False))
    assert data["allocation"] is None
    assert data["activity"]["groups"][0]["gpus_seen"] == 3


def test_times_from_an_unknown_moment_have_no_dates(tmp_path: Path) -> None:
    rows = "\n".join(f"{60 * n},600,1" for n in range(50))
    trace = read_trace(written(tmp_path, "cut.csv", f"interval,run_time,gpu_num\n{rows}\n"))
    text = audit_text(Findings(audit(trace)))
    assert "1970" not in text
    assert "busiest hour" not in text


def test_requests_to_a_language_model_are_said_and_listed(tmp_path: Path) -> None:
    rows = "".join(f"2024-05-01 10:{n // 60:02}:{n % 60:02},chat,{100 + n},50\n" for n in range(1800))
    trace = read_trace(written(tmp_path, "log.csv", "timestamp,model,input_tokens,output_tokens\n" + rows))
    found = audit(trace)
    text = " ".join(audit_text(Findings(found)).split())
    assert has_approved(text, "1 800 requests", "1")
    assert "from 2024-05-01 10:00" in text
    assert has_approved(text, "50 tokens", "50")
    assert "Who holds GPUs" not in text
    data = json.loads(json.dumps(audit_dict(Findings(found)), allow_nan=False))
    assert data["allocation"] is None and data["activity"] is None
    assert data["arrivals"]["groups"][0]["tokens_in"]["p99"] == 1881
    assert len(data["arrivals"]["day_per_second"]) == 24


GROUP = {
    "name": "vision",
    "jobs": 12_000,
    "gpu_h": 345.6,
    "share": 0.25,
    "mean_duration_h": 1.26,
    "mean_gpus": 3.04,
    "peak_gpus": 8.0,
    "own_peak_utilisation": 0.38,
}
METHOD = {"name": "erlang-c", "chance": 0.05, "gpus_needed": None, "assumption": "independent jobs"}


def test_who_holds_gpus_reads_as_its_kinds_say() -> None:
    table = report.holders({"groups": [GROUP]})
    assert texts(table) == [
        ("vision", "12\u202f000", "346", "25 %", "1.26", "3", "8", "38 %"),
    ]
    assert records(table) == [GROUP]


def test_busy_chips_are_told_in_points() -> None:
    names = ("samples", "mean_activity_pct", "active_share", "busy_share", "mean_gpus", "busy_gpus")
    row: dict[str, Any] = {"name": "a", **dict.fromkeys(names, 0.5)}
    assert texts(report.activity({"groups": [row]}))[0][2:4] == ("0.5 %", "50 %")


def test_groups_for_a_scenario() -> None:
    row = {
        "name": "a",
        "people": 3,
        "gpus_each": 2,
        "vms_each": 2,
        "jobs_per_day": 1.234,
        "work_h": 0.5,
        "hours": "00:00-24:00",
        "days": "Mon-Sun",
        "time_zone": "UTC",
    }
    always, office = texts(report.suggestions([row, row | {"hours": "09:00-17:00", "vms_each": 1}]))
    assert always == ("a", "3", "2 x 2", "1.23", "0.50", "around the clock")
    assert office[2:] == ("2", "1.23", "0.50", "09:00-17:00 UTC, Mon-Sun")


def test_formulas_have_their_names_in_the_field() -> None:
    found = {
        "share": 0.05,
        "wait_limit_h": 0.25,
        "hosts": (4, 4),
        "waits_long": [METHOD],
        "denied": [METHOD | {"gpus_needed": 9}],
    }
    waits, away = report.few_wait(found), report.few_denied(found)
    assert is_approved(waits.title, "5 %", "15 min")
    assert [column.label for column in waits.columns][1] == "With 8"
    assert texts(waits)[0] == ("Erlang C", "5.0 %", "", "independent jobs")
    assert texts(away)[0][2] == "9"
