"""Waits by replicas: the planned row is there, by formula and simulated, and what grows without end says so."""

from __future__ import annotations

import dataclasses

from assistants import assistant

from gpuplan.analysis.llm_traffic import played, traffic_of
from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.report.table import records, text
from gpuplan.report.tables.traffic import waits


def test_the_planned_replicas_stand_by_formula_and_simulated(catalog: Catalog) -> None:
    of = traffic_of(make_plan(assistant(), catalog), "assistant")
    found = played(of, count=5_000)
    table = waits(of, [(of.replicas, found)])
    rows = records(table)
    planned = [row for row in rows if row["replicas"] == of.replicas]
    assert [row["method"] for row in planned] == ["formula", "simulated"]
    assert planned[0]["p95_s"] == of.planned.p95_s and planned[1]["p95_s"] == found.p95_s.value
    assert [row["replicas"] for row in rows] == sorted(row["replicas"] for row in rows)
    assert f"{of.replicas} (planned)" in text(table) and "\u00b1" in text(table)


def test_too_few_replicas_have_no_wait(catalog: Catalog) -> None:
    of = dataclasses.replace(
        traffic_of(make_plan(assistant(requests_per_s=60), catalog), "assistant"), replicas=1
    )
    first = records(waits(of))[0]
    assert first["replicas"] == 1 and first["p95_s"] is None and first["kept_share"] == 0
    assert "keeps growing" in text(waits(of))
