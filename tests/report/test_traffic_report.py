"""Traffic as text and as data: what is said agrees with the figures, and JSON can hold all of it."""

from __future__ import annotations

import dataclasses
import json

from approved import has_approved
from assistants import assistant

from gpuplan.analysis.llm_traffic import GroupTraffic, played, traffic_of
from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.report.traffic_report import asked, started, traffic_dict, traffic_text


def traffic(catalog: Catalog, **given: object) -> GroupTraffic:
    return traffic_of(make_plan(assistant(**given), catalog), "assistant")  # type: ignore[arg-type]


def test_text_and_data_have_the_same_figures(catalog: Catalog) -> None:
    plan = make_plan(assistant(), catalog)
    of = traffic_of(plan, "assistant")
    found = [(of, played(of, count=3_000))]
    data = json.loads(json.dumps(traffic_dict(plan, found), allow_nan=False))
    group = data["groups"]["assistant"]
    assert group["replicas_needed"] == of.needed.replicas
    assert group["simulated"]["p95_s"]["value"] == found[0][1].p95_s.value
    assert len(group["day_per_second"]) == 24
    text = " ".join(traffic_text(plan, found).split())
    assert has_approved(text, "95 %", f"{of.planned.p95_s:.2f} s")
    low, high = group["p95_range_s"]
    assert low < of.planned.p95_s < high
    assert has_approved(text)


def test_bursts_are_named(catalog: Catalog) -> None:
    of = traffic(catalog)
    bursty = dataclasses.replace(of, traffic=dataclasses.replace(of.traffic, peakedness=3.0))
    assert "peakedness 3" in asked(bursty)


def test_what_cannot_be_kept_is_said(catalog: Catalog) -> None:
    sooner = dataclasses.replace(traffic(catalog), first_token_s=0.2)
    assert has_approved(started(sooner), "95 %")
    few = dataclasses.replace(traffic(catalog, requests_per_s=60), replicas=1)
    assert has_approved(started(few))
    enough = few.needed.replicas
    assert has_approved(started(few), f"{enough} replicas", "95 %")
    assert "keep it" not in started(dataclasses.replace(few, replicas=enough))
