"""The audit card: file, options, findings, groups and replay, from the plain data of an audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.audit import (
    Jobs,
    audit,
    compare,
    read_trace,
    serving_scenario,
    suggest_groups,
    suggest_serving,
    suggested_scenario,
)
from gpuplan.audit.report import Findings, audit_dict
from gpuplan.audit.step import audit_data, audit_tables, week_rows
from gpuplan.catalog import Catalog

JOBS = "submit,duration,gpus,group\n" + "".join(
    f"2024-05-{6 + hour // 24:02} {hour % 24:02}:00:00,{3600 * (1 + hour % 3)},{1 + hour % 2},team{hour % 9}\n"
    for hour in range(240)
)
SAMPLES = "time,gpu,percent,group\n" + "".join(
    f"2024-05-06 {hour:02}:00:00,{gpu},{20 * gpu},team{gpu}\n" for hour in range(24) for gpu in range(3)
)


def audited(book: Workbook, folder: Path, text: str, replay: bool = False) -> dict[str, Any]:
    """As if a file had been audited."""
    path = folder / "use.csv"
    path.write_text(text, encoding="utf-8")
    trace = read_trace(path)
    found = audit(trace)
    suggestions = suggest_groups(found)
    comparison = compare(trace, hosts=[4] * 10) if replay and isinstance(trace, Jobs) else None
    made = suggested_scenario(book.scenario, found, suggestions, "use.csv") if suggestions else None
    serving = suggest_serving(found)
    made = serving_scenario(book.scenario, serving) if serving else made
    data = audit_dict(Findings(found, suggestions, comparison, serving=serving))
    auditing = book.auditing
    auditing.name, auditing.size, auditing.got = "use.csv", len(text), len(text)
    auditing.runner.state = "done"
    auditing.runner.found = [{"audit": data, "scenario": made.to_dict() if made else None}]
    return data


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("current"))


def test_before_a_file_is_chosen(book: Workbook) -> None:
    data = audit_data(book)
    assert data["upload"]["label"] == "Choose a file"
    assert data["buttons"] == []
    assert [i["label"] for i in data["inputs"]] == ["Format", "Time zone", "Columns", "First day", "Last day"]
    assert has_approved(data["text"][0])
    assert audit_tables(book) == {"shown": False, "tables": [], "stale": False}
    assert week_rows(book) == {}


def test_while_it_arrives_and_is_read(book: Workbook) -> None:
    book.auditing.receive("use.csv", 400, 0, b"x" * 100)
    assert audit_data(book)["progress"] == {"done": 0.25, "text": "Receiving use.csv: 25 %"}
    book.auditing.receive("use.csv", 400, 100, b"x" * 300)
    book.auditing.runner.state, book.auditing.runner.step = "running", "Reading use.csv"
    data = audit_data(book)
    assert data["progress"]["text"] == "Reading use.csv"
    assert [b["event"] for b in data["buttons"]] == ["cancel-audit"]


def test_jobs(book: Workbook, tmp_path: Path) -> None:
    found = audited(book, tmp_path, JOBS)
    data = audit_data(book)
    said = " ".join(data["text"])
    assert "240 of 240 rows used" in said
    assert "Bursts: peakedness" in said
    assert has_approved(said)
    assert has_approved(said, "3")
    assert [b["event"] for b in data["buttons"]] == ["audit", "use-audit", "replay", "forget-audit"]
    groups, suggestions = audit_tables(book)["tables"]
    assert len(groups["rows"]) == 9
    assert len(suggestions["rows"]) == len(found["suggestions"])
    chart = week_rows(book)
    assert chart["groups"][-1] == "others"
    total = sum(row["value"] for row in chart["rows"])
    assert total == pytest.approx(sum(map(sum, found["allocation"]["week_gpus"])))


def test_the_groups_become_those_of_the_design_and_undo_brings_the_old_ones_back(
    book: Workbook, tmp_path: Path
) -> None:
    before = book.scenario
    found = audited(book, tmp_path, JOBS)
    book.use_audit()
    assert len(book.scenario.groups) == len(found["suggestions"])
    assert book.plan.scenario == book.scenario
    assert has_approved(book.notice[1], "use.csv")
    book.undo()
    assert book.scenario == before


def test_the_replay_stands_beside_the_formulas(book: Workbook, tmp_path: Path) -> None:
    audited(book, tmp_path, JOBS, replay=True)
    book.auditing.replayed = book.plan.scenario
    assert has_approved(audit_data(book)["text"], "10 hosts", "40 GPUs")
    titles = [t["title"] for t in audit_tables(book)["tables"]]
    assert has_approved(titles, "5 %", "10 min")
    assert has_approved(titles, "5 %")
    book.edit("groups.developers.people", "61")
    assert has_approved(audit_data(book)["text"])


def test_samples_are_activity_and_give_no_groups(book: Workbook, tmp_path: Path) -> None:
    audited(book, tmp_path, SAMPLES)
    data = audit_data(book)
    assert any("mean 20.0 %" in text for text in data["text"])
    assert "use-audit" not in {b["event"] for b in data["buttons"]}
    assert "replay" not in {b["event"] for b in data["buttons"]}
    assert [t["title"] for t in audit_tables(book)["tables"]] == ["Chip activity"]
    assert not week_rows(book)["stacked"]
    book.use_audit()
    assert book.scenario == load_scenario("current")


def test_requests_to_a_language_model_are_figures_of_their_own(book: Workbook, tmp_path: Path) -> None:
    rows = "".join(f"2024-05-01 10:{n:02}:00,{100 + n},50\n" for n in range(60))
    audited(book, tmp_path, "TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows)
    assert any("60 requests" in text for text in audit_data(book)["text"])
    titles = [t["title"] for t in audit_tables(book)["tables"]]
    assert is_approved(titles)
    assert week_rows(book) == {}
    assert "replay" not in {b["event"] for b in audit_data(book)["buttons"]}, "nothing serves them yet"
    before = {group.id for group in book.scenario.groups}
    book.use_audit()
    added = {group.id: group for group in book.scenario.groups if group.id not in before}
    assert [group.tokens_out for group in added.values()] == [50] and before <= {
        g.id for g in book.scenario.groups
    }


def test_an_error_is_shown_with_what_can_be_done(book: Workbook) -> None:
    book.auditing.receive("use.csv", 0, 0, b"")
    assert is_approved(audit_data(book)["problem"], "use.csv")


def test_the_columns_read_are_in_the_field_that_corrects_them(book: Workbook, tmp_path: Path) -> None:
    audited(book, tmp_path, "start,runtime_min,num_gpus,team\n2024-05-01,60,2,x\n2024-05-01,30,2,y\n")
    fields = {field["what"]: field["value"] for field in audit_data(book)["inputs"]}
    assert fields["audit-columns"].split(", ") == [
        "start=start",
        "duration=runtime_min:min",
        "gpus=num_gpus",
        "group=team",
    ]
    book.auditing.columns = "gpus=num_gpus"
    assert {f["what"]: f["value"] for f in audit_data(book)["inputs"]}["audit-columns"] == "gpus=num_gpus"
