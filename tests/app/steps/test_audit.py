"""The audit card: file, options, findings, groups and replay, from the plain data of an audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps.audit import audit_data, audit_tables, week_rows
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
from gpuplan.catalog import Catalog
from gpuplan.report import audit_dict

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
    data = audit_dict(found, suggestions, comparison, serving=serving)
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
    assert "Samples show only how busy the chips were" in data["text"][0]
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
    assert "Burstiness" in said
    assert "including work done after the last request." in said
    assert "Needed at once within these days, without work done after them: mean 3, " in said
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
    assert "groups of use.csv" in book.notice[1]
    book.undo()
    assert book.scenario == before


def test_the_replay_stands_beside_the_formulas(book: Workbook, tmp_path: Path) -> None:
    audited(book, tmp_path, JOBS, replay=True)
    book.auditing.replayed = book.plan.scenario
    assert any(text.startswith("Replayed on 10 hosts with 40 GPUs:") for text in audit_data(book)["text"])
    titles = [t["title"] for t in audit_tables(book)["tables"]]
    assert "At most 5 % of the jobs wait longer than 10 min" in titles
    assert "At most 5 % of the jobs denied" in titles
    book.edit("groups.developers.people", "61")
    assert any("the design has changed since" in text for text in audit_data(book)["text"])


def test_samples_are_activity_and_give_no_groups(book: Workbook, tmp_path: Path) -> None:
    audited(book, tmp_path, SAMPLES)
    data = audit_data(book)
    assert any("20.0 % busy on average" in text for text in data["text"])
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
    assert titles == ["Users of language models", "Groups for the design"]
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
    assert audit_data(book)["problem"] == "use.csv is empty."
